//! Looks at the machine code of the interpreter's handlers, x86-64 only (`objdump` of binutils): each must go on to the next one by a jump
//! (docs/decisions/0002-tail-calls.md), since a call would use up the native stack within a loop of some 100,000 rounds; and in a release build those that
//! everyday loops run must save no registers (docs/decisions/0009-hot-handlers-save-no-registers.md).
//!
//! No text of the compiler's is compared, so that it holds for any version: a dispatch is an indirect jump or call through a table of addresses.

use crate::{Args, find_zakuro};
use std::collections::BTreeSet;
use std::process::Command;

/// Handlers that do so much that saving registers is nothing beside it, or that are the slow side of another one.
const MAY_SAVE: &[&str] = &[
    "arith::add_mixed",
    "arith::case_eq_pattern",
    "arith::case_eq_string",
    "arith::div_mixed",
    "arith::eq_string",
    "arith::jump_eq_string",
    "arith::jump_not_eq_string",
    "arith::mul_mixed",
    "arith::ne_string",
    "arith::push",
    "arith::push_growing",
    "arith::sub_mixed",
    "blocks::block_proc",
    "blocks::enter_yield",
    "blocks::new_proc",
    "calls::attr_listed",
    "calls::enter",
    "calls::native",
    "calls::native_blk",
    "calls::ruby_filled_blk",
    "calls::new_bound",
    "calls::new_object",
    "calls::new_plain_object",
    "calls::proc_call",
    "calls::ruby_simple_blk",
    "calls::send_miss",
    "calls::send_x",
    "control::break_block",
    "control::poll_at",
    "control::rescue_match",
    "control::return_block",
    "data::aref_hash",
    "data::array_concat",
    "data::array_push",
    "data::aset_growing",
    "data::aset_hash",
    "data::ask_list",
    "data::expand",
    "data::get_const_from",
    "data::get_const_slow",
    "data::get_global",
    "data::get_ivar_slow",
    "data::hash_merge",
    "data::hash_set",
    "data::intern",
    "data::interp",
    "data::new_array",
    "data::new_env",
    "data::new_hash",
    "data::new_range",
    "data::new_regexp",
    "data::new_str",
    "data::set_const",
    "data::set_global",
    "data::set_ivar_slow",
    "data::set_old_env",
    "data::splat",
    "data::to_s_slow",
    "defs::def_method",
    "defs::def_singleton",
    "defs::open_class",
    "heat::profile",
    "intrinsics::intrinsic",
    "machine::leave",
    "machine::machine",
    "machine::poll_at_beginning",
    "sent::sent",
    "sent::sent_native",
    "sent::sent_other",
    "super_call::super_",
    "super_call::super_x",
    "trace::trace",
    "unwind::unwind",
];

/// Fewer would mean that the disassembly was not understood.
const LEAST: usize = 100;

pub fn run(args: &[String]) -> Result<bool, String> {
    let args = Args::parse(args, &["zakuro", "profile"], &[])?;
    if !cfg!(target_arch = "x86_64") {
        println!("handlers: not x86-64, nothing looked at");
        return Ok(true);
    }
    let profile = args.get("profile").unwrap_or("release");
    let zakuro = find_zakuro(&args, profile)?;
    let listing = Command::new("objdump")
        .args(["-d", "--no-show-raw-insn", "--demangle"])
        .arg(&zakuro)
        .output()
        .map_err(|e| format!("objdump: {e}; install binutils"))?;
    if !listing.status.success() {
        return Err(format!("objdump {}: {}", zakuro.display(), String::from_utf8_lossy(&listing.stderr)));
    }
    let found = look(&String::from_utf8_lossy(&listing.stdout));
    if found.jumps < LEAST {
        return Err(format!("only {} handlers found in {}: does it have symbols?", found.jumps, zakuro.display()));
    }
    for name in &found.calls {
        println!("FAILED {name} calls the next handler instead of jumping to it");
    }
    let saving: Vec<&String> = if profile == "release" { found.saving.iter().collect() } else { Vec::new() };
    for name in &saving {
        println!("FAILED {name} saves registers at its start");
    }
    println!("handlers: {} jump to the next one, {} call it; {} save registers unexpectedly", found.jumps, found.calls.len(), saving.len());
    Ok(found.calls.is_empty() && saving.is_empty())
}

#[derive(Default)]
struct Found {
    jumps: usize,
    calls: BTreeSet<String>,
    saving: BTreeSet<String>,
}

fn look(listing: &str) -> Found {
    let mut found = Found::default();
    let mut at: Option<Handler> = None;
    for line in listing.lines() {
        if let Some(symbol) = line.strip_suffix(">:").and_then(|l| l.split_once(" <")).map(|(_, s)| s) {
            if let Some(h) = at.take() {
                h.end(&mut found);
            }
            // `run` is where native code enters.
            let name = symbol.strip_prefix("zakuro_vm::execution::interp::").filter(|n| *n != "run" && !n.contains('{'));
            at = name.map(|n| Handler { name: n.to_string(), ..Handler::default() });
            continue;
        }
        if let Some(h) = &mut at
            && let Some((_, text)) = line.split_once(":\t")
        {
            h.see(text.trim());
        }
    }
    if let Some(h) = at.take() {
        h.end(&mut found);
    }
    found
}

#[derive(Default)]
struct Handler {
    name: String,
    instructions: usize,
    saves: bool,
    jumps: bool,
    calls: bool,
}

impl Handler {
    fn see(&mut self, text: &str) {
        self.instructions += 1;
        let (mnemonic, operands) = text.split_once(' ').unwrap_or((text, ""));
        // The first, or the second after `mov` of what is about to be saved.
        self.saves |= mnemonic == "push" && self.instructions <= 2;
        // Base, index, scale: a place in a table of addresses.
        let table = operands.trim().starts_with("*(%") && operands.trim_end().ends_with(",8)");
        self.jumps |= mnemonic == "jmp" && table;
        self.calls |= mnemonic == "call" && table;
    }
    fn end(self, found: &mut Found) {
        found.jumps += usize::from(self.jumps);
        if self.calls {
            found.calls.insert(self.name);
        } else if self.jumps && self.saves && !MAY_SAVE.contains(&self.name.as_str()) {
            found.saving.insert(self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_calls_and_saved_registers() {
        let listing = "\
0000000000001000 <zakuro_vm::execution::interp::arith::add>:
    1000:\tmov    (%rsi),%rax
    1004:\tjmp    *(%r8,%rax,8)

0000000000001010 <zakuro_vm::execution::interp::arith::grown>:
    1010:\tpush   %rbx
    1011:\tjmp    *(%r8,%rax,8)

0000000000001020 <zakuro_vm::execution::interp::arith::broken>:
    1020:\tcall   *(%r8,%rax,8)
    1024:\tret

0000000000001030 <zakuro_vm::execution::interp::run>:
    1030:\tcall   *(%r8,%rax,8)
0000000000001040 <elsewhere>:
    1040:\tcall   *(%r8,%rax,8)
";
        let found = look(listing);
        assert_eq!(found.jumps, 2);
        assert_eq!(found.calls.into_iter().collect::<Vec<_>>(), ["arith::broken"]);
        assert_eq!(found.saving.into_iter().collect::<Vec<_>>(), ["arith::grown"]);
    }
}
