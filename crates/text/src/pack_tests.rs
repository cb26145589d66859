//! pack and unpack against an installed Ruby.

use crate::float::float_to_s;
use crate::int::{Int, to_s};
use crate::pack::Each;
use crate::pack::*;
use crate::reference::{Rng, compare, hex};
use zakuro_base::progress::ToTheEnd;

struct Ints(Vec<i64>);

impl PackSource for Ints {
    type Err = String;
    fn left(&self) -> usize {
        self.0.len()
    }
    fn integer(&mut self) -> Result<Int, String> {
        Ok(Int::Small(self.0.remove(0)))
    }
    fn float(&mut self) -> Result<f64, String> {
        Ok(self.0.remove(0) as f64)
    }
    fn bytes(&mut self, _: bool, _: bool) -> Result<Vec<u8>, String> {
        Ok(self.0.remove(0).to_string().into_bytes())
    }
    fn error(&mut self, e: PackError) -> String {
        e.message
    }
}

struct Texts(Vec<Vec<u8>>);

impl PackSource for Texts {
    type Err = String;
    fn left(&self) -> usize {
        self.0.len()
    }
    fn integer(&mut self) -> Result<Int, String> {
        Err("integer".into())
    }
    fn float(&mut self) -> Result<f64, String> {
        Err("float".into())
    }
    fn bytes(&mut self, _: bool, _: bool) -> Result<Vec<u8>, String> {
        Ok(self.0.remove(0))
    }
    fn error(&mut self, e: PackError) -> String {
        e.message
    }
}

#[test]
fn numbers_as_ruby() {
    let mut rng = Rng(21);
    let parts = [
        "c", "C", "s", "S<", "s>", "l", "L>", "l!", "q", "Q>", "j", "J", "n", "N", "v", "V", "U", "w", "e", "E", "f", "F", "d", "D", "g",
        "G", "i", "I", "x", "X", "@3", "2", "*", " ", "C3", "n2", "x2", "@9",
    ];
    let mut cases: Vec<Vec<u8>> = (0..4000).map(|_| rng.join(&parts, 5)).collect();
    // A count without a directive is an error of newer versions only.
    cases.retain(|c| {
        !c.first().is_some_and(|b| b"2* ".contains(b))
            && !c.windows(2).any(|w| b"2* ".contains(&w[1]) && !w[0].is_ascii_alphabetic())
            && !c.windows(2).any(|w| w[0] == b'*')
    });
    compare(&cases, "[1, 300, 70000, 5000000000, 65, 127, 128, 255].pack(s).b rescue $!.message", |t| {
        let mut out = Vec::new();
        match pack(t, &mut Ints(vec![1, 300, 70000, 5_000_000_000, 65, 127, 128, 255]), &mut out) {
            Ok(_) => out,
            Err(e) => e.into_bytes(),
        }
    });
    let shown = "\"\\x01\\x02\\xC3\\xA9abc\\xFF\\xFE\\x00\\x80\\x7F\\x10\\x20\\x30\\x40xyz\\xE3\\x81\\x82\".b";
    let data = b"\x01\x02\xC3\xA9abc\xFF\xFE\x00\x80\x7F\x10\x20\x30\x40xyz\xE3\x81\x82";
    compare(&cases, &format!("{shown}.unpack(s).inspect rescue $!.message"), |t| {
        let mut all = Vec::new();
        match unpack(
            t,
            data,
            0,
            &mut Each(|v| {
                all.push(match v {
                    Unpacked::Nil => "nil".to_owned(),
                    Unpacked::Int(i) => to_s(&i, 10, &mut ToTheEnd).unwrap(),
                    Unpacked::Float(f) => float_to_s(f),
                    Unpacked::Bytes(b, _) => hex(&b),
                    Unpacked::Pointer(a, _) => to_s(&Int::Small(a as i64), 10, &mut ToTheEnd).unwrap(),
                });
                true
            }),
        ) {
            Ok(()) => format!("[{}]", all.join(", ")).into_bytes(),
            Err(e) => e.message.into_bytes(),
        }
    });
}

#[test]
fn texts_as_ruby() {
    let mut rng = Rng(22);
    let pieces = ["a", "b", " ", "=", "\n", "é", "\0", "1", "f", "0", "xyzxyzxyzxyzxyzxyz", "\t", "01"];
    let cases: Vec<Vec<u8>> = (0..1500).map(|_| rng.join(&pieces, 14)).collect();
    for t in [
        "a", "a*", "a5", "A7", "Z*", "Z3", "Z9", "b*", "B*", "b5", "B11", "h*", "H*", "h3", "m", "m0", "m9", "u", "u*", "M", "M20", "a3 @7",
    ] {
        compare(&cases, &format!("[s].pack('{t}').b"), |s| {
            let mut out = Vec::new();
            pack(t.as_bytes(), &mut Texts(vec![s.to_vec()]), &mut out).unwrap();
            out
        });
    }
    for t in [
        "a", "a*", "a5", "A*", "A7", "Z*", "Z*a*", "Z3a", "b*", "B*", "b5a", "B11", "h*", "H*", "h3a", "m", "m0", "M", "x2a*", "@1a2",
        "w*", "X",
    ] {
        compare(
            &cases,
            &format!("s.unpack('{t}').map {{ |v| v.is_a?(String) ? v.unpack1('H*') : v.to_s }}.join(',') rescue $!.message"),
            |s| {
                let mut all = Vec::new();
                match unpack(
                    t.as_bytes(),
                    s,
                    0,
                    &mut Each(|v| {
                        all.push(match v {
                            Unpacked::Bytes(b, _) => hex(&b),
                            Unpacked::Int(i) => to_s(&i, 10, &mut ToTheEnd).unwrap(),
                            _ => String::new(),
                        });
                        true
                    }),
                ) {
                    Ok(()) => all.join(",").into_bytes(),
                    Err(e) => e.message.into_bytes(),
                }
            },
        );
    }
    let encoded: Vec<Vec<u8>> = cases.iter().take(300).cloned().collect();
    for t in ["m", "u", "M"] {
        for s in &encoded {
            let mut out = Vec::new();
            pack(t.as_bytes(), &mut Texts(vec![s.clone()]), &mut out).unwrap();
            let mut back = None;
            unpack(
                t.as_bytes(),
                &out,
                0,
                &mut Each(|v| {
                    back = Some(v);
                    false
                }),
            )
            .unwrap();
            assert!(matches!(back, Some(Unpacked::Bytes(ref b, _)) if b == s), "{t} {s:?} {back:?}");
        }
    }
}
