// structuredClone for what JSON-like handlers hold: plain objects, arrays, dates, maps, sets, errors, bytes, cycles.
// The one that copies: a Buffer's own `slice` shares its memory.
const sliceOfTyped = Object.getPrototypeOf( Uint8Array.prototype ).slice

const fail = ( what ) => {
    const error = new Error( `${what} could not be cloned` )
    error.name = 'DataCloneError'
    throw error
}

const copy = ( value, seen ) => {
    if( typeof value === 'function' || typeof value === 'symbol' ) { return fail( typeof value ) }
    if( typeof value !== 'object' || value === null ) { return value }
    if( seen.has( value ) ) { return seen.get( value ) }
    const keep = ( made ) => { seen.set( value, made ); return made }
    if( value instanceof Date ) { return keep( new Date( value.getTime() ) ) }
    if( value instanceof RegExp ) { return keep( new RegExp( value.source, value.flags ) ) }
    if( value instanceof ArrayBuffer ) { return keep( value.slice( 0 ) ) }
    if( ArrayBuffer.isView( value ) ) {
        if( value instanceof DataView ) { return keep( new DataView( value.buffer.slice( value.byteOffset, value.byteOffset + value.byteLength ) ) ) }
        return keep( Reflect.apply( sliceOfTyped, value, [] ) )
    }
    if( value instanceof Map ) {
        const made = keep( new Map() )
        for( const [ key, item ] of value ) { made.set( copy( key, seen ), copy( item, seen ) ) }
        return made
    }
    if( value instanceof Set ) {
        const made = keep( new Set() )
        for( const item of value ) { made.add( copy( item, seen ) ) }
        return made
    }
    if( value instanceof Error ) {
        const made = keep( new Error( value.message ) )
        made.name = value.name
        return made
    }
    if( value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet ) { return fail( 'object' ) }
    if( Array.isArray( value ) ) {
        const made = keep( new Array( value.length ) )
        for( const key of Object.keys( value ) ) { made[ key ] = copy( value[ key ], seen ) }
        return made
    }
    if( value instanceof Number || value instanceof String || value instanceof Boolean ) { return keep( Object( value.valueOf() ) ) }
    const made = keep( {} )
    for( const key of Object.keys( value ) ) {
        Object.defineProperty( made, key, { value: copy( value[ key ], seen ), writable: true, enumerable: true, configurable: true } )
    }
    return made
}

export default () => ( {
    structuredClone: function structuredClone( value ) {
        if( arguments.length === 0 ) { throw new TypeError( 'structuredClone needs a value' ) }
        return copy( value, new Map() )
    }
} )
