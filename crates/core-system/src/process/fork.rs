//! fork(2): the process is the main VM's, so it alone may copy it. What stands still and what is made anew is the scheduler's business (sched::fork) and the runtime's; here
//! is what the VM forgets in the copy.

use super::owner::{self, Numbers};
use crate::io::stream::IoState;
use crate::io::{fail, stream};
use std::collections::HashSet;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};
use zakuro_vm::host::Forked;
use zakuro_vm::*;

/// How long native work of other VMs may keep the process from being forked.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long they run between two tries.
const BETWEEN: Duration = Duration::from_millis(20);

/// `fork`
pub fn fork(cx: &mut Cx, block: Block) -> Result<Value> {
    match hooked(cx)? {
        Some(pid) => Ok(Value::fixnum(pid.into())),
        None if block.is_none() => Ok(Value::NIL),
        None => {
            let result = cx.yield_values(block, &[]);
            end(cx, result)
        }
    }
}

/// `process` by way of `Process._fork`, which programs may wrap.
pub fn hooked(cx: &mut Cx) -> Result<Option<i32>> {
    let module = cx.class_value(ids::PROCESS);
    let pid = cx.call(module, Sym::intern("_fork"), &[])?;
    let pid = cx.to_i64(pid)?;
    Ok((pid != 0).then_some(pid as i32))
}

/// Forks. Some(the child's number), or None in the child.
pub fn process(cx: &mut Cx) -> Result<Option<i32>> {
    if !cx.owns_process() {
        return cx.raise(ids::NOT_IMPLEMENTED_ERROR, "fork() function is unimplemented in a VM that is not the process's main VM");
    }
    // What is buffered would be written by both.
    stream::flush_standard(cx)?;
    let host = cx.host_handle()?;
    let asked = Instant::now();
    loop {
        let mine: HashSet<RawFd> = numbers_of(cx).into_iter().collect();
        match host.spawner.fork(&host.control, &|other| close_those_of(other, &mine)) {
            Ok(Forked::Parent(pid)) => {
                super::status::add_child(cx, pid);
                return Ok(Some(pid));
            }
            Ok(Forked::Child) => {
                begin_child(cx);
                return Ok(None);
            }
            Ok(Forked::Busy) if asked.elapsed() > PATIENCE => return fail(cx, libc::EAGAIN, "fork(2)"),
            // The others go on, and so does whoever wants to interrupt this one.
            Ok(Forked::Busy) => {
                cx.sleep(Some(BETWEEN))?;
            }
            Err(e) => return fail(cx, e.raw_os_error().unwrap_or(libc::EAGAIN), "fork(2)"),
        }
    }
}

/// Descriptors that this VM knows: they stay open whoever else has them.
fn numbers_of(cx: &mut Cx) -> Vec<RawFd> {
    let mut all = cx.state::<IoState>().open.numbers();
    all.extend(cx.state::<Numbers>().each());
    all
}

/// In the child: closes what another VM of the parent's has open, so that who reads from its pipes sees their end. What is buffered is the parent's to write. What passes
/// over exec belongs to the process.
fn close_those_of(other: *mut Cx, mine: &HashSet<RawFd>) {
    // SAFETY: the VM lay there when the process was copied, at a turn boundary or in a call that waits, and nothing runs it here.
    let other = unsafe { &mut *other };
    let numbers = numbers_of(other);
    other.state::<IoState>().open.forget_waiting();
    for fd in numbers {
        if fd > 2 && !mine.contains(&fd) && owner::is_private(fd) {
            // SAFETY: nobody in this process uses the number.
            unsafe { libc::close(fd) };
        }
    }
}

/// What the VM was told about the parent's process does not hold in the child's.
fn begin_child(cx: &mut Cx) {
    super::info::forget_pid(cx);
    super::status::forget_children(cx);
    cx.state::<IoState>().open.forget_waiting();
    library::library().begin_child(cx);
}

/// The block of a child has ended: so does the process, without a look at what stands below the block.
pub fn end(cx: &mut Cx, result: Result<Value>) -> ! {
    match cx.host_handle() {
        Ok(host) => host.spawner.end_process(cx, result),
        Err(Exc) => std::process::exit(1),
    }
}

/// `Process.daemon`
pub fn daemon(cx: &mut Cx, keep_directory: bool, keep_streams: bool) -> Result<i64> {
    if process(cx)?.is_some() {
        // SAFETY: nothing of this process is to run any more: not even its at_exit blocks, which are the copy's.
        unsafe { libc::_exit(0) };
    }
    // As daemon(3), which CRuby calls: the copy leads its session and group.
    // SAFETY: no arguments.
    if unsafe { libc::setsid() } < 0 {
        return fail(cx, crate::io::errors::last_errno(), "setsid(2)");
    }
    if !keep_directory
        && let Err(e) = crate::io::cwd::chdir(cx, b"/")
    {
        return fail(cx, e, "/");
    }
    if !keep_streams {
        // SAFETY: a constant path; descriptors of this process.
        unsafe {
            let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
            if null >= 0 {
                (0..3).for_each(|fd| {
                    libc::dup2(null, fd);
                });
                if null > 2 {
                    libc::close(null);
                }
            }
        }
    }
    Ok(0)
}
