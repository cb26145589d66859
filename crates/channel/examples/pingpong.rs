//! Nanoseconds per round trip between two units: over channels inside coroutines, and with bare wake-ups.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use zakuro_channel::{Channel, Recv, Waiter};
use zakuro_sched::{Config, Coroutine, Resumed, Scheduler, StackPool, StackSize, Task, Turn, Unit};

struct Body {
    coroutine: Option<Coroutine<Task, Turn, ()>>,
}

impl Unit for Body {
    fn run(&mut self, task: &Task) -> Turn {
        match self.coroutine.as_mut().map(|c| c.resume(task.clone())) {
            Some(Resumed::Yielded(turn)) => turn,
            _ => Turn::Done,
        }
    }
}

fn player(pool: &StackPool, from: Channel<u64>, to: Channel<u64>, rounds: u64, serve: bool, done: std::sync::mpsc::Sender<()>) -> Body {
    let stack = pool.take(StackSize::Fiber).expect("stack");
    // SAFETY: channels, waiter and counters are Send.
    let coroutine = unsafe {
        Coroutine::new(stack, move |suspender: &zakuro_sched::Suspender<Task, Turn>, task: Task| {
            let waiter = Waiter::new(&task);
            for i in 0..rounds {
                if serve {
                    let _ = to.try_send(i);
                }
                loop {
                    match from.recv_or_register(&waiter) {
                        Recv::Got(_) => break,
                        Recv::Closed => return,
                        Recv::Registered => {
                            suspender.suspend(Turn::Park);
                        }
                    }
                }
                if !serve {
                    let _ = to.try_send(i);
                }
            }
            let _ = done.send(());
        })
    };
    Body { coroutine: Some(coroutine) }
}

struct Bare {
    partner: Arc<std::sync::OnceLock<Task>>,
    turn: Arc<AtomicU64>,
    mine: u64,
    rounds: u64,
    done: std::sync::mpsc::Sender<()>,
}

impl Unit for Bare {
    fn run(&mut self, _: &Task) -> Turn {
        let turn = self.turn.load(Ordering::Acquire);
        if turn >= self.rounds * 2 {
            if let Some(partner) = self.partner.get() {
                partner.wake();
            }
            let _ = self.done.send(());
            return Turn::Done;
        }
        if turn % 2 == self.mine
            && let Some(partner) = self.partner.get()
        {
            self.turn.store(turn + 1, Ordering::Release);
            partner.wake();
        }
        Turn::Park
    }
}

fn main() {
    let rounds = 300_000;
    for workers in [1, 2] {
        for _ in 0..3 {
            let scheduler = Scheduler::new(Config { workers, ..Config::default() });
            let pool = StackPool::new();
            let (ping, pong) = (Channel::unbounded(), Channel::unbounded());
            let (done, finished) = std::sync::mpsc::channel();
            let begin = Instant::now();
            scheduler.spawn(Box::new(player(&pool, ping.clone(), pong.clone(), rounds, true, done.clone())));
            scheduler.spawn(Box::new(player(&pool, pong, ping, rounds, false, done)));
            finished.iter().take(2).for_each(drop);
            let channels = begin.elapsed().as_nanos() as u64 / rounds;

            let (done, finished) = std::sync::mpsc::channel();
            let turn = Arc::new(AtomicU64::new(0));
            let cells = [Arc::new(std::sync::OnceLock::new()), Arc::new(std::sync::OnceLock::new())];
            let make = |i: usize| Bare { partner: cells[1 - i].clone(), turn: turn.clone(), mine: i as u64, rounds, done: done.clone() };
            let begin = Instant::now();
            let tasks = [scheduler.spawn(Box::new(make(0))), scheduler.spawn(Box::new(make(1)))];
            for (cell, task) in cells.iter().zip(&tasks) {
                let _ = cell.set(task.clone());
            }
            tasks.iter().for_each(Task::wake);
            finished.iter().take(2).for_each(drop);
            let bare = begin.elapsed().as_nanos() as u64 / rounds;
            println!("{workers} workers: {channels} ns per round over channels, {bare} ns with bare wake-ups");
            scheduler.shutdown();
        }
    }
}
