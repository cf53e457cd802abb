//! What handlers make of a response.

use flowmcp_engine::Settings;

use super::world::{Answer, Setting, block_on, check_result};

#[test]
fn the_seeds_answer_as_they_print_it() {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../schemas/seeds/etherscan/SmartContractExplorer.mjs"
    ))
    .unwrap();
    let answer: Answer = |request| {
        if request.url.contains("getsourcecode") {
            let body = r#"{"status":"1","message":"OK","result":[{"SourceCode":"contract A {}","ABI":"[]",
                "ContractName":"A","CompilerVersion":"v0.8.1","OptimizationUsed":"1","Runs":"200"}]}"#;
            (200, body)
        } else {
            (200, r#"{"status":"1","message":"OK","result":"[{\"type\":\"function\",\"name\":\"f\"}]"}"#)
        }
    };
    let keys = &[("ETHERSCAN_API_KEY", "an-etherscan-key")];
    let world = Setting { answer, keys, ..Setting::default() }.serve(&[text]);
    let address = format!(r#"{{"address":"0x{}"}}"#, "a".repeat(40));
    block_on(async {
        assert_eq!(
            world.call("etherscan__getSourceCode", &address).await,
            r#"{"contractName":"A","compilerVersion":"v0.8.1","optimizationUsed":true,"sourceCode":"contract A {}","abi":"[]"}"#
        );
        assert_eq!(
            world.call("etherscan__getContractAbi", &address).await,
            r#"[{"type":"function","name":"f"}]"#
        );
    });
    assert!(world.sent()[0].contains("&apikey=an-etherscan-key"));
}

#[test]
fn no_secret_stands_in_a_result_or_error() {
    for (hook, expected) in [
        (
            "postRequest: ( { struct } ) => ( { response: struct.serverParams } )",
            r#"{"DEMO_KEY":"<DEMO_KEY>"}"#,
        ),
        (
            "postRequest: ( { struct } ) => { throw new Error( struct.serverParams.DEMO_KEY ) }",
            "! demo__tool: the handler postRequest failed: Error: <DEMO_KEY> (demo/0.mjs:2:86)",
        ),
    ] {
        let handlers = format!("{{ tool: {{ {hook} }} }}");
        let world = Setting { handlers: &handlers, ..Setting::default() }.world();
        let text = block_on(world.call("demo__tool", "{}"));
        let place = text.rfind(" (demo/").unwrap_or(text.len());
        let wanted = expected.rfind(" (demo/").unwrap_or(expected.len());
        assert_eq!(&text[..place], &expected[..wanted], "{hook}");
    }
}

/// Cases json-01, json-02 and resp-01, and the dialects of both seeds.
#[test]
fn results_of_handlers() {
    let numbers: Answer =
        |_| (200, r#"{"id":725653563933458432,"big":123456789012345678901234567890,"amt":1.10,"tiny":1e-7}"#);
    let data: Answer =
        |_| (200, r#"{"results":[{"name":"a","value":1},{"name":"b","value":2}],"chainId":1}"#);
    for (answer, hook, expected) in [
        (
            numbers,
            "postRequest: async ( { response } ) => ( { response } )",
            r#"{"id":725653563933458432,"big":123456789012345678901234567890,"amt":1.10,"tiny":1e-7}"#,
        ),
        (data, "postRequest: () => ( { response: { v: NaN, w: Infinity } } )", r#"{"v":null,"w":null}"#),
        (data, "postRequest: () => ( { response: 10n } )", "10"),
        (
            data,
            "postRequest: () => { const a = {}; a.a = a; return { response: a } }",
            "! demo__tool: the handler postRequest failed: returned something that JSON cannot hold: an object that contains itself",
        ),
        (
            data,
            "postRequest: ( { response } ) => ( { response: response.none } )",
            "! demo__tool: the handler postRequest failed: returned no response, expected { response }",
        ),
        (
            data,
            "postRequest: () => {}",
            "! demo__tool: the handler postRequest failed: returned nothing, expected { response }",
        ),
        (
            data,
            "postProcess: ( { data } ) => JSON.parse( data ).results.map( ( i ) => `${i.name}: ${i.value}` ).join( '\\n' )",
            "a: 1\nb: 2",
        ),
        (
            data,
            "postProcess: ( { data } ) => `Chain: ${sharedLists.chains.find( ( c ) => c.id === data.chainId ).id}`",
            "Chain: 1",
        ),
        (
            data,
            "postRequest: ( { response } ) => ( { response: response.chainId + 1 } ), postProcess: ( { response, data } ) => [ response, data.chainId ]",
            "[2,1]",
        ),
        (
            |_| (204, ""),
            "postRequest: ( { response, struct } ) => ( { response: [ response, struct.httpStatus ] } )",
            "[null,204]",
        ),
        (
            |_| (204, ""),
            "postRequest: ( { response } ) => ( { response } )",
            "No data: the handler's result is null",
        ),
        (
            data,
            "executeRequest: async ( { struct, payload } ) => { struct.data = { url: payload.url }; return { struct } }",
            r#"{"url":"https://api.example.test/v1/x"}"#,
        ),
        (
            data,
            "executeRequest: async () => ( { response: 1 } ), postRequest: ( { response } ) => ( { response: response + 1 } )",
            "2",
        ),
        (
            data,
            "executeRequest: async ( { struct } ) => { struct.status = false; struct.messages.push( 'no luck' ); return { struct } }",
            "! demo__tool: the handler executeRequest failed: no luck",
        ),
    ] {
        check_result(answer, hook, expected);
    }
}

#[test]
fn failures_of_the_upstream_do_not_reach_handlers() {
    let answer: Answer = |_| (404, r#"{"error":"none"}"#);
    let handlers = "{ tool: { postRequest: () => ( { response: 'fine' } ) } }";
    let world = Setting { handlers, answer, ..Setting::default() }.world();
    let text = block_on(world.call("demo__tool", "{}"));
    assert!(text.starts_with("! ") && text.contains("404"), "{text}");
}

#[test]
fn a_response_above_the_limit_for_handlers_is_an_error() {
    let mut settings = Settings::default();
    settings.limits.handler_input_bytes = 4;
    let handlers = "{ tool: { postRequest: ( { response } ) => ( { response } ) } }";
    let world = Setting { handlers, settings, ..Setting::default() }.world();
    let text = block_on(world.call("demo__tool", "{}"));
    assert!(text.starts_with("! demo__tool: the response has 11 bytes, above the limit of 4"), "{text}");
}
