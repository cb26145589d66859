//! Method tables: definition, lookup, caches.
//!
//! A VM has one method epoch; inline caches hold the epoch they were filled in. Defining a method whose name no cache has been filled for
//! leaves the epoch alone, so loading code does not empty the caches.

use crate::builtin::{MethodRow, NativeFn};
use crate::raise::Result;
use crate::vm::{Cx, MethodCacheEntry};
use std::sync::Arc;
use zakuro_bytecode::Code;
use zakuro_object::*;

/// Set in a method cell's `reserved`, beside the interpreter's RUBY2_KEYWORDS: a class below its owner changed its visibility, and did no more.
pub(crate) const VISIBILITY_ALONE: u32 = 2;

pub type Method = Ref<MethodCell>;

/// Methods that are private whatever the scope says.
pub fn always_private(name: Sym) -> bool {
    matches!(name, sym::initialize | sym::initialize_copy | sym::initialize_clone | sym::initialize_dup | sym::respond_to_missing)
}

/// Operators that have fast paths, for the redefinition test.
pub(crate) fn is_fast_operator(name: Sym) -> bool {
    matches!(
        name,
        sym::add
            | sym::sub
            | sym::mul
            | sym::div
            | sym::modulo
            | sym::pow
            | sym::lt
            | sym::le
            | sym::gt
            | sym::ge
            | sym::eq
            | sym::neq
            | sym::eqq
            | sym::cmp
            | sym::not
            | sym::shl
            | sym::shr
            | sym::and
            | sym::or
            | sym::xor
            | sym::aref
            | sym::aset
            | sym::length
            | sym::size
            | sym::empty_p
            | sym::nil_p
            | sym::succ
            | sym::each
            | sym::uminus
            | sym::call
            | sym::max
            | sym::min
            | sym::include_p
    )
}
/// Bits of `Cx::redefined`: which core classes have an operator that is no longer the builtin one.
pub mod fast {
    pub const INTEGER: u32 = 1;
    pub const FLOAT: u32 = 2;
    pub const STRING: u32 = 4;
    pub const ARRAY: u32 = 8;
    pub const HASH: u32 = 16;
    /// Symbol, nil, true, false.
    pub const PLAIN: u32 = 32;
    /// `!` or `nil?` of something builtin that is no plain object.
    pub const TRUTH: u32 = 64;
    /// `hash` of some class or module.
    pub const CLASS_HASH: u32 = 128;
    /// Something is traced: no redefinition, but machine code is left for it as for one.
    pub const TRACED: u32 = 256;
    /// `!` or `nil?` of a program's own subclass of such a class, or of one such object. Machine code asks for it where it matters: libraries do this (proxies that are a Module).
    pub const OWN_TRUTH: u32 = 512;
    /// `call` of a Proc. Machine code asks for it where it matters.
    pub const PROC: u32 = 1024;
    /// `max`, `min` or `include?` of an Array. As PROC.
    pub const LIST: u32 = 2048;
    /// `to_f` of an Integer. No machine code relies on it.
    pub const TO_F: u32 = 4096;
    /// `==` or `!=` of something is refined: who asks an object's class for them asks no more.
    pub const REFINED_EQUAL: u32 = 8192;
    pub const EQUALITY: u32 = INTEGER | FLOAT | STRING | PLAIN;
}
/// The classes whose operators have fast paths.
const FAST_CLASSES: [(ClassId, u32); 11] = [
    (ids::INTEGER, fast::INTEGER),
    (ids::FLOAT, fast::FLOAT),
    (ids::STRING, fast::STRING),
    (ids::ARRAY, fast::ARRAY),
    (ids::HASH, fast::HASH),
    (ids::SYMBOL, fast::PLAIN),
    (ids::NIL_CLASS, fast::PLAIN),
    (ids::TRUE_CLASS, fast::PLAIN),
    (ids::FALSE_CLASS, fast::PLAIN),
    (ids::PROC, fast::PROC),
    (ids::ARRAY, fast::LIST),
];
pub(crate) fn has_fast_paths(c: ClassId) -> bool {
    FAST_CLASSES.iter().any(|(k, _)| *k == c)
}

/// Places of its own up to which an object's singleton class is searched at each look-up.
const FEW_PLACES: u32 = 8;

