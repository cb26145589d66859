//! Encoding::Converter: a conversion that takes its text in pieces, stops at each problem and can be told what to do with it.
//!
//! The work is `zakuro_text::encoding::stream`'s; here stand arguments, what the last call said, and errors.

use super::{find, object};
use crate::string::encoding::{Newlines, Xml, error_of, options};
use crate::string::util::{Str, enc};
use zakuro_macros::{Trace, ruby_class};
use zakuro_text::encoding::Encoding;
use zakuro_text::encoding::stream::{self, Call, Decorators, Status, Stream};
use zakuro_text::encoding::transcode::{ConvErrKind, OnInvalid, OnUndefined, Policy, transcode};
use zakuro_vm::*;

const INVALID_MASK: i64 = 0x0f;
const INVALID_REPLACE: i64 = 0x02;
const UNDEF_MASK: i64 = 0xf0;
const UNDEF_REPLACE: i64 = 0x20;
const UNDEF_HEX_CHARREF: i64 = 0x30;
const UNIVERSAL_NEWLINE: i64 = 0x100;
const CRLF_NEWLINE: i64 = 0x1000;
const CR_NEWLINE: i64 = 0x2000;
const LF_NEWLINE: i64 = 0x4000;
const XML_TEXT: i64 = 0x8000;
const XML_ATTR_CONTENT: i64 = 0x1_0000;
const XML_ATTR_QUOTE: i64 = 0x10_0000;
const PARTIAL_INPUT: i64 = 0x2_0000;
const AFTER_OUTPUT: i64 = 0x4_0000;

pub fn setup(cx: &mut Cx) {
    for (name, n) in [
        ("INVALID_MASK", INVALID_MASK),
        ("INVALID_REPLACE", INVALID_REPLACE),
        ("UNDEF_MASK", UNDEF_MASK),
        ("UNDEF_REPLACE", UNDEF_REPLACE),
        ("UNDEF_HEX_CHARREF", UNDEF_HEX_CHARREF),
        ("PARTIAL_INPUT", PARTIAL_INPUT),
        ("AFTER_OUTPUT", AFTER_OUTPUT),
        ("UNIVERSAL_NEWLINE_DECORATOR", UNIVERSAL_NEWLINE),
        ("CRLF_NEWLINE_DECORATOR", CRLF_NEWLINE),
        ("CR_NEWLINE_DECORATOR", CR_NEWLINE),
        ("LF_NEWLINE_DECORATOR", LF_NEWLINE),
        ("XML_TEXT_DECORATOR", XML_TEXT),
        ("XML_ATTR_CONTENT_DECORATOR", XML_ATTR_CONTENT),
        ("XML_ATTR_QUOTE_DECORATOR", XML_ATTR_QUOTE),
    ] {
        cx.const_set(ids::CONVERTER, Sym::intern(name), Value::fixnum(n));
    }
}

/// Payload of a converter.
#[derive(Trace, Clone)]
struct Conversion {
    #[untraced]
    stream: Stream,
    #[untraced]
    last: Status,
    /// Decorators that `inspect` names: those that no path listed.
    #[untraced]
    named: Decorators,
}
impl NativeData for Conversion {
    fn weight(&self) -> usize {
        self.stream.weight()
    }
    fn snapshot(&self, _values: &mut Gathered) -> Option<Rebuild> {
        let copy = std::sync::Mutex::new(self.clone());
        Some(rebuild(move |_, _| Some(Box::new(copy.lock().unwrap_or_else(|e| e.into_inner()).clone()))))
    }
}

/// What the arguments of `new` and `search_convpath` ask for.
struct Wanted {
    ends: Option<(Encoding, Encoding)>,
    decorators: Decorators,
    named: Decorators,
    policy: Policy,
}

/// One end: an encoding; Err with the name when there is none of that name; "" for no conversion.
fn end(cx: &mut Cx, v: Value) -> Result<std::result::Result<Encoding, String>> {
    if let Some(e) = super::of(v) {
        return Ok(Ok(e));
    }
    let name = cx.to_str(v)?;
    Ok(super::by_name(cx, name).flatten().ok_or_else(|| name.to_text()))
}

