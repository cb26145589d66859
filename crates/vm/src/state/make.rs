//! Making objects from Rust.

use crate::raise::Result;
use crate::vm::Cx;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use std::ptr::NonNull;
use zakuro_object::string::{BINARY, US_ASCII, UTF8};
use zakuro_object::*;

impl Cx {
    /// New UTF-8 String.
    #[inline]
    pub fn str(&self, s: &str) -> Value {
        StringCell::plain(&self.heap, s.as_bytes(), UTF8).as_value()
    }
    /// New String of bytes in an encoding (`string::UTF8`, `string::BINARY`, ... or an id of text::encoding).
    #[inline]
    pub fn str_bytes(&self, b: &[u8], encoding: u8) -> Value {
        StringCell::plain(&self.heap, b, encoding).as_value()
    }
    /// New String: UTF-8 when the bytes are valid, else binary.
    pub fn str_auto(&self, b: &[u8]) -> Value {
        let e = if std::str::from_utf8(b).is_ok() { UTF8 } else { BINARY };
        self.str_bytes(b, e)
    }
    /// New String of a text that is in US-ASCII as long as it can be, as those are that builtins make of names and numbers.
    pub fn str_plain(&self, s: impl AsRef<[u8]>) -> Value {
        let s = s.as_ref();
        if s.is_ascii() { self.str_bytes(s, US_ASCII) } else { self.str_auto(s) }
    }
    /// New frozen String.
    pub fn frozen_str(&self, s: &str) -> Value {
        let v = self.str(s);
        v.set_flags(flags::FROZEN);
        v
    }
    /// Integer of any i64.
    #[inline(always)]
    pub fn int(&self, i: i64) -> Value {
        match Value::try_fixnum(i) {
            Some(v) => v,
            None => self.big(BigInt::from(i)),
        }
    }
    pub fn int_u64(&self, i: u64) -> Value {
        if i <= i64::MAX as u64 { self.int(i as i64) } else { self.big(BigInt::from(i)) }
    }
    pub fn int_i128(&self, i: i128) -> Value {
        match i64::try_from(i) {
            Ok(i) => self.int(i),
            Err(_) => self.big(BigInt::from(i)),
        }
    }
    /// Integer of a big number (a Fixnum when it fits).
    pub fn big(&self, b: BigInt) -> Value {
        if let Some(v) = b.to_i64().and_then(Value::try_fixnum) {
            return v;
        }
        let mut header = zakuro_object::header(ids::INTEGER, Kind::Bignum, 0);
        header.flags = flags::FROZEN;
        let (weight, digits) = (BignumCell::weight(&b), BignumCell::digits(&b));
        self.heap.add_payload(weight);
        // It is there already.
        self.heap.add_watched(digits);
        if self.heap.room() == 0 {
            self.heap.sub_payload(weight);
            self.heap.sub_watched(digits);
            zakuro_heap::out_of_memory();
        }
        alloc_finalized_cell(&self.heap, BignumCell { header, value: Box::new(b) }).as_value()
    }
    #[inline(always)]
    pub fn float(&self, d: f64) -> Value {
        Value::float(&self.heap, d)
    }
    pub fn array(&self, values: &[Value]) -> Value {
        ArrayCell::plain(&self.heap, values).as_value()
    }
    pub fn new_array(&self) -> Ref<ArrayCell> {
        ArrayCell::empty(&self.heap, ids::ARRAY.0)
    }
    /// New Array of what an iterator gives. It can't run Ruby code on the way: the VM is borrowed.
    pub fn array_of(&self, values: impl IntoIterator<Item = Value>) -> Value {
        let values = values.into_iter();
        match values.size_hint() {
            (low, Some(high)) if low == high => ArrayCell::gather(&self.heap, high, values).as_value(),
            _ => self.array(&Gathered::of(&self.heap, values)),
        }
    }
    /// New Array of Symbols.
    pub fn sym_array(&self, names: &[Sym]) -> Value {
        self.array_of(names.iter().map(|n| Value::sym(*n)))
    }
    pub fn str_array(&self, items: &[String]) -> Value {
        ArrayCell::gather(&self.heap, items.len(), items.iter().map(|s| self.str(s))).as_value()
    }
    pub fn new_hash(&self) -> Ref<HashCell> {
        HashCell::make(&self.heap, ids::HASH.0)
    }
    pub fn range(&self, low: Value, high: Value, exclusive: bool) -> Value {
        RangeCell::make(&self.heap, ids::RANGE.0, low, high, exclusive).as_value()
    }
    /// Object around a Rust value; `class` is the class of it (a builtin id, or a subclass's).
    #[inline]
    pub fn data<T: NativeData>(&self, class: ClassId, payload: T) -> Value {
        let shape = self.root_shape(class);
        DataCell::make_of(&self.heap, shape, payload).as_value()
    }
    /// The Rust value in a data object. TypeError when it is of another type or uninitialised.
    pub fn data_ref<T: NativeData>(&mut self, v: Value) -> Result<&T> {
        if let Some(d) = Ref::<DataCell>::from_value(v) {
            // SAFETY: cells don't move, `v` is alive (it is on a scanned stack), and the payload stays while the VM is borrowed.
            if let Some(t) = unsafe { (*d.as_ptr()).get::<T>() } {
                return Ok(t);
            }
            let c = self.class_name_of(v);
            return self.raise(ids::TYPE_ERROR, format!("uninitialized {c}"));
        }
        self.wrong_receiver(v, std::any::type_name::<T>().rsplit("::").next().unwrap_or("object"))
    }
    /// The Rust values in two data objects of one type.
    pub fn data_pair<T: NativeData>(&mut self, a: Value, b: Value) -> Result<(&T, &T)> {
        self.data_ref::<T>(b)?;
        let a = std::ptr::from_ref(self.data_ref::<T>(a)?);
        // SAFETY: the payload stays while the VM is borrowed, which `b` goes on doing; looking at one does not touch another.
        Ok((unsafe { &*a }, self.data_ref::<T>(b)?))
    }
    /// As `data_ref`, for changing it. Check frozen first where Ruby does.
    pub fn data_mut<T: NativeData>(&mut self, v: Value) -> Result<&mut T> {
        // SAFETY: as in data_ref.
        if let Some(t) = unsafe { self.payload_mut(v) } {
            return Ok(t);
        }
        self.data_ref::<T>(v)?;
        self.type_error("uninitialized object")
    }
    /// As `data_mut`, with an error of its own for an object whose payload is not set.
    #[inline]
    pub fn data_mut_or<T: NativeData>(&mut self, v: Value, unset: impl FnOnce(&mut Self) -> Result<()>) -> Result<&mut T> {
        // SAFETY: as in data_ref.
        if let Some(t) = unsafe { self.payload_mut(v) } {
            return Ok(t);
        }
        if Ref::<DataCell>::from_value(v).is_some() {
            unset(self)?;
        }
        self.data_mut(v)
    }
    /// As `data_mut`; None when it is of another type or uninitialised.
    pub fn data_mut_of<T: NativeData>(&mut self, v: Value) -> Option<&mut T> {
        // SAFETY: as in data_ref.
        unsafe { self.payload_mut(v) }
    }
    /// # Safety
    /// The VM is borrowed for as long as the payload is.
    unsafe fn payload_mut<'a, T: NativeData>(&mut self, v: Value) -> Option<&'a mut T> {
        let d = Ref::<DataCell>::from_value(v)?;
        // SAFETY: the caller's word.
        let t = unsafe { DataCell::get_mut::<T>(d) }?;
        if t.change_tracking() != ChangeTracking::Independent {
            self.cell_changes(v);
        }
        Some(t)
    }
    /// Tells the heap what a data object's payload takes now, where it may have grown by much.
    pub fn weigh_data(&self, v: Value) {
        if let Some(d) = Ref::<DataCell>::from_value(v) {
            DataCell::weigh(d, &self.heap);
        }
    }
    pub fn is_data<T: NativeData>(&self, v: Value) -> bool {
        Ref::<DataCell>::from_value(v).is_some_and(|d| d.get::<T>().is_some())
    }
    /// Sets the payload of an object made by `allocate` (in `initialize`).
    pub fn data_init<T: NativeData>(&mut self, v: Value, payload: T) -> Result<()> {
        match Ref::<DataCell>::from_value(v) {
            Some(d) => {
                self.cell_changes(v);
                DataCell::set(d, &mut self.heap, Box::new(payload));
                Ok(())
            }
            None => self.type_error("not a data object"),
        }
    }
    /// Plain object of a class, no `initialize` called.
    pub fn new_object(&self, class: ClassId) -> Value {
        self.new_object_of_kind(class, Kind::Object)
    }
    /// How many slots [`Vm::new_object`] gives an object of a class.
    pub(crate) fn slots_of_new(&self, class: ClassId) -> u16 {
        ObjectCell::slots_made(self.class(class).ivar_hint as usize) as u16
    }
    pub fn new_object_of_kind(&self, class: ClassId, kind: Kind) -> Value {
        let c = self.class(class);
        let (shape, hint) = (c.root_shape, c.ivar_hint as usize);
        ObjectCell::make(&self.heap, shape, kind, hint).as_value()
    }
    /// A native closure as a Proc: `f(cx, data, args)`.
    pub fn native_proc(&mut self, f: fn(&mut Cx, Value, crate::builtin::Args) -> Result<Value>, data: Value, lambda: bool) -> Value {
        let mut header = zakuro_object::header(ids::PROC, Kind::Proc, ProcKind::Native as u16);
        if lambda {
            header.flags |= LAMBDA;
        }
        let me = self.top_method();
        alloc_cell(&self.heap, ProcCell { header, code: f as usize, env: Value::NIL, self_: Value::NIL, me, extra: data }).as_value()
    }
    /// Keeps a value alive as long as the VM.
    pub fn pin(&mut self, v: Value) -> Value {
        self.pinned.push(v);
        v
    }
}

