//! Procs, Methods and what belongs to them: Codes (shared by all VMs), environments, lexical scopes.
//!
//! A block takes along the outer variables that it uses; those that only other blocks of the same scope use arrive as nil, so that a channel or a thread
//! in a neighbour's variable is no obstacle. A block that evaluates text (`eval`, `binding`, ...) takes all. `self` comes along, too; when it can't travel
//! and the block never looks at it, it stays behind ([`Packer::without_selves`]). Methods are found by name in the
//! receiver: a Method object is its receiver, class and name.

use super::pack::{Packer, Refusal, because};
use super::*;
use crate::frame::CodeState;
use crate::vm::Cx;

/// A set of slots.
type Slots = [u64; EnvCell::MAX_SLOTS / 64 + 1];

/// What is used of an environment.
pub(super) struct EnvUse {
    slots: Slots,
    /// Where its slots stand in the message, once they do.
    at: Option<usize>,
}

/// What a block uses of the environments around it, innermost first.
#[derive(Default)]
struct Usage {
    levels: Vec<Slots>,
    all: bool,
}

impl Usage {
    fn of(code: &Code) -> Usage {
        let mut u = Usage::default();
        let mut work = vec![(code, 0)];
        while let Some((code, outside)) = work.pop() {
            // Environments between this Code's registers and the block's surroundings.
            let inside = outside + code.own_env as usize;
            for i in &code.insns {
                if matches!(i.opcode(), zakuro_bytecode::Op::GetEnv | zakuro_bytecode::Op::SetEnv) {
                    u.add(i.x as usize, inside, i.b);
                }
            }
            // `$~` and `$_` have their places there, but not what they are here.
            for place in [code.backref, code.lastline].into_iter().flatten() {
                if let Place::Env { depth, .. } = place {
                    u.level(depth as usize, inside);
                }
            }
            u.all |= receiver::may_evaluate(code);
            let blocks = code.children.iter().filter(|c| c.kind == zakuro_bytecode::CodeKind::Block);
            work.extend(blocks.map(|c| (&**c, inside)));
        }
        u
    }
    fn add(&mut self, depth: usize, inside: usize, slot: u16) {
        if let Some(slots) = self.level(depth, inside) {
            slots[slot as usize / 64] |= 1 << (slot % 64);
        }
    }
    /// The environment so many levels up from within others is wanted: what of it, if it is outside.
    fn level(&mut self, depth: usize, inside: usize) -> Option<&mut Slots> {
        let level = depth.checked_sub(inside)?;
        if self.levels.len() <= level {
            self.levels.resize(level + 1, Slots::default());
        }
        self.levels.get_mut(level)
    }
}
use zakuro_bytecode::{Place, receiver};

/// What a Proc's block uses of the variables around it.
pub struct OuterUse(Usage);

impl OuterUse {
    /// None: the Proc is of no block.
    pub fn of(p: Ref<ProcCell>) -> Option<OuterUse> {
        // SAFETY: code states live as long as the VM.
        (p.proc_kind() == ProcKind::Block).then(|| OuterUse(Usage::of(unsafe { &(*(p.code as *const CodeState)).code })))
    }
    /// Whether the block reads or writes a slot of the environment `level` levels up, 0 being the innermost around it.
    pub fn uses(&self, level: usize, slot: usize) -> bool {
        self.0.all || self.0.levels.get(level).is_some_and(|s| s[slot / 64] >> (slot % 64) & 1 != 0)
    }
}

