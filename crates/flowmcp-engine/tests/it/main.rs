//! From the text of a schema to the request that is sent and the result that comes back.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test ends where something is missing")]

mod arguments;
mod calls;
mod encoding;
mod input_schema;
mod keys;
mod lists;
mod names;
mod pages;
mod placeholders;
mod properties;
mod queries;
mod requests;
mod results;
mod roots;
mod schema_text;
mod support;
