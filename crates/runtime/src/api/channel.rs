//! Channels between the host's native threads and VMs.
//!
//! A VM waits for a channel by its scheduler task. A native thread of the host has no task, so it borrows one: a unit that does nothing but
//! wake the thread ([`Stand`]).

use super::error::Error;
use super::value::{FromRuby, IntoRuby};
use crate::Process;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use zakuro_channel::{Recv, Send as Sent, TryRecv, Waiter};
use zakuro_sched::{Scheduler, Task, Turn, Unit};
use zakuro_vm::transfer::Envelope;

/// A queue of messages. Clones are the same channel; given to a VM it is a `RubyVM::Channel` there.
#[derive(Clone)]
pub struct Channel(pub(super) zakuro_channel::Channel<Envelope>, pub(super) Arc<Process>);

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Channel({}, {} queued{})", self.0.id(), self.0.len(), if self.0.is_closed() { ", closed" } else { "" })
    }
}
impl PartialEq for Channel {
    fn eq(&self, other: &Channel) -> bool {
        self.0.same(&other.0)
    }
}

/// The task that a waiting native thread borrows.
struct Stand {
    rung: Mutex<(bool, bool)>,
    bell: Condvar,
}

/// The unit behind it: each wake-up rings the bell.
struct Bell(Arc<Stand>);

impl Unit for Bell {
    fn run(&mut self, _task: &Task) -> Turn {
        let mut rung = self.0.rung.lock().unwrap_or_else(|e| e.into_inner());
        rung.0 = true;
        self.0.bell.notify_all();
        if rung.1 { Turn::Done } else { Turn::Park }
    }
}

/// Sends the unit away when the wait is over.
struct Borrowed {
    stand: Arc<Stand>,
    task: Task,
}

impl Borrowed {
    fn new(scheduler: &Scheduler) -> Borrowed {
        let stand = Arc::new(Stand { rung: Mutex::new((false, false)), bell: Condvar::new() });
        let task = scheduler.spawn(Box::new(Bell(stand.clone())));
        Borrowed { stand, task }
    }
    /// Waits for the bell. False: the time is over.
    fn wait(&self, until: Option<Instant>) -> bool {
        let mut rung = self.stand.rung.lock().unwrap_or_else(|e| e.into_inner());
        while !std::mem::take(&mut rung.0) {
            rung = match until {
                None => self.stand.bell.wait(rung).unwrap_or_else(|e| e.into_inner()),
                Some(at) => {
                    let left = at.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    self.stand.bell.wait_timeout(rung, left).unwrap_or_else(|e| e.into_inner()).0
                }
            };
        }
        true
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        self.stand.rung.lock().unwrap_or_else(|e| e.into_inner()).1 = true;
        self.task.wake();
    }
}

impl Channel {
    /// A channel without a bound.
    pub fn new(process: &Arc<Process>) -> Channel {
        Channel(zakuro_channel::Channel::unbounded(), process.clone())
    }
    /// A channel that holds at most `messages` (at least 1); then senders wait.
    pub fn bounded(process: &Arc<Process>, messages: usize) -> Channel {
        Channel(zakuro_channel::Channel::bounded(messages.max(1)), process.clone())
    }
    /// Sends a value; waits while the channel is full. [`Error::Closed`] when it is closed.
    pub fn send(&self, value: impl IntoRuby) -> Result<(), Error> {
        self.send_until(value, None)
    }
    /// The same; [`Error::TimedOut`] when there was no room in time.
    pub fn send_timeout(&self, value: impl IntoRuby, timeout: Duration) -> Result<(), Error> {
        self.send_until(value, Instant::now().checked_add(timeout))
    }
    fn send_until(&self, value: impl IntoRuby, until: Option<Instant>) -> Result<(), Error> {
        let mut message = self.1.translators.pack(&self.1, value.into_ruby())?;
        message = match self.0.try_send(message) {
            Ok(()) => return Ok(()),
            Err(zakuro_channel::TrySendError::Closed(_)) => return Err(Error::Closed),
            Err(zakuro_channel::TrySendError::Full(m)) => m,
        };
        let borrowed = Borrowed::new(&self.1.scheduler);
        let waiter = Waiter::new(&borrowed.task);
        loop {
            if !waiter.is_waiting() {
                message = match self.0.send_or_register(message, &waiter) {
                    Sent::Sent => return Ok(()),
                    Sent::Closed(_) => return Err(Error::Closed),
                    Sent::Registered(m) => m,
                };
            }
            if !borrowed.wait(until) {
                self.0.unregister(&waiter);
                return Err(Error::TimedOut);
            }
        }
    }
    /// The next message; waits for one. [`Error::Closed`] when the channel is closed and empty.
    pub fn recv<T: FromRuby>(&self) -> Result<T, Error> {
        self.recv_until(None)
    }
    /// The same; [`Error::TimedOut`] when none came in time.
    pub fn recv_timeout<T: FromRuby>(&self, timeout: Duration) -> Result<T, Error> {
        self.recv_until(Instant::now().checked_add(timeout))
    }
    /// The next message if there is one.
    pub fn try_recv<T: FromRuby>(&self) -> Result<Option<T>, Error> {
        match self.0.try_recv() {
            TryRecv::Got(m) => T::from_ruby(self.1.translators.open(&self.1, m)?).map(Some),
            TryRecv::Empty => Ok(None),
            TryRecv::Closed => Err(Error::Closed),
        }
    }
    fn recv_until<T: FromRuby>(&self, until: Option<Instant>) -> Result<T, Error> {
        let message = match self.0.try_recv() {
            TryRecv::Got(m) => m,
            TryRecv::Closed => return Err(Error::Closed),
            TryRecv::Empty => self.wait(until)?,
        };
        T::from_ruby(self.1.translators.open(&self.1, message)?)
    }
    fn wait(&self, until: Option<Instant>) -> Result<Envelope, Error> {
        let borrowed = Borrowed::new(&self.1.scheduler);
        let waiter = Waiter::new(&borrowed.task);
        loop {
            if !waiter.is_waiting() {
                match self.0.recv_or_register(&waiter) {
                    Recv::Got(m) => return Ok(m),
                    Recv::Closed => return Err(Error::Closed),
                    Recv::Registered => {}
                }
            }
            if !borrowed.wait(until) {
                self.0.unregister(&waiter);
                return Err(Error::TimedOut);
            }
        }
    }
    /// Closes it: what is queued can still be received.
    pub fn close(&self) {
        self.0.close();
    }
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
    /// Messages in the queue.
    pub fn len(&self) -> usize {
        self.0.len()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
