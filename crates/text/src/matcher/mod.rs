//! A backtracking matcher with the semantics of Ruby's regular expressions, over bytes in any encoding.
//!
//! Map: [`parse`], [`class`] a pattern to a tree ([`ast`]) · [`analyze`] what is known of its nodes · [`compile`] the tree to a [`program`] ·
//! [`prefilter`] what a search may skip · [`search`] where to try · [`exec`] one attempt, [`state`]
//! of it, what it remembers ([`memo`]) and what it looks at ([`look`]) · [`linear_time`] Ruby's answer to `Regexp.linear_time?`. [`ranges`], [`property`], [`blocks`], [`folding`],
//! [`grapheme`] are sets of characters; [`codec`] reads text.
//! Invariants: programs are immutable and shared; all that a match changes is in its [`Matcher`]. No native recursion over patterns or texts. A match
//! pauses when its steps are used up.
//! Rejected: see docs/decisions/0010-own-matcher.md.

mod analyze;
mod ast;
mod blocks;
mod class;
mod codec;
mod compile;
mod exec;
mod folding;
mod grapheme;
mod linear_time;
mod look;
mod memo;
mod parse;
mod poll;
mod prefilter;
mod program;
mod property;
mod quick;
mod ranges;
mod search;
mod state;
#[cfg(test)]
mod tests;

pub use codec::utf8_like;
pub use compile::compile;
pub use parse::{Options, Warns};
pub use poll::{Poll, STOPPED};
pub use program::Program;
pub use search::{Matcher, Mode};
pub use state::Outcome;

use crate::encoding::Encoding;

/// The encoding whose programs serve this one, too.
#[inline]
pub fn canonical(enc: Encoding) -> Encoding {
    match enc {
        Encoding::UTF_8 | Encoding::BINARY => enc,
        Encoding::US_ASCII => Encoding::BINARY,
        _ => canonical_of_other(enc),
    }
}

/// Looks encodings up by name.
fn canonical_of_other(enc: Encoding) -> Encoding {
    if utf8_like(enc) {
        Encoding::UTF_8
    } else if enc.is_single_byte() && !property::has_own_letters(enc) {
        Encoding::BINARY
    } else {
        enc
    }
}

/// The encoding in which patterns for `enc` are written.
fn source_encoding(enc: Encoding) -> Encoding {
    if enc.is_ascii_compatible() { enc } else { Encoding::UTF_8 }
}

/// What a pattern's owner wants to know of it.
pub struct Outline {
    /// Groups, the whole match included.
    pub groups: u32,
    /// Names in order of appearance, with their groups.
    pub names: Vec<(Vec<u8>, Vec<u32>)>,
    /// What looks like a mistake, in Ruby's wording; where this was asked for.
    pub warnings: Vec<String>,
}

/// Parses a pattern for its outline alone.
///
/// # Errors
/// As [`compile`].
pub fn outline(source: &[u8], options: Options, enc: Encoding, poll: &mut Poll<'_>, warns: Warns) -> Result<Outline, String> {
    let (enc, folder) = (source_encoding(enc), folding::Folder::of(enc));
    let (tree, warnings) = parse::parse_warning(source, options, enc, &folder, poll, warns)?;
    Ok(Outline { groups: tree.groups, names: tree.names, warnings })
}
