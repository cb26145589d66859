//! Events of running code for TracePoint, at no cost while nothing traces.
//!
//! Enabling a trace gives each code state that it concerns a private copy of its instructions in which the opcode of every event site (entry,
//! first instruction of a line's statement or of a rescue clause, return, call) is [`TRACE`]; everything else, operands and distances included, is as in the
//! original, so caches, handlers tables and line tables go on being valid. The handler of `TRACE` tells the events and goes on with the
//! handler of the original opcode. Code states made later are copied at birth. Calls enter a Code through its state's `insns`, which is all that enabling
//! changes; frames that wait for a call to return are moved over: they go on from the `ip` that they hold. Those of suspended stacks are moved when the stacks are
//! taken up again.
//!
//! Only cold code asks whether something is traced: raising, unwinding, making a code state, starting a thread, compiling; and a switch of fibers.
//!
//! Rejected: a test per event site, or a bit in the poll word (calls and lines poll, but returns don't); a second handler table (the table would have to be
//! reached through a register at every dispatch); patching the shared Code (other VMs run it).

use super::calls::{Prepared, block_record, enter, prepare_send_x, refused};
use super::{TABLE, check, dispatch, next, r, stub};
use crate::builtin::{Block, KW_FLAG};
pub use crate::events::{self, Event};
use crate::frame::*;
use crate::methods::{Method, fast};
use crate::raise::{Exc, Result};
use crate::vm::{Cx, VmState};
use zakuro_bytecode::op::Role;
use zakuro_bytecode::{Code, CodeKind, Insn, Op, call_flags};
use zakuro_object::*;

/// Pseudo opcode of an event site.
pub(crate) const TRACE: u8 = 254;

/// What a VM traces.
#[derive(Default)]
pub struct Tracing {
    /// Kinds that some trace wants everywhere.
    pub everywhere: u32,
    /// Kinds wanted in some Codes (by address), nested ones included.
    pub codes: crate::vm::FastMap<usize, u32>,
    /// Files whose lines are counted (see coverage.rs): set by `set_tracing`.
    files: std::collections::BTreeSet<std::sync::Arc<str>>,
    /// Calls of their methods are, too.
    methods: bool,
    /// A trace wants lines, too.
    lines_told: bool,
    /// Where a told `raise` stands, by its frame: what it raises is told when it is over.
    raises: Raises,
    /// Builtins ran when their ends began to be traced: see [`Unfinished`].
    unfinished: bool,
}

/// Builtins that ran when their ends began to be traced. Nothing told their begin; the end is told when the frame that called goes on.
struct Unfinished {
    /// Thread and stack on which they run: another thread may get the stack.
    place: (u32, usize),
    /// Frame and instruction of each call, the innermost last.
    calls: Vec<(usize, usize)>,
    /// Receiver and method of each.
    values: TracedVec,
}
impl Default for Unfinished {
    fn default() -> Unfinished {
        Unfinished { place: (0, 0), calls: Vec::new(), values: TracedVec::new() }
    }
}
impl Trace for Unfinished {
    fn trace(&self, m: &mut Marker<'_>) {
        let Unfinished { place: _, calls: _, values } = self;
        values.trace(m);
    }
}
impl VmState for Unfinished {}

/// What is known of a told `raise`.
#[derive(Clone, Copy, Default, PartialEq)]
enum Raises {
    #[default]
    Nothing,
    /// It runs, in this frame.
    At(usize),
    /// It has raised.
    Has,
}

impl Tracing {
    fn mask(&self, code: &Code) -> u32 {
        let counted = if !self.files.is_empty() && self.files.contains(&code.file) { self.counted() } else { 0 };
        self.everywhere | self.codes.get(&(code as *const Code as usize)).copied().unwrap_or(0) | counted
    }
    /// What is to be seen of a counted file.
    fn counted(&self) -> u32 {
        if self.methods { events::LINE | events::CALL } else { events::LINE }
    }
    fn any(&self) -> u32 {
        let counted = if self.files.is_empty() { 0 } else { self.counted() };
        self.codes.values().fold(self.everywhere, |a, b| a | b) | counted
    }
    /// What traces asked for, without the counted files.
    pub(crate) fn asked(&self) -> Tracing {
        Tracing { everywhere: self.everywhere, codes: self.codes.clone(), ..Tracing::default() }
    }
}

