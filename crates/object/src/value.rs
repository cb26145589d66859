//! [`Value`]: one tagged 64-bit word.
//!
//! | low bits | meaning |
//! |---|---|
//! | `1` | Fixnum, 63 bits |
//! | `10` | flonum: a double whose exponent is in the common range, rotated (as in CRuby) |
//! | `000` | pointer to a cell (never 0) |
//! | `100` | nil, false, true, undef (0x04 0x14 0x24 0x34) and Symbols (low byte 0x0c, id above) |
//!
//! nil and false differ in bit 4 only, so truthiness is one mask and one compare.
//! `shape_key` maps any value to the shape id that inline caches compare; for immediates it is the id of their class.

use crate::cells::{FloatCell, Kind};
use crate::class::ids;
use std::marker::PhantomData;
use std::ops::Deref;
use zakuro_base::Sym;
use zakuro_heap::{Header, Heap, flags};

/// A Ruby value. Safe code makes none but of cells and immediates that there are: what looks at a cell relies on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Value(u64);

pub const FIXNUM_MAX: i64 = i64::MAX >> 1;
pub const FIXNUM_MIN: i64 = i64::MIN >> 1;

/// nil.
impl Default for Value {
    fn default() -> Value {
        Value::NIL
    }
}

impl Value {
    pub const NIL: Value = Value(0x04);
    pub const FALSE: Value = Value(0x14);
    pub const TRUE: Value = Value(0x24);
    /// "No value": missing parameter, deleted slot. Never seen by Ruby code.
    pub const UNDEF: Value = Value(0x34);

    /// The word that it is.
    #[inline(always)]
    pub const fn bits(self) -> u64 {
        self.0
    }
    /// # Safety
    /// Either they are no cell's (`bits & 7 != 0`), or those of the address of a live cell. Words of graphs that are no values, and records on a VM's value stack, are kept from
    /// whoever takes them for cells.
    #[inline(always)]
    pub const unsafe fn from_bits(bits: u64) -> Value {
        Value(bits)
    }
    /// `i` must fit 63 bits (see [`Value::try_fixnum`]).
    #[inline(always)]
    pub const fn fixnum(i: i64) -> Value {
        debug_assert!(i >= FIXNUM_MIN && i <= FIXNUM_MAX);
        Value(((i as u64) << 1) | 1)
    }
    #[inline(always)]
    pub const fn try_fixnum(i: i64) -> Option<Value> {
        if i >= FIXNUM_MIN && i <= FIXNUM_MAX { Some(Value(((i as u64) << 1) | 1)) } else { None }
    }
    #[inline(always)]
    pub const fn sym(s: Sym) -> Value {
        Value(((s.0 as u64) << 8) | 0x0c)
    }
    #[inline(always)]
    pub const fn bool(b: bool) -> Value {
        if b { Value::TRUE } else { Value::FALSE }
    }
    /// # Safety
    /// `p` points to a live cell.
    #[inline(always)]
    pub unsafe fn cell<T>(p: *mut T) -> Value {
        debug_assert!(!p.is_null() && (p as u64) & 7 == 0);
        Value(p as u64)
    }
    #[inline(always)]
    pub const fn is_nil(self) -> bool {
        self.0 == Value::NIL.0
    }
    #[inline(always)]
    pub const fn is_undef(self) -> bool {
        self.0 == Value::UNDEF.0
    }
    #[inline(always)]
    pub const fn truthy(self) -> bool {
        self.0 & !0x10 != 0x04
    }
    #[inline(always)]
    pub const fn is_fixnum(self) -> bool {
        self.0 & 1 == 1
    }
    #[inline(always)]
    pub const fn is_flonum(self) -> bool {
        self.0 & 3 == 2
    }
    #[inline(always)]
    pub const fn is_sym(self) -> bool {
        self.0 & 0xff == 0x0c
    }
    /// Whether it points to a cell.
    #[inline(always)]
    pub const fn is_cell(self) -> bool {
        self.0 & 7 == 0
    }
    #[inline(always)]
    pub const fn both_fixnum(a: Value, b: Value) -> bool {
        a.0 & b.0 & 1 == 1
    }
    #[inline(always)]
    pub const fn fix(self) -> i64 {
        (self.0 as i64) >> 1
    }
    /// The number of a Fixnum.
    #[inline(always)]
    pub const fn as_fixnum(self) -> Option<i64> {
        if self.is_fixnum() { Some(self.fix()) } else { None }
    }
    #[inline(always)]
    pub const fn as_sym(self) -> Option<Sym> {
        if self.is_sym() { Some(Sym((self.0 >> 8) as u32)) } else { None }
    }

