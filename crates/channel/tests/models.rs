//! Models of the channel: every interleaving of a few threads with few steps each under loom, some hundred runs on real threads under Miri.
//! `./test models` and `./test miri` run them; see docs/testing-models.md.
#![cfg(any(feature = "loom", miri))]

mod common;

#[cfg(feature = "loom")]
use loom::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};
#[cfg(miri)]
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};
use zakuro_channel::model::Task;
use zakuro_channel::*;

/// Explores with at most `preemptions` switches at points where a thread could have gone on.
#[cfg(feature = "loom")]
fn explore(preemptions: usize, model: impl Fn() + Sync + std::marker::Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Miri switches threads at random, reads old values where the memory model allows it, and reports races and accesses to what was freed.
#[cfg(miri)]
fn explore(_: usize, model: impl Fn()) {
    (0..10).for_each(|_| model());
}

fn recv<T: Message>(channel: &Channel<T>, task: &Task, waiter: &Waiter) -> Option<T> {
    common::recv(channel, waiter, || task.park())
}

fn send<T: Message>(channel: &Channel<T>, message: T, task: &Task, waiter: &Waiter) -> bool {
    common::send(channel, message, waiter, || task.park())
}

fn receiver<T: Message>(channel: &Channel<T>) -> Option<T> {
    let task = Task::new();
    recv(channel, &task, &Waiter::new(&task))
}

fn sender<T: Message>(channel: &Channel<T>, message: T) -> bool {
    let task = Task::new();
    send(channel, message, &task, &Waiter::new(&task))
}

#[test]
fn two_receivers_two_messages() {
    explore(3, || {
        let channel = Channel::<u64>::unbounded();
        let other = channel.clone();
        let taker = thread::spawn(move || receiver(&other).unwrap());
        let third = channel.clone();
        let giver = thread::spawn(move || {
            third.try_send(1).unwrap();
            third.try_send(2).unwrap();
        });
        let sum = receiver(&channel).unwrap() + taker.join().unwrap();
        giver.join().unwrap();
        assert_eq!(sum, 3);
        assert_eq!((channel.len(), channel.waiting()), (0, 0));
    });
}

#[test]
fn a_sender_waits_for_room() {
    explore(3, || {
        let channel = Channel::<u64>::bounded(1);
        let other = channel.clone();
        let giver = thread::spawn(move || {
            assert!(sender(&other, 1));
            assert!(sender(&other, 2));
        });
        assert_eq!(receiver(&channel), Some(1));
        assert_eq!(receiver(&channel), Some(2));
        giver.join().unwrap();
        assert_eq!((channel.len(), channel.waiting()), (0, 0));
    });
}

#[test]
fn closing_wakes_both_sides_and_keeps_what_is_queued() {
    explore(3, || {
        let channel = Channel::<u64>::bounded(1);
        let (one, two) = (channel.clone(), channel.clone());
        let giver = thread::spawn(move || usize::from(sender(&one, 1)) + usize::from(sender(&one, 2)));
        let closer = thread::spawn(move || {
            two.close();
        });
        let mut got = 0;
        while receiver(&channel).is_some() {
            got += 1;
        }
        closer.join().unwrap();
        assert_eq!(giver.join().unwrap(), got);
    });
}

#[test]
fn a_receiver_that_gives_up_loses_nothing() {
    explore(3, || {
        let channel = Channel::<u64>::unbounded();
        let other = channel.clone();
        let quitter = thread::spawn(move || {
            let task = Task::new();
            let waiter = Waiter::new(&task);
            match other.recv_or_register(&waiter) {
                Recv::Got(_) => 1,
                Recv::Registered => {
                    other.unregister(&waiter);
                    0
                }
                Recv::Closed => panic!("open"),
            }
        });
        let third = channel.clone();
        let taker = thread::spawn(move || match receiver(&third) {
            Some(_) => 1,
            None => 0,
        });
        channel.try_send(7).unwrap();
        let quit = quitter.join().unwrap();
        channel.close();
        assert_eq!(quit + taker.join().unwrap() + channel.len(), 1);
        assert_eq!(channel.waiting(), 0);
    });
}

#[test]
fn select_takes_each_message_once() {
    explore(2, || {
        let (a, b) = (Channel::<u64>::unbounded(), Channel::<u64>::unbounded());
        let (a2, b2) = (a.clone(), b.clone());
        let one = thread::spawn(move || a2.try_send(1).unwrap());
        let two = thread::spawn(move || b2.try_send(2).unwrap());
        let task = Task::new();
        let waiter = Waiter::new(&task);
        let mut sum = 0;
        while sum < 3 {
            match select(&[&a, &b], &waiter) {
                Selected::Got(i, message) => {
                    assert_eq!(message, i as u64 + 1);
                    sum += message;
                }
                Selected::Closed => panic!("open"),
                Selected::Registered => {
                    while waiter.is_waiting() {
                        task.park();
                    }
                }
            }
        }
        assert!(waiter.is_free());
        one.join().unwrap();
        two.join().unwrap();
        assert_eq!((a.waiting(), b.waiting(), a.len(), b.len()), (0, 0, 0, 0));
    });
}

#[test]
fn two_selects_at_two_channels() {
    explore(2, || {
        let (a, b) = (Channel::<u64>::unbounded(), Channel::<u64>::unbounded());
        let (a2, b2) = (a.clone(), b.clone());
        let choose = |a: &Channel<u64>, b: &Channel<u64>| {
            let task = Task::new();
            let waiter = Waiter::new(&task);
            loop {
                match select(&[a, b], &waiter) {
                    Selected::Got(_, message) => return message,
                    Selected::Closed => panic!("open"),
                    Selected::Registered => {
                        while waiter.is_waiting() {
                            task.park();
                        }
                    }
                }
            }
        };
        let other = thread::spawn(move || choose(&b2, &a2));
        a.try_send(1).unwrap();
        b.try_send(2).unwrap();
        assert_eq!(choose(&a, &b) + other.join().unwrap(), 3);
        assert_eq!((a.waiting(), b.waiting()), (0, 0));
    });
}

/// A message that holds a handle, and tells when it goes.
struct Parcel(Option<Channel<Parcel>>, Arc<AtomicUsize>);

impl Parcel {
    fn new(channel: Option<&Channel<Parcel>>, alive: &Arc<AtomicUsize>) -> Parcel {
        alive.fetch_add(1, SeqCst);
        Parcel(channel.cloned(), alive.clone())
    }
}

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

fn put(channel: &Channel<Parcel>, parcel: Parcel) {
    assert!(channel.try_send(parcel).is_ok());
}

#[test]
fn a_pair_dropped_from_two_sides_goes() {
    explore(3, || {
        let alive = Arc::new(AtomicUsize::new(0));
        let (a, b) = (Channel::unbounded(), Channel::unbounded());
        put(&a, Parcel::new(Some(&b), &alive));
        put(&b, Parcel::new(Some(&a), &alive));
        let other = thread::spawn(move || drop(b));
        drop(a);
        other.join().unwrap();
        assert_eq!(alive.load(SeqCst), 0);
    });
}

#[test]
fn a_channel_that_is_received_while_its_ring_is_searched_stays() {
    explore(3, || {
        let alive = Arc::new(AtomicUsize::new(0));
        let (door, a) = (Channel::unbounded(), Channel::unbounded());
        put(&a, Parcel::new(Some(&a), &alive));
        put(&a, Parcel::new(None, &alive));
        put(&door, Parcel::new(Some(&a), &alive));
        let other = thread::spawn(move || {
            let TryRecv::Got(parcel) = door.try_recv() else { panic!("a message") };
            let a = parcel.0.clone().unwrap();
            drop(parcel);
            assert!(matches!(a.try_recv(), TryRecv::Got(Parcel(Some(_), _))));
            assert!(matches!(a.try_recv(), TryRecv::Got(Parcel(None, _))));
        });
        drop(a);
        other.join().unwrap();
        assert_eq!(alive.load(SeqCst), 0);
    });
}

#[test]
fn receivers_of_a_batch_take_each_message_once_in_order() {
    explore(3, || {
        let channel = Channel::<u64>::unbounded();
        channel.try_send(1).unwrap();
        channel.try_send(2).unwrap();
        let (other, third) = (channel.clone(), channel.clone());
        // It either finds a batch, the queue, or stands in line behind it.
        let taker = thread::spawn(move || [receiver(&other).unwrap(), receiver(&other).unwrap()]);
        let giver = thread::spawn(move || {
            third.try_send(3).unwrap();
            third.try_send(4).unwrap();
        });
        let here = [receiver(&channel).unwrap(), receiver(&channel).unwrap()];
        let there = taker.join().unwrap();
        giver.join().unwrap();
        assert!(here[0] < here[1] && there[0] < there[1]);
        assert_eq!(here.iter().chain(&there).map(|n| 1 << n).sum::<u64>(), 0b11110);
        assert_eq!((channel.len(), channel.queued_bytes(), channel.waiting()), (0, 0, 0));
    });
}

#[test]
fn a_batch_meets_a_close_and_a_receiver_that_gives_up() {
    explore(3, || {
        let channel = Channel::<u64>::unbounded();
        channel.try_send(1).unwrap();
        channel.try_send(2).unwrap();
        let other = channel.clone();
        let quitter = thread::spawn(move || {
            let task = Task::new();
            let waiter = Waiter::new(&task);
            let got = match other.recv_or_register(&waiter) {
                Recv::Got(message) => message,
                _ => 0,
            };
            other.unregister(&waiter);
            got
        });
        let third = channel.clone();
        let closer = thread::spawn(move || {
            let sent = third.try_send(4).is_ok();
            third.close();
            sent
        });
        let mut sum = 0;
        while let Some(message) = receiver(&channel) {
            sum += message;
        }
        assert!(closer.join().unwrap());
        assert_eq!(sum + quitter.join().unwrap(), 7);
        assert_eq!((channel.len(), channel.waiting()), (0, 0));
    });
}

/// A receiver in line, claimed for one of three messages: others may take the rest as a batch, its own they may not.
fn claimed(channel: &Channel<u64>) -> Waiter {
    let waiter = Waiter::new(&Task::new());
    assert_eq!(channel.recv_or_register(&waiter), Recv::Registered);
    (1..=3).for_each(|n| channel.try_send(n).unwrap());
    waiter
}

#[test]
fn a_batch_leaves_what_is_set_aside() {
    explore(3, || {
        let channel = Channel::<u64>::unbounded();
        let waiter = claimed(&channel);
        let (other, third) = (channel.clone(), channel.clone());
        // It would take all three, if it could.
        let taker = thread::spawn(move || [0; 3].map(|_| receiver(&other).unwrap()));
        let giver = thread::spawn(move || third.try_send(4).unwrap());
        let Recv::Got(here) = channel.recv_or_register(&waiter) else { panic!("it was set aside") };
        let there = taker.join().unwrap();
        giver.join().unwrap();
        assert!(there.is_sorted());
        assert_eq!(here + there.iter().sum::<u64>(), 10);
        assert_eq!((channel.len(), channel.queued_bytes(), channel.waiting()), (0, 0, 0));
    });
}

#[test]
fn what_was_set_aside_behind_a_batch_is_handed_on() {
    explore(3, || {
        let channel = Channel::<u64>::bounded(3);
        let waiter = claimed(&channel);
        let (other, third) = (channel.clone(), channel.clone());
        let taker = thread::spawn(move || receiver(&other).unwrap() + receiver(&other).unwrap());
        let giver = thread::spawn(move || assert!(sender(&third, 4)));
        channel.unregister(&waiter);
        let here = receiver(&channel).unwrap() + receiver(&channel).unwrap();
        assert_eq!(here + taker.join().unwrap(), 10);
        giver.join().unwrap();
        assert_eq!((channel.len(), channel.queued_bytes(), channel.waiting()), (0, 0, 0));
    });
}

#[test]
fn a_sender_waits_for_room_behind_a_batch() {
    explore(3, || {
        let channel = Channel::<u64>::bounded(3);
        for n in 1..=3 {
            channel.try_send(n).unwrap();
        }
        let (other, third) = (channel.clone(), channel.clone());
        // The first receive makes the rest a front; the next ones take from there, perhaps while the senders get in line.
        let giver = thread::spawn(move || {
            assert!(sender(&other, 4));
            assert!(sender(&other, 5));
        });
        let taker = thread::spawn(move || [receiver(&third).unwrap(), receiver(&third).unwrap()]);
        let here = receiver(&channel).unwrap();
        assert!(channel.len() <= 3);
        let there = taker.join().unwrap();
        giver.join().unwrap();
        assert!(there[0] < there[1]);
        assert_eq!(channel.len(), 2);
        let rest = [receiver(&channel).unwrap(), receiver(&channel).unwrap()];
        assert_eq!([here, there[0], there[1]].iter().chain(&rest).map(|n| 1 << n).sum::<u64>(), 0b111110);
        assert_eq!(rest, [4, 5]);
        assert_eq!((channel.len(), channel.queued_bytes(), channel.waiting()), (0, 0, 0));
    });
}

#[test]
fn senders_wait_behind_a_batch_that_is_closed_or_given_up() {
    explore(3, || {
        let channel = Channel::<u64>::bounded(2);
        channel.try_send(1).unwrap();
        channel.try_send(2).unwrap();
        let (other, third) = (channel.clone(), channel.clone());
        let quitter = thread::spawn(move || {
            let task = Task::new();
            let waiter = Waiter::new(&task);
            let sent = matches!(other.send_or_register(4, &waiter), Send::Sent);
            other.unregister(&waiter);
            u64::from(sent) * 4
        });
        let giver = thread::spawn(move || u64::from(sender(&third, 8)) * 8);
        let mut sum = receiver(&channel).unwrap();
        sum += receiver(&channel).unwrap();
        // Room there is now, so neither waits for ever.
        let given = quitter.join().unwrap() + giver.join().unwrap();
        channel.close();
        while let Some(message) = receiver(&channel) {
            sum += message;
        }
        assert_eq!(sum, 3 + given);
        assert_eq!(given & 8, 8);
        assert_eq!((channel.len(), channel.waiting()), (0, 0));
    });
}
