//! From the content of a file to an image. The bytes may be anything: `None` wherever they make no sense.

use super::super::graph::{Body, CodeNode, Graph, Node, kept_flags};
use super::super::{Image, Layer, Parts, Snapshot, Span};
use super::check::check;
use super::keys::codes_of_keys;
use super::values::*;
use super::{Outcome, Refusal, cells_of};
use crate::builtin::{MethodRow, all_tables};
use crate::methods::fast;
use crate::vm::{Cx, FastMap, Restore, StateBlueprint, Vm, state_loaders};
use std::any::Any;
use std::sync::Arc;
use zakuro_bytecode::binary::SharedArchive;
use zakuro_bytecode::{Code, CodeKind};
use zakuro_heap::BufRef;
use zakuro_object::hash::Entry;
use zakuro_object::saved::{Blueprint, Rebuild, loaders};
use zakuro_object::shape::{CLASS_LOTS, FIRST_DYNAMIC, LotCounter, SHAPE_LOTS, ShapeInfo};
use zakuro_object::*;

const MALFORMED: &str = "it is malformed";
/// Most classes and most layouts of a file: numbers are the process's.
const MOST_NUMBERS: usize = 1 << 24;
/// Least bytes of a class and of a layout: a file can't take more numbers than it describes.
const CLASS_BYTES: usize = 26;
const SHAPE_BYTES: usize = 5;
/// Elements that a list has room for at first.
const AT_ONCE: usize = 1024;

/// What a loaded payload or state is written as again.
struct Origin {
    name: &'static str,
    bytes: Box<[u8]>,
    codes: Box<[Arc<dyn Any + Send + Sync>]>,
}
impl Origin {
    fn save(&self, out: &mut Saved) -> Option<&'static str> {
        out.bytes.extend(&self.bytes);
        out.shared.extend(self.codes.iter().cloned());
        Some(self.name)
    }
}
struct LoadedPayload(Rebuild, Origin);
impl Blueprint for LoadedPayload {
    fn make(&self, vm: &mut dyn Any, values: &[Value]) -> Option<Box<dyn NativeData>> {
        self.0.make(vm, values)
    }
    fn save(&self, out: &mut Saved) -> Option<&'static str> {
        self.1.save(out)
    }
}
struct LoadedState(Restore, Origin);
impl StateBlueprint for LoadedState {
    fn restore(&self, cx: &mut Cx, values: &[Value]) {
        self.0.restore(cx, values);
    }
    fn save(&self, out: &mut Saved) -> Option<&'static str> {
        self.1.save(out)
    }
}

/// Reads an image.
pub(super) fn content(cx: &mut Cx, bytes: &[u8]) -> Outcome<Snapshot> {
    let Some(boot) = cx.boot else { return Err("there is no boot image".into()) };
    let mut r = Reader {
        r: SavedReader { rest: bytes, shared: &[], values: 0 },
        names: Vec::new(),
        boot: cells_of(boot),
        // SAFETY: class data of the boot image, which lives as long as the process.
        boot_class: &|id| boot.class(id).map(|d| unsafe { (*d).object }),
        is_boot_shape: &|id| boot.shape(id).map(|s| s.count as usize),
        codes: Vec::new(),
        classes: Numbers::new(&CLASS_LOTS),
        shapes: Numbers::new(&SHAPE_LOTS),
        counts: Vec::new(),
        image: UntracedVec::new(),
        is_image: true,
        nodes: 0,
        redefined: 0,
        encodings: encodings(cx),
        size: bytes.len(),
        shared: Vec::new(),
    };
    let before = cx.begin_activity(crate::account::Activity::Image);
    let made = r.all(cx);
    cx.end_activity(before);
    made.unwrap_or_else(|| Err(Refusal::from(MALFORMED)))
}

/// How many encodings there are.
fn encodings(cx: &Cx) -> usize {
    Ref::<ArrayCell>::from_value(cx.class(ids::ENCODING).extra).map_or(0, |a| a.len())
}

