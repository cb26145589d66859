//! What held a program up: each cause that is known gets a weight from the picture, and the heaviest is named.
//!
//! A weight is about the part of the work (or, for those who wait, of the time) that would be saved without the cause. Work that is wasted (collecting, copying, setting up) is weighed against all work, and
//! where the process worked for less than the run took, against the run: a program that waits anyway is not held up by it. Waiting is weighed against the lives of those who wait, without the end of the run in which only one VM still works: that is a cause of its own; and by how much
//! of the run they were there ([`present`]): a VM of 20 ms that waited for all of them is not what a program of two seconds is held up by.

use crate::picture::{ChannelRow, End, Group, Picture, part};
use std::collections::HashMap;
use zakuro_vm::account::WaitKind;

/// A cause with its weight (0 to 1) and one sentence. `code` is stable.
#[derive(Clone, Debug)]
pub struct Cause {
    pub code: &'static str,
    pub weight: f64,
    pub sentence: String,
}

/// Below this nothing is named but what always holds.
const LEAST: f64 = 0.15;

/// All that weigh enough, the heaviest first; never empty.
pub fn causes(p: &Picture) -> Vec<Cause> {
    let tail = tail(p);
    let mut all = Vec::new();
    all.extend(collection(p));
    all.extend(copies(p));
    all.extend(setup(p));
    all.extend(tail.as_ref().map(|t| giant(p, t)));
    all.extend(channels(p, tail.as_ref().map_or(0.0, |t| t.seconds)));
    all.extend(slow_receivers(p));
    all.extend(loading(p));
    all.extend(loading_of_its_own(p));
    all.extend(locks(p));
    all.extend(threads(p));
    all.extend(more_vms(p));
    all.retain(|c| c.weight >= LEAST);
    all.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    // That cores were short at one time, or that somebody was late at the end, explains nothing of another time, in which one VM worked.
    if !all.is_empty()
        && all.iter().all(|c| ["more_vms_than_cores", "giant_job"].contains(&c.code))
        && let Some(alone) = alone(p, tail.as_ref())
    {
        let at = all.iter().position(|c| c.code == "more_vms_than_cores" || c.weight < alone.weight).unwrap_or(all.len());
        all.insert(at, alone);
    }
    if all.is_empty() {
        all.push(otherwise(p, tail.as_ref()));
    }
    all
}

fn percent(part: f64) -> String {
    format!("{:.0}%", part * 100.0)
}

fn duration(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

fn bytes(n: f64) -> String {
    let units = ["bytes", "KB", "MB", "GB"];
    let mut n = n;
    let mut unit = 0;
    while n >= 1000.0 && unit + 1 < units.len() {
        n /= 1000.0;
        unit += 1;
    }
    if unit == 0 || n >= 100.0 { format!("{n:.0} {}", units[unit]) } else { format!("{n:.1} {}", units[unit]) }
}

/// The weight of work that is wasted.
fn wasted(p: &Picture, seconds: f64) -> f64 {
    part(seconds, p.active().max(p.wall))
}

fn members(g: &Group) -> String {
    if g.count == 1 { format!("VM `{}`", g.label) } else { format!("{} VMs (`{}`)", g.count, g.label) }
}

fn were(g: &Group) -> &'static str {
    if g.count == 1 { "was" } else { "were" }
}

/// For how much of the run some of a group were there, at most: what they wait for can't be more of it.
fn present(p: &Picture, g: &Group) -> f64 {
    part(g.span.min(g.seconds.life), p.wall)
}

/// Workers that had nothing to do, on average. While there are some, who is ready was woken a moment ago by one that is about to wait, and waits for that one.
fn unused(p: &Picture) -> f64 {
    (1.0 - p.used()) * p.workers.len() as f64
}

/// The group that spent most on something.
fn most(p: &Picture, of: impl Fn(&Group) -> f64) -> Option<&Group> {
    p.groups.iter().max_by(|a, b| of(a).total_cmp(&of(b)))
}

fn collection(p: &Picture) -> Option<Cause> {
    let all: f64 = p.groups.iter().map(|g| g.seconds.collect).sum();
    let g = most(p, |g| g.seconds.collect)?;
    Some(Cause {
        code: "collection",
        weight: wasted(p, all),
        sentence: format!(
            "{} of all work was collecting garbage; {} collected {} times, for {} of what they did",
            percent(part(all, p.active())),
            members(g),
            g.collections,
            percent(part(g.seconds.collect, g.seconds.active)),
        ),
    })
}

fn copies(p: &Picture) -> Option<Cause> {
    let all: f64 = p.groups.iter().map(|g| g.seconds.copy).sum();
    let c = p.channels.iter().max_by_key(|c| c.through().1);
    let where_ = c.map_or(String::new(), |c| {
        let (messages, all) = c.through();
        let each = all as f64 / messages.max(1) as f64;
        format!("; {} took {messages} messages of {} each", c.called(), bytes(each))
    });
    let share = part(all, p.active());
    Some(Cause {
        code: "large_messages",
        weight: wasted(p, all),
        sentence: format!("{} of all work was copying messages{where_}: send less, frozen data, or large Strings", percent(share)),
    })
}

