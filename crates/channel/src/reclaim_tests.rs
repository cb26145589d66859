use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// A message that holds handles, and tells when it is dropped.
struct Parcel {
    handles: Vec<Channel<Parcel>>,
    alive: Arc<AtomicUsize>,
}

impl Parcel {
    fn new(alive: &Arc<AtomicUsize>, handles: &[&Channel<Parcel>]) -> Parcel {
        alive.fetch_add(1, Ordering::SeqCst);
        Parcel { handles: handles.iter().map(|&c| c.clone()).collect(), alive: alive.clone() }
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Message for Parcel {
    fn has_handles(&self) -> bool {
        !self.handles.is_empty()
    }

    fn handles(&self, visit: &mut dyn FnMut(&Channel<Parcel>)) {
        self.handles.iter().for_each(visit);
    }
}

fn put(channel: &Channel<Parcel>, parcel: Parcel) {
    assert!(channel.try_send(parcel).is_ok());
}

fn count(alive: &Arc<AtomicUsize>) -> usize {
    alive.load(Ordering::SeqCst)
}

#[test]
fn a_channel_that_holds_itself_goes() {
    let alive = Arc::default();
    let a = Channel::unbounded();
    put(&a, Parcel::new(&alive, &[]));
    put(&a, Parcel::new(&alive, &[&a, &a]));
    let other = a.clone();
    drop(a);
    assert_eq!(count(&alive), 2);
    drop(other);
    assert_eq!(count(&alive), 0);
}

#[test]
fn rings_go_with_their_last_outside_handle() {
    for length in [2, 3, if cfg!(miri) { 5 } else { 50 }] {
        let alive = Arc::default();
        let ring: Vec<Channel<Parcel>> = (0..length).map(|_| Channel::unbounded()).collect();
        for i in 0..length {
            put(&ring[i], Parcel::new(&alive, &[&ring[(i + 1) % length]]));
        }
        let last = ring[length / 2].clone();
        drop(ring);
        assert_eq!(count(&alive), length);
        drop(last);
        assert_eq!(count(&alive), 0);
    }
}

#[test]
fn what_is_still_reached_stays() {
    let alive = Arc::default();
    let (a, b, c) = (Channel::unbounded(), Channel::unbounded(), Channel::unbounded());
    put(&a, Parcel::new(&alive, &[&b]));
    put(&b, Parcel::new(&alive, &[&a, &c]));
    put(&c, Parcel::new(&alive, &[]));
    drop(a);
    drop(c);
    assert_eq!(count(&alive), 3);
    // The way to the others is in the message now.
    let TryRecv::Got(parcel) = b.try_recv() else { panic!("no message") };
    drop(b);
    assert_eq!(count(&alive), 3, "a holds b still");
    drop(parcel);
    assert_eq!(count(&alive), 0);
}

#[test]
fn a_ring_behind_a_channel_goes_with_it() {
    let alive = Arc::default();
    let (door, a, b) = (Channel::unbounded(), Channel::unbounded(), Channel::unbounded());
    put(&a, Parcel::new(&alive, &[&b]));
    put(&b, Parcel::new(&alive, &[&a]));
    put(&door, Parcel::new(&alive, &[&a]));
    drop((a, b));
    assert_eq!(count(&alive), 3);
    drop(door);
    assert_eq!(count(&alive), 0);
}

#[test]
fn a_live_channel_keeps_the_ring_that_it_hangs_in() {
    let alive = Arc::default();
    let (live, a) = (Channel::unbounded(), Channel::unbounded());
    put(&live, Parcel::new(&alive, &[&a]));
    put(&a, Parcel::new(&alive, &[&a]));
    drop(a);
    assert_eq!(count(&alive), 2);
    assert!(live.try_recv().is_got());
    assert_eq!(count(&alive), 0);
}

impl<T> TryRecv<T> {
    fn is_got(self) -> bool {
        matches!(self, TryRecv::Got(_))
    }
}

#[test]
fn long_chains_need_no_stack() {
    const LENGTH: usize = if cfg!(miri) { 20 } else { 200_000 };
    let alive = Arc::default();
    for ring in [false, true] {
        let first = Channel::unbounded();
        let mut last = first.clone();
        for _ in 0..LENGTH {
            let next = Channel::unbounded();
            put(&last, Parcel::new(&alive, &[&next]));
            if ring {
                put(&next, Parcel::new(&alive, &[&next]));
            }
            last = next;
        }
        drop(last);
        assert!(count(&alive) >= LENGTH);
        drop(first);
        assert_eq!(count(&alive), 0, "ring: {ring}");
    }
}

#[test]
fn threads_that_drop_at_once_leave_nothing() {
    let alive: Arc<AtomicUsize> = Arc::default();
    for round in 0..if cfg!(miri) { 5 } else { 2000 } {
        let (a, b) = (Channel::unbounded(), Channel::unbounded());
        put(&a, Parcel::new(&alive, &[&b]));
        put(&b, Parcel::new(&alive, &[&a]));
        let threads = [a, b].map(|mine| {
            std::thread::spawn(move || {
                if round % 2 == 0
                    && let TryRecv::Got(parcel) = mine.try_recv()
                {
                    put(&mine, parcel);
                }
            })
        });
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(count(&alive), 0);
    }
}
