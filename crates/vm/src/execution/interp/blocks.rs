//! Blocks: yield, activation frames, Procs.

use super::calls::{Laid, give_keywords, own_keywords, spread};
use super::control::{poll_at, polled};
use super::unwind::unwind;
use super::{check, dispatch, next, r, stub};
use crate::builtin::Block;
use crate::frame::*;
use crate::make::{ArgList, RootedVec};
use crate::methods::fast;
use crate::raise::Result;
use crate::vm::{Cx, List, PendingCall};
use zakuro_bytecode::{Insn, KwRest, Params};
use zakuro_object::*;

/// Environment that a block literal of frame `f` runs in.
#[inline(always)]
pub unsafe fn env_of(f: *const Frame) -> Value {
    // SAFETY: f is a live Ruby frame.
    unsafe {
        let reg = (*(*f).code).env_reg;
        if reg == 0 { Value::NIL } else { *(*f).regs.add(reg as usize) }
    }
}
/// Environment around a block's frame.
pub unsafe fn parent_env(f: *const Frame) -> Value {
    // SAFETY: f is a live Ruby frame.
    unsafe {
        let e = env_of(f);
        if (*(*f).code).own_env { Ref::<EnvCell>::from_value(e).map_or(Value::NIL, |e| e.parent) } else { e }
    }
}

/// What a block runs in: code, self, environment, method cell.
pub(super) struct Activation {
    cs: *const CodeState,
    pub self_: Value,
    pub env: Value,
    pub me: Value,
    pub flags: usize,
}

#[inline(always)]
pub(super) unsafe fn activation(b: Block) -> Option<Activation> {
    // SAFETY: a block record or Proc is valid while its block may be called.
    unsafe {
        if let Some(rec) = b.record() {
            let home = (*rec.add(1)).bits() as *const Frame;
            return Some(Activation {
                cs: (*rec).bits() as *const CodeState,
                self_: *(*home).regs,
                env: env_of(home),
                me: (*home).me,
                flags: FRAME_BLOCK,
            });
        }
        let p = b.proc()?;
        if p.proc_kind() != ProcKind::Block {
            return None;
        }
        let mut flags = FRAME_BLOCK;
        if p.is_lambda() {
            flags |= FRAME_LAMBDA;
        }
        if p.header.flags & ORPHAN != 0 {
            flags |= FRAME_ORPHAN;
        }
        Some(Activation { cs: p.code as *const CodeState, self_: p.self_, env: p.env, me: p.me, flags })
    }
}

/// Pushes the frame of a literal block whose arguments stand in base+1..; binds them. The caller's frame has its `ip` stored.
///
/// # Safety
/// `base..` lies above the top frame's live values, with argc values written.
#[inline(never)]
pub unsafe fn push_block_frame(
    cx: &mut Cx,
    block: Block,
    base: *mut Value,
    argc: usize,
    kw: bool,
    list: List,
    pass: Block,
    self_: Option<(Value, Value)>,
    flags: usize,
) -> Result<*const CodeState> {
    // SAFETY: caller.
    unsafe {
        let Some(mut a) = activation(block) else { return cx.raise(ids::LOCAL_JUMP_ERROR, "no block given (yield)") };
        if let Some((s, me)) = self_ {
            a.self_ = s;
            a.me = me;
        }
        a.flags |= flags;
        let fp = cx.fp.add(1);
        let cs = a.cs;
        if fp >= cx.frame_limit || base.wrapping_add((*cs).nregs as usize + argc) >= cx.stack_limit {
            return cx.stack_error();
        }
        let lambda = a.flags & FRAME_LAMBDA != 0;
        let p = &(*cs).code.params;
        let simple = (*cs).simple && !kw && argc == (*cs).required as usize && (p.numbered == 0 || argc == p.required as usize);
        if !simple {
            // Binding may run Ruby code (`to_ary`; `hash` and `eql?` of keys): its windows begin above these arguments and the registers bound so far.
            let caller = cx.fp;
            if lambda {
                // Errors about the arguments show the lambda's own line first, as those of a method.
                for k in (argc + 1)..(*cs).nregs as usize {
                    *base.add(k) = Value::NIL;
                }
                fp.write(Frame { ip: (*cs).insns.get(), regs: base, code: cs, block: pass, me: a.me, aux: a.flags });
            } else {
                let end = base.add(((*cs).nregs as usize).max(argc + 1));
                fp.write(Frame { ip: stub(), regs: base, code: std::ptr::null(), block: pass, me: a.me, aux: end as usize });
            }
            cx.fp = fp;
            let bound = bind_args(cx, cs, base, argc, kw, list, lambda);
            cx.fp = caller;
            bound?;
            if kw && (*cs).keeps_keywords.get() {
                super::calls::mark_keywords(base, &(*cs).code.params);
            }
        }
        *base = a.self_;
        for k in (*cs).nil_from..(*cs).nlocals {
            *base.add(k as usize) = Value::NIL;
        }
        if (*cs).env_reg != 0 {
            *base.add((*cs).env_reg as usize) = a.env;
        }
        fp.write(Frame { ip: (*cs).insns.get(), regs: base, code: cs, block: pass, me: a.me, aux: a.flags });
        cx.fp = fp;
        if p.block {
            let v = cx.block_value(pass);
            *base.add(p.block_reg() as usize) = v;
            (*fp).block = Block::from_value(v);
        }
        Ok(cs)
    }
}

