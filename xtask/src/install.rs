//! `xtask install PREFIX` and `xtask dist`: the release binary without debug information, the standard library and the executables of its gems, as a tree that can
//! be moved, a tar.gz of it, and a .deb.
//!
//! Everything in the tree finds the rest relative to where it stands: the binary its library, the executables their interpreter.
//! The .deb puts the tree into /opt/zakuro and a link into /usr/bin: `gem`, `irb` and the like in /usr/bin belong to Debian's Ruby.

use crate::{Args, find_zakuro, library, root, target};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Executables of the library: (name, gem). `gem` is RubyGems itself.
const EXECUTABLES: &[(&str, &str)] = &[
    ("gem", ""),
    ("bundle", "bundler"),
    ("bundler", "bundler"),
    ("erb", "erb"),
    ("irb", "irb"),
    ("minitest", "minitest"),
    ("racc", "racc"),
    ("rake", "rake"),
    ("rdoc", "rdoc"),
    ("ri", "rdoc"),
    ("test-unit", "test-unit"),
];

pub fn run(args: &[String]) -> Result<bool, String> {
    let args = Args::parse(args, &["zakuro", "jar"], &["ruby"])?;
    let [prefix] = &args.rest[..] else { return Err("install PREFIX [--ruby]: one directory".into()) };
    let zakuro = find_zakuro(&args, "release")?;
    let prefix = std::path::absolute(prefix).map_err(|e| format!("{prefix}: {e}"))?;
    let size = install(&zakuro, &prefix, args.get("jar").map(Path::new), args.has("ruby"))?;
    println!(
        "installed in {}: bin/zakuro has {:.1} MB; put {} into PATH",
        prefix.display(),
        size as f64 / 1e6,
        prefix.join("bin").display()
    );
    Ok(true)
}

fn said(path: &Path) -> impl Fn(std::io::Error) -> String + '_ {
    move |e| format!("{}: {e}", path.display())
}

/// Writes a file beside its place and renames it: what runs from the place goes on.
fn place(path: &Path, content: &[u8], mode: u32) -> Result<(), String> {
    let part = path.with_file_name(format!(".{}-{}", path.file_name().unwrap_or_default().to_string_lossy(), std::process::id()));
    let result = std::fs::write(&part, content)
        .and_then(|()| std::fs::set_permissions(&part, std::fs::Permissions::from_mode(mode)))
        .and_then(|()| std::fs::rename(&part, path));
    if result.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    result.map_err(said(path))
}

/// The tree below a prefix; bytes of the binary. The library goes first: without it nothing is installed.
fn install(zakuro: &Path, prefix: &Path, jar: Option<&Path>, ruby: bool) -> Result<u64, String> {
    let bin = prefix.join("bin");
    std::fs::create_dir_all(&bin).map_err(said(&bin))?;
    if !library::is_there(prefix) {
        let files = library::set_up(prefix, jar)?;
        println!("library: {files} files in {}", library::place(prefix).display());
    }
    let binary = stripped(zakuro)?;
    place(&bin.join("zakuro"), &binary, 0o755)?;
    for (name, gem) in EXECUTABLES {
        place(&bin.join(name), executable(name, gem).as_bytes(), 0o755)?;
    }
    let link = bin.join("ruby");
    if ruby {
        match std::fs::read_link(&link) {
            Ok(to) if to == Path::new("zakuro") => {}
            _ => symlink("zakuro", &link).map_err(said(&link))?,
        }
    }
    let doc = prefix.join("share/doc/zakuro");
    std::fs::create_dir_all(&doc).map_err(said(&doc))?;
    for name in ["LICENSE-MIT", "LICENSE-APACHE", "README.md"] {
        let text = std::fs::read(root().join(name)).map_err(said(&root().join(name)))?;
        place(&doc.join(name), &text, 0o644)?;
    }
    // Ruby's own licence, under which most of the library stands, is one of the files of this gem; the other gems bring theirs.
    let gems = library::place(prefix).join("gems/gems");
    for name in ["COPYING", "BSDL"] {
        if let Ok(text) = std::fs::read(gems.join("base64-0.3.0").join(name)) {
            place(&doc.join(format!("{name}.ruby")), &text, 0o644)?;
        }
    }
    Ok(binary.len() as u64)
}

