//! What a VM gets when it starts: the objects of `start`, its starter's environment variables and directory, its ARGV, DATA.

use super::power::Granted;
use zakuro_macros::Trace;
use zakuro_core_system::env;
use zakuro_core_system::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::Arc;
use zakuro_bytecode::Code;
use zakuro_vm::transfer::Envelope;
use zakuro_vm::*;

/// Travels beside the start message. Directory and variables only when the starter has changed its own.
#[derive(Default)]
struct Birth {
    /// Power over VMs, and channels, whose handles are among the arguments.
    grants: Granted,
    vars: Option<Vec<(Vec<u8>, Vec<u8>)>>,
    directory: Option<OwnedFd>,
}

/// Objects given to `start`, until the program asks for `RubyVM::ARGV`.
#[derive(Trace)]
struct StartObjects(Value);
impl Default for StartObjects {
    fn default() -> Self {
        StartObjects(Value::NIL)
    }
}
impl VmState for StartObjects {}

/// Grants that came with the start, until the arguments are there.
#[derive(Trace, Default)]
struct Grants(#[untraced] Granted);
impl VmState for Grants {}

/// Adds what a new VM inherits from this one to its start message, and what it is granted.
pub fn inherit(cx: &mut Cx, envelope: &mut Envelope, grants: Granted) -> Result<()> {
    let vars = env::changed(cx).then(|| env::all(cx));
    let directory = match io::cwd::own_fd(cx) {
        // SAFETY: dup of a descriptor that this VM holds; the result is ours.
        Some(fd) => match unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) } {
            -1 => return io::fail(cx, io::errors::last_errno(), "start"),
            // SAFETY: just made, owned by nobody else.
            fd => Some(unsafe { OwnedFd::from_raw_fd(fd) }),
        },
        None => None,
    };
    if vars.is_some() || directory.is_some() || !grants.is_empty() {
        envelope.attach(Box::new(Birth { grants, vars, directory }));
    }
    Ok(())
}

/// Prepares a new VM: cheap, since what a program never touches is not made.
pub fn initialize(cx: &mut Cx, mut start: Envelope, args: &[Vec<u8>]) -> Result<()> {
    if let Some(b) = start.detach()
        && let Ok(b) = b.downcast::<Birth>()
    {
        if !b.grants.is_empty() {
            cx.state::<Grants>().0 = b.grants;
        }
        if let Some(vars) = b.vars {
            env::adopt(cx, vars);
        }
        if let Some(d) = b.directory {
            io::cwd::adopt(cx, d);
        }
    }
    io::vm_setup(cx);
    arguments(cx, args);
    let objects = cx.open(start)?;
    if !objects.is_nil() {
        cx.state::<StartObjects>().0 = objects;
    }
    Ok(())
}

/// The arguments of a fork are there: their handles get the power that they had.
pub fn receive(cx: &mut Cx, args: &[Value]) {
    let grants = cx.take_state::<Grants>().unwrap_or_default().0;
    super::power::arm(cx, args, &grants);
}

/// Sets ARGV.
pub fn arguments(cx: &mut Cx, args: &[Vec<u8>]) {
    if !args.is_empty() {
        io::stream::set_argv(cx, args);
    }
}

/// Sets `RubyVM::ARGV`.
pub fn set_start_objects(cx: &mut Cx, list: Value) {
    cx.state::<StartObjects>().0 = list;
}

/// `RubyVM::ARGV`
pub fn start_objects(cx: &mut Cx) -> Value {
    let v = cx.state::<StartObjects>().0;
    if v.is_nil() {
        let v = cx.new_array().as_value();
        cx.state::<StartObjects>().0 = v;
        return v;
    }
    v
}

/// Text of a program file, relative to the VM's directory.
pub fn read_program(cx: &mut Cx, path: &str) -> codecache::Outcome<codecache::Text> {
    let at = io::cwd::dirfd(cx);
    let c = io::cwd::c(path.as_bytes());
    let open = |how: i32| {
        // SAFETY: c is a C string; the descriptor is closed by File.
        unsafe {
            match libc::openat(at, c.as_ptr(), how | libc::O_CLOEXEC) {
                -1 => Err(std::io::Error::last_os_error()),
                fd => Ok(std::fs::File::from_raw_fd(fd)),
            }
        }
    };
    // A FIFO is opened at once, and reading waits for whoever writes.
    codecache::read(cx, || open(libc::O_PATH)?.metadata(), || open(libc::O_RDONLY | libc::O_NONBLOCK))
}

/// What stands behind `__END__` of a program that came from standard input is what the program reads there next, and `DATA`.
pub fn go_on_with_input(cx: &mut Cx, rest: &[u8]) -> Result<()> {
    let input = io::stream::standard(cx, 0);
    let rest = cx.str_bytes(rest, string::BINARY);
    cx.call(input, Sym::intern("ungetbyte"), &[rest])?;
    cx.const_set(ids::OBJECT, Sym::intern("DATA"), input);
    Ok(())
}

/// Makes `DATA`, a File that stands behind `__END__`, when the main program has one. `skipped`: bytes of the file before the compiled text.
pub fn set_data(cx: &mut Cx, code: &Arc<Code>, skipped: usize) -> Result<()> {
    let Some(offset) = code.data_offset else { return Ok(()) };
    let class = cx.class_value(ids::FILE);
    let path = cx.str(&code.file);
    let open = Sym::intern("open");
    let Ok(file) = cx.rescue(&[ids::STANDARD_ERROR], |cx| cx.call(class, open, &[path]))? else { return Ok(()) };
    let offset = cx.int((offset + skipped) as i64);
    cx.call(file, Sym::intern("seek"), &[offset])?;
    cx.const_set(ids::OBJECT, Sym::intern("DATA"), file);
    Ok(())
}
