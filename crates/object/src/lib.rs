//! Ruby's objects as the heap sees them: [`Value`], cell layouts, shapes, classes.
//!
//! This crate knows layouts and invariants, no semantics: nothing here calls Ruby code. Every write of a reference into a cell
//! goes through a function of this crate, the place of a later write barrier.

pub mod array;
pub mod cells;
pub mod class;
pub mod data;
pub mod graft;
pub mod hash;
pub mod lists;
pub mod names;
pub mod saved;
pub mod shape;
mod shared;
pub mod string;
#[cfg(test)]
mod test_help;
pub mod trace;
pub mod value;

pub use array::{ArrayCell, layout as array_layout};
pub use cells::*;
pub use class::{Alloc, ClassData, ClassId, ClassKind, ConstEntry, ids};
pub use data::{ChangeTracking, DataCell, NativeData, SendPayload, Unpack, Unpacked};
pub use hash::{HashCell, HashTable};
pub use lists::{Gathered, TracedVec, UntracedVec};
pub use names::NameOrder;
pub use saved::{Rebuild, Saved, SavedReader, rebuild, savable};
pub use shape::{LOT, ShapeId, ShapeInfo};
pub use shared::Placed;
pub use string::StringCell;
pub use trace::{Trace, owned_bytes};
pub use value::{Ref, Value};
pub use zakuro_base::{Sym, sym};
pub use zakuro_heap::{Header, Heap, Marker, flags};
