//! The names that a VM knows: what `Symbol.all_symbols` may show.
//!
//! The symbol table is the process's, and a VM must not learn from it what other VMs do. So a VM sees the names of the boot image, those in its own tables
//! and Code, and those that it can reach as Symbols. They are looked for when somebody asks; nothing is noted before.
//!
//! Rejected: a set of names per VM, filled by whatever makes a Symbol (a cost for each `to_sym`, and names would have to be noted wherever Rust code interns
//! one); the range of numbers that were given out while a VM ran (other VMs run at the same time).

use crate::fiber::FiberData;
use crate::frame::{CodeState, Frame};
use crate::thread::Thread;
use crate::vm::{Cx, Stacks, Vm};
use std::collections::HashSet;
use zakuro_base::Sym;
use zakuro_bytecode::{Code, Const};
use zakuro_object::*;

struct Search {
    /// Names that every VM knows have smaller numbers.
    boot: u32,
    names: HashSet<Sym>,
    codes: HashSet<usize>,
    /// Cells of images and regions: met, and yet to be looked at.
    met: HashSet<u64>,
    work: UntracedVec,
}

impl Search {
    fn name(&mut self, s: Sym) {
        if s.0 >= self.boot {
            self.names.insert(s);
        }
    }
    fn value(&mut self, v: Value) {
        if let Some(s) = v.as_sym() {
            self.name(s);
        } else if v.is_cell() && v.flags() & flags::SHARED != 0 && self.met.insert(v.bits()) {
            self.work.push(v);
        }
    }
    fn constant(&mut self, c: &Const) {
        match c {
            Const::Sym(s) => self.name(*s),
            Const::Array(list) => list.iter().for_each(|c| self.constant(c)),
            Const::Hash(pairs) => pairs.iter().for_each(|(k, v)| {
                self.constant(k);
                self.constant(v);
            }),
            _ => {}
        }
    }
    fn code(&mut self, code: &Code) {
        let mut work = vec![code];
        while let Some(c) = work.pop() {
            if !self.codes.insert(c as *const Code as usize) {
                continue;
            }
            self.name(c.name);
            c.consts.iter().for_each(|k| self.constant(k));
            let places = c.calls.iter().map(|s| s.name).chain(c.const_sites.iter().map(|s| s.name)).chain(c.locals.iter().map(|l| l.name));
            places.for_each(|s| self.name(s));
            c.syms.iter().chain(&c.ivars).chain(c.keyword_lists.iter().flatten()).for_each(|s| self.name(*s));
            c.params.keywords.iter().for_each(|k| self.name(k.name));
            c.params.list.iter().filter_map(|p| p.1).for_each(|s| self.name(s));
            work.extend(c.children.iter().map(|c| &**c));
        }
    }
    fn class(&mut self, d: &ClassData) {
        d.name.into_iter().for_each(|s| self.name(s));
        d.methods.keys().chain(d.consts.keys()).for_each(|s| self.name(*s));
        d.cvars.iter().chain(&d.ivars).for_each(|(s, _)| self.name(*s));
        d.each_value(&mut |v| self.value(v));
    }
    /// What the tables of a VM, or of a layer of its image, hold.
    fn tables(&mut self, vm: &Vm) {
        // SAFETY: slots point to the live data of this VM's classes, its image's, or the boot image's.
        vm.classes.each(&mut |_, slot| self.class(unsafe { &*slot.data }));
        vm.shapes.each(&mut |_, s| self.name(s.name));
        vm.transitions.keys().for_each(|(_, s)| self.name(*s));
        vm.globals.iter().for_each(|(s, v)| {
            self.name(*s);
            self.value(*v);
        });
        vm.global_aliases.iter().for_each(|(a, b)| {
            self.name(*a);
            self.name(*b);
        });
        vm.global_traces.iter().flat_map(|t| t.keys()).for_each(|s| self.name(*s));
        vm.generic_ivars.values().flatten().for_each(|(s, v)| {
            self.name(*s);
            self.value(*v);
        });
        vm.code_states.values().for_each(|s| self.state(s));
        vm.kept_codes.values().for_each(|c| self.code(c));
        vm.kept_layers.iter().flat_map(|l| l.values()).for_each(|c| self.code(c));
    }
    fn state(&mut self, s: &CodeState) {
        self.code(&s.code);
        s.each_own_value(&mut |v| self.value(v));
    }
    /// Receivers and variables of frames, and arguments of builtins. Registers of intermediate results may hold words of the stack's last user, which may
    /// have been another VM: they are left out.
    fn frames(&mut self, s: &Stacks, top: *const Frame) {
        if s.frames.is_null() || top.is_null() {
            return;
        }
        let mut f = s.frames.cast_const();
        while f <= top {
            // SAFETY: frames up to the top one were written, and so were a builtin's arguments, a frame's receiver, parameters and variables.
            unsafe {
                let frame = &*f;
                let n = if frame.is_boundary() {
                    (frame.aux as *const Value).offset_from(frame.regs).max(0) as usize
                } else {
                    self.code(&(*frame.code).code);
                    (*frame.code).nlocals as usize
                };
                (0..n).for_each(|i| self.value(*frame.regs.add(i)));
                f = f.add(1);
            }
        }
    }
    /// What a cell refers to.
    fn cell(&mut self, v: Value) {
        match v.kind_of_cell() {
            // Numbers hold no Symbols.
            Kind::Free
            | Kind::Float
            | Kind::Bignum
            | Kind::Rational
            | Kind::Complex
            | Kind::String
            | Kind::MovedString
            | Kind::Class
            | Kind::Moved => {}
            // SAFETY: the kind says so; the search changes nothing.
            Kind::Object | Kind::Exception => unsafe { laid::<ObjectCell>(v) }.all_slots().iter().for_each(|v| self.value(*v)),
            // SAFETY: as above.
            Kind::Array | Kind::MovedArray => unsafe { laid::<ArrayCell>(v).elements_unwatched() }.iter().for_each(|v| self.value(*v)),
            Kind::Hash | Kind::MovedHash => {
                // SAFETY: as above.
                let h = unsafe { laid::<HashCell>(v) };
                self.value(h.default);
                // SAFETY: as above.
                unsafe { h.table_unwatched() }.into_iter().flat_map(|t| t.iter()).for_each(|e| {
                    self.value(e.key);
                    self.value(e.value);
                });
            }
            Kind::Range => {
                let r = Ref::<RangeCell>::of(v);
                self.value(r.low());
                self.value(r.high());
            }
            Kind::Proc => {
                let p = Ref::<ProcCell>::of(v);
                [p.env, p.self_, p.me, p.extra].iter().for_each(|v| self.value(*v));
            }
            Kind::Method => {
                let m = Ref::<MethodCell>::of(v);
                self.name(m.name);
                self.name(m.called);
                self.value(m.cref);
                self.value(m.data);
            }
            Kind::Env => {
                let e = Ref::<EnvCell>::of(v);
                self.value(e.parent);
                e.slots().iter().for_each(|v| self.value(*v));
            }
            Kind::Cref => {
                let c = Ref::<CrefCell>::of(v);
                [c.class, c.parent, c.definee, c.refinements].iter().for_each(|v| self.value(*v));
            }
            Kind::Throw => {
                let t = Ref::<ThrowCell>::of(v);
                self.value(t.tag);
                self.value(t.value);
            }
            Kind::MethodObj => {
                let o = Ref::<MethodObjCell>::of(v);
                self.name(o.name);
                [o.receiver, o.method, o.class].iter().for_each(|v| self.value(*v));
            }
            Kind::Data => {
                let d = Ref::<DataCell>::of(v);
                if let Some(t) = d.get::<Thread>() {
                    t.each_value(&mut |v| self.value(v));
                    t.each_stack(&mut |s, fp| self.frames(s, fp));
                } else if let Some(f) = d.get::<FiberData>() {
                    f.each_stack(&mut |s, fp| self.frames(s, fp));
                } else {
                    d.each_value(&mut |v| self.value(v));
                }
            }
        }
    }
}

