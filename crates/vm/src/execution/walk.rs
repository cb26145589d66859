//! Loops of builtins that call a block for each element of something. Machine code of the block may go on with the next element itself, in the frame that it has: see [`Rounds`].

use crate::builtin::Block;
use crate::frame::{CodeState, Frame};
use crate::machine::Rounds;
use crate::raise::Result;
use crate::vm::Cx;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use zakuro_bytecode::Op;
use zakuro_object::{ProcKind, Value};

/// What [`Cx::walk`] was given.
struct Walker<F, K> {
    next: F,
    keep: K,
    /// What the last round has come to was shown to `keep`.
    shown: Shown,
}

enum Shown {
    No,
    /// And kept, and there is no further element.
    Over,
    /// And not kept.
    Refused,
    /// And this unwound: there was no memory, say. Nothing may unwind through machine code.
    Unwound(Box<dyn Any + Send>),
}

/// [`crate::machine::Advance`] of a walker.
unsafe extern "C" fn advance<const N: usize, F, K>(cx: &mut Cx, rounds: *mut Rounds, v: u64, to: *mut Value) -> u64
where
    F: FnMut(&mut Cx) -> Option<[Value; N]>,
    K: FnMut(&mut Cx, Value) -> bool,
{
    // SAFETY: machine code calls it as `Advance` says, while `walk` waits for the block.
    unsafe {
        let walker = &mut *(*rounds).walker.cast::<Walker<F, K>>();
        let (next, keep) = (&mut walker.next, &mut walker.keep);
        let given =
            catch_unwind(AssertUnwindSafe(
                || if keep(cx, Value::from_bits(v)) { next(cx).ok_or(Shown::Over) } else { Err(Shown::Refused) },
            ));
        match given.unwrap_or_else(|panic| Err(Shown::Unwound(panic))) {
            Ok(given) => {
                (*rounds).begun += 1;
                // (A copy of so many, as one, would be a call.)
                for (i, v) in given.iter().enumerate() {
                    if i < (*rounds).takes {
                        to.add(i).write(*v);
                    }
                }
                1
            }
            Err(shown) => {
                walker.shown = shown;
                0
            }
        }
    }
}

impl Cx {
    /// Yields what is left of a loop that asks for no values, one after the other.
    pub fn yield_rounds(&mut self, block: Block, rounds: &mut Rounds) -> Result<()> {
        // Machine code changes it, too.
        let rounds: *mut Rounds = rounds;
        // SAFETY: the caller's, which nothing else refers to.
        unsafe {
            let mut record = [Value::NIL; 2];
            let block = self.of_symbol(block, &mut record);
            while let Some(v) = (*rounds).take() {
                let left = (*rounds).left;
                let r = self.yield_to(block, [v], rounds);
                self.has_run(block, left - (*rounds).left);
                r?;
                self.safepoint()?;
            }
        }
        Ok(())
    }
    /// Yields what `next` says until there is no more. What the block answers goes to `keep`, which says whether it could do with it what there is to do and the loop goes on (it is asked once for each round); if not,
    /// `keep_slowly` does what is left, and says whether to go on. `next` and `keep` may take memory, but run no Ruby code, raise nothing and come to no safepoint: machine code calls them, from
    /// round to round.
    #[inline]
    pub fn walk<const N: usize>(
        &mut self,
        block: Block,
        mut next: impl FnMut(&mut Cx) -> Option<[Value; N]>,
        keep: impl FnMut(&mut Cx, Value) -> bool,
        keep_slowly: impl FnMut(&mut Cx, Value) -> Result<bool>,
    ) -> Result<()> {
        match next(self) {
            Some(first) => self.walk_from(first, block, next, keep, keep_slowly),
            None => Ok(()),
        }
    }
    /// The same where there is something to walk.
    #[inline(never)]
    fn walk_from<const N: usize>(
        &mut self,
        first: [Value; N],
        block: Block,
        next: impl FnMut(&mut Cx) -> Option<[Value; N]>,
        keep: impl FnMut(&mut Cx, Value) -> bool,
        mut keep_slowly: impl FnMut(&mut Cx, Value) -> Result<bool>,
    ) -> Result<()> {
        let mut walker = Walker { next, keep, shown: Shown::No };
        let mut rounds = Rounds::walk(&raw mut walker, advance_of(&walker));
        let (walker, rounds) = (&raw mut walker, &raw mut rounds);
        let mut record = [Value::NIL; 2];
        let block = if N == 1 { self.of_symbol(block, &mut record) } else { block };
        // SAFETY: both live until this returns, and machine code uses them while it waits for the block only.
        unsafe {
            let mut given = Some(first);
            while let Some(values) = given {
                let r = self.yield_to(block, values, rounds);
                self.has_run(block, std::mem::take(&mut (*rounds).begun));
                let v = r?;
                let kept = match std::mem::replace(&mut (*walker).shown, Shown::No) {
                    Shown::Over => break,
                    Shown::Refused => false,
                    Shown::Unwound(panic) => resume_unwind(panic),
                    Shown::No => ((*walker).keep)(self, v),
                };
                if !kept && !keep_slowly(self, v)? {
                    break;
                }
                self.safepoint()?;
                given = ((*walker).next)(self);
            }
        }
        Ok(())
    }

