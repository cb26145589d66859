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

#[test]
fn the_index_grows_under_readers() {
    let count = if cfg!(miri) { 100 } else { 3 * FIRST_INDEX };
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| (0..count).for_each(|i| assert_eq!(Sym::intern(&format!("g{i}")).name(), format!("g{i}"))));
        }
        for round in 0..count / 10 {
            assert_eq!(Sym::intern("each"), sym::each, "round {round}");
        }
    });
    let again: Vec<Sym> = (0..count).map(|i| Sym::intern(&format!("g{i}"))).collect();
    assert!(again.iter().enumerate().all(|(i, s)| s.bytes() == format!("g{i}").as_bytes()));
    assert!(Sym::count() as usize > count);
}

#[test]
fn one_name_in_two_encodings() {
    let (utf8, other) = (Sym::intern_in("é".as_bytes(), UTF_8), Sym::intern_in("é".as_bytes(), 12));
    assert_ne!(utf8, other);
    assert_eq!(Sym::intern_in("é".as_bytes(), 12), other);
    assert_eq!(other.encoding(), 12);
}
