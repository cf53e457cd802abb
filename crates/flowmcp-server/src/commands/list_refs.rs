//! `list-refs`: which tools use a shared list.

use anyhow::{Result, bail};
use flowmcp_spec::{Member, Primitive, Schema, SourceFile, lower, lower_list};
use serde_json::{Value, json};

use super::{Environment, configuration, print};
use crate::{
    cli::{ListRefsArgs, SourceFlags},
    documents::read_documents,
    logging, report,
};

/// One use of a list.
struct Use {
    tool: String,
    file: String,
    /// `parameter chain, field alias`, or what else uses it.
    how: String,
    row: Value,
}

pub(super) fn run(flags: &SourceFlags, args: &ListRefsArgs, environment: &Environment) -> Result<u8> {
    let config = configuration(&flags.with_packs(&args.paths), Vec::new(), environment)?.config;
    let mut known = Vec::new();
    let mut uses = Vec::new();
    for pack in config.packs.iter().filter(|pack| pack.enabled) {
        let documents = read_documents(&pack.path, config.limits.schema_file)?;
        let lists = documents.lists.iter().filter_map(|(_, read)| read.document.as_ref());
        for list in lists.filter_map(|document| lower_list(document).ok()) {
            if list.depends_on.iter().any(|dependency| **dependency == *args.name) {
                uses.push(list_use(&list.name));
            }
            known.push(list.name.to_string());
        }
        for (source, read) in &documents.files {
            let schema = read.document.as_ref().and_then(|document| lower(source, document).schema);
            uses.extend(schema.iter().flat_map(|schema| uses_in(source, schema, &args.name)));
        }
    }
    if uses.is_empty() && !known.contains(&args.name) {
        let nearest = known.iter().max_by(|a, b| {
            let likeness = |name: &str| strsim::normalized_damerau_levenshtein(name, &args.name);
            likeness(a).total_cmp(&likeness(b))
        });
        match nearest {
            Some(nearest) => bail!("there is no shared list {:?}; did you mean {nearest}?", args.name),
            None => bail!("there is no shared list {:?}, and no other one either", args.name),
        }
    }
    if args.json {
        let rows: Vec<Value> = uses.into_iter().map(|found| found.row).collect();
        print(&format!(
            "{}\n",
            json!({ "list": args.name, "exists": known.contains(&args.name), "uses": rows })
        ))?;
        return Ok(0);
    }
    if uses.is_empty() {
        logging::say(&format!("no tool uses {}", args.name));
    }
    let lines = uses.iter().map(|found| format!("{}  {}  ({})", found.tool, found.how, found.file));
    let text: String = lines.map(|line| report::inert(&line) + "\n").collect();
    print(&text)?;
    Ok(0)
}

fn list_use(name: &str) -> Use {
    Use {
        tool: format!("list {name}"),
        file: String::new(),
        how: "depends on it".to_owned(),
        row: json!({ "dependent": name }),
    }
}

/// The tools of a schema that take values from a list, and those whose handlers are given it.
fn uses_in(source: &SourceFile, schema: &Schema, name: &str) -> Vec<Use> {
    let declared = schema.lists.iter().any(|reference| &*reference.name == name);
    let in_code = source.text.contains("sharedLists") && (declared || source.text.contains(name));
    let mut uses = Vec::new();
    for tool in &schema.tools {
        let id = format!("{}/{}", schema.namespace, tool.name);
        let mut add = |how: String, key: &str, value: Value| {
            let row = json!({ "tool": id, "file": &*source.path, key: value });
            uses.push(Use { tool: id.clone(), file: source.path.to_string(), how, row });
        };
        for input in &tool.inputs {
            let Primitive::Enum(members) = &input.z.primitive else { continue };
            for member in members {
                let Member::List { list, field } = member else { continue };
                if **list != *name {
                    continue;
                }
                let shown = field.as_deref().map(|field| format!(", field {field}")).unwrap_or_default();
                let value = json!({ "name": &*input.name, "field": field });
                add(format!("parameter {}{shown}", input.name), "parameter", value);
            }
        }
        if in_code && tool.hooks.any() {
            add("its handlers may read it".to_owned(), "handlers", Value::Bool(true));
        }
    }
    uses
}
