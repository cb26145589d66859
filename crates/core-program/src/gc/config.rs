//! What of the collector a program can set, and constants about it in CRuby's words.

use zakuro_heap::{BLOCK_SIZE, Header, MAX_CELL};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

pub fn setup(cx: &mut Cx) {
    let classes = cx.heap.size_classes();
    let smallest = classes[0].size as i64;
    let h = cx.new_hash();
    let rows = [
        ("DEBUG", Value::FALSE),
        ("RVALUE_SIZE", Value::fixnum(smallest)),
        ("RBASIC_SIZE", Value::fixnum(size_of::<Header>() as i64)),
        ("RVALUE_OVERHEAD", Value::fixnum(0)),
        ("HEAP_PAGE_BITMAP_SIZE", Value::fixnum(BLOCK_SIZE as i64 / smallest / 8)),
        ("HEAP_PAGE_SIZE", Value::fixnum(BLOCK_SIZE as i64)),
        ("HEAP_COUNT", Value::fixnum(classes.len() as i64)),
        ("RVARGC_MAX_ALLOCATE_SIZE", Value::fixnum(MAX_CELL as i64)),
        // The first collection that finds a cell alive makes it an old one.
        ("RVALUE_OLD_AGE", Value::fixnum(1)),
    ];
    for (name, v) in rows {
        let _ = cx.hash_set(h, Value::sym(Sym::intern(name)), v);
    }
    cx.const_set(ids::GC, Sym::intern("INTERNAL_CONSTANTS"), h.as_value());
    let words = [cx.str("USE_RGENGC"), cx.str("GC_ENABLE_LAZY_SWEEP")];
    let words = cx.array(&words);
    cx.const_set(ids::GC, Sym::intern("OPTS"), words);
}

/// What a program has set.
#[derive(Trace, Default)]
struct Settings {
    untimed: bool,
}
impl VmState for Settings {}

#[ruby_class(ids::GC)]
pub mod gc {
    use super::*;

    /// Whether collections are timed, for `GC.stat` and `GC.total_time`.
    ///
    ///     GC.measure_total_time   #=> true
    #[method("measure_total_time", singleton)]
    fn measure_total_time(cx: &mut Cx, _this: Value) -> bool {
        !cx.state::<Settings>().untimed
    }

    /// Says whether they are.
    ///
    ///     GC.measure_total_time = false; t = GC.total_time; GC.start; [GC.total_time == t, GC.measure_total_time = true]   #=> [true, true]
    #[method("measure_total_time=", singleton)]
    fn set_measure(cx: &mut Cx, _this: Value, on: Value) -> Value {
        cx.state::<Settings>().untimed = !on.truthy();
        cx.heap.time_collections(on.truthy());
        on
    }

    /// The settings of the collector, after those of a Hash were made: `rgengc_allow_full_mark: false` leaves all collections minor ones but those that are asked for (`GC.start`) or
    /// that a limit of memory needs. Names of settings that other collectors have are passed over; ArgumentError for `implementation:`.
    ///
    ///     GC.config                                  #=> {rgengc_allow_full_mark: true, implementation: "zakuro"}
    ///     GC.config(rgengc_allow_full_mark: false)   #=> {rgengc_allow_full_mark: false, implementation: "zakuro"}
    #[method("config", singleton)]
    fn config(cx: &mut Cx, _this: Value, options: Option<Value>) -> Result<Value> {
        let [allow, implementation] = ["rgengc_allow_full_mark", "implementation"].map(Sym::intern);
        match options {
            None | Some(Value::NIL) => {}
            Some(v) => {
                let Some(h) = Ref::<HashCell>::from_value(v) else { return cx.arg_error("ArgumentError") };
                if h.by_symbol(implementation).is_some() {
                    return cx.arg_error("Attempting to set read-only key \"Implementation\"");
                }
                let mut other = None;
                for e in h.table(&cx.heap).into_iter().flat_map(|t| t.iter()) {
                    if e.key.as_sym().is_none() {
                        other = Some(e.key);
                    }
                }
                if let Some(key) = other {
                    let class = cx.class_name_of(key);
                    return cx.type_error(format!("wrong argument type {class} (expected Symbol)"));
                }
                if let Some(on) = h.by_symbol(allow) {
                    cx.heap.allow_full(on.truthy());
                }
            }
        }
        let (h, name, on) = (cx.new_hash(), cx.str("zakuro"), Value::bool(cx.heap.allows_full()));
        cx.hash_set(h, Value::sym(allow), on)?;
        cx.hash_set(h, Value::sym(implementation), name)?;
        Ok(h.as_value())
    }

    /// Cells don't move: there is nothing to compact.
    #[method("compact", singleton, unimplemented)]
    #[method("auto_compact", singleton, unimplemented)]
    #[method("latest_compact_info", singleton, unimplemented)]
    fn compact(cx: &mut Cx, _this: Value) -> Result<Value> {
        cx.raise(ids::NOT_IMPLEMENTED_ERROR, "compaction is unimplemented on this machine")
    }
    /// As `compact`.
    #[method("auto_compact=", singleton, unimplemented)]
    fn set_auto_compact(cx: &mut Cx, this: Value, _on: Value) -> Result<Value> {
        compact(cx, this)
    }
    /// As `compact`.
    #[method("verify_compaction_references", singleton, unimplemented)]
    fn verify_compaction(cx: &mut Cx, this: Value, _kw: Kwargs) -> Result<Value> {
        compact(cx, this)
    }

    /// Marks and sweeps everything. (Debug builds look for stores without the write barrier meanwhile.)
    ///
    ///     GC.verify_internal_consistency   #=> nil
    #[method("verify_internal_consistency", singleton)]
    fn verify(cx: &mut Cx, _this: Value) -> Value {
        cx.collect();
        cx.heap.sweep_now();
        Value::NIL
    }
}
