//! Deep-frozen graphs by reference: the first send copies a graph into a region, every later one, by anybody, costs the same whatever its size.
//!
//! The sender's cells can't become the region's (cells don't move), so the VM remembers which of its cells have a copy in a region
//! ([`SharedRoots`], weak in the cell). A receiver gets the region's cells themselves and sends them on as they are.
//!
//! What qualifies: cells that are frozen with all that they refer to, of kinds whose content says everything (module `graft`), without instance
//! variables beside their layout, of classes whose builtin part keeps no state of its own. Whatever doesn't qualify is copied as ever: this is
//! an optimisation that a program can't see but by its speed.
//!
//! *Classes.* Cells carry shape numbers, which are unique in the process. The region's [`Manifest`] says what its shapes mean; a receiver that doesn't
//! know them enters them in its own table, with its own class of the same name. When that can't be (the class is another one by now, or
//! builds on another kind of object) the receiver makes its own copy.
//!
//! *Hash codes.* Codes of Strings, numbers and Symbols are the same in every VM: seed (the process's), content and Symbol numbers are all that
//! goes in. Keys of other kinds qualify only if builtin methods compute their codes; these are computed anew for the region's cells
//! (identity is the address, which all VMs see alike).
//!
//! Rejected
//! - Asking for the whole graph before copying: two passes over a million cells. The copier asks cell by cell and gives up.
//! - Regions for small graphs: blocks and ledger cost more than the copy.

use super::{ClassRef, Envelope, SHARE_FROM};
use crate::make::RootedVec;
use crate::raise::Result;
use crate::vm::{Cx, FastMap, VmState};
use zakuro_base::Sym;
use zakuro_heap::{Heap, Region};
use zakuro_object::graft::{redirect, twin};
use zakuro_object::*;

/// Graphs of no more cells are copied. A copy of so many costs about as much as what a region needs: blocks, the ledger's lock, a collection's notes.
const SMALL: usize = 128;
/// Cells that one message may look at in vain, beside a share of what it copies anyway.
const BUDGET: usize = 4096;

/// Cells of this VM that have a copy in a region: address to region and the copy's address.
#[derive(Default)]
struct SharedRoots(FastMap<usize, (Region, u64)>);

impl Trace for SharedRoots {
    /// An entry goes when its cell dies; copies in regions are not traced.
    fn trace(&self, _: &mut Marker<'_>) {
        let SharedRoots(_) = self;
    }
}
impl VmState for SharedRoots {
    fn sweep(&mut self, heap: &Heap) {
        self.0.retain(|cell, _| heap.is_marked_or_new(*cell as *mut Header));
    }
}

/// What a message has learned while looking for graphs to share.
#[derive(Default)]
pub(super) struct Attempts {
    /// Cells of graphs that are small or don't qualify.
    vain: FastMap<u64, ()>,
    looked_at: usize,
    /// Regions in the message, by key.
    weighed: FastMap<usize, ()>,
}

impl Attempts {
    /// Whether it is known by a look at flags and references alone (no shapes, no classes) that a frozen object's graph is small, has something in
    /// it that can change, or that enough has been looked at. `copied`: objects of the message so far.
    pub(super) fn is_small(&mut self, heap: &Heap, v: Value, copied: usize) -> bool {
        if self.vain.contains_key(&v.bits()) || self.looked_at > BUDGET + copied / 8 {
            return true;
        }
        let mut seen = UntracedVec::filled(v, 1);
        let mut at = 0;
        while let Some(v) = seen.get(at).copied() {
            at += 1;
            // Tables of frozen Sets are not frozen themselves.
            if v.settled_flags() & flags::FROZEN == 0 && !matches!(v.kind_of_cell(), Kind::Float | Kind::Bignum | Kind::Hash) {
                break;
            }
            let large = each_reference(heap, v, &mut |x| {
                if x.is_cell() && x.bits() != 0 && x.flags() & flags::SHARED == 0 && !seen.contains(&x) {
                    seen.push(x);
                }
                seen.len() > SMALL
            });
            if large {
                return false;
            }
        }
        self.looked_at += seen.len();
        true
    }
}

/// What the shape numbers in a region mean.
#[derive(Default)]
struct Manifest {
    classes: Vec<ClassRow>,
    /// Parents before children. Shapes of the boot image are known to everybody.
    shapes: Vec<ShapeRow>,
}

