//! TracePoint: a program watches itself run. Where events come from is `zakuro_vm::interp::trace`; this is who gets them.
//!
//! While a trace's block runs in a thread, that thread tells no events. `enable` and `disable` are Ruby (prelude/trace_point.rb): returning to a
//! frame from Ruby code takes it over to the marked instructions, so that the lines after `enable` are seen.

use crate::proc::binding;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::interp::trace::{Event, Tracing, events};
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[trace_point::METHODS];
pub fn setup(_cx: &mut Cx) {}

/// (name of the event, kind)
const NAMES: &[(&str, u32)] = &[
    ("line", events::LINE),
    ("class", events::CLASS),
    ("end", events::END),
    ("call", events::CALL),
    ("return", events::RETURN),
    ("c_call", events::C_CALL),
    ("c_return", events::C_RETURN),
    ("raise", events::RAISE),
    ("b_call", events::B_CALL),
    ("b_return", events::B_RETURN),
    ("thread_begin", events::THREAD_BEGIN),
    ("thread_end", events::THREAD_END),
    ("fiber_switch", events::FIBER_SWITCH),
    ("script_compiled", events::SCRIPT_COMPILED),
    ("rescue", events::RESCUE),
    ("__literal", events::LITERAL),
    ("a_call", events::CALL | events::C_CALL | events::B_CALL),
    ("a_return", events::RETURN | events::C_RETURN | events::B_RETURN),
];
const ALL: u32 = 0x7fff;

/// Payload of a TracePoint.
#[derive(Trace)]
pub struct Point {
    events: u32,
    block: Value,
    enabled: bool,
    /// Codes (by address) that it is confined to.
    codes: Option<Vec<usize>>,
    line: Option<u32>,
    /// The method that it is confined to, if others may be defined by the same block; else nil.
    method: Value,
    /// Number of the thread that it is confined to.
    thread: Option<u32>,
    /// It is a function's of `Thread#set_trace_func`.
    of_thread: bool,
    /// What is being told, while the block runs.
    event: Option<Event>,
}
impl NativeData for Point {}

/// The enabled TracePoints of a VM.
#[derive(Trace)]
struct Points {
    list: TracedVec,
    /// Threads in which a trace's block runs.
    busy: Vec<u32>,
    /// The one of `set_trace_func`.
    function: Value,
}
impl Default for Points {
    fn default() -> Points {
        Points { list: TracedVec::new(), busy: Vec::new(), function: Value::NIL }
    }
}
impl VmState for Points {}

/// What a trace of some code is not told: calls that it makes of builtins, and what is raised.
const NEVER_IN_CODE: u32 = events::C_CALL | events::C_RETURN | events::RAISE;

/// Tells an event to the traces that want it.
pub fn tell(cx: &mut Cx, event: &Event) -> Result<()> {
    let thread = cx.thread_id();
    if cx.state::<Points>().busy.contains(&thread) {
        return Ok(());
    }
    // The traces' own methods are not seen, but for what CRuby has in Ruby; the end of what switched one on is none that was entered then.
    if let Some(m) = Ref::<MethodCell>::from_value(event.me)
        && is_trace_points(cx, m.owner)
        && event.kind != events::LINE
        && (!event.in_ruby || event.kind == events::RETURN && &*m.name.name() == "enable")
    {
        return Ok(());
    }
    // The newest first; those of everything before those of some code.
    cx.state::<Points>().busy.push(thread);
    let mut list = RootedVec::new(cx);
    list.extend(cx.state::<Points>().list.iter().rev());
    let mut result = Ok(());
    for i in 0..list.len() * 2 {
        let p = list[i % list.len()];
        if cx.data_ref::<Point>(p)?.codes.is_some() != (i >= list.len()) {
            continue;
        }
        if let Err(Exc) = tell_one(cx, p, event, thread) {
            result = Err(Exc);
            break;
        }
    }
    cx.state::<Points>().busy.retain(|t| *t != thread);
    result
}

/// Whether a class is TracePoint, or its singleton class.
fn is_trace_points(cx: &Cx, owner: ClassId) -> bool {
    owner == ids::TRACE_POINT || cx.class(ids::TRACE_POINT).singleton == Some(owner)
}

