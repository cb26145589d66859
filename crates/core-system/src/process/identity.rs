//! Who the process is to the system: users, groups, sessions, process groups, priorities.
//!
//! All of it belongs to the process, so only the main VM may change it (`owner::main_only`); every VM may ask. User and group ids are set through the C library,
//! which sets them for every native thread; a bare system call would leave the other workers with the old ids.

use super::owner::main_only;
use crate::io::fail_os;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Most supplementary groups that Linux keeps.
const MOST_GROUPS: i64 = 65_536;

/// What the program set with `Process.maxgroups=`.
#[derive(Trace, Default)]
struct MaxGroups(Option<i64>);
impl VmState for MaxGroups {}

fn max_groups(cx: &mut Cx) -> i64 {
    cx.state::<MaxGroups>().0.unwrap_or(MOST_GROUPS)
}

/// Raises the system's error when a call failed.
fn done(cx: &mut Cx, result: libc::c_int) -> Result<i64> {
    if result == -1 { fail_os(cx, "") } else { Ok(result as i64) }
}

/// Number after the second colon of the line for `name` in a table of the system (passwd, group).
fn numbered(table: &str, name: &str) -> Option<i64> {
    let text = std::fs::read_to_string(table).ok()?;
    let line = text.lines().find(|l| l.split(':').next() == Some(name))?;
    line.split(':').nth(2)?.parse().ok()
}

/// A user as its number or its name.
pub fn user(cx: &mut Cx, v: Value) -> Result<u32> {
    named(cx, v, "/etc/passwd", "user")
}
/// A group as its number or its name.
pub fn group(cx: &mut Cx, v: Value) -> Result<u32> {
    named(cx, v, "/etc/group", "group")
}
fn named(cx: &mut Cx, v: Value, table: &str, what: &str) -> Result<u32> {
    let n = match cx.is_integer(v) {
        true => cx.to_i64(v)?,
        false => match cx.try_str(v)? {
            Some(name) => {
                let name = name.to_text();
                match numbered(table, &name) {
                    Some(n) => n,
                    None => return cx.arg_error(format!("can't find {what} for {name}")),
                }
            }
            None => {
                let n = cx.to_int(v)?;
                cx.to_i64(n)?
            }
        },
    };
    // -1 stands for 4294967295, as C programs write it.
    match u32::try_from(n).or_else(|_| i32::try_from(n).map(|n| n as u32)) {
        Ok(n) => Ok(n),
        Err(_) => cx.range_error(format!("integer {n} too big to convert to 'unsigned int'")),
    }
}

const USERS: &str = "user ids belong to the whole process";
const GROUPS: &str = "group ids belong to the whole process";
const SESSION: &str = "session and process group belong to the whole process";
/// The value that leaves an id as it is.
const KEEP: u32 = u32::MAX;

fn set_users(cx: &mut Cx, real: u32, effective: u32, saved: u32) -> Result<i64> {
    main_only(cx, USERS)?;
    // SAFETY: no preconditions.
    let r = unsafe { libc::setresuid(real, effective, saved) };
    done(cx, r)
}
fn set_groups(cx: &mut Cx, real: u32, effective: u32, saved: u32) -> Result<i64> {
    main_only(cx, GROUPS)?;
    // SAFETY: no preconditions.
    let r = unsafe { libc::setresgid(real, effective, saved) };
    done(cx, r)
}
fn users() -> (i64, i64) {
    // SAFETY: no preconditions.
    unsafe { (libc::getuid() as i64, libc::geteuid() as i64) }
}
fn groups() -> (i64, i64) {
    // SAFETY: no preconditions.
    unsafe { (libc::getgid() as i64, libc::getegid() as i64) }
}

/// Ids of the supplementary groups.
fn supplementary(cx: &mut Cx) -> Result<Value> {
    let mut list = vec![0 as libc::gid_t; MOST_GROUPS as usize];
    // SAFETY: room for as many ids as said.
    let n = unsafe { libc::getgroups(list.len() as i32, list.as_mut_ptr()) };
    if n < 0 {
        return fail_os(cx, "");
    }
    Ok(cx.array_of(list[..n as usize].iter().map(|g| Value::fixnum(*g as i64))))
}

