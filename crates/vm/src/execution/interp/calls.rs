//! Method calls: inline caches, entering methods of every kind, argument layout.

use super::blocks::{activation, bind_args, push_block_frame};
use super::control::{poll_at, polled};
use super::keywords::keyword_call;
use super::listed::read_listed;
use super::lists::{handler_x, lay_for_builtin, push_splat};
use super::missing::{MissReason, missing};
use super::sent::{prepare_sent, prepare_sent_x, sender, sends, sends_known, sends_on, sent, sent_native};
use super::unwind::unwind;
use super::{check, dispatch, next, r, stub};
use crate::builtin::{Block, KW_FLAG, NativeFn};
use crate::execution::call::MANY;
use crate::frame::*;
use crate::make::ArgList;
use crate::methods::Method;
use crate::raise::{Exc, Result};
use crate::vm::{Cx, List, PendingCall};
use zakuro_bytecode::{CallSite, Code, Insn, Op, call_flags};
use zakuro_object::*;

pub unsafe fn send(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers (see `Handler`).
    unsafe {
        let i = *ip;
        let cache = &*(*cs).calls.add(i.c as usize);
        let key = (cx.epoch as u64) << 32 | r!(regs, i.a).shape_key() as u64;
        if cache.key == key {
            return (cache.handler)(cx, ip, regs, cs);
        }
        send_miss(cx, ip, regs, cs)
    }
}
pub unsafe fn send_self(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `c` is a call site that only sends use, `a` a register.
    unsafe {
        let i = *ip;
        let me = r!(regs, 0);
        r!(regs, i.a) = me;
        let cache = &*(*cs).calls.add(i.c as usize);
        let key = (cx.epoch as u64) << 32 | me.shape_key() as u64;
        if cache.key == key {
            return (cache.handler)(cx, ip, regs, cs);
        }
        send_miss(cx, ip, regs, cs)
    }
}

/// Whether the method may be called at this site; the reason when not.
pub(super) fn refused(cx: &mut Cx, m: Method, site: &CallSite, recv: Value, self_: Value) -> Option<MissReason> {
    match m.visibility() {
        Visibility::Public => None,
        _ if site.flags & call_flags::FCALL != 0 => None,
        Visibility::Private => Some(MissReason::Private),
        Visibility::Protected => {
            (site.flags & call_flags::PUBLIC != 0 || !may_call_protected(cx, m, recv, self_)).then_some(MissReason::Protected)
        }
    }
}

/// Whether `self_` may call a protected method of `recv`: it is of the class that made the method protected.
pub(super) fn may_call_protected(cx: &mut Cx, m: Method, recv: Value, self_: Value) -> bool {
    let mut owner = m.owner;
    if m.reserved & crate::methods::VISIBILITY_ALONE != 0 {
        let class = cx.dispatch_class(recv);
        let said = cx.find_entry_from(class, m.called, 0).filter(|e| e.method_kind() == MethodKind::ZSuper);
        owner = said.map_or(owner, |e| e.owner);
    }
    // What a refinement protects is the refined class's.
    owner = cx.refined_class(owner).unwrap_or(owner);
    cx.is_a(self_, owner)
}

impl Cx {
    /// Before the cache of a call site gets another entry. What that keeps counts for the VM.
    #[cold]
    pub(super) unsafe fn set_aside(&mut self, cs: *const CodeState, site: u16) {
        // SAFETY: the state that runs, which nobody else looks at meanwhile.
        self.unlink(unsafe { &*cs });
        // SAFETY: as above.
        let more = unsafe { (*(cs as *mut CodeState)).set_aside(site as usize, self.epoch) };
        if more > 0 {
            self.heap.add_payload(more);
        }
    }
}
/// Fills the cache of a call site and goes on through it.
#[cold]
#[inline(never)]
pub unsafe fn send_miss(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; site, literal block and operands are checked by the verifier. The warning of `unused_block` may run Ruby
    // code: operands stand in the window, below what that uses, and method and cache are looked up after it. A `target` is stored together with the
    // handler that knows what it is, and the method cell that keeps it alive.
    unsafe {
        let i = *ip;
        let recv = r!(regs, i.a);
        if cx.recall(cs, i.c, (cx.epoch as u64) << 32 | recv.shape_key() as u64) {
            return ((*(*cs).calls.add(i.c as usize)).handler)(cx, ip, regs, cs);
        }
        (*cx.fp).ip = ip;
        let site = &(&(*cs).code.calls)[i.c as usize];
        let op = (*cs).opcode_at(ip);
        let literal = site.literal_block().filter(|_| op == Op::SendBlk || op == Op::SendSelfBlk);
        let with_block = literal.is_some();
        if let Some(literal) = literal {
            cx.child_state(cs, literal as usize);
        }
        let class = cx.dispatch_class(recv);
        let mut found = cx.find_method_from(Method::of((*cx.fp).me).cref, class, site.name);
        if with_block
            && let Some(m) = found
            && check!(cx, ip, regs, cs, cx.unused_block(m))
        {
            found = cx.find_method_from(Method::of((*cx.fp).me).cref, class, site.name);
        }
        let why = match found {
            None => Some(MissReason::at(site)),
            Some(m) => refused(cx, m, site, recv, r!(regs, 0)),
        };
        if let Some(why) = why {
            let block = literal.map_or(Block::NONE, |literal| block_record(cx, regs, cs, i.a, literal));
            let base = regs.add(i.a as usize);
            if check!(cx, ip, regs, cs, missing_in_ruby(cx, base, i.x as usize, false, block, site.name, why)) {
                return enter(cx, ip, regs, cs);
            }
            let v = check!(cx, ip, regs, cs, missing(cx, base, i.x as usize, false, block, site.name, why));
            r!(regs, i.a) = v;
            next!(cx, ip, regs, cs)
        }
        let Some(m) = found else { return unwind(cx, ip, regs, cs) };
        cx.state_gets_cells(cs);
        cx.set_aside(cs, i.c);
        let cache = &mut *(*cs).calls.add(i.c as usize);
        let shape = recv.shape_key();
        cache.me = m.as_value();
        cache.handler = generic;
        cache.shape = shape;
        match m.method_kind() {
            MethodKind::Ruby => {
                let callee = cx.method_state(m);
                cache.target = callee as usize;
                cache.extra = site.child as u32;
                let simple = (*callee).simple && (*callee).required == i.x as u16;
                let in_place = (*callee).code.params.in_place(i.x);
                cache.handler = match with_block {
                    _ if simple || in_place => RUBY_CALLS.of_params(simple, with_block),
                    false => ruby_bound,
                    true => ruby_bound_blk,
                };
            }
            MethodKind::Native => {
                cache.target = Cx::native_fn(m) as usize;
                cache.extra = site.child as u32;
                cache.handler = if with_block { native_blk } else { native };
                if !with_block && m.owner == ids::CLASS && site.name == sym::new && site.flags & call_flags::PUBLIC == 0 {
                    prepare_new(cx, recv, i.x, cache);
                }
                if !with_block && m.owner == ids::PROC && calls_proc(m) {
                    cache.handler = proc_call;
                }
                if !with_block && i.x > 0 && sends(m) {
                    prepare_sent(cx, recv, r!(regs, i.a + 1), i.x, cache);
                }
            }
            MethodKind::Proc if !with_block => {
                if let Some(callee) = defined_in_place(m, i.x) {
                    cache.target = callee as usize;
                    cache.extra = 0;
                    cache.handler = defined;
                }
            }
            MethodKind::AttrReader if i.x == 0 => {
                if (recv.is_kind(Kind::Object) || recv.is_kind(Kind::Exception))
                    && let Some(slot) = m.data.as_sym().and_then(|n| cx.shape_slot(shape, n))
                {
                    cache.extra = slot as u32;
                    cache.handler = attr_get;
                } else if let Some((_, at)) = m.data.as_sym().and_then(|n| cx.listed_variable(recv, n, 0)) {
                    cache.extra = at as u32;
                    cache.handler = attr_listed;
                }
            }
            MethodKind::AttrWriter if i.x == 1 => {
                if (recv.is_kind(Kind::Object) || recv.is_kind(Kind::Exception))
                    && let Some(slot) = m.data.as_sym().and_then(|n| cx.shape_slot(shape, n))
                {
                    cache.extra = slot as u32;
                    cache.handler = attr_set;
                }
            }
            _ => {}
        }
        // A protected method's right to be called depends on self: not cached.
        if m.visibility() != Visibility::Protected || site.flags & call_flags::FCALL != 0 {
            cache.key = (cx.epoch as u64) << 32 | shape as u64;
        } else {
            cache.key = 0;
        }
        (cache.handler)(cx, ip, regs, cs)
    }
}

