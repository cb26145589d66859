//! Implicit conversions (`to_int`, `to_str`, `to_ary`, `to_hash`, `to_sym`) and texts for messages.

use crate::builtin::Block;
use crate::frame::Frame;
use crate::raise::Result;
use crate::vm::Cx;
use num_bigint::BigInt;
use num_traits::ToPrimitive;
use zakuro_object::*;

pub type Str = Ref<StringCell>;
pub type Arr = Ref<ArrayCell>;
pub type HashRef = Ref<HashCell>;

/// An Integer as Rust sees it.
#[derive(Clone, Debug)]
pub enum Int {
    Small(i64),
    Big(BigInt),
}
impl Int {
    pub fn to_big(&self) -> BigInt {
        match self {
            Int::Small(i) => BigInt::from(*i),
            Int::Big(b) => b.clone(),
        }
    }
}

impl Cx {
    /// An Integer value as Rust number; None for other objects.
    pub fn as_int(&self, v: Value) -> Option<Int> {
        if v.is_fixnum() { Some(Int::Small(v.fix())) } else { Ref::<BignumCell>::from_value(v).map(|b| Int::Big((*b.value).clone())) }
    }
    pub fn as_big(&self, v: Value) -> Option<BigInt> {
        self.as_int(v).map(|i| i.to_big())
    }
    pub fn is_integer(&self, v: Value) -> bool {
        v.is_fixnum() || v.is_kind(Kind::Bignum)
    }
    /// Implicit conversion to Integer.
    pub fn to_int(&mut self, v: Value) -> Result<Value> {
        if self.is_integer(v) {
            return Ok(v);
        }
        if let Some(f) = v.as_float() {
            return self.float_to_int(f);
        }
        let r = self.convert(v, sym::to_int, "Integer")?;
        if self.is_integer(r) { Ok(r) } else { self.bad_conversion(v, "Integer", "to_int", r) }
    }
    /// Float truncated to an Integer. FloatDomainError for NaN and infinities.
    pub fn float_to_int(&mut self, f: f64) -> Result<Value> {
        if f.is_nan() {
            return self.raise(ids::FLOAT_DOMAIN_ERROR, "NaN");
        }
        if f.is_infinite() {
            return self.raise(ids::FLOAT_DOMAIN_ERROR, if f > 0.0 { "Infinity" } else { "-Infinity" });
        }
        let t = f.trunc();
        if t.abs() < 4e18 {
            return Ok(self.int(t as i64));
        }
        let bits = t.to_bits();
        let exp = ((bits >> 52) & 0x7ff) as i64 - 1075;
        let mant = (bits & ((1 << 52) - 1)) | (1 << 52);
        let b = BigInt::from(mant) << exp;
        Ok(self.big(if t < 0.0 { -b } else { b }))
    }
    /// Implicit conversion to a 64-bit integer. RangeError when it doesn't fit.
    #[inline(always)]
    pub fn to_i64(&mut self, v: Value) -> Result<i64> {
        if v.is_fixnum() { Ok(v.fix()) } else { self.to_i64_slow(v) }
    }
    #[inline(never)]
    fn to_i64_slow(&mut self, v: Value) -> Result<i64> {
        if let Some(f) = v.as_float() {
            if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&f) {
                return Ok(f as i64);
            }
            let shown = self.inspect_for_error(v);
            return self.range_error(format!("float {shown} out of range of integer"));
        }
        if v.is_nil() {
            return self.type_error("no implicit conversion from nil to integer");
        }
        let i = self.to_int(v)?;
        match self.as_int(i) {
            Some(Int::Small(i)) => Ok(i),
            Some(Int::Big(b)) => match b.to_i64() {
                Some(i) => Ok(i),
                None => self.range_error("bignum too big to convert into 'long'"),
            },
            None => self.type_error("not an integer"),
        }
    }
    /// Implicit conversion to a C `int`. RangeError when it doesn't fit.
    pub fn to_i32(&mut self, v: Value) -> Result<i32> {
        let n = self.to_i64(v)?;
        match i32::try_from(n) {
            Ok(n) => Ok(n),
            Err(_) => self.range_error(format!("integer {n} too {} to convert to 'int'", if n < 0 { "small" } else { "big" })),
        }
    }
    /// Numeric to double, as Float arguments convert (no strings).
    pub fn to_f64(&mut self, v: Value) -> Result<f64> {
        if let Some(f) = v.as_float() {
            return Ok(f);
        }
        match self.as_int(v) {
            Some(Int::Small(i)) => return Ok(i as f64),
            Some(Int::Big(b)) => return Ok(big_to_f64(&b)),
            None => {}
        }
        if !self.is_a(v, ids::NUMERIC) {
            let what = self.describe_for_conversion(v);
            return self.type_error(format!("can't convert {what} into Float"));
        }
        let r = self.call(v, sym::to_f, &[])?;
        match r.as_float() {
            Some(f) => Ok(f),
            None => self.bad_conversion(v, "Float", "to_f", r),
        }
    }
    fn convert(&mut self, v: Value, method: Sym, target: &str) -> Result<Value> {
        match self.call_if_responds(v, method, &[])? {
            Some(r) => Ok(r),
            None => self.no_conversion(v, target),
        }
    }
    #[cold]
    fn bad_conversion<T>(&mut self, v: Value, target: &str, method: &str, got: Value) -> Result<T> {
        let (c, g) = (self.class_shown(v), self.class_shown(got));
        self.type_error(format!("can't convert {c} to {target} ({c}#{method} gives {g})"))
    }
    /// Implicit conversion to String (`to_str`).
    #[inline(always)]
    pub fn to_str(&mut self, v: Value) -> Result<Str> {
        match Ref::from_value(v) {
            Some(s) => Ok(s),
            None => self.to_str_slow(v),
        }
    }
    #[inline(never)]
    fn to_str_slow(&mut self, v: Value) -> Result<Str> {
        let r = self.convert(v, sym::to_str, "String")?;
        match Ref::from_value(r) {
            Some(s) => Ok(s),
            None => self.bad_conversion(v, "String", "to_str", r),
        }
    }
    /// String by `to_str`, or None when it has no such method.
    pub fn try_str(&mut self, v: Value) -> Result<Option<Str>> {
        if let Some(s) = Ref::from_value(v) {
            return Ok(Some(s));
        }
        match self.call_if_responds(v, sym::to_str, &[])? {
            None | Some(Value::NIL) => Ok(None),
            Some(r) => match Ref::from_value(r) {
                Some(s) => Ok(Some(s)),
                None => self.bad_conversion(v, "String", "to_str", r),
            },
        }
    }
    /// Implicit conversion to Array (`to_ary`).
    #[inline(always)]
    pub fn to_ary(&mut self, v: Value) -> Result<Arr> {
        match Ref::from_value(v) {
            Some(s) => Ok(s),
            None => match self.try_ary(v)? {
                Some(a) => Ok(a),
                None => self.no_conversion(v, "Array"),
            },
        }
    }
    /// Array by `to_ary`, or None.
    pub fn try_ary(&mut self, v: Value) -> Result<Option<Arr>> {
        if let Some(a) = Ref::from_value(v) {
            return Ok(Some(a));
        }
        if (!v.is_cell() || v.is_kind(Kind::String) || v.is_kind(Kind::Hash)) && self.method_of(v, sym::to_ary).is_none() {
            return Ok(None);
        }
        match self.call_if_responds(v, sym::to_ary, &[])? {
            None | Some(Value::NIL) => Ok(None),
            Some(r) => match Ref::from_value(r) {
                Some(a) => Ok(Some(a)),
                None => self.bad_conversion(v, "Array", "to_ary", r),
            },
        }
    }
    /// Implicit conversion to Hash (`to_hash`).
    pub fn to_hash(&mut self, v: Value) -> Result<HashRef> {
        match self.try_hash(v)? {
            Some(h) => Ok(h),
            None => self.no_conversion(v, "Hash"),
        }
    }
    pub fn try_hash(&mut self, v: Value) -> Result<Option<HashRef>> {
        if let Some(h) = Ref::from_value(v) {
            return Ok(Some(h));
        }
        match self.call_if_responds(v, sym::to_hash, &[])? {
            None | Some(Value::NIL) => Ok(None),
            Some(r) => match Ref::from_value(r) {
                Some(a) => Ok(Some(a)),
                None => self.bad_conversion(v, "Hash", "to_hash", r),
            },
        }
    }
    /// `*v`: Array by `to_a`, or [v]. Always a fresh Array or v itself when it is one.
    pub fn splat(&mut self, v: Value) -> Result<Arr> {
        if let Some(a) = Ref::from_value(v) {
            return Ok(a);
        }
        if v.is_nil() {
            return Ok(self.new_array());
        }
        match self.call_if_responds(v, sym::to_a, &[])? {
            None | Some(Value::NIL) => Ok(ArrayCell::plain(&self.heap, &[v])),
            Some(r) => match Ref::from_value(r) {
                Some(a) => Ok(a),
                None => self.bad_conversion(v, "Array", "to_a", r),
            },
        }
    }
    /// A Symbol, or the symbol of a String: names of methods and variables.
    pub fn to_sym(&mut self, v: Value) -> Result<Sym> {
        if let Some(s) = v.as_sym() {
            return Ok(s);
        }
        match self.try_str(v)? {
            Some(s) => Ok(Sym::intern_in(s.content(&self.heap), s.encoding())),
            None => {
                let shown = self.inspect_for_error(v);
                self.type_error(format!("{shown} is not a symbol nor a string"))
            }
        }
    }
    /// `to_s` with Ruby's fall-back when it gives no String.
    pub fn to_s(&mut self, v: Value) -> Result<Str> {
        if let Some(s) = Ref::from_value(v) {
            return Ok(s);
        }
        let r = self.call(v, sym::to_s, &[])?;
        match Ref::from_value(r) {
            Some(s) => Ok(s),
            None => {
                let s = self.any_to_s(v);
                let s = self.str(&s);
                Ok(Ref::of(s))
            }
        }
    }
    /// `to_s` as a Rust String (broken bytes replaced).
    pub fn to_s_text(&mut self, v: Value) -> Result<String> {
        Ok(self.to_s(v)?.to_text())
    }
    /// `inspect` as a String object.
    pub fn inspect(&mut self, v: Value) -> Result<Str> {
        let r = match self.method_of(v, sym::inspect) {
            Some(m) => self.call_told(m, v, sym::inspect, &[], false, Block::NONE)?,
            None => self.call(v, sym::inspect, &[])?,
        };
        let s = match Ref::from_value(r) {
            Some(s) => s,
            None => self.to_s(r)?,
        };
        if s.encoding() <= string::US_ASCII && s.is_ascii() {
            return Ok(s);
        }
        Ok(crate::library::library().inspected(self, s))
    }
    pub fn inspect_text(&mut self, v: Value) -> Result<String> {
        Ok(self.inspect(v)?.to_text())
    }
    /// inspect for use inside an error message: never raises.
    pub fn inspect_for_error(&mut self, v: Value) -> String {
        let (errinfo, pending) = (self.errinfo, self.pending);
        match self.inspect_text(v) {
            Ok(s) => s,
            Err(_) => {
                self.errinfo = errinfo;
                self.pending = pending;
                self.any_to_s(v)
            }
        }
    }
    /// `#<Foo>` with an address-like number, without calling Ruby.
    pub fn any_to_s(&self, v: Value) -> String {
        let c = self.class_name_of(v);
        format!("#<{c}:0x{:016x}>", v.bits())
    }
    /// Guards `inspect`, `==`, `hash`, `flatten`, `join` of structures that contain themselves: runs `f` unless `v` is being visited (then None).
    pub fn guard_recursion<T>(&mut self, v: Value, f: impl FnOnce(&mut Cx) -> Result<T>) -> Result<Option<T>> {
        if self.inspecting.contains(&v) {
            return Ok(None);
        }
        self.check_native_stack()?;
        // A graph whose parts share parts takes exponential time to walk.
        self.safepoint()?;
        self.inspecting.push(v);
        let r = f(self);
        if let Some(i) = self.inspecting.iter().rposition(|x| *x == v) {
            self.inspecting.truncate(i);
        }
        r.map(Some)
    }
    /// TypeError of a builtin whose receiver is of another kind.
    #[cold]
    pub fn wrong_receiver<T>(&mut self, v: Value, expected: &str) -> Result<T> {
        let c = self.class_name_of(v);
        self.type_error(format!("wrong argument type {c} (expected {expected})"))
    }
    /// Text of a String or Symbol argument (file names, formats).
    pub fn text_of(&mut self, v: Value) -> Result<String> {
        if let Some(s) = v.as_sym() {
            return Ok(s.name().into_owned());
        }
        Ok(self.to_str(v)?.to_text())
    }
    /// File name argument: String, or `to_path`, then `to_str`. ArgumentError when it contains a NUL byte.
    pub fn path_of(&mut self, v: Value) -> Result<Vec<u8>> {
        Ok(self.path_str(v)?.to_vec())
    }
    /// A path as the String it was given as (`to_path`, `to_str`). ArgumentError for NUL bytes, CompatibilityError for what holds no ASCII.
    pub fn path_str(&mut self, v: Value) -> Result<Str> {
        let mut v = v;
        if !v.is_kind(Kind::String)
            && let Some(p) = self.call_if_responds(v, sym::to_path, &[])?
        {
            v = p;
        }
        let s = self.to_str(v)?;
        if is_wide(s.encoding()) {
            let shown = self.inspect_for_error(s.as_value());
            return self.raise(ids::COMPAT_ERROR, format!("path name must be ASCII-compatible string: {shown}"));
        }
        if s.has_nul() {
            return self.arg_error("path name contains null byte");
        }
        Ok(s)
    }
    /// The block of a frame as Proc (nil for none), which it is from now on.
    ///
    /// # Safety
    /// A live frame of this VM.
    pub unsafe fn block_object(&mut self, f: *mut Frame) -> Value {
        // SAFETY: the caller's promise; making a Proc moves no frame.
        unsafe {
            let v = self.block_value((*f).block);
            (*f).block = Block::from_value(v);
            v
        }
    }
    /// A block as Proc (nil for none).
    pub fn block_value(&mut self, b: Block) -> Value {
        if b.is_none() { Value::NIL } else { self.block_to_proc(b).as_value() }
    }
}

/// UTF-16 and UTF-32, whose ids the table of encodings fixes (zakuro_text).
pub fn is_wide(encoding: u8) -> bool {
    (3..=8).contains(&encoding)
}

/// Nearest double of a big integer (infinite when out of range).
pub fn big_to_f64(b: &BigInt) -> f64 {
    b.to_f64().unwrap_or(if b.sign() == num_bigint::Sign::Minus { f64::NEG_INFINITY } else { f64::INFINITY })
}