/// Values in malloc'ed memory that must survive calls into Ruby: registered with the VM while it lives.
///
/// The registered list knows its place among those of the VM: a thousand threads may have one each, and end in any order.
pub struct RootedVec {
    /// Its own.
    list: NonNull<Registered>,
    vm: *mut Cx,
}

pub(crate) struct Registered {
    pub items: TracedVec,
    /// Index in `Vm::rooted`.
    at: usize,
}
impl Registered {
    fn with_room(n: usize, at: usize) -> Box<Registered> {
        Box::new(Registered { items: TracedVec::with_capacity(n), at })
    }
}

impl RootedVec {
    pub fn new(cx: &mut Cx) -> RootedVec {
        Self::with_capacity(cx, 0)
    }
    pub fn with_capacity(cx: &mut Cx, n: usize) -> RootedVec {
        let list = NonNull::from(Box::leak(Registered::with_room(n, cx.rooted.len())));
        cx.rooted.push(list.as_ptr());
        RootedVec { list, vm: cx }
    }
    /// The elements of an Array as they are now.
    pub fn of(cx: &mut Cx, a: Ref<ArrayCell>) -> RootedVec {
        let mut list = Self::with_capacity(cx, a.len());
        list.extend_from_slice(a.elements(&cx.heap));
        list
    }
    pub fn from_slice(cx: &mut Cx, values: &[Value]) -> RootedVec {
        let mut list = Self::with_capacity(cx, values.len());
        list.extend_from_slice(values);
        list
    }
    /// `n` times the same value.
    pub fn filled(cx: &mut Cx, v: Value, n: usize) -> RootedVec {
        let mut list = Self::with_capacity(cx, n);
        list.resize(n, v);
        list
    }
    /// What an iterator gives that does not need the VM; others extend a new list.
    pub fn gather(cx: &mut Cx, values: impl IntoIterator<Item = Value>) -> RootedVec {
        let mut list = Self::new(cx);
        list.extend(values);
        list
    }
}
impl Drop for RootedVec {
    fn drop(&mut self) {
        // SAFETY: a RootedVec lives in a native frame of its VM's own run, so the VM is still there, and those that are registered live. Its own list came from a Box.
        unsafe {
            let at = Box::from_raw(self.list.as_ptr()).at;
            let rooted = &mut (*self.vm).rooted;
            rooted.swap_remove(at);
            if let Some(moved) = rooted.get(at) {
                (**moved).at = at;
            }
        }
    }
}
impl std::ops::Deref for RootedVec {
    type Target = TracedVec;
    #[inline(always)]
    fn deref(&self) -> &TracedVec {
        // SAFETY: it lives as long as we do, and nobody else writes it.
        unsafe { &self.list.as_ref().items }
    }
}
impl std::ops::DerefMut for RootedVec {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut TracedVec {
        // SAFETY: as above.
        unsafe { &mut self.list.as_mut().items }
    }
}

