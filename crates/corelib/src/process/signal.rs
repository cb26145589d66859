//! Signal and Process.kill. A VM has its own traps; the runtime hands signals that arrive at the process to the VMs that trap them
//! ([`deliver`]).

use crate::exception::signal::SIGNALS;
use crate::io::{fail, fail_os};
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Handlers of one VM by signal number: a Proc, or "IGNORE".
#[derive(Default)]
pub struct Traps {
    handlers: Vec<(i32, Value)>,
}
impl VmState for Traps {
    fn trace(&self, m: &mut Marker<'_>) {
        for (_, v) in &self.handlers {
            m.mark_value_bits(v.0);
        }
    }
}

/// Name without SIG.
pub fn name_of(n: i32) -> Option<&'static str> {
    SIGNALS.iter().find(|s| s.1 == n).map(|s| s.0)
}

/// Number of a signal argument: Integer, "INT", :SIGINT. ArgumentError for unknown ones.
fn number_of(cx: &mut Cx, v: Value) -> Result<i32> {
    if cx.is_integer(v) {
        let n = cx.to_i64(v)?;
        if !(0..=64).contains(&n) {
            return cx.arg_error(format!("invalid signal number ({n})"));
        }
        return Ok(n as i32);
    }
    let text = match v.as_sym() {
        Some(s) => s.name().into_owned(),
        None => match cx.try_str(v)? {
            Some(s) => s.text().into_owned(),
            None => {
                let c = cx.class_name_of(v);
                return cx.arg_error(format!("bad signal type {c}"));
            }
        },
    };
    let short = text.strip_prefix("SIG").unwrap_or(&text);
    match SIGNALS.iter().find(|s| s.0 == short) {
        Some(s) => Ok(s.1),
        None => cx.arg_error(format!("unsupported signal 'SIG{short}'")),
    }
}

/// Runs the VM's handler of a signal; false when it has none.
pub fn deliver(cx: &mut Cx, n: i32) -> Result<bool> {
    let Some(h) = cx.state::<Traps>().handlers.iter().find(|h| h.0 == n).map(|h| h.1) else { return Ok(false) };
    if let Some(p) = Ref::<ProcCell>::from_value(h) {
        cx.call_proc(p, &[Value::fixnum(n as i64)], false, Block::NONE)?;
    } else if !h.is_kind(Kind::String) && !h.is_nil() {
        cx.call(h, sym::call, &[Value::fixnum(n as i64)])?;
    }
    Ok(true)
}

/// A signal that this VM sends to its own process: its handler runs, or the VM ends as a process would.
fn raise_own(cx: &mut Cx, n: i32) -> Result<()> {
    if deliver(cx, n)? || matches!(n, libc::SIGCHLD | libc::SIGURG | libc::SIGWINCH | libc::SIGCONT) {
        return Ok(());
    }
    let (class, args) = if n == libc::SIGINT {
        (ids::INTERRUPT, vec![cx.str("")])
    } else {
        (ids::SIGNAL_EXCEPTION, vec![Value::fixnum(n as i64)])
    };
    let c = cx.class_value(class);
    let e = cx.call(c, sym::new, &args)?;
    cx.raise_value(e)
}

