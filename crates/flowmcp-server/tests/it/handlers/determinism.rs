//! The same call gives the same request, whatever its arguments are and whatever the handler keeps for itself.

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde_json::json;

use super::world::{Setting, World, block_on};

fn runner() -> TestRunner {
    TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() })
}

/// The request of a call, which is made twice: with other workers, tokens and contexts each time.
fn request_of(world: &World, name: &str, arguments: &str) -> Result<String, TestCaseError> {
    block_on(async {
        world.call(name, arguments).await;
        world.call(name, arguments).await;
    });
    let sent = world.sent();
    let [first, second] = sent.as_slice() else {
        return Err(TestCaseError::fail(format!("{} requests were sent", sent.len())));
    };
    prop_assert_eq!(first, second);
    Ok(first.clone())
}

#[test]
fn a_request_depends_on_the_arguments_alone() {
    let handlers = "( () => { let calls = 0; return { tool: { preRequest: ( { struct, payload } ) => { \
                    calls++; globalThis.calls = ( globalThis.calls ?? 0 ) + 1; \
                    Object.prototype.seen = ( ( {} ).seen ?? 0 ) + 1; \
                    struct.url += `&n=${ calls }${ globalThis.calls }${ ( {} ).seen }`; \
                    struct.headers = { A: encodeURIComponent( payload.q ), B: btoa( 'u:' + payload.serverParams.DEMO_KEY ) }; \
                    payload.q = 'changed'; return { struct, payload } } } } } )()";
    let world = Setting { handlers, ..Setting::default() }.world();
    runner()
        .run(&any::<String>(), |q| {
            let sent = request_of(&world, "demo__tool", &json!({ "q": q }).to_string())?;
            prop_assert!(sent.contains("&n=111\nA: "), "{}", sent);
            prop_assert!(sent.ends_with("\nB: dTpzMyBjci90IitrZXk="), "{}", sent);
            Ok(())
        })
        .unwrap();
}

/// The example that makes a range of days out of a month.
#[test]
fn the_days_of_any_month() {
    let path = "/../../schemas/handlers/providers/wikimedia/ArticleViews.mjs";
    let text = std::fs::read_to_string(format!("{}{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let world = Setting { keys: &[], ..Setting::default() }.serve(&[text]);
    runner()
        .run(&(2000..=2099_u32, 1..=12_u32), |(year, month)| {
            let arguments = json!({ "article": "A", "month": format!("{year}-{month:02}") }).to_string();
            let sent = request_of(&world, "wikimedia__getMonthlyViews", &arguments)?;
            let days = match month {
                // The only century in the range, 2000, is a leap year.
                2 if year % 4 == 0 => 29,
                2 => 28,
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            let range =
                format!("/A/daily/{year}{month:02}01/{year}{month:02}{days}\nAccept: application/json");
            prop_assert!(sent.ends_with(&range), "{}", sent);
            Ok(())
        })
        .unwrap();
}
