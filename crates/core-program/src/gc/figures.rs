//! What GC tells in CRuby's words about the last collection and the sizes of cells.

use super::Weak;
use zakuro_heap::{HeapStats, SizeClass};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Those that take a walk over all blocks. Programs that watch themselves ask for others with each event.
const COUNTED: [&str; 7] =
    ["heap_available_slots", "heap_live_slots", "heap_free_slots", "heap_marked_slots", "total_freed_objects", "old_objects", "old_objects_limit"];

/// Those that tell what was allocated to the cell.
const ALLOCATED: [&str; 3] = ["total_allocated_objects", "total_freed_objects", "allocated_bytes"];

/// The Hash that figures go to: the given one, which has to be one that can be written, or for nil a new one.
pub(super) fn into(cx: &mut Cx, given: Option<Value>, refused: &'static str) -> Result<Ref<HashCell>> {
    let Some(v) = given.filter(|v| *v != Value::NIL) else { return Ok(cx.new_hash()) };
    let Some(h) = Ref::<HashCell>::from_value(v) else { return cx.type_error(refused) };
    cx.check_frozen(v)?;
    Ok(h)
}

/// What figures are made of.
struct Look {
    s: HeapStats,
    /// Empty where they are not counted.
    classes: Vec<SizeClass>,
    /// Frozen graphs received from other VMs, or sent on, and their bytes: memory that several VMs may count.
    regions: (usize, usize),
}

impl Look {
    fn all(cx: &mut Cx) -> Look {
        Look { s: cx.heap.stats(), classes: cx.heap.size_classes(), regions: cx.heap.region_stats() }
    }
    /// As much as one figure takes.
    fn of(cx: &mut Cx, name: &str) -> Look {
        let classes = if COUNTED.contains(&name) { cx.heap.size_classes() } else { Vec::new() };
        let s = if ALLOCATED.contains(&name) { cx.heap.stats() } else { cx.heap.stats_as_counted() };
        Look { s, classes, regions: cx.heap.region_stats() }
    }
    fn sum(&self, of: fn(&SizeClass) -> usize) -> i64 {
        self.classes.iter().map(of).sum::<usize>() as i64
    }
    fn cells(&self) -> i64 {
        self.sum(|c| c.cells)
    }
    fn live(&self) -> i64 {
        self.sum(|c| c.live)
    }
    fn marked(&self) -> i64 {
        self.sum(|c| c.marked)
    }
    fn pages(&self) -> i64 {
        (self.s.blocks + self.s.reserve_blocks) as i64
    }
    /// The size that cells have on average.
    fn cell(&self) -> i64 {
        match self.marked() {
            0 => 32,
            marked => (self.s.live_bytes as i64 / marked).max(32),
        }
    }
}

