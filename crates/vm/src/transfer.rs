//! Messages between VMs: packing a value into an envelope, opening it in another heap.
//!
//! One pass with an explicit work list (deep graphs don't recurse natively); sharing and cycles are kept; large String buffers travel by reference.
//! If anything can't be sent, a TypeError names the path to it and nothing is sent.
//! Rejected: Marshal (its byte stream is built and parsed again, and buffers are copied twice).

use crate::raise::Result;
use crate::vm::{Cx, FastMap};
use num_bigint::BigInt;
use std::sync::Arc;
use zakuro_heap::BufRef;
use zakuro_object::*;

/// A value inside an envelope: immediate bits, or the number of a node.
#[derive(Clone, Copy)]
enum Item {
    Imm(u64),
    Node(u32),
}

/// A class as it travels. Numbers are unique in the process, so a receiver that has the number (from the boot image, or from an image of a VM that had
/// it) has the class; others look for the name.
#[derive(Clone)]
struct ClassRef {
    id: ClassId,
    name: Option<Arc<str>>,
}

enum Body {
    Float(f64),
    Big(Box<BigInt>),
    Bytes(Box<[u8]>, u8),
    Shared { buf: BufRef, offset: usize, len: usize, encoding: u8 },
    Array(Vec<Item>),
    Hash { pairs: Vec<(Item, Item)>, default: Item, by_identity: bool },
    Range { low: Item, high: Item, exclusive: bool },
    Pair { kind: Kind, first: Item, second: Item },
    Object { kind: Kind },
    Class(ClassRef),
    Data(SendPayload),
}

struct Node {
    body: Body,
    /// Class of the object when it isn't the plain one of its kind.
    class: Option<ClassRef>,
    ivars: Vec<(Sym, Item)>,
    frozen: bool,
}

/// A message: owned by no heap.
pub struct Envelope {
    root: Item,
    nodes: Vec<Node>,
    bytes: usize,
    /// What travels beside the value (start messages).
    pub luggage: Option<Box<dyn std::any::Any + Send>>,
}

impl zakuro_channel::Weigh for Envelope {
    fn weight(&self) -> usize {
        self.bytes
    }
}

impl Envelope {
    /// Payload bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
    /// An envelope that holds nil.
    pub fn nil() -> Envelope {
        Envelope::immediate(Value::NIL)
    }
    /// An envelope that holds a value that is no cell.
    pub fn immediate(v: Value) -> Envelope {
        debug_assert!(!v.is_cell());
        Envelope { root: Item::Imm(v.0), nodes: Vec::new(), bytes: 8, luggage: None }
    }
}

/// Content above this travels by reference.
const SHARE_FROM: usize = 256;

