//! io/console: size and modes of a terminal, reading without echo; and the reading methods for streams that are no terminal (StringIO).
//!
//! System calls are native, functions of the private module `IO::ConsoleSys` that take a descriptor; a mode crosses to Ruby as the bytes of a `struct termios`.
//! The methods of IO are Ruby (`ruby/io_console.rb`).

use zakuro_core_system::io::fail;
use zakuro_core_system::process::owner;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Raises what the system says of the last call.
#[cold]
fn refused<T>(cx: &mut Cx) -> Result<T> {
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    fail(cx, errno, "")
}

/// The mode in a String; ArgumentError when it is none.
fn mode_of(cx: &mut Cx, bytes: Ref<StringCell>) -> Result<libc::termios> {
    let bytes = bytes.to_vec();
    if bytes.len() != size_of::<libc::termios>() {
        return cx.arg_error("no mode of a terminal");
    }
    // SAFETY: as many bytes as the struct has, and every pattern of them is one.
    Ok(unsafe { std::ptr::read_unaligned(bytes.as_ptr().cast()) })
}

fn mode_string(cx: &mut Cx, mode: &libc::termios) -> Value {
    // SAFETY: a struct of integers without padding that was not written: tcgetattr fills a zeroed one.
    let bytes = unsafe { std::slice::from_raw_parts((&raw const *mode).cast::<u8>(), size_of::<libc::termios>()) };
    cx.str_bytes(bytes, string::BINARY)
}

/// Methods of `IO::ConsoleSys`.
#[ruby_class(ids::OBJECT)]
mod sys {
    use super::*;

