//! One context, ready to run a schema's handlers.

use std::{cell::RefCell, rc::Rc};

use bytes::Bytes;
use flowmcp_plugin::{ContextLife, DerivedToken, SandboxHost, SandboxSettings};
use rquickjs::{Context, Ctx, Exception, Function, Module, Object, Persistent, Result, Runtime, Value};

use crate::{
    budget::Budget,
    digits,
    edge::{self, Heap, Image},
    engine,
    natives::{self, Network},
    prelude::{self, BOOTSTRAP, SharedPrelude},
};

/// What a schema's contexts are built from.
pub(crate) struct Blueprint {
    /// Path of the schema inside its pack: the module's name, and so the file in error places.
    pub(crate) path: String,
    /// The schema's bytecode.
    pub(crate) code: Bytes,
    /// Name and bytecode of each library.
    pub(crate) libraries: Vec<(String, Bytes)>,
    /// Name and JSON text of each shared list.
    pub(crate) lists: Vec<(String, String)>,
    pub(crate) settings: SandboxSettings,
    pub(crate) host: Rc<dyn SandboxHost>,
    pub(crate) prelude: SharedPrelude,
}

/// What a context's native functions need. Lives inside the context, so it must not hold the context.
pub(crate) struct Shared {
    pub(crate) host: Rc<dyn SandboxHost>,
    /// Tokens of the current call's secrets.
    pub(crate) tokens: RefCell<Vec<String>>,
    /// Tokens made of those.
    pub(crate) derived: RefCell<Vec<DerivedToken>>,
    /// Source text of the input, for `dataAsString` and `String(data)`.
    pub(crate) input: RefCell<String>,
    /// Set once `fetch.js` is loaded.
    pub(crate) network: RefCell<Option<Network>>,
    /// What pieces of the prelude get: made once, since functions of Rust's must not be made after the image.
    natives: RefCell<Option<Persistent<Object<'static>>>>,
}

/// A context with the prelude and the schema loaded; nothing of the schema has run yet.
///
/// Fields are dropped in order: values before the context, the context before its runtime.
pub(crate) struct Ready {
    /// What `bootstrap.js` gave.
    pub(crate) entries: Persistent<Object<'static>>,
    /// The factory's result, once it ran; kept for the next call where contexts outlive calls.
    pub(crate) handlers: Option<Persistent<Value<'static>>>,
    pub(crate) shared: Rc<Shared>,
    pub(crate) context: Context,
    pub(crate) budget: Rc<Budget>,
    #[expect(dead_code, reason = "kept alive for the context")]
    runtime: Runtime,
    /// The heap as it was built, where each call gets a fresh context: heaps are then shared, one context at a time.
    image: Option<(Image, usize)>,
    heap: Rc<Heap>,
}

impl Ready {
    /// Makes the context what it was when it was built. No value of a call may live on.
    pub(crate) fn restore(&self) {
        if let Some((image, used)) = &self.image {
            self.heap.put(image);
            self.budget.set_used(*used);
        }
    }

    /// Says that a call is about to use the context.
    pub(crate) fn begin(&self) {
        self.restore();
        self.heap.touch();
    }

    /// Ends what a call left in hands of Rust's.
    pub(crate) fn end(&self) {
        self.shared.network.take();
        self.budget.end();
    }

    /// True where the next call begins with the context as it was built.
    pub(crate) fn is_fresh_each_time(&self) -> bool {
        self.image.is_some()
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        // These are values of the engine inside a value of the engine: a cycle that it cannot see.
        self.end();
        self.begin();
        self.shared.natives.take();
    }
}

/// Builds a context. Its memory limit is set by the call: the engine aborts when it runs out while building.
///
/// `heap` holds nothing that is in use, or what is there has an image.
pub(crate) fn build(blueprint: &Rc<Blueprint>, heap: &Rc<Heap>) -> Result<Ready> {
    heap.clear();
    let budget = Rc::new(Budget::unlimited());
    let runtime = engine::runtime(heap, &budget, blueprint.settings.limits.stack_bytes)?;
    let context = engine::handler_context(&runtime)?;
    let shared = Rc::new(Shared {
        host: Rc::clone(&blueprint.host),
        tokens: RefCell::default(),
        derived: RefCell::default(),
        input: RefCell::default(),
        network: RefCell::default(),
        natives: RefCell::default(),
    });
    let entries = context.with(|ctx| {
        let entries = bootstrap(&ctx, blueprint, &shared)?;
        edge::load_module(&ctx, &blueprint.code)?;
        Ok::<_, rquickjs::Error>(Persistent::save(&ctx, entries))
    })?;
    let image = match blueprint.settings.context {
        ContextLife::Call => Some((heap.image(), budget.used())),
        ContextLife::Schema => None,
    };
    let heap = Rc::clone(heap);
    Ok(Ready { entries, handlers: None, shared, context, budget, runtime, image, heap })
}

