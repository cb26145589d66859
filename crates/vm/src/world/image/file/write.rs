//! From an image to the content of a file.

use super::super::graph::{Body, Graph, Mode, Node, Walk, each_value_mut};
use super::super::{Image, Snapshot, Span};
use super::path::place_of;
use super::values::*;
use super::{Outcome, numbered};
use crate::boot::BootImage;
use crate::builtin::{MethodRow, all_tables};
use crate::vm::{Cx, FastMap, Vm};
use std::any::Any;
use std::collections::HashSet;
use std::sync::Arc;
use zakuro_bytecode::Code;
use zakuro_bytecode::binary::Writer as ArchiveWriter;
use zakuro_object::shape::{FIRST_DYNAMIC, ShapeInfo};
use zakuro_object::*;

/// A payload or state as it was saved.
struct Part {
    name: &'static str,
    bytes: Vec<u8>,
    /// Its Codes, by their numbers in the file.
    codes: Vec<usize>,
}

/// A graph, and what stands in its data objects and states.
struct Whole<'a> {
    graph: &'a Graph,
    payloads: FastMap<usize, Part>,
    /// None: of this process alone, left out.
    states: Vec<Option<Part>>,
    untracked: Vec<Part>,
}

/// The content of the file of an image.
pub(super) fn content(cx: &mut Cx, s: &Snapshot, main: Option<&Graph>) -> Outcome<Vec<u8>> {
    let Some(boot) = cx.boot else { return Err("there is no boot image".into()) };
    let known = Arc::new(numbered(boot));
    let mut vm = Vm::for_layer(cx.boot, cx.options.clone());
    vm.share_tables(s.image.clone());
    s.image.regions().iter().for_each(|r| vm.heap.hold(r));
    let tables = Tables::of(&s.image, boot);
    let mut w = Walk::new(Mode::Whole(s.image.clone(), known.clone()), (0, 0));
    for d in &tables.classes {
        // SAFETY: class data of the image, which the snapshot holds.
        let mut d = unsafe { (**d).clone() };
        if d.id == ids::RACTOR {
            // The Ractor that each VM is for itself: made when somebody asks.
            let own = ["@__current", "@__main"].map(Sym::intern);
            d.ivars.retain(|(name, _)| !own.contains(name));
        }
        each_value_mut(&mut d, &mut |v| w.value(v));
        w.graph.classes.push(d);
    }
    let globals: Vec<(Sym, Value)> =
        s.image.global_names().into_iter().filter_map(|name| Some((name, w.value(s.image.global(name)?)))).collect();
    let top = w.value(s.image.top().main);
    for l in &s.image.layers {
        l.parts.stale.iter().for_each(|v| {
            w.value(*v);
        });
        for state in l.vm.code_states.values().filter(|c| c.once.iter().any(|v| !v.is_undef())) {
            w.code(&**state);
        }
    }
    // What the graphs beside it name of the image, or of regions.
    let beside: Vec<&Graph> = std::iter::once(&*s.state).chain(main).collect();
    beside.iter().for_each(|g| {
        each_outside(g, &mut |v| {
            w.value(v);
        })
    });
    w.finish(&mut vm);
    let Walk { graph, cells, .. } = w;
    let mut out = Writer {
        out: Saved::default(),
        names: FastMap::default(),
        name_list: Vec::new(),
        boot: known,
        image: s.image.clone(),
        nodes: cells.iter().enumerate().map(|(n, v)| (v.bits(), n as u32)).collect(),
        classes: FastMap::default(),
        shapes: FastMap::default(),
        rows: rows(),
        codes: FastMap::default(),
        code_list: Vec::new(),
        is_main: true,
    };
    let mut wholes = Vec::new();
    for g in std::iter::once(&graph).chain(beside.iter().copied()) {
        let whole = out.whole(g).map_err(|(n, why)| format!("{why}{}", place_of(&graph, &globals, g, n)))?;
        wholes.push(whole);
    }
    // Numbers first, in the order in which the reader counts: what a graph adds comes after what those before it have.
    let mut lists = Vec::new();
    for (i, w) in wholes.iter().enumerate() {
        w.graph.classes.iter().for_each(|d| out.number_class(d.id));
        let (shapes, transitions) = if i == 0 { (&tables.shapes, &tables.transitions) } else { (&w.graph.shapes, &w.graph.transitions) };
        let mut new: Vec<(u32, ShapeInfo)> =
            shapes.iter().copied().filter(|(id, s)| !out.shapes.contains_key(id) && out.has_class(s.class)).collect();
        // Each behind its parent: numbers are used again, and say nothing about that.
        new.sort_unstable_by_key(|s| (s.1.count, s.0));
        new.iter().for_each(|(id, _)| out.number_shape(*id));
        let mut transitions: Vec<((u32, Sym), u32)> =
            transitions.iter().copied().filter(|(k, to)| out.has_shape(k.0) && out.has_shape(*to)).collect();
        transitions.sort_unstable_by_key(|t| t.1);
        lists.push((new, transitions, out.classes.len(), out.shapes.len()));
    }
    out.number(lists[0].2);
    out.tables(&s.image, &tables)?;
    out.list(&globals, |o, (name, v)| {
        o.name(*name);
        o.value(*v)
    })?;
    out.value(top)?;
    for (i, w) in wholes.iter().enumerate() {
        out.is_main = i == 0;
        // What a graph before has described is not described again.
        let first_class = if i == 0 { 0 } else { lists[i - 1].2 };
        let (shapes, transitions, class_end, shape_end) = &lists[i];
        out.number(*class_end);
        out.number(*shape_end);
        out.shapes(shapes, transitions)?;
        out.graph(w, first_class)?;
    }
    out.ids_of_boot(&s.image)?;
    // In front what the rest refers to.
    let rest = std::mem::take(&mut out.out.bytes);
    out.codes_and_names(&rest, main.is_some())
}

