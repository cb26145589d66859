//! What programs see of how builtins are made: which names are aliases, as `original_name`, `inspect` of a Method, backtraces and TracePoint tell, and which parameters they have.
//!
//! A declaration with several names makes a method of each, all native, and an `alias` in the core library's Ruby is one wherever CRuby has two methods. Here is where Ruby's own answer differs.
//! Parameters have names in CRuby where it has the method in Ruby; what it has in C takes so many, or any number ([`Cx::declared_parameters`]).
//!
//! Rejected: saying it in each declaration (it would be a second meaning of the order of names there, and of `alias`).

use crate::vm::Cx;
use zakuro_base::{Sym, sym};
use zakuro_object::*;

/// Class, and of its methods: name, and the name that it was defined under.
#[rustfmt::skip]
const ORIGINAL_NAMES: &[(ClassId, &[(&str, &str)])] = &[
    (ids::ARRAY, &[("append", "push"), ("prepend", "unshift"), ("to_s", "inspect")]),
    (ids::COMPLEX, &[("angle", "angle"), ("conj", "conj"), ("magnitude", "magnitude"), ("phase", "phase"), ("pow", "pow"), ("quo", "quo"), ("rect", "rect")]),
    (ids::FALSE_CLASS, &[("inspect", "to_s")]),
    (ids::FLOAT, &[("inspect", "to_s"), ("magnitude", "abs")]),
    (ids::HASH, &[("to_s", "inspect")]),
    (ids::INTEGER, &[("inspect", "to_s"), ("magnitude", "abs")]),
    (ids::IO, &[("to_i", "fileno")]),
    (ids::KERNEL, &[("yield_self", "then")]),
    (ids::MATCH_DATA, &[("deconstruct", "captures")]),
    (ids::MODULE, &[("inspect", "to_s")]),
    (ids::NUMERIC, &[("angle", "angle"), ("conj", "conjugate"), ("conjugate", "conjugate"), ("magnitude", "magnitude"), ("modulo", "modulo"), ("phase", "phase"), ("rect", "rect")]),
    (ids::PROC, &[("inspect", "to_s")]),
    (ids::QUEUE, &[("<<", "push"), ("deq", "pop"), ("enq", "push"), ("shift", "pop"), ("size", "length")]),
    (ids::SET, &[("+", "|"), ("<", "proper_subset?"), ("<<", "add"), ("<=", "subset?"), ("===", "include?"), (">", "proper_superset?"), (">=", "superset?"), ("difference", "-"),
        ("filter!", "select!"), ("intersection", "&"), ("length", "size"), ("map!", "collect!"), ("member?", "include?"), ("to_s", "inspect"), ("union", "|")]),
    (ids::SIZED_QUEUE, &[("<<", "push"), ("deq", "pop"), ("enq", "push"), ("shift", "pop")]),
    (ids::STRING, &[("dedup", "-@")]),
    (ids::STRUCT, &[("to_s", "inspect")]),
    (ids::SYMBOL, &[("id2name", "to_s"), ("intern", "to_sym")]),
    (ids::THREAD, &[("inspect", "to_s")]),
    (ids::TIME, &[("iso8601", "xmlschema")]),
    (ids::TRUE_CLASS, &[("inspect", "to_s")]),
];

