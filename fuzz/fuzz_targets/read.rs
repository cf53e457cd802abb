//! Any text as a file.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    flowmcp_fuzz::tools(text);
});
