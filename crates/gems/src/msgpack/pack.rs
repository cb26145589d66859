//! Packing. Bytes gather in the call's own vector, and go to the packer's buffer before Ruby is called and at the end.

use super::append;
use num_traits::ToPrimitive;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Values between two questions whether to go on.
const STEPS: usize = 4096;
/// Bytes that gather before they go to the buffer.
const PORTION: usize = 64 << 10;
const RECURSIVE: i64 = 1;

/// Payload of a MessagePack::Packer.
#[derive(Trace)]
struct Packer {
    buffer: Value,
    /// Class => [type, proc, flags], or nil.
    types: Value,
    compatible: bool,
    symbols: bool,
    bignums: bool,
}
impl NativeData for Packer {}

fn packer(cx: &mut Cx, this: Value) -> Result<&mut Packer> {
    if !cx.is_data::<Packer>(this) {
        return cx.arg_error("Uninitialized Packer object");
    }
    cx.data_mut::<Packer>(this)
}

struct Writer {
    this: Value,
    out: Vec<u8>,
    steps: usize,
    compatible: bool,
    symbols: bool,
    bignums: bool,
    typed: bool,
}

impl Writer {
    fn new(cx: &mut Cx, this: Value) -> Result<Writer> {
        let p = packer(cx, this)?;
        let (compatible, symbols, bignums, typed) = (p.compatible, p.symbols, p.bignums, !p.types.is_nil());
        Ok(Writer { this, out: Vec::new(), steps: 0, compatible, symbols, bignums, typed })
    }
    /// Hands what there is to the buffer.
    fn flush(&mut self, cx: &mut Cx) -> Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        let buffer = packer(cx, self.this)?.buffer;
        append(cx, buffer, &self.out)?;
        self.out.clear();
        Ok(())
    }
    fn flush_if_large(&mut self, cx: &mut Cx) -> Result<()> {
        if self.out.len() >= PORTION { self.flush(cx) } else { Ok(()) }
    }

    /// A head of one byte with `short` in its low bits, or with a length of one, two or four bytes behind it.
    fn length(&mut self, cx: &mut Cx, n: usize, short: Option<(u8, usize)>, one: Option<u8>, two: u8, four: u8) -> Result<()> {
        match (short, one) {
            (Some((head, below)), _) if n < below => self.out.push(head | n as u8),
            (_, Some(one)) if n < 1 << 8 => self.out.extend([one, n as u8]),
            _ if n < 1 << 16 => {
                self.out.push(two);
                self.out.extend((n as u16).to_be_bytes());
            }
            _ => match u32::try_from(n) {
                Ok(n) => {
                    self.out.push(four);
                    self.out.extend(n.to_be_bytes());
                }
                Err(_) => return cx.arg_error(format!("size is too long to pack: {n} should be <= {}", u32::MAX)),
            },
        }
        Ok(())
    }
    fn array(&mut self, cx: &mut Cx, n: usize) -> Result<()> {
        self.length(cx, n, Some((0x90, 16)), None, 0xdc, 0xdd)
    }
    fn map(&mut self, cx: &mut Cx, n: usize) -> Result<()> {
        self.length(cx, n, Some((0x80, 16)), None, 0xde, 0xdf)
    }
    fn binary(&mut self, cx: &mut Cx, n: usize) -> Result<()> {
        self.length(cx, n, None, Some(0xc4), 0xc5, 0xc6)
    }
    fn bytes(&mut self, cx: &mut Cx, s: Ref<StringCell>) -> Result<()> {
        if s.len() < PORTION {
            self.out.extend_from_slice(s.content(&cx.heap));
            return self.flush_if_large(cx);
        }
        self.flush(cx)?;
        let (text, buffer) = (Held::of(s), packer(cx, self.this)?.buffer);
        append(cx, buffer, &text)
    }
    fn text(&mut self, cx: &mut Cx, s: Ref<StringCell>) -> Result<()> {
        let mut s = s;
        if !self.compatible {
            if s.encoding() == string::BINARY {
                self.binary(cx, s.len())?;
                return self.bytes(cx, s);
            }
            if !(s.encoding() == string::UTF8 || s.encoding() == string::US_ASCII || s.is_ascii()) {
                self.flush(cx)?;
                let utf8 = cx.str("UTF-8");
                let v = cx.call(s.as_value(), Sym::intern("encode"), &[utf8])?;
                s = cx.to_str(v)?;
            }
        }
        let one = (!self.compatible).then_some(0xd9);
        self.length(cx, s.len(), Some((0xa0, 32)), one, 0xda, 0xdb)?;
        self.bytes(cx, s)
    }
    fn unsigned(&mut self, n: u64) {
        match n {
            0..=0x7f => self.out.push(n as u8),
            0x80..=0xff => self.out.extend([0xcc, n as u8]),
            0x100..=0xffff => {
                self.out.push(0xcd);
                self.out.extend((n as u16).to_be_bytes());
            }
            0x1_0000..=0xffff_ffff => {
                self.out.push(0xce);
                self.out.extend((n as u32).to_be_bytes());
            }
            _ => {
                self.out.push(0xcf);
                self.out.extend(n.to_be_bytes());
            }
        }
    }
    fn integer(&mut self, n: i64) {
        match n {
            0.. => self.unsigned(n as u64),
            -32..0 => self.out.push(n as u8),
            -0x80..-32 => self.out.extend([0xd0, n as u8]),
            -0x8000..-0x80 => {
                self.out.push(0xd1);
                self.out.extend((n as i16).to_be_bytes());
            }
            -0x8000_0000..-0x8000 => {
                self.out.push(0xd2);
                self.out.extend((n as i32).to_be_bytes());
            }
            _ => {
                self.out.push(0xd3);
                self.out.extend(n.to_be_bytes());
            }
        }
    }
    fn float(&mut self, d: f64) {
        self.out.push(0xcb);
        self.out.extend(d.to_be_bytes());
    }
    fn extension(&mut self, cx: &mut Cx, kind: i64, payload: Ref<StringCell>) -> Result<()> {
        let kind = kind as i8 as u8;
        match payload.len() {
            n @ (1 | 2 | 4 | 8 | 16) => self.out.extend([0xd4 + n.trailing_zeros() as u8, kind]),
            n => {
                self.length(cx, n, None, Some(0xc7), 0xc8, 0xc9)?;
                self.out.push(kind);
            }
        }
        self.bytes(cx, payload)
    }
    fn big(&mut self, cx: &mut Cx, v: Value) -> Result<()> {
        let Some(big) = cx.as_big(v) else { return cx.type_error("not an Integer") };
        if let Some(n) = big.to_u64() {
            self.unsigned(n);
        } else if let Some(n) = big.to_i64() {
            self.integer(n);
        } else if !(self.bignums && self.registered(cx, v)?) {
            return cx.range_error(format!(
                "bignum too big to convert into '{}'",
                if big > 0.into() { "unsigned long long" } else { "long long" }
            ));
        }
        Ok(())
    }
    /// By a registered type; false when there is none for its class.
    fn registered(&mut self, cx: &mut Cx, v: Value) -> Result<bool> {
        if !self.typed {
            return Ok(false);
        }
        let Some(entry) = entry_for(cx, self.this, v)? else { return Ok(false) };
        let (Some(kind), Some(packing), Some(flags)) = (entry.get(0), entry.get(1), entry.get(2)) else { return Ok(false) };
        if packing.is_nil() {
            return Ok(false);
        }
        self.flush(cx)?;
        let call = Sym::intern("call");
        let payload = if flags.fix() & RECURSIVE != 0 {
            // It writes into a buffer of its own, whose content is the payload.
            let (own, parent) = (new_buffer(cx)?, packer(cx, self.this)?.buffer);
            packer(cx, self.this)?.buffer = own;
            let done = cx.call(packing, call, &[v, self.this]);
            packer(cx, self.this)?.buffer = parent;
            done?;
            cx.call(own, Sym::intern("to_s"), &[])?
        } else {
            cx.call(packing, call, &[v])?
        };
        let payload = cx.to_str(payload)?;
        self.extension(cx, kind.fix(), payload)?;
        Ok(true)
    }
    fn other(&mut self, cx: &mut Cx, v: Value) -> Result<()> {
        if !self.registered(cx, v)? {
            self.flush(cx)?;
            cx.call(v, Sym::intern("to_msgpack"), &[self.this])?;
        }
        Ok(())
    }
    fn list(&mut self, cx: &mut Cx, a: Ref<ArrayCell>) -> Result<()> {
        let n = a.len();
        self.array(cx, n)?;
        for i in 0..n {
            self.value(cx, a.get(i).unwrap_or(Value::NIL))?;
        }
        Ok(())
    }
    fn pairs(&mut self, cx: &mut Cx, h: Ref<HashCell>) -> Result<()> {
        let pairs = cx.hash_pairs(h);
        self.map(cx, pairs.len())?;
        for i in 0..pairs.len() {
            if let Some((key, value)) = pairs.get(i) {
                self.value(cx, key)?;
                self.value(cx, value)?;
            }
        }
        Ok(())
    }
    fn symbol(&mut self, cx: &mut Cx, v: Value) -> Result<()> {
        if self.symbols {
            return self.other(cx, v);
        }
        let text = cx.to_s(v)?;
        self.text(cx, text)
    }
    fn value(&mut self, cx: &mut Cx, v: Value) -> Result<()> {
        self.steps += 1;
        if self.steps.is_multiple_of(STEPS) {
            self.flush(cx)?;
            cx.safepoint()?;
        }
        if v.is_nil() {
            self.out.push(0xc0);
        } else if v == Value::TRUE {
            self.out.push(0xc3);
        } else if v == Value::FALSE {
            self.out.push(0xc2);
        } else if let Some(n) = v.as_fixnum() {
            self.integer(n);
        } else if v.as_sym().is_some() {
            return self.symbol(cx, v);
        } else if let Some(d) = v.as_float() {
            self.float(d);
        } else if let Some(s) = Ref::<StringCell>::from_value(v) {
            if self.typed && cx.class_of(v) != ids::STRING && self.registered(cx, v)? {
                return Ok(());
            }
            return self.text(cx, s);
        } else if let Some(a) = Ref::<ArrayCell>::from_value(v) {
            cx.check_native_stack()?;
            if self.typed && cx.class_of(v) != ids::ARRAY && self.registered(cx, v)? {
                return Ok(());
            }
            return self.list(cx, a);
        } else if let Some(h) = Ref::<HashCell>::from_value(v) {
            cx.check_native_stack()?;
            if self.typed && cx.class_of(v) != ids::HASH && self.registered(cx, v)? {
                return Ok(());
            }
            return self.pairs(cx, h);
        } else if cx.is_integer(v) {
            return self.big(cx, v);
        } else {
            cx.check_native_stack()?;
            return self.other(cx, v);
        }
        Ok(())
    }
}

