//! Channels over a whole scheduler, under random interleavings: units that send, receive, select, are killed while they wait, and close.
//! `./test models` runs it; docs/testing-models.md tells how to replay a schedule.
//!
//! A unit is what a VM's thread is to a channel: it stands in line, parks, and looks again when woken. A lost wake-up shows as a deadlock.

use std::marker::Send as Sendable;

use zakuro_base::sync::wide::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use zakuro_base::sync::wide::{Condvar, Mutex, thread};
use zakuro_sched::{Config, Scheduler, Turn, Unit};

use super::*;

fn explore(model: impl Fn() + Clone + Sendable + Sync + 'static) {
    zakuro_base::explore::explore(3000, model);
}

struct Step<F>(F);
impl<F: FnMut(&Task) -> Turn + Sendable> Unit for Step<F> {
    fn run(&mut self, task: &Task) -> Turn {
        self.0(task)
    }
}

fn unit(f: impl FnMut(&Task) -> Turn + Sendable + 'static) -> Box<dyn Unit> {
    Box::new(Step(f))
}

/// What the units of a model report.
#[derive(Default)]
struct Book {
    /// Messages by receiver, in order.
    got: Mutex<Vec<Vec<u64>>>,
    /// Messages accepted by a channel.
    sent: AtomicUsize,
    ended: Mutex<usize>,
    news: Condvar,
}

impl Book {
    fn new(receivers: usize) -> Arc<Book> {
        Arc::new(Book { got: Mutex::new(vec![Vec::new(); receivers]), ..Book::default() })
    }
    fn end(&self) -> Turn {
        *self.ended.lock() += 1;
        self.news.notify_all();
        Turn::Done
    }
    fn reach(&self, units: usize) {
        let mut ended = self.ended.lock();
        while *ended < units {
            self.news.wait(&mut ended);
        }
    }
    /// All that arrived, sorted.
    fn all(&self) -> Vec<u64> {
        let mut all: Vec<u64> = self.got.lock().iter().flatten().copied().collect();
        all.sort_unstable();
        all
    }
}

/// A scheduler for the length of a model.
struct World(Scheduler);

impl World {
    fn new(workers: usize) -> World {
        World(Scheduler::new(Config { workers, ..Config::default() }))
    }
    fn finish(self) {
        while self.0.live_units() > 0 {
            thread::yield_now();
        }
        self.0.shutdown();
    }
}

/// Receives until the channels are closed and drained, or the unit is killed.
fn receiver(me: usize, channels: Vec<Channel<u64>>, book: &Arc<Book>, killed: Option<Arc<AtomicBool>>) -> Box<dyn Unit> {
    let (book, mut waiter) = (book.clone(), None);
    unit(move |task| {
        let waiter = waiter.get_or_insert_with(|| Waiter::new(task));
        let list: Vec<&Channel<u64>> = channels.iter().collect();
        loop {
            if killed.as_ref().is_some_and(|k| k.load(SeqCst)) {
                leave(&list, waiter);
                return book.end();
            }
            if waiter.is_waiting() {
                return Turn::Park;
            }
            let message = match list[..] {
                [one] => match one.recv_or_register(waiter) {
                    Recv::Got(message) => message,
                    Recv::Closed => return book.end(),
                    Recv::Registered => continue,
                },
                _ => match select(&list, waiter) {
                    Selected::Got(from, message) => {
                        assert_eq!(message / 100, from as u64, "from the channel that it was sent to");
                        assert!(waiter.is_free(), "stands in no line");
                        message
                    }
                    Selected::Closed => return book.end(),
                    Selected::Registered => continue,
                },
            };
            book.got.lock()[me].push(message);
        }
    })
}

/// Sends the messages one by one, then calls `last`.
fn sender(
    channel: &Channel<u64>,
    messages: std::ops::Range<u64>,
    book: &Arc<Book>,
    killed: Option<Arc<AtomicBool>>,
    last: impl Fn() + Sendable + 'static,
) -> Box<dyn Unit> {
    let (channel, book, mut waiter, mut rest) = (channel.clone(), book.clone(), None, messages);
    let mut next = rest.next();
    unit(move |task| {
        let waiter = waiter.get_or_insert_with(|| Waiter::new(task));
        while let Some(message) = next {
            if killed.as_ref().is_some_and(|k| k.load(SeqCst)) {
                channel.unregister(waiter);
                break;
            }
            if waiter.is_waiting() {
                return Turn::Park;
            }
            match channel.send_or_register(message, waiter) {
                Send::Sent => {
                    book.sent.fetch_add(1, SeqCst);
                    next = rest.next();
                }
                Send::Closed(_) => break,
                Send::Registered(_) => {}
            }
        }
        last();
        book.end()
    })
}

