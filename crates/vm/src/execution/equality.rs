//! `==`, `eql?`, `hash`, and Hash operations by key.
//!
//! Codes (`u64`) stand in tables and are the process's; what a program sees of one is [`Cx::shown_hash`], which is the VM's (see `zakuro_base::hash_seed`). A builtin
//! `hash` method shows its code; when a table asks it, the code is taken out again, so that it is the same in every VM. What a method of the program
//! gives is a number like any other.

use crate::builtin::Block;
use crate::methods::fast;
use crate::raise::{Exc, Result};
use crate::vm::Cx;
use zakuro_base::HashSeed;
use zakuro_base::progress::{Stopped, step};
use zakuro_object::hash::Entry;
use zakuro_object::*;

/// Code of bytes, as String keys use it.
pub fn hash_bytes(b: &[u8]) -> u64 {
    HashSeed::of_process().bytes(b)
}
/// Code of a String: that of its bytes, and of its encoding where equal bytes would be another String in UTF-8 (see [`string_comparable`]).
#[inline]
pub fn string_code(seed: &HashSeed, bytes: &[u8], encoding: u8) -> u64 {
    let code = seed.bytes(bytes);
    if encoding == zakuro_object::string::UTF8 || bytes.is_empty() || bytes.is_ascii() && !crate::convert::is_wide(encoding) {
        code
    } else {
        seed.chain(code, encoding.into())
    }
}
/// Code of a sequence of codes.
pub fn combine(codes: &[u64]) -> u64 {
    codes.iter().fold(Code::new(codes.len()), |all, c| all.and(*c)).whole()
}

