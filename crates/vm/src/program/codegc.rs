//! Code of evals that nothing refers to any more is given back.
//!
//! What a VM keeps per Code lives as long as the VM, but for evals: a program may evaluate ever new texts. The state of an eval's Code and those of the
//! blocks, methods and class bodies in it are a *unit*, which lives while one of these holds: a frame runs in it; a Proc of it is reachable; a
//! method of it is reachable; an exception was raised in it; a Binding was made in it; a unit that was evaluated in its scope lives; it ran since the last collection. The collector notes
//! frames (when it scans stacks), Procs and the levels of exceptions (when it traces them) in `CodeState::seen`; methods of units are in a list. Units die in full
//! collections only.
//!
//! Inline caches are weak (`classgc`): what they alone hold dies, so that a unit does not keep itself alive through the methods it calls.
//!
//! Rejected: a cell per unit that Procs and methods refer to (each would be a word larger for the sake of evals), counting references (every frame
//! and Proc would count).

use crate::frame::{CallCache, CodeState, ConstCache, IvarCache};
use crate::methods::Method;
use crate::vm::{Cx, FastMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use zakuro_bytecode::Code;
use zakuro_object::*;

#[derive(Default)]
struct Unit {
    /// Keys of its states.
    keys: Vec<usize>,
    /// What the heap was told of as payload for it.
    bytes: usize,
}

/// The units of a VM.
#[derive(Default)]
pub(crate) struct Units {
    last: u32,
    states: FastMap<u32, Unit>,
    /// Address of a method's Code -> unit.
    codes: FastMap<usize, u32>,
    /// Method cells whose Code is in a unit.
    methods: Vec<(Method, u32)>,
    /// Codes that name what a Binding's own environments hold: (address and unit of the place's state, names).
    pub(crate) naming: FastMap<(usize, u32, Box<[Sym]>), Weak<Code>>,
    /// Payload bytes of dropped units that the heap has not been told of.
    freed: usize,
}

/// Most entries of [`Units::naming`]; past it all are forgotten.
const MOST_NAMING: usize = 256;

impl Units {
    pub(crate) fn add_naming(&mut self, key: (usize, u32, Box<[Sym]>), code: &Arc<Code>) {
        if self.naming.len() >= MOST_NAMING {
            self.naming.clear();
        }
        self.naming.insert(key, Arc::downgrade(code));
    }
}

/// What a state takes beside its Code, with what malloc adds.
fn size_of_state(s: &CodeState) -> usize {
    let c = &s.code;
    let caches =
        c.calls.len() * size_of::<CallCache>() + c.const_sites.len() * size_of::<ConstCache>() + c.ivars.len() * size_of::<IvarCache>();
    size_of::<CodeState>() + EACH + caches + (c.consts.len() + c.children.len()) * size_of::<Value>()
}

/// Entries of tables, heads and rounding of blocks.
const EACH: usize = 512;

impl Cx {
    /// Bytes that a Code takes, those nested in it included.
    pub fn size_of_code(c: &Code) -> usize {
        let size = c.size() + c.source.len() + c.file.len();
        // Malloc's classes of blocks: an eighth of the sizes lies between two, and a state's tables are in blocks as large as these.
        size + size / 8 + EACH
    }
    fn join_unit(&mut self, cs: *const CodeState, unit: u32) {
        // SAFETY: a live state of this VM.
        let state = unsafe { &*cs };
        state.unit.set(unit);
        let of = self.units.states.entry(unit).or_default();
        // The first one's Code has the others' nested in it: they live as long, whether they run or not.
        let code = if of.keys.is_empty() { Cx::size_of_code(&state.code) } else { 0 };
        let bytes = code + size_of_state(state);
        of.keys.push(Arc::as_ptr(&state.code) as usize);
        of.bytes += bytes;
        self.heap.add_payload(bytes);
    }
    /// The state of an eval's Code, which is about to run: the first of its unit.
    pub(crate) fn begin_unit(&mut self, cs: *const CodeState) {
        // SAFETY: a live state of this VM.
        let state = unsafe { &*cs };
        state.seen.set(1);
        if state.unit.get() == 0 {
            self.units.last = self.units.last.wrapping_add(1).max(1);
            self.join_unit(cs, self.units.last);
        }
    }
    /// A state was made for a Code nested in `around`.
    pub(crate) fn nested_unit(&mut self, around: *const CodeState, cs: *const CodeState) {
        // SAFETY: live states of this VM.
        let (unit, own) = unsafe { ((*around).unit.get(), (*cs).unit.get()) };
        if unit != 0 && own == 0 {
            self.join_unit(cs, unit);
        }
    }
    /// A method was made of a Code: in a unit when the running code is.
    pub(crate) fn method_unit(&mut self, m: Method, code: &Arc<Code>) {
        let Some(f) = self.ruby_frame() else { return };
        // SAFETY: a live Ruby frame.
        let unit = unsafe { (*(*f).code).unit.get() };
        if unit != 0 {
            self.units.codes.insert(Arc::as_ptr(code) as usize, unit);
            self.units.methods.push((m, unit));
        }
    }
    /// A Code was copied for a scope with refinements: a unit of its own, or of the running code's.
    pub(crate) fn detached_unit(&mut self, m: Method) {
        if !self.units.codes.contains_key(&m.body) {
            self.units.last = self.units.last.wrapping_add(1).max(1);
            self.units.codes.insert(m.body, self.units.last);
            self.units.methods.push((m, self.units.last));
        }
    }
    /// A method cell was copied.
    pub(crate) fn copied_unit(&mut self, m: Method) {
        if let Some(unit) = self.units.codes.get(&m.body) {
            self.units.methods.push((m, *unit));
        }
    }
    /// A state was made for a method's Code.
    pub(crate) fn method_state_unit(&mut self, key: usize, cs: *const CodeState) {
        if let Some(unit) = self.units.codes.get(&key).copied()
            // SAFETY: a live state of this VM.
            && unsafe { (*cs).unit.get() } == 0
        {
            self.join_unit(cs, unit);
        }
    }
    /// Whether this VM still has a state for a Code.
    pub fn has_code_state(&self, code: &Arc<Code>) -> bool {
        self.code_states.contains_key(&(Arc::as_ptr(code) as usize))
    }
    /// The Codes that this VM has states for.
    pub fn all_codes(&self) -> Vec<Arc<Code>> {
        self.code_states.values().map(|s| s.code.clone()).collect()
    }
    /// Marks a state that a Binding refers to; for tracing.
    pub fn note_code(cs: *const CodeState) {
        if !cs.is_null() {
            // SAFETY: what a reachable object refers to is alive.
            unsafe { (*cs).seen.set(1) };
        }
    }
    /// Between mark and sweep: drops the units that nothing holds.
    pub(crate) fn sweep_units(&mut self) {
        if self.units.states.is_empty() && self.units.codes.is_empty() {
            return;
        }
        self.states_met.forget();
        let (heap, units, states) = (&self.heap, &mut self.units, &mut self.code_states);
        let marked = |v: Value| !v.is_cell() || heap.is_marked_or_new(v.bits() as *mut Header);
        if !heap.is_full() {
            // Old Procs were not traced: which units live is not known.
            units.methods.retain(|(m, _)| marked(m.as_value()));
            return;
        }
        let mut live: FastMap<u32, ()> = FastMap::default();
        let mut work = Vec::new();
        for (unit, of) in &units.states {
            if of.keys.iter().any(|k| states.get(k).is_some_and(|s| s.seen.get() != 0)) {
                work.push(*unit);
            }
        }
        units.methods.retain(|(m, unit)| {
            let alive = marked(m.as_value());
            if alive {
                work.push(*unit);
            }
            alive
        });
        while let Some(unit) = work.pop() {
            if live.insert(unit, ()).is_some() {
                continue;
            }
            for key in units.states.get(&unit).map_or(&[][..], |of| &of.keys) {
                let around = states.get(key).map_or(std::ptr::null(), |s| s.parent.get());
                if around.is_null() {
                    continue;
                }
                // SAFETY: the state around one that is still there has not been dropped: whenever this unit lived, the loop kept that one, too.
                let outer = unsafe { (*around).unit.get() };
                if outer != 0 {
                    work.push(outer);
                }
            }
        }
        units.states.retain(|unit, of| {
            if live.contains_key(unit) {
                for k in of.keys.iter() {
                    if let Some(s) = states.get_mut(k) {
                        s.seen.set(0);
                    }
                }
                return true;
            }
            for k in &of.keys {
                units.freed += states.remove(k).map_or(0, |s| s.grown());
            }
            units.freed += of.bytes;
            false
        });
        units.naming.retain(|_, c| c.strong_count() != 0);
        let kept = &mut self.kept_codes;
        units.codes.retain(|code, unit| {
            let alive = live.contains_key(unit);
            if !alive {
                kept.remove(code);
            }
            alive
        });
    }
    /// After a collection.
    pub(crate) fn account_units(&mut self) {
        self.cvar_cache.forget();
        let freed = std::mem::take(&mut self.units.freed);
        self.heap.sub_payload(freed);
        if freed != 0
            && let Some(native) = self.heap.native()
        {
            // Malloc may keep it, as what dead cells owned.
            native.freed.fetch_add(freed, Ordering::Relaxed);
        }
    }
}
