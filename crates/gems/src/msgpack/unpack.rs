//! Unpacking: a machine with a stack of its own, so that depth costs no native stack and a text may come in any number of pieces. A scalar is read when all of it is
//! there; containers under way wait on the stack for what is missing.

use super::{Buffer, buffer, counted};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Containers inside each other.
const DEEPEST: usize = 128;
/// Values between two questions whether to go on.
const STEPS: usize = 4096;
const RECURSIVE: i64 = 1;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sort {
    Array,
    Key,
    Value,
    /// An extension whose unpacker reads for itself.
    Extension,
}

/// Payload of a MessagePack::Unpacker.
#[derive(Trace)]
struct Unpacker {
    buffer: Value,
    /// type => [class, proc, flags], or nil.
    types: Value,
    /// Containers under way, and the key whose value comes next: two values for each of `open`.
    values: TracedVec,
    /// What each container waits for, and how many more elements.
    #[untraced]
    open: Vec<(Sort, usize)>,
    symbolize: bool,
    freeze: bool,
    unknown: bool,
    /// The type of Symbols that are read at once.
    symbol: Option<i8>,
}
impl NativeData for Unpacker {}

fn unpacker(cx: &mut Cx, this: Value) -> Result<&mut Unpacker> {
    if !cx.is_data::<Unpacker>(this) {
        return cx.arg_error("Uninitialized Unpacker object");
    }
    cx.data_mut::<Unpacker>(this)
}

/// What stands in front.
enum Item {
    Value(Value),
    Open(Sort, usize),
    Extension(i8, Value),
    Missing,
    Invalid,
}

/// Big-endian number of `n` bytes behind the head; None when they are not all there.
fn number(rest: &[u8], n: usize) -> Option<u64> {
    Some(rest.get(1..1 + n)?.iter().fold(0, |sum, b| sum << 8 | u64::from(*b)))
}

/// Text of `n` bytes that begins at `from`.
fn text(cx: &Cx, rest: &[u8], from: usize, n: usize, encoding: u8) -> Option<(Value, usize)> {
    let bytes = rest.get(from..from.checked_add(n)?)?;
    Some((cx.str_bytes(bytes, encoding), from + n))
}

/// Reads one head, with the scalar or the text behind it. `rest` is not changed: what is told was `used`.
fn item(cx: &Cx, rest: &[u8]) -> (Item, usize) {
    let Some(head) = rest.first().copied() else { return (Item::Missing, 0) };
    let scalar = |found: Option<Value>, n: usize| found.map_or((Item::Missing, 0), |v| (Item::Value(v), 1 + n));
    let string = |length: Option<u64>, n: usize, encoding: u8| match length.and_then(|l| text(cx, rest, 1 + n, l as usize, encoding)) {
        Some((v, used)) => (Item::Value(v), used),
        None => (Item::Missing, 0),
    };
    let container = |sort: Sort, length: Option<u64>, n: usize| match length {
        Some(0) if sort == Sort::Array => (Item::Value(cx.new_array().as_value()), 1 + n),
        Some(0) => (Item::Value(cx.new_hash().as_value()), 1 + n),
        Some(l) => (Item::Open(sort, l as usize), 1 + n),
        None => (Item::Missing, 0),
    };
    let extension = |length: Option<u64>, n: usize| {
        let found = length.and_then(|l| Some((*rest.get(1 + n)? as i8, text(cx, rest, 2 + n, l as usize, string::BINARY)?)));
        found.map_or((Item::Missing, 0), |(kind, (v, used))| (Item::Extension(kind, v), used))
    };
    match head {
        0x00..=0x7f => (Item::Value(Value::fixnum(head as i64)), 1),
        0xe0..=0xff => (Item::Value(Value::fixnum(head as i8 as i64)), 1),
        0xa0..=0xbf => string(Some(u64::from(head & 0x1f)), 0, string::UTF8),
        0x90..=0x9f => container(Sort::Array, Some(u64::from(head & 15)), 0),
        0x80..=0x8f => container(Sort::Key, Some(u64::from(head & 15)), 0),
        0xc0 => (Item::Value(Value::NIL), 1),
        0xc1 => (Item::Invalid, 0),
        0xc2 => (Item::Value(Value::FALSE), 1),
        0xc3 => (Item::Value(Value::TRUE), 1),
        0xc4..=0xc6 => {
            let n = 1 << (head - 0xc4);
            string(number(rest, n), n, string::BINARY)
        }
        0xc7..=0xc9 => {
            let n = 1 << (head - 0xc7);
            extension(number(rest, n), n)
        }
        0xca => scalar(number(rest, 4).map(|n| cx.float(f32::from_bits(n as u32) as f64)), 4),
        0xcb => scalar(number(rest, 8).map(|n| cx.float(f64::from_bits(n))), 8),
        0xcc..=0xcf => {
            let n = 1 << (head - 0xcc);
            scalar(number(rest, n).map(|n| cx.int_u64(n)), n)
        }
        0xd0..=0xd3 => {
            let n = 1 << (head - 0xd0);
            let shift = 64 - 8 * n as u32;
            scalar(number(rest, n).map(|v| cx.int((v << shift) as i64 >> shift)), n)
        }
        0xd4..=0xd8 => extension(Some(1 << (head - 0xd4)), 0),
        0xd9..=0xdb => {
            let n = 1 << (head - 0xd9);
            string(number(rest, n), n, string::UTF8)
        }
        0xdc | 0xdd => {
            let n = 2 << (head - 0xdc);
            container(Sort::Array, number(rest, n), n)
        }
        0xde | 0xdf => {
            let n = 2 << (head - 0xde);
            container(Sort::Key, number(rest, n), n)
        }
    }
}