/// One VM per job: many that came and went.
fn comes_and_goes(p: &Picture, g: &Group) -> bool {
    !g.main && g.count >= 4 && g.count as f64 > p.machine.usable() && g.ended * 2 >= g.count
}

/// What a VM's set-up, or loading, has to take for anybody to do something about it, in seconds.
const LEAST_SETUP: f64 = 1e-4;
const LEAST_LOADING: f64 = 0.02;

fn setup(p: &Picture) -> Option<Cause> {
    let g = p.groups.iter().filter(|g| comes_and_goes(p, g)).max_by(|a, b| a.seconds.setup.total_cmp(&b.seconds.setup))?;
    let s = &g.seconds;
    let n = g.count as f64;
    (s.setup / n >= LEAST_SETUP).then(|| Cause {
        code: "setup_in_job",
        weight: wasted(p, s.setup),
        sentence: format!(
            "each of {} spent {:.1} ms of {:.1} ms on its set-up (loading, compiling, copying the program's state) before its job: keep VMs and send them jobs, or load before the fork",
            members(g),
            1e3 * s.setup / n,
            1e3 * s.active / n,
        ),
    })
}

/// VMs that are kept and load or compile all the same, for each job perhaps.
fn loading(p: &Picture) -> Option<Cause> {
    let g = p.groups.iter().filter(|g| takes_jobs(p, g)).max_by(|a, b| loads(a).total_cmp(&loads(b)))?;
    (loads(g) / g.count as f64 >= LEAST_SETUP).then(|| Cause {
        code: "setup_in_job",
        weight: wasted(p, loads(g)),
        sentence: format!(
            "{} spent {} of what they did on loading and compiling, {:.1} ms for each of {} messages that they took: load before the first job (in a pool's set-up, or before the fork), not in each",
            members(g),
            percent(part(loads(g), g.seconds.active)),
            1e3 * loads(g) / g.received.max(1) as f64,
            g.received,
        ),
    })
}

fn loads(g: &Group) -> f64 {
    g.seconds.load + g.seconds.compile
}

fn takes_jobs(p: &Picture, g: &Group) -> bool {
    !g.main && !comes_and_goes(p, g) && g.received > g.count
}

/// Programs that mostly load, for no job of anybody's.
fn loading_of_its_own(p: &Picture) -> Option<Cause> {
    let own = |g: &&Group| !comes_and_goes(p, g) && !takes_jobs(p, g);
    let g = p.groups.iter().filter(own).max_by(|a, b| loads(a).total_cmp(&loads(b)))?;
    (loads(g) >= LEAST_LOADING).then(|| Cause {
        code: "loading",
        weight: wasted(p, loads(g)),
        sentence: format!(
            "{} spent {} of what {} did, {:.0} ms, on loading and compiling: load less or later (`autoload`), or start from an image of the loaded program (`RubyVM::Image#save`, `zakuro --image`)",
            members(g),
            percent(part(loads(g), g.seconds.active)),
            if g.count == 1 { "it" } else { "they" },
            1e3 * loads(g),
        ),
    })
}

/// The end of the run, while one VM worked and those like it had nothing to do.
struct Tail<'a> {
    group: &'a Group,
    /// Who worked.
    name: &'a str,
    seconds: f64,
}

fn tail(p: &Picture) -> Option<Tail<'_>> {
    let waits = p.groups.iter().filter_map(|g| tail_of_waits(p, g)).max_by(|a, b| a.seconds.total_cmp(&b.seconds));
    tail_of_work(p).into_iter().chain(waits).max_by(|a, b| a.seconds.total_cmp(&b.seconds))
}

/// As those who waited saw it: from some moment on all of them but one waited for a message that did not come, or had ended. What the one did, computing or sleeping, does not matter.
fn tail_of_waits<'a>(p: &Picture, g: &'a Group) -> Option<Tail<'a>> {
    if g.main || g.idle.len() < 2 || g.idle.iter().filter(|i| i.received).count() < 2 {
        return None;
    }
    let rests: Vec<(f64, f64)> = g.idle.iter().map(|i| i.nothing_left(p.wall)).collect();
    let length = |at: usize| rests[at].1 - rests[at].0;
    let at = (0..rests.len()).min_by(|a, b| length(*a).total_cmp(&length(*b)))?;
    let one = &g.idle[at];
    let others = || rests.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, rest)| rest);
    let from = others().map(|(from, _)| *from).fold(0.0, f64::max);
    let to = others().map(|(_, to)| *to).fold(one.end.unwrap_or(p.wall), f64::min);
    let seconds = to - from;
    // It did something meanwhile, and until the end; others did not.
    if !one.received || seconds <= 0.0 || length(at) > 0.3 * seconds || p.wall - to > 0.2 * p.wall {
        return None;
    }
    let all = p.activity();
    let parts = (from / p.part) as usize..((to / p.part) as usize + 1).min(all.len());
    let mine = |at: usize| if g.busiest.0 == one.name { g.busiest.1.get(at).copied().unwrap_or(0.0) / p.part } else { 0.0 };
    let beside: f64 = parts.clone().map(|at| (all[at] - mine(at)).max(0.0)).sum();
    (beside <= 0.5 * parts.len() as f64).then_some(Tail { group: g, name: &one.name, seconds })
}

