//! How a VM counts: see the module above.

use super::*;
use crate::raise::Result;
use crate::thread::{Thread, Wait};
use crate::vm::{Cx, FastMap};
use zakuro_object::Value;

/// The VM's side of its account: what only its own worker touches.
pub struct Counting {
    pub account: Arc<Account>,
    pub book: Arc<Book>,
    task: Task,
    /// All time that the VM was parked.
    parked: u64,
    /// What the next wait is for.
    reason: (WaitKind, u64),
    /// How long the last wait was.
    last_wait: u64,
    lane: u16,
    /// When the turn began that was noted last.
    turn_from: u64,
    /// Channels that it has used, by number, and the two that it has received from and sent to last.
    uses: FastMap<u64, usize>,
    list: Vec<Arc<ChannelUse>>,
    last: [(u64, usize); 2],
    places: FastMap<(WaitKind, u64), Arc<WaitPlace>>,
    /// Messages sent while events were kept.
    flows: u64,
    /// Channels through servers that threads are handing a message to, by thread: what they wait for meanwhile is that.
    handing_over: FastMap<u32, u64>,
    /// Active time (in ticks) at the last sample of a profile, and the part of it that was spent collecting.
    pub(super) sampled: (u64, u64),
}

/// A wait that goes on.
pub(crate) struct Noted {
    kind: WaitKind,
    object: u64,
    /// What had been waited before.
    before: u64,
    from: u64,
}

/// Travels with a message while events are kept: its number, by which its arrival is found.
struct Flow(u64);