/// The same one by one.
#[derive(Clone, Copy)]
pub struct Code(&'static HashSeed, u64);

impl Code {
    /// Of so many.
    pub fn new(n: usize) -> Code {
        let seed = HashSeed::of_process();
        Code(seed, seed.word(n as u64))
    }
    #[must_use]
    pub fn and(self, code: u64) -> Code {
        Code(self.0, self.0.chain(self.1, code))
    }
    pub fn whole(self) -> u64 {
        self.1
    }
}

/// Tags of entries of `inspecting`, in bits that addresses of cells leave free.
const HASHING: u64 = 1;
const CIRCULAR: u64 = 2;

impl Cx {
    /// Whether they are the same object, else `a == b`: how collections look for something, also for NaN.
    pub fn eq(&mut self, a: Value, b: Value) -> Result<bool> {
        if a == b {
            return Ok(true);
        }
        if self.redefined & fast::EQUALITY != 0 {
            return Ok(self.call(a, sym::eq, &[b])?.truthy());
        }
        if a.is_fixnum() && b.is_fixnum() || a.is_sym() && b.is_sym() {
            return Ok(a == b);
        }
        if let (Some(x), Some(y)) = (Ref::<StringCell>::from_value(a), Ref::<StringCell>::from_value(b))
            && a.shape_key() == ids::STRING.0
        {
            return Ok(x.same_bytes(&y) && string_comparable(x, y));
        }
        Ok(self.call(a, sym::eq, &[b])?.truthy())
    }
    /// `a === b`
    pub fn case_eq(&mut self, a: Value, b: Value) -> Result<bool> {
        Ok(self.call(a, sym::eqq, &[b])?.truthy())
    }
    /// `a.eql?(b)`: what Hash keys are compared by.
    pub fn eql(&mut self, a: Value, b: Value) -> Result<bool> {
        if a == b {
            return Ok(true);
        }
        match self.quick_eql(a, b) {
            Some(r) => Ok(r),
            None => Ok(self.call(a, sym::eql, &[b])?.truthy()),
        }
    }
    #[inline]
    fn quick_eql(&self, a: Value, b: Value) -> Option<bool> {
        quick_eql(a, b)
    }
    /// Hash of a key that no Ruby code decides.
    #[inline]
    pub fn quick_hash(&self, v: Value) -> Option<u64> {
        if !v.is_cell() {
            return Some(self.hash_seed.word(v.bits()));
        }
        match v.kind_of_cell() {
            Kind::String => {
                let s = Ref::<StringCell>::of(v);
                Some(string_code(self.hash_seed, s.content(&self.heap), s.encoding()))
            }
            Kind::Float => match v.as_float() {
                Some(f) if f != 0.0 => Some(self.hash_seed.word(f.to_bits())),
                _ => Value::flonum(0.0).map(|zero| self.hash_seed.word(zero.bits())),
            },
            Kind::Bignum => Some(hash_bytes(&Ref::<BignumCell>::of(v).value.to_signed_bytes_le())),
            // A class of a program may have a `hash` of its own. Keys that were moved away stay where they are: a table of them can still be made anew.
            Kind::Class if self.redefined & fast::CLASS_HASH == 0 => Some(self.identity_hash(v)),
            Kind::Moved | Kind::MovedString | Kind::MovedArray | Kind::MovedHash => Some(self.identity_hash(v)),
            _ => None,
        }
    }
    /// `v.hash` as 64 bits.
    pub fn hash_of(&mut self, v: Value) -> Result<u64> {
        if let Some(h) = self.quick_hash(v) {
            return Ok(h);
        }
        if v.is_kind(Kind::Class) && self.is_builtin(v, sym::hash, ids::MODULE) {
            // As `quick_hash` has it while no class has its own.
            return Ok(self.identity_hash(v));
        }
        if v.is_kind(Kind::Object) && self.is_builtin(v, sym::hash, ids::KERNEL) {
            return Ok(self.identity_hash(v));
        }
        if v.is_cell() {
            return self.hash_of_object(v);
        }
        self.hash_by_method(v)
    }
    /// A code as the Integer that a `hash` method returns.
    #[inline]
    pub fn shown_hash(&self, code: u64) -> Value {
        Value::fixnum(self.hash_mask.show(code))
    }
    /// Code of an Array with the builtin `hash`, whatever its elements do.
    pub fn array_hash(&mut self, a: Ref<ArrayCell>) -> Result<u64> {
        let mut h = self.hash_seed.word(a.len() as u64);
        let mut i = 0;
        while let Some(v) = a.get(i) {
            let code = self.hash_of(v)?;
            h = self.hash_seed.chain(h, code);
            i += 1;
        }
        Ok(h)
    }
    /// An object whose own `hash` gives that of another one has that one's code: it finds it in tables, and counts as it in the codes of collections.
    fn hash_by_method(&mut self, v: Value) -> Result<u64> {
        let h = match self.method_of(v, sym::hash) {
            Some(m) => {
                if m.method_kind() == MethodKind::Native
                    && m.owner == ids::ARRAY
                    && let Some(a) = Ref::<ArrayCell>::from_value(v)
                {
                    return self.array_hash(a);
                }
                self.call_method(m, v, sym::hash, &[], false, Block::NONE)?
            }
            None => self.call(v, sym::hash, &[])?,
        };
        if let Some(n) = h.as_fixnum() {
            return Ok(self.hash_mask.hidden(n));
        }
        let h = self.to_int(h)?;
        Ok(self.quick_hash(h).unwrap_or(0))
    }
    /// `hash` of an object that may contain itself: then the outermost object that does so counts as 0, so that equal structures have equal codes wherever
    /// they begin. The objects being asked are kept in `inspecting` with [`HASHING`], the outermost with [`CIRCULAR`] once a circle is found.
    fn hash_of_object(&mut self, v: Value) -> Result<u64> {
        // SAFETY: with the bit it is no cell's.
        let mark = unsafe { Value::from_bits(v.bits() | HASHING) };
        let outermost = self.inspecting.iter().position(|x| x.bits() & HASHING != 0);
        if let Some(first) = outermost {
            if self.inspecting[first].bits() & CIRCULAR != 0 {
                return Ok(0);
            }
            if self.inspecting[first..].contains(&mark) {
                // SAFETY: as above.
                self.inspecting[first] = unsafe { Value::from_bits(self.inspecting[first].bits() | CIRCULAR) };
                return Ok(0);
            }
        }
        self.check_native_stack()?;
        // Shared Arrays are asked once for each way that leads to them.
        self.safepoint()?;
        let at = self.inspecting.len();
        self.inspecting.push(mark);
        let h = self.hash_by_method(v);
        let circular = self.inspecting.get(at).is_some_and(|x| x.bits() & CIRCULAR != 0);
        self.inspecting.truncate(at);
        if circular { h.map(|_| 0) } else { h }
    }
    /// Hash of a key of a Hash that compares by identity.
    pub fn identity_hash(&self, key: Value) -> u64 {
        self.hash_seed.word(self.identity(key))
    }
    /// `hash` of an object that is equal to itself alone.
    pub fn object_hash(&self, v: Value) -> u64 {
        self.identity_hash(v)
    }
    /// Position of a key that is a word.
    #[inline]
    fn find_word(&self, h: Ref<HashCell>, key: Value) -> Option<usize> {
        h.table(&self.heap)?.find_word(key, || self.hash_seed.word(key.bits()))
    }
    fn key_hash(&mut self, h: Ref<HashCell>, key: Value) -> Result<u64> {
        if h.by_identity() { Ok(self.identity_hash(key)) } else { self.hash_of(key) }
    }
    /// Position of a key.
    fn hash_find(&mut self, h: Ref<HashCell>, hash: u64, key: Value) -> Result<Option<usize>> {
        let Some(t) = h.table(&self.heap) else { return Ok(None) };
        if t.by_identity {
            return Ok(t.find(hash, |k| k == key));
        }
        let mut undecided = false;
        let found = t.find(hash, |k| match self.quick_eql(key, k) {
            Some(r) => r,
            None => {
                undecided = true;
                false
            }
        });
        if found.is_some() || !undecided {
            return Ok(found);
        }
        for i in t.candidates(hash) {
            let Some(k) = h.table(&self.heap).and_then(|t| t.entry(i)).map(|e| e.key) else { continue };
            if self.eql(key, k)? && h.table(&self.heap).and_then(|t| t.entry(i)).is_some_and(|e| e.key == k) {
                return Ok(Some(i));
            }
        }
        Ok(None)
    }
    /// `hash[key]` without default, where no Ruby code is asked; None where it would be.
    pub fn quick_get(&mut self, h: Ref<HashCell>, key: Value) -> Option<Option<Value>> {
        if key.is_word() {
            return Some(self.word_get(h, key));
        }
        let hash = if h.by_identity() { self.identity_hash(key) } else { self.quick_hash(key)? };
        let Some(t) = h.table(&self.heap) else { return Some(None) };
        let mut decided = true;
        let at = t.find(hash, |k| match if t.by_identity { Some(k == key) } else { self.quick_eql(key, k) } {
            Some(same) => same,
            None => {
                decided = false;
                false
            }
        });
        let found = at.and_then(|i| t.entry(i)).map(|e| e.value);
        (found.is_some() || decided).then_some(found)
    }
    /// `hash[key]` without default, of a key that is a word.
    #[inline]
    fn word_get(&self, h: Ref<HashCell>, key: Value) -> Option<Value> {
        let at = self.find_word(h, key)?;
        h.table(&self.heap)?.entry(at).map(|e| e.value)
    }
    /// `hash[key]` without default; None when missing.
    pub fn hash_get(&mut self, h: Ref<HashCell>, key: Value) -> Result<Option<Value>> {
        if h.len() == 0 {
            return Ok(None);
        }
        if key.is_word() {
            return Ok(self.word_get(h, key));
        }
        if let Some(s) = Ref::<StringCell>::from_value(key)
            && !h.by_identity()
        {
            return Ok(self.string_get(h, s));
        }
        let hash = self.key_hash(h, key)?;
        let at = self.hash_find(h, hash, key)?;
        Ok(at.and_then(|i| h.table(&self.heap)?.entry(i)).map(|e| e.value))
    }
    /// `hash[key]` without default, of a String in a Hash that compares by `eql?`.
    fn string_get(&self, h: Ref<HashCell>, key: Ref<StringCell>) -> Option<Value> {
        let t = h.table(&self.heap)?;
        let hash = string_code(self.hash_seed, key.content(&self.heap), key.encoding());
        let same = |k: Ref<StringCell>| k == key || key.same_bytes(&k) && string_comparable(key, k);
        let at = t.find(hash, |k| Ref::<StringCell>::from_value(k).is_some_and(same))?;
        t.entry(at).map(|e| e.value)
    }
    /// Lookup by Symbol.
    pub fn hash_get_sym(&mut self, h: Ref<HashCell>, key: Sym) -> Option<Value> {
        self.hash_get(h, Value::sym(key)).unwrap_or(None)
    }
    /// The stored key that equals `key`.
    pub fn hash_stored_key(&mut self, h: Ref<HashCell>, key: Value) -> Result<Option<Value>> {
        let hash = self.key_hash(h, key)?;
        let at = self.hash_find(h, hash, key)?;
        Ok(at.and_then(|i| h.table(&self.heap)?.entry(i)).map(|e| e.key))
    }
    /// `hash[key] = value`; String keys are copied and frozen. The caller has checked frozen (not captured: the Hash
    /// inside a Set, say, is nobody's receiver). RuntimeError when a key is added during iteration.
    pub fn hash_set(&mut self, h: Ref<HashCell>, key: Value, value: Value) -> Result<()> {
        let (hash, found) = self.hash_place(h, key)?;
        if let Some((i, _)) = found {
            self.hash_put(h, i, value);
            return Ok(());
        }
        self.hash_add(h, hash, key, value)
    }
    /// The code of a key, and where it stands with what value, if it is there: until Ruby code runs.
    #[inline]
    pub fn hash_place(&mut self, h: Ref<HashCell>, key: Value) -> Result<(u64, Option<(usize, Value)>)> {
        let (hash, found) = if key.is_word() {
            (self.hash_seed.word(key.bits()), self.find_word(h, key))
        } else {
            let hash = self.key_hash(h, key)?;
            (hash, self.hash_find(h, hash, key)?)
        };
        Ok((hash, found.and_then(|i| Some((i, h.table(&self.heap)?.entry(i)?.value)))))
    }
    /// Gives the entry at a place another value. As for [`Self::hash_set`].
    #[inline]
    pub fn hash_put(&mut self, h: Ref<HashCell>, at: usize, value: Value) {
        self.cell_changes(h.as_value());
        HashCell::set_value(h, at, value);
    }
    /// Adds a key with its code that is not there. As [`Self::hash_set`].
    pub fn hash_add(&mut self, h: Ref<HashCell>, hash: u64, key: Value, value: Value) -> Result<()> {
        if h.is_iterating() {
            return self.raise(ids::RUNTIME_ERROR, "can't add a new key into hash during iteration");
        }
        let mut key = key;
        if let Some(s) = Ref::<StringCell>::from_value(key)
            && !key.is_frozen()
            && !h.by_identity()
            // Those of subclasses stay what they are.
            && self.class_of(key) == ids::STRING
        {
            key = StringCell::substring(&self.heap, ids::STRING.0, s, 0, s.len()).as_value();
            key.set_flags(flags::FROZEN);
        }
        self.cell_changes(h.as_value());
        HashCell::push(h, &mut self.heap, hash, key, value);
        Ok(())
    }
    /// Adds a key to a Hash that no program sees, if it is not there: whether it was not. Strings are not copied, so who can change them meanwhile changes what is found.
    pub fn hash_note(&mut self, h: Ref<HashCell>, key: Value) -> Result<bool> {
        let hash = self.key_hash(h, key)?;
        if self.hash_find(h, hash, key)?.is_some() {
            return Ok(false);
        }
        HashCell::push(h, &mut self.heap, hash, key, Value::TRUE);
        Ok(true)
    }
    /// Removes the entry at a position where `hash_each_at` has met this key, or wherever the key is since.
    pub fn hash_delete_at(&mut self, h: Ref<HashCell>, at: usize, key: Value) -> Result<()> {
        if h.table(&self.heap).and_then(|t| t.entry(at)).is_some_and(|e| e.key == key) {
            self.cell_changes(h.as_value());
            HashCell::change(h, &mut self.heap, |t| t.remove_at(at));
        } else {
            self.hash_delete(h, key)?;
        }
        Ok(())
    }
    /// Removes a key; returns its value.
    pub fn hash_delete(&mut self, h: Ref<HashCell>, key: Value) -> Result<Option<Value>> {
        if h.len() == 0 {
            return Ok(None);
        }
        let hash = self.key_hash(h, key)?;
        match self.hash_find(h, hash, key)? {
            Some(i) => {
                self.cell_changes(h.as_value());
                Ok(Some(HashCell::change(h, &mut self.heap, |t| t.remove_at(i)).value))
            }
            None => Ok(None),
        }
    }
    /// Pairs in order, as they are now.
    pub fn hash_pairs(&mut self, h: Ref<HashCell>) -> crate::make::Pairs {
        crate::make::Pairs::of(self, h)
    }
    /// Walks the live pairs while `f` may run Ruby code and change the Hash (adding keys raises). `f` returns false to stop.
    #[inline]
    pub fn hash_each(&mut self, h: Ref<HashCell>, mut f: impl FnMut(&mut Cx, Value, Value) -> Result<bool>) -> Result<()> {
        self.hash_each_at(h, |cx, _, k, v| f(cx, k, v))
    }
    /// Yields what `given` makes of the pairs of a Hash, which may change meanwhile but gets no new keys.
    pub fn hash_yield<const N: usize>(&mut self, h: Ref<HashCell>, block: Block, given: impl Fn(Value, Value) -> [Value; N]) -> Result<()> {
        self.hash_walk(h, block, |_, e| given(e.key, e.value), |_, _, _, _| true)
    }
    /// The same; `keep` gets where the entry stands, the entry and what the block answers, and says whether to go on. It does what [`Cx::walk`] says that it may.
    pub fn hash_walk<const N: usize>(
        &mut self,
        h: Ref<HashCell>,
        block: Block,
        given: impl Fn(&Cx, &Entry) -> [Value; N],
        mut keep: impl FnMut(&mut Cx, usize, Entry, Value) -> bool,
    ) -> Result<()> {
        // Between the entries of a Hash that has lost most of them somebody has to poll.
        const SPARSE: usize = 8;
        let (slots, mut i) = h.table(&self.heap).map_or((0, 0), |t| (t.slots(), t.first_slot()));
        if slots - i > SPARSE * (h.len() + SPARSE) {
            return self.hash_each_at(h, |cx, at, _, _| {
                let Some(e) = h.table(&cx.heap).and_then(|t| t.entry(at)).copied() else { return Ok(true) };
                let r = cx.yield_values(block, &given(cx, &e))?;
                Ok(keep(cx, at, e, r))
            });
        }
        let now = std::cell::Cell::new(None);
        let next = |cx: &mut Cx| {
            let t = h.table(&cx.heap)?;
            while i < t.slots() {
                i += 1;
                if let Some(e) = t.entry(i - 1) {
                    now.set(Some((i - 1, *e)));
                    return Some(given(cx, e));
                }
            }
            None
        };
        let keep = |cx: &mut Cx, r| now.get().is_none_or(|(at, e)| keep(cx, at, e, r));
        self.while_iterating(h, |cx| cx.walk(block, next, keep, |_, _| Ok(false)))
    }
    /// The same, with the position of each entry.
    pub fn hash_each_at(&mut self, h: Ref<HashCell>, mut f: impl FnMut(&mut Cx, usize, Value, Value) -> Result<bool>) -> Result<()> {
        self.while_iterating(h, |cx| {
            let mut i = h.table(&cx.heap).map_or(0, |t| t.first_slot());
            let mut result = Ok(());
            while let Some(t) = h.table(&cx.heap) {
                if i >= t.slots() {
                    break;
                }
                if let Some(e) = t.entry(i).copied() {
                    match f(cx, i, e.key, e.value) {
                        Ok(true) => {}
                        Ok(false) => break,
                        Err(e) => {
                            result = Err(e);
                            break;
                        }
                    }
                }
                i += 1;
                // Another thread that ran here would meet a Hash that takes no key.
                if cx.threads.is_none()
                    && let Err(Stopped) = step(i, cx)
                {
                    result = Err(Exc);
                    break;
                }
            }
            result
        })
    }
    /// Runs what walks a Hash, which takes no new keys meanwhile.
    pub fn while_iterating(&mut self, h: Ref<HashCell>, walk: impl FnOnce(&mut Cx) -> Result<()>) -> Result<()> {
        if h.len() == 0 {
            return Ok(());
        }
        // Hashes of the boot image are read by many VMs at once, and never change.
        let own = h.header.flags & flags::SHARED == 0;
        if own {
            HashCell::walk_begins(h);
        }
        let result = walk(self);
        if own {
            HashCell::walk_ends(h);
        }
        result
    }
}

/// `eql?` when no Ruby code decides it.
#[inline]
pub fn quick_eql(a: Value, b: Value) -> Option<bool> {
    if a == b {
        return Some(true);
    }
    if !a.is_cell() || !b.is_cell() {
        // -0.0 is a cell, 0.0 is not; they are the same key.
        if (a.is_kind(Kind::Float) || b.is_kind(Kind::Float)) && a.as_float().is_some() && a.as_float() == b.as_float() {
            return Some(true);
        }
        // An object of a program may be `eql?` to what is no cell.
        return if a.is_cell() && !matches!(a.kind_of_cell(), Kind::String | Kind::Float | Kind::Bignum) { None } else { Some(false) };
    }
    match (a.kind_of_cell(), b.kind_of_cell()) {
        (Kind::String, Kind::String) => {
            let (x, y) = (Ref::<StringCell>::of(a), Ref::<StringCell>::of(b));
            Some(x.same_bytes(&y) && string_comparable(x, y))
        }
        (Kind::Float, Kind::Float) => Some(a.as_float() == b.as_float()),
        (Kind::Bignum, Kind::Bignum) => Some(Ref::<BignumCell>::of(a).value == Ref::<BignumCell>::of(b).value),
        (Kind::String | Kind::Float | Kind::Bignum, _) => Some(false),
        _ => None,
    }
}

/// Whether equal bytes in these encodings are equal Strings: same encoding, or both ASCII only, where that means the same characters, or none.
pub fn string_comparable(a: Ref<StringCell>, b: Ref<StringCell>) -> bool {
    let narrow = || ![a, b].iter().any(|s| crate::convert::is_wide(s.encoding()));
    a.encoding() == b.encoding() || a.is_ascii() && (a.len() == 0 || narrow())
}
