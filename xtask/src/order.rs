//! Which functions an empty program runs, which bench/'s programs, and which the compiler of machine code, as a linker script that puts each side by side (docs/decisions/0021-order-of-functions.md).
//!
//! Names come from Valgrind's callgrind. They are written without the hash at their end, which changes with each build: a line takes all instances of a generic function.

use crate::{Args, find_zakuro, root};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::process::Command;

/// Where a name has instances that did not run, of more than this many bytes together, it comes behind the others, the best first.
const LATE: usize = 2 << 10;
/// And stays where it is when they are as large as this. (Those of `reserve_rehash`, 230 of 315 KB, would lie in twelve blocks of 64 KB that a start maps.)
const LEFT_OUT: usize = 320 << 10;

/// Argument of bench/'s programs: those that take one are done in a moment.
const SIZE: &str = "6";
/// A bit of everything that machine code is made of.
const HOT: &str = "class P; attr_accessor :x; def initialize(x) = @x = x; def move(d) = @x += d; end
def work(n)
  a = Array.new(8) { |i| P.new(i * 0.5) }
  s = i = 0
  h = { 1 => 2, a: 1 }
  while i < n
    a.each { |p| p.move(0.25); s += p.x > 3.0 ? 1 : 2 }
    4.times { |k| s += k * i % 7; s ^= h[1] }
    b = a.map { |p| p.x * 2.0 }
    s += b.size if b[0] < Math.sqrt(i + 2.0) && \"a#{i}\" != \"b\"
    i += 1
  end
  s
end
def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
work(100)
fib(12)";

pub fn run(args: &[String]) -> Result<bool, String> {
    let args = Args::parse(args, &["zakuro"], &[])?;
    let zakuro = find_zakuro(&args, "release")?;
    let profile = std::env::temp_dir().join(format!("zakuro-order-{}", std::process::id()));
    let told = |mut command: Command, hint: &str| {
        let name = command.get_program().to_string_lossy().into_owned();
        let out = command.output().map_err(|e| format!("{name}: {e}; {hint}"))?;
        if out.status.success() {
            Ok(String::from_utf8_lossy(&out.stdout).into_owned())
        } else {
            Err(format!("{name}: {}", String::from_utf8_lossy(&out.stderr)))
        }
    };
    let ran = |options: &[&str]| {
        let mut valgrind = Command::new("valgrind");
        valgrind
            .args(["--tool=callgrind", "--demangle=no"])
            .arg(format!("--callgrind-out-file={}", profile.display()))
            .arg(&zakuro)
            .args(options);
        told(valgrind, "install valgrind")?;
        let ran = functions(&std::fs::read_to_string(&profile).map_err(|e| format!("{}: {e}", profile.display()))?);
        let _ = std::fs::remove_file(&profile);
        Ok::<_, String>(ran)
    };
    let mut programs = Vec::new();
    for file in programs_of_bench()? {
        programs.push(ran(&["--jit=off", &file, SIZE])?);
    }
    let parts = [("start", ran(&["-e", "1"])?), ("runs", by_use(programs)), ("compiles", ran(&["--jit=always", "-e", HOT])?)];
    let mut nm = Command::new("nm");
    nm.arg("-S").arg(&zakuro);
    let listing = told(nm, "install binutils")?;
    let symbols = symbols(&listing);
    let path = root().join("crates/cli/start.ld");
    let (script, bytes, more) = script(&parts, &symbols);
    std::fs::write(&path, script).map_err(|e| format!("{}: {e}", path.display()))?;
    let count: usize = parts.iter().map(|(_, ran)| ran.len()).sum();
    println!("order: {count} functions run, {bytes} bytes; {more} bytes of others come with them");
    Ok(true)
}

/// bench/'s programs, in the order of their names.
fn programs_of_bench() -> Result<Vec<String>, String> {
    let dir = root().join("bench");
    let entries = std::fs::read_dir(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let mut files: Vec<String> =
        entries.flatten().map(|entry| entry.path().to_string_lossy().into_owned()).filter(|path| path.ends_with(".rb")).collect();
    files.sort();
    Ok(files)
}

/// What several programs ran: what most of them did comes first.
fn by_use(programs: Vec<Vec<String>>) -> Vec<String> {
    let mut uses: HashMap<String, usize> = HashMap::new();
    let mut names = Vec::new();
    for name in programs.into_iter().flatten() {
        let count = uses.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 {
            names.push(name);
        }
    }
    names.sort_by_key(|name| std::cmp::Reverse(uses[name]));
    names
}

/// The functions of a profile, in the order of their first mention: `fn=(7) name`, where later lines leave the name out. (A call names the function it goes to by `cfn=`.)
fn functions(profile: &str) -> Vec<String> {
    let mut names = HashMap::new();
    let mut ran = Vec::new();
    for line in profile.lines() {
        let Some((rest, called)) = line.strip_prefix("fn=(").map(|r| (r, false)).or_else(|| line.strip_prefix("cfn=(").map(|r| (r, true)))
        else {
            continue;
        };
        let Some((number, name)) = rest.split_once(')') else { continue };
        if let Some(name) = name.strip_prefix(' ') {
            // 'n: a recursion.
            names.insert(number, name.split('\'').next().unwrap_or(name));
        }
        if !called {
            ran.push(number);
        }
    }
    let mut seen = HashSet::new();
    ran.into_iter().filter_map(|number| names.get(number)).filter(|name| seen.insert(**name)).map(|name| name.to_string()).collect()
}

/// Functions of `nm -S`: name and bytes.
fn symbols(listing: &str) -> Vec<(&str, usize)> {
    let row = |line: &'_ str| -> Option<(usize, usize, usize)> {
        let mut words = line.split(' ');
        let (_, size, kind) = (words.next()?, words.next()?, words.next()?);
        let at = line.len() - words.next()?.len();
        kind.contains(['t', 'T', 'w', 'W']).then_some((usize::from_str_radix(size, 16).ok()?, at, line.len()))
    };
    listing.lines().filter_map(|line| row(line).map(|(size, from, to)| (&line[from..to], size))).collect()
}

