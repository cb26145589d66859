//! Between [`Value`]s and a VM's objects, and between [`Value`]s and messages.
//!
//! Messages are packed and opened by a VM. A native thread of the host has none, so the process keeps a pool of *translators*: VMs without a program that
//! do nothing else. Each serves one thread at a time and is thrown away with its heap after some use, so it needs no collection.
//! Rejected: reading and writing messages by hand (a second copy of the transfer format, which changes).

use super::channel::Channel;
use super::error::Error;
use super::value::Value;
use crate::Process;
use std::sync::{Arc, Mutex};
use zakuro_base::Options;
use zakuro_corelib::vm_api::channel::ChannelHandle;
use zakuro_sched::{PollWord, Stack, StackPool, StackSize};
use zakuro_vm::boot::BootImage;
use zakuro_vm::channels::Shows;
use zakuro_vm::transfer::Envelope;
use zakuro_vm::{ArrayCell, BignumCell, Cx, Exc, HashCell, Kind, Ref, StringCell, Sym, Value as Cell, Vm, ids, sym};

/// Deeper nesting is refused, on both ways.
const MAX_DEPTH: usize = 500;
/// Larger trees are refused: an object that appears twice is two objects outside, so a small graph can be a huge tree.
const MAX_NODES: usize = 20_000_000;
/// Bytes after which a translator's VM is replaced.
const WORN_OUT: usize = 4 << 20;

/// Ids of text::encoding.
const BINARY: u8 = 0;

/// Makes the value in a VM. The caller keeps it out of collections: none happens here, for no Ruby code runs.
pub fn build(cx: &mut Cx, value: Value, depth: usize) -> Result<Cell, Error> {
    if depth > MAX_DEPTH {
        return Err(Error::Convert("nested too deep".into()));
    }
    Ok(match value {
        Value::Nil => Cell::NIL,
        Value::Bool(b) => Cell::bool(b),
        Value::Int(n) => cx.int(n),
        Value::BigInt(n) => cx.big(n),
        Value::Float(f) => cx.float(f),
        Value::Str(s) => cx.str(&s),
        Value::Bytes(b) => cx.str_bytes(&b, BINARY),
        Value::Symbol(s) => Cell::sym(Sym::intern(&s)),
        Value::Array(items) => {
            let array = cx.new_array();
            for item in items {
                let v = build(cx, item, depth + 1)?;
                ArrayCell::push(array, &mut cx.heap, v);
            }
            array.as_value()
        }
        Value::Map(pairs) => {
            let hash = cx.new_hash();
            for (k, v) in pairs {
                let (k, v) = (build(cx, k, depth + 1)?, build(cx, v, depth + 1)?);
                if cx.hash_set(hash, k, v).is_err() {
                    return Err(failure(cx));
                }
            }
            hash.as_value()
        }
        Value::Channel(c) => cx.data(ids::CHANNEL, ChannelHandle(c.0.clone(), Shows::Always)),
        Value::Object { class, .. } => return Err(Error::Convert(format!("can't make a Ruby object of class {class}"))),
    })
}

/// Reads an object of a VM. Where Rust has no type, `inspect` is called: Ruby code may run.
pub struct Reader<'a> {
    pub cx: &'a mut Cx,
    /// The way from the root, against circles.
    path: Vec<Cell>,
    nodes: usize,
    process: Option<Arc<Process>>,
}

