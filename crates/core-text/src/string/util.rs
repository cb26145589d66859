//! What all String methods stand on: encoding and code range of a String, characters against bytes, compatibility, growing.
//!
//! Invariants: a code range is scanned once and cached in the cell; text that is ASCII only, or in a single-byte encoding, is
//! indexed without a scan. Rejected: caching the length in characters (no room in the cell, and `length` is rarely asked twice).

use zakuro_base::progress::{Pace, Progress, Stopped, to_the_end};
use zakuro_text::encoding::{CodeRange as TextRange, Encoding, utf8};
use zakuro_vm::string::CodeRange;
use zakuro_vm::*;

pub type Str = Ref<StringCell>;

/// The encoding of a String.
#[inline(always)]
pub fn enc(s: Str) -> Encoding {
    Encoding::from_id(s.encoding()).unwrap_or(Encoding::BINARY)
}

/// Code range, scanned when not known yet. An ASCII range is only given in ASCII-compatible encodings.
#[inline]
pub fn range(heap: &Heap, s: Str) -> CodeRange {
    match s.code_range() {
        CodeRange::Unknown => scan(heap, s),
        r => r,
    }
}

#[inline(never)]
fn scan(heap: &Heap, s: Str) -> CodeRange {
    let r = range_of(s.content(heap), enc(s));
    // Cells of the boot image are read by all VMs at once: never written.
    if s.as_value().flags() & flags::SHARED == 0 {
        s.set_code_range(r);
    }
    r
}

/// Code range of bytes.
pub fn range_of(b: &[u8], e: Encoding) -> CodeRange {
    match e.code_range(b) {
        TextRange::SevenBit => CodeRange::Ascii,
        TextRange::Valid => CodeRange::Valid,
        TextRange::Broken => CodeRange::Broken,
    }
}

#[inline]
pub fn is_ascii(heap: &Heap, s: Str) -> bool {
    range(heap, s) == CodeRange::Ascii
}

/// One byte per character, so that indexes are byte offsets?
#[inline]
pub fn is_single(heap: &Heap, s: Str) -> bool {
    range(heap, s) == CodeRange::Ascii || s.encoding() != string::UTF8 && enc(s).is_single_byte()
}

/// Number of characters.
pub fn length(heap: &Heap, s: Str) -> usize {
    if is_single(heap, s) {
        return s.len();
    }
    if s.encoding() == string::UTF8 && range(heap, s) == CodeRange::Valid {
        return lead_bytes(s.content(heap));
    }
    enc(s).char_count(s.content(heap))
}

/// Characters of valid UTF-8: bytes that are no continuation.
pub fn lead_bytes(b: &[u8]) -> usize {
    // Sums of blocks fit a byte, so that 16 and more of them are counted at once.
    b.chunks(LEAD_BLOCK).map(|block| block.iter().fold(0u8, |n, &b| n + ((b as i8) >= -0x40) as u8) as usize).sum()
}
const LEAD_BLOCK: usize = 128;

/// Byte offset of character `n` (the length in bytes when `n` is the number of characters); None beyond.
pub fn offset(heap: &Heap, s: Str, n: usize) -> Option<usize> {
    if is_single(heap, s) {
        return (n <= s.len()).then_some(n);
    }
    if s.encoding() == string::UTF8 && range(heap, s) == CodeRange::Valid {
        return valid_offset(s.content(heap), n);
    }
    enc(s).byte_offset(s.content(heap), n)
}

/// Byte offset `n` characters after byte `from`, the end at most.
pub fn advance(heap: &Heap, s: Str, from: usize, n: usize) -> usize {
    let b = s.content(heap);
    if is_single(heap, s) {
        return from.saturating_add(n).min(b.len());
    }
    let from = from.min(b.len());
    let rest = &b[from..];
    let found = if n >= rest.len() {
        None
    } else if s.encoding() == string::UTF8 && range(heap, s) == CodeRange::Valid {
        valid_offset(rest, n)
    } else {
        enc(s).byte_offset(rest, n)
    };
    found.map_or(b.len(), |k| from + k)
}

