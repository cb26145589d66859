//! date: what of it is native (text of a moment). The calendar is Ruby, in `ruby/date.rb` and `ruby/date_parse.rb`: plain objects of Integers, so images,
//! messages and Marshal need nothing special, and years have no bound.

use zakuro_macros::ruby_class;
use zakuro_text::strftime::{Civil, strftime_long};
use zakuro_vm::held::Held;
use zakuro_vm::*;

/// Methods of `Date`.
#[ruby_class(ids::OBJECT)]
mod natives {
    use super::*;

    /// `(format, year, month, day, hour, minute, second, nanosecond, offset, zone, wday, yday, digits behind the nanoseconds)` as text.
    #[method("__format", singleton, private, min = 13, max = 13)]
    fn format(cx: &mut Cx, _this: Value, args: Args) -> Result<Value> {
        let fmt = cx.to_str(args.get(0).unwrap_or(Value::NIL))?;
        let mut n = [0i64; 12];
        for i in [1, 2, 3, 4, 5, 6, 7, 8, 10, 11] {
            n[i] = cx.to_i64(args.get(i).unwrap_or(Value::NIL))?;
        }
        let zone = cx.to_str(args.get(9).unwrap_or(Value::NIL))?;
        let digits = cx.to_str(args.get(12).unwrap_or(Value::NIL))?;
        let civil = Civil {
            year: n[1],
            mon: n[2] as u8,
            day: n[3] as u8,
            hour: n[4] as u8,
            min: n[5] as u8,
            sec: n[6] as u8,
            nsec: n[7] as u32,
            subnano_digits: digits.to_vec(),
            utc_offset: n[8] as i32,
            zone: zone.to_vec(),
            wday: n[10] as u8,
            yday: n[11] as u16,
            of_date: true,
        };
        match strftime_long(&Held::of(fmt), &civil, cx)? {
            Some(b) => Ok(cx.str_bytes(&b, fmt.encoding())),
            None => {
                let shown = fmt.to_text();
                crate::raise_errno(cx, "ERANGE", Some(&shown))
            }
        }
    }
}

/// `require "date"`
pub fn load(cx: &mut Cx) -> Result<()> {
    if cx.const_by_path("DateTime").is_some() {
        return Ok(());
    }
    let class = cx.define_class(ids::OBJECT, "Date", ids::OBJECT);
    cx.define_natives(class, &[natives::METHODS]);
    cx.run_builtin("date")?;
    cx.run_builtin("date/parse")
}
