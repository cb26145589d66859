//! String cells: up to 24 bytes inline, larger content in a shared buffer (copy on write).
//!
//! Header aux: bits 0-7 encoding id, bits 8-9 code range (0 unknown, 1 ASCII only, 2 valid, 3 broken), bit 10 inline, bits 11-15 inline
//! length. Invariant: holding the buffer alone (count 1) one may write it; otherwise one copies first. A substring shares its
//! parent's buffer.

use crate::cells::{Kind, alloc_cell};
use crate::class::ids;
use crate::value::{Cell, Ref, Value};
use zakuro_heap::{BufRef, Header, Heap, SharedBuf, out_of_memory};

pub const INLINE: usize = 24;
/// Flag: this cell's VM accounts for the buffer because of it (substrings share it without counting it again; module `shared`).
const COUNTED: u8 = zakuro_heap::flags::USER2;
/// Of [`Header::aux`]: the bytes lie in the cell.
pub const INLINE_BIT: u16 = 1 << 10;
/// Bytes of a cell.
pub const CELL: usize = size_of::<StringCell>();
const LEN_SHIFT: u16 = 11;
const RANGE_MASK: u16 = 3 << 8;

/// Encoding ids that the VM knows by number; the rest is `zakuro-text`'s.
pub const BINARY: u8 = 0;
pub const UTF8: u8 = 1;
pub const US_ASCII: u8 = 2;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeRange {
    Unknown,
    Ascii,
    Valid,
    Broken,
}

#[repr(C)]
pub struct StringCell {
    pub header: Header,
    body: Body,
}

