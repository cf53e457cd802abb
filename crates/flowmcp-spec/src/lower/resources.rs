//! `main.resources`: both forms of a database and the Markdown form become one model.
//!
//! As with tools, a resource or query whose shape is wrong is left out without a word, since the rules report shapes.

use super::{UNMATCHED_PLACEHOLDER, inputs::Parameters, output};
use crate::{
    Blocks, Diagnostic, Document, Node, Primitive, Span, ZType,
    schema::{
        Author, DatabaseMode, FREE_QUERY, FREE_QUERY_MOST_ROWS, FREE_QUERY_ROWS, FieldValue, GET_SCHEMA,
        Hooks, Input, Origin, Part, Query, RUN_SQL, Resource, ResourceFile, ResourceSource, Sql,
    },
};

/// How a schema says that the statement comes from the caller.
const DYNAMIC: &str = "{{DYNAMIC_SQL}}";

/// Shows tables and views, as far as a caller can use them.
const SCHEMA_SQL: &str = "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view') \
                          AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name";

pub(super) fn lower(main: &Node, document: &Document, diagnostics: &mut Vec<Diagnostic>) -> Vec<Resource> {
    let entries = main.get("resources").map(Node::entries).unwrap_or_default();
    let resource = |entry: &crate::Entry, diagnostics: &mut Vec<Diagnostic>| {
        let scope = Scope { document, name: &entry.key, span: entry.key_span };
        let text = |key| entry.node.get(key).and_then(Node::as_str);
        Some(Resource {
            name: entry.key.clone(),
            span: entry.key_span,
            description: text("description").unwrap_or_default().into(),
            file: file(&entry.node)?,
            source: match text("source")? {
                "markdown" => ResourceSource::Markdown,
                "sqlite" => ResourceSource::Sqlite {
                    mode: match text("mode") {
                        None | Some("in-memory") => DatabaseMode::ReadOnly,
                        Some("file-based") => DatabaseMode::ReadWrite,
                        Some(_) => return None,
                    },
                    queries: scope.queries(&entry.node, diagnostics),
                },
                _ => return None,
            },
        })
    };
    entries.iter().filter_map(|entry| resource(entry, diagnostics)).collect()
}

/// `{ origin, name }`, or `{ database }` relative to the schema.
fn file(node: &Node) -> Option<ResourceFile> {
    let text = |key| node.get(key).and_then(Node::as_str).filter(|text| !text.is_empty());
    if let Some(database) = text("database") {
        // Older schemas name the global folder in the path.
        let (origin, path) = match database.strip_prefix("~/.flowmcp/") {
            Some(path) => (Origin::GlobalBase, path),
            None => (Origin::Schema, database),
        };
        return Some(ResourceFile { origin, path: path.into() });
    }
    let origin = match text("origin")? {
        "inline" => Origin::Inline,
        "project" => Origin::Project,
        "global" => Origin::Global,
        _ => return None,
    };
    Some(ResourceFile { origin, path: text("name")?.into() })
}

/// The resource whose queries are lowered.
struct Scope<'d> {
    document: &'d Document,
    name: &'d str,
    span: Span,
}

