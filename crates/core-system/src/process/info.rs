//! What a process knows about itself: ids, times, limits.

use crate::io::fail_os;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

const LIMITS: &[(&str, u32)] = &[
    ("AS", libc::RLIMIT_AS),
    ("CORE", libc::RLIMIT_CORE),
    ("CPU", libc::RLIMIT_CPU),
    ("DATA", libc::RLIMIT_DATA),
    ("FSIZE", libc::RLIMIT_FSIZE),
    ("MEMLOCK", libc::RLIMIT_MEMLOCK),
    ("NOFILE", libc::RLIMIT_NOFILE),
    ("NPROC", libc::RLIMIT_NPROC),
    ("RSS", libc::RLIMIT_RSS),
    ("STACK", libc::RLIMIT_STACK),
    ("RTPRIO", libc::RLIMIT_RTPRIO),
    ("RTTIME", libc::RLIMIT_RTTIME),
    ("SIGPENDING", libc::RLIMIT_SIGPENDING),
    ("MSGQUEUE", libc::RLIMIT_MSGQUEUE),
    ("NICE", libc::RLIMIT_NICE),
];

/// The process's id, once it was asked for: asking takes a system call.
#[derive(Trace, Default)]
struct OwnPid(#[untraced] Option<i64>);
impl VmState for OwnPid {}

/// Id of this process.
pub fn own_pid(cx: &mut Cx) -> i64 {
    *cx.state::<OwnPid>().0.get_or_insert_with(|| std::process::id() as i64)
}
/// It is another process: the child of a fork.
pub(super) fn forget_pid(cx: &mut Cx) {
    cx.state::<OwnPid>().0 = None;
}

pub fn setup(cx: &mut Cx) {
    for (n, v) in LIMITS {
        cx.const_set(ids::PROCESS, Sym::intern(&format!("RLIMIT_{n}")), Value::fixnum(*v as i64));
    }
    let inf = cx.int_u64(libc::RLIM_INFINITY);
    for n in ["RLIM_INFINITY", "RLIM_SAVED_MAX", "RLIM_SAVED_CUR"] {
        cx.const_set(ids::PROCESS, Sym::intern(n), inf);
    }
    for (n, v) in [("WNOHANG", 1), ("WUNTRACED", 2), ("PRIO_PROCESS", 0), ("PRIO_PGRP", 1), ("PRIO_USER", 2)] {
        cx.const_set(ids::PROCESS, Sym::intern(n), Value::fixnum(v));
    }
    for (n, v) in [("RUSAGE_SELF", libc::RUSAGE_SELF), ("RUSAGE_CHILDREN", libc::RUSAGE_CHILDREN)] {
        cx.const_set(ids::PROCESS, Sym::intern(n), Value::fixnum(v as i64));
    }
}

fn limit_of(cx: &mut Cx, v: Value) -> Result<u32> {
    let name = match (v.as_sym(), cx.is_integer(v)) {
        (Some(s), _) => s.name().into_owned(),
        (None, true) => return Ok(cx.to_i64(v)? as u32),
        (None, false) => match cx.try_str(v)? {
            Some(s) => s.to_text(),
            None => return Ok(cx.to_i64(v)? as u32),
        },
    };
    match LIMITS.iter().find(|l| l.0 == name) {
        Some(l) => Ok(l.1),
        None => cx.arg_error(format!("invalid resource name: {name}")),
    }
}

/// A resource of `Process.setrlimit`.
pub type Resource = u32;

/// The resource of an option of `spawn` (`rlimit_core`: "core").
pub fn resource_named(name: &str) -> Option<Resource> {
    LIMITS.iter().find(|l| l.0.to_ascii_lowercase() == name).map(|l| l.1)
}

fn limit_value(cx: &mut Cx, v: Value) -> Result<u64> {
    let named = match v.as_sym() {
        Some(s) => Some(s.name().into_owned()),
        None if cx.is_integer(v) => None,
        None => cx.try_str(v)?.map(|s| s.to_text()),
    };
    match named.as_deref() {
        Some("INFINITY") => Ok(libc::RLIM_INFINITY),
        Some(other) => cx.arg_error(format!("invalid resource value: {other}")),
        None => limit_number(cx, v),
    }
}

/// A limit that has no name.
pub fn limit_number(cx: &mut Cx, v: Value) -> Result<u64> {
    let n = cx.to_int(v)?;
    match cx.as_big(n).and_then(|b| u64::try_from(b).ok()) {
        Some(n) => Ok(n),
        None => Ok(cx.to_i64(n)? as u64),
    }
}

/// The String that `Process.argv0` gives, once it was asked for.
#[derive(Trace, Default)]
struct Argv0(Option<Value>);
impl VmState for Argv0 {}

#[ruby_class(ids::PROCESS)]
pub mod process {
    use super::*;
    /// Id of this process. (All VMs share it.)
    ///
    ///     Process.pid == $$   #=> true
    #[method("pid", module_function)]
    fn pid(cx: &mut Cx, _this: Value) -> i64 {
        own_pid(cx)
    }
    /// Id of the parent process.
    #[method("ppid", module_function)]
    fn ppid(_this: Value) -> i64 {
        std::os::unix::process::parent_id() as i64
    }
    /// Real user id.
    #[method("uid", module_function)]
    fn uid(_this: Value) -> i64 {
        // SAFETY: no preconditions.
        unsafe { libc::getuid() as i64 }
    }
    /// Effective user id.
    #[method("euid", module_function)]
    fn euid(_this: Value) -> i64 {
        // SAFETY: no preconditions.
        unsafe { libc::geteuid() as i64 }
    }
    /// Real group id.
    #[method("gid", module_function)]
    fn gid(_this: Value) -> i64 {
        // SAFETY: no preconditions.
        unsafe { libc::getgid() as i64 }
    }
    /// Effective group id.
    #[method("egid", module_function)]
    fn egid(_this: Value) -> i64 {
        // SAFETY: no preconditions.
        unsafe { libc::getegid() as i64 }
    }
    /// Process group.
    #[method("getpgrp", module_function)]
    fn getpgrp(_this: Value) -> i64 {
        // SAFETY: no preconditions.
        unsafe { libc::getpgrp() as i64 }
    }
    /// Process group of a process.
    #[method("getpgid", module_function)]
    fn getpgid(cx: &mut Cx, _this: Value, pid: i64) -> Result<i64> {
        // SAFETY: no preconditions.
        let r = unsafe { libc::getpgid(pid as i32) };
        if r < 0 { fail_os(cx, "") } else { Ok(r as i64) }
    }
    /// Session of a process.
    #[method("getsid", module_function)]
    fn getsid(cx: &mut Cx, _this: Value, pid: Option<i64>) -> Result<i64> {
        // SAFETY: no preconditions.
        let r = unsafe { libc::getsid(pid.unwrap_or(0) as i32) };
        if r < 0 { fail_os(cx, "") } else { Ok(r as i64) }
    }
    /// Scheduling priority.
    #[method("getpriority", module_function)]
    fn getpriority(cx: &mut Cx, _this: Value, kind: i64, id: i64) -> Result<i64> {
        // SAFETY: errno is this native thread's; getpriority has no preconditions. -1 is a priority, too.
        let (r, e) = unsafe {
            *libc::__errno_location() = 0;
            let r = libc::getpriority(kind as _, id as libc::id_t);
            (r, *libc::__errno_location())
        };
        if r == -1 && e != 0 { crate::io::fail(cx, e, "") } else { Ok(r as i64) }
    }
    /// Soft and hard limit of a resource.
    #[method("getrlimit", module_function)]
    fn getrlimit(cx: &mut Cx, _this: Value, resource: Value) -> Result<Value> {
        let r = limit_of(cx, resource)?;
        let mut l = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: l is writable.
        if unsafe { libc::getrlimit(r, &mut l) } != 0 {
            return fail_os(cx, "getrlimit");
        }
        let pair = [cx.int_u64(l.rlim_cur), cx.int_u64(l.rlim_max)];
        Ok(cx.array(&pair))
    }
    /// Sets soft and hard limit of a resource, of the whole process: only the main VM may.
    #[method("setrlimit", module_function)]
    fn setrlimit(cx: &mut Cx, _this: Value, resource: Value, soft: Value, hard: Option<Value>) -> Result<()> {
        let r = limit_of(cx, resource)?;
        let cur = limit_value(cx, soft)?;
        let max = match hard {
            Some(h) => limit_value(cx, h)?,
            None => cur,
        };
        crate::process::owner::main_only(cx, "Process.setrlimit changes the whole process")?;
        let l = libc::rlimit { rlim_cur: cur, rlim_max: max };
        // SAFETY: l is readable.
        if unsafe { libc::setrlimit(r, &l) } != 0 {
            return fail_os(cx, "setrlimit");
        }
        Ok(())
    }
    /// User, system, children's user, children's system CPU seconds.
    #[method("__times", singleton, private)]
    fn times(cx: &mut Cx, _this: Value) -> Value {
        let mut out = RootedVec::new(cx);
        for who in [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN] {
            // SAFETY: getrusage fills the zeroed struct.
            let u = unsafe {
                let mut u: libc::rusage = std::mem::zeroed();
                libc::getrusage(who, &mut u);
                u
            };
            for t in [u.ru_utime, u.ru_stime] {
                out.push(cx.float(t.tv_sec as f64 + t.tv_usec as f64 / 1e6));
            }
        }
        cx.array(&out)
    }
    /// `$0` as the process was started.
    #[method("argv0", module_function)]
    fn argv0(cx: &mut Cx, _this: Value) -> Value {
        if let Some(v) = cx.state::<Argv0>().0 {
            return v;
        }
        let s = cx.script.clone();
        let v = cx.frozen_str(&s);
        cx.state::<Argv0>().0 = Some(v);
        v
    }
    /// Makes a text the process's title, as `ps` shows it. In another VM than the main one nothing happens: the process is not its.
    ///
    ///     Process.setproctitle("worker 1")   #=> "worker 1"
    #[method("setproctitle", module_function)]
    fn setproctitle(cx: &mut Cx, _this: Value, title: Ref<StringCell>) -> Result<Value> {
        if title.content(&cx.heap).contains(&0) {
            return cx.arg_error("string contains null byte");
        }
        crate::process::title::set(cx, &title.to_vec());
        Ok(title.as_value())
    }
    /// Time for optimisations before many processes are forked: collects.
    ///
    ///     Process.warmup   #=> true
    #[method("warmup", module_function)]
    fn warmup(cx: &mut Cx, _this: Value) -> bool {
        cx.collect();
        true
    }
}
