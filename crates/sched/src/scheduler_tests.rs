use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::*;
use crate::{PollWord, Turn, blocking, poll};

struct Fun<F>(F);
impl<F: FnMut(&Task) -> Turn + Send> Unit for Fun<F> {
    fn run(&mut self, task: &Task) -> Turn {
        (self.0)(task)
    }
}

pub(crate) fn unit(f: impl FnMut(&Task) -> Turn + Send + 'static) -> Box<dyn Unit> {
    Box::new(Fun(f))
}

pub(crate) fn scheduler(workers: usize) -> Scheduler {
    Scheduler::new(Config { workers, ..Config::default() })
}

const SOON: Duration = Duration::from_secs(10);

fn until(what: &str, mut f: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !f() {
        assert!(begin.elapsed() < SOON, "{what}");
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[test]
fn a_start_makes_threads_that_stay() {
    let s = scheduler(2);
    assert_eq!(s.native_threads(), 0);
    s.start().unwrap();
    assert_eq!(s.native_threads(), 2, "the timer and one that runs units");
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(s.native_threads(), 2);
    let (tx, rx) = mpsc::channel();
    let _ = s.spawn(unit(move |_| {
        tx.send(()).unwrap();
        Turn::Done
    }));
    rx.recv_timeout(SOON).unwrap();
}

#[test]
fn state_machine() {
    use crate::task::{OnPark, OnWake};
    let state = State::queued();
    assert_eq!(state.wake(), OnWake::Nothing);
    state.start();
    assert_eq!(state.park(), OnPark::Parked);
    assert_eq!(state.wake(), OnWake::Enqueue);
    state.start();
    assert_eq!(state.wake(), OnWake::Notified);
    assert_eq!(state.wake(), OnWake::Notified);
    assert_eq!(state.park(), OnPark::Enqueue);
    state.start();
    state.again();
    state.start();
    state.finish();
    assert_eq!(state.wake(), OnWake::Nothing);
    assert!(state.is_done());
}

#[test]
fn units_run_to_their_end() {
    let s = scheduler(2);
    let (tx, rx) = mpsc::channel();
    for i in 0..1000u32 {
        let tx = tx.clone();
        let mut left = 3;
        s.spawn(unit(move |_| {
            left -= 1;
            if left > 0 {
                return Turn::Again;
            }
            let _ = tx.send(i);
            Turn::Done
        }));
    }
    let mut got: Vec<u32> = (0..1000).map(|_| rx.recv_timeout(SOON).unwrap()).collect();
    got.sort_unstable();
    assert!(got.into_iter().eq(0..1000));
    until("all ended", || s.live_units() == 0);
    s.shutdown();
    until("threads ended", || s.native_threads() == 0);
}

#[test]
fn no_wake_is_lost() {
    // Outside threads wake a unit that parks as often as it can: each request has to be seen.
    for workers in [1, 2, 4] {
        let s = scheduler(workers);
        let asked = Arc::new(AtomicUsize::new(0));
        let seen = Arc::new(AtomicUsize::new(0));
        let (a, b) = (asked.clone(), seen.clone());
        let task = s.spawn(unit(move |_| {
            b.store(a.load(Ordering::SeqCst), Ordering::SeqCst);
            Turn::Park
        }));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..5000 {
                        let request = asked.fetch_add(1, Ordering::SeqCst) + 1;
                        task.wake();
                        if request.is_multiple_of(64) {
                            let begin = Instant::now();
                            while seen.load(Ordering::SeqCst) < request {
                                assert!(begin.elapsed() < SOON);
                                std::thread::yield_now();
                            }
                        }
                    }
                });
            }
        });
        until("the last request", || seen.load(Ordering::SeqCst) == 10_000);
        s.shutdown();
    }
}

