//! IO::Buffer: bytes that several views may share: made, mapped, sliced, resized, given on. What is in them: [`access`].
//!
//! Memory is a hidden String of the VM's heap (so it counts against the VM's limit and is collected), or that of the String given to `for`, which is
//! locked while a block works on it. A buffer over a file reads and writes the file at each access.
//! Rejected: mmap(2) of files. When a mapped file shrinks, an access beyond its end is SIGBUS, which ends the process, all VMs with it.
//! Rejected: pointers to memory (a slice must find out that its source went away, and a String moves its bytes when it must).

pub mod access;

use super::object;
use super::whole::io_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use zakuro_macros::{Trace, ruby_class};
use zakuro_object::string::BINARY;
use zakuro_vm::*;

pub const EXTERNAL: u32 = 1;
pub const INTERNAL: u32 = 2;
pub const MAPPED: u32 = 4;
pub const SHARED: u32 = 8;
pub const LOCKED: u32 = 32;
pub const PRIVATE: u32 = 64;
pub const READONLY: u32 = 128;
pub const PAGE_SIZE: usize = 4096;
const DEFAULT_SIZE: usize = 16 * PAGE_SIZE;

pub fn setup(cx: &mut Cx) {
    let _ = cx.include_module(ids::IO_BUFFER, ids::COMPARABLE);
    for (name, n) in [
        ("PAGE_SIZE", PAGE_SIZE as u32),
        ("DEFAULT_SIZE", DEFAULT_SIZE as u32),
        ("EXTERNAL", EXTERNAL),
        ("INTERNAL", INTERNAL),
        ("MAPPED", MAPPED),
        ("SHARED", SHARED),
        ("LOCKED", LOCKED),
        ("PRIVATE", PRIVATE),
        ("READONLY", READONLY),
        ("LITTLE_ENDIAN", 4),
        ("BIG_ENDIAN", 8),
        ("HOST_ENDIAN", if cfg!(target_endian = "little") { 4 } else { 8 }),
        ("NETWORK_ENDIAN", 8),
    ] {
        cx.const_set(ids::IO_BUFFER, Sym::intern(name), Value::fixnum(n as i64));
    }
}