impl Counting {
    pub fn new(book: Arc<Book>, account: Arc<Account>, task: Task) -> Counting {
        let _ = account.task.set(task.clone());
        Counting {
            account,
            book,
            task,
            parked: 0,
            reason: (WaitKind::Other, 0),
            last_wait: 0,
            lane: 0,
            turn_from: 0,
            uses: FastMap::default(),
            list: Vec::new(),
            last: [(u64::MAX, 0); 2],
            places: FastMap::default(),
            flows: 0,
            handing_over: FastMap::default(),
            sampled: (0, 0),
        }
    }
    fn trace(&self, kind: EventKind, detail: u8, from: u64, to: u64, object: u64) {
        self.account.trace.push(Event { kind, detail, lane: self.lane, thread: 0, from, to, object });
    }
    /// The VM has got a worker: notes what was since its last turn began.
    #[cold]
    #[inline(never)]
    pub fn turn_begins(&mut self) {
        let a = &*self.account;
        let times = self.task.times();
        let (began, ended, queued) = (times.began(), times.ended(), times.queued());
        add(&a.turns, 1);
        if a.began.load(Relaxed) == 0 {
            a.since.store(began, Relaxed);
            a.began.store(began.max(1), Relaxed);
            add(&a.ready, began.saturating_sub(a.opened));
        } else {
            self.lap(ended, began);
            let a = &*self.account;
            let queued = queued.clamp(ended, began.max(ended));
            let wait = a.wait.load(Relaxed);
            if queued > ended {
                self.parked += queued - ended;
                add(&a.waits[wait as usize], queued - ended);
                add(&a.wait_counts[wait as usize], 1);
            }
            add(&a.ready, began.saturating_sub(queued));
            if a.tracing() {
                self.trace(EventKind::Turn, 0, self.turn_from, ended, 0);
                if queued > ended {
                    self.trace(EventKind::Wait, wait, ended, queued, a.wait_channel.load(Relaxed));
                }
                if began > queued {
                    self.trace(EventKind::Ready, 0, queued, began, 0);
                }
            }
        }
        self.turn_from = began;
        self.lane = zakuro_sched::current_index() as u16;
    }
    /// What was done since the last change ended at `now`; something else is done from `next` on.
    fn lap(&mut self, now: u64, next: u64) {
        let a = &*self.account;
        let since = a.since.load(Relaxed);
        let activity = a.activity.load(Relaxed);
        let all = self.task.times().blocked();
        let blocked = all - a.blocked.load(Relaxed);
        let spent = now.saturating_sub(since);
        // Before the sums: see the module.
        a.since.store(next.max(since), Relaxed);
        if blocked > 0 {
            a.blocked.store(all, Relaxed);
            add(&a.waits[WaitKind::Call as usize], blocked.min(spent));
            add(&a.wait_counts[WaitKind::Call as usize], 1);
        }
        add(&a.active[activity as usize], spent.saturating_sub(blocked));
        if now > since {
            // Where in this time it was blocked is not known: at its end, most likely.
            a.timeline.add(since, now - blocked.min(spent));
        }
        if activity != Activity::Run as u8 && a.tracing() {
            self.trace(EventKind::Activity, activity, since, now, 0);
        }
    }
    /// From now on it does something else. Returns what it did before.
    #[inline]
    fn change(&mut self, to: Activity) -> Activity {
        if self.account.activity.load(Relaxed) == to as u8 { to } else { self.change_now(to) }
    }
    #[cold]
    #[inline(never)]
    fn change_now(&mut self, to: Activity) -> Activity {
        let before = Activity::ALL[self.account.activity.load(Relaxed) as usize % ACTIVITIES];
        let now = ticks();
        self.lap(now, now);
        self.account.activity.store(to as u8, Relaxed);
        if to == Activity::Collect {
            add(&self.account.collections, 1);
        }
        before
    }
    /// The VM has ended.
    pub fn close(&mut self) {
        let now = ticks();
        self.lap(now, now);
        if self.account.tracing() {
            self.trace(EventKind::Turn, 0, self.task.times().began(), now, 0);
        }
        // What was summed up is all of its life: keeping the event, which may need memory first, is none of it.
        self.account.close_at(now);
    }
    /// What the VM does at a channel: looked up once for each change of channels, apart for sending and receiving.
    #[inline]
    fn of_channel(&mut self, id: u64, sends: bool) -> &ChannelUse {
        let known = &mut self.last[usize::from(sends)];
        if known.0 != id {
            *known = (id, usize::MAX);
            let at = self.find(id);
            self.last[usize::from(sends)].1 = at;
        }
        &self.list[self.last[usize::from(sends)].1]
    }
    #[cold]
    #[inline(never)]
    fn find(&mut self, id: u64) -> usize {
        if let Some(at) = self.uses.get(&id) {
            return *at;
        }
        if id != 0 && self.list.len() > USES {
            return self.make_room(id);
        }
        let made = Arc::new(ChannelUse::of(id));
        self.account.channels.lock().push(made.clone());
        self.list.push(made);
        self.uses.insert(id, self.list.len() - 1);
        self.list.len() - 1
    }
    /// The channel that was used least goes to the others, and its place to this one: who uses a new channel for each answer still has those told apart that matter.
    fn make_room(&mut self, id: u64) -> usize {
        let others = self.find(0);
        let least = self.list.iter().enumerate().filter(|(at, _)| *at != others).min_by_key(|(_, u)| u.uses());
        let Some(at) = least.map(|(at, _)| at) else { return others };
        let gone = std::mem::replace(&mut self.list[at], Arc::new(ChannelUse::of(id)));
        self.account.channels.lock()[at] = self.list[at].clone();
        self.list[others].take_over(&gone);
        self.uses.remove(&gone.channel);
        self.uses.insert(id, at);
        for known in self.last.iter_mut().filter(|k| k.0 == gone.channel) {
            *known = (u64::MAX, usize::MAX);
        }
        at
    }
    /// A message was sent.
    pub(crate) fn sent(&mut self, channel: u64, bytes: usize) {
        let u = self.of_channel(channel, true);
        add(&u.sent, 1);
        add(&u.bytes, bytes as u64);
    }
    pub(crate) fn received(&mut self, channel: u64) {
        add(&self.of_channel(channel, false).received, 1);
        let a = &*self.account;
        add(&a.messages_received, 1);
        if a.first_receive.load(Relaxed) == u64::MAX {
            let so_far = load(&a.active).iter().sum::<u64>() + self.task.times().began().max(a.since.load(Relaxed)).abs_diff(ticks());
            a.first_receive.store(so_far, Relaxed);
        }
    }
    /// The wait that has just ended was at this channel.
    pub(crate) fn waited_at(&mut self, channel: u64, sends: bool) {
        let waited = std::mem::take(&mut self.last_wait);
        if waited == 0 {
            return;
        }
        if !sends && waited > self.account.longest.load(Relaxed) {
            self.account.longest.store(waited, Relaxed);
            self.account.longest_from.store(ticks().saturating_sub(waited), Relaxed);
        }
        let u = self.of_channel(channel, sends);
        let (count, all) = if sends { (&u.send_waits, &u.send_ticks) } else { (&u.receive_waits, &u.receive_ticks) };
        add(count, 1);
        add(all, waited);
    }
    /// A message is about to leave: while events are kept it gets a number.
    pub(crate) fn mark(&mut self, message: &mut Envelope, channel: u64) {
        self.flows += 1;
        let flow = self.account.identity.id << 40 | self.flows;
        self.trace(EventKind::Sent, 0, ticks(), channel, flow);
        message.attach(Box::new(Flow(flow)));
    }
    /// It has arrived.
    pub(crate) fn arrived(&mut self, message: &Envelope, channel: u64) {
        if let Some(Flow(flow)) = message.attachment().and_then(|a| a.downcast_ref()) {
            self.trace(EventKind::Received, 0, ticks(), channel, *flow);
        }
    }
}

