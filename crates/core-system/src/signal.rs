//! Signal and `trap`: what this VM does when a signal comes. The process's dispatcher (runtime, `signals`) brings them.
//!
//! Handlers run in the main thread at a safepoint, so they may do whatever Ruby code may do.

use zakuro_core_base::exception::signal::{SIGNALS, name_of, number_of};
use crate::process::owner;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::host::SignalAction;
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[signal::METHODS, kernel::METHODS, process::METHODS];
pub fn setup(_cx: &mut Cx) {}

/// What `trap` was told, by signal number: a callable, a String, nil.
#[derive(Trace, Default)]
struct Traps {
    commands: Vec<(i32, Value)>,
}
impl VmState for Traps {}

/// Number that an argument names. `negative`: -TERM is allowed (a process group).
fn number_arg(cx: &mut Cx, v: Value, negative: bool) -> Result<i32> {
    if v.as_fixnum().is_some() {
        return Ok(cx.to_i64(v)? as i32);
    }
    let text = match v.as_sym() {
        Some(s) => s.name().into_owned(),
        None => match cx.try_str(v)? {
            Some(s) => s.to_text(),
            None => {
                let what = cx.class_name_of(v);
                return cx.arg_error(format!("bad signal type {what}"));
            }
        },
    };
    let (sign, name) = match text.strip_prefix('-') {
        Some(rest) if negative => (-1, rest),
        _ => (1, text.as_str()),
    };
    if name.starts_with('-') {
        return cx.arg_error(format!("negative signal name: {name}"));
    }
    match number_of(name) {
        Some(n) => Ok(sign * n),
        None => {
            let full = if name.starts_with("SIG") { name.to_string() } else { format!("SIG{name}") };
            cx.arg_error(format!("unsupported signal '{full}'"))
        }
    }
}

fn signal_name(n: i32) -> String {
    name_of(n).map_or(format!("SIG{n}"), |s| format!("SIG{s}"))
}

/// What a String given to `trap` asks for; None: a program to evaluate.
fn action_of(text: &str) -> Option<SignalAction> {
    match text {
        "" | "SIG_IGN" | "IGNORE" => Some(SignalAction::Ignore),
        "SIG_DFL" | "DEFAULT" => Some(SignalAction::Default),
        "SYSTEM_DEFAULT" => Some(SignalAction::System),
        _ => None,
    }
}

fn trap(cx: &mut Cx, signal: Value, command: Option<Value>, block: Block) -> Result<Value> {
    let n = number_arg(cx, signal, false)?;
    if !(0..=64).contains(&n) {
        return cx.arg_error(format!("invalid signal number ({n})"));
    }
    if [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGVTALRM].contains(&n) {
        return cx.arg_error(format!("can't trap reserved signal: {}", signal_name(n)));
    }
    let mut command = match command {
        Some(c) => c,
        None if block.is_some() => cx.block_to_proc(block).as_value(),
        None => return cx.arg_error("tried to create Proc object without a block"),
    };
    let mut action = SignalAction::Trap;
    if command.is_nil() {
        action = SignalAction::Ignore;
    } else {
        let text = match command.as_sym() {
            Some(s) => Some(s.name().into_owned()),
            None => cx.try_str(command)?.map(|s| s.to_text()),
        };
        if let Some(text) = text {
            command = match action_of(&text) {
                Some(a) => {
                    action = a;
                    let shown = match a {
                        SignalAction::Ignore => "IGNORE",
                        SignalAction::System => "SYSTEM_DEFAULT",
                        _ => "DEFAULT",
                    };
                    cx.frozen_str(shown)
                }
                None => cx.frozen_str(&text),
            };
        }
    }
    let mut was_ignored = false;
    if n != 0 {
        let host = cx.host_handle()?;
        match host.spawner.on_signal(&host.control, n, action) {
            Ok(ignored) => was_ignored = ignored,
            Err(errno) => return zakuro_core_base::exception::errno_error(cx, errno, &signal_name(n)),
        }
    }
    let traps = &mut cx.state::<Traps>().commands;
    let before = traps.iter().position(|t| t.0 == n).map(|i| traps.swap_remove(i).1);
    if action != SignalAction::Default || n == 0 {
        traps.push((n, command));
    }
    Ok(match before {
        Some(v) => v,
        None if n == 0 || n == libc::SIGPIPE => Value::NIL,
        None if was_ignored => cx.str("IGNORE"),
        None if OURS.contains(&n) => cx.str("DEFAULT"),
        None => cx.str("SYSTEM_DEFAULT"),
    })
}

/// Signals that a Ruby process handles from the start.
const OURS: [i32; 8] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGALRM, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2, libc::SIGCHLD];

fn run(cx: &mut Cx, command: Value, n: i32) -> Result<()> {
    if let Some(s) = Ref::<StringCell>::from_value(command) {
        if s.equals(b"EXIT") {
            let class = cx.class_value(ids::SYSTEM_EXIT);
            let message = cx.str("exit");
            let e = cx.call(class, sym::new, &[Value::fixnum(0), message])?;
            return cx.raise_value(e);
        }
        let main = cx.main;
        cx.call(main, Sym::intern("eval"), &[command])?;
        return Ok(());
    }
    // A handler sees the exception that the code in which it stands rescues, and must not change it.
    let errinfo = cx.errinfo;
    let before = cx.set_in_trap(true);
    let r = cx.call(command, sym::call, &[Value::fixnum(n as i64)]);
    cx.set_in_trap(before);
    cx.errinfo = errinfo;
    r?;
    Ok(())
}

fn signals(bits: u64) -> impl Iterator<Item = i32> {
    (1..64).filter(move |n| bits & (1 << n) != 0)
}

