//! One way to run a handler.

use std::{
    cell::RefCell,
    collections::VecDeque,
    rc::Rc,
    time::{Duration, Instant},
};

use flowmcp_plugin::*;
use flowmcp_sandbox_js::JsSandbox;

/// A host that answers each request with its own URL and keeps what was logged.
#[derive(Default)]
pub(crate) struct EchoHost {
    pub(crate) lines: RefCell<Vec<(LogLevel, String)>>,
    pub(crate) requests: RefCell<Vec<FetchRequest>>,
    pub(crate) open: RefCell<VecDeque<(Ticket, String)>>,
    pub(crate) granted: bool,
}

impl SandboxHost for EchoHost {
    fn start(&self, request: FetchRequest) -> Result<Ticket, String> {
        if !self.granted {
            return Err("not granted".to_owned());
        }
        let ticket = Ticket(self.requests.borrow().len() as u64 + 1);
        self.open.borrow_mut().push_back((ticket, request.url.clone()));
        self.requests.borrow_mut().push(request);
        Ok(ticket)
    }

    /// The latest first, so that answers come in another order than questions.
    fn wait(&self, until: Option<Instant>) -> Option<(Ticket, Result<FetchResult, String>)> {
        let Some((ticket, url)) = self.open.borrow_mut().pop_back() else {
            std::thread::sleep(until?.saturating_duration_since(Instant::now()));
            return None;
        };
        if url.contains("never") {
            std::thread::sleep(until?.saturating_duration_since(Instant::now()));
            return None;
        }
        if url.contains("refused") {
            return Some((ticket, Err("address refused".to_owned())));
        }
        let headers = [("content-type", "application/json"), ("set-cookie", "a=1"), ("set-cookie", "b=2")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let status = if url.contains("missing") { 404 } else { 200 };
        let body = format!(r#"{{"url":"{url}"}}"#).into();
        Some((ticket, Ok(FetchResult { status, headers, body })))
    }

    fn log(&self, level: LogLevel, line: &str) {
        self.lines.borrow_mut().push((level, line.to_owned()));
    }
}

pub(crate) struct Case<'a> {
    pub(crate) text: &'a str,
    pub(crate) hook: Hook,
    pub(crate) input: &'a str,
    pub(crate) lists: &'a str,
    pub(crate) settings: SandboxSettings,
    pub(crate) tokens: &'a [String],
}

impl Default for Case<'_> {
    fn default() -> Self {
        Case {
            text: "",
            hook: Hook::PostRequest,
            input: r#"{"response":null,"struct":{},"payload":{}}"#,
            lists: "",
            settings: SandboxSettings::default(),
            tokens: &[],
        }
    }
}

pub(crate) const PATH: &str = "providers/demo/tool.mjs";

pub(crate) fn load(
    text: &str,
    lists: &str,
    settings: SandboxSettings,
    host: Rc<dyn SandboxHost>,
) -> Result<Box<dyn Handlers>, SandboxError> {
    let sandbox = JsSandbox::default();
    let code = sandbox.compile(&SandboxSource { path: PATH, text, libraries: &[] }, settings.limits)?;
    sandbox.load(&SandboxProgram { path: PATH, code: &code, shared_lists: lists }, settings, host)
}

pub(crate) fn run(case: &Case<'_>) -> Result<HookOutput, SandboxError> {
    let host =
        Rc::new(EchoHost { granted: case.settings.network == NetworkGrant::Granted, ..EchoHost::default() });
    run_with(case, host)
}

pub(crate) fn run_with(case: &Case<'_>, host: Rc<EchoHost>) -> Result<HookOutput, SandboxError> {
    load(case.text, case.lists, case.settings, host)?.call(&HookCall {
        tool: "tool",
        hook: case.hook,
        input: case.input,
        tokens: case.tokens,
        deadline: Instant::now() + Duration::from_secs(20),
    })
}

/// A schema whose tool has one `postRequest` with this body.
pub(crate) fn post_request(body: &str) -> String {
    format!(
        "export const handlers = ( {{ sharedLists, libraries }} ) => ( {{ tool: {{ postRequest: async ( {{ response, struct, payload }} ) => {{ {body} }} }} }} )"
    )
}

/// The value of an expression, as JSON.
pub(crate) fn value_of(expression: &str) -> String {
    let text = post_request(&format!("return {{ response: ( {expression} ) }}"));
    match run(&Case { text: &text, ..Case::default() }) {
        Ok(HookOutput { value: HookValue::Json(json), .. }) => json
            .strip_prefix(r#"{"response":"#)
            .and_then(|rest| rest.strip_suffix('}'))
            .unwrap_or(&json)
            .to_owned(),
        other => format!("{other:?}"),
    }
}
