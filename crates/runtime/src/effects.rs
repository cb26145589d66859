//! What each builtin may do, as its signature says: `zakuro --effects`. docs/builtins.md has the meaning.

use std::collections::BTreeMap;
use std::fmt::Write;
use zakuro_vm::{Effects, MethodRow};

/// Every builtin of the core library and of what `require` brings, by name (`Array#first`): its effects, and those without conversions of arguments.
pub fn all() -> BTreeMap<String, (Effects, Effects)> {
    let mut out = BTreeMap::new();
    let mut add = |class: &str, row: &MethodRow| {
        for name in row.names {
            out.insert(format!("{class}{}{name}", if row.singleton { "." } else { "#" }), (row.effects, row.direct));
        }
    };
    for row in zakuro_corelib::tables().into_iter().flatten() {
        let class = zakuro_vm::class::BOOT_CLASSES.iter().find(|c| c.0 == row.class).map_or("?", |c| c.1);
        add(class, row);
    }
    for (_, class, rows) in zakuro_stdlib::DOCUMENTED {
        rows.iter().for_each(|row| add(class, row));
    }
    out
}

/// The list, a line for each name, and counts.
pub fn table() -> String {
    let all = all();
    let width = all.keys().map(String::len).max().unwrap_or(0);
    let mut out = String::new();
    let mut counts: BTreeMap<Effects, (usize, usize)> = BTreeMap::new();
    for (name, (effects, direct)) in &all {
        let _ = write!(out, "{name:width$}  {effects}");
        if direct != effects {
            let _ = write!(out, "; without conversions: {direct}");
        }
        out.push('\n');
        counts.entry(*effects).or_default().0 += 1;
        counts.entry(*direct).or_default().1 += 1;
    }
    let _ = writeln!(out, "\n{} names; as called, without conversions:", all.len());
    for (effects, (called, direct)) in counts {
        let _ = writeln!(out, "{called:6} {direct:6}  {effects}");
    }
    out
}
