//! GC and ObjectSpace; weak maps are in `maps`.
//!
//! Weak tables belong to the VM and are not traced: the collector asks them, between marking and sweeping, to drop what died ([`VmState::sweep`]).

use zakuro_core_collections::enumerator::EnumeratorExt;
use std::collections::HashMap;
use zakuro_macros::{Trace, ruby_class};
use zakuro_heap::BLOCK_SIZE;
use zakuro_object::{Header, HashTable};
use zakuro_vm::*;

mod figures;
mod maps;

pub static TABLES: &[&[MethodRow]] =
    &[gc::METHODS, figures::gc::METHODS, profiler::METHODS, object_space::METHODS, maps::weak_map::METHODS, maps::weak_key_map::METHODS];

pub fn setup(cx: &mut Cx) {
    let _ = cx.include_module(ids::WEAK_MAP, ids::ENUMERABLE);
}

/// Whether a value is no cell, or a cell that outlives this collection.
fn alive(heap: &Heap, v: Value) -> bool {
    !v.is_cell() || heap.is_marked_or_new(v.bits() as *mut Header)
}

/// Drops entries; positions of the others may change. True: some went.
fn retain(t: &mut HashTable, keep: impl Fn(Value, Value) -> bool) -> bool {
    let before = t.len();
    // Positions stay while this goes on.
    t.iterating += 1;
    for i in t.first_slot()..t.slots() {
        if t.entry(i).is_some_and(|e| !keep(e.key, e.value)) {
            t.remove_at(i);
        }
    }
    t.iterating -= 1;
    if t.len() < t.slots() / 2 {
        t.compact();
    }
    t.len() != before
}

/// Entries of a WeakMap in the order of their making, found by what the key is.
#[derive(Default)]
struct WeakPairs(HashTable);

impl WeakPairs {
    fn code(key: Value) -> u64 {
        zakuro_base::HashSeed::of_process().word(key.bits())
    }
    fn find(&self, key: Value) -> Option<usize> {
        self.0.find(Self::code(key), |k| k == key)
    }
    fn get(&self, key: Value) -> Option<Value> {
        self.0.entry(self.find(key)?).map(|e| e.value)
    }
    fn set(&mut self, key: Value, value: Value) {
        match self.find(key) {
            Some(i) => self.0.set_value(i, value),
            None => drop(self.0.push(Self::code(key), key, value)),
        }
    }
    fn delete(&mut self, key: Value) -> Option<Value> {
        self.find(key).map(|i| self.0.remove_at(i).value)
    }
    fn pairs(&self) -> impl Iterator<Item = (Value, Value)> {
        self.0.iter().map(|e| (e.key, e.value))
    }
}

/// Entries of a WeakKeyMap.
#[derive(Default)]
struct WeakKeys {
    table: HashTable,
    /// Copied with the program state of another VM: hash codes that depend on addresses are not true any more.
    stale: bool,
    /// Grows when entries change their places, which a collection may bring about.
    moves: u64,
}

