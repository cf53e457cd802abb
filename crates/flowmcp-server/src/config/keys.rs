//! Every key of `config.toml`: its shape and its default. The one list behind reading, showing and suggesting keys.

use super::{
    format::{ADDRESS, ANY_TEXT, BARE_HOST, GRANT, HOST, HOST_NAME, NAME, ORIGIN, PROXY, SHA256, VERSION},
    shape::Shape,
};

/// One key of a table.
pub(super) struct Key {
    /// Name inside its table.
    pub(super) name: &'static str,
    /// What its value must be.
    pub(super) shape: Shape,
    /// Default as TOML; `None` where an absent key means something of its own.
    pub(super) default: Option<&'static str>,
    /// Whether an entry of a list must have it.
    pub(super) required: bool,
}

const fn key(name: &'static str, shape: Shape, default: &'static str) -> Key {
    Key { name, shape, default: Some(default), required: false }
}

const fn optional(name: &'static str, shape: Shape) -> Key {
    Key { name, shape, default: None, required: false }
}

const fn required(name: &'static str, shape: Shape) -> Key {
    Key { name, shape, default: None, required: true }
}

const fn count(most: u64) -> Shape {
    Shape::Whole { least: 1, most }
}

const TEXTS: Shape = Shape::List(&Shape::Text(&ANY_TEXT));
const HOSTS: Shape = Shape::List(&Shape::Text(&HOST));
const NAMES: Shape = Shape::List(&Shape::Text(&NAME));