fn new_buffer(cx: &mut Cx) -> Result<Value> {
    let class = cx.class_named("MessagePack::Buffer")?;
    let class = cx.class_value(class);
    cx.call(class, sym::new, &[])
}

/// What is registered for the class of a value, or the first class or module that it has.
fn entry_for(cx: &mut Cx, this: Value, v: Value) -> Result<Option<Ref<ArrayCell>>> {
    let Some(types) = Ref::<HashCell>::from_value(packer(cx, this)?.types) else { return Ok(None) };
    let class = cx.class_of(v);
    let class = cx.class_value(class);
    if let Some(entry) = cx.hash_get(types, class)? {
        return Ok(Ref::from_value(entry));
    }
    let pairs = cx.hash_pairs(types);
    for (class, entry) in pairs.iter() {
        if let Some(class) = cx.class_id(class)
            && cx.is_a(v, class)
        {
            return Ok(Ref::from_value(entry));
        }
    }
    Ok(None)
}

/// The writing methods: a call of one writes one value, and gives the packer back.
fn write(cx: &mut Cx, this: Value, f: impl FnOnce(&mut Writer, &mut Cx) -> Result<()>) -> Result<Value> {
    let mut writer = Writer::new(cx, this)?;
    f(&mut writer, cx)?;
    writer.flush(cx)?;
    Ok(this)
}

