//! `hash`: the integrity hash of schemas.

use super::project::{Project, repository, schema, tool};

const PING: &str = "sha256:0a252ea5a313ba7fec9bb6b20c3f2ba563df24d95b9f714009015123c14e9885";

#[test]
fn the_fixed_point_is_kept() {
    let ping = repository().join("schemas/seeds/coingecko/ping.mjs");
    let ping = ping.to_str().unwrap();
    let ran = Project::new().run(&["hash", ping]).code(0);
    assert_eq!(ran.stdout, format!("{PING}  {ping}\n"));
    assert_eq!(ran.stderr, "");
}

#[test]
fn what_cannot_be_hashed_is_named_and_the_others_are_hashed() {
    let ping = std::fs::read(repository().join("schemas/seeds/coingecko/ping.mjs")).unwrap();
    let computed = schema("made", "Made", "", &tool("ok")).replace("'3.0.0'", "Date.now()");
    let project = Project::new().file("a.mjs", computed).file("b.mjs", ping).file("c.mjs", b"\xff");
    let ran = project.run(&["hash", "a.mjs", "b.mjs", "c.mjs"]).code(1);
    insta::assert_snapshot!(ran.whole());
}

#[test]
fn the_tools_of_a_schema_are_hashed_on_request() {
    let ping = repository().join("schemas/seeds/coingecko/ping.mjs");
    let ran = Project::new().run(&["hash", "--tools", ping.to_str().unwrap()]).code(0);
    let tool = ran.stdout.lines().nth(1).unwrap().to_owned();
    // By Node: sha256 over JSON.stringify({ namespace, version, tool: { name, method, path, parameters, output },
    // sharedListRefs }) of the same file.
    assert_eq!(
        tool,
        "sha256:896170e09654517b26d93bbdf06fc48f3aaa46c80341ed5bf66d12a48c7c5b6e  coingecko/tool/ping"
    );
}
