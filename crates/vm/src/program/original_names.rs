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

impl Cx {
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