/// The cell behind a value: exceptions are objects, and what was moved away keeps its layout.
///
/// # Safety
/// The value's kind is laid out as a `T` is; nothing is changed or collected while the result is used.
unsafe fn laid<'a, T>(v: Value) -> &'a T {
    // SAFETY: the caller's word.
    unsafe { &*(v.bits() as *const T) }
}

impl Cx {
    /// Every name that this VM knows, older ones first. Collects: Symbols that only dead objects held are not known any more.
    pub fn known_names(&mut self) -> Vec<Sym> {
        self.collect();
        let boot = self.boot.map_or(u32::MAX, |b| b.names());
        let mut s = Search { boot, names: HashSet::new(), codes: HashSet::new(), met: HashSet::new(), work: UntracedVec::new() };
        s.tables(self);
        if let Some(image) = &self.base {
            image.each_table(&mut |vm| s.tables(vm));
            image.each_cell(&mut |v| s.value(v));
        }
        s.frames(&self.stacks, self.fp);
        self.suspended.iter().for_each(|c| s.frames(&c.stacks, c.fp));
        [self.pending, self.errinfo].into_iter().chain(self.pinned.iter().copied()).for_each(|v| s.value(v));
        for list in &self.rooted {
            // SAFETY: registered by a live RootedVec.
            unsafe { (**list).items.iter().for_each(|v| s.value(*v)) }
        }
        // SAFETY: cells of the heap that is walked.
        self.heap.each_cell(&mut |c| s.cell(unsafe { Value::cell(c) }));
        while let Some(v) = s.work.pop() {
            s.cell(v);
        }
        let mut names: Vec<Sym> = (0..boot.min(Sym::count())).map(Sym).chain(s.names).collect();
        names.sort_unstable();
        names
    }
}
