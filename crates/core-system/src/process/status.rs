//! Process::Status, `$?`, and waiting for the VM's own child processes.
//!
//! A VM can wait only for children that it started itself: `Process.wait` without a pid must not take another VM's child away.

use crate::io::wait::wait_any;
use crate::io::{errors::last_errno, fail};
use std::sync::Mutex;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Children of one VM and the status of the last one that its main thread waited for.
#[derive(Trace, Default)]
pub struct Children {
    pub running: Vec<i32>,
    last: Option<Value>,
}
impl VmState for Children {}

/// Children whose VM ended first. Nobody can wait for them, but somebody has to take their end from the system: whoever starts the next child, or ends with
/// children of its own. Until then their pids stand for nothing else.
static ORPHANS: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// Takes the end of children whose VM is gone.
pub fn reap_orphans() {
    let mut list = ORPHANS.lock().unwrap_or_else(|e| e.into_inner());
    // SAFETY: children of this process that nobody else waits for; no status is asked for.
    list.retain(|pid| unsafe { libc::waitpid(*pid, std::ptr::null_mut(), libc::WNOHANG) } == 0);
}

/// A process that the VM may wait for.
pub fn add_child(cx: &mut Cx, pid: i32) {
    cx.state::<Children>().running.push(pid);
}

/// In the child of a fork: the parent's children are not its own.
pub fn forget_children(cx: &mut Cx) {
    cx.state::<Children>().running.clear();
    ORPHANS.lock().unwrap_or_else(|e| e.into_inner()).clear();
}

impl Drop for Children {
    fn drop(&mut self) {
        if !self.running.is_empty() {
            ORPHANS.lock().unwrap_or_else(|e| e.into_inner()).append(&mut self.running);
            reap_orphans();
        }
    }
}

/// `$?`: each thread has its own.
pub fn last(cx: &mut Cx) -> Value {
    match other_thread(cx) {
        Some(t) => t.status,
        None => cx.state::<Children>().last.unwrap_or(Value::NIL),
    }
}

/// The running thread, unless it is the main one.
fn other_thread(cx: &mut Cx) -> Option<&mut thread::Thread> {
    if cx.thread_id() == thread::MAIN { None } else { Some(cx.threads().current()) }
}

/// Makes a Process::Status of a raw wait status.
fn new_status(cx: &mut Cx, pid: i32, raw: i32) -> Value {
    let v = cx.new_object(ids::PROCESS_STATUS);
    cx.ivar_set_raw(v, Sym::intern("__pid"), Value::fixnum(pid as i64));
    cx.ivar_set_raw(v, Sym::intern("__status"), Value::fixnum(raw as i64));
    v.set_flags(flags::FROZEN);
    v
}

/// The same, and sets `$?`.
pub fn set_last(cx: &mut Cx, pid: i32, raw: i32) -> Value {
    let v = new_status(cx, pid, raw);
    match other_thread(cx) {
        Some(t) => t.status = v,
        None => cx.state::<Children>().last = Some(v),
    }
    v
}

/// One look at one child. Some((pid, raw status)) when it has ended (or stopped, with WUNTRACED).
fn look(cx: &mut Cx, pid: i32, flags: i32) -> std::result::Result<Option<i32>, i32> {
    let mut st = 0;
    loop {
        // SAFETY: st is writable.
        let r = unsafe { libc::waitpid(pid, &mut st, libc::WNOHANG | flags) };
        if r == 0 {
            return Ok(None);
        }
        if r == pid {
            if libc::WIFEXITED(st) || libc::WIFSIGNALED(st) {
                cx.state::<Children>().running.retain(|p| *p != pid);
            }
            return Ok(Some(st));
        }
        let e = last_errno();
        if e != libc::EINTR {
            cx.state::<Children>().running.retain(|p| *p != pid);
            return Err(e);
        }
    }
}

