//! Sources that are broken, hostile or huge: an error or a Code, never a panic or a crash.

mod common;

use common::{Random, golden_sources};
use zakuro_base::{Sym, sym};
use zakuro_bytecode::{CodeKind, Op, Place, flow, verify};
use zakuro_compiler::{Compiled, EvalScopes, Options, SyntaxError, compile};

fn run(source: &[u8]) -> Result<Compiled, SyntaxError> {
    let r = compile(source, &Options { file: "t.rb", line: 1, warn: true, ..Options::default() });
    match &r {
        Ok(c) => {
            verify::verify(&c.code).unwrap_or_else(|e| panic!("{e}"));
            // Quadratic at worst; the huge sources are nothing but long.
            if c.code.insns.len() < 5_000 {
                flow::check(&c.code).unwrap_or_else(|e| panic!("{e}\n{}", String::from_utf8_lossy(source)));
            }
        }
        Err(e) => assert!(e.message().starts_with("t.rb:"), "{}", e.message()),
    }
    r
}

#[test]
fn truncated_sources() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for source in golden_sources() {
        for _ in 0..60 {
            let _ = run(&source[..random.below(source.len())]);
        }
    }
}

#[test]
fn shuffled_and_damaged_sources() {
    let mut random = Random(42);
    let sources = golden_sources();
    for _ in 0..1500 {
        let source = &sources[random.below(sources.len())];
        let mut lines: Vec<&[u8]> = source.split(|b| *b == b'\n').collect();
        for _ in 0..4 {
            let (i, j) = (random.below(lines.len()), random.below(lines.len()));
            match random.below(3) {
                0 => lines.swap(i, j),
                1 => lines[i] = lines[j],
                _ => {
                    lines.remove(i);
                    lines.push(b"end");
                }
            }
        }
        let mut text = lines.join(&b'\n');
        if random.below(3) == 0 {
            let at = random.below(text.len());
            if at < text.len() {
                text[at] = random.below(256) as u8;
            }
        }
        let _ = run(&text);
    }
}

#[test]
fn odd_bytes() {
    assert!(run(b"").is_ok());
    assert!(run(b"\0").is_ok());
    assert!(run(b"1\0 2").is_ok());
    let e = run(b"x = \xff\xfe").unwrap_err();
    assert!(e.message().contains("invalid"), "{}", e.message());
    let _ = run(b"\"\xff\"");
    let _ = run(b"# \xff");
    let _ = run(b"# encoding: euc-jp\np \"\xa4\xa2\"");
    assert!(compile(b"p 1", &Options { file: "a\0b", line: 1, ..Options::default() }).is_ok());
}

#[test]
fn deep_nesting_is_refused() {
    let n = 9_000;
    let cases: Vec<String> = vec![
        format!("{}1{}", "(".repeat(n), ")".repeat(n)),
        format!("{}1{}", "[".repeat(n), "]".repeat(n)),
        format!("{}1{}", "{a: ".repeat(n), "}".repeat(n)),
        format!("{}1", "!".repeat(n)),
        format!("{}1", "-> { ".repeat(n)) + &"}".repeat(n),
        "a".to_string() + &".b".repeat(50_000),
        "1".to_string() + &" + 1".repeat(50_000),
        "a".to_string() + &" && a".repeat(50_000),
        "a".to_string() + &" if a".repeat(50_000),
        "a".to_string() + &" rescue a".repeat(50_000),
        "A".to_string() + &"::B".repeat(50_000),
        format!("{}{}", "if a\n".repeat(n), "end\n".repeat(n)),
        format!("{}{}", "f { ".repeat(n), "}".repeat(n)),
        format!("{}{}", "class A\n".repeat(n), "end\n".repeat(n)),
        format!("if a\n{}end", "elsif b\n".repeat(20_000)),
        format!("x = {}1", "x = ".repeat(n)),
        format!("case 1\nin {}1{}\nend", "[".repeat(n), "]".repeat(n)),
        format!("case 1\nin {}\nend", vec!["1"; 50_000].join(" | ")),
        format!("\"{}1{}\"", "#{\"".repeat(3_000), "\"}".repeat(3_000)),
        format!("a{} = 1", "[0]".repeat(n)),
        format!("begin\n{}end", "rescue A\n".repeat(20_000)),
        format!("begin\n1\n{}end", "rescue A\n1\n".repeat(3_000)),
        format!("{}a, b{} = 1", "(".repeat(n), ")".repeat(n)),
    ];
    for source in cases {
        let start: String = source.chars().take(20).collect();
        match run(source.as_bytes()) {
            Ok(_) => {}
            Err(e) => assert!(!e.message().is_empty(), "{start}"),
        }
    }
    let deep = "a".to_string() + &".b".repeat(20_000);
    assert!(run(deep.as_bytes()).unwrap_err().message().contains("nested too deep"));
}

