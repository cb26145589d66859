//! Compiled sources on disk, from one process to the next: what `require` and `load` would parse again.
//!
//! An entry's name is the SHA-256 of all that a compiled source depends on: the compiler ([`CodeCache::compiler`]), the file's name, the options, the whole text. Its
//! content begins with another one, of the name and the rest, so an entry that is cut off, damaged or renamed is no entry. Sources themselves are always
//! read: the cache saves parsing, not looking.
//!
//! Whom is believed. Bytecode can do anything (the verifier checks no types of values), so it counts only where nobody else could have written it: the
//! folder and the entry belong to the process's user, are writable by nobody else, and are no links. What lies above the folder does not matter, since all is
//! reached from its descriptor. Anything else is as if it were not there. A damaged entry is replaced by whoever compiles its source next.
//!
//! Written beside its place and renamed, so readers see all of it or nothing; two processes that write the same entry write the same bytes. Each of the
//! [`SHARDS`] folders is kept below [`SHARD_BYTES`], by removing what was not used for longest, as the day of an entry's time tells.
//!
//! Rejected: trusting size and time of a source instead of its text (two changes within a tick); entries beside the sources (a library's folder has other
//! owners, and its users could not write there); mapping entries (a process that truncates one would kill its readers by SIGBUS).

use crate::vm::Cx;
use sha2::{Digest, Sha256};
use std::ffi::{CString, OsStr};
use std::fs::{DirBuilder, File, Metadata};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use zakuro_base::CodeCache;
use zakuro_bytecode::binary::{Archive, Writer};
use zakuro_compiler::{Compiled, Options, SyntaxError, Warning};

/// Smaller sources are compiled faster than an entry is found.
const SMALLEST: usize = 1 << 10;
/// Larger entries are neither written nor read.
const LARGEST: usize = 4 << 20;
/// Folders of entries: the first digit of the name.
const SHARDS: usize = 16;
/// Most bytes of a folder's entries: 256 MB in all.
const SHARD_BYTES: u64 = 16 << 20;
/// One entry in so many looks whether its folder is too large.
const SELDOM: u8 = 16;
/// Bytes that a VM must have left per byte of an entry, to read it.
const ROOM: usize = 16;
/// An entry that was used says so once in this time.
const DAY: Duration = Duration::from_secs(24 * 3600);

const MAGIC: [u8; 8] = *b"zakuro\0\x01";
const HEAD: usize = MAGIC.len() + 32;

type Key = [u8; 32];

/// Compiles a source, or finds it compiled by an earlier process.
pub(crate) fn compile(cx: &mut Cx, source: &Arc<[u8]>, options: &Options) -> crate::raise::Result<Result<Compiled, SyntaxError>> {
    let shared = cx.options.clone();
    let Some(cache) = shared.code_cache.as_ref().filter(|_| source.len() >= SMALLEST && is_library(options)) else {
        return cx.compile(source, options);
    };
    let key = key(cache, source, options);
    let known = find(cache, &key, cx.heap.room() / ROOM).and_then(|bytes| {
        // Reading and verifying recurse.
        zakuro_sched::on_native_stack(|| decode(&bytes, source, options))
    });
    if let Some(compiled) = known {
        return Ok(Ok(compiled));
    }
    let compiled = cx.compile(source, options)?;
    if let Ok(c) = &compiled {
        // Whether it succeeds is nobody's business: the next process compiles again.
        let _ = zakuro_sched::on_native_stack(|| encode(c)).map(|bytes| keep(cache, &key, &bytes));
    }
    Ok(compiled)
}

/// Neither a program of the command line nor an eval: these change from run to run.
fn is_library(o: &Options) -> bool {
    !o.main_script && o.eval.is_none() && o.wrap == zakuro_compiler::Wrap::default()
}

