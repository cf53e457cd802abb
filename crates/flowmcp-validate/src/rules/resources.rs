//! Rules about `main.resources`: local databases with queries, and documents.

use flowmcp_spec::{Node, Primitive, ZType};

use crate::{
    findings::{Findings, softened},
    rules::tools::one_of,
    subject::{Kind, Object, Subject},
    words::{cut, is_camel_case},
};

const SOURCES: [&str; 2] = ["sqlite", "markdown"];
const MODES: [&str; 2] = ["in-memory", "file-based"];
const ORIGINS: [&str; 3] = ["global", "project", "inline"];
/// Most resources of a schema, and most queries of a resource (chapter 13, "Limits").
const MAX_RESOURCES: usize = 2;
const MAX_QUERIES: usize = 7;
/// Stands in the SQL of queries whose whole text the caller gives.
const DYNAMIC: &str = "{{DYNAMIC_SQL}}";

fn resources<'s, 'd>(subject: &'s Subject<'d>, source: &'static str) -> impl Iterator<Item = &'s Object<'d>> {
    subject.objects(Kind::Resource).filter(move |resource| resource.text("source") == Some(source))
}

/// The older form names a file in `database`, and has neither mode nor origin.
fn is_older(resource: &Object<'_>) -> bool {
    resource.node.get("database").is_some()
}

/// RES001.
pub(crate) fn source(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for resource in subject.objects(Kind::Resource) {
        one_of(resource, "source", &SOURCES, findings);
    }
}

/// RES003.
pub(crate) fn mode(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for resource in resources(subject, "sqlite") {
        if !is_older(resource) || resource.node.get("mode").is_some() {
            one_of(resource, "mode", &MODES, findings);
        }
    }
}

/// RES004.
pub(crate) fn origin(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for resource in subject.objects(Kind::Resource) {
        if !is_older(resource) || resource.node.get("origin").is_some() {
            one_of(resource, "origin", &ORIGINS, findings);
        }
    }
}

/// RES005.
pub(crate) fn file_name(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (source, extension) in [("sqlite", ".db"), ("markdown", ".md")] {
        for resource in resources(subject, source) {
            let key = if is_older(resource) { "database" } else { "name" };
            let place = resource.field(key);
            let Some(node) = resource.node.get(key) else {
                findings.report(
                    &place,
                    format!("is required and must be a file name that ends with {extension}"),
                );
                continue;
            };
            let name = node.as_str().unwrap_or_default();
            if !name.ends_with(extension) || name.len() == extension.len() {
                let shown = node.shown();
                findings.report(
                    &place,
                    format!("must be a file name that ends with {extension} (found {shown})"),
                );
            } else if leaves(name) {
                let finding = findings
                    .draft(&place, format!("must be a path inside the pack (found {})", node.shown()));
                findings.push(
                    finding.help("for a file elsewhere write `origin: 'global'` or 'project' and its `name`"),
                );
            }
        }
    }
}

/// Whether a path leads out of the folder that it starts from.
pub(crate) fn leaves(path: &str) -> bool {
    path.starts_with(['/', '\\', '~'])
        || path.contains(':')
        || path.split(['/', '\\']).any(|step| step == "..")
}

/// RES006.
pub(crate) fn count(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    let count = subject.root.entries("resources").len();
    if count > MAX_RESOURCES {
        let message = format!("must have at most {MAX_RESOURCES} resources (found {count})");
        let finding = findings.draft(&subject.root.key("resources"), message);
        findings.push(finding.help("split the schema into several files"));
    }
}

/// RES007.
pub(crate) fn query_count(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for resource in subject.objects(Kind::Resource) {
        let count = resource.entries("queries").len();
        if count > MAX_QUERIES {
            let message = format!("must have at most {MAX_QUERIES} queries (found {count})");
            findings.report(&resource.key("queries"), message);
        }
    }
}

/// RES010. A query without parameters may leave them out.
pub(crate) fn parameters(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for query in subject.objects(Kind::Query) {
        match query.node.get("parameters") {
            None => {
                let finding = findings.draft(&query.field("parameters"), "should be an array, if empty: []");
                findings.push(softened(finding));
            }
            Some(node) if !node.is_array() => {
                findings
                    .report(&query.field("parameters"), format!("must be an array (found {})", node.shown()));
            }
            Some(_) => {}
        }
    }
}

/// RES011.
pub(crate) fn output(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for query in subject.objects(Kind::Query) {
        match query.node.get("output") {
            None => findings.report(&query.place(), "should say what it returns in `output`"),
            Some(node) if !node.is_object() => {
                let message =
                    format!("should be an object with `mimeType` and `schema` (found {})", node.shown());
                findings.report(&query.field("output"), message);
            }
            Some(_) => {}
        }
    }
}

/// RES012.
pub(crate) fn tests(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for query in subject.objects(Kind::Query).filter(|query| query.items("tests").is_empty()) {
        findings.report(&query.place(), "should have at least 1 test (found 0)");
    }
}

