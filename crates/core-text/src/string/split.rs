//! String: `split`, `partition`, `rpartition`.

use super::regexp::{Pattern, pattern};
use super::util::*;
use crate::regexp::engine;
use zakuro_macros::ruby_class;
use zakuro_vm::string::CodeRange;
use zakuro_vm::*;

/// Pieces that are put into an Array between two safepoints.
const BETWEEN_SAFEPOINTS: usize = 512;

/// Where pieces of `split` go: an Array, or a block.
struct Pieces {
    src: Str,
    /// The receiver, which a block must leave alone: its bytes are at this address, so many.
    watched: (Str, usize, usize),
    array: Ref<ArrayCell>,
    block: Block,
    /// Empty pieces not delivered yet: trailing ones are dropped when no limit is given.
    pending: usize,
    keep_trailing: bool,
    rounds: u32,
}

impl Pieces {
    fn put(&mut self, cx: &mut Cx, from: usize, to: usize) -> Result<()> {
        if from == to && !self.keep_trailing {
            self.pending += 1;
            return Ok(());
        }
        while self.pending > 0 {
            self.pending -= 1;
            self.deliver(cx, 0, 0)?;
        }
        self.deliver(cx, from, to)
    }
    fn deliver(&mut self, cx: &mut Cx, from: usize, to: usize) -> Result<()> {
        let v = sub(cx, self.src, from, to);
        if self.block.is_some() {
            cx.yield1(self.block, v)?;
            let (this, address, len) = self.watched;
            if (this.address(), this.len()) != (address, len) {
                return cx.raise(ids::RUNTIME_ERROR, "string modified");
            }
        } else {
            ArrayCell::push(self.array, &mut cx.heap, v);
            self.rounds += 1;
            if self.rounds.is_multiple_of(BETWEEN_SAFEPOINTS as u32) {
                cx.safepoint()?;
            }
        }
        Ok(())
    }
}

fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t'..=b'\r')
}

/// `split` at runs of white space. `limit` 0: none.
fn split_awk(cx: &mut Cx, p: &mut Pieces, limit: usize) -> Result<()> {
    let src = p.src;
    // White space of Unicode other than ASCII's does not count, so bytes are enough in ASCII-compatible encodings.
    let len = src.len();
    let wide = !enc(src).is_ascii_compatible();
    // First byte at or after `at` that is (no) white space.
    let next_byte = |heap: &Heap, at: usize, space: bool| {
        if wide {
            let mut at = at;
            for c in enc(src).chars(src.content(heap).get(at..).unwrap_or_default()) {
                let is = enc(src).ord(c).and_then(|c| u8::try_from(c).ok()).is_some_and(is_space);
                if is == space {
                    return at;
                }
                at += c.len();
            }
            return len;
        }
        let rest = src.content(heap).get(at..).unwrap_or_default();
        rest.iter().position(|b| is_space(*b) == space).map_or(len, |n| at + n)
    };
    let mut at = next_byte(&cx.heap, 0, false);
    let mut n = 1;
    while at < len {
        if n == limit {
            return p.put(cx, at, len);
        }
        let end = next_byte(&cx.heap, at, true);
        p.put(cx, at, end)?;
        n += 1;
        let next = next_byte(&cx.heap, end, false);
        if next == len && end < len {
            return p.put(cx, len, len);
        }
        at = next;
    }
    if at == len && n == 1 {
        // Nothing but white space.
        p.put(cx, len, len)?;
    }
    Ok(())
}

fn split_text(cx: &mut Cx, p: &mut Pieces, sep: Str, limit: usize) -> Result<()> {
    let src = p.src;
    let (mut at, mut n) = (0, 1);
    let finder = memchr::memmem::Finder::new(sep.content(&cx.heap)).into_owned();
    let simple = src.encoding() == string::UTF8 && sep.content(&cx.heap).first().is_none_or(|b| b & 0xc0 != 0x80);
    while n != limit {
        let found = if simple { finder.find(&src.content(&cx.heap)[at..]).map(|i| at + i) } else { find(cx, src, sep, at)? };
        let Some(i) = found else { break };
        p.put(cx, at, i)?;
        at = i + sep.len();
        n += 1;
    }
    p.put(cx, at, src.len())
}

