//! The whole scheduler under random interleavings: workers, sleepers, the permit to spin, hand-off around blocking calls, idle detection, the end.
//! `./test models` runs it; docs/testing-models.md tells how to replay a schedule.
//!
//! A lost wake-up shows as a deadlock, which shuttle reports with a schedule to replay. There is no timer thread; where slices matter, the model ticks.

use std::sync::Arc;

use zakuro_base::sync::wide::atomic::{AtomicBool, AtomicUsize, Ordering};
use zakuro_base::sync::wide::{Condvar, Mutex, thread};

use crate::poll::{self, PollWord};
use crate::scheduler::Scheduler;
use crate::scheduler::tests::{scheduler, unit};
use crate::worker::{Status, Worker};
use crate::{Turn, blocking, monitor};

fn explore(model: impl Fn() + Clone + Send + Sync + 'static) {
    zakuro_base::explore::explore(3000, model);
}

/// Lets others go on for a while, to come at any moment of what they do.
fn delay() {
    for _ in 0..shuttle::rand::Rng::gen_range(&mut shuttle::rand::thread_rng(), 0..80) {
        thread::yield_now();
    }
}

/// A count that somebody waits for.
#[derive(Default)]
struct Tally(Mutex<usize>, Condvar);
impl Tally {
    fn add(&self) {
        *self.0.lock() += 1;
        self.1.notify_all();
    }
    fn reach(&self, n: usize) {
        let mut count = self.0.lock();
        while *count < n {
            self.1.wait(&mut count);
        }
        assert_eq!(*count, n, "something ran twice");
    }
}

fn end(s: &Scheduler) {
    s.shutdown();
    assert_eq!(s.live_units(), 0);
    assert_eq!(s.native_threads(), 0);
    assert_eq!(s.unrest(), None);
}

/// Units that ended are counted before the worker says so to the scheduler.
fn settle(s: &Scheduler) {
    while s.live_units() > 0 {
        thread::yield_now();
    }
}

#[test]
fn two_units_wake_each_other() {
    for workers in 1..=2 {
        explore(move || {
            let s = scheduler(workers);
            let ended = Arc::new(Tally::default());
            // Whose turn it is: even, odd.
            let ball = Arc::new(AtomicUsize::new(0));
            let tasks = Arc::new(Mutex::new(Vec::<crate::Task>::new()));
            for me in 0..2 {
                let (ended, ball, others) = (ended.clone(), ball.clone(), tasks.clone());
                let task = s.spawn(unit(move |_| {
                    let now = ball.load(Ordering::SeqCst);
                    if now % 2 == me {
                        ball.store(now + 1, Ordering::SeqCst);
                        let other = others.lock().get(1 - me).cloned();
                        if let Some(other) = other {
                            other.wake();
                        }
                    }
                    if now >= 5 {
                        ended.add();
                        return Turn::Done;
                    }
                    Turn::Park
                }));
                tasks.lock().push(task);
            }
            // Before this they may not have known each other.
            let both = tasks.lock().clone();
            both.iter().for_each(|t| t.wake());
            ended.reach(2);
            settle(&s);
            end(&s);
        });
    }
}

/// The unit waits for a thread outside and the thread for the unit; a hold keeps the search for idleness from finding what a lost wake-up left behind.
#[test]
fn a_thread_outside_and_a_unit_take_turns() {
    for workers in 1..=2 {
        explore(move || {
            let s = scheduler(workers);
            let hold = s.hold();
            let (asked, heard) = (Arc::new(AtomicUsize::new(0)), Arc::new(Tally::default()));
            let (a, h, mut done) = (asked.clone(), heard.clone(), 0);
            let task = s.spawn(unit(move |_| {
                while done < a.load(Ordering::SeqCst) {
                    done += 1;
                    h.add();
                }
                if done == 3 { Turn::Done } else { Turn::Park }
            }));
            for n in 1..=3 {
                asked.store(n, Ordering::SeqCst);
                task.wake();
                heard.reach(n);
            }
            settle(&s);
            drop(hold);
            end(&s);
        });
    }
}