/// Where the bytes are.
#[derive(Trace, Clone, Default)]
pub enum Memory {
    #[default]
    Null,
    /// In a String.
    Text(Value),
    /// In a file, from an offset.
    File(#[untraced] Arc<OwnedFd>, u64),
}

impl Memory {
    pub fn is_null(&self) -> bool {
        matches!(self, Memory::Null)
    }
    fn same(&self, other: &Memory) -> bool {
        match (self, other) {
            (Memory::Text(a), Memory::Text(b)) => a == b,
            (Memory::File(a, x), Memory::File(b, y)) => Arc::ptr_eq(a, b) && x == y,
            _ => false,
        }
    }
}

/// Payload of a buffer.
#[derive(Trace, Clone)]
pub struct Buffer {
    pub memory: Memory,
    pub offset: usize,
    pub size: usize,
    pub flags: u32,
    /// Of a slice: the buffer that owns the memory; else nil.
    root: Value,
}

impl Buffer {
    /// Whether another buffer owns its memory.
    pub fn is_slice(&self) -> bool {
        !self.root.is_nil()
    }
}

impl Default for Buffer {
    fn default() -> Buffer {
        Buffer { memory: Memory::Null, offset: 0, size: 0, flags: 0, root: Value::NIL }
    }
}

impl NativeData for Buffer {
    fn held(&self) -> usize {
        // A slice shows another one's memory, and a text's or a file's is not of its making.
        let own = self.root.is_nil() && self.flags & (INTERNAL | MAPPED) != 0 && self.flags & EXTERNAL == 0;
        if own { self.size } else { 0 }
    }
    fn snapshot(&self, values: &mut Gathered) -> Option<Rebuild> {
        let Buffer { offset, size, flags, .. } = *self;
        values.push(self.root);
        let file = match &self.memory {
            Memory::File(fd, at) => Some((fd.clone(), *at)),
            Memory::Text(t) => {
                values.push(*t);
                None
            }
            Memory::Null => None,
        };
        Some(rebuild(move |_, v| {
            let memory = match (&file, v.get(1)) {
                (Some((fd, at)), _) => Memory::File(fd.clone(), *at),
                (None, Some(t)) => Memory::Text(*t),
                (None, None) => Memory::Null,
            };
            Some(Box::new(Buffer { memory, offset, size, flags: flags & !LOCKED, root: v.first().copied().unwrap_or(Value::NIL) }))
        }))
    }
}

pub fn get(cx: &mut Cx, v: Value) -> Result<&Buffer> {
    cx.data_ref::<Buffer>(v)
}

/// The buffer of an argument. TypeError
pub fn argument(cx: &mut Cx, v: Value) -> Result<&Buffer> {
    if cx.is_data::<Buffer>(v) {
        return get(cx, v);
    }
    let shown = cx.describe_for_conversion(v);
    cx.type_error(format!("wrong argument type {shown} (expected IO::Buffer)"))
}

/// Does the memory still stand that a view was made on?
pub fn is_valid(cx: &mut Cx, b: &Buffer) -> bool {
    if !b.root.is_nil() {
        return match cx.data_ref::<Buffer>(b.root) {
            Ok(root) => root.memory.same(&b.memory) && b.offset + b.size <= root.offset + root.size,
            Err(_) => {
                cx.take_pending();
                false
            }
        };
    }
    match &b.memory {
        Memory::Text(t) => Ref::<StringCell>::from_value(*t).is_some_and(|s| b.offset + b.size <= s.len()),
        _ => true,
    }
}

/// A hidden String of zeros.
fn zeros(cx: &mut Cx, size: usize) -> Result<Value> {
    let v = cx.str_bytes(b"", BINARY);
    grow(cx, v, size, (libc::ENOMEM, "io_buffer_map_memory:mmap"))?;
    Ok(v)
}

/// Appends zeros up to `size` bytes. AllocationError; for sizes that the reference maps, the system's error as it names it.
fn grow(cx: &mut Cx, v: Value, size: usize, (errno, call): (i32, &str)) -> Result<()> {
    let s = Ref::<StringCell>::of(v);
    if size > isize::MAX as usize / 2 || StringCell::ensure_capacity(s, &mut cx.heap, size).is_err() {
        if size >= PAGE_SIZE {
            return super::errors::fail(cx, errno, call);
        }
        return cx.raise(ids::BUFFER_ALLOCATION_ERROR, "Could not allocate buffer!");
    }
    while s.len() < size {
        let n = (size - s.len()).min(DEFAULT_SIZE);
        StringCell::append(s, &mut cx.heap, &[0; DEFAULT_SIZE][..n]);
        cx.safepoint()?;
    }
    Ok(())
}

fn default_flags(size: usize) -> u32 {
    if size >= PAGE_SIZE { MAPPED } else { INTERNAL }
}

/// A size, length or offset: "Size can't be negative!"
pub fn number(cx: &mut Cx, v: Value, what: &str) -> Result<usize> {
    if let Some(n) = v.as_fixnum().and_then(|n| usize::try_from(n).ok()) {
        return Ok(n);
    }
    if !cx.is_integer(v) {
        return cx.type_error("not an Integer");
    }
    let n = match cx.as_big(v).filter(|_| !v.is_fixnum()) {
        // No memory is as large: what asks for it is out of range, as it is with any size that can be told.
        Some(n) if n > i64::MAX.into() && n <= u64::MAX.into() => return Ok(usize::MAX),
        _ => cx.to_i64(v)?,
    };
    match usize::try_from(n) {
        Ok(n) => Ok(n),
        Err(_) => cx.arg_error(format!("{what} can't be negative!")),
    }
}

/// Offset and length of a part of `size` bytes; by default the rest.
pub fn part(cx: &mut Cx, size: usize, offset: Option<Value>, length: Option<Value>) -> Result<(usize, usize)> {
    let offset = match offset.filter(|v| !v.is_nil()) {
        Some(v) => number(cx, v, "Offset")?,
        None => 0,
    };
    let length = match length.filter(|v| !v.is_nil()) {
        Some(v) => number(cx, v, "Length")?,
        None if offset > size => return cx.arg_error("The given offset is bigger than the buffer size!"),
        None => size - offset,
    };
    in_range(cx, size, offset, length)?;
    Ok((offset, length))
}

pub fn in_range(cx: &mut Cx, size: usize, offset: usize, length: usize) -> Result<()> {
    if offset > size {
        return cx.arg_error("Specified offset is bigger than the buffer size!");
    }
    if length > size - offset {
        return cx.arg_error("Specified offset+length is bigger than the buffer size!");
    }
    Ok(())
}

/// Makes a buffer of its own memory.
pub fn make(cx: &mut Cx, size: usize) -> Result<Value> {
    let b = if size == 0 {
        Buffer::default()
    } else {
        Buffer { memory: Memory::Text(zeros(cx, size)?), size, flags: default_flags(size), ..Buffer::default() }
    };
    Ok(cx.data(ids::IO_BUFFER, b))
}

/// Runs a block with a buffer over a String that nobody else may change meanwhile.
fn with_text(cx: &mut Cx, class: ClassId, text: Value, block: Block) -> Result<Value> {
    let s = Ref::<StringCell>::of(text);
    let flags = if text.is_frozen() { EXTERNAL | READONLY } else { EXTERNAL };
    if flags & READONLY == 0 {
        cx.lock_string(text)?;
    }
    let v = cx.data(class, Buffer { memory: Memory::Text(text), size: s.len(), flags, ..Buffer::default() });
    let r = cx.yield1(block, v);
    cx.unlock_string(text);
    if let Ok(b) = cx.data_mut::<Buffer>(v) {
        *b = Buffer::default();
    }
    r
}

fn file_buffer(cx: &mut Cx, file: Value, size: Option<Value>, offset: Option<Value>, flags: Option<Value>) -> Result<Buffer> {
    let io = io_of(cx, file)?;
    object::flush(cx, io)?;
    let fd = object::get(cx, io)?.fd;
    // SAFETY: fstat fills the zeroed struct; fcntl only asks.
    let (st, access) = unsafe {
        let mut st: libc::stat = std::mem::zeroed();
        if libc::fstat(fd, &mut st) != 0 {
            return super::fail_os(cx, "");
        }
        (st, libc::fcntl(fd, libc::F_GETFL) & libc::O_ACCMODE)
    };
    let whole = st.st_size.max(0) as usize;
    let given = match size.filter(|s| !s.is_nil()) {
        Some(s) => {
            let n = number(cx, s, "Size")?;
            if n == 0 {
                return cx.arg_error("Size can't be zero!");
            }
            if n > whole {
                return cx.arg_error("Size can't be larger than file size!");
            }
            Some(n)
        }
        None if whole == 0 => return cx.arg_error("Invalid negative or zero file size!"),
        None => None,
    };
    let offset = match offset {
        Some(o) => cx.to_i64(o)?,
        None => 0,
    };
    let Ok(offset) = usize::try_from(offset) else { return cx.arg_error("Offset can't be negative!") };
    let size = given.unwrap_or(whole.saturating_sub(offset));
    if size == 0 || offset > whole - size {
        return cx.arg_error("Offset too large!");
    }
    let flags = match flags.filter(|f| !f.is_nil()) {
        Some(f) => number(cx, f, "Flags")? as u32 & (PRIVATE | READONLY),
        None => 0,
    };
    // As mmap(2) would say.
    if offset % PAGE_SIZE != 0 {
        return super::fail(cx, libc::EINVAL, "io_buffer_map_file:mmap");
    }
    if st.st_mode & libc::S_IFMT != libc::S_IFREG {
        return super::fail(cx, libc::ENODEV, "io_buffer_map_file:mmap");
    }
    if access == libc::O_WRONLY || access == libc::O_RDONLY && flags & (PRIVATE | READONLY) == 0 {
        return super::fail(cx, libc::EACCES, "io_buffer_map_file:mmap");
    }
    // SAFETY: an open descriptor; the copy is the guard's.
    let own = unsafe {
        match libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) {
            -1 => return super::fail_os(cx, ""),
            fd => OwnedFd::from_raw_fd(fd),
        }
    };
    if flags & PRIVATE == 0 {
        let flags = flags | EXTERNAL | MAPPED | SHARED;
        return Ok(Buffer { memory: Memory::File(Arc::new(own), offset as u64), size, flags, ..Buffer::default() });
    }
    let text = zeros(cx, size)?;
    read_file(own.as_raw_fd(), offset as u64, StringCell::bytes_mut(Ref::of(text), &mut cx.heap));
    Ok(Buffer { memory: Memory::Text(text), size, flags: flags | MAPPED, ..Buffer::default() })
}

