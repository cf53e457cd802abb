//! Compiled handlers as bytes: a header, then the schema's module and the libraries', each with its name.

use bytes::{BufMut, Bytes, BytesMut};
use flowmcp_plugin::SandboxError;

/// Changes with every release of the engine, since bytecode has no stable format.
const MAGIC: &[u8] = b"flowmcp-js-quickjs-0.16.2-";

/// One compiled module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompiledModule {
    /// Empty for the schema itself, else the library's name.
    pub(crate) name: String,
    /// Bytecode.
    pub(crate) code: Bytes,
}

/// Writes modules, the schema's first.
pub(crate) fn encode(modules: &[CompiledModule]) -> Bytes {
    let mut out = BytesMut::from(MAGIC);
    for module in modules {
        for part in [module.name.as_bytes(), &module.code] {
            out.put_u32(u32::try_from(part.len()).unwrap_or(u32::MAX));
            out.extend_from_slice(part);
        }
    }
    out.freeze()
}

/// Reads what [`encode`] wrote.
pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<CompiledModule>, SandboxError> {
    let damaged = || SandboxError::Crashed {
        reason: "the compiled handlers are damaged or were made by another version".to_owned(),
    };
    let mut rest = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
    let mut part = || {
        let (head, tail) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_be_bytes(*head)).ok()?;
        let (part, tail) = tail.split_at_checked(length)?;
        rest = tail;
        Some(part)
    };
    let mut modules = Vec::new();
    while let Some(name) = part() {
        let code = part().ok_or_else(damaged)?;
        let name = String::from_utf8(name.to_vec()).map_err(|_| damaged())?;
        modules.push(CompiledModule { name, code: Bytes::copy_from_slice(code) });
    }
    if modules.is_empty() || !rest.is_empty() { Err(damaged()) } else { Ok(modules) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_and_damage() {
        let modules = vec![
            CompiledModule { name: String::new(), code: Bytes::from_static(b"schema") },
            CompiledModule { name: "ethers".to_owned(), code: Bytes::from_static(b"library") },
        ];
        let bytes = encode(&modules);
        assert_eq!(decode(&bytes).unwrap(), modules);
        assert!(decode(&bytes[..bytes.len() - 1]).is_err());
        assert!(decode(&bytes[1..]).is_err());
        assert!(decode(MAGIC).is_err());
    }
}
