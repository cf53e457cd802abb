// Endpoints written from public documentation; not called yet.

export const main = {
    namespace: 'usgs',
    name: 'Earthquakes',
    description: 'Earthquakes worldwide from the catalogue of the United States Geological Survey.',
    version: '3.0.0',
    root: 'https://earthquake.usgs.gov',
    docs: [ 'https://earthquake.usgs.gov/fdsnws/event/1/' ],
    tags: [ 'earthquakes', 'geology', 'open-data' ],
    requiredServerParams: [],
    headers: { 'Accept': 'application/json' },
    tools: {
        findEarthquakes: {
            method: 'GET',
            path: '/fdsnws/event/1/query',
            description: 'Find earthquakes by time, magnitude and distance to a place. Without dates: the last 30 days.',
            parameters: [
                {
                    position: { key: 'format', value: 'geojson', location: 'query' },
                    z: { primitive: 'string()', options: [] }
                },
                {
                    position: { key: 'eventtype', value: 'earthquake', location: 'query' },
                    z: { primitive: 'string()', options: [] }
                },
                {
                    description: 'Earliest time, UTC: YYYY-MM-DD or YYYY-MM-DDThh:mm:ss',
                    position: { key: 'starttime', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'string()', options: [ 'optional()', 'regex(^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}:\\d{2})?$)' ] }
                },
                {
                    description: 'Latest time, UTC: YYYY-MM-DD or YYYY-MM-DDThh:mm:ss',
                    position: { key: 'endtime', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'string()', options: [ 'optional()', 'regex(^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}:\\d{2})?$)' ] }
                },
                {
                    description: 'Smallest magnitude',
                    position: { key: 'minmagnitude', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'min(-1)', 'max(10)', 'default(4.5)' ] }
                },
                {
                    description: 'Latitude of the place to search around; give longitude and maxradiuskm too',
                    position: { key: 'latitude', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'optional()', 'min(-90)', 'max(90)' ] }
                },
                {
                    description: 'Longitude of the place to search around; give latitude and maxradiuskm too',
                    position: { key: 'longitude', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'optional()', 'min(-180)', 'max(180)' ] }
                },
                {
                    description: 'Farthest distance to that place, in kilometres',
                    position: { key: 'maxradiuskm', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'optional()', 'min(0)', 'max(20001)' ] }
                },
                {
                    description: 'Only events with this PAGER alert level',
                    position: { key: 'alertlevel', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'enum(green,yellow,orange,red)', options: [ 'optional()' ] }
                },
                {
                    description: 'Order: newest, oldest, strongest or weakest first',
                    position: { key: 'orderby', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'enum(time,time-asc,magnitude,magnitude-asc)', options: [ 'default(time)' ] }
                },
                {
                    description: 'Most events to return',
                    position: { key: 'limit', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'min(1)', 'max(200)', 'default(20)' ] }
                }
            ],
            output: {
                mimeType: 'application/json',
                schema: {
                    type: 'object',
                    properties: {
                        type: { type: 'string', description: 'Always FeatureCollection (GeoJSON)' },
                        metadata: {
                            type: 'object',
                            description: 'About the answer',
                            properties: {
                                count: { type: 'number', description: 'Number of events in the answer' },
                                generated: { type: 'number', description: 'Time of the answer, milliseconds since 1970' }
                            }
                        },
                        features: {
                            type: 'array',
                            description: 'Events in the order asked for',
                            items: {
                                type: 'object',
                                properties: {
                                    id: { type: 'string', description: 'Event ID for getEarthquake' },
                                    properties: { type: 'object', description: 'mag, place, time (milliseconds since 1970), url, alert, tsunami, felt, title and more' },
                                    geometry: { type: 'object', description: 'Point with coordinates as longitude, latitude, depth in kilometres' }
                                }
                            }
                        }
                    }
                }
            },
            tests: [
                { _description: 'The last 30 days with the defaults' },
                { _description: 'The strongest of one day', starttime: '2011-03-11', endtime: '2011-03-12', minmagnitude: 6, orderby: 'magnitude', limit: 5 },
                { _description: 'Around San Francisco, small ones included', latitude: 37.77, longitude: -122.42, maxradiuskm: 100, minmagnitude: 2.5 },
                { _description: 'Events with a red alert since a given second', starttime: '2023-02-06T01:00:00', endtime: '2023-02-07T00:00:00', alertlevel: 'red' }
            ]
        },
        getEarthquake: {
            method: 'GET',
            path: '/fdsnws/event/1/query?format=geojson',
            description: 'One earthquake by its event ID: magnitude, place, depth, alert level and links to what is known about it.',
            parameters: [
                {
                    description: 'Event ID as findEarthquakes gives it, for example us6000jllz',
                    position: { key: 'eventid', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'string()', options: [ 'regex(/^[a-z0-9_]+$/i)', 'min(4)', 'max(60)' ] }
                }
            ],
            output: {
                mimeType: 'application/json',
                schema: {
                    type: 'object',
                    properties: {
                        type: { type: 'string', description: 'Always Feature (GeoJSON)' },
                        id: { type: 'string', description: 'Event ID' },
                        properties: {
                            type: 'object',
                            description: 'What is known about the event',
                            properties: {
                                mag: { type: 'number', description: 'Magnitude', nullable: true },
                                place: { type: 'string', description: 'Place in words', nullable: true },
                                time: { type: 'number', description: 'Milliseconds since 1970, UTC' },
                                url: { type: 'string', description: 'Page about the event' },
                                alert: { type: 'string', description: 'PAGER alert level', nullable: true },
                                tsunami: { type: 'number', description: '1 when a tsunami message may exist' },
                                title: { type: 'string', description: 'Magnitude and place' }
                            }
                        },
                        geometry: { type: 'object', description: 'Point with coordinates as longitude, latitude, depth in kilometres' }
                    }
                }
            },
            tests: [
                { _description: 'Türkiye, February 2023', eventid: 'us6000jllz' },
                { _description: 'Noto peninsula, January 2024', eventid: 'us6000m0xl' },
                { _description: 'Tohoku, March 2011, under its long ID', eventid: 'official20110311054624120_30' }
            ]
        }
    }
}
