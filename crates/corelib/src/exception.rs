//! (not written yet)

use zakuro_vm::{Cx, MethodRow};

pub static TABLES: &[&[MethodRow]] = &[];

pub fn setup(_cx: &mut Cx) {}

/// The report of an uncaught exception.
pub fn full_message(cx: &mut Cx, e: zakuro_vm::Value, _highlight: bool) -> zakuro_vm::Result<String> {
    let class = cx.class_name_of(e);
    let m = cx.exception_message(e);
    let m = if m.is_nil() { class.clone() } else { cx.to_s_text(m)? };
    let bt = cx.ivar_get(e, zakuro_vm::raise::hidden::backtrace());
    let bt = match zakuro_vm::Ref::<zakuro_vm::ArrayCell>::from_value(bt) {
        Some(a) => a.as_slice().to_vec(),
        None => Vec::new(),
    };
    let mut out = String::new();
    for (i, l) in bt.iter().enumerate() {
        let l = cx.to_s_text(*l)?;
        if i == 0 { out.push_str(&format!("{l}: {m} ({class})\n")) } else { out.push_str(&format!("\tfrom {l}\n")) }
    }
    if bt.is_empty() {
        out.push_str(&format!("{m} ({class})\n"));
    }
    Ok(out)
}
