//! Graphs: cells and what they refer to, as nodes that belong to no heap.
//!
//! A cell is replaced by its node number in a `Value` with a tag of its own ([`Graph::node`]), so that tables are copied as they are and then
//! rewritten in one pass. The walk works with a list: deep graphs don't recurse natively. What ends it are cells that other VMs may look at too:
//! those of the boot image and of the images below.

use super::{Image, Layer, Span};
use crate::frame::CodeState;
use crate::thread::Thread;
use crate::vm::{Cx, FastMap, Restore};
use num_bigint::BigInt;
use std::collections::HashSet;
use std::sync::Arc;
use zakuro_bytecode::Code;
use zakuro_heap::{BufRef, Region};
use zakuro_object::shape::ShapeInfo;
use zakuro_object::*;

#[derive(Clone)]
pub(super) enum Body {
    /// Nothing to make: a jump, or a kind that can't be here.
    Nil,
    Float(f64),
    Big(Box<BigInt>),
    Inline(u8, [u8; string::INLINE]),
    Shared(BufRef, usize, usize),
    /// Kinds that are all values: Object, Exception, Array, Env, Cref, Range, Rational, Complex, MethodObj.
    Words(Span),
    /// Table, default.
    Hash(Option<Box<HashTable>>, Value, bool),
    Class(ClassId),
    /// Environment, self, method, extra; the code is an index into [`Graph::codes`] for literal blocks, a function for native ones.
    Proc(usize, usize),
    /// Lexical scope, data.
    Method {
        words: usize,
        name: Sym,
        called: Sym,
        owner: ClassId,
        reserved: u32,
        body: usize,
    },
    Data(Option<Rebuild>, Span),
    /// The main object, in a graph that knows no image's.
    Main,
    /// The Thread object of the thread that made the graph: the main thread of the VM that gets it.
    CurrentThread,
}

#[derive(Clone)]
pub(super) struct Node {
    pub header: Header,
    /// Name of a MethodObj; encoding and code range of a String are in the header.
    pub name: Sym,
    pub body: Body,
}

#[derive(Clone)]
pub(super) struct CodeNode {
    pub code: Arc<Code>,
    pub parent: Option<usize>,
    /// Values of once-sites.
    pub once: Span,
    /// `ruby2_keywords` was called for it.
    pub keeps_keywords: bool,
}

impl Graph {
    /// Bytes that it takes, shared contents included.
    pub(super) fn bytes(&self) -> usize {
        self.shared_bytes() + size_of_val(&*self.nodes) + self.words.len() * size_of::<Value>()
    }
    /// Bytes of contents that it shares with the VM that made it, and keeps when that one lets go.
    pub(super) fn shared_bytes(&self) -> usize {
        self.shared().map(BufRef::cap).sum()
    }
    /// The buffers of these contents.
    pub(super) fn shared(&self) -> impl Iterator<Item = &BufRef> {
        self.nodes.iter().filter_map(|n| match &n.body {
            Body::Shared(buf, ..) => Some(buf),
            _ => None,
        })
    }
}

/// See the module.
#[derive(Clone, Default)]
pub struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) words: UntracedVec,
    pub(super) codes: Vec<CodeNode>,
    /// Classes that the image below does not have, with the shapes that go with them.
    pub(super) classes: Vec<ClassData>,
    pub(super) shapes: Vec<(u32, ShapeInfo)>,
    pub(super) transitions: Vec<((u32, Sym), u32)>,
    /// Instance variables of nodes that keep them outside their layout.
    pub(super) generic: Vec<(usize, Vec<(Sym, Value)>)>,
    pub(super) object_ids: Vec<(usize, i64)>,
    /// What `hash` and Hashes that compare by identity go by, where nodes may have been asked for it.
    pub(super) identities: Vec<(usize, u64)>,
    pub(super) next_object_id: i64,
    pub(super) kept: Vec<Arc<FastMap<usize, Arc<Code>>>>,
    /// What libraries declare, see [`VmState::snapshot`](crate::vm::VmState::snapshot).
    pub(super) states: Vec<(Restore, Span)>,
    /// `Thread#[]`, `thread_variable_get`, name of the thread that made the graph.
    pub(super) thread: Option<[Value; 3]>,
    /// Cells of an image that it refers to and that a VM must not use before it has copied them.
    pub(super) templates: UntracedVec,
    /// Data objects of the image whose payloads are of this graph's moment.
    pub(super) untracked: Vec<(Value, Rebuild, Span)>,
    /// Data objects whose payloads it lacks, and what these are.
    pub(super) lost: Vec<(usize, &'static str)>,
    /// Nodes whose tables a VM has to make anew: only the keys' `hash` knows their codes (see [`super::file`]).
    pub(super) stale: Vec<usize>,
    /// Regions whose cells it may refer to, by address.
    pub(super) regions: Vec<Region>,
    pub(super) root: Value,
}

