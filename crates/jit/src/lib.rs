//! Machine code: what is hot is translated by Cranelift, on a thread of the process, for all VMs that run it (docs/decisions/0022-machine-code.md).
//!
//! [`translate`] makes the function of one Code. What it relies on stands in `zakuro_vm::machine`, which also says how it is entered and left; everything that knows
//! the layout of the VM is in [`layout`].
//!
//! Invariants: the thread is there once something was asked for, never before. It takes a share of a core in the long run ([`Credit`]), and its time counts for the VM that asked. Whatever
//! it holds that a child of fork(2) must not find held it takes under [`Jit::still`], which who forks holds.

mod layout;
mod memory;
mod perf;
mod translate;

use memory::Memory;
use perf::PerfMap;
use std::collections::{BTreeMap, VecDeque};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use zakuro_base::sync::held::{Condvar, Mutex};
use zakuro_base::{JitOptions, Options};
use zakuro_vm::machine::{Compiler, Figures, Request, set_compiler};

/// Requests that may wait; more are turned away, and asked for again by who is still hot.
const MOST_WAITING: usize = 256;
/// Reasons that are told apart.
const MOST_REASONS: usize = 64;

#[derive(Default)]
struct Queue {
    requests: VecDeque<Asked>,
    /// The process in which the thread runs: a child of fork(2) has none.
    process: u32,
}

/// A request, and who waits for it.
struct Asked {
    request: Request,
    done: Option<Arc<Done>>,
}

#[derive(Default)]
struct Done {
    is: Mutex<bool>,
    told: Condvar,
}

impl Done {
    fn tell(&self) {
        *self.is.lock() = true;
        self.told.notify_all();
    }
    fn wait(&self) {
        let mut is = self.is.lock();
        while !*is {
            self.told.wait(&mut is);
        }
    }
}

/// What the compiler has done.
#[derive(Default)]
struct Tally {
    compiled: u64,
    replaced: u64,
    nanoseconds: u64,
    refused: BTreeMap<String, u64>,
}

/// The process' compiler.
struct Jit {
    options: JitOptions,
    /// Its guards fail although they hold.
    exits: bool,
    queue: Mutex<Queue>,
    come: Condvar,
    memory: Memory,
    /// Held by the thread while it has other locks, by who forks, and by nobody for long.
    still: Mutex<()>,
    tally: Mutex<Tally>,
    perf: Option<PerfMap>,
}

/// Puts the compiler into force, before there are VMs.
pub fn start(options: &Options) {
    let own = options.jit_options.clone();
    let jit: &'static Jit = Box::leak(Box::new(Jit {
        exits: options.jit.exits(),
        queue: Mutex::default(),
        come: Condvar::new(),
        memory: Memory::new(own.memory),
        still: Mutex::default(),
        tally: Mutex::default(),
        perf: own.perf_map.then(PerfMap::default),
        options: own,
    }));
    set_compiler(jit);
}

/// How much processor time the thread may still take at once: it grows with the time that goes by, so that in the long run it is a share of a core.
struct Credit {
    nanoseconds: i64,
    /// What a second brings.
    share: i64,
    at: Instant,
}

impl Credit {
    /// What there is at first and at most: programs that are warm soon don't wait.
    const MOST: i64 = 500_000_000;

    fn new(percent: u32) -> Credit {
        Credit { nanoseconds: Credit::MOST, share: i64::from(percent) * 10_000_000, at: Instant::now() }
    }
    fn spend(&mut self, nanoseconds: u64) {
        self.nanoseconds -= nanoseconds as i64;
    }
    /// How long the thread has to wait.
    fn wait(&mut self) -> Option<Duration> {
        let now = Instant::now();
        let grown = now.duration_since(self.at).as_nanos() as i128 * self.share as i128 / 1_000_000_000;
        self.at = now;
        self.nanoseconds = (self.nanoseconds as i128 + grown).min(Credit::MOST as i128) as i64;
        (self.nanoseconds < 0).then(|| Duration::from_nanos((-self.nanoseconds as i128 * 1_000_000_000 / self.share.max(1) as i128) as u64))
    }
}

/// Processor time of the calling thread, in nanoseconds.
fn thread_time() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Nothing is being made of the request any more: there may be another one.
fn settle(request: &Request) {
    if let Some(p) = request.met.code.heat.profile() {
        p.pending.store(false, Ordering::Release);
    }
}

