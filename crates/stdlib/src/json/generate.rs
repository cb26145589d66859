//! Ruby objects to JSON text.
//!
//! Plain objects are written directly; `to_json` of anything else (or an `as_json` block, for a `JSON::Coder`) gets a State that stands for the same options
//! and the depth reached, made when first needed. The program's code may change a structure while it is written: Arrays are read by index, Hashes walked
//! with iteration marked.

use zakuro_base::progress::STRIDE;
use zakuro_text::encoding::transcode::{ConvErrKind, Policy, transcode_long};
use zakuro_vm::held::Held;
use zakuro_vm::*;

/// What a State holds.
#[derive(Clone)]
pub struct Config {
    indent: Vec<u8>,
    space: Vec<u8>,
    space_before: Vec<u8>,
    object_nl: Vec<u8>,
    array_nl: Vec<u8>,
    max_nesting: usize,
    depth: usize,
    allow_nan: bool,
    /// None: what has the same text is warned of.
    allow_duplicate_key: Option<bool>,
    ascii_only: bool,
    script_safe: bool,
    strict: bool,
    as_json: Value,
    /// The State object that stands for this; nil until one is needed.
    state: Value,
}

impl Config {
    fn plain() -> Config {
        Config {
            indent: Vec::new(),
            space: Vec::new(),
            space_before: Vec::new(),
            object_nl: Vec::new(),
            array_nl: Vec::new(),
            max_nesting: 100,
            depth: 0,
            allow_nan: false,
            allow_duplicate_key: None,
            ascii_only: false,
            script_safe: false,
            strict: false,
            as_json: Value::NIL,
            state: Value::NIL,
        }
    }
    /// Of nil, a State, or a Hash of options.
    pub fn read(cx: &mut Cx, v: Value) -> Result<Config> {
        let mut c = Config::plain();
        if v.is_nil() {
            return Ok(c);
        }
        let class = cx.class_named("JSON::Ext::Generator::State")?;
        let state = if cx.is_a(v, class) {
            v
        } else {
            let class = cx.class_value(class);
            cx.call(class, Sym::intern("from_state"), &[v])?
        };
        c.state = state;
        for (name, v) in cx.ivar_list(state).iter() {
            match name.name().as_ref() {
                "@indent" => c.indent = text(v),
                "@space" => c.space = text(v),
                "@space_before" => c.space_before = text(v),
                "@object_nl" => c.object_nl = text(v),
                "@array_nl" => c.array_nl = text(v),
                "@max_nesting" => c.max_nesting = usize::try_from(cx.to_i64(v)?).unwrap_or(0),
                "@depth" => c.depth = usize::try_from(cx.to_i64(v)?).unwrap_or(0),
                "@allow_nan" => c.allow_nan = v.truthy(),
                "@allow_duplicate_key" => c.allow_duplicate_key = Some(v.truthy()),
                "@ascii_only" => c.ascii_only = v.truthy(),
                "@script_safe" => c.script_safe = v.truthy(),
                "@strict" => c.strict = v.truthy(),
                "@as_json" => c.as_json = if v.truthy() { v } else { Value::NIL },
                _ => {}
            }
        }
        Ok(c)
    }
}

fn text(v: Value) -> Vec<u8> {
    Ref::<StringCell>::from_value(v).map_or(Vec::new(), |s| s.to_vec())
}

/// Bytes that a String literal can't hold as they are.
static SPECIAL: [bool; 256] = {
    let mut t = [false; 256];
    let mut i = 0;
    while i < 0x20 {
        t[i] = true;
        i += 1;
    }
    t[b'"' as usize] = true;
    t[b'\\' as usize] = true;
    t
};

struct Generator<'a> {
    out: Vec<u8>,
    config: &'a mut Config,
    depth: usize,
    rounds: u32,
}

/// The text of an object. `direct`: by its own kind, without asking its `to_json` (which is what is running).
pub fn generate(cx: &mut Cx, v: Value, config: &mut Config, direct: bool) -> Result<Value> {
    let depth = config.depth;
    let mut g = Generator { out: Vec::with_capacity(64), config, depth, rounds: 0 };
    let done = if direct { g.direct(cx, v) } else { g.value(cx, v, false) };
    let (out, state, depth) = (std::mem::take(&mut g.out), g.config.state, g.config.depth);
    match done {
        Ok(()) => {
            count_from(cx, state, depth);
            Ok(cx.str_bytes(&out, string::UTF8))
        }
        Err(e) => {
            let pending = cx.take_pending();
            count_from(cx, state, depth);
            cx.pending = pending;
            Err(e)
        }
    }
}

