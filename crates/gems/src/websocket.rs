//! websocket-driver's `websocket_mask`: what a frame's payload becomes under its four bytes of mask.

use zakuro_base::progress::STRIDE;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Methods of `WebSocket::Mask`.
#[ruby_class(ids::OBJECT)]
mod mask {
    use super::*;

    /// The payload with each byte changed by the mask's, in turn; the payload itself without a mask of four bytes.
    #[method("mask", singleton)]
    fn mask(cx: &mut Cx, _this: Value, payload: Value, mask: Value) -> Result<Value> {
        if mask.is_nil() {
            return Ok(payload);
        }
        let mask = cx.to_str(mask)?;
        let Ok(mask) = <[u8; 4]>::try_from(mask.content(&cx.heap)) else { return Ok(payload) };
        let text = Held::of(cx.to_str(payload)?);
        if !cx.heap.admits(text.len()) {
            return cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory");
        }
        let mut out = zakuro_base::memory::with_room(text.len());
        // STRIDE is a multiple of four: each piece begins with the mask's first byte.
        for piece in text.chunks(STRIDE) {
            out.extend(piece.iter().enumerate().map(|(i, b)| b ^ mask[i & 3]));
            if piece.len() == STRIDE {
                cx.safepoint()?;
            }
        }
        Ok(crate::binary(cx, &out))
    }
}

/// `require "websocket_mask"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let websocket = cx.define_module(ids::OBJECT, "WebSocket");
    let class = cx.define_module(websocket, "Mask");
    cx.define_natives(class, &[mask::METHODS]);
    Ok(())
}
