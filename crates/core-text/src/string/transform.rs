//! String: padding, stripping, chopping, reversing, and character sets (`tr`, `delete`, `squeeze`, `count`).

use super::util::*;
use zakuro_base::progress::{STRIDE, step};
use zakuro_macros::ruby_class;
use zakuro_text::tr::{CharSet, Refused, Unit, tr as transliterate};
use zakuro_text::tr_short::{self, AsciiSet};
use zakuro_vm::string::CodeRange;
use zakuro_vm::*;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Both,
}

/// `ljust`, `rjust`, `center`: `side` is where the text stands.
fn justify(cx: &mut Cx, this: Str, width: i64, pad: Option<Str>, side: Side) -> Result<Value> {
    let (pad, e) = match pad {
        Some(p) => (tr_short::Short::from_slice(p.content(&cx.heap)), check_compatible(cx, this, p)?),
        None => (tr_short::Short::from_slice(b" "), enc(this)),
    };
    if pad.is_empty() {
        return cx.arg_error("zero width padding");
    }
    let len = length(&cx.heap, this);
    let missing = match usize::try_from(width) {
        Ok(w) if w > len => w - len,
        _ => return Ok(copy(cx, this)),
    };
    let (left, right) = match side {
        Side::Left => (0, missing),
        Side::Right => (missing, 0),
        Side::Both => (missing / 2, missing - missing / 2),
    };
    if let [byte] = pad[..]
        && e.is_ascii_compatible()
        && missing + this.len() <= tr_short::SHORT
    {
        let mut out = tr_short::Short::new();
        out.resize(left, byte);
        out.extend_from_slice(this.content(&cx.heap));
        out.resize(out.len() + right, byte);
        let r = cx.str_bytes(&out, e.id());
        if byte < 0x80 && is_ascii(&cx.heap, this) {
            Ref::<StringCell>::of(r).set_code_range(CodeRange::Ascii);
        }
        return Ok(r);
    }
    let chars: Vec<&[u8]> = e.chars(&pad).collect();
    let Some(total) = missing.checked_mul(pad.len()).and_then(|n| n.checked_add(this.len())).filter(|t| *t < 1 << 40) else {
        return too_big(cx);
    };
    let mut out = Vec::new();
    if !zakuro_base::memory::has_room(&mut out, total / chars.len().max(1) + this.len()) {
        return too_big(cx);
    }
    let fill = |cx: &mut Cx, out: &mut Vec<u8>, n: usize| -> Result<()> {
        match *pad {
            [byte] => out.resize(out.len() + n, byte),
            _ => {
                for at in 0..n / chars.len() {
                    step(at, cx)?;
                    out.extend_from_slice(&pad);
                }
            }
        }
        chars[..n % chars.len()].iter().for_each(|c| out.extend_from_slice(c));
        Ok(())
    };
    fill(cx, &mut out, left)?;
    out.extend_from_slice(this.content(&cx.heap));
    fill(cx, &mut out, right)?;
    let r = cx.str_bytes(&out, e.id());
    if is_ascii(&cx.heap, this) && pad.is_ascii() && e.is_ascii_compatible() {
        Ref::<StringCell>::of(r).set_code_range(CodeRange::Ascii);
    }
    Ok(r)
}

fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t'..=b'\r' | 0)
}

/// Byte range without the characters of all sets at the ends; without sets, without white space and NULs.
fn stripped(cx: &mut Cx, s: Str, side: Side, sets: Rest) -> Result<(usize, usize)> {
    if !sets.is_empty() {
        if side == Side::Right {
            check_whole(cx, s)?;
        }
        return stripped_of(cx, s, side, sets);
    }
    if side != Side::Left {
        check_known(cx, s)?;
    }
    let b = s.content(&cx.heap);
    let (mut from, mut to) = (0, b.len());
    if !enc(s).is_ascii_compatible() {
        let e = enc(s);
        let chars: Vec<&[u8]> = e.chars(b).collect();
        let space = |c: &&[u8]| e.ord(c).is_some_and(|c| c < 0x80 && is_space(c as u8));
        if side != Side::Right {
            from = chars.iter().take_while(|c| space(c)).map(|c| c.len()).sum();
        }
        if side != Side::Left && from < to {
            to -= chars.iter().rev().take_while(|c| space(c)).map(|c| c.len()).sum::<usize>();
        }
        return Ok((from, to));
    }
    if side != Side::Right {
        while from < to && is_space(b[from]) {
            from += 1;
        }
        if from < to && b[from] >= 0x80 && range(&cx.heap, s) == CodeRange::Broken && enc(s).char_len(&b[from..]).is_err() {
            return cx.arg_error(format!("invalid byte sequence in {}", enc(s).name()));
        }
    }
    if side != Side::Left {
        while to > from && is_space(b[to - 1]) {
            to -= 1;
        }
        check_whole(cx, s)?;
    }
    Ok((from, to))
}

