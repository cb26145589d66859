//! IO::Buffer: what is in it: numbers, text, masks, and reading and writing through streams.
//!
//! Bytes are looked at and changed within one closure that calls no Ruby: between two calls the memory may move or go.

use super::{Buffer, Memory, READONLY, argument, get, in_range, is_valid, make, number, part, read_file};

use crate::io::errors::last_errno;
use crate::io::read::enumerator;
use crate::io::whole::io_of;
use crate::io::{object, wait};
use std::os::fd::AsRawFd;
use zakuro_macros::ruby_class;
use zakuro_text::encoding::Encoding;
use zakuro_vm::*;

/// The buffer, if it still has the memory that it was made for, or none.
fn valid(cx: &mut Cx, this: Value) -> Result<Buffer> {
    let b = get(cx, this)?.clone();
    if is_valid(cx, &b) { Ok(b) } else { cx.raise(ids::BUFFER_INVALIDATED_ERROR, "Buffer has been invalidated!") }
}

/// Checks that the bytes can be had.
fn ready(cx: &mut Cx, this: Value, offset: usize, length: usize) -> Result<Buffer> {
    let b = valid(cx, this)?;
    if b.memory.is_null() {
        return cx.raise(ids::BUFFER_ALLOCATION_ERROR, "The buffer is not allocated!");
    }
    in_range(cx, b.size, offset, length)?;
    Ok(b)
}

/// No bytes of a buffer without any can be had all the same.
fn is_nothing(cx: &mut Cx, this: Value, offset: usize, length: usize) -> Result<bool> {
    Ok((offset, length) == (0, 0) && get(cx, this)?.memory.is_null())
}

/// Looks at a part of the bytes.
pub fn with_bytes<R>(cx: &mut Cx, this: Value, offset: usize, length: usize, f: impl FnOnce(&[u8]) -> R) -> Result<R> {
    if is_nothing(cx, this, offset, length)? {
        return Ok(f(&[]));
    }
    let b = ready(cx, this, offset, length)?;
    let from = b.offset + offset;
    match &b.memory {
        Memory::Text(t) => match Ref::<StringCell>::of(*t).content(&cx.heap).get(from..from + length) {
            Some(bytes) => Ok(f(bytes)),
            None => cx.raise(ids::BUFFER_INVALIDATED_ERROR, "Buffer has been invalidated!"),
        },
        Memory::File(fd, at) => {
            let mut bytes = Vec::new();
            cx.reserve(&mut bytes, length)?;
            bytes.resize(length, 0);
            read_file(fd.as_raw_fd(), at + from as u64, &mut bytes);
            Ok(f(&bytes))
        }
        Memory::Null => Ok(f(&[])),
    }
}

/// Changes a part of the bytes. AccessError when the buffer can't be written.
pub fn with_bytes_mut<R>(cx: &mut Cx, this: Value, offset: usize, length: usize, f: impl FnOnce(&mut [u8]) -> R) -> Result<R> {
    if get(cx, this)?.flags & READONLY != 0 {
        return cx.raise(ids::BUFFER_ACCESS_ERROR, "Buffer is not writable!");
    }
    if is_nothing(cx, this, offset, length)? {
        return Ok(f(&mut []));
    }
    let b = ready(cx, this, offset, length)?;
    let from = b.offset + offset;
    match &b.memory {
        // Frozen since the view was made.
        Memory::Text(t) if t.is_frozen() => cx.raise(ids::BUFFER_ACCESS_ERROR, "Buffer is not writable!"),
        Memory::Text(t) => {
            cx.cell_changes(*t);
            let s = Ref::<StringCell>::of(*t);
            match StringCell::bytes_mut(s, &mut cx.heap).get_mut(from..from + length) {
                Some(bytes) => Ok(f(bytes)),
                None => cx.raise(ids::BUFFER_INVALIDATED_ERROR, "Buffer has been invalidated!"),
            }
        }
        Memory::File(fd, at) => {
            let mut bytes = Vec::new();
            cx.reserve(&mut bytes, length)?;
            bytes.resize(length, 0);
            let at = at + from as u64;
            read_file(fd.as_raw_fd(), at, &mut bytes);
            let r = f(&mut bytes);
            let mut done = 0;
            while done < length {
                let rest = &bytes[done..];
                // SAFETY: rest is readable for its length.
                let n = unsafe { libc::pwrite(fd.as_raw_fd(), rest.as_ptr().cast(), rest.len(), (at + done as u64) as i64) };
                match n {
                    n if n > 0 => done += n as usize,
                    -1 if last_errno() == libc::EINTR => {}
                    _ => return crate::io::fail_os(cx, ""),
                }
            }
            Ok(r)
        }
        Memory::Null => Ok(f(&mut [])),
    }
}

