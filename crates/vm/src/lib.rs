//! One Ruby VM: its state, interpreter and the API that builtins are written against.
//!
//! [`Vm`] (called `Cx` where it is passed through Rust code) is the unit of isolation: everything that a Ruby program can change hangs on it.
//! Nothing here is process-wide but the boot image, which is immutable.
//!
//! The rooms, each of which names only those above it (`xtask check`); [`vm`] is the VM as a whole, which holds parts of all, and [`boot`] makes it:
//!
//! - `state`: [`frame`] frames and per-VM code state · [`builtin`] how builtins are declared and how arguments are converted, [`effects`] what they may do · [`make`], [`raise`], [`held`],
//!   [`looks`] helpers for builtins · [`events`] what traces are told of.
//! - `program`: [`classes`], [`methods`], [`ivars`], [`consts`], [`globals`], [`refine`] program state · [`library`] what the VM asks of the core library ·
//!   [`classgc`] the end of classes.
//! - `execution`: [`interp`] handlers · [`call`] calls from Rust · [`convert`], [`equality`] helpers that may call Ruby · [`load`] source files · [`gc`] roots ·
//!   [`backtrace`].
//! - `world`: [`thread`], [`fiber`] · [`image`] VMs spawned from program state · [`channels`] sending and receiving · [`transfer`] what a message is ·
//!   [`host`] the process around a VM · [`lineage`] who made it · [`life`], [`limits`] how it ends · [`account`] where its time goes.
//!
//! What a room's file adds to [`Cx`] is the VM's for every room: a method is called through the VM, not through the room.

pub mod boot;
pub mod vm;

mod execution;
mod program;
mod state;
mod world;

/// What the parser tells of a source (`Cx::ask_parser`).
pub mod parsing {
    pub use zakuro_compiler::heredoc::is_whole;
    pub use zakuro_compiler::serialize::{Ask, Question, VERSION};
}

pub use execution::{backtrace, call, chilled, codecache, convert, coverage, equality, gc, interp, load, scope};
pub use program::{classes, classgc, consts, globals, identity, ivars, library, methods, refine};
pub(crate) use program::{codegc, cvars, fresh, unused_block};
pub use state::{asker, builtin, effects, events, frame, held, layouts, looks, machine, make, notes, raise, sites};
pub use world::{account, allowance, channels, fiber, foreign_memory, host, image, life, limits, lineage, names, thread, transfer};

pub use builtin::{Args, Block, Changing, FromSelf, FromValue, IntoResult, Kwargs, MethodRow, NativeFn, Rest};
pub use make::{ArgList, Pairs, RootedVec, Variables};

const _: () = assert!(zakuro_bytecode::MAX_ENV_SLOTS as usize == zakuro_object::EnvCell::MAX_SLOTS, "the compiler's limit is the cell's");
pub use effects::Effects;
pub use held::Held;
pub use machine::Rounds;
pub use raise::{Exc, Result};
pub use vm::{Cx, Restore, StateBlueprint, StateLoader, Vm, VmState, restore, savable_state};
pub use zakuro_object::*;
