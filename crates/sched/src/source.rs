//! Descriptors that stay registered: sockets, of which a unit may have ten thousand, each waited for by a thread of its own.
//!
//! A [`Source`] is registered edge-triggered once, in an epoll descriptor that the reactor's own one contains, and remembers what was reported. A wait is a
//! look at that and an entry in a list: no system call. A wake-up leaves a *note* in the unit's [`Mailbox`], so that the unit looks at the one thread that it
//! is for, and not at all that wait.
//!
//! Protocol of the owner: `clear` what it is about to try, make the call that doesn't wait, then `set` if there may be more; when the call says EAGAIN, `watch`.
//! An event that comes after `clear` sets the flag again, so none is lost; one for what the call has taken already costs a call that says EAGAIN.
//! Invariants: a waiter is counted in `Inner::outside` while it is in the list; no lock is held while a task is woken; the descriptor is registered until `close`,
//! which comes before the descriptor's own.
//! Rejected: one-shot registrations (two system calls a wait); wake-ups without a note (with n waiting threads each costs n looks: 10,000 connections stood still).

use std::collections::HashMap;
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use zakuro_base::sync::held::Mutex;

use crate::scheduler::{Inner, Scheduler};
use crate::task::Task;

/// There may be something to read (or to accept).
pub const READABLE: u32 = libc::EPOLLIN as u32;
/// There may be room to write (or the connection is made).
pub const WRITABLE: u32 = libc::EPOLLOUT as u32;
/// There may be urgent data.
pub const URGENT: u32 = libc::EPOLLPRI as u32;
const ENDS: u32 = (libc::EPOLLERR | libc::EPOLLHUP | libc::EPOLLRDHUP) as u32;
/// Events taken from the kernel at a time.
const BATCH: usize = 256;

/// Where wake-ups say whom of a unit they are for. Filled by anybody, emptied by the unit.
#[derive(Debug, Default)]
pub struct Mailbox {
    /// Written under the lock; read without it by the unit, which sees it set at the latest when the wake-up that follows each note has reached it.
    filled: AtomicBool,
    notes: Mutex<Vec<u32>>,
}

impl Mailbox {
    /// Before the unit is woken.
    pub fn leave(&self, note: u32) {
        let mut notes = self.notes.lock();
        notes.push(note);
        self.filled.store(true, Ordering::Release);
    }

    /// Moves the notes to the end of `to`.
    pub fn take(&self, to: &mut Vec<u32>) {
        if self.filled.load(Ordering::Acquire) {
            let mut notes = self.notes.lock();
            self.filled.store(false, Ordering::Relaxed);
            to.append(&mut notes);
        }
    }
}

/// Whom to wake.
#[derive(Clone, Debug)]
pub struct Waiter {
    pub task: Task,
    /// Left in the mailbox before the task is woken.
    pub note: Option<(Arc<Mailbox>, u32)>,
}

impl Waiter {
    pub(crate) fn leave_note(&self) {
        if let Some((mailbox, note)) = &self.note {
            mailbox.leave(*note);
        }
    }

    pub(crate) fn wake(&self) {
        self.leave_note();
        self.task.wake();
    }
}

impl From<&Task> for Waiter {
    fn from(task: &Task) -> Waiter {
        Waiter { task: task.clone(), note: None }
    }
}

/// Names an entry in a source's list of waiters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(u64);

#[derive(Default)]
struct State {
    /// Reported and not cleared since.
    ready: u32,
    /// An error or the end of the other side was reported: a short read is not the last one that has a result.
    ended: bool,
    /// Urgent data was reported: a read stops at its mark, so that a short one is not the last, either.
    marked: bool,
    closed: bool,
    /// What the registration asks for; 0: not registered.
    armed: u32,
    waiters: Vec<(Ticket, u32, Waiter)>,
    tickets: u64,
}

struct Shared {
    fd: RawFd,
    number: u64,
    /// Short; taken by the owner and by the reactor, around epoll_ctl calls too.
    state: Mutex<State>,
}

/// The sources of one scheduler.
pub(crate) struct Sources {
    pub(crate) epoll: RawFd,
    next: AtomicU64,
    /// Taken after no other lock: to register, to close, once for a batch of events.
    by_number: Mutex<HashMap<u64, Arc<Shared>>>,
}

impl Sources {
    pub(crate) fn new() -> io::Result<Sources> {
        // SAFETY: a plain system call; the result is checked.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if epoll < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Sources { epoll, next: AtomicU64::new(0), by_number: Mutex::default() })
    }

    /// In the child of a fork, whose epoll descriptor is new: nothing is registered, nobody waits.
    pub(crate) fn start_over(&self) {
        for source in self.by_number.lock().values() {
            let mut state = source.state.lock();
            state.armed = 0;
            std::mem::forget(std::mem::take(&mut state.waiters));
        }
    }

    /// Takes what the kernel has to report, and wakes whom it concerns. Called by the reactor.
    pub(crate) fn deliver(&self, inner: &Inner) {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; BATCH];
        loop {
            // SAFETY: the kernel writes at most BATCH entries.
            let count = unsafe { libc::epoll_wait(self.epoll, events.as_mut_ptr(), BATCH as i32, 0) }.max(0) as usize;
            let mut found: Vec<(Arc<Shared>, u32)> = Vec::with_capacity(count);
            {
                let table = self.by_number.lock();
                found.extend(events[..count].iter().filter_map(|e| Some((table.get(&{ e.u64 })?.clone(), e.events))));
            }
            // One wake-up for all that a unit gets in a row.
            let (mut last, mut woken): (Option<Task>, usize) = (None, 0);
            for (source, bits) in found {
                for waiter in source.reported(bits) {
                    woken += 1;
                    waiter.leave_note();
                    if last.as_ref() != Some(&waiter.task)
                        && let Some(task) = last.replace(waiter.task)
                    {
                        task.wake();
                    }
                }
            }
            if let Some(task) = last {
                task.wake();
            }
            if woken > 0 {
                inner.outside_ended(woken);
            }
            if count < BATCH {
                return;
            }
        }
    }
}

