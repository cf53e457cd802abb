//! What becomes of a caller's arguments: the cases `val-…`, and semantics.md, sections 3 and 4.

use flowmcp_engine::{Settings, Types, UnknownArguments};

use crate::{
    schema_text::{SchemaText, demo, tool, user, valued},
    support::{Upstream, World, call, check, object, response},
};

const ROOT: &str = "https://api.example.test/v1";

fn get(parameters: &[String]) -> SchemaText {
    demo(tool("GET", "/x", parameters))
}

fn post(parameters: &[String]) -> SchemaText {
    demo(tool("POST", "/x", parameters))
}

/// The shown request of `GET /x`.
fn sent(query: &str) -> String {
    format!("GET {ROOT}/x{query}")
}

/// The shown request of `POST /x` with a JSON body.
fn posted(body: &str) -> String {
    format!("POST {ROOT}/x\nContent-Type: application/json\n\n{body}")
}

fn refused(fault: &str) -> String {
    format!("! Bad arguments for demo__get:\n- {fault}")
}

#[test]
fn val_01_only_what_is_absent_is_left_out() {
    let schema = get(&[
        user("page", "query", "number()", &["optional()"]),
        user("all", "query", "boolean()", &["optional()"]),
        user("q", "query", "string()", &["optional()"]),
        user("s", "query", "string()", &["optional()"]),
    ]);
    check(
        &schema,
        &[
            (r#"{"page":0,"all":false,"q":""}"#, &sent("?page=0&all=false&q=")),
            (r#"{"page":null,"all":null,"q":null,"s":null}"#, &sent("")),
            // Models send an empty text for what they leave out; a text may be empty.
            (r#"{"page":"","all":"","q":""}"#, &sent("?q=")),
            ("{}", &sent("")),
        ],
    );
    check(
        &get(&[user("page", "query", "number()", &[])]),
        &[
            (r#"{"page":""}"#, &refused("page: must be a number (found \"\")")),
            (r#"{"page":null}"#, &refused("page: is required")),
            ("{}", &refused("page: is required")),
        ],
    );
}

#[test]
fn val_03_numbers_sent_as_text() {
    let schema = get(&[user("limit", "query", "number()", &["min(1)", "max(100)"])]);
    let table: Vec<(String, String)> = [
        ("10", sent("?limit=10")),
        ("10.0", sent("?limit=10")),
        ("10.5", sent("?limit=10.5")),
        ("\"10\"", sent("?limit=10\n# limit: converted from a string to a number")),
        ("\"500\"", refused("limit: must be at most 100 (found 500)")),
        ("0.5", refused("limit: must be at least 1 (found 0.5)")),
    ]
    .into_iter()
    .map(|(value, expected)| (value.to_owned(), expected))
    .chain(
        ["\"\"", "\" \"", "\"12px\"", "\"0x10\"", "\"NaN\"", "\"Infinity\"", "\"1e999\"", "true"]
            .map(|value| (value.to_owned(), refused(&format!("limit: must be a number (found {value})")))),
    )
    .chain([("[10]".to_owned(), refused("limit: must be a number (found an array of 1 items)"))])
    .collect();
    for (value, expected) in table {
        check(&schema, &[(&format!("{{\"limit\":{value}}}"), &expected)]);
    }
}

#[test]
fn strict_types_convert_nothing() {
    let world =
        World { settings: Settings { types: Types::Strict, ..Settings::default() }, ..World::default() };
    world.check(
        &get(&[
            user("n", "query", "number()", &["optional()"]),
            user("s", "query", "string()", &["optional()"]),
        ]),
        &[
            (r#"{"n":10,"s":"a"}"#, &sent("?n=10&s=a")),
            (r#"{"n":"10"}"#, &refused("n: must be a number (found \"10\")")),
            (r#"{"s":10}"#, &refused("s: must be a string (found 10)")),
        ],
    );
}

#[test]
fn val_06_json_sent_as_text() {
    let schema = post(&[user("fields", "body", "object()", &[]), user("note", "body", "string()", &[])]);
    check(
        &schema,
        &[
            (
                r#"{"fields":"{\"a\":1}","note":"n"}"#,
                &format!(
                    "{}\n# fields: converted from a string to an object",
                    posted(r#"{"fields":{"a":1},"note":"n"}"#)
                ),
            ),
            (r#"{"fields":"[1]","note":""}"#, &refused("fields: must be an object (found \"[1]\")")),
            (r#"{"fields":"5","note":""}"#, &refused("fields: must be an object (found \"5\")")),
            (r#"{"fields":"{bad","note":""}"#, &refused("fields: must be an object (found \"{bad\")")),
            (
                r#"{"fields":{"a":[{}]},"note":"{\"a\":1}"}"#,
                &posted(r#"{"fields":{"a":[{}]},"note":"{\"a\":1}"}"#),
            ),
        ],
    );
}

#[test]
fn val_07_typed_values_in_a_body() {
    let schema = post(&[
        user("meta", "body", "object()", &[]),
        user("ids", "body", "array()", &[]),
        user("n", "body", "number()", &[]),
        user("ok", "body", "boolean()", &[]),
        valued("src", "app", "body", "string()", &[]),
        user("late", "body", "string()", &["optional()"]),
        valued("version", "2", "body", "number()", &[]),
        valued("deep", "false", "body", "boolean()", &[]),
        valued("tags", "[\"a\",1]", "body", "array()", &[]),
        valued("empty", "", "body", "string()", &[]),
    ]);
    check(
        &schema,
        &[(
            r#"{"ok":false,"n":0,"ids":[1,"2"],"meta":{"k":[1,null],"big":123456789012345678901234567890,"f":1.10}}"#,
            &posted(
                r#"{"meta":{"k":[1,null],"big":123456789012345678901234567890,"f":1.10},"ids":[1,"2"],"n":0,"ok":false,"src":"app","version":2,"deep":false,"tags":["a",1],"empty":""}"#,
            ),
        )],
    );
    check(&post(&[user("a", "body", "string()", &["optional()"])]), &[("{}", &posted("{}"))]);
}

#[test]
fn val_08_defaults() {
    let schema = get(&[
        user("limit", "query", "number()", &["optional()", "default(20)", "min(1)", "max(100)"]),
        user("desc", "query", "boolean()", &["default(true)"]),
        user("zip", "query", "string()", &["default(00501)"]),
    ]);
    check(
        &schema,
        &[
            ("{}", &sent("?limit=20&desc=true&zip=00501")),
            (r#"{"limit":1,"desc":false,"zip":""}"#, &sent("?limit=1&desc=false&zip=")),
            (r#"{"limit":null,"desc":""}"#, &sent("?limit=20&desc=true&zip=00501")),
        ],
    );
    World::default().check_errors(
        &get(&[user("limit", "query", "number()", &["default(500)", "max(100)"])]),
        &["VAL053 main.tools.get.parameters[0].z.options: default(500) is not accepted by the parameter's own type: must be at most 100 (found 500)"],
    );
}

#[test]
fn val_09_an_enum_of_numbers() {
    let schema = get(&[user("chainId", "query", "enum(1,5,137)", &[])]);
    let converted = sent("?chainId=137\n# chainId: converted from a number to a string");
    check(
        &schema,
        &[
            (r#"{"chainId":"137"}"#, &sent("?chainId=137")),
            (r#"{"chainId":137}"#, &converted),
            (r#"{"chainId":137.0}"#, &converted),
            (r#"{"chainId":"0137"}"#, &refused("chainId: must be one of 1, 5, 137 (found \"0137\")")),
            (r#"{"chainId":2}"#, &refused("chainId: must be one of 1, 5, 137 (found 2)")),
        ],
    );
}

#[test]
fn val_11_parameters_of_one_name() {
    let both = [user("id", "insert", "string()", &[]), user("id", "body", "string()", &[])];
    check(
        &demo(tool("PUT", "/users/{{id}}", &both)),
        &[
            (
                r#"{"id":"a","id_2":"b"}"#,
                "PUT https://api.example.test/v1/users/a\nContent-Type: application/json\n\n{\"id\":\"b\"}",
            ),
            (r#"{"id":"a"}"#, &refused("id_2: is required")),
        ],
    );
    let optional = |key| user(key, "query", "number()", &["optional()"]);
    let brackets_first = get(&[optional("page[size]"), optional("page_size")]);
    let brackets_last = get(&[optional("page_size"), optional("page[size]")]);
    for schema in [&brackets_first, &brackets_last] {
        check(
            schema,
            &[
                (r#"{"page_size":1}"#, &sent("?page_size=1")),
                (r#"{"page_size_2":2}"#, &sent("?page%5Bsize%5D=2")),
                (r#"{"page[size]":2}"#, &sent("?page%5Bsize%5D=2")),
            ],
        );
    }
    check(&brackets_first, &[(r#"{"page_size":1,"page[size]":2}"#, &sent("?page%5Bsize%5D=2&page_size=1"))]);
    check(
        &get(&[optional("page[size]")]),
        &[
            (r#"{"page_size":1}"#, &sent("?page%5Bsize%5D=1")),
            (r#"{"page[size]":1}"#, &sent("?page%5Bsize%5D=1")),
        ],
    );
    let fixed = |value| valued("fields", value, "query", "string()", &[]);
    check(&get(&[fixed("a"), fixed("b"), fixed("")]), &[("{}", &sent("?fields=a&fields=b&fields="))]);
}

#[test]
fn unknown_arguments() {
    let schema = get(&[
        user("limit", "query", "number()", &["optional()", "default(20)"]),
        user("query", "query", "string()", &["optional()"]),
    ]);
    check(
        &schema,
        &[
            (
                r#"{"toolCallId":"t-1","query":"a"}"#,
                &sent("?limit=20&query=a\n# toolCallId: is not known and was dropped"),
            ),
            (r#"{"qurey":"a"}"#, &refused("qurey: is not known; did you mean query? (known: limit, query)")),
            (r#"{"limits":5}"#, &refused("limits: is not known; did you mean limit? (known: limit, query)")),
            // It is set, so the other name means something else.
            (r#"{"limit":20,"limits":5}"#, &sent("?limit=20\n# limits: is not known and was dropped")),
            (r#"{"limit":10,"limits":5}"#, &sent("?limit=10\n# limits: is not known and was dropped")),
        ],
    );
    let world = World {
        settings: Settings { unknown_arguments: UnknownArguments::Refuse, ..Settings::default() },
        ..World::default()
    };
    world.check(
        &schema,
        &[(r#"{"toolCallId":"t-1"}"#, &refused("toolCallId: is not known (known: limit, query)"))],
    );
}

/// A client may send any number of them.
#[test]
fn many_unknown_arguments_are_counted() {
    let schema = get(&[user("query", "query", "string()", &["optional()"])]);
    let arguments: Vec<String> = (0..5_000).map(|id| format!("\"extra-{id}\":1")).collect();
    let arguments = format!("{{{}}}", arguments.join(","));
    let dropped: String = (0..20).map(|id| format!("\n# extra-{id}: is not known and was dropped")).collect();
    let expected = sent(&format!("{dropped}\n# 4980 more arguments are not known and were dropped"));
    check(&schema, &[(&arguments, &expected)]);
}

#[test]
fn all_faults_come_at_once() {
    check(
        &get(&[
            user("a", "query", "number()", &[]),
            user("b", "query", "string()", &["length(2)"]),
            user("c", "query", "string()", &["regex(^[a-z]+$)"]),
        ]),
        &[(
            r#"{"b":"x","c":"X"}"#,
            &refused(
                "a: is required\n- b: must have at least 2 characters (found \"x\")\n- c: must match ^[a-z]+$ (found \"X\")",
            ),
        )],
    );
}

/// The arguments object is the first level.
#[test]
fn arguments_are_limited_in_depth() {
    let schema = post(&[user("v", "body", "array()", &[])]);
    let nested = |levels: usize| format!("{{\"v\":{}1{}}}", "[".repeat(levels), "]".repeat(levels));
    let catalogue = World::default().load(&[schema]);
    let (upstream, engine) = catalogue.serve(Upstream::new(|_| Ok(response(204, "", ""))));
    let shown = |levels| call(&engine, &upstream, "demo__get", object(&nested(levels)));
    assert!(shown(63).starts_with("POST "));
    assert_eq!(shown(64), refused("arguments are nested more than 64 levels deep"));
}
