//! Images: the program state of a VM as a graph that belongs to no heap, and the VMs that are spawned from it.
//!
//! *Program state*: own class data (methods, constants, class variables, singleton classes, ...), shapes, globals, the main object, instance
//! variables beside the layouts, object ids, the current thread's locals, and what libraries declare ([`VmState::snapshot`]) — with everything that
//! can be reached from there and from a root value (a block and its arguments). Cells of the boot image are referred to by address; class and
//! shape ids are unique in the process, so the copy keeps them. What runs is left behind, as after fork(2): other threads and fibers are dead, locks
//! free; `at_exit` blocks and traps stay with the VM that set them.
//!
//! In an image a cell is replaced by its node number in a `Value` with a tag of its own ([`Image::node`]), so that tables are copied as they are and
//! then rewritten in one pass. Both directions work with a list: deep graphs don't recurse natively.
//!
//! [`VmState::snapshot`]: crate::vm::VmState::snapshot

use crate::frame::CodeState;
use crate::make::RootedVec;
use crate::raise::Result;
use crate::thread::Thread;
use crate::vm::{ClassSlot, Cx, FastMap, Restore};
use num_bigint::BigInt;
use std::collections::HashSet;
use std::sync::Arc;
use zakuro_base::Options;
use zakuro_bytecode::Code;
use zakuro_heap::{BufRef, Region};
use zakuro_object::shape::ShapeInfo;
use zakuro_object::string::CodeRange;
use zakuro_object::*;

/// A run of values in [`Image::words`].
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    len: usize,
}

#[derive(Clone)]
enum Body {
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
    /// Environment, self, method, extra; the code is an index into [`Image::codes`] for literal blocks, a function for native ones.
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
    /// The main object, in a graph.
    Main,
    /// The Thread object of the thread that made the image: the main thread in the VMs spawned from it.
    CurrentThread,
}

#[derive(Clone)]
struct Node {
    header: Header,
    /// Name of a MethodObj; encoding and code range of a String are in the header.
    name: Sym,
    body: Body,
}

#[derive(Clone)]
struct CodeNode {
    code: Arc<Code>,
    parent: Option<usize>,
    /// Values of once-sites.
    once: Span,
}

/// See the module. A *graph* is an image of a root value alone, for a VM that is spawned from an older image of the same VM: classes that the older
/// image has are referred to by their numbers.
#[derive(Clone)]
pub struct Image {
    /// Only what the root value needs.
    graph: bool,
    /// To be opened after this one; its root value counts.
    then: Option<Box<Image>>,
    nodes: Vec<Node>,
    words: Vec<Value>,
    codes: Vec<CodeNode>,
    classes: Vec<ClassData>,
    shapes: Vec<(u32, ShapeInfo)>,
    transitions: FastMap<(u32, Sym), u32>,
    globals: FastMap<Sym, Value>,
    global_aliases: FastMap<Sym, Sym>,
    const_places: FastMap<(ClassId, Sym), (Arc<str>, u32)>,
    /// Instance variables of nodes that keep them outside their layout.
    generic: Vec<(usize, Vec<(Sym, Value)>)>,
    object_ids: Vec<(usize, i64)>,
    next_object_id: i64,
    kept: Vec<Arc<FastMap<usize, Arc<Code>>>>,
    states: Vec<(Restore, Span)>,
    main: Value,
    root: Value,
    /// `Thread#[]`, `thread_variable_get`, name of the thread that made the image.
    thread: Option<[Value; 3]>,
    redefined: u32,
    script: String,
    options: Arc<Options>,
    /// Regions whose cells it may refer to, by address.
    regions: Vec<Region>,
}

const NODE_TAG: u64 = 0x44;

impl Image {
    /// A node as a value. The tag is one that no Ruby value has.
    fn node(n: usize) -> Value {
        Value((n as u64) << 8 | NODE_TAG)
    }
    fn as_node(v: Value) -> Option<usize> {
        (v.0 & 0xff == NODE_TAG).then_some((v.0 >> 8) as usize)
    }
    /// Number of objects in it.
    pub fn objects(&self) -> usize {
        self.nodes.len()
    }
}

