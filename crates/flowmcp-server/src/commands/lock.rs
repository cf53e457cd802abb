//! `lock`: writes the hashes of packs into their lock files, or says what differs from them.

use anyhow::Result;
use serde_json::json;

use super::{Environment, NOT_IN_ORDER, configuration, print};
use crate::{
    cli::{LockArgs, SourceFlags},
    lock::{self, Change, Lock, LockError},
    logging, report,
};

pub(super) fn run(flags: &SourceFlags, args: &LockArgs, environment: &Environment) -> Result<u8> {
    let config = configuration(&flags.with_packs(&args.paths), Vec::new(), environment)?.config;
    let mut code = 0;
    for pack in config.packs.iter().filter(|pack| pack.enabled) {
        let place = lock::path(&pack.path);
        let shown = report::inert(&place.display().to_string());
        let (now, faults) = match lock::of_pack(&pack.path, config.limits.schema_file) {
            Ok(read) => read,
            Err(error) => {
                logging::say(&format!("error: pack {}: cannot be read: {error}", pack.path.display()));
                code = NOT_IN_ORDER;
                continue;
            }
        };
        for fault in &faults {
            logging::say(&format!("warning: {} (not in the lock)", report::inert(fault)));
        }
        let before = match Lock::read(&place) {
            Ok(locked) => Some(locked),
            Err(LockError::Missing(_)) if !args.check => None,
            Err(error) => {
                // A lock that cannot be understood is not overwritten: somebody should look at it first.
                logging::say(&format!("error: {error}"));
                code = NOT_IN_ORDER;
                continue;
            }
        };
        let differences = before.as_ref().map(|locked| lock::changes(locked, &now)).unwrap_or_default();
        // What cannot be read is not served either, so it is said and no more.
        if args.check && !differences.is_empty() {
            code = NOT_IN_ORDER;
        }
        if !args.check {
            now.write(&place)?;
        }
        let outcome = match (args.check, before.is_some(), differences.is_empty()) {
            (true, _, true) => "is up to date",
            (true, _, false) => "differs",
            (false, false, _) => "written",
            (false, true, true) => "written, nothing changed",
            (false, true, false) => "written anew",
        };
        print(&summary(&shown, &now, outcome, &differences, args))?;
    }
    Ok(code)
}

/// The differences, a line each, and what it came to; or all of it as one JSON object a pack.
fn summary(place: &str, now: &Lock, outcome: &str, differences: &[Change], args: &LockArgs) -> String {
    if args.json {
        let rows: Vec<_> = differences
            .iter()
            .map(|change| json!({ "subject": change.subject, "change": change.what.to_string() }))
            .collect();
        let row = json!({
            "lock": place,
            "written": !args.check,
            "files": now.files.len(),
            "lists": now.lists.len(),
            "changes": rows,
        });
        return format!("{row}\n");
    }
    let mut text: String =
        differences.iter().map(|change| report::inert(&change.to_string()) + "\n").collect();
    text.push_str(&format!("{place}: {outcome} ({} files, {} lists)\n", now.files.len(), now.lists.len()));
    text
}
