//! ThreadGroup: a list of threads that new threads inherit.

use super::payload;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

pub fn setup(cx: &mut Cx) {
    let default = cx.new_object(ids::THREAD_GROUP);
    cx.const_set(ids::THREAD_GROUP, Sym::intern("Default"), default);
}

fn enclosed_name() -> Sym {
    Sym::intern("__enclosed")
}

/// ThreadGroup.
#[ruby_class(ids::THREAD_GROUP)]
pub mod thread_group {
    use super::*;

    /// Its threads that are alive.
    ///
    ///     ThreadGroup.new.list   #=> []
    #[method("list")]
    fn list(cx: &mut Cx, this: Value) -> Result<Value> {
        let out = cx.new_array();
        for t in cx.live_threads().iter().copied() {
            if payload(cx, t)?.group == this {
                ArrayCell::push(out, &mut cx.heap, t);
            }
        }
        Ok(out.as_value())
    }

    /// Moves a thread into this group.
    ///
    ///     g = ThreadGroup.new; t = Thread.new { sleep }; g.add(t); [g.list == [t], t.kill && nil]   #=> [true, nil]
    #[method("add")]
    fn add(cx: &mut Cx, this: Value, thread: Value) -> Result<Value> {
        let t = payload(cx, thread)?;
        let (group, alive) = (t.group, t.alive());
        if this.flags() & flags::FROZEN != 0 {
            return cx.raise(ids::THREAD_ERROR, "can't move to the frozen thread group");
        }
        if cx.ivar_get(this, enclosed_name()).truthy() {
            return cx.raise(ids::THREAD_ERROR, "can't move to the enclosed thread group");
        }
        if !alive {
            return Ok(this);
        }
        if group.is_cell() && group.flags() & flags::FROZEN != 0 {
            return cx.raise(ids::THREAD_ERROR, "can't move from the frozen thread group");
        }
        if cx.ivar_get(group, enclosed_name()).truthy() {
            return cx.raise(ids::THREAD_ERROR, "can't move from the enclosed thread group");
        }
        payload(cx, thread)?.group = this;
        Ok(this)
    }

    /// Closes the group: no thread can be moved into or out of it.
    ///
    ///     ThreadGroup.new.enclose.enclosed?   #=> true
    #[method("enclose")]
    fn enclose(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_set_raw(this, enclosed_name(), Value::TRUE);
        this
    }

    /// Is it closed?
    ///
    ///     ThreadGroup::Default.enclosed?   #=> false
    #[method("enclosed?")]
    fn enclosed(cx: &mut Cx, this: Value) -> bool {
        cx.ivar_get(this, enclosed_name()).truthy()
    }
}
