//! From the `struct` that a hook gave back to a request. An edited request passes the same checks as any other.

use std::borrow::Cow;

use flowmcp_plugin::{Method, NetworkAccess};
use serde_json::{Map, Value};
use url::Url;

use crate::{
    ActiveTool,
    params::ServerParams,
    render::{Place, Rendered, form, text},
};

use super::{
    Tokens,
    tokens::{Meaning, TokenError},
};

/// Why a handler's request is not sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum EditError {
    #[error("its url {url:?} is not usable: {reason}")]
    Url { url: String, reason: String },
    #[error(
        "its url is at {found}, and the schema's requests go to {root} (other hosts: config, hosts of the pack)"
    )]
    Origin { found: String, root: String },
    #[error("its url at {host} would carry the server parameter {key}, which is bound to another domain")]
    Bound { host: String, key: String },
    #[error("its method {found} is none of GET, POST, PUT, DELETE")]
    Method { found: String },
    #[error("its {field} is {found}, expected {expected}")]
    Shape { field: &'static str, found: &'static str, expected: &'static str },
    #[error("its header {name} is no text, or has a line break or NUL")]
    Header { name: String },
    #[error("it gives a body to a {method} request")]
    Body { method: Method },
    #[error(transparent)]
    Token(#[from] TokenError),
}

type Result<T> = std::result::Result<T, EditError>;

/// The request after a hook that got `before` and gave `after`: the `url` counts first, then `queryParams`, and
/// `requestBody` counts more than `body`. What was left alone stays as it was rendered.
pub(super) fn apply(
    tool: &ActiveTool,
    rendered: &Rendered,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) -> Result<Rendered> {
    let edited = |name: &str| after.get(name).filter(|value| before.get(name) != Some(*value));
    let mut request = rendered.clone();
    if let Some(url) = edited("url") {
        let url = url.as_str().ok_or_else(|| shape("url", url, "a text"))?;
        request.url = allowed(tool, &rendered.url, url)?;
    }
    if let Some(pairs) = edited("queryParams") {
        let base = request.url.split(['?', '#']).next().unwrap_or_default();
        let query = query(pairs)?;
        request.url = if query.is_empty() { base.to_owned() } else { format!("{base}?{query}") };
    }
    if let Some(method) = edited("method") {
        let text = method.as_str().unwrap_or_default().to_ascii_uppercase();
        request.method = text.parse().map_err(|()| EditError::Method { found: method.to_string() })?;
    }
    if let Some(headers) = edited("headers") {
        request.headers = header_list(headers)?;
    }
    if let Some(body) = edited("requestBody").or_else(|| edited("body")) {
        request.body = body_text(body, &mut request.headers);
    }
    if request.body.is_some() && !request.method.has_body() {
        return Err(EditError::Body { method: request.method });
    }
    Ok(request)
}

/// A URL that a handler wrote, parsed and written again, if the schema's requests may go there.
pub(super) fn allowed(tool: &ActiveTool, root: &str, url: &str) -> Result<String> {
    let parse = |text: &str| {
        Url::parse(text).map_err(|error| EditError::Url { url: short(text), reason: error.to_string() })
    };
    let mut parsed = parse(url)?;
    let home = parse(root)?;
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err(EditError::Url {
            url: short(url),
            reason: "it holds a user name or password".to_owned(),
        });
    }
    let same_place =
        parsed.scheme() == home.scheme() && parsed.port_or_known_default() == home.port_or_known_default();
    let hosts = (parsed.host_str().unwrap_or_default(), home.host_str().unwrap_or_default());
    let at_home =
        same_place && (hosts.0 == hosts.1 || (tool.plan.root.marker && fills_marker(hosts.0, hosts.1)));
    if !at_home && !is_configured(tool, &parsed) {
        return Err(EditError::Origin {
            found: parsed.origin().ascii_serialization(),
            root: home.origin().ascii_serialization(),
        });
    }
    parsed.set_fragment(None);
    Ok(parsed.into())
}

/// Whether a host differs from the root's only in its `--marker--` label.
fn fills_marker(host: &str, root: &str) -> bool {
    let is_marker = |label: &str| label.split("--").count() > 2;
    host.split('.').count() == root.split('.').count()
        && host
            .split('.')
            .zip(root.split('.'))
            .all(|(given, wanted)| given == wanted || (is_marker(wanted) && !given.is_empty()))
}

fn is_configured(tool: &ActiveTool, url: &Url) -> bool {
    let pack = &tool.plan.pack;
    let by_scheme =
        url.scheme() == "https" || (url.scheme() == "http" && pack.network == NetworkAccess::Local);
    let host = url.host_str().unwrap_or_default();
    let with_port = url.port().map(|port| format!("{host}:{port}"));
    by_scheme
        && pack.hosts.iter().any(|allowed| {
            (allowed.eq_ignore_ascii_case(host) && url.port().is_none())
                || with_port.as_ref().is_some_and(|with_port| allowed.eq_ignore_ascii_case(with_port))
        })
}

