//! Lists of values that the collector does not see, by their types: those that inference gives to variables, too, which `check` can't read.
//!
//! The build with debug assertions (checked.toml) writes the compiler's intermediate code (MIR; `xtask/rustc`), where each variable stands with its type. A builtin or a function of the VM with a variable that owns a plain
//! `Vec<Value>` fails, wherever the list comes from (`collect`, `to_vec`, `vec![]`, `clone`). Vectors of tuples with values are listed by `--all`, for reading:
//! some are rooted beside, some live where nothing runs.

use crate::{Args, root};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

pub fn run(args: &[String]) -> Result<bool, String> {
    let args = Args::parse(args, &[], &["all"])?;
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args([
            "build",
            "--quiet",
            "--release",
            "--config",
            "checked.toml",
            "-p",
            "zakuro-cli",
            "--bin",
            "zakuro-checked",
            "--features",
            "checked",
        ])
        .current_dir(root())
        .status()
        .map_err(|e| format!("cargo: {e}"))?;
    if !status.success() {
        return Err("cargo build failed".into());
    }
    let mut looked_at = 0;
    let mut found = BTreeMap::new();
    for (name, path) in newest(&crate::target().join("release/deps"))? {
        if !crate::check::is_watched(&name.replace('_', "-")) {
            continue;
        }
        looked_at += 1;
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        for (function, kind) in lists(&text, args.has("all")) {
            found.entry(format!("{name}: {function}")).or_insert(kind);
        }
    }
    for (function, kind) in &found {
        println!("{} {kind} in {function}", if kind == PLAIN { "FAILED" } else { "read:" });
    }
    let failed = found.values().filter(|k| *k == PLAIN).count();
    println!("lists: {looked_at} crates, {failed} failures");
    if looked_at < 10 {
        return Err("the intermediate code of some crates is missing".into());
    }
    Ok(failed == 0)
}

/// The newest intermediate code of each crate of the workspace, by the crate's name.
fn newest(dir: &Path) -> Result<BTreeMap<String, std::path::PathBuf>, String> {
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .map_err(|e| format!("{}: {e}", dir.display()))?
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "mir"))
        .collect();
    files.sort_by_key(|p| std::fs::metadata(p).and_then(|m| m.modified()).ok());
    let name = |p: &Path| {
        let stem = p.file_stem()?.to_string_lossy().into_owned();
        Some(stem.strip_prefix("zakuro_")?.rsplit_once('-')?.0.to_string())
    };
    Ok(files.into_iter().filter_map(|p| Some((name(&p)?, p))).collect())
}

const PLAIN: &str = "Vec<Value>";

/// Functions with variables that own values outside the heap, and the types of these without paths.
fn lists(mir: &str, all: bool) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut function = "";
    for line in mir.lines() {
        if let Some(rest) = line.strip_prefix("fn ") {
            function = rest.split('(').next().unwrap_or(rest);
        }
        let Some((_, kind)) = line.trim_start().strip_prefix("let ").and_then(|l| l.trim_end_matches(';').split_once(": ")) else {
            continue;
        };
        let kind = without_paths(kind);
        let tuples = all && kind.starts_with("Vec<(") && kind.split(|c: char| !c.is_alphanumeric()).any(|w| w == "Value");
        if kind == PLAIN || tuples {
            found.push((function.to_string(), kind));
        }
    }
    found
}

/// `std::vec::Vec<a::b::Value>` as `Vec<Value>`.
fn without_paths(kind: &str) -> String {
    let mut out = String::new();
    let mut rest = kind;
    while let Some(at) = rest.find("::") {
        let word = rest[..at].rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |i| i + 1);
        out.push_str(&rest[..word]);
        rest = &rest[at + 2..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_with_a_plain_list_is_found() {
        let mir = "fn store::part(_1: &mut Vm) -> () {\n    let mut _3: std::vec::Vec<zakuro_object::Value>;\n    let _4: &std::vec::Vec<zakuro_vm::Value>;\n}\n";
        assert_eq!(lists(mir, false), [("store::part".to_string(), PLAIN.to_string())]);
        let mir = "fn f(_1: &mut Vm) -> () {\n    let _2: std::vec::Vec<(zakuro_vm::Sym, zakuro_vm::Value)>;\n    let _3: zakuro_vm::TracedVec;\n}\n";
        assert!(lists(mir, false).is_empty());
        assert_eq!(lists(mir, true)[0].1, "Vec<(Sym, Value)>");
    }
}
