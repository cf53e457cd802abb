// Endpoints written from public documentation; not called yet.
//
// What it shows: preRequest builds a part of the path. The API wants a first and a last day; a caller gives a month.

export const main = {
    namespace: 'wikimedia',
    name: 'ArticleViews',
    description: 'How often an article of the English Wikipedia was read, day by day.',
    version: '3.0.0',
    root: 'https://wikimedia.org/api/rest_v1',
    docs: [ 'https://doc.wikimedia.org/generated-data-platform/aqs/analytics-api/reference/page-views.html' ],
    tags: [ 'encyclopedia', 'statistics', 'open-data' ],
    requiredServerParams: [],
    headers: { 'Accept': 'application/json' },
    tools: {
        getMonthlyViews: {
            method: 'GET',
            path: '/metrics/pageviews/per-article/en.wikipedia/all-access/user/{{article}}/daily/{{month}}',
            description: 'Views of one article on each day of a month, automatic readers left out.',
            parameters: [
                {
                    description: 'Title of the article as in its address, for example "Ada_Lovelace"',
                    position: { key: 'article', value: '{{USER_PARAM}}', location: 'insert' },
                    z: { primitive: 'string()', options: [ 'min(1)', 'max(255)' ] }
                },
                {
                    description: 'Month as YYYY-MM, from 2015-07 on',
                    position: { key: 'month', value: '{{USER_PARAM}}', location: 'insert' },
                    z: { primitive: 'string()', options: [ 'regex(^20[0-9]{2}-(0[1-9]|1[0-2])$)' ] }
                }
            ],
            output: {
                mimeType: 'application/json',
                schema: {
                    type: 'object',
                    properties: {
                        items: {
                            type: 'array',
                            description: 'One entry for each day with views',
                            items: {
                                type: 'object',
                                properties: {
                                    article: { type: 'string', description: 'Title' },
                                    timestamp: { type: 'string', description: 'Day as YYYYMMDD00' },
                                    views: { type: 'number', description: 'Number of views' }
                                }
                            }
                        }
                    }
                }
            },
            tests: [
                { _description: 'A month of 31 days', article: 'Ada_Lovelace', month: '2024-01' },
                { _description: 'February of a leap year', article: 'Leap_year', month: '2024-02' },
                { _description: 'February of another year, and a title that has to be encoded', article: 'Zürich', month: '2023-02' }
            ]
        }
    }
}

export const handlers = () => {
    // Day 0 of the next month is the last day of this one. Nothing here reads the clock: the same call is the same request.
    const lastDay = ( year, month ) => new Date( Date.UTC( year, month, 0 ) ).getUTCDate()

    return {
        getMonthlyViews: {
            preRequest: async ( { struct, payload } ) => {
                const [ year, month ] = payload.month.split( '-' )
                const range = `${year}${month}01/${year}${month}${lastDay( Number( year ), Number( month ) )}`
                struct.url = struct.url.replace( `/daily/${payload.month}`, `/daily/${range}` )

                return { struct, payload }
            }
        }
    }
}
