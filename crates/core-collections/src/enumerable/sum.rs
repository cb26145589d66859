//! Enumerable: inject and sum.
//!
//! `sum` adds Floats by the Kahan-Babuska method (Neumaier, 1974), as CRuby does.

use super::*;
use zakuro_macros::ruby_class;
use zakuro_vm::methods::fast;

/// `a op b`, without a call for small Integers and Floats.
#[inline(always)]
pub fn operate(cx: &mut Cx, op: Sym, a: Value, b: Value) -> Result<Value> {
    match operate_plainly(cx, op, a, b) {
        Some(r) => Ok(r),
        None => cx.call_public(a, op, &[b], false, Block::NONE),
    }
}
/// What needs no call.
fn operate_plainly(cx: &Cx, op: Sym, a: Value, b: Value) -> Option<Value> {
    if cx.redefined & (fast::INTEGER | fast::FLOAT) == 0 {
        if Value::both_fixnum(a, b) {
            let (x, y) = (a.fix(), b.fix());
            let r = match op {
                sym::add => x.checked_add(y),
                sym::sub => x.checked_sub(y),
                sym::mul => x.checked_mul(y),
                _ => None,
            };
            return r.map(|r| cx.int(r));
        } else if a.is_flonum() && b.is_flonum() && op == sym::add {
            return Some(cx.float(a.flo() + b.flo()));
        }
    }
    None
}

/// Running sum: exact while all is exact, compensated once a Float comes, `+` of whatever else.
pub struct Sum {
    value: Cell<Value>,
    state: Cell<State>,
}
#[derive(Clone, Copy)]
enum State {
    Exact,
    Float { f: f64, c: f64 },
    Other,
}

fn is_exact(v: Value) -> bool {
    v.is_fixnum() || v.is_kind(Kind::Bignum) || v.is_kind(Kind::Rational)
}

impl Sum {
    /// `compensate`: a Float to start with counts as part of the sum (Enumerable, not Array).
    pub fn new(init: Value, compensate: bool) -> Sum {
        let state = match init.as_float() {
            _ if is_exact(init) => State::Exact,
            Some(f) if compensate => State::Float { f, c: 0.0 },
            _ => State::Other,
        };
        Sum { value: Cell::new(init), state: Cell::new(state) }
    }
    /// Adds the first elements as long as that takes no more than a look at their tags; returns how many.
    fn add_run(&self, values: &[Value]) -> usize {
        let values = &values[..values.len().min(4096)];
        let mut n = 0;
        match self.state.get() {
            State::Exact if self.value.get().is_fixnum() => {
                let mut sum = self.value.get();
                while let Some(v) = values.get(n).filter(|v| v.is_fixnum()) {
                    let Some(s) = Value::try_fixnum(sum.fix() + v.fix()) else { break };
                    sum = s;
                    n += 1;
                }
                self.value.set(sum);
            }
            State::Float { mut f, mut c } if f.is_finite() => {
                while let Some(v) = values.get(n).filter(|v| v.is_flonum()) {
                    let x = v.flo();
                    let t = f + x;
                    if !t.is_finite() {
                        break;
                    }
                    c += if f.abs() >= x.abs() { (f - t) + x } else { (x - t) + f };
                    f = t;
                    n += 1;
                }
                self.state.set(State::Float { f, c });
            }
            _ => {}
        }
        n
    }
    #[inline(always)]
    pub fn add(&self, cx: &mut Cx, e: Value) -> Result<()> {
        let v = self.value.get();
        if matches!(self.state.get(), State::Exact)
            && Value::both_fixnum(v, e)
            && let Some(n) = Value::try_fixnum(v.fix() + e.fix())
        {
            self.value.set(n);
            return Ok(());
        }
        self.add_slow(cx, e)
    }
    #[inline(never)]
    fn add_slow(&self, cx: &mut Cx, e: Value) -> Result<()> {
        match self.state.get() {
            State::Exact => {
                if is_exact(e) {
                    return self.plus(cx, e);
                }
                match e.as_float() {
                    Some(_) => {
                        let f = cx.to_f64(self.value.get())?;
                        self.state.set(State::Float { f, c: 0.0 });
                        self.add_slow(cx, e)
                    }
                    None => {
                        self.state.set(State::Other);
                        self.plus(cx, e)
                    }
                }
            }
            State::Float { f, c } => {
                let x = match e.as_float() {
                    Some(x) => x,
                    None if is_exact(e) => cx.to_f64(e)?,
                    None => {
                        let v = cx.float(f);
                        self.value.set(v);
                        self.state.set(State::Other);
                        return self.plus(cx, e);
                    }
                };
                let (f, c) = if f.is_nan() {
                    (f, c)
                } else if x.is_nan() {
                    (x, c)
                } else if x.is_infinite() {
                    (if f.is_infinite() && x.is_sign_negative() != f.is_sign_negative() { f64::NAN } else { x }, c)
                } else if f.is_infinite() {
                    (f, c)
                } else {
                    let t = f + x;
                    (t, c + if f.abs() >= x.abs() { (f - t) + x } else { (x - t) + f })
                };
                self.state.set(State::Float { f, c });
                Ok(())
            }
            State::Other => self.plus(cx, e),
        }
    }
    fn plus(&self, cx: &mut Cx, e: Value) -> Result<()> {
        let r = operate(cx, sym::add, self.value.get(), e)?;
        self.value.set(r);
        Ok(())
    }
    pub fn finish(&self, cx: &mut Cx) -> Value {
        match self.state.get() {
            State::Float { f, c } => cx.float(f + c),
            _ => self.value.get(),
        }
    }
}

