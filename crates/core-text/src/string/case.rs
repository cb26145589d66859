//! String: case mapping.
//!
//! UTF-8 uses Unicode's full mappings; other Unicode encodings go through UTF-8. Single-byte encodings with
//! letters of their own have tables; in all others only ASCII letters have case.

use super::util::*;
use zakuro_base::progress::step;
use zakuro_macros::ruby_class;
use zakuro_text::encoding::case::{CaseOp, CaseOptions, ascii, map};
use zakuro_text::encoding::letters::Letters;
use zakuro_text::encoding::{Encoding, transcode};
use zakuro_vm::string::CodeRange;
use zakuro_vm::*;

/// Options of the case methods; `folding` says that `:fold` is allowed. The second result: fold was given.
fn options(cx: &mut Cx, args: &[Value], folding: bool) -> Result<(CaseOptions, bool)> {
    let mut o = CaseOptions::default();
    let mut fold = false;
    if args.len() > 2 {
        return cx.arg_error("too many options");
    }
    let mut names = Vec::new();
    for a in args {
        let Some(s) = a.as_sym() else {
            let c = cx.class_name_of(*a);
            return cx.type_error(format!("wrong argument type {c} (expected Symbol)"));
        };
        match s.bytes() {
            b"ascii" => o.ascii = true,
            b"turkic" => o.turkic = true,
            b"lithuanian" => {}
            b"fold" if folding => fold = true,
            b"fold" => return cx.arg_error("option :fold only allowed for downcasing"),
            _ => return cx.arg_error("invalid option"),
        }
        names.push(s.bytes());
    }
    if let [a, b] = names[..] {
        match (a, b) {
            (b"turkic", b"lithuanian") | (b"lithuanian", b"turkic") => {}
            (b"turkic" | b"lithuanian", _) => return cx.arg_error("invalid second argument: use only Lithuanian with Turkic"),
            _ => return cx.arg_error("too many options"),
        }
    }
    Ok((o, fold))
}

/// A failed conversion is none, unless it was left.
fn unless_stopped(e: transcode::ConvErr) -> Result<Option<Vec<u8>>> {
    if e.kind == transcode::ConvErrKind::Stopped { Err(Exc) } else { Ok(None) }
}

/// Bytes of `s` mapped.
fn mapped(cx: &mut Cx, s: Str, op: CaseOp, o: CaseOptions) -> Result<Vec<u8>> {
    let (e, s) = (enc(s), Held::of(s));
    if e == Encoding::UTF_8 {
        return Ok(map(&s, op, o, cx)?);
    }
    if e.is_unicode() {
        let policy = transcode::Policy::default();
        let there = transcode::transcode_long(e, Encoding::UTF_8, &s, &policy, cx).map(Some).or_else(unless_stopped)?;
        if let Some(text) = there
            && let text = map(&text, op, o, cx)?
            && let Some(back) = transcode::transcode_long(Encoding::UTF_8, e, &text, &policy, cx).map(Some).or_else(unless_stopped)?
        {
            return Ok(back);
        }
        return Ok(s.to_vec());
    }
    if let Some(letters) = Letters::of(e)
        && letters.maps()
        && !o.ascii
    {
        let mut out = Vec::with_capacity(s.len());
        for (i, &b) in s.iter().enumerate() {
            step(i, cx)?;
            letters.map(b, op, i == 0, o.turkic, &mut out);
        }
        return Ok(out);
    }
    if e.is_single_byte() {
        return Ok(map(&s, op, CaseOptions { ascii: true, ..o }, cx)?);
    }
    // Multi-byte text: letters of ASCII only, trail bytes untouched.
    let mut out = Vec::with_capacity(s.len());
    for (i, c) in e.chars(&s).enumerate() {
        step(i, cx)?;
        if c.len() == 1 {
            let at = out.len();
            out.extend_from_slice(c);
            ascii(&mut out[at..], if op == CaseOp::Capitalize && i > 0 { CaseOp::Down } else { op });
        } else {
            out.extend_from_slice(c);
        }
    }
    Ok(out)
}

/// Folded for comparison.
pub fn fold(cx: &mut Cx, s: Str) -> Result<Vec<u8>> {
    check(cx, s, CaseOp::Fold, CaseOptions::default())?;
    mapped(cx, s, CaseOp::Fold, CaseOptions::default())
}

/// Broken text has no cases. As in CRuby, the letters of ASCII alone may stand in broken UTF-8, but for `swapcase`, which refuses broken US-ASCII, too.
fn check(cx: &mut Cx, s: Str, op: CaseOp, o: CaseOptions) -> Result<()> {
    let e = enc(s);
    check_known(cx, s)?;
    let asks = match (o.ascii, op) {
        (true, CaseOp::Swap) => true,
        (true, _) => e != Encoding::UTF_8 && !e.is_single_byte(),
        (false, _) => !e.is_single_byte(),
    };
    if asks && range(&cx.heap, s) == CodeRange::Broken {
        return cx.arg_error("input string invalid");
    }
    Ok(())
}

