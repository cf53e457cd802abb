//! The JavaScript that every context has: a bootstrap, and pieces that load when a handler first names what they define.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use bytes::Bytes;
use flowmcp_plugin::NetworkGrant;

use crate::engine;

/// A piece: its name, its text and the globals that it defines.
struct Piece {
    name: &'static str,
    text: &'static str,
    globals: &'static [&'static str],
    network: bool,
}

const PIECES: &[Piece] = &[
    Piece {
        name: "web",
        text: include_str!("prelude/web.js"),
        globals: &["URL", "URLSearchParams"],
        network: false,
    },
    Piece {
        name: "text",
        text: include_str!("prelude/text.js"),
        globals: &["TextEncoder", "TextDecoder", "atob", "btoa"],
        network: false,
    },
    Piece { name: "buffer", text: include_str!("prelude/buffer.js"), globals: &["Buffer"], network: false },
    Piece {
        name: "clone",
        text: include_str!("prelude/clone.js"),
        globals: &["structuredClone"],
        network: false,
    },
    Piece {
        name: "console",
        text: include_str!("prelude/console.js"),
        globals: &["console"],
        network: false,
    },
    Piece {
        name: "abort",
        text: include_str!("prelude/abort.js"),
        globals: &["AbortSignal", "AbortController"],
        network: false,
    },
    Piece {
        name: "fetch",
        text: include_str!("prelude/fetch.js"),
        globals: &[
            "fetch",
            "Headers",
            "Response",
            "setTimeout",
            "setInterval",
            "clearTimeout",
            "clearInterval",
        ],
        network: true,
    },
    Piece { name: "digits", text: include_str!("prelude/digits.js"), globals: &[], network: false },
    Piece { name: "harden", text: include_str!("prelude/harden.js"), globals: &[], network: false },
];

/// Name of the module that runs first.
pub(crate) const BOOTSTRAP: &str = "flowmcp:bootstrap";

/// Compiled pieces, each compiled when it is first wanted.
#[derive(Default)]
pub(crate) struct Prelude {
    compiled: RefCell<HashMap<&'static str, Bytes>>,
}

impl Prelude {
    pub(crate) fn bootstrap(&self) -> rquickjs::Result<Bytes> {
        self.code(BOOTSTRAP, include_str!("prelude/bootstrap.js"))
    }

    /// A piece's bytecode; none when there is no such piece.
    pub(crate) fn piece(&self, name: &str) -> Option<rquickjs::Result<Bytes>> {
        PIECES.iter().find(|piece| piece.name == name).map(|piece| self.code(piece.name, piece.text))
    }

    fn code(&self, name: &'static str, text: &'static str) -> rquickjs::Result<Bytes> {
        if let Some(code) = self.compiled.borrow().get(name) {
            return Ok(code.clone());
        }
        let code = engine::compile_own(name, text)?;
        self.compiled.borrow_mut().insert(name, code.clone());
        Ok(code)
    }
}

/// Pieces with globals of their own that a context offers.
pub(crate) fn offered(
    network: NetworkGrant,
) -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    PIECES
        .iter()
        .filter(move |piece| {
            !piece.globals.is_empty() && (!piece.network || network == NetworkGrant::Granted)
        })
        .map(|piece| (piece.name, piece.globals))
}

/// Shared between the contexts of one thread.
pub(crate) type SharedPrelude = Rc<Prelude>;
