//! Operators and fused compare-and-branch. Integers and flonums inline, the rest by the ordinary call that follows in the group.

use super::control::{poll_at, polled};
use super::{dispatch, next, r};
use crate::frame::CodeState;
use crate::methods::fast;
use crate::vm::Cx;
use zakuro_bytecode::Insn;
use zakuro_object::*;

/// Copies the operands of a group to its call and goes there.
#[inline(never)]
pub unsafe fn slow_group(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; a group is complete (verifier).
    unsafe {
        let (i, call) = (*ip, *ip.add(1));
        let (b, c) = (r!(regs, i.b), r!(regs, i.c));
        r!(regs, call.a) = b;
        r!(regs, call.a + 1) = c;
        next!(cx, ip, regs, cs)
    }
}
/// The same for an immediate right operand.
#[inline(never)]
pub unsafe fn slow_group_i(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: as in `slow_group`.
    unsafe {
        let (i, call) = (*ip, *ip.add(1));
        r!(regs, call.a) = r!(regs, i.b);
        r!(regs, call.a + 1) = Value::fixnum(i.c as i16 as i64);
        next!(cx, ip, regs, cs)
    }
}
/// For one operand.
#[inline(never)]
pub unsafe fn slow_group_1(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: as in `slow_group`.
    unsafe {
        let (i, call) = (*ip, *ip.add(1));
        r!(regs, call.a) = r!(regs, i.b);
        next!(cx, ip, regs, cs)
    }
}
/// For a fused compare: operands a, b.
#[inline(never)]
unsafe fn slow_branch(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: as in `slow_group`.
    unsafe {
        let (i, call) = (*ip, *ip.add(1));
        let (a, b) = (r!(regs, i.a), r!(regs, i.b));
        r!(regs, call.a) = a;
        r!(regs, call.a + 1) = b;
        next!(cx, ip, regs, cs)
    }
}
#[inline(never)]
unsafe fn slow_branch_i(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: as in `slow_group`.
    unsafe {
        let (i, call) = (*ip, *ip.add(1));
        r!(regs, call.a) = r!(regs, i.a);
        r!(regs, call.a + 1) = Value::fixnum(i.b as i16 as i64);
        next!(cx, ip, regs, cs)
    }
}

/// A number as double: Float or Fixnum.
#[inline(always)]
fn number(v: Value) -> Option<f64> {
    if v.is_flonum() {
        Some(v.flo())
    } else if v.is_fixnum() {
        Some(v.fix() as f64)
    } else {
        v.as_float()
    }
}
#[inline(always)]
fn both_flonum(a: Value, b: Value) -> bool {
    a.is_flonum() && b.is_flonum()
}

// The Fixnum path stands alone in its handler: together with the float path it would need more registers and LLVM would merge their ends.
macro_rules! int_float_op {
    ($name:ident, $float:ident, $mixed:ident, $a:ident, $b:ident, $int:expr, $op:tt) => {
        pub unsafe fn $name(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
            unsafe {
                let i = *ip;
                let ($a, $b) = (r!(regs, i.b), r!(regs, i.c));
                if Value::both_fixnum($a, $b) && cx.redefined & fast::INTEGER == 0 {
                    if let Some(v) = $int {
                        r!(regs, i.a) = v;
                        next!(cx, ip, regs, cs, 3)
                    }
                    return slow_group(cx, ip, regs, cs);
                }
                $float(cx, ip, regs, cs)
            }
        }
        #[inline(never)]
        unsafe fn $float(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
            unsafe {
                let i = *ip;
                let (a, b) = (r!(regs, i.b), r!(regs, i.c));
                if both_flonum(a, b)
                    && cx.redefined & fast::FLOAT == 0
                    && let Some(v) = Value::flonum(a.flo() $op b.flo())
                {
                    r!(regs, i.a) = v;
                    next!(cx, ip, regs, cs, 3)
                }
                $mixed(cx, ip, regs, cs)
            }
        }
        #[inline(never)]
        unsafe fn $mixed(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
            unsafe {
                let i = *ip;
                let (a, b) = (r!(regs, i.b), r!(regs, i.c));
                if (a.is_flonum() || b.is_flonum())
                    && cx.redefined & (fast::INTEGER | fast::FLOAT) == 0
                    && let (Some(x), Some(y)) = (number(a), number(b))
                {
                    let v = Value::float(&cx.heap, x $op y);
                    r!(regs, i.a) = v;
                    next!(cx, ip, regs, cs, 3)
                }
                slow_group(cx, ip, regs, cs)
            }
        }
    };
}
/// What was computed from the words of Fixnums so that it is one's again.
#[inline(always)]
fn tagged(bits: u64) -> Value {
    debug_assert!(bits & 1 == 1);
    // SAFETY: an immediate.
    unsafe { Value::from_bits(bits) }
}
#[inline(always)]
fn add_fix(a: Value, b: Value) -> Option<Value> {
    (a.bits() as i64 - 1).checked_add(b.bits() as i64).map(|s| tagged(s as u64))
}
#[inline(always)]
fn sub_fix(a: Value, b: Value) -> Option<Value> {
    (a.bits() as i64).checked_sub(b.bits() as i64 - 1).map(|s| tagged(s as u64))
}
#[inline(always)]
fn mul_fix(a: Value, b: Value) -> Option<Value> {
    (a.bits() as i64 - 1).checked_mul(b.fix()).map(|p| tagged(p as u64 + 1))
}
int_float_op!(add, add_float, add_mixed, a, b, add_fix(a, b), +);
int_float_op!(sub, sub_float, sub_mixed, a, b, sub_fix(a, b), -);
int_float_op!(mul, mul_float, mul_mixed, a, b, mul_fix(a, b), *);

