//! What a request consists of besides the caller's values: semantics.md, section 3.

use crate::{
    schema_text::{SchemaText, demo, tool, tool_with, user, valued},
    support::{World, check},
};

fn rooted(root: &'static str, path: &str, parameters: &[String]) -> SchemaText {
    SchemaText { root, ..demo(tool("GET", path, parameters)) }
}

#[test]
fn seed_002_ping() {
    let schema = SchemaText {
        namespace: "coingecko".to_owned(),
        name: "Ping",
        root: "https://api.coingecko.com/api/v3",
        tools: vec![("ping".to_owned(), tool("GET", "/ping", &[]))],
        ..demo(String::new())
    };
    check(&schema, &[("{}", "GET https://api.coingecko.com/api/v3/ping")]);
    assert_eq!(World::default().load(&[schema]).shown(), ["coingecko__ping"]);
}

#[test]
fn queries_are_joined() {
    let q = [user("q", "query", "string()", &["optional()"]), valued("n", "1", "query", "number()", &[])];
    for (root, path, with, without) in [
        ("https://a.test/api?format=json", "/x", "/api/x?format=json&q=1&n=1", "/api/x?format=json&n=1"),
        (
            "https://a.test/api?format=json",
            "/x?y=2",
            "/api/x?format=json&y=2&q=1&n=1",
            "/api/x?format=json&y=2&n=1",
        ),
        ("https://a.test/api", "/x?y=2", "/api/x?y=2&q=1&n=1", "/api/x?y=2&n=1"),
        ("https://a.test/api", "/x?y=2&", "/api/x?y=2&q=1&n=1", "/api/x?y=2&n=1"),
        ("https://a.test/api?", "/x?", "/api/x?q=1&n=1", "/api/x?n=1"),
        ("https://a.test?a=1", "/x", "/x?a=1&q=1&n=1", "/x?a=1&n=1"),
        ("https://a.test", "/x#top?z", "/x?q=1&n=1", "/x?n=1"),
        ("https://a.test", "/", "/?q=1&n=1", "/?n=1"),
    ] {
        check(
            &rooted(root, path, &q),
            &[
                (r#"{"q":"1"}"#, &format!("GET https://a.test{with}")),
                ("{}", &format!("GET https://a.test{without}")),
            ],
        );
    }
}

/// A value in the schema's own query is encoded as encodeURIComponent does, and its pair goes with it.
#[test]
fn inserts_in_a_query() {
    let two = [
        user("a", "insert", "string()", &["optional()"]),
        user("b", "insert", "string()", &["optional()"]),
        user("c", "query", "string()", &["optional()"]),
    ];
    check(
        &rooted("https://a.test", "/x?a={{a}}&k=(v)&b=[{{b}}]#top", &two),
        &[
            (
                r#"{"a":"a b&c=d/é'","b":"","c":" "}"#,
                "GET https://a.test/x?a=a%20b%26c%3Dd%2F%C3%A9'&k=(v)&b=[]&c=+",
            ),
            (r#"{"a":"1"}"#, "GET https://a.test/x?a=1&k=(v)"),
            ("{}", "GET https://a.test/x?k=(v)"),
        ],
    );
}

#[test]
fn an_optional_last_insert_takes_its_segment_with_it() {
    let id = |options: &[&str]| [user("id", "insert", "string()", options)];
    for path in ["/x/{{id}}", "/x/:id", "/x/{{id}}/"] {
        check(&rooted("https://a.test", path, &id(&["optional()"])), &[("{}", "GET https://a.test/x")]);
    }
    check(
        &rooted("https://a.test/v1", "/{{id}}?k=1", &id(&["optional()"])),
        &[("{}", "GET https://a.test/v1?k=1"), (r#"{"id":"a"}"#, "GET https://a.test/v1/a?k=1")],
    );
    check(
        &rooted("https://a.test", "/x/{{id}}/y", &id(&["default(1)"])),
        &[("{}", "GET https://a.test/x/1/y")],
    );
    for path in ["/x/{{id}}/y", "/x/a{{id}}", "/x/{{id}}.json"] {
        World::default().check_errors(
            &rooted("https://a.test", path, &id(&["optional()"])),
            &["VAL052 main.tools.get.path: has the optional parameter \"id\" in its middle, where it cannot be left out"],
        );
    }
}

#[test]
fn an_insert_without_a_place_is_not_sent() {
    let schema = demo(tool("GET", "/x", &[user("id", "insert", "string()", &["optional()"])]));
    let world = World::default();
    world.check_errors(
        &schema,
        &["VAL050 main.tools.get.parameters[0].position: location is insert, but the path has no {{id}} and no :id"],
    );
    let (upstream, engine) = world.load(&[schema]).serve(crate::support::Upstream::default());
    assert_eq!(
        crate::support::call(&engine, &upstream, "demo__get", crate::support::object(r#"{"id":"a"}"#)),
        "GET https://api.example.test/v1/x\n# id: the schema's path has no place for it, so it is not sent"
    );
}

#[test]
fn an_insert_that_another_parameter_sends_has_a_place() {
    let parameters =
        [user("id", "insert", "string()", &[]), valued("q", "id:{{id}}", "query", "string()", &[])];
    let (upstream, engine) = World::default()
        .load(&[demo(tool("GET", "/x", &parameters))])
        .serve(crate::support::Upstream::default());
    assert_eq!(
        crate::support::call(&engine, &upstream, "demo__get", crate::support::object(r#"{"id":"a"}"#)),
        "GET https://api.example.test/v1/x?q=id%3Aa"
    );
}

#[test]
fn bodies() {
    let sent = |content_type: &str, body: &str| {
        format!("POST https://api.example.test/v1/x\n{content_type}\n\n{body}")
    };
    let parameters = [
        user("a", "body", "string()", &["optional()"]),
        user("n", "body", "number()", &["optional()"]),
        user("list", "body", "array()", &["optional()"]),
        user("o", "body", "object()", &["optional()"]),
        valued("t", "id {{X}}", "body", "string()", &["optional()"]),
        valued("fixed", "7", "body", "number()", &[]),
    ];
    check(
        &demo(tool("POST", "/x", &parameters)),
        &[
            (
                r#"{"a":"é\"\n\u2028\u0001","n":1.50,"list":[],"o":{"k":1.50},"X":"\"}"}"#,
                &sent(
                    "Content-Type: application/json",
                    "{\"a\":\"é\\\"\\n\u{2028}\\u0001\",\"n\":1.5,\"list\":[],\"o\":{\"k\":1.50},\"t\":\"id \\\"}\",\"fixed\":7}",
                ),
            ),
            (r#"{"a":null}"#, &sent("Content-Type: application/json", r#"{"fixed":7}"#)),
        ],
    );
    let form = "headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }";
    check(
        &demo(tool_with("POST", "/x", &parameters, form)),
        &[(
            r#"{"a":"a b&é","n":2,"list":["x","y"],"X":"1"}"#,
            &sent(
                "content-type: application/x-www-form-urlencoded; charset=utf-8",
                "a=a+b%26%C3%A9&n=2&list=x%2Cy&t=id+1&fixed=7",
            ),
        )],
    );
    let vendor = "headers: { 'Content-Type': 'application/vnd.api+json' }";
    check(
        &demo(tool_with("POST", "/x", &parameters, vendor)),
        &[("{}", &sent("Content-Type: application/vnd.api+json", r#"{"fixed":7}"#))],
    );
    check(&demo(tool("POST", "/x", &[])), &[("{}", "POST https://api.example.test/v1/x")]);
    check(
        &demo(tool("DELETE", "/x", &[user("q", "query", "string()", &[])])),
        &[(r#"{"q":"1"}"#, "DELETE https://api.example.test/v1/x?q=1")],
    );
    for method in ["GET", "DELETE"] {
        World::default().check_errors(
            &demo(tool(method, "/x", &[user("a", "body", "string()", &[])])),
            &[&format!("VAL057 main.tools.get.parameters: {method} requests have no body, so body parameters cannot be sent")],
        );
    }
}

#[test]
fn headers_are_merged_without_regard_to_case() {
    let mut schema = demo(tool_with("GET", "/x", &[], "headers: { 'ACCEPT': 'text/csv', 'X-New': '1' }"));
    schema.headers = "{ 'Accept': 'application/json', 'X-Old': 'a' }";
    check(&schema, &[("{}", "GET https://api.example.test/v1/x\nX-Old: a\nACCEPT: text/csv\nX-New: 1")]);
    schema.headers = "{ 'X-Bad': 'a\\r\\nb', 'no name': 'x' }";
    World::default().check_errors(
        &schema,
        &[
            "VAL058 main.headers.X-Bad: must not contain a line break or NUL",
            "VAL058 main.headers.no name: \"no name\" is no header name",
        ],
    );
}

/// A server value is the operator's, but a line break in it would still end the header.
#[test]
fn a_server_value_with_a_line_break_is_not_sent() {
    let mut schema = demo(tool("GET", "/x", &[]));
    schema.headers = "{ 'X-Key': '{{DEMO_KEY}}' }";
    let (upstream, engine) = World::with_keys(&[("DEMO_KEY", "s3cr3t\r\nX-Evil: 1")])
        .load(&[schema])
        .serve(crate::support::Upstream::default());
    assert_eq!(
        crate::support::call(&engine, &upstream, "demo__get", serde_json::Map::new()),
        "! Bad arguments for demo__get:\n- header X-Key: the value has a line break or NUL"
    );
}

/// What is fixed is sent as it is written, and must fit its own type.
#[test]
fn fixed_values() {
    check(
        &demo(tool(
            "GET",
            "/x/{{v}}",
            &[valued("v", "latest", "insert", "string()", &[]), valued("e", "", "query", "string()", &[])],
        )),
        &[("{}", "GET https://api.example.test/v1/x/latest?e=")],
    );
    World::default().check_errors(
        &demo(tool("GET", "/x", &[valued("n", "many", "query", "number()", &["max(5)"])])),
        &["VAL053 main.tools.get.parameters[0].position.value: the fixed value must be a number (found \"many\")"],
    );
}
