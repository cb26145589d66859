//! `format` against an installed Ruby, with generated format strings.

use super::*;
use crate::reference::{Rng, compare};

/// Arguments fixed for all cases; the Ruby side builds the same.
struct Fixed(Vec<Arg>);

#[derive(Clone)]
enum Arg {
    I(i64),
    F(f64),
    S(&'static str),
}

impl Fixed {
    fn get(&self, r: ArgRef<'_>) -> Result<Arg, String> {
        match r {
            ArgRef::Index(i) => Ok(self.0[i].clone()),
            ArgRef::Named { name, braces } => Err(String::from_utf8_lossy(&FormatError::key_not_found(name, braces).message).into_owned()),
        }
    }
}

impl FormatArgs for Fixed {
    type Err = String;
    fn progress(&mut self) -> &mut dyn zakuro_base::progress::Progress {
        Box::leak(Box::new(zakuro_base::progress::ToTheEnd))
    }
    fn stopped(&mut self) -> String {
        "stopped".into()
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn integer(&mut self, arg: ArgRef<'_>) -> Result<Int, String> {
        Ok(match self.get(arg)? {
            Arg::I(i) => Int::Small(i),
            Arg::F(f) => Int::from_big(crate::float::float_to_bigint(f.floor())),
            Arg::S(s) => crate::int::parse_strict(s.as_bytes(), 0, self.progress()).map_err(|_| "int".to_owned())?,
        })
    }
    fn count(&mut self, arg: ArgRef<'_>) -> Result<Int, String> {
        match self.get(arg)? {
            Arg::S(_) => Err("no implicit conversion of String into Integer".into()),
            _ => match self.integer(arg)? {
                Int::Small(n) if i32::try_from(n).is_ok() => Ok(Int::Small(n)),
                Int::Small(n) => Err(format!("integer {n} too big to convert to `int'")),
                Int::Big(_) => Err("bignum too big to convert into `long'".into()),
            },
        }
    }
    fn float(&mut self, arg: ArgRef<'_>, directive: u8) -> Result<FloatArg, String> {
        Ok(match self.get(arg)? {
            Arg::I(i) if directive == b'f' => FloatArg::Exact { num: i.into(), den: 1.into() },
            Arg::I(i) => FloatArg::Float(i as f64),
            Arg::F(f) => FloatArg::Float(f),
            Arg::S(_) => return Err("float".into()),
        })
    }
    fn string(&mut self, arg: ArgRef<'_>) -> Result<Vec<u8>, String> {
        Ok(match self.get(arg)? {
            Arg::I(i) => i.to_string(),
            Arg::F(f) => crate::float::float_to_s(f),
            Arg::S(s) => s.to_owned(),
        }
        .into_bytes())
    }
    fn inspect(&mut self, arg: ArgRef<'_>) -> Result<Vec<u8>, String> {
        self.string(arg)
    }
    fn chr(&mut self, arg: ArgRef<'_>) -> Result<Vec<u8>, String> {
        self.string(arg)
    }
    fn error(&mut self, error: FormatError) -> String {
        String::from_utf8_lossy(&error.message).into_owned()
    }
}

fn check(ruby_args: &str, args: Vec<Arg>, conversions: &[&str], seed: u64) {
    let mut rng = Rng(seed);
    let parts = ["", "", "", "-", "+", " ", "0", "#", "5", "12", "20", ".3", ".0", ".12", ".20", "1$", ".", "*"];
    let cases: Vec<Vec<u8>> = (0..4000)
        .map(|_| {
            let mut f = b"<%".to_vec();
            f.extend(rng.join(&parts, 4));
            f.extend(rng.pick(conversions).bytes());
            f.push(b'>');
            f
        })
        .collect();
    // What a `*` does with huge numbers is the caller's business.
    let huge =
        matches!(args[..], [Arg::I(i)] if i.unsigned_abs() > 1 << 31) || matches!(args[..], [Arg::F(f)] if !f.is_finite() || f.abs() > 1e9);
    let cases: Vec<_> = cases.into_iter().filter(|c| !huge || !c.contains(&b'*')).collect();
    // At thousands of digits the reference overruns its width.
    let cases: Vec<_> = cases.into_iter().filter(|c| !c.windows(4).any(|w| w.iter().all(u8::is_ascii_digit))).collect();
    // The reference loses the exponent of %a at precisions in the hundreds.
    let cases: Vec<_> = cases.into_iter().filter(|c| !(c.ends_with(b"a>") || c.ends_with(b"A>")) || c.len() < 12).collect();
    compare(&cases, &format!("format(s, *{ruby_args}) rescue $!.message"), |f| {
        format(f, &mut Fixed(args.clone())).unwrap_or_else(|e| e.into_bytes())
    });
}

#[test]
fn integers_as_ruby() {
    for (i, v) in [0i64, 1, -1, 255, -255, -256, 8, -8, 7, -5, 123456789, i64::MAX, i64::MIN, -2, -4096].into_iter().enumerate() {
        check(&format!("[{v}]"), vec![Arg::I(v)], &["d", "x", "X", "o", "b", "B", "i", "u", "f", "%", "y"], i as u64);
    }
}

#[test]
fn floats_as_ruby() {
    for (i, v) in
        [0.0, -0.0, 1.0, -1.5, 0.5, 2.5, 0.1, 1e10, 1e-5, 123456.789, -9.999e22, 5e-324, 1e300, 3.0e-10, 0.25].into_iter().enumerate()
    {
        check(&format!("[{v:?}]"), vec![Arg::F(v)], &["f", "e", "E", "g", "G", "a", "A"], 50 + i as u64);
    }
    check("[Float::NAN]", vec![Arg::F(f64::NAN)], &["f", "e", "g", "a"], 90);
    check("[-Float::INFINITY]", vec![Arg::F(f64::NEG_INFINITY)], &["f", "e", "g", "a"], 91);
}

#[test]
fn strings_and_numbering_as_ruby() {
    check("['h\u{e9}llo']", vec![Arg::S("h\u{e9}llo")], &["s", "%", ""], 7);
    check("[3, 4, 5]", vec![Arg::I(3), Arg::I(4), Arg::I(5)], &["d%s", "2$d", "s%d%d", "*2$d", "*d"], 8);
}

#[test]
fn open_directives_are_errors() {
    // As of 3.4; the installed reference may be older.
    for text in ["%\n", "%\0", "a % ", "%1$", "%.3\n"] {
        let mut args = Fixed(vec![Arg::I(1)]);
        assert_eq!(format(text.as_bytes(), &mut args), Err("malformed format string".into()), "{text:?}");
    }
    assert_eq!(format(b"%", &mut Fixed(vec![])), Err("incomplete format specifier; use %% (double %) instead".into()));
}

#[test]
fn big_values() {
    let mut args = Fixed(vec![Arg::S("-340282366920938463463374607431768211456"), Arg::F(0.1)]);
    assert_eq!(format(b"%1$x %1$d", &mut args).unwrap(), b"..f00000000000000000000000000000000 -340282366920938463463374607431768211456");
    assert!(format(b"%2$.70000f", &mut args).unwrap().len() == 70002);
    assert_eq!(format(b"%<b>d", &mut args), Err("key<b> not found".into()));
}
