//! BasicObject, and the classes of `nil`, `true` and `false`.

use crate::module::eval;
use zakuro_macros::ruby_class;
use zakuro_vm::interp::MissReason;
use zakuro_vm::interp::trace::events;
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[basic::METHODS, nil::METHODS, true_class::METHODS, false_class::METHODS];

pub fn setup(cx: &mut Cx) {
    // Its own descendants find no constants of Object.
    let basic = cx.class_value(ids::BASIC_OBJECT);
    cx.const_set(ids::BASIC_OBJECT, Sym::intern("BasicObject"), basic);
}

/// The VM's frozen String of this content, always the same one.
fn shared(cx: &mut Cx, text: &str) -> Value {
    let s = cx.str_bytes(text.as_bytes(), zakuro_object::string::US_ASCII);
    s.set_flags(flags::FROZEN);
    zakuro_core_text::string::dedup::dedup(cx, Ref::of(s))
}

#[ruby_class(ids::BASIC_OBJECT)]
mod basic {
    use super::*;

    /// Does nothing; takes no arguments.
    #[method("initialize", private, min = 0, max = 0)]
    fn initialize(_this: Value) -> Result<Value> {
        Ok(Value::NIL)
    }
    /// Whether the object is false or nil.
    ///
    ///     Object.new.!   #=> false
    ///     nil.!          #=> true
    #[method("!")]
    fn not(this: Value) -> bool {
        !this.truthy()
    }
    /// Whether both are the same object. `equal?` is not meant to be redefined.
    ///
    ///     o = Object.new; [o == o, o == Object.new]   #=> [true, false]
    ///     "a".equal?("a")                             #=> false
    ///     :a.equal?(:a)                               #=> true
    #[method("==", "equal?")]
    fn eq(this: Value, other: Value) -> bool {
        this == other
    }
    /// The negation of `==`.
    ///
    ///     1 != 2   #=> true
    #[method("!=")]
    fn neq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        if cx.tracing & (events::C_CALL | events::C_RETURN) != 0
            && let Some(m) = cx.method_of(this, sym::eq)
        {
            return Ok(!cx.call_told(m, this, sym::eq, &[other], false, Block::NONE)?.truthy());
        }
        if cx.is_builtin(this, sym::eq, ids::BASIC_OBJECT) {
            return Ok(this != other);
        }
        // Not `cx.eq`, which takes identical objects for equal: `==` decides.
        Ok(!cx.call(this, sym::eq, &[other])?.truthy())
    }
    /// A number that no other live object of this VM has.
    ///
    ///     1.__id__      #=> 3
    ///     nil.__id__    #=> 8
    ///     o = Object.new; o.__id__ == o.__id__   #=> true
    #[method("__id__")]
    fn id(cx: &mut Cx, this: Value) -> Value {
        cx.object_id(this)
    }
    /// Calls a method by name, private ones included.
    ///
    ///     [3, 1].__send__(:max)   #=> 3
    #[method("__send__")]
    fn send(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        super::send(cx, this, args)
    }
    /// Runs a block or a text with the object as `self`; the block gets the object.
    ///
    ///     "ab".instance_eval { size }    #=> 2
    ///     "ab".instance_eval("upcase")   #=> "AB"
    #[method("instance_eval")]
    fn instance_eval(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        if args.block.is_some() {
            if !args.is_empty() {
                return cx.arity_error(args.len(), 0, Some(0));
            }
            return eval::instance_exec(cx, this, &[this], false, args.block);
        }
        eval::eval_text(cx, this, args, eval::Target::Instance)
    }
    /// Runs a block with the object as `self` and the arguments as the block's.
    ///
    ///     5.instance_exec(2) { |n| self * n }   #=> 10
    #[method("instance_exec")]
    fn instance_exec(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        if args.block.is_none() {
            return cx.raise(ids::LOCAL_JUMP_ERROR, "no block given (yield)");
        }
        eval::instance_exec(cx, this, args.all(), args.kw, args.block)
    }
    /// Called when an object has no method of a name: raises NoMethodError.
    #[method("method_missing", private)]
    fn method_missing(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let Some(name) = args.get(0).and_then(|n| n.as_sym()) else {
            return cx.arg_error("no method name given");
        };
        let why = std::mem::replace(&mut cx.missing_reason, MissReason::None);
        cx.no_method_error(this, name, &args.all()[1..], why)
    }
    /// Hook: a singleton method was defined. Does nothing.
    #[method("singleton_method_added", private)]
    #[method("singleton_method_removed", private)]
    #[method("singleton_method_undefined", private)]
    fn hook(_this: Value, _name: Value) -> Value {
        Value::NIL
    }
}

/// `send`: the first argument is the name. Arguments are passed on where they stand.
pub(crate) fn send(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
    let Some(name) = args.get(0) else { return cx.arg_error("no method name given") };
    let name = match name.as_sym() {
        Some(s) => s,
        None => cx.to_sym(name)?,
    };
    // The caller's refinements count.
    match cx.method_of_here(this, name) {
        Some(m) => cx.call_method(m, this, name, &args.all()[1..], args.kw, args.block),
        None => cx.call_missing(this, name, &args.all()[1..], args.kw, args.block, zakuro_vm::interp::MissReason::Fcall),
    }
}

#[ruby_class(ids::NIL_CLASS)]
mod nil {
    use super::*;

