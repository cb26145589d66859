//! What a builtin may do at most, told by its signature (docs/builtins.md, "Effects").
//!
//! `#[ruby_class]` adds up what the first parameter, the conversions of receiver and arguments, and the result say; each of those types says it once, in
//! its implementation of the trait. Nobody writes effects by hand where a signature can tell: a second table beside the first would be wrong soon.
//!
//! Debug builds look at each call of a builtin ([`Watch`]). Rejected: an assertion in each function of the VM that has an effect, which finds the function
//! that was called, not the builtin that said it would not.

use crate::builtin::MethodRow;
use crate::vm::Cx;
use std::fmt;
use zakuro_heap::Heap;

/// A set of effects: what a call may do. Of a call with as many arguments as the method takes, on a receiver of its class: whoever makes the call knows that.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Effects(u8);

impl Effects {
    /// It looks at its receiver and its arguments, and answers.
    pub const LEAF: Effects = Effects(0);
    /// Takes a cell from the heap: [`zakuro_heap::OutOfMemory`] may unwind through it. It does not collect.
    pub const ALLOCATES: Effects = Effects(1);
    /// Ends in an exception perhaps. What that one takes, cells and the texts of objects in its message (`inspect` in Ruby), is part of raising.
    pub const RAISES: Effects = Effects(2);
    /// What other code sees of a cell or of the program is not what it was.
    pub const CHANGES: Effects = Effects(4);
    /// Calls methods or blocks, or passes a safepoint: collections, interrupts, other threads and fibers. So it does all but raise, too.
    pub const RUNS_RUBY: Effects = Effects(8 | 4 | 1);
    pub const ALL: Effects = Effects::RUNS_RUBY.and(Effects::RAISES);

    /// Both.
    pub const fn and(self, other: Effects) -> Effects {
        Effects(self.0 | other.0)
    }
    pub const fn has(self, other: Effects) -> bool {
        self.0 & other.0 == other.0
    }
    /// The names of effects, in the order in which they are shown.
    const NAMES: [(Effects, &'static str); 4] =
        [(Effects(1), "allocates"), (Effects(4), "changes"), (Effects(2), "raises"), (Effects(8), "runs Ruby")];
}

impl fmt::Display for Effects {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if *self == Effects::LEAF {
            return f.pad("leaf");
        }
        // Running Ruby says what it includes.
        let implied = if self.has(Effects::RUNS_RUBY) { 5 } else { 0 };
        let names = Effects::NAMES.iter().filter(|(e, _)| self.has(*e) && e.0 & implied == 0).map(|(_, name)| *name);
        f.pad(&names.collect::<Vec<_>>().join(", "))
    }
}

/// First parameter of a builtin: what its body can do with it.
pub trait Context {
    const EFFECTS: Effects;
}
impl Context for &Heap {
    const EFFECTS: Effects = Effects::ALLOCATES;
}
impl Context for &Cx {
    const EFFECTS: Effects = Effects::ALLOCATES;
}
impl Context for &mut Heap {
    const EFFECTS: Effects = Effects::ALLOCATES.and(Effects::CHANGES);
}
impl Context for &mut Cx {
    const EFFECTS: Effects = Effects::RUNS_RUBY;
}

/// What is known of the VM before a builtin runs; looked at again after it. Nothing in release builds.
#[derive(Clone, Copy)]
pub struct Watch {
    #[cfg(debug_assertions)]
    cells: u64,
    #[cfg(debug_assertions)]
    entries: u64,
}

#[cfg(not(debug_assertions))]
impl Watch {
    #[inline(always)]
    pub fn begin(_: &Cx, _: Effects) -> Watch {
        Watch {}
    }
    #[inline(always)]
    pub fn end(self, _: &Cx, _: Effects, _: bool, _: &MethodRow) {}
}

#[cfg(debug_assertions)]
impl Watch {
    pub fn begin(cx: &Cx, declared: Effects) -> Watch {
        // Counting cells walks the open runs of all sizes: only where it is asked.
        let cells = if declared.has(Effects::ALLOCATES) { 0 } else { cx.heap.stats().allocated_cells };
        Watch { cells, entries: cx.entries }
    }
    /// Panics if the builtin did what its effects deny. `raised`: it ended in an exception, of which nothing else is asked.
    pub fn end(self, cx: &Cx, declared: Effects, raised: bool, row: &MethodRow) {
        let broken = if raised {
            (!declared.has(Effects::RAISES)).then_some("raised")
        } else if !declared.has(Effects::RUNS_RUBY) && cx.entries != self.entries {
            Some("ran Ruby")
        } else if !declared.has(Effects::ALLOCATES) && cx.heap.stats().allocated_cells != self.cells {
            Some("allocated")
        } else {
            None
        };
        if let Some(did) = broken {
            panic!("effects of the builtin {}: declared as '{declared}', but it {did}", row.full_name());
        }
    }
}

#[cfg(debug_assertions)]
impl Cx {
    /// Calls a builtin, and looks whether it did no more than it says.
    ///
    /// # Safety
    /// As for a call of the function itself: argc values at `argv`, in a frame of their own.
    #[inline(never)]
    pub(crate) unsafe fn call_watched(
        &mut self,
        f: crate::NativeFn,
        me: crate::Value,
        this: crate::Value,
        argv: *const crate::Value,
        argc: usize,
        block: crate::builtin::Block,
    ) -> crate::Result<crate::Value> {
        let Some(row) = crate::Ref::<crate::MethodCell>::from_value(me).and_then(Cx::native_row) else {
            return f(self, this, argv, argc, block);
        };
        let watch = Watch::begin(self, row.effects);
        let r = f(self, this, argv, argc, block);
        let n = argc & (crate::builtin::KW_FLAG - 1);
        // Keywords are an argument more where the method takes none.
        let refused = |n: usize| n < row.min || row.max >= 0 && n > row.max as usize;
        let miscalled = refused(n) || n != argc && refused(n - 1);
        if r.is_ok() || !miscalled {
            watch.end(self, row.effects, r.is_err(), row);
        }
        r
    }
}

impl Cx {
    /// Code of the program begins to run, or what may run it: debug builds count.
    #[inline(always)]
    pub(crate) fn enters_ruby(&mut self) {
        #[cfg(debug_assertions)]
        {
            self.entries += 1;
        }
    }
}