/// What comes at the end of text with a broken character anywhere is not known.
fn check_whole(cx: &mut Cx, s: Str) -> Result<()> {
    if range(&cx.heap, s) == CodeRange::Broken {
        return cx.raise(ids::COMPAT_ERROR, format!("invalid byte sequence in {}", enc(s).name()));
    }
    Ok(())
}

fn stripped_of(cx: &mut Cx, s: Str, side: Side, sets: Rest) -> Result<(usize, usize)> {
    let set = char_set(cx, s, sets)?;
    let (e, held) = (enc(s), Held::of(s));
    let (mut from, mut to) = (0, held.len());
    let inside = |cx: &mut Cx, c: &[u8]| -> Result<bool> { Ok(set.delete(c, cx)?.is_empty()) };
    if side != Side::Right {
        for (at, c) in e.chars(&held).enumerate() {
            step(at, cx)?;
            if !inside(cx, c)? {
                break;
            }
            from += c.len();
        }
    }
    if side != Side::Left {
        let mut passed = 0;
        while to > from {
            step(passed, cx)?;
            passed += 1;
            let begin = prev_char(&cx.heap, s, to).max(from);
            if !inside(cx, &held[begin..to])? {
                break;
            }
            to = begin;
        }
    }
    Ok((from, to))
}

/// Length in bytes without the line end that `chomp(separator)` removes; `separator` UNDEF: the usual line ends.
pub fn chomped(cx: &mut Cx, s: Str, separator: Value) -> Result<usize> {
    let separator = if separator.is_undef() { default_separator(cx)? } else { separator };
    let sep = if separator.is_undef() || separator.is_nil() { None } else { Some(cx.to_str(separator)?) };
    let n = s.len();
    if separator.is_nil() || n == 0 {
        return Ok(n);
    }
    // A line feed of any encoding stands for all kinds of line ends.
    let sep = sep.filter(|s| !s.equals(b"\n") && (enc(*s).is_ascii_compatible() || enc(*s).ord(s.content(&cx.heap)) != Some(0x0a)));
    if let Some(sep) = sep.filter(|s| s.len() > 0) {
        check_compatible(cx, s, sep)?;
        if range(&cx.heap, sep) == CodeRange::Broken {
            return Ok(n);
        }
    }
    let b = s.content(&cx.heap);
    let Some(sep) = sep else {
        if !enc(s).is_ascii_compatible() {
            return Ok(n - wide_line_end(&cx.heap, s, n));
        }
        return Ok(if b.ends_with(b"\r\n") {
            n - 2
        } else if b.ends_with(b"\n") || b.ends_with(b"\r") {
            n - 1
        } else {
            n
        });
    };
    if sep.len() == 0 {
        // Paragraph mode: all newlines.
        let mut n = n;
        if !enc(s).is_ascii_compatible() {
            loop {
                let line = wide_line_end(&cx.heap, s, n);
                if line == 0 || !is_wide_feed(&cx.heap, s, n) {
                    return Ok(n);
                }
                n -= line;
            }
        }
        while b[..n].ends_with(b"\n") {
            n -= if b[..n].ends_with(b"\r\n") { 2 } else { 1 };
        }
        return Ok(n);
    }
    Ok(if b.ends_with(sep.content(&cx.heap)) && is_boundary(&cx.heap, s, n - sep.len()) { n - sep.len() } else { n })
}

/// The last character before a place in text in UTF-16 or UTF-32, and where it begins.
fn wide_last(heap: &Heap, s: Str, end: usize) -> (usize, Option<u32>) {
    if end == 0 {
        return (0, None);
    }
    let start = prev_char(heap, s, end);
    let c = &s.content(heap)[start..end];
    (start, if enc(s).char_len(c) == Ok(c.len()) { enc(s).ord(c) } else { None })
}

fn is_wide_feed(heap: &Heap, s: Str, end: usize) -> bool {
    wide_last(heap, s, end).1 == Some(0x0a)
}

