//! The messages between host and worker, and their bytes.

mod from_worker;
#[cfg(test)]
mod tests;
mod to_worker;

use std::time::Duration;

use bytes::Bytes;
use flowmcp_plugin::{
    FetchRequest, FetchResult, Hook, HookOutput, LogLevel, Outline, SandboxError, SandboxLimits,
    SandboxSettings,
};

use crate::{
    confine::{Layer, Layers},
    frame::{Fields, FrameWriter},
    probe::Probe,
};

pub(crate) use to_worker::call_frame;

/// Most items of any list that a worker sends.
const LONGEST_LIST: u32 = 4096;

/// What the host says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ToWorker {
    /// First of all: confine yourself, with this much memory for scripts.
    Hello { memory_bytes: usize, layers: Layers },
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
    /// Tell what the factory of handlers that were loaded before gives.
    Outline { program: u64, left: Duration },
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
    Outlined {
        outline: Outline,
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

fn layers_code(layers: Layers) -> u8 {
    match layers {
        Layers::All => 0,
        Layers::Landlock => 1,
        Layers::Limits => 2,
        Layers::Seccomp => 3,
    }
}

fn read_layers(from: &mut Fields) -> Option<Layers> {
    let code = from.u8()?;
    Layers::EACH.into_iter().find(|layers| layers_code(*layers) == code)
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
