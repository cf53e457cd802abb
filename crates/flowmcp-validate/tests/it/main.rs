//! Integration tests.

mod index;
mod pages;
mod refusals;
mod texts;