/// The binary without symbols and debug information; as it is where there is no `strip`.
fn stripped(zakuro: &Path) -> Result<Vec<u8>, String> {
    let part = target().join(format!("zakuro-stripped-{}", std::process::id()));
    let done = Command::new("strip").arg("-o").arg(&part).arg(zakuro).status();
    let from = match done {
        Ok(s) if s.success() => part.as_path(),
        _ => {
            eprintln!("install: no `strip` (binutils): the binary keeps its debug information");
            zakuro
        }
    };
    let content = std::fs::read(from).map_err(said(from));
    let _ = std::fs::remove_file(&part);
    content
}

/// A script that the shell hands to the interpreter beside it, whatever directory that is in, links resolved.
fn executable(name: &str, gem: &str) -> String {
    let body = if gem.is_empty() {
        "require \"rubygems\"\nrequire \"rubygems/gem_runner\"\nbegin\n  Gem::GemRunner.new.run(ARGV.dup)\nrescue Gem::SystemExitException => e\n  exit e.exit_code\nend\n"
            .to_string()
    } else {
        format!(
            "require \"rubygems\"\n\n# `{name} _1.2.3_ ...` asks for a version.\nversion = \">= 0.a\"\n\
             if (asked = ARGV.first&.b&.slice(/\\A_(.*)_\\z/, 1)) && Gem::Version.correct?(asked)\n  version = asked\n  ARGV.shift\nend\n\n\
             Gem.activate_and_load_bin_path(\"{gem}\", \"{name}\", version)\n"
        )
    };
    format!("#!/bin/sh\n# -*- ruby -*-\nexec \"$(dirname -- \"$(readlink -f -- \"$0\")\")/zakuro\" -x -- \"$0\" \"$@\"\n#!ruby\n{body}")
}

pub fn dist(args: &[String]) -> Result<bool, String> {
    let args = Args::parse(args, &["zakuro", "jar", "to"], &[])?;
    let zakuro = find_zakuro(&args, "release")?;
    let to = args.get("to").map_or_else(|| target().join("dist"), PathBuf::from);
    std::fs::create_dir_all(&to).map_err(said(&to))?;
    let name = format!("zakuro-{VERSION}-{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    let tree = to.join(format!(".{name}-{}", std::process::id()));
    let result = install(&zakuro, &tree, args.get("jar").map(Path::new), true).and_then(|_| {
        let packed = archive(&tree, &[(name.as_str(), Entry::Tree)])?;
        let file = to.join(format!("{name}.tar.gz"));
        place(&file, &packed, 0o644)?;
        println!("{} {:.1} MB", file.display(), packed.len() as f64 / 1e6);
        let package = deb(&tree)?;
        let file = to.join(format!("zakuro_{VERSION}_{}.deb", architecture()));
        place(&file, &package, 0o644)?;
        println!("{} {:.1} MB", file.display(), package.len() as f64 / 1e6);
        Ok(true)
    });
    let _ = std::fs::remove_dir_all(&tree);
    result
}

/// What an archive holds at a path.
enum Entry<'a> {
    /// The tree.
    Tree,
    Directory,
    File(&'a [u8]),
    Link(&'a str),
}

/// Files of a directory, in order, relative to it.
fn walk(dir: &Path, base: &Path, out: &mut Vec<PathBuf>) -> Result<(), String> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(dir).map_err(said(dir))?.flatten().map(|e| e.path()).collect();
    entries.sort();
    for e in entries {
        out.push(e.strip_prefix(base).unwrap_or(&e).to_path_buf());
        if e.is_dir() && !e.is_symlink() {
            walk(&e, base, out)?;
        }
    }
    Ok(())
}

/// A tar.gz. Owner root, one time for all files (`SOURCE_DATE_EPOCH`, else that of the binary), so that the same tree gives the same bytes.
fn archive(tree: &Path, entries: &[(&str, Entry)]) -> Result<Vec<u8>, String> {
    let time = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|t| t.parse().ok()).unwrap_or_else(|| {
        let changed = std::fs::metadata(tree.join("bin/zakuro")).and_then(|m| m.modified()).ok();
        changed.and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok()).map_or(0, |d| d.as_secs())
    });
    let mut out = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best()));
    let mut add = |path: &str, kind: tar::EntryType, mode: u32, content: &[u8], link: Option<&Path>| -> Result<(), String> {
        let mut h = tar::Header::new_gnu();
        h.set_entry_type(kind);
        h.set_mode(mode);
        h.set_mtime(time);
        h.set_uid(0);
        h.set_gid(0);
        h.set_size(content.len() as u64);
        match link {
            Some(to) => out.append_link(&mut h, path, to),
            None => out.append_data(&mut h, path, content),
        }
        .map_err(|e| format!("{path}: {e}"))
    };
    for (name, entry) in entries {
        let name = *name;
        match *entry {
            Entry::Directory => add(name, tar::EntryType::Directory, 0o755, b"", None)?,
            Entry::File(content) => add(name, tar::EntryType::Regular, 0o644, content, None)?,
            Entry::Link(to) => add(name, tar::EntryType::Symlink, 0o777, b"", Some(Path::new(to)))?,
            Entry::Tree => {
                add(name, tar::EntryType::Directory, 0o755, b"", None)?;
                let mut files = Vec::new();
                walk(tree, tree, &mut files)?;
                for f in files {
                    let (at, path) = (tree.join(&f), format!("{name}/{}", f.display()));
                    let meta = std::fs::symlink_metadata(&at).map_err(said(&at))?;
                    if meta.is_symlink() {
                        add(&path, tar::EntryType::Symlink, 0o777, b"", Some(&std::fs::read_link(&at).map_err(said(&at))?))?;
                    } else if meta.is_dir() {
                        add(&path, tar::EntryType::Directory, 0o755, b"", None)?;
                    } else {
                        let mode = if meta.permissions().mode() & 0o111 != 0 { 0o755 } else { 0o644 };
                        add(&path, tar::EntryType::Regular, mode, &std::fs::read(&at).map_err(said(&at))?, None)?;
                    }
                }
            }
        }
    }
    out.into_inner().and_then(|gz| gz.finish()).map_err(|e| format!("tar.gz: {e}"))
}

