//! Comparison and sorting. A stable merge sort over a copy, so that a comparison may raise, jump or change the array under it;
//! homogeneous Integers, Floats and Strings with the builtin `<=>` are sorted without any call.

use std::cell::RefCell;
use std::cmp::Ordering;
use zakuro_base::progress::{Pace, step};
use zakuro_vm::methods::fast;
use zakuro_vm::*;

/// Whose `<=>` is the builtin one: asked once per sort.
#[derive(Clone, Copy)]
pub struct Comparer {
    int: bool,
    float: bool,
    string: bool,
}

impl Comparer {
    pub fn new(cx: &mut Cx) -> Comparer {
        if cx.redefined & (fast::INTEGER | fast::FLOAT | fast::STRING) == 0 {
            return Comparer { int: true, float: true, string: true };
        }
        let zero = cx.float(0.0);
        Comparer {
            int: cx.is_builtin(Value::fixnum(0), sym::cmp, ids::INTEGER),
            float: cx.is_builtin(zero, sym::cmp, ids::FLOAT),
            string: {
                let m = cx.find_method(ids::STRING, sym::cmp);
                m.is_some_and(|m| m.method_kind() == MethodKind::Native && m.owner == ids::STRING)
            },
        }
    }
    /// Are all of them small Integers and Floats that are numbers, with the builtin `<=>`?
    fn are_numbers(self, v: &[Value]) -> bool {
        self.int && self.float && v.iter().all(|x| x.is_fixnum() || x.as_float().is_some_and(|f| !f.is_nan()))
    }
    /// `a <=> b` of two Integers or two Floats whose `<=>` is the builtin one; None otherwise.
    #[inline(always)]
    pub fn quick(self, a: Value, b: Value) -> Option<Ordering> {
        if Value::both_fixnum(a, b) {
            return self.int.then(|| a.fix().cmp(&b.fix()));
        }
        if self.float { a.as_float()?.partial_cmp(&b.as_float()?) } else { None }
    }
    /// `a <=> b`. ArgumentError when they can't be compared.
    #[inline(always)]
    pub fn compare(self, cx: &mut Cx, a: Value, b: Value) -> Result<Ordering> {
        if Value::both_fixnum(a, b) && self.int {
            return Ok(a.fix().cmp(&b.fix()));
        }
        self.compare_slow(cx, a, b)
    }
    /// The first of the greatest elements (`want` is Greater) or of the least, with what was best before them, as long as all are of one kind whose `<=>`
    /// is the builtin one. None: they aren't, or Strings of two encodings are equal, or a Float is no number.
    pub fn extreme(self, heap: &Heap, list: &[Value], before: Option<Value>, want: Ordering) -> Option<Value> {
        let first = before.or(list.first().copied())?;
        if self.int && first.is_fixnum() {
            // Without a branch per element, twice: the compiler takes several at once.
            if !list.iter().fold(true, |all, v| all & v.is_fixnum()) {
                return None;
            }
            let best = list.iter().map(|v| v.fix()).fold(first.fix(), |a, b| if want == Ordering::Greater { a.max(b) } else { a.min(b) });
            return Some(Value::fixnum(best));
        }
        let mut best = first;
        if self.float && first.as_float().is_some_and(|x| !x.is_nan()) {
            let mut x = first.as_float()?;
            for v in list {
                let y = v.as_float()?;
                if y.partial_cmp(&x)? == want {
                    (best, x) = (*v, y);
                }
            }
            return Some(best);
        }
        let mut x = plain_string(first).filter(|_| self.string)?;
        let mut begin = begin_of(x.content(heap));
        for v in list {
            let y = plain_string(*v)?;
            let other = begin_of(y.content(heap));
            match other.cmp(&begin).then_with(|| y.cmp_bytes(&x)) {
                o if o == want => (best, x, begin) = (*v, y, other),
                Ordering::Equal if y.encoding() != x.encoding() => return None,
                _ => {}
            }
        }
        Some(best)
    }
    #[inline(never)]
    fn compare_slow(self, cx: &mut Cx, a: Value, b: Value) -> Result<Ordering> {
        if self.float
            && let (Some(x), Some(y)) = (a.as_float(), b.as_float())
            && let Some(o) = x.partial_cmp(&y)
        {
            return Ok(o);
        }
        if self.int
            && self.float
            && let Some(o) = fixnum_and_float(a, b)
        {
            return Ok(o);
        }
        if self.string
            && let (Some(x), Some(y)) = (plain_string(a), plain_string(b))
        {
            let o = x.cmp_bytes(&y);
            if o != Ordering::Equal || x.encoding() == y.encoding() {
                return Ok(o);
            }
        }
        let r = cx.call(a, sym::cmp, &[b])?;
        order_of(cx, r, a, b)
    }
}

