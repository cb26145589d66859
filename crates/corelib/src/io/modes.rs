//! Open modes: "r+", "wb:utf-8", File::RDWR | File::CREAT, `mode:`, `flags:`, `encoding:` and friends.

use super::object::{APPEND, Io, READ, WRITE};
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
    pub ext: Option<u8>,
    pub int: Option<u8>,
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
        io.sync = self.sync;
        if let Some(a) = self.autoclose {
            io.owned = a;
        }
    }
}

/// Encoding id of an Encoding object or name. None when unknown.
pub fn encoding_id(cx: &mut Cx, v: Value) -> Result<Option<u8>> {
    if v.is_nil() {
        return Ok(None);
    }
    let name = cx.to_s(v)?;
    Ok(find_encoding(name.bytes()))
}

fn find_encoding(name: &[u8]) -> Option<u8> {
    match name.to_ascii_lowercase().as_slice() {
        b"locale" | b"external" | b"filesystem" => Some(Encoding::UTF_8.id()),
        _ => Encoding::find(name).map(|e| e.id()),
    }
}

/// "ext" or "ext:int", perhaps with "BOM|" in front.
fn encodings(cx: &mut Cx, m: &mut Mode, text: &[u8]) -> Result<()> {
    let (mut ext, int) = match text.iter().position(|b| *b == b':') {
        Some(i) => (&text[..i], Some(&text[i + 1..])),
        None => (text, None),
    };
    if ext.len() > 4 && ext[..4].eq_ignore_ascii_case(b"BOM|") {
        m.bom = true;
        ext = &ext[4..];
    }
    if ext != b"-" {
        m.ext = find_encoding(ext);
        if m.ext.is_none() {
            let w = format!("Unsupported encoding {} ignored", String::from_utf8_lossy(ext));
            warn(cx, &w)?;
        }
    }
    if let Some(int) = int
        && int != b"-"
    {
        m.int = find_encoding(int).filter(|i| Some(*i) != m.ext);
    }
    Ok(())
}

fn warn(cx: &mut Cx, text: &str) -> Result<()> {
    match zakuro_vm::boot::hooks().warn {
        Some(f) => f(cx, &format!("warning: {text}\n")),
        None => Ok(()),
    }
}

/// "r", "w+b", "a:utf-8"...
pub fn parse_text(cx: &mut Cx, text: &[u8], m: &mut Mode) -> Result<()> {
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
    if let Some(e) = enc {
        encodings(cx, m, e)?;
    }
    Ok(())
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

/// Mode argument and keywords of `open`, `new`, `File.read` and the like. Keywords that aren't about modes are left to the caller.
pub fn parse(cx: &mut Cx, mode: Value, kw: &Kwargs, default: &str) -> Result<Mode> {
    let key = |n: &str| kw.get(Sym::intern(n)).filter(|v| !v.is_nil());
    let mut m = Mode::default();
    let mut mode = mode;
    if let Some(k) = key("mode") {
        if !mode.is_nil() {
            return cx.arg_error("mode specified twice");
        }
        mode = k;
    }
    m.given = !mode.is_nil();
    if mode.is_nil() {
        parse_text(cx, default.as_bytes(), &mut m)?;
    } else if cx.is_integer(mode) {
        let n = cx.to_i64(mode)?;
        parse_flags(n as i32, &mut m);
    } else {
        let s = cx.to_str(mode)?;
        let text = s.bytes().to_vec();
        parse_text(cx, &text, &mut m)?;
    }
    if let Some(f) = key("flags") {
        let n = cx.to_i64(f)? as i32;
        m.flags |= n & !libc::O_ACCMODE;
        if n & libc::O_APPEND != 0 {
            m.io |= APPEND;
        }
    }
    if key("binmode").is_some_and(Value::truthy) {
        if m.textmode || key("textmode").is_some_and(Value::truthy) {
            return cx.arg_error("both textmode and binmode specified");
        }
        if m.binmode {
            return cx.arg_error("binmode specified twice");
        }
        m.binmode = true;
    }
    if key("textmode").is_some_and(Value::truthy) {
        if m.binmode {
            return cx.arg_error("both textmode and binmode specified");
        }
        m.textmode = true;
    }
    if let Some(e) = key("encoding") {
        let s = cx.to_s(e)?;
        let text = s.bytes().to_vec();
        encodings(cx, &mut m, &text)?;
    }
    if let Some(e) = key("external_encoding") {
        let s = cx.to_s(e)?;
        let text = s.bytes().to_vec();
        encodings(cx, &mut m, &text)?;
    }
    if let Some(e) = key("internal_encoding") {
        m.int = encoding_id(cx, e)?.filter(|i| Some(*i) != m.ext);
    }
    if let Some(a) = kw.get(Sym::intern("autoclose")) {
        m.autoclose = Some(a.truthy());
    }
    if key("universal_newline").is_some_and(Value::truthy) {
        m.textmode = true;
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
