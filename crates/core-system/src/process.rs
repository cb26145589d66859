//! Process: clocks, identity, child processes. [`status`] is Process::Status and waiting, [`spawn`] starts programs, [`clock`] and [`info`] tell about time and the process,
//! [`identity`] changes users, groups, sessions and priorities, [`owner`] says what only the main VM may change.

pub mod clock;
pub mod crash;
pub mod identity;
pub mod info;
pub mod descriptors;
pub mod fork;
pub mod owner;
pub mod spawn;
pub mod spawn_args;
pub mod status;
pub mod syscall;
pub mod title;

use zakuro_vm::*;

pub use status::wait_child;

pub static TABLES: &[&[MethodRow]] = &[
    clock::process::METHODS,
    info::process::METHODS,
    identity::process::METHODS,
    identity::uid::METHODS,
    identity::gid::METHODS,
    identity::sys::METHODS,
    spawn::kernel::METHODS,
    spawn::process::METHODS,
    spawn::io::METHODS,
    status::process::METHODS,
    status::status::METHODS,
    syscall::kernel::METHODS,
];

pub fn setup(cx: &mut Cx) {
    clock::setup(cx);
    info::setup(cx);
}