struct ClassRow {
    class: ClassRef,
    alloc: Alloc,
    /// Of a Struct or Data class.
    members: Option<Vec<Sym>>,
    /// Some key's hash code depends on the class's number.
    in_key: bool,
}

struct ShapeRow {
    id: ShapeId,
    class: u32,
    parent: ShapeId,
    name: Sym,
    count: u16,
}

impl Manifest {
    /// Row of a class.
    fn class(&mut self, class: &ClassRef, alloc: Alloc, members: &Option<Vec<Sym>>) -> u32 {
        let at = self.classes.iter().position(|r| r.class.id == class.id).unwrap_or_else(|| {
            self.classes.push(ClassRow { class: *class, alloc, members: members.clone(), in_key: false });
            self.classes.len() - 1
        });
        at as u32
    }
    fn add(&mut self, other: &Manifest, known: &mut FastMap<ShapeId, ()>) {
        let rows: Vec<u32> = other.classes.iter().map(|r| self.class(&r.class, r.alloc, &r.members)).collect();
        for (row, at) in other.classes.iter().zip(&rows) {
            self.classes[*at as usize].in_key |= row.in_key;
        }
        for s in &other.shapes {
            if known.insert(s.id, ()).is_none() {
                self.shapes.push(ShapeRow { class: rows[s.class as usize], ..*s });
            }
        }
    }
}

/// The builtin class that an object's class builds on may be one whose objects keep no state but their variables.
fn is_plain(class: ClassId) -> bool {
    matches!(class, ids::OBJECT | ids::BASIC_OBJECT | ids::STRUCT | ids::DATA | ids::SET)
}

struct Copier<'a> {
    cx: &'a mut Cx,
    heap: Heap,
    seen: FastMap<u64, Value>,
    /// Copies whose references are still the old ones.
    work: UntracedVec,
    held: Vec<Region>,
    held_keys: FastMap<usize, ()>,
    manifest: Manifest,
    /// Shapes that were asked about: whether their objects qualify.
    shapes: FastMap<ShapeId, bool>,
    /// Shapes in the manifest.
    entered: FastMap<ShapeId, ()>,
    /// Some cell of this VM has a copy in a region already.
    roots: bool,
    /// Hashes with keys whose codes may change; they follow the keys' addresses or run `hash`.
    hashes: UntracedVec,
    failed: bool,
}

enum Look {
    Small,
    Large,
    Unfit,
}

impl Cx {
    /// A frozen object as a reference into a region, when that can be. `attempts` belongs to the message.
    pub(super) fn pack_by_reference(&mut self, attempts: &mut Attempts, v: Value, copied: usize) -> Option<(Region, u64)> {
        let flags = v.flags();
        if flags & flags::FROZEN == 0 || !matches!(v.kind_of_cell(), Kind::Array | Kind::Hash | Kind::Object) {
            return None;
        }
        if flags & flags::SHARED != 0 {
            return self.heap.region_of(v.header()).cloned().map(|region| (region, v.bits()));
        }
        if let Some((region, cell)) = self.state::<SharedRoots>().0.get(&(v.bits() as usize)) {
            return Some((region.clone(), *cell));
        }
        if attempts.vain.contains_key(&v.bits()) || attempts.looked_at > BUDGET + copied / 8 {
            return None;
        }
        match self.look(attempts, v) {
            Look::Small | Look::Unfit => None,
            Look::Large => match self.make_region(v) {
                Some((region, cell)) => {
                    self.heap.add_pressure(region.bytes());
                    self.state::<SharedRoots>().0.insert(v.bits() as usize, (region.clone(), cell));
                    Some((region, cell))
                }
                None => {
                    // Its parts may qualify, but looking for the one that didn't would cost a pass each.
                    attempts.looked_at = usize::MAX;
                    None
                }
            },
        }
    }

    /// Bytes that a region adds to a message: once each.
    pub(super) fn region_weight(attempts: &mut Attempts, region: &Region) -> usize {
        if attempts.weighed.insert(region.key(), ()).is_none() { region.bytes() } else { 0 }
    }
    /// Whether a cell of this VM has a copy in a region.
    pub(super) fn is_shared_root(&mut self, v: Value) -> bool {
        self.state::<SharedRoots>().0.contains_key(&(v.bits() as usize))
    }

