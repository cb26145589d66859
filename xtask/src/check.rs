//! Structure checks that no compiler makes: who may use whom, process-wide state, file sizes, machine paths.

use crate::{Args, root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Which crates of this workspace a crate may use (besides `base`, which every crate may).
/// `None`: anything below it. A crate that isn't here must be added with its reason (docs: architecture, section 2).
const ARROWS: &[(&str, Option<&[&str]>)] = &[
    ("base", Some(&[])),
    ("bytecode", Some(&[])),
    ("heap", Some(&[])),
    ("text", Some(&[])),
    ("sched", Some(&[])),
    ("macros", Some(&[])),
    ("compiler", Some(&["bytecode", "text"])),
    ("prelude", Some(&["compiler", "bytecode"])),
    ("object", Some(&["heap", "bytecode"])),
    ("channel", Some(&["sched", "heap"])),
    ("vm", Some(&["compiler", "object", "channel", "sched", "heap", "bytecode"])),
    ("jit", Some(&["vm", "object", "heap", "bytecode"])),
    ("core-base", Some(&["vm", "compiler", "text", "macros"])),
    ("core-text", Some(&["core-base", "vm", "text", "macros", "object"])),
    ("core-collections", Some(&["core-base", "core-text", "vm", "macros", "object"])),
    ("core-numbers", Some(&["core-base", "core-collections", "vm", "text", "macros", "object"])),
    ("core-system", Some(&["core-base", "core-text", "vm", "text", "macros", "object", "heap", "sched"])),
    (
        "core-program",
        Some(&[
            "core-base",
            "core-text",
            "core-collections",
            "core-numbers",
            "core-system",
            "vm",
            "compiler",
            "text",
            "macros",
            "object",
            "heap",
            "bytecode",
        ]),
    ),
    (
        "core-vms",
        Some(&[
            "core-base",
            "core-collections",
            "core-system",
            "core-program",
            "vm",
            "macros",
            "object",
            "channel",
            "sched",
            "heap",
            "bytecode",
        ]),
    ),
    // Reads what others count.
    ("insight", Some(&["core-base", "core-vms", "heap", "vm", "macros", "sched"])),
    (
        "corelib",
        Some(&[
            "insight",
            "core-base",
            "core-text",
            "core-collections",
            "core-numbers",
            "core-system",
            "core-program",
            "core-vms",
            "vm",
            "text",
            "object",
            "bytecode",
        ]),
    ),
    ("stdlib", Some(&["core-base", "core-text", "core-system", "vm", "text", "macros", "object", "sched"])),
    ("openssl", Some(&["vm", "core-system", "macros"])),
    ("gems", Some(&["vm", "core-system", "macros", "sched"])),
    ("cluster", Some(&["vm", "bytecode", "macros"])),
    ("runtime", None),
    ("capi", Some(&["runtime"])),
    ("cli", Some(&["runtime"])),
];
/// What `runtime` may not use: the shells above it.
const ABOVE_RUNTIME: &[&str] = &["cli", "capi", "runtime"];

/// The rooms of the VM, and which others the files of each may name. `vm.rs` and `boot.rs` are the VM as a whole: they name all, and all name them.
const ROOMS: &[(&str, &[&str])] =
    &[("state", &[]), ("program", &["state"]), ("execution", &["state", "program"]), ("world", &["state", "program", "execution"])];

const STATE_LIST: &str = "docs/process-state.md";
const WARN_LINES: usize = 800;
const FAIL_LINES: usize = 1500;

/// Types that hold state although a `static` of them looks constant.
const MUTABLE_TYPES: &[&str] =
    &["Atomic", "Mutex", "RwLock", "Once", "Lazy", "Cell", "Queue", "Condvar", "*mut", "HashMap", "Vec<", "Stack", "Injector"];

pub fn run(args: &[String]) -> Result<bool, String> {
    Args::parse(args, &[], &[])?;
    let root = root();
    let mut failures = Vec::new();
    let mut warnings = Vec::new();
    arrows(&root, &mut failures)?;
    rooms(&root, &mut failures)?;
    state(&root, &mut failures)?;
    sizes(&root, &mut failures, &mut warnings);
    machine_paths(&root, &mut failures);
    unwatched(&root, &mut failures);
    loops(&root, &mut failures);
    undefined_helpers(&root, &mut failures);
    unnamed(&root, &mut failures)?;
    compiled_twice(&root, &mut failures, &mut warnings);
    unchecked(&root, &mut failures);
    for warning in &warnings {
        println!("warning: {warning}");
    }
    for failure in &failures {
        println!("FAILED {failure}");
    }
    println!("check: {} failures, {} warnings", failures.len(), warnings.len());
    Ok(failures.is_empty())
}

/// Names of workspace crates in the `[dependencies]` and `[build-dependencies]` tables (not the dev ones).
fn dependencies(manifest: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut counts = false;
    for line in manifest.lines() {
        let line = line.trim();
        if let Some(table) = line.strip_prefix('[') {
            counts = !table.contains("dev-dependencies") && table.contains("dependencies");
            if let Some(name) = table.split("dependencies.zakuro-").nth(1).filter(|_| counts) {
                found.push(name.trim_end_matches(']').to_string());
            }
            continue;
        }
        if counts && let Some(rest) = line.strip_prefix("zakuro-") {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(rest.len());
            found.push(rest[..end].to_string());
        }
    }
    found
}

fn arrows(root: &Path, failures: &mut Vec<String>) -> Result<(), String> {
    let mut names: Vec<String> = std::fs::read_dir(root.join("crates"))
        .map_err(|e| format!("crates: {e}"))?
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for name in names {
        let Ok(manifest) = std::fs::read_to_string(root.join("crates").join(&name).join("Cargo.toml")) else { continue };
        let Some((_, allowed)) = ARROWS.iter().find(|(n, _)| *n == name) else {
            failures.push(format!("crates/{name}: not in the table of arrows (xtask/src/check.rs)"));
            continue;
        };
        for used in dependencies(&manifest) {
            let fine = match allowed {
                Some(list) => (used == "base" && name != "base") || list.contains(&used.as_str()),
                None => !ABOVE_RUNTIME.contains(&used.as_str()),
            };
            if !fine {
                failures.push(format!("crates/{name} must not use {used}"));
            }
        }
    }
    Ok(())
}

/// Modules that Rust source names by `crate::`, groups in braces included, with the line.
fn named_modules(source: &str) -> Vec<(usize, String)> {
    let word = |text: &str| text.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>();
    let mut found = Vec::new();
    for (i, line) in source.lines().enumerate() {
        let text = line.split("//").next().unwrap_or("");
        for (at, _) in text.match_indices("crate::") {
            if text[..at].ends_with(|c: char| c == '$' || c == '_' || c.is_ascii_alphanumeric()) {
                continue;
            }
            let rest = &text[at + "crate::".len()..];
            let Some(group) = rest.strip_prefix('{') else {
                found.push((i + 1, word(rest)));
                continue;
            };
            // Names at the group's own level.
            let (mut depth, mut fresh) = (0, true);
            for (at, c) in group.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => fresh = true,
                    c if depth == 0 && fresh && !c.is_whitespace() => {
                        fresh = false;
                        found.push((i + 1, word(&group[at..])));
                    }
                    _ => {}
                }
            }
        }
    }
    found
}