/// The queries of each database, with the database.
fn queries<'s, 'd>(
    subject: &'s Subject<'d>,
) -> impl Iterator<Item = (&'s Object<'d>, &'s Object<'d>, &'d str)> {
    resources(subject, "sqlite").flat_map(move |resource| {
        let members = resource.entries("queries");
        let of_resource =
            move |query: &&Object<'d>| members.iter().any(|entry| std::ptr::eq(&entry.node, query.node));
        let queries = subject.objects(Kind::Query).filter(of_resource);
        queries.filter_map(move |query| Some((resource, query, query.text("sql")?)))
    })
}

/// RES013.
pub(crate) fn reads_only(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (resource, query, sql) in queries(subject) {
        let first: String = without_comments(sql)
            .chars()
            .take_while(char::is_ascii_alphabetic)
            .collect::<String>()
            .to_uppercase();
        let reads = matches!(&*first, "SELECT" | "WITH") || sql.trim() == DYNAMIC;
        if resource.text("mode") != Some("file-based") && !reads && !sql.trim().is_empty() {
            let finding = findings.draft(
                &query.field("sql"),
                format!("must begin with SELECT or WITH (found \"{}\")", cut(first_word(sql))),
            );
            findings.push(finding.help("only a database with `mode: 'file-based'` can be written to"));
        }
    }
}

fn first_word(sql: &str) -> &str {
    sql.split_whitespace().next().unwrap_or_default()
}

/// SQL behind the comments that it begins with.
fn without_comments(sql: &str) -> &str {
    let mut rest = sql.trim_start();
    loop {
        let after = if let Some(comment) = rest.strip_prefix("--") {
            comment.split_once('\n').map(|(_, after)| after)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map(|(_, after)| after)
        } else {
            return rest;
        };
        rest = after.unwrap_or_default().trim_start();
    }
}

/// RES014.
pub(crate) fn bindings(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (_, query, sql) in queries(subject).filter(|(_, _, sql)| !sql.contains(DYNAMIC)) {
        let (places, given) = (placeholders(sql), query.items("parameters").len());
        if places != given {
            let finding = findings.draft(
                &query.field("sql"),
                format!("must have one ? for each parameter (found {places} for {given} parameters)"),
            );
            findings.push(finding.help("the parameters fill the ? in their order; a value used twice is named once in `WITH x AS (SELECT ? AS value)`"));
        }
    }
}

/// How many values SQL takes: its `?` outside of texts, quoted names and comments, or the highest of its `?1`, `?2`.
fn placeholders(sql: &str) -> usize {
    let (mut plain, mut highest) = (0, 0);
    let mut rest = sql;
    while let Some(at) = rest.find(['?', '\'', '"', '`', '[', '-', '/']) {
        let (_, found) = rest.split_at(at);
        let mut letters = found.chars();
        let first = letters.next().unwrap_or_default();
        let behind = letters.as_str();
        let end = match (first, behind.chars().next()) {
            ('?', _) => {
                let digits = behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                match behind.get(..digits).unwrap_or_default().parse::<usize>() {
                    Ok(number) => highest = highest.max(number),
                    Err(_) => plain += 1,
                }
                Some(digits)
            }
            ('-', Some('-')) => behind.find('\n'),
            ('/', Some('*')) => behind.find("*/").map(|at| at + 2),
            ('[', _) => behind.find(']').map(|at| at + 1),
            ('\'' | '"' | '`', _) => behind.find(first).map(|at| at + 1),
            _ => Some(0),
        };
        rest = end.and_then(|end| behind.get(end..)).unwrap_or_default();
    }
    plain + highest
}

/// RES015.
pub(crate) fn locations(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for position in
        subject.objects(Kind::QueryPosition).filter(|position| position.node.get("location").is_some())
    {
        let finding = findings.draft(&position.key("location"), "must not be given: a query has no request");
        findings.push(finding.help("remove it: parameters fill the ? of the SQL in their order"));
    }
}

/// RES016.
pub(crate) fn server_values(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for position in subject.objects(Kind::QueryPosition) {
        if position.text("value").is_some_and(|value| value.contains("SERVER_PARAM")) {
            let shown = position.node.get("value").map(Node::shown).unwrap_or_default();
            let finding = findings
                .draft(&position.field("value"), format!("must not be a server parameter (found {shown})"));
            findings.push(finding.help("write '{{USER_PARAM}}' for a value of the caller, or a fixed text"));
        }
    }
}

/// RES017 and RES018.
pub(crate) fn resource_names(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for entry in subject.root.entries("resources").iter().filter(|entry| !is_camel_case(&entry.key)) {
        let message = format!("should have a name in camelCase (found \"{}\")", cut(&entry.key));
        findings.report(&subject.root.entry("resources", entry), message);
    }
}

