//! What String and Regexp share: the payloads of Regexp and MatchData objects, and searching a String object with them.
//!
//! Invariant: offsets are bytes of the searched String. A MatchData keeps a frozen copy of it, so that later changes don't show.
//! Rejected: searching through Ruby calls (`Regexp#match`) from String methods: a call and a MatchData per match.

use super::cache::SharedRegexp;
use std::cell::Cell;
use zakuro_macros::Trace;
use zakuro_text::encoding::{CodeRange as TextRange, Encoding};
use zakuro_text::regexp::{Answer, Captures, FoundAt, Groups, Lane, MatchError, Mode, Progress, RegexFlags, RegexpError, Search, Span, Text};
use zakuro_vm::string::CodeRange;
use zakuro_vm::*;

/// Payload of a Regexp object.
#[derive(Trace)]
pub struct RegexpData {
    #[untraced]
    pub regexp: SharedRegexp,
    #[untraced]
    counted: Cell<usize>,
    /// From how many bytes on it is counted again.
    #[untraced]
    recount: Cell<usize>,
}
/// What a usual one is taken for; its program may be shared with others.
const USUAL: usize = 256;
/// What takes more is counted as it is.
const LARGE: usize = 64 << 10;
/// What searches may add before it is counted.
const SLACK: usize = 4 << 10;
impl NativeData for RegexpData {
    fn refers(&self) -> bool {
        false
    }
    fn weight(&self) -> usize {
        self.counted.get()
    }
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(RegexpData { regexp: self.regexp.clone(), counted: self.counted.clone(), recount: self.recount.clone() }))
    }
    fn save(&self, out: &mut Saved) -> Option<&'static str> {
        let (flags, encoding) = self.regexp.asked();
        out.number(flags.bits().into());
        out.bytes.push(encoding.id());
        out.blob(self.regexp.source());
        Some("Regexp")
    }
}
// Compiled by the VM that first reads it.
zakuro_vm::saved_loader!("Regexp", |r| {
    let flags = RegexFlags::from_bits(r.narrow()?);
    let (encoding, source) = (Encoding::from_id(r.byte()?)?, r.blob()?.to_vec());
    r.ends(0)?;
    Some(rebuild(move |vm, _| {
        let cx = vm.downcast_mut::<Cx>()?;
        match super::cache::compile_at_once(cx, &source, flags, encoding) {
            Ok(regexp) => Some(Box::new(RegexpData::new(cx, regexp))),
            Err(RegexpError(message)) => Some(Box::new(super::make::Invalid { message })),
        }
    }))
});
impl RegexpData {
    /// In a VM with a memory limit a Regexp counts all that it takes, as if nobody shared it: what the others hold may go
    /// at any time, and looking for who does would cost each of them. In others that would only be cause for collections.
    pub fn new(cx: &Cx, regexp: SharedRegexp) -> RegexpData {
        let this = RegexpData { regexp, counted: Cell::new(0), recount: Cell::new(0) };
        this.count(cx.has_memory_limit());
        this
    }
    fn count(&self, is_limited: bool) {
        let memory = self.regexp.memory();
        let is_usual = memory < LARGE && !is_limited;
        self.counted.set(self.counted.get().max(if is_usual { USUAL } else { memory }));
        self.recount.set(if is_usual { LARGE } else { memory + (memory / 8).max(SLACK) });
    }
    pub fn source(&self) -> &[u8] {
        self.regexp.source()
    }
    /// As `Regexp#options`.
    pub fn options(&self) -> u32 {
        self.regexp.flags().bits()
    }
}

/// Counts what a search has added to its Regexp.
#[inline]
fn searched(cx: &mut Cx, re: Value, d: &RegexpData) {
    if d.regexp.memory() >= d.recount.get() {
        grew(cx, re);
    }
}

