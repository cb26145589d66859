//! The process-wide symbol table: a name has one id, equal in every VM.
//!
//! Known names cost no lock in either direction. `id -> name`: names live in leaked chunks that double in size, so an entry never moves.
//! `name -> id` of a known static name is a constant ([`sym`]); others are found in an open-addressed index that only grows: readers probe it with
//! loads alone, a new name is added under the writers' lock. An index that is too small is replaced by a copy of twice its size; readers may still
//! be in the old one, so that stays (all old ones together are smaller than the current one).
//! Symbols never die (yet), so whoever adds one is told what it costs ([`watch`]) and can be held to account for it; rejected: per-VM tables (a symbol must be equal in every VM without translation); sharded locks around hash
//! maps (`to_sym` in two VMs took 1.2 times the CPU time of two processes).

use crate::hash_seed::HashSeed;
use crate::memory;
use crate::sync::held::Mutex;
use std::cell::Cell;
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// An interned name. Bytes, not necessarily UTF-8.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Sym(pub u32);

#[derive(Clone, Copy)]
struct Name {
    bytes: &'static [u8],
    /// Id of its encoding (ids of text::encoding); UTF-8 for ASCII names.
    encoding: u8,
}

/// Ids of text::encoding.
const BINARY: u8 = 0;
const UTF_8: u8 = 1;
/// UTF-16 and UTF-32: their ASCII characters are not single bytes.
const WIDE: std::ops::RangeInclusive<u8> = 3..=8;

/// Bytes of a name's entry and of its places in the index, on the average.
const PLACE: usize = 80;
/// Called with the bytes that a new name takes, on the thread that added it. Set once, before the first VM.
static WATCH: OnceLock<fn(usize)> = OnceLock::new();

/// From now on `told` hears what each new name costs, for ever, in bytes. Later calls change nothing.
pub fn watch(told: fn(usize)) {
    let _ = WATCH.set(told);
}

thread_local! {
    /// Bytes of the names that this native thread has added: for threads that work for another one. Read and written in functions that don't suspend.
    static ADDED: Cell<usize> = const { Cell::new(0) };
}

/// Bytes that the calling thread's new names take, all in all: a thread that works for another one hands them over ([`tell`]).
#[inline(never)]
pub fn added_here() -> usize {
    ADDED.with(Cell::get)
}

/// The calling thread, or one that worked for it, has added names.
#[cold]
#[inline(never)]
pub fn tell(bytes: usize) {
    ADDED.with(|a| a.set(a.get().wrapping_add(bytes)));
    if let Some(told) = WATCH.get() {
        told(bytes);
    }
}

/// Places of the first index: for the names of the core library.
const FIRST_INDEX: usize = 1 << 14;
const FIRST_CHUNK: u32 = 4096;
const CHUNKS: usize = 20;

struct Table {
    /// Chunk k holds FIRST_CHUNK << k names. Written once under `writers`, read by anyone (Acquire).
    chunks: [AtomicPtr<OnceLock<Name>>; CHUNKS],
    /// Next free id. Written under `writers`.
    next: AtomicU32,
    /// The current index. Replaced under `writers` (Release), read by anyone (Acquire).
    index: AtomicPtr<Index>,
    /// Held while a name is added. What is asked for under it may be refused, which unwinds and frees it.
    writers: Mutex<()>,
    hash: foldhash::quality::SeedableRandomState,
}

/// As many cells; unwinds with `OutOfMemory` when there is no memory for them.
fn cells<T>(n: usize, make: impl FnMut() -> T) -> Box<[T]> {
    let mut list = Vec::new();
    memory::grow(|| list.try_reserve_exact(n).is_ok());
    list.resize_with(n, make);
    list.into_boxed_slice()
}

/// Open addressing, linear probing, at most half full. A place is 0 or `hash << 32 | id + 1`; it is written once (Release: after the name's entry).
struct Index(Box<[AtomicU64]>);

impl Index {
    fn new(places: usize) -> Index {
        Index(cells(places, || AtomicU64::new(0)))
    }

    /// The first place for `hash` where `fits` says yes; else the free place where the search ended.
    fn probe(&self, hash: u32, fits: impl Fn(Sym) -> bool) -> Result<Sym, &AtomicU64> {
        let mask = self.0.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let entry = self.0[at].load(Ordering::Acquire);
            if entry == 0 {
                return Err(&self.0[at]);
            }
            let symbol = Sym(entry as u32 - 1);
            if (entry >> 32) as u32 == hash && fits(symbol) {
                return Ok(symbol);
            }
            at = (at + 1) & mask;
        }
    }

    fn add(&self, hash: u32, symbol: Sym) {
        if let Err(place) = self.probe(hash, |_| false) {
            place.store(u64::from(hash) << 32 | u64::from(symbol.0 + 1), Ordering::Release);
        }
    }

    /// A copy of twice the size.
    fn grown(&self) -> Index {
        let index = Index::new(2 * self.0.len());
        for place in &self.0 {
            let entry = place.load(Ordering::Relaxed);
            if entry != 0 {
                index.add((entry >> 32) as u32, Sym(entry as u32 - 1));
            }
        }
        index
    }
}

