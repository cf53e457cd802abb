//! A worker's messages as bytes. Reading is where the host's suspicion begins: lists and names are bounded, and a frame
//! must end where its last field ends.

use std::time::Duration;

use bytes::Bytes;
use flowmcp_plugin::{
    DerivedEncoding, DerivedToken, FetchRequest, HookOutput, HookValue, LogLevel, Method, Outline,
    SandboxError,
};

use super::{FromWorker, LONGEST_LIST, micros, read_flag, read_pairs, write_pairs};
use crate::{
    confine::{Layer, LayerState},
    frame::{Fields, FrameWriter},
};

impl FromWorker {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let start = |kind| FrameWriter::new(kind, 256);
        let out = match self {
            FromWorker::Ready { layers } => {
                let mut out = start(0);
                out.u32(u32::try_from(layers.len()).unwrap_or(u32::MAX));
                for layer in layers {
                    let (state, note) = match &layer.state {
                        LayerState::Enforced => (0, ""),
                        LayerState::Partly(note) => (1, note.as_str()),
                        LayerState::Missing(note) => (2, note.as_str()),
                    };
                    out.text(&layer.name).u8(state).text(note);
                }
                out
            }
            FromWorker::Compiled { code } => {
                let mut out = FrameWriter::new(1, code.len() + 8);
                out.bytes(code);
                out
            }
            FromWorker::Output { output, retire } => {
                let json = match &output.value {
                    HookValue::Json(json) => json.as_str(),
                    HookValue::Absent | HookValue::Undefined => "",
                };
                let mut out =
                    FrameWriter::new(2, json.len() + output.edited.as_ref().map_or(0, String::len) + 64);
                out.u8(u8::from(*retire));
                out.u8(match &output.value {
                    HookValue::Absent => 0,
                    HookValue::Undefined => 1,
                    HookValue::Json(_) => 2,
                });
                out.text(json);
                out.u8(u8::from(output.edited.is_some())).text(output.edited.as_deref().unwrap_or_default());
                write_derived(&mut out, &output.derived);
                out
            }
            FromWorker::Outlined { outline, retire } => {
                let mut out = start(3);
                out.u8(u8::from(*retire));
                write_outline(&mut out, outline);
                out
            }
            FromWorker::Failed { error, retire } => {
                let mut out = start(4);
                out.u8(u8::from(*retire));
                write_error(&mut out, error);
                out
            }
            FromWorker::Fetch { ticket, request } => {
                let mut out = FrameWriter::new(5, request.body.len() + 1024);
                out.u64(*ticket).text(request.method.as_str()).text(&request.url);
                write_pairs(&mut out, &request.headers);
                out.bytes(&request.body);
                write_derived(&mut out, &request.derived);
                out
            }
            FromWorker::Wait { at_most } => {
                let mut out = start(6);
                out.u8(u8::from(at_most.is_some())).u64(micros(at_most.unwrap_or_default()));
                out
            }
            FromWorker::Log { level, line } => {
                let mut out = start(7);
                let level = match level {
                    LogLevel::Debug => 0,
                    LogLevel::Info => 1,
                    LogLevel::Warn => 2,
                    LogLevel::Error => 3,
                };
                out.u8(level).text(line);
                out
            }
            FromWorker::Probed { refusal } => {
                let mut out = start(8);
                out.u8(u8::from(refusal.is_some())).text(refusal.as_deref().unwrap_or_default());
                out
            }
        };
        out.finish()
    }

    pub(crate) fn decode(frame: Bytes) -> Option<FromWorker> {
        let mut from = Fields::new(frame);
        let from = &mut from;
        let message = match from.u8()? {
            0 => {
                let layers = from.list(16, |from| {
                    let name = from.text()?;
                    let state = from.u8()?;
                    let note = from.text()?;
                    let state = match state {
                        0 => LayerState::Enforced,
                        1 => LayerState::Partly(note),
                        2 => LayerState::Missing(note),
                        _ => return None,
                    };
                    Some(Layer { name, state })
                })?;
                FromWorker::Ready { layers }
            }
            1 => FromWorker::Compiled { code: from.bytes()? },
            2 => {
                let retire = read_flag(from)?;
                let kind = from.u8()?;
                let json = from.text()?;
                let value = match kind {
                    0 => HookValue::Absent,
                    1 => HookValue::Undefined,
                    2 => HookValue::Json(json),
                    _ => return None,
                };
                let has_edited = read_flag(from)?;
                let edited = from.text()?;
                let derived = read_derived(from)?;
                let output = HookOutput { value, edited: has_edited.then_some(edited), derived };
                FromWorker::Output { output, retire }
            }
            3 => FromWorker::Outlined {
                retire: read_flag(from)?,
                outline: read_outline(from, Outline::DEPTH)?,
            },
            4 => FromWorker::Failed { retire: read_flag(from)?, error: read_error(from)? },
            5 => FromWorker::Fetch {
                ticket: from.u64()?,
                request: FetchRequest {
                    method: from.text()?.parse::<Method>().ok()?,
                    url: from.text()?,
                    headers: read_pairs(from)?,
                    body: from.bytes()?,
                    derived: read_derived(from)?,
                },
            },
            6 => {
                let bounded = read_flag(from)?;
                let time = Duration::from_micros(from.u64()?);
                FromWorker::Wait { at_most: bounded.then_some(time) }
            }
            7 => {
                let level = match from.u8()? {
                    0 => LogLevel::Debug,
                    1 => LogLevel::Info,
                    2 => LogLevel::Warn,
                    3 => LogLevel::Error,
                    _ => return None,
                };
                FromWorker::Log { level, line: from.text()? }
            }
            8 => {
                let refused = read_flag(from)?;
                let refusal = from.text()?;
                FromWorker::Probed { refusal: refused.then_some(refusal) }
            }
            _ => return None,
        };
        from.end().map(|()| message)
    }
}