#[cold]
#[inline(never)]
fn grew(cx: &mut Cx, re: Value) {
    let Some(d) = regexp_of(&re) else { return };
    let before = d.counted.get();
    d.count(cx.has_memory_limit());
    let more = d.counted.get() - before;
    let regexp = d.regexp.clone();
    cx.heap.add_payload(more);
    super::cache::grew(cx, &regexp);
}

/// Payload of a MatchData object.
#[derive(Trace)]
pub struct MatchData {
    /// The Regexp, or the String pattern that was searched for as it is.
    pub regexp: Value,
    /// Frozen copy of the searched String.
    pub string: Value,
    /// Byte range of each group; the first is the whole match and always there.
    #[untraced]
    pub captures: Groups,
}
impl NativeData for MatchData {
    fn parcel(&self, values: &mut Gathered) -> Option<Unpack> {
        values.extend([self.regexp, self.string]);
        let captures = self.captures.clone();
        Some(Box::new(move |_, v| Some(Unpacked::Payload(Box::new(MatchData { regexp: v[0], string: v[1], captures })))))
    }
    fn snapshot(&self, values: &mut Gathered) -> Option<Rebuild> {
        values.extend([self.regexp, self.string]);
        Some(match_blueprint(self.captures.clone()))
    }
    fn weight(&self) -> usize {
        weight_of_groups(&self.captures)
    }
}

/// Bytes that groups take beside what holds them.
pub fn weight_of_groups(groups: &Groups) -> usize {
    if groups.spilled() { groups.capacity() * size_of::<Option<(usize, usize)>>() } else { 0 }
}

fn match_blueprint(captures: Groups) -> Rebuild {
    let saved = captures.clone();
    let save = move |out: &mut Saved| {
        out.number(saved.len() as u64);
        for g in &saved {
            out.flag(g.is_some());
            if let Some((from, to)) = g {
                out.number(*from as u64).number(*to as u64);
            }
        }
        Some("MatchData")
    };
    savable(move |_, v| Some(Box::new(MatchData { regexp: v[0], string: v[1], captures: captures.clone() })), save)
}
zakuro_vm::saved_loader!("MatchData", |r| {
    let mut captures = Groups::new();
    for _ in 0..r.number()? {
        captures.push(if r.flag()? { Some((r.narrow()?, r.narrow()?)) } else { None });
    }
    r.ends(2)?;
    Some(match_blueprint(captures))
});

impl MatchData {
    /// Byte range of the whole match.
    pub fn span(&self) -> (usize, usize) {
        self.captures.first().copied().flatten().unwrap_or((0, 0))
    }
    pub fn start(&self) -> usize {
        self.span().0
    }
    pub fn end(&self) -> usize {
        self.span().1
    }
    /// Names of the groups with their numbers; none for a String pattern.
    pub fn names(&self) -> &[(String, Vec<usize>)] {
        regexp_of(&self.regexp).map_or(&[], |d| d.regexp.names())
    }
    /// Number of the group that a name stands for: of several, the last that took part.
    pub fn group_named(&self, name: &[u8]) -> Option<usize> {
        let (_, numbers) = self.names().iter().find(|(n, _)| n.as_bytes() == name)?;
        self.group_among(numbers)
    }
    /// Of the groups of one name, the last that took part.
    pub fn group_among(&self, numbers: &[usize]) -> Option<usize> {
        let set = numbers.iter().rev().find(|n| self.captures.get(**n).is_some_and(Option::is_some));
        set.or(numbers.last()).copied()
    }
}

/// The Regexp payload of a value; None for other objects. It may be looked at while others run, for as long as the variable is there that holds the value.
#[inline]
pub fn regexp_of(v: &Value) -> Option<&RegexpData> {
    let d = Ref::<DataCell>::from_value(*v)?;
    // SAFETY: cells don't move, and a Regexp's payload is set once; the collector finds the value in the variable, which is borrowed.
    unsafe { (*d.as_ptr()).get::<RegexpData>() }
}

