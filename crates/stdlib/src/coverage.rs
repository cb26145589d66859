//! coverage: which lines ran. The VM counts (vm/src/execution/coverage.rs); modes and results are Ruby (`ruby/coverage.rb`). Lines only: no branches, no methods.

use zakuro_macros::ruby_class;
use zakuro_vm::coverage::Lines;
use zakuro_vm::*;

#[ruby_class(ids::OBJECT)]
mod coverage {
    use super::*;

    /// Counts the lines of a file: `lines` have code, `total` is how many there are. What was counted already stays.
    #[method("__watch", singleton, private)]
    fn watch(cx: &mut Cx, _this: Value, path: Ref<StringCell>, lines: Ref<ArrayCell>, total: i64) -> Result<()> {
        let path: std::sync::Arc<str> = path.text().into();
        let mut numbers = Vec::new();
        for v in RootedVec::of(cx, lines).iter() {
            numbers.push(cx.to_i64(*v)?);
        }
        let counters = cx.state::<Lines>().files.entry(path).or_default();
        let most = numbers.iter().copied().max().unwrap_or(0).max(0) as usize;
        counters.resize(counters.len().max(total.max(0) as usize).max(most), None);
        for n in numbers {
            if let Some(c) = usize::try_from(n - 1).ok().and_then(|n| counters.get_mut(n)) {
                c.get_or_insert(0);
            }
        }
        cx.lines_changed();
        Ok(())
    }
    /// Begins or stops counting.
    #[method("__count", singleton, private)]
    fn count(cx: &mut Cx, _this: Value, on: bool) {
        cx.state::<Lines>().counting = on;
        cx.lines_changed();
    }
    /// Forgets the files, or only what was counted.
    #[method("__clear", singleton, private)]
    fn clear(cx: &mut Cx, _this: Value, files: bool) {
        let lines = cx.state::<Lines>();
        if files {
            lines.files.clear();
        } else {
            lines.files.values_mut().flatten().flatten().for_each(|n| *n = 0);
        }
        cx.lines_changed();
    }
    /// Counters by path.
    #[method("__counters", singleton, private)]
    fn counters(cx: &mut Cx, _this: Value) -> Result<Value> {
        let files: Vec<_> = cx.state::<Lines>().files.iter().map(|(p, c)| (p.clone(), c.clone())).collect();
        let hash = cx.new_hash();
        for (path, counters) in files {
            let list = cx.new_array();
            for c in counters {
                let v = c.map_or(Value::NIL, |n| Value::fixnum(n as i64));
                ArrayCell::push(list, &mut cx.heap, v);
            }
            let path = cx.str(&path);
            cx.hash_set(hash, path, list.as_value())?;
        }
        Ok(hash.as_value())
    }
}

/// `require "coverage"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let module = cx.define_module(ids::OBJECT, "Coverage");
    crate::define(cx, module, &[coverage::METHODS]);
    cx.run_builtin("coverage")
}
