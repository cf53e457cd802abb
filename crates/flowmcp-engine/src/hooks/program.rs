//! A schema's handlers as the pool takes them: the text of its file, and the shared lists that it may look at.

use std::sync::Arc;

use flowmcp_plugin::SandboxSettings;
use flowmcp_spec::Schema;
use flowmcp_worker::Program;
use serde_json::Value;

use crate::Lists;

/// The handlers of a schema whose tools have some. Nothing of them is compiled before the first call.
pub fn program(
    schema: &Schema,
    text: &Arc<str>,
    lists: &Lists,
    pack: &str,
    settings: SandboxSettings,
) -> Option<Arc<Program>> {
    let any = schema.tools.iter().any(|tool| tool.hooks.any());
    any.then(|| program_of(schema, text, lists, pack, settings))
}

/// The handlers of a schema, whether its tools have some or not.
pub(crate) fn program_of(
    schema: &Schema,
    text: &Arc<str>,
    lists: &Lists,
    pack: &str,
    settings: SandboxSettings,
) -> Arc<Program> {
    let lists = shared_lists(schema, text, lists);
    let path = schema.path.to_string();
    Arc::new(Program::new(pack.into(), path, Arc::clone(text), Vec::new(), lists, settings))
}

/// The lists that the schema declares, filtered as it says, and undeclared ones that its text names.
fn shared_lists(schema: &Schema, text: &str, lists: &Lists) -> String {
    if !text.contains("sharedLists") {
        return String::new();
    }
    let mut json = String::from("{");
    for list in lists.all() {
        let reference = schema.lists.iter().find(|reference| reference.name == list.name);
        if reference.is_none() && !text.contains(&*list.name) {
            continue;
        }
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&Value::from(&*list.name).to_string());
        json.push(':');
        json.push_str(&list.to_json(reference.and_then(|reference| reference.filter.as_ref())));
    }
    json.push('}');
    json
}
