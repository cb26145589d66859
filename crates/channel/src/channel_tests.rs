use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use zakuro_sched::{Config, Coroutine, Resumed, Scheduler, StackPool, StackSize, Suspender, Task, Turn, Unit};

use super::*;

#[path = "../tests/common/mod.rs"]
mod common;

const SOON: Duration = Duration::from_secs(20);

type Yard = Suspender<Task, Turn>;

struct Body(Coroutine<Task, Turn, ()>);

impl Unit for Body {
    fn run(&mut self, task: &Task) -> Turn {
        match self.0.resume(task.clone()) {
            Resumed::Yielded(turn) => turn,
            Resumed::Returned(()) => Turn::Done,
        }
    }
}

struct World {
    scheduler: Scheduler,
    pool: StackPool,
}

impl World {
    fn new(workers: usize) -> World {
        World { scheduler: Scheduler::new(Config { workers, ..Config::default() }), pool: StackPool::new() }
    }

    fn spawn(&self, f: impl FnOnce(&Yard, Task) + std::marker::Send + 'static) -> Task {
        // SAFETY: the closures are Send, and what they keep across a suspension is too.
        let coroutine = unsafe { Coroutine::new(self.pool.take(StackSize::Fiber).unwrap(), f) };
        self.scheduler.spawn(Box::new(Body(coroutine)))
    }

    fn finish(self) {
        until("all units ended", || self.scheduler.live_units() == 0);
        self.scheduler.shutdown();
    }
}