    /// Looks at no more cells than it takes to know that a graph isn't small.
    fn look(&mut self, attempts: &mut Attempts, root: Value) -> Look {
        let mut shapes = FastMap::default();
        let mut seen = UntracedVec::filled(root, 1);
        let mut set: FastMap<u64, ()> = FastMap::default();
        set.insert(root.bits(), ());
        let mut at = 0;
        let result = loop {
            let Some(v) = seen.get(at).copied() else { break Look::Small };
            at += 1;
            let lenient = at > 1 && self.is_set_table(&seen, v);
            if !self.qualifies(v, lenient, &mut shapes) {
                break Look::Unfit;
            }
            let full = each_reference(&self.heap, v, &mut |x| {
                if x.is_cell() && x.flags() & flags::SHARED == 0 && set.insert(x.bits(), ()).is_none() {
                    seen.push(x);
                }
                seen.len() > SMALL
            });
            if full {
                // The rest is asked about while copying; unfit ones show soon.
                let rest = seen.split_off(at);
                let fit = rest.iter().all(|v| self.is_set_table(&seen, *v) || self.qualifies(*v, false, &mut shapes));
                break if fit { Look::Large } else { Look::Unfit };
            }
        };
        attempts.looked_at += set.len();
        if !matches!(result, Look::Large) {
            attempts.vain.extend(set);
        }
        result
    }

    /// Whether `v` is the table of one of these Sets: frozen with the Set.
    fn is_set_table(&self, cells: &[Value], v: Value) -> bool {
        v.is_kind(Kind::Hash) && cells.iter().any(|s| s.is_kind(Kind::Object) && self.set_table(*s) == Some(v))
    }
    fn set_table(&self, v: Value) -> Option<Value> {
        self.ivar_of_object(v, sym::set_items)
    }

    /// Whether a cell may lie in a region, as far as it alone goes.
    fn qualifies(&mut self, v: Value, lenient: bool, shapes: &mut FastMap<ShapeId, bool>) -> bool {
        let kind = v.kind_of_cell();
        let flags = v.settled_flags();
        match kind {
            Kind::Float | Kind::Bignum => return true,
            Kind::String | Kind::Array | Kind::Range | Kind::Rational | Kind::Complex => {
                if flags & flags::HAS_IVARS != 0 || flags & flags::FROZEN == 0 {
                    return false;
                }
            }
            Kind::Hash => {
                if flags & flags::HAS_IVARS != 0 || (flags & flags::FROZEN == 0 && !lenient) || Ref::<HashCell>::of(v).default_is_proc() {
                    return false;
                }
            }
            Kind::Object => {
                if flags & flags::FROZEN == 0 {
                    return false;
                }
            }
            _ => return false,
        }
        let shape = v.shape_key();
        if let Some(known) = shapes.get(&shape) {
            return *known;
        }
        let class = self.dispatch_class(v);
        let mut fits = self.class_ref(class).is_ok_and(|r| !r.singleton);
        // Such classes say themselves what travels.
        for name in [sym::marshal_dump, Sym::intern("_dump")] {
            fits = fits && (class.0 < shape::FIRST_DYNAMIC || !self.has_own_method(class, name));
        }
        if kind == Kind::Object {
            let mut up = class;
            while up.0 >= shape::FIRST_DYNAMIC {
                match self.class(up).superclass {
                    Some(s) => up = s,
                    None => break,
                }
            }
            fits &= is_plain(up);
        }
        shapes.insert(shape, fits);
        fits
    }

    /// Copies a graph into a region. None when a part doesn't qualify.
    fn make_region(&mut self, root: Value) -> Option<(Region, u64)> {
        let roots = !self.state::<SharedRoots>().0.is_empty();
        let mut c = Copier {
            entered: FastMap::default(),
            roots,
            heap: Heap::new(trace::trace, trace::finalize),
            cx: self,
            seen: FastMap::default(),
            work: UntracedVec::new(),
            held: Vec::new(),
            held_keys: FastMap::default(),
            manifest: Manifest::default(),
            shapes: FastMap::default(),
            hashes: UntracedVec::new(),
            failed: false,
        };
        let copy = c.place(root, false);
        while let Some(v) = c.work.pop() {
            c.enter_shape(v);
            let table = if v.is_kind(Kind::Object) { c.cx.set_table(v) } else { None };
            redirect(v, &mut |x| c.place(x, Some(x) == table));
            if c.failed {
                return None;
            }
        }
        c.hash_keys()?;
        let Copier { heap, held, manifest, .. } = c;
        // SAFETY: every reference was redirected to this heap, to the regions held, or is static; nobody but this function knew the cells.
        let region = unsafe { Region::seal(heap, held, Some(Box::new(manifest))) };
        Some((region, copy.bits()))
    }

