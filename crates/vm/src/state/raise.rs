//! Raising from Rust. `Err(Exc)` says "an exception is pending in the VM"; the exception itself is `cx.pending`, so that a Result comes
//! back in two registers.

use crate::vm::Cx;
use zakuro_base::progress::Stopped;
use zakuro_object::*;

/// Witness that an exception is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exc;

/// Work that was left because its [`zakuro_base::progress::Progress`] is the VM: what stopped it is pending.
impl From<Stopped> for Exc {
    fn from(_: Stopped) -> Exc {
        Exc
    }
}

/// Result of everything that can raise.
pub type Result<T = Value> = std::result::Result<T, Exc>;

/// Hidden instance variables of exceptions.
pub mod hidden {
    use zakuro_base::{Sym, sym};
    pub fn message() -> Sym {
        sym::exc_message
    }
    pub fn backtrace() -> Sym {
        sym::exc_backtrace
    }
    pub fn locations() -> Sym {
        sym::exc_locations
    }
    /// The levels as captured: an environment cell that no program can reach (see backtrace.rs).
    pub fn raw() -> Sym {
        sym::exc_raw
    }
    pub fn cause() -> Sym {
        sym::exc_cause
    }
    /// How many levels the captured backtrace of a SystemStackError leaves out.
    pub fn skipped() -> Sym {
        Sym::intern("__skipped_levels")
    }
}