fn until(what: &str, mut f: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !f() {
        assert!(begin.elapsed() < SOON, "{what}");
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn recv<T: Message>(channel: &Channel<T>, waiter: &Waiter, yard: &Yard) -> Option<T> {
    common::recv(channel, waiter, || drop(yard.suspend(Turn::Park)))
}

fn send<T: Message>(channel: &Channel<T>, message: T, waiter: &Waiter, yard: &Yard) -> bool {
    common::send(channel, message, waiter, || drop(yard.suspend(Turn::Park)))
}

#[test]
fn ping_pong() {
    for workers in [1, 2] {
        let world = World::new(workers);
        let (ping, pong) = (Channel::<u64>::unbounded(), Channel::<u64>::unbounded());
        let (a, b) = (ping.clone(), pong.clone());
        world.spawn(move |yard, task| {
            let waiter = Waiter::new(&task);
            for i in 0..10_000 {
                a.try_send(i).unwrap();
                assert_eq!(recv(&b, &waiter, yard), Some(i));
            }
            a.close();
        });
        world.spawn(move |yard, task| {
            let waiter = Waiter::new(&task);
            while let Some(i) = recv(&ping, &waiter, yard) {
                pong.try_send(i).unwrap();
            }
        });
        world.finish();
    }
}

fn exactly_once(workers: usize, channel: Channel<u64>) {
    const EACH: u64 = 5000;
    let world = World::new(workers);
    let (tx, rx) = mpsc::channel();
    let left = Arc::new(AtomicUsize::new(4));
    for producer in 0..4 {
        let (channel, left) = (channel.clone(), left.clone());
        world.spawn(move |yard, task| {
            let waiter = Waiter::new(&task);
            for i in 0..EACH {
                assert!(send(&channel, producer * EACH + i, &waiter, yard));
                assert!(channel.len() <= channel.bounds().messages);
                if i % 97 == 0 {
                    yard.suspend(Turn::Again);
                }
            }
            if left.fetch_sub(1, Ordering::SeqCst) == 1 {
                channel.close();
            }
        });
    }
    for _ in 0..4 {
        let (channel, tx) = (channel.clone(), tx.clone());
        world.spawn(move |yard, task| {
            let waiter = Waiter::new(&task);
            let mut last = [None; 4];
            while let Some(message) = recv(&channel, &waiter, yard) {
                let producer = (message / EACH) as usize;
                assert!(last[producer] < Some(message), "FIFO for each sender");
                last[producer] = Some(message);
                tx.send(message).unwrap();
            }
        });
    }
    drop(tx);
    let mut got: Vec<u64> = (0..4 * EACH).map(|_| rx.recv_timeout(SOON).unwrap()).collect();
    assert!(rx.recv_timeout(SOON).is_err());
    got.sort_unstable();
    assert!(got.into_iter().eq(0..4 * EACH));
    assert_eq!((channel.len(), channel.queued_bytes(), channel.waiting()), (0, 0, 0));
    world.finish();
}

#[test]
fn every_message_arrives_exactly_once() {
    for workers in [1, 2, 4] {
        exactly_once(workers, Channel::unbounded());
        exactly_once(workers, Channel::bounded(1));
        exactly_once(workers, Channel::bounded(16));
        exactly_once(workers, Channel::bounded(500));
    }
}

#[test]
fn closing_wakes_all_and_keeps_what_is_queued() {
    let world = World::new(2);
    let channel = Channel::<u64>::bounded(1);
    let full = Channel::<u64>::bounded(1);
    full.try_send(7).unwrap();
    let woken = Arc::new(AtomicUsize::new(0));
    for i in 0..10 {
        let (channel, full, woken) = (channel.clone(), full.clone(), woken.clone());
        world.spawn(move |yard, task| {
            let waiter = Waiter::new(&task);
            if i % 2 == 0 {
                assert_eq!(recv(&channel, &waiter, yard), None);
            } else {
                assert!(!send(&full, 8, &waiter, yard));
            }
            woken.fetch_add(1, Ordering::SeqCst);
        });
    }
    until("all in line", || channel.waiting() == 5 && full.waiting() == 5);
    assert!(channel.close() && full.close() && !full.close());
    until("all woken", || woken.load(Ordering::SeqCst) == 10);
    assert_eq!(channel.try_send(1), Err(TrySendError::Closed(1)));
    assert_eq!((full.try_recv(), full.try_recv()), (TryRecv::Got(7), TryRecv::Closed));
    world.finish();
}

#[test]
fn select_takes_each_message_once() {
    for workers in [1, 2] {
        let world = World::new(workers);
        let channels: Vec<Channel<u64>> = (0..3).map(|_| Channel::unbounded()).collect();
        let (tx, rx) = mpsc::channel();
        for _ in 0..3 {
            let (channels, tx) = (channels.clone(), tx.clone());
            world.spawn(move |yard, task| {
                let waiter = Waiter::new(&task);
                let list: Vec<&Channel<u64>> = channels.iter().collect();
                loop {
                    match select(&list, &waiter) {
                        Selected::Got(i, message) => tx.send((i, message)).unwrap(),
                        Selected::Closed => return,
                        Selected::Registered => {
                            while waiter.is_waiting() {
                                yard.suspend(Turn::Park);
                            }
                        }
                    }
                }
            });
        }
        for (i, channel) in channels.iter().cloned().enumerate() {
            world.spawn(move |yard, _| {
                for n in 0..3000 {
                    channel.try_send(i as u64 * 3000 + n).unwrap();
                    if n % 7 == 0 {
                        yard.suspend(Turn::Again);
                    }
                }
                channel.close();
            });
        }
        drop(tx);
        let mut got: Vec<(usize, u64)> = (0..9000).map(|_| rx.recv_timeout(SOON).unwrap()).collect();
        assert!(rx.recv_timeout(SOON).is_err());
        assert!(got.iter().all(|&(i, n)| n / 3000 == i as u64));
        got.sort_unstable();
        assert!(got.into_iter().map(|(_, n)| n).eq(0..9000));
        world.finish();
    }
}

/// A task that runs nothing, to stand in line with.
fn bystander(world: &World) -> Task {
    world.spawn(|_, _| {})
}

#[test]
fn a_claim_that_is_given_up_goes_to_the_next() {
    let world = World::new(1);
    let task = bystander(&world);
    let (a, b, c) = (Waiter::new(&task), Waiter::new(&task), Waiter::new(&task));
    let channel = Channel::<u64>::unbounded();
    assert_eq!(channel.recv_or_register(&a), Recv::Registered);
    assert_eq!(channel.recv_or_register(&b), Recv::Registered);
    channel.try_send(1).unwrap();
    assert_eq!(a.claimed(), Some((channel.id(), Reason::Message)));
    assert_eq!(b.claimed(), None);
    assert_eq!(channel.try_recv(), TryRecv::Empty, "set aside for a");
    assert!(!channel.unregister(&a), "a had been claimed");
    assert_eq!(b.claimed(), Some((channel.id(), Reason::Message)));
    assert_eq!(channel.recv_or_register(&c), Recv::Registered, "set aside for b");
    assert_eq!(channel.recv_or_register(&b), Recv::Got(1));
    assert!(channel.unregister(&c) && !channel.unregister(&c));
    channel.try_send(2).unwrap();
    assert_eq!(channel.try_recv(), TryRecv::Got(2));
    world.finish();
}

#[test]
fn who_wakes_says_for_whom() {
    let world = World::new(1);
    let task = bystander(&world);
    let mailbox = std::sync::Arc::new(Mailbox::default());
    let notes = || {
        let mut notes = Vec::new();
        mailbox.take(&mut notes);
        notes
    };
    let (a, b) = (Waiter::with_mailbox(&task, Some(mailbox.clone())), Waiter::with_mailbox(&task, Some(mailbox.clone())));
    assert!(a.note(7) && b.note(8) && !Waiter::new(&task).note(9));
    let (first, second) = (Channel::<u64>::unbounded(), Channel::<u64>::unbounded());
    assert_eq!(first.recv_or_register(&a), Recv::Registered);
    assert_eq!(second.recv_or_register(&b), Recv::Registered);
    assert_eq!(notes(), []);
    second.try_send(1).unwrap();
    assert_eq!(notes(), [8]);
    first.close();
    assert_eq!(notes(), [7]);
    assert_eq!((second.recv_or_register(&b), first.recv_or_register(&a)), (Recv::Got(1), Recv::Closed));
    // The next wait is another thread's, or one that is woken without a note.
    assert!(b.note(0));
    assert_eq!(second.recv_or_register(&b), Recv::Registered);
    second.try_send(2).unwrap();
    assert_eq!(notes(), []);
    assert_eq!(second.recv_or_register(&b), Recv::Got(2));
    world.finish();
}

#[test]
fn a_receiver_after_the_close_waits_for_what_is_set_aside() {
    let world = World::new(1);
    let task = bystander(&world);
    let (a, b) = (Waiter::new(&task), Waiter::new(&task));
    let channel = Channel::<u64>::unbounded();
    assert_eq!(channel.recv_or_register(&a), Recv::Registered);
    channel.try_send(1).unwrap();
    channel.close();
    assert_eq!(channel.recv_or_register(&b), Recv::Registered);
    let other = channel.clone();
    assert!(!other.unregister(&a));
    assert_eq!(b.claimed().map(|c| c.1), Some(Reason::Message));
    assert_eq!(channel.recv_or_register(&b), Recv::Got(1));
    assert_eq!(channel.recv_or_register(&b), Recv::Closed);
    world.finish();
}

#[test]
fn one_waiter_is_claimed_by_one_channel() {
    let world = World::new(1);
    let task = bystander(&world);
    let (w, next) = (Waiter::new(&task), Waiter::new(&task));
    let (a, b) = (Channel::<u64>::unbounded(), Channel::<u64>::unbounded());
    assert_eq!(select(&[&a, &b], &w), Selected::Registered);
    assert_eq!((a.waiting(), b.waiting()), (1, 1));
    assert_eq!(b.recv_or_register(&next), Recv::Registered);
    a.try_send(1).unwrap();
    b.try_send(2).unwrap();
    assert_eq!(w.claimed().map(|c| c.0), Some(a.id()));
    assert_eq!(next.claimed().map(|c| c.0), Some(b.id()));
    assert_eq!(select(&[&b, &a], &w), Selected::Got(1, 1));
    assert!(w.is_free() && w.disarm());
    assert_eq!(b.recv_or_register(&next), Recv::Got(2));
    world.finish();
}

#[test]
fn places_are_set_aside_for_senders() {
    let world = World::new(1);
    let task = bystander(&world);
    let (a, b) = (Waiter::new(&task), Waiter::new(&task));
    let channel = Channel::<String>::bounded(1);
    assert_eq!(channel.bounds().messages, 1);
    channel.try_send("one".into()).unwrap();
    assert_eq!(channel.send_or_register("two".into(), &a), Send::Registered("two".into()));
    assert_eq!(channel.send_or_register("three".into(), &b), Send::Registered("three".into()));
    assert_eq!((channel.waiting(), channel.queued_bytes()), (2, 3));
    assert_eq!(channel.try_recv(), TryRecv::Got("one".into()));
    assert_eq!(a.claimed().map(|c| c.1), Some(Reason::Space));
    assert_eq!(channel.try_send("x".into()), Err(TrySendError::Full("x".into())));
    assert!(!channel.unregister(&a));
    assert_eq!(channel.send_or_register("three".into(), &b), Send::Sent);
    assert_eq!(channel.drain(), ["three"]);
    world.finish();
}

#[test]
fn killed_receivers_lose_nothing() {
    // Receivers give up at random moments; every message still arrives exactly once.
    let world = World::new(2);
    let channel = Channel::<u64>::bounded(4);
    let (tx, rx) = mpsc::channel();
    for seed in 0..6u64 {
        let (channel, tx) = (channel.clone(), tx.clone());
        world.spawn(move |yard, task| {
            let waiter = Waiter::new(&task);
            let mut dice = seed * 7919 + 1;
            loop {
                dice = dice.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                match channel.recv_or_register(&waiter) {
                    Recv::Got(message) => tx.send(message).unwrap(),
                    Recv::Closed => return,
                    Recv::Registered if dice >> 62 == 0 => {
                        yard.suspend(Turn::Again);
                        let _ = channel.unregister(&waiter);
                    }
                    Recv::Registered => {
                        while waiter.is_waiting() {
                            yard.suspend(Turn::Park);
                        }
                    }
                }
            }
        });
    }
    let sender = channel.clone();
    world.spawn(move |yard, task| {
        let waiter = Waiter::new(&task);
        for i in 0..20_000 {
            assert!(send(&sender, i, &waiter, yard));
        }
        sender.close();
    });
    drop(tx);
    let mut got: Vec<u64> = (0..20_000).map(|_| rx.recv_timeout(SOON).unwrap()).collect();
    got.sort_unstable();
    assert!(got.into_iter().eq(0..20_000));
    world.finish();
}

/// Selects leave dead entries behind, also behind somebody who waits for ever: a line must not grow by them.
#[test]
fn lines_stay_short_behind_a_waiter() {
    let world = World::new(1);
    let (idle, busy) = (Channel::<u64>::unbounded(), Channel::<u64>::unbounded());
    let task = world.spawn(|_, _| ());
    let first = Waiter::new(&task);
    assert_eq!(idle.recv_or_register(&first), Recv::Registered);
    let others: Vec<Waiter> = (0..5).map(|_| Waiter::new(&task)).collect();
    for round in 0..2000 {
        let waiter = &others[round % others.len()];
        assert_eq!(select(&[&idle, &busy], waiter), Selected::Registered);
        assert_eq!((idle.waiting(), busy.waiting()), (2, 1));
        busy.try_send(7).unwrap();
        assert_eq!(select(&[&idle, &busy], waiter), Selected::Got(1, 7));
        assert_eq!((idle.waiting(), busy.waiting()), (1, 0));
    }
    let inner = idle.0.inner.lock();
    assert!(inner.receivers.len() <= 16 && inner.receivers.capacity() <= 16, "{} entries", inner.receivers.len());
    drop(inner);
    // The dead ones are passed over.
    assert_eq!(select(&[&idle, &busy], &others[0]), Selected::Registered);
    idle.try_send(1).unwrap();
    idle.try_send(2).unwrap();
    assert_eq!(others[0].claimed(), Some((idle.id(), Reason::Message)));
    assert_eq!(idle.recv_or_register(&first), Recv::Got(1));
    assert_eq!(select(&[&idle, &busy], &others[0]), Selected::Got(0, 2));
    world.finish();
}