/// Byte offset of the character `n` (> 0) before the end; None when there are fewer.
pub fn offset_from_end(heap: &Heap, s: Str, n: usize) -> Option<usize> {
    if is_single(heap, s) {
        return s.len().checked_sub(n);
    }
    if s.encoding() == string::UTF8 && n < 64 {
        let mut at = s.len();
        for _ in 0..n {
            if at == 0 {
                return None;
            }
            at = utf8::prev_char(s.content(heap), at);
        }
        return Some(at);
    }
    offset(heap, s, length(heap, s).checked_sub(n)?)
}

/// `offset` in valid UTF-8: whole words first, then lead bytes.
fn valid_offset(b: &[u8], n: usize) -> Option<usize> {
    let (mut at, mut left) = (0, n);
    while left >= LEAD_BLOCK && at + LEAD_BLOCK <= b.len() {
        left -= lead_bytes(&b[at..at + LEAD_BLOCK]);
        at += LEAD_BLOCK;
    }
    // A word holds 8 bytes minus its continuation bytes (10xxxxxx) of characters that begin in it.
    while left >= 8 && at + 8 <= b.len() {
        let w = u64::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3], b[at + 4], b[at + 5], b[at + 6], b[at + 7]]);
        let cont = (w >> 7) & !(w >> 6) & 0x0101_0101_0101_0101;
        left -= 8 - cont.count_ones() as usize;
        at += 8;
    }
    while at < b.len() && b[at] & 0xc0 == 0x80 {
        at += 1;
    }
    while left > 0 {
        let lead = *b.get(at)?;
        at += match lead {
            0..=0x7f => 1,
            0x80..=0xdf => 2,
            0xe0..=0xef => 3,
            _ => 4,
        };
        left -= 1;
    }
    Some(at)
}

/// Index of the character that starts at byte `at`, the number of characters when that lies behind the end.
pub fn char_index(heap: &Heap, s: Str, at: usize) -> usize {
    if is_single(heap, s) {
        return at;
    }
    if s.encoding() == string::UTF8 && range(heap, s) == CodeRange::Valid {
        return lead_bytes(&s.content(heap)[..at.min(s.len())]);
    }
    enc(s).char_count(&s.content(heap)[..at.min(s.len())])
}

/// Is byte `at` the start of a character, or the end?
pub fn is_boundary(heap: &Heap, s: Str, at: usize) -> bool {
    let b = s.content(heap);
    if at == 0 || at >= b.len() || is_single(heap, s) {
        return at <= b.len();
    }
    if enc(s) == Encoding::UTF_8 {
        return utf8::is_boundary(b, at);
    }
    enc(s).char_start(b, at) == at
}

/// Bytes of the character at byte `at`; 1 behind the end.
pub fn char_len_at(heap: &Heap, s: Str, at: usize) -> usize {
    let Some(b @ [first, ..]) = s.content(heap).get(at..) else { return 1 };
    if *first < 0x80 && s.encoding() <= string::US_ASCII || is_single(heap, s) {
        return 1;
    }
    enc(s).char_len(b).unwrap_or_else(|n| n).clamp(1, b.len())
}

/// Start of the character before byte `at` (> 0).
pub fn prev_char(heap: &Heap, s: Str, at: usize) -> usize {
    if is_single(heap, s) {
        return at - 1;
    }
    if enc(s) == Encoding::UTF_8 {
        return utf8::prev_char(s.content(heap), at);
    }
    enc(s).char_start(s.content(heap), at - 1)
}

/// New String of bytes start..end.
#[inline]
pub fn sub(cx: &Cx, s: Str, start: usize, end: usize) -> Value {
    let r = StringCell::substring(&cx.heap, ids::STRING.0, s, start, end);
    if end - start == 1 && r.code_range() == CodeRange::Unknown && r.byte(0).is_some_and(|b| b < 0x80) && enc(r).is_ascii_compatible() {
        r.set_code_range(CodeRange::Ascii);
    }
    r.as_value()
}

