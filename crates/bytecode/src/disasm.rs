//! Text form of a Code, for `--dump=bytecode` and golden tests. Reads the opcode table; nothing here is kept by hand.

use crate::code::*;
use crate::op::{Insn, Op, Shape};
use std::fmt::Write;

/// The listing of a Code and all Codes in it.
pub fn listing(code: &Code) -> String {
    let mut out = String::new();
    write_code(&mut out, code);
    out
}

fn write_code(out: &mut String, code: &Code) {
    let _ = writeln!(
        out,
        "== {:?} {} {}:{} (registers {}, environment {})",
        code.kind,
        code.name,
        code.file,
        code.line,
        code.nregs,
        match (code.own_env, code.env_reg) {
            (true, r) => format!("own in r{r}"),
            (false, 0) => "none".into(),
            (false, r) => format!("parent's in r{r}"),
        }
    );
    let mut line = 0;
    for (i, insn) in code.insns.iter().enumerate() {
        let l = code.line_at(i);
        let shown = if l == line { String::new() } else { format!("{l}") };
        line = l;
        let _ = writeln!(out, "{shown:>5} {i:04} {}", insn_text(code, i, *insn));
    }
    for h in &code.handlers {
        let _ = writeln!(out, "      {:?} {:04}..{:04} -> {:04}", h.kind, h.start, h.end, h.target);
    }
    out.push('\n');
    for child in &code.children {
        write_code(out, child);
    }
}

fn insn_text(code: &Code, at: usize, i: Insn) -> String {
    let op = i.opcode();
    let target = |d: i32| format!("-> {:04}", at as i64 + d as i64);
    let sym = |n: u16| code.syms.get(n as usize).map_or("?".into(), |s| s.name().into_owned());
    let args = match op.shape() {
        Shape::Z => String::new(),
        Shape::A => format!("r{}", i.a),
        Shape::AB => format!("r{}, r{}", i.a, i.b),
        Shape::ABC => format!("r{}, r{}, r{}{}", i.a, i.b, i.c, if i.x != 0 { format!(" x={}", i.x) } else { String::new() }),
        Shape::AI => format!("r{}, {}", i.a, i.imm()),
        Shape::J => target(i.imm()),
        Shape::AJ => format!("r{} {}", i.a, target(i.imm())),
        Shape::ABJ => format!("r{}, r{} {}", i.a, i.b, target(i.c as i16 as i32)),
        Shape::AIJ => format!("r{}, {} {}", i.a, i.b as i16, target(i.c as i16 as i32)),
        Shape::ABI => format!("r{}, r{}, {}", i.a, i.b, i.c as i16),
        Shape::AK => format!("r{}, {:?}", i.a, code.consts.get(i.b as usize)),
        Shape::AS => format!("r{}, {}", i.a, sym(i.b)),
        Shape::AE => format!("r{}, env r{} up {} slot {}", i.a, i.c, i.x, i.b),
        Shape::AV => format!("r{}, {}", i.a, code.ivars.get(i.c as usize).map_or("?".into(), |s| s.name().into_owned())),
        Shape::AC => format!("r{}, {}", i.a, code.const_sites.get(i.c as usize).map_or("?".into(), |s| s.name.name().into_owned())),
        Shape::Call => {
            let site = code.calls.get(i.c as usize);
            let mut s = format!("r{}, {} argc={}", i.a, site.map_or("?".into(), |s| s.name.name().into_owned()), i.x);
            if let Some(site) = site {
                if site.flags != 0 {
                    let _ = write!(s, " flags={:#x}", site.flags);
                }
                if site.block != NO_BLOCK {
                    let _ = write!(s, " block={}", site.block);
                }
            }
            s
        }
        Shape::Range => format!("r{}, r{}..+{} x={}", i.a, i.b, i.c, i.x),
        Shape::Misc => match op {
            Op::Intrinsic => format!("{} r{} b={} argc={}", crate::Intrinsic::ALL[i.x as usize].name(), i.a, i.b, i.c),
            Op::DefMethod | Op::DefSingleton | Op::OpenClass => format!("r{}, {} child {} x={}", i.a, sym(i.b), i.c, i.x),
            _ => format!("x={} a={} b={} c={}", i.x, i.a, i.b, i.c),
        },
    };
    format!("{:<12} {args}", op.name())
}