const NODE_TAG: u64 = 0x44;

impl Graph {
    /// A node as a value. The tag is one that no Ruby value has.
    pub(super) fn node(n: usize) -> Value {
        // SAFETY: no cell's.
        unsafe { Value::from_bits((n as u64) << 8 | NODE_TAG) }
    }
    pub(super) fn as_node(v: Value) -> Option<usize> {
        (v.bits() & 0xff == NODE_TAG).then_some((v.bits() >> 8) as usize)
    }
    /// Which nodes can't be shared by VMs as they are: those that can change, or lead to one that can.
    pub(super) fn changeable(&self) -> Vec<bool> {
        let mut out: Vec<bool> = self.nodes.iter().map(changes_itself).collect();
        self.stale.iter().for_each(|n| out[*n] = true);
        // Edges, by what they lead to.
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for (n, node) in self.nodes.iter().enumerate() {
            if !out[n] {
                self.each_edge(node, &mut |v| self.note_edge(n, v, &mut out, &mut edges));
            }
        }
        for (n, list) in &self.generic {
            list.iter().for_each(|(_, v)| self.note_edge(*n, *v, &mut out, &mut edges));
        }
        edges.sort_unstable();
        let mut work: Vec<u32> = (0..out.len() as u32).filter(|n| out[*n as usize]).collect();
        while let Some(n) = work.pop() {
            let from = edges.partition_point(|e| e.0 < n);
            for e in edges[from..].iter().take_while(|e| e.0 == n) {
                if !std::mem::replace(&mut out[e.1 as usize], true) {
                    work.push(e.1);
                }
            }
        }
        out
    }
    fn note_edge(&self, from: usize, v: Value, out: &mut [bool], edges: &mut Vec<(u32, u32)>) {
        match Graph::as_node(v) {
            Some(to) => edges.push((to as u32, from as u32)),
            None if v.is_template() => out[from] = true,
            None => {}
        }
    }
    /// What a node refers to, payloads and Procs included; not what instance variables outside its layout do ([`Graph::generic`]).
    pub(super) fn each_reference(&self, n: usize, f: &mut dyn FnMut(Value)) {
        let node = &self.nodes[n];
        let span = match &node.body {
            Body::Proc(_, at) => Span { start: *at, len: 4 },
            Body::Data(_, s) => *s,
            _ => {
                self.each_edge(node, f);
                return;
            }
        };
        self.words[span.start..span.start + span.len].iter().for_each(|v| f(*v));
    }
    fn each_edge(&self, node: &Node, f: &mut dyn FnMut(Value)) {
        let span = match &node.body {
            Body::Words(s) => *s,
            Body::Method { words, .. } => Span { start: *words, len: 2 },
            Body::Hash(table, default, _) => {
                f(*default);
                if let Some(t) = table {
                    t.iter().for_each(|e| {
                        f(e.key);
                        f(e.value);
                    });
                }
                return;
            }
            _ => return,
        };
        self.words[span.start..span.start + span.len].iter().for_each(|v| f(*v));
    }
}

fn changes_itself(n: &Node) -> bool {
    let frozen = n.header.flags & flags::FROZEN != 0;
    match &n.body {
        Body::Nil | Body::Float(_) | Body::Big(_) | Body::Class(_) => false,
        Body::Words(_) => match Kind::from_u8(n.header.kind) {
            Kind::Cref | Kind::Rational | Kind::Complex => false,
            Kind::Env => true,
            _ => !frozen,
        },
        Body::Inline(..) | Body::Shared(..) | Body::Hash(..) => !frozen,
        // Those of programs and class bodies get another scope by `using` and `private`.
        Body::Method { .. } => n.header.aux >> 8 == MethodKind::Frame as u16,
        Body::Proc(..) | Body::Data(..) | Body::Main | Body::CurrentThread => true,
    }
}