/// Numbers of the process for those of a file, as they are asked for.
struct Numbers {
    lots: &'static LotCounter,
    given: Vec<u32>,
    /// Those that the graphs so far have.
    end: usize,
}
impl Numbers {
    fn new(lots: &'static LotCounter) -> Numbers {
        Numbers { lots, given: Vec::new(), end: 0 }
    }
    /// Lets numbers below `n` be used.
    fn extend(&mut self, n: usize) -> Option<()> {
        if n < self.end || n > MOST_NUMBERS {
            return None;
        }
        while self.given.len() < n {
            let first = self.lots.take();
            self.given.extend(first..first + LOT);
        }
        self.end = n;
        Some(())
    }
    fn get(&self, n: usize) -> Option<u32> {
        (n < self.end).then(|| self.given[n])
    }
}

struct Reader<'a> {
    r: SavedReader<'a>,
    names: Vec<Sym>,
    boot: UntracedVec,
    /// The object of a class of the boot image.
    boot_class: &'a dyn Fn(ClassId) -> Option<Value>,
    /// Number of variables of a layout of the boot image.
    is_boot_shape: &'a dyn Fn(u32) -> Option<usize>,
    codes: Vec<Arc<Code>>,
    classes: Numbers,
    shapes: Numbers,
    /// Variables of each layout of the file.
    counts: Vec<u16>,
    /// The image's cells, for the graphs beside it.
    image: UntracedVec,
    is_image: bool,
    /// Nodes of the graph at hand.
    nodes: usize,
    redefined: u32,
    encodings: usize,
    /// Bytes of the file.
    size: usize,
    /// The Codes as payloads get them.
    shared: Vec<Arc<dyn Any + Send + Sync>>,
}