/// Builtins that CRuby has in Ruby: TracePoint tells their calls as `:call`, in a file of CRuby's own. File without its brackets, class, and the methods that CRuby has in Ruby there with
/// their parameters (`a` is required, `a=` optional, `a:` a keyword that may be left out); those of the class itself last.
#[rustfmt::skip]
const IN_RUBY_THERE: &[(&str, &str, &[&str], &[&str])] = &[
    ("array", "Array", &["shuffle!(random:)", "shuffle(random:)", "sample(n=, random:)", "first(n=)", "last(n=)", "fetch_values(*indexes, &block)"], &[]),
    ("dir", "Dir", &["initialize(name, encoding:)"], &["open(name, encoding:, &block)", "[](*args, base:, sort:)", "glob(pattern, _flags=, flags:, base:, sort:)"]),
    ("gc", "GC", &["garbage_collect(full_mark:, immediate_mark:, immediate_sweep:)"], &["start(full_mark:, immediate_mark:, immediate_sweep:)", "enable", "disable", "stress", "stress=(flag)", "count",
        "stat(hash_or_key=)", "stat_heap(heap_name=, hash_or_key=)", "config(hash=)", "latest_gc_info(hash_or_key=)", "measure_total_time=(flag)", "measure_total_time", "total_time"]),
    ("gc", "ObjectSpace", &["garbage_collect(full_mark:, immediate_mark:, immediate_sweep:)"], &["garbage_collect(full_mark:, immediate_mark:, immediate_sweep:)"]),
    ("hash", "Hash", &["initialize(ifnone=, capacity:, &block)"], &[]),
    ("io", "IO", &["read_nonblock(len, buf=, exception:)", "write_nonblock(buf, exception:)", "readline(sep=, limit=, chomp:)"], &[]),
    ("kernel", "Kernel", &["class", "clone(freeze:)", "frozen?", "tap", "then", "yield_self", "loop", "Float(arg, exception:)", "Integer(arg, base=, exception:)"],
        &["Float(arg, exception:)", "Integer(arg, base=, exception:)", "loop"]),
    ("marshal", "Marshal", &[], &["load(source, proc=, freeze:)", "restore(source, proc=, freeze:)"]),
    ("nilclass", "NilClass", &["rationalize(eps=)", "to_c", "to_i", "to_f", "to_r"], &[]),
    ("numeric", "Numeric", &["dup", "real?", "real", "integer?", "finite?", "infinite?", "imaginary", "imag", "conjugate", "conj", "+@"], &[]),
    ("numeric", "Integer", &["-@", "~", "abs", "magnitude", "bit_length", "even?", "integer?", "odd?", "ord", "size", "times", "to_i", "to_int", "zero?", "ceildiv(other)", "numerator", "denominator"], &[]),
    ("numeric", "Float", &["to_f", "abs", "magnitude", "-@", "zero?", "positive?", "negative?"], &[]),
    ("pack", "Array", &["pack(fmt, buffer:)"], &[]),
    ("pack", "String", &["unpack(fmt, offset:)", "unpack1(fmt, offset:)"], &[]),
    ("prelude", "Binding", &["irb(...)"], &[]),
    ("prelude", "Kernel", &["pp(*objs)"], &[]),
    ("prelude", "Enumerable", &["to_set(*args, &block)"], &[]),
    ("ractor", "Ractor", &["send(...)", "<<(...)", "inspect", "to_s", "name", "close", "[](sym)", "[]=(sym, val)", "default_port", "join", "value", "monitor(port)", "unmonitor(port)"],
        &["new(*args, name:, &block)", "current", "count", "select(*ports)", "receive", "recv", "shareable?(obj)", "make_shareable(obj, copy:)", "[](sym)", "[]=(sym, val)", "store_if_absent(sym)", "main", "main?",
        "shareable_proc(self:)", "shareable_lambda(self:)"]),
    ("ractor", "Ractor::Port", &["receive", "send(obj, move:)", "<<(obj, move:)", "close", "closed?", "inspect", "to_s"], &[]),
    ("symbol", "Symbol", &["to_s", "id2name", "name", "to_sym", "intern"], &[]),
    ("thread_sync", "Thread::Queue", &["pop(non_block=, timeout:)", "deq(non_block=, timeout:)", "shift(non_block=, timeout:)"], &[]),
    ("thread_sync", "Thread::SizedQueue", &["pop(non_block=, timeout:)", "deq(non_block=, timeout:)", "shift(non_block=, timeout:)", "push(object, non_block=, timeout:)", "enq(object, non_block=, timeout:)",
        "<<(object, non_block=, timeout:)"], &[]),
    ("thread_sync", "Thread::Mutex", &["initialize", "locked?", "owned?", "lock", "try_lock", "unlock", "synchronize", "sleep(timeout=)"], &[]),
    ("thread_sync", "Thread::ConditionVariable", &["initialize", "marshal_dump", "signal", "broadcast", "wait(mutex, timeout=)"], &[]),
    ("timev", "Time", &["initialize(year=, mon=, mday=, hour=, min=, sec=, zone=, in:, precision:)"], &["now(in:)", "at(time, subsec=, unit=, in:)"]),
    ("trace_point", "TracePoint", &["inspect", "enable(target:, target_line:, target_thread:)", "disable", "enabled?", "event", "lineno", "path", "parameters", "method_id", "callee_id", "defined_class", "binding", "self",
        "return_value", "raised_exception", "eval_script", "instruction_sequence"], &["new(*events)", "stat", "trace(*events)", "allow_reentry"]),
    ("warning", "Kernel", &["warn(*msgs, uplevel:, category:)"], &["warn(*msgs, uplevel:, category:)"]),
];

