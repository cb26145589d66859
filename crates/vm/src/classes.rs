//! Classes: tables, ancestors, definition.
//!
//! Ancestor lists are linearised. Including a module recomputes the list of the class and, through `dependents`, of everything that
//! contains it.

use crate::raise::Result;
use crate::vm::{ClassSlot, Cx};
use zakuro_object::shape::{CLASS_LOTS, LOT, ShapeInfo};
use zakuro_object::*;

/// Stands in the boot image's rows for "the main object of the VM that asks".
pub(crate) const OF_MAIN: Value = Value::TRUE;

impl Cx {
    /// Classes that this VM has made or changed, in lots.
    pub(crate) fn classes_made(&self) -> usize {
        self.classes.own_lots() * zakuro_object::LOT as usize
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
    /// The data for changing: the VM's own copy, made now if it was still the boot image's.
    pub fn class_mut(&mut self, id: ClassId) -> &mut ClassData {
        self.class_changes(id);
        let slot = match self.classes.get(id.0) {
            Some(s) => *s,
            None => unreachable!("class id {} of another VM", id.0),
        };
        let data = if slot.own {
            slot.data
        } else {
            // SAFETY: as in `class`.
            let copy = Box::into_raw(Box::new(unsafe { (*slot.data).clone() }));
            *self.classes.slot(id.0) = Some(ClassSlot { data: copy, own: true });
            copy
        };
        // SAFETY: own data, reached only through this VM.
        unsafe { &mut *data }
    }
    /// The object of a singleton class.
    pub fn attached(&mut self, id: ClassId) -> Value {
        match self.class(id).attached {
            OF_MAIN => self.main,
            v => self.own(v),
        }
    }
    /// Extra data of a class.
    pub fn class_extra(&mut self, id: ClassId) -> Value {
        let v = self.class(id).extra;
        self.own(v)
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
        loop {
            if let Some(s) = c.singleton {
                return s;
            }
            match (c.kind, c.superclass) {
                (ClassKind::Module, _) => return if c.id == id { self.module_class(id) } else { ids::MODULE },
                (_, Some(up)) if up != c.id => c = self.class(up),
                _ => return ids::CLASS,
            }
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
        while self.class(id).kind == ClassKind::Singleton {
            match self.class(id).superclass {
                Some(up) => id = up,
                None => break,
            }
        }
        id
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
                let a = c.attached;
                match self.class_id(a) {
                    Some(k) => format!("#<Class:{}>", self.class_name(k)),
                    None => format!("#<Class:#<{}:0x{:016x}>>", self.class_name_of(a), a.0),
                }
            }
            ClassKind::Class => format!("#<Class:0x{:016x}>", c.object.0),
            ClassKind::Module => {
                let k = self.module_class(id);
                format!("#<{}:0x{:016x}>", self.class_name(k), c.object.0)
            }
        }
    }
    /// `v.is_a?(class)`
    #[inline]
    pub fn is_a(&self, v: Value, class: ClassId) -> bool {
        let c = self.dispatch_class(v);
        c == class || self.class(c).mro.contains(&class)
    }
    /// Whether `c` is `of` or inherits from or includes it.
    pub fn inherits(&self, c: ClassId, of: ClassId) -> bool {
        c == of || self.class(c).mro.contains(&of)
    }
    fn next_class_id(&mut self) -> ClassId {
        if self.class_lot.0 == self.class_lot.1 {
            let first = CLASS_LOTS.take();
            self.class_lot = (first, first + LOT);
        }
        let id = self.class_lot.0;
        self.class_lot.0 += 1;
        ClassId(id)
    }
    pub(crate) fn install_class(&mut self, data: ClassData) {
        let id = data.id;
        self.class_changes(id);
        *self.classes.slot(id.0) = Some(ClassSlot { data: Box::into_raw(Box::new(data)), own: true });
    }
    /// New anonymous class or module. `hooks` are the caller's business.
    pub fn new_class(&mut self, kind: ClassKind, superclass: Option<ClassId>) -> ClassId {
        let id = self.next_class_id();
        // Each class object has a shape of its own: inline caches tell receivers apart by shape, and classes differ in their methods.
        let class = if kind == ClassKind::Module { ids::MODULE } else { ids::CLASS };
        let shape = self.new_shape(ShapeInfo { class, parent: 0, name: sym::empty, count: 0 });
        let header = Header { shape, kind: Kind::Class as u8, flags: 0, aux: 0 };
        let object = alloc_cell(&mut self.heap, ClassCell { header, id }).as_value();
        let mut data = ClassData::new(id, kind, object, superclass);
        data.root_shape = self.new_shape(ShapeInfo { class: id, parent: 0, name: sym::empty, count: 0 });
        if let Some(s) = superclass {
            let up = self.class(s);
            data.alloc = up.alloc;
            data.ivar_hint = up.ivar_hint;
            data.mro.extend_from_slice(&up.mro);
            data.extra = up.extra;
        }
        if kind == ClassKind::Module {
            data.alloc = Alloc::None;
        }
        self.install_class(data);
        if let Some(s) = superclass {
            self.class_mut(s).dependents.push(id);
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
            if let Some(s) = self.class(c).singleton {
                return Ok(s);
            }
            // The singleton class of a class inherits from the singleton class of its superclass.
            let up = match (self.class(c).kind, self.class(c).superclass) {
                (ClassKind::Module, _) => self.module_class(c),
                (_, None) => ids::CLASS,
                (_, Some(s)) if s == c => ids::CLASS,
                (_, Some(s)) => {
                    let sup = self.class_value(s);
                    self.singleton_class(sup)?
                }
            };
            let id = self.new_class(ClassKind::Singleton, Some(up));
            self.class_mut(id).attached = v;
            self.class_mut(c).singleton = Some(id);
            // Existing subclasses' singleton classes that skipped this level now inherit from it.
            for d in self.class(c).dependents.clone() {
                if let Some(s) = self.class(d).singleton
                    && self.class(d).superclass == Some(c)
                {
                    self.set_superclass(s, id);
                }
            }
            self.bump_epoch();
            return Ok(id);
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
        self.class_mut(id).attached = v;
        self.class_mut(id).lexical_parent = Some(c);
        if v.flags() & flags::FROZEN != 0 {
            self.class_mut(id).frozen = true;
        }
        self.change_class(v, id);
        Ok(id)
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
        self.class_mut(up).dependents.push(c);
        self.relinearise(c);
    }
    /// `class.include(module)`, without hooks. False when it was there already.
    pub fn include_module(&mut self, class: ClassId, module: ClassId) -> Result<bool> {
        if class == module || self.class(module).mro.contains(&class) {
            return self.arg_error("cyclic include detected");
        }
        if self.class(class).includes.contains(&module) {
            return Ok(false);
        }
        self.class_mut(class).includes.push(module);
        if !self.class(module).dependents.contains(&class) {
            self.class_mut(module).dependents.push(class);
        }
        self.relinearise(class);
        self.bump_epoch();
        self.const_epoch += 1;
        self.note_redefinition_by_module(class, module);
        Ok(true)
    }
    /// `class.prepend(module)`, without hooks.
    pub fn prepend_module(&mut self, class: ClassId, module: ClassId) -> Result<bool> {
        if class == module || self.class(module).mro.contains(&class) {
            return self.arg_error("cyclic prepend detected");
        }
        if self.class(class).prepends.contains(&module) {
            return Ok(false);
        }
        self.class_mut(class).prepends.push(module);
        if !self.class(module).dependents.contains(&class) {
            self.class_mut(module).dependents.push(class);
        }
        self.relinearise(class);
        self.bump_epoch();
        self.const_epoch += 1;
        self.note_redefinition_by_module(class, module);
        Ok(true)
    }
    /// Recomputes the ancestor list of a class and of everything that contains it.
    fn relinearise(&mut self, id: ClassId) {
        let mro = self.linearise(id);
        if self.class(id).mro != mro {
            self.cvar_cache.forget();
            self.class_mut(id).mro = mro;
        }
        for d in self.class(id).dependents.clone() {
            self.relinearise(d);
        }
    }
    fn linearise(&self, id: ClassId) -> Vec<ClassId> {
        let c = self.class(id);
        let above: Vec<ClassId> = match c.superclass {
            Some(s) if s != id => self.class(s).mro.clone(),
            _ => Vec::new(),
        };
        let mut out: Vec<ClassId> = Vec::new();
        for m in &c.prepends {
            self.place(&mut out, 0, *m, &[]);
        }
        out.push(id);
        let first = out.len();
        for m in &c.includes {
            self.place(&mut out, first, *m, &above);
        }
        out.extend(above);
        out
    }
    /// Puts a module with its ancestors at place `at` of an ancestor list. One that is there already stays where it stands, and what follows it goes behind it.
    fn place(&self, out: &mut Vec<ClassId>, mut at: usize, module: ClassId, above: &[ClassId]) {
        for a in &self.class(module).mro {
            match out.iter().position(|o| o == a) {
                Some(i) => at = at.max(i + 1),
                None if above.contains(a) => {}
                None => {
                    out.insert(at, *a);
                    at += 1;
                }
            }
        }
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
            match self.class(holder).name {
                Some(h) => Sym::intern(&format!("{}::{}", h.name(), name.name())),
                None => Sym::intern(&format!("{}::{}", self.class_name(holder), name.name())),
            }
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
    let word = |p: &str| {
        p.starts_with(|c: char| !c.is_ascii() || c.is_ascii_uppercase())
            && p.chars().all(|c| !c.is_ascii() || c.is_ascii_alphanumeric() || c == '_')
    };
    text.split("::").all(word)
}
