//! What lock-free and locking code is written with: the real thing, or a model of it: loom's with the feature `loom` (every interleaving and reordering of
//! small pieces), shuttle's with the feature `shuttle` (random interleavings of whole schedulers; its atomics are sequentially consistent). What only shuttle
//! can model, because it is too large for loom, takes the module `wide`. See docs/testing-models.md.
//!
//! Invariants: both sides have the same interface, so that what the models explore is the code that runs. `Mutex::lock` gives the
//! guard itself: a thread that panics while it holds a lock leaves it usable.
//! Rejected: `--cfg loom` for the whole build (all crates of others were compiled once more); features that an ordinary build turns on (`./test` asks for them by crate, in builds of their own).

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub use held::{Mutex, MutexGuard};
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub use std::sync::{Arc, atomic};
#[cfg(feature = "shuttle")]
pub use wide::{Arc, Mutex, MutexGuard, atomic};

#[cfg(feature = "loom")]
pub use loom::sync::{Arc, MutexGuard, atomic};
#[cfg(feature = "loom")]
pub use model::Mutex;

/// The standard library's mutex, of which the native thread knows that it holds one: who holds a lock can't be ended for want of memory
/// ([`crate::memory::holds_locks`]). For every lock of the process under which something is allocated; no part of models by itself.
///
/// Its state is a word, which waiting threads hand to the system: the child of a fork(2) finds it as it was.
/// Rejected: parking_lot's, whose waiters stand in queues of the process. In the child they are those of threads that are not there: a lock is handed to one of them, or a queue's own lock,
/// held by one of them, is never given back.
pub mod held {
    use std::ops::{Deref, DerefMut};
    use std::sync::PoisonError;
    use std::time::Duration;

    #[derive(Default, Debug)]
    pub struct Mutex<T>(std::sync::Mutex<T>);

    /// The right to use what a [`Mutex`] protects.
    pub struct MutexGuard<'a, T>(Option<std::sync::MutexGuard<'a, T>>);

    impl<T> Mutex<T> {
        pub const fn new(value: T) -> Mutex<T> {
            Mutex(std::sync::Mutex::new(value))
        }
        #[inline]
        pub fn lock(&self) -> MutexGuard<'_, T> {
            let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            crate::memory::lock_taken();
            MutexGuard(Some(guard))
        }
        pub fn get_mut(&mut self) -> &mut T {
            self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
        }
        pub fn into_inner(self) -> T {
            self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl<T> Drop for MutexGuard<'_, T> {
        #[inline]
        fn drop(&mut self) {
            crate::memory::lock_given();
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;
        #[inline]
        fn deref(&self) -> &T {
            match &self.0 {
                Some(guard) => guard,
                None => unreachable!("the guard is away in a wait alone"),
            }
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        #[inline]
        fn deref_mut(&mut self) -> &mut T {
            match &mut self.0 {
                Some(guard) => guard,
                None => unreachable!("the guard is away in a wait alone"),
            }
        }
    }

    /// The standard library's, with that guard.
    #[derive(Default)]
    pub struct Condvar(std::sync::Condvar);

    impl Condvar {
        pub const fn new() -> Condvar {
            Condvar(std::sync::Condvar::new())
        }
        pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
            if let Some(held) = guard.0.take() {
                guard.0 = Some(self.0.wait(held).unwrap_or_else(PoisonError::into_inner));
            }
        }
        /// True: the time is over.
        pub fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, longest: Duration) -> bool {
            let Some(held) = guard.0.take() else { return true };
            let (held, result) = self.0.wait_timeout(held, longest).unwrap_or_else(PoisonError::into_inner);
            guard.0 = Some(held);
            result.timed_out()
        }
        pub fn notify_one(&self) {
            self.0.notify_one();
        }
        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}

/// A lock for a few instructions: one read-modify-write instead of a mutex's two, which is most of what a message costs.
///
/// Whoever finds it held spins, then yields its native thread to the holder. Hold it for no call that may block.
/// `held` is set by the compare-exchange of a locker (acquire) and cleared by the holder alone (release).
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub struct Short<T> {
    held: atomic::AtomicBool,
    value: std::cell::UnsafeCell<T>,
}

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
// SAFETY: `held` lets one thread at a time at the value.
unsafe impl<T: Send> Sync for Short<T> {}

/// The right to use what a [`Short`] lock protects, until it is dropped.
#[cfg(not(any(feature = "loom", feature = "shuttle")))]
pub struct ShortGuard<'a, T>(&'a Short<T>);

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
impl<T> Short<T> {
    pub const fn new(value: T) -> Short<T> {
        Short { held: atomic::AtomicBool::new(false), value: std::cell::UnsafeCell::new(value) }
    }

