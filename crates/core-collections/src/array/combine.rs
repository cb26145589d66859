//! Array: combinations, permutations, products. All work on a copy of the array, taken when they start.

use super::arg::check_len;
use crate::enumerator::EnumeratorExt;
use num_bigint::BigInt;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

fn falling(n: i64, k: i64) -> BigInt {
    (0..k).fold(BigInt::from(1), |p, i| p * (n - i))
}
fn choose(n: i64, k: i64) -> BigInt {
    if k < 0 || k > n {
        return BigInt::from(0);
    }
    let k = k.min(n - k);
    falling(n, k) / falling(k, k)
}
fn args_of(cx: &mut Cx, recv: Value, args: &[Value]) -> Result<(i64, Option<i64>)> {
    let n = Ref::<ArrayCell>::from_value(recv).map_or(0, |a| a.len() as i64);
    let k = match args.first() {
        None | Some(&Value::NIL) => None,
        Some(k) => Some(cx.to_i64(*k)?),
    };
    Ok((n, k))
}
fn combination_size(cx: &mut Cx, recv: Value, args: &[Value]) -> Result<Value> {
    let (n, k) = args_of(cx, recv, args)?;
    Ok(cx.big(choose(n, k.unwrap_or(n))))
}
fn permutation_size(cx: &mut Cx, recv: Value, args: &[Value]) -> Result<Value> {
    let (n, k) = args_of(cx, recv, args)?;
    let k = k.unwrap_or(n);
    Ok(cx.big(if k < 0 || k > n { BigInt::from(0) } else { falling(n, k) }))
}
fn repeated_permutation_size(cx: &mut Cx, recv: Value, args: &[Value]) -> Result<Value> {
    let (n, k) = args_of(cx, recv, args)?;
    let k = k.unwrap_or(n);
    Ok(cx.big(if k < 0 { BigInt::from(0) } else { BigInt::from(n).pow(k.min(u32::MAX as i64) as u32) }))
}
fn repeated_combination_size(cx: &mut Cx, recv: Value, args: &[Value]) -> Result<Value> {
    let (n, k) = args_of(cx, recv, args)?;
    let k = k.unwrap_or(n);
    Ok(cx.big(match k {
        0 => BigInt::from(1),
        k if k < 0 || n == 0 => BigInt::from(0),
        k => choose(n + k - 1, k),
    }))
}

/// Yields the elements at these positions as an Array.
fn give(cx: &mut Cx, block: Block, items: &RootedVec, at: &[usize]) -> Result<()> {
    let v = cx.array_of(at.iter().map(|i| items[*i]));
    cx.yield1(block, v)?;
    cx.safepoint()
}

/// Odometer: position `k` counts from `low(at, k)` to `high(k)`.
fn each_selection(
    cx: &mut Cx,
    a: Ref<ArrayCell>,
    k: i64,
    block: Block,
    low: fn(&[usize], usize) -> usize,
    high: fn(usize, usize, usize) -> usize,
) -> Result<()> {
    if k < 0 {
        return Ok(());
    }
    let items = RootedVec::of(cx, a);
    let (n, k) = (items.len(), k as usize);
    if k == 0 {
        return give(cx, block, &items, &[]);
    }
    if n == 0 || high(n, k, 0) == 0 {
        return Ok(());
    }
    check_len(cx, k)?;
    let mut at = Vec::new();
    cx.reserve(&mut at, k)?;
    at.resize(k, 0);
    for i in 0..k {
        at[i] = low(&at, i);
    }
    loop {
        give(cx, block, &items, &at)?;
        let Some(i) = (0..k).rev().find(|&i| at[i] + 1 < high(n, k, i)) else { return Ok(()) };
        at[i] += 1;
        for j in i + 1..k {
            at[j] = low(&at, j);
        }
    }
}

#[ruby_class(ids::ARRAY)]
pub mod methods {
    use super::*;

