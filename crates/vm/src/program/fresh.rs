//! Which classes and states of Codes have got cells since the last minor collection.
//!
//! A minor collection looks for young cells, and a class or an inline cache that nobody wrote to since the one before holds none. A large program has some ten thousand of each, most of
//! which never change: looking through all of them was most of the work of a minor collection. Full collections look everywhere. Debug builds follow each minor marking with a full one on the
//! side and stop at what only that one found, so a store that is not told of here does not go unseen.

use crate::frame::CodeState;
use crate::vm::Cx;
use std::sync::Arc;
use zakuro_object::ClassId;

/// See the module.
#[derive(Default)]
pub(crate) struct Fresh {
    /// Keys of `code_states`, each once (`CodeState::fresh`). A state may be gone since.
    pub states: Vec<usize>,
    /// Each once (`Weighed::fresh`).
    pub classes: Vec<u32>,
}

impl Cx {
    /// Caches, constants or once-sites of a state get a cell.
    #[inline]
    pub(crate) fn state_gets_cells(&mut self, state: *const CodeState) {
        // SAFETY: the caller's state, which is alive.
        let state = unsafe { &*state };
        if !state.fresh.replace(true) {
            self.fresh.states.push(Arc::as_ptr(&state.code) as usize);
        }
    }
    /// The class's data get a cell.
    #[inline]
    pub(crate) fn class_gets_cells(&mut self, id: ClassId) {
        if let Some(slot) = self.classes.get(id.0).filter(|s| s.own) {
            // SAFETY: own slots point to live class data, which this VM alone uses; nobody looks at it now.
            if !std::mem::replace(unsafe { &mut (*slot.data).weighed.fresh }, true) {
                self.fresh.classes.push(id.0);
            }
        }
    }
    /// After a minor collection nothing is young. Its classes were told by [`Cx::weigh_classes`].
    pub(crate) fn nothing_is_fresh(&mut self) {
        for key in std::mem::take(&mut self.fresh.states) {
            if let Some(state) = self.code_states.get(&key) {
                state.fresh.set(false);
            }
        }
        self.fresh.classes.clear();
    }
}