fn description(ends: Option<(&str, &str)>, d: Decorators) -> String {
    let names: Vec<&str> = d.names().into_iter().map(|n| n.strip_suffix("_escape").unwrap_or(n)).collect();
    match (ends, names.is_empty()) {
        (None, true) => "no-conversion".into(),
        (None, false) => names.join(","),
        (Some((s, t)), true) => format!("{s} to {t}"),
        (Some((s, t)), false) => format!("{s} to {t} with {}", names.join(",")),
    }
}

/// The two ends of a conversion that exists. ConverterNotFoundError
fn both_ends(cx: &mut Cx, from: Value, to: Value, d: Decorators) -> Result<Option<(Encoding, Encoding)>> {
    let (s, t) = (end(cx, from)?, end(cx, to)?);
    match (&s, &t) {
        (Ok(s), Ok(t)) if stream::exists(*s, *t) => return Ok(Some((*s, *t))),
        (Err(s), Err(t)) if s.is_empty() && t.is_empty() => return Ok(None),
        _ => {}
    }
    let name = |e: std::result::Result<Encoding, String>| e.map_or_else(|n| n, |e| e.name().to_owned());
    let shown = description(Some((&name(s), &name(t))), d);
    cx.raise(ids::CONVERTER_NOT_FOUND_ERROR, format!("code converter not found ({shown})"))
}

fn from_flags(flags: i64) -> (Policy, Decorators) {
    let has = |bit: i64| flags & bit == bit;
    let policy = Policy {
        invalid: if flags & INVALID_MASK == INVALID_REPLACE { OnInvalid::Replace } else { OnInvalid::Raise },
        undefined: match flags & UNDEF_MASK {
            UNDEF_REPLACE => OnUndefined::Replace,
            UNDEF_HEX_CHARREF => OnUndefined::CharRef,
            _ => OnUndefined::Raise,
        },
        replace: None,
    };
    let decorators = Decorators {
        xml_text: has(XML_TEXT),
        ampersands: false,
        xml_attr_content: has(XML_ATTR_CONTENT),
        xml_attr_quote: has(XML_ATTR_QUOTE),
        crlf: has(CRLF_NEWLINE),
        cr: has(CR_NEWLINE),
        lf: has(LF_NEWLINE),
        universal: has(UNIVERSAL_NEWLINE),
    };
    (policy, decorators)
}

/// A list as `convpath` gives it.
fn from_path(cx: &mut Cx, path: Ref<ArrayCell>) -> Result<Wanted> {
    let mut decorators = Decorators::default();
    let mut outer: Option<(Value, Value)> = None;
    let mut i = 0;
    while let Some(item) = path.get(i) {
        i += 1;
        if let Some(pair) = cx.try_ary(item)? {
            let (Some(a), Some(b), None) = (pair.get(0), pair.get(1), pair.get(2)) else {
                return cx.arg_error("not a 2-element array in convpath");
            };
            outer = Some((outer.map_or(a, |o| o.0), b));
            continue;
        }
        let name = cx.to_str(item)?;
        if !decorators.add(name.content(&cx.heap)) {
            let text = name.to_text();
            return cx.raise(ids::CONVERTER_NOT_FOUND_ERROR, format!("decoder failed: {text}"));
        }
    }
    let ends = match outer {
        Some((a, b)) => both_ends(cx, a, b, Decorators::default())?,
        None => None,
    };
    Ok(Wanted { ends, decorators, named: Decorators::default(), policy: Policy::default() })
}

