//! Open modes: "r+", "wb:utf-8", File::RDWR | File::CREAT, `mode:`, `flags:`, `encoding:` and friends.

use super::encodings::{self, Internal};
use super::object::{APPEND, Io, READ, WRITE};
use zakuro_core_text::string::encoding::Options;
use std::sync::Arc;
use zakuro_text::encoding::Encoding;
use zakuro_vm::*;

/// How to open a stream.
#[derive(Clone, Default)]
pub struct Mode {
    /// O_* bits, O_CLOEXEC not included.
    pub flags: i32,
    /// READ | WRITE | APPEND
    pub io: u8,
    pub binmode: bool,
    pub textmode: bool,
    /// Skip a byte order mark.
    pub bom: bool,
    /// The internal encoding that was asked for, for the external one that a mark tells.
    pub int_after_mark: Option<u8>,
    /// Settled encodings (see [`encodings`]).
    pub ext: Option<u8>,
    pub int: Option<u8>,
    pub conversion: Option<Arc<Options>>,
    pub autoclose: Option<bool>,
    pub sync: bool,
    pub path: Option<Vec<u8>>,
    /// Whether a mode was given at all.
    pub given: bool,
}

impl Mode {
    pub fn read() -> Mode {
        Mode { flags: libc::O_RDONLY, io: READ, ..Mode::default() }
    }
    /// Applies everything but the descriptor.
    pub fn apply(&self, io: &mut Io) {
        io.mode = self.io;
        io.binmode = self.binmode;
        io.universal = self.textmode;
        io.ext = self.ext;
        io.int = self.int;
        io.settled = true;
        io.conversion = self.conversion.clone();
        io.sync = self.sync;
        if let Some(a) = self.autoclose {
            io.owned = a;
        }
    }
}

/// Encodings that a mode names.
pub type Asked = Option<(Option<u8>, Internal, bool)>;

/// "r", "w+b", "a:utf-8"...
fn parse_text(cx: &mut Cx, text: &[u8], m: &mut Mode) -> Result<Asked> {
    let (letters, enc) = match text.iter().position(|b| *b == b':') {
        Some(i) => (&text[..i], Some(&text[i + 1..])),
        None => (text, None),
    };
    let bad = |cx: &mut Cx| cx.arg_error(format!("invalid access mode {}", String::from_utf8_lossy(text)));
    let (mut io, mut flags) = match letters.first() {
        Some(b'r') => (READ, 0),
        Some(b'w') => (WRITE, libc::O_CREAT | libc::O_TRUNC),
        Some(b'a') => (WRITE | APPEND, libc::O_CREAT | libc::O_APPEND),
        _ => return bad(cx),
    };
    for b in &letters[1..] {
        match b {
            b'+' => io |= READ | WRITE,
            b'b' if !m.textmode => m.binmode = true,
            b't' if !m.binmode => m.textmode = true,
            b'x' if letters[0] == b'w' => flags |= libc::O_EXCL,
            _ => return bad(cx),
        }
    }
    m.io = io;
    m.flags = flags | access(io);
    enc.map(|e| encodings::pair(cx, e)).transpose()
}

fn access(io: u8) -> i32 {
    match io & (READ | WRITE) {
        READ => libc::O_RDONLY,
        WRITE => libc::O_WRONLY,
        _ => libc::O_RDWR,
    }
}

/// Mode of O_* bits.
pub fn parse_flags(flags: i32, m: &mut Mode) {
    m.flags = flags & !libc::O_CLOEXEC;
    m.io = match flags & libc::O_ACCMODE {
        libc::O_WRONLY => WRITE,
        libc::O_RDWR => READ | WRITE,
        _ => READ,
    };
    if flags & libc::O_APPEND != 0 {
        m.io |= APPEND;
    }
}

/// Integer flags, also by `to_int`; None for what is to be a String.
fn flags_of(cx: &mut Cx, v: Value) -> Result<Option<i64>> {
    if v.is_kind(Kind::String) || !cx.is_integer(v) && !cx.responds(v, sym::to_int, true)? {
        return Ok(None);
    }
    cx.to_i64(v).map(Some)
}

/// Mode argument and keywords of `open`, `new`, `File.read` and the like. Keywords that aren't about modes are left to the caller.
pub fn parse(cx: &mut Cx, mode: Value, kw: &Kwargs, default: &str) -> Result<Mode> {
    let key = |n: &str| kw.named(n).filter(|v| !v.is_nil());
    let mut m = Mode::default();
    let mut mode = mode;
    if let Some(k) = key("mode") {
        if !mode.is_nil() {
            return cx.arg_error("mode specified twice");
        }
        mode = k;
    }
    m.given = !mode.is_nil();
    let mut asked = None;
    if mode.is_nil() {
        asked = parse_text(cx, default.as_bytes(), &mut m)?;
    } else if let Some(n) = flags_of(cx, mode)? {
        parse_flags(n as i32, &mut m);
    } else {
        let s = cx.to_str(mode)?;
        if s.has_nul() {
            return cx.arg_error("string contains null byte");
        }
        let text = s.to_vec();
        asked = parse_text(cx, &text, &mut m)?;
    }
    if let Some(f) = key("flags") {
        let n = cx.to_i64(f)? as i32;
        m.flags |= n & !libc::O_ACCMODE;
        if n & libc::O_APPEND != 0 {
            m.io |= APPEND;
        }
    }
    for (name, other) in [("textmode", false), ("binmode", true)] {
        let Some(v) = key(name) else { continue };
        let (mine, others) = if other { (&mut m.binmode, m.textmode) } else { (&mut m.textmode, m.binmode) };
        if *mine {
            return cx.arg_error(format!("{name} specified twice"));
        }
        if others {
            return cx.arg_error("both textmode and binmode specified");
        }
        *mine = v.truthy();
    }
    if let Some(e) = encodings::of_keywords(cx, kw)? {
        if asked.is_some() {
            return cx.arg_error("encoding specified twice");
        }
        asked = Some(e);
    }
    encodings::settle_mode(cx, &mut m, asked, *kw)?;
    if let Some(a) = kw.named("autoclose") {
        m.autoclose = Some(a.truthy());
    }
    m.sync = key("sync").is_some_and(Value::truthy);
    if let Some(p) = key("path") {
        m.path = Some(cx.path_of(p)?);
    }
    Ok(m)
}

/// Encoding object of an id.
pub fn encoding_value(cx: &mut Cx, id: u8) -> Result<Value> {
    let name = Encoding::from_id(id).map_or("UTF-8", |e| e.name());
    let class = cx.class_value(ids::ENCODING);
    let n = cx.str(name);
    cx.call(class, Sym::intern("find"), &[n])
}
