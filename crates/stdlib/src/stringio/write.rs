//! StringIO: writing and truncating.

use super::{io, modifiable, modifiable_text, state, writer};
use crate::args::{self, APPEND};
use std::borrow::Cow;
use zakuro_macros::ruby_class;
use zakuro_text::encoding::transcode::{Policy, transcode};
use zakuro_vm::*;

/// The bytes of a String in another encoding, where it has one and can be converted; else as they are.
pub fn converted(heap: &Heap, s: Ref<StringCell>, to: u8) -> Cow<'_, [u8]> {
    let (from, bytes) = (s.encoding(), s.content(heap));
    if from == to || from == string::BINARY || to == string::BINARY || to == string::US_ASCII {
        return Cow::Borrowed(bytes);
    }
    let (from, to) = (args::encoding_of(from), args::encoding_of(to));
    if from.is_ascii_compatible() && to.is_ascii_compatible() && bytes.is_ascii() {
        return Cow::Borrowed(bytes);
    }
    match transcode(from, to, bytes, &Policy::default()) {
        Ok(b) => Cow::Owned(b),
        Err(_) => Cow::Borrowed(bytes),
    }
}

/// Whether a String that was not converted may stand in a text of another encoding.
fn mixes(s: Ref<StringCell>, to: u8) -> bool {
    let from = s.encoding();
    let ascii_compatible = args::encoding_of(from).is_ascii_compatible() && args::encoding_of(to).is_ascii_compatible();
    from == to || [from, to].iter().any(|e| [string::BINARY, string::US_ASCII].contains(e)) || ascii_compatible && s.is_ascii()
}

/// Writes one object; returns the bytes written.
fn write_one(cx: &mut Cx, this: Value, v: Value) -> Result<usize> {
    let s = cx.to_s(v)?;
    let before = *writer(cx, this)?;
    if before.string.is_nil() || s.len() == 0 {
        return Ok(s.len());
    }
    let enc = before.encoding(string::UTF8);
    // A warning about a literal may have its say first.
    let Some(t) = modifiable_text(cx, before.text())? else { return Ok(0) };
    let other = match converted(&cx.heap, s, enc) {
        Cow::Owned(b) => Some(b),
        Cow::Borrowed(_) => None,
    };
    if other.is_none() && !mixes(s, enc) {
        let (to, from) = (args::encoding_of(enc).name(), args::encoding_of(s.encoding()).name());
        return cx.raise(ids::COMPAT_ERROR, format!("incompatible character encodings: {to} and {from}"));
    }
    let n = other.as_ref().map_or(s.len(), Vec::len);
    let (append, at) = (io(cx, this)?.mode & APPEND != 0, state(cx, this)?.pos);
    let pos = if append { t.len() } else { at };
    if pos.checked_add(n).is_none_or(|end| end > i64::MAX as usize) {
        return cx.arg_error("string size too big");
    }
    if pos > t.len() {
        let gap = zakuro_base::memory::zeroed(pos - t.len());
        StringCell::append(t, &mut cx.heap, &gap);
    }
    let end = pos.saturating_add(n);
    match &other {
        // As with `<<`, an empty String takes the encoding over.
        Some(b) if pos == t.len() => {
            let converted = cx.str_bytes(b, enc);
            zakuro_core_text::string::util::append(cx, t, Ref::of(converted))?;
        }
        Some(b) => StringCell::splice(t, &mut cx.heap, pos, end, b),
        None if pos < t.len() => StringCell::splice_string(t, &mut cx.heap, pos, end, s),
        // Unconverted text brings its encoding along, as with `<<`.
        None if s != t && ![t.encoding(), s.encoding()].contains(&string::BINARY) => zakuro_core_text::string::util::append(cx, t, s)?,
        // The String behind the stream may be written to it.
        None => StringCell::append_string(t, &mut cx.heap, s),
    }
    state(cx, this)?.pos = end;
    Ok(n)
}

pub(crate) use string_io::METHODS;

/// Methods of `StringIO`.
#[ruby_class(ids::OBJECT)]
mod string_io {
    use super::*;

