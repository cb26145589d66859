//! Compiled regexps, shared: each source is compiled once per process, and found again without a lock inside a VM.
//!
//! Two levels. A VM remembers what it has used (so that `Regexp.new` and `/#{x}/` in a loop stay off the lock); behind it stands one
//! process-wide table. Its entries are immutable and name no VM; it holds at most `SHARDS * SHARD_LIMIT` entries of bounded source size.
//! Rejected: compiling per VM (thousands of VMs load the same program: compilation would dominate their start).

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use zakuro_macros::Trace;
use zakuro_base::sync::held::Mutex;
use zakuro_text::encoding::Encoding;
use zakuro_text::regexp::{Regexp, RegexpError, RegexFlags};
use zakuro_vm::equality::hash_bytes;
use zakuro_vm::{Cx, Exc, VmState};

const SHARDS: usize = 16;
const SHARD_LIMIT: usize = 512;
/// Longer sources are compiled for their maker alone.
const SOURCE_LIMIT: usize = 16 * 1024;
const VM_LIMIT: usize = 256;

/// What was asked for, and the answer. The source is the regexp's.
struct Entry {
    flags: RegexFlags,
    enc: Encoding,
    regexp: Arc<Regexp>,
}

impl Entry {
    fn answers(&self, source: &[u8], flags: RegexFlags, enc: Encoding) -> bool {
        self.flags == flags && self.enc == enc && self.regexp.source() == source
    }
}

/// By hash of the key; of two keys with one hash the later replaces the earlier.
type Table = HashMap<u64, Entry>;

/// Any VM's thread may lock a shard, for one lookup or one insertion; nothing is compiled while it is held.
struct Shared {
    shards: [Mutex<Table>; SHARDS],
}

fn shared() -> &'static Shared {
    static REGEXPS: OnceLock<Shared> = OnceLock::new();
    REGEXPS.get_or_init(|| Shared { shards: Default::default() })
}

#[derive(Trace, Default)]
struct Known(#[untraced] Table);
impl VmState for Known {}

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
pub fn compile(cx: &mut Cx, source: &[u8], flags: RegexFlags, enc: Encoding) -> Result<Arc<Regexp>, Failure> {
    let mut stopped = None;
    let made = find(cx, source, flags, enc, &mut |cx| match cx.safepoint() {
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
pub fn compile_at_once(cx: &mut Cx, source: &[u8], flags: RegexFlags, enc: Encoding) -> Result<Arc<Regexp>, RegexpError> {
    find(cx, source, flags, enc, &mut |_| true)
}

type GoOn<'a> = &'a mut dyn FnMut(&mut Cx) -> bool;

fn find(cx: &mut Cx, source: &[u8], flags: RegexFlags, enc: Encoding, go_on: GoOn<'_>) -> Result<Arc<Regexp>, RegexpError> {
    let hash = key(source, flags, enc);
    if let Some(e) = cx.state::<Known>().0.get(&hash)
        && e.answers(source, flags, enc)
    {
        return Ok(e.regexp.clone());
    }
    let regexp = from_process(hash, source, flags, enc, &mut || go_on(cx))?;
    let known = &mut cx.state::<Known>().0;
    if known.len() >= VM_LIMIT {
        known.clear();
    }
    // What is large is its objects' alone: it would stay when they are gone.
    if source.len() <= SOURCE_LIMIT {
        known.insert(hash, Entry { flags, enc, regexp: regexp.clone() });
    }
    Ok(regexp)
}

fn from_process(
    hash: u64,
    source: &[u8],
    flags: RegexFlags,
    enc: Encoding,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Arc<Regexp>, RegexpError> {
    if source.len() > SOURCE_LIMIT {
        return Regexp::compile(source, flags, enc, go_on).map(Arc::new);
    }
    let shard = &shared().shards[(hash >> 60) as usize % SHARDS];
    let lock = || shard.lock();
    if let Some(e) = lock().get(&hash)
        && e.answers(source, flags, enc)
    {
        return Ok(e.regexp.clone());
    }
    let regexp = Arc::new(Regexp::compile(source, flags, enc, go_on)?);
    let mut table = lock();
    if table.len() >= SHARD_LIMIT {
        // What no VM holds goes first.
        table.retain(|_, e| Arc::strong_count(&e.regexp) > 1);
        if table.len() >= SHARD_LIMIT {
            table.clear();
        }
    }
    table.insert(hash, Entry { flags, enc, regexp: regexp.clone() });
    Ok(regexp)
}