#[test]
fn a_burst_is_shared_and_outside_wakes_arrive() {
    explore(|| {
        let s = scheduler(2);
        let ended = Arc::new(Tally::default());
        let asked = Arc::new(AtomicUsize::new(0));
        let tasks = Arc::new(Mutex::new(Vec::new()));
        let (e, a, t) = (ended.clone(), asked.clone(), tasks.clone());
        let spawned = Arc::new(Tally::default());
        let told = spawned.clone();
        s.spawn(unit(move |me| {
            let s = me.scheduler();
            for _ in 0..3 {
                let (e, a) = (e.clone(), a.clone());
                t.lock().push(s.spawn(unit(move |_| {
                    if a.load(Ordering::SeqCst) == 0 {
                        return Turn::Park;
                    }
                    e.add();
                    Turn::Done
                })));
            }
            told.add();
            Turn::Done
        }));
        spawned.reach(1);
        asked.store(1, Ordering::SeqCst);
        let woken = tasks.lock().clone();
        let other = woken.clone();
        let helper = thread::spawn(move || other.iter().for_each(|t| t.wake()));
        woken.iter().rev().for_each(|t| t.wake());
        ended.reach(3);
        helper.join().unwrap();
        settle(&s);
        end(&s);
    });
}

/// One worker. A unit blocks its native thread until others have run: they need its worker.
#[test]
fn a_blocking_call_gives_its_worker_away() {
    for workers in 1..=2 {
        explore(move || {
            let s = scheduler(workers);
            let (ran, ended) = (Arc::new(Tally::default()), Arc::new(Tally::default()));
            for _ in 0..2 {
                let (r, e) = (ran.clone(), ended.clone());
                s.spawn(unit(move |me| {
                    let s = me.scheduler();
                    let inside = r.clone();
                    let before = r.clone();
                    // Queued before the call, and from inside of it.
                    s.spawn(unit(move |_| {
                        before.add();
                        Turn::Done
                    }));
                    blocking(|| {
                        let own = inside.clone();
                        s.spawn(unit(move |_| {
                            own.add();
                            Turn::Done
                        }));
                        let mut count = inside.0.lock();
                        while *count < 4 {
                            inside.1.wait(&mut count);
                        }
                    });
                    e.add();
                    Turn::Done
                }));
            }
            ended.reach(2);
            settle(&s);
            end(&s);
        });
    }
}

/// What the call waits for is spawned from outside at any moment of its beginning.
#[test]
fn a_blocking_call_sees_what_came_meanwhile() {
    explore(|| {
        let s = scheduler(1);
        let (ran, ended) = (Arc::new(Tally::default()), Arc::new(Tally::default()));
        let (r, e) = (ran.clone(), ended.clone());
        s.spawn(unit(move |_| {
            blocking(|| r.reach(1));
            e.add();
            Turn::Done
        }));
        delay();
        s.spawn(unit(move |_| {
            ran.add();
            Turn::Done
        }));
        ended.reach(1);
        settle(&s);
        end(&s);
    });
}

/// Returners, keepers and takers of one worker: short calls by several units that go on afterwards.
#[test]
fn calls_come_back_to_a_worker() {
    explore(|| {
        let s = scheduler(1);
        let ended = Arc::new(Tally::default());
        for _ in 0..3 {
            let e = ended.clone();
            let mut left = 2;
            s.spawn(unit(move |_| {
                blocking(thread::yield_now);
                left -= 1;
                if left > 0 {
                    return Turn::Again;
                }
                e.add();
                Turn::Done
            }));
        }
        ended.reach(3);
        settle(&s);
        end(&s);
    });
}

/// When everything waits, that is noticed, once per time; a hold puts it off.
#[test]
fn idleness_is_noticed() {
    for workers in 1..=2 {
        explore(move || {
            let s = scheduler(workers);
            let (ended, idle) = (Arc::new(Tally::default()), Arc::new(AtomicUsize::new(0)));
            let tasks = Arc::new(Mutex::new(Vec::<crate::Task>::new()));
            let (i, t) = (idle.clone(), tasks.clone());
            let held = Arc::new(AtomicBool::new(true));
            let h = held.clone();
            let hold = s.hold();
            s.on_idle(Box::new(move || {
                assert!(!h.load(Ordering::SeqCst), "held");
                i.fetch_add(1, Ordering::SeqCst);
                let all = t.lock().clone();
                all.iter().for_each(|t| t.wake());
            }));
            {
                let mut tasks = tasks.lock();
                for _ in 0..2 {
                    let (e, i) = (ended.clone(), idle.clone());
                    tasks.push(s.spawn(unit(move |_| {
                        if i.load(Ordering::SeqCst) == 0 {
                            return Turn::Park;
                        }
                        e.add();
                        Turn::Done
                    })));
                }
            }
            let helper = thread::spawn(move || {
                delay();
                held.store(false, Ordering::SeqCst);
                drop(hold);
            });
            ended.reach(2);
            helper.join().unwrap();
            settle(&s);
            assert_eq!(idle.load(Ordering::SeqCst), 1);
            s.on_idle(Box::new(|| {}));
            end(&s);
        });
    }
}