impl<'a> Reader<'a> {
    fn all(&mut self, cx: &mut Cx) -> Option<Outcome<Snapshot>> {
        let has_main = self.r.flag()?;
        self.names = self.list(|r| {
            let encoding = r.encoding()?;
            Some(Sym::intern_in(r.r.blob()?, encoding))
        })?;
        let files: Vec<Arc<str>> = self.list(|r| Some(Arc::from(std::str::from_utf8(r.r.blob()?).ok()?)))?;
        let sources: Vec<Arc<[u8]>> = self.list(|r| Some(Arc::from(r.r.blob()?)))?;
        let programs = self.list(|r| {
            let (file, source): (usize, usize) = (r.r.narrow()?, r.r.narrow()?);
            Some((files.get(file)?.clone(), sources.get(source)?.clone()))
        })?;
        let archive = SharedArchive::open(self.r.blob()?.into()).ok()?;
        if archive.programs() != programs.len() {
            return None;
        }
        let roots: Option<Vec<Arc<Code>>> =
            programs.iter().enumerate().map(|(i, (file, source))| archive.program(i, file, source).ok()).collect();
        let roots = roots?;
        self.codes = self.list(|r| {
            let mut code = roots.get(r.r.narrow::<usize>()?)?.clone();
            for _ in 0..r.r.number()? {
                let child = code.children.get(r.r.narrow::<usize>()?)?.clone();
                code = child;
            }
            Some(code)
        })?;
        self.shared = self.codes.iter().map(|c| c.clone() as Arc<dyn Any + Send + Sync>).collect();

        // The VM's tables.
        let end: usize = self.r.narrow()?;
        if end > self.r.rest.len() / CLASS_BYTES {
            return None;
        }
        self.classes.extend(end)?;
        self.redefined = self.r.narrow()?;
        let (once_used, next_object_id) = (self.r.flag()?, self.id()?);
        let global_aliases: Vec<(Sym, Sym)> = self.list(|r| Some((r.name()?, r.name()?)))?;
        let files: Vec<Arc<str>> = self.list(|r| Some(Arc::from(std::str::from_utf8(r.r.blob()?).ok()?)))?;
        let places = self.list(|r| {
            let (class, name, file) = (r.class()?, r.name()?, r.r.narrow::<usize>()?);
            Some(((class, name), (files.get(file)?.clone(), r.r.narrow()?)))
        })?;
        // Nodes of the graph, whose number is not known yet: checked below.
        self.nodes = usize::MAX;
        let mut globals: Vec<(Sym, Value)> = self.list(|r| Some((r.name()?, r.value()?)))?;
        let mut main = self.value()?;

        let graph = self.graph()?;
        let within = |v: Value| Graph::as_node(v).is_none_or(|n| n < graph.nodes.len());
        let is_object = Graph::as_node(main).is_some_and(|n| graph.nodes.get(n).is_some_and(|n| n.header.kind == Kind::Object as u8));
        if !is_object || !globals.iter().all(|(_, v)| within(*v)) {
            return None;
        }
        let kept: FastMap<usize, Arc<Code>> = self.codes.iter().map(|c| (Arc::as_ptr(c) as usize, c.clone())).collect();
        let kept = Arc::new(kept);

        // As `make_layer`.
        let mut vm = Vm::for_layer(cx.boot, cx.options.clone());
        vm.script = cx.script.clone();
        vm.transitions.extend(cx.boot.iter().flat_map(|b| b.transitions()).map(|(k, v)| (*k, *v)));
        vm.redefined = self.redefined & !crate::methods::fast::TRACED;
        vm.once_used = once_used;
        Arc::make_mut(&mut vm.global_aliases).extend(global_aliases);
        vm.const_places.extend(places);
        vm.next_object_id = next_object_id;
        let changeable = graph.changeable();
        vm.image_size = (graph.nodes.len(), graph.words.len());
        let mut parts = Parts::default();
        let mut graph = graph;
        graph.kept.push(kept.clone());
        let (made, _) = vm.build(graph, Some(&mut parts), &[], &mut |_, fix| {
            globals.iter_mut().for_each(|(_, v)| *v = fix(*v));
            main = fix(main);
        });
        self.image = made.iter().copied().collect();
        drop(made);
        vm.globals = globals.into_iter().collect();
        vm.main = main;
        vm.heap.each_cell(&mut |c| {
            // SAFETY: each_cell hands out live cells of this heap.
            unsafe { (*c).flags |= flags::SHARED | flags::CAPTURED }
        });
        for (v, changes) in self.image.iter().zip(changeable) {
            if changes && v.is_cell() && v.bits() != 0 && vm.heap.owns(v.header()) {
                v.set_flags(TEMPLATE);
            }
        }
        self.is_image = false;
        let state = self.graph()?;
        let beside = if has_main { Some(self.graph()?) } else { None };
        let ids = self.list(|r| Some((*r.boot.get(r.r.narrow::<usize>()?)?, r.id()?)))?;
        vm.object_ids.extend(ids.iter().map(|(v, id)| (v.bits() as usize, *id)));
        if !self.r.rest.is_empty() {
            return None;
        }
        let [state, beside] = [Some(state), beside].map(|g| {
            g.map(|mut g| {
                g.kept.push(kept.clone());
                Arc::new(g)
            })
        });
        let cells: Box<[Value]> = self.image.iter().copied().filter(|v| v.is_cell() && v.bits() != 0).collect();
        // Its Codes and their texts take about what they take in the file.
        let _charge = cx.charge(vm.heap.used() + size_of_val(&*cells) + self.size, std::iter::empty());
        let layer = Layer { rows: vm.seal_rows(), vm, cells, parts, _charge };
        let image = Arc::new(Image { layers: vec![Arc::new(layer)] });
        Some(Ok(Snapshot { image, state: state?, main: beside }))
    }

