//! The Rust embedding API: Ruby VMs inside another program.
//!
//! ```
//! use zakuro_runtime::{Process, Value};
//! use std::time::Duration;
//!
//! let process = Process::builder().workers(2).build().unwrap();
//!
//! // A program that runs to its end.
//! let vm = process.vm("hello").source("hello.rb", "puts RubyVM::ARGV[0] * 2").objects(("ab",)).capture_output().start().unwrap();
//! assert!(vm.join().is_success());
//! assert_eq!(vm.output(), b"abab\n");
//!
//! // One that stays and is called.
//! let shop = process.vm("shop").source("shop.rb", "def price(n, vat:) = n * (100 + vat) / 100\ndef twice(n) = n * 2").cpu_limit(Duration::from_secs(5)).serve().unwrap();
//! let answer: i64 = shop.call("twice", (21,)).unwrap();
//! assert_eq!(answer, 42);
//! let text: String = shop.eval("price(200, vat: 19).to_s").unwrap();
//! assert_eq!(text, "238");
//! assert_eq!(shop.eval::<Value>("nil").unwrap(), Value::Nil);
//! ```
//!
//! A [`Process`] owns the workers; one is enough for any number of VMs, and every VM is sealed from the others. A [`Vm`] is a handle: dropping it
//! detaches (a program goes on to its end; a VM that serves ends when it has answered what was asked). Nothing here panics because of what
//! Ruby code does: errors are [`Error`], ends are [`Outcome`].
//!
//! While a process of [`Process::builder`] lives, Ruby's deadlock error is off: the host may always send something to a VM that waits.
//!
//! Signal handlers of the host are left alone. Rejected: running VMs on the host's own threads (a VM must move between workers, and a host
//! thread that waits must not keep others from running).

mod channel;
mod error;
mod job;
#[cfg(test)]
mod marking_tests;
mod translate;
mod value;

pub use channel::Channel;
pub use error::{Error, Exception, Outcome};
pub(crate) use job::Job;
pub(crate) use translate::TranslatorPool;
pub use value::{Arguments, FromRuby, IntoRuby, Value};
pub use zakuro_vm::limits::{Limit, Limits};

use crate::Process;
use job::{Call, Callback, Completion, Request};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use zakuro_base::Options;
use zakuro_corelib::vm_api::host::OutputSink;
use zakuro_vm::host::{Spawner, VmControl};
use zakuro_vm::transfer::Envelope;

/// Settings of a [`Process`].
#[derive(Clone, Debug, Default)]
pub struct Builder {
    options: Options,
}

impl Builder {
    /// Native threads that run VMs; 0: one for each core.
    pub fn workers(mut self, n: usize) -> Builder {
        self.options.workers = n;
        self
    }
    /// A directory for `$LOAD_PATH` of every VM; earlier ones go first.
    pub fn load_path(mut self, directory: impl Into<String>) -> Builder {
        self.options.include.push(directory.into());
        self
    }
    /// The standard library's directory (`.../lib/ruby/zakuro/4.0.0`). Without this: `ZAKURO_LIBRARY`, else the one beside the host's executable.
    pub fn library(mut self, directory: impl Into<String>) -> Builder {
        self.options.library = Some(directory.into());
        self
    }
    /// `$VERBOSE` of every VM: None is nil.
    pub fn verbose(mut self, verbose: Option<bool>) -> Builder {
        self.options.verbose = verbose;
        self
    }
    /// Collects at every safepoint: for tests.
    pub fn gc_stress(mut self, on: bool) -> Builder {
        self.options.gc_stress = on;
        self
    }
    /// Boots: makes the core library's image and starts the workers. Costs some milliseconds; a second process in one program works, but
    /// shares nothing with the first but symbols and compiled sources.
    pub fn build(self) -> Result<Arc<Process>, Error> {
        let mut options = self.options;
        options.verbose = options.verbose.or(Some(false));
        options.library = options.library.or_else(crate::process::library_directory);
        let process =
            std::panic::catch_unwind(move || Process::new(options)).map_err(|_| Error::Invalid("the process could not boot".into()))?;
        let process = process.map_err(|e| Error::Invalid(e.to_string()))?;
        // The host may wake any VM: waiting for it is no deadlock.
        std::mem::forget(process.scheduler.hold());
        Ok(process)
    }
}

