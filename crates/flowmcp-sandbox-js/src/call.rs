//! Running one hook: factory, input, the hook itself, its promise, its result.

use std::{
    rc::Rc,
    time::{Duration, Instant},
};

use flowmcp_plugin::{Hook, HookCall, HookOutput, HookValue, Outline, SandboxError, Ticket};
use rquickjs::{Ctx, Error, Function, Object, Promise, TypedArray, Value, promise::PromiseState};

use crate::{
    context::{self, Blueprint, Ready},
    digits::Digits,
    edge::{self, Written},
    errors,
    natives::{Network, after_milliseconds},
};

/// Longest that one wait for the host lasts before the deadline is looked at again.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Longest name of a member that is told, in characters.
const LONGEST_NAME: usize = 256;

/// A context in use.
pub(crate) struct Run<'a, 'js> {
    pub(crate) ctx: &'a Ctx<'js>,
    pub(crate) blueprint: &'a Rc<Blueprint>,
    pub(crate) ready: &'a Ready,
}

type Outcome<T> = Result<T, SandboxError>;

impl<'js> Run<'_, 'js> {
    /// Calls one hook of the handlers that [`Run::handlers`] gave.
    pub(crate) fn hook(&self, handlers: &Value<'js>, call: &HookCall<'_>) -> Outcome<HookOutput> {
        let absent = HookOutput { value: HookValue::Absent, edited: None, derived: Vec::new() };
        let Some(handlers) = handlers.as_object() else { return Ok(absent) };
        let tool: Value<'js> = self.js(handlers.get(call.tool))?;
        let Some(tool) = tool.into_object() else { return Ok(absent) };
        let hook: Value<'js> = self.js(tool.get(call.hook.as_str()))?;
        if !hook.is_function() {
            return Ok(absent);
        }
        let (input, digits, by_place) = self.input(call)?;
        let run: Function<'js> = self.entry("run")?;
        let promise: Promise<'js> = self.js(run.call((tool, call.hook.as_str(), input.clone())))?;
        let value = self.settle(&promise)?;
        let write = |value: Value<'js>| self.write(value, &digits, by_place.as_ref());
        let edits = matches!(call.hook, Hook::PreRequest | Hook::ExecuteRequest);
        let edited = if edits && self.lacks_struct(&value)? { Some(write(input.clone())?) } else { None };
        self.leave(input);
        let value = if value.is_undefined() { HookValue::Undefined } else { HookValue::Json(write(value)?) };
        Ok(HookOutput { value, edited, derived: self.ready.shared.derived.take() })
    }

    /// Lets go of a value that may be large. Where the memory is put back after the call, nothing needs to be freed.
    fn leave(&self, value: Value<'js>) {
        if self.ready.is_fresh_each_time() {
            std::mem::forget(value);
        }
    }

    /// Runs the schema's top level and its factory.
    pub(crate) fn handlers(&self) -> Outcome<Value<'js>> {
        let namespace = self.settle(&self.js(context::import(self.ctx, self.blueprint))?)?;
        let exported: Value<'js> = match namespace.as_object() {
            Some(namespace) => self.js(namespace.get("handlers"))?,
            None => return Ok(namespace),
        };
        let make: Function<'js> = self.entry("make")?;
        self.settle(&self.js(make.call((exported,)))?)
    }

    /// What the factory gave, down to a depth.
    pub(crate) fn outline(&self, value: Value<'js>, depth: usize) -> Outcome<Outline> {
        if value.is_function() {
            return Ok(Outline::Function);
        }
        let kind = value.type_name();
        let Some(object) = value.into_object().filter(|object| depth > 0 && !object.is_array()) else {
            return Ok(Outline::Other(kind.to_owned()));
        };
        let mut members = Vec::new();
        for name in object.keys::<String>().take(Outline::MEMBERS) {
            let name = self.js(name)?;
            let member: Value<'js> = self.js(object.get(name.as_str()))?;
            // A name as long as the memory is no name of a tool or hook.
            let short = name.chars().take(LONGEST_NAME).collect();
            members.push((short, self.outline(member, depth - 1)?));
        }
        Ok(Outline::Object(members))
    }

    /// Freezes the intrinsics of a context that outlives its call.
    pub(crate) fn harden(&self) -> Outcome<()> {
        let harden: Function<'js> = self.js(self.piece("harden")?.get("harden"))?;
        self.js(harden.call(()))
    }

    /// The hook's argument, with what is needed to keep its numbers' digits.
    fn input(&self, call: &HookCall<'_>) -> Outcome<(Value<'js>, Digits, Option<Object<'js>>)> {
        let reads_text = matches!(call.hook, Hook::PostRequest | Hook::PostProcess);
        self.ready.shared.input.replace(if reads_text { call.input.to_owned() } else { String::new() });
        let read = self.js(edge::read(self.ctx, call.input))?;
        let digits = match &read {
            Some(read) if read.plain_numbers => Digits::default(),
            _ => Digits::search(call.input),
        };
        let by_place = if digits.by_place { Some(self.piece("digits")?) } else { None };
        let input: Value<'js> = match (&by_place, read) {
            (Some(piece), _) => {
                let parse: Function<'js> = self.js(piece.get("parse"))?;
                self.js(parse.call((call.input,)))?
            }
            (None, Some(read)) => read.value,
            (None, None) => self.js(self.ctx.json_parse(call.input))?,
        };
        let complete: Function<'js> = self.entry("complete")?;
        let input = self.js(complete.call((call.hook.as_str(), input)))?;
        Ok((input, digits, by_place))
    }

    /// Runs jobs, and waits for requests and timers, until a promise is settled.
    fn settle(&self, promise: &Promise<'js>) -> Outcome<Value<'js>> {
        let budget = &self.ready.budget;
        let mut jobs = 0_u32;
        loop {
            match promise.state() {
                PromiseState::Pending => {}
                PromiseState::Resolved | PromiseState::Rejected => {
                    let result = promise.result::<Value<'js>>().unwrap_or(Err(Error::WouldBlock));
                    let value = self.js(result)?;
                    return if budget.out_of_time() { Err(self.out_of_time()) } else { Ok(value) };
                }
            }
            jobs = jobs.wrapping_add(1);
            // An error that ends a job ends here unseen, so the budget is asked instead; but asking costs a look at the clock.
            if jobs.is_multiple_of(32) && budget.out_of_time() {
                return Err(self.out_of_time());
            }
            if self.ctx.execute_pending_job() {
                continue;
            }
            if budget.out_of_time() {
                return Err(self.out_of_time());
            }
            if promise.state() == PromiseState::Pending && !self.wait()? {
                return Err(match budget.memory_was_refused() {
                    true => SandboxError::Memory { limit: self.blueprint.settings.limits.memory_bytes },
                    false => SandboxError::NeverSettles,
                });
            }
        }
    }

    /// Waits for the next request or timer; false when there is none.
    fn wait(&self) -> Outcome<bool> {
        let network = self.ready.shared.network.borrow().clone();
        let Some(Network { next, due, settle }) = network else { return Ok(false) };
        let next = self.js(next.restore(self.ctx))?;
        let milliseconds: Option<f64> = self.js(next.call(()))?;
        let Some(milliseconds) = milliseconds else { return Ok(false) };
        let budget = &self.ready.budget;
        let timer = if milliseconds < 0.0 { None } else { after_milliseconds(milliseconds) };
        let now = Instant::now();
        let latest = timer.map_or(budget.deadline(), |timer| timer.min(budget.deadline()));
        let until = now.checked_add(LONGEST_WAIT).map_or(latest, |longest| longest.min(latest));
        let answer = if timer.is_some_and(|timer| timer <= now) {
            None
        } else {
            self.ready.shared.host.wait(Some(until))
        };
        budget.waited(now.elapsed());
        match answer {
            Some((Ticket(ticket), result)) => {
                let settle = self.js(settle.restore(self.ctx))?;
                // Tickets are counted per call, far below 2^53.
                let ticket = ticket as f64;
                match result {
                    Ok(result) => {
                        let headers: Vec<String> =
                            result.headers.into_iter().flat_map(|(name, value)| [name, value]).collect();
                        let body = self.js(TypedArray::<u8>::new_copy(self.ctx.clone(), &result.body))?;
                        let undefined = Value::new_undefined(self.ctx.clone());
                        self.js(settle.call::<_, ()>((ticket, undefined, result.status, headers, body)))?;
                    }
                    Err(failure) => self.js(settle.call::<_, ()>((ticket, failure)))?,
                }
                Ok(true)
            }
            None if budget.out_of_time() => Err(self.out_of_time()),
            None => {
                // A timer without request, or the host had nothing to wait for.
                if timer.is_none() && Instant::now() < until {
                    return Ok(false);
                }
                let due = self.js(due.restore(self.ctx))?;
                self.js(due.call::<_, ()>(()))?;
                Ok(true)
            }
        }
    }

    fn lacks_struct(&self, value: &Value<'js>) -> Outcome<bool> {
        let lacks: Function<'js> = self.entry("lacksStruct")?;
        self.js(lacks.call((value.clone(),)))
    }

    /// A result as JSON text.
    fn write(&self, value: Value<'js>, digits: &Digits, by_place: Option<&Object<'js>>) -> Outcome<String> {
        let limit = self.blueprint.settings.limits.output_bytes;
        let kind = value.type_name();
        if by_place.is_none() {
            match self.js(edge::write(self.ctx, &value, limit, &self.ready.budget))? {
                Written::Text(text) => {
                    self.leave(value);
                    return Ok(if digits.is_empty() { text } else { digits.restore(text) });
                }
                Written::Unsure => {}
                Written::TooLong => return Err(SandboxError::Output { limit }),
                Written::OutOfTime => return Err(self.out_of_time()),
            }
        }
        let text: Option<rquickjs::String<'js>> = match by_place {
            Some(piece) => {
                let stringify: Function<'js> = self.js(piece.get("stringify"))?;
                self.written(stringify.call((value,)))?
            }
            None => self.written(self.ctx.json_stringify(value))?,
        };
        let Some(text) = text else {
            return Err(SandboxError::NotJson { reason: format!("a {kind}") });
        };
        let text = self.js(text.to_string())?;
        if text.len() > limit {
            return Err(SandboxError::Output { limit });
        }
        if self.ready.budget.out_of_time() {
            return Err(self.out_of_time());
        }
        Ok(if digits.is_empty() { text } else { digits.restore(text) })
    }

    /// A cycle is not the handler's own error, though the engine throws it like one.
    fn written<T>(&self, result: rquickjs::Result<T>) -> Outcome<T> {
        self.js(result).map_err(|error| match error {
            SandboxError::Thrown { message, place: _ } if message.contains("circular reference") => {
                SandboxError::NotJson { reason: "an object that contains itself".to_owned() }
            }
            other => other,
        })
    }

    fn piece(&self, name: &str) -> Outcome<Object<'js>> {
        self.js(context::load_piece(self.ctx, self.blueprint, &self.ready.shared, name))
    }

    fn entry(&self, name: &str) -> Outcome<Function<'js>> {
        let entries = self.js(self.ready.entries.clone().restore(self.ctx))?;
        self.js(entries.get(name))
    }

    fn out_of_time(&self) -> SandboxError {
        SandboxError::Time { limit: self.ready.budget.time_limit() }
    }

    fn js<T>(&self, result: rquickjs::Result<T>) -> Outcome<T> {
        result.map_err(|error| {
            errors::failure(
                self.ctx,
                error,
                &self.blueprint.path,
                self.blueprint.settings.limits,
                &self.ready.budget,
            )
        })
    }
}