/// The MatchData payload of a value.
pub fn match_of(v: &Value) -> Option<&MatchData> {
    let d = Ref::<DataCell>::from_value(*v)?;
    // SAFETY: as in regexp_of.
    unsafe { (*d.as_ptr()).get::<MatchData>() }
}

/// Steps that a search takes between two looks at what the VM was asked to do: well under a millisecond.
const STEPS: usize = 50_000;

/// Checks that the Regexp may look at the String, as every match does first, and gives the text to search: the String, or what it was before a
/// warning that a program handles.
fn prepare(cx: &mut Cx, re: &RegexpData, s: Ref<StringCell>) -> Result<(Ref<StringCell>, Encoding, TextRange)> {
    let enc = crate::string::util::enc(s);
    let range = match crate::string::util::range(&cx.heap, s) {
        CodeRange::Ascii => TextRange::SevenBit,
        CodeRange::Broken => {
            return cx.arg_error(format!("invalid byte sequence in {}", enc.name()));
        }
        _ => TextRange::Valid,
    };
    let fixed = re.regexp.is_fixed_encoding();
    let own = re.regexp.encoding();
    if own != enc && (!enc.is_ascii_compatible() || fixed && (range != TextRange::SevenBit || !own.is_ascii_compatible())) {
        let (a, b) = (re.regexp.encoding(), enc);
        let (a, b) = (crate::string::util::shown_name(a), crate::string::util::shown_name(b));
        return cx.raise(ids::COMPAT_ERROR, format!("incompatible encoding regexp match ({a} regexp with {b} string)"));
    }
    if re.regexp.flags().no_encoding && enc != Encoding::BINARY && range != TextRange::SevenBit && cx.global_get(sym::verbose)? != Value::NIL {
        let text = frozen_copy(cx, s);
        cx.warn_here(&format!("historical binary regexp match /.../n against {} string", enc.name()))?;
        return Ok((text, enc, range));
    }
    Ok((s, enc, range))
}

/// Runs a search to its end. A long one stops at safepoints, where the VM may be interrupted, and looks at the clock.
fn run<T: Answer>(cx: &mut Cx, re: Value, s: Ref<StringCell>, start: usize, mode: Mode) -> Result<Option<T>> {
    let d = regexp_checked(cx, &re)?;
    let (mut s, mut enc, mut range) = prepare(cx, d, s)?;
    if d.source().len() >= zakuro_text::regexp::LARGE {
        compiled(cx, d, enc, range)?;
        // Other threads may have changed the String meanwhile.
        (s, enc, range) = prepare(cx, d, s)?;
    }
    // The String may have become shorter since the place was found.
    if start > s.len() {
        return Ok(None);
    }
    let mut search = Search::new(start, mode);
    let text = Text { bytes: s.content(&cx.heap), enc, range: Some(range), lane: lane(cx) };
    let progress = search.run(&d.regexp, text, STEPS);
    searched(cx, re, d);
    match progress {
        Ok(Progress::Done(found)) => Ok(found),
        Ok(Progress::Paused) => go_on(cx, re, &d.regexp, s, search, (enc, Some(range), 0)),
        Err(e) => failed(cx, e),
    }
}

/// Has the program compiled that a text wants, and passes safepoints meanwhile.
#[cold]
#[inline(never)]
fn compiled(cx: &mut Cx, d: &RegexpData, enc: Encoding, range: TextRange) -> Result<()> {
    let regexp = d.regexp.clone();
    let mut stopped = None;
    regexp.prepare(enc, range, &mut || match cx.safepoint() {
        Ok(()) => true,
        Err(e) => {
            stopped = Some(e);
            false
        }
    });
    stopped.map_or(Ok(()), Err)
}

fn failed<T>(cx: &mut Cx, e: MatchError) -> Result<T> {
    match e {
        MatchError::Engine(m) => cx.raise(ids::REGEXP_ERROR, m),
        MatchError::RetryLimit => cx.raise(ids::REGEXP_ERROR, "regexp match stopped"),
    }
}

