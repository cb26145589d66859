//! What every other crate needs and no crate owns: symbol ids, process options, the sync shim for models.
//!
//! The symbol table is the one process-wide table that grows while Ruby programs run (see docs/process-state.md).

#[cfg(shuttle)]
pub mod explore;
pub mod memory;
pub mod options;
pub mod symbol;
pub mod sync;

pub use options::Options;
pub use symbol::{Sym, sym};
