//! Where a VM's time goes: what it does while it has a worker, what it waits for, and how long it stood in a run queue.
//!
//! An [`Account`] belongs to one VM and outlives it; the [`Book`] has the accounts of all VMs and what is known of their channels. Neither exists unless the process was asked to count
//! ([`zakuro_base::Insight`]): then a VM has no [`Counting`], and each place that would count tests that and goes on.
//!
//! The scheduler notes when a task was queued, began and ended its turn ([`zakuro_sched::clock`]); the VM adds that up when its next turn begins ([`Counting::turn_begins`]), and
//! reads the clock itself only where it changes what it does ([`Cx::begin_activity`]). So a turn costs two readings of the clock, a wake-up one.
//!
//! Invariants: all numbers of an account are written by the worker whose turn its VM has, without read-modify-write; anybody may read them, and sees each as it was a moment ago. What was not noted yet is known from
//! `since` and the scheduler's times: `since` is written before the sums that it moves something to, so whoever reads in between finds less, never more, and [`Account::told`] keeps what was told from falling.
//! Locks are taken when something is met for the first time (a channel, a place where threads wait), never for a count.
//! Rejected: counters in one place of the process (a cache line that all cores write); reading the clock at each message (a fifth of a message's time).

mod counting;
mod figures;
mod profile;
mod trace;

pub use counting::Counting;
pub(crate) use counting::{Phase, ThreadTimes};
pub use figures::{Figures, Now, Timeline, group_of};
pub use profile::{FrameKind, Profile, ProfileFrame};
pub use trace::{Event, EventKind, TraceBuffer};

use crate::lineage::Identity;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use zakuro_base::sync::held::Mutex;
use zakuro_channel::{Bounds, Channel, Record};
use zakuro_sched::Task;
use zakuro_sched::clock::{Clock, add, ticks};

use crate::transfer::Envelope;

/// What a VM does in its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Activity {
    Run,
    Collect,
    /// Makes a message.
    Pack,
    /// Makes a message's objects.
    Open,
    /// Makes an image of its program state for a new VM, or copies what it needs of the one that it grew from.
    Image,
    Compile,
    /// Runs the text of a file that is required or loaded.
    Load,
}

impl Activity {
    pub const ALL: [Activity; 7] =
        [Activity::Run, Activity::Collect, Activity::Pack, Activity::Open, Activity::Image, Activity::Compile, Activity::Load];
    pub fn name(self) -> &'static str {
        ["run", "collect", "pack", "open", "image", "compile", "load"][self as usize]
    }
}

/// What a VM or thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[repr(u8)]
pub enum WaitKind {
    Other,
    /// A message in a channel.
    Receive,
    /// Room in a channel.
    Send,
    /// A message in one of several.
    Select,
    /// The end of a VM.
    Vm,
    /// A Mutex or Monitor.
    Lock,
    /// A ConditionVariable.
    Condition,
    /// A Thread::Queue.
    Queue,
    /// The end of a thread.
    Thread,
    Sleep,
    /// A socket, pipe, file or process.
    Descriptor,
    /// A system call or foreign function that keeps its native thread.
    Call,
}

impl WaitKind {
    pub const ALL: [WaitKind; 12] = [
        WaitKind::Other,
        WaitKind::Receive,
        WaitKind::Send,
        WaitKind::Select,
        WaitKind::Vm,
        WaitKind::Lock,
        WaitKind::Condition,
        WaitKind::Queue,
        WaitKind::Thread,
        WaitKind::Sleep,
        WaitKind::Descriptor,
        WaitKind::Call,
    ];
    pub fn name(self) -> &'static str {
        ["other", "receive", "send", "select", "vm", "lock", "condition", "queue", "thread", "sleep", "descriptor", "call"][self as usize]
    }
    fn of(n: u8) -> WaitKind {
        WaitKind::ALL[n as usize % WaitKind::ALL.len()]
    }
}

