//! Frames: four bytes of length, then the fields of one message. Reading never trusts a length.

use bytes::{Buf, Bytes, BytesMut};

/// Bytes of the length in front of a frame.
pub(crate) const HEADER: usize = 4;

/// A frame is longer than its reader allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong;

/// Builds one frame.
pub(crate) struct FrameWriter {
    out: Vec<u8>,
}

impl FrameWriter {
    /// A frame of a kind, with room for `capacity` bytes of fields.
    pub(crate) fn new(kind: u8, capacity: usize) -> Self {
        let mut out = Vec::with_capacity(HEADER + 1 + capacity);
        out.extend_from_slice(&[0; HEADER]);
        out.push(kind);
        FrameWriter { out }
    }

    pub(crate) fn u8(&mut self, value: u8) -> &mut Self {
        self.out.push(value);
        self
    }

    pub(crate) fn u16(&mut self, value: u16) -> &mut Self {
        self.out.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.out.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Self {
        self.out.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn size(&mut self, value: usize) -> &mut Self {
        self.u64(u64::try_from(value).unwrap_or(u64::MAX))
    }

    pub(crate) fn bytes(&mut self, value: &[u8]) -> &mut Self {
        // A field of 4 GiB cannot be: every sender is limited far below.
        self.u32(u32::try_from(value.len()).unwrap_or(u32::MAX));
        self.out.extend_from_slice(value);
        self
    }

    pub(crate) fn text(&mut self, value: &str) -> &mut Self {
        self.bytes(value.as_bytes())
    }

    /// The finished frame, length included.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        let length = u32::try_from(self.out.len().saturating_sub(HEADER)).unwrap_or(u32::MAX);
        if let Some(header) = self.out.first_chunk_mut::<HEADER>() {
            *header = length.to_be_bytes();
        }
        self.out
    }
}

/// Takes one whole frame, without its length, off the front of what was received. None while it is incomplete.
pub(crate) fn take(received: &mut BytesMut, longest: usize) -> Result<Option<Bytes>, TooLong> {
    let Some(header) = received.first_chunk::<HEADER>() else { return Ok(None) };
    let length = usize::try_from(u32::from_be_bytes(*header)).map_err(|_| TooLong)?;
    if length == 0 || length > longest {
        return Err(TooLong);
    }
    if received.len() < HEADER + length {
        return Ok(None);
    }
    received.advance(HEADER);
    Ok(Some(received.split_to(length).freeze()))
}

/// Reads a frame's fields; each is none when the frame ends too early.
pub(crate) struct Fields {
    rest: Bytes,
}

impl Fields {
    pub(crate) fn new(frame: Bytes) -> Self {
        Fields { rest: frame }
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.rest.try_get_u8().ok()
    }

    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.rest.try_get_u16().ok()
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.rest.try_get_u32().ok()
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.rest.try_get_u64().ok()
    }

    pub(crate) fn size(&mut self) -> Option<usize> {
        usize::try_from(self.u64()?).ok()
    }

    pub(crate) fn bytes(&mut self) -> Option<Bytes> {
        let length = usize::try_from(self.u32()?).ok()?;
        (length <= self.rest.len()).then(|| self.rest.split_to(length))
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        String::from_utf8(Vec::from(self.bytes()?)).ok()
    }

    /// A list whose length is bounded by `most`.
    pub(crate) fn list<T>(
        &mut self,
        most: u32,
        mut item: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let length = self.u32().filter(|length| *length <= most)?;
        (0..length).map(|_| item(self)).collect()
    }

    /// None unless everything was read.
    pub(crate) fn end(&self) -> Option<()> {
        self.rest.is_empty().then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_arrive_in_pieces() {
        let mut writer = FrameWriter::new(7, 0);
        writer.text("abc").u64(9);
        let frame = writer.finish();
        let mut received = BytesMut::new();
        for (index, byte) in frame.iter().enumerate() {
            assert_eq!(take(&mut received, 100), Ok(None), "after {index} bytes");
            received.extend_from_slice(&[*byte]);
        }
        let mut fields = Fields::new(take(&mut received, 100).unwrap().unwrap());
        assert_eq!(
            (fields.u8(), fields.text(), fields.u64(), fields.end()),
            (Some(7), Some("abc".to_owned()), Some(9), Some(()))
        );
        assert!(received.is_empty());
    }

    #[test]
    fn lengths_are_not_believed() {
        for header in [[0, 0, 0, 0], [0, 0, 0, 101], [255, 255, 255, 255]] {
            assert_eq!(take(&mut BytesMut::from(header.as_slice()), 100), Err(TooLong));
        }
        let mut fields = Fields::new(Bytes::from_static(&[255, 255, 255, 255, 1]));
        assert_eq!(fields.bytes(), None);
        let mut fields = Fields::new(Bytes::from_static(&[255, 255, 255, 255, 1]));
        assert_eq!(fields.list(10, Fields::u8), None);
    }
}
