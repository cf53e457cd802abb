//! Runs JavaScript handlers on QuickJS, each hook call in a context of its own.
//!
//! A handler sees ES2023, `URL`, `URLSearchParams`, `TextEncoder`, `TextDecoder`, `atob`, `btoa`, `structuredClone`,
//! `Buffer`, `AbortSignal` and `console`; with a grant also `fetch` and timers. There is no parser in its context, so
//! `eval`, `Function` and `import` of anything but itself fail natively.
//!
//! ```
//! use std::{rc::Rc, time::{Duration, Instant}};
//! use flowmcp_plugin::*;
//! use flowmcp_sandbox_js::JsSandbox;
//!
//! struct Silent;
//! impl SandboxHost for Silent {
//!     fn start(&self, _request: FetchRequest) -> Result<Ticket, String> { Err("not granted".to_owned()) }
//!     fn wait(&self, _until: Option<Instant>) -> Option<(Ticket, Result<FetchResult, String>)> { None }
//!     fn log(&self, _level: LogLevel, _line: &str) {}
//! }
//!
//! let text = "export const handlers = () => ( { ping: { postRequest: async ( { response } ) => ( { response: response.ok } ) } } )";
//! let sandbox = JsSandbox::default();
//! let source = SandboxSource { path: "ping.mjs", text, libraries: &[] };
//! let code = sandbox.compile(&source, SandboxLimits::default())?;
//! let program = SandboxProgram { path: "ping.mjs", code: &code, shared_lists: "{}" };
//! let mut handlers = sandbox.load(&program, SandboxSettings::default(), Rc::new(Silent))?;
//! let output = handlers.call(&HookCall {
//!     tool: "ping",
//!     hook: Hook::PostRequest,
//!     input: r#"{"response":{"ok":true},"struct":{},"payload":{}}"#,
//!     tokens: &[],
//!     deadline: Instant::now() + Duration::from_secs(5),
//! })?;
//! assert_eq!(output.value, HookValue::Json(r#"{"response":true}"#.to_owned()));
//! # Ok::<(), SandboxError>(())
//! ```

mod budget;
mod call;
mod context;
mod digits;
mod edge;
mod engine;
mod errors;
mod natives;
mod prelude;
mod program;

use std::{
    cell::RefCell,
    rc::Rc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use flowmcp_plugin::{
    ContextLife, Handlers, HookCall, HookOutput, Outline, Sandbox, SandboxError, SandboxHost, SandboxLimits,
    SandboxProgram, SandboxSettings, SandboxSource,
};
use rquickjs::Persistent;

use crate::{
    budget::Budget,
    call::Run,
    context::{Blueprint, Ready},
    edge::Heap,
    prelude::SharedPrelude,
    program::CompiledModule,
};

/// The JavaScript sandbox. One per thread; what it compiled of its own prelude is shared by all handlers it loads, and so
/// is the memory that they run in, one at a time.
#[derive(Default)]
pub struct JsSandbox {
    prelude: SharedPrelude,
    heap: RefCell<Option<Rc<Heap>>>,
}

impl Sandbox for JsSandbox {
    fn extensions(&self) -> &'static [&'static str] {
        &["mjs", "js"]
    }

    fn warm_up(&self) {
        // The C library reads the time zone from a file at first use, and the bootstrap is compiled. What fails here
        // fails again, and is reported, at the first call.
        let text = "new Date().getTimezoneOffset(); export const handlers = () => ({})";
        let source = SandboxSource { path: "flowmcp:warm-up", text, libraries: &[] };
        let limits = SandboxLimits::default();
        if let Ok(code) = self.compile(&source, limits) {
            let program = SandboxProgram { path: source.path, code: &code, shared_lists: "" };
            if let Ok(mut handlers) = self.load(&program, SandboxSettings::default(), Rc::new(NoHost)) {
                let deadline = Instant::now() + Duration::from_secs(1);
                drop(handlers.outline(deadline));
            }
        }
    }

    fn compile(&self, source: &SandboxSource<'_>, limits: SandboxLimits) -> Result<Bytes, SandboxError> {
        let budget = Rc::new(Budget::unlimited());
        let crashed = |error: rquickjs::Error| SandboxError::Crashed { reason: error.to_string() };
        let heap = Heap::new(limits.memory_bytes).map(Rc::new).map_err(crashed)?;
        let runtime = engine::runtime(&heap, &budget, limits.stack_bytes).map_err(crashed)?;
        let context = engine::compiling_context(&runtime).map_err(crashed)?;
        let deadline = Instant::now() + limits.cpu;
        budget.begin(limits.cpu, deadline, limits.memory_bytes);
        let compiled = context.with(|ctx| {
            let of_schema = ("", source.path, source.text);
            let of_libraries =
                source.libraries.iter().map(|(name, text)| (name.as_str(), name.as_str(), text.as_str()));
            std::iter::once(of_schema)
                .chain(of_libraries)
                .map(|(name, path, text)| {
                    let code = engine::compile(&ctx, path, text)
                        .map_err(|error| errors::compile_failure(&ctx, error, path, limits, &budget))?;
                    Ok(CompiledModule { name: name.to_owned(), code })
                })
                .collect::<Result<Vec<_>, SandboxError>>()
        });
        budget.end();
        Ok(program::encode(&compiled?))
    }

    fn load(
        &self,
        program: &SandboxProgram<'_>,
        settings: SandboxSettings,
        host: Rc<dyn SandboxHost>,
    ) -> Result<Box<dyn Handlers>, SandboxError> {
        let mut modules = program::decode(program.code)?.into_iter();
        let code = modules.next().map(|schema| schema.code).unwrap_or_default();
        let lists = digits::members(program.shared_lists)
            .into_iter()
            .map(|(name, json)| (name.to_owned(), json.to_owned()))
            .collect();
        let blueprint = Blueprint {
            path: program.path.to_owned(),
            code,
            libraries: modules.map(|library| (library.name, library.code)).collect(),
            lists,
            settings,
            host,
            prelude: Rc::clone(&self.prelude),
        };
        let no_room =
            |error: rquickjs::Error| SandboxError::Crashed { reason: format!("no address space: {error}") };
        let heap = self.heap(settings).map_err(no_room)?;
        Ok(Box::new(JsHandlers { blueprint: Rc::new(blueprint), heap, ready: None, spent: false }))
    }
}