/// Elements from which on an Array of immediates is shared.
const SHARED_LEN: usize = 512;

/// Flags that mean the same in the copy. The others say how the cell's memory is laid out.
pub(super) fn kept_flags(kind: Kind) -> u8 {
    let own = match kind {
        Kind::Proc => LAMBDA | ORPHAN,
        Kind::Hash => KEYWORDS,
        _ => 0,
    };
    flags::FROZEN | flags::HAS_IVARS | own
}

/// Rewrites every value that a class's data holds.
pub(super) fn each_value_mut(d: &mut ClassData, f: &mut dyn FnMut(Value) -> Value) {
    d.object = f(d.object);
    d.attached = f(d.attached);
    d.extra = f(d.extra);
    d.methods.values_mut().for_each(|v| *v = f(*v));
    d.consts.values_mut().for_each(|e| {
        e.value = f(e.value);
        e.autoload = f(e.autoload);
    });
    d.cvars.iter_mut().for_each(|(_, v)| *v = f(*v));
    d.ivars.iter_mut().for_each(|(_, v)| *v = f(*v));
}

/// What a walk starts from.
pub(super) enum Mode {
    /// A VM's program state: all of it, or, given the map from the VM's cells to the image's, what that image has not.
    Program(Option<Arc<FastMap<u64, Value>>>),
    /// A value of the VM, for one that starts from the image. With the map from the VM's cells to the image's: cells that have not changed since are the
    /// image's.
    Value(Arc<Image>, Option<Arc<FastMap<u64, Value>>>),
    /// Templates of the image that this VM started from.
    Templates(Arc<Image>, FastMap<usize, Value>),
    /// All of an image, for a file: what is not the boot image's, whose cells these are.
    Whole(Arc<Image>, Arc<FastMap<u64, u32>>),
}

/// A graph that is being made.
pub(super) struct Walk {
    pub graph: Graph,
    pub mode: Mode,
    /// Numbers of classes that have been added.
    added: HashSet<u32>,
    seen: FastMap<u64, usize>,
    /// The cell of each node.
    pub cells: UntracedVec,
    codes: FastMap<usize, usize>,
    /// Cells of lower layers that a Hash goes by the identity of.
    pub known: Vec<(Value, u64)>,
    /// Data objects whose payloads may change without the VM's notice: the graph has none for them.
    pub untracked: UntracedVec,
    /// What the VM grew from and the image of [`Mode::Value`] has not.
    pub beyond: Option<Beyond>,
}

/// The image that a VM started from, as far as another image lacks it: nothing there keeps its cells, so they are copied as the VM's own are.
pub(super) struct Beyond {
    base: Arc<Image>,
    layers: Vec<Arc<Layer>>,
    /// The VM's copies of templates.
    memo: FastMap<usize, Value>,
}

impl Beyond {
    /// None if `image` has all that the VM grew from.
    pub fn of(cx: &Cx, image: &Image) -> Option<Beyond> {
        let base = cx.base.clone()?;
        let has = |l: &&Arc<Layer>| !image.layers.iter().any(|there| Arc::ptr_eq(there, l));
        let layers: Vec<_> = base.layers.iter().filter(has).cloned().collect();
        (!layers.is_empty()).then(|| Beyond { base, layers, memo: cx.memo.clone() })
    }
    /// The cell to copy for one of an image's.
    fn copied(&self, v: Value) -> Option<Value> {
        let now = if v.is_template() { self.base.resolve(v) } else { v };
        let own = self.memo.get(&(now.bits() as usize)).filter(|_| now.is_template());
        own.copied().or_else(|| self.layers.iter().any(|l| l.vm.heap.owns(now.header())).then_some(now))
    }
    pub fn regions(&self) -> impl Iterator<Item = Region> {
        self.layers.iter().flat_map(|l| l.vm.heap.regions())
    }
    pub fn kept_codes(&self) -> impl Iterator<Item = &Arc<FastMap<usize, Arc<Code>>>> {
        self.layers.iter().flat_map(|l| &l.vm.kept_layers)
    }
    pub fn shapes(&self, f: &mut dyn FnMut(u32, &ShapeInfo)) {
        self.layers.iter().for_each(|l| l.vm.shapes.each_own(f));
    }
    pub fn transitions(&self) -> impl Iterator<Item = (&(u32, Sym), &u32)> {
        self.layers.iter().flat_map(|l| &l.vm.transitions)
    }
}

