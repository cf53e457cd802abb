//! The response cases of the project's case list, by their names there (`resp-01` and so on).

use std::sync::LazyLock;

use flowmcp_plugin::Secret;
use proptest::strategy::Strategy;
use serde_json::json;

use super::*;

const KEY: &str = "a+b/c==xyz";

static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| Redactor::new([("DEMO_KEY", &Secret::new(KEY))]));

fn response(status: u16, content_type: Option<&str>, body: impl Into<Bytes>) -> Response {
    let mut headers = vec![("set-cookie".to_owned(), "session=hidden".to_owned())];
    headers.extend(content_type.map(|value| ("content-type".to_owned(), value.to_owned())));
    Response { status, headers, body: body.into() }
}

/// What a test may vary.
#[derive(Clone, Copy, Default)]
struct Setting<'a> {
    schema: SchemaUse<'a>,
    declared: Option<&'a str>,
    content_bytes: Option<usize>,
}

impl Setting<'_> {
    fn with<T>(self, run: impl FnOnce(&OutputContext<'_>) -> T) -> T {
        let mut limits = Limits::default();
        limits.content_bytes = self.content_bytes.unwrap_or(limits.content_bytes);
        run(&OutputContext {
            redactor: &REDACTOR,
            limits: &limits,
            declared_mime_type: self.declared,
            uri: "flowmcp://demo/tool/get/result",
            schema: self.schema,
        })
    }

    fn response(self, status: u16, content_type: Option<&str>, body: impl Into<Bytes>) -> Output {
        self.with(|context| from_response(&response(status, content_type, body), context))
    }

    fn handler(self, json: &str) -> Output {
        self.with(|context| from_handler_result(json, context))
    }
}

const PLAIN: Setting<'static> = Setting { schema: SchemaUse::None, declared: None, content_bytes: None };
const JSON: Option<&str> = Some("application/json");

fn texts(output: &Output) -> Vec<&str> {
    output
        .content
        .iter()
        .map(|content| match content {
            Content::Text(text) => text.as_str(),
            other => panic!("no text: {other:?}"),
        })
        .collect()
}

/// One text item, no error, no note, no structured content.
#[track_caller]
fn check_text(output: &Output, expected: &str) {
    assert_eq!(texts(output), [expected]);
    assert!(!output.is_error && output.structured.is_none() && output.notes.is_empty(), "{output:?}");
}

