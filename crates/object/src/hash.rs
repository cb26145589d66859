//! Hash cells: insertion-ordered entries with tombstones, and an index over them once there are more than sixteen.
//!
//! Keys are compared by the caller (a custom `eql?` runs Ruby code), so probing works with stored hashes and hands out candidates.
//! The table is part of the cell, so a small Hash is one cell and one vector; the index has a box of its own, since few Hashes have one.
//! Rejected: indexmap (ordered delete is O(n)); the table in a box (an allocation per Hash, which is most of what a small one costs).

use crate::cells::{HANDED_OVER, Kind, init_header};
use crate::value::{Cell, Ref, Value};
use hashbrown::HashTable as Index;
use zakuro_base::{Sym, memory};
use zakuro_heap::{Header, Heap, Marker, Written, flags};

const LINEAR: usize = 16;

#[derive(Clone, Copy)]
pub struct Entry {
    pub hash: u64,
    /// UNDEF: deleted.
    pub key: Value,
    pub value: Value,
}

/// The table of a Hash.
#[derive(Default)]
pub struct HashTable {
    entries: Vec<Entry>,
    wide: Option<Box<Wide>>,
    live: u32,
    /// First entry that may be live.
    first: u32,
    /// Number of running iterations: adding keys is an error then, and entries are not compacted.
    pub iterating: u32,
    pub by_identity: bool,
}

impl Clone for HashTable {
    fn clone(&self) -> HashTable {
        let HashTable { live, first, iterating, by_identity, .. } = *self;
        HashTable { entries: self.entries.clone(), wide: self.wide.clone(), live, first, iterating, by_identity }
    }
    /// Takes over the content, not the number of iterations. What was made room for is used again, unless it is far too much.
    fn clone_from(&mut self, from: &HashTable) {
        if self.entries.capacity() / 4 > from.entries.len() {
            self.entries = Vec::new();
        }
        self.entries.clone_from(&from.entries);
        match (&mut self.wide, &from.wide) {
            (Some(w), Some(o)) => {
                w.index.clone_from(&o.index);
                w.forget();
            }
            (w, o) => *w = o.clone(),
        }
        (self.live, self.first, self.by_identity) = (from.live, from.first, from.by_identity);
    }
}

#[repr(C)]
pub struct HashCell {
    pub header: Header,
    table: HashTable,
    /// Default value, or default Proc when `default_is_proc`.
    pub default: Value,
}
const _: () = assert!(size_of::<HashCell>() == 64, "a size class");
/// `aux`: the default is a Proc.
const DEFAULT_IS_PROC: u16 = 1;
impl Cell for HashCell {
    const KIND: Kind = Kind::Hash;
}

/// What only tables of more than [`LINEAR`] entries have.
#[derive(Default)]
struct Wide {
    index: Index<u32>,
    /// Which entries from [`ALWAYS`] on were written since the collector traced the table, so that it need not look at all of them each time.
    written: Written,
    /// It was traced, and no entry has moved since.
    told: bool,
}
impl Clone for Wide {
    fn clone(&self) -> Wide {
        // The copy belongs to another cell, or replaces the table of one.
        Wide::new(self.index.clone())
    }
}

/// Entries below this are always looked at by the collector: of smaller tables nothing is noted.
const ALWAYS: usize = 1024;

impl Wide {
    fn new(index: Index<u32>) -> Wide {
        Wide { index, written: Written::default(), told: false }
    }
    /// An entry is written.
    #[inline(always)]
    fn note(&mut self, at: usize) {
        if at >= ALWAYS && self.told {
            // Without memory for it: all of them, then.
            self.told = self.written.note(at - ALWAYS, 1);
        }
    }
    /// Entries move.
    fn forget(&mut self) {
        (self.written, self.told) = (Written::default(), false);
    }
}

/// Outcome of a probe step.
pub enum Probe {
    Found(usize),
    Missing,
}

