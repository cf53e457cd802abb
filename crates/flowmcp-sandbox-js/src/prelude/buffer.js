// Buffer: the part that handlers use.
const ENCODINGS = { utf8: 'utf8', 'utf-8': 'utf8', hex: 'hex', base64: 'base64', base64url: 'base64url', latin1: 'latin1', binary: 'latin1', ascii: 'latin1', utf16le: 'utf16le', 'utf-16le': 'utf16le', ucs2: 'utf16le' }

const encodingOf = ( name = 'utf8' ) => {
    const known = ENCODINGS[ String( name ).toLowerCase() ]
    if( known === undefined ) { throw new TypeError( `Unknown encoding: ${name}` ) }
    return known
}

export default ( native ) => {
    const encode = ( text, encoding ) => native.bytesFrom( text.toWellFormed(), encodingOf( encoding ) )

    class Buffer extends Uint8Array {
        static get [ Symbol.species ]() { return Buffer }
        static from( value, encodingOrOffset, length ) {
            if( typeof value === 'string' ) { return Buffer.of( encode( value, encodingOrOffset ) ) }
            if( value instanceof ArrayBuffer ) { return new Buffer( value, encodingOrOffset ?? 0, length ?? value.byteLength - ( encodingOrOffset ?? 0 ) ) }
            if( typeof value === 'object' && value !== null ) {
                if( value.type === 'Buffer' && Array.isArray( value.data ) ) { return Buffer.of( Uint8Array.from( value.data ) ) }
                if( typeof value.length === 'number' || typeof value[ Symbol.iterator ] === 'function' ) { return Buffer.of( Uint8Array.from( value ) ) }
                const plain = value.valueOf?.()
                if( typeof plain === 'string' ) { return Buffer.from( plain, encodingOrOffset ) }
            }
            throw new TypeError( 'Buffer.from: expected text, an array, a buffer or an ArrayBuffer' )
        }
        static of( bytes ) { return new Buffer( bytes.buffer, bytes.byteOffset, bytes.byteLength ) }
        static alloc( size, fill = 0, encoding ) { return new Buffer( size ).fill( fill, encoding ) }
        static allocUnsafe( size ) { return new Buffer( size ) }
        static isBuffer( value ) { return value instanceof Buffer }
        static isEncoding( name ) { return ENCODINGS[ String( name ).toLowerCase() ] !== undefined }
        static byteLength( value, encoding ) { return typeof value === 'string' ? encode( value, encoding ).length : value.byteLength }
        static compare( a, b ) {
            const shared = Math.min( a.length, b.length )
            for( let i = 0; i < shared; i++ ) { if( a[ i ] !== b[ i ] ) { return a[ i ] < b[ i ] ? -1 : 1 } }
            return Math.sign( a.length - b.length )
        }
        static concat( list, total = list.reduce( ( sum, item ) => sum + item.length, 0 ) ) {
            const made = Buffer.alloc( total )
            let at = 0
            for( const item of list ) {
                if( at >= total ) { break }
                made.set( item.length > total - at ? item.subarray( 0, total - at ) : item, at )
                at += item.length
            }
            return made
        }
        #view() { return new DataView( this.buffer, this.byteOffset, this.byteLength ) }
        static view( buffer ) { return buffer.#view() }
        toString( encoding, start = 0, end = this.length ) {
            const part = start <= 0 && end >= this.length ? this : this.subarray( start, end )
            return native.textFrom( new Uint8Array( part.buffer, part.byteOffset, part.byteLength ), encodingOf( encoding ) )
        }
        toLocaleString( encoding ) { return this.toString( encoding ) }
        toJSON() { return { type: 'Buffer', data: Array.from( this ) } }
        slice( start, end ) { return this.subarray( start, end ) }
        equals( other ) { return Buffer.compare( this, other ) === 0 }
        compare( other ) { return Buffer.compare( this, other ) }
        copy( target, at = 0, start = 0, end = this.length ) {
            const part = this.subarray( start, Math.min( end, start + target.length - at ) )
            target.set( part, at )
            return part.length
        }
        fill( value, ...rest ) {
            if( typeof value !== 'string' ) { return super.fill( value, ...rest.filter( ( item ) => typeof item === 'number' ) ) }
            const bytes = encode( value, rest.find( ( item ) => typeof item === 'string' ) )
            for( let i = 0; i < this.length; i++ ) { this[ i ] = bytes.length === 0 ? 0 : bytes[ i % bytes.length ] }
            return this
        }
        write( text, at = 0, lengthOrEncoding, encoding ) {
            const bytes = encode( text, typeof lengthOrEncoding === 'string' ? lengthOrEncoding : encoding )
            const room = Math.min( this.length - at, typeof lengthOrEncoding === 'number' ? lengthOrEncoding : Infinity )
            this.set( bytes.subarray( 0, room ), at )
            return Math.min( bytes.length, room )
        }
        indexOf( value, at = 0, encoding ) {
            if( typeof value === 'number' ) { return super.indexOf( value & 255, at ) }
            const wanted = typeof value === 'string' ? encode( value, encoding ) : value
            for( let i = at; i + wanted.length <= this.length; i++ ) {
                let same = 0
                while( same < wanted.length && this[ i + same ] === wanted[ same ] ) { same++ }
                if( same === wanted.length ) { return i }
            }
            return -1
        }
        includes( value, at, encoding ) { return this.indexOf( value, at, encoding ) !== -1 }
        readUIntBE( at, length ) { let value = 0; for( let i = 0; i < length; i++ ) { value = value * 256 + this[ at + i ] } return value }
        readUIntLE( at, length ) { let value = 0; for( let i = length - 1; i >= 0; i-- ) { value = value * 256 + this[ at + i ] } return value }
        readIntBE( at, length ) { const value = this.readUIntBE( at, length ); return value >= 2 ** ( 8 * length - 1 ) ? value - 2 ** ( 8 * length ) : value }
        readIntLE( at, length ) { const value = this.readUIntLE( at, length ); return value >= 2 ** ( 8 * length - 1 ) ? value - 2 ** ( 8 * length ) : value }
    }
    const { view } = Buffer
    delete Buffer.view
    const method = ( name, made ) => Object.defineProperty( Buffer.prototype, name, { value: made, writable: true, configurable: true } )
    for( const [ kind, size ] of [ [ 'Uint8', 1 ], [ 'Int8', 1 ], [ 'Uint16', 2 ], [ 'Int16', 2 ], [ 'Uint32', 4 ], [ 'Int32', 4 ], [ 'Float32', 4 ], [ 'Float64', 8 ], [ 'BigUint64', 8 ], [ 'BigInt64', 8 ] ] ) {
        const named = { Float32: 'Float', Float64: 'Double', BigUint64: 'BigUInt64' }[ kind ] ?? kind.replace( 'Uint', 'UInt' )
        for( const [ suffix, little ] of size === 1 ? [ [ '', false ] ] : [ [ 'BE', false ], [ 'LE', true ] ] ) {
            method( `read${named}${suffix}`, function( at = 0 ) { return view( this )[ `get${kind}` ]( at, little ) } )
            method( `write${named}${suffix}`, function( value, at = 0 ) { view( this )[ `set${kind}` ]( at, value, little ); return at + size } )
        }
        if( named.includes( 'UInt' ) ) {
            for( const suffix of size === 1 ? [ '' ] : [ 'BE', 'LE' ] ) {
                method( `read${named.replace( 'UInt', 'Uint' )}${suffix}`, Buffer.prototype[ `read${named}${suffix}` ] )
                method( `write${named.replace( 'UInt', 'Uint' )}${suffix}`, Buffer.prototype[ `write${named}${suffix}` ] )
            }
        }
    }
    return { Buffer }
}