#[test]
fn json_01_digits_and_order_stay() {
    let body =
        r#"{"id":725653563933458432,"big":123456789012345678901234567890,"amt":1.10,"tiny":1e-7,"a":0}"#;
    check_text(&PLAIN.response(200, JSON, body), body);
    check_text(&PLAIN.handler(body), body);
    let spaced = "{ \"b\" : 1.10,\r\n \"a b\" : [ 1E+2 , -0.0 ] }\n";
    check_text(&PLAIN.response(200, JSON, spaced), r#"{"b":1.10,"a b":[1E+2,-0.0]}"#);
}

#[test]
fn json_02_nan_is_text_with_a_note() {
    let output = PLAIN.response(200, JSON, r#"{"v":NaN}"#);
    assert_eq!(
        texts(&output),
        [
            r#"{"v":NaN}"#,
            "[Note: this response is declared as application/json, but not valid JSON \
             (9 bytes; expected value at line 1 column 6). It is shown as text.]"
        ]
    );
    assert!(!output.is_error && output.notes.len() == 1);
}

#[test]
fn a_bomb_of_brackets_is_no_json() {
    let output = PLAIN.response(200, JSON, "[".repeat(5 << 20));
    assert!(
        texts(&output)[1].contains("not valid JSON (5.0 MiB; EOF while parsing"),
        "{:?}",
        texts(&output)[1]
    );
}

#[test]
fn resp_01_empty_success() {
    for (status, content_type, body, expected) in [
        (204, None, "", "HTTP 204 No Content, no body"),
        (200, JSON, "", "HTTP 200 OK, no body"),
        (201, Some("text/plain"), " \n", "HTTP 201 Created, no body"),
        (201, JSON, "\u{feff}\n", "HTTP 201 Created, no body"),
        (205, None, "", "HTTP 205 Reset Content, no body"),
        (299, None, "", "HTTP 299, no body"),
    ] {
        check_text(&PLAIN.response(status, content_type, body), expected);
        let object = OutputSchema::new(&json!({ "type": "object" }));
        check_text(
            &Setting { schema: SchemaUse::Note(&object), ..PLAIN }.response(status, content_type, body),
            expected,
        );
    }
    for status in [404, 500] {
        let output = PLAIN.response(status, JSON, "");
        assert!(output.is_error && texts(&output)[0].ends_with(", no body"));
    }
    for undefined in ["null", ""] {
        check_text(&PLAIN.handler(undefined), "No data: the handler's result is null");
    }
}

#[test]
fn resp_02_byte_order_mark_and_charset() {
    let compact = r#"{"a":"é"}"#;
    let utf_16: Vec<u8> = "\u{feff}{\"a\":\"é\"}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (content_type, body) in [
        ("application/json", Bytes::from("\u{feff}{\"a\":\"é\"}")),
        ("application/json; charset=iso-8859-1", Bytes::from_static(b"{\"a\":\"\xe9\"}")),
        ("application/json", utf_16.into()),
    ] {
        check_text(&PLAIN.response(200, Some(content_type), body), compact);
    }
    check_text(&PLAIN.response(200, Some("text/csv; charset=windows-1252"), &b"a;\xe9\x80\n"[..]), "a;é€\n");
    check_text(&PLAIN.response(200, JSON, r#"{"a":"\ud83d"}"#), r#"{"a":"\ud83d"}"#);

    let output = PLAIN.response(200, JSON, &b"{\"a\":\"\xff\"}"[..]);
    assert_eq!(texts(&output), ["{\"a\":\"\u{fffd}\"}"]);
    assert_eq!(output.notes, ["some bytes of the response are not valid UTF-8; they are shown as U+FFFD"]);
}

#[test]
fn resp_03_success_that_is_not_json() {
    let page = "<!doctype html>\n<p>Hi</p>\n";
    check_text(&PLAIN.response(200, Some("text/html"), page), page);
    let lines = "{\"a\": 1}\n{\"a\": 2}\n";
    check_text(&PLAIN.response(200, Some("application/x-ndjson"), lines), lines);
    check_text(&PLAIN.response(200, None, "plain text"), "plain text");
    check_text(
        &Setting { declared: Some("text/plain"), ..PLAIN }.response(200, None, "plain text"),
        "plain text",
    );
    check_text(&PLAIN.response(200, Some("application/xml"), "<a/>"), "<a/>");
    check_text(&PLAIN.response(200, Some("image/svg+xml"), "<svg/>"), "<svg/>");
    check_text(&PLAIN.response(200, Some("application/vnd.some.thing"), "a = 1"), "a = 1");

    let cut_off = PLAIN.response(200, JSON, r#"{"rows":[1,2"#);
    assert!(!cut_off.is_error);
    assert_eq!(
        texts(&cut_off),
        [
            r#"{"rows":[1,2"#,
            "[Note: this response is declared as application/json, but not valid JSON \
             (12 bytes; EOF while parsing a list at line 1 column 12). It is shown as text.]"
        ]
    );
}

#[test]
fn json_is_recognised_behind_other_types() {
    for content_type in
        [Some("text/plain"), Some("text/html; charset=utf-8"), None, Some("binary/octet-stream")]
    {
        check_text(&PLAIN.response(200, content_type, "{ \"a\": 1 }"), r#"{"a":1}"#);
    }
}

#[test]
fn resp_04_bytes_stay_as_they_are() {
    let png = Bytes::from_static(b"\x89PNG\r\n\x1a\n\0\0\xff");
    let image = |mime_type: &str| vec![Content::Image { data: png.clone(), mime_type: mime_type.to_owned() }];
    assert_eq!(PLAIN.response(200, Some("image/png"), png.clone()).content, image("image/png"));
    assert_eq!(PLAIN.response(200, Some("Image/WebP; q=1"), png.clone()).content, image("image/webp"));
    assert_eq!(PLAIN.response(200, None, png.clone()).content, image("image/png"));
    let declared = Setting { declared: Some("image/gif"), ..PLAIN };
    assert_eq!(declared.response(200, Some("image/png"), png.clone()).content, image("image/png"));
    assert_eq!(
        PLAIN.response(200, Some("audio/mpeg"), "ID3").content,
        [Content::Audio { data: "ID3".into(), mime_type: "audio/mpeg".to_owned() }]
    );
    for (content_type, body, expected) in [
        (Some("application/pdf"), &b"%PDF-1.7"[..], "application/pdf"),
        (Some("application/octet-stream"), b"a\0b", "application/octet-stream"),
        (Some("application/octet-stream"), b"plain", "application/octet-stream"),
        (Some("text/plain"), b"a\0b", "application/octet-stream"),
        (Some("application/json"), b"{\"a\":\"\0\"}", "application/octet-stream"),
        (Some("application/vnd.some.thing"), b"\xff\xfd\0", "application/vnd.some.thing"),
        (None, b"PK\x03\x04", "application/zip"),
        (None, b"\xc3\x28\0", "application/octet-stream"),
    ] {
        let output = PLAIN.response(200, content_type, body);
        let blob = Content::Resource {
            uri: "flowmcp://demo/tool/get/result".to_owned(),
            mime_type: Some(expected.to_owned()),
            body: ResourceBody::Blob(body.into()),
        };
        assert_eq!(output.content, [blob], "{content_type:?}");
        assert!(!output.is_error);
    }
}

#[test]
fn resp_04_bytes_above_the_limit() {
    let output = Setting { content_bytes: Some(10), ..PLAIN }.response(200, Some("image/png"), vec![1; 11]);
    assert!(output.is_error);
    assert_eq!(
        texts(&output),
        [
            "The result is image/png of 11 bytes, above the limit of 10 bytes, and cannot be cut. Ask for a smaller one, \
          or raise limits.content in the server's configuration."
        ]
    );
}

#[test]
fn resp_05_upstream_errors() {
    let body = r#"{ "error":"bad date", "url":"/q?apikey=a%2Bb%2Fc%3D%3Dxyz", "hint":"a+b/c==xyz", "b":"YStiL2M9PXh5eg==" }"#;
    let output = PLAIN.response(422, JSON, body);
    assert!(output.is_error);
    assert_eq!(
        texts(&output),
        ["HTTP 422: Unprocessable Content\n\
          {\"error\":\"bad date\",\"url\":\"/q?apikey=<DEMO_KEY>\",\"hint\":\"<DEMO_KEY>\",\"b\":\"<DEMO_KEY>\"}"]
    );
    check_text(&PLAIN.response(200, JSON, r#"{"k":"a+b\/c==xyz"}"#), r#"{"k":"<DEMO_KEY>"}"#);
    check_text(&PLAIN.response(200, Some("text/plain"), "key a+b/c==xyz"), "key <DEMO_KEY>");
    check_text(&PLAIN.handler(r#""key a+b/c==xyz""#), "key <DEMO_KEY>");
    check_text(&PLAIN.handler(r#"{"k":["a+b/c==xyz"]}"#), r#"{"k":["<DEMO_KEY>"]}"#);
    let bytes = PLAIN.response(200, Some("application/octet-stream"), &b"\0a+b/c==xyz"[..]);
    assert!(
        matches!(&bytes.content[..], [Content::Resource { body: ResourceBody::Blob(data), .. }] if data == "\0<DEMO_KEY>")
    );
}

#[test]
fn resp_05_what_failures_show() {
    let long = "é ".repeat(5000);
    for (status, content_type, body, expected) in [
        (404, JSON, r#"{"a":1}"#, "HTTP 404: Not Found\n{\"a\":1}".to_owned()),
        (500, None, "", "HTTP 500: Internal Server Error, no body".to_owned()),
        (599, Some("text/plain"), "why", "HTTP 599\nwhy".to_owned()),
        (302, None, "", "HTTP 302: Found (a redirect that was not followed), no body".to_owned()),
        (502, Some("image/png"), "\u{1}", "HTTP 502: Bad Gateway, body: image/png of 1 byte".to_owned()),
        (
            503,
            Some("text/html"),
            "<html><head><title>Down</title><style>x{}</style></head>\n<p>Back   soon, a+b<b></b>/c==xyz a+b/c==&#39;</p>",
            "HTTP 503: Service Unavailable\nDown Back soon, a+b /c==xyz a+b/c=='".to_owned(),
        ),
        (400, Some("text/plain"), &long, format!("HTTP 400: Bad Request\n{}…", "é ".repeat(682) + "é")),
    ] {
        let output = PLAIN.response(status, content_type, body.to_owned());
        assert_eq!(texts(&output), [expected], "{status}");
        assert!(output.is_error && output.structured.is_none());
    }
}

#[test]
fn resp_08_too_much_is_cut_and_says_so() {
    let rows: Vec<_> = (0..20_000).map(|row| json!({ "row": row, "text": "é€😀 much text" })).collect();
    let body = serde_json::to_string(&rows).unwrap();
    let object = OutputSchema::new(&json!({ "type": "array" }));
    let output = Setting { schema: SchemaUse::Note(&object), ..PLAIN }.response(200, JSON, body.clone());
    let text = texts(&output)[0];
    assert!(text.len() <= 100 << 10 && text.len() > (100 << 10) - 8, "{}", text.len());
    let (shown, note) = text.rsplit_once('\n').unwrap();
    assert!(body.starts_with(shown));
    assert_eq!(
        note,
        format!(
            "[cut: {} of {} bytes shown. For the rest, ask for less at a time with narrower parameters, \
             or raise limits.content in the server's configuration]",
            shown.len(),
            body.len()
        )
    );
    assert_eq!(output.notes, [note]);
    assert!(output.structured.is_none() && !output.is_error);
    check_text(&Setting { content_bytes: Some(7), ..PLAIN }.response(200, JSON, "{\"a\":1}"), "{\"a\":1}");
}

#[test]
fn structured_content_of_a_published_schema() {
    let schema =
        OutputSchema::new(&json!({ "type": "object", "properties": { "price": { "type": "number" } } }));
    let published = Setting { schema: SchemaUse::Published(&schema), ..PLAIN };

    let output = published.response(200, JSON, r#"{ "price": 1.10, "key": "a+b/c==xyz" }"#);
    let expected = r#"{"price":1.10,"key":"<DEMO_KEY>"}"#;
    assert_eq!((texts(&output), output.structured.as_ref().unwrap().get()), (vec![expected], expected));

    let output = published.response(200, JSON, r#"{"price":1,"a":"\ud83d"}"#);
    assert_eq!(texts(&output), [r#"{"price":1,"a":"\ud83d"}"#]);
    assert_eq!(output.structured.unwrap().get(), r#"{"price":1,"a":"\ufffd"}"#);

    let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
    for (status, content_type, body, reason) in [
        (
            200,
            JSON,
            r#"{"price":"1"}"#,
            "The result does not match the output schema of this tool:\n$.price: expected number, found string",
        ),
        (
            200,
            JSON,
            "[1]",
            "The result does not match the output schema of this tool:\n$: expected object, found array",
        ),
        (
            200,
            Some("text/plain"),
            "words",
            "The request succeeded, but its result does not match the output schema of this tool: \
             expected object, found text.",
        ),
        (
            204,
            None,
            "",
            "The request succeeded, but its result does not match the output schema of this tool: \
             expected object, found nothing.",
        ),
        (200, JSON, &deep, "The result is nested deeper than 100 levels, so it has no structured form."),
    ] {
        let output = published.response(status, content_type, body.to_owned());
        assert_eq!(texts(&output)[0], reason);
        assert!(output.is_error && output.structured.is_none() && output.content.len() == 2);
    }

    let output = Setting { content_bytes: Some(2000), ..published }.response(
        200,
        JSON,
        format!("{{\"a\":\"{}\"}}", "x".repeat(3000)),
    );
    assert!(output.is_error && output.structured.is_none());
    assert!(
        texts(&output)[0].contains("above the limit of 2000 bytes") && texts(&output)[1].contains("[cut: ")
    );
    let failed = published.response(404, JSON, r#"{"price":1}"#);
    assert!(failed.is_error && failed.structured.is_none());
}

#[test]
fn a_mismatch_is_a_note_where_the_schema_is_not_published() {
    let object =
        OutputSchema::new(&json!({ "type": "object", "properties": { "price": { "type": "number" } } }));
    let text = OutputSchema::new(&json!({ "type": "string", "format": "base64" }));
    let noted = |schema, content_type, body: &str| {
        let output =
            Setting { schema: SchemaUse::Note(schema), ..PLAIN }.response(200, content_type, body.to_owned());
        assert!(!output.is_error && output.structured.is_none());
        output.notes
    };
    assert_eq!(
        noted(&object, JSON, r#"{"price":null}"#),
        ["output.schema: $.price: expected number, found null"]
    );
    assert_eq!(
        noted(&object, Some("text/plain"), "words"),
        ["output.schema: $: expected object, found text"]
    );
    assert_eq!(
        noted(&object, Some("image/png"), "png"),
        ["output.schema: $: expected object, found image/png"]
    );
    assert!(noted(&text, Some("image/png"), "png").is_empty());
    assert!(noted(&object, JSON, r#"{"price":1}"#).is_empty());
}

#[test]
fn results_of_handlers() {
    check_text(&PLAIN.handler(r#""plain \"text\"\n""#), "plain \"text\"\n");
    check_text(&PLAIN.handler(r#""half \ud83d""#), "half \u{fffd}");
    check_text(&PLAIN.handler(" [ 1.0 , true ] "), "[1.0,true]");
    check_text(&PLAIN.handler("false"), "false");
    check_text(&PLAIN.handler(r#""""#), "No data: the handler's result is an empty text");
    for base64 in ["iVBORwA=", "iVBORwA", "data:image/png;base64,iVBO\\nRwA="] {
        let output = PLAIN.handler(&format!(r#"{{"mimeType":"image/png","base64":"{base64}"}}"#));
        let image =
            Content::Image { data: Bytes::from_static(b"\x89PNG\0"), mime_type: "image/png".to_owned() };
        assert_eq!(output.content, [image], "{base64}");
    }
    let object = r#"{"base64":"AA==","mimeType":"image/png","name":"n"}"#;
    check_text(&PLAIN.handler(object), object);
    let output = PLAIN.handler(r#"{"base64":"%%%","mimeType":"image/png"}"#);
    assert!(output.is_error && texts(&output)[0].contains("base64 that cannot be decoded"));
    assert!(PLAIN.handler("{\"a\":NaN}").is_error);
}

/// A value of digits only can also be a number in JSON; without it the text is no JSON.
#[test]
fn a_redacted_number_leaves_text() {
    let redactor = Redactor::new([("PIN", &Secret::new("1234567890"))]);
    let limits = Limits::default();
    let context = OutputContext {
        redactor: &redactor,
        limits: &limits,
        declared_mime_type: None,
        uri: "flowmcp://demo/tool/get/result",
        schema: SchemaUse::None,
    };
    check_text(&from_handler_result(r#"{"a":1234567890}"#, &context), r#"{"a":<PIN>}"#);
    let output = from_response(&response(200, JSON, r#"{"a":1234567890}"#), &context);
    assert_eq!(texts(&output)[0], r#"{"a":<PIN>}"#);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(500))]

    /// Whatever an upstream sends, there is content within the limit, and no key in its text.
    #[test]
    fn any_response_gives_bounded_content_without_keys(
        status in 200u16..600,
        content_type in proptest::option::of(proptest::sample::select(&[
            "application/json", "application/json; charset=utf-16le", "text/html", "text/csv; charset=shift_jis",
            "image/png", "application/octet-stream", "application/x-unknown", "nonsense", "text/plain; charset=a+b/c==xyz",
            "application/a+b", "video/a+b/c==xyz",
        ])),
        body in proptest::prop_oneof![
            proptest::collection::vec(proptest::prelude::any::<u8>(), 0..60),
            proptest::sample::select(&[
                "{\"a\":[1,\"", "a+b/c==xyz", "\"]}", "<!doctype html><script>", "<p>a%2Bb%2Fc%3D%3Dxyz", "\u{feff}", "é",
                "\\ud83d", "\0",
            ]).prop_flat_map(|start| "[a+b/c=xyz{}\\[\\]\":,<>\\\\u0-9é]{0,60}".prop_map(move |rest| {
                format!("{start}{rest}{KEY} {start}").into_bytes()
            })),
        ],
        published in proptest::prelude::any::<bool>(),
    ) {
        let schema = OutputSchema::new(&json!({ "type": "object", "properties": { "a": { "type": "array", "items": {} } } }));
        let schema = if published { SchemaUse::Published(&schema) } else { SchemaUse::Note(&schema) };
        let setting = Setting { schema, content_bytes: Some(50), ..PLAIN };
        let output = setting.response(status, content_type, body.clone());
        assert!(!output.content.is_empty());
        assert!(output.is_error || (200..300).contains(&status));
        for content in &output.content {
            let bytes: &[u8] = match content {
                Content::Text(text) => {
                    assert!(!text.is_empty() && text.len() < 1000);
                    text.as_bytes()
                }
                Content::Image { data, .. } | Content::Resource { body: ResourceBody::Blob(data), .. } => data,
                other => panic!("{other:?}"),
            };
            assert!(!bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes()), "{output:?}");
        }
        assert!(!format!("{:?}", output.notes).contains(KEY));
        let _ = setting.handler(&String::from_utf8_lossy(&body));
    }
}
