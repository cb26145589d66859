//! GC::Profiler: a record per collection, which the heap keeps while it is enabled.

use zakuro_heap::{BLOCK_SIZE, Record};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Records that are kept unless `configure` says otherwise: what they take is nobody's to count.
const MOST: usize = 10_000;

#[derive(Trace, Default)]
struct Profile {
    enabled: bool,
    /// 0: as many as there may be.
    most: usize,
    /// Records of finished periods, and the number of the first collection since the last `clear`.
    #[untraced]
    kept: Vec<Record>,
    /// When counting began.
    #[untraced]
    began: Option<std::time::Instant>,
    /// Collections before this one are forgotten.
    from: u64,
}
impl VmState for Profile {}

impl Profile {
    fn most(&self) -> usize {
        if self.most == 0 { MOST } else { self.most.min(MOST) }
    }
}

/// What is known, the oldest first; numbers count from the last `clear`.
fn records(cx: &mut Cx) -> Vec<Record> {
    let new = cx.heap.records();
    let p = cx.state::<Profile>();
    let (most, from) = (p.most(), p.from);
    let mut all: Vec<Record> = p.kept.iter().chain(&new).filter(|r| r.number >= from).copied().collect();
    all.drain(..all.len().saturating_sub(most));
    all
}

/// What `total_time` and `result` are about.
fn shown(cx: &mut Cx) -> Vec<Record> {
    if cx.state::<Profile>().enabled { records(cx) } else { Vec::new() }
}

/// Seconds that a collection took.
fn seconds(r: &Record) -> f64 {
    (r.mark + r.sweep).as_secs_f64()
}

fn raw(cx: &mut Cx, r: &Record, began: std::time::Instant, from: u64) -> Result<Value> {
    let sym = |s: &str| Value::sym(Sym::intern(s));
    let flags = cx.new_hash();
    let word = |w: Option<&'static str>| w.map_or(Value::NIL, sym);
    for (name, v) in [
        ("major_by", word(r.reason.full)),
        ("gc_by", word(r.reason.by)),
        ("have_finalizer", Value::FALSE),
        ("immediate_sweep", Value::bool(r.reason.swept)),
    ] {
        cx.hash_set(flags, sym(name), v)?;
    }
    let h = cx.new_hash();
    cx.hash_set(h, sym("GC_FLAGS"), flags.as_value())?;
    let float = |cx: &mut Cx, name: &str, v: f64| {
        let v = cx.float(v);
        cx.hash_set(h, sym(name), v)
    };
    let number = |cx: &mut Cx, name: &str, n: u64| {
        let v = cx.int(n as i64);
        cx.hash_set(h, sym(name), v)
    };
    let pause = r.pause.max(r.mark).as_secs_f64();
    number(cx, "GC_SEQUENCE", r.number - from)?;
    float(cx, "GC_TIME", seconds(r))?;
    float(cx, "GC_INVOKE_TIME", r.cpu.as_secs_f64())?;
    float(cx, "GC_WALL_TIME", seconds(r))?;
    float(cx, "GC_INVOKE_WALL_TIME", r.began.saturating_duration_since(began).as_secs_f64())?;
    // Nobody else has to be stopped for it.
    float(cx, "GC_PAUSE_TIME", pause.max(seconds(r)))?;
    float(cx, "GC_STOP_TIME", 0.0)?;
    float(cx, "GC_STW_TIME", pause.max(seconds(r)))?;
    float(cx, "GC_MARK_WALL_TIME", r.mark.as_secs_f64())?;
    float(cx, "GC_SWEEP_WALL_TIME", r.sweep.as_secs_f64())?;
    float(cx, "GC_COMPACT_WALL_TIME", 0.0)?;
    number(cx, "HEAP_USE_SIZE", r.live_bytes as u64)?;
    number(cx, "HEAP_TOTAL_SIZE", (r.blocks * BLOCK_SIZE) as u64)?;
    number(cx, "HEAP_TOTAL_OBJECTS", r.cells as u64)?;
    number(cx, "MOVED_OBJECTS", 0)?;
    cx.hash_set(h, sym("GC_IS_MARKED"), Value::TRUE)?;
    Ok(h.as_value())
}

/// A limit or number among keywords: nil stands for none.
fn keyword(cx: &mut Cx, kw: Kwargs, name: Sym) -> Result<Option<i64>> {
    match kw.get(name) {
        None | Some(Value::NIL) => Ok(None),
        Some(v) => {
            let n = cx.to_int(v)?;
            Ok(Some(n.as_fixnum().unwrap_or(i64::MAX)))
        }
    }
}

/// Keeps a record of each collection, while it is enabled.
#[ruby_class(ids::GC_PROFILER)]
pub mod gc_profiler {
    use super::*;

    /// Whether records are kept.
    ///
    ///     GC::Profiler.enabled?   #=> false
    #[method("enabled?", singleton)]
    fn is_enabled(cx: &mut Cx, _this: Value) -> bool {
        cx.state::<Profile>().enabled
    }

    /// Starts keeping records.
    ///
    ///     GC::Profiler.enable; GC.start; GC::Profiler.total_time > 0   #=> true
    #[method("enable", singleton)]
    fn enable(cx: &mut Cx, _this: Value) {
        let p = cx.state::<Profile>();
        p.enabled = true;
        p.began.get_or_insert_with(std::time::Instant::now);
        let most = p.most();
        cx.heap.keep_records(most);
    }