/// Bytes of the line end before a place in text in UTF-16 or UTF-32.
fn wide_line_end(heap: &Heap, s: Str, n: usize) -> usize {
    let last = |end: usize| wide_last(heap, s, end);
    match last(n) {
        (at, Some(0x0a)) if at > 0 => match last(at) {
            (before, Some(0x0d)) => n - before,
            _ => n - at,
        },
        (at, Some(0x0a | 0x0d)) => n - at,
        _ => 0,
    }
}

/// Length without the last character, or without "\r\n".
fn chopped(heap: &Heap, s: Str) -> usize {
    match s.len() {
        0 => 0,
        n if !enc(s).is_ascii_compatible() => prev_char(heap, s, n).min(n - wide_line_end(heap, s, n)),
        n if s.content(heap).ends_with(b"\r\n") => n - 2,
        n => prev_char(heap, s, n),
    }
}

/// Characters in reverse order.
fn reversed(cx: &mut Cx, s: Str) -> Result<Vec<u8>> {
    let (single, e, b) = (is_single(&cx.heap, s), enc(s), Held::of(s));
    let mut out = vec![0; b.len()];
    let mut end = b.len();
    if single {
        for part in b.chunks(STRIDE) {
            if end < b.len() {
                cx.safepoint()?;
            }
            out[end - part.len()..end].iter_mut().zip(part.iter().rev()).for_each(|(to, c)| *to = *c);
            end -= part.len();
        }
        return Ok(out);
    }
    for (at, c) in e.chars(&b).enumerate() {
        step(at, cx)?;
        out[end - c.len()..end].copy_from_slice(c);
        end -= c.len();
    }
    Ok(out)
}

/// What counts as a character where these texts meet, which `check_compatible` has allowed: a byte, while all of them are ASCII or single-byte text.
fn unit(heap: &Heap, texts: &[Str]) -> Unit {
    match texts.iter().find(|s| !is_single(heap, **s)) {
        None => Unit::Byte,
        Some(s) if s.encoding() == string::UTF8 => Unit::Utf8,
        Some(s) => Unit::Of(enc(*s)),
    }
}

fn refused<T>(cx: &mut Cx, why: Refused) -> Result<T> {
    match why {
        Refused::Range(e) => cx.arg_error(e.0),
        Refused::Stopped(stopped) => Err(stopped.into()),
    }
}

/// Whether it is a short text of ASCII.
fn is_short(heap: &Heap, s: Str) -> bool {
    s.len() <= tr_short::SHORT && is_ascii(heap, s) && enc(s).is_ascii_compatible()
}

/// The intersection of sets of ASCII, for a short text. None: it takes what is for all texts.
fn short_set(heap: &Heap, this: Str, sets: &[Value]) -> Option<AsciiSet> {
    if !is_short(heap, this) {
        return None;
    }
    sets.iter().try_fold(AsciiSet::ALL, |all, set| {
        let set = Ref::<StringCell>::from_value(*set).filter(|s| is_short(heap, *s))?;
        all.and(set.content(heap))
    })
}

/// The intersection of the sets, for text of `this`.
fn char_set(cx: &mut Cx, this: Str, sets: &[Value]) -> Result<CharSet> {
    if sets.is_empty() {
        return cx.arg_error("wrong number of arguments (given 0, expected 1+)");
    }
    check_valid(cx, this)?;
    char_set_for(cx, this, sets)
}

/// The same for text that may be broken.
fn char_set_for(cx: &mut Cx, this: Str, sets: &[Value]) -> Result<CharSet> {
    let mut specs = Vec::with_capacity(sets.len());
    let mut of = unit(&cx.heap, &[this]);
    for s in sets {
        let s = cx.to_str(*s)?;
        check_compatible(cx, this, s)?;
        check_valid(cx, s)?;
        if of == Unit::Byte {
            of = unit(&cx.heap, &[s]);
        }
        specs.push(Held::of(s));
    }
    let specs: Vec<&[u8]> = specs.iter().map(|s| &s[..]).collect();
    CharSet::new(&specs, of, cx).or_else(|e| refused(cx, e))
}

