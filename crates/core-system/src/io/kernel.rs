//! Functions of Kernel about files and input: `open`, `gets`, `readlines`, `select`, `test`.

use super::lines;
use super::{open, stream, whole};
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Where `gets` and friends read: `$stdin` when no files are named, else ARGF.
fn input(cx: &mut Cx) -> Result<Value> {
    let argv = stream::argv(cx);
    let empty = Ref::<ArrayCell>::from_value(argv).is_none_or(|a| a.is_empty());
    if empty && cx.state::<stream::IoState>().argf.is_none() { Ok(stream::current(cx, 0)) } else { Ok(stream::argf(cx)) }
}

/// The methods of ARGF that set `$_` of their caller; the others are the prelude's.
#[ruby_class(ids::ARGF_CLASS)]
pub mod argf {
    use super::*;
    /// The next line of the files; nil behind the last one. Sets `$_`.
    #[method("gets")]
    fn gets(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let v = cx.call_full(this, Sym::intern("__gets"), args.all(), args.kw, Block::NONE)?;
        Ok(lines::set_last(cx, v))
    }
    /// As `gets`; EOFError behind the last file.
    #[method("readline")]
    fn readline(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let v = gets(cx, this, args)?;
        if v.is_nil() { lines::eof_error(cx) } else { Ok(v) }
    }
}

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;
    /// Opens a file (or what the argument's `to_open` gives); with a block closes it afterwards.
    ///
    ///     open("/dev/null") { |f| f.read }   #=> ""
    #[method("open", module_function, min = 1)]
    fn open(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        let Some(first) = args.get(0) else { return cx.arity_error(0, 1, None) };
        if !first.is_kind(Kind::String) && cx.responds(first, sym::to_open, true)? {
            let v = cx.call_full(first, sym::to_open, &args.all()[1..], args.kw, Block::NONE)?;
            return if args.block.is_some() { cx.yield1(args.block, v) } else { Ok(v) };
        }
        // File.new takes descriptors, too.
        if !first.is_kind(Kind::String) {
            cx.path_of(first)?;
        }
        let file = cx.class_value(ids::FILE);
        let v = cx.call_full(file, sym::new, args.all(), args.kw, Block::NONE)?;
        if args.block.is_some() { open::with_block(cx, v, args.block) } else { Ok(v) }
    }
    /// The next line of input: of the files in ARGV, or `$stdin`. Sets `$_`.
    #[method("gets", module_function)]
    fn gets(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        let src = input(cx)?;
        let v = cx.call_full(src, sym::gets, args.all(), args.kw, Block::NONE)?;
        Ok(lines::set_last(cx, v))
    }
    /// As `gets`; EOFError at the end.
    #[method("readline", module_function)]
    fn readline(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let v = gets(cx, this, args)?;
        if v.is_nil() { lines::eof_error(cx) } else { Ok(v) }
    }
    /// All remaining lines of input.
    #[method("readlines", module_function)]
    fn readlines(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        let src = input(cx)?;
        cx.call_full(src, Sym::intern("readlines"), args.all(), args.kw, Block::NONE)
    }
    /// As IO.select.
    #[method("select", module_function)]
    fn select(cx: &mut Cx, _this: Value, r: Value, w: Option<Value>, e: Option<Value>, timeout: Option<Value>) -> Result<Value> {
        let nil = Value::NIL;
        whole::select(cx, r, w.unwrap_or(nil), e.unwrap_or(nil), timeout.unwrap_or(nil))
    }
    /// A question about a file, named by a character: `?e`, `?f`, `?d`, `?s`, `?z`, `?r`, `?w`, `?x`, `?l`, `?M` ...
    ///
    ///     test(?d, "/")   #=> true
    #[method("test", module_function)]
    fn test(cx: &mut Cx, _this: Value, what: Value, file: Value, other: Option<Value>) -> Result<Value> {
        let c = if cx.is_integer(what) { cx.to_i64(what)? as u8 } else { cx.to_str(what)?.bytes().first().copied().unwrap_or(0) };
        let name = match c {
            b'e' => "exist?",
            b'f' => "file?",
            b'd' => "directory?",
            b's' => "size?",
            b'z' => "zero?",
            b'r' => "readable?",
            b'R' => "readable_real?",
            b'w' => "writable?",
            b'W' => "writable_real?",
            b'x' => "executable?",
            b'X' => "executable_real?",
            b'l' => "symlink?",
            b'p' => "pipe?",
            b'S' => "socket?",
            b'b' => "blockdev?",
            b'c' => "chardev?",
            b'o' | b'O' => "owned?",
            b'G' => "grpowned?",
            b'u' => "setuid?",
            b'g' => "setgid?",
            b'k' => "sticky?",
            b'M' => "mtime",
            b'A' => "atime",
            b'C' => "ctime",
            b'-' | b'=' | b'<' | b'>' => {
                let Some(o) = other else { return cx.arity_error(2, 3, Some(3)) };
                let class = cx.class_value(ids::FILE);
                if c == b'-' {
                    return cx.call(class, Sym::intern("identical?"), &[file, o]);
                }
                let a = cx.call(class, Sym::intern("mtime"), &[file])?;
                let b = cx.call(class, Sym::intern("mtime"), &[o])?;
                let op = match c {
                    b'=' => sym::eq,
                    b'<' => sym::lt,
                    _ => sym::gt,
                };
                return cx.call(a, op, &[b]);
            }
            _ => return cx.arg_error(format!("unknown command '{}{}'", if c.is_ascii_graphic() { "" } else { "\\x" }, c as char)),
        };
        let class = cx.class_value(ids::FILE);
        cx.call(class, Sym::intern(name), &[file])
    }
}