/// No file of a room of the VM names a module of a room that is not allowed to it.
fn rooms(root: &Path, failures: &mut Vec<String>) -> Result<(), String> {
    let src = root.join("crates/vm/src");
    let mut room_of = std::collections::HashMap::new();
    for (room, _) in ROOMS {
        let list = std::fs::read_to_string(src.join(room).join("mod.rs")).map_err(|e| format!("{room}: {e}"))?;
        for line in list.lines() {
            if let Some((_, name)) = line.trim_end_matches(';').split_once("mod ").filter(|_| line.ends_with(';')) {
                room_of.insert(name.to_string(), *room);
            }
        }
        room_of.insert(room.to_string(), *room);
    }
    for (room, allowed) in ROOMS {
        let mut sources = Vec::new();
        files(&src.join(room), &["rs"], &mut sources);
        for path in sources.iter().filter(|p| !is_test_file(p)) {
            let short = path.strip_prefix(root).unwrap_or(path).display().to_string();
            let source = std::fs::read_to_string(path).map_err(|e| format!("{short}: {e}"))?;
            for (line, name) in named_modules(&source) {
                if let Some(other) = room_of.get(&name)
                    && other != room
                    && !allowed.contains(other)
                {
                    failures.push(format!("{short}:{line}: {room} must not name {name}, which is {other}'s"));
                }
            }
        }
    }
    Ok(())
}

/// Files below `dir` with one of the extensions, without build output and hidden directories.
pub fn files(dir: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    let mut entries: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                files(&path, extensions, found);
            }
        } else if extensions.is_empty() || path.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)) {
            found.push(path);
        }
    }
}