/// Reads what is there; the rest stays zero.
pub fn read_file(fd: i32, at: u64, into: &mut [u8]) {
    let mut done = 0;
    while done < into.len() {
        let rest = &mut into[done..];
        // SAFETY: rest is writable for its length.
        let n = unsafe { libc::pread(fd, rest.as_mut_ptr().cast(), rest.len(), (at + done as u64) as i64) };
        match n {
            n if n > 0 => done += n as usize,
            -1 if super::errors::last_errno() == libc::EINTR => {}
            _ => return,
        }
    }
}

fn flag_names(cx: &mut Cx, b: &Buffer) -> String {
    let mut out = String::new();
    let mut say = |on: bool, name: &str| {
        if on {
            out.push(' ');
            out.push_str(name);
        }
    };
    say(b.memory.is_null(), "NULL");
    for (bit, name) in [
        (EXTERNAL, "EXTERNAL"),
        (INTERNAL, "INTERNAL"),
        (MAPPED, "MAPPED"),
        (SHARED, "SHARED"),
        (LOCKED, "LOCKED"),
        (PRIVATE, "PRIVATE"),
        (READONLY, "READONLY"),
    ] {
        say(b.flags & bit != 0, name);
    }
    say(!b.root.is_nil() || b.flags & EXTERNAL != 0 && matches!(b.memory, Memory::Text(_)), "SLICE");
    say(!is_valid(cx, b), "INVALID");
    out
}

