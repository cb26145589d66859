//! Object ids: given out on demand, small numbers, never used twice in a VM.

use crate::vm::{Cx, FastMap, Restore, VmState, savable_state};
use num_bigint::BigInt;
use zakuro_base::Sym;
use zakuro_object::*;

/// Ids of Symbols that are not the boot image's. Their own numbers would tell how many names all VMs made before.
#[derive(Default)]
struct SymbolIds(FastMap<Sym, i64>);
impl Trace for SymbolIds {
    /// Symbols are no cells.
    fn trace(&self, _: &mut Marker<'_>) {
        let SymbolIds(_) = self;
    }
}
impl VmState for SymbolIds {
    fn snapshot(&self, _values: &mut Gathered) -> Option<Restore> {
        Some(blueprint(self.0.clone()))
    }
}

fn blueprint(ids: FastMap<Sym, i64>) -> Restore {
    let saved = ids.clone();
    let save = move |out: &mut Saved| {
        out.number(saved.len() as u64);
        for (s, id) in &saved {
            out.signed(*id).number(s.encoding().into()).blob(s.bytes());
        }
        Some("ids of Symbols")
    };
    savable_state(move |cx, _| cx.state::<SymbolIds>().0.clone_from(&ids), save)
}
crate::state_loader!("ids of Symbols", |r| {
    let mut ids = FastMap::default();
    for _ in 0..r.number()? {
        let (id, encoding) = (r.signed()?, r.narrow()?);
        ids.insert(Sym::intern_in(r.blob()?, encoding), id);
    }
    r.ends(0)?;
    Some(blueprint(ids))
});

impl Cx {
    fn symbol_id(&mut self, s: Sym) -> Value {
        let next = self.next_object_id + 8;
        let id = *self.state::<SymbolIds>().0.entry(s).or_insert(next);
        if id == next {
            self.next_object_id = next;
        }
        Value::fixnum(id)
    }
    /// `v.object_id`
    pub fn object_id(&mut self, v: Value) -> Value {
        if let Some(i) = v.as_fixnum() {
            return self.int_i128(2 * i as i128 + 1);
        }
        match v {
            Value::NIL => return Value::fixnum(8),
            Value::TRUE => return Value::fixnum(20),
            Value::FALSE => return Value::fixnum(0),
            _ => {}
        }
        if let Some(s) = v.as_sym()
            && self.boot.is_some_and(|b| s.0 >= b.names())
        {
            return self.symbol_id(s);
        }
        if !v.is_cell() {
            return self.big(BigInt::from(v.bits()));
        }
        let id = match self.known_object_id(v) {
            Some(id) => id,
            None => {
                if v.flags() & flags::CAPTURED != 0 {
                    self.state_changes(|c| c.object_id(v));
                }
                self.next_object_id += 8;
                let id = self.next_object_id;
                self.object_ids.insert(v.bits() as usize, id);
                id
            }
        };
        Value::fixnum(id)
    }
    /// The live object or Symbol with an id that `object_id` gave; None for ids of other immediates and of dead objects.
    pub fn object_by_id(&mut self, id: i64) -> Option<Value> {
        if let Some((p, _)) = self.object_ids.iter().find(|(_, i)| **i == id) {
            // SAFETY: the numbers of cells that died were taken out.
            return Some(unsafe { Value::from_bits(*p as u64) });
        }
        if let Some((s, _)) = self.state::<SymbolIds>().0.iter().find(|(_, i)| **i == id) {
            return Some(Value::sym(*s));
        }
        let of_boot = u32::try_from(id >> 8).ok().filter(|s| self.boot.is_some_and(|b| *s < b.names())).map(|s| Value::sym(Sym(s)));
        if let Some(v) = of_boot.filter(|v| v.bits() == id as u64) {
            return Some(v);
        }
        let v = self.base.as_ref()?.object_by_id(id)?;
        Some(self.instantiate(v))
    }
}
