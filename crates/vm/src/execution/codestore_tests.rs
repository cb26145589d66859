//! Entries are found by who wrote them, and by nobody else.

use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

struct Folder(PathBuf);

impl Folder {
    /// A cache in a new folder of this name.
    fn new(name: &str) -> (Folder, CodeCache) {
        let top = std::env::temp_dir().join(format!("codestore-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&top);
        DirBuilder::new().mode(0o700).create(&top).expect("made");
        let cache = CodeCache { folder: top.join("zakuro/code"), compiler: 7 };
        (Folder(top), cache)
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const KEY: Key = [0x5a; 32];

fn entry(cache: &CodeCache, key: &Key) -> PathBuf {
    let (shard, name) = names(key);
    cache.folder.join(shard).join(name)
}
fn get(cache: &CodeCache) -> Option<Vec<u8>> {
    find(cache, &KEY, usize::MAX)
}
fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("own");
}

#[test]
fn what_was_kept_is_found() {
    let (_f, cache) = Folder::new("kept");
    assert_eq!(get(&cache), None);
    assert_eq!(keep(&cache, &KEY, b"bytes"), Some(()));
    assert_eq!(get(&cache).as_deref(), Some(&b"bytes"[..]));
    assert_eq!(find(&cache, &KEY, HEAD + 4), None, "more than there is room for");
    // Again, and nothing is left beside it.
    assert_eq!(keep(&cache, &KEY, b"others"), Some(()));
    assert_eq!(get(&cache).as_deref(), Some(&b"others"[..]));
    assert_eq!(std::fs::read_dir(entry(&cache, &KEY).parent().expect("a folder")).expect("there").count(), 1);
    // Under another name it is nothing.
    let other = [0x5b; 32];
    std::fs::rename(entry(&cache, &KEY), entry(&cache, &other)).expect("renamed");
    assert_eq!(find(&cache, &other, usize::MAX), None);
}

#[test]
fn damaged_entries_are_none() {
    let (_f, cache) = Folder::new("damaged");
    keep(&cache, &KEY, b"some bytes").expect("kept");
    let path = entry(&cache, &KEY);
    let whole = std::fs::read(&path).expect("there");
    for i in 0..whole.len() {
        let mut changed = whole.clone();
        changed[i] ^= 0x10;
        std::fs::write(&path, &changed).expect("written");
        assert_eq!(get(&cache), None, "byte {i}");
        std::fs::write(&path, &whole[..i]).expect("written");
        assert_eq!(get(&cache), None, "{i} bytes");
    }
    std::fs::write(&path, [&whole[..], b"x"].concat()).expect("written");
    assert_eq!(get(&cache), None, "longer");
    keep(&cache, &KEY, b"some bytes").expect("replaced");
    assert!(get(&cache).is_some());
}

#[test]
fn what_others_may_write_is_not_believed() {
    let (_f, cache) = Folder::new("writable");
    keep(&cache, &KEY, b"bytes").expect("kept");
    let path = entry(&cache, &KEY);
    let shard = path.parent().expect("a folder").to_path_buf();
    for (place, good) in [(&path, 0o600), (&shard, 0o700), (&cache.folder, 0o700)] {
        for bad in [good | 0o020, good | 0o002] {
            mode(place, bad);
            assert_eq!(get(&cache), None, "{} {bad:o}", place.display());
            if place != &path {
                assert_eq!(keep(&cache, &KEY, b"bytes"), None, "{} {bad:o}", place.display());
            }
        }
        mode(place, good);
        assert!(get(&cache).is_some());
    }
    // Readable by others is fine, and so is an entry that can't be written.
    mode(&path, 0o444);
    assert!(get(&cache).is_some());
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } == 0 {
        for place in [&path, &shard, &cache.folder] {
            std::os::unix::fs::chown(place, Some(4711), None).expect("root may");
            assert_eq!(get(&cache), None, "{}", place.display());
            std::os::unix::fs::chown(place, Some(0), None).expect("root may");
        }
        assert!(get(&cache).is_some());
    }
}

#[test]
fn links_and_other_files_are_none() {
    let (f, cache) = Folder::new("links");
    keep(&cache, &KEY, b"bytes").expect("kept");
    let path = entry(&cache, &KEY);
    let moved = f.0.join("moved");
    std::fs::rename(&path, &moved).expect("moved");
    symlink(&moved, &path).expect("linked");
    assert_eq!(get(&cache), None);
    std::fs::remove_file(&path).expect("removed");
    std::fs::create_dir(&path).expect("made");
    assert_eq!(get(&cache), None);
    assert_eq!(keep(&cache, &KEY, b"bytes"), None);
    std::fs::remove_dir(&path).expect("removed");
    // Opening it must not wait for a writer.
    let name = CString::new(path.as_os_str().as_bytes()).expect("no NUL");
    // SAFETY: a terminated name.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    assert_eq!(get(&cache), None);
}

#[test]
fn folders_are_made_only_where_the_user_is_at_home() {
    let (f, cache) = Folder::new("home");
    mode(&f.0, 0o777);
    assert_eq!(keep(&cache, &KEY, b"bytes"), None);
    assert!(!cache.folder.exists());
    // A user who never had a cache, and a home that is not there.
    let (f, _) = Folder::new("new_user");
    let first = CodeCache { folder: f.0.join(".cache/zakuro/code"), compiler: 7 };
    assert!(keep(&first, &KEY, b"bytes").is_some());
    assert_eq!(std::fs::metadata(f.0.join(".cache")).expect("made").mode() & 0o777, 0o700);
    let none = CodeCache { folder: f.0.join("home/.cache/zakuro/code"), compiler: 7 };
    assert_eq!(keep(&none, &KEY, b"bytes"), None);
    assert!(!f.0.join("home").exists());
    let away = CodeCache { folder: "/nonexistent/zakuro/code".into(), compiler: 7 };
    // SAFETY: asks for a number.
    if unsafe { libc::geteuid() } != 0 {
        assert_eq!(keep(&away, &KEY, b"bytes"), None);
    }
    assert_eq!(get(&away), None);
}

#[test]
fn the_oldest_make_room() {
    let (_f, cache) = Folder::new("room");
    let keys: Vec<Key> = (0..10u8).map(|i| std::array::from_fn(|n| if n == 0 { 0xa0 } else { i })).collect();
    for (i, key) in keys.iter().enumerate() {
        keep(&cache, key, &[0; 1000 - HEAD]).expect("kept");
        let f = File::options().write(true).open(entry(&cache, key)).expect("there");
        f.set_modified(SystemTime::now() - DAY * (20 - i as u32)).expect("own");
    }
    // Used just now.
    assert!(find(&cache, &keys[0], usize::MAX).is_some());
    let shard = cache.folder.join("a");
    trim(&folder(None, shard.as_os_str()).expect("there"), &shard, 3500);
    let left: Vec<usize> = (0..10).filter(|i| find(&cache, &keys[*i], usize::MAX).is_some()).collect();
    assert_eq!(left, [0, 8, 9]);
}

#[test]
fn many_at_once() {
    let (_f, cache) = Folder::new("many");
    std::thread::scope(|s| {
        for _ in 0..8 {
            s.spawn(|| {
                for i in 0..100 {
                    let bytes = vec![0x55; 10_000];
                    assert_eq!(keep(&cache, &KEY, &bytes), Some(()), "round {i}");
                    assert_eq!(get(&cache), Some(bytes));
                }
            });
        }
    });
}

#[test]
fn compiled_sources_come_back() {
    let source: Arc<[u8]> = Arc::from(&b"def m(a, b = 1) = [a, b, 'text', /re/]\nx = 1\ny = 2 if x = 3\n"[..]);
    let options = Options { file: "lib.rb", line: 1, warn: true, ..Default::default() };
    let compiled = zakuro_compiler::compile_shared(&source, &options).expect("valid");
    assert!(!compiled.warnings.is_empty());
    let bytes = encode(&compiled).expect("not deep");
    let again = decode(&bytes, &source, &options).expect("whole");
    assert_eq!(again.warnings, compiled.warnings);
    assert_eq!(format!("{:?}", again.code), format!("{:?}", compiled.code));
    for n in 0..bytes.len() {
        assert!(decode(&bytes[..n], &source, &options).is_none());
    }
}

#[test]
fn a_key_is_all_that_matters() {
    let cache = CodeCache { folder: "/".into(), compiler: 7 };
    let o = Options { file: "a.rb", line: 1, ..Default::default() };
    let keys = [
        key(&cache, b"1", &o),
        key(&cache, b"2", &o),
        key(&cache, b"rb1", &Options { file: "a.", ..o }),
        key(&cache, b"1", &Options { file: "b.rb", ..o }),
        key(&cache, b"1", &Options { line: 2, ..o }),
        key(&cache, b"1", &Options { frozen_string_literal: Some(true), ..o }),
        key(&cache, b"1", &Options { frozen_string_literal: Some(false), ..o }),
        key(&cache, b"1", &Options { encoding: Some(1), ..o }),
        key(&cache, b"1", &Options { literal_places: true, ..o }),
        key(&cache, b"1", &Options { warn: true, ..o }),
        key(&CodeCache { folder: "/".into(), compiler: 8 }, b"1", &o),
    ];
    let different: std::collections::HashSet<&Key> = keys.iter().collect();
    assert_eq!(different.len(), keys.len());
    assert!(!is_library(&Options { main_script: true, ..o }));
}
