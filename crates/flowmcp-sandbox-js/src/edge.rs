//! The edge to the C engine: the only unsafe code of this crate, one obligation per note.

use std::{ptr, rc::Rc};

use rquickjs::{
    Ctx, Module, TypedArray,
    allocator::{Allocator, RustAllocator},
    module::Declared,
};

use crate::budget::Budget;

/// Takes memory from Rust's global allocator and counts it against a [`Budget`].
pub(crate) struct CountingAllocator {
    pub(crate) budget: Rc<Budget>,
}

/// No single allocation is larger, so that adding a header to it cannot overflow.
const LARGEST: usize = isize::MAX as usize / 2;

#[expect(unsafe_code, reason = "the trait is unsafe to implement")]
// SAFETY: every pointer comes from `RustAllocator`, whose contract holds for it; null is allowed as a refusal.
unsafe impl Allocator for CountingAllocator {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if size > LARGEST || !self.budget.allows(size) {
            return ptr::null_mut();
        }
        self.count(RustAllocator.alloc(size))
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        match count.checked_mul(size) {
            Some(total) if total <= LARGEST && self.budget.allows(total) => {
                self.count(RustAllocator.calloc(count, size))
            }
            _ => ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&mut self, ptr: *mut u8) {
        if ptr.is_null() {
            return;
        }
        // SAFETY: the caller says that `ptr` came from this allocator, and so from `RustAllocator`.
        unsafe {
            self.budget.gave(RustAllocator::usable_size(ptr));
            RustAllocator.dealloc(ptr);
        }
    }

    unsafe fn realloc(&mut self, ptr: *mut u8, new_size: usize) -> *mut u8 {
        if ptr.is_null() {
            return self.alloc(new_size);
        }
        // SAFETY: as for `dealloc`; the old block stays valid when null is returned.
        unsafe {
            let old_size = RustAllocator::usable_size(ptr);
            // Shrinking is always allowed: the engine relies on it while it cleans up.
            if new_size > old_size && (new_size > LARGEST || !self.budget.allows(new_size - old_size)) {
                return ptr::null_mut();
            }
            if new_size == 0 {
                self.dealloc(ptr);
                return ptr::null_mut();
            }
            let moved = RustAllocator.realloc(ptr, new_size);
            if !moved.is_null() {
                self.budget.gave(old_size);
                self.budget.took(RustAllocator::usable_size(moved));
            }
            moved
        }
    }

    unsafe fn usable_size(ptr: *mut u8) -> usize {
        // SAFETY: the caller says that `ptr` came from this allocator.
        unsafe { RustAllocator::usable_size(ptr) }
    }
}

impl CountingAllocator {
    #[expect(unsafe_code, reason = "asks the allocator for the size of its block")]
    fn count(&self, ptr: *mut u8) -> *mut u8 {
        if !ptr.is_null() {
            // SAFETY: `ptr` was just returned by `RustAllocator`.
            self.budget.took(unsafe { RustAllocator::usable_size(ptr) });
        }
        ptr
    }
}

/// Loads a module from bytecode.
#[expect(unsafe_code, reason = "the engine does not verify bytecode")]
pub(crate) fn load_module<'js>(ctx: &Ctx<'js>, bytecode: &[u8]) -> rquickjs::Result<Module<'js, Declared>> {
    // SAFETY: the bytes were written by `Module::write` of the same build: `Program::decode` checks the version in front
    // of them, and the host keeps compiled programs in its own memory only.
    unsafe { Module::load(ctx.clone(), bytecode) }
}

/// Copies the bytes of a typed array; none when its buffer is detached.
#[expect(unsafe_code, reason = "a script could detach the buffer while a reference lives")]
pub(crate) fn copy_bytes(array: &TypedArray<'_, u8>) -> Vec<u8> {
    // SAFETY: no script runs between taking the slice and copying it.
    unsafe { array.as_bytes() }.map(<[u8]>::to_vec).unwrap_or_default()
}
