//! Process.clock_gettime and its constants.

use zakuro_macros::ruby_class;
use zakuro_vm::*;

const CLOCKS: &[(&str, i32)] = &[
    ("CLOCK_REALTIME", libc::CLOCK_REALTIME),
    ("CLOCK_MONOTONIC", libc::CLOCK_MONOTONIC),
    ("CLOCK_PROCESS_CPUTIME_ID", libc::CLOCK_PROCESS_CPUTIME_ID),
    ("CLOCK_THREAD_CPUTIME_ID", libc::CLOCK_THREAD_CPUTIME_ID),
    ("CLOCK_REALTIME_COARSE", libc::CLOCK_REALTIME_COARSE),
    ("CLOCK_MONOTONIC_RAW", libc::CLOCK_MONOTONIC_RAW),
    ("CLOCK_MONOTONIC_COARSE", libc::CLOCK_MONOTONIC_COARSE),
    ("CLOCK_BOOTTIME", libc::CLOCK_BOOTTIME),
    ("CLOCK_REALTIME_ALARM", libc::CLOCK_REALTIME_ALARM),
    ("CLOCK_BOOTTIME_ALARM", libc::CLOCK_BOOTTIME_ALARM),
    ("CLOCK_TAI", libc::CLOCK_TAI),
];

pub fn setup(cx: &mut Cx) {
    for (n, v) in CLOCKS {
        cx.const_set(ids::PROCESS, Sym::intern(n), Value::fixnum(*v as i64));
    }
}

/// Nanoseconds in the unit that a Symbol names.
fn in_unit(cx: &mut Cx, ns: i128, unit: Option<Value>) -> Result<Value> {
    let name = match unit.filter(|u| !u.is_nil()) {
        None => "float_second".to_string(),
        Some(u) => match u.as_sym() {
            Some(s) => s.name().into_owned(),
            None => {
                let shown = cx.inspect_text(u)?;
                return cx.arg_error(format!("unexpected unit: {shown}"));
            }
        },
    };
    match &name[..] {
        "float_second" => Ok(cx.float(ns as f64 / 1e9)),
        "float_millisecond" => Ok(cx.float(ns as f64 / 1e6)),
        "float_microsecond" => Ok(cx.float(ns as f64 / 1e3)),
        "second" => Ok(cx.int_i128(ns.div_euclid(1_000_000_000))),
        "millisecond" => Ok(cx.int_i128(ns.div_euclid(1_000_000))),
        "microsecond" => Ok(cx.int_i128(ns.div_euclid(1000))),
        "nanosecond" => Ok(cx.int_i128(ns)),
        other => cx.arg_error(format!("unexpected unit: {other}")),
    }
}

fn emulated(name: &str) -> Option<i32> {
    Some(match name {
        "TIME_BASED_CLOCK_REALTIME" | "GETTIMEOFDAY_BASED_CLOCK_REALTIME" => libc::CLOCK_REALTIME,
        "TIMES_BASED_CLOCK_MONOTONIC" => libc::CLOCK_MONOTONIC,
        "GETRUSAGE_BASED_CLOCK_PROCESS_CPUTIME_ID" | "TIMES_BASED_CLOCK_PROCESS_CPUTIME_ID" | "CLOCK_BASED_CLOCK_PROCESS_CPUTIME_ID" => {
            libc::CLOCK_PROCESS_CPUTIME_ID
        }
        _ => return None,
    })
}

/// Nanoseconds by which the emulated clocks step: what the calls that they are named after can tell.
fn emulated_step(name: &str) -> Option<i128> {
    match name {
        "TIME_BASED_CLOCK_REALTIME" => Some(1_000_000_000),
        "GETTIMEOFDAY_BASED_CLOCK_REALTIME" | "GETRUSAGE_BASED_CLOCK_PROCESS_CPUTIME_ID" | "CLOCK_BASED_CLOCK_PROCESS_CPUTIME_ID" => Some(1000),
        "TIMES_BASED_CLOCK_MONOTONIC" | "TIMES_BASED_CLOCK_PROCESS_CPUTIME_ID" => {
            // SAFETY: no preconditions.
            let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
            (ticks > 0).then(|| 1_000_000_000 / ticks as i128)
        }
        _ => None,
    }
}

#[cold]
fn fail<T>(cx: &mut Cx, errno: i32, id: Value, resolution: bool) -> Result<T> {
    let id = cx.inspect_for_error(id);
    crate::io::fail(cx, errno, &format!("{}({id})", if resolution { "clock_getres" } else { "clock_gettime" }))
}

fn read(cx: &mut Cx, id: Value, resolution: bool) -> Result<i128> {
    let step = id.as_sym().and_then(|s| emulated_step(&s.name()));
    if resolution && let Some(step) = step {
        return Ok(step);
    }
    let clock = match id.as_sym().and_then(|s| emulated(&s.name())) {
        Some(c) => c,
        None if id.is_sym() => return fail(cx, libc::EINVAL, id, resolution),
        None => cx.to_i64(id)? as i32,
    };
    let mut ts = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: ts is writable.
    let r = unsafe { if resolution { libc::clock_getres(clock, &mut ts) } else { libc::clock_gettime(clock, &mut ts) } };
    if r != 0 {
        return fail(cx, crate::io::errors::last_errno(), id, resolution);
    }
    let ns = ts.tv_sec as i128 * 1_000_000_000 + ts.tv_nsec as i128;
    Ok(step.map_or(ns, |step| ns - ns % step))
}

#[ruby_class(ids::PROCESS)]
pub mod process {
    use super::*;
    /// Reading of a clock in a unit (:float_second by default).
    ///
    ///     Process.clock_gettime(Process::CLOCK_MONOTONIC).class   #=> Float
    ///     Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond).class   #=> Integer
    #[method("clock_gettime", module_function)]
    fn clock_gettime(cx: &mut Cx, _this: Value, id: Value, unit: Option<Value>) -> Result<Value> {
        let ns = read(cx, id, false)?;
        in_unit(cx, ns, unit)
    }
    /// Resolution of a clock; also in :hertz.
    #[method("clock_getres", module_function)]
    fn clock_getres(cx: &mut Cx, _this: Value, id: Value, unit: Option<Value>) -> Result<Value> {
        let ns = read(cx, id, true)?;
        if unit.and_then(Value::as_sym) == Some(Sym::intern("hertz")) {
            return Ok(cx.float(1e9 / ns.max(1) as f64));
        }
        in_unit(cx, ns, unit)
    }
}