/// Lines of hexadecimal digits and characters; with `first` the first stands on a new line too.
pub fn dump(bytes: &[u8], from: usize, width: usize, first: bool, out: &mut String) {
    use std::fmt::Write;
    for (i, line) in bytes.chunks(width).enumerate() {
        if first || i > 0 {
            out.push('\n');
        }
        let _ = write!(out, "0x{:08x} ", from + i * width);
        for b in line {
            let _ = write!(out, " {b:02x}");
        }
        for _ in line.len()..width {
            out.push_str("   ");
        }
        out.push(' ');
        out.extend(line.iter().map(|b| if (0x20..0x7f).contains(b) { *b as char } else { '.' }));
    }
}

/// How a number lies in memory.
#[derive(Clone, Copy)]
struct Layout {
    size: usize,
    signed: bool,
    float: bool,
    big: bool,
}

/// `:U8`, `:s16` (little-endian), `:F64` (big-endian)... ArgumentError
fn layout(cx: &mut Cx, v: Value) -> Result<Layout> {
    let found = v.as_sym().and_then(|s| {
        let bytes = s.bytes();
        let kind = *bytes.first()?;
        let size = match &bytes[1..] {
            b"8" => 1,
            b"16" => 2,
            b"32" => 4,
            b"64" => 8,
            b"128" => 16,
            _ => return None,
        };
        let kinds = match kind.to_ascii_lowercase() {
            b'u' => (false, false),
            b's' => (true, false),
            b'f' if size == 4 || size == 8 => (true, true),
            _ => return None,
        };
        if size == 1 && kind.is_ascii_lowercase() {
            return None;
        }
        Some(Layout { size, signed: kinds.0, float: kinds.1, big: kind.is_ascii_uppercase() })
    });
    match found {
        Some(l) => Ok(l),
        None => cx.arg_error("Invalid type name!"),
    }
}

/// The bits of a number of this layout at the begin of `bytes`, which has them.
fn bits(l: Layout, bytes: &[u8]) -> u128 {
    fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes.first_chunk().copied().unwrap_or([0; N])
    }
    match (l.size, l.big) {
        (1, _) => bytes.first().copied().unwrap_or(0).into(),
        (2, true) => u16::from_be_bytes(first(bytes)).into(),
        (2, false) => u16::from_le_bytes(first(bytes)).into(),
        (4, true) => u32::from_be_bytes(first(bytes)).into(),
        (4, false) => u32::from_le_bytes(first(bytes)).into(),
        (8, true) => u64::from_be_bytes(first(bytes)).into(),
        (8, false) => u64::from_le_bytes(first(bytes)).into(),
        (_, true) => u128::from_be_bytes(first(bytes)),
        (_, false) => u128::from_le_bytes(first(bytes)),
    }
}

fn decode(cx: &mut Cx, l: Layout, n: u128) -> Value {
    match l {
        Layout { float: true, size: 4, .. } => cx.float(f32::from_bits(n as u32) as f64),
        Layout { float: true, .. } => cx.float(f64::from_bits(n as u64)),
        Layout { size: 16, signed, .. } if signed || n > u64::MAX as u128 => {
            if signed { i64::try_from(n as i128).map_or_else(|_| cx.big((n as i128).into()), |n| cx.int(n)) } else { cx.big(n.into()) }
        }
        Layout { signed: true, size, .. } => {
            let free = 64 - 8 * size as u32;
            cx.int((n as i64) << free >> free)
        }
        _ => cx.int_u64(n as u64),
    }
}

fn encode(cx: &mut Cx, l: Layout, v: Value) -> Result<[u8; 16]> {
    let n = if l.float {
        let d = cx.to_f64(v)?;
        if l.size == 4 { (d as f32).to_bits() as u128 } else { d.to_bits() as u128 }
    } else {
        let v = cx.to_int(v)?;
        if l.size == 16 {
            wide(cx, l, v)?
        } else if l.size == 8 && !l.signed && !v.is_fixnum() {
            match cx.as_big(v).and_then(|b| u64::try_from(b).ok()) {
                Some(n) => n as u128,
                None => return cx.range_error("bignum too big to convert into 'unsigned long long'"),
            }
        } else {
            let n = cx.to_i64(v)?;
            // Through a C int: what fits neither way is refused, more is cut off.
            if l.size < 8 && !(i32::MIN as i64..=u32::MAX as i64).contains(&n) {
                let (what, target) = (if n < 0 { "small" } else { "big" }, if l.signed { "int" } else { "unsigned int" });
                return cx.range_error(format!("integer {n} too {what} to convert to '{target}'"));
            }
            n as u128
        }
    };
    let mut out = [0; 16];
    for (i, o) in out[..l.size].iter_mut().enumerate() {
        let shift = if l.big { l.size - 1 - i } else { i };
        *o = (n >> (8 * shift)) as u8;
    }
    Ok(out)
}

