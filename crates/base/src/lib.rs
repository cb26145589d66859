//! What every other crate needs and no crate owns: symbol ids, process options, how long work is interrupted, the sync shim for models.
//!
//! The symbol table is the one process-wide table that grows while Ruby programs run (see docs/process-state.md).

#[cfg(feature = "shuttle")]
pub mod explore;
pub mod hash_seed;
pub mod memory;
pub mod options;
pub mod progress;
pub mod symbol;
pub mod sync;

pub use hash_seed::HashSeed;
pub use options::{CodeCache, Insight, Jit, JitOptions, Options};
pub use symbol::{Sym, sym};