impl<'a> Reader<'a> {
    pub fn new(cx: &'a mut Cx, process: Option<Arc<Process>>) -> Reader<'a> {
        Reader { cx, path: Vec::new(), nodes: 0, process }
    }
    /// Err(Exc): Ruby code raised; it is pending in the VM.
    pub fn read(&mut self, v: Cell) -> Result<Result<Value, Error>, Exc> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Ok(Err(Error::Convert("too large".into())));
        }
        Ok(Ok(match v {
            Cell::NIL => Value::Nil,
            Cell::TRUE => Value::Bool(true),
            Cell::FALSE => Value::Bool(false),
            _ if v.as_fixnum().is_some() => Value::Int(v.as_fixnum().unwrap_or(0)),
            _ if v.as_sym().is_some() => Value::Symbol(v.as_sym().map(|s| s.name().to_string()).unwrap_or_default()),
            _ if v.as_float().is_some() => Value::Float(v.as_float().unwrap_or(0.0)),
            _ if !v.is_cell() => Value::Nil,
            _ => return self.cell(v),
        }))
    }
    fn cell(&mut self, v: Cell) -> Result<Result<Value, Error>, Exc> {
        if self.path.len() > MAX_DEPTH {
            return Ok(Err(Error::Convert("nested too deep".into())));
        }
        if self.path.contains(&v) {
            return Ok(Err(Error::Convert("contains itself".into())));
        }
        match v.kind_of_cell() {
            Kind::Bignum => {
                let n = (*Ref::<BignumCell>::of(v).value).clone();
                Ok(Ok(i64::try_from(&n).map_or(Value::BigInt(n), Value::Int)))
            }
            Kind::String => {
                let s = Ref::<StringCell>::of(v);
                let bytes = s.to_vec();
                if s.encoding() == BINARY {
                    return Ok(Ok(Value::Bytes(bytes)));
                }
                Ok(Ok(String::from_utf8(bytes).map_or_else(|e| Value::Bytes(e.into_bytes()), Value::Str)))
            }
            Kind::Array => {
                self.path.push(v);
                let array = Ref::<ArrayCell>::of(v);
                let mut out = Vec::with_capacity(array.len().min(1 << 16));
                let mut i = 0;
                while let Some(item) = array.get(i) {
                    match self.read(item)? {
                        Ok(x) => out.push(x),
                        Err(e) => return Ok(Err(e)),
                    }
                    i += 1;
                }
                self.path.pop();
                Ok(Ok(Value::Array(out)))
            }
            Kind::Hash => {
                self.path.push(v);
                let pairs = self.cx.hash_pairs(Ref::<HashCell>::of(v));
                let mut out = Vec::with_capacity(pairs.len().min(1 << 16));
                for (k, x) in pairs {
                    match (self.read(k)?, self.read(x)?) {
                        (Ok(k), Ok(x)) => out.push((k, x)),
                        (Err(e), _) | (_, Err(e)) => return Ok(Err(e)),
                    }
                }
                self.path.pop();
                Ok(Ok(Value::Map(out)))
            }
            _ => {
                if let (true, Some(s)) = (self.cx.is_data::<ChannelHandle>(v), &self.process) {
                    let channel = self.cx.data_ref::<ChannelHandle>(v)?.0.clone();
                    return Ok(Ok(Value::Channel(Channel(channel, s.clone()))));
                }
                let class = self.cx.class_name_of(v);
                let text = self.cx.inspect_text(v)?;
                Ok(Ok(Value::Object { class, text }))
            }
        }
    }
}

/// Takes the pending exception of a translator's VM.
fn failure(cx: &mut Cx) -> Error {
    let e = cx.take_pending();
    let message = cx.call(e, sym::message, &[]).and_then(|m| cx.to_s_text(m)).unwrap_or_default();
    Error::Convert(message)
}

/// A VM without a program or a scheduler.
struct Translator {
    vm: Box<Vm>,
    used: usize,
    /// Outlives the VM's use of it (field order).
    _stack: Stack,
}

/// See the module. Short lock: the idle ones.
#[derive(Default)]
pub struct TranslatorPool(Mutex<Vec<Translator>>);

impl TranslatorPool {
    fn with<T>(&self, process: &Process, f: impl FnOnce(&mut Cx) -> Result<T, Error>) -> Result<T, Error> {
        let idle = self.0.lock().unwrap_or_else(|e| e.into_inner()).pop();
        let mut translator = match idle {
            Some(o) => o,
            None => Translator::new(process.boot, &process.pool)?,
        };
        let result = f(&mut translator.vm);
        translator.used += 1;
        if translator.vm.heap.stats().allocated_bytes < WORN_OUT as _ && translator.used < 10_000 {
            self.0.lock().unwrap_or_else(|e| e.into_inner()).push(translator);
        }
        result
    }
    /// A message with the value.
    pub fn pack(&self, process: &Process, value: Value) -> Result<Envelope, Error> {
        self.with(process, |cx| {
            let v = build(cx, value, 0)?;
            match cx.pack(v) {
                Ok(e) => Ok(e),
                Err(_) => Err(failure(cx)),
            }
        })
    }
    /// The value of a message.
    pub fn open(&self, process: &Process, message: Envelope) -> Result<Value, Error> {
        self.with(process, |cx| {
            let opened = match cx.open(message) {
                Ok(v) => Reader::new(cx, process.arc()).read(v),
                Err(e) => Err(e),
            };
            match opened {
                Ok(v) => v,
                Err(_) => Err(failure(cx)),
            }
        })
    }
}

impl Translator {
    fn new(boot: &'static BootImage, pool: &StackPool) -> Result<Translator, Error> {
        let stack = pool.take(StackSize::Main).map_err(|e| Error::Invalid(format!("no stack: {e}")))?;
        let mut vm = Vm::new(boot, Arc::new(Options { gc_never: true, ..Options::default() }), Arc::new(PollWord::new()));
        vm.gc_disabled = true;
        let mut stacks = zakuro_vm::fiber::layout(&stack);
        // Runs on the host's own native thread; only the value and frame stacks are the slot's.
        stacks.native_limit = std::ptr::null();
        stacks.native_top = std::ptr::null();
        // SAFETY: the stack is kept beside the VM and dropped after it.
        unsafe { vm.enter_stacks(stacks) };
        Ok(Translator { vm, used: 0, _stack: stack })
    }
}
