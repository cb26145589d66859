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

impl LotCounter {
    pub const fn new(first: u32) -> LotCounter {
        LotCounter(AtomicU32::new(first))
    }
    /// First id of a new lot.
    pub fn take(&self) -> u32 {
        self.0.fetch_add(LOT, Ordering::Relaxed)
    }
}

/// First id that is not the boot image's. Boot classes and shapes together stay below.
pub const FIRST_DYNAMIC: u32 = 4096;

pub static CLASS_LOTS: LotCounter = LotCounter::new(FIRST_DYNAMIC);
pub static SHAPE_LOTS: LotCounter = LotCounter::new(FIRST_DYNAMIC);

/// A sparse table of ids handed out in lots: page pointers by `id / LOT`. Pages may be shared with the boot image: reading is
/// the same for both, writing copies a shared page first.
pub struct LotTable<T: Clone + 'static> {
    pages: Vec<Page<T>>,
}

enum Page<T: 'static> {
    None,
    Shared(&'static [Option<T>]),
    Own(Box<[Option<T>]>),
}

impl<T: Clone + 'static> LotTable<T> {
    pub fn new() -> LotTable<T> {
        LotTable { pages: Vec::new() }
    }
    #[inline(always)]
    pub fn get(&self, id: u32) -> Option<&T> {
        match self.pages.get((id / LOT) as usize)? {
            Page::None => None,
            Page::Shared(p) => p[(id % LOT) as usize].as_ref(),
            Page::Own(p) => p[(id % LOT) as usize].as_ref(),
        }
    }
    /// The slot for writing; makes or copies the page when needed.
    pub fn slot(&mut self, id: u32) -> &mut Option<T> {
        let n = (id / LOT) as usize;
        while self.pages.len() <= n {
            self.pages.push(Page::None);
        }
        let page = &mut self.pages[n];
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
    /// Leaks all pages, to be shared by every later table.
    pub fn freeze(self) -> &'static [&'static [Option<T>]] {
        let pages: Vec<&'static [Option<T>]> = self
            .pages
            .into_iter()
            .map(|p| match p {
                Page::None => &[][..],
                Page::Shared(p) => p,
                Page::Own(p) => &*Box::leak(p),
            })
            .collect();
        Box::leak(pages.into_boxed_slice())
    }
    /// A table that starts as a view of frozen pages.
    pub fn over(pages: &'static [&'static [Option<T>]]) -> LotTable<T> {
        LotTable { pages: pages.iter().map(|p| if p.is_empty() { Page::None } else { Page::Shared(p) }).collect() }
    }
    /// A table that starts as a view of this one.
    ///
    /// # Safety
    /// This table outlives the view, and is not changed meanwhile.
    pub unsafe fn share(&self) -> LotTable<T> {
        let view = |p: &[Option<T>]| -> &'static [Option<T>] {
            // SAFETY: pages stay where they are as long as the table that owns them (caller).
            unsafe { std::slice::from_raw_parts(p.as_ptr(), p.len()) }
        };
        let page = |p: &Page<T>| match p {
            Page::None => Page::None,
            Page::Shared(p) => Page::Shared(p),
            Page::Own(p) => Page::Shared(view(p)),
        };
        LotTable { pages: self.pages.iter().map(page).collect() }
    }
    pub fn each(&self, f: &mut dyn FnMut(u32, &T)) {
        for (n, p) in self.pages.iter().enumerate() {
            let s: &[Option<T>] = match p {
                Page::None => &[],
                Page::Shared(p) => p,
                Page::Own(p) => p,
            };
            for (i, v) in s.iter().enumerate() {
                if let Some(v) = v {
                    f(n as u32 * LOT + i as u32, v);
                }
            }
        }
    }
    /// Entries of pages that this table owns (not the shared ones).
    pub fn each_own(&self, f: &mut dyn FnMut(u32, &T)) {
        for (n, p) in self.pages.iter().enumerate() {
            if let Page::Own(p) = p {
                for (i, v) in p.iter().enumerate() {
                    if let Some(v) = v {
                        f(n as u32 * LOT + i as u32, v);
                    }
                }
            }
        }
    }
}

/// Shapes below are roots of boot classes and have the class's number; other boot shapes start here.
pub const BOOT_ROOTS: u32 = 512;