/// [`push_block_frame`] for what native loops do all day: a literal block with required parameters only, given as many values, more, or one Array to be
/// spread. None: nothing was done, that is for `push_block_frame`.
///
/// # Safety
/// As there, but nothing stands above `base` yet.
#[inline(always)]
pub unsafe fn push_plain_block(cx: &mut Cx, block: Block, base: *mut Value, args: &[Value]) -> Option<*const CodeState> {
    // SAFETY: caller; a block record is valid while its block may be called. The slice of a spread Array is copied before anything can change it.
    unsafe {
        let rec = block.record()?;
        let cs = (*rec).bits() as *const CodeState;
        let required = (*cs).required as usize;
        if !(*cs).simple {
            return None;
        }
        let mut given = args;
        let one: Ref<ArrayCell>;
        if given.len() != required {
            if given.len() == 1 && given[0].is_kind(Kind::Array) {
                one = Ref::of_unchecked(given[0]);
                given = one.elements(&cx.heap);
            } else if given.len() < required {
                return None;
            }
            if (*cs).code.params.numbered != 0 {
                return None;
            }
        }
        let fp = cx.fp.add(1);
        if fp >= cx.frame_limit || base.wrapping_add((*cs).nregs as usize) >= cx.stack_limit {
            return None;
        }
        write_block_frame(fp, base, cs, (*rec.add(1)).bits() as *const Frame, |base| {
            for i in 0..required {
                *base.add(1 + i) = given.get(i).copied().unwrap_or(Value::NIL);
            }
        });
        cx.fp = fp;
        Some(cs)
    }
}
/// Writes the frame of a simple block, and its window: self, the parameters as `parameters` writes them, and what else is to be there at the beginning.
///
/// # Safety
/// There is room for both; `home` is the frame that the block stands in.
#[inline(always)]
pub unsafe fn write_block_frame(
    fp: *mut Frame,
    base: *mut Value,
    cs: *const CodeState,
    home: *const Frame,
    parameters: impl FnOnce(*mut Value),
) {
    // SAFETY: the caller's word.
    unsafe {
        *base = *(*home).regs;
        parameters(base);
        for k in (*cs).nil_from..(*cs).nlocals {
            *base.add(k as usize) = Value::NIL;
        }
        if (*cs).env_reg != 0 {
            *base.add((*cs).env_reg as usize) = env_of(home);
        }
        fp.write(Frame { ip: (*cs).insns.get(), regs: base, code: cs, block: Block::NONE, me: (*home).me, aux: FRAME_BLOCK });
    }
}

/// The rest parameter: the elements, or what they were splatted from where the callee may have that, or nil where nothing was given for a nameless one.
///
/// `post`: number of values behind them.
pub(super) unsafe fn rest_list(cx: &mut Cx, cs: *const CodeState, list: List, elements: &[Value], post: usize) -> Value {
    // SAFETY: caller: a live state, and `splatted` is alive if the list is one.
    unsafe {
        if elements.is_empty() && (*cs).nameless_rest {
            return Value::NIL;
        }
        if list != List::None {
            let a: Ref<ArrayCell> = Ref::of_unchecked(cx.splatted);
            // What was bound before the rest came from its begin, and what comes behind from its end.
            match a.len().checked_sub(elements.len() + post) {
                Some(before) if list == List::Own => {
                    ArrayCell::truncate(a, before + elements.len());
                    for _ in 0..before {
                        ArrayCell::shift(a, &mut cx.heap);
                    }
                    return cx.splatted;
                }
                Some(0) if post == 0 && (*cs).nameless_rest => return cx.splatted,
                _ => {}
            }
        }
        ArrayCell::plain(&cx.heap, elements).as_value()
    }
}

