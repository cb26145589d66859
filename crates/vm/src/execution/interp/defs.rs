//! `def`, `class`, `module`.

use super::{check, dispatch, next, r};
use crate::builtin::Block;
use crate::frame::*;
use crate::methods::always_private;
use crate::methods::{has_fast_paths, is_fast_operator};
use crate::raise::Result;
use crate::vm::Cx;
use std::sync::Arc;
use zakuro_bytecode::{Code, CodeKind, Insn};
use zakuro_object::*;

pub unsafe fn def_method(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers (see `Handler`).
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        let name = (&(*cs).code.syms)[i.b as usize];
        let code: *const Arc<Code> = &(&(*cs).code.children)[i.c as usize];
        check!(cx, ip, regs, cs, cx.define_ruby_method(name, &*code));
        r!(regs, i.a) = Value::sym(name);
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn def_singleton(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; child `c` is a method (verifier). The Code stays where it is while hooks run, as its state does.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        let name = (&(*cs).code.syms)[i.b as usize];
        let code: *const Arc<Code> = &(&(*cs).code.children)[i.c as usize];
        check!(cx, ip, regs, cs, cx.define_singleton_ruby_method(r!(regs, i.a), name, &*code));
        r!(regs, i.a) = Value::sym(name);
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn open_class(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; child `c` is a class body (verifier), which has no parameters; a + 1 is a register, too. Both limits are
    // checked before the frame is written; what ran before (`inherited`, `const_added`) is over by then.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        let name = (&(*cs).code.syms)[i.b as usize];
        let opened = cx.open_class(r!(regs, i.a), r!(regs, i.a + 1), i.x, name);
        let class = check!(cx, ip, regs, cs, opened);
        let callee = cx.child_state(cs, i.c as usize);
        let base = regs.add(i.a as usize);
        let fp = cx.fp.add(1);
        if fp >= cx.frame_limit || base.wrapping_add((*callee).nregs as usize) >= cx.stack_limit {
            check!(cx, ip, regs, cs, cx.stack_error::<()>());
        }
        let scope = cx.new_cref(class, cx.current_cref());
        let owner = cx.class_id(class).unwrap_or(ids::OBJECT);
        let me = cx.frame_method((*callee).code.name, owner, scope);
        *base = class;
        for k in 1..(*callee).nlocals.max((*callee).env_reg + 1) {
            *base.add(k as usize) = Value::NIL;
        }
        fp.write(Frame { ip: (*callee).insns.get(), regs: base, code: callee, block: Block::NONE, me: me.as_value(), aux: FRAME_TOP });
        cx.fp = fp;
        dispatch!(cx, (*callee).insns.get(), base, callee)
    }
}

impl Cx {
    /// Where `def` puts methods now: the lexical scope's definee.
    pub fn default_definee(&mut self) -> Result<ClassId> {
        let cref = self.current_cref();
        let Some(c) = Ref::<CrefCell>::from_value(cref) else { return Ok(ids::OBJECT) };
        if c.definee == Value::FALSE {
            return self.singleton_class(c.class);
        }
        if c.definee == Value::TRUE {
            // instance_eval: the singleton class is made when something is defined.
            let object = self.current_self();
            return self.singleton_class(object);
        }
        let v = if c.definee.is_nil() { c.class } else { c.definee };
        match self.class_id(v) {
            Some(id) => Ok(id),
            None => self.type_error("no class/module to add method"),
        }
    }
    /// Visibility that `def` gives in the current scope (3: module_function).
    pub fn scope_visibility(&self) -> u16 {
        let Some(f) = self.ruby_frame() else { return 0 };
        // SAFETY: a live Ruby frame; its `me` is a method cell: in a block, that of the method around it, or a copy with a scope of its own
        // (`class_exec`, `Class.new`).
        let (kind, me) = unsafe { ((*(*f).code).code.kind, Ref::<MethodCell>::from_value((*f).me)) };
        let methods_own = |m: Ref<MethodCell>| {
            let table = &self.class(m.owner).methods;
            [m.name, m.called].iter().any(|n| table.get(n) == Some(&m.as_value()))
        };
        if kind == CodeKind::Method || matches!(kind, CodeKind::Block | CodeKind::Eval) && me.is_some_and(methods_own) {
            return 0;
        }
        Ref::<CrefCell>::from_value(self.current_cref()).map_or(0, |c| c.header.aux)
    }
    /// Sets it (`private` without arguments).
    pub fn set_scope_visibility(&mut self, v: u16) {
        let Some(f) = self.ruby_frame() else { return };
        // SAFETY: a live Ruby frame; its `me` is a method cell.
        let me = unsafe { Ref::<MethodCell>::of_unchecked((*f).me) };
        let cref = self.own_scope(me.cref);
        if cref != me.cref {
            // The image's, which other VMs read.
            let own = self.copy_method(me, me.called, me.owner, me.visibility());
            own.set_cref(cref);
            // SAFETY: as above.
            unsafe { (*f).me = own.as_value() };
        }
        if let Some(c) = Ref::<CrefCell>::from_value(cref) {
            self.cell_changes(cref);
            c.set_visibility(v);
        }
    }
    /// The visibility kept in the lexical scope of a method cell.
    pub fn scope_default(&self, me: Value) -> u16 {
        Ref::<MethodCell>::from_value(me).and_then(|m| Ref::<CrefCell>::from_value(m.cref)).map_or(0, |c| c.header.aux)
    }
    /// Puts it back.
    pub fn restore_scope_default(&mut self, me: Value, v: u16) {
        if let Some(c) = Ref::<MethodCell>::from_value(me).and_then(|m| Ref::<CrefCell>::from_value(m.cref))
            && c.header.aux != v
        {
            self.cell_changes(c.as_value());
            c.set_visibility(v);
        }
    }
    #[inline(never)]
    fn define_ruby_method(&mut self, name: Sym, code: &Arc<Code>) -> Result<()> {
        let class = self.default_definee()?;
        let cref = self.current_cref();
        let scope = self.scope_visibility();
        let vis = match scope {
            _ if always_private(name) => Visibility::Private,
            1 | 3 => Visibility::Private,
            2 => Visibility::Protected,
            _ => Visibility::Public,
        };
        let own = &self.code_for_scope(code, cref);
        let m = self.ruby_method(name, class, vis, own, cref);
        if !Arc::ptr_eq(own, code) {
            self.detached_unit(m);
        }
        self.define_method_entry(class, name, m)?;
        if scope == 3 {
            let object = self.class_value(class);
            let s = self.singleton_class(object)?;
            let m = self.copy_method(m, name, s, Visibility::Public);
            self.add_method(s, name, m);
            self.call_hook(object, sym::singleton_method_added, Value::sym(name))?;
        }
        Ok(())
    }
    /// What much relies on is `doing` (redefining, undefining, removing).
    pub fn warn_serious(&mut self, class: ClassId, name: Sym, doing: &str) -> Result<()> {
        let redefined = doing == "redefining";
        let known = match name.bytes() {
            b"object_id" | b"__id__" | b"__send__" => !redefined || self.find_method(class, name).is_some(),
            b"initialize" => !redefined,
            _ => false,
        };
        if known {
            self.warn_here(&format!("{doing} '{}' may cause serious problems", name.name()))?;
        }
        Ok(())
    }
    /// The method that `alias a a` was last said of in a class, until it is replaced.
    fn self_alias(&mut self, class: ClassId) -> Option<Sym> {
        let object = self.class_value(class);
        self.ivar_get(object, Sym::intern("__self_alias")).as_sym()
    }
    pub(crate) fn set_self_alias(&mut self, class: ClassId, name: Option<Sym>) {
        let object = self.class_value(class);
        self.ivar_set_raw(object, Sym::intern("__self_alias"), name.map_or(Value::NIL, Value::sym));
    }
    /// With `-w`: a method is about to be replaced that has no other name.
    #[cold]
    fn warn_redefined(&mut self, class: ClassId, name: Sym) -> Result<()> {
        let entry = |v: &Value| Ref::<MethodCell>::from_value(*v);
        let Some(old) = self.class(class).methods.get(&name).and_then(entry) else { return Ok(()) };
        if matches!(old.method_kind(), MethodKind::Undefined | MethodKind::ZSuper | MethodKind::Native) || old.name != name {
            return Ok(());
        }
        let same = |m: Ref<MethodCell>| m.body == old.body && m.data == old.data;
        if self.class(class).methods.iter().any(|(n, v)| *n != name && entry(v).is_some_and(same)) {
            return Ok(());
        }
        if self.self_alias(class) == Some(name) {
            self.set_self_alias(class, None);
            return Ok(());
        }
        let place = match old.method_kind() {
            MethodKind::Proc => self.block_code(crate::builtin::Block(old.data.bits())).map(|c| (c.file.clone(), c.line)),
            _ => Cx::method_code(old).map(|c| (c.file.clone(), c.line)),
        };
        // What the library itself replaces (`pp` when pp.rb comes), or is made to replace, is nobody's mistake.
        let inside = |p: &Option<(Arc<str>, u32)>| p.as_ref().is_some_and(|(file, _)| file.starts_with("<internal:"));
        if inside(&place) || inside(&self.here()) {
            return Ok(());
        }
        self.warn_here(&format!("method redefined; discarding old {}", name.name()))?;
        if place.is_some() {
            self.warn_at(place, &format!("previous definition of {} was here", name.name()))?;
        }
        Ok(())
    }
    /// `Warning[:performance]`: an operator with fast paths is about to be another method than the builtin one.
    pub(crate) fn warn_of_slow_operator(&mut self, class: ClassId, name: Sym) -> Result<()> {
        if self.in_boot || !is_fast_operator(name) || !has_fast_paths(class) || !self.warns("performance") {
            return Ok(());
        }
        let old = self.class(class).methods.get(&name).and_then(|v| Ref::<MethodCell>::from_value(*v));
        match old {
            Some(old) if old.method_kind() == MethodKind::Native => {
                let label = self.method_label(old);
                self.warn_category(&format!("Redefining '{label}' disables interpreter and JIT optimizations"), "performance")
            }
            _ => Ok(()),
        }
    }
    /// Adds a method and calls the hooks. FrozenError when the class is frozen.
    pub fn define_method_entry(&mut self, class: ClassId, name: Sym, m: Ref<MethodCell>) -> Result<()> {
        let object = self.class_value(class);
        if self.class(class).frozen {
            let shown = if self.class(class).kind == ClassKind::Singleton { self.attached(class) } else { object };
            return self.frozen_class_error(shown);
        }
        if !self.in_boot && self.global_get(sym::verbose)? == Value::TRUE {
            self.warn_redefined(class, name)?;
        }
        self.warn_of_slow_operator(class, name)?;
        if !self.in_boot {
            self.warn_serious(class, name, "redefining")?;
        }
        self.add_method(class, name, m);
        if self.class(class).kind == ClassKind::Singleton {
            let attached = self.attached(class);
            self.call_hook(attached, sym::singleton_method_added, Value::sym(name))
        } else {
            self.call_hook(object, sym::method_added, Value::sym(name))
        }
    }
    #[cold]
    pub fn frozen_class_error<T>(&mut self, v: Value) -> Result<T> {
        let what = self.class_shown(v);
        let shown = self.inspect_for_error(v);
        let e = self.exception(ids::FROZEN_ERROR, &format!("can't modify frozen {what}: {shown}"));
        self.ivar_set_raw(e, Sym::intern("__receiver"), v);
        self.raise_value(e)
    }
    #[inline(never)]
    fn define_singleton_ruby_method(&mut self, object: Value, name: Sym, code: &Arc<Code>) -> Result<()> {
        let frozen = match self.class_id(object) {
            Some(c) => self.class(c).frozen,
            // Numbers have no singleton classes at all: TypeError.
            None => object.is_cell() && object.is_frozen() && !object.is_kind(Kind::Float) && !object.is_kind(Kind::Bignum),
        };
        if frozen {
            return self.frozen_class_error(object);
        }
        let class = self.singleton_class(object)?;
        if self.class(class).frozen {
            return self.frozen_class_error(object);
        }
        let cref = self.current_cref();
        let own = self.code_for_scope(code, cref);
        let m = self.ruby_method(name, class, Visibility::Public, &own, cref);
        if !Arc::ptr_eq(&own, code) {
            self.detached_unit(m);
        }
        self.define_method_entry(class, name, m)
    }
    /// Finds or makes the class of a `class`/`module` statement; returns the class object.
    fn open_class(&mut self, holder: Value, superclass: Value, kind: u8, name: Sym) -> Result<Value> {
        if kind == 2 {
            let s = self.singleton_class(holder)?;
            return Ok(self.class_value(s));
        }
        let by_path = !holder.is_undef();
        let holder = if holder.is_undef() { self.scope_holder(self.current_cref())? } else { holder };
        let Some(hid) = self.class_id(holder) else {
            let s = self.inspect_for_error(holder);
            return self.type_error(format!("{s} is not a class/module"));
        };
        if kind == 0 && !superclass.is_undef() && !self.class_id(superclass).is_some_and(|c| self.class(c).kind != ClassKind::Module) {
            return self.type_error(
                "superclass must be an instance of Class (given an instance of ".to_string() + &self.class_name_of(superclass) + ")",
            );
        }
        let existing = match self.const_lookup_in(hid, name, false)? {
            Some((c, v)) if c == hid => Some(v),
            _ => None,
        };
        if let Some(v) = existing {
            let path = self.const_path(hid, name);
            if by_path && hid != ids::OBJECT && self.const_entry(hid, name).is_some_and(|e| e.private) {
                return self.name_error(format!("private constant {path} referenced"), name, holder);
            }
            let is_module = self.class_id(v).map(|c| self.class(c).kind == ClassKind::Module);
            match (kind, is_module) {
                (0, Some(false)) | (1, Some(true)) => {}
                (k, _) => {
                    let what = if k == 0 { "a class" } else { "a module" };
                    let before = match self.const_places.get(&(hid, name)) {
                        Some((file, line)) => format!("\n{file}:{line}: previous definition of {} was here", name.name()),
                        None => String::new(),
                    };
                    return self.type_error(format!("{path} is not {what}{before}"));
                }
            }
            if let (Some(want), Some(c)) = (self.class_id(superclass), self.class_id(v))
                && kind == 0
                && !superclass.is_undef()
                && self.visible_superclass(c) != Some(want)
            {
                return self.type_error(format!("superclass mismatch for class {}", name.name()));
            }
            return Ok(v);
        }
        if self.class(hid).frozen {
            return self.frozen_class_error(holder);
        }
        if kind == 1 {
            let id = self.new_class(ClassKind::Module, None);
            let v = self.class_value(id);
            self.const_set(hid, name, v);
            self.call_hook(holder, sym::const_added, Value::sym(name))?;
            return Ok(v);
        }
        let sup = if superclass.is_undef() { ids::OBJECT } else { self.class_id(superclass).unwrap_or(ids::OBJECT) };
        let id = self.new_subclass(sup)?;
        let v = self.class_value(id);
        self.const_set(hid, name, v);
        let sup_value = self.class_value(sup);
        self.call_hook(holder, sym::const_added, Value::sym(name))?;
        self.call_hook(sup_value, sym::inherited, v)?;
        Ok(v)
    }
    /// New class after the checks of inheritance.
    pub fn new_subclass(&mut self, sup: ClassId) -> Result<ClassId> {
        self.check_superclass(sup)?;
        Ok(self.new_class(ClassKind::Class, Some(sup)))
    }
    /// TypeError unless classes may inherit from this one.
    pub fn check_superclass(&mut self, sup: ClassId) -> Result<()> {
        if sup == ids::CLASS {
            return self.type_error("can't make subclass of Class");
        }
        if self.class(sup).kind == ClassKind::Singleton {
            return self.type_error("can't make subclass of singleton class");
        }
        if self.class(sup).superclass.is_none() && sup != ids::BASIC_OBJECT {
            return self.type_error("can't inherit uninitialized class");
        }
        Ok(())
    }
}