#[test]
fn time_slices_let_others_run() {
    let s = scheduler(1);
    let stop = Arc::new(AtomicBool::new(false));
    let (a, word) = (stop.clone(), Arc::new(PollWord::new()));
    struct Busy(Arc<AtomicBool>, Arc<PollWord>);
    impl Unit for Busy {
        fn run(&mut self, _: &Task) -> Turn {
            while self.1.load() & poll::PREEMPT == 0 {
                std::hint::spin_loop();
            }
            if self.0.load(Ordering::SeqCst) { Turn::Done } else { Turn::Again }
        }
        fn poll_word(&self) -> Arc<PollWord> {
            self.1.clone()
        }
    }
    s.spawn(Box::new(Busy(a, word)));
    std::thread::sleep(Duration::from_millis(5));
    s.spawn(unit(move |_| {
        stop.store(true, Ordering::SeqCst);
        Turn::Done
    }));
    // The busy unit is alone after that and gets no PREEMPT: give it company.
    until("ended", || {
        s.spawn(unit(|_| Turn::Done));
        s.live_units() == 0
    });
    s.shutdown();
}

fn native_threads_of_process() -> usize {
    std::fs::read_dir("/proc/self/task")
        .unwrap()
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("comm")).ok())
        .filter(|name| name.starts_with("zakuro-many") || name.starts_with("zakuro-"))
        .count()
}

#[test]
fn parked_units_cost_no_thread() {
    let s = scheduler(2);
    let ran = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<Task> = (0..1000)
        .map(|_| {
            let ran = ran.clone();
            s.spawn(unit(move |_| {
                ran.fetch_add(1, Ordering::SeqCst);
                Turn::Park
            }))
        })
        .collect();
    until("all parked", || ran.load(Ordering::SeqCst) == 1000);
    assert!(s.native_threads() <= 2 + 1, "{}", s.native_threads());
    assert!(native_threads_of_process() >= s.native_threads());
    tasks.iter().for_each(Task::wake);
    until("all ran again", || ran.load(Ordering::SeqCst) == 2000);
    assert_eq!(s.live_units(), 1000);
    s.shutdown();
}

#[test]
fn blocking_frees_the_worker() {
    let s = scheduler(1);
    let (release, gate) = mpsc::channel::<()>();
    let (tx, rx) = mpsc::channel();
    let out = tx.clone();
    s.spawn(unit(move |_| {
        let _ = blocking(|| gate.recv());
        let _ = out.send("blocked");
        Turn::Done
    }));
    std::thread::sleep(Duration::from_millis(20));
    for _ in 0..3 {
        let tx = tx.clone();
        s.spawn(unit(move |_| {
            let _ = tx.send("other");
            Turn::Done
        }));
        assert_eq!(rx.recv_timeout(SOON), Ok("other"));
    }
    release.send(()).unwrap();
    assert_eq!(rx.recv_timeout(SOON), Ok("blocked"));
    s.shutdown();
}

#[test]
fn many_blocking_calls_keep_to_the_number_of_workers() {
    let s = scheduler(2);
    let running = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    for _ in 0..50 {
        let (running, most) = (running.clone(), most.clone());
        let mut left = 20;
        s.spawn(unit(move |_| {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::hint::black_box((0..2000).sum::<u64>());
            running.fetch_sub(1, Ordering::SeqCst);
            blocking(|| std::thread::sleep(Duration::from_micros(100)));
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            running.fetch_sub(1, Ordering::SeqCst);
            left -= 1;
            if left == 0 { Turn::Done } else { Turn::Again }
        }));
    }
    until("all ended", || s.live_units() == 0);
    assert!(most.load(Ordering::SeqCst) <= 2);
    until("spare threads retired", || s.native_threads() <= 2 + 1);
    s.shutdown();
}

#[test]
fn a_panic_in_blocking_gives_the_worker_back() {
    let s = scheduler(1);
    s.spawn(unit(|_| {
        let caught = std::panic::catch_unwind(|| blocking(|| panic!("in a library")));
        assert!(caught.is_err());
        Turn::Done
    }));
    until("ended", || s.live_units() == 0);
    s.shutdown();
}

