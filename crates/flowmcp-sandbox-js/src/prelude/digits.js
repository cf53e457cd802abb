// Remembers in which object a number stood that JavaScript cannot hold (src/digits.rs says when this is needed).
const { parse, stringify, rawJSON } = JSON
const { is } = Object
const { apply } = Reflect
const { get: recall, set: remember } = WeakMap.prototype
const places = new WeakMap()

export default () => ( {
    parse: ( text ) => parse( text, function( key, value, { source } ) {
        if( typeof value === 'number' && source !== undefined && `${value}` !== source ) {
            let known = apply( recall, places, [ this ] )
            if( known === undefined ) {
                known = { __proto__: null }
                apply( remember, places, [ this, known ] )
            }
            known[ key ] = { value, source }
        }
        return value
    } ),
    stringify: ( result ) => stringify( result, function( key, value ) {
        if( typeof value !== 'number' ) { return value }
        const place = apply( recall, places, [ this ] )?.[ key ]
        return place !== undefined && is( place.value, value ) ? rawJSON( place.source ) : value
    } )
} )
