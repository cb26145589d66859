//! `Array#pack` and `String#unpack`.

use super::util::*;
use zakuro_macros::ruby_class;
use zakuro_text::int::Int;
use zakuro_base::progress::{Progress, Stopped, step};
use zakuro_text::pack::{PackError, PackErrorKind, PackSource, UnpackSink, Unpacked, pack, unpack};
use zakuro_vm::*;

struct Elements<'a> {
    cx: &'a mut Cx,
    array: Ref<ArrayCell>,
    at: usize,
    /// The template, which conversions of elements must leave alone: its bytes are at this address, so many.
    template: (Str, usize, usize),
    /// Strings whose addresses were packed: the result keeps them alive.
    pointed: Option<Ref<ArrayCell>>,
}

/// Hidden variable of a packed String: the Strings that its pointers lead to.
fn pointed() -> Sym {
    Sym::intern("__pointed")
}

impl Elements<'_> {
    fn is_changed(&self) -> bool {
        let (template, address, len) = self.template;
        (template.address(), template.len()) != (address, len)
    }
    fn next(&mut self) -> Result<Value> {
        if self.is_changed() {
            return self.cx.raise(ids::RUNTIME_ERROR, "format string modified");
        }
        let v = self.array.get(self.at).unwrap_or(Value::NIL);
        self.at += 1;
        Ok(v)
    }
}

fn raise_pack<T>(cx: &mut Cx, e: PackError) -> Result<T> {
    let class = match e.kind {
        PackErrorKind::ArgumentError => ids::ARGUMENT_ERROR,
        PackErrorKind::RangeError => ids::RANGE_ERROR,
        PackErrorKind::NoMemoryError => ids::NO_MEMORY_ERROR,
        PackErrorKind::Stopped => return Err(Exc),
    };
    cx.raise(class, e.message)
}

fn raise_unpack<T>(cx: &mut Cx, mut e: PackError) -> Result<T> {
    e.message = e.message.replacen("unknown pack directive", "unknown unpack directive", 1);
    raise_pack(cx, e)
}

/// The integer at an offset that a template of a single letter reads. None: it does not, or there are too few bytes.
fn one_integer(cx: &Cx, template: Str, from: Str, offset: usize) -> Option<Value> {
    let [letter] = *template.content(&cx.heap) else { return None };
    let bytes = from.content(&cx.heap).get(offset..)?;
    let n = match letter {
        b'C' => i64::from(*bytes.first()?),
        b'c' => i64::from(*bytes.first()? as i8),
        b'n' => i64::from(u16::from_be_bytes(*bytes.first_chunk()?)),
        b'v' => i64::from(u16::from_le_bytes(*bytes.first_chunk()?)),
        b'S' => i64::from(u16::from_ne_bytes(*bytes.first_chunk()?)),
        b's' => i64::from(i16::from_ne_bytes(*bytes.first_chunk()?)),
        b'N' => i64::from(u32::from_be_bytes(*bytes.first_chunk()?)),
        b'V' => i64::from(u32::from_le_bytes(*bytes.first_chunk()?)),
        b'L' => i64::from(u32::from_ne_bytes(*bytes.first_chunk()?)),
        b'l' => i64::from(i32::from_ne_bytes(*bytes.first_chunk()?)),
        b'q' => i64::from_ne_bytes(*bytes.first_chunk()?),
        b'Q' => {
            let n = u64::from_ne_bytes(*bytes.first_chunk()?);
            return Some(cx.int_u64(n));
        }
        _ => return None,
    };
    Some(cx.int(n))
}

