//! Every dialect of placeholders: semantics.md, section 3.

use crate::{
    schema_text::{SchemaText, demo, list, tool, tool_with, user, valued},
    support::{World, check},
};

const ROOT: &str = "https://api.example.test/v1";

fn get(path: &str, parameters: &[String]) -> SchemaText {
    demo(tool("GET", path, parameters))
}

fn sent(rest: &str) -> String {
    format!("GET {ROOT}{rest}")
}

fn refused(fault: &str) -> String {
    format!("! Bad arguments for demo__get:\n- {fault}")
}

/// Seed 002: the value is a name of its own, and the list is an option.
#[test]
fn seed_002_inserts_a_member_of_a_shared_list() {
    let world = World {
        lists: vec![list("chainIds", "version: '1.0.0'", "{ ethereum: 1, polygon: 137 }")],
        ..World::default()
    };
    let chain = [valued("chain", "{{CHAIN}}", "insert", "enum()", &["$chainIds"])];
    for path in ["/gas/{{CHAIN}}", "/gas/{{chain}}", "/gas/:chain"] {
        let mut schema = get(path, &chain);
        for lists in ["['chainIds']", "[]"] {
            schema.lists = lists;
            world.check(
                &schema,
                &[
                    (r#"{"chain":"polygon"}"#, &sent("/gas/polygon")),
                    (r#"{"CHAIN":"ethereum"}"#, &sent("/gas/ethereum")),
                    (
                        r#"{"chain":"solana"}"#,
                        &refused("chain: must be one of ethereum, polygon (found \"solana\")"),
                    ),
                ],
            );
        }
    }
}

#[test]
fn the_key_fills_a_placeholder_of_other_case() {
    let id = [user("id", "insert", "string()", &[])];
    for path in
        ["/coins/{{ID}}/x", "/coins/{{ id }}/x", "/coins/:id/x", "/coins/:ID/x", "/coins/{{USER_PARAM}}/x"]
    {
        check(&get(path, &id), &[(r#"{"id":"bitcoin"}"#, &sent("/coins/bitcoin/x"))]);
    }
}

/// An exact key beats a value's placeholder, which beats a key of other case.
#[test]
fn which_insert_fills_a_placeholder() {
    check(
        &get(
            "/{{A}}/{{B}}/{{C}}/{{b}}/{{y}}",
            &[
                user("c", "insert", "string()", &[]),
                valued("x", "{{B}}", "insert", "string()", &[]),
                user("b", "insert", "string()", &[]),
                valued("y", "{{A}}", "insert", "string()", &["optional()"]),
                user("A", "insert", "string()", &[]),
            ],
        ),
        &[(r#"{"A":"1","x":"2","c":"3","b":"4"}"#, &sent("/1/2/3/4/1"))],
    );
}

#[test]
fn colons_are_placeholders_at_the_start_of_a_name() {
    let two = [user("a", "insert", "string()", &[]), user("b", "insert", "string()", &[])];
    for (path, expected) in [
        ("/x/:a/:b", "/x/1/2"),
        ("/x/:a.:b", "/x/1.2"),
        ("/x/:a,:b/list", "/x/1,2/list"),
        ("/x/k=:a;:b", "/x/k=1;2"),
        ("/x/:a/{{b}}:search", "/x/1/2:search"),
        ("/x/:a/y:z/:b", "/x/1/y:z/2"),
        ("/x?from=:a&to=:b", "/x?from=1&to=2"),
    ] {
        check(&get(path, &two), &[(r#"{"a":"1","b":"2"}"#, &sent(expected))]);
    }
    World::default().check_errors(
        &get("/x/:id/y", &[]),
        &["VAL051 main.tools.get.path: has :id, which no insert parameter and no server parameter fills"],
    );
    World::default().check_errors(
        &get("/x/{{id}}", &[]),
        &["VAL051 main.tools.get.path: has {{id}}, which no insert parameter and no server parameter fills"],
    );
}

/// A value that is one placeholder is offered under its key; one inside text under its own name.
#[test]
fn values_with_names_of_their_own() {
    check(
        &get("/x", &[valued("ids", "{{COIN}}", "query", "string()", &[])]),
        &[
            (r#"{"ids":"a"}"#, &sent("/x?ids=a")),
            (r#"{"COIN":"a"}"#, &sent("/x?ids=a")),
            ("{}", &refused("ids: is required")),
        ],
    );
    check(
        &demo(tool("POST", "/x", &[valued("n", "{{COUNT}}", "body", "number()", &[])])),
        &[(r#"{"n":5}"#, "POST https://api.example.test/v1/x\nContent-Type: application/json\n\n{\"n\":5}")],
    );
    check(
        &get("/x", &[valued("query", "SELECT TOP {{LIMIT}} * FROM {{TABLE}}", "query", "string()", &[])]),
        &[
            (r#"{"LIMIT":"5","TABLE":"a b"}"#, &sent("/x?query=SELECT+TOP+5+*+FROM+a+b")),
            (
                r#"{"LIMIT":5,"TABLE":"t"}"#,
                &sent("/x?query=SELECT+TOP+5+*+FROM+t\n# LIMIT: converted from a number to a string"),
            ),
            (r#"{"LIMIT":"5"}"#, &refused("TABLE: is required")),
        ],
    );
    check(
        &get("/x", &[valued("query", "SELECT TOP {{LIMIT}} * FROM t", "query", "number()", &["max(9)"])]),
        &[
            (r#"{"LIMIT":5}"#, &sent("/x?query=SELECT+TOP+5+*+FROM+t")),
            (r#"{"LIMIT":50}"#, &refused("LIMIT: must be at most 9 (found 50)")),
        ],
    );
    check(
        &get("/x", &[valued("name", "%{{USER_PARAM}}%", "query", "string()", &[])]),
        &[(r#"{"name":"50%"}"#, &sent("/x?name=%2550%25%25"))],
    );
}

/// Some of several values of one text cannot be left out.
#[test]
fn optional_texts_of_several_values() {
    check(
        &get("/x", &[valued("range", "{{FROM}}..{{TO}}", "query", "string()", &["optional()"])]),
        &[
            (r#"{"FROM":"1","TO":"2"}"#, &sent("/x?range=1..2")),
            ("{}", &sent("/x")),
            (r#"{"FROM":"1"}"#, &refused("TO: is needed together with FROM")),
        ],
    );
}

#[test]
fn parameters_refer_to_others() {
    let template = [
        user("LIMIT", "template", "number()", &["default(5)", "max(10)"]),
        user("field", "template", "enum(id,name)", &[]),
        valued(
            "query",
            "SELECT TOP {{LIMIT}} {{field}} FROM t WHERE {{field}} > 1",
            "query",
            "string()",
            &[],
        ),
    ];
    check(
        &get("/x", &template),
        &[
            (r#"{"field":"id"}"#, &sent("/x?query=SELECT+TOP+5+id+FROM+t+WHERE+id+%3E+1")),
            (r#"{"field":"name","LIMIT":7}"#, &sent("/x?query=SELECT+TOP+7+name+FROM+t+WHERE+name+%3E+1")),
            (r#"{"field":"name","LIMIT":70}"#, &refused("LIMIT: must be at most 10 (found 70)")),
            (r#"{"field":"x"}"#, &refused("field: must be one of id, name (found \"x\")")),
        ],
    );
    check(
        &get("/x/{{id}}", &[user("id", "template", "string()", &[])]),
        &[(r#"{"id":"a/b"}"#, &sent("/x/a%2Fb"))],
    );
    check(
        &get("/x", &[user("a", "query", "number()", &[]), valued("b", "{{a}}", "query", "string()", &[])]),
        &[(r#"{"a":1}"#, &sent("/x?a=1&b=1"))],
    );
    World::default().check_errors(
        &get(
            "/x",
            &[valued("a", "{{b}}", "query", "string()", &[]), valued("b", "{{a}}", "query", "string()", &[])],
        ),
        &["VAL051 main.tools.get.parameters[0].position: value refers to parameters that refer back to it"],
    );
}

#[test]
fn server_parameters_in_every_place() {
    let keys = [("API_KEY", "s3cr3t k/y"), ("TENANT", "acme"), ("USER", "me@x")];
    let world = World::with_keys(&keys);
    let mut schema = demo(tool_with(
        "POST",
        "/t/{{API_KEY}}/:TENANT/{{SERVER_PARAM:USER}}?k={{API_KEY}}",
        &[
            valued("q", "{{API_KEY}}", "query", "string()", &[]),
            valued("u", "user={{SERVER_PARAM:USER}};{{TENANT}}", "query", "string()", &[]),
            valued("token", "{{ SERVER_PARAM:API_KEY }}", "body", "string()", &[]),
            valued("line", "\"{{USER}}\"", "body", "string()", &[]),
        ],
        "headers: { 'X-Both': '{{TENANT}}:{{SERVER_PARAM:USER}}' }",
    ));
    schema.server_params = &["API_KEY", "SERVER_PARAM:TENANT", "USER"];
    schema.headers = "{ Authorization: 'Bearer {{API_KEY}}' }";
    schema.root = "https://{{TENANT}}.example.test/{{API_KEY}}/v1?key={{SERVER_PARAM:API_KEY}}";
    let tools = world.load(std::slice::from_ref(&schema));
    assert_eq!(tools.errors(), [""; 0]);
    let (upstream, engine) = tools.serve(crate::support::Upstream::default());
    let shown = crate::support::call(&engine, &upstream, "demo__get", serde_json::Map::new());
    insta::assert_snapshot!(shown);
    let snapshot = engine.snapshot();
    let tool = snapshot.tool("demo__get").unwrap();
    let run = flowmcp_engine::dry_run(tool, serde_json::Map::new(), engine.settings()).unwrap();
    insta::assert_snapshot!(format!("{run:#?}"));
}

/// Without its value a tool is hidden, and a dry run still shows the request.
#[test]
fn a_dry_run_needs_no_server_values() {
    let mut schema = get("/x/{{id}}", &[user("id", "insert", "string()", &[])]);
    schema.root = "https://{{HOST_NAME}}.example.test/{{API_KEY}}";
    let catalogue = World::default().load(&[schema]);
    let settings = flowmcp_engine::Settings::default();
    let run =
        flowmcp_engine::dry_run(&catalogue.tools[0], crate::support::object(r#"{"id":"a"}"#), &settings);
    assert_eq!(run.unwrap().url, "https://<HOST_NAME>.example.test/<API_KEY>/x/a");
}

/// A placeholder in a header that is no parameter of the tool is a server parameter.
#[test]
fn headers_take_arguments_and_server_parameters() {
    let mut schema = demo(tool_with(
        "GET",
        "/x",
        &[
            valued("lang", "{{LANGUAGE}}", "template", "string()", &["optional()"]),
            user("v", "template", "string()", &["default(2)"]),
        ],
        "headers: { 'accept-language': '{{LANGUAGE}}', 'X-Version': 'v{{v}}', 'x-key': '{{DEMO_KEY}}' }",
    ));
    schema.headers = "{ 'Accept-Language': 'en', 'X-Key': 'none' }";
    World::with_keys(&[("DEMO_KEY", "s3cr3t-k3y")]).check(
        &schema,
        &[
            (r#"{"lang":"de","v":"3"}"#, &sent("/x\naccept-language: de\nX-Version: v3\nx-key: s3cr3t-k3y")),
            ("{}", &sent("/x\nX-Version: v2\nx-key: s3cr3t-k3y")),
            (
                r#"{"lang":"de\r\nX-Evil: 1"}"#,
                &refused("header accept-language: the value has a line break or NUL"),
            ),
            (r#"{"lang":"de\u0000"}"#, &refused("header accept-language: the value has a line break or NUL")),
        ],
    );
}
