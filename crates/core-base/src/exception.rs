//! Exception and the data of its builtin subclasses. [`report`] renders uncaught exceptions, [`errno`] holds SystemCallError and Errno,
//! [`location`] backtraces, [`warning`] the Warning module and Kernel#warn, [`signal`] names and numbers of signals.
//!
//! What an exception carries beyond its message lies in hidden variables (`__name`, `__receiver`, `__key`, ...), so raising from Rust needs no
//! Ruby code.

pub mod errno;
pub mod location;
mod report;
pub mod signal;
mod suggest;
pub mod warning;

pub use errno::errno_error;
pub use report::{Exceptions, full_message, full_message_unless_shown, raised};

use zakuro_macros::ruby_class;
use zakuro_vm::raise::hidden;
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[
    base::METHODS,
    name_error::METHODS,
    no_method_error::METHODS,
    key_error::METHODS,
    frozen_error::METHODS,
    pattern_key_error::METHODS,
    local_jump_error::METHODS,
    uncaught_throw::METHODS,
    system_exit::METHODS,
    load_error::METHODS,
    syntax_error::METHODS,
    signal::signal_exception::METHODS,
    signal::interrupt::METHODS,
    errno::system_call_error::METHODS,
    suggest::levenshtein::METHODS,
    suggest::jaro::METHODS,
    suggest::jaro_winkler::METHODS,
    suggest::did_you_mean::METHODS,
    suggest::error_highlight::METHODS,
    warning::kernel::METHODS,
    warning::warnings::METHODS,
];

pub fn setup(cx: &mut Cx) {
    // Room for message, backtrace and cause, and what the class adds, in the cell itself.
    for (id, .., alloc) in class::BOOT_CLASSES {
        if *alloc == Alloc::Exception {
            cx.class_mut(*id).ivar_hint = if [ids::NAME_ERROR, ids::NO_METHOD_ERROR, ids::KEY_ERROR].contains(id) { 8 } else { 5 };
        }
    }
    errno::setup(cx);
    warning::setup(cx);
}

/// A hidden variable; ArgumentError "no ... is available" when it was never set.
fn available(cx: &mut Cx, this: Value, name: &str, what: &str) -> Result<Value> {
    match cx.ivar_lookup(this, Sym::intern(name)) {
        Some(v) => Ok(v),
        None => cx.arg_error(format!("no {what} is available")),
    }
}
/// Keeps a keyword argument in a hidden variable when it was given.
fn keep(cx: &mut Cx, this: Value, kw: Kwargs, keyword: Sym, name: &str) {
    if let Some(v) = kw.get(keyword) {
        cx.ivar_set_raw(this, Sym::intern(name), v);
    }
}
fn set_message(cx: &mut Cx, this: Value, message: Option<Value>) {
    cx.ivar_set_raw(this, hidden::message(), message.unwrap_or(Value::NIL));
}

/// Text of an exception by its `message` method; class name when that gives no String.
pub(crate) fn message_of(cx: &mut Cx, exc: Value) -> Result<Ref<StringCell>> {
    let m = cx.call(exc, sym::message, &[])?;
    cx.to_s(m)
}

/// The methods of all exceptions.
#[ruby_class(ids::EXCEPTION)]
mod base {
    use super::*;

