//! `docs/rules.md` says what the rules say.

#[expect(dead_code, reason = "the example's main is not called here")]
#[path = "../../examples/rules_index.rs"]
mod rules_index;

use std::path::Path;

#[test]
fn the_index_of_the_rules_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let current = rules_index::index();
    let line = page.lines().zip(current.lines()).position(|(old, new)| old != new);
    assert!(
        page == current,
        "docs/rules.md differs from line {:?} on; run `cargo xtask docs`",
        line.map(|line| line + 1)
    );
}