    /// The envelope of a value whose content is somewhere already that others may read: a region's cell, a cell of which a region has a copy, a large
    /// buffer. None for all others, and for graphs that are to be put into a region now.
    pub(super) fn pack_shared(&mut self, v: Value) -> Option<Envelope> {
        let (kind, f) = (v.kind_of_cell(), v.flags());
        let plain = f & (flags::SHARED | flags::HAS_IVARS) == 0;
        match kind {
            Kind::String if plain && v.shape_key() == ids::STRING.0 => {
                let s = Ref::<StringCell>::of(v);
                let (buf, offset, len) = if s.len() >= SHARE_FROM { StringCell::share(s, Some(&self.heap))? } else { return None };
                return Envelope::buffer(v, buf, offset, len);
            }
            Kind::Array | Kind::Hash | Kind::Object => {}
            _ => return None,
        }
        if f & flags::SHARED != 0 {
            return self.heap.region_of(v.header()).map(|region| Envelope::region(region.clone(), v.bits()));
        }
        if f & flags::FROZEN != 0
            && let Some((region, cell)) = self.state::<SharedRoots>().0.get(&(v.bits() as usize))
        {
            return Some(Envelope::region(region.clone(), *cell));
        }
        if kind == Kind::Array && plain && v.shape_key() == ids::ARRAY.0 {
            let a = Ref::<ArrayCell>::of(v);
            let (buf, offset, len) = if a.len() * 8 >= SHARE_FROM { ArrayCell::share(a, Some(&self.heap))? } else { return None };
            return Envelope::buffer(v, buf, offset, len);
        }
        None
    }

    /// The value of a reference into a region, in this VM. What was found out about its classes holds as long as the region is held and no
    /// constant changes.
    pub(super) fn open_reference(&mut self, region: &Region, cell: u64) -> Result<Value> {
        // SAFETY: a cell of the region, which the caller holds.
        let there = unsafe { Value::from_bits(cell) };
        if self.heap.stamp(region) == self.const_epoch {
            return Ok(there);
        }
        let usable = match region.baggage::<Manifest>() {
            Some(m) => self.import(m)?,
            None => true,
        };
        self.heap.hold(region);
        if !usable {
            return self.copy_from_region(region, there);
        }
        self.heap.set_stamp(region, self.const_epoch);
        Ok(there)
    }

    /// Enters a region's shapes in this VM's tables. False: they can't be used here. An error: a class isn't known here.
    fn import(&mut self, m: &Manifest) -> Result<bool> {
        let mut classes = Vec::with_capacity(m.classes.len());
        for row in &m.classes {
            let class = self.same_class(&row.class, row.alloc, &row.members)?;
            // The region's cells have it, and no collection of this VM looks at them.
            self.keep_class(class);
            classes.push(class);
        }
        if m.classes.iter().zip(&classes).any(|(row, id)| row.in_key && *id != row.class.id) {
            return Ok(false);
        }
        for s in &m.shapes {
            let class = classes[s.class as usize];
            match self.shapes.get(s.id) {
                Some(known) if known.class == class => {}
                Some(_) => return Ok(false),
                None => *self.shapes.slot(s.id) = Some(ShapeInfo { class, parent: s.parent, name: s.name, count: s.count }),
            }
        }
        Ok(true)
    }

