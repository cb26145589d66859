//! The functions that the VM calls back: collected here, installed before the boot image is made.

use zakuro_vm::boot::Hooks;
use zakuro_vm::globals::GlobalRow;

/// Tables of special global variables, one per file that owns some.
pub static GLOBALS: &[&[GlobalRow]] = &[crate::io::stream::GLOBALS, crate::regexp::special::GLOBALS, crate::kernel::globals::GLOBALS];

pub fn install() {
    let mut h = Hooks::default();
    for table in GLOBALS {
        for row in *table {
            h.globals.insert(zakuro_base::Sym::intern(row.name), row);
        }
    }
    h.float_to_s = Some(zakuro_text::float::float_to_s);
    h.lazy_const = Some(crate::io::stream::lazy_const);
    h.warn = Some(crate::exception::warning::emit);
    crate::regexp::special::install(&mut h);
    h.binding = Some(crate::proc::binding::of_caller);
    zakuro_vm::boot::set_hooks(h);
}
