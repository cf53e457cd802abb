// Endpoints written from public documentation; not called yet.
//
// What it shows: a key in a header that has to be computed. The handler never sees the key: `payload.serverParams` holds a
// token for it, `btoa` of text with a token gives another token, and the host puts the real value in when it sends.

export const main = {
    namespace: 'companieshouse',
    name: 'Companies',
    description: 'Companies of the United Kingdom, by Companies House.',
    version: '3.0.0',
    root: 'https://api.company-information.service.gov.uk',
    docs: [ 'https://developer-specs.company-information.service.gov.uk' ],
    tags: [ 'companies', 'registry', 'open-data' ],
    requiredServerParams: [ 'COMPANIES_HOUSE_API_KEY' ],
    headers: { 'Accept': 'application/json' },
    tools: {
        searchCompanies: {
            method: 'GET',
            path: '/search/companies',
            description: 'Find companies by name: number, status and address of each.',
            parameters: [
                {
                    description: 'Name or part of it',
                    position: { key: 'q', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'string()', options: [ 'min(1)', 'max(160)' ] }
                },
                {
                    description: 'Most companies to return',
                    position: { key: 'items_per_page', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'min(1)', 'max(100)', 'default(10)' ] }
                }
            ],
            output: {
                mimeType: 'application/json',
                schema: {
                    type: 'array',
                    description: 'Best match first; empty when nothing was found',
                    items: {
                        type: 'object',
                        properties: {
                            number: { type: 'string', description: 'Number in the register' },
                            name: { type: 'string', description: 'Registered name' },
                            status: { type: 'string', description: 'Such as active or dissolved' },
                            address: { type: 'string', description: 'Registered office' }
                        }
                    }
                }
            },
            tests: [
                { _description: 'A well-known name', q: 'british museum' },
                { _description: 'A single result', q: 'bbc', items_per_page: 1 },
                { _description: 'A name with a sign that has to be encoded', q: 'marks & spencer' }
            ]
        }
    }
}

export const handlers = () => ({
    searchCompanies: {
        preRequest: async ( { struct, payload } ) => {
            // The API takes the key as the user name of Basic authentication, with an empty password.
            const { COMPANIES_HOUSE_API_KEY: key } = payload.serverParams
            struct.headers[ 'Authorization' ] = `Basic ${btoa( `${key}:` )}`

            return { struct, payload }
        },
        postRequest: async ( { response } ) => {
            const companies = ( response.items ?? [] )
                .map( ( { company_number: number, title: name, company_status: status, address_snippet: address } ) => {
                    return { number, name, status, address }
                } )

            return { response: companies }
        }
    }
})