/// How a node was reached: for the path in an error message.
#[derive(Clone)]
enum Step {
    Root,
    Index(usize),
    Key(Value),
    KeyItself,
    Ivar(Sym),
    Part(&'static str),
}

struct Packer {
    nodes: Vec<Node>,
    seen: FastMap<u64, u32>,
    /// Values whose nodes are still to be filled, with how they were reached.
    work: Vec<(Value, u32)>,
    parents: Vec<(u32, Step)>,
    bytes: usize,
}

impl Cx {
    /// Packs a value for another VM.
    pub fn pack(&mut self, v: Value) -> Result<Envelope> {
        if !v.is_cell() {
            return Ok(Envelope { root: Item::Imm(v.0), nodes: Vec::new(), bytes: 8, luggage: None });
        }
        let mut p = Packer { nodes: Vec::new(), seen: FastMap::default(), work: Vec::new(), parents: Vec::new(), bytes: 0 };
        let root = p.item(v, u32::MAX, Step::Root);
        let mut at = 0;
        while at < p.work.len() {
            let (v, n) = p.work[at];
            at += 1;
            let node = match self.pack_node(&mut p, v, n) {
                Some(node) => node,
                None => return self.unsendable(&p, v, n),
            };
            p.bytes += 32;
            p.nodes[n as usize] = node;
        }
        Ok(Envelope { root, nodes: p.nodes, bytes: p.bytes, luggage: None })
    }
    fn class_ref(&self, c: ClassId) -> Option<ClassRef> {
        let d = self.class(c);
        if d.kind == ClassKind::Singleton {
            return None;
        }
        if c.0 < shape::BOOT_ROOTS {
            return Some(ClassRef { id: c, name: None });
        }
        // An anonymous class has a way to other VMs only inside a lineage.
        let name = d.name.map(|n| n.name().into());
        (name.is_some() || self.forked).then_some(ClassRef { id: c, name })
    }
    fn pack_node(&mut self, p: &mut Packer, v: Value, n: u32) -> Option<Node> {
        let kind = v.kind_of_cell();
        let mut class = None;
        let plain = match kind {
            Kind::String => ids::STRING,
            Kind::Array => ids::ARRAY,
            Kind::Hash => ids::HASH,
            Kind::Range => ids::RANGE,
            _ => ClassId(0),
        };
        if kind != Kind::Class && kind != Kind::Float && kind != Kind::Bignum {
            let c = self.dispatch_class(v);
            if c != plain {
                class = Some(self.class_ref(c)?);
            }
        }
        let body = match kind {
            Kind::Float => Body::Float(v.as_float()?),
            Kind::Bignum => Body::Big(Ref::<BignumCell>::of(v).value.clone()),
            Kind::String => {
                let s = Ref::<StringCell>::of(v);
                p.bytes += s.len();
                match (s.len() >= SHARE_FROM).then(|| s.share()).flatten() {
                    Some((buf, offset, len)) => Body::Shared { buf, offset, len, encoding: s.encoding() },
                    None => Body::Bytes(s.bytes().into(), s.encoding()),
                }
            }
            Kind::Array => {
                let a = Ref::<ArrayCell>::of(v);
                p.bytes += a.len() * 8;
                Body::Array(a.as_slice().iter().enumerate().map(|(i, e)| p.item(*e, n, Step::Index(i))).collect())
            }
            Kind::Hash => {
                let h = Ref::<HashCell>::of(v);
                if h.default_is_proc {
                    return None;
                }
                let pairs = self.hash_pairs(h);
                p.bytes += pairs.len() * 24;
                let by_identity = h.table().is_some_and(|t| t.by_identity);
                let pairs = pairs.iter().map(|(k, v)| (p.item(*k, n, Step::KeyItself), p.item(*v, n, Step::Key(*k)))).collect();
                Body::Hash { pairs, default: p.item(h.default, n, Step::Part("default")), by_identity }
            }
            Kind::Range => {
                let r = Ref::<RangeCell>::of(v);
                Body::Range {
                    low: p.item(r.low(), n, Step::Part("begin")),
                    high: p.item(r.high(), n, Step::Part("end")),
                    exclusive: r.exclusive(),
                }
            }
            Kind::Rational | Kind::Complex => {
                let (a, b) = PairCell::from_value(v, kind)?;
                Body::Pair { kind, first: p.item(a, n, Step::Index(0)), second: p.item(b, n, Step::Index(1)) }
            }
            Kind::Object | Kind::Exception => Body::Object { kind },
            Kind::Class => {
                let c = Ref::<ClassCell>::of(v).id;
                Body::Class(self.class_ref(c)?)
            }
            Kind::Data => Body::Data(Ref::<DataCell>::of(v).send_copy()?),
            _ => return None,
        };
        if kind == Kind::Exception {
            self.settle_backtrace(v);
        }
        let ivars = if kind == Kind::Class { Vec::new() } else { self.ivar_list(v) };
        let ivars = ivars.into_iter().map(|(s, v)| (s, p.item(v, n, Step::Ivar(s)))).collect();
        Some(Node { body, class, ivars, frozen: v.flags() & flags::FROZEN != 0 })
    }
    #[cold]
    fn unsendable<T>(&mut self, p: &Packer, v: Value, n: u32) -> Result<T> {
        let what = self.class_name_of(v);
        let mut path = String::new();
        let mut at = n;
        loop {
            let (parent, step) = p.parents[at as usize].clone();
            let part = match step {
                Step::Root => break,
                Step::Index(i) => format!("[{i}]"),
                Step::Key(k) => format!("[{}]", self.inspect_for_error(k)),
                Step::KeyItself => ".keys".to_string(),
                Step::Ivar(s) => format!(".{}", s.name()),
                Step::Part(s) => format!(".{s}"),
            };
            path.insert_str(0, &part);
            at = parent;
        }
        let why = match v.kind_of_cell() {
            Kind::Hash => " with a default proc",
            Kind::Object | Kind::String | Kind::Array if self.dispatch_class(v) != self.class_of(v) => " with a singleton class",
            Kind::Object if self.class(self.class_of(v)).name.is_none() => " of an anonymous class",
            _ => "",
        };
        self.type_error(format!("can't send {what}{why} to another VM: ${path}").trim_end_matches(": $"))
    }
    /// Makes the value of an envelope in this VM's heap.
    pub fn open(&mut self, e: Envelope) -> Result<Value> {
        if let Item::Imm(bits) = e.root {
            return Ok(Value(bits));
        }
        let mut made = crate::make::RootedVec::new(self);
        let mut fill = Vec::with_capacity(e.nodes.len());
        // First every object, then what they refer to.
        for node in e.nodes {
            let class = match &node.class {
                Some(c) => Some(self.resolve_class(c)?),
                None => None,
            };
            let shape = |cx: &Cx, plain: ClassId| class.map_or(plain.0, |c| cx.root_shape(c));
            let mut rest = None;
            let v = match node.body {
                Body::Float(f) => self.float(f),
                Body::Big(b) => self.big(*b),
                Body::Bytes(b, enc) => {
                    let s = shape(self, ids::STRING);
                    StringCell::make(&mut self.heap, s, &b, enc).as_value()
                }
                Body::Shared { buf, offset, len, encoding } => {
                    let s = shape(self, ids::STRING);
                    StringCell::from_shared(&mut self.heap, s, buf, offset, len, encoding).as_value()
                }
                Body::Array(items) => {
                    let s = shape(self, ids::ARRAY);
                    rest = Some(Body::Array(items));
                    ArrayCell::empty(&mut self.heap, s).as_value()
                }
                Body::Hash { pairs, default, by_identity } => {
                    let s = shape(self, ids::HASH);
                    rest = Some(Body::Hash { pairs, default, by_identity });
                    HashCell::make(&mut self.heap, s).as_value()
                }
                Body::Range { low, high, exclusive } => {
                    let s = shape(self, ids::RANGE);
                    rest = Some(Body::Range { low, high, exclusive });
                    RangeCell::make(&mut self.heap, s, Value::NIL, Value::NIL, exclusive).as_value()
                }
                Body::Pair { kind, first, second } => {
                    let c = if kind == Kind::Rational { ids::RATIONAL } else { ids::COMPLEX };
                    rest = Some(Body::Pair { kind, first, second });
                    PairCell::make(&mut self.heap, c, kind, Value::NIL, Value::NIL)
                }
                Body::Object { kind } => self.new_object_of_kind(class.unwrap_or(ids::OBJECT), kind),
                Body::Class(c) => {
                    let c = self.resolve_class(&c)?;
                    self.class_value(c)
                }
                Body::Data(p) => {
                    let s = shape(self, ids::OBJECT);
                    DataCell::make(&mut self.heap, s, Some(p)).as_value()
                }
            };
            made.push(v);
            fill.push((rest, node.ivars, node.frozen));
        }
        let value = |made: &Vec<Value>, i: Item| match i {
            Item::Imm(b) => Value(b),
            Item::Node(n) => made[n as usize],
        };
        let mut hashes = Vec::new();
        for (n, (rest, ivars, frozen)) in fill.into_iter().enumerate() {
            let v = made[n];
            match rest {
                Some(Body::Array(items)) => {
                    let a = Ref::<ArrayCell>::of(v);
                    ArrayCell::reserve(a, &mut self.heap, items.len());
                    for i in items {
                        ArrayCell::push(a, &mut self.heap, value(&made, i));
                    }
                }
                Some(Body::Hash { pairs, default, by_identity }) => hashes.push((v, pairs, default, by_identity)),
                Some(Body::Range { low, high, exclusive }) => {
                    Ref::<RangeCell>::of(v).init(value(&made, low), value(&made, high), exclusive);
                }
                Some(Body::Pair { first, second, .. }) => {
                    // SAFETY: made as a PairCell above.
                    let mut p = unsafe { Ref::<PairCell>::from_ptr(v.0 as *mut PairCell) };
                    p.first = value(&made, first);
                    p.second = value(&made, second);
                }
                _ => {}
            }
            for (s, i) in ivars {
                self.ivar_set_raw(v, s, value(&made, i));
            }
            if frozen && v.is_cell() && !v.is_kind(Kind::Class) {
                v.set_flags(flags::FROZEN);
            }
        }
        // Hashes last: `hash` of a key may run Ruby code, and must see whole objects.
        for (v, pairs, default, by_identity) in hashes {
            let mut h = Ref::<HashCell>::of(v);
            h.default = value(&made, default);
            if by_identity {
                HashCell::change(h, &mut self.heap, |t| t.by_identity = true);
            }
            for (k, x) in pairs {
                self.hash_set(h, value(&made, k), value(&made, x))?;
            }
        }
        Ok(value(&made, e.root))
    }
    fn resolve_class(&mut self, c: &ClassRef) -> Result<ClassId> {
        if self.classes.get(c.id.0).is_some() {
            return Ok(c.id);
        }
        let Some(path) = &c.name else {
            return self.arg_error("an anonymous class of another VM");
        };
        let mut v = self.class_value(ids::OBJECT);
        for part in path.split("::") {
            let found = match self.class_id(v) {
                Some(c) => self.const_lookup_in(c, Sym::intern(part), c == ids::OBJECT)?,
                None => None,
            };
            match found {
                Some((_, x)) => v = x,
                None => return self.arg_error(format!("undefined class/module {path} (received from another VM)")),
            }
        }
        match self.class_id(v) {
            Some(c) => Ok(c),
            None => self.arg_error(format!("{path} is not a class/module")),
        }
    }
}

impl Packer {
    fn item(&mut self, v: Value, parent: u32, step: Step) -> Item {
        if !v.is_cell() {
            return Item::Imm(v.0);
        }
        if let Some(n) = self.seen.get(&v.0) {
            return Item::Node(*n);
        }
        let n = self.nodes.len() as u32;
        self.seen.insert(v.0, n);
        // Place holder; filled when the work list gets there.
        self.nodes.push(Node { body: Body::Float(0.0), class: None, ivars: Vec::new(), frozen: false });
        self.parents.push((parent, step));
        self.work.push((v, n));
        Item::Node(n)
    }
}
