use std::os::fd::AsRawFd;
use std::sync::mpsc;

use crate::Turn;
use crate::scheduler::tests::{scheduler, unit};

use super::*;

const SOON: Duration = Duration::from_secs(10);

#[test]
fn timers_fire_in_order_and_not_early() {
    let s = scheduler(2);
    let (tx, rx) = mpsc::channel();
    let begin = Instant::now();
    for millis in [30u64, 5, 15, 1] {
        let (tx, timers) = (tx.clone(), s.clone());
        let mut armed = false;
        s.spawn(unit(move |task| {
            let at = begin + Duration::from_millis(millis);
            if !armed {
                armed = true;
                timers.timer(at, task);
                return Turn::Park;
            }
            assert!(Instant::now() >= at);
            let _ = tx.send(millis);
            Turn::Done
        }));
    }
    let got: Vec<u64> = (0..4).map(|_| rx.recv_timeout(SOON).unwrap()).collect();
    assert_eq!(got, [1, 5, 15, 30]);
    s.shutdown();
}

#[test]
fn cancelled_timers_do_not_fire() {
    let s = scheduler(1);
    let (tx, rx) = mpsc::channel();
    let task = s.spawn(unit(move |_| {
        let _ = tx.send(());
        Turn::Park
    }));
    rx.recv_timeout(SOON).unwrap();
    let timers: Vec<TimerId> = (0..500).map(|i| s.timer(Instant::now() + Duration::from_millis(50 + i % 7), &task)).collect();
    assert!(timers.iter().all(|&timer| s.cancel(timer)));
    assert!(!s.cancel(timers[0]));
    assert!(rx.recv_timeout(Duration::from_millis(90)).is_err());
    assert!(s.inner().reactor.timers.lock().heap.len() < 500);
    s.shutdown();
}

#[test]
fn readiness_wakes_once_for_each_watch() {
    let s = scheduler(1);
    let (a, b) = std::os::unix::net::UnixStream::pair().unwrap();
    let (tx, rx) = mpsc::channel();
    let task = s.spawn(unit(move |_| {
        let _ = tx.send(());
        Turn::Park
    }));
    rx.recv_timeout(SOON).unwrap();
    for _ in 0..3 {
        s.watch(a.as_raw_fd(), true, false, &task).unwrap();
        assert!(rx.recv_timeout(Duration::from_millis(20)).is_err());
        std::io::Write::write_all(&mut &b, b"x").unwrap();
        rx.recv_timeout(SOON).unwrap();
        std::io::Read::read_exact(&mut &a, &mut [0]).unwrap();
    }
    s.watch(a.as_raw_fd(), true, false, &task).unwrap();
    s.watch(a.as_raw_fd(), false, true, &task).unwrap();
    rx.recv_timeout(SOON).unwrap();
    drop(b);
    rx.recv_timeout(SOON).unwrap();
    let (c, _d) = std::os::unix::net::UnixStream::pair().unwrap();
    let watch = s.watch(c.as_raw_fd(), true, false, &task).unwrap();
    assert!(s.unwatch(watch) && !s.unwatch(watch));
    // Watches are counted out after their wake-ups.
    let begin = Instant::now();
    while s.inner().outside.load(Ordering::SeqCst) > 0 && begin.elapsed() < SOON {
        std::thread::yield_now();
    }
    assert_eq!(s.inner().outside.load(Ordering::SeqCst), 0);
    s.shutdown();
}

#[test]
fn regular_files_are_ready_and_closed_ones_an_error() {
    let s = scheduler(1);
    let (tx, rx) = mpsc::channel();
    let task = s.spawn(unit(move |_| {
        let _ = tx.send(());
        Turn::Park
    }));
    rx.recv_timeout(SOON).unwrap();
    let file = std::fs::File::open("/proc/self/exe").unwrap();
    s.watch(file.as_raw_fd(), true, false, &task).unwrap();
    rx.recv_timeout(SOON).unwrap();
    assert!(s.watch(-1, true, false, &task).is_err());
    s.shutdown();
}

#[test]
fn the_end_of_a_child_wakes() {
    let s = scheduler(1);
    let (tx, rx) = mpsc::channel();
    let task = s.spawn(unit(move |_| {
        let _ = tx.send(());
        Turn::Park
    }));
    rx.recv_timeout(SOON).unwrap();
    let mut child = std::process::Command::new("sleep").arg("0.05").spawn().unwrap();
    s.watch_pid(child.id() as i32, &task).unwrap();
    rx.recv_timeout(SOON).unwrap();
    assert!(child.try_wait().unwrap().is_some());
    assert!(s.watch_pid(child.id() as i32, &task).is_err());
    s.shutdown();
}
