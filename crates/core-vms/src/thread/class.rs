//! Thread: making, waiting for, ending and waking threads.

use super::{deadline, payload};
use zakuro_macros::ruby_class;
use zakuro_vm::thread::{MAIN, State, Thread};
use zakuro_vm::interp::trace::events;
use zakuro_vm::*;

fn start(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
    let block = cx.block_to_proc(args.block).as_value();
    let list = cx.array(args.all());
    let mut t = Thread::new(this, block, list);
    t.keywords = args.kw;
    t.report = Value::bool(cx.threads().report_on_exception);
    t.name = cx.ivar_get(this, Sym::intern("__name"));
    cx.data_init(this, t)?;
    cx.thread_start(this, body)?;
    Ok(this)
}

/// Whether it is the main thread, which has ended and waits for the others to end.
fn is_over(cx: &mut Cx, this: Value) -> Result<bool> {
    Ok(payload(cx, this)?.id == MAIN && cx.is_last())
}

/// Tells traces that a thread begins or ends.
fn thread_event(cx: &mut Cx, thread: Value, kind: u32) -> Result<()> {
    if cx.tracing & kind == 0 { Ok(()) } else { cx.trace_event(kind, Some(thread), None, Value::NIL) }
}

/// What a thread does, on its own stack.
fn body(cx: &mut Cx, this: Value) {
    let Ok(t) = super::payload(cx, this) else { return };
    let (block, args, keywords) = (t.block, t.args, t.keywords);
    // It may have been killed before it began.
    let r = match cx.check_interrupts() {
        Err(Exc) => Err(Exc),
        Ok(()) => match (Ref::<ProcCell>::from_value(block), Ref::<ArrayCell>::from_value(args)) {
            (Some(p), Some(args)) => {
                let args = ArgList::of_array(cx, args);
                match thread_event(cx, this, events::THREAD_BEGIN) {
                    Ok(()) => cx.call_proc(p, &args, keywords, Block::NONE),
                    Err(Exc) => Err(Exc),
                }
            }
            _ => Ok(Value::NIL),
        },
    };
    if cx.is_main_by_fork() {
        zakuro_core_system::process::fork::end(cx, r);
    }
    let r = match r {
        Ok(v) => zakuro_core_system::fiber_scheduler::finish(cx).map(|()| v),
        Err(Exc) => {
            // The scheduler sees in `$!` what ends the thread.
            let e = cx.take_pending();
            cx.errinfo = if e.is_kind(Kind::Exception) { e } else { Value::NIL };
            let _ = zakuro_core_system::fiber_scheduler::finish(cx);
            cx.pending = e;
            Err(Exc)
        }
    };
    let r = match r {
        Ok(v) => thread_event(cx, this, events::THREAD_END).map(|()| v),
        Err(Exc) => {
            let e = cx.take_pending();
            if thread_event(cx, this, events::THREAD_END).is_ok() {
                cx.pending = e;
            }
            Err(Exc)
        }
    };
    match r {
        Ok(v) => {
            if let Ok(t) = payload(cx, this) {
                t.result = v;
            }
        }
        Err(Exc) => {
            let e = cx.take_pending();
            if e.is_kind(Kind::Exception) {
                if let Ok(t) = payload(cx, this) {
                    t.error = e;
                }
                failed(cx, this, e);
            }
        }
    }
    cx.pending = Value::NIL;
    let mut held = RootedVec::new(cx);
    if let Ok(t) = payload(cx, this) {
        held.extend_from_slice(&t.held);
        t.held.clear();
    }
    for m in held.iter().copied() {
        super::lock::abandon(cx, m);
    }
}

/// An exception ended a thread: reports it, or passes it to the main thread.
fn failed(cx: &mut Cx, thread: Value, e: Value) {
    let exit = cx.is_a(e, ids::SYSTEM_EXIT);
    if !exit && payload(cx, thread).is_ok_and(|t| t.report.truthy()) {
        cx.errinfo = Value::NIL;
        if report(cx, thread, e).is_err() {
            cx.take_pending();
        }
    }
    if exit || payload(cx, thread).is_ok_and(|t| t.abort) || cx.threads().abort_on_exception || cx.is_debugging() {
        let main = cx.threads().main().object;
        if cx.thread_interrupt(main, e).is_err() {
            cx.take_pending();
        }
    }
}

