//! HTTP responses with a JSON-RPC body.

use std::{borrow::Cow, convert::Infallible};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError, RequestId};
use serde::Serialize;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Code that clients know for a session that has ended.
const SESSION_NOT_FOUND: ErrorCode = ErrorCode(-32001);

/// Bytes of a plain-text error that are kept.
const TEXT_BYTES: usize = 16 << 10;

/// A message as the whole response.
pub(super) fn json(status: StatusCode, message: &impl Serialize) -> Response {
    let mut response = match serde_json::to_vec(message) {
        Ok(body) => Response::new(Body::from(body)),
        Err(error) => {
            tracing::error!(%error, "a message could not be serialised");
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            return response;
        }
    };
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}

/// A JSON-RPC error; without an id where the request has none that can be read.
pub(super) fn error(status: StatusCode, id: Option<RequestId>, error: ErrorData) -> Response {
    json(status, &JsonRpcError::new(id, error))
}

pub(super) fn invalid_request(message: impl Into<Cow<'static, str>>) -> ErrorData {
    ErrorData::invalid_request(message, None)
}

/// A request of an `initialize` revision without a session.
pub(super) fn session_required(id: Option<RequestId>) -> Response {
    error(
        StatusCode::BAD_REQUEST,
        id,
        invalid_request("the Mcp-Session-Id header is missing: send the one that initialize returned"),
    )
}

/// A session that never was or has ended: the client has to initialize again.
pub(super) fn session_unknown(id: Option<RequestId>) -> Response {
    let message = "the session has ended or is not known: initialize again";
    error(StatusCode::NOT_FOUND, id, ErrorData::new(SESSION_NOT_FOUND, message, None))
}

/// rmcp's response, its bare-text errors as JSON-RPC ones.
pub(super) async fn from_rmcp<B>(response: http::Response<B>, id: Option<RequestId>) -> Response
where
    B: http_body::Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    let (parts, body) = response.into_parts();
    let body = Body::new(body);
    let is_json = parts
        .headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(JSON.as_bytes()));
    if parts.status.is_success() || is_json || parts.status == StatusCode::METHOD_NOT_ALLOWED {
        return Response::from_parts(parts, body);
    }
    let text = axum::body::to_bytes(body, TEXT_BYTES).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let code = match parts.status {
        StatusCode::NOT_FOUND => SESSION_NOT_FOUND,
        status if status.is_server_error() => ErrorCode::INTERNAL_ERROR,
        _ => ErrorCode::INVALID_REQUEST,
    };
    error(parts.status, id, ErrorData::new(code, text, None))
}
