//! The Ruby parts of the libraries, as zakuro-prelude has compiled them: read from its archive when somebody first runs them.

use std::sync::{Arc, OnceLock};
use zakuro_bytecode::Code;
use zakuro_bytecode::binary::Archive;

struct Programs {
    archive: Archive<'static>,
    /// By number. Filled by whoever asks first; what two have read at the same time is the same.
    codes: Box<[OnceLock<Arc<Code>>]>,
    /// Backtraces name no line of them that could be shown.
    no_source: Arc<[u8]>,
}

fn programs() -> &'static Programs {
    static PROGRAMS: OnceLock<Programs> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        // Part of this binary, made by the same build.
        let Ok(archive) = Archive::open(zakuro_prelude::ARCHIVE) else { unreachable!("the prelude's archive is broken") };
        let codes = (0..archive.programs()).map(|_| OnceLock::new()).collect();
        Programs { archive, codes, no_source: Arc::from(&b""[..]) }
    })
}

/// Program `number` of the prelude; `name`: what backtraces call it.
pub(crate) fn get(number: usize, name: &str) -> Arc<Code> {
    let p = programs();
    let make = || {
        let file = Arc::from(format!("<internal:{name}>"));
        let Ok(code) = p.archive.lazy_program(number, &file, &p.no_source) else { unreachable!("the prelude's {name} is broken") };
        code
    };
    p.codes[number].get_or_init(make).clone()
}

/// The program of a feature of the standard library, if a part of it is written in Ruby. For the VM's hooks.
pub(crate) fn find(feature: &str) -> Option<Arc<Code>> {
    zakuro_prelude::find(feature).map(|number| get(number, feature))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_program_passes_the_verifier() {
        for (number, name) in zakuro_prelude::NAMES.iter().enumerate() {
            let code = super::get(number, name);
            assert_eq!(zakuro_bytecode::verify::verify(&code), Ok(()), "{name}");
        }
        assert!(super::find("io/console").is_some() && super::find("no_such").is_none());
    }

    /// A file's name is its feature's, with `_` for `/`.
    #[test]
    fn every_program_that_is_asked_for_is_there() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut folders =
            vec![root.join("../stdlib/src"), root.join("../openssl/src"), root.join("../gems/src"), root.join("../cluster/src")];
        let mut asked = 0;
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder).expect("the sources").map(|e| e.expect("an entry").path()) {
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = std::fs::read_to_string(path).expect("text");
                for name in text.split("run_builtin(\"").skip(1).filter_map(|t| t.split('"').next()) {
                    assert!(zakuro_prelude::find(name).is_some(), "no crates/stdlib/ruby file of {name}");
                    asked += 1;
                }
            }
        }
        assert!(asked > 20, "{asked}");
    }
}
