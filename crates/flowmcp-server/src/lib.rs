//! placeholder

pub mod config;
pub mod env_file;
