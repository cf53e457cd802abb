//! Local resources through the public interface of the crate.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod changes;
mod documents;
mod files;
mod hostile;
mod limits;
mod paths;
mod results;
mod scene;
