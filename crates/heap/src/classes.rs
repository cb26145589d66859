//! What a heap knows of its size classes: where their blocks are, and what was allocated in them.
//!
//! Goal: a heap that holds little, as that of a VM which only waits, has no tables for classes without a block.

use std::ops::{Index, IndexMut};

use crate::block::NONE;
use crate::size_class::CLASSES;
use crate::state::LENDER;

/// Blocks of a size class. Lists are linked through `Body::next`.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    /// Cells handed out, those of open runs included, and blocks opened: for those who ask.
    pub(crate) cells: u64,
    pub(crate) opened: u64,
    /// The block that runs are taken from.
    pub(crate) current: u32,
    /// Cells of `current` below this index were considered.
    pub(crate) next_cell: u32,
    /// Swept, with free cells; all others are marked.
    pub(crate) available: u32,
    /// Nothing (worth having) free; all others are marked.
    pub(crate) full: u32,
    /// With free cells, and some that were allocated since the last collection.
    pub(crate) open: u32,
    /// Nothing free, and some that were allocated since the last collection.
    pub(crate) filled: u32,
    pub(crate) unswept: u32,
}

impl Class {
    const BLANK: Class =
        Class { cells: 0, opened: 0, current: NONE, next_cell: 0, available: NONE, full: NONE, open: NONE, filled: NONE, unswept: NONE };

    /// There is no block of this class.
    pub(crate) fn is_blank(&self) -> bool {
        self.lists().into_iter().chain([self.current, self.unswept]).all(|list| list == NONE)
    }
    /// The lists of blocks that need no sweeping, without the current one.
    pub(crate) fn lists(&self) -> [u32; 4] {
        [self.open, self.filled, self.available, self.full]
    }
}

/// The size classes of a heap. One that holds little has blocks of LENDER alone: the others are made with their first block.
pub(crate) struct Classes {
    lender: Class,
    all: Option<Box<[Class; CLASSES]>>,
}

impl Classes {
    pub(crate) fn new() -> Classes {
        Classes { lender: Class::BLANK, all: None }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Class> {
        (0..CLASSES).map(|class| &self[class])
    }
}

impl Index<usize> for Classes {
    type Output = Class;
    #[inline]
    fn index(&self, class: usize) -> &Class {
        match &self.all {
            Some(all) => &all[class],
            None if class == LENDER => &self.lender,
            None => &const { Class::BLANK },
        }
    }
}

impl IndexMut<usize> for Classes {
    #[inline]
    fn index_mut(&mut self, class: usize) -> &mut Class {
        if class == LENDER && self.all.is_none() {
            return &mut self.lender;
        }
        let lender = self.lender;
        &mut self.all.get_or_insert_with(|| {
            let mut all = Box::new([Class::BLANK; CLASSES]);
            all[LENDER] = lender;
            all
        })[class]
    }
}