    /// A double as flonum, when its exponent allows.
    #[inline(always)]
    pub fn flonum(d: f64) -> Option<Value> {
        let bits = d.to_bits();
        let b = (bits >> 60) & 7;
        if (b == 3 || b == 4) && bits != 0x3000_0000_0000_0000 {
            Some(Value((bits.rotate_left(3) & !3) | 2))
        } else if bits == 0 {
            Some(Value(0x8000_0000_0000_0002))
        } else {
            None
        }
    }
    #[inline(always)]
    pub fn flo(self) -> f64 {
        if self.0 == 0x8000_0000_0000_0002 {
            return 0.0;
        }
        let b63 = self.0 >> 63;
        f64::from_bits((2u64.wrapping_sub(b63) | (self.0 & !3)).rotate_right(3))
    }
    /// A Float value: flonum or a new cell.
    #[inline(always)]
    pub fn float(heap: &Heap, d: f64) -> Value {
        match Value::flonum(d) {
            Some(v) => v,
            None => FloatCell::make(heap, d),
        }
    }
    /// The number of a Float.
    #[inline(always)]
    pub fn as_float(self) -> Option<f64> {
        if self.is_flonum() {
            Some(self.flo())
        } else if self.is_cell() && self.kind_of_cell() == Kind::Float {
            // SAFETY: kind says FloatCell.
            Some(unsafe { (*(self.0 as *const FloatCell)).value })
        } else {
            None
        }
    }
    #[inline(always)]
    pub fn header(self) -> *mut Header {
        debug_assert!(self.is_cell() && self.0 != 0);
        self.0 as *mut Header
    }
    /// Kind of a cell. Of anything else: a panic.
    #[inline(always)]
    pub fn kind_of_cell(self) -> Kind {
        self.must_be_cell();
        // SAFETY: a cell value points to a live header, whose kind is only ever written from `Kind`.
        unsafe { Kind::from_u8((*self.header()).kind) }
    }
    #[inline(always)]
    pub fn kind(self) -> Option<Kind> {
        if self.is_cell() { Some(self.kind_of_cell()) } else { None }
    }
    #[inline(always)]
    pub fn is_kind(self, k: Kind) -> bool {
        self.is_cell() && self.kind_of_cell() == k
    }
    #[inline(always)]
    fn must_be_cell(self) {
        #[cold]
        #[inline(never)]
        fn no_cell() -> ! {
            panic!("an immediate was taken for a cell")
        }
        if !self.is_cell() {
            no_cell()
        }
    }
    /// Flags of a cell. Of anything else: a panic.
    #[inline(always)]
    pub fn flags(self) -> u8 {
        self.must_be_cell();
        // SAFETY: as in `kind_of_cell`.
        unsafe { (*self.header()).flags }
    }
    /// Debug builds: a captured cell is about to change, so somebody forgot `check_frozen` or `cell_changes`, and the next fork would not see it.
    #[inline(always)]
    #[track_caller]
    pub fn assert_uncaptured(self) {
        debug_assert!(self.flags() & (flags::CAPTURED | flags::SHARED) != flags::CAPTURED, "an unnoticed change of a captured cell");
    }
    /// Before a reference is stored in a cell, by this crate's setters: the barrier of minor collections (`zakuro_heap`, module `collect`), and `assert_uncaptured`. Fast paths test
    /// the OLD flag with FROZEN and CAPTURED instead.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn will_refer(self) {
        self.assert_uncaptured();
        if self.flags() & flags::OLD != 0 {
            // SAFETY: a live cell of this VM.
            unsafe { zakuro_heap::remember(self.header()) }
        }
    }
    /// Whether it is an image's cell that a VM must copy before use.
    #[inline(always)]
    pub fn is_template(self) -> bool {
        self.is_cell() && self.0 != 0 && self.flags() & (flags::SHARED | crate::cells::TEMPLATE) == flags::SHARED | crate::cells::TEMPLATE
    }
    /// Sets flags of a cell. Of anything else: a panic.
    #[inline(always)]
    pub fn set_flags(self, f: u8) {
        self.must_be_cell();
        // SAFETY: as in `kind_of_cell`; only the owning VM's thread writes. A cell that has the flags already may be a region's.
        unsafe {
            let h = self.header();
            if (*h).flags & f != f {
                (*h).flags |= f
            }
        }
    }
    /// Whether it is `eql?` to the same word alone, whatever programs define: a small Integer, a Symbol, true, false or nil. (0.0 and -0.0 are one key.)
    #[inline(always)]
    pub fn is_word(self) -> bool {
        !self.is_cell() && !self.is_flonum()
    }
    /// The id that inline caches compare: shape of a cell, class id of an immediate.
    #[inline(always)]
    pub fn shape_key(self) -> u32 {
        if self.is_cell() {
            // SAFETY: as in `kind_of_cell`.
            unsafe { (*self.header()).shape }
        } else if self.is_fixnum() {
            ids::INTEGER.0
        } else if self.is_flonum() {
            ids::FLOAT.0
        } else if self.is_sym() {
            ids::SYMBOL.0
        } else {
            // nil false true undef
            const T: [u32; 4] = [ids::NIL_CLASS.0, ids::FALSE_CLASS.0, ids::TRUE_CLASS.0, 0];
            T[(self.0 as usize >> 4) & 3]
        }
    }
    /// Frozen as Ruby sees it (immediates, Integers, Floats and Symbols are; chilled Strings are not).
    pub fn is_frozen(self) -> bool {
        !self.is_cell() || self.settled_flags() & flags::FROZEN != 0
    }
    /// A String whose first change warns.
    pub fn is_chilled(self) -> bool {
        const BOTH: u8 = flags::FROZEN | crate::cells::CHILLED;
        self.is_cell() && self.flags() & BOTH == BOTH && self.is_kind(Kind::String)
    }
    /// The flags of a cell; a chilled String counts as one that can be changed.
    pub fn settled_flags(self) -> u8 {
        let not = if self.is_chilled() { CHILLED_FLAGS } else { 0 };
        self.flags() & !not
    }
    /// Freezes a cell for good.
    pub fn make_frozen(self) {
        if self.is_chilled() {
            self.unchill();
        }
        self.set_flags(flags::FROZEN);
    }
    /// A chilled String as any other.
    pub fn unchill(self) {
        // SAFETY: a String cell of this VM; regions and images hold no chilled ones.
        unsafe { (*self.header()).flags &= !CHILLED_FLAGS }
    }
}

