//! The process: boot image, scheduler, VMs. What the command line and embedders stand on.
//!
//! Process-wide are the boot image, the scheduler and the options, all immutable or behind handles; every VM is made from them.

pub mod allocator;
pub mod api;
pub mod command;
pub mod doctest;
pub mod effects;
pub mod looks;
pub mod panics;
pub mod process;
pub mod program;
mod programs;
pub mod signals;
pub mod start;
mod tell;
pub mod unit;

pub use api::{Builder, Channel, Error, Exception, FromRuby, IntoRuby, Outcome, Value, Vm, VmBuilder};
pub use command::{Action, Command, parse};
pub use process::Process;
pub use start::StartError;
#[cfg(feature = "top")]
pub use zakuro_insight::top;