    /// Writes objects (their `to_s`) at the position; returns the number of bytes.
    ///
    ///     StringIO.new.write("a", 1)   #=> 2
    ///     io = StringIO.new(+"hello"); io.write("J"); io.string   #=> "Jello"
    #[method("write")]
    fn write(cx: &mut Cx, this: Value, items: Rest) -> Result<usize> {
        let mut n = 0;
        for v in items {
            n += write_one(cx, this, *v)?;
        }
        Ok(n)
    }
    /// Shortens or lengthens (by NULs) the String.
    ///
    ///     io = StringIO.new(+"hello"); io.truncate(2); io.string   #=> "he"
    #[method("truncate")]
    fn truncate(cx: &mut Cx, this: Value, n: Value) -> Result<i64> {
        writer(cx, this)?;
        let n = cx.to_i64(n)?;
        let Ok(n) = usize::try_from(n) else { return crate::raise_errno(cx, "EINVAL", Some("negative length")) };
        let Some(t) = modifiable(cx, this)? else { return Ok(0) };
        if n > t.len() {
            let mut gap = Vec::new();
            cx.reserve(&mut gap, n - t.len())?;
            gap.resize(n - t.len(), 0);
            StringCell::append(t, &mut cx.heap, &gap);
        } else {
            StringCell::truncate(t, &mut cx.heap, n);
        }
        Ok(0)
    }
    /// Writes one character: the first of a String, or the byte of an Integer.
    ///
    ///     StringIO.new.tap { |io| io.putc("abc") }.string   #=> "a"
    #[method("putc")]
    fn putc(cx: &mut Cx, this: Value, c: Value) -> Result<Value> {
        writer(cx, this)?;
        let v = match Ref::<StringCell>::from_value(c) {
            Some(s) => {
                let e = args::encoding_of(s.encoding());
                let n = if s.len() == 0 { 0 } else { e.char_len(s.content(&cx.heap)).unwrap_or_else(|n| n).clamp(1, s.len()) };
                StringCell::substring(&cx.heap, ids::STRING.0, s, 0, n).as_value()
            }
            None => {
                let n = cx.to_i64(c)?;
                cx.str_bytes(&[n as u8], string::BINARY)
            }
        };
        cx.call(this, sym::write, &[v])?;
        Ok(c)
    }
}

/// `puts` of one item to anything that has `write`; `around` are the Arrays that it stands in.
fn put(cx: &mut Cx, out: Value, v: Value, around: &mut RootedVec) -> Result<()> {
    if !v.is_kind(Kind::String)
        && let Some(a) = cx.try_ary(v)?
    {
        if around.contains(&v) {
            let dots = cx.str("[...]");
            return put(cx, out, dots, around);
        }
        cx.check_native_stack()?;
        around.push(v);
        let mut i = 0;
        while let Some(x) = a.get(i) {
            put(cx, out, x, around)?;
            i += 1;
        }
        around.pop();
        return Ok(());
    }
    let s = cx.to_s(v)?;
    if s.content(&cx.heap).last() == Some(&b'\n') {
        cx.call(out, sym::write, &[s.as_value()])?;
    } else {
        let newline = cx.str("\n");
        cx.call(out, sym::write, &[s.as_value(), newline])?;
    }
    Ok(())
}

/// Methods of `IO::generic_writable`: what is made of `write`.
#[ruby_class(ids::OBJECT)]
pub mod writable {
    use super::*;

    /// Writes an object; returns the stream.
    ///
    ///     (StringIO.new << "a" << 1).string   #=> "a1"
    #[method("<<")]
    fn append(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        cx.call(this, sym::write, &[v])?;
        Ok(this)
    }
    /// Writes objects one after another; `$_` when there are none.
    ///
    ///     StringIO.new.tap { |io| io.print(1, 2) }.string   #=> "12"
    #[method("print")]
    fn print(cx: &mut Cx, this: Value, items: Rest) -> Result<()> {
        let last = [cx.lastline()];
        let items = if items.is_empty() { &last[..] } else { items };
        let (between, end) = (cx.global_get(sym::output_fs)?, cx.global_get(Sym::intern("$\\"))?);
        for (i, v) in items.iter().enumerate() {
            if i > 0 && !between.is_nil() {
                cx.call(this, sym::write, &[between])?;
            }
            cx.call(this, sym::write, &[*v])?;
        }
        if !end.is_nil() {
            cx.call(this, sym::write, &[end])?;
        }
        Ok(())
    }
    /// Writes text made by `format`.
    ///
    ///     StringIO.new.tap { |io| io.printf("%03d", 7) }.string   #=> "007"
    #[method("printf", min = 0, max = -1)]
    fn printf(cx: &mut Cx, this: Value, args: Args) -> Result<()> {
        if !args.is_empty() {
            let main = cx.main;
            let s = cx.call_full(main, sym::format, args.all(), args.kw, Block::NONE)?;
            cx.call(this, sym::write, &[s])?;
        }
        Ok(())
    }
    /// Writes each object on a line of its own, the elements of Arrays too.
    ///
    ///     StringIO.new.tap { |io| io.puts("a", [1, "b\n"]) }.string   #=> "a\n1\nb\n"
    #[method("puts")]
    fn puts(cx: &mut Cx, this: Value, items: Rest) -> Result<()> {
        if items.is_empty() {
            let newline = cx.str("\n");
            cx.call(this, sym::write, &[newline])?;
        }
        let mut around = RootedVec::new(cx);
        for v in items {
            put(cx, this, *v, &mut around)?;
        }
        Ok(())
    }
    /// As `write`.
    #[method("syswrite")]
    fn syswrite(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        cx.call(this, sym::write, &[v])
    }
    /// As `write`: nothing ever blocks.
    #[method("write_nonblock", min = 1, max = -1)]
    fn write_nonblock(cx: &mut Cx, this: Value, mut args: Args) -> Result<Value> {
        args.take_kw().only(cx, &[sym::exception])?;
        builtin::check_arity(cx, args.len(), 1, 1)?;
        cx.call(this, sym::write, args.all())
    }
}
