//! Output methods of IO.

use super::encodings::to_external;
use super::object;
use super::print;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Writes one object's text; returns the number of bytes.
pub fn write_value(cx: &mut Cx, io: Value, v: Value) -> Result<usize> {
    cx.may_block()?;
    let s = cx.to_s(v)?;
    let s = to_external(cx, io, s)?;
    let n = s.len();
    if n == 0 {
        return Ok(0);
    }
    // What is in the buffer may have to go first, and others run meanwhile.
    object::write(cx, io, &Held::of(s))?;
    Ok(n)
}

/// `out << text` for any object that has `write`.
pub fn write_to(cx: &mut Cx, out: Value, bytes: &[u8]) -> Result<()> {
    if cx.is_builtin(out, sym::write, ids::IO) {
        return object::write(cx, out, bytes);
    }
    let s = cx.str_auto(bytes);
    cx.call(out, sym::write, &[s])?;
    Ok(())
}

#[ruby_class(ids::IO)]
pub mod io {
    use super::*;
    /// Writes the objects' texts; returns the number of bytes.
    ///
    ///     $stderr.write("")   #=> 0
    #[method("write")]
    fn write(cx: &mut Cx, this: Value, items: Rest) -> Result<i64> {
        let mut n = 0;
        if let [one] = items {
            return Ok(write_value(cx, this, *one)? as i64);
        }
        let mut all = Vec::new();
        for v in items {
            let s = cx.to_s(*v)?;
            let s = to_external(cx, this, s)?;
            n += s.len();
            all.extend_from_slice(s.content(&cx.heap));
        }
        if n > 0 {
            object::write(cx, this, &all)?;
        }
        Ok(n as i64)
    }
    /// Writes one object's text; returns the stream.
    #[method("<<")]
    fn append(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        if cx.is_builtin(this, sym::write, ids::IO) {
            write_value(cx, this, v)?;
        } else {
            cx.call(this, sym::write, &[v])?;
        }
        Ok(this)
    }
    /// Writes each object on a line of its own; arrays are flattened.
    #[method("puts")]
    fn puts(cx: &mut Cx, this: Value, items: Rest) -> Result<()> {
        print::puts(cx, this, items)
    }
    /// Writes objects side by side (`$_` when none is given), with `$,` between and `$\` behind them.
    #[method("print")]
    fn print(cx: &mut Cx, this: Value, items: Rest) -> Result<()> {
        print::print(cx, this, items)
    }
    /// Writes text made by `format`.
    #[method("printf")]
    fn printf(cx: &mut Cx, this: Value, items: Rest) -> Result<()> {
        if items.is_empty() {
            return Ok(());
        }
        let main = cx.main;
        let s = cx.call(main, sym::format, items)?;
        cx.call(this, sym::write, &[s])?;
        Ok(())
    }
    /// Writes a character: the first of a String, or a byte given as number.
    #[method("putc")]
    fn putc(cx: &mut Cx, this: Value, c: Value) -> Result<Value> {
        print::putc(cx, this, c)?;
        Ok(c)
    }
    /// Writes what is buffered; returns the stream.
    #[method("flush")]
    fn flush(cx: &mut Cx, this: Value) -> Result<Value> {
        object::flush(cx, this)?;
        Ok(this)
    }
    /// Whether each write goes out at once.
    ///
    ///     $stderr.sync   #=> true
    #[method("sync")]
    fn sync(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(object::get(cx, this)?.sync)
    }
    /// Sets whether each write goes out at once.
    #[method("sync=")]
    fn set_sync(cx: &mut Cx, this: Value, on: Value) -> Result<Value> {
        object::get(cx, this)?.sync = on.truthy();
        if on.truthy() {
            object::flush(cx, this)?;
        }
        Ok(on)
    }
}