    /// Yields all selections of `k` elements, in the order of their positions.
    ///
    ///     [1, 2, 3].combination(2).to_a   #=> [[1, 2], [1, 3], [2, 3]]
    #[method("combination")]
    fn combination(cx: &mut Cx, this: Ref<ArrayCell>, k: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.sized_enumerator(this.as_value(), "combination", &[k], combination_size);
        }
        let k = cx.to_i64(k)?;
        if k <= this.len() as i64 {
            each_selection(cx, this, k, block, |at, i| if i == 0 { 0 } else { at[i - 1] + 1 }, |n, k, i| n + 1 + i - k)?;
        }
        Ok(this.as_value())
    }

    /// As `combination`, elements may be repeated.
    ///
    ///     [1, 2].repeated_combination(2).to_a   #=> [[1, 1], [1, 2], [2, 2]]
    #[method("repeated_combination")]
    fn repeated_combination(cx: &mut Cx, this: Ref<ArrayCell>, k: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.sized_enumerator(this.as_value(), "repeated_combination", &[k], repeated_combination_size);
        }
        let k = cx.to_i64(k)?;
        each_selection(cx, this, k, block, |at, i| if i == 0 { 0 } else { at[i - 1] }, |n, _, _| n)?;
        Ok(this.as_value())
    }

    /// Yields all sequences of `k` elements from any places.
    ///
    ///     [1, 2].repeated_permutation(2).to_a   #=> [[1, 1], [1, 2], [2, 1], [2, 2]]
    #[method("repeated_permutation")]
    fn repeated_permutation(cx: &mut Cx, this: Ref<ArrayCell>, k: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.sized_enumerator(this.as_value(), "repeated_permutation", &[k], repeated_permutation_size);
        }
        let k = cx.to_i64(k)?;
        each_selection(cx, this, k, block, |_, _| 0, |n, _, _| n)?;
        Ok(this.as_value())
    }

    /// Yields all sequences of `k` elements (all, when not given) from different places.
    ///
    ///     [1, 2, 3].permutation(2).to_a   #=> [[1, 2], [1, 3], [2, 1], [2, 3], [3, 1], [3, 2]]
    ///     [1, 2].permutation.to_a         #=> [[1, 2], [2, 1]]
    #[method("permutation")]
    fn permutation(cx: &mut Cx, this: Ref<ArrayCell>, k: Option<Value>, block: Block) -> Result<Value> {
        if block.is_none() {
            let args: &[Value] = k.as_slice();
            return cx.sized_enumerator(this.as_value(), "permutation", args, permutation_size);
        }
        let k = match k {
            None | Some(Value::NIL) => this.len() as i64,
            Some(k) => cx.to_i64(k)?,
        };
        if k < 0 || k > this.len() as i64 {
            return Ok(this.as_value());
        }
        let items = RootedVec::of(cx, this);
        let (n, k) = (items.len(), k as usize);
        let mut at: Vec<usize> = (0..k).collect();
        let mut used = vec![false; n];
        used[..k].fill(true);
        loop {
            give(cx, block, &items, &at)?;
            // The last place that can take a greater free element; the places behind it take the least free ones.
            let mut i = k;
            let found = loop {
                if i == 0 {
                    break None;
                }
                i -= 1;
                used[at[i]] = false;
                if let Some(next) = (at[i] + 1..n).find(|&c| !used[c]) {
                    break Some(next);
                }
            };
            let Some(next) = found else { return Ok(this.as_value()) };
            at[i] = next;
            used[next] = true;
            for place in &mut at[i + 1..] {
                let Some(free) = used.iter().position(|u| !u) else { break };
                *place = free;
                used[free] = true;
            }
        }
    }

    /// All Arrays with one element of each of the collections.
    ///
    ///     [1, 2].product([3, 4])   #=> [[1, 3], [1, 4], [2, 3], [2, 4]]
    ///     [1].product              #=> [[1]]
    #[method("product")]
    fn product(cx: &mut Cx, this: Ref<ArrayCell>, rest: Rest, block: Block) -> Result<Value> {
        let mut lists = RootedVec::from_slice(cx, &[this.as_value()]);
        for v in rest {
            let a = cx.to_ary(*v)?;
            lists.push(a.as_value());
        }
        // Copies: the block may change them.
        for v in lists.iter_mut() {
            *v = cx.array(Ref::<ArrayCell>::of(*v).elements(&cx.heap));
        }
        let lens: Vec<usize> = lists.iter().map(|l| Ref::<ArrayCell>::of(*l).len()).collect();
        if block.is_none() {
            match lens.iter().try_fold(1usize, |p, n| p.checked_mul(*n)) {
                Some(total) if total < 1 << 34 => {}
                _ => return cx.range_error("too big to product"),
            }
        }
        let out = cx.new_array();
        let mut at = vec![0; lens.len()];
        'all: while lens.iter().all(|n| *n > 0) {
            let tuple = cx.array_of(lists.iter().zip(&at).map(|(l, i)| Ref::<ArrayCell>::of(*l).get(*i).unwrap_or(Value::NIL)));
            if block.is_some() {
                cx.yield1(block, tuple)?;
            } else {
                ArrayCell::push(out, &mut cx.heap, tuple);
            }
            cx.safepoint()?;
            let mut i = lens.len();
            loop {
                if i == 0 {
                    break 'all;
                }
                i -= 1;
                at[i] += 1;
                if at[i] < lens[i] {
                    break;
                }
                at[i] = 0;
            }
        }
        Ok(if block.is_some() { this.as_value() } else { out.as_value() })
    }
}
