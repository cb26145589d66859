//! Programs for the fuzzer that get hot: loops over numbers, Arrays, Hashes, objects and blocks that print what they have computed. They are run as the interpreter runs them, and with
//! machine code of everything, whose guards hold or fail in turn; what they print must be the same.
//!
//! Such a program ends by itself: loops have bounds, numbers are cut when they get large, recursion has a depth. What it computes depends on nothing outside of it. It may redefine
//! operators while a loop runs that uses them, in ways that let the loop end. Rejected: comparing mutated programs (what they print depends on object ids, times and seeds of hashes).

use crate::fuzz::Random;
use crate::process::{Outcome, Spec};
use std::path::Path;
use std::time::Duration;

/// How a program is run, and how many rounds its loops make.
const MODES: &[(&str, u32)] = &[("off", 60), ("always", 60), ("exit-everywhere", 60)];
/// The same for machine code of what is hot only, which takes long loops.
const LONG: &[(&str, u32)] = &[("off", 30_000), ("on", 30_000)];

const NUMBERS: &[&str] = &[
    "a",
    "b",
    "c",
    "x",
    "y",
    "i",
    "@n",
    "@f",
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "63",
    "64",
    "0.5",
    "-0.0",
    "1e300",
    "1e-300",
    "4611686018427387903",
    "-4611686018427387904",
    "2305843009213693951",
    "9007199254740993",
    "O.k",
    "K",
    "o.v",
    "(r[i % 5])",
    "r.size",
    "h.size",
    "(h[i & 7] || 1)",
    "(o.get)",
    "s.size",
    "s.getbyte(0)",
];

const EXPRESSIONS: &[&str] = &[
    "(E + E)",
    "(E - E)",
    "(E * E)",
    "(E / E)",
    "(E % E)",
    "(E & E)",
    "(E | E)",
    "(E ^ E)",
    "(E << (E & 7))",
    "(E >> (E & 7))",
    "(-E)",
    "(E.succ)",
    "(E <=> E)",
    "(E < E ? E : E)",
    "(E == E ? E : E)",
    "(E != E ? 1 : 0)",
    "(E >= E ? 1 : 2)",
    "(E.zero? ? 1 : E)",
    "(E.nil? ? 1 : 2)",
    "(!E ? 1 : 2)",
    "(E.to_i)",
    "(E.to_f)",
    "(E.abs)",
    "(E ** 2)",
    "f0(E, E)",
    "f1(E)",
    "f2(E) { |q| E }",
    "gb(E)",
    "gr(E)",
    "ge(E)",
    "gn(E)",
    "y1(E) { |q| break q }",
    "y1(E) { |q| next E if q == 2; break E }",
    "f3(E)",
    "o.add(E).w",
    "O.new(E).v",
    "[E, E].max",
    "[E, E].sum",
    "(begin; E; rescue ZeroDivisionError; 5; end)",
    "(E && E)",
    "(E || 3)",
    "r.inject(0) { |m, q| t(m + q) }",
    "(1..3).sum { |q| E }",
    "(case E when Integer then 1 when Float then 2 else 3 end)",
    "(case E when 0 then 4 when 1..9 then 5 else 6 end)",
    "l.call(E)",
    "\"#{E}\".size",
    "(E.is_a?(Integer) ? 1 : 0)",
    "(o == E ? 1 : 2)",
    "(o[E])",
    "S2.new(E, 2).p",
    "Integer.sqrt(E.to_i.abs)",
    "Math.sqrt(E.abs)",
    "o.dm(E)",
    "o.dl(E)",
    "o.dv",
    "o.dc(E)",
    "O.cg",
    "O.cs(E)",
    "(o.respond_to?(:v) ? 1 : E)",
    "(o.respond_to?(:none) ? 1 : E)",
    "(O.respond_to?(:cg) ? 2 : E)",
    "(E.respond_to?(:succ) ? 1 : 2)",
    "(s.size > 0 ? s.setbyte(0, E.to_i & 127) : 1)",
];

