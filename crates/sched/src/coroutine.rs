//! Coroutines on pooled stacks, and the way back to the native thread's own stack.
//!
//! Invariants: while a coroutine is suspended, `saved_sp..top` covers every live word of its native stack, saved registers
//! included. Code under `on_native_stack` never suspends the coroutine that called it.
//! Rejected: dropping coroutines to recycle them (unwinding costs 3.3 us; finished or abandoned ones cost 12 ns); reading the
//! exact stack pointer out of corosensei (private; 1 KiB of slack costs a collector nothing).

use std::mem::ManuallyDrop;
use std::ptr;

use corosensei::{CoroutineResult, Yielder};

use crate::current;
use crate::stack::{Header, Stack};

/// How far below `approximate_stack_pointer` the switch may push registers and arguments.
const SLACK: usize = 1024;

/// What a resume came back with.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub enum Resumed<Out, Ret> {
    /// The coroutine suspended itself with this value.
    Yielded(Out),
    /// It ended.
    Returned(Ret),
}

/// A computation on a stack of its own.
///
/// Dropping a suspended coroutine unwinds its stack on the dropping thread (all destructors run; 3 us); see also
/// [`Coroutine::abandon`].
pub struct Coroutine<In, Out, Ret = ()> {
    inner: corosensei::Coroutine<In, Out, Ret, Stack>,
    header: *const Header,
}

// SAFETY: by the contract of `Coroutine::new`, everything on the coroutine's stack across a suspension may move to another
// native thread, and the stack itself is plain memory of the process.
unsafe impl<In: Send, Out: Send, Ret: Send> Send for Coroutine<In, Out, Ret> {}

impl<In: 'static, Out: 'static, Ret: 'static> Coroutine<In, Out, Ret> {
    /// Makes a coroutine that will run `f` on `stack` when first resumed.
    ///
    /// # Safety
    /// A coroutine may be resumed on another native thread than the one it was suspended on. So whatever lives on its stack
    /// across a suspension (`f`'s captures included) must be `Send`, or be reachable only from this coroutine and its VM, which
    /// move together; and no reference to a thread-local may be kept across a suspension.
    pub unsafe fn new<F>(stack: Stack, f: F) -> Self
    where
        F: FnOnce(&Suspender<In, Out>, In) -> Ret + 'static,
    {
        let header: *const Header = stack.header();
        // The closure itself is written to the stack now, before anything ran.
        stack.header().saved_sp.set(stack.top() as usize - size_of::<F>() - SLACK);
        let inner = corosensei::Coroutine::with_stack(stack, move |yielder: &Yielder<In, Out>, input| {
            // SAFETY: the header outlives the coroutine that runs on its stack.
            unsafe { &*header }.yielder.set(ptr::from_ref(yielder).cast());
            f(&Suspender { yielder, header }, input)
        });
        Coroutine { inner, header }
    }

    /// Runs the coroutine until it suspends or ends. A panic inside continues in the caller.
    ///
    /// # Panics
    /// If the coroutine is done.
    #[inline]
    pub fn resume(&mut self, input: In) -> Resumed<Out, Ret> {
        // The outermost coroutine remembers where the native stack was left; nested ones leave that alone. Only a resume from
        // the native stack sets the anchor, and such a resume comes back on the same native thread.
        let _outermost = current::anchor().is_null().then(|| AnchorGuard::set(self.header, ptr::null()));
        match self.inner.resume(input) {
            CoroutineResult::Yield(value) => Resumed::Yielded(value),
            CoroutineResult::Return(value) => {
                self.header().saved_sp.set(ptr::from_ref(self.header()) as usize);
                Resumed::Returned(value)
            }
        }
    }

    pub fn started(&self) -> bool {
        self.inner.started()
    }

    /// Whether the coroutine has ended (by returning, or by a panic).
    pub fn done(&self) -> bool {
        self.inner.done()
    }

    /// Takes the stack of a coroutine that is done, for the next one.
    ///
    /// # Panics
    /// If the coroutine is not done.
    pub fn into_stack(self) -> Stack {
        self.inner.into_stack()
    }

    /// Ends the coroutine, which unwinds its stack if it is suspended (all destructors run; 3 us), and recovers the stack. A panic of a destructor loses that.
    pub fn end(self) -> Stack {
        let mut inner = ManuallyDrop::new(self.inner);
        inner.force_unwind();
        ManuallyDrop::into_inner(inner).into_stack()
    }

    /// Ends a suspended coroutine without unwinding and recovers its stack (12 ns).
    ///
    /// # Safety
    /// Nothing on the coroutine's stack may need its destructor: memory that only the stack owns leaks, a lock guard stays
    /// locked. Nobody may hold a reference into the stack.
    pub unsafe fn abandon(mut self) -> Stack {
        // SAFETY: passed on to the caller.
        unsafe { self.inner.force_reset() };
        self.inner.into_stack()
    }

    /// Where a collector begins to scan a suspended (or not yet started) coroutine: `saved_sp()..top()` holds every word that
    /// may be live. Meaningless while the coroutine runs or has resumed another one; use [`approximate_stack_pointer`] there.
    pub fn saved_sp(&self) -> *const u8 {
        self.header().saved_sp.get() as *const u8
    }

    /// Bytes of the native stack that were in use at the deepest suspension since the stack was handed out.
    pub fn deepest(&self) -> usize {
        (self.header as usize).saturating_sub(self.header().deepest.get())
    }

    /// End (exclusive) of the native stack.
    pub fn top(&self) -> *const u8 {
        self.header.cast()
    }

    fn header(&self) -> &Header {
        // SAFETY: the stack that holds the header is part of `inner`.
        unsafe { &*self.header }
    }
}

