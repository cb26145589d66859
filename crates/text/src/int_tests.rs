//! Integer text against an installed Ruby.

use crate::int::*;
use crate::reference::{Rng, compare};
use zakuro_base::progress::ToTheEnd;

#[test]
fn parse_as_ruby() {
    let mut rng = Rng(5);
    let parts = [
        "1",
        "0",
        "7",
        "9",
        "_",
        "-",
        "+",
        " ",
        "x",
        "0x",
        "0b",
        "0o",
        "0d",
        "a",
        "Z",
        "12",
        "99999999999999999999",
        "9223372036854775808",
        "\n",
        "\0",
    ];
    let mut cases: Vec<Vec<u8>> = (0..6000).map(|_| rng.join(&parts, 6)).collect();
    // CRuby forgets to look behind a NUL after a big number.
    cases.retain(|c| !c.contains(&0) || (c.len() < 15 && !c.contains(&b'_')));
    let show = |r: Result<Int, IntError>, radix| r.map_or("none".into(), |v| to_s(&v, radix, &mut ToTheEnd).unwrap()).into_bytes();
    for base in [0, 2, 8, 10, 16, 36] {
        compare(&cases, &format!("s.to_i({base}).to_s"), |b| show(parse_prefix(b, base, &mut ToTheEnd), 10));
        compare(&cases, &format!("Integer(s, {base}).to_s(7) rescue 'none'"), |b| show(parse_strict(b, base, &mut ToTheEnd), 7));
    }
}

#[test]
fn long_runs_round_trip() {
    let mut rng = Rng(1);
    for len in [1199, 1200, 1201, 2400, 2401, 5000, 20000] {
        let s: String = (0..len).map(|i| char::from(b'1' + (rng.below(9) as u8).min(if i == 0 { 8 } else { 9 }))).collect();
        assert_eq!(to_s(&parse_strict(s.as_bytes(), 10, &mut ToTheEnd).unwrap(), 10, &mut ToTheEnd).as_ref(), Ok(&s));
    }
    assert_eq!(parse_strict(b"-9223372036854775808", 10, &mut ToTheEnd), Ok(Int::Small(i64::MIN)));
}
