//! The layout of scalars and the errors of bytes that are no text, as libyaml 0.2.5 has them.

use super::emit::{Emitter, Event, Style};
use super::input::{Encoding, Input};

fn document(value: &str, style: Style) -> String {
    let mut e = Emitter::new();
    let events = [
        Event::StreamStart,
        Event::DocumentStart { version: None, tags: vec![], implicit: false },
        Event::Scalar { anchor: None, tag: None, value: value.into(), plain: true, quoted: true, style },
        Event::DocumentEnd { implicit: true },
        Event::StreamEnd,
    ];
    for event in events {
        e.emit(event).unwrap();
    }
    e.out
}

#[test]
fn scalars() {
    assert_eq!(document("abc", Style::Any), "--- abc\n");
    assert_eq!(document("", Style::Any), "---\n");
    assert_eq!(document("a: b", Style::Plain), "--- 'a: b'\n");
    assert_eq!(document("it's #1 #2", Style::Plain), "--- 'it''s #1 #2'\n");
    assert_eq!(document("a\tb\u{1f389}", Style::Plain), "--- \"a\\tb\\U0001F389\"\n");
    assert_eq!(document("a\nb", Style::Literal), "--- |-\n  a\n  b\n");
    assert_eq!(document("a\n\n", Style::Literal), "--- |+\n  a\n\n...\n");
    assert_eq!(document(" a\nb\n", Style::Literal), "--- |2\n   a\n  b\n");
    assert_eq!(document("a\nb\n", Style::Folded), "--- >\n  a\n\n  b\n");
}

#[test]
fn faults() {
    let fault = |b: &[u8]| Input::new(b.to_vec(), None).0.fault_before(0).map(|f| (f.problem, f.offset));
    assert_eq!(fault("ä\u{1f389}\n".as_bytes()), None);
    assert_eq!(fault(b"a: \x01"), Some(("control characters are not allowed", 3)));
    assert_eq!(fault(b"\xff"), Some(("invalid leading UTF-8 octet", 0)));
    assert_eq!(fault(b"ab\xc3"), Some(("incomplete UTF-8 octet sequence", 2)));
    assert_eq!(fault(b"ab\xe2\x82a"), Some(("invalid trailing UTF-8 octet", 4)));
    assert_eq!(fault(b"\xc0\x80"), Some(("invalid length of a UTF-8 sequence", 0)));
    assert_eq!(fault(b"\xed\xa0\x80"), Some(("invalid Unicode character", 0)));
    assert_eq!(fault(b"\xff\xfea\0\0\xdc"), Some(("unexpected low surrogate area", 4)));
    assert_eq!(Input::new(b"\xfe\xff\0a".to_vec(), None).1, Encoding::Utf16Be);
}