/// The head and the payload's length of an extension in front, when they are there.
fn extension_head(rest: &[u8]) -> Option<(i8, usize)> {
    let head = *rest.first()?;
    let n = match head {
        0xc7..=0xc9 => 1 << (head - 0xc7),
        0xd4..=0xd8 => 0,
        _ => return None,
    };
    Some((*rest.get(1 + n)? as i8, 2 + n))
}

fn freeze(v: Value) {
    if Ref::<StringCell>::from_value(v).is_some() || Ref::<ArrayCell>::from_value(v).is_some() || Ref::<HashCell>::from_value(v).is_some() {
        v.set_flags(flags::FROZEN);
    }
}

fn error<T>(cx: &mut Cx, class: &str, message: &str) -> Result<T> {
    cx.raise_named(&format!("MessagePack::{class}"), message)
}

/// A registered type's entry: [class, proc, flags].
fn entry(cx: &mut Cx, this: Value, kind: i8) -> Result<Option<(Value, i64)>> {
    let Some(types) = Ref::<HashCell>::from_value(unpacker(cx, this)?.types) else { return Ok(None) };
    let Some(entry) = cx.hash_get(types, Value::fixnum(kind as i64))?.and_then(Ref::<ArrayCell>::from_value) else { return Ok(None) };
    let (unpacking, flags) = (entry.get(1).unwrap_or(Value::NIL), entry.get(2).and_then(|f| f.as_fixnum()).unwrap_or(0));
    Ok((!unpacking.is_nil()).then_some((unpacking, flags)))
}

/// More bytes from the stream; false when there is none. EOFError at its end.
fn feed(cx: &mut Cx, buffer: Value) -> Result<bool> {
    Ok(cx.call(buffer, Sym::intern("__feed"), &[])?.truthy())
}