fn tell_one(cx: &mut Cx, p: Value, event: &Event, thread: u32) -> Result<()> {
    let d = cx.data_mut::<Point>(p)?;
    let elsewhere = d.thread.is_some_and(|t| t != thread) || d.line.is_some_and(|l| l != event.line);
    if !d.enabled || d.events & event.kind == 0 || elsewhere {
        return Ok(());
    }
    if let Some(codes) = &d.codes {
        // SAFETY: code states live while their frames do.
        let at = if event.code.is_null() { 0 } else { unsafe { std::sync::Arc::as_ptr(&(*event.code).code) as usize } };
        let other = !d.method.is_nil() && event.kind & (events::CALL | events::RETURN) != 0 && event.me != d.method;
        if !codes.contains(&at) || other || event.kind & NEVER_IN_CODE != 0 || event.in_ruby {
            return Ok(());
        }
    }
    let outer = d.event.replace(event.clone());
    let block = Block::from_value(d.block);
    let r = cx.yield1(block, p);
    cx.data_mut::<Point>(p)?.event = outer;
    r.map(|_| ())
}

/// Forgets the functions of threads that have ended. Whether there were any.
fn prune(cx: &mut Cx) -> Result<bool> {
    let mut list = RootedVec::new(cx);
    list.extend(&cx.state::<Points>().list);
    let mut ended = RootedVec::new(cx);
    for p in list.iter().copied() {
        let d = cx.data_ref::<Point>(p)?;
        if let Some(id) = d.thread.filter(|_| d.of_thread)
            && !cx.threads().get(id).is_some_and(|t| t.alive())
        {
            cx.data_mut::<Point>(p)?.enabled = false;
            ended.push(p);
        }
    }
    cx.state::<Points>().list.retain(|p| !ended.contains(p));
    Ok(!ended.is_empty())
}

/// Puts the enabled traces together into force.
fn apply(cx: &mut Cx) -> Result<()> {
    let mut list = RootedVec::new(cx);
    list.extend(&cx.state::<Points>().list);
    let mut t = Tracing::default();
    for p in list.iter().copied() {
        let d = cx.data_ref::<Point>(p)?;
        match &d.codes {
            None => t.everywhere |= d.events,
            Some(codes) => codes.iter().for_each(|c| *t.codes.entry(*c).or_insert(0) |= d.events & !NEVER_IN_CODE),
        }
    }
    cx.set_tracing(t);
    Ok(())
}

/// Addresses of a Code and those in it; lines at which statements begin.
fn nested(code: &zakuro_bytecode::Code, out: &mut Vec<usize>, lines: &mut Vec<u32>) {
    out.push(code as *const _ as usize);
    lines.extend(code.statements.iter().map(|s| s.1));
    code.children.iter().filter(|c| !c.of_symbol).for_each(|c| nested(c, out, lines));
}

/// Name of a single kind.
fn name_of(kind: u32) -> &'static str {
    NAMES.iter().find(|(_, k)| *k == kind).map_or("unknown", |(n, _)| n)
}

#[ruby_class(ids::TRACE_POINT)]
mod trace_point {
    use super::*;