/// Copies the instructions of a state with its event sites marked, or puts the originals back into force.
fn instrument(cs: &mut CodeState, mask: u32) {
    use events::*;
    let untraced = cs.untraced();
    let CodeState { code, insns, traced, .. } = cs;
    if mask & IN_CODE == 0 || code.insns.is_empty() {
        insns.set(untraced);
        return;
    }
    let internal = code.file.starts_with("<internal");
    let of_builtins = mask & (C_CALL | C_RETURN | IN_RUBY) != 0;
    let copy = traced.get_or_insert_with(|| code.insns.clone());
    copy.copy_from_slice(&code.insns);
    let (calls, returns) = match code.kind {
        CodeKind::Method if internal => (C_CALL | IN_RUBY, C_RETURN | IN_RUBY),
        CodeKind::Method => (CALL, RETURN),
        CodeKind::Block if !internal => (CALL | B_CALL, RETURN | B_RETURN),
        CodeKind::Class => (CLASS, END),
        _ => (0, 0),
    };
    if mask & (calls | returns) != 0 {
        copy[0].op = TRACE;
    }
    if mask & LINE != 0 && !internal {
        for (i, _) in &code.statements {
            if let Some(insn) = copy.get_mut(*i as usize) {
                insn.op = TRACE;
            }
        }
    }
    if mask & RESCUE != 0 {
        code.rescues.iter().filter(|_| !internal).for_each(|i| copy[*i as usize].op = TRACE);
    }
    for (i, insn) in code.insns.iter().enumerate() {
        let marked = match insn.opcode() {
            Op::Return | Op::ReturnBlock | Op::BreakBlock => mask & returns != 0,
            op if mask & LITERAL != 0 && makes_literal(op) => !internal,
            // A case's comparison with a literal is no call: what is none goes by the ordinary call anyway.
            Op::CaseEq => false,
            // An operator whose fast path would tell nothing.
            op if op.group_length() > 1 => of_builtins && !internal,
            Op::Send | Op::SendBlk | Op::SendSelf | Op::SendSelfBlk | Op::SendX => of_builtins && !internal,
            _ => false,
        };
        if marked {
            copy[i].op = TRACE;
        }
    }
    insns.set(copy.as_ptr());
}

/// Kernel#raise: its frame has gone when the exception is told.
fn is_raise(m: Method) -> bool {
    m.owner == ids::KERNEL && matches!(&*m.name.name(), "raise" | "fail")
}

