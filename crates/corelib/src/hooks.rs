//! The functions that the VM calls back: collected here, installed before the boot image is made.

use zakuro_vm::boot::Hooks;
use zakuro_vm::globals::GlobalRow;

/// Tables of special global variables, one per file that owns some.
pub static GLOBALS: &[&[GlobalRow]] =
    &[zakuro_core_program::kernel::globals::GLOBALS, zakuro_core_system::io::stream::GLOBALS, zakuro_core_text::regexp::special::GLOBALS];

/// Installs the hooks; `more` adds those of the libraries above.
pub fn install(more: impl FnOnce(&mut Hooks)) {
    let mut h = Hooks::default();
    for table in GLOBALS {
        for row in *table {
            h.globals.insert(zakuro_base::Sym::intern(row.name), row);
        }
    }
    h.float_to_s = Some(zakuro_text::float::float_to_s);
    h.lazy_const = Some(|cx, name| match &*name.name() {
        "TOPLEVEL_BINDING" => Ok(zakuro_core_program::proc::binding::top_level(cx)),
        "RubyVM::ARGV" => Ok(zakuro_core_vms::vm_api::birth::start_objects(cx)),
        _ => zakuro_core_system::io::stream::lazy_const(cx, name),
    });
    h.external_changed = Some(zakuro_core_system::io::encodings::default_changed);
    h.autoload = Some(zakuro_core_program::kernel::autoload::read);
    h.autoload_pending = Some(zakuro_core_program::kernel::autoload::is_pending);
    h.binding = Some(zakuro_core_program::proc::binding::of_caller);
    h.warn = Some(zakuro_core_base::exception::warning::emit);
    h.warn_category = Some(zakuro_core_base::exception::warning::emit_category);
    h.warns = Some(|cx, category| zakuro_core_base::exception::warning::is_enabled(cx, category) == Some(true));
    h.trace = Some(zakuro_core_program::tracepoint::tell);
    h.signal = Some(zakuro_core_system::signal::handle);
    h.begin_child = Some(|cx| {
        zakuro_core_numbers::random::forget(cx);
        zakuro_core_vms::thread::forget_others(cx);
    });
    h.inspected = Some(zakuro_core_text::string::util::inspected);
    h.incompatible = Some(zakuro_core_text::string::util::incompatible);
    zakuro_core_text::regexp::special::install(&mut h);
    more(&mut h);
    zakuro_vm::boot::set_hooks(h);
}