/// Flags that mean the same in the copy. The others say how the cell's memory is laid out.
fn kept_flags(kind: Kind) -> u8 {
    let own = match kind {
        Kind::Proc => LAMBDA | ORPHAN,
        Kind::Hash => KEYWORDS,
        _ => 0,
    };
    flags::FROZEN | flags::HAS_IVARS | flags::HAS_ID | own
}

struct Capture {
    image: Image,
    /// For a graph: numbers of the classes that need not come along, or have been added.
    known: HashSet<u32>,
    seen: FastMap<u64, usize>,
    /// The cell of each node.
    cells: Vec<Value>,
    codes: FastMap<usize, usize>,
}

impl Cx {
    /// The image of this VM's program state. `root` is the value that [`Cx::adopt`] gives back.
    pub fn capture(&mut self, root: Value) -> Image {
        let mut c = self.begin_capture(false);
        self.capture_tables(&mut c);
        c.image.root = c.value(root);
        self.capture_cells(c)
    }
    /// A copy of an older image of this VM that carries a root value of today.
    pub fn extend_image(&mut self, image: &Image, root: Value) -> Image {
        let mut c = self.begin_capture(true);
        c.known.extend(image.classes.iter().map(|d| d.id.0));
        self.shapes.each_own(&mut |id, s| c.image.shapes.push((id, *s)));
        c.image.root = c.value(root);
        let graph = self.capture_cells(c);
        Image { then: Some(Box::new(graph)), ..image.clone() }
    }
    fn begin_capture(&mut self, graph: bool) -> Capture {
        self.forked = true;
        if !self.kept_codes.is_empty() {
            let layer = std::mem::take(&mut self.kept_codes);
            self.kept_layers.push(Arc::new(layer));
        }
        // The last image was probably about as large.
        let (nodes, words) = self.image_size;
        Capture {
            known: HashSet::new(),
            image: Image {
                graph,
                then: None,
                nodes: Vec::with_capacity(nodes),
                words: Vec::with_capacity(words),
                codes: Vec::new(),
                classes: Vec::new(),
                shapes: Vec::new(),
                transitions: self.transitions.clone(),
                globals: FastMap::default(),
                global_aliases: FastMap::default(),
                const_places: FastMap::default(),
                generic: Vec::new(),
                object_ids: Vec::new(),
                next_object_id: self.next_object_id,
                kept: self.kept_layers.clone(),
                states: Vec::new(),
                main: Value::NIL,
                root: Value::NIL,
                thread: None,
                redefined: self.redefined,
                script: self.script.clone(),
                options: self.options.clone(),
                regions: self.heap.regions(),
            },
            seen: FastMap::with_capacity_and_hasher(nodes, Default::default()),
            cells: Vec::with_capacity(nodes),
            codes: FastMap::default(),
        }
    }
    fn capture_tables(&mut self, c: &mut Capture) {
        c.image.global_aliases = self.global_aliases.clone();
        c.image.const_places = self.const_places.clone();
        self.shapes.each_own(&mut |id, s| c.image.shapes.push((id, *s)));
        let mut classes = Vec::new();
        self.classes.each_own(&mut |_, slot| {
            if slot.own {
                // SAFETY: own slots point to live class data of this VM.
                let mut d = unsafe { (*slot.data).clone() };
                each_value_mut(&mut d, &mut |v| c.value(v));
                classes.push(d);
            }
        });
        c.image.classes = classes;
        c.image.globals = self.globals.iter().map(|(name, v)| (*name, c.value(*v))).collect();
        c.image.main = c.value(self.main);
        if let Some(t) = &mut self.threads {
            let t = t.current();
            if !(t.locals.is_nil() && t.variables.is_nil() && t.name.is_nil()) {
                c.image.thread = Some([t.locals, t.variables, t.name].map(|v| c.value(v)));
            }
        }
        let mut held = Vec::new();
        for s in self.states.values() {
            held.clear();
            if let Some(restore) = s.snapshot_state(&mut held) {
                let span = c.span(&held);
                c.image.states.push((restore, span));
            }
        }
        if self.once_used {
            for s in self.code_states.values() {
                if s.once.iter().any(|v| !v.is_undef()) {
                    c.code(&**s);
                }
            }
        }
    }
    fn capture_cells(&mut self, mut c: Capture) -> Image {
        let mut at = 0;
        while at < c.cells.len() {
            let v = c.cells[at];
            let node = c.cell(self, v, at);
            c.image.nodes.push(node);
            at += 1;
        }
        self.image_size = (c.image.nodes.len() + 16, c.image.words.len() + 64);
        c.image
    }

