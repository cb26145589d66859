//! Text algorithms of Ruby, without a VM: numbers to text and back, `format`, encodings, regexps, `strftime`, `pack`, `tr`.
//!
//! Invariants: nothing here knows a Ruby object, keeps process-wide mutable state or panics on any input bytes.
//! Callers supply arguments through small traits or enums and receive errors that carry Ruby's wording.
//! Rejected: methods on VM values (couples algorithms to the heap and makes them impossible to fuzz alone).

pub mod big;
pub mod crypt;
pub mod distance;
pub mod encoding;
pub mod float;
pub mod format;
pub mod int;
pub mod matcher;
pub mod pack;
pub mod regexp;
pub mod strftime;
pub mod tr;
pub mod tr_short;

#[cfg(test)]
mod float_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod int_tests;
#[cfg(test)]
mod pack_tests;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod strftime_tests;
#[cfg(test)]
mod tr_tests;
