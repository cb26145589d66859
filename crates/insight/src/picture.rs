//! What is known of a process at one moment: its VMs by groups of names, its channels, its workers; in seconds.

use crate::machine::Machine;
use crate::roles::{Member, Place, Way, roles};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use zakuro_sched::Scheduler;
use zakuro_vm::account::{Account, Activity, Book, ChannelUse, Figures, Timeline, WaitKind, group_of};
use zakuro_vm::lineage::Identity;

/// What VMs did, in seconds.
#[derive(Clone, Debug, Default)]
pub struct Seconds {
    pub life: f64,
    pub active: f64,
    pub run: f64,
    pub collect: f64,
    /// Messages packed and opened.
    pub copy: f64,
    pub image: f64,
    pub compile: f64,
    pub load: f64,
    pub setup: f64,
    pub ready: f64,
    pub waiting: f64,
    /// By [`WaitKind`].
    pub waits: [f64; 12],
    pub thread_waits: [f64; 12],
    pub thread_run: f64,
    pub thread_ready: f64,
    /// While some thread of a VM waited for a lock.
    pub locked: f64,
}

impl Seconds {
    fn of(f: &Figures, scale: f64) -> Seconds {
        let s = |ticks: u64| ticks as f64 * scale / 1e9;
        let active = |a: Activity| s(f.active[a as usize]);
        Seconds {
            life: s(f.life),
            active: s(f.active()),
            run: active(Activity::Run),
            collect: active(Activity::Collect),
            copy: s(f.copying()),
            image: active(Activity::Image),
            compile: active(Activity::Compile),
            load: active(Activity::Load),
            setup: s(f.setup),
            ready: s(f.ready),
            waiting: s(f.waiting()),
            waits: f.waits.map(s),
            thread_waits: f.thread_waits.map(s),
            thread_run: s(f.thread_run),
            thread_ready: s(f.thread_ready),
            locked: s(f.locked),
        }
    }
    pub fn wait(&self, kind: WaitKind) -> f64 {
        self.waits[kind as usize]
    }
    /// Waiting for messages.
    pub fn receiving(&self) -> f64 {
        self.wait(WaitKind::Receive) + self.wait(WaitKind::Select)
    }
}

/// VMs whose names differ by a number at the end, and that use channels alike ([`crate::roles`]).
#[derive(Clone, Debug)]
pub struct Group {
    /// `worker0..worker7`, or the name of the only one.
    pub label: String,
    pub count: u64,
    pub ended: u64,
    pub seconds: Seconds,
    pub turns: u64,
    pub received: u64,
    pub collections: u64,
    pub threads: u64,
    /// Seconds from the start of the first to the end of the last, or until now.
    pub span: f64,
    /// The process's own VM is in it.
    pub main: bool,
    /// Activity of the group over time, in seconds per part of [`Picture::part`].
    pub timeline: Vec<f64>,
    /// That of the member that was active most.
    pub busiest: (String, Vec<f64>),
    /// What its threads waited for: kind, place, seconds.
    pub places: Vec<(WaitKind, String, f64)>,
    /// Of each member the longest wait for a message, if not too many are in it.
    pub idle: Vec<Idle>,
}

/// A member's longest wait for a message, in seconds since the process began to count.
#[derive(Clone, Debug)]
pub struct Idle {
    pub name: String,
    pub from: f64,
    pub to: f64,
    /// Whether it has received anything.
    pub received: bool,
    /// When it ended, if it has.
    pub end: Option<f64>,
}

impl Idle {
    /// From when to when it had nothing to do, at the longest, in a run of `wall` seconds: who has ended has nothing since then, or since the wait that it ended after.
    pub fn nothing_left(&self, wall: f64) -> (f64, f64) {
        match self.end {
            Some(end) if end - self.to <= 0.01 * wall => (self.from.min(end), wall),
            Some(end) if wall - end > self.to - self.from => (end, wall),
            _ => (self.from, self.to),
        }
    }
}

impl Group {
    /// A part of its members' lives.
    pub fn share(&self, seconds: f64) -> f64 {
        part(seconds, self.seconds.life)
    }
}

/// How much of a whole; 0 of nothing.
pub fn part(of: f64, whole: f64) -> f64 {
    if whole > 0.0 { (of / whole).clamp(0.0, 1.0) } else { 0.0 }
}

/// What a group did at a channel.
#[derive(Clone, Debug)]
pub struct End {
    /// Index of the group.
    pub group: usize,
    pub vms: u64,
    pub messages: u64,
    pub waits: u64,
    /// Seconds.
    pub waited: f64,
}