fn is_test_file(path: &Path) -> bool {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    name == "tests" || name.ends_with("_tests") || name.ends_with("_test") || path.components().any(|c| c.as_os_str() == "tests")
}

/// One `static` item in Rust source: its name and whether it holds state.
#[derive(Debug, PartialEq)]
struct Static {
    name: String,
    line: usize,
    stateful: bool,
}

/// Finds `static` items line by line. Comments and the `#[cfg(test)] mod` at a file's end are left out.
fn statics(source: &str) -> Vec<Static> {
    let lines: Vec<&str> = source.lines().collect();
    let mut found = Vec::new();
    let mut thread_local = false;
    for (i, line) in lines.iter().enumerate() {
        let text = line.split("//").next().unwrap_or("").trim();
        if text == "#[cfg(test)]"
            && lines[i + 1..].iter().find(|l| !l.trim().starts_with("#[")).is_some_and(|l| l.contains("mod ") && l.contains('{'))
        {
            break;
        }
        if text.contains("thread_local!") {
            thread_local = true;
        }
        let mut words = text;
        if let Some(inner) = words.split_once("thread_local!").map(|(_, rest)| rest) {
            words = inner.trim_start_matches([' ', '{', '(']).trim();
        }
        if let Some(rest) = words.strip_prefix("pub") {
            words = rest.trim_start();
            if words.starts_with('(') {
                words = words.split_once(')').map_or("", |(_, rest)| rest.trim_start());
            }
        }
        if let Some(rest) = words.strip_prefix("static ") {
            let mutable = rest.starts_with("mut ");
            let rest = rest.trim_start_matches("mut ");
            if let Some((name, kind)) = rest.split_once(':') {
                let kind = kind.split('=').next().unwrap_or("").trim();
                // Primitive types are the lower case names that stand alone; `path::to::Type` may be anything.
                let plain = kind.starts_with(['&', '[']) || kind.starts_with(|c: char| c.is_ascii_lowercase()) && !kind.contains("::");
                let stateful = mutable || thread_local || !plain || MUTABLE_TYPES.iter().any(|t| kind.contains(t));
                if name.trim().chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                    found.push(Static { name: name.trim().to_string(), line: i + 1, stateful });
                }
            }
        }
        if thread_local && (text == "}" || text == ");") {
            thread_local = false;
        }
    }
    found
}

/// Every static with state in crates/*/src must have a row `| \`file\` | \`NAME\` | reason |` in docs/process-state.md.
fn state(root: &Path, failures: &mut Vec<String>) -> Result<(), String> {
    let list = std::fs::read_to_string(root.join(STATE_LIST)).unwrap_or_default();
    let rows: Vec<(String, String, String)> = list
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix('|')?.split('|').map(|c| c.trim().trim_matches('`').to_string());
            Some((cells.next()?, cells.next()?, cells.next()?))
        })
        .filter(|(file, _, _)| file.starts_with("crates/"))
        .collect();
    let mut used = vec![false; rows.len()];
    let mut sources = Vec::new();
    files(&root.join("crates"), &["rs"], &mut sources);
    for path in sources {
        if is_test_file(&path) || !path.components().any(|c| c.as_os_str() == "src") {
            continue;
        }
        let short = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&path).map_err(|e| format!("{short}: {e}"))?;
        for item in statics(&source).into_iter().filter(|s| s.stateful) {
            match rows.iter().position(|(file, name, _)| *file == short && *name == item.name) {
                Some(row) => {
                    used[row] = true;
                    if rows[row].2.is_empty() {
                        failures.push(format!("{STATE_LIST}: no reason for {} in {short}", item.name));
                    }
                }
                None => failures.push(format!(
                    "{short}:{}: process-wide state {} is not in {STATE_LIST} (row: | `{short}` | `{}` | reason |)",
                    item.line, item.name, item.name
                )),
            }
        }
    }
    for ((file, name, _), used) in rows.iter().zip(used) {
        if !used {
            failures.push(format!("{STATE_LIST}: {name} in {file} is gone"));
        }
    }
    Ok(())
}

fn sizes(root: &Path, failures: &mut Vec<String>, warnings: &mut Vec<String>) {
    let mut sources = Vec::new();
    for dir in ["crates", "xtask", "bench", "examples", "tests"] {
        files(&root.join(dir), &["rs", "rb", "c", "h"], &mut sources);
    }
    for path in sources {
        let lines = std::fs::read(&path).map_or(0, |data| data.iter().filter(|&&b| b == b'\n').count());
        let short = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        if lines > FAIL_LINES {
            failures.push(format!("{short}: {lines} lines, more than {FAIL_LINES}: split it by concept"));
        } else if lines > WARN_LINES {
            warnings.push(format!("{short}: {lines} lines, more than {WARN_LINES}"));
        }
    }
}