/// None when there is no character to replace.
fn transliterated(cx: &mut Cx, this: Str, from: Str, to: Str, squeeze: bool) -> Result<Option<Value>> {
    if this.len() == 0 {
        return Ok(None);
    }
    let searched = check_compatible(cx, this, from)?;
    let (mut e, with) = (searched, check_compatible(cx, this, to)?);
    if e != with {
        e = check_compatible(cx, from, to)?;
    }
    // Nothing is replaced, whatever by.
    if from.len() == 0 && to.len() > 0 {
        if !enc(this).is_single_byte() {
            check_valid(cx, this)?;
        }
        return Ok(None);
    }
    // `tr_s` gives its result the encoding of what it would put in, even when there is nothing to replace.
    let unchanged = |cx: &mut Cx| (squeeze && e != searched).then(|| cx.str_bytes(this.content(&cx.heap), e.id()));
    for s in [from, to, this] {
        if squeeze && s == this || !enc(s).is_single_byte() {
            check_valid(cx, s)?;
        }
    }
    if [this, from, to].iter().all(|s| is_short(&cx.heap, *s))
        && let Some(b) = tr_short::tr(this.content(&cx.heap), from.content(&cx.heap), to.content(&cx.heap), squeeze)
    {
        return Ok(b.map(|b| cx.str_bytes(&b, e.id())).or_else(|| unchanged(cx)));
    }
    let of = unit(&cx.heap, &[this, from, to]);
    match transliterate(&Held::of(this), &Held::of(from), &Held::of(to), squeeze, of, cx) {
        Ok(b) => Ok(b.map(|b| cx.str_bytes(&b, e.id())).or_else(|| unchanged(cx))),
        Err(e) => refused(cx, e),
    }
}

/// `tr!` and `tr_s!`: what is replaced by itself counts as changed.
fn transliterate_in_place(cx: &mut Cx, this: Str, from: Str, to: Str, squeeze: bool) -> Result<Option<Str>> {
    let mut replaced = false;
    in_place(cx, this, |cx| {
        let new = transliterated(cx, this, from, to, squeeze)?;
        replaced = new.is_some();
        Ok(new.unwrap_or(this.as_value()))
    })?;
    Ok(replaced.then_some(this))
}

/// A method with `!`: the receiver when it changes, else nil. Begins anew when another thread has changed it meanwhile.
pub fn in_place(cx: &mut Cx, this: Str, mut new: impl FnMut(&mut Cx) -> Result<Value>) -> Result<Option<Str>> {
    loop {
        cx.check_frozen(this.as_value())?;
        let before = Held::of(this);
        let new = new(cx)?;
        if before.is_content_of(this) {
            drop(before);
            cx.check_frozen(this.as_value())?;
            return Ok(become_str(cx, this, Ref::of(new)).then_some(this));
        }
    }
}

/// Cuts the receiver to bytes from..to; None when that is all of it.
fn cut(cx: &mut Cx, this: Str, from: usize, to: usize) -> Option<Str> {
    if from == 0 && to == this.len() {
        return None;
    }
    let r = this.code_range();
    StringCell::truncate(this, &mut cx.heap, to);
    if from > 0 {
        StringCell::splice(this, &mut cx.heap, 0, from, b"");
    }
    if r == CodeRange::Ascii {
        this.set_code_range(r);
    }
    Some(this)
}

#[ruby_class(ids::STRING)]
pub mod transforms {
    use super::*;

    /// Padded on the right to a width.
    ///
    ///     "ab".ljust(5, "12")   #=> "ab121"
    #[method("ljust")]
    fn ljust(cx: &mut Cx, this: Str, width: i64, pad: Option<Str>) -> Result<Value> {
        justify(cx, this, width, pad, Side::Left)
    }

    /// Padded on the left to a width.
    ///
    ///     "7".rjust(3, "0")   #=> "007"
    #[method("rjust")]
    fn rjust(cx: &mut Cx, this: Str, width: i64, pad: Option<Str>) -> Result<Value> {
        justify(cx, this, width, pad, Side::Right)
    }

    /// Padded on both sides to a width.
    ///
    ///     "ab".center(7, "*")   #=> "**ab***"
    #[method("center")]
    fn center(cx: &mut Cx, this: Str, width: i64, pad: Option<Str>) -> Result<Value> {
        justify(cx, this, width, pad, Side::Both)
    }

    /// Without white space and NULs at both ends, or without the characters of all sets (see `count`).
    ///
    ///     "12ab3".strip("0-9")   #=> "ab"
    ///     " ab \n".strip   #=> "ab"
    #[method("strip")]
    fn strip(cx: &mut Cx, this: Str, selectors: Rest) -> Result<Value> {
        let (a, b) = stripped(cx, this, Side::Both, selectors)?;
        Ok(sub(cx, this, a, b))
    }

