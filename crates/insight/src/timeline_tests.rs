use super::*;
use std::sync::Arc;

const WINDOW: Window = Window { since: 1_000, until: 2_000 };

fn event_of(kind: EventKind, from: u64, to: u64, object: u64) -> Event {
    Event { kind, detail: 0, lane: 1, thread: 0, from, to, object }
}

/// The lines of two VMs' events and of what the first has not ended.
fn told(events: &[&[Event]], open: &[Event]) -> Vec<String> {
    let mut out = Out { text: "[".into(), first: WINDOW.since, scale: 1.0 };
    let arrows = paired(events.iter().copied().flatten().copied(), WINDOW);
    for (id, events) in (1..).zip(events) {
        let of: Arc<Identity> = Identity::new(id, "vm", None);
        let open = if id == 1 { open } else { &[] };
        vm(&mut out, &of, events.iter().copied(), open, WINDOW, &|id| id.to_string(), &arrows, &mut HashSet::new());
    }
    out.text.trim_start_matches('[').lines().map(String::from).collect()
}

fn number(line: &str, key: &str) -> Option<f64> {
    let (_, rest) = line.split_once(&format!("\"{key}\":"))?;
    rest.split([',', '}']).next()?.parse().ok()
}

#[test]
fn nothing_reaches_beyond_the_window() {
    use EventKind::*;
    let edges = [0, 999, 1_000, 1_500, 2_000, 2_001, 9_999];
    let pairs = edges.iter().flat_map(|from| edges.iter().map(move |to| (*from, *to)));
    let events: Vec<Event> =
        pairs.flat_map(|(from, to)| [Turn, Wait, Ready, Activity, ThreadWait].map(|k| event_of(k, from, to, 0))).collect();
    let lines = told(&[&events], &[]);
    let slices: Vec<&String> = lines.iter().filter(|l| l.contains(r#""ph":"X""#)).collect();
    assert!(slices.len() > 50);
    for line in slices {
        let (ts, dur) = (number(line, "ts").unwrap(), number(line, "dur").unwrap());
        assert!(ts >= 0.0 && dur >= 0.0 && ts + dur <= 1_000.0, "{line}");
    }
}

#[test]
fn a_turn_that_goes_on_holds_what_is_done_in_it() {
    // It collects beyond the end of the window, and what it runs has begun after a moment that was asked for earlier.
    let lines = told(&[&[event_of(EventKind::Activity, 1_900, 2_500, 0)]], &[event_of(EventKind::Turn, 1_800, 2_000, 0)]);
    let ends: Vec<f64> = lines.iter().filter_map(|l| Some(number(l, "ts")? + number(l, "dur")?)).collect();
    assert!(ends.iter().all(|end| *end == 1_000.0), "{lines:?}");
    assert!(told(&[&[]], &[event_of(EventKind::Turn, 2_100, 2_000, 0)]).is_empty());
}

#[test]
fn a_turn_that_ends_while_it_is_read_is_told_once() {
    let lines = told(&[&[event_of(EventKind::Turn, 1_800, 1_950, 0)]], &[event_of(EventKind::Turn, 1_800, 2_000, 0)]);
    assert_eq!(lines.iter().filter(|l| l.contains(r#""name":"run""#)).count(), 1, "{lines:?}");
}

#[test]
fn an_arrow_has_both_ends_in_the_window_or_is_left_out() {
    use EventKind::*;
    let moments = [500, 1_000, 1_500, 2_000, 2_500];
    let pairs: Vec<(u64, u64)> = moments.iter().flat_map(|a| moments.iter().map(move |b| (*a, *b))).collect();
    let sent: Vec<Event> = (0..).zip(&pairs).map(|(id, (from, _))| event_of(Sent, *from, 7, id)).collect();
    let received: Vec<Event> = (0..).zip(&pairs).map(|(id, (_, from))| event_of(Received, *from, 7, id)).collect();
    let lines = told(&[&sent, &received], &[]);
    let ids = |ph: &str| -> Vec<u64> {
        lines.iter().filter(|l| l.contains(&format!(r#""ph":"{ph}""#))).filter_map(|l| number(l, "id")).map(|id| id as u64).collect()
    };
    assert_eq!((ids("s").len(), ids("s")), (9, ids("f")));
}