#[inline(always)]
fn div_floor(a: i64, b: i64) -> Option<i64> {
    if b == 0 {
        return None;
    }
    let q = a.wrapping_div(b);
    Some(if (a % b != 0) && ((a < 0) != (b < 0)) { q - 1 } else { q })
}
#[inline(always)]
fn mod_floor(a: i64, b: i64) -> Option<i64> {
    if b == 0 {
        return None;
    }
    let m = a.wrapping_rem(b);
    Some(if m != 0 && ((m < 0) != (b < 0)) { m + b } else { m })
}
pub unsafe fn div(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
    unsafe {
        let i = *ip;
        let (a, b) = (r!(regs, i.b), r!(regs, i.c));
        if Value::both_fixnum(a, b)
            && cx.redefined & fast::INTEGER == 0
            && let Some(v) = div_floor(a.fix(), b.fix()).and_then(Value::try_fixnum)
        {
            r!(regs, i.a) = v;
            next!(cx, ip, regs, cs, 3)
        }
        div_float(cx, ip, regs, cs)
    }
}
#[inline(never)]
unsafe fn div_float(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
    unsafe {
        let i = *ip;
        let (a, b) = (r!(regs, i.b), r!(regs, i.c));
        if both_flonum(a, b)
            && cx.redefined & fast::FLOAT == 0
            && let Some(v) = Value::flonum(a.flo() / b.flo())
        {
            r!(regs, i.a) = v;
            next!(cx, ip, regs, cs, 3)
        }
        div_mixed(cx, ip, regs, cs)
    }
}
#[inline(never)]
unsafe fn div_mixed(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
    unsafe {
        let i = *ip;
        let (a, b) = (r!(regs, i.b), r!(regs, i.c));
        if (a.is_flonum() || b.is_flonum())
            && cx.redefined & (fast::INTEGER | fast::FLOAT) == 0
            && let (Some(x), Some(y)) = (number(a), number(b))
            && let Some(v) = Value::flonum(x / y)
        {
            r!(regs, i.a) = v;
            next!(cx, ip, regs, cs, 3)
        }
        slow_group(cx, ip, regs, cs)
    }
}
pub unsafe fn modulo(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
    unsafe {
        let i = *ip;
        let (a, b) = (r!(regs, i.b), r!(regs, i.c));
        if Value::both_fixnum(a, b)
            && cx.redefined & fast::INTEGER == 0
            && let Some(m) = mod_floor(a.fix(), b.fix())
        {
            r!(regs, i.a) = Value::fixnum(m);
            next!(cx, ip, regs, cs, 3)
        }
        slow_group(cx, ip, regs, cs)
    }
}