/// Debian's name of the machine.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// A Debian binary package (deb(5)): an ar archive of three members.
fn deb(tree: &Path) -> Result<Vec<u8>, String> {
    let mut files = Vec::new();
    walk(tree, tree, &mut files)?;
    let bytes: u64 =
        files.iter().filter_map(|f| std::fs::symlink_metadata(tree.join(f)).ok()).filter(|m| m.is_file()).map(|m| m.len()).sum();
    // SAFETY: a string constant of the C library.
    let libc = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) }.to_string_lossy();
    let control = format!(
        "Package: zakuro\nVersion: {VERSION}\nArchitecture: {}\nMaintainer: The Zakuro developers <zakuro@localhost>\nInstalled-Size: {}\n\
         Depends: libc6 (>= {libc}), libgcc-s1\nSection: interpreters\nPriority: optional\n\
         Description: Ruby 4.0 runtime with many isolated VMs in one process\n \
         Zakuro runs Ruby programs in sealed VMs on all cores, joined by channels. It brings the\n standard library, RubyGems and Bundler of Ruby 4.0 along.\n",
        architecture(),
        bytes / 1024,
    );
    let control = archive(tree, &[("./control", Entry::File(control.as_bytes()))])?;
    let data = archive(
        tree,
        &[
            ("./opt", Entry::Directory),
            ("./opt/zakuro", Entry::Tree),
            ("./usr", Entry::Directory),
            ("./usr/bin", Entry::Directory),
            ("./usr/bin/zakuro", Entry::Link("/opt/zakuro/bin/zakuro")),
        ],
    )?;
    let mut out = b"!<arch>\n".to_vec();
    for (name, content) in [("debian-binary", &b"2.0\n"[..]), ("control.tar.gz", &control[..]), ("data.tar.gz", &data[..])] {
        writeln!(out, "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`", 0, 0, 0, 100_644, content.len()).map_err(|e| e.to_string())?;
        out.extend_from_slice(content);
        if content.len() % 2 == 1 {
            out.push(b'\n');
        }
    }
    Ok(out)
}
