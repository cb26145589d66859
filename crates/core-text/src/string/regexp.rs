//! String: methods that match: `=~`, `match`, `scan`, `sub`, `gsub`.
//!
//! A String pattern is searched for as it is, without making a Regexp. MatchData objects are made only where a program reads `$~`.

use super::util::*;
use crate::regexp::engine;
use zakuro_macros::ruby_class;
use zakuro_text::encoding::Encoding;
use zakuro_text::regexp::Captures;
use zakuro_vm::*;

/// Matches between two safepoints.
const BETWEEN_SAFEPOINTS: usize = 512;

/// What `scan`, `sub`, `gsub`, `split` and `partition` look for.
#[derive(Clone, Copy)]
pub enum Pattern {
    Regexp(Value),
    Text(Str),
}

/// A pattern argument: Regexp or String. TypeError for others.
pub fn pattern(cx: &mut Cx, v: Value) -> Result<Pattern> {
    if engine::regexp_of(&v).is_some() {
        return Ok(Pattern::Regexp(v));
    }
    match cx.try_str(v)? {
        Some(s) => Ok(Pattern::Text(s)),
        None => {
            engine::regexp_checked(cx, &v)?;
            Ok(Pattern::Regexp(v))
        }
    }
}

/// A match of a [`Pattern`].
pub struct Found {
    pub start: usize,
    pub end: usize,
    /// None when there are no groups.
    pub captures: Option<Captures>,
}

impl Pattern {
    /// First match at or after byte `from`; leaves `$~` alone.
    pub fn search(&self, cx: &mut Cx, s: Str, from: usize) -> Result<Option<Found>> {
        match self {
            Pattern::Text(p) => {
                Ok(find_text(cx, s, *p, from)?.map(|start| Found { start, end: start + p.len(), captures: None }))
            }
            Pattern::Regexp(re) if engine::regexp_of(re).is_some_and(|d| d.regexp.group_count() == 1) => {
                Ok(engine::find(cx, *re, s, from)?.map(|(start, end)| Found { start, end, captures: None }))
            }
            Pattern::Regexp(re) => {
                let found = engine::search(cx, *re, s, from, false)?;
                Ok(found.map(|c| Found { start: c.start(), end: c.end(), captures: Some(c) }))
            }
        }
    }
    pub fn value(&self) -> Value {
        match self {
            Pattern::Regexp(v) => *v,
            Pattern::Text(s) => s.as_value(),
        }
    }
    /// Sets `$~` (nil for None).
    pub fn publish(&self, cx: &mut Cx, s: Str, found: Option<&Found>) {
        if !cx.wants_backref() {
            return;
        }
        match found {
            None => cx.set_backref(Value::NIL),
            Some(f) => {
                let caps = f.captures.clone().unwrap_or_else(|| Captures::of_range((f.start, f.end)));
                engine::set_last_match(cx, self.value(), s, caps);
            }
        }
    }
    /// A String pattern must go together with the text.
    pub fn check(&self, cx: &mut Cx, s: Str) -> Result<()> {
        if let Pattern::Text(p) = self {
            check_compatible(cx, s, *p)?;
        }
        Ok(())
    }
}

/// Number of the group that `v` (Integer, String, Symbol) names in `re`; None when the number is out of range.
pub fn group_number(cx: &mut Cx, re: Value, v: Value) -> Result<Option<usize>> {
    let d = engine::regexp_checked(cx, &re)?;
    let name: std::borrow::Cow<'_, str> = if let Some(s) = v.as_sym() {
        s.name()
    } else if let Some(s) = Ref::<StringCell>::from_value(v) {
        s.to_text().into()
    } else {
        let i = cx.to_i64(v)?;
        // Counted from behind, the whole match is not reached.
        return Ok(from_end(i, d.regexp.group_count()).filter(|n| i >= 0 || *n > 0));
    };
    match d.regexp.names().iter().find(|n| n.0 == name) {
        Some(n) => Ok(n.1.last().copied()),
        None => cx.index_error(format!("undefined group name reference: {name}")),
    }
}

/// A Regexp: the value itself, or made of a String.
pub fn to_regexp(cx: &mut Cx, v: Value) -> Result<Value> {
    if engine::regexp_of(&v).is_some() {
        return Ok(v);
    }
    match cx.try_str(v)? {
        Some(s) => {
            let class = cx.class_value(ids::REGEXP);
            cx.call(class, sym::new, &[s.as_value()])
        }
        None => {
            let c = cx.class_name_of(v);
            cx.type_error(format!("wrong argument type {c} (expected Regexp)"))
        }
    }
}