fn shown(cx: &mut Cx, this: Value) -> Result<String> {
    let b = get(cx, this)?.clone();
    let class = cx.class_name_of(this);
    let address = match &b.memory {
        Memory::Null => 0,
        Memory::Text(t) => Ref::<StringCell>::of(*t).content(&cx.heap).as_ptr() as usize + b.offset,
        Memory::File(fd, _) => Arc::as_ptr(fd) as usize + b.offset,
    };
    let flags = flag_names(cx, &b);
    Ok(format!("#<{class} 0x{address:016x}+{}{flags}>", b.size))
}

#[ruby_class(ids::IO_BUFFER)]
pub mod buffer {
    use super::*;

    /// A buffer of `size` zero bytes.
    ///
    ///     IO::Buffer.new(4).get_string   #=> "\x00\x00\x00\x00"
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, size: Option<Value>, flags: Option<Value>) -> Result<()> {
        let size = match size {
            Some(s) => number(cx, s, "Size")?,
            None => DEFAULT_SIZE,
        };
        let flags = match flags.filter(|f| !f.is_nil()) {
            Some(f) => number(cx, f, "Flags")? as u32,
            None => default_flags(size),
        };
        if size == 0 {
            return cx.data_init(this, Buffer::default());
        }
        if flags & (INTERNAL | MAPPED) == 0 {
            return cx.raise(ids::BUFFER_ALLOCATION_ERROR, "Could not allocate buffer!");
        }
        let memory = Memory::Text(zeros(cx, size)?);
        cx.data_init(this, Buffer { memory, size, flags: flags & !EXTERNAL, ..Buffer::default() })
    }

    /// A copy with memory of its own.
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Value, from: Value) -> Result<Value> {
        let size = argument(cx, from)?.size;
        let bytes = access::with_bytes(cx, from, 0, size, |b| b.to_vec())?;
        let text = cx.str_bytes(&bytes, BINARY);
        cx.data_init(this, Buffer { memory: Memory::Text(text), size, flags: default_flags(size), ..Buffer::default() })?;
        Ok(this)
    }

    /// A buffer over the bytes of a String: without a block over a copy, which can't be changed; with a block over the String itself, which nobody
    /// else can change until the block ends.
    ///
    ///     IO::Buffer.for("test").get_string(1, 2)                            #=> "es"
    ///     s = +"test"; IO::Buffer.for(s) { |b| b.set_string("m") }; s   #=> "mest"
    #[method("for", singleton)]
    fn for_string(cx: &mut Cx, this: ClassId, text: Value, block: Block) -> Result<Value> {
        let s = cx.to_str(text)?;
        if block.is_some() {
            return with_text(cx, this, s.as_value(), block);
        }
        let copy = cx.str_bytes(s.content(&cx.heap), s.encoding());
        copy.set_flags(flags::FROZEN);
        let b = Buffer { memory: Memory::Text(copy), size: s.len(), flags: EXTERNAL | READONLY, ..Buffer::default() };
        Ok(cx.data(this, b))
    }

    /// The String of `length` bytes that the block makes through a buffer.
    ///
    ///     IO::Buffer.string(4) { |b| b.set_string("ab") }   #=> "ab\x00\x00"
    #[method("string", singleton)]
    fn string(cx: &mut Cx, this: ClassId, length: Value, block: Block) -> Result<Value> {
        let n = cx.to_i64(length)?;
        let Ok(n) = usize::try_from(n) else { return cx.arg_error("negative string size (or size too big)") };
        if block.is_none() {
            return cx.raise(ids::LOCAL_JUMP_ERROR, "no block given");
        }
        let text = zeros(cx, n)?;
        with_text(cx, this, text, block)?;
        Ok(text)
    }

    /// A buffer over a file: what is written to one can be read from the other, unless IO::Buffer::PRIVATE is asked for.
    ///
    ///     File.open("/proc/self/exe", "rb") { |f| IO::Buffer.map(f, 4, 0, IO::Buffer::READONLY).get_string }   #=> "\x7FELF"
    #[method("map", singleton)]
    fn map(cx: &mut Cx, this: ClassId, file: Value, size: Option<Value>, offset: Option<Value>, flags: Option<Value>) -> Result<Value> {
        let b = file_buffer(cx, file, size, offset, flags)?;
        Ok(cx.data(this, b))
    }

    /// `#<IO::Buffer 0x... +size FLAGS>`
    #[method("to_s")]
    fn to_s(cx: &mut Cx, this: Value) -> Result<String> {
        shown(cx, this)
    }

    /// As `to_s`, with the first bytes in hexadecimal.
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> Result<String> {
        let mut out = shown(cx, this)?;
        let b = get(cx, this)?.clone();
        if !b.memory.is_null() && is_valid(cx, &b) {
            let n = b.size.min(256);
            let bytes = access::with_bytes(cx, this, 0, n, |b| b.to_vec())?;
            access::dump(&bytes, 0, 16, true, &mut out);
            if n < b.size {
                out.push_str(&format!("\n(and {} more bytes not printed)", b.size - n));
            }
        }
        Ok(out)
    }

    /// Number of bytes.
    ///
    ///     IO::Buffer.new(10).size   #=> 10
    #[method("size")]
    fn size(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(get(cx, this)?.size as i64)
    }

    /// Does the memory of which this is a slice still stand?
    ///
    ///     b = IO::Buffer.new(4); s = b.slice(0, 2); b.free; s.valid?   #=> false
    #[method("valid?")]
    fn valid(cx: &mut Cx, this: Value) -> Result<bool> {
        let b = get(cx, this)?.clone();
        Ok(is_valid(cx, &b))
    }

    /// Without memory: freed, given on, or of size 0.
    ///
    ///     IO::Buffer.new(0).null?   #=> true
    #[method("null?")]
    fn null(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(get(cx, this)?.memory.is_null())
    }

    /// Of size 0?
    ///
    ///     IO::Buffer.for("").empty?   #=> true
    #[method("empty?")]
    fn empty(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(get(cx, this)?.size == 0)
    }

    /// Is the memory somebody else's?
    ///
    ///     IO::Buffer.for("a").external?   #=> true
    #[method("external?")]
    fn external(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(get(cx, this)?.flags & EXTERNAL != 0)
    }

    /// Made smaller than a page, or with IO::Buffer::INTERNAL?
    ///
    ///     IO::Buffer.new(4).internal?   #=> true
    #[method("internal?")]
    fn internal(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(get(cx, this)?.flags & INTERNAL != 0)
    }

    /// Made of whole pages, or over a file?
    ///
    ///     IO::Buffer.new(4096).mapped?   #=> true
    #[method("mapped?")]
    fn mapped(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(get(cx, this)?.flags & MAPPED != 0)
    }

    /// Seen by others, as a file is?
    ///
    ///     IO::Buffer.new(4).shared?   #=> false
    #[method("shared?")]
    fn shared(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(get(cx, this)?.flags & SHARED != 0)
    }

    /// Over a file that changes don't go to?
    ///
    ///     IO::Buffer.new(4).private?   #=> false
    #[method("private?")]
    fn is_private(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(get(cx, this)?.flags & PRIVATE != 0)
    }

    /// Can't be written?
    ///
    ///     IO::Buffer.for("a").readonly?   #=> true
    #[method("readonly?")]
    fn readonly(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(get(cx, this)?.flags & READONLY != 0)
    }

    /// In the block of `locked`?
    ///
    ///     IO::Buffer.new(4).then { |b| b.locked { b.locked? } }   #=> true
    #[method("locked?")]
    fn is_locked(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(get(cx, this)?.flags & LOCKED != 0)
    }

    /// Runs the block; until it ends the buffer can't be freed, resized or given on.
    ///
    ///     IO::Buffer.new(4).then { |b| b.locked { b.free } rescue $!.message }   #=> "Buffer is locked!"
    #[method("locked")]
    fn locked(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        if get(cx, this)?.flags & LOCKED != 0 {
            return cx.raise(ids::BUFFER_LOCKED_ERROR, "Buffer already locked!");
        }
        cx.data_mut::<Buffer>(this)?.flags |= LOCKED;
        let r = cx.yield1(block, this);
        cx.data_mut::<Buffer>(this)?.flags &= !LOCKED;
        r
    }

    /// Gives the memory up; slices become invalid.
    ///
    ///     IO::Buffer.new(4).free.null?   #=> true
    #[method("free")]
    fn free(cx: &mut Cx, this: Value) -> Result<Value> {
        if get(cx, this)?.flags & LOCKED != 0 {
            return cx.raise(ids::BUFFER_LOCKED_ERROR, "Buffer is locked!");
        }
        *cx.data_mut::<Buffer>(this)? = Buffer::default();
        Ok(this)
    }

    /// A new buffer that takes the memory over.
    ///
    ///     b = IO::Buffer.new(4); c = b.transfer; [b.null?, c.size]   #=> [true, 4]
    #[method("transfer")]
    fn transfer(cx: &mut Cx, this: Value) -> Result<Value> {
        if get(cx, this)?.flags & LOCKED != 0 {
            return cx.raise(ids::BUFFER_LOCKED_ERROR, "Cannot transfer ownership of locked buffer!");
        }
        let b = std::mem::take(cx.data_mut::<Buffer>(this)?);
        Ok(cx.data(ids::IO_BUFFER, b))
    }

    /// A view of a part.
    ///
    ///     IO::Buffer.for("test").slice(1, 2).get_string   #=> "es"
    #[method("slice")]
    fn slice(cx: &mut Cx, this: Value, offset: Option<Value>, length: Option<Value>) -> Result<Value> {
        let b = get(cx, this)?.clone();
        let (offset, length) = part(cx, b.size, offset, length)?;
        if !is_valid(cx, &b) {
            return cx.raise(ids::BUFFER_INVALIDATED_ERROR, "Buffer has been invalidated!");
        }
        // A slice of a String's buffer goes with the String.
        let root = match (&b.memory, b.flags & EXTERNAL != 0) {
            _ if !b.root.is_nil() => b.root,
            (Memory::Text(_), true) => Value::NIL,
            _ => this,
        };
        let flags = b.flags & READONLY;
        let text = if root.is_nil() { EXTERNAL } else { 0 };
        let view = Buffer { memory: b.memory.clone(), offset: b.offset + offset, size: length, flags: flags | text, root };
        Ok(cx.data(ids::IO_BUFFER, view))
    }

    /// Changes the size; what is kept stays, what is new is zero.
    ///
    ///     IO::Buffer.new(4).resize(2).size   #=> 2
    #[method("resize")]
    fn resize(cx: &mut Cx, this: Value, size: Value) -> Result<Value> {
        let size = number(cx, size, "Size")?;
        let b = get(cx, this)?.clone();
        if b.flags & LOCKED != 0 {
            return cx.raise(ids::BUFFER_LOCKED_ERROR, "Cannot resize locked buffer!");
        }
        if b.memory.is_null() {
            if size > 0 {
                let memory = Memory::Text(zeros(cx, size)?);
                *cx.data_mut::<Buffer>(this)? = Buffer { memory, size, flags: default_flags(size), ..Buffer::default() };
            }
            return Ok(this);
        }
        if b.flags & EXTERNAL != 0 {
            return cx.raise(ids::BUFFER_ACCESS_ERROR, "Cannot resize external buffer!");
        }
        if size == 0 {
            *cx.data_mut::<Buffer>(this)? = Buffer::default();
            return Ok(this);
        }
        let refusal = match b.flags & MAPPED {
            0 => (libc::ENOMEM, "rb_io_buffer_resize:realloc"),
            _ => (libc::EINVAL, "rb_io_buffer_resize:mremap"),
        };
        let memory = match &b.memory {
            Memory::Text(t) if b.root.is_nil() => {
                cx.cell_changes(*t);
                StringCell::truncate(Ref::of(*t), &mut cx.heap, size);
                grow(cx, *t, size, refusal)?;
                b.memory.clone()
            }
            // A slice gets memory of its own.
            _ => {
                let kept = access::with_bytes(cx, this, 0, b.size.min(size), |b| b.to_vec())?;
                let text = cx.str_bytes(&kept, BINARY);
                grow(cx, text, size, refusal)?;
                Memory::Text(text)
            }
        };
        let flags = if b.root.is_nil() { b.flags } else { default_flags(size) };
        *cx.data_mut::<Buffer>(this)? = Buffer { memory, size, flags, ..Buffer::default() };
        Ok(this)
    }
}
