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
//! the root that holds it ([`Cx::own`]), so that a spawned VM pays for what it uses. Copies are remembered per template: what was one stays one.
//!
//! Invariants
//! - No template gets to Ruby code or into a VM's own cell. Whoever takes a value out of class data, globals or once-sites passes it through `own`. (One that
//!   is missed can't be changed all the same: templates are SHARED, so its mutation raises FrozenError.)
//! - A copy has the identity (`hash`, `object_id`) of the original. So stored hashes stay valid, and making copies runs no Ruby code.
//! - While nothing changed, the VM's last image stands: each captured cell has the CAPTURED flag, whose test is that of FROZEN, and every change of such a
//!   cell or of a table drops the image ([`Cx::changed`]). Environments have no test; their few slots are compared when the image is asked for.
//!
//! Rejected: a flat graph that each child rebuilds (exact too, but a spawn cost the whole program, and every VM held copies of all classes).
//!
//! [`VmState::snapshot`]: crate::vm::VmState::snapshot

mod build;
mod graph;
mod lazy;

pub use graph::Graph;

use crate::raise::Result;
use crate::vm::{ClassSlot, Cx, FastMap, Vm};
use graph::{Mode, Walk};
use std::sync::Arc;
use zakuro_base::Options;
use zakuro_heap::Region;
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
}

// SAFETY: immutable once sealed; payloads of data objects are kept as `Rebuild`, which is Send + Sync, never in the cells.
unsafe impl Send for Layer {}
// SAFETY: as above.
unsafe impl Sync for Layer {}

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
}

/// The last image that was made of a VM, while it stands.
pub(crate) struct Standing {
    image: Arc<Image>,
    /// The VM's cells -> the image's.
    map: Arc<FastMap<u64, Value>>,
    /// Captured environments with what was in them, in the order in which they were found.
    envs: Vec<(Value, Box<[Value]>)>,
    /// Shapes that the VM had made.
    shapes: u64,
    /// Data objects that may change unnoticed: each head brings their payloads.
    late: Vec<Value>,
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
            if let Some(now) = l.parts.redirects.get(&(v.0 as usize)) {
                v = *now;
            }
        }
        v
    }
    fn payload(&self, v: Value) -> Option<&(Rebuild, Box<[Value]>)> {
        self.find(|l| l.parts.data.get(&(v.0 as usize)))
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
        self.find(|l| l.vm.generic_ivars.get(&(v.0 as usize)))
    }
    pub(crate) fn object_id(&self, v: Value) -> Option<i64> {
        self.find(|l| l.vm.object_ids.get(&(v.0 as usize)).copied())
    }
    pub(crate) fn object_by_id(&self, id: i64) -> Option<Value> {
        self.find(|l| l.vm.object_ids.iter().find(|(_, i)| **i == id).map(|(p, _)| Value(*p as u64)))
    }
    pub(crate) fn identity(&self, v: Value) -> Option<u64> {
        self.find(|l| l.vm.identities.get(&(v.0 as usize)).copied())
    }
    /// Values of a Code's once-sites.
    pub(crate) fn once(&self, code: usize) -> Option<&[Value]> {
        self.find(|l| l.vm.code_states.get(&code).map(|s| &s.once[..]).filter(|o| o.iter().any(|v| !v.is_undef())))
    }
    /// Every cell, templates as they are.
    pub(crate) fn each_cell(&self, f: &mut dyn FnMut(Value)) {
        for l in &self.layers {
            l.cells.iter().for_each(|v| f(*v));
        }
    }
}

impl Cx {
    /// Says that program state changes: the last image is of the past.
    #[inline(always)]
    pub fn changed(&mut self) {
        if self.standing.is_some() {
            self.standing = None;
        }
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
        self.standing = None;
        // SAFETY: a live cell of this VM.
        unsafe { (*v.header()).flags &= !flags::CAPTURED }
    }

    /// The program state as it is now.
    pub fn capture(&mut self) -> Snapshot {
        let (image, map) = self.image_now();
        let state = self.head(&image, map, Value::NIL, true);
        Snapshot { image, state: Arc::new(state) }
    }
    /// A VM's start from the program state as it is now, and a root value of its own.
    pub fn seed(&mut self, root: Value) -> Seed {
        let (image, map) = self.image_now();
        let head = self.head(&image, map, root, true);
        Seed { image, state: None, head }
    }
    /// A VM's start from an earlier state, of this VM or another, and a root value of today.
    pub fn seed_from(&mut self, s: &Snapshot, root: Value) -> Seed {
        let head = self.head(&s.image, None, root, false);
        Seed { image: s.image.clone(), state: Some(s.state.clone()), head }
    }

