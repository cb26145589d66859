//! Packing: one pass over a graph, in the order of discovery.
//!
//! *Seen* is told by the cells themselves: while a graph is walked, the shape in the header of each cell that was met is replaced by [`MET`] and the
//! cell's number; the shapes are put back at the end, whatever happens ([`Packer`]'s drop). That is sound because nothing else of the VM runs during a
//! walk: no Ruby code, no safepoint, no collection. When an object wants its `marshal_dump` or `_dump` called, the shapes are put back first and the walk goes on
//! with a hash table ([`Packer::allow_ruby`]): then programs may do to the graph what they like; what was walked before stays as it was.
//! Cells outside the heap (SHARED: boot image, regions) are never written.

use super::*;
use crate::account::Activity;
use crate::make::RootedVec;
use crate::raise::Result;
use crate::vm::{Cx, FastMap};

/// Bit of a shape word that holds a number.
const MET: u32 = 1 << 31;

/// Why an object can't travel.
pub(super) enum Refusal {
    /// With the reason, to stand behind the class name.
    Because(String),
    /// Ruby code that was called raised.
    Raised,
}
use Refusal::{Because, Raised};

/// Packing of an object: Err(()) would say too little.
type Packed = std::result::Result<(), Refusal>;

pub(super) fn because<T>(why: impl Into<String>) -> std::result::Result<T, Refusal> {
    Err(Because(why.into()))
}

/// What is known about a shape of this VM that is not the boot image's.
#[derive(Clone, Copy)]
struct Known {
    shape: ShapeId,
    row: u32,
    dump: Dump,
}

#[derive(Clone, Copy, PartialEq)]
enum Dump {
    No,
    /// `marshal_dump`
    Object,
    /// `_dump`
    String,
}

/// An object that was met.
pub(super) struct Met {
    pub cell: Value,
    pub shape: ShapeId,
    /// First word of its head.
    pub start: usize,
}

pub(super) struct Packer {
    pub graph: Graph,
    /// The cell of each head, and those still to be walked.
    pub cells: Vec<Met>,
    /// The same cells as roots, once Ruby code may run.
    rooted: Option<RootedVec>,
    /// Numbers by address, once Ruby code may run.
    seen: Option<FastMap<u64, u32>>,
    /// Numbers of SHARED cells by address.
    outside: FastMap<u64, u32>,
    /// This VM holds regions, or grew from an image: a SHARED cell may be of one.
    regions: bool,
    attempts: region::Attempts,
    last: Known,
    known: FastMap<ShapeId, Known>,
    pub codes: FastMap<usize, usize>,
    /// Variables of environments that Procs of the message use.
    pub envs: FastMap<u64, procs::EnvUse>,
    /// A block was met that never looks at its `self`.
    pub idle_selves: bool,
    /// Such blocks leave it behind: a first walk has met something that can't travel.
    pub without_selves: bool,
}

impl Drop for Packer {
    fn drop(&mut self) {
        self.restore();
    }
}

