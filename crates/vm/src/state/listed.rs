//! Instance variables of cells that have no layout: a list for each, by address.

use crate::vm::FastMap;
use zakuro_object::{Sym, Value};

pub(crate) type List = Vec<(Sym, Value)>;

pub(crate) struct Lists {
    lists: FastMap<usize, List>,
    /// The cell that was looked at last and its list, which stays where it is until [`Lists::change`].
    near: (usize, *mut List),
}

impl Default for Lists {
    fn default() -> Lists {
        Lists { lists: FastMap::default(), near: (0, std::ptr::null_mut()) }
    }
}

/// Reading, also by VMs that this one's image is shared with.
impl std::ops::Deref for Lists {
    type Target = FastMap<usize, List>;
    fn deref(&self) -> &FastMap<usize, List> {
        &self.lists
    }
}

impl Lists {
    /// To put lists in or take some out.
    pub(crate) fn change(&mut self) -> &mut FastMap<usize, List> {
        self.near = (0, std::ptr::null_mut());
        &mut self.lists
    }
    /// The list of the cell at an address.
    #[inline]
    pub(crate) fn of(&mut self, cell: usize) -> Option<&mut List> {
        if self.near.0 != cell || self.near.1.is_null() {
            self.near = (cell, self.lists.get_mut(&cell)?);
        }
        // SAFETY: the table has not changed since: the list stands where it stood, and is borrowed as the table is.
        Some(unsafe { &mut *self.near.1 })
    }
}
