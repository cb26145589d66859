//! Compiles the Ruby parts of the libraries; see src/lib.rs.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Write;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use zakuro_bytecode::binary::{self, Writer};
use zakuro_compiler::{Options, compile};

/// The core library's, in the order in which they run.
const PRELUDE: &[&str] = &[
    "kernel",
    "module",
    "comparable",
    "enumerable",
    "array",
    "hash",
    "range",
    "enumerator",
    "numeric",
    "complex",
    "string",
    "struct",
    "set",
    "exception",
    "error_highlight",
    "did_you_mean",
    "io",
    "argf",
    "time",
    "regexp",
    "proc",
    "thread",
    "trace_point",
    "vm",
    "ractor",
];

/// What a compiled program depends on beside its source. (The bytecode's tables count too, and are in `binary::version`.)
const COMPILER: &[&str] = &["../base/src", "../bytecode/src", "../compiler/src", "../text/src"];

fn main() {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let mut sources = files("../stdlib/ruby", "rb");
    sources.extend(files("../openssl/ruby", "rb"));
    sources.extend(files("../gems/ruby", "rb"));
    sources.extend(files("../cluster/ruby", "rb"));
    let core = files("../corelib/prelude", "rb");
    assert_eq!(core.len(), PRELUDE.len(), "a file of crates/corelib/prelude is not in the list of crates/prelude/build.rs");
    sources.extend(core.iter().cloned());
    let stem = |p: &Path| p.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let in_core = |p: &Path| p.starts_with("../corelib");
    // `set.rb` of both would be one name.
    let name = |p: &Path| if in_core(p) { format!("core {}", stem(p)) } else { stem(p) };
    sources.sort_by_key(|p| name(p));
    let mut writer = Writer::new();
    for path in &sources {
        let text = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        // As who runs them names them.
        let file = format!("<internal:{}>", stem(path));
        // Objects of OpenSSL's have no variables: what is kept for them in Ruby is nobody's business.
        let hidden_ivars = path.starts_with("../openssl");
        let options = Options { file: &file, line: 1, frozen_string_literal: Some(!in_core(path)), hidden_ivars, ..Default::default() };
        let compiled = compile(&text, &options).unwrap_or_else(|e| panic!("{}: {}", path.display(), e.message()));
        writer.add(&compiled.code).unwrap_or_else(|_| panic!("{}: nested too deep", path.display()));
    }
    std::fs::write(out.join("archive"), writer.finish()).expect("OUT_DIR is writable");

    let mut tables = String::new();
    let names: Vec<String> = sources.iter().map(|p| name(p)).collect();
    let _ = writeln!(tables, "pub static NAMES: &[&str] = &{names:?};");
    let place = |n: &&str| names.iter().position(|m| *m == format!("core {n}")).unwrap_or_else(|| panic!("no {n}.rb"));
    let prelude: Vec<(&str, usize)> = PRELUDE.iter().map(|n| (*n, place(n))).collect();
    let _ = writeln!(tables, "pub static PRELUDE: &[(&str, usize)] = &{prelude:?};");
    let _ = writeln!(tables, "pub const COMPILER: u64 = {};", fingerprint());
    std::fs::write(out.join("tables.rs"), tables).expect("OUT_DIR is writable");
}

/// Files of a folder and those below it, in order; cargo watches it.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    println!("cargo::rerun-if-changed={folder}");
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(f) = folders.pop() {
        for entry in std::fs::read_dir(&f).unwrap_or_else(|e| panic!("{}: {e}", f.display())) {
            let path = entry.unwrap_or_else(|e| panic!("{}: {e}", f.display())).path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn fingerprint() -> u64 {
    let mut h = DefaultHasher::new();
    h.write_u64(binary::version());
    for folder in COMPILER {
        for path in files(folder, "rs") {
            h.write(path.to_string_lossy().as_bytes());
            h.write(&std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
        }
    }
    // The parser's version.
    println!("cargo::rerun-if-changed=../../Cargo.lock");
    let lock = std::fs::read_to_string("../../Cargo.lock").unwrap_or_default();
    lock.split("[[package]]").filter(|p| p.contains("name = \"ruby-prism")).for_each(|p| h.write(p.as_bytes()));
    h.finish()
}