impl Packer {
    fn new(cx: &Cx) -> Packer {
        Packer {
            regions: cx.holds_foreign_cells(),
            attempts: region::Attempts::default(),
            graph: Graph::default(),
            cells: Vec::new(),
            rooted: None,
            seen: None,
            outside: FastMap::default(),
            last: Known { shape: 0, row: 0, dump: Dump::No },
            known: FastMap::default(),
            codes: FastMap::default(),
            envs: FastMap::default(),
            idle_selves: false,
            without_selves: false,
        }
    }
    /// Puts the shapes back.
    fn restore(&mut self) {
        if self.seen.is_none() {
            for m in &self.cells {
                if m.cell.flags() & flags::SHARED == 0 {
                    // SAFETY: a live cell of this VM (see the module), whose shape this was.
                    unsafe { (*m.cell.header()).shape = m.shape };
                }
            }
        }
    }
    /// From here on Ruby code may run.
    pub(super) fn allow_ruby(&mut self, cx: &mut Cx) {
        if self.seen.is_none() {
            self.restore();
            self.seen = Some(self.cells.iter().enumerate().map(|(n, m)| (m.cell.bits(), n as u32)).collect());
            self.rooted = Some(RootedVec::gather(cx, self.cells.iter().map(|m| m.cell)));
        }
    }
    /// A value as the message refers to it; new cells get in line.
    #[inline]
    pub(super) fn item(&mut self, v: Value) -> Value {
        if !v.is_cell() {
            return v;
        }
        if v.bits() == 0 || v.flags() & flags::SHARED != 0 {
            return if v.bits() == 0 { Value::NIL } else { self.shared(v) };
        }
        // SAFETY: a live cell of this VM, which nobody else touches.
        let header = unsafe { &mut *v.header() };
        let n = self.cells.len() as u32;
        let shape = header.shape;
        match &mut self.seen {
            None => {
                if header.shape & MET != 0 {
                    return node((header.shape & !MET) as usize);
                }
                assert!(n < MET, "message of too many objects");
                header.shape = MET | n;
            }
            Some(map) => match map.entry(v.bits()) {
                hashbrown::hash_map::Entry::Occupied(e) => return node(*e.get() as usize),
                hashbrown::hash_map::Entry::Vacant(e) => {
                    e.insert(n);
                    if let Some(r) = &mut self.rooted {
                        r.push(v);
                    }
                }
            },
        }
        self.cells.push(Met { cell: v, shape, start: 0 });
        node(n as usize)
    }
    /// A cell outside the heap: of the boot image, which every VM has, of a region, which the message must hold, or of this VM's image, which nobody else is
    /// sure to have: that one is copied.
    fn shared(&mut self, v: Value) -> Value {
        if !self.regions {
            return v;
        }
        let n = self.cells.len();
        let n = *self.outside.entry(v.bits()).or_insert(n as u32) as usize;
        if n == self.cells.len() {
            self.cells.push(Met { cell: v, shape: v.shape_key(), start: 0 });
            if let Some(r) = &mut self.rooted {
                r.push(v);
            }
        }
        node(n)
    }
    #[inline]
    pub(super) fn word(&mut self, v: Value) {
        let w = self.item(v);
        self.graph.words.push(w);
    }
    pub(super) fn words(&mut self, values: &[Value]) {
        self.graph.words.reserve(values.len());
        for v in values {
            self.word(*v);
        }
    }
    /// Number of a class row.
    fn class_row(&mut self, c: ClassRef) -> usize {
        if let Some(n) = self.graph.classes.iter().rposition(|o| *o == c) {
            return n;
        }
        self.graph.classes.push(c);
        self.graph.classes.len() - 1
    }
    /// Number of a class row.
    pub(super) fn class(&mut self, cx: &Cx, c: ClassId) -> std::result::Result<usize, Refusal> {
        let r = cx.class_ref(c)?;
        Ok(self.class_row(r))
    }
    /// The shape of cell `n`, as the message has it, and whether its class says itself what travels.
    #[inline]
    fn shape(&mut self, cx: &mut Cx, n: usize) -> std::result::Result<(u32, Dump), Refusal> {
        let s = self.cells[n].shape;
        if s < shape::FIRST_DYNAMIC {
            if s >= shape::BOOT_ROOTS && cx.class(cx.shape(s).class).kind == ClassKind::Singleton {
                return because(cx.singleton_reason(cx.shape(s).class));
            }
            return Ok((s, Dump::No));
        }
        if self.last.shape != s {
            self.last = match self.known.get(&s) {
                Some(k) => *k,
                None => self.new_shape(cx, s)?,
            };
        }
        Ok((self.last.row, self.last.dump))
    }
    #[cold]
    fn new_shape(&mut self, cx: &mut Cx, s: ShapeId) -> std::result::Result<Known, Refusal> {
        let class = cx.shape(s).class;
        let mut dump = Dump::No;
        if class.0 >= shape::FIRST_DYNAMIC && cx.class(class).kind != ClassKind::Singleton {
            let mut has = |name| cx.has_own_method(class, name);
            dump = match () {
                _ if has(sym::marshal_dump) => Dump::Object,
                _ if has(Sym::intern("_dump")) => Dump::String,
                _ => Dump::No,
            };
        }
        let r = cx.class_ref(class)?;
        if r.singleton {
            return because(cx.singleton_reason(class));
        }
        let d = cx.class(class);
        let members = Ref::<ArrayCell>::from_value(d.extra)
            .and_then(|e| e.get(0))
            .and_then(Ref::<ArrayCell>::from_value)
            .map(|m| m.elements(&cx.heap).iter().filter_map(|m| m.as_sym()).collect());
        let row = ShapeRow { id: s, class: r, names: cx.shape_names(s), alloc: d.alloc, members };
        let k = Known { shape: s, row: shape::FIRST_DYNAMIC + self.graph.shapes.len() as u32, dump };
        self.graph.shapes.push(row);
        self.known.insert(s, k);
        Ok(k)
    }
    /// Class of cell `n`, singleton classes included; the cell's header may not hold its shape now.
    pub(super) fn class_of_cell(&self, cx: &Cx, n: usize) -> ClassId {
        cx.shape(self.cells[n].shape).class
    }