/// Goes on with a search that paused, over what the String held when it began: other threads of the VM run at safepoints and may change it.
#[cold]
#[inline(never)]
fn go_on<T: Answer>(
    cx: &mut Cx,
    re: Value,
    regexp: &SharedRegexp,
    s: Ref<StringCell>,
    mut search: Search,
    (enc, range, base): (Encoding, Option<TextRange>, usize),
) -> Result<Option<T>> {
    let regexp = regexp.clone();
    let deadline = super::timeout::deadline(cx, re);
    // Kept alive by this frame.
    let text = frozen_copy(cx, s);
    let mut counted = 0;
    let answer = loop {
        // What the search holds is the VM's.
        let held = search.memory();
        if held >= counted { cx.heap.add_payload(held - counted) } else { cx.heap.sub_payload(counted - held) }
        counted = held;
        if let Err(e) = cx.safepoint() {
            break Err(e);
        }
        if deadline.is_some_and(|d| std::time::Instant::now() >= d) {
            break cx.raise(ids::REGEXP_TIMEOUT_ERROR, "regexp match timeout");
        }
        let lane = lane(cx);
        match search.run(&regexp, Text { bytes: &text.content(&cx.heap)[base..], enc, range, lane }, STEPS) {
            Ok(Progress::Done(found)) => break Ok(found),
            Ok(Progress::Paused) => {}
            Err(e) => break failed(cx, e),
        }
    };
    cx.heap.sub_payload(counted);
    if let Some(d) = regexp_of(&re) {
        searched(cx, re, d);
    }
    answer
}

/// TypeError unless `re` is an initialised Regexp.
#[inline]
pub fn regexp_checked<'a>(cx: &mut Cx, re: &'a Value) -> Result<&'a RegexpData> {
    match regexp_of(re) {
        Some(d) => Ok(d),
        None => no_regexp(cx, *re),
    }
}

#[cold]
#[inline(never)]
fn no_regexp<T>(cx: &mut Cx, re: Value) -> Result<T> {
    if cx.is_data::<super::make::Invalid>(re) {
        let message = cx.data_ref::<super::make::Invalid>(re)?.message.clone();
        return cx.raise(ids::REGEXP_ERROR, message);
    }
    if cx.is_a(re, ids::REGEXP) {
        return cx.type_error("uninitialized Regexp");
    }
    let c = cx.class_name_of(re);
    cx.type_error(format!("wrong argument type {c} (expected Regexp)"))
}

/// Whose scratch memory a search uses.
fn lane(cx: &Cx) -> Lane {
    match &cx.host {
        Some(host) => Lane { number: cx.lane, of: host.scheduler.workers() as u16 + 1 },
        None => Lane::ONLY,
    }
}

/// First match at or after byte `start`; with `backward` the last one that begins at or before it. `$~` is the caller's business.
pub fn search(cx: &mut Cx, re: Value, s: Ref<StringCell>, start: usize, backward: bool) -> Result<Option<Captures>> {
    run(cx, re, s, start, if backward { Mode::Backward } else { Mode::Forward })
}

/// Byte range of the first match at or after byte `start`: cheaper than `search` when the groups don't matter.
pub fn find(cx: &mut Cx, re: Value, s: Ref<StringCell>, start: usize) -> Result<Option<(usize, usize)>> {
    run(cx, re, s, start, Mode::Forward)
}

/// Byte at which the first match is found, which `\K` does not move.
pub fn find_place(cx: &mut Cx, re: Value, s: Ref<StringCell>) -> Result<Option<usize>> {
    Ok(run::<FoundAt>(cx, re, s, 0, Mode::Forward)?.map(|f| f.0))
}

/// Match that begins at byte `pos`.
pub fn match_at(cx: &mut Cx, re: Value, s: Ref<StringCell>, pos: usize) -> Result<Option<Captures>> {
    run(cx, re, s, pos, Mode::Anchored)
}