/// By the activity of all VMs over time.
fn tail_of_work(p: &Picture) -> Option<Tail<'_>> {
    let all = p.activity();
    let workers = |g: &&Group| !g.main && g.count >= 2;
    let group = p.groups.iter().filter(workers).max_by(|a, b| a.busiest.1.iter().sum::<f64>().total_cmp(&b.busiest.1.iter().sum()))?;
    let mine: Vec<f64> = group.busiest.1.iter().map(|s| s / p.part).collect();
    let last = mine.iter().rposition(|share| *share >= 0.3)?.min(all.len() - 1);
    // Back to where others work, too. A little of them (who waits in turns, who collects results) does not count.
    let (mut from, mut others) = (last + 1, 0.0);
    while from > 0 {
        let at = from - 1;
        let beside = (all[at] - mine.get(at).copied().unwrap_or(0.0)).max(0.0);
        if beside > 0.5 || (others + beside) / (last + 1 - at) as f64 > 0.25 {
            break;
        }
        others += beside;
        from = at;
    }
    let alone = last + 1 - from;
    let (before, after) = (&all[..from], p.wall - (last + 1) as f64 * p.part);
    let worked: Vec<f64> = before.iter().copied().filter(|n| *n > 0.2).collect();
    let mean = worked.iter().sum::<f64>() / worked.len().max(1) as f64;
    // It has to come after work in parallel, and at the end: either that took a while, or it was jobs that several took.
    let seconds = alone as f64 * p.part;
    let took_jobs = group.idle.iter().filter(|i| i.received).count() >= 2;
    (mean >= 1.25 && (took_jobs || worked.len() * 20 >= all.len()) && after < 0.2 * p.wall).then_some(Tail {
        group,
        name: &group.busiest.0,
        seconds,
    })
}

fn giant(p: &Picture, t: &Tail<'_>) -> Cause {
    let cores = p.machine.usable().min(t.group.count as f64).max(1.0);
    let share = part(t.seconds, p.wall);
    Cause {
        code: "giant_job",
        weight: share * (1.0 - 1.0 / cores).max(0.0) * 1.5,
        sentence: format!(
            "the last {} of the run ({:.2} s) only VM `{}` had something to do, while the other {} had nothing left: split its job, or begin with it",
            percent(share),
            t.seconds,
            t.name,
            t.group.count - 1,
        ),
    }
}

/// What a group waited for messages of another one, at all channels between the two.
struct Between<'a> {
    receivers: usize,
    senders: usize,
    /// The one that was waited at for longest, and how many there are.
    channel: &'a ChannelRow,
    most: f64,
    channels: usize,
    waited: f64,
    /// How many of the senders' VMs.
    vms: u64,
    /// What senders waited for room.
    room: f64,
    /// The most messages that were queued, of each channel: no more than their sum were at a time.
    deepest: u64,
}

impl Between<'_> {
    fn called(&self) -> String {
        match self.channels {
            1 => self.channel.called(),
            n => format!("{} and {} more", self.channel.called(), n - 1),
        }
    }
}

/// Who waits for whom. A channel counts for those of its receivers that waited most there, and for those who sent most. Where nobody has sent anything, it is those who send to others like them (a VM of a
/// pool that was never given a job).
fn between<'a>(p: &'a Picture, waits: impl Fn(&End) -> bool) -> Vec<Between<'a>> {
    let mut all: Vec<Between<'a>> = Vec::new();
    let mut index: HashMap<(usize, usize), usize> = HashMap::new();
    let receiver = |c: &'a ChannelRow| c.receivers.iter().filter(|e| waits(e)).max_by(|a, b| a.waited.total_cmp(&b.waited));
    let sender = |c: &'a ChannelRow| c.senders.iter().max_by_key(|e| e.messages);
    let mut sends_to: HashMap<usize, &End> = HashMap::new();
    for (e, from) in p.channels.iter().filter_map(|c| Some((receiver(c)?, sender(c)?))).filter(|(e, from)| e.group != from.group) {
        let most = sends_to.entry(e.group).or_insert(from);
        if from.messages > most.messages {
            *most = from;
        }
    }
    for c in &p.channels {
        let Some(e) = receiver(c) else { continue };
        let Some(from) = sender(c).or_else(|| sends_to.get(&e.group).copied().filter(|_| !c.remote)) else { continue };
        let at = *index.entry((e.group, from.group)).or_insert_with(|| {
            let (receivers, senders) = (e.group, from.group);
            all.push(Between { receivers, senders, channel: c, most: 0.0, channels: 0, waited: 0.0, vms: 0, room: 0.0, deepest: 0 });
            all.len() - 1
        });
        let b = &mut all[at];
        if e.waited > b.most {
            (b.most, b.channel) = (e.waited, c);
        }
        b.channels += 1;
        b.waited += e.waited;
        b.vms = b.vms.max(from.vms);
        b.room += c.senders.iter().filter(|s| s.group == from.group).map(|s| s.waited).sum::<f64>();
        b.deepest += c.deepest;
    }
    all
}

