//! Which roots are served: the parts of the case `sec-03` that are decided before any request.

use crate::{
    schema_text::{SchemaText, demo, tool, user},
    support::World,
};

fn rooted(root: &'static str) -> SchemaText {
    SchemaText { root, ..demo(tool("GET", "/x/{{id}}", &[user("id", "insert", "string()", &[])])) }
}

#[test]
fn sec_03_bad_roots_are_not_served() {
    for (root, code) in [
        ("http://api.example.test", "VAL027"),
        ("ftp://api.example.test", "VAL027"),
        ("api.example.test", "VAL027"),
        ("https://", "VAL029"),
        ("https://user:pass@api.example.test", "VAL029"),
        ("https://user@api.example.test", "VAL029"),
        ("https://api.example.test#top", "VAL029"),
        ("https://evil.test\\.example.test", "VAL029"),
        ("https://exam\tple.test", "VAL029"),
        ("https://exam ple.test", "VAL029"),
        ("https://api.example.test:99999", "VAL029"),
        ("", "VAL015"),
    ] {
        let catalogue = World::default().load(&[rooted(root)]);
        assert_eq!(catalogue.shown(), [""; 0], "{root}");
        let errors = catalogue.errors();
        assert!(errors.iter().any(|error| error.starts_with(code)), "{root}: {errors:?}");
    }
}

/// URL parsers read it as the host `evil.test`.
#[test]
fn a_root_without_a_host_reaches_nothing() {
    let shown = World::default().load(&[rooted("https:///evil.test")]).shown();
    assert_eq!(shown, ["demo__get hidden: the schema's root is no web address"]);
}

#[test]
fn a_trailing_slash_is_an_error_that_blocks_nothing() {
    let world = World::default();
    let schema = rooted("https://api.example.test/v1//");
    let errors = world.load(std::slice::from_ref(&schema)).errors();
    assert!(errors.len() == 1 && errors[0].starts_with("VAL028"), "{errors:?}");
    let (upstream, engine) = world.load(&[schema]).serve(crate::support::Upstream::default());
    assert_eq!(
        crate::support::call(&engine, &upstream, "demo__get", crate::support::object(r#"{"id":"a"}"#)),
        "GET https://api.example.test/v1/x/a"
    );
}

/// The transport refuses addresses after looking names up; that a pack may reach them is written on each request.
#[test]
fn sec_03_a_link_local_root_is_left_to_the_transport() {
    let (upstream, engine) = World::default()
        .load(&[rooted("https://169.254.169.254")])
        .serve(crate::support::Upstream::default());
    let (_, requests) =
        crate::support::output(&engine, &upstream, "demo__get", crate::support::object(r#"{"id":"a"}"#));
    assert_eq!(requests[0].network, flowmcp_plugin::NetworkAccess::Public);
}

#[test]
fn tools_with_handlers_wait_for_a_sandbox() {
    let mut schema = rooted("https://api.example.test");
    schema.tools.push(("plain".to_owned(), tool("GET", "/y", &[])));
    schema.handlers =
        "export const handlers = () => ({ get: { postRequest: async ({ response }) => ({ response }) } })";
    assert_eq!(
        World::default().load(&[schema]).shown(),
        ["demo__get hidden: needs the handler sandbox", "demo__plain"]
    );
}
