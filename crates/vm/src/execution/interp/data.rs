//! Moves, variables, constants, literals, arrays, hashes, strings.

use super::arith::{slow_group, slow_group_1};
use super::listed::{get_listed, set_listed};
use super::{check, next, r};
use crate::frame::*;
use crate::methods::fast;
use crate::raise::Result;
use crate::vm::Cx;
use zakuro_bytecode::Insn;
use zakuro_object::*;

pub unsafe fn mov(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers (see `Handler`).
    unsafe {
        r!(regs, (*ip).a) = r!(regs, (*ip).b);
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn load_int(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `a` is a register.
    unsafe {
        r!(regs, (*ip).a) = Value::fixnum((*ip).imm() as i64);
        next!(cx, ip, regs, cs)
    }
}
macro_rules! load {
    ($($name:ident $v:expr;)*) => {$(
        pub unsafe fn $name(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
            // SAFETY: the contract of handlers; `a` is a register.
            unsafe {
                r!(regs, (*ip).a) = $v;
                next!(cx, ip, regs, cs)
            }
        }
    )*};
}
load! { load_nil Value::NIL; load_true Value::TRUE; load_false Value::FALSE; load_undef Value::UNDEF; }
pub unsafe fn load_const(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the state has a value for each literal of the Code, and `b` is one.
    unsafe {
        r!(regs, (*ip).a) = *(*cs).consts.add((*ip).b as usize);
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn new_str(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; literal `b` is a String (the verifier looks), whose value the state keeps alive. The new cell is nobody
    // else's, so its flags may be written.
    unsafe {
        let lit: Ref<StringCell> = Ref::of_unchecked(*(*cs).consts.add((*ip).b as usize));
        let s = StringCell::substring(&cx.heap, ids::STRING.0, lit, 0, lit.len());
        // FROZEN | CHILLED, or nothing.
        s.init_flags((*ip).x);
        r!(regs, (*ip).a) = s.as_value();
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn new_env(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the verifier allows no more slots than a cell has, and x = 1 only where the register holds the environment
    // around.
    unsafe {
        let i = *ip;
        let parent = if i.x == 1 { r!(regs, i.a) } else { Value::NIL };
        r!(regs, i.a) = EnvCell::make(&cx.heap, parent, i.b as usize).as_value();
        next!(cx, ip, regs, cs)
    }
}
#[inline(always)]
unsafe fn env_at(env: Value, depth: u8) -> *mut EnvCell {
    // SAFETY: the compiler counts environments; each level is an EnvCell.
    unsafe {
        let mut e = env.bits() as *mut EnvCell;
        for _ in 0..depth {
            e = (*e).parent.bits() as *mut EnvCell;
        }
        e
    }
}
pub unsafe fn get_env(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; register `c` holds the frame's environment and slot `b` is one of the environment `x` levels up: checked by
    // the verifier, and by whoever gives an eval its scopes for the environments around that.
    unsafe {
        let i = *ip;
        let e = env_at(r!(regs, i.c), i.x);
        r!(regs, i.a) = *(*e).slots_ptr().add(i.b as usize);
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn set_env(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: as in `get_env`. Environments are compared when an image is made, so only the collector's flag is tested; nothing freezes them.
    unsafe {
        let i = *ip;
        let e = env_at(r!(regs, i.c), i.x);
        if (*e).header.flags & flags::OLD != 0 {
            return set_old_env(cx, ip, regs, cs);
        }
        *(*e).slots_ptr().add(i.b as usize) = r!(regs, i.a);
        next!(cx, ip, regs, cs)
    }
}
#[cold]
#[inline(never)]
unsafe fn set_old_env(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: as in `set_env`.
    unsafe {
        let i = *ip;
        let e = env_at(r!(regs, i.c), i.x);
        EnvCell::set(Ref::from_ptr(e), i.b as usize, r!(regs, i.a));
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn get_ivar(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `c` is an ivar site that only reads use. A shape says how many variables its objects have, and whoever
    // changes it makes the room first, so the slot that the cache holds for the shape is there (0 is no cell's shape).
    unsafe {
        let i = *ip;
        let me = r!(regs, 0);
        let c = &*(*cs).ivars.add(i.c as usize);
        if me.is_cell() && (*me.header()).shape == c.shape {
            let o = me.bits() as *mut ObjectCell;
            r!(regs, i.a) = *(*o).slots_ptr().add(c.slot as usize);
            next!(cx, ip, regs, cs)
        }
        get_ivar_slow(cx, ip, regs, cs)
    }
}
#[cold]
#[inline(never)]
unsafe fn get_ivar_slow(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `ivar_get` runs no Ruby code, so `me` is still in r0 and the cache still this site's.
    unsafe {
        let i = *ip;
        let me = r!(regs, 0);
        let c = &*(*cs).ivars.add(i.c as usize);
        if c.next == UNSET && me.is_cell() && (*me.header()).shape == c.slot {
            r!(regs, i.a) = Value::NIL;
            next!(cx, ip, regs, cs)
        }
        let name = (&(*cs).code.ivars)[i.c as usize];
        if get_listed(cx, ip, regs, cs) {
            next!(cx, ip, regs, cs)
        }
        r!(regs, i.a) = cx.ivar_get(me, name);
        if me.is_kind(Kind::Object) || me.is_kind(Kind::Exception) {
            let shape = me.shape_key();
            *(*cs).ivars.add(i.c as usize) = match cx.slot_of(shape, name) {
                Some(slot) => IvarCache { shape, slot: slot as u32, next: 0 },
                None => IvarCache { shape: 0, slot: shape, next: UNSET },
            };
        }
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn set_ivar(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `c` is an ivar site that only writes use. With the cached shape the object has the slot; when the variable is
    // new, the slot is tested against the inline room (`aux`), and the shape follows the value.
    unsafe {
        let i = *ip;
        let me = r!(regs, 0);
        let c = &*(*cs).ivars.add(i.c as usize);
        if me.is_cell() {
            let h = &mut *me.header();
            if h.shape == c.shape && h.flags & GUARDED == 0 {
                let o = me.bits() as *mut ObjectCell;
                if c.next == 0 {
                    *(*o).slots_ptr().add(c.slot as usize) = r!(regs, i.a);
                    next!(cx, ip, regs, cs)
                } else if (c.slot as usize) < h.aux as usize && h.flags & EXT_IVARS == 0 {
                    *(*o).slots_ptr().add(c.slot as usize) = r!(regs, i.a);
                    h.shape = c.next;
                    next!(cx, ip, regs, cs)
                }
            }
        }
        set_ivar_slow(cx, ip, regs, cs)
    }
}
#[cold]
#[inline(never)]
unsafe fn set_ivar_slow(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `ivar_set` may raise, and calls nothing that could drop the state.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        let me = r!(regs, 0);
        let name = (&(*cs).code.ivars)[i.c as usize];
        if set_listed(cx, ip, regs, cs) {
            next!(cx, ip, regs, cs)
        }
        let before = if me.is_cell() { me.shape_key() } else { 0 };
        check!(cx, ip, regs, cs, cx.ivar_set(me, name, r!(regs, i.a)));
        if (me.is_kind(Kind::Object) || me.is_kind(Kind::Exception))
            && let Some(slot) = cx.slot_of(me.shape_key(), name)
        {
            let after = me.shape_key();
            *(*cs).ivars.add(i.c as usize) = IvarCache { shape: before, slot: slot as u32, next: if after == before { 0 } else { after } };
        }
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn get_global(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the getter may run Ruby code, but the frame and its state stay.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        let name = (&(*cs).code.syms)[i.b as usize];
        r!(regs, i.a) = check!(cx, ip, regs, cs, cx.global_get(name));
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn set_global(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the setter may run Ruby code, but the frame and its state stay.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        let name = (&(*cs).code.syms)[i.b as usize];
        check!(cx, ip, regs, cs, cx.global_set(name, r!(regs, i.a)));
        next!(cx, ip, regs, cs)
    }
}
#[inline(always)]
unsafe fn cref(cx: &Cx) -> Value {
    // SAFETY: every Ruby frame's `me` is a method cell.
    unsafe { (*((*cx.fp).me.bits() as *const MethodCell)).cref }
}
pub unsafe fn get_const(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `c` is a constant site. What a cache holds is kept alive by the state, or dropped with its entry
    // (`forget_dead`).
    unsafe {
        let i = *ip;
        let c = &*(*cs).consts_cache.add(i.c as usize);
        if c.epoch == cx.const_epoch && c.cref == cref(cx) {
            r!(regs, i.a) = c.value;
            next!(cx, ip, regs, cs)
        }
        get_const_slow(cx, ip, regs, cs)
    }
}
#[cold]
#[inline(never)]
unsafe fn get_const_slow(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; autoload and const_missing may run Ruby code, but the frame, its state and the Code that `site` points into
    // stay. The cache is written after all that, by its index.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        let scope = cref(cx);
        let site = &(&(*cs).code.const_sites)[i.c as usize];
        cx.const_hidden = false;
        let v = if site.top {
            let o = cx.class_value(ids::OBJECT);
            check!(cx, ip, regs, cs, cx.const_get_from(o, site.name))
        } else {
            match check!(cx, ip, regs, cs, cx.const_lookup(scope, site.name)) {
                Some(v) => v,
                None => {
                    // What const_missing answers is not cached.
                    r!(regs, i.a) = check!(cx, ip, regs, cs, cx.const_get_lexical(scope, site.name));
                    next!(cx, ip, regs, cs)
                }
            }
        };
        if !std::mem::take(&mut cx.const_hidden) {
            cx.state_gets_cells(cs);
            *(*cs).consts_cache.add(i.c as usize) = ConstCache { epoch: cx.const_epoch, cref: scope, value: v };
        }
        r!(regs, i.a) = v;
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn get_const_from(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `c` is a constant site that only this opcode uses: a class object is no lexical scope, and the two must not
    // answer for each other.
    unsafe {
        let i = *ip;
        let base = r!(regs, i.b);
        let c = &*(*cs).consts_cache.add(i.c as usize);
        if c.epoch == cx.const_epoch && c.cref == base {
            r!(regs, i.a) = c.value;
            next!(cx, ip, regs, cs)
        }
        (*cx.fp).ip = ip;
        let v = check!(cx, ip, regs, cs, const_from_miss(cx, i, base, cs));
        r!(regs, i.a) = v;
        next!(cx, ip, regs, cs)
    }
}
#[inline(never)]
unsafe fn const_from_miss(cx: &mut Cx, i: Insn, base: Value, cs: *const CodeState) -> Result<Value> {
    // SAFETY: called by `get_const_from`, whose contract covers site and cache; the cache is written after the Ruby code that the look-up may run.
    unsafe {
        let name = (&(*cs).code.const_sites)[i.c as usize].name;
        cx.const_hidden = false;
        let v = cx.const_get_from(base, name)?;
        if !std::mem::take(&mut cx.const_hidden)
            && cx.class_id(base).is_some_and(|c| cx.ancestors(c).any(|m| cx.class(m).consts.contains_key(&name)))
        {
            cx.state_gets_cells(cs);
            *(*cs).consts_cache.add(i.c as usize) = ConstCache { epoch: cx.const_epoch, cref: base, value: v };
        }
        Ok(v)
    }
}
pub unsafe fn set_const(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; a frame's `me` is a method cell. The value stays in its register while hooks run.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        let name = (&(*cs).code.syms)[i.c as usize];
        let holder = r!(regs, i.b);
        let holder = if holder.is_undef() { check!(cx, ip, regs, cs, cx.scope_holder(cref(cx))) } else { holder };
        check!(cx, ip, regs, cs, cx.assign_const(holder, name, r!(regs, i.a)));
        next!(cx, ip, regs, cs)
    }
}

pub unsafe fn new_array(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the range lies in the window (verifier). Allocating runs no Ruby code, so nobody writes these registers while
    // the slice lives.
    unsafe {
        let i = *ip;
        let items = std::slice::from_raw_parts(regs.add(i.b as usize), i.c as usize);
        r!(regs, i.a) = ArrayCell::plain(&cx.heap, items).as_value();
        next!(cx, ip, regs, cs)
    }
}
/// What a builtin answers of an Array of these values (see [`Op::AskList`]); undefined where it has to be called.
///
/// [`Op::AskList`]: zakuro_bytecode::Op::AskList
pub(super) fn ask_of_list(cx: &Cx, what: u8, values: &[Value]) -> Value {
    if cx.redefined & (fast::LIST | fast::ARRAY | fast::EQUALITY | fast::TRACED) != 0 {
        return Value::UNDEF;
    }
    match (what, values) {
        (0, _) => extreme(values, |a, b| a > b, |a, b| a > b),
        (1, _) => extreme(values, |a, b| a < b, |a, b| a < b),
        (2, [list @ .., v]) => included(list, *v),
        (3, [list, v]) => Ref::<ArrayCell>::from_value(*list).map_or(Value::UNDEF, |a| included(a.elements(&cx.heap), *v)),
        _ => Value::UNDEF,
    }
}
/// The first of the largest (or smallest) of small Integers, or of Floats without NaN.
fn extreme(values: &[Value], of_integers: impl Fn(i64, i64) -> bool, of_floats: impl Fn(f64, f64) -> bool) -> Value {
    let Some((first, rest)) = values.split_first() else { return Value::UNDEF };
    let mut best = *first;
    if values.iter().all(|v| v.is_fixnum()) {
        for v in rest {
            if of_integers(v.fix(), best.fix()) {
                best = *v;
            }
        }
        return best;
    }
    for v in values {
        match (v.as_float(), best.as_float()) {
            (Some(a), Some(b)) if !a.is_nan() && !b.is_nan() => {
                if of_floats(a, b) {
                    best = *v;
                }
            }
            _ => return Value::UNDEF,
        }
    }
    best
}
/// Whether one of these values, which are asked in turn, equals the other without a call of a method.
fn included(list: &[Value], v: Value) -> Value {
    for e in list {
        let same = if super::arith::only_identical(*e, v) { Some(*e == v) } else { super::arith::string_eq(*e, v) };
        match same {
            Some(true) => return Value::TRUE,
            Some(false) => {}
            None => return Value::UNDEF,
        }
    }
    Value::FALSE
}
pub unsafe fn ask_list(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the range lies in the window (verifier), and nobody writes these registers while the slice lives.
    unsafe {
        let i = *ip;
        let values = std::slice::from_raw_parts(regs.add(i.b as usize), i.c as usize);
        r!(regs, i.a) = ask_of_list(cx, i.x, values);
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn array_push(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; register `a` holds the Array that the compiler began there (NewArray or Splat before it), which no program
    // knows yet.
    unsafe {
        let i = *ip;
        ArrayCell::push(Ref::of_unchecked(r!(regs, i.a)), &mut cx.heap, r!(regs, i.b));
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn array_concat(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; as in `array_push`. `to_a` may run Ruby code: the Array is read from its register after that.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        let more = check!(cx, ip, regs, cs, cx.splat(r!(regs, i.b)));
        ArrayCell::extend_from(Ref::of_unchecked(r!(regs, i.a)), &mut cx.heap, more);
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn splat(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the result of `to_a` is copied before anything else runs.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        if r!(regs, i.b).is_nil() {
            r!(regs, i.a) = cx.new_array().as_value();
            next!(cx, ip, regs, cs)
        }
        let a = check!(cx, ip, regs, cs, cx.splat(r!(regs, i.b)));
        r!(regs, i.a) = ArrayCell::slice(&cx.heap, ids::ARRAY.0, a, 0, a.len()).as_value();
        // `to_a` may have switched a trace on.
        next!(cx, (*cx.fp).ip, regs, cs)
    }
}
pub unsafe fn new_hash(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the verifier has checked the range and that it is even. Its registers keep keys and values alive while `hash`
    // and `eql?` run.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        r!(regs, i.a) = check!(cx, ip, regs, cs, cx.hash_literal(regs.add(i.b as usize), i.c as usize));
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn hash_set(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; register `a` holds the Hash that the compiler began there, which no program knows yet.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        check!(cx, ip, regs, cs, cx.hash_set(Ref::of_unchecked(r!(regs, i.a)), r!(regs, i.b), r!(regs, i.c)));
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn hash_merge(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; register `a` holds the Hash that the compiler began there, which no program knows yet.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        let (h, v) = (r!(regs, i.a), r!(regs, i.b));
        check!(cx, ip, regs, cs, cx.merge_splat(Ref::of_unchecked(h), v));
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn new_range(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; both ends stay in their registers while `<=>` runs.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        let (l, h) = (r!(regs, i.b), r!(regs, i.c));
        r!(regs, i.a) = check!(cx, ip, regs, cs, cx.checked_range(l, h, i.x == 1));
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn to_s(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers.
    unsafe {
        let v = r!(regs, (*ip).a);
        if !v.is_cell() || v.is_kind(Kind::String) {
            next!(cx, ip, regs, cs)
        }
        to_s_slow(cx, ip, regs, cs)
    }
}
#[cold]
#[inline(never)]
unsafe fn to_s_slow(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `to_s` runs in windows above this one, and the frame and its state stay.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        r!(regs, i.a) = match cx.class_as_part(r!(regs, i.a)) {
            Some(name) => name,
            None => check!(cx, ip, regs, cs, cx.part_to_s(r!(regs, i.a))).as_value(),
        };
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn interp(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the range lies in the window (verifier) and keeps the pieces alive while `to_s` runs, in windows above this
    // one.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        r!(regs, i.a) = check!(cx, ip, regs, cs, cx.interpolate(regs.add(i.b as usize), i.c as usize, i.x));
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn intern(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; register `b` holds the String that Interp left there.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        r!(regs, i.a) = check!(cx, ip, regs, cs, crate::library::library().symbol(cx, Ref::of_unchecked(r!(regs, i.b))));
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn new_regexp(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the range lies in the window (verifier).
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        let v = check!(cx, ip, regs, cs, dynamic_regexp(cx, i, regs));
        r!(regs, i.a) = v;
        next!(cx, ip, regs, cs)
    }
}
#[inline(never)]
unsafe fn dynamic_regexp(cx: &mut Cx, i: Insn, regs: *mut Value) -> Result<Value> {
    // SAFETY: called by `new_regexp`: the verifier has checked the range. Ruby code that a piece runs works in windows above this one, so nobody
    // writes the slice.
    unsafe {
        let pieces = std::slice::from_raw_parts(regs.add(i.b as usize), i.c as usize);
        crate::library::library().regexp_dynamic(cx, pieces, i.x)
    }
}
pub unsafe fn expand(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; see `spread`.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        check!(cx, ip, regs, cs, spread(cx, i, regs));
        next!(cx, (*cx.fp).ip, regs, cs)
    }
}
#[inline(never)]
unsafe fn spread(cx: &mut Cx, i: Insn, regs: *mut Value) -> Result<()> {
    // SAFETY: called by `expand`: the verifier has checked that all targets lie in the window. After `to_ary` no Ruby code runs, so the Array stays
    // as it is, and alive.
    unsafe {
        let v = r!(regs, i.b);
        let a = match cx.try_ary(v)? {
            Some(a) => a,
            None => ArrayCell::plain(&cx.heap, &[v]),
        };
        let (pre, post) = ((i.c & 0xff) as usize, (i.c >> 8) as usize);
        let n = a.len();
        let out = regs.add(i.a as usize);
        for k in 0..pre {
            *out.add(k) = a.get(k).unwrap_or(Value::NIL);
        }
        let mut at = pre;
        if i.x & 1 == 1 {
            let end = n.saturating_sub(post).max(pre.min(n));
            let middle = if pre < end { ArrayCell::slice(&cx.heap, ids::ARRAY.0, a, pre, end) } else { cx.new_array() };
            *out.add(at) = middle.as_value();
            at += 1;
            let start = end.max(pre);
            for k in 0..post {
                *out.add(at + k) = a.get(start + k).unwrap_or(Value::NIL);
            }
        } else {
            for k in 0..post {
                *out.add(at + k) = a.get(pre + k).unwrap_or(Value::NIL);
            }
        }
        Ok(())
    }
}

/// `a[b]` of a plain Array with a Fixnum; Hash and Integer in a second step. Handlers that call something, directly or inlined, save registers at their
/// start: what is hot stands alone.
pub unsafe fn aref(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; a group is complete. The shape of ARRAY or HASH says how the cell is laid out: their objects have no others,
    // subclasses and moved ones have shapes of their own.
    unsafe {
        let i = *ip;
        let (a, b) = (r!(regs, i.b), r!(regs, i.c));
        if a.is_cell() && cx.redefined & (fast::ARRAY | fast::HASH) == 0 {
            let shape = (*a.header()).shape;
            if shape == ids::ARRAY.0 && b.is_fixnum() {
                let a: Ref<ArrayCell> = Ref::of_unchecked(a);
                let n = b.fix();
                let n = if n < 0 { n + a.len() as i64 } else { n };
                r!(regs, i.a) = a.get(n as usize).unwrap_or(Value::NIL);
                next!(cx, ip, regs, cs, 3)
            }
            if shape == ids::HASH.0 {
                return aref_hash(cx, ip, regs, cs);
            }
        }
        aref_bit(cx, ip, regs, cs)
    }
}
#[inline(never)]
unsafe fn aref_bit(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: as in `aref`.
    unsafe {
        let i = *ip;
        let (a, b) = (r!(regs, i.b), r!(regs, i.c));
        if Value::both_fixnum(a, b) && cx.redefined & fast::INTEGER == 0 {
            // A bit of the infinite two's complement: none below 0, the sign above the number's own.
            let n = b.fix();
            let bit = if n < 0 { 0 } else { (a.fix() >> n.min(63)) & 1 };
            r!(regs, i.a) = Value::fixnum(bit);
            next!(cx, ip, regs, cs, 3)
        }
        slow_group(cx, ip, regs, cs)
    }
}
#[inline(never)]
unsafe fn aref_hash(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: called by `aref`, which has looked at the shape. Receiver and key stay in their registers while `hash` and `eql?` run; `h.default` is
    // read from a Hash, or from one that was moved meanwhile, which keeps its layout.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        let h: Ref<HashCell> = Ref::of_unchecked(r!(regs, i.b));
        match check!(cx, ip, regs, cs, cx.hash_get(h, r!(regs, i.c))) {
            Some(v) => {
                r!(regs, i.a) = v;
                next!(cx, ip, regs, cs, 3)
            }
            None if h.default.is_nil() => {
                r!(regs, i.a) = Value::NIL;
                next!(cx, ip, regs, cs, 3)
            }
            None => slow_group(cx, ip, regs, cs),
        }
    }
}
pub unsafe fn aset(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; as in `aref`, and the flags say that the cell may be written. The window of the call has room for receiver
    // and two arguments (verifier: argc = 2 is in the range of the Send).
    unsafe {
        let i = *ip;
        let (a, b) = (r!(regs, i.a), r!(regs, i.b));
        if a.is_cell() && cx.redefined & (fast::ARRAY | fast::HASH) == 0 {
            let h = &*a.header();
            // An Array passes the collector's barrier itself.
            if h.flags & GUARDED & !flags::OLD == 0 {
                if h.shape == ids::ARRAY.0 && b.is_fixnum() {
                    let n = b.fix();
                    if n >= 0 && ArrayCell::try_set(Ref::of_unchecked(a), n as usize, r!(regs, i.c)) {
                        next!(cx, ip, regs, cs, 2)
                    }
                    return aset_growing(cx, ip, regs, cs);
                } else if h.shape == ids::HASH.0 && h.flags & flags::OLD == 0 {
                    return aset_hash(cx, ip, regs, cs);
                }
            }
        }
        slow_aset(cx, ip, regs, cs)
    }
}
#[inline(never)]
unsafe fn slow_aset(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: as in `aset`.
    unsafe {
        let (i, call) = (*ip, *ip.add(1));
        let (a, b, c) = (r!(regs, i.a), r!(regs, i.b), r!(regs, i.c));
        r!(regs, call.a) = a;
        r!(regs, call.a + 1) = b;
        r!(regs, call.a + 2) = c;
        next!(cx, ip, regs, cs)
    }
}
/// At the end of an Array, shortly behind it, or in a buffer that others hold too.
#[inline(never)]
unsafe fn aset_growing(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: called by `aset`, which has looked at shape and flags.
    unsafe {
        let i = *ip;
        let a: Ref<ArrayCell> = Ref::of_unchecked(r!(regs, i.a));
        let n = r!(regs, i.b).fix();
        if n >= 0 && n < a.len() as i64 + 1024 {
            ArrayCell::store(a, &mut cx.heap, n as usize, r!(regs, i.c));
            next!(cx, ip, regs, cs, 2)
        }
        slow_aset(cx, ip, regs, cs)
    }
}
#[inline(never)]
unsafe fn aset_hash(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: called by `aset`, which has looked at shape and flags; `hash_set` looks at the flags again after the Ruby code that it runs.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        check!(cx, ip, regs, cs, cx.hash_set(Ref::of_unchecked(r!(regs, i.a)), r!(regs, i.b), r!(regs, i.c)));
        next!(cx, ip, regs, cs, 2)
    }
}
pub unsafe fn len(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; as in `aref`.
    unsafe {
        let i = *ip;
        let a = r!(regs, i.b);
        if a.is_cell() && cx.redefined & (fast::ARRAY | fast::HASH) == 0 {
            let shape = (*a.header()).shape;
            if shape == ids::ARRAY.0 {
                r!(regs, i.a) = Value::fixnum(Ref::<ArrayCell>::of_unchecked(a).len() as i64);
                next!(cx, ip, regs, cs, 3)
            }
            if shape == ids::HASH.0 {
                r!(regs, i.a) = Value::fixnum(Ref::<HashCell>::of_unchecked(a).len() as i64);
                next!(cx, ip, regs, cs, 3)
            }
        }
        slow_group_1(cx, ip, regs, cs)
    }
}
pub unsafe fn empty_p(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; as in `aref`, and likewise for STRING.
    unsafe {
        let i = *ip;
        let a = r!(regs, i.b);
        if a.is_cell() && cx.redefined & (fast::ARRAY | fast::HASH | fast::STRING) == 0 {
            let shape = (*a.header()).shape;
            let n = if shape == ids::ARRAY.0 {
                Some(Ref::<ArrayCell>::of_unchecked(a).len())
            } else if shape == ids::STRING.0 {
                Some(Ref::<StringCell>::of_unchecked(a).len())
            } else if shape == ids::HASH.0 {
                Some(Ref::<HashCell>::of_unchecked(a).len())
            } else {
                None
            };
            if let Some(n) = n {
                r!(regs, i.a) = Value::bool(n == 0);
                next!(cx, ip, regs, cs, 3)
            }
        }
        slow_group_1(cx, ip, regs, cs)
    }
}

impl Cx {
    /// `CONST = value` with its warning and `const_added` hook.
    pub fn assign_const(&mut self, holder: Value, name: Sym, v: Value) -> crate::raise::Result<()> {
        let Some(id) = self.class_id(holder) else {
            let s = self.inspect_for_error(holder);
            return self.type_error(format!("{s} is not a class/module"));
        };
        if self.class(id).frozen {
            return self.frozen_error(holder);
        }
        if self.const_entry(id, name).is_some_and(|e| !e.value.is_undef()) {
            let m = format!("already initialized constant {}", self.const_path(id, name));
            self.warn_here(&m)?;
            if let Some(place) = self.const_place(id, name) {
                self.warn_at(Some(place), &format!("previous definition of {} was here", name.name()))?;
            }
        }
        self.const_set(id, name, v);
        self.call_hook(holder, sym::const_added, Value::sym(name))
    }
    /// Adds the double splat of `v` to a keyword Hash.
    pub fn merge_splat(&mut self, h: Ref<HashCell>, v: Value) -> crate::raise::Result<()> {
        if v.is_nil() {
            return Ok(());
        }
        let other = self.to_hash(v)?;
        if h.len() == 0 && !h.by_identity() && !other.by_identity() {
            HashCell::replace(h, &mut self.heap, other);
            return Ok(());
        }
        for (k, v) in self.hash_pairs(other) {
            self.hash_set(h, k, v)?;
        }
        Ok(())
    }
    /// Range of two ends that must be comparable.
    pub fn checked_range(&mut self, l: Value, h: Value, exclusive: bool) -> crate::raise::Result<Value> {
        let plain = |v: Value| v.is_fixnum() || v.is_nil() || v.is_flonum();
        if !(plain(l) && plain(h) || l.is_nil() || h.is_nil()) && self.call(l, sym::cmp, &[h])?.is_nil() {
            return self.arg_error("bad value for range");
        }
        Ok(self.range(l, h, exclusive))
    }
}