fn report(cx: &mut Cx, thread: Value, e: Value) -> Result<()> {
    let name = cx.inspect_text(thread)?;
    let text = zakuro_core_base::exception::full_message(cx, e, false)?;
    let mut line = format!("{name} terminated with exception (report_on_exception is true):\n").into_bytes();
    line.extend_from_slice(&text);
    let line = cx.str_auto(&line);
    let err = cx.global_get(sym::stderr)?;
    cx.call(err, sym::write, &[line])?;
    Ok(())
}

/// Waits for the end of a thread; false when the time is over first.
fn wait_end(cx: &mut Cx, this: Value, limit: Option<Value>) -> Result<bool> {
    let me = cx.threads().current().id;
    let id = payload(cx, this)?.id;
    if id == me {
        return cx.raise(ids::THREAD_ERROR, "Target thread must not be current thread");
    }
    if id == zakuro_vm::thread::MAIN {
        return cx.raise(ids::THREAD_ERROR, "Target thread must not be main thread");
    }
    let until = deadline(cx, limit)?;
    let me = cx.waiter_id();
    cx.waits_for(account::WaitKind::Thread, u64::from(id));
    let ended = cx.wait_inside(this, until, |cx| {
        let t = payload(cx, this)?;
        if !t.alive() {
            return Ok(Some(()));
        }
        if !t.joiners.contains(&me) {
            t.joiners.push(me);
        }
        Ok(None)
    });
    if !matches!(ended, Ok(Some(()))) {
        payload(cx, this)?.joiners.retain(|id| *id != me);
    }
    if ended?.is_none() {
        return Ok(false);
    }
    let error = payload(cx, this)?.error;
    if error.is_nil() { Ok(true) } else { cx.raise_value(error) }
}

/// Where the block of a thread stands: " file:line", empty for the main thread.
fn place(cx: &mut Cx, block: Value) -> String {
    match cx.block_code(Block::from_value(block)) {
        Some(c) => format!(" {}:{}", c.file, c.line),
        None => String::new(),
    }
}

fn kill(cx: &mut Cx, this: Value) -> Result<Value> {
    let t = payload(cx, this)?;
    if t.id == zakuro_vm::thread::MAIN {
        let class = cx.class_value(ids::SYSTEM_EXIT);
        let message = cx.str("exit");
            let e = cx.call(class, sym::new, &[Value::fixnum(0), message])?;
        return cx.raise_value(e);
    }
    cx.thread_kill(this)?;
    Ok(this)
}

/// The part of a backtrace that `start` and `length`, or a Range, ask for.
pub(crate) fn part(cx: &mut Cx, all: Value, start: Option<Value>, length: Option<Value>) -> Result<Value> {
    let Some(start) = start else { return Ok(all) };
    if start.is_kind(Kind::Range) {
        return cx.call(all, sym::aref, &[start]);
    }
    let from = cx.to_i64(start)?;
    if from < 0 {
        return cx.arg_error(format!("negative level ({from})"));
    }
    let n = match length {
        None | Some(Value::NIL) => i64::from(u32::MAX),
        Some(l) => cx.to_i64(l)?,
    };
    if n < 0 {
        return cx.arg_error(format!("negative size ({n})"));
    }
    let (from, n) = (cx.int(from), cx.int(n));
    cx.call(all, sym::aref, &[from, n])
}

/// The threads of Ruby.
#[ruby_class(ids::THREAD)]
pub mod thread {
    use super::*;

