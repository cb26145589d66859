//! What machine code calls that runs no Ruby code, raises nothing but that memory is refused, and looks at no frame: registers stay where they are, and frames of inlined calls need not be written.
//! Each answers bits of a value; 0 if memory was refused (an exception is pending then), unless it says otherwise.

use super::machine::help::guarded;
use crate::builtin::{Block, NativeFn};
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
/// An environment, within another one or nil.
pub unsafe extern "C" fn environment(cx: &mut Cx, parent: u64, slots: usize) -> u64 {
    // SAFETY: a live value.
    guarded(cx, |cx| Ok(EnvCell::make(&cx.heap, unsafe { Value::from_bits(parent) }, slots).as_value()))
}
/// `a << b` of a plain String that may be changed; UNDEF if the interpreter has to do it.
pub unsafe extern "C" fn append(cx: &mut Cx, a: u64, b: u64) -> u64 {
    use zakuro_object::string::CodeRange::{Ascii, Unknown, Valid};
    guarded(cx, |cx| {
        // SAFETY: live values; machine code has looked at shape and flags of the receiver.
        unsafe {
            let (a, b) = (Value::from_bits(a), Value::from_bits(b));
            if !b.is_cell() || b.shape_key() != ids::STRING.0 || a == b {
                return Ok(Value::UNDEF);
            }
            let (s, other): (Ref<StringCell>, Ref<StringCell>) = (Ref::of_unchecked(a), Ref::of_unchecked(b));
            if s.encoding() != other.encoding() {
                return Ok(Value::UNDEF);
            }
            let joined = match (s.code_range(), other.code_range()) {
                (Unknown, r @ (Ascii | Valid)) if s.len() == 0 => Some(r),
                (Unknown, Ascii | Valid) => None,
                (Ascii, r @ (Ascii | Valid)) => Some(r),
                (Valid, Ascii | Valid) => Some(Valid),
                _ => return Ok(Value::UNDEF),
            };
            if StringCell::try_append_string(s, &mut cx.heap, other).is_err() {
                return Ok(Value::UNDEF);
            }
            if let Some(r) = joined {
                s.set_code_range(r);
            }
            Ok(a)
        }
    })
}
