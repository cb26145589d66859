//! Images: the program state of a VM, sealed, and the VMs that start from it.
//!
//! *Program state*: own class data (methods, constants, class variables, singleton classes, ...), shapes, globals, the main object, instance
//! variables beside the layouts, object ids, the current thread's locals, and what libraries declare ([`VmState::snapshot`]) — with everything that
//! can be reached from there. What runs is left behind, as after fork(2): other threads and fibers are dead, locks free; `at_exit` blocks and traps
//! stay with the VM that set them.
//!
//! An image is to its VMs what the boot image is to all: a sealed heap and tables ([`Layer`]) that they read where they are. Starting a VM shares page
//! pointers; what it changes later is its own copy. In the sealed heap a cell is either *shared*, because neither it nor anything that it leads to can
//! change (classes, methods, scopes, frozen data), or a *template*: a VM never works with a template, but with its own copy, made when it first reads
//! the root that holds it ([`Cx::instantiate`]), so that a spawned VM pays for what it uses. Copies are remembered per template: what was one stays one.
//!
//! Invariants
//! - No template gets to Ruby code or into a VM's own cell. Whoever takes a value out of class data, globals or once-sites passes it through `own`. (One that
//!   is missed can't be changed all the same: templates are SHARED, so its mutation raises FrozenError.)
//! - A copy has the identity (`hash`, `object_id`) of the original. So stored hashes stay valid, and making copies runs no Ruby code.
//! - While nothing changed, the VM's last image stands: each captured cell has the CAPTURED flag, whose test is that of FROZEN, and every change of such a
//!   cell or of a table is noted ([`change`]); the next capture is a layer with those alone. Environments have no test; their few slots are compared when the image is asked for.
//!
//! Rejected: a flat graph that each child rebuilds (exact too, but a spawn cost the whole program, and every VM held copies of all classes).
//!
//! [`VmState::snapshot`]: crate::vm::VmState::snapshot

mod build;
mod change;
#[cfg(debug_assertions)]
mod check;
mod file;
mod graph;
mod lazy;

pub use file::LARGEST as LARGEST_FILE;
pub use graph::Graph;

use crate::account::Activity;
use crate::channels::Charge;
use crate::make::RootedVec;
use crate::raise::Result;
use crate::vm::{ClassSlot, Cx, FastMap, Vm};
pub(crate) use change::IncrementalImage;
use change::{Changes, Level};
use graph::{Beyond, Mode, Walk};
use std::sync::Arc;
use zakuro_base::Options;
use zakuro_heap::{BufRef, Region};
use zakuro_object::*;

/// A run of values in a graph.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    len: usize,
}

/// What an image keeps of cells that only mean something in a running VM.
#[derive(Default)]
struct Parts {
    /// How to make the payloads of data objects, and the values that they hold.
    data: FastMap<usize, (Rebuild, Box<[Value]>)>,
    /// Data objects that have no payload in a VM, and what it was.
    lost: FastMap<usize, &'static str>,
    /// Hashes that a VM has to make anew before it runs anything, after they came from a file.
    stale: UntracedVec,
    /// The main thread's object.
    thread: Option<Value>,
    /// Templates of older layers that the VM had copied: where they are now.
    redirects: FastMap<usize, Value>,
}

/// What one capture added: a sealed VM that never runs. Its cells and class data refer to lower layers, never to higher ones.
struct Layer {
    vm: Box<Vm>,
    /// Class data that this layer made.
    rows: Vec<*mut ClassData>,
    /// Every cell.
    cells: Box<[Value]>,
    parts: Parts,
    /// What it takes counts for the limited VM that captured it, and its family, as long as any image or VM has it.
    _charge: Option<Charge>,
}

// SAFETY: immutable once sealed; payloads of data objects are kept as `Rebuild`, which is Send + Sync, never in the cells.
unsafe impl Send for Layer {}
// SAFETY: as above.
unsafe impl Sync for Layer {}

/// The cell whose address stands in one of the VM's tables, which lose those of cells that died.
pub(super) fn cell_at(address: u64) -> Value {
    // SAFETY: as said.
    unsafe { Value::from_bits(address) }
}