    /// Takes an image's program state over: for a new VM that has run nothing yet. Returns the copy of the root value.
    ///
    /// Ruby code runs only for `hash` of keys, after everything is in place.
    pub fn adopt(&mut self, image: Image) -> Result<Value> {
        self.forked = true;
        image.regions.iter().for_each(|r| self.heap.hold(r));
        let Image { nodes, mut words, codes, classes, shapes, generic, graph, .. } = image;
        if graph {
            self.transitions.extend(image.transitions);
        } else {
            self.script = image.script;
            self.options = image.options;
            self.redefined = image.redefined;
            self.transitions = image.transitions;
            self.global_aliases = image.global_aliases;
            self.const_places = image.const_places;
        }
        self.kept_layers.extend(image.kept);
        for (id, s) in shapes {
            *self.shapes.slot(id) = Some(s);
        }
        // First every cell, then what they refer to.
        let mut made = Vec::with_capacity(nodes.len());
        for n in &nodes {
            let v = self.new_cell(n, &words);
            made.push(v);
        }
        let made = RootedVec::from_vec(self, made);
        let fix = |v: Value| match Image::as_node(v) {
            Some(n) => made[n],
            None => v,
        };
        words.iter_mut().for_each(|v| *v = fix(*v));
        for mut d in classes {
            each_value_mut(&mut d, &mut |v| fix(v));
            let id = d.id;
            if graph {
                for up in d.superclass.iter().chain(&d.includes).chain(&d.prepends) {
                    self.class_mut(*up).dependents.push(id);
                }
            }
            *self.classes.slot(id.0) = Some(ClassSlot { data: Box::into_raw(Box::new(d)), own: true });
        }
        if !graph {
            let mut globals = image.globals;
            globals.values_mut().for_each(|v| *v = fix(*v));
            self.globals = globals;
            self.main = fix(image.main);
        }
        self.next_object_id = self.next_object_id.max(image.next_object_id);
        for (n, id) in image.object_ids {
            self.object_ids.insert(made[n].0 as usize, id);
        }
        for (n, mut list) in generic {
            list.iter_mut().for_each(|(_, v)| *v = fix(*v));
            self.generic_ivars.insert(made[n].0 as usize, list);
        }
        let mut states: Vec<*const CodeState> = Vec::with_capacity(codes.len());
        for c in &codes {
            let s = self.code_state(&c.code);
            // SAFETY: made just above, and those of the list; they live as long as the VM, which nobody else uses.
            unsafe {
                if let Some(p) = c.parent {
                    (*s).parent.set(states[p]);
                }
                if c.once.len > 0 {
                    (*(s as *mut CodeState)).once.copy_from_slice(&words[c.once.start..c.once.start + c.once.len]);
                    self.once_used = true;
                }
            }
            states.push(s);
        }
        let mut hashes = Vec::new();
        for (n, node) in nodes.into_iter().enumerate() {
            self.fill_cell(made[n], node, &words, &states, &fix, &mut hashes);
        }
        if let Some(t) = image.thread {
            let t = t.map(fix);
            let me = self.threads().current();
            [me.locals, me.variables, me.name] = t;
        }
        for (restore, s) in image.states {
            restore(self, &words[s.start..s.start + s.len]);
        }
        let root = fix(image.root);
        self.pinned.push(root);
        for h in hashes {
            self.rehash_moved(Ref::of(h))?;
        }
        self.pinned.pop();
        match image.then {
            Some(graph) => self.adopt(*graph),
            None => Ok(root),
        }
    }