/// Rust files that nothing names: the compiler passes over them in silence, tests in them included. Targets of Cargo are named by their place. So are tests of a
/// library whose manifest leaves testing out.
fn unnamed(root: &Path, failures: &mut Vec<String>) -> Result<(), String> {
    let mut sources = Vec::new();
    for dir in ["crates", "xtask"] {
        files(&root.join(dir), &["rs"], &mut sources);
    }
    let mut named = std::collections::HashSet::new();
    for path in &sources {
        let source = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let dir = path.parent().unwrap_or(root);
        let package =
            path.ancestors().find(|p| p.parent().is_some_and(|p| p.ends_with("crates"))).filter(|p| path.starts_with(p.join("src")));
        if source.lines().any(|line| line.trim() == "#[test]")
            && package.is_some_and(|p| {
                std::fs::read_to_string(p.join("Cargo.toml")).is_ok_and(|text| text.lines().any(|line| line == "test = false"))
            })
        {
            failures.push(format!(
                "{}: its tests are never run: the manifest says `test = false`",
                path.strip_prefix(root).unwrap_or(path).display()
            ));
        }
        let stem = path.file_stem().unwrap_or_default();
        let is_root = stem == "mod" || is_target(root, path);
        let below = if is_root { dir.to_path_buf() } else { dir.join(stem) };
        for file in named_files(&source) {
            match file {
                Named::Module(name) => {
                    named.insert(below.join(format!("{name}.rs")));
                    named.insert(below.join(name).join("mod.rs"));
                }
                Named::File(name) => drop(named.insert(normal(&dir.join(name)))),
            }
        }
    }
    for path in sources.iter().filter(|p| !is_target(root, p) && !named.contains(*p)) {
        failures.push(format!("{}: no `mod` and no `include!` names it", path.strip_prefix(root).unwrap_or(path).display()));
    }
    Ok(())
}

/// Whether Cargo itself finds a file: roots of crates, `src/bin`, `tests`, `examples`, `benches`, and what a manifest gives a `path`.
fn is_target(root: &Path, path: &Path) -> bool {
    let short = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
    let parts: Vec<&str> = short.split('/').skip_while(|part| *part == "crates").collect();
    let by_place = matches!(
        &parts[1..],
        ["build.rs"]
            | ["src", "lib.rs" | "main.rs"]
            | ["src", "bin", _]
            | ["tests" | "examples" | "benches", _]
            | ["tests" | "examples" | "benches", _, "main.rs"]
    );
    by_place || {
        let package: PathBuf =
            path.ancestors().take_while(|p| *p != root).filter(|p| p.join("Cargo.toml").is_file()).last().unwrap_or(root).into();
        let in_package = path.strip_prefix(&package).unwrap_or(path).to_string_lossy().into_owned();
        std::fs::read_to_string(package.join("Cargo.toml")).is_ok_and(|text| text.contains(&format!("path = \"{in_package}\"")))
    }
}

#[derive(Debug, PartialEq)]
enum Named {
    Module(String),
    File(String),
}

/// What a source names as further sources: `mod name;`, with or without a `#[path]` before it, `include!`, and `modules! { name, ... }`.
fn named_files(source: &str) -> Vec<Named> {
    let quoted = |text: &str| text.split('"').nth(1).map(str::to_string);
    let mut found = Vec::new();
    if let Some((list, _)) = source.split_once("modules! {").and_then(|(_, rest)| rest.split_once('}')) {
        found.extend(list.split(',').map(|name| Named::Module(name.trim().to_string())));
    }
    let mut path = None;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[path") {
            path = quoted(line);
        } else if let Some((_, included)) = line.split_once("include!(") {
            found.extend(quoted(included).map(Named::File));
        } else if let Some((before, name)) = line.strip_suffix(';').and_then(|l| l.split_once("mod "))
            && (before.is_empty() || before.starts_with("pub"))
        {
            found.push(path.take().map_or_else(|| Named::Module(name.to_string()), Named::File));
        } else if !line.starts_with("#[") {
            path = None;
        }
    }
    found
}

/// `a/../b` as `b`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut made, part| {
        match part {
            std::path::Component::ParentDir => drop(made.pop()),
            std::path::Component::CurDir => {}
            part => made.push(part),
        }
        made
    })
}