/// An extension with its payload becomes a value.
fn extended(cx: &mut Cx, this: Value, kind: i8, payload: Value) -> Result<Value> {
    if unpacker(cx, this)?.symbol == Some(kind) {
        let s = Ref::<StringCell>::of(payload);
        s.set_encoding(string::UTF8);
        return cx.call(payload, Sym::intern("to_sym"), &[]);
    }
    if let Some((unpacking, _)) = entry(cx, this, kind)? {
        return cx.call(unpacking, Sym::intern("call"), &[payload]);
    }
    if !unpacker(cx, this)?.unknown {
        return error(cx, "UnknownExtTypeError", "unexpected extension type");
    }
    let class = cx.class_named("MessagePack::ExtensionValue")?;
    let class = cx.class_value(class);
    cx.call(class, sym::new, &[Value::fixnum(kind as i64), payload])
}

/// Freezes what a program's own code made.
fn freeze_any(cx: &mut Cx, v: Value) -> Result<()> {
    cx.call(v, Sym::intern("freeze"), &[])?;
    Ok(())
}

/// The next object; None when it is not all there yet, and no stream brings more.
fn next(cx: &mut Cx, this: Value) -> Result<Option<Value>> {
    let u = unpacker(cx, this)?;
    let from = if matches!(u.open.last(), Some((Sort::Extension, _))) { u.open.len() } else { 0 };
    match steps(cx, this, from) {
        Ok(found) => Ok(found),
        Err(e) => {
            let u = unpacker(cx, this)?;
            u.open.truncate(from);
            u.values.truncate(2 * from);
            Err(e)
        }
    }
}

