//! Time limits of matching. Only the backtracking matcher can run long; it looks at the clock when its steps are used up.

use super::engine::regexp_checked;
use std::time::{Duration, Instant};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// `Regexp.timeout` of the VM.
#[derive(Trace, Default)]
struct Limit(Option<f64>);
impl VmState for Limit {
    fn snapshot(&self, _values: &mut Gathered) -> Option<Restore> {
        Some(blueprint(self.0))
    }
}

fn blueprint(limit: Option<f64>) -> Restore {
    let save = move |out: &mut Saved| {
        out.flag(limit.is_some()).float(limit.unwrap_or(0.0));
        Some("Regexp.timeout")
    };
    savable_state(move |cx, _| cx.state::<Limit>().0 = limit, save)
}
zakuro_vm::state_loader!("Regexp.timeout", |r| {
    let limit = (r.flag()?, r.float()?);
    r.ends(0)?;
    // As `check` lets it pass.
    Some(blueprint(limit.0.then_some(limit.1).filter(|f| *f > 0.0 && *f <= u64::MAX as f64 / 1e9)))
});

fn name() -> Sym {
    Sym::intern("__timeout")
}

/// When a search with this Regexp that begins now must end.
pub fn deadline(cx: &mut Cx, re: Value) -> Option<Instant> {
    let own = if re.is_cell() && re.flags() & flags::HAS_IVARS != 0 { cx.ivar_get(re, name()).as_float() } else { None };
    let limit = own.or(cx.state::<Limit>().0)?;
    Some(Instant::now() + Duration::from_secs_f64(limit))
}

/// A limit that the program gave, in seconds: positive, or nil for none.
pub fn check(cx: &mut Cx, v: Value) -> Result<Option<f64>> {
    if v.is_nil() {
        return Ok(None);
    }
    let f = cx.to_f64(v)?;
    if f <= 0.0 || f.is_nan() {
        let t = cx.inspect_text(v)?;
        return cx.arg_error(format!("invalid timeout: {t}"));
    }
    // CRuby counts nanoseconds in 64 bits.
    Ok(Some(f.min(u64::MAX as f64 / 1e9)))
}

/// Sets the limit of one Regexp (`Regexp.new(source, timeout: seconds)`).
pub fn set(cx: &mut Cx, re: Value, limit: f64) {
    let f = cx.float(limit);
    cx.ivar_set_raw(re, name(), f);
}

#[ruby_class(ids::REGEXP)]
pub mod timeouts {
    use super::*;

    /// Seconds that matching may take when the Regexp says nothing; nil for no limit.
    ///
    ///     Regexp.timeout   #=> nil
    #[method("timeout", singleton)]
    fn timeout(cx: &mut Cx, _this: Value) -> Option<f64> {
        cx.state::<Limit>().0
    }

    /// Sets the limit of this VM.
    ///
    ///     Regexp.timeout = 3.0   #=> 3.0
    #[method("timeout=", singleton)]
    fn set_timeout(cx: &mut Cx, _this: Value, v: Value) -> Result<Value> {
        let limit = check(cx, v)?;
        cx.state::<Limit>().0 = limit;
        Ok(v)
    }

    /// The limit of this Regexp itself.
    ///
    ///     Regexp.new("a", timeout: 2).timeout   #=> 2.0
    #[method("timeout")]
    fn own_timeout(cx: &mut Cx, this: Value) -> Result<Value> {
        regexp_checked(cx, &this)?;
        Ok(cx.ivar_get(this, name()))
    }
}