pub(crate) const ACTIVITIES: usize = Activity::ALL.len();
pub(crate) const WAITS: usize = WaitKind::ALL.len();

type Ticks<const N: usize> = [AtomicU64; N];

fn load<const N: usize>(list: &Ticks<N>) -> [u64; N] {
    std::array::from_fn(|i| list[i].load(Relaxed))
}

/// Accounts that are kept apart; of more VMs those that have ended are counted together.
const KEPT: usize = 20_000;
/// Channels that are kept apart, and those of one VM.
const CHANNELS: usize = 65_536;
pub(crate) const USES: usize = 256;
/// Places of one VM where threads wait for locks and queues.
pub(crate) const PLACES: usize = 128;

/// What a process that counts has besides: set at its start, but for `tracing`.
#[derive(Debug, Default)]
pub struct Switches {
    /// Events are kept. Set at the start or for a while by the main VM; read by all.
    pub tracing: AtomicBool,
    /// Samples are taken.
    pub profiling: bool,
    /// Of allocations, not of time.
    pub allocations: bool,
}

/// What a VM sends to and receives from one channel.
#[derive(Debug)]
pub struct ChannelUse {
    /// 0: those that were made room of when there were more than [`USES`], the ones that had been used least.
    pub channel: u64,
    pub sent: AtomicU64,
    pub bytes: AtomicU64,
    pub received: AtomicU64,
    /// Times that it waited, and for how long, in ticks.
    pub send_waits: AtomicU64,
    pub send_ticks: AtomicU64,
    pub receive_waits: AtomicU64,
    pub receive_ticks: AtomicU64,
}

impl ChannelUse {
    /// How often it was used.
    fn uses(&self) -> u64 {
        [&self.sent, &self.received, &self.send_waits, &self.receive_waits].map(|n| n.load(Relaxed)).iter().sum()
    }
    /// What another one has counted.
    fn take_over(&self, other: &ChannelUse) {
        let pairs = [
            (&self.sent, &other.sent),
            (&self.bytes, &other.bytes),
            (&self.received, &other.received),
            (&self.send_waits, &other.send_waits),
            (&self.send_ticks, &other.send_ticks),
            (&self.receive_waits, &other.receive_waits),
            (&self.receive_ticks, &other.receive_ticks),
        ];
        pairs.iter().for_each(|(mine, theirs)| add(mine, theirs.load(Relaxed)));
    }
    fn of(channel: u64) -> ChannelUse {
        let zero = || AtomicU64::new(0);
        ChannelUse {
            channel,
            sent: zero(),
            bytes: zero(),
            received: zero(),
            send_waits: zero(),
            send_ticks: zero(),
            receive_waits: zero(),
            receive_ticks: zero(),
        }
    }
}

/// A lock or queue that threads waited for.
#[derive(Debug)]
pub struct WaitPlace {
    pub kind: WaitKind,
    /// File and line where a thread first waited for it.
    pub place: String,
    pub waits: AtomicU64,
    pub ticks: AtomicU64,
}

