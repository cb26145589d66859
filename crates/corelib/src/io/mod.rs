//! IO and what stands on it: files, directories, standard streams, the printing functions of Kernel.
//!
//! Each IO object has its own buffers over a file descriptor. Nothing is process-wide: standard streams, `$stdout`, working directory and
//! environment belong to the VM. Path-taking system calls are `*at` calls relative to the VM's directory; chdir(2) is never called.
//!
//! Map: [`object`] the payload, its life and buffers · [`wait`] system calls that may block · [`stream`] per-VM streams and their globals ·
//! [`write`], [`print`] output.

pub mod errors;
pub mod object;
pub mod print;
pub mod stream;
pub mod wait;
pub mod write;

use zakuro_vm::{Cx, MethodRow};

pub use errors::{fail, fail_os};
pub use object::{Io, get, make};
pub use stream::{flush_all, vm_setup};
pub use wait::{blocking_read, blocking_write, wait_readable, wait_writable};

pub static TABLES: &[&[MethodRow]] = &[print::kernel::METHODS, write::io::METHODS];

pub fn setup(cx: &mut Cx) {
    stream::setup(cx);
}

/// Writes to the process's standard error, past `$stderr`.
pub fn write_error(_cx: &mut Cx, bytes: &[u8]) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), bytes);
}