fn trap(cx: &mut Cx, signal: Value, command: Option<Value>, block: Block) -> Result<Value> {
    let n = number_of(cx, signal)?;
    if matches!(n, libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGFPE | libc::SIGVTALRM) {
        let name = name_of(n).unwrap_or("");
        return cx.arg_error(format!("can't trap reserved signal: SIG{name}"));
    }
    let handler = match command {
        Some(c) => c,
        None if block.is_some() => cx.block_value(block),
        None => return cx.arg_error("tried to create Proc object without a block"),
    };
    if matches!(n, libc::SIGKILL | libc::SIGSTOP) {
        let name = format!("SIG{}", name_of(n).unwrap_or(""));
        return fail(cx, libc::EINVAL, &name);
    }
    // Words instead of a handler.
    let word = match handler.as_sym() {
        Some(s) => Some(s.name().into_owned()),
        None => Ref::<StringCell>::from_value(handler).map(|s| s.text().into_owned()),
    };
    let handler = match word.as_deref() {
        Some("DEFAULT" | "SIG_DFL" | "SYSTEM_DEFAULT") => None,
        Some("IGNORE" | "SIG_IGN" | "") => Some(cx.frozen_str("IGNORE")),
        Some("EXIT") => {
            let exit: fn(&mut Cx, Value, Args) -> Result<Value> = |cx, _, _| {
                let main = cx.main;
                cx.call(main, sym::exit, &[])
            };
            Some(cx.native_proc(exit, Value::NIL, false))
        }
        Some(other) => return cx.arg_error(format!("wrong trap - {other}")),
        None if handler.is_nil() => Some(cx.frozen_str("IGNORE")),
        None => Some(handler),
    };
    let traps = cx.state::<Traps>();
    let old = traps.handlers.iter().position(|h| h.0 == n).map(|i| traps.handlers.remove(i).1);
    if let Some(h) = handler {
        traps.handlers.push((n, h));
    }
    if n == 0 {
        if let Some(o) = old {
            cx.at_exit.retain(|v| *v != o);
        }
        if let Some(h) = handler.filter(|h| h.is_kind(Kind::Proc)) {
            // Runs after everything that at_exit registers later.
            cx.at_exit.insert(0, h);
        }
        return Ok(old.unwrap_or(Value::NIL));
    }
    match old {
        Some(o) => Ok(o),
        None => Ok(cx.str("DEFAULT")),
    }
}

#[ruby_class(ids::SIGNAL)]
pub mod signal {
    use super::*;
    /// Names and numbers of the signals.
    ///
    ///     Signal.list["INT"]   #=> 2
    #[method("list", singleton)]
    fn list(cx: &mut Cx, _this: Value) -> Result<Value> {
        let h = cx.new_hash();
        for (name, n) in SIGNALS {
            let k = cx.str(name);
            cx.hash_set(h, k, Value::fixnum(*n as i64))?;
        }
        Ok(h.as_value())
    }
    /// Name of a signal number, nil when there is none.
    ///
    ///     Signal.signame(15)   #=> "TERM"
    #[method("signame", singleton)]
    fn signame(_cx: &mut Cx, _this: Value, n: i64) -> Option<&'static str> {
        name_of(n as i32)
    }
    /// Sets what happens in this VM when a signal arrives; returns what happened before.
    #[method("trap", singleton)]
    fn trap(cx: &mut Cx, _this: Value, signal: Value, command: Option<Value>, block: Block) -> Result<Value> {
        super::trap(cx, signal, command, block)
    }
}

#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;
    /// As Signal.trap.
    #[method("trap", module_function)]
    fn trap(cx: &mut Cx, _this: Value, signal: Value, command: Option<Value>, block: Block) -> Result<Value> {
        super::trap(cx, signal, command, block)
    }
}

#[ruby_class(ids::PROCESS)]
pub mod process {
    use super::*;
    /// Sends a signal to processes; to its own process: only this VM gets it.
    ///
    ///     Process.kill(0, Process.pid)   #=> 1
    #[method("kill", singleton)]
    fn kill(cx: &mut Cx, _this: Value, signal: Value, pids: Rest) -> Result<i64> {
        if pids.is_empty() {
            return cx.arity_error(1, 2, None);
        }
        let text = match signal.as_sym() {
            Some(s) => Some(s.name().into_owned()),
            None => Ref::<StringCell>::from_value(signal).map(|s| s.text().into_owned()),
        };
        // A minus sign means the process group.
        let (n, group) = match text.as_deref().and_then(|t| t.strip_prefix('-')) {
            Some(rest) => {
                let v = cx.str(rest);
                (number_of(cx, v)?, true)
            }
            None if cx.is_integer(signal) && cx.to_i64(signal)? < 0 => (-cx.to_i64(signal)? as i32, true),
            None => (number_of(cx, signal)?, false),
        };
        for v in pids {
            let pid = cx.to_i64(*v)? as i32;
            if pid == std::process::id() as i32 && !group && n != 0 && !matches!(n, libc::SIGKILL | libc::SIGSTOP) {
                raise_own(cx, n)?;
                continue;
            }
            // SAFETY: no memory arguments.
            let r = unsafe { if group { libc::killpg(pid, n) } else { libc::kill(pid, n) } };
            if r != 0 {
                return fail_os(cx, "");
            }
        }
        Ok(pids.len() as i64)
    }
}
