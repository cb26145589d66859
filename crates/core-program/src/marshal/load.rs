//! Reading Marshal data.
//!
//! The bytes may come from anybody: lengths are believed only as far as data follows, nesting is bounded by the native stack.
//! Invariant: `objects` has the numbers that the writer gave. Rejected: patching the class of an object after it was made (`C`, `e`): what
//! comes before an object is passed down to where it is made.

use super::{EXCEPTION_NAMES, MAJOR, MINOR, is_record, members};
use zakuro_core_text::regexp::engine::RegexpData;
use zakuro_core_text::regexp::make;
use num_bigint::{BigInt, Sign};
use std::collections::{HashMap, HashSet};
use zakuro_object::string::{BINARY, US_ASCII, UTF8};
use zakuro_text::encoding::Encoding;
use zakuro_text::regexp::RegexFlags;
use zakuro_vm::*;

/// Where the bytes come from.
pub enum Source {
    /// A frozen String and the position in it.
    Str { string: Ref<StringCell>, at: usize },
    /// An object with `getbyte` and `read`.
    Io(Value),
}

impl Source {
    pub fn of_str(cx: &mut Cx, s: Ref<StringCell>) -> Source {
        Source::Str { string: zakuro_core_text::regexp::engine::frozen_copy(cx, s), at: 0 }
    }
    #[inline(never)]
    fn byte(&mut self, cx: &mut Cx) -> Result<u8> {
        match self {
            Source::Str { string, at } => match string.content(&cx.heap).get(*at) {
                Some(b) => {
                    *at += 1;
                    Ok(*b)
                }
                None => too_short(cx),
            },
            Source::Io(io) => {
                let b = cx.call(*io, Sym::intern("getbyte"), &[])?;
                if b.is_nil() {
                    return cx.raise(ids::EOF_ERROR, "end of file reached");
                }
                Ok(cx.to_i64(b)? as u8)
            }
        }
    }
    /// The next bytes as a String, from where they lie: large ones are not copied twice. None where `take` has to read them, or to complain.
    fn string(&mut self, cx: &Cx, shape: u32, n: usize) -> Option<Value> {
        let Source::Str { string, at } = self else { return None };
        let end = at.checked_add(n)?;
        let v = StringCell::make(&cx.heap, shape, string.content(&cx.heap).get(*at..end)?, BINARY).as_value();
        *at = end;
        Some(v)
    }
    fn take(&mut self, cx: &mut Cx, n: usize) -> Result<Vec<u8>> {
        match self {
            Source::Str { string, at } => match at.checked_add(n).and_then(|end| string.content(&cx.heap).get(*at..end)) {
                Some(b) => {
                    *at += n;
                    Ok(b.to_vec())
                }
                None => too_short(cx),
            },
            Source::Io(_) if n == 0 => Ok(Vec::new()),
            Source::Io(io) => {
                let s = cx.call(*io, sym::read, &[Value::fixnum(n as i64)])?;
                match Ref::<StringCell>::from_value(s) {
                    Some(s) if s.len() >= n => Ok(s.content(&cx.heap)[..n].to_vec()),
                    _ => too_short(cx),
                }
            }
        }
    }
}

fn too_short<T>(cx: &mut Cx) -> Result<T> {
    cx.arg_error("marshal data too short")
}

#[cold]
#[inline(never)]
fn unknown(cx: &mut Cx, kind: u8) -> Result<Value> {
    cx.arg_error(format!("dump format error(0x{kind:x})"))
}

fn bad_format<T>(cx: &mut Cx) -> Result<T> {
    cx.arg_error("dump format error")
}

struct Reader {
    source: Source,
    filter: Value,
    freeze: bool,
    symbols: Vec<Sym>,
    objects: RootedVec,
    /// Numbers of objects that are not complete yet: the filter sees them later. Kept only when there is a filter.
    partial: HashSet<usize>,
    /// Frozen Strings so far, to share equal ones.
    strings: HashMap<(Vec<u8>, u8), Value>,
    visited: usize,
}

/// What was read before an object and belongs to it.
#[derive(Default)]
struct Before {
    class: Option<ClassId>,
    by_identity: bool,
    modules: Vec<ClassId>,
    /// What stood before the object's class: modules to prepend.
    prepended: Vec<ClassId>,
    /// That class.
    prepended_to: Option<ClassId>,
    /// Instance variables follow, unless the object takes them itself.
    ivars: bool,
}

