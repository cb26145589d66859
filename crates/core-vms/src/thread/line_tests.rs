use super::Line;

#[test]
fn first_come_first_served_whoever_leaves() {
    let mut line = Line::default();
    let places: Vec<_> = (1..=1000).map(|thread| line.join(thread)).collect();
    for (i, place) in places.iter().enumerate() {
        if i % 3 != 0 {
            line.leave(*place);
            line.leave(*place);
        }
    }
    assert_eq!(line.len(), 334);
    let left: Vec<u32> = std::iter::from_fn(|| line.pop()).collect();
    assert_eq!(left, (0..334).map(|i| i * 3 + 1).collect::<Vec<u32>>());
    line.leave(places[0]);
    assert_eq!((line.len(), line.pop()), (0, None));
}

#[test]
fn gaps_go_while_the_first_waits_on() {
    let mut line = Line::default();
    line.join(1);
    let mut last = line.join(2);
    for thread in 3..10_000 {
        let next = line.join(thread);
        line.leave(last);
        last = next;
        assert!(line.places.len() <= 5);
    }
    assert_eq!((line.len(), line.pop(), line.pop(), line.pop()), (2, Some(1), Some(9_999), None));
}

#[test]
fn standing_twice_is_standing_once() {
    let mut line = Line::default();
    let mut place = None;
    line.stand(7, &mut place);
    line.stand(7, &mut place);
    assert_eq!((line.len(), line.pop()), (1, Some(7)));
    line.stand(7, &mut place);
    assert_eq!(line.len(), 1);
}
