// AbortSignal and AbortController, as far as fetch reads them. A timeout is a moment, not a timer.
const named = ( name, message ) => {
    const error = new Error( message )
    error.name = name
    return error
}

export default () => {
    class AbortSignal {
        #aborted = false
        #reason
        #listeners = new Set()
        onabort = null
        // Milliseconds since the epoch after which the signal is aborted.
        deadline = Infinity
        #expire() {
            if( !this.#aborted && Date.now() >= this.deadline ) {
                this.#aborted = true
                this.#reason = named( 'TimeoutError', 'The operation was aborted due to timeout' )
            }
        }
        get aborted() { this.#expire(); return this.#aborted }
        get reason() { this.#expire(); return this.#reason }
        throwIfAborted() { if( this.aborted ) { throw this.reason } }
        addEventListener( type, listener ) { if( type === 'abort' ) { this.#listeners.add( listener ) } }
        removeEventListener( type, listener ) { this.#listeners.delete( listener ) }
        static timeout( milliseconds ) {
            const signal = new AbortSignal()
            signal.deadline = Date.now() + Number( milliseconds )
            return signal
        }
        static abort( reason ) {
            const signal = new AbortSignal()
            end( signal, reason )
            return signal
        }
        static any( signals ) {
            const signal = new AbortSignal()
            for( const each of signals ) {
                if( each.aborted ) { end( signal, each.reason ) }
                signal.deadline = Math.min( signal.deadline, each.deadline )
                each.addEventListener( 'abort', () => end( signal, each.reason ) )
            }
            return signal
        }
        static end( signal, reason ) {
            if( signal.#aborted ) { return }
            signal.#aborted = true
            signal.#reason = reason ?? named( 'AbortError', 'This operation was aborted' )
            const event = { type: 'abort', target: signal }
            signal.onabort?.( event )
            for( const listener of signal.#listeners ) { typeof listener === 'function' ? listener( event ) : listener.handleEvent( event ) }
        }
    }
    const { end } = AbortSignal
    delete AbortSignal.end

    class AbortController {
        signal = new AbortSignal()
        abort( reason ) { end( this.signal, reason ) }
    }
    return { AbortSignal, AbortController }
}
