//! msgpack's `msgpack/msgpack`: packers, unpackers and their buffers (the MessagePack specification of 2017). What is slow is native: the bytes of a buffer, packing
//! ([`pack`]) and unpacking ([`unpack`]). Arguments, streams and factories are Ruby (`ruby/msgpack_msgpack.rb`).
//!
//! A buffer counts against the VM's limit, and grows only as the heap admits; both directions poll.

mod pack;
mod unpack;

use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Payload of a MessagePack::Buffer: bytes that were written and not read.
#[derive(Trace, Default)]
struct Buffer {
    bytes: Vec<u8>,
    /// Those before it were read.
    at: usize,
}
impl NativeData for Buffer {
    fn refers(&self) -> bool {
        false
    }
    fn weight(&self) -> usize {
        self.bytes.capacity()
    }
    fn block(&self) -> usize {
        self.bytes.capacity()
    }
}

impl Buffer {
    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or(&[])
    }
    /// Takes note that `n` bytes were read.
    fn consume(&mut self, n: usize) {
        self.at = (self.at + n).min(self.bytes.len());
    }
}

fn buffer(cx: &mut Cx, v: Value) -> Result<&mut Buffer> {
    if !cx.is_data::<Buffer>(v) {
        return cx.arg_error("Uninitialized Buffer object");
    }
    cx.data_mut::<Buffer>(v)
}

/// Tells the heap what a buffer's memory has become. Its `weight` is what a collection takes off again.
fn counted<T>(cx: &mut Cx, v: Value, f: impl FnOnce(&mut Buffer) -> T) -> Result<T> {
    let result = f(buffer(cx, v)?);
    cx.weigh_data(v);
    Ok(result)
}

fn append(cx: &mut Cx, v: Value, more: &[u8]) -> Result<()> {
    let b = buffer(cx, v)?;
    if b.bytes.capacity() - b.bytes.len() < more.len() {
        // What was read goes first: the rest moves anyway.
        let read = b.at;
        let wanted = (b.bytes.len() - read + more.len()).max(64);
        if !cx.heap.admits(wanted) {
            return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
        }
        counted(cx, v, |b| {
            b.bytes.drain(..read);
            b.at = 0;
            zakuro_base::memory::grow(|| b.bytes.try_reserve(more.len()).is_ok());
        })?;
    }
    buffer(cx, v)?.bytes.extend_from_slice(more);
    Ok(())
}

fn clear(cx: &mut Cx, v: Value) -> Result<()> {
    counted(cx, v, |b| *b = Buffer::default())
}

/// Methods of `MessagePack::Buffer`.
#[ruby_class(ids::OBJECT)]
mod native {
    use super::*;

    #[method("__open", private)]
    fn open(cx: &mut Cx, this: Value) -> Result<()> {
        cx.data_init(this, Buffer::default())
    }
    /// The bytes of the content.
    #[method("size")]
    fn size(cx: &mut Cx, this: Value) -> Result<usize> {
        Ok(buffer(cx, this)?.rest().len())
    }
    /// Whether there is no content.
    #[method("empty?")]
    fn is_empty(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(buffer(cx, this)?.rest().is_empty())
    }
    /// Drops the content.
    #[method("clear")]
    fn clear(cx: &mut Cx, this: Value) -> Result<()> {
        super::clear(cx, this)
    }
    /// Appends text; the number of its bytes.
    #[method("__append")]
    fn append(cx: &mut Cx, this: Value, text: Ref<StringCell>) -> Result<usize> {
        let text = Held::of(text);
        super::append(cx, this, &text)?;
        Ok(text.len())
    }
    /// Takes up to `n` bytes out.
    #[method("__take")]
    fn take(cx: &mut Cx, this: Value, n: i64) -> Result<Value> {
        let n = usize::try_from(n).unwrap_or(0).min(buffer(cx, this)?.rest().len());
        if !cx.heap.admits(n) {
            return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
        }
        let taken = StringCell::empty(&cx.heap, ids::STRING.0, string::BINARY);
        // A copy first: the text grows in the heap that the buffer is looked at through.
        let bytes = buffer(cx, this)?.rest().get(..n).unwrap_or(&[]).to_vec();
        StringCell::append(taken, &mut cx.heap, &bytes);
        buffer(cx, this)?.consume(n);
        Ok(taken.as_value())
    }
    /// Drops up to `n` bytes; how many.
    #[method("__drop")]
    fn drop(cx: &mut Cx, this: Value, n: i64) -> Result<usize> {
        let b = buffer(cx, this)?;
        let n = usize::try_from(n).unwrap_or(0).min(b.rest().len());
        b.consume(n);
        Ok(n)
    }
    /// The content as a binary String.
    #[method("to_str", "to_s")]
    fn to_str(cx: &mut Cx, this: Value) -> Result<Value> {
        let bytes = buffer(cx, this)?.rest().to_vec();
        Ok(crate::binary(cx, &bytes))
    }
}

/// `require "msgpack/msgpack"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let module = cx.define_module(ids::OBJECT, "MessagePack");
    for (name, table) in [("Buffer", native::METHODS), ("Packer", pack::METHODS), ("Unpacker", unpack::METHODS)] {
        let class = cx.define_class(module, name, ids::OBJECT);
        cx.class_mut(class).alloc = Alloc::Data;
        cx.define_natives(class, &[table]);
    }
    cx.run_builtin("msgpack/msgpack")
}