/// Entries of weak maps by the map's address, and finalizers.
#[derive(Default)]
struct Weak {
    /// Compared by identity; an entry goes when key or value dies.
    maps: HashMap<usize, WeakPairs>,
    /// Compared by `eql?` with the stored hash code; an entry goes when its key dies.
    key_maps: HashMap<usize, WeakKeys>,
    /// Object and its finalizers with the object's id.
    finalizers: Vec<(Value, Value, TracedVec)>,
    /// Finalizers of objects that died.
    due: Vec<(Value, Value)>,
    at_exit: bool,
    stress: bool,
    measure: bool,
}
impl Trace for Weak {
    /// Written out: weak maps keep nothing, those by key their values, and finalizers not the object that they are for.
    fn trace(&self, m: &mut Marker<'_>) {
        let Weak { maps: _, key_maps, finalizers, due, at_exit: _, stress: _, measure: _ } = self;
        key_maps.values().flat_map(|m| m.table.iter()).for_each(|e| e.value.trace(m));
        for (_object, id, procs) in finalizers {
            id.trace(m);
            procs.trace(m);
        }
        due.trace(m);
    }
}
impl VmState for Weak {
    fn sweep(&mut self, heap: &Heap) {
        self.maps.retain(|p, _| heap.is_marked_or_new(*p as *mut Header));
        for m in self.maps.values_mut() {
            retain(&mut m.0, |k, v| alive(heap, k) && alive(heap, v));
        }
        self.key_maps.retain(|p, _| heap.is_marked_or_new(*p as *mut Header));
        for m in self.key_maps.values_mut() {
            m.moves += u64::from(retain(&mut m.table, |k, _| alive(heap, k)));
        }
        let due = &mut self.due;
        self.finalizers.retain(|(object, id, procs)| {
            let live = alive(heap, *object);
            if !live {
                due.extend(procs.iter().map(|p| (*p, *id)));
            }
            live
        });
    }
    /// Weak maps go along into a spawned VM; finalizers stay with the objects of this one. Values: map, key, value by turns, key maps behind.
    fn snapshot(&self, values: &mut Gathered) -> Option<Restore> {
        if self.maps.is_empty() && self.key_maps.is_empty() {
            return None;
        }
        // SAFETY: the maps of cells that died were swept.
        let cell = |map: &usize| unsafe { Value::from_bits(*map as u64) };
        for (map, m) in &self.maps {
            m.pairs().for_each(|(k, v)| values.extend([cell(map), k, v]));
        }
        let pairs = values.len();
        for (map, m) in &self.key_maps {
            m.table.iter().for_each(|e| values.extend([cell(map), e.key, e.value]));
        }
        Some(std::sync::Arc::new(move |cx, values| {
            let w = cx.state::<Weak>();
            for (i, e) in values.chunks_exact(3).enumerate() {
                if i * 3 < pairs {
                    w.maps.entry(e[0].bits() as usize).or_default().set(e[1], e[2]);
                } else {
                    let m = w.key_maps.entry(e[0].bits() as usize).or_default();
                    m.table.push(0, e[1], e[2]);
                    m.stale = true;
                }
            }
        }))
    }
}

/// Collects what is young, or, unless `full_mark: false`, everything; then runs the finalizers of what died.
fn collect(cx: &mut Cx, kw: Kwargs) -> Result<()> {
    let full = kw.get(Sym::intern("full_mark")).is_none_or(|v| v.truthy());
    if cx.options.gc_never {
    } else if full {
        cx.collect();
    } else {
        cx.collect_minor();
    }
    run_due(cx)
}
fn run_due(cx: &mut Cx) -> Result<()> {
    while let Some((p, id)) = cx.state::<Weak>().due.pop() {
        // What a finalizer raises ends only that one.
        if let Err(e) = cx.rescue(&[ids::EXCEPTION], |cx| cx.call(p, sym::call, &[id]))? {
            let shown = cx.inspect_text(p)?;
            let report = cx.call(e, Sym::intern("full_message"), &[])?;
            let report = cx.to_s(report)?.to_text().trim_end().to_string();
            cx.warn_at(None, &format!("Exception in finalizer {shown}\n{report}"))?;
        }
    }
    Ok(())
}
/// At the end of the program all finalizers run, those too that finalizers define meanwhile.
fn run_all(cx: &mut Cx, _data: Value, _args: Args) -> Result<Value> {
    loop {
        let all = std::mem::take(&mut cx.state::<Weak>().finalizers);
        if all.is_empty() {
            return Ok(Value::NIL);
        }
        for (_, id, procs) in all {
            for p in &procs {
                cx.state::<Weak>().due.push((*p, id));
            }
        }
        run_due(cx)?;
    }
}

/// Whether a finalizer keeps its object alive as its receiver.
fn holds(cx: &mut Cx, finalizer: Value, object: Value) -> Result<bool> {
    if let Some(p) = Ref::<ProcCell>::from_value(finalizer) {
        return Ok(p.self_ == object);
    }
    Ok(finalizer.is_kind(Kind::MethodObj) && cx.call(finalizer, Sym::intern("receiver"), &[])? == object)
}