/// What the image's tables say beside the cells.
struct Tables {
    /// Class data that the boot image has not, or not so, in order of their numbers.
    classes: Vec<*mut ClassData>,
    shapes: Vec<(u32, ShapeInfo)>,
    transitions: Vec<((u32, Sym), u32)>,
    places: Vec<((ClassId, Sym), (Arc<str>, u32))>,
}

impl Tables {
    fn of(image: &Image, boot: &BootImage) -> Tables {
        let top = image.top();
        let mut classes = Vec::new();
        top.classes.each(&mut |id, s| {
            if boot.class(ClassId(id)).is_none_or(|d| !std::ptr::eq(d, s.data)) {
                classes.push(s.data);
            }
        });
        let has = |id: ClassId| top.classes.get(id.0).is_some();
        let mut shapes = Vec::new();
        // A shape that is left of a class that died is nobody's.
        top.shapes.each(&mut |id, s| {
            if boot.shape(id).is_none() && has(s.class) {
                shapes.push((id, *s));
            }
        });
        let mut transitions = FastMap::default();
        let mut places = FastMap::default();
        for l in &image.layers {
            transitions.extend(l.vm.transitions.iter().map(|(k, v)| (*k, *v)));
            places.extend(l.vm.const_places.iter().map(|(k, v)| (*k, v.clone())));
        }
        let transitions = transitions.into_iter().filter(|(k, to)| !boot.has_transition(*k, *to)).collect();
        let mut places: Vec<_> = places.into_iter().filter(|(k, _)| has(k.0)).collect();
        places.sort_unstable_by_key(|p| (p.0.0, p.0.1.0));
        Tables { classes, shapes, transitions, places }
    }
}

