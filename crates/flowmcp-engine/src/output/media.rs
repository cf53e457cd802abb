//! Media types: what a `Content-Type` says about a body, and what its first bytes say where there is none.

use std::borrow::Cow;

/// A parsed `Content-Type`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MediaType<'a> {
    /// `type/subtype` in lower case.
    pub(super) essence: Cow<'a, str>,
    /// Its `charset` parameter.
    pub(super) charset: Option<&'a str>,
}

/// How a body of some media type is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Json,
    Text,
    /// Image, sound, or anything else that no model reads as text.
    Binary,
    /// Bytes of no declared meaning: some file stores serve JSON so.
    Opaque,
    /// The bytes decide.
    Unknown,
}

/// Longest essence that is passed on; registered ones are far shorter (RFC 6838, section 4.2: 127 each).
const LONGEST_ESSENCE: usize = 255;

/// `None` when the text is not a media type.
pub(super) fn parse(content_type: &str) -> Option<MediaType<'_>> {
    let (essence, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    let essence = essence.trim();
    let (kind, subtype) = essence.split_once('/')?;
    let token = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&b))
    };
    if essence.len() > LONGEST_ESSENCE || !token(kind) || !token(subtype) {
        return None;
    }
    let charset = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    });
    let upper = essence.bytes().any(|b| b.is_ascii_uppercase());
    let essence = if upper { Cow::Owned(essence.to_ascii_lowercase()) } else { Cow::Borrowed(essence) };
    Some(MediaType { essence, charset })
}

/// Kind of a media type in lower case. SVG counts as text: it is, and model APIs refuse it as an image.
pub(super) fn kind(essence: &str) -> Kind {
    let (top, subtype) = essence.split_once('/').unwrap_or((essence, ""));
    match (top, subtype) {
        ("application" | "text", "json" | "x-json") => Kind::Json,
        (_, subtype) if subtype.ends_with("+json") => Kind::Json,
        (_, subtype) if subtype.ends_with("+xml") || subtype.ends_with("+yaml") => Kind::Text,
        ("text", _) => Kind::Text,
        ("image" | "audio" | "video" | "font" | "model", _) => Kind::Binary,
        ("application" | "binary", "octet-stream") => Kind::Opaque,
        (
            "application",
            "xml"
            | "x-ndjson"
            | "ndjson"
            | "jsonl"
            | "x-jsonl"
            | "jsonlines"
            | "x-jsonlines"
            | "json-seq"
            | "javascript"
            | "x-javascript"
            | "ecmascript"
            | "yaml"
            | "x-yaml"
            | "toml"
            | "csv"
            | "sql"
            | "graphql"
            | "x-www-form-urlencoded"
            | "x-sh",
        ) => Kind::Text,
        (
            "application",
            "pdf" | "zip" | "gzip" | "x-gzip" | "x-tar" | "x-bzip2" | "x-7z-compressed" | "zstd" | "wasm"
            | "cbor" | "msgpack" | "x-msgpack" | "protobuf" | "x-protobuf" | "msword" | "epub+zip"
            | "java-archive" | "vnd.sqlite3" | "x-sqlite3" | "vnd.apache.parquet" | "vnd.ms-excel"
            | "vnd.ms-powerpoint",
        ) => Kind::Binary,
        ("application", subtype)
            if subtype.starts_with("vnd.openxmlformats-")
                || subtype.starts_with("vnd.oasis.opendocument.") =>
        {
            Kind::Binary
        }
        _ => Kind::Unknown,
    }
}

/// Media type by the first bytes, for bodies without a `Content-Type`.
pub(super) fn sniff(bytes: &[u8]) -> Option<&'static str> {
    const MAGIC: &[(&[u8], &str)] = &[
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"II*\0", "image/tiff"),
        (b"MM\0*", "image/tiff"),
        (b"%PDF-", "application/pdf"),
        (b"PK\x03\x04", "application/zip"),
        (b"\x1f\x8b\x08", "application/gzip"),
        (b"OggS\0", "audio/ogg"),
        (b"ID3", "audio/mpeg"),
        (b"fLaC", "audio/flac"),
        (b"SQLite format 3\0", "application/vnd.sqlite3"),
        (b"\0asm", "application/wasm"),
    ];
    if let (Some(b"RIFF"), Some(format)) = (bytes.get(..4), bytes.get(8..12)) {
        return match format {
            b"WEBP" => Some("image/webp"),
            b"WAVE" => Some("audio/wav"),
            _ => None,
        };
    }
    if bytes.get(4..8) == Some(b"ftyp") {
        return Some("video/mp4");
    }
    MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, media_type)| *media_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types() {
        for (text, expected) in [
            ("application/json", Some(("application/json", None))),
            ("Application/JSON ; Charset=\"ISO-8859-1\"", Some(("application/json", Some("ISO-8859-1")))),
            ("text/csv;header=present; charset=windows-1252", Some(("text/csv", Some("windows-1252")))),
            ("text/plain;", Some(("text/plain", None))),
            ("json", None),
            ("", None),
            ("text/", None),
            ("text/pl\u{e4}in", None),
            ("text/a b", None),
        ] {
            let parsed = parse(text);
            let found = parsed.as_ref().map(|media| (media.essence.as_ref(), media.charset));
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(parse(&format!("text/{}", "x".repeat(300))), None);
    }

    #[test]
    fn kinds() {
        for (essence, expected) in [
            ("application/problem+json", Kind::Json),
            ("text/json", Kind::Json),
            ("text/html", Kind::Text),
            ("application/x-ndjson", Kind::Text),
            ("application/rss+xml", Kind::Text),
            ("image/svg+xml", Kind::Text),
            ("image/png", Kind::Binary),
            ("application/pdf", Kind::Binary),
            ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", Kind::Binary),
            ("application/octet-stream", Kind::Opaque),
            ("binary/octet-stream", Kind::Opaque),
            ("application/vnd.sdmx", Kind::Unknown),
            ("multipart/mixed", Kind::Unknown),
        ] {
            assert_eq!(kind(essence), expected, "{essence}");
        }
    }

    #[test]
    fn first_bytes() {
        for (bytes, expected) in [
            (&b"\x89PNG\r\n\x1a\n\0"[..], Some("image/png")),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"RIFF\x10\0\0\0WAVEfmt ", Some("audio/wav")),
            (b"\0\0\0\x18ftypmp42", Some("video/mp4")),
            (b"%PDF-1.7", Some("application/pdf")),
            (b"{\"a\":1}", None),
            (b"", None),
        ] {
            assert_eq!(sniff(bytes), expected);
        }
    }
}