    fn list<T>(&mut self, mut f: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let n: usize = self.r.narrow()?;
        // Elements are at least one byte each.
        if n > self.r.rest.len() {
            return None;
        }
        let mut list = Vec::with_capacity(n.min(AT_ONCE));
        for _ in 0..n {
            list.push(f(self)?);
        }
        Some(list)
    }
    fn name(&mut self) -> Option<Sym> {
        let i: usize = self.r.narrow()?;
        self.names.get(i).copied()
    }
    fn encoding(&mut self) -> Option<u8> {
        self.r.byte().filter(|e| (*e as usize) < self.encodings)
    }
    /// Ids are multiples of 8, and count up.
    fn id(&mut self) -> Option<i64> {
        self.r.signed().filter(|id| (0..1 << 60).contains(id))
    }
    fn class(&mut self) -> Option<ClassId> {
        let n: u64 = self.r.number()?;
        if n & 1 == 1 {
            return self.classes.get((n >> 1).try_into().ok()?).map(ClassId);
        }
        Some(ClassId((n >> 1).try_into().ok()?)).filter(|id| id.0 < FIRST_DYNAMIC && (self.boot_class)(*id).is_some())
    }
    /// A layout, and the number of its variables.
    fn shape(&mut self) -> Option<(u32, usize)> {
        let n = self.r.number()?;
        if n & 1 == 1 {
            let i: usize = (n >> 1).try_into().ok()?;
            return Some((self.shapes.get(i)?, *self.counts.get(i)? as usize));
        }
        let id: u32 = (n >> 1).try_into().ok()?;
        Some((id, (self.is_boot_shape)(id).filter(|_| id < FIRST_DYNAMIC)?))
    }
    fn value(&mut self) -> Option<Value> {
        let n = self.r.number()?;
        let rest = n >> TAG_BITS;
        Some(match n & ((1 << TAG_BITS) - 1) {
            SPECIAL => *SPECIALS.get(rest as usize)?,
            SMALL => Value::try_fixnum((rest >> 1) as i64 ^ -((rest & 1) as i64))?,
            FIXNUM if rest == 0 => Value::try_fixnum(i64::from_le_bytes(self.r.take(8)?.try_into().ok()?))?,
            FLONUM if rest == 0 => {
                let bits = u64::from_le_bytes(self.r.take(8)?.try_into().ok()?);
                // SAFETY: a flonum's, no cell's.
                (bits & 3 == 2).then(|| unsafe { Value::from_bits(bits) })?
            }
            SYMBOL => Value::sym(*self.names.get(usize::try_from(rest).ok()?)?),
            NODE if (rest as usize) < self.nodes && rest < 1 << 48 => Graph::node(rest as usize),
            BOOT => *self.boot.get(usize::try_from(rest).ok()?)?,
            // What made no cell is nil.
            IMAGE if !self.is_image => *self.image.get(usize::try_from(rest).ok()?)?,
            _ => return None,
        })
    }
    /// A list of values as a run of the graph's words.
    fn values(&mut self, g: &mut Graph) -> Option<Span> {
        let n: usize = self.r.narrow()?;
        if n > self.r.rest.len() {
            return None;
        }
        self.fixed(g, n)
    }
    fn fixed(&mut self, g: &mut Graph, n: usize) -> Option<Span> {
        let start = g.words.len();
        for _ in 0..n {
            let v = self.value()?;
            g.words.push(v);
        }
        Some(Span { start, len: n })
    }
    fn code(&mut self) -> Option<Arc<Code>> {
        let i: usize = self.r.narrow()?;
        self.codes.get(i).cloned()
    }
    /// What a payload or state was saved as; and its Codes.
    fn part(&mut self) -> Option<(&'a [u8], &'a [u8], Vec<Arc<dyn Any + Send + Sync>>)> {
        let (name, bytes) = (self.r.blob()?, self.r.blob()?);
        let codes = self.list(|r| {
            let i: usize = r.r.narrow()?;
            r.shared.get(i).cloned()
        })?;
        Some((name, bytes, codes))
    }
    fn payload(&mut self, g: &mut Graph) -> Option<(Rebuild, Span)> {
        let (name, bytes, codes) = self.part()?;
        let s = self.values(g)?;
        let loader = loaders().iter().find(|l| l.name.as_bytes() == name)?;
        let rebuild = (loader.load)(&mut SavedReader { rest: bytes, shared: &codes, values: s.len })?;
        let origin = Origin { name: loader.name, bytes: bytes.into(), codes: codes.into() };
        Some((Arc::new(LoadedPayload(rebuild, origin)), s))
    }
    fn state(&mut self, g: &mut Graph) -> Option<(Restore, Span)> {
        let (name, bytes, codes) = self.part()?;
        let s = self.values(g)?;
        let loader = state_loaders().iter().find(|l| l.name.as_bytes() == name)?;
        let restore = (loader.load)(&mut SavedReader { rest: bytes, shared: &codes, values: s.len })?;
        let origin = Origin { name: loader.name, bytes: bytes.into(), codes: codes.into() };
        Some((Arc::new(LoadedState(restore, origin)), s))
    }

