//! Class variables: which class holds one as seen from a scope, and a small cache of that.
//!
//! Resolving one walks the ancestors of the scope's class. The cache remembers holder and place by (scope, name); it is emptied, by a number, whenever a class
//! variable is made or removed, ancestors change, and at each collection (a scope's address may then be another's).
//!
//! Rejected: a cache per site, as constants have (class variables are rare: a table per Code for them would cost those that have none).

use crate::raise::Result;
use crate::vm::Cx;
use zakuro_object::*;

const ENTRIES: usize = 32;

/// See the module.
pub(crate) struct CvarCache {
    epoch: u32,
    /// None until there is something to keep.
    entries: Option<Box<[Entry; ENTRIES]>>,
}

#[derive(Clone, Copy)]
struct Entry {
    cref: Value,
    name: Sym,
    epoch: u32,
    holder: ClassId,
    at: u32,
}

impl Default for CvarCache {
    fn default() -> Self {
        CvarCache { epoch: 1, entries: None }
    }
}

impl CvarCache {
    fn slot(cref: Value, name: Sym) -> usize {
        ((cref.bits() >> 4) as usize ^ name.0 as usize) % ENTRIES
    }
    #[inline]
    fn find(&self, cref: Value, name: Sym) -> Option<(ClassId, usize)> {
        let e = &self.entries.as_deref()?[Self::slot(cref, name)];
        (e.cref == cref && e.name == name && e.epoch == self.epoch).then_some((e.holder, e.at as usize))
    }
    fn keep(&mut self, cref: Value, name: Sym, holder: ClassId, at: usize) {
        const NONE: Entry = Entry { cref: Value::NIL, name: sym::empty, epoch: 0, holder: ids::OBJECT, at: 0 };
        let entries = self.entries.get_or_insert_with(|| Box::new([NONE; ENTRIES]));
        entries[Self::slot(cref, name)] = Entry { cref, name, epoch: self.epoch, holder, at: at as u32 };
    }
    /// What was known need not be so any more.
    pub(crate) fn forget(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            *self = CvarCache::default();
        }
    }
}