/// The bits of an Integer of 128. RangeError when it has more.
fn wide(cx: &mut Cx, l: Layout, v: Value) -> Result<u128> {
    if let Some(n) = v.as_fixnum().filter(|n| l.signed || *n >= 0) {
        return Ok(n as i128 as u128);
    }
    let bits = cx.as_big(v).and_then(|b| if l.signed { i128::try_from(b).map(|n| n as u128).ok() } else { u128::try_from(b).ok() });
    match bits {
        Some(n) => Ok(n),
        None if v.is_fixnum() => cx.range_error("negative integer to be stored as unsigned"),
        None => cx.range_error(format!("bignum too big to convert into '{}__int128'", if l.signed { "" } else { "unsigned " })),
    }
}

/// Room for a number at an offset. ArgumentError
fn room(cx: &mut Cx, this: Value, offset: usize, size: usize) -> Result<()> {
    let whole = get(cx, this)?.size;
    if offset.checked_add(size).is_none_or(|end| end > whole) {
        return cx.arg_error(format!("Type extends beyond end of buffer! (offset={offset} > size={whole})"));
    }
    Ok(())
}

/// The bits of a number in a buffer that is no slice and stands in a text; nothing where that is not so, or they are not there.
fn own_bits(cx: &mut Cx, this: Value, offset: usize, l: Layout) -> Result<Option<u128>> {
    Ok(own_text(cx, this)?.and_then(|t| bits_of_text(cx, t, offset, l)))
}

/// The String that holds the bytes of a buffer that is no slice, and which of them they are: until something else runs.
type Text = (Ref<StringCell>, std::ops::Range<usize>);

fn own_text(cx: &mut Cx, this: Value) -> Result<Option<Text>> {
    let b = get(cx, this)?;
    let Memory::Text(t) = &b.memory else { return Ok(None) };
    Ok(Ref::<StringCell>::from_value(*t).filter(|_| !b.is_slice()).map(|s| (s, b.offset..b.offset + b.size)))
}

fn bits_of_text(cx: &Cx, (text, range): Text, offset: usize, l: Layout) -> Option<u128> {
    if offset.checked_add(l.size).is_none_or(|end| end > range.len()) {
        return None;
    }
    Some(bits(l, &text.content(&cx.heap).get(range)?[offset..]))
}

/// Writes bytes of such a buffer; false where that is not so, or they can't be written.
fn write_own(cx: &mut Cx, this: Value, offset: usize, from: &[u8]) -> Result<bool> {
    let b = get(cx, this)?;
    let (Memory::Text(t), at, size) = (&b.memory, b.offset, b.size) else { return Ok(false) };
    let t = *t;
    if b.flags & READONLY != 0 || b.is_slice() || t.is_frozen() || offset.checked_add(from.len()).is_none_or(|end| end > size) {
        return Ok(false);
    }
    let Some(s) = Ref::<StringCell>::from_value(t).filter(|s| s.len() >= at + size) else { return Ok(false) };
    cx.cell_changes(t);
    let whole = StringCell::bytes_mut(s, &mut cx.heap).get_mut(at + offset..at + offset + from.len());
    Ok(whole.map(|bytes| bytes.copy_from_slice(from)).is_some())
}

fn read_number(cx: &mut Cx, this: Value, l: Layout, offset: usize) -> Result<Value> {
    if let Some(n) = own_bits(cx, this, offset, l)? {
        return Ok(decode(cx, l, n));
    }
    valid(cx, this)?;
    room(cx, this, offset, l.size)?;
    let n = with_bytes(cx, this, offset, l.size, |b| bits(l, b))?;
    Ok(decode(cx, l, n))
}

fn write_number(cx: &mut Cx, this: Value, l: Layout, offset: usize, v: Value) -> Result<()> {
    let bytes = encode(cx, l, v)?;
    if write_own(cx, this, offset, &bytes[..l.size])? {
        return Ok(());
    }
    with_bytes_mut(cx, this, 0, 0, |_| ())?;
    valid(cx, this)?;
    room(cx, this, offset, l.size)?;
    with_bytes_mut(cx, this, offset, l.size, |b| b.copy_from_slice(&bytes[..l.size]))
}

fn offset_of(cx: &mut Cx, v: Option<Value>) -> Result<usize> {
    match v.filter(|v| !v.is_nil()) {
        Some(v) => number(cx, v, "Offset"),
        None => Ok(0),
    }
}

