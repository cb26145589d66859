//! Standard streams and stream globals of one VM.
//!
//! STDIN, STDOUT and STDERR are made when first asked for: a VM that prints nothing pays nothing.

use super::object::{self, Io, READ, Registry, WRITE};
use zakuro_macros::Trace;
use zakuro_vm::globals::GlobalRow;
use zakuro_vm::*;

/// What the standard streams call themselves.
pub const NAMES: [&str; 3] = ["<STDIN>", "<STDOUT>", "<STDERR>"];

/// What a VM knows about its streams.
#[derive(Trace, Default)]
pub struct IoState {
    #[untraced]
    pub open: Registry,
    /// STDIN, STDOUT, STDERR; None until first used.
    std: [Option<Value>; 3],
    /// $stdin, $stdout, $stderr when assigned.
    current: [Option<Value>; 3],
    /// `$,` `$/` `$\`
    pub ofs: Option<Value>,
    pub rs: Option<Value>,
    pub ors: Option<Value>,
    /// `$.`
    pub last_lineno: i64,
    pub argf: Option<Value>,
    pub argv: Option<Value>,
}

impl VmState for IoState {
    fn snapshot(&self, values: &mut Gathered) -> Option<Restore> {
        let slots = [
            self.std[0],
            self.std[1],
            self.std[2],
            self.current[0],
            self.current[1],
            self.current[2],
            self.ofs,
            self.rs,
            self.ors,
            self.argf,
            self.argv,
        ];
        let set = slots.map(|v| v.is_some());
        values.extend(slots.map(|v| v.unwrap_or(Value::NIL)));
        Some(blueprint(set, self.last_lineno))
    }
}

fn blueprint(set: [bool; 11], last_lineno: i64) -> Restore {
    let restore = move |cx: &mut Cx, v: &[Value]| {
        let at = |i: usize| set[i].then(|| v[i]);
        let s = cx.state::<IoState>();
        s.std = [at(0), at(1), at(2)];
        s.current = [at(3), at(4), at(5)];
        (s.ofs, s.rs, s.ors, s.argf, s.argv) = (at(6), at(7), at(8), at(9), at(10));
        s.last_lineno = last_lineno;
    };
    let save = move |out: &mut Saved| {
        for s in set {
            out.flag(s);
        }
        out.signed(last_lineno);
        Some("streams")
    };
    savable_state(restore, save)
}
zakuro_vm::state_loader!("streams", |r| {
    let mut set = [false; 11];
    for s in &mut set {
        *s = r.flag()?;
    }
    let last_lineno = r.signed()?;
    r.ends(set.len())?;
    Some(blueprint(set, last_lineno))
});

/// The constant STDIN, STDOUT or STDERR.
pub fn standard(cx: &mut Cx, n: usize) -> Value {
    if let Some(v) = cx.state::<IoState>().std[n] {
        return v;
    }
    let mut io = Io::new(n as i32, if n == 0 { READ } else { WRITE });
    io.owned = false;
    io.sync = n == 2;
    io.path = Some(NAMES[n].into());
    let v = object::make(cx, ids::IO, io);
    cx.state::<IoState>().std[n] = Some(v);
    v
}

/// `$stdin`, `$stdout` or `$stderr`.
pub fn current(cx: &mut Cx, n: usize) -> Value {
    match cx.state::<IoState>().current[n] {
        Some(v) => v,
        None => standard(cx, n),
    }
}

/// Sets `$stdin`, `$stdout` or `$stderr`.
pub fn set_current(cx: &mut Cx, n: usize, v: Value) {
    cx.state::<IoState>().current[n] = Some(v);
}

/// Whether the VM's STDIN (0), STDOUT or STDERR goes to another descriptor than the process's; for child processes.
pub fn redirected(cx: &mut Cx, n: usize) -> Option<i32> {
    let v = cx.state::<IoState>().std[n]?;
    let io = object::raw(cx, v).ok()?;
    (io.fd >= 0 && io.fd != n as i32).then_some(io.fd)
}

/// Which of the VM's standard streams this one is.
pub fn number_of(cx: &mut Cx, v: Value) -> Option<usize> {
    cx.state::<IoState>().std.iter().position(|s| *s == Some(v))
}

/// Writes a text to STDERR if that is what `$stderr` is, or if STDERR is closed; false if `$stderr` is another stream. Whether STDERR takes it is nobody's business: a warning
/// must not end a program.
pub fn write_to_stderr(cx: &mut Cx, text: Value) -> Result<bool> {
    let own = standard(cx, 2);
    let closed = object::raw(cx, own)?.is_closed();
    if current(cx, 2) != own && !closed {
        return Ok(false);
    }
    if !closed {
        let bytes = Ref::<StringCell>::from_value(text).map(|s| s.to_vec()).unwrap_or_default();
        let _ = cx.rescue(&[ids::SYSTEM_CALL_ERROR, ids::IO_ERROR], |cx| object::write(cx, own, &bytes))?;
    }
    Ok(true)
}

