//! What machine code calls that runs no Ruby code, raises nothing but that memory is refused, and looks at no frame: registers stay where they are, and frames of inlined calls need not be written.
//! Each answers bits of a value; 0 if memory was refused (an exception is pending then), unless it says otherwise.

use super::machine::help::guarded;
use crate::builtin::{Block, NativeFn};
use crate::frame::CodeState;
use crate::vm::Cx;
use zakuro_object::*;

/// A builtin that does no more than this module allows: its function, receiver and arguments one behind the other.
pub unsafe extern "C" fn native(cx: &mut Cx, f: usize, base: *const Value, argc: usize) -> u64 {
    guarded(cx, |cx| {
        // SAFETY: machine code has found the function in the cache of a call site whose key matches; values stand at `base`.
        unsafe {
            let f = std::mem::transmute::<usize, NativeFn>(f);
            f(cx, *base, base.add(1), argc, Block::NONE)
        }
    })
}
/// `s.getbyte(i)`, of a String and a small Integer.
pub unsafe extern "C" fn getbyte(s: u64, i: i64) -> u64 {
    // SAFETY: the receiver of String#getbyte, found by its shape.
    let s: Ref<StringCell> = unsafe { Ref::of_unchecked(Value::from_bits(s)) };
    let at = if i < 0 { i + s.len() as i64 } else { i };
    let byte = usize::try_from(at).ok().and_then(|at| s.byte(at));
    byte.map_or(Value::NIL, |b| Value::fixnum(b as i64)).bits()
}
/// `s.setbyte(i, byte)`, of a String; UNDEF if the interpreter has to do it.
pub unsafe extern "C" fn setbyte(cx: &mut Cx, s: u64, i: u64, byte: u64) -> u64 {
    // SAFETY: live values; the receiver of String#setbyte, found by its shape.
    let (s, i, byte): (Ref<StringCell>, _, _) =
        unsafe { (Ref::of_unchecked(Value::from_bits(s)), Value::from_bits(i), Value::from_bits(byte)) };
    let (Some(i), Some(b)) = (i.as_fixnum(), byte.as_fixnum()) else { return NO_ANSWER };
    let at = if i < 0 { i + s.len() as i64 } else { i };
    if at < 0 || at >= s.len() as i64 || s.header.flags & (flags::FROZEN | flags::CAPTURED) != 0 {
        return NO_ANSWER;
    }
    guarded(cx, |cx| {
        StringCell::bytes_mut(s, &mut cx.heap)[at as usize] = b as u8;
        Ok(byte)
    })
}
/// An instance variable of what has its variables in a list; UNDEF if the interpreter has to read it. `site`: the one of this state that asks.
pub unsafe extern "C" fn listed(cx: &mut Cx, me: u64, cs: *const CodeState, site: usize) -> u64 {
    // SAFETY: a live value, and a state that runs.
    unsafe { super::listed::value_of(cx, Value::from_bits(me), cs, site) }.unwrap_or(Value::UNDEF).bits()
}
/// Sets an instance variable that stands in a list: 1, or 0 if the interpreter has to do it. `site`: the one of this state that asks.
pub unsafe extern "C" fn set_listed(cx: &mut Cx, me: u64, v: u64, cs: *const CodeState, site: usize) -> u64 {
    // SAFETY: live values, and a state that runs.
    unsafe { super::listed::set_value(cx, Value::from_bits(me), Value::from_bits(v), cs, site) as u64 }
}
/// A String of a literal, with its flags.
pub unsafe extern "C" fn string(cx: &mut Cx, literal: u64, flags: u64) -> u64 {
    guarded(cx, |cx| {
        // SAFETY: a String among the Code's literals; the new cell is nobody else's, so its flags may be written.
        unsafe {
            let literal: Ref<StringCell> = Ref::of_unchecked(Value::from_bits(literal));
            let s = StringCell::substring(&cx.heap, ids::STRING.0, literal, 0, literal.len());
            s.init_flags(flags as u8);
            Ok(s.as_value())
        }
    })
}
/// An Array of values one behind the other.
pub unsafe extern "C" fn array(cx: &mut Cx, items: *const Value, n: usize) -> u64 {
    // SAFETY: initialised values of a window, which nobody writes meanwhile.
    guarded(cx, |cx| Ok(ArrayCell::plain(&cx.heap, unsafe { std::slice::from_raw_parts(items, n) }).as_value()))
}
/// What [`Op::AskList`](zakuro_bytecode::Op::AskList) gives. `what`: its option above the number of values.
pub unsafe extern "C" fn ask_list(cx: &mut Cx, first: *const Value, what: u64) -> u64 {
    // SAFETY: initialised values of a window, which nobody writes meanwhile.
    let values = unsafe { std::slice::from_raw_parts(first, what as u32 as usize) };
    super::data::ask_of_list(cx, (what >> 32) as u8, values).bits()
}
/// A String of parts one behind the other, in a scope of this method; UNDEF if the interpreter has to make it. `n`: how many, and the encoding of the source above the low 32 bits.
pub unsafe extern "C" fn interpolate(cx: &mut Cx, first: *const Value, n: u64, method: u64) -> u64 {
    guarded(cx, |cx| {
        // SAFETY: initialised values of a window, which nobody writes meanwhile; the method of the scope's frame.
        unsafe {
            let cref = Ref::<MethodCell>::of_unchecked(Value::from_bits(method)).cref;
            if cx.active_refinements(cref).is_some() {
                return Ok(Value::UNDEF);
            }
            Ok(cx.interpolate_plain(first, n as u32 as usize, (n >> 32) as u8).unwrap_or(Value::UNDEF))
        }
    })
}
/// The Hash of a literal, keys and values in turn; UNDEF if a key may have a `hash` of the program's.
pub unsafe extern "C" fn hash(cx: &mut Cx, first: *const Value, n: usize) -> u64 {
    guarded(cx, |cx| {
        // SAFETY: initialised values of a window, which nobody writes meanwhile.
        unsafe {
            if (0..n).step_by(2).any(|k| (*first.add(k)).is_cell()) {
                return Ok(Value::UNDEF);
            }
            cx.hash_literal(first, n)
        }
    })
}
/// A Range of two small Integers; UNDEF if the interpreter has to make it.
pub unsafe extern "C" fn range(cx: &mut Cx, low: u64, high: u64, exclusive: u64) -> u64 {
    guarded(cx, |cx| {
        // SAFETY: live values.
        let (low, high) = unsafe { (Value::from_bits(low), Value::from_bits(high)) };
        if !low.is_fixnum() || !high.is_fixnum() {
            return Ok(Value::UNDEF);
        }
        Ok(RangeCell::make(&cx.heap, ids::RANGE.0, low, high, exclusive == 1).as_value())
    })
}
/// An environment, within another one or nil.
pub unsafe extern "C" fn environment(cx: &mut Cx, parent: u64, slots: usize) -> u64 {
    // SAFETY: a live value.
    guarded(cx, |cx| Ok(EnvCell::make(&cx.heap, unsafe { Value::from_bits(parent) }, slots).as_value()))
}
/// `a << b` of a plain String that may be changed; UNDEF if the interpreter has to do it.
pub unsafe extern "C" fn append(cx: &mut Cx, a: u64, b: u64) -> u64 {
    use zakuro_object::string::CodeRange::{Ascii, Broken, Unknown, Valid};
    use zakuro_object::string::{BINARY, US_ASCII, UTF8};
    const COMPATIBLE: [u8; 3] = [BINARY, UTF8, US_ASCII];
    guarded(cx, |cx| {
        // SAFETY: live values; machine code has looked at shape and flags of the receiver.
        unsafe {
            let (a, b) = (Value::from_bits(a), Value::from_bits(b));
            if !b.is_cell() || b.shape_key() != ids::STRING.0 || a == b {
                return Ok(Value::UNDEF);
            }
            let (s, other): (Ref<StringCell>, Ref<StringCell>) = (Ref::of_unchecked(a), Ref::of_unchecked(b));
            // Few bytes are looked at each time; more where it is noted what they are.
            let mut range = other.code_range();
            if range == Unknown && other.len() <= 64 && COMPATIBLE.contains(&other.encoding()) && other.is_ascii() {
                range = Ascii;
            }
            // What is ASCII alone takes no other encoding to where it goes.
            let (own, from) = (s.encoding(), other.encoding());
            if own != from && (range != Ascii || !COMPATIBLE.contains(&own) || !COMPATIBLE.contains(&from)) {
                return Ok(Value::UNDEF);
            }
            let before = s.code_range();
            if (range != Ascii && range != Valid) || before == Broken {
                return Ok(Value::UNDEF);
            }
            let is_known = before != Unknown || s.len() == 0;
            if StringCell::try_append_string(s, &mut cx.heap, other).is_err() {
                return Ok(Value::UNDEF);
            }
            if is_known {
                s.set_code_range(if before == Valid { Valid } else { range });
            }
            Ok(a)
        }
    })
}

