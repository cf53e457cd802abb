// TextEncoder, TextDecoder, atob, btoa.
const bytesOf = ( input ) => {
    if( input === undefined ) { return new Uint8Array( 0 ) }
    if( input instanceof ArrayBuffer ) { return new Uint8Array( input ) }
    if( ArrayBuffer.isView( input ) ) { return new Uint8Array( input.buffer, input.byteOffset, input.byteLength ) }
    throw new TypeError( 'expected an ArrayBuffer or a view of one' )
}

const invalidCharacter = ( message ) => {
    const error = new Error( message )
    error.name = 'InvalidCharacterError'
    return error
}

export default ( native ) => ( {
    TextEncoder: class TextEncoder {
        get encoding() { return 'utf-8' }
        encode( text = '' ) { return native.utf8Encode( String( text ).toWellFormed() ) }
        encodeInto( text, target ) {
            let read = 0
            let written = 0
            for( const character of String( text ).toWellFormed() ) {
                const bytes = native.utf8Encode( character )
                if( written + bytes.length > target.length ) { break }
                target.set( bytes, written )
                written += bytes.length
                read += character.length
            }
            return { read, written }
        }
    },
    TextDecoder: class TextDecoder {
        #encoding
        #fatal
        #keepBom
        constructor( label = 'utf-8', { fatal = false, ignoreBOM = false } = {} ) {
            const name = native.decoderName( String( label ).trim().toLowerCase() )
            if( name === undefined ) { throw new RangeError( `unknown encoding: ${label} (known: utf-8, latin1, utf-16le)` ) }
            this.#encoding = name
            this.#fatal = Boolean( fatal )
            this.#keepBom = Boolean( ignoreBOM )
        }
        get encoding() { return this.#encoding }
        get fatal() { return this.#fatal }
        get ignoreBOM() { return this.#keepBom }
        decode( input ) {
            const text = native.decode( bytesOf( input ), this.#encoding, this.#fatal )
            if( text === undefined ) { throw new TypeError( `the bytes are not valid ${this.#encoding}` ) }
            return !this.#keepBom && text.charCodeAt( 0 ) === 0xFEFF ? text.slice( 1 ) : text
        }
    },
    btoa: function btoa( text ) {
        const input = String( text )
        for( let i = 0; i < input.length; i++ ) {
            if( input.charCodeAt( i ) > 255 ) { throw invalidCharacter( 'btoa: a character is outside Latin-1' ) }
        }
        return native.btoa( input )
    },
    atob: function atob( text ) {
        const output = native.atob( String( text ).toWellFormed() )
        if( output === undefined ) { throw invalidCharacter( 'atob: the text is not base64' ) }
        return output
    }
} )