/// A list of parameters as [`IN_RUBY_THERE`] has it, as (kind, name).
fn parameters_of(list: &str) -> Parameters {
    if list == "..." {
        return vec![("rest", Some(sym::anon_rest)), ("keyrest", Some(sym::anon_kwrest)), ("block", Some(sym::anon_block))];
    }
    let parameter = |text: &str| {
        let (kind, name) = match (text.as_bytes().first(), text.as_bytes().last()) {
            (Some(b'*'), _) => ("rest", &text[1..]),
            (Some(b'&'), _) => ("block", &text[1..]),
            (_, Some(b'=')) => ("opt", &text[..text.len() - 1]),
            (_, Some(b':')) => ("key", &text[..text.len() - 1]),
            _ => ("req", text),
        };
        (kind, Some(Sym::intern(name)))
    };
    list.split(", ").filter(|text| !text.is_empty()).map(parameter).collect()
}

/// Kinds and names of parameters.
pub type Parameters = Vec<(&'static str, Option<Sym>)>;

/// Whether a method is one of the core library, and no program's in its place.
fn is_of_core(m: Ref<MethodCell>) -> bool {
    m.owner.0 < zakuro_object::shape::FIRST_DYNAMIC && Cx::method_code(m).is_none_or(|code| code.file.starts_with("<internal"))
}

impl Cx {
    /// The file in which CRuby has a builtin that it has in Ruby.
    pub fn file_in_ruby(&self, m: Ref<MethodCell>) -> Option<String> {
        self.in_ruby_there(m).map(|(file, _)| format!("<internal:{file}>"))
    }
    /// File and parameters of a builtin that CRuby has in Ruby.
    fn in_ruby_there(&self, m: Ref<MethodCell>) -> Option<(&'static str, &'static str)> {
        if !is_of_core(m) {
            return None;
        }
        let (class, of_itself) = self.shown_owner(m)?;
        let (class, name) = (self.class_name(class), m.called.name());
        let of_class = IN_RUBY_THERE.iter().filter(|(_, c, ..)| *c == class);
        of_class
            .flat_map(|(file, _, own, singleton)| (if of_itself { singleton } else { own }).iter().map(|entry| (*file, *entry)))
            .find_map(|(file, entry)| {
                let list = entry.strip_prefix(&*name)?;
                let list = if list.is_empty() { list } else { list.strip_prefix('(')?.strip_suffix(')')? };
                Some((file, list))
            })
    }
    /// The class that a method is written for, and whether it is one of that class itself.
    fn shown_owner(&self, m: Ref<MethodCell>) -> Option<(ClassId, bool)> {
        let owner = self.class(m.owner);
        match owner.kind {
            ClassKind::Singleton => Some((self.class_id(owner.attached)?, true)),
            _ => Some((m.owner, false)),
        }
    }
    /// The parameters of a builtin as CRuby declares them; None for what programs define, and what only Zakuro has.
    pub fn declared_parameters(&self, m: Ref<MethodCell>) -> Option<Parameters> {
        if !is_of_core(m) {
            return None;
        }
        if let Some((_, list)) = self.in_ruby_there(m) {
            return Some(parameters_of(list));
        }
        let required = match m.method_kind() {
            MethodKind::Native => Cx::native_row(m).filter(|row| row.max == row.min as isize && !row.by_name).map(|row| row.min),
            MethodKind::Ruby => {
                let (class, _) = self.shown_owner(m)?;
                let name = self.class_name(class);
                if name.starts_with("RubyVM") || name.starts_with("Ractor") {
                    return None;
                }
                let list = &Cx::method_code(m)?.params.list;
                let count = list.iter().filter(|(kind, _)| *kind != "block").count();
                list.iter().all(|(kind, _)| matches!(*kind, "req" | "block")).then_some(count)
            }
            _ => return None,
        };
        // What CRuby has in C.
        Some(required.map_or_else(|| vec![("rest", None)], |n| vec![("req", None); n]))
    }
    /// The arity that goes with [`Cx::declared_parameters`].
    pub(crate) fn declared_arity(&self, m: Ref<MethodCell>) -> Option<i64> {
        if let Some(row) = Cx::native_row(m).filter(|row| row.max == row.min as isize && !row.by_name) {
            return Some(row.min as i64);
        }
        let list = self.declared_parameters(m)?;
        let required = list.iter().filter(|(kind, _)| *kind == "req").count() as i64;
        let more = list.iter().any(|(kind, _)| matches!(*kind, "opt" | "rest" | "key" | "keyrest"));
        Some(if more { -required - 1 } else { required })
    }
    /// Sets the names of the core library's methods, before a program runs.
    pub fn set_original_names(&mut self) {
        for (class, methods) in ORIGINAL_NAMES {
            for (called, name) in *methods {
                if let Some(m) = self.method_in(*class, Sym::intern(called)) {
                    m.init_name(Sym::intern(name));
                }
            }
        }
    }
}