const STATEMENTS: &[&str] = &[
    "a = t(E)",
    "b = t(E)",
    "c = t(E)",
    "x = t(E)",
    "y = t(E.to_f)",
    "a += 1",
    "b -= 1",
    "x += 0.5",
    "a = t(a + i)",
    "x = x * 0.5 + i",
    "@n = t(E)",
    "@f = t(E)",
    "r[i % 9] = t(E)",
    "r << t(E) if r.size < 40",
    "h[i & 15] = t(E)",
    "o.v = t(E)",
    "o.add(i)",
    "s << \"q\" if s.size < 50",
    "r.pop",
    "r.push(i).shift",
    "a, b = b, a",
    "r.each { |q| a = t(a + q) }",
    "3.times { |q| b = t(b + q) }",
    "1.upto(3) { |q| c = t(c + E) }",
    "r.each_with_index { |q, j| a = t(q + j) }",
    "r = r.map { |q| t(q) }",
    "j = 0\nwhile j < 5\nj += 1\nnext if j == E\nbreak if E == 77\nSS\nend",
    "begin\nSS\nrescue TypeError, NoMethodError, ZeroDivisionError, FloatDomainError, RangeError, ArgumentError, Math::DomainError => e\n$e = t($e + e.message.size)\nensure\n$z += 1\nend",
    "if E < E\nSS\nelse\nSS\nend",
    "unless E == E\nSS\nend",
    "next if i == 3",
    "break if i == 55",
    "r.each { |q| next if q == 1; break if q == 2; SS }",
    "catch(:k) { |k| SS; throw :k if E == 1; SS }",
    "g { |q| SS; q }",
    "g { break }",
    "g { |q| break if q == 2.5; SS }",
    "begin\ny1(E) { |q| break q }\nensure\nSS\nend",
    "r.each { |q| y1(q) { |w| break w }; SS }",
    "[1, 2.5, nil, 3].each { |q| a = q ? t(q + a) : a }",
    "raise \"odd\" if E == 12345",
    "l = ->(q) { t(q + a) }",
    "a = t(fib(i % 6))",
    "(i % 7 == 0) and (b = nil.to_a.size)",
    "c = [a, b].frozen? ? 1 : 0",
    "z = binding.local_variable_get(:a); a = t(z)",
    "k = i\nk -= 1 while k > 2\nc = t(c + k)",
    "(0...3).each { |q| x = x + q }",
    "i.step(i + 4, 2) { |q| a = t(a ^ q) }",
    "Fiber.new { SS; Fiber.yield 1; SS }.resume",
    "a = loop { break 5 }",
    "s = \"#{a}#{s}\"[0, 9]",
];

/// In the middle of a loop: what it relies on changes.
const CHANGES: &[&str] = &[
    "class Integer; alias p0 +; def +(o) = p0(o).p0(self & 1); end",
    "class Integer; alias m0 *; def *(o) = o.is_a?(Integer) ? m0(o) - 1 : m0(o); end",
    "class Integer; alias l0 <; def <(o) = ($lt = ($lt || 0) ^ 1; l0(o)); end",
    "class Integer; alias e0 ==; def ==(o) = e0(o) || o == :same; end",
    "class Integer; def succ = self + 2; end",
    "class Float; alias p0 +; def +(o) = p0(o) - 0.25; end",
    "class Float; alias m0 *; def *(o) = m0(o) + 1.0; end",
    "class Array; alias g0 []; def [](*i) = g0(*i) || 9; end",
    "class Array; alias s0 []=; def []=(i, v) = s0(i, v.nil? ? 1 : v); end",
    "class Array; alias u0 <<; def <<(v) = u0(v).u0(1); end",
    "class Array; alias a0 each; def each(&q) = a0 { |v| q.call(v) }; end",
    "class Array; alias z0 size; def size = z0 + 1; end",
    "class Hash; alias g0 []; def [](k) = g0(k) || 4; end",
    "class Integer; alias t0 times; def times(&q) = (t0(&q); yield 9; self); end",
    "class NilClass; def +(o) = o; end",
    "class O; def v = 17; end",
    "class O; def get = 18; end",
    "class O; prepend(Module.new { def add(q) = super(q.to_i + 1) }); end",
    "class O; def initialize(v) = (@v = v; @w = 3; @u = 1); end",
    "class O; def method_missing(n, *) = 4; def respond_to_missing?(*) = true; undef get; end",
    "class O; def !() = true; def nil? = true; end",
    "def o.get = 21",
    "def f0(a, b) = a",
    "def f1(a, b = 2, *c) = b",
    "O.send(:remove_method, :w) rescue 0\nclass O; def w = 5; end",
    "O.const_set(:Z, 1)\nK2 = 1 unless defined?(K2)",
    "o.instance_variable_set(:@x9, 1)",
    "class O; define_method(:dm) { |q| t(q.to_i + 1) }; end",
    "class O; undef_method :dl; def dl(q) = 4; end",
    "class O; k = 0; define_method(:dv) { k = t(k + 1) }; end",
    "O.instance_variable_set(:@c3, 1)",
    "O.send(:remove_instance_variable, :@c1); O.instance_variable_set(:@c1, 3)",
    "O.instance_variable_set(:@c2, 7)",
    "O.freeze",
    "class O; def none = 1; end",
    "def o.respond_to_missing?(*) = true",
    "o.freeze",
    "tp = TracePoint.new(:line) { $tp = ($tp || 0) + 1 }; tp.enable; tp.disable",
    "GC.start",
    "eval(\"a = t(a + 1)\")",
];

