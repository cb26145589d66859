//! Writing Marshal data.
//!
//! Invariant: the numbers of objects follow the order in which a reader meets them; results of `marshal_dump` and `_dump` are kept alive until
//! the end, so that no address stands for two objects.

use super::{EXCEPTION_NAMES, MAJOR, MINOR, is_record, members};
use zakuro_core_text::regexp::engine::regexp_of;
use num_bigint::{BigInt, Sign};
use std::collections::{HashMap, HashSet};
use zakuro_vm::vm::FastMap;
use zakuro_object::string::{BINARY, US_ASCII, UTF8};
use zakuro_text::encoding::Encoding;
use zakuro_vm::*;

struct Writer {
    out: Vec<u8>,
    symbols: FastMap<Sym, usize>,
    objects: FastMap<u64, usize>,
    /// Objects whose `_dump` gave a String the variables of which are being written.
    dumping: HashSet<u64>,
    /// Objects numbered so far (large Fixnums take a number, too).
    count: usize,
    keep: RootedVec,
    /// Names of encodings written so far: Strings, so that a second mention is a link.
    encodings: HashMap<u8, Value>,
    visited: usize,
}

/// Bytes of an object.
pub fn dump(cx: &mut Cx, v: Value, limit: i64) -> Result<Vec<u8>> {
    let mut w = Writer {
        out: vec![MAJOR, MINOR],
        symbols: FastMap::default(),
        objects: FastMap::default(),
        dumping: HashSet::new(),
        count: 0,
        keep: RootedVec::new(cx),
        encodings: HashMap::new(),
        visited: 0,
    };
    w.object(cx, v, limit)?;
    Ok(w.out)
}

