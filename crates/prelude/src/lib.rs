//! The parts of the core library and the standard library that are written in Ruby, compiled when this crate is built (`build.rs`): a process parses none of them.
//!
//! Their sources are `crates/corelib/prelude/*.rb`, `crates/stdlib/ruby/*.rb`, `crates/openssl/ruby/*.rb`, `crates/gems/ruby/*.rb` and `crates/cluster/ruby/*.rb`. Their texts are not in the binary.
//! Decision 0016.

/// The programs: an archive of zakuro-bytecode's `binary`.
pub static ARCHIVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/archive"));

// NAMES: of the programs, in the archive's order, ascending.
// PRELUDE: names and numbers of those that make the core library, in the order in which they run.
// COMPILER: a number that is another one for another compiler: of its sources, the parser's version and the tables of the bytecode.
include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// Number of a feature's program in the archive. The file of `io/console` is `io_console.rb`.
pub fn find(feature: &str) -> Option<usize> {
    let flat = feature.replace('/', "_");
    NAMES.binary_search(&flat.as_str()).ok()
}
