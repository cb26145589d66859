//! The verifier: what the interpreter takes for granted about a [`Code`].
//!
//! Checked: registers below `nregs`, jump targets inside the Code and never inside a group, table indices, operand groups whole,
//! handlers in range and starting with `Catch`, the last instruction not falling off the end, line table ascending,
//! environment operands only where there is an environment. The interpreter reads without bounds checks after this has passed.

use crate::code::*;
use crate::op::{Insn, Op, Shape};

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
    verify_one(code)?;
    code.children.iter().try_for_each(|c| verify(c))
}

/// Verifies a Code without its children.
pub fn verify_one(code: &Code) -> Result<(), VerifyError> {
    let v = Verifier { code, inside: group_insides(code) };
    v.run().map_err(|(at, problem)| VerifyError { code: format!("{} ({}:{})", code.name, code.file, code.line), at, problem })
}

/// Number of instructions in the group that `op` starts, 1 if it starts none.
pub fn group_length(op: Op) -> usize {
    use Op::*;
    match op {
        JumpLt | JumpLe | JumpGt | JumpGe | JumpEq | JumpNotLt | JumpNotLe | JumpNotGt | JumpNotGe | JumpNotEq | LoopLt | LoopLe
        | LoopGt | LoopGe | JumpLtI | JumpLeI | JumpGtI | JumpGeI | JumpEqI | JumpNotLtI | JumpNotLeI | JumpNotGtI | JumpNotGeI
        | JumpNotEqI | LoopLtI | LoopLeI | LoopGtI | LoopGeI => 3,
        Add | Sub | Mul | Div | Mod | Pow | AddI | SubI | MulI | DivI | ModI | AndI | ShlI | ShrI | Lt | Le | Gt | Ge | Eq | Ne | And
        | Or | Xor | Shl | Shr | Aref | CaseEq | Not | Neg | Len | Succ | NilP | EmptyP => 3,
        Aset => 2,
        _ => 1,
    }
}

