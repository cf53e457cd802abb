//! sec-01: a key that failed to reach its upstream is in no byte of what the process says.

use super::{
    project::{Project, keyed, schema, with_parameters},
    upstream::Upstream,
};

/// Nothing listens on this port.
const NOBODY: &str = "127.0.0.1:1";
const SECRET: &str = "SECRET12-3456+78/9";
/// What a search for the key would find of it: the text, as in a URL, in base64.
const FORMS: [&str; 3] = ["SECRET12", "3456%2B78", "U0VDUkVUMTI"];

fn in_path() -> String {
    let parameter = "{ position: { key: 'key', value: '{{SERVER_PARAM:DEMO_KEY}}', location: 'insert' }, \
                     z: { primitive: 'string()', options: [] } }";
    with_parameters("path", "GET", "/slow/:key", parameter)
}

fn in_header() -> String {
    with_parameters("header", "GET", "/broken", "")
}

fn keys(project: Project) -> Project {
    let tools = ["slow", "broken", "missing", "loop", "echo"].map(|name| keyed(name, "DEMO_KEY")).concat();
    let fields = "requiredServerParams: ['DEMO_KEY'], headers: { Authorization: 'Bearer {{DEMO_KEY}}' },";
    project
        .file("pack/Made.mjs", schema("made", "Made", fields, &(tools + &in_path() + &in_header())))
        .file(".env", format!("DEMO_KEY={SECRET}\n"))
}

#[track_caller]
fn check(project: &Project, tool: &str, more: &[&str], says: &str) {
    for level in ["text", "json"] {
        let format = format!("log.format={level}");
        let arguments = [&["--set", "log.level=trace", "--set", &format, "call", tool], more].concat();
        let ran = project.run(&arguments);
        let whole = ran.whole();
        for form in FORMS {
            assert!(!whole.contains(form), "{whole}");
        }
        assert!(whole.contains(says), "{says} is not in {whole}");
    }
}

#[test]
fn whatever_fails_the_key_is_not_shown() {
    let upstream = Upstream::start();
    let project = keys(upstream.project(""));
    let soon = ["--set", "limits.call_deadline=1s"];
    check(&project, "made__slow", &soon, "api.example.test");
    check(&project, "made__path", &soon, "api.example.test");
    check(&project, "made__broken", &[], "apikey=");
    check(&project, "made__missing", &[], "HTTP 404");
    check(&project, "made__loop", &[], "redirect");
    check(&project, "made__echo", &[], "apikey=");
    check(&project, "made__echo", &["--json"], "apikey=");
    check(&project, "made__header", &[], "asked");
    assert!(upstream.seen().iter().any(|line| line == "GET /slow?apikey=SECRET12-3456%2B78%2F9"));

    // A certificate that nobody vouches for.
    let project = project.file("ca.pem", Upstream::start().ca_pem);
    check(&project, "made__slow", &[], "api.example.test");
    check(&project, "made__path", &["--json"], "certificate");
}

#[test]
fn a_port_that_refuses_does_not_show_the_key() {
    let address = NOBODY;
    let resolve = format!("[http]\nretries = 1\nresolve = {{ \"api.example.test\" = \"{address}\" }}\n");
    let config = format!("{resolve}[params]\nenv_file = \".env\"\n[[packs]]\npath = \"pack\"\n");
    let project = keys(Project::new().file("config.toml", config));
    check(&project, "made__slow", &[], "api.example.test");
    check(&project, "made__path", &["--json"], "api.example.test");
}

/// A proxy's password is a secret of the configuration.
#[test]
fn a_proxy_that_refuses_does_not_show_its_password() {
    let address = NOBODY;
    let config = format!(
        "[http]\nretries = 1\nproxy = \"http://user:{SECRET}@{address}\"\n[params]\nenv_file = \".env\"\n\
         [[packs]]\npath = \"pack\"\n"
    )
    .replace("SECRET12-3456+78/9", "SECRET12-3456%2B78");
    let project = keys(Project::new().file("config.toml", config));
    check(&project, "made__slow", &[], "could not connect");
    let shown = project.run(&["config", "show"]).code(0);
    assert!(!shown.whole().contains("SECRET12"), "{}", shown.whole());
}
