//! What changed since the last capture, so that the next one costs what changed.
//!
//! The last image of a VM stands as a stack of [`Level`]s: the first holds the whole program, each one above it what changed between two captures. A
//! captured cell that changed gets a new cell in the next level, and the level redirects from the old one to it, as it does from the templates of the image that the
//! VM started from. So a level is exact without a look at what did not change.
//!
//! A new level takes those above it in that are not twice its size (as log-structured merge trees do), so that there are few of them and each change is copied a
//! logarithmic number of times at most. To take a level in is to forget that it was captured: its changes count as open again. When half of the program
//! changed, everything is captured anew.
//!
//! Invariants
//! - `map` holds a captured cell under its address. Its entry counts only if the cell has the CAPTURED flag: a cell that changed has lost it, and one that took
//!   the address of a dead cell has none.
//! - Lists of cells that changed are weak: the collector drops those that die ([`Cx::sweep_standing`]), before their addresses are used again.
//! - Only templates are redirected from, because only they are resolved. A captured cell that was shared and changes all the same (the visibility in a
//!   scope) makes the next capture a whole one.
//!
//! Rejected: one delta above the whole, made anew each time (k changes between captures would cost k^2 over k captures); chains without merging (every read of a
//! template walks them).

use super::Image;
use crate::vm::{Cx, FastMap};
use hashbrown::HashSet;
use std::sync::Arc;
use zakuro_base::Sym;
use zakuro_heap::Heap;
use zakuro_object::*;

type Set<T> = HashSet<T, zakuro_base::hash_seed::Fixed>;

/// Changes that no image has yet.
#[derive(Default)]
pub(crate) struct Changes {
    /// Something changed, if only something that every capture takes along.
    pub any: bool,
    /// What changed can't be told: all is captured anew.
    pub whole: bool,
    /// Captured cells, by address, and the templates that they were captured as.
    pub(super) cells: FastMap<u64, Value>,
    pub(super) classes: Set<u32>,
    pub(super) globals: Set<Sym>,
    pub(super) places: Set<(ClassId, Sym)>,
    /// Codes with once-sites that were passed.
    pub(super) once: Set<usize>,
    /// Templates of the image below that the VM has copied.
    pub(super) copies: Set<usize>,
    /// Captured or shared cells that were asked for their object id.
    pub(super) ids: Set<u64>,
    pub(crate) shapes: Vec<u32>,
    pub(crate) transitions: Vec<(u32, Sym)>,
}

impl Changes {
    pub fn global(&mut self, name: Sym) {
        self.any = true;
        self.globals.insert(name);
    }
    pub fn place(&mut self, holder: ClassId, name: Sym) {
        self.any = true;
        self.places.insert((holder, name));
    }
    pub fn once(&mut self, code: usize) {
        self.any = true;
        self.once.insert(code);
    }
    pub fn copied(&mut self, template: usize) {
        self.any = true;
        self.copies.insert(template);
    }
    pub fn object_id(&mut self, v: Value) {
        self.any = true;
        self.ids.insert(v.bits());
    }
    fn roots(&self) -> usize {
        self.cells.len() + self.classes.len() + self.globals.len() + self.copies.len() + self.once.len()
    }
    fn add(&mut self, other: Changes) {
        self.any |= other.any;
        self.classes.extend(other.classes);
        self.globals.extend(other.globals);
        self.places.extend(other.places);
        self.once.extend(other.once);
        self.copies.extend(other.copies);
        self.ids.extend(other.ids);
        self.shapes.extend(other.shapes);
        self.transitions.extend(other.transitions);
        // The older template of a cell is the one that stays.
        self.cells.extend(other.cells);
    }
    fn sweep(&mut self, heap: &Heap) {
        self.cells.retain(|v, _| heap.is_marked_or_new(*v as *mut Header));
        self.ids.retain(|v| heap.is_marked_or_new(*v as *mut Header));
    }
}

/// One layer of the incremental image.
pub(super) struct Level {
    /// Cells captured in it, and the layer's.
    pub cells: Vec<(u64, Value)>,
    /// What it was made of; nothing for the first.
    pub changes: Changes,
}

/// The last image that was made of a VM, while it stands.
pub(crate) struct IncrementalImage {
    pub(super) image: Arc<Image>,
    /// The VM's cells -> the image's.
    pub(super) map: Arc<FastMap<u64, Value>>,
    pub(super) levels: Vec<Level>,
    /// Since the last of them.
    pub(super) changes: Changes,
    /// Captured environments with what was in them.
    pub(super) envs: Vec<(Value, Box<[Value]>)>,
    /// Data objects that may change unnoticed: each head brings their payloads.
    pub(super) untracked: UntracedVec,
    /// The Thread object that is the main thread's in the image.
    pub(super) thread: Option<Value>,
    /// Full collections since the last capture.
    pub(super) idle: u32,
}

