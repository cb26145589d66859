//! Classes, modules and singleton classes that nothing refers to any more are given back, with their methods, shapes and numbers; and what a VM's tables weigh.
//!
//! A class lives while its class object is marked. That is referred to by cells like any other; and whatever names the class by number marks it: the shape of a cell
//! (the marker asks once in a while for each shape, `Marker::mark_shape`), the owner of a method, the data of another class (superclass, modules, singleton class). The data of a class
//! (methods, constants, variables) is traced when its object is.
//!
//! Full collections free classes, minor ones those that were made since the collection before (singleton classes of objects that live for a moment). Older ones are roots of a minor
//! collection as far as they have got cells (`fresh`): their tables have no write barrier. For the same reason a marking in steps looks at those that it has found again in the end.
//!
//! Never freed are classes of the boot image and of the image that the VM started from; those that some image of this VM has (there may be VMs that know their numbers:
//! [`Vm::captures`]); those whose number went to another VM in a message; those that Rust code knows by number ([`ClassData::known`]). For the rest nobody outside the VM
//! knows the numbers, so they are used again. Before that, all that remembers one is emptied: inline caches, the method cache, transitions. Numbers rest until that
//! happens again, for the sake of Rust code that holds one while Ruby code runs.
//!
//! Weak are: lists of dependents; inline caches and the method cache, so that code does not keep alive what it has called once; values of variables beside the layouts, of
//! cells that die.
//!
//! Rejected: a bit per class in a side table while marking (the mark bit of the class object is there already, and is as sticky as that of the cells); tracing the class from each cell's
//! shape without a cache (a look-up per cell); counting instances.

use crate::ivars::TRANSITION;
use crate::unused_block;
use crate::vm::{ClassSlot, Cx, FastMap, Vm};
use std::any::TypeId;
use zakuro_heap::Named;
use zakuro_object::shape::FIRST_DYNAMIC;
use zakuro_object::*;

/// Bytes of a row of the table of constants' places.
pub(crate) const PLACE: usize = size_of::<((ClassId, Sym), (std::sync::Arc<str>, u32))>();

/// So many classes that minor collections have freed are worth looking through all that may remember their numbers, and as many as there are states of Codes to look through.
const MANY: usize = 4096;

/// Numbers of classes and shapes that are free again.
#[derive(Default)]
pub(crate) struct Numbers {
    classes: Vec<u32>,
    shapes: Vec<u32>,
    /// Free with the next collection that empties what remembers others.
    resting: (Vec<u32>, Vec<u32>),
    /// Of classes that minor collections have freed, and of their objects. What remembers them is emptied when they are [`MANY`], or by the next full collection.
    gone: (Vec<u32>, Vec<u32>),
}

impl Numbers {
    pub(crate) fn class(&mut self) -> Option<u32> {
        self.classes.pop()
    }
    pub(crate) fn shape(&mut self) -> Option<u32> {
        self.shapes.pop()
    }
}

/// Marks what a number in a cell stands for.
///
/// # Safety
/// `vm` is the VM that collects.
pub(crate) unsafe fn named(vm: *const (), what: Named, m: &mut Marker<'_>) {
    // SAFETY: the caller's promise. The VM is only read, beside its heap.
    let vm = unsafe { &*vm.cast::<Vm>() };
    match what {
        Named::Shape(s) => {
            if let Some(s) = vm.shapes.get(s) {
                vm.mark_class_object(s.class, m);
            }
        }
        Named::Class(c) => vm.mark_class_object(ClassId(c), m),
        Named::OfClass(c) => {
            if let Some(slot) = vm.classes.get(c).filter(|s| s.own) {
                // SAFETY: own slots point to live class data.
                vm.mark_class_data(unsafe { &*slot.data }, m);
            }
        }
        Named::OfCell(p) => {
            if let Some(list) = vm.generic_ivars.get(&p) {
                list.iter().for_each(|(_, v)| m.mark_value_bits(v.bits()));
            }
        }
    }
}

