//! Encoding: objects that name encodings, and the defaults of a VM.
//!
//! Invariant: there is one object per encoding, made for the boot image; they stand, in order of id, in an Array that is the class's
//! `extra` value. The defaults (`default_external`, `default_internal`) belong to each VM.

pub mod converter;

use crate::string::util;
use zakuro_macros::{Trace, ruby_class};
use zakuro_text::encoding::Encoding;
use zakuro_vm::*;

/// Payload of an Encoding object.
#[derive(Trace)]
struct EncodingData(#[untraced] Encoding);
impl NativeData for EncodingData {
    fn refers(&self) -> bool {
        false
    }
}

#[derive(Trace, Default)]
struct Defaults {
    #[untraced]
    external: Option<Encoding>,
    #[untraced]
    internal: Option<Encoding>,
}
impl VmState for Defaults {
    fn snapshot(&self, _values: &mut Gathered) -> Option<Restore> {
        Some(blueprint(self.external, self.internal))
    }
}

fn blueprint(external: Option<Encoding>, internal: Option<Encoding>) -> Restore {
    let save = move |out: &mut Saved| {
        out.option(external.map(|e| e.id().into())).option(internal.map(|e| e.id().into()));
        Some("default encodings")
    };
    savable_state(move |cx, _| *cx.state::<Defaults>() = Defaults { external, internal }, save)
}
zakuro_vm::state_loader!("default encodings", |r| {
    let mut next = || r.option()?.map(|n| Encoding::from_id(u8::try_from(n).ok()?)).map_or(Some(None), |e| e.map(Some));
    let (external, internal) = (next()?, next()?);
    r.ends(0)?;
    Some(blueprint(external, internal))
});

pub static TABLES: &[&[MethodRow]] = &[encodings::METHODS, converter::converter::METHODS, conversion_errors::METHODS, invalid_sequences::METHODS];

/// Of the tables of cases, classes and normal forms.
const UNICODE_VERSION: &str = "17.0.0";

pub fn setup(cx: &mut Cx) {
    let all = cx.new_array();
    for e in Encoding::all() {
        let v = cx.data(ids::ENCODING, EncodingData(e));
        v.set_flags(flags::FROZEN);
        ArrayCell::push(all, &mut cx.heap, v);
        for name in std::iter::once(&e.name()).chain(e.aliases()) {
            for constant in constants_of(name) {
                cx.const_set(ids::ENCODING, Sym::intern(&constant), v);
            }
        }
    }
    cx.class_mut(ids::ENCODING).extra = all.as_value();
    let version = cx.frozen_str(UNICODE_VERSION);
    cx.const_set(ids::ENCODING, Sym::intern("UNICODE_VERSION"), version);
    converter::setup(cx);
}

/// Names of the constants for an encoding name: as written, and in capitals.
fn constants_of(name: &str) -> Vec<String> {
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return Vec::new();
    }
    let mut plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    plain[..1].make_ascii_uppercase();
    let upper = plain.to_ascii_uppercase();
    if upper == plain { vec![plain] } else { vec![plain, upper] }
}

/// The object of an encoding.
pub fn object(cx: &Cx, e: Encoding) -> Value {
    let all = cx.class(ids::ENCODING).extra;
    Ref::<ArrayCell>::from_value(all).and_then(|a| a.get(e.id() as usize)).unwrap_or(Value::NIL)
}

/// The encoding that an Encoding object stands for; None for other objects.
pub fn of(v: Value) -> Option<Encoding> {
    Ref::<DataCell>::from_value(v)?.get::<EncodingData>().map(|d| d.0)
}

/// Encoding that text from outside is taken for.
pub fn default_external(cx: &mut Cx) -> Encoding {
    cx.state::<Defaults>().external.unwrap_or(Encoding::UTF_8)
}

/// Encoding of the locale that the process was started in.
pub fn locale(cx: &Cx) -> Encoding {
    cx.options.charmap.as_ref().and_then(|n| Encoding::find(n.as_bytes())).unwrap_or(Encoding::UTF_8)
}

/// Encoding (id) of sources that name none, when the command line gives one.
pub fn source_encoding(cx: &Cx) -> Option<u8> {
    let name = cx.options.source_encoding.as_ref()?;
    Encoding::find(name.as_bytes()).map(|e| e.id())
}

