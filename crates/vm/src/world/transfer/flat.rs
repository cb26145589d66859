//! Small messages: plain Strings, Arrays and Hashes of a few bytes, as one run of bytes without a graph around it.
//!
//! Most messages are a small String, a pair, a Hash with a few names. Their graph (see [`super`]) would be four vectors, made on one core and freed on
//! another, which costs more than all the rest of a send. Here a value is a tag and its content, nested ones inside; [`SHORT`] bytes fit into the
//! envelope itself, more (up to [`MOST`]) into one box.
//!
//! Invariants
//! - What has anything that the tags don't tell (a subclass, instance variables, defaults, regions, deep nesting, cycles) is refused
//!   and takes the other way: the receiver sees no difference.
//! - An object that is met twice is one object there, too: [`REF`] and its number in the order in which objects begin.
//! - Only [`Writer`] makes these bytes, in this process: reading them back can't fail.
//! - Reading calls no Ruby code and so meets no safepoint: values need no roots on the way.
//!
//! Rejected: reusing the graphs (a list of used ones on its way back to each sender: an atomic exchange more per message, and memory that nobody
//! owns while it waits there).

use super::Envelope;
use super::open::code_range;
use crate::vm::Cx;
use zakuro_heap::{Heap, flags};
use zakuro_object::*;

/// Bytes of a message inside its envelope. (With the tag of the form and padding that makes 32. Content in the padding, too, would be moved about
/// in pieces at odd addresses, which costs more than a longer message is worth.)
const SHORT: usize = 24;

/// A message that ends by itself; what follows is nothing.
#[repr(align(8))]
pub(super) struct Short(pub [u8; SHORT]);

/// Most bytes of a message; below what is worth sharing ([`super::SHARE_FROM`]).
const MOST: usize = 240;
/// Most objects (they are searched one by one), and how deep they may be nested (reading recurses).
const OBJECTS: usize = 16;
const DEPTH: usize = 4;
/// Most elements of an Array, pairs of a Hash.
const ELEMENTS: usize = 24;

/// Fixnums of 1, 2, 4 and 8 bytes.
const INT: u8 = 0;
/// Other immediates: the low 1, 4, or all 8 bytes of the value.
const BYTE: u8 = 4;
const WORD: u8 = 5;
const WHOLE: u8 = 6;
/// A Float cell: its number.
const FLOAT: u8 = 7;
/// Elements follow their number. With [`FROZEN`] a frozen one; large graphs of frozen ones travel by reference, small ones as any other.
const ARRAY: u8 = 8;
const FROZEN_ARRAY: u8 = ARRAY | FROZEN;
/// Keys and values follow the number of pairs.
const HASH: u8 = 9;
/// The number of an object that was met before.
const REF: u8 = 10;
/// With the code range in the low bits and these; a byte for the encoding if it is not UTF-8, then the length and the content follow.
const STRING: u8 = 0x40;
const FROZEN: u8 = 4;
const OTHER_ENCODING: u8 = 8;

/// What can't be told with these tags, or is too large.
struct Unfit;
type Fit = Result<(), Unfit>;

struct Writer<'a> {
    heap: &'a Heap,
    bytes: [u8; MOST],
    at: usize,
    objects: [Value; OBJECTS],
    met: usize,
}

/// The tag of a String, if it is a plain one.
#[inline(always)]
fn string_tag(v: Value, s: Ref<StringCell>) -> Option<u8> {
    let f = v.flags();
    if v.shape_key() != ids::STRING.0 || f & (flags::SHARED | flags::HAS_IVARS) != 0 {
        return None;
    }
    // A chilled one can be changed: it arrives as any other (`settled_flags`, without asking for the kind again).
    let frozen = if f & (flags::FROZEN | CHILLED) == flags::FROZEN { FROZEN } else { 0 };
    let encoding = if s.encoding() == string::UTF8 { 0 } else { OTHER_ENCODING };
    Some(STRING | frozen | encoding | s.code_range() as u8)
}