/// Copies the arguments to the parameter registers. Strict for methods and lambdas, Proc rules otherwise.
///
/// # Safety
/// argc values stand in base+1..; room for `nregs + argc`.
#[inline(never)]
pub unsafe fn bind_args(
    cx: &mut Cx,
    cs: *const CodeState,
    base: *mut Value,
    argc: usize,
    kw: bool,
    mut list: List,
    strict: bool,
) -> Result<()> {
    // SAFETY: caller.
    unsafe {
        let p: &Params = &(*cs).code.params;
        if !kw && (*cs).takes_list && argc >= p.required as usize && (strict || p.required == 0) {
            // They stand where they are wanted, but for those of the list, and nothing runs before that is made.
            let first = base.add(1 + p.required as usize);
            *first = rest_list(cx, cs, list, std::slice::from_raw_parts(first, argc - p.required as usize), 0);
            if p.block {
                *first.add(1) = Value::NIL;
            }
            return Ok(());
        }
        let has_kwargs = kw && p.takes_keywords();
        let positional = argc - has_kwargs as usize;
        let (req, direct) = (p.required as usize, (p.required + p.optional) as usize);
        if strict && kw == has_kwargs && p.post == 0 && positional >= req && (p.rest || positional <= direct) {
            // All but the list and the keywords stand where they are wanted; nothing runs before these are read.
            let kwargs: Option<Ref<HashCell>> = has_kwargs.then(|| Ref::of_unchecked(*base.add(argc)));
            let mut out = base.add(1 + direct);
            if p.rest {
                let beyond = std::slice::from_raw_parts(out, positional.saturating_sub(direct));
                *out = rest_list(cx, cs, list, beyond, 0);
                out = out.add(1);
            }
            for k in positional..direct {
                *base.add(1 + k) = Value::UNDEF;
            }
            if p.takes_keywords() {
                bind_keywords(cx, p, (*cs).nameless_kwrest, out, kwargs)?;
                out = out.add(p.keywords.len() + (p.kwrest == KwRest::Named) as usize);
            }
            if p.block {
                *out = Value::NIL;
            }
            return Ok(());
        }
        let mut given = ArgList::of(cx, std::slice::from_raw_parts(base.add(1), argc));
        let mut args: &[Value] = &given;
        let mut kwargs: Option<Ref<HashCell>> = None;
        if kw {
            let h: Ref<HashCell> = Ref::of_unchecked(args[argc - 1]);
            if p.takes_keywords() {
                kwargs = Some(h);
                args = &args[..argc - 1];
            } else if h.len() == 0 {
                args = &args[..argc - 1];
            } else if p.kwrest == KwRest::Refused {
                return cx.arg_error("no keywords accepted");
            } else {
                // Keywords to a method without keyword parameters: one positional Hash of its own.
                if !HashCell::take_over(h) {
                    given[argc - 1] = cx.copy_keywords(h).as_value();
                    args = &given;
                }
                if list == List::Own {
                    ArrayCell::push(Ref::of_unchecked(cx.splatted), &mut cx.heap, args[argc - 1]);
                } else {
                    list = List::None;
                }
            }
        }
        let (least, most) = p.arity_range();
        let spread;
        if !strict {
            // Beside keywords one value is no list, not even if there are none of them: see `lay_out_yield`.
            let alone = args.len() == 1 && (!kw || !minds_keywords(p) && kwargs.is_none_or(|h| h.len() == 0));
            let many = least + p.optional as usize > 1 || (p.rest && least + p.optional as usize > 0) || p.excessed_comma;
            let many = many && !(least + p.optional as usize == 1 && !p.rest && !p.excessed_comma);
            if alone
                && many
                && let Some(a) = cx.try_ary(args[0])?
            {
                spread = ArgList::of_array(cx, a);
                args = &spread;
                list = List::None;
            }
        } else if args.len() < least || most.is_some_and(|m| args.len() > m) {
            let n = args.len();
            let r = arity_error(cx, p, n);
            cx.failed_at_definition();
            return r;
        }
        let n = args.len();
        let (req, opt, post) = (p.required as usize, p.optional as usize, p.post as usize);
        let mut out = base.add(1);
        // How many optional ones are filled.
        let avail = n.saturating_sub(req + post);
        let filled = avail.min(opt);
        let mut at = 0;
        for _ in 0..req {
            *out = args.get(at).copied().unwrap_or(Value::NIL);
            at += 1;
            out = out.add(1);
        }
        for k in 0..opt {
            *out = if k < filled {
                at += 1;
                args[at - 1]
            } else {
                Value::UNDEF
            };
            out = out.add(1);
        }
        if p.rest {
            let end = n.saturating_sub(post).max(at.min(n));
            let rest = if at < end { &args[at..end] } else { &[] };
            *out = rest_list(cx, cs, list, rest, n - end.min(n));
            at = end.max(at);
            out = out.add(1);
        } else if strict {
            // exact
        }
        for _ in 0..post {
            *out = args.get(at).copied().unwrap_or(Value::NIL);
            at += 1;
            out = out.add(1);
        }
        if p.takes_keywords() {
            bind_keywords(cx, p, (*cs).nameless_kwrest, out, kwargs)?;
            out = out.add(p.keywords.len() + (p.kwrest == KwRest::Named) as usize);
        }
        if p.block {
            *out = Value::NIL;
        }
        Ok(())
    }
}