    /// Keeps the message.
    ///
    ///     Exception.new("x").message   #=> "x"
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, message: Option<Value>) -> Result<Value> {
        set_message(cx, this, message);
        Ok(Value::NIL)
    }

    /// As `new`.
    ///
    ///     TypeError.exception("x")   #=> #<TypeError: x>
    #[method("exception", singleton, min = 0, max = -1)]
    fn class_exception(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        cx.forward(this, sym::new, args)
    }

    /// Whether messages are highlighted by default: standard error is a terminal.
    ///
    ///     Exception.respond_to?(:to_tty?)   #=> true
    #[method("to_tty?", singleton)]
    fn to_tty(cx: &mut Cx, _this: Value) -> Result<bool> {
        report::is_tty(cx)
    }

    /// Itself, or a copy with another message.
    ///
    ///     e = RuntimeError.new("a"); [e.exception.equal?(e), e.exception("b")]   #=> [true, #<RuntimeError: b>]
    #[method("exception")]
    fn exception(cx: &mut Cx, this: Value, message: Option<Value>) -> Result<Value> {
        match message {
            None => Ok(this),
            Some(m) if m == this => Ok(this),
            Some(m) => {
                let copy = cx.call(this, sym::clone, &[])?;
                cx.ivar_set_raw(copy, hidden::message(), m);
                Ok(copy)
            }
        }
    }

    /// The message; the class's name when none was given.
    ///
    ///     RuntimeError.new.to_s   #=> "RuntimeError"
    #[method("to_s")]
    fn to_s(cx: &mut Cx, this: Value) -> Result<Value> {
        let m = cx.ivar_get(this, hidden::message());
        if m.is_nil() {
            let c = cx.class_name_of(this);
            return Ok(cx.str(&c));
        }
        Ok(cx.to_s(m)?.as_value())
    }

    /// The result of `to_s`.
    ///
    ///     RuntimeError.new("a").message   #=> "a"
    #[method("message")]
    fn message(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(cx.to_s(this)?.as_value())
    }

    /// The message with the class's name, as error reports show it.
    ///
    ///     RuntimeError.new("a\nb").detailed_message   #=> "a (RuntimeError)\nb"
    #[method("detailed_message")]
    fn detailed_message(cx: &mut Cx, this: Value, kw: Kwargs) -> Result<Value> {
        if cx.is_a(this, ids::SYNTAX_ERROR) {
            // Not when called by another's method: it would add its own twice.
            let first = cx.is_builtin(this, sym::detailed_message, ids::EXCEPTION);
            if report::load_syntax_suggest(cx)? && first {
                let kw = kw.hash(cx).map(|h| h.as_value());
                return cx.call_full(this, sym::detailed_message, kw.as_slice(), kw.is_some(), Block::NONE);
            }
        }
        let highlight = match kw.get(sym::highlight) {
            Some(v) => report::highlight_option(cx, v)?,
            None => false,
        };
        report::detailed(cx, this, highlight)
    }

    /// The whole report: place, message, backtrace, causes.
    ///
    ///     e = RuntimeError.new("a"); e.set_backtrace(["f:1", "g:2"]); e.full_message(highlight: false)   #=> "f:1: a (RuntimeError)\n\tfrom g:2\n"
    #[method("full_message")]
    fn full_message(cx: &mut Cx, this: Value, kw: Kwargs) -> Result<Value> {
        report::full_message_option(cx, this, kw)
    }

    /// Text for debugging.
    ///
    ///     RuntimeError.new("a").inspect   #=> "#<RuntimeError: a>"
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<Value> {
        let class = cx.class_name_of(this);
        let m = cx.to_s(this)?;
        if m.len() == 0 {
            return Ok(cx.str(&class));
        }
        let mut out = format!("#<{class}:").into_bytes();
        if m.content(&cx.heap).contains(&b'\n') {
            let q = cx.inspect(m.as_value())?;
            out.extend_from_slice(q.content(&cx.heap));
        } else {
            out.push(b' ');
            out.extend_from_slice(m.content(&cx.heap));
        }
        out.push(b'>');
        Ok(cx.str_auto(&out))
    }

    /// Lines "file:line:in 'method'" from the innermost; nil before it was raised.
    ///
    ///     RuntimeError.new.backtrace   #=> nil
    #[method("backtrace")]
    fn backtrace(cx: &mut Cx, this: Value) -> Value {
        cx.exception_backtrace(this)
    }

    /// The backtrace as objects.
    ///
    ///     RuntimeError.new.backtrace_locations   #=> nil
    #[method("backtrace_locations")]
    fn backtrace_locations(cx: &mut Cx, this: Value) -> Result<Value> {
        location::of_exception(cx, this)
    }

    /// Replaces the backtrace: a String, an Array of Strings or locations, or nil.
    ///
    ///     e = RuntimeError.new; e.set_backtrace("f:1"); e.backtrace   #=> ["f:1"]
    #[method("set_backtrace")]
    fn set_backtrace(cx: &mut Cx, this: Value, bt: Value) -> Result<Value> {
        location::set_backtrace(cx, this, bt)
    }

    /// The exception that was being handled when this one was raised.
    ///
    ///     begin; begin; raise "a"; rescue; raise "b"; end; rescue => e; e.cause; end   #=> #<RuntimeError: a>
    #[method("cause")]
    fn cause(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_get(this, hidden::cause())
    }

    /// Same class, message and backtrace.
    ///
    ///     RuntimeError.new("a") == RuntimeError.new("a")   #=> true
    #[method("==")]
    fn eq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        if this == other {
            return Ok(true);
        }
        let mut other = other;
        if !other.is_kind(Kind::Exception) || cx.class_of(this) != cx.class_of(other) {
            // What stands for an exception gives it; what that raises does not matter.
            let given = cx.rescue(&[ids::EXCEPTION], |cx| cx.call_if_responds(other, Sym::intern("exception"), &[]))?;
            other = given.ok().flatten().unwrap_or(Value::NIL);
            if !other.is_kind(Kind::Exception) || cx.class_of(this) != cx.class_of(other) {
                return Ok(false);
            }
        }
        let (a, b) = (cx.call(this, sym::message, &[])?, cx.call(other, sym::message, &[])?);
        if !cx.eq(a, b)? {
            return Ok(false);
        }
        let (a, b) = (cx.call(this, sym::backtrace, &[])?, cx.call(other, sym::backtrace, &[])?);
        cx.eq(a, b)
    }
}