/// The State counts from where it stood.
fn count_from(cx: &mut Cx, state: Value, depth: usize) {
    if !state.is_nil() && !state.is_frozen() {
        cx.ivar_set_raw(state, Sym::intern("@depth"), Value::fixnum(depth as i64));
    }
}

#[cold]
fn error<T>(cx: &mut Cx, v: Value, message: String) -> Result<T> {
    let class = cx.class_named("JSON::GeneratorError")?;
    let e = cx.exception(class, &message);
    cx.ivar_set_raw(e, Sym::intern("@invalid_object"), v);
    cx.raise_value(e)
}

/// What an object's `to_s` gives, which must be a String. TypeError
fn text_of(cx: &mut Cx, v: Value) -> Result<Ref<StringCell>> {
    let text = cx.call(v, sym::to_s, &[])?;
    match Ref::from_value(text) {
        Some(s) => Ok(s),
        None => {
            let (c, g) = (cx.class_shown(v), cx.class_shown(text));
            cx.type_error(format!("can't convert {c} to String ({c}#to_s gives {g})"))
        }
    }
}

/// The class of an object for messages; a class has one of its own.
fn own_class(cx: &mut Cx, v: Value) -> String {
    match cx.class_id(v) {
        Some(id) if cx.class(id).kind == ClassKind::Class => format!("#<Class:{}>", cx.class_name(id)),
        _ => cx.class_shown(v),
    }
}

#[cold]
fn no_key<T>(cx: &mut Cx, k: Value) -> Result<T> {
    let class = own_class(cx, k);
    error(cx, k, format!("{class} not allowed as object key in JSON"))
}

/// The error of a String that has no UTF-8; its cause is what `encode` raises.
#[cold]
fn refused<T>(cx: &mut Cx, s: Ref<StringCell>) -> Result<T> {
    let v = s.as_value();
    let utf8 = cx.str("UTF-8");
    let cause = match cx.rescue(&[ids::ENCODING_ERROR], |cx| cx.call(v, Sym::intern("encode"), &[utf8]))? {
        Err(cause) => cause,
        Ok(_) => return error(cx, v, "source sequence is illegal/malformed utf-8".into()),
    };
    let message = cx.call(cause, Sym::intern("message"), &[])?;
    let message = cx.to_s_text(message)?;
    let mut around = RootedVec::new(cx);
    around.push(cx.errinfo);
    cx.errinfo = cause;
    let raised = error(cx, v, message);
    cx.errinfo = around[0];
    raised
}

/// The shortest decimal number that is this Float, with an exponent where the digits would stand far from the point.
fn decimal(out: &mut Vec<u8>, f: f64) {
    if f.is_sign_negative() {
        out.push(b'-');
    }
    if f == 0.0 {
        return out.extend_from_slice(b"0.0");
    }
    let mut room = [0; 20];
    let (len, point) = zakuro_text::float::shortest(f, &mut room);
    let digits = &room[..len];
    // The places of the first digit and the last.
    let (exponent, last) = (point - 1, point - len as i32);
    if last >= 0 && exponent < 15 {
        out.extend_from_slice(digits);
        out.resize(out.len() + last as usize, b'0');
        out.extend_from_slice(b".0");
    } else if last < 0 && (last > -7 || exponent.abs() < 10) {
        match usize::try_from(exponent + 1) {
            Ok(whole @ 1..) => {
                out.extend_from_slice(&digits[..whole]);
                out.push(b'.');
                out.extend_from_slice(&digits[whole..]);
            }
            _ => {
                out.extend_from_slice(b"0.");
                out.resize(out.len() + (-exponent - 1) as usize, b'0');
                out.extend_from_slice(digits);
            }
        }
    } else {
        out.push(digits[0]);
        if digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
        out.extend(exponent.unsigned_abs().to_string().bytes());
    }
}

