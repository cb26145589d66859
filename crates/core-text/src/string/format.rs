//! `Kernel#format`, `String#%` and `Kernel#String`: arguments of the format engine as Ruby values.

use super::util::*;
use zakuro_macros::ruby_class;
use zakuro_text::encoding::Encoding;
use zakuro_text::float::parse_float;
use zakuro_text::format::{ArgRef, FloatArg, FormatArgs, FormatError, FormatErrorKind, format as render};
use zakuro_base::progress::Progress;
use zakuro_text::int::{Int, IntError, parse_strict};
use zakuro_vm::*;

/// The engine's view of the arguments.
struct VmArgs<'a> {
    cx: &'a mut Cx,
    /// Arguments behind the format; they lie on the VM's stack or in an Array that the caller holds.
    args: &'a [Value],
    encoding: Encoding,
    /// Text that is not ASCII stands in the result: the encoding can't change any more.
    fixed: bool,
    /// The format is a single directive: nothing can stand beside its text.
    alone: bool,
}

impl VmArgs<'_> {
    fn fetch(&mut self, arg: ArgRef<'_>) -> Result<Value> {
        let (name, braces) = match arg {
            ArgRef::Index(i) => return Ok(self.args.get(i).copied().unwrap_or(Value::NIL)),
            ArgRef::Named { name, braces } => (name, braces),
        };
        let hash = match self.args {
            [one] => self.cx.try_hash(*one)?,
            _ => None,
        };
        let Some(h) = hash else {
            let e = self.error(FormatError::one_hash_required());
            return Err(e);
        };
        let key = Value::sym(Sym::intern_in(name, self.encoding.id()));
        if let Some(v) = self.cx.hash_get(h, key)? {
            return Ok(v);
        }
        let v = self.cx.call(h.as_value(), sym::default, &[key])?;
        if !v.is_nil() {
            return Ok(v);
        }
        let e = FormatError::key_not_found(name, braces);
        let message = self.cx.str_bytes(&e.message, self.encoding.id());
        let exc = self.cx.exception_with(ids::KEY_ERROR, message);
        self.cx.ivar_set_raw(exc, Sym::intern("__receiver"), h.as_value());
        self.cx.ivar_set_raw(exc, Sym::intern("__key"), key);
        self.cx.raise_value(exc)
    }
    /// Bytes of a piece of the result; takes over its encoding.
    fn piece(&mut self, s: Str) -> Result<Vec<u8>> {
        let wide = !enc(s).is_ascii_compatible() && s.len() > 0;
        if enc(s) != self.encoding && (wide || !is_ascii(&self.cx.heap, s)) {
            if self.fixed || wide && !self.alone {
                let (a, b) = (shown_name(self.encoding), shown_name(enc(s)));
                return self.cx.raise(ids::COMPAT_ERROR, std::format!("incompatible character encodings: {a} and {b}"));
            }
            self.encoding = enc(s);
        }
        self.fixed |= !is_ascii(&self.cx.heap, s);
        Ok(s.to_vec())
    }
    fn kernel(&mut self, name: Sym, v: Value) -> Result<Value> {
        let main = self.cx.main;
        self.cx.call(main, name, &[v])
    }
}

