//! Where the instance variables that a Code names stand in objects of one shape: what machine code looks at once for many accesses.
//!
//! A table is a shape and an offset for each site of the Code, in bytes from the first of an object's variables. Tables are never moved or dropped as long as the
//! state lives, since activations hold on to them; that of a shape whose number is to mean something else is used again, because no object is left that an activation could run on.

use zakuro_object::{ShapeId, Sym, Value};

/// Most sites of a Code that has tables.
pub const MOST_SITES: usize = 64;
/// Most tables of a state: past it objects of other shapes have none.
const MOST_TABLES: usize = 8;

/// No offset: objects of the shape don't have the variable, or nothing is known of them.
pub const UNKNOWN: u32 = u32::MAX;

/// The table of what has none: of no shape, with nothing known of any site.
static NONE: [u32; 1 + MOST_SITES] = {
    let mut none = [UNKNOWN; 1 + MOST_SITES];
    none[0] = 0;
    none
};

#[derive(Default)]
pub(crate) struct Layouts(Vec<Vec<u32>>);

impl Layouts {
    pub(crate) fn none() -> *const u32 {
        NONE.as_ptr()
    }
    pub(crate) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<Vec<u32>>() + self.0.iter().map(|t| t.capacity() * size_of::<u32>()).sum::<usize>()
    }
    /// The table for a shape; `walk` calls back with the name and slot of each of its variables, `sites` are the names that the Code's sites ask for.
    pub(crate) fn of(&mut self, shape: ShapeId, sites: &[Sym], walk: impl FnOnce(&mut dyn FnMut(Sym, u32))) -> *const u32 {
        if let Some(t) = self.0.iter().find(|t| t[0] == shape) {
            return t.as_ptr();
        }
        if sites.len() > MOST_SITES {
            return Layouts::none();
        }
        let Some(t) = self.unused(1 + sites.len()) else { return Layouts::none() };
        t[0] = shape;
        t[1..].fill(UNKNOWN);
        walk(&mut |name, slot| {
            let offset = slot * size_of::<Value>() as u32;
            t[1..].iter_mut().zip(sites).filter(|(_, n)| **n == name).for_each(|(to, _)| *to = offset);
        });
        t.as_ptr()
    }
    /// A table for a shape that has none yet, unless there are enough, or memory is refused.
    fn unused(&mut self, words: usize) -> Option<&mut Vec<u32>> {
        if let Some(k) = self.0.iter().position(|t| t[0] == 0) {
            return Some(&mut self.0[k]);
        }
        if self.0.len() == MOST_TABLES {
            return None;
        }
        let mut made = Vec::new();
        made.try_reserve_exact(words).ok()?;
        self.0.try_reserve_exact(1).ok()?;
        made.resize(words, 0);
        self.0.push(made);
        self.0.last_mut()
    }
    /// Shapes whose numbers are to mean something else have no table any more.
    pub(crate) fn forget(&mut self, shape: &dyn Fn(u32) -> bool) {
        self.0.iter_mut().filter(|t| shape(t[0])).for_each(|t| t[0] = 0);
    }
}
