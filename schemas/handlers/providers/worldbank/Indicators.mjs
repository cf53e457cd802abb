// Endpoints written from public documentation; not called yet.
//
// What it shows: a shared list in handlers. A caller says "population"; preRequest puts in the code that the API knows, and
// postRequest makes one flat object with the list's unit out of the API's pair of paging and rows.

export const main = {
    namespace: 'worldbank',
    name: 'Indicators',
    description: 'Figures about countries over the years, by the World Bank.',
    version: '3.0.0',
    root: 'https://api.worldbank.org/v2',
    docs: [ 'https://datahelpdesk.worldbank.org/knowledgebase/articles/889392' ],
    tags: [ 'statistics', 'economy', 'open-data' ],
    requiredServerParams: [],
    headers: { 'Accept': 'application/json' },
    sharedLists: [ { ref: 'indicators', version: '3.0.0' } ],
    tools: {
        getYearlyValues: {
            method: 'GET',
            path: '/country/{{country}}/indicator/{{indicator}}',
            description: 'One figure of one country for each year of a range: population, income, lifespan, forest or internet.',
            parameters: [
                {
                    description: 'Country as two or three letters (ISO 3166-1), for example "DE"',
                    position: { key: 'country', value: '{{USER_PARAM}}', location: 'insert' },
                    z: { primitive: 'string()', options: [ 'regex(^[A-Za-z]{2,3}$)' ] }
                },
                {
                    description: 'Which figure',
                    position: { key: 'indicator', value: '{{USER_PARAM}}', location: 'insert' },
                    z: { primitive: 'enum({{indicators:word}})', options: [] }
                },
                {
                    description: 'Years as FROM:TO, for example "2015:2020"',
                    position: { key: 'date', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'string()', options: [ 'regex(^[0-9]{4}:[0-9]{4}$)' ] }
                },
                {
                    position: { key: 'format', value: 'json', location: 'query' },
                    z: { primitive: 'string()', options: [] }
                },
                {
                    position: { key: 'per_page', value: '100', location: 'query' },
                    z: { primitive: 'number()', options: [] }
                }
            ],
            output: {
                mimeType: 'application/json',
                schema: {
                    type: 'object',
                    properties: {
                        country: { type: 'string', description: 'Name of the country' },
                        indicator: { type: 'string', description: 'Name of the figure' },
                        unit: { type: 'string', description: 'What the values are measured in' },
                        values: { type: 'object', description: 'Value for each year, oldest first; years without a value are left out' }
                    }
                }
            },
            tests: [
                { _description: 'Population of Germany', country: 'DE', indicator: 'population', date: '2015:2020' },
                { _description: 'Forest in Brazil, three letters', country: 'BRA', indicator: 'forest', date: '2000:2020' },
                { _description: 'A single year', country: 'JP', indicator: 'lifespan', date: '2019:2019' }
            ]
        }
    }
}

export const handlers = ( { sharedLists } ) => {
    // The lists are there when the factory runs, frozen, and each hook can look something up in them.
    const byWord = ( wanted ) => sharedLists.indicators.find( ( { word } ) => word === wanted )

    return {
        getYearlyValues: {
            preRequest: async ( { struct, payload } ) => {
                const { code } = byWord( payload.indicator )
                struct.url = struct.url.replace( `/indicator/${payload.indicator}?`, `/indicator/${code}?` )

                return { struct, payload }
            },
            postRequest: async ( { response, struct, payload } ) => {
                // An unknown country is answered with 200 and a message instead of rows.
                const [ head, rows ] = response
                if( !Array.isArray( rows ) ) {
                    throw new Error( head?.message?.[ 0 ]?.value ?? 'The World Bank has no such figure' )
                }

                const known = rows.filter( ( { value } ) => value !== null )
                const values = Object.fromEntries( known.map( ( { date, value } ) => [ date, value ] ) )
                const [ first ] = rows

                return {
                    response: {
                        country: first?.country.value ?? payload.country,
                        indicator: first?.indicator.value ?? payload.indicator,
                        unit: byWord( payload.indicator ).unit,
                        values
                    }
                }
            }
        }
    }
}
