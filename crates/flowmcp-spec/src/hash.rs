//! Integrity hash of a schema's data (semantics.md, section 1).

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::Node;

/// `sha256:` and 64 hex digits: SHA-256 over what `JSON.stringify(main)` gives.
///
/// ```
/// let file = flowmcp_spec::SourceFile::new("ping.mjs", "export const main = { b: 1.0, a: 'x' }");
/// let document = flowmcp_spec::read(&file).document.expect("it is literal");
/// // The same as: node -e "crypto.createHash('sha256').update(JSON.stringify({b:1,a:'x'})).digest('hex')"
/// assert_eq!(flowmcp_spec::hash(&document.root), "sha256:7239560c8c8c6a78e1ff0b99426cca61beee0b524406431517c23f180e34b48d");
/// ```
pub fn hash(node: &Node) -> String {
    sha256(node.to_json().as_bytes())
}

/// The same form of hash over any bytes, for handler sources and lists.
pub fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().fold(String::from("sha256:"), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