fn key(cache: &CodeCache, source: &[u8], o: &Options) -> Key {
    let mut h = Sha256::new();
    h.update(MAGIC);
    h.update(cache.compiler.to_le_bytes());
    h.update((o.file.len() as u64).to_le_bytes());
    h.update(o.file);
    h.update(o.line.to_le_bytes());
    let option = |o: Option<u8>| o.map_or([0, 0], |v| [1, v]);
    h.update(option(o.frozen_string_literal.map(u8::from)));
    h.update(option(o.encoding));
    h.update([u8::from(o.literal_places) | u8::from(o.keep_locals) << 1, u8::from(o.warn) | u8::from(o.verbose) << 1]);
    h.update(source);
    h.finalize().into()
}

fn digest(key: &Key, rest: &[u8]) -> Key {
    let mut h = Sha256::new();
    h.update(key);
    h.update(rest);
    h.finalize().into()
}

fn encode(c: &Compiled) -> Option<Vec<u8>> {
    let mut w = Writer::new();
    w.add(&c.code).ok()?;
    let mut bytes = Vec::new();
    bytes.extend((c.warnings.len() as u32).to_le_bytes());
    for w in &c.warnings {
        bytes.extend(w.line.to_le_bytes());
        bytes.extend((w.message.len() as u32).to_le_bytes());
        bytes.push(w.verbose.into());
        bytes.extend(w.message.as_bytes());
    }
    bytes.extend(w.finish());
    (bytes.len() <= LARGEST).then_some(bytes)
}

fn decode(bytes: &[u8], source: &Arc<[u8]>, options: &Options) -> Option<Compiled> {
    fn word(rest: &mut &[u8]) -> Option<u32> {
        let (n, after) = rest.split_first_chunk()?;
        *rest = after;
        Some(u32::from_le_bytes(*n))
    }
    let mut rest = bytes;
    let mut warnings = Vec::new();
    for _ in 0..word(&mut rest)? {
        let (line, length) = (word(&mut rest)?, word(&mut rest)? as usize);
        let (verbose, after) = rest.split_first()?;
        let (message, after) = after.split_at_checked(length)?;
        rest = after;
        warnings.push(Warning { line, message: std::str::from_utf8(message).ok()?.into(), verbose: *verbose == 1 });
    }
    let code = Archive::open(rest).ok()?.program(0, &Arc::from(options.file), source).ok()?;
    zakuro_bytecode::verify::verify(&code).ok()?;
    Some(Compiled { code, warnings, branches: Default::default() })
}

/// A folder or entry that nobody but this user could have written.
fn is_own(m: &Metadata) -> bool {
    // SAFETY: asks for a number.
    m.uid() == unsafe { libc::geteuid() } && m.mode() & 0o022 == 0
}

/// Opens something in a folder, or the folder itself; never through a link at the end.
fn open_at(at: Option<&File>, name: &OsStr, flags: i32) -> Option<File> {
    let name = CString::new(name.as_bytes()).ok()?;
    let at = at.map_or(libc::AT_FDCWD, AsRawFd::as_raw_fd);
    // SAFETY: a terminated name; the descriptor is ours alone.
    unsafe {
        let fd = libc::openat(at, name.as_ptr(), flags | libc::O_CLOEXEC | libc::O_NOFOLLOW | libc::O_NONBLOCK, 0o600);
        (fd >= 0).then(|| File::from_raw_fd(fd))
    }
}

fn folder(at: Option<&File>, name: &OsStr) -> Option<File> {
    let f = open_at(at, name, libc::O_RDONLY | libc::O_DIRECTORY)?;
    is_own(&f.metadata().ok()?).then_some(f)
}

/// Name of an entry, and the folder's that it is in.
fn names(key: &Key) -> (String, String) {
    let name: String = key.iter().map(|b| format!("{b:02x}")).collect();
    debug_assert_eq!(SHARDS, 16);
    (name[..1].to_string(), name)
}

