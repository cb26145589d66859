//! Shapes: a shape id fixes the class *and* the order of instance variables, so one compare guards both.
//!
//! Ids of the boot image are the same in every VM: the root shape of a boot class has the class's own number. Ids made later come in
//! lots from a process-wide counter, so that they are unique in the process; a VM keeps a sparse table of the lots that it owns.

use crate::class::ClassId;
use std::sync::atomic::{AtomicU32, Ordering};
use zakuro_base::Sym;

pub type ShapeId = u32;

/// What a shape means.
#[derive(Clone, Copy, Debug)]
pub struct ShapeInfo {
    pub class: ClassId,
    /// Shape before the last variable was added; itself for a root.
    pub parent: ShapeId,
    /// The variable added last (meaningless for a root).
    pub name: Sym,
    /// Number of variables.
    pub count: u16,
}

/// Ids per lot (both classes and shapes).
pub const LOT: u32 = 64;

/// A growing source of ids handed out in lots.
///
/// Writers: any VM that used up its lot (Relaxed: ids carry no other data). Readers: none.
pub struct LotCounter(AtomicU32);

/// First id of no lot: far enough from the end that no number of threads that ask at once gets there.
const LAST_LOT: u32 = u32::MAX - (1 << 24) + 1;

impl LotCounter {
    pub const fn new(first: u32) -> LotCounter {
        LotCounter(AtomicU32::new(first))
    }
    /// First id of a new lot. Unwinds with OutOfMemory when all are used up, which are never given back: none may stand for two things.
    pub fn take(&self) -> u32 {
        let first = self.0.fetch_add(LOT, Ordering::Relaxed);
        if first >= LAST_LOT {
            self.0.store(LAST_LOT, Ordering::Relaxed);
            zakuro_heap::out_of_memory();
        }
        first
    }
}

/// First id that is not the boot image's. Boot classes and shapes together stay below.
pub const FIRST_DYNAMIC: u32 = 4096;

pub static CLASS_LOTS: LotCounter = LotCounter::new(FIRST_DYNAMIC);
pub static SHAPE_LOTS: LotCounter = LotCounter::new(FIRST_DYNAMIC);

/// A sparse table of ids handed out in lots: page pointers by `id / LOT`. Pages may be shared with the boot image: reading is
/// the same for both, writing copies a shared page first.
///
/// Lots of the boot image stand in an array; later ones, whose numbers grow as long as the process lives, in a small open hash table: a VM
/// pays for the lots that it has, not for those that others had before it.
pub struct LotTable<T: Clone + 'static> {
    pages: List<Page<T>>,
    /// Open addressing, a power of two of slots, at most half of them used; `u32::MAX`: free.
    late: List<(u32, Page<T>)>,
    used: usize,
}

impl<T: Clone + 'static> LotTable<T> {
    /// Bytes of the pages that this table has to itself, about.
    pub fn own_bytes(&self) -> usize {
        let late = self.late.own().iter().filter(|l| matches!(l.1, Page::Own(_))).count();
        let early = self.pages.own().iter().filter(|p| matches!(p, Page::Own(_))).count();
        (late + early) * LOT as usize * size_of::<Option<T>>() + size_of_val(self.late.own())
    }
}

/// The rows of one lot of ids.
pub enum Page<T: 'static> {
    None,
    Shared(&'static [Option<T>]),
    Own(Box<[Option<T>]>),
}

impl<T> Page<T> {
    /// By the low part of an id; empty where nothing has one of this lot.
    #[inline(always)]
    pub fn rows(&self) -> &[Option<T>] {
        match self {
            Page::None => &[],
            Page::Shared(p) => p,
            Page::Own(p) => p,
        }
    }
}

impl<T> Page<T> {
    /// The same rows, for another table.
    ///
    /// # Safety
    /// The table that owns them outlives that one, and leaves them as they are.
    unsafe fn view(&self) -> Page<T> {
        match self {
            Page::None => Page::None,
            // SAFETY: pages stay where they are as long as the table that owns them (caller).
            p => Page::Shared(unsafe { std::slice::from_raw_parts(p.rows().as_ptr(), p.rows().len()) }),
        }
    }
}

/// What a table lists: another table's list, until something changes in it. (A VM that changes no class of its image's has no list of its own: half a kilobyte.)
enum List<E: 'static> {
    Lent(&'static [E]),
    Own(Vec<E>),
}

impl<E> std::ops::Deref for List<E> {
    type Target = [E];
    #[inline(always)]
    fn deref(&self) -> &[E] {
        match self {
            List::Lent(list) => list,
            List::Own(list) => list,
        }
    }
}

impl<E> List<E> {
    /// What is listed here for this table alone; pages in another's list are that one's.
    fn own(&self) -> &[E] {
        match self {
            List::Lent(_) => &[],
            List::Own(list) => list,
        }
    }
    /// The list for writing.
    #[inline]
    fn to_mut(&mut self, view: impl Fn(&E) -> E) -> &mut Vec<E> {
        if let List::Lent(list) = self {
            *self = List::Own(list.iter().map(view).collect());
        }
        match self {
            List::Own(list) => list,
            List::Lent(_) => unreachable!("copied above"),
        }
    }
    /// # Safety
    /// This list outlives the other, and is not changed meanwhile.
    unsafe fn lend(&self) -> List<E> {
        // SAFETY: the caller's promise.
        List::Lent(unsafe { std::slice::from_raw_parts(self.as_ptr(), self.len()) })
    }
}

fn insert<T>(late: &mut [(u32, Page<T>)], lot: u32, page: Page<T>) -> usize {
    let mask = late.len() - 1;
    let mut i = lot as usize & mask;
    while late[i].0 != FREE {
        i = (i + 1) & mask;
    }
    late[i] = (lot, page);
    i
}

