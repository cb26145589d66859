//! String: `succ` and `upto`.
//!
//! The rightmost alphanumeric is raised, carrying to the left as long as alphanumerics stand there; without any, the rightmost character is.

use super::util::*;
use zakuro_base::progress::step;
use zakuro_macros::ruby_class;
use zakuro_text::encoding::Encoding;
use zakuro_vm::*;

/// The successor of `s`, as bytes.
pub fn succ(cx: &mut Cx, s: Str) -> Result<Vec<u8>> {
    let b = &s.content(&cx.heap).to_vec()[..];
    if b.is_empty() {
        return Ok(Vec::new());
    }
    let e = enc(s);
    if !e.is_ascii_compatible() {
        return succ_chars(cx, b, e, false);
    }
    if e == Encoding::UTF_8 && range(&cx.heap, s) == string::CodeRange::Valid {
        return match succ_utf8(cx, &String::from_utf8_lossy(b))? {
            Some(next) => Ok(next),
            None => succ_chars(cx, b, e, false),
        };
    }
    if !b.iter().any(u8::is_ascii_alphanumeric) {
        let single = is_single(&cx.heap, s);
        return succ_chars(cx, b, e, single);
    }
    succ_alnum(cx, b)
}

/// Letters and digits are raised, each in its own range.
fn succ_alnum(cx: &mut Cx, b: &[u8]) -> Result<Vec<u8>> {
    let mut out = b.to_vec();
    let Some(mut at) = out.iter().rposition(u8::is_ascii_alphanumeric) else { return Ok(out) };
    loop {
        step(at, cx)?;
        let (low, carry) = match out[at] {
            b'9' => (b'0', b'1'),
            b'z' => (b'a', b'a'),
            b'Z' => (b'A', b'A'),
            _ => {
                out[at] += 1;
                return Ok(out);
            }
        };
        out[at] = low;
        // The carry goes to the neighbour; over other characters only from digit to digit or from letter to letter.
        match out[..at].iter().rposition(u8::is_ascii_alphanumeric) {
            Some(n) if n + 1 == at || out[n].is_ascii_digit() == low.is_ascii_digit() => at = n,
            _ => {
                out.insert(at, carry);
                return Ok(out);
            }
        }
    }
}

/// The same with letters and digits of Unicode; None when there are none. What changes stands at the end: the text before it is copied as it is.
fn succ_utf8(cx: &mut Cx, s: &str) -> Result<Option<Vec<u8>>> {
    let mut size = 64;
    while size < s.len() {
        let (before, end) = s.split_at(s.ceil_char_boundary(s.len() - size));
        if let Some((raised, first)) = succ_unicode(cx, end.chars().collect())?
            && first > 1
        {
            return Ok(Some([before.as_bytes(), &raised].concat()));
        }
        size *= 4;
    }
    Ok(succ_unicode(cx, s.chars().collect())?.map(|(raised, _)| raised))
}

/// The successor, and the number of characters at the beginning that were not looked at to find it.
fn succ_unicode(cx: &mut Cx, chars: Vec<char>) -> Result<Option<(Vec<u8>, usize)>> {
    let mut out = chars;
    let digit = |c: char| c.is_ascii_digit() || !c.is_ascii() && c.is_numeric() && !c.is_alphabetic();
    let alnum = |c: char| digit(c) || c.is_alphabetic();
    let same_sort = |a: char, b: char| alnum(b) && digit(a) == digit(b);
    let beside = |c: char, by: i32| {
        char::from_u32((c as u32).wrapping_add_signed(by)).filter(|n| n.len_utf8() == c.len_utf8())
    };
    let Some(mut at) = out.iter().rposition(|c| alnum(*c)) else { return Ok(None) };
    let looked_at = loop {
        step(at, cx)?;
        let c = out[at];
        // One character of another sort may lie between.
        if let Some(next) = [1, 2].into_iter().find_map(|by| beside(c, by).filter(|n| same_sort(c, *n))) {
            out[at] = next;
            break at;
        }
        let mut low = c;
        while let Some(before) = beside(low, -1).filter(|b| same_sort(c, *b)) {
            low = before;
        }
        out[at] = low;
        let before = out[..at].iter().rposition(|c| alnum(*c));
        match before {
            Some(n) if n + 1 == at || digit(out[n]) == digit(low) => at = n,
            _ => {
                let carry = if digit(low) { beside(low, 1).unwrap_or(low) } else { low };
                out.insert(at, carry);
                break before.unwrap_or(0);
            }
        }
    };
    Ok(Some((out.into_iter().collect::<String>().into_bytes(), looked_at)))
}

