//! What texts tell of a date: a Hash in Ruby, and in everyday cases a Date without one.

use super::calendar;
use super::moment::Near;
use zakuro_vm::*;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Year,
    Mon,
    Mday,
    Hour,
    Min,
    Sec,
    SecFraction,
    Zone,
    Offset,
    Wday,
    Yday,
    Cwyear,
    Cweek,
    Cwday,
    Wnum0,
    Wnum1,
    Seconds,
    Leftover,
}

/// By [`Key`].
const NAMES: [Sym; 18] = [
    sym::year,
    sym::mon,
    sym::mday,
    sym::hour,
    sym::min,
    sym::sec,
    sym::sec_fraction,
    sym::zone,
    sym::offset,
    sym::wday,
    sym::yday,
    sym::cwyear,
    sym::cweek,
    sym::cwday,
    sym::wnum0,
    sym::wnum1,
    sym::seconds,
    sym::leftover,
];

/// Elements in the order in which they were found. Lives on the native stack, where the collector looks for values.
pub struct Elements {
    values: [Value; NAMES.len()],
    order: [u8; NAMES.len()],
    len: usize,
}

impl Elements {
    pub fn new() -> Elements {
        Elements { values: [Value::NIL; NAMES.len()], order: [0; NAMES.len()], len: 0 }
    }
    pub fn set(&mut self, key: Key, v: Value) {
        if !self.has(key) {
            self.order[self.len] = key as u8;
            self.len += 1;
        }
        self.values[key as usize] = v;
    }
    pub fn set_int(&mut self, key: Key, n: i64) {
        self.set(key, Value::fixnum(n));
    }
    fn has(&self, key: Key) -> bool {
        self.order[..self.len].contains(&(key as u8))
    }
    /// Those of a Hash that make a date or a moment.
    pub fn of_hash(cx: &mut Cx, h: Ref<HashCell>) -> Elements {
        let mut e = Elements::new();
        for key in [Key::Year, Key::Mon, Key::Mday, Key::Hour, Key::Min, Key::Sec, Key::SecFraction, Key::Offset, Key::Yday, Key::Seconds] {
            if let Some(v) = cx.hash_get_sym(h, NAMES[key as usize]) {
                e.set(key, v);
            }
        }
        e
    }
    /// nil for what is not there.
    pub fn get(&self, key: Key) -> Value {
        self.values[key as usize]
    }
    fn fixnum(&self, key: Key) -> Option<i64> {
        self.get(key).as_fixnum()
    }
    fn fixnum_or(&self, key: Key, default: i64) -> Option<i64> {
        let v = self.get(key);
        if v.is_nil() { Some(default) } else { v.as_fixnum() }
    }
    pub fn hash(&self, cx: &mut Cx) -> Result<Value> {
        let h = cx.new_hash();
        for i in &self.order[..self.len] {
            cx.hash_set(h, Value::sym(NAMES[*i as usize]), self.values[*i as usize])?;
        }
        Ok(h.as_value())
    }
    /// The day, when it is told by year, month and day of everyday size, and by nothing that would come first.
    pub fn day(&self, start: f64) -> Option<i64> {
        if self.has(Key::Seconds) || self.has(Key::Yday) {
            return None;
        }
        let y = self.fixnum(Key::Year).filter(|y| calendar::is_near(*y))?;
        calendar::valid_civil(y, self.fixnum(Key::Mon)?, self.fixnum(Key::Mday)?, start)
    }
    /// The same with the time of day and the offset.
    pub fn moment(&self, start: f64) -> Option<Near> {
        let jd = self.day(start)?;
        let (h, m, s) = (self.fixnum_or(Key::Hour, 0)?, self.fixnum_or(Key::Min, 0)?, self.fixnum_or(Key::Sec, 0)?);
        let of = self.fixnum_or(Key::Offset, 0)?;
        if !(0..24).contains(&h) || !(0..60).contains(&m) || !(0..=60).contains(&s) || of.abs() > 86400 {
            return None;
        }
        let ns = match self.get(Key::SecFraction) {
            Value::NIL => 0,
            v => {
                let (n, d) = PairCell::from_value(v, Kind::Rational)?;
                let (n, d) = (i128::from(n.as_fixnum()?) * 1_000_000_000, i128::from(d.as_fixnum()?));
                u32::try_from(n / d).ok().filter(|ns| n % d == 0 && *ns < 1_000_000_000)?
            }
        };
        Near::at(jd, h * 3600 + m * 60 + s.min(59), ns, of as i32, start)
    }
}

impl Near {
    /// The moment at which a clock so far east shows a day and seconds of it. None: it is far.
    pub fn at(jd: i64, seconds: i64, ns: u32, of: i32, start: f64) -> Option<Near> {
        let df = seconds - i64::from(of);
        let jd = Some(jd + df.div_euclid(86400)).filter(|jd| calendar::is_near(*jd))?;
        Some(Near { jd, df: df.rem_euclid(86400) as i32, ns, of, start })
    }
}
