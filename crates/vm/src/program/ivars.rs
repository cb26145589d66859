//! Instance variables: by shape for objects, in the class data for classes, in a side table for everything else.

use crate::make::Variables;
use crate::raise::Result;
use crate::vm::{Cx, FastMap};
use zakuro_object::shape::{LOT, SHAPE_LOTS, ShapeInfo};
use zakuro_object::*;

/// Instance variables of one object at most: a shape counts them in 16 bits.
pub const MOST: u16 = 20_000;

/// So many shapes are followed before a table of all names is made.
const LONG_WAY: usize = 500;

/// Bytes of a row of the table of transitions, about.
pub(crate) const TRANSITION: usize = 20;

/// Where variables stand in shapes that were looked at lately: an access that objects of many shapes come through would follow a chain of shapes each time.
#[derive(Default)]
pub(crate) struct SlotsKnown {
    /// None until something is noted.
    rows: Option<Box<[SlotRow; SlotsKnown::ROWS]>>,
    /// Shapes that others become by a variable: a look into the tables of each image below takes longer. None until something is noted.
    steps: Option<Box<[Step; SlotsKnown::STEPS]>>,
    /// All variables of shapes that have many, looked at last first: each new one of an object would follow a chain of all that were there before.
    long: Vec<LongShape>,
}
struct LongShape {
    shape: ShapeId,
    slots: FastMap<Sym, u16>,
}
/// What following a chain of shapes came to.
struct Followed {
    slot: Option<usize>,
    steps: usize,
    /// Index of the table in which the rest was looked up.
    table: Option<usize>,
}
/// `shape` with `name` is `becomes`.
#[derive(Clone, Copy)]
struct Step {
    shape: ShapeId,
    name: Sym,
    becomes: ShapeId,
}
#[derive(Clone, Copy)]
struct SlotRow {
    shape: ShapeId,
    name: Sym,
    /// The slot, or [`SlotsKnown::NONE`].
    slot: u32,
}
impl SlotsKnown {
    const ROWS: usize = 256;
    const STEPS: usize = 64;
    const NONE: u32 = u32::MAX;
    /// Objects with many variables that are looked at in turn.
    const LONG: usize = 4;

    fn place(shape: ShapeId, name: Sym) -> usize {
        (shape.wrapping_mul(0x9e37_79b1) ^ name.0.wrapping_mul(0x85eb_ca6b)) as usize >> 9 & (Self::ROWS - 1)
    }
    /// Numbers of shapes are to mean something else.
    pub fn forget(&mut self) {
        *self = SlotsKnown::default();
    }
}

/// Where a list of variables has this one: `hint`, as a rule.
#[inline]
fn place_in(list: &[(Sym, Value)], name: Sym, hint: usize) -> Option<usize> {
    if list.get(hint).is_some_and(|(n, _)| *n == name) {
        return Some(hint);
    }
    list.iter().position(|(n, _)| *n == name)
}

