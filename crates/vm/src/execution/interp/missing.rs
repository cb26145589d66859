//! Calls of methods that aren't there, or may not be called: method_missing, NoMethodError and its wording.

use crate::builtin::Block;
use crate::events;
use crate::make::ArgList;
use crate::raise::Result;
use crate::vm::Cx;
use zakuro_bytecode::{CallSite, call_flags};
use zakuro_object::*;

/// Why no method could be called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MissReason {
    None,
    /// There is none; a private one would have been called, too.
    Fcall,
    Private,
    Protected,
    Vcall,
    Super,
}

impl MissReason {
    /// Of a call that finds no method.
    pub(super) fn at(site: &CallSite) -> MissReason {
        match site.flags {
            f if f & call_flags::VCALL != 0 => MissReason::Vcall,
            f if f & call_flags::FCALL != 0 => MissReason::Fcall,
            _ => MissReason::None,
        }
    }
}

/// method_missing with the arguments above `base`.
#[inline(never)]
pub unsafe fn missing(cx: &mut Cx, base: *mut Value, argc: usize, kw: bool, block: Block, name: Sym, why: MissReason) -> Result<Value> {
    // SAFETY: caller: argc values stand above `base`.
    unsafe {
        let args = ArgList::of(cx, std::slice::from_raw_parts(base.add(1), argc));
        cx.call_missing(*base, name, &args, kw, block, why)
    }
}

impl Cx {
    /// Calls method_missing, or raises NoMethodError when it is the builtin one.
    pub fn call_missing(&mut self, v: Value, name: Sym, args: &[Value], kw: bool, block: Block, why: MissReason) -> Result<Value> {
        match self.method_of(v, sym::method_missing) {
            Some(m) if m.method_kind() != MethodKind::Native || self.tracing & (events::C_CALL | events::C_RETURN) != 0 => {
                let all = ArgList::new(self, &[&[Value::sym(name)], args]);
                // For the builtin, should the method call super.
                self.missing_reason = why;
                self.call_told(m, v, sym::method_missing, &all, kw, block)
            }
            // With `method_missing` undefined, a call of it is the builtin's.
            None if name == sym::method_missing => match args {
                [] => self.arg_error("no method name given"),
                [first, rest @ ..] => match first.as_sym() {
                    Some(name) => self.no_method_error(v, name, rest, MissReason::None),
                    None => self.arg_error("no method name given"),
                },
            },
            _ => self.no_method_error(v, name, args, why),
        }
    }
    /// How error messages name a receiver.
    pub fn describe_receiver(&mut self, v: Value) -> String {
        match v {
            Value::NIL => return "nil".into(),
            Value::TRUE => return "true".into(),
            Value::FALSE => return "false".into(),
            _ => {}
        }
        if v == self.main {
            return "main".into();
        }
        if v.is_kind(Kind::Object) && self.class(self.dispatch_class(v)).kind == ClassKind::Singleton {
            return self.any_to_s(v);
        }
        if let Some(c) = self.class_id(v) {
            let n = self.told_name(c);
            return if self.class(c).kind == ClassKind::Module { format!("module {n}") } else { format!("class {n}") };
        }
        let c = self.class_of(v);
        format!("an instance of {}", self.told_name(c))
    }
    /// What a class says that it is called: by a `name` of the program's, if it has one.
    fn told_name(&mut self, c: ClassId) -> String {
        let v = self.class_value(c);
        if self.method_of(v, sym::name).is_some_and(|m| m.method_kind() != MethodKind::Native)
            && let Ok(Ok(n)) = self.rescue(&[ids::STANDARD_ERROR], |cx| cx.call(v, sym::name, &[]))
            && let Some(n) = Ref::<StringCell>::from_value(n)
        {
            return n.to_text();
        }
        self.class_name(c)
    }
    #[cold]
    pub fn no_method_error<T>(&mut self, v: Value, name: Sym, args: &[Value], why: MissReason) -> Result<T> {
        let who = self.describe_receiver(v);
        let n = name.name();
        let message = match why {
            MissReason::None | MissReason::Fcall => format!("undefined method '{n}' for {who}"),
            MissReason::Private => match self.method_of(v, name) {
                Some(_) => format!("private method '{n}' called for {who}"),
                None => format!("undefined method '{n}' for {who}"),
            },
            MissReason::Protected => format!("protected method '{n}' called for {who}"),
            MissReason::Vcall => format!("undefined local variable or method '{n}' for {who}"),
            MissReason::Super => format!("super: no superclass method '{n}' for {who}"),
        };
        let class = if why == MissReason::Vcall { ids::NAME_ERROR } else { ids::NO_METHOD_ERROR };
        let e = self.exception(class, &message);
        self.ivar_set_raw(e, Sym::intern("__name"), Value::sym(name));
        self.ivar_set_raw(e, Sym::intern("__receiver"), v);
        let args = self.array(args);
        self.ivar_set_raw(e, Sym::intern("__args"), args);
        if matches!(why, MissReason::Fcall | MissReason::Super) {
            self.ivar_set_raw(e, Sym::intern("__private"), Value::TRUE);
        }
        self.raise_value(e)
    }
}
