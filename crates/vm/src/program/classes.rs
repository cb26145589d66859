//! Classes: tables, ancestors, definition.
//!
//! Ancestor lists are linearised. Including a module recomputes the list of the class and, through `dependents`, of everything that
//! contains it. Nothing here recurses: chains of classes, and of singleton classes of singleton classes, are as long as memory allows.

use crate::builtin::MethodRow;
use crate::raise::Result;
use crate::vm::{ClassSlot, Cx, FastMap};
use zakuro_object::shape::{CLASS_LOTS, LOT, ShapeInfo};
use zakuro_object::*;

/// So many steps to the next singleton class are worth remembering.
const FAR: usize = 8;

/// Stands in the boot image's rows for "the main object of the VM that asks".
pub(crate) const OF_MAIN: Value = Value::TRUE;

/// The ancestors of a class in the order of method look-up.
#[derive(Clone)]
pub struct Ancestors<'a> {
    cx: &'a Cx,
    near: std::slice::Iter<'a, ClassId>,
    beyond: Option<ClassId>,
}
impl Iterator for Ancestors<'_> {
    type Item = ClassId;
    #[inline]
    fn next(&mut self) -> Option<ClassId> {
        if let Some(c) = self.near.next() {
            return Some(*c);
        }
        *self = self.cx.ancestors(self.beyond?);
        self.near.next().copied()
    }
}

/// Where else a class may have a module, which it then doesn't get by `include`.
#[derive(Default)]
struct Beside<'a> {
    superclass: Option<ClassId>,
    prepended: &'a [ClassId],
    /// What stands behind the class all the same.
    kept: &'a [ClassId],
}
impl Beside<'_> {
    fn has(&self, cx: &Cx, module: ClassId) -> bool {
        self.prepended.contains(&module) || self.superclass.is_some_and(|up| cx.inherits(up, module))
    }
}

/// Classes of the shapes that were asked for theirs lately. A shape's class lives as long as an object of the shape does.
#[derive(Default)]
pub(crate) struct ClassesMet(Box<[(u32, Value)]>);

impl ClassesMet {
    const ROWS: usize = 32;

    fn place(shape: u32) -> usize {
        (shape ^ shape >> 5) as usize % Self::ROWS
    }
    fn note(&mut self, shape: u32, class: Value) {
        if self.0.is_empty() {
            // No cell has the shape 0.
            self.0 = vec![(0, Value::NIL); Self::ROWS].into();
        }
        self.0[Self::place(shape)] = (shape, class);
    }
    /// Numbers of shapes are to mean something else.
    pub fn forget(&mut self) {
        self.0 = Box::default();
    }
}

/// What is asked of objects' classes ([`TruthsKnown`]): whether these methods are the builtin ones, and public.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Truth {
    /// `nil?`
    Nil,
    /// `!`
    Not,
    /// `==` and `!=`, by identity.
    Equal,
}

impl Truth {
    /// Two bits: it was asked, and the answer.
    pub const fn bits(self) -> (u64, u64) {
        (1 << (2 * self as u64), 2 << (2 * self as u64))
    }
}

/// Answers of a shape.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct TruthRow {
    /// The epoch above the shape.
    pub key: u64,
    pub answers: u64,
}

/// What is known of objects of the shapes that were asked lately. Machine code looks here itself.
#[derive(Default)]
#[repr(transparent)]
pub struct TruthsKnown([TruthRow; TruthsKnown::ROWS]);

impl TruthsKnown {
    pub const ROWS: usize = 16;

