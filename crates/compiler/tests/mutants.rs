//! Compiled Codes with changed operands: the verifier refuses whatever a handler would read outside of its registers, tables or instructions.
//!
//! [`refused`] puts each operand of each instruction just out of range. [`harmless_or_refused`] changes fields at random, and what the verifier lets
//! pass is read as the handlers read it, by [`reads`], which is written from the handlers and not from the verifier.

mod common;

use common::{Random, golden_sources};
use std::sync::Arc;
use zakuro_bytecode::op::{Field, Role};
use zakuro_bytecode::{Code, CodeKind, Const, Insn, Intrinsic, NO_BLOCK, Op, call_flags, flow, verify};
use zakuro_compiler::{Options, compile};

/// The Codes of the golden sources, each with its own children, and the kinds of Codes around it left out.
fn codes() -> Vec<Code> {
    fn collect(c: &Arc<Code>, out: &mut Vec<Code>) {
        out.push((**c).clone());
        c.children.iter().for_each(|c| collect(c, out));
    }
    let mut out = Vec::new();
    for source in golden_sources() {
        if let Ok(c) = compile(&source, &Options { file: "t.rb", line: 1, ..Options::default() }) {
            collect(&c.code, &mut out);
        }
    }
    assert!(out.len() > 100, "{} Codes", out.len());
    out.retain(|c| verify::verify(c).is_ok());
    out
}

fn with(code: &Code, at: usize, insn: Insn) -> Code {
    let mut c = code.clone();
    c.insns[at] = insn;
    c
}

