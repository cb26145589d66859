//! Array cells: few elements inline, more in a shared buffer (copy on write, slices share it, `shift` is O(1)).
//!
//! A cell is made for what is known of its length: up to [`INLINE`] elements are inline in the smallest one, up to [`MOST_INLINE`] in a larger one, which has room for what its size class holds
//! ([`room_for`]). It keeps its size: what outgrows it goes to a buffer.
//!
//! Header aux: in the low byte the inline length, or `OUT` when the elements are in a buffer; in the high byte how many elements more than [`INLINE`] the cell has room for, for as long as it lives.
//!
//! [`IMMEDIATE`] says that all elements are known to be immediates: such an Array is sent in O(1), and tracing skips it. Invariant: its buffer is
//! marked then ([`SharedBuf::mark`]), so `unique` is false and every write comes through `reserve_slow`, which takes the flag off. What others
//! write never shows here: they copy first. Rejected: a flag kept by the setters, which would cost a test on each store.

use crate::cells::{Kind, alloc_cell};
use crate::class::ids;
use crate::shared::Placed;
use crate::value::{Cell, Ref, Value};
use zakuro_heap::{BufRef, Header, Heap, SharedBuf, flags, out_of_memory};

pub const INLINE: usize = 3;
/// Arrays that are made with at most so many elements have them in their cell.
pub const MOST_INLINE: usize = 19;
/// From this length on the collector looks only at what was written since it was there.
pub(crate) const WATCHED: usize = 1024;
/// From this length on `unshift` makes room for later ones, too.
const FRONT: usize = 16;
/// Flag: this cell's VM accounts for the buffer (slices share it without counting it again).
const COUNTED: u8 = zakuro_heap::flags::USER2;
/// Flag: every element is known to be an immediate. Only of Arrays with a buffer.
const IMMEDIATE: u8 = zakuro_heap::flags::USER1;
const OUT: u16 = 0xff;
const _: () = assert!(room_for(MOST_INLINE) < OUT as usize);

/// How many elements a cell has room for that is made for `n` of them: at least that many, as long as `n` is at most [`MOST_INLINE`].
#[inline(always)]
pub const fn room_for(n: usize) -> usize {
    if n <= INLINE || n > MOST_INLINE {
        INLINE
    } else {
        zakuro_heap::size_of_cell(size_of::<Header>() + n * size_of::<Value>()) / size_of::<Value>() - 1
    }
}
/// Header aux of an empty Array in such a cell.
#[inline(always)]
const fn aux_for(n: usize) -> u16 {
    ((room_for(n) - INLINE) as u16) << 8
}

#[repr(C)]
pub struct ArrayCell {
    pub header: Header,
    body: Body,
}

#[repr(C)]
union Body {
    inline: [Value; INLINE],
    heap: Shared,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Shared {
    buf: *mut SharedBuf,
    ptr: *mut Value,
    len: usize,
}

impl Cell for ArrayCell {
    const KIND: Kind = Kind::Array;
}

/// Where things stand in an Array's cell, for machine code. Which of them count, the byte at [`layout::INLINE_LENGTH`] says: the inline length, or [`layout::OUT`].
pub mod layout {
    use super::{ArrayCell, Header, MOST_INLINE, Shared, aux_for, room_for};
    use std::mem::offset_of;

