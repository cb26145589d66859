//! rbconfig: where this interpreter is installed, and what its machine is. `ruby/rbconfig.rb` derives the rest from what is told here.

use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Methods of `RbConfig`.
#[ruby_class(ids::OBJECT)]
mod module {
    use super::*;

    /// The standard library's directory, or nil.
    #[method("__library", singleton)]
    fn library(cx: &Cx, _this: Value) -> Value {
        match cx.options.library.clone() {
            Some(dir) => cx.str(&dir),
            None => Value::NIL,
        }
    }
}

/// `require "rbconfig"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let rbconfig = cx.define_module(ids::OBJECT, "RbConfig");
    cx.define_natives(rbconfig, &[module::METHODS]);
    cx.run_builtin("rbconfig")
}
