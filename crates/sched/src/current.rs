//! What the running native thread is: the only `thread_local!` of the crate.
//!
//! Invariants: every access is a never-inlined function that does not suspend. Coroutines migrate between native threads, and
//! an optimised build keeps a thread-local's address in a register across a suspend, where it belongs to another thread
//! (1,000 stale reads in 1,000 migrations when measured).
//! Rejected: passing the worker through every call (a `wake` comes from anywhere).

use std::cell::Cell;
use std::ptr;

use zakuro_base::sync::wide::thread_local;

use crate::native::Native;
use crate::stack::Header;

struct Current {
    /// The native thread's record, null on threads that the scheduler did not start. Written once by the thread itself.
    native: Cell<*const Native>,
    /// Header of the outermost coroutine on this thread; null while code runs on the thread's own stack.
    anchor: Cell<*const Header>,
    /// While code runs on the thread's own stack for a coroutine (`on_native_stack`): the outermost one, which waits for it. Else null.
    below: Cell<*const Header>,
}

thread_local! {
    static CURRENT: Current = const { Current { native: Cell::new(ptr::null()), anchor: Cell::new(ptr::null()), below: Cell::new(ptr::null()) } };
}

#[inline(never)]
pub(crate) fn native() -> *const Native {
    CURRENT.with(|c| c.native.get())
}

#[inline(never)]
pub(crate) fn set_native(native: *const Native) {
    CURRENT.with(|c| c.native.set(native));
}

#[inline(never)]
pub(crate) fn anchor() -> *const Header {
    CURRENT.with(|c| c.anchor.get())
}

#[inline(never)]
pub(crate) fn set_anchor(header: *const Header) {
    CURRENT.with(|c| c.anchor.set(header));
}

#[inline(never)]
pub(crate) fn below() -> *const Header {
    CURRENT.with(|c| c.below.get())
}

#[inline(never)]
pub(crate) fn set_below(header: *const Header) {
    CURRENT.with(|c| c.below.set(header));
}
