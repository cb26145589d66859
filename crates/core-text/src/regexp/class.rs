//! Methods of Regexp.

use super::engine::{self, RegexpData, match_of, regexp_checked, regexp_of};
use super::{make, timeout};
use crate::string::util::{self, Str};
use zakuro_macros::ruby_class;
use zakuro_text::encoding::Encoding;
use zakuro_text::encoding::transcode::{Policy, transcode};
use zakuro_text::regexp::RegexFlags;
use zakuro_vm::equality::{combine, hash_bytes};
use zakuro_vm::*;

/// Byte offset of the `pos` argument of `match` (characters, negative from the end); None when it lies outside.
fn start_offset(heap: &Heap, s: Str, pos: Option<i64>) -> Option<usize> {
    match pos {
        None | Some(0) => Some(0),
        Some(n) if n > 0 => util::offset(heap, s, n as usize),
        Some(n) => util::offset(heap, s, util::from_end(n, util::length(heap, s))?),
    }
}

/// Options that make Regexps differ: `/n` does not.
fn visible(d: &RegexpData) -> u32 {
    d.options() & !RegexFlags::NOENCODING
}

#[ruby_class(ids::REGEXP)]
pub mod regexp {
    use super::*;

    /// A pattern of a text or a Regexp; options are bits (Regexp::IGNORECASE), a text ("im"), or true for ignoring case. `timeout:` in seconds. RegexpError if it is wrong.
    ///
    ///     Regexp.new("a.b", "mi").options   #=> 5
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, source: Value, opts: Option<Value>, kw: Kwargs) -> Result<Value> {
        kw.only(cx, &[sym::timeout])?;
        if this.flags() & flags::FROZEN != 0 {
            return cx.raise(ids::FROZEN_ERROR, "can't modify literal regexp");
        }
        if regexp_of(&this).is_some() {
            return cx.type_error("already initialized regexp");
        }
        let limit = match kw.get(sym::timeout) {
            Some(v) => timeout::check(cx, v)?,
            None => None,
        };
        let regexp = if cx.is_a(source, ids::REGEXP) {
            if opts.is_some() {
                cx.warn_here("flags ignored")?;
            }
            regexp_checked(cx, &source)?.regexp.clone()
        } else {
            let flags = match opts {
                Some(o) => make::options(cx, o)?,
                None => RegexFlags::default(),
            };
            let s = cx.to_str(source)?;
            make::compile_str(cx, s, flags)?
        };
        let data = RegexpData::new(cx, regexp);
        cx.data_init(this, data)?;
        if let Some(f) = limit {
            timeout::set(cx, this, f);
        }
        Ok(this)
    }

    /// Makes this object a copy of another pattern.
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        if this == other {
            return Ok(this);
        }
        if this.flags() & flags::FROZEN != 0 {
            return cx.raise(ids::FROZEN_ERROR, "can't modify literal regexp");
        }
        let regexp = regexp_checked(cx, &other)?.regexp.clone();
        let data = RegexpData::new(cx, regexp);
        cx.data_init(this, data)?;
        Ok(this)
    }

    /// As `new`.
    ///
    ///     Regexp.compile("a+", Regexp::IGNORECASE)   #=> /a+/i
    #[method("compile", singleton)]
    fn compile(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        cx.forward(this, sym::new, args)
    }

    /// Source that matches the text as it is written.
    ///
    ///     Regexp.escape("a.b*c")   #=> "a\\.b\\*c"
    #[method("escape", "quote", singleton)]
    fn escape(cx: &mut Cx, _this: Value, v: Value) -> Result<Value> {
        let s = make::str_or_sym(cx, v)?;
        let out = make::escape_pausing(cx, s)?;
        Ok(cx.str_bytes(&out, make::escaped_encoding(&cx.heap, s).id()))
    }

    /// A Regexp that matches what any of the patterns matches.
    ///
    ///     Regexp.union("a.b", /c/i)   #=> /a\.b|(?i-mx:c)/
    #[method("union", singleton)]
    fn union(cx: &mut Cx, _this: Value, patterns: Rest) -> Result<Value> {
        if let [one] = patterns
            && let Some(list) = cx.try_ary(*one)?
        {
            let list = RootedVec::of(cx, list);
            return make::union(cx, &list);
        }
        make::union(cx, patterns)
    }

    /// The last match of the calling method, or one of its groups.
    ///
    ///     "ab" =~ /(.)b/; Regexp.last_match(1)   #=> "a"
    #[method("last_match", singleton)]
    fn last_match(cx: &mut Cx, _this: Value, n: Option<Value>) -> Result<Value> {
        // Shown: to convert the number may run code that matches.
        let m = cx.backref();
        match n {
            None => Ok(m),
            Some(n) => {
                let group = match match_of(&m) {
                    Some(d) => crate::regexp::matchdata::group_at(cx, d, n),
                    None => Ok(Value::NIL),
                };
                // No argument, and the variable may have another match by now.
                std::hint::black_box(m);
                group
            }
        }
    }

    /// The Regexp itself, what its `to_regexp` gives, or nil.
    ///
    ///     Regexp.try_convert("a")   #=> nil
    #[method("try_convert", singleton)]
    fn try_convert(cx: &mut Cx, _this: Value, v: Value) -> Result<Value> {
        make::try_convert(cx, v)
    }

    /// Does matching take time linear in the length of the text?
    ///
    ///     Regexp.linear_time?(/a+b/)   #=> true
    #[method("linear_time?", singleton)]
    fn linear_time(cx: &mut Cx, _this: Value, source: Value, opts: Option<Value>, kw: Kwargs) -> Result<bool> {
        kw.only(cx, &[sym::timeout])?;
        if cx.is_a(source, ids::REGEXP) {
            if opts.is_some() {
                cx.warn_here("flags ignored")?;
            }
            return Ok(regexp_checked(cx, &source)?.regexp.is_linear_time());
        }
        let flags = match opts {
            Some(o) => make::options(cx, o)?,
            None => RegexFlags::default(),
        };
        let s = cx.to_str(source)?;
        Ok(make::compile_str(cx, s, flags)?.is_linear_time())
    }

    /// Index of the first match, or nil. Sets `$~`.
    ///
    ///     /b/ =~ "abc"   #=> 1
    #[method("=~")]
    fn match_op(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        if v.is_nil() {
            cx.set_backref(v);
            return Ok(v);
        }
        let s = make::str_or_sym(cx, v)?;
        let found = if cx.wants_backref() {
            engine::search_backref(cx, this, s, 0, false)?.map(|p| p.found_at)
        } else {
            engine::find_place(cx, this, s)?
        };
        Ok(found.map_or(Value::NIL, |i| Value::fixnum(util::char_index(&cx.heap, s, i) as i64)))
    }

    /// Does it match? Sets `$~`. False for what is no String or Symbol.
    ///
    ///     /b/ === "abc"   #=> true
    #[method("===")]
    fn case_eq(cx: &mut Cx, this: Value, v: Value) -> Result<bool> {
        let s = if v.is_sym() { Some(cx.to_s(v)?) } else { cx.try_str(v)? };
        let Some(s) = s else {
            cx.set_backref(Value::NIL);
            return Ok(false);
        };
        if !cx.wants_backref() {
            return engine::is_match(cx, this, s, 0);
        }
        Ok(engine::search_backref(cx, this, s, 0, false)?.is_some())
    }

    /// Does it match `$_`?
    #[method("~")]
    fn match_line(cx: &mut Cx, this: Value) -> Result<Value> {
        let line = cx.lastline();
        if !line.is_kind(Kind::String) {
            cx.set_backref(Value::NIL);
            return Ok(Value::NIL);
        }
        match_op(cx, this, line)
    }

    /// The first match at or after character `pos` as MatchData, or nil. Sets `$~`. With a block: its result for a match.
    ///
    ///     /(.)b/.match("ab")[1]   #=> "a"
    #[method("match")]
    fn match_(cx: &mut Cx, this: Value, v: Value, pos: Option<i64>, block: Block) -> Result<Value> {
        if v.is_nil() {
            cx.set_backref(v);
            return Ok(v);
        }
        let s = make::str_or_sym(cx, v)?;
        // Behind the end stands for the end.
        let from = start_offset(&cx.heap, s, pos).or_else(|| pos.is_some_and(|n| n > 0).then(|| s.len()));
        let found = match from {
            Some(at) => engine::search(cx, this, s, at, false)?,
            None => None,
        };
        let m = match found {
            Some(c) => engine::make_match(cx, this, s, c),
            None => Value::NIL,
        };
        cx.set_backref(m);
        if block.is_some() && !m.is_nil() { cx.yield1(block, m) } else { Ok(m) }
    }

    /// Does it match at or after character `pos`? Leaves `$~` alone.
    ///
    ///     /b/.match?("abc", 2)   #=> false
    #[method("match?")]
    fn is_match(cx: &mut Cx, this: Value, v: Value, pos: Option<i64>) -> Result<bool> {
        if v.is_nil() {
            return Ok(false);
        }
        let s = make::str_or_sym(cx, v)?;
        match start_offset(&cx.heap, s, pos) {
            Some(at) => engine::is_match(cx, this, s, at),
            None => Ok(false),
        }
    }

    /// The text between the slashes.
    ///
    ///     /a+b/i.source   #=> "a+b"
    #[method("source")]
    fn source(cx: &mut Cx, this: Value) -> Result<Value> {
        let d = regexp_checked(cx, &this)?;
        Ok(cx.str_bytes(d.source(), d.regexp.encoding().id()))
    }

    /// The Regexp as part of another one.
    ///
    ///     /a+b/i.to_s   #=> "(?i-mx:a+b)"
    #[method("to_s")]
    fn to_s(cx: &mut Cx, this: Value) -> Result<Value> {
        let d = regexp_checked(cx, &this)?;
        let text = d.regexp.to_s();
        let own = d.regexp.encoding();
        if !own.is_ascii_compatible()
            && let Ok(wide) = transcode(Encoding::UTF_8, own, text.as_bytes(), &Policy::default())
        {
            return Ok(cx.str_bytes(&wide, own.id()));
        }
        // Bytes that are written by their numbers are of the Regexp's encoding.
        if d.regexp.is_fixed_encoding() && d.regexp.encoding().is_ascii_compatible() {
            let encoding = d.regexp.encoding().id();
            return Ok(cx.str_bytes(text.as_bytes(), encoding));
        }
        Ok(cx.str_plain(&text))
    }

    /// As a program would write it.
    ///
    ///     /a\/b/mi.inspect   #=> "/a\\/b/mi"
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<Value> {
        if regexp_of(&this).is_none() && !cx.is_data::<make::Invalid>(this) {
            let text = cx.any_to_s(this);
            return Ok(cx.str(&text));
        }
        let d = regexp_checked(cx, &this)?;
        let text = d.regexp.inspect();
        Ok(cx.str_plain(&text))
    }

    /// Option bits.
    ///
    ///     /a/mx.options   #=> 6
    #[method("options")]
    fn options(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(i64::from(regexp_checked(cx, &this)?.options()))
    }

    /// Is case ignored?
    ///
    ///     /a/i.casefold?   #=> true
    #[method("casefold?")]
    fn casefold(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(regexp_checked(cx, &this)?.regexp.flags().ignore_case)
    }

    /// Names of the groups.
    ///
    ///     /(?<a>.)(?<b>.)/.names   #=> ["a", "b"]
    #[method("names")]
    fn names(cx: &mut Cx, this: Value) -> Result<Value> {
        let names: Vec<String> = regexp_checked(cx, &this)?.regexp.names().iter().map(|n| n.0.clone()).collect();
        Ok(cx.str_array(&names))
    }

    /// Names of the groups with their numbers.
    ///
    ///     /(?<a>.)(?<b>.)/.named_captures   #=> {"a" => [1], "b" => [2]}
    #[method("named_captures")]
    fn named_captures(cx: &mut Cx, this: Value) -> Result<Value> {
        let d = regexp_checked(cx, &this)?;
        let h = cx.new_hash();
        for (name, numbers) in d.regexp.names() {
            let (key, list) = (cx.str(name), cx.array_of(numbers.iter().map(|n| Value::fixnum(*n as i64))));
            cx.hash_set(h, key, list)?;
        }
        Ok(h.as_value())
    }

    /// Same source, options and encoding?
    ///
    ///     /a/ == /a/i   #=> false
    #[method("==", "eql?")]
    fn eq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        if this == other {
            return Ok(true);
        }
        let Some(b) = regexp_of(&other) else {
            if cx.is_a(other, ids::REGEXP) {
                regexp_checked(cx, &other)?;
            }
            return Ok(false);
        };
        let a = regexp_checked(cx, &this)?;
        Ok(a.source() == b.source() && visible(a) == visible(b) && a.regexp.encoding() == b.regexp.encoding())
    }

    /// Equal for equal Regexps.
    ///
    ///     /a/.hash == Regexp.new("a").hash   #=> true
    #[method("hash")]
    fn hash(cx: &mut Cx, this: Value) -> Result<Value> {
        let d = regexp_checked(cx, &this)?;
        let h = combine(&[hash_bytes(d.source()), visible(d) as u64]);
        Ok(cx.shown_hash(h))
    }

    /// Encoding of the source.
    ///
    ///     /a/.encoding.name   #=> "US-ASCII"
    #[method("encoding")]
    fn encoding(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = match regexp_of(&this) {
            None if !cx.is_data::<make::Invalid>(this) => Encoding::BINARY,
            _ => regexp_checked(cx, &this)?.regexp.encoding(),
        };
        Ok(crate::encoding::object(cx, e))
    }

    /// Does it match text of its own encoding only?
    ///
    ///     /a/u.fixed_encoding?   #=> true
    #[method("fixed_encoding?")]
    fn fixed_encoding(this: Value) -> bool {
        regexp_of(&this).is_some_and(|d| d.regexp.is_fixed_encoding())
    }
}