macro_rules! imm_op {
    ($($name:ident, $float:ident |$a:ident, $n:ident| $int:expr, $fop:expr;)*) => {$(
        pub unsafe fn $name(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
            unsafe {
                let i = *ip;
                let $a = r!(regs, i.b);
                let $n = i.c as i16 as i64;
                if $a.is_fixnum() && cx.redefined & fast::INTEGER == 0 && let Some(v) = $int {
                    r!(regs, i.a) = v;
                    next!(cx, ip, regs, cs, 3)
                }
                $float(cx, ip, regs, cs)
            }
        }
        #[inline(never)]
        unsafe fn $float(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
            unsafe {
                let i = *ip;
                let a = r!(regs, i.b);
                let f: fn(f64, f64) -> Option<f64> = $fop;
                if a.is_flonum()
                    && cx.redefined & fast::FLOAT == 0
                    && let Some(v) = f(a.flo(), i.c as i16 as f64).and_then(Value::flonum)
                {
                    r!(regs, i.a) = v;
                    next!(cx, ip, regs, cs, 3)
                }
                slow_group_i(cx, ip, regs, cs)
            }
        }
    )*};
}
imm_op! {
    add_i, add_i_float |a, n| (a.bits() as i64).checked_add(n << 1).map(|s| tagged(s as u64)), |x, y| Some(x + y);
    sub_i, sub_i_float |a, n| (a.bits() as i64).checked_sub(n << 1).map(|s| tagged(s as u64)), |x, y| Some(x - y);
    mul_i, mul_i_float |a, n| (a.bits() as i64 - 1).checked_mul(n).map(|p| tagged(p as u64 + 1)), |x, y| Some(x * y);
    div_i, div_i_float |a, n| div_floor(a.fix(), n).and_then(Value::try_fixnum), |x, y| Some(x / y);
    mod_i, mod_i_float |a, n| mod_floor(a.fix(), n).map(Value::fixnum), |_, _| None;
    and_i, and_i_float |a, n| Some(tagged(a.bits() & (((n << 1) | 1) as u64))), |_, _| None;
    shl_i, shl_i_float |a, n| if (0..62).contains(&n) && (a.fix() << n) >> n == a.fix() { Value::try_fixnum(a.fix() << n) } else { None }, |_, _| None;
    shr_i, shr_i_float |a, n| if (0..64).contains(&n) { Some(Value::fixnum(a.fix() >> n)) } else { None }, |_, _| None;
}

macro_rules! compare_op {
    ($($name:ident, $float:ident $op:tt;)*) => {$(
        pub unsafe fn $name(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
            unsafe {
                let i = *ip;
                let (a, b) = (r!(regs, i.b), r!(regs, i.c));
                if Value::both_fixnum(a, b) && cx.redefined & fast::INTEGER == 0 {
                    r!(regs, i.a) = Value::bool((a.bits() as i64) $op (b.bits() as i64));
                    next!(cx, ip, regs, cs, 3)
                }
                $float(cx, ip, regs, cs)
            }
        }
        #[inline(never)]
        unsafe fn $float(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
            unsafe {
                let i = *ip;
                let (a, b) = (r!(regs, i.b), r!(regs, i.c));
                if both_flonum(a, b) && cx.redefined & fast::FLOAT == 0 {
                    r!(regs, i.a) = Value::bool(a.flo() $op b.flo());
                    next!(cx, ip, regs, cs, 3)
                }
                slow_group(cx, ip, regs, cs)
            }
        }
    )*};
}
compare_op! { lt, lt_float <; le, le_float <=; gt, gt_float >; ge, ge_float >=; }