    /// The mode of a terminal.
    #[method("mode", singleton)]
    fn mode(cx: &mut Cx, _this: Value, fd: i64) -> Result<Value> {
        // SAFETY: integers; tcgetattr writes to it.
        let mut mode: libc::termios = unsafe { std::mem::zeroed() };
        // SAFETY: as above; any descriptor may be asked.
        if unsafe { libc::tcgetattr(fd as i32, &mut mode) } != 0 {
            return refused(cx);
        }
        Ok(mode_string(cx, &mode))
    }
    /// Gives a terminal a mode. `flush`: what was typed and not read is dropped.
    #[method("set_mode", singleton)]
    fn set_mode(cx: &mut Cx, _this: Value, fd: i64, mode: Ref<StringCell>, flush: bool) -> Result<()> {
        owner::check_terminal(cx, fd as i32)?;
        let mode = mode_of(cx, mode)?;
        let when = if flush { libc::TCSAFLUSH } else { libc::TCSADRAIN };
        // SAFETY: a whole struct.
        while unsafe { libc::tcsetattr(fd as i32, when, &mode) } != 0 {
            if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
                return refused(cx);
            }
            cx.safepoint()?;
        }
        Ok(())
    }
    /// A mode in which each key is read at once, unchanged. `min`: how many characters a read waits for; `time`: tenths of a second; `signals`: whether
    /// interrupt and suspend keys keep their meaning.
    #[method("raw", singleton)]
    fn raw(cx: &mut Cx, _this: Value, mode: Ref<StringCell>, min: i64, time: i64, signals: bool) -> Result<Value> {
        let mut mode = mode_of(cx, mode)?;
        // SAFETY: changes the struct.
        unsafe { libc::cfmakeraw(&mut mode) };
        mode.c_lflag &= !(libc::ECHOE | libc::ECHOK);
        mode.c_cc[libc::VMIN] = min.clamp(0, 255) as u8;
        mode.c_cc[libc::VTIME] = time.clamp(0, 255) as u8;
        if signals {
            mode.c_iflag |= libc::BRKINT;
            mode.c_lflag |= libc::ISIG;
            mode.c_oflag |= libc::OPOST;
        }
        Ok(mode_string(cx, &mode))
    }
    /// The mode of lines again.
    #[method("cooked", singleton)]
    fn cooked(cx: &mut Cx, _this: Value, mode: Ref<StringCell>) -> Result<Value> {
        let mut mode = mode_of(cx, mode)?;
        mode.c_iflag |= libc::BRKINT | libc::ISTRIP | libc::ICRNL | libc::IXON;
        mode.c_oflag |= libc::OPOST;
        mode.c_lflag |= libc::ECHO | libc::ECHOE | libc::ECHOK | libc::ECHONL | libc::ICANON | libc::ISIG | libc::IEXTEN;
        Ok(mode_string(cx, &mode))
    }
    /// The mode with echo, or without.
    #[method("with_echo", singleton)]
    fn with_echo(cx: &mut Cx, _this: Value, mode: Ref<StringCell>, echo: bool) -> Result<Value> {
        let mut mode = mode_of(cx, mode)?;
        let flags = libc::ECHO | libc::ECHOE | libc::ECHOK | libc::ECHONL;
        if echo {
            mode.c_lflag |= flags;
        } else {
            mode.c_lflag &= !flags;
        }
        Ok(mode_string(cx, &mode))
    }
    /// Whether what is typed is shown.
    #[method("echo?", singleton)]
    fn echoes(cx: &mut Cx, _this: Value, mode: Ref<StringCell>) -> Result<bool> {
        Ok(mode_of(cx, mode)?.c_lflag & (libc::ECHO | libc::ECHONL) != 0)
    }
    /// [rows, columns]
    #[method("size", singleton)]
    fn size(cx: &mut Cx, _this: Value, fd: i64) -> Result<Value> {
        // SAFETY: integers; ioctl writes to it.
        let mut size: libc::winsize = unsafe { std::mem::zeroed() };
        // SAFETY: as above.
        if unsafe { libc::ioctl(fd as i32, libc::TIOCGWINSZ, &mut size) } != 0 {
            return refused(cx);
        }
        Ok(cx.array(&[Value::fixnum(i64::from(size.ws_row)), Value::fixnum(i64::from(size.ws_col))]))
    }
    /// Tells the terminal its size, in characters and pixels.
    #[method("set_size", singleton)]
    fn set_size(cx: &mut Cx, _this: Value, fd: i64, rows: i64, columns: i64, width: i64, height: i64) -> Result<()> {
        owner::check_terminal(cx, fd as i32)?;
        let size = libc::winsize { ws_row: rows as u16, ws_col: columns as u16, ws_xpixel: width as u16, ws_ypixel: height as u16 };
        // SAFETY: reads the struct.
        if unsafe { libc::ioctl(fd as i32, libc::TIOCSWINSZ, &size) } != 0 {
            return refused(cx);
        }
        Ok(())
    }
    /// Drops what was typed and not read (1), written and not sent (2), or both (3).
    #[method("drop", singleton)]
    fn drop_queued(cx: &mut Cx, _this: Value, fd: i64, which: i64) -> Result<()> {
        owner::check_terminal(cx, fd as i32)?;
        let which = match which {
            1 => libc::TCIFLUSH,
            2 => libc::TCOFLUSH,
            _ => libc::TCIOFLUSH,
        };
        // SAFETY: any descriptor may be asked.
        if unsafe { libc::tcflush(fd as i32, which) } != 0 {
            return refused(cx);
        }
        Ok(())
    }
    /// The name of a terminal, or nil.
    #[method("ttyname", singleton)]
    fn ttyname(cx: &mut Cx, _this: Value, fd: i64) -> Value {
        let mut name = [0u8; 256];
        // SAFETY: writes at most so many bytes, with a zero at their end.
        if unsafe { libc::ttyname_r(fd as i32, name.as_mut_ptr().cast(), name.len()) } != 0 {
            return Value::NIL;
        }
        cx.str_auto(name.split(|b| *b == 0).next().unwrap_or_default())
    }
}

/// Methods of `IO::generic_readable`.
#[ruby_class(ids::OBJECT)]
mod readable {
    use super::*;

    /// The next character, as `getc`.
    #[method("getch", min = 0, max = -1)]
    fn getch(cx: &mut Cx, this: Value, _args: Args) -> Result<Value> {
        cx.call(this, Sym::intern("getc"), &[])
    }
    /// A line without its end, after a prompt on `$stderr`.
    #[method("getpass")]
    fn getpass(cx: &mut Cx, this: Value, prompt: Option<Value>) -> Result<Value> {
        let err = cx.global_get(sym::stderr)?;
        if let Some(p) = prompt.filter(|p| !p.is_nil()) {
            cx.call(err, sym::print, &[p])?;
        }
        let line = cx.call(this, Sym::intern("gets"), &[])?;
        cx.call(err, sym::puts, &[])?;
        if line.is_nil() { Ok(line) } else { cx.call(line, Sym::intern("chomp"), &[]) }
    }
}

/// `require "io/console"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let module = cx.define_module(ids::IO, "generic_readable");
    cx.define_natives(module, &[readable::METHODS]);
    let system = cx.define_module(ids::IO, "ConsoleSys");
    cx.define_natives(system, &[sys::METHODS]);
    cx.run_builtin("io/console")
}
