//! Turns validated schemas into tools and calls them.
//!
//! The path of one call is [`call`]: arguments are bound, the request is rendered, hooks run around the transport, and
//! the response becomes an [`Output`]. The engine never reads the environment and never touches stdout.

mod activate;
mod call;
mod caller;
mod catalogue;
pub mod output;
pub mod params;
pub mod redact;
mod settings;

pub use activate::{ActiveTool, Hidden};
pub use call::{CallError, Engine};
pub use caller::{Asks, Caller, Progress};
pub use catalogue::{DEFAULT_VIEW, Entry, Snapshot, View};
pub use output::{Content, Output, ResourceBody};
pub use settings::{Limits, Settings, Types, UnknownArguments};
