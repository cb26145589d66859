//! Instance variables of cells that have no layout: a list for each, by address.

use crate::vm::FastMap;
use zakuro_object::{Sym, Value};

pub(crate) type List = Vec<(Sym, Value)>;

pub(crate) struct Lists {
    lists: FastMap<usize, List>,
    /// The cell that was looked at last and its list, which stays where it is until [`Lists::change`].
    near: (usize, *mut List),
    /// Another number each time that another cell was looked at: as long as it is the same, the cell's list stands where it stood and has the same variables.
    stamp: u64,
}

impl Default for Lists {
    fn default() -> Lists {
        Lists { lists: FastMap::default(), near: (0, std::ptr::null_mut()), stamp: 0 }
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
    /// To put lists in or take some out, or variables.
    pub(crate) fn change(&mut self) -> &mut FastMap<usize, List> {
        self.near = (0, std::ptr::null_mut());
        &mut self.lists
    }
    /// The list of the cell at an address; values may be changed.
    #[inline]
    pub(crate) fn of(&mut self, cell: usize) -> Option<&mut List> {
        if self.near.0 != cell || self.near.1.is_null() {
            self.near = (cell, self.lists.get_mut(&cell)?);
            self.stamp += 1;
        }
        // SAFETY: the table has not changed since: the list stands where it stood, and is borrowed as the table is.
        Some(unsafe { &mut *self.near.1 })
    }
    /// The list of the cell at an address if it was looked at last, and what says that it is the one that it was.
    #[inline]
    pub(crate) fn at_hand(&self, cell: usize) -> Option<(&List, u64)> {
        // SAFETY: as in `of`.
        (self.near.0 == cell && !self.near.1.is_null()).then(|| (unsafe { &*self.near.1 }, self.stamp))
    }
}