/// Slices: who asks for a preemption never touches the poll word of a turn that is over. (The kernel's barrier is taken for what it replaces.)
#[test]
fn nobody_looks_at_a_poll_word_after_its_turn() {
    explore(|| {
        let worker = Arc::new(Worker::new(false, Status::RUNNING));
        let stop = Arc::new(AtomicBool::new(false));
        let (w, st) = (worker.clone(), stop.clone());
        let ticker = thread::spawn(move || {
            while !st.load(Ordering::SeqCst) {
                monitor::preempt(std::iter::once(&*w));
                thread::yield_now();
            }
        });
        let words: Vec<Arc<PollWord>> = (0..3).map(|_| Arc::new(PollWord::new())).collect();
        for (n, word) in words.iter().enumerate() {
            word.take(poll::PREEMPT);
            worker.publish(word);
            thread::yield_now();
            worker.unpublish();
            // What was asked in the turn is of the past; nothing is asked later.
            word.take(poll::PREEMPT);
            for old in &words[..=n] {
                assert_eq!(old.load(), 0);
            }
        }
        stop.store(true, Ordering::SeqCst);
        ticker.join().unwrap();
        words.iter().for_each(|w| assert_eq!(w.load(), 0));
    });
}

/// The end comes while units run, wait and block.
#[test]
fn an_end_in_the_middle() {
    explore(|| {
        let s = scheduler(2);
        for n in 0..3 {
            s.spawn(unit(move |me| {
                if n == 2 {
                    blocking(thread::yield_now);
                }
                // They never end; the others shall have their turns.
                thread::yield_now();
                me.wake();
                if n == 1 { Turn::Again } else { Turn::Park }
            }));
        }
        s.shutdown();
        // A thread that was in a blocking call ends when it comes back.
        while s.native_threads() > 0 {
            thread::yield_now();
        }
    });
}

/// Ticks for as long as it lives, as the timer thread would.
struct Ticker(Arc<AtomicBool>, Option<thread::JoinHandle<()>>);
impl Ticker {
    fn new(s: &Scheduler) -> Ticker {
        let (stop, s) = (Arc::new(AtomicBool::new(false)), s.clone());
        let told = stop.clone();
        let ticks = move || {
            while !told.load(Ordering::SeqCst) {
                s.inner().tick();
                delay();
            }
        };
        Ticker(stop, Some(thread::spawn(ticks)))
    }
}
impl Drop for Ticker {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
        if let Some(thread) = self.1.take() {
            thread.join().unwrap();
        }
    }
}

/// Burns CPU time without polling until so many have run.
fn burn(ran: &Tally, until: usize) {
    while *ran.0.lock() < until {
        thread::yield_now();
    }
}

/// More turns that do not poll than workers: each goes on until all units have had one, those that it spawns and wakes on the way included.
#[test]
fn a_turn_that_does_not_end_is_replaced() {
    for workers in 1..=2 {
        explore(move || {
            let s = scheduler(workers);
            let (ran, ended) = (Arc::new(Tally::default()), Arc::new(Tally::default()));
            for n in 0..2 {
                let (r, e) = (ran.clone(), ended.clone());
                let mut turns = 0;
                s.spawn(unit(move |me| {
                    turns += 1;
                    if turns == 1 {
                        let told = r.clone();
                        me.scheduler().spawn(unit(move |_| {
                            told.add();
                            Turn::Done
                        }));
                        burn(&r, 2);
                        // A wake-up and a blocking call out of sight, or neither.
                        if n == 0 {
                            me.wake();
                            blocking(thread::yield_now);
                            return Turn::Park;
                        }
                        return Turn::Again;
                    }
                    e.add();
                    Turn::Done
                }));
            }
            let ticker = Ticker::new(&s);
            ended.reach(2);
            settle(&s);
            drop(ticker);
            end(&s);
        });
    }
}

