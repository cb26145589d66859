//! Running source: programs, required files, eval.

use crate::builtin::Block;
use crate::frame::*;
use crate::interp;
use crate::raise::{Exc, Result};
use crate::vm::Cx;
use std::sync::Arc;
use zakuro_bytecode::Code;
use zakuro_object::*;

impl Cx {
    /// Runs a program that is part of the runtime: a feature of the standard library, written in Ruby and compiled when the runtime was built.
    pub fn run_builtin(&mut self, name: &str) -> Result<()> {
        match crate::library::library().program(name) {
            Some(code) => self.run_program(&code, None).map(|_| ()),
            None => self.raise(ids::LOAD_ERROR, format!("cannot load such file -- {name}")),
        }
    }
    /// Runs a program or required file at top level; `wrap`: in a module, with an object that stands for main.
    pub fn run_program(&mut self, code: &Arc<Code>, wrap: Option<(Value, Value)>) -> Result<Value> {
        self.hold_code(code);
        self.run_at_top(code, wrap)
    }
    /// Runs a program that goes when nothing refers to it or to what it defined, as the text of an eval does.
    pub fn run_passing_program(&mut self, code: &Arc<Code>) -> Result<Value> {
        let cs = self.code_state(code);
        self.begin_unit(cs);
        self.run_at_top(code, None)
    }
    fn run_at_top(&mut self, code: &Arc<Code>, wrap: Option<(Value, Value)>) -> Result<Value> {
        let object = self.class_value(ids::OBJECT);
        let top = self.new_cref(object, Value::NIL);
        if let Some(c) = Ref::<CrefCell>::from_value(top) {
            c.set_visibility(1); // methods defined at top level are private
        }
        // A wrapped file defines its methods, private ones too, in the module.
        let (cref, main) = match wrap {
            Some((m, main)) => {
                let inner = self.new_cref(m, top);
                if let Some(c) = Ref::<CrefCell>::from_value(inner) {
                    c.set_visibility(1);
                }
                (inner, main)
            }
            None => (top, self.main),
        };
        let me = self.frame_method(Sym::intern("<main>"), ids::OBJECT, cref);
        self.run_code(code, main, me.as_value(), Value::NIL, FRAME_TOP, Block::NONE)
    }
    /// Runs a Code in a new frame: `env` is the environment around (eval) or nil.
    pub fn run_code(&mut self, code: &Arc<Code>, self_: Value, me: Value, env: Value, flags: usize, block: Block) -> Result<Value> {
        self.run_code_in(code, self_, me, env, flags, block).0
    }
    /// The same; also returns the environment that the Code made for its own variables (nil when it made none).
    pub fn run_code_in(
        &mut self,
        code: &Arc<Code>,
        self_: Value,
        me: Value,
        env: Value,
        flags: usize,
        block: Block,
    ) -> (Result<Value>, Value) {
        if let Err(e) = self.check_native_stack() {
            return (Err(e), Value::NIL);
        }
        let cs = self.code_state(code);
        // SAFETY: pushes a boundary and a frame above it; limits are checked.
        unsafe {
            let saved = self.fp;
            let top = if (*saved).is_boundary() { (*saved).aux as *mut Value } else { (*saved).regs.add((*(*saved).code).nregs as usize) };
            let fp = saved.add(1);
            if fp.add(2) >= self.frame_limit || top.wrapping_add((*cs).nregs as usize + 8) >= self.stack_limit {
                return (self.stack_error(), Value::NIL);
            }
            fp.write(Frame { ip: interp::stub(), regs: top, code: std::ptr::null(), block, me, aux: top.add(1) as usize });
            let f = fp.add(1);
            f.write(Frame { ip: (*cs).insns.get(), regs: top, code: cs, block, me, aux: flags });
            *top = self_;
            for i in 1..(*cs).nlocals.max((*cs).nil_from) as usize {
                *top.add(i) = Value::NIL;
            }
            if (*cs).env_reg != 0 {
                *top.add((*cs).env_reg as usize) = env;
            }
            self.fp = f;
            let ok = interp::run(self, (*cs).insns.get(), top, cs);
            self.fp = saved;
            // Nothing ran above since: the frame's registers are as it left them.
            let env = if (*cs).own_env { *top.add((*cs).env_reg as usize) } else { Value::NIL };
            (if ok { Ok(*top) } else { Err(Exc) }, env)
        }
    }
}
