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

/// Encoding (id) of sources that name none, when the command line gives one.
pub fn source_encoding(cx: &zakuro_vm::Cx) -> Option<u8> {
    let name = cx.options.source_encoding.as_ref()?;
    zakuro_text::encoding::Encoding::find(name.as_bytes()).map(|e| e.id())
}