#[ruby_class(ids::PROCESS)]
pub mod process {
    use super::*;
    /// Sets the real user id. Only the main VM may.
    #[method("uid=", module_function)]
    fn set_uid(cx: &mut Cx, _this: Value, id: Value) -> Result<Value> {
        let u = user(cx, id)?;
        set_users(cx, u, KEEP, KEEP)?;
        Ok(id)
    }
    /// Sets the effective user id. Only the main VM may.
    #[method("euid=", module_function)]
    fn set_euid(cx: &mut Cx, _this: Value, id: Value) -> Result<Value> {
        let u = user(cx, id)?;
        set_users(cx, KEEP, u, KEEP)?;
        Ok(id)
    }
    /// Sets the real group id. Only the main VM may.
    #[method("gid=", module_function)]
    fn set_gid(cx: &mut Cx, _this: Value, id: Value) -> Result<Value> {
        let g = group(cx, id)?;
        set_groups(cx, g, KEEP, KEEP)?;
        Ok(id)
    }
    /// Sets the effective group id. Only the main VM may.
    #[method("egid=", module_function)]
    fn set_egid(cx: &mut Cx, _this: Value, id: Value) -> Result<Value> {
        let g = group(cx, id)?;
        set_groups(cx, KEEP, g, KEEP)?;
        Ok(id)
    }
    /// Ids of the supplementary groups.
    #[method("groups", module_function)]
    fn groups(cx: &mut Cx, _this: Value) -> Result<Value> {
        supplementary(cx)
    }
    /// Sets the supplementary groups, each by number or name. Only the main VM may.
    #[method("groups=", module_function)]
    fn set_groups_(cx: &mut Cx, _this: Value, list: Ref<ArrayCell>) -> Result<Value> {
        let most = max_groups(cx);
        if list.len() as i64 > most {
            return cx.arg_error(format!("too many groups, {most} max"));
        }
        let (mut ids, mut i) = (Vec::new(), 0);
        while let Some(g) = list.get(i) {
            ids.push(group(cx, g)?);
            i += 1;
        }
        main_only(cx, GROUPS)?;
        // SAFETY: as many ids as said.
        let r = unsafe { libc::setgroups(ids.len(), ids.as_ptr()) };
        done(cx, r)?;
        supplementary(cx)
    }
    /// Sets the supplementary groups to those that the system's table names for a user, and `base`. Only the main VM may.
    #[method("initgroups", module_function)]
    fn initgroups(cx: &mut Cx, _this: Value, name: Ref<StringCell>, base: Value) -> Result<Value> {
        let base = group(cx, base)?;
        let Ok(name) = std::ffi::CString::new(name.content(&cx.heap)) else { return cx.arg_error("string contains null byte") };
        main_only(cx, GROUPS)?;
        // SAFETY: the name ends with NUL.
        let r = unsafe { libc::initgroups(name.as_ptr(), base) };
        done(cx, r)?;
        supplementary(cx)
    }
    /// How many supplementary groups `groups=` accepts.
    #[method("maxgroups", module_function)]
    fn maxgroups(cx: &mut Cx, _this: Value) -> i64 {
        max_groups(cx)
    }
    /// Sets how many supplementary groups `groups=` accepts; at most as many as the system does.
    #[method("maxgroups=", module_function)]
    fn set_maxgroups(cx: &mut Cx, _this: Value, n: i64) -> Result<i64> {
        if n <= 0 {
            return cx.arg_error(format!("maxgroups {n} should be positive"));
        }
        cx.state::<MaxGroups>().0 = Some(n.min(MOST_GROUPS));
        Ok(n)
    }
    /// Makes the process the leader of a process group of its own. Only the main VM may.
    #[method("setpgrp", module_function)]
    fn setpgrp(cx: &mut Cx, _this: Value) -> Result<i64> {
        main_only(cx, SESSION)?;
        // SAFETY: no preconditions.
        let r = unsafe { libc::setpgid(0, 0) };
        done(cx, r)
    }
    /// Moves a child of this VM into a process group; the process itself only in the main VM.
    #[method("setpgid", module_function)]
    fn setpgid(cx: &mut Cx, _this: Value, pid: i64, group: i64) -> Result<i64> {
        if !cx.state::<super::super::status::Children>().running.contains(&(pid as i32)) {
            main_only(cx, SESSION)?;
        }
        // SAFETY: no preconditions.
        let r = unsafe { libc::setpgid(pid as i32, group as i32) };
        done(cx, r)
    }
    /// Makes the process the leader of a new session and returns its number. Only the main VM may.
    #[method("setsid", module_function)]
    fn setsid(cx: &mut Cx, _this: Value) -> Result<i64> {
        main_only(cx, SESSION)?;
        // SAFETY: no preconditions.
        let r = unsafe { libc::setsid() };
        done(cx, r)
    }
    /// Sets a scheduling priority: of a child of this VM, or of anything else when it is the main VM.
    #[method("setpriority", module_function)]
    fn setpriority(cx: &mut Cx, _this: Value, kind: i64, id: i64, priority: i64) -> Result<i64> {
        let child = kind == libc::PRIO_PROCESS as i64 && cx.state::<super::super::status::Children>().running.contains(&(id as i32));
        if !child {
            main_only(cx, "priorities belong to the whole process")?;
        }
        // SAFETY: no preconditions.
        let r = unsafe { libc::setpriority(kind as _, id as libc::id_t, priority as i32) };
        done(cx, r)
    }
}