/// Reads one object.
pub fn load(cx: &mut Cx, source: Source, filter: Value, freeze: bool) -> Result<Value> {
    let mut r = Reader {
        source,
        filter,
        freeze,
        symbols: Vec::new(),
        objects: RootedVec::new(cx),
        partial: HashSet::new(),
        strings: HashMap::new(),
        visited: 0,
    };
    let (major, minor) = (r.source.byte(cx)?, r.source.byte(cx)?);
    if major != MAJOR || minor > MINOR {
        return cx.type_error(format!(
            "incompatible marshal file format (can't be read)\n\tformat version {MAJOR}.{MINOR} required; {major}.{minor} given"
        ));
    }
    r.object(cx)
}

impl Reader {
    #[inline(never)]
    fn long(&mut self, cx: &mut Cx) -> Result<i64> {
        let c = self.source.byte(cx)? as i8;
        Ok(match c {
            0 => 0,
            5..=127 => i64::from(c) - 5,
            -128..=-5 => i64::from(c) + 5,
            1..=4 => {
                let b = self.source.take(cx, c as usize)?;
                b.iter().rev().fold(0, |n, b| n << 8 | i64::from(*b))
            }
            _ => {
                let b = self.source.take(cx, -c as usize)?;
                b.iter().rev().fold(-1, |n, b| n << 8 | i64::from(*b))
            }
        })
    }
    fn length(&mut self, cx: &mut Cx) -> Result<usize> {
        let n = self.long(cx)?;
        usize::try_from(n).or_else(|_| bad_format(cx))
    }
    fn bytes(&mut self, cx: &mut Cx) -> Result<Vec<u8>> {
        let n = self.length(cx)?;
        self.source.take(cx, n)
    }
    #[inline(never)]
    fn symbol(&mut self, cx: &mut Cx) -> Result<Sym> {
        let mut ivars = false;
        loop {
            match self.source.byte(cx)? {
                b'I' => ivars = true,
                b':' => return self.new_symbol(cx, ivars),
                b';' => return self.symbol_link(cx),
                b => return cx.arg_error(format!("dump format error for symbol(0x{b:x})")),
            }
        }
    }
    #[inline(never)]
    fn symbol_link(&mut self, cx: &mut Cx) -> Result<Sym> {
        let n = self.long(cx)?;
        match usize::try_from(n).ok().and_then(|n| self.symbols.get(n)) {
            Some(s) => Ok(*s),
            None => cx.arg_error("bad symbol"),
        }
    }
    /// What stands behind a name or a pattern: its encoding, if that is said, and what `other` gets.
    fn said_encoding(&mut self, cx: &mut Cx, mut other: impl FnMut(&mut Cx, Sym, Value)) -> Result<Option<u8>> {
        let mut encoding = None;
        for _ in 0..self.length(cx)? {
            let key = self.symbol(cx)?;
            let value = self.object(cx)?;
            match encoding_from(&cx.heap, key, value) {
                Some(e) => encoding = Some(e),
                None => other(cx, key, value),
            }
        }
        Ok(encoding)
    }
    #[inline(never)]
    fn new_symbol(&mut self, cx: &mut Cx, ivars: bool) -> Result<Sym> {
        let name = self.bytes(cx)?;
        let at = self.symbols.len();
        // What is said of it may name it already.
        self.symbols.push(Sym::intern_bytes(&name));
        let said = if ivars { self.said_encoding(cx, |_, _, _| {})? } else { None };
        let encoding = said.unwrap_or(BINARY);
        if let Some(e) = Encoding::from_id(encoding).filter(|e| !e.is_ascii_compatible() && !e.is_dummy())
            && let Some(broken) = e.chars(&name).find(|c| e.char_len(c) != Ok(c.len()))
        {
            let shown: String = broken.iter().map(|b| format!("\\x{b:02X}")).collect();
            return cx.arg_error(format!("invalid byte sequence in {}: \"{shown}\"", e.name()));
        }
        let s = if name.is_ascii() || encoding == UTF8 {
            Sym::intern_bytes(&name)
        } else {
            // The symbol table knows UTF-8 and bytes; `to_sym` of a String decides.
            let s = cx.str_bytes(&name, encoding);
            let v = cx.call(s, sym::to_sym, &[])?;
            cx.to_sym(v)?
        };
        self.symbols[at] = s;
        Ok(s)
    }
    /// Gives an object its number.
    #[inline(never)]
    fn enter(&mut self, v: Value) -> usize {
        let n = self.objects.len();
        self.objects.push(v);
        if !self.filter.is_nil() {
            self.partial.insert(n);
        }
        n
    }
    fn class_of_path(&mut self, cx: &mut Cx, path: Sym) -> Result<Value> {
        let text = path.bytes();
        let mut at = cx.class_value(ids::OBJECT);
        let mut done = 0;
        loop {
            let end = text[done..].windows(2).position(|w| w == b"::").map_or(text.len(), |n| done + n);
            let next = (end + 2).min(text.len());
            let part = Sym::intern_in(&text[done..end], path.encoding());
            let found = match cx.class_id(at) {
                Some(c) if end > done => cx.const_lookup_in(c, part, c == ids::OBJECT)?,
                _ => None,
            };
            let shown = |end: usize| String::from_utf8_lossy(&text[..end]).into_owned();
            match found {
                Some((_, v)) => at = v,
                None if text == b"fatal" => return Ok(cx.class_value(ids::FATAL)),
                None => return cx.arg_error(format!("undefined class/module {}", shown(next))),
            }
            if cx.class_id(at).is_none() {
                return cx.type_error(format!("{} does not refer to class/module", shown(next)));
            }
            if end == text.len() {
                return Ok(at);
            }
            done = next;
        }
    }
    /// A class by the name that follows.
    #[inline(never)]
    fn class(&mut self, cx: &mut Cx) -> Result<ClassId> {
        let name = self.symbol(cx)?;
        self.class_named(cx, name)
    }
    fn class_named(&mut self, cx: &mut Cx, name: Sym) -> Result<ClassId> {
        let v = self.class_of_path(cx, name)?;
        match cx.class_id(v) {
            Some(c) if cx.class(c).kind == ClassKind::Class => Ok(c),
            _ => cx.arg_error(format!("{} does not refer to class", name.name())),
        }
    }
    /// An object; what stands before its type byte is collected first.
    fn object(&mut self, cx: &mut Cx) -> Result<Value> {
        cx.check_native_stack()?;
        self.visited += 1;
        if self.visited.is_multiple_of(256) {
            cx.safepoint()?;
        }
        match self.source.byte(cx)? {
            kind @ (b'I' | b'e' | b'C') => self.prefixed(cx, kind),
            kind => self.of_kind(cx, kind, &mut Before::default()),
        }
    }
    #[inline(never)]
    fn prefixed(&mut self, cx: &mut Cx, first: u8) -> Result<Value> {
        let mut before = Before::default();
        let mut kind = first;
        loop {
            match kind {
                b'I' => before.ivars = true,
                b'e' => {
                    let m = self.module_to_extend(cx)?;
                    if cx.class(m).kind == ClassKind::Module {
                        before.modules.push(m);
                    } else {
                        before.prepended.append(&mut before.modules);
                        before.prepended_to = Some(m);
                    }
                }
                b'C' => {
                    let c = self.class(cx)?;
                    if c == ids::HASH { before.by_identity = true } else { before.class = Some(c) }
                }
                _ => return self.of_kind(cx, kind, &mut before),
            }
            kind = self.source.byte(cx)?;
        }
    }
    #[inline(never)]
    fn module_to_extend(&mut self, cx: &mut Cx) -> Result<ClassId> {
        let name = self.symbol(cx)?;
        let m = self.class_of_path(cx, name)?;
        match cx.class_id(m) {
            Some(c) => Ok(c),
            None => cx.arg_error(format!("{} does not refer to module", name.name())),
        }
    }
    fn of_kind(&mut self, cx: &mut Cx, kind: u8, before: &mut Before) -> Result<Value> {
        let simple = match kind {
            b'0' => Value::NIL,
            b'T' => Value::TRUE,
            b'F' => Value::FALSE,
            b'i' => Value::fixnum(self.long(cx)?),
            b':' => Value::sym(self.new_symbol(cx, before.ivars)?),
            b';' => return Ok(Value::sym(self.symbol_link(cx)?)),
            b'@' if before.ivars => {
                let v = self.link(cx)?;
                cx.check_frozen(v)?;
                self.ivars(cx, v)?;
                return Ok(v);
            }
            b'@' => return self.link(cx),
            _ => return self.composite(cx, kind, before),
        };
        self.filtered(cx, simple)
    }
    #[inline(never)]
    fn link(&mut self, cx: &mut Cx) -> Result<Value> {
        let n = self.long(cx)?;
        let Some(n) = usize::try_from(n).ok().filter(|n| *n < self.objects.len()) else {
            return cx.arg_error("dump format error (unlinked)");
        };
        let v = self.objects[n];
        if v.is_undef() {
            return cx.arg_error("dump format error (bad link)");
        }
        if self.partial.contains(&n) { Ok(v) } else { self.filtered(cx, v) }
    }
    #[inline(never)]
    fn filtered(&mut self, cx: &mut Cx, v: Value) -> Result<Value> {
        if self.filter.is_nil() { Ok(v) } else { cx.call(self.filter, sym::call, &[v]) }
    }
    /// Shape of a new object: the user's class when it is one of `plain`.
    #[inline(never)]
    fn shape(&mut self, cx: &mut Cx, class: Option<ClassId>, plain: ClassId) -> Result<u32> {
        match class {
            None => Ok(plain.0),
            // A copy of String (`String.clone`) makes Strings, but does not inherit from it.
            Some(c) if cx.class(c).alloc == cx.class(plain).alloc => Ok(cx.root_shape(c)),
            Some(_) => cx.arg_error("dump format error (user class)"),
        }
    }
    // Each kind has a function of its own, not inlined: a frame of the recursion holds little.
    #[inline(never)]
    fn composite(&mut self, cx: &mut Cx, kind: u8, before: &mut Before) -> Result<Value> {
        let n = match kind {
            b'f' | b'l' | b'"' => self.leaf(cx, kind, before)?,
            b'/' => self.regexp(cx, before)?,
            b'[' => self.array(cx, before)?,
            b'{' | b'}' => self.hash(cx, kind, before)?,
            b'S' => self.record(cx)?,
            b'o' => self.plain(cx)?,
            b'u' => return self.user_defined(cx, before),
            b'U' => return self.user_marshal(cx, before),
            b'd' => return self.wrapped_pointer(cx, before),
            b'c' | b'm' | b'M' => self.module(cx, kind, before)?,
            _ => return unknown(cx, kind),
        };
        self.finish(cx, n, before)
    }
    #[inline(never)]
    fn finish(&mut self, cx: &mut Cx, n: usize, before: &Before) -> Result<Value> {
        if before.ivars {
            self.ivars(cx, self.objects[n])?;
        }
        self.extend(cx, n, before)?;
        self.leave(cx, n)
    }
    #[inline(never)]
    fn leaf(&mut self, cx: &mut Cx, kind: u8, before: &Before) -> Result<usize> {
        Ok(match kind {
            b'f' => {
                let text = self.bytes(cx)?;
                let v = cx.float(super::floats::read(&text));
                self.enter(v)
            }
            b'l' => {
                let sign = if self.source.byte(cx)? == b'-' { Sign::Minus } else { Sign::Plus };
                let words = self.length(cx)?;
                let Some(len) = words.checked_mul(2) else { return too_short(cx) };
                let b = self.source.take(cx, len)?;
                let word = b.iter().rev().try_fold(0u64, |n, b| n.checked_mul(256).map(|n| n | u64::from(*b)));
                let small = word.and_then(|n| i64::try_from(n).ok());
                let v = match small {
                    Some(n) => cx.int(if sign == Sign::Minus { -n } else { n }),
                    None => cx.big(BigInt::from_bytes_le(sign, &b)),
                };
                self.enter(v)
            }
            _ => {
                let shape = self.shape(cx, before.class, ids::STRING)?;
                let len = self.length(cx)?;
                let v = match self.source.string(cx, shape, len) {
                    Some(v) => v,
                    None => {
                        let b = self.source.take(cx, len)?;
                        StringCell::make(&cx.heap, shape, &b, BINARY).as_value()
                    }
                };
                self.enter(v)
            }
        })
    }
    #[inline(never)]
    fn array(&mut self, cx: &mut Cx, before: &Before) -> Result<usize> {
        let shape = self.shape(cx, before.class, ids::ARRAY)?;
        let length = self.length(cx)?;
        let a = ArrayCell::for_len(&cx.heap, shape, length);
        let n = self.enter(a.as_value());
        for _ in 0..length {
            let v = self.object(cx)?;
            ArrayCell::push(a, &mut cx.heap, v);
        }
        Ok(n)
    }
    #[inline(never)]
    fn hash(&mut self, cx: &mut Cx, kind: u8, before: &Before) -> Result<usize> {
        let shape = self.shape(cx, before.class, ids::HASH)?;
        let h = HashCell::make(&cx.heap, shape);
        if before.by_identity {
            HashCell::change(h, &mut cx.heap, |t| t.by_identity = true);
        }
        let n = self.enter(h.as_value());
        for _ in 0..self.length(cx)? {
            let key = self.object(cx)?;
            let value = self.object(cx)?;
            cx.hash_set(h, key, value)?;
        }
        if kind == b'}' {
            let default = self.object(cx)?;
            HashCell::set_default(h, default, false);
        }
        Ok(n)
    }
    #[inline(never)]
    fn module(&mut self, cx: &mut Cx, kind: u8, before: &mut Before) -> Result<usize> {
        let path = self.bytes(cx)?;
        let mut variables = false;
        let said = if std::mem::take(&mut before.ivars) { self.said_encoding(cx, |_, _, _| variables = true)? } else { None };
        let name = said.map_or_else(|| Sym::intern_bytes(&path), |e| Sym::intern_in(&path, e));
        let v = self.class_of_path(cx, name)?;
        if variables {
            class_variable(cx, v)?;
        }
        let is_class = cx.class_id(v).is_some_and(|c| cx.class(c).kind == ClassKind::Class);
        if kind != b'M' && is_class != (kind == b'c') {
            let what = if kind == b'c' { "class" } else { "module" };
            return cx.arg_error(format!("{} does not refer to {what}", String::from_utf8_lossy(&path)));
        }
        Ok(self.enter(v))
    }
    #[inline(never)]
    fn extend(&mut self, cx: &mut Cx, n: usize, before: &Before) -> Result<()> {
        if let Some(class) = before.prepended_to {
            self.prepend(cx, n, class, &before.prepended)?;
        }
        if before.modules.is_empty() {
            return Ok(());
        }
        let singleton = cx.singleton_class(self.objects[n])?;
        for m in before.modules.iter().rev() {
            cx.include_module(singleton, *m)?;
        }
        Ok(())
    }
    #[inline(never)]
    fn prepend(&mut self, cx: &mut Cx, n: usize, class: ClassId, modules: &[ClassId]) -> Result<()> {
        let v = self.objects[n];
        let real = cx.class_of(v);
        if real != class {
            let (named, real) = (cx.class_name(class), cx.class_name(real));
            return cx.arg_error(format!("prepended class {named} differs from class {real}"));
        }
        let singleton = cx.singleton_class(v)?;
        for m in modules.iter().rev() {
            cx.prepend_module(singleton, *m)?;
        }
        Ok(())
    }
    /// The object is complete.
    fn leave(&mut self, cx: &mut Cx, n: usize) -> Result<Value> {
        if !self.partial.is_empty() {
            self.partial.remove(&n);
        }
        self.done(cx, n)
    }
    /// As `leave`, but links to it don't go through the filter again (objects that made themselves).
    #[inline(never)]
    fn done(&mut self, cx: &mut Cx, n: usize) -> Result<Value> {
        let mut v = self.objects[n];
        if self.freeze && v.is_cell() && !v.is_kind(Kind::Class) && v.flags() & flags::SHARED == 0 {
            if v.flags() & flags::HAS_IVARS == 0
                && let Some(s) = Ref::<StringCell>::from_value(v)
                && cx.dispatch_class(v) == ids::STRING
            {
                v = *self.strings.entry((s.to_vec(), s.encoding())).or_insert(v);
                self.objects[n] = v;
            }
            v.set_flags(flags::FROZEN);
        }
        self.filtered(cx, v)
    }
    #[inline(never)]
    fn regexp(&mut self, cx: &mut Cx, before: &mut Before) -> Result<usize> {
        let shape = self.shape(cx, before.class, ids::REGEXP)?;
        let v = DataCell::make(&cx.heap, shape, None).as_value();
        // What its variables hold can't be the Regexp itself.
        let n = self.enter(Value::UNDEF);
        let mut source = self.bytes(cx)?;
        let flags = RegexFlags::from_bits(u32::from(self.source.byte(cx)?));
        let set = |cx: &mut Cx, key, value| cx.ivar_set_raw(v, key, value);
        let encoding = if std::mem::take(&mut before.ivars) { self.said_encoding(cx, set)? } else { None };
        // Ruby 1.8 wrote no encoding, and had fewer escapes.
        if encoding.is_none() {
            source = without_later_escapes(&source);
        }
        let enc = Encoding::from_id(encoding.unwrap_or(BINARY)).unwrap_or(Encoding::BINARY);
        let regexp = make::compile(cx, &source, flags, enc)?;
        let data = RegexpData::new(cx, regexp);
        cx.data_init(v, data)?;
        self.objects[n] = v;
        Ok(n)
    }
    #[inline(never)]
    fn ivars(&mut self, cx: &mut Cx, v: Value) -> Result<()> {
        for _ in 0..self.length(cx)? {
            let key = self.symbol(cx)?;
            let value = self.object(cx)?;
            match (encoding_from(&cx.heap, key, value), Ref::<StringCell>::from_value(v)) {
                (Some(e), Some(s)) => s.set_encoding(e),
                (Some(_), None) => {}
                (None, _) if key == Sym::intern("K") && v.is_kind(Kind::Hash) => v.set_flags(KEYWORDS),
                _ if v.is_kind(Kind::Class) => return class_variable(cx, v),
                _ => cx.ivar_set_raw(v, key, value),
            }
        }
        Ok(())
    }
    #[inline(never)]
    fn record(&mut self, cx: &mut Cx) -> Result<usize> {
        // The encoding of the class's name comes after it.
        let n = self.enter(Value::UNDEF);
        let class = self.class(cx)?;
        let names = match members(cx, class).filter(|_| is_record(cx, class)) {
            Some(names) => names,
            None => {
                let name = cx.class_name(class);
                return cx.type_error(format!("class {name} not a struct"));
            }
        };
        let v = cx.new_object(class);
        for name in &names {
            cx.ivar_set_raw(v, *name, Value::NIL);
        }
        self.objects[n] = v;
        let given = self.length(cx)?;
        let class_name = cx.class_name(class);
        if given != names.len() {
            return cx.type_error(format!("struct {class_name} not compatible (struct size differs)"));
        }
        for name in names {
            let key = self.symbol(cx)?;
            if key != name {
                return cx.type_error(format!("struct {class_name} not compatible (:{} for :{})", key.name(), name.name()));
            }
            let value = self.object(cx)?;
            cx.ivar_set_raw(v, name, value);
        }
        if cx.inherits(class, ids::DATA) {
            v.set_flags(flags::FROZEN);
        }
        Ok(n)
    }
    #[inline(never)]
    fn plain(&mut self, cx: &mut Cx) -> Result<usize> {
        // As of a Struct.
        let n = self.enter(Value::UNDEF);
        let class = self.class(cx)?;
        if cx.inherits(class, ids::RANGE) {
            let shape = cx.root_shape(class);
            let r = RangeCell::make_open(&cx.heap, shape, Value::NIL, Value::NIL, false);
            return self.range(cx, n, r);
        }
        if class == ids::COMPLEX || class == ids::RATIONAL {
            return self.number_of_parts(cx, n, class);
        }
        let kind = match cx.class(class).alloc {
            Alloc::Object => Kind::Object,
            Alloc::Exception => Kind::Exception,
            Alloc::None if cx.inherits(class, ids::PROCESS_STATUS) => Kind::Object,
            _ => return bad_format(cx),
        };
        let v = cx.new_object_of_kind(class, kind);
        self.objects[n] = v;
        if kind == Kind::Exception {
            // Its backtrace is text alone.
            cx.ivar_set_raw(v, sym::exc_locations, Value::NIL);
        }
        let set = cx.inherits(class, ids::SET);
        let status = cx.inherits(class, ids::PROCESS_STATUS);
        for _ in 0..self.length(cx)? {
            let key = self.symbol(cx)?;
            let value = self.object(cx)?;
            let hidden = EXCEPTION_NAMES.iter().find(|(_, name)| key.bytes() == name.as_bytes());
            match hidden {
                Some((hidden, _)) if kind == Kind::Exception => cx.ivar_set_raw(v, Sym::intern(hidden), value),
                _ if status && let Some((_, own)) = super::STATUS_NAMES.iter().find(|(shown, _)| key.bytes() == shown.as_bytes()) => {
                    if !value.is_fixnum() {
                        return bad_format(cx);
                    }
                    cx.ivar_set_raw(v, Sym::intern(own), value);
                }
                _ if set && key.bytes() == b"@hash" => {
                    let Some(h) = Ref::<HashCell>::from_value(value) else { return bad_format(cx) };
                    HashCell::set_default(h, Value::NIL, false);
                    cx.ivar_set_raw(v, sym::set_items, value);
                }
                _ => cx.ivar_set_raw(v, key, value),
            }
        }
        if kind == Kind::Exception {
            let cause = cx.ivar_get(v, Sym::intern("__cause"));
            if crate::kernel::raise::is_circular(cx, v, cause) {
                return cx.arg_error("circular causes");
            }
        }
        Ok(n)
    }
    /// A Complex or Rational as Ruby 1.8 wrote it: an object with two variables.
    #[inline(never)]
    fn number_of_parts(&mut self, cx: &mut Cx, n: usize, class: ClassId) -> Result<usize> {
        let (names, make) = match class {
            ids::COMPLEX => (["@real", "@image"], "Complex"),
            _ => (["@numerator", "@denominator"], "Rational"),
        };
        let mut parts = [None, None];
        for _ in 0..self.length(cx)? {
            let key = self.symbol(cx)?;
            let value = self.object(cx)?;
            if let Some(at) = names.iter().position(|name| key.bytes() == name.as_bytes()) {
                parts[at] = Some(value);
            }
        }
        let [Some(a), Some(b)] = parts else { return bad_format(cx) };
        let kernel = cx.class_value(ids::KERNEL);
        self.objects[n] = cx.call(kernel, Sym::intern(make), &[a, b])?;
        Ok(n)
    }
    #[inline(never)]
    fn range(&mut self, cx: &mut Cx, n: usize, r: Ref<RangeCell>) -> Result<usize> {
        self.objects[n] = r.as_value();
        let (mut low, mut high, mut exclusive) = (None, None, None);
        for _ in 0..self.length(cx)? {
            let key = self.symbol(cx)?;
            let value = self.object(cx)?;
            match key.bytes() {
                b"begin" => low = Some(value),
                b"end" => high = Some(value),
                b"excl" => exclusive = Some(value),
                _ => cx.ivar_set_raw(r.as_value(), key, value),
            }
        }
        match (low, high, exclusive) {
            // One that was never initialized can still be.
            (Some(Value::NIL), Some(Value::NIL), Some(Value::NIL)) => Ok(n),
            (Some(low), Some(high), Some(e)) => {
                if cx.call(low, sym::cmp, &[high])?.is_nil() && !low.is_nil() && !high.is_nil() {
                    return cx.arg_error("bad value for range");
                }
                r.init(low, high, e.truthy());
                r.as_value().set_flags(flags::FROZEN);
                Ok(n)
            }
            _ => cx.arg_error("bad value for range"),
        }
    }
    /// `_load`: the class makes the object from a String.
    #[inline(never)]
    fn user_defined(&mut self, cx: &mut Cx, before: &Before) -> Result<Value> {
        let name = self.symbol(cx)?;
        // What CRuby makes messages of NameErrors with: no constant leads to it. Here it is its text.
        let is_message = name.bytes() == b"NameError::message";
        let class = if is_message { ids::STRING } else { self.class_named(cx, name)? };
        let object = cx.class_value(class);
        let b = self.bytes(cx)?;
        let data = cx.str_bytes(&b, BINARY);
        if before.ivars {
            self.ivars(cx, data)?;
        }
        let v = if is_message {
            data
        } else if cx.responds(object, sym::underscore_load, true)? {
            cx.call_private(object, sym::underscore_load, &[data])?
        } else {
            let name = cx.class_name(class);
            return cx.type_error(format!("class {name} needs to have method '_load'"));
        };
        let n = self.enter(v);
        self.done(cx, n)
    }
    /// `_load_data`: a new object of a class whose objects are a library's takes what `_dump_data` gave.
    #[inline(never)]
    fn wrapped_pointer(&mut self, cx: &mut Cx, before: &Before) -> Result<Value> {
        let class = self.class(cx)?;
        let object = cx.class_value(class);
        let v = cx.call(object, sym::allocate, &[])?;
        if !v.is_kind(Kind::Data) {
            return cx.arg_error("dump format error");
        }
        let n = self.enter(v);
        self.extend(cx, n, before)?;
        let load = Sym::intern("_load_data");
        if !cx.responds(v, load, true)? {
            let name = cx.class_name(class);
            return cx.type_error(format!("class {name} needs to have instance method '_load_data'"));
        }
        let data = self.object(cx)?;
        cx.call_private(v, load, &[data])?;
        if before.ivars {
            self.ivars(cx, v)?;
        }
        self.done(cx, n)
    }
    /// `marshal_load`: a new object takes what `marshal_dump` gave.
    #[inline(never)]
    fn user_marshal(&mut self, cx: &mut Cx, before: &Before) -> Result<Value> {
        let class = self.class(cx)?;
        if class == ids::RATIONAL || class == ids::COMPLEX {
            return self.number_pair(cx, class);
        }
        let object = cx.class_value(class);
        let v = cx.call(object, sym::allocate, &[])?;
        let n = self.enter(v);
        self.extend(cx, n, before)?;
        if !cx.responds(v, sym::marshal_load, true)? {
            let name = cx.class_name(class);
            return cx.type_error(format!("instance of {name} needs to have method 'marshal_load'"));
        }
        let data = self.object(cx)?;
        cx.call_private(v, sym::marshal_load, &[data])?;
        // The data's variables become the object's, unless it has them.
        for (name, value) in cx.ivar_list(data).iter().filter(|(n, _)| n.bytes().starts_with(b"@")) {
            if cx.ivar_lookup(v, name).is_none() {
                cx.ivar_set(v, name, value)?;
            }
        }
        if before.ivars {
            self.ivars(cx, v)?;
        }
        self.done(cx, n)
    }
    #[inline(never)]
    fn number_pair(&mut self, cx: &mut Cx, class: ClassId) -> Result<Value> {
        let n = self.enter(Value::NIL);
        let data = self.object(cx)?;
        let parts = Ref::<ArrayCell>::from_value(data).and_then(|a| Some((a.get(0)?, a.get(1).filter(|_| a.len() == 2)?)));
        let Some((a, b)) = parts else {
            let what = if class == ids::RATIONAL { "rational" } else { "complex" };
            return cx.arg_error(format!("marshaled {what} must have an array whose length is 2 but {}", match Ref::<ArrayCell>::from_value(data) {
                Some(a) => a.len(),
                None => 0,
            }));
        };
        let kernel = cx.class_value(ids::KERNEL);
        let name = if class == ids::RATIONAL { "Rational" } else { "Complex" };
        self.objects[n] = cx.call(kernel, Sym::intern(name), &[a, b])?;
        self.done(cx, n)
    }
}