/// The whole file. Sections without a default of their own get theirs from their keys.
pub(super) static ROOT: Shape = Shape::Table(&[
    optional(
        "log",
        Shape::Table(&[
            key("level", Shape::OneOf(&["off", "error", "warn", "info", "debug", "trace"]), r#""info""#),
            key("format", Shape::OneOf(&["text", "json"]), r#""text""#),
        ]),
    ),
    optional(
        "serve",
        Shape::Table(&[
            key("stdio", Shape::Bool, "true"),
            optional("http", Shape::Text(&ADDRESS)),
            key("allowed_hosts", HOSTS, "[]"),
            key("allowed_origins", Shape::List(&Shape::Text(&ORIGIN)), "[]"),
            key("unknown_arguments", Shape::OneOf(&["drop", "refuse"]), r#""drop""#),
            key("strict_types", Shape::Bool, "false"),
            optional("discovery", Shape::Bool),
            key("endpoints", Shape::Map(&ANY_TEXT, &ENDPOINT), "{}"),
        ]),
    ),
    optional("limits", Shape::Table(LIMITS)),
    optional(
        "http",
        Shape::Table(&[
            optional("timeout", Shape::Time),
            key("retries", Shape::Whole { least: 0, most: 10 }, "2"),
            optional("proxy", Shape::Text(&PROXY)),
            key("resolve", Shape::Map(&HOST_NAME, &Shape::Text(&ADDRESS)), "{}"),
            optional("ca_file", Shape::Path),
            key("private_hosts", Shape::List(&Shape::Text(&BARE_HOST)), "[]"),
        ]),
    ),
    optional(
        "params",
        Shape::Table(&[
            optional("env_file", Shape::Path),
            key("from_env", NAMES, "[]"),
            key("bind", Shape::Map(&ANY_TEXT, &HOSTS), "{}"),
        ]),
    ),
    key("packs", Shape::List(&PACK), "[]"),
    optional(
        "sandboxes",
        Shape::Table(&[
            key("mjs", Shape::Text(&ANY_TEXT), r#""js""#),
            key("lua", Shape::Text(&ANY_TEXT), r#""lua""#),
            key("isolation", Shape::OneOf(&["process", "strict", "thread"]), r#""process""#),
        ]),
    ),
    optional("transport", Shape::Table(&[key("use", Shape::Text(&ANY_TEXT), r#""http""#)])),
    optional(
        "plugins",
        Shape::Open(
            &[
                key("dirs", Shape::List(&Shape::Path), "[]"),
                key("required", TEXTS, "[]"),
                key("allow", Shape::List(&ALLOWED_PLUGIN), "[]"),
            ],
            &Shape::Map(&ANY_TEXT, &Shape::Free),
        ),
    ),
]);

/// The table of semantics.md, section 10, in its order.
const LIMITS: &[Key] = &[
    key("schema_file", Shape::Size, r#""5 MiB""#),
    key("schema_nesting", count(1024), "128"),
    key("handler_cpu", Shape::Time, r#""2s""#),
    key("handler_memory", Shape::Size, r#""128 MiB""#),
    key("handler_stack", Shape::Size, r#""512 KiB""#),
    key("handler_log_lines", count(100_000), "100"),
    key("handler_fetches", count(10_000), "16"),
    key("call_deadline", Shape::Time, r#""30s""#),
    key("connect", Shape::Time, r#""5s""#),
    key("response", Shape::Size, r#""10 MiB""#),
    key("handler_input", Shape::Size, r#""5 MiB""#),
    key("content", Shape::Size, r#""100 KiB""#),
    key("request", Shape::Size, r#""4 MiB""#),
    key("argument_nesting", count(1024), "64"),
    key("calls", count(100_000), "256"),
    key("calls_per_host", count(65_536), "32"),
    key("drain", Shape::Time, r#""10s""#),
];

static ENDPOINT: Shape = Shape::Table(&[
    optional("include", TEXTS),
    optional("exclude", TEXTS),
    optional("agent", Shape::Text(&ANY_TEXT)),
]);

pub(super) static PACK: Shape = Shape::Table(&[
    required("path", Shape::Path),
    optional("name", Shape::Text(&ANY_TEXT)),
    key("enabled", Shape::Bool, "true"),
    key("grants", Shape::List(&Shape::Text(&GRANT)), "[]"),
    key("hosts", HOSTS, "[]"),
    key("allow_local", Shape::Bool, "false"),
    key("accept_versions", Shape::List(&Shape::Text(&VERSION)), "[]"),
    key("reuse", Shape::Bool, "false"),
    optional("integrity", Shape::OneOf(&["off", "warn", "locked"])),
    optional("sandbox", Shape::OneOf(&["mjs", "lua"])),
    key("publish_output_schema", Shape::Bool, "false"),
    optional("cache", Shape::Bool),
]);

static ALLOWED_PLUGIN: Shape =
    Shape::Table(&[required("name", Shape::Text(&ANY_TEXT)), required("sha256", Shape::Text(&SHA256))]);

/// Why a path of names leads to no setting.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoSetting {
    /// The name at this index is not known.
    Unknown(usize),
    /// The name at this index is free and not of the form that its table asks for.
    Form(usize, &'static str),
    /// The names before this index lead to a list or a plain value, which is set as a whole.
    Whole(usize),
}

/// The shape that a path of names leads to, and the names as the table spells them: known names are matched without
/// case, since environment variables are written in capitals; free names stay as they are.
pub(super) fn find(names: &[String]) -> Result<(&'static Shape, Vec<String>), NoSetting> {
    let mut shape: &'static Shape = &ROOT;
    let mut spelled = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        let known = shape.keys().iter().find(|key| key.name.eq_ignore_ascii_case(name));
        match (known, shape) {
            (Some(key), _) => {
                spelled.push(key.name.to_owned());
                shape = &key.shape;
            }
            (None, Shape::Map(form, _)) if !(form.holds)(name) => {
                return Err(NoSetting::Form(index, form.expected));
            }
            (None, Shape::Map(_, inner) | Shape::Open(_, inner)) => {
                spelled.push(name.clone());
                shape = inner;
            }
            (None, Shape::Free) => spelled.push(name.clone()),
            (None, Shape::Table(_)) => return Err(NoSetting::Unknown(index)),
            (None, _) => return Err(NoSetting::Whole(index)),
        }
    }
    Ok((shape, spelled))
}

/// Every known key by its full name, free names left out (`serve.endpoints`, not what is below it).
pub(super) fn all() -> Vec<Vec<&'static str>> {
    fn walk(shape: &'static Shape, above: &[&'static str], found: &mut Vec<Vec<&'static str>>) {
        for key in shape.keys() {
            let mut path = above.to_vec();
            path.push(key.name);
            walk(&key.shape, &path, found);
            found.push(path);
        }
    }
    let mut found = Vec::new();
    walk(&ROOT, &[], &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: Result<&str, NoSetting>) {
        let names: Vec<String> = path.split('.').map(str::to_owned).collect();
        let found = find(&names).map(|(_, spelled)| spelled.join("."));
        assert_eq!(found, expected.map(str::to_owned), "{path}");
    }

    #[test]
    fn a_path_of_names_finds_its_setting() {
        check("limits.calls_per_host", Ok("limits.calls_per_host"));
        check("LIMITS.CALLS_PER_HOST", Ok("limits.calls_per_host"));
        check("params.bind.MY_KEY", Ok("params.bind.MY_KEY"));
        check("plugins.replay.deep.Key", Ok("plugins.replay.deep.Key"));
        check("serve.endpoints.a.include", Ok("serve.endpoints.a.include"));
        check("http", Ok("http"));
        check("htp.timeout", Err(NoSetting::Unknown(0)));
        check("http.timeot", Err(NoSetting::Unknown(1)));
        check("serve.endpoints.a.incl", Err(NoSetting::Unknown(3)));
        check("packs.0.path", Err(NoSetting::Whole(1)));
        check("log.level.x", Err(NoSetting::Whole(2)));
        check("http.resolve.a:1", Err(NoSetting::Form(2, HOST_NAME.expected)));
    }
}
