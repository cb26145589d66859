//! Feeds mutated and generated Ruby programs to zakuro: parse, compile, verify (the dev build does), and a bounded run.
//!
//! One process per program, with limits of address space and time, so that a crash is found with its input. A program that is still
//! running at the limit is asked to end by SIGTERM; one that doesn't answer hangs the interpreter. What may follow a program is a Ruby
//! error; a crash, a panic, "not supported yet" or a hang is a find and is kept in target/fuzz. Once mended it moves to
//! tests/fuzz/corpus, which `./test` runs again.
//!
//! Programs of [`crate::fuzz_hot`] are run with and without machine code, and compared.
//!
//! Programs that name anything that reaches outside of their process are not run. Rejected: libFuzzer (needs a nightly compiler), and
//! running many programs in one process (a crash would take the innocent ones along).

use crate::process::{Outcome, Spec};
use crate::{Args, cpus, find_zakuro, in_parallel, root};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Words that keep a program from being run: files, processes, signals, terminals.
const FORBIDDEN: &[&str] = &[
    "kill", "system", "`", "%x", "exec", "spawn", "fork", "File", "Dir", "IO", "unlink", "open", "syscall", "trap", "Process", "require",
    "load", "gets", "read", "Signal", "sleep", "RubyVM", "Ractor", "abort", "ENV", "ARGF", "ARGV", "stdin", "STDIN", "DATA", "Etc", "warn",
    "Gem",
];

/// Address space of a program in KiB, seconds until it is asked to end, and until it is killed after that.
const MEMORY: u64 = 4_000_000;
const SECONDS: u64 = 3;
const GRACE: u64 = 6;

const TOKENS: &[&str] = &[
    "begin",
    "end",
    "if",
    "else",
    "elsif",
    "unless",
    "while",
    "until",
    "for",
    "in",
    "do",
    "def",
    "class",
    "module",
    "self",
    "super",
    "yield",
    "return",
    "break",
    "next",
    "redo",
    "retry",
    "rescue",
    "ensure",
    "then",
    "case",
    "when",
    "and",
    "or",
    "not",
    "nil",
    "true",
    "false",
    "alias",
    "undef",
    "defined?",
    "BEGIN",
    "END",
    "__method__",
    "->",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "|",
    "&",
    "*",
    "**",
    "=",
    "+=",
    "||=",
    "&&=",
    "=>",
    "..",
    "...",
    "&.",
    "::",
    ".",
    ",",
    ";",
    "\n",
    "?",
    ":",
    "!",
    "~",
    "<<",
    ">>",
    "==",
    "===",
    "=~",
    "<=>",
    "+",
    "-",
    "/",
    "%",
    "@a",
    "@@a",
    "$a",
    "A",
    "a",
    "b",
    "it",
    "_1",
    "_2",
    "0",
    "1",
    "-1",
    "2**62",
    "2**64",
    "1.5",
    "1r",
    "2i",
    ":s",
    ":\"a#{b}\"",
    "\"s\"",
    "'s'",
    "\"#{a}\"",
    "/r(?<n>.)/",
    "%w[a b]",
    "<<~X\n  t\nX\n",
    "proc",
    "lambda",
    "loop",
    "raise",
    "throw",
    "catch",
    "define_method",
    "method_missing",
    "instance_eval",
    "binding",
    "eval",
    "**nil",
    "*a",
    "**b",
    "&c",
    "^a",
    "a:",
    "a: 1",
    "refine",
    "using",
    "freeze",
    "Fiber.new",
    "Thread.new",
    "Class.new",
    "Struct.new(:a)",
    "p",
];

/// xorshift64*.
pub struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 16) as usize % n.max(1)
    }
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

