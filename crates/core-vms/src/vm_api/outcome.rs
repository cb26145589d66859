//! How a VM ended, as those see it who wait for that: the program's value, or the exception that ended it.

use zakuro_vm::host::{End, VmControl};
use zakuro_vm::*;

/// Beside an empty message: the program's value, which can't travel, and why.
pub struct Unsendable(pub String);

/// Beside the exception that ended a VM: where it was raised, for those who have no such class.
pub struct BacktraceText(pub Vec<Vec<u8>>);

/// RubyVM::Error for a VM that ended by an error: message names the VM.
pub fn raise_end<T>(cx: &mut Cx, name: &str, end: &End, cause: Option<Value>) -> Result<T> {
    let message = match end {
        End::Exception { class, message, report } => {
            let report = String::from_utf8_lossy(report);
            let place = report.split(": ").next().unwrap_or("").lines().next().unwrap_or("");
            // Raised where no Ruby code runs: the report begins with the message.
            let first = message.lines().next().unwrap_or("");
            let place = if !first.is_empty() && place.starts_with(first) { String::new() } else { format!(" at {place}") };
            format!("VM {name}: {message} ({class}){place}")
        }
        End::Panic(p) => format!("VM {name}: internal error: {p}"),
        End::Killed => format!("VM {name}: killed"),
        End::Limit { message, .. } => format!("VM {name}: {message}"),
        End::Signal { number, .. } => format!("VM {name}: ended by signal {number}"),
        End::Exit(s) => format!("VM {name}: exit status {s}"),
        End::Done => format!("VM {name}: ended"),
    };
    let e = cx.exception(ids::VM_ERROR, &message);
    if let Some(c) = cause {
        cx.ivar_set_raw(e, raise::hidden::cause(), c);
    }
    cx.raise_value(e)
}

/// The exception that ended a VM; kept, so that each wait for the end has it. One whose class is unknown here is told as a RubyVM::Error.
pub fn exception_of(cx: &mut Cx, this: Value, control: &VmControl, end: &End) -> Result<Option<Value>> {
    let kept = Sym::intern("__cause");
    if let Some(e) = cx.ivar_lookup(this, kept) {
        return Ok(Some(e));
    }
    let Some(mut packed) = control.take_result() else { return Ok(None) };
    let place = packed.detach().and_then(|a| a.downcast::<BacktraceText>().ok());
    let e = match cx.rescue(&[ids::STANDARD_ERROR], |cx| cx.open(packed))?.ok() {
        Some(e) if e.is_kind(Kind::Exception) => e,
        _ => {
            let (End::Exception { class, message, .. }, Some(place)) = (end, place) else { return Ok(None) };
            let e = cx.exception(ids::VM_ERROR, &format!("{message} ({class})"));
            let lines = cx.new_array();
            for l in &place.0 {
                let l = cx.str_auto(l);
                ArrayCell::push(lines, &mut cx.heap, l);
            }
            cx.ivar_set_raw(e, raise::hidden::backtrace(), lines.as_value());
            e
        }
    };
    cx.ivar_set_raw(this, kept, e);
    Ok(Some(e))
}

/// What the program of a VM that is done ended with.
pub fn value_of(cx: &mut Cx, control: &VmControl) -> Result<Value> {
    let Some(mut packed) = control.take_result() else { return Ok(Value::NIL) };
    if let Some(why) = packed.detach().and_then(|a| a.downcast::<Unsendable>().ok()) {
        let name = &control.name;
        return cx.type_error(format!("the value of VM {name} can't be sent: {}", why.0));
    }
    cx.open(packed)
}
