//! What a VM of the embedding API runs: a [`Job`] that comes with its start message, in place of a command line.
//!
//! It sets the VM up (streams, host functions, ARGV), runs the program, and, for a VM that serves, answers calls until the host closes its
//! inbox. Calls come as [`Request`]s beside empty messages: their values are trees already, no packing is needed.

use super::error::{Error, Exception};
use super::translate::{Reader, build};
use super::value::Value;
use crate::Process;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, Weak};
use zakuro_bytecode::Code;
use zakuro_compiler::Options as CompileOptions;
use zakuro_corelib::vm_api::host::{HostFunction, OutputSink};
use zakuro_vm::channels::RecvOutcome;
use zakuro_vm::transfer::Envelope;
use zakuro_vm::{ArrayCell, Cx, Kind, Ref, Result, RootedVec, Sym, ThrowCell, Value as Cell, ids, sym};

/// A function of the host that Ruby can call.
pub type Callback = Box<dyn Fn(Vec<Value>) -> std::result::Result<Value, Error> + Send + Sync>;

/// Where answers and the end are left. Locked shortly by the VM's worker and by host threads that wait.
#[derive(Default)]
pub struct Completion {
    pub state: Mutex<CompletionState>,
    pub changed: Condvar,
}

#[derive(Default)]
pub struct CompletionState {
    /// Number of the last request.
    pub last: u64,
    /// Answers by request, until the caller takes them.
    pub answers: HashMap<u64, std::result::Result<Value, Error>>,
    /// Requests whose callers have stopped waiting.
    pub dropped: std::collections::HashSet<u64>,
    /// What the program's last expression gave.
    pub value: Option<std::result::Result<Value, Error>>,
    /// The exception that ended the VM, with its backtrace.
    pub exception: Option<Exception>,
    pub end: Option<zakuro_vm::host::End>,
}

impl Completion {
    pub fn lock(&self) -> std::sync::MutexGuard<'_, CompletionState> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
    pub fn change(&self, f: impl FnOnce(&mut CompletionState)) {
        f(&mut self.lock());
        self.changed.notify_all();
    }
}

/// A call on its way to a VM.
pub struct Request {
    pub number: u64,
    pub what: Call,
}

pub enum Call {
    /// A method of the main object, private ones too.
    Method(String, Vec<Value>),
    /// Source text, run at top level.
    Eval(String),
}

/// See the module.
pub struct Job {
    pub process: Weak<Process>,
    pub name: String,
    pub source: Vec<u8>,
    pub argv: Vec<String>,
    pub objects: Vec<Value>,
    /// For `$stdout` and `$stderr`.
    pub outputs: [Option<OutputSink>; 2],
    pub functions: Vec<(String, Callback)>,
    /// Calls come here; None: the VM ends after its program.
    pub inbox: Option<zakuro_channel::Channel<Envelope>>,
    pub completion: Arc<Completion>,
}

impl Job {
    /// The job in a start message.
    pub fn take(args: &mut Envelope) -> Option<Job> {
        match args.detach()?.downcast::<Job>() {
            Ok(job) => Some(*job),
            Err(other) => {
                args.attach(other);
                None
            }
        }
    }
    pub fn run(self, cx: &mut Cx) -> Result<Cell> {
        let completion = self.completion.clone();
        let result = self.work(cx);
        let e = cx.pending;
        if result.is_err() && e.is_kind(Kind::Exception) {
            let exception = describe(cx, e);
            cx.pending = e;
            completion.change(|p| p.exception = Some(exception));
        }
        result
    }
    fn work(self, cx: &mut Cx) -> Result<Cell> {
        let Job { process, name, source, argv, objects, outputs, functions, inbox, completion } = self;
        for (n, sink) in outputs.into_iter().enumerate() {
            if let Some(sink) = sink {
                zakuro_corelib::vm_api::host::redirect(cx, n + 1, sink)?;
            }
        }
        for (name, f) in functions {
            let process = process.clone();
            let call = move |cx: &mut Cx, args: &[Cell]| host_call(cx, &process, &f, args);
            zakuro_corelib::vm_api::host::define(cx, Sym::intern(&name), HostFunction(Arc::new(call)))?;
        }
        #[cfg(test)]
        super::marking_tests::prepare(cx)?;
        let argv: Vec<Vec<u8>> = argv.into_iter().map(String::into_bytes).collect();
        zakuro_corelib::vm_api::birth::arguments(cx, &argv);
        let list = cx.new_array();
        for object in objects {
            match build(cx, object, 0) {
                Ok(v) => ArrayCell::push(list, &mut cx.heap, v),
                Err(e) => return cx.arg_error(e.to_string()),
            }
        }
        zakuro_corelib::vm_api::birth::set_start_objects(cx, list.as_value());
        cx.script.clone_from(&name);
        zakuro_corelib::command_line(cx);
        let code = compile(cx, &name, &source, true)?;
        drop(source);
        let last = cx.run_program(&code, None)?;
        let value = Reader::new(cx, process.upgrade()).read(last)?;
        completion.change(|p| p.value = Some(value));
        let Some(inbox) = inbox else { return Ok(Cell::NIL) };
        loop {
            // A kill that came before the first turn left no wake-up.
            cx.check_interrupts()?;
            match cx.channel_recv(&inbox, None)? {
                RecvOutcome::Got(mut message) => {
                    let Some(Ok(request)) = message.detach().map(|l| l.downcast::<Request>()) else { continue };
                    let number = request.number;
                    let answer = match answer(cx, &process, request.what) {
                        Ok(answer) => answer,
                        Err(e) => {
                            let raised = cx.pending;
                            if ends_vm(cx, raised) {
                                return Err(e);
                            }
                            let raised = cx.take_pending();
                            Err(Error::Exception(describe(cx, raised)))
                        }
                    };
                    completion.change(|p| {
                        if !p.dropped.remove(&number) {
                            p.answers.insert(number, answer);
                        }
                    });
                }
                _ => return Ok(Cell::NIL),
            }
        }
    }
}

