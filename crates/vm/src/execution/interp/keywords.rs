//! Keywords that are passed by name: bound to the callee's registers without a Hash in between.
//!
//! A call site whose keywords are all written as Symbols pushes their values and has a list of their names (`call_flags::KW_NAMES`). A method, a method's
//! block body or a Proc that takes keywords gets them put in place, also through `send` and `new`; a native with a parameter of type `Kwargs` looks at them where they stand; whoever wants a Hash (other natives, a callee without
//! keywords, too few or unknown names: the error is the general way's) gets one made by `spread`.

use crate::builtin::{Block, NAMES_FLAG};
use crate::frame::*;
use crate::interp::RUBY2_KEYWORDS;
use crate::interp::blocks::{activation, rest_list};
use crate::interp::calls::{Prepared, RUBY_CALLS, block_of_proc, block_record, calls_proc, put_around, run_builtin, symbol_target};
use crate::interp::missing::MissReason;
use crate::interp::sent::sends;
use crate::methods::Method;
use crate::raise::Result;
use crate::vm::{Cx, List};

use zakuro_bytecode::{CallSite, Insn, KwRest, MAX_KEYWORDS, Params, call_flags};
use zakuro_object::*;

/// What is entered, and as what.
enum Callee {
    Method(Method, *const CodeState),
    /// `initialize` in Ruby of a new object of this class.
    Initialize(Method, *const CodeState, ClassId),
    /// The block that is a method's body.
    Body(Method, Block, *const CodeState),
    Proc(Block, *const CodeState),
}

impl Callee {
    /// None: natives and the like, which take a Hash. `target`: the state of a Ruby method, if it is known.
    fn of(cx: &mut Cx, m: Method, target: *const CodeState, recv: Value) -> Option<Callee> {
        match m.method_kind() {
            MethodKind::Ruby => Some(Callee::Method(m, if target.is_null() { cx.method_state(m) } else { target })),
            MethodKind::Proc => block_of_proc(m.data).map(|p| Callee::Body(m, Block(m.data.bits()), p.code as *const CodeState)),
            MethodKind::Native if m.owner == ids::CLASS && m.name == sym::new => {
                let id = cx.class_id(recv)?;
                let d = cx.class(id);
                if !matches!(d.alloc, Alloc::Object) || d.kind != ClassKind::Class {
                    return None;
                }
                let init = cx.find_method(id, sym::initialize).filter(|m| m.method_kind() == MethodKind::Ruby)?;
                Some(Callee::Initialize(init, cx.method_state(init), id))
            }
            MethodKind::Native if cx.tracing == 0 && calls_proc(m) => {
                block_of_proc(recv).map(|p| Callee::Proc(Block(recv.bits()), p.code as *const CodeState))
            }
            _ => None,
        }
    }
}

