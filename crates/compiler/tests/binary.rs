//! Compiled programs as bytes and back: every instruction, every kind of literal; bytes that are cut off or changed.

mod common;

use common::{Random, golden_sources};
use std::sync::Arc;
use zakuro_base::Sym;
use zakuro_bytecode::binary::{Archive, Malformed, SharedArchive, TooDeep, Writer};
use zakuro_bytecode::{Big, Code, Const, Insn, Op, disasm, verify};
use zakuro_compiler::{Options, compile};

fn programs() -> Vec<Arc<Code>> {
    let options = Options { file: "t.rb", line: 3, main_script: true, ..Options::default() };
    golden_sources().iter().filter_map(|s| Some(compile(s, &options).ok()?.code)).collect()
}

fn archive(codes: &[Arc<Code>]) -> Vec<u8> {
    let mut w = Writer::new();
    codes.iter().for_each(|c| w.add(c).expect("not deep"));
    w.finish()
}

fn read(bytes: &[u8], i: usize, like: &Code) -> Result<Arc<Code>, Malformed> {
    Archive::open(bytes)?.program(i, &like.file, &like.source)
}

#[test]
fn what_is_read_is_what_was_written() {
    let codes = programs();
    let bytes = archive(&codes);
    let archive = Archive::open(&bytes).expect("an archive");
    assert_eq!(archive.programs(), codes.len());
    for (i, code) in codes.iter().enumerate() {
        let again = archive.program(i, &code.file, &code.source).expect("readable");
        assert_eq!(verify::verify(&again), Ok(()));
        assert_eq!(disasm::listing(&again), disasm::listing(code));
        // Every field, those of children included.
        assert_eq!(format!("{again:?}"), format!("{code:?}"));
    }
}

#[test]
fn every_instruction() {
    let mut code = Code::clone(&programs()[0]);
    code.insns = Op::ALL.iter().flat_map(|op| [Insn::new(*op, 0, 0, 0, 0), Insn::new(*op, 0xfe, 0x1234, 0xffff, 0x8000)]).collect();
    let bytes = archive(&[Arc::new(code.clone())]);
    assert!(read(&bytes, 0, &code).expect("readable").insns == code.insns);
}

/// Those too that the compiler makes seldom, or nowhere yet.
#[test]
fn literals() {
    let big = |negative, digits: &[u32]| Big { negative, digits: digits.into() };
    let text = |b: &[u8]| Arc::from(b);
    let all = vec![
        Const::Nil,
        Const::True,
        Const::False,
        Const::Int(i64::MIN),
        Const::Int(-1),
        Const::Int(i64::MAX),
        Const::Big(big(true, &[0, 1, u32::MAX])),
        Const::Float(-0.0),
        Const::Float(f64::NAN),
        Const::Float(f64::MIN_POSITIVE),
        Const::Sym(Sym::intern_bytes(b"\xff")),
        Const::Sym(Sym::intern("é")),
        Const::Str { bytes: text(b"\0\xff"), encoding: 0 },
        Const::Regexp { source: text(b"a+"), options: 17, encoding: 1 },
        Const::Rational(big(false, &[1]), big(false, &[3])),
        Const::Complex(Box::new(Const::Rational(big(true, &[1]), big(false, &[3])))),
        Const::Range { low: Box::new(Const::Int(1)), high: Box::new(Const::Nil), exclusive: true },
        Const::Array(vec![Const::Array(Vec::new()), Const::Sym(Sym::intern("k"))]),
        Const::Hash(vec![(Const::Sym(Sym::intern("k")), Const::Nil), (Const::Str { bytes: text(b"a"), encoding: 1 }, Const::Float(1.5))]),
    ];
    let mut code = Code::clone(&programs()[0]);
    code.consts = all.into();
    let bytes = archive(&[Arc::new(code.clone())]);
    assert_eq!(format!("{:?}", read(&bytes, 0, &code).expect("readable").consts), format!("{:?}", code.consts));

    code.consts = Box::new([(0..20).fold(Const::Nil, |inner, _| Const::Array(vec![inner]))]);
    assert_eq!(Writer::new().add(&code), Err(TooDeep));
}

#[test]
fn deep_nesting_is_not_written() {
    let nested =
        |n: usize| compile(format!("{}1{}", "x { ".repeat(n), " }".repeat(n)).as_bytes(), &Options::default()).expect("valid").code;
    assert!(Writer::new().add(&nested(90)).is_ok());
    assert_eq!(Writer::new().add(&nested(110)), Err(TooDeep));
}

#[test]
fn cut_off_anywhere_is_malformed() {
    let codes = programs();
    let bytes = archive(&codes);
    let last = codes.len() - 1;
    for n in (0..bytes.len()).step_by(7) {
        assert!(read(&bytes[..n], last, &codes[last]).is_err(), "{n} of {} bytes", bytes.len());
    }
    assert!(read(&bytes, codes.len(), &codes[0]).is_err());
}

impl Random {
    /// The same bytes but for one to three.
    fn change(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut changed = bytes.to_vec();
        for _ in 0..1 + self.below(3) {
            let at = self.below(changed.len());
            changed[at] = self.below(256) as u8;
        }
        changed
    }
}

/// Changed bytes make another program or none: neither a panic nor more memory than they could stand for.
#[test]
fn changed_bytes() {
    let codes = programs();
    let mut random = Random(7);
    let mut refused = 0;
    for code in &codes {
        let bytes = archive(std::slice::from_ref(code));
        for _ in 0..200 {
            let changed = random.change(&bytes);
            match read(&changed, 0, code) {
                Ok(c) => refused += usize::from(verify::verify(&c).is_err()),
                Err(Malformed) => refused += 1,
            }
        }
    }
    assert!(refused > 1000, "{refused}");
}

/// All bodies of a Code and those in it, read one after the other.
fn read_through(code: &Code) -> usize {
    1 + code.children.iter().map(|c| read_through(c)).sum::<usize>()
}

#[test]
fn a_shared_archive_is_read_bit_by_bit() {
    let codes = programs();
    let archive = SharedArchive::open(archive(&codes).into()).expect("an archive");
    for (i, code) in codes.iter().enumerate() {
        let again = archive.program(i, &code.file, &code.source).expect("readable");
        assert_eq!(read_through(&again), read_through(code));
        assert_eq!(disasm::listing(&again), disasm::listing(code));
        assert_eq!(format!("{again:?}"), format!("{code:?}"));
    }
    assert!(archive.program(codes.len(), &codes[0].file, &codes[0].source).is_err());
}

/// What does not pass the verifier is read as a body that does, and raises.
#[test]
fn changed_bytes_of_a_shared_archive() {
    let codes = programs();
    let mut random = Random(11);
    let mut raising = 0;
    for code in &codes {
        let bytes = archive(std::slice::from_ref(code));
        for _ in 0..200 {
            let changed = random.change(&bytes);
            let Ok(Ok(c)) = SharedArchive::open(changed.into()).map(|a| a.program(0, &code.file, &code.source)) else { continue };
            read_through(&c);
            if !c.names_only() {
                assert_eq!(verify::verify(&c), Ok(()));
            }
            raising += usize::from(disasm::listing(&c).contains("Damaged"));
        }
    }
    assert!(raising > 100, "{raising}");
}
