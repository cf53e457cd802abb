//! Bytes to text: byte order mark first, then the declared charset, then what the text says about itself, then UTF-8.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// How far into a text its own declaration of a charset is searched.
const DECLARATION_BYTES: usize = 1024;

/// A decoded body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded<'b> {
    /// The text without a byte order mark; U+FFFD where bytes had no meaning.
    pub(super) text: Cow<'b, str>,
    /// The encoding in which some bytes had no meaning.
    pub(super) faulty: Option<&'static str>,
}

/// Decodes a body. An unknown charset counts as none.
pub(super) fn decode<'b>(bytes: &'b [u8], charset: Option<&str>) -> Decoded<'b> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return with(encoding, bytes.get(mark..).unwrap_or_default());
    }
    if let Some(encoding) = charset.and_then(|label| Encoding::for_label_no_replacement(label.as_bytes())) {
        return with(encoding, bytes);
    }
    let utf_16 = match bytes {
        [0, first, ..] if *first != 0 => Some(UTF_16BE),
        [first, 0, third, ..] if *first != 0 && *third != 0 => Some(UTF_16LE),
        [first, 0] if *first != 0 => Some(UTF_16LE),
        _ => None,
    };
    if let Some(encoding) = utf_16 {
        let decoded = with(encoding, bytes);
        // Binary data may start so too; text holds no NUL once it is decoded rightly.
        if decoded.faulty.is_none() && !decoded.text.contains('\0') {
            return decoded;
        }
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Decoded { text: Cow::Borrowed(text), faulty: None },
        Err(_) => with(declared_inside(bytes).unwrap_or(UTF_8), bytes),
    }
}

fn with<'b>(encoding: &'static Encoding, bytes: &'b [u8]) -> Decoded<'b> {
    let (text, faulty) = encoding.decode_without_bom_handling(bytes);
    Decoded { text, faulty: faulty.then(|| encoding.name()) }
}

/// `<meta charset=…>` of HTML or `encoding=…` of XML.
fn declared_inside(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..DECLARATION_BYTES).unwrap_or(bytes).to_ascii_lowercase();
    let start = String::from_utf8_lossy(&start);
    let name = if start.trim_start().starts_with("<?xml") {
        "encoding="
    } else if start.contains("<meta") {
        "charset="
    } else {
        return None;
    };
    let value = start.get(start.find(name)? + name.len()..)?.trim_start_matches(['"', '\'']);
    let label = value.split(['"', '\'', '?', '>', ' ', ';', '/']).next()?;
    Encoding::for_label_no_replacement(label.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf_16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(unit).collect()
    }

    /// The byte order mark, the charset, detection and declarations inside all lead to the same text.
    #[test]
    fn one_text_in_many_encodings() {
        let json = "{\"a\":\"é\"}";
        let latin: &[u8] = b"{\"a\":\"\xe9\"}";
        let marked = |text: &str| format!("\u{feff}{text}");
        for (bytes, charset) in [
            (json.as_bytes().to_vec(), None),
            (json.as_bytes().to_vec(), Some("utf-8")),
            (json.as_bytes().to_vec(), Some("no-such-charset")),
            (marked(json).into_bytes(), None),
            (marked(json).into_bytes(), Some("iso-8859-1")),
            (latin.to_vec(), Some("iso-8859-1")),
            (latin.to_vec(), Some("Windows-1252")),
            (utf_16(&marked(json), u16::to_le_bytes), None),
            (utf_16(&marked(json), u16::to_be_bytes), Some("utf-8")),
            (utf_16(json, u16::to_le_bytes), None),
            (utf_16(json, u16::to_be_bytes), None),
            (utf_16(json, u16::to_le_bytes), Some("utf-16le")),
        ] {
            assert_eq!(
                decode(&bytes, charset),
                Decoded { text: json.into(), faulty: None },
                "{charset:?} {bytes:?}"
            );
        }
    }

    #[test]
    fn declarations_inside() {
        for page in [
            &b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>"[..],
            b"<html><meta charset=windows-1252><a>\xe9</a>",
            b"<html><META http-equiv=content-type content=\"text/html; charset=iso-8859-1\"/><a>\xe9</a>",
        ] {
            let decoded = decode(page, None);
            assert!(decoded.text.ends_with("<a>é</a>") && decoded.faulty.is_none(), "{decoded:?}");
        }
    }

    #[test]
    fn bytes_without_meaning() {
        assert_eq!(decode(b"a\xffb", None), Decoded { text: "a\u{fffd}b".into(), faulty: Some("UTF-8") });
        assert_eq!(decode(b"a\xffb", Some("utf-8")).faulty, Some("UTF-8"));
        assert_eq!(decode(b"", None).text, "");
        assert!(decode(b"\0\x01\0\0binary", None).text.contains('\0'));
    }
}