#[ruby_class(ids::PROCESS_UID)]
pub mod uid {
    use super::*;
    /// The real user id.
    ///
    ///     Process::UID.rid == Process.uid   #=> true
    #[method("rid", module_function)]
    fn rid(_this: Value) -> i64 {
        users().0
    }
    /// The effective user id.
    ///
    ///     Process::UID.eid == Process.euid   #=> true
    #[method("eid", module_function)]
    fn eid(_this: Value) -> i64 {
        users().1
    }
    /// Sets the effective user id. Only the main VM may.
    #[method("eid=", singleton)]
    #[method("grant_privilege", module_function)]
    fn set_eid(cx: &mut Cx, _this: Value, id: Value) -> Result<i64> {
        let u = user(cx, id)?;
        set_users(cx, KEEP, u, KEEP)?;
        Ok(u as i64)
    }
    /// Sets the real, the effective and the saved user id: there is no way back. Only the main VM may.
    #[method("change_privilege", module_function)]
    fn change_privilege(cx: &mut Cx, _this: Value, id: Value) -> Result<i64> {
        let u = user(cx, id)?;
        set_users(cx, u, u, u)?;
        Ok(u as i64)
    }
    /// Exchanges the real and the effective user id. Only the main VM may.
    #[method("re_exchange", module_function)]
    fn re_exchange(cx: &mut Cx, _this: Value) -> Result<i64> {
        let (real, effective) = users();
        set_users(cx, effective as u32, real as u32, real as u32)?;
        Ok(real)
    }
    /// Whether the system can exchange them.
    ///
    ///     Process::UID.re_exchangeable?   #=> true
    #[method("re_exchangeable?", module_function)]
    #[method("sid_available?", module_function)]
    fn is_re_exchangeable(_this: Value) -> bool {
        true
    }
    /// The number of the user with a name.
    ///
    ///     Process::UID.from_name("root")   #=> 0
    #[method("from_name", module_function)]
    fn from_name(cx: &mut Cx, _this: Value, name: Ref<StringCell>) -> Result<i64> {
        Ok(user(cx, name.as_value())? as i64)
    }
}

#[ruby_class(ids::PROCESS_GID)]
pub mod gid {
    use super::*;
    /// The real group id.
    ///
    ///     Process::GID.rid == Process.gid   #=> true
    #[method("rid", module_function)]
    fn rid(_this: Value) -> i64 {
        super::groups().0
    }
    /// The effective group id.
    ///
    ///     Process::GID.eid == Process.egid   #=> true
    #[method("eid", module_function)]
    fn eid(_this: Value) -> i64 {
        super::groups().1
    }
    /// Sets the effective group id. Only the main VM may.
    #[method("eid=", singleton)]
    #[method("grant_privilege", module_function)]
    fn set_eid(cx: &mut Cx, _this: Value, id: Value) -> Result<i64> {
        let g = group(cx, id)?;
        set_groups(cx, KEEP, g, KEEP)?;
        Ok(g as i64)
    }
    /// Sets the real, the effective and the saved group id: there is no way back. Only the main VM may.
    #[method("change_privilege", module_function)]
    fn change_privilege(cx: &mut Cx, _this: Value, id: Value) -> Result<i64> {
        let g = group(cx, id)?;
        set_groups(cx, g, g, g)?;
        Ok(g as i64)
    }
    /// Exchanges the real and the effective group id. Only the main VM may.
    #[method("re_exchange", module_function)]
    fn re_exchange(cx: &mut Cx, _this: Value) -> Result<i64> {
        let (real, effective) = super::groups();
        set_groups(cx, effective as u32, real as u32, real as u32)?;
        Ok(real)
    }
    /// Whether the system can exchange them.
    ///
    ///     Process::GID.re_exchangeable?   #=> true
    #[method("re_exchangeable?", module_function)]
    #[method("sid_available?", module_function)]
    fn is_re_exchangeable(_this: Value) -> bool {
        true
    }
    /// The number of the group with a name.
    ///
    ///     Process::GID.from_name("root")   #=> 0
    #[method("from_name", module_function)]
    fn from_name(cx: &mut Cx, _this: Value, name: Ref<StringCell>) -> Result<i64> {
        Ok(group(cx, name.as_value())? as i64)
    }
}

