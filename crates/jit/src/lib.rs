//! Machine code: what is hot is translated by Cranelift, on a thread of the process, for all VMs that run it (docs/decisions/0022-machine-code.md).
//!
//! [`translate`] makes the function of one Code. What it relies on stands in `zakuro_vm::machine`, which also says how it is entered and left; everything that knows
//! the layout of the VM is in [`layout`].
//!
//! Invariants: the threads are there once something was asked for, never before. They take a share of a core in the long run ([`queue`]), and their time counts for the VM that asked. Whatever
//! they hold that a child of fork(2) must not find held they take under [`Jit::still`], which who forks holds.

mod aside;
mod layout;
mod memory;
mod perf;
mod queue;
mod translate;

use memory::{Full, Memory};
use perf::PerfMap;
use queue::{Asked, Done, Queue};
use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock, Weak};
use zakuro_base::sync::held::{Condvar, Mutex};
use zakuro_base::{JitOptions, Options};
use zakuro_bytecode::Code;
use zakuro_bytecode::machine::Known;
use zakuro_vm::machine::{Compiler, Figures, Request, set_compiler};

/// Reasons that are told apart.
const MOST_REASONS: usize = 64;
/// Versions of a Code that may be in force at once: in all, and made for one branch of the tree of VMs.
const VERSIONS: usize = 64;
const VERSIONS_OF_ONE: usize = 8;

/// What waits, and who works.
struct Work {
    queue: Queue,
    /// The process in which the thread runs: a child of fork(2) has none.
    process: u32,
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
    work: Mutex<Work>,
    come: Condvar,
    memory: Memory,
    /// Held by the thread while it has other locks, by who forks, and by nobody for long.
    still: Mutex<()>,
    tally: Mutex<Tally>,
    perf: Option<PerfMap>,
    /// See [`Compiler::on_rest`].
    rest: OnceLock<fn()>,
}

/// Puts the compiler into force, before there are VMs.
pub fn start(options: &Options) {
    let own = options.jit_options.clone();
    let jit: &'static Jit = Box::leak(Box::new(Jit {
        exits: options.jit.exits(),
        work: Mutex::new(Work { queue: Queue::new(own.share), process: 0 }),
        come: Condvar::new(),
        memory: Memory::new(own.memory),
        still: Mutex::default(),
        tally: Mutex::default(),
        perf: own.perf_map.then(PerfMap::default),
        rest: OnceLock::new(),
        options: own,
    }));
    set_compiler(jit);
}

/// Processor time of the calling thread, in nanoseconds.
fn thread_time() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