/// Times of a thread of a VM that has had several.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadTimes {
    /// Since when it does what it does.
    since: u64,
    phase: Phase,
    pub run: u64,
    pub ready: u64,
    pub waits: [u64; WAITS],
    /// Their sum.
    waited: u64,
    told: Told,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Phase {
    Run,
    #[default]
    Ready,
    Wait(WaitKind),
    /// It is over.
    Ended,
}

impl ThreadTimes {
    pub(crate) fn new() -> ThreadTimes {
        ThreadTimes { since: ticks(), ..ThreadTimes::default() }
    }
    /// It does something else from `now` on, which is read from the clock if it is 0. Returns that moment.
    #[cold]
    #[inline(never)]
    pub(crate) fn change(&mut self, account: &Account, to: Phase, now: u64) -> u64 {
        let now = if now == 0 { ticks() } else { now };
        if now > self.since {
            self.lap(account, now);
        }
        let lock = Phase::Wait(WaitKind::Lock);
        if (self.phase == lock) != (to == lock) {
            note_lock(account, to == lock, now);
        }
        self.phase = to;
        now
    }
    fn lap(&mut self, account: &Account, now: u64) {
        let spent = now - self.since;
        let (mine, all) = match self.phase {
            Phase::Run => (&mut self.run, &account.thread_run),
            Phase::Ready => (&mut self.ready, &account.thread_ready),
            Phase::Wait(kind) => (&mut self.waits[kind as usize], &account.thread_waits[kind as usize]),
            Phase::Ended => return,
        };
        *mine += spent;
        add(all, spent);
        if matches!(self.phase, Phase::Wait(_)) {
            self.waited += spent;
        }
        self.since = now;
    }
    /// With what goes on now.
    fn at(&self, now: u64) -> ThreadTimes {
        let mut t = self.clone();
        let spent = now.saturating_sub(t.since);
        match t.phase {
            Phase::Run => t.run += spent,
            Phase::Ready => t.ready += spent,
            Phase::Wait(kind) => t.waits[kind as usize] += spent,
            Phase::Ended => {}
        }
        t
    }
}

/// A thread begins to wait for a lock, or does so no more.
fn note_lock(account: &Account, begins: bool, now: u64) {
    let waiters = account.lock_waiters.load(Relaxed);
    match (begins, waiters) {
        (true, 0) => account.lock_since.store(now, Relaxed),
        (false, 1) => add(&account.lock_ticks, now.saturating_sub(account.lock_since.load(Relaxed))),
        _ => {}
    }
    account.lock_waiters.store(if begins { waiters + 1 } else { waiters.saturating_sub(1) }, Relaxed);
}

/// A thread for the account: it was made.
pub(crate) fn thread_made(account: &Account) {
    add(&account.threads, 1);
}

fn thread_unmade(account: &Account) {
    account.threads.store(account.threads.load(Relaxed).saturating_sub(1), Relaxed);
}