fn steps(cx: &mut Cx, this: Value, from: usize) -> Result<Option<Value>> {
    let mut count = 0usize;
    loop {
        count += 1;
        if count.is_multiple_of(STEPS) {
            cx.safepoint()?;
        }
        let u = unpacker(cx, this)?;
        let (source, freezes, symbolize, depth) = (u.buffer, u.freeze, u.symbolize, u.open.len());
        let waits_for = u.open.last().map(|o| o.0);
        // The bytes are taken out while cells are made of them; nothing runs meanwhile.
        let Buffer { bytes, at } = std::mem::take(buffer(cx, source)?);
        let rest = bytes.get(at..).unwrap_or(&[]);
        let recursive = extension_head(rest);
        let (mut found, mut used) = if recursive.is_some() { (Item::Missing, 0) } else { item(cx, rest) };
        *buffer(cx, source)? = Buffer { bytes, at };
        if let Some((kind, head)) = recursive {
            match entry(cx, this, kind)? {
                Some((unpacking, flags)) if flags & RECURSIVE != 0 && unpacker(cx, this)?.symbol != Some(kind) => {
                    if depth >= DEEPEST {
                        return error(cx, "StackError", "stack level too deep");
                    }
                    buffer(cx, source)?.consume(head);
                    let u = unpacker(cx, this)?;
                    u.open.push((Sort::Extension, 1));
                    u.values.extend_from_slice(&[Value::NIL, Value::NIL]);
                    cx.check_native_stack()?;
                    let v = cx.call(unpacking, Sym::intern("call"), &[this])?;
                    let u = unpacker(cx, this)?;
                    u.open.truncate(depth);
                    u.values.truncate(2 * depth);
                    if freezes {
                        freeze_any(cx, v)?;
                    }
                    (found, used) = (Item::Value(v), 0);
                }
                _ => {
                    let Buffer { bytes, at } = std::mem::take(buffer(cx, source)?);
                    (found, used) = item(cx, bytes.get(at..).unwrap_or(&[]));
                    *buffer(cx, source)? = Buffer { bytes, at };
                }
            }
        }
        buffer(cx, source)?.consume(used);
        let mut v = match found {
            Item::Missing => {
                if feed(cx, source)? {
                    continue;
                }
                return Ok(None);
            }
            Item::Invalid => {
                return error(cx, "MalformedFormatError", "invalid byte");
            }
            Item::Open(sort, n) => {
                if depth >= DEEPEST {
                    return error(cx, "StackError", "stack level too deep");
                }
                let container = if sort == Sort::Array { cx.new_array().as_value() } else { cx.new_hash().as_value() };
                let u = unpacker(cx, this)?;
                u.open.push((sort, n));
                u.values.extend_from_slice(&[container, Value::NIL]);
                continue;
            }
            Item::Extension(kind, payload) => {
                let v = extended(cx, this, kind, payload)?;
                if freezes {
                    freeze_any(cx, v)?;
                }
                v
            }
            Item::Value(v) => {
                let is_key = waits_for == Some(Sort::Key);
                if is_key && symbolize && Ref::<StringCell>::from_value(v).is_some_and(|s| s.encoding() == string::UTF8) {
                    cx.call(v, Sym::intern("to_sym"), &[])?
                } else {
                    let is_text = Ref::<StringCell>::from_value(v).is_some();
                    // A text that is a key would be copied and frozen anyway.
                    if freezes || is_key && is_text {
                        freeze(v);
                    }
                    if freezes && is_text { cx.call(v, Sym::intern("-@"), &[])? } else { v }
                }
            }
        };
        // The object goes where it belongs, and so does each container that it completes.
        loop {
            let u = unpacker(cx, this)?;
            if u.open.len() <= from {
                return Ok(Some(v));
            }
            let top = u.open.len() - 1;
            let (Some((sort, left)), Some(container), Some(key)) =
                (u.open.get(top).copied(), u.values.get(2 * top).copied(), u.values.get(2 * top + 1).copied())
            else {
                return error(cx, "UnpackError", "the unpacker was changed meanwhile");
            };
            match sort {
                Sort::Array => {
                    if let Some(a) = Ref::<ArrayCell>::from_value(container) {
                        ArrayCell::push(a, &mut cx.heap, v);
                    }
                }
                Sort::Key => {
                    u.open[top].0 = Sort::Value;
                    if let Some(place) = u.values.get_mut(2 * top + 1) {
                        *place = v;
                    }
                    break;
                }
                Sort::Value => {
                    let key = match Ref::<StringCell>::from_value(key) {
                        Some(_) if symbolize => cx.call(key, Sym::intern("to_sym"), &[])?,
                        _ => key,
                    };
                    if let Some(h) = Ref::<HashCell>::from_value(container) {
                        cx.hash_set(h, key, v)?;
                    }
                }
                Sort::Extension => return Ok(Some(v)),
            }
            let u = unpacker(cx, this)?;
            if u.open.len() <= top {
                return error(cx, "UnpackError", "the unpacker was changed meanwhile");
            }
            if left > 1 {
                u.open[top] = (if sort == Sort::Value { Sort::Key } else { sort }, left - 1);
                break;
            }
            u.open.truncate(top);
            u.values.truncate(2 * top);
            if freezes {
                freeze(container);
            }
            v = container;
        }
        // A buffer that was read to its end gives its memory back.
        let b = buffer(cx, source)?;
        if b.at == b.bytes.len() && b.bytes.capacity() > 4096 {
            counted(cx, source, |b| *b = Buffer::default())?;
        }
    }
}

/// The length of a container whose head is in front.
fn header(cx: &mut Cx, this: Value, sort: Sort) -> Result<Value> {
    let source = unpacker(cx, this)?.buffer;
    loop {
        let Buffer { bytes, at } = std::mem::take(buffer(cx, source)?);
        let rest = bytes.get(at..).unwrap_or(&[]);
        let short = if sort == Sort::Array { 0x90 } else { 0x80 };
        let head = rest.first().copied();
        let two = if sort == Sort::Array { 0xdc } else { 0xde };
        let found = match head {
            Some(h) if h & 0xf0 == short => Some(Some((u64::from(h & 15), 1))),
            Some(h) if h == two || h == two + 1 => {
                let n = 2 << (h - two);
                Some(number(rest, n).map(|l| (l, 1 + n)))
            }
            Some(_) => None,
            None => Some(None),
        };
        *buffer(cx, source)? = Buffer { bytes, at };
        match found {
            Some(Some((length, used))) => {
                buffer(cx, source)?.consume(used);
                return Ok(cx.int_u64(length));
            }
            None => return error(cx, "UnexpectedTypeError", "unexpected type"),
            Some(None) => {
                if !feed(cx, source)? {
                    return cx.raise(ids::EOF_ERROR, "end of buffer reached");
                }
            }
        }
    }
}