    /// The cell of a node, without what it refers to.
    fn new_cell(&mut self, n: &Node, words: &[Value]) -> Value {
        let Header { shape, kind, aux, .. } = n.header;
        let kind = Kind::from_u8(kind);
        let h = Header { flags: 0, ..n.header };
        let heap = &mut self.heap;
        match &n.body {
            Body::Nil => Value::NIL,
            Body::Main => self.main,
            Body::CurrentThread => self.current_thread(),
            Body::Float(f) => FloatCell::make(heap, *f),
            Body::Big(b) => self.big((**b).clone()),
            Body::Inline(len, bytes) => {
                let mut s = StringCell::make(heap, shape, &bytes[..*len as usize], aux as u8);
                s.set_code_range(range_of(aux));
                s.as_value()
            }
            Body::Shared(buf, offset, len) => {
                let mut s = StringCell::from_shared(heap, shape, buf.clone(), *offset, *len, aux as u8);
                s.set_code_range(range_of(aux));
                s.as_value()
            }
            Body::Hash(..) => HashCell::make(heap, shape).as_value(),
            Body::Class(id) if self.classes.get(id.0).is_some() => self.class_value(*id),
            Body::Class(id) => alloc_cell(heap, ClassCell { header: h, id: *id }).as_value(),
            Body::Proc(..) => {
                let nil = Value::NIL;
                alloc_cell(heap, ProcCell { header: h, code: 0, env: nil, self_: nil, me: nil, extra: nil }).as_value()
            }
            Body::Method { name, called, owner, reserved, body, .. } => {
                let (cref, data) = (Value::NIL, Value::NIL);
                let cell =
                    MethodCell { header: h, name: *name, called: *called, owner: *owner, reserved: *reserved, cref, body: *body, data };
                alloc_cell(heap, cell).as_value()
            }
            Body::Data(..) => DataCell::make(heap, shape, None).as_value(),
            Body::Words(span) => match kind {
                Kind::Object | Kind::Exception | Kind::Moved => {
                    ObjectCell::make(heap, shape, kind, (aux as usize).max(span.len)).as_value()
                }
                Kind::Array => ArrayCell::empty(heap, shape).as_value(),
                // The first word is the parent.
                Kind::Env => EnvCell::make(heap, Value::NIL, words[span.start + 1..span.start + span.len].len()).as_value(),
                Kind::Cref => {
                    let nil = Value::NIL;
                    alloc_cell(heap, CrefCell { header: h, class: nil, parent: nil, definee: nil, refinements: nil }).as_value()
                }
                Kind::Range => RangeCell::make(heap, shape, Value::NIL, Value::NIL, aux != 0).as_value(),
                Kind::Rational | Kind::Complex => {
                    let nil = Value::NIL;
                    alloc_cell(heap, PairCell { header: h, first: nil, second: nil }).as_value()
                }
                Kind::MethodObj => {
                    let nil = Value::NIL;
                    alloc_cell(heap, MethodObjCell { header: h, receiver: nil, method: nil, class: nil, name: n.name }).as_value()
                }
                _ => Value::NIL,
            },
        }
    }

