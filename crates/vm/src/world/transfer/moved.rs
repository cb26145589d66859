//! `move: true`: the sender's objects become Ractor::MovedObject.
//!
//! A moved cell keeps its size and the layout of its kind, emptied: a builtin that still holds a reference to it (an iteration in progress) sees an empty
//! array, string or hash. Its kind changes, so that every test for an array, string, ... says no, and its class, whose methods all raise
//! Ractor::MovedError. Nothing is moved before the message has been sent; objects that are shareable (frozen with everything that they refer to, classes,
//! handles) stay as they are.
//!
//! Rejected: one kind for all moved cells (a stale reference would read an array as an object); leaving the kind (`"#{s}"`, `a + s`
//! and whatever else looks at kinds would take the object for an empty one of its class).

use super::pack::Packer;
use super::*;
use crate::make::RootedVec;
use crate::raise::Result;
use crate::vm::Cx;

/// The objects of a message that are to be moved when it has been sent; by default none.
#[derive(Default)]
pub struct Moving(Option<RootedVec>);

impl Cx {
    /// As [`Cx::pack`], for a message that leaves nothing behind: [`Cx::finish_move`] after it has been sent.
    pub fn pack_moving(&mut self, v: Value) -> Result<(Envelope, Moving)> {
        if !v.is_cell() || v.flags() & flags::SHARED != 0 {
            return Ok((self.pack(v)?, Moving(None)));
        }
        let (e, p) = self.pack_graph(v)?;
        let mutable = e.graph().map_or(Vec::new(), |g| mutable(g, &p));
        let cells = RootedVec::gather(self, p.cells.iter().zip(mutable).filter(|(_, m)| *m).map(|(v, _)| v.cell));
        Ok((e, Moving(Some(cells))))
    }
    /// Makes the sender's objects Ractor::MovedObject.
    pub fn finish_move(&mut self, m: Moving) -> Result<()> {
        let Some(cells) = m.0 else { return Ok(()) };
        let class = self.const_by_path("Ractor::MovedObject").and_then(|c| self.class_id(c));
        let Some(class) = class else {
            return self.name_error("uninitialized constant Ractor::MovedObject".into(), sym::empty, Value::NIL);
        };
        let shape = self.root_shape(class);
        for v in cells.iter() {
            self.generic_ivars.change().remove(&(v.bits() as usize));
            self.cell_changes(*v);
            empty_moved(&mut self.heap, *v, shape);
        }
        Ok(())
    }
}

/// Which objects can change, or refer to some that can. Only those of kinds that a program can change.
fn mutable(g: &Graph, p: &Packer) -> Vec<bool> {
    let movable = |n: usize| {
        let head = g.heads[n].header;
        match Kind::from_u8(head.kind) {
            Kind::String | Kind::Array | Kind::Hash | Kind::Object | Kind::Exception | Kind::Data | Kind::Range => true,
            Kind::Free => matches!(Special::of(head.aux), Special::Dumped | Special::DumpedString),
            _ => false,
        }
    };
    let mut m: Vec<bool> =
        (0..g.heads.len()).map(|n| movable(n) && g.heads[n].header.flags & flags::FROZEN == 0 && !is_handle(p.cells[n].cell)).collect();
    // Backwards, since most references lead forwards; again while cycles bring news.
    loop {
        let mut news = false;
        for n in (0..g.heads.len()).rev() {
            if m[n] || !movable(n) || is_handle(p.cells[n].cell) {
                continue;
            }
            let end = p.cells.get(n + 1).map_or(g.words.len(), |m| m.start);
            // A hash code may look like a number: then a frozen hash counts as mutable, and is moved too.
            if g.words[p.cells[n].start..end].iter().any(|w| as_node(*w).is_some_and(|k| m.get(k) == Some(&true))) {
                m[n] = true;
                news = true;
            }
        }
        if !news {
            return m;
        }
    }
}

/// Payloads that are copied by handle stay usable: channels, VMs.
fn is_handle(v: Value) -> bool {
    Ref::<DataCell>::from_value(v).is_some_and(|d| d.is_handle())
}
