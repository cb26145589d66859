//! Names and numbers of signals; SignalException and Interrupt.

use super::set_message;
use zakuro_macros::ruby_class;
use zakuro_vm::*;

/// Signals without their "SIG", with numbers.
pub static SIGNALS: &[(&str, i32)] = &[
    ("EXIT", 0),
    ("HUP", libc::SIGHUP),
    ("INT", libc::SIGINT),
    ("QUIT", libc::SIGQUIT),
    ("ILL", libc::SIGILL),
    ("TRAP", libc::SIGTRAP),
    ("ABRT", libc::SIGABRT),
    ("IOT", libc::SIGABRT),
    ("BUS", libc::SIGBUS),
    ("FPE", libc::SIGFPE),
    ("KILL", libc::SIGKILL),
    ("SEGV", libc::SIGSEGV),
    ("SYS", libc::SIGSYS),
    ("PIPE", libc::SIGPIPE),
    ("ALRM", libc::SIGALRM),
    ("TERM", libc::SIGTERM),
    ("URG", libc::SIGURG),
    ("STOP", libc::SIGSTOP),
    ("TSTP", libc::SIGTSTP),
    ("CONT", libc::SIGCONT),
    ("CHLD", libc::SIGCHLD),
    ("CLD", libc::SIGCHLD),
    ("TTIN", libc::SIGTTIN),
    ("TTOU", libc::SIGTTOU),
    ("IO", libc::SIGIO),
    ("XCPU", libc::SIGXCPU),
    ("XFSZ", libc::SIGXFSZ),
    ("VTALRM", libc::SIGVTALRM),
    ("PROF", libc::SIGPROF),
    ("WINCH", libc::SIGWINCH),
    ("USR1", libc::SIGUSR1),
    ("USR2", libc::SIGUSR2),
    ("PWR", libc::SIGPWR),
    ("POLL", libc::SIGPOLL),
];

/// Name without "SIG" of a number.
pub fn name_of(number: i32) -> Option<&'static str> {
    SIGNALS.iter().find(|s| s.1 == number).map(|s| s.0)
}
/// Number of a name, "SIG" optional.
pub fn number_of(name: &str) -> Option<i32> {
    let n = name.strip_prefix("SIG").unwrap_or(name);
    SIGNALS.iter().find(|s| s.0 == n).map(|s| s.1)
}

/// The methods of SignalException.
#[ruby_class(ids::SIGNAL_EXCEPTION)]
pub(super) mod signal_exception {
    use super::*;

    /// From a name, or a number and possibly another message.
    ///
    ///     SignalException.new("INT").signo   #=> 2
    #[method("initialize", private, min = 0, max = -1)]
    fn initialize(cx: &mut Cx, this: Value, args: Rest) -> Result<Value> {
        let (signal, message) = match args {
            [signal] => (*signal, None),
            [signal, message] => (*signal, Some(*message)),
            [] => return cx.arity_error(0, 1, Some(1)),
            more => return cx.arity_error(more.len(), 1, Some(2)),
        };
        let by_name = signal.is_sym() || cx.try_str(signal)?.is_some();
        let (number, text) = if by_name {
            if message.is_some() {
                return cx.arity_error(2, 1, Some(1));
            }
            let name = cx.text_of(signal)?;
            if name.starts_with('-') {
                return cx.arg_error(format!("negative signal name: {name}"));
            }
            match number_of(&name) {
                Some(n) if n > 0 => (n, format!("SIG{}", name.strip_prefix("SIG").unwrap_or(&name))),
                _ => {
                    let full = if name.starts_with("SIG") { name } else { format!("SIG{name}") };
                    return cx.arg_error(format!("unsupported signal '{full}'"));
                }
            }
        } else {
            let number = if signal.is_fixnum() { Some(signal) } else { cx.call_if_responds(signal, sym::to_int, &[])? };
            let Some(number) = number else {
                let c = cx.class_name_of(signal);
                return cx.arg_error(format!("bad signal type {c}"));
            };
            let n = cx.to_i64(number)?;
            if !(0..=64).contains(&n) {
                return cx.arg_error(format!("invalid signal number ({n})"));
            }
            (n as i32, name_of(n as i32).map_or(format!("SIG{n}"), |s| format!("SIG{s}")))
        };
        cx.ivar_set_raw(this, Sym::intern("__signo"), Value::fixnum(number as i64));
        let m = match message {
            Some(m) => m,
            None => cx.str(&text),
        };
        set_message(cx, this, Some(m));
        Ok(Value::NIL)
    }

    /// Number of the signal.
    ///
    ///     SignalException.new("TERM").signo   #=> 15
    #[method("signo")]
    fn signo(cx: &mut Cx, this: Value) -> Value {
        cx.ivar_get(this, Sym::intern("__signo"))
    }

    /// The message.
    ///
    ///     SignalException.new("TERM").signm   #=> "SIGTERM"
    #[method("signm")]
    fn signm(cx: &mut Cx, this: Value) -> Result<Value> {
        cx.call(this, sym::message, &[])
    }
}

/// The methods of Interrupt.
#[ruby_class(ids::INTERRUPT)]
pub(super) mod interrupt {
    use super::*;

    /// SIGINT with a message.
    ///
    ///     Interrupt.new("stop").signo   #=> 2
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value, message: Option<Value>) -> Result<Value> {
        cx.ivar_set_raw(this, Sym::intern("__signo"), Value::fixnum(libc::SIGINT as i64));
        let m = match message {
            Some(m) => m,
            None => cx.str("Interrupt"),
        };
        set_message(cx, this, Some(m));
        Ok(Value::NIL)
    }
}
