// Endpoints written from public documentation; not called yet.

export const main = {
    namespace: 'wikipedia',
    name: 'Articles',
    description: 'Articles of the English Wikipedia: full-text search and short summaries.',
    version: '3.0.0',
    root: 'https://en.wikipedia.org',
    docs: [ 'https://www.mediawiki.org/wiki/API:REST_API/Reference', 'https://en.wikipedia.org/api/rest_v1/' ],
    tags: [ 'encyclopedia', 'search', 'open-data' ],
    requiredServerParams: [],
    headers: {
        'Accept': 'application/json',
        'User-Agent': 'flowmcp-server (https://github.com/FlowMCP/flowmcp-server)'
    },
    tools: {
        searchArticles: {
            method: 'GET',
            path: '/w/rest.php/v1/search/page',
            description: 'Search articles by words in their title or text. Read what a hit is about with wikipedia__getArticleSummary.',
            parameters: [
                {
                    description: 'Words to look for',
                    position: { key: 'q', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'string()', options: [ 'min(1)', 'max(300)' ] }
                },
                {
                    description: 'Most hits to return',
                    position: { key: 'limit', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'min(1)', 'max(100)', 'default(10)' ] }
                }
            ],
            output: {
                mimeType: 'application/json',
                schema: {
                    type: 'object',
                    properties: {
                        pages: {
                            type: 'array',
                            description: 'Hits, best first; empty when nothing was found',
                            items: {
                                type: 'object',
                                properties: {
                                    id: { type: 'number', description: 'Page ID' },
                                    key: { type: 'string', description: 'Title as it stands in URLs; take it for getArticleSummary' },
                                    title: { type: 'string', description: 'Title' },
                                    excerpt: { type: 'string', description: 'Piece of text with the words found, as HTML' },
                                    description: { type: 'string', description: 'Short description', nullable: true }
                                }
                            }
                        }
                    }
                }
            },
            tests: [
                { _description: 'One word', q: 'photosynthesis' },
                { _description: 'A phrase with a plus and an ampersand, few hits', q: 'C++ & Rust', limit: 3 },
                { _description: 'Letters outside ASCII', q: 'Málaga' }
            ]
        },
        getArticleSummary: {
            method: 'GET',
            path: '/api/rest_v1/page/summary/{{title}}',
            description: 'Summary of one article: its first paragraph as plain text, a short description, coordinates where it has some, and its address.',
            parameters: [
                {
                    description: 'Title of the article, with spaces or underscores, for example Ada_Lovelace',
                    position: { key: 'title', value: '{{USER_PARAM}}', location: 'insert' },
                    z: { primitive: 'string()', options: [ 'min(1)', 'max(255)' ] }
                },
                {
                    description: 'Whether a title that redirects gives the article it redirects to',
                    position: { key: 'redirect', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'boolean()', options: [ 'default(true)' ] }
                }
            ],
            output: {
                mimeType: 'application/json',
                schema: {
                    type: 'object',
                    properties: {
                        type: { type: 'string', description: 'standard, disambiguation, no-extract or mainpage' },
                        title: { type: 'string', description: 'Title' },
                        description: { type: 'string', description: 'Short description' },
                        extract: { type: 'string', description: 'First paragraph as plain text' },
                        timestamp: { type: 'string', description: 'Last change, ISO 8601' },
                        coordinates: {
                            type: 'object',
                            description: 'Where the subject is, only for places',
                            properties: {
                                lat: { type: 'number', description: 'Latitude' },
                                lon: { type: 'number', description: 'Longitude' }
                            }
                        },
                        content_urls: { type: 'object', description: 'Addresses of the article, for desktop and mobile' }
                    }
                }
            },
            tests: [
                { _description: 'A person, with an underscore', title: 'Ada_Lovelace' },
                { _description: 'A place with a space and a comma', title: 'Portland, Oregon' },
                { _description: 'A title that redirects, not followed', title: 'UK', redirect: false }
            ]
        }
    }
}
