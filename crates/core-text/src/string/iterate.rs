//! String: walks over characters, lines, bytes, code points and grapheme clusters.
//!
//! A walk with a block, or over a long String, goes over a frozen copy (which shares the bytes), so that the block or another thread may change the String.

use super::util::*;
use crate::regexp::engine;
use zakuro_base::progress::step;
use zakuro_macros::{Trace, ruby_class};
use zakuro_text::encoding::{Encoding, utf8};
use zakuro_text::regexp::RegexFlags;
use zakuro_vm::held::Held;
use zakuro_vm::string::CodeRange;
use zakuro_vm::*;

/// Values that are collected between two safepoints.
const BETWEEN_SAFEPOINTS: usize = 1024;

/// Yields values to a block, or collects them.
struct Sink {
    block: Block,
    array: Ref<ArrayCell>,
    rounds: u32,
}

impl Sink {
    fn new(cx: &mut Cx, block: Block) -> Sink {
        Sink { block, array: cx.new_array(), rounds: 0 }
    }
    fn put(&mut self, cx: &mut Cx, v: Value) -> Result<()> {
        if self.block.is_some() {
            cx.yield1(self.block, v)?;
        } else {
            ArrayCell::push(self.array, &mut cx.heap, v);
            self.rounds += 1;
            if self.rounds.is_multiple_of(BETWEEN_SAFEPOINTS as u32) {
                cx.safepoint()?;
            }
        }
        Ok(())
    }
    /// Takes what `next` makes until there is no more; it runs no Ruby code and raises nothing ([`Cx::walk`]).
    fn all(mut self, cx: &mut Cx, this: Str, mut next: impl FnMut(&mut Cx) -> Option<Value>) -> Result<Value> {
        if self.block.is_some() {
            cx.walk(self.block, |cx| Some([next(cx)?]), |_, _| true, |_, _| Ok(true))?;
        } else {
            while let Some(v) = next(cx) {
                self.put(cx, v)?;
            }
        }
        Ok(self.result(this))
    }
    fn result(&self, this: Str) -> Value {
        if self.block.is_some() { this.as_value() } else { self.array.as_value() }
    }
}

fn chars(cx: &mut Cx, this: Str, block: Block) -> Result<Value> {
    range(&cx.heap, this);
    let src = engine::steady(cx, this, block.is_some(), BETWEEN_SAFEPOINTS);
    let mut at = 0;
    Sink::new(cx, block).all(cx, this, |cx| {
        let from = at;
        at += (from < src.len()).then(|| char_len_at(&cx.heap, src, from))?;
        Some(sub(cx, src, from, at))
    })
}

fn bytes(cx: &mut Cx, this: Str, block: Block) -> Result<Value> {
    // A block sees what it changes.
    if block.is_none() {
        let src = engine::steady(cx, this, false, BETWEEN_SAFEPOINTS);
        return all_at_once(cx, src, |bytes, at| (bytes[at].into(), at + 1));
    }
    let mut at = 0;
    Sink::new(cx, block).all(cx, this, |_| {
        let b = this.byte(at)?;
        at += 1;
        Some(Value::fixnum(b as i64))
    })
}

/// Numbers that a text gives one by one from its bytes, each with the place behind it, put into an Array in portions.
fn all_at_once(cx: &mut Cx, src: Str, next: impl Fn(&[u8], usize) -> (u32, usize)) -> Result<Value> {
    if src.len() <= BETWEEN_SAFEPOINTS {
        let (bytes, mut at) = (src.content(&cx.heap), 0);
        let numbers = std::iter::from_fn(|| {
            let (number, end) = (at < bytes.len()).then(|| next(bytes, at))?;
            at = end;
            Some(Value::fixnum(number.into()))
        });
        return Ok(ArrayCell::gather(&cx.heap, bytes.len(), numbers).as_value());
    }
    let out = cx.new_array();
    let mut portion = [Value::NIL; BETWEEN_SAFEPOINTS];
    let mut at = 0;
    while at < src.len() {
        let bytes = src.content(&cx.heap);
        let mut n = 0;
        while n < portion.len() && at < bytes.len() {
            let (number, end) = next(bytes, at);
            portion[n] = Value::fixnum(number.into());
            (n, at) = (n + 1, end);
        }
        ArrayCell::extend(out, &mut cx.heap, &portion[..n]);
        if at < src.len() {
            cx.safepoint()?;
        }
    }
    Ok(out.as_value())
}

