//! Backtraces: frames to lines of text.
//!
//! Raising only copies what a level is made of (three words: code state, instruction and kind, method entry) into a chain of
//! environment cells, which the collector scans precisely and no program can reach or forge. The text is made when somebody asks for
//! it: most exceptions are rescued unseen. A raw backtrace holds addresses of its VM, so it is rendered before its exception leaves the VM
//! ([`Cx::settle_backtrace`]).
//!
//! Rejected: rendering at once (40 us for 50 levels), a native payload (a malloc and a finalizer per raise), an Array (programs could
//! make one that looks like it).

use crate::frame::{CodeState, FRAME_BLOCK, Frame};
use crate::methods::Method;
use crate::raise::hidden;
use crate::vm::Cx;
use zakuro_bytecode::{Code, CodeKind, NO_BLOCK, Op, call_flags};
use zakuro_object::*;

/// A level as captured.
#[derive(Clone, Copy)]
pub(crate) struct Level {
    /// Null for a builtin.
    pub code: *const CodeState,
    /// Index of the instruction.
    pub at: u32,
    /// A block's activation. Of a builtin: the `each` that it stands for walks with (`numbered`).
    pub block: bool,
    pub me: Value,
}

/// `at` of a level that failed while its arguments were bound: it stands where the method (or block) begins.
const AT_DEFINITION: u32 = u32::MAX >> 1;

/// Words of a captured level.
const WORDS: usize = LEVEL_WORDS;
/// In cells of 2 KiB.
const LEVELS_PER_CELL: usize = 254 / WORDS;

/// Where in its source an exception was raised, for the error highlight.
pub struct Place {
    pub code: std::sync::Arc<Code>,
    pub at: u32,
    /// A builtin raised it, called from there.
    pub native: bool,
}

/// One level of a backtrace.
#[derive(Clone, Debug)]
pub struct Location {
    pub file: std::sync::Arc<str>,
    pub line: u32,
    pub label: Label,
    /// The place is in a text that was given to `eval`.
    pub text: bool,
    /// The program and the index of the instruction, for who asks for the node there. It keeps no program: those of texts are collected.
    pub node: Option<(std::sync::Weak<Code>, u32)>,
}

/// What a level is called. The text is made when it is asked for: most levels are looked at for their file and line.
#[derive(Clone, Debug)]
pub enum Label {
    Call {
        /// Its blocks around the place.
        blocks: u32,
        /// The name of the method's class, and `#` or `.`. One that is no constant's is not told.
        owner: Option<(Sym, char)>,
        name: Name,
    },
    /// Of a backtrace that a program has set: `block in Foo#bar`, `bar`.
    Text(Box<(String, String)>),
}

#[derive(Clone, Copy, Debug)]
pub enum Name {
    Of(Sym),
    /// `<main>`
    Words(&'static str),
}

impl Label {
    /// `bar`
    pub fn base(&self) -> String {
        match self {
            Label::Call { name, .. } => name.to_string(),
            Label::Text(t) => t.1.clone(),
        }
    }
}

/// `Foo#bar`, `block in Foo#bar`, `<main>`
impl std::fmt::Display for Label {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (blocks, owner, name) = match self {
            Label::Call { blocks, owner, name } => (*blocks, owner, name),
            Label::Text(t) => return f.write_str(&t.0),
        };
        match blocks {
            0 => {}
            1 => f.write_str("block in ")?,
            n => write!(f, "block ({n} levels) in ")?,
        }
        if let Some((class, sep)) = owner.filter(|(class, _)| !crate::classes::is_temporary(*class)) {
            write!(f, "{}{sep}", class.name())?;
        }
        write!(f, "{name}")
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Name::Of(s) => f.write_str(&s.name()),
            Name::Words(w) => f.write_str(w),
        }
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.line == 0 {
            return write!(f, "{}:in '{}'", self.file, self.label);
        }
        write!(f, "{}:{}:in '{}'", self.file, self.line as i32, self.label)
    }
}

/// Levels that an exception keeps.
const MAX_LEVELS: usize = 100_000;
/// Levels that a SystemStackError keeps of each end (how many lie between is noted for its report): `ensure` clauses that overflow again make chains of them, as long as the stack.
const OVERFLOW_ENDS: (usize, usize) = (900, 100);