pub fn run(args: &[String]) -> Result<bool, String> {
    let args = Args::parse(args, &["zakuro", "jobs", "seed", "profile"], &["corpus", "regexps", "hot"])?;
    let zakuro = find_zakuro(&args, args.get("profile").unwrap_or("debug"))?;
    let jobs = args.number("jobs", cpus() as u64)? as usize;
    let corpus = root().join("tests/fuzz/corpus");
    if args.has("corpus") {
        return regress(&zakuro, &corpus, jobs);
    }
    let seconds: u64 = args.rest.first().map_or(Ok(60), |s| s.parse()).map_err(|_| "fuzz: how many seconds?".to_string())?;
    let regexps = args.has("regexps");
    let hot = args.has("hot");
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64);
    let seed = args.number("seed", clock)?;
    let seeds = seeds(&corpus);
    if seeds.is_empty() {
        return Err("fuzz: no seeds in tests/".into());
    }
    let finds_dir = root().join("target/fuzz");
    std::fs::create_dir_all(&finds_dir).map_err(|e| format!("{}: {e}", finds_dir.display()))?;
    println!("fuzz: {} seeds, seed {seed}, {seconds} s", seeds.len());
    let end = Instant::now() + Duration::from_secs(seconds);
    let lanes: Vec<u64> = (0..jobs as u64).collect();
    let results = in_parallel(&lanes, jobs, |lane| {
        let mut random = Random((seed ^ (lane + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1);
        let (mut programs, mut cpu, mut finds) = (0u64, Duration::ZERO, 0u64);
        while Instant::now() < end {
            if hot || random.below(40) == 0 {
                let text = crate::fuzz_hot::program(&mut random);
                let long = random.below(6) == 0;
                let path = finds_dir.join(format!("try-{}-{lane}.rb", std::process::id()));
                let Ok((took, why)) = crate::fuzz_hot::compare(&zakuro, &path, &text, long) else { break };
                programs += 1;
                cpu += took;
                if let Some(why) = why {
                    finds += 1;
                    let kept = finds_dir.join(format!("find-{seed:x}-{lane}-{programs}.rb"));
                    let _ = std::fs::copy(&path, &kept);
                    println!("FOUND {why}: {}", kept.display());
                }
                let _ = std::fs::remove_file(&path);
                continue;
            }
            let matches = regexps || random.below(10) == 0;
            let text = match random.below(4) {
                _ if matches => crate::fuzz_regexp::program(&mut random),
                0 => generate(&mut random),
                _ => mutate(&mut random, &seeds),
            };
            if !matches && forbidden(&text) {
                continue;
            }
            let path = finds_dir.join(format!("try-{}-{lane}.rb", std::process::id()));
            let stress = random.below(12) == 0;
            let Ok(()) = std::fs::write(&path, &text) else { break };
            let Ok(outcome) = one(&zakuro, &path, stress) else { break };
            programs += 1;
            cpu += outcome.cpu;
            if let Some(why) = verdict(&outcome, &text) {
                finds += 1;
                let kept = finds_dir.join(format!("find-{seed:x}-{lane}-{programs}.rb"));
                let _ = std::fs::copy(&path, &kept);
                println!("FOUND {why}: {}{}", kept.display(), if stress { " (--gc=stress)" } else { "" });
            }
            let _ = std::fs::remove_file(&path);
        }
        (programs, cpu, finds)
    });
    let programs: u64 = results.iter().map(|r| r.0).sum();
    let cpu: f64 = results.iter().map(|r| r.1.as_secs_f64()).sum();
    let finds: u64 = results.iter().map(|r| r.2).sum();
    println!("{programs} programs, {:.1} CPU minutes, {finds} finds", cpu / 60.0);
    Ok(finds == 0)
}

/// Runs what was once found.
fn regress(zakuro: &Path, corpus: &Path, jobs: usize) -> Result<bool, String> {
    let files = ruby_files(corpus);
    let results = in_parallel(&files, jobs, |path| {
        let text = std::fs::read(path).map_err(|e| e.to_string())?;
        for stress in [false, true] {
            if let Some(why) = verdict(&one(zakuro, path, stress)?, &text) {
                return Err(format!("{why}{}", if stress { " (--gc=stress)" } else { "" }));
            }
        }
        Ok(())
    });
    let mut failed = 0;
    for (path, result) in files.iter().zip(results) {
        if let Err(why) = result {
            failed += 1;
            println!("FAILED {}: {why}", path.display());
        }
    }
    println!("{} passed, {failed} failed", files.len() - failed);
    Ok(failed == 0)
}

fn one(zakuro: &Path, program: &Path, stress: bool) -> Result<Outcome, String> {
    let script = format!("ulimit -c 0; ulimit -v {MEMORY}; ulimit -f 20000; exec timeout -k {GRACE} {SECONDS} \"$@\" </dev/null");
    let mut spec = Spec::new("/bin/bash").args(["-c", &script, "fuzz"]).args([zakuro]);
    spec = spec.args([if stress { "--gc=stress" } else { "--gc=normal" }]).args(["-W0"]).args([program]);
    spec.env("HOME", "/nonexistent").limit(Duration::from_secs(SECONDS + GRACE + 20)).run()
}

/// What is wrong with how a program ended; None: nothing.
fn verdict(outcome: &Outcome, text: &[u8]) -> Option<String> {
    let stderr = String::from_utf8_lossy(&outcome.stderr);
    let line = |what: &str| stderr.lines().find(|l| l.contains(what)).unwrap_or("").chars().take(160).collect::<String>();
    if stderr.contains("memory allocation of") {
        // The address space is used up: the business of memory limits.
        return None;
    }
    for what in ["panicked at", "not supported yet", "unprintable exception", "internal error"] {
        if stderr.contains(what) {
            return Some(line(what));
        }
    }
    match outcome.status {
        124 | 143 => None,
        // A program that rescues SIGTERM's exception may well go on.
        137 => {
            let text = String::from_utf8_lossy(text);
            let stubborn = ["Exception", "ensure", "SignalException", "Thread", "at_exit", "END"].iter().any(|w| text.contains(w));
            (!stubborn).then(|| "hang".into())
        }
        s if s > 128 || s == 101 => Some(format!("status {s} {}", stderr.lines().last().unwrap_or(""))),
        _ => None,
    }
}

fn forbidden(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    FORBIDDEN.iter().any(|w| text.contains(w))
}

fn ruby_files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).map(|d| d.flatten().map(|e| e.path()).collect::<Vec<_>>()).unwrap_or_default();
    let mut files: Vec<PathBuf> = entries.into_iter().filter(|p| p.extension().is_some_and(|e| e == "rb")).collect();
    files.sort();
    files
}