impl Scope<'_> {
    fn queries(&self, node: &Node, diagnostics: &mut Vec<Diagnostic>) -> Vec<Query> {
        let mut queries: Vec<Query> = Vec::new();
        for entry in node.get("queries").map(Node::entries).unwrap_or_default() {
            let mut faults = Vec::new();
            queries.extend(self.query(entry, &mut faults));
            // The tools of the schema work without its resources.
            diagnostics.extend(faults.into_iter().map(|fault| fault.blocking(Blocks::Nothing)));
        }
        let lacks = |names: &[&str]| !queries.iter().any(|query| names.contains(&&*query.name));
        let (schema, free) = (lacks(&[GET_SCHEMA]), lacks(&[FREE_QUERY, RUN_SQL]));
        queries.extend(schema.then(|| self.added(GET_SCHEMA)));
        queries.extend(free.then(|| self.added(FREE_QUERY)));
        queries
    }

    fn query(&self, entry: &crate::Entry, faults: &mut Vec<Diagnostic>) -> Option<Query> {
        let node = &entry.node;
        let path = format!("main.resources.{}.queries.{}", self.name, entry.key);
        let text = node.get("sql").and_then(Node::as_str).filter(|text| !text.trim().is_empty())?;
        let (inputs, bindings) = match node.get("parameters") {
            // The format asks for a list, but what its absence means is plain.
            None => (Vec::new(), Vec::new()),
            Some(parameters) => {
                let parameters = Parameters::bound(&path, parameters, faults)?;
                let bindings = parameters.bindings();
                (parameters.inputs, bindings)
            }
        };
        let sql = if text.trim() == DYNAMIC {
            let named = |key: &str| inputs.iter().position(|input| &*input.key == key);
            let Some(sql) = named("sql") else {
                let message = format!("{DYNAMIC} needs a parameter with the key sql");
                let fault = Diagnostic::error(UNMATCHED_PLACEHOLDER, format!("{path}.sql"), message);
                faults.push(fault.at(entry.key_span));
                return None;
            };
            Sql::Dynamic { sql, limit: named("limit") }
        } else {
            let is_server = |part: &Part| matches!(part, Part::Server(_));
            // Local queries have no server parameters; a rule says so.
            if bindings
                .iter()
                .any(|binding| matches!(binding, FieldValue::Parts(parts) if parts.iter().any(is_server)))
            {
                return None;
            }
            Sql::Prepared { text: text.into(), bindings }
        };
        Some(Query {
            name: entry.key.clone(),
            span: entry.key_span,
            description: node.get("description").and_then(Node::as_str).unwrap_or_default().into(),
            sql,
            inputs,
            author: Author::Schema,
            output: output(node),
            hooks: self.hooks(&entry.key),
        })
    }

    /// Handlers of resources stand one level deeper than those of tools: resource, query, hook.
    fn hooks(&self, query: &str) -> Hooks {
        let Some(handlers) = &self.document.code.handlers else { return Hooks::None };
        let Some(entries) = &handlers.tools else { return Hooks::Unknown };
        match entries.iter().find(|entry| &*entry.name == self.name).map(|entry| &entry.hooks) {
            None => Hooks::None,
            Some(None) => Hooks::Unknown,
            Some(Some(queries)) if queries.iter().any(|(name, _)| &**name == query) => {
                Hooks::Known(vec!["postRequest".into()])
            }
            Some(Some(_)) => Hooks::None,
        }
    }

    fn added(&self, name: &str) -> Query {
        let is_free = name == FREE_QUERY;
        let (description, sql, inputs) = if is_free {
            (
                "Runs one SQL statement of your own; see getSchema for the tables",
                Sql::Dynamic { sql: 0, limit: Some(1) },
                free_inputs(),
            )
        } else {
            (
                "Shows the tables and views with the statements that made them",
                Sql::Prepared { text: SCHEMA_SQL.into(), bindings: Vec::new() },
                Vec::new(),
            )
        };
        Query {
            name: name.into(),
            span: self.span,
            description: description.into(),
            sql,
            inputs,
            author: Author::Added,
            output: None,
            hooks: self.hooks(name),
        }
    }
}

