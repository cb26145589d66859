//! String: `[]`, `[]=`, `slice!`, `insert`, and the same by bytes.

use super::util::*;
use crate::regexp::engine;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Byte range that the arguments of `[]` (one or two) name; None when there is none. Sets `$~` for a Regexp.
fn locate(cx: &mut Cx, this: Str, args: &[Value]) -> Result<Option<(usize, usize)>> {
    let first = args[0];
    if let Some(second) = args.get(1) {
        if engine::regexp_of(&first).is_some() {
            let Some(groups) = engine::search_groups(cx, first, this)? else { return Ok(None) };
            let n = super::regexp::group_number(cx, first, *second)?;
            return Ok(n.and_then(|n| groups.get(n).copied().flatten()));
        }
        let (start, n) = (cx.to_i64(first)?, cx.to_i64(*second)?);
        let Ok(n) = usize::try_from(n) else { return Ok(None) };
        return Ok(window(&cx.heap, this, start, n));
    }
    if let Some(i) = first.as_fixnum() {
        return Ok(window(&cx.heap, this, i, 1).filter(|(a, b)| a < b));
    }
    if let Some(r) = zakuro_core_base::ranges::as_range(cx, first)? {
        return Ok(range_window(cx, r, |cx| length(&cx.heap, this))?.and_then(|(from, n)| window(&cx.heap, this, from as i64, n)));
    }
    if let Some(s) = Ref::<StringCell>::from_value(first) {
        check_compatible(cx, this, s)?;
        return Ok(find_text(cx, this, s, 0)?.map(|at| (at, at + s.len())));
    }
    if engine::regexp_of(&first).is_some() {
        return Ok(engine::search_backref(cx, first, this, 0, false)?.map(|p| (p.start, p.end)));
    }
    let i = cx.to_i64(first)?;
    Ok(window(&cx.heap, this, i, 1).filter(|(a, b)| a < b))
}

/// `this[*args]`
pub fn aref(cx: &mut Cx, this: Str, args: &[Value]) -> Result<Value> {
    if let ([i], true) = (args, is_single(&cx.heap, this))
        && let Some(i) = i.as_fixnum()
    {
        let Some(at) = from_end(i, this.len()).filter(|at| *at < this.len()) else { return Ok(Value::NIL) };
        return Ok(sub(cx, this, at, at + 1));
    }
    let Some((a, b)) = locate(cx, this, args)? else { return Ok(Value::NIL) };
    if args.len() == 1
        && let Some(s) = Ref::<StringCell>::from_value(args[0])
    {
        return Ok(copy(cx, s));
    }
    Ok(sub(cx, this, a, b))
}

/// Replaces bytes start..end. The caller has checked frozen.
pub fn splice(cx: &mut Cx, this: Str, start: usize, end: usize, with: Str) -> Result<()> {
    let e = check_compatible(cx, this, with)?;
    // A conversion of the arguments may have run code that shortened the String.
    let end = end.min(this.len());
    let start = start.min(end);
    if start == this.len() {
        return append(cx, this, with);
    }
    let joined = if is_ascii(&cx.heap, this) && is_ascii(&cx.heap, with) { Some(string::CodeRange::Ascii) } else { None };
    StringCell::splice_string(this, &mut cx.heap, start, end, with);
    if this.encoding() != e.id() {
        this.set_encoding(e.id());
    }
    if let Some(r) = joined {
        this.set_code_range(r);
    }
    Ok(())
}

/// Byte range for an assignment: errors instead of None.
fn locate_for_set(cx: &mut Cx, this: Str, args: &[Value]) -> Result<(usize, usize)> {
    let first = args[0];
    if engine::regexp_of(&first).is_some() {
        let Some(groups) = engine::search_groups(cx, first, this)? else { return cx.index_error("regexp not matched") };
        let group = match args.get(1) {
            None => 0,
            Some(v) if v.is_kind(Kind::String) || v.is_sym() => super::regexp::group_number(cx, first, *v)?.unwrap_or(usize::MAX),
            Some(v) => {
                let i = cx.to_i64(*v)?;
                match from_end(i, groups.len()).filter(|n| *n < groups.len() && (i >= 0 || *n > 0)) {
                    Some(n) => n,
                    None => return cx.index_error(format!("index {i} out of regexp")),
                }
            }
        };
        return match groups.get(group).copied().flatten() {
            Some(r) => Ok(r),
            None => cx.index_error(format!("regexp group {group} not matched")),
        };
    }
    if let Some(second) = args.get(1) {
        let (start, n) = (cx.to_i64(first)?, cx.to_i64(*second)?);
        let Ok(len) = usize::try_from(n) else { return cx.index_error(format!("negative length {n}")) };
        return match window(&cx.heap, this, start, len) {
            Some(w) => Ok(w),
            None => cx.index_error(format!("index {start} out of string")),
        };
    }
    if let Some(r) = zakuro_core_base::ranges::as_range(cx, first)? {
        return match range_window(cx, r, |cx| length(&cx.heap, this))?.and_then(|(from, n)| window(&cx.heap, this, from as i64, n)) {
            Some(w) => Ok(w),
            None => {
                let shown = cx.inspect_text(first)?;
                cx.range_error(format!("{shown} out of range"))
            }
        };
    }
    if let Some(s) = Ref::<StringCell>::from_value(first) {
        check_compatible(cx, this, s)?;
        return match find_text(cx, this, s, 0)? {
            Some(at) => Ok((at, at + s.len())),
            None => cx.index_error("string not matched"),
        };
    }
    let i = cx.to_i64(first)?;
    match window(&cx.heap, this, i, 1) {
        Some(w) => Ok(w),
        None => cx.index_error(format!("index {i} out of string")),
    }
}