/// What is counted of one VM; see the module.
pub struct Account {
    pub identity: Arc<Identity>,
    pub switches: Arc<Switches>,
    task: OnceLock<Task>,
    /// When the VM was started.
    pub opened: u64,
    /// When its first turn began; 0: not yet.
    began: AtomicU64,
    /// When it ended; 0: not yet.
    closed: AtomicU64,
    /// What it does, or did when its turn ended, and since when.
    activity: AtomicU8,
    since: AtomicU64,
    /// What the task had been blocked for when that was last counted.
    blocked: AtomicU64,
    /// What it waits for while it is parked, and the channel.
    wait: AtomicU8,
    wait_channel: AtomicU64,
    active: Ticks<ACTIVITIES>,
    waits: Ticks<WAITS>,
    wait_counts: Ticks<WAITS>,
    ready: AtomicU64,
    turns: AtomicU64,
    /// What it had run (in ticks) when it first received a message; u64::MAX: it has not.
    first_receive: AtomicU64,
    messages_received: AtomicU64,
    /// The longest wait for a message: when it began, and how long it took.
    longest_from: AtomicU64,
    longest: AtomicU64,
    collections: AtomicU64,
    /// What the heap used after the last collection; 0: there was none.
    pub heap_bytes: AtomicU64,
    /// Of all threads, once the VM has more than one.
    thread_waits: Ticks<WAITS>,
    thread_run: AtomicU64,
    thread_ready: AtomicU64,
    threads: AtomicU64,
    /// Threads that wait for a lock, since when there is one, and how long there were some before.
    lock_waiters: AtomicU64,
    lock_since: AtomicU64,
    lock_ticks: AtomicU64,
    timeline: figures::Bins,
    channels: Mutex<Vec<Arc<ChannelUse>>>,
    places: Mutex<Vec<Arc<WaitPlace>>>,
    pub trace: TraceBuffer,
    /// Locked by the VM for each sample, and by who reads it.
    pub profile: Option<Mutex<Profile>>,
    /// What was told of each figure ([`Account::told`]). Locked by those who ask.
    told: Mutex<Told>,
}

impl Account {
    fn new(identity: Arc<Identity>, switches: Arc<Switches>, first: u64) -> Account {
        let zero = || AtomicU64::new(0);
        let opened = ticks();
        Account {
            identity,
            profile: switches.profiling.then(Mutex::default),
            switches,
            task: OnceLock::new(),
            opened,
            began: zero(),
            closed: zero(),
            activity: AtomicU8::new(Activity::Run as u8),
            since: AtomicU64::new(opened),
            blocked: zero(),
            wait: AtomicU8::new(0),
            wait_channel: zero(),
            active: Default::default(),
            waits: Default::default(),
            wait_counts: Default::default(),
            ready: zero(),
            turns: zero(),
            first_receive: AtomicU64::new(u64::MAX),
            messages_received: zero(),
            longest_from: zero(),
            longest: zero(),
            collections: zero(),
            heap_bytes: zero(),
            thread_waits: Default::default(),
            thread_run: zero(),
            thread_ready: zero(),
            threads: zero(),
            lock_waiters: zero(),
            lock_since: zero(),
            lock_ticks: zero(),
            timeline: figures::Bins::new(first),
            channels: Mutex::new(Vec::new()),
            places: Mutex::new(Vec::new()),
            trace: TraceBuffer::default(),
            told: Mutex::default(),
        }
    }
    /// Figures that somebody computed, in an order that is always the same, as they are told: see [`Told`]. `ended`: the VM had ended when they were read.
    pub fn told(&self, figures: &mut [u64], ended: bool) {
        self.told.lock().tell(figures, ended);
    }
    /// The VM has ended, or will never run.
    pub fn close(&self) {
        self.close_at(ticks());
    }
    fn close_at(&self, now: u64) {
        if self.closed.load(Relaxed) == 0 {
            self.closed.store(now, Relaxed);
        }
    }
    pub fn is_closed(&self) -> bool {
        self.closed.load(Relaxed) != 0
    }
    /// When the longest wait for a message began and ended, in ticks; one that goes on ends `now`.
    pub fn longest_wait(&self, now: u64) -> (u64, u64) {
        let (from, ticks) = (self.longest_from.load(Relaxed), self.longest.load(Relaxed));
        match self.waits_at(now) {
            Some((WaitKind::Receive, _, pending)) if pending > ticks => (now.saturating_sub(pending), now),
            _ => (from, from + ticks),
        }
    }
    pub fn messages_received(&self) -> u64 {
        self.messages_received.load(Relaxed)
    }
    pub fn tracing(&self) -> bool {
        self.switches.tracing.load(Relaxed)
    }
    pub fn channels(&self) -> Vec<Arc<ChannelUse>> {
        self.channels.lock().clone()
    }
    pub fn places(&self) -> Vec<Arc<WaitPlace>> {
        self.places.lock().clone()
    }
}

