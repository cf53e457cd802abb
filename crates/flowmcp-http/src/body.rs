//! Reading a response body within its limits.

use bytes::{Bytes, BytesMut};
use flowmcp_plugin::{Phase, TransportError};
use reqwest::{Response, header::CONTENT_LENGTH};
use url::Url;

use crate::{
    deadline::{Deadline, Passed},
    failure,
    target::authority,
};

/// Most bytes reserved because a server announced them; beyond that the buffer grows with what arrives.
const LARGEST_RESERVATION: usize = 1 << 20;

/// Reads the decoded body. The limit is checked piece by piece, so a compression bomb is decoded up to it and no
/// further; a body that arrives in one piece is not copied.
pub(crate) async fn read(
    response: &mut Response,
    url: &Url,
    limit: usize,
    deadline: &mut Deadline<'_>,
) -> Result<Bytes, TransportError> {
    let too_large = || TransportError::TooLarge { host: authority(url), limit };
    // Present only if the body is not compressed: decoding removes the field.
    let announced = response.headers().get(CONTENT_LENGTH);
    let announced = announced.and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|bytes| bytes > limit) {
        return Err(too_large());
    }

    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    let mut length = 0_usize;
    while let Some(piece) = next(response, url, deadline).await? {
        if piece.is_empty() {
            continue;
        }
        length = length.saturating_add(piece.len());
        if length > limit {
            return Err(too_large());
        }
        if length == piece.len() {
            first = piece;
            continue;
        }
        if whole.is_empty() {
            whole.reserve(announced.unwrap_or(length * 2).clamp(length, LARGEST_RESERVATION.max(length)));
            whole.extend_from_slice(&first);
        }
        whole.extend_from_slice(&piece);
    }
    Ok(if whole.is_empty() { first } else { whole.freeze() })
}

async fn next(
    response: &mut Response,
    url: &Url,
    deadline: &mut Deadline<'_>,
) -> Result<Option<Bytes>, TransportError> {
    let timeout = || TransportError::Timeout { host: authority(url), phase: Phase::Read };
    // Pieces that are always ready would never let the clock be asked.
    if deadline.left().is_zero() {
        return Err(timeout());
    }
    match deadline.bound(response.chunk()).await {
        Ok(piece) => piece.map_err(|error| failure::convert(error, url, Phase::Read)),
        Err(Passed) => Err(timeout()),
    }
}