impl Cx {
    /// Puts what is to be traced into force: for all Codes of this VM, now and later.
    pub fn set_tracing(&mut self, mut tracing: Tracing) {
        let lines = self.state::<crate::coverage::Lines>();
        if lines.counting {
            tracing.files = lines.files.keys().cloned().collect();
            tracing.methods = lines.counts_methods;
        }
        if tracing.everywhere & (events::CALL | events::RETURN) != 0 {
            tracing.everywhere |= events::IN_RUBY;
        }
        tracing.lines_told = tracing.codes.values().fold(tracing.everywhere, |a, b| a | b) & events::LINE != 0;
        let any = tracing.any();
        self.tracing = any;
        self.redefined = self.redefined & !fast::TRACED | if any != 0 { fast::TRACED } else { 0 };
        self.unsettle();
        let ends = any & events::C_RETURN != 0;
        let begins = ends && self.traces.as_ref().is_none_or(|t| t.any() & events::C_RETURN == 0);
        tracing.unfinished = ends && !begins && self.traces.as_ref().is_some_and(|t| t.unfinished);
        let t = if any == 0 { None } else { Some(Box::new(tracing)) };
        for cs in self.code_states.values_mut() {
            let mask = t.as_ref().map_or(0, |t| t.mask(&cs.code));
            if mask != 0 || cs.traced.is_some() {
                instrument(cs, mask);
            }
        }
        self.traces = t;
        self.trace_changes = self.trace_changes.wrapping_add(1);
        if begins {
            self.find_unfinished();
        }
        self.move_frames();
    }
    /// Looks for the builtins that run, and marks where those who called them go on.
    fn find_unfinished(&mut self) {
        let base = self.stacks.frames;
        let mut found = Unfinished { place: (self.thread_id(), base as usize), ..Unfinished::default() };
        let mut f = self.fp;
        // SAFETY: frames of this stack up to fp are initialised; both arrays of instructions have the same layout.
        unsafe {
            while f > base {
                let (native, caller) = (f, f.sub(1));
                f = caller;
                let builtin = Ref::<MethodCell>::from_value((*native).me).filter(|m| m.method_kind() == MethodKind::Native);
                let Some(m) = builtin.filter(|_| (*native).is_boundary() && !(*caller).is_boundary()) else { continue };
                let cs = (*caller).code;
                let (code, index) = (&*(*cs).code, (*cs).index_of((*caller).ip));
                let calls = matches!(code.insns[index].opcode(), Op::Send | Op::SendBlk | Op::SendSelf | Op::SendSelfBlk | Op::SendX);
                let wanted = self.traces.as_ref().is_some_and(|t| t.mask(code) & events::C_RETURN != 0);
                if !calls || !wanted || code.file.starts_with("<internal") || self.kinds_of(m.as_value()).1 != events::C_RETURN {
                    continue;
                }
                let state = self.code_states.get_mut(&(std::ptr::from_ref(code) as usize));
                let Some(next) = state.and_then(|s| s.traced.as_mut()).and_then(|t| t.get_mut(index + 1)) else { continue };
                next.op = TRACE;
                found.calls.push((caller as usize, index));
                found.values.push(m.as_value());
                found.values.push(*(*native).regs);
            }
        }
        found.calls.reverse();
        found.values.reverse();
        if let Some(t) = &mut self.traces {
            t.unfinished = !found.calls.is_empty();
        }
        *self.state::<Unfinished>() = found;
    }
    /// A frame goes on: tells the end of the builtin that it waited for, and of those that an exception has left.
    #[cold]
    unsafe fn tell_unfinished(&mut self, f: *mut Frame, index: usize) -> Result<()> {
        let place = (self.thread_id(), self.stacks.frames as usize);
        loop {
            let waiting = self.state::<Unfinished>();
            let last = waiting.calls.last().copied();
            let Some((frame, call)) = last.filter(|(frame, _)| waiting.place == place && *frame >= f as usize) else {
                let left = last.is_some();
                if let Some(t) = &mut self.traces {
                    t.unfinished = left;
                }
                return Ok(());
            };
            waiting.calls.pop();
            let (Some(m), Some(receiver)) = (waiting.values.pop(), waiting.values.pop()) else { continue };
            // SAFETY: caller: f is the top frame, a Ruby frame; the call's value stands where it was called.
            unsafe {
                let cs = &*(*f).code;
                let returned = frame == f as usize && call + 1 == index;
                let value = if returned { *(*f).regs.add(cs.code.insns[call].a as usize) } else { Value::NIL };
                let here = (*f).ip;
                if frame == f as usize {
                    (*f).ip = cs.insns.get().add(call);
                }
                let r = self.trace_event(events::C_RETURN, Some(receiver), Some(m), value);
                (*f).ip = here;
                std::hint::black_box((m, receiver));
                r?;
            }
        }
    }
    /// Another file is counted, beside those that are. False: nothing is traced so far.
    pub(crate) fn trace_file(&mut self, file: &std::sync::Arc<str>) -> bool {
        self.unsettle();
        let Some(t) = &mut self.traces else { return false };
        if !t.files.insert(file.clone()) {
            return true;
        }
        self.tracing |= t.counted();
        self.redefined |= fast::TRACED;
        for cs in self.code_states.values_mut().filter(|cs| cs.code.file == *file) {
            instrument(cs, t.mask(&cs.code));
        }
        self.trace_changes = self.trace_changes.wrapping_add(1);
        self.move_frames();
        true
    }
    /// Frames of the running stack go on in the instructions that are in force, if they are not known to.
    pub(crate) fn move_frames(&mut self) {
        // SAFETY: frames of this stack up to fp are initialised; both arrays have the same layout.
        unsafe {
            let moved = self.frames_moved(self.stacks);
            let now = Value::fixnum(i64::from(self.trace_changes));
            if std::mem::replace(&mut *moved, now) == now {
                return;
            }
            let mut f = self.fp;
            while f >= self.stacks.frames {
                // Machine code that waits sees by itself, when it goes on, that something is traced.
                if !(*f).is_boundary() && (*(*f).ip).op != super::machine::LEAVE {
                    let cs = &*(*f).code;
                    (*f).ip = cs.insns.get().add(cs.index_of((*f).ip));
                }
                f = f.sub(1);
            }
        }
    }
    /// A code state is made.
    pub(crate) fn trace_new_state(&self, cs: &mut CodeState) {
        if let Some(t) = &self.traces {
            instrument(cs, t.mask(&cs.code));
        }
    }
    /// Tells an event of the innermost Ruby frame. The value of one of a line is that line.
    #[cold]
    #[inline(never)]
    pub fn trace_event(&mut self, kind: u32, self_: Option<Value>, me: Option<Value>, value: Value) -> Result<()> {
        let wanted = self.tracing & kind;
        if wanted == 0 {
            return Ok(());
        }
        let running = self.ruby_frame();
        // SAFETY: a live Ruby frame.
        let (self_, me) = unsafe { (self_.or(running.map(|f| *(*f).regs)), me.or(running.map(|f| (*f).me))) };
        // A builtin written in Ruby is called where its caller stands.
        let in_ruby = wanted & (events::CALL | events::RETURN) != 0 && self.is_in_ruby(me);
        let of_builtin = in_ruby || wanted & (events::C_CALL | events::C_RETURN) != 0;
        let frame = if of_builtin { self.frame_of_program() } else { running };
        // SAFETY: a live Ruby frame.
        let event = unsafe {
            match frame {
                Some(f) => Event {
                    kind: wanted,
                    self_: self_.unwrap_or(*(*f).regs),
                    me: me.unwrap_or((*f).me),
                    value,
                    code: (*f).code,
                    frame: f,
                    in_ruby,
                    line: match wanted {
                        _ if of_builtin => (*(*f).code).line_of((*f).ip),
                        events::CALL | events::B_CALL | events::CLASS => (&*(*f).code).code.line,
                        events::RETURN | events::B_RETURN if written_return(f) => (*(*f).code).line_of((*f).ip),
                        events::RETURN | events::B_RETURN | events::END => (&*(*f).code).code.end_line,
                        _ => {
                            let cs = &*(*f).code;
                            let begun = if wanted == events::LINE && value.is_fixnum() { Some(value.fix() as u32) } else { None };
                            begun.unwrap_or_else(|| cs.line_of((*f).ip))
                        }
                    },
                },
                None => Event {
                    kind: wanted,
                    self_: self_.unwrap_or(self.main),
                    me: me.unwrap_or(Value::NIL),
                    value,
                    code: std::ptr::null(),
                    frame: std::ptr::null_mut(),
                    line: 0,
                    in_ruby,
                },
            }
        };
        let call = self.call;
        let around = self.told_frame;
        let end = self.told_place;
        if !of_builtin && wanted & (events::RETURN | events::B_RETURN | events::END) != 0 {
            self.told_place = (event.frame, event.line);
        } else if !of_builtin
            && wanted & (events::CALL | events::B_CALL) != 0
            && let Some(f) = frame
        {
            // SAFETY: a live Ruby frame.
            let code = unsafe { &(&*(*f).code).code };
            let first = code.statements.first().map_or(event.line, |s| s.1);
            self.told_place = (f, first);
        }
        self.told_frame = if of_builtin { self.fp } else { std::ptr::null() };
        // Frames of the hook are none that go on.
        let changes = self.trace_changes;
        let unfinished = self.traces.as_deref_mut().is_some_and(|t| std::mem::take(&mut t.unfinished));
        let r = crate::library::library().trace(self, &event);
        if let Some(t) = self.traces.as_deref_mut().filter(|_| unfinished && self.trace_changes == changes) {
            t.unfinished = true;
        }
        self.told_frame = around;
        self.told_place = end;
        self.call = call;
        r
    }
    /// The innermost frame of Ruby code that is not the library's own.
    fn frame_of_program(&self) -> Option<*mut Frame> {
        let mut f = self.fp;
        // SAFETY: frames between `stacks.frames` and fp are initialised.
        unsafe {
            while f >= self.stacks.frames {
                if !(*f).is_boundary() && !(&*(*f).code).code.file.starts_with("<internal") {
                    return Some(f);
                }
                f = f.sub(1);
            }
        }
        None
    }
    /// Whether a builtin written in Ruby was called by another one.
    unsafe fn is_called_within(&self, f: *const Frame) -> bool {
        // SAFETY: caller: a live frame of the running stack; those below it are initialised.
        unsafe {
            let mut g = f.wrapping_sub(1);
            while g >= self.stacks.frames.cast_const() {
                if !(*g).is_boundary() {
                    return crate::backtrace::internal(&(*(*g).code).code);
                }
                g = g.wrapping_sub(1);
            }
        }
        false
    }
    /// Kinds of events of a Ruby frame's entry and end.
    unsafe fn frame_events(&self, f: *const Frame) -> ([u32; 2], [u32; 2]) {
        use events::*;
        // SAFETY: caller: a live Ruby frame.
        let code = unsafe { &(*(*f).code).code };
        let internal = crate::backtrace::internal(code);
        match code.kind {
            // SAFETY: caller. What a builtin written in Ruby calls is its own matter.
            CodeKind::Method if internal && unsafe { self.is_called_within(f) } => ([0, 0], [0, 0]),
            CodeKind::Method if internal => {
                // SAFETY: caller.
                let (call, end) = self.kinds_of(unsafe { (*f).me });
                ([call, 0], [end, 0])
            }
            CodeKind::Method => ([CALL, 0], [RETURN, 0]),
            CodeKind::Block if internal => ([0, 0], [0, 0]),
            // SAFETY: caller.
            CodeKind::Block if unsafe { (*f).aux } & FRAME_BMETHOD != 0 => ([CALL, B_CALL], [B_RETURN, RETURN]),
            CodeKind::Block => ([B_CALL, 0], [B_RETURN, 0]),
            CodeKind::Class => ([CLASS, 0], [END, 0]),
            _ => ([0, 0], [0, 0]),
        }
    }
    /// A frame is left by an exception or jump: its events of ending. The jump stays pending.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn trace_left(&mut self, f: *mut Frame, value: Value) {
        // SAFETY: caller: f is the top frame, a Ruby frame.
        unsafe {
            if (*f).aux & FRAME_TRACED == 0 {
                return;
            }
            let pending = self.pending;
            self.pending = Value::NIL;
            self.pinned.push(pending);
            let (_, ends) = self.frame_events(f);
            let mut failed = None;
            for kind in ends.into_iter().filter(|k| *k != 0) {
                if self.trace_event(kind, None, None, value).is_err() {
                    failed = Some(self.pending);
                    break;
                }
            }
            self.pinned.pop();
            self.pending = failed.unwrap_or(pending);
        }
    }
    /// Whether a method is a builtin that CRuby has in Ruby.
    fn is_in_ruby(&self, me: Option<Value>) -> bool {
        let m = me.and_then(Ref::<MethodCell>::from_value).filter(|m| m.method_kind() != MethodKind::Frame);
        m.is_some_and(|m| self.file_in_ruby(m).is_some())
    }
    /// As what a call and the end of a builtin are told.
    fn kinds_of(&self, me: Value) -> (u32, u32) {
        if self.is_in_ruby(Some(me)) { (events::CALL, events::RETURN) } else { (events::C_CALL, events::C_RETURN) }
    }
    /// An exception is raised: told now, or at the end of the `raise` that is told.
    #[cold]
    pub(crate) fn trace_raise(&mut self, exc: Value) -> Result<()> {
        let here = Raises::At(self.fp as usize);
        if let Some(t) = self.traces.as_deref_mut().filter(|t| t.raises == here) {
            t.raises = Raises::Has;
            return Ok(());
        }
        self.tell_raised(exc)
    }
    /// CRuby asks the exception for its backtrace first.
    fn tell_raised(&mut self, exc: Value) -> Result<()> {
        if self.tracing & (events::C_CALL | events::C_RETURN) != 0 {
            let m = self.find_method(self.class_of(exc), Sym::intern("backtrace"));
            if let Some(m) = m.filter(|m| m.method_kind() == MethodKind::Native) {
                self.trace_event(events::C_CALL, Some(exc), Some(m.as_value()), Value::NIL)?;
                self.trace_event(events::C_RETURN, Some(exc), Some(m.as_value()), Value::NIL)?;
            }
        }
        let (self_, me) = self.raising_builtin().unzip();
        self.trace_event(events::RAISE, self_, me, exc)
    }
    /// Receiver and method of the builtin that raises, on top; `raise` has ended before.
    fn raising_builtin(&self) -> Option<(Value, Value)> {
        // SAFETY: the top frame, if there is one, is initialised; a builtin's has its receiver in the first register.
        let (receiver, me) = unsafe {
            if self.fp < self.stacks.frames || !(*self.fp).is_boundary() {
                return None;
            }
            (*(*self.fp).regs, (*self.fp).me)
        };
        let m = Ref::<MethodCell>::from_value(me).filter(|m| m.method_kind() == MethodKind::Native)?;
        (!is_raise(m)).then_some((receiver, me))
    }
    fn set_raises(&mut self, raises: Raises) -> Raises {
        self.traces.as_deref_mut().map_or(Raises::Nothing, |t| std::mem::replace(&mut t.raises, raises))
    }
    /// Tells a call of a builtin around the call itself.
    unsafe fn traced_native(&mut self, base: *mut Value, m: Method, argc: usize, block: Block) -> Result<Value> {
        // SAFETY: caller: argc values stand above base, above the top frame's live values.
        unsafe {
            let fp = self.fp;
            let nf = fp.add(1);
            if nf >= self.frame_limit {
                return self.stack_error();
            }
            let n = argc & (KW_FLAG - 1);
            let receiver = *base;
            nf.write(Frame { ip: stub(), regs: base, code: std::ptr::null(), block, me: m.as_value(), aux: base.add(n + 1) as usize });
            self.fp = nf;
            let (kind, _) = self.kinds_of(m.as_value());
            let r = self.trace_event(kind, Some(*base), Some(m.as_value()), Value::NIL);
            let raises = is_raise(m);
            let around = if raises { self.set_raises(Raises::At(nf as usize)) } else { Raises::Nothing };
            let r = match r {
                Ok(()) => match (m.method_kind(), m.data.as_sym()) {
                    (MethodKind::AttrReader, Some(name)) => Ok(self.ivar_get(*base, name)),
                    (MethodKind::AttrWriter, Some(name)) => {
                        let v = *base.add(1);
                        self.ivar_set(*base, name, v).map(|()| v)
                    }
                    _ => super::calls::call_builtin(self, Cx::native_fn(m), m.as_value(), *base, base.add(1), argc, block),
                },
                Err(Exc) => Err(Exc),
            };
            if let Ok(v) = r {
                *base = v;
            }
            let raised = if raises { self.set_raises(around) } else { Raises::Nothing };
            let r = self.tell_returned(receiver, m, r);
            self.fp = fp;
            match (r, raised) {
                (Err(Exc), Raises::Has) => {
                    let exc = self.take_pending();
                    self.pinned.push(exc);
                    let told = self.tell_raised(exc);
                    self.pinned.pop();
                    told.and_then(|()| self.repend(exc))
                }
                (r, _) => r,
            }
        }
    }
    /// Tells the end of a call of a builtin, with what came of it.
    fn tell_returned(&mut self, receiver: Value, m: Method, r: Result<Value>) -> Result<Value> {
        let (_, kind) = self.kinds_of(m.as_value());
        match r {
            Ok(v) => self.trace_event(kind, Some(receiver), Some(m.as_value()), v).map(|()| v),
            Err(Exc) => {
                let pending = self.pending;
                self.pending = Value::NIL;
                self.pinned.push(pending);
                let told = self.trace_event(kind, Some(receiver), Some(m.as_value()), Value::NIL);
                self.pinned.pop();
                if told.is_ok() {
                    self.pending = pending;
                }
                Err(Exc)
            }
        }
    }
    /// A call that natives make in the program's place (of an object that stands for a method, of a hook): told as one that the program writes.
    pub fn call_told(&mut self, m: Method, v: Value, name: Sym, args: &[Value], kw: bool, block: Block) -> Result<Value> {
        if self.tracing & (events::C_CALL | events::C_RETURN | events::IN_RUBY) == 0 || !is_builtin(m) {
            return self.call_method(m, v, name, args, kw, block);
        }
        let (kind, _) = self.kinds_of(m.as_value());
        self.trace_event(kind, Some(v), Some(m.as_value()), Value::NIL)?;
        let r = self.call_method(m, v, name, args, kw, block);
        self.tell_returned(v, m, r)
    }
}

