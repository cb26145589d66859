//! Where the instance variables that a Code names stand in objects of one shape: what machine code looks at once for many accesses.
//!
//! A table is a shape and an offset for each site of the Code, in bytes from the first of an object's variables. Tables are never moved or dropped as long as the
//! state lives, since activations hold on to them; that of a shape whose number is to mean something else is used again, because no object is left that an activation could run on.
//! What has its variables in a list (classes, and objects of the core's) has a table of no shape, which is filled anew whenever it is asked for.

use zakuro_object::{ShapeId, Sym, Value};

/// Most sites of a Code that has tables.
pub const MOST_SITES: usize = 64;
/// Most tables of a state that stay.
const MOST_TABLES: usize = 8;

/// Longest list of variables that has a table.
const MOST_LISTED: usize = 32;

/// No offset: objects of the shape don't have the variable, or nothing is known of them.
pub const UNKNOWN: u32 = u32::MAX;

/// The table of what has none: of no shape, with nothing known of any site.
static NONE: [u32; 1 + MOST_SITES] = {
    let mut none = [UNKNOWN; 1 + MOST_SITES];
    none[0] = 0;
    none
};

#[derive(Default)]
pub(crate) struct Layouts {
    tables: Vec<Vec<u32>>,
    /// For objects of other shapes, of whichever was met last. Machine code holds on to it only as long as it runs nothing else, inlined or not, that looks for a table of this Code.
    /// So it does with what it holds of a list, whose table is of no shape.
    passing: Vec<u32>,
    /// Which list it is for, if it is for one that may be looked at again; 0: for none ([`crate::state::listed::Lists::at_hand`]).
    listed: u64,
}

impl Layouts {
    pub(crate) fn none() -> *const u32 {
        NONE.as_ptr()
    }
    pub(crate) fn bytes(&self) -> usize {
        let all = self.tables.iter().chain([&self.passing]).map(|t| t.capacity() * size_of::<u32>()).sum::<usize>();
        self.tables.capacity() * size_of::<Vec<u32>>() + all
    }
    /// The table for a shape. `sites` are the names that the Code's sites ask for, `slot` says where a variable stands.
    pub(crate) fn of(&mut self, shape: ShapeId, sites: &[Sym], slot: impl Fn(Sym) -> Option<usize>) -> *const u32 {
        if let Some(t) = self.tables.iter().chain([&self.passing]).find(|t| t.first() == Some(&shape)) {
            return t.as_ptr();
        }
        let words = 1 + sites.len();
        if words > 1 + MOST_SITES {
            return Layouts::none();
        }
        let Some(t) = self.unused(words) else { return Layouts::none() };
        t[0] = shape;
        for (to, name) in t[1..].iter_mut().zip(sites) {
            *to = slot(*name).map_or(UNKNOWN, |slot| (slot * size_of::<Value>()) as u32);
        }
        t.as_ptr()
    }
    /// The table for a list of this stamp if it was the last one that was asked for.
    #[inline]
    pub(crate) fn at_hand(&self, stamp: u64) -> Option<*const u32> {
        (self.listed == stamp).then_some(self.passing.as_ptr())
    }
    /// The table for a list: offsets are from one byte before its beginning, so they are odd. `stamp`: what it is known by, or 0.
    pub(crate) fn of_list(&mut self, list: &[(Sym, Value)], sites: &[Sym], stamp: u64) -> *const u32 {
        const ENTRY: usize = size_of::<(Sym, Value)>();
        const VALUE: usize = std::mem::offset_of!((Sym, Value), 1) + 1;
        let words = 1 + sites.len();
        if words > 1 + MOST_SITES || list.len() > MOST_LISTED {
            return Layouts::none();
        }
        if self.passing.is_empty() {
            if self.passing.try_reserve_exact(words).is_err() {
                return Layouts::none();
            }
            self.passing.resize(words, UNKNOWN);
        }
        self.passing[0] = 0;
        self.listed = stamp;
        for (to, name) in self.passing[1..].iter_mut().zip(sites) {
            // Where it stood the last time, as a rule.
            let place = (*to as usize).wrapping_sub(VALUE) / ENTRY;
            let place =
                if list.get(place).is_some_and(|(n, _)| n == name) { Some(place) } else { list.iter().position(|(n, _)| n == name) };
            *to = place.filter(|k| !list[*k].1.is_template()).map_or(UNKNOWN, |k| (k * ENTRY + VALUE) as u32);
        }
        self.passing.as_ptr()
    }
    /// A table for a shape that has none yet; None if memory is refused.
    fn unused(&mut self, words: usize) -> Option<&mut Vec<u32>> {
        if let Some(k) = self.tables.iter().position(|t| t[0] == 0) {
            return Some(&mut self.tables[k]);
        }
        let full = self.tables.len() == MOST_TABLES;
        let mut made = Vec::new();
        if !full || self.passing.is_empty() {
            made.try_reserve_exact(words).ok()?;
            self.tables.try_reserve_exact(usize::from(!full)).ok()?;
            made.resize(words, 0);
        }
        if full {
            self.listed = 0;
            if self.passing.is_empty() {
                self.passing = made;
            }
            return Some(&mut self.passing);
        }
        self.tables.push(made);
        self.tables.last_mut()
    }
    /// Shapes whose numbers are to mean something else have no table any more.
    pub(crate) fn forget(&mut self, shape: &dyn Fn(u32) -> bool) {
        self.tables.iter_mut().chain([&mut self.passing]).filter(|t| t.first().is_some_and(|s| shape(*s))).for_each(|t| t[0] = 0);
    }
}