/// Whether a block takes more than required parameters: one value beside `**{}` is no list to it.
fn minds_keywords(p: &Params) -> bool {
    p.optional > 0 || p.rest || p.post > 0 || p.block || p.takes_keywords() || p.kwrest == KwRest::Refused
}

#[cold]
pub(in crate::execution) fn arity_error<T>(cx: &mut Cx, p: &Params, given: usize) -> Result<T> {
    let (least, most) = p.arity_range();
    let required: Vec<String> = p.keywords.iter().filter(|k| k.required).map(|k| k.name.name().into_owned()).collect();
    if !required.is_empty() {
        let expected = match most {
            Some(m) if m == least => format!("{least}"),
            Some(m) => format!("{least}..{m}"),
            None => format!("{least}+"),
        };
        return cx.arg_error(format!(
            "wrong number of arguments (given {given}, expected {expected}; required keyword{}: {})",
            if required.len() > 1 { "s" } else { "" },
            required.join(", ")
        ));
    }
    cx.arity_error(given, least, most)
}

/// Of so many keywords those that stay are gathered; of more all are copied, and those that parameters take taken out.
const FEW_KEYWORDS: usize = 16;

unsafe fn bind_keywords(cx: &mut Cx, p: &Params, nameless: bool, out: *mut Value, kwargs: Option<Ref<HashCell>>) -> Result<()> {
    // SAFETY: caller made room for the keyword registers.
    unsafe {
        let mut missing = Vec::new();
        let mut used = 0;
        let own = kwargs.is_some_and(HashCell::take_over);
        for (i, k) in p.keywords.iter().enumerate() {
            match kwargs.and_then(|h| h.by_symbol(k.name)) {
                Some(v) => {
                    *out.add(i) = v;
                    used += 1;
                }
                None => {
                    if k.required {
                        missing.push(format!(":{}", k.name.name()));
                    }
                    *out.add(i) = Value::UNDEF;
                }
            }
        }
        if missing.is_empty() && used == kwargs.map_or(0, |h| h.len()) && p.kwrest != KwRest::Named {
            return Ok(());
        }
        if !missing.is_empty() {
            let r = cx.arg_error(format!("missing keyword{}: {}", if missing.len() > 1 { "s" } else { "" }, missing.join(", ")));
            cx.failed_at_definition();
            return r;
        }
        let named = |key: &Value| p.keywords.iter().any(|k| Value::sym(k.name) == *key);
        if nameless && used == kwargs.map_or(0, |h| h.len()) {
            *out.add(p.keywords.len()) = Value::NIL;
        } else if let Some(from) = kwargs.filter(|_| p.kwrest == KwRest::Named && (own || (nameless && used == 0))) {
            if used != 0 {
                for k in &p.keywords {
                    // Symbols: no Ruby code compares them.
                    cx.hash_delete(from, Value::sym(k.name))?;
                }
            }
            *out.add(p.keywords.len()) = from.as_value();
        } else if p.kwrest == KwRest::Named {
            let Some(from) = kwargs else {
                *out.add(p.keywords.len()) = cx.new_hash().as_value();
                return Ok(());
            };
            if (used * 2 <= from.len() && from.len() > FEW_KEYWORDS) || !cx.is_plain_hash(from) {
                let h = cx.copy_keywords(from);
                *out.add(p.keywords.len()) = h.as_value();
                if used != 0 {
                    for k in &p.keywords {
                        cx.hash_delete(h, Value::sym(k.name))?;
                    }
                }
                return Ok(());
            }
            // Keys keep the codes that they had there: nothing of theirs is asked.
            let h = cx.new_hash();
            *out.add(p.keywords.len()) = h.as_value();
            let n = from.len() - used;
            // Nothing changes it or runs meanwhile.
            if let Some(all) = from.table_unwatched().filter(|_| n > 0) {
                HashCell::fill(h, &mut cx.heap, n, |table| {
                    for e in all.iter().filter(|e| !named(&e.key)) {
                        table.push(e.hash, e.key, e.value);
                    }
                });
            }
        } else if let Some(from) = kwargs {
            let unknown = |t: &HashTable| t.iter().any(|e| !named(&e.key));
            if from.table(&cx.heap).is_some_and(unknown) {
                let mut names = RootedVec::new(cx);
                names.extend(from.table(&cx.heap).into_iter().flat_map(|t| t.iter()).map(|e| e.key).filter(|k| !named(k)));
                let shown: Vec<String> = names.iter().map(|k| cx.inspect_for_error(*k)).collect();
                let r = cx.arg_error(format!("unknown keyword{}: {}", if shown.len() > 1 { "s" } else { "" }, shown.join(", ")));
                cx.failed_at_definition();
                return r;
            }
        }
        Ok(())
    }
}

