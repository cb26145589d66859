//! The warning for blocks that are passed to a method that never looks at one.
//!
//! A method uses its block when it yields, has a block parameter, or calls `super` (asking `block_given?` alone is no use). The question is asked where an inline
//! cache is filled, so a program pays nothing for it; a method is named once for each place that calls it. `Warning[:strict_unused_block]` wants every such method
//! named; `-w` alone leaves out names that some other method with a use for blocks has, since the call is then likely meant for either.
//!
//! Rejected: asking at every call (a test on a hot path).

use crate::methods::Method;
use crate::raise::Result;
use crate::vm::{Cx, VmState};
use std::collections::HashSet;
use std::sync::Arc;
use zakuro_bytecode::{Code, CodeKind};
use zakuro_object::*;

/// Methods that were named, by Code and class, with the instruction that called.
#[derive(Default)]
pub(crate) struct Named(pub HashSet<(usize, u32, usize)>);
impl Trace for Named {
    /// Addresses of codes.
    fn trace(&self, _: &mut Marker<'_>) {
        let Named(_) = self;
    }
}
impl VmState for Named {}

impl Cx {
    /// Warns when a block is passed to a method that ignores it. True: Ruby code may have run.
    #[cold]
    #[inline(never)]
    pub(crate) fn unused_block(&mut self, m: Method) -> Result<bool> {
        let Some(code) = Self::method_code(m) else { return Ok(false) };
        if code.uses_block || code.kind != CodeKind::Method || m.name == sym::initialize {
            return Ok(false);
        }
        let strict = self.warns("strict_unused_block");
        if !strict && (!self.is_verbose() || self.some_method_uses_block(code.name)) {
            return Ok(false);
        }
        // Whichever copy of the instructions it runs in.
        // SAFETY: a live Ruby frame.
        let place = self.ruby_frame().map_or(0, |f| unsafe {
            let cs = &*(*f).code;
            cs.code.insns.as_ptr().wrapping_add(cs.index_of((*f).ip)) as usize
        });
        if !self.state::<Named>().0.insert((m.body, m.owner.0, place)) {
            return Ok(false);
        }
        let name = self.method_label(m);
        let message = if code.file.starts_with("<internal") {
            format!("the block may be ignored because '{name}' does not use a block")
        } else {
            format!("the block passed to '{name}' defined at {}:{} may be ignored", code.file, code.line)
        };
        self.warn_here(&message)?;
        Ok(true)
    }
    /// Whether a method of that name, of whatever class, has a use for blocks; one that is written in a branch not taken counts.
    fn some_method_uses_block(&mut self, name: Sym) -> bool {
        let written = |c: &Arc<Code>| c.uses_block && c.kind == CodeKind::Method && c.name == name;
        if self.code_states.values().any(|s| s.code.children.iter().any(written)) {
            return true;
        }
        let mut all = Vec::new();
        self.classes.each(&mut |id, _| all.push(id));
        all.into_iter().any(|id| {
            let entry = self.class(ClassId(id)).methods.get(&name).copied();
            entry.and_then(Ref::<MethodCell>::from_value).and_then(Cx::method_code).is_some_and(|c| c.uses_block)
        })
    }
}
