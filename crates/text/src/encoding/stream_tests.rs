//! Every way of cutting input and output gives what one call gives.

use super::stream::{Call, Decorators, Status, Stream, path};
use super::transcode::{Policy, transcode};
use super::*;

fn enc(name: &str) -> Encoding {
    Encoding::find(name.as_bytes()).unwrap()
}

/// Converts `text` in pieces of `cut` bytes with room for `room` bytes a call.
fn pieces(stream: &mut Stream, text: &[u8], cut: usize, room: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut chunks = text.chunks(cut).peekable();
    while let Some(chunk) = chunks.next() {
        let partial = chunks.peek().is_some();
        let mut at = 0;
        loop {
            match stream.convert(chunk, &mut at, &mut out, Call { room: Some(room), partial, after_output: false }) {
                Status::DestinationFull => {}
                Status::SourceEmpty => break,
                Status::Finished => return out,
                other => panic!("{other:?}"),
            }
        }
    }
    out
}

#[test]
fn cuts_do_not_matter() {
    let text = "aé\u{3042}\u{6f22}z\u{9999}\n";
    for (from, to) in [
        ("UTF-8", "UTF-16LE"),
        ("UTF-16BE", "UTF-8"),
        ("EUC-JP", "UTF-32BE"),
        ("UTF-8", "GB18030"),
        ("GB18030", "UTF-16"),
        ("UTF-16", "UTF-8"),
    ] {
        let (from, to) = (enc(from), enc(to));
        let text: String = text.chars().filter(|c| *c != 'é' || from == Encoding::UTF_8 || from.is_unicode()).collect();
        let source = if from == Encoding::UTF_8 {
            text.clone().into_bytes()
        } else {
            transcode(Encoding::UTF_8, from, text.as_bytes(), &Policy::default()).unwrap()
        };
        let whole = transcode(from, to, &source, &Policy::default()).unwrap();
        for cut in 1..=source.len() {
            for room in 1..5 {
                let mut s = Stream::new(Some((from, to)), Decorators::default(), Policy::default());
                assert_eq!(pieces(&mut s, &source, cut, room), whole, "{} to {}, {cut}, {room}", from.name(), to.name());
            }
        }
    }
}

#[test]
fn escapes_come_and_go() {
    let (utf8, jis) = (Encoding::UTF_8, enc("ISO-2022-JP"));
    let text = "a\u{9999}\u{3042}b";
    for cut in 1..=text.len() {
        let mut s = Stream::new(Some((utf8, jis)), Decorators::default(), Policy::default());
        let out = pieces(&mut s, text.as_bytes(), cut, 1);
        assert_eq!(out, b"a\x1b$B9a$\"\x1b(Bb");
        let mut back = Stream::new(Some((jis, utf8)), Decorators::default(), Policy::default());
        assert_eq!(pieces(&mut back, &out, cut, 2), text.as_bytes());
    }
}

#[test]
fn line_ends_over_cuts() {
    for cut in 1..6 {
        let decorators = Decorators { universal: true, ..Default::default() };
        let mut s = Stream::new(None, decorators, Policy::default());
        assert_eq!(pieces(&mut s, b"a\r\nb\rc\n\r", cut, 1), b"a\nb\nc\n\n");
    }
}

#[test]
fn a_failure_says_what_is_read_again() {
    let mut s = Stream::new(Some((Encoding::UTF_8, enc("ISO-8859-1"))), Decorators::default(), Policy::default());
    let (mut at, mut out) = (0, Vec::new());
    let status = s.convert(b"x\xf1abc", &mut at, &mut out, Call::default());
    let Status::Failed(e) = status else { panic!("{status:?}") };
    assert_eq!(e.message, "\"\\xF1\" followed by \"a\" on UTF-8");
    assert_eq!((at, &out[..]), (3, &b"x"[..]));
    assert_eq!(s.putback(None), b"a");
    assert_eq!(s.putback(None), b"");
    assert_eq!(s.convert(b"bc", &mut 0, &mut out, Call::default()), Status::Finished);
    assert_eq!(out, b"xbc");
}

#[test]
fn paths() {
    let shown =
        |a: &str, b: &str| path(enc(a), enc(b)).iter().map(|(a, b)| format!("{}>{}", a.name(), b.name())).collect::<Vec<_>>().join(" ");
    assert_eq!(shown("US-ASCII", "UTF-8"), "US-ASCII>UTF-8");
    assert_eq!(shown("US-ASCII", "Big5"), "US-ASCII>UTF-8 UTF-8>Big5");
    assert_eq!(shown("EUC-JP", "Shift_JIS"), "EUC-JP>Shift_JIS");
    assert_eq!(shown("UTF-8", "ISO-2022-JP"), "UTF-8>EUC-JP EUC-JP>stateless-ISO-2022-JP stateless-ISO-2022-JP>ISO-2022-JP");
    assert_eq!(shown("ISO-2022-JP", "EUC-JP"), "ISO-2022-JP>stateless-ISO-2022-JP stateless-ISO-2022-JP>EUC-JP");
    assert_eq!(shown("ISO-2022-JP", "Shift_JIS"), "ISO-2022-JP>stateless-ISO-2022-JP stateless-ISO-2022-JP>EUC-JP EUC-JP>Shift_JIS");
}