impl JsSandbox {
    /// The memory for handlers with these settings: shared, except where contexts stay in it.
    fn heap(&self, settings: SandboxSettings) -> rquickjs::Result<Rc<Heap>> {
        let memory = settings.limits.memory_bytes;
        if settings.context == ContextLife::Schema {
            return Heap::new(memory).map(Rc::new);
        }
        let mut shared = self.heap.borrow_mut();
        match shared.as_ref().filter(|heap| heap.has_room_for(memory)) {
            Some(heap) => Ok(Rc::clone(heap)),
            None => {
                let heap = Rc::new(Heap::new(memory)?);
                *shared = Some(Rc::clone(&heap));
                Ok(heap)
            }
        }
    }
}

/// The handlers of one schema file.
struct JsHandlers {
    blueprint: Rc<Blueprint>,
    heap: Rc<Heap>,
    /// The context, once it was built.
    ready: Option<Ready>,
    spent: bool,
}

impl Handlers for JsHandlers {
    fn call(&mut self, call: &HookCall<'_>) -> Result<HookOutput, SandboxError> {
        let tokens = call.tokens.to_vec();
        self.run(call.deadline, tokens, |run, handlers| run.hook(handlers, call))
    }

    fn outline(&mut self, deadline: Instant) -> Result<Outline, SandboxError> {
        self.run(deadline, Vec::new(), |run, handlers| run.outline(handlers.clone(), Outline::DEPTH))
    }

    fn prepare(&mut self) {
        match &self.ready {
            Some(ready) => ready.restore(),
            None if self.spent => {}
            // A failure comes again, with someone to tell, at the next call.
            None => self.ready = context::build(&self.blueprint, &self.heap).ok(),
        }
    }

    fn is_spent(&self) -> bool {
        self.spent
    }
}

impl JsHandlers {
    fn run<T>(
        &mut self,
        deadline: Instant,
        tokens: Vec<String>,
        what: impl for<'a, 'js> FnOnce(&Run<'a, 'js>, &rquickjs::Value<'js>) -> Result<T, SandboxError>,
    ) -> Result<T, SandboxError> {
        if self.spent {
            return Err(SandboxError::Crashed { reason: "a limit was reached before".to_owned() });
        }
        let mut ready = match self.ready.take() {
            Some(ready) => ready,
            None => context::build(&self.blueprint, &self.heap)
                .map_err(|error| SandboxError::Crashed { reason: format!("no context: {error}") })?,
        };
        let limits = self.blueprint.settings.limits;
        ready.begin();
        ready.shared.tokens.replace(tokens);
        ready.shared.derived.take();
        ready.budget.begin(limits.cpu, deadline, limits.memory_bytes);
        let context = ready.context.clone();
        let result = context.with(|ctx| {
            let kept = ready.handlers.clone();
            let run = Run { ctx: &ctx, blueprint: &self.blueprint, ready: &ready };
            let (handlers, made) = match kept {
                Some(kept) => {
                    let lost = |error: rquickjs::Error| SandboxError::Crashed { reason: error.to_string() };
                    (kept.restore(&ctx).map_err(lost)?, None)
                }
                None => {
                    if self.blueprint.settings.context == ContextLife::Schema {
                        run.harden()?;
                    }
                    let handlers = run.handlers()?;
                    let kept =
                        (!ready.is_fresh_each_time()).then(|| Persistent::save(&ctx, handlers.clone()));
                    (handlers, kept)
                }
            };
            what(&run, &handlers).map(|value| (value, made))
        });
        drop(context);
        self.spent = ready.budget.out_of_time()
            || ready.budget.memory_was_refused()
            || matches!(result, Err(SandboxError::Stack { .. }));
        ready.end();
        let result = result.map(|(value, made)| {
            if made.is_some() {
                ready.handlers = made;
            }
            value
        });
        if !self.spent && (ready.is_fresh_each_time() || ready.handlers.is_some()) {
            self.ready = Some(ready);
        }
        result
    }
}

/// The host while nobody has loaded anything.
struct NoHost;

impl SandboxHost for NoHost {
    fn start(&self, _request: flowmcp_plugin::FetchRequest) -> Result<flowmcp_plugin::Ticket, String> {
        Err("not granted".to_owned())
    }

    fn wait(
        &self,
        _until: Option<Instant>,
    ) -> Option<(flowmcp_plugin::Ticket, Result<flowmcp_plugin::FetchResult, String>)> {
        None
    }

    fn log(&self, _level: flowmcp_plugin::LogLevel, _line: &str) {}
}