/// The first eight bytes as a number: Strings are in the order of theirs, where these differ.
#[inline(always)]
fn begin_of(text: &[u8]) -> u64 {
    if let Some(begin) = text.first_chunk() {
        return u64::from_be_bytes(*begin);
    }
    let n = text.len();
    // Parts that overlap.
    if let (Some(a), Some(b)) = (text.first_chunk(), text.last_chunk()) {
        return u64::from(u32::from_be_bytes(*a)) << 32 | u64::from(u32::from_be_bytes(*b)) << (64 - 8 * n);
    }
    [0, n / 2, n.saturating_sub(1)].into_iter().filter_map(|i| Some(u64::from(*text.get(i)?) << (56 - 8 * i))).fold(0, |all, b| all | b)
}

/// A String of no subclass, which may have a `<=>` of its own.
fn plain_string(v: Value) -> Option<Ref<StringCell>> {
    Ref::<StringCell>::from_value(v).filter(|_| v.shape_key() == ids::STRING.0)
}

/// A small Integer beside a Float, exactly; None: they are something else, or the Float is no number.
fn fixnum_and_float(a: Value, b: Value) -> Option<Ordering> {
    let order = |i: i64, f: f64| {
        // Beyond these, any Float is beyond any small Integer.
        if !(-9.3e18..9.3e18).contains(&f) {
            return 0.0.partial_cmp(&f);
        }
        let whole = f.trunc();
        Some((i as i128).cmp(&(whole as i128)).then_with(|| whole.partial_cmp(&f).unwrap_or(Ordering::Equal)))
    };
    match (a.as_fixnum(), b.as_fixnum()) {
        (Some(i), None) => order(i, b.as_float()?),
        (None, Some(i)) => order(i, a.as_float()?).map(Ordering::reverse),
        _ => None,
    }
}

/// Of numbers as [`Comparer::are_numbers`] means.
fn compare_numbers(a: Value, b: Value) -> Ordering {
    if Value::both_fixnum(a, b) {
        return a.fix().cmp(&b.fix());
    }
    let floats = || a.as_float()?.partial_cmp(&b.as_float()?);
    fixnum_and_float(a, b).or_else(floats).unwrap_or(Ordering::Equal)
}

/// What a `<=>` result means; `a` and `b` are for the error message.
pub fn order_of(cx: &mut Cx, r: Value, a: Value, b: Value) -> Result<Ordering> {
    if let Some(i) = r.as_fixnum() {
        return Ok(i.cmp(&0));
    }
    if r.is_nil() {
        return cannot_compare(cx, a, b);
    }
    if let Some(big) = cx.as_big(r) {
        return Ok(big.sign().cmp(&num_bigint::Sign::NoSign));
    }
    let zero = Value::fixnum(0);
    if cx.call(r, sym::gt, &[zero])?.truthy() {
        return Ok(Ordering::Greater);
    }
    Ok(if cx.call(r, sym::lt, &[zero])?.truthy() { Ordering::Less } else { Ordering::Equal })
}

/// "comparison of X with Y failed"
#[cold]
pub fn cannot_compare<T>(cx: &mut Cx, a: Value, b: Value) -> Result<T> {
    let x = cx.class_shown(a);
    let y = if !b.is_cell() || b.as_float().is_some() { cx.inspect_for_error(b) } else { cx.class_shown(b) };
    cx.arg_error(format!("comparison of {x} with {y} failed"))
}

/// How values are ordered: by `<=>`, or by what a block says.
#[derive(Clone, Copy)]
pub enum Order {
    Natural(Comparer),
    Block(Block),
}
impl Order {
    pub fn new(cx: &mut Cx, block: Block) -> Order {
        if block.is_some() { Order::Block(block) } else { Order::Natural(Comparer::new(cx)) }
    }
    #[inline(always)]
    pub fn compare(self, cx: &mut Cx, a: Value, b: Value) -> Result<Ordering> {
        match self {
            Order::Natural(c) => c.compare(cx, a, b),
            Order::Block(block) => {
                let r = cx.yield_values(block, &[a, b])?;
                cx.safepoint()?;
                order_of(cx, r, a, b)
            }
        }
    }
}