/// Sets the defaults that the command line names.
pub fn set_defaults(cx: &mut Cx) {
    let options = cx.options.clone();
    let find = |name: &Option<String>| name.as_ref().and_then(|n| Encoding::find(n.as_bytes()));
    let locale = Some(locale(cx)).filter(|e| *e != Encoding::UTF_8);
    let d = cx.state::<Defaults>();
    d.external = find(&options.external_encoding).or(locale);
    d.internal = find(&options.internal_encoding);
}

/// Encoding that text from outside is converted to, when set.
pub fn default_internal(cx: &mut Cx) -> Option<Encoding> {
    cx.state::<Defaults>().internal
}

/// Encoding of what `inspect` gives.
pub fn shown_in(cx: &mut Cx) -> Encoding {
    default_internal(cx).unwrap_or_else(|| default_external(cx))
}

/// Text from outside (names of files, variables): in its encoding, brought to the default internal one when that can be done. What is no US-ASCII where that is
/// expected is binary.
pub fn external_text(cx: &mut Cx, bytes: &[u8], e: Encoding) -> Value {
    let e = if e == Encoding::US_ASCII && !bytes.is_ascii() { Encoding::BINARY } else { e };
    match default_internal(cx) {
        Some(to) if to != e && e != Encoding::BINARY => {
            let plain = bytes.is_ascii() && e.is_ascii_compatible() && to.is_ascii_compatible();
            let policy = zakuro_text::encoding::transcode::Policy::default();
            match zakuro_text::encoding::transcode::transcode(e, to, bytes, &policy) {
                _ if plain => cx.str_bytes(bytes, to.id()),
                Ok(b) => cx.str_bytes(&b, to.id()),
                Err(_) => cx.str_bytes(bytes, e.id()),
            }
        }
        _ => cx.str_bytes(bytes, e.id()),
    }
}

/// By name, the VM's own names included. `internal` may be unset: Some(None).
fn by_name(cx: &mut Cx, name: Ref<StringCell>) -> Option<Option<Encoding>> {
    let lower = name.content(&cx.heap).to_ascii_lowercase();
    match &lower[..] {
        b"locale" => Some(Some(locale(cx))),
        b"filesystem" => Some(Some(default_external(cx))),
        b"external" => Some(Some(default_external(cx))),
        b"internal" => Some(default_internal(cx)),
        _ => Encoding::find(name.content(&cx.heap)).map(Some),
    }
}

/// Encoding argument: an Encoding, or the name of one. ArgumentError for an unknown name.
pub fn from_value(cx: &mut Cx, v: Value) -> Result<Encoding> {
    match find(cx, v)? {
        Some(e) => Ok(e),
        // `internal` while it is unset.
        None => Ok(Encoding::BINARY),
    }
}

fn find(cx: &mut Cx, v: Value) -> Result<Option<Encoding>> {
    if let Some(e) = of(v) {
        return Ok(Some(e));
    }
    let s = cx.to_str(v)?;
    if !util::enc(s).is_ascii_compatible() {
        let name = util::enc(s).name();
        return cx.arg_error(format!("invalid encoding name (non ASCII): {name}"));
    }
    match by_name(cx, s) {
        Some(e) => Ok(e),
        None => {
            let name = s.to_text();
            cx.arg_error(format!("unknown encoding name - {name}"))
        }
    }
}

/// Encoding of a String, Symbol, Regexp or Encoding object; None for others.
fn encoding_of(v: Value) -> Option<Encoding> {
    if let Some(s) = Ref::<StringCell>::from_value(v) {
        return Some(util::enc(s));
    }
    if let Some(s) = v.as_sym() {
        return Some(crate::symbol::encoding_of(s));
    }
    if let Some(r) = crate::regexp::engine::regexp_of(&v) {
        return Some(r.regexp.encoding());
    }
    of(v)
}

/// Payload of conversion errors, in hidden instance variables: what `Encoding::UndefinedConversionError` and
/// `Encoding::InvalidByteSequenceError` tell about the failing step.
pub mod hidden {
    use zakuro_vm::Sym;
    pub fn source() -> Sym {
        Sym::intern("__source_encoding")
    }
    pub fn destination() -> Sym {
        Sym::intern("__destination_encoding")
    }
    pub fn error() -> Sym {
        Sym::intern("__error_bytes")
    }
    pub fn readagain() -> Sym {
        Sym::intern("__readagain_bytes")
    }
    pub fn incomplete() -> Sym {
        Sym::intern("__incomplete_input")
    }
}

