//! What the parser tells as bytes, and that it reads no options that are not whole.

use super::*;
use crate::job::{Job, Left};
use std::time::Duration;

/// No file, line 1, no encoding, no flags, no scopes.
fn plain() -> Vec<u8> {
    let mut o = Vec::new();
    for n in [0u32, 1, 0] {
        o.extend_from_slice(&n.to_ne_bytes());
    }
    o.extend_from_slice(&[0; 8]);
    o.extend_from_slice(&0u32.to_ne_bytes());
    o
}

fn question(source: &str, ask: Ask) -> Question {
    Question::new(Arc::from(source.as_bytes()), plain(), ask).expect("whole options")
}

#[test]
fn the_format_is_that_of_the_version() {
    let told = answer(&question("1 + 2", Ask::Parse));
    assert_eq!(&told[..5], b"PRISM");
    assert_eq!(told[5..8], VERSION);
    assert_eq!(answer(&question("1 + 2", Ask::Success)), [1]);
    assert_eq!(answer(&question("1 +", Ask::Success)), [0]);
    assert_eq!(answer(&question("1", Ask::Errors(1))), [255]);
    let report = answer(&question("1 +", Ask::Errors(1)));
    assert!(report.starts_with(b"\0UTF-8\0"), "{report:?}");
}

#[test]
fn options_that_are_not_whole_are_no_question() {
    let whole = plain();
    for cut in 0..whole.len() {
        assert!(Question::new(Arc::from(&b"1"[..]), whole[..cut].to_vec(), Ask::Parse).is_none(), "{cut}");
    }
    let mut long = whole.clone();
    long[0] = 200;
    assert!(Question::new(Arc::from(&b"1"[..]), long, Ask::Parse).is_none());
    let mut scopes = whole.clone();
    let last = scopes.len() - 4;
    scopes[last..].copy_from_slice(&u32::MAX.to_ne_bytes());
    assert!(Question::new(Arc::from(&b"1"[..]), scopes, Ask::Parse).is_none());
    let mut version = whole;
    version[14] = LATEST + 1;
    assert!(Question::new(Arc::from(&b"1"[..]), version, Ask::Parse).is_none());
}

#[test]
fn a_job_answers_within_its_limit() {
    let source = format!("[{}]", "a,".repeat(50_000));
    let long = Duration::from_secs(60);
    let job = Job::ask(question(&source, Ask::ParseLex), usize::MAX).expect("a thread");
    let told = job.wait(long).expect("in time").expect("not left");
    assert_eq!(told, answer(&question(&source, Ask::ParseLex)));
    for limit in [0, 100_000, 2_000_000] {
        let job = Job::ask(question(&source, Ask::ParseLex), limit).expect("a thread");
        assert_eq!(job.wait(long).expect("in time").unwrap_err(), Left::Memory);
    }
}
