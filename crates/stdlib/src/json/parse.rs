//! JSON text to Ruby objects: one pass over the bytes, no tree between.
//!
//! Invariants: the source is held as a String of our own (it shares the program's buffer, which is copied when the program writes to it), so that Ruby code
//! that runs in between (`on_load`, `object_class`, `create_additions`) can't pull it away; values that are not yet in their Array or Hash are on the
//! native stack or in a `RootedVec`. Keys are looked up in a small cache: the same words come again and again.
//! Rejected: serde_json (big integers become floats, its errors are not Ruby's); a separate tokenizer (each byte touched twice).

use zakuro_base::progress::{Pace, STRIDE};
use zakuro_vm::*;

/// What `JSON.parse` may be told.
pub struct Options {
    pub max_nesting: usize,
    pub allow_nan: bool,
    pub allow_trailing_comma: bool,
    pub allow_control_characters: bool,
    /// None: a duplicate key is warned of.
    pub allow_duplicate_key: Option<bool>,
    pub symbolize_names: bool,
    pub freeze: bool,
    pub object_class: Value,
    pub array_class: Value,
    pub decimal_class: Value,
    pub on_load: Value,
    /// nil: objects of other classes are made, with a warning.
    pub create_additions: Value,
    pub match_string: Value,
}

impl Options {
    pub fn read(cx: &mut Cx, v: Value) -> Result<Options> {
        let mut o = Options {
            max_nesting: 100,
            allow_nan: false,
            allow_trailing_comma: false,
            allow_control_characters: false,
            allow_duplicate_key: None,
            symbolize_names: false,
            freeze: false,
            object_class: Value::NIL,
            array_class: Value::NIL,
            decimal_class: Value::NIL,
            on_load: Value::NIL,
            create_additions: Value::FALSE,
            match_string: Value::NIL,
        };
        if v.is_nil() {
            return Ok(o);
        }
        let h = cx.to_hash(v)?;
        for (k, v) in cx.hash_pairs(h) {
            let Some(name) = k.as_sym() else { continue };
            match name.name().as_ref() {
                "max_nesting" => o.max_nesting = if v.truthy() { usize::try_from(cx.to_i64(v)?).unwrap_or(0) } else { 0 },
                "allow_nan" => o.allow_nan = v.truthy(),
                "allow_trailing_comma" => o.allow_trailing_comma = v.truthy(),
                "allow_control_characters" => o.allow_control_characters = v.truthy(),
                "allow_duplicate_key" => o.allow_duplicate_key = (!v.is_nil()).then(|| v.truthy()),
                "symbolize_names" => o.symbolize_names = v.truthy(),
                "freeze" => o.freeze = v.truthy(),
                "object_class" => o.object_class = v,
                "array_class" => o.array_class = v,
                "decimal_class" => o.decimal_class = v,
                "on_load" => o.on_load = v,
                "create_additions" => o.create_additions = v,
                "match_string" => o.match_string = v,
                _ => {}
            }
        }
        if o.symbolize_names && o.create_additions.truthy() {
            return cx.arg_error("options :symbolize_names and :create_additions cannot be  used in conjunction");
        }
        Ok(o)
    }
    fn plain_objects(&self) -> bool {
        self.object_class.is_nil() && self.create_additions == Value::FALSE
    }
}

const CACHED: usize = 128;
/// Longer keys are not worth comparing.
const CACHED_LEN: usize = 40;

struct Parser<'a> {
    src: &'a [u8],
    at: usize,
    depth: usize,
    opts: &'a Options,
    /// Keys by a cheap hash of their bytes; empty until the first key.
    keys: RootedVec,
    hashes: Vec<u64>,
    rounds: u32,
}

/// Parses a whole document.
pub fn parse(cx: &mut Cx, source: Ref<StringCell>, opts: &Options) -> Result<Value> {
    // The program's code that runs on the way may change the String.
    let text = Held::of(source);
    let keys = RootedVec::new(cx);
    let mut p = Parser { src: &text, at: 0, depth: 0, opts, keys, hashes: Vec::new(), rounds: 0 };
    let v = p.value(cx)?;
    p.skip(cx)?;
    if p.at < p.src.len() {
        return p.fail(cx, "unexpected token at %");
    }
    Ok(v)
}