/// Methods of `MessagePack::Unpacker`.
#[ruby_class(ids::OBJECT)]
mod native {
    use super::*;

    #[method("__setup", private)]
    fn setup(cx: &mut Cx, this: Value, buffer: Value, symbolize: bool, freeze: bool, unknown: bool) -> Result<()> {
        super::super::buffer(cx, buffer)?;
        let u =
            Unpacker { buffer, types: Value::NIL, values: TracedVec::new(), open: Vec::new(), symbolize, freeze, unknown, symbol: None };
        cx.data_init(this, u)
    }
    #[method("__types=")]
    fn set_types(cx: &mut Cx, this: Value, types: Value) -> Result<()> {
        unpacker(cx, this)?.types = types;
        Ok(())
    }
    #[method("__types")]
    fn types(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(unpacker(cx, this)?.types)
    }
    #[method("__symbol_type=")]
    fn set_symbol(cx: &mut Cx, this: Value, kind: i64) -> Result<()> {
        unpacker(cx, this)?.symbol = i8::try_from(kind).ok();
        Ok(())
    }
    /// Whether keys of Hashes become Symbols.
    #[method("symbolize_keys?")]
    fn symbolizes(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(unpacker(cx, this)?.symbolize)
    }
    /// Whether objects are frozen.
    #[method("freeze?")]
    fn freezes(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(unpacker(cx, this)?.freeze)
    }
    /// Whether extensions of unknown types become ExtensionValue; else they raise.
    #[method("allow_unknown_ext?")]
    fn allows_unknown(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(unpacker(cx, this)?.unknown)
    }
    /// The MessagePack::Buffer that is read from.
    #[method("buffer")]
    fn buffer(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(unpacker(cx, this)?.buffer)
    }
    /// The next object. EOFError when it is not all there; what there is of it is lost then.
    #[method("read", "unpack")]
    fn read(cx: &mut Cx, this: Value) -> Result<Value> {
        match next(cx, this)? {
            Some(v) => Ok(v),
            None => {
                let u = unpacker(cx, this)?;
                u.open.clear();
                u.values.clear();
                cx.raise(ids::EOF_ERROR, "end of buffer reached")
            }
        }
    }
    /// The same, but `none` when it is not all there: what there is waits for more.
    #[method("__next", private)]
    fn read_or(cx: &mut Cx, this: Value, none: Value) -> Result<Value> {
        Ok(next(cx, this)?.unwrap_or(none))
    }
    /// The number of elements of the Array that comes next; UnexpectedTypeError for something else.
    #[method("read_array_header")]
    fn read_array_header(cx: &mut Cx, this: Value) -> Result<Value> {
        header(cx, this, Sort::Array)
    }
    /// The number of pairs of the Hash that comes next; UnexpectedTypeError for something else.
    #[method("read_map_header")]
    fn read_map_header(cx: &mut Cx, this: Value) -> Result<Value> {
        header(cx, this, Sort::Key)
    }
    /// Whether nil is in front. EOFError when nothing is.
    #[method("skip_nil")]
    fn skip_nil(cx: &mut Cx, this: Value) -> Result<bool> {
        let source = unpacker(cx, this)?.buffer;
        loop {
            if let Some(head) = super::super::buffer(cx, source)?.rest().first() {
                return Ok(*head == 0xc0);
            }
            if !feed(cx, source)? {
                return cx.raise(ids::EOF_ERROR, "end of buffer reached");
            }
        }
    }
    /// Drops what was not read.
    #[method("reset")]
    fn reset(cx: &mut Cx, this: Value) -> Result<()> {
        let u = unpacker(cx, this)?;
        u.open.clear();
        u.values.clear();
        let source = u.buffer;
        super::super::clear(cx, source)
    }
}
pub(super) use native::METHODS;