pub unsafe fn yield_(cx: &mut Cx, ip: *const Insn, regs: *mut Value, _: *const CodeState) -> bool {
    // SAFETY: the contract of handlers (see `Handler`).
    unsafe {
        let i = *ip;
        let fp = cx.fp;
        (*fp).ip = ip;
        if let Some(rec) = (*fp).block.record() {
            let callee = (*rec).bits() as *const CodeState;
            if (*callee).simple && i.x as u16 == (*callee).required {
                let home = (*rec.add(1)).bits() as *const Frame;
                let base = regs.add(i.a as usize);
                let nf = fp.add(1);
                if nf < cx.frame_limit && base.wrapping_add((*callee).nregs as usize) < cx.stack_limit {
                    *base = *(*home).regs;
                    let mut k = (*callee).nil_from;
                    while k < (*callee).nlocals {
                        *base.add(k as usize) = Value::NIL;
                        k += 1;
                    }
                    if (*callee).env_reg != 0 {
                        *base.add((*callee).env_reg as usize) = env_of(home);
                    }
                    nf.write(Frame {
                        ip: (*callee).insns.get(),
                        regs: base,
                        code: callee,
                        block: Block::NONE,
                        me: (*home).me,
                        aux: FRAME_BLOCK,
                    });
                    cx.fp = nf;
                    if polled(cx) {
                        return poll_at(cx, (*callee).insns.get(), base, callee);
                    }
                    dispatch!(cx, (*callee).insns.get(), base, callee)
                }
            }
        }
        // Without ip, regs and cs: keeping them for this alone would spill a register at each yield.
        yield_any(cx, std::ptr::null(), std::ptr::null_mut(), std::ptr::null())
    }
}
/// To any block: arguments are bound by its rules. The frame says where it is called.
#[inline(never)]
unsafe fn yield_any(cx: &mut Cx, _: *const Insn, _: *mut Value, _: *const CodeState) -> bool {
    // SAFETY: called by `yield_`, whose frame it is, with its `ip` stored; `x` arguments stand above the base.
    unsafe {
        let (ip, regs, cs) = ((*cx.fp).ip, (*cx.fp).regs, (*cx.fp).code);
        (cx.call.argc, cx.call.kw, cx.call.list, cx.call.block) = ((*ip).x as usize, false, List::None, Block::NONE);
        enter_yield(cx, ip, regs, cs)
    }
}
/// Frame of the block that the arguments described by `cx.call` are yielded to.
#[inline(never)]
unsafe fn push_yield_frame(cx: &mut Cx, base: *mut Value, block: Block) -> Result<*const CodeState> {
    // SAFETY: arguments described by `cx.call` stand above base.
    unsafe {
        let call = cx.call;
        push_block_frame(cx, block, base, call.argc, call.kw, call.list, call.block, None, 0)
    }
}
/// As [`yield_`], for machine code: the state of the block whose frame was pushed. Null: it was done, and the base has its value.
pub(super) unsafe fn push_yield(cx: &mut Cx, base: *mut Value, argc: usize) -> Result<*const CodeState> {
    // SAFETY: as in `yield_any` and `enter_yield`.
    unsafe {
        (cx.call.argc, cx.call.kw, cx.call.list, cx.call.block) = (argc, false, List::None, Block::NONE);
        let block = (*cx.fp).block;
        match block.proc().filter(|p| p.proc_kind() != ProcKind::Block) {
            Some(p) => {
                *base = yield_native(cx, p, base)?;
                Ok(std::ptr::null())
            }
            None => push_yield_frame(cx, base, block),
        }
    }
}
/// Yields the arguments described by `cx.call` (at the instruction's base) to the frame's block.
unsafe fn enter_yield(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: caller: `cx.call` describes arguments that stand above the base of a Yield-like instruction; the frame's block is valid while the frame
    // runs.
    unsafe {
        let base = regs.add((*ip).a as usize);
        let block = (*cx.fp).block;
        if block.is_none() {
            let _ = cx.raise::<()>(ids::LOCAL_JUMP_ERROR, "no block given (yield)");
            return unwind(cx, ip, regs, cs);
        }
        if let Some(p) = block.proc()
            && p.proc_kind() != ProcKind::Block
        {
            let v = check!(cx, ip, regs, cs, yield_native(cx, p, base));
            *base = v;
            next!(cx, ip, regs, cs)
        }
        let callee = check!(cx, ip, regs, cs, push_yield_frame(cx, base, block));
        if polled(cx) {
            return poll_at(cx, (*callee).insns.get(), base, callee);
        }
        dispatch!(cx, (*callee).insns.get(), base, callee)
    }
}
#[inline(never)]
unsafe fn yield_native(cx: &mut Cx, p: Ref<ProcCell>, base: *mut Value) -> Result<Value> {
    // SAFETY: argc values stand above base; the copy is on a scanned stack or short-lived.
    unsafe {
        let call = cx.call;
        let args = ArgList::of(cx, std::slice::from_raw_parts(base.add(1), call.argc));
        cx.call_native_proc(p, &args, call.kw, call.block, None)
    }
}
#[inline(never)]
unsafe fn lay_out_yield(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> Result<()> {
    // SAFETY: operands of a YieldX stand above base.
    unsafe {
        let i = *ip;
        let site = &(&(*cs).code.calls)[i.c as usize];
        let base = regs.add(i.a as usize);
        let Laid { mut argc, mut kw, no_keywords, mut lent, list, block } = spread(cx, base, i.x as usize, site, &(*cs).code)?;
        let called = activation((*cx.fp).block);
        if no_keywords && argc == 1 && called.as_ref().is_some_and(|a| minds_keywords(&(&*a.cs).code.params)) {
            // They stood behind it.
            argc += 1;
            *base.add(argc) = cx.new_hash().as_value();
            (kw, lent) = (true, false);
        }
        cx.call = PendingCall { me: Value::NIL, argc, kw, lent, list, block, name: sym::empty, state: std::ptr::null() };
        match called {
            Some(_) => give_keywords(cx, base),
            None => own_keywords(cx, base, argc, lent),
        }
        Ok(())
    }
}
pub unsafe fn yield_x(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `lay_out_yield` leaves the arguments above the base.
    unsafe {
        (*cx.fp).ip = ip;
        check!(cx, ip, regs, cs, lay_out_yield(cx, ip, regs, cs));
        enter_yield(cx, ip, regs, cs)
    }
}
pub unsafe fn block_given(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `a` is a register.
    unsafe {
        let (i, block) = (*ip, (*cx.fp).block);
        let so = if i.x == 0 { block.is_some() } else { block.record().is_some() && cx.redefined & fast::PROC == 0 };
        r!(regs, i.a) = Value::bool(so);
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn block_proc(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the frame's block is valid while it runs.
    unsafe {
        r!(regs, (*ip).a) = cx.block_object(cx.fp);
        next!(cx, ip, regs, cs)
    }
}
pub unsafe fn new_proc(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; child `b` is a block (verifier), and its home is this frame.
    unsafe {
        let i = *ip;
        let child = cx.child_state(cs, i.b as usize);
        let p = cx.make_proc(child, cx.fp, i.x == 1);
        r!(regs, i.a) = p.as_value();
        next!(cx, ip, regs, cs)
    }
}