impl Parser<'_> {
    /// ParserError at the position: `%` stands for the text there.
    #[cold]
    fn fail<T>(&self, cx: &mut Cx, format: &str) -> Result<T> {
        let (line, column) = self.place(self.at);
        let rest = &self.src[self.at.min(self.src.len())..];
        let n = rest.iter().take(32).take_while(|b| !matches!(**b, 0 | b'\n' | b' ' | b'\t' | b'\r')).count();
        let shown = if rest.is_empty() {
            "EOF".to_string()
        } else {
            // Whole characters but the last one, should that be no ASCII.
            let mut n = n;
            while n > 0 && rest[n - 1] & 0xc0 == 0x80 {
                n -= 1;
            }
            n -= usize::from(n > 0 && rest[n - 1] >= 0xc0);
            format!("'{}'", String::from_utf8_lossy(&rest[..n]))
        };
        let message = format!("{} at line {line} column {column}", format.replacen('%', &shown, 1));
        let class = cx.class_named("JSON::ParserError")?;
        let e = cx.exception(class, &message);
        cx.ivar_set_raw(e, Sym::intern("@line"), Value::fixnum(line as i64));
        cx.ivar_set_raw(e, Sym::intern("@column"), Value::fixnum(column as i64));
        cx.raise_value(e)
    }
    /// Line and column of a place, from 1.
    fn place(&self, at: usize) -> (usize, usize) {
        let before = &self.src[..at.min(self.src.len())];
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        (line, before.iter().rev().take_while(|b| **b != b'\n').count() + 1)
    }
    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.src.get(self.at).copied()
    }
    /// Skips white space and comments.
    #[inline(always)]
    fn skip(&mut self, cx: &mut Cx) -> Result<()> {
        let from = self.at;
        while let Some(b) = self.peek() {
            match b {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                b'/' => self.comment(cx)?,
                _ => break,
            }
            if self.at - from > STRIDE {
                return self.skip_far(cx);
            }
        }
        Ok(())
    }
    #[cold]
    #[inline(never)]
    fn skip_far(&mut self, cx: &mut Cx) -> Result<()> {
        let mut pace = Pace::new();
        while let Some(b) = self.peek() {
            pace.at(self.at, cx)?;
            match b {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                b'/' => self.comment(cx)?,
                _ => break,
            }
        }
        Ok(())
    }
    #[cold]
    fn comment(&mut self, cx: &mut Cx) -> Result<()> {
        let rest = &self.src[self.at..];
        match rest.get(1) {
            Some(b'/') => self.at += memchr::memchr(b'\n', rest).map_or(rest.len(), |i| i + 1),
            Some(b'*') => match memchr::memmem::find(&rest[2..], b"*/") {
                Some(i) => self.at += i + 4,
                None => {
                    self.at = self.src.len();
                    return self.fail(cx, "unexpected end of input, expected closing '*/'");
                }
            },
            _ => return self.fail(cx, "unexpected token %"),
        }
        Ok(())
    }
    fn loaded(&mut self, cx: &mut Cx, v: Value) -> Result<Value> {
        if self.opts.on_load.is_nil() { Ok(v) } else { cx.call(self.opts.on_load, sym::call, &[v]) }
    }
    fn word(&mut self, cx: &mut Cx, word: &[u8], v: Value) -> Result<Value> {
        if !self.src[self.at..].starts_with(word) {
            return self.fail(cx, "unexpected token %");
        }
        self.at += word.len();
        self.loaded(cx, v)
    }
    fn nan(&mut self, cx: &mut Cx, word: &[u8], f: f64) -> Result<Value> {
        if !self.src[self.at..].starts_with(word) || !self.opts.allow_nan {
            return self.fail(cx, "unexpected token %");
        }
        let v = cx.float(f);
        self.word(cx, word, v)
    }
    fn value(&mut self, cx: &mut Cx) -> Result<Value> {
        self.skip(cx)?;
        match self.peek() {
            Some(b'"') => {
                let v = self.string(cx)?;
                self.loaded(cx, v)
            }
            Some(b'{') => self.object(cx),
            Some(b'[') => self.array(cx),
            Some(b'0'..=b'9') => self.number(cx),
            Some(b'-') if self.src[self.at..].starts_with(b"-I") => self.nan(cx, b"-Infinity", f64::NEG_INFINITY),
            Some(b'-') => self.number(cx),
            Some(b't') => self.word(cx, b"true", Value::TRUE),
            Some(b'f') => self.word(cx, b"false", Value::FALSE),
            Some(b'n') => self.word(cx, b"null", Value::NIL),
            Some(b'N') => self.nan(cx, b"NaN", f64::NAN),
            Some(b'I') => self.nan(cx, b"Infinity", f64::INFINITY),
            Some(_) => self.fail(cx, "unexpected character: %"),
            None => self.fail(cx, "unexpected end of input"),
        }
    }
    /// One level deeper: NestingError, or a safepoint now and then.
    #[inline(always)]
    fn enter(&mut self, cx: &mut Cx) -> Result<()> {
        self.at += 1;
        self.depth += 1;
        if self.opts.max_nesting > 0 && self.depth > self.opts.max_nesting {
            return cx.raise_named("JSON::NestingError", format!("nesting of {} is too deep", self.depth));
        }
        cx.check_native_stack()
    }
    #[inline(always)]
    fn breathe(&mut self, cx: &mut Cx) -> Result<()> {
        self.rounds += 1;
        if self.rounds.is_multiple_of(256) { cx.safepoint() } else { Ok(()) }
    }
    fn array(&mut self, cx: &mut Cx) -> Result<Value> {
        self.enter(cx)?;
        let class = self.opts.array_class;
        let out = if class.is_nil() { cx.new_array().as_value() } else { cx.call(class, sym::new, &[])? };
        self.skip(cx)?;
        if self.peek() == Some(b']') {
            self.at += 1;
        } else {
            loop {
                let v = self.value(cx)?;
                match Ref::<ArrayCell>::from_value(out) {
                    Some(a) if class.is_nil() => ArrayCell::push(a, &mut cx.heap, v),
                    _ => {
                        cx.call(out, sym::shl, &[v])?;
                    }
                }
                self.breathe(cx)?;
                self.skip(cx)?;
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if self.opts.allow_trailing_comma {
                            self.skip(cx)?;
                            if self.peek() == Some(b']') {
                                self.at += 1;
                                break;
                            }
                        }
                    }
                    Some(b']') => {
                        self.at += 1;
                        break;
                    }
                    _ => return self.fail(cx, "expected ',' or ']' after array value"),
                }
            }
        }
        self.depth -= 1;
        if self.opts.freeze {
            out.set_flags(flags::FROZEN);
        }
        self.loaded(cx, out)
    }
    fn object(&mut self, cx: &mut Cx) -> Result<Value> {
        self.enter(cx)?;
        let start = self.at - 1;
        let class = self.opts.object_class;
        let out = if class.is_nil() { cx.new_hash().as_value() } else { cx.call(class, sym::new, &[])? };
        self.skip(cx)?;
        if self.peek() == Some(b'}') {
            self.at += 1;
        } else {
            loop {
                if self.peek() != Some(b'"') {
                    return self.fail(cx, "expected object key, got %");
                }
                let (mut key, mut hash) = self.key(cx)?;
                if !self.opts.on_load.is_nil() {
                    key = self.loaded(cx, key)?;
                    hash = cx.hash_of(key)?;
                }
                self.skip(cx)?;
                if self.peek() != Some(b':') {
                    return self.fail(cx, "expected ':' after object key");
                }
                self.at += 1;
                let v = self.value(cx)?;
                match Ref::<HashCell>::from_value(out) {
                    Some(h) if class.is_nil() => self.put(cx, h, key, hash, v, start)?,
                    _ => {
                        cx.call(out, sym::aset, &[key, v])?;
                    }
                }
                self.breathe(cx)?;
                self.skip(cx)?;
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        self.skip(cx)?;
                        if self.opts.allow_trailing_comma && self.peek() == Some(b'}') {
                            self.at += 1;
                            break;
                        }
                    }
                    Some(b'}') => {
                        self.at += 1;
                        break;
                    }
                    _ => return self.fail(cx, "expected ',' or '}' after object value, got: %"),
                }
            }
        }
        self.depth -= 1;
        let mut out = out;
        if !self.opts.plain_objects() && self.opts.create_additions != Value::FALSE {
            let json = cx.const_by_path("JSON").unwrap_or(Value::NIL);
            out = cx.call(json, Sym::intern("__create"), &[out, self.opts.create_additions])?;
        }
        if self.opts.freeze && out.is_cell() {
            out.set_flags(flags::FROZEN);
        }
        self.loaded(cx, out)
    }
    /// Puts a pair into the Hash under construction, which nobody else has seen yet.
    #[inline(always)]
    fn put(&mut self, cx: &mut Cx, h: Ref<HashCell>, key: Value, hash: u64, v: Value, start: usize) -> Result<()> {
        let there = h.table(&cx.heap).and_then(|t| {
            t.find(hash, |k| {
                k == key || matches!((Ref::<StringCell>::from_value(k), Ref::<StringCell>::from_value(key)), (Some(a), Some(b)) if a.content(&cx.heap) == b.content(&cx.heap))
            })
        });
        match there {
            Some(i) => {
                self.twice(cx, key, start)?;
                HashCell::set_value(h, i, v);
            }
            // What `on_load` has put in a key's place.
            None if !key.is_kind(Kind::String) && key.as_sym().is_none() => {
                let before = h.len();
                cx.hash_set(h, key, v)?;
                if h.len() == before {
                    self.twice(cx, key, start)?;
                }
            }
            None => {
                HashCell::push(h, &mut cx.heap, hash, key, v);
            }
        }
        Ok(())
    }
    /// Tells of a key that comes again in the object that began at `start`.
    #[cold]
    #[inline(never)]
    fn twice(&mut self, cx: &mut Cx, key: Value, start: usize) -> Result<()> {
        let refused = self.opts.allow_duplicate_key == Some(false);
        if self.opts.allow_duplicate_key == Some(true) || !refused && !cx.warns("deprecated") {
            return Ok(());
        }
        let text = if key.is_sym() { cx.to_s(key)?.as_value() } else { key };
        let shown = cx.inspect_text(text)?;
        if refused {
            self.at = start;
            return self.fail(cx, &format!("duplicate key {shown}"));
        }
        let (line, column) = self.place(start);
        let message = cx.str(&format!(
            "detected duplicate key {shown} in JSON object. This will raise an error in json 3.0 unless enabled via `allow_duplicate_key: true` at line {line} column {column}"
        ));
        let json = cx.const_by_path("JSON").unwrap_or(Value::NIL);
        cx.call_private(json, Sym::intern("__warn"), &[message])?;
        Ok(())
    }
    /// An object's key as a frozen String (or a Symbol), and its hash.
    fn key(&mut self, cx: &mut Cx) -> Result<(Value, u64)> {
        let (from, end, escaped, ascii) = self.scan_string(cx)?;
        let raw = &self.src[from..end];
        if escaped || raw.len() > CACHED_LEN || raw.is_empty() {
            let v = self.make_string(cx, from, end, escaped, ascii)?;
            return self.finish_key(cx, v);
        }
        let slot = raw.len().wrapping_mul(31)
            ^ (raw[0] as usize).wrapping_mul(7)
            ^ (raw[raw.len() - 1] as usize).wrapping_mul(13)
            ^ raw[raw.len() / 2] as usize;
        let slot = slot % CACHED;
        if self.hashes.is_empty() {
            self.keys.resize(CACHED, Value::NIL);
            self.hashes.resize(CACHED, 0);
        }
        let known = self.keys[slot];
        let same = match (known.as_sym(), Ref::<StringCell>::from_value(known)) {
            (_, Some(s)) => s.content(&cx.heap) == raw,
            (Some(s), _) => s.bytes() == raw,
            _ => false,
        };
        if same {
            return Ok((known, self.hashes[slot]));
        }
        let v = self.make_string(cx, from, end, false, ascii)?;
        let (key, hash) = self.finish_key(cx, v)?;
        self.keys[slot] = key;
        self.hashes[slot] = hash;
        Ok((key, hash))
    }
    fn finish_key(&mut self, cx: &mut Cx, v: Value) -> Result<(Value, u64)> {
        let key = match Ref::<StringCell>::from_value(v) {
            Some(s) if self.opts.symbolize_names => Value::sym(Sym::intern_in(s.content(&cx.heap), s.encoding())),
            Some(s) if self.opts.freeze => library::library().interned(cx, s),
            _ => {
                v.set_flags(flags::FROZEN);
                v
            }
        };
        let hash = cx.hash_of(key)?;
        Ok((key, hash))
    }
    fn string(&mut self, cx: &mut Cx) -> Result<Value> {
        let (from, end, escaped, ascii) = self.scan_string(cx)?;
        let v = self.make_string(cx, from, end, escaped, ascii)?;
        if !self.opts.match_string.is_nil() && self.opts.create_additions.truthy() {
            let json = cx.const_by_path("JSON").unwrap_or(Value::NIL);
            return cx.call(json, Sym::intern("__match_string"), &[v, self.opts.match_string]);
        }
        if self.opts.freeze
            && let Some(s) = Ref::<StringCell>::from_value(v)
        {
            return Ok(library::library().interned(cx, s));
        }
        Ok(v)
    }
    fn make_string(&mut self, cx: &mut Cx, from: usize, end: usize, escaped: bool, ascii: bool) -> Result<Value> {
        if escaped {
            let bytes = self.unescape(cx, from, end)?;
            return Ok(cx.str_bytes(&bytes, string::UTF8));
        }
        let s = StringCell::plain(&cx.heap, &self.src[from..end], string::UTF8);
        if ascii {
            s.set_code_range(string::CodeRange::Ascii);
        }
        Ok(s.as_value())
    }
    /// Goes behind a string literal; its byte range, whether it has escapes, and whether it is ASCII only.
    #[inline(always)]
    fn scan_string(&mut self, cx: &mut Cx) -> Result<(usize, usize, bool, bool)> {
        let from = self.at + 1;
        let (mut at, mut escaped, mut all) = (from, false, 0u8);
        let mut pace = Pace::new();
        loop {
            // Eight plain bytes at a time.
            while let Some(chunk) = self.src.get(at..at + 8) {
                let w = u64::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3], chunk[4], chunk[5], chunk[6], chunk[7]]);
                const ONES: u64 = 0x0101_0101_0101_0101;
                const HIGH: u64 = 0x8080_8080_8080_8080;
                let zero = |x: u64| x.wrapping_sub(ONES) & !x & HIGH;
                let special = zero(w ^ (ONES * b'"' as u64)) | zero(w ^ (ONES * b'\\' as u64)) | (w.wrapping_sub(ONES * 0x20) & !w & HIGH);
                if special != 0 {
                    break;
                }
                all |= (w & HIGH != 0) as u8 * 0x80;
                at += 8;
            }
            match self.src.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    at += 2;
                    pace.at(at - from, cx)?;
                }
                Some(b) if *b < 0x20 && !self.opts.allow_control_characters => {
                    self.at = at;
                    return self.fail(cx, "invalid ASCII control character in string: %");
                }
                Some(b) => {
                    all |= *b;
                    at += 1;
                    pace.at(at - from, cx)?;
                }
                None => {
                    self.at = self.src.len();
                    return self.fail(cx, "unexpected end of input, expected closing \"");
                }
            }
        }
        self.at = at + 1;
        Ok((from, at, escaped, all < 0x80))
    }
    fn hex4(&self, at: usize, end: usize) -> Option<u32> {
        let digits = self.src[..end].get(at..at + 4)?;
        digits.iter().try_fold(0, |n, d| Some(n << 4 | (*d as char).to_digit(16)?))
    }
    fn unescape(&mut self, cx: &mut Cx, from: usize, end: usize) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(end - from);
        let mut at = from;
        let mut pace = Pace::new();
        while at < end {
            pace.at(at - from, cx)?;
            let run = memchr::memchr(b'\\', &self.src[at..end]).map_or(end, |i| at + i);
            out.extend_from_slice(&self.src[at..run]);
            if run >= end {
                break;
            }
            at = run + 2;
            match self.src.get(run + 1).copied().unwrap_or(b'\\') {
                b'b' => out.push(8),
                b'f' => out.push(12),
                b'n' => out.push(b'\n'),
                b'r' => out.push(b'\r'),
                b't' => out.push(b'\t'),
                b'u' => {
                    let Some(mut c) = self.hex4(at, end) else {
                        self.at = run;
                        return self.fail(cx, "incomplete unicode character escape sequence at %");
                    };
                    at += 4;
                    if (0xd800..0xdc00).contains(&c) {
                        let low = if self.src[at..end].starts_with(b"\\u") { self.hex4(at + 2, end) } else { None };
                        match low {
                            Some(low @ 0xdc00..0xe000) => c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00),
                            _ => {
                                self.at = run;
                                let what = if low.is_some() { "invalid surrogate pair at %" } else { "incomplete surrogate pair at %" };
                                return self.fail(cx, what);
                            }
                        }
                        at += 6;
                    }
                    match char::from_u32(c) {
                        Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                        // The second half of a pair: as its own three bytes.
                        None => out.extend_from_slice(&[0xe0 | (c >> 12) as u8, 0x80 | (c >> 6 & 0x3f) as u8, 0x80 | (c & 0x3f) as u8]),
                    }
                }
                other @ (b'"' | b'\\' | b'/') => out.push(other),
                other @ ..0x20 if self.opts.allow_control_characters => out.extend_from_slice(&[b'\\', other]),
                other => {
                    self.at = run;
                    return self.fail(
                        cx,
                        match other {
                            b'\n' => "Invalid unescaped newline character (\\n) in string: %",
                            ..0x20 => "invalid ASCII control character in string: %",
                            _ => "invalid escape character in string: %",
                        },
                    );
                }
            }
        }
        Ok(out)
    }
    fn number(&mut self, cx: &mut Cx) -> Result<Value> {
        let from = self.at;
        let negative = self.src[from] == b'-';
        let mut at = from + negative as usize;
        let digits = at;
        let mut n: u64 = 0;
        while let Some(d) = self.src.get(at).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
            n = n.wrapping_mul(10).wrapping_add(d as u64);
            at += 1;
        }
        let count = at - digits;
        if count == 0 || count > 1 && self.src[digits] == b'0' {
            return self.fail(cx, "invalid number: %");
        }
        let mut float = false;
        if self.src.get(at) == Some(&b'.') {
            float = true;
            let frac = at + 1;
            at = frac;
            while self.src.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            if at == frac {
                return self.fail(cx, "invalid number: %");
            }
        }
        if matches!(self.src.get(at), Some(b'e' | b'E')) {
            float = true;
            at += 1;
            if matches!(self.src.get(at), Some(b'+' | b'-')) {
                at += 1;
            }
            let exp = at;
            while self.src.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            if at == exp {
                return self.fail(cx, "invalid number: %");
            }
        }
        self.at = at;
        let text = &self.src[from..at];
        let v = if float {
            self.float(cx, text)?
        } else if count <= 18 {
            Value::fixnum(if negative { -(n as i64) } else { n as i64 })
        } else {
            let b = zakuro_text::int::from_digits(&self.src[digits..at], 10, false, cx)?.to_big();
            cx.big(if negative { -b } else { b })
        };
        self.loaded(cx, v)
    }
    fn float(&mut self, cx: &mut Cx, text: &[u8]) -> Result<Value> {
        let text = std::str::from_utf8(text).unwrap_or("0");
        let class = self.opts.decimal_class;
        if class.is_nil() || cx.class_id(class) == Some(ids::FLOAT) {
            let f = text.parse::<f64>().unwrap_or(0.0);
            return Ok(cx.float(f));
        }
        let json = cx.const_by_path("JSON").unwrap_or(Value::NIL);
        let s = cx.str(text);
        cx.call(json, Sym::intern("__decimal"), &[class, s])
    }
}
