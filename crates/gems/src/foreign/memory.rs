//! Memory by address: what FFI's and Fiddle's pointers stand on, and how values are read and written there.
//!
//! An address is a number, which any VM may have; reading, writing, allocating and freeing are for VMs that may call foreign code. What was allocated here is freed when the last object
//! that shows a part of it goes, unless a call that was given up may still use it: then when that call ends.

use super::engine::{Graves, Registry};
use super::interface::Kind;
use super::permitted;
use num_traits::ToPrimitive;
use std::ffi::{CStr, c_void};
use std::sync::Arc;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::Kind as CellKind;
use zakuro_vm::*;

/// The size of what is only known by its address.
pub const UNKNOWN: i64 = i64::MAX;

pub const READ: u8 = 1;
pub const WRITE: u8 = 2;
/// The other order of bytes than the machine's.
const SWAPPED: u8 = 4;
/// A function pointer that calls into this VM, and so means nothing in another.
const CALLS_BACK: u8 = 8;

/// What was allocated here.
pub struct Block {
    pub address: usize,
    pub size: usize,
    registry: Arc<Registry>,
    /// The program frees it, or some C library does.
    pub released: std::sync::atomic::AtomicBool,
}

impl Block {
    /// None: there is no memory.
    pub fn new(size: usize, registry: &Arc<Registry>) -> Option<Arc<Block>> {
        // SAFETY: any size will do.
        let p = unsafe { libc::calloc(size.max(1), 1) };
        (!p.is_null()).then(|| Arc::new(Block { address: p as usize, size, registry: registry.clone(), released: false.into() }))
    }
    pub fn holding(bytes: &[u8], registry: &Arc<Registry>) -> Option<Arc<Block>> {
        let block = Block::new(bytes.len() + 1, registry)?;
        // SAFETY: room for that and a NUL.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), block.address as *mut u8, bytes.len()) };
        Some(block)
    }
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: its own memory.
        unsafe { std::slice::from_raw_parts(self.address as *const u8, self.size) }
    }
    pub fn release(&self) -> bool {
        !self.released.swap(true, std::sync::atomic::Ordering::Relaxed)
    }
    /// Now, or when no call that was given up runs any more.
    pub fn free(&self) {
        if self.release() {
            Graves::bury(&self.registry, self.address);
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.free();
    }
}

/// Payload of a pointer.
#[derive(Clone, Trace)]
pub struct Memory {
    #[untraced]
    pub address: usize,
    /// [`UNKNOWN`] or so many bytes.
    #[untraced]
    pub size: i64,
    #[untraced]
    pub flags: u8,
    /// Of one element.
    #[untraced]
    pub unit: usize,
    #[untraced]
    pub block: Option<Arc<Block>>,
}

impl NativeData for Memory {
    fn refers(&self) -> bool {
        false
    }
    fn weight(&self) -> usize {
        self.block.as_ref().map_or(0, |b| if b.address == self.address { b.size } else { 0 })
    }
    fn change_tracking(&self) -> ChangeTracking {
        ChangeTracking::Untracked
    }
    fn parcel(&self, values: &mut Gathered) -> Option<Unpack> {
        let rebuild = self.snapshot(values)?;
        Some(Box::new(move |vm, values| rebuild.make(vm, values).map(Unpacked::Payload)))
    }
    /// An address is the same everywhere in the process; what was allocated here is copied. A part of such a block alone has no copy.
    fn snapshot(&self, _values: &mut Gathered) -> Option<Rebuild> {
        if self.flags & CALLS_BACK != 0 {
            return None;
        }
        let Memory { address, size, flags, unit, .. } = *self;
        let content = match &self.block {
            Some(b) if b.address == address && !b.released.load(std::sync::atomic::Ordering::Relaxed) => Some(b.bytes().to_vec()),
            Some(_) => return None,
            None => None,
        };
        Some(rebuild(move |vm, _| {
            let cx = vm.downcast_mut::<Cx>()?;
            let block = match &content {
                Some(bytes) => Some(Block::holding(bytes, &super::engine::registry(cx))?),
                None => None,
            };
            let address = block.as_ref().map_or(address, |b| b.address);
            Some(Box::new(Memory { address, size, flags, unit, block }))
        }))
    }
}