/// The last of `n` to call it closes the channels.
fn closer(n: usize, channels: Vec<Channel<u64>>) -> impl Fn() + Clone + Sendable + 'static {
    let left = Arc::new(AtomicUsize::new(n));
    move || {
        if left.fetch_sub(1, SeqCst) == 1 {
            channels.iter().for_each(|c| assert!(c.close()));
        }
    }
}

fn empty(channel: &Channel<u64>) {
    assert_eq!((channel.len(), channel.queued_bytes(), channel.waiting()), (0, 0, 0));
}

fn bounds() -> [Bounds; 3] {
    [Bounds::NONE, Bounds { messages: 1, ..Bounds::NONE }, Bounds { messages: 2, ..Bounds::NONE }]
}

/// Two senders, two receivers: each message once, those of a sender in order.
#[test]
fn many_to_many() {
    for (workers, bounds) in [1, 2].into_iter().flat_map(|w| bounds().map(|b| (w, b))) {
        explore(move || {
            let (world, book, channel) = (World::new(workers), Book::new(2), Channel::new(bounds));
            let done = closer(2, vec![channel.clone()]);
            for me in 0..2 {
                world.0.spawn(receiver(me, vec![channel.clone()], &book, None));
            }
            for from in [0, 10] {
                world.0.spawn(sender(&channel, from..from + 3, &book, None, done.clone()));
            }
            book.reach(4);
            assert_eq!(book.all(), [0, 1, 2, 10, 11, 12]);
            for got in book.got.lock().iter() {
                for from in [0, 10] {
                    assert!(got.iter().filter(|m| *m / 10 == from / 10).is_sorted(), "in order: {got:?}");
                }
            }
            empty(&channel);
            world.finish();
        });
    }
}

/// Units that wait at two channels at once, and one that waits at one of them.
#[test]
fn selects_compete() {
    for workers in 1..=2 {
        explore(move || {
            let (world, book) = (World::new(workers), Book::new(3));
            let (a, b) = (Channel::unbounded(), Channel::bounded(1));
            let both = vec![a.clone(), b.clone()];
            for me in 0..2 {
                world.0.spawn(receiver(me, both.clone(), &book, None));
            }
            world.0.spawn(receiver(2, vec![a.clone()], &book, None));
            world.0.spawn(sender(&a, 0..3, &book, None, closer(1, vec![a.clone()])));
            world.0.spawn(sender(&b, 100..102, &book, None, closer(1, vec![b.clone()])));
            book.reach(5);
            assert_eq!(book.all(), [0, 1, 2, 100, 101]);
            empty(&a);
            empty(&b);
            world.finish();
        });
    }
}

/// A close from outside, in the middle: all that was accepted arrives, everybody ends.
#[test]
fn a_close_in_the_middle() {
    for bounds in bounds() {
        explore(move || {
            let (world, book, channel) = (World::new(2), Book::new(2), Channel::new(bounds));
            for me in 0..2 {
                world.0.spawn(receiver(me, vec![channel.clone()], &book, None));
            }
            for from in [0, 10] {
                world.0.spawn(sender(&channel, from..from + 2, &book, None, || {}));
            }
            assert!(channel.close() && !channel.close());
            book.reach(4);
            assert_eq!(book.all().len(), book.sent.load(SeqCst));
            empty(&channel);
            world.finish();
        });
    }
}

/// A receiver is killed wherever it is; the other gets all that the dead one has not taken.
#[test]
fn a_receiver_is_killed_while_it_waits() {
    for (bounds, channels) in [(bounds()[0], 1), (bounds()[1], 1), (bounds()[0], 2)] {
        explore(move || {
            let (world, book) = (World::new(2), Book::new(2));
            let list: Vec<Channel<u64>> = (0..channels).map(|_| Channel::new(bounds)).collect();
            let killed = Arc::new(AtomicBool::new(false));
            let victim = world.0.spawn(receiver(0, list.clone(), &book, Some(killed.clone())));
            world.0.spawn(receiver(1, list.clone(), &book, None));
            let done = closer(list.len(), list.clone());
            for (n, channel) in list.iter().enumerate() {
                let from = n as u64 * 100;
                world.0.spawn(sender(channel, from..from + 2, &book, None, done.clone()));
            }
            killed.store(true, SeqCst);
            victim.wake();
            book.reach(2 + list.len());
            let expected: Vec<u64> = (0..channels as u64).flat_map(|n| [n * 100, n * 100 + 1]).collect();
            assert_eq!(book.all(), expected);
            list.iter().for_each(empty);
            world.finish();
        });
    }
}