/// Unknown names.
#[ruby_class(ids::NAME_ERROR)]
mod name_error {
    use super::*;

    /// Message, name, and the receiver.
    ///
    ///     NameError.new("m", :x, receiver: 1).receiver   #=> 1
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, message: Option<Value>, name: Option<Value>, kw: Kwargs) -> Result<Value> {
        kw.only(cx, &[sym::receiver])?;
        set_message(cx, this, message);
        cx.ivar_set_raw(this, Sym::intern("__name"), name.unwrap_or(Value::NIL));
        keep(cx, this, kw, sym::receiver, "__receiver");
        Ok(Value::NIL)
    }

    /// The name that was unknown.
    ///
    ///     NameError.new("m", :x).name   #=> :x
    #[method("name")]
    fn name(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_get(this, Sym::intern("__name"))
    }

    /// The object on which it was looked up.
    ///
    ///     begin; 1.foo; rescue NameError => e; e.receiver; end   #=> 1
    #[method("receiver")]
    fn receiver(cx: &mut Cx, this: Value) -> Result<Value> {
        available(cx, this, "__receiver", "receiver")
    }

    /// Names of the local variables at the place of the error; none where it was not raised.
    ///
    ///     NameError.new("m").local_variables   #=> []
    #[method("local_variables")]
    fn local_variables(cx: &mut Cx, this: Value) -> Value {
        let mut names: Vec<Sym> = Vec::new();
        for n in cx.exception_locals(this) {
            if !names.contains(&n) {
                names.push(n);
            }
        }
        cx.sym_array(&names)
    }
}

/// Unknown methods.
#[ruby_class(ids::NO_METHOD_ERROR)]
mod no_method_error {
    use super::*;

    /// Message, name, arguments, and the receiver.
    ///
    ///     NoMethodError.new("m", :x, [1]).args   #=> [1]
    #[method("initialize", private)]
    fn initialize(
        cx: &mut Cx,
        this: Value,
        message: Option<Value>,
        name: Option<Value>,
        args: Option<Value>,
        private: Option<Value>,
        kw: Kwargs,
    ) -> Result<Value> {
        kw.only(cx, &[sym::receiver])?;
        set_message(cx, this, message);
        cx.ivar_set_raw(this, Sym::intern("__name"), name.unwrap_or(Value::NIL));
        keep(cx, this, kw, sym::receiver, "__receiver");
        cx.ivar_set_raw(this, Sym::intern("__args"), args.unwrap_or(Value::NIL));
        cx.ivar_set_raw(this, Sym::intern("__private"), Value::bool(private.is_some_and(|p| p.truthy())));
        Ok(Value::NIL)
    }

    /// The arguments of the call.
    ///
    ///     begin; 1.foo(2); rescue NoMethodError => e; e.args; end   #=> [2]
    #[method("args")]
    fn call_args(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_get(this, Sym::intern("__args"))
    }

    /// Whether private methods could have been called.
    ///
    ///     NoMethodError.new("m", :x, [], true).private_call?   #=> true
    #[method("private_call?")]
    fn private_call(cx: &mut Cx, this: Value) -> Value {
        Value::bool(cx.ivar_get(this, Sym::intern("__private")).truthy())
    }
}