#[test]
fn the_idle_callback_comes_exactly_when_everything_waits() {
    let s = scheduler(2);
    let idle = Arc::new(AtomicUsize::new(0));
    let count = idle.clone();
    s.on_idle(Box::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
    }));
    let timers = s.clone();
    let first = s.spawn(unit({
        let mut turn = 0;
        move |task| {
            turn += 1;
            match turn {
                1 => {
                    timers.timer(Instant::now() + Duration::from_millis(30), task);
                    Turn::Park
                }
                2 => {
                    blocking(|| std::thread::sleep(Duration::from_millis(30)));
                    Turn::Park
                }
                3 => Turn::Park,
                _ => Turn::Done,
            }
        }
    }));
    std::thread::sleep(Duration::from_millis(45));
    assert_eq!(idle.load(Ordering::SeqCst), 0, "a timer, then a blocking call is under way");
    until("idle", || idle.load(Ordering::SeqCst) == 1);
    std::thread::sleep(Duration::from_millis(30));
    assert_eq!(idle.load(Ordering::SeqCst), 1, "once per transition");
    let hold = s.hold();
    first.wake();
    std::thread::sleep(Duration::from_millis(30));
    assert_eq!(idle.load(Ordering::SeqCst), 1, "held");
    drop(hold);
    until("idle when the hold goes", || idle.load(Ordering::SeqCst) == 2);
    first.wake();
    until("ended", || s.live_units() == 0);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(idle.load(Ordering::SeqCst), 2, "no live unit: nobody waits");
    s.shutdown();
}

#[test]
fn a_unit_that_the_idle_callback_wakes_and_that_waits_again_at_once_is_reported_again() {
    for workers in 1..=2 {
        let s = scheduler(workers);
        let waiting = Arc::new(Mutex::new(None::<Task>));
        let woken = waiting.clone();
        s.on_idle(Box::new(move || {
            let task = woken.lock().clone();
            task.expect("the unit ran before").wake();
        }));
        let mut turn = 0;
        s.spawn(unit(move |task| {
            *waiting.lock() = Some(task.clone());
            turn += 1;
            if turn <= 100 { Turn::Park } else { Turn::Done }
        }));
        until("ended", || s.live_units() == 0);
        s.shutdown();
    }
}

#[test]
fn idle_is_never_reported_while_units_pass_a_token() {
    let s = scheduler(2);
    let idle = Arc::new(AtomicUsize::new(0));
    let count = idle.clone();
    s.on_idle(Box::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
    }));
    let tasks: Arc<Mutex<Vec<Task>>> = Arc::default();
    let rounds = Arc::new(AtomicUsize::new(0));
    let guard = tasks.lock();
    let mut made = Vec::new();
    for i in 0..4 {
        let (tasks, rounds, timers) = (tasks.clone(), rounds.clone(), s.clone());
        made.push(s.spawn(unit(move |me| {
            let n = rounds.load(Ordering::SeqCst);
            if n >= 20_000 {
                return Turn::Park;
            }
            if n % 4 == i && rounds.compare_exchange(n, n + 1, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                if n.is_multiple_of(500) {
                    timers.timer(Instant::now() + Duration::from_micros(300), &tasks.lock()[(i + 1) % 4]);
                } else {
                    tasks.lock()[(i + 1) % 4].wake();
                }
                if n + 1 == 20_000 {
                    tasks.lock().iter().for_each(Task::wake);
                }
            }
            let _ = me;
            Turn::Park
        })));
    }
    let mut guard = guard;
    *guard = made;
    guard.iter().for_each(Task::wake);
    drop(guard);
    until("idle at the end", || {
        let reports = idle.load(Ordering::SeqCst);
        let n = rounds.load(Ordering::SeqCst);
        assert!(reports == 0 || n == 20_000, "{reports} reports after {n} rounds");
        reports == 1
    });
    assert_eq!(rounds.load(Ordering::SeqCst), 20_000);
    s.shutdown();
}

#[test]
fn a_panicking_unit_ends_alone() {
    let s = scheduler(1);
    s.spawn(unit(|_| panic!("unit")));
    until("ended", || s.live_units() == 0);
    let (tx, rx) = mpsc::channel();
    s.spawn(unit(move |_| {
        let _ = tx.send(1);
        Turn::Done
    }));
    assert_eq!(rx.recv_timeout(SOON), Ok(1));
    s.shutdown();
}