    /// Without white space and NULs at the beginning, or without the characters of all sets.
    ///
    ///     " ab ".lstrip   #=> "ab "
    #[method("lstrip")]
    fn lstrip(cx: &mut Cx, this: Str, selectors: Rest) -> Result<Value> {
        let (a, b) = stripped(cx, this, Side::Left, selectors)?;
        Ok(sub(cx, this, a, b))
    }

    /// Without white space and NULs at the end, or without the characters of all sets.
    ///
    ///     " ab ".rstrip   #=> " ab"
    #[method("rstrip")]
    fn rstrip(cx: &mut Cx, this: Str, selectors: Rest) -> Result<Value> {
        let (a, b) = stripped(cx, this, Side::Right, selectors)?;
        Ok(sub(cx, this, a, b))
    }

    /// `strip` in place; nil when nothing changed.
    ///
    ///     (+" a ").strip!   #=> "a"
    ///     (+"a").strip!     #=> nil
    #[method("strip!")]
    fn strip_bang(cx: &mut Cx, this: Str, selectors: Rest) -> Result<Option<Str>> {
        cx.check_frozen(this.as_value())?;
        let (a, b) = stripped(cx, this, Side::Both, selectors)?;
        Ok(cut(cx, this, a, b))
    }

    /// `lstrip` in place; nil when nothing changed.
    ///
    ///     (+" a ").lstrip!   #=> "a "
    #[method("lstrip!")]
    fn lstrip_bang(cx: &mut Cx, this: Str, selectors: Rest) -> Result<Option<Str>> {
        cx.check_frozen(this.as_value())?;
        let (a, b) = stripped(cx, this, Side::Left, selectors)?;
        Ok(cut(cx, this, a, b))
    }

    /// `rstrip` in place; nil when nothing changed.
    ///
    ///     (+" a ").rstrip!   #=> " a"
    #[method("rstrip!")]
    fn rstrip_bang(cx: &mut Cx, this: Str, selectors: Rest) -> Result<Option<Str>> {
        cx.check_frozen(this.as_value())?;
        let (a, b) = stripped(cx, this, Side::Right, selectors)?;
        Ok(cut(cx, this, a, b))
    }

    /// Without the line end, or without a given end.
    ///
    ///     "ab\r\n".chomp     #=> "ab"
    ///     "hello".chomp("llo")   #=> "he"
    #[method("chomp")]
    fn chomp(cx: &mut Cx, this: Str, separator: Option<Value>) -> Result<Value> {
        let n = chomped(cx, this, separator.unwrap_or(Value::UNDEF))?;
        Ok(sub(cx, this, 0, n))
    }

    /// `chomp` in place; nil when nothing changed.
    ///
    ///     (+"ab\n").chomp!   #=> "ab"
    ///     (+"ab").chomp!     #=> nil
    #[method("chomp!")]
    fn chomp_bang(cx: &mut Cx, this: Str, separator: Option<Value>) -> Result<Option<Str>> {
        cx.check_frozen(this.as_value())?;
        let n = chomped(cx, this, separator.unwrap_or(Value::UNDEF))?;
        // The separator may have frozen it on its way to be a String.
        cx.check_frozen(this.as_value())?;
        Ok(cut(cx, this, 0, n))
    }

    /// Without the last character, or without "\r\n".
    ///
    ///     "abc".chop   #=> "ab"
    #[method("chop")]
    fn chop(cx: &Cx, this: Str) -> Value {
        sub(cx, this, 0, chopped(&cx.heap, this))
    }

    /// `chop` in place; nil when it is empty.
    ///
    ///     (+"abc").chop!   #=> "ab"
    #[method("chop!")]
    fn chop_bang(cx: &mut Cx, this: Str) -> Result<Option<Str>> {
        cx.check_frozen(this.as_value())?;
        Ok(cut(cx, this, 0, chopped(&cx.heap, this)))
    }

    /// Characters in reverse order.
    ///
    ///     "añb".reverse   #=> "bña"
    #[method("reverse")]
    fn reverse(cx: &mut Cx, this: Str) -> Result<Value> {
        let r = range(&cx.heap, this);
        let out = reversed(cx, this)?;
        let v = make(cx, &out, this);
        if r != CodeRange::Broken {
            Ref::<StringCell>::of(v).set_code_range(r);
        }
        Ok(v)
    }

    /// `reverse` in place.
    ///
    ///     (+"abc").reverse!   #=> "cba"
    #[method("reverse!")]
    fn reverse_bang(cx: &mut Cx, this: Str) -> Result<Str> {
        in_place(cx, this, |cx| reverse(cx, this))?;
        Ok(this)
    }

