//! Compiling for a VM: within its limits, and left when it is to end.
//!
//! A small source is compiled at once, one of some kilobytes under terms ([`in_place`]). A larger one is a [`Job`] on a native thread of its own: the VM waits for it in place at first, since most take a
//! millisecond or two, then lets go of its worker and looks at its interrupts between slices of time. Kill and limits end the wait; the job is abandoned
//! and ends by itself soon after. What it takes counts: its CPU time for `cpu_limit:`, its memory against what `memory_limit:` leaves.
//!
//! No other Ruby thread of the VM runs but where an interrupt lets it: a `require` that compiles is not a place where threads are expected to change.

use crate::raise::Result;
use crate::vm::Cx;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use zakuro_bytecode::Code;
use zakuro_compiler::job::{IN_PLACE, Job, Left, in_place};
use zakuro_compiler::serialize::{Question, answer};
use zakuro_compiler::{Compiled, Options, SMALL_SOURCE, SyntaxError, compile_shared};
use zakuro_sched::{on_native_stack, poll};

/// The VM keeps its worker so long.
const AT_ONCE: Duration = Duration::from_millis(2);
/// Then it looks at its interrupts so often.
const SLICE: Duration = Duration::from_millis(10);
/// For these a compilation is left: what may end it, or gives another unit the worker.
const WANTED: u32 = poll::PREEMPT | poll::SIGNAL | poll::KILL | poll::RAISE | poll::WAKE;
/// What an ordinary source takes, per byte of it. When there is less room the heap is collected first.
const ORDINARY: usize = 100;

impl Cx {
    /// Compiles a source. The outer error: the VM is to end, or has no memory for it.
    pub fn compile(&mut self, source: &Arc<[u8]>, options: &Options) -> Result<std::result::Result<Compiled, SyntaxError>> {
        let before = self.begin_compiling();
        let compiled = self.compile_within_limits(source, options);
        self.end_activity(before);
        compiled
    }
    fn compile_within_limits(&mut self, source: &Arc<[u8]>, options: &Options) -> Result<std::result::Result<Compiled, SyntaxError>> {
        if source.len() <= SMALL_SOURCE || self.host.is_none() {
            // The parser recurses: it gets the worker's own stack.
            return Ok(on_native_stack(|| compile_shared(source, options)));
        }
        if source.len() <= IN_PLACE {
            let word = self.poll_owner.word();
            // What can't be answered before (an exception that is masked) does not count.
            let before = word.load(Ordering::Relaxed);
            let wanted = || word.load(Ordering::Relaxed) & !before & WANTED != 0;
            if let Ok(done) = on_native_stack(|| in_place(source, options, self.heap.room(), &wanted)) {
                return Ok(done);
            }
            self.safepoint()?;
        }
        let start = |room| Job::start(source.clone(), options, room);
        self.work_of_parser(source.len(), start, || compile_shared(source, options))
    }
    /// What the parser tells of a source. Errors: as those of `compile`.
    pub fn ask_parser(&mut self, question: &Question) -> Result<Vec<u8>> {
        if question.source_len() <= SMALL_SOURCE || self.host.is_none() {
            return Ok(on_native_stack(|| answer(question)));
        }
        self.work_of_parser(question.source_len(), |room| Job::ask(question.clone(), room), || answer(question))
    }
    /// Work of the parser on a source of that length. `start`: begins it as a job that may take so much. `here`: does it where there is no thread for a job.
    fn work_of_parser<T: Send + 'static>(
        &mut self,
        length: usize,
        start: impl Fn(usize) -> Option<Job<T>>,
        here: impl Fn() -> T,
    ) -> Result<T> {
        if self.heap.room() < length.saturating_mul(ORDINARY) {
            self.collect();
        }
        let mut room = self.heap.room();
        loop {
            let Some(job) = start(room) else { return Ok(on_native_stack(&here)) };
            match self.wait_for_job(&job)? {
                Ok(done) => return Ok(done),
                Err(_) => {
                    self.collect();
                    let now = self.heap.room();
                    if now / 2 < room {
                        return self.out_of_memory();
                    }
                    room = now;
                }
            }
        }
    }
    fn wait_for_job<T: Send + 'static>(&mut self, job: &Job<T>) -> Result<std::result::Result<T, Left>> {
        let mut charged = Duration::ZERO;
        let mut outcome = job.wait(AT_ONCE);
        while outcome.is_none() {
            outcome = zakuro_sched::blocking(|| job.wait(SLICE));
            if let Some(used) = job.cpu_time() {
                self.charge_cpu(used.saturating_sub(charged));
                charged = used.max(charged);
            }
            self.safepoint()?;
        }
        Ok(outcome.unwrap_or(Err(Left::Abandoned)))
    }
    /// The code of a program or file, which is about to run, stays with the VM as long as it lives and counts as its own, though others may share it.
    pub(crate) fn hold_code(&mut self, code: &Arc<Code>) {
        if self.host.is_some() && !self.has_code_state(code) {
            self.heap.add_payload(code.size() + code.source.len());
        }
    }
    /// A native thread has worked for this VM.
    fn charge_cpu(&mut self, time: Duration) {
        if self.life.spend(time) {
            self.poll_owner.set(poll::WAKE);
        }
    }
}