/// Sorts values that nobody else sees.
pub fn sort_values(cx: &mut Cx, v: &mut RootedVec, order: Order) -> Result<()> {
    if let Order::Natural(c) = order {
        if c.int && v.iter().all(|x| x.is_fixnum()) {
            return sort_plain(cx, v, 1 << 19, |v| v.sort_unstable_by_key(|x| x.fix()), |a, b| a.fix().cmp(&b.fix()));
        }
        if c.float && v.iter().all(|x| x.as_float().is_some_and(|f| !f.is_nan())) {
            let key = |x: &Value| x.as_float().unwrap_or(0.0);
            let compare = |a: &Value, b: &Value| key(a).partial_cmp(&key(b)).unwrap_or(Ordering::Equal);
            return sort_plain(cx, v, 1 << 18, |v| v.sort_by(compare), compare);
        }
        if c.are_numbers(v) {
            let compare = |a: &Value, b: &Value| compare_numbers(*a, *b);
            return sort_plain(cx, v, 1 << 17, |v| v.sort_by(compare), compare);
        }
        if let Some(sorted) = sorted_strings(cx, c, v)? {
            let items = RootedVec::from_slice(cx, v);
            for (slot, one) in v.iter_mut().zip(&sorted) {
                *slot = items[one.place as usize];
            }
            return Ok(());
        }
    }
    let (mut list, mut other) = (RootedVec::from_slice(cx, v), RootedVec::from_slice(cx, v));
    let sort = MergeSort::new(&mut list, &mut other);
    let sorted = match order {
        Order::Natural(c) => sort.run(cx, |cx, a, b| c.compare(cx, a, b))?,
        Order::Block(block) => {
            let sort = RefCell::new(sort);
            let pair = || sort.borrow().pair();
            let keep = |_: &mut Cx, r: Value| {
                let order = r.as_fixnum().map(|i| i.cmp(&0));
                order.inspect(|o| sort.borrow_mut().tell(*o)).is_some()
            };
            let keep_slowly = |cx: &mut Cx, r| {
                if let Some([a, b]) = pair() {
                    let order = order_of(cx, r, a, b)?;
                    sort.borrow_mut().tell(order);
                }
                Ok(true)
            };
            cx.walk(block, |_| pair(), keep, keep_slowly)?;
            sort.into_inner().list
        }
    };
    v.copy_from_slice(sorted);
    Ok(())
}

/// A String by its place among others, and how it begins.
#[derive(Clone, Copy)]
struct Text {
    /// The first eight bytes as a number, which compares as they do.
    begin: u64,
    place: u32,
}

/// Strings of one encoding with the builtin `<=>` in ascending order; None: they are something else. Most comparisons need no more than how both begin.
fn sorted_strings(cx: &mut Cx, c: Comparer, v: &RootedVec) -> Result<Option<Vec<Text>>> {
    // Runs of so many at once, which are merged then, unless some are longer than this: comparing those may take long.
    const RUN: usize = 1 << 15;
    const LONG: usize = 256;
    let Some(first) = v.first().and_then(|v| plain_string(*v)).filter(|_| c.string) else { return Ok(None) };
    if !v.iter().all(|x| plain_string(*x).is_some_and(|s| s.encoding() == first.encoding())) {
        return Ok(None);
    }
    let mut texts = Vec::with_capacity(v.len());
    let mut longest = 0;
    for (place, one) in v.iter().enumerate() {
        step(place, cx)?;
        let bytes = Ref::<StringCell>::of(*one).content(&cx.heap);
        let mut begin = [0; 8];
        let n = bytes.len().min(8);
        begin[..n].copy_from_slice(&bytes[..n]);
        longest = longest.max(bytes.len());
        texts.push(Text { begin: u64::from_be_bytes(begin), place: place as u32 });
    }
    let whole = |t: &Text| Ref::<StringCell>::of(v[t.place as usize]);
    let compare = |a: &Text, b: &Text| a.begin.cmp(&b.begin).then_with(|| whole(a).cmp_bytes(&whole(b)));
    if longest <= LONG {
        return sorted_in_runs(cx, texts, RUN, compare).map(Some);
    }
    let mut other = texts.clone();
    let (mut pace, mut looked_at) = (Pace::new(), 0);
    let sorted = MergeSort::new(&mut texts, &mut other).run(cx, |cx, a, b| {
        if a.begin == b.begin {
            // Bytes are compared many at a time.
            looked_at += whole(&a).len().min(whole(&b).len()) / 64;
            pace.at(looked_at, cx)?;
        }
        Ok(compare(&a, &b))
    })?;
    Ok(Some(sorted.to_vec()))
}

