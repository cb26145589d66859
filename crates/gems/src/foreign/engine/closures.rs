//! Closures: function pointers that call Ruby, and what Ruby answers.

use super::*;

/// Ruby's answer to a callback, put where foreign code expects it.
pub(super) fn reply(cx: &mut Cx, ask: &Ask) -> Result<()> {
    cx.safepoint()?;
    let known = cx.state::<Known>().0;
    if known.is_nil() {
        return Ok(());
    }
    let id = cx.int_u64(ask.closure);
    let found = cx.call(known, sym::aref, &[id])?;
    if found.is_nil() || !cx.is_data::<Closure>(found) {
        return Ok(());
    }
    let cif = cx.data_ref::<Closure>(found)?.cif.clone();
    let list = cx.new_array();
    for (i, kind) in cif.parameters.iter().enumerate() {
        // SAFETY: as many arguments as the interface says, valid while the callback is suspended.
        let v = unsafe { memory::read(cx, *kind, *ask.arguments.add(i)) };
        ArrayCell::push(list, &mut cx.heap, v);
    }
    let answer = cx.call(found, Sym::intern("__called"), &[list.as_value()])?;
    give(cx, &cif, answer, ask.result)
}

/// Stores a callback's result.
fn give(cx: &mut Cx, cif: &Cif, v: Value, to: *mut c_void) -> Result<()> {
    let kind = cif.result;
    if v.is_nil() || kind == Kind::Void {
        return Ok(());
    }
    if let Kind::Struct(n) = kind {
        let Some(from) = structure(cx, v, n)? else { return Ok(()) };
        // SAFETY: room for the structure.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to.cast::<u8>(), from.len().min(n)) };
        return Ok(());
    }
    let bytes = memory::bytes_of(cx, kind, v)?;
    let word = u64::from_ne_bytes(bytes[..8].try_into().unwrap_or_default());
    // SAFETY: room for a word; small integers are widened to one.
    unsafe {
        match kind {
            Kind::I8 => to.cast::<i64>().write(word as i8 as i64),
            Kind::I16 => to.cast::<i64>().write(word as i16 as i64),
            Kind::I32 => to.cast::<i64>().write(word as i32 as i64),
            Kind::U8 | Kind::Bool => to.cast::<u64>().write(word as u8 as u64),
            Kind::U16 => to.cast::<u64>().write(word as u16 as u64),
            Kind::U32 => to.cast::<u64>().write(word as u32 as u64),
            Kind::F32 => to.cast::<f32>().write(f32::from_bits(word as u32)),
            Kind::LongDouble => std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast::<u8>(), 16),
            _ => to.cast::<u64>().write(word),
        }
    }
    Ok(())
}

/// Closures by their numbers, those of fiddle and ffi alike: a WeakMap, or nil while there is none.
#[derive(Trace)]
struct Known(Value);
impl Default for Known {
    fn default() -> Known {
        Known(Value::NIL)
    }
}
impl VmState for Known {
    fn snapshot(&self, values: &mut Gathered) -> Option<Restore> {
        values.push(self.0);
        Some(restore(|cx, v| cx.state::<Known>().0 = v[0]))
    }
}

/// Makes `this` a closure that callbacks find.
pub fn prepare(cx: &mut Cx, this: Value, interface: Value) -> Result<()> {
    let closure = Closure::new(cx, interface)?;
    let id = cx.int_u64(closure.id);
    cx.data_init(this, closure)?;
    if cx.state::<Known>().0.is_nil() {
        let class = cx.class_value(ids::WEAK_MAP);
        let map = cx.call(class, sym::new, &[])?;
        cx.state::<Known>().0 = map;
    }
    let known = cx.state::<Known>().0;
    cx.call(known, sym::aset, &[id, this])?;
    Ok(())
}

/// What foreign code sees of a closure.
struct Entry {
    id: u64,
    registry: Arc<Registry>,
    result: usize,
}