/// What makes a String chilled.
const CHILLED_FLAGS: u8 = flags::FROZEN | crate::cells::CHILLED | crate::cells::CHILLED_SYMBOL;

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Value::NIL => write!(f, "nil"),
            Value::TRUE => write!(f, "true"),
            Value::FALSE => write!(f, "false"),
            Value::UNDEF => write!(f, "undef"),
            v if v.is_fixnum() => write!(f, "{}", v.fix()),
            v if v.is_flonum() => write!(f, "{:?}", v.flo()),
            v if v.is_sym() => write!(f, "{:?}", Sym((v.0 >> 8) as u32)),
            v => write!(f, "cell {:#x}", v.0),
        }
    }
}

/// A layout that belongs to one kind.
pub trait Cell {
    const KIND: Kind;
}

/// A typed pointer to a live cell. Copying it roots nothing by itself: it lives on the (scanned) native stack or in a register.
#[repr(transparent)]
pub struct Ref<T>(*mut T, PhantomData<T>);

impl<T> Clone for Ref<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Ref<T> {}
impl<T> PartialEq for Ref<T> {
    fn eq(&self, o: &Self) -> bool {
        std::ptr::eq(self.0, o.0)
    }
}

impl<T> Ref<T> {
    /// # Safety
    /// `p` points to a live cell laid out as T.
    #[inline(always)]
    pub unsafe fn from_ptr(p: *mut T) -> Ref<T> {
        Ref(p, PhantomData)
    }
    #[inline(always)]
    pub fn as_value(self) -> Value {
        Value(self.0 as u64)
    }
    #[inline(always)]
    pub fn as_ptr(self) -> *mut T {
        self.0
    }
    /// The cell for changing. Of this crate alone, whose setters have the write barrier; there is no DerefMut, so that nobody else stores anything in a cell.
    #[inline(always)]
    pub(crate) fn cell<'a>(self) -> &'a mut T {
        // SAFETY: a Ref points to a live cell of layout T, and a VM's cells are touched by one native thread at a time. No function of this crate holds two of one cell.
        unsafe { &mut *self.0 }
    }
}

impl<T: Cell> Ref<T> {
    /// The typed reference when `v` is of the kind.
    #[inline(always)]
    pub fn from_value(v: Value) -> Option<Ref<T>> {
        if v.is_kind(T::KIND) { Some(Ref(v.0 as *mut T, PhantomData)) } else { None }
    }
    /// `v` must be of the kind: panics.
    #[inline(always)]
    #[track_caller]
    pub fn of(v: Value) -> Ref<T> {
        match Ref::from_value(v) {
            Some(r) => r,
            None => wrong_kind(v, T::KIND),
        }
    }
    /// The same without a look.
    ///
    /// # Safety
    /// `v` is of the kind.
    #[inline(always)]
    pub unsafe fn of_unchecked(v: Value) -> Ref<T> {
        debug_assert!(v.is_kind(T::KIND), "wrong kind of cell: {v:?}");
        Ref(v.0 as *mut T, PhantomData)
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn wrong_kind(v: Value, kind: Kind) -> ! {
    panic!("not a cell of kind {kind:?}: {v:?}")
}

impl<T> Deref for Ref<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: a Ref points to a live cell of layout T (constructor's contract).
        unsafe { &*self.0 }
    }
}

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;
