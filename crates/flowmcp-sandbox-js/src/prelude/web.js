// URL and URLSearchParams. Parsing and encoding are the host's (WHATWG URL), so a request's text is the one that is sent.
const PARTS = [ 'href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash', 'origin' ]

export default ( native ) => {
    const text = ( value ) => String( value ).toWellFormed()

    class URLSearchParams {
        #list = []
        #changed = null
        constructor( init = '' ) {
            if( typeof init === 'object' && init !== null ) {
                if( typeof init[ Symbol.iterator ] === 'function' ) {
                    for( const pair of init ) {
                        const [ name, value, ...more ] = pair
                        if( value === undefined || more.length > 0 ) { throw new TypeError( 'each pair must be an array of a name and a value' ) }
                        this.#list.push( [ text( name ), text( value ) ] )
                    }
                } else {
                    for( const name of Object.keys( init ) ) { this.#list.push( [ text( name ), text( init[ name ] ) ] ) }
                }
            } else {
                this.#read( text( init ) )
            }
        }
        #read( query ) {
            const flat = native.formParse( query.startsWith( '?' ) ? query.slice( 1 ) : query )
            this.#list = []
            for( let i = 0; i < flat.length; i += 2 ) { this.#list.push( [ flat[ i ], flat[ i + 1 ] ] ) }
        }
        #tell() { this.#changed?.( this.toString() ) }
        static bind( params, query, changed ) {
            params.#read( query )
            params.#changed = changed
        }
        get size() { return this.#list.length }
        append( name, value ) { this.#list.push( [ text( name ), text( value ) ] ); this.#tell() }
        delete( name, value ) {
            const [ key, wanted ] = [ text( name ), value === undefined ? undefined : text( value ) ]
            this.#list = this.#list.filter( ( [ k, v ] ) => k !== key || ( wanted !== undefined && v !== wanted ) )
            this.#tell()
        }
        get( name ) { const key = text( name ); return this.#list.find( ( [ k ] ) => k === key )?.[ 1 ] ?? null }
        getAll( name ) { const key = text( name ); return this.#list.filter( ( [ k ] ) => k === key ).map( ( [ , v ] ) => v ) }
        has( name, value ) {
            const [ key, wanted ] = [ text( name ), value === undefined ? undefined : text( value ) ]
            return this.#list.some( ( [ k, v ] ) => k === key && ( wanted === undefined || v === wanted ) )
        }
        set( name, value ) {
            const [ key, wanted ] = [ text( name ), text( value ) ]
            const first = this.#list.findIndex( ( [ k ] ) => k === key )
            if( first === -1 ) {
                this.#list.push( [ key, wanted ] )
            } else {
                this.#list[ first ] = [ key, wanted ]
                this.#list = this.#list.filter( ( [ k ], i ) => i <= first || k !== key )
            }
            this.#tell()
        }
        sort() { this.#list.sort( ( [ a ], [ b ] ) => a < b ? -1 : a > b ? 1 : 0 ); this.#tell() }
        forEach( each, self ) { for( const [ name, value ] of this ) { each.call( self, value, name, this ) } }
        *entries() { for( const [ name, value ] of this.#list ) { yield [ name, value ] } }
        *keys() { for( const [ name ] of this.#list ) { yield name } }
        *values() { for( const [ , value ] of this.#list ) { yield value } }
        [ Symbol.iterator ]() { return this.entries() }
        toString() { return native.formEncode( this.#list.flat() ) }
    }
    const bind = URLSearchParams.bind
    delete URLSearchParams.bind

    class URL {
        #parts
        #params = null
        constructor( url, base ) {
            this.#parts = native.url( text( url ), base === undefined ? undefined : text( base ) )
            if( this.#parts === undefined ) {
                const error = new TypeError( `Invalid URL: ${text( url ).slice( 0, 200 )}` )
                error.code = 'ERR_INVALID_URL'
                throw error
            }
        }
        static canParse( url, base ) { return native.url( text( url ), base === undefined ? undefined : text( base ) ) !== undefined }
        static parse( url, base ) { return URL.canParse( url, base ) ? new URL( url, base ) : null }
        static part( url, index ) { return url.#parts[ index ] }
        static change( url, name, value ) {
            url.#parts = native.urlSet( url.#parts[ 0 ], name, text( value ) ) ?? url.#parts
            if( url.#params !== null && ( name === 'href' || name === 'search' ) ) { url.#follow() }
        }
        #follow() {
            bind( this.#params, this.#parts[ 8 ], ( query ) => {
                this.#parts = native.urlSet( this.#parts[ 0 ], 'search', query ) ?? this.#parts
            } )
        }
        get searchParams() {
            if( this.#params === null ) {
                this.#params = new URLSearchParams()
                this.#follow()
            }
            return this.#params
        }
        toString() { return this.#parts[ 0 ] }
        toJSON() { return this.#parts[ 0 ] }
    }
    const { part, change } = URL
    delete URL.part
    delete URL.change
    PARTS.forEach( ( name, index ) => {
        Object.defineProperty( URL.prototype, name, {
            configurable: true,
            enumerable: true,
            get() { return part( this, index ) },
            set: name === 'origin' ? undefined : function( value ) {
                if( name === 'href' && !URL.canParse( value ) ) { throw new TypeError( 'Invalid URL' ) }
                change( this, name, value )
            }
        } )
    } )
    return { URL, URLSearchParams }
}