/// Missing keys.
#[ruby_class(ids::KEY_ERROR)]
mod key_error {
    use super::*;

    /// Message, receiver and key.
    ///
    ///     KeyError.new("m", receiver: {}, key: 1).key   #=> 1
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, message: Option<Value>, kw: Kwargs) -> Result<Value> {
        kw.only(cx, &[sym::receiver, sym::key])?;
        set_message(cx, this, message);
        keep(cx, this, kw, sym::receiver, "__receiver");
        keep(cx, this, kw, sym::key, "__key");
        Ok(Value::NIL)
    }

    /// The object that has no such key.
    ///
    ///     begin; {a: 1}.fetch(:b); rescue KeyError => e; e.receiver; end   #=> {a: 1}
    #[method("receiver")]
    fn receiver(cx: &mut Cx, this: Value) -> Result<Value> {
        available(cx, this, "__receiver", "receiver")
    }

    /// The missing key.
    ///
    ///     begin; {a: 1}.fetch(:b); rescue KeyError => e; e.key; end   #=> :b
    #[method("key")]
    fn key(cx: &mut Cx, this: Value) -> Result<Value> {
        available(cx, this, "__key", "key")
    }
}

/// Changes of frozen objects.
#[ruby_class(ids::FROZEN_ERROR)]
mod frozen_error {
    use super::*;

    /// Message and receiver.
    ///
    ///     FrozenError.new("m", receiver: 1).receiver   #=> 1
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, message: Option<Value>, kw: Kwargs) -> Result<Value> {
        kw.only(cx, &[sym::receiver])?;
        set_message(cx, this, message);
        keep(cx, this, kw, sym::receiver, "__receiver");
        Ok(Value::NIL)
    }

    /// The frozen object.
    ///
    ///     begin; [].freeze << 1; rescue FrozenError => e; e.receiver; end   #=> []
    #[method("receiver")]
    fn receiver(cx: &mut Cx, this: Value) -> Result<Value> {
        available(cx, this, "__receiver", "receiver")
    }
}

/// Hash patterns that lack a key.
#[ruby_class(ids::NO_MATCHING_PATTERN_KEY_ERROR)]
mod pattern_key_error {
    use super::*;

    /// Message, value and key.
    ///
    ///     NoMatchingPatternKeyError.new("m", matchee: {}, key: :a).key   #=> :a
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, message: Option<Value>, kw: Kwargs) -> Result<Value> {
        let matchee = Sym::intern("matchee");
        kw.only(cx, &[matchee, sym::key])?;
        set_message(cx, this, message);
        keep(cx, this, kw, matchee, "__matchee");
        keep(cx, this, kw, sym::key, "__key");
        Ok(Value::NIL)
    }

    /// The value that did not match.
    ///
    ///     NoMatchingPatternKeyError.new("m", matchee: {b: 1}, key: :a).matchee   #=> {b: 1}
    #[method("matchee")]
    fn matchee(cx: &mut Cx, this: Value) -> Result<Value> {
        available(cx, this, "__matchee", "matchee")
    }

    /// The missing key.
    ///
    ///     NoMatchingPatternKeyError.new("m", matchee: {b: 1}, key: :a).key   #=> :a
    #[method("key")]
    fn key(cx: &mut Cx, this: Value) -> Result<Value> {
        available(cx, this, "__key", "key")
    }
}

/// Jumps whose target is gone.
#[ruby_class(ids::LOCAL_JUMP_ERROR)]
mod local_jump_error {
    use super::*;

    /// `:break`, `:return`, ... or `:noreason`.
    ///
    ///     LocalJumpError.new.reason   #=> :noreason
    #[method("reason")]
    fn reason(cx: &mut Cx, this: Value) -> Value {
        match cx.ivar_get(this, Sym::intern("@reason")) {
            Value::NIL => Value::sym(Sym::intern("noreason")),
            v => v,
        }
    }

    /// The value of the jump.
    ///
    ///     LocalJumpError.new.exit_value   #=> nil
    #[method("exit_value")]
    fn exit_value(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_get(this, Sym::intern("@exit_value"))
    }
}

/// `throw` without `catch`.
#[ruby_class(ids::UNCAUGHT_THROW_ERROR)]
mod uncaught_throw {
    use super::*;

