//! The effects of builtins that machine code will call most, as their signatures say: a signature that widens shows here.

use zakuro_runtime::effects::all;

/// Name, effects, and those without conversions of arguments where they differ.
const EXPECTED: &str = "
Array#length: leaf
";

#[test]
fn effects_of_hot_builtins() {
    let all = all();
    let shown = |name: &str| match all.get(name) {
        Some((effects, direct)) if effects == direct => format!("{name}: {effects}"),
        Some((effects, direct)) => format!("{name}: {effects}; without conversions: {direct}"),
        None => format!("{name}: no such builtin"),
    };
    for line in EXPECTED.trim().lines() {
        let (name, _) = line.split_once(": ").unwrap();
        assert_eq!(shown(name), line);
    }
}
