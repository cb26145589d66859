//! The internal functions of `Op::Intrinsic`.

use super::own_variables::Own;
use super::{check, next};
use crate::frame::*;
use crate::library::library;
use crate::raise::Result;
use crate::vm::Cx;
use zakuro_bytecode::{Insn, Intrinsic, Place};
use zakuro_object::*;

pub unsafe fn intrinsic(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers (see `Handler`).
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        let base = regs.add(i.a as usize);
        let v = check!(cx, ip, regs, cs, run(cx, i, base, cs));
        *base = v;
        next!(cx, ip, regs, cs)
    }
}

/// The environment so many levels above a frame's.
unsafe fn env_above(f: *mut Frame, depth: usize) -> Ref<EnvCell> {
    // SAFETY: places come from the compiler for this frame's code.
    unsafe {
        let mut e = super::blocks::env_of(f).bits() as *mut EnvCell;
        for _ in 0..depth {
            e = (*e).parent.bits() as *mut EnvCell;
        }
        Ref::from_ptr(e)
    }
}
/// What the innermost frame keeps as a special variable.
unsafe fn kept(cx: &Cx, f: *mut Frame, p: Place, which: Own) -> Value {
    // SAFETY: as above.
    unsafe {
        match p {
            Place::Reg(n) => *(*f).regs.add(n as usize),
            Place::Env { depth, slot } => {
                let env = env_above(f, depth as usize);
                cx.own_variable(env, which).map_or_else(|| *env.slots_ptr().add(slot as usize), |own| *own)
            }
            // Of `&block` alone.
            Place::Block => Value::NIL,
        }
    }
}
unsafe fn keep(cx: &Cx, f: *mut Frame, p: Place, which: Own, v: Value) {
    // SAFETY: as above.
    unsafe {
        match p {
            Place::Reg(n) => *(*f).regs.add(n as usize) = v,
            Place::Env { depth, slot } => {
                let env = env_above(f, depth as usize);
                match cx.own_variable(env, which) {
                    Some(own) => *own = v,
                    None => EnvCell::set(env, slot as usize, v),
                }
            }
            Place::Block => {}
        }
    }
}

impl Cx {
    /// Stores `$~` for the innermost Ruby frame, when its program reads it.
    pub fn set_backref(&mut self, m: Value) {
        if let Some(f) = self.ruby_frame() {
            // SAFETY: a live frame and its code.
            unsafe {
                if let Some(p) = (*(*f).code).code.backref {
                    keep(self, f, p, Own::Backref, m);
                }
            }
        }
    }
    /// The innermost Ruby frame, if its program reads `$~`: for `set_backref_of`, while the frame waits.
    pub fn backref_frame(&self) -> Option<*mut Frame> {
        // SAFETY: a live frame and its code.
        self.ruby_frame().filter(|f| unsafe { (*(**f).code).code.backref.is_some() })
    }
    /// Stores `$~` for a frame below the innermost one, which `backref_frame` gave and which has not ended.
    pub fn set_backref_of(&mut self, f: *mut Frame, m: Value) {
        // SAFETY: as the caller promises.
        unsafe {
            if let Some(p) = (*(*f).code).code.backref {
                keep(self, f, p, Own::Backref, m);
            }
        }
    }
    /// Stores `$~` for the innermost frame that is not of the core library.
    pub fn set_program_backref(&mut self, m: Value) {
        if let Some(f) = self.callers_frame() {
            // SAFETY: a live frame and its code.
            unsafe {
                if let Some(p) = (*(*f).code).code.backref {
                    keep(self, f, p, Own::Backref, m);
                }
            }
        }
    }
    /// Whether the program of the innermost Ruby frame reads `$~`: if not, no MatchData needs to be made.
    pub fn wants_backref(&self) -> bool {
        // SAFETY: a live frame and its code.
        self.ruby_frame().is_some_and(|f| unsafe { (*(*f).code).code.backref.is_some() })
    }
    /// `$~` of the innermost Ruby frame, for the program.
    pub fn backref(&self) -> Value {
        let m = self.last_match();
        DataCell::show(m);
        m
    }
    /// The same for who does not hand it on: the next match may be put in it.
    pub fn last_match(&self) -> Value {
        match self.ruby_frame() {
            // SAFETY: a live frame and its code.
            Some(f) => unsafe { (*(*f).code).code.backref.map_or(Value::NIL, |p| kept(self, f, p, Own::Backref)) },
            None => Value::NIL,
        }
    }
    pub fn set_lastline(&mut self, v: Value) {
        if let Some(f) = self.ruby_frame() {
            // SAFETY: a live frame and its code.
            unsafe {
                if let Some(p) = (*(*f).code).code.lastline {
                    keep(self, f, p, Own::LastLine, v);
                }
            }
        }
    }
    pub fn lastline(&self) -> Value {
        match self.ruby_frame() {
            // SAFETY: a live frame and its code.
            Some(f) => unsafe { (*(*f).code).code.lastline.map_or(Value::NIL, |p| kept(self, f, p, Own::LastLine)) },
            None => Value::NIL,
        }
    }
}

