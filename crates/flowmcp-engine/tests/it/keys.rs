//! Server parameters: which tools they hide, where they may go, and that they show up nowhere. Semantics.md, sections
//! 3, 6 and 7, and the case `sec-01`.

use flowmcp_engine::{DEFAULT_VIEW, PackPolicy};
use flowmcp_plugin::{NetworkAccess, TransportError};
use serde_json::Map;

use crate::{
    schema_text::{SchemaText, demo, tool, user, valued},
    support::{Upstream, World, content_text, object, output},
};

/// A schema of one tool that sends `DEMO_KEY` to a root.
fn keyed(path: &'static str, namespace: &str, root: &'static str) -> SchemaText {
    SchemaText {
        path,
        namespace: namespace.to_owned(),
        root,
        server_params: &["DEMO_KEY"],
        headers: "{ 'X-Key': '{{DEMO_KEY}}' }",
        ..demo(tool("GET", "/x/{{id}}", &[user("id", "insert", "string()", &["optional()"])]))
    }
}

#[test]
fn a_tool_without_its_key_is_hidden_and_says_which() {
    let mut two = keyed("b.mjs", "two", "https://{{TENANT}}.example.test");
    two.server_params = &["DEMO_KEY", "OTHER"];
    two.tools[0].1 = tool("GET", "/x", &[valued("k", "{{SERVER_PARAM:THIRD}}", "query", "string()", &[])]);
    let schemas = [keyed("a.mjs", "demo", "https://api.example.test"), two, demo(tool("GET", "/x", &[]))];
    let hint = "set it in the env file, or in the environment with params.from_env";
    assert_eq!(
        World::default().load(&schemas).shown(),
        [
            &format!("demo__get hidden: needs DEMO_KEY: {hint}"),
            &format!("two__get hidden: needs DEMO_KEY, OTHER, TENANT, THIRD: {hint}"),
            "demo__Demo__get",
        ]
    );
    let world = World::with_keys(&[("DEMO_KEY", ""), ("OTHER", "x"), ("TENANT", "t"), ("THIRD", "3")]);
    let shown = world.load(&schemas).shown();
    assert_eq!(
        shown[0],
        format!("demo__get hidden: needs DEMO_KEY: {hint}"),
        "an empty value counts as none"
    );
    let snapshot = world.load(&schemas).snapshot();
    let visible: Vec<&str> = snapshot.tools(DEFAULT_VIEW).map(|tool| &*tool.name).collect();
    assert_eq!(visible, ["demo__Demo__get"]);
    assert!(snapshot.visible(DEFAULT_VIEW, "demo__get").is_none() && snapshot.tool("demo__get").is_some());
}

#[test]
fn a_hidden_tool_cannot_be_called() {
    let (upstream, engine) = World::default()
        .load(&[keyed("a.mjs", "demo", "https://api.example.test")])
        .serve(Upstream::default());
    let caller = flowmcp_engine::Caller::default();
    let error =
        crate::support::block_on(engine.call(DEFAULT_VIEW, "demo__get", Map::new(), &caller)).unwrap_err();
    assert_eq!(error.to_string(), "unknown tool \"demo__get\"");
    assert_eq!(upstream.take().len(), 0);
}

#[test]
fn a_key_belongs_to_the_first_domain() {
    let schemas = [
        keyed("a.mjs", "one", "https://api.example.com"),
        keyed("b.mjs", "two", "https://www.example.com:8443/v2"),
        keyed("c.mjs", "three", "https://example.com.evil.test"),
        keyed("d.mjs", "four", "https://[2001:db8::1]/x"),
    ];
    let mut world = World::with_keys(&[("DEMO_KEY", "s3cr3t-k3y")]);
    let elsewhere = |tool: &str, bound: &str, host: &str| {
        format!(
            "{tool}__get hidden: server parameter DEMO_KEY is bound to {bound} and is not sent to {host}; to allow it, \
             list both domains for DEMO_KEY in the configuration"
        )
    };
    assert_eq!(
        world.load(&schemas).shown(),
        [
            "one__get",
            "two__get",
            &elsewhere("three", "example.com", "evil.test"),
            &elsewhere("four", "example.com", "2001:db8::1"),
        ]
    );
    world.bind = vec![("DEMO_KEY", &["evil.test", "2001:db8::1"])];
    assert_eq!(
        world.load(&schemas).shown(),
        [
            &elsewhere("one", "evil.test, 2001:db8::1", "example.com"),
            &elsewhere("two", "evil.test, 2001:db8::1", "example.com"),
            "three__get",
            "four__get",
        ]
    );
}

