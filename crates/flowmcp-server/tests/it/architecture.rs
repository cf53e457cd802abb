//! The workspace has the shape that `ARCHITECTURE.md` gives it: its table of crates is the data of these tests.

use std::{fs, path::PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    /// Name of the crate.
    name: String,
    /// Crates of the workspace that it may depend on.
    may_use: Vec<String>,
    /// Libraries that nothing else may depend on; a `*` at the end stands for any ending.
    alone_with: Vec<String>,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of the table whose first cell is a crate in backquotes.
fn rows(page: &str) -> Vec<Row> {
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let mut rows = Vec::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", name, may_use, alone_with, _, ""] = cells.as_slice() else { continue };
        let name = name.trim_matches('`').to_owned();
        if name.starts_with("flowmcp-") || name == "xtask" {
            rows.push(Row { name, may_use: names(may_use), alone_with: names(alone_with) });
        }
    }
    rows
}

fn table() -> Vec<Row> {
    rows(&fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the page is there"))
}

/// The manifests of the workspace. Nothing is resolved, so no network is needed.
fn metadata() -> Metadata {
    let options = ["--offline".to_owned()];
    let manifest = root().join("Cargo.toml");
    let command = MetadataCommand::new().manifest_path(manifest).no_deps().other_options(options).exec();
    command.expect("the manifests can be read")
}

/// What breaks the table, each in one line.
fn breaches(table: &[Row], packages: &[Package]) -> Vec<String> {
    let mut breaches = Vec::new();
    for package in packages {
        let name = package.name.as_str();
        let Some(row) = table.iter().find(|row| row.name == name) else {
            breaches.push(format!("{name} has no row in the table of ARCHITECTURE.md"));
            continue;
        };
        for used in package.dependencies.iter().filter(|used| used.path.is_some()) {
            let free = used.kind == DependencyKind::Development;
            if !free && !row.may_use.contains(&used.name) {
                breaches.push(format!("{name} depends on {}, which the table does not allow", used.name));
            }
        }
        for owner in table.iter().filter(|row| row.name != name) {
            for used in &package.dependencies {
                if owner.alone_with.iter().any(|library| is_meant(library, &used.name)) {
                    breaches.push(format!("{name} depends on {}, which only {} may", used.name, owner.name));
                }
            }
        }
    }
    for (index, row) in table.iter().enumerate() {
        let Some(package) = packages.iter().find(|package| package.name.as_str() == row.name) else {
            breaches.push(format!("{} is in the table and not in the workspace", row.name));
            continue;
        };
        for used in &row.may_use {
            if !table.iter().take(index).any(|above| above.name == *used) {
                breaches.push(format!("{} points up: {used} is not above it in the table", row.name));
            }
        }
        for library in &row.alone_with {
            if !package.dependencies.iter().any(|used| is_meant(library, &used.name)) {
                breaches.push(format!("{} does not depend on {library}, as the table says", row.name));
            }
        }
    }
    breaches
}

fn is_meant(library: &str, name: &str) -> bool {
    library.strip_suffix('*').map_or(library == name, |start| name.starts_with(start))
}

#[test]
fn crates_depend_on_each_other_as_the_table_says() {
    let found = breaches(&table(), &metadata().packages);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_breach_of_the_table_is_named() {
    let metadata = metadata();
    let check = |change: fn(&mut Vec<Row>), expected: &str| {
        let mut table = table();
        change(&mut table);
        let found = breaches(&table, &metadata.packages);
        assert!(found.iter().any(|breach| breach == expected), "no {expected:?} in {found:#?}");
    };
    fn row<'t>(table: &'t mut [Row], name: &str) -> &'t mut Row {
        table.iter_mut().find(|row| row.name == name).unwrap()
    }
    check(
        |table| row(table, "flowmcp-validate").may_use.clear(),
        "flowmcp-validate depends on flowmcp-spec, which the table does not allow",
    );
    check(
        |table| row(table, "flowmcp-http").alone_with.push("oxc_*".to_owned()),
        "flowmcp-spec depends on oxc_parser, which only flowmcp-http may",
    );
    check(
        |table| row(table, "flowmcp-http").alone_with.push("oxc_*".to_owned()),
        "flowmcp-http does not depend on oxc_*, as the table says",
    );
    check(|table| drop(table.remove(0)), "flowmcp-spec has no row in the table of ARCHITECTURE.md");
    check(
        |table| row(table, "flowmcp-spec").name = "flowmcp-speck".to_owned(),
        "flowmcp-speck is in the table and not in the workspace",
    );
    check(
        |table| row(table, "flowmcp-spec").may_use.push("flowmcp-engine".to_owned()),
        "flowmcp-spec points up: flowmcp-engine is not above it in the table",
    );
}

