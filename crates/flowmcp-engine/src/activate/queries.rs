//! Queries of local databases as tools: `{namespace}__{resource}__{query}`.

use std::sync::{Arc, OnceLock};

use flowmcp_plugin::Method;
use flowmcp_resources::Database;
use flowmcp_spec::{
    Schema,
    schema::{DatabaseMode, Hooks, Query, Resource, ResourceSource, Root, Sql},
};

use super::{ActiveTool, Hidden, Plan, json_schema, published};
use crate::{PackPolicy, local::LocalQuery};

/// Makes tools of the queries of a schema whose lists are resolved. `database` gives the database of a resource, or `None`
/// where there is to be none. They have no public names yet ([`crate::names::assign`]).
pub fn activate_queries(
    schema: &Schema,
    pack: &Arc<PackPolicy>,
    mut database: impl FnMut(&Resource) -> Option<Arc<Database>>,
) -> Vec<ActiveTool> {
    if schema.resources.is_empty() {
        return Vec::new();
    }
    let shared = Shared::of(schema, pack);
    let mut tools = Vec::new();
    for resource in &schema.resources {
        let ResourceSource::Sqlite { mode, queries } = &resource.source else { continue };
        let Some(database) = database(resource) else { continue };
        let tool = |query: &Query| shared.tool(resource, *mode, query, Arc::clone(&database));
        tools.extend(queries.iter().map(tool));
    }
    tools
}

/// What the tools of one schema have in common.
struct Shared<'p> {
    namespace: Arc<str>,
    schema: Arc<str>,
    file: Arc<str>,
    tags: Arc<[Box<str>]>,
    docs: Arc<[Box<str>]>,
    root: Arc<Root>,
    pack: &'p Arc<PackPolicy>,
}

impl<'p> Shared<'p> {
    fn of(schema: &Schema, pack: &'p Arc<PackPolicy>) -> Self {
        let root = Root { origin: Vec::new(), path: Vec::new(), query: Vec::new(), marker: false };
        Shared {
            namespace: (*schema.namespace).into(),
            schema: (*schema.name).into(),
            file: Arc::clone(&schema.path),
            tags: schema.tags.clone().into(),
            docs: schema.docs.clone().into(),
            root: Arc::new(root),
            pack,
        }
    }

    fn tool(
        &self,
        resource: &Resource,
        mode: DatabaseMode,
        query: &Query,
        database: Arc<Database>,
    ) -> ActiveTool {
        let output_schema =
            query.output.as_ref().filter(|_| self.pack.publish_output_schema).and_then(published);
        let description = match (&*query.description, &*resource.description) {
            ("", about) | (about, "") => about.to_owned(),
            (query, about) => format!("{query} ({about})"),
        };
        ActiveTool {
            name: Arc::from(""),
            title: format!("{}: {} {}", self.schema, resource.name, query.name),
            description: description.into(),
            input_json: json_schema::of(&query.inputs),
            output_schema,
            method: effect(mode, query),
            namespace: Arc::clone(&self.namespace),
            schema: Arc::clone(&self.schema),
            key: format!("{}__{}", resource.name, query.name).into(),
            file: Arc::clone(&self.file),
            tags: Arc::clone(&self.tags),
            docs: Arc::clone(&self.docs),
            hidden: query.hooks.any().then_some(Hidden::QueryHandlers),
            plan: Plan {
                root: Arc::clone(&self.root),
                path: Vec::new(),
                path_query: Vec::new(),
                query: Vec::new(),
                body: Vec::new(),
                headers: Vec::new(),
                inputs: query.inputs.clone(),
                server_params: Vec::new(),
                declared: Arc::new([]),
                hooks: Hooks::None,
                program: None,
                output: query.output.clone(),
                output_schema: OnceLock::new(),
                input_schema: OnceLock::new(),
                local: Some(LocalQuery { database, query: query.clone() }),
                pack: Arc::clone(self.pack),
            },
        }
    }
}

/// The method whose meaning for clients is that of the query: it reads, changes, or may destroy.
fn effect(mode: DatabaseMode, query: &Query) -> Method {
    match (mode, &query.sql) {
        (DatabaseMode::ReadOnly, _) => Method::Get,
        (DatabaseMode::ReadWrite, Sql::Dynamic { .. }) => Method::Delete,
        (DatabaseMode::ReadWrite, Sql::Prepared { text, .. }) => {
            let first = text.split_whitespace().next().unwrap_or_default();
            if first.eq_ignore_ascii_case("select") { Method::Get } else { Method::Delete }
        }
    }
}
