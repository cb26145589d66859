use super::*;
use crate::account::Told;

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

/// Of a VM that was started at 100, ran from 110 to 150 (which is summed up), and has done nothing else yet.
fn reading(turn: Turn) -> Reading {
    let mut active = [0; ACTIVITIES];
    active[Activity::Run as usize] = 40;
    Reading {
        closed: 0,
        began: 110,
        since: 150,
        activity: Activity::Run as u8,
        wait: WaitKind::Receive as u8,
        wait_channel: 7,
        blocked: 0,
        active,
        waits: [0; WAITS],
        wait_counts: [0; WAITS],
        ready: 10,
        task: Some(turn),
    }
}

#[test]
fn what_goes_on_is_told_whole() {
    let parked = Turn { is_running: false, is_queued: false, queued: 160, began: 110, ended: 160, blocked: 0, blocked_since: 0 };
    let queued = Turn { is_queued: true, queued: 180, ..parked };
    // It runs again, and has not noted that.
    let again = Turn { is_running: true, is_queued: false, queued: 180, began: 185, ..parked };
    let told = |reading: Reading, now: u64| {
        let mut f = Figures { active: reading.active, waits: reading.waits, ready: reading.ready, ..Figures::default() };
        let noted = f.active();
        let state = reading.what_goes_on(&mut f, 100, 90, now);
        assert_eq!(f.timeline.bins.iter().sum::<u64>(), f.active() - noted);
        (f.active(), f.waits[WaitKind::Receive as usize], f.waits[WaitKind::Call as usize], f.ready, state)
    };
    let receive = Now::Waiting(WaitKind::Receive, 7);
    assert_eq!(told(reading(parked), 200), (50, 40, 0, 10, receive));
    assert_eq!(told(reading(queued), 200), (50, 20, 0, 30, Now::Ready));
    assert_eq!(told(reading(again), 200), (65, 20, 0, 15, Now::Active(Activity::Run)));
    // Noted by half: the sums that are still missing are missed, none is too large.
    assert_eq!(told(Reading { since: 185, ..reading(again) }, 200), (55, 0, 0, 10, Now::Active(Activity::Run)));
    // A call that keeps its native thread, and one before it that nobody has summed up.
    let call = Turn { blocked: 3, blocked_since: 195, ..again };
    assert_eq!(told(reading(call), 200), (57, 20, 8, 15, Now::Waiting(WaitKind::Call, 0)));
    // Before the first turn, and in it before it is noted.
    let first = Reading { since: 100, active: [0; ACTIVITIES], ready: 0, began: 0, ..reading(parked) };
    assert_eq!(told(Reading { task: None, ..first }, 130), (0, 0, 0, 30, Now::Ready));
    let begun = Turn { is_running: true, is_queued: false, queued: 100, began: 110, ended: 0, blocked: 0, blocked_since: 0 };
    assert_eq!(told(Reading { task: Some(begun), ..first }, 130), (20, 0, 0, 10, Now::Active(Activity::Run)));
}

#[test]
fn what_is_told_does_not_fall_and_comes_to_rest() {
    let mut told = Told::default();
    let mut tell = |figures: [u64; 2], last: bool| {
        let mut figures = figures;
        told.tell(&mut figures, last);
        figures
    };
    assert_eq!(tell([5, 7], false), [5, 7]);
    assert_eq!(tell([4, 8], false), [5, 8]);
    assert_eq!(tell([6, 7], true), [6, 8]);
    assert_eq!(tell([9, 9], true), [6, 8]);
}