impl Writer {
    fn long(&mut self, n: i64) {
        match n {
            0 => self.out.push(0),
            1..=122 => self.out.push(n as u8 + 5),
            -123..=-1 => self.out.push((n - 5) as u8),
            _ => {
                let bytes = n.to_le_bytes();
                let fill = if n < 0 { 0xff } else { 0 };
                let len = bytes.iter().rposition(|b| *b != fill).map_or(1, |i| i + 1);
                self.out.push(if n < 0 { (len as i8).wrapping_neg() as u8 } else { len as u8 });
                self.out.extend_from_slice(&bytes[..len]);
            }
        }
    }
    fn bytes(&mut self, b: &[u8]) {
        self.long(b.len() as i64);
        self.out.extend_from_slice(b);
    }
    #[inline(never)]
    fn symbol(&mut self, cx: &mut Cx, s: Sym) -> Result<()> {
        if let Some(n) = self.symbols.get(&s) {
            let n = *n as i64;
            self.out.push(b';');
            self.long(n);
            return Ok(());
        }
        let name = s.bytes();
        let encoded = !name.is_ascii() && !s.is_binary();
        if encoded {
            self.out.push(b'I');
        }
        self.out.push(b':');
        self.bytes(name);
        self.symbols.insert(s, self.symbols.len());
        if encoded {
            self.long(1);
            self.encoding(cx, s.encoding())?;
        }
        Ok(())
    }
    fn remember(&mut self, v: Value) {
        self.objects.insert(v.bits(), self.count);
        self.count += 1;
    }
    fn object(&mut self, cx: &mut Cx, v: Value, limit: i64) -> Result<()> {
        if limit == 0 {
            return too_deep(cx);
        }
        let limit = if limit > 0 { limit - 1 } else { limit };
        match v.as_sym() {
            Some(s) => self.symbol(cx, s),
            None if self.leaf(cx, v) => Ok(()),
            None => self.cell(cx, v, limit),
        }
    }
    /// Writes what has no parts, and links.
    #[inline(never)]
    fn leaf(&mut self, cx: &mut Cx, v: Value) -> bool {
        if v.is_fixnum() {
            let n = v.fix();
            if (-(1 << 30)..1 << 30).contains(&n) {
                self.out.push(b'i');
                self.long(n);
            } else {
                self.count += 1;
                self.bignum(&BigInt::from(n));
            }
        } else if let Some(n) = self.objects.get(&v.bits()) {
            let n = *n as i64;
            self.out.push(b'@');
            self.long(n);
        } else if let Some(f) = v.as_float() {
            self.remember(v);
            self.out.push(b'f');
            self.bytes(float_text(f).as_bytes());
        } else if let Some(n) = cx.as_big(v) {
            self.remember(v);
            self.bignum(&n);
        } else {
            self.out.push(match v {
                Value::NIL => b'0',
                Value::TRUE => b'T',
                Value::FALSE => b'F',
                _ => return false,
            });
        }
        true
    }
    #[inline(never)]
    fn bignum(&mut self, n: &BigInt) {
        let (sign, mut bytes) = n.to_bytes_le();
        if bytes.len() % 2 == 1 {
            bytes.push(0);
        }
        self.out.extend([b'l', if sign == Sign::Minus { b'-' } else { b'+' }]);
        self.long((bytes.len() / 2) as i64);
        self.out.extend(bytes);
    }
    fn cell(&mut self, cx: &mut Cx, v: Value, limit: i64) -> Result<()> {
        cx.check_native_stack()?;
        self.visited += 1;
        if self.visited.is_multiple_of(256) {
            cx.safepoint()?;
        }
        if self.by_user(cx, v, limit)? {
            return Ok(());
        }
        self.remember(v);
        let ivars = self.variables(cx, v);
        let encoding = self.encoding_of(v);
        let wrapped = !matches!(v.kind_of_cell(), Kind::Object | Kind::Exception | Kind::Class) || self.is_record(cx, v);
        let has = wrapped && (!ivars.is_empty() || encoding.is_some());
        if has {
            self.out.push(b'I');
        }
        self.body(cx, v, limit, &ivars)?;
        if has {
            self.ivars(cx, &ivars, encoding, limit)?;
        }
        Ok(())
    }
    /// Objects that say themselves what is written: `marshal_dump`, `_dump`.
    #[inline(never)]
    fn by_user(&mut self, cx: &mut Cx, v: Value, limit: i64) -> Result<bool> {
        if cx.responds(v, sym::marshal_dump, true)? {
            self.remember(v);
            let data = cx.call_private(v, sym::marshal_dump, &[])?;
            self.keep.push(data);
            if data.is_cell() && cx.class_of(data) == cx.class_of(v) {
                return same_class(cx, v);
            }
            let class = self.class_head(cx, v, b'U', false)?;
            self.unique(cx, class)?;
            self.object(cx, data, limit)?;
            return Ok(true);
        }
        if cx.responds(v, sym::underscore_dump, true)? {
            if self.dumping.contains(&v.bits()) {
                return recursive(cx);
            }
            let left = cx.int(limit);
            let data = cx.call_private(v, sym::underscore_dump, &[left])?;
            if !data.is_kind(Kind::String) {
                return cx.type_error("_dump() must return string");
            }
            self.user_defined(cx, v, data, limit)?;
            return Ok(true);
        }
        Ok(false)
    }
    fn is_record(&self, cx: &Cx, v: Value) -> bool {
        v.is_kind(Kind::Object) && is_record(cx, cx.class_of(v))
    }
    #[inline(never)]
    fn user_defined(&mut self, cx: &mut Cx, v: Value, data: Value, limit: i64) -> Result<()> {
        self.keep.push(data);
        // The String's variables: those of `Time` have names that no program can use, so they are all taken.
        let ivars: Vec<_> = cx.ivar_list(data).iter().collect();
        // `class_head` may run the program's `name`.
        self.keep.extend(ivars.iter().map(|(_, v)| *v));
        let encoding = self.encoding_of(data);
        let has = !ivars.is_empty() || encoding.is_some();
        if has {
            self.out.push(b'I');
        }
        let class = self.class_head(cx, v, b'u', false)?;
        self.unique(cx, class)?;
        let s: Ref<StringCell> = Ref::of(data);
        self.bytes(s.content(&cx.heap));
        if has {
            self.dumping.insert(v.bits());
            self.ivars(cx, &ivars, encoding, limit)?;
            self.dumping.remove(&v.bits());
        }
        self.remember(v);
        Ok(())
    }
    /// Instance variables that a program can see.
    #[inline(never)]
    fn variables(&mut self, cx: &mut Cx, v: Value) -> Vec<(Sym, Value)> {
        if v.is_kind(Kind::Class) {
            return Vec::new();
        }
        let mut list: Vec<_> = cx.ivar_list(v).iter().filter(|(n, _)| Cx::is_ivar_name(*n)).collect();
        // They are written behind the object's content, whose parts' `marshal_dump` may remove them.
        self.keep.extend(list.iter().map(|(_, v)| *v));
        if v.is_kind(Kind::Hash) && v.flags() & KEYWORDS != 0 {
            list.push((Sym::intern("K"), Value::TRUE));
        }
        list
    }
    #[inline(never)]
    fn encoding_of(&self, v: Value) -> Option<u8> {
        let e = match regexp_of(&v) {
            Some(d) => d.regexp.encoding().id(),
            None => Ref::<StringCell>::from_value(v)?.encoding(),
        };
        (e != BINARY).then_some(e)
    }
    #[inline(never)]
    fn ivars(&mut self, cx: &mut Cx, ivars: &[(Sym, Value)], encoding: Option<u8>, limit: i64) -> Result<()> {
        self.long((ivars.len() + encoding.is_some() as usize) as i64);
        if let Some(e) = encoding {
            self.encoding(cx, e)?;
        }
        self.pairs(cx, ivars, limit)
    }
    #[inline(never)]
    fn pairs(&mut self, cx: &mut Cx, ivars: &[(Sym, Value)], limit: i64) -> Result<()> {
        // What a program does meanwhile must not free a value.
        self.keep.extend(ivars.iter().map(|(_, v)| *v));
        for (name, value) in ivars {
            self.symbol(cx, *name)?;
            self.object(cx, *value, limit)?;
        }
        Ok(())
    }
    #[inline(never)]
    fn encoding(&mut self, cx: &mut Cx, e: u8) -> Result<()> {
        if e == US_ASCII || e == UTF8 {
            self.symbol(cx, Sym::intern("E"))?;
            self.out.push(if e == UTF8 { b'T' } else { b'F' });
            return Ok(());
        }
        self.symbol(cx, sym::encoding)?;
        let name = match self.encodings.get(&e) {
            Some(n) => *n,
            None => {
                let text = Encoding::from_id(e).map_or("ASCII-8BIT", Encoding::name);
                let n = cx.str_bytes(text.as_bytes(), BINARY);
                self.keep.push(n);
                self.encodings.insert(e, n);
                n
            }
        };
        self.object(cx, name, -1)
    }
    /// Modules that extend the object, then the type byte. Returns the class to name.
    #[inline(never)]
    fn class_head(&mut self, cx: &mut Cx, v: Value, kind: u8, check: bool) -> Result<ClassId> {
        let class = self.extended(cx, v, check)?;
        self.out.push(kind);
        Ok(class)
    }
    #[inline(never)]
    fn extended(&mut self, cx: &mut Cx, v: Value, check: bool) -> Result<ClassId> {
        let class = cx.class_of(v);
        let own = cx.dispatch_class(v);
        if own != class {
            let d = cx.class(own);
            if check && (!d.methods.is_empty() || !d.ivars.is_empty() || !d.consts.is_empty()) {
                return cx.type_error("singleton can't be dumped");
            }
            let plain = cx.ancestor_list(class);
            let modules: Vec<ClassId> =
                cx.ancestors(own).filter(|c| *c == own || cx.class(*c).kind == ClassKind::Module && !plain.contains(c)).collect();
            for (i, m) in modules.into_iter().enumerate() {
                if m == own {
                    // The class behind modules says that they are prepended.
                    if i > 0 {
                        self.out.push(b'e');
                        self.unique(cx, class)?;
                    }
                    continue;
                }
                if cx.class(m).name.is_none() {
                    let shown = cx.class_name(m);
                    return cx.type_error(format!("can't dump anonymous class {shown}"));
                }
                self.out.push(b'e');
                self.unique(cx, m)?;
            }
        }
        Ok(class)
    }
    #[inline(never)]
    fn path(&mut self, cx: &mut Cx, class: ClassId) -> Result<Sym> {
        let what = if cx.class(class).kind == ClassKind::Module { "module" } else { "class" };
        let shown = cx.class_name(class);
        if class == ids::ARGF_CLASS {
            return cx.type_error(format!("no _dump_data is defined for class {shown}"));
        }
        let name = match cx.class(class).name {
            Some(n) if !n.bytes().starts_with(b"#") => n,
            _ => return cx.type_error(format!("can't dump anonymous {what} {shown}")),
        };
        let found = match cx.const_by_name(name) {
            Some(v) => cx.class_id(v),
            None => None,
        };
        // `fatal` has no constant.
        if found != Some(class) && class != ids::FATAL {
            return cx.arg_error(format!("{shown} can't be referred to"));
        }
        Ok(name)
    }
    #[inline(never)]
    fn unique(&mut self, cx: &mut Cx, class: ClassId) -> Result<()> {
        let name = self.path(cx, class)?;
        self.symbol(cx, name)
    }
    /// Names the class when it is not the plain one of its kind.
    #[inline(never)]
    fn user_class(&mut self, cx: &mut Cx, v: Value, plain: ClassId) -> Result<()> {
        let class = self.extended(cx, v, true)?;
        if class != plain {
            self.out.push(b'C');
            self.unique(cx, class)?;
        }
        Ok(())
    }
    // Each kind has a function of its own, not inlined: a frame of the recursion holds little.
    fn body(&mut self, cx: &mut Cx, v: Value, limit: i64, ivars: &[(Sym, Value)]) -> Result<()> {
        match v.kind_of_cell() {
            Kind::Array => self.array(cx, v, limit),
            Kind::Hash => {
                self.user_class(cx, v, ids::HASH)?;
                self.hash(cx, Ref::of(v), limit)
            }
            Kind::Object if cx.is_a(v, ids::PROCESS_STATUS) => self.status(cx, v, limit),
            // What is hidden from programs would be left out, and nobody would notice. Members of a record have names without `@`, too.
            Kind::Object if !self.is_record(cx, v) && !cx.is_a(v, ids::SET) && cx.ivar_list(v).names().iter().any(|n| n.bytes().starts_with(b"__")) => {
                undumpable(cx, v)
            }
            Kind::Object => self.plain(cx, v, limit, ivars),
            Kind::Exception => self.exception(cx, v, limit, ivars),
            Kind::Class => self.module(cx, v, limit),
            Kind::String => {
                self.user_class(cx, v, ids::STRING)?;
                self.out.push(b'"');
                let s: Ref<StringCell> = Ref::of(v);
                self.bytes(s.content(&cx.heap));
                Ok(())
            }
            Kind::Range | Kind::Rational | Kind::Complex => self.pair(cx, v, limit),
            _ => match regexp_of(&v) {
                Some(d) => {
                    self.user_class(cx, v, ids::REGEXP)?;
                    self.out.push(b'/');
                    self.bytes(d.source());
                    self.out.push(d.options() as u8);
                    Ok(())
                }
                None => undumpable(cx, v),
            },
        }
    }
    /// A Process::Status: two variables that only Marshal names.
    #[inline(never)]
    fn status(&mut self, cx: &mut Cx, v: Value, limit: i64) -> Result<()> {
        let parts = super::STATUS_NAMES.map(|(shown, hidden)| (Sym::intern(shown), cx.ivar_get(v, Sym::intern(hidden))));
        let class = self.class_head(cx, v, b'o', true)?;
        self.unique(cx, class)?;
        self.long(parts.len() as i64);
        self.pairs(cx, &parts, limit)
    }
    #[inline(never)]
    fn array(&mut self, cx: &mut Cx, v: Value, limit: i64) -> Result<()> {
        self.user_class(cx, v, ids::ARRAY)?;
        self.out.push(b'[');
        let a: Ref<ArrayCell> = Ref::of(v);
        let n = a.len();
        self.long(n as i64);
        for i in 0..n {
            match a.get(i) {
                Some(item) if a.len() == n => self.object(cx, item, limit)?,
                _ => return modified(cx),
            }
        }
        Ok(())
    }
    #[inline(never)]
    fn module(&mut self, cx: &mut Cx, v: Value, limit: i64) -> Result<()> {
        let Some(class) = cx.class_id(v) else { return Ok(()) };
        let kind = cx.class(class).kind;
        if kind == ClassKind::Singleton {
            return cx.type_error("singleton class can't be dumped");
        }
        let name = self.path(cx, class)?;
        let encoding = (!name.bytes().is_ascii()).then(|| name.encoding());
        if encoding.is_some() {
            self.out.push(b'I');
        }
        self.out.push(if kind == ClassKind::Module { b'm' } else { b'c' });
        self.bytes(name.bytes());
        if encoding.is_some() { self.ivars(cx, &[], encoding, limit) } else { Ok(()) }
    }
    #[inline(never)]
    fn pair(&mut self, cx: &mut Cx, v: Value, limit: i64) -> Result<()> {
        if let Some(r) = Ref::<RangeCell>::from_value(v) {
            let class = self.class_head(cx, v, b'o', true)?;
            self.unique(cx, class)?;
            let unset = class == ids::RANGE && v.flags() & flags::FROZEN == 0;
            let exclusive = if unset { Value::NIL } else { Value::bool(r.exclusive()) };
            let parts = [(Sym::intern("excl"), exclusive), (sym::begin, r.low()), (sym::end, r.high())];
            self.long(3);
            return self.pairs(cx, &parts, limit);
        }
        let parts = PairCell::from_value(v, v.kind_of_cell()).unwrap_or((Value::NIL, Value::NIL));
        let class = self.class_head(cx, v, b'U', false)?;
        self.unique(cx, class)?;
        let pair = cx.array(&[parts.0, parts.1]);
        self.keep.push(pair);
        self.object(cx, pair, limit)
    }
    #[inline(never)]
    fn exception(&mut self, cx: &mut Cx, v: Value, limit: i64, ivars: &[(Sym, Value)]) -> Result<()> {
        let class = self.class_head(cx, v, b'o', true)?;
        self.unique(cx, class)?;
        let all = self.exception_parts(cx, v, ivars)?;
        self.long(all.len() as i64);
        self.pairs(cx, &all, limit)
    }
    #[inline(never)]
    fn plain(&mut self, cx: &mut Cx, v: Value, limit: i64, ivars: &[(Sym, Value)]) -> Result<()> {
        let class = cx.class_of(v);
        if is_record(cx, class)
            && let Some(names) = members(cx, class)
        {
            let class = self.class_head(cx, v, b'S', true)?;
            self.unique(cx, class)?;
            self.long(names.len() as i64);
            let parts: Vec<(Sym, Value)> = names.into_iter().map(|n| (n, cx.ivar_get(v, n))).collect();
            return self.pairs(cx, &parts, limit);
        }
        let class = self.class_head(cx, v, b'o', true)?;
        self.unique(cx, class)?;
        if cx.inherits(class, ids::SET) {
            return self.set(cx, v, limit, ivars);
        }
        self.long(ivars.len() as i64);
        self.pairs(cx, ivars, limit)?;
        self.still_has(cx, v, ivars.len())
    }
    /// Methods that dump an object's values may have changed itself. (A function of its own: frames of what recurses are small.)
    #[inline(never)]
    fn still_has(&mut self, cx: &mut Cx, v: Value, variables: usize) -> Result<()> {
        let change = match self.variables(cx, v).len() {
            n if n > variables => "added",
            n if n < variables => "removed",
            _ => return Ok(()),
        };
        let class = cx.class_name_of(v);
        cx.raise(ids::RUNTIME_ERROR, format!("instance variable {change} on {class} instance"))
    }
    #[inline(never)]
    fn set(&mut self, cx: &mut Cx, v: Value, limit: i64, ivars: &[(Sym, Value)]) -> Result<()> {
        // As the Set that was written in Ruby: one variable, a Hash.
        let h = cx.new_hash();
        let items = cx.ivar_get(v, sym::set_items);
        if let Some(from) = Ref::<HashCell>::from_value(items) {
            if from.by_identity() {
                HashCell::change(h, &mut cx.heap, |t| t.by_identity = true);
            }
            for (k, _) in cx.hash_pairs(from) {
                cx.hash_set(h, k, Value::TRUE)?;
            }
        }
        HashCell::set_default(h, Value::FALSE, false);
        let mut all = vec![(Sym::intern("@hash"), h.as_value())];
        all.extend_from_slice(ivars);
        self.long(all.len() as i64);
        self.pairs(cx, &all, limit)
    }
    #[inline(never)]
    fn exception_parts(&mut self, cx: &mut Cx, v: Value, ivars: &[(Sym, Value)]) -> Result<Vec<(Sym, Value)>> {
        let mut all = Vec::new();
        // Whose method, variable or object it was stays here: it could be one that can't be dumped.
        let tells_receiver = cx.is_a(v, ids::KEY_ERROR);
        let thrown = cx.is_a(v, ids::UNCAUGHT_THROW_ERROR);
        for (hidden, name) in EXCEPTION_NAMES {
            if *name == "receiver" && !tells_receiver {
                continue;
            }
            let hidden = Sym::intern(hidden);
            let value = match *name {
                "bt" if !cx.exception_backtrace(v).is_nil() => cx.call(v, sym::backtrace, &[])?,
                _ => cx.ivar_get(v, hidden),
            };
            if !value.is_nil() || matches!(*name, "mesg" | "bt") || (thrown && matches!(*name, "tag" | "value")) {
                all.push((Sym::intern(name), value));
            }
            self.keep.push(value);
        }
        all.extend_from_slice(ivars);
        Ok(all)
    }
    #[inline(never)]
    fn hash(&mut self, cx: &mut Cx, h: Ref<HashCell>, limit: i64) -> Result<()> {
        if h.default_is_proc() {
            return cx.type_error("can't dump hash with default proc");
        }
        if h.by_identity() {
            self.out.push(b'C');
            self.symbol(cx, Sym::intern("Hash"))?;
        }
        let default = h.default;
        self.out.push(if default.is_nil() { b'{' } else { b'}' });
        let pairs = cx.hash_pairs(h);
        self.keep.extend(pairs.iter().flat_map(|(k, v)| [k, v]));
        self.long(pairs.len() as i64);
        for (k, v) in pairs {
            self.object(cx, k, limit)?;
            self.object(cx, v, limit)?;
        }
        if default.is_nil() { Ok(()) } else { self.object(cx, default, limit) }
    }
}

