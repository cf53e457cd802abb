//! The memory of an engine: one piece of address space whose whole state can be kept and put back.
//!
//! A fresh context for each call is what keeps calls apart, and building one costs more than most handlers. So a context
//! is built once, the memory that it lies in is copied, and after a call the copy is put back: byte for byte the context
//! that was built, at the same address. That is sound because all the engine has is in this memory. What its values hold
//! of Rust's (native functions) is made before the copy, and values of Rust's that refer to it end before it is put back.

use std::{
    cell::{Cell, RefCell},
    ptr,
};

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags};

/// In front of each block, so that blocks are as aligned as the engine could want.
const HEADER: usize = 16;
/// The smallest block.
const LEAST_BITS: u32 = 6;
/// Four sizes of blocks to each power of two, up to 2^40 bytes.
const CLASSES: usize = 4 * 35;
/// The address space becomes memory in pieces of this size.
const STEP: usize = 256 << 10;
/// What stays memory behind a context, for the next call, in bytes.
const KEPT: usize = 2 << 20;

/// Memory for one engine at a time.
pub(crate) struct Heap {
    base: *mut u8,
    reserved: usize,
    /// Bytes from `base` that are memory.
    committed: Cell<usize>,
    state: RefCell<State>,
    /// The image that the memory equals now; 0 for none.
    clean: Cell<u64>,
    images: Cell<u64>,
    /// Length of the longest image; so much stays memory.
    longest: Cell<usize>,
}

/// Which blocks are taken.
#[derive(Clone)]
struct State {
    /// No block was ever taken behind this offset.
    top: usize,
    /// Offset of the first free block of each class; 0 for none.
    free: [usize; CLASSES],
}

/// A copy of a heap.
pub(crate) struct Image {
    number: u64,
    bytes: Box<[u8]>,
    state: State,
}

impl Heap {
    /// A heap for scripts that may use so much memory; none when there is no address space left.
    #[expect(unsafe_code, reason = "reserves address space")]
    pub(crate) fn new(memory_bytes: usize) -> rquickjs::Result<Heap> {
        let reserved = memory_bytes
            .checked_add(memory_bytes / 4)
            .and_then(|size| size.checked_add(32 << 20))
            .map(|size| size.next_multiple_of(STEP))
            .ok_or(rquickjs::Error::Allocation)?;
        // SAFETY: a new mapping where the system likes it; it is nobody else's.
        let base = unsafe {
            rustix::mm::mmap_anonymous(ptr::null_mut(), reserved, ProtFlags::empty(), MapFlags::PRIVATE)
        };
        Ok(Heap {
            base: base.map_err(|_| rquickjs::Error::Allocation)?.cast(),
            reserved,
            committed: Cell::new(0),
            state: RefCell::new(State::EMPTY),
            clean: Cell::new(0),
            images: Cell::new(0),
            longest: Cell::new(0),
        })
    }

    /// Whether scripts that may use so much memory have room.
    pub(crate) fn has_room_for(&self, memory_bytes: usize) -> bool {
        self.reserved.saturating_sub(memory_bytes) >= memory_bytes / 4
    }

    /// Forgets all blocks. What lived in them must not be used any more before an image is put back.
    pub(crate) fn clear(&self) {
        self.clean.set(0);
        self.state.replace(State::EMPTY);
    }

    /// Says that the memory is about to change.
    pub(crate) fn touch(&self) {
        self.clean.set(0);
    }

    /// A copy of all that is in the heap.
    #[expect(unsafe_code, reason = "reads the heap as bytes")]
    pub(crate) fn image(&self) -> Image {
        let state = self.state.borrow().clone();
        // SAFETY: everything below `top` is memory, `top` being at most `committed`; nobody writes meanwhile.
        let bytes = unsafe { std::slice::from_raw_parts(self.base, state.top) }.into();
        self.longest.set(self.longest.get().max(state.top));
        let number = self.images.get() + 1;
        self.images.set(number);
        self.clean.set(number);
        Image { number, bytes, state }
    }