impl Cx {
    /// Somebody outside knows this class by number.
    pub(crate) fn keep_class(&self, id: ClassId) {
        if let Some(slot) = self.classes.get(id.0).filter(|s| s.own) {
            // SAFETY: own slots point to live class data, which this VM alone uses.
            unsafe { (*slot.data).known.set() }
        }
    }
    /// Whether a class of this VM's own table may be freed when nothing refers to it.
    fn may_die(&self, d: &ClassData) -> bool {
        // The objects of an image's classes are the image's cells, which no marking of this VM misses.
        d.id.0 >= FIRST_DYNAMIC && d.made_at == self.captures && !d.known.get()
    }
    /// Whether a class was made since the last collection.
    fn is_young(d: &ClassData) -> bool {
        d.weighed.bytes == 0
    }
    fn mark_class_object(&self, id: ClassId, m: &mut Marker<'_>) {
        if let Some(slot) = self.classes.get(id.0) {
            // SAFETY: slots point to live class data.
            m.mark_value_bits(unsafe { (*slot.data).object.bits() });
        }
    }
    fn mark_class_data(&self, d: &ClassData, m: &mut Marker<'_>) {
        d.each_value(&mut |v| m.mark_value_bits(v.bits()));
        d.each_class(&mut |c| {
            if c.0 >= FIRST_DYNAMIC {
                m.mark_class(c.0);
            }
        });
    }
    /// Marks what classes refer to, and instance variables beside the layouts: all of it but what belongs to something that may die and was not found. In a full marking that is any
    /// class, else a young one.
    pub(crate) fn mark_classes(&self, m: &mut Marker<'_>) {
        let full = m.is_full();
        let mut each = |slot: &ClassSlot| {
            // SAFETY: own slots point to live class data.
            let d = unsafe { &*slot.data };
            if slot.own && !((full || Self::is_young(d)) && self.may_die(d) && m.is_unmarked(d.object.header())) {
                self.mark_class_data(d, m);
            }
        };
        if full {
            self.classes.each_own_unordered(&mut each);
        } else {
            self.fresh.classes.iter().filter_map(|id| self.classes.get(*id)).for_each(&mut each);
        }
        for (p, list) in self.generic_ivars.iter() {
            if !(full && m.is_unmarked(*p as *mut Header)) {
                list.iter().for_each(|(_, v)| m.mark_value_bits(v.bits()));
            }
        }
    }
    /// Between marking and sweeping: caches forget cells that die.
    pub(crate) fn sweep_caches(&mut self) {
        self.unsettle();
        let heap = &self.heap;
        let alive = |v: Value| !v.is_cell() || heap.is_marked_or_new(v.header());
        if heap.is_full() {
            self.code_states.values_mut().for_each(|s| s.forget_dead(&alive));
        } else {
            for key in &self.fresh.states {
                if let Some(s) = self.code_states.get_mut(key) {
                    s.forget_dead(&alive);
                }
            }
            debug_assert!(self.code_states.values_mut().all(|s| s.holds_living(&alive)), "a cache got a cell that nobody was told of");
        }
        self.method_cache.retain(|e| alive(e.method));
    }
    /// Between marking and sweeping: frees the classes that were not found.
    pub(crate) fn sweep_classes(&mut self) {
        let full = self.heap.is_full();
        if !full && self.fresh.classes.is_empty() {
            return;
        }
        let mut found = Vec::new();
        let mut each = |slot: &ClassSlot| {
            // SAFETY: own slots point to live class data.
            let d = unsafe { &*slot.data };
            if slot.own && (full || Self::is_young(d)) && self.may_die(d) && !self.heap.is_marked_or_new(d.object.header()) {
                found.push((d.id.0, slot.data));
            }
        };
        if full {
            self.classes.each_own_unordered(&mut each);
        } else {
            self.fresh.classes.iter().filter_map(|id| self.classes.get(*id)).for_each(&mut each);
        }
        let mut gone = self.numbers.as_mut().map_or_else(Default::default, |n| std::mem::take(&mut n.gone));
        let due = full || gone.0.len() + found.len() >= MANY.max(self.code_states.len());
        if due && let Some(numbers) = &mut self.numbers {
            let resting = std::mem::take(&mut numbers.resting);
            numbers.classes.extend(resting.0);
            numbers.shapes.extend(resting.1);
        }
        if found.is_empty() && gone.0.is_empty() {
            return;
        }
        self.class_near.1 = std::ptr::null();
        for (id, _) in &found {
            *self.classes.slot(*id) = None;
        }
        let mut above: FastMap<u32, usize> = FastMap::default();
        for (id, data) in found {
            // SAFETY: made by Box::into_raw for this VM alone; its slot was emptied just now. The object's cell has died, but is not swept yet.
            let (shape, d) = unsafe { ((*(*data).object.header()).shape, Box::from_raw(data)) };
            gone.0.push(id);
            gone.1.push(shape);
            d.includes.iter().chain(d.prepends.iter().filter(|m| !d.includes.contains(m))).chain(&d.superclass).for_each(|c| {
                *above.entry(c.0).or_default() += 1;
            });
        }
        above.into_iter().for_each(|(id, count)| self.lose_dependents(id, count));
        if due {
            self.forget_gone(gone);
        } else {
            self.numbers.get_or_insert_default().gone = gone;
        }
    }
    /// So many of a class's dependents are no more. Those that came last are looked at first: what dies young is among them.
    fn lose_dependents(&mut self, id: u32, mut count: usize) {
        let Some(slot) = self.classes.get(id).filter(|s| s.own) else { return };
        // SAFETY: own slots point to live class data, which this VM alone uses; nobody looks at it now.
        let list = unsafe { &mut (*slot.data).dependents };
        let is_dead = |c: &ClassId| self.classes.get(c.0).is_none();
        let mut from = list.len();
        while count > 0 && from > 0 {
            from -= 1;
            count -= usize::from(is_dead(&list[from]));
        }
        let mut kept = from;
        for at in from..list.len() {
            if !is_dead(&list[at]) {
                list[kept] = list[at];
                kept += 1;
            }
        }
        list.truncate(kept);
        if list.capacity() > 64 && list.capacity() / 4 > list.len() {
            list.shrink_to(list.len() * 2);
        }
        debug_assert!(!list.iter().any(is_dead), "a dependent stands there twice");
    }
    /// Empties what remembers classes that minor collections have freed: an image that is captured now shall not have their shapes.
    pub(crate) fn forget_freed(&mut self) {
        if let Some(numbers) = &mut self.numbers
            && !numbers.gone.0.is_empty()
        {
            let gone = std::mem::take(&mut numbers.gone);
            self.forget_gone(gone);
        }
    }
    /// The numbers of these classes, of their objects' shapes and of those of their instances are to be used again.
    fn forget_gone(&mut self, (classes, objects): (Vec<u32>, Vec<u32>)) {
        let dead: FastMap<u32, ()> = classes.iter().map(|c| (*c, ())).collect();
        let mut shapes: FastMap<u32, ()> = FastMap::with_capacity_and_hasher(2 * dead.len(), Default::default());
        shapes.extend(objects.into_iter().map(|s| (s, ())));
        self.shapes.each_own(&mut |id, s| {
            if s.class.0 >= FIRST_DYNAMIC && dead.contains_key(&s.class.0) {
                shapes.insert(id, ());
            }
        });
        self.forget(&dead, &shapes);
        self.fresh.classes.retain(|c| !dead.contains_key(c));
        for id in shapes.keys() {
            *self.shapes.slot(*id) = None;
        }
        let resting = &mut self.numbers.get_or_insert_default().resting;
        resting.0.extend(classes);
        resting.1.extend(shapes.into_keys());
    }
    /// Empties everything that goes by these numbers.
    fn forget(&mut self, classes: &FastMap<u32, ()>, shapes: &FastMap<u32, ()>) {
        let class = |c: u32| c >= FIRST_DYNAMIC && classes.contains_key(&c);
        let shape = |s: u32| s >= FIRST_DYNAMIC && shapes.contains_key(&s);
        self.unsettle();
        self.patterns.fill(0);
        self.code_states.values_mut().for_each(|s| s.forget_numbers(&shape, &class));
        self.method_cache.retain(|e| !class(e.class) && !class(e.owner));
        self.slots_known.forget();
        self.classes_met.forget();
        self.truths_known.forget();
        self.transitions.retain(|(from, _), to| !shape(*from) && !shape(*to));
        self.const_places.retain(|(c, _), _| !class(c.0));
        let named = self.states.get_mut(&TypeId::of::<unused_block::Named>());
        if let Some(n) = named.and_then(|s| s.any().downcast_mut::<unused_block::Named>()) {
            n.0.retain(|(_, c, _)| !class(*c));
        }
        if cfg!(debug_assertions) {
            self.classes.each(&mut |id, slot| {
                // SAFETY: slots point to live class data.
                let d = unsafe { &*slot.data };
                if !class(id) {
                    let mut all: Vec<ClassId> = d.near.iter().chain(&d.beyond).copied().collect();
                    d.each_class(&mut |c| all.push(c));
                    assert!(all.iter().all(|c| !class(c.0)), "class {id} names a dead one");
                }
            });
        }
    }
    /// The tables have got so many bytes more; collections find out exactly ([`Cx::weigh_tables`]).
    pub(crate) fn own_more(&mut self, bytes: usize) {
        self.owned += bytes;
        self.heap.add_payload(bytes);
    }
    /// A table with room for `rows` gets twice the room. Unwinds when that does not fit.
    pub(crate) fn double_table(&mut self, rows: usize, bytes_each: usize) {
        let bytes = rows * (bytes_each + 1) * 9 / 8;
        // While rows move there are both.
        if !self.heap.admits(2 * bytes) {
            zakuro_heap::out_of_memory();
        }
        self.own_more(bytes);
    }
    /// Before a minor collection forgets which classes have changed, and after a full one has freed some: what they weigh now. Looking at all of them in each minor collection is most of
    /// the work where many die. After a minor one none is fresh: [`Cx::nothing_is_fresh`] follows.
    pub(crate) fn weigh_classes(&mut self, full: bool) {
        let mut sum = if full { 0 } else { self.class_bytes };
        let mut weigh = |slot: &ClassSlot| {
            if slot.own {
                // SAFETY: own slots point to live class data, which this VM alone uses; nobody looks at it now.
                let d = unsafe { &mut *slot.data };
                let now = d.weight();
                let before = std::mem::replace(&mut d.weighed.bytes, now);
                d.weighed.fresh &= full;
                sum = if full { sum + now } else { (sum + now).saturating_sub(before) };
            }
        };
        if full {
            self.classes.each_own_unordered(&mut weigh);
        } else {
            self.fresh.classes.iter().filter_map(|id| self.classes.get(*id)).for_each(weigh);
        }
        self.class_bytes = sum;
    }
    /// After a collection: tells the heap what classes, shapes, and what is kept beside cells, weigh now. Tables grow in too many places to count there, and not
    /// by much between two collections: what goes into them is made of cells or of names.
    pub(crate) fn weigh_tables(&mut self) {
        let mut sum = self.class_bytes;
        sum += self.classes.own_bytes() + self.shapes.own_bytes() + self.transitions.capacity() * TRANSITION;
        sum += self.const_places.capacity() * (PLACE + 1) * 9 / 8;
        sum += (self.object_ids.capacity() + self.identities.capacity()) * 17;
        sum += self.generic_ivars.values().map(|l| 40 + l.capacity() * size_of::<(Sym, Value)>()).sum::<usize>();
        sum += self.states.values().map(|s| s.state_weight()).sum::<usize>();
        let before = std::mem::replace(&mut self.owned, sum);
        let mut idle = (self.transitions.capacity() - self.transitions.len()) * TRANSITION;
        if let Some(n) = &self.numbers {
            idle += (n.classes.len() + n.resting.0.len()) * size_of::<Option<ClassSlot>>();
            idle += (n.shapes.len() + n.resting.1.len()) * size_of::<Option<ShapeInfo>>();
        }
        self.heap.weighed(before, sum, idle.min(sum));
    }
}