/// Writes what `$stdout` and `$stderr` hold back, before there is another process that would write it once more, or whose output it would follow.
pub fn flush_standard(cx: &mut Cx) -> Result<()> {
    for name in [sym::stdout, sym::stderr] {
        let v = cx.global_get(name)?;
        if cx.is_data::<object::IoData>(v) && !object::raw(cx, v)?.is_closed() {
            object::flush(cx, v)?;
        }
    }
    Ok(())
}

/// A prompt must be seen before the program waits for input.
pub fn before_terminal_read(cx: &mut Cx) -> Result<()> {
    if let Some(v) = cx.state::<IoState>().std[1] {
        let io = object::raw(cx, v)?;
        if !io.is_closed() && !io.wbuf.is_empty() {
            // What can't be written stays in the buffer; reading is possible all the same.
            let _ = cx.rescue(&[ids::SYSTEM_CALL_ERROR], |cx| object::flush(cx, v))?;
        }
    }
    Ok(())
}

/// Writes of what is still buffered as much as goes without a wait: before a child process starts or a VM is forked, and at the end of a VM.
pub fn flush_all(cx: &mut Cx) {
    cx.state::<IoState>().open.each(|io| io.flush_now());
}

/// The same when the VM's program is over: waits until standard streams and what was opened by a path have everything. What does not fit into the pipes and sockets that
/// the program made is lost, as in CRuby: the other side may be the program itself. A VM that has to be left does not wait.
pub fn flush_at_end(cx: &mut Cx) {
    loop {
        let mut full = Vec::new();
        cx.state::<IoState>().open.each(|io| {
            io.flush_now();
            if !io.wbuf.is_empty() && io.path.is_some() {
                full.push(libc::pollfd { fd: io.write_fd(), events: libc::POLLOUT, revents: 0 });
            }
        });
        if full.is_empty() {
            return;
        }
        if super::wait::wait_any(cx, &mut full, &[], None).is_err() {
            cx.take_pending();
            return;
        }
    }
}

/// Called by the runtime for each new VM. Streams are made on first use, so there is nothing to do but to keep the promise.
pub fn vm_setup(_cx: &mut Cx) {}

/// ARGV of the VM; filled by the runtime.
pub fn argv(cx: &mut Cx) -> Value {
    if let Some(v) = cx.state::<IoState>().argv {
        return v;
    }
    let v = cx.new_array().as_value();
    cx.state::<IoState>().argv = Some(v);
    v
}

/// Sets ARGV from the command line.
pub fn set_argv(cx: &mut Cx, args: &[Vec<u8>]) {
    let list = cx.new_array();
    let encoding = zakuro_core_text::encoding::default_external(cx);
    for a in args {
        let s = zakuro_core_text::encoding::external_text(cx, a, encoding);
        ArrayCell::push(list, &mut cx.heap, s);
    }
    let v = list.as_value();
    cx.state::<IoState>().argv = Some(v);
}

/// Sets `$/` or `$\\` for the command line, without the warning that an assignment gives.
pub fn set_separator(cx: &mut Cx, name: &str, v: Value) {
    let s = cx.state::<IoState>();
    match name {
        "$/" => s.rs = Some(v),
        _ => s.ors = Some(v),
    }
}

/// ARGF of the VM (prelude/argf.rb).
pub fn argf(cx: &mut Cx) -> Value {
    if let Some(v) = cx.state::<IoState>().argf {
        return v;
    }
    let v = cx.new_object(ids::ARGF_CLASS);
    cx.state::<IoState>().argf = Some(v);
    // `gets` has read from the standard input so far, without it.
    let input = current(cx, 0);
    let read = super::object::lines_read(input);
    if read > 0 {
        cx.ivar_set_raw(v, Sym::intern("@lineno"), Value::fixnum(read));
    }
    v
}

/// Value of a constant that each VM makes for itself on first use.
pub fn lazy_const(cx: &mut Cx, name: Sym) -> Result<Value> {
    match &*name.name() {
        "STDIN" => Ok(standard(cx, 0)),
        "STDOUT" => Ok(standard(cx, 1)),
        "STDERR" => Ok(standard(cx, 2)),
        "ARGV" => Ok(argv(cx)),
        "ENV" => Ok(crate::env::object(cx)),
        "ARGF" => Ok(argf(cx)),
        other => cx.name_error(format!("uninitialized constant {other}"), name, Value::NIL),
    }
}

/// Registers a constant of Object that [`lazy_const`] makes in each VM.
pub fn declare_lazy(cx: &mut Cx, name: &str) {
    let s = Sym::intern(name);
    cx.const_set(ids::OBJECT, s, Value::UNDEF);
    if let Some(e) = cx.class_mut(ids::OBJECT).consts.get_mut(&s) {
        e.autoload = Value::sym(s);
    }
}

pub fn setup(cx: &mut Cx) {
    for n in ["STDIN", "STDOUT", "STDERR", "ARGV", "ARGF", "TOPLEVEL_BINDING"] {
        declare_lazy(cx, n);
    }
    cx.class_mut(ids::ARGF_CLASS).name = Some(Sym::intern("ARGF.class"));
}

