//! StringScanner: takes a String apart from the left with regular expressions.
//!
//! A match sees only what lies behind the scan pointer (`^` and `\A` match there), unless `fixed_anchor` is set. Offsets of the last match are
//! bytes of the scanned String, which belongs to the program and may be changed or shortened by it: all are checked before use.
//! Rejected: a MatchData for each match (an object and a copied String per token).

use crate::args;
use zakuro_core_text::regexp::engine;
use zakuro_macros::{Trace, ruby_class};
use zakuro_text::regexp::Groups;
use zakuro_vm::*;

/// Payload of a StringScanner.
#[derive(Trace, Clone)]
struct Scanner {
    string: Value,
    /// The Regexp of the last attempt; nil for a String or byte.
    regexp: Value,
    pos: usize,
    /// Where the last match was looked for: `unscan` goes back there.
    before: usize,
    matched: bool,
    #[untraced]
    groups: Groups,
    /// Offsets of groups count from here.
    base: usize,
    fixed_anchor: bool,
}

impl Scanner {
    fn new(string: Value, fixed_anchor: bool) -> Scanner {
        Scanner { string, regexp: Value::NIL, pos: 0, before: 0, matched: false, groups: Groups::new(), base: 0, fixed_anchor }
    }
    fn text(&self) -> Option<Ref<StringCell>> {
        Ref::from_value(self.string)
    }
    fn len(&self) -> usize {
        self.text().map_or(0, |s| s.len())
    }
    /// There is no last match, and no pattern whose groups it could have.
    fn forget(&mut self) {
        (self.matched, self.regexp) = (false, Value::NIL);
    }
    /// There is a match without groups, looked for at the pointer.
    fn matches(&mut self, range: (usize, usize), advance: bool) {
        match &mut self.groups[..] {
            [whole] => *whole = Some(range),
            _ => {
                self.groups.clear();
                self.groups.push(Some(range));
            }
        }
        self.base = 0;
        self.before = self.pos;
        self.matched = true;
        if advance {
            self.pos = range.1;
        }
    }
    fn group(&self, n: usize) -> Option<(usize, usize)> {
        let found = if self.matched { self.groups.get(n).copied().flatten() } else { None };
        found.map(|(from, to)| (from + self.base, to + self.base))
    }
    /// What a copy in another VM starts from, without values.
    fn bare(&self) -> Bare {
        Bare {
            pos: self.pos,
            before: self.before,
            matched: self.matched,
            groups: self.groups.clone(),
            base: self.base,
            fixed_anchor: self.fixed_anchor,
        }
    }
}

#[derive(Clone)]
struct Bare {
    pos: usize,
    before: usize,
    matched: bool,
    groups: Groups,
    base: usize,
    fixed_anchor: bool,
}
impl Bare {
    fn open(self, v: &[Value]) -> Scanner {
        let Bare { pos, before, matched, groups, base, fixed_anchor } = self;
        Scanner { string: v[0], regexp: v[1], pos, before, matched, groups, base, fixed_anchor }
    }
}

impl NativeData for Scanner {
    fn weight(&self) -> usize {
        engine::weight_of_groups(&self.groups)
    }
    fn parcel(&self, values: &mut Gathered) -> Option<Unpack> {
        values.extend([self.string, self.regexp]);
        let bare = self.bare();
        Some(Box::new(move |_, v| Some(Unpacked::Payload(Box::new(bare.open(v))))))
    }
    fn snapshot(&self, values: &mut Gathered) -> Option<Rebuild> {
        values.extend([self.string, self.regexp]);
        Some(self.bare().blueprint())
    }
}

impl Bare {
    fn blueprint(self) -> Rebuild {
        let saved = self.clone();
        let save = move |out: &mut Saved| {
            out.number(saved.pos as u64).number(saved.before as u64).number(saved.base as u64).flag(saved.matched).flag(saved.fixed_anchor);
            save_groups(out, &saved.groups);
            Some("StringScanner")
        };
        savable(move |_, v| Some(Box::new(self.clone().open(v))), save)
    }
}

