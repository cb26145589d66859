//! What machine code knows of its call sites: for each, the shape of receivers that lead where the code takes for granted that they do.
//!
//! A VM has a table for each version of machine code that it runs. Its first entry says for which generation of the VM it holds ([`crate::vm::Vm::generation`]); machine code compares that where it is
//! entered and after each call, and has the table emptied if it is another one. So a guard compares the receiver's shape with the entry's, and nothing else. An entry is filled when a guard finds another
//! shape and the inline caches, which the interpreter keeps, lead where the code expects.

use crate::frame::{CallCache, CodeState};
use std::cell::{Cell, RefCell};
use zakuro_bytecode::machine::{Expected, Machine};
use zakuro_object::{ClassId, Sym, Value};

#[repr(C)]
pub struct Site {
    /// Of receivers; 0: none. Of the first entry: the generation.
    pub shape: Cell<u32>,
    /// [`CallCache::extra`]. Of the first entry: how many others there are.
    pub extra: Cell<u32>,
    /// [`CallCache::target`] and [`CallCache::me`]. Of the first entry: [`Machine::sites`].
    pub target: Cell<usize>,
    pub me: Cell<Value>,
}

impl Site {
    fn new(extra: u32, target: usize) -> Site {
        Site { shape: Cell::new(0), extra: Cell::new(extra), target: Cell::new(target), me: Cell::new(Value::NIL) }
    }
}

/// Whether receivers of this key (epoch and shape) lead where the version expects them to, at a site of this number in it: the entry is theirs then.
///
/// # Safety
/// The table of a version that the VM runs, which has this site.
pub(crate) unsafe fn fill(table: *const Site, number: usize, cs: &CodeState, key: u64) -> bool {
    // SAFETY: the caller's word; a version is held as long as it has a table.
    let expected = |k: usize| unsafe { &*((*table).target.get() as *const Expected).add(k - 1) };
    let of_one = |k: usize| {
        // SAFETY: as above.
        let (s, expected) = unsafe { (&*table.add(k), expected(k)) };
        let Some(c) = cs.call_of(expected.site as usize, key).filter(|c| leads(c, expected)) else { return false };
        s.shape.set(key as u32);
        s.extra.set(c.extra);
        s.target.set(c.target);
        s.me.set(c.me);
        true
    };
    let all = of_one(number) && (number + 1..=expected(number).last as usize).all(|k| expected(k).first as usize != number || of_one(k));
    if !all && expected(number).last != 0 {
        // Some of the others may be for these receivers now.
        // SAFETY: as above.
        unsafe { (*table.add(number)).shape.set(0) };
    }
    all
}

/// What the entry behind a site says of the objects that its `new` makes: `header` gives the first word of those of a class, and their slots. Its shape stays 0 where machine code cannot make them itself.
///
/// # Safety
/// As for [`fill`], which has just filled the site's entry.
pub(crate) unsafe fn fill_made(table: *const Site, number: usize, header: impl FnOnce(ClassId) -> (u64, usize)) {
    // SAFETY: the caller's word.
    unsafe {
        let Some(expected) = behind(table, number).filter(|e| e.handler == MADE) else { return };
        let (word, slots) = header(ClassId((*table.add(number)).extra.get()));
        let entry = &*table.add(number + 1);
        entry.target.set(word as usize);
        entry.shape.set((slots == expected.native) as u32);
    }
}
/// What the entry behind a site says of a receiver that its `respond_to?` is asked of: `answer` gives it for a name.
///
/// # Safety
/// As for [`fill_made`].
pub(crate) unsafe fn fill_asked(table: *const Site, number: usize, answer: impl FnOnce(Sym) -> Value) {
    // SAFETY: the caller's word.
    unsafe {
        let Some(expected) = behind(table, number).filter(|e| e.handler == ASKED) else { return };
        let v = answer(Sym(expected.native as u32));
        (*table.add(number + 1)).target.set(v.bits() as usize);
    }
}
/// What the version says of the entry behind a site.
unsafe fn behind<'a>(table: *const Site, number: usize) -> Option<&'a Expected> {
    // SAFETY: as in `fill`; the first entry says how many others there are.
    unsafe { (number < (*table).extra.get() as usize).then(|| &*((*table).target.get() as *const Expected).add(number)) }
}

/// In [`Expected::handler`], of entries behind one of a site: of what a `new` makes (`native`: its slots), and of what `respond_to?` answers (`native`: the name).
pub const MADE: usize = 0;
pub const ASKED: usize = 1;

fn leads(c: &CallCache, expected: &Expected) -> bool {
    if c.handler as usize != expected.handler {
        return false;
    }
    // SAFETY: `target` of an entry whose handler calls a Ruby method is its state.
    let code = || unsafe { std::ptr::from_ref(&*(*(c.target as *const CodeState)).code) as usize };
    let of_name = expected.extra.is_none_or(|extra| c.extra == extra);
    of_name && (expected.code == 0 || code() == expected.code) && (expected.native == 0 || c.target == expected.native)
}

/// The tables of a Code, by version. Activations hold on to theirs: none goes before the state does, and no version that has one.
#[derive(Default)]
pub(crate) struct Tables(RefCell<Vec<(*const Machine, Box<[Site]>)>>);

impl Tables {
    pub(crate) fn bytes(&self) -> usize {
        let tables = self.0.borrow();
        tables.capacity() * size_of::<(*const Machine, Box<[Site]>)>() + tables.iter().map(|(_, t)| size_of_val(&**t)).sum::<usize>()
    }
    /// The table for a version.
    pub(crate) fn of(&self, m: &Machine) -> *const Site {
        let mut tables = self.0.borrow_mut();
        let known = tables.iter().position(|(of, _)| std::ptr::eq(*of, m));
        let k = known.unwrap_or_else(|| {
            let n = m.sites.len();
            // What stands in the way of no call: the limit is looked at when the bytes are counted.
            zakuro_base::memory::going_on(|| {
                let first = Site::new(n as u32, m.sites.as_ptr() as usize);
                tables.push((m, std::iter::once(first).chain((0..n).map(|_| Site::new(0, 0))).collect()));
            });
            tables.len() - 1
        });
        tables[k].1.as_ptr()
    }
}

/// Empties a table, which holds for a generation from now on.
///
/// # Safety
/// A table of this module's.
pub(crate) unsafe fn renew(table: *const Site, generation: u32) {
    // SAFETY: the caller's word.
    unsafe {
        let n = (*table).extra.get() as usize;
        for k in 1..=n {
            (*table.add(k)).shape.set(0);
        }
        (*table).shape.set(generation);
    }
}