/// What answers for a builtin: receiver and first argument (or nil). UNDEF: the builtin itself is to be called.
pub type Answer = unsafe extern "C" fn(cx: &mut Cx, this: u64, argument: u64) -> u64;

/// What may answer for a builtin of this class, so named, with so many arguments, where that takes no frame.
pub fn answer(owner: ClassId, name: &str, argc: u8) -> Option<Answer> {
    Some(match (owner, name, argc) {
        (ids::KERNEL, "is_a?" | "kind_of?", 1) => is_a,
        (ids::KERNEL, "instance_of?", 1) => instance_of,
        (ids::KERNEL, "class", 0) => class,
        (ids::KERNEL, "respond_to?", 1) => respond_to,
        (ids::ARRAY, "first", 0) => first,
        (ids::ARRAY, "last", 0) => last,
        (ids::HASH, "key?" | "has_key?" | "include?" | "member?", 1) => has_key,
        (ids::HASH, "fetch", 1) => fetch,
        (ids::INTEGER, "<=>", 1) => compare,
        (ids::FLOAT, "to_i" | "to_int" | "truncate", 0) => truncate,
        (ids::FLOAT, "floor", 0) => floor,
        (ids::FLOAT, "ceil", 0) => ceil,
        (ids::FLOAT, "round", 0) => round,
        (ids::STRING, "to_s" | "to_str", 0) => itself,
        _ => return None,
    })
}