#[test]
fn moderate_nesting_compiles() {
    assert!(run(("a".to_string() + &".b".repeat(9_000)).as_bytes()).is_ok());
    assert!(run(format!("{}1{}", "(".repeat(600), ")".repeat(600)).as_bytes()).is_ok());
    assert!(run(("1".to_string() + &" + 1".repeat(1_500)).as_bytes()).is_ok());
}

#[test]
fn far_jumps() {
    // The loop body is too long for fused jumps.
    let source = format!("i = 0\nwhile i < 10\nif i == 3 && i != 4\n{}end\ni += 1\nend", "foo(i, 1)\n".repeat(12_000));
    let c = run(source.as_bytes()).unwrap();
    assert!(c.code.insns.iter().all(|i| i.opcode() != Op::LoopLtI));
}

#[test]
fn huge_scopes() {
    let e = run(format!("{}\n", "foo\n".repeat(70_000)).as_bytes()).unwrap_err();
    assert!(e.message().contains("too large"), "{}", e.message());
    let many: String = (0..20_000).map(|i| format!("v{i} = {i}\n")).collect();
    assert!(run(many.as_bytes()).is_ok());
    let too_many: String = (0..40_000).map(|i| format!("v{i} = {i}\n")).collect();
    assert!(run(too_many.as_bytes()).is_err());
    assert!(run(format!("[{}]", vec!["1"; 100_000].join(",")).as_bytes()).is_ok());
}

#[test]
fn eval_sees_the_variables_around() {
    let scopes = EvalScopes {
        envs: vec![vec![(Sym::intern("x"), 0)], vec![(Sym::intern("y"), 3), (sym::block_var, 4)]],
        in_method: true,
        backref: Some((1, 5)),
        lastline: None,
        ..Default::default()
    };
    let options = Options { file: "(eval)", line: 7, eval: Some(&scopes), ..Options::default() };
    let c = compile(b"z = x + y\nf { z = y; $~ }\nyield 1\nbinding", &options).unwrap();
    verify::verify(&c.code).unwrap();
    assert_eq!(c.code.kind, CodeKind::Eval);
    assert!(c.code.own_env);
    assert_eq!(c.code.line, 7);
    let z = c.code.locals.iter().find(|l| l.name == Sym::intern("z")).unwrap();
    assert_eq!(z.place, Place::Env { depth: 0, slot: 0 });
    assert_eq!(c.code.backref, Some(Place::Env { depth: 2, slot: 5 }));
    assert_eq!(c.code.children[0].backref, Some(Place::Env { depth: 2, slot: 5 }));
    let reads: Vec<(u8, u16)> = c.code.insns.iter().filter(|i| i.opcode() == Op::GetEnv).map(|i| (i.x, i.b)).collect();
    assert_eq!(&reads[..2], &[(1, 0), (2, 3)]);
    // The method's block, found as a variable.
    assert!(reads.contains(&(2, 4)));
    // New variables of this eval only: `x` and `y` are not listed again.
    assert!(c.code.locals.iter().all(|l| l.name != Sym::intern("x")));
}

#[test]
fn eval_without_variables() {
    let scopes = EvalScopes::default();
    let options = Options { file: "(eval)", line: 1, eval: Some(&scopes), ..Options::default() };
    for source in ["1", "x = 1; x", "$~", "f { $1 }", "def m(a) = super", "yield", "return 1", "break", "->{ q = 1 }"] {
        if let Ok(c) = compile(source.as_bytes(), &options) {
            verify::verify(&c.code).unwrap_or_else(|e| panic!("{source}: {e}"));
        }
    }
}
