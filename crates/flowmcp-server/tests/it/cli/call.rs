//! `call`: results of every kind, what is refused, and requests that are only shown.

use serde_json::json;

use super::{
    project::{Project, keyed, schema, tool, with_parameters},
    upstream::{PNG, Upstream},
};

const SECRET: &str = "k3y+of/the=environment";

fn tools() -> String {
    let query = "{ position: { key: 'q', value: '{{USER_PARAM}}', location: 'query' }, \
                 z: { primitive: 'number()', options: ['min(1)'] } }";
    let body = "{ position: { key: 'name', value: '{{USER_PARAM}}', location: 'body' }, \
                z: { primitive: 'string()', options: [] } }";
    let names = ["exact", "text", "image", "broken", "empty", "ok"];
    let plain: String = names.map(tool).concat();
    let keys = keyed("missing", "FROM_ENVIRONMENT") + &keyed("echo", "FROM_FILE");
    plain
        + &keys
        + &with_parameters("search", "GET", "/search", query)
        + &with_parameters("create", "POST", "/create", body)
        + &tool("computed")
        + &tool("prepared")
}

const HANDLERS: &str = "export const handlers = () => ({\n    \
    computed: { executeRequest: async ({ struct }) => ({ struct }) },\n    \
    prepared: { preRequest: async ({ struct, payload }) => ({ struct, payload }) }\n})\n";

/// Two schemas of one provider: the second needs a key that is nowhere.
fn pack(project: Project) -> Project {
    let fields = "requiredServerParams: ['FROM_ENVIRONMENT', 'FROM_FILE'],";
    let absent = schema("made", "Absent", "requiredServerParams: ['NOWHERE'],", &keyed("absent", "NOWHERE"));
    project
        .file("pack/Made.mjs", schema("made", "Made", fields, &tools()) + HANDLERS)
        .file("pack/Absent.mjs", absent)
}

fn project(upstream: &Upstream) -> Project {
    pack(upstream.project(""))
        .file(".env", "FROM_FILE=key-of-the-file\nFROM_ENVIRONMENT=loses\n")
        .variable("FROM_ENVIRONMENT", SECRET)
}