/// A running call as a debugger sees it.
pub struct Running {
    pub location: Location,
    /// None: a builtin.
    pub code: Option<std::sync::Arc<Code>>,
    pub frame: Option<*mut Frame>,
    pub self_: Value,
    /// Method cell.
    pub me: Value,
    /// Where the method was found.
    pub class: Option<ClassId>,
}

impl Cx {
    /// The calls that a backtrace shows, innermost first. Frames are good until Ruby code of this thread goes on.
    pub fn running_calls(&mut self) -> Vec<Running> {
        let places = self.locations(0);
        let (mut f, base) = (self.fp, self.stacks.frames);
        let mut frames = Vec::new();
        while f >= base {
            if !std::ptr::eq(f, self.told_frame) {
                frames.push(f);
            }
            // SAFETY: a frame of the stack; one before its first is compared only.
            f = unsafe { f.sub(1) };
        }
        // Each level that shows is one of the frames, in their order.
        let levels: Vec<(usize, Level)> = self.levels().enumerate().collect();
        let mut shown = visible_at(levels).into_iter();
        let mut out = Vec::new();
        for mut location in places {
            let Some((i, level)) = shown.next() else { break };
            let Some(frame) = frames.get(i).copied() else { break };
            // SAFETY: a live frame; its first register is the receiver.
            let self_ = unsafe { if (*frame).regs.is_null() { Value::NIL } else { *(*frame).regs } };
            let method = Ref::<MethodCell>::from_value(level.me);
            let class = method.filter(|m| m.method_kind() != MethodKind::Frame).map(|m| m.owner);
            let native = level.code.is_null();
            if std::ptr::eq(frame, self.told_place.0) {
                location.line = self.told_place.1;
            }
            // SAFETY: the state of a live frame.
            let code = (!native).then(|| unsafe { (*level.code).code.clone() });
            out.push(Running { location, code, frame: (!native).then_some(frame), self_, me: level.me, class });
        }
        out
    }
    /// The levels from the innermost, without the first `skip`. Builtins stand at their caller's line.
    pub fn locations(&mut self, skip: usize) -> Vec<Location> {
        self.locations_up_to(skip, usize::MAX)
    }
    /// At most `most` of them, the innermost.
    pub fn locations_up_to(&mut self, skip: usize, most: usize) -> Vec<Location> {
        // Frames stay what they are: labels run no Ruby code.
        let levels = self.levels().take(MAX_LEVELS.saturating_add(skip));
        self.render_levels(levels, skip, most)
    }
    /// The frames as levels, innermost first.
    pub(crate) fn levels(&self) -> impl Iterator<Item = Level> + use<> {
        let (mut f, base, told) = (self.fp, self.stacks.frames, self.told_frame);
        std::iter::from_fn(move || {
            if std::ptr::eq(f, told) {
                // SAFETY: a frame of the stack; one before its first is compared only.
                f = unsafe { f.sub(1) };
            }
            if f < base {
                return None;
            }
            // SAFETY: frames between `stacks.frames` and fp are initialised, their code states alive; the caller doesn't run Ruby meanwhile.
            unsafe {
                let frame: &Frame = &*f;
                f = f.sub(1);
                if frame.is_boundary() {
                    return Some(Level { code: std::ptr::null(), at: 0, block: false, me: frame.me });
                }
                let at = (*frame.code).index_of(frame.ip) as u32;
                Some(Level { code: frame.code, at, block: frame.aux & FRAME_BLOCK != 0, me: frame.me })
            }
        })
    }
    /// What a backtrace is made of later, and how many levels are left out in the middle.
    pub(crate) fn capture_backtrace(&mut self, overflow: bool) -> (Value, usize) {
        // SAFETY: both point into the frame stack.
        let depth = unsafe { self.fp.offset_from(self.stacks.frames) + 1 }.max(0) as usize;
        let mut count = depth.min(MAX_LEVELS);
        let (mut inner, mut skipped) = (count, 0);
        if overflow && depth > OVERFLOW_ENDS.0 + OVERFLOW_ENDS.1 {
            count = OVERFLOW_ENDS.0 + OVERFLOW_ENDS.1;
            (inner, skipped) = (OVERFLOW_ENDS.0, depth - count);
        }
        let mut left = count;
        let all = self.levels();
        let mut levels = all.enumerate().filter(move |(i, _)| *i < inner || *i >= inner + skipped).map(|(_, l)| l);
        let (mut first, mut last): (Value, Option<Ref<EnvCell>>) = (Value::NIL, None);
        while left > 0 {
            let n = left.min(LEVELS_PER_CELL);
            left -= n;
            let cell = EnvCell::make(&self.heap, Value::NIL, n * WORDS);
            cell.as_value().set_flags(LEVELS);
            let slots = cell.slots_ptr();
            for (i, l) in levels.by_ref().take(n).enumerate() {
                // SAFETY: the cell has n * WORDS slots. Nothing collects before the chain hangs on its exception.
                unsafe {
                    let s = slots.add(i * WORDS);
                    s.write(Value::fixnum(l.code as usize as i64));
                    s.add(1).write(Value::fixnum((l.at as i64) << 1 | l.block as i64));
                    s.add(2).write(l.me);
                }
            }
            match last {
                Some(l) => {
                    debug_assert!(l.header.flags & flags::OLD == 0);
                    EnvCell::set_parent(l, cell.as_value());
                }
                None => first = cell.as_value(),
            }
            last = Some(cell);
        }
        (first, skipped)
    }
    /// The pending exception was raised while the arguments of the innermost frame were bound.
    #[cold]
    pub(crate) fn failed_at_definition(&mut self) {
        let raw = self.ivar_of_object(self.pending, hidden::raw()).unwrap_or(Value::NIL);
        if let Some(cell) = Ref::<EnvCell>::from_value(raw)
            && let [code, at, ..] = cell.slots()
            && code.as_fixnum().is_some_and(|c| c != 0)
            && let Some(n) = at.as_fixnum()
        {
            // SAFETY: the cell has that slot, and nobody else has seen the exception.
            unsafe { cell.slots_ptr().add(1).write(Value::fixnum((AT_DEFINITION as i64) << 1 | n & 1)) };
        }
    }
    /// The captured levels of an exception.
    fn raw_levels(&self, exc: Value) -> Option<Vec<Level>> {
        let mut at = Ref::<EnvCell>::from_value(self.ivar_of_object(exc, hidden::raw()).unwrap_or(Value::NIL))?;
        let mut out = Vec::new();
        loop {
            for w in at.slots().chunks_exact(WORDS) {
                let code = w[0].as_fixnum()? as usize as *const CodeState;
                let n = w[1].as_fixnum()?;
                out.push(Level { code, at: (n >> 1) as u32, block: n & 1 != 0, me: w[2] });
            }
            match Ref::<EnvCell>::from_value(at.parent) {
                Some(next) => at = next,
                None => return Some(out),
            }
        }
    }
    /// The backtrace of an exception as Ruby sees it: Array of Strings, or nil. Rendered when it is first asked for.
    pub fn exception_backtrace(&mut self, exc: Value) -> Value {
        let known = self.ivar_get(exc, hidden::backtrace());
        if !known.is_nil() {
            return known;
        }
        let raw = self.ivar_get(exc, hidden::raw());
        if raw.is_kind(Kind::Array) {
            return raw;
        }
        let Some(levels) = self.raw_levels(exc) else { return Value::NIL };
        let lines: Vec<String> = self.render_levels(levels.into_iter(), 0, usize::MAX).iter().map(|l| l.to_string()).collect();
        let bt = self.str_array(&lines);
        self.ivar_set_raw(exc, hidden::backtrace(), bt);
        bt
    }
    /// The levels of an exception whose backtrace nobody replaced.
    pub fn exception_levels(&mut self, exc: Value) -> Option<Vec<Location>> {
        let levels = self.raw_levels(exc)?;
        Some(self.render_levels(levels.into_iter(), 0, usize::MAX))
    }
    /// The places in the sources of the first `n` levels that a backtrace shows.
    pub fn exception_places(&mut self, exc: Value, n: usize) -> Vec<Place> {
        let Some(levels) = self.raw_levels(exc) else { return Vec::new() };
        let mut out = Vec::new();
        let mut natives = 0;
        for l in visible(levels.into_iter()) {
            if out.len() >= n {
                break;
            }
            if l.code.is_null() {
                natives += 1;
                continue;
            }
            // SAFETY: the exception's levels keep the code states.
            let code = unsafe { (*l.code).code.clone() };
            let at = if l.at == AT_DEFINITION { 0 } else { l.at };
            for _ in 0..std::mem::take(&mut natives) {
                out.push(Place { code: code.clone(), at, native: true });
            }
            out.push(Place { code, at, native: false });
        }
        out.truncate(n);
        out
    }
    /// Names of the local variables that were visible where an exception was raised, innermost scope first.
    pub fn exception_locals(&mut self, exc: Value) -> Vec<Sym> {
        let mut out = Vec::new();
        let Some(levels) = self.raw_levels(exc) else { return out };
        let Some(level) = levels.iter().find(|l| !l.code.is_null()) else { return out };
        let mut at = level.code;
        while !at.is_null() {
            // SAFETY: the exception's levels keep the code states.
            let cs = unsafe { &*at };
            let named = cs
                .code
                .locals
                .iter()
                .map(|l| l.name)
                .filter(|n| n.name().starts_with(|c: char| c == '_' || c.is_lowercase() || !c.is_ascii()));
            out.extend(named);
            at = cs.parent.get();
        }
        out
    }
    /// Makes the text now, and puts it in the place of the levels: the exception is about to be seen by another VM. Adds no variable, so
    /// that the shape stays.
    #[cold]
    pub(crate) fn settle_backtrace(&mut self, exc: Value) {
        let Some(levels) = self.raw_levels(exc) else { return };
        let mut bt = self.ivar_get(exc, hidden::backtrace());
        if bt.is_nil() {
            let lines: Vec<String> = self.render_levels(levels.into_iter(), 0, usize::MAX).iter().map(|l| l.to_string()).collect();
            bt = self.str_array(&lines);
        }
        self.ivar_set_raw(exc, hidden::raw(), bt);
    }
    fn render_levels(&mut self, levels: impl Iterator<Item = Level>, skip: usize, most: usize) -> Vec<Location> {
        let mut out = Vec::new();
        let mut natives: Vec<Label> = Vec::new();
        let mut level = 0;
        for l in visible(levels) {
            if out.len() >= most {
                break;
            }
            if l.code.is_null() {
                natives.push(self.native_label(&l));
                continue;
            }
            // SAFETY: the exception's levels keep the code states.
            let code = unsafe { &(*l.code).code };
            let line = if l.at == AT_DEFINITION { code.line } else { code.line_at(l.at as usize) };
            let file = code.file.clone();
            let text = self.of_text(&l);
            let node = Some((std::sync::Arc::downgrade(code), if l.at == AT_DEFINITION { u32::MAX } else { l.at }));
            for label in natives.drain(..) {
                if level >= skip {
                    out.push(Location { file: file.clone(), line, label, text, node: node.clone() });
                }
                level += 1;
            }
            if level >= skip {
                out.push(Location { file, line, label: self.level_label(&l), text, node });
            }
            level += 1;
        }
        // Called before any program ran (`-r`): the place is the program, without a line.
        if level == 0 {
            for label in natives.drain(..).skip(skip) {
                let file = std::sync::Arc::from(self.script.as_str());
                out.push(Location { file, line: 0, label, text: false, node: None });
            }
        }
        out.truncate(most);
        out
    }
    /// Label of a builtin's level. A stand-in goes by the name of what it stands for.
    pub(crate) fn native_label(&mut self, l: &Level) -> Label {
        let m = Ref::<MethodCell>::of(l.me);
        let (owner, name) = match l.block {
            true => (m.owner, sym::each),
            false => {
                let m = self.not_stand_in(m.owner, m);
                (m.owner, m.name)
            }
        };
        Label::Call { blocks: 0, owner: self.owner_label(owner), name: Name::Of(name) }
    }
    /// Whether a level runs in a text that was given to `eval`.
    fn of_text(&self, l: &Level) -> bool {
        let mut at = l.code;
        while !at.is_null() {
            // SAFETY: as in `level_label`.
            let cs = unsafe { &*at };
            if cs.code.kind == CodeKind::Eval {
                return true;
            }
            at = cs.parent.get();
        }
        false
    }
    pub(crate) fn method_label(&self, m: Method) -> String {
        Label::Call { blocks: 0, owner: self.owner_label(m.owner), name: Name::Of(m.name) }.to_string()
    }
    /// `Foo` with `#` or `.`; none for a class without a name, or one that has it for the time being.
    fn owner_label(&self, owner: ClassId) -> Option<(Sym, char)> {
        let c = self.class(owner);
        let (named, sep) = match c.kind {
            ClassKind::Singleton => (self.class_id(c.attached)?, '.'),
            _ => (owner, '#'),
        };
        Some((self.class(named).name?, sep))
    }
    /// Label of a Ruby level. It speaks of the scope around its blocks; evals count as what they stand in.
    pub(crate) fn level_label(&self, l: &Level) -> Label {
        let m = Ref::<MethodCell>::of(l.me);
        let mut blocks = 0;
        // SAFETY: the exception's levels keep the code states, and these the ones around them.
        let mut root = unsafe { &*l.code };
        while matches!(root.code.kind, CodeKind::Block | CodeKind::Eval) {
            blocks += (root.code.kind == CodeKind::Block) as u32;
            match root.parent.get() {
                p if p.is_null() => break,
                // SAFETY: as above.
                p => root = unsafe { &*p },
            }
        }
        let code = &*root.code;
        let name = match code.kind {
            CodeKind::Program if *code.file == *self.script => Name::Words("<main>"),
            CodeKind::Program => Name::Words("<top (required)>"),
            CodeKind::Class | CodeKind::Method => Name::Of(code.name),
            CodeKind::Block | CodeKind::Eval => Name::Of(m.name),
        };
        let owner = match code.kind {
            CodeKind::Program | CodeKind::Class => None,
            _ if m.method_kind() == MethodKind::Frame => None,
            _ => self.owner_label(m.owner),
        };
        Label::Call { blocks, owner, name }
    }
    /// Backtrace as Array of Strings.
    pub fn backtrace_value(&mut self, skip: usize) -> Value {
        let lines: Vec<String> = self.locations(skip).iter().map(|l| l.to_string()).collect();
        self.str_array(&lines)
    }
    /// File and line of the innermost Ruby frame.
    pub fn here(&self) -> Option<(std::sync::Arc<str>, u32)> {
        let f = self.ruby_frame()?;
        // SAFETY: a live Ruby frame.
        unsafe {
            let cs = &*(*f).code;
            Some((cs.code.file.clone(), cs.line_of((*f).ip)))
        }
    }
}