fn write_outline(out: &mut FrameWriter, outline: &Outline) {
    match outline {
        Outline::Function => drop(out.u8(0)),
        Outline::Object(members) => {
            out.u8(1).u32(u32::try_from(members.len()).unwrap_or(u32::MAX));
            for (name, member) in members {
                out.text(name);
                write_outline(out, member);
            }
        }
        Outline::Other(kind) => drop(out.u8(2).text(kind)),
    }
}

/// No deeper and no wider than a sandbox may tell.
fn read_outline(from: &mut Fields, depth: usize) -> Option<Outline> {
    Some(match from.u8()? {
        0 => Outline::Function,
        1 => {
            let below = depth.checked_sub(1)?;
            let most = u32::try_from(Outline::MEMBERS).unwrap_or(u32::MAX);
            Outline::Object(from.list(most, |from| Some((short_text(from)?, read_outline(from, below)?)))?)
        }
        2 => Outline::Other(short_text(from)?),
        _ => return None,
    })
}

fn write_derived(out: &mut FrameWriter, tokens: &[DerivedToken]) {
    out.u32(u32::try_from(tokens.len()).unwrap_or(u32::MAX));
    for derived in tokens {
        let encoding = match derived.encoding {
            DerivedEncoding::Base64 => 0,
            DerivedEncoding::Base64Url => 1,
        };
        out.text(&derived.token).u8(encoding).bytes(&derived.text);
    }
}

fn read_derived(from: &mut Fields) -> Option<Vec<DerivedToken>> {
    from.list(LONGEST_LIST, |from| {
        let token = from.text().filter(|token| token.bytes().all(|byte| byte.is_ascii_alphanumeric()))?;
        let encoding = match from.u8()? {
            0 => DerivedEncoding::Base64,
            1 => DerivedEncoding::Base64Url,
            _ => return None,
        };
        Some(DerivedToken { token, encoding, text: from.bytes()? })
    })
}

fn write_error(out: &mut FrameWriter, error: &SandboxError) {
    match error {
        SandboxError::Compile { path, line, column, reason } => {
            out.u8(0).text(path).u32(*line).u32(*column).text(reason);
        }
        SandboxError::Thrown { message, place } => {
            out.u8(1).text(message).u8(u8::from(place.is_some())).text(place.as_deref().unwrap_or_default());
        }
        SandboxError::NotJson { reason } => {
            out.u8(2).text(reason);
        }
        SandboxError::NeverSettles => {
            out.u8(3);
        }
        SandboxError::Time { limit } => {
            out.u8(4).u64(micros(*limit));
        }
        SandboxError::Memory { limit } => {
            out.u8(5).size(*limit);
        }
        SandboxError::Stack { limit } => {
            out.u8(6).size(*limit);
        }
        SandboxError::Output { limit } => {
            out.u8(7).size(*limit);
        }
        SandboxError::Crashed { reason } => {
            out.u8(8).text(reason);
        }
        other => {
            out.u8(8).text(&other.to_string());
        }
    }
}

/// Longest text of an error, in bytes: a sandbox cuts its own far below.
const LONGEST_ERROR: usize = 16 << 10;

fn short_text(from: &mut Fields) -> Option<String> {
    from.text().filter(|text| text.len() <= LONGEST_ERROR)
}

fn read_error(from: &mut Fields) -> Option<SandboxError> {
    Some(match from.u8()? {
        0 => SandboxError::Compile {
            path: short_text(from)?,
            line: from.u32()?,
            column: from.u32()?,
            reason: short_text(from)?,
        },
        1 => {
            let message = short_text(from)?;
            let known = read_flag(from)?;
            let place = short_text(from)?;
            SandboxError::Thrown { message, place: known.then_some(place) }
        }
        2 => SandboxError::NotJson { reason: short_text(from)? },
        3 => SandboxError::NeverSettles,
        4 => SandboxError::Time { limit: Duration::from_micros(from.u64()?) },
        5 => SandboxError::Memory { limit: from.size()? },
        6 => SandboxError::Stack { limit: from.size()? },
        7 => SandboxError::Output { limit: from.size()? },
        8 => SandboxError::Crashed { reason: short_text(from)? },
        _ => return None,
    })
}
