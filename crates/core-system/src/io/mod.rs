//! IO and what stands on it: files, directories, standard streams, the printing functions of Kernel.
//!
//! Each IO object has its own buffers over a file descriptor. Nothing is process-wide: standard streams, `$stdout`, working directory and
//! environment belong to the VM. Path-taking system calls are `*at` calls relative to the VM's directory; chdir(2) is never called.
//!
//! Map: [`object`] the payload, its life and buffers · [`wait`] system calls that may block · [`stream`] per-VM streams and their globals ·
//! [`open`], [`modes`] opening and closing · [`write`], [`print`] output · [`read`], [`lines`] input · [`whole`] whole files, select · [`kernel`] ·
//! [`status`] what streams tell, [`waiting`] waiting for events · [`encodings`] · [`cwd`], [`path`], [`glob`] names · [`stat`], [`file`], [`dir`] the file system · [`errors`] errno ·
//! [`buffer`] IO::Buffer.

/// A system call that may take long, while the worker runs others.
pub use zakuro_sched::blocking;

pub mod buffer;
pub mod cwd;
pub mod dir;
pub mod encodings;
pub mod errors;
pub mod file;
pub mod filling;
pub mod glob;
pub mod kernel;
pub mod lease;
pub mod lines;
pub mod modes;
pub mod object;
pub mod open;
pub mod path;
pub mod print;
pub mod read;
pub mod stat;
pub mod status;
pub mod stream;
pub mod wait;
pub mod waiting;
pub mod whole;
pub mod write;

use zakuro_vm::{Cx, MethodRow};

pub use errors::{fail, fail_os};
pub use object::{Io, get, make};
pub use stream::{flush_all, flush_at_end, vm_setup};
pub use wait::{blocking_read, blocking_write};

pub static TABLES: &[&[MethodRow]] = &[
    buffer::access::buffer::METHODS,
    buffer::buffer::METHODS,
    dir::dir_class::METHODS,
    encodings::io::METHODS,
    file::file::METHODS,
    kernel::argf::METHODS,
    kernel::kernel::METHODS,
    open::io::METHODS,
    open::file::METHODS,
    path::file::METHODS,
    print::kernel::METHODS,
    read::io::METHODS,
    stat::file_tests::METHODS,
    stat::file_test::METHODS,
    stat::file::METHODS,
    stat::io::METHODS,
    stat::stat::METHODS,
    status::io::METHODS,
    waiting::io::METHODS,
    whole::io::METHODS,
    write::io::METHODS,
];

pub fn setup(cx: &mut Cx) {
    stream::setup(cx);
    file::setup(cx);
    buffer::setup(cx);
}

/// Whether the program has given `$stderr` or STDERR another place than the process's standard error.
pub fn errors_go_elsewhere(cx: &mut Cx) -> bool {
    stream::current(cx, 2) != stream::standard(cx, 2) || stream::redirected(cx, 2).is_some()
}
/// Writes to the VM's `$stderr` without raising: reports of uncaught exceptions.
pub fn write_error(cx: &mut Cx, bytes: &[u8]) {
    let err = stream::current(cx, 2);
    if write::write_to(cx, err, bytes).is_err() {
        cx.take_pending();
        let _ = std::io::Write::write_all(&mut std::io::stderr(), bytes);
    }
}