fn free_inputs() -> Vec<Input> {
    let input = |name: &str, description: String, z: ZType, parameter| Input {
        name: name.into(),
        key: name.into(),
        alias: None,
        z,
        description: Some(description.into()),
        parameter,
        placeless: false,
    };
    let limit = ZType {
        optional: true,
        default: Some(FREE_QUERY_ROWS.into()),
        min: Some(1.0),
        max: Some(f64::from(FREE_QUERY_MOST_ROWS)),
        ..ZType::of(Primitive::Number)
    };
    vec![
        input("sql", "One SQL statement (SQLite)".to_owned(), ZType { min: Some(1.0), ..ZType::string() }, 0),
        input("limit", format!("Most rows to return, {FREE_QUERY_ROWS} if left out"), limit, 1),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SourceFile, read};

    /// One line for each resource and query, then the findings.
    fn check(resources: &str, rest: &str) -> String {
        let text = format!(
            "export const main = {{ namespace: 'demo', name: 'Demo', tools: {{}}, resources: {resources} }}\n{rest}"
        );
        let file = SourceFile::new("demo.mjs", &text);
        let document = read(&file).document.expect("it is literal");
        let lowered = super::super::lower(&file, &document);
        let mut lines = Vec::new();
        for resource in lowered.schema.expect("it has a name").resources {
            let (name, file) = (&resource.name, &resource.file);
            lines.push(match &resource.source {
                ResourceSource::Markdown => {
                    format!("{name}: markdown, {} {}", file.origin.as_str(), file.path)
                }
                ResourceSource::Sqlite { mode, .. } => {
                    format!("{name}: {mode:?}, {:?} {}", file.origin, file.path)
                }
            });
            let ResourceSource::Sqlite { queries, .. } = &resource.source else { continue };
            for query in queries {
                let inputs: Vec<String> = query
                    .inputs
                    .iter()
                    .map(|input| {
                        let default =
                            input.z.default.as_ref().map(|value| format!("={value}")).unwrap_or_default();
                        format!("{} {}{default}", input.name, input.z.primitive.name())
                    })
                    .collect();
                let sql = match &query.sql {
                    Sql::Prepared { bindings, .. } => format!("prepared {bindings:?}"),
                    dynamic => format!("{dynamic:?}"),
                };
                let (author, hooks) = (query.author, &query.hooks);
                lines.push(format!("  {} ({}) {sql} {author:?} {hooks:?}", query.name, inputs.join(", ")));
            }
        }
        lines.extend(lowered.diagnostics.iter().map(|found| {
            format!("{} {} {}: {}", found.severity.as_str(), found.code, found.path, found.message)
        }));
        lines.join("\n")
    }

    #[test]
    fn all_forms_become_one_model() {
        insta::assert_snapshot!(check(
            "{
                seed: { source: 'sqlite', database: 'data.db', queries: {} },
                older: { source: 'sqlite', database: '~/.flowmcp/data/x.db', queries: { runSql: {
                    sql: '{{DYNAMIC_SQL}}',
                    parameters: [{ position: { key: 'sql', value: '{{USER_PARAM}}' }, z: { primitive: 'string()', options: [] } }],
                } } },
                log: { source: 'sqlite', mode: 'file-based', origin: 'project', name: 'demo-log.db', queries: {
                    getSchema: { sql: 'SELECT 1', description: 'Tables' },
                    find: { sql: 'SELECT * FROM t WHERE a = ? AND b = ? AND c LIKE ?', parameters: [
                        { position: { key: 'a', value: '{{USER_PARAM}}' }, z: { primitive: 'number()', options: ['default(5)'] } },
                        { position: { key: 'b', value: '7' }, z: { primitive: 'number()', options: [] } },
                        { position: { key: 'c', value: '%{{PART}}%' }, z: { primitive: 'string()', options: [] } },
                    ] },
                } },
                guide: { source: 'markdown', origin: 'inline', name: 'demo-guide.md', description: 'How to' },
            }",
            "export const handlers = () => ({ log: { find: { postRequest: async ({ response }) => ({ response }) } } })",
        ));
    }

    #[test]
    fn what_cannot_be_understood_is_left_out() {
        insta::assert_snapshot!(check(
            "{
                other: { source: 'csv', origin: 'inline', name: 'a.csv' },
                nowhere: { source: 'sqlite', origin: 'moon', name: 'a.db' },
                nameless: { source: 'markdown', origin: 'inline' },
                mode: { source: 'sqlite', mode: 'append', origin: 'project', name: 'a.db' },
                text: 'a.db',
                bad: { source: 'sqlite', database: 'a.db', queries: {
                    empty: { sql: ' ' },
                    dynamic: { sql: '{{DYNAMIC_SQL}}', parameters: [] },
                    secret: { sql: 'SELECT ?', parameters: [
                        { position: { key: 'k', value: '{{SERVER_PARAM:KEY}}' }, z: { primitive: 'string()', options: [] } },
                    ] },
                    odd: { sql: 'SELECT ?', parameters: [
                        { position: { key: 'k', value: '{{USER_PARAM}}' }, z: { primitive: 'date()', options: [] } },
                    ] },
                } },
            }",
            "",
        ));
    }
}
