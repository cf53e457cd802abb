//! The pages of the rules that the engine reports: their examples do what they say, with the list they speak of.

use flowmcp_spec::{SourceFile, lower_list, read};
use flowmcp_validate::{Options, RULES, Rule, Stage, validate};

use crate::schema_text::list;

/// Every fenced block as its info string and body.
fn examples(page: &'static str) -> Vec<(&'static str, String)> {
    let mut examples = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```js ") else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        examples.push((info, body.join("\n")));
    }
    examples
}

fn schema(info: &str, body: &str) -> String {
    let tool = |parameters: &str| {
        format!(
            "tools: {{ ping: {{ method: 'GET', path: '/ping', description: 'Ping', parameters: [{parameters}\n] }} }}"
        )
    };
    let fields = match info.split_whitespace().nth(1) {
        Some("parameter") => tool(body),
        Some("main") => format!("{},\n{body}", tool("")),
        other => panic!("unknown frame {other:?}"),
    };
    format!(
        "export const main = {{ namespace: 'demo', name: 'Demo', description: 'An example', version: '3.0.0',
        root: 'https://api.example.com', {fields}\n}}"
    )
}

fn found(rule: &Rule, info: &str, body: &str) -> bool {
    let mut lists = flowmcp_engine::Lists::default();
    let text = list("countries", "version: '1.0.0'", "[{ alpha2: 'DE' }]");
    let document = read(&SourceFile::new("countries.mjs", &text)).document.expect("a list");
    lists.add(lower_list(&document).expect("a list")).expect("the only one");
    let file = SourceFile::new("example.mjs", &schema(info, body));
    let mut schema = validate(&file, read(&file), &Options::default()).value.expect("a schema");
    lists.resolve(&mut schema).iter().any(|finding| finding.code == rule.code)
}

#[test]
fn examples_trigger_their_rule_or_not() {
    let rules: Vec<&Rule> = RULES.iter().filter(|rule| rule.emitted_by() == Stage::Activation).collect();
    assert_eq!(rules.len(), 3);
    for rule in rules {
        let examples = examples(rule.page);
        assert!(examples.iter().any(|(info, _)| info.starts_with("wrong")), "{}", rule.code);
        assert!(examples.iter().any(|(info, _)| info.starts_with("right")), "{}", rule.code);
        for (info, body) in examples {
            assert_eq!(found(rule, info, &body), info.starts_with("wrong"), "{}: {body}", rule.code);
        }
    }
}
