//! What the borrow checker refuses of the libraries (docs/decisions/0015-the-heap-is-the-token.md), as `zakuro_vm::looks` shows for the VM: each example would use what may be
//! gone if it compiled, and each has a twin that does compile, so that it is refused for no other reason. They stand here because a library's own doc comments hold Ruby.
//!
//! A stream over a wait, in which another thread may close it:
//!
//! ```compile_fail
//! use zakuro_corelib::io::object;
//! use zakuro_vm::*;
//! fn read_on(cx: &mut Cx, stream: Value) -> Result<usize> {
//!     let io = object::reader(cx, stream)?;
//!     object::fill(cx, stream)?;
//!     Ok(io.buffered().len())
//! }
//! ```
//!
//! ```
//! use zakuro_corelib::io::object;
//! use zakuro_vm::*;
//! fn read_on(cx: &mut Cx, stream: Value) -> Result<usize> {
//!     object::fill(cx, stream)?;
//!     let io = object::reader(cx, stream)?;
//!     Ok(io.buffered().len())
//! }
//! ```
//!
//! What a stream has read ahead, over a block that may read from it:
//!
//! ```compile_fail
//! use zakuro_corelib::io::object;
//! use zakuro_vm::*;
//! fn told(cx: &mut Cx, stream: Value, block: Block) -> Result<Vec<u8>> {
//!     let ahead = object::get(cx, stream)?.buffered();
//!     cx.yield1(block, Value::NIL)?;
//!     Ok(ahead.to_vec())
//! }
//! ```
//!
//! ```
//! use zakuro_corelib::io::object;
//! use zakuro_vm::*;
//! fn told(cx: &mut Cx, stream: Value, block: Block) -> Result<Vec<u8>> {
//!     let ahead = object::get(cx, stream)?.buffered().to_vec();
//!     cx.yield1(block, Value::NIL)?;
//!     Ok(ahead)
//! }
//! ```
//!
//! The payload of a stream around the VM:
//!
//! ```compile_fail
//! use zakuro_corelib::io::object::IoData;
//! use zakuro_vm::*;
//! fn inside(cx: &mut Cx, stream: Value) -> Result<usize> {
//!     let data = cx.data_ref::<IoData>(stream)?;
//!     Ok(std::rc::Rc::strong_count(&data.0))
//! }
//! ```
//!
//! ```
//! use zakuro_corelib::io::object::IoData;
//! use zakuro_vm::*;
//! fn inside(cx: &mut Cx, stream: Value) -> bool {
//!     cx.is_data::<IoData>(stream)
//! }
//! ```
//!
//! A compiled Regexp beyond the variable that keeps its object alive:
//!
//! ```compile_fail
//! use zakuro_corelib::regexp::engine::{RegexpData, regexp_of};
//! use zakuro_vm::*;
//! fn source(v: Value) -> &'static [u8] {
//!     regexp_of(&v).map_or(b"", RegexpData::source)
//! }
//! ```
//!
//! ```
//! use zakuro_corelib::regexp::engine::{RegexpData, regexp_of};
//! use zakuro_vm::*;
//! fn source(v: &Value) -> &[u8] {
//!     regexp_of(v).map_or(b"", RegexpData::source)
//! }
//! ```
//!
//! A payload with a value that nobody marks:
//!
//! ```compile_fail
//! use zakuro_vm::*;
//! struct Kept(Value);
//! impl NativeData for Kept {}
//! ```
//!
//! ```
//! use zakuro_vm::*;
//! struct Kept(Value);
//! impl Trace for Kept {
//!     fn trace(&self, m: &mut Marker<'_>) {
//!         self.0.trace(m);
//!     }
//! }
//! impl NativeData for Kept {}
//! ```