/// An Integer as C takes it for so many bits: from the least signed to the greatest unsigned one.
fn integer(cx: &mut Cx, v: Value, kind: Kind) -> Result<u64> {
    let (low, high, name) = match kind {
        Kind::I8 | Kind::I16 | Kind::I32 => (i32::MIN as i128, i32::MAX as i128, "int"),
        Kind::U8 | Kind::U16 | Kind::U32 => (i32::MIN as i128, u32::MAX as i128, "unsigned int"),
        Kind::I64 => (i64::MIN as i128, i64::MAX as i128, "long long"),
        _ => (i64::MIN as i128, u64::MAX as i128, "unsigned long long"),
    };
    if v.is_nil() || v == Value::TRUE || v == Value::FALSE {
        let what = cx.describe_for_conversion(v);
        return cx.type_error(format!("no implicit conversion from {what} to integer"));
    }
    let int = cx.to_int(v)?;
    let n = match int.as_fixnum() {
        Some(n) => Some(n as i128),
        None => cx.as_big(int).and_then(|b| b.to_i128()),
    };
    match n {
        Some(n) if n >= low && n <= high => Ok(n as u64),
        Some(n) if kind != Kind::I64 && kind != Kind::U64 && kind != Kind::Pointer => {
            let how = if n < low { "small" } else { "big" };
            cx.range_error(format!("integer {n} too {how} to convert to '{name}'"))
        }
        _ => cx.range_error(format!("bignum too big to convert into '{name}'")),
    }
}

