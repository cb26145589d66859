//! Links: call sites on self of a method that calls itself, which its machine code looks at once for an activation (docs/decisions/0027).

use super::calls::{refused, ruby_simple};
use super::machine::RELIED_ON;
use crate::frame::*;
use crate::methods::Method;
use crate::vm::Cx;
use zakuro_bytecode::machine::{Link, Machine};
use zakuro_object::*;

/// Whether call sites on self lead where a version of machine code takes it for granted, from a frame whose method is `me`. What the sites have not met yet is looked up, as by [`send_miss`].
pub(super) unsafe fn link(cx: &mut Cx, own: Value, me: Value, cs: *const CodeState, links: &[Link]) -> bool {
    // SAFETY: the caller's word: a state of this VM; sites are its Code's, and a `target` is what its handler says.
    unsafe {
        let key = (cx.epoch as u64) << 32 | own.shape_key() as u64;
        for l in links {
            let cache = &*(*cs).calls.add(l.site as usize);
            if cache.key != key && !cx.recall(cs, l.site, key) && !fill(cx, own, me, cs, l) {
                return false;
            }
            let cache = &*(*cs).calls.add(l.site as usize);
            if cache.key != key || cache.handler as usize != ruby_simple as *const () as usize {
                return false;
            }
            let callee = cache.target as *const CodeState;
            if if l.own { !std::ptr::eq(callee, cs) } else { !std::ptr::eq(l.code.as_ptr(), &*(*callee).code) } {
                return false;
            }
        }
        (*cs).linked.set(key);
        true
    }
}
/// The version in force, if it is the one with these links and may go on: nothing that all versions rely on is redefined.
pub(super) unsafe fn relies_on<'a>(cx: &Cx, cs: *const CodeState, links: *const Link) -> Option<&'a Machine> {
    // SAFETY: a state of this VM, whose versions are held as long as it is there.
    let cs = unsafe { &*cs };
    let holds = !cs.compares() && cx.redefined & RELIED_ON == 0;
    cs.own_machine().filter(|m| holds && std::ptr::eq(m.links.as_ptr(), links))
}
/// Fills a call site's cache for a Ruby method whose arguments stand as they are: whether it is one.
unsafe fn fill(cx: &mut Cx, own: Value, me: Value, cs: *const CodeState, link: &Link) -> bool {
    // SAFETY: as in `link`.
    unsafe {
        let site = &(&(*cs).code.calls)[link.site as usize];
        let class = cx.dispatch_class(own);
        let Some(m) = cx.find_method_from(Method::of(me).cref, class, site.name) else { return false };
        if m.method_kind() != MethodKind::Ruby || refused(cx, m, site, own, own).is_some() {
            return false;
        }
        let callee = cx.method_state(m);
        if !(*callee).simple || (*callee).required != link.arguments as u16 {
            return false;
        }
        cx.state_gets_cells(cs);
        cx.set_aside(cs, link.site);
        let shape = own.shape_key();
        *(*cs).calls.add(link.site as usize) = CallCache {
            key: (cx.epoch as u64) << 32 | shape as u64,
            handler: ruby_simple,
            target: callee as usize,
            me: m.as_value(),
            extra: site.child as u32,
            shape,
        };
        true
    }
}

impl Cx {
    /// Machine code of this state has to look at its call sites again.
    pub(super) fn unlink(&self, cs: &CodeState) {
        if cs.linked.replace(0) != 0 {
            self.unsettle();
        }
    }
    /// [`CodeState::recall`].
    #[inline]
    pub(super) unsafe fn recall(&self, cs: *const CodeState, site: u16, key: u64) -> bool {
        // SAFETY: the state that runs, which nobody else looks at meanwhile.
        unsafe {
            let found = (*(cs as *mut CodeState)).recall(site as usize, key);
            if found {
                self.unlink(&*cs);
            }
            found
        }
    }
}