/// RES018.
pub(crate) fn query_names(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for resource in subject.objects(Kind::Resource) {
        for entry in resource.entries("queries").iter().filter(|entry| !is_camel_case(&entry.key)) {
            let message = format!("should have a name in camelCase (found \"{}\")", cut(&entry.key));
            findings.report(&resource.entry("queries", entry), message);
        }
    }
}

/// RES019.
pub(crate) fn scalars(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for z in subject.objects(Kind::QueryZ) {
        let place = z.field("primitive");
        let Some(primitive) = z.text("primitive") else {
            findings.report(&place, "is required and must be a string such as 'string()'");
            continue;
        };
        let options: Vec<&str> = z.items("options").iter().filter_map(Node::as_str).collect();
        match ZType::parse(primitive, &options) {
            Ok((ZType { primitive: Primitive::Array | Primitive::Object, .. }, _)) => {
                let message = format!(
                    "must be string(), number(), boolean() or enum(…), since SQL takes single values (found \"{}\")",
                    cut(primitive)
                );
                findings.report(&place, message);
            }
            Ok(_) => {}
            Err(faults) => {
                for fault in faults {
                    findings.report(&z.place(), fault.to_string());
                }
            }
        }
    }
}

/// RES021.
pub(crate) fn rows(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for (_, query, _) in queries(subject) {
        let schema = query.node.get("output").and_then(|output| output.get("schema"));
        let Some(kind) =
            schema.and_then(|schema| schema.get("type")).filter(|kind| kind.as_str() != Some("array"))
        else {
            continue;
        };
        let mut place = query.field("output");
        place.path.push_str(".schema.type");
        place.span = kind.span;
        let message = format!("must be 'array', since a query gives rows (found {})", kind.shown());
        findings.report(&place, message);
    }
}

/// RES024.
pub(crate) fn described(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for resource in resources(subject, "sqlite") {
        if !resource.entries("queries").iter().any(|entry| &*entry.key == "getSchema") {
            let finding =
                findings.draft(&resource.place(), "has no query `getSchema`, so a plain one is added");
            findings.push(finding.help(
                "write your own to describe the tables better: SELECT name, sql FROM sqlite_master WHERE type='table'",
            ));
        }
    }
}

/// RES025.
pub(crate) fn written_in_project(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for resource in
        resources(subject, "sqlite").filter(|resource| resource.text("mode") == Some("file-based"))
    {
        if resource.text("origin").is_some_and(|origin| origin != "project") {
            let shown = resource.node.get("origin").map(Node::shown).unwrap_or_default();
            let finding = findings.draft(
                &resource.field("origin"),
                format!("must be 'project' for a database that is written to (found {shown})"),
            );
            findings.push(finding.help("or make it `mode: 'in-memory'`, which only reads"));
        }
    }
}

/// RES026 and RES027: fields of databases.
fn of_databases(subject: &Subject<'_>, findings: &mut Findings<'_>, key: &str) {
    for resource in resources(subject, "markdown").filter(|resource| resource.node.get(key).is_some()) {
        let finding = findings.draft(&resource.key(key), "is for databases and must not stand in a document");
        findings.push(finding.help("remove it, or write `source: 'sqlite'`"));
    }
}

/// RES026.
pub(crate) fn document_mode(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    of_databases(subject, findings, "mode");
}

/// RES027.
pub(crate) fn document_queries(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    of_databases(subject, findings, "queries");
}

/// RES028.
pub(crate) fn database_in_pack(subject: &Subject<'_>, findings: &mut Findings<'_>) {
    for resource in resources(subject, "sqlite").filter(|resource| resource.text("origin") == Some("inline"))
    {
        let finding = findings.draft(
            &resource.field("origin"),
            "puts a database into the pack, where everyone who gets the pack reads it",
        );
        findings.push(finding.help("use 'global' or 'project' unless all of its data is meant to be public"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_sql() {
        for (sql, expected) in [
            ("SELECT 1", 0),
            ("SELECT * FROM t WHERE a = ? AND b = ?", 2),
            ("SELECT '?' AS q, \"a?\", [b?], `c?` FROM t -- why?\nWHERE x = ? /* ? */", 1),
            ("SELECT 'it''s ?' || ?", 1),
            ("SELECT ?1 + ?2 + ?1", 2),
            ("SELECT 3 - 2 / ?", 1),
            ("SELECT 'open ?", 0),
        ] {
            assert_eq!(placeholders(sql), expected, "{sql}");
        }
    }

    #[test]
    fn paths() {
        for (path, expected) in [
            ("data.db", false),
            ("data/a..b.db", false),
            ("../data.db", true),
            ("a/../../b.db", true),
            ("~/data.db", true),
            ("/data.db", true),
            ("C:\\data.db", true),
            ("file:data.db", true),
        ] {
            assert_eq!(leaves(path), expected, "{path}");
        }
    }
}