fn seeds(corpus: &Path) -> Vec<Vec<u8>> {
    let dirs = [root().join("tests/lang"), root().join("tests/core"), root().join("crates/compiler/tests/golden"), corpus.to_path_buf()];
    let texts = dirs.iter().flat_map(|d| ruby_files(d)).filter_map(|f| std::fs::read(f).ok());
    // Lines that reach outside are dropped: what is left need not be correct.
    let clean = |text: Vec<u8>| -> Vec<u8> { text.split_inclusive(|b| *b == b'\n').filter(|l| !forbidden(l)).flatten().copied().collect() };
    texts.map(clean).filter(|t| t.len() > 8).collect()
}

/// Words, numbers, blanks, and single other characters.
fn tokens(text: &[u8]) -> Vec<&[u8]> {
    let class = |b: u8| match b {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80.. => 1,
        b' ' | b'\t' => 2,
        b'=' | b'<' | b'>' | b'*' | b'&' | b'|' | b'.' => 3,
        _ => 0,
    };
    text.chunk_by(|a, b| class(*a) == class(*b) && class(*a) != 0).collect()
}

fn mutate(r: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    // A piece of a seed, so that what is changed gets run.
    let seed = r.pick(seeds);
    let lines: Vec<&[u8]> = seed.split_inclusive(|b| *b == b'\n').collect();
    let from = r.below(lines.len());
    let count = 1 + r.below(40);
    let mut text: Vec<u8> = lines[from..(from + count).min(lines.len())].concat();
    for _ in 0..1 + r.below(6) {
        let mut list: Vec<Vec<u8>> = tokens(&text).into_iter().map(<[u8]>::to_vec).collect();
        if list.is_empty() {
            break;
        }
        let at = r.below(list.len());
        match r.below(10) {
            0 => {
                list.remove(at);
            }
            1 => list.insert(at, format!(" {} ", r.pick(TOKENS)).into_bytes()),
            2 | 3 => list[at] = r.pick(TOKENS).as_bytes().to_vec(),
            4 => {
                let other = r.below(list.len());
                list.swap(at, other);
            }
            5 => {
                let other = list[r.below(list.len())].clone();
                list[at] = other;
            }
            6 => {
                let piece = list[at..(at + r.below(12)).min(list.len())].to_vec();
                let to = r.below(list.len());
                list.splice(to..to, piece);
            }
            7 => {
                let end = (at + r.below(8)).min(list.len());
                list.drain(at..end);
            }
            8 => {
                let other = r.pick(seeds);
                let others: Vec<&[u8]> = other.split_inclusive(|b| *b == b'\n').collect();
                let start = r.below(others.len());
                list.push(others[start..(start + 1 + r.below(6)).min(others.len())].concat());
            }
            _ => {
                let byte = r.next() as u8;
                let token = &mut list[at];
                let i = r.below(token.len());
                token[i] = byte;
            }
        }
        text = list.concat();
    }
    match r.below(12) {
        0 => [b"def m(a = 1, *b, c: 2, **d, &e)\n".as_slice(), &text, b"\nend\nm"].concat(),
        1 => [b"begin\n".as_slice(), &text, b"\nrescue => e\n p e\nensure\n p 1\nend"].concat(),
        2 => [b"[1, 2].each do |x|\n".as_slice(), &text, b"\nend"].concat(),
        3 => [b"p(->(a = 1) {\n".as_slice(), &text, b"\n}.call)"].concat(),
        4 => [b"eval(<<'X_X')\n".as_slice(), &text, b"\nX_X\n"].concat(),
        5 => [b"Fiber.new do\n".as_slice(), &text, b"\nend.resume"].concat(),
        _ => text,
    }
}