impl Drop for Layer {
    fn drop(&mut self) {
        for p in self.rows.drain(..) {
            // SAFETY: made by Box::into_raw for this layer alone, and no VM holds the layer any more.
            drop(unsafe { Box::from_raw(p) });
        }
    }
}

/// See the module.
pub struct Image {
    /// The VM's own layer last, those of the images that it came from before it. A list, so that a long line of forks is dropped without recursion.
    layers: Vec<Arc<Layer>>,
}

/// An image, and what is made anew for each capture because libraries may change it at any time.
#[derive(Clone)]
pub struct Snapshot {
    image: Arc<Image>,
    state: Arc<Graph>,
    /// What a VM runs that is given nothing else: a Proc, from the file that the image was loaded from.
    main: Option<Arc<Graph>>,
}

impl Snapshot {
    /// Number of objects in it.
    pub fn objects(&self) -> usize {
        self.image.layers.iter().map(|l| l.cells.len()).sum()
    }
}

/// What a new VM grows from.
pub struct Seed {
    image: Arc<Image>,
    state: Option<Arc<Graph>>,
    /// Its root value is what [`Cx::grow`] returns.
    head: Graph,
    /// Until the new VM has taken it over, whose it is from then on.
    _charge: Option<Charge>,
}

/// What a layer is made of.
#[derive(Default)]
struct Roots {
    classes: Vec<*const ClassData>,
    globals: Vec<Sym>,
    /// Templates of the image that the VM started from.
    copies: Vec<usize>,
    once: Vec<usize>,
    /// Cells that changed, and what they were captured as.
    cells: Vec<(Value, Value)>,
    /// Cells that were asked for their object id, and may be below.
    ids: Vec<u64>,
    /// Cells and words to expect.
    room: (usize, usize),
}

/// An image with a new layer, and what the VM has to remember of it.
struct Made {
    image: Arc<Image>,
    cells: Vec<(u64, Value)>,
    words: usize,
    envs: Vec<(Value, Box<[Value]>)>,
    untracked: UntracedVec,
    thread: Option<Value>,
}

