//! Arithmetic of decimals against plain integers, and the edges of the range.

use super::num::{Num, Round, Rules, count_digits, pow10};
use super::text::{Format, format, parse};
use super::{convert, math};
use zakuro_base::progress::ToTheEnd;

fn rules() -> Rules {
    Rules { round: Round::HalfUp, limit: 0, flags: 0, too_big: false }
}
fn num(s: &str) -> Num {
    parse(s, true, &mut rules(), &mut ToTheEnd).unwrap().unwrap()
}
fn show(n: &Num) -> String {
    format(n, Format::default(), &mut ToTheEnd).unwrap().unwrap()
}

#[test]
fn digits() {
    for n in [0, 1, 18, 19, 20, 38, 77, 300, 1000] {
        let p = pow10(n, &mut ToTheEnd).unwrap();
        assert_eq!(count_digits(&p), n + 1);
        assert_eq!(count_digits(&(&p * 9u32)), n + 1);
        if n > 0 {
            assert_eq!(count_digits(&(p - 1u32)), n);
        }
    }
}

#[test]
fn arithmetic() {
    let mut r = rules();
    assert_eq!(show(&r.add(&num("0.1"), &num("0.2"), false, 0, &mut ToTheEnd).unwrap()), "0.3e0");
    assert_eq!(show(&r.add(&num("1e30"), &num("-1e-30"), false, 20, &mut ToTheEnd).unwrap()), "0.1e31");
    r.round = Round::Down;
    assert_eq!(show(&r.add(&num("1e300"), &num("-1e-300"), false, 5, &mut ToTheEnd).unwrap()), "0.99999e300");
    r.round = Round::HalfUp;
    assert_eq!(show(&r.mul(&num("1.25"), &num("-0.8"), 0, &mut ToTheEnd).unwrap()), "-0.1e1");
    assert_eq!(show(&r.div(&num("2"), &num("3"), 5, &mut ToTheEnd).unwrap()), "0.66667e0");
    let (q, m) = r.div_rem(&num("-7.5"), &num("2"), false, &mut ToTheEnd).unwrap().unwrap();
    assert_eq!((q.to_string(), show(&m)), ("-4".into(), "0.5e0".into()));
    assert_eq!(show(&r.to_place(num("-2.5"), 0, Round::HalfEven, &mut ToTheEnd).unwrap()), "-0.2e1");
    assert_eq!(show(&r.to_place(num("0.04"), -1, Round::Ceiling, &mut ToTheEnd).unwrap()), "0.1e0");
    assert_eq!(show(&r.to_place(num("-0.04"), -1, Round::HalfUp, &mut ToTheEnd).unwrap()), "-0.0");
    assert_eq!(num("1e400").compare(&num("1.0000001e400"), &mut ToTheEnd).unwrap(), Some(std::cmp::Ordering::Less));
    let huge = num("1e9223372036854775806");
    assert_eq!(show(&r.mul(&huge, &huge, 0, &mut ToTheEnd).unwrap()), "Infinity");
    assert_eq!(show(&num("1e-99999999999999999999")), "0.0");
}

#[test]
fn functions() {
    let mut r = rules();
    assert_eq!(show(&math::sqrt(&mut r, &num("2"), 30, &mut ToTheEnd).unwrap()), "0.141421356237309504880168872421e1");
    assert_eq!(show(&math::exp(&mut r, &num("1"), 30, &mut ToTheEnd).unwrap()), "0.271828182845904523536028747135e1");
    assert_eq!(show(&math::ln(&mut r, &num("10"), 30, &mut ToTheEnd).unwrap()), "0.230258509299404568401799145468e1");
    assert_eq!(show(&math::ln(&mut r, &num("1.00000000000000000001"), 10, &mut ToTheEnd).unwrap()), "0.1e-19");
    assert_eq!(show(&convert::from_float(&mut ToTheEnd, 0.1 + 0.2, 0).unwrap()), "0.3e0");
}

#[test]
fn groups() {
    let f = |s: &str, group, plain| format(&num(s), Format { plain, plus: None, group }, &mut ToTheEnd).unwrap().unwrap();
    assert_eq!(f("1234567.1234567", 3, true), "1 234 567.123 456 7");
    assert_eq!(f("1234567.1234567", 3, false), "0.123 456 712 345 67e7");
    assert_eq!(f("0.00012", 3, true), "0.000 12");
    assert_eq!(f("12e3", 0, true), "12000.0");
}
