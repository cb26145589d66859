//! Threads as Ruby sees them, and what they synchronise with. The machinery is `zakuro_vm::thread`.
//!
//! [`class`] life and death of threads · [`locals`] what a thread carries · [`lock`] Mutex, Monitor, ConditionVariable · [`queue`] Queue and
//! SizedQueue · [`group`] ThreadGroup.
//!
//! Threads of a VM run one at a time and change only at safepoints and waits, so what stands in one builtin between two of these is atomic.

pub mod class;
pub mod group;
pub mod interrupt;
mod line;
pub mod locals;
pub mod lock;
pub mod queue;

use std::time::{Duration, Instant};
use zakuro_vm::thread::Thread;
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[
    class::thread::METHODS,
    locals::thread::METHODS,
    interrupt::thread::METHODS,
    lock::mutex::METHODS,
    lock::condition::METHODS,
    lock::monitor::METHODS,
    queue::queue::METHODS,
    queue::sized::METHODS,
    group::thread_group::METHODS,
];

pub fn setup(cx: &mut Cx) {
    group::setup(cx);
}

/// The payload of a Thread object. ThreadError when `initialize` of a subclass has not called super.
pub(crate) fn payload(cx: &mut Cx, v: Value) -> Result<&mut Thread> {
    if !cx.is_data::<Thread>(v) {
        return cx.raise(ids::THREAD_ERROR, "uninitialized thread");
    }
    cx.data_mut::<Thread>(v)
}

/// A time limit: nil for none.
pub(crate) fn deadline(cx: &mut Cx, v: Option<Value>) -> Result<Option<Instant>> {
    match v {
        None | Some(Value::NIL) => Ok(None),
        Some(v) if v.is_kind(Kind::String) || v == Value::TRUE || v == Value::FALSE => cx.no_conversion(v, "Float"),
        Some(v) => {
            // As in CRuby whatever has `to_f` counts as a number here.
            let v = match cx.is_a(v, ids::NUMERIC) {
                true => v,
                false => cx.call_if_responds(v, sym::to_f, &[])?.unwrap_or(v),
            };
            let seconds = cx.to_f64(v)?;
            let d = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX);
            Ok(Some(Instant::now() + d.min(Duration::from_secs(86_400 * 365 * 50))))
        }
    }
}

/// In the child of a fork: the running thread is the only one, without a fiber scheduler, and locks of the others are free.
pub fn forget_others(cx: &mut Cx) {
    if !cx.thread_scheduler().is_nil() {
        cx.threads().current().scheduler = Value::NIL;
        let fiber = cx.fiber_current();
        cx.ivar_set_raw(fiber, Cx::blocking_name(), Value::TRUE);
    }
    for held in cx.forget_other_threads().iter().copied() {
        lock::abandon(cx, held);
    }
}
