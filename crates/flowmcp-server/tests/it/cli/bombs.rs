//! Files that are made to crash or to fill memory: one clear finding each, and quickly.

use std::time::{Duration, Instant};

use super::project::{Project, schema, tool};

/// The worst case takes two seconds without optimisation; the limit leaves room for a machine that runs all tests at once.
const QUICK: Duration = Duration::from_secs(60);

#[track_caller]
fn check(name: &str, text: &str, says: &str) {
    let good = schema("good", "Good", "", &tool("ok"));
    let project = Project::new().file("pack/bomb.mjs", text).file("pack/good.mjs", good);
    let start = Instant::now();
    let ran = project.run(&["validate", "pack/bomb.mjs", "--format", "json"]);
    assert_eq!(ran.code, Some(1), "{name}: {} {}", ran.stdout.get(..2000).unwrap_or(&ran.stdout), ran.stderr);
    let report = ran.json();
    let messages = report["files"][0]["messages"].as_array().unwrap();
    let messages: Vec<&str> = messages.iter().map(|message| message.as_str().unwrap()).collect();
    assert!(messages.iter().any(|message| message.contains(says)), "{name}: {messages:?}");
    assert!(messages.iter().all(|message| message.len() < 1000), "{name}: {messages:?}");
    // A limit is reported once more for each level that it stops: a screen, not a flood.
    assert!(messages.len() <= 64, "{name}: {messages:?}");
    let text = project.run(&["validate", "pack/bomb.mjs"]).code(1);
    assert!(text.stdout.len() < 32_000, "{name}: {} bytes", text.stdout.len());
    let listed = project.run(&["--pack", "pack", "list"]).code(0);
    assert_eq!(listed.stdout, "good__ok  Does ok\n", "{name}");
    assert_eq!(listed.stderr.lines().count(), 1, "{name}: {}", listed.stderr);
    assert!(start.elapsed() < QUICK, "{name}: {:?}", start.elapsed());
}

const NESTED: &str = "to be read safely";

fn main_with(value: &str) -> String {
    format!("export const main = {value}\n")
}

#[test]
fn nesting() {
    const DEEP: usize = 100_000;
    let template = "`${".repeat(DEEP / 10) + "1" + &"}`".repeat(DEEP / 10);
    for (name, text) in [
        ("arrays", "[".repeat(DEEP)),
        ("closed arrays", "[".repeat(DEEP) + &"]".repeat(DEEP)),
        ("objects", "{a:".repeat(DEEP)),
        ("parentheses", "(".repeat(DEEP)),
        ("negations", "!".repeat(DEEP) + "1"),
        ("signs", "- ".repeat(DEEP) + "1"),
        ("functions", "a=>".repeat(DEEP) + "1"),
        ("sum", "1".to_owned() + &"+1".repeat(DEEP)),
        ("conditions", "1?".repeat(DEEP) + "1" + &":1".repeat(DEEP)),
        ("members", "a".to_owned() + &".a".repeat(DEEP)),
        ("calls", "a".to_owned() + &"()".repeat(DEEP)),
        ("powers", "1".to_owned() + &"**1".repeat(DEEP)),
        ("news", "new ".repeat(DEEP) + "a"),
        ("templates", template),
    ] {
        check(name, &main_with(&text), NESTED);
    }
    check("blocks", &("{".repeat(DEEP) + &"}".repeat(DEEP)), NESTED);
    check("ifs", &("if(1)".repeat(DEEP) + ";"), NESTED);
    check("else-ifs", &("if(1);else ".repeat(DEEP) + ";"), NESTED);
    check("comments in front", &("/*".repeat(DEEP) + "*/" + &main_with(&"[".repeat(200))), NESTED);
}

/// A schema whose description is an expression.
fn described(expression: &str) -> String {
    schema("bomb", "Bomb", "", &tool("ok")).replace("'Made up'", expression)
}

#[test]
fn growth() {
    let chain = |start: &str, next: &dyn Fn(usize) -> String| {
        let levels = (1..=40).map(|level| format!("const b{level} = {}\n", next(level - 1)));
        format!("const b0 = {start}\n{}{}", levels.collect::<String>(), described("b40"))
    };
    let values = "more than 2000000 values";
    let joined = "joins strings to more than";
    check("doubling", &chain("['x', 'x']", &|b| format!("[b{b}, b{b}]")), values);
    check("spreading", &chain("['x', 'x']", &|b| format!("[...b{b}, ...b{b}]")), values);
    check("adding", &chain("'xxxxxxxx'", &|b| format!("b{b} + b{b}")), joined);
    check("filling", &chain("'xxxxxxxx'", &|b| format!("`${{b{b}}}${{b{b}}}`")), joined);
    let plus = vec!["t"; 20].join(" + ");
    check("20 MB of text", &format!("const t = '{}'\n{}", "x".repeat(1 << 20), described(&plus)), joined);
    check("itself", &("const a = [a]\n".to_owned() + &described("a")), "refers to `a` inside its own value");
    let both = "const a = [b], b = [a]\n".to_owned() + &described("a");
    check("each other", &both, "refers to `a` inside its own value");
}