/// `this =~ other`
pub fn match_op(cx: &mut Cx, this: Str, other: Value) -> Result<Value> {
    if other.is_kind(Kind::String) {
        return cx.type_error("type mismatch: String given");
    }
    if engine::regexp_of(&other).is_some() {
        let found = engine::search_backref(cx, other, this, 0, false)?;
        return Ok(found.map_or(Value::NIL, |c| Value::fixnum(char_index(&cx.heap, this, c.found_at) as i64)));
    }
    cx.call(other, sym::match_op, &[this.as_value()])
}

/// `this.match(pattern, ...)`
pub fn match_method(cx: &mut Cx, this: Str, args: Args) -> Result<Value> {
    let a = args.all();
    let Some(first) = a.first() else { return cx.arity_error(0, 1, Some(2)) };
    let re = to_regexp(cx, *first)?;
    let list = ArgList::new(cx, &[&[this.as_value()], &a[1..]]);
    let found = cx.call(re, Sym::intern("match"), &list)?;
    if args.block.is_some() && !found.is_nil() { cx.yield1(args.block, found) } else { Ok(found) }
}

/// `this.match?(pattern, from)`
pub fn match_p(cx: &mut Cx, this: Str, pattern: Value, from: Option<i64>) -> Result<bool> {
    let re = to_regexp(cx, pattern)?;
    match window(&cx.heap, this, from.unwrap_or(0), 0) {
        Some((at, _)) => engine::is_match(cx, re, this, at),
        None => Ok(false),
    }
}

/// What a match is replaced by.
#[derive(Clone, Copy)]
enum Replacement {
    Text(Str),
    Hash(Value),
    Block(Block),
}

/// What is wrong with a reference by name.
enum Unexpandable {
    /// No group has this name; a pattern that is a String has no groups.
    Unknown(String),
    /// `\k<` without `>`.
    Unclosed,
}

impl Unexpandable {
    fn raise<T>(self, cx: &mut Cx) -> Result<T> {
        match self {
            Unexpandable::Unknown(name) => cx.index_error(format!("undefined group name reference: {name}")),
            Unexpandable::Unclosed => cx.raise(ids::RUNTIME_ERROR, "invalid group name reference format"),
        }
    }
}

/// Appends a replacement text with its references (`\1`, `\0`, `\k<name>`, ...) filled in.
fn expand(rep: &[u8], p: Pattern, s: &[u8], f: &Found, out: &mut Vec<u8>) -> std::result::Result<(), Unexpandable> {
    let part = |a: usize, b: usize| s.get(a..b).unwrap_or_default();
    let group = |n: usize| match &f.captures {
        Some(c) => c.groups.get(n).copied().flatten(),
        None => (n == 0).then_some((f.start, f.end)),
    };
    let mut at = 0;
    while let Some(i) = memchr::memchr(b'\\', &rep[at..]) {
        out.extend_from_slice(&rep[at..at + i]);
        at += i + 1;
        let Some(&c) = rep.get(at) else {
            out.push(b'\\');
            break;
        };
        at += 1;
        match c {
            b'0'..=b'9' | b'&' => {
                let n = if c == b'&' { 0 } else { (c - b'0') as usize };
                // Groups without a name are none where others have one, and so have no number.
                let value = p.value();
                if n > 0 && engine::regexp_of(&value).is_some_and(|d| !d.regexp.names().is_empty()) {
                    continue;
                }
                if let Some((a, b)) = group(n) {
                    out.extend_from_slice(part(a, b));
                }
            }
            b'+' => {
                let last = f.captures.as_ref().and_then(|c| c.groups[1..].iter().rev().find_map(|g| *g));
                if let Some((a, b)) = last {
                    out.extend_from_slice(part(a, b));
                }
            }
            b'`' => out.extend_from_slice(part(0, f.start)),
            b'\'' => out.extend_from_slice(part(f.end, s.len())),
            b'\\' => out.push(b'\\'),
            b'k' if rep.get(at) == Some(&b'<') => {
                let Some(length) = memchr::memchr(b'>', &rep[at..]) else { return Err(Unexpandable::Unclosed) };
                let name = String::from_utf8_lossy(&rep[at + 1..at + length]).into_owned();
                at += length + 1;
                let pattern = p.value();
                let names = engine::regexp_of(&pattern).map_or(&[][..], |d| d.regexp.names());
                let range = match names.iter().find(|n| n.0 == name) {
                    Some(n) => n.1.iter().rev().find_map(|n| group(*n)),
                    None => return Err(Unexpandable::Unknown(name)),
                };
                if let Some((a, b)) = range {
                    out.extend_from_slice(part(a, b));
                }
            }
            c => out.extend_from_slice(&[b'\\', c]),
        }
    }
    out.extend_from_slice(rep.get(at..).unwrap_or(&[]));
    Ok(())
}