fn split_chars(cx: &mut Cx, p: &mut Pieces, limit: usize) -> Result<()> {
    let src = p.src;
    let (mut at, mut n) = (0, 1);
    while at < src.len() && n != limit {
        let next = at + char_len_at(&cx.heap, src, at);
        p.put(cx, at, next)?;
        at = next;
        n += 1;
    }
    p.put(cx, at, src.len())
}

/// `split` at matches. An empty match where a piece begins cuts off one character (`last_empty` says that it was seen).
fn split_regexp(cx: &mut Cx, p: &mut Pieces, re: Value, limit: usize) -> Result<()> {
    let src = p.src;
    let len = src.len();
    let (mut begin, mut from, mut n) = (0, 0, 1);
    let mut last_empty = false;
    let pattern = Pattern::Regexp(re);
    let mut last = None;
    while n != limit && from <= len {
        last = pattern.search(cx, src, from)?;
        let Some(found) = &last else { break };
        if p.block.is_some() {
            pattern.publish(cx, src, Some(found));
        }
        let (start, end) = (found.start, found.end);
        if start == from && start == end {
            if !last_empty {
                from += if from >= len { 1 } else { char_len_at(&cx.heap, src, from) };
                last_empty = true;
                continue;
            }
            p.put(cx, begin, begin + char_len_at(&cx.heap, src, begin))?;
            begin = from;
        } else {
            p.put(cx, begin, start)?;
            begin = end;
            from = end;
        }
        last_empty = false;
        for (a, b) in found.captures.iter().flat_map(|c| &c.groups[1..]).flatten() {
            p.put(cx, *a, *b)?;
        }
        n += 1;
    }
    // `$~` is that of the last search: behind the end there is none.
    if n != limit {
        pattern.publish(cx, src, None);
    } else if p.block.is_none() {
        pattern.publish(cx, src, last.as_ref());
    }
    p.put(cx, begin, len)
}

#[ruby_class(ids::STRING)]
pub mod splitting {
    use super::*;

    /// The parts between separators: white space, a String, or matches of a Regexp, whose groups become parts, too. A positive limit
    /// bounds their number; without a limit trailing empty parts are dropped.
    ///
    ///     " a  b c ".split          #=> ["a", "b", "c"]
    ///     "a,b,,".split(",")        #=> ["a", "b"]
    ///     "a,b,,".split(",", -1)    #=> ["a", "b", "", ""]
    ///     "a1b2c".split(/\d/)       #=> ["a", "b", "c"]
    ///     "abc".split("")           #=> ["a", "b", "c"]
    #[method("split")]
    fn split(cx: &mut Cx, this: Str, separator: Option<Value>, limit: Option<Value>, block: Block) -> Result<Value> {
        let limit = limit.map_or(Ok(0), |v| cx.to_i64(v))?;
        if i32::try_from(limit).is_err() {
            let how = if limit > 0 { "big" } else { "small" };
            return cx.range_error(format!("integer {limit} too {how} to convert to 'int'"));
        }
        let array = cx.new_array();
        let result = if block.is_some() { this.as_value() } else { array.as_value() };
        let separator = match separator.filter(|v| !v.is_nil()) {
            Some(v) => v,
            None => {
                let set = cx.global_value(sym::field_sep).unwrap_or(Value::NIL);
                if !set.is_nil() {
                    cx.warn_category("$; is set to non-nil value", "deprecated")?;
                }
                set
            }
        };
        let how = if separator.is_nil() { None } else { Some(pattern(cx, separator)?) };
        if let Some(Pattern::Text(s)) = how {
            check_valid(cx, s)?;
        }
        if this.len() == 0 {
            if let Some(Pattern::Regexp(re)) = how
                && limit != 1
                && !matches!(engine::regexp_checked(cx, &re)?.source(), b"" | b" ")
            {
                cx.set_backref(Value::NIL);
            }
            return Ok(result);
        }
        if limit == 1 {
            let whole = copy(cx, this);
            if block.is_some() {
                cx.yield1(block, whole)?;
            } else {
                ArrayCell::push(array, &mut cx.heap, whole);
            }
            return Ok(result);
        }
        range(&cx.heap, this);
        let src = engine::steady(cx, this, block.is_some() || matches!(how, Some(Pattern::Regexp(_))), BETWEEN_SAFEPOINTS);
        let watched = (this, this.address(), this.len());
        let mut p = Pieces { src, watched, array, block, pending: 0, keep_trailing: limit != 0, rounds: 0 };
        let limit = limit.max(0) as usize;
        match how {
            None => {
                check_valid(cx, this)?;
                split_awk(cx, &mut p, limit)?
            }
            Some(Pattern::Text(s)) => {
                check_compatible(cx, this, s)?;
                check_valid(cx, this)?;
                match s.content(&cx.heap) {
                    b" " => split_awk(cx, &mut p, limit)?,
                    wide if !enc(s).is_ascii_compatible() && enc(s).ord(wide) == Some(0x20) => split_awk(cx, &mut p, limit)?,
                    b"" => split_chars(cx, &mut p, limit)?,
                    _ => split_text(cx, &mut p, s, limit)?,
                }
            }
            Some(Pattern::Regexp(re)) => {
                let d = engine::regexp_checked(cx, &re)?;
                match d.source() {
                    b" " if d.options() == 0 => split_text_space(cx, &mut p, limit)?,
                    b"" if range(&cx.heap, this) != CodeRange::Broken => split_chars(cx, &mut p, limit)?,
                    _ => split_regexp(cx, &mut p, re, limit)?,
                }
            }
        }
        Ok(result)
    }