impl Writer<'_> {
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) -> Fit {
        match self.bytes.get_mut(self.at..self.at + bytes.len()) {
            Some(place) => {
                copy(place, bytes);
                self.at += bytes.len();
                Ok(())
            }
            None => Err(Unfit),
        }
    }
    /// A tag and a few bytes, written in one go.
    #[inline(always)]
    fn tagged<const N: usize>(&mut self, tag: u8, low: u64) -> Fit {
        match self.bytes.get_mut(self.at..self.at + 1 + N) {
            Some(place) => {
                place[0] = tag;
                place[1..].copy_from_slice(&low.to_le_bytes()[..N]);
                self.at += 1 + N;
                Ok(())
            }
            None => Err(Unfit),
        }
    }
    #[inline]
    fn immediate(&mut self, v: Value) -> Fit {
        let (tag, bits, size) = scalar(v);
        match size {
            1 => self.tagged::<1>(tag, bits),
            2 => self.tagged::<2>(tag, bits),
            4 => self.tagged::<4>(tag, bits),
            _ => self.tagged::<8>(tag, bits),
        }
    }
    /// `open`: containers that `v` lies in.
    fn value(&mut self, heap: &Heap, v: Value, open: &[Value]) -> Fit {
        if !v.is_cell() {
            return self.immediate(v);
        }
        if v.bits() == 0 || open.contains(&v) {
            return Err(Unfit);
        }
        let f = v.flags();
        let kind = v.kind_of_cell();
        if kind == Kind::Float && f & (flags::SHARED | flags::HAS_IVARS) == 0 {
            return self.tagged::<8>(FLOAT, v.as_float().unwrap_or(0.0).to_bits());
        }
        if let Some(n) = self.objects[..self.met].iter().position(|o| *o == v) {
            return self.tagged::<1>(REF, n as u64);
        }
        *self.objects.get_mut(self.met).ok_or(Unfit)? = v;
        self.met += 1;
        if kind == Kind::String {
            let s = Ref::<StringCell>::of(v);
            return self.string(string_tag(v, s).ok_or(Unfit)?, s);
        }
        if f & (flags::SHARED | flags::HAS_IVARS) != 0 || open.len() >= DEPTH {
            return Err(Unfit);
        }
        let frozen = if f & flags::FROZEN != 0 { FROZEN } else { 0 };
        let mut inside = [Value::NIL; DEPTH + 1];
        inside[..open.len()].copy_from_slice(open);
        inside[open.len()] = v;
        let open = &inside[..open.len() + 1];
        match kind {
            Kind::Array if v.shape_key() == ids::ARRAY.0 => {
                let a = Ref::<ArrayCell>::of(v);
                if a.len() > ELEMENTS {
                    return Err(Unfit);
                }
                self.tagged::<1>(ARRAY | frozen, a.len() as u64)?;
                a.elements(heap).iter().try_for_each(|x| self.value(heap, *x, open))
            }
            Kind::Hash if v.shape_key() == ids::HASH.0 => {
                let h = Ref::<HashCell>::of(v);
                let by_identity = h.by_identity();
                if f & KEYWORDS != 0 || h.default_is_proc() || !h.default.is_nil() || by_identity || h.len() > ELEMENTS / 2 {
                    return Err(Unfit);
                }
                self.tagged::<1>(HASH | frozen, h.len() as u64)?;
                let Some(t) = h.table(heap) else { return Ok(()) };
                t.iter().try_for_each(|e| {
                    if e.key.is_cell() && !e.key.is_kind(Kind::String) {
                        return Err(Unfit);
                    }
                    self.value(heap, e.key, open)?;
                    self.value(heap, e.value, open)
                })
            }
            _ => Err(Unfit),
        }
    }
    #[inline]
    fn string(&mut self, tag: u8, s: Ref<StringCell>) -> Fit {
        let content = s.content(self.heap);
        if content.len() > MOST {
            return Err(Unfit);
        }
        self.put(&[tag])?;
        if tag & OTHER_ENCODING != 0 {
            self.put(&[s.encoding()])?;
        }
        self.put(&[content.len() as u8])?;
        self.put(content)
    }
}

/// Tag of a value that is no cell, its bits, and how many bytes of them to keep.
#[inline(always)]
fn scalar(v: Value) -> (u8, u64, usize) {
    match v.as_fixnum() {
        Some(n) => {
            // Without branches: messages of many sizes come one after another. A digit for each count of bytes with anything but the sign.
            let used = 64 - (n ^ n >> 63).leading_zeros();
            let tag = 0x3333_2210_u32 >> (used / 8 * 4) & 3;
            (INT + tag as u8, n as u64, 1 << tag)
        }
        None if v.bits() <= u8::MAX as u64 => (BYTE, v.bits(), 1),
        None if v.bits() <= u32::MAX as u64 => (WORD, v.bits(), 4),
        None => (WHOLE, v.bits(), 8),
    }
}

