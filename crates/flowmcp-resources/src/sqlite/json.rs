//! Rows as JSON: integers with all their digits, every column of a row visible, bytes marked as such.

use std::{collections::HashSet, io::Write};

use base64::{Engine, engine::general_purpose::STANDARD};
use rusqlite::{Row, types::ValueRef};

/// Rows as the text of a JSON array of objects.
pub(super) struct JsonRows {
    text: Vec<u8>,
    /// Names of the columns, each already as `"name":`.
    keys: Vec<String>,
    pub(super) rows: usize,
    /// Texts that were not UTF-8.
    pub(super) mended: usize,
}

impl JsonRows {
    pub(super) fn new<'n>(columns: impl IntoIterator<Item = &'n str>) -> Self {
        let mut taken = HashSet::new();
        let mut keys = Vec::new();
        for name in columns {
            let mut key = name.to_owned();
            let mut count = 2;
            while !taken.insert(key.clone()) {
                key = format!("{name}_{count}");
                count += 1;
            }
            keys.push(format!("{}:", serde_json::Value::String(key)));
        }
        JsonRows { text: vec![b'['], keys, rows: 0, mended: 0 }
    }

    /// Adds a row unless the text would be longer than `limit` bytes; says whether it was added.
    pub(super) fn push(&mut self, row: &Row<'_>, limit: usize) -> rusqlite::Result<bool> {
        let (before, mended) = (self.text.len(), self.mended);
        if self.rows > 0 {
            self.text.push(b',');
        }
        self.text.push(b'{');
        for index in 0..self.keys.len() {
            if index > 0 {
                self.text.push(b',');
            }
            if let Some(key) = self.keys.get(index) {
                self.text.extend_from_slice(key.as_bytes());
            }
            let value = row.get_ref(index)?;
            // A value that cannot fit is not worth writing.
            let least = match value {
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
                _ => 0,
            };
            if self.text.len() + least < limit {
                self.value(value);
            } else {
                self.text.resize(limit.max(self.text.len()), b' ');
                break;
            }
        }
        self.text.push(b'}');
        if self.text.len() + 1 > limit {
            self.text.truncate(before);
            self.mended = mended;
            return Ok(false);
        }
        self.rows += 1;
        Ok(true)
    }

    fn value(&mut self, value: ValueRef<'_>) {
        let out = &mut self.text;
        // Writing to a vector cannot fail.
        let _ = match value {
            ValueRef::Null => out.write_all(b"null"),
            ValueRef::Integer(integer) => write!(out, "{integer}"),
            ValueRef::Real(real) if real.is_finite() => {
                out.write_all(ryu_js::Buffer::new().format_finite(real).as_bytes())
            }
            // JSON has no such number; SQLite stores NaN as NULL.
            ValueRef::Real(real) => {
                out.write_all(if real > 0.0 { b"\"Infinity\"" } else { b"\"-Infinity\"" })
            }
            ValueRef::Blob(bytes) => {
                write!(out, r#"{{"$base64":true,"encoded":"{}"}}"#, STANDARD.encode(bytes))
            }
            ValueRef::Text(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                self.mended += usize::from(matches!(text, std::borrow::Cow::Owned(_)));
                serde_json::to_writer(out, &*text).map_err(Into::into)
            }
        };
    }

    /// The whole array.
    pub(super) fn finish(&mut self) -> String {
        let mut text = std::mem::take(&mut self.text);
        text.push(b']');
        // All of it was written as UTF-8 above.
        String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}