/// Immediates of one kind; nil, true, false and Symbols equal only themselves.
#[inline(always)]
pub(super) fn only_identical(a: Value, b: Value) -> bool {
    Value::both_fixnum(a, b) || both_flonum(a, b) || (a.bits() & 7 == 4 && !a.is_undef())
}
/// Equality that needs no call of a method, but more than a glance.
#[inline(always)]
pub(super) fn string_eq(a: Value, b: Value) -> Option<bool> {
    if a.is_cell() && a.kind_of_cell() == Kind::String && a.shape_key() == ids::STRING.0 && b.is_kind(Kind::String) {
        // SAFETY: both are of the kind.
        let (x, y) = unsafe { (Ref::<StringCell>::of_unchecked(a), Ref::<StringCell>::of_unchecked(b)) };
        return Some(x.same_bytes(&y) && crate::equality::string_comparable(x, y));
    }
    None
}
// Strings in a second step: see `data::aref`.
macro_rules! equality {
    ($($name:ident, $string:ident, $other:ident $equal:expr;)*) => {$(
        pub unsafe fn $name(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
            unsafe {
                let i = *ip;
                let (a, b) = (r!(regs, i.b), r!(regs, i.c));
                if only_identical(a, b) && cx.redefined & fast::EQUALITY == 0 {
                    r!(regs, i.a) = Value::bool((a == b) == $equal);
                    next!(cx, ip, regs, cs, 3)
                }
                $string(cx, ip, regs, cs)
            }
        }
        #[inline(never)]
        unsafe fn $string(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: as above.
            unsafe {
                let i = *ip;
                if cx.redefined & fast::EQUALITY == 0
                    && let Some(e) = string_eq(r!(regs, i.b), r!(regs, i.c))
                {
                    r!(regs, i.a) = Value::bool(e == $equal);
                    next!(cx, ip, regs, cs, 3)
                }
                $other(cx, ip, regs, cs)
            }
        }
    )*};
}
equality! { eq, eq_string, slow_group true; ne, ne_string, slow_group false; case_eq, case_eq_string, case_eq_pattern true; }

/// `pattern === value` for classes and Ranges; the pattern is no String.
#[inline(never)]
unsafe fn case_eq_pattern(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
    unsafe {
        let i = *ip;
        let (p, v) = (r!(regs, i.b), r!(regs, i.c));
        if cx.redefined & fast::EQUALITY == 0
            && let Some(is) = cx.matches_builtin(p, v)
        {
            r!(regs, i.a) = Value::bool(is);
            next!(cx, ip, regs, cs, 3)
        }
        slow_group(cx, ip, regs, cs)
    }
}
/// Whether `!` and `nil?` of a value are the builtin ones, for what of the core classes' own is redefined: objects may be of a BasicObject's class, as are
/// all that have been moved away, and of a program's own subclass of a core class those may be its own.
#[inline(always)]
fn plain_truth(redefined: u32, v: Value) -> bool {
    use Kind::*;
    redefined & fast::TRUTH == 0
        && (!v.is_cell()
            || !matches!(v.kind_of_cell(), Object | Moved | MovedString | MovedArray | MovedHash)
                && (redefined & fast::OWN_TRUTH == 0 || v.shape_key() < shape::FIRST_DYNAMIC))
}
pub unsafe fn not(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
    unsafe {
        let i = *ip;
        let v = r!(regs, i.b);
        if plain_truth(cx.redefined, v) {
            r!(regs, i.a) = Value::bool(!v.truthy());
            next!(cx, ip, regs, cs, 3)
        }
        slow_group_1(cx, ip, regs, cs)
    }
}
pub unsafe fn nil_p(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
    unsafe {
        let i = *ip;
        let v = r!(regs, i.b);
        if plain_truth(cx.redefined, v) {
            r!(regs, i.a) = Value::bool(v.is_nil());
            next!(cx, ip, regs, cs, 3)
        }
        slow_group_1(cx, ip, regs, cs)
    }
}
pub unsafe fn neg(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
    unsafe {
        let i = *ip;
        let v = r!(regs, i.b);
        if cx.redefined & (fast::INTEGER | fast::FLOAT) == 0 {
            if v.is_fixnum()
                && let Some(n) = Value::try_fixnum(-v.fix())
            {
                r!(regs, i.a) = n;
                next!(cx, ip, regs, cs, 3)
            }
            if v.is_flonum()
                && let Some(n) = Value::flonum(-v.flo())
            {
                r!(regs, i.a) = n;
                next!(cx, ip, regs, cs, 3)
            }
        }
        slow_group_1(cx, ip, regs, cs)
    }
}
pub unsafe fn succ(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
    unsafe {
        let i = *ip;
        let v = r!(regs, i.b);
        if v.is_fixnum()
            && cx.redefined & fast::INTEGER == 0
            && let Some(n) = Value::try_fixnum(v.fix() + 1)
        {
            r!(regs, i.a) = n;
            next!(cx, ip, regs, cs, 3)
        }
        slow_group_1(cx, ip, regs, cs)
    }
}

