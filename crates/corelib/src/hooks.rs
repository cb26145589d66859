//! The functions that the VM calls back: collected here, installed before the boot image is made.

use zakuro_vm::boot::Hooks;
use zakuro_vm::globals::GlobalRow;

/// Tables of special global variables, one per file that owns some.
pub static GLOBALS: &[&[GlobalRow]] = &[crate::kernel::globals::GLOBALS];

pub fn install() {
    let mut h = Hooks::default();
    for table in GLOBALS {
        for row in *table {
            h.globals.insert(zakuro_base::Sym::intern(row.name), row);
        }
    }
    h.binding = Some(crate::proc::binding::of_caller);
    zakuro_vm::boot::set_hooks(h);
}
