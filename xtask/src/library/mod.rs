//! `xtask library`: the pure-Ruby standard library of Ruby 4.0, its default and bundled gems, RubyGems and Bundler, laid out beside the binary.
//!
//! They come from published packages, named here by version and checksum, and are no part of the repository: nearly everything from [`STDLIB`], prism's Ruby
//! files, which that has not, from [`RUBY`]. What belongs to another engine is left out (`left_out.txt`, `gems.txt`); default gems that are natives of ours get
//! a specification (`default_gems.txt`). Without the second package there is no prism, nor what is made on it; everything else works.
//!
//! DIR/lib/ruby/zakuro/4.0.0 appears whole or not at all: it is made beside its place and renamed. So is the package in the cache, once its checksum is right.
//! The layout is `$LOAD_PATH`'s directory itself; `gems/` in it is a directory of gems as RubyGems knows it (crates/stdlib/ruby/rubygems_defaults.rb).

mod fetch;
mod image;
mod index;
#[cfg(test)]
mod unit;

use crate::{Args, root, target};
use fetch::{Package, Registry};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

const STDLIB: Package = Package {
    registry: Registry::Maven,
    group: "org.jruby",
    name: "jruby-stdlib",
    version: "10.1.1.0",
    checksum: "dd9dcffbbee65a131a6f8f20599f24de4624ef8f1cdfaaa4eb76f23fe60b5baa",
    megabytes: 21,
};
/// CRuby as a WebAssembly module, with its library in its memory ([`image`]).
const RUBY: Package = Package {
    registry: Registry::Npm,
    group: "ruby",
    name: "head-wasm-wasi",
    version: "2.10.1",
    checksum: "7a1f4bb8242d7fc628eb03ede28305e173eb098186f425cc42ad2fef7f4a476a",
    megabytes: 34,
};
/// The module in the package, the address of its first directory, and the library's path there.
const MODULE: &str = "package/dist/ruby+stdlib.wasm";
const MODULE_ROOT: u32 = 0x1439270;
const MODULE_LIBRARY: &str = "local/lib/ruby/4.1.0+4/";
/// The level of Ruby whose library this is: the directory's name.
pub const API: &str = "4.0.0";

/// Specifications of default gems.
const DEFAULT: &str = "gems/specifications/default/";

const LEFT_OUT: &str = include_str!("left_out.txt");
const GEMS: &str = include_str!("gems.txt");
const DEFAULT_GEMS: &str = include_str!("default_gems.txt");
/// Raised when the code below lays out otherwise than before.
const LAYOUT: u32 = 5;
/// Tells, inside the directory, what it was made of.
const STAMP: &str = ".package";

/// Lines that are neither comments nor empty.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// What a directory's stamp says: the packages, the lists and the layout that it was made of.
fn stamp(with_prism: bool) -> String {
    let mut all = Sha256::new();
    for text in [STDLIB.checksum, RUBY.checksum, LEFT_OUT, GEMS, DEFAULT_GEMS] {
        all.update(text.as_bytes());
        all.update([0]);
    }
    let mut text = format!("{} sha256 {}, layout {LAYOUT}-{}\n", STDLIB.title(), STDLIB.checksum, &hex(&all.finalize())[..16]);
    if with_prism {
        text.push_str(&format!("{} sha256 {}\n", RUBY.title(), RUBY.checksum));
    }
    text
}

/// The library below a prefix.
pub fn place(prefix: &Path) -> PathBuf {
    prefix.join("lib/ruby/zakuro").join(API)
}

/// Whether the library stands below a prefix, as this version lays it out, perhaps without prism.
pub fn is_there(prefix: &Path) -> bool {
    std::fs::read_to_string(place(prefix).join(STAMP)).is_ok_and(|s| s == stamp(true) || s == stamp(false))
}

/// Whether it is there with prism.
pub fn has_prism(prefix: &Path) -> bool {
    std::fs::read_to_string(place(prefix).join(STAMP)).is_ok_and(|s| s == stamp(true))
}