fn stream_index(name: Sym) -> usize {
    match &*name.name() {
        "$stdin" => 0,
        "$stderr" => 2,
        _ => 1,
    }
}
fn get_stream(cx: &mut Cx, name: Sym) -> Result<Value> {
    Ok(current(cx, stream_index(name)))
}
fn set_stream(cx: &mut Cx, name: Sym, v: Value) -> Result<()> {
    let n = stream_index(name);
    if n != 0 && !cx.responds(v, sym::write, true)? {
        let c = cx.class_shown(v);
        let name = cx.name_set(name);
        return cx.type_error(format!("{} must have write method, {c} given", name.name()));
    }
    cx.state::<IoState>().current[n] = Some(v);
    Ok(())
}

fn get_ofs(cx: &mut Cx, _: Sym) -> Result<Value> {
    Ok(cx.state::<IoState>().ofs.unwrap_or(Value::NIL))
}
fn get_ors(cx: &mut Cx, _: Sym) -> Result<Value> {
    Ok(cx.state::<IoState>().ors.unwrap_or(Value::NIL))
}
fn get_rs(cx: &mut Cx, _: Sym) -> Result<Value> {
    if let Some(v) = cx.state::<IoState>().rs {
        return Ok(v);
    }
    let v = cx.frozen_str("\n");
    cx.state::<IoState>().rs = Some(v);
    Ok(v)
}
fn check_separator(cx: &mut Cx, name: Sym, v: Value) -> Result<()> {
    if v.is_nil() || v.is_kind(Kind::String) {
        return Ok(());
    }
    let name = cx.name_set(name);
    cx.type_error(format!("value of {} must be String", name.name()))
}
/// An assignment to one of the separators: deprecated, but for nil.
fn separator_assigned(cx: &mut Cx, name: Sym, v: Value) -> Result<()> {
    check_separator(cx, name, v)?;
    if v.is_nil() { Ok(()) } else { cx.warn_category(&format!("non-nil '{}' is deprecated", cx.name_set(name).name()), "deprecated") }
}
fn set_ofs(cx: &mut Cx, name: Sym, v: Value) -> Result<()> {
    separator_assigned(cx, name, v)?;
    cx.state::<IoState>().ofs = Some(v);
    Ok(())
}
fn set_ors(cx: &mut Cx, name: Sym, v: Value) -> Result<()> {
    separator_assigned(cx, name, v)?;
    cx.state::<IoState>().ors = Some(v);
    Ok(())
}
fn set_rs(cx: &mut Cx, name: Sym, v: Value) -> Result<()> {
    separator_assigned(cx, name, v)?;
    // Kept as it is now: a frozen String of no other class and without variables.
    let plain = v.is_frozen() && cx.class_of(v) == ids::STRING && cx.ivar_list(v).is_empty();
    let v = match Ref::<StringCell>::from_value(v) {
        Some(s) if !plain => {
            let copy = cx.str_bytes(s.content(&cx.heap), s.encoding());
            copy.set_flags(flags::FROZEN);
            copy
        }
        _ => v,
    };
    cx.state::<IoState>().rs = Some(v);
    Ok(())
}
fn get_lineno(cx: &mut Cx, _: Sym) -> Result<Value> {
    let n = cx.state::<IoState>().last_lineno;
    Ok(cx.int(n))
}
fn set_lineno(cx: &mut Cx, _: Sym, v: Value) -> Result<()> {
    let n = cx.to_i64(v)?;
    let state = cx.state::<IoState>();
    state.last_lineno = n;
    if let Some(argf) = state.argf {
        cx.ivar_set_raw(argf, Sym::intern("@lineno"), Value::fixnum(n));
    }
    Ok(())
}
fn get_argv(cx: &mut Cx, _: Sym) -> Result<Value> {
    Ok(argv(cx))
}

fn get_filename(cx: &mut Cx, _: Sym) -> Result<Value> {
    let a = argf(cx);
    cx.call(a, Sym::intern("filename"), &[])
}

/// Special globals of this file.
pub static GLOBALS: &[GlobalRow] = &[
    GlobalRow { name: "$stdin", get: get_stream, set: Some(set_stream) },
    GlobalRow { name: "$stdout", get: get_stream, set: Some(set_stream) },
    GlobalRow { name: "$>", get: get_stream, set: Some(set_stream) },
    GlobalRow { name: "$stderr", get: get_stream, set: Some(set_stream) },
    GlobalRow { name: "$,", get: get_ofs, set: Some(set_ofs) },
    GlobalRow { name: "$/", get: get_rs, set: Some(set_rs) },
    GlobalRow { name: "$-0", get: get_rs, set: Some(set_rs) },
    GlobalRow { name: "$\\", get: get_ors, set: Some(set_ors) },
    GlobalRow { name: "$.", get: get_lineno, set: Some(set_lineno) },
    GlobalRow { name: "$*", get: get_argv, set: None },
    GlobalRow { name: "$<", get: |cx, _| Ok(argf(cx)), set: None },
    GlobalRow { name: "$FILENAME", get: get_filename, set: None },
    GlobalRow { name: "$?", get: |cx, _| Ok(crate::process::status::last(cx)), set: None },
];
