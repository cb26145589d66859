//! String: where something stands: `index`, `include?`, `start_with?`, `delete_prefix`.

use super::util::*;
use zakuro_vm::string::CodeRange;
use crate::regexp::engine;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// What is searched for: a Regexp value or a String.
enum Pattern {
    Regexp(Value),
    Text(Str),
}

fn pattern(cx: &mut Cx, this: Str, v: Value) -> Result<Pattern> {
    if engine::regexp_of(&v).is_some() {
        return Ok(Pattern::Regexp(v));
    }
    let s = cx.to_str(v)?;
    check_compatible(cx, this, s)?;
    Ok(Pattern::Text(s))
}

/// Byte offset of the first match at or after byte `from`.
fn first(cx: &mut Cx, this: Str, p: Pattern, from: usize) -> Result<Option<usize>> {
    match p {
        Pattern::Regexp(re) => Ok(engine::search_backref(cx, re, this, from, false)?.map(|p| p.start)),
        Pattern::Text(s) => find_text(cx, this, s, from),
    }
}

/// Byte offset of the last match at or before byte `from`.
fn last(cx: &mut Cx, this: Str, p: Pattern, from: usize) -> Result<Option<usize>> {
    match p {
        Pattern::Regexp(re) => Ok(engine::search_backref(cx, re, this, from, true)?.map(|p| p.start)),
        Pattern::Text(s) => rfind_text(cx, this, s, from),
    }
}

fn no_match(cx: &mut Cx, p: &Pattern) -> Result<Value> {
    if let Pattern::Regexp(_) = p {
        cx.set_backref(Value::NIL);
    }
    Ok(Value::NIL)
}