#[test]
fn a_woken_unit_does_not_wait_for_a_long_turn() {
    let s = scheduler(2);
    let (tx, rx) = mpsc::channel();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let other = s.spawn(unit(move |_| {
        let _ = tx.send(());
        Turn::Park
    }));
    rx.recv_timeout(SOON).unwrap();
    s.spawn(unit(move |_| {
        other.wake();
        while !flag.load(Ordering::SeqCst) {
            std::hint::spin_loop();
        }
        Turn::Done
    }));
    rx.recv_timeout(SOON).unwrap();
    stop.store(true, Ordering::SeqCst);
    s.shutdown();
}

/// Burns CPU time in a turn without polling, until told to stop.
fn burn(stop: &AtomicBool) {
    while !stop.load(Ordering::SeqCst) {
        std::hint::spin_loop();
    }
}

/// All threads are asleep, and every worker is in its place.
fn at_rest(s: &Scheduler) {
    // A thread that has given its worker back looks once more for work, and takes it again for that.
    until("all rest", || s.inner().nobody_works() && s.inner().spinning.load(Ordering::SeqCst) == 0 && s.unrest().is_none());
}

#[test]
fn turns_that_do_not_end_keep_nobody_from_running() {
    for workers in [1, 2] {
        let s = scheduler(workers);
        let stop = Arc::new(AtomicBool::new(false));
        let lanes = Arc::new(Mutex::new(Vec::new()));
        for _ in 0..workers + 2 {
            let (stop, lanes) = (stop.clone(), lanes.clone());
            s.spawn(unit(move |_| {
                lanes.lock().push(native::current_index());
                burn(&stop);
                Turn::Done
            }));
        }
        until("all burn", || lanes.lock().len() == workers + 2);
        let timers = s.clone();
        let (tx, rx) = mpsc::channel();
        let mut left = 100;
        s.spawn(unit(move |task| {
            left -= 1;
            if left > 0 {
                timers.timer(Instant::now() + Duration::from_millis(1), task);
                return Turn::Park;
            }
            let _ = tx.send(native::current_index());
            Turn::Done
        }));
        lanes.lock().push(rx.recv_timeout(SOON).expect("a neighbour runs on"));
        lanes.lock().sort_unstable();
        lanes.lock().dedup();
        assert_eq!(lanes.lock().len(), workers + 3, "no two turns have the same worker");
        stop.store(true, Ordering::SeqCst);
        until("ended", || s.live_units() == 0);
        at_rest(&s);
        until("spare threads retired", || s.native_threads() <= workers + 1);
        s.shutdown();
    }
}

#[test]
fn what_a_turn_out_of_sight_wakes_and_spawns_runs_at_once() {
    let s = scheduler(1);
    let (tx, rx) = mpsc::channel();
    let ran = Arc::new(AtomicUsize::new(0));
    let parked = ran.clone();
    let other = s.spawn(unit(move |_| {
        parked.fetch_add(1, Ordering::SeqCst);
        Turn::Park
    }));
    until("it waits", || ran.load(Ordering::SeqCst) == 1);
    s.spawn(unit(move |me| {
        let s = me.scheduler();
        // Each is to run while this turn goes on: the first two replace the worker, the others find it replaced.
        for round in 2..6 {
            let begin = Instant::now();
            other.wake();
            while ran.load(Ordering::SeqCst) < round && begin.elapsed() < SOON {
                std::hint::spin_loop();
            }
            let told = Arc::new(AtomicBool::new(false));
            let tell = told.clone();
            s.spawn(unit(move |_| {
                tell.store(true, Ordering::SeqCst);
                Turn::Done
            }));
            while !told.load(Ordering::SeqCst) && begin.elapsed() < SOON {
                std::hint::spin_loop();
            }
        }
        // The call gives up what the turn has kept, and the turn goes on with a worker that counts.
        blocking(|| std::thread::sleep(Duration::from_millis(1)));
        let _ = tx.send(ran.load(Ordering::SeqCst));
        Turn::Done
    }));
    assert_eq!(rx.recv_timeout(SOON * 8), Ok(5));
    until("ended", || s.live_units() == 1);
    at_rest(&s);
    s.shutdown();
}

