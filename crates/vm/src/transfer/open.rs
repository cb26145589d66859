//! Opening: first every object, then what they refer to, hashes last.

use super::{Body, ClassRef, Envelope, Item};
use crate::raise::Result;
use crate::vm::Cx;
use zakuro_base::Sym;
use zakuro_object::*;

impl Cx {
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
                Body::Values(buf, offset, len) => {
                    let s = shape(self, ids::ARRAY);
                    ArrayCell::from_shared(&mut self.heap, s, buf, offset, len).as_value()
                }
                Body::Foreign(region, cell) => self.open_reference(&region, cell)?,
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
    pub(super) fn resolve_class(&mut self, c: &ClassRef) -> Result<ClassId> {
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
