//! Many keys at once. Those about which no Ruby code decides are looked up and put in in batches: the table's size is asked for once for each batch.

use super::is_iterating;
use std::cell::Cell;
use zakuro_object::hash::{Entry, HashTable};
use zakuro_vm::equality::quick_eql;
use zakuro_vm::*;

const BATCH: usize = 16;
/// Room that is made at first: there may be many equal keys.
const ROOM: usize = 1024;

/// Where pairs come from. The elements of an Array have the value true.
#[derive(Clone, Copy)]
pub(crate) enum Source<'a> {
    /// Values that the caller keeps alive.
    List(&'a [Value]),
    Array(Ref<ArrayCell>),
    Hash(Ref<HashCell>),
}

impl Source<'_> {
    fn slots(self, cx: &Cx) -> usize {
        match self {
            Source::List(l) => l.len(),
            Source::Array(a) => a.len(),
            Source::Hash(h) => h.table(&cx.heap).map_or(0, |t| t.slots()),
        }
    }
    /// None where a pair was deleted.
    fn pair(self, cx: &Cx, at: usize) -> Option<(Value, Value)> {
        match self {
            Source::List(l) => l.get(at).map(|v| (*v, Value::TRUE)),
            Source::Array(a) => a.get(at).map(|v| (v, Value::TRUE)),
            Source::Hash(h) => h.table(&cx.heap)?.entry(at).map(|e| (e.key, e.value)),
        }
    }
}

/// One pair with the code of its key.
#[derive(Clone, Copy)]
struct Coded {
    code: u64,
    key: Value,
    value: Value,
}

/// Which pairs are wanted: all, or those whose keys are in a Hash, which compares as the one does that they are put into.
#[derive(Clone, Copy)]
pub(crate) enum Wanted {
    All,
    In(Ref<HashCell>),
}

impl Wanted {
    /// None: Ruby code decides it.
    fn has(self, cx: &Cx, c: Coded) -> Option<bool> {
        match self {
            Wanted::All => Some(true),
            Wanted::In(h) => h.table(&cx.heap).map_or(Some(false), |t| find(t, c).map(|at| at.is_some())),
        }
    }
}

/// Walks the pairs in order: `quick` does what it can in `into`'s table (false: not decided), `slow` all else. A Hash that they come from takes no new keys
/// meanwhile.
fn walk(
    cx: &mut Cx,
    into: Ref<HashCell>,
    from: Source<'_>,
    wanted: Wanted,
    quick: impl Fn(&mut HashTable, Coded) -> bool,
    slow: fn(&mut Cx, Ref<HashCell>, Value, Value) -> Result<()>,
) -> Result<()> {
    let by_identity = into.by_identity();
    let mut at = 0;
    loop {
        let mut batch = [Coded { code: 0, key: Value::NIL, value: Value::NIL }; BATCH];
        let (mut n, mut other) = (0, None);
        let slots = from.slots(cx);
        while n < BATCH && other.is_none() && at < slots {
            let pair = from.pair(cx, at);
            at += 1;
            let Some((key, value)) = pair else { continue };
            let code = match by_identity {
                true => Some(cx.identity_hash(key)),
                // A String that isn't frozen is copied when it becomes a key.
                false if key.is_kind(Kind::String) && !key.is_frozen() => None,
                false => cx.quick_hash(key),
            };
            match code {
                Some(code) => match wanted.has(cx, Coded { code, key, value }) {
                    Some(true) => {
                        batch[n] = Coded { code, key, value };
                        n += 1;
                    }
                    Some(false) => {}
                    None => other = Some((key, value)),
                },
                None => other = Some((key, value)),
            }
        }
        if n == 0 && other.is_none() && at >= slots {
            return Ok(());
        }
        let mut done = 0;
        if !is_iterating(into) && n > 0 {
            cx.cell_changes(into.as_value());
            done = HashCell::change(into, &mut cx.heap, |t| batch[..n].iter().position(|c| !quick(t, *c)).unwrap_or(n));
        }
        for c in &batch[done..n] {
            slow(cx, into, c.key, c.value)?;
        }
        if let Some((key, value)) = other
            && match wanted {
                Wanted::All => true,
                Wanted::In(h) => cx.hash_get(h, key)?.is_some(),
            }
        {
            slow(cx, into, key, value)?;
        }
        zakuro_base::progress::step(at / BATCH * BATCH + BATCH - 1, cx)?;
    }
}

fn find(t: &HashTable, c: Coded) -> Option<Option<usize>> {
    let undecided = Cell::new(false);
    let found = t.find(c.code, sameness(t.by_identity, c.key, &undecided));
    (found.is_some() || !undecided.get()).then_some(found)
}

/// How a table compares a key with those that it has; notes if it can't.
fn sameness(by_identity: bool, key: Value, undecided: &Cell<bool>) -> impl FnMut(Value) -> bool {
    move |k| {
        if by_identity {
            return k == key;
        }
        quick_eql(key, k).unwrap_or_else(|| {
            undecided.set(true);
            false
        })
    }
}

