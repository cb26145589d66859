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
