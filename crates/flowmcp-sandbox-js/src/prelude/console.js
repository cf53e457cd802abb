// console: one line of text per call, to the host's log.
const { stringify } = JSON

const show = ( value ) => {
    if( typeof value === 'string' ) { return value }
    if( value instanceof Error ) { return `${value.name}: ${value.message}` }
    if( typeof value === 'object' && value !== null ) {
        try { return stringify( value ) ?? '[object]' } catch { return '[object]' }
    }
    return String( value )
}

export default ( { log } ) => {
    const at = ( level ) => ( ...values ) => { log( level, values.map( show ).join( ' ' ).toWellFormed() ) }
    const info = at( 1 )
    const nothing = () => {}
    return {
        console: {
            debug: at( 0 ), trace: at( 0 ), log: info, info, dir: info, table: info, warn: at( 2 ), error: at( 3 ),
            assert: ( truth, ...values ) => { if( !truth ) { at( 3 )( 'Assertion failed:', ...values ) } },
            group: info, groupEnd: nothing, time: nothing, timeEnd: nothing, count: nothing
        }
    }
}
