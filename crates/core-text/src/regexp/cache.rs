//! Compiled regexps, shared: each source is compiled once per process, and found again without a lock inside a VM.
//!
//! Two levels. A VM remembers what it has used (so that `Regexp.new` and `/#{x}/` in a loop stay off the lock); behind it stands one
//! process-wide table. Its entries are immutable and name no VM; what no VM holds stays while it takes at most `SHARDS * IDLE_LIMIT` bytes.
//! Rejected: compiling per VM (thousands of VMs load the same program: compilation would dominate their start); a limit by the number of entries
//! alone (8,000 of some kilobytes of source each took hundreds of megabytes for ever).

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use zakuro_macros::Trace;
use zakuro_base::sync::held::Mutex;
use zakuro_text::encoding::Encoding;
use zakuro_text::regexp::{Regexp, RegexpError, RegexFlags, Warns};
use zakuro_vm::equality::hash_bytes;
use zakuro_vm::{Cx, Exc, VmState};

const SHARDS: usize = 16;
const SHARD_LIMIT: usize = 512;
/// Bytes of what no VM holds in a shard.
const IDLE_LIMIT: usize = 512 << 10;
/// Searches' scratch memory goes with the last holder of what takes more than this.
const SCRATCH_LIMIT: usize = 32 << 10;
/// Longer sources are compiled for their maker alone.
const SOURCE_LIMIT: usize = 16 * 1024;
const VM_LIMIT: usize = 256;
/// Bytes of what a VM remembers; what takes more than an eighth of it belongs to its objects alone.
const VM_BYTES: usize = 256 << 10;

/// A compiled regexp that somebody holds.
pub struct SharedRegexp(Arc<Kept>);

struct Kept {
    regexp: Regexp,
    /// Of the encoding that was asked for.
    enc: Encoding,
    flags: RegexFlags,
    hash: u64,
    /// How many [`SharedRegexp`]s there are: those that are in reach of programs.
    holders: AtomicUsize,
}

impl Kept {
    fn answers(&self, source: &[u8], flags: RegexFlags, enc: Encoding) -> bool {
        self.flags == flags && self.enc == enc && self.regexp.source() == source
    }
}

impl Deref for SharedRegexp {
    type Target = Regexp;
    fn deref(&self) -> &Regexp {
        &self.0.regexp
    }
}
impl Clone for SharedRegexp {
    fn clone(&self) -> SharedRegexp {
        SharedRegexp::hold(&self.0)
    }
}
impl SharedRegexp {
    /// What it was compiled with.
    pub fn asked(&self) -> (RegexFlags, Encoding) {
        (self.0.flags, self.0.enc)
    }
    fn hold(kept: &Arc<Kept>) -> SharedRegexp {
        kept.holders.fetch_add(1, Ordering::Relaxed);
        SharedRegexp(kept.clone())
    }
}
impl Drop for SharedRegexp {
    fn drop(&mut self) {
        if self.0.holders.fetch_sub(1, Ordering::Release) == 1 && self.0.regexp.source().len() <= SOURCE_LIMIT {
            shard(self.0.hash).rests(&self.0);
        }
    }
}

#[derive(Default)]
struct Shard {
    /// By hash of the key; of two keys with one hash the later replaces the earlier.
    table: HashMap<u64, Entry>,
    /// Bytes of the entries that nobody holds.
    idle: usize,
}
struct Entry {
    kept: Arc<Kept>,
    /// What it counts while nobody holds it.
    idle: Option<usize>,
}

/// Any VM's thread may lock a shard, for one lookup or one insertion; nothing is compiled while it is held.
#[derive(Default)]
struct Locked(Mutex<Shard>);

fn shard(hash: u64) -> &'static Locked {
    static REGEXPS: OnceLock<[Locked; SHARDS]> = OnceLock::new();
    &REGEXPS.get_or_init(Default::default)[(hash >> 60) as usize % SHARDS]
}

impl Locked {
    fn find(&self, hash: u64, source: &[u8], flags: RegexFlags, enc: Encoding) -> Option<SharedRegexp> {
        let mut shard = self.0.lock();
        let Shard { table, idle } = &mut *shard;
        let entry = table.get_mut(&hash).filter(|e| e.kept.answers(source, flags, enc))?;
        *idle -= entry.idle.take().unwrap_or(0);
        Some(SharedRegexp::hold(&entry.kept))
    }

    fn add(&self, kept: &Arc<Kept>) {
        let mut gone = Vec::new();
        let mut shard = self.0.lock();
        if shard.table.len() >= SHARD_LIMIT {
            shard.sweep(0, &mut gone);
            if shard.table.len() >= SHARD_LIMIT {
                gone.extend(shard.table.drain().map(|(_, e)| e));
            }
        }
        let former = shard.table.insert(kept.hash, Entry { kept: kept.clone(), idle: None });
        shard.idle -= former.as_ref().and_then(|e| e.idle).unwrap_or(0);
        // What goes is freed outside of the lock.
        drop(shard);
        drop((former, gone));
    }