macro_rules! bit_op {
    ($($name:ident |$a:ident, $b:ident| $e:expr;)*) => {$(
        pub unsafe fn $name(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
            unsafe {
                let i = *ip;
                let ($a, $b) = (r!(regs, i.b), r!(regs, i.c));
                if Value::both_fixnum($a, $b) && cx.redefined & fast::INTEGER == 0 && let Some(v) = $e {
                    r!(regs, i.a) = v;
                    next!(cx, ip, regs, cs, 3)
                }
                slow_group(cx, ip, regs, cs)
            }
        }
    )*};
}
bit_op! {
    and |a, b| Some(tagged(a.bits() & b.bits()));
    or |a, b| Some(tagged(a.bits() | b.bits()));
    xor |a, b| Some(tagged((a.bits() ^ b.bits()) | 1));
    shr |a, b| if (0..64).contains(&b.fix()) { Some(Value::fixnum(a.fix() >> b.fix())) } else { None };
}
/// `<<`: Integer shift, Array push.
pub unsafe fn shl(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
    unsafe {
        let i = *ip;
        let (a, b) = (r!(regs, i.b), r!(regs, i.c));
        if cx.redefined & (fast::INTEGER | fast::ARRAY) == 0 {
            if a.is_cell() {
                return push(cx, ip, regs, cs);
            }
            if Value::both_fixnum(a, b) {
                let (x, n) = (a.fix(), b.fix());
                if (0..62).contains(&n)
                    && (x << n) >> n == x
                    && let Some(v) = Value::try_fixnum(x << n)
                {
                    r!(regs, i.a) = v;
                    next!(cx, ip, regs, cs, 3)
                }
            }
        }
        slow_group(cx, ip, regs, cs)
    }
}
#[inline(never)]
unsafe fn push(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: called by `shl`, with a cell as receiver.
    unsafe {
        let i = *ip;
        let (a, b) = (r!(regs, i.b), r!(regs, i.c));
        if a.shape_key() != ids::ARRAY.0 || a.flags() & GUARDED & !flags::OLD != 0 {
            return slow_group(cx, ip, regs, cs);
        }
        if ArrayCell::try_push(Ref::of_unchecked(a), b) {
            r!(regs, i.a) = a;
            next!(cx, ip, regs, cs, 3)
        }
        push_growing(cx, ip, regs, cs)
    }
}
#[inline(never)]
unsafe fn push_growing(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: called by `push`, which has looked at shape and flags.
    unsafe {
        let i = *ip;
        let (a, b) = (r!(regs, i.b), r!(regs, i.c));
        ArrayCell::push(Ref::of_unchecked(a), &mut cx.heap, b);
        r!(regs, i.a) = a;
        next!(cx, ip, regs, cs, 3)
    }
}

