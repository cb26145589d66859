//! `puts`, `print`, `p`, `putc` (`pp` is in prelude/io.rb): to any object that has `write`.

use super::stream::{self, IoState};
use super::{object, write};
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Where the lines of `puts` go: collected into one write, or handed to `write` of some object.
struct Sink {
    out: Value,
    direct: bool,
    text: Vec<u8>,
}

impl Sink {
    fn line(&mut self, cx: &mut Cx, s: Value) -> Result<()> {
        let s = cx.to_s(s)?;
        let ended = ends_line(s, s.content(&cx.heap));
        if self.direct {
            let t = super::encodings::to_external(cx, self.out, s)?;
            self.text.extend_from_slice(t.content(&cx.heap));
            if !ended {
                line_end(cx, self.out, &mut self.text)?;
            }
            return Ok(());
        }
        if ended {
            cx.call(self.out, sym::write, &[s.as_value()])?;
            return Ok(());
        }
        let single = cx.method_of(self.out, sym::write).is_some_and(|m| cx.method_arity(m) == 1);
        if single {
            if self.out != stream::current(cx, 2) && cx.global_get(sym::verbose)? != Value::FALSE {
                self.warn_single(cx)?;
            }
            let mut b = s.to_vec();
            b.push(b'\n');
            let v = cx.str_bytes(&b, s.encoding());
            cx.call(self.out, sym::write, &[v])?;
        } else {
            let nl = cx.str("\n");
            cx.call(self.out, sym::write, &[s.as_value(), nl])?;
        }
        Ok(())
    }
    #[cold]
    fn warn_single(&mut self, cx: &mut Cx) -> Result<()> {
        let class = cx.dispatch_class(self.out);
        let of_one = cx.class(class).kind == ClassKind::Singleton;
        let shown = if of_one { self.out } else { cx.class_value(class) };
        let shown = cx.inspect_for_error(shown);
        let sign = if of_one { '.' } else { '#' };
        cx.warn_category(&format!("{shown}{sign}write is outdated interface which accepts just one argument"), "deprecated")
    }
    fn item(&mut self, cx: &mut Cx, v: Value) -> Result<()> {
        if v.is_kind(Kind::String) {
            return self.line(cx, v);
        }
        let Some(a) = cx.try_ary(v)? else { return self.line(cx, v) };
        let done = cx.guard_recursion(v, |cx| {
            let mut i = 0;
            while let Some(x) = a.get(i) {
                self.item(cx, x)?;
                i += 1;
            }
            Ok(())
        })?;
        if done.is_none() {
            let s = cx.str("[...]");
            self.line(cx, s)?;
        }
        Ok(())
    }
}

/// Is the last character a line feed? Wide encodings have characters that end in its byte, too.
fn ends_line(s: Ref<StringCell>, bytes: &[u8]) -> bool {
    let encoding = zakuro_core_text::string::util::enc(s);
    if bytes.last() == Some(&b'\n') && encoding.is_ascii_compatible() {
        return true;
    }
    let mut wide = Vec::new();
    !encoding.is_ascii_compatible() && encoding.encode(b'\n' as u32, &mut wide) && bytes.ends_with(&wide) && bytes.len().is_multiple_of(wide.len().max(1))
}

/// Appends what the stream writes for a line end.
fn line_end(cx: &mut Cx, out: Value, text: &mut Vec<u8>) -> Result<()> {
    let io = object::raw(cx, out)?;
    if io.ext.is_none() && io.conversion.is_none() {
        text.push(b'\n');
        return Ok(());
    }
    let nl = cx.str("\n");
    let nl = cx.to_str(nl)?;
    let nl = super::encodings::to_external(cx, out, nl)?;
    text.extend_from_slice(nl.content(&cx.heap));
    Ok(())
}

/// `out.puts(*items)`: one write per call when `out` is a plain IO.
pub fn puts(cx: &mut Cx, out: Value, items: &[Value]) -> Result<()> {
    cx.may_block()?;
    let direct = cx.is_builtin(out, sym::write, ids::IO);
    if direct {
        object::writer(cx, out)?;
    }
    let mut sink = Sink { out, direct, text: Vec::new() };
    if items.is_empty() {
        if direct {
            let mut text = Vec::new();
            line_end(cx, out, &mut text)?;
            return object::write(cx, out, &text);
        }
        return write::write_to(cx, out, b"\n");
    }
    for v in items {
        if let Err(e) = sink.item(cx, *v) {
            // What came before the failing object is printed.
            let pending = cx.take_pending();
            if direct {
                object::write(cx, out, &sink.text)?;
            }
            cx.pending = pending;
            return Err(e);
        }
    }
    if direct { object::write(cx, out, &sink.text) } else { Ok(()) }
}