fn wanted(cx: &mut Cx, args: &[Value], kw: Kwargs) -> Result<Wanted> {
    let (from, mut to) = match args {
        [one] => match cx.try_ary(*one)? {
            Some(path) => return from_path(cx, path),
            None => return cx.arity_error(1, 2, Some(3)),
        },
        [from, to] | [from, to, _] => (*from, *to),
        _ => return cx.arity_error(args.len(), 1, Some(3)),
    };
    let mut kw = kw;
    if let Some(o) = args.get(2).filter(|o| !o.is_nil()) {
        if cx.is_integer(*o) {
            let (policy, decorators) = cx.to_i64(*o).map(from_flags)?;
            let ends = both_ends(cx, from, to, decorators)?;
            return Ok(Wanted { ends, decorators, named: decorators, policy });
        }
        kw = Kwargs::of(Some(cx.to_hash(*o)?));
    }
    // Asked once only.
    if super::of(to).is_none() {
        to = cx.to_str(to)?.as_value();
    }
    let target = end(cx, to)?.unwrap_or(Encoding::BINARY);
    let o = options(cx, kw, target)?;
    let decorators = decorators_of(&o);
    // One kind of line end is wanted; that which goes with the option `newline` is not looked at.
    let asked = |name: &str| kw.named(name).is_some_and(|v| v.truthy());
    let newlines = Decorators { universal: asked("universal_newline"), crlf: asked("crlf_newline"), cr: asked("cr_newline"), ..Decorators::default() };
    if kw.get(sym::newline).is_none_or(|v| v.is_nil()) && newlines.names().len() > 1 {
        let mut names = newlines.names();
        // Reading comes before writing.
        names.sort_by_key(|n| *n != "universal_newline");
        let ends = both_ends(cx, from, to, Decorators::default())?;
        let path = ends.map_or(String::new(), |(s, t)| format!("{} to {} with ", s.name(), t.name()));
        return cx.raise(ids::CONVERTER_NOT_FOUND_ERROR, format!("code converter not found ({path}{})", names.join(",")));
    }
    let both = kw.get(sym::newline).is_some_and(|v| !v.is_nil()) && newlines != Decorators::default();
    if both && cx.global_get(sym::verbose)? == Value::TRUE {
        cx.warn_here(":newline option precedes other newline options")?;
    }
    if let Some(wanted) = decorator_alone(cx, from, to)? {
        return Ok(wanted);
    }
    let ends = both_ends(cx, from, to, decorators)?;
    Ok(Wanted { ends, decorators, named: decorators, policy: o.policy })
}

/// A converter from "" to the name of a decorator.
fn decorator_alone(cx: &mut Cx, from: Value, to: Value) -> Result<Option<Wanted>> {
    let mut decorators = Decorators::default();
    let (Some(from), Some(to)) = (Ref::<StringCell>::from_value(from), Ref::<StringCell>::from_value(to)) else { return Ok(None) };
    if from.len() > 0 || !decorators.add(to.content(&cx.heap)) {
        return Ok(None);
    }
    Ok(Some(Wanted { ends: None, decorators, named: decorators, policy: Policy::default() }))
}

/// What options of conversion do beside converting.
pub fn decorators_of(o: &crate::string::encoding::Options) -> Decorators {
    Decorators {
        xml_text: o.xml == Xml::Text,
        ampersands: false,
        xml_attr_content: o.xml == Xml::Attr,
        xml_attr_quote: o.xml == Xml::Attr,
        crlf: o.newlines == Newlines::Crlf,
        cr: o.newlines == Newlines::Cr,
        lf: o.newlines == Newlines::Lf,
        universal: o.newlines == Newlines::Universal,
    }
}

/// As `convpath` shows it: pairs and names. Decorators work on ASCII-compatible text, so they stand before a step that makes other text.
fn shown_path(cx: &mut Cx, ends: Option<(Encoding, Encoding)>, d: Decorators) -> Value {
    let pairs = ends.map_or_else(Vec::new, |(s, t)| stream::path(s, t));
    let last = ends.filter(|(_, t)| !t.is_ascii_compatible()).map_or(pairs.len(), |_| pairs.len() - 1);
    let out = cx.new_array();
    for i in 0..=pairs.len() {
        if i == last {
            for name in d.names() {
                let v = cx.str(name);
                ArrayCell::push(out, &mut cx.heap, v);
            }
        }
        if let Some((s, t)) = pairs.get(i) {
            let (s, t) = (object(cx, *s), object(cx, *t));
            let v = cx.array(&[s, t]);
            ArrayCell::push(out, &mut cx.heap, v);
        }
    }
    out.as_value()
}

fn result_name(s: &Status) -> &'static str {
    match s {
        Status::Finished => "finished",
        Status::SourceEmpty => "source_buffer_empty",
        Status::DestinationFull => "destination_buffer_full",
        Status::AfterOutput => "after_output",
        Status::Failed(e) if Stream::is_incomplete(e) => "incomplete_input",
        Status::Failed(e) => match e.kind {
            ConvErrKind::Undefined { .. } => "undefined_conversion",
            _ => "invalid_byte_sequence",
        },
    }
}