    /// A copy of a region's graph of which this VM has other classes than the sender.
    #[cold]
    fn copy_from_region(&mut self, region: &Region, root: Value) -> Result<Value> {
        let Some(m) = region.baggage::<Manifest>() else { return Ok(root) };
        let mut shapes: FastMap<ShapeId, ShapeId> = FastMap::default();
        let mut classes = Vec::new();
        for row in &m.classes {
            classes.push(self.same_class(&row.class, row.alloc, &row.members)?);
        }
        for s in &m.shapes {
            let own = match s.count {
                0 => self.root_shape(classes[s.class as usize]),
                _ => {
                    let parent = shapes.get(&s.parent).copied().unwrap_or(s.parent);
                    self.shape_with(parent, s.name)
                }
            };
            shapes.insert(s.id, own);
        }
        let mut seen: FastMap<u64, Value> = FastMap::default();
        let mut made = RootedVec::new(self);
        let mut at = 0;
        let mut place = |cx: &mut Cx, made: &mut RootedVec, v: Value| {
            if v.flags() & flags::SHARED == 0 || cx.heap.region_of(v.header()).is_none() {
                return v;
            }
            *seen.entry(v.bits()).or_insert_with(|| match twin(&mut cx.heap, None, v) {
                Some(copy) => {
                    made.push(copy);
                    copy
                }
                None => v,
            })
        };
        let copy = place(self, &mut made, root);
        while at < made.len() {
            let v = made[at];
            at += 1;
            if let Some(own) = shapes.get(&v.shape_key()) {
                // SAFETY: a new cell of this VM; the shape has as many variables in the same order.
                unsafe { (*v.header()).shape = *own };
            }
            redirect(v, &mut |x| place(self, &mut made, x));
        }
        // Codes of keys last: `hash` may run Ruby code, and must see whole objects.
        for i in 0..made.len() {
            let Some(h) = Ref::<HashCell>::from_value(made[i]) else { continue };
            let mut keys = RootedVec::with_capacity(self, h.len());
            let Some(t) = h.table(&self.heap) else { continue };
            let by_identity = t.by_identity;
            keys.extend(t.iter().map(|e| e.key));
            let mut codes = FastMap::default();
            for k in keys.iter().copied() {
                if k.is_cell() && (by_identity || self.quick_hash(k).is_none()) {
                    let code = if by_identity { self.identity_hash(k) } else { self.hash_of(k)? };
                    codes.insert(k.bits(), code);
                }
            }
            HashCell::rehash_twin(h, &mut |k| codes.get(&k.bits()).copied());
        }
        Ok(copy)
    }
}

/// Calls `f` with what a cell refers to until it returns true; says whether it did.
fn each_reference(heap: &Heap, v: Value, f: &mut dyn FnMut(Value) -> bool) -> bool {
    match v.kind_of_cell() {
        Kind::Array => {
            let a = Ref::<ArrayCell>::of(v);
            !a.is_immediate() && a.elements(heap).iter().any(|x| f(*x))
        }
        Kind::Object => Ref::<ObjectCell>::of(v).all_slots().iter().any(|x| f(*x)),
        Kind::Hash => {
            let h = Ref::<HashCell>::of(v);
            f(h.default) || h.table(heap).is_some_and(|t| t.iter().any(|e| f(e.key) || f(e.value)))
        }
        Kind::Range => {
            let r = Ref::<RangeCell>::of(v);
            f(r.low()) || f(r.high())
        }
        k @ (Kind::Rational | Kind::Complex) => PairCell::from_value(v, k).is_some_and(|(a, b)| f(a) || f(b)),
        _ => false,
    }
}