#[derive(Clone, Debug)]
pub struct ChannelRow {
    pub id: u64,
    pub name: Option<String>,
    pub place: Option<String>,
    /// Most messages that it may hold.
    pub bound: Option<usize>,
    pub sent: u64,
    pub received: u64,
    /// Of what was sent.
    pub bytes: u64,
    /// Of what was received through a server.
    pub arrived_bytes: u64,
    pub deepest: u64,
    /// Through a server: what other processes send and receive is not known here.
    pub remote: bool,
    pub senders: Vec<End>,
    pub receivers: Vec<End>,
}

impl ChannelRow {
    /// As a report calls it: `channel `jobs``, `channel 3 (made at a.rb:12)`.
    pub fn called(&self) -> String {
        match (&self.name, &self.place) {
            (Some(name), _) => format!("channel `{name}`"),
            (None, Some(place)) => format!("channel {} (made at {place})", self.id),
            (None, None) => format!("channel {}", self.id),
        }
    }
    /// Messages that went through as far as is known here, and their bytes: what others sent through a server shows when it is received.
    pub fn through(&self) -> (u64, u64) {
        if self.remote && self.received > self.sent { (self.received, self.arrived_bytes) } else { (self.sent, self.bytes) }
    }
    pub fn receive_waited(&self) -> f64 {
        self.receivers.iter().map(|e| e.waited).sum()
    }
    pub fn send_waited(&self) -> f64 {
        self.senders.iter().map(|e| e.waited).sum()
    }
}

/// See the module.
pub struct Picture {
    /// Seconds since the process began to count.
    pub wall: f64,
    /// CPU time of the process, since then.
    pub cpu: f64,
    pub machine: Machine,
    /// Seconds in which each worker ran VMs, of the run's. (What ran in place of a turn that did not end counts for the workers that had least to do, as far as there was one.)
    pub workers: Vec<f64>,
    pub groups: Vec<Group>,
    pub channels: Vec<ChannelRow>,
    /// Seconds that a part of the timelines stands for.
    pub part: f64,
    /// VMs that are counted by groups only.
    pub folded: u64,
    /// Some VM has used more channels than are told apart for it: what was received from one may be more than its row says.
    pub partial: bool,
}

