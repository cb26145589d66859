//! Procs of Symbols: `&:name`, `:name.to_proc`.

use crate::vm::{Cx, VmState};
use zakuro_object::*;

/// How many are kept.
const SYMBOL_PROCS: usize = 64;

/// Those made last, by the Symbol's number. Empty until there is one.
struct SymbolProcs(TracedVec);
impl Default for SymbolProcs {
    fn default() -> SymbolProcs {
        SymbolProcs(TracedVec::new())
    }
}
impl Trace for SymbolProcs {
    fn trace(&self, m: &mut Marker<'_>) {
        let SymbolProcs(kept) = self;
        kept.trace(m);
    }
}
impl VmState for SymbolProcs {}

impl Cx {
    /// Proc of `&:name`: a lambda.
    pub fn symbol_proc(&mut self, s: Sym) -> Value {
        // The scope's refinements count; without any the procs of all scopes are the same.
        let cref = self.current_cref();
        match self.active_refinements(cref) {
            Some(_) => {
                let me = self.frame_method(s, ids::OBJECT, cref).as_value();
                self.new_symbol_proc(s, me)
            }
            None => self.plain_symbol_proc(s),
        }
    }
    /// The scope whose refinements count when it is called: where `&:name` was written, and for `:name.to_proc` where it is called.
    pub fn scope_of_symbol_proc(&self, p: Ref<ProcCell>) -> Value {
        let me = match Ref::<MethodCell>::from_value(p.me) {
            Some(me) => Some(me),
            // SAFETY: a live frame; its `me` is a method cell.
            None => self.callers_frame().map(|f| Ref::<MethodCell>::of(unsafe { (*f).me })),
        };
        me.map_or(Value::NIL, |m| m.cref)
    }
    /// The name that a Proc of `&:name` calls, unless refinements count there.
    pub fn name_of_symbol_proc(&self, p: Ref<ProcCell>) -> Option<Sym> {
        p.extra.as_sym().filter(|_| p.proc_kind() == ProcKind::Symbol && self.active_refinements(self.scope_of_symbol_proc(p)).is_none())
    }
    /// That of no scope. Those made last are kept, so a name's is mostly the same object.
    pub fn plain_symbol_proc(&mut self, s: Sym) -> Value {
        let at = s.0 as usize % SYMBOL_PROCS;
        if let Some(p) =
            self.state::<SymbolProcs>().0.get(at).filter(|p| Ref::<ProcCell>::from_value(**p).is_some_and(|p| p.extra == Value::sym(s)))
        {
            return *p;
        }
        let p = self.new_symbol_proc(s, Value::NIL);
        let kept = &mut self.state::<SymbolProcs>().0;
        if kept.is_empty() {
            *kept = TracedVec::filled(Value::NIL, SYMBOL_PROCS);
        }
        kept[at] = p;
        p
    }
    fn new_symbol_proc(&mut self, s: Sym, me: Value) -> Value {
        let mut header = zakuro_object::header(ids::PROC, Kind::Proc, ProcKind::Symbol as u16);
        header.flags |= LAMBDA;
        let p = ProcCell { header, code: 0, env: Value::NIL, self_: Value::NIL, me, extra: Value::sym(s) };
        alloc_cell(&self.heap, p).as_value()
    }
}
