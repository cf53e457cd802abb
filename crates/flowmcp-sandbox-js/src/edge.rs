//! The edge to the C engine: the only unsafe code of this crate, one obligation per note.

mod heap;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::{ptr, rc::Rc};

use rquickjs::{Ctx, Module, TypedArray, allocator::Allocator, module::Declared};

use crate::budget::Budget;

pub(crate) use heap::{Heap, Image};
pub(crate) use read::read;
pub(crate) use write::{Written, write};

/// Takes memory from a [`Heap`] and counts it against a [`Budget`].
pub(crate) struct CountingAllocator {
    pub(crate) heap: Rc<Heap>,
    pub(crate) budget: Rc<Budget>,
}

#[expect(unsafe_code, reason = "the trait is unsafe to implement")]
// SAFETY: every pointer comes from `Heap::take`, whose blocks are as long as asked for; null is allowed as a refusal.
unsafe impl Allocator for CountingAllocator {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if !self.budget.allows(size) {
            return ptr::null_mut();
        }
        let block = self.heap.take(size);
        if block.is_null() {
            self.budget.refuse();
        } else {
            // SAFETY: the block was just taken.
            self.budget.took(unsafe { heap::capacity(block) });
        }
        block
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(total) = count.checked_mul(size) else { return ptr::null_mut() };
        let block = self.alloc(total);
        if !block.is_null() {
            // SAFETY: the block has at least so many bytes.
            unsafe { block.write_bytes(0, total) };
        }
        block
    }

    unsafe fn dealloc(&mut self, ptr: *mut u8) {
        if ptr.is_null() {
            return;
        }
        // SAFETY: the caller says that `ptr` came from this allocator, and so from its heap.
        unsafe {
            self.budget.gave(heap::capacity(ptr));
            self.heap.give(ptr);
        }
    }

    unsafe fn realloc(&mut self, ptr: *mut u8, new_size: usize) -> *mut u8 {
        if ptr.is_null() {
            return self.alloc(new_size);
        }
        // SAFETY: as for `dealloc`; the old block stays valid when null is returned.
        unsafe {
            let old_size = heap::capacity(ptr);
            if new_size == 0 {
                self.dealloc(ptr);
                return ptr::null_mut();
            }
            // Shrinking is always allowed: the engine relies on it while it cleans up.
            if new_size <= old_size {
                return ptr;
            }
            if !self.budget.allows(new_size - old_size) {
                return ptr::null_mut();
            }
            if self.heap.extend(ptr, new_size) {
                self.budget.took(heap::capacity(ptr) - old_size);
                return ptr;
            }
            let moved = self.heap.take(new_size);
            if moved.is_null() {
                self.budget.refuse();
                return moved;
            }
            self.budget.took(heap::capacity(moved));
            moved.copy_from_nonoverlapping(ptr, old_size);
            self.dealloc(ptr);
            moved
        }
    }

    unsafe fn usable_size(ptr: *mut u8) -> usize {
        // SAFETY: the caller says that `ptr` came from this allocator.
        unsafe { heap::capacity(ptr) }
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