impl Picture {
    /// What is known now of the VMs for which `shows` is true (of all those that ended long ago, when `all`).
    pub fn take(book: &Book, scheduler: &Scheduler, all: bool, shows: &mut dyn FnMut(&Arc<Identity>) -> bool) -> Picture {
        // One moment for all of it: on a busy machine, what follows takes parts of a timeline.
        let (now, scale) = book.clock.now();
        let cpu = book.clock.used().as_secs_f64();
        let seconds = |ticks: u64| ticks as f64 * scale / 1e9;
        let wall = seconds(now.saturating_sub(book.clock.first));
        let workers = at_work(&scheduler.busy_ticks().into_iter().map(seconds).collect::<Vec<_>>(), scheduler.workers(), wall);
        let mut found: Vec<(String, Gathered)> = Vec::new();
        let mut index: HashMap<(String, usize), usize> = HashMap::new();
        let mut folded = 0;
        if all {
            for (name, f) in book.folded() {
                folded += f.vms;
                index.insert((name.clone(), 0), found.len());
                found.push((name, Gathered { figures: f, ..Gathered::default() }));
            }
        }
        let mut uses: HashMap<u64, Uses> = HashMap::new();
        // Handles of one channel through a server are one row: that of the first. Which of them VMs that are shown have used.
        let known = book.channels();
        let mut first: HashMap<&str, u64> = HashMap::new();
        let rows: HashMap<u64, u64> = known
            .iter()
            .filter(|r| r.remote)
            .map(|r| (r.id, *first.entry(r.name.as_deref().unwrap_or_default()).or_insert(r.id)))
            .collect();
        let mut used: HashSet<u64> = HashSet::new();
        let shown: Vec<Shown> = book.accounts().into_iter().filter(|a| shows(&a.identity)).map(|a| Shown::of(a, now)).collect();
        let members: Vec<Member<'_>> = shown.iter().map(|s| s.member(&rows)).collect();
        for (s, role) in shown.iter().zip(roles(&members)) {
            let name = group_of(&s.account.identity.name);
            let at = *index.entry((name.into(), role)).or_insert_with(|| {
                found.push((name.into(), Gathered::default()));
                found.len() - 1
            });
            found[at].1.add(&s.account, now);
            note_uses(s, at, &rows, &mut used, &mut uses);
        }
        let shift = found.iter().map(|(_, g)| g.figures.timeline.shift.max(g.busiest.shift)).max().unwrap_or(0);
        let groups = found.into_iter().map(|(name, g)| g.finish(name, scale, shift, book.clock.first)).collect();
        let usage = |end: &HashMap<usize, Side>| -> Vec<End> {
            let mut list: Vec<End> = end
                .iter()
                .map(|(group, s)| End { group: *group, vms: s.vms, messages: s.messages, waits: s.waits, waited: seconds(s.ticks) })
                .collect();
            list.sort_by_key(|e| (std::cmp::Reverse(e.messages), e.group));
            list
        };
        // What went through all handles of a channel that is shown.
        let mut through: HashMap<u64, [u64; 3]> = HashMap::new();
        for r in known.iter().filter(|r| used.contains(&r.id)) {
            if let Some(row) = rows.get(&r.id) {
                let all = through.entry(*row).or_default();
                all.iter_mut().zip([r.sent(), r.bytes(), r.arrived_bytes()]).for_each(|(sum, n)| *sum += n);
            }
        }
        let mut channels: Vec<ChannelRow> = known
            .iter()
            .filter_map(|r| {
                let u = uses.get(&r.id)?;
                let [sent, bytes, arrived_bytes] = through.get(&r.id).copied().unwrap_or_else(|| [r.sent(), r.bytes(), r.arrived_bytes()]);
                Some(ChannelRow {
                    id: r.id,
                    name: r.name.as_deref().map(String::from),
                    place: r.place.as_deref().map(String::from),
                    bound: (r.bounds.messages != usize::MAX).then_some(r.bounds.messages),
                    sent,
                    received: u.receivers.values().map(|s| s.messages).sum(),
                    bytes,
                    arrived_bytes,
                    deepest: r.deepest(),
                    remote: r.remote,
                    senders: usage(&u.senders),
                    receivers: usage(&u.receivers),
                })
            })
            .collect();
        channels.sort_by(|a, b| {
            let waited = |c: &ChannelRow| c.receive_waited() + c.send_waited();
            waited(b).total_cmp(&waited(a)).then(a.id.cmp(&b.id))
        });
        Picture {
            wall,
            cpu,
            machine: Machine::look(scheduler.workers()),
            workers,
            groups,
            channels,
            part: seconds(1u64 << shift),
            folded,
            partial: uses.contains_key(&0),
        }
    }
    /// How much of the workers' time was spent with VMs.
    pub fn used(&self) -> f64 {
        part(self.workers.iter().sum(), self.wall * self.workers.len().max(1) as f64)
    }
    pub fn active(&self) -> f64 {
        self.groups.iter().map(|g| g.seconds.active).sum()
    }
    pub fn ready(&self) -> f64 {
        self.groups.iter().map(|g| g.seconds.ready).sum()
    }
    pub fn vms(&self) -> u64 {
        self.groups.iter().map(|g| g.count).sum()
    }
    /// How many VMs were active in each part of the time, on average.
    pub fn timeline(&self) -> Vec<f64> {
        last_as_far_as_it_went(self.activity(), self.wall, self.part)
    }
    /// The same in parts of equal length: the last one as if nothing came after now.
    pub fn activity(&self) -> Vec<f64> {
        let len = ((self.wall / self.part).ceil() as usize).max(1);
        let mut sum = vec![0.0; len];
        for g in &self.groups {
            sum.iter_mut().zip(&g.timeline).for_each(|(a, b)| *a += b / self.part);
        }
        sum
    }
}

/// The time with VMs of `count` workers in a run of `wall` seconds, from that of all there are: a turn that does not end keeps its worker, and a further one takes its place.
fn at_work(all: &[f64], count: usize, wall: f64) -> Vec<f64> {
    let (first, more) = all.split_at(count.min(all.len()));
    let mut busy: Vec<f64> = first.iter().map(|b| b.min(wall)).collect();
    let mut more: f64 = more.iter().sum();
    let mut order: Vec<usize> = (0..busy.len()).collect();
    order.sort_by(|a, b| busy[*a].total_cmp(&busy[*b]));
    for at in order {
        let taken = more.min(wall - busy[at]);
        busy[at] += taken;
        more -= taken;
    }
    busy
}