/// How much of their time a group waited for messages, of which it waited `seconds`.
fn starved(p: &Picture, g: &Group, seconds: f64) -> f64 {
    // While one of its threads computes, or sleeps, another one that waits keeps it from nothing.
    let held_up = (g.seconds.waiting - g.seconds.wait(WaitKind::Sleep)).max(0.0);
    let waited = seconds.min(held_up).max(0.0);
    g.share(waited + waited.min(g.seconds.ready * unused(p).min(1.0)))
}

/// For whose messages each group waits most.
fn waits_most<'a, 'b>(waits: &'b [Between<'a>]) -> HashMap<usize, &'b Between<'a>> {
    let mut most: HashMap<usize, &Between<'_>> = HashMap::new();
    for b in waits.iter().filter(|b| b.receivers != b.senders) {
        let known = most.entry(b.receivers).or_insert(b);
        if b.waited > known.waited {
            *known = b;
        }
    }
    most
}

/// Groups each of which waits most for messages of the next, the last one for the first's: what one of them sends comes round to it through all others.
fn rings<'a, 'b>(most: &HashMap<usize, &'b Between<'a>>) -> Vec<Vec<&'b Between<'a>>> {
    let mut all = Vec::new();
    // Each group is looked at in one walk only.
    let mut seen: HashMap<usize, usize> = HashMap::new();
    let mut starts: Vec<usize> = most.keys().copied().collect();
    starts.sort_unstable();
    for (walk, start) in starts.into_iter().enumerate() {
        let (mut at, mut path) = (start, Vec::new());
        while let Some(b) = most.get(&at).filter(|_| !seen.contains_key(&at)) {
            seen.insert(at, walk);
            path.push(*b);
            at = b.senders;
        }
        if seen.get(&at) == Some(&walk)
            && let Some(from) = path.iter().position(|b| b.receivers == at)
        {
            all.push(path.split_off(from));
        }
    }
    all
}

/// So many members of a ring are named.
const NAMED: usize = 5;

