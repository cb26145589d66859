//! io/console: the size of a terminal, reading without echo, and the same methods for streams that are no terminal (StringIO).

use zakuro_macros::ruby_class;
use zakuro_vm::*;

#[ruby_class(ids::OBJECT)]
mod readable {
    use super::*;

    /// The next character, as `getc`.
    #[method("getch", min = 0, max = -1)]
    fn getch(cx: &mut Cx, this: Value, _args: Args) -> Result<Value> {
        cx.call(this, Sym::intern("getc"), &[])
    }
    /// A line without its end, after a prompt on `$stderr`.
    #[method("getpass")]
    fn getpass(cx: &mut Cx, this: Value, prompt: Option<Value>) -> Result<Value> {
        let err = cx.global_get(sym::stderr)?;
        if let Some(p) = prompt.filter(|p| !p.is_nil()) {
            cx.call(err, sym::print, &[p])?;
        }
        let line = cx.call(this, Sym::intern("gets"), &[])?;
        cx.call(err, sym::puts, &[])?;
        if line.is_nil() { Ok(line) } else { cx.call(line, Sym::intern("chomp"), &[]) }
    }
}

/// `require "io/console"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let module = cx.define_module(ids::IO, "generic_readable");
    crate::define(cx, module, &[readable::METHODS]);
    cx.run_builtin("io/console")
}