impl Jit {
    fn work(&self) {
        let mut credit = Credit::new(self.options.share);
        loop {
            let asked = {
                let mut queue = self.queue.lock();
                loop {
                    match queue.requests.pop_front() {
                        Some(asked) => break asked,
                        None => self.come.wait(&mut queue),
                    }
                }
            };
            if asked.done.is_none()
                && let Some(time) = credit.wait()
            {
                std::thread::sleep(time);
            }
            let took = self.compile(&asked.request);
            if asked.done.is_none() {
                credit.spend(took);
            }
            asked.done.inspect(|d| d.tell());
        }
    }
    /// The processor time that it took.
    fn compile(&self, request: &Request) -> u64 {
        let begun = thread_time();
        // What the compiler can't do costs speed, not the process.
        let made = catch_unwind(AssertUnwindSafe(|| translate::translate(request, self)))
            .unwrap_or_else(|_| Err("the compiler has panicked".into()));
        let took = thread_time().saturating_sub(begun);
        if let Some(payer) = &request.payer {
            payer(took);
        }
        let code = &request.met.code;
        let _still = self.still.lock();
        let mut tally = self.tally.lock();
        tally.nanoseconds += took;
        match made {
            Ok(mut machine) => {
                machine.took = took;
                tally.compiled += 1;
                tally.replaced += u64::from(code.heat.machine().is_some());
                if let Some(map) = &self.perf {
                    map.tell(machine.function, machine.bytes, &format!("{} ({}:{})", code.name, code.file, code.line));
                }
                code.heat.publish(machine);
            }
            Err(why) => {
                if self.shows(&code.name.name()) {
                    let _ = writeln!(std::io::stderr(), "; {} ({}:{}): {why}", code.name, code.file, code.line);
                }
                if tally.refused.len() < MOST_REASONS || tally.refused.contains_key(&why) {
                    *tally.refused.entry(why).or_default() += 1;
                }
            }
        }
        settle(request);
        took
    }
    /// Whether what is made of a Code of this name is to be shown.
    fn shows(&self, name: &str) -> bool {
        let o = &self.options;
        (o.show_clif || o.show_asm) && o.show_only.as_ref().is_none_or(|only| name == only || name.rsplit(['#', '.']).next() == Some(only))
    }
    fn enqueue(&'static self, asked: Asked) -> bool {
        let mut queue = self.queue.lock();
        if queue.requests.len() >= MOST_WAITING && asked.done.is_none() {
            return false;
        }
        let process = std::process::id();
        if queue.process != process {
            const STACK: usize = 4 << 20;
            if zakuro_base::memory::admits_thread(STACK).is_err() {
                return false;
            }
            let thread = std::thread::Builder::new().name("zakuro-jit".into()).stack_size(STACK);
            if thread.spawn(|| self.work()).is_err() {
                return false;
            }
            queue.process = process;
            // Who waited for these in the parent is not here.
            queue.requests.drain(..).for_each(|asked| settle(&asked.request));
        }
        queue.requests.push_back(asked);
        drop(queue);
        self.come.notify_one();
        true
    }
}

impl Compiler for Jit {
    fn submit(&'static self, request: Request, wait: bool) -> bool {
        let done = wait.then(Arc::<Done>::default);
        let taken = self.enqueue(Asked { request, done: done.clone() });
        if let Some(done) = done.filter(|_| taken) {
            done.wait();
        }
        taken
    }
    fn figures(&self) -> Figures {
        let waiting = self.queue.lock().requests.len() as u64;
        let tally = self.tally.lock();
        Figures {
            compiled: tally.compiled,
            replaced: tally.replaced,
            refused: tally.refused.iter().map(|(why, n)| (why.clone(), *n)).collect(),
            waiting,
            bytes: self.memory.used() as u64,
            limit: self.memory.limit() as u64,
            nanoseconds: tally.nanoseconds,
        }
    }
    fn hold(&self, call: &mut dyn FnMut()) {
        let _still = self.still.lock();
        let _held = (self.queue.lock(), self.tally.lock());
        self.memory.forks();
        call();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiling_takes_its_share_in_the_long_run() {
        let mut c = Credit::new(10);
        assert_eq!(c.wait(), None);
        c.spend(Credit::MOST as u64 / 2);
        assert_eq!(c.wait(), None, "what was saved may go at once");
        c.spend(Credit::MOST as u64);
        let wait = c.wait().expect("it is in debt");
        let debt = Duration::from_nanos(Credit::MOST as u64 / 2);
        assert!(wait > debt * 9 && wait <= debt * 10, "{wait:?}");
        c.at -= wait;
        assert_eq!(c.wait(), None);
    }
}
