//! The content of a String, kept as it is while other code runs: what long native work reads between safepoints.

use std::ops::Deref;
use zakuro_heap::{BufRef, SharedBuf};
use zakuro_object::{Ref, StringCell};

/// Bytes of a String at one moment. Whoever writes to the String meanwhile gets a buffer of its own.
pub enum Held {
    /// Too short to be in a buffer.
    Inline([u8; zakuro_object::string::INLINE], usize),
    Shared(BufRef, usize, usize),
}

impl Held {
    pub fn of(s: Ref<StringCell>) -> Held {
        if let Some((buf, offset, len)) = s.share() {
            return Held::Shared(buf, offset, len);
        }
        let mut bytes = [0; zakuro_object::string::INLINE];
        bytes[..s.len()].copy_from_slice(s.bytes());
        Held::Inline(bytes, s.len())
    }

    /// Whether the String still has these very bytes: nobody has written to it.
    pub fn is_content_of(&self, s: Ref<StringCell>) -> bool {
        match self {
            Held::Inline(..) => **self == *s.bytes(),
            Held::Shared(_, _, len) => s.bytes().as_ptr() == self.as_ptr() && s.len() == *len,
        }
    }
}

impl Deref for Held {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Held::Inline(bytes, len) => &bytes[..*len],
            // SAFETY: `share` gave offset and length of initialised bytes of this buffer. It is not unique while we hold it, so nobody writes to it.
            Held::Shared(buf, offset, len) => unsafe { std::slice::from_raw_parts(SharedBuf::data(buf.as_ptr()).add(*offset), *len) },
        }
    }
}