/// Figures as they were told: none falls, and those of what has ended stay as they are. They are read part by part while their owner goes on, and what a tick is in nanoseconds gets better known with time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    most: Vec<u64>,
    last: bool,
}

impl Told {
    /// `last`: they don't change any more.
    pub(crate) fn tell(&mut self, figures: &mut [u64], last: bool) {
        self.most.resize(figures.len().max(self.most.len()), 0);
        for (now, most) in figures.iter_mut().zip(self.most.iter_mut()) {
            if !self.last {
                *most = (*most).max(*now);
            }
            *now = *most;
        }
        self.last |= last;
    }
}

/// All accounts of a process, and its channels.
pub struct Book {
    pub clock: Clock,
    pub switches: Arc<Switches>,
    /// Short locks: whoever starts a VM or makes a channel, and readers.
    accounts: Mutex<Vec<Arc<Account>>>,
    /// What VMs that ended long ago add up to, by the group of their names.
    folded: Mutex<HashMap<String, Figures>>,
    channels: Mutex<Vec<Arc<Record>>>,
    /// The most that was told of all workers' time. Written by those who ask.
    busy_told: AtomicU64,
}

impl Book {
    pub fn new(switches: Switches) -> Arc<Book> {
        Arc::new(Book {
            clock: Clock::start(),
            switches: Arc::new(switches),
            accounts: Mutex::new(Vec::new()),
            folded: Mutex::default(),
            channels: Mutex::new(Vec::new()),
            busy_told: AtomicU64::new(0),
        })
    }
    /// Nanoseconds of all workers as they are told: never less than before.
    pub fn busy_told(&self, now: u64) -> u64 {
        self.busy_told.fetch_max(now, Relaxed).max(now)
    }
    /// The account of a VM that is about to start.
    pub fn open(&self, identity: &Arc<Identity>) -> Arc<Account> {
        let account = Arc::new(Account::new(identity.clone(), self.switches.clone(), self.clock.first));
        let mut accounts = self.accounts.lock();
        if accounts.len() >= KEPT && accounts.len() == accounts.capacity() {
            self.fold(&mut accounts);
        }
        accounts.push(account.clone());
        account
    }
    #[cold]
    fn fold(&self, accounts: &mut Vec<Arc<Account>>) {
        let mut folded = self.folded.lock();
        let now = ticks();
        accounts.retain(|a| {
            // Traces and profiles are read at the end.
            let keep = !a.is_closed() || a.profile.is_some() || a.tracing();
            if !keep {
                folded.entry(group_of(&a.identity.name).to_string()).or_default().merge(&a.figures(now));
            }
            keep
        });
    }
    /// All accounts that are kept apart, in the order of their VMs.
    pub fn accounts(&self) -> Vec<Arc<Account>> {
        self.accounts.lock().clone()
    }
    /// The account of a VM.
    pub fn account(&self, id: u64) -> Option<Arc<Account>> {
        self.accounts.lock().iter().rev().find(|a| a.identity.id == id).cloned()
    }
    /// The others, by the group of their names.
    pub fn folded(&self) -> Vec<(String, Figures)> {
        self.folded.lock().iter().map(|(name, f)| (name.clone(), f.clone())).collect()
    }
    pub fn channels(&self) -> Vec<Arc<Record>> {
        self.channels.lock().clone()
    }
    /// A channel that is counted.
    fn channel(&self, bounds: Bounds, record: impl FnOnce(u64) -> Record) -> Channel<Envelope> {
        Channel::recorded(bounds, |id| {
            let record = Arc::new(record(id));
            let mut channels = self.channels.lock();
            if channels.len() < CHANNELS {
                channels.push(record.clone());
            }
            Some(record)
        })
    }
}