/// Handles the signals that have arrived: the hook of the VM.
pub fn handle(cx: &mut Cx) -> Result<()> {
    let control = cx.host_handle()?.control;
    let bits = control.take_signals();
    if cx.is_in_trap() {
        cx.defer_signals(bits);
        return Ok(());
    }
    for n in signals(bits) {
        let command = cx.state::<Traps>().commands.iter().find(|t| t.0 == n).map(|t| t.1);
        let r = match command {
            Some(Value::NIL) => Ok(()),
            Some(c) if Ref::<StringCell>::from_value(c).is_some_and(|s| action_of(&s.to_text()).is_some()) => Ok(()),
            Some(c) => run(cx, c, n),
            None => default(cx, n),
        };
        if r.is_err() {
            // The others are handled when this one is done with.
            for rest in signals(bits).filter(|rest| *rest > n) {
                control.deliver_signal(rest);
            }
            return r;
        }
    }
    Ok(())
}

fn default(cx: &mut Cx, n: i32) -> Result<()> {
    let e = if n == libc::SIGINT { cx.exception(ids::INTERRUPT, "") } else { cx.exception(ids::SIGNAL_EXCEPTION, &signal_name(n)) };
    cx.ivar_set_raw(e, Sym::intern("__signo"), Value::fixnum(n as i64));
    cx.raise_value(e)
}

/// Runs the trap of EXIT, once, when the VM ends.
pub fn run_exit_trap(cx: &mut Cx) -> Result<()> {
    let traps = &mut cx.state::<Traps>().commands;
    let Some(i) = traps.iter().position(|t| t.0 == 0) else { return Ok(()) };
    let (_, command) = traps.swap_remove(i);
    let plain = Ref::<StringCell>::from_value(command).is_some_and(|s| action_of(&s.to_text()).is_some() || s.equals(b"EXIT"));
    if command.is_nil() || plain { Ok(()) } else { run(cx, command, 0) }
}

/// Signal.
#[ruby_class(ids::SIGNAL)]
pub mod signal {
    use super::*;

    /// Says what happens when a signal comes; returns what was said before. Also "IGNORE", "DEFAULT", "EXIT".
    ///
    ///     a = []; trap(:USR1) { a << 1 }; Process.kill(:USR1, $$); trap(:USR1, "DEFAULT"); a   #=> [1]
    #[method("trap", module_function)]
    fn trap_(cx: &mut Cx, _this: Value, signal: Value, command: Option<Value>, block: Block) -> Result<Value> {
        trap(cx, signal, command, block)
    }

    /// Names and numbers.
    ///
    ///     Signal.list["INT"]   #=> 2
    #[method("list", module_function)]
    fn list(cx: &mut Cx, _this: Value) -> Result<Value> {
        let h = cx.new_hash();
        for (name, n) in SIGNALS {
            // The same keys each time.
            let k = cx.str(name);
            let k = cx.call(k, Sym::intern("-@"), &[])?;
            cx.hash_set(h, k, Value::fixnum(*n as i64))?;
        }
        Ok(h.as_value())
    }

    /// Name of a number; nil if there is none.
    ///
    ///     [Signal.signame(9), Signal.signame(99)]   #=> ["KILL", nil]
    #[method("signame", module_function)]
    fn signame(_this: Value, n: i64) -> Option<String> {
        name_of(i32::try_from(n).ok()?).map(str::to_string)
    }
}

/// Kernel#trap.
#[ruby_class(ids::KERNEL)]
pub mod kernel {
    use super::*;

    /// As Signal.trap.
    ///
    ///     trap(:WINCH) {}   #=> "SYSTEM_DEFAULT"
    #[method("trap", module_function)]
    fn trap_(cx: &mut Cx, _this: Value, signal: Value, command: Option<Value>, block: Block) -> Result<Value> {
        trap(cx, signal, command, block)
    }
}

/// Process.kill.
#[ruby_class(ids::PROCESS)]
pub mod process {
    use super::*;

    /// Sends a signal to processes; returns their number. Signal 0 only asks whether they are there. To a VM that is not the main one its own pid means
    /// the VM alone.
    ///
    ///     Process.kill(0, $$)   #=> 1
    #[method("kill", module_function)]
    fn kill(cx: &mut Cx, _this: Value, signal: Value, pid: i64, more: Rest) -> Result<usize> {
        let n = number_arg(cx, signal, true)?;
        let mut pids = vec![pid];
        for p in more {
            pids.push(cx.to_i64(*p)?);
        }
        for p in &pids {
            let main = cx.owns_process();
            if n < 0 || *p <= 0 {
                owner::check_group(cx, if n < 0 { *p } else { -*p })?;
            } else if n > 0 && cx.host.is_some() && owner::is_this_process(*p) {
                let host = cx.host_handle()?;
                if !main {
                    match host.spawner.signal_vm(&host.control, n) {
                        Ok(()) => continue,
                        Err(e) => return zakuro_core_base::exception::errno_error(cx, e, ""),
                    }
                }
                // Nobody can go on behind a fault.
                if matches!(n, libc::SIGSEGV | libc::SIGBUS) && *p == std::process::id() as i64 {
                    crate::process::crash::end(cx, n);
                }
                if *p == std::process::id() as i64 && host.spawner.send_signal(n) {
                    continue;
                }
            }
            let p = *p as libc::pid_t;
            // SAFETY: plain system calls.
            let r = unsafe { if n < 0 { libc::killpg(p, -n) } else { libc::kill(p, n) } };
            if r < 0 {
                return zakuro_core_base::exception::errno_error(cx, std::io::Error::last_os_error().raw_os_error().unwrap_or(0), "");
            }
        }
        // Our own ones are handled before we return.
        cx.check_interrupts()?;
        Ok(pids.len())
    }
}
