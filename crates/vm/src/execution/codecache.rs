//! Sources of the process: a file is read once per version and compiled once per content, for all VMs.
//!
//! Two tables. *Texts*: device and inode -> text, good as long as size, mtime and ctime are those of the reading. A file that was changed within
//! [`SETTLED`] before it was read is not trusted: a second change in the same tick of the file system's clock would go unseen (git's "racily
//! clean" entries). *Compiled sources*: the key is the whole text with everything that compiling depends on (file name, line, options), compared
//! in full, so that a hash collision is no wrong program. Entries are immutable; past a bound per shard some are dropped (a program may start
//! VMs with ever new texts), which only costs another reading or compilation. Evals don't come here.
//!
//! Shared state: maps per shard behind locks that are held for a lookup or an insertion, never while reading or compiling. Two VMs that miss at
//! the same time both compile; the first one's result stays. The counters lie in the shards, under the same locks.

use crate::equality::{combine, hash_bytes};
use crate::vm::Cx;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zakuro_base::sync::held::Mutex;
use zakuro_compiler::{Compiled, Options, SyntaxError};

/// The bytes of a source, and their hash.
#[derive(Clone)]
pub struct Text {
    bytes: Arc<[u8]>,
    hash: u64,
}

impl Text {
    pub fn new(bytes: &[u8]) -> Text {
        Text { bytes: Arc::from(bytes), hash: hash_bytes(bytes) }
    }
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

struct Entry {
    source: Arc<[u8]>,
    file: Box<str>,
    line: u32,
    frozen: Option<bool>,
    places: bool,
    keep_locals: bool,
    encoding: Option<u8>,
    wrap: zakuro_compiler::Wrap,
    main: bool,
    warn: bool,
    verbose: bool,
    compiled: Compiled,
    /// Bytes of code and source.
    bytes: usize,
}

impl Entry {
    fn fits(&self, source: &Arc<[u8]>, o: &Options) -> bool {
        self.line == o.line
            && self.frozen == o.frozen_string_literal
            && self.places == o.literal_places
            && self.keep_locals == o.keep_locals
            && self.encoding == o.encoding
            && self.wrap == o.wrap
            && self.main == o.main_script
            && self.warn == o.warn
            && self.verbose == o.verbose
            && *self.file == *o.file
            && (Arc::ptr_eq(&self.source, source) || *self.source == **source)
    }
}

/// What changes when a file does: size, mtime and ctime in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp(u64, i128, i128);

/// A file changed less than this before it was read is read again.
const SETTLED: Duration = Duration::from_secs(2);

impl Stamp {
    fn of(m: &Metadata) -> Stamp {
        let time = |s: i64, ns: i64| s as i128 * 1_000_000_000 + ns as i128;
        Stamp(m.size(), time(m.mtime(), m.mtime_nsec()), time(m.ctime(), m.ctime_nsec()))
    }
    /// No change since can have left the same stamp.
    fn is_settled(&self, now: SystemTime) -> bool {
        let Some(before) = now.checked_sub(SETTLED).and_then(|t| t.duration_since(UNIX_EPOCH).ok()) else { return false };
        self.1.max(self.2) < before.as_nanos() as i128
    }
}

/// What was done for all VMs since the process began.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Texts read from files.
    pub read: u64,
    /// Texts taken from the table instead.
    pub read_hits: u64,
    /// Sources parsed and compiled, or read from the cache on disk (codestore.rs), without evals.
    pub compiled: u64,
    /// Sources found compiled.
    pub hits: u64,
}

#[derive(Default)]
struct Shard {
    compiled: HashMap<u64, Vec<Entry>, FixedState>,
    texts: HashMap<(u64, u64), (Stamp, Text), FixedState>,
    /// Bytes of all that is compiled.
    bytes: usize,
    counts: Counts,
}

const SHARDS: usize = 16;
/// Most keys per shard and table.
const MOST: usize = 1024;
/// Most bytes of compiled sources per shard. (What VMs run, they hold, too.)
const MOST_BYTES: usize = 16 << 20;

fn shards() -> &'static [Mutex<Shard>; SHARDS] {
    static TABLE: OnceLock<[Mutex<Shard>; SHARDS]> = OnceLock::new();
    TABLE.get_or_init(Default::default)
}

impl Shard {
    /// Makes room for a source that takes `bytes`.
    fn make_room(&mut self, bytes: usize) {
        while !self.compiled.is_empty() && (self.compiled.len() >= MOST || self.bytes + bytes > MOST_BYTES) {
            let Some(k) = self.compiled.keys().next().copied() else { return };
            self.bytes -= self.compiled.remove(&k).iter().flatten().map(|e| e.bytes).sum::<usize>();
        }
    }
}

/// The counters, summed up.
pub fn counts() -> Counts {
    let mut sum = Counts::default();
    for s in shards() {
        let c = s.lock().counts;
        sum.read += c.read;
        sum.read_hits += c.read_hits;
        sum.compiled += c.compiled;
        sum.hits += c.hits;
    }
    sum
}

/// Makes room for one more.
fn room<K: Copy + Eq + std::hash::Hash, V>(map: &mut HashMap<K, V, FixedState>) {
    if map.len() >= MOST
        && let Some(k) = map.keys().next().copied()
    {
        map.remove(&k);
    }
}

/// What reading a source gave: its system error is the caller's to tell; outside it is what ended the reading (an interrupt, a limit).
pub type Outcome<T> = crate::raise::Result<std::io::Result<T>>;