impl PackSource for Elements<'_> {
    type Err = Exc;
    fn left(&self) -> usize {
        self.array.len().saturating_sub(self.at)
    }
    fn room(&mut self, bytes: usize) -> Result<()> {
        self.cx.admit(bytes)
    }
    fn integer(&mut self) -> Result<Int> {
        let v = self.next()?;
        let i = self.cx.to_int(v)?;
        Ok(int_of(self.cx, i).unwrap_or(Int::Small(0)))
    }
    fn float(&mut self) -> Result<f64> {
        let v = self.next()?;
        // A Numeric that is no number itself has to have a `to_f`.
        if v.is_kind(Kind::Object) && !self.cx.responds(v, sym::to_f, true)? {
            let c = self.cx.class_name_of(v);
            return self.cx.type_error(format!("can't convert {c} into Float"));
        }
        self.cx.to_f64(v)
    }
    fn pointer(&mut self, least: usize) -> Result<u64> {
        let v = self.next()?;
        if v.is_nil() {
            return Ok(0);
        }
        let s = self.cx.to_str(v)?;
        if s.len() < least {
            return self.cx.arg_error(format!("too short buffer for P({} for {least})", s.len()));
        }
        let list = match self.pointed {
            Some(a) => a,
            None => self.cx.new_array(),
        };
        self.pointed = Some(list);
        ArrayCell::push(list, &mut self.cx.heap, s.as_value());
        Ok(s.content(&self.cx.heap).as_ptr() as u64)
    }
    fn bytes(&mut self, nil_ok: bool, any: bool) -> Result<Vec<u8>> {
        let v = self.next()?;
        if nil_ok && v.is_nil() {
            return Ok(Vec::new());
        }
        let s = if any { self.cx.to_s(v)? } else { self.cx.to_str(v)? };
        Ok(s.to_vec())
    }
    fn poll(&mut self) -> Result<()> {
        self.cx.safepoint()
    }
    fn error(&mut self, error: PackError) -> Exc {
        if let Err(e) = if self.is_changed() { self.next().map(|_| ()) } else { Ok(()) } {
            return e;
        }
        match raise_pack::<()>(self.cx, error) {
            Err(e) => e,
            Ok(()) => Exc,
        }
    }
}

/// Value of something unpacked.
fn value_of(cx: &mut Cx, this: Str, u: Unpacked) -> Result<Value> {
    Ok(match u {
        Unpacked::Nil => Value::NIL,
        Unpacked::Int(i) => int_value(cx, i),
        Unpacked::Float(f) => cx.float(f),
        Unpacked::Bytes(b, e) => cx.str_bytes(&b, e.id()),
        Unpacked::Pointer(address, most) => return at_address(cx, this, address, most),
    })
}

/// The String that `this` was packed with, or its first bytes: an address is compared, never followed.
fn at_address(cx: &mut Cx, this: Str, address: u64, most: Option<usize>) -> Result<Value> {
    if address == 0 {
        return Ok(Value::NIL);
    }
    let Some(list) = cx.ivar_lookup(this.as_value(), pointed()).and_then(Ref::<ArrayCell>::from_value) else {
        return cx.arg_error("no associated pointer");
    };
    let found = list.elements(&cx.heap).iter().filter_map(|v| Ref::<StringCell>::from_value(*v)).find(|s| s.content(&cx.heap).as_ptr() as u64 == address);
    let Some(s) = found else { return cx.arg_error("non associated pointer") };
    match most {
        Some(n) if n < s.len() => {
            let bytes = s.content(&cx.heap)[..n].to_vec();
            Ok(cx.str_bytes(&bytes, string::BINARY))
        }
        _ => Ok(s.as_value()),
    }
}

/// What is unpacked, as values.
struct Values<'a> {
    cx: &'a mut Cx,
    from: Str,
    all: Ref<ArrayCell>,
    /// What the text is too short for is nil; else it is left out.
    pads: bool,
    wanted: usize,
    result: Result<()>,
}
impl Progress for Values<'_> {
    fn poll(&mut self) -> std::result::Result<(), Stopped> {
        self.cx.poll()
    }
}
impl UnpackSink for Values<'_> {
    fn take(&mut self, u: Unpacked) -> bool {
        if u == Unpacked::Nil && !self.pads {
            return true;
        }
        self.result = value_of(self.cx, self.from, u).and_then(|v| {
            ArrayCell::push(self.all, &mut self.cx.heap, v);
            Ok(step(self.all.len(), self.cx)?)
        });
        self.result.is_ok() && self.all.len() < self.wanted
    }
}

/// A template is read byte by byte.
fn check_template(cx: &mut Cx, template: Str) -> Result<()> {
    if enc(template).is_ascii_compatible() {
        return Ok(());
    }
    let name = enc(template).name();
    cx.raise(ids::COMPAT_ERROR, format!("ASCII incompatible encoding: {name}"))
}

