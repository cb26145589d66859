//! Natives that stand in for the C extensions of published gems: each under the feature that the gem's own Ruby files require, so that the gem runs unmodified.
//! What is slow in Ruby, or can't be written in it, is Rust; the rest of an extension is Ruby (`ruby/*.rb`).
//!
//! Nothing of them exists in a VM until a gem asks for it. Invariants as in zakuro-stdlib: nothing process-wide, what takes long polls, no panic that a
//! program can reach. A crate of its own, so that no other waits for the libraries that it brings along.
//! Rejected: replacing the gems' Ruby files as well (each version of a gem brings its own, which know what their extension is asked).

mod bcrypt;
mod foreign;
mod msgpack;
mod nio;
mod nokogiri;
mod puma;
mod sqlite;
mod websocket;

use zakuro_vm::library::Feature;
use zakuro_vm::*;

/// Features by the name that `require` gets.
pub static FEATURES: &[(&str, Feature)] = &[
    ("bcrypt_ext", bcrypt::load),
    ("ffi_c", foreign::load_ffi),
    ("fiddle.so", foreign::load_fiddle),
    ("msgpack/msgpack", msgpack::load),
    ("nio4r_ext", nio::load),
    ("nokogiri/nokogiri", nokogiri::load),
    ("puma/puma_http11", puma::load),
    ("sqlite3/sqlite3_native", sqlite::load),
    ("websocket_mask", websocket::load),
];

fn binary(cx: &Cx, b: &[u8]) -> Value {
    cx.str_bytes(b, string::BINARY)
}
