//! The content of a String, kept as it is while other code runs: what long native work reads between safepoints.

use crate::vm::Cx;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use zakuro_heap::{BufRef, SharedBuf};
use zakuro_object::{Ref, StringCell};

/// Bytes of a String at one moment. Whoever writes to the String meanwhile gets a buffer of its own.
pub enum Held {
    /// Too short to be in a buffer.
    Inline([u8; zakuro_object::string::INLINE], usize),
    Shared(ManuallyDrop<BufRef>, usize, usize),
}

impl Held {
    pub fn of(s: Ref<StringCell>) -> Held {
        if let Some((buf, offset, len)) = s.hold() {
            return Held::Shared(ManuallyDrop::new(buf), offset, len);
        }
        let (bytes, len) = s.inline().unwrap_or_default();
        Held::Inline(bytes, len)
    }

    /// Whether the String still has these very bytes: nobody has written to it.
    pub fn is_content_of(&self, s: Ref<StringCell>) -> bool {
        match self {
            Held::Inline(..) => s.equals(self),
            Held::Shared(_, _, len) => s.address() == self.as_ptr().addr() && s.len() == *len,
        }
    }
}

/// Who gives a buffer back last tells the heap that accounted for it: the String may have let go of it meanwhile.
impl Drop for Held {
    fn drop(&mut self) {
        if let Held::Shared(buf, ..) = self {
            // SAFETY: not used after this; a holder, on behalf of the VM whose turn it is.
            let bytes = unsafe { SharedBuf::let_go(ManuallyDrop::take(buf).into_raw(), false, |_| {}) };
            given_back(bytes);
        }
    }
}

/// The running VM's heap accounts for so many bytes less: who held them outside of any cell has let go.
fn given_back(bytes: usize) {
    let cx = zakuro_sched::turn_data() as *mut Cx;
    if bytes > 0 && !cx.is_null() {
        // SAFETY: the VM whose turn this thread has, which is running this very code outside of its heap.
        unsafe { (*cx).heap.sub_payload(bytes) };
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