/// Whether calls of a method are told as those of a builtin: attributes are, too.
fn is_builtin(m: Method) -> bool {
    matches!(m.method_kind(), MethodKind::Native | MethodKind::AttrReader | MethodKind::AttrWriter)
}

/// Whether an instruction makes what a literal stands for.
fn makes_literal(op: Op) -> bool {
    matches!(op, Op::NewArray | Op::NewHash | Op::NewStr | Op::NewRange | Op::Interp | Op::Splat | Op::NewProc | Op::NewRegexp)
}

/// Whether a frame stands at a `return` of the program's text.
unsafe fn written_return(f: *const Frame) -> bool {
    // SAFETY: caller: a live Ruby frame.
    unsafe {
        let cs = &*(*f).code;
        let insn = cs.code.insns[cs.index_of((*f).ip)];
        matches!(insn.opcode(), Op::Return | Op::ReturnBlock) && insn.x == 1
    }
}

/// How the handler of a marked instruction goes on.
enum Then {
    /// With the instruction itself.
    Original(Op),
    /// With the next one: the call has been made.
    Done,
    /// With the call that `cx.call` describes.
    Enter,
    /// In the callee, whose frame is the current one.
    Entered,
}

pub unsafe fn trace(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers (see `Handler`).
    unsafe {
        (*cx.fp).ip = ip;
        match check!(cx, ip, regs, cs, before(cx, ip, regs, cs)) {
            Then::Original(op) => TABLE[op as usize](cx, ip, regs, cs),
            Then::Done => next!(cx, (*cx.fp).ip, regs, cs),
            Then::Enter => enter(cx, ip, regs, cs),
            Then::Entered => {
                let callee = (*cx.fp).code;
                dispatch!(cx, (*callee).insns.get(), (*cx.fp).regs, callee)
            }
        }
    }
}

