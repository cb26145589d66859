//! The core library, put together from its parts (`crates/core-*`), and its prelude in Ruby.

pub mod doctest;
pub mod library;

macro_rules! parts {
    ($($part:ident),* $(,)?) => {
        /// Names of the parts, as cargo knows them.
        #[cfg(test)]
        const PARTS: &[&str] = &[$(stringify!($part)),*];
        $(pub use $part::*;)*
        /// Every builtin method.
        pub fn tables() -> Vec<&'static [zakuro_vm::MethodRow]> {
            [$($part::tables()),*].concat()
        }
        /// Runs once per process on the VM that becomes the boot image: constants and other state that no method table holds.
        pub fn setup(cx: &mut zakuro_vm::Cx) {
            $($part::setup(cx);)*
        }
    };
}

parts! { zakuro_core_base, zakuro_core_text, zakuro_core_collections, zakuro_core_numbers, zakuro_core_system, zakuro_core_program, zakuro_core_vms, zakuro_insight }

/// Name of an encoding that is known under this name.
pub fn encoding_name(name: &str) -> Option<&'static str> {
    zakuro_text::encoding::Encoding::find(name.as_bytes()).map(|e| e.name())
}

/// Puts the options of the command line into force that belong to parts of the core library.
pub fn command_line(cx: &mut zakuro_vm::Cx) {
    encoding::set_defaults(cx);
    exception::warning::set_categories(cx);
    kernel::line::define(cx);
    kernel::load::note_script(cx);
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_part_is_left_out() {
        let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let names = std::fs::read_dir(crates).unwrap().flatten().map(|e| e.file_name().to_string_lossy().into_owned());
        let mut found: Vec<String> =
            names.filter(|n| n.starts_with("core-") || n == "insight").map(|n| format!("zakuro_{}", n.replace('-', "_"))).collect();
        let mut listed = super::PARTS.to_vec();
        found.sort();
        listed.sort();
        assert_eq!(found, listed, "crates/core-* and the parts of the core library");
    }
}