pub fn run(args: &[String]) -> Result<bool, String> {
    let args = Args::parse(args, &["to", "jar"], &["again", "unless-tried"])?;
    let prefix = args.get("to").map_or_else(target, PathBuf::from);
    let tried = target().join("library.failed");
    if has_prism(&prefix) && !args.has("again") {
        if !args.has("unless-tried") {
            println!("library: {} is complete", place(&prefix).display());
        }
        return Ok(true);
    }
    if args.has("unless-tried") && fetch::is_recent(&tried) {
        return Ok(false);
    }
    match set_up(&prefix, args.get("jar").map(Path::new)) {
        Ok(files) => {
            let _ = std::fs::remove_file(&tried);
            eprintln!("library: {files} files in {}", place(&prefix).display());
            if !has_prism(&prefix) {
                let _ = std::fs::write(&tried, "without prism");
            }
            Ok(true)
        }
        Err(why) => {
            let _ = std::fs::write(&tried, &why);
            eprintln!(
                "library: {why}\n\
                 library: without it the core and the natives work; `require` of optparse, erb, rubygems and the like does not.\n\
                 library: once there is a network, `./run --library` tries again. ZAKURO_MAVEN=URL names another Maven repository,\n\
                 library: `./run --library --jar FILE` takes the package from a file: {}.",
                STDLIB.file_name()
            );
            Ok(false)
        }
    }
}

/// Lays the library out below a prefix; returns how many files it has.
pub fn set_up(prefix: &Path, jar: Option<&Path>) -> Result<usize, String> {
    let jar = match jar {
        Some(given) => {
            STDLIB.check(given)?;
            given.to_path_buf()
        }
        None => STDLIB.get()?,
    };
    let ruby = match RUBY.get() {
        Ok(package) => Some(package),
        Err(why) => {
            eprintln!(
                "library: {why}\n\
                 library: it is laid out without prism; ripper, irb, rdoc and ri do not load. `./run --library` tries again. ZAKURO_NPM=URL names another\n\
                 library: npm registry; {} in the cache's directory is taken as it is.",
                RUBY.file_name()
            );
            None
        }
    };
    let at = place(prefix);
    let parent = at.parent().unwrap_or(prefix);
    let say = |e: std::io::Error, path: &Path| format!("{}: {e}", path.display());
    std::fs::create_dir_all(parent).map_err(|e| say(e, parent))?;
    remove_abandoned(parent);
    let new = parent.join(format!(".{API}-{}", std::process::id()));
    let result = lay_out(&jar, ruby.as_deref(), &new).and_then(|files| {
        if at.exists() {
            let old = parent.join(format!(".{API}-{}-old", std::process::id()));
            std::fs::rename(&at, &old).map_err(|e| say(e, &at))?;
            let moved = std::fs::rename(&new, &at).map_err(|e| say(e, &at));
            if moved.is_err() {
                // The one before stays.
                let _ = std::fs::rename(&old, &at);
            }
            let _ = std::fs::remove_dir_all(&old);
            moved?;
        } else {
            std::fs::rename(&new, &at).map_err(|e| say(e, &at))?;
        }
        Ok(files)
    });
    if result.is_err() {
        let _ = std::fs::remove_dir_all(&new);
    }
    result
}

/// Removes what set-ups that were killed left beside the library's place: `.4.0.0-PID`, `.4.0.0-PID-old`.
fn remove_abandoned(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for e in entries.flatten() {
        let name = e.file_name().to_string_lossy().into_owned();
        let Some(pid) = name.strip_prefix(&format!(".{API}-")).and_then(|n| n.split('-').next()) else { continue };
        if pid.parse::<u32>().is_ok() && !Path::new("/proc").join(pid).exists() {
            let _ = std::fs::remove_dir_all(e.path());
        }
    }
}

/// What the lists say about paths of the package.
struct Choice {
    files: HashSet<&'static str>,
    directories: Vec<&'static str>,
    suffixes: Vec<&'static str>,
    gems: HashSet<&'static str>,
    /// Names of the gems in `default_gems.txt`.
    ours: HashSet<&'static str>,
}