    /// A trace of the named events (of all, when none is named), not enabled yet. The block gets the TracePoint itself.
    ///
    ///     r = []; def tp_doc = 1; TracePoint.new(:call) { r << _1.method_id }.enable { tp_doc }; r   #=> [:tp_doc]
    #[method("initialize", min = 0)]
    fn initialize(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let mut kinds = 0;
        for &v in args.all() {
            let name = match v.as_sym().or(cx.try_str(v)?.map(|s| Sym::intern_in(s.content(&cx.heap), s.encoding()))) {
                Some(s) => s,
                None => match cx.call_if_responds(v, Sym::intern("to_sym"), &[])?.and_then(Value::as_sym) {
                    Some(s) => s,
                    None => return cx.type_error("wrong argument type (expected symbol)"),
                },
            };
            match NAMES.iter().find(|(n, _)| n.as_bytes() == name.bytes()) {
                Some((_, k)) => kinds |= k,
                None => return cx.arg_error(format!("unknown event: {}", name.name())),
            }
        }
        if args.block.is_none() {
            return cx.arg_error("must be called with a block");
        }
        let block = cx.block_to_proc(args.block).as_value();
        let events = if kinds == 0 { ALL } else { kinds };
        cx.data_init(this, Point { events, block, enabled: false, codes: None, line: None, method: Value::NIL, thread: None, of_thread: false, event: None })?;
        Ok(this)
    }
    /// Enables the trace; true when it was already. Target: a Method, Proc or InstructionSequence (nil: everything).
    #[method("__enable", private)]
    fn enable(cx: &mut Cx, this: Value, target: Value, line: Value, thread: Value) -> Result<bool> {
        let d = cx.data_ref::<Point>(this)?;
        let (was, kinds, confined) = (d.enabled, d.events, d.codes.is_some());
        let mut codes = None;
        let method = match Ref::<MethodObjCell>::from_value(target) {
            Some(o) if Ref::<MethodCell>::of(o.method).method_kind() == MethodKind::Proc => o.method,
            _ => Value::NIL,
        };
        if !target.is_nil() {
            if was {
                return cx.arg_error("can't nest-enable a targeting TracePoint");
            }
            let Some(code) = code_of(cx, target) else {
                return cx.arg_error("specified target is not supported");
            };
            let (mut all, mut lines) = (Vec::new(), Vec::new());
            nested(&code, &mut all, &mut lines);
            if !line.is_nil() {
                let n = cx.to_i64(line)?;
                if kinds & events::LINE == 0 {
                    return cx.arg_error("target_line is specified, but line event is not specified");
                }
                if !lines.iter().any(|l| *l as i64 == n) {
                    return cx.arg_error("can not enable any hooks");
                }
            }
            let own = match code.kind {
                zakuro_bytecode::CodeKind::Method => events::CALL | events::RETURN,
                // A Proc is called as a method only when one was defined by it.
                _ if target.is_kind(Kind::Proc) => events::B_CALL | events::B_RETURN,
                _ => events::B_CALL | events::B_RETURN | events::CALL | events::RETURN,
            };
            let anywhere = events::C_CALL | events::C_RETURN | events::RAISE | events::RESCUE | events::B_CALL | events::B_RETURN;
            let lines = if lines.is_empty() { 0 } else { events::LINE };
            if kinds & (own | anywhere | lines) == 0 {
                return cx.arg_error("can not enable any hooks");
            }
            codes = Some((all, code));
        } else if !line.is_nil() {
            return cx.arg_error("only target_line is specified");
        } else if was && confined {
            return cx.arg_error("can't nest-enable a targeting TracePoint");
        }
        let line = if line.is_nil() { None } else { Some(cx.to_i64(line)? as u32) };
        let thread = if thread.is_nil() { None } else { Some(cx.data_ref::<zakuro_vm::thread::Thread>(thread)?.id) };
        if was {
            return Ok(true);
        }
        if let Some((_, code)) = &codes {
            cx.keep_code(code);
        }
        let d = cx.data_mut::<Point>(this)?;
        d.codes = codes.map(|c| c.0);
        d.method = method;
        d.line = line;
        d.thread = thread;
        d.enabled = true;
        cx.state::<Points>().list.push(this);
        apply(cx)?;
        Ok(false)
    }
    /// Disables the trace; true when it was enabled.
    #[method("__disable", private)]
    fn disable(cx: &mut Cx, this: Value, for_block: bool) -> Result<bool> {
        if for_block && cx.data_ref::<Point>(this)?.codes.is_some() {
            return cx.arg_error("can't disable a targeting TracePoint in a block");
        }
        let d = cx.data_mut::<Point>(this)?;
        let was = std::mem::replace(&mut d.enabled, false);
        d.codes = None;
        d.method = Value::NIL;
        d.line = None;
        d.thread = None;
        cx.state::<Points>().list.retain(|p| *p != this);
        if was {
            apply(cx)?;
        }
        Ok(was)
    }
    /// Is it enabled?
    ///
    ///     TracePoint.new(:line) { }.enabled?   #=> false
    #[method("enabled?")]
    fn enabled(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(cx.data_ref::<Point>(this)?.enabled)
    }
    /// Lets events be told inside of a trace's block.
    #[method("allow_reentry", singleton)]
    fn allow_reentry(cx: &mut Cx, _this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.arg_error("no block given");
        }
        let thread = cx.thread_id();
        let busy = &mut cx.state::<Points>().busy;
        if !busy.contains(&thread) {
            return cx.raise(ids::RUNTIME_ERROR, "No need to allow reentrance.");
        }
        busy.retain(|t| *t != thread);
        let r = cx.yield_values(block, &[]);
        let busy = &mut cx.state::<Points>().busy;
        if !busy.contains(&thread) {
            busy.push(thread);
        }
        r
    }
    /// The TracePoint of `set_trace_func`; sets it.
    #[method("__function", singleton, private)]
    fn function(cx: &mut Cx, _this: Value, new: Value) -> Value {
        std::mem::replace(&mut cx.state::<Points>().function, new)
    }

    /// The enabled TracePoints of a thread's functions (nil: of none); `new` (or nil) is going to be one.
    #[method("__thread_functions", singleton, private)]
    fn thread_functions(cx: &mut Cx, _this: Value, thread: Value, new: Value) -> Result<Value> {
        let out = cx.new_array();
        if !thread.is_nil() {
            let id = cx.data_ref::<zakuro_vm::thread::Thread>(thread)?.id;
            let mut list = RootedVec::new(cx);
            list.extend(&cx.state::<Points>().list);
            for p in list.iter().copied() {
                let d = cx.data_ref::<Point>(p)?;
                if d.of_thread && d.thread == Some(id) {
                    ArrayCell::push(out, &mut cx.heap, p);
                }
            }
        }
        if !new.is_nil() {
            cx.data_mut::<Point>(new)?.of_thread = true;
        }
        Ok(out.as_value())
    }

    fn current(cx: &mut Cx, this: Value) -> Result<Event> {
        match cx.data_ref::<Point>(this)?.event.clone() {
            Some(e) => Ok(e),
            None => cx.raise(ids::RUNTIME_ERROR, "access from outside"),
        }
    }
    fn only<T>(cx: &mut Cx, e: &Event, kinds: u32) -> Result<Option<T>> {
        if e.kind & kinds == 0 { cx.raise(ids::RUNTIME_ERROR, "not supported by this event") } else { Ok(None) }
    }
    /// Kind of the event.
    #[method("event")]
    fn event(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = current(cx, this)?;
        Ok(Value::sym(Sym::intern(name_of(e.kind))))
    }
    /// Line of the event.
    #[method("lineno")]
    fn lineno(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(current(cx, this)?.line as i64)
    }
    fn file(e: &Event) -> String {
        // SAFETY: code states live while their frames do.
        if e.code.is_null() { String::new() } else { unsafe { (&*e.code).code.file.to_string() } }
    }
    /// File of the event, nil outside of Ruby code.
    #[method("path")]
    fn path(cx: &mut Cx, this: Value) -> Result<Option<String>> {
        let e = current(cx, this)?;
        if e.code.is_null() && e.kind == events::SCRIPT_COMPILED {
            // The main program, which nobody has called.
            return Ok(Some(cx.script.clone()));
        }
        if let Some(m) = method_cell(&e).filter(|_| e.in_ruby) {
            return Ok(cx.file_in_ruby(m));
        }
        Ok((!e.code.is_null()).then(|| file(&e)))
    }
    fn method_cell(e: &Event) -> Option<Ref<MethodCell>> {
        Ref::<MethodCell>::from_value(e.me).filter(|m| m.method_kind() != MethodKind::Frame)
    }
    /// Name that the running method was defined by, nil outside of methods.
    #[method("method_id")]
    fn method_id(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(method_cell(&current(cx, this)?).map_or(Value::NIL, |m| Value::sym(m.name)))
    }
    /// Name that it was called by.
    #[method("callee_id")]
    fn callee_id(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(method_cell(&current(cx, this)?).map_or(Value::NIL, |m| Value::sym(m.called)))
    }
    /// Class or module that defines it.
    #[method("defined_class")]
    fn defined_class(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(match method_cell(&current(cx, this)?) {
            Some(m) => cx.class_value(m.owner),
            None => Value::NIL,
        })
    }
    /// `self` at the event.
    #[method("self")]
    fn self_(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(current(cx, this)?.self_)
    }
    /// Binding of the event's place, nil for builtins. Variables that no block captures are a copy.
    #[method("binding")]
    fn binding_(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = current(cx, this)?;
        if e.frame.is_null() && e.kind == events::SCRIPT_COMPILED {
            return Ok(binding::top_level(cx));
        }
        if e.frame.is_null() || e.in_ruby || e.kind & (events::C_CALL | events::C_RETURN) != 0 {
            return Ok(Value::NIL);
        }
        let scope = cx.frame_snapshot(e.frame);
        // SAFETY: the frame lives while the event is told.
        let me = unsafe { (*e.frame).me };
        Ok(binding::make_at(cx, scope, e.self_, me, file(&e).into(), e.line))
    }
    /// What is returned.
    #[method("return_value")]
    fn return_value(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = current(cx, this)?;
        only::<()>(cx, &e, events::RETURN | events::C_RETURN | events::B_RETURN)?;
        Ok(e.value)
    }
    /// What is raised.
    #[method("raised_exception")]
    fn raised_exception(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = current(cx, this)?;
        only::<()>(cx, &e, events::RAISE | events::RESCUE)?;
        Ok(e.value)
    }
    /// Text of an eval that was compiled, nil for files.
    #[method("eval_script")]
    fn eval_script(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = current(cx, this)?;
        only::<()>(cx, &e, events::SCRIPT_COMPILED)?;
        Ok(Ref::<ArrayCell>::from_value(e.value).and_then(|a| a.get(1)).unwrap_or(Value::NIL))
    }
    /// What was compiled.
    #[method("instruction_sequence")]
    fn instruction_sequence(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = current(cx, this)?;
        only::<()>(cx, &e, events::SCRIPT_COMPILED)?;
        Ok(Ref::<ArrayCell>::from_value(e.value).and_then(|a| a.get(0)).unwrap_or(Value::NIL))
    }
    /// Parameters of the method or block that is called or returns.
    #[method("parameters")]
    fn parameters(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = current(cx, this)?;
        only::<()>(cx, &e, events::CALL | events::RETURN | events::C_CALL | events::C_RETURN | events::B_CALL | events::B_RETURN)?;
        let list = if e.kind & (events::B_CALL | events::B_RETURN) != 0 {
            // SAFETY: the frame lives while the event is told.
            let lambda = unsafe { (*e.frame).aux } & zakuro_vm::frame::FRAME_LAMBDA != 0;
            // SAFETY: as above.
            let list = unsafe { (&*e.code).code.params.list.clone() };
            list.into_iter().map(|(k, n)| if !lambda && k == "req" { ("opt", n) } else { (k, n) }).collect()
        } else {
            match method_cell(&e) {
                Some(m) => crate::method::parameter_list(cx, m),
                None => Vec::new(),
            }
        };
        Ok(crate::method::parameters_value(cx, &list))
    }
    /// Kind and place of the event, or whether it is enabled.
    ///
    ///     TracePoint.new(:line) { }.inspect   #=> "#<TracePoint:disabled>"
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<String> {
        let d = cx.data_ref::<Point>(this)?;
        let Some(e) = d.event.clone() else {
            return Ok(format!("#<TracePoint:{}>", if d.enabled { "enabled" } else { "disabled" }));
        };
        let (name, file, line) = (name_of(e.kind), file(&e), e.line);
        let with_method = events::CALL | events::C_CALL | events::RETURN | events::C_RETURN;
        Ok(match e.kind {
            events::LINE => match method_cell(&e) {
                Some(m) => format!("#<TracePoint:line {file}:{line} in '{}'>", m.name.name()),
                None => format!("#<TracePoint:line {file}:{line}>"),
            },
            k if k & with_method != 0 => {
                let m = method_cell(&e).map_or(String::new(), |m| m.name.name().into_owned());
                format!("#<TracePoint:{name} '{m}' {file}:{line}>")
            }
            events::THREAD_BEGIN | events::THREAD_END => {
                let t = cx.inspect(e.self_)?;
                format!("#<TracePoint:{name} {}>", String::from_utf8_lossy(t.content(&cx.heap)))
            }
            _ => format!("#<TracePoint:{name} {file}:{line}>"),
        })
    }
    /// How many traces there are.
    #[method("stat", singleton)]
    fn stat(cx: &mut Cx, _this: Value) -> Result<Value> {
        if prune(cx)? {
            apply(cx)?;
        }
        let n = cx.state::<Points>().list.len() as i64;
        let h = cx.new_hash();
        let a = cx.array(&[Value::fixnum(n), Value::fixnum(0)]);
        cx.hash_set(h, Value::sym(Sym::intern("enabled")), a)?;
        Ok(h.as_value())
    }
}

/// Code of a Method, Proc or InstructionSequence; None for builtins and other objects.
pub fn code_of(cx: &mut Cx, v: Value) -> Option<std::sync::Arc<zakuro_bytecode::Code>> {
    if let Some(c) = crate::iseq::code(cx, v) {
        return Some(c);
    }
    let code: &'static zakuro_bytecode::Code = if let Some(p) = Ref::<ProcCell>::from_value(v) {
        cx.block_code(Block(p.as_value().bits()))?
    } else {
        let o = Ref::<MethodObjCell>::from_value(v)?;
        let m: Ref<MethodCell> = Ref::of(o.method);
        match m.method_kind() {
            MethodKind::Ruby => Cx::method_code(m)?,
            MethodKind::Proc => cx.block_code(Block(m.data.bits()))?,
            _ => return None,
        }
    };
    // SAFETY: every Code lives in an Arc; the extra count balances `from_raw`.
    unsafe {
        std::sync::Arc::increment_strong_count(code as *const _);
        Some(std::sync::Arc::from_raw(code as *const _))
    }
}