/// Tries to enter or to call what a SendX site with KW_NAMES calls. None: nothing has happened, but that a block argument has become a Proc.
///
/// # Safety
/// As for the handlers; the frame's `ip` is stored, the receiver is in place.
pub unsafe fn keyword_call(
    cx: &mut Cx,
    ip: *const Insn,
    regs: *mut Value,
    cs: *const CodeState,
    site: &CallSite,
) -> Result<Option<Prepared>> {
    // SAFETY: operands of a verified instruction: x values (or one Array), one value for each name, and the block argument stand above the base.
    unsafe {
        let i = *ip;
        let base = regs.add(i.a as usize);
        let x = i.x as usize;
        let names = &(&(*cs).code.keyword_lists)[site.keywords as usize];
        let mut block = Block::NONE;
        if site.flags & call_flags::BLOCKARG != 0 {
            let at = base.add(1 + x + names.len());
            *at = cx.to_block(*at)?;
            block = Block::from_value(*at);
        }
        if site.flags & call_flags::OWN_BLOCK != 0 {
            block = (*cx.fp).block;
        }
        let recv = *base;
        let cache = (*cs).calls.add(i.c as usize);
        let key = (cx.epoch as u64) << 32 | recv.shape_key() as u64;
        if (*cache).key != key && !cx.recall(cs, i.c, key) {
            // The general way fills the cache, and knows about errors.
            let class = cx.dispatch_class(recv);
            match cx.find_method_from(Method::of((*cx.fp).me).cref, class, site.name) {
                Some(m) if m.visibility() == Visibility::Public || site.flags & call_flags::FCALL != 0 => {
                    if (site.literal_block().is_some() || block.is_some()) && cx.unused_block(m)? {
                        return Ok(None);
                    }
                    cx.state_gets_cells(cs);
                    cx.set_aside(cs, i.c);
                    (*cache).me = m.as_value();
                    (*cache).target = if m.method_kind() == MethodKind::Ruby { cx.method_state(m) as usize } else { 0 };
                    let by_name = site.flags & call_flags::SPLAT == 0 && Cx::native_row(m).is_some_and(|r| r.by_name);
                    (*cache).extra = if by_name { BUILTIN } else { 0 };
                    (*cache).handler = RUBY_CALLS.generic;
                    (*cache).shape = recv.shape_key();
                    (*cache).key = key;
                }
                None if site.flags & call_flags::SPLAT == 0 && site.literal_block().is_none() => {
                    return missing(cx, base, x, names, block, site);
                }
                _ => return Ok(None),
            }
        }
        let mut m: Method = Ref::of_unchecked((*cache).me);
        let mut target = (*cache).target as *const CodeState;
        if (*cache).extra & KNOWN != 0 {
            let fp = cx.fp.add(1);
            if fp >= cx.frame_limit || base.wrapping_add((*target).nregs as usize + x + names.len() + 2) >= cx.stack_limit {
                return cx.stack_error();
            }
            if let Some(literal) = site.literal_block() {
                block = block_record(cx, regs, cs, i.a, literal);
            }
            place_known(&(*target).code.params, base, x, names.len(), (*cache).extra);
            let is_block = (*cache).handler as usize == RUBY_CALLS.defined as usize;
            push(cx, base, target, m.as_value(), if is_block { FRAME_DEFINED } else { 0 }, block);
            if is_block {
                put_around(base, cache);
            }
            return Ok(Some(Prepared::Entered));
        }
        if (*cache).extra & BUILTIN != 0 && cx.tracing == 0 {
            if let Some(literal) = site.literal_block() {
                cx.child_state(cs, literal as usize);
                block = block_record(cx, regs, cs, i.a, literal);
            }
            if base.wrapping_add(x + names.len() + 2) >= cx.stack_limit {
                return cx.stack_error();
            }
            cx.given_names = std::ptr::from_ref(&**names);
            let argc = (x + names.len()) | NAMES_FLAG;
            *base = run_builtin(cx, base, Cx::native_fn(m), m.as_value(), argc, block)?;
            return Ok(Some(Prepared::Answered));
        }
        let splat = site.flags & call_flags::SPLAT != 0;
        let list = if splat { Ref::<ArrayCell>::from_value(*base.add(x)) } else { None };
        let leading = x - splat as usize;
        let mut given = Given { values: base.add(1), leading, list, skip: 0, count: leading + list.map_or(0, |a| a.len()) };
        let first = match list {
            _ if given.count == 0 => None,
            Some(a) if leading == 0 => a.get(0),
            _ => Some(*base.add(1)),
        };
        let mut recv = recv;
        let to = match () {
            _ if cx.tracing != 0 || !target.is_null() => None,
            _ if sends(m) => match first.and_then(|n| n.as_sym()).and_then(|name| cx.method_of_here(recv, name)) {
                Some(to) => Some(to),
                None => return Ok(None),
            },
            _ if calls_proc(m) => match (Ref::<ProcCell>::from_value(recv), first) {
                (Some(p), Some(first)) if p.proc_kind() == ProcKind::Symbol => match symbol_target(cx, p, first) {
                    Some((of, _, to)) => {
                        recv = of;
                        Some(to)
                    }
                    None => return Ok(None),
                },
                _ => None,
            },
            _ => None,
        };
        if let Some(to) = to {
            (m, target) = (to, std::ptr::null());
            (given.skip, given.count) = (1, given.count - 1);
        }
        let Some(callee) = Callee::of(cx, m, target, recv) else { return Ok(None) };
        let (Callee::Method(_, code) | Callee::Initialize(_, code, _) | Callee::Body(_, _, code) | Callee::Proc(_, code)) = callee;
        let p: &Params = &(*code).code.params;
        let reserved = if let Callee::Proc(..) = callee { 0 } else { m.reserved };
        if reserved & RUBY2_KEYWORDS != 0 || !takes(p, given.count, names) {
            return Ok(None);
        }
        let fp = cx.fp.add(1);
        if fp >= cx.frame_limit || base.wrapping_add((*code).nregs as usize + given.count + names.len() + 2) >= cx.stack_limit {
            return cx.stack_error();
        }
        if let Some(literal) = site.literal_block() {
            cx.child_state(cs, literal as usize);
            block = block_record(cx, regs, cs, i.a, literal);
        }
        let mut keywords = [Value::NIL; MAX_KEYWORDS];
        let n = names.len().min(MAX_KEYWORDS);
        let whole = match (list, site.flags & call_flags::SPLAT_FRESH) {
            (None, _) => List::None,
            (Some(_), 0) => List::Lent,
            _ => List::Own,
        };
        cx.splatted = list.map_or(Value::NIL, |a| a.as_value());
        std::ptr::copy_nonoverlapping(base.add(1 + x), keywords.as_mut_ptr(), n);
        let window = match callee {
            // As for `new_object`: the object stays below, the window of `initialize` begins one register further.
            Callee::Initialize(..) => base.add(1),
            _ => base,
        };
        given.lay(cx, window.add(1));
        place(cx, code, window, given.count, whole, names, &keywords[..n]);
        let mut env = Value::NIL;
        let (me, aux) = match callee {
            Callee::Method(m, _) => {
                *window = recv;
                (m.as_value(), 0)
            }
            Callee::Initialize(init, _, id) => {
                *base = cx.new_object(id);
                *window = *base;
                (init.as_value(), 0)
            }
            Callee::Body(m, b, _) => {
                let Some(a) = activation(b) else { return Ok(None) };
                env = a.env;
                *window = recv;
                (m.as_value(), a.flags | FRAME_LAMBDA | FRAME_BMETHOD)
            }
            Callee::Proc(b, ..) => {
                let Some(a) = activation(b) else { return Ok(None) };
                env = a.env;
                *window = a.self_;
                (a.me, a.flags)
            }
        };
        push(cx, window, code, me, aux, block);
        if aux & FRAME_BLOCK != 0 && (*code).env_reg != 0 {
            *window.add((*code).env_reg as usize) = env;
        }
        let handler = match callee {
            Callee::Method(..) => RUBY_CALLS.named,
            Callee::Body(..) if aux == FRAME_DEFINED => RUBY_CALLS.defined,
            _ => RUBY_CALLS.generic,
        };
        if handler as usize != RUBY_CALLS.generic as usize && to.is_none() && !splat {
            (*cache).extra = known(p, x, names);
            if (*cache).extra != 0 {
                (*cache).target = code as usize;
                (*cache).handler = handler;
            }
        }
        Ok(Some(Prepared::Entered))
    }
}

