//! A worker with the JavaScript sandbox, and one that crashes as an engine may, for this crate's tests and for measuring.

use std::{process::ExitCode, rc::Rc, time::Instant};

use bytes::Bytes;
use flowmcp_plugin::*;

fn main() -> ExitCode {
    flowmcp_worker::run_worker(vec![Box::new(flowmcp_sandbox_js::JsSandbox::default()), Box::new(Crashing)])
}

/// Runs `*.crash` files: their hooks end the process in the way that their names say.
struct Crashing;

impl Sandbox for Crashing {
    fn extensions(&self) -> &'static [&'static str] {
        &["crash"]
    }

    fn compile(&self, _: &SandboxSource<'_>, _: SandboxLimits) -> Result<Bytes, SandboxError> {
        Ok(Bytes::from_static(b"crash"))
    }

    fn load(
        &self,
        _: &SandboxProgram<'_>,
        _: SandboxSettings,
        _: Rc<dyn SandboxHost>,
    ) -> Result<Box<dyn Handlers>, SandboxError> {
        Ok(Box::new(Crashing))
    }
}

impl Handlers for Crashing {
    fn call(&mut self, call: &HookCall<'_>) -> Result<HookOutput, SandboxError> {
        match call.tool {
            "panic" => panic!("as a test asks"),
            "overflow" => {
                let depth = recurse(&[1; 64]);
                Err(SandboxError::Crashed { reason: format!("the stack has {depth} frames") })
            }
            _ => std::process::abort(),
        }
    }

    fn outline(&mut self, _: Instant) -> Result<Outline, SandboxError> {
        Ok(Outline::Object(Vec::new()))
    }

    fn is_spent(&self) -> bool {
        false
    }
}

/// Uses the native stack up.
#[expect(unconditional_recursion, reason = "its end is the end of the stack")]
fn recurse(room: &[u8; 64]) -> u64 {
    let mine = std::hint::black_box(*room);
    recurse(&mine) + u64::from(std::hint::black_box(mine).iter().copied().fold(0, u8::wrapping_add))
}
