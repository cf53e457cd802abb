// Endpoints written from public documentation; not called yet.
//
// What it shows: executeRequest makes the requests itself, page by page. That needs `grants = ["fetch"]` of the pack in the
// configuration (or `--grant fetch`), reaches the schema's own host only, and is limited to 16 requests a call.

export const main = {
    namespace: 'artic',
    name: 'Artworks',
    description: 'Works in the Art Institute of Chicago.',
    version: '3.0.0',
    root: 'https://api.artic.edu/api/v1',
    docs: [ 'https://api.artic.edu/docs/' ],
    tags: [ 'art', 'museum', 'open-data' ],
    requiredServerParams: [],
    headers: { 'Accept': 'application/json' },
    tools: {
        searchArtworks: {
            method: 'GET',
            path: '/artworks/search',
            description: 'Find works by a word in their title, artist or description. Reads as many pages as it needs, ten at most.',
            parameters: [
                {
                    description: 'What to look for, for example "water lilies"',
                    position: { key: 'q', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'string()', options: [ 'min(1)', 'max(200)' ] }
                },
                {
                    description: 'Most works to return',
                    position: { key: 'limit', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'min(1)', 'max(500)', 'default(20)' ] }
                },
                {
                    position: { key: 'fields', value: 'id,title,artist_display,date_display', location: 'query' },
                    z: { primitive: 'string()', options: [] }
                }
            ],
            output: {
                mimeType: 'application/json',
                schema: {
                    type: 'object',
                    properties: {
                        total: { type: 'number', description: 'How many works there are, returned or not' },
                        works: {
                            type: 'array',
                            description: 'Best match first',
                            items: {
                                type: 'object',
                                properties: {
                                    id: { type: 'number', description: 'Number of the work' },
                                    title: { type: 'string', description: 'Title' },
                                    artist: { type: 'string', description: 'Who made it' },
                                    date: { type: 'string', description: 'When it was made' }
                                }
                            }
                        }
                    }
                }
            },
            tests: [
                { _description: 'The first works', q: 'water lilies' },
                { _description: 'More than one page', q: 'monet', limit: 120 },
                { _description: 'A single work', q: 'nighthawks', limit: 1 }
            ]
        }
    }
}

export const handlers = () => {
    const pageSize = 50
    const mostPages = 10

    return {
        searchArtworks: {
            executeRequest: async ( { struct, payload } ) => {
                const works = []
                let total = 0
                for( let page = 1; page <= mostPages && works.length < payload.limit; page++ ) {
                    const url = new URL( payload.url )
                    url.searchParams.set( 'page', page )
                    url.searchParams.set( 'limit', Math.min( pageSize, payload.limit ) )
                    const response = await fetch( url.toString(), { headers: { 'Accept': 'application/json' } } )
                    if( !response.ok ) {
                        throw new Error( `page ${page}: HTTP ${response.status}` )
                    }

                    const { data, pagination } = await response.json()
                    total = pagination.total
                    works.push( ...data )
                    if( page >= pagination.total_pages ) { break }
                }

                struct.data = {
                    total,
                    works: works
                        .slice( 0, payload.limit )
                        .map( ( { id, title, artist_display: artist, date_display: date } ) => ({ id, title, artist, date }) )
                }

                return { struct, payload }
            }
        }
    }
}
