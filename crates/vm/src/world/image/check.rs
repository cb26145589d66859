//! Debug builds: an image that grew by a delta must say what an image of everything would say.
//!
//! Walks the whole program state as a full capture does and compares each cell and each table with what the image has for it. It finds what tests of
//! results rarely do: a change that nobody noted.

use super::graph::{Body, Graph, Mode, Node, Walk, each_value_mut};
use super::{Image, IncrementalImage};
use crate::vm::Cx;
use zakuro_object::*;

/// Larger programs are not checked: tests should end.
const LARGEST: usize = 20_000;

struct Check<'a> {
    image: &'a Image,
    s: &'a IncrementalImage,
    w: Walk,
}

impl Check<'_> {
    /// What the image has for a value of the walk.
    fn there(&self, v: Value) -> Value {
        let v = match Graph::as_node(v) {
            Some(n) => match self.s.map.get(&self.w.cells[n].bits()) {
                Some(there) => *there,
                None => Value::UNDEF,
            },
            None => v,
        };
        self.now(v)
    }
    fn now(&self, v: Value) -> Value {
        if v.is_cell() && v.bits() != 0 { self.image.resolve(v) } else { v }
    }
    fn same(&self, here: Value, there: Value) -> bool {
        // Numbers are values: a walk may have met one twice.
        self.there(here) == self.now(there)
    }
    fn words<'b>(w: &'b Walk, body: &Body) -> &'b [Value] {
        let s = match body {
            Body::Words(s) => *s,
            Body::Method { words, .. } => super::Span { start: *words, len: 2 },
            Body::Proc(_, at) => super::Span { start: *at, len: 4 },
            _ => return &[],
        };
        &w.graph.words[s.start..s.start + s.len]
    }
    fn node(&self, n: usize, other: &Walk, there: &Node) -> std::result::Result<(), &'static str> {
        let here = &self.w.graph.nodes[n];
        if (here.header.shape, here.header.kind, here.header.flags) != (there.header.shape, there.header.kind, there.header.flags) {
            return Err("header");
        }
        let (a, b) = (Self::words(&self.w, &here.body), Self::words(other, &there.body));
        if a.len() != b.len() || !a.iter().zip(b).all(|(x, y)| self.same(*x, *y)) {
            return Err("references");
        }
        let unit = if here.header.kind == Kind::Array as u8 { size_of::<Value>() } else { 1 };
        let text = |body: &Body| match body {
            Body::Inline(len, bytes) => Some(bytes[..*len as usize].to_vec()),
            // SAFETY: the String's bytes, or the Array's elements, in its buffer, which the body holds.
            Body::Shared(buf, at, len) => Some(unsafe { std::slice::from_raw_parts(buf.data().add(*at), *len * unit) }.to_vec()),
            _ => None,
        };
        if text(&here.body) != text(&there.body) {
            return Err("text");
        }
        if let (Body::Hash(x, d, p), Body::Hash(y, e, q)) = (&here.body, &there.body) {
            let list = |t: &Option<Box<HashTable>>| {
                t.as_ref().map_or(Vec::new(), |t| t.iter().map(|e| (e.hash, e.key, e.value)).collect::<Vec<_>>())
            };
            let (x, y) = (list(x), list(y));
            let pairs = x.len() == y.len() && x.iter().zip(&y).all(|(a, b)| a.0 == b.0 && self.same(a.1, b.1) && self.same(a.2, b.2));
            if !pairs || !self.same(*d, *e) || p != q {
                return Err("pairs");
            }
        }
        Ok(())
    }
}

impl Cx {
    pub(super) fn check_image(&mut self, s: &IncrementalImage) {
        if s.map.len() > LARGEST {
            return;
        }
        let image = s.image.clone();
        let mut w = Walk::new(Mode::Program(None), (0, 0));
        let mut classes = Vec::new();
        self.classes.each_own(&mut |_, slot| {
            if slot.own {
                // SAFETY: own slots point to live class data.
                classes.push(unsafe { (*slot.data).clone() });
            }
        });
        for d in &mut classes {
            each_value_mut(d, &mut |v| w.value(v));
        }
        let globals: Vec<_> = self.globals.iter().map(|(name, v)| (*name, w.value(*v))).collect();
        let memo: Vec<_> = self.memo.iter().map(|(t, own)| (super::cell_at(*t as u64), w.value(*own))).collect();
        let main = w.value(self.main);
        w.finish(self);
        let c = Check { image: &image, s, w };
        for (n, v) in c.w.cells.iter().enumerate() {
            let kind = v.kind_of_cell();
            let Some(there) = s.map.get(&v.bits()).copied() else { panic!("the image lacks a {kind:?} that the program has") };
            assert!(v.flags() & flags::CAPTURED != 0, "a {kind:?} of the image is not marked as captured");
            // Data: payloads are in the parts, or come with the head.
            if matches!(kind, Kind::Class | Kind::Data | Kind::Float | Kind::Bignum) || !there.is_cell() || there.bits() == 0 {
                continue;
            }
            assert!(c.now(there) == there, "a {kind:?} of the program is an older one of the image");
            let mut other = Walk::new(Mode::Program(None), (0, 0));
            let node = other.cell(self, there, 0);
            if let Err(what) = c.node(n, &other, &node) {
                panic!("{what} of a {kind:?} differ in the image");
            }
            assert_eq!(self.known_object_id(*v), image.object_id(there), "object id of a {kind:?}");
            if matches!(kind, Kind::Object | Kind::Exception | Kind::Proc | Kind::MethodObj) {
                assert_eq!(Some(self.identity(*v)), image.identity(there), "identity of a {kind:?}");
            }
        }
        for d in &classes {
            let name = d.name.map_or("a class".into(), |n| n.name().into_owned());
            let Some(slot) = image.top().classes.get(d.id.0) else { panic!("the image lacks {name}") };
            // SAFETY: rows of a table that the image holds.
            let t = unsafe { &*slot.data };
            let same = |a: &Value, b: &Value| c.same(*a, *b);
            let lists =
                |a: &[(_, Value)], b: &[(_, Value)]| a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.0 == y.0 && same(&x.1, &y.1));
            assert!(same(&d.object, &t.object) && same(&d.attached, &t.attached) && same(&d.extra, &t.extra), "{name}");
            assert!(
                d.method_order == t.method_order && d.methods.iter().all(|(k, v)| t.methods.get(k).is_some_and(|x| same(v, x))),
                "{name}: methods"
            );
            assert!(
                d.const_order == t.const_order && d.consts.iter().all(|(k, e)| t.consts.get(k).is_some_and(|x| same(&e.value, &x.value))),
                "{name}: constants"
            );
            assert!(lists(&d.cvars, &t.cvars) && lists(&d.ivars, &t.ivars), "{name}: variables");
            assert!(
                d.near == t.near && d.beyond == t.beyond && d.singleton == t.singleton && d.frozen == t.frozen && d.name == t.name,
                "{name}: ancestors"
            );
        }
        for (name, v) in &globals {
            let there = image.global(*name).unwrap_or(Value::UNDEF);
            assert!(c.same(*v, there), "{}", name.name());
        }
        for (t, own) in &memo {
            assert!(c.same(*own, *t), "a copy of a template");
        }
        assert!(c.same(main, image.top().main), "main");
        self.shapes.each_own(&mut |id, _| assert!(image.top().shapes.get(id).is_some(), "shape {id}"));
        for k in self.transitions.keys() {
            assert!(image.transition(*k).is_some(), "transition");
        }
        for k in self.const_places.keys() {
            assert!(image.const_place(*k).is_some(), "place of a constant");
        }
    }
}
