// fetch and timers, for packs that were granted them. The host makes the requests; `settle` and `due` are called by the
// sandbox when a script has nothing left to run.
const named = ( name, message ) => {
    const error = name === 'TypeError' ? new TypeError( message ) : new Error( message )
    error.name = name
    return error
}

export default ( native ) => {
    const waiting = new Map()
    const timers = new Map()
    let nextTimer = 1

    class Headers {
        #list = []
        constructor( init ) {
            if( init === undefined || init === null ) { return }
            const pairs = typeof init[ Symbol.iterator ] === 'function' ? init : Object.entries( init )
            for( const [ name, value ] of pairs ) { this.append( name, value ) }
        }
        append( name, value ) { this.#list.push( [ String( name ).toLowerCase(), String( value ).trim() ] ) }
        set( name, value ) { this.delete( name ); this.append( name, value ) }
        delete( name ) { const key = String( name ).toLowerCase(); this.#list = this.#list.filter( ( [ k ] ) => k !== key ) }
        has( name ) { const key = String( name ).toLowerCase(); return this.#list.some( ( [ k ] ) => k === key ) }
        get( name ) {
            const key = String( name ).toLowerCase()
            const found = this.#list.filter( ( [ k ] ) => k === key ).map( ( [ , v ] ) => v )
            return found.length === 0 ? null : found.join( ', ' )
        }
        getSetCookie() { return this.#list.filter( ( [ k ] ) => k === 'set-cookie' ).map( ( [ , v ] ) => v ) }
        *entries() {
            const names = [ ...new Set( this.#list.map( ( [ k ] ) => k ) ) ].sort()
            for( const name of names ) {
                if( name === 'set-cookie' ) { for( const value of this.getSetCookie() ) { yield [ name, value ] } } else { yield [ name, this.get( name ) ] }
            }
        }
        *keys() { for( const [ name ] of this.entries() ) { yield name } }
        *values() { for( const [ , value ] of this.entries() ) { yield value } }
        forEach( each, self ) { for( const [ name, value ] of this ) { each.call( self, value, name, this ) } }
        [ Symbol.iterator ]() { return this.entries() }
        static pairs( headers ) { return headers.#list.flat() }
    }
    const { pairs } = Headers
    delete Headers.pairs

    class Response {
        #body
        #used = false
        constructor( body, { status = 200, headers, url = '' } = {} ) {
            this.#body = body
            this.status = status
            this.statusText = native.statusText( status )
            this.ok = status >= 200 && status < 300
            this.headers = new Headers( headers )
            this.url = url
            this.redirected = false
            this.type = 'basic'
        }
        get bodyUsed() { return this.#used }
        #take() {
            if( this.#used ) { throw new TypeError( 'Body is unusable: Body has already been read' ) }
            this.#used = true
            return this.#body
        }
        async bytes() { return this.#take() }
        async arrayBuffer() { const bytes = this.#take(); return bytes.buffer.slice( bytes.byteOffset, bytes.byteOffset + bytes.byteLength ) }
        async text() { const text = native.textFrom( this.#take(), 'utf8' ); return text.charCodeAt( 0 ) === 0xFEFF ? text.slice( 1 ) : text }
        async json() { return JSON.parse( await this.text() ) }
        clone() {
            if( this.#used ) { throw new TypeError( 'Response.clone: Body has already been read' ) }
            return new Response( this.#body, { status: this.status, headers: this.headers, url: this.url } )
        }
    }

    const bodyOf = ( body, headers ) => {
        if( body === undefined || body === null ) { return new Uint8Array( 0 ) }
        if( typeof body === 'object' ) {
            if( body instanceof ArrayBuffer ) { return new Uint8Array( body ) }
            if( ArrayBuffer.isView( body ) ) { return new Uint8Array( body.buffer, body.byteOffset, body.byteLength ) }
            if( body instanceof URLSearchParams && !headers.has( 'content-type' ) ) { headers.set( 'content-type', 'application/x-www-form-urlencoded;charset=UTF-8' ) }
        }
        if( !headers.has( 'content-type' ) ) { headers.set( 'content-type', 'text/plain;charset=UTF-8' ) }
        return native.utf8Encode( String( body ).toWellFormed() )
    }

    const fetch = async ( resource, options = {} ) => {
        const url = String( typeof resource === 'object' && resource !== null && 'url' in resource ? resource.url : resource ).toWellFormed()
        const { method = 'GET', headers, body, signal } = options
        signal?.throwIfAborted()
        const list = new Headers( headers )
        const bytes = bodyOf( body, list )
        const ticket = native.start( String( method ).toUpperCase(), url, pairs( list ), bytes )
        return new Promise( ( resolve, reject ) => {
            const entry = { url, resolve, reject }
            waiting.set( ticket, entry )
            if( signal !== undefined && signal !== null ) {
                const stop = () => { if( waiting.delete( ticket ) ) { reject( signal.reason ) } }
                signal.addEventListener( 'abort', stop )
                if( Number.isFinite( signal.deadline ) ) { timers.set( nextTimer++, { at: signal.deadline, run: () => { if( signal.aborted ) { stop() } }, ticket } ) }
            }
        } )
    }

    const timer = ( repeat ) => ( run, delay = 0, ...values ) => {
        if( typeof run !== 'function' ) { throw new TypeError( 'a timer needs a function' ) }
        const wait = Math.max( 0, Number( delay ) || 0 )
        const id = nextTimer++
        timers.set( id, { at: Date.now() + wait, run: () => run( ...values ), repeat: repeat ? Math.max( 1, wait ) : undefined } )
        return id
    }
    const clear = ( id ) => { timers.delete( id ) }

    // True when something can still happen: the moment of the next timer, or Infinity while only requests are open.
    const next = () => {
        let at = waiting.size > 0 ? Infinity : undefined
        for( const [ id, entry ] of timers ) {
            if( entry.ticket !== undefined && !waiting.has( entry.ticket ) ) { timers.delete( id ); continue }
            at = Math.min( at ?? Infinity, entry.at )
        }
        return at === undefined ? undefined : at === Infinity ? -1 : Math.max( 0, at - Date.now() )
    }
    const due = () => {
        const now = Date.now()
        const ready = [ ...timers ].filter( ( [ , entry ] ) => entry.at <= now ).sort( ( [ a, x ], [ b, y ] ) => x.at - y.at || a - b )
        for( const [ id, entry ] of ready ) {
            if( !timers.has( id ) ) { continue }
            if( entry.repeat === undefined ) { timers.delete( id ) } else { entry.at = now + entry.repeat }
            entry.run()
            return
        }
    }
    const settle = ( ticket, failure, status, headers, body ) => {
        const entry = waiting.get( ticket )
        if( entry === undefined ) { return }
        waiting.delete( ticket )
        if( failure !== undefined ) { entry.reject( named( 'TypeError', `fetch failed: ${failure}` ) ); return }
        const list = []
        for( let i = 0; i < headers.length; i += 2 ) { list.push( [ headers[ i ], headers[ i + 1 ] ] ) }
        entry.resolve( new Response( body, { status, headers: list, url: entry.url } ) )
    }
    native.attach( next, due, settle )
    return { fetch, Headers, Response, setTimeout: timer( false ), setInterval: timer( true ), clearTimeout: clear, clearInterval: clear }
}