    fn object(&mut self, cx: &mut Cx, n: usize) -> Packed {
        let v = self.cells[n].cell;
        let kind = v.kind_of_cell();
        if self.seen.is_some() {
            // Ruby code may have changed the object since it was met.
            self.cells[n].shape = v.shape_key();
        }
        let outside = v.flags() & flags::SHARED != 0;
        if outside && cx.is_of_boot(v) {
            self.graph.words.push(v);
            return self.special(Special::Boot);
        }
        if v.flags() & flags::FROZEN != 0 && matches!(kind, Kind::Array | Kind::Hash | Kind::Object) {
            let known = outside || cx.is_shared_root(v);
            let try_it = known || !self.attempts.is_small(&cx.heap, v, n);
            if try_it && !known {
                // Whether a graph qualifies is asked with the shapes in place.
                self.allow_ruby(cx);
            }
            if try_it && let Some((region, cell)) = cx.pack_by_reference(&mut self.attempts, v, n) {
                let weight = Cx::region_weight(&mut self.attempts, &region);
                self.graph.parts.push(Part::Foreign { region, cell, weight });
                return self.special(Special::Foreign);
            }
        }
        if kind == Kind::Exception {
            self.settle(cx, n);
        }
        // SAFETY: a live cell; its shape word is not used.
        let mut header = unsafe { *v.header() };
        header.flags = v.settled_flags() & (flags::FROZEN | flags::HAS_IVARS);
        header.shape = 0;
        let mut len = 0;
        match kind {
            Kind::String => {
                header.shape = self.plain_shape(cx, n)?;
                let s = Ref::<StringCell>::of(v);
                len = s.len();
                match (len >= SHARE_FROM).then(|| StringCell::share(s, Some(&cx.heap))).flatten() {
                    Some((buf, offset, _)) => {
                        header.flags |= OUT;
                        self.graph.parts.push(Part::Buffer { buf, offset });
                    }
                    None => self.graph.bytes.extend_from_slice(s.content(&cx.heap)),
                }
            }
            Kind::Array => {
                header.shape = self.plain_shape(cx, n)?;
                let a = Ref::<ArrayCell>::of(v);
                len = a.len();
                match (len * 8 >= SHARE_FROM).then(|| ArrayCell::share(a, Some(&cx.heap))).flatten() {
                    Some((buf, offset, _)) => {
                        header.flags |= OUT;
                        self.graph.parts.push(Part::Buffer { buf, offset });
                    }
                    None => self.words(a.elements(&cx.heap)),
                }
            }
            Kind::Hash => {
                header.shape = self.plain_shape(cx, n)?;
                let h = Ref::<HashCell>::of(v);
                header.flags |= v.flags() & KEYWORDS;
                header.aux = 0;
                if h.default_is_proc() {
                    header.flags |= DEFAULT_PROC;
                }
                self.word(h.default);
                if let Some(t) = h.table(&cx.heap) {
                    len = t.len();
                    if t.by_identity {
                        header.aux = BY_IDENTITY;
                    }
                    self.graph.words.reserve(3 * len);
                    for e in t.iter() {
                        // SAFETY: who reads the words knows that this one is none of a value.
                        self.graph.words.push(unsafe { Value::from_bits(e.hash) });
                        self.word(e.key);
                        self.word(e.value);
                    }
                }
            }
            Kind::Object | Kind::Exception => {
                if v == cx.main {
                    return self.special(Special::Main);
                }
                let (shape, dump) = match self.shape(cx, n) {
                    Ok(s) => s,
                    Err(why) => return if self.is_env(cx, n) { self.special(Special::Env) } else { Err(why) },
                };
                if shape == ids::ARGF_CLASS.0 {
                    return self.special(Special::Argf);
                }
                if dump != Dump::No {
                    return self.dumped(cx, n, dump);
                }
                header.shape = shape;
                // SAFETY: both kinds are laid out as ObjectCell.
                let o = unsafe { Ref::<ObjectCell>::from_ptr(v.bits() as *mut ObjectCell) };
                let slots = o.all_slots();
                len = (cx.shape(self.cells[n].shape).count as usize).min(slots.len());
                header.aux = len.min(u16::MAX as usize) as u16;
                self.words(&slots[..len]);
            }
            Kind::Float => len = v.as_float().unwrap_or(0.0).to_bits() as usize,
            Kind::Bignum => self.graph.parts.push(Part::Big(Ref::<BignumCell>::of(v).value.clone())),
            Kind::Range => {
                header.shape = self.plain_shape(cx, n)?;
                let r = Ref::<RangeCell>::of(v);
                self.words(&[r.low(), r.high()]);
            }
            Kind::Rational | Kind::Complex => {
                let (a, b) = PairCell::from_value(v, kind).unwrap_or((Value::NIL, Value::NIL));
                self.words(&[a, b]);
            }
            Kind::Class => {
                // What a class has is the receiver's business.
                header.flags = 0;
                len = self.class(cx, Ref::<ClassCell>::of(v).id)?;
            }
            Kind::Data => {
                let (shape, dump) = self.shape(cx, n)?;
                if dump != Dump::No {
                    return self.dumped(cx, n, dump);
                }
                header.shape = shape;
                let d = Ref::<DataCell>::of(v);
                self.graph.carries |= cx.is_data::<crate::channels::ChannelHandle>(v);
                let mut held = Gathered::new(&cx.heap);
                cx.copies_begin();
                let mut part = d.send_copy().map(Part::Copy).or_else(|| d.parcel(&mut held).map(Part::Build));
                if part.is_none() {
                    // A collection looks at shapes.
                    drop(held);
                    self.allow_ruby(cx);
                    let again = cx.made_room();
                    held = Gathered::new(&cx.heap);
                    part = if again { d.parcel(&mut held).map(Part::Build) } else { None };
                }
                let Some(part) = part else { return because("") };
                self.graph.parts.push(part);
                len = held.len();
                self.words(&held);
            }
            Kind::Proc => {
                header.shape = self.plain_shape(cx, n)?;
                header.flags |= v.flags() & (LAMBDA | ORPHAN);
                len = self.proc(cx, Ref::of(v))?;
            }
            Kind::Env => len = self.env(Ref::of(v), n),
            Kind::Cref => {
                let c = Ref::<CrefCell>::of(v);
                self.words(&[c.class, c.parent, c.definee, c.refinements]);
            }
            Kind::Method => self.method(cx, Ref::of(v))?,
            Kind::MethodObj => {
                header.shape = self.plain_shape(cx, n)?;
                len = self.method_object(cx, Ref::of(v), &mut header)?;
            }
            _ => return because(""),
        }
        if header.flags & flags::HAS_IVARS != 0 {
            let list = cx.generic_ivars.get(&(v.bits() as usize)).cloned().unwrap_or_default();
            self.graph.words.push(Value::fixnum(list.len() as i64));
            for (name, x) in list {
                self.graph.words.push(Value::sym(name));
                self.word(x);
            }
        }
        self.graph.heads.push(Head { header, len });
        Ok(())
    }
    /// The shape of something that has no `marshal_dump` of its own (or does without).
    #[inline]
    fn plain_shape(&mut self, cx: &mut Cx, n: usize) -> std::result::Result<u32, Refusal> {
        Ok(self.shape(cx, n)?.0)
    }
    fn special(&mut self, s: Special) -> Packed {
        let header = Header { shape: 0, kind: Kind::Free as u8, flags: 0, aux: s as u16 };
        self.graph.heads.push(Head { header, len: 0 });
        Ok(())
    }
    /// The backtrace becomes text, which sets variables: with the shape in place.
    fn settle(&mut self, cx: &mut Cx, n: usize) {
        let header = self.cells[n].cell.header();
        // SAFETY: a live cell of this VM.
        unsafe {
            let met = (*header).shape;
            (*header).shape = self.cells[n].shape;
            cx.settle_backtrace(self.cells[n].cell);
            self.cells[n].shape = (*header).shape;
            if self.seen.is_none() {
                (*header).shape = met;
            }
        }
    }
    fn is_env(&self, cx: &Cx, n: usize) -> bool {
        let c = self.class_of_cell(cx, n);
        cx.class(c).kind == ClassKind::Singleton && cx.inherits(c, ids::ENV_METHODS)
    }
    /// An object whose class says itself what travels.
    fn dumped(&mut self, cx: &mut Cx, n: usize, dump: Dump) -> Packed {
        self.allow_ruby(cx);
        let v = self.cells[n].cell;
        let class = self.class_of_cell(cx, n);
        let class = self.class(cx, class)?;
        let mut header = Header { shape: 0, kind: Kind::Free as u8, flags: v.settled_flags() & flags::FROZEN, aux: Special::Dumped as u16 };
        if dump == Dump::Object {
            let data = cx.call_private(v, sym::marshal_dump, &[]).map_err(|_| Raised)?;
            self.regions = cx.holds_foreign_cells();
            self.word(data);
            self.graph.heads.push(Head { header, len: class });
            return Ok(());
        }
        let data = cx.call_private(v, Sym::intern("_dump"), &[Value::fixnum(-1)]).map_err(|_| Raised)?;
        let Some(s) = Ref::<StringCell>::from_value(data) else {
            let _ = cx.type_error::<()>("_dump() must return string");
            return Err(Raised);
        };
        header.aux = Special::DumpedString as u16;
        self.graph.bytes.extend_from_slice(s.content(&cx.heap));
        self.graph.words.extend([Value::fixnum(s.encoding() as i64), Value::fixnum(class as i64)]);
        self.graph.heads.push(Head { header, len: s.len() });
        Ok(())
    }
}

