//! What belongs to the process, and who may change it.
//!
//! A VM stands for a process of its own where that is possible: it has its own directory, variables, mask, children, traps. What there is only once (limits, the
//! flags of descriptors 0 to 2, the process as the target of a signal) is the main VM's: others get Errno::EPERM. docs/process-state.md has the table.
//!
//! This guards against programs that don't know that others run beside them. It is no sandbox: who may start programs may have one open `/proc/PID/mem`.

use crate::io::fail;
use crate::io::lease::Numbered;
use crate::io::object::Io;
use crate::io::stream::IoState;
use std::collections::HashMap;
use zakuro_macros::Trace;
use zakuro_vm::*;

/// Raises Errno::EPERM unless this is the main VM. `what`: "Process.setrlimit changes the whole process".
pub fn main_only(cx: &mut Cx, what: &str) -> Result<()> {
    if cx.owns_process() { Ok(()) } else { fail(cx, libc::EPERM, &format!("{what}: only the main VM may")) }
}

/// Descriptors that the program knows as bare numbers, and that end with the VM if nobody closes them before.
#[derive(Trace, Default)]
pub struct Numbers(#[untraced] HashMap<i32, Bare>);
impl VmState for Numbers {}
impl Numbers {
    /// Whether it is such a number, which counts by itself.
    pub fn has(&self, fd: i32) -> bool {
        self.0.get(&fd).is_some_and(Bare::stands)
    }
    /// Those that stand for what they stood for.
    pub fn each(&self) -> impl Iterator<Item = i32> + '_ {
        self.0.iter().filter(|(_, bare)| bare.stands()).map(|(fd, _)| *fd)
    }
}

/// A number, and what stood behind it when the VM got it (device and inode): the main VM may have closed it.
struct Bare {
    lease: Numbered,
    what: (u64, u64),
}
impl Bare {
    fn stands(&self) -> bool {
        !self.lease.is_over() && behind(self.lease.fd()) == Some(self.what)
    }
}
impl Drop for Bare {
    fn drop(&mut self) {
        if !self.stands() {
            self.lease.forget();
        }
    }
}

/// Device and inode of what is open under a number.
fn behind(fd: i32) -> Option<(u64, u64)> {
    let mut st = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: fstat fills the struct where it succeeds.
    unsafe { (libc::fstat(fd, st.as_mut_ptr()) == 0).then(|| st.assume_init()).map(|st| (st.st_dev, st.st_ino)) }
}

/// The VM opened a descriptor that no stream holds.
pub fn note_number(cx: &mut Cx, fd: i32) {
    note(cx, Numbered::own(fd));
}

/// Whoever has a number does not close it any more.
pub fn keep_number(cx: &mut Cx, fd: i32) {
    if fd > 2 && !cx.state::<Numbers>().has(fd) {
        let lease = Numbered::kept(cx, fd);
        note(cx, lease);
    }
}

fn note(cx: &mut Cx, mut lease: Numbered) {
    let fd = lease.fd();
    lease.counts(cx);
    if let Some(what) = behind(fd) {
        cx.state::<Numbers>().0.insert(fd, Bare { lease, what });
    }
}

/// Whether a descriptor is closed on exec: what the process was started with is not.
pub fn is_private(fd: i32) -> bool {
    // SAFETY: F_GETFD only asks.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFD) };
    flags >= 0 && flags & libc::FD_CLOEXEC != 0
}

/// Raises ArgumentError when a stream is to be made of a descriptor that the process lives by (its event loop's, files that the options ask for): closing it would be the
/// end of all VMs.
pub fn check_reserved(cx: &mut Cx, fd: i32) -> Result<()> {
    if fd > 2 && cx.host.as_ref().is_some_and(|h| h.spawner.reserves(fd)) {
        return cx.arg_error("The given fd is not accessible because RubyVM reserves it");
    }
    Ok(())
}

/// Raises Errno::EBADF when a number given by the program is another VM's descriptor or the runtime's: these are closed on exec, and nothing in this VM
/// holds them. What the process was started with is everybody's.
pub fn check_number(cx: &mut Cx, fd: i32) -> Result<()> {
    if fd <= 2 || cx.owns_process() || cx.state::<Numbers>().has(fd) {
        return Ok(());
    }
    let mut mine = !is_private(fd);
    if !mine {
        cx.state::<IoState>().open.each(|io: &mut Io| mine |= io.fd == fd || io.wfd == fd);
    }
    if mine { Ok(()) } else { fail(cx, libc::EBADF, "") }
}

/// What `IO#fcntl` may ask for: commands whose argument is a number. (Those that take an address would let a program write anywhere.)
pub fn check_fcntl(cx: &mut Cx, fd: i32, cmd: i32, arg: i32) -> Result<()> {
    const ASK: [i32; 9] = [
        libc::F_DUPFD,
        libc::F_DUPFD_CLOEXEC,
        libc::F_GETFD,
        libc::F_GETFL,
        libc::F_GETOWN,
        libc::F_GETLEASE,
        libc::F_GETPIPE_SZ,
        libc::F_GET_SEALS,
        // F_GETSIG
        11,
    ];
    // Signals about a descriptor go to the process. F_SETSIG: 10.
    const SIGNALS: [i32; 4] = [libc::F_SETOWN, libc::F_SETLEASE, libc::F_NOTIFY, 10];
    const CHANGE: [i32; 4] = [libc::F_SETFD, libc::F_SETFL, libc::F_SETPIPE_SZ, libc::F_ADD_SEALS];
    if SIGNALS.contains(&cmd) || cmd == libc::F_SETFL && arg & libc::O_ASYNC != 0 {
        return main_only(cx, "fcntl: signals about a descriptor go to the whole process");
    }
    if CHANGE.contains(&cmd) {
        return check_flags(cx, fd);
    }
    if ASK.contains(&cmd) { Ok(()) } else { fail(cx, libc::EINVAL, "fcntl: command without a number as argument") }
}

/// Flags of the standard descriptors are shared by all VMs.
pub fn check_flags(cx: &mut Cx, fd: i32) -> Result<()> {
    if fd > 2 { Ok(()) } else { main_only(cx, "flags of descriptors 0 to 2 belong to the whole process") }
}

/// Before a terminal is changed, or anything by ioctl(2): that of the process is the main VM's, by whichever descriptor. A VM's own (PTY.open) are the VM's.
pub fn check_terminal(cx: &mut Cx, fd: i32) -> Result<()> {
    check_number(cx, fd)?;
    // SAFETY: asks; an error unless it is the terminal that controls this process.
    if fd > 2 && unsafe { libc::tcgetpgrp(fd) } < 0 { Ok(()) } else { main_only(cx, "the terminal belongs to the whole process") }
}

/// Whether a pid given to `kill` means this process: itself, or one of its native threads.
pub fn is_this_process(pid: i64) -> bool {
    let Ok(number @ 1..) = i32::try_from(pid) else { return false };
    // SAFETY: signal 0 only asks whether this process has such a thread. (Not /proc: it may be missing.)
    pid == std::process::id() as i64 || unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), number, 0) } == 0
}

/// Raises Errno::EPERM when a signal to a group of processes would meet this one.
pub fn check_group(cx: &mut Cx, group: i64) -> Result<()> {
    // SAFETY: no preconditions.
    let own = unsafe { libc::getpgrp() } as i64;
    if group == 0 || group == 1 || group == own { main_only(cx, "a signal to the group of this process") } else { Ok(()) }
}