/// Figures for `GC.stat`.
fn figures(cx: &mut Cx) -> Vec<(&'static str, i64)> {
    let s = cx.heap.stats();
    // Frozen graphs received from other VMs, or sent on: memory that several VMs may count.
    let (regions, region_bytes) = cx.heap.region_stats();
    let slots = (s.allocated_cells as i64).max(0);
    let freed = (s.allocated_bytes as i64 - s.live_bytes as i64).max(0) / 40;
    vec![
        ("count", s.collections as i64),
        ("time", (s.gc_nanos / 1_000_000) as i64),
        ("marking_time", (s.gc_nanos / 1_000_000) as i64),
        ("sweeping_time", 0),
        ("heap_allocated_pages", (s.blocks + s.reserve_blocks) as i64),
        ("heap_empty_pages", s.reserve_blocks as i64),
        ("heap_live_slots", (slots - freed).max(0)),
        ("heap_free_slots", ((s.blocks + s.reserve_blocks) as i64 * BLOCK_SIZE as i64 - s.live_bytes as i64).max(0) / 40),
        ("heap_eden_pages", s.blocks as i64),
        ("total_allocated_pages", (s.blocks + s.reserve_blocks) as i64),
        ("total_allocated_objects", slots),
        ("total_freed_objects", freed),
        ("malloc_increase_bytes", s.payload_bytes as i64),
        ("malloc_increase_bytes_limit", s.limit as i64),
        ("minor_gc_count", (s.collections - s.full_collections) as i64),
        ("major_gc_count", s.full_collections as i64),
        ("live_bytes", s.live_bytes as i64),
        ("allocated_bytes", s.allocated_bytes as i64),
        ("last_pause_nanoseconds", s.last_pause_nanos as i64),
        ("longest_pause_nanoseconds", s.max_pause_nanos as i64),
        ("shared_regions", regions as i64),
        ("shared_region_bytes", region_bytes as i64),
    ]
}

/// The methods of GC.
#[ruby_class(ids::GC)]
mod gc {
    use super::*;

    /// Collects now: everything, or what was made since the last collection.
    ///
    ///     GC.start   #=> nil
    ///     n = GC.stat(:minor_gc_count); GC.start(full_mark: false); GC.stat(:minor_gc_count) > n   #=> true
    #[method("start", singleton)]
    fn start(cx: &mut Cx, _this: Value, kw: Kwargs) -> Result<Value> {
        collect(cx, kw)?;
        Ok(Value::NIL)
    }

    /// Number of collections so far.
    ///
    ///     a = GC.count; GC.start; GC.count > a   #=> true
    #[method("count", singleton)]
    fn count(cx: &Cx, _this: Value) -> i64 {
        cx.heap.stats().collections as i64
    }

    /// Figures of the heap, or one of them.
    ///
    ///     GC.stat[:count] == GC.stat(:count)   #=> true
    #[method("stat", singleton)]
    fn stat(cx: &mut Cx, _this: Value, what: Option<Value>) -> Result<Value> {
        let all = figures(cx);
        if let Some(s) = what.and_then(|w| w.as_sym()) {
            let name = s.name();
            return match all.iter().find(|f| f.0 == name) {
                Some(f) => Ok(cx.int(f.1)),
                None => cx.arg_error(format!("unknown key: {name}")),
            };
        }
        let h = match what {
            None | Some(Value::NIL) => cx.new_hash(),
            Some(v) => match Ref::<HashCell>::from_value(v) {
                Some(h) => h,
                None => return cx.type_error("non-hash or symbol given"),
            },
        };
        for (name, n) in all {
            let n = cx.int(n);
            cx.hash_set(h, Value::sym(Sym::intern(name)), n)?;
        }
        Ok(h.as_value())
    }

    /// Forbids collections; returns whether they were forbidden.
    ///
    ///     [GC.disable, GC.enable, GC.enable]   #=> [false, true, false]
    #[method("disable", singleton)]
    fn disable(cx: &mut Cx, _this: Value) -> bool {
        std::mem::replace(&mut cx.gc_disabled, true)
    }