/// Whether a Code is part of the core library that is written in Ruby, or nobody's.
pub(crate) fn internal(code: &Code) -> bool {
    code.file.starts_with("<internal") || code.of_symbol
}

/// The levels that a backtrace shows. A builtin's `code` is null, also when it is written in Ruby: of its frames only the one that the
/// program called shows, and the `each` that it walks with. A stand-in for a method of Enumerable has called the block itself; that method would have by `each`,
/// which shows as a level of the same method cell.
pub(crate) fn visible(levels: impl Iterator<Item = Level>) -> impl Iterator<Item = Level> {
    numbered(levels.map(|l| (0, l))).map(|(_, l)| l)
}

/// The same with the numbers of the levels among all.
fn visible_at(levels: Vec<(usize, Level)>) -> Vec<(usize, Level)> {
    numbered(levels.into_iter()).collect()
}

fn numbered(levels: impl Iterator<Item = (usize, Level)>) -> impl Iterator<Item = (usize, Level)> {
    let mut levels = levels.peekable();
    // Whether the level before, which this one called, is a block.
    let mut in_block = false;
    let mut next = None;
    std::iter::from_fn(move || {
        if next.is_some() {
            in_block = false;
            return next.take();
        }
        loop {
            let (i, l) = levels.next()?;
            let walks = |m: Method| in_block && m.is_stand_in() && m.owner != ids::INTEGER;
            if l.code.is_null() {
                let caller = levels.peek().map(|(_, c)| c);
                // A builtin that hands the block on to one of its own enters Ruby code once more.
                if in_block && caller.is_some_and(|c| c.code.is_null() && c.me == l.me) {
                    continue;
                }
                if let Some(m) = Ref::<MethodCell>::from_value(l.me).filter(|m| shown(*m) && !part_of_caller(*m, caller)) {
                    let own = Level { block: false, ..l };
                    if walks(m) {
                        next = Some((i, own));
                        return Some((i, Level { block: true, ..l }));
                    }
                    in_block = false;
                    return Some((i, own));
                }
                continue;
            }
            // SAFETY: levels are of live frames, or an exception keeps their code states.
            let code = unsafe { &(*l.code).code };
            if code.of_symbol {
                in_block = true;
                continue;
            }
            if !internal(code) {
                in_block = l.block;
                return Some((i, l));
            }
            // SAFETY: as above.
            let inner = levels.peek().is_some_and(|(_, n)| !n.code.is_null() && internal(unsafe { &(*n.code).code }));
            let m = Ref::<MethodCell>::of(l.me);
            if code.kind == CodeKind::Method && (!inner || m.name == sym::each) && !m.name.name().starts_with("__") {
                let own = Level { code: std::ptr::null(), block: false, ..l };
                if walks(m) {
                    next = Some((i, own));
                    return Some((i, Level { block: true, ..own }));
                }
                in_block = false;
                return Some((i, own));
            }
        }
    })
}

