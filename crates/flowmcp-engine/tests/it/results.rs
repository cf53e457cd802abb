//! Results of calls through the engine: the cases `resp-…` and `json-…`. Their details are tested beside `output.rs`.

use flowmcp_engine::{Content, Limits, Settings};
use serde_json::Map;

use crate::{
    schema_text::{SchemaText, demo, tool, tool_with, user, valued},
    support::{Upstream, World, content_text, object, output, response},
};

/// A success and its content items, or `error:` and them; then the notes.
fn shown(world: &World, schema: &SchemaText, answer: (u16, &'static str, Vec<u8>)) -> String {
    let (status, content_type, body) = answer;
    let upstream = Upstream::new(move |_| Ok(response(status, content_type, body.clone())));
    let (upstream, engine) = world.load(std::slice::from_ref(schema)).serve(upstream);
    let (output, requests) = output(&engine, &upstream, "demo__get", Map::new());
    assert_eq!(requests.len(), 1);
    let mut text = format!("{}{}", if output.is_error { "error: " } else { "" }, content_text(&output));
    if let Some(structured) = &output.structured {
        assert!(!output.is_error, "no structured content on errors");
        text.push_str(&format!("\n= {structured}"));
    }
    for note in &output.notes {
        text.push_str(&format!("\n# {note}"));
    }
    text
}

#[track_caller]
fn check(table: &[(u16, &'static str, &[u8], &str)]) {
    let schema = demo(tool("GET", "/x", &[]));
    for (status, content_type, body, expected) in table {
        let answer = (*status, *content_type, body.to_vec());
        assert_eq!(shown(&World::default(), &schema, answer), *expected, "{status} {content_type}");
    }
}

#[test]
fn json_01_digits_stay() {
    let body = r#"{"id":725653563933458432,"big":123456789012345678901234567890,"amt":1.10,"tiny":1e-7}"#;
    check(&[(200, "application/json", body.as_bytes(), body)]);
}

#[test]
fn json_02_nan_is_text_with_a_note() {
    check(&[(
        200,
        "application/json",
        br#"{"v":NaN}"#,
        "{\"v\":NaN}\n[Note: this response is declared as application/json, but not valid JSON (9 bytes; expected value at \
         line 1 column 6). It is shown as text.]\n# the response is declared as application/json, but not valid JSON \
         (9 bytes; expected value at line 1 column 6)",
    )]);
}

#[test]
fn resp_01_an_empty_success_is_a_success() {
    let schema = demo(tool("DELETE", "/files/{{id}}", &[user("id", "insert", "string()", &["default(1)"])]));
    for (status, content_type, body, expected) in [
        (204, "", "", "HTTP 204 No Content, no body"),
        (200, "application/json", "", "HTTP 200 OK, no body"),
        (201, "", " ", "HTTP 201 Created, no body"),
        (205, "", "", "HTTP 205 Reset Content, no body"),
        (404, "", "", "error: HTTP 404: Not Found, no body"),
    ] {
        let answer = (status, content_type, body.as_bytes().to_vec());
        assert_eq!(shown(&World::default(), &schema, answer), expected);
    }
}

#[test]
fn resp_02_charsets() {
    let utf16 = [0xff, 0xfe].into_iter().chain("{\"a\":\"é\"}".encode_utf16().flat_map(u16::to_le_bytes));
    let utf16: Vec<u8> = utf16.collect();
    check(&[
        (200, "application/json", b"\xef\xbb\xbf{\"a\":\"\xc3\xa9\"}", "{\"a\":\"é\"}"),
        (200, "application/json; charset=iso-8859-1", b"{\"a\":\"\xe9\"}", "{\"a\":\"é\"}"),
        (200, "application/json", &utf16, "{\"a\":\"é\"}"),
        (200, "text/csv; charset=windows-1252", b"a,\x80", "a,€"),
        (200, "application/json", br#"{"a":"\ud83d"}"#, r#"{"a":"\ud83d"}"#),
    ]);
}

#[test]
fn resp_03_what_is_not_json_is_text() {
    check(&[
        (200, "text/html", b"<!doctype html><p>Hi</p>", "<!doctype html><p>Hi</p>"),
        (200, "application/x-ndjson", b"{\"a\":1}\n{\"a\":2}\n", "{\"a\":1}\n{\"a\":2}\n"),
        (200, "", b"plain words", "plain words"),
        (
            200,
            "application/json",
            b"{\"a\":[1,",
            "{\"a\":[1,\n[Note: this response is declared as application/json, but not valid JSON (8 bytes; EOF while \
             parsing a value at line 1 column 8). It is shown as text.]\n# the response is declared as application/json, \
             but not valid JSON (8 bytes; EOF while parsing a value at line 1 column 8)",
        ),
    ]);
}

#[test]
fn resp_04_bytes_stay_bytes() {
    let schema = demo(tool("GET", "/chart", &[]));
    for (content_type, bytes) in [
        ("image/png", b"\x89PNG\r\n\x1a\n\0".as_slice()),
        ("application/pdf", b"%PDF-1.7\n\xff\xfe"),
        ("application/octet-stream", b"\0\x01\xff"),
    ] {
        let upstream = Upstream::new(move |_| Ok(response(200, content_type, bytes)));
        let (upstream, engine) = World::default().load(std::slice::from_ref(&schema)).serve(upstream);
        let (output, _) = output(&engine, &upstream, "demo__get", Map::new());
        let found = match output.content.as_slice() {
            [Content::Image { data, mime_type }] => (data.clone(), mime_type.clone()),
            [
                Content::Resource {
                    uri,
                    mime_type: Some(mime_type),
                    body: flowmcp_engine::ResourceBody::Blob(data),
                },
            ] => {
                assert_eq!(uri, "flowmcp://demo/tool/get/result");
                (data.clone(), mime_type.clone())
            }
            other => panic!("{other:?}"),
        };
        assert_eq!((&*found.0, found.1.as_str(), output.is_error), (bytes, content_type, false));
    }
}

#[test]
fn resp_05_errors_tell_enough_and_no_key() {
    let schema = SchemaText {
        server_params: &["DEMO_KEY"],
        ..demo(tool("GET", "/q", &[valued("apikey", "{{SERVER_PARAM:DEMO_KEY}}", "query", "string()", &[])]))
    };
    let world = World::with_keys(&[("DEMO_KEY", "a+b/c==xyz")]);
    let echo = r#"{"error":"bad date","url":"/q?apikey=a%2Bb%2Fc%3D%3Dxyz","hint":"a+b/c==xyz","auth":"YStiL2M9PXh5eg=="}"#;
    let redacted =
        r#"{"error":"bad date","url":"/q?apikey=<DEMO_KEY>","hint":"<DEMO_KEY>","auth":"<DEMO_KEY>"}"#;
    for (status, body, expected) in [
        (422, echo, format!("error: HTTP 422: Unprocessable Content\n{redacted}")),
        (500, "", "error: HTTP 500: Internal Server Error, no body".to_owned()),
        (200, echo, redacted.to_owned()),
    ] {
        assert_eq!(shown(&world, &schema, (status, "application/json", body.as_bytes().to_vec())), expected);
    }
}

#[test]
fn resp_08_a_result_is_cut_with_a_note() {
    let rows: Vec<String> = (0..9_000).map(|id| format!("{{\"id\":{id},\"name\":\"Grüße €\"}}")).collect();
    let body = format!("[{}]", rows.join(","));
    let schema = demo(tool_with(
        "GET",
        "/dump",
        &[],
        "output: { mimeType: 'application/json', schema: { type: 'array' } }",
    ));
    let text = shown(&World::default(), &schema, (200, "application/json", body.clone().into_bytes()));
    let (content, note) = text.split_once("\n# ").unwrap();
    assert!(content.len() <= 100 << 10 && content.ends_with(note), "{} {note}", content.len());
    assert!(
        note.starts_with("[cut: ") && note.contains(&format!(" of {} bytes shown", body.len())),
        "{note}"
    );
    assert!(body.starts_with(content.split("\n[cut").next().unwrap()));

    let limits = Limits { content_bytes: 1 << 20, ..Limits::default() };
    let world = World { settings: Settings { limits, ..Settings::default() }, ..World::default() };
    assert_eq!(shown(&world, &schema, (200, "application/json", body.clone().into_bytes())), body);
}

#[test]
fn the_output_schema_is_a_note_until_it_is_published() {
    let output = "output: { mimeType: 'application/json', schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } }";
    let schema = demo(tool_with("GET", "/x", &[], output));
    let published = World { publish_output_schema: true, ..World::default() };
    let answer = |body: &str| (200, "application/json", body.as_bytes().to_vec());
    let shown = [
        shown(&World::default(), &schema, answer(r#"{ "n": 1.10 }"#)),
        shown(&World::default(), &schema, answer(r#"{"n":"x"}"#)),
        shown(&published, &schema, answer(r#"{ "n": 1.10 }"#)),
        shown(&published, &schema, answer(r#"{"n":"x"}"#)),
        shown(&published, &schema, (404, "application/json", br#"{"n":1}"#.to_vec())),
    ];
    insta::assert_snapshot!(shown.join("\n---\n"));
    let tools = World::default().load(std::slice::from_ref(&schema)).tools;
    assert_eq!(tools[0].output_schema, None);
    insta::assert_snapshot!(
        serde_json::to_string_pretty(published.load(&[schema]).tools[0].output_schema.as_deref().unwrap())
            .unwrap()
    );
}

/// Notes on arguments come before notes on the result.
#[test]
fn notes_are_kept_together() {
    let schema = demo(tool("GET", "/x", &[user("n", "query", "number()", &[])]));
    let upstream = Upstream::new(|_| Ok(response(200, "application/json", "nothing")));
    let (upstream, engine) = World::default().load(&[schema]).serve(upstream);
    let (output, _) = output(&engine, &upstream, "demo__get", object(r#"{"n":"1","toolCallId":"a"}"#));
    assert_eq!(
        output.notes[..2],
        ["n: converted from a string to a number", "toolCallId: is not known and was dropped"]
    );
    assert_eq!(output.notes.len(), 3);
}
