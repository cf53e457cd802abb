// Indicators of the World Bank under words that people use.
// Written from public documentation; not checked against the live service yet.

export const list = {
    meta: {
        name: 'indicators',
        version: '3.0.0',
        description: 'Indicators of the World Bank: a word for each, its code, and what its values are measured in.',
        fields: [
            { key: 'word', type: 'string', description: 'Word that a caller uses' },
            { key: 'code', type: 'string', description: 'Code in the API of the World Bank' },
            { key: 'unit', type: 'string', description: 'Unit of the values' }
        ]
    },
    entries: [
        { word: 'population', code: 'SP.POP.TOTL', unit: 'people' },
        { word: 'income', code: 'NY.GDP.PCAP.CD', unit: 'US dollars of the year for each person' },
        { word: 'lifespan', code: 'SP.DYN.LE00.IN', unit: 'years at birth' },
        { word: 'forest', code: 'AG.LND.FRST.ZS', unit: 'percent of land' },
        { word: 'internet', code: 'IT.NET.USER.ZS', unit: 'percent of people' }
    ]
}
