//! Turns validated schemas into tools and calls them.
//!
//! The path of one call is in `call.rs`: arguments are bound, the request is rendered, the transport sends it, and the
//! response becomes an [`Output`]; handlers run in between (`hooks.rs`). The engine never reads the environment and never touches stdout.

mod activate;
mod bind;
mod call;
mod caller;
mod catalogue;
mod dry_run;
mod factory;
mod hooks;
mod lists;
mod local;
pub mod names;
pub mod output;
mod pack;
pub mod params;
pub mod redact;
mod render;
mod settings;

pub use activate::{ActiveTool, Hidden, activate, activate_queries, activate_with};
pub use call::{CallError, Engine};
pub use caller::{Asks, Caller, Progress};
pub use catalogue::{DEFAULT_VIEW, Entry, Snapshot, View};
pub use dry_run::{DryRun, DryRunError, dry_run, dry_run_with};
pub use factory::Factory;
pub use hooks::program;
pub use lists::Lists;
pub use output::{Content, Output, ResourceBody};
pub use pack::PackPolicy;
pub use settings::{Limits, Settings, Types, UnknownArguments};