impl Cx {
    /// Raises a builtin exception: `cx.raise(ids::TYPE_ERROR, "message")`.
    #[cold]
    pub fn raise<T>(&mut self, class: ClassId, message: impl AsRef<str>) -> Result<T> {
        let exc = self.exception(class, message.as_ref());
        self.raise_value(exc)
    }
    /// A new exception of a builtin class without running Ruby code.
    pub fn exception(&mut self, class: ClassId, message: &str) -> Value {
        let m = self.str(message);
        self.exception_with(class, m)
    }
    pub fn exception_with(&mut self, class: ClassId, message: Value) -> Value {
        let e = self.new_object_of_kind(class, Kind::Exception);
        self.ivar_set_raw(e, hidden::message(), message);
        e
    }
    /// Raises an exception object: fills in backtrace and cause when unset.
    #[cold]
    pub fn raise_value<T>(&mut self, exc: Value) -> Result<T> {
        if exc.is_kind(Kind::Exception) {
            if self.tracing & (crate::events::RAISE | crate::events::C_CALL | crate::events::C_RETURN) != 0 {
                self.trace_raise(exc)?;
            }
            if self.ivar_get(exc, hidden::raw()).is_nil() && self.ivar_get(exc, hidden::backtrace()).is_nil() {
                let (levels, skipped) = self.capture_backtrace(self.class_of(exc) == ids::SYSTEM_STACK_ERROR);
                self.ivar_set_raw(exc, hidden::raw(), levels);
                if skipped > 0 {
                    self.ivar_set_raw(exc, hidden::skipped(), Value::fixnum(skipped as i64));
                }
                if !self.is_builtin(exc, sym::set_backtrace, ids::EXCEPTION) {
                    self.telling(|cx| cx.tell_backtrace(exc))?;
                }
            }
            if !self.ivar_defined(exc, hidden::cause()) {
                let cause = self.errinfo;
                self.ivar_set_raw(exc, hidden::cause(), if cause == exc { Value::NIL } else { cause });
            }
            if self.is_debugging() && !self.is_a(exc, ids::SYSTEM_EXIT) && !self.must_leave() {
                self.telling(|cx| cx.tell_raise(exc))?;
            }
        }
        self.pending = exc;
        Err(Exc)
    }
    /// Tells of a raise by methods of the program. What these raise is told to nobody and goes no further: else an override that always raises would call itself, and there is no room left for it to
    /// end where the stack does.
    fn telling(&mut self, f: impl FnOnce(&mut Cx) -> Result<()>) -> Result<()> {
        if self.tells_of_raise {
            return Ok(());
        }
        self.tells_of_raise = true;
        let told = self.attempt(f);
        self.tells_of_raise = false;
        told.map(|_| ())
    }
    /// `$DEBUG`
    pub fn is_debugging(&self) -> bool {
        self.global_peek(sym::debug).map_or(self.options.debug, Value::truthy)
    }
    /// The exception's own `set_backtrace` gets the backtrace as Strings.
    #[cold]
    fn tell_backtrace(&mut self, exc: Value) -> Result<()> {
        let lines = self.call(exc, Sym::intern("backtrace"), &[])?;
        if self.responds(exc, sym::set_backtrace, true)? {
            self.call_private(exc, sym::set_backtrace, &[lines])?;
        }
        Ok(())
    }
    /// Takes the pending exception (after `Err(Exc)` that native code handles itself). Who tries again afterwards, or goes on waiting, asks [`Cx::take_interrupt`].
    pub fn take_pending(&mut self) -> Value {
        std::mem::replace(&mut self.pending, Value::NIL)
    }
    /// Puts an exception back, backtrace untouched.
    pub fn repend<T>(&mut self, exc: Value) -> Result<T> {
        self.pending = exc;
        Err(Exc)
    }
    /// Runs `f`; if it raises a Ruby exception that is an instance of one of `classes`, returns it as `Ok(Err(exception))`.
    pub fn rescue<T>(&mut self, classes: &[ClassId], f: impl FnOnce(&mut Cx) -> Result<T>) -> Result<std::result::Result<T, Value>> {
        match f(self) {
            Ok(v) => Ok(Ok(v)),
            Err(Exc) => {
                let e = self.pending;
                // Nothing is rescued any more in a VM that has to be left.
                if e.is_kind(Kind::Exception) && !self.must_leave() && classes.iter().any(|c| self.is_a(e, *c)) {
                    self.pending = Value::NIL;
                    Ok(Err(e))
                } else {
                    Err(Exc)
                }
            }
        }
    }
    /// `Ok(Err(exception))` when `f` itself raises one.
    ///
    /// # Errors
    /// What comes from outside (Thread#raise, a kill), and what is no exception.
    pub fn attempt<T>(&mut self, f: impl FnOnce(&mut Cx) -> Result<T>) -> Result<std::result::Result<T, Value>> {
        let interrupted = |cx: &mut Cx| cx.threads.as_mut().map_or(0, |t| t.current().interrupted);
        let before = interrupted(self);
        match self.rescue(&[ids::EXCEPTION], f)? {
            Err(e) if interrupted(self) != before => self.repend(e),
            done => Ok(done),
        }
    }
    #[cold]
    pub fn type_error<T>(&mut self, message: impl AsRef<str>) -> Result<T> {
        self.raise(ids::TYPE_ERROR, message)
    }
    #[cold]
    pub fn arg_error<T>(&mut self, message: impl AsRef<str>) -> Result<T> {
        self.raise(ids::ARGUMENT_ERROR, message)
    }
    #[cold]
    pub fn index_error<T>(&mut self, message: impl AsRef<str>) -> Result<T> {
        self.raise(ids::INDEX_ERROR, message)
    }
    #[cold]
    pub fn range_error<T>(&mut self, message: impl AsRef<str>) -> Result<T> {
        self.raise(ids::RANGE_ERROR, message)
    }
    /// "no implicit conversion of X into Y"
    #[cold]
    pub fn no_conversion<T>(&mut self, v: Value, target: &str) -> Result<T> {
        let what = self.describe_for_conversion(v);
        self.type_error(format!("no implicit conversion of {what} into {target}"))
    }
    /// nil, true, false or the class's name, as conversion errors call a value.
    pub fn describe_for_conversion(&mut self, v: Value) -> String {
        match v {
            Value::NIL => "nil".into(),
            Value::TRUE => "true".into(),
            Value::FALSE => "false".into(),
            _ => self.class_shown(v),
        }
    }
    /// The name of a value's class for a message: what `to_s` of the class says, where a program has given it one of its own.
    pub fn class_shown(&mut self, v: Value) -> String {
        let id = self.class_of(v);
        let class = self.class_value(id);
        if self.is_builtin(class, sym::to_s, ids::MODULE) {
            return self.class_name(id);
        }
        let (errinfo, pending) = (self.errinfo, self.pending);
        match self.to_s(class) {
            Ok(s) => s.to_text(),
            Err(_) => {
                (self.errinfo, self.pending) = (errinfo, pending);
                self.class_name(id)
            }
        }
    }
    /// ArgumentError for a wrong number of arguments; `max` None means any number.
    #[cold]
    pub fn arity_error<T>(&mut self, given: usize, min: usize, max: Option<usize>) -> Result<T> {
        let expected = match max {
            Some(m) if m == min => format!("{min}"),
            Some(m) => format!("{min}..{m}"),
            None => format!("{min}+"),
        };
        self.arg_error(format!("wrong number of arguments (given {given}, expected {expected})"))
    }
    /// FrozenError unless the object may be changed. Every builtin that mutates calls this (or a `*_mut` accessor that does).
    #[inline(always)]
    pub fn check_frozen(&mut self, v: Value) -> Result<()> {
        if v.is_cell() && v.flags() & (flags::FROZEN | flags::CAPTURED) == 0 { Ok(()) } else { self.check_captured(v) }
    }
    /// What the first change of a captured object comes to, and every attempt to change a frozen one.
    #[cold]
    #[inline(never)]
    fn check_captured(&mut self, v: Value) -> Result<()> {
        if v.is_chilled() {
            self.thaw(v)?;
            return self.check_frozen(v);
        }
        if v.is_cell() && v.flags() & (flags::FROZEN | flags::SHARED | flags::CAPTURED) == flags::CAPTURED {
            self.captured_cell_changes(v);
            return Ok(());
        }
        self.frozen_error(v)
    }
    #[cold]
    #[inline(never)]
    pub fn frozen_error<T>(&mut self, v: Value) -> Result<T> {
        let class = self.class_shown(v);
        let shown = self.inspect_for_error(v);
        let made = match self.literal_place(v) {
            Some(place) => format!(", created at {place}"),
            None => String::new(),
        };
        let e = self.exception(ids::FROZEN_ERROR, &format!("can't modify frozen {class}: {shown}{made}"));
        self.ivar_set_raw(e, Sym::intern("__receiver"), v);
        self.raise_value(e)
    }
    /// Room for `more` elements, or NoMemoryError: for results whose size the program chooses.
    pub fn reserve<T>(&mut self, v: &mut Vec<T>, more: usize) -> Result<()> {
        if !zakuro_base::memory::has_room(v, more) {
            return self.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
        }
        Ok(())
    }
    /// SystemStackError.
    #[cold]
    pub fn stack_error<T>(&mut self) -> Result<T> {
        self.raise(ids::SYSTEM_STACK_ERROR, "stack level too deep")
    }
    /// A jump on its way (`throw`, `break`, kill).
    #[cold]
    pub fn throw<T>(&mut self, kind: ThrowKind, tag: Value, value: Value) -> Result<T> {
        let h = zakuro_object::header(ids::OBJECT, Kind::Throw, kind as u16);
        let t = alloc_cell(&self.heap, ThrowCell { header: h, tag, value });
        self.pending = t.as_value();
        Err(Exc)
    }
    /// The message of an exception as stored (nil when none was given).
    pub fn exception_message(&mut self, exc: Value) -> Value {
        self.ivar_get(exc, hidden::message())
    }
}

/// Whether a panic says that memory was refused; others are bugs.
pub(crate) fn is_refusal(panic: &(dyn std::any::Any + Send)) -> bool {
    panic.is::<zakuro_heap::OutOfMemory>()
        || panic.downcast_ref::<&str>().is_some_and(|s| s.ends_with("capacity overflow"))
        || panic.downcast_ref::<String>().is_some_and(|s| s.ends_with("capacity overflow"))
}