/// One that waits for what comes round to it before it sends more.
fn comes_round(p: &Picture, ring: &[&Between<'_>], tail: f64) -> Option<Cause> {
    let waits = |b: &Between<'_>| starved(p, &p.groups[b.receivers], b.waited - tail);
    let least = ring.iter().map(|b| waits(b)).fold(1.0, f64::min);
    let there = ring.iter().map(|b| present(p, &p.groups[b.receivers])).fold(1.0, f64::min);
    let head = ring.iter().max_by(|a, b| waits(a).total_cmp(&waits(b)))?;
    let first = &p.groups[head.receivers];
    // Those who wait for it, and so on: the order in which its message goes round.
    let begin = ring.iter().position(|b| b.senders == head.receivers)?;
    let others: Vec<String> =
        (0..ring.len() - 1).map(|i| format!("`{}`", p.groups[ring[(begin + ring.len() - i) % ring.len()].receivers].label)).collect();
    let others = match others.len() {
        n if n > NAMED => format!("{} and {} more", others[..NAMED].join(", "), n - NAMED),
        _ => others.join(", "),
    };
    let stood = if ring[begin].deepest == 1 { "message" } else { "messages" };
    Some(Cause {
        code: "too_few_in_flight",
        // As busy as the busiest of them is, all of them can be.
        weight: least * there,
        sentence: format!(
            "what {} sent into {} came back to it through {}, and it waited {} of the time for that in {} (each of the others {} at least for its turn); at most {} {stood} stood in {} at a time: send more before waiting",
            members(first),
            ring[begin].called(),
            others,
            percent(first.share(head.waited)),
            head.called(),
            percent(least),
            ring[begin].deepest,
            ring[begin].called(),
        ),
    })
}

/// From one sender to the next one for whose messages it waits; longer chains are not followed.
const LONGEST_CHAIN: usize = 50;

/// The one whose computing those wait for in the end who wait for the messages of a sender, where that sender itself mostly waits for messages. The weight is how much of the run all those between did not
/// work, times how busy it was.
fn source(p: &Picture, most: &HashMap<usize, &Between<'_>>, c: &Between<'_>) -> Option<Cause> {
    let busy = |g: &Group| g.share(g.seconds.active - g.seconds.copy - g.seconds.collect);
    let mut seen = vec![c.receivers];
    let (mut at, mut by, mut weight) = (c.senders, None, 1.0f64);
    loop {
        seen.push(at);
        let g = &p.groups[at];
        let before = most.get(&at);
        // Who is woken for each message stands behind the one that sent it, perhaps for longer than it waits.
        let idle = |b: &Between<'_>| g.share(b.waited.min(g.seconds.waiting) + g.seconds.ready * unused(p).min(1.0));
        let Some(b) = before.filter(|b| seen.len() < LONGEST_CHAIN && g.share(b.waited) >= 0.05 && idle(b) > busy(g)) else { break };
        if seen.contains(&b.senders) {
            return None;
        }
        weight *= idle(b);
        (at, by) = (b.senders, Some(b));
    }
    let (b, between, s) = (by?, &p.groups[c.senders], &p.groups[at]);
    Some(Cause {
        code: if s.count == 1 { "single_sender" } else { "slow_senders" },
        weight: weight * busy(s) * present(p, s),
        sentence: format!(
            "{} waited {} of the time for {}; its sender `{}` was busy {} and itself waited for others, in the end for {}, whose sender `{}` was busy {}",
            members(&p.groups[c.receivers]),
            percent(part(c.waited, p.groups[c.receivers].seconds.life)),
            c.called(),
            between.label,
            percent(between.share(between.seconds.active)),
            b.called(),
            s.label,
            percent(s.share(s.seconds.active)),
        ),
    })
}

/// Who waits for messages, and why there are none.
fn channels(p: &Picture, tail: f64) -> Vec<Cause> {
    let mut all = Vec::new();
    let answers = between(p, |_| true);
    let back: HashMap<(usize, usize), &Between<'_>> = answers.iter().map(|b| ((b.receivers, b.senders), b)).collect();
    let most = waits_most(&answers);
    let rings: Vec<_> = rings(&most).into_iter().filter(|ring| ring.len() > 2).collect();
    all.extend(rings.iter().filter_map(|ring| comes_round(p, ring, tail)));
    // What one of a ring waits for is, in the end, the others.
    let in_turn =
        rings.iter().flat_map(|ring| ring.iter().enumerate().map(|(i, b)| ((b.receivers, b.senders), ring[(i + 1) % ring.len()].waited)));
    let in_turn: HashMap<(usize, usize), f64> = in_turn.collect();
    // Those who wait: not the one that only collects results.
    for c in between(p, |e| !p.groups[e.group].main) {
        if c.receivers == c.senders {
            continue;
        }
        let (g, s) = (&p.groups[c.receivers], &p.groups[c.senders]);
        // The end of the run counts for all but one of them.
        let in_tail = tail * (g.count.saturating_sub(1)) as f64;
        let share = part((c.waited - in_tail).max(0.0), g.seconds.life);
        // Where there is always room, a sender waits for the server to have the message: that is part of sending it.
        let handing_over = if c.channel.remote && c.channel.bound.is_none() { c.room } else { 0.0 };
        let busy = s.share(s.seconds.active - s.seconds.copy - s.seconds.collect + handing_over);
        let who = match (s.count, c.vms) {
            (1, _) | (_, 1) => format!("its only sender `{}`", s.label),
            (_, n) => format!("its {n} senders (`{}`)", s.label),
        };
        // Their sender waits for them in turn: for their answers, or for room.
        let answered = back.get(&(c.senders, c.receivers)).filter(|back| back.waited >= c.room - handing_over);
        let (what, waited, share_back) = match answered {
            Some(back) => (format!("for their answers in {}", back.called()), back.waited, starved(p, s, back.waited - tail)),
            None => {
                let what = format!("for room in {}, which holds {}", c.called(), c.channel.bound.unwrap_or(0));
                (what, c.room - handing_over, s.share((c.room - handing_over - tail).max(0.0)))
            }
        };
        let next = in_turn.get(&(c.receivers, c.senders)).map_or(0.0, |waited| starved(p, s, waited - tail));
        let there = present(p, g) * present(p, s);
        let server = match s.share(handing_over) {
            few if few < 0.05 => String::new(),
            share => format!(" and waited {} for its server", percent(share)),
        };
        // A sender that mostly waits for one before it only hands on how slow that one is.
        let direct = || Cause {
            code: if s.count == 1 { "single_sender" } else { "slow_senders" },
            // One that waits for them as much as they for it is not what they wait for.
            weight: share * (busy - share_back.max(next)).max(0.0) * there,
            sentence: format!(
                "{} waited {} of the time for {}; {who} was busy {}{server}",
                members(g),
                percent(part(c.waited, g.seconds.life)),
                c.called(),
                percent(s.share(s.seconds.active)),
            ),
        };
        all.push(match source(p, &most, &c).filter(|_| answered.is_none() && next == 0.0) {
            Some(chain) => Cause { weight: share * (chain.weight - share_back).max(0.0) * there, ..chain },
            None => direct(),
        });
        all.push(Cause {
            code: "too_few_in_flight",
            // Each could do its part while the others do theirs: the one that waits less gains as much.
            weight: there * if answered.is_some() { share_back.min(starved(p, g, c.waited - in_tail)) } else { share * share_back },
            sentence: format!(
                "{} waited {} of the time for {} while its sender `{}` waited {what} {} of the time; at most {} under way: send more before waiting",
                members(g),
                percent(part(c.waited, g.seconds.life)),
                c.called(),
                s.label,
                percent(s.share(waited)),
                if c.deepest == 1 { "1 message was".into() } else { format!("{} messages were", c.deepest) },
            ),
        });
    }
    all
}

/// Who waits for room, because whoever receives computes and leaves cores idle. (Where all cores are busy with receiving, senders wait as they should.)
fn slow_receivers(p: &Picture) -> Option<Cause> {
    let cores = p.machine.usable().max(1.0);
    let of = |c: &ChannelRow| {
        let from = c.senders.iter().max_by(|a, b| a.waited.total_cmp(&b.waited))?;
        let to = c.receivers.iter().max_by_key(|e| e.messages).filter(|to| to.group != from.group)?;
        let (s, r) = (&p.groups[from.group], &p.groups[to.group]);
        let busy = r.share(r.seconds.active - r.seconds.copy - r.seconds.collect);
        let lost = (1.0 - to.vms as f64 / cores).max(0.0);
        let who = match to.vms {
            1 => format!("its only receiver `{}`", r.label),
            n => format!("its {n} receivers (`{}`)", r.label),
        };
        Some(Cause {
            code: "slow_receiver",
            weight: s.share(from.waited) * (busy - r.share(to.waited)).max(0.0) * lost * present(p, s) * present(p, r),
            sentence: format!(
                "{} waited {} of the time for room in {}, which holds {}; {who} was busy {}: have more VMs receive, or do less there",
                members(s),
                percent(s.share(from.waited)),
                c.called(),
                c.bound?,
                percent(r.share(r.seconds.active)),
            ),
        })
    };
    p.channels.iter().filter_map(of).max_by(|a, b| a.weight.total_cmp(&b.weight))
}

/// All time of a group's threads but for those that wait for others' ends.
fn thread_time(g: &Group) -> f64 {
    let s = &g.seconds;
    s.thread_run + s.thread_ready + s.thread_waits.iter().sum::<f64>() - s.thread_waits[WaitKind::Thread as usize]
}

fn locks(p: &Picture) -> Option<Cause> {
    let waits = |g: &Group| g.seconds.thread_waits[WaitKind::Lock as usize];
    let g = p.groups.iter().filter(|g| g.threads > g.count).max_by(|a, b| waits(a).total_cmp(&waits(b)))?;
    let share = part(waits(g), thread_time(g));
    let place = g.places.iter().find(|(kind, _, _)| *kind == WaitKind::Lock).map_or("?", |(_, place, _)| place);
    Some(Cause {
        code: "lock",
        // Many threads that wait a little together have a large part of all threads' time, but a little of the run.
        weight: share.min(g.share(g.seconds.locked) * part(g.span, p.wall)),
        sentence: format!(
            "the threads of {} waited {} of their time for a lock (taken at {place}): hold it for less, or give each its own data",
            members(g),
            percent(share),
        ),
    })
}

fn threads(p: &Picture) -> Option<Cause> {
    let g = p.groups.iter().filter(|g| g.threads > g.count).max_by(|a, b| a.seconds.thread_ready.total_cmp(&b.seconds.thread_ready))?;
    let share = part(g.seconds.thread_ready, thread_time(g));
    let busy = g.share(g.seconds.active);
    Some(Cause {
        code: "threads_in_one_vm",
        weight: share * busy * 0.8 * present(p, g),
        sentence: format!(
            "the {} threads of {} were ready {} of their time but could not run: threads of one VM run one at a time; VMs or Ractors run in parallel",
            g.threads,
            members(g),
            percent(share),
        ),
    })
}

fn more_vms(p: &Picture) -> Option<Cause> {
    let used = p.used();
    // The main VM that only takes results, each behind those who make them, is none too many.
    let only_takes = |g: &&Group| g.main && g.seconds.active < 0.2 * g.seconds.ready;
    let ready = p.ready() - p.groups.iter().filter(only_takes).map(|g| g.seconds.ready).sum::<f64>();
    let share = part(ready, ready + p.active());
    // How many VMs wanted a core at a time: a few that queue behind others now and then are no surplus.
    let wanted = (ready + p.active()) / p.wall.max(1e-9) / p.workers.len().max(1) as f64;
    let g = p.groups.iter().filter(|g| !only_takes(g)).max_by(|a, b| a.seconds.ready.total_cmp(&b.seconds.ready))?;
    Some(Cause {
        code: "more_vms_than_cores",
        // No work is lost by it: other causes go first. And none of them is short of a core while some are idle, or that waits for something else nearly all of its life (thousands that were
        // ready at once, as they began).
        weight: share
            * ((used - 0.5) / 0.3).clamp(0.0, 1.0)
            * 0.6
            * (wanted - 1.0).clamp(0.0, 1.0)
            * ((g.share(g.seconds.ready) - 0.05) / 0.1).clamp(0.0, 1.0),
        sentence: format!(
            "{} {} ready {} of the time but had no core: {} physical cores were busy {}, so more VMs bring nothing",
            members(g),
            were(g),
            percent(g.share(g.seconds.ready)),
            p.machine.physical,
            percent(used),
        ),
    })
}

/// From where on the cores count as busy.
const BUSY: f64 = 0.8;

/// Phases of the run in which one VM worked and no other, but for the one of the end that is a giant job's. What others could have done meanwhile is lost.
fn alone(p: &Picture, tail: Option<&Tail<'_>>) -> Option<Cause> {
    let (all, cores) = (p.activity(), p.machine.usable());
    let phases = |g: &Group| -> Vec<usize> {
        let mine = |at: usize| g.busiest.1.get(at).copied().unwrap_or(0.0) / p.part;
        let parts: Vec<usize> = (0..all.len()).filter(|at| mine(*at) >= 0.5 && all[*at] - mine(*at) <= 0.25).collect();
        // Who takes turns with others is alone for moments, too.
        stretches(&parts, all.len() / 50 + 1).filter(|s| s.len() * 64 >= all.len()).flatten().copied().collect()
    };
    let others = |g: &&Group| tail.is_none_or(|t| t.name != g.busiest.0);
    let (g, parts) = p.groups.iter().filter(others).map(|g| (g, phases(g))).max_by_key(|(_, parts)| parts.len())?;
    let (first, last) = (*parts.first()?, *parts.last()?);
    let share = part(parts.len() as f64 * p.part, p.wall);
    let weight = (share * (1.0 - 1.0 / cores).max(0.0) * 1.5).min(1.0);
    // Others who have work, but wait for something outside, are more of a reason.
    let away = |g: &&Group| g.share(g.seconds.active) >= 0.05 && g.share(g.seconds.wait(WaitKind::Descriptor)) >= 0.5;
    let held_up: f64 = p.groups.iter().filter(away).map(|g| g.seconds.wait(WaitKind::Descriptor)).sum();
    if weight < LEAST || p.used() >= BUSY || (nobody(p) * p.wall).max(held_up) > share * p.wall {
        return None;
    }
    let in_one = (last + 1 - first) * 9 <= parts.len() * 10;
    let when = match in_one {
        true if first * 20 <= all.len() => "the first ",
        true if (last + 1) * 20 >= all.len() * 19 => "the last ",
        _ => "",
    };
    Some(Cause {
        code: "one_vm",
        weight,
        sentence: format!(
            "for {when}{} of the run ({}) only VM `{}` worked, and nothing ran beside it on {cores:.0} cores",
            percent(share),
            duration(share * p.wall),
            g.busiest.0
        ),
    })
}

/// Numbers that rise, in pieces inside which they are not further apart than `gap`.
fn stretches(parts: &[usize], gap: usize) -> impl Iterator<Item = &[usize]> {
    parts.chunk_by(move |a, b| b - a <= gap)
}

/// When nothing weighs much.
fn otherwise(p: &Picture, tail: Option<&Tail<'_>>) -> Cause {
    let used = p.used();
    let cores = p.machine.usable();
    if used >= BUSY {
        let sentence = format!("the cores were busy {} of the time: what is left is the work itself", percent(used));
        return Cause { code: "cores_busy", weight: used, sentence };
    }
    let Some(g) = most(p, |g| g.seconds.active) else {
        return Cause { code: "none", weight: 0.0, sentence: "nothing ran".into() };
    };
    let share = part(g.seconds.active, p.active());
    if g.count == 1 && share >= 0.8 && part(g.seconds.active, p.wall) >= 0.5 && cores >= 2.0 {
        let sentence = format!("VM `{}` did {} of all work, and nothing ran beside it on {cores:.0} cores", g.label, percent(share));
        return Cause { code: "one_vm", weight: share, sentence };
    }
    // Their lives together are no longer than the time in which there were any: one after the other, or nearly, if no two of them worked at a time (pairs with a pause between them).
    if !g.main
        && g.count >= 3
        && g.seconds.life <= 1.1 * g.span
        && together(p, g) <= 0.1
        && part(g.seconds.active, p.wall) >= 0.4
        && share >= 0.5
        && cores >= 2.0
    {
        let sentence = format!(
            "{} lived one after the other, and did {} of all work on {cores:.0} cores: begin them all before you wait for the first one's end, or use a pool",
            members(g),
            percent(share)
        );
        return Cause { code: "one_vm", weight: share, sentence };
    }
    if let Some(alone) = alone(p, tail) {
        return alone;
    }
    let outside = [WaitKind::Descriptor, WaitKind::Sleep, WaitKind::Call, WaitKind::Other];
    // Those who wait for messages of one who does.
    for c in between(p, |e| !p.groups[e.group].main) {
        let (g, s) = (&p.groups[c.receivers], &p.groups[c.senders]);
        let share = g.share(c.waited);
        let Some(kind) = outside.into_iter().max_by(|a, b| s.seconds.wait(*a).total_cmp(&s.seconds.wait(*b))) else { continue };
        if share * present(p, g) >= 0.5 && s.share(s.seconds.wait(kind)) >= 0.5 {
            let (waited, theirs) = (percent(share), percent(s.share(s.seconds.wait(kind))));
            let sentence = format!(
                "{} waited {waited} of the time for {}; its sender `{}` was {} {theirs}",
                members(g),
                c.called(),
                s.label,
                did(kind)
            );
            return Cause { code: "outside", weight: share, sentence };
        }
    }
    rested(p, used)
}

/// How much of a group's work it did beside other work of its own.
fn together(p: &Picture, g: &Group) -> f64 {
    let beside: f64 = g.timeline.iter().map(|seconds| (seconds - p.part).max(0.0)).sum();
    part(beside, g.timeline.iter().sum())
}

/// From how much of the run on it matters that nobody worked.
const LEAST_PAUSE: f64 = 0.25;

/// How much of the run nobody worked.
fn nobody(p: &Picture) -> f64 {
    let all = p.activity();
    part(all.iter().filter(|n| **n < 0.1).count() as f64, all.len() as f64)
}

/// What those are said to have done who were away from the process.
fn did(kind: WaitKind) -> &'static str {
    match kind {
        WaitKind::Sleep => "asleep",
        WaitKind::Call => "in system calls",
        _ => "waiting for sockets, files or processes",
    }
}