/// `out.print(*items)`
pub fn print(cx: &mut Cx, out: Value, items: &[Value]) -> Result<()> {
    cx.may_block()?;
    let last = [cx.lastline()];
    let items = if items.is_empty() { &last[..] } else { items };
    let (ofs, ors) = {
        let s = cx.state::<IoState>();
        (s.ofs.unwrap_or(Value::NIL), s.ors.unwrap_or(Value::NIL))
    };
    if !ofs.is_nil() && items.len() > 1 {
        cx.warn_category("$, is set to non-nil value", "deprecated")?;
    }
    let direct = cx.is_builtin(out, sym::write, ids::IO);
    let mut all = Vec::new();
    for (i, v) in items.iter().enumerate() {
        if i > 0 && !ofs.is_nil() {
            emit(cx, out, direct, &mut all, ofs)?;
        }
        emit(cx, out, direct, &mut all, *v)?;
    }
    if !ors.is_nil() {
        emit(cx, out, direct, &mut all, ors)?;
    }
    if direct { object::write(cx, out, &all) } else { Ok(()) }
}

fn emit(cx: &mut Cx, out: Value, direct: bool, all: &mut Vec<u8>, v: Value) -> Result<()> {
    if direct {
        let s = cx.to_s(v)?;
        let s = super::encodings::to_external(cx, out, s)?;
        all.extend_from_slice(s.content(&cx.heap));
        return Ok(());
    }
    cx.call(out, sym::write, &[v])?;
    Ok(())
}

/// `out.putc(c)`
pub fn putc(cx: &mut Cx, out: Value, c: Value) -> Result<()> {
    if let Some(s) = Ref::<StringCell>::from_value(c) {
        let first = match zakuro_text::encoding::Encoding::from_id(s.encoding()) {
            Some(e) => e.chars(s.content(&cx.heap)).next().map(<[u8]>::to_vec),
            None => s.content(&cx.heap).first().map(|b| vec![*b]),
        };
        let v = cx.str_bytes(&first.unwrap_or_default(), s.encoding());
        cx.call(out, sym::write, &[v])?;
        return Ok(());
    }
    let n = cx.to_i64(c)?;
    let v = cx.str_bytes(&[n as u8], zakuro_object::string::BINARY);
    cx.call(out, sym::write, &[v])?;
    Ok(())
}

/// Writes `inspect` of each object on a line of its own.
fn inspect_lines(cx: &mut Cx, items: &[Value]) -> Result<()> {
    let out = stream::current(cx, 1);
    for v in items {
        let s = cx.inspect(*v)?;
        let mut b = s.to_vec();
        b.push(b'\n');
        if cx.is_builtin(out, sym::write, ids::IO) {
            object::write(cx, out, &b)?;
        } else {
            let t = cx.str_bytes(&b, s.encoding());
            cx.call(out, sym::write, &[t])?;
        }
    }
    Ok(())
}

/// What `p` returns: nil, the object, or all of them.
fn same(cx: &mut Cx, items: &[Value]) -> Value {
    match items {
        [] => Value::NIL,
        [v] => *v,
        _ => cx.array(items),
    }
}

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;
    /// `$stdout.puts`
    ///
    ///     puts   #=> nil
    #[method("puts", module_function)]
    fn puts(cx: &mut Cx, this: Value, items: Rest) -> Result<Value> {
        let out = stream::current(cx, 1);
        // A stand-in for $stdout that has only `write` comes here again as the receiver.
        if this == out || cx.is_builtin(out, sym::puts, ids::IO) {
            super::puts(cx, out, items)?;
            return Ok(Value::NIL);
        }
        cx.call(out, sym::puts, items)
    }
    /// `$stdout.print`
    #[method("print", module_function)]
    fn print(cx: &mut Cx, _this: Value, items: Rest) -> Result<()> {
        let out = stream::current(cx, 1);
        super::print(cx, out, items)
    }
    /// Writes `inspect` of each object on a line; returns the objects.
    ///
    ///     p   #=> nil
    ///     p(1, 2)   #=> [1, 2]
    #[method("p", module_function)]
    fn p(cx: &mut Cx, _this: Value, items: Rest) -> Result<Value> {
        inspect_lines(cx, items)?;
        // What a program shows while it looks for an error should be seen, even if it dies.
        let out = stream::current(cx, 1);
        if cx.is_a(out, ids::FILE) && cx.is_builtin(out, Sym::intern("flush"), ids::IO) {
            super::object::flush(cx, out)?;
        }
        Ok(same(cx, items))
    }
    /// `$stdout.putc`
    #[method("putc", module_function)]
    fn putc(cx: &mut Cx, _this: Value, c: Value) -> Result<Value> {
        let out = stream::current(cx, 1);
        if cx.is_builtin(out, Sym::intern("putc"), ids::IO) {
            super::putc(cx, out, c)?;
            return Ok(c);
        }
        cx.call(out, Sym::intern("putc"), &[c])
    }
    /// Writes text made by `format` to `$stdout`, or to the IO given first.
    #[method("printf", module_function)]
    fn printf(cx: &mut Cx, _this: Value, items: Rest) -> Result<()> {
        let (out, rest) = match items {
            [] => return Ok(()),
            [f, ..] if f.is_kind(Kind::String) => (stream::current(cx, 1), items),
            [o, rest @ ..] => (*o, rest),
        };
        let main = cx.main;
        let s = cx.call(main, sym::format, rest)?;
        cx.call(out, sym::write, &[s])?;
        Ok(())
    }
}
