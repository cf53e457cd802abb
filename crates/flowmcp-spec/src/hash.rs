//! Integrity hashes: of a schema's data (semantics.md, section 1), of one tool and of an agent (specification, chapter 06).

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::{
    Entry, Node, Schema, Span, Value,
    schema::{ListReference, Tool},
};

/// `sha256:` and 64 hex digits: SHA-256 over what `JSON.stringify(main)` gives.
///
/// ```
/// let file = flowmcp_spec::SourceFile::new("ping.mjs", "export const main = { b: 1.0, a: 'x' }");
/// let document = flowmcp_spec::read(&file).document.expect("it is literal");
/// // The same as: node -e "crypto.createHash('sha256').update(JSON.stringify({b:1,a:'x'})).digest('hex')"
/// assert_eq!(flowmcp_spec::hash(&document.root), "sha256:7239560c8c8c6a78e1ff0b99426cca61beee0b524406431517c23f180e34b48d");
/// ```
pub fn hash(node: &Node) -> String {
    sha256(node.to_json().as_bytes())
}

/// The same form of hash over any bytes, for handler sources and lists.
pub fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().fold(String::from("sha256:"), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The hash of one tool's interface: namespace, version, name, method, path, parameters, output and the declared lists
/// that its parameters name. Its code does not count. `None` when `main` has no such tool.
///
/// The tool has to be as it was lowered, with its lists not yet resolved to values.
pub fn tool_hash(main: &Node, schema: &Schema, tool: &Tool) -> Option<String> {
    let declared = main.get("tools").or_else(|| main.get("routes"))?.get(&tool.name)?;
    let mut fields = vec![entry("name", text(&tool.name))];
    for key in ["method", "path", "parameters", "output"] {
        fields.extend(declared.get(key).map(|value| entry(key, value.clone())));
    }
    let lists =
        schema.lists.iter().filter(|list| tool.takes_values_from(&list.name)).map(reference).collect();
    let input = object(vec![
        entry("namespace", text(&schema.namespace)),
        entry("version", text(&schema.version)),
        entry("tool", object(fields)),
        entry("sharedListRefs", array(lists)),
    ]);
    Some(hash(&input))
}

/// The hash of an agent: over the IDs of its tools, sorted as JavaScript sorts text, each with the tool's own hash.
pub fn agent_hash(tools: &[(&str, &str)]) -> String {
    let mut sorted = tools.to_vec();
    sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    let rows = sorted
        .into_iter()
        .map(|(id, hash)| object(vec![entry("id", text(id)), entry("hash", text(hash))]))
        .collect();
    hash(&array(rows))
}

fn reference(list: &ListReference) -> Node {
    let mut fields = vec![entry("ref", text(&list.name))];
    fields.extend(list.version.as_deref().map(|version| entry("version", text(version))));
    object(fields)
}

fn entry(key: &str, node: Node) -> Entry {
    Entry { key: key.into(), key_span: Span::default(), node }
}

fn text(text: &str) -> Node {
    Node { value: Value::String(text.into()), span: Span::default() }
}

fn array(items: Vec<Node>) -> Node {
    Node { value: Value::Array(items), span: Span::default() }
}

fn object(entries: Vec<Entry>) -> Node {
    Node { value: Value::Object(entries), span: Span::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SourceFile, lower, read};

    const TOOL: &str = "{ method: 'GET', path: '/a', parameters: [{ position: { key: 'chain', value: '{{USER_PARAM}}', \
         location: 'query' }, z: { primitive: 'enum({{chains:alias}})', options: [] } }], description: 'D' }";

    fn hash_of(main: &str) -> String {
        let file = SourceFile::new("a.mjs", &format!("export const main = {main}"));
        let document = read(&file).document.unwrap();
        let schema = lower(&file, &document).schema.unwrap();
        tool_hash(&document.root, &schema, &schema.tools[0]).unwrap()
    }

    fn main(version: &str, lists: &str, tool: &str, rest: &str) -> String {
        format!(
            "{{ namespace: 'ns', name: 'N', version: '{version}', root: 'https://a.example', \
             sharedLists: {lists}, tools: {{ t: {tool} }}, {rest} }}"
        )
    }

    #[test]
    fn a_tool_hash_is_over_what_the_chapter_names() {
        // The same as sha256 over JSON.stringify of the object that chapter 06 shows, by Node's crypto.
        let input = r#"{"namespace":"ns","version":"3.0.0","tool":{"name":"t","method":"GET","path":"/a","parameters":[{"position":{"key":"chain","value":"{{USER_PARAM}}","location":"query"},"z":{"primitive":"enum({{chains:alias}})","options":[]}}]},"sharedListRefs":[{"ref":"chains","version":"1.0.0"}]}"#;
        let lists = "[{ ref: 'chains', version: '1.0.0' }, { ref: 'other', version: '1.0.0' }]";
        assert_eq!(hash_of(&main("3.0.0", lists, TOOL, "")), sha256(input.as_bytes()));
    }

    #[test]
    fn a_tool_hash_changes_with_its_interface_only() {
        let lists = "[{ ref: 'chains', version: '1.0.0' }]";
        let known = hash_of(&main("3.0.0", lists, TOOL, ""));
        for (other, same) in [
            (main("3.0.0", lists, TOOL, "description: 'x'"), true),
            (main("3.0.0", lists, &TOOL.replace("'D'", "'E'"), ""), true),
            (main("3.0.1", lists, TOOL, ""), false),
            (main("3.0.0", &lists.replace("1.0.0", "1.1.0"), TOOL, ""), false),
            (main("3.0.0", lists, &TOOL.replace("'/a'", "'/b'"), ""), false),
            (main("3.0.0", lists, &TOOL.replace("GET", "PUT"), ""), false),
        ] {
            assert_eq!(hash_of(&other) == known, same, "{other}");
        }
    }

    #[test]
    fn an_agent_hash_does_not_depend_on_the_order_of_tools() {
        let input = r#"[{"id":"a/tool/x","hash":"sha256:1"},{"id":"b/tool/y","hash":"sha256:2"}]"#;
        let expected = sha256(input.as_bytes());
        assert_eq!(agent_hash(&[("b/tool/y", "sha256:2"), ("a/tool/x", "sha256:1")]), expected);
        assert_eq!(agent_hash(&[("a/tool/x", "sha256:1"), ("b/tool/y", "sha256:2")]), expected);
    }
}
