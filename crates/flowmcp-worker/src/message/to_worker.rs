//! The host's messages as bytes.

use std::time::Duration;

use bytes::Bytes;
use flowmcp_plugin::{ContextLife, FetchResult, Hook, NetworkGrant, SandboxSettings};

use super::{
    Caps, LONGEST_LIST, ToWorker, hook_code, layers_code, micros, read_flag, read_hook, read_layers,
    read_limits, read_pairs, write_limits, write_pairs,
};
use crate::{
    frame::{Fields, FrameWriter},
    probe::Probe,
};

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
            ToWorker::Hello { memory_bytes, layers } => {
                let mut out = start(0);
                out.size(*memory_bytes).u8(layers_code(*layers));
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
            ToWorker::Outline { program, left } => {
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
            0 => ToWorker::Hello { memory_bytes: from.size()?, layers: read_layers(from)? },
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
            3 => ToWorker::Outline { program: from.u64()?, left: Duration::from_micros(from.u64()?) },
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
