//! Handlers in the real worker processes of this binary, with an upstream that is made up.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod determinism;
mod isolation;
mod requests;
mod results;
mod world;