impl Drop for Sources {
    fn drop(&mut self) {
        // SAFETY: our own descriptor; nobody waits on it any more.
        unsafe { libc::close(self.epoll) };
    }
}

impl Shared {
    fn reported(&self, bits: u32) -> Vec<Waiter> {
        let mut state = self.state.lock();
        state.marked |= bits & URGENT != 0;
        let mut now = bits & state.armed;
        if bits & ENDS != 0 {
            // Errors and hang-ups concern readers and writers alike.
            state.ended = true;
            now |= READABLE | WRITABLE;
        }
        state.ready |= now;
        let mut woken = Vec::new();
        let mut i = 0;
        while i < state.waiters.len() {
            if state.waiters[i].1 & now != 0 {
                woken.push(state.waiters.remove(i).2);
            } else {
                i += 1;
            }
        }
        woken
    }
}

/// A descriptor that the reactor watches until [`Source::close`]: see the module.
pub struct Source {
    shared: Arc<Shared>,
    scheduler: Scheduler,
}

impl Scheduler {
    /// The descriptor must stay open until the source is closed.
    pub fn source(&self, fd: RawFd) -> Source {
        let number = self.inner().reactor.sources.next.fetch_add(1, Ordering::Relaxed);
        Source { shared: Arc::new(Shared { fd, number, state: Mutex::default() }), scheduler: self.clone() }
    }
}

impl Source {
    /// Whether a call may succeed; true of a closed source.
    pub fn is_ready(&self, events: u32) -> bool {
        let state = self.shared.state.lock();
        state.closed || state.ready & events != 0
    }

    /// Forgets what was reported: before a try.
    pub fn clear(&self, events: u32) {
        self.shared.state.lock().ready &= !events;
    }

    /// A try gave something, and the next one may too. `drained`: the kernel has said that it has no more, which holds unless the other side has ended or sent
    /// urgent data.
    pub fn set(&self, events: u32, drained: bool) {
        let mut state = self.shared.state.lock();
        if !drained || state.ended || state.marked {
            state.ready |= events;
        }
    }

    /// Has the waiter woken at the next event. None: there is no need to wait. A descriptor that can't be waited for never needs it.
    pub fn watch(&self, events: u32, waiter: Waiter) -> io::Result<Option<Ticket>> {
        let inner = self.scheduler.inner();
        {
            let mut state = self.shared.state.lock();
            if state.closed || state.ready & events != 0 {
                return Ok(None);
            }
            state.tickets += 1;
            let ticket = Ticket(state.tickets);
            inner.outside.fetch_add(1, Ordering::SeqCst);
            state.waiters.push((ticket, events, waiter));
            if state.armed & events == events {
                return Ok(Some(ticket));
            }
            if let Err(e) = self.arm(&mut state, events) {
                state.waiters.pop();
                drop(state);
                inner.outside_ended(1);
                return if e.raw_os_error() == Some(libc::EPERM) { Ok(None) } else { Err(e) };
            }
            Ok(Some(ticket))
        }
        .inspect(|_| drop(inner.reactor.start()))
    }

    fn arm(&self, state: &mut State, events: u32) -> io::Result<()> {
        let sources = &self.scheduler.inner().reactor.sources;
        let first = state.armed == 0;
        if first {
            sources.by_number.lock().insert(self.shared.number, self.shared.clone());
        }
        let all = state.armed | events;
        // Readers are told of urgent data, too: see `State::marked`.
        let marks = if all & READABLE != 0 { URGENT } else { 0 };
        let mut event = libc::epoll_event { events: all | marks | (libc::EPOLLRDHUP | libc::EPOLLET) as u32, u64: self.shared.number };
        let operation = if first { libc::EPOLL_CTL_ADD } else { libc::EPOLL_CTL_MOD };
        // SAFETY: reads the event; descriptors are checked by the kernel.
        if unsafe { libc::epoll_ctl(sources.epoll, operation, self.shared.fd, &mut event) } != 0 {
            let error = io::Error::last_os_error();
            if first {
                sources.by_number.lock().remove(&self.shared.number);
            }
            return Err(error);
        }
        state.armed = all;
        Ok(())
    }

    /// Takes a waiter back. False: it was woken.
    pub fn unwatch(&self, ticket: Ticket) -> bool {
        let gone = {
            let mut state = self.shared.state.lock();
            let at = state.waiters.iter().position(|(t, _, _)| *t == ticket);
            at.map(|at| state.waiters.remove(at))
        };
        if gone.is_some() {
            self.scheduler.inner().outside_ended(1);
        }
        gone.is_some()
    }

    /// Ends the registration and wakes all who wait. Called before the descriptor is closed (a dup of it would keep the registration alive).
    pub fn close(&self) {
        let inner = self.scheduler.inner();
        let waiters = {
            let mut state = self.shared.state.lock();
            state.closed = true;
            if std::mem::take(&mut state.armed) != 0 {
                let sources = &inner.reactor.sources;
                // SAFETY: as in `arm`.
                unsafe { libc::epoll_ctl(sources.epoll, libc::EPOLL_CTL_DEL, self.shared.fd, std::ptr::null_mut()) };
                sources.by_number.lock().remove(&self.shared.number);
            }
            std::mem::take(&mut state.waiters)
        };
        for (_, _, waiter) in &waiters {
            waiter.wake();
        }
        if !waiters.is_empty() {
            inner.outside_ended(waiters.len());
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "source_tests.rs"]
mod tests;