impl FormatArgs for VmArgs<'_> {
    type Err = Exc;
    fn len(&self) -> usize {
        self.args.len()
    }
    fn count(&mut self, arg: ArgRef<'_>) -> Result<Int> {
        let v = self.fetch(arg)?;
        let i = self.cx.to_int(v)?;
        Ok(int_of(self.cx, i).unwrap_or(Int::Small(0)))
    }
    fn integer(&mut self, arg: ArgRef<'_>) -> Result<Int> {
        let v = self.fetch(arg)?;
        if let Some(i) = int_of(self.cx, v) {
            return Ok(i);
        }
        let v = if let Some(f) = v.as_float() {
            self.cx.float_to_int(f.floor())?
        } else if let Some(s) = Ref::<StringCell>::from_value(v) {
            match parse_strict(&Held::of(s), 0, self.cx) {
                Ok(i) => return Ok(i),
                Err(IntError::Stopped) => return Err(Exc),
                Err(_) => {
                    let shown = super::encoding::inspected(&self.cx.heap, s);
                    return self.cx.arg_error(std::format!("invalid value for Integer(): {shown}"));
                }
            }
        } else if v.is_nil() {
            return self.cx.type_error("can't convert nil into Integer");
        } else {
            self.kernel(sym::Integer, v)?
        };
        Ok(int_of(self.cx, v).unwrap_or(Int::Small(0)))
    }
    fn float(&mut self, arg: ArgRef<'_>, directive: u8) -> Result<FloatArg> {
        let v = self.fetch(arg)?;
        if let Some(f) = v.as_float() {
            return Ok(FloatArg::Float(f));
        }
        if let Some(num) = self.cx.as_big(v) {
            if directive == b'f' {
                return Ok(FloatArg::Exact { num, den: 1.into() });
            }
            return Ok(FloatArg::Float(self.cx.to_f64(v)?));
        }
        if let Some(s) = Ref::<StringCell>::from_value(v) {
            return match parse_float(s.content(&self.cx.heap), true) {
                Some(f) => Ok(FloatArg::Float(f)),
                None => {
                    let shown = super::encoding::inspected(&self.cx.heap, s);
                    self.cx.arg_error(std::format!("invalid value for Float(): {shown}"))
                }
            };
        }
        if directive == b'f' && self.cx.is_a(v, ids::RATIONAL) {
            let (n, d) = (self.cx.call(v, Sym::intern("numerator"), &[])?, self.cx.call(v, Sym::intern("denominator"), &[])?);
            if let (Some(num), Some(den)) = (self.cx.as_big(n), self.cx.as_big(d)) {
                return Ok(FloatArg::Exact { num, den });
            }
        }
        if v.is_nil() {
            return self.cx.type_error("can't convert nil into Float");
        }
        let f = self.kernel(sym::Float, v)?;
        Ok(FloatArg::Float(self.cx.to_f64(f)?))
    }
    fn string(&mut self, arg: ArgRef<'_>) -> Result<Vec<u8>> {
        let v = self.fetch(arg)?;
        let s = self.cx.to_s(v)?;
        self.piece(s)
    }
    fn inspect(&mut self, arg: ArgRef<'_>) -> Result<Vec<u8>> {
        let v = self.fetch(arg)?;
        let s = self.cx.inspect(v)?;
        self.piece(s)
    }
    fn chr(&mut self, arg: ArgRef<'_>) -> Result<Vec<u8>> {
        let v = self.fetch(arg)?;
        if let Some(s) = self.cx.try_str(v)? {
            let n = if s.len() == 0 { 0 } else { char_len_at(&self.cx.heap, s, 0) };
            let c = sub(self.cx, s, 0, n);
            return self.piece(Ref::of(c));
        }
        let i = self.cx.to_i64(v)?;
        let mut out = Vec::new();
        let ok = u32::try_from(i).is_ok_and(|c| self.encoding.encode(c, &mut out));
        match u8::try_from(i) {
            _ if ok => {}
            // A byte that is no character of US-ASCII.
            Ok(b) if self.encoding == Encoding::US_ASCII => {
                self.encoding = Encoding::BINARY;
                out.push(b);
            }
            _ if i >= 0 && (self.encoding == Encoding::US_ASCII || self.encoding.is_single_byte()) => {
                return self.cx.range_error(std::format!("{i} out of char range"));
            }
            // As in CRuby half of a pair is written as if it were a character.
            _ if self.encoding == Encoding::UTF_8 && (0xd800..=0xdfff).contains(&i) => {
                out.extend([0xed, 0x80 | (i >> 6 & 0x3f) as u8, 0x80 | (i & 0x3f) as u8]);
            }
            _ => return self.cx.arg_error("invalid character"),
        }
        self.fixed |= !out.is_ascii();
        Ok(out)
    }
    fn unused(&mut self) -> Result<()> {
        const MESSAGE: &str = "too many arguments for format string";
        if let [one] = self.args
            && one.is_kind(Kind::Hash)
        {
            return Ok(());
        }
        if self.cx.global_get(Sym::intern("$DEBUG"))?.truthy() {
            return self.cx.arg_error(MESSAGE);
        }
        if self.cx.is_verbose() { self.cx.warn_here(MESSAGE) } else { Ok(()) }
    }
    fn progress(&mut self) -> &mut dyn Progress {
        self.cx
    }
    fn stopped(&mut self) -> Exc {
        Exc
    }
    fn error(&mut self, error: FormatError) -> Exc {
        let class = match error.kind {
            FormatErrorKind::ArgumentError => ids::ARGUMENT_ERROR,
            FormatErrorKind::KeyError => ids::KEY_ERROR,
        };
        let message = self.cx.str_bytes(&error.message, self.encoding.id());
        let e = self.cx.exception_with(class, message);
        match self.cx.raise_value::<()>(e) {
            Err(e) => e,
            Ok(()) => Exc,
        }
    }
    fn char_count(&self, s: &[u8]) -> usize {
        self.encoding.char_count(s)
    }
    fn char_prefix(&self, s: &[u8], n: usize) -> usize {
        self.encoding.byte_offset(s, n).unwrap_or(s.len())
    }
}