/// Every cell that a graph refers to and that is none of its own.
pub(super) fn each_outside(g: &Graph, f: &mut dyn FnMut(Value)) {
    let mut see = |v: Value| {
        if v.is_cell() && v.bits() != 0 {
            f(v)
        }
    };
    g.words.iter().for_each(|v| see(*v));
    for node in &g.nodes {
        if let Body::Hash(table, default, _) = &node.body {
            see(*default);
            table.iter().flat_map(|t| t.iter()).for_each(|e| {
                see(e.key);
                see(e.value);
            });
        }
    }
    for d in &g.classes {
        d.each_value(&mut see);
    }
    g.generic.iter().flat_map(|(_, list)| list).for_each(|(_, v)| see(*v));
    g.thread.iter().flatten().for_each(|v| see(*v));
    g.untracked.iter().for_each(|(v, ..)| see(*v));
    see(g.root);
}

/// Rows of builtins by their address.
fn rows() -> FastMap<usize, (u32, u32)> {
    let mut all = FastMap::default();
    for (t, table) in all_tables().iter().enumerate() {
        for (r, row) in table.iter().enumerate() {
            all.insert(row as *const MethodRow as usize, (t as u32, r as u32));
        }
    }
    all
}

/// The Code that a method's body is.
fn code_at(body: usize) -> Arc<Code> {
    // SAFETY: the address of a Code that the image keeps, in an Arc; the extra count balances `from_raw`.
    unsafe {
        Arc::increment_strong_count(body as *const Code);
        Arc::from_raw(body as *const Code)
    }
}

fn is_ruby(node: &Node) -> bool {
    node.header.aux >> 8 == MethodKind::Ruby as u16
}

struct Writer {
    out: Saved,
    names: FastMap<Sym, u32>,
    name_list: Vec<Sym>,
    boot: Arc<FastMap<u64, u32>>,
    image: Arc<Image>,
    /// Cells of the image, and of regions, by their node.
    nodes: FastMap<u64, u32>,
    classes: FastMap<u32, u32>,
    shapes: FastMap<u32, u32>,
    rows: FastMap<usize, (u32, u32)>,
    codes: FastMap<usize, usize>,
    code_list: Vec<Arc<Code>>,
    /// The graph is the image's, whose nodes are numbered in `nodes`.
    is_main: bool,
}