/// Nobody makes a symbol meanwhile: for fork(2), whose child must not find the lock taken by a thread that it does not have.
pub fn hold() -> impl Drop {
    table().writers.lock()
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let t = Table {
            chunks: Default::default(),
            next: AtomicU32::new(0),
            index: AtomicPtr::new(Box::into_raw(Box::new(Index::new(FIRST_INDEX)))),
            writers: Mutex::new(()),
            hash: HashSeed::of_process().hasher(),
        };
        for (i, name) in sym::NAMES.iter().enumerate() {
            let s = t.intern(name.as_bytes(), UTF_8);
            assert_eq!(s.0 as usize, i, "static symbol {name} listed twice");
        }
        t
    })
}

fn locate(id: u32) -> (usize, usize, usize) {
    // Chunk k starts at FIRST_CHUNK * (2^k - 1).
    let k = (id / FIRST_CHUNK + 1).ilog2() as usize;
    let start = FIRST_CHUNK * ((1 << k) - 1);
    (k, (id - start) as usize, (FIRST_CHUNK as usize) << k)
}

impl Table {
    /// Entry of an id below `next`.
    fn slot(&self, id: u32) -> &OnceLock<Name> {
        let (k, i, _) = locate(id);
        let chunk = self.chunks[k].load(Ordering::Acquire);
        assert!(!chunk.is_null(), "no symbol has the number {id}");
        // SAFETY: chunk k was leaked with more than i entries.
        unsafe { &*chunk.add(i) }
    }

    fn index(&self) -> &Index {
        // SAFETY: never null, and no index is ever freed.
        unsafe { &*self.index.load(Ordering::Acquire) }
    }

    fn intern(&self, bytes: &[u8], encoding: u8) -> Sym {
        let mut h = self.hash.build_hasher();
        h.write(bytes);
        let hash = h.finish();
        let hash = (hash ^ hash >> 32) as u32;
        let fits = |s: Sym| self.slot(s.0).get().is_some_and(|n| n.encoding == encoding && n.bytes == bytes);
        if let Ok(known) = self.index().probe(hash, fits) {
            return known;
        }
        // Copied before the lock is taken: whoever finds no memory for a name of any length must not keep it from others.
        let mut name = Vec::new();
        memory::grow(|| name.try_reserve_exact(bytes.len()).is_ok());
        name.extend_from_slice(bytes);
        let writing = self.writers.lock();
        let mut index = self.index();
        // Another thread may have added it.
        if let Ok(known) = index.probe(hash, fits) {
            return known;
        }
        let id = self.next.load(Ordering::Relaxed);
        if id as usize >= index.0.len() / 2 {
            index = Box::leak(Box::new(index.grown()));
            self.index.store(std::ptr::from_ref(index).cast_mut(), Ordering::Release);
        }
        let (k, _, size) = locate(id);
        if self.chunks[k].load(Ordering::Relaxed).is_null() {
            let chunk = cells(size, OnceLock::new);
            self.chunks[k].store(Box::leak(chunk).as_mut_ptr(), Ordering::Release);
        }
        let _ = self.slot(id).set(Name { bytes: name.leak(), encoding });
        self.next.store(id + 1, Ordering::Release);
        index.add(hash, Sym(id));
        drop(writing);
        tell(bytes.len().next_multiple_of(16) + PLACE);
        Sym(id)
    }
}

impl Sym {
    /// The symbol of a UTF-8 (or ASCII) name.
    pub fn intern(name: &str) -> Sym {
        table().intern(name.as_bytes(), UTF_8)
    }

    /// The symbol of a name in any bytes. Names that are not valid UTF-8 are binary.
    pub fn intern_bytes(name: &[u8]) -> Sym {
        let utf8 = std::str::from_utf8(name).is_ok();
        table().intern(name, if utf8 { UTF_8 } else { BINARY })
    }

    /// The symbol of a name in an encoding. Two names of the same bytes in different encodings are two symbols, unless they are ASCII.
    pub fn intern_in(name: &[u8], encoding: u8) -> Sym {
        let wide = WIDE.contains(&encoding);
        if encoding == UTF_8 || (!wide && name.is_ascii()) { Sym::intern_bytes(name) } else { table().intern(name, encoding) }
    }

    /// The symbol of this name between two others, in its encoding.
    pub fn with(self, before: &[u8], behind: &[u8]) -> Sym {
        Sym::intern_in(&[before, self.bytes(), behind].concat(), self.encoding())
    }