    fn split_text_space(cx: &mut Cx, p: &mut Pieces, limit: usize) -> Result<()> {
        let space = cx.str(" ");
        split_text(cx, p, Ref::of(space), limit)
    }

    /// The part before the first match, the match, and the part behind it.
    ///
    ///     "a-b-c".partition("-")    #=> ["a", "-", "b-c"]
    ///     "abc".partition("x")      #=> ["abc", "", ""]
    #[method("partition")]
    fn partition(cx: &mut Cx, this: Str, separator: Value) -> Result<Value> {
        let p = pattern(cx, separator)?;
        p.check(cx, this)?;
        let found = p.search(cx, this, 0)?;
        if let Pattern::Regexp(_) = p {
            p.publish(cx, this, found.as_ref());
        }
        let len = this.len();
        let cut = found.map(|f| (f.start, f.end));
        Ok(three(cx, this, cut, (len, len), p))
    }

    /// The part before the last match, the match, and the part behind it.
    ///
    ///     "a-b-c".rpartition("-")   #=> ["a-b", "-", "c"]
    ///     "abc".rpartition("x")     #=> ["", "", "abc"]
    #[method("rpartition")]
    fn rpartition(cx: &mut Cx, this: Str, separator: Value) -> Result<Value> {
        let p = match cx.try_str(separator)? {
            Some(s) => Pattern::Text(s),
            None if engine::regexp_of(&separator).is_some() => Pattern::Regexp(separator),
            None => {
                let c = cx.describe_for_conversion(separator);
                return cx.type_error(format!("type mismatch: {c} given"));
            }
        };
        p.check(cx, this)?;
        let cut = match p {
            Pattern::Text(s) => rfind_text(cx, this, s, this.len())?.map(|at| (at, at + s.len())),
            Pattern::Regexp(re) => engine::search_backref(cx, re, this, this.len(), true)?.map(|p| (p.start, p.end)),
        };
        Ok(three(cx, this, cut, (0, 0), p))
    }

    /// Before, match, behind; `none`: where an empty match stands when there is none.
    fn three(cx: &mut Cx, s: Str, cut: Option<(usize, usize)>, none: (usize, usize), p: Pattern) -> Value {
        let (a, b) = cut.unwrap_or(none);
        let middle = match (p, cut) {
            (Pattern::Text(t), Some(_)) => copy(cx, t),
            _ => sub(cx, s, a, b),
        };
        let parts = [sub(cx, s, 0, a), middle, sub(cx, s, b, s.len())];
        cx.array(&parts)
    }
}