    /// With characters replaced one by one.
    ///
    ///     "hello".tr("el", "ip")     #=> "hippo"
    ///     "hello".tr("^l", "*")      #=> "**ll*"
    ///     "hello".tr("a-y", "b-z")   #=> "ifmmp"
    #[method("tr")]
    fn tr(cx: &mut Cx, this: Str, from: Str, to: Str) -> Result<Value> {
        Ok(transliterated(cx, this, from, to, false)?.unwrap_or_else(|| copy(cx, this)))
    }

    /// As `tr`; runs of the same replaced character become one.
    ///
    ///     "hello".tr_s("l", "r")   #=> "hero"
    #[method("tr_s")]
    fn tr_s(cx: &mut Cx, this: Str, from: Str, to: Str) -> Result<Value> {
        Ok(transliterated(cx, this, from, to, true)?.unwrap_or_else(|| copy(cx, this)))
    }

    /// `tr` in place; nil when nothing changed.
    ///
    ///     (+"hello").tr!("l", "r")   #=> "herro"
    #[method("tr!")]
    fn tr_bang(cx: &mut Cx, this: Str, from: Str, to: Str) -> Result<Option<Str>> {
        transliterate_in_place(cx, this, from, to, false)
    }

    /// `tr_s` in place; nil when nothing changed.
    ///
    ///     (+"hello").tr_s!("l", "r")   #=> "hero"
    #[method("tr_s!")]
    fn tr_s_bang(cx: &mut Cx, this: Str, from: Str, to: Str) -> Result<Option<Str>> {
        transliterate_in_place(cx, this, from, to, true)
    }

    /// Without the characters that are in all of the sets.
    ///
    ///     "hello".delete("l-o")         #=> "he"
    ///     "hello".delete("lo", "^l")    #=> "hell"
    #[method("delete")]
    fn delete(cx: &mut Cx, this: Str, sets: Rest) -> Result<Value> {
        if this.len() == 0 && !sets.is_empty() {
            return Ok(copy(cx, this));
        }
        if !sets.is_empty()
            && let Some(set) = short_set(&cx.heap, this, sets)
        {
            return Ok(make(cx, &set.delete(this.content(&cx.heap)), this));
        }
        let set = char_set(cx, this, sets)?;
        let out = set.delete(&Held::of(this), cx)?;
        Ok(make(cx, &out, this))
    }

    /// `delete` in place; nil when nothing changed.
    ///
    ///     (+"hello").delete!("l")   #=> "heo"
    #[method("delete!")]
    fn delete_bang(cx: &mut Cx, this: Str, sets: Rest) -> Result<Option<Str>> {
        in_place(cx, this, |cx| delete(cx, this, sets))
    }

    /// Runs of the same character become one: of all characters, or of those in all of the sets.
    ///
    ///     "aabbcc".squeeze         #=> "abc"
    ///     "aabbcc".squeeze("b-c")  #=> "aabc"
    #[method("squeeze")]
    fn squeeze(cx: &mut Cx, this: Str, sets: Rest) -> Result<Value> {
        if let Some(set) = short_set(&cx.heap, this, sets) {
            return Ok(make(cx, &set.squeeze(this.content(&cx.heap)), this));
        }
        if !enc(this).is_single_byte() {
            check_valid(cx, this)?;
        }
        let set = if sets.is_empty() {
            let of = unit(&cx.heap, &[this]);
            match CharSet::new(&[], of, cx) {
                Ok(s) => s,
                Err(e) => return refused(cx, e),
            }
        } else {
            char_set_for(cx, this, sets)?
        };
        let out = set.squeeze(&Held::of(this), cx)?;
        Ok(make(cx, &out, this))
    }

    /// `squeeze` in place; nil when nothing changed.
    ///
    ///     (+"aab").squeeze!   #=> "ab"
    #[method("squeeze!")]
    fn squeeze_bang(cx: &mut Cx, this: Str, sets: Rest) -> Result<Option<Str>> {
        in_place(cx, this, |cx| squeeze(cx, this, sets))
    }

    /// Number of characters that are in all of the sets.
    ///
    ///     "hello".count("l-o")   #=> 3
    #[method("count")]
    fn count(cx: &mut Cx, this: Str, sets: Rest) -> Result<usize> {
        if !sets.is_empty()
            && let Some(set) = short_set(&cx.heap, this, sets)
        {
            return Ok(set.count(this.content(&cx.heap)));
        }
        let set = char_set(cx, this, sets)?;
        Ok(set.count(&Held::of(this), cx)?)
    }
}
