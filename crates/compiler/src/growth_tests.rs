//! Code grows with its source, not faster, and is made in time.

use crate::{Options, compile};
use std::time::{Duration, Instant};

/// Bytes of what a source compiles to.
fn size(source: &str) -> usize {
    match compile(source.as_bytes(), &Options { file: "t.rb", ..Options::default() }) {
        Ok(c) => c.code.size(),
        Err(e) => panic!("{}\n{}", e.message(), &source[..source.len().min(200)]),
    }
}

fn nested(n: usize, begin: &str, inner: &str, end: &str) -> String {
    begin.repeat(n) + inner + &end.repeat(n)
}

fn listed(n: usize, one: impl Fn(usize) -> String, between: &str) -> String {
    (0..n).map(one).collect::<Vec<_>>().join(between)
}

/// A name, a size to begin with, and the source of a size.
type Shape = (&'static str, usize, Box<dyn Fn(usize) -> String>);

fn shape(name: &'static str, n: usize, source: impl Fn(usize) -> String + 'static) -> Shape {
    (name, n, Box::new(source))
}

/// Sources that nest clauses, jumps and scopes.
fn shapes() -> Vec<Shape> {
    vec![
        shape("ensure in clauses", 40, |n| (0..n).fold(String::from("1"), |s, _| format!("begin; 1; ensure; {s}; end"))),
        shape("ensure in bodies", 40, |n| nested(n, "begin;", "1", "; ensure; 2; end")),
        shape("ensure in both", 40, |n| {
            (0..n).fold(String::from("1"), |s, _| format!("begin; begin; 1; ensure; 2; end; ensure; begin; {s}; ensure; 3; end; end"))
        }),
        shape("return through clauses", 40, |n| format!("def m; {}; end", nested(n, "begin; return 1 if a;", "1", "; ensure; b; end"))),
        shape("returns side by side", 100, |n| format!("def m; begin; {} ensure; {} end; end", "return 1 if a;".repeat(n), "b;".repeat(n))),
        shape("jumps through clauses", 40, |n| {
            nested(n, "while a; begin; break if b; next if c; redo if d;", "1", "; ensure; e; end; end")
        }),
        shape("jumps in clauses", 40, |n| {
            (0..n).fold(String::from("1"), |s, _| format!("while a; begin; break; ensure; next if b; {s}; end; end"))
        }),
        shape("retry", 40, |n| nested(n, "begin;", "a", "; rescue; retry if b; ensure; c; end")),
        shape("return through rescues", 40, |n| format!("def m; {}; end", nested(n, "begin; a; rescue; return 1 if b;", "1", "; end"))),
        shape("rescue clauses", 100, |n| format!("begin; a; {} end", "rescue A; 1;".repeat(n))),
        shape("rescue modifiers", 100, |n| "a rescue ".repeat(n) + "b"),
        shape("blocks with clauses", 20, |n| nested(n, "a { begin; return 1 if b;", "1", "; ensure; c; end }")),
        shape("alternatives", 200, |n| format!("case a; in {}; 1; end", vec!["1"; n].join("|"))),
        shape("patterns", 100, |n| format!("case a; in {}; 1; end", nested(n, "[", "x", "]"))),
        shape("whiles", 100, |n| nested(n, "while a;", "1", "; end")),
        shape("conditions", 200, |n| "a&.b&.c && ".repeat(n) + "d"),
        shape("multiple assignment", 100, |n| nested(n, "(", "a, b", "), c") + " = d"),
        shape("interpolation", 50, |n| nested(n, "\"a#{", "1", "}\"")),
        shape("parameters", 500, |n| format!("def m({}); end", listed(n, |i| format!("a{i} = 1"), ", "))),
        shape("methods", 200, |n| listed(n, |i| format!("def m{i}(a, b = a, *c, d: 1, **e, &f) = 1"), "\n")),
        shape("keywords", 200, |n| listed(n, |i| format!("m(a{i}: 1, b: 2)"), "\n")),
        shape("digits", 2_000, |n| "9".repeat(n)),
        shape("rational", 2_000, |n| format!("1.{}r", "5".repeat(n))),
    ]
}

#[test]
fn code_grows_with_the_source() {
    for (name, n, source) in shapes() {
        let sizes: Vec<usize> = [n, 2 * n, 4 * n].map(|n| size(&source(n))).to_vec();
        assert!(sizes[2] - sizes[1] <= 3 * (sizes[1] - sizes[0]), "{name}: {sizes:?}");
    }
}

/// Quadratic work would take minutes.
#[test]
fn long_sources_are_compiled_in_time() {
    let n = 28_000;
    let sources = [
        format!("def m({}); end", listed(n, |i| format!("a{i}"), ", ")),
        listed(n, |i| format!("v{i} = 1"), "\n"),
        listed(n, |i| format!("m(a{i}: 1)"), "\n"),
        listed(n, |i| format!("alias $a{i} $~"), "\n") + &listed(n, |i| format!("\n$b{i}"), ""),
        format!("0x{}", "f".repeat(2_000_000)),
        format!("1.{}5r", "5".repeat(60_000)),
    ];
    for source in sources {
        let begin = Instant::now();
        size(&source);
        assert!(begin.elapsed() < Duration::from_secs(60), "{:?} for {}", begin.elapsed(), &source[..40]);
    }
}

#[test]
fn rationals_are_reduced() {
    let constant = |source: &str| format!("{:?}", compile(source.as_bytes(), &Options::default()).expect("compiled").code.consts);
    let halves = format!("{}.5r", "1".repeat(700));
    assert!(constant(&halves).contains("digits: [2]"), "{}", constant(&halves));
    let whole = format!("{}.{}r", "1".repeat(700), "0".repeat(300));
    assert!(constant(&whole).contains("digits: [1]"));
    // 5**1000 / 10**1000
    let fives: num_bigint::BigUint = num_bigint::BigUint::from(5u32).pow(1000);
    let text = fives.to_string();
    let small = format!("0.{}{text}r", "0".repeat(1000 - text.len()));
    let expected: num_bigint::BigUint = num_bigint::BigUint::from(1u32) << 1000;
    assert!(constant(&small).contains("digits: [1]"));
    assert!(constant(&small).contains(&format!("{:?}", expected.to_u32_digits())));
}