const HEAD: &str = "$e = 0; $z = 0; K = 5
class O
attr_accessor :v, :w
def self.k = 6
def initialize(v) = (@v = v; @w = 0)
def get = @v
def add(q) = (@w = q; self)
def [](i) = i
@c1 = 1; @c2 = 2.5
def self.cg = t(t(@c1 + @c2) + @c1)
def self.cs(q)
@c1 = t(q)
@c2
end
class << self; private def t(v) = v.is_a?(Integer) || v.is_a?(Float) ? v.to_i & 1023 : 2; end
define_method(:dm) { |q| q }
define_method(:dv) { @v }
define_method(:dl) do |q|
next 1 if q == 2
return 3 if q == 1
[1, q].each { |w| return w if w == 2.5 }
break q
end
end
S2 = Struct.new(:p, :q)
def t(v)
return v % 1000003 if v.is_a?(Integer) && v.bit_length > 70
return 1.5 if v.is_a?(Float) && (v.nan? || v.infinite?)
v.is_a?(Integer) || v.is_a?(Float) ? v : 2
end
def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
def g = (yield 1; yield 2.5; yield 3)
def y1(v) = yield(v)
def y2(v) = y1(v) { |q| yield q }
def gb(v) = y1(v) { |q| break q }
def gr(v) = y2(v) { |q| return q }
def gn(v) = y1(v) { |q| y1(q) { |w| next w if w == 2; break q } }
def ge(v)
y1(v) { |q| return t(q) }
ensure
$z += 1
end
";

/// A program whose loops make `N` rounds.
pub fn program(r: &mut Random) -> String {
    let mut out = String::from(HEAD);
    for (name, arguments) in [("f0", "a, b"), ("f1", "a, b = 3"), ("f2", "a, &k"), ("f3", "a")] {
        let names = ["b = 2\n", "", "b = k ? yield(a) : 1\n", "b = a\n"][name.as_bytes()[1] as usize - 48];
        let body = plain(r, 2);
        out.push_str(&format!("def {name}({arguments})\n{}return t({body})\nend\n", if name == "f0" { "" } else { names }));
    }
    for k in 0..2 + r.below(3) {
        let begin = *r.pick(&[
            "i = -1\nwhile (i += 1) < N\n",
            "i = 0\nuntil i >= N\ni = i.succ\n",
            "N.times do |i|\n",
            "0.upto(N) do |i|\n",
            "(0...N).each do |i|\n",
            "Array.new(N) { |q| q }.each do |i|\n",
            "(1..N).inject(0) do |sum, i|\n",
            "for i in 0..N\n",
        ]);
        out.push_str(&format!(
            "def run{k}\n@n = {}; @f = 0.5\na = 1; b = {}; c = 3; x = 1.5; y = 2.5; e = nil; z = 0\n",
            r.below(100),
            r.below(9)
        ));
        out.push_str("r = [3, 1, 4, 1, 5, 9]; h = {1 => 2}; s = +\"text\"; o = O.new(7); l = ->(q) { q }\no.define_singleton_method(:dc) { |q| a = t(t(a) + t(q)); b }\n");
        out.push_str(begin);
        out.push_str("begin\n");
        let rarely = r.below(12);
        let change = r.below(2 + rarely);
        for n in 0..1 + r.below(6) {
            if n == change {
                let change = r.pick(CHANGES);
                // Definitions can't stand in a method's body.
                let text = format!("{change:?}").replace('#', "\\#");
                out.push_str(&format!("if i == {}\neval({text}, binding) unless $done{k}; $done{k} = true\nend\n", r.below(50)));
            }
            statement(r, 2, &mut out);
            out.push('\n');
        }
        out.push_str("rescue TypeError, NoMethodError, ZeroDivisionError, FloatDomainError, RangeError, ArgumentError, FrozenError, Math::DomainError, RuntimeError => e\n$e = t($e + e.message.size + (e.backtrace_locations&.first&.lineno || 0))\nend\n");
        out.push_str("0\nend\np [a, b, c, x, y, @n, @f, r, h, s, o.v, o.w, $e, $z, $tp.nil?]\nend\n");
        out.push_str(&format!("begin\nrun{k}\nrun{k}\nrescue => e\np e.class, e.message[0, 60]\nend\n"));
    }
    out.push_str("p $e, $z\n");
    out
}