/// Payload of a closure: a function pointer that calls Ruby.
#[derive(Trace)]
pub struct Closure {
    #[untraced]
    cif: Arc<Cif>,
    #[untraced]
    writable: *mut c_void,
    #[untraced]
    pub code: usize,
    #[untraced]
    id: u64,
    #[untraced]
    entry: *const Entry,
    #[untraced]
    freed: Cell<bool>,
}

impl NativeData for Closure {
    fn refers(&self) -> bool {
        false
    }
    fn weight(&self) -> usize {
        128
    }
}

impl Closure {
    fn new(cx: &mut Cx, interface: Value) -> Result<Closure> {
        permitted(cx)?;
        let cif = cx.data_ref::<Interface>(interface)?.0.clone();
        let registry = registry(cx);
        let id = registry.closures.fetch_add(1, Ordering::Relaxed) + 1;
        let entry = Arc::into_raw(Arc::new(Entry { id, registry, result: cif.result.size() }));
        let mut code = std::ptr::null_mut();
        // SAFETY: the entry and the interface live until the closure is freed.
        let writable = unsafe { ffi_closure_alloc(size_of::<ffi_closure>(), &mut code) };
        let made = !writable.is_null()
            // SAFETY: as above.
            && unsafe { ffi_prep_closure_loc(writable.cast(), cif.raw(), Some(on_call), entry.cast_mut().cast(), code) } == ffi_status_FFI_OK;
        let closure = Closure { cif, writable, code: code as usize, id, entry, freed: Cell::new(!made) };
        if made {
            return Ok(closure);
        }
        // SAFETY: nobody has it.
        unsafe {
            if !writable.is_null() {
                ffi_closure_free(writable);
            }
            drop(Arc::from_raw(entry));
        }
        cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate closure")
    }
    /// Foreign code must not call it any more. False: it was freed before.
    pub fn free(&self) -> bool {
        if self.freed.replace(true) {
            return false;
        }
        // SAFETY: made in `new`, freed once. A callback that is under way has the entry for itself.
        unsafe {
            ffi_closure_free(self.writable);
            drop(Arc::from_raw(self.entry));
        }
        true
    }
    pub fn is_freed(&self) -> bool {
        self.freed.get()
    }
}

impl Drop for Closure {
    fn drop(&mut self) {
        // A call that was given up may still call it.
        // SAFETY: the entry lives until the closure is freed.
        let busy = !self.freed.get() && lock(&unsafe { &*self.entry }.registry.graves).running > 0;
        if !busy {
            self.free();
        }
    }
}

/// What all closures call.
unsafe extern "C" fn on_call(_cif: *mut ffi_cif, result: *mut c_void, arguments: *mut *mut c_void, entry: *mut c_void) {
    let here = std::ptr::from_ref(&result) as usize;
    // SAFETY: the closure is not freed when it is called; from here on this call has a count of its own. Room for the result, a word at least.
    let (id, registry) = unsafe {
        let entry = &*entry.cast::<Entry>();
        std::ptr::write_bytes(result.cast::<u8>(), 0, entry.result.max(8));
        (entry.id, entry.registry.clone())
    };
    let ask = Ask { closure: id, arguments, result };
    let asking = lock(&registry.standing).iter().find(|s| s.low <= here && here < s.high).map(|s| s.asking);
    if let Some(asking) = asking {
        // Nothing of ours stays on this stack, which may be left.
        drop(registry);
        // SAFETY: this native thread runs on that very stack.
        unsafe { (*asking).suspend(ask) };
        return;
    }
    let done = Arc::new((Mutex::new(false), Condvar::new()));
    {
        let mut asked = lock(&registry.asked);
        if registry.ended.load(Ordering::SeqCst) {
            return;
        }
        asked.push_back(Outside { ask, done: done.clone() });
    }
    if let Some(task) = &*lock(&registry.answerer) {
        task.wake();
    }
    let mut is_done = lock(&done.0);
    while !*is_done {
        is_done = done.1.wait(is_done).unwrap_or_else(|e| e.into_inner());
    }
}
