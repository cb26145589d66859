//! Machine code: what is hot is translated by Cranelift, on a thread of the process, for all VMs that run it (docs/decisions/0022-machine-code.md).
//!
//! [`translate`] makes the function of one Code. What it relies on stands in `zakuro_vm::machine`, which also says how it is entered and left; everything that knows
//! the layout of the VM is in [`layout`].

mod layout;
mod memory;
mod translate;

use memory::Memory;
use std::collections::VecDeque;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use zakuro_vm::machine::{Compiler, Request, set_compiler};

/// Requests that may wait; more are turned away, and asked for again by who is still hot.
const MOST_WAITING: usize = 256;

#[derive(Default)]
struct Queue {
    requests: VecDeque<Request>,
    /// The process in which the thread runs: a child of fork(2) has none.
    process: u32,
}

/// The process' compiler.
#[derive(Default)]
struct Jit {
    queue: Mutex<Queue>,
    come: Condvar,
    memory: Memory,
    compiled: AtomicU64,
    refused: AtomicU64,
    nanoseconds: AtomicU64,
    /// Texts of what is compiled are written to standard error.
    shows: std::sync::atomic::AtomicBool,
}

/// Puts the compiler into force, before there are VMs. `show`: what it makes is written to standard error (`--dump=clif`).
pub fn start(show: bool) {
    let jit: &'static Jit = Box::leak(Box::default());
    jit.shows.store(show, Ordering::Relaxed);
    set_compiler(jit);
}

impl Jit {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn work(&self) {
        let mut queue = self.lock();
        loop {
            match queue.requests.pop_front() {
                Some(request) => {
                    drop(queue);
                    self.compile(&request);
                    queue = self.lock();
                }
                None => queue = self.come.wait(queue).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
    fn compile(&self, request: &Request) {
        let begun = Instant::now();
        let shows = self.shows.load(Ordering::Relaxed);
        // What the compiler can't do costs speed, not the process.
        let made = catch_unwind(AssertUnwindSafe(|| translate::translate(request, &self.memory, shows)))
            .unwrap_or_else(|_| Err("the compiler has panicked".into()));
        let took = begun.elapsed().as_nanos() as u64;
        self.nanoseconds.fetch_add(took, Ordering::Relaxed);
        match made {
            Ok(mut machine) => {
                machine.took = took;
                self.compiled.fetch_add(1, Ordering::Relaxed);
                request.met.code.heat.publish(machine);
            }
            Err(why) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                if shows {
                    let _ = writeln!(
                        std::io::stderr(),
                        "; {} ({}:{}): {why}",
                        request.met.code.name,
                        request.met.code.file,
                        request.met.code.line
                    );
                }
            }
        }
    }
}

impl Compiler for Jit {
    fn submit(&'static self, request: Request, wait: bool) {
        if wait {
            return self.compile(&request);
        }
        let mut queue = self.lock();
        if queue.requests.len() >= MOST_WAITING {
            return;
        }
        queue.requests.push_back(request);
        let process = std::process::id();
        if queue.process != process {
            const STACK: usize = 4 << 20;
            if zakuro_base::memory::admits_thread(STACK).is_err() {
                queue.requests.clear();
                return;
            }
            let thread = std::thread::Builder::new().name("zakuro-jit".into()).stack_size(STACK);
            match thread.spawn(|| self.work()) {
                Ok(_) => queue.process = process,
                Err(_) => queue.requests.clear(),
            }
        }
        drop(queue);
        self.come.notify_one();
    }
    fn figures(&self) -> Vec<(&'static str, u64)> {
        vec![
            ("compiled", self.compiled.load(Ordering::Relaxed)),
            ("refused", self.refused.load(Ordering::Relaxed)),
            ("waiting", self.lock().requests.len() as u64),
            ("bytes", self.memory.used() as u64),
            ("nanoseconds", self.nanoseconds.load(Ordering::Relaxed)),
        ]
    }
}