/// Offset and count of numbers of one layout.
fn run(cx: &mut Cx, this: Value, l: Layout, offset: Option<Value>, count: Option<Value>) -> Result<(usize, usize)> {
    let offset = offset_of(cx, offset)?;
    let size = get(cx, this)?.size;
    let count = match count.filter(|c| !c.is_nil()) {
        Some(c) => number(cx, c, "Count")?,
        None => size.saturating_sub(offset) / l.size,
    };
    Ok((offset, count))
}

/// The types of `get_values` and `set_values`.
const NO_TYPES: &str = "Argument buffer_types should be an array!";

fn types(cx: &mut Cx, v: Value) -> Result<Vec<Layout>> {
    let Some(a) = Ref::<ArrayCell>::from_value(v) else { return cx.arg_error(NO_TYPES) };
    let mut out = Vec::with_capacity(a.len());
    let mut i = 0;
    while let Some(t) = a.get(i) {
        out.push(layout(cx, t)?);
        i += 1;
    }
    Ok(out)
}

/// Bytes of the mask of a bitwise operation.
fn mask_bytes(cx: &mut Cx, mask: Value) -> Result<Vec<u8>> {
    let size = argument(cx, mask)?.size;
    if size == 0 {
        return cx.raise(ids::BUFFER_MASK_ERROR, "Zero-length mask given!");
    }
    with_bytes(cx, mask, 0, size, |b| b.to_vec())
}

fn masked(cx: &mut Cx, this: Value, mask: Value, f: fn(u8, u8) -> u8) -> Result<Value> {
    let mask = mask_bytes(cx, mask)?;
    let size = get(cx, this)?.size;
    let mut bytes = with_bytes(cx, this, 0, size, |b| b.to_vec())?;
    bytes.iter_mut().zip(mask.iter().cycle()).for_each(|(b, m)| *b = f(*b, *m));
    of_bytes(cx, &bytes)
}

fn mask(cx: &mut Cx, this: Value, mask: Value, f: fn(u8, u8) -> u8) -> Result<Value> {
    let other = argument(cx, mask)?.clone();
    let b = get(cx, this)?.clone();
    let same = match (&b.memory, &other.memory) {
        (Memory::Text(x), Memory::Text(y)) => x == y,
        (Memory::File(x, _), Memory::File(y, _)) => std::sync::Arc::ptr_eq(x, y),
        _ => false,
    };
    if same && b.offset < other.offset + other.size && other.offset < b.offset + b.size {
        return cx.raise(ids::BUFFER_MASK_ERROR, "Mask overlaps source buffer!");
    }
    let mask = mask_bytes(cx, mask)?;
    with_bytes_mut(cx, this, 0, b.size, |bytes| bytes.iter_mut().zip(mask.iter().cycle()).for_each(|(b, m)| *b = f(*b, *m)))?;
    Ok(this)
}

fn of_bytes(cx: &mut Cx, bytes: &[u8]) -> Result<Value> {
    let v = make(cx, bytes.len())?;
    if !bytes.is_empty() {
        with_bytes_mut(cx, v, 0, bytes.len(), |b| b.copy_from_slice(bytes))?;
    }
    Ok(v)
}

/// Copies bytes to an offset: arguments `offset`, `length`, `source_offset`.
fn copy_in(cx: &mut Cx, this: Value, source: &[u8], args: [Option<Value>; 3]) -> Result<i64> {
    let size = get(cx, this)?.size;
    let offset = offset_of(cx, args[0])?;
    let from = offset_of(cx, args[2])?;
    if from > source.len() {
        return cx.arg_error("The given source offset is bigger than the buffer size!");
    }
    let length = match args[1].filter(|l| !l.is_nil()) {
        Some(l) => number(cx, l, "Length")?,
        None => source.len() - from,
    };
    if length > source.len() - from {
        return cx.arg_error("Specified source offset+length is bigger than the buffer size!");
    }
    if get(cx, this)?.flags & READONLY == 0 {
        in_range(cx, size, offset, length)?;
    }
    with_bytes_mut(cx, this, offset, length, |b| b.copy_from_slice(&source[from..from + length]))?;
    Ok(length as i64)
}

/// Where a transfer starts and how much it moves: at least (all when given), at most.
fn extent(cx: &mut Cx, this: Value, length: Option<Value>, offset: Option<Value>) -> Result<(usize, usize, usize)> {
    let size = get(cx, this)?.size;
    let offset = offset_of(cx, offset)?;
    let (least, most) = match length.filter(|l| !l.is_nil()) {
        Some(l) => match number(cx, l, "Length")? {
            0 => (0, size.saturating_sub(offset)),
            n => (n, n),
        },
        None => (size.saturating_sub(offset), size.saturating_sub(offset)),
    };
    in_range(cx, size, offset, most)?;
    Ok((offset, least, most))
}

