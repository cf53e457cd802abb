// Endpoints written from public documentation; not called yet.
//
// What it shows: a response that is no JSON. The API answers with CSV, so `response` is its text, and postRequest makes rows
// of it. Numbers that are too long for JavaScript would lose digits as numbers, so values stay the text that they were.

export const main = {
    namespace: 'ecb',
    name: 'RateSeries',
    description: 'Exchange rates of the euro over time, by the European Central Bank.',
    version: '3.0.0',
    root: 'https://data-api.ecb.europa.eu/service',
    docs: [ 'https://data.ecb.europa.eu/help/api/data' ],
    tags: [ 'currencies', 'finance', 'open-data' ],
    requiredServerParams: [],
    headers: { 'Accept': 'text/csv' },
    tools: {
        getRates: {
            method: 'GET',
            path: '/data/EXR/D.{{currency}}.EUR.SP00.A',
            description: 'The daily reference rate of a currency against the euro between two days.',
            parameters: [
                {
                    description: 'Currency as three letters (ISO 4217), for example "USD"',
                    position: { key: 'currency', value: '{{USER_PARAM}}', location: 'insert' },
                    z: { primitive: 'string()', options: [ 'regex(^[A-Z]{3}$)' ] }
                },
                {
                    description: 'First day as YYYY-MM-DD',
                    position: { key: 'startPeriod', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'string()', options: [ 'regex(^[0-9]{4}-[0-9]{2}-[0-9]{2}$)' ] }
                },
                {
                    description: 'Last day as YYYY-MM-DD',
                    position: { key: 'endPeriod', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'string()', options: [ 'regex(^[0-9]{4}-[0-9]{2}-[0-9]{2}$)' ] }
                },
                {
                    position: { key: 'format', value: 'csvdata', location: 'query' },
                    z: { primitive: 'string()', options: [] }
                }
            ],
            output: {
                mimeType: 'application/json',
                schema: {
                    type: 'object',
                    properties: {
                        title: { type: 'string', description: 'What the series is' },
                        rates: {
                            type: 'array',
                            description: 'One entry for each working day, oldest first',
                            items: {
                                type: 'object',
                                properties: {
                                    day: { type: 'string', description: 'Day as YYYY-MM-DD' },
                                    rate: { type: 'string', description: 'Units of the currency for one euro, as the bank writes it' }
                                }
                            }
                        }
                    }
                }
            },
            tests: [
                { _description: 'A week of the US dollar', currency: 'USD', startPeriod: '2024-01-02', endPeriod: '2024-01-09' },
                { _description: 'A single day', currency: 'JPY', startPeriod: '2024-01-02', endPeriod: '2024-01-02' },
                { _description: 'An earlier year', currency: 'DKK', startPeriod: '2010-06-01', endPeriod: '2010-06-04' }
            ]
        }
    }
}

export const handlers = () => {
    // Fields are apart by commas; a field in quotes may hold commas and line breaks, and two quotes for one (RFC 4180).
    const parseCsv = ( text ) => {
        const field = /("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/gy
        const rows = [ [] ]
        for( const [ , raw, end ] of text.trim().matchAll( field ) ) {
            const value = raw.startsWith( '"' ) ? raw.slice( 1, -1 ).replaceAll( '""', '"' ) : raw
            rows.at( -1 ).push( value )
            if( end === '' ) { break }
            if( end !== ',' ) { rows.push( [] ) }
        }

        const [ names, ...values ] = rows

        return values.map( ( row ) => Object.fromEntries( names.map( ( name, at ) => [ name, row[ at ] ?? '' ] ) ) )
    }

    return {
        getRates: {
            postRequest: async ( { response } ) => {
                // Days without rates in the range are answered with no text at all.
                const rows = typeof response === 'string' ? parseCsv( response ) : []

                return {
                    response: {
                        title: rows[ 0 ]?.TITLE_COMPL ?? '',
                        rates: rows.map( ( { TIME_PERIOD: day, OBS_VALUE: rate } ) => ({ day, rate }) )
                    }
                }
            }
        }
    }
}
