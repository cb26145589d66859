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
    ("puma/puma_http11", puma::load),
    ("sqlite3/sqlite3_native", sqlite::load),
    ("websocket_mask", websocket::load),
];

/// Gives a class the methods of tables.
fn define(cx: &mut Cx, class: ClassId, tables: &[&'static [MethodRow]]) {
    for row in tables.iter().copied().flatten() {
        cx.define_native_in(row, class);
    }
}

/// A class by its path, as this VM has it. NameError when the program took it away.
fn class_named(cx: &mut Cx, path: &str) -> Result<ClassId> {
    match cx.const_by_path(path).and_then(|v| cx.class_id(v)) {
        Some(c) => Ok(c),
        None => cx.raise(ids::NAME_ERROR, format!("uninitialized constant {path}")),
    }
}

/// Raises an exception of a class that is no boot class.
#[cold]
fn raise_named<T>(cx: &mut Cx, path: &str, message: impl AsRef<str>) -> Result<T> {
    let class = class_named(cx, path)?;
    cx.raise(class, message)
}

fn binary(cx: &Cx, b: &[u8]) -> Value {
    cx.str_bytes(b, string::BINARY)
}