/// `?` for the inner Result of an [`Outcome`].
macro_rules! given {
    ($result:expr) => {
        match $result {
            Ok(v) => v,
            Err(e) => return Ok(Err(e)),
        }
    };
}

/// Milliseconds between two looks at what the VM is asked to do, while nothing comes.
const PATIENCE: i32 = 20;
/// Bytes read between two safepoints.
const PORTION: usize = 64 << 10;

/// Everything to the end of a file, a pipe, a device: of those that never end, until somebody ends the VM or it has no memory left.
pub fn read_all(cx: &mut Cx, mut file: &File) -> Outcome<Vec<u8>> {
    let regular = given!(file.metadata()).is_file();
    let mut bytes = Vec::new();
    loop {
        cx.safepoint()?;
        let mut p = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one pollfd.
        if !regular && unsafe { libc::poll(&mut p, 1, PATIENCE) } == 0 {
            continue;
        }
        cx.reserve(&mut bytes, PORTION)?;
        let at = bytes.len();
        bytes.resize(at + PORTION, 0);
        let got = file.read(&mut bytes[at..]);
        bytes.truncate(at + *got.as_ref().unwrap_or(&0));
        match got {
            Ok(0) => return Ok(Ok(bytes)),
            Ok(_) => {}
            Err(e) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
            Err(e) => return Ok(Err(e)),
        }
    }
}

/// Text of a file, unless it is known. `look` says what the file is now, `open` opens it.
pub fn read(cx: &mut Cx, look: impl FnOnce() -> std::io::Result<Metadata>, open: impl FnOnce() -> std::io::Result<File>) -> Outcome<Text> {
    read_by(look, open, |f| read_all(cx, f))
}

fn read_by(
    look: impl FnOnce() -> std::io::Result<Metadata>,
    open: impl FnOnce() -> std::io::Result<File>,
    whole: impl FnOnce(&File) -> Outcome<Vec<u8>>,
) -> Outcome<Text> {
    let m = given!(look());
    let shard = |m: &Metadata| &shards()[(m.ino() ^ m.dev()) as usize % SHARDS];
    if m.is_file() {
        let mut s = shard(&m).lock();
        if let Some((stamp, text)) = s.texts.get(&(m.dev(), m.ino()))
            && *stamp == Stamp::of(&m)
        {
            let text = text.clone();
            s.counts.read_hits += 1;
            return Ok(Ok(text));
        }
    }
    let f = given!(open());
    let now = SystemTime::now();
    // Of what was opened, before reading: a change from now on shows in the next look.
    let m = given!(f.metadata());
    let bytes = given!(whole(&f)?);
    let text = Text::new(&bytes);
    let mut s = shard(&m).lock();
    s.counts.read += 1;
    let stamp = Stamp::of(&m);
    if m.is_file() && stamp.is_settled(now) {
        room(&mut s.texts);
        s.texts.insert((m.dev(), m.ino()), (stamp, text.clone()));
    }
    Ok(Ok(text))
}

/// Compiles a source, or finds it compiled. `options.eval` must be None.
pub fn compile(cx: &mut Cx, source: &[u8], options: &Options) -> crate::raise::Result<Result<Compiled, SyntaxError>> {
    compile_text(cx, &Text::new(source), options)
}

/// The same for a text that was read by [`read`].
pub fn compile_text(cx: &mut Cx, text: &Text, options: &Options) -> crate::raise::Result<Result<Compiled, SyntaxError>> {
    if options.branches {
        return cx.compile(&text.bytes, options);
    }
    cached(text, options, || super::codestore::compile(cx, &text.bytes, options))
}

/// Looks a text up, or makes its Code by `make`. `E`: why it could not even be tried.
fn cached<E>(
    text: &Text,
    options: &Options,
    make: impl FnOnce() -> Result<Result<Compiled, SyntaxError>, E>,
) -> Result<Result<Compiled, SyntaxError>, E> {
    debug_assert!(options.eval.is_none());
    let key = combine(&[text.hash, hash_bytes(options.file.as_bytes())]);
    let shard = &shards()[key as usize % SHARDS];
    {
        let mut s = shard.lock();
        if let Some(e) = s.compiled.get(&key).and_then(|l| l.iter().find(|e| e.fits(&text.bytes, options))) {
            let compiled = e.compiled.clone();
            s.counts.hits += 1;
            return Ok(Ok(compiled));
        }
        s.counts.compiled += 1;
    }
    let compiled = match make()? {
        Ok(c) => c,
        Err(e) => return Ok(Err(e)),
    };
    let bytes = compiled.code.size() + text.bytes.len();
    let mut s = shard.lock();
    s.make_room(bytes);
    let list = s.compiled.entry(key).or_default();
    if let Some(e) = list.iter().find(|e| e.fits(&text.bytes, options)) {
        return Ok(Ok(e.compiled.clone()));
    }
    list.push(Entry {
        source: text.bytes.clone(),
        file: options.file.into(),
        line: options.line,
        frozen: options.frozen_string_literal,
        places: options.literal_places,
        keep_locals: options.keep_locals,
        encoding: options.encoding,
        wrap: options.wrap,
        main: options.main_script,
        warn: options.warn,
        verbose: options.verbose,
        compiled: compiled.clone(),
        bytes,
    });
    s.bytes += bytes;
    Ok(Ok(compiled))
}

#[cfg(test)]
#[path = "codecache_tests.rs"]
mod tests;