    /// The graph of a value, with the libraries' state when `state`. `map`: the image is of this moment.
    fn head(&mut self, image: &Arc<Image>, map: Option<Arc<FastMap<u64, Value>>>, root: Value, state: bool) -> Graph {
        self.keep_codes();
        // Nothing new to take along.
        let known = self.standing.as_ref().is_some_and(|s| Arc::ptr_eq(&s.image, image) && s.shapes == self.shapes_made);
        let mut w = Walk::new(Mode::Value(image.clone(), map), (0, 0));
        w.graph.next_object_id = self.next_object_id;
        w.graph.regions = self.heap.regions();
        if !known {
            w.graph.kept = self.kept_layers.clone();
            let (shapes, transitions) = (&self.shapes, &self.transitions);
            shapes.each_own(&mut |id, s| {
                if image.top().shapes.get(id).is_none() {
                    w.graph.shapes.push((id, *s));
                }
            });
            w.graph.transitions.extend(transitions.iter().filter(|(k, _)| image.transition(**k).is_none()).map(|(k, s)| (*k, *s)));
        }
        if state {
            if let Some(t) = &mut self.threads {
                let t = t.current();
                if !(t.locals.is_nil() && t.variables.is_nil() && t.name.is_nil()) {
                    w.graph.thread = Some([t.locals, t.variables, t.name].map(|v| w.value(v)));
                }
            }
            let mut held = Vec::new();
            for s in self.states.values() {
                held.clear();
                if let Some(restore) = s.snapshot_state(&mut held) {
                    let span = w.span(&held);
                    w.graph.states.push((restore, span));
                }
            }
        }
        if state && let Some(s) = &self.standing {
            for v in &s.late {
                let (Some(d), Some(there)) = (Ref::<DataCell>::from_value(*v), s.map.get(&v.0)) else { continue };
                let mut held = Vec::new();
                if let Some(rebuild) = d.snapshot(&mut held) {
                    let span = w.span(&held);
                    w.graph.late.push((*there, rebuild, span));
                }
            }
        }
        w.graph.root = w.value(root);
        w.finish(self);
        w.graph
    }
    fn keep_codes(&mut self) {
        self.forked = true;
        if !self.kept_codes.is_empty() {
            let layer = std::mem::take(&mut self.kept_codes);
            self.kept_layers.push(Arc::new(layer));
        }
    }

    /// The image of this VM as it is now: the last one, if it still stands. With the map from cells to the image's, if that may be used.
    fn image_now(&mut self) -> (Arc<Image>, Option<Arc<FastMap<u64, Value>>>) {
        if let Some(s) = &self.standing
            && s.envs.iter().all(|(e, old)| same_env(*e, old))
        {
            return (s.image.clone(), Some(s.map.clone()));
        }
        self.standing = None;
        let s = self.make_image();
        let (image, map) = (s.image.clone(), s.map.clone());
        self.standing = Some(Box::new(s));
        (image, Some(map))
    }