/// A symbol without its hash: `_ZN4core3fmt17h0123456789abcdefE` and what follows are `_ZN4core3fmt17h`.
fn stem(name: &str) -> &str {
    let hash = |at: usize| {
        name.as_bytes().get(at + 3..at + 19).is_some_and(|h| h.iter().all(u8::is_ascii_hexdigit))
            && name.as_bytes().get(at + 19) == Some(&b'E')
    };
    match name.rfind("17h").filter(|&at| name.starts_with("_ZN") && hash(at)) {
        Some(at) => &name[..at + 3],
        None => name,
    }
}

/// The script, the bytes of the functions that ran, and those of others that it takes with them. Who stands in an earlier part is in no later one.
fn script(parts: &[(&str, Vec<String>)], symbols: &[(&str, usize)]) -> (String, usize, usize) {
    let mut text = String::from(
        "/* Made by `xtask order`: functions that an empty program runs, those that bench/'s programs run, and those that make machine code, each side by side. */\nSECTIONS {\n",
    );
    let (mut bytes, mut more) = (0, 0);
    let mut seen = HashSet::new();
    for (part, ran) in parts {
        let exact: HashSet<&str> = ran.iter().map(String::as_str).collect();
        // Of each name: bytes that ran, bytes of all.
        let mut sizes: HashMap<&str, (usize, usize)> = HashMap::new();
        for (name, size) in symbols {
            let known = sizes.entry(stem(name)).or_default();
            known.0 += if exact.contains(name) { *size } else { 0 };
            known.1 += size;
        }
        let names = ran.iter().map(|name| stem(name)).filter(|name| sizes.get(name).is_some_and(|s| s.0 > 0) && seen.insert(*name));
        let other = |name: &&str| sizes[name].1 - sizes[name].0;
        let (mut first, mut late): (Vec<&str>, Vec<&str>) =
            names.filter(|name| sizes[name].1 < LEFT_OUT).partition(|name| other(name) <= LATE);
        late.sort_by_key(|name| other(name) * 100 / sizes[name].0);
        first.append(&mut late);
        let _ = writeln!(text, "  .text.{part} : {{");
        for name in &first {
            let star = if name.ends_with("17h") && name.starts_with("_ZN") { "*" } else { "" };
            let _ = writeln!(text, "    *(.text.{name}{star} .text.unlikely.{name}{star})");
        }
        text.push_str("  }\n");
        bytes += first.iter().map(|name| sizes[name].0).sum::<usize>();
        more += first.iter().map(other).sum::<usize>();
    }
    text.push_str("}\nINSERT BEFORE .text;\n");
    (text, bytes, more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_profiles_and_scripts() {
        let profile = "fn=(1) _ZN1a1b17h0123456789abcdefE\ncfn=(2) c\nfn=(2)\nfn=(1)\ncfn=(3) not_run\nfn=(4) c'2\n";
        let ran = functions(profile);
        assert_eq!(ran, ["_ZN1a1b17h0123456789abcdefE", "c"]);
        assert_eq!(by_use(vec![vec!["a".into(), "b".into()], vec!["c".into(), "b".into()]]), ["b", "a", "c"]);
        let listing = "0000000000000010 0000000000000020 t _ZN1a1b17h0123456789abcdefE\n0000000000000030 0000000000001000 t _ZN1a1b17hfedcba9876543210E.llvm.7\n\
            0000000000002000 0000000000000008 T c\n0000000000003000 B data\n0000000000003000 0000000000000008 B more\n";
        let parts = [("start", ran.clone()), ("more", ran)];
        let (text, bytes, more) = script(&parts, &symbols(listing));
        assert_eq!((bytes, more), (0x28, 0x1000));
        let lines: Vec<&str> = text.lines().filter(|l| l.contains("*(")).map(str::trim).collect();
        assert_eq!(lines, ["*(.text.c .text.unlikely.c)", "*(.text._ZN1a1b17h* .text.unlikely._ZN1a1b17h*)"]);
    }
}
