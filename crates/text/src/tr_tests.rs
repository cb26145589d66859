//! tr and friends against an installed Ruby.

use crate::reference::{Rng, compare};
use crate::tr::*;
use zakuro_base::progress::{ToTheEnd, to_the_end};

#[test]
fn as_ruby() {
    let mut rng = Rng(9);
    let atoms = ["a", "b", "c", "d", "z", "a-c", "b-z", "^", "-", "\\", "é", "あ-ん", "い", "\\^", "\\-", "aa"];
    let texts = ["a", "b", "c", "z", "q", "é", "い", "-", "^", "\\", "aa"];
    let mut cases: Vec<Vec<u8>> = (0..6000).map(|_| [rng.join(&atoms, 4), rng.join(&atoms, 4), rng.join(&texts, 8)].join(&0)).collect();
    let parts = |case: &[u8]| -> [Vec<u8>; 3] {
        let mut it = case.splitn(3, |b| *b == 0).map(<[u8]>::to_vec);
        [it.next().unwrap(), it.next().unwrap(), it.next().unwrap()]
    };
    // The reference answers "^-" with broken text, and meets errors in ranges lazily.
    cases.retain(|c| {
        let [_, to, text] = parts(c);
        let to_is_simple = !to.contains(&b'-') || to.len() < 4;
        to_is_simple && !text.is_empty() && (c.is_ascii() || !c.starts_with(b"^")) && !String::from_utf8_lossy(c).contains("い-い")
    });
    let error = |e: Refused| match e {
        Refused::Range(e) => format!("ArgumentError: {}", e.0).into_bytes(),
        Refused::Stopped(_) => unreachable!("to the end"),
    };
    for (method, squeeze) in [("tr", false), ("tr_s", true)] {
        compare(&cases, &format!("a, b, t = s.split(\"\\0\", 3); t.{method}(a, b)"), |case| {
            let [a, b, t] = parts(case);
            tr(&t, &a, &b, squeeze, Unit::Utf8, &mut ToTheEnd).map_or_else(error, |replaced| replaced.unwrap_or(t))
        });
    }
    compare(&cases, "a, b, t = s.split(\"\\0\", 3); [t.delete(a, b), t.squeeze(a), t.squeeze, t.count(a, b)].join('|')", |case| {
        let [a, b, t] = parts(case);
        let run = || -> Result<Vec<u8>, Refused> {
            let both = CharSet::new(&[&a, &b], Unit::Utf8, &mut ToTheEnd)?;
            let one = CharSet::new(&[&a], Unit::Utf8, &mut ToTheEnd)?;
            let none = CharSet::new(&[], Unit::Utf8, &mut ToTheEnd)?;
            Ok(to_the_end(|p| {
                Ok([both.delete(&t, p)?, one.squeeze(&t, p)?, none.squeeze(&t, p)?, both.count(&t, p)?.to_string().into_bytes()]
                    .join(&b'|'))
            }))
        };
        run().unwrap_or_else(error)
    });
}
