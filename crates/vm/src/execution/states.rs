//! The VM's state of each Code that it has run.

use crate::frame::CodeState;
use crate::methods::Method;
use crate::vm::Cx;
use std::sync::Arc;
use zakuro_bytecode::Code;

/// States of methods that native code has called lately, by the Code's address. None before the first.
#[derive(Default)]
pub(crate) struct StatesMet(Box<[(usize, *const CodeState)]>);

impl StatesMet {
    const ROWS: usize = 16;

    fn place(body: usize) -> usize {
        (body >> 4 ^ body >> 8) % Self::ROWS
    }
    fn note(&mut self, body: usize, state: *const CodeState) {
        if self.0.is_empty() {
            self.0 = vec![(0, std::ptr::null()); Self::ROWS].into();
        }
        self.0[Self::place(body)] = (body, state);
    }
    /// States are going.
    pub fn forget(&mut self) {
        self.0 = Box::default();
    }
}

impl Cx {
    /// The VM's state of a Code, made on first use, or made whole.
    pub fn code_state(&mut self, code: &Arc<Code>) -> *const CodeState {
        let key = Arc::as_ptr(code) as usize;
        if let Some(s) = self.code_states.get(&key)
            && !s.is_bare()
        {
            return &**s;
        }
        let consts = self.const_values(&code.consts);
        let bare = self.code_states.remove(&key);
        let is_new = bare.is_none();
        let mut s = match bare {
            Some(mut s) => {
                s.complete(&consts, crate::interp::send_miss);
                s
            }
            None => CodeState::new(code.clone(), consts, crate::interp::send_miss),
        };
        self.trace_new_state(&mut s);
        if self.options.jit.is_on() {
            self.heat_up(&s, self.options.jit.waits());
        }
        let p: *const CodeState = &*s;
        self.code_states.insert(key, s);
        self.state_gets_cells(p);
        if is_new {
            self.inherit_once(key);
        }
        p
    }
    /// What the once-sites of a Code have met in the VM that this one grew from.
    pub(crate) fn inherit_once(&mut self, key: usize) {
        if self.once_used
            && let Some(base) = self.base.clone()
            && let Some(values) = base.once(key)
        {
            for (i, v) in values.iter().enumerate() {
                let v = self.instantiate(*v);
                if let Some(s) = self.code_states.get_mut(&key) {
                    s.once[i] = v;
                }
            }
        }
    }
    pub(crate) fn method_state(&mut self, m: Method) -> *const CodeState {
        if let Some((body, state)) = self.states_met.0.get(StatesMet::place(m.body))
            && *body == m.body
        {
            return *state;
        }
        let state = self.method_state_looked_up(m);
        self.states_met.note(m.body, state);
        state
    }
    fn method_state_looked_up(&mut self, m: Method) -> *const CodeState {
        if let Some(s) = self.code_states.get(&m.body)
            && !s.is_bare()
        {
            return &**s;
        }
        // SAFETY: the Code is kept alive by kept_codes or the boot image, in an Arc; the extra count balances `from_raw`.
        let arc = unsafe {
            Arc::increment_strong_count(m.body as *const Code);
            Arc::from_raw(m.body as *const Code)
        };
        let s = self.code_state(&arc);
        self.method_state_unit(m.body, s);
        s
    }
    /// State of a nested Code.
    pub(crate) fn child_state(&mut self, cs: *const CodeState, i: usize) -> *const CodeState {
        let around = cs;
        // SAFETY: code states live as long as the VM.
        let cs = unsafe { &*cs };
        let p = cs.children[i].get();
        if !p.is_null() {
            return p;
        }
        let code = cs.code.children[i].clone();
        let p = self.code_state(&code);
        // SAFETY: as above.
        unsafe { (*p).parent.set(around) };
        self.nested_unit(around, p);
        cs.children[i].set(p);
        p
    }
}