    /// Puts an image of this very heap back, and returns memory that a call took beyond it.
    #[expect(unsafe_code, reason = "writes the heap as bytes")]
    pub(crate) fn put(&self, image: &Image) {
        if self.clean.get() == image.number {
            return;
        }
        // SAFETY: the image was made of this heap, so its bytes fit below `committed`, which never shrinks below any
        // image; the source is not part of the heap.
        unsafe { ptr::copy_nonoverlapping(image.bytes.as_ptr(), self.base, image.bytes.len()) };
        self.state.borrow_mut().clone_from(&image.state);
        self.clean.set(image.number);
        self.shrink();
    }

    /// Gives memory back that lies far behind the images.
    #[expect(unsafe_code, reason = "replaces memory by address space")]
    fn shrink(&self) {
        let kept = (self.longest.get() + KEPT).next_multiple_of(STEP);
        let Some(surplus) = self.committed.get().checked_sub(kept).filter(|surplus| *surplus > 0) else {
            return;
        };
        let flags = MapFlags::PRIVATE | MapFlags::FIXED;
        // SAFETY: the range is part of our own mapping, and no block of the image that was just put back is in it.
        let mapped = unsafe {
            rustix::mm::mmap_anonymous(self.base.add(kept).cast(), surplus, ProtFlags::empty(), flags)
        };
        if mapped.is_ok() {
            self.committed.set(kept);
        }
    }

    /// A block of at least `size` bytes; null when there is no room.
    #[expect(unsafe_code, reason = "hands out memory")]
    pub(super) fn take(&self, size: usize) -> *mut u8 {
        let Some((class, capacity)) = class_of(size) else { return ptr::null_mut() };
        let mut state = self.state.borrow_mut();
        let Some(first) = state.free.get_mut(class) else { return ptr::null_mut() };
        if *first != 0 {
            // SAFETY: a free block lies inside the memory, and its first bytes hold the offset of the next one.
            unsafe {
                let block = self.base.add(*first);
                *first = block.cast::<usize>().read();
                return block;
            }
        }
        let block = state.top + HEADER;
        let Some(top) = block.checked_add(capacity).filter(|top| self.commit(*top)) else {
            return ptr::null_mut();
        };
        state.top = top;
        // SAFETY: `commit` made everything below `top` memory, and no other block reaches behind the old top.
        unsafe {
            let block = self.base.add(block);
            block.sub(HEADER).cast::<usize>().write(capacity);
            block
        }
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// `block` came from [`Heap::take`] or [`Heap::resize`] of this heap and is not used any more.
    #[expect(unsafe_code, reason = "trusts its caller")]
    pub(super) unsafe fn give(&self, block: *mut u8) {
        // SAFETY: the caller says that it is a block of this heap, so its header and its first bytes are ours.
        unsafe {
            if let Some((class, _)) = class_of(capacity(block))
                && let Some(first) = self.state.borrow_mut().free.get_mut(class)
            {
                block.cast::<usize>().write(*first);
                *first = block.offset_from_unsigned(self.base);
            }
        }
    }

    /// Makes the last block longer in its place, if there is room; false if it is not the last.
    ///
    /// # Safety
    /// As for [`Heap::give`], but for the use.
    #[expect(unsafe_code, reason = "trusts its caller")]
    pub(super) unsafe fn extend(&self, block: *mut u8, size: usize) -> bool {
        // SAFETY: the caller says that it is a block of this heap.
        unsafe {
            let offset = block.offset_from_unsigned(self.base);
            let mut state = self.state.borrow_mut();
            let Some((_, longer)) = class_of(size) else { return false };
            if offset + capacity(block) != state.top || !self.commit(offset.saturating_add(longer)) {
                return false;
            }
            state.top = offset + longer;
            block.sub(HEADER).cast::<usize>().write(longer);
            true
        }
    }

    /// Makes everything below an offset memory; false when there is no room.
    #[expect(unsafe_code, reason = "makes address space memory")]
    fn commit(&self, end: usize) -> bool {
        let committed = self.committed.get();
        if end <= committed {
            return true;
        }
        let wanted = end.checked_next_multiple_of(STEP).filter(|wanted| *wanted <= self.reserved);
        let Some(wanted) = wanted else { return false };
        // SAFETY: the range is part of our own mapping, and not in use yet.
        let made = unsafe {
            let from = self.base.add(committed).cast();
            rustix::mm::mprotect(from, wanted - committed, MprotectFlags::READ | MprotectFlags::WRITE)
        };
        if made.is_ok() {
            self.committed.set(wanted);
        }
        made.is_ok()
    }
}

impl Drop for Heap {
    #[expect(unsafe_code, reason = "ends the mapping")]
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and every engine in it holds the heap, so none is left.
        let ended = unsafe { rustix::mm::munmap(self.base.cast(), self.reserved) };
        // Fails for wrong arguments only.
        debug_assert!(ended.is_ok());
    }
}