/// Waits until one of the children ends, or (when stops count too) a moment.
fn pause(cx: &mut Cx, pids: &[i32], stops: bool) -> Result<()> {
    let mut fds: Vec<libc::pollfd> = Vec::new();
    for pid in pids {
        // SAFETY: pidfd_open has no memory arguments; the descriptors are closed below.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, *pid, 0) } as i32;
        if fd >= 0 {
            fds.push(libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        }
    }
    // Kernels without pidfd: look again soon.
    let seconds = if stops || fds.len() < pids.len() { Some(0.02) } else { None };
    let r = wait_any(cx, &mut fds, &[], seconds);
    for f in fds {
        // SAFETY: opened above.
        unsafe { libc::close(f.fd) };
    }
    r?;
    Ok(())
}

/// waitpid among the VM's children; None with WNOHANG when nothing happened. Sets `$?`.
pub fn wait(cx: &mut Cx, pid: i32, flags: i32) -> Result<Option<(i32, Value)>> {
    let asked = [Value::fixnum(pid.into()), Value::fixnum(flags.into())];
    if let Some(v) = crate::fiber_scheduler::hook(cx, "process_wait", &asked)? {
        if v.is_nil() {
            return Ok(None);
        }
        if !cx.is_a(v, ids::PROCESS_STATUS) {
            let got = cx.class_name_of(v);
            return cx.type_error(format!("wrong argument type {got} (expected Process::Status)"));
        }
        let (pid, status) = (pid_of(cx, v) as i32, raw(cx, v));
        if pid < 0 {
            // A status of no process: there was none to wait for.
            return fail(cx, libc::ECHILD, "");
        }
        return Ok(Some((pid, set_last(cx, pid, status))));
    }
    match wait_raw(cx, pid, flags)? {
        Some((p, st)) => Ok(Some((p, set_last(cx, p, st)))),
        None => Ok(None),
    }
}

/// The same, as pid and raw status.
fn wait_raw(cx: &mut Cx, pid: i32, flags: i32) -> Result<Option<(i32, i32)>> {
    if pid == i32::MIN {
        // No group has that number.
        return fail(cx, libc::ESRCH, "");
    }
    loop {
        let mine = cx.state::<Children>().running.clone();
        let pids: Vec<i32> = if pid > 0 {
            mine.into_iter().filter(|p| *p == pid).collect()
        } else if pid == -1 {
            mine
        } else {
            // SAFETY: getpgrp has no preconditions.
            let group = if pid == 0 { unsafe { libc::getpgrp() } } else { -pid };
            // SAFETY: getpgid has no preconditions.
            mine.into_iter().filter(|p| unsafe { libc::getpgid(*p) } == group).collect()
        };
        if pids.is_empty() {
            return fail(cx, libc::ECHILD, "");
        }
        for p in &pids {
            if let Ok(Some(st)) = look(cx, *p, flags & !libc::WNOHANG) {
                return Ok(Some((*p, st)));
            }
        }
        if flags & libc::WNOHANG != 0 {
            return Ok(None);
        }
        pause(cx, &pids, flags & libc::WUNTRACED != 0)?;
    }
}

/// Process id (any child without one) and flags.
fn wait_args(cx: &mut Cx, pid: Option<Value>, flags: Option<Value>) -> Result<(i32, i32)> {
    let pid = pid.filter(|v| !v.is_nil()).map_or(Ok(-1), |v| cx.to_i32(v))?;
    Ok((pid, flags.filter(|v| !v.is_nil()).map_or(Ok(0), |v| cx.to_i32(v))?))
}

/// Waits for one child and sets `$?`. A child that is gone already is no error.
///
/// `hurry`: only if it has ended. Else it ends some time after the thread that would wait.
pub fn wait_child(cx: &mut Cx, pid: i32, hurry: bool) -> Result<()> {
    if cx.state::<Children>().running.contains(&pid) {
        wait(cx, pid, if hurry { libc::WNOHANG } else { 0 })?;
    }
    Ok(())
}

fn raw(cx: &mut Cx, v: Value) -> i32 {
    cx.ivar_get(v, Sym::intern("__status")).as_fixnum().unwrap_or(0) as i32
}

fn pid_of(cx: &mut Cx, v: Value) -> i64 {
    cx.ivar_get(v, Sym::intern("__pid")).as_fixnum().unwrap_or(0)
}

fn describe(cx: &mut Cx, v: Value) -> String {
    let (p, s) = (pid_of(cx, v), raw(cx, v));
    let mut out = format!("pid {p}");
    if libc::WIFSTOPPED(s) {
        out.push_str(&signal_text(" stopped", libc::WSTOPSIG(s)));
    }
    if libc::WIFSIGNALED(s) {
        out.push_str(&signal_text("", libc::WTERMSIG(s)));
    }
    if libc::WIFEXITED(s) {
        out.push_str(&format!(" exit {}", libc::WEXITSTATUS(s)));
    }
    if libc::WIFSIGNALED(s) && libc::WCOREDUMP(s) {
        out.push_str(" (core dumped)");
    }
    out
}

fn signal_text(prefix: &str, n: i32) -> String {
    match zakuro_core_base::exception::signal::name_of(n) {
        Some(name) => format!("{prefix} SIG{name} (signal {n})"),
        None => format!("{prefix} signal {n}"),
    }
}

#[ruby_class(ids::PROCESS)]
pub mod process {
    use super::*;
    /// Waits for a child of this VM; returns its pid and sets `$?`.
    #[method("wait", "waitpid", module_function)]
    fn wait(cx: &mut Cx, _this: Value, pid: Option<Value>, flags: Option<Value>) -> Result<Option<i64>> {
        let (pid, flags) = wait_args(cx, pid, flags)?;
        Ok(super::wait(cx, pid, flags)?.map(|r| r.0 as i64))
    }
    /// As `wait`; returns pid and status.
    #[method("wait2", "waitpid2", module_function)]
    fn wait2(cx: &mut Cx, _this: Value, pid: Option<Value>, flags: Option<Value>) -> Result<Value> {
        let (pid, flags) = wait_args(cx, pid, flags)?;
        match super::wait(cx, pid, flags)? {
            Some((p, s)) => Ok(cx.array(&[Value::fixnum(p as i64), s])),
            None => Ok(Value::NIL),
        }
    }
    /// Waits for all children of this VM: pids and statuses.
    #[method("waitall", module_function)]
    fn waitall(cx: &mut Cx, _this: Value) -> Result<Value> {
        let out = cx.new_array();
        while !cx.state::<Children>().running.is_empty() {
            let r = cx.rescue(&[ids::SYSTEM_CALL_ERROR], |cx| super::wait(cx, -1, 0))?;
            if let Ok(Some((p, s))) = r {
                let pair = cx.array(&[Value::fixnum(p as i64), s]);
                ArrayCell::push(out, &mut cx.heap, pair);
            }
        }
        Ok(out.as_value())
    }
    /// Status of the last child that ended: `$?`.
    #[method("last_status", singleton)]
    fn last_status(cx: &mut Cx, _this: Value) -> Value {
        last(cx)
    }
}

#[ruby_class(ids::PROCESS_STATUS)]
pub mod status {
    use super::*;
    /// Waits for a child of this VM and returns its status; `$?` stays as it is. Without such a child, a status with the pid -1; nil when
    /// `Process::WNOHANG` is given and none has ended.
    ///
    ///     Process::Status.wait(spawn("exit 3")).exitstatus   #=> 3
    #[method("wait", singleton)]
    fn wait(cx: &mut Cx, _this: Value, pid: Option<i64>, flags: Option<i64>) -> Result<Value> {
        match cx.rescue(&[ids::SYSTEM_CALL_ERROR], |cx| wait_raw(cx, pid.unwrap_or(-1) as i32, flags.unwrap_or(0) as i32))? {
            Ok(Some((p, st))) => Ok(new_status(cx, p, st)),
            Ok(None) => Ok(Value::NIL),
            Err(_) => Ok(new_status(cx, -1, 0)),
        }
    }
    /// Id of the process that ended.
    #[method("pid")]
    fn pid(cx: &mut Cx, this: Value) -> i64 {
        pid_of(cx, this)
    }
    /// The system's number.
    #[method("to_i")]
    fn to_i(cx: &mut Cx, this: Value) -> i64 {
        raw(cx, this) as i64
    }
    /// Exit code, nil when a signal ended it.
    #[method("exitstatus")]
    fn exitstatus(cx: &mut Cx, this: Value) -> Option<i64> {
        let s = raw(cx, this);
        libc::WIFEXITED(s).then(|| libc::WEXITSTATUS(s) as i64)
    }
    /// Whether the exit code is 0; nil when it did not exit.
    #[method("success?")]
    fn is_success(cx: &mut Cx, this: Value) -> Option<Value> {
        let s = raw(cx, this);
        libc::WIFEXITED(s).then(|| Value::bool(libc::WEXITSTATUS(s) == 0))
    }
    /// Whether it exited by itself.
    #[method("exited?")]
    fn is_exited(cx: &mut Cx, this: Value) -> bool {
        libc::WIFEXITED(raw(cx, this))
    }
    /// Whether a signal ended it.
    #[method("signaled?")]
    fn is_signaled(cx: &mut Cx, this: Value) -> bool {
        libc::WIFSIGNALED(raw(cx, this))
    }
    /// Number of the signal that ended it, or nil.
    #[method("termsig")]
    fn termsig(cx: &mut Cx, this: Value) -> Option<i64> {
        let s = raw(cx, this);
        libc::WIFSIGNALED(s).then(|| libc::WTERMSIG(s) as i64)
    }
    /// Whether it is stopped.
    #[method("stopped?")]
    fn is_stopped(cx: &mut Cx, this: Value) -> bool {
        libc::WIFSTOPPED(raw(cx, this))
    }
    /// Number of the signal that stopped it, or nil.
    #[method("stopsig")]
    fn stopsig(cx: &mut Cx, this: Value) -> Option<i64> {
        let s = raw(cx, this);
        libc::WIFSTOPPED(s).then(|| libc::WSTOPSIG(s) as i64)
    }
    /// Whether it left a core dump.
    #[method("coredump?")]
    fn is_coredump(cx: &mut Cx, this: Value) -> bool {
        let s = raw(cx, this);
        libc::WIFSIGNALED(s) && libc::WCOREDUMP(s)
    }
    /// Compares the system's numbers.
    #[method("==")]
    fn eq(cx: &mut Cx, this: Value, other: Value) -> Result<bool> {
        let s = raw(cx, this);
        if cx.is_a(other, ids::PROCESS_STATUS) {
            return Ok(s == raw(cx, other));
        }
        cx.eq(Value::fixnum(s as i64), other)
    }
    /// "pid 12 exit 0"
    #[method("to_s")]
    fn to_s(cx: &mut Cx, this: Value) -> String {
        describe(cx, this)
    }
    /// `#<Process::Status: pid 12 exit 0>`
    #[method("inspect")]
    fn inspect(cx: &mut Cx, this: Value) -> String {
        if cx.ivar_get(this, Sym::intern("__pid")).is_nil() {
            return "#<Process::Status: uninitialized>".to_owned();
        }
        format!("#<Process::Status: {}>", describe(cx, this))
    }
}
