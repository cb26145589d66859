//! strftime against an installed Ruby.

use crate::reference::{Rng, compare};
use crate::strftime::*;

#[test]
fn days_and_dates_are_inverse() {
    for d in (-1_000_000..1_000_000).step_by(37).chain([-719_468, 0, i64::from(i32::MAX) * 300]) {
        let (y, m, day) = civil_from_days(d);
        assert_eq!(days_from_civil(y, m, day), d);
    }
    assert_eq!(civil_from_days(0), (1970, 1, 1));
    assert_eq!(civil_from_days(-719_528), (0, 1, 1));
}

#[test]
fn as_ruby() {
    let mut rng = Rng(11);
    let flags = ["", "", "", "-", "0", "^", "#", "_", "5", "10", "12", "3", "1", ":", "::", ":::", "E", "O"];
    let letters: Vec<String> = "YCymBbhjdeHkIlMSLNzZAauwGgVUWsnt%cDFvxXrRTPp+qQf".chars().map(String::from).collect();
    let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
    let mut cases: Vec<Vec<u8>> = (0..8000)
        .map(|_| {
            let mut f = b"<%".to_vec();
            f.extend(rng.join(&flags, 3));
            f.extend(rng.pick(&letters).bytes());
            f.push(b'>');
            f
        })
        .collect();
    cases.retain(|c| !c.windows(4).any(|w| w == b"::::") && !c.ends_with(b"_-z>"));
    cases.retain(|c| !c.windows(4).any(|w| w.iter().all(u8::is_ascii_digit)));
    for (epoch, nsec, off) in [
        (0, 0, 0),
        (1_234_567_890, 123_456_789, 32_400),
        (-62_200_000_000, 5, -12_600),
        (1_230_768_000, 0, -1800),
        (4_102_444_799, 999_999_999, 3723),
        (253_402_300_800, 1, 0),
        (-99_999_999_999, 0, 0),
    ] {
        let t = Civil::from_epoch(epoch, nsec, off, b"");
        compare(&cases, &format!("Time.at({epoch}, {nsec}, :nsec, in: {off}).strftime(s)"), |f| strftime(f, &t).unwrap());
    }
    for day in 0..1500 {
        let t = Civil::from_epoch(day * 86_400, 0, 0, b"UTC");
        let _ = strftime(b"%G-%V %U %W %j", &t);
    }
    let days: Vec<Vec<u8>> = (0..3000).map(|d| (d * 86_400 * 5).to_string().into_bytes()).collect();
    compare(&days, "Time.at(s.to_i).utc.strftime('%G-%g-%V %U %W %j %a %s %Z %#Z %10Z')", |d| {
        let epoch = std::str::from_utf8(d).unwrap().parse().unwrap();
        strftime(b"%G-%g-%V %U %W %j %a %s %Z %#Z %10Z", &Civil::from_epoch(epoch, 0, 0, b"UTC")).unwrap()
    });
}