fn query(pairs: &Value) -> Result<String> {
    let mut query = String::new();
    match pairs {
        Value::Null => {}
        Value::String(text) => query.push_str(text.trim_start_matches('?')),
        Value::Object(map) => {
            for (key, value) in map.iter().filter(|(_, value)| !value.is_null()) {
                if !query.is_empty() {
                    query.push('&');
                }
                form(key, &mut query);
                query.push('=');
                form(&text(value), &mut query);
            }
        }
        other => return Err(shape("queryParams", other, "an object")),
    }
    Ok(query)
}

fn header_list(headers: &Value) -> Result<Vec<(String, String)>> {
    let map = match headers {
        Value::Null => return Ok(Vec::new()),
        Value::Object(map) => map,
        other => return Err(shape("headers", other, "an object")),
    };
    let mut list = Vec::with_capacity(map.len());
    for (name, value) in map.iter().filter(|(_, value)| !value.is_null()) {
        let fault = || EditError::Header { name: short(name) };
        let value = match value {
            Value::Array(_) | Value::Object(_) => return Err(fault()),
            value => text(value).into_owned(),
        };
        if value.contains(['\r', '\n', '\0']) {
            return Err(fault());
        }
        list.push((name.clone(), value));
    }
    Ok(list)
}

/// The text of a body: an object as the declared content type wants it, a text as it is.
fn body_text(body: &Value, headers: &mut Vec<(String, String)>) -> Option<String> {
    let is_form = content_type(headers).starts_with("application/x-www-form-urlencoded");
    let (body, is_json) = match body {
        Value::Null => return None,
        Value::String(text) if text.is_empty() => return None,
        Value::String(text) => (text.clone(), text.trim_start().starts_with(['{', '['])),
        map @ Value::Object(_) if is_form => (query(map).unwrap_or_default(), false),
        value => (value.to_string(), true),
    };
    if is_json && content_type(headers).is_empty() {
        headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
    }
    Some(body)
}

fn content_type(headers: &[(String, String)]) -> String {
    let found = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    found.map(|(_, value)| value.trim_start().to_ascii_lowercase()).unwrap_or_default()
}

/// The request with its tokens replaced, each for the place where it stands.
pub(super) fn expand(
    request: Rendered,
    root: &str,
    tokens: &Tokens,
    params: &ServerParams,
    meaning: Meaning<'_>,
) -> Result<Rendered> {
    let (origin, path, query) = split(&request.url);
    if matches!(meaning, Meaning::Real(_)) && origin != split(root).0 {
        check_bound(&request, origin, tokens, params)?;
    }
    let mut url = tokens.expand(origin, Place::Origin, meaning)?;
    url.push_str(&tokens.expand(path, Place::Path, meaning)?);
    if let Some(query) = query {
        url.push('?');
        url.push_str(&tokens.expand(query, Place::Query, meaning)?);
    }
    let declared = content_type(&request.headers);
    let place = match &request.body {
        Some(body) if declared.contains("json") || body.trim_start().starts_with(['{', '[']) => Place::Json,
        _ if declared.starts_with("application/x-www-form-urlencoded") => Place::Query,
        _ => Place::Header,
    };
    let mut headers = Vec::with_capacity(request.headers.len());
    for (name, value) in request.headers {
        let value = tokens.expand(&value, Place::Header, meaning)?;
        if value.contains(['\r', '\n', '\0']) {
            return Err(EditError::Header { name });
        }
        headers.push((name, value));
    }
    let body = request.body.map(|body| tokens.expand(&body, place, meaning)).transpose()?;
    Ok(Rendered { method: request.method, url, headers, body })
}

/// Another host than the schema's gets only the server parameters that are bound to its domain.
fn check_bound(request: &Rendered, origin: &str, tokens: &Tokens, params: &ServerParams) -> Result<()> {
    let host = Url::parse(origin).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
    let headers = request.headers.iter().map(|(_, value)| value.as_str());
    let texts = [request.url.as_str()].into_iter().chain(headers).chain(request.body.as_deref());
    for text in texts {
        if let Some(key) = tokens.keys_in(text).into_iter().find(|key| !params.may_go_to(key, &host)) {
            return Err(EditError::Bound { host, key: key.to_owned() });
        }
    }
    Ok(())
}

/// Origin, path and query of an absolute URL.
fn split(url: &str) -> (&str, &str, Option<&str>) {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url.get(start..).and_then(|rest| rest.find(['/', '?', '#'])).map_or(url.len(), |at| start + at);
    let (origin, rest) = url.split_at_checked(end).unwrap_or((url, ""));
    match rest.split_once('?') {
        Some((path, query)) => (origin, path, Some(query)),
        None => (origin, rest, None),
    }
}

fn shape(field: &'static str, found: &Value, expected: &'static str) -> EditError {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    EditError::Shape { field, found, expected }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => Cow::Borrowed(text).into_owned(),
    }
}