/// Byte ranges of groups, for a file.
fn save_groups(out: &mut Saved, groups: &Groups) {
    out.number(groups.len() as u64);
    for g in groups {
        out.flag(g.is_some());
        if let Some((from, to)) = g {
            out.number(*from as u64).number(*to as u64);
        }
    }
}

zakuro_vm::saved_loader!("StringScanner", |r| {
    let (pos, before, base, matched, fixed_anchor) = (r.narrow()?, r.narrow()?, r.narrow()?, r.flag()?, r.flag()?);
    let mut groups = Groups::new();
    for _ in 0..r.number()? {
        groups.push(if r.flag()? { Some((r.narrow()?, r.narrow()?)) } else { None });
    }
    r.ends(2)?;
    Some(Bare { pos, before, matched, groups, base, fixed_anchor }.blueprint())
});

#[inline]
fn scanner(cx: &mut Cx, this: Value) -> Result<&mut Scanner> {
    cx.data_mut_or(this, |cx| cx.arg_error("uninitialized StringScanner object"))
}

/// New String of the bytes that `range` names; nil for None.
fn part(cx: &mut Cx, this: Value, range: impl FnOnce(&Scanner) -> Option<(usize, usize)>) -> Result<Value> {
    let s = scanner(cx, this)?;
    let (text, range) = (s.text(), range(s));
    Ok(part_of(cx, text, range))
}

fn part_of(cx: &mut Cx, text: Option<Ref<StringCell>>, range: Option<(usize, usize)>) -> Value {
    match (range, text) {
        (None, _) => Value::NIL,
        (_, None) => cx.str(""),
        (Some((from, to)), Some(t)) => StringCell::substring(&cx.heap, ids::STRING.0, t, from, to).as_value(),
    }
}

/// Looks for a pattern at the scan pointer (or behind it): notes the match, puts the pointer behind it if it is to `advance`, and tells the
/// String, where the pointer was, and where the match ends.
fn find(cx: &mut Cx, this: Value, pattern: Value, advance: bool, anchored: bool) -> Result<Option<(Ref<StringCell>, usize, usize)>> {
    let s = scanner(cx, this)?;
    s.matched = false;
    let Some(text) = s.text() else { return Ok(None) };
    let (pos, fixed) = (s.pos, s.fixed_anchor);
    if let Some(p) = Ref::<StringCell>::from_value(pattern) {
        s.regexp = Value::NIL;
        if !string_comparable_here(text, p) {
            zakuro_core_text::string::util::incompatible(cx, text.as_value(), pattern)?;
            return Ok(None);
        }
        let Some(rest) = text.content(&cx.heap).get(pos..) else { return Ok(None) };
        let at =
            if anchored { rest.starts_with(p.content(&cx.heap)).then_some(0) } else { memchr::memmem::find(rest, p.content(&cx.heap)) };
        let Some(at) = at else { return Ok(None) };
        let end = pos + at + p.len();
        let s = scanner(cx, this)?;
        s.matches((pos + at, end), advance);
        return Ok(Some((text, pos, end)));
    }
    let Some(d) = engine::regexp_of(&pattern) else { return engine::regexp_checked(cx, &pattern).map(|_| None) };
    s.regexp = pattern;
    if pos > text.len() {
        return Ok(None);
    }
    let base = if fixed { 0 } else { pos };
    let found = engine::scan(cx, (&pattern, d), text, base, pos, anchored)?;
    let s = scanner(cx, this)?;
    let groups = match found {
        None => return Ok(None),
        Some(engine::Scanned::Whole((from, to))) => {
            s.matches((from + base, to + base), advance);
            return Ok(Some((text, pos, to + base)));
        }
        Some(engine::Scanned::Groups(groups)) => groups,
    };
    let end = groups.first().copied().flatten().map_or(pos, |g| g.1 + base);
    let is_other = s.groups.capacity() != groups.capacity();
    s.groups = groups;
    s.base = base;
    s.before = pos;
    s.matched = true;
    if advance {
        s.pos = end;
    }
    if is_other {
        cx.weigh_data(this);
    }
    Ok(Some((text, pos, end)))
}