    /// Writes what a cell refers to. Hashes whose keys' hash codes may have changed with their addresses go to `hashes`.
    fn fill_cell(
        &mut self,
        v: Value,
        node: Node,
        words: &[Value],
        states: &[*const CodeState],
        fix: &dyn Fn(Value) -> Value,
        hashes: &mut Vec<Value>,
    ) {
        if !v.is_cell() || matches!(node.body, Body::CurrentThread | Body::Main) {
            return;
        }
        let kind = v.kind_of_cell();
        match node.body {
            Body::Words(s) => {
                let w = &words[s.start..s.start + s.len];
                match kind {
                    Kind::Object | Kind::Exception => {
                        // SAFETY: both kinds are laid out as ObjectCell.
                        let mut o = unsafe { Ref::<ObjectCell>::from_ptr(v.0 as *mut ObjectCell) };
                        if let Some(last) = w.len().checked_sub(1) {
                            ObjectCell::grow(o, &mut self.heap, last);
                        }
                        w.iter().enumerate().for_each(|(i, x)| o.set(i, *x));
                    }
                    Kind::Array => ArrayCell::extend(Ref::of(v), &mut self.heap, w),
                    Kind::Env => {
                        let mut e = Ref::<EnvCell>::of(v);
                        e.parent = w[0];
                        // SAFETY: made with room for the slots.
                        w[1..].iter().enumerate().for_each(|(i, x)| unsafe { *e.slots_ptr().add(i) = *x });
                    }
                    Kind::Cref => {
                        let mut c = Ref::<CrefCell>::of(v);
                        (c.class, c.parent, c.definee, c.refinements) = (w[0], w[1], w[2], w[3]);
                    }
                    Kind::Range => {
                        let mut r = Ref::<RangeCell>::of(v);
                        let exclusive = r.exclusive();
                        r.init(w[0], w[1], exclusive);
                        // RangeCell::make freezes; a dup'ed range of a subclass is not.
                        r.header.flags = 0;
                    }
                    Kind::Rational | Kind::Complex => {
                        // SAFETY: both kinds are laid out as PairCell.
                        let mut p = unsafe { Ref::<PairCell>::from_ptr(v.0 as *mut PairCell) };
                        (p.first, p.second) = (w[0], w[1]);
                    }
                    Kind::MethodObj => {
                        let mut o = Ref::<MethodObjCell>::of(v);
                        (o.receiver, o.method, o.class) = (w[0], w[1], w[2]);
                    }
                    _ => {}
                }
            }
            Body::Hash(table, default, is_proc) => {
                let mut h = Ref::<HashCell>::of(v);
                h.default = fix(default);
                h.default_is_proc = is_proc;
                if let Some(mut t) = table {
                    let mut moved = false;
                    let by_identity = t.by_identity;
                    t.map_values(&mut |x| {
                        let y = fix(x);
                        let by_content = matches!(y.kind(), None | Some(Kind::String | Kind::Float | Kind::Bignum));
                        moved |= x != y && (by_identity || !by_content);
                        y
                    });
                    HashCell::change(h, &mut self.heap, |own| *own = *t);
                    if moved {
                        hashes.push(v);
                    }
                }
            }
            Body::Proc(code, at) => {
                let mut p = Ref::<ProcCell>::of(v);
                p.code = if p.proc_kind() == ProcKind::Block { states[code] as usize } else { code };
                (p.env, p.self_, p.me, p.extra) = (words[at], words[at + 1], words[at + 2], words[at + 3]);
            }
            Body::Method { words: at, .. } => {
                let mut m = Ref::<MethodCell>::of(v);
                (m.cref, m.data) = (words[at], words[at + 1]);
            }
            Body::Data(Some(rebuild), s) => {
                if let Some(payload) = rebuild(self, &words[s.start..s.start + s.len]) {
                    Ref::<DataCell>::of(v).set(&mut self.heap, payload);
                }
            }
            _ => {}
        }
        v.set_flags(node.header.flags);
    }

    /// Computes the hash codes of keys again that may depend on addresses.
    fn rehash_moved(&mut self, h: Ref<HashCell>) -> Result<()> {
        let mut i = 0;
        while let Some((slots, by_identity)) = h.table().map(|t| (t.slots(), t.by_identity)) {
            if i >= slots {
                break;
            }
            if let Some(key) = h.table().and_then(|t| t.entry(i)).map(|e| e.key)
                && key.is_cell()
            {
                let hash = if by_identity { self.identity_hash(key) } else { self.hash_of(key)? };
                HashCell::change(h, &mut self.heap, |t| t.set_hash(i, hash));
            }
            i += 1;
        }
        HashCell::change(h, &mut self.heap, |t| t.reindexed());
        Ok(())
    }
}

/// Code range in the aux word of a String.
fn range_of(aux: u16) -> CodeRange {
    match aux >> 8 & 3 {
        0 => CodeRange::Unknown,
        1 => CodeRange::Ascii,
        2 => CodeRange::Valid,
        _ => CodeRange::Broken,
    }
}