#[ruby_class(ids::ENCODING)]
mod encodings {
    use super::*;

    fn this_encoding(cx: &mut Cx, v: Value) -> Result<Encoding> {
        Ok(cx.data_ref::<EncodingData>(v)?.0)
    }

    fn set_default(cx: &mut Cx, v: Value) -> Result<Option<Encoding>> {
        if v.is_nil() { Ok(None) } else { from_value(cx, v).map(Some) }
    }

    /// The name.
    ///
    ///     Encoding::UTF_8.name     #=> "UTF-8"
    ///     Encoding::BINARY.to_s    #=> "ASCII-8BIT"
    #[method("name", "to_s")]
    fn name(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = this_encoding(cx, this)?;
        Ok(cx.str_bytes(e.name().as_bytes(), string::US_ASCII))
    }

    /// What Marshal writes: the name.
    #[method("_dump")]
    fn dump(cx: &mut Cx, this: Value, _limit: Option<Value>) -> Result<Value> {
        name(cx, this)
    }

    /// What Marshal reads.
    ///
    ///     Marshal.load(Marshal.dump(Encoding::UTF_8))    #=> #<Encoding:UTF-8>
    #[method("_load", singleton)]
    fn load(cx: &mut Cx, this: Value, name: Value) -> Result<Value> {
        find_by(cx, this, name)
    }

