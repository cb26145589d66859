//! Sets of values that are `eql?` when they are the same word ([`Value::is_word`]).

use zakuro_base::memory;
use zakuro_vm::*;

/// A table with open addressing and linear probing, at most half full. Places go by the process's seed: who chooses the values can't choose where they meet.
pub struct Words {
    /// 0: free. No value is that word.
    table: Vec<u64>,
    len: usize,
    shift: u32,
}

impl Words {
    /// An empty set with room for what is in an Array; None if that holds other values, or where so much memory is refused.
    pub fn for_elements(cx: &mut Cx, a: Ref<ArrayCell>) -> Option<Words> {
        if !are_all(cx, a) {
            return None;
        }
        let size = (a.len() * 2).next_power_of_two().max(16);
        if !cx.heap.admits(size * size_of::<u64>()) {
            return None;
        }
        let mut table = Vec::new();
        memory::grow(|| table.try_reserve_exact(size).is_ok());
        table.resize(size, 0);
        Some(Words { table, len: 0, shift: 64 - size.trailing_zeros() })
    }

    /// Where a word is, or would be.
    #[inline]
    fn place(&self, cx: &Cx, v: Value) -> usize {
        let Some(code) = cx.quick_hash(v) else { unreachable!("a word has a code") };
        let mut at = (code >> self.shift) as usize;
        while self.table[at] != 0 && self.table[at] != v.bits() {
            at = (at + 1) & (self.table.len() - 1);
        }
        at
    }

    /// What came into an Array meanwhile (natives that poll let other threads run) is in no such set.
    #[inline]
    pub fn has(&self, cx: &Cx, v: Value) -> bool {
        v.is_word() && self.table[self.place(cx, v)] != 0
    }

    /// Whether it was not there. Beyond the room that was made, and for what is no word: nothing is added.
    #[inline]
    pub fn insert(&mut self, cx: &Cx, v: Value) -> bool {
        if !v.is_word() || self.len >= self.table.len() / 2 {
            return false;
        }
        let at = self.place(cx, v);
        let new = self.table[at] == 0;
        self.table[at] = v.bits();
        self.len += new as usize;
        new
    }
}

/// Whether an Array holds words alone.
pub fn are_all(cx: &Cx, a: Ref<ArrayCell>) -> bool {
    a.elements(&cx.heap).iter().all(|v| v.is_word())
}