    fn make_image(&mut self) -> Standing {
        self.keep_codes();
        let mut w = Walk::new(Mode::Program, self.image_size);
        w.graph.next_object_id = self.next_object_id;
        w.graph.regions = self.heap.regions();
        w.graph.kept = self.kept_layers.clone();
        self.shapes.each_own(&mut |id, s| w.graph.shapes.push((id, *s)));
        w.graph.transitions.extend(self.transitions.iter().map(|(k, s)| (*k, *s)));
        let mut classes = Vec::new();
        self.classes.each_own(&mut |_, slot| {
            if slot.own {
                // SAFETY: own slots point to live class data of this VM.
                let mut d = unsafe { (*slot.data).clone() };
                graph::each_value_mut(&mut d, &mut |v| w.value(v));
                classes.push(d);
            }
        });
        w.graph.classes = classes;
        let mut globals: FastMap<Sym, Value> = self.globals.iter().map(|(name, v)| (*name, w.value(*v))).collect();
        let mut main = w.value(self.main);
        let mut redirects: Vec<(usize, Value)> = self.memo.iter().map(|(t, own)| (*t, w.value(*own))).collect();
        if self.once_used {
            for s in self.code_states.values() {
                if s.once.iter().any(|v| !v.is_undef()) {
                    w.code(&**s);
                }
            }
        }
        w.finish(self);
        self.image_size = (w.cells.len(), w.graph.words.len() + 64);

        let Walk { graph, cells, late, .. } = w;
        let changeable = graph.changeable();
        let mut parts = Parts::default();
        let mut vm = Vm::for_image(self.boot, self.options.clone());
        if let Some(base) = &self.base {
            vm.share_tables(base.clone());
        }
        vm.script = self.script.clone();
        vm.redefined = self.redefined;
        vm.once_used = self.once_used;
        vm.global_aliases = self.global_aliases.clone();
        vm.const_places = self.const_places.clone();
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
        let mut map = FastMap::with_capacity_and_hasher(cells.len(), Default::default());
        let mut envs = Vec::new();
        for (n, v) in cells.iter().enumerate() {
            let there = made[n];
            if there.is_cell() && there.0 != 0 && changeable[n] {
                there.set_flags(TEMPLATE);
            }
            map.insert(v.0, there);
            v.set_flags(flags::CAPTURED);
            if v.is_kind(Kind::Env) {
                let e = Ref::<EnvCell>::of(*v);
                envs.push((*v, std::iter::once(e.parent).chain(e.slots().iter().copied()).collect()));
            }
        }
        let all = made.iter().copied().filter(|v| v.is_cell() && v.0 != 0).collect();
        drop(made);
        let layer = Layer { rows: vm.seal_rows(), vm, cells: all, parts };
        let mut layers = self.base.as_ref().map_or(Vec::new(), |b| b.layers.clone());
        layers.push(Arc::new(layer));
        Standing { image: Arc::new(Image { layers }), map: Arc::new(map), envs, shapes: self.shapes_made, late }
    }

    /// Takes a seed's program state over: for a new VM that has run nothing yet. Returns the copy of the root value.
    pub fn grow(&mut self, seed: Seed) -> Result<Value> {
        self.forked = true;
        self.share_tables(seed.image.clone());
        let top = seed.image.top();
        self.script = top.script.clone();
        self.options = top.options.clone();
        self.redefined = top.redefined;
        self.once_used |= top.once_used;
        self.next_object_id = self.next_object_id.max(top.next_object_id);
        if let Some(t) = seed.image.layers.last().and_then(|l| l.parts.thread) {
            let me = self.current_thread();
            self.memo.insert(t.0 as usize, me);
        }
        self.main = self.own(top.main);
        if let Some(state) = seed.state {
            self.build(Graph::clone(&state), None, &[], &mut |_, _| {});
        }
        let (made, root) = self.build(seed.head, None, &[], &mut |_, _| {});
        drop(made);
        Ok(root)
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
            self.classes = top.classes.share();
            self.shapes = top.shapes.share();
        }
        self.transitions = FastMap::default();
        self.globals = FastMap::default();
        self.global_aliases = top.global_aliases.clone();
        self.base = Some(image);
    }
}

/// Whether an environment holds what it held when it was captured. A captured cell that died since may have left its address to another, which then
/// has no CAPTURED flag.
fn same_env(e: Value, old: &[Value]) -> bool {
    let env = Ref::<EnvCell>::of(e);
    let same = |now: Value, then: Value| now == then && (!now.is_cell() || now.0 == 0 || now.flags() & flags::CAPTURED != 0);
    same(env.parent, old[0]) && env.slots().iter().zip(&old[1..]).all(|(now, then)| same(*now, *then))
}

impl Vm {
    /// A VM for a layer: never run, collected only as a whole.
    fn for_image(boot: Option<&'static crate::boot::BootImage>, options: Arc<Options>) -> Box<Vm> {
        let poll = Arc::new(zakuro_sched::PollWord::new());
        let mut vm = match boot {
            Some(b) => Vm::new(b, options, poll),
            None => unreachable!("images are made of VMs that started from the boot image"),
        };
        vm.gc_disabled = true;
        vm.gc_stress = false;
        vm
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
            *self.classes.slot(*id) = Some(ClassSlot { data: *data, own: false });
        }
        own.into_iter().map(|(_, d)| d).collect()
    }
}
