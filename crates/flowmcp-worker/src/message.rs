//! The messages between host and worker, and their bytes.

use std::time::Duration;

use bytes::Bytes;
use flowmcp_plugin::{
    ContextLife, DerivedEncoding, DerivedToken, FetchRequest, FetchResult, Hook, HookOutput, HookValue,
    LogLevel, Method, NetworkGrant, SandboxError, SandboxLimits, SandboxSettings,
};

use crate::{
    confine::{Layer, LayerState},
    frame::{Fields, FrameWriter},
    probe::Probe,
};

/// Most items of any list that a worker sends.
const LONGEST_LIST: u32 = 4096;

/// What the host says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ToWorker {
    /// First of all: confine yourself, with this much memory for scripts.
    Hello { memory_bytes: usize },
    /// Keep these handlers.
    Load {
        program: u64,
        extension: String,
        path: String,
        code: Bytes,
        shared_lists: String,
        settings: SandboxSettings,
        caps: Caps,
    },
    /// Call a hook of handlers that were loaded before.
    Call { program: u64, tool: String, hook: Hook, left: Duration, tokens: Vec<String>, input: Bytes },
    /// List the hooks of handlers that were loaded before.
    Hooks { program: u64, left: Duration },
    /// Compile handlers.
    Compile {
        extension: String,
        path: String,
        text: Bytes,
        libraries: Vec<(String, String)>,
        limits: SandboxLimits,
    },
    /// A request has ended.
    Answer { ticket: u64, result: Result<FetchResult, String> },
    /// The wait is over, and no request has ended.
    NoAnswer,
    /// Try something that confinement forbids.
    Probe(Probe),
}

/// What a call may do besides computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caps {
    pub(crate) log_lines: u32,
    pub(crate) fetches: u32,
}

/// What a worker says. It is hostile from its first call on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FromWorker {
    /// Confined, as far as these layers say.
    Ready {
        layers: Vec<Layer>,
    },
    Compiled {
        code: Bytes,
    },
    Output {
        output: HookOutput,
        retire: bool,
    },
    HookList {
        hooks: Vec<(String, Vec<Hook>)>,
        retire: bool,
    },
    Failed {
        error: SandboxError,
        retire: bool,
    },
    Fetch {
        ticket: u64,
        request: FetchRequest,
    },
    /// Nothing is left to run before a request has ended or this much time has passed.
    Wait {
        at_most: Option<Duration>,
    },
    Log {
        level: LogLevel,
        line: String,
    },
    /// The probe came back instead of killing the worker: with the error's name, or none if it was allowed.
    Probed {
        refusal: Option<String>,
    },
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn write_limits(out: &mut FrameWriter, limits: SandboxLimits) {
    out.u64(micros(limits.cpu)).size(limits.memory_bytes).size(limits.stack_bytes).size(limits.output_bytes);
}

fn read_limits(from: &mut Fields) -> Option<SandboxLimits> {
    Some(SandboxLimits {
        cpu: Duration::from_micros(from.u64()?),
        memory_bytes: from.size()?,
        stack_bytes: from.size()?,
        output_bytes: from.size()?,
    })
}

fn hook_code(hook: Hook) -> u8 {
    match hook {
        Hook::PreRequest => 0,
        Hook::ExecuteRequest => 1,
        Hook::PostRequest => 2,
        Hook::PostProcess => 3,
    }
}

fn read_hook(from: &mut Fields) -> Option<Hook> {
    let code = from.u8()?;
    Hook::ALL.into_iter().find(|hook| hook_code(*hook) == code)
}

fn write_pairs(out: &mut FrameWriter, pairs: &[(String, String)]) {
    out.u32(u32::try_from(pairs.len()).unwrap_or(u32::MAX));
    for (name, value) in pairs {
        out.text(name).text(value);
    }
}

fn read_pairs(from: &mut Fields) -> Option<Vec<(String, String)>> {
    from.list(LONGEST_LIST, |from| Some((from.text()?, from.text()?)))
}