#[cold]
#[inline(never)]
fn modified(cx: &mut Cx) -> Result<()> {
    cx.raise(ids::RUNTIME_ERROR, "array modified during dump")
}

/// The object would be asked what to write for ever.
#[cold]
#[inline(never)]
fn same_class(cx: &mut Cx, v: Value) -> Result<bool> {
    let class = cx.class_of(v);
    let name = cx.class_name(class);
    cx.raise(ids::RUNTIME_ERROR, format!("{name}#marshal_dump returned same class instance"))
}

#[cold]
#[inline(never)]
fn recursive(cx: &mut Cx) -> Result<bool> {
    cx.raise(ids::RUNTIME_ERROR, "can't dump recursive object using _dump()")
}

#[cold]
#[inline(never)]
fn too_deep(cx: &mut Cx) -> Result<()> {
    cx.arg_error("exceed depth limit")
}

#[cold]
#[inline(never)]
fn undumpable(cx: &mut Cx, v: Value) -> Result<()> {
    let class = cx.class_of(v);
    let name = cx.class_name(class);
    if cx.is_a(v, ids::IO) || cx.is_a(v, ids::MATCH_DATA) {
        return cx.type_error(format!("can't dump {name}"));
    }
    cx.type_error(format!("no _dump_data is defined for class {name}"))
}

