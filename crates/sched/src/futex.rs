//! A word that a thread can sleep on: the kernel's futex, or with the feature `shuttle` a model of what it promises: the comparison and the falling asleep
//! are one step for those who wake.

use std::time::Duration;
use zakuro_base::sync::wide::atomic::AtomicU32;
#[cfg(feature = "shuttle")]
use zakuro_base::sync::wide::{Condvar, Mutex, atomic::Ordering};

pub(crate) struct Futex {
    word: AtomicU32,
    #[cfg(feature = "shuttle")]
    kernel: (Mutex<()>, Condvar),
}

impl Futex {
    pub(crate) fn new(word: u32) -> Futex {
        Futex {
            word: AtomicU32::new(word),
            #[cfg(feature = "shuttle")]
            kernel: (Mutex::new(()), Condvar::new()),
        }
    }

    pub(crate) fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// Wakes one thread that sleeps here.
    pub(crate) fn wake(&self) {
        #[cfg(not(feature = "shuttle"))]
        // SAFETY: a futex wake on a live word.
        unsafe {
            libc::syscall(libc::SYS_futex, self.word.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1)
        };
        #[cfg(feature = "shuttle")]
        {
            let _kernel = self.kernel.0.lock();
            self.kernel.1.notify_one();
        }
    }

    /// Sleeps if the word is `value`, until woken or the time is over (in models there is none); may come back early.
    pub(crate) fn wait(&self, value: u32, longest: Option<Duration>) {
        #[cfg(not(feature = "shuttle"))]
        {
            let time = longest.map(|d| libc::timespec { tv_sec: d.as_secs() as libc::time_t, tv_nsec: d.subsec_nanos() as libc::c_long });
            let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            // SAFETY: a futex wait on a live word; the time, if any, outlives the call.
            unsafe { libc::syscall(libc::SYS_futex, self.word.as_ptr(), libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, value, time) };
        }
        #[cfg(feature = "shuttle")]
        {
            let _ = longest;
            let mut kernel = self.kernel.0.lock();
            if self.word.load(Ordering::SeqCst) == value {
                self.kernel.1.wait(&mut kernel);
            }
        }
    }
}
