//! Array: walking through it.

use crate::enumerable::{Source, enum_for};
use zakuro_macros::ruby_class;
use zakuro_vm::*;

#[ruby_class(ids::ARRAY)]
pub mod methods {
    use super::*;

    /// Yields each element.
    ///
    ///     s = 0; [1, 2].each { |x| s += x }; s   #=> 3
    #[method("each")]
    fn each(cx: &mut Cx, this: Ref<ArrayCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this.as_value(), "each", &[]);
        }
        let mut source = Source::Array(this, 0);
        if source.is_pairs(cx, block) {
            cx.walk(block, |_| source.take_pair().map(|(_, pair)| pair), |_, _| true, |_, _| Ok(true))?;
        }
        let Source::Array(_, from) = source else { return Ok(this.as_value()) };
        cx.yield_rounds(block, &mut Rounds::elements(this, from))?;
        Ok(this.as_value())
    }

    /// Yields each index.
    ///
    ///     [:a, :b].each_index.to_a   #=> [0, 1]
    #[method("each_index")]
    fn each_index(cx: &mut Cx, this: Ref<ArrayCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this.as_value(), "each_index", &[]);
        }
        let mut i = 0;
        let next = |_: &mut Cx| {
            i += 1;
            (i <= this.len()).then(|| [Value::fixnum(i as i64 - 1)])
        };
        cx.walk(block, next, |_, _| true, |_, _| Ok(true))?;
        Ok(this.as_value())
    }

    /// Yields the elements from the last to the first.
    ///
    ///     [1, 2].reverse_each.to_a   #=> [2, 1]
    #[method("reverse_each")]
    fn reverse_each(cx: &mut Cx, this: Ref<ArrayCell>, block: Block) -> Result<Value> {
        if block.is_none() {
            return enum_for(cx, this.as_value(), "reverse_each", &[]);
        }
        let mut i = this.len();
        let next = |_: &mut Cx| {
            i = i.min(this.len()).checked_sub(1)?;
            Some([this.get(i)?])
        };
        cx.walk(block, next, |_, _| true, |_, _| Ok(true))?;
        Ok(this.as_value())
    }
}
