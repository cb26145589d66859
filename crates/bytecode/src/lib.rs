//! Compiled bytecode: the contract between `compiler` (which makes it) and `vm` (which runs it).
//!
//! [`Code`] is immutable, `Send + Sync` and shared by every VM that loads the same source. It holds no Ruby object: what a
//! VM needs per instruction (inline caches, materialised literals) is indexed by *sites* and owned by that VM.
//! [`op`] is the one table of instructions; assembler, verifier, disassembler and interpreter read it.
//!
//! Rejected: bytecode patched in place (one VM's redefinition would cost the others), stack bytecode (in a trial registers
//! halve the dispatches), operands packed by shifting (10-40% slower on tight loops).

pub mod binary;
pub mod code;
pub mod disasm;
pub mod flow;
pub mod intrinsic;
pub mod machine;
pub mod op;
pub mod receiver;
pub mod verify;

pub use code::*;
pub use intrinsic::Intrinsic;
pub use op::{Insn, Op};
