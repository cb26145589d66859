//! Keywords that are passed by name: bound to the callee's registers without a Hash in between.
//!
//! A call site whose keywords are all written as Symbols pushes their values and has a list of their names (`call_flags::KW_NAMES`). A method that
//! names its keywords gets them put in place; whoever wants a Hash (`**opts`, a native, a block, too few or unknown names: the error is
//! the general way's) gets one made by `lay_out`.

use crate::builtin::Block;
use crate::frame::{CodeState, Frame};
use crate::interp::RUBY2_KEYWORDS;
use crate::interp::calls::block_record;
use crate::methods::Method;
use crate::raise::Result;
use crate::vm::Cx;

use zakuro_bytecode::{CallSite, Insn, KwRest, MAX_KEYWORDS, NO_BLOCK, Params, call_flags};
use zakuro_object::*;

/// Tries to enter the Ruby method of a SendX site with KW_NAMES, without splat and block argument. False: nothing has happened.
///
/// # Safety
/// As for the handlers; the frame's `ip` is stored, the receiver is in place.
pub unsafe fn keyword_call(cx: &mut Cx, ip: *const Insn, regs: *mut Value, cs: *const CodeState, site: &CallSite) -> Result<bool> {
    // SAFETY: operands of a verified instruction.
    unsafe {
        let i = *ip;
        let base = regs.add(i.a as usize);
        let recv = *base;
        let cache = (*cs).calls.add(i.c as usize);
        let key = (cx.epoch as u64) << 32 | recv.shape_key() as u64;
        if (*cache).key != key && !cx.recall(cs, i.c, key) {
            // The general way fills the cache, and knows about errors.
            let class = cx.dispatch_class(recv);
            match cx.find_method_from(Method::of((*cx.fp).me).cref, class, site.name) {
                Some(m) if m.visibility() == Visibility::Public || site.flags & call_flags::FCALL != 0 => {
                    if site.block != NO_BLOCK && cx.unused_block(m)? {
                        return Ok(false);
                    }
                    cx.state_gets_cells(cs);
                    cx.set_aside(cs, i.c);
                    (*cache).me = m.as_value();
                    (*cache).target = if m.method_kind() == MethodKind::Ruby { cx.method_state(m) as usize } else { 0 };
                    (*cache).key = key;
                }
                _ => return Ok(false),
            }
        }
        let m: Method = Ref::of_unchecked((*cache).me);
        let x = i.x as usize;
        let names = &(&(*cs).code.keyword_lists)[site.keywords as usize];
        let (m, class) = match m.method_kind() {
            MethodKind::Ruby => (m, None),
            // Class#new with an `initialize` in Ruby.
            MethodKind::Native if m.owner == ids::CLASS && site.name == sym::new => {
                let Some(id) = cx.class_id(recv) else { return Ok(false) };
                let d = cx.class(id);
                if !matches!(d.alloc, Alloc::Object) || d.kind != ClassKind::Class {
                    return Ok(false);
                }
                match cx.find_method(id, sym::initialize) {
                    Some(init) if init.method_kind() == MethodKind::Ruby => (init, Some(id)),
                    _ => return Ok(false),
                }
            }
            _ => return Ok(false),
        };
        let callee = match class {
            None => (*cache).target as *const CodeState,
            Some(_) => cx.method_state(m),
        };
        let p: &Params = &(*callee).code.params;
        if !takes(p, m, x, names) {
            return Ok(false);
        }
        let fp = cx.fp.add(1);
        if fp >= cx.frame_limit || base.wrapping_add((*callee).nregs as usize + x + names.len() + 2) >= cx.stack_limit {
            return cx.stack_error();
        }
        let block = match site.block {
            NO_BLOCK => Block::NONE,
            child => {
                cx.child_state(cs, child as usize);
                block_record(cx, regs, cs, i.a, child)
            }
        };
        let base = match class {
            None => base,
            Some(id) => {
                // As for `new_object`: the object stays below, the window of `initialize` begins one register further.
                std::ptr::copy(base.add(1), base.add(2), x + names.len());
                let object = cx.new_object(id);
                *base = object;
                *base.add(1) = object;
                base.add(1)
            }
        };
        place(p, base, x, names);
        for k in (*callee).nil_from..(*callee).nlocals {
            *base.add(k as usize) = Value::NIL;
        }
        fp.write(Frame { ip: (*callee).insns.get(), regs: base, code: callee, block, me: m.as_value(), aux: 0 });
        cx.fp = fp;
        if p.block {
            let v = cx.block_value(block);
            *base.add(p.block_reg() as usize) = v;
            (*fp).block = Block::from_value(v);
        }
        Ok(true)
    }
}

/// Whether `x` positional values and keywords of these names fit without a Hash or an error.
fn takes(p: &Params, m: Method, x: usize, names: &[Sym]) -> bool {
    let (required, optional) = (p.required as usize, p.optional as usize);
    let plain = !p.rest && p.post == 0 && p.kwrest == KwRest::None && !p.no_block && m.reserved & RUBY2_KEYWORDS == 0;
    plain
        && !p.keywords.is_empty()
        && (required..=required + optional).contains(&x)
        && names.iter().all(|n| p.keywords.iter().any(|k| k.name == *n))
        && p.keywords.iter().all(|k| !k.required || names.contains(&k.name))
}

/// Moves the values to the parameter registers.
unsafe fn place(p: &Params, base: *mut Value, x: usize, names: &[Sym]) {
    // SAFETY: the caller has checked the room; values stand behind `x` positional ones.
    unsafe {
        let from = base.add(1 + x);
        let to = base.add(p.keyword_start() as usize);
        if from == to && names.len() == p.keywords.len() && p.keywords.iter().zip(names).all(|(k, n)| k.name == *n) {
            return;
        }
        let mut given = [Value::NIL; MAX_KEYWORDS];
        let n = names.len().min(MAX_KEYWORDS);
        std::ptr::copy_nonoverlapping(from, given.as_mut_ptr(), n);
        for k in 1 + x..p.keyword_start() as usize {
            *base.add(k) = Value::UNDEF;
        }
        for (k, kw) in p.keywords.iter().enumerate() {
            *to.add(k) = names.iter().position(|n| *n == kw.name).map_or(Value::UNDEF, |i| given[i]);
        }
    }
}

impl Cx {
    /// The Hash of keywords that were passed by name: the values stand at `values`.
    ///
    /// # Safety
    /// As many values as names.
    pub(crate) unsafe fn keyword_hash(&mut self, names: &[Sym], values: *const Value) -> Value {
        let h = self.new_hash();
        let mut table = HashTable::default();
        table.reserve(names.len());
        for (i, n) in names.iter().enumerate() {
            let key = Value::sym(*n);
            // SAFETY: caller.
            table.push(self.identity_hash(key), key, unsafe { *values.add(i) });
        }
        HashCell::change(h, &mut self.heap, |t| *t = table);
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
                let mut table = HashTable::default();
                table.reserve(n / 2);
                // Different Symbols and the like need no comparing by Ruby code.
                while k < n && !(*first.add(k)).is_cell() {
                    let (key, value) = (*first.add(k), *first.add(k + 1));
                    let hash = self.identity_hash(key);
                    match table.find(hash, |other| other == key) {
                        Some(at) => table.set_value(at, value),
                        None => {
                            table.push(hash, key, value);
                        }
                    }
                    k += 2;
                }
                HashCell::change(h, &mut self.heap, |t| *t = table);
            }
            while k < n {
                self.hash_set(h, *first.add(k), *first.add(k + 1))?;
                k += 2;
            }
            Ok(h.as_value())
        }
    }
}