/// One worker. What a turn out of sight wakes and spawns does not wait for its end.
#[test]
fn work_that_comes_from_a_replaced_worker_is_found() {
    explore(|| {
        let s = scheduler(1);
        let (ran, ended) = (Arc::new(Tally::default()), Arc::new(Tally::default()));
        let r = ran.clone();
        let other = s.spawn(unit(move |_| {
            r.add();
            if *r.0.lock() < 3 { Turn::Park } else { Turn::Done }
        }));
        let (r, e) = (ran.clone(), ended.clone());
        s.spawn(unit(move |_| {
            for n in 1..3 {
                burn(&r, n);
                other.wake();
            }
            burn(&r, 3);
            e.add();
            Turn::Done
        }));
        let ticker = Ticker::new(&s);
        ended.reach(1);
        settle(&s);
        drop(ticker);
        end(&s);
    });
}

/// Turns of every kind under a ticker that finds each of them too long: replaced in the middle of a blocking call's beginning, before a rest, while a returner waits.
#[test]
fn replacement_at_any_moment() {
    for workers in 1..=2 {
        explore(move || {
            let s = scheduler(workers);
            let ended = Arc::new(Tally::default());
            for n in 0..3 {
                let e = ended.clone();
                let mut left = 3;
                s.spawn(unit(move |me| {
                    left -= 1;
                    for _ in 0..n {
                        thread::yield_now();
                    }
                    if n != 1 {
                        blocking(thread::yield_now);
                    }
                    if left > 0 {
                        if n == 0 {
                            return Turn::Again;
                        }
                        me.wake();
                        return Turn::Park;
                    }
                    e.add();
                    Turn::Done
                }));
            }
            let ticker = Ticker::new(&s);
            ended.reach(3);
            settle(&s);
            drop(ticker);
            end(&s);
        });
    }
}

/// More turns that do not end than spare workers: the last of them keeps its worker, and the others' end is enough for all.
#[test]
fn when_no_worker_is_spare_a_turn_keeps_its_own() {
    explore(|| {
        let s = scheduler(1);
        let (began, ended) = (Arc::new(Tally::default()), Arc::new(Tally::default()));
        let go = Arc::new(AtomicBool::new(false));
        for _ in 0..4 {
            let (b, e, go) = (began.clone(), ended.clone(), go.clone());
            s.spawn(unit(move |_| {
                b.add();
                while !go.load(Ordering::SeqCst) {
                    thread::yield_now();
                }
                e.add();
                Turn::Done
            }));
        }
        let ticker = Ticker::new(&s);
        began.reach(3);
        delay();
        assert_eq!(*began.0.lock(), 3, "one worker and two in its place");
        go.store(true, Ordering::SeqCst);
        ended.reach(4);
        settle(&s);
        drop(ticker);
        end(&s);
    });
}

/// A turn out of sight is no idleness; when it parks and nothing else is left, that is noticed.
#[test]
fn idleness_after_a_replaced_turn_is_noticed() {
    explore(|| {
        let s = scheduler(1);
        let (ran, ended, idle) = (Arc::new(Tally::default()), Arc::new(Tally::default()), Arc::new(AtomicUsize::new(0)));
        let tasks = Arc::new(Mutex::new(Vec::<crate::Task>::new()));
        let over = Arc::new(AtomicBool::new(false));
        let (i, t, o) = (idle.clone(), tasks.clone(), over.clone());
        s.on_idle(Box::new(move || {
            assert!(o.load(Ordering::SeqCst), "a turn goes on");
            i.fetch_add(1, Ordering::SeqCst);
            let all = t.lock().clone();
            all.iter().for_each(|t| t.wake());
        }));
        let hold = s.hold();
        for n in 0..2 {
            let (r, e, i, o) = (ran.clone(), ended.clone(), idle.clone(), over.clone());
            let task = s.spawn(unit(move |_| {
                if i.load(Ordering::SeqCst) == 0 {
                    if n == 0 {
                        burn(&r, 1);
                        delay();
                        o.store(true, Ordering::SeqCst);
                    } else {
                        r.add();
                    }
                    return Turn::Park;
                }
                e.add();
                Turn::Done
            }));
            tasks.lock().push(task);
        }
        drop(hold);
        let ticker = Ticker::new(&s);
        ended.reach(2);
        settle(&s);
        drop(ticker);
        assert_eq!(idle.load(Ordering::SeqCst), 1);
        s.on_idle(Box::new(|| {}));
        end(&s);
    });
}