/// Runs a call that must not fail; the output. `text` None: the end of the input.
fn run_whole(cx: &mut Cx, this: Value, text: Option<Str>) -> Result<Value> {
    let bytes = text.map_or_else(Vec::new, |t| t.to_vec());
    let c = cx.data_mut::<Conversion>(this)?;
    let (mut at, mut out) = (0, Vec::with_capacity(bytes.len()));
    let call = Call { partial: text.is_some(), ..Call::default() };
    c.last = c.stream.convert(&bytes, &mut at, &mut out, call);
    let encoding = c.stream.ends().map_or(string::BINARY, |e| e.1.id());
    match c.last.clone() {
        Status::Failed(e) => {
            // What was converted before the failure is lost, as is the text behind it; what is to be read again comes first next time.
            let exc = error_of(cx, *e);
            cx.raise_value(exc)
        }
        Status::Finished if text.is_some() => cx.arg_error("converter already finished"),
        _ => Ok(cx.str_bytes(&out, encoding)),
    }
}

/// Encoding that inserted text is brought to, and that `replacement` has.
fn insertion(target: Encoding) -> Encoding {
    if target.is_unicode() { Encoding::UTF_8 } else { target }
}

/// Bytes of a String in the converter's target encoding. Encoding errors.
fn in_target(cx: &mut Cx, target: Encoding, s: Str) -> Result<Vec<u8>> {
    let from = enc(s);
    if from == target || s.is_ascii() && from.is_ascii_compatible() && target.is_ascii_compatible() {
        return Ok(s.to_vec());
    }
    match transcode(from, target, s.content(&cx.heap), &Policy::default()) {
        // The mark stands at the start of the output only.
        Ok(b) if target == Encoding::UTF_16 => Ok(b.get(2..).unwrap_or(&b).to_vec()),
        Ok(b) if target == Encoding::UTF_32 => Ok(b.get(4..).unwrap_or(&b).to_vec()),
        Ok(b) => Ok(b),
        Err(e) => {
            let exc = error_of(cx, e);
            cx.raise_value(exc)
        }
    }
}

#[ruby_class(ids::CONVERTER)]
pub mod converter {
    use super::*;

    /// A converter between two encodings, with the options of String#encode, or one that goes the way of a list that `convpath` gave.
    ///
    ///     Encoding::Converter.new("UTF-8", "ISO-8859-1").convert("é").bytes          #=> [233]
    ///     Encoding::Converter.new("", "", universal_newline: true).convert("a\r\n")   #=> "a\n"
    #[method("initialize", private, min = 1)]
    fn initialize(cx: &mut Cx, this: Value, args: Args) -> Result<()> {
        let mut args = args;
        let kw = args.take_kw();
        let w = wanted(cx, args.all(), kw)?;
        let stream = Stream::new(w.ends, w.decorators, w.policy);
        cx.data_init(this, Conversion { stream, last: Status::SourceEmpty, named: w.named })
    }

    /// The steps between two encodings. Encoding::ConverterNotFoundError
    ///
    ///     Encoding::Converter.search_convpath("ISO-8859-1", "UTF-8", crlf_newline: true).last   #=> "crlf_newline"
    #[method("search_convpath", singleton, min = 2)]
    fn search_convpath(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        let mut args = args;
        let kw = args.take_kw();
        let w = wanted(cx, args.all(), kw)?;
        Ok(shown_path(cx, w.ends, w.decorators))
    }

    /// The ASCII-compatible encoding that stands for one that is not; nil when it is, or there is none.
    ///
    ///     Encoding::Converter.asciicompat_encoding("UTF-16BE")   #=> #<Encoding:UTF-8>
    ///     Encoding::Converter.asciicompat_encoding("UTF-8")      #=> nil
    #[method("asciicompat_encoding", singleton)]
    fn asciicompat_encoding(cx: &mut Cx, _this: Value, e: Value) -> Result<Value> {
        let Ok(e) = end(cx, e)? else { return Ok(Value::NIL) };
        let name = match e.name() {
            "ISO-2022-JP" => "stateless-ISO-2022-JP",
            "CP50220" | "CP50221" => "CP51932",
            _ if !e.is_ascii_compatible() && e.is_unicode() => "UTF-8",
            _ => return Ok(Value::NIL),
        };
        let name = cx.str(name);
        Ok(find(cx, name)?.map_or(Value::NIL, |e| object(cx, e)))
    }

