//! What a program has defined: classes, methods, constants, variables; what the core library adds to the VM.

pub mod classes;
pub mod classgc;
pub(crate) mod codegc;
pub mod consts;
pub(crate) mod cvars;
pub(crate) mod fresh;
pub mod globals;
pub mod identity;
pub mod ivars;
pub mod library;
pub mod methods;
mod original_names;
pub mod refine;
mod stand_ins;
mod symbol_procs;
pub(crate) mod unused_block;