/// A sender is killed while it waits for room: the place that was set aside for it goes to the next.
#[test]
fn a_sender_is_killed_while_it_waits() {
    explore(|| {
        let (world, book, channel) = (World::new(2), Book::new(1), Channel::bounded(1));
        let killed = Arc::new(AtomicBool::new(false));
        let done = closer(2, vec![channel.clone()]);
        let victim = world.0.spawn(sender(&channel, 0..2, &book, Some(killed.clone()), done.clone()));
        world.0.spawn(sender(&channel, 10..12, &book, None, done));
        world.0.spawn(receiver(0, vec![channel.clone()], &book, None));
        killed.store(true, SeqCst);
        victim.wake();
        book.reach(3);
        let all = book.all();
        assert_eq!(all.len(), book.sent.load(SeqCst));
        assert!(all.ends_with(&[10, 11]));
        empty(&channel);
        world.finish();
    });
}

/// Requests with a handle to answer to: a server and two clients, each of which drops its channel as soon as it has its answer.
#[test]
fn answers_find_their_way() {
    struct Request(u64, Option<Channel<Request>>);
    impl Message for Request {
        fn has_handles(&self) -> bool {
            self.1.is_some()
        }
        fn handles(&self, visit: &mut dyn FnMut(&Channel<Request>)) {
            self.1.iter().for_each(visit);
        }
    }
    explore(|| {
        let (world, book) = (World::new(2), Book::new(2));
        let door = Channel::<Request>::unbounded();
        for me in 0..2 {
            let (door, book, own, mut waiter, mut asked) = (door.clone(), book.clone(), Channel::unbounded(), None, false);
            world.0.spawn(unit(move |task| {
                let waiter = waiter.get_or_insert_with(|| Waiter::new(task));
                if !std::mem::replace(&mut asked, true) {
                    assert!(door.try_send(Request(me, Some(own.clone()))).is_ok());
                }
                loop {
                    if waiter.is_waiting() {
                        return Turn::Park;
                    }
                    if let Recv::Got(Request(answer, _)) = own.recv_or_register(waiter) {
                        book.got.lock()[me as usize].push(answer);
                        return book.end();
                    }
                }
            }));
        }
        let (inbox, ledger, mut waiter, mut served) = (door.clone(), book.clone(), None, 0);
        world.0.spawn(unit(move |task| {
            let waiter = waiter.get_or_insert_with(|| Waiter::new(task));
            while served < 2 {
                if waiter.is_waiting() {
                    return Turn::Park;
                }
                if let Recv::Got(Request(n, Some(reply))) = inbox.recv_or_register(waiter) {
                    assert!(reply.try_send(Request(n + 10, None)).is_ok());
                    served += 1;
                }
            }
            ledger.end()
        }));
        book.reach(3);
        assert_eq!(*book.got.lock(), [[10], [11]]);
        world.finish();
    });
}

/// A ring of three channels that hold each other, let go by three threads, one of which takes a message out first: nothing stays.
#[test]
fn rings_are_let_go_from_all_sides() {
    struct Parcel(Option<Channel<Parcel>>, Arc<AtomicUsize>);
    impl Drop for Parcel {
        fn drop(&mut self) {
            self.1.fetch_sub(1, SeqCst);
        }
    }
    impl Message for Parcel {
        fn has_handles(&self) -> bool {
            self.0.is_some()
        }
        fn handles(&self, visit: &mut dyn FnMut(&Channel<Parcel>)) {
            self.0.iter().for_each(visit);
        }
    }
    explore(|| {
        let alive = Arc::new(AtomicUsize::new(0));
        let ring: Vec<Channel<Parcel>> = (0..3).map(|_| Channel::unbounded()).collect();
        for (n, channel) in ring.iter().enumerate() {
            alive.fetch_add(1, SeqCst);
            assert!(channel.try_send(Parcel(Some(ring[(n + 1) % 3].clone()), alive.clone())).is_ok());
        }
        let threads: Vec<_> = ring
            .into_iter()
            .enumerate()
            .map(|(n, channel)| {
                let alive = alive.clone();
                thread::spawn(move || match n {
                    // Takes the way to the next one out, and puts it back.
                    0 => {
                        let TryRecv::Got(parcel) = channel.try_recv() else { panic!("a parcel") };
                        let next = parcel.0.clone();
                        drop(parcel);
                        alive.fetch_add(1, SeqCst);
                        assert!(channel.try_send(Parcel(next, alive)).is_ok());
                    }
                    // One more edge.
                    1 => {
                        alive.fetch_add(1, SeqCst);
                        assert!(channel.try_send(Parcel(Some(channel.clone()), alive)).is_ok());
                    }
                    _ => {}
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(alive.load(SeqCst), 0);
    });
}
