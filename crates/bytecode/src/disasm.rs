//! Text form of a Code, for `--dump=bytecode` and golden tests. Reads the opcode table; nothing here is kept by hand.

use crate::code::*;
use crate::op::{Insn, Role};
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
    let mut args = String::new();
    for (n, (role, field)) in op.operands().iter().enumerate() {
        let v = i.get(*field);
        let comma = if n == 0 { "" } else { ", " };
        let _ = match role {
            Role::Read | Role::Write | Role::Change => write!(args, "{comma}r{v}"),
            Role::First => write!(args, "{comma}r{v}..+{}", i.c),
            Role::Targets => write!(args, "r{v}.."),
            Role::Parts => write!(args, ": {}{} + {}", v & 0xff, if i.x & 1 == 1 { " + rest" } else { "" }, v >> 8),
            Role::Env => write!(args, "{comma}env r{v}"),
            Role::Depth => write!(args, " up {v}"),
            Role::Slot => write!(args, " slot {v}"),
            Role::Slots => write!(args, "{comma}{v} slots"),
            Role::Int => write!(args, "{comma}{}", i.signed(*field)),
            Role::Jump => write!(args, "{}-> {:04}", if n == 0 { "" } else { " " }, at as i64 + i.signed(*field) as i64),
            Role::Literal => write!(args, "{comma}{}", code.consts.get(v as usize).map_or("?".into(), const_text)),
            Role::Name => write!(args, "{comma}{}", name(code, v)),
            Role::IvarSite => write!(args, "{comma}{}", code.ivars.get(v as usize).map_or("?".into(), |s| s.name())),
            Role::ConstSite => write!(args, "{comma}{}", code.const_sites.get(v as usize).map_or("?".into(), |s| s.name.name())),
            Role::Window => write!(args, "r{v}"),
            Role::CallSite => write!(args, ", {}", site_text(code, v)),
            Role::Argc => write!(args, " argc={v}"),
            Role::Block | Role::Method | Role::Class => write!(args, "{comma}child {v}"),
            Role::Function => write!(args, "{}", intrinsic_text(code, i)),
            // A listing's usual reader has no use for those that are off.
            Role::Option if v != 0 => write!(args, " x={v}"),
            Role::Option | Role::Next | Role::Count | Role::Arguments | Role::Extra => Ok(()),
        };
    }
    format!("{:<12} {args}", op.name())
}

fn name(code: &Code, n: u16) -> String {
    code.syms.get(n as usize).map_or("?".into(), |s| s.name().into_owned())
}

fn site_text(code: &Code, n: u16) -> String {
    let Some(site) = code.calls.get(n as usize) else { return "?".into() };
    let mut s = site.name.name().into_owned();
    if site.flags != 0 {
        let _ = write!(s, " flags={:#x}", site.flags);
    }
    if let Some(names) = code.keyword_lists.get(site.keywords as usize) {
        let names: Vec<_> = names.iter().map(|n| n.name()).collect();
        let _ = write!(s, " keywords={}", names.join(","));
    }
    if site.child != NO_BLOCK {
        let _ = write!(s, " block={}", site.child);
    }
    s
}

fn intrinsic_text(code: &Code, i: Insn) -> String {
    let id = crate::Intrinsic::ALL[i.x as usize];
    let mut out = format!("{} r{}", id.name(), i.a);
    if !id.names_two() && i.c > 1 {
        let _ = write!(out, "..+{}", i.c);
    }
    if id.names() {
        let _ = write!(out, ", {}", name(code, i.b));
    }
    if id.names_two() {
        let _ = write!(out, " {}", name(code, i.c));
    }
    if id.has_number() {
        let _ = write!(out, ", {}", i.b);
    }
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
        Const::Str { bytes, encoding } | Const::Interned { bytes, encoding } => {
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
        Const::Hash(h) => {
            let pairs = h.iter().map(|(k, v)| format!("{} => {}", const_text(k), const_text(v)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}