impl Walk {
    pub fn new(mode: Mode, room: (usize, usize)) -> Walk {
        Walk {
            graph: Graph {
                nodes: Vec::with_capacity(room.0),
                words: UntracedVec::with_capacity(room.1),
                root: Value::NIL,
                ..Graph::default()
            },
            mode,
            added: HashSet::new(),
            seen: FastMap::with_capacity_and_hasher(room.0, Default::default()),
            cells: UntracedVec::with_capacity(room.0),
            codes: FastMap::default(),
            known: Vec::new(),
            untracked: UntracedVec::new(),
            beyond: None,
        }
    }
    /// A value as the graph refers to it; new cells get in line.
    pub fn value(&mut self, v: Value) -> Value {
        if !v.is_cell() || v.bits() == 0 {
            return v;
        }
        let mut v = v;
        let f = v.flags();
        if f & flags::SHARED != 0 {
            let (image, memo) = match &self.mode {
                Mode::Templates(image, memo) => (image, memo),
                Mode::Whole(_, boot) if boot.contains_key(&v.bits()) => return v,
                Mode::Whole(image, _) => {
                    v = image.resolve(v);
                    return self.node_of(v);
                }
                _ => {
                    let copied = self.beyond.as_ref().and_then(|b| b.copied(v));
                    return copied.map_or(v, |cell| self.node_of(cell));
                }
            };
            if !v.is_template() {
                return v;
            }
            v = image.resolve(v);
            if !v.is_template() {
                return v;
            }
            if let Some(own) = memo.get(&(v.bits() as usize)) {
                return *own;
            }
        } else if f & flags::CAPTURED != 0
            && let Mode::Value(_, Some(map)) | Mode::Program(Some(map)) = &self.mode
            && let Some(there) = map.get(&v.bits())
        {
            if there.is_template() && matches!(self.mode, Mode::Value(..)) {
                self.graph.templates.push(*there);
            }
            return *there;
        }
        self.node_of(v)
    }
    fn node_of(&mut self, v: Value) -> Value {
        let next = self.cells.len();
        let n = *self.seen.entry(v.bits()).or_insert(next);
        if n == next {
            self.cells.push(v);
        }
        Graph::node(n)
    }
    pub fn span(&mut self, values: &[Value]) -> Span {
        let start = self.graph.words.len();
        self.graph.words.reserve(values.len());
        for v in values {
            let v = self.value(*v);
            self.graph.words.push(v);
        }
        Span { start, len: values.len() }
    }
    /// Number of a code state, those around it first.
    pub fn code(&mut self, cs: *const CodeState) -> usize {
        let mut chain = Vec::new();
        let mut at = cs;
        while !at.is_null() && !self.codes.contains_key(&(at as usize)) {
            chain.push(at);
            // SAFETY: code states live as long as the VM, or the image, that is walked.
            at = unsafe { (*at).parent.get() };
        }
        // The image has those of its VM.
        let with_once = !matches!(self.mode, Mode::Value(_, Some(_)) | Mode::Templates(..));
        for p in chain.into_iter().rev() {
            // SAFETY: as above.
            let s = unsafe { &*p };
            let parent = self.codes.get(&(s.parent.get() as usize)).copied();
            let whole = if let Mode::Whole(image, _) = &self.mode { Some(image.clone()) } else { None };
            let known = whole.as_ref().and_then(|i| i.once(Arc::as_ptr(&s.code) as usize));
            let once = if !with_once || s.once.iter().all(|v| v.is_undef()) { &[][..] } else { &s.once };
            let once = self.span(known.unwrap_or(once));
            self.codes.insert(p as usize, self.graph.codes.len());
            self.graph.codes.push(CodeNode { code: s.code.clone(), parent, once, keeps_keywords: s.keeps_keywords.get() });
        }
        self.codes.get(&(cs as usize)).copied().unwrap_or(0)
    }
    /// Takes a class along that the image of [`Mode::Value`] does not have, with those that it needs.
    fn add_class(&mut self, cx: &Cx, id: ClassId) {
        let Mode::Value(image, _) = &self.mode else { return };
        let image = image.clone();
        let mut work = vec![id];
        while let Some(id) = work.pop() {
            let here = cx.classes.get(id.0).is_some();
            if !here || id.0 < shape::FIRST_DYNAMIC || image.has_class(id) || !self.added.insert(id.0) {
                continue;
            }
            let mut d = cx.class(id).clone();
            work.extend(d.near.iter().chain(&d.beyond).chain(&d.singleton).chain(&d.lexical_parent));
            d.dependents.clear();
            each_value_mut(&mut d, &mut |v| self.value(v));
            self.graph.classes.push(d);
        }
    }
    /// Walks until no cell is left.
    pub fn finish(&mut self, cx: &mut Cx) {
        let mut at = 0;
        while at < self.cells.len() {
            let v = self.cells[at];
            let node = self.cell(cx, v, at);
            self.graph.nodes.push(node);
            at += 1;
        }
    }
    pub(super) fn cell(&mut self, cx: &mut Cx, v: Value, n: usize) -> Node {
        let kind = v.kind_of_cell();
        let alone = matches!(self.mode, Mode::Value(..));
        let captured = v.flags() & flags::SHARED != 0;
        if kind == Kind::Exception && !captured {
            cx.settle_backtrace(v);
        }
        if alone {
            let id = match cx.class_id(v) {
                Some(id) => id,
                None => cx.dispatch_class(v),
            };
            self.add_class(cx, id);
        }
        // SAFETY: a live cell of the VM or image that is walked.
        let mut header = unsafe { *v.header() };
        header.flags = v.settled_flags() & kept_flags(kind);
        let mut name = sym::empty;
        let body = match kind {
            Kind::Object if alone && v == cx.main => Body::Main,
            Kind::Free | Kind::Throw => Body::Nil,
            // Ractor::MovedObject: nothing but its class.
            Kind::Moved | Kind::MovedString | Kind::MovedArray | Kind::MovedHash => {
                header.kind = Kind::Moved as u8;
                header.aux = 0;
                Body::Words(self.span(&[]))
            }
            Kind::Float => Body::Float(v.as_float().unwrap_or(0.0)),
            Kind::Bignum => Body::Big(Ref::<BignumCell>::of(v).value.clone()),
            Kind::String => {
                let s = Ref::<StringCell>::of(v);
                match StringCell::share(s, Some(&cx.heap)) {
                    Some((buf, offset, len)) => Body::Shared(buf, offset, len),
                    None => {
                        let (bytes, len) = s.inline().unwrap_or_default();
                        Body::Inline(len as u8, bytes)
                    }
                }
            }
            Kind::Object | Kind::Exception => {
                // SAFETY: both kinds are laid out as ObjectCell.
                let o = unsafe { Ref::<ObjectCell>::from_ptr(v.bits() as *mut ObjectCell) };
                let count = cx.shape(v.shape_key()).count as usize;
                let slots = o.all_slots();
                Body::Words(self.span(&slots[..count.min(slots.len())]))
            }
            Kind::Array => {
                let a = Ref::<ArrayCell>::of(v);
                // Immediates need no walk: a long list of them stays where it is until somebody writes.
                match if a.len() >= SHARED_LEN { ArrayCell::share(a, Some(&cx.heap)) } else { None } {
                    Some((buf, offset, len)) => Body::Shared(buf, offset, len),
                    None => Body::Words(self.span(a.elements(&cx.heap))),
                }
            }
            Kind::Env => {
                let e = Ref::<EnvCell>::of(v);
                let s = self.span(&[e.parent]);
                let rest = self.span(e.slots());
                Body::Words(Span { start: s.start, len: 1 + rest.len })
            }
            Kind::Cref => {
                let c = Ref::<CrefCell>::of(v);
                Body::Words(self.span(&[c.class, c.parent, c.definee, c.refinements]))
            }
            Kind::Range => {
                let r = Ref::<RangeCell>::of(v);
                Body::Words(self.span(&[r.low(), r.high()]))
            }
            Kind::Rational | Kind::Complex => {
                let (a, b) = PairCell::from_value(v, kind).unwrap_or((Value::NIL, Value::NIL));
                Body::Words(self.span(&[a, b]))
            }
            Kind::MethodObj => {
                let o = Ref::<MethodObjCell>::of(v);
                name = o.name;
                // Its hash code is made of them.
                [o.receiver, Ref::<MethodCell>::of(o.method).data].into_iter().for_each(|v| self.keep_identity(cx, v));
                Body::Words(self.span(&[o.receiver, o.method, o.class]))
            }
            Kind::Hash => {
                let h = Ref::<HashCell>::of(v);
                let mut table = h.table(&cx.heap).map(|t| Box::new(t.image()));
                if let Some(t) = &mut table {
                    t.map_values(&mut |x| self.value(x));
                }
                if let Some(t) = h.table(&cx.heap)
                    && t.by_identity
                {
                    for key in t.iter().map(|e| e.key).filter(|k| k.is_cell() && !k.is_kind(Kind::Class)) {
                        self.keep_identity(cx, key);
                    }
                }
                Body::Hash(table, self.value(h.default), h.default_is_proc())
            }
            Kind::Class => Body::Class(Ref::<ClassCell>::of(v).id),
            Kind::Proc => {
                let p = Ref::<ProcCell>::of(v);
                let code = if p.proc_kind() == ProcKind::Block { self.code(p.code as *const CodeState) } else { p.code };
                Body::Proc(code, self.span(&[p.env, p.self_, p.me, p.extra]).start)
            }
            Kind::Method => {
                let m = Ref::<MethodCell>::of(v);
                let words = self.span(&[m.cref, m.data]).start;
                Body::Method { words, name: m.name, called: m.called, owner: m.owner, reserved: m.reserved, body: m.body }
            }
            Kind::Data => self.data(cx, v, n),
        };
        if header.flags & flags::HAS_IVARS != 0
            && let Some(list) = cx.generic_list(v)
        {
            let list = list.iter().map(|(s, x)| (*s, self.value(*x))).collect();
            self.graph.generic.push((n, list));
        }
        if let Some(id) = cx.known_object_id(v) {
            self.graph.object_ids.push((n, id));
        }
        if matches!(kind, Kind::Object | Kind::Exception | Kind::Data | Kind::Proc | Kind::MethodObj)
            || matches!(kind, Kind::Moved | Kind::MovedString | Kind::MovedArray | Kind::MovedHash)
        {
            self.graph.identities.push((n, cx.identity(v)));
        } else if captured
            && let Some(image) = self.source()
            && let Some(identity) = image.identity(v)
        {
            // A key of a Hash that goes by it, which may be copied after this.
            self.graph.identities.push((n, identity));
        }
        Node { header, name, body }
    }
    /// The copy of a cell hashes as it does.
    fn keep_identity(&mut self, cx: &Cx, v: Value) {
        if !v.is_cell() || v.bits() == 0 || v.is_kind(Kind::Class) {
            return;
        }
        let there = self.value(v);
        match Graph::as_node(there) {
            Some(n) => self.graph.identities.push((n, cx.identity(v))),
            None if matches!(self.mode, Mode::Program(Some(_))) => self.known.push((there, cx.identity(v))),
            None => {}
        }
    }
    /// The image whose cells are walked.
    fn source(&self) -> Option<&Arc<Image>> {
        match &self.mode {
            Mode::Templates(image, _) | Mode::Whole(image, _) => Some(image),
            _ => self.beyond.as_ref().map(|b| &b.base),
        }
    }
    fn data(&mut self, cx: &mut Cx, v: Value, n: usize) -> Body {
        if v.flags() & flags::SHARED != 0
            && let Some(image) = self.source().cloned()
        {
            if let Mode::Whole(..) = &self.mode {
                if image.find(|l| l.parts.thread).is_some_and(|t| image.resolve(t) == v) {
                    return Body::CurrentThread;
                }
                self.graph.lost.extend(image.find(|l| l.parts.lost.get(&(v.bits() as usize))).map(|name| (n, *name)));
            }
            return match image.payload(v) {
                Some((rebuild, held)) => Body::Data(Some(rebuild.clone()), self.span(held)),
                None => Body::Data(None, Span { start: 0, len: 0 }),
            };
        }
        let d = Ref::<DataCell>::of(v);
        if d.get::<Thread>().is_some() && cx.threads.as_mut().is_some_and(|t| t.current().object == v) {
            return Body::CurrentThread;
        }
        if matches!(self.mode, Mode::Program(_)) && d.change_tracking() == ChangeTracking::Untracked {
            self.untracked.push(v);
            return Body::Data(None, Span { start: 0, len: 0 });
        }
        let mut held = Gathered::new(&cx.heap);
        let rebuild = d.snapshot(&mut held);
        if rebuild.is_none() {
            self.graph.lost.extend(d.loses().map(|name| (n, name)));
        }
        Body::Data(rebuild, self.span(&held))
    }
}