    /// The row of a key, whose low bits are the shape's.
    fn place(key: u64) -> usize {
        (key ^ key >> 4) as usize % Self::ROWS
    }
    #[inline]
    pub(crate) fn find(&self, key: u64, truth: Truth) -> Option<bool> {
        let (row, (asked, is)) = (self.0[Self::place(key)], truth.bits());
        (row.key == key && row.answers & asked != 0).then_some(row.answers & is != 0)
    }
    pub(crate) fn note(&mut self, key: u64, truth: Truth, answer: bool) {
        let (row, (asked, is)) = (&mut self.0[Self::place(key)], truth.bits());
        let before = if row.key == key { row.answers } else { 0 };
        *row = TruthRow { key, answers: before | asked | if answer { is } else { 0 } };
    }
    /// Numbers of shapes are to mean something else.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}

impl Cx {
    /// The class itself, what it prepends and includes, its superclass and so on.
    #[inline]
    pub fn ancestors(&self, id: ClassId) -> Ancestors<'_> {
        let d = self.class(id);
        Ancestors { cx: self, near: d.near.iter(), beyond: d.beyond }
    }
    /// The same as a list, for who changes something meanwhile.
    pub fn ancestor_list(&self, id: ClassId) -> Vec<ClassId> {
        self.ancestors(id).collect()
    }
    /// Where the class at place `at` of a list of ancestors begins: at the first of the modules that it prepends.
    pub fn begin_of_group(&self, list: &[ClassId], at: usize) -> usize {
        let class = list[at];
        if self.class(class).prepends.is_empty() {
            return at;
        }
        let prepended: Vec<ClassId> = self.ancestors(class).take_while(|c| *c != class).collect();
        at - list[..at].iter().rev().take_while(|c| prepended.contains(c)).count()
    }
    /// The ancestors with each class before the modules that it prepends: prepending puts methods before the class's own, constants and class variables
    /// stay where they are.
    pub fn own_first(&self, id: ClassId) -> Vec<ClassId> {
        let mut list = self.ancestor_list(id);
        for at in 0..list.len() {
            let begin = self.begin_of_group(&list, at);
            list[begin..=at].rotate_right(1);
        }
        list
    }
    /// The data of a class.
    #[inline]
    pub fn class(&self, id: ClassId) -> &ClassData {
        match self.classes.get(id.0) {
            // SAFETY: slots point to data that lives as long as the VM (own) or the process (boot), or are the image's, which the VM holds.
            Some(s) => unsafe { &*s.data },
            None => unreachable!("class id {} of another VM", id.0),
        }
    }
    /// Gives a class the methods of tables.
    pub fn define_natives(&mut self, class: ClassId, tables: &[&'static [MethodRow]]) {
        for row in tables.iter().copied().flatten() {
            self.define_native_in(row, class);
        }
    }
    /// A class by its path, as this VM has it. NameError when the program took it away.
    pub fn class_named(&mut self, path: &str) -> Result<ClassId> {
        match self.const_by_path(path).and_then(|v| self.class_id(v)) {
            Some(c) => Ok(c),
            None => self.raise(ids::NAME_ERROR, format!("uninitialized constant {path}")),
        }
    }
    /// Raises an exception of a class that is no boot class.
    #[cold]
    pub fn raise_named<T>(&mut self, path: &str, message: impl AsRef<str>) -> Result<T> {
        let class = self.class_named(path)?;
        self.raise(class, message)
    }
    /// The data for changing: the VM's own copy, made now if it was still the boot image's.
    pub fn class_mut(&mut self, id: ClassId) -> &mut ClassData {
        let data = self.own_class(id);
        // SAFETY: own data, reached only through this VM.
        if !unsafe { (*data).weighed.fresh } {
            self.class_gets_cells(id);
        }
        // SAFETY: as above.
        unsafe { &mut *data }
    }
    /// A class has got a subclass or includer: nothing that the collector would look for.
    fn add_dependent(&mut self, id: ClassId, dependent: ClassId) {
        let data = self.own_class(id);
        // SAFETY: own data, reached only through this VM.
        unsafe { (*data).dependents.push(dependent) }
    }
    fn own_class(&mut self, id: ClassId) -> *mut ClassData {
        self.class_changes(id);
        let slot = match self.classes.get(id.0) {
            Some(s) => *s,
            None => unreachable!("class id {} of another VM", id.0),
        };
        if slot.own {
            return slot.data;
        }
        // SAFETY: as in `class`.
        let copy = Box::into_raw(Box::new(unsafe { (*slot.data).clone() }));
        self.class_near.1 = std::ptr::null();
        *self.classes.slot(id.0) = Some(ClassSlot { data: copy, own: true });
        self.class_gets_cells(id);
        copy
    }
    /// The object of a singleton class.
    pub fn attached(&mut self, id: ClassId) -> Value {
        match self.class(id).attached {
            OF_MAIN => self.main,
            v => self.instantiate(v),
        }
    }
    /// Extra data of a class.
    pub fn class_extra(&mut self, id: ClassId) -> Value {
        let v = self.class(id).extra;
        self.instantiate(v)
    }
    pub fn class_value(&self, id: ClassId) -> Value {
        self.class(id).object
    }
    /// Class id of a class or module value.
    pub fn class_id(&self, v: Value) -> Option<ClassId> {
        Ref::<ClassCell>::from_value(v).map(|c| c.id)
    }
    /// Class of a value, singleton classes included: where method lookup starts.
    #[inline]
    pub fn dispatch_class(&self, v: Value) -> ClassId {
        let key = v.shape_key();
        if key < shape::BOOT_ROOTS && !v.is_kind(Kind::Class) {
            return ClassId(key);
        }
        if let Some(c) = Ref::<ClassCell>::from_value(v) {
            return self.class_of_class(c.id);
        }
        self.shape(key).class
    }
    /// Where lookup starts for a class object: its singleton class, the nearest one of a superclass, or Class/Module.
    fn class_of_class(&self, id: ClassId) -> ClassId {
        let mut c = self.class(id);
        let mut steps = 0;
        let found = loop {
            if let Some(s) = c.singleton {
                break s;
            }
            if let Some(known) = c.meta.get(self.epoch) {
                break known;
            }
            match (c.kind, c.superclass) {
                (ClassKind::Module, _) => break if c.id == id { self.module_class(id) } else { ids::MODULE },
                (_, Some(up)) if up != c.id => c = self.class(up),
                _ => break ids::CLASS,
            }
            steps += 1;
        };
        if steps > FAR {
            self.note_meta(id, found);
        }
        found
    }
    /// Remembers for a class far below the next singleton class, and for those between, where look-up starts.
    #[cold]
    fn note_meta(&self, id: ClassId, found: ClassId) {
        let mut at = Some(id);
        while let Some(id) = at {
            let Some(slot) = self.classes.get(id.0).filter(|s| s.own) else { return };
            // SAFETY: an own slot points to live class data that this VM alone uses.
            let c = unsafe { &*slot.data };
            if c.singleton.is_some() || c.meta.get(self.epoch).is_some() {
                return;
            }
            c.meta.set(self.epoch, found);
            at = c.superclass.filter(|up| *up != id);
        }
    }
    fn module_class(&self, id: ClassId) -> ClassId {
        // A subclass of Module is kept as the module object's shape.
        let s = self.shape(self.class(id).object.shape_key()).class;
        if s == ids::CLASS { ids::MODULE } else { s }
    }
    /// `v.class`
    pub fn class_of(&self, v: Value) -> ClassId {
        let mut id = if let Some(c) = Ref::<ClassCell>::from_value(v) {
            match self.class(c.id).kind {
                ClassKind::Module => self.module_class(c.id),
                _ => ids::CLASS,
            }
        } else {
            self.dispatch_class(v)
        };
        loop {
            let d = self.class(id);
            match d.superclass {
                Some(up) if d.kind == ClassKind::Singleton => id = up,
                _ => return id,
            }
        }
    }
    /// The object that `v.class` answers.
    #[inline]
    pub fn shown_class(&mut self, v: Value) -> Value {
        let shape = v.shape_key();
        if let Some((known, class)) = self.classes_met.0.get(ClassesMet::place(shape))
            && *known == shape
        {
            return *class;
        }
        self.shown_class_found(v, shape)
    }
    #[inline(never)]
    fn shown_class_found(&mut self, v: Value, shape: u32) -> Value {
        let id = self.class_of(v);
        let class = self.class_value(id);
        if !v.is_kind(Kind::Class) {
            self.classes_met.note(shape, class);
        }
        class
    }
    pub fn class_name_of(&self, v: Value) -> String {
        let c = self.class_of(v);
        self.class_name(c)
    }
    /// Name, or `#<Class:0x...>` while anonymous.
    pub fn class_name(&self, id: ClassId) -> String {
        let c = self.class(id);
        if let Some(n) = c.name {
            return n.name().into_owned();
        }
        match c.kind {
            ClassKind::Singleton => {
                let (mut depth, mut a) = (1, if c.attached == OF_MAIN { self.main } else { c.attached });
                while let Some(k) = self.class_id(a).map(|k| self.class(k)).filter(|k| k.name.is_none() && k.kind == ClassKind::Singleton) {
                    depth += 1;
                    a = k.attached;
                }
                let inner = match self.class_id(a) {
                    Some(k) => self.class_name(k),
                    None => format!("#<{}:0x{:016x}>", self.class_name_of(a), a.bits()),
                };
                format!("{}{inner}{}", "#<Class:".repeat(depth), ">".repeat(depth))
            }
            ClassKind::Class => format!("#<Class:0x{:016x}>", c.object.bits()),
            ClassKind::Module => {
                let k = self.module_class(id);
                format!("#<{}:0x{:016x}>", self.class_name(k), c.object.bits())
            }
        }
    }
    /// `v.is_a?(class)`
    #[inline]
    pub fn is_a(&self, v: Value, class: ClassId) -> bool {
        let c = self.dispatch_class(v);
        c == class || self.inherits(c, class)
    }
    /// Whether `c` is `of` or inherits from or includes it.
    pub fn inherits(&self, c: ClassId, of: ClassId) -> bool {
        if c == of {
            return true;
        }
        let mut d = self.class(c);
        loop {
            let is_near = if d.sorted.is_empty() { d.near.contains(&of) } else { d.sorted.binary_search(&of).is_ok() };
            if is_near {
                return true;
            }
            match d.beyond {
                Some(up) => d = self.class(up),
                None => return false,
            }
        }
    }
    fn next_class_id(&mut self) -> ClassId {
        if let Some(id) = self.numbers.as_mut().and_then(|n| n.class()) {
            return ClassId(id);
        }
        if self.class_lot.0 == self.class_lot.1 {
            let first = CLASS_LOTS.take();
            self.class_lot = (first, first + LOT);
        }
        let id = self.class_lot.0;
        self.class_lot.0 += 1;
        ClassId(id)
    }
    pub(crate) fn install_class(&mut self, data: Box<ClassData>) {
        let id = data.id;
        self.class_changes(id);
        self.class_near.1 = std::ptr::null();
        *self.classes.slot(id.0) = Some(ClassSlot { data: Box::into_raw(data), own: true });
        self.class_gets_cells(id);
    }
    /// New anonymous class or module. `hooks` are the caller's business.
    pub fn new_class(&mut self, kind: ClassKind, superclass: Option<ClassId>) -> ClassId {
        self.new_class_of(if kind == ClassKind::Module { ids::MODULE } else { ids::CLASS }, kind, superclass)
    }
    /// The same with the class of the class object: a subclass of Module is kept as the module's shape.
    pub fn new_class_of(&mut self, class: ClassId, kind: ClassKind, superclass: Option<ClassId>) -> ClassId {
        let id = self.next_class_id();
        // Each class object has a shape of its own: inline caches tell receivers apart by shape, and classes differ in their methods.
        let shape = self.new_shape(ShapeInfo { class, parent: 0, name: sym::empty, count: 0 });
        let header = Header { shape, kind: Kind::Class as u8, flags: 0, aux: 0 };
        let object = alloc_cell(&self.heap, ClassCell { header, id }).as_value();
        let mut data = Box::new(ClassData::new(id, kind, object, superclass));
        data.made_at = self.captures;
        data.root_shape = self.new_shape(ShapeInfo { class: id, parent: 0, name: sym::empty, count: 0 });
        if let Some(s) = superclass {
            let up = self.class(s);
            data.alloc = up.alloc;
            data.ivar_hint = up.ivar_hint;
            data.extra = up.extra;
            data.repeats = up.repeats;
            let mut own = Vec::with_capacity(1 + up.near.len());
            own.push(id);
            (data.near, data.own_places, data.beyond) = self.joined(own, superclass);
        } else {
            data.near = vec![id];
        }
        if kind == ClassKind::Module {
            data.alloc = Alloc::None;
        }
        self.own_more(data.weight());
        self.install_class(data);
        if let Some(s) = superclass {
            self.add_dependent(s, id);
        }
        id
    }
    /// Defines (or finds) a named class under a holder, without hooks.
    pub fn define_class(&mut self, holder: ClassId, name: &str, superclass: ClassId) -> ClassId {
        let s = Sym::intern(name);
        if let Some(e) = self.class(holder).consts.get(&s)
            && let Some(id) = self.class_id(e.value)
        {
            return id;
        }
        let id = self.new_class(ClassKind::Class, Some(superclass));
        // Libraries know theirs by number.
        self.class(id).known.set();
        let object = self.class_value(id);
        self.const_set(holder, s, object);
        id
    }
    pub fn define_module(&mut self, holder: ClassId, name: &str) -> ClassId {
        let s = Sym::intern(name);
        if let Some(e) = self.class(holder).consts.get(&s)
            && let Some(id) = self.class_id(e.value)
        {
            return id;
        }
        let id = self.new_class(ClassKind::Module, None);
        self.class(id).known.set();
        let object = self.class_value(id);
        self.const_set(holder, s, object);
        id
    }
    /// The singleton class of a value, made on first use. TypeError for Integers, Floats and Symbols.
    pub fn singleton_class(&mut self, v: Value) -> Result<ClassId> {
        match v {
            Value::NIL => return Ok(ids::NIL_CLASS),
            Value::TRUE => return Ok(ids::TRUE_CLASS),
            Value::FALSE => return Ok(ids::FALSE_CLASS),
            _ => {}
        }
        if !v.is_cell() || v.is_kind(Kind::Float) || v.is_kind(Kind::Bignum) {
            return self.type_error("can't define singleton");
        }
        if let Some(c) = self.class_id(v) {
            let s = match self.class(c).singleton {
                Some(s) => s,
                None => self.singleton_of_class(c),
            };
            // As of other objects, that of a frozen class is frozen.
            if self.class(c).frozen && !self.class(s).frozen {
                self.class_mut(s).frozen = true;
            }
            return Ok(s);
        }
        if v.flags() & flags::SHARED != 0 {
            return self.frozen_error(v);
        }
        if v.is_chilled() {
            self.thaw(v)?;
        }
        let c = self.dispatch_class(v);
        if self.class(c).kind == ClassKind::Singleton && self.attached(c) == v {
            return Ok(c);
        }
        let id = self.new_class(ClassKind::Singleton, Some(c));
        let d = self.class_mut(id);
        (d.attached, d.lexical_parent, d.frozen) = (v, Some(c), v.flags() & flags::FROZEN != 0);
        self.change_class(v, id);
        Ok(id)
    }
    /// Makes the singleton class of a class that has none. It inherits from the singleton class of the superclass, which is made first.
    fn singleton_of_class(&mut self, c: ClassId) -> ClassId {
        let mut missing = vec![c];
        let mut at = c;
        let mut up = loop {
            match (self.class(at).kind, self.class(at).superclass) {
                (ClassKind::Module, _) => break self.module_class(at),
                (_, Some(s)) if s != at => match self.class(s).singleton {
                    Some(there) => break there,
                    None => {
                        missing.push(s);
                        at = s;
                    }
                },
                _ => break ids::CLASS,
            }
        };
        while let Some(c) = missing.pop() {
            let id = self.new_class(ClassKind::Singleton, Some(up));
            self.class_mut(id).attached = self.class_value(c);
            self.class_mut(c).singleton = Some(id);
            // Existing subclasses' singleton classes that skipped this level now inherit from it.
            for d in self.class(c).dependents.clone() {
                if let Some(s) = self.class(d).singleton
                    && self.class(d).superclass == Some(c)
                {
                    self.set_superclass(s, id);
                }
            }
            up = id;
        }
        self.bump_epoch();
        up
    }
    /// What `Class#initialize` does for a class that was made without a superclass.
    pub fn initialize_class(&mut self, c: ClassId, up: ClassId) {
        let (alloc, hint, extra) = (self.class(up).alloc, self.class(up).ivar_hint, self.class(up).extra);
        let d = self.class_mut(c);
        (d.alloc, d.ivar_hint, d.extra) = (alloc, hint, extra);
        self.set_superclass(c, up);
        if let Some(s) = self.class(c).singleton {
            let sup = self.class_value(up);
            if let Ok(up) = self.singleton_class(sup) {
                self.set_superclass(s, up);
            }
        }
        self.bump_epoch();
        self.const_epoch += 1;
    }
    pub(crate) fn set_superclass(&mut self, c: ClassId, up: ClassId) {
        if let Some(old) = self.class(c).superclass {
            self.class_mut(old).dependents.retain(|d| *d != c);
        }
        self.class_mut(c).superclass = Some(up);
        self.add_dependent(up, c);
        self.relinearise(c);
    }
    /// `class.include(module)`, without hooks. False when it was there already.
    pub fn include_module(&mut self, class: ClassId, module: ClassId) -> Result<bool> {
        if self.inherits(module, class) {
            return self.arg_error("cyclic include detected");
        }
        if self.class(class).includes.contains(&module) {
            return Ok(false);
        }
        let superclass = self.superclass_of(class);
        let (prepended, behind) = self.own_parts(class);
        let (mut own, mut behind) = (prepended.to_vec(), behind.to_vec());
        self.place(&mut behind, 1, module, &Beside { superclass, prepended, kept: &[] });
        own.extend(behind);
        self.class_mut(class).includes.push(module);
        self.placed(class, module, own);
        Ok(true)
    }
    /// `class.prepend(module)`, without hooks.
    pub fn prepend_module(&mut self, class: ClassId, module: ClassId) -> Result<bool> {
        if self.inherits(module, class) {
            return self.arg_error("cyclic prepend detected");
        }
        if self.class(class).prepends.contains(&module) {
            return Ok(false);
        }
        self.class_mut(class).prepends.push(module);
        let (prepended, behind) = self.own_parts(class);
        let mut own = prepended.to_vec();
        self.place(&mut own, 0, module, &Beside::default());
        own.extend(behind);
        self.placed(class, module, own);
        Ok(true)
    }
    /// Gives a copy of a class the modules of the class, each where it stands there: their order says more than the lists of what was included and prepended.
    pub fn copy_modules(&mut self, from: ClassId, to: ClassId) -> Result<()> {
        let (includes, prepends) = (self.class(from).includes.clone(), self.class(from).prepends.clone());
        if self.own_places(to).len() > 1 {
            includes.iter().try_for_each(|m| self.include_module(to, *m).map(drop))?;
            return prepends.iter().try_for_each(|m| self.prepend_module(to, *m).map(drop));
        }
        let own: Vec<ClassId> = self.own_places(from).iter().map(|c| if *c == from { to } else { *c }).collect();
        if own.len() == 1 && includes.is_empty() {
            return Ok(());
        }
        for m in includes.iter().chain(prepends.iter().filter(|m| !includes.contains(m))) {
            self.add_dependent(*m, to);
        }
        let modules: Vec<ClassId> = includes.iter().chain(&prepends).copied().collect();
        let d = self.class_mut(to);
        (d.includes, d.prepends) = (includes, prepends);
        self.set_ancestors(to, own);
        self.relinearise(to);
        self.bump_epoch();
        self.const_epoch += 1;
        modules.iter().for_each(|m| self.note_redefinition_by_module(to, *m));
        Ok(())
    }
    /// A class has got a module, which gives it these places of its own.
    fn placed(&mut self, class: ClassId, module: ClassId, own: Vec<ClassId>) {
        debug_assert!(own.len() > 100 || own == self.linearise(class), "the places of a module");
        let d = self.class(class);
        // Once, if it includes and prepends it.
        if !(d.includes.contains(&module) && d.prepends.contains(&module)) {
            self.add_dependent(module, class);
        }
        self.set_ancestors(class, own);
        for c in self.with_dependents(class).into_iter().skip(1) {
            let own = self.linearise(c);
            self.set_ancestors(c, own);
        }
        if self.is_cached_with_module(class, module) {
            self.bump_epoch();
        }
        if self.ancestors(module).any(|m| !self.class(m).consts.is_empty()) {
            self.const_epoch += 1;
        }
        self.note_redefinition_by_module(class, module);
    }
    /// Recomputes the ancestor list of a class and of everything that contains it.
    fn relinearise(&mut self, id: ClassId) {
        for c in self.with_dependents(id) {
            let own = self.linearise(c);
            self.set_ancestors(c, own);
        }
    }
    fn set_ancestors(&mut self, id: ClassId, own: Vec<ClassId>) {
        let repeats = self.repeats(id, &own);
        let (mut near, own, beyond) = self.joined(own, self.superclass_of(id));
        if near.capacity() > near.len() + 4 {
            near.shrink_to_fit();
        }
        // What is beyond may have changed, too.
        self.cvar_cache.forget();
        let d = self.class(id);
        if d.near != near || d.beyond != beyond || d.own_places != own || d.repeats != repeats {
            self.own_more(8 * near.len().saturating_sub(d.near.len()));
            let d = self.class_mut(id);
            (d.near, d.own_places, d.beyond, d.repeats) = (near, own, beyond, repeats);
            d.sorted = Vec::new();
            if d.near.len() > class::FEW {
                d.sorted.extend_from_slice(&d.near);
                d.sorted.sort_unstable();
            }
        }
    }
    /// Whether some module stands twice among the ancestors of a class with these places of its own.
    fn repeats(&self, id: ClassId, own: &[ClassId]) -> bool {
        if let Some(up) = self.superclass_of(id)
            && (self.class(up).repeats || own.iter().any(|m| *m != id && self.inherits(up, *m)))
        {
            return true;
        }
        let at = own.iter().position(|c| *c == id).unwrap_or(0);
        own[..at].iter().any(|m| own[at..].contains(m))
    }
    /// A class and everything whose ancestors depend on its, each behind what it depends on.
    fn with_dependents(&self, id: ClassId) -> Vec<ClassId> {
        if self.class(id).dependents.is_empty() {
            return vec![id];
        }
        let mut seen = FastMap::default();
        seen.insert(id, ());
        // Depth first: who is left last depends on no other.
        let (mut path, mut left) = (vec![(id, 0)], Vec::new());
        while let Some((c, at)) = path.last_mut() {
            match self.class(*c).dependents.get(*at) {
                Some(d) => {
                    *at += 1;
                    if seen.insert(*d, ()).is_none() {
                        path.push((*d, 0));
                    }
                }
                None => {
                    left.push(*c);
                    path.pop();
                }
            }
        }
        left.reverse();
        left
    }
    fn superclass_of(&self, id: ClassId) -> Option<ClassId> {
        self.class(id).superclass.filter(|s| *s != id)
    }
    /// The class and its modules, where they stand before the superclass.
    pub(crate) fn own_places(&self, id: ClassId) -> &[ClassId] {
        let d = self.class(id);
        &d.near[..d.own_places as usize]
    }
    /// The same in two parts: what the class prepends, and the class with what it includes.
    fn own_parts(&self, id: ClassId) -> (&[ClassId], &[ClassId]) {
        let own = self.own_places(id);
        own.split_at(own.iter().position(|c| *c == id).unwrap_or(0))
    }
    /// The own places of a class, after its modules have changed. A place that an included module has stays, even if the superclass has got the module meanwhile.
    fn linearise(&self, id: ClassId) -> Vec<ClassId> {
        let c = self.class(id);
        let (prepended, kept) = self.own_parts(id);
        let beside = Beside { superclass: self.superclass_of(id), prepended, kept };
        // What a prepended module has got since then stands behind the class already, or it gets a place.
        let fresh = Beside::default();
        let late = Beside { superclass: beside.superclass, prepended: kept, kept: prepended };
        let mut out: Vec<ClassId> = Vec::new();
        for m in &c.prepends {
            let new = !prepended.contains(m);
            self.place(&mut out, 0, *m, if new { &fresh } else { &late });
        }
        let mut behind = vec![id];
        for m in &c.includes {
            self.place(&mut behind, 1, *m, &beside);
        }
        out.extend(behind);
        out
    }
    /// A class's own places with those of its superclass behind them, if both are few.
    fn joined(&self, mut own: Vec<ClassId>, superclass: Option<ClassId>) -> (Vec<ClassId>, u32, Option<ClassId>) {
        let n = own.len();
        let Some(up) = superclass else { return (own, n as u32, None) };
        let d = self.class(up);
        if n + d.near.len() > class::NEAR {
            return (own, n as u32, Some(up));
        }
        own.reserve_exact(d.near.len());
        own.extend_from_slice(&d.near);
        (own, n as u32, d.beyond)
    }
    /// Puts a module with its ancestors at place `at` of an ancestor list. One that is there already stays where it stands, and what follows it goes behind it.
    fn place(&self, out: &mut Vec<ClassId>, mut at: usize, module: ClassId, beside: &Beside<'_>) {
        // Only a module that both prepends and includes can have one twice in its own list: else what is put in need not be looked for.
        let twice = self.class(module).repeats;
        let few = out.len() <= class::NEAR || self.ancestors(module).nth(8).is_none();
        let many: Option<FastMap<ClassId, ()>> = (!few).then(|| out.iter().map(|c| (*c, ())).collect());
        let mut run = Vec::new();
        let put = |out: &mut Vec<ClassId>, run: &mut Vec<ClassId>, at: usize| {
            let n = run.len();
            out.splice(at..at, run.drain(..));
            at + n
        };
        for a in self.ancestors(module) {
            if twice && run.contains(&a) {
                continue;
            }
            let there = many.as_ref().map_or_else(|| out.contains(&a), |m| m.contains_key(&a));
            if there {
                at = put(out, &mut run, at);
                at = at.max(out.iter().position(|o| *o == a).map_or(0, |i| i + 1));
            } else if !beside.has(self, a) || beside.kept.contains(&a) {
                run.push(a);
            }
        }
        put(out, &mut run, at);
    }
    /// Lexically the class with a name relative to its holder: sets the name of an anonymous class that is assigned to a constant.
    pub(crate) fn name_class(&mut self, holder: ClassId, name: Sym, class: ClassId) {
        if self.class(class).name.is_some_and(|n| !is_temporary(n)) || self.class(class).kind == ClassKind::Singleton {
            return;
        }
        // A temporary name only gives way to a permanent one.
        if self.class(class).name.is_some() && holder != ids::OBJECT && self.class(holder).name.is_none_or(is_temporary) {
            return;
        }
        let full = if holder == ids::OBJECT {
            name
        } else {
            name.within(self.class(holder).name.unwrap_or_else(|| Sym::intern(&self.class_name(holder))))
        };
        let d = self.class_mut(class);
        d.name = Some(full);
        d.lexical_parent = Some(holder);
        // Classes that were waiting for this name.
        let inner: Vec<(Sym, Value)> = self.class(class).consts.iter().map(|(n, e)| (*n, e.value)).collect();
        for (n, v) in inner {
            if let Some(id) = self.class_id(v) {
                self.name_class(class, n, id);
            }
        }
    }
    /// Superclass as `Class#superclass` shows it.
    pub fn visible_superclass(&self, id: ClassId) -> Option<ClassId> {
        match self.class(id).superclass {
            Some(s) if s != id => Some(s),
            _ => None,
        }
    }
}

/// Whether a class's name is no path of constants: it was given by `set_temporary_name`, or begins in an anonymous module.
pub fn is_temporary(name: Sym) -> bool {
    !is_constant_path(&name.name()) && name.bytes() != b"fatal"
}
/// Whether a text is a constant's name, or several with `::` between.
pub fn is_constant_path(text: &str) -> bool {
    let mut rest = text.as_bytes();
    // At the begin of a word.
    let mut begins = true;
    while let [b, behind @ ..] = rest {
        rest = match (b, behind) {
            (b':', [b':', behind @ ..]) if !begins => behind,
            (0x80.. | b'A'..=b'Z', _) => behind,
            (b'a'..=b'z' | b'0'..=b'9' | b'_', _) if !begins => behind,
            _ => return false,
        };
        begins = *b == b':';
    }
    !begins
}