impl Cx {
    /// From now on the VM does something else; [`Cx::end_activity`] gets what this returns. Nothing where nobody counts.
    #[inline]
    pub fn begin_activity(&mut self, what: Activity) -> Activity {
        match &mut self.counting {
            None => Activity::Run,
            Some(c) => c.change(what),
        }
    }
    #[inline]
    pub fn begin_collecting(&mut self) -> Activity {
        self.begin_activity(Activity::Collect)
    }
    #[inline]
    pub fn begin_compiling(&mut self) -> Activity {
        self.begin_activity(Activity::Compile)
    }
    #[inline]
    pub fn begin_loading(&mut self) -> Activity {
        self.begin_activity(Activity::Load)
    }
    #[inline]
    pub fn end_activity(&mut self, before: Activity) {
        if let Some(c) = &mut self.counting {
            c.change(before);
        }
    }
    /// What the next wait is for, and for which channel or object.
    #[inline]
    pub fn waits_for(&mut self, kind: WaitKind, object: u64) {
        if let Some(c) = &mut self.counting {
            c.reason = (kind, object);
        }
    }
    /// The running thread is about to be parked. `noted`: not for the first time in this wait.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait_begins(&mut self, wait: Wait, noted: &mut Option<Noted>) {
        let before = self.waited();
        let hands_over = self.counting.as_ref().is_some_and(|c| !c.handing_over.is_empty());
        let thread = if hands_over { self.thread_id() } else { 0 };
        let Some(c) = self.counting.as_mut() else { return };
        // Other threads wait meanwhile.
        let mut reason = std::mem::replace(&mut c.reason, (WaitKind::Other, 0));
        if hands_over && let Some(channel) = c.handing_over.get(&thread) {
            reason = (WaitKind::Send, *channel);
        }
        let (kind, object) = match (noted.as_ref(), reason) {
            (Some(n), _) => (n.kind, n.object),
            (None, (WaitKind::Other, _)) => match wait {
                Wait::Event | Wait::Watch => (WaitKind::Descriptor, 0),
                Wait::Asleep => (WaitKind::Sleep, 0),
                Wait::Outside | Wait::Inside => (WaitKind::Other, 0),
            },
            (None, reason) => reason,
        };
        c.account.wait.store(kind as u8, Relaxed);
        let channel = matches!(kind, WaitKind::Receive | WaitKind::Send | WaitKind::Select);
        c.account.wait_channel.store(if channel { object } else { 0 }, Relaxed);
        let from = if self.threads.is_some() && c.account.tracing() { ticks() } else { 0 };
        if let Some(t) = self.threads.as_deref_mut() {
            t.current().wait_kind = kind;
        }
        if noted.is_none() {
            *noted = Some(Noted { kind, object, before, from });
        }
    }
    /// It goes on, or did not have to wait.
    #[cold]
    #[inline(never)]
    pub(crate) fn wait_ends(&mut self, noted: Option<Noted>) {
        let now = self.waited();
        let thread = if noted.as_ref().is_some_and(|n| n.from != 0) { self.thread_id() } else { 0 };
        let Some(c) = self.counting.as_mut() else { return };
        c.reason = (WaitKind::Other, 0);
        let Some(noted) = noted else {
            c.last_wait = 0;
            return;
        };
        let waited = now.saturating_sub(noted.before);
        c.last_wait = waited;
        if noted.from != 0 {
            let channel = matches!(noted.kind, WaitKind::Receive | WaitKind::Send | WaitKind::Select);
            let object = if channel { noted.object } else { 0 };
            let (kind, detail, lane) = (EventKind::ThreadWait, noted.kind as u8, c.lane);
            c.account.trace.push(Event { kind, detail, lane, thread, from: noted.from, to: noted.from + waited, object });
        }
        if matches!(noted.kind, WaitKind::Lock | WaitKind::Queue | WaitKind::Condition) {
            self.waited_for(noted.kind, noted.object, waited);
        }
    }
    /// Time that the running thread has waited so far.
    fn waited(&mut self) -> u64 {
        let parked = self.counting.as_ref().map_or(0, |c| c.parked);
        match self.threads.as_deref_mut() {
            Some(t) => t.current().times.as_ref().map_or(parked, |t| t.waited),
            None => parked,
        }
    }
    fn waited_for(&mut self, kind: WaitKind, object: u64, waited: u64) {
        let Some(c) = self.counting.as_ref() else { return };
        let place = match c.places.get(&(kind, object)) {
            Some(place) => place,
            None if c.places.len() >= PLACES => return,
            None => {
                let place = self.place_of_caller();
                let place = Arc::new(WaitPlace { kind, place, waits: AtomicU64::new(0), ticks: AtomicU64::new(0) });
                let Some(c) = self.counting.as_mut() else { return };
                c.account.places.lock().push(place.clone());
                c.places.entry((kind, object)).or_insert(place)
            }
        };
        add(&place.waits, 1);
        add(&place.ticks, waited);
    }
    /// File and line of the innermost code that is not the core library's.
    pub fn place_of_caller(&self) -> String {
        match self.place_in_program() {
            Some((file, line)) => format!("{file}:{line}"),
            None => self.script.clone(),
        }
    }
    /// A channel of this VM's making.
    pub fn make_channel(&mut self, bounds: Bounds, name: Option<&str>) -> Channel<Envelope> {
        let name: Option<Box<str>> = name.map(Into::into);
        match &self.counting {
            Some(c) => {
                let book = c.book.clone();
                let place = self.place_of_caller().into();
                book.channel(bounds, |id| Record::new(id, name, Some(place), bounds))
            }
            None if name.is_some() => Channel::recorded(bounds, |id| Some(Arc::new(Record::new(id, name, None, bounds)))),
            None => Channel::new(bounds),
        }
    }
    /// A channel inside a handle of one through the server that `name` names. What goes through it is not counted, but what the handle says.
    pub fn make_remote_channel(&mut self, name: &str) -> Channel<Envelope> {
        match &self.counting {
            Some(c) => c.book.channel(Bounds::NONE, |id| Record::remote(id, name.into())),
            None => Channel::unbounded(),
        }
    }
    /// The running thread is about to hand a message to a server. What [`Cx::handed_over`] gets; None where nobody counts.
    pub fn begin_to_hand_over(&mut self, ch: &Channel<Envelope>) -> Option<u64> {
        let thread = self.thread_id();
        self.counting.as_mut()?.handing_over.insert(thread, ch.id());
        Some(self.waited())
    }
    /// The server has it (of so many bytes), or does not want it (None).
    pub fn handed_over(&mut self, ch: &Channel<Envelope>, before: u64, bytes: Option<usize>) {
        let (thread, waited) = (self.thread_id(), self.waited());
        let Some(c) = self.counting.as_mut() else { return };
        c.handing_over.remove(&thread);
        if let (Some(bytes), Some(record)) = (bytes, ch.record()) {
            record.handed_over(bytes);
            c.sent(ch.id(), bytes);
        }
        c.last_wait = waited.saturating_sub(before);
        c.waited_at(ch.id(), true);
    }
    /// A message of a server was received, of so many bytes.
    pub fn received_remotely(&mut self, ch: &Channel<Envelope>, bytes: usize) {
        if let Some(c) = &mut self.counting {
            if let Some(record) = ch.record() {
                record.arrived(bytes);
            }
            c.received(ch.id());
        }
    }
    /// What a thread has done and waited for so far: nanoseconds of running, ready, and by what it waited for. None: nobody counts.
    pub fn thread_figures(&mut self, thread: Value) -> Result<Option<(u64, u64, Vec<(WaitKind, u64)>)>> {
        let Some((now, scale)) = self.counting.as_ref().map(|c| c.book.clock.now()) else { return Ok(None) };
        self.threads();
        let Some(times) = self.data_mut::<Thread>(thread)?.times.as_deref_mut() else { return Ok(None) };
        let t = times.at(now);
        let mut told: Vec<u64> = [t.run, t.ready].iter().chain(&t.waits).map(|ticks| (*ticks as f64 * scale) as u64).collect();
        times.told.tell(&mut told, times.phase == Phase::Ended);
        Ok(Some((told[0], told[1], WaitKind::ALL.into_iter().zip(told[2..].iter().copied()).collect())))
    }
    /// The times of a new thread, where they are counted.
    pub(crate) fn new_thread_times(&self) -> Option<Box<ThreadTimes>> {
        let c = self.counting.as_ref()?;
        thread_made(&c.account);
        Some(Box::new(ThreadTimes::new()))
    }
    /// The running thread is none of the program's: from now on it is not counted as one, and what it waits for is what the VM waits for.
    pub fn thread_is_not_counted(&mut self) {
        let Some(account) = self.counting.as_ref().map(|c| c.account.clone()) else { return };
        let Some(ts) = self.threads.as_deref_mut() else { return };
        if let Some(mut times) = ts.current().times.take() {
            times.change(&account, Phase::Ended, 0);
            thread_unmade(&account);
        }
    }
    /// Those of the main thread when a VM gets its table of threads: what the VM did so far.
    pub(crate) fn main_thread_times(&self) -> Option<Box<ThreadTimes>> {
        let c = self.counting.as_ref()?;
        thread_made(&c.account);
        let f = c.account.figures(ticks());
        let t = ThreadTimes {
            since: ticks(),
            phase: Phase::Run,
            run: f.active(),
            ready: f.ready,
            waits: f.waits,
            waited: f.waiting(),
            told: Told::default(),
        };
        for (all, mine) in c.account.thread_waits.iter().zip(f.waits) {
            add(all, mine);
        }
        add(&c.account.thread_run, t.run);
        add(&c.account.thread_ready, t.ready);
        Some(Box::new(t))
    }
}