/// A program that is mostly correct: nested expressions over a few variables.
fn generate(r: &mut Random) -> Vec<u8> {
    let mut out = String::from("a = 1; b = [1, 2]; c = {x: 1}; def m(*a, **k, &z) = z ? z.call(a) : a\n");
    for _ in 0..1 + r.below(6) {
        statement(r, 4, &mut out);
        out.push('\n');
    }
    out.into_bytes()
}

fn statement(r: &mut Random, depth: usize, out: &mut String) {
    let forms: &[&str] = &[
        "a = E",
        "b[E] = E",
        "c[:x] += E",
        "@i ||= E",
        "p(E)",
        "if E\nS\nelse\nS\nend",
        "while (a = E; false)\nS\nend",
        "begin\nS\nrescue => e\nS\nensure\nS\nend",
        "case E\nwhen E then S\nelse S\nend",
        "case E\nin [x, *] then S\nin {x:} then S\nin Integer | nil then S\nelse S\nend",
        "b.each { |v| S }",
        "m(E) { |v, *w| S }",
        "def n(x = E, *y, k: E) = (S)",
        "n(E)",
        "x, (y, *z), w = E",
        "for i in b\nS\nend",
        "catch(:t) { S; throw :t, E }",
        "b.each { |v| next E if E; break E }",
        "begin; S; rescue TypeError, *[] ; retry if (a = nil); end",
        "class K; S; end",
        "class << self; S; end",
        "$g = E",
        "a, b, c = b, c, a",
        "S if E",
        "S while false",
        "E => q rescue S",
        "define_singleton_method(:d) { |x = E| S }",
        "return E if a == E",
        "alias o p",
        "BEGIN { S }",
        "(S; S)",
        "E in {x: Integer => q}",
        "a&.then { S }",
    ];
    fill(r, r.0 as usize % forms.len(), forms, depth, out);
}

fn expression(r: &mut Random, depth: usize, out: &mut String) {
    let forms: &[&str] = &[
        "1",
        "nil",
        "a",
        "b",
        "c",
        "\"s\"",
        ":s",
        "1.5",
        "2**70",
        "@i",
        "$g",
        "K",
        "__method__",
        "[E, *E]",
        "{x: E, **c}",
        "E + E",
        "E == E",
        "E && E",
        "E || E",
        "!E",
        "(E ? E : E)",
        "E.to_s",
        "E&.size",
        "m(E, k: E)",
        "m(*E) { |v| E }",
        "->(x, y = E) { E }",
        "proc { |x| E }.call(E)",
        "\"i#{E}j\"",
        "E[E]",
        "(E..E)",
        "b.map { E }",
        "(begin; E; rescue; E; end)",
        "defined?(E)",
        "[E, E].sum",
        "E.instance_eval { E }",
        "%w[a b].zip(E)",
        "(a = E)",
        "(c[:x] ||= E)",
        "b.inject { |s, v| E }",
        "/x#{E}/",
        "E <=> E",
        "E.then { _1 }",
        "E.then { it }",
        "(E rescue E)",
        "self",
        "Struct.new(:q).new(E)",
        "E.method(:to_s).to_proc.call",
        "Comparable",
        "E.is_a?(K)",
        "(yield E)",
        "block_given?",
        "E.frozen?",
        "E.dup",
        "eval(\"E\")",
        "binding.local_variables",
        "[*E, **c]",
        "(E if E)",
        "Fiber.new { E }.resume",
        "E.send(:inspect)",
        "b.sort_by { E }",
        "b.each_slice(2).to_a",
        "loop { break E }",
        "-E",
        "~E",
        "E.hash",
        "(not E)",
        "b.lazy.map { E }.first(1)",
    ];
    fill(r, r.0 as usize % forms.len(), forms, depth, out);
}

/// Writes a form with its E and S replaced; deep ones end in simple values.
fn fill(r: &mut Random, at: usize, forms: &[&str], depth: usize, out: &mut String) {
    r.next();
    let form = if depth == 0 { forms[at % 5] } else { forms[at] };
    let mut chars = form.chars().peekable();
    let mut last = ' ';
    while let Some(c) = chars.next() {
        let alone = !last.is_alphanumeric() && !chars.peek().is_some_and(|n| n.is_alphanumeric());
        match c {
            'E' if alone && depth == 0 => out.push('1'),
            'S' if alone && depth == 0 => out.push_str("nil"),
            'E' if alone => expression(r, depth - 1, out),
            'S' if alone => statement(r, depth - 1, out),
            _ => out.push(c),
        }
        last = c;
    }
}
