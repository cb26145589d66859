//! Refinements: methods that only the call sites of some lexical scopes see.
//!
//! A scope's cref holds the refinements that `using` activated in it (and in the scopes around, when it was opened): an Array, the one to
//! ask first at the front, or nil. Only the slow path of a call, which fills the inline cache, looks at it; so sites in scopes without
//! `using` pay nothing, and the others are cached as usual: a site's cref does not change, except by `using`, which empties the caches.
//! The one exception, a method body that several scopes with different refinements define, gets a Code (and so caches) of its own.
//!
//! A refinement is a module of class Refinement; its `extra` is the class that it refines.

use crate::methods::Method;
use crate::vm::Cx;
use std::sync::Arc;
use zakuro_bytecode::{Code, CodeKind};
use zakuro_object::*;

impl Cx {
    /// The class that a refinement refines; None for other modules.
    pub fn refined_class(&self, module: ClassId) -> Option<ClassId> {
        let d = self.class(module);
        if d.kind != ClassKind::Module || d.extra.is_nil() {
            return None;
        }
        self.class_id(d.extra)
    }
    /// Refinements in force in a lexical scope, the one to ask first at the front.
    #[inline]
    pub fn active_refinements(&self, cref: Value) -> Option<Ref<ArrayCell>> {
        let c = Ref::<CrefCell>::from_value(cref)?;
        Ref::from_value(c.refinements)
    }
    /// Finds a method as a call site in this lexical scope does.
    #[inline]
    pub fn find_method_from(&mut self, cref: Value, class: ClassId, name: Sym) -> Option<Method> {
        match self.active_refinements(cref) {
            None => self.find_method(class, name),
            Some(list) => {
                let usual = self.find_method(class, name);
                defined(self.refined(list, class, name, 0, usual).or(usual))
            }
        }
    }
    /// The same for a value, from the innermost Ruby frame: for builtins that call a method by name on behalf of their caller.
    pub fn method_of_here(&mut self, v: Value, name: Sym) -> Option<Method> {
        let class = self.dispatch_class(v);
        let cref = self.current_cref();
        self.find_method_from(cref, class, name)
    }
    /// Where `class` begins in an ancestor list: at the first of the modules that it prepends.
    fn refined_position(&self, mro: &[ClassId], class: ClassId) -> Option<usize> {
        let at = mro.iter().position(|c| *c == class)?;
        Some(self.begin_of_group(mro, at))
    }
    /// The refined method that comes before the `usual` one, in the ancestors from position `from` on.
    fn refined(&mut self, list: Ref<ArrayCell>, class: ClassId, name: Sym, from: usize, usual: Option<Method>) -> Option<Method> {
        self.note_cached_name(name);
        let mro = self.ancestor_list(class);
        let limit = match usual {
            Some(m) => mro.iter().skip(from).position(|c| *c == m.owner).map_or(usize::MAX, |p| p + from),
            None => usize::MAX,
        };
        let mut best: Option<(usize, Method)> = None;
        for i in 0..list.len() {
            let Some(id) = list.get(i).and_then(|r| self.class_id(r)) else { continue };
            let Some(m) = self.method_in(id, name) else { continue };
            let Some(refined) = self.refined_class(id) else { continue };
            let Some(at) = self.refined_position(&mro, refined) else { continue };
            if at >= from && at <= limit && best.as_ref().is_none_or(|b| at < b.0) {
                best = Some((at, m));
            }
        }
        let m = best?.1;
        if m.method_kind() != MethodKind::ZSuper {
            return Some(m);
        }
        let body = self.find_super_method(class, m.owner, name)?;
        Some(self.copy_method(body, name, body.owner, m.visibility()))
    }
    /// Method that `super` in the running method `me` calls on an object of `class`, with the refinements of the scope that it is written in.
    pub fn find_super_method_from(&mut self, class: ClassId, me: Method) -> Option<Method> {
        let (owner, name) = (me.owner, me.name);
        let usual = self.find_super_method_of(class, me);
        let Some(list) = self.active_refinements(me.cref) else { return usual };
        let mro = self.ancestor_list(class);
        let from = match self.refined_class(owner) {
            // From a refinement on to the refined class itself, whatever else refines it.
            Some(c) => self.refined_position(&mro, c)? + 1,
            None => self.behind_place(class, owner, me.place()).unwrap_or(0),
        };
        defined(self.refined(list, class, name, from, usual).or(usual))
    }
    /// `super` from a refinement's method: the refined class's.
    pub(crate) fn after_refinement(&self, class: ClassId, owner: ClassId) -> Option<usize> {
        let c = self.refined_class(owner)?;
        self.refined_position(&self.ancestor_list(class), c)
    }
    /// Makes refinements active in the innermost Ruby frame's lexical scope, from here on. The last one is asked first.
    pub fn activate_refinements(&mut self, refinements: &[Value]) {
        let Some(f) = self.ruby_frame() else { return };
        // SAFETY: a live Ruby frame; its `me` is a method cell.
        let me: Method = Ref::of(unsafe { (*f).me });
        let mut list = Gathered::of(&self.heap, refinements.iter().rev().copied());
        if let Some(old) = self.active_refinements(me.cref) {
            list.extend(old.elements(&self.heap).iter().filter(|r| !refinements.contains(r)));
        }
        let list = self.array(&list);
        // A copy: methods that the scope defined so far keep what they saw.
        let old = me.cref;
        let (class, parent) = match Ref::<CrefCell>::from_value(old) {
            Some(c) => (c.class, c.parent),
            None => (self.class_value(ids::OBJECT), Value::NIL),
        };
        let cref = self.new_cref(class, parent);
        let c: Ref<CrefCell> = Ref::of(cref);
        if let Some(o) = Ref::<CrefCell>::from_value(old) {
            c.set_definee(o.definee);
            c.set_visibility(o.header.aux);
        }
        c.set_refinements(list);
        self.cell_changes(me.as_value());
        me.set_cref(cref);
        self.bump_epoch();
    }
    /// The lexical scope of the code that runs with `me`, to be restored after a text that may call `using`.
    pub fn scope_refinements(&self, me: Value) -> Value {
        Ref::<MethodCell>::from_value(me).map_or(Value::NIL, |m| m.cref)
    }
    /// What an evaluated text activated ends with it, unless it ran in a Binding.
    pub fn restore_scope_refinements(&mut self, me: Value, cref: Value) {
        let Some(m) = Ref::<MethodCell>::from_value(me) else { return };
        let active = |c: Value| Ref::<CrefCell>::from_value(c).map(|c| c.refinements);
        if m.cref != cref && active(m.cref) != active(cref) {
            self.cell_changes(me);
            m.set_cref(cref);
            self.bump_epoch();
        }
    }
    /// Empties the inline caches: what calls find has changed.
    pub fn forget_call_caches(&mut self) {
        self.bump_epoch();
    }
    /// What the innermost Ruby frame belongs to, blocks and evals left out: a program, a class body, a method.
    pub fn scope_kind(&self) -> CodeKind {
        let mut cs = match self.ruby_frame() {
            // SAFETY: a live Ruby frame.
            Some(f) => unsafe { (*f).code },
            None => return CodeKind::Program,
        };
        loop {
            // SAFETY: code states live as long as the VM.
            let state = unsafe { &*cs };
            let around = state.parent.get();
            if !matches!(state.code.kind, CodeKind::Block | CodeKind::Eval) || around.is_null() {
                return state.code.kind;
            }
            cs = around;
        }
    }
    /// The Code to define a method from in a scope: a copy when another scope may have filled its caches and refinements are active.
    pub fn code_for_scope(&self, code: &Arc<Code>, cref: Value) -> Arc<Code> {
        if self.active_refinements(cref).is_some() && self.code_states.contains_key(&(Arc::as_ptr(code) as usize)) {
            return Arc::new(code.detached());
        }
        code.clone()
    }
}

/// What a refinement undefines is not there.
fn defined(m: Option<Method>) -> Option<Method> {
    m.filter(|m| m.method_kind() != MethodKind::Undefined)
}