#[test]
fn a_turn_out_of_sight_is_no_idleness_and_its_end_is_noticed() {
    let s = scheduler(1);
    let idle = Arc::new(AtomicUsize::new(0));
    let count = idle.clone();
    s.on_idle(Box::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
    }));
    let stop = Arc::new(AtomicBool::new(false));
    let (began, told) = (Arc::new(AtomicBool::new(false)), stop.clone());
    let begins = began.clone();
    s.spawn(unit(move |_| {
        begins.store(true, Ordering::SeqCst);
        burn(&told);
        Turn::Park
    }));
    until("it burns", || began.load(Ordering::SeqCst));
    let (tx, rx) = mpsc::channel();
    s.spawn(unit(move |_| {
        let _ = tx.send(());
        Turn::Park
    }));
    rx.recv_timeout(SOON).expect("a neighbour runs");
    std::thread::sleep(Duration::from_millis(30));
    assert_eq!(idle.load(Ordering::SeqCst), 0, "one runs");
    stop.store(true, Ordering::SeqCst);
    until("idle", || idle.load(Ordering::SeqCst) == 1);
    at_rest(&s);
    s.shutdown();
}

#[test]
fn a_turn_out_of_sight_comes_back_when_it_polls() {
    let s = scheduler(1);
    struct Late(Arc<AtomicBool>, Arc<PollWord>, mpsc::Sender<std::thread::ThreadId>);
    impl Unit for Late {
        fn run(&mut self, _: &Task) -> Turn {
            let _ = self.2.send(std::thread::current().id());
            burn(&self.0);
            if self.1.load() & poll::PREEMPT != 0 { Turn::Again } else { Turn::Done }
        }
        fn poll_word(&self) -> Arc<PollWord> {
            self.1.clone()
        }
    }
    let (stop, (tx, rx)) = (Arc::new(AtomicBool::new(false)), mpsc::channel());
    s.spawn(Box::new(Late(stop.clone(), Arc::new(PollWord::new()), tx)));
    rx.recv_timeout(SOON).unwrap();
    let (tell, told) = mpsc::channel();
    let (again, held) = (stop.clone(), Arc::new(AtomicBool::new(false)));
    let hold = held.clone();
    s.spawn(unit(move |_| {
        let _ = tell.send(());
        // The late one comes back while this has the only worker: it waits in line.
        again.store(true, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(20));
        hold.store(true, Ordering::SeqCst);
        Turn::Done
    }));
    told.recv_timeout(SOON).expect("a neighbour runs");
    rx.recv_timeout(SOON).expect("it was asked, and goes on");
    assert!(held.load(Ordering::SeqCst), "one worker, one turn");
    until("ended", || s.live_units() == 0);
    at_rest(&s);
    s.shutdown();
}

#[test]
fn the_end_does_not_wait_for_a_turn_out_of_sight() {
    let s = scheduler(1);
    let (stop, (tx, rx)) = (Arc::new(AtomicBool::new(false)), mpsc::channel());
    let (told, begins) = (stop.clone(), tx.clone());
    s.spawn(unit(move |_| {
        let _ = begins.send(());
        burn(&told);
        Turn::Again
    }));
    rx.recv_timeout(SOON).unwrap();
    s.spawn(unit(move |_| {
        let _ = tx.send(());
        Turn::Done
    }));
    rx.recv_timeout(SOON).expect("a neighbour runs");
    s.shutdown();
    stop.store(true, Ordering::SeqCst);
    until("its thread ends, too", || s.native_threads() == 0);
}

#[test]
fn the_cpu_time_of_a_thread_is_known_to_others() {
    // SAFETY: no arguments.
    let tid = unsafe { libc::gettid() };
    let before = native::cpu_time_of(tid).unwrap();
    let seen = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            until("its time goes on", || native::cpu_time_of(tid).unwrap() > before);
            seen.store(true, Ordering::SeqCst);
        });
        while !seen.load(Ordering::SeqCst) && !watcher.is_finished() {
            std::hint::spin_loop();
        }
    });
    assert_eq!(native::cpu_time_of((1 << 22) + 1), None);
}