impl Jit {
    fn work(&self) {
        // Codes that there is machine code of.
        let mut made: Vec<Weak<Code>> = Vec::new();
        // Whether malloc keeps what the last functions took.
        let mut keeps = false;
        loop {
            let asked = {
                let mut work = self.work.lock();
                loop {
                    match work.queue.pop() {
                        Ok(asked) => break asked,
                        // Compiling takes megabytes for a moment: the next time it may be the program's that are wanted.
                        Err(_) if std::mem::take(&mut keeps) => {
                            drop(work);
                            self.rest.get().inspect(|rest| rest());
                            work = self.work.lock();
                        }
                        Err(None) => self.come.wait(&mut work),
                        Err(Some(time)) => _ = self.come.wait_for(&mut work, time),
                    }
                }
            };
            let took = self.compile(&asked.request, &mut made);
            if asked.done.is_none() {
                self.work.lock().queue.spent(&asked.request.asker, took);
            }
            let Asked { request, done } = asked;
            // The VM may ask again before whoever waits goes on.
            self.let_go(request);
            done.inspect(|d| d.tell());
            // What took so long is worth the time to have pages faulted in again.
            const WORTH: u64 = 2_000_000;
            keeps |= took >= WORTH;
        }
    }
    /// Drops what may be the last to hold a Code.
    fn let_go(&self, request: Request) {
        let _still = self.still.lock();
        drop(request);
    }
    /// Whether there is what the request would make, or as many versions as there may be.
    fn is_settled(&self, request: &Request) -> Result<bool, String> {
        let met = &request.met;
        let branch = request.asker.branch();
        let _still = self.still.lock();
        let count = || {
            met.code.heat.versions(|all| {
                let does = |(of, theirs): &(Weak<Code>, Known)| {
                    met.known_of(of.as_ptr()).is_none_or(|known| theirs.serves(known) && theirs.looseness(known) == 0)
                };
                let is_made = all.iter().any(|m| m.known.iter().all(does));
                (is_made, all.len(), all.iter().filter(|m| m.branch == branch).count())
            })
        };
        let (is_made, mut all, mut of_one) = count();
        if is_made {
            return Ok(true);
        }
        if of_one >= VERSIONS_OF_ONE || all >= VERSIONS {
            drop(met.code.heat.purge(|m| all >= VERSIONS || m.branch == branch));
            (_, all, of_one) = count();
        }
        if of_one >= VERSIONS_OF_ONE || all >= VERSIONS { Err("there are enough versions of it".into()) } else { Ok(false) }
    }
    /// Puts machine code where it can run; what no VM runs makes room, the oldest first.
    fn place(&self, code: &[u8], request: &Request, made: &[Weak<Code>]) -> Result<memory::Piece, String> {
        let asker = &request.asker;
        let full = match self.memory.place(code, asker) {
            Ok(piece) => return Ok(piece),
            Err(full) => full,
        };
        let branch = asker.branch();
        for code_of in made.iter().filter_map(Weak::upgrade) {
            let gone = code_of.heat.purge(|m| full == Full::All || m.branch == branch);
            if !gone.is_empty() {
                drop(gone);
                if let Ok(piece) = self.memory.place(code, asker) {
                    return Ok(piece);
                }
            }
        }
        let why = match full {
            Full::Share => "the VM has its share of the memory for machine code",
            Full::All => "no memory for machine code",
        };
        Err(why.into())
    }
    /// The processor time that it took.
    fn compile(&self, request: &Request, made: &mut Vec<Weak<Code>>) -> u64 {
        let begun = thread_time();
        let result = match self.is_settled(request) {
            Ok(true) => return 0,
            Ok(false) => {
                let place = |code: &[u8]| self.place(code, request, made);
                // What the compiler can't do costs speed, not the process.
                catch_unwind(AssertUnwindSafe(|| translate::translate(request, self, place)))
                    .unwrap_or_else(|_| Err("the compiler has panicked".into()))
            }
            Err(why) => Err(why),
        };
        let took = thread_time().saturating_sub(begun);
        if let Some(payer) = &request.payer {
            payer(took);
        }
        let code = &request.met.code;
        let _still = self.still.lock();
        let mut tally = self.tally.lock();
        tally.nanoseconds += took;
        match result {
            Ok(mut machine) => {
                machine.took = took;
                tally.compiled += 1;
                tally.replaced += u64::from(code.heat.changes() > 0);
                if let Some(map) = &self.perf {
                    map.tell(machine.function, machine.bytes, &format!("{} ({}:{})", code.name, code.file, code.line));
                }
                if code.heat.changes() == 0 {
                    if made.len() == made.capacity() {
                        made.retain(|c| c.strong_count() > 0);
                    }
                    made.push(Arc::downgrade(code));
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
        took
    }
    /// Whether what is made of a Code of this name is to be shown.
    fn shows(&self, name: &str) -> bool {
        let o = &self.options;
        (o.show_clif || o.show_asm) && o.show_only.as_ref().is_none_or(|only| name == only || name.rsplit(['#', '.']).next() == Some(only))
    }
    fn enqueue(&'static self, asked: Asked) -> bool {
        let mut work = self.work.lock();
        let process = std::process::id();
        if work.process != process {
            const STACK: usize = 4 << 20;
            if zakuro_base::memory::admits_thread(STACK).is_err() {
                return false;
            }
            let thread = std::thread::Builder::new().name("zakuro-jit".into()).stack_size(STACK);
            if thread.spawn(|| self.work()).is_err() {
                return false;
            }
            work.process = process;
            // Who asked for these is in the parent.
            drop(work.queue.clear());
        }
        let taken = work.queue.push(asked);
        drop(work);
        self.come.notify_one();
        taken
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
        let waiting = self.work.lock().queue.waiting() as u64;
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
    fn on_rest(&self, rest: fn()) {
        let _ = self.rest.set(rest);
    }
    fn hold(&self, call: &mut dyn FnMut()) {
        let _still = self.still.lock();
        let _held = (self.work.lock(), self.tally.lock());
        self.memory.forks();
        call();
    }
}