fn codepoints(cx: &mut Cx, this: Str, block: Block) -> Result<Value> {
    let e = enc(this);
    if e == Encoding::US_ASCII {
        return bytes(cx, this, block);
    }
    let whole = range(&cx.heap, this);
    let src = engine::steady(cx, this, block.is_some(), BETWEEN_SAFEPOINTS);
    if block.is_none() && (whole == CodeRange::Ascii && e.is_ascii_compatible() || whole == CodeRange::Valid && e == Encoding::UTF_8) {
        return all_at_once(cx, src, |bytes, at| match bytes[at] {
            b if b < 0x80 => (b.into(), at + 1),
            b => utf8::decode(&bytes[at..]).map_or((b.into(), at + 1), |(c, n)| (c, at + n)),
        });
    }
    let mut sink = Sink::new(cx, block);
    let mut at = 0;
    while at < src.len() {
        let end = at + char_len_at(&cx.heap, src, at);
        let Some(c) = e.ord(&src.content(&cx.heap)[at..end]) else { return cx.arg_error(format!("invalid byte sequence in {}", e.name())) };
        sink.put(cx, Value::fixnum(c as i64))?;
        at = end;
    }
    Ok(sink.result(this))
}

/// End of the line that begins at `at`, its separator included, and where the next one begins.
fn line_end(heap: &Heap, s: Str, at: usize, sep: &[u8], paragraphs: bool) -> (usize, usize) {
    let b = s.content(heap);
    if paragraphs {
        // Two newlines end a paragraph; more of them belong to none.
        let newline = |at: usize| match &b[at..] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => 0,
        };
        let mut i = at;
        while let Some(n) = memchr::memchr(b'\n', &b[i..]) {
            i += n + 1;
            let second = newline(i);
            if second > 0 {
                let end = i + second;
                let mut next = end;
                while next < b.len() && newline(next) > 0 {
                    next += newline(next);
                }
                return (end, next);
            }
        }
        return (b.len(), b.len());
    }
    let end = if sep == b"\n" && enc(s).is_ascii_compatible() {
        memchr::memchr(b'\n', &b[at..]).map_or(b.len(), |n| at + n + 1)
    } else {
        find_at_once(heap, s, sep, at).map_or(b.len(), |i| i + sep.len())
    };
    (end, end)
}

fn lines(cx: &mut Cx, this: Str, separator: Option<Value>, kw: Kwargs, block: Block) -> Result<Value> {
    kw.only(cx, &[sym::chomp])?;
    let chomp = kw.get(sym::chomp).is_some_and(|v| v.truthy());
    let mut sink = Sink::new(cx, block);
    let separator = match separator {
        None => default_separator(cx)?,
        Some(v) => v,
    };
    let separator = match Some(separator).filter(|v| !v.is_undef()) {
        None => Value::UNDEF,
        Some(v) if v.is_nil() => {
            let whole = copy(cx, this);
            sink.put(cx, whole)?;
            return Ok(sink.result(this));
        }
        Some(v) => cx.to_str(v)?.as_value(),
    };
    let wide = !enc(this).is_ascii_compatible();
    let in_wide = |b: u8| {
        let mut out = Vec::new();
        enc(this).encode(b as u32, &mut out);
        out
    };
    let sep = if separator.is_undef() {
        if wide { in_wide(b'\n') } else { b"\n".to_vec() }
    } else {
        check_compatible(cx, this, Ref::of(separator))?;
        Ref::<StringCell>::of(separator).to_vec()
    };
    let paragraphs = sep.is_empty();
    range(&cx.heap, this);
    let src = engine::steady(cx, this, block.is_some(), BETWEEN_SAFEPOINTS);
    let mut at = 0;
    sink.all(cx, this, |cx| {
        if at >= src.len() {
            return None;
        }
        let (end, next) = line_end(&cx.heap, src, at, &sep, paragraphs);
        let b = src.content(&cx.heap);
        let mut shown = end;
        if chomp {
            if paragraphs {
                // What ends at the text's end with one newline only is no paragraph that a separator has ended.
                let before = |end: usize| b[at..end].strip_suffix(b"\n").map(|l| l.strip_suffix(b"\r").unwrap_or(l)).map(|l| at + l.len());
                let ended = before(end).and_then(before).is_some();
                while ended && shown > at && matches!(b[shown - 1], b'\n' | b'\r') {
                    shown -= 1;
                }
            } else if b[at..end].ends_with(&sep) {
                shown -= sep.len();
                if sep == b"\n" && shown > at && b[shown - 1] == b'\r' {
                    shown -= 1;
                }
                if wide && separator.is_undef() && b[at..shown].ends_with(&in_wide(b'\r')) {
                    shown -= sep.len();
                }
            } else if sep == b"\n" && b[at..end].ends_with(b"\r") {
                shown -= 1;
            }
        }
        let line = sub(cx, src, at, shown);
        at = next;
        Some(line)
    })
}