impl Generator<'_> {
    /// The State, at the depth reached.
    fn state(&mut self, cx: &mut Cx) -> Result<Value> {
        if self.config.state.is_nil() {
            let class = cx.class_named("JSON::Ext::Generator::State")?;
            let class = cx.class_value(class);
            self.config.state = cx.call(class, sym::new, &[])?;
        }
        let state = self.config.state;
        let state = if state.is_frozen() {
            self.config.state = cx.call(state, sym::dup, &[])?;
            self.config.state
        } else {
            state
        };
        cx.ivar_set(state, Sym::intern("@depth"), Value::fixnum(self.depth as i64))?;
        Ok(state)
    }
    fn value(&mut self, cx: &mut Cx, v: Value, converted: bool) -> Result<()> {
        if v.is_fixnum() {
            return self.direct(cx, v);
        }
        match v {
            Value::NIL => self.out.extend_from_slice(b"null"),
            Value::TRUE => self.out.extend_from_slice(b"true"),
            Value::FALSE => self.out.extend_from_slice(b"false"),
            _ => {
                if let Some(s) = v.as_sym() {
                    if self.config.strict || cx.is_builtin(v, Sym::intern("to_json"), ids::OBJECT) {
                        let s = cx.str_bytes(s.bytes(), s.encoding());
                        return self.string(cx, Ref::of(s));
                    }
                    return self.general(cx, v, converted);
                }
                if let Some(f) = v.as_float() {
                    return self.float(cx, v, f, converted);
                }
                // The very class: a subclass may have a to_json of its own.
                return match v.is_cell().then(|| cx.class_of(v)) {
                    Some(ids::STRING | ids::ARRAY | ids::HASH | ids::INTEGER) => self.direct_or(cx, v, converted),
                    _ => self.general(cx, v, converted),
                };
            }
        }
        Ok(())
    }
    fn direct_or(&mut self, cx: &mut Cx, v: Value, converted: bool) -> Result<()> {
        if let Some(s) = Ref::<StringCell>::from_value(v)
            && self.asks_for(cx, s, converted)
        {
            return self.general(cx, v, false);
        }
        self.direct(cx, v)
    }
    /// Objects that JSON has no form for.
    fn general(&mut self, cx: &mut Cx, v: Value, converted: bool) -> Result<()> {
        if let Some(fragment) = self.fragment(cx, v)? {
            let s = cx.to_str(fragment)?;
            self.out.extend_from_slice(s.content(&cx.heap));
            return Ok(());
        }
        if self.config.strict {
            if !self.config.as_json.is_nil() && !converted {
                let as_json = self.config.as_json;
                let r = cx.call(as_json, sym::call, &[v, Value::FALSE])?;
                return self.value(cx, r, true);
            }
            let shown = if v.as_float().is_some() { cx.to_s_text(v)? } else { own_class(cx, v) };
            return error(cx, v, format!("{shown} not allowed in JSON"));
        }
        match cx.method_of(v, Sym::intern("to_json")) {
            Some(_) => {
                let state = self.state(cx)?;
                let r = cx.call(v, Sym::intern("to_json"), &[state])?;
                let s = cx.to_str(r)?;
                self.out.extend_from_slice(s.content(&cx.heap));
                Ok(())
            }
            None => {
                let s = cx.to_s(v)?;
                self.string(cx, s)
            }
        }
    }
    /// The text of a JSON::Fragment.
    fn fragment(&mut self, cx: &mut Cx, v: Value) -> Result<Option<Value>> {
        if !v.is_cell() || cx.class(cx.class_of(v)).name != Some(Sym::intern("JSON::Fragment")) {
            return Ok(None);
        }
        cx.call(v, Sym::intern("json"), &[]).map(Some)
    }
    /// By the kind of an object.
    fn direct(&mut self, cx: &mut Cx, v: Value) -> Result<()> {
        if v.is_fixnum() {
            self.integer(v.fix());
            return Ok(());
        }
        if let Some(s) = Ref::<StringCell>::from_value(v) {
            return self.string(cx, s);
        }
        if let Some(a) = Ref::<ArrayCell>::from_value(v) {
            return self.array(cx, a);
        }
        if let Some(h) = Ref::<HashCell>::from_value(v) {
            return self.hash(cx, h);
        }
        if let Some(f) = v.as_float() {
            return self.float(cx, v, f, true);
        }
        match v {
            Value::NIL => self.out.extend_from_slice(b"null"),
            Value::TRUE => self.out.extend_from_slice(b"true"),
            Value::FALSE => self.out.extend_from_slice(b"false"),
            _ if cx.is_integer(v) => {
                let s = text_of(cx, v)?;
                self.out.extend_from_slice(s.content(&cx.heap));
            }
            _ if v.is_sym() => {
                let s = cx.to_s(v)?;
                return self.string(cx, s);
            }
            _ if self.config.strict => return self.general(cx, v, true),
            _ => {
                let s = cx.to_s(v)?;
                return self.string(cx, s);
            }
        }
        Ok(())
    }
    fn integer(&mut self, n: i64) {
        let mut buf = [0u8; 20];
        let mut at = buf.len();
        let mut m = n.unsigned_abs();
        loop {
            at -= 1;
            buf[at] = b'0' + (m % 10) as u8;
            m /= 10;
            if m == 0 {
                break;
            }
        }
        if n < 0 {
            self.out.push(b'-');
        }
        self.out.extend_from_slice(&buf[at..]);
    }
    fn float(&mut self, cx: &mut Cx, v: Value, f: f64, converted: bool) -> Result<()> {
        if !f.is_finite() && !self.config.allow_nan {
            if self.config.strict && !self.config.as_json.is_nil() && !converted {
                return self.general(cx, v, false);
            }
            let shown = zakuro_text::float::float_to_s(f);
            return error(cx, v, format!("{shown} not allowed in JSON"));
        }
        if f.is_finite() {
            decimal(&mut self.out, f);
        } else {
            self.out.extend_from_slice(zakuro_text::float::float_to_s(f).as_bytes());
        }
        Ok(())
    }
    fn nesting(&mut self, cx: &mut Cx) -> Result<()> {
        self.depth += 1;
        if self.config.max_nesting > 0 && self.depth > self.config.max_nesting {
            let reached = self.depth - 1;
            let message = format!("nesting of {reached} is too deep. Did you try to serialize objects with circular references?");
            return cx.raise_named("JSON::NestingError", message);
        }
        cx.check_native_stack()
    }
    #[inline(always)]
    fn breathe(&mut self, cx: &mut Cx) -> Result<()> {
        self.rounds += 1;
        if self.rounds.is_multiple_of(1024) { cx.safepoint() } else { Ok(()) }
    }
    fn indent(&mut self) {
        if !self.config.indent.is_empty() {
            // The program says at which depth it begins.
            let room = self.depth.saturating_mul(self.config.indent.len());
            zakuro_base::memory::grow(|| self.out.try_reserve(room).is_ok());
            for _ in 0..self.depth {
                self.out.extend_from_slice(&self.config.indent);
            }
        }
    }
    fn array(&mut self, cx: &mut Cx, a: Ref<ArrayCell>) -> Result<()> {
        self.nesting(cx)?;
        if a.is_empty() {
            self.depth -= 1;
            self.out.extend_from_slice(b"[]");
            return Ok(());
        }
        self.out.push(b'[');
        self.out.extend_from_slice(&self.config.array_nl);
        let mut i = 0;
        while let Some(v) = a.get(i) {
            if i > 0 {
                self.out.push(b',');
                self.out.extend_from_slice(&self.config.array_nl);
            }
            self.indent();
            self.value(cx, v, false)?;
            self.breathe(cx)?;
            i += 1;
        }
        self.depth -= 1;
        if !self.config.array_nl.is_empty() {
            self.out.extend_from_slice(&self.config.array_nl);
            self.indent();
        }
        self.out.push(b']');
        Ok(())
    }
    fn hash(&mut self, cx: &mut Cx, h: Ref<HashCell>) -> Result<()> {
        self.nesting(cx)?;
        if h.len() == 0 {
            self.depth -= 1;
            self.out.extend_from_slice(b"{}");
            return Ok(());
        }
        self.out.push(b'{');
        self.out.extend_from_slice(&self.config.object_nl);
        let mut first = true;
        // Keys of one kind are taken to differ in their texts.
        let kind = |k: Value| if k.is_kind(Kind::String) { 0 } else { 1 + usize::from(k.as_sym().is_none()) };
        let mut unmixed = None;
        cx.hash_each(h, |cx, k, v| {
            if self.config.allow_duplicate_key != Some(true) && unmixed.is_none_or(|other| other != usize::MAX) {
                let kind = kind(k);
                if unmixed.is_some_and(|other| other != kind) {
                    let json = cx.class_named("JSON")?;
                    let (json, refuse) = (cx.class_value(json), self.config.allow_duplicate_key == Some(false));
                    cx.call_private(json, Sym::intern("__same_keys"), &[h.as_value(), Value::bool(refuse)])?;
                    unmixed = Some(usize::MAX);
                } else {
                    unmixed = Some(kind);
                }
            }
            if !first {
                self.out.push(b',');
                self.out.extend_from_slice(&self.config.object_nl);
            }
            first = false;
            self.indent();
            self.key(cx, k)?;
            self.out.extend_from_slice(&self.config.space_before);
            self.out.push(b':');
            self.out.extend_from_slice(&self.config.space);
            self.value(cx, v, false)?;
            self.breathe(cx)?;
            Ok(true)
        })?;
        self.depth -= 1;
        if !self.config.object_nl.is_empty() {
            self.out.extend_from_slice(&self.config.object_nl);
            self.indent();
        }
        self.out.push(b'}');
        Ok(())
    }
    fn key(&mut self, cx: &mut Cx, k: Value) -> Result<()> {
        if let Some(s) = Ref::<StringCell>::from_value(k) {
            let plain = cx.class_of(k) == ids::STRING;
            let s = if plain { s } else { text_of(cx, k)? };
            return self.key_text(cx, s, false);
        }
        if let Some(s) = k.as_sym() {
            if let Ok(t) = std::str::from_utf8(s.bytes()) {
                return self.utf8(cx, t.as_bytes());
            }
            let s = cx.str_bytes(s.bytes(), s.encoding());
            return self.string(cx, Ref::of(s));
        }
        let mut k = k;
        if self.config.strict {
            if self.config.as_json.is_nil() {
                return no_key(cx, k);
            }
            let as_json = self.config.as_json;
            k = cx.call(as_json, sym::call, &[k, Value::TRUE])?;
            if !k.is_kind(Kind::String) && k.as_sym().is_none() {
                return no_key(cx, k);
            }
        }
        let s = text_of(cx, k)?;
        self.key_text(cx, s, self.config.strict)
    }
    /// A key's text. `converted`: by the as_json block, which is not asked again.
    fn key_text(&mut self, cx: &mut Cx, s: Ref<StringCell>, converted: bool) -> Result<()> {
        let v = s.as_value();
        if cx.class_of(v) != ids::STRING {
            return self.value(cx, v, converted);
        }
        if self.asks_for(cx, s, converted) {
            let as_json = self.config.as_json;
            let r = cx.call(as_json, sym::call, &[v, Value::FALSE])?;
            return match Ref::<StringCell>::from_value(r) {
                Some(s) => self.string(cx, s),
                None => no_key(cx, r),
            };
        }
        self.string(cx, s)
    }
    /// Whether a String that isn't UTF-8 is for the as_json block.
    fn asks_for(&self, cx: &Cx, s: Ref<StringCell>, converted: bool) -> bool {
        !self.config.as_json.is_nil()
            && !converted
            && (s.encoding() != string::UTF8 && !s.is_ascii() || std::str::from_utf8(s.content(&cx.heap)).is_err())
    }
    fn string(&mut self, cx: &mut Cx, s: Ref<StringCell>) -> Result<()> {
        let enc = s.encoding();
        if enc == string::UTF8 || enc == string::US_ASCII {
            if s.code_range() == string::CodeRange::Ascii || std::str::from_utf8(s.content(&cx.heap)).is_ok() {
                return self.content(cx, s);
            }
            return error(cx, s.as_value(), "source sequence is illegal/malformed utf-8".into());
        }
        if enc == string::BINARY {
            if std::str::from_utf8(s.content(&cx.heap)).is_err() {
                return refused(cx, s);
            }
            if !s.is_ascii() && cx.warns("deprecated") {
                cx.warn_category(
                    "JSON.generate: UTF-8 string passed as BINARY, this will raise an encoding error in json 3.0",
                    "deprecated",
                )?;
            }
            return self.content(cx, s);
        }
        let utf8 = crate::args::encoding_of(string::UTF8);
        match transcode_long(crate::args::encoding_of(enc), utf8, &Held::of(s), &Policy::default(), cx) {
            Ok(b) => self.utf8(cx, &b),
            Err(e) if e.kind == ConvErrKind::Stopped => Err(Exc),
            Err(_) => refused(cx, s),
        }
    }
    /// A literal of a String in valid UTF-8.
    fn content(&mut self, cx: &mut Cx, s: Ref<StringCell>) -> Result<()> {
        if s.len() > STRIDE {
            return self.utf8(cx, &Held::of(s));
        }
        self.open_literal(s.len());
        self.escaped(s.content(&cx.heap));
        self.out.push(b'"');
        Ok(())
    }
    fn open_literal(&mut self, bytes: usize) {
        let room = bytes + 2;
        if self.out.capacity() - self.out.len() < room {
            zakuro_base::memory::grow(|| self.out.try_reserve(room).is_ok());
        }
        self.out.push(b'"');
    }
    /// A literal of valid UTF-8, which must stay as it is over safepoints if it is long.
    fn utf8(&mut self, cx: &mut Cx, b: &[u8]) -> Result<()> {
        self.open_literal(b.len());
        let mut rest = b;
        while rest.len() > STRIDE {
            let end = (STRIDE - 3..=STRIDE).rev().find(|i| rest[*i] & 0xc0 != 0x80).unwrap_or(STRIDE);
            self.escaped(&rest[..end]);
            rest = &rest[end..];
            cx.safepoint()?;
        }
        self.escaped(rest);
        self.out.push(b'"');
        Ok(())
    }
    fn escaped(&mut self, b: &[u8]) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let out = &mut self.out;
        let simple = !self.config.ascii_only && !self.config.script_safe;
        let (mut from, mut at) = (0, 0);
        while at < b.len() {
            let c = b[at];
            if !SPECIAL[c as usize] && (simple || c < 0x80 && c != b'/') {
                at += 1;
                continue;
            }
            let mut width = 1;
            let escape = |out: &mut Vec<u8>, unit: u32| {
                out.extend_from_slice(b"\\u");
                for shift in [12, 8, 4, 0] {
                    out.push(HEX[(unit >> shift & 15) as usize]);
                }
            };
            let plain = &b[from..at];
            match c {
                b'"' | b'\\' => {
                    out.extend_from_slice(plain);
                    out.extend_from_slice(&[b'\\', c]);
                }
                0..0x20 => {
                    out.extend_from_slice(plain);
                    match c {
                        8 => out.extend_from_slice(b"\\b"),
                        12 => out.extend_from_slice(b"\\f"),
                        b'\n' => out.extend_from_slice(b"\\n"),
                        b'\r' => out.extend_from_slice(b"\\r"),
                        b'\t' => out.extend_from_slice(b"\\t"),
                        _ => escape(out, c as u32),
                    }
                }
                b'/' if self.config.script_safe => {
                    out.extend_from_slice(plain);
                    out.extend_from_slice(b"\\/");
                }
                0x80.. => {
                    let Some((cp, n)) = zakuro_text::encoding::utf8::decode(&b[at..]) else {
                        at += 1;
                        continue;
                    };
                    width = n;
                    if self.config.ascii_only {
                        out.extend_from_slice(plain);
                        if cp > 0xffff {
                            escape(out, 0xd800 + ((cp - 0x10000) >> 10));
                            escape(out, 0xdc00 + ((cp - 0x10000) & 0x3ff));
                        } else {
                            escape(out, cp);
                        }
                    } else if self.config.script_safe && matches!(cp, 0x2028 | 0x2029) {
                        out.extend_from_slice(plain);
                        escape(out, cp);
                    } else {
                        at += n;
                        continue;
                    }
                }
                _ => {
                    at += 1;
                    continue;
                }
            }
            at += width;
            from = at;
        }
        out.extend_from_slice(&b[from..]);
    }
}

/// Config of an options Hash that was not made a State yet.
pub fn config_of(cx: &mut Cx, v: Value) -> Result<Config> {
    Config::read(cx, v)
}
