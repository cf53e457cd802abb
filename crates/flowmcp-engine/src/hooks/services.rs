//! What the host does for a running hook: its log lines, and its requests where the pack has the grant.

use std::{borrow::Cow, time::Instant};

use bytes::Bytes;
use flowmcp_plugin::{BoxFuture, FetchRequest, FetchResult, LogLevel};
use flowmcp_worker::HostServices;

use crate::{ActiveTool, Engine, render::Rendered};

use super::{Tokens, edits, tokens::Meaning};

/// The host of one hook call; a dry run has no engine, and makes no requests.
pub(super) struct Services<'c> {
    pub(super) engine: Option<&'c Engine>,
    pub(super) tool: &'c ActiveTool,
    pub(super) tokens: &'c Tokens,
    /// A URL of the schema's root, for comparing origins.
    pub(super) root: &'c str,
}

impl HostServices for Services<'_> {
    fn fetch(&self, request: FetchRequest, deadline: Instant) -> BoxFuture<'_, Result<FetchResult, String>> {
        Box::pin(self.answer(request, deadline))
    }

    fn log(&self, level: LogLevel, line: &str) {
        let line = self.tokens.show(line.to_owned());
        let line = match self.engine {
            Some(engine) => engine.redactor().redact_owned(line),
            None => line,
        };
        let tool = &self.tool.name;
        match level {
            LogLevel::Debug => tracing::debug!(%tool, "{line}"),
            LogLevel::Info => tracing::info!(%tool, "{line}"),
            LogLevel::Warn => tracing::warn!(%tool, "{line}"),
            LogLevel::Error => tracing::error!(%tool, "{line}"),
        }
    }
}

impl Services<'_> {
    async fn answer(&self, request: FetchRequest, deadline: Instant) -> Result<FetchResult, String> {
        let Some(engine) = self.engine else { return Err("a dry run makes no requests".to_owned()) };
        let url = edits::allowed(self.tool, self.root, &request.url).map_err(|error| error.to_string())?;
        let body = match request.body.is_empty() {
            true => None,
            false => {
                Some(String::from_utf8(request.body.into()).map_err(|_| "the body is no text".to_owned())?)
            }
        };
        let asked = Rendered { method: request.method, url, headers: request.headers, body };
        let meaning = Meaning::Real(engine.params());
        let tokens = match request.derived.is_empty() {
            true => Cow::Borrowed(self.tokens),
            false => {
                let mut tokens = self.tokens.clone();
                tokens.derive(request.derived);
                Cow::Owned(tokens)
            }
        };
        let ready = edits::expand(asked, self.root, &tokens, engine.params(), meaning);
        let ready = ready.map_err(|error| error.to_string())?;
        let response = engine.send(self.tool, ready, deadline).await?;
        let redactor = engine.redactor();
        let limit = engine.settings().limits.handler_input_bytes;
        if response.body.len() > limit {
            return Err(format!("the response is larger than the limit of {limit} bytes for handlers"));
        }
        let headers = response.headers.into_iter();
        Ok(FetchResult {
            status: response.status,
            headers: headers.map(|(name, value)| (name, redactor.redact_owned(value))).collect(),
            body: Bytes::clone(&redactor.redact_bytes(&response.body)),
        })
    }
}
