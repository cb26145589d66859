//! Texts are known by identity and version of their files.

use super::*;

fn metadata_of(path: &std::path::Path) -> Metadata {
    std::fs::metadata(path).expect("a file")
}

/// As a VM reads, without one.
fn read_path(path: &std::path::Path) -> std::io::Result<Text> {
    let whole = |mut f: &File| {
        let mut bytes = Vec::new();
        Ok(f.read_to_end(&mut bytes).map(|_| bytes))
    };
    read_by(|| std::fs::metadata(path), || File::open(path), whole).unwrap_or_else(|_| unreachable!("nothing interrupts it"))
}

#[test]
fn stamps_change_with_the_file() {
    let path = std::env::temp_dir().join(format!("codecache-{}.rb", std::process::id()));
    std::fs::write(&path, "a = 1\n").expect("written");
    let first = Stamp::of(&metadata_of(&path));
    let now = SystemTime::now();
    assert!(!first.is_settled(now), "just written");
    assert!(first.is_settled(now + Duration::from_secs(10)));
    let read_it = || read_path(&path).expect("read");
    assert_eq!(read_it().bytes(), b"a = 1\n");
    // Same length, same tick perhaps: the new text is seen all the same.
    std::fs::write(&path, "a = 2\n").expect("written");
    assert_eq!(read_it().bytes(), b"a = 2\n");
    std::fs::remove_file(&path).expect("removed");
    assert!(read_path(&path).is_err());
}

#[test]
fn a_settled_file_is_read_once() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/execution/codecache_tests.rs");
    if !Stamp::of(&metadata_of(&path)).is_settled(SystemTime::now()) {
        return; // checked out this very moment
    }
    let read_it = || read_path(&path).expect("read");
    let first = read_it();
    let second = read_it();
    assert!(Arc::ptr_eq(&first.bytes, &second.bytes));
}

#[test]
fn texts_are_compiled_once() {
    let options = Options { file: "once.rb", line: 1, ..Default::default() };
    let compile = |text: &[u8], options: &Options| {
        let text = Text::new(text);
        cached(&text, options, || Ok::<_, ()>(zakuro_compiler::compile_shared(&text.bytes, options))).expect("tried")
    };
    let first = compile(b"x = 1\nx + 1\n", &options).expect("compiled");
    let second = compile(b"x = 1\nx + 1\n", &options).expect("compiled");
    assert!(Arc::ptr_eq(&first.code, &second.code));
    let other = compile(b"x = 1\nx + 1\n", &Options { file: "other.rb", ..options }).expect("compiled");
    assert!(!Arc::ptr_eq(&first.code, &other.code));
}

#[test]
fn what_is_kept_compiled_is_bounded() {
    // Each takes a quarter of a megabyte and more: far more than the table keeps.
    for i in 0..1_600 {
        let text = Text::new(format!("{i}\n#{}", "x".repeat(256 << 10)).as_bytes());
        let options = Options { file: &format!("kept{i}.rb"), line: 1, ..Default::default() };
        let made = cached(&text, &options, || Ok::<_, ()>(zakuro_compiler::compile_shared(&text.bytes, &options)));
        assert!(made.expect("tried").is_ok());
    }
    for s in shards() {
        let s = s.lock();
        let bytes: usize = s.compiled.values().flatten().map(|e| e.bytes).sum();
        assert_eq!(bytes, s.bytes);
        assert!(bytes <= MOST_BYTES, "{bytes}");
    }
}