#[test]
fn results_of_every_kind() {
    let upstream = Upstream::start();
    let project = project(&upstream);
    let mut page = String::new();
    for (name, arguments) in [
        ("made__exact", "{}"),
        ("made__text", "{}"),
        ("made__image", "{}"),
        ("made__broken", "{}"),
        ("made__empty", "{}"),
        ("made__missing", "{}"),
        ("made__echo", "{}"),
        ("made__search", r#"{"q":"12"}"#),
        ("made__search", r#"{"q":0}"#),
        ("made__search", "{}"),
        ("made__absent", "{}"),
        ("made__computed", "{}"),
        ("made__exakt", "{}"),
        ("nothing", "{}"),
        ("made__ok", "[]"),
        ("made__ok", "{"),
    ] {
        for more in [&[][..], &["--json"]] {
            let ran = project.run(&[&["call", name, arguments], more].concat());
            page.push_str(&format!("$ call {name} {arguments} {}\n{}\n", more.concat(), ran.whole()));
        }
    }
    insta::assert_snapshot!(page);
}

/// The sentence of issue 2: `call` reaches a local https upstream through `http.resolve` and `ca_file`.
#[test]
fn a_local_https_upstream_is_reached_and_keys_arrive() {
    let upstream = Upstream::start();
    let project = project(&upstream);
    project.run(&["call", "made__exact"]).code(0);
    project.run(&["call", "made__missing"]).code(1);
    project.run(&["call", "made__echo"]).code(0);
    let expected = [
        "GET /exact",
        "GET /missing?apikey=k3y%2Bof%2Fthe%3Denvironment",
        "GET /echo?apikey=key-of-the-file",
    ];
    assert_eq!(upstream.seen(), expected);
}

#[test]
fn an_image_keeps_its_bytes() {
    let upstream = Upstream::start();
    let ran = project(&upstream).run(&["call", "made__image", "--json"]).code(0);
    use base64::Engine as _;
    let data = base64::prelude::BASE64_STANDARD.encode(PNG);
    assert_eq!(ran.json()["data"], json!({ "base64": data, "mimeType": "image/png" }));
}

#[test]
fn arguments_come_from_stdin() {
    let upstream = Upstream::start();
    let project = project(&upstream);
    project.run_with_input(&["call", "made__search", "-"], "{ \"q\": 7 }\n").code(0);
    assert_eq!(upstream.seen(), ["GET /search?q=7"]);
    let long = format!("{{\"q\":\"{}\"}}", "x".repeat(5 << 20));
    let ran = project.run_with_input(&["call", "made__search", "-"], &long).code(2);
    assert_eq!(ran.stderr, "error: the arguments on stdin have more than 4194304 bytes\n");
    assert!(upstream.seen().is_empty());
}

#[test]
fn every_form_of_a_name_finds_the_tool() {
    let upstream = Upstream::start();
    let project = project(&upstream);
    for name in ["made__ok", "made/ok", "made/tool/ok", "made/Made::ok", "ok_made"] {
        let ran = project.run(&["call", name, "--dry-run", "--json"]).code(0);
        assert_eq!(ran.json()["tool"], "made__ok", "{name}");
    }
    for name in ["made/", "made/Other::ok", "made/tool/", "other/ok", "ok_other", "", "/"] {
        project.run(&["call", name, "--dry-run"]).code(2);
    }
}

#[test]
fn requests_are_shown_without_keys_or_network() {
    // No env file, no variable, no configuration: nothing of it is needed.
    let project = pack(Project::new());
    let mut page = String::new();
    for (name, arguments) in [
        ("made__ok", "{}"),
        ("made__search", r#"{"q":2.50}"#),
        ("made__search", r#"{"q":"two"}"#),
        ("made__absent", "{}"),
        ("made__create", r#"{"name":"a \"b\" €"}"#),
        ("made__computed", "{}"),
        ("made__prepared", "{}"),
    ] {
        for more in [&[][..], &["--json"]] {
            let ran =
                project.run(&[&["--pack", "pack", "call", name, arguments, "--dry-run"], more].concat());
            page.push_str(&format!(
                "$ call {name} {arguments} --dry-run {}\n{}\n",
                more.concat(),
                ran.whole()
            ));
        }
    }
    insta::assert_snapshot!(page);
}

#[test]
fn a_refused_tool_says_why_under_every_form_of_its_name() {
    let good = tool("ok");
    let bad = with_parameters("bad", "FETCH", "/bad", "");
    let project = Project::new().file("Made.mjs", schema("made", "Made", "", &(good + &bad)));
    for name in ["made__bad", "made/bad", "made/tool/bad", "made/Made::bad", "bad_made"] {
        let ran = project.run(&["--pack", "Made.mjs", "call", name]).code(1);
        assert!(ran.stderr.contains(&format!("error: {name} is refused: VAL")), "{}", ran.whole());
    }
}

/// `--allow-local` is what plain http and loopback addresses need.
#[test]
fn a_local_api_is_called_only_when_that_is_allowed() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let root = format!("http://{}", listener.local_addr().unwrap());
    let made = schema("made", "Made", "", &tool("ok")).replace("https://api.example.test", &root);
    let project = Project::new().file("Made.mjs", made);
    let refused = project.run(&["--pack", "Made.mjs", "call", "made__ok"]).code(1);
    assert!(refused.stderr.contains("VAL0") && refused.stdout.is_empty(), "{}", refused.whole());

    let api = std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").unwrap();
    });
    let ran = project.run(&["--pack", "Made.mjs", "--allow-local", "call", "made__ok"]).code(0);
    assert_eq!(ran.stdout, "hello\n");
    api.join().unwrap();
}

/// An https root does not reach a private address either, whatever name it hides behind.
#[test]
fn a_private_address_is_refused() {
    let made = |root: &str| schema("made", "Made", "", &tool("ok")).replace("https://api.example.test", root);
    for root in [
        "https://127.0.0.1:1",
        "https://[::1]:1",
        "https://10.0.0.1",
        "https://169.254.169.254",
        "https://localhost:1",
    ] {
        let project = Project::new().file("Made.mjs", made(root));
        let ran = project.run(&["--pack", "Made.mjs", "call", "made__ok"]);
        assert_ne!(ran.code, Some(0), "{}", ran.whole());
        assert!(ran.stdout.is_empty() && !ran.stderr.contains("refused the connection"), "{}", ran.whole());
        assert!(ran.stderr.contains("private") || ran.stderr.contains("loopback"), "{root}: {}", ran.whole());
    }
}