/// Copies a few bytes, of a number that the compiler does not know, without a call.
#[inline(always)]
fn copy(to: &mut [u8], from: &[u8]) {
    match from.len() {
        8..=16 => both_ends::<8>(to, from),
        4..8 => both_ends::<4>(to, from),
        0..4 => to.iter_mut().zip(from).for_each(|(to, from)| *to = *from),
        _ => to.copy_from_slice(from),
    }
}
/// Of `N` bytes to twice as many.
#[inline(always)]
fn both_ends<const N: usize>(to: &mut [u8], from: &[u8]) {
    if let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>())
        && let Some(end) = to.len().checked_sub(N)
    {
        to[..N].copy_from_slice(first);
        to[end..].copy_from_slice(last);
    }
}

/// An Array of immediates and plain Strings that fits into the envelope: what [`Writer`] does, without its tables. None for others.
#[inline]
fn list(heap: &Heap, values: &[Value], frozen: u8) -> Option<Envelope> {
    // Numbers are written with eight bytes, whatever their size.
    let mut bytes = [0; SHORT + 9];
    (bytes[0], bytes[1]) = (ARRAY | frozen, values.len() as u8);
    let mut at = 2;
    for (i, v) in values.iter().copied().enumerate() {
        if !v.is_cell() {
            let (tag, bits, size) = scalar(v);
            let place: &mut [u8; 9] = bytes[at..].first_chunk_mut()?;
            place[0] = tag;
            place[1..].copy_from_slice(&bits.to_le_bytes());
            at += 1 + size;
        } else {
            let s = Ref::<StringCell>::from_value(v)?;
            let (tag, content) = (string_tag(v, s)?, s.content(heap));
            if tag & OTHER_ENCODING != 0 || values[..i].contains(&v) {
                return None;
            }
            let place = bytes.get_mut(at..at + 2 + content.len())?;
            (place[0], place[1]) = (tag, content.len() as u8);
            copy(&mut place[2..], content);
            at += place.len();
        }
        if at > SHORT {
            return None;
        }
    }
    bytes.first_chunk().map(|short| Envelope::short(Short(*short)))
}

/// The bytes of a value, or None when it has to travel as a graph.
#[inline]
pub(super) fn pack(heap: &Heap, v: Value) -> Option<Envelope> {
    match v.kind_of_cell() {
        Kind::String => {
            let s = Ref::<StringCell>::of(v);
            let tag = string_tag(v, s)?;
            let content = s.content(heap);
            if content.len() > SHORT - 2 || tag & OTHER_ENCODING != 0 {
                return if content.len() < MOST { larger(heap, v) } else { None };
            }
            let mut bytes = [0; SHORT];
            (bytes[0], bytes[1]) = (tag, content.len() as u8);
            copy(&mut bytes[2..2 + content.len()], content);
            Some(Envelope::short(Short(bytes)))
        }
        // What is large is told at once.
        Kind::Array if v.flags() & (flags::SHARED | flags::HAS_IVARS) == 0 && v.shape_key() == ids::ARRAY.0 => {
            let a = Ref::<ArrayCell>::of(v);
            if a.len() > ELEMENTS {
                return None;
            }
            let frozen = if v.flags() & flags::FROZEN != 0 { FROZEN } else { 0 };
            list(heap, a.elements(heap), frozen).or_else(|| larger(heap, v))
        }
        Kind::Hash if v.flags() & flags::SHARED == 0 && Ref::<HashCell>::of(v).len() <= ELEMENTS / 2 => larger(heap, v),
        Kind::Float => larger(heap, v),
        _ => None,
    }
}

