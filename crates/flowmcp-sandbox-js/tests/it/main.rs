//! Handlers in the process itself: what they see, what they get, what they may not do.

mod globals;
mod limits;
mod requests;
mod results;
mod reuse;
mod support;