/// The bits of a `long double` of this machine, as near as a `double` comes.
fn long_double(f: f64) -> [u8; 16] {
    let bits = f.to_bits();
    let (sign, exponent, fraction) = ((bits >> 63) as u128, (bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    let (exponent, fraction) = match exponent {
        0 if fraction == 0 => (0, 0),
        0 => {
            let shift = fraction.leading_zeros() - 11;
            (1 - shift as i32 - 1023 + 16383, fraction << shift & ((1 << 52) - 1))
        }
        0x7ff => (0x7fff, fraction),
        e => (e - 1023 + 16383, fraction),
    };
    if cfg!(target_arch = "x86_64") {
        let whole = if exponent == 0 { 0 } else { 1u64 << 63 };
        ((sign << 79) | ((exponent as u128) << 64) | (whole | fraction << 11) as u128).to_le_bytes()
    } else {
        ((sign << 127) | ((exponent as u128) << 112) | ((fraction as u128) << 60)).to_le_bytes()
    }
}

fn from_long_double(bytes: [u8; 16]) -> f64 {
    let bits = u128::from_le_bytes(bytes);
    let (negative, exponent, fraction) = if cfg!(target_arch = "x86_64") {
        (bits >> 79 & 1 != 0, (bits >> 64) as i32 & 0x7fff, (bits as u64) as f64 / (1u64 << 63) as f64)
    } else {
        let exponent = (bits >> 112) as i32 & 0x7fff;
        let fraction = ((bits << 16 >> 65) as u64) as f64 / (1u64 << 63) as f64;
        (bits >> 127 != 0, exponent, if exponent == 0 { fraction } else { 1.0 + fraction })
    };
    let size = match exponent {
        0 => 0.0,
        0x7fff => {
            let rest = if cfg!(target_arch = "x86_64") { (bits as u64) << 1 != 0 } else { bits << 16 != 0 };
            if rest { f64::NAN } else { f64::INFINITY }
        }
        // In two steps, so that small ones do not vanish on the way.
        e => {
            let e = e - 16383;
            fraction * 2f64.powi(e / 2) * 2f64.powi(e - e / 2)
        }
    };
    if negative { -size } else { size }
}

/// The value that stands at a place.
///
/// # Safety
/// The place can be read.
pub unsafe fn read(cx: &mut Cx, kind: Kind, at: *const c_void) -> Value {
    // SAFETY: the caller's word.
    unsafe {
        match kind {
            Kind::Void => Value::NIL,
            Kind::I8 => Value::fixnum(at.cast::<i8>().read_unaligned() as i64),
            Kind::U8 => Value::fixnum(at.cast::<u8>().read_unaligned() as i64),
            Kind::I16 => Value::fixnum(at.cast::<i16>().read_unaligned() as i64),
            Kind::U16 => Value::fixnum(at.cast::<u16>().read_unaligned() as i64),
            Kind::I32 => Value::fixnum(at.cast::<i32>().read_unaligned() as i64),
            Kind::U32 => Value::fixnum(at.cast::<u32>().read_unaligned() as i64),
            Kind::I64 => cx.int(at.cast::<i64>().read_unaligned()),
            Kind::U64 | Kind::Pointer => cx.int_u64(at.cast::<u64>().read_unaligned()),
            Kind::F32 => cx.float(at.cast::<f32>().read_unaligned() as f64),
            Kind::F64 => cx.float(at.cast::<f64>().read_unaligned()),
            Kind::LongDouble => cx.float(from_long_double(at.cast::<[u8; 16]>().read_unaligned())),
            Kind::Bool if at.cast::<u8>().read_unaligned() & 1 != 0 => Value::TRUE,
            Kind::Bool => Value::FALSE,
            Kind::Text => {
                let p = at.cast::<*const std::ffi::c_char>().read_unaligned();
                if p.is_null() { Value::NIL } else { crate::binary(cx, CStr::from_ptr(p).to_bytes()) }
            }
            Kind::Struct(n) => crate::binary(cx, std::slice::from_raw_parts(at.cast::<u8>(), n)),
        }
    }
}

/// As `to_f64`, and of whatever has `to_f`.
fn float(cx: &mut Cx, v: Value) -> Result<f64> {
    if v.is_nil() || v == Value::TRUE || v == Value::FALSE || Ref::<StringCell>::from_value(v).is_some() {
        let what = if Ref::<StringCell>::from_value(v).is_some() { "string".to_string() } else { cx.describe_for_conversion(v) };
        return cx.type_error(format!("no implicit conversion to float from {what}"));
    }
    if v.is_kind(CellKind::Object)
        && let Some(f) = cx.call_if_responds(v, Sym::intern("to_f"), &[])?
    {
        return cx.to_f64(f);
    }
    cx.to_f64(v)
}

/// The bytes of a value, from the left. Pointers: an Integer or a pointer object.
pub fn bytes_of(cx: &mut Cx, kind: Kind, v: Value) -> Result<[u8; 16]> {
    let mut to = [0; 16];
    match kind {
        Kind::Void | Kind::Struct(_) => {}
        Kind::F32 => to[..4].copy_from_slice(&(float(cx, v)? as f32).to_ne_bytes()),
        Kind::F64 => to[..8].copy_from_slice(&float(cx, v)?.to_ne_bytes()),
        Kind::LongDouble => to = long_double(float(cx, v)?),
        Kind::Bool => to[0] = v.truthy() as u8,
        Kind::Pointer | Kind::Text => to[..8].copy_from_slice(&(address(cx, v)? as u64).to_ne_bytes()),
        _ => to[..8].copy_from_slice(&integer(cx, v, kind)?.to_ne_bytes()),
    }
    Ok(to)
}

/// NoMemoryError unless there is room for so many bytes.
pub fn room(cx: &mut Cx, bytes: usize) -> Result<()> {
    if cx.heap.admits(bytes) { Ok(()) } else { cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory") }
}

/// The address that an Integer, nil, a pointer, or what has one (`to_ptr`) stands for.
pub fn address(cx: &mut Cx, v: Value) -> Result<usize> {
    if v.is_nil() {
        return Ok(0);
    }
    if cx.is_data::<Memory>(v) {
        return Ok(cx.data_ref::<Memory>(v)?.address);
    }
    if cx.is_integer(v) {
        return Ok(integer(cx, v, Kind::Pointer)? as usize);
    }
    match cx.call_if_responds(v, Sym::intern("to_ptr"), &[])? {
        Some(p) if cx.is_data::<Memory>(p) => Ok(cx.data_ref::<Memory>(p)?.address),
        _ => cx.arg_error("value is not a pointer"),
    }
}

/// The place of `len` bytes at an offset, if they may be read or written.
fn place(cx: &mut Cx, this: Value, offset: i64, len: i64, access: u8) -> Result<(usize, u8)> {
    permitted(cx)?;
    let m = cx.data_ref::<Memory>(this)?;
    let (address, size, flags) = (m.address, m.size, m.flags);
    if flags & access == 0 || address == 0 {
        let what = if access == READ { "read" } else { "write" };
        let message = format!("invalid memory {what} at address={}", if address == 0 { "(nil)".into() } else { format!("0x{address:x}") });
        let null = cx.const_by_path("FFI::NullPointerError").and_then(|v| cx.class_id(v));
        return match null {
            Some(class) if address == 0 => cx.raise(class, message),
            _ => cx.raise(ids::RUNTIME_ERROR, message),
        };
    }
    if offset < 0 || len < 0 || (size != UNKNOWN && offset.checked_add(len).is_none_or(|end| end > size)) {
        return cx.index_error(format!("Memory access offset={offset} size={len} is out of bounds"));
    }
    Ok((address.wrapping_add(offset as usize), flags))
}

fn put(cx: &mut Cx, this: Value, kind: Kind, offset: i64, v: Value) -> Result<()> {
    let mut bytes = bytes_of(cx, kind, v)?;
    let n = kind.size();
    let (at, flags) = place(cx, this, offset, n as i64, WRITE)?;
    if flags & SWAPPED != 0 {
        bytes[..n].reverse();
    }
    // SAFETY: within its bounds, or the program's own risk.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, n) };
    Ok(())
}

fn get(cx: &mut Cx, this: Value, kind: Kind, offset: i64) -> Result<Value> {
    let n = kind.size();
    let (at, flags) = place(cx, this, offset, n as i64, READ)?;
    let mut bytes = [0u8; 16];
    // SAFETY: within its bounds, or the program's own risk; a kind has sixteen bytes at most.
    unsafe {
        std::ptr::copy_nonoverlapping(at as *const u8, bytes.as_mut_ptr(), n);
        if flags & SWAPPED != 0 {
            bytes[..n].reverse();
        }
        Ok(read(cx, kind, bytes.as_ptr().cast()))
    }
}

/// Methods of `FFI::AbstractMemory`.
#[ruby_class(ids::OBJECT)]
pub mod memory {
    use super::*;

    /// Memory that is only known by its address; nil: of unknown size.
    #[method("__at", private)]
    fn at(cx: &mut Cx, this: Value, address: Value, size: Value, unit: i64) -> Result<()> {
        let address = super::address(cx, address)?;
        let size = if size.is_nil() { UNKNOWN } else { cx.to_i64(size)? };
        cx.data_init(this, Memory { address, size, flags: READ | WRITE, unit: unit.max(0) as usize, block: None })
    }
    /// New memory, all zero.
    #[method("__allocate", private)]
    fn allocate(cx: &mut Cx, this: Value, unit: i64, count: i64) -> Result<()> {
        permitted(cx)?;
        let size = match unit.checked_mul(count) {
            Some(n) if n >= 0 && n < 1 << 46 && unit >= 0 => n as usize,
            _ => return cx.raise(ids::NO_MEMORY_ERROR, "Failed to allocate memory"),
        };
        if !cx.heap.admits(size) {
            return cx.raise(ids::NO_MEMORY_ERROR, "Failed to allocate memory");
        }
        let Some(block) = Block::new(size, &super::super::engine::registry(cx)) else {
            return cx.raise(ids::NO_MEMORY_ERROR, "Failed to allocate memory");
        };
        let unit = unit as usize;
        cx.data_init(this, Memory { address: block.address, size: size as i64, flags: READ | WRITE, unit, block: Some(block) })
    }
    /// Becomes a part of another one's memory. nil as size: all that follows.
    #[method("__part", private)]
    fn part(cx: &mut Cx, this: Value, of: Value, offset: i64, size: Value) -> Result<()> {
        let whole = cx.data_ref::<Memory>(of)?.clone();
        let size = if size.is_nil() { None } else { Some(cx.to_i64(size)?) };
        if whole.size != UNKNOWN && (offset < 0 || size.unwrap_or(0).checked_add(offset).is_none_or(|end| end > whole.size)) {
            let size = size.unwrap_or(1);
            return cx.index_error(format!("Memory access offset={offset} size={size} is out of bounds"));
        }
        let size = size.unwrap_or(if whole.size == UNKNOWN { UNKNOWN } else { whole.size - offset });
        cx.data_init(this, Memory { address: whole.address.wrapping_add(offset as usize), size, ..whole })
    }
    #[method("__address")]
    fn address(cx: &mut Cx, this: Value) -> Result<Value> {
        let n = cx.data_ref::<Memory>(this)?.address;
        Ok(cx.int_u64(n as u64))
    }
    /// nil: unknown.
    #[method("__size", private)]
    fn size(cx: &mut Cx, this: Value) -> Result<Value> {
        let n = cx.data_ref::<Memory>(this)?.size;
        Ok(if n == UNKNOWN { Value::NIL } else { cx.int(n) })
    }
    #[method("__resize", private)]
    fn resize(cx: &mut Cx, this: Value, size: Value) -> Result<()> {
        cx.check_frozen(this)?;
        let size = if size.is_nil() { UNKNOWN } else { cx.to_i64(size)? };
        cx.data_mut::<Memory>(this)?.size = size;
        Ok(())
    }
    /// The bytes of the type that the memory was made of; `[]` of a pointer counts in it.
    #[method("type_size")]
    fn unit(cx: &mut Cx, this: Value) -> Result<Value> {
        let n = cx.data_ref::<Memory>(this)?.unit;
        Ok(cx.int(n as i64))
    }
    #[method("__unit", private)]
    fn set_unit(cx: &mut Cx, this: Value, unit: i64) -> Result<()> {
        cx.data_mut::<Memory>(this)?.unit = unit.max(0) as usize;
        Ok(())
    }
    /// 1: readable, 2: writable, 4: the other order of bytes, 8: calls into this VM.
    #[method("__flags", private)]
    fn flags(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(cx.data_ref::<Memory>(this)?.flags as i64)
    }
    #[method("__flags=", private)]
    fn set_flags(cx: &mut Cx, this: Value, flags: i64) -> Result<()> {
        cx.data_mut::<Memory>(this)?.flags = flags as u8 & 15;
        Ok(())
    }
    #[method("__get")]
    fn get(cx: &mut Cx, this: Value, kind: i64, offset: i64) -> Result<Value> {
        let kind = Kind::of(cx, kind)?;
        super::get(cx, this, kind, offset)
    }
    #[method("__put")]
    fn put(cx: &mut Cx, this: Value, kind: i64, offset: i64, v: Value) -> Result<Value> {
        let kind = Kind::of(cx, kind)?;
        super::put(cx, this, kind, offset, v)?;
        Ok(this)
    }
    #[method("__get_all", private)]
    fn get_all(cx: &mut Cx, this: Value, kind: i64, offset: i64, count: i64) -> Result<Value> {
        let kind = Kind::of(cx, kind)?;
        let n = kind.size() as i64;
        if count > 0 {
            place(cx, this, offset, n.saturating_mul(count), READ)?;
        } else if count < 0 {
            return cx.arg_error("negative array size");
        }
        let list = cx.new_array();
        for i in 0..count {
            let v = super::get(cx, this, kind, offset.saturating_add(i * n))?;
            ArrayCell::push(list, &mut cx.heap, v);
            if i % 4096 == 0 {
                cx.safepoint()?;
            }
        }
        Ok(list.as_value())
    }
    #[method("__put_all", private)]
    fn put_all(cx: &mut Cx, this: Value, kind: i64, offset: i64, list: Ref<ArrayCell>) -> Result<Value> {
        let kind = Kind::of(cx, kind)?;
        let n = kind.size() as i64;
        if !list.is_empty() {
            place(cx, this, offset, n.saturating_mul(list.len() as i64), WRITE)?;
        }
        let mut i = 0;
        while let Some(v) = list.get(i) {
            super::put(cx, this, kind, offset.saturating_add(i as i64 * n), v)?;
            i += 1;
            if i.is_multiple_of(4096) {
                cx.safepoint()?;
            }
        }
        Ok(this)
    }
    /// Bytes as a binary String.
    #[method("__bytes")]
    fn bytes(cx: &mut Cx, this: Value, offset: i64, len: i64) -> Result<Value> {
        let (at, _) = place(cx, this, offset, len, READ)?;
        if len >= isize::MAX as i64 || !cx.heap.admits(len as usize) {
            return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
        }
        // SAFETY: within its bounds, or the program's own risk.
        Ok(crate::binary(cx, unsafe { std::slice::from_raw_parts(at as *const u8, len as usize) }))
    }
    #[method("__set_bytes")]
    fn set_bytes(cx: &mut Cx, this: Value, offset: i64, s: Ref<StringCell>, from: i64, len: i64) -> Result<Value> {
        if from < 0 || from.checked_add(len).is_none_or(|end| end > s.len() as i64) {
            return cx.range_error("index+length is greater than size of string");
        }
        let (at, _) = place(cx, this, offset, len, WRITE)?;
        let bytes = &s.content(&cx.heap)[from as usize..(from + len) as usize];
        // SAFETY: as above.
        unsafe { std::ptr::copy(bytes.as_ptr(), at as *mut u8, bytes.len()) };
        Ok(this)
    }
    /// The String up to a NUL, or of `most` bytes; nil: up to the NUL or the end of the memory.
    #[method("__text")]
    fn text(cx: &mut Cx, this: Value, offset: i64, most: Value) -> Result<Value> {
        let m = cx.data_ref::<Memory>(this)?;
        let rest = if m.size == UNKNOWN { None } else { Some(m.size.saturating_sub(offset)) };
        let most = if most.is_nil() { rest } else { Some(cx.to_i64(most)?) };
        let (at, _) = place(cx, this, offset, most.unwrap_or(1), READ)?;
        // SAFETY: as above.
        unsafe {
            let n = match most {
                Some(n) => libc::strnlen(at as *const _, n as usize),
                None => libc::strlen(at as *const _),
            };
            room(cx, n)?;
            Ok(crate::binary(cx, std::slice::from_raw_parts(at as *const u8, n)))
        }
    }
    #[method("__clear")]
    fn clear(cx: &mut Cx, this: Value, len: i64) -> Result<Value> {
        let (at, _) = place(cx, this, 0, len, WRITE)?;
        // SAFETY: as above.
        unsafe { std::ptr::write_bytes(at as *mut u8, 0, len as usize) };
        Ok(this)
    }
    /// Frees what was allocated here. False: nothing was, or it is freed.
    #[method("__free")]
    fn free(cx: &mut Cx, this: Value) -> Result<bool> {
        permitted(cx)?;
        let Some(block) = cx.data_ref::<Memory>(this)?.block.clone() else { return Ok(false) };
        let free = !block.released.load(std::sync::atomic::Ordering::Relaxed);
        block.free();
        Ok(free)
    }
    /// Somebody else frees what was allocated here.
    #[method("__release")]
    fn release(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(cx.data_ref::<Memory>(this)?.block.as_ref().is_some_and(|b| b.release()))
    }
    #[method("__allocated?")]
    fn is_allocated(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(cx.data_ref::<Memory>(this)?.block.as_ref().is_some_and(|b| !b.released.load(std::sync::atomic::Ordering::Relaxed)))
    }
}