/// Two encodings that don't go together.
struct Clash(Encoding, Encoding);

impl Clash {
    fn raise<T>(self, cx: &mut Cx) -> Result<T> {
        let (a, b) = (shown_name(self.0), shown_name(self.1));
        cx.raise(ids::COMPAT_ERROR, format!("incompatible character encodings: {a} and {b}"))
    }
}

/// Appends bytes from..to of `s`, as far as there are such, to a result in encoding `e`, which changes while the result is ASCII (for texts that have
/// no ASCII: while it is empty).
fn add(heap: &Heap, out: &mut Vec<u8>, e: &mut Encoding, s: Str, from: usize, to: usize) -> std::result::Result<(), Clash> {
    let (text, encoding) = (s.content(heap).get(from..to).unwrap_or_default(), enc(s));
    let compatible = e.is_ascii_compatible() && encoding.is_ascii_compatible();
    if encoding != *e && !(text.is_ascii() && compatible) && !text.is_empty() {
        if !(out.is_empty() || out.is_ascii() && compatible) {
            return Err(Clash(*e, encoding));
        }
        *e = encoding;
    }
    out.extend_from_slice(text);
    Ok(())
}

/// `sub` and `gsub`: bytes and encoding of the result; None when nothing matched. `checked`: the block must leave the String alone.
fn substitute(cx: &mut Cx, this: Str, pat: Value, rep: Replacement, global: bool, checked: bool) -> Result<Option<(Vec<u8>, Encoding)>> {
    let p = pattern(cx, pat)?;
    p.check(cx, this)?;
    range(&cx.heap, this);
    let texts = matches!((p, rep), (Pattern::Text(_), Replacement::Text(_)));
    let src = engine::steady(cx, this, !texts, BETWEEN_SAFEPOINTS);
    let plain = if let Replacement::Text(r) = rep { memchr::memchr(b'\\', r.content(&cx.heap)).is_none() } else { false };
    let mut e = enc(this);
    let Some(mut found) = p.search(cx, src, 0)? else {
        p.publish(cx, src, None);
        return Ok(None);
    };
    let len = src.len();
    let mut out = Vec::with_capacity(len + len / 8);
    let (mut copied, mut rounds) = (0, 0u32);
    // Where the two don't go together, it is asked of each piece: all of the other encoding may be replaced.
    let mut by_pieces = false;
    if let Replacement::Text(r) = rep {
        let rest_is_ascii = |heap: &Heap| {
            let b = src.content(heap);
            enc(src).is_ascii_compatible() && b[..found.start].is_ascii() && b[found.end..].is_ascii()
        };
        // What stands in the way of the other encoding may be what is replaced.
        e = match compatible(&cx.heap, src, r) {
            None if !global && rest_is_ascii(&cx.heap) => enc(r),
            None if global && plain => {
                by_pieces = true;
                enc(src)
            }
            _ => check_compatible(cx, src, r)?,
        };
    }
    let before = (this.address(), this.len());
    loop {
        add(&cx.heap, &mut out, &mut e, src, copied, found.start).or_else(|c| c.raise(cx))?;
        match rep {
            Replacement::Text(r) if by_pieces => add(&cx.heap, &mut out, &mut e, r, 0, r.len()).or_else(|c| c.raise(cx))?,
            Replacement::Text(r) if plain => {
                cx.reserve(&mut out, r.len())?;
                out.extend_from_slice(r.content(&cx.heap));
            }
            Replacement::Text(r) => expand(r.content(&cx.heap), p, src.content(&cx.heap), &found, &mut out)
                .or_else(|e| e.raise(cx))?,
            Replacement::Hash(_) | Replacement::Block(_) => {
                let m = sub(cx, src, found.start, found.end);
                let v = match rep {
                    Replacement::Hash(h) => cx.call(h, sym::aref, &[m])?,
                    Replacement::Block(b) => {
                        p.publish(cx, src, Some(&found));
                        cx.yield1(b, m)?
                    }
                    Replacement::Text(_) => Value::NIL,
                };
                let v = cx.to_s(v)?;
                if checked && (this.address(), this.len()) != before {
                    return cx.raise(ids::RUNTIME_ERROR, "string modified");
                }
                add(&cx.heap, &mut out, &mut e, v, 0, v.len()).or_else(|c| c.raise(cx))?;
            }
        }
        copied = found.end;
        let mut next = found.end;
        if found.end == found.start {
            if next >= len {
                break;
            }
            next += char_len_at(&cx.heap, src, next);
            add(&cx.heap, &mut out, &mut e, src, copied, next).or_else(|c| c.raise(cx))?;
            copied = next;
        }
        if !global {
            break;
        }
        rounds += 1;
        if rounds.is_multiple_of(BETWEEN_SAFEPOINTS as u32) {
            cx.safepoint()?;
        }
        match p.search(cx, src, next)? {
            Some(f) => found = f,
            None => break,
        }
    }
    add(&cx.heap, &mut out, &mut e, src, copied, src.len()).or_else(|c| c.raise(cx))?;
    // What the block of `sub` has matched stays.
    if global || !matches!(rep, Replacement::Block(_)) {
        p.publish(cx, src, Some(&found));
    }
    Ok(Some((out, e)))
}