/// What was counted in parts of this length, of which the last has only begun: of less than a tenth nothing can be said.
fn last_as_far_as_it_went(mut parts: Vec<f64>, wall: f64, part: f64) -> Vec<f64> {
    let rest = wall - part * (parts.len() - 1) as f64;
    if parts.len() > 1 && rest < 0.1 * part {
        parts.pop();
    } else if let Some(last) = parts.last_mut()
        && rest > 0.0
    {
        *last *= part / rest;
    }
    parts
}

/// Most members of a group whose waits are kept apart.
const COMPARED: usize = 4_096;

/// An account, and what it did at channels until now.
struct Shown {
    account: Arc<Account>,
    channels: Vec<Arc<ChannelUse>>,
    /// What it waits for: at which channel, for how long.
    pending: Option<(WaitKind, u64, u64)>,
}

impl Shown {
    fn of(account: Arc<Account>, now: u64) -> Shown {
        Shown { channels: account.channels(), pending: account.waits_at(now), account }
    }
    fn member(&self, rows: &HashMap<u64, u64>) -> Member<'_> {
        let row = |channel: u64| Place { channel: rows.get(&channel).copied().unwrap_or(channel), remote: rows.contains_key(&channel) };
        let mut ends = Vec::new();
        for u in self.channels.iter().filter(|u| u.channel != 0) {
            let any = |counts: [&AtomicU64; 2]| counts.iter().any(|n| n.load(Relaxed) > 0);
            if any([&u.sent, &u.send_ticks]) {
                ends.push((Way::Sends, row(u.channel)));
            }
            if any([&u.received, &u.receive_ticks]) {
                ends.push((Way::Receives, row(u.channel)));
            }
        }
        if let Some((kind, channel, _)) = self.pending {
            ends.push((if kind == WaitKind::Send { Way::Sends } else { Way::Receives }, row(channel)));
        }
        Member { name: group_of(&self.account.identity.name), ends }
    }
}

#[derive(Default)]
struct Gathered {
    figures: Figures,
    first: Option<(u64, String)>,
    last: Option<(u64, String)>,
    main: bool,
    busiest_active: u64,
    busiest_name: String,
    busiest: Timeline,
    places: HashMap<(WaitKind, String), u64>,
    /// Name, from, to, whether it received anything, when it ended.
    idle: Vec<(String, u64, u64, bool, Option<u64>)>,
}

impl Gathered {
    fn add(&mut self, a: &Account, now: u64) {
        let f = a.figures(now);
        let me = (a.identity.id, a.identity.name.to_string());
        // By the number at the end, not by age.
        let number = |name: &str| name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().unwrap_or(0);
        if self.first.as_ref().is_none_or(|(_, n)| number(&me.1) < number(n)) {
            self.first = Some(me.clone());
        }
        if self.last.as_ref().is_none_or(|(_, n)| number(&me.1) >= number(n)) {
            self.last = Some(me.clone());
        }
        if f.active() >= self.busiest_active {
            self.busiest_active = f.active();
            self.busiest_name = me.1;
            self.busiest = f.timeline.clone();
        }
        if self.idle.len() < COMPARED {
            let (from, to) = a.longest_wait(now);
            self.idle.push((a.identity.name.to_string(), from, to, a.messages_received() > 0, (f.ended > 0).then_some(f.to)));
        }
        self.main |= a.identity.id == 1;
        self.figures.merge(&f);
        for p in a.places() {
            *self.places.entry((p.kind, p.place.clone())).or_default() += p.ticks.load(Relaxed);
        }
    }
    fn finish(mut self, name: String, scale: f64, shift: u32, start: u64) -> Group {
        let f = &mut self.figures;
        let seconds = |bins: &Timeline| bins.bins.iter().map(|t| *t as f64 * scale / 1e9).collect();
        f.timeline.coarsen(shift);
        self.busiest.coarsen(shift);
        let label = match (self.first, self.last) {
            (Some((_, first)), Some((_, last))) if f.vms > 1 && first != last => format!("{first}..{last}"),
            (Some((_, first)), _) => first,
            _ => name,
        };
        let mut places: Vec<(WaitKind, String, f64)> =
            self.places.into_iter().map(|((kind, place), ticks)| (kind, place, ticks as f64 * scale / 1e9)).collect();
        places.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| a.1.cmp(&b.1)));
        let since = |at: u64| at.saturating_sub(start) as f64 * scale / 1e9;
        let idle = self.idle.into_iter().map(|(name, from, to, received, end)| Idle {
            name,
            from: since(from),
            to: since(to),
            received,
            end: end.map(since),
        });
        Group {
            idle: if f.vms <= COMPARED as u64 { idle.collect() } else { Vec::new() },
            main: self.main,
            label,
            count: f.vms,
            ended: f.ended,
            seconds: Seconds::of(f, scale),
            turns: f.turns,
            received: f.received,
            collections: f.collections,
            threads: f.threads,
            span: f.to.saturating_sub(f.from) as f64 * scale / 1e9,
            timeline: seconds(&f.timeline),
            busiest: (self.busiest_name, seconds(&self.busiest)),
            places,
        }
    }
}