impl Image {
    fn top(&self) -> &Vm {
        match self.layers.last() {
            Some(l) => &l.vm,
            None => unreachable!("an image has a layer"),
        }
    }
    /// Looks from the newest layer to the oldest.
    fn find<'a, T>(&'a self, f: impl FnMut(&'a Arc<Layer>) -> Option<T>) -> Option<T> {
        self.layers.iter().rev().find_map(f)
    }
    /// Regions that its cells refer to: each layer's heap, never collected, holds them.
    fn regions(&self) -> Vec<Region> {
        self.layers.iter().flat_map(|l| l.vm.heap.regions()).collect()
    }
    fn has_class(&self, id: ClassId) -> bool {
        self.top().classes.get(id.0).is_some()
    }
    /// Where a template of an older layer is now.
    fn resolve(&self, mut v: Value) -> Value {
        for l in &self.layers {
            if let Some(now) = l.parts.redirects.get(&(v.bits() as usize)) {
                v = *now;
            }
        }
        v
    }
    fn payload(&self, v: Value) -> Option<&(Rebuild, Box<[Value]>)> {
        self.find(|l| l.parts.data.get(&(v.bits() as usize)))
    }
    pub(crate) fn global(&self, name: Sym) -> Option<Value> {
        self.find(|l| l.vm.globals.get(&name).copied())
    }
    pub(crate) fn global_names(&self) -> Vec<Sym> {
        let mut names: Vec<Sym> = self.layers.iter().flat_map(|l| l.vm.globals.keys().copied()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
    pub(crate) fn transition(&self, key: (u32, Sym)) -> Option<u32> {
        self.find(|l| l.vm.transitions.get(&key).copied())
    }
    pub(crate) fn const_place(&self, key: (ClassId, Sym)) -> Option<(Arc<str>, u32)> {
        self.find(|l| l.vm.const_places.get(&key).cloned())
    }
    pub(crate) fn generic_list(&self, v: Value) -> Option<&Vec<(Sym, Value)>> {
        self.find(|l| l.vm.generic_ivars.get(&(v.bits() as usize)))
    }
    pub(crate) fn object_id(&self, v: Value) -> Option<i64> {
        self.find(|l| l.vm.object_ids.get(&(v.bits() as usize)).copied())
    }
    pub(crate) fn object_by_id(&self, id: i64) -> Option<Value> {
        self.find(|l| l.vm.object_ids.iter().find(|(_, i)| **i == id).map(|(p, _)| cell_at(*p as u64)))
    }
    pub(crate) fn identity(&self, v: Value) -> Option<u64> {
        self.find(|l| l.vm.identities.get(&(v.bits() as usize)).copied())
    }
    /// Values of a Code's once-sites.
    pub(crate) fn once(&self, code: usize) -> Option<&[Value]> {
        self.find(|l| l.vm.code_states.get(&code).map(|s| &s.once[..]).filter(|o| o.iter().any(|v| !v.is_undef())))
    }
    /// The tables of its layers.
    pub(crate) fn each_table(&self, f: &mut dyn FnMut(&Vm)) {
        self.layers.iter().for_each(|l| f(&l.vm));
    }
    /// Every cell, templates as they are.
    pub(crate) fn each_cell(&self, f: &mut dyn FnMut(Value)) {
        for l in &self.layers {
            l.cells.iter().for_each(|v| f(*v));
        }
    }
}

impl Cx {
    /// The program state as it is now.
    pub fn capture(&mut self) -> Snapshot {
        let (image, state) = self.with_room(|cx| {
            let (image, map) = cx.image_now();
            let state = cx.head(&image, map, Value::NIL, true);
            (image, state)
        });
        Snapshot { image, state: Arc::new(state), main: None }
    }
    /// Makes copies, and makes them once more when descriptors were short: nothing can be collected in the middle, and streams that nobody has any more may still be open.
    fn with_room<T>(&mut self, mut make: impl FnMut(&mut Cx) -> T) -> T {
        let before = self.begin_activity(Activity::Image);
        self.copies_begin();
        let mut made = make(self);
        if self.life.descriptors_short.get() {
            // They have descriptors themselves.
            drop(made);
            self.made_room();
            made = make(self);
        }
        self.end_activity(before);
        made
    }
    /// A VM's start from the program state as it is now, and a root value of its own.
    pub fn seed(&mut self, root: Value) -> Seed {
        let (image, head) = self.with_room(|cx| {
            let (image, map) = cx.image_now();
            let head = cx.head(&image, map, root, true);
            (image, head)
        });
        let _charge = self.charge(head.bytes(), head.shared());
        Seed { image, state: None, head, _charge }
    }
    /// A VM's start from an earlier state, of this VM or another, and a root value of today.
    pub fn seed_from(&mut self, s: &Snapshot, root: Value) -> Seed {
        let head = self.with_room(|cx| cx.head(&s.image, None, root, false));
        let _charge = self.charge(head.bytes(), head.shared());
        Seed { image: s.image.clone(), state: Some(s.state.clone()), head, _charge }
    }

    /// The graph of a value, with the libraries' state when `state`. `map`: the image is of this moment.
    fn head(&mut self, image: &Arc<Image>, map: Option<Arc<FastMap<u64, Value>>>, root: Value, state: bool) -> Graph {
        self.keep_codes();
        // Nothing new to take along.
        let known = self.incremental_image.as_ref().is_some_and(|s| Arc::ptr_eq(&s.image, image));
        let mut w = Walk::new(Mode::Value(image.clone(), map), (0, 0));
        w.graph.next_object_id = self.next_object_id;
        w.graph.regions = self.heap.regions();
        if !known {
            w.graph.kept = self.kept_layers.clone();
        }
        w.beyond = if known { None } else { Beyond::of(self, image) };
        if let Some(beyond) = &w.beyond {
            w.graph.regions.extend(beyond.regions());
            w.graph.kept.extend(beyond.kept_codes().cloned());
        }
        if state {
            if let Some(t) = &mut self.threads {
                let t = t.current();
                if !(t.locals.is_nil() && t.variables.is_nil() && t.name.is_nil()) {
                    w.graph.thread = Some([t.locals, t.variables, t.name].map(|v| w.value(v)));
                }
            }
            let mut held = Gathered::new(&self.heap);
            for s in self.states.values() {
                held.clear();
                if let Some(restore) = s.snapshot_state(&mut held) {
                    let span = w.span(&held);
                    w.graph.states.push((restore, span));
                }
            }
        }
        if state && let Some(s) = &self.incremental_image {
            for v in &s.untracked {
                let (Some(d), Some(there)) = (Ref::<DataCell>::from_value(*v), s.map.get(&v.bits())) else { continue };
                let mut held = Gathered::new(&self.heap);
                if let Some(rebuild) = d.snapshot(&mut held) {
                    let span = w.span(&held);
                    w.graph.untracked.push((*there, rebuild, span));
                }
            }
        }
        w.graph.root = w.value(root);
        w.finish(self);
        // After the walk: it makes shapes for exceptions.
        match &self.incremental_image {
            Some(s) if known => {
                w.graph.shapes.extend(s.changes.shapes.iter().filter_map(|id| self.shapes.get(*id).map(|s| (*id, *s))));
                let new = s.changes.transitions.iter().filter_map(|k| self.transitions.get(k).map(|s| (*k, *s)));
                w.graph.transitions.extend(new);
            }
            _ => {
                let mut lacking = |id: u32, s: &ShapeInfo| {
                    if image.top().shapes.get(id).is_none() {
                        w.graph.shapes.push((id, *s));
                    }
                };
                self.shapes.each_own(&mut lacking);
                if let Some(beyond) = &w.beyond {
                    beyond.shapes(&mut lacking);
                }
                let transitions = self.transitions.iter().chain(w.beyond.iter().flat_map(Beyond::transitions));
                w.graph.transitions.extend(transitions.filter(|(k, _)| image.transition(**k).is_none()).map(|(k, s)| (*k, *s)));
            }
        }
        w.graph
    }
    fn keep_codes(&mut self) {
        self.forked = true;
        self.forget_freed();
        self.captures += 1;
        if !self.kept_codes.is_empty() {
            let mut layer = std::mem::take(&mut self.kept_codes);
            // Few of them, however often something is compiled between two captures.
            while let Some(last) = self.kept_layers.pop_if(|last| last.len() <= 2 * layer.len()) {
                layer.extend(last.iter().map(|(k, c)| (*k, c.clone())));
            }
            self.kept_layers.push(Arc::new(layer));
        }
    }

    /// The image of this VM as it is now: the last one, if it still stands, or with what changed in a layer above it. With the map from cells to the image's.
    fn image_now(&mut self) -> (Arc<Image>, Option<Arc<FastMap<u64, Value>>>) {
        let thread = self.threads.as_mut().map(|t| t.current().object).filter(|o| o.is_cell() && o.bits() != 0);
        let stands = self.incremental_image.take().and_then(|mut s| {
            // Another thread captures than before: another Thread object is to be the main one.
            let known = thread.is_some_and(|t| t.flags() & flags::CAPTURED != 0 && s.map.contains_key(&t.bits()));
            if (s.thread.is_some() || known) && s.thread != thread {
                return None;
            }
            s.compare_envs();
            if !s.changes.any {
                return Some(s);
            }
            s.make_room().then(|| self.add_level(s))
        });
        let mut s = match stands {
            Some(s) => s,
            None => self.make_image(),
        };
        s.idle = 0;
        let now = (s.image.clone(), Some(s.map.clone()));
        self.incremental_image = Some(s);
        now
    }

    /// Captures everything.
    fn make_image(&mut self) -> Box<IncrementalImage> {
        let mut classes = Vec::new();
        self.classes.each_own(&mut |_, slot| {
            if slot.own {
                classes.push(slot.data.cast_const());
            }
        });
        let roots = Roots {
            classes,
            globals: self.globals.keys().copied().collect(),
            copies: self.memo.keys().copied().collect(),
            once: if self.once_used { self.code_states.keys().copied().collect() } else { Vec::new() },
            ids: self.object_ids.keys().map(|p| *p as u64).filter(|p| cell_at(*p).flags() & flags::SHARED != 0).collect(),
            room: self.image_size,
            ..Roots::default()
        };
        let base = self.base.clone();
        let made = self.make_layer(base, None, roots);
        self.image_size = (made.cells.len(), made.words + 64);
        Box::new(IncrementalImage {
            image: made.image,
            map: Arc::new(made.cells.iter().copied().collect()),
            levels: vec![Level { cells: made.cells, changes: Changes::default() }],
            changes: Changes::default(),
            envs: made.envs,
            untracked: made.untracked,
            thread: made.thread,
            idle: 0,
        })
    }
    /// Captures what changed since.
    fn add_level(&mut self, mut s: Box<IncrementalImage>) -> Box<IncrementalImage> {
        let changes = std::mem::take(&mut s.changes);
        let roots = Roots {
            // SAFETY: as in `Cx::class`.
            classes: changes.classes.iter().filter_map(|id| self.classes.get(*id)).filter(|c| c.own).map(|c| c.data.cast_const()).collect(),
            globals: changes.globals.iter().copied().collect(),
            copies: changes.copies.iter().copied().collect(),
            once: changes.once.iter().copied().collect(),
            cells: changes.cells.iter().map(|(v, old)| (cell_at(*v), *old)).collect(),
            ids: changes.ids.iter().copied().collect(),
            room: (0, 0),
        };
        let below = self.base.as_ref().map_or(0, |b| b.layers.len()) + s.levels.len();
        let under = Arc::new(Image { layers: s.image.layers[..below].to_vec() });
        let made = self.make_layer(Some(under), Some((s.map.clone(), &changes)), roots);
        let map = Arc::make_mut(&mut s.map);
        map.extend(made.cells.iter().copied());
        let new: std::collections::HashSet<u64> = made.cells.iter().map(|c| c.0).collect();
        s.envs.retain(|(e, _)| !new.contains(&e.bits()));
        s.envs.extend(made.envs);
        s.untracked.retain(|v| !new.contains(&v.bits()));
        s.untracked.extend_from_slice(&made.untracked);
        s.thread = made.thread.or(s.thread);
        s.image = made.image;
        s.levels.push(Level { cells: made.cells, changes });
        #[cfg(debug_assertions)]
        self.check_image(&s);
        s
    }
    /// A layer above `under`. `delta`: what `under` has, and what changed since.
    fn make_layer(&mut self, under: Option<Arc<Image>>, delta: Option<(Arc<FastMap<u64, Value>>, &Changes)>, roots: Roots) -> Made {
        self.keep_codes();
        let mut w = Walk::new(Mode::Program(delta.as_ref().map(|d| d.0.clone())), roots.room);
        w.graph.next_object_id = self.next_object_id;
        w.graph.regions = self.heap.regions();
        w.graph.kept = self.kept_layers.clone();
        for data in &roots.classes {
            // SAFETY: own slots point to live class data of this VM.
            let mut d = unsafe { (**data).clone() };
            graph::each_value_mut(&mut d, &mut |v| w.value(v));
            w.graph.classes.push(d);
        }
        let mut globals: FastMap<Sym, Value> =
            roots.globals.iter().filter_map(|name| self.globals.get(name).map(|v| (*name, w.value(*v)))).collect();
        let mut main = w.value(self.main);
        let mut redirects: Vec<(usize, Value)> =
            roots.copies.iter().filter_map(|t| self.memo.get(t).map(|own| (*t, w.value(*own)))).collect();
        redirects.extend(roots.cells.iter().map(|(v, old)| (old.bits() as usize, w.value(*v))));
        for key in &roots.once {
            if let Some(s) = self.code_states.get(key)
                && s.once.iter().any(|v| !v.is_undef())
            {
                w.code(&**s);
            }
        }
        w.finish(self);
        // After the walk: it makes shapes for exceptions.
        match &delta {
            None => {
                self.shapes.each_own(&mut |id, s| w.graph.shapes.push((id, *s)));
                w.graph.transitions.extend(self.transitions.iter().map(|(k, s)| (*k, *s)));
            }
            Some((_, changes)) => {
                w.graph.shapes.extend(changes.shapes.iter().filter_map(|id| self.shapes.get(*id).map(|s| (*id, *s))));
                w.graph.transitions.extend(changes.transitions.iter().filter_map(|k| self.transitions.get(k).map(|s| (*k, *s))));
            }
        }

        let Walk { graph, cells, untracked, known, .. } = w;
        let words = graph.words.len();
        let shared: Vec<BufRef> = if self.has_memory_limit() { graph.shared().cloned().collect() } else { Vec::new() };
        let changeable = graph.changeable();
        let mut parts = Parts::default();
        let mut vm = Vm::for_layer(self.boot, self.options.clone());
        if let Some(under) = &under {
            vm.share_tables(under.clone());
        }
        vm.script = self.script.clone();
        vm.redefined = self.redefined & !crate::methods::fast::TRACED;
        vm.hash_mask = self.hash_mask;
        vm.once_used = self.once_used;
        vm.global_aliases = self.global_aliases.clone();
        vm.const_places = match &delta {
            None => self.const_places.clone(),
            Some((_, c)) => c.places.iter().filter_map(|k| self.const_places.get(k).map(|p| (*k, p.clone()))).collect(),
        };
        vm.image_size = self.image_size;
        let (made, _) = vm.build(graph, Some(&mut parts), &[], &mut |_, fix| {
            globals.values_mut().for_each(|v| *v = fix(*v));
            main = fix(main);
            redirects.iter_mut().for_each(|(_, v)| *v = fix(*v));
        });
        vm.globals = globals;
        vm.main = main;
        parts.redirects = redirects.into_iter().collect();
        vm.heap.each_cell(&mut |c| {
            // SAFETY: each_cell hands out live cells of this heap.
            unsafe { (*c).flags |= flags::SHARED | flags::CAPTURED }
        });
        let mut pairs = Vec::with_capacity(cells.len());
        let mut envs = Vec::new();
        let mut thread = None;
        for (n, v) in cells.iter().enumerate() {
            let there = made[n];
            if there.is_cell() && there.bits() != 0 && changeable[n] {
                there.set_flags(TEMPLATE);
            }
            pairs.push((v.bits(), there));
            v.set_flags(flags::CAPTURED);
            if v.is_kind(Kind::Env) {
                let e = Ref::<EnvCell>::of(*v);
                envs.push((*v, std::iter::once(e.parent).chain(e.slots().iter().copied()).collect()));
            }
            if parts.thread == Some(there) {
                thread = Some(*v);
            }
        }
        // What cells of lower layers were asked for since.
        let at: FastMap<u64, Value> = pairs.iter().copied().filter(|_| !roots.ids.is_empty()).collect();
        for v in &roots.ids {
            let there = match &delta {
                _ if cell_at(*v).flags() & flags::SHARED != 0 => Some(cell_at(*v)),
                Some((map, _)) if !at.contains_key(v) => map.get(v).copied(),
                _ => None,
            };
            if let (Some(there), Some(id)) = (there, self.object_ids.get(&(*v as usize))) {
                vm.object_ids.insert(there.bits() as usize, *id);
            }
        }
        vm.identities.extend(known.iter().map(|(v, identity)| (v.bits() as usize, *identity)));
        if let Some(under) = &under {
            // Hashes of lower layers go by these.
            for (v, old) in &roots.cells {
                if let (Some(identity), Some(there)) = (under.identity(*old), parts.redirects.get(&(old.bits() as usize))) {
                    debug_assert_eq!(self.identity(*v), identity);
                    vm.identities.insert(there.bits() as usize, identity);
                }
            }
        }
        let all = made.iter().copied().filter(|v| v.is_cell() && v.bits() != 0).collect();
        drop(made);
        // Whoever has the layer has an image that holds those below. (Through each other, a long line of them would be dropped by recursion.)
        vm.base = None;
        let all: Box<[Value]> = all;
        let _charge = self.charge(vm.heap.used() + shared.iter().map(BufRef::cap).sum::<usize>() + size_of_val(&*all), shared.iter());
        let layer = Layer { rows: vm.seal_rows(), vm, cells: all, parts, _charge };
        let mut layers = under.as_ref().map_or(Vec::new(), |b| b.layers.clone());
        layers.push(Arc::new(layer));
        Made { image: Arc::new(Image { layers }), cells: pairs, words, envs, untracked, thread }
    }

    /// Takes a seed's program state over: for a new VM that has run nothing yet. Returns the copy of the root value.
    ///
    /// # Errors
    /// A `hash` method of the program raises, which Hashes of an image that came from a file need.
    pub fn restore_image(&mut self, seed: Box<Seed>) -> Result<Value> {
        let before = self.begin_activity(Activity::Image);
        let mut kept = RootedVec::new(self);
        // A VM that then waits would hold on to the page of its stack that this needs. Nothing collects meanwhile.
        let root = zakuro_sched::on_native_stack(|| self.restore(seed, &mut kept));
        kept.push(root);
        self.end_activity(before);
        for i in 0..kept.len() - 1 {
            if let Some(h) = Ref::<HashCell>::from_value(kept[i]) {
                self.rehash(h)?;
            }
        }
        Ok(root)
    }
    /// `stale`: gets the Hashes to make anew.
    fn restore(&mut self, seed: Box<Seed>, stale: &mut RootedVec) -> Value {
        self.forked = true;
        self.share_tables(seed.image.clone());
        let top = seed.image.top();
        self.script = top.script.clone();
        self.options = top.options.clone();
        self.redefined = top.redefined;
        self.hash_mask = top.hash_mask;
        self.once_used |= top.once_used;
        self.next_object_id = self.next_object_id.max(top.next_object_id);
        if let Some(t) = seed.image.find(|l| l.parts.thread) {
            let me = self.current_thread();
            self.memo.insert(seed.image.resolve(t).bits() as usize, me);
        }
        self.main = self.instantiate(top.main);
        for l in &seed.image.layers {
            for v in &l.parts.stale {
                let own = self.instantiate(*v);
                stale.push(own);
            }
        }
        if let Some(state) = seed.state {
            let (made, _) = self.build(Graph::clone(&state), None, &[], &mut |_, _| {});
            state.stale.iter().for_each(|n| stale.push(made[*n]));
        }
        let own = seed.head.stale.clone();
        let (made, root) = self.build(seed.head, None, &[], &mut |_, _| {});
        own.iter().for_each(|n| stale.push(made[*n]));
        root
    }
    /// Whether values of this VM may be cells of a region or of the image that it grew from.
    pub(crate) fn holds_foreign_cells(&self) -> bool {
        self.base.is_some() || self.heap.region_stats().0 > 0
    }
    /// Whether a SHARED cell is one of the boot image's, which every VM has: neither a region's nor of the image that this VM grew from, which lives no longer
    /// than the VMs that hold it.
    pub(crate) fn is_of_boot(&self, v: Value) -> bool {
        let of_image = |i: &Arc<Image>| i.layers.iter().any(|l| l.vm.heap.owns(v.header()));
        self.heap.region_of(v.header()).is_none() && !self.base.as_ref().is_some_and(of_image)
    }
    /// Makes the image's tables the lowest layer of this VM's.
    fn share_tables(&mut self, image: Arc<Image>) {
        let top = image.top();
        // SAFETY: the image's tables don't change, and this VM holds the image as long as it lives.
        unsafe {
            self.class_near.1 = std::ptr::null();
            self.classes = top.classes.share();
            self.shapes = top.shapes.share();
        }
        self.transitions = FastMap::default();
        self.slots_known.forget();
        self.globals = FastMap::default();
        self.global_aliases = top.global_aliases.clone();
        self.base = Some(image);
    }
}

impl Vm {
    /// A VM for a layer: never run, collected only as a whole.
    fn for_layer(boot: Option<&'static crate::boot::BootImage>, options: Arc<Options>) -> Box<Vm> {
        match boot {
            Some(b) => Vm::bare(b, options),
            None => unreachable!("images are made of VMs that started from the boot image"),
        }
    }
    /// Makes the class data of this VM the layer's: shared by those that look at its table.
    fn seal_rows(&mut self) -> Vec<*mut ClassData> {
        let mut own = Vec::new();
        self.classes.each_own(&mut |id, s| {
            if s.own {
                own.push((id, s.data));
            }
        });
        for (id, data) in &own {
            self.class_near.1 = std::ptr::null();
            *self.classes.slot(*id) = Some(ClassSlot { data: *data, own: false });
        }
        own.into_iter().map(|(_, d)| d).collect()
    }
}
