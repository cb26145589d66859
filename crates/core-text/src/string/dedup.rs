//! `String#-@`: one frozen String per content and VM.
//!
//! Invariant: the table holds at most `MAX` Strings, which are short, or names of Symbols of `LONG_NAMES` bytes in all, so that it bounds what it
//! keeps alive.
//! Rejected for now: a weak table (the collector has no weak references yet).

use super::util::*;
use zakuro_base::HashSeed;
use zakuro_macros::Trace;
use zakuro_vm::vm::FastMap;
use zakuro_vm::*;

const MAX: usize = 1 << 16;
const MAX_BYTES: usize = 128;
/// Bytes of a Symbol's name that is kept although it is long.
const MAX_NAME: usize = 64 << 10;
/// Bytes of all of those.
const LONG_NAMES: usize = 1 << 20;

#[derive(Trace)]
struct Table {
    strings: TracedVec,
    /// Places in `strings` by a seeded hash of content and encoding. Of two contents with one hash the first is kept.
    #[untraced]
    index: FastMap<u64, u32>,
    /// The same by the number of a Symbol of this name.
    #[untraced]
    names: FastMap<u32, u32>,
    /// Bytes of the long names among the Strings.
    #[untraced]
    long: usize,
}
impl Default for Table {
    fn default() -> Table {
        Table { strings: TracedVec::new(), index: FastMap::default(), names: FastMap::default(), long: 0 }
    }
}
impl VmState for Table {}

/// A frozen copy of the same class, without instance variables.
fn own_copy(cx: &mut Cx, s: Str) -> Value {
    let shape = cx.root_shape(cx.class_of(s.as_value()));
    let c = StringCell::substring(&cx.heap, shape, s, 0, s.len()).as_value();
    c.set_flags(flags::FROZEN);
    c
}

/// The name of a Symbol as the frozen String that stands for it.
pub fn name(cx: &mut Cx, s: Sym) -> Value {
    let t = cx.state::<Table>();
    if let Some(at) = t.names.get(&s.0) {
        return t.strings[*at as usize];
    }
    let name = crate::symbol::to_string(cx, s);
    let (v, at) = if name.len() > MAX_BYTES { keep_long(cx, name) } else { dedup_at(cx, name) };
    if let Some(at) = at {
        cx.state::<Table>().names.insert(s.0, at);
    }
    v
}

/// The frozen String of a long name, and its place in the table while that has room for it.
fn keep_long(cx: &mut Cx, name: Str) -> (Value, Option<u32>) {
    let kept = crate::regexp::engine::frozen_copy(cx, name).as_value();
    let t = cx.state::<Table>();
    if name.len() > MAX_NAME || t.long + name.len() > LONG_NAMES || t.strings.len() >= MAX {
        return (kept, None);
    }
    t.long += name.len();
    t.strings.push(kept);
    (kept, Some(t.strings.len() as u32 - 1))
}

/// Whether it is the String that stands for its content.
pub fn is_kept(cx: &mut Cx, s: Str) -> bool {
    let hash = HashSeed::of_process().bytes(s.content(&cx.heap)) ^ u64::from(s.encoding());
    let t = cx.state::<Table>();
    t.index.get(&hash).is_some_and(|at| t.strings[*at as usize] == s.as_value())
}

/// The frozen String that stands for the content of `s`.
pub fn dedup(cx: &mut Cx, s: Str) -> Value {
    dedup_at(cx, s).0
}

/// The same with its place in the table, if it is there.
fn dedup_at(cx: &mut Cx, s: Str) -> (Value, Option<u32>) {
    let v = s.as_value();
    let plain = v.flags() & flags::HAS_IVARS == 0 && v.shape_key() == ids::STRING.0;
    if !plain {
        // What is more than its content stands for itself alone.
        return (if v.is_frozen() { v } else { own_copy(cx, s) }, None);
    }
    if s.len() <= MAX_BYTES {
        let hash = HashSeed::of_process().bytes(s.content(&cx.heap)) ^ u64::from(s.encoding());
        let t = cx.state::<Table>();
        let known = t.index.get(&hash).map(|at| (*at, t.strings[*at as usize]));
        if let Some((at, k)) = known {
            let same: Str = Ref::of(k);
            if same.encoding() == s.encoding() && same.content(&cx.heap) == s.content(&cx.heap) {
                return (k, Some(at));
            }
        }
        let kept = crate::regexp::engine::frozen_copy(cx, s).as_value();
        let t = cx.state::<Table>();
        if known.is_none() && t.strings.len() < MAX {
            let at = t.strings.len() as u32;
            t.index.insert(hash, at);
            t.strings.push(kept);
            return (kept, Some(at));
        }
        return (kept, None);
    }
    (crate::regexp::engine::frozen_copy(cx, s).as_value(), None)
}
