use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::sync::mpsc;
use std::time::Duration;

use crate::Turn;
use crate::scheduler::tests::{scheduler, unit};

use super::*;

const SOON: Duration = Duration::from_secs(10);

fn pair() -> (std::os::unix::net::UnixStream, std::os::unix::net::UnixStream) {
    std::os::unix::net::UnixStream::pair().unwrap()
}

/// A task that has told that it ran, and parked; it does so again whenever it is woken.
fn parked(s: &Scheduler) -> (Task, mpsc::Receiver<()>) {
    let (tx, rx) = mpsc::channel();
    let task = s.spawn(unit(move |_| {
        let _ = tx.send(());
        Turn::Park
    }));
    rx.recv_timeout(SOON).unwrap();
    (task, rx)
}

/// Three bytes are read of what a task waits for; the stream's source.
fn after_a_short_read(s: &Scheduler, a: &mut (impl Read + AsRawFd)) -> Source {
    let (task, rx) = parked(s);
    let source = s.source(a.as_raw_fd());
    assert!(source.watch(READABLE, (&task).into()).unwrap().is_some());
    rx.recv_timeout(SOON).unwrap();
    source.clear(READABLE);
    assert_eq!(a.read(&mut [0; 8]).unwrap(), 3);
    source.set(READABLE, true);
    source
}

#[test]
fn an_event_leaves_its_note_and_wakes() {
    let s = scheduler(1);
    let (a, mut b) = pair();
    let (task, rx) = parked(&s);
    let mailbox = Arc::new(Mailbox::default());
    let source = s.source(a.as_raw_fd());
    let waiter = Waiter { task: task.clone(), note: Some((mailbox.clone(), 7)) };
    for round in 0..3 {
        assert!(!source.is_ready(READABLE));
        assert!(source.watch(READABLE, waiter.clone()).unwrap().is_some());
        b.write_all(b"x").unwrap();
        rx.recv_timeout(SOON).unwrap();
        let mut notes = Vec::new();
        mailbox.take(&mut notes);
        assert_eq!(notes, [7], "round {round}");
        assert!(source.is_ready(READABLE));
        source.clear(READABLE);
        assert_eq!((&a).read(&mut [0; 8]).unwrap(), 1);
        source.set(READABLE, true);
    }
    s.shutdown();
}

#[test]
fn what_is_there_already_is_reported_at_the_first_watch() {
    let s = scheduler(1);
    let (a, mut b) = pair();
    b.write_all(b"early").unwrap();
    let (task, rx) = parked(&s);
    let source = s.source(a.as_raw_fd());
    assert!(source.watch(READABLE, (&task).into()).unwrap().is_some());
    rx.recv_timeout(SOON).unwrap();
    assert!(source.watch(READABLE, (&task).into()).unwrap().is_none());
    s.shutdown();
}

#[test]
fn a_short_read_is_the_last_unless_the_other_side_has_ended() {
    let s = scheduler(1);
    let (mut a, mut b) = pair();
    b.write_all(b"bye").unwrap();
    drop(b);
    let source = after_a_short_read(&s, &mut a);
    assert!(source.is_ready(READABLE), "the end of the stream is still to be read");
    s.shutdown();
}

#[test]
fn a_short_read_that_stops_at_urgent_data_is_not_the_last() {
    let s = scheduler(1);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let b = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut a = listener.accept().unwrap().0;
    a.set_nonblocking(true).unwrap();
    let on: libc::c_int = 1;
    // SAFETY: reads an int.
    let result =
        unsafe { libc::setsockopt(a.as_raw_fd(), libc::SOL_SOCKET, libc::SO_OOBINLINE, (&raw const on).cast(), size_of_val(&on) as u32) };
    assert_eq!(result, 0);
    // SAFETY: sends four bytes.
    assert_eq!(unsafe { libc::send(b.as_raw_fd(), b"abcd".as_ptr().cast(), 4, libc::MSG_OOB) }, 4);
    let source = after_a_short_read(&s, &mut a);
    assert!(source.is_ready(READABLE), "the urgent byte is still to be read");
    s.shutdown();
}

#[test]
fn closing_wakes_and_unwatching_takes_back() {
    let s = scheduler(1);
    let (a, _b) = pair();
    let (task, rx) = parked(&s);
    let outside = || s.inner().outside.load(Ordering::SeqCst);
    let before = outside();
    let source = s.source(a.as_raw_fd());
    let ticket = source.watch(READABLE, (&task).into()).unwrap().unwrap();
    assert_eq!(outside(), before + 1);
    assert!(source.unwatch(ticket));
    assert!(!source.unwatch(ticket));
    assert_eq!(outside(), before);
    source.watch(READABLE | WRITABLE, (&task).into()).unwrap();
    source.close();
    rx.recv_timeout(SOON).unwrap();
    assert!(source.is_ready(READABLE));
    assert!(s.inner().reactor.sources.by_number.lock().is_empty());
    s.shutdown();
}