/// What is compared without Ruby code: runs of so many at once, which are merged then.
fn sorted_in_runs<T: Copy>(cx: &mut Cx, mut list: Vec<T>, run: usize, compare: impl Fn(&T, &T) -> Ordering) -> Result<Vec<T>> {
    for part in list.chunks_mut(run) {
        part.sort_by(&compare);
        cx.safepoint()?;
    }
    if list.len() <= run {
        return Ok(list);
    }
    let mut other = list.clone();
    MergeSort::of_runs(&mut list, &mut other, run).run(cx, |_, a, b| Ok(compare(&a, &b))).map(|sorted| sorted.to_vec())
}

/// Sorts what is compared without Ruby code: runs of so many at once, which are merged then.
fn sort_plain(
    cx: &mut Cx,
    v: &mut RootedVec,
    run: usize,
    sort: impl Fn(&mut [Value]),
    compare: impl Fn(&Value, &Value) -> Ordering,
) -> Result<()> {
    let n = v.len();
    if n <= run {
        sort(v);
        return Ok(());
    }
    for start in (0..n).step_by(run) {
        sort(&mut v[start..(start + run).min(n)]);
        cx.safepoint()?;
    }
    let (mut from, mut to) = (RootedVec::from_slice(cx, v), RootedVec::from_slice(cx, v));
    let mut width = run;
    while width < n {
        for start in (0..n).step_by(width * 2) {
            let (mid, end) = ((start + width).min(n), (start + 2 * width).min(n));
            let (mut a, mut b) = (start, mid);
            for (k, slot) in to[start..end].iter_mut().enumerate() {
                step(k, cx)?;
                let left = a < mid && (b >= end || compare(&from[a], &from[b]) != Ordering::Greater);
                let next = if left { &mut a } else { &mut b };
                *slot = from[*next];
                *next += 1;
            }
        }
        std::mem::swap(&mut from, &mut to);
        width *= 2;
    }
    v.copy_from_slice(&from);
    Ok(())
}

/// Positions of keys in ascending order.
pub fn sorted_positions(cx: &mut Cx, keys: &RootedVec) -> Result<Vec<u32>> {
    let c = Comparer::new(cx);
    let mut perm: Vec<u32> = (0..keys.len() as u32).collect();
    if c.int && keys.iter().all(|x| x.is_fixnum()) {
        perm.sort_by_key(|i| keys[*i as usize].fix());
        return Ok(perm);
    }
    if c.are_numbers(keys) {
        return sorted_in_runs(cx, perm, 1 << 17, |a, b| compare_numbers(keys[*a as usize], keys[*b as usize]));
    }
    if let Some(sorted) = sorted_strings(cx, c, keys)? {
        return Ok(sorted.iter().map(|one| one.place).collect());
    }
    let mut other = perm.clone();
    let sorted = MergeSort::new(&mut perm, &mut other).run(cx, |cx, a, b| c.compare(cx, keys[a as usize], keys[b as usize]))?;
    Ok(sorted.to_vec())
}

/// A stable bottom-up merge sort (insertion sort on runs of eight) that asks for one comparison after the other: whoever compares may stop at any.
struct MergeSort<'a, T> {
    /// Sorted when there is no further pair.
    list: &'a mut [T],
    /// As long as the list.
    other: &'a mut [T],
    stage: Stage,
}

