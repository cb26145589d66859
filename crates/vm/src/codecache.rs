//! Compiled sources of the process: a file is compiled once per content, for all VMs.
//!
//! The key is the whole source with everything that compiling depends on (file name, line, options), compared in full, so that a hash
//! collision is no wrong program. Entries are immutable; past a bound per shard some are dropped (a program may start VMs with ever new texts),
//! which only costs another compilation. Evals don't come here.
//!
//! Shared state: one map per shard behind a lock that is held for a lookup or an insertion, never while compiling. Two VMs that miss at the same time
//! both compile; the first one's result stays.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, OnceLock};
use zakuro_compiler::{Compiled, Options, SyntaxError};

struct Entry {
    source: Arc<[u8]>,
    file: Box<str>,
    line: u32,
    frozen: Option<bool>,
    encoding: Option<u8>,
    wrap: zakuro_compiler::Wrap,
    main: bool,
    warn: bool,
    compiled: Compiled,
}

impl Entry {
    fn fits(&self, source: &[u8], o: &Options) -> bool {
        self.line == o.line
            && self.frozen == o.frozen_string_literal
            && self.encoding == o.encoding
            && self.wrap == o.wrap
            && self.main == o.main_script
            && self.warn == o.warn
            && *self.file == *o.file
            && *self.source == *source
    }
}

const SHARDS: usize = 16;
/// Most hash keys per shard.
const MOST: usize = 1024;
type Shard = Mutex<HashMap<u64, Vec<Entry>, FixedState>>;

fn shards() -> &'static [Shard; SHARDS] {
    static TABLE: OnceLock<[Shard; SHARDS]> = OnceLock::new();
    TABLE.get_or_init(Default::default)
}

/// Compiles a file, or finds it compiled. `options.eval` must be None.
pub fn compile(source: &[u8], options: &Options) -> Result<Compiled, SyntaxError> {
    debug_assert!(options.eval.is_none());
    let mut h = FixedState::with_seed(0x5eed).build_hasher();
    h.write(source);
    h.write(options.file.as_bytes());
    let key = h.finish();
    let shard = &shards()[key as usize % SHARDS];
    if let Some(e) = shard.lock().get(&key).and_then(|l| l.iter().find(|e| e.fits(source, options))) {
        return Ok(e.compiled.clone());
    }
    // The parser recurses: it gets the worker's own stack.
    let compiled = zakuro_sched::on_native_stack(|| zakuro_compiler::compile(source, options))?;
    let mut map = shard.lock();
    if map.len() >= MOST
        && let Some(k) = map.keys().next().copied()
    {
        map.remove(&k);
    }
    let list = map.entry(key).or_default();
    if let Some(e) = list.iter().find(|e| e.fits(source, options)) {
        return Ok(e.compiled.clone());
    }
    list.push(Entry {
        source: compiled.code.source.clone(),
        file: options.file.into(),
        line: options.line,
        frozen: options.frozen_string_literal,
        encoding: options.encoding,
        wrap: options.wrap,
        main: options.main_script,
        warn: options.warn,
        compiled: compiled.clone(),
    });
    Ok(compiled)
}
