//! `String#-@`: one frozen String per content and VM.
//!
//! Invariant: the table holds short Strings only, and at most `MAX` of them, so that it bounds what it keeps alive.
//! Rejected for now: a weak table (the collector has no weak references yet).

use super::util::*;
use zakuro_macros::Trace;
use zakuro_vm::*;

const MAX: usize = 1 << 14;
const MAX_BYTES: usize = 128;

#[derive(Trace, Default)]
struct Table {
    /// By content and encoding.
    strings: std::collections::HashMap<(Vec<u8>, u8), Value>,
}
impl VmState for Table {}

/// The frozen String that stands for the content of `s`.
pub fn dedup(cx: &mut Cx, s: Str) -> Value {
    let v = s.as_value();
    let plain = v.flags() & flags::HAS_IVARS == 0 && v.shape_key() == ids::STRING.0;
    if !plain && v.is_frozen() {
        return v;
    }
    if s.len() <= MAX_BYTES {
        let key = (s.to_vec(), s.encoding());
        let known = cx.state::<Table>().strings.get(&key).copied();
        if let Some(k) = known {
            return k;
        }
        let kept = crate::regexp::engine::frozen_copy(cx, s).as_value();
        let t = cx.state::<Table>();
        if t.strings.len() < MAX {
            t.strings.insert(key, kept);
        }
        return kept;
    }
    crate::regexp::engine::frozen_copy(cx, s).as_value()
}