/// Where nobody did much.
fn rested(p: &Picture, used: f64) -> Cause {
    let rest = rest(p);
    let mut away = [
        (WaitKind::Sleep, rest.share(WaitKind::Sleep)),
        (WaitKind::Call, rest.share(WaitKind::Call)),
        (WaitKind::Descriptor, rest.share(WaitKind::Descriptor) + rest.share(WaitKind::Other)),
    ];
    away.sort_by(|a, b| b.1.total_cmp(&a.1));
    let all_away = away.iter().map(|(_, share)| share).sum::<f64>();
    let handed = [WaitKind::Receive, WaitKind::Select, WaitKind::Send, WaitKind::Queue, WaitKind::Condition, WaitKind::Lock];
    let waited = handed.into_iter().map(|k| rest.share(k)).sum::<f64>();
    // What slept and waited may be a small part of all lives, where many worked for the rest of the time.
    let pause = nobody(p);
    let paused = all_away + waited < 0.5 && pause >= LEAST_PAUSE && all_away * rest.time >= 0.8 * pause * p.wall;
    if all_away + waited < 0.5 && !paused {
        let sentence = format!("nothing stands out; the cores were busy {} of the time", percent(used));
        return Cause { code: "none", weight: 0.0, sentence };
    }
    // Whoever waits for another one waits for what that one does: many may wait for one that sleeps.
    let outside = paused || all_away >= LEAST || all_away >= 0.5 * (1.0 - waited);
    let mut said: Vec<String> = Vec::new();
    let mut say = |what: &str, share: f64, rest: &str| {
        let of = if said.is_empty() { " of the time" } else { "" };
        said.push(format!("{what} {}{of}{rest}", percent(share)));
    };
    for (_, (kind, share)) in away.iter().enumerate().filter(|(i, (_, share))| outside && (*i == 0 || *share >= LEAST)) {
        say(&format!("were {}", did(*kind)), *share, "");
    }
    if waited >= LEAST {
        let kind = handed.into_iter().max_by(|a, b| rest.share(*a).total_cmp(&rest.share(*b))).unwrap_or(WaitKind::Queue);
        say("waited", waited, &format!(" for {}", awaited(p, kind)));
    }
    let who = if rest.threads { "VMs and their threads" } else { "VMs" };
    Cause {
        code: if outside { "outside" } else { "none" },
        weight: (all_away + waited).max(if paused { pause } else { 0.0 }),
        sentence: format!(
            "{who} {}{}: the cores were busy {}",
            said.join(" and "),
            if paused { format!(", and nothing ran for {} of the run", percent(pause)) } else { String::new() },
            percent(used)
        ),
    }
}

