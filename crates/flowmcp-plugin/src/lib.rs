//! The seams of flowmcp-server: the traits that a sandbox or a transport implements, and the plain data they exchange.
//!
//! Nothing here knows MCP, schemas or the HTTP client; an implementation depends on this crate alone.
//!
//! ```
//! use std::time::Instant;
//! use flowmcp_plugin::{BoxFuture, Request, Response, Transport, TransportError};
//!
//! /// Answers every request with its own URL.
//! struct Echo;
//!
//! impl Transport for Echo {
//!     fn send(&self, request: Request, _deadline: Instant) -> BoxFuture<'_, Result<Response, TransportError>> {
//!         Box::pin(async move {
//!             Ok(Response { status: 200, headers: Vec::new(), body: request.url.into() })
//!         })
//!     }
//! }
//! ```

mod sandbox;
mod secret;
mod transport;

pub use sandbox::{
    ContextLife, DerivedEncoding, DerivedToken, FetchRequest, FetchResult, Handlers, Hook, HookCall,
    HookOutput, HookValue, LogLevel, NetworkGrant, Outline, Sandbox, SandboxError, SandboxHost,
    SandboxLimits, SandboxProgram, SandboxSettings, SandboxSource, Ticket,
};
pub use secret::Secret;
pub use transport::{
    BoxFuture, Method, NetworkAccess, Phase, Request, RequestLimits, Response, RetryPolicy, Transport,
    TransportError,
};