/// The same of a call that no method answers, by a method_missing in Ruby that takes such keywords.
unsafe fn missing(cx: &mut Cx, base: *mut Value, x: usize, names: &[Sym], block: Block, site: &CallSite) -> Result<Option<Prepared>> {
    // SAFETY: as in `keyword_call`: x values stand above the receiver, and one for each name. Making objects does not collect.
    unsafe {
        let Some(m) = cx.method_of(*base, sym::method_missing).filter(|m| m.method_kind() == MethodKind::Ruby) else { return Ok(None) };
        let code = cx.method_state(m);
        let p: &Params = &(*code).code.params;
        if cx.tracing != 0 || m.reserved & RUBY2_KEYWORDS != 0 || !takes(p, x + 1, names) {
            return Ok(None);
        }
        let fp = cx.fp.add(1);
        if fp >= cx.frame_limit || base.wrapping_add((*code).nregs as usize + x + 1 + names.len() + 2) >= cx.stack_limit {
            return cx.stack_error();
        }
        let mut keywords = [Value::NIL; MAX_KEYWORDS];
        let n = names.len().min(MAX_KEYWORDS);
        std::ptr::copy_nonoverlapping(base.add(1 + x), keywords.as_mut_ptr(), n);
        std::ptr::copy(base.add(1), base.add(2), x);
        *base.add(1) = Value::sym(site.name);
        // For the builtin, should the method call super.
        cx.missing_reason = MissReason::at(site);
        place(cx, code, base, x + 1, List::None, names, &keywords[..n]);
        push(cx, base, code, m.as_value(), 0, block);
        Ok(Some(Prepared::Entered))
    }
}