    /// A new thread that runs the block with the arguments.
    ///
    ///     Thread.new(2) { |x| x + 1 }.value   #=> 3
    #[method("new", singleton)]
    fn new(cx: &mut Cx, this: ClassId, args: Args) -> Result<Value> {
        let object = zakuro_core_base::allocate::allocate(cx, this)?;
        cx.call_full(object, sym::initialize, args.all(), args.kw, args.block)?;
        if !cx.is_data::<Thread>(object) {
            let name = cx.class_name(this);
            return cx.raise(ids::THREAD_ERROR, format!("uninitialized thread - check '{name}#initialize'"));
        }
        Ok(object)
    }

    /// As `new`, without calling `initialize` of a subclass.
    ///
    ///     Thread.start { :done }.value   #=> :done
    #[method("start", "fork", singleton)]
    fn start_(cx: &mut Cx, this: ClassId, args: Args) -> Result<Value> {
        if args.block.is_none() {
            return cx.arg_error("tried to create Proc object without a block");
        }
        let object = zakuro_core_base::allocate::allocate(cx, this)?;
        start(cx, object, args)
    }

    /// A thread that runs the block with the arguments; ThreadError without a block.
    ///
    ///     Thread.new(1) { |n| n + 1 }.value   #=> 2
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        if args.block.is_none() {
            return cx.raise(ids::THREAD_ERROR, "must be called with a block");
        }
        if cx.is_data::<Thread>(this) {
            return cx.raise(ids::THREAD_ERROR, "already initialized thread");
        }
        let group = cx.threads().current().group;
        if group.is_cell() && group.flags() & flags::FROZEN != 0 {
            return cx.raise(ids::THREAD_ERROR, "can't start a new thread (frozen ThreadGroup)");
        }
        start(cx, this, args)
    }

    /// The running thread.
    ///
    ///     Thread.current.status   #=> "run"
    #[method("current", singleton)]
    fn current(cx: &mut Cx, _this: Value) -> Value {
        cx.current_thread()
    }

    /// The thread that the program began in.
    ///
    ///     Thread.main == Thread.current   #=> true
    #[method("main", singleton)]
    fn main(cx: &mut Cx, _this: Value) -> Value {
        cx.threads().main().object
    }

    /// Is this the main thread?
    ///
    ///     Thread.current.main?   #=> true
    #[method("main?")]
    fn is_main(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(payload(cx, this)?.id == zakuro_vm::thread::MAIN)
    }

    /// All threads that are alive.
    ///
    ///     Thread.list.size   #=> 1
    #[method("list", singleton)]
    fn list(cx: &mut Cx, _this: Value) -> Value {
        let l = cx.live_threads();
        cx.array(&l)
    }

    /// Lets other threads run.
    ///
    ///     Thread.pass   #=> nil
    #[method("pass", singleton)]
    fn pass(cx: &mut Cx, _this: Value) -> Result<()> {
        cx.thread_pass()
    }

    /// Sleeps until somebody calls `wakeup` or `run`: the whole thread, under a fiber scheduler, too.
    ///
    ///     t = Thread.new { Thread.stop; 1 }; Thread.pass until t.stop?; t.run; t.value   #=> 1
    #[method("stop", singleton)]
    fn stop(cx: &mut Cx, _this: Value) -> Result<Value> {
        if cx.threads().count() == 1 {
            return cx.raise(ids::THREAD_ERROR, "stopping only thread\n\tnote: use sleep to stop forever");
        }
        cx.stop_thread()?;
        Ok(Value::NIL)
    }

    /// Ends the running thread.
    ///
    ///     Thread.new { Thread.exit; 1 }.value   #=> nil
    #[method("exit", singleton)]
    fn exit(cx: &mut Cx, _this: Value) -> Result<Value> {
        let me = cx.current_thread();
        kill(cx, me)
    }

    /// Ends another thread.
    ///
    ///     t = Thread.new { sleep }; Thread.kill(t).join.alive?   #=> false
    #[method("kill", singleton)]
    fn kill_other(cx: &mut Cx, _this: Value, thread: Value) -> Result<Value> {
        if !cx.is_data::<Thread>(thread) {
            let what = cx.describe_for_conversion(thread);
            return cx.type_error(format!("wrong argument type {what} (expected VM/thread)"));
        }
        kill(cx, thread)
    }

    /// Ends the thread; `ensure` clauses run.
    ///
    ///     a = []; t = Thread.new { begin; sleep; ensure; a << 1; end }; Thread.pass; t.kill.join; a   #=> [1]
    #[method("kill", "exit", "terminate")]
    fn kill_(cx: &mut Cx, this: Value) -> Result<Value> {
        kill(cx, this)
    }

    /// Raises an exception in the thread.
    ///
    ///     t = Thread.new { begin; sleep; rescue => e; e.message; end }; Thread.pass; t.raise("x"); t.value   #=> "x"
    #[method("raise")]
    fn raise(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let t = payload(cx, this)?;
        if !t.alive() {
            return Ok(Value::NIL);
        }
        let e = if args.is_empty() {
            cx.exception(ids::RUNTIME_ERROR, "")
        } else {
            zakuro_core_program::kernel::raise::make_exception(cx, args)?
        };
        // The cause is what the caller is handling, not what the thread happens to.
        let cause = zakuro_vm::raise::hidden::cause();
        if !cx.ivar_defined(e, cause) && cx.errinfo != e {
            let handled = cx.errinfo;
            cx.ivar_set_raw(e, cause, handled);
        }
        let running = cx.thread_id();
        let t = payload(cx, this)?;
        if t.id == running {
            if t.masks.is_empty() {
                return cx.raise_value(e);
            }
            t.pending.push_back(e);
            cx.check_interrupts()?;
            return Ok(Value::NIL);
        }
        cx.thread_interrupt(this, e)?;
        Ok(Value::NIL)
    }

    /// Waits for the thread's end, at most so many seconds: nil when it still runs then. An exception that ended the thread is raised here.
    ///
    ///     Thread.new { 1 }.join.alive?   #=> false
    #[method("join")]
    fn join(cx: &mut Cx, this: Value, limit: Option<Value>) -> Result<Option<Value>> {
        Ok(wait_end(cx, this, limit)?.then_some(this))
    }

    /// Waits for the thread's end; what its block returned.
    ///
    ///     Thread.new { 6 * 7 }.value   #=> 42
    #[method("value")]
    fn value(cx: &mut Cx, this: Value) -> Result<Value> {
        wait_end(cx, this, None)?;
        Ok(payload(cx, this)?.result)
    }

    /// Has it not ended?
    ///
    ///     Thread.new {}.join.alive?   #=> false
    #[method("alive?")]
    fn alive(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(!is_over(cx, this)? && payload(cx, this)?.alive())
    }

    /// "run", "sleep", "aborting"; false after a normal end, nil after an exception.
    ///
    ///     t = Thread.new { Thread.stop }; Thread.pass until t.stop?; [t.status, t.kill.join.status]   #=> ["sleep", false]
    #[method("status")]
    fn status(cx: &mut Cx, this: Value) -> Result<Value> {
        if is_over(cx, this)? {
            return Ok(Value::FALSE);
        }
        let t = payload(cx, this)?;
        if !t.alive() {
            return Ok(if t.error.is_nil() { Value::FALSE } else { Value::NIL });
        }
        let state = match t.state {
            State::Waiting => "sleep",
            _ if t.dying => "aborting",
            _ => "run",
        };
        Ok(cx.str(state))
    }

    /// Does it sleep, or has it ended?
    ///
    ///     Thread.current.stop?   #=> false
    #[method("stop?")]
    fn is_stopped(cx: &mut Cx, this: Value) -> Result<bool> {
        let t = payload(cx, this)?;
        Ok(!t.alive() || t.state == State::Waiting)
    }

    /// Ends the sleep of the thread.
    ///
    ///     t = Thread.new { sleep; :up }; Thread.pass until t.stop?; t.wakeup; t.value   #=> :up
    #[method("wakeup")]
    fn wakeup(cx: &mut Cx, this: Value) -> Result<Value> {
        let t = payload(cx, this)?;
        if !t.alive() {
            return cx.raise(ids::THREAD_ERROR, "killed thread");
        }
        let id = t.id;
        cx.wake_sleeper(id);
        Ok(this)
    }

    /// Ends the sleep of the thread and lets it run.
    ///
    ///     t = Thread.new { Thread.stop; :ran }; Thread.pass until t.stop?; t.run; t.value   #=> :ran
    #[method("run")]
    fn run(cx: &mut Cx, this: Value) -> Result<Value> {
        wakeup(cx, this)?;
        cx.thread_pass()?;
        Ok(this)
    }

    /// Lines of its backtrace; nil after its end.
    ///
    ///     Thread.new {}.join.backtrace   #=> nil
    #[method("backtrace")]
    fn backtrace(cx: &mut Cx, this: Value, start: Option<Value>, length: Option<Value>) -> Result<Value> {
        if !payload(cx, this)?.alive() {
            return Ok(Value::NIL);
        }
        let list = cx.thread_locations(this)?;
        let lines: Vec<String> = list.iter().map(|l| l.to_string()).collect();
        let all = cx.str_array(&lines);
        part(cx, all, start, length)
    }

    /// Levels of its backtrace as objects; nil after its end.
    ///
    ///     Thread.new {}.join.backtrace_locations   #=> nil
    #[method("backtrace_locations")]
    fn backtrace_locations(cx: &mut Cx, this: Value, start: Option<Value>, length: Option<Value>) -> Result<Value> {
        if !payload(cx, this)?.alive() {
            return Ok(Value::NIL);
        }
        let list = cx.thread_locations(this)?;
        let all = zakuro_core_base::exception::location::locations_value(cx, list);
        part(cx, all, start, length)
    }

    /// Threads are made by `new`, `start` and `fork` only.
    ///
    ///     (Thread.allocate rescue $!.message)   #=> "allocator undefined for Thread"
    #[method("allocate", singleton)]
    fn allocate(cx: &mut Cx, this: ClassId) -> Result<Value> {
        let name = cx.class_name(this);
        cx.type_error(format!("allocator undefined for {name}"))
    }

    /// Is the check for deadlocks off?
    ///
    ///     Thread.ignore_deadlock   #=> false
    #[method("ignore_deadlock", singleton)]
    fn ignore_deadlock(cx: &mut Cx, _this: Value) -> bool {
        cx.threads().ignore_deadlock
    }

    /// Switches the check for deadlocks off: for programs that a signal handler wakes.
    #[method("ignore_deadlock=", singleton)]
    fn set_ignore_deadlock(cx: &mut Cx, _this: Value, on: bool) -> bool {
        cx.threads().ignore_deadlock = on;
        if let Some(host) = &cx.host {
            host.control.ignores_deadlock.store(on, std::sync::atomic::Ordering::Relaxed);
        }
        on
    }

    /// Name, place of the block and state.
    #[method("inspect", "to_s")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<Value> {
        let is_over = is_over(cx, this)?;
        let t = payload(cx, this)?;
        let state = match t.state {
            _ if is_over => "dead",
            State::Dead | State::Created => "dead",
            State::Waiting if t.forever => "sleep_forever",
            State::Waiting => "sleep",
            _ if t.dying => "aborting",
            _ => "run",
        };
        // Without a name it is bytes.
        let unnamed = t.name.is_nil();
        let name = match Ref::<StringCell>::from_value(t.name) {
            Some(n) => format!("@{}", n.to_text()),
            None => String::new(),
        };
        let block = t.block;
        let shown = cx.any_to_s(this);
        let encoding = if unnamed && shown.is_ascii() { string::BINARY } else { string::UTF8 };
        let place = place(cx, block);
        let text = format!("{}{name}{place} {state}>", shown.trim_end_matches('>'));
        Ok(cx.str_bytes(text.as_bytes(), encoding))
    }

    /// A number for the thread, as the system would give it.
    ///
    ///     Thread.current.native_thread_id.class   #=> Integer
    #[method("native_thread_id")]
    fn native_thread_id(cx: &mut Cx, this: Value) -> Result<Option<i64>> {
        let t = payload(cx, this)?;
        Ok(t.alive().then_some(std::process::id() as i64 + t.id as i64 - 1))
    }
}
