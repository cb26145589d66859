//! pty: pseudo terminals. Two system calls; the interface is Ruby (`ruby/pty.rb`).

use zakuro_core_system::io::fail;
use zakuro_core_system::process::{descriptors, owner, spawn};
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Methods of `PTY::Sys`.
#[ruby_class(ids::OBJECT)]
mod sys {
    use super::*;

    /// A new pseudo terminal: the descriptor of its master, and the name of the other side.
    #[method("open", singleton)]
    fn open(cx: &mut Cx, _this: Value) -> Result<Value> {
        descriptors::admit(cx, 1)?;
        // Non-blocking: nobody else has this side, and a terminal that is ready for writing may take less than what is written.
        // SAFETY: system calls without memory of ours; the descriptor is new.
        let fd = unsafe { libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC | libc::O_NONBLOCK) };
        let mut name = [0u8; 128];
        // SAFETY: as above; ptsname_r writes at most so many bytes, with a zero at their end.
        let made = fd >= 0
            && unsafe {
                libc::grantpt(fd) == 0 && libc::unlockpt(fd) == 0 && libc::ptsname_r(fd, name.as_mut_ptr().cast(), name.len()) == 0
            };
        if !made {
            let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
            if fd >= 0 {
                // SAFETY: our own.
                unsafe { libc::close(fd) };
            }
            return fail(cx, errno, "can't open a pseudo terminal");
        }
        owner::note_number(cx, fd);
        let name = cx.str_auto(name.split(|b| *b == 0).next().unwrap_or_default());
        Ok(cx.array(&[Value::fixnum(i64::from(fd)), name]))
    }

    /// Starts a program (the arguments of Kernel#spawn) in a session of its own, whose terminal is standard input; its number.
    #[method("spawn", singleton)]
    fn spawn(cx: &mut Cx, _this: Value, args: Args) -> Result<i64> {
        super::spawn::spawn_in_session(cx, args)
    }
}

/// `require "pty"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let pty = cx.define_module(ids::OBJECT, "PTY");
    let system = cx.define_module(pty, "Sys");
    cx.define_natives(system, &[sys::METHODS]);
    cx.run_builtin("pty")
}