    /// Allows collections again; returns whether they were forbidden.
    ///
    ///     GC.enable   #=> false
    #[method("enable", singleton)]
    fn enable(cx: &mut Cx, _this: Value) -> bool {
        std::mem::replace(&mut cx.gc_disabled, false)
    }

    /// Whether each safepoint collects.
    ///
    ///     GC.stress   #=> false
    #[method("stress", singleton)]
    fn stress(cx: &mut Cx, _this: Value) -> bool {
        cx.state::<Weak>().stress
    }

    /// Makes each safepoint collect.
    ///
    ///     GC.stress = false   #=> false
    #[method("stress=", singleton)]
    fn set_stress(cx: &mut Cx, _this: Value, on: Value) -> Value {
        cx.state::<Weak>().stress = on.truthy();
        cx.gc_stress = on.truthy() || cx.options.gc_stress;
        on
    }

    /// Nanoseconds spent in collections.
    ///
    ///     GC.total_time.class   #=> Integer
    #[method("total_time", singleton)]
    fn total_time(cx: &Cx, _this: Value) -> i64 {
        cx.heap.stats().gc_nanos as i64
    }

    /// Whether collections are timed: always.
    ///
    ///     GC.measure_total_time   #=> true
    #[method("measure_total_time", singleton)]
    fn measure_total_time(cx: &mut Cx, _this: Value) -> bool {
        !cx.state::<Weak>().measure
    }

    /// Accepted; collections are timed anyway.
    ///
    ///     GC.measure_total_time = true   #=> true
    #[method("measure_total_time=", singleton)]
    fn set_measure(cx: &mut Cx, _this: Value, on: Value) -> Value {
        cx.state::<Weak>().measure = !on.truthy();
        on
    }

    /// The settings of the collector: there are none but its name. A Hash of others is accepted, as every collector may have its own.
    ///
    ///     GC.config   #=> {implementation: "zakuro"}
    #[method("config", singleton)]
    fn config(cx: &mut Cx, _this: Value, options: Option<Value>) -> Result<Value> {
        let key = Value::sym(Sym::intern("implementation"));
        match options {
            None | Some(Value::NIL) => {}
            Some(v) => match Ref::<HashCell>::from_value(v) {
                Some(h) if cx.hash_get(h, key)?.is_some() => {
                    return cx.arg_error("Attempting to set read-only key \"Implementation\"");
                }
                Some(_) => {}
                None => return cx.arg_error("ArgumentError"),
            },
        }
        let (h, name) = (cx.new_hash(), cx.str("zakuro"));
        cx.hash_set(h, key, name)?;
        Ok(h.as_value())
    }

    /// Cells don't move: there is nothing to compact.
    #[method("compact", singleton)]
    #[method("auto_compact", singleton)]
    #[method("latest_compact_info", singleton)]
    fn compact(cx: &mut Cx, _this: Value) -> Result<Value> {
        cx.raise(ids::NOT_IMPLEMENTED_ERROR, "compaction is unimplemented on this machine")
    }
    /// As `compact`.
    #[method("auto_compact=", singleton)]
    fn set_auto_compact(cx: &mut Cx, this: Value, _on: Value) -> Result<Value> {
        compact(cx, this)
    }

    /// Collects now (for objects that extend GC).
    ///
    ///     Object.new.extend(GC).garbage_collect   #=> nil
    #[method("garbage_collect")]
    fn garbage_collect(cx: &mut Cx, _this: Value, kw: Kwargs) -> Result<Value> {
        collect(cx, kw)?;
        Ok(Value::NIL)
    }
}

/// What GC::Profiler counts from.
#[derive(Trace, Default)]
struct Profile {
    enabled: bool,
    /// Collections and nanoseconds of finished periods, and the readings at the start of the running one.
    collections: u64,
    nanos: u64,
    from: (u64, u64),
}
impl VmState for Profile {}

/// Collections and nanoseconds that the profiler has seen.
fn profile(cx: &mut Cx) -> (u64, u64) {
    let s = cx.heap.stats();
    let p = cx.state::<Profile>();
    let running = if p.enabled { (s.collections - p.from.0, s.gc_nanos - p.from.1) } else { (0, 0) };
    (p.collections + running.0, p.nanos + running.1)
}

