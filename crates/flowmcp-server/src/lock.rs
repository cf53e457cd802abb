//! `flowmcp.lock`: the hashes of everything that a pack serves, so that a later change is noticed before it runs.

mod compare;
mod file;
mod fingerprint;
mod guard;

pub use compare::{Change, changes};
pub use file::{Lock, LockError, LockedFile, LockedList, path};
pub use fingerprint::of_pack;
pub use guard::Guard;