/// The bytes of an entry, at most `most`.
fn find(cache: &CodeCache, key: &Key, most: usize) -> Option<Vec<u8>> {
    let (shard, name) = names(key);
    let shard = folder(Some(&folder(None, cache.folder.as_os_str())?), OsStr::new(&shard))?;
    let f = open_at(Some(&shard), OsStr::new(&name), libc::O_RDONLY)?;
    let m = f.metadata().ok()?;
    let size = usize::try_from(m.size()).ok()?;
    if !m.is_file() || !is_own(&m) || size < HEAD || size > (HEAD + LARGEST).min(most) {
        return None;
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size + 1).ok()?;
    (&f).take(size as u64 + 1).read_to_end(&mut bytes).ok()?;
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    if head[..MAGIC.len()] != MAGIC || head[MAGIC.len()..] != digest(key, rest) {
        return None;
    }
    if m.modified().ok().and_then(|t| t.elapsed().ok()).is_some_and(|age| age > DAY) {
        let _ = f.set_modified(SystemTime::now());
    }
    bytes.drain(..HEAD);
    Some(bytes)
}

/// Writes an entry, and sees to it that its folder does not grow without end.
fn keep(cache: &CodeCache, key: &Key, bytes: &[u8]) -> Option<()> {
    let size = (HEAD + bytes.len()) as u64;
    if !may_write(size) {
        return None;
    }
    let (shard_name, name) = names(key);
    let open = || folder(Some(&folder(None, cache.folder.as_os_str())?), OsStr::new(&shard_name));
    let shard = match open() {
        Some(f) => f,
        None => {
            make(&cache.folder.join(&shard_name))?;
            open()?
        }
    };
    // Nobody else has this name at this time: if it is there, its writer has died.
    // SAFETY: asks for a number.
    let thread = unsafe { libc::gettid() };
    let beside = format!(".{name}.{thread}");
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL;
    let mut f = open_at(Some(&shard), OsStr::new(&beside), flags).or_else(|| {
        remove(&shard, OsStr::new(&beside));
        open_at(Some(&shard), OsStr::new(&beside), flags)
    })?;
    let mut head = Vec::with_capacity(HEAD);
    head.extend(MAGIC);
    head.extend(digest(key, bytes));
    let written = f.write_all(&head).and_then(|()| f.write_all(bytes)).is_ok();
    let (from, to) = (CString::new(beside.as_bytes()).ok()?, CString::new(name).ok()?);
    // SAFETY: terminated names in a folder that is open.
    if !written || unsafe { libc::renameat(shard.as_raw_fd(), from.as_ptr(), shard.as_raw_fd(), to.as_ptr()) } != 0 {
        remove(&shard, OsStr::new(&beside));
        return None;
    }
    if key[31].is_multiple_of(SELDOM) {
        trim(&shard, &cache.folder.join(shard_name), SHARD_BYTES);
    }
    Some(())
}

/// Whether the system lets the process write files of this size. (It would be ended by SIGXFSZ.)
fn may_write(size: u64) -> bool {
    let mut l = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: writes one plain struct.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut l) == 0 && size <= l.rlim_cur }
}

/// Folders of a cache that are made where they are missing: `.cache/zakuro/code` and that of the entry, but no home.
const OURS: usize = 4;

/// Makes a folder, and those above it that are missing, in one that belongs to the user. (Root with somebody else's HOME leaves nothing there.)
fn make(path: &Path) -> Option<()> {
    let above = path.ancestors().take(OURS + 1).find_map(|p| std::fs::metadata(p).ok())?;
    if !is_own(&above) {
        return None;
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path).ok()
}

fn remove(folder: &File, name: &OsStr) {
    if let Ok(name) = CString::new(name.as_bytes()) {
        // SAFETY: a terminated name in a folder that is open.
        unsafe { libc::unlinkat(folder.as_raw_fd(), name.as_ptr(), 0) };
    }
}

/// Removes the oldest entries until the others take at most `most` bytes. Another process may do the same meanwhile.
fn trim(shard: &File, path: &Path, most: u64) {
    let Ok(list) = std::fs::read_dir(path) else { return };
    let mut entries: Vec<_> = list
        .flatten()
        .filter_map(|e| {
            let m = e.metadata().ok()?;
            Some((m.modified().ok()?, m.len(), e.file_name()))
        })
        .collect();
    entries.sort();
    let mut sum: u64 = entries.iter().map(|e| e.1).sum();
    for (_, size, name) in entries {
        if sum <= most {
            return;
        }
        remove(shard, &name);
        sum -= size;
    }
}

#[cfg(test)]
#[path = "codestore_tests.rs"]
mod tests;