/// Counts collections and the time they take, while it is enabled.
#[ruby_class(ids::GC_PROFILER)]
mod profiler {
    use super::*;

    /// Whether it counts.
    ///
    ///     GC::Profiler.enabled?   #=> false
    #[method("enabled?", singleton)]
    fn is_enabled(cx: &mut Cx, _this: Value) -> bool {
        cx.state::<Profile>().enabled
    }

    /// Starts counting.
    ///
    ///     GC::Profiler.enable; GC.start; GC::Profiler.total_time > 0   #=> true
    #[method("enable", singleton)]
    fn enable(cx: &mut Cx, _this: Value) {
        let s = cx.heap.stats();
        let p = cx.state::<Profile>();
        if !p.enabled {
            p.enabled = true;
            p.from = (s.collections, s.gc_nanos);
        }
    }

    /// Stops counting; what was counted stays.
    ///
    ///     GC::Profiler.disable   #=> nil
    #[method("disable", singleton)]
    fn disable(cx: &mut Cx, _this: Value) {
        let (collections, nanos) = profile(cx);
        let p = cx.state::<Profile>();
        (p.enabled, p.collections, p.nanos) = (false, collections, nanos);
    }

    /// Forgets what was counted.
    ///
    ///     GC::Profiler.clear; GC::Profiler.total_time   #=> 0.0
    #[method("clear", singleton)]
    fn clear(cx: &mut Cx, _this: Value) {
        let s = cx.heap.stats();
        let p = cx.state::<Profile>();
        (p.collections, p.nanos, p.from) = (0, 0, (s.collections, s.gc_nanos));
    }

    /// Seconds spent in the collections counted.
    ///
    ///     GC::Profiler.total_time.class   #=> Float
    #[method("total_time", singleton)]
    fn total_time(cx: &mut Cx, _this: Value) -> f64 {
        profile(cx).1 as f64 / 1e9
    }