/// Byte range of `bytesplice` arguments; boundaries are checked.
fn byte_range(cx: &mut Cx, s: Str, args: &[Value]) -> Result<(usize, usize)> {
    let found = match args {
        [r] => match zakuro_core_base::ranges::as_range(cx, *r)? {
            Some(range) => match range_window(cx, range, |_| s.len())?.and_then(|(from, n)| byte_window(s.len(), from as i64, n)) {
                Some(w) => w,
                None => {
                    let shown = cx.inspect_text(*r)?;
                    return cx.range_error(format!("{shown} out of range"));
                }
            },
            None => {
                let c = cx.class_name_of(*r);
                return cx.type_error(format!("wrong argument type {c} (expected Range)"));
            }
        },
        [start, n] => {
            let (start, n) = (cx.to_i64(*start)?, cx.to_i64(*n)?);
            let Ok(n) = usize::try_from(n) else { return cx.index_error(format!("negative length {n}")) };
            match byte_window(s.len(), start, n) {
                Some(w) => w,
                None => return cx.index_error(format!("index {start} out of string")),
            }
        }
        _ => return cx.arity_error(args.len(), 2, Some(5)),
    };
    for at in [found.0, found.1] {
        if !is_boundary(&cx.heap, s, at) {
            return cx.index_error(format!("offset {at} does not land on character boundary"));
        }
    }
    Ok(found)
}

#[ruby_class(ids::STRING)]
pub mod indexing {
    use super::*;

    /// The character at an index, or the part that an index and a length, a Range, a String or a Regexp name; nil when there is none.
    ///
    ///     "hello"[1]           #=> "e"
    ///     "hello"[1, 3]        #=> "ell"
    ///     "hello"[-3..]        #=> "llo"
    ///     "hello"[/l+/]        #=> "ll"
    ///     "hello"["ell"]       #=> "ell"
    #[method("[]", "slice", min = 1, max = 2)]
    fn aref_method(cx: &mut Cx, this: Str, args: Args) -> Result<Value> {
        aref(cx, this, args.all())
    }

    /// Replaces the part that the arguments name.
    ///
    ///     s = +"hello"; s[1, 3] = "-"; s       #=> "h-o"
    ///     s = +"hello"; s[/l+/] = "L"; s       #=> "heLo"
    #[method("[]=", min = 2, max = 3)]
    fn aset(cx: &mut Cx, this: Str, args: Args) -> Result<Value> {
        let (args, value) = args.all().split_at(args.len() - 1);
        let places = match args {
            [_] => cx.is_integer(args[0]),
            _ => !cx.is_a(args[0], ids::REGEXP) && cx.is_integer(args[1]) && cx.to_i64(args[1])? >= 0,
        };
        let mut with = None;
        if places {
            // Encodings are looked at before places.
            let text = cx.to_str(value[0])?;
            check_compatible(cx, this, text)?;
            with = Some(text);
        }
        let (a, b) = locate_for_set(cx, this, args)?;
        let with = match with {
            Some(text) => text,
            None => cx.to_str(value[0])?,
        };
        cx.check_frozen(this.as_value())?;
        splice(cx, this, a, b, with)?;
        Ok(value[0])
    }

