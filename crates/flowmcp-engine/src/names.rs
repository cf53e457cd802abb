//! Public names: unique over everything that is served, and such as clients and model APIs accept.

use std::{collections::HashMap, sync::Arc};

use sha2::{Digest, Sha256};

use crate::ActiveTool;

/// Longest public name; model APIs refuse longer ones.
const LONGEST: usize = 64;

/// Gives every tool its public name, in catalogue order: the first of a name keeps it, a later one gets its schema's
/// name as well. Returns a warning for each tool whose name is not the plain `namespace__tool`.
pub fn assign(tools: &mut [ActiveTool]) -> Vec<String> {
    let mut owners: HashMap<Arc<str>, String> = HashMap::with_capacity(tools.len());
    let mut warnings = Vec::new();
    for tool in tools {
        let plain = public(&[&tool.namespace, &tool.key]);
        let with_schema = || public(&[&tool.namespace, &tool.schema, &tool.key]);
        let with_file =
            || shortened(&format!("{}__{}__{}", with_schema(), tool.file, tool.key), &with_schema());
        let name = if !owners.contains_key(plain.as_str()) {
            plain
        } else {
            let name = with_schema();
            let name = if owners.contains_key(name.as_str()) { with_file() } else { name };
            let owner = owners.get(plain.as_str()).map(String::as_str).unwrap_or_default();
            warnings
                .push(format!("{}: the name {plain} is taken by {owner}; offered as {name}", tool.origin()));
            name
        };
        let name: Arc<str> = name.into();
        owners.insert(Arc::clone(&name), tool.origin());
        tool.name = name;
    }
    warnings
}

/// Parts joined with `__`, other characters replaced by `_`, cut with a hash where too long.
fn public(parts: &[&str]) -> String {
    let full = parts.join("__");
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name: String = full.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect();
    if name.len() <= LONGEST { name } else { shortened(&full, &name) }
}

/// A name cut to the limit, with 6 hex digits of its full form's SHA-256.
fn shortened(full: &str, name: &str) -> String {
    let digest = Sha256::digest(full.as_bytes());
    let hash: String = digest.iter().take(3).map(|byte| format!("{byte:02x}")).collect();
    // Names are ASCII here, so bytes are characters.
    let cut = name.get(..LONGEST - 7).unwrap_or(name);
    format!("{cut}_{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_with_a_hash_and_always_the_same() {
        let long = "a".repeat(40);
        let name = public(&[&long, &long]);
        assert_eq!(name, format!("{}__{}_{}", "a".repeat(40), "a".repeat(15), &name[58..]));
        assert_eq!((name.len(), public(&[&long, &long])), (64, name));
        assert_eq!(public(&["ns", "a/b:c"]), "ns__a_b_c");
    }
}
