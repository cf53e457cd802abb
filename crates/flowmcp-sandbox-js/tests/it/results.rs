//! What hooks get and give: shapes, digits, text, errors and their places.

use flowmcp_plugin::*;

use crate::support::{Case, PATH, post_request, run, value_of};

fn json(case: &Case<'_>) -> String {
    match run(case) {
        Ok(HookOutput { value: HookValue::Json(json), .. }) => json,
        other => format!("{other:?}"),
    }
}

#[test]
fn hooks_may_be_sync_async_thenable_or_missing() {
    for (text, value) in [
        ("export const handlers = () => ( { tool: { postRequest: () => 1 } } )", HookValue::Json("1".into())),
        (
            "export const handlers = async () => ( { tool: { postRequest: async () => 1 } } )",
            HookValue::Json("1".into()),
        ),
        (
            "export const handlers = { tool: { postRequest() { return this.n }, n: 7 } }",
            HookValue::Json("7".into()),
        ),
        (
            "export const handlers = () => ( { tool: { postRequest: () => ( { then: ( ok ) => ok( 5 ) } ) } } )",
            HookValue::Json("5".into()),
        ),
        (
            "export const main = {}\nexport const handlers = () => ( { tool: { postRequest: async () => {} } } )",
            HookValue::Undefined,
        ),
        ("export const main = {}", HookValue::Absent),
        ("export const handlers = () => ( { other: {} } )", HookValue::Absent),
        ("export const handlers = () => ( { tool: { preRequest: () => 1 } } )", HookValue::Absent),
        ("export const handlers = () => null", HookValue::Absent),
        (
            "const one = await Promise.resolve( 1 )\nexport const handlers = () => ( { tool: { postRequest: () => one } } )",
            HookValue::Json("1".into()),
        ),
        (
            "\u{feff}export const handlers = () => ( { tool: { postRequest: () => 1 } } )\r\n",
            HookValue::Json("1".into()),
        ),
    ] {
        let output = run(&Case { text, ..Case::default() });
        assert_eq!(output.map(|output| output.value), Ok(value), "{text}");
    }
}