impl Copier<'_> {
    /// The region's cell for a cell: made now if there is none.
    fn place(&mut self, v: Value, lenient: bool) -> Value {
        if v.flags() & flags::SHARED != 0 {
            if let Some(region) = self.cx.heap.region_of(v.header()).cloned() {
                self.refer_to(region);
                return v;
            }
            if self.cx.is_of_boot(v) {
                return v;
            }
        }
        if let Some(copy) = self.seen.get(&v.bits()) {
            return *copy;
        }
        if self.failed || !self.cx.qualifies(v, lenient, &mut self.shapes) {
            self.failed = true;
            return v;
        }
        // What was shared as a whole before is not copied again as a part.
        if self.roots
            && let Some((region, cell)) = self.cx.state::<SharedRoots>().0.get(&(v.bits() as usize)).cloned()
        {
            self.refer_to(region);
            // SAFETY: a cell of the region.
            return unsafe { Value::from_bits(cell) };
        }
        if let Some(s) = Ref::<StringCell>::from_value(v)
            && s.code_range() == string::CodeRange::Unknown
        {
            // Nobody can note it in the region's cell later.
            if let Some(r) = range_of(s.content(&self.cx.heap), s.encoding()) {
                s.set_code_range(r);
            }
        }
        let Some(copy) = twin(&mut self.heap, Some(&self.cx.heap), v) else {
            self.failed = true;
            return v;
        };
        // A buffer shared with the original will be the region's alone one day.
        let shared = match copy.kind_of_cell() {
            Kind::String => Ref::<StringCell>::of(copy).uncounted(),
            Kind::Array => Ref::<ArrayCell>::of(copy).uncounted(),
            _ => 0,
        };
        if shared > 0 {
            self.heap.add_payload(shared);
        }
        self.seen.insert(v.bits(), copy);
        if !matches!(v.kind_of_cell(), Kind::Float | Kind::Bignum) {
            self.work.push(copy);
        }
        copy
    }

    /// The new region refers to another one.
    fn refer_to(&mut self, region: Region) {
        if self.held_keys.insert(region.key(), ()).is_some() {
            return;
        }
        if let Some(m) = region.baggage::<Manifest>() {
            self.manifest.add(m, &mut self.entered);
        }
        self.held.push(region);
    }

    /// Tells the manifest about a cell's shape.
    fn enter_shape(&mut self, v: Value) {
        if v.is_kind(Kind::Hash) {
            self.hashes.push(v);
        }
        let mut chain = Vec::new();
        let mut id = v.shape_key();
        while id >= shape::FIRST_DYNAMIC && !self.entered.contains_key(&id) {
            let s = self.cx.shape(id);
            chain.push((id, s));
            if s.count == 0 {
                break;
            }
            id = s.parent;
        }
        while let Some((id, s)) = chain.pop() {
            let Ok(class) = self.cx.class_ref(s.class) else { continue };
            self.entered.insert(id, ());
            let d = self.cx.class(s.class);
            let members = Ref::<ArrayCell>::from_value(d.extra)
                .and_then(|e| e.get(0))
                .and_then(Ref::<ArrayCell>::from_value)
                .map(|m| m.elements(&self.cx.heap).iter().filter_map(|m| m.as_sym()).collect());
            let class = self.manifest.class(&class, d.alloc, &members);
            self.manifest.shapes.push(ShapeRow { id, class, parent: s.parent, name: s.name, count: s.count });
        }
    }
}

/// Code range of the encodings that the VM knows by number.
fn range_of(bytes: &[u8], encoding: u8) -> Option<string::CodeRange> {
    use string::CodeRange::*;
    Some(match encoding {
        _ if encoding > string::US_ASCII => return None,
        _ if bytes.is_ascii() => Ascii,
        string::BINARY => Valid,
        string::UTF8 if std::str::from_utf8(bytes).is_ok() => Valid,
        _ => Broken,
    })
}

impl Copier<'_> {
    /// Gives keys that are no plain values the codes of their copies. None: some key's code is nothing that other VMs would find.
    fn hash_keys(&mut self) -> Option<()> {
        let mut fit: FastMap<u64, ()> = FastMap::default();
        for at in 0..self.hashes.len() {
            let h = Ref::<HashCell>::of(self.hashes[at]);
            let by_identity = h.by_identity();
            let mut codes: FastMap<u64, u64> = FastMap::default();
            let mut i = 0;
            while let Some(t) = h.table(&self.cx.heap).filter(|t| i < t.slots()) {
                let key = t.entry(i).map(|e| e.key).filter(|k| k.is_cell());
                i += 1;
                let Some(key) = key else { continue };
                if !by_identity && self.cx.quick_hash(key).is_some() {
                    continue;
                }
                let code = if by_identity {
                    self.cx.identity_hash(key)
                } else {
                    if !fit.contains_key(&key.bits()) && !self.same_everywhere(key) {
                        return None;
                    }
                    fit.insert(key.bits(), ());
                    self.cx.hash_of(key).ok()?
                };
                codes.insert(key.bits(), code);
            }
            if !codes.is_empty() {
                HashCell::rehash_twin(h, &mut |k| codes.get(&k.bits()).copied());
            }
        }
        Some(())
    }
    /// Whether builtin methods alone compute a key's code.
    fn same_everywhere(&mut self, key: Value) -> bool {
        let mut work = UntracedVec::filled(key, 1);
        let mut at = 0;
        while let Some(v) = work.get(at).copied() {
            at += 1;
            if !v.is_cell() || self.cx.quick_hash(v).is_some() {
                continue;
            }
            let class = self.cx.dispatch_class(v);
            if self.cx.find_method(class, sym::hash).is_none_or(|m| m.method_kind() != MethodKind::Native) {
                return false;
            }
            // A Struct's code contains its class's number.
            for row in &mut self.manifest.classes {
                row.in_key |= row.class.id == class;
            }
            if each_reference(&self.cx.heap, v, &mut |x| {
                work.push(x);
                work.len() > SMALL
            }) {
                return false;
            }
        }
        true
    }
}