/// `inject(:+)` of an Array. Small Integers are added without a look at anything but their tags.
fn add_up(cx: &mut Cx, a: Ref<ArrayCell>, init: Option<Value>) -> Result<Value> {
    let mut i = 0;
    let mut memo = match init.or_else(|| a.get(0)) {
        Some(v) => v,
        None => return Ok(Value::NIL),
    };
    i += init.is_none() as usize;
    loop {
        if memo.is_fixnum() && cx.redefined & fast::INTEGER == 0 {
            // No Ruby code runs meanwhile.
            let rest = a.elements(&cx.heap).get(i..).unwrap_or_default();
            let mut sum = memo.fix();
            let mut n = 0;
            for v in &rest[..rest.len().min(1024)] {
                let Some(s) = v.is_fixnum().then(|| sum.checked_add(v.fix())).flatten() else { break };
                sum = s;
                n += 1;
            }
            memo = cx.int(sum);
            i += n;
            if n > 0 {
                cx.safepoint()?;
                continue;
            }
        }
        let Some(v) = a.get(i) else { return Ok(memo) };
        memo = operate(cx, sym::add, memo, v)?;
        cx.safepoint()?;
        i += 1;
    }
}

#[ruby_class(ids::ENUMERABLE)]
pub mod methods {
    use super::*;

    /// The sum of the elements or of the block's results, on top of `init`. Rounding errors of Floats are compensated.
    ///
    ///     (1..4).each_entry.sum        #=> 10
    ///     [0.1, 0.2, 0.3].sum          #=> 0.6
    ///     ["a", "b"].sum("")           #=> "ab"
    ///     [3, 0.1, 0.2].sum { |x| x * 2 }   #=> 6.6
    #[method("sum")]
    pub fn sum(cx: &mut Cx, this: Value, init: Option<Value>, block: Block) -> Result<Value> {
        let s = Sum::new(init.unwrap_or(Value::fixnum(0)), !this.is_kind(Kind::Array));
        if block.is_none()
            && let Some(a) = plain_array(cx, this)
        {
            let mut i = 0;
            while let Some(v) = a.get(i) {
                i += match s.add_run(&a.elements(&cx.heap)[i..]) {
                    0 => {
                        s.add(cx, v)?;
                        1
                    }
                    n => n,
                };
                cx.safepoint()?;
            }
            return Ok(s.finish(cx));
        }
        let add = |cx: &mut Cx, v| s.add(cx, v).map(|()| true);
        if block.is_some() {
            let keep = |_: &mut Cx, _, r| s.add_run(&[r]) == 1;
            // Who takes two values takes an Array of two apart.
            if crate::hash::takes_two(cx, block) {
                each_yield::<false>(cx, this, block, keep, |cx, _, r| add(cx, r))?;
            } else {
                each_yield::<true>(cx, this, block, keep, |cx, _, r| add(cx, r))?;
            }
        } else {
            each_of(cx, this, |cx, v| {
                let v = pack(cx, v);
                add(cx, v)
            })?;
        }
        Ok(s.finish(cx))
    }

    /// Combines the elements by an operator or a block, from left to right.
    ///
    ///     (1..4).inject(:*)                     #=> 24
    ///     (1..4).inject(10) { |s, x| s + x }    #=> 20
    ///     [[1, 2], [3]].inject(:+)              #=> [1, 2, 3]
    ///     [].inject(:+)                         #=> nil
    #[method("inject", "reduce", min = 0, max = 2)]
    fn inject(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let given = args.all();
        let block = args.block;
        if given.is_empty() && block.is_none() {
            return cx.arity_error(0, 1, Some(2));
        }
        if given.len() == 2 && block.is_some() && cx.is_verbose() {
            cx.warn_here("given block not used")?;
        }
        let (init, op) = match given {
            [init, op] => (Some(*init), Some(cx.to_sym(*op)?)),
            [op] if block.is_none() => (None, Some(cx.to_sym(*op)?)),
            [init] => (Some(*init), None),
            _ => (None, None),
        };
        if let (Some(sym::add), Some(a)) = (op, plain_array(cx, this)) {
            return add_up(cx, a, init);
        }
        let memo = Cell::new(init);
        if op.is_none()
            && block.is_some()
            && let Some(mut elements) = Elements::of(cx, this)
        {
            let Some(first) = init.or_else(|| elements.take_packed(cx)) else { return Ok(Value::NIL) };
            let memo = Cell::new(first);
            // `&:+`
            if let Some(op) = block.proc().and_then(|p| cx.name_of_symbol_proc(p)) {
                walked(cx, elements.hash(), |cx| {
                    while let Some(e) = elements.take_packed(cx) {
                        let m = memo.get();
                        memo.set(match operate_plainly(cx, op, m, e) {
                            Some(r) => r,
                            None => cx.yield_values(block, &[m, e])?,
                        });
                        cx.safepoint()?;
                    }
                    Ok(())
                })?;
                return Ok(memo.get());
            }
            let keep = |_: &mut Cx, r| {
                memo.set(r);
                true
            };
            walked(cx, elements.hash(), |cx| {
                cx.walk(block, |cx| Some([memo.get(), elements.take_packed(cx)?]), keep, |_, _| Ok(true))
            })?;
            return Ok(memo.get());
        }
        each_of(cx, this, |cx, v| {
            let e = pack(cx, v);
            let r = match (memo.get(), op) {
                (None, _) => e,
                (Some(m), Some(op)) => operate(cx, op, m, e)?,
                (Some(_), None) if block.is_none() => return cx.raise(ids::LOCAL_JUMP_ERROR, "no block given"),
                (Some(m), None) => cx.yield_values(block, &[m, e])?,
            };
            memo.set(Some(r));
            Ok(true)
        })?;
        Ok(memo.get().unwrap_or(Value::NIL))
    }
}