fn expect<T>(cx: &mut Cx, found: Option<T>, v: Value, what: &str) -> Result<T> {
    match found {
        Some(t) => Ok(t),
        None => {
            let class = cx.describe_for_conversion(v);
            cx.type_error(format!("wrong argument type {class} (expected {what})"))
        }
    }
}

fn header(cx: &mut Cx, v: Value) -> Result<usize> {
    let n = cx.to_i64(v)?;
    match u32::try_from(n) {
        Ok(n) => Ok(n as usize),
        Err(_) => cx.range_error(format!("integer {n} too {} to convert to 'unsigned int'", if n < 0 { "small" } else { "big" })),
    }
}

/// Methods of `MessagePack::Packer`.
#[ruby_class(ids::OBJECT)]
mod native {
    use super::*;

    #[method("__setup", private)]
    fn setup(cx: &mut Cx, this: Value, buffer: Value, compatible: bool) -> Result<()> {
        super::super::buffer(cx, buffer)?;
        cx.data_init(this, Packer { buffer, types: Value::NIL, compatible, symbols: false, bignums: false })
    }
    /// The registered types: a Hash that only registering changes.
    #[method("__types=")]
    fn set_types(cx: &mut Cx, this: Value, types: Value) -> Result<()> {
        packer(cx, this)?.types = types;
        Ok(())
    }
    #[method("__types")]
    fn types(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(packer(cx, this)?.types)
    }
    /// Whether Symbols, and Integers of more than 64 bits, have types of their own.
    #[method("__special")]
    fn special(cx: &mut Cx, this: Value, symbols: bool, bignums: bool) -> Result<()> {
        let p = packer(cx, this)?;
        p.symbols |= symbols;
        p.bignums |= bignums;
        Ok(())
    }
    /// Whether the older form of texts is written.
    #[method("compatibility_mode?")]
    fn is_compatible(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(packer(cx, this)?.compatible)
    }
    /// The MessagePack::Buffer that is written to.
    #[method("buffer")]
    fn buffer(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(packer(cx, this)?.buffer)
    }
    #[method("__write", private)]
    fn write_value(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        write(cx, this, |w, cx| w.value(cx, v))
    }
    /// Writes nil.
    #[method("write_nil")]
    fn write_nil(cx: &mut Cx, this: Value) -> Result<Value> {
        write(cx, this, |w, cx| w.value(cx, Value::NIL))
    }
    /// Writes true.
    #[method("write_true")]
    fn write_true(cx: &mut Cx, this: Value) -> Result<Value> {
        write(cx, this, |w, cx| w.value(cx, Value::TRUE))
    }
    /// Writes false.
    #[method("write_false")]
    fn write_false(cx: &mut Cx, this: Value) -> Result<Value> {
        write(cx, this, |w, cx| w.value(cx, Value::FALSE))
    }
    /// Writes a Float of 64 bits.
    #[method("write_float")]
    fn write_float(cx: &mut Cx, this: Value, v: f64) -> Result<Value> {
        write(cx, this, |w, _| {
            w.float(v);
            Ok(())
        })
    }
    /// Writes a number as a Float of 32 bits; ArgumentError for what is no number.
    #[method("write_float32")]
    fn write_float32(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        if !cx.is_a(v, ids::NUMERIC) {
            return cx.arg_error("Expected numeric");
        }
        let d = cx.to_f64(v)?;
        write(cx, this, |w, _| {
            w.out.push(0xca);
            w.out.extend((d as f32).to_be_bytes());
            Ok(())
        })
    }
    /// Writes a String; TypeError for other objects.
    #[method("write_string")]
    fn write_string(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        let s = expect(cx, Ref::<StringCell>::from_value(v), v, "String")?;
        write(cx, this, |w, cx| w.text(cx, s))
    }
    /// Writes a Symbol; TypeError for other objects.
    #[method("write_symbol")]
    fn write_symbol(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        expect(cx, v.as_sym(), v, "Symbol")?;
        write(cx, this, |w, cx| w.symbol(cx, v))
    }
    /// Writes an Array; TypeError for other objects.
    #[method("write_array")]
    fn write_array(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        let a = expect(cx, Ref::<ArrayCell>::from_value(v), v, "Array")?;
        write(cx, this, |w, cx| w.list(cx, a))
    }
    /// Writes a Hash; TypeError for other objects.
    #[method("write_hash")]
    fn write_hash(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        let h = expect(cx, Ref::<HashCell>::from_value(v), v, "Hash")?;
        write(cx, this, |w, cx| w.pairs(cx, h))
    }
    /// Writes an Integer; TypeError for other objects.
    #[method("write_int")]
    fn write_int(cx: &mut Cx, this: Value, v: Value) -> Result<Value> {
        expect(cx, cx.is_integer(v).then_some(()), v, "Integer")?;
        write(cx, this, |w, cx| match v.as_fixnum() {
            Some(n) => {
                w.integer(n);
                Ok(())
            }
            None => w.big(cx, v),
        })
    }
    /// Writes the beginning of an Array of so many elements, which are to follow.
    #[method("write_array_header")]
    fn write_array_header(cx: &mut Cx, this: Value, n: Value) -> Result<Value> {
        let n = header(cx, n)?;
        write(cx, this, |w, cx| w.array(cx, n))
    }
    /// Writes the beginning of a Hash of so many pairs, which are to follow.
    #[method("write_map_header")]
    fn write_map_header(cx: &mut Cx, this: Value, n: Value) -> Result<Value> {
        let n = header(cx, n)?;
        write(cx, this, |w, cx| w.map(cx, n))
    }
    /// Writes the beginning of a binary text of so many bytes, which are to follow.
    #[method("write_bin_header")]
    fn write_bin_header(cx: &mut Cx, this: Value, n: Value) -> Result<Value> {
        let n = header(cx, n)?;
        write(cx, this, |w, cx| w.binary(cx, n))
    }
    /// Writes an extension of a type from -128 to 127; RangeError for others.
    #[method("write_ext")]
    fn write_ext(cx: &mut Cx, this: Value, kind: i64, payload: Ref<StringCell>) -> Result<Value> {
        if i8::try_from(kind).is_err() {
            return cx.range_error(format!("integer {kind} too big to convert to `signed char'"));
        }
        write(cx, this, |w, cx| w.extension(cx, kind, payload))
    }
}
pub(super) use native::METHODS;
