//! Integration tests.

mod pages;
