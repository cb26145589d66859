//! What a Date or DateTime holds: a moment, an offset, and where the Gregorian calendar begins.

use super::calendar::{self, Cycle, ITALY};
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{ToPrimitive, Zero};
use zakuro_macros::Trace;
use zakuro_vm::*;

/// A moment whose day is near ([`calendar::NEAR`]) and whose second has whole nanoseconds: everyday's.
#[derive(Trace, Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// Day number of UTC.
    pub jd: i64,
    /// Seconds of that day.
    pub df: i32,
    pub ns: u32,
    /// Seconds east of Greenwich.
    pub of: i32,
    /// Day number from which the Gregorian calendar counts.
    pub start: f64,
}

impl Near {
    pub fn of_day(jd: i64, start: f64) -> Near {
        Near { jd, df: 0, ns: 0, of: 0, start }
    }
    /// What is equal for equal moments, and different for others.
    pub fn key(&self) -> [u8; 16] {
        let mut b = [0; 16];
        b[..8].copy_from_slice(&self.jd.to_le_bytes());
        b[8..12].copy_from_slice(&self.df.to_le_bytes());
        b[12..].copy_from_slice(&self.ns.to_le_bytes());
        b
    }
    /// Seconds of the clock since the day began where the day is UTC's: less than 0 or more than a day where the clock shows another day.
    pub fn clock(&self) -> i64 {
        i64::from(self.df) + i64::from(self.of)
    }
    /// Seconds that the clock shows since its midnight.
    pub fn seconds(&self) -> i64 {
        self.clock().rem_euclid(86400)
    }
    /// Day number where the clock shows it.
    pub fn local_jd(&self) -> i64 {
        self.jd + self.clock().div_euclid(86400)
    }
}

/// What of a moment does not fit in [`Near`].
#[derive(Clone, Debug, PartialEq)]
pub struct Odd {
    /// The day, when it is far; `near.jd` is 0 then.
    pub jd: Option<BigInt>,
    /// Part of a nanosecond in (0, 1), as reduced fraction.
    pub rest: Option<(BigInt, BigInt)>,
}

/// Payload of a Date.
#[derive(Trace, Clone, Debug)]
pub struct Moment {
    pub near: Near,
    #[untraced]
    pub odd: Option<Box<Odd>>,
}

impl From<Near> for Moment {
    fn from(near: Near) -> Moment {
        Moment { near, odd: None }
    }
}

impl Default for Moment {
    fn default() -> Moment {
        Near::of_day(0, ITALY).into()
    }
}

impl NativeData for Moment {
    fn refers(&self) -> bool {
        false
    }
    fn weight(&self) -> usize {
        self.odd.as_ref().map_or(0, |o| {
            let bits = o.jd.as_ref().map_or(0, BigInt::bits) + o.rest.as_ref().map_or(0, |(n, d)| n.bits() + d.bits());
            std::mem::size_of::<Odd>() + bits as usize / 8
        })
    }
    fn send_copy(&self) -> Option<SendPayload> {
        Some(Box::new(self.clone()))
    }
    fn save(&self, out: &mut Saved) -> Option<&'static str> {
        let Near { jd, df, ns, of, start } = self.near;
        out.signed(jd).signed(df.into()).signed(ns.into()).signed(of.into()).float(start).flag(self.odd.is_some());
        if let Some(odd) = &self.odd {
            out.flag(odd.jd.is_some()).flag(odd.rest.is_some());
            if let Some(n) = &odd.jd {
                out.big(n);
            }
            if let Some((n, d)) = &odd.rest {
                out.big(n).big(d);
            }
        }
        Some("Date")
    }
}
zakuro_vm::saved_loader!("Date", |r| {
    let jd = r.signed()?;
    let (df, ns, of) = (r.signed()?.try_into().ok()?, r.signed()?.try_into().ok()?, r.signed()?.try_into().ok()?);
    let near = Near { jd, df, ns, of, start: r.float()? };
    let odd = if r.flag()? {
        let (far, fraction) = (r.flag()?, r.flag()?);
        let jd = if far { Some(r.big()?) } else { None };
        let rest = if fraction { Some((r.big()?, r.big()?)).filter(|(_, d)| *d > BigInt::ZERO) } else { None };
        Some(Box::new(Odd { jd, rest }))
    } else {
        None
    };
    r.ends(0)?;
    let moment = Moment { near, odd };
    Some(rebuild(move |_, _| Some(Box::new(moment.clone()))))
});

