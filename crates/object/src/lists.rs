//! Growable lists of values outside the heap, each with a type that says who keeps the values alive. A plain `Vec` of them says nothing, and the
//! collector does not look into malloc'ed memory: `xtask check` refuses it in builtins and the VM (docs/decisions/0015-the-heap-is-the-token.md).
//!
//! | list | for | kept alive by |
//! |---|---|---|
//! | [`Gathered`] | values put together between two calls into Ruby | nothing collects: it borrows the heap |
//! | `RootedVec` (zakuro-vm) | a list over calls into Ruby | the VM has it among its roots |
//! | [`TracedVec`] | a field of what the collector visits: tables of a VM, payloads | its owner's `trace` |
//! | [`UntracedVec`] | images, messages and the walks that make them | its owner says by what |
//!
//! Rejected: one list with a registration of its own wherever it stands (a field of a payload would be a root, and keep itself alive in a cycle).

use crate::value::Value;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use zakuro_heap::{Heap, Marker};

macro_rules! list {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name(Vec<Value>);

        impl $name {
            #[allow(clippy::new_without_default)] // `std::mem::take` would move the values to where nobody traces them
            pub const fn new() -> $name {
                $name(Vec::new())
            }
            pub fn with_capacity(n: usize) -> $name {
                $name(Vec::with_capacity(n))
            }
            pub fn from_slice(values: &[Value]) -> $name {
                $name(values.to_vec())
            }
            /// `n` times the same value.
            pub fn filled(v: Value, n: usize) -> $name {
                $name(vec![v; n])
            }
            #[inline]
            pub fn push(&mut self, v: Value) {
                self.0.push(v);
            }
            #[inline]
            pub fn pop(&mut self) -> Option<Value> {
                self.0.pop()
            }
            pub fn insert(&mut self, i: usize, v: Value) {
                self.0.insert(i, v);
            }
            pub fn remove(&mut self, i: usize) -> Value {
                self.0.remove(i)
            }
            pub fn swap_remove(&mut self, i: usize) -> Value {
                self.0.swap_remove(i)
            }
            pub fn truncate(&mut self, n: usize) {
                self.0.truncate(n);
            }
            pub fn clear(&mut self) {
                self.0.clear();
            }
            pub fn reserve(&mut self, n: usize) {
                self.0.reserve(n);
            }
            pub fn resize(&mut self, n: usize, v: Value) {
                self.0.resize(n, v);
            }
            pub fn retain(&mut self, keep: impl FnMut(&Value) -> bool) {
                self.0.retain(keep);
            }
            pub fn extend_from_slice(&mut self, values: &[Value]) {
                self.0.extend_from_slice(values);
            }
            /// Malloc'ed bytes.
            pub fn bytes(&self) -> usize {
                self.0.capacity() * size_of::<Value>()
            }
        }
        impl Deref for $name {
            type Target = [Value];
            #[inline(always)]
            fn deref(&self) -> &[Value] {
                &self.0
            }
        }
        impl DerefMut for $name {
            #[inline(always)]
            fn deref_mut(&mut self) -> &mut [Value] {
                &mut self.0
            }
        }
        impl Extend<Value> for $name {
            fn extend<T: IntoIterator<Item = Value>>(&mut self, values: T) {
                self.0.extend(values);
            }
        }
        impl<'a> Extend<&'a Value> for $name {
            fn extend<T: IntoIterator<Item = &'a Value>>(&mut self, values: T) {
                self.0.extend(values);
            }
        }
        impl<'a> IntoIterator for &'a $name {
            type Item = &'a Value;
            type IntoIter = std::slice::Iter<'a, Value>;
            fn into_iter(self) -> Self::IntoIter {
                self.0.iter()
            }
        }
    };
}

list! {
    /// A list in something that the collector visits, which marks its values there: a field, never a variable. It can't be copied or moved out: a
    /// `RootedVec` takes what is to leave it.
    TracedVec
}
list! {
    /// A list whose values no collector is told of: they are cells of an image or a region, which their owner holds, a table of what may die, or the VM's
    /// in a walk that neither runs Ruby nor collects. Of images and messages alone.
    UntracedVec
}

impl crate::trace::Trace for TracedVec {
    fn trace(&self, m: &mut Marker<'_>) {
        self.0.iter().for_each(|v| m.mark_value_bits(v.bits()));
    }
}

impl Clone for UntracedVec {
    fn clone(&self) -> UntracedVec {
        UntracedVec(self.0.clone())
    }
}
impl Default for UntracedVec {
    fn default() -> UntracedVec {
        UntracedVec::new()
    }
}
impl FromIterator<Value> for UntracedVec {
    fn from_iter<T: IntoIterator<Item = Value>>(values: T) -> UntracedVec {
        UntracedVec(values.into_iter().collect())
    }
}
impl UntracedVec {
    /// The values from `at` on, which are taken off.
    pub fn split_off(&mut self, at: usize) -> UntracedVec {
        UntracedVec(self.0.split_off(at))
    }
}

/// Values that are put together while nothing can free them: the list borrows the heap, so that a call into Ruby, or what may collect, does not
/// compile while it lives.
pub struct Gathered<'h> {
    list: TracedVec,
    heap: PhantomData<&'h Heap>,
}
impl<'h> Gathered<'h> {
    pub fn new(_heap: &'h Heap) -> Gathered<'h> {
        Gathered { list: TracedVec::new(), heap: PhantomData }
    }
    pub fn with_capacity(_heap: &'h Heap, n: usize) -> Gathered<'h> {
        Gathered { list: TracedVec::with_capacity(n), heap: PhantomData }
    }
    pub fn of(heap: &'h Heap, values: impl IntoIterator<Item = Value>) -> Gathered<'h> {
        let mut g = Gathered::new(heap);
        g.extend(values);
        g
    }
}
impl Deref for Gathered<'_> {
    type Target = TracedVec;
    #[inline(always)]
    fn deref(&self) -> &TracedVec {
        &self.list
    }
}
impl DerefMut for Gathered<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut TracedVec {
        &mut self.list
    }
}
