use super::*;

fn total(t: &Timeline) -> u64 {
    t.bins.iter().sum()
}

#[test]
fn a_timeline_grows_coarser() {
    let bins = Bins::new(1000);
    let width = 1u64 << FIRST_SHIFT;
    bins.add(1000, 1000 + width / 2);
    bins.add(1000 + width, 1000 + 3 * width);
    let t = Timeline::of(&bins);
    assert_eq!((t.shift, &t.bins[..4]), (FIRST_SHIFT, &[width / 2, width, width, 0][..]));
    // Eight times as long as there are parts.
    bins.add(1000 + 8 * width * BINS as u64 - width, 1000 + 8 * width * BINS as u64 - 1);
    let t = Timeline::of(&bins);
    assert_eq!((t.shift, t.bins.len()), (FIRST_SHIFT + 3, BINS));
    assert_eq!((t.bins[0], t.bins[BINS - 1]), (width / 2 + 2 * width, width - 1));
    // Before the first moment there is nothing.
    bins.add(0, 500);
    assert_eq!(total(&Timeline::of(&bins)), width / 2 + 3 * width - 1);
}

#[test]
fn timelines_of_several_parts_add_up() {
    let mut a = Timeline { shift: 2, bins: vec![1, 2, 3, 4] };
    a.merge(&Timeline { shift: 3, bins: vec![10, 20] });
    assert_eq!((a.shift, &a.bins[..]), (3, &[13, 27][..]));
    a.merge(&Timeline { shift: 3, bins: vec![1, 1, 1] });
    assert_eq!(a.bins, [14, 28, 1]);
}

#[test]
fn figures_add_up() {
    let one = Figures { vms: 1, ended: 1, from: 5, to: 9, life: 4, ready: 2, active: [1; ACTIVITIES], ..Figures::default() };
    let mut all = Figures::default();
    all.merge(&one);
    all.merge(&Figures { from: 3, to: 7, ..one.clone() });
    assert_eq!((all.vms, all.life, all.from, all.to, all.ready, all.active()), (2, 8, 3, 9, 4, 2 * ACTIVITIES as u64));
}

#[test]
fn groups_of_names() {
    let names = ["worker12", "worker-3", "job #7", "main", "42", "fork of main", "a1b2"];
    assert_eq!(names.map(group_of), ["worker", "worker", "job", "main", "42", "fork of main", "a1b"]);
}
