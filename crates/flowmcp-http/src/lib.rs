//! placeholder docs
mod address;
mod body;
mod client;
mod deadline;
mod failure;
mod headers;
mod progress;
mod redirect;
mod resolve;
mod retry;
mod secrets;
mod settings;
mod slots;
mod target;
mod transport;

pub use settings::{HttpSettings, HttpSettingsError};
pub use transport::HttpTransport;