impl Moment {
    /// All of it, when it is an everyday one.
    pub fn plain(&self) -> Option<Near> {
        self.odd.is_none().then_some(self.near)
    }
    pub fn jd(&self) -> BigInt {
        self.odd.as_ref().and_then(|o| o.jd.clone()).unwrap_or_else(|| self.near.jd.into())
    }
    fn rest(&self) -> Option<&(BigInt, BigInt)> {
        self.odd.as_ref()?.rest.as_ref()
    }
    pub fn has_rest(&self) -> bool {
        self.rest().is_some()
    }
    /// Digits behind the nanoseconds, as `%N` shows them.
    pub fn digits(&self) -> Vec<u8> {
        let Some((num, den)) = self.rest() else { return Vec::new() };
        let digits = (num * BigInt::from(10u64.pow(15)) / den).to_u64().unwrap_or(0);
        format!("{digits:015}").into_bytes()
    }
    pub fn read(&self) -> Reading {
        let n = &self.near;
        match self.odd.as_ref().and_then(|o| o.jd.as_ref()) {
            None => Reading { jd: n.local_jd(), start: n.start, cycles: None },
            Some(jd) => {
                let (cycles, jd, cycle) = calendar::far(&(jd + n.clock().div_euclid(86400)), n.start);
                Reading { jd, start: cycle.start, cycles: Some(Box::new((cycles, cycle))) }
            }
        }
    }
    /// The same moment read otherwise.
    pub fn with(&self, change: impl FnOnce(&mut Near)) -> Moment {
        let mut copy = self.clone();
        change(&mut copy.near);
        copy
    }
    /// What is equal for equal moments, and different for others.
    pub fn key(&self) -> Vec<u8> {
        let mut b = self.near.key().to_vec();
        if let Some(o) = &self.odd {
            b.extend(o.jd.iter().chain(o.rest.iter().flat_map(|(n, d)| [n, d])).flat_map(BigInt::to_signed_bytes_le));
        }
        b
    }
    /// Of a day of any size and nanoseconds (Integer or Rational) of a second.
    pub fn of_parts(jd: BigInt, df: i32, sf: (BigInt, BigInt), of: i32, start: f64) -> Moment {
        let (ns, rest) = sf.0.div_mod_floor(&sf.1);
        let near_jd = jd.to_i64().filter(|jd| calendar::is_near(*jd));
        let near = Near { jd: near_jd.unwrap_or(0), df, ns: ns.to_u32().unwrap_or(0), of, start };
        let rest = (!rest.is_zero()).then(|| {
            let g = rest.gcd(&sf.1);
            (&rest / &g, &sf.1 / &g)
        });
        let odd = Odd { jd: if near_jd.is_some() { None } else { Some(jd) }, rest };
        let odd = (odd.jd.is_some() || odd.rest.is_some()).then(|| Box::new(odd));
        Moment { near, odd }
    }
    /// Nanoseconds of the second as fraction.
    pub fn sf(&self) -> (BigInt, BigInt) {
        let ns = BigInt::from(self.near.ns);
        match self.rest() {
            None => (ns, 1.into()),
            Some((n, d)) => (ns * d + n, d.clone()),
        }
    }
}

/// A day to be read in the calendar, and how many cycles away it is.
pub struct Reading {
    pub jd: i64,
    pub start: f64,
    cycles: Option<Box<(BigInt, Cycle)>>,
}

impl Reading {
    pub fn civil(&self) -> (i64, i64, i64) {
        calendar::jd_to_civil(self.jd, self.start)
    }
    /// A year that was read off the near day.
    pub fn year(&self, cx: &Cx, y: i64) -> Value {
        match self.far_year(y) {
            None => cx.int(y),
            Some(y) => cx.big(y),
        }
    }
    pub fn far_year(&self, y: i64) -> Option<BigInt> {
        let (cycles, cycle) = &**self.cycles.as_ref()?;
        Some(cycles * cycle.years + y)
    }
    /// A day number from the near one.
    pub fn day(&self, cx: &Cx, jd: i64) -> Value {
        match self.cycles.as_deref() {
            None => cx.int(jd),
            Some((cycles, cycle)) => cx.big(cycles * cycle.days + jd),
        }
    }
}
