//! How a caller's value stands in a request: the cases `enc-…`, and semantics.md, section 3.

use crate::{
    schema_text::{demo, tool, tool_with, user, valued},
    support::{World, check},
};

/// A tool with one parameter.
fn one(path: &str, parameter: String) -> crate::schema_text::SchemaText {
    demo(tool("GET", path, &[parameter]))
}

#[test]
fn enc_01_arrays() {
    check(
        &one("/items", user("tags", "query", "array()", &["optional()"])),
        &[
            (r#"{"tags":["red","a,b"]}"#, "GET https://api.example.test/v1/items?tags=red%2Ca%2Cb"),
            (
                r#"{"tags":[1,true,null,{"a":1},[2,3]]}"#,
                "GET https://api.example.test/v1/items?tags=1%2Ctrue%2Cnull%2C%7B%22a%22%3A1%7D%2C%5B2%2C3%5D",
            ),
            (r#"{"tags":[]}"#, "GET https://api.example.test/v1/items"),
            ("{}", "GET https://api.example.test/v1/items"),
        ],
    );
    check(
        &one("/items", user("tags", "query", "array()", &["explode()"])),
        &[
            (r#"{"tags":["red","a,b"]}"#, "GET https://api.example.test/v1/items?tags=red&tags=a%2Cb"),
            (r#"{"tags":[]}"#, "GET https://api.example.test/v1/items"),
        ],
    );
    check(
        &one("/pick/{{tags}}", user("tags", "insert", "array()", &[])),
        &[
            (r#"{"tags":["red","a,b","c/d"]}"#, "GET https://api.example.test/v1/pick/red,a%2Cb,c%2Fd"),
            (
                r#"{"tags":[]}"#,
                "! Bad arguments for demo__get:\n- tags: gives the path segment \"\", which is not allowed",
            ),
            (
                r#"{"tags":[".."]}"#,
                "! Bad arguments for demo__get:\n- tags: gives the path segment \"..\", which is not allowed",
            ),
        ],
    );
    check(
        &one("/find?ids={{ids}}&all=1", user("ids", "insert", "array()", &["optional()"])),
        &[
            (r#"{"ids":["a","b c"]}"#, "GET https://api.example.test/v1/find?ids=a%2Cb%20c&all=1"),
            (r#"{"ids":[]}"#, "GET https://api.example.test/v1/find?all=1"),
            ("{}", "GET https://api.example.test/v1/find?all=1"),
        ],
    );
}

#[test]
fn enc_02_a_value_stays_one_segment() {
    let mut schema = one("/users/{{id}}", user("id", "insert", "string()", &[]));
    schema.headers = "{ 'Authorization': 'Bearer {{DEMO_KEY}}' }";
    schema.server_params = &["DEMO_KEY"];
    let sent = |segment: &str| {
        format!("GET https://api.example.test/v1/users/{segment}\nAuthorization: Bearer s3cr3t-k3y")
    };
    let refused = |segment: &str| {
        format!(
            "! Bad arguments for demo__get:\n- id: gives the path segment {segment:?}, which is not allowed"
        )
    };
    for (id, expected) in [
        ("../../admin/wipe?x=", sent("..%2F..%2Fadmin%2Fwipe%3Fx=")),
        ("a/b", sent("a%2Fb")),
        ("a?b#c", sent("a%3Fb%23c")),
        ("a\\b", sent("a%5Cb")),
        ("%2e%2e", sent("%252e%252e")),
        ("a\r\nb\t\0", sent("a%0D%0Ab%09%00")),
        ("38.9,-77.0", sent("38.9,-77.0")),
        ("a:b+c@d=e;f$g&h!i'j(k)l*m~n", sent("a:b+c@d=e;f$g&h!i'j(k)l*m~n")),
        ("...", sent("...")),
        (" ", sent("%20")),
        ("", refused("")),
        (".", refused(".")),
        ("..", refused("..")),
    ] {
        let arguments = serde_json::json!({ "id": id }).to_string();
        World::with_keys(&[("DEMO_KEY", "s3cr3t-k3y")]).check(&schema, &[(&arguments, &expected)]);
    }
}

/// What is checked is the segment as it is composed, so a lone dot may be a part of one.
#[test]
fn segments_of_several_values() {
    let refused = |input: &str, segment: &str| {
        format!(
            "! Bad arguments for demo__get:\n- {input}: gives the path segment {segment:?}, which is not allowed"
        )
    };
    let two = [user("a", "insert", "string()", &[]), user("b", "insert", "string()", &[])];
    check(
        &demo(tool("GET", "/x/{{a}}{{b}}/y", &two)),
        &[
            (r#"{"a":".","b":"x"}"#, "GET https://api.example.test/v1/x/.x/y"),
            (r#"{"a":"","b":"x"}"#, "GET https://api.example.test/v1/x/x/y"),
            (r#"{"a":".","b":"."}"#, &refused("b", "..")),
            (r#"{"a":"","b":""}"#, &refused("b", "")),
        ],
    );
    check(
        &one("/x/.{{a}}", user("a", "insert", "string()", &[])),
        &[
            (r#"{"a":"well-known"}"#, "GET https://api.example.test/v1/x/.well-known"),
            (r#"{"a":"."}"#, &refused("a", "..")),
            (r#"{"a":""}"#, &refused("a", ".")),
        ],
    );
    check(
        &one("/x/%2e{{a}}", user("a", "insert", "string()", &[])),
        &[(r#"{"a":"."}"#, &refused("a", "%2e."))],
    );
}

#[test]
fn values_that_span_segments() {
    let doi = |options: &[&str], tests: &str| {
        demo(tool_with("GET", "/works/{{doi}}", &[user("doi", "insert", "string()", options)], tests))
    };
    let spans = [
        (r#"{"doi":"10.1000/182 a"}"#, "GET https://api.example.test/v1/works/10.1000/182%20a"),
        (
            r#"{"doi":"a/../b"}"#,
            "! Bad arguments for demo__get:\n- doi: gives the path segment \"..\", which is not allowed",
        ),
        (
            r#"{"doi":"a//b"}"#,
            "! Bad arguments for demo__get:\n- doi: gives the path segment \"\", which is not allowed",
        ),
        (
            r#"{"doi":"/a"}"#,
            "! Bad arguments for demo__get:\n- doi: gives the path segment \"\", which is not allowed",
        ),
        (r#"{"doi":"a/%2e%2e/b"}"#, "GET https://api.example.test/v1/works/a/%252e%252e/b"),
    ];
    check(&doi(&["segments()"], ""), &spans);
    check(&doi(&[], "tests: [{ _description: 'One', doi: '10.1000/182' }, { doi: 'a' }]"), &spans);
    check(
        &doi(&[], "tests: [{ _description: 'a/b', doi: 'a' }]"),
        &[(r#"{"doi":"10.1000/182"}"#, "GET https://api.example.test/v1/works/10.1000%2F182")],
    );
}

#[test]
fn enc_04_a_value_is_never_a_template() {
    let mut schema = demo(tool(
        "GET",
        "/notes/{{id}}",
        &[user("id", "insert", "string()", &[]), user("q", "query", "string()", &["optional()"])],
    ));
    schema.headers = "{ 'Authorization': 'Bearer {{DEMO_KEY}}' }";
    schema.server_params = &["DEMO_KEY"];
    World::with_keys(&[("DEMO_KEY", "s3cr3t-k3y")]).check(
        &schema,
        &[
            (
                r#"{"id":"{{DEMO_KEY}}"}"#,
                "GET https://api.example.test/v1/notes/%7B%7BDEMO_KEY%7D%7D\nAuthorization: Bearer s3cr3t-k3y",
            ),
            (
                r#"{"id":"{{SERVER_PARAM:DEMO_KEY}}","q":"{{id}}"}"#,
                "GET https://api.example.test/v1/notes/%7B%7BSERVER_PARAM:DEMO_KEY%7D%7D?q=%7B%7Bid%7D%7D\nAuthorization: Bearer s3cr3t-k3y",
            ),
        ],
    );
    let body = [user("a", "body", "string()", &[]), valued("b", "x {{Y}}", "body", "string()", &[])];
    check(
        &demo(tool("POST", "/notes", &body)),
        &[(
            r#"{"a":"{{Y}}","Y":"{{a}}"}"#,
            "POST https://api.example.test/v1/notes\nContent-Type: application/json\n\n{\"a\":\"{{Y}}\",\"b\":\"x {{a}}\"}",
        )],
    );
}

#[test]
fn enc_06_plus_space_and_letters() {
    let parameters = [
        user("name", "insert", "string()", &[]),
        user("since", "query", "string()", &[]),
        user("q", "query", "string()", &[]),
    ];
    check(
        &demo(tool("GET", "/cities/{{name}}", &parameters)),
        &[(
            r#"{"name":"New Yörk","since":"2026-01-01T00:00:00+02:00","q":"a+b c&d=e"}"#,
            "GET https://api.example.test/v1/cities/New%20Y%C3%B6rk?since=2026-01-01T00%3A00%3A00%2B02%3A00&q=a%2Bb+c%26d%3De",
        )],
    );
}

#[test]
fn values_of_other_types() {
    check(
        &one("/x", user("v", "query", "object()", &[])),
        &[(
            r#"{"v":{"b":[1.50,"x y"],"a":null}}"#,
            "GET https://api.example.test/v1/x?v=%7B%22b%22%3A%5B1.50%2C%22x+y%22%5D%2C%22a%22%3Anull%7D",
        )],
    );
    check(
        &one("/x/{{v}}", user("v", "insert", "number()", &[])),
        &[
            (r#"{"v":10.0}"#, "GET https://api.example.test/v1/x/10"),
            (r#"{"v":-0.50}"#, "GET https://api.example.test/v1/x/-0.5"),
            (r#"{"v":1e21}"#, "GET https://api.example.test/v1/x/1e+21"),
            (r#"{"v":0.0000001}"#, "GET https://api.example.test/v1/x/1e-7"),
            (r#"{"v":9007199254740993}"#, "GET https://api.example.test/v1/x/9007199254740993"),
            (r#"{"v":-0}"#, "GET https://api.example.test/v1/x/0"),
        ],
    );
    check(
        &one("/x", user("v", "query", "boolean()", &[])),
        &[(r#"{"v":false}"#, "GET https://api.example.test/v1/x?v=false")],
    );
}
