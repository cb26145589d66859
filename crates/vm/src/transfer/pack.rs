//! Packing: one pass over a graph with a work list; the first part that can't travel ends it, with the path to it.

use super::{Body, ClassRef, Envelope, Item, Node, SHARE_FROM};
use crate::raise::Result;
use crate::vm::{Cx, FastMap};
use zakuro_object::*;

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
    attempts: super::region::Attempts,
}

impl Cx {
    /// Packs a value for another VM.
    pub fn pack(&mut self, v: Value) -> Result<Envelope> {
        if !v.is_cell() {
            return Ok(Envelope { root: Item::Imm(v.0), nodes: Vec::new(), bytes: 8, luggage: None });
        }
        let mut p = Packer {
            nodes: Vec::new(),
            seen: FastMap::default(),
            work: Vec::new(),
            parents: Vec::new(),
            bytes: 0,
            attempts: Default::default(),
        };
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
    pub(super) fn class_ref(&self, c: ClassId) -> Option<ClassRef> {
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
        let copied = p.nodes.len();
        if let Some(node) = self.pack_by_reference(&mut p.attempts, v, copied) {
            p.bytes += Cx::region_weight(&mut p.attempts, &node);
            return Some(node);
        }
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
                match (a.len() * 8 >= SHARE_FROM).then(|| ArrayCell::share(a)).flatten() {
                    Some((buf, offset, len)) => Body::Values(buf, offset, len),
                    None => Body::Array(a.as_slice().iter().enumerate().map(|(i, e)| p.item(*e, n, Step::Index(i))).collect()),
                }
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
