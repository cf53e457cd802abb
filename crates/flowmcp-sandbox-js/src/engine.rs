//! Runtimes, contexts and compilation.

use std::rc::Rc;

use bytes::Bytes;
use rquickjs::{
    Context, Ctx, Module, Runtime,
    context::intrinsic,
    module::{WriteOptions, WriteOptionsEndianness},
};

use crate::{
    budget::Budget,
    edge::{CountingAllocator, Heap},
};

/// Everything a handler gets from the engine. `Eval` is missing: without it there is no parser to reach, so `eval`,
/// `Function` and their relatives fail natively.
type ForHandlers = (
    intrinsic::Date,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
    intrinsic::WeakRef,
);

/// What compiling needs.
type ForCompiling = (intrinsic::Eval, intrinsic::RegExpCompiler, intrinsic::RegExp);

/// Heap size at which cycles are searched for the first time. Most calls end before, and a search is not free.
const FIRST_COLLECTION: usize = 16 << 20;

/// Memory for compiling a piece of the prelude, in bytes.
const OWN_MEMORY: usize = 32 << 20;

/// A runtime in a heap of its own whose memory and time count against `budget`.
pub(crate) fn runtime(heap: &Rc<Heap>, budget: &Rc<Budget>, stack_bytes: usize) -> rquickjs::Result<Runtime> {
    let allocator = CountingAllocator { heap: Rc::clone(heap), budget: Rc::clone(budget) };
    let runtime = Runtime::new_with_alloc(allocator)?;
    runtime.set_max_stack_size(stack_bytes);
    runtime.set_gc_threshold(FIRST_COLLECTION);
    let interrupting = Rc::clone(budget);
    runtime.set_interrupt_handler(Some(Box::new(move || interrupting.interrupt())));
    Ok(runtime)
}

/// A context in which handlers run.
pub(crate) fn handler_context(runtime: &Runtime) -> rquickjs::Result<Context> {
    Context::custom::<ForHandlers>(runtime)
}

/// A context that can only compile.
pub(crate) fn compiling_context(runtime: &Runtime) -> rquickjs::Result<Context> {
    Context::custom::<ForCompiling>(runtime)
}

/// Compiles a module without running it.
pub(crate) fn compile(ctx: &Ctx<'_>, name: &str, text: &str) -> rquickjs::Result<Bytes> {
    let module = Module::declare(ctx.clone(), name, text)?;
    let options = WriteOptions {
        endianness: WriteOptionsEndianness::Native,
        strip_source: true,
        // Lines and columns of errors come from the debug part.
        strip_debug: false,
        ..WriteOptions::default()
    };
    module.write(options).map(Bytes::from)
}

/// Compiles a piece of the prelude.
pub(crate) fn compile_own(name: &str, text: &str) -> rquickjs::Result<Bytes> {
    let budget = Rc::new(Budget::unlimited());
    let heap = Rc::new(Heap::new(OWN_MEMORY)?);
    let runtime = runtime(&heap, &budget, 256 << 10)?;
    compiling_context(&runtime)?.with(|ctx| compile(&ctx, name, text))
}