/// Ways to hold what a call into Ruby may free, unseen by the borrow checker and the collector, in builtins and the VM
/// (docs/decisions/0015-the-heap-is-the-token.md): what a line may not have, where it may all the same, and what to write. What type inference hides
/// `xtask lists` finds.
const UNWATCHED: &[(&str, Option<&str>, &str)] = &[
    ("Vec<Value>", None, "Gathered, RootedVec, ArgList, or in a field TracedVec (crates/object/src/lists.rs)"),
    ("data_ptr", None, "data_mut, which borrows the VM"),
    // The module says by what its values live.
    ("UntracedVec", Some("vm/src/world/"), "a list that is rooted or traced"),
];
/// What its owner traces is a field: a variable or a result is not.
const FIELDS_ONLY: &str = "TracedVec";

/// Whether a crate runs Ruby code, or is called by what does.
pub fn is_watched(crate_: &str) -> bool {
    crate_.starts_with("core-") || ["vm", "corelib", "stdlib", "openssl", "gems", "cluster"].contains(&crate_)
}

fn unwatched(root: &Path, failures: &mut Vec<String>) {
    let crates = root.join("crates");
    let mut found = Vec::new();
    files(&crates, &["rs"], &mut found);
    for path in found.iter().filter(|p| !is_test_file(p)) {
        let short = path.strip_prefix(&crates).unwrap_or(path).to_string_lossy().into_owned();
        if short.split('/').next().is_none_or(|name| !is_watched(name)) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        for (i, line) in text.lines().enumerate() {
            failures.extend(unwatched_in(&short, line).map(|why| format!("crates/{short}:{}: {why}", i + 1)));
        }
    }
}

