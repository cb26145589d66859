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
    array, basic, comparable, data, encoding, enumerable, enumerator, env, exception, fiber, gc, hash, io, kernel, marshal, method, module, numeric, object, proc,
    process, random, range, regexp, set, signal, string, structs, symbol, thread, time, tracepoint, vm_api,
}

/// Ruby sources of the prelude in order: (name, text).
pub static PRELUDE: &[(&str, &str)] = &[
    ("kernel", include_str!("../prelude/kernel.rb")),
    ("module", include_str!("../prelude/module.rb")),
    ("comparable", include_str!("../prelude/comparable.rb")),
    ("enumerable", include_str!("../prelude/enumerable.rb")),
    ("array", include_str!("../prelude/array.rb")),
    ("hash", include_str!("../prelude/hash.rb")),
    ("range", include_str!("../prelude/range.rb")),
    ("enumerator", include_str!("../prelude/enumerator.rb")),
    ("numeric", include_str!("../prelude/numeric.rb")),
    ("complex", include_str!("../prelude/complex.rb")),
    ("string", include_str!("../prelude/string.rb")),
    ("struct", include_str!("../prelude/struct.rb")),
    ("set", include_str!("../prelude/set.rb")),
    ("exception", include_str!("../prelude/exception.rb")),
    ("error_highlight", include_str!("../prelude/error_highlight.rb")),
    ("did_you_mean", include_str!("../prelude/did_you_mean.rb")),
    ("io", include_str!("../prelude/io.rb")),
    ("argf", include_str!("../prelude/argf.rb")),
    ("time", include_str!("../prelude/time.rb")),
    ("regexp", include_str!("../prelude/regexp.rb")),
    ("proc", include_str!("../prelude/proc.rb")),
    ("thread", include_str!("../prelude/thread.rb")),
    ("trace_point", include_str!("../prelude/trace_point.rb")),
    ("vm", include_str!("../prelude/vm.rb")),
    ("ractor", include_str!("../prelude/ractor.rb")),
];

/// Name of an encoding that is known under this name.
pub fn encoding_name(name: &str) -> Option<&'static str> {
    zakuro_text::encoding::Encoding::find(name.as_bytes()).map(|e| e.name())
}

/// Puts the options of the command line into force that belong to parts of the core library.
pub fn command_line(cx: &mut zakuro_vm::Cx) {
    encoding::set_defaults(cx);
    exception::warning::set_categories(cx);
    kernel::line::define(cx);
}

/// Encoding (id) of sources that name none, when the command line gives one.
pub fn source_encoding(cx: &zakuro_vm::Cx) -> Option<u8> {
    let name = cx.options.source_encoding.as_ref()?;
    zakuro_text::encoding::Encoding::find(name.as_bytes()).map(|e| e.id())
}