/// Whether the program has put the descriptor into non-blocking mode: it wants to hear EAGAIN.
fn never_waits(fd: std::os::fd::RawFd) -> bool {
    // SAFETY: asks for the flags of a descriptor.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    flags >= 0 && flags & libc::O_NONBLOCK != 0
}

/// Reads into the buffer: -errno, or the number of bytes.
fn read_in(cx: &mut Cx, this: Value, io: Value, mut at: Option<i64>, extent: (usize, usize, usize)) -> Result<i64> {
    let (offset, least, most) = extent;
    let mut done = 0;
    // What is read goes through memory of its own: the buffer's may move while the thread waits.
    let mut part = Vec::new();
    cx.reserve(&mut part, most.min(1 << 16))?;
    part.resize(most.min(1 << 16), 0);
    loop {
        let s = object::get(cx, io)?;
        let (fd, regular) = (s.fd, s.regular);
        if !s.readable() {
            return Ok(-i64::from(libc::EBADF));
        }
        let n = (most - done).min(part.len());
        let got = match at {
            // SAFETY: part is writable for n bytes.
            None if never_waits(fd) => match unsafe { libc::read(fd, part.as_mut_ptr().cast(), n) } {
                -1 => Err(last_errno()),
                n => Ok(n as usize),
            },
            None => wait::blocking_read(cx, io, regular, &mut part[..n])?,
            // SAFETY: part is writable for n bytes.
            Some(a) => match unsafe { libc::pread(fd, part.as_mut_ptr().cast(), n, a) } {
                -1 => Err(last_errno()),
                n => Ok(n as usize),
            },
        };
        match got {
            Err(e) => return Ok(-(e as i64)),
            Ok(n) => {
                with_bytes_mut(cx, this, offset + done, n, |b| b.copy_from_slice(&part[..n]))?;
                done += n;
                at = at.map(|a| a + n as i64);
                if n == 0 || done >= least {
                    return Ok(done as i64);
                }
            }
        }
    }
}

fn write_out(cx: &mut Cx, this: Value, io: Value, at: Option<i64>, extent: (usize, usize, usize)) -> Result<i64> {
    let (offset, _, most) = extent;
    let bytes = with_bytes(cx, this, offset, most, |b| b.to_vec())?;
    let s = object::get(cx, io)?;
    let (fd, regular) = (s.write_fd(), s.regular);
    if !s.writable() {
        return Ok(-i64::from(libc::EBADF));
    }
    let r = match at {
        // SAFETY: bytes is readable for its length.
        None if never_waits(fd) => match unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) } {
            -1 => Err(last_errno()),
            n => Ok(n as usize),
        },
        None => wait::blocking_write(cx, io, regular, &bytes)?.map(|()| bytes.len()),
        // SAFETY: bytes is readable for its length.
        Some(a) => match unsafe { libc::pwrite(fd, bytes.as_ptr().cast(), bytes.len(), a) } {
            -1 => Err(last_errno()),
            n => Ok(n as usize),
        },
    };
    Ok(r.map_or_else(|e| -(e as i64), |n| n as i64))
}

#[ruby_class(ids::IO_BUFFER)]
pub mod buffer {
    use super::*;

    /// Bytes that a type, or several, take.
    ///
    ///     IO::Buffer.size_of(:u32)         #=> 4
    ///     IO::Buffer.size_of([:u32, :U8])   #=> 5
    #[method("size_of", singleton)]
    fn size_of(cx: &mut Cx, _this: Value, t: Value) -> Result<i64> {
        if t.is_kind(Kind::Array) {
            return Ok(types(cx, t)?.iter().map(|l| l.size as i64).sum());
        }
        Ok(layout(cx, t)?.size as i64)
    }

    /// The number at an offset; the type says how many bits, signed or not, and by its case in which order: `:u16` little-endian, `:U16` big-endian.
    ///
    ///     IO::Buffer.for("\x01\x02").get_value(:u16, 0)   #=> 513
    ///     IO::Buffer.for("\x01\x02").get_value(:U16, 0)   #=> 258
    #[method("get_value")]
    fn get_value(cx: &mut Cx, this: Value, t: Value, offset: Value) -> Result<Value> {
        let l = layout(cx, t)?;
        let offset = number(cx, offset, "Offset")?;
        read_number(cx, this, l, offset)
    }

