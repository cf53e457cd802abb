//! Ways out of the sandbox, and into other handlers: refused when the file is read where they can be seen, and without effect
//! where they cannot.

use super::{LIMITS, QUICK, Server, key, snippets::ESCAPES, text};

/// Those that are seen when a file is read, and the rule that refuses them.
const SEEN: [(&str, &str); 6] = [
    ("eval", "SEC003"),
    ("hidden eval", "SEC008"),
    ("constructor", "SEC004"),
    ("escaped timer", "SEC011"),
    ("import", "SEC001"),
    ("process", "SEC006"),
];

#[test]
fn every_spelling_of_eval_fails_when_it_is_read_or_when_it_runs() {
    let tools: Vec<(String, &str)> = ESCAPES.iter().map(|(name, body, _)| (key(name), *body)).collect();
    let mut server = Server::start(&tools, LIMITS);
    // The hostile pack has `fetch`, and with it timers; for this the grant is taken away.
    let listed = server.project.run(&[
        "--config",
        "config.toml",
        "--set",
        "packs=[]",
        "--pack",
        "pack",
        "list",
        "--all",
        "--json",
    ]);
    let listed = listed.code(0).json();
    for (name, code) in SEEN {
        let tool = format!("hostile__{}", key(name));
        let row =
            listed["tools"].as_array().unwrap().iter().find(|row| row["name"] == tool.as_str()).cloned();
        let hidden = row.unwrap_or_default()["hidden"].as_str().unwrap_or_default().to_owned();
        assert!(hidden.starts_with(&format!("refused: {code}: ")), "{name}: {hidden:?}");
    }
    let unseen = ESCAPES.iter().filter(|(name, ..)| !SEEN.iter().any(|(seen, _)| seen == name));
    assert!(unseen.clone().count() >= 5);
    let texts: Vec<String> =
        unseen.map(|(name, ..)| text(&server.attack(&format!("hostile__{}", key(name))).0)).collect();
    insta::assert_snapshot!(texts.join("\n"));
}

/// Case js-05: what one handler does to its globals no other sees, in the same schema or in another.
#[test]
fn changed_globals_are_gone_with_the_call() {
    let pollution = "Object.prototype.admin = true; Array.prototype.map = null; globalThisSeen()";
    let body = pollution.replace(
        "globalThisSeen()",
        "const before = [ typeof seen, typeof ( {} ).admin ]; Object.defineProperty( Object.prototype, 'seen', { value: 1 } ); return { response: before }",
    );
    let mut server = Server::start(&[("pollute".to_owned(), &body)], LIMITS);
    for _ in 0..3 {
        assert_eq!(text(&server.attack("hostile__pollute").0), r#"["undefined","boolean"]"#);
    }
    assert_eq!(server.quick(), QUICK);
}