/// What [`scan`] found.
pub enum Scanned {
    /// Of a Regexp without groups.
    Whole((usize, usize)),
    Groups(Groups),
}

/// A match in the bytes from `base` on (nothing before them is seen), at byte `pos` or, not anchored, at or after it. Offsets are from `base`
/// on. Leaves `$~` alone.
#[inline]
pub fn scan(
    cx: &mut Cx,
    (re, d): (&Value, &RegexpData),
    s: Ref<StringCell>,
    base: usize,
    pos: usize,
    anchored: bool,
) -> Result<Option<Scanned>> {
    let (s, enc, range) = prepare(cx, d, s)?;
    // The rest of a valid String is valid unless it begins inside a character; in encodings other than UTF-8 nobody asks for more than whether it is all ASCII.
    // Not to know it would mean a look at all of the rest for each token.
    let inside = enc.id() == zakuro_vm::string::UTF8 && s.content(&cx.heap).get(base).is_some_and(|b| b & 0xc0 == 0x80);
    let range = Some(if inside { TextRange::Broken } else { range });
    let search = Search::new(pos - base, if anchored { Mode::Anchored } else { Mode::Forward });
    if d.regexp.group_count() == 1 {
        let found: Option<(usize, usize)> = scan_as(cx, (re, d), s, search, (enc, range, base))?;
        return Ok(found.map(Scanned::Whole));
    }
    let found: Option<Captures> = scan_as(cx, (re, d), s, search, (enc, range, base))?;
    Ok(found.map(|c| Scanned::Groups(c.groups)))
}

#[inline]
fn scan_as<T: Answer>(
    cx: &mut Cx,
    (re, d): (&Value, &RegexpData),
    s: Ref<StringCell>,
    mut search: Search,
    (enc, range, base): (Encoding, Option<TextRange>, usize),
) -> Result<Option<T>> {
    let text = Text { bytes: &s.content(&cx.heap)[base..], enc, range, lane: lane(cx) };
    let progress = search.run(&d.regexp, text, STEPS);
    searched(cx, *re, d);
    match progress {
        Ok(Progress::Done(found)) => Ok(found),
        Ok(Progress::Paused) => go_on(cx, *re, &d.regexp, s, search, (enc, range, base)),
        Err(e) => failed(cx, e),
    }
}

/// Is there a match at or after byte `start`? Needs no captures and leaves `$~` alone (`match?`).
pub fn is_match(cx: &mut Cx, re: Value, s: Ref<StringCell>, start: usize) -> Result<bool> {
    Ok(run::<()>(cx, re, s, start, Mode::Forward)?.is_some())
}

/// A frozen String with the content of `s`: `s` itself when that cannot change.
pub fn frozen_copy(cx: &mut Cx, s: Ref<StringCell>) -> Ref<StringCell> {
    if s.as_value().is_frozen() && cx.class_of(s.as_value()) == ids::STRING {
        return s;
    }
    let c = StringCell::substring(&cx.heap, ids::STRING.0, s, 0, s.len());
    c.as_value().set_flags(flags::FROZEN);
    c
}

/// A text to walk over: a frozen copy if others may run on the way. They do in a block, in a search that a Regexp makes long, and between pieces of
/// what has more than `few` bytes.
pub fn steady(cx: &mut Cx, s: Ref<StringCell>, interrupted: bool, few: usize) -> Ref<StringCell> {
    if interrupted || s.len() >= few { frozen_copy(cx, s) } else { s }
}

/// New MatchData of a search in `s`.
pub fn make_match(cx: &mut Cx, re: Value, s: Ref<StringCell>, caps: Captures) -> Value {
    let string = frozen_copy(cx, s).as_value();
    cx.data(ids::MATCH_DATA, MatchData { regexp: re, string, captures: caps.groups })
}

