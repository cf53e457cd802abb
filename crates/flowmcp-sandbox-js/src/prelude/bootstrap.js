// Runs first in every context, before any handler. What it needs from the intrinsics it takes now, since a handler may
// replace them.
const { defineProperty, freeze, getPrototypeOf } = Object
const { ownKeys, getOwnPropertyDescriptor, apply } = Reflect
const { parse } = JSON
const { rawJSON } = JSON
const toText = BigInt.prototype.toString

const deepFreeze = ( value ) => {
    if( typeof value !== 'object' || value === null ) { return value }
    const open = [ value ]
    while( open.length > 0 ) {
        const next = open.pop()
        const keys = ownKeys( freeze( next ) )
        for( let i = 0; i < keys.length; i++ ) {
            const { value: child } = getOwnPropertyDescriptor( next, keys[ i ] )
            if( typeof child === 'object' && child !== null ) { open[ open.length ] = child }
        }
    }
    return value
}

const define = ( target, name, value ) => defineProperty( target, name, { value, writable: true, configurable: true, enumerable: false } )

const lazy = ( load, pieces ) => {
    for( const [ piece, names ] of pieces ) {
        for( const name of names ) {
            defineProperty( globalThis, name, {
                configurable: true,
                enumerable: false,
                get() {
                    const made = load( piece )
                    for( const each of names ) { define( globalThis, each, made[ each ] ) }
                    return made[ name ]
                },
                set( value ) { define( globalThis, name, value ) }
            } )
        }
    }
}

const onDemand = ( names, load ) => {
    const object = {}
    for( const name of names ) {
        let loaded = false
        let value
        defineProperty( object, name, {
            enumerable: true,
            get() {
                if( !loaded ) { value = load( name ); loaded = true }
                return value
            }
        } )
    }
    return freeze( object )
}

// `data` of postProcess: an object that reads as its own source text wherever a text is wanted.
const dual = ( value, text ) => {
    if( typeof value === 'string' ) { return value }
    if( typeof value !== 'object' || value === null ) { return text() }
    const hidden = { value: () => text(), writable: true, configurable: true, enumerable: false }
    defineProperty( value, 'toString', hidden )
    defineProperty( value, Symbol.toPrimitive, hidden )
    return value
}

const isObject = ( value ) => typeof value === 'object' && value !== null

const complete = ( text ) => ( hook, input ) => {
    if( hook === 'postProcess' ) {
        input.data = dual( input.data, () => text( 'data' ) )
        if( !( 'response' in input ) ) { input.response = input.data }
    }
    if( hook === 'postProcess' || hook === 'postRequest' ) {
        const { struct } = input
        if( isObject( struct ) ) {
            const source = hook === 'postRequest' ? 'response' : 'data'
            if( !( 'data' in struct ) ) { struct.data = input[ source ] }
            if( !( 'dataAsString' in struct ) ) {
                defineProperty( struct, 'dataAsString', {
                    configurable: true,
                    enumerable: true,
                    get: () => {
                        const value = input[ source ]
                        return typeof value === 'string' ? value : text( source )
                    },
                    set( value ) { defineProperty( struct, 'dataAsString', { value, writable: true, configurable: true, enumerable: true } ) }
                } )
            }
        }
    }
    return input
}

export default ( { load, list, listNames, library, libraryNames, pieces, random, text } ) => {
    lazy( load, pieces )
    define( Math, 'random', { random: () => random() }.random )
    define( BigInt.prototype, 'toJSON', function toJSON() { return rawJSON( apply( toText, this, [] ) ) } )
    const sharedLists = onDemand( listNames, ( name ) => deepFreeze( parse( list( name ) ) ) )
    const libraries = onDemand( libraryNames, library )
    return {
        complete: complete( text ),
        make: async ( handlers ) => typeof handlers === 'function' ? handlers( { sharedLists, libraries } ) : handlers,
        run: async ( tool, hook, input ) => tool[ hook ]( input ),
        lacksStruct: ( value ) => !isObject( value ) || !( 'struct' in value )
    }
}