    /// The path of a constant of this name in a module of that one: in the encoding of the part that is not ASCII.
    pub fn within(self, module: Sym) -> Sym {
        let encoding = if self.bytes().is_ascii() { module.encoding() } else { self.encoding() };
        Sym::intern_in(&[module.bytes(), b"::", self.bytes()].concat(), encoding)
    }

    /// Id of the name's encoding; UTF-8 for ASCII names.
    pub fn encoding(self) -> u8 {
        table().slot(self.0).get().map_or(UTF_8, |n| n.encoding)
    }

    /// The name's bytes.
    pub fn bytes(self) -> &'static [u8] {
        table().slot(self.0).get().map_or(b"", |n| n.bytes)
    }

    /// Whether the name is bytes without an encoding: not valid UTF-8.
    pub fn is_binary(self) -> bool {
        table().slot(self.0).get().is_some_and(|n| n.encoding == BINARY)
    }

    /// The name as text, broken bytes replaced.
    pub fn name(self) -> std::borrow::Cow<'static, str> {
        match std::str::from_utf8(self.bytes()) {
            Ok(name) => name.into(),
            Err(_) => String::from_utf8_lossy(self.bytes()),
        }
    }

    /// Number of symbols so far.
    pub fn count() -> u32 {
        table().next.load(Ordering::Acquire)
    }
}

impl std::fmt::Debug for Sym {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, ":{}", self.name())
    }
}

impl std::fmt::Display for Sym {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}

macro_rules! static_symbols {
    ($($id:ident = $name:literal),* $(,)?) => {
        /// Names that Rust code asks for, interned first, so that their ids are constants.
        #[allow(non_upper_case_globals)]
        pub mod sym {
            use super::Sym;
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            enum Id { $($id),* }
            $(pub const $id: Sym = Sym(Id::$id as u32);)*
            pub const NAMES: &[&str] = &[$($name),*];
        }
    };
}

