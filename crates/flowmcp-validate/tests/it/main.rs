//! Integration tests.

mod pages;
mod refusals;
mod texts;
