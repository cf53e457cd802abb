//! POST: one message from a client.

use std::time::Duration;

use axum::{
    body::{Body, Bytes},
    extract::Request,
    response::Response,
};
use http::{HeaderMap, StatusCode, header, request::Parts};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, GetMeta as _, JsonRpcRequest, ProtocolVersion,
};

use super::{Front, reply, session_calls};
use crate::mcp::message::{self, Incoming};

/// Time for a request body to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Header that names the revision.
const VERSION_HEADER: &str = "mcp-protocol-version";

/// Answers one POST.
pub(super) async fn post(front: &Front, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    if !is_json(&parts.headers) {
        let error = reply::invalid_request("Content-Type must be application/json");
        return reply::error(StatusCode::UNSUPPORTED_MEDIA_TYPE, None, error);
    }
    let body = match read_body(body, front.request_bytes).await {
        Ok(body) => body,
        Err(response) => return response,
    };
    match message::read(&body) {
        Incoming::NotJson(reason) => {
            let error = ErrorData::parse_error(format!("the body is not JSON: {reason}"), None);
            reply::error(StatusCode::BAD_REQUEST, None, error)
        }
        Incoming::Ignored(reason) => {
            reply::error(StatusCode::BAD_REQUEST, None, reply::invalid_request(reason))
        }
        Incoming::Refused(refused) => {
            // As rmcp does it: a request that reached its method is answered with 200, whatever the answer.
            let status = match refused.error.code {
                ErrorCode::INVALID_REQUEST => StatusCode::BAD_REQUEST,
                ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
                _ => StatusCode::OK,
            };
            reply::json(status, &refused)
        }
        Incoming::Message(message) => dispatch(front, parts, body, *message).await,
    }
}

/// Requests of the `initialize` revisions are answered here, so that their answers are plain JSON and end with their
/// connection; rmcp takes the rest.
async fn dispatch(front: &Front, parts: Parts, body: Bytes, message: ClientJsonRpcMessage) -> Response {
    let id = match &message {
        ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    };
    match message {
        ClientJsonRpcMessage::Request(request) if uses_session(&request, &parts.headers) => {
            if let Some(error) = unknown_version(&parts.headers) {
                return reply::error(StatusCode::BAD_REQUEST, Some(request.id), error);
            }
            if matches!(request.request, ClientRequest::InitializeRequest(_)) {
                return session_calls::initialize(front, request).await;
            }
            match super::session_id(&parts.headers) {
                Some(session) => session_calls::call(front, session, request).await,
                None => reply::session_required(Some(request.id)),
            }
        }
        _ => {
            let response = front.service.handle(Request::from_parts(parts, Body::from(body))).await;
            reply::from_rmcp(response, id).await
        }
    }
}

/// Whether a request belongs to the revisions with `initialize`: it says no revision by itself, and neither does its
/// header say a later one.
fn uses_session(request: &JsonRpcRequest<ClientRequest>, headers: &HeaderMap) -> bool {
    if matches!(request.request, ClientRequest::InitializeRequest(_)) {
        return true;
    }
    request.request.get_meta().protocol_version().is_none()
        && !matches!(request.request, ClientRequest::DiscoverRequest(_))
        && known_version(headers).is_none_or(ProtocolVersion::has_initialize)
}

fn known_version(headers: &HeaderMap) -> Option<&'static ProtocolVersion> {
    let value = headers.get(VERSION_HEADER)?.as_bytes();
    ProtocolVersion::KNOWN_VERSIONS.iter().find(|version| version.as_str().as_bytes() == value)
}

fn unknown_version(headers: &HeaderMap) -> Option<ErrorData> {
    let value = headers.get(VERSION_HEADER)?;
    if known_version(headers).is_some() {
        return None;
    }
    let known: Vec<&str> = ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str).collect();
    let value: String = String::from_utf8_lossy(value.as_bytes()).chars().take(100).collect();
    Some(reply::invalid_request(format!("MCP-Protocol-Version {value:?} is not one of {}", known.join(", "))))
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

async fn read_body(body: Body, limit: usize) -> Result<Bytes, Response> {
    let too_large = || {
        let error = reply::invalid_request(format!("a request body may have {limit} bytes at most"));
        reply::error(StatusCode::PAYLOAD_TOO_LARGE, None, error)
    };
    match tokio::time::timeout(BODY_TIMEOUT, axum::body::to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_limit(&error) => Err(too_large()),
        Ok(Err(error)) => Err(reply::error(
            StatusCode::BAD_REQUEST,
            None,
            reply::invalid_request(format!("the body could not be read: {error}")),
        )),
        Err(_) => {
            let error = reply::invalid_request("the body did not arrive in time");
            Err(reply::error(StatusCode::REQUEST_TIMEOUT, None, error))
        }
    }
}

fn is_limit(error: &axum::Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<http_body_util::LengthLimitError>())
}
