//! Float text and rounding against literals and an installed Ruby.

use crate::float::*;
use crate::reference::{Rng, compare};

fn bits(x: f64) -> Vec<u8> {
    x.to_bits().to_be_bytes().to_vec()
}

fn of(b: &[u8]) -> f64 {
    f64::from_bits(u64::from_be_bytes(b.try_into().unwrap()))
}

fn samples() -> Vec<f64> {
    let mut rng = Rng(7);
    let mut v = vec![
        0.0,
        -0.0,
        1.0,
        1e16,
        1e15,
        9999999999999998.0,
        1e-4,
        1e-5,
        9.999e-5,
        1e22,
        1e23,
        5e-324,
        f64::MAX,
        0.1,
        2.5,
        123456789.125,
        100.0,
    ];
    for _ in 0..3000 {
        v.push(f64::from_bits(rng.next()));
        v.push((rng.next() as i64 >> 40) as f64 / 10f64.powi(rng.below(12) as i32));
        v.push((rng.next() >> 30) as f64 / 1000.0 * if rng.next() & 1 == 0 { 1.0 } else { -1.0 });
    }
    v.retain(|x| x.is_finite());
    v
}

#[test]
fn literals() {
    for (x, s) in [
        (1.0, "1.0"),
        (1e16, "1.0e+16"),
        (1e-5, "1.0e-05"),
        (1e-4, "0.0001"),
        (f64::INFINITY, "Infinity"),
        (-0.0, "-0.0"),
        (1.5e300, "1.5e+300"),
    ] {
        assert_eq!(float_to_s(x), s);
    }
    assert_eq!(float_to_s(f64::NAN), "NaN");
    assert_eq!(parse_float(b"1.E-1", false), Some(0.1));
    assert_eq!(parse_float(b"1.", true), Some(1.0));
}

#[test]
fn to_s_as_ruby() {
    let cases: Vec<_> = samples().into_iter().map(bits).collect();
    compare(&cases, "s.unpack1('G').to_s", |b| float_to_s(of(b)).into_bytes());
}

#[test]
fn parse_as_ruby() {
    let mut rng = Rng(3);
    let parts = ["1", "0", "9", "_", ".", "e", "E", "-", "+", " ", "x", "0x", "p", "a", "12", "34", "1.5", "1e5", "\n", "f"];
    let mut cases: Vec<Vec<u8>> = (0..6000).map(|_| rng.join(&parts, 7)).collect();
    // Ruby 3.4 changed what a point without digits means; the installed reference may be older.
    cases.retain(|c| !c.windows(2).any(|w| w[0] == b'.' && !w[1].is_ascii_digit()) && c.last() != Some(&b'.'));
    // Nor does the reference read underscores behind a hex E as digits.
    cases.retain(|c| !(c.contains(&b'x') && c.contains(&b'_')));
    // And a hex fraction needs no exponent any more.
    cases.retain(|c| !(c.contains(&b'x') && c.contains(&b'.')));
    compare(&cases, "Float(s).to_s rescue 'none'", |b| parse_float(b, true).map_or("none".into(), float_to_s).into_bytes());
    cases.retain(|c| !c.windows(2).any(|w| w == b"0x"));
    compare(&cases, "s.to_f.to_s", |b| parse_float(b, false).map_or("none".into(), float_to_s).into_bytes());
}

#[test]
fn hex_fractions() {
    for (text, value) in [
        ("0x0.8", 0.5),
        ("-0xA.8", -10.5),
        ("0x1.8p1", 3.0),
        (" 0x1.5\n", 1.3125),
        ("0x.1", 0.0625),
        ("0x1.", 1.0),
        ("0x1.p+1", 2.0),
        ("0x.", 0.0),
    ] {
        assert_eq!(parse_float(text.as_bytes(), true), Some(value), "{text}");
    }
    assert_eq!(parse_float(b"0x", true), None);
    assert_eq!(parse_float(b"0x._1", true), None);
    assert_eq!(parse_float(b"0x1.g", true), None);
}

#[test]
fn rounding_as_ruby() {
    // From 15 digits on, CRuby 3.1 divides the rational inexactly; ours is correctly rounded.
    for n in [1, 2, 3, 5, 10, 14] {
        let cases: Vec<_> = samples().into_iter().map(bits).collect();
        for (half, name) in [(RoundHalf::Up, "up"), (RoundHalf::Even, "even"), (RoundHalf::Down, "down")] {
            compare(&cases, &format!("s.unpack1('G').round({n}, half: :{name}).to_s"), |b| {
                float_to_s(float_round(of(b), n, half)).into_bytes()
            });
        }
        compare(&cases, &format!("s.unpack1('G').floor({n}).to_s"), |b| float_to_s(float_floor(of(b), n)).into_bytes());
    }
}

#[test]
fn ceil_keeps_a_value_that_has_the_digits() {
    // CRuby before 3.4 answered 17165048.45.
    assert_eq!(float_ceil(17165048.44, 2), 17165048.44);
    assert_eq!(float_ceil(1.231, 2), 1.24);
    assert_eq!(float_ceil(-1.239, 2), -1.23);
    assert_eq!(float_to_s(float_ceil(-0.01, 1)), "-0.0");
}
