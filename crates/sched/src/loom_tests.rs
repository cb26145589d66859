//! Models of the scheduler's lock-free pieces: wake-ups against parking, requests against safepoints, queues against sleepers.
//! `./test models` runs it; see docs/testing-models.md.

use std::ptr::NonNull;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use loom::thread;

use crate::poll::{self, PollWord};
use crate::queue::RunQueue;
use crate::task::{OnPark, OnWake, State, TaskRef};

/// Explores with at most this many switches at points where a thread could have gone on.
fn explore(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// A waker says what happened and wakes; the unit looks and parks. Nothing that happened stays unseen by a parked unit.
#[test]
fn a_wake_up_that_races_with_parking_is_kept() {
    explore(|| {
        let shared = Arc::new((State::queued(), AtomicUsize::new(0), AtomicUsize::new(0)));
        let wakers: Vec<_> = (0..2)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (state, happened, queued) = &*shared;
                    happened.fetch_add(1, Ordering::Relaxed);
                    if state.wake() == OnWake::Enqueue {
                        queued.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let (state, happened, queued) = &*shared;
        let mut seen;
        let mut turns = 1;
        loop {
            state.start();
            seen = happened.load(Ordering::Relaxed);
            match state.park() {
                OnPark::Parked => break,
                OnPark::Enqueue => turns += 1,
            }
        }
        wakers.into_iter().for_each(|w| w.join().unwrap());
        let queued = queued.load(Ordering::Relaxed);
        assert!(turns <= 3 && queued <= 1, "in at most one queue");
        assert!(seen == 2 || queued == 1, "a parked unit has seen everything");
        if queued == 1 {
            state.start();
            assert_eq!(happened.load(Ordering::Relaxed), 2);
        }
    });
}

/// Requests are not lost, and what was written before one is seen by who takes it.
#[test]
fn a_request_is_taken_once_with_what_came_before_it() {
    explore(|| {
        let shared = Arc::new((PollWord::new(), AtomicUsize::new(0)));
        let other = shared.clone();
        let asker = thread::spawn(move || {
            other.1.store(1, Ordering::Relaxed);
            other.0.set(poll::SIGNAL);
            other.0.set(poll::PREEMPT);
        });
        let mut bits = 0;
        for _ in 0..2 {
            if shared.0.load() != 0 {
                let taken = shared.0.take(poll::SIGNAL | poll::PREEMPT);
                assert_eq!(bits & taken, 0);
                bits |= taken;
                if taken & poll::SIGNAL != 0 {
                    assert_eq!(shared.1.load(Ordering::Relaxed), 1);
                }
            }
        }
        asker.join().unwrap();
        assert_eq!(bits | shared.0.take(u32::MAX), poll::SIGNAL | poll::PREEMPT);
    });
}

fn task(n: usize) -> TaskRef {
    // Never dereferenced here.
    TaskRef::from_raw(NonNull::<u128>::dangling().as_ptr().wrapping_add(n).cast()).unwrap()
}

/// A push is complete before the pusher looks for sleepers; a sleeper enters the list before it looks at the queue: one of them sees the other.
#[test]
fn a_pusher_and_a_thread_that_goes_to_sleep_do_not_miss_each_other() {
    explore(|| {
        let shared = Arc::new((RunQueue::default(), AtomicBool::new(false)));
        let other = shared.clone();
        let pusher = thread::spawn(move || {
            other.0.push(task(1));
            fence(Ordering::SeqCst);
            other.1.load(Ordering::Relaxed)
        });
        shared.1.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let seen = !shared.0.is_empty();
        let woken = pusher.join().unwrap();
        assert!(seen || woken);
        assert!(shared.0.pop() == Some(task(1)));
    });
}

/// A thief and the owner take each task once.
#[test]
fn a_batch_is_taken_once() {
    explore(|| {
        let shared = Arc::new((RunQueue::default(), RunQueue::default()));
        for n in 0..3 {
            shared.0.push(task(n));
        }
        let other = shared.clone();
        let thief = thread::spawn(move || usize::from(other.0.take_batch(&other.1, |len| len.div_ceil(2)).is_some()));
        let own = usize::from(shared.0.pop().is_some());
        let stolen = thief.join().unwrap();
        let mut left = 0;
        for queue in [&shared.0, &shared.1] {
            while queue.pop().is_some() {
                left += 1;
            }
        }
        assert_eq!(own + stolen + left, 3);
    });
}