    /// Numbers that lie one behind the other.
    ///
    ///     IO::Buffer.for("\x01\x02\x03").get_values([:U8, :U16], 0)   #=> [1, 515]
    #[method("get_values")]
    fn get_values(cx: &mut Cx, this: Value, list: Value, offset: Value) -> Result<Value> {
        let mut offset = number(cx, offset, "Offset")?;
        let Some(types) = Ref::<ArrayCell>::from_value(list) else { return cx.arg_error(NO_TYPES) };
        valid(cx, this)?;
        let out = ArrayCell::for_len(&cx.heap, ids::ARRAY.0, types.len());
        let mut text = own_text(cx, this)?;
        let mut i = 0;
        while let Some(t) = types.get(i) {
            let l = layout(cx, t)?;
            let v = match text.clone().and_then(|t| bits_of_text(cx, t, offset, l)) {
                Some(n) => decode(cx, l, n),
                None => read_number(cx, this, l, offset)?,
            };
            ArrayCell::push(out, &mut cx.heap, v);
            offset += l.size;
            i += 1;
            if i.is_multiple_of(256) {
                cx.safepoint()?;
                text = own_text(cx, this)?;
            }
        }
        Ok(out.as_value())
    }

    /// Writes a number; returns the offset behind it.
    ///
    ///     IO::Buffer.new(4).then { |b| [b.set_value(:U16, 0, 258), b.get_string] }   #=> [2, "\x01\x02\x00\x00"]
    #[method("set_value")]
    fn set_value(cx: &mut Cx, this: Value, t: Value, offset: Value, v: Value) -> Result<i64> {
        let l = layout(cx, t)?;
        let offset = number(cx, offset, "Offset")?;
        write_number(cx, this, l, offset, v)?;
        Ok((offset + l.size) as i64)
    }

    /// Writes numbers one behind the other; returns the offset behind them.
    ///
    ///     IO::Buffer.new(4).then { |b| [b.set_values([:U8, :u16], 0, [1, 2]), b.get_string] }   #=> [3, "\x01\x02\x00\x00"]
    #[method("set_values")]
    fn set_values(cx: &mut Cx, this: Value, list: Value, offset: Value, values: Value) -> Result<i64> {
        let layouts = types(cx, list)?;
        let Some(values) = Ref::<ArrayCell>::from_value(values) else { return cx.arg_error("Argument values should be an array!") };
        if values.len() != layouts.len() {
            return cx.arg_error("Argument buffer_types and values should have equal length!");
        }
        let mut offset = number(cx, offset, "Offset")?;
        for (i, l) in layouts.into_iter().enumerate() {
            let v = values.get(i).unwrap_or(Value::NIL);
            write_number(cx, this, l, offset, v)?;
            offset += l.size;
        }
        Ok(offset as i64)
    }

    /// Yields offset and number of each of `count` numbers of a type.
    ///
    ///     IO::Buffer.for("ab").each(:U8).to_a   #=> [[0, 97], [1, 98]]
    #[method("each")]
    fn each(cx: &mut Cx, this: Value, t: Value, offset: Option<Value>, count: Option<Value>, block: Block) -> Result<Value> {
        if block.is_none() {
            let args = ArgList::new(cx, &[&[t], offset.as_slice(), count.as_slice()]);
            return enumerator(cx, this, "each", &args);
        }
        let l = layout(cx, t)?;
        let (offset, count) = run(cx, this, l, offset, count)?;
        for i in 0..count {
            let at = offset + i * l.size;
            let v = read_number(cx, this, l, at)?;
            cx.yield_values(block, &[Value::fixnum(at as i64), v])?;
        }
        Ok(this)
    }

    /// Numbers of one type.
    ///
    ///     IO::Buffer.for("abc").values(:U8, 1)   #=> [98, 99]
    #[method("values")]
    fn values(cx: &mut Cx, this: Value, t: Value, offset: Option<Value>, count: Option<Value>) -> Result<Value> {
        let l = layout(cx, t)?;
        let (offset, count) = run(cx, this, l, offset, count)?;
        let out = cx.new_array();
        for i in 0..count {
            let v = read_number(cx, this, l, offset + i * l.size)?;
            ArrayCell::push(out, &mut cx.heap, v);
            if i % 1024 == 1023 {
                cx.safepoint()?;
            }
        }
        Ok(out.as_value())
    }

    /// Yields each byte.
    ///
    ///     IO::Buffer.for("ab").each_byte.to_a   #=> [97, 98]
    #[method("each_byte")]
    fn each_byte(cx: &mut Cx, this: Value, offset: Option<Value>, count: Option<Value>, block: Block) -> Result<Value> {
        if block.is_none() {
            let args = ArgList::new(cx, &[offset.as_slice(), count.as_slice()]);
            return enumerator(cx, this, "each_byte", &args);
        }
        let l = Layout { size: 1, signed: false, float: false, big: true };
        let (offset, count) = run(cx, this, l, offset, count)?;
        for i in 0..count {
            let v = read_number(cx, this, l, offset + i)?;
            cx.yield1(block, v)?;
        }
        Ok(this)
    }