impl Cx {
    /// Class variables were added or removed otherwise than through [`Cx::cvar_set`].
    pub fn cvars_changed(&mut self) {
        self.cvar_cache.forget();
    }
    /// `@@name` in the running scope.
    pub(crate) fn cvar_read(&mut self, cref: Value, name: Sym) -> Result<Value> {
        if let Some((holder, at)) = self.cvar_cache.find(cref, name)
            && let Some((n, v)) = self.class(holder).cvars.get(at).copied()
            && n == name
        {
            return Ok(self.instantiate(v));
        }
        let c = self.cvar_base()?;
        let Some(v) = self.cvar_get(c, name)? else {
            let n = self.class_name(c);
            let o = self.class_value(c);
            return self.name_error(format!("uninitialized class variable {} in {n}", name.name()), name, o);
        };
        self.keep_cvar(cref, c, name);
        Ok(v)
    }
    /// `@@name = v` in the running scope.
    pub(crate) fn cvar_write(&mut self, cref: Value, name: Sym, v: Value) -> Result<()> {
        if let Some((holder, at)) = self.cvar_cache.find(cref, name)
            && !self.class(holder).frozen
            && let Some(e) = self.class_mut(holder).cvars.get_mut(at)
            && e.0 == name
        {
            e.1 = v;
            return Ok(());
        }
        let c = self.cvar_base()?;
        self.warn_of_refinement(cref)?;
        self.cvar_set(c, name, v)?;
        self.keep_cvar(cref, c, name);
        Ok(())
    }
    fn keep_cvar(&mut self, cref: Value, class: ClassId, name: Sym) {
        // A variable that two classes have is looked up each time: reading it may be an error.
        let mut holders = self.cvar_places(class).into_iter().filter(|c| self.class(*c).cvars.iter().any(|(n, _)| *n == name));
        let (Some(holder), None) = (holders.next(), holders.next()) else { return };
        if let Some(at) = self.class(holder).cvars.iter().position(|(n, _)| *n == name) {
            self.cvar_cache.keep(cref, name, holder, at);
        }
    }
    /// Class whose class variables the current scope sees.
    pub(crate) fn cvar_base(&mut self) -> Result<ClassId> {
        match self.cvar_scope() {
            Some(c) => Ok(c),
            None => self.raise(ids::RUNTIME_ERROR, "class variable access from toplevel"),
        }
    }
    /// The same; None at top level.
    pub(crate) fn cvar_scope(&self) -> Option<ClassId> {
        let mut c = self.current_cref();
        while let Some(s) = Ref::<CrefCell>::from_value(c) {
            if s.definee != Value::FALSE
                && let Some(id) = self.class_id(s.class)
            {
                // The body of a singleton class sees what is around it.
                if self.class(id).kind != ClassKind::Singleton {
                    if s.parent.is_nil() && id == ids::OBJECT {
                        return None;
                    }
                    return Some(id);
                }
            }
            c = s.parent;
        }
        Some(ids::OBJECT)
    }
    /// Where class variables are looked for, seen from `class`. A class's singleton class sees those of the class.
    pub fn cvar_places(&self, class: ClassId) -> Vec<ClassId> {
        let d = self.class(class);
        if d.kind == ClassKind::Singleton
            && let Some(attached) = self.class_id(d.attached)
        {
            let mut places = self.own_first(attached);
            places.insert(0, class);
            return places;
        }
        self.own_first(class)
    }
    /// Class that holds a class variable, seen from `class`.
    pub fn cvar_holder(&self, class: ClassId, name: Sym) -> Option<ClassId> {
        self.cvar_holders(class, name).map(|(_, last)| last)
    }
    /// The first and the last of the classes that have a class variable. The last one's counts; that of another is overtaken.
    fn cvar_holders(&self, class: ClassId, name: Sym) -> Option<(ClassId, ClassId)> {
        let has = |c: &ClassId| self.class(*c).cvars.iter().any(|(n, _)| *n == name);
        if self.class(class).kind != ClassKind::Singleton {
            // Of one holder alone the order does not matter.
            let mut holders = self.ancestors(class).filter(has);
            let only = holders.next()?;
            if holders.next().is_none() {
                return Some((only, only));
            }
        }
        let mut holders = self.cvar_places(class).into_iter().filter(has);
        let first = holders.next()?;
        Some((first, holders.last().unwrap_or(first)))
    }
    /// The class that holds a class variable; RuntimeError when it took it from another one.
    fn cvar_only_holder(&mut self, class: ClassId, name: Sym) -> Result<Option<ClassId>> {
        match self.cvar_holders(class, name) {
            Some((first, last)) if first != last => {
                let (first, last) = (self.class_name(first), self.class_name(last));
                self.raise(ids::RUNTIME_ERROR, format!("class variable {} of {first} is overtaken by {last}", name.name()))
            }
            holders => Ok(holders.map(|(_, last)| last)),
        }
    }
    pub fn cvar_get(&mut self, class: ClassId, name: Sym) -> Result<Option<Value>> {
        let Some(h) = self.cvar_only_holder(class, name)? else { return Ok(None) };
        let v = self.class(h).cvars.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
        Ok(v.map(|v| self.instantiate(v)))
    }
    pub fn cvar_set(&mut self, class: ClassId, name: Sym, v: Value) -> Result<()> {
        let h = self.cvar_only_holder(class, name)?.unwrap_or(class);
        if self.class(h).frozen {
            let o = self.class_value(h);
            return self.frozen_class_error(o);
        }
        let d = self.class_mut(h);
        match d.cvars.iter_mut().find(|(n, _)| *n == name) {
            Some(e) => e.1 = v,
            None => {
                d.cvars.push((name, v));
                self.cvar_cache.forget();
            }
        }
        Ok(())
    }
}
