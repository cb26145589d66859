//! The core library: one file or folder per Ruby class. `docs/builtins.md` says how a builtin is declared.

pub mod doctest;
pub mod hooks;

macro_rules! modules {
    ($($name:ident),* $(,)?) => {
        $(pub mod $name;)*
        /// Every builtin method.
        pub fn tables() -> Vec<&'static [zakuro_vm::MethodRow]> {
            let mut all = Vec::new();
            $(all.extend_from_slice($name::TABLES);)*
            all
        }
        /// Runs once per process on the VM that becomes the boot image: constants and other state that no method table holds.
        pub fn setup(cx: &mut zakuro_vm::Cx) {
            $($name::setup(cx);)*
        }
    };
}

modules! {
    array, basic, comparable, data, encoding, enumerable, enumerator, env, exception, fiber, gc, hash, io, kernel, method, module, numeric, object, proc,
    process, random, range, regexp, set, string, structs, symbol, time, vm_api,
}

/// Ruby sources of the prelude in order: (name, text).
pub static PRELUDE: &[(&str, &str)] = &[
    ("kernel", include_str!("../prelude/kernel.rb")),
    ("comparable", include_str!("../prelude/comparable.rb")),
    ("enumerable", include_str!("../prelude/enumerable.rb")),
    ("array", include_str!("../prelude/array.rb")),
    ("hash", include_str!("../prelude/hash.rb")),
    ("range", include_str!("../prelude/range.rb")),
    ("enumerator", include_str!("../prelude/enumerator.rb")),
    ("numeric", include_str!("../prelude/numeric.rb")),
    ("string", include_str!("../prelude/string.rb")),
    ("struct", include_str!("../prelude/struct.rb")),
    ("set", include_str!("../prelude/set.rb")),
    ("exception", include_str!("../prelude/exception.rb")),
    ("io", include_str!("../prelude/io.rb")),
    ("time", include_str!("../prelude/time.rb")),
    ("regexp", include_str!("../prelude/regexp.rb")),
    ("proc", include_str!("../prelude/proc.rb")),
    ("vm", include_str!("../prelude/vm.rb")),
];