    /// A graph with what it adds to the numbers of classes and layouts.
    fn graph(&mut self) -> Option<Graph> {
        let mut g = Graph::default();
        let (first_class, first_shape) = if self.is_image { (0, 0) } else { (self.classes.end, self.shapes.end) };
        let (class_end, shape_end) = (self.r.narrow()?, self.r.narrow()?);
        // Each is described in what follows.
        let most = self.r.rest.len();
        if class_end > first_class + most / CLASS_BYTES || shape_end > first_shape + most / SHAPE_BYTES {
            return None;
        }
        self.classes.extend(class_end)?;
        self.shapes.extend(shape_end)?;
        self.counts.resize(shape_end, 0);
        let mut next = first_shape;
        g.shapes = self.list(|r| {
            let n = r.r.number()?;
            if n != (next as u64) << 1 | 1 {
                return None;
            }
            let id = r.shapes.get(next)?;
            let class = r.class()?;
            let (parent, before) = r.shape()?;
            let (name, count) = (r.name()?, r.r.narrow()?);
            // A layout has one variable more than its parent, or none: then it begins a line.
            if count as usize != before + 1 && count != 0 {
                return None;
            }
            r.counts[next] = count;
            next += 1;
            Some((id, ShapeInfo { class, parent, name, count }))
        })?;
        if next != shape_end {
            return None;
        }
        g.transitions = self.list(|r| {
            let (from, name, to) = (r.shape()?, r.name()?, r.shape()?);
            (to.1 == from.1 + 1).then_some(((from.0, name), to.0))
        })?;
        // Nodes stand behind the Codes, whose once-sites may name them.
        let before = std::mem::replace(&mut self.nodes, usize::MAX);
        let mut codes = self.list(|r| {
            let code = r.code()?;
            let parent = match r.r.narrow::<usize>()? {
                0 => None,
                p => Some(p - 1),
            };
            let keeps_keywords = r.r.flag()?;
            let once = r.values(&mut g)?;
            if once.len != 0 && once.len != code.once_sites as usize {
                return None;
            }
            Some(CodeNode { code, parent, once, keeps_keywords })
        })?;
        self.nodes = before;
        if codes.iter().enumerate().any(|(i, c)| c.parent.is_some_and(|p| p >= i)) {
            return None;
        }
        g.codes.append(&mut codes);
        let classes: usize = self.r.narrow()?;
        let nodes: usize = self.r.narrow()?;
        if nodes > self.r.rest.len() || classes > self.r.rest.len() {
            return None;
        }
        self.nodes = nodes;
        if !g.words.iter().all(|v| Graph::as_node(*v).is_none_or(|n| n < nodes)) {
            return None;
        }
        g.nodes.reserve(nodes.min(1 << 20));
        for n in 0..nodes {
            let node = self.node(&mut g, n)?;
            g.nodes.push(node);
        }
        let mut next = first_class;
        for _ in 0..classes {
            let d = self.class_data(&g, &mut next)?;
            g.classes.push(d);
        }
        if next != class_end {
            return None;
        }
        g.generic = self.list(|r| {
            let n = r.index()?;
            Some((n, r.list(|r| Some((r.name()?, r.value()?)))?))
        })?;
        g.object_ids = self.list(|r| Some((r.index()?, r.id()?)))?;
        g.identities = self.list(|r| Some((r.index()?, r.r.number()?)))?;
        g.next_object_id = self.id()?;
        if self.r.flag()? {
            g.thread = Some([self.value()?, self.value()?, self.value()?]);
        }
        for _ in 0..self.r.number()? {
            let state = self.state(&mut g)?;
            g.states.push(state);
        }
        for _ in 0..self.r.number()? {
            let v = self.value()?;
            let (rebuild, s) = self.payload(&mut g)?;
            if !v.is_template() || !v.is_kind(Kind::Data) {
                return None;
            }
            g.untracked.push((v, rebuild, s));
        }
        g.root = self.value()?;
        check(&g)?;
        // Made here, so that a reader's VM never sees a code of another process.
        codes_of_keys(&mut g, self.redefined & fast::CLASS_HASH != 0);
        let mut templates = UntracedVec::new();
        if !self.is_image {
            super::write::each_outside(&g, &mut |v| {
                if v.is_template() {
                    templates.push(v);
                }
            });
        }
        g.templates = templates;
        Some(g)
    }
    fn index(&mut self) -> Option<usize> {
        self.r.narrow().filter(|n| *n < self.nodes)
    }
    /// Flags, the word beside them and the layout of a cell of a kind; and how many variables the layout has.
    fn head(&mut self, kind: Kind) -> Option<(Header, usize)> {
        let flags = self.r.byte()? & kept_flags(kind);
        let aux = self.r.narrow()?;
        let (shape, count) = self.shape()?;
        Some((Header { shape, kind: kind as u8, flags, aux }, count))
    }
    fn node(&mut self, g: &mut Graph, n: usize) -> Option<Node> {
        let plain = |kind: Kind, class: ClassId| Header { shape: class.0, kind: kind as u8, flags: 0, aux: 0 };
        let node = |header: Header, body: Body| Some(Node { header, name: sym::empty, body });
        match self.r.byte()? {
            body::NIL => node(plain(Kind::Free, ids::OBJECT), Body::Nil),
            body::FLOAT => node(Header { flags: flags::FROZEN, ..plain(Kind::Float, ids::FLOAT) }, Body::Float(self.r.float()?)),
            body::BIG => node(Header { flags: flags::FROZEN, ..plain(Kind::Bignum, ids::INTEGER) }, Body::Big(Box::new(self.r.big()?))),
            body::STRING => {
                let (mut h, _) = self.head(Kind::String)?;
                let bytes = self.r.blob()?;
                let encoding = h.aux as u8;
                if encoding as usize >= self.encodings {
                    return None;
                }
                // What the content is said to be is not believed.
                h.aux = u16::from(encoding) | code_range(bytes, encoding) << 8;
                node(h, text(bytes)?)
            }
            body::WORDS => {
                let kind = *Kind::ALL.get(self.r.byte()? as usize)?;
                let (h, count) = self.head(kind)?;
                let name = if kind == Kind::MethodObj { self.name()? } else { sym::empty };
                let s = self.values(g)?;
                let fits = match kind {
                    Kind::Object | Kind::Exception => s.len == count,
                    Kind::Array => true,
                    Kind::Env => s.len >= 1 && s.len - 1 <= EnvCell::MAX_SLOTS,
                    Kind::Cref => s.len == 4,
                    Kind::Range | Kind::Rational | Kind::Complex => s.len == 2,
                    Kind::MethodObj => s.len == 3,
                    Kind::Moved => s.len == 0,
                    _ => false,
                };
                fits.then_some(Node { header: h, name, body: Body::Words(s) })
            }
            body::HASH => {
                let (h, _) = self.head(Kind::Hash)?;
                let default = self.value()?;
                let (is_proc, by_identity) = (self.r.flag()?, self.r.flag()?);
                let entries = self.list(|r| Some(Entry { hash: 0, key: r.value()?, value: r.value()? }))?;
                if entries.iter().any(|e| e.key.is_undef()) {
                    return None;
                }
                // Codes come once all keys are there.
                let mut table = HashTable::from_entries_unindexed(entries);
                table.by_identity = by_identity;
                node(h, Body::Hash(Some(Box::new(table)), default, is_proc))
            }
            body::CLASS => {
                let (h, _) = self.head(Kind::Class)?;
                node(h, Body::Class(self.class()?))
            }
            tag @ (body::BLOCK | body::PROC | body::NATIVE_PROC) => {
                let (h, _) = self.head(Kind::Proc)?;
                let (code, fits) = match tag {
                    body::BLOCK => {
                        let i: usize = self.r.narrow()?;
                        let is_block = g.codes.get(i).is_some_and(|c| c.code.kind == CodeKind::Block);
                        (i, is_block && h.aux == ProcKind::Block as u16)
                    }
                    body::NATIVE_PROC => (zakuro_object::saved::function_at(self.r.number()?)?, h.aux == ProcKind::Native as u16),
                    _ => (0, h.aux != ProcKind::Block as u16 && h.aux != ProcKind::Native as u16 && h.aux <= ProcKind::Wrapped as u16),
                };
                if !fits {
                    return None;
                }
                node(h, Body::Proc(code, self.fixed(g, 4)?.start))
            }
            body::METHOD => {
                let (h, _) = self.head(Kind::Method)?;
                let (name, called, owner, reserved) = (self.name()?, self.name()?, self.class()?, self.r.narrow()?);
                let kind = h.aux >> 8;
                if kind > MethodKind::Missing as u16 || h.aux & 7 > Visibility::Protected as u16 {
                    return None;
                }
                let body = if kind == MethodKind::Ruby as u16 {
                    let code = self.code()?;
                    if code.kind != CodeKind::Method {
                        return None;
                    }
                    Arc::as_ptr(&code) as usize
                } else if kind == MethodKind::Native as u16 {
                    let table = *all_tables().get(self.r.narrow::<usize>()?)?;
                    table.get(self.r.narrow::<usize>()?)? as *const MethodRow as usize
                } else {
                    0
                };
                let words = self.fixed(g, 2)?.start;
                node(h, Body::Method { words, name, called, owner, reserved, body })
            }
            body::DATA => {
                let (h, _) = self.head(Kind::Data)?;
                let (rebuild, s) = self.payload(g)?;
                node(h, Body::Data(Some(rebuild), s))
            }
            body::BARE_DATA => {
                let (h, _) = self.head(Kind::Data)?;
                node(h, Body::Data(None, Span { start: 0, len: 0 }))
            }
            body::MAIN if !self.is_image => node(plain(Kind::Object, ids::OBJECT), Body::Main),
            body::THREAD => {
                let (h, _) = self.head(Kind::Data)?;
                let again = g.nodes[..n].iter().any(|n| matches!(n.body, Body::CurrentThread));
                if again { None } else { node(h, Body::CurrentThread) }
            }
            _ => None,
        }
    }
    fn class_option(&mut self) -> Option<Option<ClassId>> {
        Some(if self.r.flag()? { Some(self.class()?) } else { None })
    }
    /// Data of a class; those that are no boot classes come in the order of their numbers, each once.
    fn class_data(&mut self, g: &Graph, next: &mut usize) -> Option<ClassData> {
        let id = self.class()?;
        let own = id.0 >= FIRST_DYNAMIC;
        if own {
            if self.classes.get(*next) != Some(id.0) {
                return None;
            }
            *next += 1;
        } else if !self.is_image {
            return None;
        }
        let (root_shape, _) = self.shape()?;
        let kind = match self.r.byte()? {
            k if k == ClassKind::Class as u8 => ClassKind::Class,
            k if k == ClassKind::Module as u8 => ClassKind::Module,
            k if k == ClassKind::Singleton as u8 => ClassKind::Singleton,
            _ => return None,
        };
        let allocators = [
            Alloc::None,
            Alloc::Object,
            Alloc::Exception,
            Alloc::Class,
            Alloc::Module,
            Alloc::String,
            Alloc::Array,
            Alloc::Hash,
            Alloc::Range,
            Alloc::Data,
        ];
        let alloc = self.r.byte()?;
        let alloc = *allocators.iter().find(|a| **a as u8 == alloc)?;
        let (frozen, repeats, known) = (self.r.flag()?, self.r.flag()?, self.r.flag()?);
        let (own_places, ivar_hint) = (self.r.narrow()?, self.r.narrow()?);
        let mut object = self.value()?;
        match Graph::as_node(object) {
            Some(n) if own => {
                if !matches!(g.nodes.get(n)?.body, Body::Class(i) if i == id) {
                    return None;
                }
            }
            // A class of the boot image has that one's object.
            _ if own => return None,
            _ => object = (self.boot_class)(id)?,
        }
        let mut d = ClassData::new(id, kind, object, None);
        (d.root_shape, d.alloc, d.frozen, d.repeats, d.own_places, d.ivar_hint) =
            (root_shape, alloc, frozen, repeats, own_places, ivar_hint);
        if known {
            d.known.set();
        }
        (d.attached, d.extra) = (self.value()?, self.value()?);
        if self.r.flag()? {
            d.name = Some(self.name()?);
        }
        (d.singleton, d.superclass, d.beyond, d.lexical_parent) =
            (self.class_option()?, self.class_option()?, self.class_option()?, self.class_option()?);
        d.includes = self.list(Self::class)?;
        d.prepends = self.list(Self::class)?;
        d.near = self.list(Self::class)?;
        d.sorted = self.list(Self::class)?;
        // In ascending order of the process's numbers, which later ones of a file have, too; but those of the boot image come first in both.
        d.sorted.sort_unstable();
        d.dependents = self.list(Self::class)?;
        if d.near.is_empty() || d.own_places as usize > d.near.len() {
            return None;
        }
        let methods = self.list(|r| Some((r.name()?, r.value()?)))?;
        d.method_order = methods.iter().map(|m| m.0).collect();
        d.methods = methods.into_iter().collect();
        let consts = self.list(|r| {
            let (name, value, autoload, bits) = (r.name()?, r.value()?, r.value()?, r.r.byte()?);
            Some((name, ConstEntry { value, autoload, private: bits & 1 != 0, deprecated: bits & 2 != 0 }))
        })?;
        d.const_order = consts.iter().map(|c| c.0).collect();
        d.consts = consts.into_iter().collect();
        d.cvars = self.list(|r| Some((r.name()?, r.value()?)))?;
        d.ivars = self.list(|r| Some((r.name()?, r.value()?)))?;
        Some(d)
    }
}

/// The content of a String.
fn text(bytes: &[u8]) -> Option<Body> {
    if bytes.len() <= string::INLINE {
        let mut inline = [0; string::INLINE];
        inline[..bytes.len()].copy_from_slice(bytes);
        return Some(Body::Inline(bytes.len() as u8, inline));
    }
    let buf = BufRef::new(bytes.len())?;
    // SAFETY: a new buffer of that size, which nobody else has.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buf.data(), bytes.len()) };
    Some(Body::Shared(buf, 0, bytes.len()))
}

/// The code range in the header of a String that is read where it is, and so can't find it out for itself. 0: unknown.
fn code_range(bytes: &[u8], encoding: u8) -> u16 {
    let wide = crate::convert::is_wide(encoding);
    match () {
        () if !wide && bytes.is_ascii() => string::CodeRange::Ascii as u16,
        () if encoding == string::UTF8 && std::str::from_utf8(bytes).is_ok() => string::CodeRange::Valid as u16,
        () => 0,
    }
}