/// New String (class String) of bytes in the encoding of `like`.
#[inline]
pub fn make(cx: &Cx, bytes: &[u8], like: Str) -> Value {
    StringCell::plain(&cx.heap, bytes, like.encoding()).as_value()
}

/// The same content as a String of class String: shares the buffer.
pub fn copy(cx: &Cx, s: Str) -> Value {
    StringCell::substring(&cx.heap, ids::STRING.0, s, 0, s.len()).as_value()
}

/// Name of an encoding as messages show it.
pub fn shown_name(e: Encoding) -> &'static str {
    if e == Encoding::BINARY { "BINARY (ASCII-8BIT)" } else { e.name() }
}

/// Encoding that both Strings can be seen in; None when they don't go together.
#[inline]
pub fn compatible(heap: &Heap, a: Str, b: Str) -> Option<Encoding> {
    if a.encoding() == b.encoding() { Some(enc(a)) } else { compatible_slow(heap, a, b) }
}

#[inline(never)]
fn compatible_slow(heap: &Heap, a: Str, b: Str) -> Option<Encoding> {
    let (ea, eb) = (enc(a), enc(b));
    if b.len() == 0 {
        return Some(ea);
    }
    if a.len() == 0 {
        return Some(if ea.is_ascii_compatible() && is_ascii(heap, b) { ea } else { eb });
    }
    if !ea.is_ascii_compatible() || !eb.is_ascii_compatible() {
        return None;
    }
    if is_ascii(heap, b) {
        Some(ea)
    } else if is_ascii(heap, a) {
        Some(eb)
    } else {
        None
    }
}

/// `compatible`, or Encoding::CompatibilityError.
#[inline]
pub fn check_compatible(cx: &mut Cx, a: Str, b: Str) -> Result<Encoding> {
    match compatible(&cx.heap, a, b) {
        Some(e) => Ok(e),
        None => {
            let (a, b) = (shown_name(enc(a)), shown_name(enc(b)));
            cx.raise(ids::COMPAT_ERROR, format!("incompatible character encodings: {a} and {b}"))
        }
    }
}

/// What an `inspect` gave, for a text in the default encoding: escaped when it is of another one and not ASCII.
pub fn inspected(cx: &mut Cx, s: Str) -> Str {
    let to = crate::encoding::shown_in(cx);
    let own = enc(s);
    if own == to || is_ascii(&cx.heap, s) && own.is_ascii_compatible() {
        return s;
    }
    let text = zakuro_text::encoding::inspect::escape(s.content(&cx.heap), own);
    Ref::of(cx.str(&text))
}

/// Hook: the error of joining two Strings that do not fit.
pub fn incompatible(cx: &mut Cx, a: Value, b: Value) -> Result<()> {
    let shown = |v: Value| Ref::<StringCell>::from_value(v).map_or("?".into(), |s| shown_name(enc(s)).to_string());
    let message = format!("incompatible character encodings: {} and {}", shown(a), shown(b));
    cx.raise(ids::COMPAT_ERROR, message)
}

/// Appends a String; the receiver takes over the encoding when it must. The caller has checked frozen.
pub fn append(cx: &mut Cx, this: Str, other: Str) -> Result<()> {
    let e = check_compatible(cx, this, other)?;
    let joined = joined_range(&cx.heap, this, other);
    if e.id() != this.encoding() {
        this.set_encoding(e.id());
    }
    if StringCell::try_append_string(this, &mut cx.heap, other).is_err() {
        return too_big(cx);
    }
    if let Some(r) = joined {
        this.set_code_range(r);
    }
    Ok(())
}

/// Code range of a concatenation when it is known cheaply: the receiver is never scanned for it (that would make `<<` quadratic).
fn joined_range(heap: &Heap, this: Str, other: Str) -> Option<CodeRange> {
    let mine = match this.code_range() {
        CodeRange::Unknown if this.len() == 0 => CodeRange::Ascii,
        r => r,
    };
    if !matches!(mine, CodeRange::Ascii | CodeRange::Valid) {
        return None;
    }
    match range(heap, other) {
        CodeRange::Ascii => Some(mine),
        CodeRange::Valid => Some(CodeRange::Valid),
        _ => None,
    }
}

