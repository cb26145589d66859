//! The verifier: what the interpreter takes for granted about a [`Code`].
//!
//! Checked: registers below `nregs`, jump targets inside the Code and never inside a group, table indices, operand groups whole,
//! handlers in range and starting with `Catch`, the last instruction not falling off the end, line table ascending; parameters that fit into the
//! registers; children of the kind that their instruction runs; literals of the kind that it copies; numbers of operands of intrinsics; cache slots that
//! instructions of one family use alone (what fills a cache decides what may be done on a hit); environment operands only where there is an
//! environment, and with slots that it has, as far as the Codes around are known (an eval's are not). The interpreter reads without
//! bounds checks after this has passed, in every build: the compiler hands out no Code that was not verified.
//!
//! Not checked: what kind of value a register holds (`ArrayPush` finds the Array that `NewArray` left), and that it was written before ([`crate::flow`],
//! in tests and fuzzing). Those are the compiler's promise.

use crate::code::*;
use crate::op::{Field, Insn, Op, Role};

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    pub code: String,
    pub at: usize,
    pub problem: String,
}

impl std::fmt::Display for VerifyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "bytecode of {} is invalid at {:04}: {}", self.code, self.at, self.problem)
    }
}

impl std::error::Error for VerifyError {}

/// Verifies a Code and all Codes in it.
pub fn verify(code: &Code) -> Result<(), VerifyError> {
    verify_in(code, &Envs::outermost(code.kind))
}

/// The environments that a Code reaches.
#[derive(Clone)]
pub(crate) struct Envs {
    /// Numbers of slots, innermost last.
    slots: Vec<u16>,
    /// Whether these are all: behind those of an eval stand others.
    all: bool,
}

impl Envs {
    /// Those around a Code that comes alone.
    pub(crate) fn outermost(kind: CodeKind) -> Envs {
        Envs { slots: Vec::new(), all: !matches!(kind, CodeKind::Block | CodeKind::Eval) }
    }
}

fn verify_in(code: &Code, around: &Envs) -> Result<(), VerifyError> {
    let envs = verify_one(code, around)?;
    code.children.iter().try_for_each(|c| verify_in(c, &envs))
}

/// Verifies a Code without those in it; gives the environments that these reach.
pub(crate) fn verify_one(code: &Code, around: &Envs) -> Result<Envs, VerifyError> {
    let inner = matches!(code.kind, CodeKind::Block | CodeKind::Eval);
    let alone = || Envs { slots: Vec::new(), all: true };
    let mut envs = if inner && code.env_reg != 0 { around.clone() } else { alone() };
    if let (true, Some(open)) = (code.own_env, code.insns.first()) {
        if open.x == 0 {
            // It reaches none of those around, and neither do its blocks.
            envs = alone();
        }
        envs.slots.push(open.b);
    }
    let used =
        Used { calls: vec![None; code.calls.len()], ivars: vec![None; code.ivars.len()], consts: vec![None; code.const_sites.len()] };
    let mut v = Verifier { code, inside: group_insides(code), envs: &envs, used };
    v.run().map_err(|(at, problem)| VerifyError { code: format!("{} ({}:{})", code.name, code.file, code.line), at, problem })?;
    Ok(envs)
}

/// For each instruction, whether it is the second or third of a group.
fn group_insides(code: &Code) -> Vec<bool> {
    let mut inside = vec![false; code.insns.len()];
    let mut i = 0;
    while i < code.insns.len() {
        let n = match Op::ALL.get(code.insns[i].op as usize) {
            Some(op) => op.group_length(),
            None => 1,
        };
        for k in i + 1..(i + n).min(inside.len()) {
            inside[k] = true;
        }
        i += n;
    }
    inside
}

struct Verifier<'a> {
    code: &'a Code,
    inside: Vec<bool>,
    envs: &'a Envs,
    used: Used,
}

/// The opcode that uses a cache slot.
struct Used {
    calls: Vec<Option<Op>>,
    ivars: Vec<Option<Op>>,
    consts: Vec<Option<Op>>,
}

/// What fills a cache with the same meaning.
fn family(op: Op) -> Op {
    match op {
        Op::SendBlk | Op::SendSelf | Op::SendSelfBlk => Op::Send,
        Op::SuperX => Op::Super,
        Op::YieldX => Op::Yield,
        op => op,
    }
}

type Check = Result<(), (usize, String)>;