/// The system's calls under their own names.
#[ruby_class(ids::PROCESS_SYS)]
pub mod sys {
    use super::*;
    /// The real user id.
    #[method("getuid", module_function)]
    fn getuid(_this: Value) -> i64 {
        users().0
    }
    /// The effective user id.
    #[method("geteuid", module_function)]
    fn geteuid(_this: Value) -> i64 {
        users().1
    }
    /// The real group id.
    #[method("getgid", module_function)]
    fn getgid(_this: Value) -> i64 {
        groups().0
    }
    /// The effective group id.
    #[method("getegid", module_function)]
    fn getegid(_this: Value) -> i64 {
        groups().1
    }
    /// Whether the program runs with another user's or group's rights than its starter's.
    #[method("issetugid", module_function)]
    fn issetugid(_this: Value) -> bool {
        // SAFETY: getauxval only reads.
        unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
    }
    /// setuid(2). Only the main VM may.
    #[method("setuid", module_function)]
    fn setuid(cx: &mut Cx, _this: Value, id: Value) -> Result<()> {
        let u = user(cx, id)?;
        main_only(cx, USERS)?;
        // SAFETY: no preconditions.
        let r = unsafe { libc::setuid(u) };
        done(cx, r).map(|_| ())
    }
    /// setgid(2). Only the main VM may.
    #[method("setgid", module_function)]
    fn setgid(cx: &mut Cx, _this: Value, id: Value) -> Result<()> {
        let g = group(cx, id)?;
        main_only(cx, GROUPS)?;
        // SAFETY: no preconditions.
        let r = unsafe { libc::setgid(g) };
        done(cx, r).map(|_| ())
    }
    /// seteuid(2). Only the main VM may.
    #[method("seteuid", module_function)]
    fn seteuid(cx: &mut Cx, _this: Value, id: Value) -> Result<()> {
        let u = user(cx, id)?;
        set_users(cx, KEEP, u, KEEP).map(|_| ())
    }
    /// setegid(2). Only the main VM may.
    #[method("setegid", module_function)]
    fn setegid(cx: &mut Cx, _this: Value, id: Value) -> Result<()> {
        let g = group(cx, id)?;
        set_groups(cx, KEEP, g, KEEP).map(|_| ())
    }
    /// setreuid(2). Only the main VM may.
    #[method("setreuid", module_function)]
    fn setreuid(cx: &mut Cx, _this: Value, real: Value, effective: Value) -> Result<()> {
        let (r, e) = (user(cx, real)?, user(cx, effective)?);
        set_users(cx, r, e, KEEP).map(|_| ())
    }
    /// Linux has no setruid(2); there is setreuid.
    #[method("setruid", module_function, unimplemented)]
    fn setruid(cx: &mut Cx, _this: Value, _user: Value) -> Result<Value> {
        cx.raise(ids::NOT_IMPLEMENTED_ERROR, "setruid() function is unimplemented on this machine")
    }
    /// setregid(2). Only the main VM may.
    #[method("setregid", module_function)]
    fn setregid(cx: &mut Cx, _this: Value, real: Value, effective: Value) -> Result<()> {
        let (r, e) = (group(cx, real)?, group(cx, effective)?);
        set_groups(cx, r, e, KEEP).map(|_| ())
    }
    /// setresuid(2). Only the main VM may.
    #[method("setresuid", module_function)]
    fn setresuid(cx: &mut Cx, _this: Value, real: Value, effective: Value, saved: Value) -> Result<()> {
        let (r, e, s) = (user(cx, real)?, user(cx, effective)?, user(cx, saved)?);
        set_users(cx, r, e, s).map(|_| ())
    }
    /// setresgid(2). Only the main VM may.
    #[method("setresgid", module_function)]
    fn setresgid(cx: &mut Cx, _this: Value, real: Value, effective: Value, saved: Value) -> Result<()> {
        let (r, e, s) = (group(cx, real)?, group(cx, effective)?, group(cx, saved)?);
        set_groups(cx, r, e, s).map(|_| ())
    }
}
