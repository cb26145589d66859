//! Copies of cells in another heap: how a region is made.
//!
//! Copying a graph takes two steps per cell: [`twin`] makes a copy that still refers to the old cells, [`redirect`] changes its references. So cycles
//! need no care, and the copier's only state is which cell became which. Neither runs Ruby code.
//!
//! Only kinds whose content says all about them have a twin: what hangs on a VM (Proc, Method, Class, IO ...) or is changed behind Ruby's back
//! (Exception: backtraces) has none.

use crate::array::ArrayCell;
use crate::cells::{BignumCell, FloatCell, Kind, ObjectCell, PairCell, RangeCell, alloc_cell, alloc_finalized_cell};
use crate::hash::HashCell;
use crate::string::StringCell;
use crate::value::{Ref, Value};
use zakuro_heap::{Header, Heap, flags};

/// A frozen copy in `heap` of a cell of `from` (None: of a region), with the same references, shape and class. None: the kind has no twin. Panics when memory is out.
pub fn twin(heap: &mut Heap, from: Option<&Heap>, v: Value) -> Option<Value> {
    let kind = v.kind_of_cell();
    // SAFETY: v is a live cell.
    let old = unsafe { *v.header() };
    let header = Header { flags: flags::FROZEN, ..old };
    Some(match kind {
        Kind::Float => alloc_cell(heap, FloatCell { header, value: v.as_float()? }).as_value(),
        Kind::Bignum => {
            let value = Ref::<BignumCell>::of(v).value.clone();
            heap.add_payload(BignumCell::weight(&value));
            heap.add_watched(BignumCell::digits(&value));
            alloc_finalized_cell(heap, BignumCell { header, value }).as_value()
        }
        Kind::String => StringCell::twin(heap, from, Ref::of(v)).as_value(),
        Kind::Array => ArrayCell::twin(heap, from, Ref::of(v)).as_value(),
        Kind::Hash => HashCell::twin(heap, Ref::of(v)).as_value(),
        Kind::Range => {
            let r = Ref::<RangeCell>::of(v);
            RangeCell::make(heap, old.shape, r.low(), r.high(), r.exclusive()).as_value()
        }
        Kind::Rational | Kind::Complex => {
            let (first, second) = PairCell::from_value(v, kind)?;
            alloc_cell(heap, PairCell { header, first, second }).as_value()
        }
        Kind::Object => {
            let o = Ref::<ObjectCell>::of(v);
            let used = o.all_slots().iter().rposition(|x| !x.is_undef()).map_or(0, |i| i + 1);
            let copy = ObjectCell::make(heap, old.shape, kind, used);
            if used > copy.capacity() {
                ObjectCell::grow(copy, heap, used - 1);
            }
            for (i, x) in o.all_slots()[..used].iter().enumerate() {
                ObjectCell::set(copy, i, *x);
            }
            copy.cell().header.flags |= flags::FROZEN;
            copy.as_value()
        }
        _ => return None,
    })
}

/// Replaces the references of a cell that [`twin`] made and that nobody else knows yet. Hash codes of keys stay as they are.
pub fn redirect(v: Value, f: &mut dyn FnMut(Value) -> Value) {
    let each = |slots: &mut [Value], f: &mut dyn FnMut(Value) -> Value| {
        for s in slots {
            if s.is_cell() {
                *s = f(*s);
            }
        }
    };
    match v.kind_of_cell() {
        Kind::Array => {
            if let Some(slots) = ArrayCell::twin_slots(Ref::of(v)) {
                each(slots, f);
            }
        }
        Kind::Object => {
            let o = Ref::<ObjectCell>::of(v);
            // SAFETY: `capacity` initialised slots, of a cell that only the caller knows.
            each(unsafe { std::slice::from_raw_parts_mut(o.slots_ptr(), o.capacity()) }, f);
        }
        Kind::Hash => HashCell::redirect(Ref::of(v), f),
        Kind::Range => {
            let r = Ref::<RangeCell>::of(v);
            let mut ends = [r.low(), r.high()];
            each(&mut ends, f);
            let exclusive = r.exclusive();
            r.init(ends[0], ends[1], exclusive);
        }
        Kind::Rational | Kind::Complex => {
            // SAFETY: both kinds are laid out as PairCell.
            let p = unsafe { Ref::<PairCell>::from_ptr(v.bits() as *mut PairCell) };
            let mut parts = [p.first, p.second];
            each(&mut parts, f);
            p.init(parts[0], parts[1]);
        }
        _ => {}
    }
}
