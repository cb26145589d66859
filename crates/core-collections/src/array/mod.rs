//! Array. One file per concern; what any Enumerable does per element is in `enumerable`, of which Array has rows of its own.
//!
//! Loops that run Ruby code read the array by index again each round, so that changes during iteration act as in CRuby.

use crate::enumerable::own_rows;
use zakuro_vm::*;

pub mod access;
pub mod arg;
pub mod basic;
pub(crate) use basic::guard_pair;
pub mod bsearch;
pub mod combine;
pub mod iterate;
pub mod modify;
pub mod remove;
pub mod setops;
pub mod sorting;
pub mod store;
pub(crate) mod words;

static SHARED: [MethodRow; 35] = own_rows(
    ids::ARRAY,
    [
        "map", "select", "reject", "filter_map", "each_with_index", "all?", "any?", "none?", "one?", "count", "take_while", "drop_while",
        "sum", "sort_by", "min", "max", "minmax", "cycle", "zip", "find", "inject", "flat_map", "each_with_object", "partition", "group_by",
        "tally", "each_slice", "each_cons", "min_by", "max_by", "minmax_by", "uniq", "each_entry", "to_h", "sort",
    ],
);

pub static TABLES: &[&[MethodRow]] = &[
    &SHARED,
    basic::kernel::METHODS,
    basic::methods::METHODS,
    access::methods::METHODS,
    store::methods::METHODS,
    modify::methods::METHODS,
    remove::methods::METHODS,
    iterate::methods::METHODS,
    bsearch::methods::METHODS,
    setops::methods::METHODS,
    combine::methods::METHODS,
];

pub fn setup(_cx: &mut Cx) {}

/// Whether an Array that may be changed when a loop began still may be, without a look at anything else: a block may freeze it, move it away, or fork the VM.
fn may_change(a: Ref<ArrayCell>) -> bool {
    let v = a.as_value();
    v.is_kind(Kind::Array) && v.flags() & (flags::FROZEN | flags::CAPTURED) == 0
}

/// New Array of elements start..end of another.
pub fn part(heap: &Heap, a: Ref<ArrayCell>, start: usize, end: usize) -> Ref<ArrayCell> {
    let end = end.min(a.len());
    let start = start.min(end);
    ArrayCell::slice(heap, ids::ARRAY.0, a, start, end)
}