    /// Machine code of a block has begun so many rounds of a builtin's loop itself. They count for the Code around it, too: inlined there, each would cost less. Not long
    /// rounds, beside which that is nothing.
    #[inline]
    fn has_run(&mut self, block: Block, rounds: u64) {
        /// Rounds that are as much as one of a loop that is interpreted.
        const WEIGHT: u64 = 4;
        self.leavings.rounds += rounds;
        if rounds >= WEIGHT
            && let Some(record) = block.record()
        {
            // SAFETY: a record lives as long as the block may be called, as do the block's state and the frame that it stands in, which is a Ruby frame.
            unsafe {
                let (state, home) = ((*record).bits() as *const CodeState, (*record.add(1)).bits() as *const Frame);
                if (*state).has_short_rounds() {
                    (*(*home).code).count_rounds(rounds / WEIGHT);
                }
            }
        }
    }
    /// The block of a loop that calls it with one value at a time. That of `&:name`, written at the call of the builtin that runs, is a block that calls the method: `record` becomes its record.
    #[inline]
    fn of_symbol(&mut self, block: Block, record: &mut [Value; 2]) -> Block {
        if block.record().is_some() { block } else { self.written_symbol(block, record) }
    }
    #[inline(never)]
    fn written_symbol(&mut self, block: Block, record: &mut [Value; 2]) -> Block {
        let Some(p) = block.proc().filter(|p| p.proc_kind() == ProcKind::Symbol && p.me.is_nil()) else { return block };
        // (Who traces sees no such block.)
        if self.tracing != 0 {
            return block;
        }
        // SAFETY: frames between `stacks.frames` and fp are initialised, and a Ruby frame's state is alive; one that waits for a callee stands at the instruction of the call.
        unsafe {
            let caller = self.fp.sub(1);
            if !(*self.fp).is_boundary() || caller < self.stacks.frames || (*caller).is_boundary() {
                return block;
            }
            let state = (*caller).code;
            let code = &(*state).code;
            let insn = code.insns[(*state).index_of((*caller).ip)];
            if insn.opcode() != Op::SendX {
                return block;
            }
            let Some(child) = code.calls[insn.c as usize].symbol_block() else { return block };
            // (What is read from a damaged archive need not be one.)
            let of_symbol = &code.children[child as usize];
            if !of_symbol.of_symbol || of_symbol.calls.first().is_none_or(|c| Value::sym(c.name) != p.extra) {
                return block;
            }
            *record = [self.child_state(state, child as usize) as u64, caller as u64].map(|word| Value::from_bits(word));
            Block::on_stack(record.as_mut_ptr())
        }
    }
}

fn advance_of<const N: usize, F, K>(_: &Walker<F, K>) -> crate::machine::Advance
where
    F: FnMut(&mut Cx) -> Option<[Value; N]>,
    K: FnMut(&mut Cx, Value) -> bool,
{
    advance::<N, F, K>
}
