//! etc: the system's users, groups and settings. The databases are asked by name or number through the C library's reentrant functions, so that other sources than files
//! count; walks through them are Ruby (`ruby/etc.rb`), as are the names of settings.

use std::ffi::{CStr, CString, c_char, c_int};
use zakuro_core_system::io::fail;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// More no entry needs.
const MOST: usize = 1 << 20;

fn text(cx: &Cx, s: *const c_char) -> Value {
    if s.is_null() {
        return Value::NIL;
    }
    // SAFETY: the C library's strings end with NUL.
    cx.str_auto(unsafe { CStr::from_ptr(s) }.to_bytes())
}

/// Calls with more and more room for texts, as long as that is what is missing.
fn with_room(mut f: impl FnMut(&mut [c_char]) -> c_int) -> (c_int, Vec<c_char>) {
    let mut room = vec![0; 4096];
    loop {
        let r = f(&mut room);
        if r != libc::ERANGE || room.len() >= MOST {
            return (r, room);
        }
        room = vec![0; room.len() * 4];
    }
}

/// A name, or a number when there is none.
fn asked(cx: &mut Cx, name: Value, id: Option<i64>) -> Result<(Option<CString>, Option<u32>)> {
    if name.is_nil() {
        // (uid_t)-1 is nobody's; what is no id at all isn't either.
        return Ok((None, id.and_then(|n| u32::try_from(n).ok())));
    }
    let name = cx.to_str(name)?;
    match CString::new(name.to_vec()) {
        Ok(name) => Ok((Some(name), None)),
        Err(_) => cx.arg_error("string contains null byte"),
    }
}