/// CRuby says this for sizes that can't be; over the VM's memory limit it is NoMemoryError.
pub fn too_big<T>(cx: &mut Cx) -> Result<T> {
    if cx.heap.room() != usize::MAX {
        return cx.out_of_memory();
    }
    cx.arg_error("argument too big")
}

/// Replaces content and encoding by those of others. The caller has checked frozen.
pub fn set(cx: &mut Cx, this: Str, bytes: &[u8], encoding: u8) {
    StringCell::set_bytes(this, &mut cx.heap, bytes);
    if this.encoding() != encoding {
        this.set_encoding(encoding);
    }
}

/// Replaces content and encoding by those of another String. The caller has checked frozen.
pub fn set_from(cx: &mut Cx, this: Str, from: Str) {
    StringCell::set_string(this, &mut cx.heap, from);
    if this.encoding() != from.encoding() {
        this.set_encoding(from.encoding());
    }
}

/// Makes `this` what the fresh String `from` is. For `method!` in terms of `method`; true says that something changed.
pub fn become_str(cx: &mut Cx, this: Str, from: Str) -> bool {
    if this.same_bytes(&from) && this.encoding() == from.encoding() {
        return false;
    }
    set_from(cx, this, from);
    true
}

/// Position of a negative index counted from the end of `len`; None before the start.
pub fn from_end(i: i64, len: usize) -> Option<usize> {
    let i = if i < 0 { i.checked_add(len as i64)? } else { i };
    usize::try_from(i).ok()
}

/// First position of `needle` at a character boundary at or after byte `from`, which is one.
pub fn find(cx: &mut Cx, s: Str, needle: Str, from: usize) -> Result<Option<usize>> {
    if is_told_by_itself(&cx.heap, s) {
        return Ok(find_by_bytes(&cx.heap, s, needle.content(&cx.heap), from));
    }
    Ok(find_between(&Held::of(s), enc(s), &Held::of(needle), from, cx)?)
}

/// The same for who can't be interrupted.
pub fn find_at_once(heap: &Heap, s: Str, needle: &[u8], from: usize) -> Option<usize> {
    if is_told_by_itself(heap, s) {
        return find_by_bytes(heap, s, needle, from);
    }
    to_the_end(|p| find_between(s.content(heap), enc(s), needle, from, p))
}

/// Whether it can be told from a few bytes that a character begins there.
fn is_told_by_itself(heap: &Heap, s: Str) -> bool {
    s.encoding() == string::UTF8 || is_single(heap, s)
}

fn find_by_bytes(heap: &Heap, s: Str, needle: &[u8], from: usize) -> Option<usize> {
    let hay = s.content(heap);
    let mut at = from;
    loop {
        let rest = hay.get(at..)?;
        // Where it may begin first: a search is prepared only if it does not stand there.
        at += match needle.first() {
            Some(b) => {
                let begin = memchr::memchr(*b, rest)?;
                if rest[begin..].starts_with(needle) { begin } else { begin + memchr::memmem::find(&rest[begin..], needle)? }
            }
            None => 0,
        };
        // In UTF-8, what begins with no continuation byte begins at a boundary.
        if needle.first().is_none_or(|b| b & 0xc0 != 0x80) && s.encoding() == string::UTF8 || is_boundary(heap, s, at) {
            return Some(at);
        }
        at += 1;
    }
}

fn find_between(hay: &[u8], e: Encoding, needle: &[u8], from: usize, p: &mut dyn Progress) -> std::result::Result<Option<usize>, Stopped> {
    let Some(at) = hay.get(from..).and_then(|rest| memchr::memmem::find(rest, needle)).map(|at| from + at) else { return Ok(None) };
    let boundary = boundary_from(hay, e, from, at, p)?;
    if boundary == at { Ok(Some(at)) } else { aligned(hay, e, needle, boundary, hay.len(), true, p) }
}