/// Lots that the boot image may use.
const EARLY: u32 = FIRST_DYNAMIC / LOT;
const FREE: u32 = u32::MAX;

impl<T: Clone + 'static> LotTable<T> {
    pub fn new() -> LotTable<T> {
        LotTable { pages: List::Own(Vec::new()), late: List::Own(Vec::new()), used: 0 }
    }
    #[inline(always)]
    pub fn get(&self, id: u32) -> Option<&T> {
        let lot = id / LOT;
        let page = if lot < EARLY { self.pages.get(lot as usize)? } else { &self.late.get(self.find(lot)?)?.1 };
        page.rows().get((id % LOT) as usize)?.as_ref()
    }
    /// Slot of a late lot.
    #[inline(always)]
    fn find(&self, lot: u32) -> Option<usize> {
        let mask = self.late.len().wrapping_sub(1);
        let mut i = lot as usize & mask;
        loop {
            match self.late.get(i)?.0 {
                l if l == lot => return Some(i),
                FREE => return None,
                _ => i = (i + 1) & mask,
            }
        }
    }
    /// The page of a lot, made when needed.
    fn page(&mut self, lot: u32) -> &mut Page<T> {
        // SAFETY: a table that lists another's pages is a view of it (`over`, `share`).
        let view = |p: &Page<T>| unsafe { p.view() };
        if lot < EARLY {
            let pages = self.pages.to_mut(view);
            while pages.len() <= lot as usize {
                pages.push(Page::None);
            }
            return &mut pages[lot as usize];
        }
        let found = self.find(lot);
        let late = self.late.to_mut(|(lot, p)| (*lot, view(p)));
        let at = match found {
            Some(i) => i,
            None => {
                if (self.used + 1) * 2 > late.len() {
                    let size = (late.len() * 2).max(4);
                    let old = std::mem::replace(late, (0..size).map(|_| (FREE, Page::None)).collect());
                    for (lot, page) in old {
                        if lot != FREE {
                            insert(late, lot, page);
                        }
                    }
                }
                self.used += 1;
                insert(late, lot, Page::None)
            }
        };
        &mut late[at].1
    }
    /// The slot for writing; makes or copies the page when needed.
    pub fn slot(&mut self, id: u32) -> &mut Option<T> {
        let page = self.page(id / LOT);
        match page {
            Page::None => *page = Page::Own(vec![None; LOT as usize].into()),
            Page::Shared(p) => *page = Page::Own(p.to_vec().into()),
            Page::Own(_) => {}
        }
        match page {
            Page::Own(p) => &mut p[(id % LOT) as usize],
            _ => unreachable!("made above"),
        }
    }
    /// Leaks all pages, to be shared by every later table. Only the boot image does so: it has no late lots.
    pub fn freeze(self) -> &'static [Page<T>] {
        debug_assert!(self.late.is_empty(), "the boot image has used up its ids");
        match self.pages {
            List::Lent(pages) => pages,
            List::Own(pages) => Box::leak(pages.into_boxed_slice()),
        }
    }
    /// A table that starts as a view of frozen pages.
    pub fn over(pages: &'static [Page<T>]) -> LotTable<T> {
        LotTable { pages: List::Lent(pages), late: List::Own(Vec::new()), used: 0 }
    }
    /// A table that starts as a view of this one.
    ///
    /// # Safety
    /// This table outlives the view, and is not changed meanwhile.
    pub unsafe fn share(&self) -> LotTable<T> {
        // SAFETY: the caller's promise.
        unsafe { LotTable { pages: self.pages.lend(), late: self.late.lend(), used: self.used } }
    }
    pub fn each(&self, f: &mut dyn FnMut(u32, &T)) {
        self.each_page(&mut |lot, page| {
            for (i, v) in page.rows().iter().enumerate() {
                if let Some(v) = v {
                    f(lot * LOT + i as u32, v);
                }
            }
        });
    }
    /// Entries of pages that this table owns (not the shared ones).
    pub fn each_own(&self, f: &mut dyn FnMut(u32, &T)) {
        Self::pages_of(self.pages.own(), self.late.own(), &mut |lot, page| {
            if matches!(page, Page::Own(_)) {
                for (i, v) in page.rows().iter().enumerate() {
                    if let Some(v) = v {
                        f(lot * LOT + i as u32, v);
                    }
                }
            }
        });
    }
    /// The same in no order, and without a list of them: for who may not ask for memory.
    pub fn each_own_unordered(&self, f: &mut dyn FnMut(&T)) {
        for page in self.pages.own().iter().chain(self.late.own().iter().map(|l| &l.1)) {
            if matches!(page, Page::Own(_)) {
                page.rows().iter().flatten().for_each(&mut *f);
            }
        }
    }
    fn each_page(&self, f: &mut dyn FnMut(u32, &Page<T>)) {
        Self::pages_of(&self.pages, &self.late, f);
    }
    /// In order of their lots: ids are in order of creation.
    fn pages_of(pages: &[Page<T>], late: &[(u32, Page<T>)], f: &mut dyn FnMut(u32, &Page<T>)) {
        for (n, p) in pages.iter().enumerate() {
            f(n as u32, p);
        }
        let mut late: Vec<&(u32, Page<T>)> = late.iter().filter(|l| l.0 != FREE).collect();
        late.sort_unstable_by_key(|l| l.0);
        late.iter().for_each(|(lot, page)| f(*lot, page));
    }
}

/// Shapes below are roots of boot classes and have the class's number; other boot shapes start here.
pub const BOOT_ROOTS: u32 = 512;

#[cfg(test)]
#[path = "shape_tests.rs"]
mod tests;
