//! What every other crate needs and no crate owns: symbol ids, process options.
//!
//! The symbol table is the one process-wide table that grows while Ruby programs run (see docs/process-state.md).

pub mod options;
pub mod symbol;

pub use options::Options;
pub use symbol::{Sym, sym};
