// Endpoints written from public documentation; not called yet.

export const main = {
    namespace: 'nagerdate',
    name: 'PublicHolidays',
    description: 'Public holidays of many countries by Nager.Date.',
    version: '3.0.0',
    root: 'https://date.nager.at',
    docs: [ 'https://date.nager.at/Api' ],
    tags: [ 'calendar', 'holidays', 'open-data' ],
    requiredServerParams: [],
    sharedLists: [
        { ref: 'countries', version: '3.0.0', filter: { key: 'holidays', value: true } }
    ],
    headers: { 'Accept': 'application/json' },
    tools: {
        listHolidays: {
            method: 'GET',
            path: '/api/v3/PublicHolidays/{{year}}/{{countryCode}}',
            description: 'Public holidays of a country in one year, national and regional.',
            parameters: [
                {
                    description: 'Year, for example 2026',
                    position: { key: 'year', value: '{{USER_PARAM}}', location: 'insert' },
                    z: { primitive: 'number()', options: [ 'min(1975)', 'max(2075)' ] }
                },
                {
                    description: 'Country as a two-letter code, for example DE',
                    position: { key: 'countryCode', value: '{{USER_PARAM}}', location: 'insert' },
                    z: { primitive: 'enum({{countries:alpha2}})', options: [] }
                }
            ],
            output: {
                mimeType: 'application/json',
                schema: {
                    type: 'array',
                    items: {
                        type: 'object',
                        properties: {
                            date: { type: 'string', description: 'Day, YYYY-MM-DD' },
                            localName: { type: 'string', description: 'Name in the language of the country' },
                            name: { type: 'string', description: 'English name' },
                            countryCode: { type: 'string', description: 'Two-letter country code' },
                            global: { type: 'boolean', description: 'Whether the whole country has the day off' },
                            counties: { type: 'array', description: 'Regions that have the day off; null for all', nullable: true, items: { type: 'string' } },
                            types: { type: 'array', description: 'Kinds: Public, Bank, School, Authorities, Optional, Observance', items: { type: 'string' } }
                        }
                    }
                }
            },
            tests: [
                { _description: 'Germany, with regional holidays', year: 2026, countryCode: 'DE' },
                { _description: 'United States', year: 2025, countryCode: 'US' },
                { _description: 'Japan in a past year', year: 2000, countryCode: 'JP' }
            ]
        },
        listNextHolidays: {
            method: 'GET',
            path: '/api/v3/NextPublicHolidays/:countryCode',
            description: 'Coming public holidays of a country in the next 365 days, soonest first.',
            parameters: [
                {
                    description: 'Country as a two-letter code, for example AT',
                    position: { key: 'countryCode', value: '{{USER_PARAM}}', location: 'insert' },
                    z: { primitive: 'enum({{countries:alpha2}})', options: [] }
                }
            ],
            output: {
                mimeType: 'application/json',
                schema: {
                    type: 'array',
                    items: {
                        type: 'object',
                        properties: {
                            date: { type: 'string', description: 'Day, YYYY-MM-DD' },
                            localName: { type: 'string', description: 'Name in the language of the country' },
                            name: { type: 'string', description: 'English name' },
                            countryCode: { type: 'string', description: 'Two-letter country code' },
                            global: { type: 'boolean', description: 'Whether the whole country has the day off' }
                        }
                    }
                }
            },
            tests: [
                { _description: 'Austria', countryCode: 'AT' },
                { _description: 'Brazil', countryCode: 'BR' },
                { _description: 'New Zealand', countryCode: 'NZ' }
            ]
        }
    }
}