fn offset_of(cx: &mut Cx, this: Str, kw: Kwargs) -> Result<usize> {
    let key = sym::offset;
    kw.only(cx, &[key])?;
    let Some(v) = kw.get(key) else { return Ok(0) };
    let i = cx.to_i64(v)?;
    match usize::try_from(i) {
        Err(_) => cx.arg_error("offset can't be negative"),
        Ok(i) if i > this.len() => cx.arg_error("offset outside of string"),
        Ok(i) => Ok(i),
    }
}

#[ruby_class(ids::ARRAY)]
pub mod array_pack {
    use super::*;

    /// The elements as bytes, by a template.
    ///
    ///     [1, 2].pack("C*")          #=> "\x01\x02"
    ///     ["abc"].pack("m0")         #=> "YWJj"
    ///     [1].pack("n").bytes        #=> [0, 1]
    #[method("pack")]
    fn pack_method(cx: &mut Cx, this: Ref<ArrayCell>, template: Str, kw: Kwargs) -> Result<Value> {
        let key = sym::buffer;
        kw.only(cx, &[key])?;
        check_template(cx, template)?;
        let watched = (template, template.address(), template.len());
        let template = template.to_vec();
        let buffer = match kw.get(key) {
            None | Some(Value::NIL) => None,
            Some(v) => match Ref::<StringCell>::from_value(v) {
                Some(b) => Some(b),
                None => {
                    let c = cx.class_name_of(v);
                    return cx.type_error(format!("buffer must be String, not {c}"));
                }
            },
        };
        if let Some(b) = buffer {
            cx.check_frozen(b.as_value())?;
        }
        let mut out = buffer.map_or(Vec::new(), |b| b.to_vec());
        let mut elements = Elements { cx, array: this, at: 0, template: watched, pointed: None };
        let e = pack(&template, &mut elements, &mut out)?;
        let strings = elements.pointed;
        let result = match buffer {
            Some(b) => {
                cx.check_frozen(b.as_value())?;
                StringCell::set_bytes(b, &mut cx.heap, &out);
                b.as_value()
            }
            None => cx.str_bytes(&out, e.id()),
        };
        if let Some(a) = strings {
            cx.ivar_set_raw(result, pointed(), a.as_value());
        }
        Ok(result)
    }
}

#[ruby_class(ids::STRING)]
pub mod string_unpack {
    use super::*;

    /// The values that a template reads from the bytes.
    ///
    ///     "\x01\x02".unpack("C*")   #=> [1, 2]
    ///     "YWJj".unpack("m0")       #=> ["abc"]
    #[method("unpack")]
    fn unpack_method(cx: &mut Cx, this: Str, template: Str, kw: Kwargs, block: Block) -> Result<Value> {
        let offset = offset_of(cx, this, kw)?;
        check_template(cx, template)?;
        let all = cx.new_array();
        let mut values = Values { cx, from: this, all, pads: block.is_none(), wanted: usize::MAX, result: Ok(()) };
        let done = unpack(&Held::of(template), &Held::of(this), offset, &mut values);
        values.result?;
        if let Err(e) = done {
            return raise_unpack(cx, e);
        }
        if block.is_none() {
            return Ok(all.as_value());
        }
        let mut i = 0;
        while let Some(v) = all.get(i) {
            cx.yield1(block, v)?;
            i += 1;
        }
        Ok(Value::NIL)
    }

    /// The first value that a template reads.
    ///
    ///     "\x01\x02".unpack1("n")   #=> 258
    ///     "abcd".unpack1("a2", offset: 2)   #=> "cd"
    #[method("unpack1")]
    fn unpack1(cx: &mut Cx, this: Str, template: Str, kw: Kwargs) -> Result<Value> {
        let offset = offset_of(cx, this, kw)?;
        check_template(cx, template)?;
        if let Some(v) = one_integer(cx, template, this, offset) {
            return Ok(v);
        }
        let all = cx.new_array();
        let mut values = Values { cx, from: this, all, pads: true, wanted: 1, result: Ok(()) };
        let done = unpack(&Held::of(template), &Held::of(this), offset, &mut values);
        values.result?;
        if let Err(e) = done {
            return raise_unpack(cx, e);
        }
        Ok(all.get(0).unwrap_or(Value::NIL))
    }
}