const NO_ANSWER: u64 = Value::UNDEF.bits();

unsafe extern "C" fn is_a(cx: &mut Cx, this: u64, class: u64) -> u64 {
    // SAFETY: live values.
    let (this, class) = unsafe { (Value::from_bits(this), Value::from_bits(class)) };
    cx.class_id(class).map_or(NO_ANSWER, |c| Value::bool(cx.is_a(this, c)).bits())
}
unsafe extern "C" fn instance_of(cx: &mut Cx, this: u64, class: u64) -> u64 {
    // SAFETY: live values.
    let (this, class) = unsafe { (Value::from_bits(this), Value::from_bits(class)) };
    cx.class_id(class).map_or(NO_ANSWER, |c| Value::bool(cx.class_of(this) == c).bits())
}
unsafe extern "C" fn class(cx: &mut Cx, this: u64, _: u64) -> u64 {
    // SAFETY: a live value.
    cx.shown_class(unsafe { Value::from_bits(this) }).bits()
}
/// Only yes: who has no such method may have a `respond_to_missing?` or a refinement of the scope's.
unsafe extern "C" fn respond_to(cx: &mut Cx, this: u64, name: u64) -> u64 {
    // SAFETY: live values.
    let (this, name) = unsafe { (Value::from_bits(this), Value::from_bits(name)) };
    let Some(name) = name.as_sym() else { return NO_ANSWER };
    guarded(cx, |cx| {
        let found = cx.method_of(this, name);
        let has = found.is_some_and(|m| m.visibility() == Visibility::Public && !Cx::native_row(m).is_some_and(|r| r.unimplemented));
        Ok(if has { Value::TRUE } else { Value::UNDEF })
    })
}
unsafe extern "C" fn first(cx: &mut Cx, this: u64, _: u64) -> u64 {
    // SAFETY: the receiver of Array#first, found by its shape.
    let a: Ref<ArrayCell> = unsafe { Ref::of_unchecked(Value::from_bits(this)) };
    a.elements(&cx.heap).first().copied().unwrap_or(Value::NIL).bits()
}
unsafe extern "C" fn last(_: &mut Cx, this: u64, _: u64) -> u64 {
    // SAFETY: as above.
    let a: Ref<ArrayCell> = unsafe { Ref::of_unchecked(Value::from_bits(this)) };
    a.last().unwrap_or(Value::NIL).bits()
}
/// What a Hash has for a key that needs no `hash` or `eql?` of the program's; None if it does.
unsafe fn found(cx: &mut Cx, this: u64, key: u64) -> Option<Option<Value>> {
    // SAFETY: live values; the receiver of a method of Hash, found by its shape.
    let (h, key) = unsafe { (Ref::<HashCell>::of_unchecked(Value::from_bits(this)), Value::from_bits(key)) };
    cx.quick_get(h, key)
}
unsafe extern "C" fn has_key(cx: &mut Cx, this: u64, key: u64) -> u64 {
    // SAFETY: as in `found`.
    unsafe { found(cx, this, key) }.map_or(NO_ANSWER, |v| Value::bool(v.is_some()).bits())
}
unsafe extern "C" fn fetch(cx: &mut Cx, this: u64, key: u64) -> u64 {
    // SAFETY: as in `found`.
    unsafe { found(cx, this, key) }.flatten().map_or(NO_ANSWER, |v| v.bits())
}
unsafe extern "C" fn compare(_: &mut Cx, this: u64, other: u64) -> u64 {
    // SAFETY: live values.
    match unsafe { (Value::from_bits(this).as_fixnum(), Value::from_bits(other).as_fixnum()) } {
        (Some(a), Some(b)) => Value::fixnum(a.cmp(&b) as i64).bits(),
        _ => NO_ANSWER,
    }
}
/// Strings of subclasses are copied.
unsafe extern "C" fn itself(_: &mut Cx, this: u64, _: u64) -> u64 {
    // SAFETY: a live value, the receiver of a method of String, found by its shape.
    if unsafe { Value::from_bits(this) }.shape_key() == ids::STRING.0 { this } else { NO_ANSWER }
}
/// A whole number as an Integer, if it is a small one.
fn whole(d: f64) -> u64 {
    const MOST: f64 = (1u64 << 61) as f64;
    if d.abs() < MOST { Value::fixnum(d as i64).bits() } else { NO_ANSWER }
}
unsafe extern "C" fn truncate(_: &mut Cx, this: u64, _: u64) -> u64 {
    // SAFETY: a live value.
    unsafe { Value::from_bits(this) }.as_float().map_or(NO_ANSWER, |d| whole(d.trunc()))
}
unsafe extern "C" fn floor(_: &mut Cx, this: u64, _: u64) -> u64 {
    // SAFETY: a live value.
    unsafe { Value::from_bits(this) }.as_float().map_or(NO_ANSWER, |d| whole(d.floor()))
}
unsafe extern "C" fn ceil(_: &mut Cx, this: u64, _: u64) -> u64 {
    // SAFETY: a live value.
    unsafe { Value::from_bits(this) }.as_float().map_or(NO_ANSWER, |d| whole(d.ceil()))
}
unsafe extern "C" fn round(_: &mut Cx, this: u64, _: u64) -> u64 {
    // SAFETY: a live value.
    unsafe { Value::from_bits(this) }.as_float().map_or(NO_ANSWER, |d| whole(d.round()))
}
