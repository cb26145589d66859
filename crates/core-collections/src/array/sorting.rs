//! Comparison and sorting. A stable merge sort over a copy, so that a comparison may raise, jump or change the array under it;
//! homogeneous Integers, Floats and Strings with the builtin `<=>` are sorted without any call.

use std::cmp::Ordering;
use zakuro_base::progress::step;
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
    pub fn extreme(self, list: &[Value], before: Option<Value>, want: Ordering) -> Option<Value> {
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
        let mut x = Ref::<StringCell>::from_value(first).filter(|_| self.string)?;
        for v in list {
            let y = Ref::<StringCell>::from_value(*v)?;
            match y.cmp_bytes(&x) {
                o if o == want => (best, x) = (*v, y),
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
            && let (Some(x), Some(y)) = (Ref::<StringCell>::from_value(a), Ref::<StringCell>::from_value(b))
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
        if c.string
            && let Some(first) = v.first().copied().and_then(Ref::<StringCell>::from_value)
            && v.iter().all(|x| Ref::<StringCell>::from_value(*x).is_some_and(|s| s.encoding() == first.encoding()))
        {
            let compare = |a: &Value, b: &Value| Ref::<StringCell>::of(*a).cmp_bytes(&Ref::<StringCell>::of(*b));
            return sort_plain(cx, v, 1 << 15, |v| v.sort_by(compare), compare);
        }
    }
    let items = RootedVec::from_slice(cx, v);
    let mut perm: Vec<u32> = (0..items.len() as u32).collect();
    // What moves is the items' numbers.
    merge_sort(&mut perm, &mut |a, b| order.compare(cx, items[a as usize], items[b as usize]))?;
    for (slot, i) in v.iter_mut().zip(&perm) {
        *slot = items[*i as usize];
    }
    Ok(())
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
        // Runs of so many at once, which are merged then.
        const RUN: usize = 1 << 17;
        let mut steps = 0;
        for run in perm.chunks_mut(RUN) {
            run.sort_by(|a, b| compare_numbers(keys[*a as usize], keys[*b as usize]));
            cx.safepoint()?;
        }
        merge_runs::<Exc>(&mut perm, RUN, &mut |a, b| {
            steps += 1;
            step(steps, cx)?;
            Ok(compare_numbers(keys[a as usize], keys[b as usize]))
        })?;
        return Ok(perm);
    }
    merge_sort(&mut perm, &mut |a, b| c.compare(cx, keys[a as usize], keys[b as usize]))?;
    Ok(perm)
}

/// Bottom-up merge sort (insertion sort on runs of eight); stops at the first error.
fn merge_sort<E>(v: &mut Vec<u32>, compare: &mut dyn FnMut(u32, u32) -> std::result::Result<Ordering, E>) -> std::result::Result<(), E> {
    const RUN: usize = 8;
    let n = v.len();
    for start in (0..n).step_by(RUN) {
        for i in start + 1..(start + RUN).min(n) {
            let mut k = i;
            while k > start && compare(v[k - 1], v[k])? == Ordering::Greater {
                v.swap(k - 1, k);
                k -= 1;
            }
        }
    }
    merge_runs(v, RUN, compare)
}

/// Merges runs of so many, each of which is sorted.
fn merge_runs<E>(v: &mut Vec<u32>, run: usize, compare: &mut dyn FnMut(u32, u32) -> std::result::Result<Ordering, E>) -> std::result::Result<(), E> {
    let n = v.len();
    let mut other = if n > run { v.clone() } else { Vec::new() };
    let mut width = run;
    while width < n {
        for start in (0..n).step_by(width * 2) {
            let (mid, end) = ((start + width).min(n), (start + 2 * width).min(n));
            let (mut a, mut b) = (start, mid);
            // Runs that are in order already are copied.
            if mid < end && compare(v[mid - 1], v[mid])? != Ordering::Greater {
                other[start..end].copy_from_slice(&v[start..end]);
                continue;
            }
            for slot in &mut other[start..end] {
                let left = a < mid && (b >= end || compare(v[a], v[b])? != Ordering::Greater);
                *slot = if left {
                    a += 1;
                    v[a - 1]
                } else {
                    b += 1;
                    v[b - 1]
                };
            }
        }
        std::mem::swap(v, &mut other);
        width *= 2;
    }
    Ok(())
}