/// Pushes the frame of a callee whose parameters are in place.
#[inline(always)]
unsafe fn push(cx: &mut Cx, window: *mut Value, code: *const CodeState, me: Value, aux: usize, block: Block) {
    // SAFETY: the caller has made room for the frame and its window.
    unsafe {
        for k in (*code).nil_from..(*code).nlocals {
            *window.add(k as usize) = Value::NIL;
        }
        let fp = cx.fp.add(1);
        fp.write(Frame { ip: (*code).insns.get(), regs: window, code, block, me, aux });
        cx.fp = fp;
        let p = &(*code).code.params;
        if p.block {
            let v = cx.block_value(block);
            *window.add(p.block_reg() as usize) = v;
            (*fp).block = Block::from_value(v);
        }
    }
}

/// In `CallCache::extra` of a site with names: the arguments fit what `target` takes, and the lower bits tell, [`BITS`] for each of its keywords, which of the site's values it is, counted from 1; 0: none.
const KNOWN: u32 = 1 << 31;
/// There: a builtin that takes the values as they stand ([`NAMES_FLAG`]).
const BUILTIN: u32 = 1 << 30;
const BITS: u32 = 4;

/// What a site knows of a callee that it has been found to fit; 0 if that can't be said in a few bits.
fn known(p: &Params, count: usize, names: &[Sym]) -> u32 {
    let few = p.keywords.len() <= (31 / BITS) as usize && names.len() < 1 << BITS;
    if !few || p.rest || p.post > 0 || p.kwrest != KwRest::None || count > (p.required + p.optional) as usize {
        return 0;
    }
    let at = |k: &Sym| names.iter().position(|n| n == k).map_or(0, |i| i as u32 + 1);
    p.keywords.iter().enumerate().fold(KNOWN, |sum, (i, k)| sum | at(&k.name) << (i as u32 * BITS))
}
/// Moves the values of a call to the parameter registers, as [`known`] tells.
unsafe fn place_known(p: &Params, base: *mut Value, count: usize, names: usize, known: u32) {
    // SAFETY: the caller has made room. There are fewer names than places, by `known`.
    unsafe {
        let mut values = [const { std::mem::MaybeUninit::<Value>::uninit() }; 1 << BITS];
        std::ptr::copy_nonoverlapping(base.add(1 + count), values.as_mut_ptr() as *mut Value, names);
        for k in count..(p.required + p.optional) as usize {
            *base.add(1 + k) = Value::UNDEF;
        }
        let to = base.add(p.keyword_start() as usize);
        for k in 0..p.keywords.len() {
            let from = known >> (k as u32 * BITS) & ((1 << BITS) - 1);
            *to.add(k) = if from == 0 { Value::UNDEF } else { values[from as usize - 1].assume_init() };
        }
    }
}

/// Positional arguments where a call site left them: `count` of them behind `skip` others, in registers and then in an Array.
struct Given {
    values: *const Value,
    /// Number of those in registers.
    leading: usize,
    list: Option<Ref<ArrayCell>>,
    skip: usize,
    count: usize,
}

impl Given {
    /// Writes them to `to`, which may be where they stand.
    unsafe fn lay(&self, cx: &Cx, to: *mut Value) {
        // SAFETY: the caller has made room; nothing changes or frees the Array meanwhile.
        unsafe {
            let n = self.leading.saturating_sub(self.skip);
            std::ptr::copy(self.values.add(self.skip), to, n);
            if let Some(a) = self.list {
                for (k, v) in a.elements(&cx.heap)[self.skip.saturating_sub(self.leading)..].iter().enumerate() {
                    *to.add(n + k) = *v;
                }
            }
        }
    }
}

/// Whether `count` positional values and keywords of these names fit without an error, and without filling up or leaving out values as Procs do.
fn takes(p: &Params, count: usize, names: &[Sym]) -> bool {
    let (least, most) = p.arity_range();
    p.takes_keywords()
        && !p.no_block
        && count >= least
        && most.is_none_or(|m| count <= m)
        && (p.kwrest == KwRest::Named || names.iter().all(|n| p.keywords.iter().any(|k| k.name == *n)))
        && p.keywords.iter().all(|k| !k.required || names.contains(&k.name))
}

