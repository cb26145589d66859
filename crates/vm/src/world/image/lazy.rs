//! A VM's own copies of its image's templates, and what it looks up in the image's tables.

use super::graph::{Mode, Walk};
use crate::vm::Cx;
use std::sync::Arc;
use zakuro_object::*;

impl Cx {
    /// A value out of a table that an image may have a part in, as this VM may use it: its own copy of a template, everything else as it is.
    #[inline(always)]
    pub fn instantiate(&mut self, v: Value) -> Value {
        if v.is_template() { self.instantiate_template(v) } else { v }
    }
    #[cold]
    #[inline(never)]
    fn instantiate_template(&mut self, v: Value) -> Value {
        let Some(image) = &self.base else { return v };
        let v = image.resolve(v);
        if !v.is_template() {
            return v;
        }
        if let Some(own) = self.memo.get(&(v.bits() as usize)) {
            return *own;
        }
        // Counted by all VMs of the image: not on the way of those that have their copy.
        let image = image.clone();
        // Finding what belongs to a copy takes as long as making it.
        let before = self.begin_activity(crate::account::Activity::Image);
        let regions = image.regions();
        let mut w = Walk::new(Mode::Templates(image, std::mem::take(&mut self.memo)), (0, 0));
        w.graph.regions = regions;
        w.graph.root = w.value(v);
        w.finish(self);
        let Walk { graph, mode, cells, .. } = w;
        if let Mode::Templates(_, memo) = mode {
            self.memo = memo;
        }
        let root = self.build(graph, None, &cells, &mut |_, _| {}).1;
        self.end_activity(before);
        root
    }
    /// Copies all templates: for what looks at every object.
    pub fn own_everything(&mut self) {
        let Some(image) = self.base.clone() else { return };
        let mut all = UntracedVec::new();
        image.each_cell(&mut |v| {
            if v.is_template() {
                all.push(v);
            }
        });
        for v in all.iter().copied() {
            self.instantiate(v);
        }
    }
    /// The image's cells that this VM uses where they are.
    pub fn each_shared_cell(&self, f: &mut dyn FnMut(Value)) {
        if let Some(image) = &self.base {
            image.each_cell(&mut |v| {
                if !v.is_template() {
                    f(v);
                }
            });
        }
    }
    /// What the hash of an object goes by: its address, or that of the object that it is a copy of.
    #[inline]
    pub(crate) fn identity(&self, v: Value) -> u64 {
        if let Some(c) = Ref::<ClassCell>::from_value(v) {
            return (c.id.0 as u64) << 8 | 1;
        }
        if self.base.is_none() || !v.is_cell() {
            return v.bits();
        }
        let known = if v.flags() & flags::SHARED != 0 {
            self.base.as_ref().and_then(|b| b.identity(v))
        } else {
            self.identities.get(&(v.bits() as usize)).copied()
        };
        known.unwrap_or(v.bits())
    }
    /// Instance variables of a cell that has them outside its layout.
    pub(crate) fn generic_list(&self, v: Value) -> Option<&Vec<(Sym, Value)>> {
        match &self.base {
            Some(b) if v.flags() & flags::SHARED != 0 => b.generic_list(v),
            _ => self.generic_ivars.get(&(v.bits() as usize)),
        }
    }
    /// The object id that a cell was given.
    pub fn known_object_id(&self, v: Value) -> Option<i64> {
        if !self.object_ids.is_empty()
            && let Some(id) = self.object_ids.get(&(v.bits() as usize))
        {
            return Some(*id);
        }
        match &self.base {
            Some(b) if v.flags() & flags::SHARED != 0 => b.object_id(v),
            _ => None,
        }
    }
    pub fn set_const_place(&mut self, holder: ClassId, name: Sym, place: (Arc<str>, u32)) {
        self.const_places.insert((holder, name), place);
        self.state_changes(|c| c.place(holder, name));
    }
    /// Where a constant was set.
    pub fn const_place(&self, holder: ClassId, name: Sym) -> Option<(Arc<str>, u32)> {
        let own = self.const_places.get(&(holder, name)).cloned();
        own.or_else(|| self.base.as_ref()?.const_place((holder, name)))
    }
}