    pub const OUT: u8 = super::OUT as u8;
    pub const INLINE_LENGTH: usize = offset_of!(Header, aux) + if cfg!(target_endian = "little") { 0 } else { 1 };
    /// Bytes of a cell that `n` elements lie in, and the header's `aux`; None if they don't.
    pub fn cell_of(n: usize) -> Option<(usize, u16)> {
        (n <= MOST_INLINE).then(|| (size_of::<Header>() + room_for(n) * 8, aux_for(n) | n as u16))
    }
    pub const INLINE: usize = offset_of!(ArrayCell, body);
    pub const BUFFER: usize = offset_of!(ArrayCell, body) + offset_of!(Shared, buf);
    pub const POINTER: usize = offset_of!(ArrayCell, body) + offset_of!(Shared, ptr);
    pub const LENGTH: usize = offset_of!(ArrayCell, body) + offset_of!(Shared, len);
}

/// Largest number of elements an Array can have.
pub const MAX_LEN: usize = isize::MAX as usize / 16;

impl ArrayCell {
    pub fn empty(heap: &Heap, shape: u32) -> Ref<ArrayCell> {
        let header = Header { shape, kind: Kind::Array as u8, flags: 0, aux: 0 };
        alloc_cell(heap, ArrayCell { header, body: Body { inline: [Value::NIL; INLINE] } })
    }
    /// A new empty Array that is to have `n` elements: they lie in its cell if they are few.
    #[inline(always)]
    pub fn for_len(heap: &Heap, shape: u32, n: usize) -> Ref<ArrayCell> {
        let aux = aux_for(n);
        if aux == 0 { Self::empty(heap, shape) } else { Self::large_cell(heap, shape, aux) }
    }
    #[inline(never)]
    fn large_cell(heap: &Heap, shape: u32, aux: u16) -> Ref<ArrayCell> {
        let room = INLINE + (aux >> 8) as usize;
        let p = heap.alloc(size_of::<Header>() + room * size_of::<Value>());
        // SAFETY: a new cell, as large as its aux says and larger than an ArrayCell, of which nothing but the header is read while it is empty.
        unsafe {
            p.write(Header { shape, kind: Kind::Array as u8, flags: 0, aux });
            Ref::from_ptr(p as *mut ArrayCell)
        }
    }
    pub fn make(heap: &Heap, shape: u32, values: &[Value]) -> Ref<ArrayCell> {
        let a = Self::for_len(heap, shape, values.len());
        if values.len() <= MOST_INLINE {
            // SAFETY: the cell has room for them.
            unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), a.ptr(), values.len()) };
            a.set_len(values.len());
        } else {
            a.add(heap, values);
        }
        a
    }
    /// New Array of at most `n` values.
    pub fn gather(heap: &Heap, n: usize, values: impl Iterator<Item = Value>) -> Ref<ArrayCell> {
        let a = Self::for_len(heap, ids::ARRAY.0, n);
        a.take(heap, n, values);
        a
    }
    pub fn plain(heap: &Heap, values: &[Value]) -> Ref<ArrayCell> {
        Self::make(heap, ids::ARRAY.0, values)
    }
    #[inline(always)]
    fn is_inline(&self) -> bool {
        self.header.aux & OUT != OUT
    }
    /// Elements that the cell has room for.
    #[inline(always)]
    fn room(&self) -> usize {
        INLINE + (self.header.aux >> 8) as usize
    }
    #[inline(always)]
    pub fn len(&self) -> usize {
        // SAFETY: aux says which member is live.
        if self.is_inline() { (self.header.aux & OUT) as usize } else { unsafe { self.body.heap.len } }
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The first element. Inline ones may lie behind what `&self` spans: as for environments.
    #[inline(always)]
    fn start(&self) -> *const Value {
        if self.is_inline() {
            std::ptr::with_exposed_provenance((&raw const self.body.inline).addr())
        } else {
            // SAFETY: as in len.
            unsafe { self.body.heap.ptr }
        }
    }
    /// The elements, for who has no heap to borrow: tracers, and what looks at every cell of a VM that stands still. All others take [`Ref::elements`].
    ///
    /// # Safety
    /// Nothing changes the Array, and its cell lives, as long as the slice does.
    #[inline(always)]
    pub unsafe fn elements_unwatched<'a>(&self) -> &'a [Value] {
        // SAFETY: len initialised values, which stay where they are by the caller's word.
        unsafe { std::slice::from_raw_parts(self.start(), self.len()) }
    }
    #[inline(always)]
    pub fn get(&self, i: usize) -> Option<Value> {
        // SAFETY: bound checked.
        if i < self.len() { Some(unsafe { *self.start().add(i) }) } else { None }
    }
    pub fn last(&self) -> Option<Value> {
        self.get(self.len().checked_sub(1)?)
    }
    fn capacity(&self) -> usize {
        if self.is_inline() {
            return self.room();
        }
        // SAFETY: heap body.
        unsafe {
            let h = self.body.heap;
            (SharedBuf::cap(h.buf) - (h.ptr as usize - SharedBuf::data(h.buf) as usize)) / 8
        }
    }
    /// Free elements before the first one of a buffer of its own.
    fn room_in_front(&self) -> usize {
        if self.is_inline() || !self.unique() {
            return 0;
        }
        // SAFETY: heap body.
        unsafe { (self.body.heap.ptr as usize - SharedBuf::data(self.body.heap.buf) as usize) / 8 }
    }
    #[inline(always)]
    fn unique(&self) -> bool {
        // SAFETY: heap body holds a live buffer.
        self.is_inline() || unsafe { SharedBuf::is_unique(self.body.heap.buf) }
    }
    /// Own, writable room for `cap` elements; content kept.
    #[cold]
    #[inline(never)]
    fn reserve_slow(this: Ref<ArrayCell>, heap: &Heap, cap: usize) {
        this.cell().header.flags &= !IMMEDIATE;
        if !this.is_inline() && cap <= this.capacity() {
            // SAFETY: a heap body holds a live buffer; only its sole holder takes the mark off.
            unsafe {
                let buf = this.body.heap.buf;
                if SharedBuf::is_sole(buf) {
                    SharedBuf::unmark(buf);
                    return;
                }
            }
        }
        let len = this.len();
        let want = if cap > this.capacity() { cap.max(len + len / 2).max(8) } else { cap.max(len).max(4) };
        let want = match heap.capacity_for(len, cap.max(4), want, 8) {
            Some(want) if want <= MAX_LEN => want,
            _ => out_of_memory(),
        };
        Self::relocate(this, heap, want, 0);
    }
    /// Moves the content to a new buffer of `want` elements, behind `front` free ones.
    fn relocate(this: Ref<ArrayCell>, heap: &Heap, want: usize, front: usize) {
        let len = this.len();
        debug_assert!(front + len <= want);
        // SAFETY: new buffer filled with the old content, body switched, old count given back.
        unsafe {
            let buf = SharedBuf::new(want * 8);
            if buf.is_null() {
                out_of_memory();
            }
            let data = (SharedBuf::data(buf) as *mut Value).add(front);
            std::ptr::copy_nonoverlapping(this.ptr(), data, len);
            if this.is_inline() {
                heap.set_finalized(this.as_ptr() as *mut Header);
            } else {
                heap.sub_payload(SharedBuf::let_go(this.body.heap.buf, this.header.flags & COUNTED != 0, |at| heap.hides(at)));
            }
            this.cell().header.flags |= COUNTED;
            heap.add_payload(SharedBuf::weight(buf));
            this.cell().header.aux |= OUT;
            this.cell().body.heap = Shared { buf, ptr: data, len };
        }
    }
    /// Own, writable room for `n` elements before the first, and as much again as is there: a queue that is filled from the front.
    #[cold]
    #[inline(never)]
    fn reserve_front(this: Ref<ArrayCell>, heap: &Heap, n: usize) {
        let len = this.len();
        this.cell().header.flags &= !IMMEDIATE;
        // SAFETY: a heap body holds a live buffer; the content moves inside it, which nobody else reads.
        unsafe {
            let spare = if this.is_inline() { 0 } else { SharedBuf::cap(this.body.heap.buf) / 8 - len };
            // Moving pays when it makes room for a good part of what is moved.
            if spare >= n + len / 4 && this.unique() {
                let to = (SharedBuf::data(this.body.heap.buf) as *mut Value).add(n + (spare - n) / 2);
                std::ptr::copy(this.ptr(), to, len);
                this.cell().body.heap.ptr = to;
                return;
            }
        }
        let least = len + n;
        let want = match heap.capacity_for(len, least, least + len / 2 + 8, 8) {
            Some(want) if want <= MAX_LEN => want,
            _ => out_of_memory(),
        };
        Self::relocate(this, heap, want, n + (want - least) / 2);
    }
    #[inline(always)]
    pub fn reserve(this: Ref<ArrayCell>, heap: &mut Heap, cap: usize) {
        Self::room_for(this, heap, cap);
    }
    /// [`ArrayCell::reserve`], also of an Array that is still being made.
    #[inline(always)]
    fn room_for(this: Ref<ArrayCell>, heap: &Heap, cap: usize) {
        if cap > this.capacity() || !this.unique() {
            Self::reserve_slow(this, heap, cap);
        }
    }
    /// The barrier of stores at `count` indices from `at` on, the first of `v` and the others of anything, and of nothing else.
    #[inline(always)]
    fn will_refer_at(this: Ref<ArrayCell>, heap: &mut Heap, at: usize, count: usize, v: Value) {
        this.as_value().assert_uncaptured();
        if this.header.flags & flags::OLD != 0 && (v.is_cell() || count > 1) {
            Self::tell_stores(this, heap, at, count);
        }
    }
    #[cold]
    #[inline(never)]
    fn tell_stores(this: Ref<ArrayCell>, heap: &mut Heap, at: usize, count: usize) {
        if this.len() < WATCHED || !heap.writes_slots(this.as_ptr() as *mut Header, at, count) {
            this.as_value().will_refer();
        }
    }
    #[inline(always)]
    pub fn push(this: Ref<ArrayCell>, heap: &mut Heap, v: Value) {
        let n = this.len();
        Self::will_refer_at(this, heap, n, 1, v);
        Self::reserve(this, heap, n + 1);
        // SAFETY: room was made.
        unsafe { *this.ptr().add(n) = v };
        this.set_len(n + 1);
    }
    /// [`ArrayCell::push`] where there is room and no barrier to pass; false: nothing was done. Calls nothing.
    #[inline(always)]
    pub fn try_push(this: Ref<ArrayCell>, v: Value) -> bool {
        if this.header.flags & flags::OLD != 0 && v.is_cell() {
            return false;
        }
        this.as_value().assert_uncaptured();
        // SAFETY: aux says which member is live, and how many elements it has; a heap body holds a live buffer.
        unsafe {
            if this.is_inline() {
                let n = this.len();
                if n >= this.room() {
                    return false;
                }
                *this.ptr().add(n) = v;
                this.cell().header.aux += 1;
            } else {
                let h = this.body.heap;
                let end = h.ptr.add(h.len);
                if end as usize >= SharedBuf::data(h.buf) as usize + SharedBuf::cap(h.buf) || !SharedBuf::is_unique(h.buf) {
                    return false;
                }
                *end = v;
                this.cell().body.heap.len = h.len + 1;
            }
        }
        true
    }
    /// [`ArrayCell::set`] at an index that exists, in a buffer of its own, with no barrier to pass; false: nothing was done. Calls nothing.
    #[inline(always)]
    pub fn try_set(this: Ref<ArrayCell>, i: usize, v: Value) -> bool {
        if i >= this.len() || !this.unique() || (this.header.flags & flags::OLD != 0 && v.is_cell()) {
            return false;
        }
        this.as_value().assert_uncaptured();
        // SAFETY: i < len, buffer is ours.
        unsafe { *this.ptr().add(i) = v };
        true
    }
    /// Whether values lie in this Array's content. They must not be given to what changes it: Rust assumes that an argument stays as it is for as long
    /// as the call lasts, and the buffer may go in it.
    fn owns(&self, values: &[Value]) -> bool {
        !values.is_empty() && (0..self.len() * 8).contains(&values.as_ptr().addr().wrapping_sub(self.start().addr())) && self.unique()
    }
    /// Appends values, none of its own.
    pub fn extend(this: Ref<ArrayCell>, heap: &mut Heap, values: &[Value]) {
        Self::will_refer_at(this, heap, this.len(), values.len(), values.first().copied().unwrap_or(Value::NIL));
        debug_assert!(!this.owns(values));
        this.add(heap, values);
    }
    /// Appends the elements of an Array, which may be this one.
    pub fn extend_from(this: Ref<ArrayCell>, heap: &mut Heap, other: Ref<ArrayCell>) {
        Self::will_refer_at(this, heap, this.len(), other.len(), other.get(0).unwrap_or(Value::NIL));
        if this != other {
            // SAFETY: another Array's elements: making room here moves none of them.
            return this.add(heap, unsafe { other.elements_unwatched() });
        }
        let n = this.len();
        Self::room_for(this, heap, n * 2);
        let start = this.ptr();
        // SAFETY: room for both was made; wherever the content is now, its copy goes right behind it.
        unsafe { std::ptr::copy_nonoverlapping(start, start.add(n), n) };
        this.set_len(n * 2);
    }
    /// Stores at an existing index.
    #[inline(always)]
    pub fn set(this: Ref<ArrayCell>, heap: &mut Heap, i: usize, v: Value) {
        Self::will_refer_at(this, heap, i, 1, v);
        debug_assert!(i < this.len());
        if !this.unique() {
            Self::reserve_slow(this, heap, i + 1);
        }
        // SAFETY: i < len, buffer is ours.
        unsafe { *this.ptr().add(i) = v }
    }
    /// Stores at any index, filling the gap with nil.
    pub fn store(this: Ref<ArrayCell>, heap: &mut Heap, i: usize, v: Value) {
        let n = this.len();
        if i < n {
            return Self::set(this, heap, i, v);
        }
        Self::will_refer_at(this, heap, i, 1, v);
        Self::reserve(this, heap, i + 1);
        // SAFETY: room for i + 1.
        unsafe {
            for k in n..i {
                *this.ptr().add(k) = Value::NIL;
            }
            *this.ptr().add(i) = v;
        }
        this.set_len(i + 1);
    }
    pub fn pop(this: Ref<ArrayCell>) -> Option<Value> {
        this.as_value().assert_uncaptured();
        let n = this.len();
        let v = this.get(n.checked_sub(1)?)?;
        this.set_len(n - 1);
        Some(v)
    }
    pub fn shift(this: Ref<ArrayCell>, heap: &mut Heap) -> Option<Value> {
        // The others move, and a large Array is traced in parts.
        this.as_value().will_refer();
        let v = this.get(0)?;
        let n = this.len();
        if this.is_inline() {
            // SAFETY: moves n-1 values down inside the inline area.
            unsafe { std::ptr::copy(this.start().add(1), this.ptr(), n - 1) };
            this.set_len(n - 1);
        } else {
            let _ = heap;
            // SAFETY: heap body; the window moves inside its buffer.
            unsafe {
                this.cell().body.heap.ptr = this.body.heap.ptr.add(1);
                this.cell().body.heap.len = n - 1;
            }
        }
        Some(v)
    }
    pub fn truncate(this: Ref<ArrayCell>, n: usize) {
        this.as_value().assert_uncaptured();
        if n < this.len() {
            this.set_len(n);
        }
    }
    /// Replaces elements start..end by others, none of its own.
    pub fn splice(this: Ref<ArrayCell>, heap: &mut Heap, start: usize, end: usize, with: &[Value]) {
        this.as_value().will_refer();
        let len = this.len();
        debug_assert!(!this.owns(with) && start <= end && end <= len);
        let new_len = len - (end - start) + with.len();
        // Unshift into free room in front of the window.
        if start == 0 && end == 0 && len >= FRONT && !with.is_empty() && this.room_in_front() < with.len() {
            Self::reserve_front(this, heap, with.len());
        }
        if start == 0 && end == 0 && !this.is_inline() && this.unique() {
            // SAFETY: heap body; room in front is measured against the buffer's start.
            unsafe {
                let h = this.body.heap;
                let front = (h.ptr as usize - SharedBuf::data(h.buf) as usize) / 8;
                if front >= with.len() {
                    this.cell().body.heap.ptr = h.ptr.sub(with.len());
                    this.cell().body.heap.len = new_len;
                    std::ptr::copy_nonoverlapping(with.as_ptr(), this.body.heap.ptr, with.len());
                    return;
                }
            }
        }
        Self::reserve(this, heap, new_len.max(len));
        // SAFETY: room for both lengths; tail moves with overlap allowed, the source is not ours.
        unsafe {
            let p = this.ptr();
            std::ptr::copy(p.add(end), p.add(start + with.len()), len - end);
            std::ptr::copy_nonoverlapping(with.as_ptr(), p.add(start), with.len());
        }
        this.set_len(new_len);
    }
    /// Replaces the content by values, none of its own.
    pub fn replace(this: Ref<ArrayCell>, heap: &mut Heap, values: &[Value]) {
        this.as_value().assert_uncaptured();
        debug_assert!(!this.owns(values));
        Self::truncate(this, 0);
        Self::extend(this, heap, values);
    }
    /// Takes over the content of another Array: its buffer is shared when it is large.
    pub fn replace_shared(this: Ref<ArrayCell>, heap: &mut Heap, other: Ref<ArrayCell>) {
        this.as_value().will_refer();
        if this == other {
            return;
        }
        if other.is_inline() || other.len() <= 16 {
            // SAFETY: as in extend_from.
            return Self::replace(this, heap, unsafe { other.elements_unwatched() });
        }
        // SAFETY: other has a heap body; the new count keeps its buffer alive, the old buffer's count is given back.
        unsafe {
            let h = other.body.heap;
            let Some(counted) = Self::retain(heap, other, other.len()) else {
                return Self::replace(this, heap, other.elements_unwatched());
            };
            if this.is_inline() {
                heap.set_finalized(this.as_ptr() as *mut Header);
            } else {
                heap.sub_payload(SharedBuf::let_go(this.body.heap.buf, this.header.flags & COUNTED != 0, |at| heap.hides(at)));
            }
            this.cell().header.flags = this.header.flags & !(COUNTED | IMMEDIATE) | other.header.flags & IMMEDIATE | counted;
            this.cell().header.aux |= OUT;
            this.cell().body.heap = h;
        }
    }
    /// Leaves an empty Array; a large buffer goes back.
    pub fn clear(this: Ref<ArrayCell>, heap: &mut Heap) {
        if this.capacity() > 64 { Self::release(this, heap) } else { Self::truncate(this, 0) }
    }
    /// Leaves an empty Array that holds no buffer.
    pub fn release(this: Ref<ArrayCell>, heap: &mut Heap) {
        this.as_value().assert_uncaptured();
        // SAFETY: a live cell of this heap, which is only looked at through the borrowed heap.
        let bytes = unsafe { Self::empty_out(this.as_ptr(), |at| heap.hides(at)) };
        heap.sub_payload(bytes);
    }
    /// Whether two Arrays show the same elements of one buffer, which nobody writes then: `this` is as it was when `other` took it over.
    pub fn shows_the_same(this: Ref<ArrayCell>, other: Ref<ArrayCell>) -> bool {
        // SAFETY: both have heap bodies.
        !this.is_inline()
            && !other.is_inline()
            && this != other
            && unsafe {
                let (a, b) = (this.body.heap, other.body.heap);
                a.buf == b.buf && a.ptr == b.ptr && a.len == b.len
            }
    }
    /// The elements for sorting and the like in place.
    pub fn as_mut_slice(this: Ref<ArrayCell>, heap: &mut Heap) -> &mut [Value] {
        this.as_value().will_refer();
        Self::reserve(this, heap, this.len());
        // SAFETY: own buffer with len values, which nobody can change or look at while the heap is borrowed.
        unsafe { std::slice::from_raw_parts_mut(this.ptr(), this.len()) }
    }
    /// New Array with elements start..end, sharing the buffer when large.
    pub fn slice(heap: &Heap, shape: u32, src: Ref<ArrayCell>, start: usize, end: usize) -> Ref<ArrayCell> {
        // A short part is copied, and leaves the buffer to its end.
        if src.is_inline() || end - start <= 16 && end - start < src.len() || end - start <= MOST_INLINE {
            return Self::make(heap, shape, &src.elements(heap)[start..end]);
        }
        let Some(counted) = Self::retain(heap, src, end - start) else {
            return Self::make(heap, shape, &src.elements(heap)[start..end]);
        };
        let a = Self::empty(heap, shape);
        // SAFETY: src has a heap body; the new count keeps the buffer alive.
        unsafe {
            let h = src.body.heap;
            heap.set_finalized(a.as_ptr() as *mut Header);
            a.cell().header.aux |= OUT;
            a.cell().header.flags |= src.header.flags & IMMEDIATE | counted;
            a.cell().body.heap = Shared { buf: h.buf, ptr: h.ptr.add(start), len: end - start };
        }
        a
    }
    /// One more holder of the buffer of an Array that is in one, for a cell of this heap that shows `len` elements of it: the cell's flag, or None when it is better off with a copy. See
    /// [`crate::shared::retain`].
    fn retain(heap: &Heap, src: Ref<ArrayCell>, len: usize) -> Option<u8> {
        // SAFETY: the caller's word.
        unsafe { crate::shared::retain(heap, src.body.heap.buf, src.header.flags & flags::SHARED != 0, len * 8) }
            .map(|counted| if counted { COUNTED } else { 0 })
    }
    /// Fills an empty Array.
    #[inline]
    pub fn fill(this: Ref<ArrayCell>, heap: &mut Heap, values: impl ExactSizeIterator<Item = Value>) {
        this.as_value().will_refer();
        this.take(heap, values.len(), values);
    }
    /// Gives the buffer back and leaves an empty Array; returns the bytes that it accounted for.
    pub(crate) unsafe fn empty_out(p: *mut ArrayCell, hidden: impl FnOnce(usize)) -> usize {
        // SAFETY: a live cell; the body is written anew after its buffer is released.
        unsafe {
            let bytes = Self::free(p, hidden);
            (*p).header.aux &= !OUT;
            (*p).header.flags &= !(COUNTED | IMMEDIATE);
            (*p).body = Body { inline: [Value::NIL; INLINE] };
            bytes
        }
    }
    /// Whether all elements are known to be immediates.
    #[inline(always)]
    pub fn is_immediate(&self) -> bool {
        self.header.flags & IMMEDIATE != 0
    }
    /// The elements as a counted buffer for an envelope, with byte offset and length, when all of them are immediates and there are enough to be in
    /// a buffer. Looks at them once; O(1) while nobody writes. `heap`: whose cell it is; None: a region's.
    pub fn share(this: Ref<ArrayCell>, heap: Option<&Heap>) -> Option<(BufRef, usize, usize)> {
        if this.is_inline() {
            return None;
        }
        // SAFETY: heap body: a live buffer that this cell holds, with ptr inside it.
        unsafe {
            let h = this.body.heap;
            if !this.is_immediate() {
                // Not short-circuiting per element: the loop becomes vector code.
                if !this.elements_unwatched().chunks(64).all(|c| !c.iter().fold(false, |a, v| a | v.is_cell())) {
                    return None;
                }
                if this.header.flags & flags::SHARED == 0 {
                    SharedBuf::mark(h.buf);
                    this.cell().header.flags |= IMMEDIATE;
                }
            }
            if this.header.flags & flags::SHARED != 0 {
                return Some((BufRef::retained(h.buf)?, h.ptr as usize - SharedBuf::data(h.buf) as usize, h.len));
            }
            let (buf, offset, counted) = crate::shared::send(heap, h.buf, h.ptr.cast(), h.len * 8, this.header.flags & COUNTED != 0)?;
            if counted {
                this.cell().header.flags |= COUNTED;
            }
            Some((buf, offset, h.len))
        }
    }
    /// New Array over a received buffer of immediates. O(1).
    pub fn from_shared(heap: &Heap, shape: u32, buf: BufRef, offset: usize, len: usize) -> Ref<ArrayCell> {
        let a = Self::empty(heap, shape);
        heap.set_finalized(a.as_ptr() as *mut Header);
        // SAFETY: the count goes over to the new cell; offset and len came from `share` of the same buffer.
        unsafe {
            let raw = buf.into_raw();
            SharedBuf::mark(raw);
            a.cell().header.aux |= OUT;
            a.cell().header.flags |= IMMEDIATE;
            a.cell().body.heap = Shared { buf: raw, ptr: SharedBuf::data(raw).add(offset) as *mut Value, len };
            // As with Strings: a buffer that its sender keeps too is the sender's to account for.
            if crate::shared::receive(heap, raw) {
                a.cell().header.flags |= COUNTED;
            }
        }
        a
    }
    /// A frozen copy in another heap (module `graft`): shares the buffer when all elements are immediates.
    pub(crate) fn twin(heap: &mut Heap, from: Option<&Heap>, src: Ref<ArrayCell>) -> Ref<ArrayCell> {
        let a = match Self::share(src, from) {
            Some((buf, offset, len)) => Self::from_shared(heap, src.header.shape, buf, offset, len),
            None => Self::for_len(heap, src.header.shape, src.len()),
        };
        if !a.is_immediate() {
            if src.len() > a.room() {
                Self::reserve_slow(a, heap, src.len());
            }
            a.add(heap, src.elements(heap));
        }
        if !a.is_inline() {
            // SAFETY: a heap body. Cells of other heaps will refer to the twin.
            unsafe { SharedBuf::set_abroad(a.body.heap.buf) };
        }
        a.cell().header.flags |= flags::FROZEN;
        a
    }
    /// Bytes that it shows of a buffer that it doesn't account for.
    pub fn uncounted(&self) -> usize {
        if self.is_inline() || self.header.flags & COUNTED != 0 { 0 } else { self.len() * 8 }
    }
    /// The elements of a new twin for changing; None when they are immediates.
    pub(crate) fn twin_slots<'a>(this: Ref<ArrayCell>) -> Option<&'a mut [Value]> {
        // SAFETY: a twin holds its buffer alone (or is inline), and only the copier knows it.
        (!this.is_immediate()).then(|| unsafe { std::slice::from_raw_parts_mut(this.ptr(), this.len()) })
    }
    /// Where its elements lie.
    pub fn placed(&self) -> Placed {
        // SAFETY: a cell that is not inline has a buffer.
        unsafe { if self.is_inline() { Placed::Embedded } else { Placed::of(self.body.heap.buf) } }
    }
    /// Bytes of the buffer, for the cell that made it.
    pub(crate) fn owned(&self) -> usize {
        if self.is_inline() || self.header.flags & COUNTED == 0 {
            return 0;
        }
        // SAFETY: a cell that is not inline has a buffer.
        unsafe { SharedBuf::cap(self.body.heap.buf) }
    }
    pub(crate) unsafe fn free(p: *mut ArrayCell, hidden: impl FnOnce(usize)) -> usize {
        // SAFETY: called once by the finalizer.
        unsafe {
            if (*p).is_inline() {
                return 0;
            }
            let buf = (*p).body.heap.buf;
            SharedBuf::let_go(buf, (*p).header.flags & COUNTED != 0, hidden)
        }
    }
}