fn bootstrap<'js>(ctx: &Ctx<'js>, blueprint: &Rc<Blueprint>, shared: &Rc<Shared>) -> Result<Object<'js>> {
    let host = Object::new(ctx.clone())?;
    shared.natives.replace(Some(Persistent::save(ctx, natives::object(ctx, shared)?)));
    host.set("random", Function::new(ctx.clone(), natives::random())?)?;
    let by = Rc::clone(shared);
    host.set(
        "text",
        Function::new(ctx.clone(), move |name: String| {
            let input = by.input.borrow();
            digits::members(&input).into_iter().find(|(key, _)| *key == name).map(|(_, text)| text.to_owned())
        })?,
    )?;
    let pieces: Vec<(&str, Vec<&str>)> = prelude::offered(blueprint.settings.network)
        .map(|(name, globals)| (name, globals.to_vec()))
        .collect();
    host.set("pieces", pieces.into_iter().map(|(name, globals)| Pair(name, globals)).collect::<Vec<_>>())?;
    host.set("listNames", blueprint.lists.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())?;
    host.set("libraryNames", blueprint.libraries.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>())?;
    let (of, by) = (Rc::clone(blueprint), Rc::clone(shared));
    host.set(
        "load",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, name: String| load_piece(&ctx, &of, &by, &name))?,
    )?;
    let of = Rc::clone(blueprint);
    host.set(
        "list",
        Function::new(ctx.clone(), move |name: String| {
            of.lists.iter().find(|(known, _)| *known == name).map(|(_, json)| json.clone())
        })?,
    )?;
    let of = Rc::clone(blueprint);
    host.set(
        "library",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, name: String| load_library(&ctx, &of, &name))?,
    )?;
    let code = blueprint.prelude.bootstrap()?;
    default_export(ctx, BOOTSTRAP, &code)?.call((host,))
}

/// An array of two.
struct Pair<'a>(&'a str, Vec<&'a str>);

impl<'js> rquickjs::IntoJs<'js> for Pair<'_> {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let pair = rquickjs::Array::new(ctx.clone())?;
        pair.set(0, self.0)?;
        pair.set(1, self.1)?;
        Ok(pair.into_value())
    }
}

/// Loads a piece of the prelude and gives what it exports.
pub(crate) fn load_piece<'js>(
    ctx: &Ctx<'js>,
    blueprint: &Blueprint,
    shared: &Rc<Shared>,
    name: &str,
) -> Result<Object<'js>> {
    let Some(code) = blueprint.prelude.piece(name) else {
        return Err(Exception::throw_reference(ctx, &format!("{name} is not defined")));
    };
    let natives = shared.natives.borrow().clone();
    let natives = natives.map(|natives| natives.restore(ctx)).transpose()?;
    default_export(ctx, name, &code?)?.call((natives,))
}

fn load_library<'js>(ctx: &Ctx<'js>, blueprint: &Blueprint, name: &str) -> Result<Value<'js>> {
    let Some((_, code)) = blueprint.libraries.iter().find(|(known, _)| known == name) else {
        return Err(Exception::throw_reference(ctx, &format!("library {name} is not provided")));
    };
    let (module, promise) = edge::load_module(ctx, code)?.eval()?;
    promise.finish::<()>()?;
    let namespace = module.namespace()?;
    let exported: Value<'js> = namespace.get("default")?;
    Ok(if exported.is_undefined() { namespace.into_value() } else { exported })
}

/// Runs a module and gives the function that it exports as default.
fn default_export<'js>(ctx: &Ctx<'js>, name: &str, code: &[u8]) -> Result<Function<'js>> {
    let (module, promise) = edge::load_module(ctx, code)?.eval()?;
    if promise.state() != rquickjs::promise::PromiseState::Resolved {
        return Err(Exception::throw_internal(ctx, &format!("{name} did not load")));
    }
    module.namespace()?.get("default")
}

/// Imports the schema's module: runs its top level and gives a promise of its namespace.
pub(crate) fn import<'js>(ctx: &Ctx<'js>, blueprint: &Blueprint) -> Result<rquickjs::Promise<'js>> {
    Module::import(ctx, blueprint.path.as_str())
}
