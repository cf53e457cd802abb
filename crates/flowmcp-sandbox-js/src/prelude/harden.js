// Freezes the intrinsics of a context that outlives a call, so that no call changes them for the next one. Frozen data
// properties of prototypes would also forbid `object.toString = …` on plain objects; accessors that define an own
// property instead keep that working.
const { defineProperty, freeze, getPrototypeOf, getOwnPropertyDescriptor } = Object
const { ownKeys } = Reflect
const TAMED = [ Object, Array, Function, Error, Date, RegExp, Map, Set, Promise, String, Number, Boolean, BigInt, Symbol, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError ]

const tame = ( prototype, key ) => {
    const descriptor = getOwnPropertyDescriptor( prototype, key )
    if( !( 'value' in descriptor ) || !descriptor.configurable || !descriptor.writable ) { return }
    const { value } = descriptor
    defineProperty( prototype, key, {
        configurable: false,
        enumerable: descriptor.enumerable,
        get() { return value },
        set( replacement ) {
            if( this === prototype ) { throw new TypeError( `${String( key )} of a built-in prototype cannot be changed` ) }
            if( this === undefined || this === null ) { throw new TypeError( 'no object to set on' ) }
            defineProperty( this, key, { value: replacement, writable: true, enumerable: true, configurable: true } )
        }
    } )
}

export default () => ( {
    harden: () => {
        // Lazy globals settle now: later they could not.
        for( const key of ownKeys( globalThis ) ) { Reflect.get( globalThis, key ) }
        const seen = new Set()
        const open = [ globalThis, getPrototypeOf( function* () {} ), getPrototypeOf( async function() {} ), getPrototypeOf( async function* () {} ), getPrototypeOf( [][ Symbol.iterator ]() ), getPrototypeOf( new Map().entries() ), getPrototypeOf( new Set().values() ), getPrototypeOf( ''[ Symbol.iterator ]() ) ]
        for( const constructor of TAMED ) {
            for( const key of [ 'toString', 'toLocaleString', 'valueOf', 'constructor', 'name', 'message', 'toJSON', 'hasOwnProperty' ] ) {
                if( getOwnPropertyDescriptor( constructor.prototype, key ) !== undefined ) { tame( constructor.prototype, key ) }
            }
        }
        while( open.length > 0 ) {
            const next = open.pop()
            if( ( typeof next !== 'object' && typeof next !== 'function' ) || next === null || seen.has( next ) ) { continue }
            seen.add( next )
            open.push( getPrototypeOf( next ) )
            for( const key of ownKeys( next ) ) {
                const descriptor = getOwnPropertyDescriptor( next, key )
                open.push( descriptor.value, descriptor.get, descriptor.set )
            }
            freeze( next )
        }
    }
} )
