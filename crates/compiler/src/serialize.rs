//! What the parser tells of a source, as bytes: its tree, tokens, comments, for `require "prism"` (crates/stdlib/src/prism).
//!
//! The bytes are prism's own serialisation, of the version that is linked ([`VERSION`]). They are made where a source is compiled: at once when it is small,
//! else by a [`crate::job::Job`], within limits and left when nobody waits.
//! Rejected: walking the tree by the Rust interface (it hands out no node id, no token, no lexer state).

use crate::job;
use std::ffi::{c_char, c_void};
use std::sync::Arc;

/// The version of the parser, and of the format.
pub const VERSION: [u8; 3] = [2, 1, 0];

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The tree.
    Parse,
    /// The tokens.
    Lex,
    /// Tokens, then the tree.
    ParseLex,
    Comments,
    /// One byte: whether there are no errors.
    Success,
    /// A byte that tells the level of the worst error (255: there is none), the name of the source's encoding, a zero, the text of the report. Formats:
    /// 1 plain, 2 with bold letters, 3 in colours.
    Errors(u8),
    /// A part of the source, from the first place to the second, as a text for itself ([`crate::heredoc`]).
    Piece(u32, u32),
}

/// A question about a source. `options` have been looked at ([`Question::new`]).
#[derive(Clone, Debug)]
pub struct Question {
    source: Arc<[u8]>,
    options: Vec<u8>,
    ask: Ask,
}

impl Question {
    /// None: the options are not written as the parser reads them.
    pub fn new(source: Arc<[u8]>, options: Vec<u8>, ask: Ask) -> Option<Question> {
        holds(&options).map(|()| Question { source, options, ask })
    }
    /// [`Ask::Piece`] of a source that holds both places.
    pub fn piece(source: Arc<[u8]>, start: u32, end: u32) -> Question {
        Question { source, options: Vec::new(), ask: Ask::Piece(start, end) }
    }
    pub fn source_len(&self) -> usize {
        self.source.len()
    }
}

/// Whether options are whole: the parser trusts each length in them.
fn holds(options: &[u8]) -> Option<()> {
    fn take<'a>(rest: &mut &'a [u8], n: usize) -> Option<&'a [u8]> {
        let (head, tail) = rest.split_at_checked(n)?;
        *rest = tail;
        Some(head)
    }
    fn count(rest: &mut &[u8]) -> Option<usize> {
        Some(u32::from_ne_bytes(take(rest, 4)?.try_into().ok()?) as usize)
    }
    /// A text with its length before it.
    fn text(rest: &mut &[u8]) -> Option<()> {
        let length = count(rest)?;
        take(rest, length).map(|_| ())
    }
    let mut rest = options;
    text(&mut rest)?; // the file
    take(&mut rest, 4)?; // the first line
    text(&mut rest)?; // the encoding
    // The third is a version; others are flags.
    if take(&mut rest, 8)?[2] > LATEST {
        return None;
    }
    for _ in 0..count(&mut rest)? {
        let locals = count(&mut rest)?;
        take(&mut rest, 1)?; // what is forwarded
        for _ in 0..locals {
            text(&mut rest)?;
        }
    }
    rest.is_empty().then_some(())
}

/// The number of the newest level of Ruby that the parser knows: 4.1.
const LATEST: u8 = 4;

unsafe extern "C" {
    fn pm_buffer_new() -> *mut c_void;
    fn pm_buffer_free(buffer: *mut c_void);
    fn pm_buffer_value(buffer: *const c_void) -> *mut c_char;
    fn pm_buffer_length(buffer: *const c_void) -> usize;
    fn pm_serialize_parse(buffer: *mut c_void, source: *const u8, size: usize, data: *const c_char);
    fn pm_serialize_parse_comments(buffer: *mut c_void, source: *const u8, size: usize, data: *const c_char);
    fn pm_serialize_lex(buffer: *mut c_void, source: *const u8, size: usize, data: *const c_char);
    fn pm_serialize_parse_lex(buffer: *mut c_void, source: *const u8, size: usize, data: *const c_char);
    fn pm_serialize_parse_success_p(source: *const u8, size: usize, data: *const c_char) -> bool;
    fn pm_serialize_parse_errors_format(buffer: *mut c_void, source: *const u8, size: usize, data: *const c_char, format: i32) -> i8;
}

/// Answers on the stack of the caller; unwinds when this is a job that is left.
pub(crate) fn answer_here(q: &Question) -> Vec<u8> {
    if let Ask::Piece(start, end) = q.ask {
        return crate::heredoc::piece(&q.source, start as usize, end as usize);
    }
    let (source, size, data) = (q.source.as_ptr(), q.source.len(), q.options.as_ptr().cast::<c_char>());
    // A frame that a job may leave owns nothing: results are plain until the parser is done.
    let (buffer, first) = job::in_parser(size, || {
        // SAFETY: source and options live as long as the question; the options are whole; the buffer is the parser's own.
        unsafe {
            if q.ask == Ask::Success {
                return (std::ptr::null_mut(), Some(u8::from(pm_serialize_parse_success_p(source, size, data))));
            }
            let buffer = pm_buffer_new();
            let mut first = None;
            match q.ask {
                Ask::Parse => pm_serialize_parse(buffer, source, size, data),
                Ask::Lex => pm_serialize_lex(buffer, source, size, data),
                Ask::ParseLex => pm_serialize_parse_lex(buffer, source, size, data),
                Ask::Comments => pm_serialize_parse_comments(buffer, source, size, data),
                Ask::Errors(format) => {
                    first = Some(pm_serialize_parse_errors_format(buffer, source, size, data, i32::from(format)) as u8);
                }
                Ask::Success | Ask::Piece(..) => {}
            }
            (buffer, first)
        }
    });
    let mut answer: Vec<u8> = first.into_iter().collect();
    if !buffer.is_null() {
        // SAFETY: the buffer is this question's; its content is as long as it says.
        unsafe {
            let length = pm_buffer_length(buffer);
            job::took(length);
            if length > 0 {
                answer.extend_from_slice(std::slice::from_raw_parts(pm_buffer_value(buffer).cast::<u8>(), length));
            }
            pm_buffer_free(buffer);
        }
    }
    answer
}

/// Answers at once.
pub fn answer(q: &Question) -> Vec<u8> {
    if q.source.len() <= crate::SMALL_SOURCE {
        return answer_here(q);
    }
    crate::on_own_stack(|| answer_here(q))
}

#[cfg(test)]
#[path = "serialize_tests.rs"]
mod tests;