/// `format(fmt, *args)`
pub fn format(cx: &mut Cx, fmt: Str, args: &[Value]) -> Result<Value> {
    if !enc(fmt).is_ascii_compatible() {
        let name = enc(fmt).name();
        return cx.raise(ids::COMPAT_ERROR, std::format!("ASCII incompatible encoding: {name}"));
    }
    let text = fmt.to_vec();
    let mut a = VmArgs { encoding: enc(fmt), fixed: !is_ascii(&cx.heap, fmt), alone: &*text == b"%s", cx, args };
    let out = render(&text, &mut a)?;
    let e = a.encoding;
    Ok(cx.str_bytes(&out, e.id()))
}

#[ruby_class(ids::STRING)]
pub mod percent {
    use super::*;

    /// `format` with the elements of an Array, or with one argument.
    ///
    ///     "%05.1f|%-4s|" % [3.14159, "ab"]   #=> "003.1|ab  |"
    ///     "%x" % 255                         #=> "ff"
    #[method("%")]
    fn percent_op(cx: &mut Cx, this: Str, arg: Value) -> Result<Value> {
        match cx.try_ary(arg)? {
            Some(a) => {
                let args = RootedVec::of(cx, a);
                format(cx, this, &args)
            }
            None => format(cx, this, &[arg]),
        }
    }
}

#[ruby_class(ids::KERNEL)]
pub mod kernel_format {
    use super::*;

    /// The format with its directives filled in.
    ///
    ///     format("%d %s %08.3f", 1, "a", 3.5)   #=> "1 a 0003.500"
    ///     format("%<a>d %{b}", a: 1, b: 2)      #=> "1 2"
    #[method("format", "sprintf", module_function, min = 1)]
    fn format_method(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        let a = args.all();
        let fmt = cx.to_str(a[0])?;
        format(cx, fmt, &a[1..])
    }

    /// A String, by `to_str` or `to_s`.
    ///
    ///     String(1)   #=> "1"
    #[method("String", module_function)]
    fn string(cx: &mut Cx, _this: Value, v: Value) -> Result<Value> {
        if let Some(s) = cx.try_str(v)? {
            return Ok(s.as_value());
        }
        let c = cx.describe_for_conversion(v);
        match cx.call_if_responds(v, sym::to_s, &[])? {
            Some(r) if r.is_kind(Kind::String) => Ok(r),
            Some(r) => {
                let got = cx.class_name_of(r);
                cx.type_error(std::format!("can't convert {c} to String ({c}#to_s gives {got})"))
            }
            None => cx.type_error(std::format!("can't convert {c} into String")),
        }
    }
}
