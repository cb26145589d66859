//! Running it: handlers, calls, conversions, source files, backtraces, roots.

pub mod backtrace;
pub mod call;
pub mod chilled;
pub mod codecache;
mod codestore;
pub(crate) mod compile;
pub mod convert;
pub mod coverage;
pub mod equality;
pub mod gc;
pub mod interp;
pub mod load;
pub mod scope;
pub(crate) mod states;
mod walk;
