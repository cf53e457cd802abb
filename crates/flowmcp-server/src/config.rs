//! The configuration: defaults, then `config.toml`, then `FLOWMCP_…` variables, then `--set`, then flags.
//!
//! [`Config::load`] reads all of them at once and reports everything that is wrong at once. The keys and their defaults
//! are one table (`config/keys.rs`); [`Config`] is the typed result. Nothing here reads the process environment: the
//! caller passes it in.
//!
//! ```
//! use flowmcp_server::config::{Config, Sources};
//!
//! let sources = Sources { set: vec!["limits.call_deadline=5s".into()], ..Sources::default() };
//! let loaded = Config::load(&sources)?;
//! assert_eq!(loaded.config.limits.call_deadline.as_secs(), 5);
//! # Ok::<(), flowmcp_server::config::ConfigError>(())
//! ```

mod check;
mod effect;
mod error;
mod format;
mod keys;
mod layer;
mod load;
mod origin;
mod settings;
mod shape;
mod show;
mod suggest;
mod units;

use std::{collections::BTreeMap, fmt, net::SocketAddr, path::PathBuf, time::Duration};

use serde::{Deserialize, Deserializer};

pub use check::{Finding, Severity, check};
pub use error::{ConfigError, Found, Hint, Place, Problem};
pub(crate) use format::grant;
pub use load::{Flag, Loaded, Sources};
pub use origin::Origins;
pub use show::show;

/// All settings, with relative paths made relative to the configuration file's folder.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `[log]`
    pub log: Log,
    /// `[serve]`
    pub serve: Serve,
    /// `[limits]`
    pub limits: Limits,
    /// `[http]`
    pub http: Http,
    /// `[params]`
    pub params: Params,
    /// `[[packs]]`, those of `--pack` last.
    pub packs: Vec<Pack>,
    /// `[sandboxes]`
    pub sandboxes: Sandboxes,
    /// `[transport]`
    pub transport: Upstream,
    /// `[plugins]`
    pub plugins: Plugins,
}

/// What is logged, always on stderr.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// Least important lines that are still written.
    pub level: LogLevel,
    /// How a line looks.
    pub format: LogFormat,
}

/// Importance of log lines, from none to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// Failures only.
    Error,
    /// Also what is odd.
    Warn,
    /// Also what the server does.
    Info,
    /// Also why.
    Debug,
    /// Everything.
    Trace,
}

/// How a log line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// How clients reach the server and what they may send.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Serve {
    /// Whether to serve on stdin and stdout.
    pub stdio: bool,
    /// Address to serve streamable HTTP on.
    pub http: Option<SocketAddr>,
    /// Values of `Host` that are accepted besides loopback names.
    pub allowed_hosts: Vec<String>,
    /// Values of `Origin` that are accepted besides loopback ones.
    pub allowed_origins: Vec<String>,
    /// What happens to arguments that a tool does not know.
    pub unknown_arguments: UnknownArguments,
    /// Whether arguments must have their declared JSON type.
    pub strict_types: bool,
    /// Whether clients can search the catalogue.
    pub discovery: Option<bool>,
    /// Views of the catalogue by name.
    pub endpoints: BTreeMap<String, Endpoint>,
}

/// What happens to arguments that a tool does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownArguments {
    /// Dropped with a note.
    Drop,
    /// An argument error.
    Refuse,
}

/// A view of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// Filters of what it has; empty means everything.
    #[serde(default)]
    pub include: Vec<String>,
    /// Filters of what it leaves out.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Agent whose selection it serves.
    pub agent: Option<String>,
}

/// Limits of semantics.md, section 10. Sizes are bytes; nothing is zero.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Bytes of a schema or list file.
    pub schema_file: usize,
    /// Nesting of a schema or list file.
    pub schema_nesting: usize,
    /// CPU time of one hook.
    #[serde(deserialize_with = "milliseconds")]
    pub handler_cpu: Duration,
    /// Bytes of memory of a handler.
    pub handler_memory: usize,
    /// Bytes of stack of a handler.
    pub handler_stack: usize,
    /// Log lines of handlers in one call.
    pub handler_log_lines: usize,
    /// Fetches of handlers in one call.
    pub handler_fetches: usize,
    /// One deadline per call: retries, handlers and plugins included.
    #[serde(deserialize_with = "milliseconds")]
    pub call_deadline: Duration,
    /// Time to connect to an upstream.
    #[serde(deserialize_with = "milliseconds")]
    pub connect: Duration,
    /// Bytes of a decoded upstream body.
    pub response: usize,
    /// Bytes of an upstream body that goes into a handler.
    pub handler_input: usize,
    /// Bytes of content that go to a client.
    pub content: usize,
    /// Bytes of a request body from a client.
    pub request: usize,
    /// Nesting of a call's arguments.
    pub argument_nesting: usize,
    /// Calls in flight.
    pub calls: usize,
    /// Calls in flight to one upstream host.
    pub calls_per_host: usize,
    /// Time that calls in flight get to end at SIGTERM.
    #[serde(deserialize_with = "milliseconds")]
    pub drain: Duration,
}