/// Without alphanumerics: the last character is raised, with carry to the left.
fn succ_chars(cx: &mut Cx, b: &[u8], e: Encoding, single: bool) -> Result<Vec<u8>> {
    if single && e != Encoding::UTF_8 {
        let max = if e == Encoding::US_ASCII { 0x7f } else { 0xff };
        let mut out = b.to_vec();
        for i in (0..out.len()).rev() {
            if out[i] < max {
                out[i] += 1;
                return Ok(out);
            }
            out[i] = 0;
        }
        out.insert(0, 1);
        return Ok(out);
    }
    let mut chars: Vec<Vec<u8>> = e.chars(b).map(|c| c.to_vec()).collect();
    for i in (0..chars.len()).rev() {
        step(i, cx)?;
        let Some(c) = e.ord(&chars[i]) else {
            // A broken byte counts as itself.
            if let Some(b) = chars[i].last_mut()
                && *b < 0xff
            {
                *b += 1;
                return Ok(chars.concat());
            }
            continue;
        };
        let mut next = Vec::new();
        let mut n = c + 1;
        if (0xd800..0xe000).contains(&n) && e.is_unicode() {
            n = 0xe000;
        }
        if e.encode(n, &mut next) {
            chars[i] = next;
            return Ok(chars.concat());
        }
        let mut zero = Vec::new();
        e.encode(if e.is_unicode() { 1 } else { 0 }, &mut zero);
        chars[i] = zero;
    }
    let mut first = Vec::new();
    e.encode(1, &mut first);
    chars.insert(0, first);
    Ok(chars.concat())
}

/// Walks from `first` to `last` as `upto` does; `f` returns false to stop.
pub fn each_upto(cx: &mut Cx, first: Str, last: Str, exclusive: bool, f: &mut dyn FnMut(&mut Cx, Value) -> Result<bool>) -> Result<()> {
    let (a, b) = (first.content(&cx.heap), last.content(&cx.heap));
    // Single ASCII characters: by code.
    if a.len() == 1 && b.len() == 1 && a[0] < 0x80 && b[0] < 0x80 {
        let (mut c, end) = (a[0], b[0]);
        if c > end || exclusive && c == end {
            return Ok(());
        }
        let like = first.encoding();
        loop {
            let v = cx.str_bytes(&[c], like);
            if !f(cx, v)? {
                return Ok(());
            }
            if !exclusive && c == end {
                return Ok(());
            }
            c += 1;
            if exclusive && c == end {
                return Ok(());
            }
        }
    }
    // Numbers: by value, keeping the width.
    let digits = |b: &[u8]| !b.is_empty() && b.len() <= 38 && b.iter().all(u8::is_ascii_digit);
    if digits(a) && digits(b) {
        let parse = |b: &[u8]| b.iter().fold(0i128, |n, d| n * 10 + i128::from(d - b'0'));
        let (mut n, end, width) = (parse(a), parse(b), a.len());
        while n < end || n == end && !exclusive {
            let v = cx.str_bytes(format!("{n:0width$}").as_bytes(), string::US_ASCII);
            if !f(cx, v)? {
                return Ok(());
            }
            n += 1;
        }
        return Ok(());
    }
    // By succ, as long as it gets no longer than the last one.
    let n = super::basic::compare(&cx.heap, first, last);
    if n.is_gt() || exclusive && n.is_eq() {
        return Ok(());
    }
    let after = succ(cx, last)?;
    let mut current = copy(cx, first);
    let (mut rounds, mut is_first) = (0u32, true);
    loop {
        let c: Str = Ref::of(current);
        let at_end = c.same_bytes(&last);
        if exclusive && at_end || c.equals(&after) {
            return Ok(());
        }
        // The first is yielded however long it is.
        if !is_first && (c.len() > last.len() || c.len() == 0) {
            return Ok(());
        }
        let next = succ(cx, c)?;
        if !f(cx, current)? {
            return Ok(());
        }
        if at_end {
            return Ok(());
        }
        current = cx.str_bytes(&next, first.encoding());
        is_first = false;
        rounds = rounds.wrapping_add(1);
        if rounds.is_multiple_of(512) {
            cx.safepoint()?;
        }
    }
}

#[ruby_class(ids::STRING)]
pub mod successors {
    use super::*;

    /// The next String in order of letters and digits.
    ///
    ///     "az".succ      #=> "ba"
    ///     "Zz".succ      #=> "AAa"
    ///     "a9".succ      #=> "b0"
    ///     "1.9".succ     #=> "2.0"
    #[method("succ", "next")]
    fn succ_method(cx: &mut Cx, this: Str) -> Result<Value> {
        let out = succ(cx, this)?;
        Ok(make(cx, &out, this))
    }

    /// `succ` in place.
    ///
    ///     (+"az").succ!   #=> "ba"
    #[method("succ!", "next!")]
    fn succ_bang(cx: &mut Cx, this: Str) -> Result<Str> {
        cx.check_frozen(this.as_value())?;
        let out = succ(cx, this)?;
        StringCell::set_bytes(this, &mut cx.heap, &out);
        Ok(this)
    }

    /// Yields the receiver and its successors up to `last`.
    ///
    ///     "a".upto("e").to_a          #=> ["a", "b", "c", "d", "e"]
    ///     "9".upto("11").to_a         #=> ["9", "10", "11"]
    ///     "a".upto("c", true).to_a    #=> ["a", "b"]
    #[method("upto")]
    fn upto(cx: &mut Cx, this: Str, last: Value, exclusive: Option<bool>, block: Block) -> Result<Value> {
        if block.is_none() {
            let ex = Value::bool(exclusive.unwrap_or(false));
            return enumerator(cx, this.as_value(), "upto", &[last, ex], None);
        }
        let last = cx.to_str(last)?;
        check_compatible(cx, this, last)?;
        each_upto(cx, this, last, exclusive.unwrap_or(false), &mut |cx, v| cx.yield1(block, v).map(|_| true))?;
        Ok(this.as_value())
    }
}