    /// A text with the figures; empty when nothing was counted.
    ///
    ///     GC::Profiler.clear; GC::Profiler.result   #=> ""
    #[method("result", singleton)]
    fn result(cx: &mut Cx, _this: Value) -> String {
        match profile(cx) {
            (0, _) => String::new(),
            (n, nanos) => format!("GC {n} invokes.\nTotal time(ms): {:.6}\n", nanos as f64 / 1e6),
        }
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

/// Whether a cell is an object that programs may see.
fn visible(v: Value) -> bool {
    !matches!(v.kind(), None | Some(Kind::Free | Kind::Method | Kind::Env | Kind::Cref | Kind::Throw))
}

/// Every class and module below `id`, in the boot image or not.
fn each_class(cx: &Cx, id: ClassId) -> Vec<ClassId> {
    let mut seen = std::collections::HashSet::from([id]);
    let (mut work, mut out) = (vec![id], Vec::new());
    while let Some(c) = work.pop() {
        out.push(c);
        work.extend(cx.class(c).dependents.iter().rev().filter(|d| seen.insert(**d)));
    }
    out
}

/// The methods of ObjectSpace.
#[ruby_class(ids::OBJECT_SPACE)]
mod object_space {
    use super::*;

    /// Calls the block with each object, or each one of a class; returns their number.
    ///
    ///     ObjectSpace.each_object(Class).include?(String)   #=> true
    ///     [Kernel, Math, Comparable] - ObjectSpace.each_object(Module).to_a   #=> []
    #[method("each_object", module_function)]
    fn each_object(cx: &mut Cx, this: Value, class: Option<Value>, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.enumerator(this, "each_object", class.as_slice());
        }
        let filter = match class {
            None | Some(Value::NIL) => None,
            Some(v) => match cx.class_id(v) {
                Some(c) => Some(c),
                None => return cx.type_error("class or module required"),
            },
        };
        let mut found = RootedVec::new(cx);
        // What is dead must not be seen again; what an image holds for this VM is there like everything else.
        cx.own_everything();
        cx.collect();
        cx.heap.each_cell(&mut |p| {
            // SAFETY: a cell of the heap that is walked.
            let v = unsafe { Value::cell(p) };
            if visible(v) && !v.is_kind(Kind::Class) {
                found.push(v);
            }
        });
        cx.each_shared_cell(&mut |v| {
            if visible(v) && !v.is_kind(Kind::Class) {
                found.push(v);
            }
        });
        let classes = each_class(cx, ids::BASIC_OBJECT);
        let mut modules = RootedVec::new(cx);
        cx.heap.each_cell(&mut |p| {
            // SAFETY: a cell of the heap that is walked.
            let v = unsafe { Value::cell(p) };
            if v.is_kind(Kind::Class) {
                modules.push(v);
            }
        });
        cx.each_shared_cell(&mut |v| {
            if v.is_kind(Kind::Class) {
                modules.push(v);
            }
        });
        modules.extend(classes.iter().map(|c| cx.class_value(*c)));
        let boot = class::BOOT_CLASSES.iter().filter(|(id, _, kind, ..)| *kind == ClassKind::Module && *id != ids::ENV_METHODS);
        modules.extend(boot.map(|(id, ..)| cx.class_value(*id)));
        let mut seen = std::collections::HashSet::new();
        for v in modules.iter().copied() {
            // Singleton classes of classes are the VM's own affair.
            let shown = cx.class_id(v).is_some_and(|c| {
                let c = cx.class(c);
                c.kind != ClassKind::Singleton || cx.class_id(c.attached).is_none_or(|a| cx.class(a).kind == ClassKind::Module)
            });
            if shown && seen.insert(v.bits()) {
                found.push(v);
            }
        }
        if let Some(c) = filter {
            found.retain(|v| cx.is_a(*v, c));
        }
        let mut i = 0;
        while let Some(v) = found.get(i).copied() {
            cx.yield1(block, v)?;
            i += 1;
        }
        Ok(Value::fixnum(i as i64))
    }

    /// The object with an id that `object_id` gave; RangeError when there is none. Deprecated.
    ///
    ///     ObjectSpace._id2ref(nil.object_id)   #=> nil
    #[method("_id2ref", module_function)]
    fn id2ref(cx: &mut Cx, _this: Value, id: Value) -> Result<Value> {
        cx.warn_category("ObjectSpace._id2ref is deprecated", "deprecated")?;
        let n = cx.to_int(id)?;
        if let Some(n) = n.as_fixnum() {
            match n {
                8 => return Ok(Value::NIL),
                20 => return Ok(Value::TRUE),
                0 => return Ok(Value::FALSE),
                _ if n & 1 == 1 => return Ok(cx.int(n >> 1)),
                _ => {}
            }
            if let Some(v) = cx.object_by_id(n) {
                return Ok(v);
            }
        }
        let shown = cx.inspect_text(n)?;
        cx.range_error(format!("{shown} is not an id value"))
    }

    /// Number of objects by kind.
    ///
    ///     ObjectSpace.count_objects[:TOTAL] > 0   #=> true
    #[method("count_objects", module_function)]
    fn count_objects(cx: &mut Cx, _this: Value, into: Option<Ref<HashCell>>) -> Result<Value> {
        let mut counts: Vec<(&str, i64)> = vec![("TOTAL", 0), ("FREE", 0)];
        cx.heap.each_cell(&mut |p| {
            // SAFETY: a cell of the heap that is walked.
            let name = match unsafe { Value::cell(p) }.kind_of_cell() {
                Kind::Free => "FREE",
                Kind::Moved | Kind::MovedString | Kind::MovedArray | Kind::MovedHash => "MOVED",
                Kind::Object | Kind::Exception => "T_OBJECT",
                Kind::Class => "T_CLASS",
                Kind::Float => "T_FLOAT",
                Kind::Bignum => "T_BIGNUM",
                Kind::String => "T_STRING",
                Kind::Array => "T_ARRAY",
                Kind::Hash => "T_HASH",
                Kind::Range => "T_STRUCT",
                Kind::Rational => "T_RATIONAL",
                Kind::Complex => "T_COMPLEX",
                Kind::Proc | Kind::Data | Kind::MethodObj => "T_DATA",
                Kind::Method | Kind::Env | Kind::Cref | Kind::Throw => "T_IMEMO",
            };
            counts[0].1 += 1;
            match counts.iter_mut().find(|c| c.0 == name) {
                Some(c) => c.1 += 1,
                None => counts.push((name, 1)),
            }
        });
        let h = match into {
            Some(h) => h,
            None => cx.new_hash(),
        };
        for (name, n) in counts {
            cx.hash_set(h, Value::sym(Sym::intern(name)), Value::fixnum(n))?;
        }
        Ok(h.as_value())
    }

    /// Collects now.
    ///
    ///     ObjectSpace.garbage_collect   #=> nil
    #[method("garbage_collect", module_function)]
    fn garbage_collect(cx: &mut Cx, _this: Value, kw: Kwargs) -> Result<Value> {
        collect(cx, kw)?;
        Ok(Value::NIL)
    }

    /// Has a Proc called with the object's id after the object died, at the latest at the end of the program.
    ///
    ///     ObjectSpace.define_finalizer("x".dup, proc { |id| id }).first   #=> 0
    #[method("define_finalizer", module_function)]
    fn define_finalizer(cx: &mut Cx, _this: Value, object: Value, proc: Option<Value>, block: Block) -> Result<Value> {
        let p = match proc {
            Some(p) => p,
            None => cx.block_value(block),
        };
        if !cx.responds(p, sym::call, true)? {
            let c = cx.class_name_of(p);
            return cx.arg_error(format!("wrong type argument {c} (should be callable)"));
        }
        if !object.is_cell() || object.is_kind(Kind::Float) || object.is_kind(Kind::Bignum) {
            let c = cx.class_name_of(object);
            return cx.arg_error(format!("cannot define finalizer for {c}"));
        }
        cx.check_frozen(object)?;
        if holds(cx, p, object)? {
            cx.warn_here("finalizer references object to be finalized")?;
        }
        let id = cx.call(object, sym::object_id, &[])?;
        let at_exit = std::mem::replace(&mut cx.state::<Weak>().at_exit, true);
        if !at_exit {
            let all = cx.native_proc(run_all, Value::NIL, true);
            cx.at_exit.insert(0, all);
        }
        // An equal one is there already.
        let mut i = 0;
        while let Some(other) = cx.state::<Weak>().finalizers.iter().find(|f| f.0 == object).and_then(|f| f.2.get(i).copied()) {
            if cx.eq(other, p)? {
                return Ok(cx.array(&[Value::fixnum(0), other]));
            }
            i += 1;
        }
        let w = cx.state::<Weak>();
        match w.finalizers.iter_mut().find(|f| f.0 == object) {
            Some(f) => f.2.push(p),
            None => w.finalizers.push((object, id, TracedVec::filled(p, 1))),
        }
        Ok(cx.array(&[Value::fixnum(0), p]))
    }

    /// Forgets an object's finalizers.
    ///
    ///     s = "x".dup; ObjectSpace.undefine_finalizer(s)   #=> "x"
    #[method("undefine_finalizer", module_function)]
    fn undefine_finalizer(cx: &mut Cx, _this: Value, object: Value) -> Result<Value> {
        cx.check_frozen(object)?;
        cx.state::<Weak>().finalizers.retain(|f| f.0 != object);
        Ok(object)
    }
}

/// A copy of an object has its finalizers, too. Cheap when there are none at all.
pub fn copy_finalizers(cx: &mut Cx, from: Value, to: Value) -> Result<()> {
    // The first finalizer registers what runs them all at the end.
    if cx.at_exit.is_empty() {
        return Ok(());
    }
    let mut procs = RootedVec::new(cx);
    if let Some(f) = cx.state::<Weak>().finalizers.iter().find(|f| f.0 == from) {
        procs.extend(&f.2);
    }
    if procs.is_empty() {
        return Ok(());
    }
    // The program's `object_id` may take them off the original.
    let id = cx.call(to, sym::object_id, &[])?;
    cx.state::<Weak>().finalizers.push((to, id, TracedVec::from_slice(&procs)));
    Ok(())
}