    /// Tag, value, and a message in which `%p` stands for the tag.
    ///
    ///     UncaughtThrowError.new(:x, 1).message   #=> "uncaught throw :x"
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, tag: Value, value: Option<Value>, message: Option<Value>) -> Result<Value> {
        cx.ivar_set_raw(this, Sym::intern("__tag"), tag);
        cx.ivar_set_raw(this, Sym::intern("__value"), value.unwrap_or(Value::NIL));
        let m = match message {
            Some(m) => m,
            None => cx.str("uncaught throw %p"),
        };
        set_message(cx, this, Some(m));
        Ok(Value::NIL)
    }

    /// The tag that was thrown.
    ///
    ///     begin; throw :x; rescue UncaughtThrowError => e; e.tag; end   #=> :x
    #[method("tag")]
    fn tag(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_get(this, Sym::intern("__tag"))
    }

    /// The value that was thrown.
    ///
    ///     begin; throw :x, 3; rescue UncaughtThrowError => e; e.value; end   #=> 3
    #[method("value")]
    fn value(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_get(this, Sym::intern("__value"))
    }

    /// The message with the tag.
    ///
    ///     begin; throw :x; rescue UncaughtThrowError => e; e.to_s; end   #=> "uncaught throw :x"
    #[method("to_s")]
    fn to_s(cx: &mut Cx, this: Value) -> Result<Value> {
        let m = cx.ivar_get(this, hidden::message());
        if m.is_nil() {
            let c = cx.class_name_of(this);
            return Ok(cx.str(&c));
        }
        let text = cx.to_s_text(m)?;
        if !text.contains("%p") {
            return Ok(m);
        }
        let tag = cx.ivar_get(this, Sym::intern("__tag"));
        let shown = cx.inspect_text(tag)?;
        let text = text.replacen("%p", &shown, 1);
        Ok(cx.str(&text))
    }
}

/// `exit`.
#[ruby_class(ids::SYSTEM_EXIT)]
mod system_exit {
    use super::*;

    /// Status (true: 0, false: 1, or a number) and message.
    ///
    ///     SystemExit.new(2, "bye").status   #=> 2
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, args: Rest) -> Result<Value> {
        let (status, rest) = match args.split_first() {
            Some((&Value::TRUE, rest)) => (0, rest),
            Some((&Value::FALSE, rest)) => (1, rest),
            Some((v, rest)) if v.is_fixnum() => (v.fix(), rest),
            _ => (0, args),
        };
        if rest.len() > 1 {
            return cx.arity_error(args.len(), 0, Some(2));
        }
        cx.ivar_set_raw(this, Sym::intern("__status"), Value::fixnum(status));
        set_message(cx, this, rest.first().copied());
        Ok(Value::NIL)
    }

    /// The status that the program ends with.
    ///
    ///     begin; exit 3; rescue SystemExit => e; e.status; end   #=> 3
    #[method("status")]
    fn status(cx: &mut Cx, this: Value) -> Value {
        match cx.ivar_get(this, Sym::intern("__status")) {
            Value::NIL => Value::fixnum(0),
            v => v,
        }
    }

    /// Whether the status is 0.
    ///
    ///     SystemExit.new(false).success?   #=> false
    #[method("success?")]
    fn success(cx: &mut Cx, this: Value) -> bool {
        status(cx, this) == Value::fixnum(0)
    }
}

/// Files that can't be loaded.
#[ruby_class(ids::LOAD_ERROR)]
mod load_error {
    use super::*;

    /// The path that was required.
    ///
    ///     begin; require "no/such/file"; rescue LoadError => e; e.path; end   #=> "no/such/file"
    #[method("path")]
    fn path(cx: &mut Cx, this: Value) -> Value {
        match cx.ivar_get(this, Sym::intern("@path")) {
            Value::NIL => cx.ivar_get(this, Sym::intern("__path")),
            v => v,
        }
    }
}

/// Programs that can't be parsed.
#[ruby_class(ids::SYNTAX_ERROR)]
mod syntax_error {
    use super::*;

    /// The file with the error.
    ///
    ///     SyntaxError.new("m").path   #=> nil
    #[method("path")]
    fn path(cx: &mut Cx, this: Value) -> Value {
        match cx.ivar_get(this, Sym::intern("@path")) {
            Value::NIL => cx.ivar_get(this, Sym::intern("__path")),
            v => v,
        }
    }
}
