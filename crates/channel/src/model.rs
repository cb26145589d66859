//! What stands for the scheduler's task in models (loom) and under Miri, which can't switch stacks: a flag that is kept until the sleeper takes it.

#[cfg(feature = "loom")]
use loom::sync::{Arc, Condvar, Mutex};
#[cfg(not(feature = "loom"))]
use std::sync::{Arc, Condvar, Mutex};

#[derive(Clone)]
pub struct Task(Arc<(Mutex<bool>, Condvar)>);

/// Nobody leaves notes in models.
pub struct Mailbox;

impl Mailbox {
    pub fn leave(&self, _note: u32) {}
}

impl Task {
    pub fn new() -> Task {
        Task(Arc::new((Mutex::new(false), Condvar::new())))
    }

    pub fn wake(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_one();
    }

    /// Sleeps until somebody called `wake` since the last `park`.
    pub fn park(&self) {
        let mut woken = self.0.0.lock().unwrap();
        while !std::mem::take(&mut *woken) {
            woken = self.0.1.wait(woken).unwrap();
        }
    }
}
