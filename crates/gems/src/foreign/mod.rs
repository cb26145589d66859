//! Foreign functions: natives of the gems fiddle (`fiddle.so`) and ffi (`ffi_c`), over libffi. How functions are called stands in [`engine`].
//!
//! Whoever calls foreign code can do to the process what it likes: read other VMs' memory, end them all. So only the main VM may, and VMs that were made with
//! `foreign: true` by one that may; for others each native raises SecurityError. Libraries are the process's: two VMs that open one share its variables.
//! A library is closed only when a program says so, since addresses out of it may be anywhere.

mod engine;
mod interface;
mod memory;

use interface::{Cif, Interface};
use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::Arc;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// SecurityError unless this VM may call foreign code.
fn permitted(cx: &mut Cx) -> Result<()> {
    if cx.may_call_foreign() {
        return Ok(());
    }
    cx.raise(ids::SECURITY_ERROR, "foreign code: this VM may not (RubyVM.new(..., foreign: true) by a VM that may)")
}

fn c_string(cx: &mut Cx, v: Value) -> Result<CString> {
    let b = cx.to_str(v)?.to_vec();
    CString::new(b).or_else(|_| cx.arg_error("string contains null byte"))
}

/// Memory of another size at an address or elsewhere; address 0: new memory.
fn allocated(cx: &mut Cx, address: usize, size: i64) -> Result<Value> {
    permitted(cx)?;
    if (0..1 << 46).contains(&size) && cx.heap.admits(size as usize) {
        // SAFETY: memory of `allocate`, as the program says; any size will do.
        let p = unsafe { libc::realloc(address as *mut c_void, size as usize) };
        if !p.is_null() || size == 0 {
            return Ok(cx.int_u64(p as u64));
        }
    }
    cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory")
}

fn failure(cx: &Cx) -> Value {
    // SAFETY: a text of this native thread's, or NULL.
    unsafe {
        let e = libc::dlerror();
        cx.str_auto(if e.is_null() { b"unknown error" } else { CStr::from_ptr(e).to_bytes() })
    }
}

/// Methods of `FFI::Native`.
#[ruby_class(ids::OBJECT)]
mod native {
    use super::*;

    /// What a function takes and gives: numbers of kinds, or structures.
    #[method("interface", singleton)]
    fn interface(cx: &mut Cx, this: Value, result: Value, parameters: Ref<ArrayCell>, fixed: Option<i64>) -> Result<Value> {
        let cif = Cif::new(cx, result, parameters, fixed.map(|n| n.max(0) as usize))?;
        let class = class_in(cx, this, "Interface")?;
        Ok(cx.data(class, Interface(Arc::new(cif))))
    }
    #[method("call", singleton)]
    fn call(cx: &mut Cx, _this: Value, interface: Value, address: Value, arguments: Ref<ArrayCell>, how: i64) -> Result<Value> {
        permitted(cx)?;
        let address = memory::address(cx, address)?;
        engine::call(cx, interface, address, arguments, how)
    }
    /// A handle, or the system's message as a String. A path is the VM's; a name without a slash is looked for by the system.
    #[method("open", singleton)]
    fn open(cx: &mut Cx, _this: Value, name: Value, flags: i64) -> Result<Value> {
        permitted(cx)?;
        let path = match name {
            Value::NIL => None,
            v => {
                let mut path = cx.path_of(v)?;
                if path.contains(&b'/') && !path.starts_with(b"/") {
                    let dir = zakuro_core_system::io::cwd::pwd(cx).unwrap_or_default();
                    path = [&dir[..], b"/", &path].concat();
                }
                match CString::new(path) {
                    Ok(p) => Some(p),
                    Err(_) => return cx.arg_error("string contains null byte"),
                }
            }
        };
        // Constructors of the library run, and may take long.
        // SAFETY: a C string or NULL; what the library does is the program's own risk.
        let handle =
            zakuro_sched::blocking(|| unsafe { libc::dlopen(path.as_ref().map_or(std::ptr::null(), |p| p.as_ptr()), flags as c_int) });
        Ok(if handle.is_null() { failure(cx) } else { cx.int_u64(handle as u64) })
    }
    /// The address of a name, or nil. Handles are those of `open`; 0 and -1 as the system has them.
    #[method("symbol", singleton)]
    fn symbol(cx: &mut Cx, _this: Value, handle: i64, name: Value) -> Result<Value> {
        permitted(cx)?;
        let name = c_string(cx, name)?;
        // SAFETY: a handle of `open`, as the program says, and a C string.
        let at = unsafe { libc::dlsym(handle as *mut c_void, name.as_ptr()) };
        Ok(if at.is_null() { Value::NIL } else { cx.int_u64(at as u64) })
    }
    #[method("close", singleton)]
    fn close(cx: &mut Cx, _this: Value, handle: i64) -> Result<i64> {
        permitted(cx)?;
        // SAFETY: a handle of `open`, as the program says.
        Ok(unsafe { libc::dlclose(handle as *mut c_void) } as i64)
    }
    /// The file that a handle came from.
    #[method("file", singleton)]
    fn file(cx: &mut Cx, _this: Value, handle: i64) -> Result<Value> {
        permitted(cx)?;
        #[repr(C)]
        struct LinkMap {
            address: usize,
            name: *const std::ffi::c_char,
        }
        let mut map: *const LinkMap = std::ptr::null();
        // SAFETY: as above; the system puts a pointer to its own record there.
        unsafe {
            if libc::dlinfo(handle as *mut c_void, libc::RTLD_DI_LINKMAP, (&raw mut map).cast()) != 0 || map.is_null() {
                return Ok(Value::NIL);
            }
            Ok(cx.str_auto(CStr::from_ptr((*map).name).to_bytes()))
        }
    }
    #[method("error", singleton)]
    fn error(cx: &mut Cx, _this: Value) -> Result<Value> {
        permitted(cx)?;
        Ok(failure(cx))
    }
    #[method("errno", singleton)]
    fn errno(cx: &mut Cx, _this: Value) -> Value {
        engine::last_errno(cx)
    }
    #[method("errno=", singleton)]
    fn set_errno(cx: &mut Cx, _this: Value, n: i64) -> Value {
        engine::set_errno(cx, n as i32);
        Value::NIL
    }
    #[method("allocate", singleton)]
    fn allocate(cx: &mut Cx, _this: Value, size: i64) -> Result<Value> {
        allocated(cx, 0, size)
    }
    #[method("reallocate", singleton)]
    fn reallocate(cx: &mut Cx, _this: Value, address: Value, size: i64) -> Result<Value> {
        let address = memory::address(cx, address)?;
        allocated(cx, address, size)
    }
    #[method("free", singleton)]
    fn free(cx: &mut Cx, _this: Value, address: Value) -> Result<()> {
        permitted(cx)?;
        let address = memory::address(cx, address)?;
        // SAFETY: memory of `allocate`, as the program says.
        unsafe { libc::free(address as *mut c_void) };
        Ok(())
    }
    /// The address of the C library's `free`.
    #[method("free_function", singleton)]
    fn free_function(cx: &Cx, _this: Value) -> Value {
        cx.int_u64(libc::free as *const () as u64)
    }
    #[method("copy", singleton)]
    fn copy(cx: &mut Cx, _this: Value, to: Value, from: Value, len: i64) -> Result<()> {
        permitted(cx)?;
        let (to, from) = (memory::address(cx, to)?, memory::address(cx, from)?);
        // SAFETY: memory of such a length, as the program says.
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, len.max(0) as usize) };
        Ok(())
    }
    #[method("permitted?", singleton)]
    fn is_permitted(cx: &Cx, _this: Value) -> bool {
        cx.may_call_foreign()
    }
    /// Waits for a callback from a native thread of foreign code.
    #[method("question", singleton)]
    fn question(cx: &mut Cx, this: Value) -> Result<Value> {
        permitted(cx)?;
        let question = engine::next_question(cx)?;
        let class = class_in(cx, this, "Question")?;
        Ok(cx.data(class, question))
    }
    #[method("answer", singleton)]
    fn answer(cx: &mut Cx, _this: Value, question: Value) -> Result<()> {
        engine::answer(cx, question)
    }
}