/// Methods of the library's own (`__name`) that its Ruby code calls and nobody defines: a call from a rare way would find out at a user's.
fn undefined_helpers(root: &Path, failures: &mut Vec<String>) {
    // Ruby's own, and those of files that come from elsewhere.
    let mut defined: BTreeSet<String> =
        ["__method__", "__dir__", "__callee__", "__id__", "__send__", "__drbref", "__map_symbol"].map(String::from).into();
    let mut found = Vec::new();
    files(&root.join("crates"), &["rb", "rs"], &mut found);
    let (ruby, rust): (Vec<PathBuf>, Vec<PathBuf>) = found.into_iter().partition(|p| p.extension().is_some_and(|e| e == "rb"));
    for path in rust {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        defined.extend(
            helper_names(&text)
                .filter(|(at, name)| text[..*at].ends_with('"') && text[at + name.len()..].starts_with('"'))
                .map(|n| n.1.to_string()),
        );
    }
    let is_ours = |p: &&PathBuf| p.components().any(|c| ["ruby", "prelude"].iter().any(|d| c.as_os_str() == *d));
    let texts: Vec<(String, String)> = ruby
        .iter()
        .filter(is_ours)
        .filter_map(|p| Some((p.strip_prefix(root).unwrap_or(p).display().to_string(), std::fs::read_to_string(p).ok()?)))
        .collect();
    for (_, text) in &texts {
        defined
            .extend(helper_names(text).filter(|(at, name)| is_definition(&text[..*at], &text[at + name.len()..])).map(|n| n.1.to_string()));
    }
    for (file, text) in &texts {
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#')) {
            let missing = helper_names(line).filter(|(at, name)| !line[..*at].ends_with(['"', '\'']) && !defined.contains(*name));
            failures.extend(missing.map(|(_, name)| format!("{file}:{}: `{name}` is defined nowhere", i + 1)));
        }
    }
}
/// Words that begin with two underscores and a small letter, with their places.
fn helper_names(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices("__").filter_map(|(at, _)| {
        let before = text[..at].chars().next_back();
        let rest = &text[at..];
        if before.is_some_and(|c| c.is_alphanumeric() || "_@$".contains(c)) || !rest[2..].starts_with(|c: char| c.is_ascii_lowercase()) {
            return None;
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let end = end + usize::from(rest[end..].starts_with(['?', '!']));
        Some((at, &rest[..end]))
    })
}
/// Whether a word between these two is a method, a variable or a parameter that begins there; or a Symbol, which something else is made from.
fn is_definition(before: &str, after: &str) -> bool {
    let assigned = |rest: &str| rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=~") && !rest.starts_with("=>");
    ["def ", "def self.", "alias ", ":", "|", "&", "*"].iter().any(|w| before.ends_with(w))
        || assigned(after.trim_start_matches(' '))
        || after.starts_with(':')
}

/// `Kernel#loop` ends at a StopIteration, which RubyVM::ClosedError is, and so may be what a block of the program's raises: the library's own Ruby code has no use for it.
fn loops(root: &Path, failures: &mut Vec<String>) {
    for crate_ in ["cluster", "insight", "openssl", "stdlib"] {
        let mut found = Vec::new();
        files(&root.join("crates").join(crate_).join("ruby"), &["rb"], &mut found);
        // CRuby's socket library has `loop` there, which programs see.
        for path in found.iter().filter(|p| !p.ends_with("socket_tcp.rb")) {
            let Ok(text) = std::fs::read_to_string(path) else { continue };
            let short = path.strip_prefix(root).unwrap_or(path).display();
            let lines = text.lines().enumerate().filter(|(_, line)| is_loop(line));
            failures.extend(lines.map(|(i, _)| format!("{short}:{}: `loop` ends at a ClosedError: use `while true`", i + 1)));
        }
    }
}
/// Whether a line of Ruby calls `loop` with a block.
fn is_loop(line: &str) -> bool {
    !line.trim_start().starts_with('#')
        && line.match_indices("loop").any(|(at, word)| {
            let rest = line[at + word.len()..].trim_start();
            !line[..at].ends_with(|c: char| c.is_alphanumeric() || "_.@:".contains(c)) && (rest.starts_with("do") || rest.starts_with('{'))
        })
}

/// Why a line of a file below crates/ can't stay.
fn unwatched_in(file: &str, line: &str) -> Option<String> {
    let text = line.split("//").next().unwrap_or("");
    for (pattern, place, instead) in UNWATCHED {
        if text.contains(pattern) && place.is_none_or(|p| !file.starts_with(p)) {
            return Some(format!("`{pattern}`: use {instead}"));
        }
    }
    let variable = text.trim_start().starts_with("let ") && [": ", "= "].iter().any(|p| text.contains(&format!("{p}{FIELDS_ONLY}")));
    let result = text.contains(&format!("-> {FIELDS_ONLY}"));
    (result || variable).then(|| format!("`{FIELDS_ONLY}` is for fields that are traced: use a RootedVec"))
}

/// Crates that checked.toml does not name: `./test` would run them without debug assertions. (Macros run in the compiler.)
fn unchecked(root: &Path, failures: &mut Vec<String>) {
    let text = std::fs::read_to_string(root.join("checked.toml")).unwrap_or_default();
    let names =
        std::fs::read_dir(root.join("crates")).into_iter().flatten().flatten().map(|e| e.file_name().to_string_lossy().into_owned());
    failures.extend(
        names
            .filter(|n| n != "macros" && !text.contains(&format!("[profile.release.package.zakuro-{n}]")))
            .map(|n| format!("checked.toml: zakuro-{n} is missing")),
    );
}

/// Libraries that a build compiles twice, because a build script's copy has other settings or features than the runtime's, or that `./test` compiles for its checks alone, because they ask for
/// others than the release build: minutes of each cold build (Cargo.toml, build-override; checked.toml).
fn compiled_twice(root: &Path, failures: &mut Vec<String>, warnings: &mut Vec<String>) {
    let mut units = |build: &[&str]| {
        // The list of what would be compiled is not stable yet.
        let asked = std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(build)
            .args(["--unit-graph", "-Z", "unstable-options"])
            .env("RUSTC_BOOTSTRAP", "1")
            .current_dir(root)
            .output();
        let list = asked.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
        match twice_in(&list) {
            Some(twice) if twice.is_empty() => {}
            Some(twice) => failures.push(format!("cargo {}: compiled twice: {}", build.join(" "), twice.join(", "))),
            None => warnings.push(format!("cargo {}: what is compiled can't be listed", build.join(" "))),
        }
        list
    };
    units(&["test", "--workspace"]);
    let ships = units(&["build", "--release", "-p", "zakuro-cli"]);
    let checks = units(&["test", "--release", "--config", "checked.toml", "--workspace", "--exclude", "xtask"]);
    let alone = alone_in(&checks, &ships);
    if !alone.is_empty() {
        failures.push(format!("./test compiles for its checks alone: {}", alone.join(", ")));
    }
}

/// Libraries of others in one of Cargo's lists of units that another has not, or with other settings or features.
fn alone_in(graph: &str, other: &str) -> Vec<String> {
    fn libraries(graph: &str) -> std::collections::BTreeSet<(&str, &str)> {
        let unit = |unit| -> Option<(&str, &str)> {
            let unit: &str = unit;
            let id = unit.split('"').next().filter(|id| !id.starts_with("path+"))?;
            let library = unit.contains("[\"lib\"]") || unit.contains("[\"rlib\"]");
            let how = unit[unit.find("\"profile\"")?..].split("\"dependencies\"").next()?;
            library.then_some((id, how))
        };
        graph.split("{\"pkg_id\":\"").skip(1).filter_map(unit).collect()
    }
    let theirs = libraries(other);
    libraries(graph).difference(&theirs).map(|(id, _)| id.rsplit(['#', '/']).next().unwrap_or(id).into()).collect()
}

/// Libraries that Cargo's list of units has more than once. None: it is no such list.
fn twice_in(graph: &str) -> Option<Vec<String>> {
    let mut libraries: Vec<&str> = Vec::new();
    for unit in graph.split("{\"pkg_id\":\"").skip(1) {
        let id = unit.split('"').next()?;
        let is_library = unit.contains("\"target\":{\"kind\":[\"lib\"]") || unit.contains("\"target\":{\"kind\":[\"rlib\"]");
        if is_library && unit.contains("\"mode\":\"build\"") {
            libraries.push(id);
        }
    }
    if libraries.is_empty() {
        return None;
    }
    libraries.sort_unstable();
    let mut twice: Vec<String> =
        libraries.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0].rsplit(['#', '/']).next().unwrap_or(w[0]).into()).collect();
    twice.dedup();
    Some(twice)
}

