// Endpoints written from public documentation; not called yet.

export const main = {
    namespace: 'frankfurter',
    name: 'ExchangeRates',
    description: 'Exchange rates by Frankfurter: the daily reference rates of the European Central Bank, back to 1999.',
    version: '3.0.0',
    root: 'https://api.frankfurter.dev',
    docs: [ 'https://frankfurter.dev' ],
    tags: [ 'currency', 'finance', 'open-data' ],
    requiredServerParams: [],
    sharedLists: [
        { ref: 'countries', version: '3.0.0', filter: { key: 'currency', exists: true } }
    ],
    headers: { 'Accept': 'application/json' },
    tools: {
        getLatestRates: {
            method: 'GET',
            path: '/v1/latest',
            description: 'Latest exchange rates of a currency against others. Rates are reference rates of the last working day, not offers.',
            parameters: [
                {
                    description: 'Currency to convert from: each rate is for one unit of it',
                    position: { key: 'base', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'enum({{countries:currency}})', options: [ 'default(EUR)' ] }
                },
                {
                    description: 'Currencies to report as ISO 4217 codes; all when left out',
                    position: { key: 'symbols', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'array()', options: [ 'optional()', 'max(40)' ] }
                }
            ],
            output: {
                mimeType: 'application/json',
                schema: {
                    type: 'object',
                    properties: {
                        amount: { type: 'number', description: 'Amount of the base currency, 1' },
                        base: { type: 'string', description: 'Base currency' },
                        date: { type: 'string', description: 'Day of the rates, YYYY-MM-DD' },
                        rates: { type: 'object', description: 'Rate by currency code' }
                    }
                }
            },
            tests: [
                { _description: 'All rates of the euro' },
                { _description: 'The dollar in pounds and yen', base: 'USD', symbols: [ 'GBP', 'JPY' ] },
                { _description: 'The Swiss franc in euros', base: 'CHF', symbols: [ 'EUR' ] }
            ]
        },
        getRateHistory: {
            method: 'GET',
            path: '/v1/:from..:to',
            description: 'Exchange rates of a currency for each working day between two dates. Ask for few currencies and at most a year at a time to keep the answer short.',
            parameters: [
                {
                    description: 'First day, YYYY-MM-DD, from 1999-01-04',
                    position: { key: 'from', value: '{{USER_PARAM}}', location: 'insert' },
                    z: { primitive: 'string()', options: [ 'regex(^\\d{4}-\\d{2}-\\d{2}$)' ] }
                },
                {
                    description: 'Last day, YYYY-MM-DD',
                    position: { key: 'to', value: '{{USER_PARAM}}', location: 'insert' },
                    z: { primitive: 'string()', options: [ 'regex(^\\d{4}-\\d{2}-\\d{2}$)' ] }
                },
                {
                    description: 'Currency to convert from: each rate is for one unit of it',
                    position: { key: 'base', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'enum({{countries:currency}})', options: [ 'default(EUR)' ] }
                },
                {
                    description: 'Currencies to report as ISO 4217 codes',
                    position: { key: 'symbols', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'array()', options: [ 'min(1)', 'max(10)' ] }
                }
            ],
            output: {
                mimeType: 'application/json',
                schema: {
                    type: 'object',
                    properties: {
                        amount: { type: 'number', description: 'Amount of the base currency, 1' },
                        base: { type: 'string', description: 'Base currency' },
                        start_date: { type: 'string', description: 'First day with rates' },
                        end_date: { type: 'string', description: 'Last day with rates' },
                        rates: { type: 'object', description: 'By day, then by currency code' }
                    }
                }
            },
            tests: [
                { _description: 'A week of the euro in dollars', from: '2024-01-02', to: '2024-01-09', symbols: [ 'USD' ] },
                { _description: 'The first days of the euro in two currencies', from: '1999-01-04', to: '1999-01-08', symbols: [ 'USD', 'JPY' ] },
                { _description: 'A month of the pound in euros', from: '2024-03-01', to: '2024-03-31', base: 'GBP', symbols: [ 'EUR' ] }
            ]
        }
    }
}
