//! Attacks on time, memory and whoever looks at a result. One server meets all attacks of a kind, one after the other.

use std::thread::available_parallelism;

use super::{
    KEPT, LIMITS, QUICK, Server, call, key, request,
    snippets::{MEMORY, SHAPES, Snippet, TIME},
    text,
};

/// How an error's text begins, for the names of `SandboxError`.
fn beginning(name: &str) -> &str {
    match name {
        "Time" => "reached the time limit of 600ms",
        "Memory" => "reached the memory limit of 50331648 bytes",
        "Stack" => "reached the stack limit of 524288 bytes",
        "NeverSettles" => "never settles: a promise is pending and nothing is left to run",
        "Output" => "returned more than the limit of 1048576 bytes",
        "NotJson" => "returned something that JSON cannot hold: ",
        "Thrown { message: \"threw null\"" => "threw null",
        // Any error that the engine made, with its place.
        "Thrown" => "",
        other => panic!("{other}"),
    }
}

fn check(snippets: &[Snippet]) {
    let tools: Vec<(String, &str)> = snippets.iter().map(|(name, body, _)| (key(name), *body)).collect();
    let mut server = Server::start(&tools, LIMITS);
    let before = server.memory();
    let id = server.process.id();
    // One computes while the other does, which takes two processors.
    let beside = available_parallelism().is_ok_and(|cores| cores.get() > 1);
    let mut wrong = Vec::new();
    for ((key, _), (name, _, expected)) in tools.iter().zip(snippets) {
        let (answer, is_last) = server.attack(&format!("hostile__{key}"));
        let text = text(&answer);
        let start = format!("! hostile__{key}: the handler postRequest failed: ");
        let reason = text.strip_prefix(&start);
        let is_expected = |reason: &str| expected.iter().any(|name| reason.starts_with(beginning(name)));
        if !reason.is_some_and(is_expected) {
            wrong.push(format!("{name}: {text:.300}"));
        }
        if beside && reason.is_some_and(|reason| reason.starts_with(beginning("Time"))) && !is_last {
            wrong.push(format!("{name}: the quick call had to wait for it"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    server.expect_memory(before + KEPT);
    assert_eq!(server.process.id(), id);
    let (code, ..) = server.process.end(super::SOON);
    assert_eq!(code, Some(0));
}

#[test]
fn code_that_does_not_come_back() {
    check(TIME);
}

#[test]
fn code_that_takes_memory_and_stack() {
    check(MEMORY);
}

#[test]
fn values_that_bite_whoever_looks() {
    check(SHAPES);
}

/// Case mcp-10: many calls in one write, one of which never comes back by itself, and then a ping.
#[test]
fn one_call_that_burns_holds_up_none_of_many() {
    let mut server = Server::start(&[("burn".to_owned(), "for( ;; ) {}")], LIMITS);
    let burn = server.id();
    let many: Vec<u64> = (0..18).map(|_| server.id()).collect();
    let ping = server.id();
    let mut lines = vec![call(burn, "hostile__burn")];
    lines.extend(many.iter().map(|id| call(*id, "quick__ok")));
    lines.push(request(ping, "ping"));
    server.process.send(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let answers: Vec<_> = lines.iter().map(|_| server.process.answer()).collect();
    let place = |id: u64| answers.iter().position(|answer| answer["id"] == id).unwrap();
    assert!(many.iter().all(|id| text(&answers[place(*id)]) == QUICK), "{answers:#?}");
    assert!(text(&answers[place(burn)]).ends_with("reached the time limit of 600ms"), "{answers:#?}");
    assert!(place(ping) < place(burn), "{answers:#?}");
    if available_parallelism().is_ok_and(|cores| cores.get() > 1) {
        assert_eq!(place(burn), answers.len() - 1, "{answers:#?}");
    }
}