fn read_flag(from: &mut Fields) -> Option<bool> {
    match from.u8()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// The bytes of [`ToWorker::Call`], without a copy of the input in between.
pub(crate) fn call_frame(
    program: u64,
    tool: &str,
    hook: Hook,
    left: Duration,
    tokens: &[String],
    input: &[u8],
) -> Vec<u8> {
    let mut out = FrameWriter::new(2, input.len() + 64 * (tokens.len() + 2));
    out.u64(program).text(tool).u8(hook_code(hook)).u64(micros(left));
    out.u32(u32::try_from(tokens.len()).unwrap_or(u32::MAX));
    for token in tokens {
        out.text(token);
    }
    out.bytes(input);
    out.finish()
}

impl ToWorker {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let start = |kind| FrameWriter::new(kind, 256);
        let out = match self {
            ToWorker::Hello { memory_bytes } => {
                let mut out = start(0);
                out.size(*memory_bytes);
                out
            }
            ToWorker::Load { program, extension, path, code, shared_lists, settings, caps } => {
                let mut out = FrameWriter::new(1, code.len() + shared_lists.len() + 256);
                out.u64(*program).text(extension).text(path).bytes(code).text(shared_lists);
                write_limits(&mut out, settings.limits);
                out.u8(u8::from(settings.network == NetworkGrant::Granted));
                out.u8(u8::from(settings.context == ContextLife::Schema));
                out.u32(caps.log_lines).u32(caps.fetches);
                out
            }
            ToWorker::Call { program, tool, hook, left, tokens, input } => {
                return call_frame(*program, tool, *hook, *left, tokens, input);
            }
            ToWorker::Hooks { program, left } => {
                let mut out = start(3);
                out.u64(*program).u64(micros(*left));
                out
            }
            ToWorker::Compile { extension, path, text, libraries, limits } => {
                let mut out = FrameWriter::new(4, text.len() + 256);
                out.text(extension).text(path).bytes(text);
                write_pairs(&mut out, libraries);
                write_limits(&mut out, *limits);
                out
            }
            ToWorker::Answer { ticket, result: Ok(result) } => {
                let mut out = FrameWriter::new(5, result.body.len() + 1024);
                out.u64(*ticket).u8(1).u16(result.status);
                write_pairs(&mut out, &result.headers);
                out.bytes(&result.body);
                out
            }
            ToWorker::Answer { ticket, result: Err(failure) } => {
                let mut out = start(5);
                out.u64(*ticket).u8(0).text(failure);
                out
            }
            ToWorker::NoAnswer => start(6),
            ToWorker::Probe(probe) => {
                let mut out = start(7);
                out.text(probe.name());
                out
            }
        };
        out.finish()
    }

    pub(crate) fn decode(frame: Bytes) -> Option<ToWorker> {
        let mut from = Fields::new(frame);
        let from = &mut from;
        let message = match from.u8()? {
            0 => ToWorker::Hello { memory_bytes: from.size()? },
            1 => ToWorker::Load {
                program: from.u64()?,
                extension: from.text()?,
                path: from.text()?,
                code: from.bytes()?,
                shared_lists: from.text()?,
                settings: SandboxSettings {
                    limits: read_limits(from)?,
                    network: if read_flag(from)? { NetworkGrant::Granted } else { NetworkGrant::Refused },
                    context: if read_flag(from)? { ContextLife::Schema } else { ContextLife::Call },
                },
                caps: Caps { log_lines: from.u32()?, fetches: from.u32()? },
            },
            2 => ToWorker::Call {
                program: from.u64()?,
                tool: from.text()?,
                hook: read_hook(from)?,
                left: Duration::from_micros(from.u64()?),
                tokens: from.list(LONGEST_LIST, Fields::text)?,
                input: from.bytes()?,
            },
            3 => ToWorker::Hooks { program: from.u64()?, left: Duration::from_micros(from.u64()?) },
            4 => ToWorker::Compile {
                extension: from.text()?,
                path: from.text()?,
                text: from.bytes()?,
                libraries: read_pairs(from)?,
                limits: read_limits(from)?,
            },
            5 => {
                let ticket = from.u64()?;
                let result = if read_flag(from)? {
                    Ok(FetchResult { status: from.u16()?, headers: read_pairs(from)?, body: from.bytes()? })
                } else {
                    Err(from.text()?)
                };
                ToWorker::Answer { ticket, result }
            }
            6 => ToWorker::NoAnswer,
            7 => {
                let name = from.text()?;
                ToWorker::Probe(Probe::ALL.into_iter().find(|probe| probe.name() == name)?)
            }
            _ => return None,
        };
        from.end().map(|()| message)
    }
}

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
                out.u32(u32::try_from(output.derived.len()).unwrap_or(u32::MAX));
                for derived in &output.derived {
                    let encoding = match derived.encoding {
                        DerivedEncoding::Base64 => 0,
                        DerivedEncoding::Base64Url => 1,
                    };
                    out.text(&derived.token).u8(encoding).bytes(&derived.text);
                }
                out
            }
            FromWorker::HookList { hooks, retire } => {
                let mut out = start(3);
                out.u8(u8::from(*retire)).u32(u32::try_from(hooks.len()).unwrap_or(u32::MAX));
                for (tool, hooks) in hooks {
                    out.text(tool).u32(u32::try_from(hooks.len()).unwrap_or(u32::MAX));
                    for hook in hooks {
                        out.u8(hook_code(*hook));
                    }
                }
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
                let derived = from.list(LONGEST_LIST, |from| {
                    let token =
                        from.text().filter(|token| token.bytes().all(|byte| byte.is_ascii_alphanumeric()))?;
                    let encoding = match from.u8()? {
                        0 => DerivedEncoding::Base64,
                        1 => DerivedEncoding::Base64Url,
                        _ => return None,
                    };
                    Some(DerivedToken { token, encoding, text: from.bytes()? })
                })?;
                let output = HookOutput { value, edited: has_edited.then_some(edited), derived };
                FromWorker::Output { output, retire }
            }
            3 => FromWorker::HookList {
                retire: read_flag(from)?,
                hooks: from.list(LONGEST_LIST, |from| Some((from.text()?, from.list(4, read_hook)?)))?,
            },
            4 => FromWorker::Failed { retire: read_flag(from)?, error: read_error(from)? },
            5 => FromWorker::Fetch {
                ticket: from.u64()?,
                request: FetchRequest {
                    method: from.text()?.parse::<Method>().ok()?,
                    url: from.text()?,
                    headers: read_pairs(from)?,
                    body: from.bytes()?,
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

fn read_error(from: &mut Fields) -> Option<SandboxError> {
    Some(match from.u8()? {
        0 => SandboxError::Compile {
            path: from.text()?,
            line: from.u32()?,
            column: from.u32()?,
            reason: from.text()?,
        },
        1 => {
            let message = from.text()?;
            let known = read_flag(from)?;
            let place = from.text()?;
            SandboxError::Thrown { message, place: known.then_some(place) }
        }
        2 => SandboxError::NotJson { reason: from.text()? },
        3 => SandboxError::NeverSettles,
        4 => SandboxError::Time { limit: Duration::from_micros(from.u64()?) },
        5 => SandboxError::Memory { limit: from.size()? },
        6 => SandboxError::Stack { limit: from.size()? },
        7 => SandboxError::Output { limit: from.size()? },
        8 => SandboxError::Crashed { reason: from.text()? },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use proptest::prelude::*;

    use super::*;
    use crate::frame;

    fn unframed(frame: Vec<u8>) -> Bytes {
        let mut received = BytesMut::from(frame.as_slice());
        let body = frame::take(&mut received, usize::MAX).ok().flatten().expect("one whole frame");
        assert!(received.is_empty());
        body
    }

    fn request() -> FetchRequest {
        FetchRequest {
            method: Method::Post,
            url: "https://a.test/".to_owned(),
            headers: vec![("a".to_owned(), "b".to_owned())],
            body: Bytes::from_static(b"body"),
        }
    }

    #[test]
    fn what_the_host_says_arrives() {
        let settings = SandboxSettings {
            network: NetworkGrant::Granted,
            context: ContextLife::Schema,
            ..SandboxSettings::default()
        };
        let result = FetchResult { status: 404, headers: request().headers, body: request().body };
        for message in [
            ToWorker::Hello { memory_bytes: 7 },
            ToWorker::Load {
                program: 1,
                extension: "mjs".to_owned(),
                path: "a.mjs".to_owned(),
                code: Bytes::from_static(b"code"),
                shared_lists: "{}".to_owned(),
                settings,
                caps: Caps { log_lines: 1, fetches: 2 },
            },
            ToWorker::Call {
                program: 1,
                tool: "t".to_owned(),
                hook: Hook::PostProcess,
                left: Duration::from_micros(5),
                tokens: vec!["x".to_owned()],
                input: Bytes::from_static(b"{}"),
            },
            ToWorker::Hooks { program: 9, left: Duration::from_secs(1) },
            ToWorker::Compile {
                extension: "mjs".to_owned(),
                path: "a".to_owned(),
                text: Bytes::from_static(b"text"),
                libraries: vec![("l".to_owned(), "m".to_owned())],
                limits: SandboxLimits::default(),
            },
            ToWorker::Answer { ticket: 3, result: Ok(result) },
            ToWorker::Answer { ticket: 3, result: Err("no".to_owned()) },
            ToWorker::NoAnswer,
            ToWorker::Probe(Probe::Exec),
        ] {
            assert_eq!(ToWorker::decode(unframed(message.encode())), Some(message));
        }
    }

    #[test]
    fn what_a_worker_says_arrives() {
        let derived = DerivedToken {
            token: "ab1".to_owned(),
            encoding: DerivedEncoding::Base64Url,
            text: Bytes::from_static(b"\xff"),
        };
        let limit = Duration::from_millis(3);
        let errors = [
            SandboxError::Compile { path: "a".to_owned(), line: 1, column: 2, reason: "r".to_owned() },
            SandboxError::Thrown { message: "m".to_owned(), place: None },
            SandboxError::Thrown { message: "m".to_owned(), place: Some("a:1:2".to_owned()) },
            SandboxError::NotJson { reason: "r".to_owned() },
            SandboxError::NeverSettles,
            SandboxError::Time { limit },
            SandboxError::Memory { limit: 4 },
            SandboxError::Stack { limit: 5 },
            SandboxError::Output { limit: 6 },
            SandboxError::Crashed { reason: "r".to_owned() },
        ];
        let states =
            [LayerState::Enforced, LayerState::Partly("p".to_owned()), LayerState::Missing("m".to_owned())];
        let outputs =
            [HookValue::Absent, HookValue::Undefined, HookValue::Json("1".to_owned())].map(|value| {
                let output =
                    HookOutput { value, edited: Some("{}".to_owned()), derived: vec![derived.clone()] };
                FromWorker::Output { output, retire: true }
            });
        let others = [
            FromWorker::Ready { layers: states.map(|state| Layer { name: "n".to_owned(), state }).to_vec() },
            FromWorker::Compiled { code: Bytes::from_static(b"code") },
            FromWorker::HookList { hooks: vec![("t".to_owned(), Hook::ALL.to_vec())], retire: false },
            FromWorker::Fetch { ticket: 1, request: request() },
            FromWorker::Wait { at_most: None },
            FromWorker::Wait { at_most: Some(limit) },
            FromWorker::Log { level: LogLevel::Warn, line: "l".to_owned() },
            FromWorker::Probed { refusal: None },
            FromWorker::Probed { refusal: Some("EPERM".to_owned()) },
        ];
        let failed = errors.map(|error| FromWorker::Failed { error, retire: false });
        for message in outputs.into_iter().chain(others).chain(failed) {
            assert_eq!(FromWorker::decode(unframed(message.encode())), Some(message));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(kind in 0_u8..12, mut bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(first) = bytes.first_mut() {
                *first = kind;
            }
            let frame = Bytes::from(bytes);
            let _ = FromWorker::decode(frame.clone());
            let _ = ToWorker::decode(frame);
        }
    }
}