#[derive(Default)]
struct Side {
    vms: u64,
    messages: u64,
    waits: u64,
    ticks: u64,
}

/// Of a channel, by group.
#[derive(Default)]
struct Uses {
    senders: HashMap<usize, Side>,
    receivers: HashMap<usize, Side>,
}

impl Side {
    /// `vms`: whether the VM is not in it yet.
    fn add(&mut self, vms: bool, messages: u64, waits: u64, ticks: u64) {
        self.vms += u64::from(vms);
        self.messages += messages;
        self.waits += waits;
        self.ticks += ticks;
    }
}

/// `rows`: channels through servers, with the row of each; which of them are used goes to `used`.
fn note_uses(s: &Shown, group: usize, rows: &HashMap<u64, u64>, used: &mut HashSet<u64>, uses: &mut HashMap<u64, Uses>) {
    let pending = s.pending;
    let mut told = false;
    // Where the VM is counted already, by another handle.
    let mut counted: HashSet<(u64, bool)> = HashSet::new();
    let mut row_of = |channel: u64, sends: bool| match rows.get(&channel) {
        None => (channel, true),
        Some(row) => {
            used.insert(channel);
            (*row, counted.insert((*row, sends)))
        }
    };
    for u in &s.channels {
        let [sent, send_waits, mut send_ticks] = [&u.sent, &u.send_waits, &u.send_ticks].map(|n| n.load(Relaxed));
        let [received, receive_waits, mut receive_ticks] = [&u.received, &u.receive_waits, &u.receive_ticks].map(|n| n.load(Relaxed));
        if let Some((kind, channel, ticks)) = pending
            && channel == u.channel
        {
            told = true;
            *if kind == WaitKind::Send { &mut send_ticks } else { &mut receive_ticks } += ticks;
        }
        if sent + send_ticks > 0 {
            let (row, new) = row_of(u.channel, true);
            uses.entry(row).or_default().senders.entry(group).or_default().add(new, sent, send_waits, send_ticks);
        }
        if received + receive_ticks > 0 {
            let (row, new) = row_of(u.channel, false);
            uses.entry(row).or_default().receivers.entry(group).or_default().add(new, received, receive_waits, receive_ticks);
        }
    }
    if let Some((kind, channel, ticks)) = pending.filter(|_| !told) {
        let (row, new) = row_of(channel, kind == WaitKind::Send);
        let of = uses.entry(row).or_default();
        let side = if kind == WaitKind::Send { &mut of.senders } else { &mut of.receivers };
        side.entry(group).or_default().add(new, 0, 1, ticks);
    }
}

#[cfg(test)]
mod tests {
    use super::{at_work, last_as_far_as_it_went};

    #[test]
    fn what_ran_in_place_of_others_is_work_of_the_workers() {
        assert_eq!(at_work(&[1.0, 2.0, 0.5, 0.0], 2, 2.0), [1.5, 2.0]);
        assert_eq!(at_work(&[1.0, 1.5, 2.0], 2, 2.0), [2.0, 2.0]);
        assert_eq!(at_work(&[1.0, 2.1], 2, 2.0), [1.0, 2.0]);
    }

    #[test]
    fn who_is_always_at_work_is_one_in_each_part() {
        let near = |parts: Vec<f64>, count: usize| parts.len() == count && parts.iter().all(|n| (n - 1.0).abs() < 1e-9);
        assert!(near(last_as_far_as_it_went(vec![1.0, 1.0, 0.5], 5.0, 2.0), 3));
        // Half a per cent of a part: what was counted there is no share of it.
        assert!(near(last_as_far_as_it_went(vec![1.0, 1.0, 0.0], 4.01, 2.0), 2));
        assert!(near(last_as_far_as_it_went(vec![0.05], 0.1, 2.0), 1));
        assert_eq!(last_as_far_as_it_went(vec![0.0], 0.0, 2.0), [0.0]);
    }
}