#[test]
fn refused() {
    let mut tried = 0;
    let mut changed = |code: &Code, at: usize, what: &str, change: &dyn Fn(&mut Insn)| {
        let mut i = code.insns[at];
        change(&mut i);
        tried += 1;
        let c = with(code, at, i);
        assert!(verify::verify(&c).is_err(), "{what}: {:?} at {at} became {i:?}\n{}", code.insns[at], zakuro_bytecode::disasm::listing(&c));
    };
    for code in codes() {
        let n = code.nregs;
        let len = code.insns.len() as i32;
        for (at, i) in code.insns.iter().copied().enumerate() {
            let op = i.opcode();
            changed(&code, at, "opcode", &|i| i.op = Op::COUNT as u8);
            changed(&code, at, "halt", &|i| i.op = Op::Halt as u8);
            let no_registers = op == Op::Intrinsic && Intrinsic::ALL[i.x as usize].names_two();
            for (role, field) in op.operands() {
                let table = match role {
                    Role::Literal => code.consts.len(),
                    Role::Name => code.syms.len(),
                    Role::IvarSite => code.ivars.len(),
                    Role::ConstSite => code.const_sites.len(),
                    Role::CallSite => code.calls.len(),
                    Role::Block | Role::Method | Role::Class => code.children.len(),
                    Role::Function => Intrinsic::ALL.len(),
                    Role::Slot => zakuro_bytecode::MAX_ENV_SLOTS as usize,
                    Role::Slots => zakuro_bytecode::MAX_ENV_SLOTS as usize + 1,
                    Role::Read | Role::Write | Role::Change | Role::Next | Role::Targets | Role::Window | Role::Arguments => n as usize,
                    // The next changes see to these.
                    Role::Argc | Role::Count | Role::First | Role::Env | Role::Jump => 0,
                    // Any value will do.
                    Role::Depth | Role::Int | Role::Extra | Role::Option | Role::Parts => 0,
                };
                if table > 0 && !(*role == Role::Arguments && no_registers && i.a != 0) {
                    changed(&code, at, "operand", &|i| i.set(*field, table as u16));
                }
                match role {
                    Role::Argc => changed(&code, at, "argc", &|i| i.x = i.x.wrapping_add(1)),
                    Role::Window => changed(&code, at, "window", &|i| i.a = 0),
                    Role::Count if op == Op::Intrinsic && no_registers => {}
                    Role::Count if op == Op::Intrinsic => changed(&code, at, "arguments", &|i| i.c += 1),
                    Role::Count => changed(&code, at, "range", &|i| (i.b, i.c) = (n - 1, 2)),
                    Role::Env => changed(&code, at, "environment", &|i| i.c = code.env_reg.wrapping_sub(1)),
                    Role::Jump => {
                        let mut to = |distance: i32| {
                            changed(&code, at, "jump", &|i| match field {
                                Field::Imm => (i.b, i.c) = (distance as u16, (distance >> 16) as u16),
                                field => i.set(*field, distance as u16),
                            })
                        };
                        to(len - at as i32);
                        to(-1 - at as i32);
                        if op.group_length() > 1 {
                            to(1);
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(tried > 10_000, "{tried}");
}

/// Whether all that the handler of instruction `at` reads and writes without a test is there.
fn reads(code: &Code, at: usize, envs: &[u16]) -> Result<(), String> {
    use Op::*;
    let i = code.insns[at];
    let op = i.opcode();
    let n = code.nregs as usize;
    let reg = |r: usize| if r < n { Ok(()) } else { Err(format!("{i:?}: register {r} of {n}")) };
    let table = |k: u16, len: usize| if (k as usize) < len { Ok(()) } else { Err(format!("{i:?}: entry {k} of {len}")) };
    let start = |to: i64| if to >= 0 && (to as usize) < code.insns.len() { Ok(()) } else { Err(format!("{i:?}: to {to}")) };
    let child = |k: u16, kind: CodeKind| match code.children.get(k as usize) {
        Some(c) if c.kind == kind => Ok(()),
        _ => Err(format!("{i:?}: child {k}")),
    };
    let group = |len: usize| if at + len < code.insns.len() { Ok(()) } else { Err(format!("{i:?}: cut off")) };
    let window = |extra: usize| (0..=extra).try_for_each(|k| reg(code.insns[at + 1].a as usize + k));
    let (a, b, c) = (i.a as usize, i.b as usize, i.c as usize);
    match op {
        Halt => return Err("halt".into()),
        Jump | Loop => start(at as i64 + i.imm() as i64)?,
        JumpIf | JumpUnless | LoopIf | LoopUnless | JumpNil | JumpNotNil | JumpDef | JumpOther => {
            reg(a)?;
            start(at as i64 + i.imm() as i64)?;
            start(at as i64 + 1)?;
        }
        JumpBelow | JumpSame => {
            reg(a)?;
            start(at as i64 + i.c as i16 as i64)?;
            start(at as i64 + 1)?;
        }
        Return | ReturnBlock | BreakBlock | Rethrow => reg(a)?,
        LoadInt | LoadNil | LoadTrue | LoadFalse | LoadUndef | BlockGiven | BlockProc | Catch | GetErr | SetErr | ToS => reg(a)?,
        Move | ArrayPush | ArrayConcat | Splat | HashMerge | Intern => {
            reg(a)?;
            reg(b)?;
        }
        HashSet | NewRange | RescueMatch => {
            reg(a)?;
            reg(b)?;
            reg(c)?;
        }
        LoadConst => {
            reg(a)?;
            table(i.b, code.consts.len())?;
        }
        NewStr => {
            reg(a)?;
            if !matches!(code.consts.get(b), Some(Const::Str { .. })) {
                return Err(format!("{i:?}: no String"));
            }
        }
        NewEnv => {
            reg(a)?;
            if i.b > zakuro_bytecode::MAX_ENV_SLOTS || i.x == 1 && !matches!(code.kind, CodeKind::Block | CodeKind::Eval) {
                return Err(format!("{i:?}"));
            }
        }
        GetEnv | SetEnv => {
            reg(a)?;
            reg(c)?;
            match envs.iter().rev().nth(i.x as usize) {
                Some(slots) if i.b < *slots => {}
                _ => return Err(format!("{i:?}: environments {envs:?}")),
            }
        }
        GetIvar | SetIvar => {
            reg(a)?;
            table(i.c, code.ivars.len())?;
        }
        GetGlobal | SetGlobal => {
            reg(a)?;
            table(i.b, code.syms.len())?;
        }
        GetConst => {
            reg(a)?;
            table(i.c, code.const_sites.len())?;
        }
        GetConstFrom => {
            reg(a)?;
            reg(b)?;
            table(i.c, code.const_sites.len())?;
        }
        SetConst => {
            reg(a)?;
            reg(b)?;
            table(i.c, code.syms.len())?;
        }
        JumpLt | JumpLe | JumpGt | JumpGe | JumpEq | JumpNotLt | JumpNotLe | JumpNotGt | JumpNotGe | JumpNotEq | LoopLt | LoopLe
        | LoopGt | LoopGe => {
            reg(a)?;
            reg(b)?;
            group(3)?;
            window(1)?;
            start(at as i64 + i.c as i16 as i64)?;
        }
        JumpLtI | JumpLeI | JumpGtI | JumpGeI | JumpEqI | JumpNotLtI | JumpNotLeI | JumpNotGtI | JumpNotGeI | JumpNotEqI | LoopLtI
        | LoopLeI | LoopGtI | LoopGeI => {
            reg(a)?;
            group(3)?;
            window(1)?;
            start(at as i64 + i.c as i16 as i64)?;
        }
        Add | Sub | Mul | Div | Mod | Pow | Lt | Le | Gt | Ge | Eq | Ne | And | Or | Xor | Shl | Shr | Aref | CaseEq => {
            reg(a)?;
            reg(b)?;
            reg(c)?;
            group(3)?;
            window(1)?;
        }
        AddI | SubI | MulI | DivI | ModI | AndI | ShlI | ShrI => {
            reg(a)?;
            reg(b)?;
            group(3)?;
            window(1)?;
        }
        Not | Neg | Len | Succ | NilP | EmptyP => {
            reg(a)?;
            reg(b)?;
            group(3)?;
            window(0)?;
        }
        Aset => {
            reg(a)?;
            reg(b)?;
            reg(c)?;
            group(2)?;
            window(2)?;
        }
        Send | SendBlk | SendSelf | SendSelfBlk | SendX | Super | SuperX | Yield | YieldX => {
            table(i.c, code.calls.len())?;
            let site = &code.calls[c];
            let mut last = a + i.x as usize;
            if site.flags & call_flags::KW_NAMES != 0 {
                table(site.keywords, code.keyword_lists.len())?;
                let names = code.keyword_lists[site.keywords as usize].len();
                if names == 0 || names > zakuro_bytecode::MAX_KEYWORDS {
                    return Err(format!("{names} names"));
                }
                last += names;
            } else if site.flags & call_flags::KW != 0 {
                last += 1;
            }
            last += (site.flags & call_flags::BLOCKARG != 0) as usize;
            reg(last)?;
            if site.child != NO_BLOCK {
                child(site.child, CodeKind::Block)?;
                if a < 3 && site.flags & call_flags::BLOCKARG == 0 {
                    return Err("no room for the block".into());
                }
            }
            start(at as i64 + 1)?;
        }
        NewProc => {
            reg(a)?;
            child(i.b, CodeKind::Block)?;
        }
        DefMethod | DefSingleton => {
            reg(a)?;
            table(i.b, code.syms.len())?;
            child(i.c, CodeKind::Method)?;
        }
        OpenClass => {
            reg(a + 1)?;
            table(i.b, code.syms.len())?;
            child(i.c, CodeKind::Class)?;
        }
        AskList if c == 0 || i.x > 3 => return Err(format!("{i:?}: no such question")),
        NewArray | AskList | NewHash | Interp | NewRegexp => {
            reg(a)?;
            if b + c > n || op == NewHash && c % 2 != 0 {
                return Err(format!("{i:?}: {n} registers"));
            }
        }
        Expand => {
            reg(b)?;
            let count = (c & 0xff) + (c >> 8) + (i.x & 1) as usize;
            if a + count > n {
                return Err(format!("{i:?}: {n} registers"));
            }
        }
        Intrinsic => {
            let Some(id) = zakuro_bytecode::Intrinsic::ALL.get(i.x as usize) else { return Err(format!("{i:?}")) };
            reg(a + (id.arguments() as usize).saturating_sub(1))?;
        }
    }
    Ok(())
}

#[test]
fn harmless_or_refused() {
    let mut random = Random(0x5eed_5eed_1234_5678);
    let (mut passed, mut refused) = (0, 0);
    let codes = codes();
    // Only those whose environments are all known.
    let codes: Vec<&Code> = codes.iter().filter(|c| !matches!(c.kind, CodeKind::Block | CodeKind::Eval)).collect();
    for _ in 0..60_000 {
        let code = codes[random.below(codes.len())];
        let at = random.below(code.insns.len());
        let mut i = code.insns[at];
        // Near the limits, where mistakes by one are, and far away.
        let near = [0, 1, code.nregs, code.nregs - 1, code.nlocals, code.env_reg, code.insns.len() as u16, code.calls.len() as u16];
        let v = match random.below(3) {
            0 => near[random.below(near.len())],
            1 => random.below(code.nregs as usize + 4) as u16,
            _ => random.below(1 << 16) as u16,
        };
        match random.below(5) {
            0 => i.op = random.below(Op::COUNT + 2) as u8,
            1 => i.x = random.below(if v > 255 { 256 } else { 6 }) as u8,
            2 => i.a = v,
            3 => i.b = v,
            _ => i.c = v,
        }
        let mut mutant = with(code, at, i);
        if random.below(8) == 0 && !mutant.calls.is_empty() {
            let k = random.below(mutant.calls.len());
            let site = &mut mutant.calls[k];
            match random.below(4) {
                0 => site.flags = v,
                1 => site.argc = v as u8,
                2 => site.child = v,
                _ => site.keywords = v,
            }
        }
        match random.below(40) {
            0 => mutant.nregs = v,
            1 => mutant.nlocals = v,
            2 => mutant.env_reg = v,
            3 => mutant.params.required = v,
            4 => mutant.children = Box::new([]),
            _ => {}
        }
        if verify::verify(&mutant).is_err() {
            refused += 1;
            continue;
        }
        passed += 1;
        let envs: Vec<u16> = if mutant.own_env { vec![mutant.insns[0].b] } else { Vec::new() };
        for at in 0..mutant.insns.len() {
            reads(&mutant, at, &envs).unwrap_or_else(|e| panic!("{e} at {at}\n{}", zakuro_bytecode::disasm::listing(&mutant)));
        }
        assert!(mutant.params.registers() < mutant.nlocals && mutant.nlocals <= mutant.nregs);
        assert!(mutant.env_reg < mutant.nregs);
        // Whatever it says, it must be able to walk the Code.
        let _ = flow::check(&mutant);
    }
    assert!(passed > 2_000 && refused > 20_000, "{passed} passed, {refused} refused");
}