    /// Stops; what was recorded stays, and is shown again once it is enabled.
    ///
    ///     GC::Profiler.disable   #=> nil
    #[method("disable", singleton)]
    fn disable(cx: &mut Cx, _this: Value) {
        let all = records(cx);
        cx.heap.keep_no_records();
        let p = cx.state::<Profile>();
        (p.enabled, p.kept) = (false, all);
    }

    /// Forgets what was recorded.
    ///
    ///     GC::Profiler.clear; GC::Profiler.total_time   #=> 0.0
    #[method("clear", singleton)]
    fn clear(cx: &mut Cx, _this: Value) {
        let from = cx.heap.stats().collections;
        let p = cx.state::<Profile>();
        (p.from, p.kept) = (from, Vec::new());
        let (on, most) = (p.enabled, p.most());
        cx.heap.keep_no_records();
        if on {
            cx.heap.keep_records(most);
        }
    }

    /// Says how many records are kept, the last ones; nil: as many as possible, which are 10,000.
    ///
    ///     GC::Profiler.configure(max_records: 100)         #=> nil
    ///     (GC::Profiler.configure(max_records: 0) rescue $!.message)   #=> "max_records must be positive or nil"
    #[method("configure", singleton)]
    fn configure(cx: &mut Cx, _this: Value, kw: Kwargs) -> Result<Value> {
        let name = Sym::intern("max_records");
        kw.only(cx, &[name])?;
        if kw.get(name).is_some() {
            let most = match keyword(cx, kw, name)? {
                None => 0,
                Some(n) if n <= 0 => return cx.arg_error("max_records must be positive or nil"),
                Some(n) => n as usize,
            };
            let p = cx.state::<Profile>();
            p.most = most;
            let (on, most) = (p.enabled, p.most());
            if on {
                cx.heap.keep_records(most);
            }
        }
        Ok(Value::NIL)
    }

    /// The records, a Hash each; of those after number `since:`, the last `limit:` ones. nil while it is not enabled.
    ///
    ///     GC::Profiler.enable; GC.start; GC::Profiler.raw_data.last[:GC_FLAGS][:gc_by]   #=> :method
    #[method("raw_data", singleton)]
    fn raw_data(cx: &mut Cx, _this: Value, kw: Kwargs) -> Result<Value> {
        let [since, limit] = ["since", "limit"].map(Sym::intern);
        kw.only(cx, &[since, limit])?;
        let since = keyword(cx, kw, since)?;
        let limit = keyword(cx, kw, limit)?;
        if limit.is_some_and(|n| n < 0) {
            return cx.arg_error("limit must be non-negative");
        }
        let Profile { enabled: true, began: Some(began), .. } = *cx.state::<Profile>() else { return Ok(Value::NIL) };
        let from = cx.state::<Profile>().from;
        let mut all = records(cx);
        all.retain(|r| since.is_none_or(|n| (r.number - from) as i64 > n));
        let surplus = limit.map_or(0, |n| all.len().saturating_sub(n as usize));
        let list = cx.new_array();
        for r in &all[surplus..] {
            let one = raw(cx, r, began, from)?;
            ArrayCell::push(list, &mut cx.heap, one);
        }
        Ok(list.as_value())
    }

    /// Seconds that the recorded collections took; 0.0 while it is not enabled.
    ///
    ///     GC::Profiler.total_time.class   #=> Float
    #[method("total_time", singleton)]
    fn total_time(cx: &mut Cx, _this: Value) -> f64 {
        // The sum of no floats is -0.0.
        shown(cx).iter().map(seconds).fold(0.0, |all, one| all + one)
    }

    /// A text with the records; empty when there are none, and while it is not enabled.
    ///
    ///     GC::Profiler.clear; GC::Profiler.result   #=> ""
    #[method("result", singleton)]
    fn result(cx: &mut Cx, _this: Value) -> String {
        use std::fmt::Write;
        let all = shown(cx);
        if all.is_empty() {
            return String::new();
        }
        let count = cx.heap.stats().collections;
        let mut out = format!("GC {count} invokes.\n");
        out.push_str("Index    Invoke Time(sec)       Use Size(byte)     Total Size(byte)         Total Object                    GC Time(ms)\n");
        for (i, r) in all.iter().enumerate() {
            let (at, total) = (r.cpu.as_secs_f64(), r.blocks * BLOCK_SIZE);
            let _ = writeln!(out, "{:5} {at:19.3} {:20} {total:20} {:20} {:30.20}", i + 1, r.live_bytes, r.cells, seconds(r) * 1e3);
        }
        out
    }

    /// Writes `result` to a stream, `$stdout` when none is given.
    ///
    ///     GC::Profiler.clear; GC::Profiler.report   #=> nil
    #[method("report", singleton)]
    fn report(cx: &mut Cx, this: Value, to: Option<Value>) -> Result<()> {
        let text = result(cx, this);
        let text = cx.str(&text);
        let out = match to {
            Some(io) => io,
            None => cx.global_get(sym::stdout)?,
        };
        cx.call(out, sym::write, &[text])?;
        Ok(())
    }
}