/// For each instruction, whether it is the second or third of a group.
fn group_insides(code: &Code) -> Vec<bool> {
    let mut inside = vec![false; code.insns.len()];
    let mut i = 0;
    while i < code.insns.len() {
        let n = match Op::ALL.get(code.insns[i].op as usize) {
            Some(op) => group_length(*op),
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
}

type Check = Result<(), (usize, String)>;

impl Verifier<'_> {
    fn run(&self) -> Check {
        let code = self.code;
        if code.insns.is_empty() {
            return Err((0, "no instructions".into()));
        }
        if code.nlocals > code.nregs || code.nregs == 0 {
            return Err((0, format!("{} locals in {} registers", code.nlocals, code.nregs)));
        }
        if code.params.registers() + 1 > code.nlocals {
            return Err((0, format!("{} parameters in {} locals", code.params.registers(), code.nlocals)));
        }
        if code.own_env && code.insns[0].op != Op::NewEnv as u8 {
            return Err((0, "own environment without NewEnv".into()));
        }
        if code.env_reg != 0 && (code.env_reg < code.nlocals || code.env_reg >= code.nregs) {
            return Err((0, format!("environment register {} among the locals", code.env_reg)));
        }
        for (at, insn) in code.insns.iter().enumerate() {
            self.insn(at, *insn).map_err(|e| (at, e))?;
        }
        let last = code.insns[code.insns.len() - 1];
        let ends = matches!(last.opcode(), Op::Return | Op::ReturnBlock | Op::BreakBlock | Op::Jump | Op::Loop | Op::Rethrow | Op::Halt);
        if !ends {
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
        if !code.lines.windows(2).all(|w| w[0].0 < w[1].0) {
            return Err((0, "line table is not ascending".into()));
        }
        let places = code.locals.iter().map(|l| l.place).chain(code.backref).chain(code.lastline);
        for place in places {
            match place {
                Place::Reg(r) if r == 0 || r >= code.nlocals => return Err((0, format!("variable in register {r}"))),
                Place::Env { .. } if code.env_reg == 0 => return Err((0, "variable in an environment, but there is none".into())),
                _ => {}
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

    fn jump(&self, at: usize, distance: i32) -> Result<(), String> {
        let target = at as i64 + distance as i64;
        match self.inside.get(target as usize) {
            Some(false) if target >= 0 => Ok(()),
            Some(true) if target >= 0 => Err(format!("jump into the group at {target:04}")),
            _ => Err(format!("jump to {target}")),
        }
    }

    fn insn(&self, at: usize, i: Insn) -> Result<(), String> {
        let code = self.code;
        let op = *Op::ALL.get(i.op as usize).ok_or_else(|| format!("opcode {}", i.op))?;
        let back = |d: i32| {
            let is_loop = matches!(
                op,
                Op::Loop
                    | Op::LoopIf
                    | Op::LoopUnless
                    | Op::LoopLt
                    | Op::LoopLe
                    | Op::LoopGt
                    | Op::LoopGe
                    | Op::LoopLtI
                    | Op::LoopLeI
                    | Op::LoopGtI
                    | Op::LoopGeI
            );
            if d <= 0 && !is_loop { Err("backward jump without a poll".to_string()) } else { Ok(()) }
        };
        match op.shape() {
            Shape::Z => {}
            Shape::A | Shape::AI => self.register(i.a)?,
            Shape::AB | Shape::ABI => {
                self.register(i.a)?;
                self.register(i.b)?;
            }
            Shape::ABC => {
                self.register(i.a)?;
                self.register(i.b)?;
                self.register(i.c)?;
            }
            Shape::J => {
                self.jump(at, i.imm())?;
                back(i.imm())?;
            }
            Shape::AJ => {
                self.register(i.a)?;
                self.jump(at, i.imm())?;
                back(i.imm())?;
            }
            Shape::ABJ => {
                self.register(i.a)?;
                self.register(i.b)?;
                self.jump(at, i.c as i16 as i32)?;
                back(i.c as i16 as i32)?;
            }
            Shape::AIJ => {
                self.register(i.a)?;
                self.jump(at, i.c as i16 as i32)?;
                back(i.c as i16 as i32)?;
            }
            Shape::AK => {
                self.register(i.a)?;
                self.index("literal", &code.consts, i.b)?;
            }
            Shape::AS => {
                self.register(i.a)?;
                self.index("symbol", &code.syms, i.b)?;
            }
            Shape::AE => {
                self.register(i.a)?;
                if code.env_reg == 0 || i.c != code.env_reg {
                    return Err(format!("environment register {} is not {}", i.c, code.env_reg));
                }
            }
            Shape::AV => {
                self.register(i.a)?;
                self.index("instance variable", &code.ivars, i.c)?;
            }
            Shape::AC => {
                self.register(i.a)?;
                self.index("constant site", &code.const_sites, i.c)?;
            }
            Shape::Call => self.call(op, i)?,
            Shape::Range => {
                self.register(i.a)?;
                self.range(i.b, i.c)?;
                if op == Op::NewHash && !i.c.is_multiple_of(2) {
                    return Err("odd number of Hash operands".into());
                }
            }
            Shape::Misc => self.misc(op, i)?,
        }
        self.group(at, op, i)
    }

    fn call(&self, op: Op, i: Insn) -> Result<(), String> {
        self.index("call site", &self.code.calls, i.c)?;
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
        let simple = site.flags & (call_flags::SPLAT | call_flags::KW | call_flags::BLOCKARG) == 0;
        let block = site.block != NO_BLOCK;
        if block {
            self.index("block", &self.code.children, site.block)?;
            if i.a < 3 {
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
        if site.flags & call_flags::SPLAT != 0 && i.x != 1 {
            return Err("a splat call has one Array".into());
        }
        Ok(())
    }

    fn misc(&self, op: Op, i: Insn) -> Result<(), String> {
        let code = self.code;
        self.register(i.a)?;
        match op {
            Op::NewEnv => match code.own_env && i.a == code.env_reg {
                true => Ok(()),
                false => Err("NewEnv outside the environment register".into()),
            },
            Op::GetConstFrom => {
                self.register(i.b)?;
                self.index("constant site", &code.const_sites, i.c)
            }
            Op::SetConst => {
                self.register(i.b)?;
                self.index("symbol", &code.syms, i.c)
            }
            Op::NewProc => self.index("child", &code.children, i.b),
            Op::DefMethod | Op::DefSingleton => {
                self.index("symbol", &code.syms, i.b)?;
                self.index("child", &code.children, i.c)
            }
            Op::OpenClass => {
                self.register(i.a + 1)?;
                self.index("symbol", &code.syms, i.b)?;
                self.index("child", &code.children, i.c)
            }
            Op::Expand => {
                self.register(i.b)?;
                self.range(i.a, (i.c & 0xff) + (i.c >> 8) + (i.x & 1) as u16)
            }
            Op::Intrinsic => self.intrinsic(i),
            _ => Ok(()),
        }
    }

    fn intrinsic(&self, i: Insn) -> Result<(), String> {
        use crate::Intrinsic::*;
        let id = *crate::Intrinsic::ALL.get(i.x as usize).ok_or_else(|| format!("intrinsic {}", i.x))?;
        match id {
            AliasGlobal => {
                self.index("symbol", &self.code.syms, i.b)?;
                return self.index("symbol", &self.code.syms, i.c);
            }
            GetCvar | SetCvar | DefinedCvar | DefinedIvar | DefinedGlobal | DefinedConst | DefinedConstFrom | DefinedMethod
            | DefinedFcall => self.index("symbol", &self.code.syms, i.b)?,
            OnceTest | OnceSet | OnceGet if i.b >= self.code.once_sites => {
                return Err(format!("once-site {} of {}", i.b, self.code.once_sites));
            }
            _ => {}
        }
        self.range(i.a, i.c.max(1))
    }

    fn group(&self, at: usize, op: Op, i: Insn) -> Result<(), String> {
        let n = group_length(op);
        if n == 1 {
            return Ok(());
        }
        let code = self.code;
        if at + n > code.insns.len() {
            return Err("group is cut off".into());
        }
        let send = code.insns[at + 1];
        if send.opcode() != Op::Send {
            return Err("no Send in the group".into());
        }
        // The slow path copies the operands to the window: they must not be overwritten on the way.
        let operands: &[u16] = match op.shape() {
            Shape::ABC if op == Op::Aset => &[i.a, i.b, i.c],
            Shape::ABC => &[i.b, i.c],
            Shape::ABI | Shape::AB => &[i.b],
            Shape::ABJ => &[i.a, i.b],
            _ => &[i.a],
        };
        if operands.iter().any(|r| *r >= send.a) {
            return Err("operands inside the window of the slow path".into());
        }
        if n == 2 {
            return Ok(());
        }
        let third = code.insns[at + 2];
        let fits = match op.shape() {
            Shape::ABJ | Shape::AIJ => {
                let target = at as i64 + i.c as i16 as i64;
                matches!(third.opcode(), Op::JumpIf | Op::JumpUnless | Op::LoopIf | Op::LoopUnless)
                    && third.a == send.a
                    && at as i64 + 2 + third.imm() as i64 == target
            }
            _ => third.opcode() == Op::Move && third.a == i.a && third.b == send.a,
        };
        if fits { Ok(()) } else { Err("third instruction does not fit the group".into()) }
    }
}