/// Rewrites every value that a class's data holds.
fn each_value_mut(d: &mut ClassData, f: &mut dyn FnMut(Value) -> Value) {
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

impl Capture {
    /// A value as the image refers to it; new cells get in line.
    fn value(&mut self, v: Value) -> Value {
        if !v.is_cell() || v.0 == 0 || v.flags() & flags::SHARED != 0 {
            return v;
        }
        let next = self.cells.len();
        let n = *self.seen.entry(v.0).or_insert(next);
        if n == next {
            self.cells.push(v);
        }
        Image::node(n)
    }
    fn span(&mut self, values: &[Value]) -> Span {
        let start = self.image.words.len();
        self.image.words.reserve(values.len());
        for v in values {
            let v = self.value(*v);
            self.image.words.push(v);
        }
        Span { start, len: values.len() }
    }
    /// Number of a code state, those around it first.
    fn code(&mut self, cs: *const CodeState) -> usize {
        let mut chain = Vec::new();
        let mut at = cs;
        while !at.is_null() && !self.codes.contains_key(&(at as usize)) {
            chain.push(at);
            // SAFETY: code states live as long as the VM that is captured.
            at = unsafe { (*at).parent.get() };
        }
        for p in chain.into_iter().rev() {
            // SAFETY: as above.
            let s = unsafe { &*p };
            let parent = self.codes.get(&(s.parent.get() as usize)).copied();
            let once = if s.once.iter().all(|v| v.is_undef()) { &[][..] } else { &s.once };
            let once = self.span(once);
            self.codes.insert(p as usize, self.image.codes.len());
            self.image.codes.push(CodeNode { code: s.code.clone(), parent, once });
        }
        self.codes.get(&(cs as usize)).copied().unwrap_or(0)
    }
    /// Takes a class along that the older image does not have, with those that it needs.
    fn add_class(&mut self, cx: &Cx, id: ClassId) {
        let mut work = vec![id];
        while let Some(id) = work.pop() {
            if !cx.classes.get(id.0).is_some_and(|s| s.own) || id.0 < shape::FIRST_DYNAMIC || !self.known.insert(id.0) {
                continue;
            }
            let mut d = cx.class(id).clone();
            work.extend(d.mro.iter().chain(&d.singleton).chain(&d.lexical_parent));
            d.dependents.clear();
            each_value_mut(&mut d, &mut |v| self.value(v));
            self.image.classes.push(d);
        }
    }
    fn cell(&mut self, cx: &mut Cx, v: Value, n: usize) -> Node {
        let kind = v.kind_of_cell();
        if kind == Kind::Exception {
            cx.settle_backtrace(v);
        }
        if self.image.graph {
            let id = match cx.class_id(v) {
                Some(id) => id,
                None => cx.dispatch_class(v),
            };
            self.add_class(cx, id);
        }
        // SAFETY: a live cell of the VM that is captured.
        let mut header = unsafe { *v.header() };
        header.flags &= kept_flags(kind);
        let mut name = sym::empty;
        let body = match kind {
            Kind::Object if self.image.graph && v == cx.main => Body::Main,
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
                match s.share() {
                    Some((buf, offset, len)) => Body::Shared(buf, offset, len),
                    None => {
                        let mut bytes = [0; string::INLINE];
                        bytes[..s.len()].copy_from_slice(s.bytes());
                        Body::Inline(s.len() as u8, bytes)
                    }
                }
            }
            Kind::Object | Kind::Exception => {
                // SAFETY: both kinds are laid out as ObjectCell.
                let o = unsafe { Ref::<ObjectCell>::from_ptr(v.0 as *mut ObjectCell) };
                let count = cx.shape(v.shape_key()).count as usize;
                let slots = o.all_slots();
                Body::Words(self.span(&slots[..count.min(slots.len())]))
            }
            Kind::Array => Body::Words(self.span(Ref::<ArrayCell>::of(v).as_slice())),
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
                Body::Words(self.span(&[o.receiver, o.method, o.class]))
            }
            Kind::Hash => {
                let h = Ref::<HashCell>::of(v);
                let mut table = h.table().map(|t| Box::new(t.image()));
                if let Some(t) = &mut table {
                    t.map_values(&mut |x| self.value(x));
                }
                Body::Hash(table, self.value(h.default), h.default_is_proc)
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
            Kind::Data => {
                let d = Ref::<DataCell>::of(v);
                let me = cx.threads.as_mut().map(|t| t.current().object);
                if d.get::<Thread>().is_some() && me == Some(v) {
                    Body::CurrentThread
                } else {
                    let mut held = Vec::new();
                    let rebuild = d.snapshot(&mut held);
                    Body::Data(rebuild, self.span(&held))
                }
            }
        };
        if header.flags & flags::HAS_IVARS != 0
            && let Some(list) = cx.generic_ivars.get(&(v.0 as usize))
        {
            let list = list.iter().map(|(s, x)| (*s, self.value(*x))).collect();
            self.image.generic.push((n, list));
        }
        if !cx.object_ids.is_empty()
            && let Some(id) = cx.object_ids.get(&(v.0 as usize))
        {
            self.image.object_ids.push((n, *id));
        }
        Node { header, name, body }
    }
}
