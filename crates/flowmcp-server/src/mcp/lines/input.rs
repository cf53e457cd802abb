//! Splits a byte stream into lines of bounded length.

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// Bytes read at once: the size of a Linux pipe.
const BUFFER: usize = 64 << 10;

/// Lines of a stream. [`next`](Input::next) may be dropped and called again without losing bytes.
pub(super) struct Input<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    limit: usize,
    /// The rest of a line that was too long is skipped.
    skipping: bool,
}

/// One step of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line without its newline; the last one may have had none.
    Text(Vec<u8>),
    /// A line over the limit; none of it is kept.
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// No more input, or none that can be read.
    End,
}

impl<R: AsyncRead + Unpin> Input<R> {
    pub(super) fn new(reader: R, limit: usize) -> Self {
        Input { reader: BufReader::with_capacity(BUFFER, reader), line: Vec::new(), limit, skipping: false }
    }

    pub(super) async fn next(&mut self) -> Line {
        loop {
            let available = match self.reader.fill_buf().await {
                Ok(available) => available,
                Err(error) => {
                    tracing::warn!(%error, "input cannot be read");
                    return Line::End;
                }
            };
            if available.is_empty() {
                let rest = std::mem::take(&mut self.line);
                return if rest.is_empty() { Line::End } else { Line::Text(rest) };
            }
            let end = memchr::memchr(b'\n', available);
            let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            let fits = self.line.len() + part.len() <= self.limit;
            if fits && !self.skipping {
                self.line.extend_from_slice(part);
            }
            let consumed = part.len() + usize::from(end.is_some());
            self.reader.consume(consumed);
            let was_skipping = self.skipping;
            self.skipping = end.is_none() && (was_skipping || !fits);
            if !fits && !was_skipping {
                self.line = Vec::new();
                return Line::TooLong { limit: self.limit };
            }
            if end.is_some() && !was_skipping {
                return Line::Text(std::mem::take(&mut self.line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn check(input: &[u8], expected: &[&str]) {
        // One byte at a time: a line's parts may come in any number of reads.
        let mut reader = tokio_test_reader(input);
        let mut lines = Vec::new();
        loop {
            match reader.next().await {
                Line::Text(bytes) => lines.push(String::from_utf8(bytes).unwrap()),
                Line::TooLong { .. } => lines.push("<too long>".to_owned()),
                Line::End => break,
            }
        }
        assert_eq!(lines, expected);
    }

    fn tokio_test_reader(input: &[u8]) -> Input<impl AsyncRead + Unpin + use<'_>> {
        Input { reader: BufReader::with_capacity(1, input), line: Vec::new(), limit: 5, skipping: false }
    }

    #[tokio::test]
    async fn lines_are_split_and_bounded() {
        check(b"", &[]).await;
        check(b"a\n\nbc\n", &["a", "", "bc"]).await;
        check(b"12345\n123456\n12\n", &["12345", "<too long>", "12"]).await;
        check(b"123456789012345\nok", &["<too long>", "ok"]).await;
    }
}