/// Writes the record of a literal block below the call's window.
#[inline(always)]
pub(super) unsafe fn block_record(cx: &Cx, regs: *mut Value, cs: *const CodeState, a: u16, child: u16) -> Block {
    // SAFETY: caller: a verified instruction with literal block `child`: registers a-2 and a-1 are below the window and kept free, and `child_state`
    // has made the block's state (whoever fills the cache, or calls this without one, does so). A cache's `extra` is that child.
    unsafe {
        let rec = regs.add(a as usize).sub(2);
        *rec = Value::from_bits((*cs).children.get_unchecked(child as usize).get() as u64);
        *rec.add(1) = Value::from_bits(cx.fp as u64);
        Block::on_stack(rec)
    }
}

#[inline(always)]
pub(super) unsafe fn push_simple<const FILLED: bool>(
    cx: &mut Cx,
    ip: *const Insn,
    regs: *mut Value,
    cache: *const CallCache,
    block: Block,
) -> bool {
    // SAFETY: the contract of handlers; the cache matches, so `target` is the state of the Ruby method `me`, which the cell keeps alive. Both limits
    // are compared by address (`wrapping_add`) before anything is written; parameters stand in place because the method is simple and argc is what it
    // requires, or (FILLED) because it has but optional parameters more.
    unsafe {
        let callee = (*cache).target as *const CodeState;
        let base = regs.add((*ip).a as usize);
        let fp = cx.fp;
        (*fp).ip = ip;
        let nf = fp.add(1);
        if nf >= cx.frame_limit || base.wrapping_add((*callee).nregs as usize) >= cx.stack_limit {
            // Not with the caller's ip, regs and cs: keeping them for this alone would spill registers at each call.
            return overflow(cx, std::ptr::null(), std::ptr::null_mut(), std::ptr::null());
        }
        nf.write(Frame { ip: (*callee).insns.get(), regs: base, code: callee, block, me: (*cache).me, aux: 0 });
        if FILLED {
            fill(base, (*ip).x, callee);
        }
        let mut k = (*callee).nil_from;
        while k < (*callee).nlocals {
            *base.add(k as usize) = Value::NIL;
            k += 1;
        }
        cx.fp = nf;
        if polled(cx) {
            return poll_at(cx, (*callee).insns.get(), base, callee);
        }
        dispatch!(cx, (*callee).insns.get(), base, callee)
    }
}
/// The optional parameters behind so many arguments are not given.
#[inline(always)]
pub(super) unsafe fn fill(base: *mut Value, argc: u8, callee: *const CodeState) {
    // SAFETY: caller: the window of a frame of `callee` begins at `base`.
    unsafe {
        let mut k = argc as u16 + 1;
        while k < (*callee).nil_from {
            *base.add(k as usize) = Value::UNDEF;
            k += 1;
        }
    }
}
#[cold]
#[inline(never)]
unsafe fn overflow(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: nothing was pushed: the frame is still the caller's, with its `ip` stored.
    unsafe {
        let _ = cx.stack_error::<()>();
        unwind(cx, ip, regs, cs)
    }
}
/// Ruby method, arguments as they stand.
pub(super) unsafe fn ruby_simple(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `send` has compared the key, and `send_miss` chose this handler for a simple Ruby method.
    unsafe { push_simple::<false>(cx, ip, regs, (*cs).calls.add((*ip).c as usize), Block::NONE) }
}
/// Ruby method with optional parameters: the others stand as they are ([`zakuro_bytecode::Params::in_place`]).
unsafe fn ruby_filled(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `send_miss` has compared parameters and arguments.
    unsafe { push_simple::<true>(cx, ip, regs, (*cs).calls.add((*ip).c as usize), Block::NONE) }
}
unsafe fn ruby_filled_blk(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: as in `ruby_filled` and `ruby_simple_blk`.
    unsafe {
        let i = *ip;
        let cache = (*cs).calls.add(i.c as usize);
        let block = block_record(cx, regs, cs, i.a, (*cache).extra as u16);
        push_simple::<true>(cx, ip, regs, cache, block)
    }
}
unsafe fn ruby_simple_blk(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; as in `ruby_simple`; `send_miss` has made the block's state.
    unsafe {
        let i = *ip;
        let cache = (*cs).calls.add(i.c as usize);
        let block = block_record(cx, regs, cs, i.a, (*cache).extra as u16);
        push_simple::<false>(cx, ip, regs, cache, block)
    }
}
/// The state of a literal block that is a method (`define_method`), if it takes so many arguments where they stand.
fn defined_in_place(m: Method, argc: u8) -> Option<*const CodeState> {
    let p = block_of_proc(m.data).filter(|p| p.header.flags & ORPHAN == 0)?;
    let callee = p.code as *const CodeState;
    // SAFETY: a Proc's code is alive as long as it is.
    let takes = unsafe { (*callee).simple && (*callee).required == argc as u16 || (*callee).code.params.in_place(argc) };
    takes.then_some(callee)
}
/// Puts the environment around such a block where it looks for it, in the window of its frame.
#[inline(always)]
pub(super) unsafe fn put_around(base: *mut Value, cache: *const CallCache) {
    // SAFETY: caller: the cache matches, and its handler is `defined`, so `target` is the state of the block that the method `me` is made of.
    unsafe {
        let callee = (*cache).target as *const CodeState;
        if (*callee).env_reg != 0 {
            let m: Method = Ref::of_unchecked((*cache).me);
            *base.add((*callee).env_reg as usize) = Ref::<ProcCell>::of_unchecked(m.data).env;
        }
    }
}
/// A method that a literal block is, arguments as they stand.
unsafe fn defined(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `send_miss` chose this handler.
    unsafe {
        let cache = (*cs).calls.add((*ip).c as usize);
        let base = regs.add((*ip).a as usize);
        let callee = (*cache).target as *const CodeState;
        let fp = cx.fp;
        (*fp).ip = ip;
        let nf = fp.add(1);
        if nf >= cx.frame_limit || base.wrapping_add((*callee).nregs as usize) >= cx.stack_limit {
            return overflow(cx, std::ptr::null(), std::ptr::null_mut(), std::ptr::null());
        }
        nf.write(Frame { ip: (*callee).insns.get(), regs: base, code: callee, block: Block::NONE, me: (*cache).me, aux: FRAME_DEFINED });
        fill(base, (*ip).x, callee);
        put_around(base, cache);
        cx.fp = nf;
        let mut k = (*callee).nil_from;
        while k < (*callee).nlocals {
            *base.add(k as usize) = Value::NIL;
            k += 1;
        }
        if polled(cx) {
            return poll_at(cx, (*callee).insns.get(), base, callee);
        }
        dispatch!(cx, (*callee).insns.get(), base, callee)
    }
}
unsafe fn named(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers.
    unsafe { send_x(cx, ip, regs, cs) }
}
/// Calls a builtin's function; debug builds look whether it does more than its row says.
///
/// # Safety
/// argc values stand at `argv`, in a frame that covers them; `me` is a native method whose function is `f`.
#[inline(always)]
pub(in crate::execution) unsafe fn call_builtin(
    cx: &mut Cx,
    f: NativeFn,
    me: Value,
    this: Value,
    argv: *const Value,
    argc: usize,
    block: Block,
) -> Result<Value> {
    #[cfg(debug_assertions)]
    // SAFETY: the caller's word.
    return unsafe { cx.call_watched(f, me, this, argv, argc, block) };
    #[cfg(not(debug_assertions))]
    {
        let _ = me;
        f(cx, this, argv, argc, block)
    }
}
#[inline(always)]
pub(super) unsafe fn call_native(
    cx: &mut Cx,
    ip: *const Insn,
    regs: *mut Value,
    cs: *const CodeState,
    f: NativeFn,
    me: Value,
    argc: usize,
    block: Block,
) -> bool {
    // SAFETY: the contract of handlers; argc values stand above the base. The frame pushed for the native ends behind them: what it calls begins
    // there, and the collector sees them.
    unsafe {
        let base = regs.add((*ip).a as usize);
        let fp = cx.fp;
        (*fp).ip = ip;
        let nf = fp.add(1);
        if nf >= cx.frame_limit {
            return overflow(cx, ip, regs, cs);
        }
        let n = argc & (KW_FLAG - 1);
        nf.write(Frame { ip: stub(), regs: base, code: std::ptr::null(), block, me, aux: base.add(n + 1) as usize });
        cx.fp = nf;
        let result = call_builtin(cx, f, me, *base, base.add(1), argc, block);
        cx.fp = fp;
        match result {
            Ok(v) => {
                *base = v;
                // Where the frame stands, and not where it stood: a trace that began meanwhile has moved it to the marked copy (trace.rs).
                next!(cx, (*fp).ip, regs, cs)
            }
            Err(Exc) => unwind(cx, ip, regs, cs),
        }
    }
}
unsafe fn native(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `send_miss` stored this handler together with a NativeFn as target.
    unsafe {
        let i = *ip;
        let cache = &*(*cs).calls.add(i.c as usize);
        let f: NativeFn = std::mem::transmute(cache.target);
        call_native(cx, ip, regs, cs, f, cache.me, i.x as usize, Block::NONE)
    }
}
unsafe fn native_blk(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; as in `native`; `send_miss` has made the block's state.
    unsafe {
        let i = *ip;
        let cache = &*(*cs).calls.add(i.c as usize);
        let f: NativeFn = std::mem::transmute(cache.target);
        let block = block_record(cx, regs, cs, i.a, cache.extra as u16);
        call_native(cx, ip, regs, cs, f, cache.me, i.x as usize, block)
    }
}
/// `Foo.new(...)` with Class#new and a plain `initialize`: no native frame in between. The cache's state was told of (`Cx::state_gets_cells`).
unsafe fn prepare_new(cx: &mut Cx, class: Value, argc: u8, cache: &mut CallCache) {
    // SAFETY: `init` is a method of this VM, and its state is alive as long as it is; the cache holds its cell.
    unsafe {
        let Some(id) = cx.class_id(class) else { return };
        let d = cx.class(id);
        if !matches!(d.alloc, Alloc::Object) || d.kind != ClassKind::Class {
            return;
        }
        let Some(init) = cx.find_method(id, sym::initialize) else { return };
        cx.note_cached_name(sym::initialize);
        match init.method_kind() {
            MethodKind::Ruby => {
                let callee = cx.method_state(init);
                let simple = (*callee).simple && (*callee).required == argc as u16;
                cache.target = callee as usize;
                cache.me = init.as_value();
                cache.extra = id.0;
                let in_place = (*callee).code.params.in_place(argc);
                cache.handler = if simple || in_place { new_object } else { new_bound };
            }
            MethodKind::Native if init.owner == ids::BASIC_OBJECT && argc == 0 => {
                cache.extra = id.0;
                cache.handler = new_plain_object;
            }
            _ => {}
        }
    }
}
unsafe fn new_plain_object(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `prepare_new` stored the class's id: a class object has a shape of its own, so the key stands for it, and the
    // receiver keeps the class alive.
    unsafe {
        let i = *ip;
        let id = ClassId((*(*cs).calls.add(i.c as usize)).extra);
        r!(regs, i.a) = cx.new_object(id);
        next!(cx, ip, regs, cs)
    }
}
/// The new object stays in the call's base; `initialize` runs in a window one register further, so that its value is dropped.
unsafe fn new_object(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; see `push_new`.
    unsafe {
        (*cx.fp).ip = ip;
        let callee = check!(cx, ip, regs, cs, push_new(cx, ip, regs, cs));
        let base = (*cx.fp).regs;
        let mut k = (*callee).nil_from;
        while k < (*callee).nlocals {
            *base.add(k as usize) = Value::NIL;
            k += 1;
        }
        if polled(cx) {
            return poll_at(cx, (*callee).insns.get(), base, callee);
        }
        dispatch!(cx, (*callee).insns.get(), base, callee)
    }
}
/// Makes the object of a `new` and pushes the frame of its `initialize`, whose locals are still to be filled.
#[inline(always)]
pub(super) unsafe fn push_new(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> Result<*const CodeState> {
    // SAFETY: the contract of handlers; as in `push_simple` and `new_plain_object`; room was made for one register more, since the window begins one
    // further. Allocating does not collect, so the arguments may be moved first.
    unsafe {
        let i = *ip;
        let cache = &*(*cs).calls.add(i.c as usize);
        let callee = cache.target as *const CodeState;
        let base = regs.add(i.a as usize);
        let nf = cx.fp.add(1);
        if nf >= cx.frame_limit || base.wrapping_add((*callee).nregs as usize + 1) >= cx.stack_limit {
            return cx.stack_error();
        }
        let mut k = i.x as usize;
        while k > 0 {
            *base.add(k + 1) = *base.add(k);
            k -= 1;
        }
        let object = cx.new_object(ClassId(cache.extra));
        *base = object;
        let base = base.add(1);
        *base = object;
        nf.write(Frame { ip: (*callee).insns.get(), regs: base, code: callee, block: Block::NONE, me: cache.me, aux: 0 });
        fill(base, i.x, callee);
        cx.fp = nf;
        Ok(callee)
    }
}
/// `new` where the arguments of `initialize` have to be bound.
unsafe fn new_bound(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; see `push_new_bound`.
    unsafe {
        (*cx.fp).ip = ip;
        let callee = check!(cx, ip, regs, cs, push_new_bound(cx, ip, regs, cs));
        let base = (*cx.fp).regs;
        if polled(cx) {
            return poll_at(cx, (*callee).insns.get(), base, callee);
        }
        dispatch!(cx, (*callee).insns.get(), base, callee)
    }
}
/// As [`push_new`], with arguments that have to be bound.
pub(super) unsafe fn push_new_bound(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> Result<*const CodeState> {
    // SAFETY: as in `push_new`; `push_method_frame` asks for room above the window that begins one further.
    unsafe {
        let i = *ip;
        let cache = &*(*cs).calls.add(i.c as usize);
        let (base, argc) = (regs.add(i.a as usize), i.x as usize);
        if base.wrapping_add(argc + 2) >= cx.stack_limit {
            return cx.stack_error();
        }
        std::ptr::copy(base.add(1), base.add(2), argc);
        let object = cx.new_object(ClassId(cache.extra));
        (*base, *base.add(1)) = (object, object);
        let state = cache.target as *const CodeState;
        cx.call =
            PendingCall { me: cache.me, argc, kw: false, lent: false, list: List::None, block: Block::NONE, name: sym::initialize, state };
        push_method_frame(cx, base.add(1))
    }
}
unsafe fn attr_get(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; the receiver has the shape that `send_miss` looked the slot up in, of kind Object or Exception, so that slot
    // is there.
    unsafe {
        let i = *ip;
        let cache = &*(*cs).calls.add(i.c as usize);
        let o = r!(regs, i.a).bits() as *mut ObjectCell;
        r!(regs, i.a) = *(*o).slots_ptr().add(cache.extra as usize);
        next!(cx, ip, regs, cs)
    }
}
/// Reads a variable of what has no layout.
unsafe fn attr_listed(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `send_miss` chose this handler for a reader.
    unsafe {
        let i = *ip;
        if !read_listed(cx, regs.add(i.a as usize), (*cs).calls.add(i.c as usize)) {
            return generic(cx, ip, regs, cs);
        }
        next!(cx, ip, regs, cs)
    }
}
unsafe fn attr_set(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: as in `attr_get`; the flags are tested before the write.
    unsafe {
        let i = *ip;
        let cache = &*(*cs).calls.add(i.c as usize);
        let o = r!(regs, i.a).bits() as *mut ObjectCell;
        if (*o).header.flags & GUARDED != 0 {
            return generic(cx, ip, regs, cs);
        }
        let v = r!(regs, i.a + 1);
        *(*o).slots_ptr().add(cache.extra as usize) = v;
        r!(regs, i.a) = v;
        next!(cx, ip, regs, cs)
    }
}
/// Proc#call of what is written in Ruby: its frame takes the call's place, as that of a method.
unsafe fn proc_call(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `send_miss` chose this handler for Proc#call, whose receivers are Procs.
    unsafe {
        let i = *ip;
        let base = regs.add(i.a as usize);
        let Some(p) = is_entered(cx, *base) else { return native(cx, ip, regs, cs) };
        (*cx.fp).ip = ip;
        let callee = check!(cx, ip, regs, cs, push_proc(cx, base, p, i.x as usize));
        if polled(cx) {
            return poll_at(cx, (*callee).insns.get(), base, callee);
        }
        dispatch!(cx, (*callee).insns.get(), base, callee)
    }
}
/// Pushes the frame of a Proc of a literal block, which stands at `base`, with `argc` arguments behind it. What takes them as they stand is worth a way of its own (11 ns of 17).
#[inline(never)]
pub(super) unsafe fn push_proc(cx: &mut Cx, base: *mut Value, p: Ref<ProcCell>, argc: usize) -> Result<*const CodeState> {
    // SAFETY: the caller's word; a Proc's code is alive while a frame runs it. As in `push_block_frame`, which does what is not that simple.
    unsafe {
        let block = Block(p.as_value().bits());
        let callee = p.code as *const CodeState;
        let fp = cx.fp.add(1);
        let is_simple = (*callee).simple && argc == (*callee).required as usize;
        let fits = is_simple && fp < cx.frame_limit && base.wrapping_add((*callee).nregs as usize) < cx.stack_limit;
        let Some(a) = activation(block).filter(|_| fits) else {
            return push_block_frame(cx, block, base, argc, false, List::None, Block::NONE, None, 0);
        };
        *base = a.self_;
        for k in (*callee).nil_from..(*callee).nlocals {
            *base.add(k as usize) = Value::NIL;
        }
        if (*callee).env_reg != 0 {
            *base.add((*callee).env_reg as usize) = a.env;
        }
        fp.write(Frame { ip: (*callee).insns.get(), regs: base, code: callee, block: Block::NONE, me: a.me, aux: a.flags });
        cx.fp = fp;
        Ok(callee)
    }
}
/// Whether the receiver of a Proc#call is what [`push_proc`] takes.
pub(super) fn is_entered(cx: &Cx, p: Value) -> Option<Ref<ProcCell>> {
    block_of_proc(p).filter(|_| cx.tracing == 0)
}
/// Every other combination: described in `cx.call`, then entered.
pub(super) unsafe fn generic(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `send_miss` has stored the method cell and made the block's state.
    unsafe {
        (*cx.fp).ip = ip;
        describe(cx, ip, regs, cs);
        enter(cx, ip, regs, cs)
    }
}
/// Describes the call of what the cache has in `cx.call`.
#[inline(always)]
pub(super) unsafe fn describe(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) {
    // SAFETY: as in `generic`.
    unsafe {
        let i = *ip;
        let site = &(&(*cs).code.calls)[i.c as usize];
        let op = (*cs).opcode_at(ip);
        let literal = site.literal_block().filter(|_| op == Op::SendBlk || op == Op::SendSelfBlk);
        let block = literal.map_or(Block::NONE, |literal| block_record(cx, regs, cs, i.a, literal));
        let me = (*(*cs).calls.add(i.c as usize)).me;
        cx.call = PendingCall {
            me,
            argc: i.x as usize,
            kw: false,
            lent: false,
            list: List::None,
            block,
            name: site.name,
            state: std::ptr::null(),
        };
    }
}
/// As [`generic`], for machine code: see [`push_entered`].
pub(super) unsafe fn push_generic(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> Result<*const CodeState> {
    // SAFETY: as in `generic`.
    unsafe {
        describe(cx, ip, regs, cs);
        push_entered(cx, regs.add((*ip).a as usize))
    }
}
/// Ruby method whose arguments have to be bound.
unsafe fn ruby_bound(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; `send_miss` has stored the method cell and its state.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        let cache = &*(*cs).calls.add(i.c as usize);
        let name = (&(*cs).code.calls)[i.c as usize].name;
        let state = cache.target as *const CodeState;
        cx.call =
            PendingCall { me: cache.me, argc: i.x as usize, kw: false, lent: false, list: List::None, block: Block::NONE, name, state };
        enter(cx, ip, regs, cs)
    }
}
/// The same with a literal block.
unsafe fn ruby_bound_blk(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: as in `ruby_bound`; `send_miss` has made the block's state.
    unsafe {
        let i = *ip;
        (*cx.fp).ip = ip;
        let cache = &*(*cs).calls.add(i.c as usize);
        let name = (&(*cs).code.calls)[i.c as usize].name;
        let block = block_record(cx, regs, cs, i.a, cache.extra as u16);
        let state = cache.target as *const CodeState;
        cx.call = PendingCall { me: cache.me, argc: i.x as usize, kw: false, lent: false, list: List::None, block, name, state };
        enter(cx, ip, regs, cs)
    }
}

/// Pushes the frame of a Ruby method whose arguments have to be bound, for machine code.
pub(super) unsafe fn push_bound(
    cx: &mut Cx,
    ip: *const Insn,
    regs: *mut Value,
    cs: *const CodeState,
    with_block: bool,
) -> Result<*const CodeState> {
    // SAFETY: as in `ruby_bound` and `ruby_bound_blk`.
    unsafe {
        let i = *ip;
        let cache = &*(*cs).calls.add(i.c as usize);
        let name = (&(*cs).code.calls)[i.c as usize].name;
        let block = if with_block { block_record(cx, regs, cs, i.a, cache.extra as u16) } else { Block::NONE };
        let state = cache.target as *const CodeState;
        cx.call = PendingCall { me: cache.me, argc: i.x as usize, kw: false, lent: false, list: List::None, block, name, state };
        push_method_frame(cx, regs.add(i.a as usize))
    }
}

/// What a cache's handler says of what it calls.
pub struct CallHandlers {
    pub simple: Handler,
    pub simple_blk: Handler,
    pub filled: Handler,
    pub filled_blk: Handler,
    /// Of a site with names of keywords, whose values have places (`keywords::place_known`): only says so, the site's instruction is another one's.
    pub named: Handler,
    /// A literal block that is a method, arguments as they stand.
    pub defined: Handler,
    pub bound: Handler,
    pub bound_blk: Handler,
    pub native: Handler,
    pub native_blk: Handler,
    pub attr_get: Handler,
    /// A variable that stands in a list.
    pub attr_listed: Handler,
    pub attr_set: Handler,
    pub new_object: Handler,
    pub new_plain: Handler,
    pub new_bound: Handler,
    pub generic: Handler,
    pub proc_call: Handler,
    /// `send` that leads to a method in Ruby, and to a builtin.
    pub sent: Handler,
    pub sent_native: Handler,
}
impl CallHandlers {
    /// Whether a handler calls what is written in Ruby, with the arguments where they stand, or moved to where its cache says.
    pub fn in_place(&self, handler: usize) -> bool {
        [self.simple, self.simple_blk, self.filled, self.filled_blk, self.named].iter().any(|h| *h as usize == handler)
    }
    /// The handler of a call of a method with these parameters that may be left where they stand.
    pub fn of_params(&self, simple: bool, with_block: bool) -> Handler {
        match (simple, with_block) {
            (true, false) => self.simple,
            (true, true) => self.simple_blk,
            (false, false) => self.filled,
            (false, true) => self.filled_blk,
        }
    }
}
pub static RUBY_CALLS: CallHandlers = CallHandlers {
    simple: ruby_simple,
    simple_blk: ruby_simple_blk,
    filled: ruby_filled,
    filled_blk: ruby_filled_blk,
    named,
    defined,
    bound: ruby_bound,
    bound_blk: ruby_bound_blk,
    native,
    native_blk,
    attr_get,
    attr_listed,
    attr_set,
    new_object,
    new_plain: new_plain_object,
    new_bound,
    generic,
    proc_call,
    sent,
    sent_native,
};

/// Enters the method of `cx.call` with receiver and arguments at the instruction's base. The frame's `ip` is stored.
pub unsafe fn enter(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: caller: `cx.call` holds a method cell, and argc values stand above the base, below the stack's limit. Every kind of method takes them
    // from there; the base takes the result of those that push no frame.
    unsafe {
        // `cx.call` is read where it is used: a copy of it here would be a local whose address escapes (see the module).
        let base = regs.add((*ip).a as usize);
        let m: Method = Ref::of_unchecked(cx.call.me);
        match m.method_kind() {
            MethodKind::Ruby => {
                let callee = check!(cx, ip, regs, cs, push_method_frame(cx, base));
                if polled(cx) {
                    return poll_at(cx, (*callee).insns.get(), base, callee);
                }
                dispatch!(cx, (*callee).insns.get(), base, callee)
            }
            MethodKind::Native => {
                let f = Cx::native_fn(m);
                let argc = cx.call.argc | if cx.call.kw { KW_FLAG } else { 0 };
                let block = cx.call.block;
                call_native(cx, ip, regs, cs, f, m.as_value(), argc, block)
            }
            MethodKind::Proc => {
                let p: Ref<ProcCell> = Ref::of_unchecked(m.data);
                if p.proc_kind() == ProcKind::Block {
                    let callee = check!(cx, ip, regs, cs, push_bmethod_frame(cx, base));
                    if polled(cx) {
                        return poll_at(cx, (*callee).insns.get(), base, callee);
                    }
                    dispatch!(cx, (*callee).insns.get(), base, callee)
                }
                let v = check!(cx, ip, regs, cs, native_bmethod(cx, base));
                *base = v;
                next!(cx, ip, regs, cs)
            }
            _ => {
                let v = check!(cx, ip, regs, cs, other_method(cx, base));
                *base = v;
                next!(cx, ip, regs, cs)
            }
        }
    }
}
/// Calls a builtin above the frame on top, for machine code: its value. Receiver and arguments stand at `base`.
#[inline(always)]
pub(super) unsafe fn run_builtin(cx: &mut Cx, base: *mut Value, f: NativeFn, me: Value, argc: usize, block: Block) -> Result<Value> {
    // SAFETY: as in `call_native`; the caller's frame has its `ip` stored.
    unsafe {
        let fp = cx.fp;
        let nf = fp.add(1);
        if nf >= cx.frame_limit {
            return cx.stack_error();
        }
        let end = base.add((argc & (KW_FLAG - 1)) + 1) as usize;
        nf.write(Frame { ip: stub(), regs: base, code: std::ptr::null(), block, me, aux: end });
        cx.fp = nf;
        let result = call_builtin(cx, f, me, *base, base.add(1), argc, block);
        cx.fp = fp;
        result
    }
}
/// As [`enter`], for machine code: pushes the frame of what is written in Ruby, and answers its state. Null: it was done, and the base has its value.
#[inline]
pub(super) unsafe fn push_entered(cx: &mut Cx, base: *mut Value) -> Result<*const CodeState> {
    // SAFETY: as in `enter`, and in `call_native`.
    unsafe {
        let m: Method = Ref::of_unchecked(cx.call.me);
        match m.method_kind() {
            MethodKind::Ruby => return push_method_frame(cx, base),
            MethodKind::Native => {
                let call = cx.call;
                let argc = call.argc | if call.kw { KW_FLAG } else { 0 };
                *base = run_builtin(cx, base, Cx::native_fn(m), call.me, argc, call.block)?;
            }
            MethodKind::Proc => {
                let p: Ref<ProcCell> = Ref::of_unchecked(m.data);
                if p.proc_kind() == ProcKind::Block {
                    return push_bmethod_frame(cx, base);
                }
                *base = native_bmethod(cx, base)?;
            }
            _ => *base = other_method(cx, base)?,
        }
        Ok(std::ptr::null())
    }
}
/// The same for a call with keywords, lists or a block argument.
pub(super) unsafe fn push_send_x(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> Result<*const CodeState> {
    // SAFETY: as in `send_x`.
    unsafe {
        match prepare_send_x(cx, ip, regs, cs)? {
            Prepared::Enter => push_entered(cx, regs.add((*ip).a as usize)),
            Prepared::Entered => Ok((*cx.fp).code),
            Prepared::Answered => Ok(std::ptr::null()),
        }
    }
}
#[inline(never)]
unsafe fn push_bmethod_frame(cx: &mut Cx, base: *mut Value) -> Result<*const CodeState> {
    // SAFETY: called by `enter` for a method whose `data` is a Proc of a literal block.
    unsafe {
        let call = cx.call;
        let m: Method = Ref::of_unchecked(call.me);
        let who = Some((*base, call.me));
        let cs =
            push_block_frame(cx, Block(m.data.bits()), base, call.argc, call.kw, call.list, call.block, who, FRAME_LAMBDA | FRAME_BMETHOD)?;
        let p = &(*cs).code.params;
        if m.reserved & RUBY2_KEYWORDS != 0 && call.kw && p.rest && !p.takes_keywords() {
            mark_keywords(base, p);
        }
        Ok(cs)
    }
}
#[inline(never)]
unsafe fn native_bmethod(cx: &mut Cx, base: *mut Value) -> Result<Value> {
    // SAFETY: called by `enter` for a method whose `data` is a Proc. The callee's window begins where the arguments stand: they are copied first.
    unsafe {
        let call = cx.call;
        let p: Ref<ProcCell> = Ref::of_unchecked(Ref::<MethodCell>::of_unchecked(call.me).data);
        let args = ArgList::of(cx, std::slice::from_raw_parts(base.add(1), call.argc));
        cx.call_native_proc(p, &args, call.kw, call.block, Some((*base, call.me)))
    }
}
#[inline(never)]
unsafe fn other_method(cx: &mut Cx, base: *mut Value) -> Result<Value> {
    // SAFETY: called by `enter`: argc values stand above the base. As in `native_bmethod` for the copy of them.
    unsafe {
        let call = cx.call;
        let m: Method = Ref::of_unchecked(call.me);
        let recv = *base;
        match m.method_kind() {
            MethodKind::AttrReader => {
                if call.argc != 0 {
                    return cx.arity_error(call.argc, 0, Some(0));
                }
                Ok(cx.ivar_get(recv, m.data.as_sym().unwrap_or(sym::empty)))
            }
            MethodKind::AttrWriter => {
                if call.argc != 1 {
                    return cx.arity_error(call.argc, 1, Some(1));
                }
                let v = *base.add(1);
                cx.ivar_set(recv, m.data.as_sym().unwrap_or(sym::empty), v)?;
                Ok(v)
            }
            MethodKind::Missing => {
                let args = ArgList::of(cx, std::slice::from_raw_parts(base.add(1), call.argc));
                cx.call_missing(recv, m.name, &args, call.kw, call.block, MissReason::None)
            }
            _ => {
                let name = m.name;
                missing(cx, base, call.argc, call.kw, call.block, name, MissReason::None)
            }
        }
    }
}

/// Set in a method cell's `reserved`: `ruby2_keywords` was called for it.
pub const RUBY2_KEYWORDS: u32 = 1;

/// Flags the keyword Hash at the end of the rest parameter, so that splatting it passes keywords again.
#[cold]
pub(super) unsafe fn mark_keywords(base: *mut Value, p: &zakuro_bytecode::Params) {
    // SAFETY: the rest parameter's register holds an Array once the arguments are bound.
    let rest = unsafe { *base.add(p.rest_reg() as usize) };
    if let Some(h) = Ref::<ArrayCell>::from_value(rest).and_then(|a| a.last())
        && h.is_kind(Kind::Hash)
    {
        h.set_flags(KEYWORDS);
    }
}

/// Pushes the frame of a Ruby method and binds its arguments.
#[inline(never)]
unsafe fn push_method_frame(cx: &mut Cx, base: *mut Value) -> Result<*const CodeState> {
    // SAFETY: called by `enter`. Room for the window and the arguments is made sure of before anything is written (`bind_args` asks for it). While
    // arguments are bound the frame covers the whole window, so that Ruby code that runs meanwhile uses what lies above.
    unsafe {
        let call = cx.call;
        let m: Method = Ref::of_unchecked(call.me);
        let callee = if call.state.is_null() { cx.method_state(m) } else { call.state };
        let fp = cx.fp.add(1);
        if fp >= cx.frame_limit || base.wrapping_add((*callee).nregs as usize + call.argc) >= cx.stack_limit {
            return cx.stack_error();
        }
        let p = &(*callee).code.params;
        if (*callee).plain && !call.kw && call.argc.wrapping_sub(p.required as usize) <= p.optional as usize {
            // Nothing that runs Ruby code.
            for k in call.argc..(p.required + p.optional) as usize {
                *base.add(1 + k) = Value::UNDEF;
            }
        } else {
            // Errors about the arguments show the method's own line first, as in CRuby.
            fp.write(Frame { ip: (*callee).insns.get(), regs: base, code: callee, block: call.block, me: m.as_value(), aux: 0 });
            let saved = cx.fp;
            cx.fp = fp;
            let n = (*callee).nregs as usize;
            for k in (call.argc + 1)..n {
                *base.add(k) = Value::NIL;
            }
            let bound = bind_args(cx, callee, base, call.argc, call.kw, call.list, true);
            cx.fp = saved;
            bound?;
            if (m.reserved & RUBY2_KEYWORDS != 0 || (*callee).keeps_keywords.get()) && call.kw && p.rest && !p.takes_keywords() {
                mark_keywords(base, p);
            }
        }
        for k in (*callee).nil_from..(*callee).nlocals {
            *base.add(k as usize) = Value::NIL;
        }
        fp.write(Frame { ip: (*callee).insns.get(), regs: base, code: callee, block: call.block, me: m.as_value(), aux: 0 });
        cx.fp = fp;
        if p.block {
            let v = cx.block_value(call.block);
            *base.add(p.block_reg() as usize) = v;
            (*fp).block = Block::from_value(v);
        }
        if p.no_block && call.block.is_some() {
            cx.fp = fp.sub(1);
            return cx.arg_error("no block accepted");
        }
        Ok(callee)
    }
}

/// Arguments of a SendX-like instruction in plain order: above the base.
pub struct Laid {
    pub argc: usize,
    /// The last is a keyword Hash.
    pub kw: bool,
    /// Keywords were written, and there are none.
    pub no_keywords: bool,
    /// It is the caller's.
    pub lent: bool,
    /// What the last positional ones were splatted from.
    pub list: List,
    pub block: Block,
}

/// A Hash of the caller's must not reach the callee: a copy takes its place.
pub(super) unsafe fn own_keywords(cx: &mut Cx, base: *mut Value, argc: usize, lent: bool) {
    // SAFETY: caller: if it is lent, the last of argc arguments is the keyword Hash.
    unsafe {
        if lent {
            *base.add(argc) = cx.copy_keywords(Ref::of_unchecked(*base.add(argc))).as_value();
        }
    }
}

/// Brings the arguments of a SendX-like instruction into plain order.
pub unsafe fn spread(cx: &mut Cx, base: *mut Value, x: usize, site: &CallSite, code: &Code) -> Result<Laid> {
    // SAFETY: caller: operands of a verified SendX-like instruction stand at base. `to_block` may run Ruby code, before arguments are spread beyond
    // the window; the splatted Array may be a variable's (`f(*list)`), so it is only read, and nothing runs while it is.
    unsafe {
        let flags = site.flags;
        let has_kw = flags & call_flags::KW != 0;
        let kw_at = base.add(1 + x);
        let mut laid = Laid { argc: x, kw: false, no_keywords: has_kw, lent: false, list: List::None, block: Block::NONE };
        if flags & call_flags::KW_NAMES != 0 {
            let names = &code.keyword_lists[site.keywords as usize];
            let hash = cx.keyword_hash(names, kw_at);
            if flags & call_flags::BLOCKARG != 0 {
                *kw_at.add(1) = *kw_at.add(names.len());
            }
            *kw_at = hash;
        }
        if flags & call_flags::BLOCKARG != 0 {
            let v = *kw_at.add(has_kw as usize);
            let v = cx.to_block(v)?;
            laid.block = Block::from_value(v);
        }
        if flags & call_flags::OWN_BLOCK != 0 {
            laid.block = (*cx.fp).block;
        }
        let kwargs = if has_kw { Ref::<HashCell>::from_value(*kw_at).filter(|h| h.len() > 0) } else { None };
        if flags & call_flags::SPLAT != 0 {
            let at = base.add(x);
            laid.argc -= 1;
            if let Some(a) = Ref::<ArrayCell>::from_value(*at) {
                let n = a.len();
                if base.wrapping_add(laid.argc + n + 8) >= cx.stack_limit {
                    return cx.stack_error();
                }
                for (k, v) in a.elements(&cx.heap).iter().enumerate() {
                    *at.add(k) = *v;
                }
                laid.argc += n;
                // A Hash that a ruby2_keywords method kept becomes keywords again.
                if !has_kw
                    && n > 0
                    && let Some(h) = Ref::<HashCell>::from_value(*at.add(n - 1))
                    && h.header.flags & KEYWORDS != 0
                {
                    (laid.kw, laid.lent, laid.no_keywords) = (h.len() > 0, h.len() > 0, h.len() == 0);
                    laid.argc -= (h.len() == 0) as usize;
                } else {
                    laid.list = if flags & call_flags::SPLAT_FRESH != 0 { List::Own } else { List::Lent };
                    cx.splatted = a.as_value();
                }
            }
        }
        if let Some(h) = kwargs {
            (laid.argc, laid.kw, laid.no_keywords) = (laid.argc + 1, true, false);
            *base.add(laid.argc) = h.as_value();
            laid.lent = flags & (call_flags::KW_FRESH | call_flags::KW_NAMES) == 0;
        }
        Ok(laid)
    }
}

pub unsafe fn send_x(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> bool {
    // SAFETY: the contract of handlers; see `prepare_send_x`. When it has pushed a frame, that is the current one, with a state and a window.
    unsafe {
        (*cx.fp).ip = ip;
        if let Some((f, me, argc)) = lay_for_builtin(cx, ip, regs, cs) {
            return call_native(cx, ip, regs, cs, f, me, argc, Block::NONE);
        }
        match check!(cx, ip, regs, cs, prepare_send_x(cx, ip, regs, cs)) {
            Prepared::Enter => enter(cx, ip, regs, cs),
            Prepared::Entered => {
                let (base, callee) = ((*cx.fp).regs, (*cx.fp).code);
                if polled(cx) {
                    return poll_at(cx, (*callee).insns.get(), base, callee);
                }
                dispatch!(cx, (*callee).insns.get(), base, callee)
            }
            // Where the frame stands, as in `call_native`.
            Prepared::Answered => next!(cx, (*cx.fp).ip, regs, cs),
        }
    }
}

/// How far a call has come.
pub(super) enum Prepared {
    /// `cx.call` is ready.
    Enter,
    /// The callee's frame is the current one.
    Entered,
    /// A builtin or method_missing has answered, its result is in place.
    Answered,
}

/// Lays the arguments out and finds the method.
#[inline(never)]
pub(super) unsafe fn prepare_send_x(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState) -> Result<Prepared> {
    // SAFETY: the contract of handlers; operands as in `spread`. Arguments that were spread may lie above the window: Ruby code that a warning runs
    // is kept above them (`above`), and the cache is written after it, through the state. `target` is the method's state, or null.
    unsafe {
        if push_splat(cx, ip, regs, cs).is_some() {
            return Ok(Prepared::Entered);
        }
        let i = *ip;
        let site = &(&(*cs).code.calls)[i.c as usize];
        let base = regs.add(i.a as usize);
        if site.flags & call_flags::FCALL != 0 && i.b == 0 {
            *base = r!(regs, 0);
        }
        if site.flags & call_flags::KW_NAMES != 0
            && let Some(done) = keyword_call(cx, ip, regs, cs, site)?
        {
            return Ok(done);
        }
        if site.flags & call_flags::SPLAT != 0
            && Ref::<ArrayCell>::from_value(*base.add(i.x as usize)).is_some_and(|a| a.len() > MANY && !cx.has_room_for(a.len()))
            && let Some(answer) = splat_beyond(cx, regs, cs, &i, site)?
        {
            *base = answer;
            return Ok(Prepared::Answered);
        }
        let Laid { argc, kw, lent, mut list, mut block, .. } = spread(cx, base, i.x as usize, site, &(*cs).code)?;
        if let Some(literal) = site.literal_block() {
            cx.child_state(cs, literal as usize);
            block = block_record(cx, regs, cs, i.a, literal);
        }
        let recv = *base;
        let cache = (*cs).calls.add(i.c as usize);
        let key = (cx.epoch as u64) << 32 | recv.shape_key() as u64;
        if (*cache).key != key && !cx.recall(cs, i.c, key) {
            let class = cx.dispatch_class(recv);
            let found = cx.find_method_from(Method::of((*cx.fp).me).cref, class, site.name);
            let m = match found {
                None => Err(MissReason::at(site)),
                Some(m) => refused(cx, m, site, recv, r!(regs, 0)).map_or(Ok(m), Err),
            };
            let m = match m {
                Ok(m) => m,
                Err(why) => {
                    if missing_in_ruby(cx, base, argc, kw, block, site.name, why)? {
                        cx.call.lent = lent;
                        hand_keywords(cx, base);
                        return Ok(Prepared::Enter);
                    }
                    own_keywords(cx, base, argc, lent);
                    *base = missing(cx, base, argc, kw, block, site.name, why)?;
                    return Ok(Prepared::Answered);
                }
            };
            let m = if !block.is_none() && cx.above(base.add(argc + 1), |cx| cx.unused_block(m))? {
                list = List::None;
                cx.find_method_from(Method::of((*cx.fp).me).cref, class, site.name).unwrap_or(m)
            } else {
                m
            };
            cx.state_gets_cells(cs);
            cx.set_aside(cs, i.c);
            (*cache).me = m.as_value();
            (*cache).target = if m.method_kind() == MethodKind::Ruby { cx.method_state(m) as usize } else { 0 };
            (*cache).extra = 0;
            (*cache).handler = handler_x(m, site);
            (*cache).shape = recv.shape_key();
            if site.flags & call_flags::KW_NAMES == 0 && sends(m) {
                prepare_sent_x(cx, base, argc - kw as usize, &mut *cache);
            }
            let open = m.visibility() != Visibility::Protected || site.flags & call_flags::FCALL != 0;
            (*cache).key = if open { (cx.epoch as u64) << 32 | recv.shape_key() as u64 } else { 0 };
        }
        let target = (*cache).target as *const CodeState;
        cx.call = PendingCall { me: (*cache).me, argc, kw, lent, list, block, name: site.name, state: target };
        if site.flags & call_flags::KW_NAMES == 0 && (*cache).extra != 0 {
            if !sends_known(cx, base, &*cache) && !sends_on(cx, base) {
                let Some(m) = sender(cx, recv, site.name) else { return Ok(Prepared::Enter) };
                (cx.call.me, cx.call.state) = (m.as_value(), std::ptr::null());
            }
            hand_keywords(cx, base);
            return Ok(Prepared::Enter);
        }
        let m: Method = Ref::of_unchecked((*cache).me);
        if pass_on(cx, base, m)? {
            return Ok(Prepared::Entered);
        }
        hand_keywords(cx, base);
        Ok(Prepared::Enter)
    }
}

/// `f(a, *list)` with a list that has no room in the stack: the call's answer. None: not such a call, and nothing has happened.
#[cold]
#[inline(never)]
unsafe fn splat_beyond(cx: &mut Cx, regs: *mut Value, cs: *const CodeState, i: &Insn, site: &CallSite) -> Result<Option<Value>> {
    use call_flags::*;
    // SAFETY: the contract of handlers; operands as in `spread`, the receiver stands at the base. `to_block` may run Ruby code, so the list is read after it.
    unsafe {
        let (base, x) = (regs.add(i.a as usize), i.x as usize);
        let Some(last) = Ref::<ArrayCell>::from_value(*base.add(x)).and_then(|a| a.elements(&cx.heap).last().copied()) else {
            return Ok(None);
        };
        if site.flags & (KW | KW_NAMES) != 0 || last.is_kind(Kind::Hash) && last.flags() & KEYWORDS != 0 {
            return Ok(None);
        }
        let recv = *base;
        let class = cx.dispatch_class(recv);
        let m = match cx.find_method_from(Method::of((*cx.fp).me).cref, class, site.name) {
            None => Err(MissReason::at(site)),
            Some(m) => refused(cx, m, site, recv, r!(regs, 0)).map_or(Ok(m), Err),
        };
        let block = if site.flags & BLOCKARG != 0 {
            let v = cx.to_block(*base.add(1 + x))?;
            *base.add(1 + x) = v;
            Block::from_value(v)
        } else if let Some(literal) = site.literal_block() {
            cx.child_state(cs, literal as usize);
            block_record(cx, regs, cs, i.a, literal)
        } else if site.flags & OWN_BLOCK != 0 {
            (*cx.fp).block
        } else {
            Block::NONE
        };
        let Some(list) = Ref::<ArrayCell>::from_value(*base.add(x)) else { return Ok(None) };
        let own = match x {
            1 => ArrayCell::slice(&cx.heap, ids::ARRAY.0, list, 0, list.len()),
            _ => {
                let all = ArrayCell::plain(&cx.heap, std::slice::from_raw_parts(base.add(1), x - 1));
                ArrayCell::extend_from(all, &mut cx.heap, list);
                all
            }
        };
        *base.add(x) = own.as_value();
        let answer = match m {
            Ok(m) => cx.call_with_list(m, recv, own, block),
            // What the slice shows is nobody else's, and stands in the window.
            Err(why) => {
                cx.call_missing(recv, site.name, std::slice::from_raw_parts(own.elements(&cx.heap).as_ptr(), own.len()), false, block, why)
            }
        };
        answer.map(Some)
    }
}

/// Whether it is the builtin Proc#call.
pub(super) fn calls_proc(m: Method) -> bool {
    Cx::native_row(m).is_some_and(|r| r.class == ids::PROC && !r.singleton && r.names[0] == "call")
}
/// The Proc, if it is one of a literal block.
pub(super) fn block_of_proc(v: Value) -> Option<Ref<ProcCell>> {
    Ref::<ProcCell>::from_value(v).filter(|p| p.proc_kind() == ProcKind::Block)
}

/// The call that `cx.call` describes, if it is one of a builtin that only passes it on, becomes that of what is written in Ruby behind it: no native frame
/// in between, and no second interpreter. True: a Proc's frame is the current one.
#[inline(never)]
unsafe fn pass_on(cx: &mut Cx, base: *mut Value, m: Method) -> Result<bool> {
    // SAFETY: caller: argc values stand above the base, and the frame's `ip` is stored. A Proc's code is alive while a frame runs it.
    unsafe {
        if m.method_kind() != MethodKind::Native || cx.tracing != 0 {
            return Ok(false);
        }
        if sends(m) {
            sends_on(cx, base);
            return Ok(false);
        }
        if !calls_proc(m) {
            return Ok(false);
        }
        let Some(p) = Ref::<ProcCell>::from_value(*base) else { return Ok(false) };
        match p.proc_kind() {
            ProcKind::Block => {
                give_keywords(cx, base);
                let call = cx.call;
                push_block_frame(cx, Block(p.as_value().bits()), base, call.argc, call.kw, call.list, call.block, None, 0)?;
                Ok(true)
            }
            ProcKind::Symbol => {
                if let Some((recv, name, to)) = first_argument(cx, base).and_then(|recv| symbol_target(cx, p, recv))
                    && becomes(cx, base, to, name, false)
                {
                    *base = recv;
                }
                Ok(false)
            }
            _ => Ok(false),
        }
    }
}
/// The first positional argument of `cx.call`.
pub(super) unsafe fn first_argument(cx: &Cx, base: *const Value) -> Option<Value> {
    // SAFETY: caller: argc values stand above the base.
    (cx.call.argc > cx.call.kw as usize).then(|| unsafe { *base.add(1) })
}
/// What the Proc of `&:name` calls on an object: that, the name and the method, unless refinements count.
pub(super) fn symbol_target(cx: &mut Cx, p: Ref<ProcCell>, recv: Value) -> Option<(Value, Sym, Method)> {
    let name = cx.name_of_symbol_proc(p)?;
    cx.method_of(recv, name).filter(|m| m.visibility() == Visibility::Public).map(|m| (recv, name, m))
}
/// `cx.call` becomes the call of that method without the first argument, when it is written in Ruby, or a builtin and these may be called so.
pub(super) unsafe fn becomes(cx: &mut Cx, base: *mut Value, m: Method, name: Sym, builtins: bool) -> bool {
    // SAFETY: caller: argc values stand above the base, at least one of them.
    unsafe {
        let state = match m.method_kind() {
            MethodKind::Ruby => cx.method_state(m),
            MethodKind::Proc => std::ptr::null(),
            MethodKind::Native if builtins => std::ptr::null(),
            _ => return false,
        };
        let call = cx.call;
        std::ptr::copy(base.add(2), base.add(1), call.argc - 1);
        cx.call = PendingCall { me: m.as_value(), argc: call.argc - 1, name, state, ..call };
        true
    }
}

/// `cx.call` becomes the call of a method_missing in Ruby, with the name before the arguments. False: there is none.
#[inline(never)]
unsafe fn missing_in_ruby(cx: &mut Cx, base: *mut Value, argc: usize, kw: bool, block: Block, name: Sym, why: MissReason) -> Result<bool> {
    // SAFETY: caller: argc values stand above the base, and nothing that is in use above them. Room for one more is made sure of.
    unsafe {
        let m = match cx.method_of(*base, sym::method_missing) {
            Some(m) if m.method_kind() == MethodKind::Ruby => m,
            _ => return Ok(false),
        };
        if base.wrapping_add(argc + 8) >= cx.stack_limit {
            return cx.stack_error();
        }
        std::ptr::copy(base.add(1), base.add(2), argc);
        *base.add(1) = Value::sym(name);
        // For the builtin, should the method call super.
        cx.missing_reason = why;
        let state = cx.method_state(m);
        cx.call =
            PendingCall { me: m.as_value(), argc: argc + 1, kw, lent: false, list: List::None, block, name: sym::method_missing, state };
        Ok(true)
    }
}

/// Makes the keyword Hash of `cx.call` one that its callee may be given.
pub(super) unsafe fn hand_keywords(cx: &mut Cx, base: *mut Value) {
    // SAFETY: caller: `cx.call` describes a call whose arguments stand above the base.
    unsafe {
        if !cx.call.kw {
            return;
        }
        let m: Method = Ref::of_unchecked(cx.call.me);
        let in_ruby = match m.method_kind() {
            MethodKind::Ruby => true,
            MethodKind::Proc => block_of_proc(m.data).is_some(),
            _ => false,
        };
        if in_ruby { give_keywords(cx, base) } else { own_keywords(cx, base, cx.call.argc, cx.call.lent) }
    }
}
/// The same for a callee that is written in Ruby: `bind_args` copies what was not handed over, if it has to.
pub(super) unsafe fn give_keywords(cx: &mut Cx, base: *mut Value) {
    // SAFETY: as in `hand_keywords`: the last of argc arguments is the keyword Hash.
    unsafe {
        match cx.call {
            PendingCall { kw: false, .. } => {}
            PendingCall { argc, lent: false, .. } => (*base.add(argc)).set_flags(HANDED_OVER),
            // One that is left from a call which was never entered.
            PendingCall { argc, .. } => _ = HashCell::take_over(Ref::of_unchecked(*base.add(argc))),
        }
    }
}

impl Cx {
    /// `&value` in a call: nil, a Proc, or its `to_proc`.
    pub fn to_block(&mut self, v: Value) -> Result<Value> {
        if v.is_nil() || v.is_kind(Kind::Proc) {
            return Ok(v);
        }
        if let Some(s) = v.as_sym()
            && self.is_builtin(v, sym::to_proc, ids::SYMBOL)
        {
            return Ok(self.symbol_proc(s));
        }
        let c = self.class_name_of(v);
        let refined = match self.active_refinements(self.current_cref()) {
            Some(_) => self.method_of_here(v, sym::to_proc).filter(|m| self.refined_class(m.owner).is_some()),
            None => None,
        };
        let given = match refined {
            Some(m) => Some(self.call_method(m, v, sym::to_proc, &[], false, Block::NONE)?),
            None => self.call_if_responds(v, sym::to_proc, &[])?,
        };
        match given {
            Some(p) if p.is_kind(Kind::Proc) => Ok(p),
            Some(p) => {
                let g = self.class_name_of(p);
                self.type_error(format!("can't convert {c} to Proc ({c}#to_proc gives {g})"))
            }
            None => self.no_conversion(v, "Proc"),
        }
    }
    /// Calls a hook (`inherited`, `method_added`, ...) unless it is the builtin that does nothing.
    pub fn call_hook(&mut self, v: Value, name: Sym, arg: Value) -> Result<()> {
        match self.method_of(v, name) {
            // Those of the core do nothing.
            Some(m) if m.method_kind() == MethodKind::Native && self.tracing == 0 => {}
            Some(m) if m.method_kind() == MethodKind::Native => {
                self.call_told(m, v, name, &[arg], false, Block::NONE)?;
            }
            Some(m) => {
                self.call_method(m, v, name, &[arg], false, Block::NONE)?;
            }
            None if self.in_boot => {}
            // Undefined: method_missing, or NoMethodError.
            None => {
                self.call_private(v, name, &[arg])?;
            }
        }
        Ok(())
    }
    /// Warning with file and line of the innermost Ruby frame, when warnings are on (`$VERBOSE` not nil).
    pub fn warn_here(&mut self, message: &str) -> Result<()> {
        let place = self.here();
        self.warn_at(place, message)
    }
    /// The same for another place.
    pub fn warn_at(&mut self, place: Option<(std::sync::Arc<str>, u32)>, message: &str) -> Result<()> {
        if self.options.verbose.is_none() && self.global_peek(sym::verbose).is_none() || self.global_peek(sym::verbose) == Some(Value::NIL)
        {
            return Ok(());
        }
        let line = match place {
            Some((f, l)) => format!("{f}:{l}: warning: {message}\n"),
            None => format!("warning: {message}\n"),
        };
        crate::library::library().warn(self, &line)
    }
}
