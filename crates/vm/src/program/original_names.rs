//! Which names of builtins are aliases, as `original_name`, `inspect` of a Method, backtraces and TracePoint tell: a declaration with several names makes a method of
//! each, all native, and an `alias` in the core library's Ruby is one wherever CRuby has two methods. Here is where Ruby's own answer differs.
//!
//! Rejected: saying it in each declaration (it would be a second meaning of the order of names there, and of `alias`).

use crate::vm::Cx;
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

/// Builtins that CRuby has in Ruby: TracePoint tells their calls as `:call`, in a file of CRuby's own. File without its brackets, class, and the methods that CRuby has in Ruby there; those of the class itself last.
#[rustfmt::skip]
const IN_RUBY_THERE: &[(&str, &str, &[&str], &[&str])] = &[
    ("array", "Array", &["shuffle!", "shuffle", "sample", "first", "last", "fetch_values"], &[]),
    ("dir", "Dir", &["initialize"], &["open", "[]", "glob"]),
    ("gc", "GC", &["garbage_collect"], &["start", "enable", "disable", "stress", "stress=", "count", "stat", "stat_heap", "config", "latest_gc_info", "measure_total_time=", "measure_total_time", "total_time"]),
    ("hash", "Hash", &["initialize"], &[]),
    ("io", "IO", &["read_nonblock", "write_nonblock", "readline"], &[]),
    ("kernel", "Kernel", &["class", "clone", "frozen?", "tap", "then", "yield_self", "loop", "Float", "Integer"], &[]),
    ("marshal", "Marshal", &[], &["load", "restore"]),
    ("numeric", "Numeric", &["real?", "real", "integer?", "finite?", "infinite?", "imaginary", "imag", "conjugate", "conj", "+@"], &[]),
    ("numeric", "Integer", &["-@", "~", "abs", "magnitude", "bit_length", "even?", "integer?", "odd?", "ord", "size", "times", "to_i", "to_int", "zero?", "ceildiv", "numerator", "denominator"], &[]),
    ("numeric", "Float", &["to_f", "abs", "magnitude", "-@", "zero?", "positive?", "negative?"], &[]),
    ("pack", "Array", &["pack"], &[]),
    ("pack", "String", &["unpack", "unpack1"], &[]),
    ("ractor", "Ractor", &["send", "<<", "inspect", "to_s", "name", "close", "[]", "[]=", "default_port", "join", "value", "monitor", "unmonitor"],
        &["new", "current", "count", "select", "receive", "recv", "shareable?", "make_shareable", "[]", "[]=", "store_if_absent", "main", "main?", "shareable_proc", "shareable_lambda"]),
    ("ractor", "Ractor::Port", &["receive", "send", "<<", "close", "closed?", "inspect", "to_s"], &[]),
    ("symbol", "Symbol", &["to_s", "id2name", "name", "to_sym", "intern"], &[]),
    ("thread_sync", "Thread::Queue", &["pop", "deq", "shift"], &[]),
    ("thread_sync", "Thread::SizedQueue", &["pop", "deq", "shift", "push", "enq", "<<"], &[]),
    ("thread_sync", "Thread::Mutex", &["initialize", "locked?", "owned?", "lock", "try_lock", "unlock", "synchronize", "sleep"], &[]),
    ("thread_sync", "Thread::ConditionVariable", &["initialize", "marshal_dump", "signal", "broadcast", "wait"], &[]),
    ("timev", "Time", &["initialize"], &["now", "at"]),
    ("trace_point", "TracePoint", &["inspect", "enable", "disable", "enabled?", "event", "lineno", "path", "parameters", "method_id", "callee_id", "defined_class", "binding", "self",
        "return_value", "raised_exception", "eval_script", "instruction_sequence"], &["new", "stat", "trace", "allow_reentry"]),
    ("warning", "Kernel", &["warn"], &[]),
];

impl Cx {
    /// The file in which CRuby has a builtin that it has in Ruby.
    pub fn file_in_ruby(&self, m: Ref<MethodCell>) -> Option<String> {
        let is_program = |code: &zakuro_bytecode::Code| !code.file.starts_with("<internal");
        if m.owner.0 >= zakuro_object::shape::FIRST_DYNAMIC || Cx::method_code(m).is_some_and(is_program) {
            return None;
        }
        let owner = self.class(m.owner);
        let (attached, of_itself) = match owner.kind {
            ClassKind::Singleton => (self.class_id(owner.attached)?, true),
            _ => (m.owner, false),
        };
        let (class, name) = (self.class_name(attached), m.called.name());
        let row =
            IN_RUBY_THERE.iter().find(|(_, c, own, singleton)| *c == class && (if of_itself { singleton } else { own }).contains(&&*name));
        row.map(|(file, ..)| format!("<internal:{file}>"))
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