/// The first boundary at or behind `at`, seen from one that is known.
fn boundary_from(hay: &[u8], e: Encoding, mut known: usize, at: usize, p: &mut dyn Progress) -> std::result::Result<usize, Stopped> {
    let mut pace = Pace::new();
    while known < at {
        let rest = &hay[known..];
        known += e.char_len(rest).unwrap_or_else(|n| n).clamp(1, rest.len());
        pace.at(known, p)?;
    }
    Ok(known)
}

/// First or last position of `needle` at a character boundary from the boundary `from` on and before `end`. However many places between characters look the same, each byte is looked at a few times
/// (Knuth, Morris, Pratt: "Fast pattern matching in strings", SIAM J. Comput. 1977).
fn aligned(
    hay: &[u8],
    e: Encoding,
    needle: &[u8],
    from: usize,
    end: usize,
    first: bool,
    p: &mut dyn Progress,
) -> std::result::Result<Option<usize>, Stopped> {
    if needle.is_empty() {
        return Ok(Some(if first { from } else { e.char_start(hay, end) }));
    }
    let mut pace = Pace::new();
    // By length of what matches: how much of its end is a beginning, too.
    let mut borders = vec![0; needle.len()];
    let longer = |borders: &[usize], mut k: usize, byte: u8| {
        while k > 0 && (k == needle.len() || needle[k] != byte) {
            k = borders[k - 1];
        }
        k + usize::from(needle[k] == byte)
    };
    for i in 1..needle.len() {
        borders[i] = longer(&borders, borders[i - 1], needle[i]);
        pace.at(i, p)?;
    }
    let (mut matching, mut boundary, mut found) = (0, from, None);
    let mut pace = Pace::new();
    for (i, byte) in hay.iter().enumerate().skip(from) {
        pace.at(i, p)?;
        matching = longer(&borders, matching, *byte);
        if matching < needle.len() {
            continue;
        }
        let at = i + 1 - needle.len();
        if at >= end {
            break;
        }
        boundary = boundary_from(hay, e, boundary, at, p)?;
        if boundary == at {
            found = Some(at);
            if first {
                break;
            }
        }
    }
    Ok(found)
}

/// As [`find`]; broken text is found nowhere.
pub fn find_text(cx: &mut Cx, s: Str, needle: Str, from: usize) -> Result<Option<usize>> {
    if range(&cx.heap, needle) == CodeRange::Broken { Ok(None) } else { find(cx, s, needle, from) }
}

/// As [`rfind`]; broken text is found nowhere.
pub fn rfind_text(cx: &mut Cx, s: Str, needle: Str, from: usize) -> Result<Option<usize>> {
    if range(&cx.heap, needle) == CodeRange::Broken { Ok(None) } else { rfind(cx, s, needle, from) }
}

/// ArgumentError for text that is broken.
pub fn check_valid(cx: &mut Cx, s: Str) -> Result<()> {
    if range(&cx.heap, s) == CodeRange::Broken {
        return cx.arg_error(format!("invalid byte sequence in {}", enc(s).name()));
    }
    Ok(())
}

/// What has to know characters refuses text of an encoding that is a name only.
pub fn check_known(cx: &mut Cx, s: Str) -> Result<()> {
    if enc(s).is_dummy() {
        return cx.raise(ids::COMPAT_ERROR, format!("incompatible encoding with this operation: {}", enc(s).name()));
    }
    Ok(())
}

/// Whether the encoding of this number does not begin with ASCII, as UTF-16 does not.
pub fn is_wide(encoding: u8) -> bool {
    Encoding::from_id(encoding).is_some_and(|e| !e.is_ascii_compatible())
}

