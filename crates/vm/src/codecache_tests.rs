//! Texts are known by identity and version of their files.

use super::*;

fn metadata_of(path: &std::path::Path) -> Metadata {
    std::fs::metadata(path).expect("a file")
}

#[test]
fn stamps_change_with_the_file() {
    let path = std::env::temp_dir().join(format!("codecache-{}.rb", std::process::id()));
    std::fs::write(&path, "a = 1\n").expect("written");
    let first = Stamp::of(&metadata_of(&path));
    let now = SystemTime::now();
    assert!(!first.is_settled(now), "just written");
    assert!(first.is_settled(now + Duration::from_secs(10)));
    let read_it = || read(|| std::fs::metadata(&path), || File::open(&path)).expect("read");
    assert_eq!(read_it().bytes(), b"a = 1\n");
    // Same length, same tick perhaps: the new text is seen all the same.
    std::fs::write(&path, "a = 2\n").expect("written");
    assert_eq!(read_it().bytes(), b"a = 2\n");
    std::fs::remove_file(&path).expect("removed");
    assert!(read(|| std::fs::metadata(&path), || File::open(&path)).is_err());
}

#[test]
fn a_settled_file_is_read_once() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/codecache_tests.rs");
    if !Stamp::of(&metadata_of(&path)).is_settled(SystemTime::now()) {
        return; // checked out this very moment
    }
    let read_it = || read(|| std::fs::metadata(&path), || File::open(&path)).expect("read");
    let first = read_it();
    let second = read_it();
    assert!(Arc::ptr_eq(&first.bytes, &second.bytes));
}

#[test]
fn texts_are_compiled_once() {
    let options = Options { file: "once.rb", line: 1, ..Default::default() };
    let first = compile(b"x = 1\nx + 1\n", &options).expect("compiled");
    let second = compile(b"x = 1\nx + 1\n", &options).expect("compiled");
    assert!(Arc::ptr_eq(&first.code, &second.code));
    let other = compile(b"x = 1\nx + 1\n", &Options { file: "other.rb", ..options }).expect("compiled");
    assert!(!Arc::ptr_eq(&first.code, &other.code));
}