/// MatchData for a String pattern that was found at `start..end`.
pub fn make_plain_match(cx: &mut Cx, pattern: Value, s: Ref<StringCell>, start: usize, end: usize) -> Value {
    make_match(cx, pattern, s, Captures::of_range((start, end)))
}

/// Where a match is, in bytes.
pub struct Place {
    pub start: usize,
    pub end: usize,
    /// As of [`Captures`].
    pub found_at: usize,
}

/// Searches, sets `$~` of the calling Ruby method (nil when nothing was found) and says where the match is.
pub fn search_backref(cx: &mut Cx, re: Value, s: Ref<StringCell>, start: usize, backward: bool) -> Result<Option<Place>> {
    // Without groups there is little to hand on.
    if regexp_of(&re).is_some_and(|d| d.regexp.group_count() == 1) {
        let found: Option<Span> = run(cx, re, s, start, if backward { Mode::Backward } else { Mode::Forward })?;
        if cx.wants_backref() {
            match &found {
                Some(f) => set_last(cx, re, s, f.range, |groups, range| match &mut groups[..] {
                    [whole] => *whole = Some(range),
                    _ => *groups = Captures::of_range(range).groups,
                }),
                None => cx.set_backref(Value::NIL),
            }
        }
        return Ok(found.map(|f| Place { start: f.range.0, end: f.range.1, found_at: f.found_at }));
    }
    let found = search(cx, re, s, start, backward)?;
    let place = found.as_ref().map(|c| Place { start: c.start(), end: c.end(), found_at: c.found_at });
    set_match(cx, re, s, found);
    Ok(place)
}

/// As `search_backref`, for those who need the groups.
pub fn search_groups(cx: &mut Cx, re: Value, s: Ref<StringCell>) -> Result<Option<Groups>> {
    let found = search(cx, re, s, 0, false)?;
    let groups = found.as_ref().map(|c| c.groups.clone());
    set_match(cx, re, s, found);
    Ok(groups)
}

/// Sets `$~` of the calling Ruby method.
pub fn set_match(cx: &mut Cx, re: Value, s: Ref<StringCell>, found: Option<Captures>) {
    if !cx.wants_backref() {
        return;
    }
    match found {
        Some(c) => set_last_match(cx, re, s, c),
        None => cx.set_backref(Value::NIL),
    }
}

/// Sets `$~` of the calling Ruby method to a match.
pub fn set_last_match(cx: &mut Cx, re: Value, s: Ref<StringCell>, found: Captures) {
    set_last(cx, re, s, found.groups, |groups, found| *groups = found);
}

/// The same: in the MatchData that there is, if the program was not shown that. `put` puts what was found in the place of other groups, or of none.
fn set_last<T>(cx: &mut Cx, re: Value, s: Ref<StringCell>, found: T, put: impl FnOnce(&mut Groups, T)) {
    let string = frozen_copy(cx, s).as_value();
    let last = cx.last_match();
    if Ref::<DataCell>::from_value(last).is_some_and(|d| d.is_private())
        && let Some(m) = cx.data_mut_of::<MatchData>(last)
    {
        let weighed = m.captures.spilled();
        m.regexp = re;
        m.string = string;
        put(&mut m.captures, found);
        if weighed || m.captures.spilled() {
            cx.weigh_data(last);
        }
        return;
    }
    let mut captures = Groups::new();
    put(&mut captures, found);
    let m = cx.data(ids::MATCH_DATA, MatchData { regexp: re, string, captures });
    if let Some(d) = Ref::<DataCell>::from_value(m) {
        DataCell::keep_private(d);
    }
    cx.set_backref(m);
}

/// Group `n` of a match as a new String; None when it took no part.
pub fn group(cx: &mut Cx, m: &MatchData, n: usize) -> Option<Value> {
    let (a, b) = (*m.captures.get(n)?)?;
    let s = Ref::<StringCell>::from_value(m.string)?;
    Some(StringCell::substring(&cx.heap, ids::STRING.0, s, a, b).as_value())
}