/// The replacement among the arguments of `sub` and `gsub`.
fn replacement(cx: &mut Cx, rep: Option<Value>, block: Block) -> Result<Option<Replacement>> {
    let Some(v) = rep else {
        return Ok(block.is_some().then_some(Replacement::Block(block)));
    };
    if let Some(h) = cx.try_hash_only(v)? {
        return Ok(Some(Replacement::Hash(h)));
    }
    Ok(Some(Replacement::Text(cx.to_str(v)?)))
}

trait HashArg {
    fn try_hash_only(&mut self, v: Value) -> Result<Option<Value>>;
}
impl HashArg for Cx {
    /// A Hash (or what converts to one), but not a String.
    fn try_hash_only(&mut self, v: Value) -> Result<Option<Value>> {
        if v.is_kind(Kind::String) { Ok(None) } else { Ok(self.try_hash(v)?.map(|h| h.as_value())) }
    }
}

fn replaced(cx: &mut Cx, this: Str, pat: Value, rep: Replacement, global: bool) -> Result<Value> {
    match substitute(cx, this, pat, rep, global, global)? {
        Some((bytes, e)) => Ok(cx.str_bytes(&bytes, e.id())),
        None => Ok(copy(cx, this)),
    }
}

fn replaced_bang(cx: &mut Cx, this: Str, pat: Value, rep: Replacement, global: bool) -> Result<Value> {
    match substitute(cx, this, pat, rep, global, true)? {
        Some((bytes, e)) => {
            cx.check_frozen(this.as_value())?;
            set(cx, this, &bytes, e.id());
            Ok(this.as_value())
        }
        None => Ok(Value::NIL),
    }
}

/// What `scan` gives for a match: the text, or an Array of the groups.
fn scanned(cx: &mut Cx, src: Str, f: &Found) -> Value {
    match &f.captures {
        Some(c) if c.groups.len() > 1 => {
            let a = cx.new_array();
            for g in &c.groups[1..] {
                let v = g.map_or(Value::NIL, |(x, y)| sub(cx, src, x, y));
                ArrayCell::push(a, &mut cx.heap, v);
            }
            a.as_value()
        }
        _ => sub(cx, src, f.start, f.end),
    }
}

#[ruby_class(ids::STRING)]
pub mod matching {
    use super::*;

    /// Index of the first match of a Regexp, or nil. Sets `$~`.
    ///
    ///     "hello" =~ /l+/   #=> 2
    ///     "hello" =~ /x/    #=> nil
    #[method("=~")]
    fn match_operator(cx: &mut Cx, this: Str, other: Value) -> Result<Value> {
        match_op(cx, this, other)
    }

    /// MatchData of the first match from a character on, or nil.
    ///
    ///     "hello".match(/l(.)/)[1]   #=> "l"
    ///     "hello".match("x")         #=> nil
    #[method("match", min = 1)]
    fn match_(cx: &mut Cx, this: Str, args: Args) -> Result<Value> {
        match_method(cx, this, args)
    }

    /// Is there a match? Leaves `$~` alone.
    ///
    ///     "hello".match?(/l+/)     #=> true
    ///     "hello".match?("e", 2)   #=> false
    #[method("match?")]
    fn match_question(cx: &mut Cx, this: Str, pattern: Value, from: Option<i64>) -> Result<bool> {
        match_p(cx, this, pattern, from)
    }

