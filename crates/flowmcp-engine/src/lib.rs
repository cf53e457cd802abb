//! Turns validated schemas into tools and calls them.
//!
//! The path of one call is [`call`]: arguments are bound, the request is rendered, hooks run around the transport, and
//! the response becomes an [`Output`]. The engine never reads the environment and never touches stdout.

mod caller;
pub mod output;
mod settings;

pub use caller::{Asks, Caller, Progress};
pub use output::{Content, Output, ResourceBody};
pub use settings::{Limits, Settings, Types, UnknownArguments};