#[test]
fn edits_in_place_are_reported() {
    for (body, edited) in [
        ("struct.url += '&x=1'", Some(r#"{"struct":{"url":"u&x=1"},"payload":{}}"#)),
        ("struct.url += '&x=1'; return { payload }", Some(r#"{"struct":{"url":"u&x=1"},"payload":{}}"#)),
        ("return { struct, payload }", None),
    ] {
        let text = format!(
            "export const handlers = () => ( {{ tool: {{ preRequest: async ( {{ struct, payload }} ) => {{ {body} }} }} }} )"
        );
        let input = r#"{"struct":{"url":"u"},"payload":{}}"#;
        let output = run(&Case { text: &text, hook: Hook::PreRequest, input, ..Case::default() }).unwrap();
        assert_eq!(output.edited.as_deref(), edited, "{body}");
    }
}

#[test]
fn values_that_json_lacks() {
    for (expression, json) in [
        ("{ v: NaN, w: Infinity, x: -0 }", r#"{"v":null,"w":null,"x":0}"#),
        ("10n", "10"),
        ("{ big: 123456789012345678901234567890n }", r#"{"big":123456789012345678901234567890}"#),
        ("[ undefined, () => 1, Symbol( 's' ) ]", "[null,null,null]"),
        ("new Date( NaN )", "null"),
        ("'\\ud800'", r#""\ud800""#),
    ] {
        assert_eq!(value_of(expression), json, "{expression}");
    }
    let cycle = post_request("const a = {}; a.a = a; return a");
    assert!(matches!(run(&Case { text: &cycle, ..Case::default() }), Err(SandboxError::NotJson { .. })));
    let function = post_request("return () => 1");
    assert!(matches!(run(&Case { text: &function, ..Case::default() }), Err(SandboxError::NotJson { .. })));
}

#[test]
fn digits_survive_a_handler_that_passes_them_on() {
    let input = r#"{"response":{"id":725653563933458432,"big":123456789012345678901234567890,"amt":1.10,"tiny":1e-7},"struct":{},"payload":{}}"#;
    for (body, expected) in [
        (
            "return { response }",
            r#"{"response":{"id":725653563933458432,"big":123456789012345678901234567890,"amt":1.10,"tiny":1e-7}}"#,
        ),
        ("return { ids: [ response ].map( ( r ) => r.id ) }", r#"{"ids":[725653563933458432]}"#),
        (
            "response.amt = 3; return { amt: response.amt, d: struct.data.id }",
            r#"{"amt":3,"d":725653563933458432}"#,
        ),
    ] {
        let text = post_request(body);
        assert_eq!(json(&Case { text: &text, input, ..Case::default() }), expected, "{body}");
    }
    let input = r#"{"response":[{"n":"b","id":9007199254740993},{"n":"a","id":9007199254740992},{"id":1e999}],"struct":{},"payload":{}}"#;
    for (body, expected) in [
        (
            "return response.slice( 0, 2 ).sort( ( x, y ) => x.n < y.n ? -1 : 1 )",
            r#"[{"n":"a","id":9007199254740992},{"n":"b","id":9007199254740993}]"#,
        ),
        (
            "return response.filter( ( x ) => x.n !== 'a' )",
            r#"[{"n":"b","id":9007199254740993},{"id":1e999}]"#,
        ),
        ("response[ 0 ].id = 5; return response[ 0 ]", r#"{"n":"b","id":5}"#),
    ] {
        let text = post_request(body);
        assert_eq!(json(&Case { text: &text, input, ..Case::default() }), expected, "{body}");
    }
}

#[test]
fn data_is_object_and_text() {
    let text = "export const handlers = () => ( { tool: { postProcess: ( { data, response, struct } ) => [ typeof data, data.a?.[ 0 ], JSON.parse( data ), `${data}`, String( response ), struct.data === data, struct.dataAsString, data ] } } )";
    let case = |input| json(&Case { text, hook: Hook::PostProcess, input, ..Case::default() });
    assert_eq!(
        case(r#"{"data":{ "a" : [1] },"struct":{},"payload":{}}"#),
        r#"["object",1,{"a":[1]},"{ \"a\" : [1] }","{ \"a\" : [1] }",true,"{ \"a\" : [1] }",{"a":[1]}]"#
    );
    assert_eq!(
        case(r#"{"data":5,"response":null,"struct":{"data":1},"payload":{}}"#),
        r#"["string",null,5,"5","null",false,"5","5"]"#
    );
    assert_eq!(
        case(r#"{"data":"\"raw\"","struct":{},"payload":{}}"#),
        r#"["string",null,"raw","\"raw\"","\"raw\"",true,"\"raw\"","\"raw\""]"#
    );
}

#[test]
fn post_request_finds_the_response_in_struct_too() {
    let input = r#"{"response":{ "a": 1 },"struct":{"url":"u"},"payload":{}}"#;
    let text = post_request(
        "struct.dataAsString = struct.dataAsString.trim(); return [ struct.data === response, struct.dataAsString, Object.keys( struct ) ]",
    );
    assert_eq!(
        json(&Case { text: &text, input, ..Case::default() }),
        r#"[true,"{ \"a\": 1 }",["url","data","dataAsString"]]"#
    );
}

#[test]
fn proto_is_a_plain_key() {
    let input = r#"{"response":{"__proto__":{"x":1},"constructor":1},"struct":{},"payload":{}}"#;
    let text = post_request("return { response, x: ( {} ).x, y: response.x }");
    assert_eq!(
        json(&Case { text: &text, input, ..Case::default() }),
        r#"{"response":{"__proto__":{"x":1},"constructor":1}}"#
    );
}

#[test]
fn shared_lists_are_frozen() {
    let lists = r#"{"chains":[{"id":1,"tags":["a"]}],"other":{"k":{"v":1}}}"#;
    let text = post_request(
        "return [ sharedLists.chains[ 0 ].id, Object.keys( sharedLists ), sharedLists.other.k.v, JSON.stringify( sharedLists ) ]",
    );
    assert_eq!(
        json(&Case { text: &text, lists, ..Case::default() }),
        r#"[1,["chains","other"],1,"{\"chains\":[{\"id\":1,\"tags\":[\"a\"]}],\"other\":{\"k\":{\"v\":1}}}"]"#
    );
    for write in [
        "sharedLists.chains.push( 1 )",
        "sharedLists.chains[ 0 ].id = 2",
        "sharedLists.chains[ 0 ].tags[ 0 ] = 'b'",
        "sharedLists.chains = []",
        "delete sharedLists.other.k",
        "sharedLists.extra = 1",
    ] {
        let text = post_request(&format!("{write}; return {{ response }}"));
        let error = run(&Case { text: &text, lists, ..Case::default() }).unwrap_err().to_string();
        assert!(error.starts_with("TypeError: "), "{write}: {error}");
    }
}

#[test]
fn errors_name_file_line_and_column() {
    let text = "export const main = {}\n\nconst inner = ( response ) => response.a.b\n\nexport const handlers = () => ( {\n    tool: {\n        postRequest: async ( { response } ) => {\n            return inner( response )\n        }\n    }\n} )\n";
    let error = run(&Case { text, input: r#"{"response":{}}"#, ..Case::default() }).unwrap_err();
    let SandboxError::Thrown { message, place } = error else { panic!("{error}") };
    assert_eq!(message, "TypeError: cannot read property 'b' of undefined");
    assert_eq!(place.as_deref(), Some(format!("{PATH}:3:31").as_str()));

    let text = "export const main = {}\nexport const handlers = () => ( { tool: { postRequest: ( => 1 } } )";
    let error = run(&Case { text, ..Case::default() }).unwrap_err();
    let SandboxError::Compile { path, line, .. } = &error else { panic!("{error}") };
    assert_eq!((path.as_str(), *line), (PATH, 2), "{error}");
}

#[test]
fn anything_may_be_thrown() {
    for (thrown, message) in [
        ("null", "threw null"),
        ("undefined", "threw undefined"),
        ("'text'", "threw text"),
        ("{ code: 4 }", r#"threw {"code":4}"#),
        ("Symbol( 's' )", "threw a symbol"),
        ("new RangeError( 'far' )", "RangeError: far"),
        ("Object.defineProperty( new Error( 'x' ), 'message', { get() { throw 1 } } )", "Error"),
        ("{ get a() { throw 1 } }", "threw an object"),
    ] {
        for body in [format!("throw {thrown}"), format!("await Promise.reject( {thrown} )")] {
            let text = post_request(&body);
            match run(&Case { text: &text, ..Case::default() }) {
                Err(SandboxError::Thrown { message: seen, .. }) => assert_eq!(seen, message, "{body}"),
                other => panic!("{body}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_throwing_factory_is_an_error() {
    let text = "export const handlers = () => {\n    throw new Error( 'factory' )\n}";
    let error = run(&Case { text, ..Case::default() }).unwrap_err().to_string();
    assert_eq!(error, format!("Error: factory ({PATH}:2:15)"));
}

#[test]
fn the_same_input_gives_the_same_result() {
    let text = post_request(
        "globalThis.seen = ( globalThis.seen ?? 0 ) + 1; return [ globalThis.seen, ( {} ).admin, typeof [].map, ( Object.prototype.admin = true, Array.prototype.map = null, 0 ) ]",
    );
    let sandboxed = || json(&Case { text: &text, ..Case::default() });
    assert_eq!(sandboxed(), r#"[1,null,"function",0]"#);
    assert_eq!(sandboxed(), r#"[1,null,"function",0]"#);
}

#[test]
fn what_a_factory_gives_is_told_by_name_and_kind() {
    let outline = |text: &str| {
        let host = std::rc::Rc::new(crate::support::EchoHost::default());
        let mut handlers = crate::support::load(text, "", SandboxSettings::default(), host).unwrap();
        handlers.outline(std::time::Instant::now() + std::time::Duration::from_secs(20))
    };
    let object = |members: Vec<(&str, Outline)>| {
        Outline::Object(members.into_iter().map(|(name, member)| (name.to_owned(), member)).collect())
    };
    let other = |kind: &str| Outline::Other(kind.to_owned());
    assert_eq!(
        outline(
            "export const handlers = async () => ( { b: { postRequest() {}, extra: 1 }, a: {}, c: 5, \
             r: { q: { preRequest: async () => {}, deep: {} } } } )"
        )
        .unwrap(),
        object(vec![
            ("b", object(vec![("postRequest", Outline::Function), ("extra", other("int"))])),
            ("a", object(vec![])),
            ("c", other("int")),
            (
                "r",
                object(vec![(
                    "q",
                    object(vec![("preRequest", Outline::Function), ("deep", other("object"))])
                )])
            ),
        ])
    );
    assert_eq!(outline("export const handlers = () => null").unwrap(), other("null"));
    assert_eq!(outline("export const handlers = () => [ 1 ]").unwrap(), other("array"));
    let many = "export const handlers = () => Object.fromEntries( Array( 9999 ).fill( 0 ).map( ( _, i ) => [ 'x'.repeat( 999 ) + i, 1 ] ) )";
    let Ok(Outline::Object(members)) = outline(many) else { panic!("no object") };
    assert_eq!((members.len(), members[0].0.len()), (Outline::MEMBERS, 256));
    let error =
        outline("export const handlers = () => ( { get a() { throw new Error( 'no' ) } } )").unwrap_err();
    assert!(matches!(&error, SandboxError::Thrown { message, .. } if message == "Error: no"), "{error:?}");
}