fn statement(r: &mut Random, depth: usize, out: &mut String) {
    let form = loop {
        let form = *r.pick(STATEMENTS);
        if depth > 0 || !form.contains("SS") {
            break form;
        }
    };
    fill(r, form, depth, out);
}
fn expression(r: &mut Random, depth: usize, out: &mut String) {
    let form = if depth == 0 || r.below(4) == 0 { *r.pick(NUMBERS) } else { *r.pick(EXPRESSIONS) };
    fill(r, form, depth.saturating_sub(1), out);
}
fn fill(r: &mut Random, form: &str, depth: usize, out: &mut String) {
    let bytes = form.as_bytes();
    let word = |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'@' || *b == b'$');
    let mut at = 0;
    while at < bytes.len() {
        let starts = at == 0 || !word(at - 1);
        if starts && bytes[at..].starts_with(b"SS") {
            statement(r, depth - 1, out);
            at += 2;
        } else if starts && bytes[at] == b'E' && !word(at + 1) {
            expression(r, depth, out);
            at += 1;
        } else {
            out.push(bytes[at] as char);
            at += 1;
        }
    }
}
/// An expression of a method's own variables.
fn plain(r: &mut Random, depth: usize) -> String {
    const FORMS: &[&str] =
        &["(E + E)", "(E - E)", "(E * 2)", "(E < E ? E : E)", "(E == E ? 1 : E)", "(E & 15)", "(E / 3)", "(E.to_f)", "[E, E].first"];
    if depth == 0 {
        return (*r.pick(&["a", "b", "1", "2.5", "K"])).into();
    }
    let form = *r.pick(FORMS);
    form.split('E').enumerate().fold(String::new(), |mut out, (k, piece)| {
        if k > 0 {
            out.push_str(&plain(r, depth - 1));
        }
        out.push_str(piece);
        out
    })
}

/// What differs between two ways of running a program; None: nothing.
pub fn compare(zakuro: &Path, path: &Path, text: &str, long: bool) -> Result<(Duration, Option<String>), String> {
    let mut first: Option<(&str, Outcome)> = None;
    let mut cpu = Duration::ZERO;
    for (mode, rounds) in if long { LONG } else { MODES } {
        std::fs::write(path, format!("N = {rounds}\n{text}")).map_err(|e| e.to_string())?;
        // Programs that take long are left out.
        let limit = Duration::from_secs(if first.is_none() { 8 } else { 60 });
        let spec = Spec::new("/bin/bash")
            .args(["-c", "ulimit -c 0; exec \"$@\" </dev/null", "fuzz"])
            .args([zakuro])
            .args(["-W0", &format!("--jit={mode}")]);
        let outcome = spec.args([path]).env("HOME", "/nonexistent").limit(limit).run()?;
        cpu += outcome.cpu;
        let died = outcome.status > 128 || outcome.status == 101 || String::from_utf8_lossy(&outcome.stderr).contains("panicked at");
        if outcome.timed_out && first.is_none() {
            return Ok((cpu, None));
        }
        if died {
            let stderr = String::from_utf8_lossy(&outcome.stderr);
            return Ok((cpu, Some(format!("--jit={mode}: status {} {}", outcome.status, stderr.lines().next().unwrap_or("")))));
        }
        match &first {
            None => first = Some((mode, outcome)),
            Some((than, o)) if o.stdout != outcome.stdout || o.status != outcome.status => {
                let (a, b) = (String::from_utf8_lossy(&o.stdout).into_owned(), String::from_utf8_lossy(&outcome.stdout).into_owned());
                let at = a.lines().zip(b.lines()).position(|(x, y)| x != y).unwrap_or(a.lines().count().min(b.lines().count()));
                return Ok((cpu, Some(format!("--jit={mode} prints something else than --jit={than}, in line {}", at + 1))));
            }
            Some(_) => {}
        }
    }
    Ok((cpu, None))
}
