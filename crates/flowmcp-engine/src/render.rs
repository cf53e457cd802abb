//! From bound arguments to a request: one pass over typed templates. A caller's value is encoded for the place it
//! stands in and never scanned again.

mod encode;
mod path;

use std::borrow::Cow;

use flowmcp_plugin::Method;
use flowmcp_spec::schema::{Field, FieldValue, Part};
use serde_json::Value;
use url::Url;

use crate::{ActiveTool, bind::Arguments, hooks::Tokens, params::ServerParams};
use encode::{component, json_string};
pub(crate) use encode::{form, place_secret, text};

/// A request as text, before it goes to a transport.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rendered {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<String>,
}

/// What stands for a server parameter.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ServerValues<'p> {
    /// Its value.
    Real(&'p ServerParams),
    /// `<KEY>`, put in after encoding: for dry runs, which need no key.
    Shown,
    /// Its token, or its value where the pack's handlers may have that: for tools with handlers.
    Tokens {
        /// The tokens.
        tokens: &'p Tokens,
        /// The values; a dry run has none.
        params: Option<&'p ServerParams>,
    },
}

/// Where a value stands, which decides its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A path segment.
    Path,
    /// A query pair that the server composes.
    Query,
    /// A query that the schema wrote into a path or root.
    PathQuery,
    /// A header.
    Header,
    /// Inside a JSON string.
    Json,
    /// Scheme, host and port.
    Origin,
}

/// Why a request cannot be made from these arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RenderError {
    /// A path segment that would change which resource is reached.
    #[error("{input}: gives the path segment {segment:?}, which is not allowed")]
    Segment { input: String, segment: String },
    /// An argument that the path needs in its middle.
    #[error("{input}: is needed by the path")]
    NeededByPath { input: String },
    /// Some of several arguments of one text.
    #[error("{missing}: is needed together with {given}")]
    NeededTogether { missing: String, given: String },
    /// A value that a header cannot hold.
    #[error("header {name}: the value has a line break or NUL")]
    Header { name: String },
    /// A server parameter without a value; such a tool is hidden, so this is a race with a reload.
    #[error("server parameter {key} has no value")]
    MissingParam { key: String },
    /// The composed URL is none, or leaves the schema's root.
    #[error("the request would leave the schema's root: {reason}")]
    Url { reason: String },
}

type Result<T> = std::result::Result<T, RenderError>;

/// Renders the request of a tool.
pub(crate) fn render(tool: &ActiveTool, arguments: &Arguments, server: ServerValues<'_>) -> Result<Rendered> {
    let renderer = Renderer { tool, arguments, server };
    let url = renderer.url()?;
    let mut headers = renderer.headers()?;
    let body = renderer.body(&mut headers)?;
    Ok(Rendered { method: tool.method, url, headers, body })
}

struct Renderer<'r> {
    tool: &'r ActiveTool,
    arguments: &'r Arguments,
    server: ServerValues<'r>,
}