#[inline(never)]
unsafe fn run(cx: &mut Cx, i: Insn, base: *mut Value, cs: *const CodeState) -> Result<Value> {
    // SAFETY: `c` values stand in base..; syms are in range (verifier).
    unsafe {
        let arg = |n: usize| *base.add(n);
        let s = || (&(*cs).code.syms)[i.b as usize];
        let self_ = *(*cx.fp).regs;
        let cref = Ref::<MethodCell>::of_unchecked((*cx.fp).me).cref;
        let group = |cx: &mut Cx, n: i64| {
            let m = cx.last_match();
            if m.is_nil() { Ok(Value::NIL) } else { library().match_group(cx, m, n) }
        };
        Ok(match Intrinsic::ALL[i.x as usize] {
            Intrinsic::GetCvar => cx.cvar_read(cref, s())?,
            Intrinsic::SetCvar => {
                cx.cvar_write(cref, s(), arg(0))?;
                arg(0)
            }
            Intrinsic::DefinedCvar => match cx.cvar_scope() {
                Some(c) => Value::bool(cx.cvar_holder(c, s()).is_some()),
                None => Value::FALSE,
            },
            Intrinsic::DefinedIvar => Value::bool(cx.ivar_defined(self_, s())),
            Intrinsic::DefinedGlobal => Value::bool(cx.global_defined(s())),
            Intrinsic::DefinedConst => Value::bool(cx.const_is_defined(cref, s())),
            Intrinsic::DefinedConstFrom => match cx.class_id(arg(0)) {
                Some(c) => {
                    let mro = cx.ancestor_list(c);
                    Value::bool(
                        mro.iter()
                            .filter(|m| c == ids::OBJECT || **m != ids::OBJECT)
                            .any(|m| cx.const_defined_entry(*m, s()).is_some_and(|e| !e.private)),
                    )
                }
                None => Value::FALSE,
            },
            Intrinsic::DefinedMethod => {
                let (v, name) = (arg(0), s());
                match cx.method_of_here(v, name) {
                    Some(m) => Value::bool(match m.visibility() {
                        Visibility::Public => true,
                        Visibility::Protected => super::calls::may_call_protected(cx, m, v, self_),
                        Visibility::Private => false,
                    }),
                    // Whether it knows of more is asked of `respond_to_missing?`, if the object says that it answers that.
                    None if cx.has_own_respond_to(v) && !cx.responds(v, sym::respond_to_missing, true)? => Value::FALSE,
                    None => Value::bool(cx.basic_responds(v, name, false)?),
                }
            }
            Intrinsic::DefinedFcall => match cx.method_of_here(self_, s()) {
                Some(_) => Value::TRUE,
                None => Value::bool(cx.basic_responds(self_, s(), true)?),
            },
            Intrinsic::DefinedYield => Value::bool(cx.method_frame().is_some_and(|f| (*f).block.is_some())),
            Intrinsic::DefinedSuper => {
                let me: Ref<MethodCell> = Ref::of_unchecked((*cx.fp).me);
                if me.method_kind() == MethodKind::Frame {
                    return Ok(Value::FALSE);
                }
                let class = cx.dispatch_class(self_);
                Value::bool(cx.find_super_method_of(class, me).is_some())
            }
            Intrinsic::Alias => {
                let (new, old) = (cx.to_sym(arg(0))?, cx.to_sym(arg(1))?);
                let c = cx.default_definee()?;
                cx.alias_method(c, new, old)?;
                Value::NIL
            }
            Intrinsic::Undef => {
                let name = cx.to_sym(arg(0))?;
                let c = cx.default_definee()?;
                cx.undef_method(c, name)?;
                Value::NIL
            }
            Intrinsic::AliasGlobal => {
                let old = (&(*cs).code.syms)[i.c as usize];
                cx.global_alias(s(), old);
                Value::NIL
            }
            Intrinsic::BackrefMatch => cx.backref(),
            Intrinsic::BackrefNth => group(cx, i.b as i64)?,
            Intrinsic::BackrefSpecial => group(cx, -1 - i.b as i64)?,
            Intrinsic::Deconstruct => match cx.call_if_responds_public(arg(0), sym::deconstruct, &[])? {
                None => Value::NIL,
                Some(a) if a.is_kind(Kind::Array) => a,
                Some(_) => return cx.type_error("deconstruct must return Array"),
            },
            Intrinsic::DeconstructKeys => match cx.call_if_responds_public(arg(0), sym::deconstruct_keys, &[arg(1)])? {
                None => Value::NIL,
                Some(h) if h.is_kind(Kind::Hash) => h,
                Some(_) => return cx.type_error("deconstruct_keys must return Hash"),
            },
            Intrinsic::HashFetchOrUndef => {
                let h = cx.still_hash(arg(0))?;
                cx.hash_get(h, arg(1))?.unwrap_or(Value::UNDEF)
            }
            Intrinsic::HashExcept => {
                let h = cx.new_hash();
                let keys = Ref::<ArrayCell>::of_unchecked(arg(1));
                let from = cx.still_hash(arg(0))?;
                for (k, v) in cx.hash_pairs(from) {
                    if !keys.elements(&cx.heap).contains(&k) {
                        cx.hash_set(h, k, v)?;
                    }
                }
                h.as_value()
            }
            Intrinsic::ArrayLength => Value::fixnum(cx.still_array(arg(0))?.len() as i64),
            Intrinsic::ArraySlice => {
                let a = cx.still_array(arg(0))?;
                let (from, n) = (arg(1).fix().max(0) as usize, arg(2).fix().max(0) as usize);
                let from = from.min(a.len());
                let to = (from + n).min(a.len());
                ArrayCell::slice(&cx.heap, ids::ARRAY.0, a, from, to).as_value()
            }
            Intrinsic::ArrayAt => {
                let a = cx.still_array(arg(0))?;
                let n = arg(1).fix();
                let n = if n < 0 { n + a.len() as i64 } else { n };
                if n < 0 { Value::NIL } else { a.get(n as usize).unwrap_or(Value::NIL) }
            }
            Intrinsic::NoMatchingPattern => {
                let t = cx.inspect_text(arg(0))?;
                return cx.raise(ids::NO_MATCHING_PATTERN_ERROR, t);
            }
            Intrinsic::Damaged => return cx.raise(ids::SCRIPT_ERROR, "the code that stood here is malformed in the file of the image"),
            Intrinsic::YieldCheck => {
                if arg(0).is_nil() {
                    return cx.raise(ids::LOCAL_JUMP_ERROR, "no block given (yield)");
                }
                arg(0)
            }
            Intrinsic::NoMatchingPatternDetail => return cx.no_matching_pattern(arg(0), arg(1).fix(), arg(2), arg(3)),
            Intrinsic::NoMatchingPatternKey => {
                let (v, k) = (arg(0), arg(1));
                let t = format!("{}: key not found: {}", cx.inspect_text(v)?, cx.inspect_text(k)?);
                let e = cx.exception(ids::NO_MATCHING_PATTERN_KEY_ERROR, &t);
                cx.ivar_set_raw(e, Sym::intern("__key"), k);
                cx.ivar_set_raw(e, Sym::intern("__matchee"), v);
                return cx.raise_value(e);
            }
            Intrinsic::ToHash if arg(0).is_nil() || arg(0).is_kind(Kind::Hash) => arg(0),
            Intrinsic::ToHash => cx.to_hash(arg(0))?.as_value(),
            Intrinsic::HashElements => {
                let empty = Ref::<HashCell>::from_value(arg(0)).is_some_and(|h| h.len() == 0);
                let hash = [arg(0)];
                cx.array(if empty { &[] } else { &hash })
            }
            Intrinsic::ToBlock => cx.to_block(arg(0))?,
            Intrinsic::RegisterAtExit => {
                cx.at_exit.push(arg(0));
                cx.state_gets_cells(cs);
                let once = &mut (*(cs as *mut CodeState)).once;
                once[i.b as usize] = Value::TRUE;
                arg(0)
            }
            Intrinsic::OnceTest => loop {
                cx.state_gets_cells(cs);
                let kept = (&(*cs).once)[i.b as usize];
                if kept.is_undef() {
                    break Value::TRUE;
                }
                match cx.thread_lives(kept) {
                    None => break Value::FALSE,
                    // Another thread is at it: what that finds is kept.
                    Some(true) if kept != cx.current_thread() => cx.thread_pass()?,
                    Some(_) => break Value::TRUE,
                }
            },
            Intrinsic::OnceSet => {
                let (value, evaluates) = (arg(0), cx.thread_lives((&(*cs).once)[i.b as usize]).is_some());
                cx.once_used = true;
                let key = std::sync::Arc::as_ptr(&(*cs).code) as usize;
                cx.state_changes(|c| c.once(key));
                let begun = if value.is_nil() && cx.threads.is_some() { cx.current_thread() } else { Value::UNDEF };
                cx.state_gets_cells(cs);
                let kept = &mut (&mut (*(cs as *mut CodeState)).once)[i.b as usize];
                // Another thread may have been first while this one evaluated.
                if kept.is_undef() || evaluates {
                    *kept = if value.is_nil() { begun } else { value };
                }
                *kept
            }
            Intrinsic::OnceGet => (&(*cs).once)[i.b as usize],
            Intrinsic::MatchLastLine => {
                let line = cx.lastline();
                cx.call(arg(0), sym::match_op, &[line])?
            }
            Intrinsic::MatchAssign => {
                let m = library().regexp_match(cx, arg(0), arg(1))?;
                cx.set_backref(m);
                m
            }
            Intrinsic::NamedGroup => {
                let name = cx.to_sym(arg(1))?;
                match arg(0) {
                    Value::NIL => Value::NIL,
                    m => library().match_named(cx, m, name)?,
                }
            }
            Intrinsic::MethodName => match cx.method_frame() {
                Some(f) => {
                    let m = Ref::<MethodCell>::of_unchecked((*f).me);
                    if m.method_kind() == MethodKind::Frame { Value::NIL } else { Value::sym(m.called) }
                }
                None => Value::NIL,
            },
            Intrinsic::LeaveBody => super::control::left_body(cx, i.b, arg(0)),
            Intrinsic::LeftBody => {
                let mark = Ref::<ThrowCell>::from_value(arg(0)).filter(|t| t.tag == Value::fixnum(i.b as i64));
                mark.map_or(Value::UNDEF, |t| t.value)
            }
            Intrinsic::CountBranch => {
                cx.count_branch(&(*cs).code.file, arg(0));
                Value::NIL
            }
            Intrinsic::LiteralPlace => {
                cx.note_literal_place(arg(0));
                arg(0).set_flags(i.b as u8);
                arg(0)
            }
            Intrinsic::SingletonClass => {
                let c = cx.singleton_class(arg(0))?;
                cx.class_value(c)
            }
            Intrinsic::SplatLent if arg(0).is_nil() => arg(0),
            Intrinsic::SplatArray | Intrinsic::SplatLent => cx.splat(arg(0))?.as_value(),
            Intrinsic::AsString => cx.to_s(arg(0))?.as_value(),
            Intrinsic::MarkRuby2Keywords => {
                if let Some(a) = Ref::<ArrayCell>::from_value(arg(0))
                    && let Some(h) = a.last()
                    && h.is_kind(Kind::Hash)
                {
                    h.set_flags(KEYWORDS);
                }
                arg(0)
            }
            Intrinsic::Binding => library().binding(cx)?,
            Intrinsic::MakeComplex => PairCell::make(&cx.heap, ids::COMPLEX, Kind::Complex, arg(0), arg(1)),
            Intrinsic::MakeRational => PairCell::make(&cx.heap, ids::RATIONAL, Kind::Rational, arg(0), arg(1)),
            Intrinsic::CheckModule => {
                if cx.class_id(arg(0)).is_none() {
                    let t = cx.inspect_for_error(arg(0));
                    return cx.type_error(format!("{t} is not a class/module"));
                }
                arg(0)
            }
            Intrinsic::Warn => {
                let t = cx.to_s_text(arg(0))?;
                cx.warn_here(&t)?;
                Value::NIL
            }
            Intrinsic::BadJump => {
                let t = cx.to_s_text(arg(0))?;
                return cx.raise(ids::LOCAL_JUMP_ERROR, t);
            }
            Intrinsic::JumpCheck => {
                let is_break = i.b != 0;
                if !super::control::leads_somewhere(cx, cs, is_break) {
                    return super::control::no_target(cx, arg(0), is_break);
                }
                arg(0)
            }
            Intrinsic::Freeze => {
                if arg(0).is_cell() {
                    arg(0).make_frozen();
                }
                arg(0)
            }
        })
    }
}