fn string_comparable_here(a: Ref<StringCell>, b: Ref<StringCell>) -> bool {
    a.encoding() == b.encoding() || b.is_ascii() && args::encoding_of(a.encoding()).is_ascii_compatible() || a.is_ascii()
}

/// The whole family of `scan`: whether the pointer advances, and whether a String or a length comes back.
fn scan(cx: &mut Cx, this: Value, pattern: Value, advance: bool, string: bool, anchored: bool) -> Result<Value> {
    let Some((text, from, end)) = find(cx, this, pattern, advance, anchored)? else { return Ok(Value::NIL) };
    Ok(if string { part_of(cx, Some(text), Some((from, end))) } else { Value::fixnum((end - from) as i64) })
}

/// Takes `n` bytes at the pointer as a match.
fn take(cx: &mut Cx, this: Value, n: usize) -> Result<()> {
    let s = scanner(cx, this)?;
    s.regexp = Value::NIL;
    s.matches((s.pos, s.pos + n), true);
    Ok(())
}

/// Number of a named group: of several, the last that took part. IndexError for an unknown name.
fn group_named(cx: &mut Cx, this: Value, name: Ref<StringCell>) -> Result<usize> {
    let re = scanner(cx, this)?.regexp;
    if !re.is_nil() {
        let names = cx.call(re, Sym::intern("named_captures"), &[])?;
        if let Some(h) = Ref::<HashCell>::from_value(names)
            && let Some(list) = cx.hash_get(h, name.as_value())?
            && let Some(list) = Ref::<ArrayCell>::from_value(list)
        {
            let numbers: Vec<usize> = list.elements(&cx.heap).iter().map(|v| v.fix() as usize).collect();
            let s = scanner(cx, this)?;
            let set = numbers.iter().rev().find(|n| s.group(**n).is_some());
            return Ok(set.or(numbers.last()).copied().unwrap_or(0));
        }
    }
    let name = name.to_text();
    cx.index_error(format!("undefined group name reference: {name}"))
}

/// Group by number or name; nil when it took no part or nothing matched.
fn aref(cx: &mut Cx, this: Value, i: Value) -> Result<Value> {
    let s = scanner(cx, this)?;
    if !s.matched {
        return Ok(Value::NIL);
    }
    if let Some(n) = i.as_fixnum().and_then(|n| usize::try_from(n).ok()) {
        let (text, group) = (s.text(), s.group(n));
        return Ok(part_of(cx, text, group));
    }
    let n = if let Some(name) = i.as_sym() {
        let name = cx.str_bytes(name.bytes(), string::UTF8);
        group_named(cx, this, Ref::of(name))?
    } else if let Some(name) = Ref::<StringCell>::from_value(i) {
        group_named(cx, this, name)?
    } else {
        let n = cx.to_i64(i)?;
        let n = if n < 0 { n + scanner(cx, this)?.groups.len() as i64 } else { n };
        match usize::try_from(n) {
            Ok(n) => n,
            Err(_) => return Ok(Value::NIL),
        }
    };
    part(cx, this, |s| s.group(n))
}

/// A few bytes as `inspect` shows them.
fn shown(cx: &mut Cx, bytes: Vec<u8>, front: bool, cut: bool) -> Result<String> {
    let mut b = bytes;
    if cut && front {
        b.splice(0..0, *b"...");
    } else if cut {
        b.extend_from_slice(b"...");
    }
    Ok(zakuro_text::encoding::inspect::dump(&b, args::encoding_of(string::BINARY), cx)?)
}

const SHOWN: usize = 5;

pub(crate) use string_scanner::METHODS;

