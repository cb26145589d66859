//! Arguments that several libraries take: open modes, encodings, line separators.

use zakuro_text::encoding::Encoding;
use zakuro_vm::*;

pub const READ: u8 = 1;
pub const WRITE: u8 = 2;
pub const APPEND: u8 = 4;
pub const TRUNCATE: u8 = 8;

/// An open mode.
#[derive(Clone, Copy, Default)]
pub struct Mode {
    /// READ | WRITE | APPEND | TRUNCATE
    pub bits: u8,
    pub encoding: Option<u8>,
    pub binary: bool,
    pub text: bool,
    /// A byte order mark is looked for ("r:BOM|utf-8").
    pub bom: bool,
}

/// The name of an encoding without "BOM|" before it, and whether that stood there.
pub fn without_bom(name: &str) -> (&str, bool) {
    match name.split_at_checked(4) {
        Some((mark, rest)) if mark.eq_ignore_ascii_case("bom|") => (rest, true),
        _ => (name, false),
    }
}

/// Of a String ("r+", "w:utf-8") or an Integer (IO::RDWR).
pub fn mode(cx: &mut Cx, v: Value) -> Result<Mode> {
    if v.is_fixnum() {
        let n = v.fix();
        // O_WRONLY, O_RDWR, O_APPEND, O_TRUNC as Linux numbers them (File::Constants).
        let mut bits = match n & 3 {
            0 => READ,
            1 => WRITE,
            _ => READ | WRITE,
        };
        if n & 0o2000 != 0 {
            bits |= APPEND;
        }
        if n & 0o1000 != 0 {
            bits |= TRUNCATE;
        }
        return Ok(Mode { bits, ..Mode::default() });
    }
    let text = cx.to_str(v)?.to_text();
    let (letters, enc) = match text.split_once(':') {
        Some((l, e)) => (l, Some(e.split(':').next().unwrap_or(e))),
        None => (text.as_str(), None),
    };
    let mut m = Mode::default();
    let mut chars = letters.chars();
    m.bits = match chars.next() {
        Some('r') => READ,
        Some('w') => WRITE | TRUNCATE,
        Some('a') => WRITE | APPEND,
        _ => return cx.arg_error(format!("invalid access mode {text}")),
    };
    for c in chars {
        match c {
            '+' => m.bits |= READ | WRITE,
            'b' => m.binary = true,
            't' => m.text = true,
            // A file must not be there yet; a String never is.
            'x' if letters.starts_with('w') => {}
            _ => return cx.arg_error(format!("invalid access mode {text}")),
        }
    }
    if m.binary && m.text {
        return cx.arg_error(format!("invalid access mode {text}"));
    }
    if let Some(e) = enc {
        let (e, bom) = without_bom(e);
        m.bom = bom;
        m.encoding = Encoding::find(e.as_bytes()).map(|e| e.id());
    }
    Ok(m)
}

/// Encoding (id) of an Encoding object or the name of one, perhaps `ext:int`.
pub fn encoding(cx: &mut Cx, v: Value) -> Result<u8> {
    let name = match cx.try_str(v)? {
        Some(s) => s.to_text(),
        None => cx.to_s_text(v)?,
    };
    let first = name.split(':').next().unwrap_or(&name);
    let (first, _) = without_bom(first);
    match first.to_ascii_lowercase().as_str() {
        "external" | "locale" | "filesystem" => return Ok(default_external(cx)),
        _ => {}
    }
    match Encoding::find(first.as_bytes()) {
        Some(e) => Ok(e.id()),
        None => cx.arg_error(format!("unknown encoding name - {first}")),
    }
}

/// `Encoding.default_external`
pub fn default_external(cx: &mut Cx) -> u8 {
    let class = cx.class_value(ids::ENCODING);
    match cx.call(class, Sym::intern("default_external"), &[]) {
        Ok(v) => cx.to_s_text(v).ok().and_then(|n| Encoding::find(n.as_bytes())).map_or(string::UTF8, |e| e.id()),
        Err(_) => {
            cx.take_pending();
            string::UTF8
        }
    }
}

/// The Encoding object of an id.
pub fn encoding_object(cx: &mut Cx, id: u8) -> Result<Value> {
    let name = cx.str(encoding_of(id).name());
    let class = cx.class_value(ids::ENCODING);
    cx.call(class, Sym::intern("find"), &[name])
}

pub fn encoding_of(id: u8) -> Encoding {
    Encoding::from_id(id).unwrap_or(Encoding::BINARY)
}

/// What `gets` and its family are asked for.
pub struct LineArgs {
    /// None: everything up to the end.
    pub separator: Option<Vec<u8>>,
    pub limit: Option<usize>,
    pub chomp: bool,
    /// Encoding of the separator.
    pub encoding: u8,
    /// It is `$/`, which every encoding has.
    pub usual: bool,
    /// Bytes of the shortest character: what separates lines starts at a multiple.
    pub unit: usize,
}

/// `(separator = $/, limit = nil, chomp: false)`
pub fn line_args(cx: &mut Cx, mut args: Args) -> Result<LineArgs> {
    let kw = args.take_kw();
    kw.only(cx, &[sym::chomp])?;
    let chomp = kw.get(sym::chomp).is_some_and(Value::truthy);
    builtin::check_arity(cx, args.len(), 0, 2)?;
    let (mut separator, mut limit) = (None, Value::NIL);
    match args.all() {
        [] => {}
        [v] if v.is_nil() => separator = Some(Value::NIL),
        [v] => match cx.try_str(*v)? {
            Some(s) => separator = Some(s.as_value()),
            None => limit = *v,
        },
        [s, l, ..] => {
            separator = Some(if s.is_nil() { *s } else { cx.to_str(*s)?.as_value() });
            limit = *l;
        }
    }
    let limit = if limit.is_nil() { None } else { usize::try_from(cx.to_i64(limit)?).ok() };
    let usual = cx.global_get(sym::input_rs)?;
    let separator = separator.unwrap_or(usual);
    let usual = separator == usual;
    let separator = Ref::<StringCell>::from_value(separator);
    let encoding = separator.map_or(string::UTF8, |s| s.encoding());
    let separator = separator.map(|s| s.to_vec());
    Ok(LineArgs { separator, limit, chomp, encoding, usual, unit: 1 })
}