impl Process {
    /// Settings of a process for embedding.
    pub fn builder() -> Builder {
        Builder::default()
    }
    /// Settings of a VM, which is not made yet.
    pub fn vm(self: &Arc<Process>, name: impl Into<String>) -> VmBuilder {
        VmBuilder {
            process: self.clone(),
            name: name.into(),
            program: None,
            limits: Limits::default(),
            argv: Vec::new(),
            objects: Vec::new(),
            outputs: [None, None],
            captured: None,
            functions: Vec::new(),
        }
    }
    /// A channel without a bound.
    pub fn channel(self: &Arc<Process>) -> Channel {
        Channel::new(self)
    }
    /// Kills every VM and waits until they are gone, or for the time. How many are still there.
    pub fn kill_all(&self, within: Duration) -> usize {
        let until = Instant::now() + within;
        loop {
            let live = self.live_vms();
            if live.is_empty() || Instant::now() >= until {
                return live.len();
            }
            live.iter().for_each(|vm| vm.kill());
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

enum Program {
    Text(String, Vec<u8>),
    File(PathBuf),
}

/// Settings of a VM.
#[must_use]
pub struct VmBuilder {
    process: Arc<Process>,
    name: String,
    program: Option<Program>,
    limits: Limits,
    argv: Vec<String>,
    objects: Vec<Value>,
    outputs: [Option<OutputSink>; 2],
    captured: Option<Arc<Mutex<Vec<u8>>>>,
    functions: Vec<(String, Callback)>,
}

impl VmBuilder {
    /// The program as text; `file` is its name in messages and `__FILE__`.
    pub fn source(mut self, file: impl Into<String>, text: impl Into<Vec<u8>>) -> VmBuilder {
        self.program = Some(Program::Text(file.into(), text.into()));
        self
    }
    /// The program as a file, read by `start` or `serve`.
    pub fn file(mut self, path: impl AsRef<Path>) -> VmBuilder {
        self.program = Some(Program::File(path.as_ref().to_owned()));
        self
    }
    /// All limits at once.
    pub fn limits(mut self, limits: Limits) -> VmBuilder {
        self.limits = limits;
        self
    }
    /// Bytes that the VM's objects may take.
    pub fn memory_limit(mut self, bytes: usize) -> VmBuilder {
        self.limits.memory = Some(bytes);
        self
    }
    pub fn cpu_limit(mut self, time: Duration) -> VmBuilder {
        self.limits.cpu = Some(time);
        self
    }
    pub fn wall_limit(mut self, time: Duration) -> VmBuilder {
        self.limits.wall = Some(time);
        self
    }
    /// Threads that may be alive at a time, the main one included.
    pub fn thread_limit(mut self, threads: usize) -> VmBuilder {
        self.limits.threads = Some(threads);
        self
    }
    /// Descriptors that the VM may have open at a time, without 0 to 2.
    pub fn fd_limit(mut self, descriptors: usize) -> VmBuilder {
        self.limits.descriptors = Some(descriptors);
        self
    }
    /// Lets the program call foreign functions (fiddle, ffi), which can do to the process what they like.
    pub fn foreign(mut self, may: bool) -> VmBuilder {
        self.limits.foreign = may;
        self
    }
    /// ARGV.
    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> VmBuilder {
        self.argv = args.into_iter().map(Into::into).collect();
        self
    }
    /// `RubyVM::ARGV`: objects, such as channels.
    pub fn objects(mut self, objects: impl Arguments) -> VmBuilder {
        self.objects = objects.into_arguments();
        self
    }
    /// Called with what is written to `$stdout`, on the VM's worker: it should be quick. `STDOUT`, and programs that the VM starts, still write to the
    /// descriptor.
    pub fn stdout(mut self, sink: impl FnMut(&[u8]) + Send + 'static) -> VmBuilder {
        self.outputs[0] = Some(OutputSink(Arc::new(Mutex::new(sink))));
        self
    }
    /// The same for `$stderr`.
    pub fn stderr(mut self, sink: impl FnMut(&[u8]) + Send + 'static) -> VmBuilder {
        self.outputs[1] = Some(OutputSink(Arc::new(Mutex::new(sink))));
        self
    }
    /// Keeps what is written to `$stdout` and `$stderr` for [`Vm::output`].
    pub fn capture_output(mut self) -> VmBuilder {
        let kept = Arc::new(Mutex::new(Vec::new()));
        for slot in &mut self.outputs {
            let kept = kept.clone();
            let sink = move |bytes: &[u8]| kept.lock().unwrap_or_else(|e| e.into_inner()).extend_from_slice(bytes);
            *slot = Some(OutputSink(Arc::new(Mutex::new(sink))));
        }
        self.captured = Some(kept);
        self
    }
    /// A function that Ruby can call like `puts`. It runs on a native thread of its own right, so it may block. [`Error::Convert`] becomes a
    /// TypeError in Ruby, any other error a RuntimeError.
    pub fn function(
        mut self,
        name: impl Into<String>,
        f: impl Fn(Vec<Value>) -> Result<Value, Error> + Send + Sync + 'static,
    ) -> VmBuilder {
        self.functions.push((name.into(), Box::new(f)));
        self
    }
    /// Starts a VM that runs its program and ends.
    pub fn start(self) -> Result<Vm, Error> {
        self.launch(false)
    }
    /// Starts a VM that runs its program and then answers [`Vm::call`] and [`Vm::eval`], until the handle is closed or dropped.
    pub fn serve(self) -> Result<Vm, Error> {
        self.launch(true)
    }
    fn launch(self, serves: bool) -> Result<Vm, Error> {
        let (file, source) = match self.program {
            None if serves => ("(none)".to_owned(), Vec::new()),
            None => return Err(Error::Invalid(format!("VM {} has no program", self.name))),
            Some(Program::Text(file, text)) => (file, text),
            Some(Program::File(path)) => {
                let file = path.to_string_lossy().into_owned();
                match std::fs::read(&path) {
                    Ok(text) => (file, text),
                    Err(e) => return Err(Error::File { path: file, message: e.to_string() }),
                }
            }
        };
        let control = self.process.create(&self.name, Vec::new(), self.limits, None);
        control.expect_join();
        let completion = Arc::new(Completion::default());
        let told = completion.clone();
        control.on_end(
            0,
            Box::new(move |end| {
                let end = end.clone();
                told.change(|p| p.end = Some(end));
            }),
        );
        let inbox = serves.then(zakuro_channel::Channel::unbounded);
        let job = Job {
            process: Arc::downgrade(&self.process),
            name: file,
            source,
            argv: self.argv,
            objects: self.objects,
            outputs: self.outputs,
            functions: self.functions,
            inbox: inbox.clone(),
            completion: completion.clone(),
        };
        let mut start = Envelope::nil();
        start.attach(Box::new(job));
        self.process.start(&control, start);
        Ok(Vm { control, completion, inbox, captured: self.captured })
    }
}

/// A running (or ended) VM. See the module for what dropping it means.
pub struct Vm {
    control: Arc<VmControl>,
    completion: Arc<Completion>,
    inbox: Option<zakuro_channel::Channel<Envelope>>,
    captured: Option<Arc<Mutex<Vec<u8>>>>,
}

impl std::fmt::Debug for Vm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Vm({} {}, {})", self.control.id, self.control.name, if self.is_alive() { "running" } else { "ended" })
    }
}

impl Vm {
    pub fn name(&self) -> &str {
        &self.control.name
    }
    /// Its number in the process.
    pub fn id(&self) -> u64 {
        self.control.id
    }
    pub fn is_alive(&self) -> bool {
        self.completion.lock().end.is_none()
    }
    /// Waits for the end.
    pub fn join(&self) -> Outcome {
        self.wait(None).unwrap_or(Outcome::Done)
    }
    /// Waits for the end, at most for a time.
    pub fn join_timeout(&self, timeout: Duration) -> Option<Outcome> {
        self.wait(Some(Instant::now() + timeout))
    }
    /// How it ended, if it has.
    pub fn outcome(&self) -> Option<Outcome> {
        self.wait(Some(Instant::now()))
    }
    fn wait(&self, until: Option<Instant>) -> Option<Outcome> {
        self.wait_for(until, |p| {
            let end = p.end.clone()?;
            Some(Outcome::of(end, p.exception.clone()))
        })
    }
    /// Waits until the completion has what is looked for.
    fn wait_for<T>(&self, until: Option<Instant>, mut look: impl FnMut(&mut job::CompletionState) -> Option<T>) -> Option<T> {
        let mut state = self.completion.lock();
        loop {
            if let Some(found) = look(&mut state) {
                return Some(found);
            }
            state = match until {
                None => self.completion.changed.wait(state).unwrap_or_else(|e| e.into_inner()),
                Some(at) => {
                    let left = at.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return None;
                    }
                    self.completion.changed.wait_timeout(state, left).unwrap_or_else(|e| e.into_inner()).0
                }
            };
        }
    }
    /// What the program's last expression gave; waits for it. It is given once.
    pub fn value<T: FromRuby>(&self) -> Result<T, Error> {
        let value = self.wait_for(None, |p| match (p.value.take(), &p.end) {
            (Some(v), _) => Some(v),
            (None, Some(end)) => Some(Err(ended(end.clone(), p.exception.clone()))),
            (None, None) => None,
        });
        T::from_ruby(value.unwrap_or(Err(Error::Closed))?)
    }
    /// Calls a method of the main object of a VM that serves, private ones too, and waits for the answer. Calls are answered one after another.
    pub fn call<T: FromRuby>(&self, method: &str, args: impl Arguments) -> Result<T, Error> {
        self.ask(Call::Method(method.to_owned(), args.into_arguments()), None)
    }
    /// The same with a time limit; the VM works on, and its late answer is dropped.
    pub fn call_timeout<T: FromRuby>(&self, method: &str, args: impl Arguments, timeout: Duration) -> Result<T, Error> {
        self.ask(Call::Method(method.to_owned(), args.into_arguments()), Some(Instant::now() + timeout))
    }
    /// Runs source text at the top level of a VM that serves.
    pub fn eval<T: FromRuby>(&self, source: &str) -> Result<T, Error> {
        self.ask(Call::Eval(source.to_owned()), None)
    }
    fn ask<T: FromRuby>(&self, what: Call, until: Option<Instant>) -> Result<T, Error> {
        let Some(inbox) = &self.inbox else { return Err(Error::Invalid(format!("VM {} was not started to serve", self.name()))) };
        let number = {
            let mut p = self.completion.lock();
            p.last += 1;
            p.last
        };
        let mut message = Envelope::nil();
        message.attach(Box::new(Request { number, what }));
        if inbox.try_send(message).is_err() {
            return Err(self.outcome().map_or(Error::Closed, Error::Ended));
        }
        let answer = self.wait_for(until, |p| match (p.answers.remove(&number), &p.end) {
            (Some(a), _) => Some(a),
            (None, Some(end)) => Some(Err(ended(end.clone(), p.exception.clone()))),
            (None, None) => None,
        });
        let Some(answer) = answer else {
            let mut p = self.completion.lock();
            // It may have come in between.
            if p.answers.remove(&number).is_none() {
                p.dropped.insert(number);
            }
            return Err(Error::TimedOut);
        };
        T::from_ruby(answer?)
    }
    /// What a VM with [`VmBuilder::capture_output`] has written since the last time.
    pub fn output(&self) -> Vec<u8> {
        self.captured.as_ref().map_or(Vec::new(), |kept| std::mem::take(&mut *kept.lock().unwrap_or_else(|e| e.into_inner())))
    }
    /// Lets a VM that serves end when it has answered what was asked. `at_exit` blocks run.
    pub fn close(&self) {
        if let Some(inbox) = &self.inbox {
            inbox.close();
        }
    }
    /// Ends the VM at its next safepoint or wait; `ensure` clauses get the grace time of its limits.
    pub fn kill(&self) {
        self.control.kill();
    }
    /// The same with a grace time of one's own.
    pub fn kill_within(&self, grace: Duration) {
        self.control.kill_within(grace);
    }
}

fn ended(end: zakuro_vm::host::End, exception: Option<Exception>) -> Error {
    Error::Ended(Outcome::of(end, exception))
}

impl Drop for Vm {
    fn drop(&mut self) {
        self.close();
    }
}