/// The host of the request decides, not what the text of the root looks like.
#[test]
fn a_key_is_bound_to_the_host_that_is_reached() {
    let world = World::with_keys(&[("DEMO_KEY", "s3cr3t-k3y"), ("HOST_NAME", "evil.test/")]);
    let mut by_value = keyed("b.mjs", "two", "https://{{HOST_NAME}}.example.com");
    by_value.server_params = &["DEMO_KEY", "HOST_NAME"];
    let catalogue = world.load(&[keyed("a.mjs", "one", "https://api.example.com"), by_value]);
    assert_eq!(
        catalogue.shown(),
        [
            "one__get",
            "two__get hidden: server parameter DEMO_KEY is bound to example.com and is not sent to evil.test; to allow \
             it, list both domains for DEMO_KEY in the configuration"
        ]
    );
}

/// A schema that reaches nothing does not take a key away from those that do.
#[test]
fn a_tool_without_an_address_binds_no_key() {
    let mut local = keyed("a.mjs", "one", "local://");
    local.headers = "{}";
    let mut world = World::with_keys(&[("DEMO_KEY", "s3cr3t-k3y")]);
    world.options.allow_local = true;
    local.tools[0].1 = tool("GET", "/x", &[]);
    let catalogue = world.load(&[local, keyed("b.mjs", "two", "https://api.example.com")]);
    assert_eq!(catalogue.shown().last().map(String::as_str), Some("two__get"));
}

/// What a request carries is named to the transport, so that no redirect takes it to another origin.
#[test]
fn the_transport_is_told_which_values_a_request_carries() {
    let mut schema = keyed("a.mjs", "demo", "https://{{TENANT}}.example.test/{{ROOT_KEY}}");
    schema.server_params = &["DEMO_KEY", "UNUSED"];
    let world = World::with_keys(&[
        ("DEMO_KEY", "s3cr3t-k3y"),
        ("TENANT", "acme"),
        ("ROOT_KEY", "r00t"),
        ("UNUSED", "not sent"),
        ("FOREIGN", "not this schema's"),
    ]);
    let (upstream, engine) = world.load(&[schema]).serve(Upstream::default());
    let (_, requests) = output(&engine, &upstream, "demo__get", Map::new());
    let mut secrets: Vec<&str> = requests[0].secrets.iter().map(|secret| secret.expose()).collect();
    secrets.sort_unstable();
    assert_eq!(secrets, ["acme", "r00t", "s3cr3t-k3y"]);
    assert_eq!(requests[0].network, NetworkAccess::Public);
    assert_eq!(PackPolicy::new("x").network, NetworkAccess::Public);
}

#[test]
fn sec_01_a_transport_error_shows_no_value() {
    let schema = SchemaText {
        root: "https://127.0.0.1:1",
        server_params: &["DEMO_KEY"],
        ..demo(tool("GET", "/q", &[valued("apikey", "{{SERVER_PARAM:DEMO_KEY}}", "query", "string()", &[])]))
    };
    let upstream = Upstream::new(|request| {
        Err(TransportError::Connect {
            host: "127.0.0.1:1".to_owned(),
            reason: format!("refused for {}", request.url),
        })
    });
    let (upstream, engine) = World::with_keys(&[("DEMO_KEY", "SECRET123")]).load(&[schema]).serve(upstream);
    let (output, requests) = output(&engine, &upstream, "demo__get", Map::new());
    assert_eq!(requests.len(), 1);
    assert!(output.is_error);
    assert_eq!(
        content_text(&output),
        "127.0.0.1:1: could not connect: refused for https://127.0.0.1:1/q?apikey=<DEMO_KEY>"
    );
    assert!(!format!("{requests:?} {:?}", engine.redactor()).contains("SECRET123"));
}

/// Argument errors show what the caller typed, but no server value.
#[test]
fn errors_of_arguments_hold_no_value() {
    let (upstream, engine) = World::with_keys(&[("DEMO_KEY", "s3cr3t-k3y")])
        .load(&[keyed("a.mjs", "demo", "https://api.example.test")])
        .serve(Upstream::default());
    let (output, requests) = output(&engine, &upstream, "demo__get", object(r#"{"id":".."}"#));
    assert_eq!(requests.len(), 0);
    assert_eq!(
        content_text(&output),
        "Bad arguments for demo__get:\n- id: gives the path segment \"..\", which is not allowed"
    );
}