impl HashTable {
    pub fn len(&self) -> usize {
        self.live as usize
    }
    /// Length of the entry vector, tombstones included: the bound of positional iteration.
    pub fn slots(&self) -> usize {
        self.entries.len()
    }
    /// Where positional iteration may begin: nothing lives before. A Hash used as a queue has many deleted entries there.
    #[inline]
    pub fn first_slot(&self) -> usize {
        self.first as usize
    }
    #[inline]
    pub fn entry(&self, i: usize) -> Option<&Entry> {
        self.entries.get(i).filter(|e| !e.key.is_undef())
    }
    pub fn set_value(&mut self, i: usize, v: Value) {
        if let Some(wide) = &mut self.wide {
            wide.note(i);
        }
        self.entries[i].value = v;
    }
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries[(self.first as usize).min(self.entries.len())..].iter().filter(|e| !e.key.is_undef())
    }
    /// Marks keys and values; of a large table that was traced before only what was written since.
    pub(crate) fn trace(&mut self, cell: *mut Header, m: &mut Marker<'_>) {
        let len = self.entries.len();
        let wide = self.wide.as_deref_mut().filter(|_| len > ALWAYS);
        if let Some(w) = wide {
            if m.is_retracing() && w.told {
                mark_entries(&self.entries[..ALWAYS], m);
                w.written.take(|i| mark_entries(self.entries.get(ALWAYS + i).map_or(&[], std::slice::from_ref), m));
                return;
            }
            let part = m.part(cell, len);
            if part.start == 0 && !m.is_check() {
                w.written.clear(len - ALWAYS);
                w.told = true;
            }
            mark_entries(&self.entries[part], m);
            return;
        }
        mark_entries(&self.entries[(self.first as usize).min(len)..], m);
    }
    /// Positions of entries whose stored hash is `hash` and that satisfy `same`. `same` must not call Ruby.
    #[inline]
    pub fn find(&self, hash: u64, mut same: impl FnMut(Value) -> bool) -> Option<usize> {
        match self.wide.as_ref().map(|w| &w.index) {
            None => (self.first as usize..self.entries.len()).find(|&i| {
                let e = &self.entries[i];
                e.hash == hash && !e.key.is_undef() && same(e.key)
            }),
            Some(ix) => ix
                .find(hash, |&i| {
                    let e = &self.entries[i as usize];
                    e.hash == hash && same(e.key)
                })
                .map(|i| *i as usize),
        }
    }
    /// Position of a key that is `eql?` to itself alone ([`Value::is_word`]). Small tables are looked through without its hash code.
    #[inline]
    pub fn find_word(&self, key: Value, hash: impl FnOnce() -> u64) -> Option<usize> {
        match &self.wide {
            None => {
                let first = (self.first as usize).min(self.entries.len());
                self.entries[first..].iter().position(|e| e.key == key).map(|k| first + k)
            }
            Some(w) => w.index.find(hash(), |&i| self.entries[i as usize].key == key).map(|i| *i as usize),
        }
    }
    /// Positions of all entries with this stored hash (for comparisons that may call Ruby).
    pub fn candidates(&self, hash: u64) -> Vec<usize> {
        match self.wide.as_ref().map(|w| &w.index) {
            None => (0..self.entries.len()).filter(|&i| self.entries[i].hash == hash && !self.entries[i].key.is_undef()).collect(),
            Some(ix) => ix.iter_hash(hash).map(|i| *i as usize).filter(|&i| self.entries[i].hash == hash).collect(),
        }
    }
    /// Takes out the entry with this code whose key satisfies `same`, which calls no Ruby.
    pub fn take(&mut self, hash: u64, same: impl FnMut(Value) -> bool) -> Option<Entry> {
        let at = self.unindex(hash, same)?;
        Some(self.leave(at))
    }
    /// The same of one of many that go: leaves the table with tombstones, up to [`HashTable::tidy`]. Whether there was one.
    pub fn take_of_many(&mut self, hash: u64, same: impl FnMut(Value) -> bool) -> bool {
        let at = self.unindex(hash, same);
        if let Some(at) = at {
            self.bury(at);
        }
        at.is_some()
    }
    /// Where the entry stands, which the index has no more.
    fn unindex(&mut self, hash: u64, mut same: impl FnMut(Value) -> bool) -> Option<usize> {
        let Some(wide) = &mut self.wide else { return self.find(hash, same) };
        let entries = &self.entries;
        let found = wide.index.find_entry(hash, |&i| {
            let e = &entries[i as usize];
            e.hash == hash && same(e.key)
        });
        let (at, _) = found.ok()?.remove();
        Some(at as usize)
    }
    /// Gives the key with this code that satisfies `same`, which calls no Ruby, the value; else the entry is appended, if `may` says so in the end. Whether it is there now.
    pub fn put(&mut self, e: Entry, mut same: impl FnMut(Value) -> bool, may: impl FnOnce() -> bool) -> bool {
        if self.has_room()
            && let Some(wide) = &mut self.wide
        {
            let entries = &self.entries;
            let slot = wide.index.entry(
                e.hash,
                |&i| {
                    let e2 = &entries[i as usize];
                    e2.hash == e.hash && same(e2.key)
                },
                |&i| entries[i as usize].hash,
            );
            let at = self.entries.len();
            match slot {
                hashbrown::hash_table::Entry::Occupied(there) => {
                    let at = *there.get() as usize;
                    self.set_value(at, e.value);
                    return true;
                }
                hashbrown::hash_table::Entry::Vacant(_) if !may() => return false,
                hashbrown::hash_table::Entry::Vacant(place) => place.insert(at as u32),
            };
            wide.note(at);
            self.entries.push(e);
            self.live += 1;
            return true;
        }
        match self.find(e.hash, same) {
            Some(at) => self.set_value(at, e.value),
            None if may() => {
                self.push(e.hash, e.key, e.value);
            }
            None => return false,
        }
        true
    }
    /// Whether one more entry fits in what it has.
    #[inline]
    fn has_room(&self) -> bool {
        let indexed = match &self.wide {
            Some(w) => w.index.len() < w.index.capacity(),
            None => self.entries.len() < LINEAR,
        };
        indexed && self.entries.len() < self.entries.capacity()
    }
    /// Appends a key that is not there. Returns its position.
    pub fn push(&mut self, hash: u64, key: Value, value: Value) -> usize {
        if self.entries.len() == self.entries.capacity() && self.iterating == 0 && self.len() < self.entries.len() / 2 {
            self.compact();
        }
        let at = self.entries.len();
        // Before anything is changed: there may be no memory.
        if at == self.entries.capacity() {
            memory::grow(|| self.entries.try_reserve(1).is_ok());
        }
        if let Some(ix) = self.wide.as_mut().map(|w| &mut w.index)
            && ix.len() == ix.capacity()
        {
            let entries = &self.entries;
            memory::grow(|| ix.try_reserve(1, |&i| entries[i as usize].hash).is_ok());
        }
        if self.wide.is_none() && at >= LINEAR {
            self.reindex();
        }
        self.entries.push(Entry { hash, key, value });
        self.live += 1;
        let entries = &self.entries;
        if let Some(wide) = &mut self.wide {
            wide.index.insert_unique(hash, at as u32, |&i| entries[i as usize].hash);
            wide.note(at);
        }
        at
    }
    /// [`HashTable::push`], of a table that has room mostly and no index.
    #[inline(always)]
    pub fn push_one_of_few(&mut self, hash: u64, key: Value, value: Value) {
        if self.wide.is_none() && self.entries.len() < LINEAR.min(self.entries.capacity()) {
            self.entries.push(Entry { hash, key, value });
            self.live += 1;
        } else {
            self.push(hash, key, value);
        }
    }
    /// A table of distinct keys with their hash codes.
    pub fn from_entries(entries: impl ExactSizeIterator<Item = Entry>) -> HashTable {
        let mut t = HashTable { entries: entries.collect(), ..HashTable::default() };
        t.live = t.entries.len() as u32;
        if t.entries.len() > LINEAR {
            t.reindex();
        }
        t
    }
    /// The same before their codes are known: [`HashTable::set_hash`], then [`HashTable::index`].
    pub fn from_entries_unindexed(entries: Vec<Entry>) -> HashTable {
        HashTable { live: entries.len() as u32, entries, ..HashTable::default() }
    }
    pub fn index(&mut self) {
        if self.entries.len() > LINEAR {
            self.reindex();
        }
    }
    fn reindex(&mut self) {
        let mut ix = Index::new();
        let room = if self.entries.len() < self.entries.capacity() { self.entries.capacity() } else { self.entries.len() * 2 };
        memory::grow(|| ix.try_reserve(room, |_| 0).is_ok());
        let entries = &self.entries;
        for (i, e) in entries.iter().enumerate() {
            if !e.key.is_undef() {
                ix.insert_unique(e.hash, i as u32, |&i| entries[i as usize].hash);
            }
        }
        self.wide = Some(Box::new(Wide::new(ix)));
    }
    /// Drops the tombstones.
    pub fn compact(&mut self) {
        self.entries.retain(|e| !e.key.is_undef());
        self.first = 0;
        if self.wide.is_some() {
            if self.entries.len() > LINEAR { self.reindex() } else { self.wide = None }
        }
    }
    pub fn remove_at(&mut self, at: usize) -> Entry {
        let e = self.entries[at];
        if let Some(ix) = self.wide.as_mut().map(|w| &mut w.index)
            && let Ok(o) = ix.find_entry(e.hash, |&i| i as usize == at)
        {
            o.remove();
        }
        debug_assert_eq!(e.hash, self.entries[at].hash);
        self.leave(at)
    }
    /// Leaves a tombstone of an entry that the index has no more.
    fn leave(&mut self, at: usize) -> Entry {
        let e = self.bury(at);
        if self.live == 0 && self.iterating == 0 {
            self.clear();
        } else if at == self.first as usize {
            while self.entries.get(self.first as usize).is_some_and(|e| e.key.is_undef()) {
                self.first += 1;
            }
            if self.first > 32 && self.first as usize > self.entries.len() / 2 && self.iterating == 0 {
                self.compact();
            }
        }
        e
    }
    fn bury(&mut self, at: usize) -> Entry {
        let e = self.entries[at];
        self.entries[at].key = Value::UNDEF;
        self.entries[at].value = Value::NIL;
        self.live -= 1;
        e
    }
    /// After [`HashTable::take_of_many`].
    pub fn tidy(&mut self) {
        if self.live == 0 {
            return self.clear();
        }
        while self.entries.get(self.first as usize).is_some_and(|e| e.key.is_undef()) {
            self.first += 1;
        }
        if self.iterating == 0 && self.len() < self.entries.len() / 2 {
            self.compact();
        }
    }
    pub fn clear(&mut self) {
        if self.iterating > 0 {
            // Positions must stay valid for the running iterations.
            for e in &mut self.entries {
                e.key = Value::UNDEF;
                e.value = Value::NIL;
            }
            self.wide = self.wide.take().map(|_| Box::default());
            self.live = 0;
            return;
        }
        self.entries = Vec::new();
        self.wide = None;
        self.live = 0;
        self.first = 0;
    }
    /// A copy without tombstones and running iterations, for an image.
    pub fn image(&self) -> HashTable {
        let mut copy = self.clone();
        copy.iterating = 0;
        if copy.len() < copy.entries.len() {
            copy.compact();
        }
        copy
    }
    /// Replaces every key and value. Stored hashes stay.
    pub fn map_values(&mut self, f: &mut dyn FnMut(Value) -> Value) {
        if let Some(wide) = &mut self.wide {
            wide.forget();
        }
        for e in &mut self.entries {
            e.key = f(e.key);
            e.value = f(e.value);
        }
    }
    /// Gives the entry at a position another hash. `reindexed` must follow.
    pub fn set_hash(&mut self, i: usize, hash: u64) {
        self.entries[i].hash = hash;
    }
    /// Makes the index anew, after `set_hash`.
    pub fn reindexed(&mut self) {
        if self.wide.is_some() {
            self.reindex();
        }
    }
    /// malloc'ed bytes, with about what malloc adds to each block.
    pub fn weight(&self) -> usize {
        let wide = self.wide.as_ref().map_or(0, |w| w.index.capacity() * 5 + size_of::<Wide>() + 32);
        self.entries.capacity() * size_of::<Entry>() + wide + if self.entries.capacity() > 0 { 16 } else { 0 }
    }
    /// The two blocks that may be large, of those that it weighs.
    fn blocks(&self) -> [usize; 2] {
        [self.entries.capacity() * size_of::<Entry>(), self.wide.as_ref().map_or(0, |w| w.index.capacity() * 5)]
    }
    pub fn reserve(&mut self, n: usize) {
        memory::grow(|| self.entries.try_reserve(n).is_ok());
        if n > LINEAR && self.wide.is_none() {
            self.reindex();
        }
    }
}