/// Methods of `StringScanner`.
#[ruby_class(ids::OBJECT)]
mod string_scanner {
    use super::*;

    /// A scanner at the start of a String. With `fixed_anchor: true`, `^` and `\A` mean the String's own lines and start.
    ///
    ///     StringScanner.new("test string").scan(/\w+/)   #=> "test"
    #[method("initialize", private, min = 1, max = -1)]
    fn initialize(cx: &mut Cx, this: Value, mut args: Args) -> Result<Value> {
        let kw = args.take_kw();
        builtin::check_arity(cx, args.len(), 1, 2)?;
        kw.only(cx, &[Sym::intern("fixed_anchor")])?;
        let fixed = kw.named("fixed_anchor").is_some_and(Value::truthy);
        let s = cx.to_str(args.get(0).unwrap_or(Value::NIL))?;
        cx.data_init(this, Scanner::new(s.as_value(), fixed))?;
        Ok(this)
    }
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        let s = scanner(cx, other)?.clone();
        cx.data_init(this, s)?;
        Ok(this)
    }
    /// Itself: there is one implementation.
    ///
    ///     StringScanner.must_C_version   #=> StringScanner
    #[method("must_C_version", singleton)]
    fn must_c_version(this: Value) -> Value {
        this
    }
    /// The match at the scan pointer, which goes behind it; nil without one.
    ///
    ///     StringScanner.new("test string").scan("test")   #=> "test"
    #[method("scan")]
    fn scan(cx: &mut Cx, this: Value, pattern: Value) -> Result<Value> {
        super::scan(cx, this, pattern, true, true, true)
    }
    /// Length of the match at the scan pointer, which stays.
    ///
    ///     StringScanner.new("test string").match?(/\w+/)   #=> 4
    #[method("match?")]
    fn match_p(cx: &mut Cx, this: Value, pattern: Value) -> Result<Value> {
        super::scan(cx, this, pattern, false, false, true)
    }
    /// As `scan`, but returns the length.
    ///
    ///     StringScanner.new("test string").skip(/\w+/)   #=> 4
    #[method("skip")]
    fn skip(cx: &mut Cx, this: Value, pattern: Value) -> Result<Value> {
        super::scan(cx, this, pattern, true, false, true)
    }
    /// As `scan`, but the pointer stays.
    #[method("check")]
    fn check(cx: &mut Cx, this: Value, pattern: Value) -> Result<Value> {
        super::scan(cx, this, pattern, false, true, true)
    }
    /// `scan`, `skip`, `check` or `match?`, by two flags.
    #[method("scan_full")]
    fn scan_full(cx: &mut Cx, this: Value, pattern: Value, advance: bool, string: bool) -> Result<Value> {
        super::scan(cx, this, pattern, advance, string, true)
    }
    /// Everything up to and with the next match.
    ///
    ///     StringScanner.new("Fri Dec 12").scan_until(/1/)   #=> "Fri Dec 1"
    #[method("scan_until")]
    fn scan_until(cx: &mut Cx, this: Value, pattern: Value) -> Result<Value> {
        super::scan(cx, this, pattern, true, true, false)
    }
    /// Length up to and with the next match; the pointer stays.
    #[method("exist?")]
    fn exist(cx: &mut Cx, this: Value, pattern: Value) -> Result<Value> {
        super::scan(cx, this, pattern, false, false, false)
    }
    /// As `scan_until`, but returns the length.
    #[method("skip_until")]
    fn skip_until(cx: &mut Cx, this: Value, pattern: Value) -> Result<Value> {
        super::scan(cx, this, pattern, true, false, false)
    }
    /// As `scan_until`, but the pointer stays.
    #[method("check_until")]
    fn check_until(cx: &mut Cx, this: Value, pattern: Value) -> Result<Value> {
        super::scan(cx, this, pattern, false, true, false)
    }
    /// `scan_until`, `skip_until`, `check_until` or `exist?`, by two flags.
    #[method("search_full")]
    fn search_full(cx: &mut Cx, this: Value, pattern: Value, advance: bool, string: bool) -> Result<Value> {
        super::scan(cx, this, pattern, advance, string, false)
    }
    /// The next character.
    ///
    ///     StringScanner.new("äb").getch   #=> "ä"
    #[method("getch")]
    fn getch(cx: &mut Cx, this: Value) -> Result<Value> {
        let s = scanner(cx, this)?;
        s.forget();
        let pos = s.pos;
        let Some(t) = s.text().filter(|t| pos < t.len()) else { return Ok(Value::NIL) };
        let rest = &t.content(&cx.heap)[pos..];
        let n = args::encoding_of(t.encoding()).char_len(rest).unwrap_or_else(|n| n).clamp(1, rest.len());
        take(cx, this, n)?;
        part(cx, this, |s| Some((s.before, s.pos)))
    }
    /// The next byte as a String.
    #[method("get_byte")]
    fn get_byte(cx: &mut Cx, this: Value) -> Result<Value> {
        let s = scanner(cx, this)?;
        s.matched = false;
        if s.pos >= s.len() {
            return Ok(Value::NIL);
        }
        take(cx, this, 1)?;
        part(cx, this, |s| Some((s.before, s.pos)))
    }
    /// The next byte as an Integer.
    ///
    ///     StringScanner.new("ab").scan_byte   #=> 97
    #[method("scan_byte")]
    fn scan_byte(cx: &mut Cx, this: Value) -> Result<Option<i64>> {
        let s = scanner(cx, this)?;
        s.matched = false;
        let b = s.text().and_then(|t| t.byte(s.pos));
        if b.is_some() {
            take(cx, this, 1)?;
        }
        Ok(b.map(i64::from))
    }
    /// The byte at the scan pointer, which stays.
    #[method("peek_byte")]
    fn peek_byte(cx: &mut Cx, this: Value) -> Result<Option<i64>> {
        let s = scanner(cx, this)?;
        Ok(s.text().and_then(|t| t.byte(s.pos)).map(i64::from))
    }
    /// Up to `n` bytes at the scan pointer, which stays.
    ///
    ///     StringScanner.new("test").peek(2)   #=> "te"
    #[method("peek")]
    fn peek(cx: &mut Cx, this: Value, n: i64) -> Result<Value> {
        let Ok(n) = usize::try_from(n) else { return cx.arg_error("negative string size (or size too big)") };
        part(cx, this, |s| Some((s.pos, s.pos.saturating_add(n))))
    }
    /// An Integer literal in base 10 or 16 at the scan pointer, which goes behind it.
    ///
    ///     StringScanner.new("-42 km").scan_integer   #=> -42
    ///     StringScanner.new("0xff").scan_integer(base: 16)   #=> 255
    #[method("scan_integer", min = 0, max = -1)]
    fn scan_integer(cx: &mut Cx, this: Value, mut args: Args) -> Result<Value> {
        let kw = args.take_kw();
        builtin::check_arity(cx, args.len(), 0, 0)?;
        kw.only(cx, &[Sym::intern("base")])?;
        let base = match kw.named("base") {
            Some(b) => cx.to_i64(b)?,
            None => 10,
        };
        if base != 10 && base != 16 {
            return cx.arg_error(format!("Unsupported integer base: {base}, expected 10 or 16"));
        }
        let s = scanner(cx, this)?;
        s.forget();
        let pos = s.pos;
        let Some(t) = s.text() else { return Ok(Value::NIL) };
        let e = args::encoding_of(t.encoding());
        if !e.is_ascii_compatible() {
            return cx.raise(ids::COMPAT_ERROR, format!("ASCII incompatible encoding: {}", e.name()));
        }
        let rest = t.content(&cx.heap).get(pos..).unwrap_or(&[]);
        let sign = rest.first().is_some_and(|b| matches!(b, b'+' | b'-')) as usize;
        let digits_of = |b: &[u8]| b.iter().take_while(|b| (**b as char).is_digit(base as u32)).count();
        let mut start = sign;
        if base == 16 && rest[start..].starts_with(b"0x") && digits_of(&rest[start + 2..]) > 0 {
            start += 2;
        }
        let n = digits_of(&rest[start..]);
        if n == 0 {
            return Ok(Value::NIL);
        }
        let digits = &rest[start..start + n];
        let negative = rest[0] == b'-';
        let text = std::str::from_utf8(digits).unwrap_or("0");
        let v = match i64::from_str_radix(text, base as u32) {
            Ok(i) => cx.int(if negative { -i } else { i }),
            Err(_) => {
                let digits = digits.to_vec();
                let b = zakuro_text::int::from_digits(&digits, base as u32, false, cx)?.to_big();
                cx.big(if negative { -b } else { b })
            }
        };
        take(cx, this, start + n)?;
        Ok(v)
    }
    /// Goes back to where the last match began. Error without a match.
    #[method("unscan")]
    fn unscan(cx: &mut Cx, this: Value) -> Result<Value> {
        let s = scanner(cx, this)?;
        if !s.matched {
            return cx.raise_named("StringScanner::Error", "unscan failed: previous match record not exist");
        }
        s.pos = s.before;
        s.forget();
        Ok(this)
    }
    /// Back to the start.
    #[method("reset")]
    fn reset(cx: &mut Cx, this: Value) -> Result<Value> {
        let s = scanner(cx, this)?;
        s.pos = 0;
        s.forget();
        Ok(this)
    }
    /// To the end.
    #[method("terminate")]
    fn terminate(cx: &mut Cx, this: Value) -> Result<Value> {
        let s = scanner(cx, this)?;
        s.pos = s.len();
        s.forget();
        Ok(this)
    }
    /// The scanned String.
    #[method("string")]
    fn string(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(scanner(cx, this)?.string)
    }
    /// Scans another String, from its start.
    #[method("string=")]
    fn set_string(cx: &mut Cx, this: Value, s: Ref<StringCell>) -> Result<Value> {
        if !cx.is_data::<Scanner>(this) {
            // One that was allocated only.
            cx.data_init(this, Scanner::new(s.as_value(), false))?;
            return Ok(s.as_value());
        }
        let sc = scanner(cx, this)?;
        (sc.string, sc.pos) = (s.as_value(), 0);
        sc.forget();
        Ok(s.as_value())
    }
    /// Appends to the scanned String.
    ///
    ///     s = StringScanner.new(+"a"); s << "b"; s.rest   #=> "ab"
    #[method("concat", "<<")]
    fn concat(cx: &mut Cx, this: Value, more: Ref<StringCell>) -> Result<Value> {
        let s = scanner(cx, this)?.string;
        cx.call(s, sym::shl, &[more.as_value()])?;
        Ok(this)
    }
    /// The scan pointer, in bytes.
    #[method("pos", "pointer")]
    fn pos(cx: &mut Cx, this: Value) -> Result<usize> {
        Ok(scanner(cx, this)?.pos)
    }
    /// Moves the scan pointer; negative positions count from the end. RangeError outside the String.
    #[method("pos=", "pointer=")]
    fn set_pos(cx: &mut Cx, this: Value, n: i64) -> Result<Value> {
        let s = scanner(cx, this)?;
        let at = if n < 0 { n + s.len() as i64 } else { n };
        if at < 0 || at > s.len() as i64 {
            return cx.range_error("index out of range");
        }
        s.pos = at as usize;
        Ok(cx.int(at))
    }
    /// The scan pointer, in characters.
    ///
    ///     s = StringScanner.new("äb"); s.getch; s.charpos   #=> 1
    #[method("charpos")]
    fn charpos(cx: &mut Cx, this: Value) -> Result<usize> {
        let s = scanner(cx, this)?;
        let (pos, text) = (s.pos, s.text());
        Ok(text.map_or(0, |t| args::encoding_of(t.encoding()).char_count(&t.content(&cx.heap)[..pos.min(t.len())])))
    }
    /// Whether the pointer is at the start of a line.
    #[method("beginning_of_line?", "bol?")]
    fn bol(cx: &mut Cx, this: Value) -> Result<Option<bool>> {
        let s = scanner(cx, this)?;
        let pos = s.pos;
        Ok(s.text().filter(|t| pos <= t.len()).map(|t| pos == 0 || t.byte(pos - 1) == Some(b'\n')))
    }
    /// Whether nothing is left.
    #[method("eos?")]
    fn eos(cx: &mut Cx, this: Value) -> Result<bool> {
        let s = scanner(cx, this)?;
        Ok(s.pos >= s.len())
    }
    /// Whether something is left.
    #[method("rest?")]
    fn has_rest(cx: &mut Cx, this: Value) -> Result<bool> {
        let s = scanner(cx, this)?;
        Ok(s.pos < s.len())
    }
    /// What is left.
    ///
    ///     s = StringScanner.new("test string"); s.scan(/\w+/); s.rest   #=> " string"
    #[method("rest")]
    fn rest(cx: &mut Cx, this: Value) -> Result<Value> {
        part(cx, this, |s| Some((s.pos, s.len())))
    }
    /// Bytes that are left.
    #[method("rest_size")]
    fn rest_size(cx: &mut Cx, this: Value) -> Result<usize> {
        let s = scanner(cx, this)?;
        Ok(s.len().saturating_sub(s.pos))
    }
    /// Whether the last attempt matched.
    #[method("matched?")]
    fn is_matched(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(scanner(cx, this)?.matched)
    }
    /// The last match.
    #[method("matched")]
    fn matched(cx: &mut Cx, this: Value) -> Result<Value> {
        aref(cx, this, Value::fixnum(0))
    }
    /// Bytes of the last match.
    #[method("matched_size")]
    fn matched_size(cx: &mut Cx, this: Value) -> Result<Option<usize>> {
        Ok(scanner(cx, this)?.group(0).map(|(a, b)| b - a))
    }
    /// A group of the last match, by number or name.
    ///
    ///     s = StringScanner.new("12:30"); s.scan(/(?<h>\d+):(\d+)/); s[:h]   #=> "12"
    #[method("[]")]
    fn aref_(cx: &mut Cx, this: Value, i: Value) -> Result<Value> {
        aref(cx, this, i)
    }
    /// Number of groups of the last match, the match itself included.
    #[method("size")]
    fn size(cx: &mut Cx, this: Value) -> Result<Option<usize>> {
        let s = scanner(cx, this)?;
        Ok(s.matched.then_some(s.groups.len()))
    }
    /// The groups of the last match.
    ///
    ///     s = StringScanner.new("12:30"); s.scan(/(\d+):(\d+)/); s.captures   #=> ["12", "30"]
    #[method("captures")]
    fn captures(cx: &mut Cx, this: Value) -> Result<Value> {
        let s = scanner(cx, this)?;
        if !s.matched {
            return Ok(Value::NIL);
        }
        let count = s.groups.len();
        let out = cx.new_array();
        for i in 1..count {
            let v = aref(cx, this, Value::fixnum(i as i64))?;
            ArrayCell::push(out, &mut cx.heap, v);
        }
        Ok(out.as_value())
    }
    /// Several groups of the last match.
    #[method("values_at")]
    fn values_at(cx: &mut Cx, this: Value, items: Rest) -> Result<Value> {
        if !scanner(cx, this)?.matched {
            return Ok(Value::NIL);
        }
        let out = cx.new_array();
        for i in items {
            let v = aref(cx, this, *i)?;
            ArrayCell::push(out, &mut cx.heap, v);
        }
        Ok(out.as_value())
    }
    /// A group of the last match as an Integer, as `String#to_i` reads it; nil when it took no part.
    ///
    ///     s = StringScanner.new("2026-05"); s.scan(/(?<y>\d+)-(\d+)/); s.integer_at(:y)   #=> 2026
    #[method("integer_at")]
    fn integer_at(cx: &mut Cx, this: Value, group: Value, base: Option<Value>) -> Result<Value> {
        let text = aref(cx, this, group)?;
        // Of a String that was cut meanwhile nothing may be left.
        let cut = scanner(cx, this)?.groups.first().copied().flatten().is_some_and(|(from, to)| from < to);
        if text.is_nil() || cut && Ref::<StringCell>::from_value(text).is_some_and(|t| t.len() == 0) && group.as_fixnum() == Some(0) {
            return Ok(Value::NIL);
        }
        cx.call(text, Sym::intern("to_i"), base.as_slice())
    }
    /// The named groups of the last match.
    ///
    ///     s = StringScanner.new("12:30"); s.scan(/(?<h>\d+):/); s.named_captures   #=> {"h" => "12"}
    #[method("named_captures")]
    fn named_captures(cx: &mut Cx, this: Value) -> Result<Value> {
        let out = cx.new_hash();
        let re = scanner(cx, this)?.regexp;
        if !re.is_nil() {
            let names = cx.call(re, Sym::intern("names"), &[])?;
            let names = cx.to_ary(names)?;
            let mut i = 0;
            while let Some(name) = names.get(i) {
                i += 1;
                let v = aref(cx, this, name)?;
                cx.hash_set(out, name, v)?;
            }
        }
        Ok(out.as_value())
    }
    /// What stands before the last match.
    #[method("pre_match")]
    fn pre_match(cx: &mut Cx, this: Value) -> Result<Value> {
        part(cx, this, |s| s.group(0).map(|(a, _)| (0, a)))
    }
    /// What stands behind the last match.
    #[method("post_match")]
    fn post_match(cx: &mut Cx, this: Value) -> Result<Value> {
        part(cx, this, |s| s.group(0).map(|(_, b)| (b, s.len())))
    }
    /// Whether `^` and `\A` mean the String's own lines and start.
    #[method("fixed_anchor?")]
    fn fixed_anchor(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(scanner(cx, this)?.fixed_anchor)
    }
    /// Where it is, with a few bytes around.
    ///
    ///     StringScanner.new("test string").inspect   #=> "#<StringScanner 0/11 @ \"test ...\">"
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<String> {
        if !cx.is_data::<Scanner>(this) {
            return Ok("#<StringScanner (uninitialized)>".into());
        }
        let s = scanner(cx, this)?;
        let (pos, Some(t)) = (s.pos, s.text()) else { return Ok("#<StringScanner (uninitialized)>".into()) };
        let class = cx.class_name_of(this);
        let n = t.len();
        if pos >= n {
            return Ok(format!("#<{class} fin>"));
        }
        let (before, after) = t.content(&cx.heap).split_at(pos);
        let before = before[pos.saturating_sub(SHOWN)..].to_vec();
        let after = after[..SHOWN.min(n - pos)].to_vec();
        let after = shown(cx, after, false, n - pos > SHOWN)?;
        if pos == 0 {
            return Ok(format!("#<{class} 0/{n} @ {after}>"));
        }
        let before = shown(cx, before, true, pos > SHOWN)?;
        Ok(format!("#<{class} {pos}/{n} {before} @ {after}>"))
    }
}

/// `require "strscan"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let class = cx.define_class(ids::OBJECT, "StringScanner", ids::OBJECT);
    cx.class_mut(class).alloc = Alloc::Data;
    cx.define_class(class, "Error", ids::STANDARD_ERROR);
    let (version, id) = (cx.frozen_str("3.1.6"), cx.frozen_str("$Id$"));
    cx.const_set(class, Sym::intern("Version"), version);
    cx.const_set(class, Sym::intern("Id"), id);
    cx.define_natives(class, &[METHODS]);
    Ok(())
}
