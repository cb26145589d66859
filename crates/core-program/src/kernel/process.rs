//! Ending a VM, and sleeping.

use std::time::Instant;
use zakuro_core_base::interval::duration;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Exit status of an argument: true, false or an Integer.
fn status_of(cx: &mut Cx, v: Option<Value>) -> Result<i64> {
    match v {
        None | Some(Value::TRUE) => Ok(0),
        Some(Value::FALSE) => Ok(1),
        Some(v) => Ok(i64::from(cx.to_i32(v)?)),
    }
}

fn exit_with(cx: &mut Cx, status: i64, message: &str) -> Result<Value> {
    let class = cx.class_value(ids::SYSTEM_EXIT);
    let m = cx.str(message);
    let e = cx.call(class, sym::new, &[Value::fixnum(status), m])?;
    cx.raise_value(e)
}

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;

    /// Ends the VM by raising SystemExit.
    ///
    ///     begin; exit(3); rescue SystemExit => e; e.status; end   #=> 3
    #[method("exit", module_function)]
    fn exit(cx: &mut Cx, _this: Value, status: Option<Value>) -> Result<Value> {
        let s = status_of(cx, status)?;
        exit_with(cx, s, "exit")
    }
    /// Ends the VM at once: no `ensure` clause, no `at_exit` block. Without a status it failed.
    #[method("exit!", module_function)]
    fn exit_at_once(cx: &mut Cx, _this: Value, status: Option<Value>) -> Result<Value> {
        let s = if status.is_none() { 1 } else { status_of(cx, status)? };
        cx.exit_at_once((s & 0xff) as i32)
    }
    /// Ends the VM with status 1; the message is written to `$stderr`.
    #[method("abort", module_function)]
    fn abort(cx: &mut Cx, _this: Value, message: Option<Value>) -> Result<Value> {
        match message {
            Some(m) => {
                let m = cx.to_str(m)?;
                let err = cx.global_get(sym::stderr)?;
                cx.call(err, sym::puts, &[m.as_value()])?;
                let text = m.to_text();
                exit_with(cx, 1, &text)
            }
            None => {
                if cx.errinfo.is_kind(Kind::Exception) {
                    let e = cx.errinfo;
                    let text = cx.call(e, sym::full_message, &[])?;
                    let err = cx.global_get(sym::stderr)?;
                    cx.call(err, sym::write, &[text])?;
                }
                exit_with(cx, 1, "exit")
            }
        }
    }
    /// Registers a block to run when the VM ends; the last one runs first.
    #[method("at_exit", module_function)]
    fn at_exit(cx: &mut Cx, _this: Value, block: Block) -> Result<Value> {
        if block.is_none() {
            return cx.arg_error("called without a block");
        }
        let p = cx.block_to_proc(block).as_value();
        cx.at_exit.push(p);
        Ok(p)
    }
    /// Lets the thread wait for seconds, or until it is woken; returns the seconds slept, rounded.
    ///
    ///     sleep(0)   #=> 0
    #[method("sleep", module_function)]
    fn sleep(cx: &mut Cx, _this: Value, seconds: Option<Value>) -> Result<i64> {
        if !cx.fiber_scheduler().is_nil() {
            let start = Instant::now();
            zakuro_core_system::fiber_scheduler::hook(cx, "kernel_sleep", match &seconds {
                Some(s) if !s.is_nil() => std::slice::from_ref(s),
                _ => &[],
            })?;
            return Ok(start.elapsed().as_secs_f64().round() as i64);
        }
        let how_long = match seconds {
            None | Some(Value::NIL) => None,
            Some(s) => Some(duration(cx, s)?),
        };
        let start = Instant::now();
        cx.sleep(how_long)?;
        Ok(start.elapsed().as_secs_f64().round() as i64)
    }
}
