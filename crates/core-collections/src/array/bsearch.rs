//! Array: binary search.

use crate::enumerator::EnumeratorExt;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// What a bsearch block said: go left and remember, found, go left, go right.
pub enum Verdict {
    Here,
    Left,
    Right,
    Found,
}

/// Reads the result of a bsearch block: true/false/nil (find-minimum), or a number (find-any).
pub fn verdict(cx: &mut Cx, r: Value) -> Result<Verdict> {
    Ok(match r {
        Value::TRUE => Verdict::Here,
        Value::FALSE | Value::NIL => Verdict::Right,
        _ => {
            if !cx.is_a(r, ids::NUMERIC) {
                let what = cx.class_shown(r);
                return cx.type_error(format!("wrong argument type {what} (must be numeric, true, false or nil)"));
            }
            let zero = Value::fixnum(0);
            let c = match r.as_fixnum() {
                Some(i) => i.signum(),
                None => {
                    let c = cx.call(r, sym::cmp, &[zero])?;
                    cx.to_i64(c)?.signum()
                }
            };
            match c {
                0 => Verdict::Found,
                c if c < 0 => Verdict::Left,
                _ => Verdict::Right,
            }
        }
    })
}

fn search(cx: &mut Cx, a: Ref<ArrayCell>, block: Block) -> Result<Option<usize>> {
    let (mut low, mut high) = (0, a.len());
    let mut found = None;
    while low < high {
        let mid = low + (high - low) / 2;
        let r = cx.yield1(block, a.get(mid).unwrap_or(Value::NIL))?;
        match verdict(cx, r)? {
            Verdict::Found => return Ok(Some(mid)),
            Verdict::Here => {
                found = Some(mid);
                high = mid;
            }
            Verdict::Left => high = mid,
            Verdict::Right => low = mid + 1,
        }
        cx.safepoint()?;
    }
    Ok(found)
}

#[ruby_class(ids::ARRAY)]
pub mod methods {
    use super::*;

    /// Finds in a sorted Array: the first element for which the block is true, or one for which it returns 0.
    ///
    ///     [1, 4, 7, 9].bsearch { |x| x >= 5 }     #=> 7
    ///     [1, 4, 7, 9].bsearch { |x| 4 <=> x }    #=> 4
    #[method("bsearch")]
    fn bsearch(cx: &mut Cx, this: Ref<ArrayCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.enumerator(this.as_value(), "bsearch", &[]);
        }
        Ok(search(cx, this, block)?.and_then(|i| this.get(i)).unwrap_or(Value::NIL))
    }

    /// As `bsearch`, the index.
    ///
    ///     [1, 4, 7].bsearch_index { |x| x >= 4 }   #=> 1
    #[method("bsearch_index")]
    fn bsearch_index(cx: &mut Cx, this: Ref<ArrayCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.enumerator(this.as_value(), "bsearch_index", &[]);
        }
        Ok(search(cx, this, block)?.map_or(Value::NIL, |i| Value::fixnum(i as i64)))
    }
}