/// Text up to this length is mapped in one go.
const SHORT: usize = 4096;

fn is_short_ascii(cx: &Cx, this: Str, args: &[Value]) -> bool {
    args.is_empty() && this.len() <= SHORT && enc(this).is_ascii_compatible() && is_ascii(&cx.heap, this)
}

fn map_ascii(cx: &mut Cx, this: Str, op: CaseOp) {
    ascii(StringCell::bytes_mut(this, &mut cx.heap), op);
    this.set_code_range(CodeRange::Ascii);
}

/// A new String mapped by `op`.
pub fn apply(cx: &mut Cx, this: Str, op: CaseOp, args: &[Value]) -> Result<Value> {
    if is_short_ascii(cx, this, args) {
        let r = make(cx, this.content(&cx.heap), this);
        map_ascii(cx, Ref::of(r), op);
        return Ok(r);
    }
    let (o, fold) = options(cx, args, op == CaseOp::Down)?;
    let op = if fold { CaseOp::Fold } else { op };
    check(cx, this, op, o)?;
    let out = mapped(cx, this, op, o)?;
    let r = make(cx, &out, this);
    if is_ascii(&cx.heap, this) && !o.turkic {
        Ref::<StringCell>::of(r).set_code_range(CodeRange::Ascii);
    }
    Ok(r)
}

fn apply_bang(cx: &mut Cx, this: Str, op: CaseOp, args: &[Value]) -> Result<Value> {
    if is_short_ascii(cx, this, args) {
        cx.check_frozen(this.as_value())?;
        let text = this.content(&cx.heap);
        let changes = match op {
            CaseOp::Up => text.iter().any(u8::is_ascii_lowercase),
            CaseOp::Down | CaseOp::Fold => text.iter().any(u8::is_ascii_uppercase),
            CaseOp::Swap => text.iter().any(u8::is_ascii_alphabetic),
            CaseOp::Capitalize => text.split_first().is_some_and(|(c, rest)| c.is_ascii_lowercase() || rest.iter().any(u8::is_ascii_uppercase)),
        };
        if !changes {
            return Ok(Value::NIL);
        }
        map_ascii(cx, this, op);
        return Ok(this.as_value());
    }
    let changed = super::transform::in_place(cx, this, |cx| apply(cx, this, op, args))?;
    Ok(changed.map_or(Value::NIL, |s| s.as_value()))
}

#[ruby_class(ids::STRING)]
pub mod cases {
    use super::*;

    /// With upper case letters.
    ///
    ///     "straße".upcase        #=> "STRASSE"
    ///     "é".upcase(:ascii)     #=> "é"
    #[method("upcase")]
    fn upcase(cx: &mut Cx, this: Str, options: Rest) -> Result<Value> {
        apply(cx, this, CaseOp::Up, options)
    }

    /// With lower case letters.
    ///
    ///     "ÄB".downcase   #=> "äb"
    #[method("downcase")]
    fn downcase(cx: &mut Cx, this: Str, options: Rest) -> Result<Value> {
        apply(cx, this, CaseOp::Down, options)
    }

    /// First letter upper case, the others lower case.
    ///
    ///     "hELLO".capitalize   #=> "Hello"
    #[method("capitalize")]
    fn capitalize(cx: &mut Cx, this: Str, options: Rest) -> Result<Value> {
        apply(cx, this, CaseOp::Capitalize, options)
    }

    /// Upper case letters lower and the reverse.
    ///
    ///     "aBc".swapcase   #=> "AbC"
    #[method("swapcase")]
    fn swapcase(cx: &mut Cx, this: Str, options: Rest) -> Result<Value> {
        apply(cx, this, CaseOp::Swap, options)
    }

    /// `upcase` in place; nil when nothing changed.
    ///
    ///     (+"ab").upcase!   #=> "AB"
    ///     (+"AB").upcase!   #=> nil
    #[method("upcase!")]
    fn upcase_bang(cx: &mut Cx, this: Str, options: Rest) -> Result<Value> {
        apply_bang(cx, this, CaseOp::Up, options)
    }

    /// `downcase` in place; nil when nothing changed.
    ///
    ///     (+"AB").downcase!   #=> "ab"
    #[method("downcase!")]
    fn downcase_bang(cx: &mut Cx, this: Str, options: Rest) -> Result<Value> {
        apply_bang(cx, this, CaseOp::Down, options)
    }

    /// `capitalize` in place; nil when nothing changed.
    ///
    ///     (+"ab").capitalize!   #=> "Ab"
    #[method("capitalize!")]
    fn capitalize_bang(cx: &mut Cx, this: Str, options: Rest) -> Result<Value> {
        apply_bang(cx, this, CaseOp::Capitalize, options)
    }

    /// `swapcase` in place; nil when nothing changed.
    ///
    ///     (+"aB").swapcase!   #=> "Ab"
    #[method("swapcase!")]
    fn swapcase_bang(cx: &mut Cx, this: Str, options: Rest) -> Result<Value> {
        apply_bang(cx, this, CaseOp::Swap, options)
    }
}