/// A copy of a call's arguments, for as long as the call lasts: a few stand in the list itself, which is a local variable and so on the native stack, which the
/// collector scans; more are rooted.
pub struct ArgList {
    few: [Value; FEW],
    len: usize,
    many: Option<RootedVec>,
}
/// Arguments that need no malloc.
const FEW: usize = 8;

impl ArgList {
    /// The values of several parts, one behind the other.
    #[inline]
    pub fn new(cx: &mut Cx, parts: &[&[Value]]) -> ArgList {
        let len = parts.iter().map(|p| p.len()).sum();
        let mut list = ArgList { few: [Value::NIL; FEW], len, many: None };
        if len > FEW {
            list.many = Some(Self::rooted(cx, parts, len));
            return list;
        }
        let mut at = 0;
        for part in parts {
            list.few[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        list
    }
    #[inline]
    pub fn of(cx: &mut Cx, values: &[Value]) -> ArgList {
        Self::new(cx, &[values])
    }
    /// The elements of an Array.
    pub fn of_array(cx: &mut Cx, a: Ref<ArrayCell>) -> ArgList {
        let len = a.len();
        let mut list = ArgList { few: [Value::NIL; FEW], len, many: None };
        if len > FEW {
            list.many = Some(RootedVec::of(cx, a));
        } else {
            list.few[..len].copy_from_slice(a.elements(&cx.heap));
        }
        list
    }
    #[cold]
    fn rooted(cx: &mut Cx, parts: &[&[Value]], len: usize) -> RootedVec {
        let mut all = RootedVec::with_capacity(cx, len);
        parts.iter().for_each(|p| all.extend_from_slice(p));
        all
    }
}
impl std::ops::Deref for ArgList {
    type Target = [Value];
    #[inline(always)]
    fn deref(&self) -> &[Value] {
        match &self.many {
            None => &self.few[..self.len],
            Some(all) => all,
        }
    }
}
impl std::ops::DerefMut for ArgList {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Value] {
        match &mut self.many {
            None => &mut self.few[..self.len],
            Some(all) => all,
        }
    }
}

/// Instance variables with their values at one moment. Rooted: what the program does meanwhile may remove them.
pub struct Variables {
    names: Vec<Sym>,
    values: RootedVec,
}
impl Variables {
    pub(crate) fn of(cx: &mut Cx, pairs: impl IntoIterator<Item = (Sym, Value)>) -> Variables {
        let mut list = Variables { names: Vec::new(), values: RootedVec::new(cx) };
        for (name, v) in pairs {
            list.names.push(name);
            list.values.push(v);
        }
        list
    }
    pub fn len(&self) -> usize {
        self.names.len()
    }
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
    pub fn names(&self) -> &[Sym] {
        &self.names
    }
    pub fn values(&self) -> &[Value] {
        &self.values
    }
    pub fn iter(&self) -> impl Iterator<Item = (Sym, Value)> + '_ {
        self.names.iter().copied().zip(self.values.iter().copied())
    }
}