/// Whether a builtin counts as part of the code that called it.
fn part_of_caller(m: Method, caller: Option<&Level>) -> bool {
    let Some(caller) = caller else { return false };
    if caller.code.is_null() {
        let by = Ref::<MethodCell>::from_value(caller.me);
        // What a stand-in leaves to another class's method of its name.
        if by.is_some_and(|by| by.is_stand_in() && by.name == m.name) {
            return true;
        }
        // The bodies of `Struct.new` and `Data.define`.
        let by = by.map(|m| m.name);
        return m.owner == ids::MODULE && &*m.name.name() == "class_eval" && by.is_some_and(|n| n == sym::new || &*n.name() == "define");
    }
    // SAFETY: levels are of live frames, or an exception keeps their code states.
    let code = unsafe { &(*caller.code).code };
    // What RubyGems' `require` calls. (Parts of the core library have no path in their name.)
    if code.file.starts_with("<internal:/") {
        return true;
    }
    // `&:name` calls the method, whatever that is.
    if code.of_symbol {
        return false;
    }
    let insn = code
        .insns
        .get(caller.at as usize)
        .filter(|i| matches!(i.opcode(), Op::Send | Op::SendBlk | Op::SendSelf | Op::SendSelfBlk | Op::SendX));
    let Some(site) = insn.and_then(|i| code.calls.get(i.c as usize)).filter(|s| s.name == m.name) else { return false };
    match m.owner {
        // Without a block it is an instruction to CRuby.
        ids::CLASS => m.name == sym::new && site.child == NO_BLOCK && site.flags & (call_flags::BLOCKARG | call_flags::OWN_BLOCK) == 0,
        // So are these operators of these classes, of whatever operands.
        ids::STRING => m.name == sym::shl || &*m.name.name() == "=~",
        ids::REGEXP => &*m.name.name() == "=~",
        ids::ARRAY => {
            site.argc < 3 && (m.name == sym::shl || m.name == sym::aref && site.argc == 1 || m.name == sym::aset && site.argc == 2)
        }
        ids::HASH => m.name == sym::aref || m.name == sym::aset,
        _ => false,
    }
}

/// Whether a builtin shows in backtraces. Those that only pass a call on have no level of their own.
fn shown(m: Method) -> bool {
    if m.method_kind() != MethodKind::Native {
        return false;
    }
    match m.name {
        sym::raise | sym::fail | sym::const_missing | sym::method_missing => false,
        sym::backtrace => m.owner != ids::EXCEPTION,
        n => match m.owner {
            ids::PROC => !matches!(&*n.name(), "call" | "()" | "yield" | "===" | "[]"),
            ids::KERNEL | ids::BASIC_OBJECT => !matches!(&*n.name(), "send" | "__send__"),
            _ => true,
        },
    }
}