/// Figures of `GC.stat`. What CRuby counts and nothing here does (cells that move, cells that no barrier protects) is 0.
const FIGURES: [(&str, fn(&Look) -> i64); 40] = [
    ("count", |l| l.s.collections as i64),
    ("time", |l| ((l.s.mark_nanos + l.s.sweep_nanos) / 1_000_000) as i64),
    ("marking_time", |l| l.s.mark_nanos as i64 / 1_000_000),
    ("sweeping_time", |l| l.s.sweep_nanos as i64 / 1_000_000),
    ("heap_allocated_pages", |l| l.pages()),
    ("heap_empty_pages", |l| l.s.reserve_blocks as i64),
    ("heap_allocatable_slots", |_| 0),
    ("heap_allocatable_bytes", |_| 0),
    ("heap_available_slots", |l| l.cells()),
    ("heap_live_slots", |l| l.live()),
    ("heap_free_slots", |l| l.cells() - l.live()),
    ("heap_final_slots", |_| 0),
    ("heap_marked_slots", |l| l.marked()),
    ("heap_eden_pages", |l| l.s.blocks as i64),
    ("total_allocated_pages", |l| l.s.taken.blocks as i64),
    ("total_freed_pages", |l| l.s.given.blocks as i64),
    ("total_allocated_objects", |l| l.s.allocated_cells as i64),
    ("total_freed_objects", |l| l.s.allocated_cells as i64 - l.live()),
    ("malloc_increase_bytes", |l| l.s.since as i64),
    ("malloc_increase_bytes_limit", |l| l.s.limit as i64),
    ("minor_gc_count", |l| (l.s.collections - l.s.full_collections) as i64),
    ("major_gc_count", |l| l.s.full_collections as i64),
    ("compact_count", |_| 0),
    ("read_barrier_faults", |_| 0),
    ("total_moved_objects", |_| 0),
    ("remembered_wb_unprotected_objects", |_| 0),
    ("remembered_wb_unprotected_objects_limit", |_| 0),
    ("old_objects", |l| l.marked()),
    ("old_objects_limit", |l| l.marked() + l.s.growth.saturating_sub(l.s.grown) as i64 / l.cell()),
    ("oldmalloc_increase_bytes", |l| l.s.grown as i64),
    ("oldmalloc_increase_bytes_limit", |l| l.s.growth as i64),
    ("live_bytes", |l| l.s.live_bytes as i64),
    ("payload_bytes", |l| l.s.payload_bytes as i64),
    ("allocated_bytes", |l| l.s.allocated_bytes as i64),
    ("last_pause_nanoseconds", |l| l.s.last_pause_nanos as i64),
    ("longest_pause_nanoseconds", |l| l.s.max_pause_nanos as i64),
    ("lots_taken", |l| l.s.taken.lots as i64),
    ("lots_given_back", |l| l.s.given.lots as i64),
    ("shared_regions", |l| l.regions.0 as i64),
    ("shared_region_bytes", |l| l.regions.1 as i64),
];