/// Methods of `FFI::Native::Closure`.
#[ruby_class(ids::OBJECT)]
mod closure {
    use super::*;
    use engine::Closure;

    #[method("__prepare", private)]
    fn prepare(cx: &mut Cx, this: Value, interface: Value) -> Result<()> {
        engine::prepare(cx, this, interface)
    }
    #[method("address")]
    fn address(cx: &mut Cx, this: Value) -> Result<Value> {
        let n = cx.data_ref::<Closure>(this)?.code;
        Ok(cx.int_u64(n as u64))
    }
    #[method("free")]
    fn free(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(cx.data_ref::<Closure>(this)?.free())
    }
    #[method("freed?")]
    fn is_freed(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(cx.data_ref::<Closure>(this)?.is_freed())
    }
}

fn class_in(cx: &mut Cx, module: Value, name: &str) -> Result<ClassId> {
    let v = cx.const_get_from(module, Sym::intern(name))?;
    match cx.class_id(v) {
        Some(c) => Ok(c),
        None => cx.type_error("not a class"),
    }
}

/// A module of the gem's with the natives as constants, and the class of its pointers.
fn define(cx: &mut Cx, module: &str, pointer: &str) {
    let module = cx.define_module(ids::OBJECT, module);
    let class = cx.define_class(module, pointer, ids::OBJECT);
    cx.class_mut(class).alloc = Alloc::Data;
    cx.define_natives(class, &[memory::memory::METHODS]);
    let native = cx.define_module(module, "Native");
    cx.define_natives(native, &[native::METHODS]);
    for name in ["Interface", "Question", "Closure"] {
        let class = cx.define_class(native, name, ids::OBJECT);
        cx.class_mut(class).alloc = Alloc::Data;
        if name == "Closure" {
            cx.define_natives(class, &[closure::METHODS]);
        }
    }
}

/// `require "ffi_c"`
pub fn load_ffi(cx: &mut Cx) -> Result<()> {
    define(cx, "FFI", "AbstractMemory");
    cx.run_builtin("ffi_c")?;
    cx.run_builtin("ffi_struct")?;
    cx.run_builtin("ffi_memory")
}

/// `require "fiddle.so"`
pub fn load_fiddle(cx: &mut Cx) -> Result<()> {
    define(cx, "Fiddle", "Pointer");
    cx.run_builtin("fiddle_native")
}