fn mark_entries(entries: &[Entry], m: &mut Marker<'_>) {
    for e in entries {
        if !e.key.is_undef() {
            m.mark_value_bits(e.key.bits());
            m.mark_value_bits(e.value.bits());
        }
    }
}

impl HashCell {
    /// Marks what a Hash refers to.
    ///
    /// # Safety
    /// A live Hash of the heap that is marked.
    pub(crate) unsafe fn trace(p: *mut HashCell, m: &mut Marker<'_>) {
        // SAFETY: the caller's promise.
        unsafe {
            m.mark_value_bits((*p).default.bits());
            (*p).table.trace(p.cast(), m);
        }
    }
    #[inline]
    pub fn make(heap: &Heap, shape: u32) -> Ref<HashCell> {
        let p = heap.alloc(size_of::<HashCell>()) as *mut HashCell;
        // SAFETY: a new cell of the right size, each of whose fields is written. (One by one: a cell that is made elsewhere is copied right behind the stores that made it.)
        unsafe {
            init_header(p as *mut Header, shape, Kind::Hash, 0);
            (&raw mut (*p).table).write(HashTable::default());
            (&raw mut (*p).default).write(Value::NIL);
            Ref::from_ptr(p)
        }
    }
    /// What others see through the heap: [`Ref::table`].
    #[inline]
    pub(crate) fn own_table(&self) -> Option<&HashTable> {
        let t = &self.table;
        (t.entries.capacity() > 0 || t.by_identity || t.iterating > 0).then_some(t)
    }
    /// The table, for who has no heap to borrow: what looks at every cell of a VM that stands still. All others take [`Ref::table`].
    ///
    /// # Safety
    /// Nothing changes the Hash, and its cell lives, as long as the table is looked at.
    pub unsafe fn table_unwatched<'a>(&self) -> Option<&'a HashTable> {
        // SAFETY: the caller's word.
        self.own_table().map(|t| unsafe { &*std::ptr::from_ref(t) })
    }
    #[inline]
    pub fn by_identity(&self) -> bool {
        self.table.by_identity
    }
    /// Whether some walk goes on, during which no key may be added.
    #[inline]
    pub fn is_iterating(&self) -> bool {
        self.table.iterating > 0
    }
    /// The value of a Symbol as key.
    pub fn by_symbol(&self, name: Sym) -> Option<Value> {
        let key = Value::sym(name);
        self.table.iter().find(|e| e.key == key).map(|e| e.value)
    }
    #[inline]
    pub fn len(&self) -> usize {
        self.table.len()
    }
    #[inline]
    pub fn default_is_proc(&self) -> bool {
        self.header.aux & DEFAULT_IS_PROC != 0
    }
    #[inline]
    fn set_default_is_proc(&mut self, on: bool) {
        self.header.aux = self.header.aux & !DEFAULT_IS_PROC | (on as u16 * DEFAULT_IS_PROC);
    }
    /// Sets the default value or Proc.
    pub fn set_default(this: Ref<HashCell>, v: Value, is_proc: bool) {
        this.as_value().will_refer();
        let cell = this.cell();
        cell.default = v;
        cell.set_default_is_proc(is_proc);
    }
    /// The table for changing. Runs `f` and accounts for the memory that it takes or frees.
    pub fn change<R>(this: Ref<HashCell>, heap: &mut Heap, f: impl FnOnce(&mut HashTable) -> R) -> R {
        this.as_value().will_refer();
        Self::change_unnoticed(this, heap, f)
    }
    /// Gives the entry at a position another value.
    #[inline]
    pub fn set_value(this: Ref<HashCell>, i: usize, v: Value) {
        this.as_value().will_refer();
        this.cell().table.set_value(i, v);
    }
    /// Fills the table of a Hash that was just made, with room for `n` entries, where it lies: one made elsewhere would be copied, right behind the stores that made it.
    #[inline]
    pub fn fill(this: Ref<HashCell>, heap: &mut Heap, n: usize, put: impl FnOnce(&mut HashTable)) {
        debug_assert!(this.own_table().is_none());
        this.as_value().will_refer();
        let table = &mut this.cell().table;
        // Most get no more.
        memory::grow(|| table.entries.try_reserve_exact(n).is_ok());
        put(table);
        if table.entries.capacity() > 0 {
            heap.set_finalized(this.as_ptr() as *mut Header);
            heap.add_payload(table.weight());
            table.blocks().into_iter().for_each(|block| heap.add_watched(block));
        }
    }
    /// Appends a key that is not there. Returns its position.
    #[inline]
    pub fn push(this: Ref<HashCell>, heap: &mut Heap, hash: u64, key: Value, value: Value) -> usize {
        if this.table.has_room() {
            this.as_value().will_refer();
            return this.cell().table.push(hash, key, value);
        }
        Self::change(this, heap, |t| t.push(hash, key, value))
    }
    /// A change that no image tells and that brings no new reference: the number of walks that go on, hash codes that are made anew.
    pub fn change_unnoticed<R>(this: Ref<HashCell>, heap: &mut Heap, f: impl FnOnce(&mut HashTable) -> R) -> R {
        let (before, blocks) = (this.table.weight(), this.table.blocks());
        let r = f(&mut this.cell().table);
        let after = this.table.weight();
        if after != before {
            this.table.blocks().into_iter().for_each(|block| heap.add_watched(block));
            blocks.into_iter().for_each(|block| heap.sub_watched(block));
        }
        if after > before {
            if before == 0 {
                heap.set_finalized(this.as_ptr() as *mut Header);
            }
            heap.add_payload(after - before);
        } else if before > after {
            heap.sub_payload(before - after);
        }
        r
    }
    /// A walk begins: no keys are added before it ends.
    #[inline(always)]
    pub fn walk_begins(this: Ref<HashCell>) {
        this.cell().table.iterating += 1;
    }
    #[inline(always)]
    pub fn walk_ends(this: Ref<HashCell>) {
        this.cell().table.iterating -= 1;
    }
    /// Whether it was handed over by the call that is being entered ([`HANDED_OVER`]), which it is not any more.
    pub fn take_over(this: Ref<HashCell>) -> bool {
        let own = this.header.flags & HANDED_OVER != 0;
        if own {
            this.cell().header.flags &= !HANDED_OVER;
        }
        own
    }
    /// Copies the whole table of another Hash.
    pub fn replace(this: Ref<HashCell>, heap: &mut Heap, other: Ref<HashCell>) {
        if this == other {
            return;
        }
        Self::change(this, heap, |t| {
            match other.own_table() {
                Some(o) => t.clone_from(o),
                None => *t = HashTable { iterating: t.iterating, ..HashTable::default() },
            }
            if t.len() < t.entries.len() && t.iterating == 0 {
                t.compact();
            }
        });
    }
    /// The blocks of its table that may be large.
    pub(crate) fn blocks(&self) -> [usize; 2] {
        self.table.blocks()
    }
    /// Gives the table back and leaves an empty Hash; returns the table's bytes.
    pub(crate) unsafe fn empty_out(p: *mut HashCell) -> usize {
        // SAFETY: a live cell, left without table, or with an empty one.
        unsafe {
            (*p).default = Value::NIL;
            (*p).set_default_is_proc(false);
            // A running iteration will count itself down there.
            if (*p).table.iterating > 0 {
                (*p).table.clear();
                return 0;
            }
            Self::free(p)
        }
    }
    /// A frozen copy in another heap (module `graft`).
    pub(crate) fn twin(heap: &mut Heap, src: Ref<HashCell>) -> Ref<HashCell> {
        let h = Self::make(heap, src.header.shape);
        if src.len() > 0
            && let Some(t) = src.own_table()
        {
            let copy = t.image();
            Self::change(h, heap, |t| *t = copy);
        } else if src.by_identity() {
            Self::change(h, heap, |t| t.by_identity = true);
        }
        Self::set_default(h, src.default, src.default_is_proc());
        h.cell().header.flags |= flags::FROZEN;
        h
    }
    /// Replaces what a new twin refers to.
    pub(crate) fn redirect(this: Ref<HashCell>, f: &mut dyn FnMut(Value) -> Value) {
        let this = this.cell();
        if this.default.is_cell() {
            this.default = f(this.default);
        }
        this.table.map_values(&mut |v| if v.is_cell() { f(v) } else { v });
    }
    /// Changes the stored hash codes of a new twin to what `f` gives for position and key; None: as it is.
    pub fn rehash_twin(this: Ref<HashCell>, f: &mut dyn FnMut(Value) -> Option<u64>) {
        let t = &mut this.cell().table;
        let mut changed = false;
        for i in 0..t.entries.len() {
            if let Some(hash) = f(t.entries[i].key) {
                changed |= t.entries[i].hash != hash;
                t.entries[i].hash = hash;
            }
        }
        if changed {
            t.reindexed();
        }
    }
    /// Bytes of the table.
    ///
    /// # Safety
    /// A live cell.
    pub(crate) unsafe fn owned(p: *mut HashCell) -> usize {
        // SAFETY: the caller's promise.
        unsafe { (*p).table.weight() }
    }
    pub(crate) unsafe fn free(p: *mut HashCell) -> usize {
        // SAFETY: called once by the finalizer.
        unsafe { std::mem::take(&mut (*p).table).weight() }
    }
}

impl Ref<HashCell> {
    /// The table, for as long as nothing changes a Hash, collects or runs Ruby (module `heap` of zakuro-heap); None while it is as it was made.
    #[inline]
    pub fn table(self, _: &Heap) -> Option<&HashTable> {
        // SAFETY: changes take `&mut Heap`, and cells die only where the heap is borrowed mutably.
        unsafe { self.table_unwatched() }
    }
}

#[cfg(test)]
#[path = "hash_tests.rs"]
mod tests;
