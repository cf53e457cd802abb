// The first example of the project's guide. The integrity hash of `main` is a fixed point of the tests:
// sha256:0a252ea5a313ba7fec9bb6b20c3f2ba563df24d95b9f714009015123c14e9885
// Endpoint written from public documentation; not called yet.

export const main = {
    namespace: 'coingecko',
    name: 'Ping',
    description: 'Check CoinGecko API server status',
    version: '3.0.0',
    root: 'https://api.coingecko.com/api/v3',
    requiredServerParams: [],
    requiredLibraries: [],
    headers: {},
    tools: {
        ping: {
            method: 'GET',
            path: '/ping',
            description: 'Check if CoinGecko API is online',
            parameters: []
        }
    }
}
