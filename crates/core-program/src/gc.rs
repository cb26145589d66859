//! GC and ObjectSpace; weak maps are in `maps`.
//!
//! Weak tables belong to the VM and are not traced: the collector asks them, between marking and sweeping, to drop what died ([`VmState::sweep`]).

use zakuro_core_collections::enumerator::EnumeratorExt;
use std::collections::HashMap;
use zakuro_macros::ruby_class;
use zakuro_object::{Header, HashTable};
use zakuro_vm::vm::FastMap;
use zakuro_vm::*;

mod config;
mod figures;
mod maps;
mod profiler;

pub static TABLES: &[&[MethodRow]] =
    &[gc::METHODS, figures::gc::METHODS, config::gc::METHODS, profiler::gc_profiler::METHODS, object_space::METHODS, maps::weak_map::METHODS, maps::weak_key_map::METHODS];

pub fn setup(cx: &mut Cx) {
    let _ = cx.include_module(ids::WEAK_MAP, ids::ENUMERABLE);
    config::setup(cx);
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

/// The finalizers of an object.
struct Finalizers {
    /// The object's.
    id: Value,
    procs: TracedVec,
    /// Of the object among those that got some: at the end they run in this order, those of objects that died together (as CRuby has it) in the opposite one.
    number: u64,
}

/// Entries of weak maps by the map's address, and finalizers.
#[derive(Default)]
struct Weak {
    /// Compared by identity; an entry goes when key or value dies.
    maps: FastMap<usize, WeakPairs>,
    /// Compared by `eql?` with the stored hash code; an entry goes when its key dies.
    key_maps: FastMap<usize, WeakKeys>,
    /// By the address of the object, which stays where it is.
    finalizers: HashMap<u64, Finalizers>,
    /// The number of the last object that got some.
    last_number: u64,
    /// Finalizers of objects that died, and the objects' ids; the next one at the end.
    due: Vec<(Value, Value)>,
    at_exit: bool,
    /// As it was assigned.
    stress: Option<Value>,
}
impl Weak {
    /// Those of an object, which may have none yet.
    fn has_finalizer(&mut self, object: Value, id: Value) -> &mut TracedVec {
        let last = &mut self.last_number;
        let made = || {
            *last += 1;
            Finalizers { id, procs: TracedVec::new(), number: *last }
        };
        &mut self.finalizers.entry(object.bits()).or_insert_with(made).procs
    }
    /// In this order; those of an object as they were defined.
    fn call_soon(&mut self, all: Vec<Finalizers>) {
        all.iter().rev().for_each(|f| self.due.extend(f.procs.iter().rev().map(|p| (*p, f.id))));
    }
}
impl Trace for Weak {
    /// Written out: weak maps keep nothing, those by key their values, and finalizers not the object that they are for.
    fn trace(&self, m: &mut Marker<'_>) {
        let Weak { maps: _, key_maps, finalizers, last_number: _, due, at_exit: _, stress } = self;
        stress.trace(m);
        key_maps.values().flat_map(|m| m.table.iter()).for_each(|e| e.value.trace(m));
        for Finalizers { id, procs, number: _ } in finalizers.values() {
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
        // SAFETY: the cells of objects that died are swept after this.
        let dead = self.finalizers.extract_if(|object, _| !alive(heap, unsafe { Value::from_bits(*object) }));
        let mut dead: Vec<Finalizers> = dead.map(|(_, f)| f).collect();
        dead.sort_unstable_by_key(|f| std::cmp::Reverse(f.number));
        self.call_soon(dead);
    }
    fn held_for(&self, object: Value) -> usize {
        let at = object.bits() as usize;
        self.maps.get(&at).map_or(0, |m| m.0.weight()) + self.key_maps.get(&at).map_or(0, |m| m.table.weight())
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
        Some(weak_maps(pairs))
    }
}

/// Makes weak maps of map, key and value by turns; those from `pairs` on are of WeakKeyMaps.
fn weak_maps(pairs: usize) -> Restore {
    let restore = move |cx: &mut Cx, values: &[Value]| {
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
    };
    let save = move |out: &mut Saved| {
        out.number(pairs as u64);
        Some("weak maps")
    };
    savable_state(restore, save)
}
zakuro_vm::state_loader!("weak maps", |r| {
    let pairs = r.narrow()?;
    Some(weak_maps(pairs))
});

/// Collects everything, or, with `full_mark: false`, what is young; sweeps it, unless `immediate_sweep: false`; then runs the finalizers of what died.
/// Marking is never left unfinished: `immediate_mark` says nothing here.
fn collect(cx: &mut Cx, kw: Kwargs) -> Result<()> {
    zakuro_vm::gc::wipe_below();
    collect_now(cx, kw)
}

#[inline(never)]
fn collect_now(cx: &mut Cx, kw: Kwargs) -> Result<()> {
    let [full, mark, sweep] = ["full_mark", "immediate_mark", "immediate_sweep"].map(Sym::intern);
    kw.only(cx, &[full, mark, sweep])?;
    let is_asked = |name| kw.get(name).is_none_or(Value::truthy);
    if !cx.options.gc_never {
        let due = if is_asked(full) || !cx.heap.allows_full() { None } else { cx.heap.full_is_due() };
        match due {
            // As CRuby has it, a minor collection that is asked for gives way to a full one that is due.
            Some(_) => cx.collect(),
            None if is_asked(full) => cx.collect(),
            None => cx.collect_minor(),
        }
        if due.is_some() {
            cx.heap.set_reason(due, "method");
        }
        if is_asked(sweep) {
            cx.heap.sweep_now();
        }
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
        let mut all: Vec<Finalizers> = all.into_values().collect();
        all.sort_unstable_by_key(|f| f.number);
        cx.state::<Weak>().call_soon(all);
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
        cx.heap.collections() as i64
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

    /// What `stress=` was given.
    ///
    ///     GC.stress   #=> false
    #[method("stress", singleton)]
    fn stress(cx: &mut Cx, _this: Value) -> Value {
        cx.state::<Weak>().stress.unwrap_or(Value::FALSE)
    }

    /// Makes each safepoint collect when it is neither false nor nil.
    ///
    ///     GC.stress = false   #=> false
    #[method("stress=", singleton)]
    fn set_stress(cx: &mut Cx, _this: Value, on: Value) -> Value {
        cx.state::<Weak>().stress = Some(on);
        cx.gc_stress = on.truthy() || cx.options.gc_stress;
        if cx.gc_stress {
            // Stays set as long as it lasts.
            cx.poll_owner.set(zakuro_vm::gc::POLL_COLLECT);
        }
        on
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

/// Whether a cell is an object that programs may see.
fn visible(v: Value) -> bool {
    !zakuro_vm::channels::is_hidden_channel(v) && !matches!(v.kind(), None | Some(Kind::Free | Kind::Method | Kind::Env | Kind::Cref | Kind::Throw))
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
                DataCell::show(v);
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
        } else if let Some(b) = Ref::<BignumCell>::from_value(n)
            && b.value.bit(0)
        {
            // Of an Integer whose double is a large one.
            let half = b.value.as_ref() >> 1;
            return Ok(cx.big(half));
        }
        let shown = cx.inspect_text(n)?;
        cx.range_error(format!("{shown} is not an id value"))
    }

    /// Number of objects by kind.
    ///
    ///     ObjectSpace.count_objects[:TOTAL] > 0   #=> true
    #[method("count_objects", module_function)]
    fn count_objects(cx: &mut Cx, _this: Value, into: Option<Value>) -> Result<Value> {
        if into == Some(Value::NIL) {
            return cx.type_error("non-hash given");
        }
        let h = figures::into(cx, into, "non-hash given")?;
        let mut counts: Vec<(&str, i64)> = vec![("TOTAL", 0), ("FREE", 0)];
        cx.heap.each_cell(&mut |p| {
            // SAFETY: a cell of the heap that is walked.
            let name = match unsafe { Value::cell(p) }.kind_of_cell() {
                Kind::Free => return,
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
            match counts.iter_mut().find(|c| c.0 == name) {
                Some(c) => c.1 += 1,
                None => counts.push((name, 1)),
            }
        });
        let cells: usize = cx.heap.size_classes().iter().map(|c| c.cells).sum();
        let used: i64 = counts.iter().map(|c| c.1).sum();
        (counts[0].1, counts[1].1) = (cells as i64, cells as i64 - used);
        // Counts of an earlier call.
        for (kind, _) in cx.hash_pairs(h) {
            cx.hash_set(h, kind, Value::fixnum(0))?;
        }
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
            let c = cx.class_shown(p);
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
        while let Some(other) = cx.state::<Weak>().finalizers.get(&object.bits()).and_then(|f| f.procs.get(i).copied()) {
            if cx.eq(other, p)? {
                return Ok(cx.array(&[Value::fixnum(0), other]));
            }
            i += 1;
        }
        cx.state::<Weak>().has_finalizer(object, id).push(p);
        Ok(cx.array(&[Value::fixnum(0), p]))
    }

    /// Forgets an object's finalizers.
    ///
    ///     s = "x".dup; ObjectSpace.undefine_finalizer(s)   #=> "x"
    #[method("undefine_finalizer", module_function)]
    fn undefine_finalizer(cx: &mut Cx, _this: Value, object: Value) -> Result<Value> {
        cx.check_frozen(object)?;
        cx.state::<Weak>().finalizers.remove(&object.bits());
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
    if let Some(f) = cx.state::<Weak>().finalizers.get(&from.bits()) {
        procs.extend(&f.procs);
    }
    if procs.is_empty() {
        return Ok(());
    }
    // The program's `object_id` may take them off the original.
    let id = cx.call(to, sym::object_id, &[])?;
    cx.state::<Weak>().has_finalizer(to, id).extend(&*procs);
    Ok(())
}