    #[inline]
    pub fn lock(&self) -> ShortGuard<'_, T> {
        use atomic::Ordering::{Acquire, Relaxed};
        if self.held.compare_exchange(false, true, Acquire, Relaxed).is_err() {
            self.wait();
        }
        ShortGuard(self)
    }

    #[cold]
    fn wait(&self) {
        use atomic::Ordering::{Acquire, Relaxed};
        let mut tries = 0;
        loop {
            while self.held.load(Relaxed) {
                tries += 1;
                // The holder may have lost its CPU.
                if tries % 64 == 0 { std::thread::yield_now() } else { std::hint::spin_loop() }
            }
            if self.held.compare_exchange_weak(false, true, Acquire, Relaxed).is_ok() {
                return;
            }
        }
    }
}

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
impl<T> std::ops::Deref for ShortGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard is the only one.
        unsafe { &*self.0.value.get() }
    }
}

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
impl<T> std::ops::DerefMut for ShortGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard is the only one.
        unsafe { &mut *self.0.value.get() }
    }
}

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
impl<T> Drop for ShortGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.held.store(false, atomic::Ordering::Release);
    }
}

/// In models, a mutex: they explore what is done under it, not how it spins.
#[cfg(any(feature = "loom", feature = "shuttle"))]
pub type Short<T> = Mutex<T>;

#[cfg(feature = "loom")]
mod model {
    /// loom's mutex with parking_lot's interface.
    #[derive(Debug)]
    pub struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub fn new(value: T) -> Mutex<T> {
            Mutex(loom::sync::Mutex::new(value))
        }

        pub fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
        }
    }

    impl<T: Default> Default for Mutex<T> {
        fn default() -> Mutex<T> {
            Mutex::new(T::default())
        }
    }
}

/// For code that shuttle models and loom does not.
#[cfg(not(feature = "shuttle"))]
pub mod wide {
    pub use super::held::{Condvar, Mutex, MutexGuard};
    pub use std::hint::spin_loop;
    pub use std::sync::{Arc, atomic};
    pub use std::thread;
    pub use std::thread_local;

    /// In models, another thread may come in between here. For steps that no primitive of this module separates.
    #[inline(always)]
    pub fn point() {}
}

/// shuttle's primitives with the interfaces of std and parking_lot.
#[cfg(feature = "shuttle")]
pub mod wide {
    pub use shuttle::hint::spin_loop;
    pub use shuttle::sync::atomic;
    pub use shuttle::thread;
    pub use shuttle::thread_local;
    use std::mem::ManuallyDrop;
    use std::ops::{Deref, DerefMut};

    pub fn point() {
        if !std::thread::panicking() {
            atomic::AtomicBool::new(false).load(atomic::Ordering::SeqCst);
        }
    }

    /// std's, whose counts are no points of their own to shuttle.
    #[derive(Debug, Default)]
    pub struct Arc<T: ?Sized>(std::sync::Arc<T>);

    impl<T> Arc<T> {
        pub fn new(value: T) -> Arc<T> {
            Arc(std::sync::Arc::new(value))
        }

        pub fn as_ptr(this: &Arc<T>) -> *const T {
            std::sync::Arc::as_ptr(&this.0)
        }

        pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
            std::sync::Arc::ptr_eq(&this.0, &other.0)
        }

        pub fn strong_count(this: &Arc<T>) -> usize {
            point();
            std::sync::Arc::strong_count(&this.0)
        }

        pub fn into_inner(this: Arc<T>) -> Option<T> {
            point();
            let this = ManuallyDrop::new(this);
            // SAFETY: read once, and never dropped.
            std::sync::Arc::into_inner(unsafe { std::ptr::read(&this.0) })
        }
    }

    impl<T> Clone for Arc<T> {
        fn clone(&self) -> Arc<T> {
            point();
            Arc(self.0.clone())
        }
    }

    impl<T> Deref for Arc<T> {
        type Target = T;
        fn deref(&self) -> &T {
            &self.0
        }
    }

    impl<T: ?Sized> Drop for Arc<T> {
        fn drop(&mut self) {
            point();
        }
    }

    #[derive(Debug, Default)]
    pub struct Mutex<T>(shuttle::sync::Mutex<T>);

    /// Some but while a condition is waited for.
    pub struct MutexGuard<'a, T>(Option<shuttle::sync::MutexGuard<'a, T>>);

    impl<T> Mutex<T> {
        pub const fn new(value: T) -> Mutex<T> {
            Mutex(shuttle::sync::Mutex::new(value))
        }

        pub fn lock(&self) -> MutexGuard<'_, T> {
            MutexGuard(Some(self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())))
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            self.0.as_ref().expect("held")
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            self.0.as_mut().expect("held")
        }
    }

    #[derive(Debug, Default)]
    pub struct Condvar(shuttle::sync::Condvar);

    impl Condvar {
        pub const fn new() -> Condvar {
            Condvar(shuttle::sync::Condvar::new())
        }

        pub fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
            let inner = guard.0.take().expect("held");
            guard.0 = Some(self.0.wait(inner).unwrap_or_else(|poisoned| poisoned.into_inner()));
        }

        /// Without the time: whoever relies on it to go on is found out.
        pub fn wait_for<T>(&self, guard: &mut MutexGuard<'_, T>, _: std::time::Duration) {
            self.wait(guard);
        }

        pub fn notify_one(&self) {
            self.0.notify_one();
        }

        pub fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}