impl Ref<ArrayCell> {
    fn set_len(self, n: usize) {
        let cell = self.cell();
        if cell.is_inline() {
            cell.header.aux = cell.header.aux & !OUT | n as u16;
        } else {
            cell.body.heap.len = n;
        }
    }
    /// Makes at most `n` values the content of an empty Array.
    #[inline(always)]
    fn take(self, heap: &Heap, n: usize, values: impl Iterator<Item = Value>) {
        ArrayCell::room_for(self, heap, n);
        let p = self.ptr();
        let mut len = 0;
        for v in values.take(n) {
            // SAFETY: room was made for n.
            unsafe { *p.add(len) = v };
            len += 1;
        }
        self.set_len(len);
    }
    /// Appends values, none of its own.
    #[inline]
    fn add(self, heap: &Heap, values: &[Value]) {
        let n = self.len();
        ArrayCell::room_for(self, heap, n + values.len());
        // SAFETY: room was made; the source is not ours.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), self.ptr().add(n), values.len()) };
        self.set_len(n + values.len());
    }
    /// The elements, for as long as nothing changes an Array, collects or runs Ruby (module `heap` of zakuro-heap).
    #[inline(always)]
    pub fn elements(self, _heap: &Heap) -> &[Value] {
        // SAFETY: len initialised values, which stay where they are while the heap is borrowed.
        unsafe { std::slice::from_raw_parts(self.start(), self.len()) }
    }
    /// The first element, for writing: derived from the cell's address, since elements inline in the cell must not be written through a `&ArrayCell`.
    #[inline(always)]
    fn ptr(self) -> *mut Value {
        let cell = self.as_ptr();
        // SAFETY: a Ref points to a live cell; as in `len`.
        unsafe { if self.is_inline() { (&raw mut (*cell).body.inline).cast() } else { (*cell).body.heap.ptr } }
    }
}

#[cfg(test)]
#[path = "array_tests.rs"]
mod tests;