    /// Encoding of the input.
    ///
    ///     Encoding::Converter.new("UTF-8", "EUC-JP").source_encoding   #=> #<Encoding:UTF-8>
    #[method("source_encoding")]
    fn source_encoding(cx: &mut Cx, this: Value) -> Result<Value> {
        let ends = cx.data_ref::<Conversion>(this)?.stream.ends();
        Ok(ends.map_or(Value::NIL, |e| object(cx, e.0)))
    }

    /// Encoding of the output.
    ///
    ///     Encoding::Converter.new("UTF-8", "EUC-JP").destination_encoding   #=> #<Encoding:EUC-JP>
    #[method("destination_encoding")]
    fn destination_encoding(cx: &mut Cx, this: Value) -> Result<Value> {
        let ends = cx.data_ref::<Conversion>(this)?.stream.ends();
        Ok(ends.map_or(Value::NIL, |e| object(cx, e.1)))
    }

    /// The steps of the conversion.
    ///
    ///     Encoding::Converter.new("UTF-8", "UTF-16BE").convpath   #=> [[#<Encoding:UTF-8>, #<Encoding:UTF-16BE>]]
    #[method("convpath")]
    fn convpath(cx: &mut Cx, this: Value) -> Result<Value> {
        let s = &cx.data_ref::<Conversion>(this)?.stream;
        let (ends, decorators) = (s.ends(), s.decorators());
        Ok(shown_path(cx, ends, decorators))
    }

    /// For programmers.
    ///
    ///     Encoding::Converter.new("UTF-8", "EUC-JP")   #=> #<Encoding::Converter: UTF-8 to EUC-JP>
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<String> {
        if !cx.is_data::<Conversion>(this) {
            return Ok("#<Encoding::Converter: uninitialized>".into());
        }
        let c = cx.data_ref::<Conversion>(this)?;
        let shown = description(c.stream.ends().as_ref().map(|(s, t)| (s.name(), t.name())), c.named);
        Ok(format!("#<Encoding::Converter: {shown}>"))
    }

    /// Same encodings, options and replacement?
    ///
    ///     Encoding::Converter.new("UTF-8", "EUC-JP") == Encoding::Converter.new("UTF-8", "EUC-JP")   #=> true
    #[method("==")]
    fn equal(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        if !cx.is_data::<Conversion>(other) {
            return Ok(false);
        }
        let (a, b) = cx.data_pair::<Conversion>(this, other)?;
        let (a, b) = (&a.stream, &b.stream);
        let policy = |s: &Stream| (s.policy.invalid.clone(), s.policy.undefined.clone(), s.policy.replace.clone());
        Ok(a.ends() == b.ends() && a.decorators() == b.decorators() && policy(a) == policy(b))
    }