/// Absolute paths of somebody's machine have no place in the repository.
fn machine_paths(root: &Path, failures: &mut Vec<String>) {
    // Put together here so that this file doesn't name them itself.
    let places: Vec<String> = ["home", "work", "root", "Users"].iter().map(|d| format!("/{d}/")).collect();
    let mut found = Vec::new();
    for dir in ["crates", "xtask", "bench", "examples", "tests", "docs", ".ci"] {
        files(&root.join(dir), &[], &mut found);
    }
    found.extend(["run", "test", "README.md", "Cargo.toml", ".ci/run", "bench/run"].iter().map(|f| root.join(f)));
    for path in found {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        for (i, line) in text.lines().enumerate() {
            for place in &places {
                let hit = line.match_indices(place.as_str()).any(|(at, _)| {
                    let before = line[..at].chars().next_back();
                    let after = line[at + place.len()..].chars().next();
                    !before.is_some_and(|c| c.is_alphanumeric() || "._-}/".contains(c)) && after.is_some_and(|c| c.is_alphanumeric())
                });
                if hit {
                    let short = path.strip_prefix(root).unwrap_or(&path).display().to_string();
                    failures.push(format!("{short}:{}: a path of one machine ({place}...)", i + 1));
                }
            }
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn units_that_are_there_twice() {
        let unit = |id: &str, mode: &str, kind: &str| format!(r#"{{"pkg_id":"r#{id}@1","target":{{"kind":["{kind}"]}},"mode":"{mode}"}}"#);
        let list = |units: &[String]| twice_in(&units.join(","));
        let (a, b) = (unit("a", "build", "lib"), unit("b", "build", "lib"));
        assert_eq!(list(&[a.clone(), b.clone(), unit("a", "test", "lib"), unit("a", "build", "custom-build")]), Some(vec![]));
        assert_eq!(list(&[a.clone(), b, a]), Some(vec!["a@1".into()]));
        assert_eq!(twice_in("error: unknown option"), None);
    }

    #[test]
    fn units_of_one_build_alone() {
        let unit = |id: &str, level: u8| {
            format!(
                r#"{{"pkg_id":"{id}","target":{{"kind":["lib"]}},"profile":{{"opt_level":"{level}"}},"features":[],"dependencies":[{{"index":{level}}}]}}"#
            )
        };
        let ships = [unit("r#a@1", 3), unit("r#b@1", 3), unit("path+p#own@1", 3)].concat();
        assert_eq!(alone_in(&[unit("path+p#own@1", 1), unit("r#b@1", 3)].concat(), &ships), Vec::<String>::new());
        assert_eq!(alone_in(&[unit("r#a@1", 1), unit("r#b@1", 3), unit("r#c@1", 3)].concat(), &ships), ["a@1", "c@1"]);
    }

    #[test]
    fn statics_and_their_state() {
        let source = "static A: AtomicUsize = x;\npub(crate) static B: [u8; 3] = [1];\nstatic C: &[&str] = &[];\nstatic T: Table = t();\n\
                      thread_local! {\n    static D: u8 = 1;\n}\n    static E: &Mutex<u8> = x;\n\
                      static P: some::path::Net<Inner> = some::path::Net(Inner);\nstatic N: u64 = std::mem::size_of::<u8>() as u64;\n\
                      static X: extern \"C\" fn() = f;\n// static F: Mutex\nstatic mut G: u8 = 0;\n\
                      #[cfg(test)]\nmod tests {\n static H: Mutex<u8> = x;\n}\n";
        let names: Vec<(String, bool)> = statics(source).into_iter().map(|s| (s.name, s.stateful)).collect();
        let expected = [
            ("A", true),
            ("B", false),
            ("C", false),
            ("T", true),
            ("D", true),
            ("E", true),
            ("P", true),
            ("N", false),
            ("X", false),
            ("G", true),
        ];
        assert_eq!(names, expected.map(|(n, s)| (n.to_string(), s)));
    }

    #[test]
    fn modules_that_source_names() {
        let source = "use crate::vm::Cx;\nuse crate::{interp::{run, stub}, image, Block};\n// crate::host\nlet x = crate::life::f($crate::thread::g());\n";
        let names: Vec<(usize, String)> = named_modules(source);
        let expected = [(1, "vm"), (2, "interp"), (2, "image"), (2, "Block"), (4, "life")];
        assert_eq!(names, expected.map(|(l, n)| (l, n.to_string())));
    }

    #[test]
    fn manifest_tables() {
        let manifest = "[dependencies]\nzakuro-base.workspace = true\nzakuro-heap = { path = \"x\" }\nlibc = \"1\"\n\
                        [dev-dependencies]\nzakuro-vm.workspace = true\n[dependencies.zakuro-text]\npath = \"y\"\n";
        assert_eq!(dependencies(manifest), ["base", "heap", "text"]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_that_are_named() {
        let text = "mod a;\npub(crate) mod b;\n#[cfg(test)]\n#[path = \"t.rs\"]\nmod tests;\nmod inner {\n}\ninclude!(\"x.rs\");\n// mod c;\n a::modules! { d, e }";
        let module = |name: &str| Named::Module(name.into());
        let file = |name: &str| Named::File(name.into());
        assert_eq!(named_files(text), [module("d"), module("e"), module("a"), module("b"), file("t.rs"), file("x.rs")]);
    }

    #[test]
    fn loops_that_end_at_a_closed_channel() {
        for line in ["      loop do", "  x = loop { recv }", "loop{ }"] {
            assert!(is_loop(line), "{line}");
        }
        for line in ["# loop do", "while true", "@loop.transfer", "accept_loop(sockets) { }", "udp_server_loop do", "loop_of = 1"] {
            assert!(!is_loop(line), "{line}");
        }
    }
    #[test]
    fn helpers_and_their_definitions() {
        let names = |text| helper_names(text).map(|(_, name)| name.to_string()).collect::<Vec<_>>();
        assert_eq!(names("__a?(x) + b.__c_1! if @__no && a__no && __FILE__ || __d=1"), ["__a?", "__c_1!", "__d"]);
        let defines = |line: &str| helper_names(line).all(|(at, name)| is_definition(&line[..at], &line[at + name.len()..]));
        for line in ["def __a = 1", "private def self.__b(x)", "attr_reader :__c", "__d = 1", "{ |__e| 1 }", "alias __f g", "def x(__g: 1)"]
        {
            assert!(defines(line), "{line}");
        }
        for line in ["__a(1)", "x.__b == 1", "p __c?, 1", "__d => x"] {
            assert!(!defines(line), "{line}");
        }
    }
    #[test]
    fn lists_that_nobody_sees_are_refused() {
        let refused = |line| unwatched_in("core-text/src/symbol.rs", line).is_some();
        assert!(refused("    let all: Vec<Value> = names.collect();"));
        assert!(refused("    let l = cx.data_ptr::<Lock>(v)?;"));
        assert!(refused("    let mut list = TracedVec::new();"));
        assert!(refused("fn names(cx: &mut Cx) -> TracedVec {"));
        assert!(refused("    work: UntracedVec,"));
        assert!(!refused("    // a Vec<Value> would not do"));
        assert!(!refused("    held: TracedVec,"));
        assert!(!refused("            held: TracedVec::new(),"));
        assert!(unwatched_in("vm/src/world/names.rs", "    work: UntracedVec,").is_none());
    }
}