/// Passed to a coroutine's function: how it suspends itself.
pub struct Suspender<In, Out> {
    yielder: *const Yielder<In, Out>,
    header: *const Header,
}

impl<In, Out> Suspender<In, Out> {
    /// Hands `value` to the resumer and waits for the next resume. The native thread may be another one afterwards.
    ///
    /// # Panics
    /// Under [`on_native_stack`]: that stack stays with its thread.
    #[inline]
    pub fn suspend(&self, value: Out) -> In {
        assert!(!current::anchor().is_null(), "suspend on a native thread's own stack");
        // SAFETY: header and yielder live on the stack that this coroutine runs on.
        let (header, yielder) = unsafe { (&*self.header, &*self.yielder) };
        let sp = (approximate_stack_pointer() as usize).saturating_sub(SLACK + size_of::<Out>());
        header.saved_sp.set(sp);
        if sp < header.deepest.get() {
            header.deepest.set(sp);
        }
        yielder.suspend(value)
    }
}

/// An address just below the caller's frame. A scan that starts `1 KiB` lower covers registers saved since.
#[inline(never)]
pub fn approximate_stack_pointer() -> *const u8 {
    let here = 0u8;
    std::hint::black_box(ptr::from_ref(&here))
}

/// Restores the thread's anchor, also when a panic passes through.
struct AnchorGuard {
    before: *const Header,
}

impl AnchorGuard {
    fn set(now: *const Header, before: *const Header) -> AnchorGuard {
        current::set_anchor(now);
        AnchorGuard { before }
    }
}

impl Drop for AnchorGuard {
    fn drop(&mut self) {
        current::set_anchor(self.before);
    }
}

/// As [`AnchorGuard`], for the coroutine that waits for what runs on the thread's own stack.
struct BelowGuard;

impl BelowGuard {
    fn set(now: *const Header) -> BelowGuard {
        current::set_below(now);
        BelowGuard
    }
}

impl Drop for BelowGuard {
    fn drop(&mut self) {
        current::set_below(ptr::null());
    }
}

/// Whether [`leave_native_stack`] would leave.
pub fn on_native_stack_for_another() -> bool {
    current::anchor().is_null() && !current::below().is_null()
}

/// Suspends the outermost coroutine from under [`on_native_stack`], for ever: its resumer gets `value`. Comes back when no coroutine waits
/// for what runs here.
///
/// # Safety
/// The outermost coroutine is a `Coroutine<(), Out, _>`, and is abandoned, never resumed or dropped otherwise. What the frames of `on_native_stack`'s closure own
/// is lost; nobody may refer to it.
pub unsafe fn leave_native_stack<Out>(value: Out) {
    if !on_native_stack_for_another() {
        return;
    }
    let anchor = current::below();
    current::set_below(ptr::null());
    // `resume`, which is next, finds things as after any suspension.
    current::set_anchor(anchor);
    // SAFETY: as in `on_native_stack`, with the types of the caller's contract. The switch saves registers here, where nobody will look for them, and goes
    // on where the resumer's frame is, higher up on this very stack.
    unsafe { (*(*anchor).yielder.get().cast::<Yielder<(), Out>>()).suspend(value) };
    unreachable!("a coroutine that was left for ever has been resumed");
}

/// Runs `f` on the native thread's own stack (8 MiB on workers), below everything that is there; at once when the caller runs
/// there already. For parsers, backtracking matchers and foreign code that may recurse deeply.
///
/// `f` may start and finish coroutines of its own, but not suspend the calling one. A collector does not see the values that
/// only `f`'s frames hold.
pub fn on_native_stack<R>(f: impl FnOnce() -> R) -> R {
    struct Carried<T>(T);
    // SAFETY: the closure and its result stay on this native thread: corosensei asks for Send only to keep yielders out, and
    // `suspend` refuses to run there.
    unsafe impl<T> Send for Carried<T> {}

    let anchor = current::anchor();
    if anchor.is_null() {
        return f();
    }
    // SAFETY: the anchor is the header of the outermost coroutine, which is running below us, so its yielder is set and alive.
    // A Yielder is a transparent wrapper of one word whatever its parameters are, and on_parent_stack uses nothing else.
    let yielder = unsafe { &*(*anchor).yielder.get().cast::<Yielder<(), ()>>() };
    let _restore = AnchorGuard::set(ptr::null(), anchor);
    let _above = BelowGuard::set(anchor);
    let carried = Carried(f);
    yielder.on_parent_stack(move || {
        let carried = carried;
        (carried.0)()
    })
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "coroutine_tests.rs"]
mod tests;