impl Cx {
    /// The Array that a pattern or a list of classes is matched with. A program may have moved it away since: Ractor::MovedError.
    fn still_array(&mut self, v: Value) -> Result<Ref<ArrayCell>> {
        match Ref::from_value(v) {
            Some(a) => Ok(a),
            None => {
                self.call(v, sym::length, &[])?;
                self.type_error("deconstruct must return Array")
            }
        }
    }
    fn still_hash(&mut self, v: Value) -> Result<Ref<HashCell>> {
        match Ref::from_value(v) {
            Some(h) => Ok(h),
            None => {
                self.call(v, sym::length, &[])?;
                self.type_error("deconstruct_keys must return Hash")
            }
        }
    }
    /// NoMatchingPatternError of a one-line pattern, with what failed.
    #[cold]
    fn no_matching_pattern(&mut self, v: Value, kind: i64, x: Value, y: Value) -> Result<Value> {
        let shown = self.inspect_text(v)?;
        let (xs, ys) = (self.inspect_for_error(x), self.inspect_for_error(y));
        let part = |cx: &mut Cx, n: usize| {
            let v = Ref::<ArrayCell>::from_value(y).and_then(|a| a.get(n)).unwrap_or(Value::NIL);
            cx.inspect_for_error(v)
        };
        let why = match kind {
            1 => format!("{xs} === {ys} does not return true"),
            2 => format!("{xs} does not respond to #deconstruct"),
            3 => format!("{xs} length mismatch (given {}, expected {})", part(self, 0), part(self, 1)),
            4 => format!("{xs} length mismatch (given {}, expected {}+)", part(self, 0), part(self, 1)),
            5 => format!("{xs} does not match to find pattern"),
            6 => format!("{xs} does not respond to #deconstruct_keys"),
            7 => format!("key not found: {ys}"),
            8 => format!("{xs} is not empty"),
            9 => format!("rest of {xs} is not empty"),
            10 => "guard clause does not return true".to_string(),
            _ => return self.raise(ids::NO_MATCHING_PATTERN_ERROR, shown),
        };
        let message = format!("{shown}: {why}");
        if kind == 7 {
            let e = self.exception(ids::NO_MATCHING_PATTERN_KEY_ERROR, &message);
            self.ivar_set_raw(e, Sym::intern("__matchee"), x);
            self.ivar_set_raw(e, Sym::intern("__key"), y);
            return self.raise_value(e);
        }
        self.raise(ids::NO_MATCHING_PATTERN_ERROR, message)
    }
    /// Calls a public method when there is one (pattern matching).
    fn call_if_responds_public(&mut self, v: Value, name: Sym, args: &[Value]) -> Result<Option<Value>> {
        let asks = v.is_cell() && (self.has_own_respond_to(v) || self.method_of(v, sym::respond_to).is_none());
        if asks && !self.call(v, sym::respond_to, &[Value::sym(name)])?.truthy() {
            return Ok(None);
        }
        match self.method_of_here(v, name) {
            Some(m) if m.visibility() == Visibility::Public => Ok(Some(self.call_method(m, v, name, args, false, crate::Block::NONE)?)),
            Some(_) => Ok(None),
            None if v.is_cell() && self.responds(v, name, false)? => Ok(Some(self.call(v, name, args)?)),
            None => Ok(None),
        }
    }
    fn const_is_defined(&mut self, cref: Value, name: Sym) -> bool {
        let mut c = cref;
        while let Some(s) = Ref::<CrefCell>::from_value(c) {
            if s.parent.is_nil() {
                break;
            }
            if let Some(id) = self.scope_class(s)
                && self.const_defined_entry(id, name).is_some()
            {
                return true;
            }
            c = s.parent;
        }
        let inner = Ref::<CrefCell>::from_value(cref).and_then(|s| self.scope_class(s)).unwrap_or(ids::OBJECT);
        let mut mro = self.ancestor_list(inner);
        if self.class(inner).kind == ClassKind::Module {
            mro.push(ids::OBJECT);
        }
        mro.iter().any(|m| self.const_defined_entry(*m, name).is_some())
    }
    /// `alias new old` in a class.
    pub fn alias_method(&mut self, class: ClassId, new: Sym, old: Sym) -> Result<()> {
        if self.class(class).frozen {
            let o = self.class_value(class);
            return self.frozen_class_error(o);
        }
        let mut m = self.find_method(class, old);
        if m.is_none() && self.class(class).kind == ClassKind::Module && !self.only_changes_visibility(class, old) {
            m = self.find_method(ids::OBJECT, old);
        }
        if m.is_none()
            && let Some(c) = self.refined_class(class)
        {
            m = self.find_method(c, old);
        }
        let Some(m) = m else { return self.undefined_for_class(class, old) };
        let m = self.not_stand_in(class, m);
        let visibility = match self.method_in(class, new) {
            _ if super::always_private(new) => Visibility::Private,
            // Defined anew as what it is already, it stays as visible as it is.
            Some(known)
                if known.method_kind() == m.method_kind() && known.body == m.body && known.data == m.data && known.owner == m.owner =>
            {
                known.visibility()
            }
            _ => m.visibility(),
        };
        let copy = self.copy_method(m, new, m.owner, visibility);
        if new != old {
            return self.define_method_entry(class, new, copy);
        }
        // `alias a a` says that a is to be replaced: `-w` is silent about it, now and the next time.
        self.set_self_alias(class, Some(new));
        self.define_method_entry(class, new, copy)?;
        self.set_self_alias(class, Some(new));
        Ok(())
    }
    /// Whether a module has a name only in that `private` and the like were said of it: nothing in the module itself defines it.
    fn only_changes_visibility(&mut self, class: ClassId, name: Sym) -> bool {
        self.find_entry_from(class, name, 0).is_some_and(|m| m.method_kind() == MethodKind::ZSuper)
    }
    /// `undef name` in a class.
    pub fn undef_method(&mut self, class: ClassId, name: Sym) -> Result<()> {
        if self.class(class).frozen {
            let o = self.class_value(class);
            return self.frozen_class_error(o);
        }
        let mut known = self.find_method(class, name).is_some() || self.only_changes_visibility(class, name);
        if !known && let Some(refined) = self.refined_class(class) {
            known = self.find_method(refined, name).is_some();
        }
        if !known {
            // Of a class's singleton class the message names the class.
            let told = match self.class(class).kind {
                ClassKind::Singleton => self.class_id(self.class(class).attached).unwrap_or(class),
                _ => class,
            };
            // As in CRuby, the error's name is a String here.
            let r = self.undefined_for_class(told, name);
            let text = self.str_auto(name.bytes());
            self.ivar_set_raw(self.pending, Sym::intern("__name"), text);
            return r;
        }
        self.warn_of_slow_operator(class, name)?;
        if !self.in_boot {
            self.warn_serious(class, name, "undefining")?;
        }
        let m = MethodCell::make(&self.heap, name, class, Visibility::Public, MethodKind::Undefined, Value::NIL, 0, Value::NIL);
        self.add_method(class, name, m);
        self.bump_epoch();
        if self.class(class).kind == ClassKind::Singleton {
            let a = self.attached(class);
            self.call_hook(a, sym::singleton_method_undefined, Value::sym(name))
        } else {
            let o = self.class_value(class);
            self.call_hook(o, sym::method_undefined, Value::sym(name))
        }
    }
    #[cold]
    pub fn undefined_for_class<T>(&mut self, class: ClassId, name: Sym) -> Result<T> {
        let what = if self.class(class).kind == ClassKind::Module { "module" } else { "class" };
        let o = self.class_value(class);
        let n = match self.refined_class(class) {
            Some(target) => {
                let home = self.ivar_get(o, Sym::intern("__defined_at"));
                let home = self.class_id(home).map(|h| self.class_name(h)).unwrap_or_default();
                format!("#<refinement:{}@{home}>", self.class_name(target))
            }
            None => self.class_name(class),
        };
        self.name_error(format!("undefined method '{}' for {what} '{n}'", name.name()), name, o)
    }
}