/// Last position of `needle` at a character boundary at or before byte `from`.
pub fn rfind(cx: &mut Cx, s: Str, needle: Str, from: usize) -> Result<Option<usize>> {
    let mut end = from.saturating_add(needle.len()).min(s.len());
    if is_told_by_itself(&cx.heap, s) {
        let (hay, needle) = (s.content(&cx.heap), needle.content(&cx.heap));
        while let Some(at) = memchr::memmem::rfind(&hay[..end], needle) {
            if is_boundary(&cx.heap, s, at) {
                return Ok(Some(at));
            }
            match (at + needle.len()).checked_sub(1) {
                Some(before) => end = before,
                None => break,
            }
        }
        return Ok(None);
    }
    let (hay, needle) = (Held::of(s), Held::of(needle));
    let Some(at) = memchr::memmem::rfind(&hay[..end], &needle) else { return Ok(None) };
    let boundary = boundary_from(&hay, enc(s), 0, at, cx)?;
    if boundary == at { Ok(Some(at)) } else { Ok(aligned(&hay, enc(s), &needle, 0, at, false, cx)?) }
}

/// Start and number of a Range argument in a sequence of `len` elements; None when it begins outside. `len` is only asked
/// for when an end is negative.
pub fn range_window(cx: &mut Cx, r: Ref<RangeCell>, len: impl Fn(&Cx) -> usize) -> Result<Option<(usize, usize)>> {
    let (low, high, exclusive) = (r.low(), r.high(), r.exclusive());
    let mut from = if low.is_nil() { 0 } else { cx.to_i64(low)? };
    let mut to = if high.is_nil() { i64::MAX } else { cx.to_i64(high)? };
    if from < 0 || to < 0 {
        let n = len(cx) as i64;
        if from < 0 {
            from += n;
        }
        if to < 0 {
            to += n;
        }
    }
    if from < 0 {
        return Ok(None);
    }
    if !exclusive && !high.is_nil() {
        to = to.saturating_add(1);
    }
    Ok(Some((from as usize, (to - from).max(0) as usize)))
}

/// Bytes of `n` characters from character `start`; None when it begins outside.
pub fn window(heap: &Heap, s: Str, start: i64, n: usize) -> Option<(usize, usize)> {
    let from = if start < 0 { offset_from_end(heap, s, start.unsigned_abs() as usize)? } else { offset(heap, s, start as usize)? };
    Some((from, advance(heap, s, from, n)))
}

/// The same in bytes.
pub fn byte_window(len: usize, start: i64, n: usize) -> Option<(usize, usize)> {
    let from = from_end(start, len).filter(|f| *f <= len)?;
    Some((from, from.saturating_add(n).min(len)))
}

/// Enumerator over `this.name(*args)`; `size` computes its size.
pub fn enumerator(
    cx: &mut Cx,
    this: Value,
    name: &str,
    args: &[Value],
    size: Option<fn(&mut Cx, Value, Args) -> Result<Value>>,
) -> Result<Value> {
    let all = ArgList::new(cx, &[&[Value::sym(Sym::intern(name))], args]);
    let block = match size {
        Some(f) => Block::from_value(cx.native_proc(f, this, true)),
        None => Block::NONE,
    };
    cx.call_block(this, sym::to_enum, &all, block)
}

/// `$/` when a program has set it, else UNDEF.
pub fn default_separator(cx: &mut Cx) -> Result<Value> {
    let v = cx.global_get(sym::input_rs)?;
    let usual = Ref::<StringCell>::from_value(v).is_some_and(|s| s.equals(b"\n"));
    Ok(if usual { Value::UNDEF } else { v })
}

/// Integer object of a number that the text algorithms read.
pub fn int_value(cx: &mut Cx, i: zakuro_text::int::Int) -> Value {
    match i {
        zakuro_text::int::Int::Small(i) => cx.int(i),
        zakuro_text::int::Int::Big(b) => cx.big(b),
    }
}

/// The reverse; None for what is no Integer.
pub fn int_of(cx: &Cx, v: Value) -> Option<zakuro_text::int::Int> {
    Some(match cx.as_int(v)? {
        convert::Int::Small(i) => zakuro_text::int::Int::Small(i),
        convert::Int::Big(b) => zakuro_text::int::Int::Big(b),
    })
}
