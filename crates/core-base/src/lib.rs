//! What the parts of the core library share: exceptions, allocation, time-outs. One file or folder per class; `docs/builtins.md` says how a builtin is declared.

pub mod allocate;
pub mod interval;
pub mod ranges;

/// Declares the modules of a part of the core library; the part's `tables` and `setup` are made of theirs.
#[macro_export]
macro_rules! modules {
    ($($name:ident),* $(,)?) => {
        $(pub mod $name;)*
        /// Every builtin method of this part.
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

modules! { exception }