    /// For programmers.
    ///
    ///     Encoding::UTF_8.inspect    #=> "#<Encoding:UTF-8>"
    ///     Encoding::BINARY.inspect   #=> "#<Encoding:BINARY (ASCII-8BIT)>"
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = this_encoding(cx, this)?;
        let dummy = if e.is_dummy() { " (dummy)" } else { "" };
        Ok(cx.str_plain(format!("#<Encoding:{}{dummy}>", util::shown_name(e))))
    }

    /// The name and its aliases.
    ///
    ///     Encoding::US_ASCII.names   #=> ["US-ASCII", "ASCII", "ANSI_X3.4-1968", "646"]
    #[method("names")]
    fn names(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = this_encoding(cx, this)?;
        let mut names: Vec<String> = std::iter::once(&e.name()).chain(e.aliases()).map(|s| s.to_string()).collect();
        if e == Encoding::UTF_8 {
            names.extend(["locale".to_string(), "filesystem".to_string()]);
        }
        if e == default_external(cx) {
            names.push("external".into());
        }
        if Some(e) == default_internal(cx) {
            names.push("internal".into());
        }
        Ok(cx.str_array(&names))
    }

    /// A name without an implementation behind it?
    ///
    ///     Encoding::UTF_8.dummy?    #=> false
    ///     Encoding::UTF_7.dummy?    #=> true
    #[method("dummy?")]
    fn dummy(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(this_encoding(cx, this)?.is_dummy())
    }

    /// Are ASCII's characters the bytes of ASCII?
    ///
    ///     Encoding::UTF_8.ascii_compatible?      #=> true
    ///     Encoding::UTF_16LE.ascii_compatible?   #=> false
    #[method("ascii_compatible?")]
    fn ascii_compatible(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(this_encoding(cx, this)?.is_ascii_compatible())
    }

    /// All encodings.
    ///
    ///     Encoding.list.include?(Encoding::UTF_8)   #=> true
    #[method("list", singleton)]
    fn list(cx: &Cx, _this: Value) -> Value {
        cx.array_of(Encoding::all().map(|e| object(cx, e)))
    }

    /// All names and aliases.
    ///
    ///     Encoding.name_list.include?("BINARY")   #=> true
    #[method("name_list", singleton)]
    fn name_list(cx: &Cx, _this: Value) -> Value {
        let mut names: Vec<String> = Vec::new();
        for e in Encoding::all() {
            names.push(e.name().into());
            names.extend(e.aliases().iter().map(|s| s.to_string()));
        }
        names.extend(["locale", "external", "filesystem", "internal"].map(String::from));
        cx.str_array(&names)
    }

    /// Aliases and the names that they stand for.
    ///
    ///     Encoding.aliases["BINARY"]   #=> "ASCII-8BIT"
    #[method("aliases", singleton)]
    fn aliases(cx: &mut Cx, _this: Value) -> Result<Value> {
        let h = cx.new_hash();
        for e in Encoding::all() {
            for a in e.aliases() {
                let (k, v) = (cx.str(a), cx.str(e.name()));
                cx.hash_set(h, k, v)?;
            }
        }
        let external = default_external(cx);
        let internal = default_internal(cx).map(|e| ("internal", e));
        for (a, e) in [("locale", locale(cx)), ("external", external), ("filesystem", external)].into_iter().chain(internal) {
            let (k, v) = (cx.str(a), cx.str(e.name()));
            cx.hash_set(h, k, v)?;
        }
        Ok(h.as_value())
    }

    /// The encoding of a name, ignoring case.
    ///
    ///     Encoding.find("utf-8")   #=> #<Encoding:UTF-8>
    #[method("find", singleton)]
    fn find_by(cx: &mut Cx, _this: Value, name: Value) -> Result<Value> {
        Ok(match find(cx, name)? {
            Some(e) => object(cx, e),
            None => Value::NIL,
        })
    }

    /// Encoding of text from outside.
    ///
    ///     Encoding.default_external   #=> #<Encoding:UTF-8>
    #[method("default_external", singleton)]
    fn external(cx: &mut Cx, _this: Value) -> Value {
        let e = default_external(cx);
        object(cx, e)
    }

    /// Sets the encoding of text from outside, for this VM.
    ///
    ///     Encoding.default_external = "utf-8"   #=> "utf-8"
    #[method("default_external=", singleton)]
    fn set_external(cx: &mut Cx, _this: Value, e: Value) -> Result<Value> {
        let Some(new) = set_default(cx, e)? else { return cx.arg_error("default external can not be nil") };
        cx.state::<Defaults>().external = Some(new);
        library::library().external_changed(cx, new.id());
        Ok(e)
    }

    /// Encoding that text from outside is converted to; nil: not converted.
    ///
    ///     Encoding.default_internal   #=> nil
    #[method("default_internal", singleton)]
    fn internal(cx: &mut Cx, _this: Value) -> Value {
        match default_internal(cx) {
            Some(e) => object(cx, e),
            None => Value::NIL,
        }
    }

    /// Sets the encoding that text from outside is converted to, for this VM.
    ///
    ///     Encoding.default_internal = nil   #=> nil
    #[method("default_internal=", singleton)]
    fn set_internal(cx: &mut Cx, _this: Value, e: Value) -> Result<Value> {
        let new = set_default(cx, e)?;
        cx.state::<Defaults>().internal = new;
        Ok(e)
    }

    /// The encoding of a concatenation of both; nil when they don't go together.
    ///
    ///     Encoding.compatible?("a", "é")          #=> #<Encoding:UTF-8>
    ///     Encoding.compatible?("\xFF".b, "é")     #=> nil
    #[method("compatible?", singleton)]
    fn compatible(cx: &Cx, _this: Value, a: Value, b: Value) -> Value {
        let (Some(ea), Some(eb)) = (encoding_of(a), encoding_of(b)) else { return Value::NIL };
        if ea == eb {
            return object(cx, ea);
        }
        let (sa, sb) = (Ref::<StringCell>::from_value(a), Ref::<StringCell>::from_value(b));
        // What is no String says by its encoding what it holds.
        let found = match (sa, sb) {
            (Some(x), Some(y)) => util::compatible(&cx.heap, x, y),
            (_, Some(y)) if y.len() == 0 => Some(ea),
            _ if !ea.is_ascii_compatible() || !eb.is_ascii_compatible() => None,
            (_, None) if eb == Encoding::US_ASCII => Some(ea),
            (None, _) if ea == Encoding::US_ASCII => Some(eb),
            (Some(x), None) => util::is_ascii(&cx.heap, x).then_some(eb),
            // A Regexp or Symbol gives way to plain text.
            (None, Some(y)) => util::is_ascii(&cx.heap, y).then_some(eb),
            (None, None) => None,
        };
        found.map_or(Value::NIL, |e| object(cx, e))
    }
}