#[test]
fn libraries_of_one_crate_are_named_in_the_table() {
    let table = table();
    let owner = |library: &str| {
        let row = table.iter().find(|row| row.alone_with.iter().any(|known| known == library));
        row.map(|row| row.name.as_str())
    };
    for (library, expected) in [
        ("oxc_*", "flowmcp-spec"),
        ("reqwest", "flowmcp-http"),
        ("rquickjs", "flowmcp-sandbox-js"),
        ("rmcp", "flowmcp-server"),
        ("figment", "flowmcp-server"),
        ("anyhow", "flowmcp-server"),
    ] {
        assert_eq!(owner(library), Some(expected), "{library}");
    }
    let plugin = table.iter().find(|row| row.name == "flowmcp-plugin").unwrap();
    assert!(plugin.may_use.is_empty(), "a plugin author adds flowmcp-plugin alone");
}

#[test]
fn cargo_run_builds_the_server_and_no_plugin() {
    let metadata = metadata();
    let names: Vec<&str> =
        metadata.workspace_default_packages().iter().map(|package| package.name.as_str()).collect();
    assert_eq!(names, ["flowmcp-server"]);
}

/// The code of a crate without its unit tests and comments: which of `words` it has, with place.
fn uses(crate_name: &str, words: &[&str]) -> Vec<String> {
    let mut uses = Vec::new();
    let mut folders = vec![root().join("crates").join(crate_name).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder of a crate is there") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !path.ends_with("tests.rs")
            {
                let text = fs::read_to_string(&path).expect("sources are UTF-8");
                let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
                for (index, line) in lines {
                    if words.iter().any(|word| line.contains(word)) {
                        uses.push(format!("{}:{}: {}", path.display(), index + 1, line.trim()));
                    }
                }
            }
        }
    }
    uses
}

#[test]
fn only_the_server_reads_the_environment_or_writes_to_the_terminal() {
    const WORDS: &[&str] =
        &["env::var", "env::args", "env::current_dir", "io::stdout", "io::stderr", "println!", "eprint!"];
    let names = table().into_iter().map(|row| row.name);
    let found: Vec<String> = names
        .filter(|name| !["flowmcp-server", "xtask"].contains(&name.as_str()))
        .flat_map(|name| uses(&name, WORDS))
        // A worker process has its host at the other end of its stdout.
        .filter(|place| !place.contains("flowmcp-worker/src/worker.rs:"))
        .collect();
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn only_main_reads_the_environment() {
    let reads = uses("flowmcp-server", &["env::var"]);
    let elsewhere: Vec<&String> = reads
        .iter()
        .filter(|place| !place.contains("/main.rs:") && !place.contains("\"NO_COLOR\""))
        .collect();
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
    assert_eq!(reads.len() - elsewhere.len(), 2, "main.rs and NO_COLOR: {reads:#?}");
}

#[test]
fn stdout_is_written_in_two_places() {
    let mut files: Vec<String> =
        uses("flowmcp-server", &["stdout().lock()", "stdio_pipes()", "tokio::io::stdout"])
            .iter()
            .map(|place| place.split("/src/").nth(1).unwrap().split(':').next().unwrap().to_owned())
            .collect();
    files.sort();
    assert_eq!(files, ["commands.rs", "mcp/stdio.rs"]);
}

#[test]
fn the_engine_opens_no_file_and_no_socket() {
    const WORDS: &[&str] = &[
        "std::fs",
        "File::open",
        "File::create",
        "tokio::net",
        "TcpStream",
        "TcpListener",
        "UdpSocket",
        "lookup_host",
    ];
    for name in ["flowmcp-engine", "flowmcp-validate", "flowmcp-plugin"] {
        assert_eq!(uses(name, WORDS), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn unsafe_code_stands_at_one_edge() {
    let outside: Vec<String> = table()
        .iter()
        .filter(|row| row.name != "xtask")
        .flat_map(|row| uses(&row.name, &["unsafe {", "unsafe fn", "unsafe impl", "unsafe_code"]))
        .filter(|place| {
            !place.contains("flowmcp-sandbox-js/src/edge.rs:")
                && !place.contains("flowmcp-sandbox-js/src/edge/")
        })
        .collect();
    assert_eq!(outside, Vec::<String>::new());
}

#[test]
fn only_one_module_knows_mcp_types() {
    let outside: Vec<String> = uses("flowmcp-server", &["rmcp::"])
        .into_iter()
        .filter(|place| !place.contains("/src/mcp/") && !place.contains("/src/mcp.rs:"))
        .collect();
    assert_eq!(outside, Vec::<String>::new());
}