#[repr(C)]
union Body {
    inline: [u8; INLINE],
    heap: Shared,
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Shared {
    buf: *mut SharedBuf,
    ptr: *mut u8,
    len: usize,
}

impl Cell for StringCell {
    const KIND: Kind = Kind::String;
}

/// A buffer could not be made that large.
#[derive(Debug)]
pub struct TooLarge;

#[inline(never)]
fn same_content(a: &[u8], b: &[u8]) -> bool {
    a.as_ptr() == b.as_ptr() || a == b
}

impl StringCell {
    /// New String of the content. Unwinds with OutOfMemory when memory is refused, as all functions that make buffers.
    pub fn make(heap: &Heap, shape: u32, bytes: &[u8], encoding: u8) -> Ref<StringCell> {
        let s = Self::empty(heap, shape, encoding);
        if bytes.len() <= INLINE {
            // SAFETY: inline body, length checked.
            unsafe { copy_short(bytes, (&raw mut s.cell().body.inline) as *mut u8) };
            s.set_inline_len(bytes.len());
        } else {
            s.made_of(heap, bytes);
        }
        s
    }
    pub fn empty(heap: &Heap, shape: u32, encoding: u8) -> Ref<StringCell> {
        let header = Header { shape, kind: Kind::String as u8, flags: 0, aux: encoding as u16 | INLINE_BIT };
        alloc_cell(heap, StringCell { header, body: Body { inline: [0; INLINE] } })
    }
    pub fn plain(heap: &Heap, bytes: &[u8], encoding: u8) -> Ref<StringCell> {
        Self::make(heap, ids::STRING.0, bytes, encoding)
    }
    #[inline(always)]
    fn is_inline(&self) -> bool {
        self.header.aux & INLINE_BIT != 0
    }
    #[inline(always)]
    pub fn len(&self) -> usize {
        // SAFETY: the inline bit says which member of the union is live.
        if self.is_inline() { (self.header.aux >> LEN_SHIFT) as usize } else { unsafe { self.body.heap.len } }
    }
    /// Order of the bytes.
    pub fn cmp_bytes(&self, other: &StringCell) -> std::cmp::Ordering {
        self.bytes().cmp(other.bytes())
    }
    /// Whether the bytes are equal: at once when a copy shares them still.
    #[inline(always)]
    pub fn same_bytes(&self, other: &StringCell) -> bool {
        let (a, b) = (self.bytes(), other.bytes());
        // Most that differ do so in their length or in their first byte.
        a.len() == b.len() && a.first() == b.first() && (a.len() < 2 || same_content(a, b))
    }
    /// What others see through the heap: [`Ref::content`].
    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: as in len; the buffer has `len` initialised bytes.
        unsafe {
            if self.is_inline() {
                std::slice::from_raw_parts((&raw const self.body.inline) as *const u8, self.len())
            } else {
                std::slice::from_raw_parts(self.body.heap.ptr, self.body.heap.len)
            }
        }
    }
    /// A copy of the bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        self.bytes().to_vec()
    }
    /// A copy of the content as text, broken bytes replaced.
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }
    /// A copy of content that lies in the cell, with its length (what follows means nothing); None when it is in a buffer ([`StringCell::share`]).
    pub fn inline(&self) -> Option<([u8; INLINE], usize)> {
        if !self.is_inline() {
            return None;
        }
        // SAFETY: the inline bit says which member is live; all of it was written when the cell was made.
        Some((unsafe { self.body.inline }, self.len()))
    }
    /// Where its first byte is now.
    #[inline]
    pub fn address(&self) -> usize {
        self.bytes().as_ptr().addr()
    }
    #[inline]
    pub fn byte(&self, at: usize) -> Option<u8> {
        self.bytes().get(at).copied()
    }
    #[inline]
    pub fn equals(&self, bytes: &[u8]) -> bool {
        self.bytes() == bytes
    }
    /// Whether all bytes are below 0x80, whatever the encoding.
    #[inline]
    pub fn is_ascii(&self) -> bool {
        self.bytes().is_ascii()
    }
    pub fn has_nul(&self) -> bool {
        self.bytes().contains(&0)
    }
    pub fn encoding(&self) -> u8 {
        self.header.aux as u8
    }
    pub fn code_range(&self) -> CodeRange {
        match (self.header.aux & RANGE_MASK) >> 8 {
            0 => CodeRange::Unknown,
            1 => CodeRange::Ascii,
            2 => CodeRange::Valid,
            _ => CodeRange::Broken,
        }
    }
    fn capacity(&self) -> usize {
        if self.is_inline() {
            return INLINE;
        }
        // SAFETY: heap body; ptr lies in buf's data.
        unsafe {
            let h = self.body.heap;
            SharedBuf::cap(h.buf) - (h.ptr as usize - SharedBuf::data(h.buf) as usize)
        }
    }
    fn unique(&self) -> bool {
        // SAFETY: heap body holds a live buffer.
        self.is_inline() || unsafe { SharedBuf::is_unique(self.body.heap.buf) }
    }
    /// Makes room for `cap` bytes in a buffer of its own.
    #[inline(always)]
    fn reserve(this: Ref<StringCell>, heap: &Heap, cap: usize) -> Result<(), TooLarge> {
        if this.unique() && cap <= this.capacity() { Ok(()) } else { Self::move_out(this, heap, cap) }
    }
    #[inline(never)]
    fn move_out(this: Ref<StringCell>, heap: &Heap, cap: usize) -> Result<(), TooLarge> {
        let old_inline = this.is_inline();
        // Who grows leaves room to grow again; who only writes, does not.
        let want = if cap > this.len() { cap.max((this.len() * 2).min(cap.saturating_mul(2))) } else { cap }.max(48);
        let Some(mut want) = heap.capacity_for(this.len(), cap, want, 1) else { return Err(TooLarge) };
        // SAFETY: a fresh buffer is filled with the old content, then the body is switched; the old buffer's count is given back.
        unsafe {
            let mut buf = SharedBuf::new(want);
            if buf.is_null() {
                want = cap.max(this.len() + this.len() / 32).max(48);
                buf = SharedBuf::new(want);
            }
            if buf.is_null() {
                // What the machine has, but not now, is no fault of the argument.
                if zakuro_heap::machine_has(cap) {
                    zakuro_heap::out_of_memory();
                }
                return Err(TooLarge);
            }
            let data = SharedBuf::data(buf);
            let len = this.len();
            std::ptr::copy_nonoverlapping(this.bytes().as_ptr(), data, len);
            if old_inline {
                heap.set_finalized(this.as_ptr() as *mut Header);
            } else {
                heap.sub_payload(SharedBuf::let_go(this.body.heap.buf, this.header.flags & COUNTED != 0, |at| heap.hides(at)));
            }
            this.cell().header.flags |= COUNTED;
            heap.add_payload(SharedBuf::weight(buf));
            this.cell().header.aux &= !INLINE_BIT & 0x7ff;
            this.cell().body.heap = Shared { buf, ptr: data, len };
        }
        Ok(())
    }
    /// Whether bytes lie in this String's content. They must not be given to what changes it: Rust assumes that an argument stays as it is for as long
    /// as the call lasts, and the buffer may go in it.
    fn owns(&self, bytes: &[u8]) -> bool {
        !bytes.is_empty() && self.bytes().as_ptr_range().contains(&bytes.as_ptr()) && self.unique()
    }
    /// Appends bytes, none of its own ([`StringCell::try_append_string`]). The caller has checked frozen and encoding.
    #[inline]
    pub fn append(this: Ref<StringCell>, heap: &mut Heap, bytes: &[u8]) {
        if Self::try_append(this, heap, bytes).is_err() {
            out_of_memory();
        }
    }
    pub fn try_append(this: Ref<StringCell>, heap: &mut Heap, bytes: &[u8]) -> Result<(), TooLarge> {
        this.as_value().assert_uncaptured();
        debug_assert!(!this.owns(bytes));
        this.add(heap, bytes)
    }
    /// Appends the content of a String, which may be this one. The caller has checked frozen and encoding.
    #[inline]
    pub fn append_string(this: Ref<StringCell>, heap: &mut Heap, other: Ref<StringCell>) {
        if Self::try_append_string(this, heap, other).is_err() {
            out_of_memory();
        }
    }
    /// Appends the content of a String, which may be this one. The caller has checked frozen and encoding.
    pub fn try_append_string(this: Ref<StringCell>, heap: &mut Heap, other: Ref<StringCell>) -> Result<(), TooLarge> {
        if this != other {
            this.as_value().assert_uncaptured();
            return this.add(heap, other.bytes());
        }
        Self::try_append_own(this, heap, 0, this.len())
    }
    /// Appends the pieces that `put` gives to its argument, `bytes` in all and none of its own, to a String that is being made: one look at how much room there is for all of them. What goes
    /// beyond is left out.
    pub fn append_pieces(this: Ref<StringCell>, heap: &Heap, bytes: usize, put: impl FnOnce(&mut Pieces)) -> Result<(), TooLarge> {
        let len = this.len();
        Self::reserve(this, heap, len.checked_add(bytes).ok_or(TooLarge)?)?;
        // SAFETY: room for so many bytes was made behind the content.
        let mut pieces = Pieces { to: unsafe { this.raw_mut().add(len) }, left: bytes };
        put(&mut pieces);
        this.set_len(len + bytes - pieces.left);
        this.clear_range();
        Ok(())
    }
    /// Appends `n` bytes of its own, from that place on, or what there is.
    pub fn try_append_own(this: Ref<StringCell>, heap: &mut Heap, from: usize, n: usize) -> Result<(), TooLarge> {
        this.as_value().assert_uncaptured();
        let len = this.len();
        let from = from.min(len);
        let n = n.min(len - from);
        let need = len.checked_add(n).ok_or(TooLarge)?;
        Self::reserve(this, heap, need)?;
        let start = this.raw_mut();
        // SAFETY: capacity for both was ensured; wherever the content is now, the copy of `n` of its bytes from `from` on goes right behind it.
        unsafe { std::ptr::copy_nonoverlapping(start.add(from), start.add(len), n) };
        this.set_len(need);
        this.clear_range();
        Ok(())
    }
    /// Replaces the content by bytes, none of its own. The caller has checked frozen.
    pub fn set_bytes(this: Ref<StringCell>, heap: &mut Heap, bytes: &[u8]) {
        this.as_value().assert_uncaptured();
        debug_assert!(!this.owns(bytes));
        if !this.unique() || bytes.len() > this.capacity() {
            this.set_len(0);
            if Self::reserve(this, heap, bytes.len()).is_err() {
                out_of_memory();
            }
        }
        // SAFETY: capacity ensured; the source is not ours.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), this.raw_mut(), bytes.len()) };
        this.set_len(bytes.len());
        this.clear_range();
    }
    /// Replaces the content by that of another String. The caller has checked frozen.
    pub fn set_string(this: Ref<StringCell>, heap: &mut Heap, other: Ref<StringCell>) {
        if this != other {
            Self::set_bytes(this, heap, other.bytes());
        }
    }
    /// The content for writing in place (same length). The caller has checked frozen.
    pub fn bytes_mut(this: Ref<StringCell>, heap: &mut Heap) -> &mut [u8] {
        let n = this.len();
        if Self::reserve(this, heap, n).is_err() {
            out_of_memory();
        }
        this.clear_range();
        // SAFETY: unique buffer (or inline) with n bytes.
        unsafe { std::slice::from_raw_parts_mut(this.raw_mut(), n) }
    }
    /// Replaces bytes start..end, as far as there are such, by the content of another String.
    pub fn splice_string(this: Ref<StringCell>, heap: &mut Heap, start: usize, end: usize, with: Ref<StringCell>) {
        let copy = if this == with { with.to_vec() } else { Vec::new() };
        Self::splice(this, heap, start, end, if this == with { &copy } else { with.bytes() });
    }
    /// Replaces bytes start..end, as far as there are such, by others, none of its own.
    pub fn splice(this: Ref<StringCell>, heap: &mut Heap, start: usize, end: usize, with: &[u8]) {
        this.as_value().assert_uncaptured();
        debug_assert!(!this.owns(with));
        let end = end.min(this.len());
        let start = start.min(end);
        let (len, rest) = (this.len(), start + with.len());
        let Some(need) = (len - end).checked_add(rest) else { out_of_memory() };
        if Self::reserve(this, heap, need.max(len)).is_err() {
            out_of_memory();
        }
        let p = this.raw_mut();
        // SAFETY: room for both lengths; the tail moves with overlap allowed, and the source is not ours.
        unsafe {
            std::ptr::copy(p.add(end), p.add(rest), len - end);
            std::ptr::copy_nonoverlapping(with.as_ptr(), p.add(start), with.len());
        }
        this.set_len(need);
        this.clear_range();
    }
    pub fn truncate(this: Ref<StringCell>, _: &mut Heap, n: usize) {
        this.as_value().assert_uncaptured();
        if n < this.len() {
            this.set_len(n);
            this.clear_range();
        }
    }
    /// Room for at least `cap` bytes (`String.new(capacity:)`).
    pub fn ensure_capacity(this: Ref<StringCell>, heap: &mut Heap, cap: usize) -> Result<(), TooLarge> {
        Self::reserve(this, heap, cap.max(this.len()))
    }
    /// New String with bytes start..end of `src`, as far as there are such, sharing its buffer when it is worth it.
    pub fn substring(heap: &Heap, shape: u32, src: Ref<StringCell>, start: usize, end: usize) -> Ref<StringCell> {
        // Who found the place may have let others change the content since.
        let end = end.min(src.len());
        let start = start.min(end);
        let n = end - start;
        let is_foreign = src.header.flags & zakuro_heap::flags::SHARED != 0;
        // A short part is copied, and leaves the buffer to its end.
        let shared = match src.is_inline() || n <= 64 && n < src.len() {
            true => None,
            // SAFETY: a heap body.
            false => unsafe { crate::shared::retain(heap, src.body.heap.buf, is_foreign, n) },
        };
        let s;
        if let Some(counted) = shared {
            s = Self::empty(heap, shape, src.encoding());
            // SAFETY: src has a heap body; the count keeps the buffer alive.
            unsafe {
                let h = src.body.heap;
                Self::adopt(s, heap, Shared { buf: h.buf, ptr: h.ptr.add(start), len: n });
            }
            if counted {
                s.cell().header.flags |= COUNTED;
            }
        } else {
            s = Self::make(heap, shape, &src.bytes()[start..end], src.encoding());
        }
        if src.code_range() == CodeRange::Ascii || n == src.len() {
            s.set_code_range(src.code_range());
        }
        s
    }
    unsafe fn adopt(this: Ref<StringCell>, heap: &Heap, body: Shared) {
        heap.set_finalized(this.as_ptr() as *mut Header);
        this.cell().header.aux &= !INLINE_BIT & 0x7ff;
        this.cell().body.heap = body;
    }
    /// The content as a counted buffer for an envelope, an image, another heap, with its byte range; None when it is inline. O(1), but for who shows a part of another's buffer. `heap`: whose cell it is; None: a region's.
    pub fn share(this: Ref<StringCell>, heap: Option<&Heap>) -> Option<(BufRef, usize, usize)> {
        if this.header.flags & zakuro_heap::flags::SHARED != 0 {
            return this.hold();
        }
        if this.is_inline() {
            return None;
        }
        // SAFETY: heap body.
        unsafe {
            let h = this.body.heap;
            let (buf, offset, counted) = crate::shared::send(heap, h.buf, h.ptr, h.len, this.header.flags & COUNTED != 0)?;
            if counted {
                this.cell().header.flags |= COUNTED;
            }
            Some((buf, offset, h.len))
        }
    }
    /// The content as a counted buffer for who gives it back while the VM's turn lasts, with its byte range ([`SharedBuf::let_go`]); None when it is inline.
    pub fn hold(&self) -> Option<(BufRef, usize, usize)> {
        if self.is_inline() {
            return None;
        }
        // SAFETY: heap body; from_raw takes over the count made here.
        unsafe {
            let h = self.body.heap;
            SharedBuf::retain(h.buf);
            Some((BufRef::from_raw(h.buf)?, h.ptr as usize - SharedBuf::data(h.buf) as usize, h.len))
        }
    }
    /// New String over a received buffer. O(1).
    pub fn from_shared(heap: &Heap, shape: u32, buf: BufRef, offset: usize, len: usize, encoding: u8) -> Ref<StringCell> {
        let s = Self::empty(heap, shape, encoding);
        // SAFETY: into_raw hands its count to the new cell; offset and len came from `share` of the same buffer.
        unsafe {
            let raw = BufRef::into_raw(buf);
            Self::adopt(s, heap, Shared { buf: raw, ptr: SharedBuf::data(raw).add(offset), len });
            // A buffer that its sender keeps too is the sender's to account for: else each message would call for a collection here.
            if crate::shared::receive(heap, raw) {
                s.cell().header.flags |= COUNTED;
            }
        }
        s
    }
    /// Leaves an empty String; a large buffer goes back. The caller has checked frozen.
    pub fn clear(this: Ref<StringCell>, heap: &mut Heap) {
        if this.is_inline() || this.capacity() <= 512 {
            return Self::set_bytes(this, heap, b"");
        }
        this.as_value().assert_uncaptured();
        // SAFETY: a live cell of this heap, which is only looked at through the borrowed heap.
        let bytes = unsafe { Self::empty_out(this.as_ptr(), |at| heap.hides(at)) };
        heap.sub_payload(bytes);
        this.clear_range();
    }
    /// Gives the buffer back and leaves an empty String; returns the bytes that it accounted for.
    pub(crate) unsafe fn empty_out(p: *mut StringCell, hidden: impl FnOnce(usize)) -> usize {
        // SAFETY: a live cell; the body is written anew after its buffer is released.
        unsafe {
            let bytes = Self::free(p, hidden);
            (*p).header.aux = (*p).encoding() as u16 | INLINE_BIT;
            (*p).header.flags &= !COUNTED;
            (*p).body = Body { inline: [0; INLINE] };
            bytes
        }
    }
    /// A frozen copy in another heap (module `graft`). Shares the buffer unless it is small or would keep much more alive than its content.
    pub(crate) fn twin(heap: &mut Heap, from: Option<&Heap>, src: Ref<StringCell>) -> Ref<StringCell> {
        let shared = match src.len() {
            n if src.is_inline() || n < 256 || src.capacity() > 4 * n => None,
            _ => Self::share(src, from),
        };
        let s = match shared {
            Some((buf, offset, len)) => Self::from_shared(heap, src.header.shape, buf, offset, len, src.encoding()),
            None => {
                let s = Self::empty(heap, src.header.shape, src.encoding());
                if src.len() > INLINE {
                    // Just as much as it takes: it will never grow.
                    // SAFETY: a new buffer, filled with len bytes before the cell is seen; its count goes over to the cell.
                    unsafe {
                        let len = src.len();
                        let buf = SharedBuf::new(len);
                        assert!(!buf.is_null(), "string buffer: out of memory");
                        std::ptr::copy_nonoverlapping(src.bytes().as_ptr(), SharedBuf::data(buf), len);
                        Self::adopt(s, heap, Shared { buf, ptr: SharedBuf::data(buf), len });
                        heap.add_payload(SharedBuf::weight(buf));
                    }
                    s.cell().header.flags |= COUNTED;
                } else {
                    s.made_of(heap, src.bytes());
                }
                s
            }
        };
        s.set_code_range(src.code_range());
        if !s.is_inline() {
            // SAFETY: a heap body. Cells of other heaps will refer to the twin.
            unsafe { SharedBuf::set_abroad(s.body.heap.buf) };
        }
        s.cell().header.flags |= zakuro_heap::flags::FROZEN;
        s
    }
    /// Bytes that it shows of a buffer that it doesn't account for.
    pub fn uncounted(&self) -> usize {
        if self.is_inline() || self.header.flags & COUNTED != 0 { 0 } else { self.len() }
    }
    /// Where its bytes lie.
    pub fn placed(&self) -> crate::shared::Placed {
        use crate::shared::Placed;
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
    pub(crate) unsafe fn free(p: *mut StringCell, hidden: impl FnOnce(usize)) -> usize {
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

/// Copies bytes; a few of them without a call, from both ends.
///
/// # Safety
/// `to` is writable for the length of the source, and lies elsewhere.
#[inline(always)]
unsafe fn copy_short(from: &[u8], to: *mut u8) {
    let n = from.len();
    let from = from.as_ptr();
    // SAFETY: each branch reads and writes within the first `n` bytes.
    unsafe {
        match n {
            16..=32 => {
                let (a, b) = (from.cast::<u128>().read_unaligned(), from.add(n - 16).cast::<u128>().read_unaligned());
                to.cast::<u128>().write_unaligned(a);
                to.add(n - 16).cast::<u128>().write_unaligned(b);
            }
            8..16 => {
                let (a, b) = (from.cast::<u64>().read_unaligned(), from.add(n - 8).cast::<u64>().read_unaligned());
                to.cast::<u64>().write_unaligned(a);
                to.add(n - 8).cast::<u64>().write_unaligned(b);
            }
            4..8 => {
                let (a, b) = (from.cast::<u32>().read_unaligned(), from.add(n - 4).cast::<u32>().read_unaligned());
                to.cast::<u32>().write_unaligned(a);
                to.add(n - 4).cast::<u32>().write_unaligned(b);
            }
            0 => {}
            1..4 => {
                let (a, b, c) = (*from, *from.add(n / 2), *from.add(n - 1));
                *to = a;
                *to.add(n / 2) = b;
                *to.add(n - 1) = c;
            }
            _ => std::ptr::copy_nonoverlapping(from, to, n),
        }
    }
}

/// Room behind a String's content that is being filled ([`StringCell::append_pieces`]).
pub struct Pieces {
    to: *mut u8,
    left: usize,
}
impl Pieces {
    #[inline(always)]
    pub fn add(&mut self, bytes: &[u8]) {
        if bytes.len() <= self.left {
            // SAFETY: `left` bytes are writable there; who fills it has promised that the source lies elsewhere.
            unsafe {
                copy_short(bytes, self.to);
                self.to = self.to.add(bytes.len());
            }
            self.left -= bytes.len();
        } else {
            debug_assert!(false, "more than was said");
        }
    }
}

/// A short text that is put together before its String is made.
pub struct Joined {
    bytes: [std::mem::MaybeUninit<u8>; Joined::ROOM],
    len: usize,
}
impl Joined {
    pub const ROOM: usize = 256;

    #[inline(always)]
    pub fn new() -> Joined {
        Joined { bytes: [std::mem::MaybeUninit::uninit(); Joined::ROOM], len: 0 }
    }
    /// False: there is no room for it.
    #[inline(always)]
    pub fn add(&mut self, bytes: &[u8]) -> bool {
        let fits = bytes.len() <= Joined::ROOM - self.len;
        if fits {
            // SAFETY: there is room behind the first `len`; the source is borrowed, so it is none of these.
            unsafe { copy_short(bytes, self.bytes.as_mut_ptr().cast::<u8>().add(self.len)) };
            self.len += bytes.len();
        }
        fits
    }
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the first `len` were written.
        unsafe { std::slice::from_raw_parts(self.bytes.as_ptr().cast(), self.len) }
    }
}
impl Default for Joined {
    fn default() -> Joined {
        Joined::new()
    }
}

impl Ref<StringCell> {
    fn set_inline_len(self, n: usize) {
        let cell = self.cell();
        cell.header.aux = (cell.header.aux & 0x7ff) | (n as u16) << LEN_SHIFT;
    }
    fn set_len(self, n: usize) {
        if self.is_inline() {
            self.set_inline_len(n);
        } else {
            self.cell().body.heap.len = n;
        }
    }
    pub fn set_encoding(self, e: u8) {
        let cell = self.cell();
        cell.header.aux = (cell.header.aux & 0xff00) | e as u16;
        self.clear_range();
    }
    /// Of a String that is being made.
    #[inline(always)]
    pub fn init_flags(self, f: u8) {
        self.cell().header.flags |= f;
    }
    /// Caches the result of a scan. Allowed on frozen strings: it is no visible change.
    pub fn set_code_range(self, r: CodeRange) {
        let cell = self.cell();
        cell.header.aux = (cell.header.aux & !RANGE_MASK) | (r as u16) << 8;
    }
    pub fn clear_range(self) {
        self.cell().header.aux &= !RANGE_MASK;
    }
    /// Appends bytes, none of its own.
    #[inline]
    fn add(self, heap: &Heap, bytes: &[u8]) -> Result<(), TooLarge> {
        let (old, add) = (self.len(), bytes.len());
        if add == 0 {
            return Ok(());
        }
        let need = old.checked_add(add).ok_or(TooLarge)?;
        StringCell::reserve(self, heap, need)?;
        // SAFETY: capacity for `need` bytes was ensured; the target range lies behind the content, and the source is not ours.
        unsafe { copy_short(bytes, self.raw_mut().add(old)) };
        self.set_len(need);
        self.clear_range();
        Ok(())
    }
    /// Fills a String that is being made.
    fn made_of(self, heap: &Heap, bytes: &[u8]) {
        if self.add(heap, bytes).is_err() {
            out_of_memory();
        }
    }
    /// The bytes, for as long as nothing changes a String, collects or runs Ruby (module `heap` of zakuro-heap).
    #[inline(always)]
    pub fn content(self, _heap: &Heap) -> &[u8] {
        // SAFETY: as in `bytes`; they stay where they are while the heap is borrowed.
        unsafe {
            if self.is_inline() {
                std::slice::from_raw_parts((&raw const (*self.as_ptr()).body.inline) as *const u8, self.len())
            } else {
                std::slice::from_raw_parts(self.body.heap.ptr, self.body.heap.len)
            }
        }
    }
    /// The first byte, for writing: derived from the cell's address, since it must not invalidate what was borrowed of the content.
    #[inline(always)]
    fn raw_mut(self) -> *mut u8 {
        let cell = self.as_ptr();
        // SAFETY: a Ref points to a live cell; the inline bit says which member is live.
        unsafe { if self.is_inline() { (&raw mut (*cell).body.inline).cast() } else { (*cell).body.heap.ptr } }
    }
    pub fn value(self) -> Value {
        self.as_value()
    }
}

#[cfg(test)]
#[path = "string_tests.rs"]
mod tests;
