// Endpoints written from public documentation; not called yet.

export const main = {
    namespace: 'photon',
    name: 'Geocoder',
    description: 'Geocoding with OpenStreetMap data by Photon: from a name to coordinates and back.',
    version: '3.0.0',
    root: 'https://photon.komoot.io',
    docs: [ 'https://photon.komoot.io', 'https://github.com/komoot/photon' ],
    tags: [ 'geocoding', 'maps', 'open-data' ],
    requiredServerParams: [],
    headers: { 'Accept': 'application/json' },
    tools: {
        searchPlaces: {
            method: 'GET',
            path: '/api',
            description: 'Find places by name or address, with their coordinates. Give a coordinate as well to prefer places nearby.',
            parameters: [
                {
                    description: 'Name or address to look for, for example "Brandenburger Tor, Berlin"',
                    position: { key: 'q', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'string()', options: [ 'min(1)', 'max(200)' ] }
                },
                {
                    description: 'Most results to return',
                    position: { key: 'limit', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'min(1)', 'max(50)', 'default(5)' ] }
                },
                {
                    description: 'Language of the names in the result; default is the local one',
                    position: { key: 'lang', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'enum(default,en,de,fr)', options: [ 'optional()' ] }
                },
                {
                    description: 'Kinds of places to return: house, street, locality, district, city, county, state, country, other',
                    position: { key: 'layer', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'array()', options: [ 'optional()', 'explode()', 'max(9)' ] }
                },
                {
                    description: 'Latitude near which to search; give lon too',
                    position: { key: 'lat', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'optional()', 'min(-90)', 'max(90)' ] }
                },
                {
                    description: 'Longitude near which to search; give lat too',
                    position: { key: 'lon', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'optional()', 'min(-180)', 'max(180)' ] }
                }
            ],
            output: {
                mimeType: 'application/json',
                schema: {
                    type: 'object',
                    properties: {
                        type: { type: 'string', description: 'Always FeatureCollection (GeoJSON)' },
                        features: {
                            type: 'array',
                            description: 'Places, best match first; empty when nothing was found',
                            items: {
                                type: 'object',
                                properties: {
                                    geometry: { type: 'object', description: 'Point with coordinates as longitude, latitude' },
                                    properties: { type: 'object', description: 'name, street, housenumber, postcode, city, state, country, countrycode, osm_id, osm_key, osm_value and extent, as far as known' }
                                }
                            }
                        }
                    }
                }
            },
            tests: [
                { _description: 'A city by its name', q: 'Hamburg' },
                { _description: 'Cities and states only, names in English', q: 'Münster', lang: 'en', layer: [ 'city', 'state' ] },
                { _description: 'A street near a coordinate', q: 'Hauptstraße 1', lat: 52.52, lon: 13.41, limit: 1 }
            ]
        },
        findPlaceAt: {
            method: 'GET',
            path: '/reverse',
            description: 'Name the place at a coordinate: the nearest addresses and places.',
            parameters: [
                {
                    description: 'Latitude in degrees, north is positive',
                    position: { key: 'lat', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'min(-90)', 'max(90)' ] }
                },
                {
                    description: 'Longitude in degrees, east is positive',
                    position: { key: 'lon', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'min(-180)', 'max(180)' ] }
                },
                {
                    description: 'Farthest distance to search, in kilometres',
                    position: { key: 'radius', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'optional()', 'min(0)', 'max(50)' ] }
                },
                {
                    description: 'Most results to return',
                    position: { key: 'limit', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'min(1)', 'max(50)', 'default(1)' ] }
                },
                {
                    description: 'Whether the nearest place comes first; otherwise the most important one does',
                    position: { key: 'distance_sort', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'boolean()', options: [ 'default(true)' ] }
                }
            ],
            output: {
                mimeType: 'application/json',
                schema: {
                    type: 'object',
                    properties: {
                        type: { type: 'string', description: 'Always FeatureCollection (GeoJSON)' },
                        features: {
                            type: 'array',
                            description: 'Places around the coordinate; empty when there is none in the radius',
                            items: {
                                type: 'object',
                                properties: {
                                    geometry: { type: 'object', description: 'Point with coordinates as longitude, latitude' },
                                    properties: { type: 'object', description: 'name, street, housenumber, postcode, city, state, country and countrycode, as far as known' }
                                }
                            }
                        }
                    }
                }
            },
            tests: [
                { _description: 'The nearest address in Berlin', lat: 52.5163, lon: 13.3777 },
                { _description: 'The three most important places within one kilometre', lat: 48.8584, lon: 2.2945, radius: 1, limit: 3, distance_sort: false },
                { _description: 'The open sea, where the result may be empty', lat: 0, lon: -30 }
            ]
        }
    }
}