fn compile(cx: &mut Cx, file: &str, source: &[u8], main_script: bool) -> Result<Arc<Code>> {
    let options = CompileOptions {
        file,
        line: 1,
        encoding: zakuro_corelib::encoding::source_encoding(cx),
        frozen_string_literal: cx.options.frozen_string_literal,
        literal_places: cx.options.literal_places,
        main_script,
        ..Default::default()
    };
    match zakuro_vm::codecache::compile(cx, source, &options)? {
        Ok(compiled) => Ok(compiled.code),
        Err(e) => zakuro_corelib::kernel::eval::syntax_error(cx, &e),
    }
}

/// Whether what was raised is meant for the VM, not for the caller.
fn ends_vm(cx: &Cx, raised: Cell) -> bool {
    Ref::<ThrowCell>::from_value(raised).is_some()
        || cx.life.stop.is_some()
        || cx.is_a(raised, ids::SYSTEM_EXIT)
        || !cx.is_a(raised, ids::EXCEPTION)
}

/// Err(Exc): Ruby code raised.
fn answer(cx: &mut Cx, process: &Weak<Process>, what: Call) -> Result<std::result::Result<Value, Error>> {
    let v = match what {
        Call::Method(name, args) => {
            let mut cells = RootedVec::new(cx);
            for arg in args {
                match build(cx, arg, 0) {
                    Ok(v) => cells.push(v),
                    Err(e) => return Ok(Err(e)),
                }
            }
            let main = cx.main;
            cx.call_private(main, Sym::intern(&name), &cells)?
        }
        Call::Eval(text) => {
            let code = compile(cx, "(host)", text.as_bytes(), false)?;
            cx.run_program(&code, None)?
        }
    };
    Reader::new(cx, process.upgrade()).read(v)
}

/// Ruby calls a function of the host.
fn host_call(cx: &mut Cx, process: &Weak<Process>, f: &Callback, args: &[Cell]) -> Result<Cell> {
    let args = RootedVec::from_slice(cx, args);
    let mut values = Vec::with_capacity(args.len());
    for i in 0..args.len() {
        match Reader::new(cx, process.upgrade()).read(args[i])? {
            Ok(v) => values.push(v),
            Err(e) => return cx.type_error(e.to_string()),
        }
    }
    // The host's function may take its time: the worker's other VMs go on.
    let result = zakuro_sched::blocking(|| f(values));
    match result {
        Ok(v) => match build(cx, v, 0) {
            Ok(v) => Ok(v),
            Err(e) => cx.type_error(e.to_string()),
        },
        Err(Error::Exception(e)) => cx.raise(ids::RUNTIME_ERROR, e.message),
        Err(Error::Convert(text)) => cx.type_error(text),
        Err(e) => cx.raise(ids::RUNTIME_ERROR, e.to_string()),
    }
}

/// What is to be told of an exception. Methods of its class may raise themselves: then less is told.
fn describe(cx: &mut Cx, e: Cell) -> Exception {
    let class = cx.class_name_of(e);
    let message = match cx.call(e, sym::message, &[]).and_then(|m| cx.to_s_text(m)) {
        Ok(m) => m,
        Err(_) => {
            cx.take_pending();
            String::new()
        }
    };
    let backtrace = match cx.call(e, Sym::intern("backtrace"), &[]) {
        Ok(list) => Ref::<ArrayCell>::from_value(list).map_or(Vec::new(), |a| {
            let texts = a.elements(&cx.heap).iter().filter_map(|v| Ref::<zakuro_vm::StringCell>::from_value(*v));
            texts.map(|s| s.to_text()).collect()
        }),
        Err(_) => {
            cx.take_pending();
            Vec::new()
        }
    };
    let report = match zakuro_corelib::exception::full_message(cx, e, false) {
        Ok(text) => String::from_utf8_lossy(&text).into_owned(),
        Err(_) => {
            cx.take_pending();
            format!("{message} ({class})\n")
        }
    };
    Exception { class, message, backtrace, report }
}