/// Levels at most.
const DEPTH: usize = 12;
/// After so many full collections without a capture a VM lets its image go, if something changed.
const PATIENCE: u32 = 16;

impl IncrementalImage {
    fn cell(&mut self, v: Value) {
        if let Some(there) = self.map.get(&v.bits()) {
            self.changes.any = true;
            if there.is_template() {
                self.changes.cells.insert(v.bits(), *there);
            } else {
                self.changes.whole = true;
            }
        }
    }
    /// Whether so much changed that a capture of everything is as cheap.
    fn spent(&self) -> bool {
        self.changes.whole || self.changes.cells.len() > self.levels[0].cells.len() / 2 + 64
    }
    /// Notes environments that were written to.
    pub(super) fn compare_envs(&mut self) {
        for (e, old) in std::mem::take(&mut self.envs) {
            if !same_env(e, &old) && e.flags() & flags::CAPTURED != 0 {
                clear_captured(e);
                self.cell(e);
            }
            self.envs.push((e, old));
        }
    }
    /// Takes levels in until those that stay are few and far larger than what is to come. False: everything is to be captured anew.
    pub(super) fn make_room(&mut self) -> bool {
        let mut size = self.changes.roots() + 1;
        let deep = self.levels.len() >= DEPTH;
        while self.levels.len() > 1 && (deep || self.levels[self.levels.len() - 1].cells.len() <= 2 * size) {
            let Some(l) = self.levels.pop() else { break };
            size += l.cells.len();
            let map = Arc::make_mut(&mut self.map);
            for (v, there) in l.cells {
                // Captured there for the first time, and changed since: it is new again.
                if self.changes.cells.get(&v) == Some(&there) {
                    self.changes.cells.remove(&v);
                }
                if map.get(&v) == Some(&there) {
                    map.remove(&v);
                }
            }
            self.changes.add(l.changes);
        }
        !self.changes.whole && size <= self.levels[0].cells.len() / 2 + 64
    }
}

fn clear_captured(v: Value) {
    // SAFETY: a live cell of this VM.
    unsafe { (*v.header()).flags &= !flags::CAPTURED }
}

/// Whether an environment holds what it held when it was captured. A captured cell that died since may have left its address to another, which then
/// has no CAPTURED flag.
fn same_env(e: Value, old: &[Value]) -> bool {
    let env = Ref::<EnvCell>::of(e);
    let same = |now: Value, then: Value| now == then && (!now.is_cell() || now.bits() == 0 || now.flags() & flags::CAPTURED != 0);
    same(env.parent, old[0]) && env.slots().iter().zip(&old[1..]).all(|(now, then)| same(*now, *then))
}

impl Cx {
    /// Says that program state changes in a way that can't be told apart: the last image is of the past.
    #[inline(always)]
    pub fn changed(&mut self) {
        if self.incremental_image.is_some() {
            self.incremental_image = None;
        }
    }
    /// Says what changes, if an image stands.
    #[inline(always)]
    pub(crate) fn state_changes(&mut self, what: impl FnOnce(&mut Changes)) {
        if let Some(s) = &mut self.incremental_image {
            what(&mut s.changes)
        }
    }
    /// Says that a class's data changes.
    #[inline(always)]
    pub(crate) fn class_changes(&mut self, id: ClassId) {
        self.state_changes(|c| {
            c.any = true;
            c.classes.insert(id.0);
        })
    }
    /// Says that a cell changes, for changes that come without `check_frozen`.
    #[inline(always)]
    pub fn cell_changes(&mut self, v: Value) {
        if v.is_cell() && v.flags() & (flags::CAPTURED | flags::SHARED) == flags::CAPTURED {
            self.captured_cell_changes(v);
        }
    }
    #[cold]
    pub(crate) fn captured_cell_changes(&mut self, v: Value) {
        // What changes about a class is in its data.
        if v.is_kind(Kind::Class) {
            return;
        }
        clear_captured(v);
        if let Some(s) = &mut self.incremental_image {
            s.cell(v);
            if s.spent() {
                self.incremental_image = None;
            }
        }
    }
    /// Between marking and sweeping: forgets dead cells. A VM that captures no more doesn't keep its image for ever.
    pub(crate) fn sweep_standing(&mut self, heap: &Heap) {
        let Some(s) = &mut self.incremental_image else { return };
        s.idle += heap.is_full() as u32;
        if s.changes.any && s.idle > PATIENCE {
            self.incremental_image = None;
            return;
        }
        let alive = |v: &Value| heap.is_marked_or_new(v.header());
        s.envs.retain(|(e, _)| alive(e));
        s.untracked.retain(alive);
        s.thread = s.thread.filter(alive);
        s.changes.sweep(heap);
        s.levels.iter_mut().for_each(|l| l.changes.sweep(heap));
    }
}
