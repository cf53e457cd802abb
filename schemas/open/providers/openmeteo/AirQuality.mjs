// Endpoint written from public documentation; not called yet.

export const main = {
    namespace: 'openmeteo',
    name: 'AirQuality',
    description: 'Air quality and pollen from Open-Meteo, based on the Copernicus atmosphere models.',
    version: '3.0.0',
    root: 'https://air-quality-api.open-meteo.com',
    docs: [ 'https://open-meteo.com/en/docs/air-quality-api' ],
    tags: [ 'weather', 'environment' ],
    requiredServerParams: [],
    headers: { 'Accept': 'application/json' },
    tools: {
        getAirQuality: {
            method: 'GET',
            path: '/v1/air-quality',
            description: 'Air quality now at a coordinate: the indices and pollutants you ask for. Look up the coordinate of a named place with photon__searchPlaces first.',
            parameters: [
                {
                    description: 'Latitude in degrees, north is positive',
                    position: { key: 'latitude', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'min(-90)', 'max(90)' ] }
                },
                {
                    description: 'Longitude in degrees, east is positive',
                    position: { key: 'longitude', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'min(-180)', 'max(180)' ] }
                },
                {
                    description: 'Values to report: european_aqi, us_aqi, pm10, pm2_5, carbon_monoxide, nitrogen_dioxide, sulphur_dioxide, ozone, dust, uv_index; in Europe also birch_pollen, grass_pollen, ragweed_pollen',
                    position: { key: 'current', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'array()', options: [ 'min(1)', 'max(10)', 'default(["european_aqi","pm10","pm2_5","ozone"])' ] }
                },
                {
                    description: 'Model area: the finer European one, the global one, or whichever fits the coordinate',
                    position: { key: 'domains', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'enum(auto,cams_europe,cams_global)', options: [ 'default(auto)' ] }
                },
                {
                    position: { key: 'timezone', value: 'auto', location: 'query' },
                    z: { primitive: 'string()', options: [] }
                }
            ],
            output: {
                mimeType: 'application/json',
                schema: {
                    type: 'object',
                    properties: {
                        latitude: { type: 'number', description: 'Latitude of the grid cell that was used' },
                        longitude: { type: 'number', description: 'Longitude of the grid cell that was used' },
                        timezone: { type: 'string', description: 'IANA name of the local time zone' },
                        current_units: { type: 'object', description: 'Unit of each value in current' },
                        current: { type: 'object', description: 'Local time, interval in seconds and one number per requested value; null where the model has none' }
                    }
                }
            },
            tests: [
                { _description: 'Paris with the default values', latitude: 48.86, longitude: 2.35 },
                { _description: 'American index and fine dust in Delhi', latitude: 28.61, longitude: 77.21, current: [ 'us_aqi', 'pm2_5' ] },
                { _description: 'Pollen in Vienna from the European model', latitude: 48.21, longitude: 16.37, current: [ 'birch_pollen', 'grass_pollen' ], domains: 'cams_europe' }
            ]
        }
    }
}