/// Which comparison comes next.
#[derive(Clone, Copy)]
enum Stage {
    /// Of the `k`th and the one before it; the run begins at `start`, and is sorted up to the `i`th.
    Insert { start: usize, i: usize, k: usize },
    /// Of the ends of two runs of `width` where they meet: those that are in order already are copied.
    Meet { width: usize, start: usize },
    /// Of what is left of two runs, from `a` and from `b` on.
    Merge { width: usize, start: usize, a: usize, b: usize },
    Done,
}

impl<'a, T: Copy> MergeSort<'a, T> {
    const RUN: usize = 8;

    fn new(list: &'a mut [T], other: &'a mut [T]) -> Self {
        let mut sort = MergeSort { list, other, stage: Stage::Done };
        sort.insert(0, 1);
        sort
    }
    /// Of a list whose runs of so many are sorted.
    fn of_runs(list: &'a mut [T], other: &'a mut [T], run: usize) -> Self {
        let mut sort = MergeSort { list, other, stage: Stage::Done };
        sort.meet(run, 0);
        sort
    }
    /// Asks for all comparisons, one after the other.
    fn run(mut self, cx: &mut Cx, mut compare: impl FnMut(&mut Cx, T, T) -> Result<Ordering>) -> Result<&'a mut [T]> {
        let mut at = 0;
        while let Some([a, b]) = self.pair() {
            step(at, cx)?;
            at += 1;
            let order = compare(cx, a, b)?;
            self.tell(order);
        }
        Ok(self.list)
    }
    /// The two that are to be compared.
    #[inline(always)]
    fn pair(&self) -> Option<[T; 2]> {
        let v = &*self.list;
        match self.stage {
            Stage::Insert { k, .. } => Some([v[k - 1], v[k]]),
            Stage::Meet { width, start } => Some([v[start + width - 1], v[start + width]]),
            Stage::Merge { a, b, .. } => Some([v[a], v[b]]),
            Stage::Done => None,
        }
    }
    /// What the comparison of the pair gave.
    #[inline(always)]
    fn tell(&mut self, order: Ordering) {
        let greater = order == Ordering::Greater;
        match self.stage {
            Stage::Insert { start, i, k } => {
                if greater {
                    self.list.swap(k - 1, k);
                    if k - 1 > start {
                        self.stage = Stage::Insert { start, i, k: k - 1 };
                        return;
                    }
                }
                self.insert(start, i + 1);
            }
            Stage::Meet { width, start } => {
                if greater {
                    self.stage = Stage::Merge { width, start, a: start, b: start + width };
                } else {
                    self.copy(width, start, start, start + width);
                }
            }
            Stage::Merge { width, start, mut a, mut b } => {
                let (mid, end) = (start + width, (start + 2 * width).min(self.list.len()));
                let next = if greater { &mut b } else { &mut a };
                let taken = self.list[*next];
                *next += 1;
                self.other[a + b - mid - 1] = taken;
                if a == mid || b == end {
                    self.copy(width, start, a, b);
                } else {
                    self.stage = Stage::Merge { width, start, a, b };
                }
            }
            Stage::Done => {}
        }
    }
    /// Goes on with the `i`th of the run that begins at `start`, or with the next run.
    fn insert(&mut self, mut start: usize, mut i: usize) {
        if i >= start + Self::RUN {
            (start, i) = (start + Self::RUN, start + Self::RUN + 1);
        }
        if i < self.list.len() {
            self.stage = Stage::Insert { start, i, k: i };
        } else {
            self.meet(Self::RUN, 0);
        }
    }
    /// Goes on with the two runs at `start`, or with longer ones.
    fn meet(&mut self, mut width: usize, mut start: usize) {
        let n = self.list.len();
        while width < n {
            if start + width < n {
                self.stage = Stage::Meet { width, start };
                return;
            }
            self.other[start.min(n)..].copy_from_slice(&self.list[start.min(n)..]);
            std::mem::swap(&mut self.list, &mut self.other);
            (width, start) = (2 * width, 0);
        }
        self.stage = Stage::Done;
    }
    /// Copies what is left of two runs, one of which is empty or comes before the other as a whole.
    fn copy(&mut self, width: usize, start: usize, a: usize, b: usize) {
        let (mid, end) = (start + width, (start + 2 * width).min(self.list.len()));
        let at = a + b - mid;
        self.other[at..at + mid - a].copy_from_slice(&self.list[a..mid]);
        self.other[b..end].copy_from_slice(&self.list[b..end]);
        self.meet(width, end);
    }
}