/// Does `this` begin with one of the prefixes (Strings or Regexps)?
pub fn start_with(cx: &mut Cx, this: Str, prefixes: &[Value]) -> Result<bool> {
    for p in prefixes {
        if engine::regexp_of(p).is_some() {
            let found = engine::match_at(cx, *p, this, 0)?;
            let is_found = found.is_some();
            engine::set_match(cx, *p, this, found);
            if is_found {
                return Ok(true);
            }
            continue;
        }
        let s = cx.to_str(*p)?;
        check_compatible(cx, this, s)?;
        if has_prefix(&cx.heap, this, s) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn has_prefix(heap: &Heap, this: Str, s: Str) -> bool {
    this.content(heap).starts_with(s.content(heap)) && is_boundary(heap, this, s.len())
}

/// As `has_prefix`; what is broken begins no whole text, and is of no encoding that could be a wrong one.
fn deleted_prefix(cx: &mut Cx, this: Str, prefix: Str) -> Result<usize> {
    let broken = range(&cx.heap, prefix) == CodeRange::Broken;
    if !broken || !enc(this).is_ascii_compatible() || !enc(prefix).is_ascii_compatible() {
        check_compatible(cx, this, prefix)?;
    }
    let begins = has_prefix(&cx.heap, this, prefix) && !(broken && range(&cx.heap, this) != CodeRange::Broken);
    Ok(if begins { prefix.len() } else { 0 })
}

/// Bytes of a suffix to leave out. Broken text ends nothing.
fn deleted_suffix(cx: &mut Cx, this: Str, suffix: Str) -> Result<usize> {
    if range(&cx.heap, suffix) == CodeRange::Broken {
        return Ok(0);
    }
    check_compatible(cx, this, suffix)?;
    Ok(if has_suffix(&cx.heap, this, suffix) { suffix.len() } else { 0 })
}

fn has_suffix(heap: &Heap, this: Str, s: Str) -> bool {
    this.content(heap).ends_with(s.content(heap)) && is_boundary(heap, this, this.len() - s.len())
}

/// Does `this` end with one of the suffixes?
pub fn end_with(cx: &mut Cx, this: Str, suffixes: &[Value]) -> Result<bool> {
    for p in suffixes {
        let s = cx.to_str(*p)?;
        check_compatible(cx, this, s)?;
        if has_suffix(&cx.heap, this, s) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[ruby_class(ids::STRING)]
pub mod searching {
    use super::*;

    /// Index of the first match of a String or Regexp, from a character on.
    ///
    ///     "hello".index("l")      #=> 2
    ///     "hello".index(/l/, 3)   #=> 3
    ///     "hello".index("x")      #=> nil
    #[method("index")]
    fn index(cx: &mut Cx, this: Str, wanted: Value, start: Option<Value>) -> Result<Value> {
        let start = start.map_or(Ok(0), |v| cx.to_i64(v))?;
        let p = pattern(cx, this, wanted)?;
        let Some((from, _)) = window(&cx.heap, this, start, 0) else { return no_match(cx, &p) };
        Ok(match first(cx, this, p, from)? {
            Some(at) => Value::fixnum(char_index(&cx.heap, this, at) as i64),
            None => Value::NIL,
        })
    }

    /// Index of the last match of a String or Regexp that begins at a character or before it.
    ///
    ///     "hello".rindex("l")       #=> 3
    ///     "hello".rindex("l", 2)    #=> 2
    ///     "hello".rindex(/e/, -3)   #=> 1
    #[method("rindex")]
    fn rindex(cx: &mut Cx, this: Str, wanted: Value, start: Option<Value>) -> Result<Value> {
        let start = start.map_or(Ok(i64::MAX), |v| cx.to_i64(v))?;
        let p = pattern(cx, this, wanted)?;
        let from = if start < 0 {
            match offset_from_end(&cx.heap, this, start.unsigned_abs() as usize) {
                Some(at) => at,
                None => return no_match(cx, &p),
            }
        } else {
            advance(&cx.heap, this, 0, start as usize)
        };
        Ok(match last(cx, this, p, from)? {
            Some(at) => Value::fixnum(char_index(&cx.heap, this, at) as i64),
            None => Value::NIL,
        })
    }

    /// As `index`, in bytes.
    ///
    ///     "äbc".byteindex("b")   #=> 2
    #[method("byteindex")]
    fn byteindex(cx: &mut Cx, this: Str, wanted: Value, start: Option<Value>) -> Result<Value> {
        let start = start.map_or(Ok(0), |v| cx.to_i64(v))?;
        let p = pattern(cx, this, wanted)?;
        let Some((from, _)) = byte_window(this.len(), start, 0) else { return no_match(cx, &p) };
        if !is_boundary(&cx.heap, this, from) {
            return cx.index_error(format!("offset {from} does not land on character boundary"));
        }
        Ok(first(cx, this, p, from)?.map_or(Value::NIL, |at| Value::fixnum(at as i64)))
    }

    /// As `rindex`, in bytes.
    ///
    ///     "äbcb".byterindex("b")   #=> 4
    #[method("byterindex")]
    fn byterindex(cx: &mut Cx, this: Str, wanted: Value, start: Option<Value>) -> Result<Value> {
        let start = start.map_or(Ok(i64::MAX), |v| cx.to_i64(v))?;
        let p = pattern(cx, this, wanted)?;
        let Some(from) = from_end(start, this.len()) else { return no_match(cx, &p) };
        let from = from.min(this.len());
        if !is_boundary(&cx.heap, this, from) {
            return cx.index_error(format!("offset {from} does not land on character boundary"));
        }
        Ok(last(cx, this, p, from)?.map_or(Value::NIL, |at| Value::fixnum(at as i64)))
    }

    /// Does it contain the other String?
    ///
    ///     "hello".include?("ell")   #=> true
    #[method("include?")]
    fn include(cx: &mut Cx, this: Str, other: Str) -> Result<bool> {
        check_compatible(cx, this, other)?;
        Ok(find_text(cx, this, other, 0)?.is_some())
    }

    /// Does it begin with one of the Strings, or with a match of one of the Regexps?
    ///
    ///     "hello".start_with?("x", "he")   #=> true
    ///     "hello".start_with?(/H/i)        #=> true
    #[method("start_with?")]
    fn start_with_p(cx: &mut Cx, this: Str, prefixes: Rest) -> Result<bool> {
        start_with(cx, this, prefixes)
    }

    /// Does it end with one of the Strings?
    ///
    ///     "hello".end_with?("x", "lo")   #=> true
    #[method("end_with?")]
    fn end_with_p(cx: &mut Cx, this: Str, suffixes: Rest) -> Result<bool> {
        end_with(cx, this, suffixes)
    }

    /// Without a prefix, if it is there.
    ///
    ///     "hello".delete_prefix("hel")   #=> "lo"
    #[method("delete_prefix")]
    fn delete_prefix(cx: &mut Cx, this: Str, prefix: Str) -> Result<Value> {
        let n = deleted_prefix(cx, this, prefix)?;
        Ok(sub(cx, this, n, this.len()))
    }

    /// Without a suffix, if it is there.
    ///
    ///     "hello".delete_suffix("llo")   #=> "he"
    #[method("delete_suffix")]
    fn delete_suffix(cx: &mut Cx, this: Str, suffix: Str) -> Result<Value> {
        let n = deleted_suffix(cx, this, suffix)?;
        Ok(sub(cx, this, 0, this.len() - n))
    }

    /// Removes a prefix; nil when it is not there.
    ///
    ///     (+"hello").delete_prefix!("hel")   #=> "lo"
    ///     (+"hello").delete_prefix!("x")     #=> nil
    #[method("delete_prefix!")]
    fn delete_prefix_bang(cx: &mut Cx, this: Str, prefix: Str) -> Result<Option<Str>> {
        cx.check_frozen(this.as_value())?;
        let n = deleted_prefix(cx, this, prefix)?;
        if n == 0 {
            return Ok(None);
        }
        StringCell::splice(this, &mut cx.heap, 0, n, b"");
        Ok(Some(this))
    }

    /// Removes a suffix; nil when it is not there.
    ///
    ///     (+"hello").delete_suffix!("llo")   #=> "he"
    #[method("delete_suffix!")]
    fn delete_suffix_bang(cx: &mut Cx, this: Str, suffix: Str) -> Result<Option<Str>> {
        cx.check_frozen(this.as_value())?;
        let n = match deleted_suffix(cx, this, suffix)? {
            0 => return Ok(None),
            n => this.len() - n,
        };
        StringCell::truncate(this, &mut cx.heap, n);
        Ok(Some(this))
    }
}