impl Cx {
    /// Calls `f` with each shape, by their numbers.
    pub fn each_shape(&self, f: &mut dyn FnMut(ShapeId, &ShapeInfo)) {
        self.shapes.each(f);
    }
    pub fn shape(&self, id: ShapeId) -> ShapeInfo {
        match self.shapes.get(id) {
            Some(s) => *s,
            None => ShapeInfo { class: ids::OBJECT, parent: id, name: sym::empty, count: 0 },
        }
    }
    pub(crate) fn new_shape(&mut self, info: ShapeInfo) -> ShapeId {
        let id = match self.numbers.as_mut().and_then(|n| n.shape()) {
            Some(id) => id,
            None => {
                if self.shape_lot.0 == self.shape_lot.1 {
                    let first = SHAPE_LOTS.take();
                    self.shape_lot = (first, first + LOT);
                }
                self.shape_lot.0 += 1;
                self.shape_lot.0 - 1
            }
        };
        *self.shapes.slot(id) = Some(info);
        self.own_more(size_of::<Option<ShapeInfo>>());
        self.state_changes(|c| c.shapes.push(id));
        id
    }
    pub fn root_shape(&self, class: ClassId) -> ShapeId {
        self.class(class).root_shape
    }
    /// Shape after adding `name`.
    pub fn shape_with(&mut self, shape: ShapeId, name: Sym) -> ShapeId {
        let at = SlotsKnown::place(shape, name) % SlotsKnown::STEPS;
        if let Some(steps) = &self.slots_known.steps
            && let step = steps[at]
            && step.shape == shape
            && step.name == name
        {
            return step.becomes;
        }
        let becomes = self.shape_with_looked_up(shape, name);
        // No object has the shape 0.
        let none = || Box::new([Step { shape: 0, name: sym::empty, becomes: 0 }; SlotsKnown::STEPS]);
        self.slots_known.steps.get_or_insert_with(none)[at] = Step { shape, name, becomes };
        becomes
    }
    fn shape_with_looked_up(&mut self, shape: ShapeId, name: Sym) -> ShapeId {
        if let Some(s) = self.transitions.get(&(shape, name)) {
            return *s;
        }
        if let Some(s) = self.base.as_ref().and_then(|b| b.transition((shape, name))) {
            return s;
        }
        let old = self.shape(shape);
        let s = self.new_shape(ShapeInfo { class: old.class, parent: shape, name, count: old.count + 1 });
        self.transitions.insert((shape, name), s);
        self.own_more(TRANSITION);
        self.state_changes(|c| c.transitions.push((shape, name)));
        s
    }
    /// Slot of a variable in a shape.
    pub fn shape_slot(&self, shape: ShapeId, name: Sym) -> Option<usize> {
        self.follow(shape, name).slot
    }
    fn follow(&self, shape: ShapeId, name: Sym) -> Followed {
        let (mut id, mut steps) = (shape, 0);
        loop {
            if let Some(at) = self.slots_known.long.iter().position(|l| l.shape == id) {
                let slot = self.slots_known.long[at].slots.get(&name).map(|slot| *slot as usize);
                return Followed { slot, steps, table: Some(at) };
            }
            let s = self.shape(id);
            if s.count == 0 {
                return Followed { slot: None, steps, table: None };
            }
            if s.name == name {
                return Followed { slot: Some(s.count as usize - 1), steps, table: None };
            }
            id = s.parent;
            steps += 1;
        }
    }
    /// Makes a table of a shape's variables, of that of a shape on the way to it if there is one.
    #[cold]
    fn keep_long(&mut self, shape: ShapeId, table: Option<usize>) {
        let before = match table {
            Some(at) => self.slots_known.long.remove(at),
            None => LongShape { shape: 0, slots: FastMap::default() },
        };
        let (mut id, mut slots) = (shape, before.slots);
        while id != before.shape {
            let s = self.shape(id);
            if s.count == 0 {
                break;
            }
            slots.insert(s.name, s.count - 1);
            id = s.parent;
        }
        self.slots_known.long.truncate(SlotsKnown::LONG - 1);
        self.slots_known.long.insert(0, LongShape { shape, slots });
    }
    /// The same, remembered.
    pub(crate) fn slot_of(&mut self, shape: ShapeId, name: Sym) -> Option<usize> {
        let at = SlotsKnown::place(shape, name);
        if let Some(found) = self.remembered(at, shape, name) {
            return found;
        }
        let Followed { slot: found, steps, table } = self.follow(shape, name);
        if steps > LONG_WAY {
            self.keep_long(shape, table);
        }
        // No object has the shape 0.
        let none = || Box::new([SlotRow { shape: 0, name: sym::empty, slot: SlotsKnown::NONE }; SlotsKnown::ROWS]);
        self.slots_known.rows.get_or_insert_with(none)[at] = SlotRow { shape, name, slot: found.map_or(SlotsKnown::NONE, |s| s as u32) };
        found
    }
    /// The same where nothing is to be remembered.
    pub(crate) fn slot_known(&self, shape: ShapeId, name: Sym) -> Option<usize> {
        self.remembered(SlotsKnown::place(shape, name), shape, name).unwrap_or_else(|| self.shape_slot(shape, name))
    }
    #[inline]
    fn remembered(&self, at: usize, shape: ShapeId, name: Sym) -> Option<Option<usize>> {
        let row = self.slots_known.rows.as_ref().map(|rows| &rows[at]).filter(|row| row.shape == shape && row.name == name)?;
        Some((row.slot != SlotsKnown::NONE).then_some(row.slot as usize))
    }
    /// Names of a shape's variables, oldest first.
    pub fn shape_names(&self, shape: ShapeId) -> Vec<Sym> {
        let mut names = Vec::with_capacity(self.shape(shape).count as usize);
        let mut id = shape;
        loop {
            let s = self.shape(id);
            if s.count == 0 {
                break;
            }
            names.push(s.name);
            id = s.parent;
        }
        names.reverse();
        names
    }
    fn is_object_like(v: Value) -> bool {
        v.is_kind(Kind::Object) || v.is_kind(Kind::Exception)
    }
    /// Value of an instance variable, nil when unset.
    pub fn ivar_get(&mut self, v: Value, name: Sym) -> Value {
        self.ivar_lookup(v, name).unwrap_or(Value::NIL)
    }
    /// The same of an object that has got no other variable since it got this one; None: it may have it all the same.
    #[inline]
    pub fn newest_ivar(&self, v: Value, name: Sym) -> Option<Value> {
        let o = Ref::<ObjectCell>::from_value(v)?;
        let s = self.shapes.get(o.header.shape).filter(|s| s.name == name)?;
        let r = o.get((s.count as usize).checked_sub(1)?);
        (!r.is_undef()).then_some(r)
    }
    pub fn ivar_defined(&mut self, v: Value, name: Sym) -> bool {
        self.ivar_lookup(v, name).is_some()
    }
    pub fn ivar_lookup(&mut self, v: Value, name: Sym) -> Option<Value> {
        if let Some(c) = Ref::<ClassCell>::from_value(v) {
            let v = self.class(c.id).ivars.iter().find(|(n, _)| *n == name).map(|(_, v)| *v)?;
            return Some(self.instantiate(v));
        }
        if Self::is_object_like(v) {
            let slot = self.slot_of(v.shape_key(), name)?;
            // SAFETY: both kinds are laid out as ObjectCell.
            let o = unsafe { Ref::<ObjectCell>::from_ptr(v.bits() as *mut ObjectCell) };
            let r = o.get(slot);
            return (!r.is_undef()).then_some(r);
        }
        self.ivar_of_object(v, name)
    }
    /// Value of a variable of a class, or of another cell that has them in a list, and its place there, which is `hint` as a rule.
    #[inline]
    pub(crate) fn listed_variable(&mut self, v: Value, name: Sym, hint: usize) -> Option<(Value, usize)> {
        let list = self.variable_list(v)?;
        let at = place_in(list, name, hint)?;
        Some((list[at].1, at))
    }
    /// The variables of a class, or of another cell that has them in a list.
    #[inline]
    pub(crate) fn variable_list(&mut self, v: Value) -> Option<&[(Sym, Value)]> {
        Some(match Ref::<ClassCell>::from_value(v) {
            Some(c) => {
                if self.class_near.0 != c.id || self.class_near.1.is_null() {
                    self.class_near = (c.id, self.class(c.id));
                }
                // SAFETY: no slot of a class has changed since: the data is still this one's.
                unsafe { &(*self.class_near.1).ivars }
            }
            None if v.is_cell() && v.flags() & flags::HAS_IVARS != 0 && !Self::is_object_like(v) => match &self.base {
                Some(b) if v.flags() & flags::SHARED != 0 => b.generic_list(v)?,
                _ => self.generic_ivars.of(v.bits() as usize)?,
            },
            None => return None,
        })
    }
    /// The list of a cell that was looked at last, and what says that it has the same variables ([`crate::state::listed::Lists::at_hand`]).
    #[inline]
    pub(crate) fn list_at_hand(&self, v: Value) -> Option<(&[(Sym, Value)], u64)> {
        if !v.is_cell() || v.flags() & (flags::HAS_IVARS | flags::SHARED) != flags::HAS_IVARS {
            return None;
        }
        self.generic_ivars.at_hand(v.bits() as usize).map(|(list, stamp)| (&list[..], stamp))
    }
    /// Sets a variable that stands in such a list, and says where; None where it does not, or more is to be asked: [`Self::ivar_set`] does then.
    #[inline]
    pub(crate) fn set_listed(&mut self, v: Value, name: Sym, value: Value, hint: usize) -> Option<usize> {
        if let Some(c) = Ref::<ClassCell>::from_value(v) {
            let slot = *self.classes.get(c.id.0).filter(|s| s.own)?;
            // SAFETY: own data, reached only through this VM.
            let data = unsafe { &mut *slot.data };
            let at = place_in(&data.ivars, name, hint).filter(|_| !data.frozen)?;
            self.class_changes(c.id);
            if value.is_cell() {
                self.class_gets_cells(c.id);
            }
            data.ivars[at].1 = value;
            return Some(at);
        }
        let asked = flags::HAS_IVARS | flags::FROZEN | flags::CAPTURED | flags::SHARED;
        if !v.is_cell() || v.flags() & asked != flags::HAS_IVARS || Self::is_object_like(v) {
            return None;
        }
        let list = self.generic_ivars.of(v.bits() as usize)?;
        let at = place_in(list, name, hint)?;
        list[at].1 = value;
        Some(at)
    }
    /// The same for what is no class.
    pub fn ivar_of_object(&self, v: Value, name: Sym) -> Option<Value> {
        if Self::is_object_like(v) {
            let slot = self.shape_slot(v.shape_key(), name)?;
            // SAFETY: both kinds are laid out as ObjectCell.
            let o = unsafe { Ref::<ObjectCell>::from_ptr(v.bits() as *mut ObjectCell) };
            let r = o.get(slot);
            return (!r.is_undef()).then_some(r);
        }
        if v.is_cell() && v.flags() & flags::HAS_IVARS != 0 {
            return self.generic_list(v)?.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
        }
        None
    }
    /// The first N variables of an object whose first one is `first` and whose Nth is `last`.
    pub fn ivars_from_first<const N: usize>(&mut self, v: Value, first: Sym, last: Sym) -> Option<[Value; N]> {
        if !v.is_kind(Kind::Object) || self.slot_of(v.shape_key(), last)? + 1 != N || self.slot_of(v.shape_key(), first)? != 0 {
            return None;
        }
        let o: Ref<ObjectCell> = Ref::of(v);
        let all = std::array::from_fn(|i| o.get(i));
        all.iter().all(|v: &Value| !v.is_undef()).then_some(all)
    }
    /// Sets an instance variable. FrozenError when frozen.
    pub fn ivar_set(&mut self, v: Value, name: Sym, value: Value) -> Result<()> {
        if let Some(c) = Ref::<ClassCell>::from_value(v) {
            if self.class(c.id).frozen {
                return self.frozen_error(v);
            }
        } else {
            self.check_frozen(v)?;
            if Self::is_object_like(v) && self.shape(v.shape_key()).count >= MOST && self.slot_of(v.shape_key(), name).is_none() {
                return self.arg_error("too many instance variables");
            }
        }
        self.ivar_set_raw(v, name, value);
        Ok(())
    }
    /// As `ivar_set` without the frozen test (hidden variables of builtins).
    pub fn ivar_set_raw(&mut self, v: Value, name: Sym, value: Value) {
        if v.is_cell() && v.flags() & flags::SHARED != 0 && !v.is_kind(Kind::Class) {
            // Other VMs read it. Whoever comes here has forgotten to test for frozen.
            debug_assert!(false, "setting {} of a shared cell", name.name());
            return;
        }
        self.cell_changes(v);
        if Self::is_object_like(v) {
            // SAFETY: as in ivar_lookup.
            let o = unsafe { Ref::<ObjectCell>::from_ptr(v.bits() as *mut ObjectCell) };
            let shape = v.shape_key();
            match self.slot_of(shape, name) {
                Some(i) => ObjectCell::set(o, i, value),
                None => {
                    let next = self.shape_with(shape, name);
                    let info = self.shape(next);
                    let i = info.count as usize - 1;
                    ObjectCell::grow(o, &mut self.heap, i);
                    ObjectCell::set(o, i, value);
                    ObjectCell::set_shape(o, next);
                    self.raise_ivar_hint(info.class, info.count);
                }
            }
        } else if let Some(c) = Ref::<ClassCell>::from_value(v) {
            let d = self.class_mut(c.id);
            match d.ivars.iter_mut().find(|(n, _)| *n == name) {
                Some(e) => e.1 = value,
                None => d.ivars.push((name, value)),
            }
        } else if v.is_cell() {
            v.set_flags(flags::HAS_IVARS);
            let list = self.generic_ivars.change().entry(v.bits() as usize).or_default();
            match list.iter_mut().find(|(n, _)| *n == name) {
                Some(e) => e.1 = value,
                None => list.push((name, value)),
            }
        }
    }
    /// Gives an object without variables these at once, names that differ in their order; false if it has some.
    ///
    /// `value` neither runs Ruby code nor allocates.
    pub fn ivars_begin(&mut self, v: Value, names: Ref<ArrayCell>, value: impl Fn(usize) -> Value) -> bool {
        let mut shape = v.shape_key();
        if !v.is_kind(Kind::Object) || v.flags() & flags::SHARED != 0 || self.shape(shape).count != 0 {
            return false;
        }
        self.cell_changes(v);
        let o: Ref<ObjectCell> = Ref::of(v);
        if names.len() > o.capacity() {
            ObjectCell::grow(o, &mut self.heap, names.len() - 1);
        }
        for (i, name) in (0..names.len()).map_while(|i| names.get(i).and_then(Value::as_sym)).enumerate() {
            shape = self.shape_with(shape, name);
            ObjectCell::set(o, i, value(i));
        }
        ObjectCell::set_shape(o, shape);
        let info = self.shape(shape);
        self.raise_ivar_hint(info.class, info.count);
        true
    }
    /// New object with these variables, in this order, made with room for all of them.
    pub fn new_object_with(&mut self, class: ClassId, variables: &[(Sym, Value)]) -> Value {
        let hint = self.class(class).ivar_hint as usize;
        let mut shape = self.root_shape(class);
        let o = ObjectCell::make(&self.heap, shape, Kind::Object, hint.max(variables.len()));
        for (i, (name, value)) in variables.iter().enumerate() {
            shape = self.shape_with(shape, *name);
            ObjectCell::grow(o, &mut self.heap, i);
            ObjectCell::set(o, i, *value);
        }
        ObjectCell::set_shape(o, shape);
        o.as_value()
    }
    pub(crate) fn raise_ivar_hint(&mut self, class: ClassId, count: u16) {
        let d = self.class(class);
        if d.kind != ClassKind::Singleton && d.ivar_hint < count && class.0 >= shape::FIRST_DYNAMIC {
            self.class_mut(class).ivar_hint = count;
            if count as usize <= ObjectCell::MAX_INLINE {
                // Machine code makes objects as large as they were to be when it last looked.
                self.unsettle();
            }
        }
    }
    pub fn ivar_remove(&mut self, v: Value, name: Sym) -> Option<Value> {
        let old = self.ivar_lookup(v, name)?;
        self.cell_changes(v);
        if Self::is_object_like(v) {
            let slot = self.shape_slot(v.shape_key(), name)?;
            // SAFETY: as in ivar_lookup.
            let o = unsafe { Ref::<ObjectCell>::from_ptr(v.bits() as *mut ObjectCell) };
            // Those that came after it move up.
            let mut later = Vec::new();
            let mut shape = v.shape_key();
            while self.shape(shape).count as usize > slot {
                later.push(self.shape(shape).name);
                shape = self.shape(shape).parent;
            }
            later.pop();
            let count = slot + later.len();
            for n in later.into_iter().rev() {
                shape = self.shape_with(shape, n);
            }
            (slot..count).for_each(|i| ObjectCell::set(o, i, o.get(i + 1)));
            ObjectCell::set(o, count, Value::UNDEF);
            ObjectCell::set_shape(o, shape);
        } else if let Some(c) = Ref::<ClassCell>::from_value(v) {
            self.class_mut(c.id).ivars.retain(|(n, _)| *n != name);
        } else if let Some(list) = self.generic_ivars.change().get_mut(&(v.bits() as usize)) {
            list.retain(|(n, _)| *n != name);
        }
        Some(old)
    }
    /// All variables with their values, hidden ones included, in order of creation.
    pub fn ivar_list(&mut self, v: Value) -> Variables {
        let pairs = self.variables_of(v);
        Variables::of(self, pairs)
    }
    /// Their names alone.
    pub fn ivar_names(&mut self, v: Value) -> Vec<Sym> {
        if !Self::is_object_like(v) {
            return self.variables_of(v).into_iter().map(|p| p.0).collect();
        }
        let mut names = self.shape_names(v.shape_key());
        // SAFETY: as in ivar_lookup.
        let o = unsafe { Ref::<ObjectCell>::from_ptr(v.bits() as *mut ObjectCell) };
        let mut at = 0..;
        names.retain(|_| at.next().is_some_and(|i| !o.get(i).is_undef()));
        names
    }
    /// The same for who neither runs Ruby code nor collects while it has the list.
    fn variables_of(&mut self, v: Value) -> Vec<(Sym, Value)> {
        if Self::is_object_like(v) {
            let names = self.shape_names(v.shape_key());
            // SAFETY: as in ivar_lookup.
            let o = unsafe { Ref::<ObjectCell>::from_ptr(v.bits() as *mut ObjectCell) };
            names.into_iter().enumerate().map(|(i, n)| (n, o.get(i))).filter(|(_, v)| !v.is_undef()).collect()
        } else if let Some(c) = Ref::<ClassCell>::from_value(v) {
            let list = self.class(c.id).ivars.clone();
            list.into_iter().map(|(n, v)| (n, self.instantiate(v))).collect()
        } else if v.is_cell() && v.flags() & flags::HAS_IVARS != 0 {
            self.generic_list(v).cloned().unwrap_or_default()
        } else {
            Vec::new()
        }
    }
    /// A copy of an object that stands in a cell with its variables: of its class, with the same variables. None: it has a singleton class, more variables than a cell has room for, or has lost some.
    pub fn object_copy(&self, v: Value, class: ClassId) -> Option<Value> {
        let shape = self.shape(v.shape_key());
        let (count, hint) = (shape.count as usize, self.class(class).ivar_hint as usize);
        if !v.is_kind(Kind::Object) || shape.class != class || count > ObjectCell::MAX_INLINE {
            return None;
        }
        let from = Ref::<ObjectCell>::of(v);
        if (0..count).any(|i| from.get(i).is_undef()) {
            return None;
        }
        let copy = ObjectCell::make(&self.heap, v.shape_key(), Kind::Object, count.max(hint));
        (0..count).for_each(|i| ObjectCell::set(copy, i, from.get(i)));
        Some(copy.as_value())
    }
    /// Copies all variables (dup, clone).
    pub fn ivar_copy(&mut self, from: Value, to: Value) {
        for (n, v) in self.variables_of(from) {
            self.ivar_set_raw(to, n, v);
        }
    }
    /// Whether a name is that of a visible instance variable.
    pub fn is_ivar_name(name: Sym) -> bool {
        let b = name.bytes();
        b.len() > 1 && b[0] == b'@' && b[1] != b'@' && !b[1].is_ascii_digit()
    }
    /// Gives an object another class (singleton class), keeping its variables.
    pub(crate) fn change_class(&mut self, v: Value, class: ClassId) {
        let names = if Self::is_object_like(v) { self.shape_names(v.shape_key()) } else { Vec::new() };
        let mut s = self.root_shape(class);
        for n in names {
            s = self.shape_with(s, n);
        }
        if v.is_kind(Kind::Class) {
            self.changed();
        }
        self.cell_changes(v);
        // SAFETY: v is a live cell of this VM. If it was traced, its new class was not.
        unsafe {
            zakuro_heap::revisit(v.header());
            (*v.header()).shape = s;
        }
    }
}