    /// Removes the part that the arguments name and returns it.
    ///
    ///     s = +"hello"; [s.slice!(1..3), s]   #=> ["ell", "ho"]
    #[method("slice!", min = 1, max = 2)]
    fn slice_bang(cx: &mut Cx, this: Str, args: Args) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        let Some((a, b)) = locate(cx, this, args.all())? else { return Ok(Value::NIL) };
        let removed = match args.all() {
            // A text is returned as it was given, in its encoding.
            [text] if text.is_kind(Kind::String) => copy(cx, Ref::of(*text)),
            _ => sub(cx, this, a, b),
        };
        let ascii = is_ascii(&cx.heap, this);
        StringCell::splice(this, &mut cx.heap, a, b, b"");
        if ascii {
            this.set_code_range(string::CodeRange::Ascii);
        }
        Ok(removed)
    }

    /// Puts a String before a character, counted from behind after it.
    ///
    ///     (+"abcd").insert(1, "-")    #=> "a-bcd"
    ///     (+"abcd").insert(-1, "-")   #=> "abcd-"
    #[method("insert")]
    fn insert(cx: &mut Cx, this: Str, at: i64, other: Str) -> Result<Str> {
        check_compatible(cx, this, other)?;
        let from = match at {
            -1 => Some(this.len()),
            i if i < 0 => window(&cx.heap, this, i + 1, 0).map(|w| w.0),
            i => window(&cx.heap, this, i, 0).map(|w| w.0),
        };
        let Some(from) = from else { return cx.index_error(format!("index {} out of string", if at < 0 { at + 1 } else { at })) };
        cx.check_frozen(this.as_value())?;
        splice(cx, this, from, from, other)?;
        Ok(this)
    }

    /// The bytes that an index, an index and a length, or a Range name.
    ///
    ///     "hello".byteslice(1, 3)   #=> "ell"
    ///     "hello".byteslice(9)      #=> nil
    #[method("byteslice")]
    fn byteslice(cx: &mut Cx, this: Str, first: Value, n: Option<Value>) -> Result<Value> {
        let len = this.len();
        let found = if let Some(n) = n {
            let (start, n) = (cx.to_i64(first)?, cx.to_i64(n)?);
            usize::try_from(n).ok().and_then(|n| byte_window(len, start, n))
        } else if let Some(r) = zakuro_core_base::ranges::as_range(cx, first)? {
            range_window(cx, r, |_| len)?.and_then(|(from, n)| byte_window(len, from as i64, n))
        } else {
            let i = cx.to_i64(first)?;
            byte_window(len, i, 1).filter(|(a, b)| a < b)
        };
        Ok(match found {
            Some((a, b)) => sub(cx, this, a, b),
            None => Value::NIL,
        })
    }

    /// Replaces bytes by a String, or by a part of it.
    ///
    ///     (+"hello").bytesplice(0, 2, "XYZ")            #=> "XYZllo"
    ///     (+"hello").bytesplice(0, 2, "XYZ", 1, 1)      #=> "Yllo"
    #[method("bytesplice", min = 2, max = 5)]
    fn bytesplice(cx: &mut Cx, this: Str, args: Args) -> Result<Str> {
        let a = args.all();
        let (target, with, part): (&[Value], Value, &[Value]) = match a.len() {
            2 => (&a[..1], a[1], &[]),
            3 if a[0].is_kind(Kind::Range) => (&a[..1], a[1], &a[2..]),
            3 => (&a[..2], a[2], &[]),
            5 => (&a[..2], a[2], &a[3..]),
            n => return cx.arg_error(format!("wrong number of arguments (given {n}, expected 2, 3, or 5)")),
        };
        let w = cx.to_str(with)?;
        let (from, to) = byte_range(cx, this, target)?;
        let piece = if part.is_empty() {
            w
        } else {
            let (a, b) = byte_range(cx, w, part)?;
            Ref::of(sub(cx, w, a, b))
        };
        cx.check_frozen(this.as_value())?;
        splice(cx, this, from, to, piece)?;
        Ok(this)
    }

    /// The byte at an index, or nil.
    ///
    ///     "abc".getbyte(0)    #=> 97
    ///     "abc".getbyte(-1)   #=> 99
    #[method("getbyte")]
    fn getbyte(this: Str, at: i64) -> Option<u8> {
        let at = from_end(at, this.len())?;
        this.byte(at)
    }

    /// Replaces the byte at an index.
    ///
    ///     s = +"abc"; s.setbyte(1, 0x2d); s   #=> "a-c"
    #[method("setbyte")]
    fn setbyte(cx: &mut Cx, this: Str, at: i64, byte: Value) -> Result<Value> {
        let v = match cx.to_int(byte)? {
            i if i.is_fixnum() => i.fix() as u8,
            i => cx.as_big(i).map_or(0, |b| b.to_signed_bytes_le()[0]),
        };
        let Some(i) = from_end(at, this.len()).filter(|i| *i < this.len()) else {
            return cx.index_error(format!("index {at} out of string"));
        };
        cx.check_frozen(this.as_value())?;
        StringCell::bytes_mut(this, &mut cx.heap)[i] = v;
        Ok(byte)
    }
}