    /// All matches: their texts, or their groups when the Regexp has some.
    ///
    ///     "a1b22".scan(/\d+/)          #=> ["1", "22"]
    ///     "a1b22".scan(/(\w)(\d)/)     #=> [["a", "1"], ["b", "2"]]
    #[method("scan")]
    fn scan(cx: &mut Cx, this: Str, pat: Value, block: Block) -> Result<Value> {
        let p = pattern(cx, pat)?;
        if let Pattern::Text(s) = p
            && range(&cx.heap, s) == string::CodeRange::Broken
        {
            let shown = cx.inspect_for_error(s.as_value());
            return cx.raise(ids::REGEXP_ERROR, format!("invalid multibyte character: /{}/", shown.trim_matches('"')));
        }
        check_valid(cx, this)?;
        p.check(cx, this)?;
        let src = engine::steady(cx, this, block.is_some() || matches!(p, Pattern::Regexp(_)), BETWEEN_SAFEPOINTS);
        let all = cx.new_array();
        let (mut at, mut rounds) = (0, 0u32);
        let mut last = None;
        while at <= src.len() {
            let Some(f) = p.search(cx, src, at)? else { break };
            at = if f.end > f.start {
                f.end
            } else if f.end < src.len() {
                f.end + char_len_at(&cx.heap, src, f.end)
            } else {
                f.end + 1
            };
            let v = scanned(cx, src, &f);
            if block.is_some() {
                p.publish(cx, src, Some(&f));
                cx.yield1(block, v)?;
                if this.len() != src.len() {
                    return cx.raise(ids::RUNTIME_ERROR, "string modified");
                }
            } else {
                ArrayCell::push(all, &mut cx.heap, v);
                rounds += 1;
                if rounds.is_multiple_of(BETWEEN_SAFEPOINTS as u32) {
                    cx.safepoint()?;
                }
            }
            last = Some(f);
        }
        p.publish(cx, src, last.as_ref());
        Ok(if block.is_some() { this.as_value() } else { all.as_value() })
    }

    /// With the first match replaced: by a text, by what a Hash holds for it, or by the block's result.
    ///
    ///     "hello".sub("l", "L")              #=> "heLlo"
    ///     "hello".sub(/(l+)/, '<\1>')        #=> "he<ll>o"
    ///     "hello".sub(/l/) { |m| m.upcase }  #=> "heLlo"
    #[method("sub")]
    fn sub_method(cx: &mut Cx, this: Str, pat: Value, rep: Option<Value>, block: Block) -> Result<Value> {
        let Some(rep) = replacement(cx, rep, block)? else { return cx.arg_error("wrong number of arguments (given 1, expected 2)") };
        replaced(cx, this, pat, rep, false)
    }

    /// With all matches replaced: by a text, by what a Hash holds for them, or by the block's results.
    ///
    ///     "hello".gsub("l", "L")                      #=> "heLLo"
    ///     "hello".gsub(/[eo]/, "e" => "3", "o" => "0")  #=> "h3ll0"
    ///     "hello".gsub(/l/) { |m| m.upcase }          #=> "heLLo"
    #[method("gsub")]
    fn gsub(cx: &mut Cx, this: Str, pat: Value, rep: Option<Value>, block: Block) -> Result<Value> {
        match replacement(cx, rep, block)? {
            Some(rep) => replaced(cx, this, pat, rep, true),
            None => enumerator(cx, this.as_value(), "gsub", &[pat], None),
        }
    }

    /// `sub` in place; nil when nothing matched.
    ///
    ///     (+"hello").sub!("l", "L")   #=> "heLlo"
    ///     (+"hello").sub!("x", "")    #=> nil
    #[method("sub!")]
    fn sub_bang(cx: &mut Cx, this: Str, pat: Value, rep: Option<Value>, block: Block) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        let Some(rep) = replacement(cx, rep, block)? else { return cx.arg_error("wrong number of arguments (given 1, expected 2)") };
        replaced_bang(cx, this, pat, rep, false)
    }

    /// `gsub` in place; nil when nothing matched.
    ///
    ///     (+"hello").gsub!("l", "L")   #=> "heLLo"
    #[method("gsub!")]
    fn gsub_bang(cx: &mut Cx, this: Str, pat: Value, rep: Option<Value>, block: Block) -> Result<Value> {
        cx.check_frozen(this.as_value())?;
        match replacement(cx, rep, block)? {
            Some(rep) => replaced_bang(cx, this, pat, rep, true),
            None => enumerator(cx, this.as_value(), "gsub!", &[pat], None),
        }
    }
}