    /// Bytes as a String.
    ///
    ///     IO::Buffer.for("test").get_string(1, 2)              #=> "es"
    ///     IO::Buffer.for("é").get_string(0, nil, "UTF-8")   #=> "é"
    #[method("get_string")]
    fn get_string(cx: &mut Cx, this: Value, offset: Option<Value>, length: Option<Value>, e: Option<Value>) -> Result<Value> {
        let size = get(cx, this)?.size;
        let (offset, length) = part(cx, size, offset, length)?;
        let e = match e.filter(|e| !e.is_nil()) {
            Some(e) => zakuro_core_text::encoding::from_value(cx, e)?,
            None => Encoding::BINARY,
        };
        let bytes = with_bytes(cx, this, offset, length, |b| b.to_vec())?;
        Ok(cx.str_bytes(&bytes, e.id()))
    }

    /// Copies a String's bytes into the buffer; returns how many.
    ///
    ///     IO::Buffer.new(4).then { |b| [b.set_string("ab", 1), b.get_string] }   #=> [2, "\x00ab\x00"]
    #[method("set_string")]
    fn set_string(
        cx: &mut Cx,
        this: Value,
        text: Value,
        offset: Option<Value>,
        length: Option<Value>,
        source_offset: Option<Value>,
    ) -> Result<i64> {
        let bytes = cx.to_str(text)?.to_vec();
        copy_in(cx, this, &bytes, [offset, length, source_offset])
    }

    /// Copies another buffer's bytes into this one; returns how many.
    ///
    ///     IO::Buffer.new(3).then { |b| b.copy(IO::Buffer.for("xy"), 1); b.get_string }   #=> "\x00xy"
    #[method("copy")]
    fn copy(
        cx: &mut Cx,
        this: Value,
        source: Value,
        offset: Option<Value>,
        length: Option<Value>,
        source_offset: Option<Value>,
    ) -> Result<i64> {
        let size = argument(cx, source)?.size;
        let bytes = with_bytes(cx, source, 0, size, |b| b.to_vec())?;
        copy_in(cx, this, &bytes, [offset, length, source_offset])
    }

    /// Fills with a byte.
    ///
    ///     IO::Buffer.new(3).clear(65, 1).get_string   #=> "\x00AA"
    #[method("clear")]
    fn clear(cx: &mut Cx, this: Value, value: Option<i64>, offset: Option<Value>, length: Option<Value>) -> Result<Value> {
        let size = get(cx, this)?.size;
        let (offset, length) = part(cx, size, offset, length)?;
        let byte = value.unwrap_or(0) as u8;
        with_bytes_mut(cx, this, offset, length, |b| b.fill(byte))?;
        Ok(this)
    }

    /// By size, then by bytes.
    ///
    ///     IO::Buffer.for("a") <=> IO::Buffer.for("b")   #=> -1
    #[method("<=>")]
    fn compare(cx: &mut Cx, this: Value, other: Value) -> Result<i64> {
        let size = argument(cx, other)?.size;
        let mine = get(cx, this)?.size;
        if mine != size {
            return Ok(if mine < size { -1 } else { 1 });
        }
        let theirs = with_bytes(cx, other, 0, size, |b| b.to_vec())?;
        with_bytes(cx, this, 0, mine, |b| b.cmp(&theirs) as i64)
    }

    /// Lines of hexadecimal digits.
    ///
    ///     IO::Buffer.for("ab").hexdump   #=> "0x00000000  61 62                                           ab"
    #[method("hexdump")]
    fn hexdump(cx: &mut Cx, this: Value, offset: Option<Value>, length: Option<Value>, width: Option<Value>) -> Result<Value> {
        let b = get(cx, this)?.clone();
        let (offset, length) = part(cx, b.size, offset, length)?;
        let width = match width.filter(|w| !w.is_nil()) {
            Some(w) => number(cx, w, "Width")?,
            None => 16,
        };
        if width < 8 {
            return cx.arg_error("Width must be at least 8!");
        }
        if b.memory.is_null() {
            return Ok(Value::NIL);
        }
        let bytes = with_bytes(cx, this, offset, length, |b| b.to_vec())?;
        let mut out = String::new();
        // Whole lines at a time.
        let portion = width.saturating_mul(4096);
        for (at, part) in bytes.chunks(portion).enumerate() {
            if at > 0 {
                cx.safepoint()?;
            }
            dump(part, offset + at * portion, width, at > 0, &mut out);
        }
        Ok(cx.str(&out))
    }

    /// A new buffer: each byte and the mask's, which is repeated.
    ///
    ///     (IO::Buffer.for("abc") & IO::Buffer.for("\xDF")).get_string   #=> "ABC"
    #[method("&")]
    fn and(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        masked(cx, this, other, |a, b| a & b)
    }

