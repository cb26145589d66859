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