impl Cx {
    /// Packs a value for another VM.
    #[inline]
    pub fn pack(&mut self, v: Value) -> Result<Envelope> {
        if !v.is_cell() {
            return Ok(Envelope::immediate(v));
        }
        match flat::pack(&self.heap, v) {
            Some(e) => Ok(e),
            None => self.pack_large(v),
        }
    }
    #[inline(never)]
    fn pack_large(&mut self, v: Value) -> Result<Envelope> {
        if self.counting.is_some() {
            return self.pack_counted(v);
        }
        self.pack_uncounted(v)
    }
    #[cold]
    fn pack_counted(&mut self, v: Value) -> Result<Envelope> {
        let before = self.begin_activity(Activity::Pack);
        let packed = self.pack_uncounted(v);
        self.end_activity(before);
        packed
    }
    #[inline(always)]
    fn pack_uncounted(&mut self, v: Value) -> Result<Envelope> {
        if let Some(e) = self.pack_shared(v) {
            return Ok(e);
        }
        self.pack_into(&mut Packer::new(self), v)
    }
    /// Also returns the packer, which knows the cells.
    pub(super) fn pack_graph(&mut self, v: Value) -> Result<(Envelope, Packer)> {
        let mut p = Packer::new(self);
        let e = self.pack_into(&mut p, v)?;
        Ok((e, p))
    }
    fn pack_into(&mut self, p: &mut Packer, v: Value) -> Result<Envelope> {
        let root = p.item(v);
        let mut at = 0;
        while at < p.cells.len() {
            p.cells[at].start = p.graph.words.len();
            if let Err(why) = p.object(self, at) {
                p.allow_ruby(self);
                return match why {
                    Raised => Err(crate::raise::Exc),
                    Because(_) if p.idle_selves && !p.without_selves => {
                        *p = Packer::new(self);
                        p.without_selves = true;
                        self.pack_into(p, v)
                    }
                    Because(why) => self.unsendable(p, at, &why),
                };
            }
            at += 1;
        }
        p.done();
        let graph = std::mem::take(&mut p.graph);
        let bytes = 8 + graph.weight();
        Ok(Envelope::new(Form::Graph(Box::new(Boxed { root, graph, bytes }))))
    }
    /// Whether a class has such a method of the program's own, also one that a fork has from its image; not the core library's, which Marshal asks for.
    pub(super) fn has_own_method(&mut self, class: ClassId, name: Sym) -> bool {
        let found = self.find_method(class, name);
        found.is_some_and(|m| m.as_value().flags() & flags::SHARED == 0 || !self.is_of_boot(m.as_value()))
    }
    pub(super) fn class_ref(&self, c: ClassId) -> std::result::Result<ClassRef, Refusal> {
        let d = self.class(c);
        if d.kind == ClassKind::Singleton {
            // Classes have theirs in every VM; so has the main object.
            return match self.class_id(d.attached) {
                Some(of) => Ok(ClassRef { singleton: true, ..self.class_ref(of)? }),
                None => because(self.singleton_reason(c)),
            };
        }
        if c.0 < shape::BOOT_ROOTS {
            return Ok(ClassRef { id: c, name: None, singleton: false });
        }
        // An anonymous class has a way to other VMs only inside a lineage.
        if d.name.is_none() && !self.forked {
            return because(" (anonymous)");
        }
        // The receiver may have it, too, and send it back; and cells of a region refer to it.
        self.keep_class(c);
        Ok(ClassRef { id: c, name: d.name, singleton: false })
    }
    /// Why an object with a singleton class stays at home.
    fn singleton_reason(&self, c: ClassId) -> String {
        let d = self.class(c);
        let names: Vec<String> = d.includes.iter().chain(&d.prepends).map(|m| self.class_name(*m)).collect();
        match names.len() {
            0 => " with a singleton class".to_string(),
            _ => format!(" with a singleton class (extended by {})", names.join(", ")),
        }
    }
}

impl Packer {
    /// The walk is over: the shapes go back now and not again.
    fn done(&mut self) {
        if self.seen.is_none() {
            self.restore();
            self.seen = Some(FastMap::default());
        }
    }
}
