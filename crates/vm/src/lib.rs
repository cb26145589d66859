//! One Ruby VM: its state, interpreter and the API that builtins are written against.
//!
//! [`Vm`] (called `Cx` where it is passed through Rust code) is the unit of isolation: everything that a Ruby program can change hangs on it.
//! Nothing here is process-wide but the boot image, which is immutable.
//!
//! Map: [`vm`] state · [`frame`] frames and per-VM code state · [`interp`] handlers · [`call`] calls from Rust · [`builtin`] how builtins are
//! declared and how arguments are converted · [`classes`], [`methods`], [`ivars`], [`consts`], [`globals`] program state · [`convert`],
//! [`equality`], [`make`], [`raise`] helpers for builtins · [`gc`] roots · [`boot`] the boot image · [`image`] VMs spawned from program state · [`load`] source files · [`backtrace`] ·
//! [`host`] the process around a VM · [`lineage`] who made it · [`channels`] sending and receiving · [`transfer`] what a message is.

pub mod backtrace;
pub mod boot;
pub mod builtin;
pub mod call;
pub mod channels;
pub mod chilled;
pub mod classes;
pub mod classgc;
pub mod codecache;
mod codegc;
mod codestore;
mod compile;
pub mod consts;
pub mod convert;
pub mod coverage;
pub(crate) mod cvars;
pub mod equality;
pub mod fiber;
pub mod frame;
pub mod gc;
pub mod globals;
pub mod held;
pub mod host;
pub mod identity;
pub mod image;
pub mod interp;
pub mod ivars;
pub mod life;
pub mod limits;
pub mod lineage;
pub mod load;
pub mod looks;
pub mod make;
pub mod methods;
pub mod names;
pub mod raise;
pub mod refine;
pub mod scope;
pub mod thread;
pub mod transfer;
mod unused_block;
pub mod vm;

pub use builtin::{Args, Block, FromSelf, FromValue, IntoResult, Kwargs, MethodRow, NativeFn, Rest};
pub use make::{Pairs, RootedVec};

const _: () = assert!(zakuro_bytecode::MAX_ENV_SLOTS as usize == zakuro_object::EnvCell::MAX_SLOTS, "the compiler's limit is the cell's");
pub use held::Held;
pub use raise::{Exc, Result};
pub use vm::{Cx, Restore, Vm, VmState};
pub use zakuro_object::*;
