//! Golden tests: the bytecode listing of every `golden/*.rb`, or the message of its syntax error.
//!
//! `UPDATE=1 cargo test -p zakuro-compiler` rewrites the `.txt` files; read the difference before committing it.

use std::path::Path;
use zakuro_bytecode::{disasm, flow, verify};
use zakuro_compiler::{Options, compile};

fn listing(name: &str, source: &[u8]) -> String {
    let options = Options { file: name, line: 1, main_script: true, warn: true, ..Options::default() };
    match compile(source, &options) {
        Ok(c) => {
            verify::verify(&c.code).unwrap_or_else(|e| panic!("{name}: {e}"));
            flow::check(&c.code).unwrap_or_else(|e| panic!("{name}: {e}"));
            let mut text: String =
                c.warnings.iter().map(|w| format!("warning {}: {}{}\n", w.line, w.message, if w.verbose { " (-w)" } else { "" })).collect();
            text.push_str(&disasm::listing(&c.code));
            text
        }
        Err(e) => e.message(),
    }
}

#[test]
fn listings() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let update = std::env::var_os("UPDATE").is_some();
    let mut files: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "rb"));
    files.sort();
    assert!(files.len() >= 40, "golden sources are missing");
    let mut wrong = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let now = listing(&name, &std::fs::read(&file).unwrap());
        let expected = file.with_extension("txt");
        if update {
            std::fs::write(&expected, &now).unwrap();
        } else if std::fs::read_to_string(&expected).ok().as_deref() != Some(&now) {
            wrong.push(format!("---- {name} is now ----\n{now}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{} listings differ; UPDATE=1 accepts them", wrong.join("\n"), wrong.len());
}