#[inline(never)]
unsafe fn before(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> Result<Then> {
    // SAFETY: called by `trace` under the contract of handlers. `insn` is read from the Code itself, so the marked copy's opcode does not matter;
    // hooks may run Ruby code, while operands stand in the window below what that uses.
    unsafe {
        use events::*;
        let code = &(*cs).code;
        let index = (*cs).index_of(ip);
        let insn = code.insns[index];
        let op = insn.opcode();
        let f = cx.fp;
        if cx.tracing == 0 {
            return Ok(Then::Original(op));
        }
        if cx.traces.as_ref().is_some_and(|t| t.unfinished) {
            cx.tell_unfinished(f, index)?;
        }
        if index == 0 && (*f).aux & FRAME_TRACED == 0 {
            (*f).aux |= FRAME_TRACED;
            let (starts, _) = cx.frame_events(f);
            if starts.contains(&CALL) && !crate::backtrace::internal(code) && cx.traces.as_ref().is_some_and(|t| t.methods) {
                cx.count_method(code);
            }
            for kind in starts.into_iter().filter(|k| *k != 0) {
                cx.trace_event(kind, None, None, Value::NIL)?;
            }
        }
        if cx.tracing & RESCUE != 0 && code.rescues.binary_search(&(index as u32)).is_ok() {
            cx.trace_event(RESCUE, None, None, cx.errinfo)?;
        }
        if cx.tracing & LINE != 0 && !code.file.starts_with("<internal") {
            for (_, line) in code.statements_at(index) {
                let (counted, told) = cx.traces.as_ref().map_or((false, false), |t| (!t.files.is_empty(), t.lines_told));
                if counted {
                    cx.count_line(code, *line);
                }
                if told {
                    cx.trace_event(LINE, None, None, Value::fixnum(i64::from(*line)))?;
                }
            }
        }
        if cx.tracing & LITERAL != 0 && makes_literal(op) && !code.file.starts_with("<internal") {
            cx.trace_event(LITERAL, None, None, Value::NIL)?;
        }
        match op {
            Op::Return | Op::ReturnBlock | Op::BreakBlock if op == Op::Return || (*f).aux & FRAME_LAMBDA != 0 => {
                let (_, ends) = cx.frame_events(f);
                // Told once: an error in telling must not tell it again on the way out.
                (*f).aux &= !FRAME_TRACED;
                for kind in ends.into_iter().filter(|k| *k != 0) {
                    cx.trace_event(kind, None, None, r!(regs, insn.a))?;
                }
            }
            Op::Send | Op::SendBlk | Op::SendSelf | Op::SendSelfBlk if cx.tracing & (C_CALL | C_RETURN | IN_RUBY) != 0 => {
                let site = &code.calls[insn.c as usize];
                // What a builtin written in Ruby calls is its own matter.
                if site.flags & call_flags::YIELD != 0 || code.file.starts_with("<internal") {
                    return Ok(Then::Original(op));
                }
                let base = regs.add(insn.a as usize);
                if matches!(op, Op::SendSelf | Op::SendSelfBlk) {
                    *base = r!(regs, 0);
                }
                let class = cx.dispatch_class(*base);
                let found = cx.find_method_from(Method::of((*f).me).cref, class, site.name);
                let told = |m: &Method| match m.method_kind() {
                    MethodKind::AttrReader => insn.x == 0,
                    MethodKind::AttrWriter => insn.x == 1,
                    kind => kind == MethodKind::Native,
                };
                let Some(m) = found.filter(told) else { return Ok(Then::Original(op)) };
                if refused(cx, m, site, *base, r!(regs, 0)).is_some() {
                    return Ok(Then::Original(op));
                }
                let literal = site.literal_block().filter(|_| matches!(op, Op::SendBlk | Op::SendSelfBlk));
                let block = literal.map_or(Block::NONE, |literal| {
                    cx.child_state(cs, literal as usize);
                    block_record(cx, regs, cs, insn.a, literal)
                });
                *base = cx.traced_native(base, m, insn.x as usize, block)?;
                return Ok(Then::Done);
            }
            _ if op.group_length() > 1
                && op != Op::CaseEq
                && cx.tracing & (C_CALL | C_RETURN | IN_RUBY) != 0
                && !code.file.starts_with("<internal") =>
            {
                // The ordinary call, which follows, gets the operands and is told.
                let mut to = code.insns[index + 1].a;
                let mut values = [Value::NIL; 3];
                let mut count = 0;
                for (role, field) in op.operands() {
                    values[count] = match role {
                        Role::Read => r!(regs, insn.get(*field)),
                        Role::Int => Value::fixnum(insn.signed(*field) as i64),
                        _ => continue,
                    };
                    count += 1;
                }
                for v in &values[..count] {
                    r!(regs, to) = *v;
                    to += 1;
                }
                return Ok(Then::Done);
            }
            Op::SendX
                if cx.tracing & (C_CALL | C_RETURN | IN_RUBY) != 0
                    && code.calls[insn.c as usize].flags & call_flags::YIELD == 0
                    && !code.file.starts_with("<internal") =>
            {
                match prepare_send_x(cx, ip, regs, cs)? {
                    Prepared::Answered => return Ok(Then::Done),
                    Prepared::Entered => return Ok(Then::Entered),
                    Prepared::Enter => {}
                }
                let m = Method::of(cx.call.me);
                if m.method_kind() != MethodKind::Native {
                    return Ok(Then::Enter);
                }
                let base = regs.add(insn.a as usize);
                let argc = cx.call.argc | if cx.call.kw { KW_FLAG } else { 0 };
                *base = cx.traced_native(base, m, argc, cx.call.block)?;
                return Ok(Then::Done);
            }
            _ => {}
        }
        Ok(Then::Original(op))
    }
}