/// Shortest text that reads back as the same number.
fn float_text(f: f64) -> String {
    if f.is_nan() {
        return "nan".into();
    }
    if f.is_infinite() {
        return if f > 0.0 { "inf" } else { "-inf" }.into();
    }
    if f == 0.0 {
        return if f.is_sign_negative() { "-0" } else { "0" }.into();
    }
    // The shortest digits, and where the point stands before them.
    let shown = zakuro_text::float::float_to_s(f.abs());
    let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut digits = String::with_capacity(24);
    digits.push_str(whole);
    digits.push_str(part);
    let zeros = digits.bytes().take_while(|b| *b == b'0').count();
    let point = exponent.parse::<i32>().unwrap_or(0) + whole.len() as i32 - zeros as i32;
    let digits = digits.trim_matches('0');
    let len = digits.len();
    let mut out = String::with_capacity(32);
    if f < 0.0 {
        out.push('-');
    }
    if point < -3 || point > len as i32 {
        let (first, rest) = digits.split_at(1);
        out.push_str(first);
        if !rest.is_empty() {
            out.push('.');
            out.push_str(rest);
        }
        out.push('e');
        out.push_str(&(point - 1).to_string());
    } else if point > 0 {
        let (whole, part) = digits.split_at(point as usize);
        out.push_str(whole);
        if !part.is_empty() {
            out.push('.');
            out.push_str(part);
        }
    } else {
        out.push_str("0.");
        (0..-point).for_each(|_| out.push('0'));
        out.push_str(digits);
    }
    out
}