fn guarded(cx: &mut Cx, from: Source<'_>, f: impl FnOnce(&mut Cx) -> Result<()>) -> Result<()> {
    let own = match from {
        Source::Hash(h) if h.header.flags & flags::SHARED == 0 => Some(h),
        _ => None,
    };
    if let Some(h) = own {
        HashCell::change_unnoticed(h, &mut cx.heap, |t| t.iterating += 1);
    }
    let r = f(cx);
    if let Some(h) = own {
        HashCell::change_unnoticed(h, &mut cx.heap, |t| t.iterating -= 1);
    }
    r
}

/// Puts pairs into a Hash; of equal keys the first one stays, and the last one's value counts. `slow` puts in one pair.
pub(crate) fn insert_all(
    cx: &mut Cx,
    into: Ref<HashCell>,
    from: Source<'_>,
    wanted: Wanted,
    slow: fn(&mut Cx, Ref<HashCell>, Value, Value) -> Result<()>,
) -> Result<()> {
    let slots = from.slots(cx);
    if matches!(wanted, Wanted::All) && slots > 8 && into.len() == 0 && !is_iterating(into) {
        HashCell::change(into, &mut cx.heap, |t| t.reserve(slots.min(ROOM)));
    }
    fn put(t: &mut HashTable, c: Coded) -> bool {
        let undecided = Cell::new(false);
        let same = sameness(t.by_identity, c.key, &undecided);
        t.put(Entry { hash: c.code, key: c.key, value: c.value }, same, || !undecided.get())
    }
    guarded(cx, from, |cx| walk(cx, into, from, wanted, put, slow))
}

/// Removes keys from a Hash, which is another one than they come from.
pub(crate) fn remove_all(cx: &mut Cx, into: Ref<HashCell>, from: Source) -> Result<()> {
    fn remove(t: &mut HashTable, c: Coded) -> bool {
        let undecided = Cell::new(false);
        t.take_of_many(c.code, sameness(t.by_identity, c.key, &undecided)) || !undecided.get()
    }
    let done = guarded(cx, from, |cx| walk(cx, into, from, Wanted::All, remove, |cx, into, k, _| cx.hash_delete(into, k).map(|_| ())));
    HashCell::change_unnoticed(into, &mut cx.heap, HashTable::tidy);
    done
}

/// Takes those keys out that a Hash has, and puts those in that it has not, which is another one than they come from. `slow` does so with one.
pub(crate) fn toggle_all(
    cx: &mut Cx,
    into: Ref<HashCell>,
    from: Source<'_>,
    slow: fn(&mut Cx, Ref<HashCell>, Value, Value) -> Result<()>,
) -> Result<()> {
    fn toggle(t: &mut HashTable, c: Coded) -> bool {
        let undecided = Cell::new(false);
        if t.take_of_many(c.code, sameness(t.by_identity, c.key, &undecided)) {
            return true;
        }
        if !undecided.get() {
            t.push(c.code, c.key, c.value);
        }
        !undecided.get()
    }
    let done = guarded(cx, from, |cx| walk(cx, into, from, Wanted::All, toggle, slow));
    HashCell::change_unnoticed(into, &mut cx.heap, HashTable::tidy);
    done
}

/// [`rebuild`] by identity, where no Ruby code decides anything, of a table that is not large. (A key may stand there twice, if it was changed between.)
fn by_identity_at_once(cx: &mut Cx, this: Ref<HashCell>) {
    let mut table = HashTable::default();
    table.by_identity = true;
    table.reserve(this.len());
    for e in this.table(&cx.heap).into_iter().flat_map(|t| t.iter()) {
        let hash = cx.identity_hash(e.key);
        table.put(Entry { hash, ..*e }, |k| k == e.key, || true);
    }
    HashCell::change(this, &mut cx.heap, |t| {
        table.iterating = t.iterating;
        *t = table;
    });
}

/// Makes a Hash's table anew, with the codes that its keys have now, or by identity from now on. Nobody walks it; a key's `hash` may begin to.
pub(crate) fn rebuild(cx: &mut Cx, this: Ref<HashCell>, by_identity: bool) -> Result<()> {
    if this.len() == 0 {
        HashCell::change(this, &mut cx.heap, |t| t.by_identity = by_identity);
        return Ok(());
    }
    if by_identity && this.len() <= ROOM {
        by_identity_at_once(cx, this);
        return Ok(());
    }
    let fresh = cx.new_hash();
    HashCell::change(fresh, &mut cx.heap, |t| t.by_identity = by_identity);
    insert_all(cx, fresh, Source::Hash(this), Wanted::All, |cx, into, k, v| cx.hash_set(into, k, v))?;
    let mut table = HashCell::change(fresh, &mut cx.heap, std::mem::take);
    HashCell::change(this, &mut cx.heap, |t| {
        table.iterating = t.iterating;
        *t = table;
    });
    Ok(())
}
