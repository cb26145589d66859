//! The opcode table beside what is made from it: tests/lang/dispatches.rb and dispatches_calls.rb reach every instruction, docs/opcodes.md lists them.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use zakuro_bytecode::{Code, Op};
use zakuro_compiler::{Options, compile};

fn ops(code: &Code, found: &mut BTreeSet<u8>) {
    found.extend(code.insns.iter().map(|i| i.op));
    code.children.iter().for_each(|c| ops(c, found));
}

#[test]
fn every_instruction_is_dispatched_a_million_times() {
    let options = Options { file: "dispatches.rb", main_script: true, ..Options::default() };
    let mut found = BTreeSet::new();
    for name in ["dispatches", "dispatches_calls"] {
        let path = format!("{}/../../tests/lang/{name}.rb", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read(path).expect("the program");
        ops(&compile(&source, &options).expect("compiles").code, &mut found);
    }
    // `Halt` is the VM's own.
    let missing: Vec<_> = Op::ALL.iter().filter(|op| **op != Op::Halt && !found.contains(&(**op as u8))).collect();
    assert!(missing.is_empty(), "tests/lang/dispatches*.rb have no {missing:?}");
}

#[test]
fn the_page_of_instructions_is_true() {
    let mut page = String::from(
        "# Instructions (reference)\n\nMade from the opcode table (`crates/bytecode/src/op.rs`, which tells what operands, groups and environments are) by\n`UPDATE=1 cargo test -p zakuro-compiler --test dispatches`.\n\n| instruction | operands | meaning |\n| --- | --- | --- |\n",
    );
    for op in Op::ALL {
        let operands: Vec<_> = op.operands().iter().map(|(role, field)| format!("{field:?}: {role:?}").to_lowercase()).collect();
        let mut meaning = op.doc().split_whitespace().collect::<Vec<_>>().join(" ").replace("\\[", "[").replace('|', "\\|");
        for (holds, words) in [(op.polls(), "polls"), (op.ends(), "control does not go on")] {
            if holds {
                let _ = write!(meaning, " ({words})");
            }
        }
        let _ = writeln!(page, "| {} | {} | {meaning} |", op.name(), operands.join(", "));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/opcodes.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &page).expect("written");
    }
    assert!(std::fs::read_to_string(&path).unwrap_or_default() == page, "docs/opcodes.md is not what the table says");
}
