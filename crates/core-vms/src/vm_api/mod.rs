//! RubyVM and RubyVM::Channel: VMs and messages as Ruby programs see them.

pub mod birth;
pub mod channel;
pub mod host;
pub mod image;
pub mod image_file;
pub mod jit;
pub mod outcome;
pub mod power;
pub mod ractor;
pub mod vm;
mod worked_with;

use zakuro_vm::{Cx, MethodRow};

pub static TABLES: &[&[MethodRow]] = &[
    vm::vm_class::METHODS,
    channel::channel_class::METHODS,
    host::host_output::METHODS,
    image::image_class::METHODS,
    jit::jit_class::METHODS,
    ractor::ractor::METHODS,
];

pub fn setup(cx: &mut Cx) {
    let name = zakuro_vm::Sym::intern("ARGV");
    cx.const_set(zakuro_vm::ids::RUBY_VM, name, zakuro_vm::Value::UNDEF);
    if let Some(e) = cx.class_mut(zakuro_vm::ids::RUBY_VM).consts.get_mut(&name) {
        e.autoload = zakuro_vm::Value::sym(zakuro_vm::Sym::intern("RubyVM::ARGV"));
    }
}
