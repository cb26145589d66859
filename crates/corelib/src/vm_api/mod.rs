//! RubyVM and RubyVM::Channel: VMs and messages as Ruby programs see them.

pub mod channel;
pub mod vm;

use zakuro_vm::{Cx, MethodRow};

pub static TABLES: &[&[MethodRow]] = &[vm::vm_class::METHODS, channel::channel_class::METHODS];

pub fn setup(_cx: &mut Cx) {}