/// A hidden variable that holds an Encoding, as its name.
fn name_of(cx: &mut Cx, v: Value) -> Value {
    match of(v) {
        Some(e) => cx.str_bytes(e.name().as_bytes(), string::US_ASCII),
        None => Value::NIL,
    }
}

#[ruby_class(ids::UNDEFINED_CONVERSION_ERROR)]
mod conversion_errors {
    use super::*;

    /// The character that the destination lacks.
    ///
    ///     begin; "é".encode("US-ASCII"); rescue => e; e.error_char; end   #=> "é"
    #[method("error_char")]
    fn error_char(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_get(this, hidden::error())
    }

    /// Encoding that the failing step reads.
    ///
    ///     begin; "é".encode("US-ASCII"); rescue => e; e.source_encoding; end   #=> #<Encoding:UTF-8>
    #[method("source_encoding")]
    fn source_encoding(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_get(this, hidden::source())
    }

    /// Encoding that the failing step writes.
    ///
    ///     begin; "é".encode("US-ASCII"); rescue => e; e.destination_encoding; end   #=> #<Encoding:US-ASCII>
    #[method("destination_encoding")]
    fn destination_encoding(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_get(this, hidden::destination())
    }

    /// Name of the encoding that the failing step reads.
    ///
    ///     begin; "é".encode("US-ASCII"); rescue => e; e.source_encoding_name; end   #=> "UTF-8"
    #[method("source_encoding_name")]
    fn source_encoding_name(cx: &mut Cx, this: Value) -> Value {
        let e = cx.ivar_get(this, hidden::source());
        name_of(cx, e)
    }

    /// Name of the encoding that the failing step writes.
    ///
    ///     begin; "é".encode("US-ASCII"); rescue => e; e.destination_encoding_name; end   #=> "US-ASCII"
    #[method("destination_encoding_name")]
    fn destination_encoding_name(cx: &mut Cx, this: Value) -> Value {
        let e = cx.ivar_get(this, hidden::destination());
        name_of(cx, e)
    }
}

#[ruby_class(ids::INVALID_BYTE_SEQUENCE_ERROR)]
mod invalid_sequences {
    use super::*;

    /// The bytes that are no character.
    ///
    ///     begin; "\xFF".encode("UTF-16LE"); rescue => e; e.error_bytes; end   #=> "\xFF"
    #[method("error_bytes")]
    fn error_bytes(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_get(this, hidden::error())
    }

    /// Bytes behind them that are read again.
    ///
    ///     begin; "\xE3a".encode("UTF-16LE"); rescue => e; e.readagain_bytes; end   #=> "a"
    #[method("readagain_bytes")]
    fn readagain_bytes(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_get(this, hidden::readagain())
    }

    /// Did the text end inside a character?
    ///
    ///     begin; "\xE3".encode("UTF-16LE"); rescue => e; e.incomplete_input?; end   #=> true
    #[method("incomplete_input?")]
    fn incomplete_input(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_get(this, hidden::incomplete())
    }

    /// Encoding that the failing step reads.
    ///
    ///     begin; "\xFF".encode("UTF-16LE"); rescue => e; e.source_encoding; end   #=> #<Encoding:UTF-8>
    #[method("source_encoding")]
    fn source_encoding(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_get(this, hidden::source())
    }

    /// Encoding that the failing step writes.
    ///
    ///     begin; "\xFF".encode("UTF-16LE"); rescue => e; e.destination_encoding; end   #=> #<Encoding:UTF-16LE>
    #[method("destination_encoding")]
    fn destination_encoding(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_get(this, hidden::destination())
    }

    /// Name of the encoding that the failing step reads.
    ///
    ///     begin; "\xFF".encode("UTF-16LE"); rescue => e; e.source_encoding_name; end   #=> "UTF-8"
    #[method("source_encoding_name")]
    fn source_encoding_name(cx: &mut Cx, this: Value) -> Value {
        let e = cx.ivar_get(this, hidden::source());
        name_of(cx, e)
    }

    /// Name of the encoding that the failing step writes.
    ///
    ///     begin; "\xFF".encode("UTF-16LE"); rescue => e; e.destination_encoding_name; end   #=> "UTF-16LE"
    #[method("destination_encoding_name")]
    fn destination_encoding_name(cx: &mut Cx, this: Value) -> Value {
        let e = cx.ivar_get(this, hidden::destination());
        name_of(cx, e)
    }
}