#[inline(never)]
fn larger(heap: &Heap, v: Value) -> Option<Envelope> {
    let mut w = Writer { heap, bytes: [0; MOST], at: 0, objects: [Value::NIL; OBJECTS], met: 0 };
    w.value(heap, v, &[]).ok()?;
    match w.bytes.first_chunk() {
        Some(short) if w.at <= SHORT => Some(Envelope::short(Short(*short))),
        _ => Some(Envelope::flat(w.bytes[..w.at].into())),
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    /// Objects in the order in which they began.
    objects: [Value; OBJECTS],
    met: usize,
}

impl Reader<'_> {
    #[inline(always)]
    fn take(&mut self, count: usize) -> &[u8] {
        match self.bytes.split_at_checked(count) {
            Some((taken, rest)) => {
                self.bytes = rest;
                taken
            }
            None => &[],
        }
    }
    #[inline(always)]
    fn number<const N: usize>(&mut self) -> u64 {
        match self.bytes.split_first_chunk::<N>() {
            Some((taken, rest)) => {
                self.bytes = rest;
                let mut all = [0; 8];
                all[..N].copy_from_slice(taken);
                u64::from_le_bytes(all)
            }
            None => 0,
        }
    }
    #[inline(always)]
    fn byte(&mut self) -> u8 {
        self.number::<1>() as u8
    }
    /// A finished object.
    #[inline(always)]
    fn note(&mut self, at: usize, tag: u8, v: Value) -> Value {
        if tag & FROZEN != 0 {
            v.set_flags(flags::FROZEN);
        }
        if let Some(place) = self.objects.get_mut(at) {
            *place = v;
        }
        v
    }
    #[inline(always)]
    fn value(&mut self, cx: &mut Cx) -> Value {
        let tag = self.byte();
        match tag {
            INT => Value::fixnum(self.number::<1>() as i8 as i64),
            1 => Value::fixnum(self.number::<2>() as i16 as i64),
            2 => Value::fixnum(self.number::<4>() as i32 as i64),
            3 => Value::fixnum(self.number::<8>() as i64),
            // SAFETY: the words of immediates.
            BYTE => unsafe { Value::from_bits(self.number::<1>()) },
            // SAFETY: as above.
            WORD => unsafe { Value::from_bits(self.number::<4>()) },
            // SAFETY: as above.
            WHOLE => unsafe { Value::from_bits(self.number::<8>()) },
            STRING.. => {
                let at = self.begin();
                let s = self.string(cx, tag);
                self.note(at, tag, s)
            }
            _ => self.other(cx, tag),
        }
    }
    /// The number of an object that begins.
    #[inline(always)]
    fn begin(&mut self) -> usize {
        self.met += 1;
        self.met - 1
    }
    #[inline(never)]
    fn other(&mut self, cx: &mut Cx, tag: u8) -> Value {
        match tag {
            FLOAT => FloatCell::make(&cx.heap, f64::from_bits(self.number::<8>())),
            REF => {
                let n = self.byte() as usize;
                self.objects.get(n).copied().unwrap_or_default()
            }
            ARRAY | FROZEN_ARRAY => {
                let at = self.begin();
                let n = self.byte() as usize;
                // Straight into the cell: elements gathered elsewhere are read again before the processor has stored them.
                let a = ArrayCell::for_len(&cx.heap, ids::ARRAY.0, n);
                ArrayCell::reserve(a, &mut cx.heap, n);
                for _ in 0..n {
                    let v = self.value(cx);
                    ArrayCell::push(a, &mut cx.heap, v);
                }
                self.note(at, tag, a.as_value())
            }
            _ => {
                let at = self.begin();
                let n = (self.byte() as usize).min(ELEMENTS / 2);
                let mut entries = [hash::Entry { hash: 0, key: Value::NIL, value: Value::NIL }; ELEMENTS / 2];
                for e in &mut entries[..n] {
                    e.key = self.value(cx);
                    e.value = self.value(cx);
                    e.hash = cx.quick_hash(e.key).unwrap_or(0);
                }
                let h = HashCell::make(&cx.heap, ids::HASH.0);
                if n > 0 {
                    let table = HashTable::from_entries(entries[..n].iter().copied());
                    HashCell::change(h, &mut cx.heap, |t| *t = table);
                }
                self.note(at, tag, h.as_value())
            }
        }
    }
    #[inline(always)]
    fn string(&mut self, cx: &mut Cx, tag: u8) -> Value {
        let encoding = if tag & OTHER_ENCODING != 0 { self.byte() } else { string::UTF8 };
        let length = self.byte() as usize;
        let s = StringCell::plain(&cx.heap, self.take(length), encoding);
        s.set_code_range(code_range(tag as u16));
        let v = s.as_value();
        if tag & FROZEN != 0 {
            v.set_flags(flags::FROZEN);
        }
        v
    }
}

/// The value of bytes that [`pack`] made.
#[inline]
pub(super) fn open(cx: &mut Cx, bytes: &[u8]) -> Value {
    if let Some((tag, rest)) = bytes.split_first()
        && tag & STRING != 0
    {
        return Reader { bytes: rest, objects: [Value::NIL; OBJECTS], met: 0 }.string(cx, *tag);
    }
    nested(cx, bytes)
}

#[inline(never)]
fn nested(cx: &mut Cx, bytes: &[u8]) -> Value {
    Reader { bytes, objects: [Value::NIL; OBJECTS], met: 0 }.value(cx)
}
