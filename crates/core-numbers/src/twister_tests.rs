use super::*;

/// First and thousandth number of the seed that the paper's own program starts with.
#[test]
fn the_numbers_of_the_reference() {
    let mut t = Twister::new(5489);
    assert_eq!(t.next_u32(), 3_499_211_612);
    assert_eq!((2..=10_000).map(|_| t.next_u32()).last(), Some(4_123_659_995));
    let mut t = Twister::with_key(&[0x123, 0x234, 0x345, 0x456]);
    assert_eq!([t.next_u32(), t.next_u32()], [1_067_595_299, 955_945_823]);
}

#[test]
fn it_goes_on_from_its_parts() {
    let mut t = Twister::new(7);
    for _ in 0..1000 {
        t.next_u32();
    }
    let (state, used) = t.parts();
    let mut other = Twister::of_parts(*state, used);
    assert_eq!(t.next_u32(), other.next_u32());
    // Beyond its words there is only a new state.
    let mut other = Twister::of_parts([1; WORDS], usize::MAX);
    other.next_u32();
    assert_eq!(other.parts().1, 1);
}
