//! Values in files: a number whose low bits say what it is.

use zakuro_object::*;

/// nil, false, true, undef.
pub const SPECIAL: u64 = 0;
/// Zigzag.
pub const SMALL: u64 = 1;
/// Eight bytes follow.
pub const FIXNUM: u64 = 2;
/// The eight bytes of the word follow.
pub const FLONUM: u64 = 3;
/// Index of a name.
pub const SYMBOL: u64 = 4;
/// A node of the same graph.
pub const NODE: u64 = 5;
/// A cell of the boot image.
pub const BOOT: u64 = 6;
/// A node of the image's graph, in those beside it.
pub const IMAGE: u64 = 7;

pub const TAG_BITS: u32 = 3;

pub const SPECIALS: [Value; 4] = [Value::NIL, Value::FALSE, Value::TRUE, Value::UNDEF];

/// What follows the tag of a node.
pub mod body {
    pub const NIL: u8 = 0;
    pub const FLOAT: u8 = 1;
    pub const BIG: u8 = 2;
    pub const STRING: u8 = 3;
    pub const WORDS: u8 = 4;
    pub const HASH: u8 = 5;
    pub const CLASS: u8 = 6;
    pub const BLOCK: u8 = 7;
    pub const PROC: u8 = 8;
    pub const NATIVE_PROC: u8 = 9;
    pub const METHOD: u8 = 10;
    pub const DATA: u8 = 11;
    pub const BARE_DATA: u8 = 12;
    pub const MAIN: u8 = 13;
    pub const THREAD: u8 = 14;
}
