//! Tracing and finalising of cells by kind: the two functions that a heap is made with.

use crate::array::{ArrayCell, WATCHED};
use crate::cells::*;
use crate::class::ClassId;
use crate::data::DataCell;
use crate::hash::HashCell;
use crate::shape::FIRST_DYNAMIC;
use crate::string::StringCell;
use crate::value::{Ref, Value};
use std::collections::{HashMap, VecDeque};
use zakuro_base::Sym;
use zakuro_heap::{FinalizeCx, Header, Marker, Named, flags};

/// What holds values, or may: every field of a cell (macro `cell!`, module `cells`), payloads of data objects, states of libraries. `#[derive(Trace)]` writes it for a struct, so
/// that a new field is marked, or does not compile: where a type has no `Trace`, its field says by `#[untraced]` that it holds no value of this VM.
pub trait Trace {
    /// Marks every value that it holds.
    fn trace(&self, m: &mut Marker<'_>);
    /// Whether the type may hold any: lists of what does not are not walked.
    #[inline(always)]
    fn holds() -> bool
    where
        Self: Sized,
    {
        true
    }
}
impl Trace for Value {
    #[inline(always)]
    fn trace(&self, m: &mut Marker<'_>) {
        m.mark_value_bits(self.bits());
    }
}
impl Trace for ClassId {
    /// Boot classes need no marks.
    #[inline(always)]
    fn trace(&self, m: &mut Marker<'_>) {
        if self.0 >= FIRST_DYNAMIC {
            m.mark_class(self.0);
        }
    }
}
impl<T> Trace for Ref<T> {
    #[inline(always)]
    fn trace(&self, m: &mut Marker<'_>) {
        self.as_value().trace(m);
    }
}
impl<T: Trace + ?Sized> Trace for Box<T> {
    fn trace(&self, m: &mut Marker<'_>) {
        (**self).trace(m);
    }
}
impl<A: Trace, B: Trace> Trace for (A, B) {
    fn trace(&self, m: &mut Marker<'_>) {
        self.0.trace(m);
        self.1.trace(m);
    }
    #[inline(always)]
    fn holds() -> bool {
        A::holds() || B::holds()
    }
}
impl<A: Trace, B: Trace, C: Trace> Trace for (A, B, C) {
    fn trace(&self, m: &mut Marker<'_>) {
        self.0.trace(m);
        self.1.trace(m);
        self.2.trace(m);
    }
    #[inline(always)]
    fn holds() -> bool {
        A::holds() || B::holds() || C::holds()
    }
}
/// Lists of what may hold values.
macro_rules! lists {
    ($($(#[$n:ident])? $t:ty),*) => {
        $(impl<T: Trace $(, const $n: usize)?> Trace for $t {
            fn trace(&self, m: &mut Marker<'_>) {
                if T::holds() {
                    self.iter().for_each(|one| one.trace(m));
                }
            }
            #[inline(always)]
            fn holds() -> bool {
                T::holds()
            }
        })*
    };
}
lists!(
    #[N]
    [T; N],
    Vec<T>,
    VecDeque<T>,
    Option<T>
);
/// Tables.
macro_rules! tables {
    ($($t:ty),*) => {
        $(impl<K: Trace, V: Trace, S> Trace for $t {
            fn trace(&self, m: &mut Marker<'_>) {
                if K::holds() {
                    self.keys().for_each(|k| k.trace(m));
                }
                if V::holds() {
                    self.values().for_each(|v| v.trace(m));
                }
            }
            #[inline(always)]
            fn holds() -> bool {
                K::holds() || V::holds()
            }
        })*
    };
}
tables!(HashMap<K, V, S>, hashbrown::HashMap<K, V, S>);

/// Refer to nothing.
macro_rules! plain {
    ($($t:ty),*) => {
        $(impl Trace for $t {
            #[inline(always)]
            fn trace(&self, _: &mut Marker<'_>) {}
            #[inline(always)]
            fn holds() -> bool {
                false
            }
        })*
    };
}
plain!(Header, Sym, (), bool, u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f64, String);

#[inline(always)]
fn mark(m: &mut Marker<'_>, v: Value) {
    v.trace(m);
}

/// Kinds whose cells get the OLD flag: whoever stores a reference in one has told the collector (`Value::will_refer`, or a test of the flag). Payloads of data
/// objects are traced each time unless they refer to nothing; cells of the other kinds refer to nothing, or to what they were made with.
const TOLD: u32 = {
    let kinds = [
        Kind::Object,
        Kind::Exception,
        Kind::Array,
        Kind::Hash,
        Kind::Range,
        Kind::Proc,
        Kind::Method,
        Kind::Env,
        Kind::Cref,
        Kind::Throw,
        Kind::MethodObj,
    ];
    let (mut mask, mut i) = (0, 0);
    while i < kinds.len() {
        mask |= 1 << kinds[i] as u32;
        i += 1;
    }
    mask
};

/// Marks everything that a cell refers to.
///
/// # Safety
/// `cell` is a live, initialised cell.
pub unsafe fn trace(cell: *mut Header, m: &mut Marker<'_>) {
    // SAFETY: the kind says how the cell is laid out; kinds are written only by this crate.
    unsafe {
        let kind = Kind::from_u8((*cell).kind);
        // Boot classes need no marks.
        if (*cell).shape >= FIRST_DYNAMIC {
            m.mark_shape((*cell).shape);
        }
        if (*cell).flags & flags::HAS_IVARS != 0 {
            m.mark_named(Named::OfCell(cell.addr()));
        }
        let told = (*cell).flags & flags::OLD != 0;
        // Who comes for the rest of a large cell leaves it without the flag if it was written to meanwhile: it is noted, to be traced from its begin again.
        if TOLD >> kind as u32 & 1 != 0 && !told && m.begins() {
            (*cell).flags |= flags::OLD;
        }
        match kind {
            Kind::Free | Kind::Float | Kind::Bignum | Kind::String | Kind::MovedString | Kind::Moved => {}
            Kind::Class => m.mark_named(Named::OfClass((*(cell as *mut ClassCell)).id.0)),
            Kind::Object | Kind::Exception => {
                for v in (*(cell as *mut ObjectCell)).all_slots() {
                    mark(m, *v);
                }
            }
            Kind::Array | Kind::MovedArray => {
                let a = &*(cell as *mut ArrayCell);
                let elements = if a.is_immediate() { &[] } else { a.elements_unwatched() };
                let again = elements.len() >= WATCHED
                    && m.slots_written(cell, elements.len(), told, |m, i| elements.get(i).into_iter().for_each(|v| mark(m, *v)));
                if !again {
                    elements[m.part(cell, elements.len())].iter().for_each(|v| mark(m, *v));
                }
            }
            Kind::Hash | Kind::MovedHash => HashCell::trace(cell as *mut HashCell, m),
            Kind::Range => (*(cell as *mut RangeCell)).trace_fields(m),
            Kind::Rational | Kind::Complex => (*(cell as *mut PairCell)).trace_fields(m),
            Kind::Proc => {
                let p = &*(cell as *mut ProcCell);
                // A code is no cell: it is kept by the note that a Proc of it was seen.
                if p.header.aux == ProcKind::Block as u16 && p.code != 0 {
                    (*(p.code as *const CodeHead)).seen.set(1);
                }
                p.trace_fields(m);
            }
            Kind::Method => (*(cell as *mut MethodCell)).trace_fields(m),
            Kind::Env => {
                // Slots follow that are no fields; a level of a backtrace keeps a code beside its values.
                let e = &*(cell as *mut EnvCell);
                mark(m, e.parent);
                if e.header.flags & LEVELS != 0 {
                    for level in e.slots().chunks_exact(LEVEL_WORDS) {
                        if let Some(code) = level[0].as_fixnum().filter(|code| *code != 0) {
                            (*(code as usize as *const CodeHead)).seen.set(1);
                        }
                    }
                }
                for v in e.slots() {
                    mark(m, *v);
                }
            }
            Kind::Cref => (*(cell as *mut CrefCell)).trace_fields(m),
            Kind::Data => {
                if (*(cell as *mut DataCell)).trace_payload(m) {
                    m.revisit(cell);
                } else {
                    (*cell).flags |= flags::OLD;
                }
            }
            Kind::Throw => (*(cell as *mut ThrowCell)).trace_fields(m),
            Kind::MethodObj => (*(cell as *mut MethodObjCell)).trace_fields(m),
        }
    }
}

/// Frees what a dying cell owns outside the heap.
///
/// # Safety
/// `cell` has its finalizer bit set and dies now.
pub unsafe fn finalize(cell: *mut Header, cx: &mut FinalizeCx) {
    // SAFETY: as in trace.
    unsafe {
        let bytes = match Kind::from_u8((*cell).kind) {
            Kind::String | Kind::MovedString => StringCell::free(cell as *mut StringCell, |at| cx.hides(at)),
            Kind::Array | Kind::MovedArray => ArrayCell::free(cell as *mut ArrayCell, |at| cx.hides(at)),
            Kind::Hash | Kind::MovedHash => {
                (*(cell as *mut HashCell)).blocks().into_iter().for_each(|block| cx.sub_watched(block));
                HashCell::free(cell as *mut HashCell)
            }
            Kind::Object | Kind::Exception => ObjectCell::free_ext(cell as *mut ObjectCell),
            Kind::Data => {
                let owned = (*(cell as *mut DataCell)).drop_payload();
                cx.sub_watched(owned.block);
                owned.bytes
            }
            Kind::Bignum => {
                let (weight, digits) = (*(cell as *mut BignumCell)).free();
                cx.sub_watched(digits);
                weight
            }
            _ => 0,
        };
        cx.sub_payload(bytes);
    }
}

/// Bytes that a cell owns outside the heap, as they were announced: what several cells share counts for the one that made it.
///
/// # Safety
/// `cell` is a live, initialised cell.
pub unsafe fn owned_bytes(cell: *mut Header) -> usize {
    // SAFETY: as in trace.
    unsafe {
        match Kind::from_u8((*cell).kind) {
            Kind::String | Kind::MovedString => (*(cell as *mut StringCell)).owned(),
            Kind::Array | Kind::MovedArray => (*(cell as *mut ArrayCell)).owned(),
            Kind::Hash | Kind::MovedHash => HashCell::owned(cell as *mut HashCell),
            Kind::Object | Kind::Exception => ObjectCell::owned(cell as *mut ObjectCell),
            Kind::Data => (*(cell as *mut DataCell)).owned(),
            Kind::Bignum => BignumCell::weight(&(*(cell as *mut BignumCell)).value),
            _ => 0,
        }
    }
}

/// A cell in messages of the collector's check.
pub fn describe(cell: *mut Header) -> String {
    // SAFETY: a live, initialised cell.
    let h = unsafe { *cell };
    format!("{:?} {:#x} (shape {}, flags {:#x}, aux {})", Kind::from_u8(h.kind), cell.addr(), h.shape, h.flags, h.aux)
}