    /// The last holder is gone.
    #[cold]
    fn rests(&self, kept: &Arc<Kept>) {
        let mut gone = Vec::new();
        let mut shard = self.0.lock();
        let Shard { table, idle } = &mut *shard;
        let Some(entry) = table.get_mut(&kept.hash).filter(|e| Arc::ptr_eq(&e.kept, kept)) else { return };
        // Somebody may have taken it meanwhile, or seen that it rests.
        if kept.holders.load(Ordering::Acquire) != 0 || entry.idle.is_some() {
            return;
        }
        if kept.regexp.memory() > SCRATCH_LIMIT {
            kept.regexp.forget_scratch();
        }
        let memory = kept.regexp.memory();
        entry.idle = Some(memory);
        *idle += memory;
        if *idle > IDLE_LIMIT {
            shard.sweep(IDLE_LIMIT / 2, &mut gone);
        }
        drop(shard);
        drop(gone);
    }
}

impl Shard {
    /// Takes out what nobody holds until no more than `most` bytes of it are left.
    fn sweep(&mut self, most: usize, gone: &mut Vec<Entry>) {
        let Shard { table, idle } = self;
        gone.extend(table.extract_if(|_, e| {
            let goes = e.idle.is_some() && *idle > most;
            if goes {
                *idle -= e.idle.unwrap_or(0);
            }
            goes
        }).map(|(_, e)| e));
    }
}

/// What a VM remembers.
#[derive(Trace, Default)]
struct Known {
    #[untraced]
    table: HashMap<u64, SharedRegexp>,
    /// Bytes of them when they were added.
    bytes: usize,
}
impl VmState for Known {}

impl Known {
    fn add(&mut self, regexp: &SharedRegexp) {
        let memory = regexp.memory();
        if memory > VM_BYTES / 8 || regexp.source().len() > SOURCE_LIMIT {
            return;
        }
        if self.table.len() >= VM_LIMIT || self.bytes + memory > VM_BYTES {
            self.table.clear();
            self.bytes = 0;
        }
        self.bytes += memory;
        self.table.insert(regexp.0.hash, regexp.clone());
    }
}

/// Searches have made a regexp large: it belongs to its objects alone from here on.
pub fn grew(cx: &mut Cx, regexp: &SharedRegexp) {
    if regexp.memory() > VM_BYTES / 8 {
        cx.state::<Known>().table.remove(&regexp.0.hash);
    }
}

fn key(source: &[u8], flags: RegexFlags, enc: Encoding) -> u64 {
    hash_bytes(source) ^ (u64::from(flags.bits()) << 8 | u64::from(enc.id())).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Why there is no compiled regexp.
pub enum Failure {
    Regexp(RegexpError),
    /// The VM was interrupted meanwhile.
    Stopped(Exc),
}

/// The compiled regexp of a source. Passes safepoints while it compiles: `source` must be nothing that Ruby code can change.
///
/// # Errors
/// What the compiler says about the source, or what happened at a safepoint.
pub fn compile(cx: &mut Cx, source: &[u8], flags: RegexFlags, enc: Encoding) -> Result<SharedRegexp, Failure> {
    at_safepoints(cx, |cx, go_on| find(cx, source, flags, enc, go_on))
}

/// What looks like a mistake in a pattern that compiles, in Ruby's wording.
///
/// # Errors
/// As [`compile`].
pub fn warnings(cx: &mut Cx, source: &[u8], flags: RegexFlags, enc: Encoding, warns: Warns) -> Result<Vec<String>, Failure> {
    at_safepoints(cx, |cx, go_on| Regexp::check(source, flags, enc, warns, &mut || go_on(cx)))
}

fn at_safepoints<T>(cx: &mut Cx, work: impl FnOnce(&mut Cx, GoOn<'_>) -> Result<T, RegexpError>) -> Result<T, Failure> {
    let mut stopped = None;
    let made = work(cx, &mut |cx| match cx.safepoint() {
        Ok(()) => true,
        Err(e) => {
            stopped = Some(e);
            false
        }
    });
    match stopped {
        Some(e) => Err(Failure::Stopped(e)),
        None => made.map_err(Failure::Regexp),
    }
}

/// As [`compile`], where no Ruby code may run.
///
/// # Errors
/// What the compiler says about the source.
pub fn compile_at_once(cx: &mut Cx, source: &[u8], flags: RegexFlags, enc: Encoding) -> Result<SharedRegexp, RegexpError> {
    find(cx, source, flags, enc, &mut |_| true)
}

type GoOn<'a> = &'a mut dyn FnMut(&mut Cx) -> bool;

fn find(cx: &mut Cx, source: &[u8], flags: RegexFlags, enc: Encoding, go_on: GoOn<'_>) -> Result<SharedRegexp, RegexpError> {
    let hash = key(source, flags, enc);
    if let Some(known) = cx.state::<Known>().table.get(&hash)
        && known.0.answers(source, flags, enc)
    {
        return Ok(known.clone());
    }
    let regexp = from_process(hash, source, flags, enc, &mut || go_on(cx))?;
    cx.state::<Known>().add(&regexp);
    Ok(regexp)
}

fn from_process(
    hash: u64,
    source: &[u8],
    flags: RegexFlags,
    enc: Encoding,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<SharedRegexp, RegexpError> {
    let is_shared = source.len() <= SOURCE_LIMIT;
    if is_shared && let Some(found) = shard(hash).find(hash, source, flags, enc) {
        return Ok(found);
    }
    let regexp = Regexp::compile(source, flags, enc, go_on)?;
    let kept = Arc::new(Kept { regexp, enc, flags, hash, holders: AtomicUsize::new(0) });
    let held = SharedRegexp::hold(&kept);
    if is_shared {
        shard(hash).add(&kept);
    }
    Ok(held)
}