impl Choice {
    fn new() -> Choice {
        let all: Vec<&str> = lines(LEFT_OUT).collect();
        Choice {
            files: all.iter().copied().filter(|l| !l.ends_with('/') && !l.starts_with('*')).collect(),
            directories: all.iter().copied().filter(|l| l.ends_with('/')).collect(),
            suffixes: all.iter().filter_map(|l| l.strip_prefix('*')).collect(),
            gems: lines(GEMS).filter_map(|l| l.split('|').next()).map(str::trim).collect(),
            ours: lines(DEFAULT_GEMS).filter_map(|l| l.split(' ').next()).collect(),
        }
    }
    /// Where a file of the package belongs, below the library's directory. None: nowhere.
    fn place(&self, path: &str) -> Option<String> {
        if self.suffixes.iter().any(|s| path.ends_with(s)) {
            return None;
        }
        let path = path.strip_prefix("META-INF/jruby.home/lib/ruby/")?;
        if let Some(file) = path.strip_prefix("stdlib/") {
            let out = self.files.contains(file) || self.directories.iter().any(|d| file.starts_with(d));
            return (!out).then(|| file.to_string());
        }
        let path = path.strip_prefix("gems/shared/")?;
        if let Some(rest) = path.strip_prefix("gems/") {
            let (gem, file) = rest.split_once('/')?;
            // These are natives, and files of Java.
            let native = gem.starts_with("bigdecimal-") && matches!(file, "lib/bigdecimal.rb" | "lib/bigdecimal/util.rb");
            if self.gems.contains(gem) || native || file.starts_with("lib/java/") {
                return None;
            }
            return Some(format!("gems/gems/{}/{file}", without_platform(gem)));
        }
        let file = path.strip_prefix("specifications/")?;
        let gem = file.strip_prefix("default/").unwrap_or(file).strip_suffix(".gemspec")?;
        let name = name_of(gem);
        if self.gems.contains(gem) || self.ours.contains(name) {
            return None;
        }
        let default = if file.starts_with("default/") { "default/" } else { "" };
        Some(format!("gems/specifications/{default}{}.gemspec", without_platform(gem)))
    }
}

/// The gem `racc-1.8.1-java` without Java is `racc-1.8.1`.
fn without_platform(gem: &str) -> &str {
    gem.strip_suffix("-java").unwrap_or(gem)
}

/// NAME of NAME-VERSION.
fn name_of(gem: &str) -> &str {
    let gem = without_platform(gem);
    gem.rsplit_once('-').map_or(gem, |(name, _)| name)
}

/// A gem's specification for the platform "ruby": it is made of Ruby, or of natives of ours. minitest asks for prism for its own command only: it can be used
/// without.
fn specification(text: &str, prism: bool) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let dependency =
            line.trim_start().starts_with("s.add_") && (line.contains("<jar-dependencies>") || !prism && line.contains("<prism>"));
        if dependency || line.trim_start().starts_with("s.platform = \"java\"") {
            continue;
        }
        match line.strip_prefix("# stub: ") {
            Some(stub) => out.push_str(&format!("# stub: {}", stub.replacen(" java ", " ruby ", 1))),
            None => out.push_str(line),
        }
    }
    out
}

/// What files of the package have instead: (file, text, text instead).
const EDITED: &[(&str, &str, &str)] = &[
    // Bundler takes gems of the platform "ruby" alone unless it is told otherwise: a precompiled gem holds extensions for CRuby.
    ("bundler/settings.rb", "    DEFAULT_CONFIG = {\n", "    DEFAULT_CONFIG = {\n      \"BUNDLE_FORCE_RUBY_PLATFORM\" => true,\n"),
    // `bundle exec` loads what names this interpreter instead of starting another.
    ("bundler/cli/exec.rb", "/usr/bin/env jruby\\n\",\n", "/usr/bin/env jruby\\n\",\n        \"#!/usr/bin/env zakuro\\n\",\n"),
    // JRuby expands the path: a relative directory stays one.
    ("tmpdir.rb", "path = File.expand_path(path, tmpdir)", "path = File.join(tmpdir, path)"),
];

/// A file as it is laid out. Err: it is not the file that they were written for.
fn edited(path: &str, text: &str) -> Result<String, String> {
    let mut text = text.to_string();
    for (_, old, new) in EDITED.iter().filter(|(file, ..)| *file == path) {
        let at = text.find(old).ok_or_else(|| format!("{path}: no text {old:?}"))?;
        text.replace_range(at..at + old.len(), new);
    }
    Ok(text)
}

/// The specification of a default gem of `default_gems.txt`.
fn own_specification(line: &str) -> Option<(String, String)> {
    let mut words = line.split(' ');
    let (name, version) = (words.next()?, words.next()?);
    let files: Vec<String> = words.map(|f| format!("\"lib/{f}.rb\".freeze")).collect();
    let text = format!(
        "# -*- encoding: utf-8 -*-\n# stub: {name} {version} ruby lib\n\n\
         Gem::Specification.new do |s|\n  s.name = \"{name}\".freeze\n  s.version = \"{version}\".freeze\n\n  \
         s.require_paths = [\"lib\".freeze]\n  s.authors = [\"Zakuro\".freeze]\n  s.date = \"2025-12-25\"\n  \
         s.files = [{}]\n  s.licenses = [\"MIT\".freeze, \"Apache-2.0\".freeze]\n  s.summary = \"Part of Zakuro's library\".freeze\nend\n",
        files.join(", ")
    );
    Some((format!("gems/specifications/default/{name}-{version}.gemspec"), text))
}