static_symbols! {
    empty = "", initialize = "initialize", new = "new", allocate = "allocate", inherited = "inherited",
    method_missing = "method_missing", respond_to = "respond_to?", respond_to_missing = "respond_to_missing?",
    add = "+", sub = "-", mul = "*", div = "/", modulo = "%", pow = "**", lt = "<", le = "<=", gt = ">", ge = ">=",
    eq = "==", neq = "!=", eqq = "===", cmp = "<=>", match_op = "=~", nmatch = "!~", not = "!", tilde = "~",
    shl = "<<", shr = ">>", and = "&", or = "|", xor = "^", uminus = "-@", uplus = "+@", aref = "[]", aset = "[]=",
    length = "length", size = "size", empty_p = "empty?", nil_p = "nil?", succ = "succ", each = "each", times = "times",
    map = "map", call = "call", yield_ = "yield", to_s = "to_s", to_str = "to_str", to_a = "to_a", to_ary = "to_ary",
    to_i = "to_i", to_int = "to_int", to_f = "to_f", to_r = "to_r", to_c = "to_c", to_h = "to_h", to_hash = "to_hash",
    to_sym = "to_sym", to_proc = "to_proc", to_path = "to_path", to_io = "to_io", to_open = "to_open",
    inspect = "inspect", hash = "hash", eql = "eql?", equal = "equal?", coerce = "coerce", dup = "dup", clone = "clone",
    initialize_copy = "initialize_copy", initialize_dup = "initialize_dup", initialize_clone = "initialize_clone",
    freeze = "freeze", frozen_p = "frozen?", class = "class", superclass = "superclass", send = "send",
    dunder_send = "__send__", public_send = "public_send", object_id = "object_id", dunder_id = "__id__",
    instance_eval = "instance_eval", instance_exec = "instance_exec", raise = "raise", fail = "fail", exception = "exception",
    message = "message", full_message = "full_message", detailed_message = "detailed_message", backtrace = "backtrace",
    set_backtrace = "set_backtrace", cause = "cause", backtrace_locations = "backtrace_locations",
    included = "included", extended = "extended", prepended = "prepended", append_features = "append_features",
    extend_object = "extend_object", prepend_features = "prepend_features", method_added = "method_added",
    method_removed = "method_removed", method_undefined = "method_undefined",
    singleton_method_added = "singleton_method_added", singleton_method_removed = "singleton_method_removed",
    singleton_method_undefined = "singleton_method_undefined", const_missing = "const_missing", const_added = "const_added",
    first = "first", last = "last", begin = "begin", end = "end", key_p = "key?", default = "default", fetch = "fetch",
    deconstruct = "deconstruct", deconstruct_keys = "deconstruct_keys", each_pair = "each_pair", keys = "keys",
    values = "values", write = "write", puts = "puts", print = "print", p = "p", join = "join", name = "name",
    join_op = "concat", to_enum = "to_enum", next = "next", rewind = "rewind", rand = "rand", lambda = "lambda",
    proc = "proc", block_given = "block_given?", binding = "binding", eval = "eval", local_variables = "local_variables",
    backtick = "`", divmod = "divmod", fdiv = "fdiv", quo = "quo", abs = "abs", floor = "floor", ceil = "ceil", round = "round",
    truncate = "truncate", zero_p = "zero?", even_p = "even?", odd_p = "odd?", push = "push", pop = "pop", shift = "shift",
    unshift = "unshift", insert = "insert", min = "min", max = "max", include_p = "include?", sum = "sum", upto = "upto", downto = "downto", step = "step",
    is_a = "is_a?", kind_of = "kind_of?", instance_of = "instance_of?", require = "require",
    require_relative = "require_relative", load = "load", attr_reader = "attr_reader", attr_writer = "attr_writer",
    attr_accessor = "attr_accessor", private = "private", public = "public", protected = "protected",
    module_function = "module_function", define_method = "define_method", include = "include", extend = "extend",
    prepend = "prepend", main = "main", dunder_method = "__method__", exit = "exit", abort = "abort", status = "status",
    success_p = "success?", signo = "signo", errno = "errno", key = "key", receiver = "receiver", result = "result",
    reason = "reason", exit_value = "exit_value", marshal_dump = "marshal_dump", marshal_load = "marshal_load",
    underscore_dump = "_dump", underscore_load = "_load", it = "it", args = "args", start = "start", recv = "recv",
    lastmatch = "$~", lastline = "$_", errinfo = "$!", errat = "$@", stdout = "$stdout", stderr = "$stderr", stdin = "$stdin",
    program_name = "$0", load_path = "$LOAD_PATH", loaded_features = "$LOADED_FEATURES", output_fs = "$,",
    input_rs = "$/", field_sep = "$;", verbose = "$VERBOSE", debug = "$DEBUG",
    string = "string", encoding = "encoding", half = "half", exclude_end = "exclude_end?", by = "by", to = "to", chomp = "chomp",
    base = "base", invert = "invert", mode = "mode", perm = "perm", timeout = "timeout", random = "random", highlight = "highlight",
    order = "order", keyword_init = "keyword_init", capacity = "capacity", freeze_kw = "freeze_kw", exception_kw = "exception_kw",
    anon_rest = "*_", anon_kwrest = "**_", anon_block = "&_", fwd = "...", block_var = "&block", match_var = "~match",
    enum_receiver = "@__receiver", enum_method = "@__method", enum_args = "@__args", enum_kw = "@__kw", enum_size = "@__size",
    enum_proc = "@__proc", enum_external = "__external",
    lazy_one = "@__one", lazy_from = "@__from", lazy_run = "@__run", source = "source",
    write_timeout = "write_timeout", external_encoding = "external_encoding", uplevel = "uplevel", category = "category",
    compare_by_identity = "compare_by_identity", instance_variable_get = "instance_variable_get",
    Integer = "Integer", Float = "Float", String = "String", Array = "Array", Object = "Object", Kernel = "Kernel",
    const_get = "const_get", singleton_class = "singleton_class", Comparable = "Comparable", Enumerable = "Enumerable",
    year = "year", mon = "mon", mday = "mday", hour = "hour", sec = "sec", zone = "zone", offset = "offset", wday = "wday", yday = "yday", limit = "limit", sec_fraction = "sec_fraction", cwyear = "cwyear", cweek = "cweek", cwday = "cwday", wnum0 = "wnum0", wnum1 = "wnum1", seconds = "seconds", leftover = "leftover", jd = "jd",
    set_trace_func = "set_trace_func", lineno = "lineno", getc = "getc", gets = "gets", read = "read", close = "close",
    each_entry = "each_entry", each_with_index = "each_with_index", reverse_each = "reverse_each", lazy = "lazy",
    flush = "flush", sync = "sync", ljust = "ljust", invalid = "invalid", undef = "undef", replace = "replace", fallback = "fallback",
    xml = "xml", crlf_newline = "crlf_newline", universal_newline = "universal_newline", textmode = "textmode", binmode = "binmode",
    attached = "__attached__", classpath = "__classpath__", at = "@", blank = "_", slice = "slice", sleep = "sleep", index = "index", tr = "tr",
    chars = "chars", bytes = "bytes", format = "format", sprintf = "sprintf", autoload = "autoload", at_exit = "at_exit",
    set_items = "__items", exc_message = "__message", exc_backtrace = "__backtrace", exc_locations = "__locations", exc_cause = "__cause",
    exc_raw = "__raw_backtrace", in_zone = "in", precision = "precision", buffer = "buffer", newline = "newline", cr_newline = "cr_newline", lf_newline = "lf_newline",
}

#[cfg(test)]
#[path = "symbol_tests.rs"]
mod tests;
