//! What the borrow checker refuses (docs/decisions/0015-the-heap-is-the-token.md): each example below would read freed memory if it compiled, and each has a twin
//! that does compile, so that it is refused for no other reason.
//!
//! The elements of an Array over a conversion, which may empty it:
//!
//! ```compile_fail
//! use zakuro_vm::*;
//! fn names(cx: &mut Cx, a: Ref<ArrayCell>) -> Result<Vec<Sym>> {
//!     let mut found = Vec::new();
//!     for v in a.elements(&cx.heap) {
//!         found.push(cx.to_sym(*v)?);
//!     }
//!     Ok(found)
//! }
//! ```
//!
//! ```
//! use zakuro_vm::*;
//! fn names(cx: &mut Cx, a: Ref<ArrayCell>) -> Result<Vec<Sym>> {
//!     let mut found = Vec::new();
//!     for v in RootedVec::of(cx, a).iter() {
//!         found.push(cx.to_sym(*v)?);
//!     }
//!     Ok(found)
//! }
//! ```
//!
//! A list that was put together from looks, over a call:
//!
//! ```compile_fail
//! use zakuro_vm::*;
//! fn told(cx: &mut Cx, a: Ref<ArrayCell>, block: Block) -> Result<Value> {
//!     let kept = Gathered::of(&cx.heap, a.elements(&cx.heap).iter().copied().filter(|v| !v.is_nil()));
//!     cx.yield1(block, Value::NIL)?;
//!     Ok(cx.array(&kept))
//! }
//! ```
//!
//! ```
//! use zakuro_vm::*;
//! fn told(cx: &mut Cx, a: Ref<ArrayCell>, block: Block) -> Result<Value> {
//!     let kept = Gathered::of(&cx.heap, a.elements(&cx.heap).iter().copied().filter(|v| !v.is_nil()));
//!     let kept = cx.array(&kept);
//!     cx.yield1(block, Value::NIL)?;
//!     Ok(kept)
//! }
//! ```
//!
//! A list in a field, moved to where nobody traces it, or copied:
//!
//! ```compile_fail
//! use zakuro_vm::*;
//! fn taken(held: &mut TracedVec) -> usize {
//!     std::mem::take(held).len()
//! }
//! ```
//!
//! ```
//! use zakuro_vm::*;
//! fn taken(cx: &mut Cx, held: &mut TracedVec) -> usize {
//!     let all = RootedVec::from_slice(cx, held);
//!     held.clear();
//!     all.len()
//! }
//! ```
//!
//! An iterator that runs Ruby code while an Array is made from it:
//!
//! ```compile_fail
//! use zakuro_vm::*;
//! fn texts(cx: &mut Cx, names: &[Value]) -> Value {
//!     cx.array_of(names.iter().map(|n| cx.inspect(*n).map_or(Value::NIL, |s| s.as_value())))
//! }
//! ```
//!
//! ```
//! use zakuro_vm::*;
//! fn texts(cx: &mut Cx, names: &[Value]) -> Value {
//!     cx.array_of(names.iter().map(|n| cx.str(if n.is_nil() { "nil" } else { "other" })))
//! }
//! ```
//!
//! The bytes of a String over a call:
//!
//! ```compile_fail
//! use zakuro_vm::*;
//! fn longer(cx: &mut Cx, s: Ref<StringCell>, other: Value) -> Result<bool> {
//!     let bytes = s.content(&cx.heap);
//!     let text = cx.to_s(other)?;
//!     Ok(bytes.len() > text.len())
//! }
//! ```
//!
//! ```
//! use zakuro_vm::*;
//! fn longer(cx: &mut Cx, s: Ref<StringCell>, other: Value) -> Result<bool> {
//!     let text = cx.to_s(other)?;
//!     let bytes = s.content(&cx.heap);
//!     Ok(bytes.len() > text.len())
//! }
//! ```
//!
//! The same while the String is changed, which may move its content; making another String is allowed:
//!
//! ```compile_fail
//! use zakuro_vm::*;
//! fn doubled(cx: &mut Cx, s: Ref<StringCell>) {
//!     let bytes = s.content(&cx.heap);
//!     StringCell::append(s, &mut cx.heap, bytes);
//! }
//! ```
//!
//! ```
//! use zakuro_vm::*;
//! fn copied(cx: &mut Cx, s: Ref<StringCell>) -> Value {
//!     cx.str_bytes(s.content(&cx.heap), s.encoding())
//! }
//! ```
//!
//! The payload of an object over a yield:
//!
//! ```compile_fail
//! use zakuro_vm::*;
//! struct Counter(i64);
//! impl Trace for Counter {
//!     fn trace(&self, _: &mut Marker<'_>) {}
//! }
//! impl NativeData for Counter {}
//! fn counted(cx: &mut Cx, this: Value, block: Block) -> Result<i64> {
//!     let counter = cx.data_mut::<Counter>(this)?;
//!     cx.yield1(block, Value::NIL)?;
//!     counter.0 += 1;
//!     Ok(counter.0)
//! }
//! ```
//!
//! ```
//! use zakuro_vm::*;
//! struct Counter(i64);
//! impl Trace for Counter {
//!     fn trace(&self, _: &mut Marker<'_>) {}
//! }
//! impl NativeData for Counter {}
//! fn counted(cx: &mut Cx, this: Value, block: Block) -> Result<i64> {
//!     cx.yield1(block, Value::NIL)?;
//!     let counter = cx.data_mut::<Counter>(this)?;
//!     counter.0 += 1;
//!     Ok(counter.0)
//! }
//! ```
//!
//! The arguments of a call beyond the call:
//!
//! ```compile_fail
//! use zakuro_vm::*;
//! struct Kept(&'static [Value]);
//! fn kept(args: Args) -> Kept {
//!     Kept(args.all())
//! }
//! ```
//!
//! ```
//! use zakuro_vm::*;
//! struct Kept<'a>(&'a [Value]);
//! fn kept<'a>(args: Args<'a>) -> Kept<'a> {
//!     Kept(args.all())
//! }
//! ```
//!
//! The table of a Hash over a conversion, which may empty it:
//!
//! ```compile_fail
//! use zakuro_vm::*;
//! fn names(cx: &mut Cx, h: Ref<HashCell>) -> Result<Vec<Sym>> {
//!     let mut found = Vec::new();
//!     for e in h.table(&cx.heap).into_iter().flat_map(|t| t.iter()) {
//!         found.push(cx.to_sym(e.key)?);
//!     }
//!     Ok(found)
//! }
//! ```
//!
//! ```
//! use zakuro_vm::*;
//! fn names(cx: &mut Cx, h: Ref<HashCell>) -> Result<Vec<Sym>> {
//!     let mut found = Vec::new();
//!     for (key, _) in cx.hash_pairs(h).iter() {
//!         found.push(cx.to_sym(key)?);
//!     }
//!     Ok(found)
//! }
//! ```
//!
//! The bytes of a String that are changed in place, over a safepoint, which may collect:
//!
//! ```compile_fail
//! use zakuro_vm::*;
//! fn cleared(cx: &mut Cx, s: Ref<StringCell>) -> Result<()> {
//!     let bytes = StringCell::bytes_mut(s, &mut cx.heap);
//!     cx.safepoint()?;
//!     bytes.fill(0);
//!     Ok(())
//! }
//! ```
//!
//! ```
//! use zakuro_vm::*;
//! fn cleared(cx: &mut Cx, s: Ref<StringCell>) -> Result<()> {
//!     cx.safepoint()?;
//!     StringCell::bytes_mut(s, &mut cx.heap).fill(0);
//!     Ok(())
//! }
//! ```
//!
//! A reference that is stored in a cell without the write barrier:
//!
//! ```compile_fail
//! use zakuro_vm::*;
//! fn opened(scope: Ref<CrefCell>, list: Value) {
//!     let mut scope = scope;
//!     scope.refinements = list;
//! }
//! ```
//!
//! ```
//! use zakuro_vm::*;
//! fn opened(scope: Ref<CrefCell>, list: Value) {
//!     scope.set_refinements(list);
//! }
//! ```
//!
//! A value of nothing:
//!
//! ```compile_fail
//! use zakuro_vm::*;
//! fn made() -> Value {
//!     Value(0x1000)
//! }
//! ```
//!
//! ```
//! use zakuro_vm::*;
//! fn made() -> Value {
//!     Value::fixnum(0x1000)
//! }
//! ```
