//! Whatever a caller gives arrives as it was given, in its own place.

use std::sync::LazyLock;

use flowmcp_engine::{DryRun, Settings, Snapshot, dry_run};
use percent_encoding::percent_decode_str;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use url::Url;

use crate::{
    schema_text::{SchemaText, demo, tool, tool_with, user, valued},
    support::World,
};

/// Values in every place of a request.
static PLACES: LazyLock<Snapshot> = LazyLock::new(|| {
    let parameters = [
        user("path", "insert", "string()", &[]),
        user("spread", "insert", "string()", &["segments()"]),
        user("inner", "insert", "string()", &[]),
        user("query", "query", "string()", &[]),
        user("items", "query", "array()", &["explode()"]),
        user("body", "body", "string()", &[]),
        valued("text", "<{{TEXT}}>{{SECRET}}", "body", "string()", &[]),
    ];
    let form = "headers: { 'Content-Type': 'application/x-www-form-urlencoded' }";
    let form_parameters = [user("body", "body", "string()", &[])];
    let schema = SchemaText {
        tools: vec![
            ("json".to_owned(), tool("POST", "/p/{{path}}/s/{{spread}}?in={{inner}}", &parameters)),
            ("form".to_owned(), tool_with("POST", "/f", &form_parameters, form)),
        ],
        server_params: &["SECRET"],
        ..demo(String::new())
    };
    World::with_keys(&[("SECRET", "s3cr3t-k3y")]).load(&[schema]).snapshot()
});

fn run(tool: &str, arguments: Value) -> Result<DryRun, String> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    dry_run(PLACES.tool(tool).unwrap(), arguments, &Settings::default()).map_err(|error| error.to_string())
}

/// Text of any kind, often of what means something in URLs, JSON and templates.
fn text() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "/",
        "..",
        ".",
        "?",
        "#",
        "%",
        "%2e",
        "%2F",
        "\\",
        "&",
        "=",
        "+",
        " ",
        "\"",
        "\r\n",
        "\0",
        "{{",
        "}}",
        "{{SECRET}}",
        "{{SERVER_PARAM:SECRET}}",
        "{{USER_PARAM}}",
        "{{query}}",
        ":path",
        "<SECRET>",
        "é",
        "😀",
        "\u{2028}",
        "a",
    ]);
    prop_oneof![
        "\\PC{0,12}",
        any::<String>(),
        prop::collection::vec(words, 0..8).prop_map(|words| words.concat())
    ]
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().unwrap().into_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_sent_decodes_to_what_was_given(
        path in text(), spread in text(), inner in text(), query in text(),
        items in prop::collection::vec(text(), 0..3), body in text(), embedded in text(),
    ) {
        let request = run("demo__json", json!({
            "path": path, "spread": spread, "inner": inner, "query": query, "items": items, "body": body, "TEXT": embedded,
        }));
        let is_bad = |segment: &str| ["", ".", ".."].contains(&segment);
        if is_bad(&path) || spread.split('/').any(is_bad) {
            prop_assert!(request.unwrap_err().contains("which is not allowed"));
            return Ok(());
        }
        let request = request.unwrap();
        let url = Url::parse(&request.url).unwrap();
        // The parser encodes a quotation mark in a query, as browsers and Node do; nothing else is left to it.
        prop_assert_eq!(url.as_str().replace("%27", "'"), request.url.replace("%27", "'"));
        prop_assert_eq!(url.origin().ascii_serialization(), "https://api.example.test");
        let segments: Vec<String> = url.path_segments().unwrap().map(decoded).collect();
        let mut expected = vec!["v1".to_owned(), "p".to_owned(), path, "s".to_owned()];
        expected.extend(spread.split('/').map(str::to_owned));
        prop_assert_eq!(segments, expected);

        let (first, rest) = url.query().unwrap().split_once("&query=").unwrap();
        prop_assert_eq!(decoded(first.strip_prefix("in=").unwrap()), inner);
        let rest = format!("query={rest}");
        let pairs: Vec<(String, String)> = form_urlencoded::parse(rest.as_bytes()).into_owned().collect();
        let mut expected = vec![("query".to_owned(), query)];
        expected.extend(items.into_iter().map(|item| ("items".to_owned(), item)));
        prop_assert_eq!(pairs, expected);

        let sent: Value = serde_json::from_str(&request.body.unwrap()).unwrap();
        prop_assert_eq!(sent, json!({ "body": body, "text": format!("<{embedded}><SECRET>") }));
    }

    #[test]
    fn a_form_decodes_to_what_was_given(body in text()) {
        let request = run("demo__form", json!({ "body": body })).unwrap();
        let form = request.body.unwrap();
        let pairs: Vec<(String, String)> = form_urlencoded::parse(form.as_bytes()).into_owned().collect();
        prop_assert_eq!(pairs, [("body".to_owned(), body)]);
    }

    #[test]
    fn numbers_arrive_with_all_their_digits(digits in "-?[1-9][0-9]{0,40}") {
        let number: serde_json::Number = serde_json::from_str(&digits).unwrap();
        let schema = demo(tool("POST", "/x", &[user("q", "query", "number()", &[]), user("b", "body", "number()", &[])]));
        let catalogue = World::default().load(&[schema]);
        let arguments = Map::from_iter(["q", "b"].map(|key| (key.to_owned(), Value::Number(number.clone()))));
        let request = dry_run(&catalogue.tools[0], arguments, &Settings::default()).unwrap();
        prop_assert_eq!(request.url, format!("https://api.example.test/v1/x?q={digits}"));
        prop_assert_eq!(request.body.unwrap(), format!("{{\"b\":{digits}}}"));
    }
}

/// Handlers compare and edit query strings, so they must be those of Node, byte for byte. The fixture is made by
/// `fixtures/urlsearchparams.mjs`.
#[test]
fn queries_are_those_of_urlsearchparams() {
    let rows: Vec<Value> = serde_json::from_str(include_str!("fixtures/urlsearchparams.json")).unwrap();
    assert!(rows.len() > 300);
    let field = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let mut keys: Vec<String> = rows.iter().map(|row| field(row, "key")).collect();
    keys.dedup();
    let parameters: Vec<String> =
        keys.iter().map(|key| user(key, "query", "string()", &["optional()"])).collect();
    let catalogue = World::default().load(&[demo(tool("GET", "/x", &parameters))]);
    assert_eq!(catalogue.errors(), [""; 0]);
    for row in &rows {
        let arguments = Map::from_iter([(field(row, "key"), row["value"].clone())]);
        let request = dry_run(&catalogue.tools[0], arguments, &Settings::default()).unwrap();
        assert_eq!(request.url, format!("https://api.example.test/v1/x?{}", field(row, "query")), "{row}");
    }
}