/// prism's Ruby files, by their paths below the library's directory.
fn prism(package: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let say = |e: &dyn std::fmt::Display| format!("{}: {e}", package.display());
    let file = File::open(package).map_err(|e| say(&e))?;
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    for entry in archive.entries().map_err(|e| say(&e))? {
        let mut entry = entry.map_err(|e| say(&e))?;
        if entry.path().map_err(|e| say(&e))?.as_os_str() != MODULE {
            continue;
        }
        let mut module = Vec::new();
        entry.read_to_end(&mut module).map_err(|e| say(&e))?;
        let wanted = |path: &str| {
            let path = path.strip_prefix(MODULE_LIBRARY).unwrap_or_default();
            // The reader of another version of the parser's format is ours (crates/stdlib/src/prism), and so is what calls it.
            path == "prism.rb" || path.starts_with("prism/") && !["prism/ffi.rb", "prism/serialize.rb"].contains(&path)
        };
        let files = image::files(&module, MODULE_ROOT, &wanted)?;
        return Ok(files.into_iter().map(|(path, text)| (path[MODULE_LIBRARY.len()..].to_string(), text)).collect());
    }
    Err(say(&format!("no {MODULE}")))
}

/// Makes the library's directory of the packages; its number of files.
fn lay_out(jar: &Path, ruby: Option<&Path>, into: &Path) -> Result<usize, String> {
    let say = |e: &dyn std::fmt::Display, path: &Path| format!("{}: {e}", path.display());
    let file = File::open(jar).map_err(|e| say(&e, jar))?;
    let mut package = zip::ZipArchive::new(file).map_err(|e| say(&e, jar))?;
    let choice = Choice::new();
    let mut count = 0;
    // By their names: the order in which RubyGems reads them.
    let mut default_gems = BTreeMap::new();
    let mut write = |path: &str, content: &[u8]| -> Result<(), String> {
        let to = into.join(path);
        if let Some(dir) = to.parent() {
            std::fs::create_dir_all(dir).map_err(|e| say(&e, dir))?;
        }
        File::create(&to).and_then(|mut f| f.write_all(content)).map_err(|e| say(&e, &to))?;
        count += 1;
        Ok(())
    };
    for i in 0..package.len() {
        let mut entry = package.by_index(i).map_err(|e| say(&e, jar))?;
        // A name that leaves the directory is none of the package that the checksum names.
        let Some(name) = entry.enclosed_name().filter(|_| entry.is_file()) else { continue };
        let Some(path) = choice.place(&name.to_string_lossy()) else { continue };
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(|e| say(&e, jar))?;
        if path.starts_with("gems/specifications/") {
            let text = specification(&String::from_utf8_lossy(&content), ruby.is_some());
            content = text.clone().into_bytes();
            if let Some(name) = path.strip_prefix(DEFAULT) {
                default_gems.insert(name.to_string(), text);
            }
        }
        if EDITED.iter().any(|(file, ..)| *file == path) {
            content = edited(&path, &String::from_utf8_lossy(&content))?.into_bytes();
        }
        write(&path, &content)?;
    }
    let ours = lines(DEFAULT_GEMS).filter(|line| ruby.is_some() || !line.starts_with("prism "));
    for (path, text) in ours.filter_map(own_specification) {
        write(&path, text.as_bytes())?;
        if let Some(name) = path.strip_prefix(DEFAULT) {
            default_gems.insert(name.to_string(), text);
        }
    }
    for (path, text) in ruby.map_or(Ok(Vec::new()), prism)? {
        write(&path, &text)?;
    }
    if let Some(index) = index::of(&default_gems.into_iter().collect::<Vec<_>>()) {
        write(&format!("{DEFAULT}.index"), index.as_bytes())?;
    }
    write(STAMP, stamp(ruby.is_some()).as_bytes())?;
    Ok(count)
}

/// The repository's own cache, for machines without a home directory.
fn own_cache() -> PathBuf {
    root().join("target/cache")
}
