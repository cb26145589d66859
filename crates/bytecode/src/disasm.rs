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
        Shape::AK => format!("r{}, {}", i.a, code.consts.get(i.b as usize).map_or("?".into(), const_text)),
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
                if let Some(names) = code.keyword_lists.get(site.keywords as usize) {
                    let names: Vec<_> = names.iter().map(|n| n.name()).collect();
                    let _ = write!(s, " keywords={}", names.join(","));
                }
                if site.block != NO_BLOCK {
                    let _ = write!(s, " block={}", site.block);
                }
            }
            s
        }
        Shape::Range => format!("r{}, r{}..+{} x={}", i.a, i.b, i.c, i.x),
        Shape::Misc => match op {
            Op::Intrinsic => intrinsic_text(code, i),
            Op::GetConstFrom => {
                let site = code.const_sites.get(i.c as usize);
                format!("r{}, r{}::{}", i.a, i.b, site.map_or("?".into(), |s| s.name.name().into_owned()))
            }
            Op::SetConst => format!("r{}, r{}::{}", i.a, i.b, sym(i.c)),
            Op::NewEnv => {
                format!("r{}, {} slots{}", i.a, i.b, if i.x == 1 { ", inside r".to_string() + &i.a.to_string() } else { String::new() })
            }
            Op::NewProc => format!("r{}, child {}{}", i.a, i.b, if i.x == 1 { " lambda" } else { "" }),
            Op::Expand => {
                let rest = if i.x & 1 == 1 { " + rest" } else { "" };
                format!("r{}.. <- r{}: {}{rest} + {}", i.a, i.b, i.c & 0xff, i.c >> 8)
            }
            Op::DefMethod | Op::DefSingleton | Op::OpenClass => format!("r{}, {} child {} x={}", i.a, sym(i.b), i.c, i.x),
            _ => format!("x={} a={} b={} c={}", i.x, i.a, i.b, i.c),
        },
    };
    format!("{:<12} {args}", op.name())
}

fn intrinsic_text(code: &Code, i: Insn) -> String {
    use crate::Intrinsic::*;
    let id = crate::Intrinsic::ALL[i.x as usize];
    let sym = |n: u16| code.syms.get(n as usize).map_or("?".into(), |s| s.name().into_owned());
    let mut out = format!("{} r{}", id.name(), i.a);
    let _ = match id {
        GetCvar | SetCvar | DefinedCvar | DefinedIvar | DefinedGlobal | DefinedConst | DefinedConstFrom | DefinedMethod | DefinedFcall => {
            write!(out, ", {}", sym(i.b))
        }
        AliasGlobal => write!(out, ", {} {}", sym(i.b), sym(i.c)),
        BackrefNth | BackrefSpecial | OnceTest | OnceSet | OnceGet | RegisterAtExit => write!(out, ", {}", i.b),
        _ if i.c > 1 => write!(out, "..+{}", i.c),
        _ => Ok(()),
    };
    out
}

/// A literal, nearly as in Ruby.
fn const_text(c: &Const) -> String {
    match c {
        Const::Nil => "nil".into(),
        Const::True => "true".into(),
        Const::False => "false".into(),
        Const::Int(i) => i.to_string(),
        Const::Big(n) => n.to_string(),
        Const::Float(f) => format!("{f:?}"),
        Const::Sym(s) => format!("{s:?}"),
        Const::Str { bytes, encoding } => {
            let suffix = match encoding {
                0 => " binary",
                2 => " ascii",
                _ => "",
            };
            format!("\"{}\"{suffix}", bytes.escape_ascii())
        }
        Const::Regexp { source, options, .. } => format!("/{}/ options {options}", source.escape_ascii()),
        Const::Rational(n, d) => format!("({n}/{d})"),
        Const::Complex(i) => format!("{}i", const_text(i)),
        Const::Range { low, high, exclusive } => {
            format!("{}{}{}", const_text(low), if *exclusive { "..." } else { ".." }, const_text(high))
        }
        Const::Array(a) => format!("[{}]", a.iter().map(const_text).collect::<Vec<_>>().join(", ")),
    }
}
