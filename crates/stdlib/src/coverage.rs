//! coverage: which lines, methods and branches ran. The VM counts (vm/src/execution/coverage.rs); modes and results are Ruby (`ruby/coverage.rb`).

use std::sync::Arc;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::coverage::{Branches, Lines};
use zakuro_vm::*;

/// The last place in a source whose line was asked for: methods are told about in their order, and each is counted from the one before.
#[derive(Default, Trace)]
struct Last {
    #[untraced]
    source: Arc<[u8]>,
    #[untraced]
    offset: usize,
    /// Line ends before it, and where its line begins.
    #[untraced]
    ends: usize,
    #[untraced]
    start: usize,
}
impl VmState for Last {}

impl Last {
    /// Lines before an offset, and its column.
    fn place(&mut self, source: &Arc<[u8]>, offset: usize) -> (usize, usize) {
        if !Arc::ptr_eq(&self.source, source) {
            *self = Last { source: source.clone(), ..Last::default() };
        }
        let offset = offset.min(source.len());
        let ends = |from: usize, to: usize| source[from..to].iter().filter(|b| **b == b'\n').count();
        let start = |from: usize| source[from..offset].iter().rposition(|b| *b == b'\n').map(|n| from + n + 1);
        if offset >= self.offset {
            self.ends += ends(self.offset, offset);
            self.start = start(self.offset).unwrap_or(self.start);
        } else if offset < self.start {
            self.ends -= ends(offset, self.offset);
            self.start = start(0).unwrap_or(0);
        }
        self.offset = offset;
        (self.ends, offset - self.start)
    }
}

/// An Array that begins with a kind and a place.
fn row(cx: &Cx, kind: &str, place: [u32; 4]) -> Ref<ArrayCell> {
    let [a, b, c, d] = place.map(|n| Value::fixnum(i64::from(n as i32)));
    Ref::of(cx.array(&[Value::sym(Sym::intern(kind)), a, b, c, d]))
}

/// Methods of `Coverage`.
#[ruby_class(ids::OBJECT)]
mod coverage {
    use super::*;

    /// Counts the lines of a file: `lines` have code, `total` is how many there are. What was counted already stays.
    #[method("__watch", singleton, private)]
    fn watch(cx: &mut Cx, _this: Value, path: Ref<StringCell>, lines: Ref<ArrayCell>, total: i64) -> Result<()> {
        let path: Arc<str> = path.to_text().into();
        let mut numbers = Vec::new();
        for v in RootedVec::of(cx, lines).iter() {
            numbers.push(cx.to_i64(*v)?);
        }
        let total = usize::try_from(total).unwrap_or(0);
        if total > 1 << 31 || !cx.heap.admits(total * size_of::<Option<u64>>()) {
            return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
        }
        let length = path.len();
        let files = &mut cx.state::<Lines>().files;
        let known = files.len();
        let counters = files.entry(path.clone()).or_default();
        let before = counters.capacity();
        counters.resize(counters.len().max(total), None);
        for n in numbers {
            if let Some(c) = usize::try_from(n).ok().and_then(|n| counters.get_mut(n.checked_sub(1)?)) {
                c.get_or_insert(0);
            }
        }
        let bytes = (counters.capacity() - before) * size_of::<Option<u64>>();
        let entry = if files.len() > known { length + 64 } else { 0 };
        cx.charge_coverage(bytes + entry);
        cx.watch_file(&path);
        Ok(())
    }
    /// Whether files are watched, what is counted beside lines, and whether texts of evals are watched, too.
    #[method("__modes", singleton, private)]
    fn modes(cx: &mut Cx, _this: Value, watching: bool, methods: bool, branches: bool, evals: bool) {
        *cx.state::<Last>() = Last::default();
        let lines = cx.state::<Lines>();
        lines.session = lines.session.wrapping_add(1);
        (lines.watching, lines.counts_methods, lines.wants_branches, lines.evals) = (watching, methods, branches, evals);
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
            lines.methods.clear();
            lines.files.clear();
            lines.branches.clear();
            let freed = std::mem::take(&mut lines.counted);
            cx.heap.sub_payload(freed);
        } else {
            lines.methods.values_mut().flat_map(|m| m.values_mut()).for_each(|n| *n = 0);

            lines.files.values_mut().flatten().flatten().for_each(|n| *n = 0);
            lines.branches.values_mut().flat_map(|b| &mut b.counters).for_each(|n| *n = 0);
        }
        cx.lines_changed();
    }
    /// [kind, first line, column, last line, column, [[kind, the same four, count], ...]] of each branch of a file.
    #[method("__branches", singleton, private)]
    fn branches(cx: &mut Cx, _this: Value, path: Ref<StringCell>) -> Value {
        let path = path.to_text();
        let found = cx.state::<Lines>().branches.get(&*path).cloned();
        let list = cx.new_array();
        let Some(Branches { list: branches, counters, .. }) = found else { return list.as_value() };
        for branch in branches.iter() {
            let arms = cx.new_array();
            for arm in &branch.arms {
                let count = counters.get(arm.counter as usize).copied().unwrap_or(0);
                let row = row(cx, arm.kind, arm.place);
                ArrayCell::push(row, &mut cx.heap, Value::fixnum(count as i64));
                ArrayCell::push(arms, &mut cx.heap, row.as_value());
            }
            let row = row(cx, branch.kind, branch.place);
            ArrayCell::push(row, &mut cx.heap, arms.as_value());
            ArrayCell::push(list, &mut cx.heap, row.as_value());
        }
        list.as_value()
    }
    /// [path, first line, column, last line, column, calls] of a method of the program; else nil.
    #[method("__called", singleton, private)]
    fn called(cx: &mut Cx, _this: Value, method: Value) -> Value {
        let Some(object) = Ref::<MethodObjCell>::from_value(method) else { return Value::NIL };
        let m: Ref<MethodCell> = Ref::of(object.method);
        let code = match m.method_kind() {
            MethodKind::Ruby => Cx::method_code(m),
            MethodKind::Proc => cx.block_code(Block(m.data.bits())),
            _ => None,
        };
        let Some((code, span)) = code.and_then(|c| Some((c, c.span?))) else { return Value::NIL };
        let count = cx.state::<Lines>().methods.get(&code.file).and_then(|m| m.get(&span)).copied().unwrap_or(0);
        let last = cx.state::<Last>();
        let mut at = |offset: u32| {
            let (ends, column) = last.place(&code.source, offset as usize);
            [Value::fixnum(ends as i64 + i64::from(code.first_line as i32)), Value::fixnum(column as i64)]
        };
        let ([line, column], [end, behind]) = (at(span.0), at(span.0 + span.1));
        let path = cx.str(&code.file);
        cx.array(&[path, line, column, end, behind, Value::fixnum(count as i64)])
    }
    /// Counters by path.
    #[method("__counters", singleton, private)]
    fn counters(cx: &mut Cx, _this: Value) -> Result<Value> {
        let files: Vec<_> = cx.state::<Lines>().files.keys().cloned().collect();
        let hash = cx.new_hash();
        for path in files {
            let list = cx.new_array();
            let mut i = 0;
            while let Some(c) = cx.state::<Lines>().files.get(&path).and_then(|counters| counters.get(i)).copied() {
                let v = c.map_or(Value::NIL, |n| Value::fixnum(n as i64));
                ArrayCell::push(list, &mut cx.heap, v);
                zakuro_base::progress::step(i, cx)?;
                i += 1;
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
    cx.define_natives(module, &[coverage::METHODS]);
    cx.run_builtin("coverage")
}
