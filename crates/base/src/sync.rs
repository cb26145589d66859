//! What lock-free and locking code is written with: the real thing, or loom's model of it under `--cfg loom`.
//!
//! Invariants: both sides have the same interface, so that what the models explore is the code that runs. `Mutex::lock` gives the
//! guard itself: a thread that panics while it holds a lock leaves it usable.
//! Rejected: a feature flag (cargo would join it with the features of an ordinary build in the same workspace).

#[cfg(not(loom))]
pub use parking_lot::{Mutex, MutexGuard};
#[cfg(not(loom))]
pub use std::sync::{Arc, atomic};

#[cfg(loom)]
pub use loom::sync::{Arc, MutexGuard, atomic};
#[cfg(loom)]
pub use model::Mutex;

/// A lock for a few instructions: one read-modify-write instead of a mutex's two, which is most of what a message costs.
///
/// Whoever finds it held spins, then yields its native thread to the holder. Hold it for no call that may block.
/// `held` is set by the compare-exchange of a locker (acquire) and cleared by the holder alone (release).
#[cfg(not(loom))]
pub struct Short<T> {
    held: atomic::AtomicBool,
    value: std::cell::UnsafeCell<T>,
}

#[cfg(not(loom))]
// SAFETY: `held` lets one thread at a time at the value.
unsafe impl<T: Send> Sync for Short<T> {}

/// The right to use what a [`Short`] lock protects, until it is dropped.
#[cfg(not(loom))]
pub struct ShortGuard<'a, T>(&'a Short<T>);

#[cfg(not(loom))]
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

#[cfg(not(loom))]
impl<T> std::ops::Deref for ShortGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard is the only one.
        unsafe { &*self.0.value.get() }
    }
}

#[cfg(not(loom))]
impl<T> std::ops::DerefMut for ShortGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard is the only one.
        unsafe { &mut *self.0.value.get() }
    }
}

#[cfg(not(loom))]
impl<T> Drop for ShortGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.held.store(false, atomic::Ordering::Release);
    }
}

/// In models, a mutex: loom explores what is done under it, not how it spins.
#[cfg(loom)]
pub type Short<T> = Mutex<T>;

#[cfg(loom)]
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
