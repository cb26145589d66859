//! What is walked without a call of `each`, of whatever kind: one element after the other.

use super::{Source, builtin_source};
use crate::set::set_items;
use zakuro_vm::*;

/// What `each` yields for an element.
#[derive(Clone, Copy)]
pub(crate) enum Element {
    One(Value),
    /// An Array of two, which is made if it is wanted.
    Pair(Value, Value),
    /// Two values at once.
    Two(Value, Value),
}

impl Element {
    /// As one value.
    #[inline(always)]
    pub fn packed(self, cx: &mut Cx) -> Value {
        match self {
            Element::One(v) => v,
            Element::Pair(a, b) | Element::Two(a, b) => cx.array(&[a, b]),
        }
    }
    /// The two values of one that is no single one.
    #[inline(always)]
    pub fn both(self) -> [Value; 2] {
        match self {
            Element::One(v) => [v, Value::NIL],
            Element::Pair(a, b) | Element::Two(a, b) => [a, b],
        }
    }
}

/// Entries of a Hash, which may lose some meanwhile but gets no new ones ([`walked`]).
pub(crate) struct Entries {
    hash: Ref<HashCell>,
    at: usize,
}

impl Entries {
    /// None of a Hash that has lost most of its entries: between those that are left somebody has to poll.
    fn of(cx: &Cx, hash: Ref<HashCell>) -> Option<Entries> {
        const SPARSE: usize = 8;
        let (slots, at) = hash.table(&cx.heap).map_or((0, 0), |t| (t.slots(), t.first_slot()));
        (slots - at <= SPARSE * (hash.len() + SPARSE)).then_some(Entries { hash, at })
    }
    #[inline(always)]
    fn take(&mut self, cx: &Cx) -> Option<(Value, Value)> {
        let t = self.hash.table(&cx.heap)?;
        while self.at < t.slots() {
            self.at += 1;
            if let Some(e) = t.entry(self.at - 1) {
                return Some((e.key, e.value));
            }
        }
        None
    }
}

pub(crate) enum Elements {
    Plain(Source),
    /// Those of `each_with_index`, and the number of the next.
    Numbered(Source, i64),
    /// A Hash's.
    Pairs(Entries),
    /// A Set's.
    Keys(Entries),
}

impl Elements {
    pub fn of(cx: &mut Cx, this: Value) -> Option<Elements> {
        match Source::of(cx, this) {
            Some(source) => Some(Elements::Plain(source)),
            None => Elements::other(cx, this),
        }
    }
    /// Of what is no [`Source`].
    pub fn other(cx: &mut Cx, this: Value) -> Option<Elements> {
        if let Some(hash) = Ref::<HashCell>::from_value(this) {
            return if cx.is_builtin(this, sym::each, ids::HASH) { Entries::of(cx, hash).map(Elements::Pairs) } else { None };
        }
        if let Some((recv, method)) = crate::enumerator::plain(cx, this) {
            let source = if method == sym::each_with_index { builtin_source(cx, recv, method) } else { None };
            return source.map(|s| Elements::Numbered(s, 0));
        }
        let set = set_items(cx, this)?;
        if cx.is_builtin(this, sym::each, ids::SET) { Entries::of(cx, set).map(Elements::Keys) } else { None }
    }
    /// The Hash that gets no new keys meanwhile.
    pub fn hash(&self) -> Option<Ref<HashCell>> {
        match self {
            Elements::Pairs(e) | Elements::Keys(e) => Some(e.hash),
            _ => None,
        }
    }
    /// Whether a block that takes two values gets both of each element.
    pub fn are_pairs(&self) -> bool {
        matches!(self, Elements::Pairs(_) | Elements::Numbered(..))
    }
    /// Whether two values are yielded for each.
    pub fn are_several(&self) -> bool {
        matches!(self, Elements::Numbered(..))
    }
    #[inline(always)]
    pub fn take(&mut self, cx: &Cx) -> Option<Element> {
        match self {
            Elements::Plain(s) => s.take().map(Element::One),
            Elements::Numbered(s, i) => {
                let v = s.take()?;
                *i += 1;
                Some(Element::Two(v, Value::fixnum(*i - 1)))
            }
            Elements::Pairs(e) => e.take(cx).map(|(k, v)| Element::Pair(k, v)),
            Elements::Keys(e) => e.take(cx).map(|(k, _)| Element::One(k)),
        }
    }
    #[inline(always)]
    pub fn take_packed(&mut self, cx: &mut Cx) -> Option<Value> {
        Some(self.take(cx)?.packed(cx))
    }
}

/// Runs what walks elements, with [`Elements::hash`].
#[inline(always)]
pub(crate) fn walked(cx: &mut Cx, hash: Option<Ref<HashCell>>, walk: impl FnOnce(&mut Cx) -> Result<()>) -> Result<()> {
    match hash {
        Some(h) => cx.while_iterating(h, walk),
        None => walk(cx),
    }
}
