//! When exceptions from other threads may arrive.

use super::payload;
use zakuro_macros::ruby_class;
use zakuro_vm::thread::{Thread, Timing};
use zakuro_vm::*;

fn timing(cx: &mut Cx, v: Value) -> Result<Timing> {
    match v.as_sym().map(|s| s.name()).as_deref() {
        Some("immediate") => Ok(Timing::Immediate),
        Some("on_blocking") => Ok(Timing::OnBlocking),
        Some("never") => Ok(Timing::Never),
        _ => cx.arg_error("unknown mask signature"),
    }
}

fn is_pending(cx: &mut Cx, thread: Value, class: Option<Value>) -> Result<bool> {
    // Nothing waits for one that has not begun (`initialize` of a subclass may ask).
    if !cx.is_data::<Thread>(thread) && cx.is_a(thread, ids::THREAD) {
        return Ok(false);
    }
    let Some(c) = class else { return Ok(!payload(cx, thread)?.pending.is_empty()) };
    let Some(id) = cx.class_id(c) else { return cx.type_error("class or module required for rescue clause") };
    let mut waiting = RootedVec::new(cx);
    waiting.extend(&payload(cx, thread)?.pending);
    Ok(waiting.iter().any(|e| cx.is_a(*e, id)))
}

/// Within a block of `handle_interrupt(Object => :never)`: `f` without its mask, which is there again when it returns, however it does.
pub fn unmasked<T>(cx: &mut Cx, f: impl FnOnce(&mut Cx) -> Result<T>) -> Result<T> {
    let me = cx.current_thread();
    payload(cx, me)?.masks.pop();
    let r = cx.check_interrupts().and_then(|()| f(cx));
    let all = cx.class_value(ids::OBJECT);
    payload(cx, me)?.masks.push(vec![(all, Timing::Never)]);
    r
}

/// Interrupt masks.
#[ruby_class(ids::THREAD)]
pub mod thread {
    use super::*;

    /// Runs the block; exceptions of the given classes that other threads raise here arrive `:immediate`ly, `:on_blocking`, or `:never`
    /// (that is, afterwards).
    ///
    ///     a = []; t = Thread.new { Thread.handle_interrupt(RuntimeError => :never) { Thread.pass until Thread.pending_interrupt?; a << 1 } rescue a << 2 }; Thread.pass; t.raise("x"); t.join; a   #=> [1, 2]
    #[method("handle_interrupt", singleton)]
    fn handle_interrupt(cx: &mut Cx, _this: Value, mask: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.arg_error("block is needed.");
        }
        let h = cx.to_hash(mask)?;
        let mut list = Vec::new();
        for (class, when) in cx.hash_pairs(h) {
            let when = timing(cx, when)?;
            if cx.class_id(class).is_none() {
                return cx.arg_error("unknown mask signature");
            }
            list.push((class, when));
        }
        let me = cx.current_thread();
        payload(cx, me)?.masks.push(list);
        let r = match cx.check_interrupts() {
            Ok(()) => cx.yield_values(block, &[]),
            Err(Exc) => Err(Exc),
        };
        payload(cx, me)?.masks.pop();
        // What waited comes first, even before an exception of the block.
        let e = cx.take_pending();
        cx.check_interrupts()?;
        match r {
            Err(Exc) => cx.repend(e),
            ok => ok,
        }
    }

    /// Within a block of `handle_interrupt`: runs the block without its mask, with those around it, and has the mask again when it returns, however it does.
    #[method("__unmasked", singleton, private)]
    fn unmasked_block(cx: &mut Cx, _this: Value, block: Block) -> Result<Value> {
        unmasked(cx, |cx| cx.yield_values(block, &[]))
    }

    /// As `__unmasked`; returns the exception that the block itself raises, else nil. What comes from outside is raised.
    #[method("__attempt", singleton, private)]
    fn attempt_block(cx: &mut Cx, _this: Value, block: Block) -> Result<Value> {
        Ok(cx.attempt(|cx| unmasked(cx, |cx| cx.yield_values(block, &[])))?.err().unwrap_or(Value::NIL))
    }

    /// For threads that wait between calls: wipes what those have left on the native stack, where a wait would show it to the collector for as long as it lasts.
    #[method("__wipe", singleton, private)]
    fn wipe(_cx: &mut Cx, _this: Value) -> Result<()> {
        zakuro_vm::gc::wipe_below();
        Ok(())
    }

    /// Does an exception wait to be raised in the running thread?
    ///
    ///     Thread.pending_interrupt?   #=> false
    #[method("pending_interrupt?", singleton)]
    fn pending_here(cx: &mut Cx, _this: Value, class: Option<Value>) -> Result<bool> {
        let me = cx.current_thread();
        is_pending(cx, me, class)
    }

    /// Does an exception wait to be raised in the thread?
    ///
    ///     Thread.current.pending_interrupt?(StandardError)   #=> false
    #[method("pending_interrupt?")]
    fn pending(cx: &mut Cx, this: Value, class: Option<Value>) -> Result<bool> {
        is_pending(cx, this, class)
    }
}