    /// Converts from the start of `source`, which loses what was read, to the end of `target`, or its byte `offset`, at most `size` bytes. The
    /// result says why it stopped: `:finished`, `:source_buffer_empty` (with `partial_input: true`), `:destination_buffer_full`, `:after_output`,
    /// `:invalid_byte_sequence`, `:incomplete_input`, `:undefined_conversion`.
    ///
    ///     Encoding::Converter.new("UTF-8", "UTF-16BE").then { |c| [c.primitive_convert(s = +"pi", d = +"", nil, 1), s, d.bytes] }   #=> [:destination_buffer_full, "i", [0]]
    #[method("primitive_convert", min = 2, max = 5)]
    fn primitive_convert(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let mut args = args;
        let mut kw = args.take_kw();
        let given = |i: usize| args.get(i).filter(|v| !v.is_nil());
        let source = match given(0) {
            Some(v) => Some(cx.to_str(v)?),
            None => None,
        };
        let target = cx.to_str(args.get(1).unwrap_or(Value::NIL))?;
        let offset = match given(2) {
            Some(v) => Some(cx.to_i64(v)?),
            None => None,
        };
        let size = match given(3) {
            Some(v) => Some(cx.to_i64(v)?),
            None => None,
        };
        let mut flags = 0;
        if let Some(o) = given(4) {
            if cx.is_integer(o) {
                flags = cx.to_i64(o)?;
            } else {
                kw = Kwargs::of(Some(cx.to_hash(o)?));
            }
        }
        let on = |name: &str, bit: i64| flags & bit != 0 || kw.named(name).is_some_and(Value::truthy);
        let (partial, after_output) = (on("partial_input", PARTIAL_INPUT), on("after_output", AFTER_OUTPUT));
        let Ok(room) = size.map(usize::try_from).transpose() else { return cx.arg_error("negative output_bytesize") };
        let Ok(offset) = offset.map(usize::try_from).transpose() else { return cx.arg_error("negative output_byteoffset") };
        let offset = offset.unwrap_or(target.len());
        if offset > target.len() {
            return cx.arg_error("output_byteoffset too big");
        }
        cx.data_ref::<Conversion>(this)?;
        cx.check_frozen(target.as_value())?;
        if let Some(s) = source {
            cx.check_frozen(s.as_value())?;
        }
        let bytes = source.map_or_else(Vec::new, |s| s.to_vec());
        let (mut at, mut out) = (0, Vec::new());
        let c = cx.data_mut::<Conversion>(this)?;
        c.last = c.stream.convert(&bytes, &mut at, &mut out, Call { room, partial, after_output });
        let result = Sym::intern(result_name(&c.last));
        let encoding = c.stream.ends().map(|e| e.1);
        if let Some(s) = source {
            StringCell::set_bytes(s, &mut cx.heap, &bytes[at..]);
        }
        StringCell::truncate(target, &mut cx.heap, offset);
        StringCell::append(target, &mut cx.heap, &out);
        if let Some(e) = encoding {
            target.set_encoding(e.id());
        }
        Ok(Value::sym(result))
    }

    /// Converts a piece of text; raises at what can't be converted.
    ///
    ///     Encoding::Converter.new("UTF-8", "EUC-JP").convert("\u3042").bytes   #=> [164, 162]
    #[method("convert")]
    fn convert(cx: &mut Cx, this: Value, text: Value) -> Result<Value> {
        let text = cx.to_str(text)?;
        run_whole(cx, this, Some(text))
    }

    /// Ends the input; what is still to be written.
    ///
    ///     Encoding::Converter.new("UTF-8", "ISO-2022-JP").then { |c| [c.convert("\u3042"), c.finish] }.map(&:b)   #=> ["\e$B$\"", "\e(B"]
    #[method("finish")]
    fn finish(cx: &mut Cx, this: Value) -> Result<Value> {
        run_whole(cx, this, None)
    }

    /// What the last call said: result, names of the failing step's encodings, failing bytes, bytes to be read again.
    ///
    ///     Encoding::Converter.new("UTF-8", "EUC-JP").primitive_errinfo   #=> [:source_buffer_empty, nil, nil, nil, nil]
    #[method("primitive_errinfo")]
    fn primitive_errinfo(cx: &mut Cx, this: Value) -> Result<Value> {
        let last = cx.data_ref::<Conversion>(this)?.last.clone();
        let name = Value::sym(Sym::intern(result_name(&last)));
        let nil = Value::NIL;
        let Status::Failed(e) = last else { return Ok(cx.array(&[name, nil, nil, nil, nil])) };
        let (bad, again) = match &e.kind {
            ConvErrKind::Invalid { error_bytes, readagain_bytes, .. } => (&error_bytes[..], &readagain_bytes[..]),
            ConvErrKind::Undefined { error_char } => (&error_char[..], &b""[..]),
            ConvErrKind::NotFound | ConvErrKind::Stopped => (&b""[..], &b""[..]),
        };
        let (s, t) = (cx.str(e.step_source.name()), cx.str(e.step_target.name()));
        let (bad, again) = (cx.str_bytes(bad, string::BINARY), cx.str_bytes(again, string::BINARY));
        Ok(cx.array(&[name, s, t, bad, again]))
    }

