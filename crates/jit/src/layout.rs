//! Where things stand that machine code reads and writes, in bytes.

use std::mem::offset_of;
use zakuro_object::Value;
use zakuro_vm::frame::{CallCache, CodeState, ConstCache, Frame, IvarCache};
use zakuro_vm::vm::Vm;
use zakuro_vm::{ClassId, Header, MethodCell, ids};

pub mod vm {
    use super::*;
    pub const FP: i32 = offset_of!(Vm, fp) as i32;
    pub const FRAME_LIMIT: i32 = offset_of!(Vm, frame_limit) as i32;
    pub const STACK_LIMIT: i32 = offset_of!(Vm, stack_limit) as i32;
    pub const POLL: i32 = offset_of!(Vm, poll) as i32;
    pub const EPOCH: i32 = offset_of!(Vm, epoch) as i32;
    pub const CONST_EPOCH: i32 = offset_of!(Vm, const_epoch) as i32;
    pub const REDEFINED: i32 = offset_of!(Vm, redefined) as i32;
    pub const GENERATION: i32 = offset_of!(Vm, generation) as i32;
    pub const NATIVE_LIMIT: i32 = offset_of!(Vm, native_limit) as i32;
    pub const LEFT: i32 = offset_of!(Vm, left) as i32;
    pub const EXIT_IN: i32 = offset_of!(Vm, exit_in) as i32;
    pub const SLOTS: i32 = offset_of!(Vm, slots) as i32;
    pub const HEAP: i32 = offset_of!(Vm, heap) as i32;
    pub const LEFT_BY: i32 = offset_of!(Vm, left_by) as i32;
    pub const ROUNDS: i32 = offset_of!(Vm, rounds) as i32;
    pub const TRUTHS: i32 = offset_of!(Vm, truths_known) as i32;
}
pub mod truths {
    use super::*;
    use zakuro_vm::classes::{TruthRow, TruthsKnown};
    pub const KEY: i32 = vm::TRUTHS + offset_of!(TruthRow, key) as i32;
    pub const ANSWERS: i32 = vm::TRUTHS + offset_of!(TruthRow, answers) as i32;
    pub const ROWS: i64 = TruthsKnown::ROWS as i64;
    pub const SIZE_LOG: i64 = size_of::<TruthRow>().ilog2() as i64;
    const _: () = assert!(size_of::<TruthRow>().is_power_of_two());
}
pub mod rounds {
    use super::*;
    use zakuro_vm::machine::Rounds;
    pub const LEFT: i32 = offset_of!(Rounds, left) as i32;
    pub const NEXT: i32 = offset_of!(Rounds, next) as i32;
    pub const STEP: i32 = offset_of!(Rounds, step) as i32;
    pub const ARRAY: i32 = offset_of!(Rounds, array) as i32;
    pub const ADVANCE: i32 = offset_of!(Rounds, advance) as i32;
}
pub mod frame {
    use super::*;
    pub const IP: i32 = offset_of!(Frame, ip) as i32;
    pub const REGS: i32 = offset_of!(Frame, regs) as i32;
    pub const CODE: i32 = offset_of!(Frame, code) as i32;
    pub const BLOCK: i32 = offset_of!(Frame, block) as i32;
    pub const ME: i32 = offset_of!(Frame, me) as i32;
    pub const AUX: i32 = offset_of!(Frame, aux) as i32;
    pub const SIZE: i64 = size_of::<Frame>() as i64;
}
pub mod state {
    use super::*;
    pub const CALLS: i32 = offset_of!(CodeState, calls) as i32;
    pub const IVARS: i32 = offset_of!(CodeState, ivars) as i32;
    pub const CONSTS_CACHE: i32 = offset_of!(CodeState, consts_cache) as i32;
    pub const CONSTS: i32 = offset_of!(CodeState, consts) as i32;
    pub const ENTRY: i32 = offset_of!(CodeState, entry) as i32;
    pub const SITES: i32 = offset_of!(CodeState, sites) as i32;
    pub const LAYOUT: i32 = offset_of!(CodeState, layout) as i32;
    pub const LINKED: i32 = offset_of!(CodeState, linked) as i32;
    pub const CHILDREN: i32 = offset_of!(CodeState, first_child) as i32;
    pub const SIMPLE: i32 = offset_of!(CodeState, simple) as i32;
    pub const REQUIRED: i32 = offset_of!(CodeState, required) as i32;
    pub const ENV_REG: i32 = offset_of!(CodeState, env_reg) as i32;
}
pub mod call {
    use super::*;
    pub const SIZE: i32 = size_of::<CallCache>() as i32;
    /// The key's halves: the shape, and the epoch above it.
    pub const SHAPE: i32 = offset_of!(CallCache, key) as i32 + if cfg!(target_endian = "little") { 0 } else { 4 };
    pub const EPOCH: i32 = offset_of!(CallCache, key) as i32 + if cfg!(target_endian = "little") { 4 } else { 0 };
    pub const HANDLER: i32 = offset_of!(CallCache, handler) as i32;
    pub const TARGET: i32 = offset_of!(CallCache, target) as i32;
    pub const ME: i32 = offset_of!(CallCache, me) as i32;
}
pub mod site {
    use super::*;
    use zakuro_vm::sites::Site;
    pub const SIZE: i32 = size_of::<Site>() as i32;
    pub const SHAPE: i32 = offset_of!(Site, shape) as i32;
    pub const EXTRA: i32 = offset_of!(Site, extra) as i32;
    pub const TARGET: i32 = offset_of!(Site, target) as i32;
    pub const ME: i32 = offset_of!(Site, me) as i32;
    /// In the first entry of a table.
    pub const GENERATION: i32 = SHAPE;
}
pub mod ivar {
    use super::*;
    pub const SIZE: i32 = size_of::<IvarCache>() as i32;
    pub const SHAPE: i32 = offset_of!(IvarCache, shape) as i32;
    pub const SLOT: i32 = offset_of!(IvarCache, slot) as i32;
    pub const NEXT: i32 = offset_of!(IvarCache, next) as i32;
}
pub mod constant {
    use super::*;
    pub const SIZE: i32 = size_of::<ConstCache>() as i32;
    pub const EPOCH: i32 = offset_of!(ConstCache, epoch) as i32;
    pub const CREF: i32 = offset_of!(ConstCache, cref) as i32;
    pub const VALUE: i32 = offset_of!(ConstCache, value) as i32;
}
/// A cell's header, and what follows in some kinds.
pub mod cell {
    use super::*;
    use zakuro_vm::ArrayCell;
    pub const SHAPE: i32 = offset_of!(Header, shape) as i32;
    pub const KIND: i32 = offset_of!(Header, kind) as i32;
    pub const FLAGS: i32 = offset_of!(Header, flags) as i32;
    pub const AUX: i32 = offset_of!(Header, aux) as i32;
    /// Slots of an object follow the header.
    pub const SLOTS: i32 = 8;
    pub const ENV_PARENT: i32 = offset_of!(zakuro_vm::EnvCell, parent) as i32;
    pub const ENV_SLOTS: i32 = ENV_PARENT + 8;
    pub const METHOD_CREF: i32 = offset_of!(MethodCell, cref) as i32;
    pub const METHOD_DATA: i32 = offset_of!(MethodCell, data) as i32;
    pub const CREF_REFINEMENTS: i32 = offset_of!(zakuro_vm::CrefCell, refinements) as i32;
    pub const PROC_ENV: i32 = offset_of!(zakuro_vm::ProcCell, env) as i32;
    pub const FLOAT_VALUE: i32 = offset_of!(zakuro_vm::FloatCell, value) as i32;
    pub const ARRAY_INLINE: i32 = zakuro_object::array_layout::INLINE as i32;
    pub const ARRAY_BUFFER: i32 = zakuro_object::array_layout::BUFFER as i32;
    pub const ARRAY_POINTER: i32 = zakuro_object::array_layout::POINTER as i32;
    pub const ARRAY_LENGTH: i32 = zakuro_object::array_layout::LENGTH as i32;
    pub const ARRAY_INLINE_LENGTH: i32 = zakuro_object::array_layout::INLINE_LENGTH as i32;
    pub const ARRAY_OUT: i64 = zakuro_object::array_layout::OUT as i64;
    pub const RANGE_LOW: i32 = zakuro_vm::RangeCell::LOW as i32;
    pub const RANGE_HIGH: i32 = zakuro_vm::RangeCell::HIGH as i32;
    const _: () = assert!(size_of::<ArrayCell>() == 32);
}
/// Shapes of plain core objects, and what `shape_key` is of immediates.
pub const fn shape(id: ClassId) -> i64 {
    id.0 as i64
}
pub const ARRAY: i64 = shape(ids::ARRAY);
pub const STRING: i64 = shape(ids::STRING);
pub const HASH: i64 = shape(ids::HASH);
pub const RANGE: i64 = shape(ids::RANGE);
pub const INTEGER: i64 = shape(ids::INTEGER);
pub const FLOAT: i64 = shape(ids::FLOAT);
/// What values that are no cells have for a shape, as `Value::shape_key` says, by their lowest six bits; what has these of no value has one that is nobody's.
pub static SHAPES_OF_WORDS: [u32; 64] = {
    let mut shapes = [u32::MAX - 1; 64];
    let mut bits = 0;
    while bits < shapes.len() {
        if bits & 1 == 1 {
            shapes[bits] = INTEGER as u32;
        } else if bits & 3 == 2 {
            shapes[bits] = FLOAT as u32;
        }
        bits += 1;
    }
    let others = [
        (Value::NIL, ids::NIL_CLASS),
        (Value::FALSE, ids::FALSE_CLASS),
        (Value::TRUE, ids::TRUE_CLASS),
        (Value::sym(zakuro_vm::Sym(0)), ids::SYMBOL),
    ];
    let mut n = 0;
    while n < others.len() {
        shapes[(others[n].0.bits() & WORD_BITS as u64) as usize] = others[n].1.0;
        n += 1;
    }
    shapes
};
pub const WORD_BITS: i64 = 63;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_shapes_that_the_interpreter_goes_by() {
        let symbols = [0, 1, 77, 1 << 20].map(|n| Value::sym(zakuro_vm::Sym(n)));
        let numbers = [0, 1, -1, 31, 32, 1 << 40].map(Value::fixnum);
        let floats = [0.0, 1.0, -2.5, 1e10, 3.0e-5].map(|d| Value::flonum(d).unwrap());
        let words = [Value::NIL, Value::TRUE, Value::FALSE].into_iter().chain(symbols).chain(numbers).chain(floats);
        for v in words {
            assert_eq!(SHAPES_OF_WORDS[(v.bits() & WORD_BITS as u64) as usize], v.shape_key(), "{:#x}", v.bits());
        }
    }
}
