//! The binary through its command line, as `design/cli.md` fixes it: whole stdout, stderr and exit codes.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail like tests")]

mod call;

mod leaks;

pub(crate) mod project;

mod bombs;
mod examples;
mod factories;
mod hash;
mod list;
mod lock;
mod migrate;
mod other;
mod sandbox;
mod test;
pub(crate) mod upstream;
mod validate;
