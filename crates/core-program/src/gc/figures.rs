//! What GC tells in CRuby's words about the last collection and the sizes of cells.

use zakuro_macros::ruby_class;
use zakuro_vm::*;

#[ruby_class(ids::GC)]
pub mod gc {
    use super::*;

    /// About the last collection, or one thing about it; with a Hash there. What CRuby tells of its own collector is nil or false here, but for what
    /// made it collect everything (`:force`), and whether it is over.
    ///
    ///     GC.latest_gc_info(:state)            #=> :none
    ///     GC.latest_gc_info.key?(:major_by)    #=> true
    #[method("latest_gc_info", singleton)]
    fn latest_gc_info(cx: &mut Cx, _this: Value, what: Option<Value>) -> Result<Value> {
        let stats = cx.heap.stats();
        let sym = |n: &str| Value::sym(Sym::intern(n));
        let (some, full) = (stats.collections > 0, stats.collections > 0 && cx.heap.is_full());
        let all = [
            ("major_by", if full { sym("force") } else { Value::NIL }),
            ("need_major_by", Value::NIL),
            ("gc_by", if some { sym("newobj") } else { Value::NIL }),
            ("have_finalizer", Value::FALSE),
            ("immediate_sweep", Value::FALSE),
            ("state", sym("none")),
            ("weak_references_count", Value::fixnum(0)),
        ];
        let h = match what {
            None | Some(Value::NIL) => cx.new_hash(),
            Some(v) => match (v.as_sym(), Ref::<HashCell>::from_value(v)) {
                (Some(s), _) => {
                    let name = s.name();
                    return match all.iter().find(|f| f.0 == name) {
                        Some(f) => Ok(f.1),
                        None => cx.arg_error(format!("unknown key: {name}")),
                    };
                }
                (_, Some(h)) => h,
                _ => return cx.type_error("non-hash or symbol given"),
            },
        };
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
                ("total_allocated_pages", c.blocks as i64),
                ("force_major_gc_count", 0),
                ("force_incremental_marking_finish_count", 0),
                ("total_allocated_objects", live),
                ("total_freed_objects", 0),
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
        let given = match what {
            None | Some(Value::NIL) => None,
            Some(v) => match (v.as_sym(), Ref::<HashCell>::from_value(v)) {
                (Some(s), _) => {
                    let Some(c) = class else { return cx.type_error("non-hash given") };
                    let name = s.name();
                    return match row(c).find(|f| f.0 == name) {
                        Some(f) => Ok(cx.int(f.1)),
                        None => cx.arg_error(format!("unknown key: {name}")),
                    };
                }
                (_, Some(h)) => Some(h),
                _ => return cx.type_error("non-hash or symbol given"),
            },
        };
        let out = given.unwrap_or_else(|| cx.new_hash());
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