fn errno() -> c_int {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

fn clear_errno() {
    // SAFETY: the native thread's own.
    unsafe { *libc::__errno_location() = 0 };
}

/// A setting's number as the system gave it: nil where there is no limit.
fn setting(cx: &mut Cx, n: i64, what: &str) -> Result<Value> {
    match (n, errno()) {
        (-1, 0) => Ok(Value::NIL),
        (-1, e) => fail(cx, e, what),
        _ => Ok(cx.int(n)),
    }
}

/// Methods of `Etc`.
#[ruby_class(ids::OBJECT)]
mod natives {
    use super::*;

    #[method("__user", singleton)]
    fn user(cx: &mut Cx, _this: Value, name: Value, id: Option<i64>) -> Result<Value> {
        let (name, id) = asked(cx, name, id)?;
        // SAFETY: plain data.
        let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
        let mut found = std::ptr::null_mut();
        // SAFETY: places live through the calls; `room` has the length that is told.
        let (r, _room) = with_room(|room| unsafe {
            match (&name, id) {
                (Some(name), _) => libc::getpwnam_r(name.as_ptr(), &mut entry, room.as_mut_ptr(), room.len(), &mut found),
                (None, Some(id)) => libc::getpwuid_r(id, &mut entry, room.as_mut_ptr(), room.len(), &mut found),
                _ => 0,
            }
        });
        // Besides 0, databases say "there is none" with several errors.
        if found.is_null() || r != 0 {
            return Ok(Value::NIL);
        }
        let all = [
            text(cx, entry.pw_name),
            text(cx, entry.pw_passwd),
            Value::fixnum(entry.pw_uid as i64),
            Value::fixnum(entry.pw_gid as i64),
            text(cx, entry.pw_gecos),
            text(cx, entry.pw_dir),
            text(cx, entry.pw_shell),
        ];
        Ok(cx.array(&all))
    }
    #[method("__group", singleton)]
    fn group(cx: &mut Cx, _this: Value, name: Value, id: Option<i64>) -> Result<Value> {
        let (name, id) = asked(cx, name, id)?;
        // SAFETY: plain data.
        let mut entry: libc::group = unsafe { std::mem::zeroed() };
        let mut found = std::ptr::null_mut();
        // SAFETY: as above.
        let (r, _room) = with_room(|room| unsafe {
            match (&name, id) {
                (Some(name), _) => libc::getgrnam_r(name.as_ptr(), &mut entry, room.as_mut_ptr(), room.len(), &mut found),
                (None, Some(id)) => libc::getgrgid_r(id, &mut entry, room.as_mut_ptr(), room.len(), &mut found),
                _ => 0,
            }
        });
        if found.is_null() || r != 0 {
            return Ok(Value::NIL);
        }
        let members = cx.new_array();
        let mut at = entry.gr_mem;
        // SAFETY: a list of texts that ends with NULL, in `_room`.
        unsafe {
            while !at.is_null() && !(*at).is_null() {
                let v = text(cx, *at);
                ArrayCell::push(members, &mut cx.heap, v);
                at = at.add(1);
            }
        }
        let all = [text(cx, entry.gr_name), text(cx, entry.gr_passwd), Value::fixnum(entry.gr_gid as i64), members.as_value()];
        Ok(cx.array(&all))
    }
    /// Who has logged in on the terminal, if there is one.
    #[method("__login", singleton)]
    fn login(cx: &Cx, _this: Value) -> Value {
        unsafe extern "C" {
            fn getlogin_r(to: *mut c_char, room: usize) -> c_int;
        }
        let mut b = [0 as c_char; 256];
        // SAFETY: as much room as is told; it ends with NUL.
        if unsafe { getlogin_r(b.as_mut_ptr(), b.len()) } == 0 { text(cx, b.as_ptr()) } else { Value::NIL }
    }
    #[method("__uname", singleton)]
    fn uname(cx: &mut Cx, _this: Value) -> Result<Value> {
        // SAFETY: plain data, filled by the call.
        unsafe {
            let mut u: libc::utsname = std::mem::zeroed();
            if libc::uname(&mut u) != 0 {
                return fail(cx, errno(), "uname");
            }
            let all = [u.sysname, u.nodename, u.release, u.version, u.machine].map(|s| text(cx, s.as_ptr()));
            Ok(cx.array(&all))
        }
    }
    /// Processors that the process may use.
    #[method("nprocessors", singleton)]
    fn nprocessors(_this: Value) -> i64 {
        // SAFETY: counts a set; asks for a number.
        unsafe {
            match zakuro_sched::cpus() {
                Some(set) => libc::CPU_COUNT(&set) as i64,
                None => libc::sysconf(libc::_SC_NPROCESSORS_ONLN).max(1),
            }
        }
    }
    /// A number of the system, as `Etc::SC_` constants name them; nil when there is no limit.
    #[method("sysconf", singleton)]
    fn sysconf(cx: &mut Cx, _this: Value, name: i64) -> Result<Value> {
        clear_errno();
        // SAFETY: any number will do.
        let n = unsafe { libc::sysconf(c_int::try_from(name).unwrap_or(-1)) };
        setting(cx, n, "sysconf")
    }
    /// A text of the system, as `Etc::CS_` constants name them; nil when it has none.
    #[method("confstr", singleton)]
    fn confstr(cx: &mut Cx, _this: Value, name: i64) -> Result<Value> {
        let name = c_int::try_from(name).unwrap_or(-1);
        clear_errno();
        // SAFETY: it only tells how much room it needs; then it gets that.
        unsafe {
            let n = libc::confstr(name, std::ptr::null_mut(), 0);
            if n == 0 {
                return match errno() {
                    0 => Ok(Value::NIL),
                    e => fail(cx, e, "confstr"),
                };
            }
            let mut room = vec![0 as c_char; n + 1];
            libc::confstr(name, room.as_mut_ptr(), n);
            Ok(text(cx, room.as_ptr()))
        }
    }
    #[method("__pathconf", singleton)]
    fn pathconf(cx: &mut Cx, _this: Value, fd: i64, name: i64) -> Result<Value> {
        clear_errno();
        // SAFETY: any numbers will do.
        let n = unsafe { libc::fpathconf(fd as c_int, c_int::try_from(name).unwrap_or(-1)) };
        setting(cx, n, "fpathconf")
    }
}

/// `require "etc"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let etc = cx.define_module(ids::OBJECT, "Etc");
    cx.define_natives(etc, &[natives::METHODS]);
    cx.run_builtin("etc")
}
