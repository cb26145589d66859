//! `$~` and `$_` of a Thread's or Fiber's own.
//!
//! Both belong to the method (or program) that the code is written in, so they stand in its registers or environment. The block that a Thread or Fiber runs is written in a
//! method that goes on beside it, though: what it matches is not to be seen there, nor the other way round. So each coroutine has two of its own, which stand for those of the
//! environment that its block was written in: the outermost one around the block.
//!
//! They are the first values of the coroutine's stack, below the first frame's end, so the collector finds them with the rest. Behind them stands for which change of what is traced the
//! stack's frames were moved (module `trace`).

use crate::vm::{Cx, Stacks};
use zakuro_object::*;

/// How many values of a stack these are: the environment, `$~`, `$_`; and the number of the change.
pub(crate) const COUNT: usize = 4;

/// Which of the two.
#[derive(Clone, Copy)]
pub(super) enum Own {
    Backref = 1,
    LastLine = 2,
}

impl Cx {
    /// Before the block of a Thread or Fiber first runs, on its new stack.
    pub(crate) fn own_variables_of(&mut self, block: Value) {
        let mut env = Ref::<ProcCell>::from_value(block).map_or(Value::NIL, |p| p.env);
        while let Some(around) = Ref::<EnvCell>::from_value(env).map(|e| e.parent).filter(|p| p.is_kind(Kind::Env)) {
            env = around;
        }
        if env.is_kind(Kind::Env) {
            // SAFETY: `enter_stacks` made room for them.
            unsafe { *self.stacks.values = env };
        }
    }
    /// Where a stack that was entered notes for which change of what is traced its frames were moved.
    pub(crate) fn frames_moved(&self, s: Stacks) -> *mut Value {
        s.values.wrapping_add(COUNT - 1)
    }
    /// Where a special variable stands that the compiler put at a place of this environment: None, if not on the stack.
    pub(super) fn own_variable(&self, env: Ref<EnvCell>, which: Own) -> Option<*mut Value> {
        // SAFETY: the running stack begins with these.
        unsafe { (*self.stacks.values == env.as_value()).then(|| self.stacks.values.add(which as usize)) }
    }
}