/// The upstream side over HTTP.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    /// Time of one attempt; without it only the call's deadline counts.
    #[serde(default, deserialize_with = "some_milliseconds")]
    pub timeout: Option<Duration>,
    /// Attempts after the first.
    pub retries: u8,
    /// Proxy for all upstream requests; never taken from the environment.
    pub proxy: Option<ProxyUrl>,
    /// Addresses for host names, used instead of DNS.
    pub resolve: BTreeMap<String, SocketAddr>,
    /// PEM file of certificate authorities that are trusted besides the built-in ones.
    pub ca_file: Option<PathBuf>,
    /// Host names that may resolve to loopback and private addresses.
    pub private_hosts: Vec<String>,
}

/// URL of a proxy, which may hold a password: `Debug` hides it.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct ProxyUrl(String);

impl ProxyUrl {
    /// The whole URL: only for building a client.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ProxyUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format::hide_user_info(&self.0))
    }
}

/// Where server parameters (API keys and the like) come from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// File of `NAME=value` lines; by default `.env` beside the configuration file, where there is one.
    pub env_file: Option<PathBuf>,
    /// Names that are read from the process environment, which wins over the file.
    pub from_env: Vec<String>,
    /// Further hosts that a parameter may be sent to, by its name.
    pub bind: BTreeMap<String, Vec<String>>,
}

/// One pack of schemas.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pack {
    /// A schema file, a provider folder or a whole catalogue.
    pub path: PathBuf,
    /// Name in messages; the path where it is absent.
    pub name: Option<String>,
    /// Whether it is served.
    pub enabled: bool,
    /// What its handlers may do: `fetch`, `secret:NAME`.
    pub grants: Vec<String>,
    /// Hosts that its requests may reach besides the schema's own.
    pub hosts: Vec<String>,
    /// Whether `http://` roots, loopback and private addresses are allowed.
    pub allow_local: bool,
    /// Major versions that are accepted besides 3.
    pub accept_versions: Vec<String>,
    /// Whether handlers keep one context per schema.
    pub reuse: bool,
    /// What a difference from `flowmcp.lock` does.
    pub integrity: Option<Integrity>,
    /// Which file runs where a schema has handlers in both languages.
    pub sandbox: Option<HandlerFile>,
    /// Whether clients get output schemas and structured content.
    pub publish_output_schema: bool,
    /// Whether results are cached as the schemas' `preload` says.
    pub cache: Option<bool>,
}

/// What a difference from the pack's lock file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Integrity {
    /// Nothing; the lock file is not even looked for.
    #[default]
    Off,
    /// A warning.
    Warn,
    /// The file's tools are hidden.
    Locked,
}

/// File extension of handlers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HandlerFile {
    /// JavaScript inside the schema.
    Mjs,
    /// Lua beside the schema.
    Lua,
}

/// Which sandbox runs which handlers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sandboxes {
    /// Sandbox for `.mjs`.
    pub mjs: String,
    /// Sandbox for `.lua`.
    pub lua: String,
    /// How handlers are kept apart from the server.
    pub isolation: Isolation,
}

/// How handlers are kept apart from the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// Worker processes, confined as far as the kernel can.
    Process,
    /// Worker processes; no handlers where a layer is missing.
    Strict,
    /// Inside the server, for trusted packs.
    Thread,
}

/// The upstream side.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upstream {
    /// Name of the transport.
    #[serde(rename = "use")]
    pub name: String,
}

/// Plugins and what they are given.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Plugins {
    /// Folders that are searched.
    pub dirs: Vec<PathBuf>,
    /// Names without which the server does not start.
    pub required: Vec<String>,
    /// The only plugins that may be loaded; empty means any.
    pub allow: Vec<AllowedPlugin>,
    /// `[plugins.NAME]` by name.
    #[serde(flatten)]
    pub config: BTreeMap<String, PluginConfig>,
}

/// A plugin that may be loaded.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllowedPlugin {
    /// Name of the plugin.
    pub name: String,
    /// SHA-256 of its file, 64 hexadecimal digits.
    pub sha256: String,
}

/// What a plugin is given. May hold secrets: `Debug` shows names only.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct PluginConfig(serde_json::Map<String, serde_json::Value>);

impl PluginConfig {
    /// The settings as the plugin gets them.
    pub fn expose(&self) -> &serde_json::Map<String, serde_json::Value> {
        &self.0
    }
}

impl fmt::Debug for PluginConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

fn milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

fn some_milliseconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    Option::<u64>::deserialize(deserializer).map(|millis| millis.map(Duration::from_millis))
}