impl Packer {
    /// The streams' part of a Proc. Returns what its head's `len` says.
    pub(super) fn proc(&mut self, _cx: &mut Cx, p: Ref<ProcCell>) -> std::result::Result<usize, Refusal> {
        if p.proc_kind() != ProcKind::Block {
            self.words(&[Value::NIL, p.self_, Value::NIL, p.extra]);
            return Ok(p.code);
        }
        let state = p.code as *const CodeState;
        // SAFETY: code states live as long as the VM.
        let code = unsafe { &(*state).code };
        let usage = Usage::of(code);
        let used = usage.all || !usage.levels.is_empty();
        let mut receiver = p.self_;
        if receiver.is_cell() && !receiver::uses_self(code) {
            self.idle_selves = true;
            if self.without_selves {
                receiver = Value::NIL;
            }
        }
        self.words(&[if used { p.env } else { Value::NIL }, receiver, p.me, p.extra]);
        if used {
            self.use_envs(p.env, &usage);
        }
        Ok(self.code(state))
    }
    fn use_envs(&mut self, env: Value, usage: &Usage) {
        let mut at = env;
        let mut level = 0;
        while let Some(e) = Ref::<EnvCell>::from_value(at) {
            let more = match usage.levels.get(level) {
                _ if usage.all => [u64::MAX; EnvCell::MAX_SLOTS / 64 + 1],
                Some(s) => *s,
                None => Slots::default(),
            };
            let known = self.envs.entry(at.bits()).or_insert(EnvUse { slots: Slots::default(), at: None });
            let had = known.slots;
            known.slots.iter_mut().zip(more).for_each(|(s, m)| *s |= m);
            if let Some(first) = known.at {
                // Another Proc of the message brought it here without these.
                for (i, v) in e.slots().iter().enumerate() {
                    if more[i / 64] & !had[i / 64] & 1 << (i % 64) != 0 {
                        self.graph.words[first + i] = self.item(*v);
                    }
                }
            }
            at = e.parent;
            level += 1;
        }
    }
    /// The streams' part of an environment: parent, and the slots that are used.
    pub(super) fn env(&mut self, e: Ref<EnvCell>, n: usize) -> usize {
        let cell = self.cells[n].cell;
        self.word(e.parent);
        let at = self.graph.words.len();
        let slots = match self.envs.get_mut(&cell.bits()) {
            Some(u) => {
                u.at = Some(at);
                u.slots
            }
            None => [u64::MAX; EnvCell::MAX_SLOTS / 64 + 1],
        };
        for (i, v) in e.slots().iter().enumerate() {
            let used = slots[i / 64] >> (i % 64) & 1 != 0;
            self.word(if used { *v } else { Value::NIL });
        }
        e.slots().len()
    }
    /// Number of a Code row, those around it first.
    fn code(&mut self, cs: *const CodeState) -> usize {
        let mut chain = Vec::new();
        let mut at = cs;
        while !at.is_null() && !self.codes.contains_key(&(at as usize)) {
            chain.push(at);
            // SAFETY: code states live as long as the VM.
            at = unsafe { (*at).parent.get() };
        }
        for p in chain.into_iter().rev() {
            // SAFETY: as above.
            let s = unsafe { &*p };
            let parent = self.codes.get(&(s.parent.get() as usize)).copied();
            self.codes.insert(p as usize, self.graph.codes.len());
            self.graph.codes.push(CodeRow { code: s.code.clone(), parent });
        }
        self.codes.get(&(cs as usize)).copied().unwrap_or(0)
    }
    /// The streams' part of a method cell: the frame that a block was written in, or a method that a Proc calls.
    pub(super) fn method(&mut self, cx: &mut Cx, m: Ref<MethodCell>) -> std::result::Result<(), Refusal> {
        let kind = m.method_kind();
        let body = match kind {
            MethodKind::Ruby => {
                // SAFETY: the Code is kept alive by the VM or the boot image, in an Arc; the extra count balances `from_raw`.
                MethodBody::Code(unsafe {
                    Arc::increment_strong_count(m.body as *const Code);
                    Arc::from_raw(m.body as *const Code)
                })
            }
            _ => MethodBody::Native(m.body),
        };
        let owner = self.class(cx, m.owner)?;
        self.words(&[m.cref, m.data]);
        self.graph.parts.push(Part::Method { name: m.name, called: m.called, owner, kind, visibility: m.visibility(), body });
        Ok(())
    }
    /// The streams' part of a Method or UnboundMethod. Returns both names.
    pub(super) fn method_object(&mut self, cx: &mut Cx, o: Ref<MethodObjCell>, header: &mut Header) -> std::result::Result<usize, Refusal> {
        let Some(m) = Ref::<MethodCell>::from_value(o.method) else { return because("") };
        let owner = m.owner;
        header.aux = (m.method_kind() == MethodKind::Missing) as u16;
        // Fails here, with this object's path, when the owner can't travel.
        self.class(cx, owner)?;
        let owner = cx.class_value(owner);
        self.words(&[o.receiver, o.class, owner]);
        Ok(o.name.0 as usize | (m.called.0 as usize) << 32)
    }
}