    /// The failure of the last call as an exception; nil when it did not fail.
    ///
    ///     Encoding::Converter.new("UTF-8", "US-ASCII").then { |c| c.primitive_convert(+"é", +""); c.last_error.message }   #=> "U+00E9 from UTF-8 to US-ASCII"
    #[method("last_error")]
    fn last_error(cx: &mut Cx, this: Value) -> Result<Value> {
        match cx.data_ref::<Conversion>(this)?.last.clone() {
            Status::Failed(e) => Ok(error_of(cx, *e)),
            _ => Ok(Value::NIL),
        }
    }

    /// Takes back bytes that would be read again after a failure: the last `n`, or all.
    ///
    ///     Encoding::Converter.new("UTF-8", "US-ASCII").then { |c| c.primitive_convert(+"\xE3a", +""); c.putback }   #=> "a"
    #[method("putback")]
    fn putback(cx: &mut Cx, this: Value, n: Option<i64>) -> Result<Value> {
        let n = match n.map(usize::try_from) {
            None => None,
            Some(Ok(n)) => Some(n),
            Some(Err(_)) => return cx.arg_error("negative putback bytesize"),
        };
        let c = cx.data_mut::<Conversion>(this)?;
        let bytes = c.stream.putback(n);
        let encoding = c.stream.ends().map_or(string::BINARY, |e| e.0.id());
        Ok(cx.str_bytes(&bytes, encoding))
    }

    /// Text to be written next, in place of what failed.
    ///
    ///     Encoding::Converter.new("UTF-8", "US-ASCII").then { |c| c.primitive_convert(s = +"é!", d = +""); c.insert_output("e"); c.primitive_convert(s, d); d }   #=> "e!"
    #[method("insert_output")]
    fn insert_output(cx: &mut Cx, this: Value, text: Value) -> Result<()> {
        let text = cx.to_str(text)?;
        let ends = cx.data_ref::<Conversion>(this)?.stream.ends();
        let bytes = match ends {
            Some((_, target)) if target.is_ascii_compatible() || target.is_unicode() => in_target(cx, target, text)?,
            _ => text.to_vec(),
        };
        if let Some((_, target)) = ends
            && zakuro_text::encoding::stream::is_stateful(target)
        {
            let utf8 = in_target(cx, Encoding::UTF_8, text)?;
            // What the target has no character for is an error here, whatever the options say.
            in_target(cx, target, text)?;
            if cx.data_mut::<Conversion>(this)?.stream.insert_text(&String::from_utf8_lossy(&utf8)) {
                return Ok(());
            }
        }
        cx.data_mut::<Conversion>(this)?.stream.insert(&bytes);
        Ok(())
    }

    /// What is written for characters that are replaced.
    ///
    ///     Encoding::Converter.new("UTF-8", "US-ASCII").replacement   #=> "?"
    #[method("replacement")]
    fn replacement(cx: &mut Cx, this: Value) -> Result<Value> {
        let s = &cx.data_ref::<Conversion>(this)?.stream;
        let target = s.ends().map_or(Encoding::US_ASCII, |e| e.1);
        let shown = insertion(target);
        match s.policy.replace.clone() {
            Some(r) if shown == target => Ok(cx.str_bytes(&r, target.id())),
            Some(r) => match transcode(target, shown, &r, &Policy::default()) {
                Ok(b) => Ok(cx.str_bytes(&b, shown.id())),
                Err(_) => Ok(cx.str_bytes(&r, target.id())),
            },
            None if shown == Encoding::UTF_8 => Ok(cx.str("\u{fffd}")),
            None => Ok(cx.str_bytes(b"?", string::US_ASCII)),
        }
    }

    /// Sets what is written for characters that are replaced. Encoding errors when the target encoding lacks it.
    ///
    ///     Encoding::Converter.new("UTF-8", "US-ASCII", undef: :replace).then { |c| c.replacement = "-"; c.convert("é") }   #=> "-"
    #[method("replacement=")]
    fn set_replacement(cx: &mut Cx, this: Value, text: Value) -> Result<Value> {
        let s = cx.to_str(text)?;
        let ends = cx.data_ref::<Conversion>(this)?.stream.ends();
        let bytes = match ends {
            Some((_, target)) => in_target(cx, target, s)?,
            None => s.to_vec(),
        };
        cx.data_mut::<Conversion>(this)?.stream.policy.replace = Some(bytes);
        Ok(text)
    }
}