/// Encoding that a variable `E` or `encoding` means.
fn encoding_from(heap: &Heap, key: Sym, value: Value) -> Option<u8> {
    match key.bytes() {
        b"E" if value == Value::TRUE => Some(UTF8),
        b"E" if value == Value::FALSE => Some(US_ASCII),
        b"encoding" => {
            let name: Ref<StringCell> = Ref::from_value(value)?;
            Some(Encoding::find(name.content(heap)).unwrap_or(Encoding::BINARY).id())
        }
        _ => None,
    }
}

/// A Regexp's source as Ruby 1.8 dumped it, without an encoding: the letters that it knew no escapes of stand for themselves.
fn without_later_escapes(source: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(source.len());
    let mut escaped = false;
    for b in source {
        if escaped && b"lmopquyEFHIJKLNOPQRSTUVXY".contains(b) {
            out.pop();
        }
        escaped = *b == b'\\' && !escaped;
        out.push(*b);
    }
    out
}

/// Classes are the program's: data does not change them. TypeError
#[cold]
#[inline(never)]
fn class_variable(cx: &mut Cx, v: Value) -> Result<()> {
    let Some(class) = cx.class_id(v) else { return Ok(()) };
    let what = if cx.class(class).kind == ClassKind::Module { "module" } else { "class" };
    let name = cx.class_name(class);
    cx.type_error(format!("can't override instance variable of {what} '{name}'"))
}