macro_rules! branch_op {
    ($($name:ident, $float:ident $not:expr, $poll:expr, $op:tt;)*) => {$(
        pub unsafe fn $name(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
            unsafe {
                let i = *ip;
                let (a, b) = (r!(regs, i.a), r!(regs, i.b));
                if !Value::both_fixnum(a, b) || cx.redefined & fast::INTEGER != 0 {
                    return $float(cx, ip, regs, cs);
                }
                if ((a.bits() as i64) $op (b.bits() as i64)) != $not {
                    let ip = ip.offset(i.c as i16 as isize);
                    if $poll && polled(cx) {
                        return poll_at(cx, ip, regs, cs);
                    }
                    dispatch!(cx, ip, regs, cs)
                }
                next!(cx, ip, regs, cs, 3)
            }
        }
        #[inline(never)]
        unsafe fn $float(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
            unsafe {
                let i = *ip;
                let (a, b) = (r!(regs, i.a), r!(regs, i.b));
                if !both_flonum(a, b) || cx.redefined & fast::FLOAT != 0 {
                    return slow_branch(cx, ip, regs, cs);
                }
                if (a.flo() $op b.flo()) != $not {
                    let ip = ip.offset(i.c as i16 as isize);
                    if $poll && polled(cx) {
                        return poll_at(cx, ip, regs, cs);
                    }
                    dispatch!(cx, ip, regs, cs)
                }
                next!(cx, ip, regs, cs, 3)
            }
        }
    )*};
}
branch_op! {
    jump_lt, jump_lt_float false, false, <; jump_le, jump_le_float false, false, <=;
    jump_gt, jump_gt_float false, false, >; jump_ge, jump_ge_float false, false, >=;
    jump_not_lt, jump_not_lt_float true, false, <; jump_not_le, jump_not_le_float true, false, <=;
    jump_not_gt, jump_not_gt_float true, false, >; jump_not_ge, jump_not_ge_float true, false, >=;
    loop_lt, loop_lt_float false, true, <; loop_le, loop_le_float false, true, <=;
    loop_gt, loop_gt_float false, true, >; loop_ge, loop_ge_float false, true, >=;
}
macro_rules! branch_eq {
    ($($name:ident, $string:ident $not:expr;)*) => {$(
        pub unsafe fn $name(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
            unsafe {
                let i = *ip;
                let (a, b) = (r!(regs, i.a), r!(regs, i.b));
                if !only_identical(a, b) || cx.redefined & fast::EQUALITY != 0 {
                    return $string(cx, ip, regs, cs);
                }
                if (a == b) != $not {
                    dispatch!(cx, ip.offset(i.c as i16 as isize), regs, cs)
                }
                next!(cx, ip, regs, cs, 3)
            }
        }
        #[inline(never)]
        unsafe fn $string(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: as above.
            unsafe {
                let i = *ip;
                if cx.redefined & fast::EQUALITY == 0
                    && let Some(e) = string_eq(r!(regs, i.a), r!(regs, i.b))
                {
                    if e != $not {
                        dispatch!(cx, ip.offset(i.c as i16 as isize), regs, cs)
                    }
                    next!(cx, ip, regs, cs, 3)
                }
                slow_branch(cx, ip, regs, cs)
            }
        }
    )*};
}
branch_eq! { jump_eq, jump_eq_string false; jump_not_eq, jump_not_eq_string true; }

macro_rules! branch_imm {
    ($($name:ident, $float:ident $not:expr, $poll:expr, $op:tt;)*) => {$(
        pub unsafe fn $name(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
            unsafe {
                let i = *ip;
                let a = r!(regs, i.a);
                if !a.is_fixnum() || cx.redefined & fast::INTEGER != 0 {
                    return $float(cx, ip, regs, cs);
                }
                if (a.fix() $op i.b as i16 as i64) != $not {
                    let ip = ip.offset(i.c as i16 as isize);
                    if $poll && polled(cx) {
                        return poll_at(cx, ip, regs, cs);
                    }
                    dispatch!(cx, ip, regs, cs)
                }
                next!(cx, ip, regs, cs, 3)
            }
        }
        #[inline(never)]
        unsafe fn $float(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: the contract of handlers; operands and target are registers, and the group is complete (verifier).
            unsafe {
                let i = *ip;
                let a = r!(regs, i.a);
                if !a.is_flonum() || cx.redefined & fast::FLOAT != 0 {
                    return slow_branch_i(cx, ip, regs, cs);
                }
                if (a.flo() $op i.b as i16 as f64) != $not {
                    let ip = ip.offset(i.c as i16 as isize);
                    if $poll && polled(cx) {
                        return poll_at(cx, ip, regs, cs);
                    }
                    dispatch!(cx, ip, regs, cs)
                }
                next!(cx, ip, regs, cs, 3)
            }
        }
    )*};
}
branch_imm! {
    jump_lt_i, jump_lt_i_float false, false, <; jump_le_i, jump_le_i_float false, false, <=;
    jump_gt_i, jump_gt_i_float false, false, >; jump_ge_i, jump_ge_i_float false, false, >=;
    jump_eq_i, jump_eq_i_float false, false, ==; jump_not_eq_i, jump_not_eq_i_float true, false, ==;
    jump_not_lt_i, jump_not_lt_i_float true, false, <; jump_not_le_i, jump_not_le_i_float true, false, <=;
    jump_not_gt_i, jump_not_gt_i_float true, false, >; jump_not_ge_i, jump_not_ge_i_float true, false, >=;
    loop_lt_i, loop_lt_i_float false, true, <; loop_le_i, loop_le_i_float false, true, <=;
    loop_gt_i, loop_gt_i_float false, true, >; loop_ge_i, loop_ge_i_float false, true, >=;
}
