//! The functions that the VM calls back: collected here, installed before the boot image is made.

use zakuro_vm::boot::Hooks;
use zakuro_vm::globals::GlobalRow;

/// Tables of special global variables, one per file that owns some.
pub static GLOBALS: &[&[GlobalRow]] = &[crate::kernel::globals::GLOBALS, crate::io::stream::GLOBALS, crate::regexp::special::GLOBALS];

/// Installs the hooks; `more` adds those of the libraries above.
pub fn install(more: impl FnOnce(&mut Hooks)) {
    let mut h = Hooks::default();
    for table in GLOBALS {
        for row in *table {
            h.globals.insert(zakuro_base::Sym::intern(row.name), row);
        }
    }
    h.float_to_s = Some(zakuro_text::float::float_to_s);
    h.lazy_const = Some(crate::io::stream::lazy_const);
    h.autoload = Some(crate::kernel::autoload::read);
    h.autoload_pending = Some(crate::kernel::autoload::is_pending);
    h.binding = Some(crate::proc::binding::of_caller);
    h.warn = Some(crate::exception::warning::emit);
    h.warn_category = Some(crate::exception::warning::emit_category);
    h.warns = Some(|cx, category| crate::exception::warning::is_enabled(cx, category) == Some(true));
    h.trace = Some(crate::tracepoint::tell);
    h.signal = Some(crate::signal::handle);
    h.inspected = Some(crate::string::util::inspected);
    h.incompatible = Some(crate::string::util::incompatible);
    crate::regexp::special::install(&mut h);
    more(&mut h);
    zakuro_vm::boot::set_hooks(h);
}