/// Keys and values of a Hash as they were at one moment. Rooted: `hash`, `eql?` or a block of the program's may empty the Hash while they are walked.
pub struct Pairs(RootedVec);

impl Pairs {
    pub(crate) fn of(cx: &mut Cx, h: Ref<HashCell>) -> Pairs {
        let mut flat = RootedVec::with_capacity(cx, h.len() * 2);
        if let Some(t) = h.table(&cx.heap) {
            flat.extend(t.iter().flat_map(|e| [e.key, e.value]));
        }
        Pairs(flat)
    }
    pub fn len(&self) -> usize {
        self.0.len() / 2
    }
    pub fn get(&self, i: usize) -> Option<(Value, Value)> {
        Some((*self.0.get(2 * i)?, *self.0.get(2 * i + 1)?))
    }
    pub fn iter(&self) -> impl Iterator<Item = (Value, Value)> + '_ {
        self.0.chunks_exact(2).map(|p| (p[0], p[1]))
    }
}
impl IntoIterator for Pairs {
    type Item = (Value, Value);
    type IntoIter = PairsIter;
    fn into_iter(self) -> PairsIter {
        PairsIter { pairs: self, next: 0 }
    }
}
/// The walk over [`Pairs`].
pub struct PairsIter {
    pairs: Pairs,
    next: usize,
}
impl Iterator for PairsIter {
    type Item = (Value, Value);
    fn next(&mut self) -> Option<(Value, Value)> {
        self.next += 1;
        self.pairs.get(self.next - 1)
    }
}