/// The names of [`FIGURES`] as Symbols.
#[derive(Trace, Default)]
struct Keys(#[untraced] Vec<Sym>);
impl VmState for Keys {}
impl Keys {
    fn all(&mut self) -> &[Sym] {
        if self.0.is_empty() {
            self.0 = FIGURES.iter().map(|f| Sym::intern(f.0)).collect();
        }
        &self.0
    }
}

#[ruby_class(ids::GC)]
pub mod gc {
    use super::*;

    /// Figures of the heap, or one of them; times are milliseconds. Blocks of memory are called pages, cells slots; what is not CRuby's stands at the end.
    ///
    ///     GC.stat[:count] == GC.stat(:count)   #=> true
    #[method("stat", singleton)]
    fn stat(cx: &mut Cx, _this: Value, what: Option<Value>) -> Result<Value> {
        if let Some(s) = what.and_then(|w| w.as_sym()) {
            return match cx.state::<Keys>().all().iter().position(|key| *key == s) {
                Some(at) => {
                    let (name, figure) = FIGURES[at];
                    let n = figure(&Look::of(cx, name));
                    Ok(cx.int(n))
                }
                None => cx.arg_error(format!("unknown key: {}", s.name())),
            };
        }
        let h = into(cx, what, "non-hash or symbol given")?;
        let look = Look::all(cx);
        for (at, (_, figure)) in FIGURES.into_iter().enumerate() {
            let (key, n) = (cx.state::<Keys>().all()[at], cx.int(figure(&look)));
            cx.hash_set(h, Value::sym(key), n)?;
        }
        Ok(h.as_value())
    }

    /// Nanoseconds spent marking and sweeping.
    ///
    ///     t = GC.total_time; GC.start; GC.total_time > t   #=> true
    #[method("total_time", singleton)]
    fn total_time(cx: &Cx, _this: Value) -> i64 {
        let s = cx.heap.stats();
        (s.mark_nanos + s.sweep_nanos) as i64
    }

    /// About the last collection, or one thing about it; with a Hash there: what made it mark everything (`:major_by`), what called for it (`:gc_by`), whether it swept at once, what is left of it
    /// (`:state`), and why the next one will mark everything (`:need_major_by`).
    ///
    ///     GC.start; GC.latest_gc_info(:major_by)                     #=> :force
    ///     GC.start(full_mark: false); GC.latest_gc_info(:gc_by)      #=> :method
    ///     GC.latest_gc_info(:state)                                  #=> :none
    #[method("latest_gc_info", singleton)]
    fn latest_gc_info(cx: &mut Cx, _this: Value, what: Option<Value>) -> Result<Value> {
        let stats = cx.heap.stats();
        let sym = |n: &str| Value::sym(Sym::intern(n));
        let word = |w: Option<&'static str>| w.map_or(Value::NIL, sym);
        let reason = cx.heap.reason();
        let state = match () {
            () if stats.is_marking => "marking",
            () if stats.is_sweeping => "sweeping",
            () => "none",
        };
        // Looking sweeps.
        let is_asked = what.is_none_or(|w| w.as_sym().is_none_or(|s| s.name() == "need_major_by"));
        let need = if is_asked && stats.collections > 0 { cx.heap.full_is_due() } else { None };
        let weak = cx.state::<Weak>();
        let finalizers = !weak.finalizers.is_empty();
        let entries = weak.maps.values().map(|m| m.0.len()).chain(weak.key_maps.values().map(|m| m.table.len())).sum::<usize>();
        let all = [
            ("major_by", word(reason.full)),
            ("need_major_by", word(need)),
            ("gc_by", word(reason.by)),
            ("have_finalizer", Value::bool(finalizers)),
            ("immediate_sweep", Value::bool(reason.swept)),
            ("state", sym(state)),
            ("weak_references_count", Value::fixnum(entries as i64)),
        ];
        if let Some(s) = what.and_then(|w| w.as_sym()) {
            let name = s.name();
            return match all.iter().find(|f| f.0 == name) {
                Some(f) => Ok(f.1),
                None => cx.arg_error(format!("unknown key: {name}")),
            };
        }
        let h = into(cx, what, "non-hash or symbol given")?;
        for (name, v) in all {
            cx.hash_set(h, sym(name), v)?;
        }
        Ok(h.as_value())
    }

    /// Figures of the heap's classes of cells by their size: of all, of one by its number, or one figure of one.
    ///
    ///     GC.stat_heap(0, :slot_size)                      #=> 32
    ///     GC.stat_heap.size == GC.stat_heap.keys.last + 1  #=> true
    #[method("stat_heap", singleton)]
    fn stat_heap(cx: &mut Cx, _this: Value, class: Option<Value>, what: Option<Value>) -> Result<Value> {
        let classes = cx.heap.size_classes();
        let row = |c: &zakuro_heap::SizeClass| {
            let (cells, live) = (c.cells as i64, c.live as i64);
            [("slot_size", c.size as i64), ("heap_live_slots", live), ("heap_free_slots", cells - live), ("heap_final_slots", 0)].into_iter().chain([
                ("heap_eden_pages", c.blocks as i64),
                ("heap_eden_slots", cells),
                ("heap_allocatable_slots", 0),
                ("total_allocated_pages", c.opened as i64),
                ("force_major_gc_count", 0),
                ("force_incremental_marking_finish_count", 0),
                ("total_allocated_objects", c.allocated as i64),
                ("total_freed_objects", c.allocated as i64 - live),
            ])
        };
        let class = match class {
            None | Some(Value::NIL) => None,
            Some(v) => match v.as_fixnum() {
                None => return cx.type_error("heap_name must be nil or an Integer"),
                Some(n) => match usize::try_from(n).ok().and_then(|n| classes.get(n)) {
                    None => return cx.arg_error("size pool index out of range"),
                    c => c,
                },
            },
        };
        if let Some(s) = what.and_then(|w| w.as_sym()) {
            let Some(c) = class else { return cx.type_error("non-hash given") };
            let name = s.name();
            return match row(c).find(|f| f.0 == name) {
                Some(f) => Ok(cx.int(f.1)),
                None => cx.arg_error(format!("unknown key: {name}")),
            };
        }
        let out = into(cx, what, if class.is_some() { "non-hash or symbol given" } else { "non-hash given" })?;
        for (i, c) in classes.iter().enumerate() {
            if class.is_some_and(|one| !std::ptr::eq(one, c)) {
                continue;
            }
            let h = if class.is_some() { out } else { cx.new_hash() };
            for (name, n) in row(c) {
                let n = cx.int(n);
                cx.hash_set(h, Value::sym(Sym::intern(name)), n)?;
            }
            if class.is_none() {
                cx.hash_set(out, Value::fixnum(i as i64), h.as_value())?;
            }
        }
        Ok(out.as_value())
    }
}
