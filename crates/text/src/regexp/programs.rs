//! The programs of one pattern, for the encodings that it met.
//!
//! Invariant: what is compiled stays where it is and is never changed: any thread may add a program, the first wins, and readers take no lock.
//! Rejected: a table under a lock (every match of a VM would pass it).

use crate::encoding::Encoding;
use crate::matcher::{self, Program};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

type Compiled = Result<Box<Program>, String>;

pub(super) struct Programs {
    home: Encoding,
    /// For the encoding that the pattern has, or UTF-8.
    first: OnceLock<Compiled>,
    others: OnceLock<Box<Other>>,
    /// Bytes of all.
    weight: AtomicUsize,
}

/// Written once by the thread that first needs it, then read by all.
struct Other {
    enc: Encoding,
    program: Compiled,
    next: OnceLock<Box<Other>>,
}

impl Programs {
    pub fn new(home: Encoding) -> Programs {
        Programs { home: matcher::canonical(home), first: OnceLock::new(), others: OnceLock::new(), weight: AtomicUsize::new(0) }
    }

    /// Bytes of all that were compiled.
    #[inline]
    pub fn weight(&self) -> usize {
        self.weight.load(Ordering::Relaxed)
    }

    fn counted(&self, compiled: Compiled) -> Compiled {
        self.weight.fetch_add(compiled.as_ref().map_or(0, |p| p.weight()), Ordering::Relaxed);
        compiled
    }

    pub fn home(&self) -> Encoding {
        self.home
    }

    /// The program for an encoding, compiled if there is none yet.
    ///
    /// # Errors
    /// What `compile` says.
    #[inline]
    pub fn get(&self, enc: Encoding, compile: impl FnMut(Encoding) -> Result<Program, String>) -> Result<&Program, String> {
        match self.first.get() {
            Some(Ok(first)) if enc == self.home => Ok(first),
            _ => self.find(enc, compile),
        }
    }

    fn find(&self, enc: Encoding, mut compile: impl FnMut(Encoding) -> Result<Program, String>) -> Result<&Program, String> {
        let enc = if enc == self.home { enc } else { matcher::canonical(enc) };
        if enc == self.home {
            if let Some(first) = self.first.get() {
                return answer(first);
            }
            // Not while others wait: compiling may pause, or be given up.
            let compiled = compile(enc).map(Box::new);
            if compiled.as_ref().is_err_and(|e| e == matcher::STOPPED) {
                return Err(matcher::STOPPED.into());
            }
            return answer(self.first.get_or_init(|| self.counted(compiled)));
        }
        let (mut place, mut made) = (&self.others, None);
        loop {
            if let Some(other) = place.get() {
                if other.enc == enc {
                    return answer(&other.program);
                }
                place = &other.next;
                continue;
            }
            let compiled = made.take().unwrap_or_else(|| compile(enc).map(Box::new));
            if compiled.as_ref().is_err_and(|e| e == matcher::STOPPED) {
                return Err(matcher::STOPPED.into());
            }
            // Where somebody else was faster, with whichever encoding, it is for a later place.
            let weight = compiled.as_ref().map_or(0, |p| p.weight());
            made = place.set(Box::new(Other { enc, program: compiled, next: OnceLock::new() })).err().map(|other| other.program);
            if made.is_none() {
                self.weight.fetch_add(weight, Ordering::Relaxed);
            }
        }
    }
}

fn answer(compiled: &Compiled) -> Result<&Program, String> {
    match compiled {
        Ok(p) => Ok(p),
        Err(e) => Err(e.clone()),
    }
}
