//! Kinds of events of running code, as bits, and what is told of one.

use crate::frame::{CodeState, Frame};
use zakuro_object::{Marker, Trace, Value};

pub const LINE: u32 = 1;
pub const CLASS: u32 = 2;
pub const END: u32 = 4;
pub const CALL: u32 = 8;
pub const RETURN: u32 = 16;
pub const C_CALL: u32 = 32;
pub const C_RETURN: u32 = 64;
pub const RAISE: u32 = 128;
pub const B_CALL: u32 = 256;
pub const B_RETURN: u32 = 512;
pub const THREAD_BEGIN: u32 = 1024;
pub const THREAD_END: u32 = 2048;
pub const FIBER_SWITCH: u32 = 4096;
pub const SCRIPT_COMPILED: u32 = 8192;
pub const RESCUE: u32 = 16384;
/// A literal is about to be made. Told to the libraries' own traces only.
pub const LITERAL: u32 = 32768;
/// Calls of builtins that CRuby has in Ruby, which are told as CALL and RETURN: set where these are wanted everywhere.
pub const IN_RUBY: u32 = 65536;
/// Kinds that need marked instructions.
pub const IN_CODE: u32 = LINE | CLASS | END | CALL | RETURN | C_CALL | C_RETURN | B_CALL | B_RETURN | RESCUE | LITERAL | IN_RUBY;

/// Something that happened.
#[derive(Clone)]
pub struct Event {
    pub kind: u32,
    /// `self` of the frame, or receiver of a builtin.
    pub self_: Value,
    /// Method cell around, or of the builtin.
    pub me: Value,
    /// Return value, exception, or an Array of an InstructionSequence and the text of an eval (nil: of a file).
    pub value: Value,
    /// Code that runs (the caller's for builtins); null outside of Ruby code.
    pub code: *const CodeState,
    /// Its frame while the event is told.
    pub frame: *mut Frame,
    pub line: u32,
    /// A call or return of a builtin that CRuby has in Ruby.
    pub in_ruby: bool,
}
impl Trace for Event {
    fn trace(&self, m: &mut Marker<'_>) {
        let Event { self_, me, value, kind: _, code: _, frame: _, line: _, in_ruby: _ } = self;
        [*self_, *me, *value].trace(m);
    }
}