    /// True: only nil answers so.
    ///
    ///     nil.nil?   #=> true
    #[method("nil?")]
    fn nil_p(_this: Value) -> bool {
        true
    }
    /// The empty String, frozen.
    ///
    ///     nil.to_s   #=> ""
    #[method("to_s")]
    fn to_s(cx: &mut Cx, _this: Value) -> Value {
        shared(cx, "")
    }
    /// The empty Array.
    ///
    ///     nil.to_a   #=> []
    #[method("to_a")]
    fn to_a(cx: &Cx, _this: Value) -> Value {
        cx.array(&[])
    }
    /// The empty Hash.
    ///
    ///     nil.to_h   #=> {}
    #[method("to_h")]
    fn to_h(cx: &Cx, _this: Value) -> Value {
        cx.new_hash().as_value()
    }
    /// Zero.
    ///
    ///     nil.to_i   #=> 0
    #[method("to_i")]
    fn to_i(_this: Value) -> i64 {
        0
    }
    /// Zero.
    ///
    ///     nil.to_f   #=> 0.0
    #[method("to_f")]
    fn to_f(_this: Value) -> f64 {
        0.0
    }
    /// Zero.
    ///
    ///     nil.to_r   #=> (0/1)
    #[method("to_r")]
    fn to_r(heap: &Heap, _this: Value) -> Value {
        PairCell::make(heap, ids::RATIONAL, Kind::Rational, Value::fixnum(0), Value::fixnum(1))
    }
    /// Zero, however exact.
    ///
    ///     nil.rationalize(0.1)   #=> (0/1)
    #[method("rationalize")]
    fn rationalize(heap: &Heap, this: Value, _eps: Option<Value>) -> Value {
        to_r(heap, this)
    }
    /// Zero.
    ///
    ///     nil.to_c   #=> (0+0i)
    #[method("to_c")]
    fn to_c(heap: &Heap, _this: Value) -> Value {
        PairCell::make(heap, ids::COMPLEX, Kind::Complex, Value::fixnum(0), Value::fixnum(0))
    }
    /// The text `nil`.
    ///
    ///     nil.inspect   #=> "nil"
    #[method("inspect")]
    fn inspect(cx: &Cx, _this: Value) -> Value {
        cx.str_bytes(b"nil", zakuro_object::string::US_ASCII)
    }
    /// Never matches.
    ///
    ///     nil =~ /x/   #=> nil
    #[method("=~")]
    fn match_op(_this: Value, _other: Value) -> Value {
        Value::NIL
    }
    /// False.
    ///
    ///     nil & true   #=> false
    #[method("&")]
    fn and(_this: Value, _other: Value) -> bool {
        false
    }
    /// Whether the other is truthy.
    ///
    ///     nil | 1   #=> true
    #[method("|", "^")]
    fn or(_this: Value, other: Value) -> bool {
        other.truthy()
    }
    /// Whether the other is nil.
    ///
    ///     nil === nil   #=> true
    #[method("==")]
    fn eq(_this: Value, other: Value) -> bool {
        other.is_nil()
    }
    /// As `==`.
    ///
    ///     nil === nil   #=> true
    #[method("===")]
    fn eqq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        super::case_equal(cx, this, other, ids::NIL_CLASS)
    }
}

/// `===` of nil, true and false: the object itself, or what `==` says if a program has replaced it.
fn case_equal(cx: &mut Cx, this: Value, other: Value, class: ClassId) -> Result<bool> {
    if this == other || cx.is_builtin(this, sym::eq, class) {
        return Ok(this == other);
    }
    Ok(cx.call(this, sym::eq, &[other])?.truthy())
}

#[ruby_class(ids::TRUE_CLASS)]
mod true_class {
    use super::*;

    /// The text `true`, frozen.
    ///
    ///     true.to_s   #=> "true"
    #[method("to_s", "inspect")]
    fn to_s(cx: &mut Cx, _this: Value) -> Value {
        shared(cx, "true")
    }
    /// Whether the other is truthy.
    ///
    ///     true & nil   #=> false
    #[method("&")]
    fn and(_this: Value, other: Value) -> bool {
        other.truthy()
    }
    /// True.
    ///
    ///     true | nil   #=> true
    #[method("|")]
    fn or(_this: Value, _other: Value) -> bool {
        true
    }
    /// Whether the other is falsy.
    ///
    ///     true ^ true   #=> false
    #[method("^")]
    fn xor(_this: Value, other: Value) -> bool {
        !other.truthy()
    }
    /// Whether the other is true.
    ///
    ///     true === 1   #=> false
    #[method("==")]
    fn eq(_this: Value, other: Value) -> bool {
        other == Value::TRUE
    }
    /// As `==`.
    ///
    ///     true === true   #=> true
    #[method("===")]
    fn eqq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        super::case_equal(cx, this, other, ids::TRUE_CLASS)
    }
}

#[ruby_class(ids::FALSE_CLASS)]
mod false_class {
    use super::*;

    /// The text `false`, frozen.
    ///
    ///     false.to_s   #=> "false"
    #[method("to_s", "inspect")]
    fn to_s(cx: &mut Cx, _this: Value) -> Value {
        shared(cx, "false")
    }
    /// False.
    ///
    ///     false & true   #=> false
    #[method("&")]
    fn and(_this: Value, _other: Value) -> bool {
        false
    }
    /// Whether the other is truthy.
    ///
    ///     false | 1   #=> true
    #[method("|", "^")]
    fn or(_this: Value, other: Value) -> bool {
        other.truthy()
    }
    /// Whether the other is false.
    ///
    ///     false === nil   #=> false
    #[method("==")]
    fn eq(_this: Value, other: Value) -> bool {
        other == Value::FALSE
    }
    /// As `==`.
    ///
    ///     false === false   #=> true
    #[method("===")]
    fn eqq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        super::case_equal(cx, this, other, ids::FALSE_CLASS)
    }
}
