//! Reading a response's body: what it is, as text where it is text.

use std::borrow::Cow;

use bytes::Bytes;
use flowmcp_plugin::Response;

use super::{
    charset, json,
    media::{self, Kind, MediaType},
    status::size,
};
use crate::redact::Redactor;

/// Media type of bytes about which nothing is known.
const OCTETS: &str = "application/octet-stream";

/// A body with its server values taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// No bytes, or nothing but white space.
    Empty,
    /// One JSON value: checked, as the upstream wrote it.
    Json(String),
    /// Any other text, decoded.
    Text(String),
    /// Bytes that are no text.
    Binary {
        /// As the upstream sent them.
        data: Bytes,
        /// MIME type without parameters.
        mime_type: String,
    },
}

/// A body, and what was odd about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The body.
    pub body: Body,
    /// Why a body that was declared as JSON is not [`Body::Json`].
    pub not_json: Option<String>,
    /// Further remarks, such as bytes that could not be decoded.
    pub notes: Vec<String>,
}

/// Reads a body of any status. The declared MIME type counts only where the response has no `Content-Type`, and the
/// first bytes are looked at only then.
pub fn read(response: &Response, redactor: &Redactor, declared_mime_type: Option<&str>) -> Reading {
    let bytes = &response.body;
    if bytes.is_empty() {
        return Body::Empty.into();
    }
    let media = response
        .header("content-type")
        .and_then(media::parse)
        .or_else(|| media::sniff(bytes).and_then(media::parse))
        .or_else(|| declared_mime_type.and_then(media::parse));
    let kind = media.as_ref().map_or(Kind::Unknown, |media| media::kind(&media.essence));
    match kind {
        Kind::Json | Kind::Text => text(bytes, media.as_ref(), kind, redactor),
        Kind::Binary => binary(bytes, media.as_ref(), redactor).into(),
        Kind::Opaque => match std::str::from_utf8(bytes) {
            Ok(plain) if looks_like_json(plain) => match as_json(redactor.redact(plain)) {
                Ok(json) => Body::Json(json).into(),
                Err(_) => binary(bytes, media.as_ref(), redactor).into(),
            },
            _ => binary(bytes, media.as_ref(), redactor).into(),
        },
        Kind::Unknown => {
            let charset = media.as_ref().and_then(|media| media.charset);
            if charset.is_some() || charset::decode(bytes, None).faulty.is_none() {
                text(bytes, media.as_ref(), kind, redactor)
            } else {
                binary(bytes, media.as_ref(), redactor).into()
            }
        }
    }
}

impl From<Body> for Reading {
    fn from(body: Body) -> Self {
        Reading { body, not_json: None, notes: Vec::new() }
    }
}

fn text(bytes: &Bytes, media: Option<&MediaType<'_>>, kind: Kind, redactor: &Redactor) -> Reading {
    let decoded = charset::decode(bytes, media.and_then(|media| media.charset));
    let mut notes = Vec::new();
    if let Some(encoding) = decoded.faulty {
        notes.push(format!("some bytes of the response are not valid {encoding}; they are shown as U+FFFD"));
    }
    let plain = match decoded.text {
        Cow::Borrowed(plain) => redactor.redact(plain),
        Cow::Owned(plain) => Cow::Owned(redactor.redact_owned(plain)),
    };
    if kind != Kind::Json && !looks_like_json(&plain) {
        return plain_text(plain, bytes, media, None, notes, redactor);
    }
    match as_json(plain) {
        Ok(json) => Reading { body: Body::Json(json), not_json: None, notes },
        Err((error, plain)) => {
            let not_json = (kind == Kind::Json).then(|| {
                let essence = media.map_or("application/json", |media| &media.essence);
                format!("declared as {essence}, but not valid JSON ({}; {error})", size(bytes.len()))
            });
            plain_text(plain, bytes, media, not_json, notes, redactor)
        }
    }
}

fn plain_text(
    plain: Cow<'_, str>,
    bytes: &Bytes,
    media: Option<&MediaType<'_>>,
    not_json: Option<String>,
    mut notes: Vec<String>,
    redactor: &Redactor,
) -> Reading {
    if plain.contains('\0') {
        notes.clear();
        if let Some(media) = media {
            notes.push(format!(
                "the response is declared as {}, but holds NUL bytes; it is passed on as bytes",
                media.essence
            ));
        }
        return Reading { body: binary(bytes, None, redactor), not_json: None, notes };
    }
    // Blank is empty also where JSON was declared: there is nothing that could be wrong with it.
    if plain.trim().is_empty() {
        return Body::Empty.into();
    }
    Reading { body: Body::Text(plain.into_owned()), not_json, notes }
}

/// The text, or the reason and the text back.
fn as_json(plain: Cow<'_, str>) -> Result<String, (serde_json::Error, Cow<'_, str>)> {
    match json::check(&plain) {
        Ok(()) => Ok(plain.into_owned()),
        Err(error) => Err((error, plain)),
    }
}

/// Much JSON comes as `text/plain` or `text/html`; no other text in use both starts like this and parses.
fn looks_like_json(plain: &str) -> bool {
    plain.trim_start().starts_with(['{', '['])
}

fn binary(bytes: &Bytes, media: Option<&MediaType<'_>>, redactor: &Redactor) -> Body {
    let mime_type = media.map_or(OCTETS, |media| &media.essence);
    let mime_type = match redactor.redact(mime_type) {
        Cow::Borrowed(clean) => clean.to_owned(),
        Cow::Owned(_) => OCTETS.to_owned(),
    };
    Body::Binary { data: redactor.redact_bytes(bytes), mime_type }
}
