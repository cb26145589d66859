//! What Kernel has with `-n` and `-p`: `chomp`, `chop`, `sub`, `gsub`, which change `$_`.

use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Defines them when the command line asks for them.
pub fn define(cx: &mut Cx) {
    if !cx.options.each_line {
        return;
    }
    let object = cx.class_value(ids::KERNEL);
    let Ok(singleton) = cx.singleton_class(object) else { return };
    for row in kernel::METHODS {
        for name in row.names {
            let (name, body) = (Sym::intern(name), row as *const MethodRow as usize);
            for (class, vis) in [(ids::KERNEL, Visibility::Private), (singleton, Visibility::Public)] {
                let m = MethodCell::make(&cx.heap, name, class, vis, MethodKind::Native, Value::NIL, body, Value::NIL);
                cx.add_method(class, name, m);
            }
        }
    }
}

/// Replaces `$_` by what its method gives.
fn change(cx: &mut Cx, name: &str, args: Args) -> Result<Value> {
    let line = cx.lastline();
    if !line.is_kind(Kind::String) {
        let c = cx.describe_for_conversion(line);
        return cx.type_error(format!("$_ value need to be String ({c} given)"));
    }
    let changed = cx.call_block(line, Sym::intern(name), args.all(), args.block)?;
    cx.set_lastline(changed);
    Ok(changed)
}

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;

    /// `$_ = $_.chomp`
    #[method("chomp", private, max = 1)]
    fn chomp(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        change(cx, "chomp", args)
    }
    /// `$_ = $_.chop`
    #[method("chop", private, max = 0)]
    fn chop(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        change(cx, "chop", args)
    }
    /// `$_ = $_.sub(...)`
    #[method("sub", private, min = 1, max = 2)]
    fn sub(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        change(cx, "sub", args)
    }
    /// `$_ = $_.gsub(...)`
    #[method("gsub", private, min = 1, max = 2)]
    fn gsub(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        change(cx, "gsub", args)
    }
}