    /// A new buffer: each byte or the mask's, which is repeated.
    ///
    ///     (IO::Buffer.for("ABC") | IO::Buffer.for(" ")).get_string   #=> "abc"
    #[method("|")]
    fn or(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        masked(cx, this, other, |a, b| a | b)
    }

    /// A new buffer: each byte exclusive-or the mask's, which is repeated.
    ///
    ///     (IO::Buffer.for("aBc") ^ IO::Buffer.for(" ")).get_string   #=> "AbC"
    #[method("^")]
    fn xor(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        masked(cx, this, other, |a, b| a ^ b)
    }

    /// A new buffer with all bits inverted.
    ///
    ///     (~IO::Buffer.for("\x00\xFF")).get_string   #=> "\xFF\x00"
    #[method("~")]
    fn not(cx: &mut Cx, this: Value) -> Result<Value> {
        let size = get(cx, this)?.size;
        let bytes = with_bytes(cx, this, 0, size, |b| b.iter().map(|b| !b).collect::<Vec<u8>>())?;
        of_bytes(cx, &bytes)
    }

    /// `&` in place.
    ///
    ///     IO::Buffer.string(2) { |b| b.set_string("ab"); b.and!(IO::Buffer.for("\xDF")) }   #=> "AB"
    #[method("and!")]
    fn and_bang(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        mask(cx, this, other, |a, b| a & b)
    }

    /// `|` in place.
    ///
    ///     IO::Buffer.string(2) { |b| b.set_string("AB"); b.or!(IO::Buffer.for(" ")) }   #=> "ab"
    #[method("or!")]
    fn or_bang(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        mask(cx, this, other, |a, b| a | b)
    }

    /// `^` in place.
    ///
    ///     IO::Buffer.string(2) { |b| b.set_string("aB"); b.xor!(IO::Buffer.for(" ")) }   #=> "Ab"
    #[method("xor!")]
    fn xor_bang(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        mask(cx, this, other, |a, b| a ^ b)
    }

    /// `~` in place.
    ///
    ///     IO::Buffer.string(1) { |b| b.not! }   #=> "\xFF"
    #[method("not!")]
    fn not_bang(cx: &mut Cx, this: Value) -> Result<Value> {
        let size = get(cx, this)?.size;
        with_bytes_mut(cx, this, 0, size, |b| b.iter_mut().for_each(|b| *b = !*b))?;
        Ok(this)
    }

    /// Reads from a stream's descriptor: `length` bytes (0: what comes first), by default what fits. The number of bytes, or a negative errno.
    ///
    ///     File.open("/dev/zero") { |f| IO::Buffer.new(4).read(f, 3) }   #=> 3
    #[method("read")]
    fn read(cx: &mut Cx, this: Value, io: Value, length: Option<Value>, offset: Option<Value>) -> Result<i64> {
        let extent = extent(cx, this, length, offset)?;
        let io = io_of(cx, io)?;
        read_in(cx, this, io, None, extent)
    }

    /// As `read`, from a position of the file.
    ///
    ///     File.open("/proc/self/exe") { |f| b = IO::Buffer.new(3); b.pread(f, 1, 3); b.get_string }   #=> "ELF"
    #[method("pread")]
    fn pread(cx: &mut Cx, this: Value, io: Value, from: i64, length: Option<Value>, offset: Option<Value>) -> Result<i64> {
        let extent = extent(cx, this, length, offset)?;
        if from < 0 {
            return cx.arg_error("Offset can't be negative!");
        }
        let io = io_of(cx, io)?;
        read_in(cx, this, io, Some(from), extent)
    }

    /// Writes to a stream's descriptor; the number of bytes, or a negative errno.
    ///
    ///     File.open("/dev/null", "w") { |f| IO::Buffer.for("abc").write(f) }   #=> 3
    #[method("write")]
    fn write(cx: &mut Cx, this: Value, io: Value, length: Option<Value>, offset: Option<Value>) -> Result<i64> {
        let extent = extent(cx, this, length, offset)?;
        let io = io_of(cx, io)?;
        object::flush(cx, io)?;
        write_out(cx, this, io, None, extent)
    }

    /// As `write`, to a position of the file.
    ///
    ///     File.open("/dev/null", "w") { |f| IO::Buffer.for("abc").pwrite(f, 0, 2) }   #=> 2
    #[method("pwrite")]
    fn pwrite(cx: &mut Cx, this: Value, io: Value, from: i64, length: Option<Value>, offset: Option<Value>) -> Result<i64> {
        let extent = extent(cx, this, length, offset)?;
        if from < 0 {
            return cx.arg_error("Offset can't be negative!");
        }
        let io = io_of(cx, io)?;
        object::flush(cx, io)?;
        write_out(cx, this, io, Some(from), extent)
    }
}
