// Endpoints written from public documentation; not called yet.
//
// What it shows: postProcess makes text for a reader. `data` is the response in both of its forms: `JSON.parse( data )` gives
// the value, and `data.length` or `data.field` work as well.

export const main = {
    namespace: 'nagerdate',
    name: 'LongWeekends',
    description: 'Long weekends of a country, by Nager.Date.',
    version: '3.0.0',
    root: 'https://date.nager.at/api/v3',
    docs: [ 'https://date.nager.at/Api' ],
    tags: [ 'holidays', 'calendar', 'open-data' ],
    requiredServerParams: [],
    headers: { 'Accept': 'application/json' },
    tools: {
        listLongWeekends: {
            method: 'GET',
            path: '/LongWeekend/{{year}}/{{countryCode}}',
            description: 'The long weekends of a year as lines of text, with the days that one has to take off.',
            parameters: [
                {
                    description: 'Year',
                    position: { key: 'year', value: '{{USER_PARAM}}', location: 'insert' },
                    z: { primitive: 'number()', options: [ 'min(1975)', 'max(2075)' ] }
                },
                {
                    description: 'Country as two letters (ISO 3166-1), for example "DE"',
                    position: { key: 'countryCode', value: '{{USER_PARAM}}', location: 'insert' },
                    z: { primitive: 'string()', options: [ 'regex(^[A-Z]{2}$)' ] }
                }
            ],
            output: {
                mimeType: 'text/plain',
                schema: { type: 'string', description: 'One line for each long weekend, or a sentence that there is none' }
            },
            tests: [
                { _description: 'Germany', year: 2026, countryCode: 'DE' },
                { _description: 'A year that is past', year: 2020, countryCode: 'AT' },
                { _description: 'Another continent', year: 2026, countryCode: 'NZ' }
            ]
        }
    }
}

export const handlers = () => ({
    listLongWeekends: {
        postProcess: async ( { data, payload } ) => {
            if( data.length === 0 ) {
                return `No long weekend in ${payload.year}.`
            }

            return JSON.parse( data )
                .map( ( { startDate, endDate, dayCount, needBridgeDay } ) => {
                    const bridge = needBridgeDay ? ', with a day off in between' : ''

                    return `${startDate} to ${endDate}: ${dayCount} days${bridge}`
                } )
                .join( '\n' )
        }
    }
})
