use super::*;

#[test]
fn equal_names_have_equal_ids() {
    assert_eq!(Sym::intern("shout"), Sym::intern_bytes(b"shout"));
    assert_ne!(Sym::intern("shout"), Sym::intern("whisper"));
    assert_eq!(Sym::intern("+"), sym::add);
    assert_eq!(sym::add.bytes(), b"+");
}

#[test]
fn broken_bytes_are_kept_apart() {
    let s = Sym::intern_bytes(b"\xff\xfe");
    assert!(s.is_binary());
    assert_eq!(s.bytes(), b"\xff\xfe");
}

#[test]
fn chunk_borders() {
    assert_eq!(locate(0), (0, 0, 4096));
    assert_eq!(locate(4095), (0, 4095, 4096));
    assert_eq!(locate(4096), (1, 0, 8192));
    assert_eq!(locate(4096 + 8192), (2, 0, 16384));
}

#[test]
fn many_threads_agree() {
    let ids: Vec<Vec<u32>> = std::thread::scope(|s| {
        let hs: Vec<_> = (0..4).map(|_| s.spawn(|| (0..6000).map(|i| Sym::intern(&format!("n{i}")).0).collect::<Vec<_>>())).collect();
        hs.into_iter().map(|h| h.join().unwrap()).collect()
    });
    assert!(ids.windows(2).all(|w| w[0] == w[1]));
    for (i, id) in ids[0].iter().enumerate() {
        assert_eq!(Sym(*id).name(), format!("n{i}"));
    }
}