impl State {
    const EMPTY: State = State { top: 0, free: [0; CLASSES] };
}

/// The bytes that a block holds.
///
/// # Safety
/// `block` is one of a heap.
#[expect(unsafe_code, reason = "trusts its caller")]
pub(super) unsafe fn capacity(block: *mut u8) -> usize {
    // SAFETY: the header is in front of every block.
    unsafe { block.sub(HEADER).cast::<usize>().read() }
}

/// Class and capacity of the smallest block that holds so many bytes.
fn class_of(size: usize) -> Option<(usize, usize)> {
    let last = size.saturating_sub(1).max((1 << LEAST_BITS) - 1);
    let bits = last.ilog2();
    let quarter = (last >> (bits - 2)) & 3;
    let class = (bits.saturating_sub(LEAST_BITS - 1) as usize * 4 + quarter).checked_sub(3)?;
    (class < CLASSES).then_some((class, (quarter + 5) << (bits - 2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_holds_what_was_asked_for_and_little_more() {
        let mut before = (0, 0);
        for size in 0..100_000_usize {
            let (class, capacity) = class_of(size).unwrap();
            assert!(capacity >= size && capacity.is_multiple_of(16), "{size}: {capacity}");
            assert!(capacity <= (size + size / 4).max(64), "{size}: {capacity}");
            assert_eq!(class_of(capacity), Some((class, capacity)));
            let next =
                before == (class, capacity) || (class == before.0 + 1 && capacity > before.1) || size == 0;
            assert!(next, "{size}: {class} {capacity} after {before:?}");
            before = (class, capacity);
        }
        assert_eq!(class_of(usize::MAX), None);
    }

    #[test]
    #[expect(unsafe_code, reason = "uses blocks")]
    fn an_image_brings_everything_back() {
        let heap = Heap::new(1 << 20).unwrap();
        let (one, two) = (heap.take(100), heap.take(3000));
        // SAFETY: the blocks are as long as was asked for.
        unsafe {
            one.write_bytes(1, 100);
            two.write_bytes(2, 3000);
            heap.give(two);
        }
        let image = heap.image();
        heap.touch();
        // SAFETY: as above; `two` is free again, so taking a block of its class gives it.
        unsafe {
            assert_eq!(heap.take(3000), two);
            two.write_bytes(9, 3000);
            one.write_bytes(9, 100);
            heap.give(one);
            assert!(!heap.take(8 << 20).is_null());
        }
        heap.put(&image);
        // SAFETY: the image has `one`, and room for a block where `two` was.
        unsafe {
            assert_eq!(std::slice::from_raw_parts(one, 100), [1; 100]);
            assert_eq!(heap.take(3000), two);
        }
        assert!(heap.committed.get() <= image.bytes.len() + KEPT + STEP);
    }

    #[test]
    fn there_is_an_end() {
        let heap = Heap::new(0).unwrap();
        let mut taken = 0;
        while !heap.take(1 << 20).is_null() {
            taken += 1;
        }
        assert_eq!(taken, 31);
        assert!(heap.take(usize::MAX).is_null());
    }
}