/// Length of a text in UTF-8 without the beginning of a character at its end.
fn complete(text: &[u8]) -> usize {
    let lead = text.iter().rev().take(3).position(|b| b & 0xc0 == 0xc0).map_or(text.len(), |n| text.len() - n - 1);
    match std::str::from_utf8(&text[lead..]) {
        Err(e) if e.valid_up_to() == 0 && e.error_len().is_none() => lead,
        _ => text.len(),
    }
}

/// `\X`, compiled once per VM.
#[derive(Trace, Default)]
struct Cluster {
    #[untraced]
    regexp: Option<crate::regexp::cache::SharedRegexp>,
}
impl VmState for Cluster {}

/// Grapheme clusters of UTF-16 or UTF-32: found in UTF-8, counted in characters.
fn wide_clusters(cx: &mut Cx, this: Str, block: Block) -> Result<Value> {
    let e = enc(this);
    let mut text = Vec::new();
    let held = Held::of(this);
    for (i, c) in e.chars(&held).enumerate() {
        step(i, cx)?;
        Encoding::UTF_8.encode(e.ord(c).unwrap_or(0xfffd), &mut text);
    }
    let plain = cx.str_bytes(&text, Encoding::UTF_8.id());
    let all = grapheme_clusters(cx, Ref::of(plain), Block::NONE)?;
    let lengths: Vec<usize> = match Ref::<ArrayCell>::from_value(all) {
        Some(a) => a.elements(&cx.heap).iter().map(|v| length(&cx.heap, Ref::of(*v))).collect(),
        None => Vec::new(),
    };
    let src = engine::steady(cx, this, block.is_some(), BETWEEN_SAFEPOINTS);
    let mut sink = Sink::new(cx, block);
    let mut at = 0;
    for n in lengths {
        let end = advance(&cx.heap, src, at, n);
        let v = sub(cx, src, at, end);
        sink.put(cx, v)?;
        at = end;
    }
    Ok(sink.result(this))
}

fn grapheme_clusters(cx: &mut Cx, this: Str, block: Block) -> Result<Value> {
    let broken = range(&cx.heap, this) == CodeRange::Broken;
    if !enc(this).is_unicode() || enc(this).is_dummy() || broken && enc(this) != Encoding::UTF_8 {
        return chars(cx, this, block);
    }
    if enc(this) != Encoding::UTF_8 {
        return wide_clusters(cx, this, block);
    }
    if is_ascii(&cx.heap, this) && !this.content(&cx.heap).contains(&b'\r') {
        return chars(cx, this, block);
    }
    let regexp = match &cx.state::<Cluster>().regexp {
        Some(r) => r.clone(),
        None => {
            let Ok(r) = crate::regexp::cache::compile_at_once(cx, b"\\X", RegexFlags::default(), Encoding::UTF_8) else {
                return chars(cx, this, block);
            };
            cx.state::<Cluster>().regexp = Some(r.clone());
            r
        }
    };
    let src = engine::steady(cx, this, block.is_some(), BETWEEN_SAFEPOINTS);
    // As in CRuby, the beginning of a character that the text ends with is left out.
    let whole = if broken { complete(src.content(&cx.heap)) } else { src.len() };
    let mut sink = Sink::new(cx, block);
    let mut at = 0;
    while at < whole {
        let end = regexp.match_at(src.content(&cx.heap), at).map_or(0, |c| c.end()).max(at + char_len_at(&cx.heap, src, at));
        let v = sub(cx, src, at, end);
        sink.put(cx, v)?;
        at = end;
    }
    Ok(sink.result(this))
}