/// Moves the values to the parameter registers: `count` positional ones stand above the base.
unsafe fn place(cx: &mut Cx, code: *const CodeState, base: *mut Value, count: usize, list: List, names: &[Sym], values: &[Value]) {
    // SAFETY: the caller has made room for the parameters and `count` values more. Making objects does not collect.
    unsafe {
        let p: &Params = &(*code).code.params;
        let (required, optional, post) = (p.required as usize, p.optional as usize, p.post as usize);
        let filled = (count - required - post).min(optional);
        let from = base.add(1 + required + filled);
        let more = count - required - post - filled;
        let rest = if p.rest { rest_list(cx, code, list, std::slice::from_raw_parts(from, more), post) } else { Value::UNDEF };
        std::ptr::copy(from.add(more), base.add(p.post_start() as usize), post);
        for k in filled..optional {
            *base.add(1 + required + k) = Value::UNDEF;
        }
        if p.rest {
            *base.add(p.rest_reg() as usize) = rest;
        }
        let to = base.add(p.keyword_start() as usize);
        for (k, kw) in p.keywords.iter().enumerate() {
            *to.add(k) = names.iter().position(|n| *n == kw.name).map_or(Value::UNDEF, |i| values[i]);
        }
        if p.kwrest == KwRest::Named {
            let mut others = ([sym::empty; MAX_KEYWORDS], [Value::NIL; MAX_KEYWORDS], 0);
            for (n, v) in names.iter().zip(values).filter(|(n, _)| p.keywords.iter().all(|k| k.name != **n)) {
                others.0[others.2] = *n;
                others.1[others.2] = *v;
                others.2 += 1;
            }
            *base.add(p.kwrest_reg() as usize) = match others.2 {
                0 if (*code).nameless_kwrest => Value::NIL,
                0 => cx.new_hash().as_value(),
                n => cx.keyword_hash(&others.0[..n], others.1.as_ptr()),
            };
        }
    }
}

impl Cx {
    /// Whether it is an object of Hash itself, without a default, variables, and the like.
    pub(crate) fn is_plain_hash(&self, h: Ref<HashCell>) -> bool {
        h.header.shape == ids::HASH.0 && h.default.is_nil() && !h.by_identity()
    }
    /// A Hash of keywords of its own for a callee. As in CRuby it is as what was written behind `**`: of its class, with its default and variables.
    pub(crate) fn copy_keywords(&mut self, from: Ref<HashCell>) -> Ref<HashCell> {
        if self.is_plain_hash(from) {
            let copy = self.new_hash();
            HashCell::replace(copy, &mut self.heap, from);
            return copy;
        }
        let class = self.class_of(from.as_value());
        let copy = HashCell::make(&self.heap, self.root_shape(class));
        HashCell::replace(copy, &mut self.heap, from);
        HashCell::set_default(copy, from.default, from.default_is_proc());
        self.ivar_copy(from.as_value(), copy.as_value());
        copy
    }
    /// The Hash of keywords that were passed by name: the values stand at `values`.
    ///
    /// # Safety
    /// As many values as names.
    pub(crate) unsafe fn keyword_hash(&mut self, names: &[Sym], values: *const Value) -> Value {
        let (h, seed) = (self.new_hash(), self.hash_seed);
        HashCell::fill(h, &mut self.heap, names.len(), |table| {
            for (i, n) in names.iter().enumerate() {
                let key = Value::sym(*n);
                // SAFETY: caller.
                table.push(seed.word(key.bits()), key, unsafe { *values.add(i) });
            }
        });
        h.as_value()
    }

    /// The Hash of a literal: `n` registers of keys and values in turn.
    ///
    /// # Safety
    /// The registers hold values.
    #[inline(never)]
    pub(crate) unsafe fn hash_literal(&mut self, first: *const Value, n: usize) -> Result<Value> {
        // SAFETY: caller.
        unsafe {
            let h = self.new_hash();
            let mut k = 0;
            if n > 0 {
                let seed = self.hash_seed;
                HashCell::fill(h, &mut self.heap, n / 2, |table| {
                    // Different Symbols and the like need no comparing by Ruby code.
                    while k < n && !(*first.add(k)).is_cell() {
                        let (key, value) = (*first.add(k), *first.add(k + 1));
                        let hash = seed.word(key.bits());
                        match table.find_word(key, || hash) {
                            Some(at) => table.set_value(at, value),
                            None => table.push_one_of_few(hash, key, value),
                        }
                        k += 2;
                    }
                });
            }
            while k < n {
                self.hash_set(h, *first.add(k), *first.add(k + 1))?;
                k += 2;
            }
            Ok(h.as_value())
        }
    }
}
