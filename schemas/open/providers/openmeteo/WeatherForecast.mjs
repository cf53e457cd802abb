// Endpoint written from public documentation; not called yet.

export const main = {
    namespace: 'openmeteo',
    name: 'WeatherForecast',
    description: 'Weather forecasts for any place on Earth from Open-Meteo, which combines the models of national weather services.',
    version: '3.0.0',
    root: 'https://api.open-meteo.com',
    docs: [ 'https://open-meteo.com/en/docs' ],
    tags: [ 'weather', 'forecast' ],
    requiredServerParams: [],
    headers: { 'Accept': 'application/json' },
    tools: {
        getForecast: {
            method: 'GET',
            path: '/v1/forecast',
            description: 'Weather now and for the coming days at a coordinate: temperature, rain, wind and a WMO weather code. Look up the coordinate of a named place with photon__searchPlaces first.',
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
                    position: { key: 'current', value: 'temperature_2m,apparent_temperature,precipitation,weather_code,wind_speed_10m', location: 'query' },
                    z: { primitive: 'string()', options: [] }
                },
                {
                    position: { key: 'daily', value: 'weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum,wind_speed_10m_max', location: 'query' },
                    z: { primitive: 'string()', options: [] }
                },
                {
                    description: 'Days to forecast, today included',
                    position: { key: 'forecast_days', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'number()', options: [ 'min(1)', 'max(16)', 'default(7)' ] }
                },
                {
                    description: 'Unit of all temperatures',
                    position: { key: 'temperature_unit', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'enum(celsius,fahrenheit)', options: [ 'default(celsius)' ] }
                },
                {
                    description: 'Unit of all wind speeds',
                    position: { key: 'wind_speed_unit', value: '{{USER_PARAM}}', location: 'query' },
                    z: { primitive: 'enum(kmh,ms,mph,kn)', options: [ 'default(kmh)' ] }
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
                        current: {
                            type: 'object',
                            description: 'Conditions now',
                            properties: {
                                time: { type: 'string', description: 'Local time, ISO 8601' },
                                temperature_2m: { type: 'number', description: 'Air temperature 2 m above ground', nullable: true },
                                apparent_temperature: { type: 'number', description: 'Felt temperature', nullable: true },
                                precipitation: { type: 'number', description: 'Rain, showers and snow of the last interval, mm', nullable: true },
                                weather_code: { type: 'number', description: 'WMO code: 0 clear, 3 overcast, 61 rain, 71 snow, 95 thunderstorm', nullable: true },
                                wind_speed_10m: { type: 'number', description: 'Wind speed 10 m above ground', nullable: true }
                            }
                        },
                        daily_units: { type: 'object', description: 'Unit of each value in daily' },
                        daily: {
                            type: 'object',
                            description: 'One array per value, one item per day',
                            properties: {
                                time: { type: 'array', description: 'Local dates', items: { type: 'string' } },
                                weather_code: { type: 'array', description: 'Most severe WMO code of the day', items: { type: 'number', nullable: true } },
                                temperature_2m_max: { type: 'array', description: 'Highest temperature', items: { type: 'number', nullable: true } },
                                temperature_2m_min: { type: 'array', description: 'Lowest temperature', items: { type: 'number', nullable: true } },
                                precipitation_sum: { type: 'array', description: 'Precipitation of the day, mm', items: { type: 'number', nullable: true } },
                                wind_speed_10m_max: { type: 'array', description: 'Highest wind speed', items: { type: 'number', nullable: true } }
                            }
                        }
                    }
                }
            },
            tests: [
                { _description: 'A week in Berlin with the defaults', latitude: 52.52, longitude: 13.41 },
                { _description: 'Three days in New York in American units', latitude: 40.71, longitude: -74.01, forecast_days: 3, temperature_unit: 'fahrenheit', wind_speed_unit: 'mph' },
                { _description: 'Today only, on the equator at the prime meridian', latitude: 0, longitude: 0, forecast_days: 1 }
            ]
        }
    }
}