fn char_size(cx: &mut Cx, this: Value, _args: Args) -> Result<Value> {
    let s = cx.to_str(this)?;
    Ok(Value::fixnum(length(&cx.heap, s) as i64))
}
fn byte_size(cx: &mut Cx, this: Value, _args: Args) -> Result<Value> {
    let s = cx.to_str(this)?;
    Ok(Value::fixnum(s.len() as i64))
}
fn cluster_size(cx: &mut Cx, this: Value, _args: Args) -> Result<Value> {
    let s = cx.to_str(this)?;
    let all = grapheme_clusters(cx, s, Block::NONE)?;
    Ok(Value::fixnum(Ref::<ArrayCell>::from_value(all).map_or(0, |a| a.len()) as i64))
}

#[ruby_class(ids::STRING)]
pub mod iteration {
    use super::*;

    /// Yields each character.
    ///
    ///     "añ".each_char.to_a   #=> ["a", "ñ"]
    #[method("each_char")]
    fn each_char(cx: &mut Cx, this: Str, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this.as_value(), "each_char", &[], Some(char_size));
        }
        chars(cx, this, block)
    }

    /// All characters.
    ///
    ///     "añ".chars   #=> ["a", "ñ"]
    #[method("chars")]
    fn chars_method(cx: &mut Cx, this: Str, block: Block) -> Result<Value> {
        chars(cx, this, block)
    }

    /// Yields each byte.
    ///
    ///     "ab".each_byte.to_a   #=> [97, 98]
    #[method("each_byte")]
    fn each_byte(cx: &mut Cx, this: Str, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this.as_value(), "each_byte", &[], Some(byte_size));
        }
        bytes(cx, this, block)
    }

    /// All bytes.
    ///
    ///     "ab".bytes   #=> [97, 98]
    #[method("bytes")]
    fn bytes_method(cx: &mut Cx, this: Str, block: Block) -> Result<Value> {
        bytes(cx, this, block)
    }

    /// Yields the code point of each character.
    ///
    ///     "aé".each_codepoint.to_a   #=> [97, 233]
    #[method("each_codepoint")]
    fn each_codepoint(cx: &mut Cx, this: Str, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this.as_value(), "each_codepoint", &[], Some(char_size));
        }
        codepoints(cx, this, block)
    }

    /// The code points of all characters.
    ///
    ///     "aé".codepoints   #=> [97, 233]
    #[method("codepoints")]
    fn codepoints_method(cx: &mut Cx, this: Str, block: Block) -> Result<Value> {
        codepoints(cx, this, block)
    }

    /// Yields each line with its separator, or without it (`chomp: true`).
    ///
    ///     "a\nb".each_line.to_a                  #=> ["a\n", "b"]
    ///     "a\nb".each_line(chomp: true).to_a     #=> ["a", "b"]
    #[method("each_line")]
    fn each_line(cx: &mut Cx, this: Str, separator: Option<Value>, kw: Kwargs, block: Block) -> Result<Value> {
        if block.is_none() {
            let options = kw.hash(cx).map(|h| h.as_value());
            let args = ArgList::new(cx, &[&[Value::sym(Sym::intern("each_line"))], separator.as_slice(), options.as_slice()]);
            return cx.call_full(this.as_value(), sym::to_enum, &args, !kw.is_none(), Block::NONE);
        }
        lines(cx, this, separator, kw, block)
    }

    /// All lines.
    ///
    ///     "a\nb".lines               #=> ["a\n", "b"]
    ///     "a-b".lines("-")           #=> ["a-", "b"]
    #[method("lines")]
    fn lines_method(cx: &mut Cx, this: Str, separator: Option<Value>, kw: Kwargs, block: Block) -> Result<Value> {
        lines(cx, this, separator, kw, block)
    }

    /// Yields each grapheme cluster: what a reader takes for one character.
    ///
    ///     "e\u0301x".each_grapheme_cluster.count   #=> 2
    #[method("each_grapheme_cluster")]
    fn each_grapheme_cluster(cx: &mut Cx, this: Str, block: Block) -> Result<Value> {
        if block.is_none() {
            return enumerator(cx, this.as_value(), "each_grapheme_cluster", &[], Some(cluster_size));
        }
        grapheme_clusters(cx, this, block)
    }

    /// All grapheme clusters.
    ///
    ///     "e\u0301x".grapheme_clusters.size   #=> 2
    #[method("grapheme_clusters")]
    fn grapheme_clusters_method(cx: &mut Cx, this: Str, block: Block) -> Result<Value> {
        grapheme_clusters(cx, this, block)
    }
}
