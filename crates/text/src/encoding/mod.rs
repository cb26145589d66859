//! placeholder
pub mod utf8;