impl Cx {
    pub(crate) fn bump_epoch(&mut self) {
        self.epoch = self.epoch.wrapping_add(1).max(1);
        self.unsettle();
    }
    /// Machine code looks again at what it takes for granted, each activation when it next goes on.
    pub(crate) fn unsettle(&self) {
        self.generation.set(self.generation.get().wrapping_add(1));
    }
    fn name_is_cached(&self, name: Sym) -> bool {
        self.cached_names.get(name.0 as usize / 64).is_some_and(|w| w & (1 << (name.0 % 64)) != 0)
    }
    pub(crate) fn note_cached_name(&mut self, name: Sym) {
        let i = name.0 as usize / 64;
        if self.cached_names.len() <= i {
            self.cached_names.resize(i + 1, 0);
        }
        self.cached_names[i] |= 1 << (name.0 % 64);
    }
    /// What calls of this name find in this class is cached from now on.
    fn note_cached(&mut self, class: ClassId, name: Sym) {
        self.note_cached_name(name);
        if let Some(slot) = self.classes.get(class.0).filter(|s| s.own)
            && self.is_of_one_object(class)
        {
            // SAFETY: an own slot points to live class data that this VM alone uses.
            unsafe { &(*slot.data).asked }.note(name);
        }
    }
    /// Whether some cache may know what calls of this name find in this class, or in one that inherits from it.
    fn is_cached(&self, class: ClassId, name: Sym) -> bool {
        if !self.name_is_cached(name) {
            return false;
        }
        // An object may get methods of its own again and again (`extend`): that is no reason to look everything up anew.
        let own = self.classes.get(class.0).is_some_and(|s| s.own);
        let d = self.class(class);
        !own || !d.dependents.is_empty() || !self.is_of_one_object(class) || d.asked.has(name)
    }
    /// Whether the methods of a module, and of those in it, change what some cache knows of a class that gets it.
    pub(crate) fn is_cached_with_module(&self, class: ClassId, module: ClassId) -> bool {
        !self.is_of_one_object(class) || self.ancestors(module).any(|m| self.class(m).methods.keys().any(|n| self.is_cached(class, *n)))
    }
    /// Whether this is the singleton class of an object that is no class.
    pub(crate) fn is_of_one_object(&self, class: ClassId) -> bool {
        let d = self.class(class);
        d.kind == ClassKind::Singleton && self.class_id(d.attached).is_none()
    }
    /// After a module was included or prepended: its operators may now stand before the builtin ones.
    pub(crate) fn note_redefinition_by_module(&mut self, class: ClassId, module: ClassId) {
        if self.in_boot {
            return;
        }
        self.note_stand_ins_by_module(class, module);
        if self.inherits(ids::INTEGER, class) && self.ancestors(module).any(|m| self.class(m).methods.contains_key(&sym::to_f)) {
            self.redefined |= fast::TO_F;
        }
        if self.is_of_one_object(class) {
            // No class with fast paths inherits from it.
            if self.ancestors(module).any(|m| [sym::not, sym::nil_p].iter().any(|n| self.class(m).methods.contains_key(n))) {
                self.redefined |= self.truth_of(class);
                self.unsettle();
            }
            return;
        }
        let reached: Vec<_> = FAST_CLASSES.into_iter().filter(|(c, _)| self.inherits(*c, class)).collect();
        for m in self.ancestor_list(module) {
            let names: Vec<Sym> = self.class(m).methods.keys().copied().filter(|n| is_fast_operator(*n)).collect();
            for name in names {
                self.note_redefinition(m, name, &reached);
                if matches!(name, sym::not | sym::nil_p) {
                    self.redefined |= self.truth_of(class);
                    self.unsettle();
                }
            }
        }
    }
    /// Operator `name` was defined in or removed from `owner`: notes the classes with fast paths that find (or found) this one first, among
    /// `classes`: those that inherit from who has just got the module `owner` (every class that includes Comparable would end the fast paths of String), else all.
    fn note_redefinition(&mut self, owner: ClassId, name: Sym, classes: &[(ClassId, u32)]) {
        let refined = self.refined_class(owner);
        for &(class, bit) in classes {
            // Some names have a fast path in one class alone.
            let own = match name {
                sym::call => fast::PROC,
                sym::max | sym::min | sym::include_p => fast::LIST,
                _ => 0,
            };
            let is_other = if own != 0 { bit != own } else { bit & (fast::PROC | fast::LIST) != 0 };
            if is_other {
                continue;
            }
            let reaches = match refined {
                Some(r) => self.inherits(class, r),
                None => {
                    self.inherits(class, owner)
                        && !self.ancestors(class).take_while(|c| *c != owner).any(|c| self.class(c).methods.contains_key(&name))
                }
            };
            if reaches {
                self.redefined |= bit;
            }
        }
        // A class's own is found where it is asked, a refined one is not.
        if name == sym::eqq && refined.is_some_and(|r| self.inherits(r, ids::MODULE)) {
            self.redefined |= fast::PLAIN;
        }
        if matches!(name, sym::eq | sym::neq) && refined.is_some() && self.redefined & fast::REFINED_EQUAL == 0 {
            self.redefined |= fast::REFINED_EQUAL;
            // What is known of classes was asked before.
            self.bump_epoch();
        }
        if matches!(name, sym::not | sym::nil_p) {
            self.redefined |= match refined {
                // Objects are asked what their class has, which does not tell of refinements.
                Some(r) if self.of_plain_objects(r) => fast::TRUTH,
                _ => self.truth_of(refined.unwrap_or(owner)),
            };
        }
        self.unsettle();
    }
    /// The bit of [`fast`] for a `!` or `nil?` of this class or module.
    fn truth_of(&self, class: ClassId) -> u32 {
        match () {
            _ if self.of_plain_objects(class) => 0,
            _ if self.reaches_builtin(class) => fast::TRUTH,
            _ => fast::OWN_TRUTH,
        }
    }
    /// Whether instances of a builtin class itself, or a builtin class (whose shape stays what it is when it gets a singleton class), may answer to a method of `class`.
    fn reaches_builtin(&self, class: ClassId) -> bool {
        let d = self.class(class);
        let builtin = |c: ClassId| c.0 < shape::FIRST_DYNAMIC;
        match d.kind {
            _ if builtin(class) => true,
            ClassKind::Module => d.dependents.iter().any(|c| self.reaches_builtin(*c)),
            ClassKind::Singleton => self.class_id(d.attached).is_some_and(builtin),
            ClassKind::Class => false,
        }
    }
    /// Whether all that may be instances of this class or have this module are plain objects, which `!` and `nil?` ask anyway: no builtin class but Object
    /// among the ancestors.
    fn of_plain_objects(&self, class: ClassId) -> bool {
        let builtin = |c: ClassId| c.0 < shape::FIRST_DYNAMIC;
        let d = self.class(class);
        if d.kind == ClassKind::Module {
            return !builtin(class) && d.dependents.iter().all(|c| self.of_plain_objects(*c));
        }
        !builtin(class)
            && self
                .ancestors(class)
                .all(|c| matches!(c, ids::OBJECT | ids::BASIC_OBJECT) || self.class(c).kind == ClassKind::Module || !builtin(c))
    }
    /// Whether classes may answer to a method of `class`: their own, one that they have in common, or a module's.
    fn may_serve_classes(&self, class: ClassId) -> bool {
        self.class(class).kind != ClassKind::Class || self.inherits(ids::CLASS, class)
    }
    /// Puts a method cell into a class's table (no hooks).
    pub fn add_method(&mut self, class: ClassId, name: Sym, method: Method) {
        let table = &self.class(class).methods;
        if table.len() == table.capacity() {
            self.double_table(table.len(), size_of::<(Sym, Value)>());
        }
        let d = self.class_mut(class);
        if d.methods.insert(name, method.as_value()).is_none() {
            d.method_order.push(name);
        }
        self.method_serial += 1;
        if !self.in_boot && is_fast_operator(name) {
            self.note_redefinition(class, name, &FAST_CLASSES);
        }
        if name == sym::hash && !self.in_boot && self.may_serve_classes(class) {
            self.redefined |= fast::CLASS_HASH;
        }
        self.note_to_f(class, name);
        if self.is_cached(class, name) {
            self.bump_epoch();
        }
        self.note_stand_ins(class, name);
    }
    fn note_to_f(&mut self, class: ClassId, name: Sym) {
        if name == sym::to_f && !self.in_boot && self.inherits(ids::INTEGER, class) {
            self.redefined |= fast::TO_F;
        }
    }
    pub fn remove_method(&mut self, class: ClassId, name: Sym) -> bool {
        let d = self.class_mut(class);
        let was = d.methods.remove(&name).is_some();
        d.method_order.remove(name);
        self.method_serial += 1;
        self.bump_epoch();
        if !self.in_boot && is_fast_operator(name) {
            self.note_redefinition(class, name, &FAST_CLASSES);
        }
        self.note_to_f(class, name);
        self.note_stand_ins(class, name);
        was
    }
    /// Defines a builtin.
    pub fn define_native(&mut self, row: &'static MethodRow) {
        self.define_native_in(row, row.class);
    }
    /// Defines a builtin in a class that is made at run time: the class that the row names doesn't count.
    pub fn define_native_in(&mut self, row: &'static MethodRow, class: ClassId) {
        let holder = if row.singleton {
            let o = self.class_value(class);
            match self.singleton_class(o) {
                Ok(c) => c,
                Err(_) => return,
            }
        } else {
            class
        };
        for (i, name) in row.names.iter().enumerate() {
            let _ = i;
            let name = Sym::intern(name);
            let vis = match row.vis {
                _ if !row.singleton && always_private(name) => Visibility::Private,
                crate::builtin::Vis::Public => Visibility::Public,
                crate::builtin::Vis::Protected => Visibility::Protected,
                _ => Visibility::Private,
            };
            let m = MethodCell::make(
                &self.heap,
                name,
                holder,
                vis,
                MethodKind::Native,
                Value::NIL,
                row as *const MethodRow as usize,
                Value::NIL,
            );
            self.add_method(holder, name, m);
            if row.vis == crate::builtin::Vis::ModuleFunction {
                let o = self.class_value(class);
                if let Ok(s) = self.singleton_class(o) {
                    let m = MethodCell::make(
                        &self.heap,
                        name,
                        s,
                        Visibility::Public,
                        MethodKind::Native,
                        Value::NIL,
                        row as *const MethodRow as usize,
                        Value::NIL,
                    );
                    self.add_method(s, name, m);
                }
            }
        }
    }
    pub fn native_row(m: Method) -> Option<&'static MethodRow> {
        // SAFETY: body of a native method is a `&'static MethodRow` (define_native).
        (m.method_kind() == MethodKind::Native).then(|| unsafe { &*(m.body as *const MethodRow) })
    }
    pub(crate) fn native_fn(m: Method) -> NativeFn {
        match Self::native_row(m) {
            Some(r) => r.func,
            None => unreachable!("not a native method"),
        }
    }
    /// The Code of a Ruby method.
    pub fn method_code(m: Method) -> Option<&'static Code> {
        // SAFETY: body of a Ruby method is the address of a Code that the VM (kept_codes) or the boot image keeps.
        (m.method_kind() == MethodKind::Ruby).then(|| unsafe { &*(m.body as *const Code) })
    }
    /// New method cell for Ruby code.
    pub fn ruby_method(&mut self, name: Sym, owner: ClassId, vis: Visibility, code: &Arc<Code>, cref: Value) -> Method {
        let addr = Arc::as_ptr(code) as usize;
        self.kept_codes.entry(addr).or_insert_with(|| code.clone());
        let m = MethodCell::make(&self.heap, name, owner, vis, MethodKind::Ruby, cref, addr, Value::NIL);
        self.method_unit(m, code);
        m
    }
    /// A copy of a method with another visibility, name or owner.
    pub fn copy_method(&mut self, m: Method, called: Sym, owner: ClassId, vis: Visibility) -> Method {
        let n = MethodCell::make(&self.heap, m.name, owner, vis, m.method_kind(), m.cref, m.body, m.data);
        n.init_copy(called, m.reserved);
        if owner == m.owner {
            n.init_place(m.place() as usize);
        }
        self.copied_unit(n);
        n
    }
    /// A copy of a method written in Ruby for another class, with that one's lexical scope.
    pub fn copy_method_into(&mut self, m: Method, cref: Value, owner: ClassId) -> Method {
        let n = MethodCell::make(&self.heap, m.name, owner, m.visibility(), m.method_kind(), cref, m.body, m.data);
        n.init_copy(m.called, m.reserved);
        self.copied_unit(n);
        n
    }
    /// Pseudo method that carries the lexical scope of a program, class body or eval.
    pub fn frame_method(&mut self, name: Sym, owner: ClassId, cref: Value) -> Method {
        MethodCell::make(&self.heap, name, owner, Visibility::Public, MethodKind::Frame, cref, 0, Value::NIL)
    }
    /// Lexical scope cell.
    pub fn new_cref(&mut self, class: Value, parent: Value) -> Value {
        let header = zakuro_object::header(ids::OBJECT, Kind::Cref, 0);
        let refinements = Ref::<CrefCell>::from_value(parent).map_or(Value::NIL, |p| p.refinements);
        alloc_cell(&self.heap, CrefCell { header, class, parent, definee: Value::NIL, refinements }).as_value()
    }
    /// Finds a method in a class's ancestors. Undefined ones and pure visibility changes are resolved: None when missing.
    pub fn find_method(&mut self, class: ClassId, name: Sym) -> Option<Method> {
        if let Some(known) = self.method_cache.find(class, MethodCacheEntry::FROM_START, name, self.epoch) {
            return Ref::from_value(known);
        }
        self.note_cached(class, name);
        if self.is_of_one_object(class) && self.class(class).own_places <= FEW_PLACES && !self.class(class).repeats {
            let found = self.find_method_of_object(class, name);
            if let Some(m) = found.filter(|m| m.owner == class) {
                let epoch = self.epoch;
                self.method_cache.note(class, MethodCacheEntry::FROM_START, name, epoch, m.as_value());
            }
            return found;
        }
        let found = self.find_method_uncached(class, name);
        let epoch = self.epoch;
        self.method_cache.note(class, MethodCacheEntry::FROM_START, name, epoch, found.map_or(Value::NIL, |m| m.as_value()));
        found
    }
    /// The same in the singleton class of an object: what it has not got itself its class has, for which that is cached. There may be thousands of such objects, so only the methods of their own
    /// are cached for them.
    fn find_method_of_object(&mut self, class: ClassId, name: Sym) -> Option<Method> {
        let own = self.own_places(class).iter().find_map(|c| self.class(*c).methods.get(&name).copied());
        match (own, self.class(class).superclass) {
            (None, Some(up)) => self.find_method(up, name),
            _ => self.resolved(class, own, name),
        }
    }
    fn find_method_uncached(&mut self, class: ClassId, name: Sym) -> Option<Method> {
        let (at, v) = self.ancestors(class).enumerate().find_map(|(at, c)| Some((at, *self.class(c).methods.get(&name)?)))?;
        let m = self.resolved(class, Some(v), name)?;
        // Another name of a module's method, in a class behind a place of that module: `super` goes on from the next one.
        if self.class(class).repeats && Ref::<MethodCell>::from_value(v).is_some_and(|entry| entry.owner == m.owner) {
            return Some(self.at_position(class, m, at));
        }
        Some(m)
    }
    /// The method that an entry of a class's ancestors stands for.
    fn resolved(&mut self, class: ClassId, entry: Option<Value>, name: Sym) -> Option<Method> {
        let m: Method = Ref::from_value(self.instantiate(entry?))?;
        match m.method_kind() {
            MethodKind::Undefined => None,
            MethodKind::ZSuper => {
                // Only the visibility was changed here: take the body from further up.
                let (vis, owner) = (m.visibility(), m.owner);
                let body = self.find_super_method(class, owner, name)?;
                let shown = self.copy_method(body, name, body.owner, vis);
                shown.init_copy(name, shown.reserved | VISIBILITY_ALONE);
                Some(shown)
            }
            _ => Some(m),
        }
    }
    /// The entry itself, whatever its kind, from position `from` of the ancestor list.
    pub fn find_entry_from(&mut self, class: ClassId, name: Sym, from: usize) -> Option<Method> {
        let v = self.ancestors(class).skip(from).find_map(|c| self.class(c).methods.get(&name).copied())?;
        Ref::from_value(self.instantiate(v))
    }
    /// The entry in this very class.
    pub fn method_in(&mut self, class: ClassId, name: Sym) -> Option<Method> {
        let v = *self.class(class).methods.get(&name)?;
        Ref::from_value(self.instantiate(v))
    }
    /// Method that `super` in a method of `owner`, found at its first place, calls on an object of `class`.
    pub fn find_super_method(&mut self, class: ClassId, owner: ClassId, name: Sym) -> Option<Method> {
        if let Some(known) = self.method_cache.find(class, owner, name, self.epoch) {
            return Ref::from_value(known);
        }
        let found = self.find_super_method_uncached(class, owner, 0, name);
        self.note_cached(class, name);
        let epoch = self.epoch;
        self.method_cache.note(class, owner, name, epoch, found.map_or(Value::NIL, |m| m.as_value()));
        found
    }
    /// The same for a method that runs, which knows at which of its owner's places it was found.
    pub fn find_super_method_of(&mut self, class: ClassId, me: Method) -> Option<Method> {
        if me.place() == 0 {
            return self.find_super_method(class, me.owner, me.name);
        }
        self.note_cached(class, me.name);
        self.find_super_method_uncached(class, me.owner, me.place(), me.name)
    }
    /// Where the ancestors go on behind a place of `owner`; behind the last if there are not so many.
    pub(crate) fn behind_place(&self, class: ClassId, owner: ClassId, place: u16) -> Option<usize> {
        let mut left = if place == MethodCell::LAST_PLACE { usize::MAX } else { place as usize };
        let mut behind = None;
        for (at, c) in self.ancestors(class).enumerate() {
            if c == owner {
                behind = Some(at + 1);
                if left == 0 {
                    break;
                }
                left -= 1;
            }
        }
        behind
    }
    /// A method that was found at this position of a class's ancestors, such that `super` in it goes on from there.
    fn at_position(&mut self, class: ClassId, m: Method, at: usize) -> Method {
        if !self.class(class).repeats {
            return m;
        }
        let list = self.ancestor_list(class);
        // Under another name, a class has it from what its own ancestors begin with, the modules that it prepends among them.
        let from = if list[at] == m.owner { at } else { self.begin_of_group(&list, at) };
        let before = list[..from].iter().filter(|c| **c == m.owner).count();
        if before == 0 {
            return m;
        }
        let place = before + m.place() as usize;
        let copy = self.copy_method(m, m.called, m.owner, m.visibility());
        copy.init_place(place);
        copy
    }
    fn find_super_method_uncached(&mut self, class: ClassId, owner: ClassId, place: u16, name: Sym) -> Option<Method> {
        let mut from = match self.behind_place(class, owner, place) {
            Some(at) => at,
            None => match self.after_refinement(class, owner) {
                Some(at) => at,
                // A module's method that was bound to an object without the module: as if it stood before the object's class.
                None if self.class(owner).kind == ClassKind::Module => 0,
                None => return None,
            },
        };
        loop {
            let (at, v) =
                self.ancestors(class).enumerate().skip(from).find_map(|(at, c)| Some((at, *self.class(c).methods.get(&name)?)))?;
            let m: Method = Ref::from_value(self.instantiate(v))?;
            match m.method_kind() {
                MethodKind::Undefined => return None,
                MethodKind::ZSuper => from = at + 1,
                _ => return Some(self.at_position(class, m, at)),
            }
        }
    }
    /// Method of a value.
    pub fn method_of(&mut self, v: Value, name: Sym) -> Option<Method> {
        let c = self.dispatch_class(v);
        self.find_method(c, name)
    }
    /// Whether the method in force is the builtin one that Rust code defined for `class`.
    pub fn is_builtin(&mut self, v: Value, name: Sym, class: ClassId) -> bool {
        self.method_of(v, name).is_some_and(|m| m.method_kind() == MethodKind::Native && m.owner == class)
    }
    /// `pattern === v` of a class, and of a Range of small Integers; None where that takes a call.
    #[inline(never)]
    pub(crate) fn matches_builtin(&mut self, pattern: Value, v: Value) -> Option<bool> {
        if let Some(c) = Ref::<ClassCell>::from_value(pattern) {
            return self.has_builtin_eqq(pattern, ids::MODULE).then(|| self.is_a(v, c.id));
        }
        let range = Ref::<RangeCell>::from_value(pattern)?;
        if !v.is_fixnum() || self.redefined & fast::INTEGER != 0 || !self.has_builtin_eqq(pattern, ids::RANGE) {
            return None;
        }
        let (low, high) = (range.low(), range.high());
        let is_end = |end: Value| end.is_nil() || end.is_fixnum();
        if !is_end(low) || !is_end(high) {
            return None;
        }
        let below = |high: Value| if range.exclusive() { v.fix() < high.fix() } else { v.fix() <= high.fix() };
        Some((low.is_nil() || low.fix() <= v.fix()) && (high.is_nil() || below(high)))
    }
    /// Whether `===` of a pattern is its class's builtin one.
    #[inline]
    fn has_builtin_eqq(&mut self, pattern: Value, class: ClassId) -> bool {
        let shape = pattern.shape_key();
        let (key, at) = ((self.epoch as u64) << 32 | shape as u64, shape as usize % self.patterns.len());
        if self.patterns[at] == key {
            return true;
        }
        let is = self.is_builtin(pattern, sym::eqq, class);
        // Whoever defines another one ends what goes by this epoch.
        if is {
            self.note_cached_name(sym::eqq);
            self.patterns[at] = (self.epoch as u64) << 32 | shape as u64;
        }
        is
    }
    /// `respond_to?` as conversions use it: public methods, or all; asks respond_to_missing?.
    pub fn responds(&mut self, v: Value, name: Sym, private: bool) -> Result<bool> {
        if let Some(m) = self.method_of(v, sym::respond_to)
            && !(m.method_kind() == MethodKind::Native && m.owner == ids::KERNEL)
        {
            let args = [Value::sym(name), Value::bool(private)];
            let mut n = 1;
            if private {
                n = match self.method_arity(m) {
                    1 => {
                        self.warn_of_one_argument(v, m, name)?;
                        1
                    }
                    more @ 3.. => return self.arg_error(format!("respond_to? must accept 1 or 2 arguments (requires {more})")),
                    _ => 2,
                };
            }
            return Ok(self.call(v, sym::respond_to, &args[..n])?.truthy());
        }
        self.basic_responds(v, name, private)
    }
    /// `Warning[:deprecated]`: a `respond_to?` that is not told whether private methods count.
    fn warn_of_one_argument(&mut self, v: Value, m: Method, name: Sym) -> Result<()> {
        if !self.warns("deprecated") {
            return Ok(());
        }
        let who = self.inspect_for_error(v);
        let asked = format!("{who}.respond_to?(:{}) uses the deprecated method signature, which takes one parameter", name.name());
        self.warn_category(&asked, "deprecated")?;
        let place = Self::method_code(m).map(|c| (c.file.clone(), c.line));
        if place.is_some() { self.warn_at(place, "respond_to? is defined here") } else { Ok(()) }
    }
    /// Whether `respond_to?` is not the builtin one.
    pub fn has_own_respond_to(&mut self, v: Value) -> bool {
        self.method_of(v, sym::respond_to).is_some_and(|m| !(m.method_kind() == MethodKind::Native && m.owner == ids::KERNEL))
    }
    /// Whether an object has a public method, as long as nothing changes for its shape; UNDEF where a `respond_to_missing?` of the program's is to be asked. Without refinements.
    pub(crate) fn responds_for_now(&mut self, v: Value, name: Sym) -> Value {
        let found = self.method_of(v, name).filter(|m| m.visibility() == Visibility::Public);
        if let Some(m) = found {
            return Value::bool(!Self::native_row(m).is_some_and(|r| r.unimplemented));
        }
        match self.method_of(v, sym::respond_to_missing) {
            Some(m) if m.method_kind() != MethodKind::Native => Value::UNDEF,
            _ => Value::FALSE,
        }
    }
    /// `respond_to?` as Kernel has it.
    pub fn basic_responds(&mut self, v: Value, name: Sym, private: bool) -> Result<bool> {
        if let Some(m) = self.method_of(v, name)
            && (private || m.visibility() == Visibility::Public)
        {
            return Ok(!Self::native_row(m).is_some_and(|r| r.unimplemented));
        }
        match self.method_of(v, sym::respond_to_missing) {
            Some(m) if m.method_kind() == MethodKind::Native => Ok(false),
            Some(_) => Ok(self.call(v, sym::respond_to_missing, &[Value::sym(name), Value::bool(private)])?.truthy()),
            None => Ok(false),
        }
    }
}
