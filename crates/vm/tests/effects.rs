//! A builtin that does more than it says is found when it is called, by name; one that does what it says is not. Debug builds only: others do not look.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use zakuro_macros::ruby_class;
use zakuro_vm::frame::Frame;
use zakuro_vm::vm::Stacks;
use zakuro_vm::{Block, Cx, Effects, Exc, FromValue, Heap, MethodRow, Result, StringCell, Sym, Value, ids, string};

/// An argument whose conversion allocates, and says so or not.
struct Honest;
impl FromValue for Honest {
    const EFFECTS: Effects = Effects::ALLOCATES;
    fn from_value(cx: &mut Cx, _: Value) -> Result<Honest> {
        cx.str("x");
        Ok(Honest)
    }
}
struct Liar;
impl FromValue for Liar {
    const EFFECTS: Effects = Effects::LEAF;
    fn from_value(cx: &mut Cx, _: Value) -> Result<Liar> {
        cx.str("x");
        Ok(Liar)
    }
}

#[ruby_class(ids::OBJECT)]
mod probes {
    use super::*;

    #[method("honest_leaf")]
    fn honest_leaf(this: Value) -> bool {
        this.is_nil()
    }
    #[method("honest_allocation")]
    fn honest_allocation(heap: &Heap, _this: Value) -> Value {
        StringCell::plain(heap, b"x", string::UTF8).as_value()
    }
    #[method("honest_raise")]
    fn honest_raise(_this: Value) -> Result<Value> {
        Err(Exc)
    }
    #[method("honest_call")]
    fn honest_call(cx: &mut Cx, this: Value) -> Result<Value> {
        cx.call(this, Sym::intern("honest_leaf"), &[])
    }
    #[method("honest_reason", effect = "allocates", reason = "the test's")]
    fn honest_reason(cx: &mut Cx, _this: Value) -> Value {
        cx.str("x")
    }
    #[method("honest_argument")]
    fn honest_argument(_this: Value, _v: Honest) -> bool {
        true
    }
    #[method("allocates", effect = "leaf", reason = "a lie")]
    fn allocates(cx: &mut Cx, _this: Value) -> Value {
        cx.str("x")
    }
    #[method("raises", effect = "runs Ruby", reason = "a lie")]
    fn raises(_cx: &mut Cx, _this: Value) -> Result<Value> {
        Err(Exc)
    }
    #[method("calls", effect = "allocates, changes, raises", reason = "a lie")]
    fn calls(cx: &mut Cx, this: Value) -> Result<Value> {
        cx.call(this, Sym::intern("honest_leaf"), &[])
    }
    #[method("polls", effect = "raises", reason = "a lie")]
    fn polls(cx: &mut Cx, _this: Value) -> Result<()> {
        cx.safepoint_slow()
    }
    #[method("argument")]
    fn argument(_this: Value, _v: Liar) -> bool {
        true
    }
    #[method("result", effect = "leaf", reason = "a lie")]
    fn result(_this: Value) -> i64 {
        i64::MAX
    }
}

/// A VM with core classes and the probes, on stacks of its own.
fn with_vm<R>(f: impl FnOnce(&mut Cx) -> R) -> R {
    let mut values = vec![Value::NIL; 4096];
    let mut frames = Vec::<Frame>::with_capacity(256);
    let mut vm = Cx::for_boot(Arc::default());
    let (values, frames) = (values.as_mut_ptr_range(), frames.spare_capacity_mut().as_mut_ptr_range());
    let stacks = Stacks {
        values: values.start,
        values_end: values.end,
        frames: frames.start.cast::<Frame>(),
        frames_end: frames.end.cast::<Frame>(),
        native_limit: std::ptr::null(),
        native_top: std::ptr::null(),
    };
    // SAFETY: both outlive the VM's use.
    unsafe { vm.enter_stacks(stacks) };
    probes::METHODS.iter().for_each(|row| vm.define_native(row));
    f(&mut vm)
}

fn row(name: &str) -> &'static MethodRow {
    probes::METHODS.iter().find(|r| r.names[0] == name).unwrap()
}

/// What the check said about a call.
fn call(name: &str) -> Option<String> {
    with_vm(|cx| {
        let args = vec![Value::NIL; row(name).min];
        let found = catch_unwind(AssertUnwindSafe(|| cx.call_full(Value::NIL, Sym::intern(name), &args, false, Block::NONE)));
        found.err().map(|e| e.downcast_ref::<String>().cloned().unwrap_or_default())
    })
}

#[test]
fn effects_are_added_up() {
    let told = |name| (row(name).effects.to_string(), row(name).direct.to_string());
    let both = |s: &str| (s.to_string(), s.to_string());
    assert_eq!(told("honest_leaf"), both("leaf"));
    assert_eq!(told("honest_allocation"), both("allocates"));
    assert_eq!(told("honest_raise"), both("raises"));
    assert_eq!(told("honest_call"), both("raises, runs Ruby"));
    assert_eq!(told("honest_reason"), both("allocates"));
    assert_eq!(told("honest_argument"), ("allocates".into(), "leaf".into()));
    assert_eq!(told("calls"), both("allocates, changes, raises"));
    assert_eq!(Effects::RUNS_RUBY.to_string(), "runs Ruby");
}

#[test]
#[cfg(debug_assertions)]
fn a_lie_is_found() {
    for honest in ["honest_leaf", "honest_allocation", "honest_raise", "honest_call", "honest_reason", "honest_argument"] {
        assert_eq!(call(honest), None, "{honest}");
    }
    let lies = [
        ("allocates", "allocated"),
        ("raises", "raised"),
        ("calls", "ran Ruby"),
        ("polls", "ran Ruby"),
        ("argument", "allocated"),
        ("result", "allocated"),
    ];
    for (name, did) in lies {
        let told = call(name).unwrap_or_default();
        assert!(told.contains(&format!("Object#{name}:")) && told.ends_with(did), "{name}: {told}");
    }
}