impl Writer {
    fn number(&mut self, n: usize) {
        self.out.number(n as u64);
    }
    fn list<T>(&mut self, list: &[T], mut f: impl FnMut(&mut Self, &T) -> Outcome<()>) -> Outcome<()> {
        self.number(list.len());
        list.iter().try_for_each(|x| f(self, x))
    }
    fn name(&mut self, s: Sym) {
        let next = self.name_list.len() as u32;
        let i = *self.names.entry(s).or_insert(next);
        if i == next {
            self.name_list.push(s);
        }
        self.out.number(i.into());
    }
    fn number_class(&mut self, id: ClassId) {
        if id.0 >= FIRST_DYNAMIC {
            let next = self.classes.len() as u32;
            self.classes.entry(id.0).or_insert(next);
        }
    }
    fn number_shape(&mut self, id: u32) {
        if id >= FIRST_DYNAMIC {
            let next = self.shapes.len() as u32;
            self.shapes.entry(id).or_insert(next);
        }
    }
    fn has_class(&self, id: ClassId) -> bool {
        id.0 < FIRST_DYNAMIC || self.classes.contains_key(&id.0)
    }
    fn has_shape(&self, id: u32) -> bool {
        id < FIRST_DYNAMIC || self.shapes.contains_key(&id)
    }
    fn class(&mut self, id: ClassId) -> Outcome<()> {
        self.counted(id.0, true)
    }
    fn shape(&mut self, id: u32) -> Outcome<()> {
        self.counted(id, false)
    }
    fn counted(&mut self, id: u32, class: bool) -> Outcome<()> {
        let n = match id {
            id if id < FIRST_DYNAMIC => u64::from(id) << 1,
            id => match if class { &self.classes } else { &self.shapes }.get(&id) {
                Some(n) => u64::from(*n) << 1 | 1,
                None => return Err(format!("{} {id} is in no table", if class { "class" } else { "layout" })),
            },
        };
        self.out.number(n);
        Ok(())
    }
    fn value(&mut self, v: Value) -> Outcome<()> {
        let tagged = |n: u64, tag: u64| n << TAG_BITS | tag;
        if let Some(i) = v.as_fixnum() {
            let n = (i << 1 ^ i >> 63) as u64;
            if n >> (64 - TAG_BITS) == 0 {
                self.out.number(tagged(n, SMALL));
            } else {
                self.out.number(FIXNUM);
                self.out.bytes.extend(i.to_le_bytes());
            }
        } else if v.is_flonum() {
            self.out.number(FLONUM);
            self.out.bytes.extend(v.bits().to_le_bytes());
        } else if let Some(s) = v.as_sym() {
            let next = self.name_list.len() as u32;
            let i = *self.names.entry(s).or_insert(next);
            if i == next {
                self.name_list.push(s);
            }
            self.out.number(tagged(i.into(), SYMBOL));
        } else if let Some(n) = Graph::as_node(v) {
            self.out.number(tagged(n as u64, NODE));
        } else if let Some(n) = SPECIALS.iter().position(|s| *s == v) {
            self.out.number(tagged(n as u64, SPECIAL));
        } else if let Some(n) = self.boot.get(&v.bits()) {
            self.out.number(tagged((*n).into(), BOOT));
        } else {
            match self.nodes.get(&self.image.resolve(v).bits()) {
                Some(n) if !self.is_main => self.out.number(tagged((*n).into(), IMAGE)),
                _ => return Err("a reference leads out of the image".into()),
            };
        }
        Ok(())
    }
    fn values(&mut self, g: &Graph, s: Span) -> Outcome<()> {
        self.list(&g.words[s.start..s.start + s.len], |o, v| o.value(*v))
    }
    /// The same where the reader knows how many there are.
    fn fixed(&mut self, g: &Graph, start: usize, len: usize) -> Outcome<()> {
        g.words[start..start + len].iter().try_for_each(|v| self.value(*v))
    }
    fn code(&mut self, c: Arc<Code>) -> usize {
        let next = self.code_list.len();
        let n = *self.codes.entry(Arc::as_ptr(&c) as usize).or_insert(next);
        if n == next {
            self.code_list.push(c);
        }
        n
    }
    /// Has payloads and states saved, and finds the Codes. Err: the node that can't be, and why.
    fn whole<'a>(&mut self, g: &'a Graph) -> std::result::Result<Whole<'a>, (usize, String)> {
        for c in &g.codes {
            self.code(c.code.clone());
        }
        let mut payloads = FastMap::default();
        if let Some((n, what)) = g.lost.first() {
            let what = what.rsplit("::").next().unwrap_or(what);
            return Err((*n, format!("its state ({what}) only means something in this process")));
        }
        for (n, node) in g.nodes.iter().enumerate() {
            match &node.body {
                Body::Method { body, .. } if is_ruby(node) => drop(self.code(code_at(*body))),
                Body::Data(Some(rebuild), _) => {
                    let saved = self.part(|out| rebuild.save(out));
                    let Some(part) = saved else { return Err((n, "it only means something in this process".into())) };
                    payloads.insert(n, part);
                }
                _ => {}
            }
        }
        let states = g.states.iter().map(|(restore, _)| self.part(|out| restore.save(out))).collect();
        let mut untracked = Vec::new();
        for (v, rebuild, _) in &g.untracked {
            match self.part(|out| rebuild.save(out)) {
                Some(part) => untracked.push(part),
                None => {
                    let n = self.nodes.get(&self.image.resolve(*v).bits()).map_or(0, |n| *n as usize);
                    // A node of the image, not of this graph.
                    return Err((usize::MAX - n, "it is open in this process".into()));
                }
            }
        }
        Ok(Whole { graph: g, payloads, states, untracked })
    }
    fn part(&mut self, save: impl FnOnce(&mut Saved) -> Option<&'static str>) -> Option<Part> {
        let mut out = Saved::default();
        let name = save(&mut out)?;
        let codes: Option<Vec<usize>> =
            out.shared.into_iter().map(|c: Arc<dyn Any + Send + Sync>| Some(self.code(c.downcast::<Code>().ok()?))).collect();
        Some(Part { name, bytes: out.bytes, codes: codes? })
    }
    fn put_part(&mut self, p: &Part) {
        self.out.blob(p.name.as_bytes());
        self.out.blob(&p.bytes);
        self.number(p.codes.len());
        p.codes.iter().for_each(|c| self.number(*c));
    }

    /// What belongs to the VM as a whole.
    fn tables(&mut self, image: &Image, t: &Tables) -> Outcome<()> {
        let top = image.top();
        self.out.number(top.redefined.into());
        self.out.flag(top.once_used).signed(top.next_object_id);
        let mut aliases: Vec<(Sym, Sym)> = top.global_aliases.iter().map(|(a, b)| (*a, *b)).collect();
        aliases.sort_unstable_by_key(|a| a.0.0);
        self.list(&aliases, |o, (a, b)| {
            o.name(*a);
            o.name(*b);
            Ok(())
        })?;
        let mut files: FastMap<Arc<str>, usize> = FastMap::default();
        let mut names = Vec::new();
        for (_, (file, _)) in &t.places {
            files.entry(file.clone()).or_insert_with(|| {
                names.push(file.clone());
                names.len() - 1
            });
        }
        self.list(&names, |o, f| {
            o.out.blob(f.as_bytes());
            Ok(())
        })?;
        self.list(&t.places, |o, ((class, name), (file, line))| {
            o.class(*class)?;
            o.name(*name);
            o.number(files[file]);
            o.number(*line as usize);
            Ok(())
        })
    }
    fn shapes(&mut self, shapes: &[(u32, ShapeInfo)], transitions: &[((u32, Sym), u32)]) -> Outcome<()> {
        self.list(shapes, |o, (id, s)| {
            o.shape(*id)?;
            o.class(s.class)?;
            // A root has none.
            o.shape(if s.count == 0 { *id } else { s.parent })?;
            o.name(s.name);
            o.number(s.count.into());
            Ok(())
        })?;
        self.list(transitions, |o, ((from, name), to)| {
            o.shape(*from)?;
            o.name(*name);
            o.shape(*to)
        })
    }
    fn graph(&mut self, w: &Whole, first_class: usize) -> Outcome<()> {
        let g = w.graph;
        let is_new = |o: &Self, id: ClassId| o.classes.get(&id.0).map_or(o.is_main, |n| *n as usize >= first_class);
        let classes: Vec<&ClassData> = g.classes.iter().filter(|d| is_new(self, d.id)).collect();
        self.list(&g.codes, |o, c| {
            o.number(o.codes[&(Arc::as_ptr(&c.code) as usize)]);
            o.number(c.parent.map_or(0, |p| p + 1));
            o.out.flag(c.keeps_keywords);
            o.values(g, c.once)
        })?;
        self.number(classes.len());
        self.number(g.nodes.len());
        for (n, node) in g.nodes.iter().enumerate() {
            self.node(g, node, w.payloads.get(&n))?;
        }
        for d in classes {
            self.class_data(d)?;
        }
        self.list(&g.generic, |o, (n, list)| {
            o.number(*n);
            o.list(list, |o, (name, v)| {
                o.name(*name);
                o.value(*v)
            })
        })?;
        self.list(&g.object_ids, |o, (n, id)| {
            o.number(*n);
            o.out.signed(*id);
            Ok(())
        })?;
        self.list(&g.identities, |o, (n, id)| {
            o.number(*n);
            o.out.number(*id);
            Ok(())
        })?;
        self.out.signed(g.next_object_id);
        self.out.flag(g.thread.is_some());
        g.thread.iter().flatten().try_for_each(|v| self.value(*v))?;
        let states: Vec<(&Part, Span)> = w.states.iter().zip(&g.states).filter_map(|(p, (_, s))| Some((p.as_ref()?, *s))).collect();
        self.list(&states, |o, (p, s)| {
            o.put_part(p);
            o.values(g, *s)
        })?;
        self.number(w.untracked.len());
        for (p, (v, _, s)) in w.untracked.iter().zip(&g.untracked) {
            self.value(*v)?;
            self.put_part(p);
            self.values(g, *s)?;
        }
        self.value(g.root)
    }
    fn head(&mut self, h: &Header) -> Outcome<()> {
        self.out.bytes.push(h.flags);
        self.out.number(h.aux.into());
        self.shape(h.shape)
    }
    fn tag(&mut self, t: u8) {
        self.out.bytes.push(t);
    }
    fn node(&mut self, g: &Graph, node: &Node, payload: Option<&Part>) -> Outcome<()> {
        let h = &node.header;
        match &node.body {
            Body::Nil => self.tag(body::NIL),
            Body::Float(f) => {
                self.tag(body::FLOAT);
                self.out.float(*f);
            }
            Body::Big(n) => {
                self.tag(body::BIG);
                self.out.big(n);
            }
            Body::Inline(len, bytes) => {
                self.tag(body::STRING);
                self.head(h)?;
                self.out.blob(&bytes[..*len as usize]);
            }
            Body::Shared(buf, offset, len) if h.kind == Kind::Array as u8 => {
                self.words_head(h)?;
                // SAFETY: the Array's elements, which are immediates, in a buffer that the body holds.
                let list = unsafe { std::slice::from_raw_parts(buf.data().add(*offset).cast::<Value>(), *len) };
                self.list(list, |o, v| o.value(*v))?;
            }
            Body::Shared(buf, offset, len) => {
                self.tag(body::STRING);
                self.head(h)?;
                // SAFETY: the String's bytes, in a buffer that the body holds.
                self.out.blob(unsafe { std::slice::from_raw_parts(buf.data().add(*offset), *len) });
            }
            Body::Words(s) => {
                self.words_head(h)?;
                if h.kind == Kind::MethodObj as u8 {
                    self.name(node.name);
                }
                self.values(g, *s)?;
            }
            Body::Hash(table, default, is_proc) => {
                self.tag(body::HASH);
                self.head(h)?;
                self.value(*default)?;
                self.out.flag(*is_proc).flag(table.as_ref().is_some_and(|t| t.by_identity));
                self.number(table.as_ref().map_or(0, |t| t.len()));
                for e in table.iter().flat_map(|t| t.iter()) {
                    self.value(e.key)?;
                    self.value(e.value)?;
                }
            }
            Body::Class(id) => {
                self.tag(body::CLASS);
                self.head(h)?;
                self.class(*id)?;
            }
            Body::Proc(code, at) => {
                let kind = h.aux;
                if kind == ProcKind::Block as u16 {
                    self.tag(body::BLOCK);
                    self.head(h)?;
                    self.number(*code);
                } else if kind == ProcKind::Native as u16 {
                    let Some(place) = zakuro_object::saved::place_of_function(*code) else {
                        return Err("a Proc of native code outside of the binary".into());
                    };
                    self.tag(body::NATIVE_PROC);
                    self.head(h)?;
                    self.out.number(place);
                } else {
                    self.tag(body::PROC);
                    self.head(h)?;
                }
                self.fixed(g, *at, 4)?;
            }
            Body::Method { words, name, called, owner, reserved, body } => {
                self.tag(body::METHOD);
                self.head(h)?;
                self.name(*name);
                self.name(*called);
                self.class(*owner)?;
                self.out.number((*reserved).into());
                if is_ruby(node) {
                    self.number(self.codes[body]);
                } else if h.aux >> 8 == MethodKind::Native as u16 {
                    let Some((table, row)) = self.rows.get(body).copied() else {
                        return Err(format!("method {name} is a builtin of no table"));
                    };
                    self.out.number(table.into()).number(row.into());
                }
                self.fixed(g, *words, 2)?;
            }
            Body::Data(_, s) => match payload {
                Some(p) => {
                    self.tag(body::DATA);
                    self.head(h)?;
                    self.put_part(p);
                    self.values(g, *s)?;
                }
                None => {
                    self.tag(body::BARE_DATA);
                    self.head(h)?;
                }
            },
            Body::Main => self.tag(body::MAIN),
            Body::CurrentThread => {
                self.tag(body::THREAD);
                self.head(h)?;
            }
        }
        Ok(())
    }
    fn words_head(&mut self, h: &Header) -> Outcome<()> {
        self.tag(body::WORDS);
        self.tag(h.kind);
        self.head(h)
    }
    fn class_list(&mut self, list: &[ClassId]) -> Outcome<()> {
        self.list(list, |o, c| o.class(*c))
    }
    fn class_option(&mut self, c: Option<ClassId>) -> Outcome<()> {
        self.out.flag(c.is_some());
        c.map_or(Ok(()), |c| self.class(c))
    }
    fn class_data(&mut self, d: &ClassData) -> Outcome<()> {
        self.class(d.id)?;
        self.shape(d.root_shape)?;
        self.out.bytes.extend([d.kind as u8, d.alloc as u8]);
        self.out.flag(d.frozen).flag(d.repeats).flag(d.known.get()).number(d.own_places.into()).number(d.ivar_hint.into());
        self.value(d.object)?;
        self.value(d.attached)?;
        self.value(d.extra)?;
        self.out.flag(d.name.is_some());
        d.name.iter().for_each(|n| self.name(*n));
        for c in [d.singleton, d.superclass, d.beyond, d.lexical_parent] {
            self.class_option(c)?;
        }
        // Weak: those that died may still stand there.
        let dependents: Vec<ClassId> =
            d.dependents.iter().copied().filter(|c| c.0 < FIRST_DYNAMIC || self.classes.contains_key(&c.0)).collect();
        for l in [&d.includes, &d.prepends, &d.near, &d.sorted, &dependents] {
            self.class_list(l)?;
        }
        // In order of definition; what has lost its place there comes last.
        let ordered = |order: &NameOrder, has: &dyn Fn(Sym) -> bool, all: Vec<Sym>| -> Vec<Sym> {
            let mut names: Vec<Sym> = Vec::with_capacity(all.len());
            let mut seen = HashSet::with_capacity(all.len());
            names.extend(order.iter().chain(all).filter(|n| has(*n) && seen.insert(*n)));
            names
        };
        let mut methods: Vec<Sym> = d.methods.keys().copied().collect();
        methods.sort_unstable_by_key(|s| s.0);
        let methods = ordered(&d.method_order, &|n| d.methods.contains_key(&n), methods);
        self.list(&methods, |o, n| {
            o.name(*n);
            o.value(d.methods[n])
        })?;
        let mut consts: Vec<Sym> = d.consts.keys().copied().collect();
        consts.sort_unstable_by_key(|s| s.0);
        let consts = ordered(&d.const_order, &|n| d.consts.contains_key(&n), consts);
        self.list(&consts, |o, n| {
            let e = &d.consts[n];
            o.name(*n);
            o.value(e.value)?;
            o.value(e.autoload)?;
            o.out.bytes.push(u8::from(e.private) | u8::from(e.deprecated) << 1);
            Ok(())
        })?;
        for l in [&d.cvars, &d.ivars] {
            self.list(l, |o, (n, v)| {
                o.name(*n);
                o.value(*v)
            })?;
        }
        Ok(())
    }
    /// Object ids and identities that cells of the boot image were given.
    fn ids_of_boot(&mut self, image: &Image) -> Outcome<()> {
        let mut ids: Vec<(u32, i64)> = Vec::new();
        for l in &image.layers {
            ids.extend(l.vm.object_ids.iter().filter_map(|(p, id)| Some((*self.boot.get(&(*p as u64))?, *id))));
        }
        ids.sort_unstable();
        ids.dedup_by_key(|i| i.0);
        self.list(&ids, |o, (n, id)| {
            o.number(*n as usize);
            o.out.signed(*id);
            Ok(())
        })
    }

    /// Writes each tree of Codes once, names, and then the parts that refer to both.
    fn codes_and_names(mut self, rest: &[u8], has_main: bool) -> Outcome<Vec<u8>> {
        let inner = nested(&self.code_list);
        let mut archive = ArchiveWriter::new();
        let mut programs: Vec<Arc<Code>> = Vec::new();
        let mut ways: FastMap<usize, (usize, Vec<u32>)> = FastMap::default();
        for c in &self.code_list {
            if inner.contains(&(Arc::as_ptr(c) as usize)) {
                continue;
            }
            archive.add(c).map_err(|_| format!("code of {} is nested too deep", c.file))?;
            note_ways(c, programs.len(), &mut Vec::new(), &self.codes, &mut ways);
            programs.push(c.clone());
        }
        let mut files: FastMap<Arc<str>, usize> = FastMap::default();
        let mut sources: FastMap<usize, usize> = FastMap::default();
        let (mut file_list, mut source_list) = (Vec::new(), Vec::new());
        let mut program_list = Vec::new();
        for c in &programs {
            let file = *files.entry(c.file.clone()).or_insert_with(|| {
                file_list.push(c.file.clone());
                file_list.len() - 1
            });
            let source = *sources.entry(c.source.as_ptr() as usize).or_insert_with(|| {
                source_list.push(c.source.clone());
                source_list.len() - 1
            });
            program_list.push((file, source));
        }
        self.out.bytes.clear();
        self.out.flag(has_main);
        let names = std::mem::take(&mut self.name_list);
        self.list(&names, |o, s| {
            o.out.bytes.push(s.encoding());
            o.out.blob(s.bytes());
            Ok(())
        })?;
        self.list(&file_list, |o, f| {
            o.out.blob(f.as_bytes());
            Ok(())
        })?;
        self.list(&source_list, |o, s| {
            o.out.blob(s);
            Ok(())
        })?;
        self.list(&program_list, |o, (file, source)| {
            o.number(*file);
            o.number(*source);
            Ok(())
        })?;
        self.out.blob(&archive.finish());
        let codes = std::mem::take(&mut self.code_list);
        self.list(&codes, |o, c| {
            let Some((program, way)) = ways.get(&(Arc::as_ptr(c) as usize)) else { return Err("a Code is in no tree".into()) };
            o.number(*program);
            o.list(way, |o, i| {
                o.number(*i as usize);
                Ok(())
            })
        })?;
        let mut out = std::mem::take(&mut self.out.bytes);
        out.extend(rest);
        Ok(out)
    }
}

/// Those that are nested in others of the list.
fn nested(list: &[Arc<Code>]) -> HashSet<usize> {
    let mut inner = HashSet::new();
    let mut work: Vec<&Arc<Code>> = Vec::new();
    for c in list {
        work.extend(c.children.iter());
        while let Some(c) = work.pop() {
            if inner.insert(Arc::as_ptr(c) as usize) {
                work.extend(c.children.iter());
            }
        }
    }
    inner
}

/// Notes how each Code that somebody refers to is reached. As deep as Codes are nested, which the archive has refused beyond a hundred.
fn note_ways(
    c: &Arc<Code>,
    program: usize,
    way: &mut Vec<u32>,
    wanted: &FastMap<usize, usize>,
    out: &mut FastMap<usize, (usize, Vec<u32>)>,
) {
    let at = Arc::as_ptr(c) as usize;
    if wanted.contains_key(&at) {
        out.entry(at).or_insert_with(|| (program, way.clone()));
    }
    for (i, child) in c.children.iter().enumerate() {
        way.push(i as u32);
        note_ways(child, program, way, wanted, out);
        way.pop();
    }
}