/// What VMs waited for, by [`WaitKind`], and the time that they had for it: without that in which they waited for others' ends, which those others stand for. Where a VM has several threads, it is
/// what all of them did on average.
struct Rest {
    waits: [f64; 12],
    time: f64,
    threads: bool,
}

impl Rest {
    fn share(&self, kind: WaitKind) -> f64 {
        part(self.waits[kind as usize], self.time)
    }
}

fn rest(p: &Picture) -> Rest {
    let mut rest = Rest { waits: [0.0; 12], time: 0.0, threads: false };
    let ends = [WaitKind::Vm as usize, WaitKind::Thread as usize];
    for g in &p.groups {
        let s = &g.seconds;
        let mut all = s.life;
        let mut waits = &s.waits;
        let theirs = s.thread_run + s.thread_ready + s.thread_waits.iter().sum::<f64>();
        if g.threads > g.count && theirs > 0.0 {
            (all, waits, rest.threads) = (theirs, &s.thread_waits, true);
        }
        let scale = part(s.life, all);
        for (i, wait) in waits.iter().enumerate().filter(|(i, _)| !ends.contains(i)) {
            rest.waits[i] += wait * scale;
        }
        rest.time += (all - ends.iter().map(|i| waits[*i]).sum::<f64>()).max(0.0) * scale;
    }
    rest
}

/// What those who waited so had to wait for, by its name where it has one.
fn awaited(p: &Picture, kind: WaitKind) -> String {
    let channel = |waited: fn(&ChannelRow) -> f64| {
        let most = p.channels.iter().max_by(|a, b| waited(a).total_cmp(&waited(b))).filter(|c| waited(c) > 0.0);
        most.map_or_else(|| "channels".into(), ChannelRow::called)
    };
    let places = p.groups.iter().flat_map(|g| &g.places).filter(|(k, _, _)| *k == kind);
    let place = places.max_by(|a, b| a.2.total_cmp(&b.2)).map_or(String::new(), |(_, place, _)| format!(" (at {place})"));
    match kind {
        WaitKind::Receive | WaitKind::Select => format!("messages in {}", channel(ChannelRow::receive_waited)),
        WaitKind::Send => format!("room in {}", channel(ChannelRow::send_waited)),
        WaitKind::Queue => format!("a Thread::Queue{place}"),
        WaitKind::Condition => format!("a condition variable{place}"),
        _ => format!("a lock{place}"),
    }
}