impl Renderer<'_> {
    fn value(&self, input: usize) -> Option<&Value> {
        self.arguments.values.get(input).and_then(Option::as_ref)
    }

    fn input_name(&self, input: usize) -> String {
        self.tool.plan.inputs.get(input).map(|input| input.name.to_string()).unwrap_or_default()
    }

    fn server_value(&self, key: &str, place: Place, out: &mut String) -> Result<()> {
        let real = |params: &ServerParams, out: &mut String| {
            let value = params.get(key).ok_or_else(|| RenderError::MissingParam { key: key.to_owned() })?;
            place_secret(value.expose(), place, out);
            Ok(())
        };
        match self.server {
            ServerValues::Real(params) => return real(params, out),
            ServerValues::Tokens { tokens, params } => match (tokens.of_key(key), params) {
                (Some(token), _) => {
                    out.push_str(token);
                    return Ok(());
                }
                (None, Some(params)) => return real(params, out),
                (None, None) => {}
            },
            ServerValues::Shown => {}
        }
        out.push('<');
        out.push_str(key);
        out.push('>');
        Ok(())
    }

    fn url(&self) -> Result<String> {
        let plan = &self.tool.plan;
        let mut url = String::with_capacity(128);
        self.schema_text(&plan.root.origin, Place::Origin, &mut url)?;
        self.schema_text(&plan.root.path, Place::Path, &mut url)?;
        let root = url.len();
        self.path(&mut url)?;
        let path = url.len();
        let mut query = String::new();
        self.schema_text(&plan.root.query, Place::PathQuery, &mut query)?;
        self.path_query(&mut query)?;
        for field in &plan.query {
            self.query_field(field, &mut query)?;
        }
        if !query.is_empty() {
            url.push('?');
            url.push_str(&query);
        }
        let has_input = |parts: &[Part]| parts.iter().any(|part| matches!(part, Part::Input(_)));
        if has_input(&plan.path) {
            self.stays_under_root(&url, root, path)?;
        }
        Ok(url)
    }

    /// Checks on the parsed URL, which is what is sent, that it lies under the root and the literal start of the path.
    fn stays_under_root(&self, url: &str, root: usize, path: usize) -> Result<()> {
        let left = |reason: &str| RenderError::Url { reason: reason.to_owned() };
        let parse = |text: &str| {
            let text = match self.server {
                ServerValues::Real(_) | ServerValues::Tokens { .. } => Cow::Borrowed(text),
                // `<KEY>` stands for a value, but a host cannot hold it.
                ServerValues::Shown => Cow::Owned(text.replace(['<', '>'], "")),
            };
            Url::parse(&text).map_err(|error| RenderError::Url { reason: error.to_string() })
        };
        let literal = match self.tool.plan.path.first() {
            Some(Part::Text(text)) => text.rfind('/').and_then(|slash| text.get(..=slash)).unwrap_or(""),
            _ => "",
        };
        let base = url.get(..root).unwrap_or_default();
        let base = parse(&format!("{base}{literal}"))?;
        let parsed = parse(url.get(..path).unwrap_or_default())?;
        if parsed.origin() != base.origin() || !parsed.path().starts_with(base.path().trim_end_matches('/')) {
            return Err(left("another path or host"));
        }
        Ok(())
    }

    /// Text of the schema in which only server parameters stand.
    fn schema_text(&self, parts: &[Part], place: Place, out: &mut String) -> Result<()> {
        for part in parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Server(key) => self.server_value(key, place, out)?,
                Part::Input(_) => {}
            }
        }
        Ok(())
    }

    /// The query that the schema wrote into its path; a pair whose optional argument was left out goes with it.
    fn path_query(&self, query: &mut String) -> Result<()> {
        let mut pair = String::new();
        let mut left_out = false;
        let mut finish = |pair: &mut String, left_out: &mut bool| {
            if !*left_out && !pair.is_empty() {
                if !query.is_empty() {
                    query.push('&');
                }
                query.push_str(pair);
            }
            pair.clear();
            *left_out = false;
        };
        for part in &self.tool.plan.path_query {
            match part {
                Part::Text(text) => {
                    for (index, piece) in text.split('&').enumerate() {
                        if index > 0 {
                            finish(&mut pair, &mut left_out);
                        }
                        pair.push_str(piece);
                    }
                }
                Part::Server(key) => self.server_value(key, Place::PathQuery, &mut pair)?,
                Part::Input(input) => match self.value(*input) {
                    Some(Value::Array(items)) if items.is_empty() => left_out = true,
                    Some(value) => component(&text(value), &mut pair),
                    None => left_out = true,
                },
            }
        }
        finish(&mut pair, &mut left_out);
        Ok(())
    }

    fn query_field(&self, field: &Field, query: &mut String) -> Result<()> {
        let mut pair = |key: &str, value: &dyn Fn(&mut String) -> Result<()>| {
            if !query.is_empty() {
                query.push('&');
            }
            form(key, query);
            query.push('=');
            value(query)
        };
        match &field.value {
            FieldValue::Input(input) => match self.value(*input) {
                None => Ok(()),
                // An empty list is not sent at all.
                Some(Value::Array(items)) if items.is_empty() => Ok(()),
                Some(Value::Array(items)) if self.explodes(*input) => items.iter().try_for_each(|item| {
                    pair(&field.key, &|out| {
                        form(&text(item), out);
                        Ok(())
                    })
                }),
                Some(value) => pair(&field.key, &|out| {
                    form(&text(value), out);
                    Ok(())
                }),
            },
            FieldValue::Parts(parts) => match self.composed(parts)? {
                false => Ok(()),
                true => pair(&field.key, &|out| self.compose(parts, Place::Query, out)),
            },
            FieldValue::Fixed(value) => pair(&field.key, &|out| {
                form(&text(value), out);
                Ok(())
            }),
        }
    }

    fn explodes(&self, input: usize) -> bool {
        self.tool.plan.inputs.get(input).is_some_and(|input| input.z.explode)
    }

    /// Whether a text is sent: not when all its arguments were left out, an error when some were.
    fn composed(&self, parts: &[Part]) -> Result<bool> {
        let inputs = || {
            parts.iter().filter_map(|part| if let Part::Input(input) = part { Some(*input) } else { None })
        };
        let missing = inputs().find(|input| self.value(*input).is_none());
        let given = inputs().find(|input| self.value(*input).is_some());
        match (missing, given) {
            (None, _) => Ok(true),
            (Some(_), None) => Ok(false),
            (Some(missing), Some(given)) => Err(RenderError::NeededTogether {
                missing: self.input_name(missing),
                given: self.input_name(given),
            }),
        }
    }

    fn compose(&self, parts: &[Part], place: Place, out: &mut String) -> Result<()> {
        let put = |value: &str, out: &mut String| match place {
            Place::Query => form(value, out),
            Place::PathQuery => component(value, out),
            Place::Json => json_string(value, out),
            Place::Path | Place::Header | Place::Origin => out.push_str(value),
        };
        for part in parts {
            match part {
                Part::Text(text) => put(text, out),
                Part::Input(input) => {
                    if let Some(value) = self.value(*input) {
                        put(&text(value), out);
                    }
                }
                Part::Server(key) => self.server_value(key, place, out)?,
            }
        }
        Ok(())
    }

    fn headers(&self) -> Result<Vec<(String, String)>> {
        let mut headers = Vec::with_capacity(self.tool.plan.headers.len() + 1);
        for header in &self.tool.plan.headers {
            if !self.composed(&header.value)? {
                continue;
            }
            let mut value = String::new();
            self.compose(&header.value, Place::Header, &mut value)?;
            if value.contains(['\r', '\n', '\0']) {
                return Err(RenderError::Header { name: header.name.to_string() });
            }
            headers.push((header.name.to_string(), value));
        }
        Ok(headers)
    }

    fn body(&self, headers: &mut Vec<(String, String)>) -> Result<Option<String>> {
        let fields = &self.tool.plan.body;
        if fields.is_empty() {
            return Ok(None);
        }
        let declared = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let is_form = declared.is_some_and(|(_, value)| {
            value.trim_start().to_ascii_lowercase().starts_with("application/x-www-form-urlencoded")
        });
        if declared.is_none() {
            headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        }
        let mut body = String::new();
        if is_form {
            for field in fields {
                self.query_field(field, &mut body)?;
            }
            return Ok(Some(body));
        }
        body.push('{');
        for field in fields {
            self.body_field(field, &mut body)?;
        }
        body.push('}');
        Ok(Some(body))
    }

    fn body_field(&self, field: &Field, body: &mut String) -> Result<()> {
        let key = |body: &mut String| {
            if body.len() > 1 {
                body.push(',');
            }
            body.push('"');
            json_string(&field.key, body);
            body.push_str("\":");
        };
        match &field.value {
            FieldValue::Input(input) => {
                if let Some(value) = self.value(*input) {
                    key(body);
                    body.push_str(&value.to_string());
                }
            }
            FieldValue::Fixed(value) => {
                key(body);
                body.push_str(&value.to_string());
            }
            FieldValue::Parts(parts) => {
                if self.composed(parts)? {
                    key(body);
                    body.push('"');
                    self.compose(parts, Place::Json, body)?;
                    body.push('"');
                }
            }
        }
        Ok(())
    }
}