impl Verifier<'_> {
    fn run(&mut self) -> Check {
        let code = self.code;
        if code.insns.is_empty() {
            return Err((0, "no instructions".into()));
        }
        if code.nlocals > code.nregs || code.nregs == 0 {
            return Err((0, format!("{} locals in {} registers", code.nlocals, code.nregs)));
        }
        if code.params.registers() >= code.nlocals {
            return Err((0, format!("{} parameters in {} locals", code.params.registers(), code.nlocals)));
        }
        if code.params.simple && code.params.registers() != code.params.required {
            return Err((0, "parameters that are not simple".into()));
        }
        if code.own_env && code.insns[0].op != Op::NewEnv as u8 {
            return Err((0, "own environment without NewEnv".into()));
        }
        let inner = matches!(code.kind, CodeKind::Block | CodeKind::Eval);
        if code.env_reg != 0 && !code.own_env && !inner {
            return Err((0, "environment of nobody".into()));
        }
        if code.env_reg != 0 && (code.env_reg < code.nlocals || code.env_reg >= code.nregs) {
            return Err((0, format!("environment register {} among the locals", code.env_reg)));
        }
        for (at, insn) in code.insns.iter().enumerate() {
            self.insn(at, *insn).map_err(|e| (at, e))?;
        }
        let last = code.insns[code.insns.len() - 1];
        if !last.opcode().ends() {
            return Err((code.insns.len() - 1, "control falls off the end".into()));
        }
        for h in &code.handlers {
            if h.start >= h.end || h.end as usize > code.insns.len() {
                return Err((h.start as usize, format!("handler range {}..{}", h.start, h.end)));
            }
            for edge in [h.start, h.end] {
                if self.inside.get(edge as usize) == Some(&true) {
                    return Err((edge as usize, "handler range divides a group".into()));
                }
            }
            match code.insns.get(h.target as usize) {
                Some(i) if i.op == Op::Catch as u8 => {}
                _ => return Err((h.target as usize, "handler does not start with Catch".into())),
            }
        }
        let mut sites = code.statements.iter().map(|s| s.0).chain(code.rescues.iter().copied());
        if let Some(at) = sites.find(|at| *at as usize >= code.insns.len()) {
            return Err((at as usize, "a statement behind the end".into()));
        }
        if !code.lines.windows(2).all(|w| w[0].0 < w[1].0) {
            return Err((0, "line table is not ascending".into()));
        }
        let places = code.locals.iter().map(|l| l.place).chain(code.backref).chain(code.lastline);
        for place in places {
            match place {
                Place::Reg(r) if r == 0 || r >= code.nlocals => return Err((0, format!("variable in register {r}"))),
                Place::Env { .. } if code.env_reg == 0 => return Err((0, "variable in an environment, but there is none".into())),
                Place::Env { depth, slot } => self.slot(depth, slot).map_err(|e| (0, e))?,
                Place::Block if code.kind != CodeKind::Method => return Err((0, "a method's block where there is none".into())),
                Place::Reg(_) | Place::Block => {}
            }
        }
        Ok(())
    }

    fn register(&self, r: u16) -> Result<(), String> {
        if r < self.code.nregs { Ok(()) } else { Err(format!("register {r} of {}", self.code.nregs)) }
    }

    fn range(&self, first: u16, count: u16) -> Result<(), String> {
        match first as u32 + count as u32 > self.code.nregs as u32 {
            false => Ok(()),
            true => Err(format!("registers {first}..+{count} of {}", self.code.nregs)),
        }
    }

    fn index<T>(&self, what: &str, table: &[T], i: u16) -> Result<(), String> {
        if (i as usize) < table.len() { Ok(()) } else { Err(format!("{what} {i} of {}", table.len())) }
    }

    /// A slot of the environment `depth` levels up. Behind the outermost known one stand those of the scopes around an eval.
    fn slot(&self, depth: u8, slot: u16) -> Result<(), String> {
        match self.envs.slots.iter().rev().nth(depth as usize) {
            Some(slots) if slot < *slots => Ok(()),
            Some(slots) => Err(format!("slot {slot} of {slots}")),
            None if self.envs.all => Err(format!("environment {depth} of {}", self.envs.slots.len())),
            None if slot < MAX_ENV_SLOTS => Ok(()),
            None => Err(format!("slot {slot}")),
        }
    }

    fn child(&self, i: u16, kind: CodeKind) -> Result<(), String> {
        self.index("child", &self.code.children, i)?;
        match self.code.children[i as usize].kind {
            k if k == kind => Ok(()),
            k => Err(format!("{k:?} where {kind:?} belongs")),
        }
    }

    /// Notes who uses a cache slot.
    fn alone(slot: &mut Option<Op>, op: Op) -> Result<(), String> {
        match slot.replace(family(op)) {
            Some(other) if other != family(op) => Err(format!("a cache for {other:?} and {op:?}")),
            _ => Ok(()),
        }
    }

    fn jump(&self, at: usize, distance: i32) -> Result<(), String> {
        let target = at as i64 + distance as i64;
        if target == 0 && self.code.own_env {
            return Err("jump to NewEnv".into());
        }
        match self.inside.get(target as usize) {
            Some(false) if target >= 0 => Ok(()),
            Some(true) if target >= 0 => Err(format!("jump into the group at {target:04}")),
            _ => Err(format!("jump to {target}")),
        }
    }

    fn insn(&mut self, at: usize, i: Insn) -> Result<(), String> {
        let op = *Op::ALL.get(i.op as usize).ok_or_else(|| format!("opcode {}", i.op))?;
        for (role, field) in op.operands() {
            self.operand(at, i, op, *role, *field)?;
        }
        self.particular(at, op, i)?;
        self.group(at, op, i)
    }

    /// What the opcode table says of an operand.
    fn operand(&mut self, at: usize, i: Insn, op: Op, role: Role, field: Field) -> Result<(), String> {
        let code = self.code;
        let n = i.get(field);
        match role {
            Role::Read | Role::Write | Role::Change => self.register(n),
            Role::Next => self.range(n, 2),
            Role::First => self.range(n, i.c),
            Role::Targets => self.range(n, (i.c & 0xff) + (i.c >> 8) + (i.x & 1) as u16).and_then(|()| self.register(n)),
            Role::Env if code.env_reg == 0 || n != code.env_reg => Err(format!("environment register {n} is not {}", code.env_reg)),
            Role::Slot => self.slot(i.x, n),
            Role::Slots if n > MAX_ENV_SLOTS => Err(format!("{n} slots in an environment")),
            Role::Jump => match i.signed(field) {
                d if d <= 0 && !op.polls() => Err("backward jump without a poll".into()),
                d => self.jump(at, d),
            },
            Role::Literal => self.index("literal", &code.consts, n),
            Role::Name => self.index("symbol", &code.syms, n),
            Role::IvarSite => {
                self.index("instance variable", &code.ivars, n)?;
                Self::alone(&mut self.used.ivars[n as usize], op)
            }
            Role::ConstSite => {
                self.index("constant site", &code.const_sites, n)?;
                Self::alone(&mut self.used.consts[n as usize], op)
            }
            Role::CallSite => {
                self.index("call site", &code.calls, n)?;
                Self::alone(&mut self.used.calls[n as usize], op)?;
                self.call(op, i)
            }
            Role::Block => self.child(n, CodeKind::Block),
            Role::Method => self.child(n, CodeKind::Method),
            Role::Class => self.child(n, CodeKind::Class),
            Role::Function => self.intrinsic(i),
            Role::Arguments => self.register(n),
            // By the operand that they belong to; numbers may be any.
            Role::Window
            | Role::Argc
            | Role::Count
            | Role::Parts
            | Role::Depth
            | Role::Env
            | Role::Slots
            | Role::Int
            | Role::Extra
            | Role::Option => Ok(()),
        }
    }

    /// What holds for one instruction only.
    fn particular(&self, at: usize, op: Op, i: Insn) -> Result<(), String> {
        let code = self.code;
        match op {
            Op::Halt => Err("Halt".into()),
            Op::NewStr if !matches!(code.consts[i.b as usize], Const::Str { .. }) => Err(format!("literal {} is no String", i.b)),
            Op::NewStr if !matches!(i.x, 0 | FROZEN_STRING | CHILLED_STRING) => Err(format!("flags {} of a String", i.x)),
            Op::AskList if i.x > 3 || i.c == 0 => Err(format!("question {} of {} values", i.x, i.c)),
            Op::NewHash if !i.c.is_multiple_of(2) => Err("odd number of Hash operands".into()),
            Op::NewEnv if !code.own_env || i.a != code.env_reg || at != 0 => Err("NewEnv outside the environment register".into()),
            Op::NewEnv if i.x > 1 || i.x == 1 && !matches!(code.kind, CodeKind::Block | CodeKind::Eval) => {
                Err("an environment around that is none".into())
            }
            _ => Ok(()),
        }
    }

    fn call(&self, op: Op, i: Insn) -> Result<(), String> {
        let site = &self.code.calls[i.c as usize];
        if site.argc != i.x {
            return Err(format!("{} arguments, but {} at the site", i.x, site.argc));
        }
        if site.flags & call_flags::KW_NAMES != 0 {
            self.index("keyword names", &self.code.keyword_lists, site.keywords)?;
            let n = self.code.keyword_lists[site.keywords as usize].len();
            if site.flags & call_flags::KW == 0 || n == 0 || n > crate::MAX_KEYWORDS {
                return Err("keyword names that are none".into());
            }
        }
        let extra = self.code.keyword_operands(site) + (site.flags & call_flags::BLOCKARG != 0) as u16;
        self.range(i.a, 1 + i.x as u16 + extra)?;
        if i.a == 0 {
            return Err("call window at self".into());
        }
        if site.flags & call_flags::OWN_BLOCK != 0 && (site.flags & call_flags::BLOCKARG != 0 || self.code.kind != CodeKind::Method) {
            return Err("no block of its own to pass on".into());
        }
        let simple = site.flags & (call_flags::SPLAT | call_flags::KW | call_flags::BLOCKARG | call_flags::OWN_BLOCK) == 0;
        let block = site.child != NO_BLOCK;
        if block {
            self.child(site.child, CodeKind::Block)?;
            if i.a < 3 && site.literal_block().is_some() {
                return Err("no room for the block's handle".into());
            }
        }
        let (needs_simple, may_block) = match op {
            Op::Send | Op::SendSelf | Op::Yield => (true, Some(false)),
            Op::SendBlk | Op::SendSelfBlk => (true, Some(true)),
            Op::Super => (true, None),
            Op::YieldX => (false, Some(false)),
            _ => (false, None),
        };
        if needs_simple && !simple {
            return Err("flags need the general form".into());
        }
        if may_block.is_some_and(|b| b != block) {
            return Err("literal block does not fit the instruction".into());
        }
        if site.flags & call_flags::SPLAT != 0 && i.x == 0 {
            return Err("a splat call has an Array".into());
        }
        Ok(())
    }

    fn intrinsic(&self, i: Insn) -> Result<(), String> {
        let id = *crate::Intrinsic::ALL.get(i.x as usize).ok_or_else(|| format!("intrinsic {}", i.x))?;
        if id.names() {
            self.index("symbol", &self.code.syms, i.b)?;
        }
        if id.names_two() {
            return self.index("symbol", &self.code.syms, i.c);
        }
        if id.has_once_site() && i.b >= self.code.once_sites {
            return Err(format!("once-site {} of {}", i.b, self.code.once_sites));
        }
        if i.c != id.arguments() {
            return Err(format!("{} operands of {}", i.c, id.name()));
        }
        self.range(i.a, i.c.max(1))
    }

    fn group(&self, at: usize, op: Op, i: Insn) -> Result<(), String> {
        let n = op.group_length();
        if n == 1 {
            return Ok(());
        }
        let code = self.code;
        if at + n > code.insns.len() {
            return Err("group is cut off".into());
        }
        let send = code.insns[at + 1];
        if send.op != Op::Send as u8 {
            return Err("no Send in the group".into());
        }
        // The slow path copies the operands to the window: they must not be overwritten on the way.
        let inside = |(role, field): &(Role, Field)| *role == Role::Read && i.get(*field) >= send.a;
        if op.operands().iter().any(inside) {
            return Err("operands inside the window of the slow path".into());
        }
        if n == 2 {
            return Ok(());
        }
        let third = code.insns[at + 2];
        // It may be no instruction at all: that is found when its turn comes.
        let Some(then) = Op::ALL.get(third.op as usize) else { return Ok(()) };
        let fits = match op.field(Role::Jump) {
            Some(distance) => {
                let target = at as i64 + i.signed(distance) as i64;
                matches!(then, Op::JumpIf | Op::JumpUnless | Op::LoopIf | Op::LoopUnless)
                    && third.a == send.a
                    && at as i64 + 2 + third.imm() as i64 == target
            }
            None => *then == Op::Move && third.a == i.a && third.b == send.a,
        };
        if fits { Ok(()) } else { Err("third instruction does not fit the group".into()) }
    }
}
