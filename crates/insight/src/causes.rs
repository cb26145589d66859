//! What held a program up: each cause that is known gets a weight from the picture, and the heaviest is named.
//!
//! A weight is about the part of the work (or, for those who wait, of the time) that would be saved without the cause. Work that is wasted (collecting, copying, setting up) is weighed against all work;
//! waiting against the lives of those who wait, without the end of the run in which only one VM still works: that is a cause of its own.

use crate::picture::{End, Group, Picture, part};
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
    all.extend(locks(p));
    all.extend(threads(p));
    all.extend(more_vms(p));
    all.retain(|c| c.weight >= LEAST);
    all.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    if all.is_empty() {
        all.push(otherwise(p));
    }
    all
}

fn percent(part: f64) -> String {
    format!("{:.0}%", part * 100.0)
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

fn members(g: &Group) -> String {
    if g.count == 1 { format!("VM `{}`", g.label) } else { format!("{} VMs (`{}`)", g.count, g.label) }
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
        weight: part(all, p.active()),
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
    let c = p.channels.iter().max_by_key(|c| c.bytes);
    let where_ = c.map_or(String::new(), |c| {
        let each = c.bytes as f64 / c.sent.max(1) as f64;
        format!("; {} took {} messages of {} each", c.called(), c.sent, bytes(each))
    });
    let share = part(all, p.active());
    Some(Cause {
        code: "large_messages",
        weight: share,
        sentence: format!("{} of all work was copying messages{where_}: send less, frozen data, or large Strings", percent(share)),
    })
}

fn setup(p: &Picture) -> Option<Cause> {
    // One VM per job: many that came and went.
    let jobs = |g: &&Group| !g.main && g.count >= 4 && g.count as f64 > p.machine.usable() && g.ended * 2 >= g.count;
    let g = p.groups.iter().filter(jobs).max_by(|a, b| a.seconds.setup.total_cmp(&b.seconds.setup))?;
    let s = &g.seconds;
    let n = g.count as f64;
    Some(Cause {
        code: "setup_in_job",
        weight: part(s.setup, p.active()),
        sentence: format!(
            "each of {} spent {:.1} ms of {:.1} ms on its set-up (loading, compiling, copying the program's state) before its job: keep VMs and send them jobs, or load before the fork",
            members(g),
            1e3 * s.setup / n,
            1e3 * s.active / n,
        ),
    })
}

/// The end of the run, while one VM worked and those like it had nothing to do.
struct Tail<'a> {
    group: &'a Group,
    seconds: f64,
}

fn tail(p: &Picture) -> Option<Tail<'_>> {
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
    // It has to come after work in parallel, and at the end.
    let seconds = alone as f64 * p.part;
    (mean >= 1.25 && worked.len() * 20 >= all.len() && after < 0.2 * p.wall).then_some(Tail { group, seconds })
}

fn giant(p: &Picture, t: &Tail<'_>) -> Cause {
    let cores = p.machine.usable().min(t.group.count as f64).max(1.0);
    let share = part(t.seconds, p.wall);
    Cause {
        code: "giant_job",
        weight: share * (1.0 - 1.0 / cores).max(0.0) * 1.5,
        sentence: format!(
            "the last {} of the run ({:.2} s) only VM `{}` worked, while the other {} had nothing left to do: split its job, or begin with it",
            percent(share),
            t.seconds,
            t.group.busiest.0,
            t.group.count - 1,
        ),
    }
}

/// Who waits for messages, and why there are none.
fn channels(p: &Picture, tail: f64) -> Vec<Cause> {
    let mut all = Vec::new();
    for c in &p.channels {
        // Those who wait: not the one that only collects results.
        let waiter = |e: &&End| !p.groups[e.group].main;
        let Some(e) = c.receivers.iter().filter(waiter).max_by(|a, b| a.waited.total_cmp(&b.waited)) else { continue };
        let (mine, g) = (e.group, &p.groups[e.group]);
        // The end of the run counts for all but one of them.
        let in_tail = tail * (g.count.saturating_sub(1)) as f64;
        let waited = (e.waited - in_tail).max(0.0);
        let share = part(waited, g.seconds.life);
        let Some(from) = c.senders.iter().max_by_key(|e| e.messages) else { continue };
        let s = &p.groups[from.group];
        if from.group == e.group {
            continue;
        }
        let busy = s.share(s.seconds.active - s.seconds.copy - s.seconds.collect);
        let who = match (s.count, from.vms) {
            (1, _) | (_, 1) => format!("its only sender `{}`", s.label),
            (_, n) => format!("its {n} senders (`{}`)", s.label),
        };
        all.push(Cause {
            code: if s.count == 1 { "single_sender" } else { "slow_senders" },
            weight: share * busy,
            sentence: format!(
                "{} waited {} of the time for {}; {who} was busy {}",
                members(g),
                percent(part(e.waited, g.seconds.life)),
                c.called(),
                percent(s.share(s.seconds.active)),
            ),
        });
        // Their sender waits for them in turn: for their answers, or for room.
        let answers = p.channels.iter().filter(|back| back.id != c.id && back.senders.iter().any(|e| e.group == mine));
        let waits_back = answers
            .flat_map(|back| back.receivers.iter().filter(|e| e.group == from.group).map(move |e| (back, e.waited)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        let room = c.senders.iter().filter(|e| e.group == from.group).map(|e| e.waited).sum::<f64>();
        let (what, back) = match waits_back {
            Some((back, waited)) if waited >= room => (format!("for their answers in {}", back.called()), waited),
            _ => (format!("for room in {}, which holds {}", c.called(), c.bound.unwrap_or(0)), room),
        };
        let share_back = s.share((back - tail).max(0.0));
        all.push(Cause {
            code: "too_few_in_flight",
            weight: share * share_back,
            sentence: format!(
                "{} waited {} of the time for {} while its sender `{}` waited {what} {} of the time; at most {} messages were under way: send more before waiting",
                members(g),
                percent(part(e.waited, g.seconds.life)),
                c.called(),
                s.label,
                percent(s.share(back)),
                c.deepest,
            ),
        });
    }
    all
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
        weight: share,
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
        weight: share * busy * 0.8,
        sentence: format!(
            "the {} threads of {} were ready {} of their time but could not run: threads of one VM run one at a time; VMs or Ractors run in parallel",
            g.threads,
            members(g),
            percent(share),
        ),
    })
}

fn more_vms(p: &Picture) -> Option<Cause> {
    let busy: f64 = p.workers.iter().sum();
    let used = part(busy, p.wall * p.workers.len().max(1) as f64);
    let share = part(p.ready(), p.ready() + p.active());
    // How many VMs wanted a core at a time: a few that queue behind others now and then are no surplus.
    let wanted = (p.ready() + p.active()) / p.wall.max(1e-9) / p.workers.len().max(1) as f64;
    let g = p.groups.iter().max_by(|a, b| a.seconds.ready.total_cmp(&b.seconds.ready))?;
    Some(Cause {
        code: "more_vms_than_cores",
        // No work is lost by it: other causes go first.
        weight: share * used * 0.6 * (wanted - 1.0).clamp(0.0, 1.0),
        sentence: format!(
            "{} were ready {} of the time but had no core: {} physical cores were busy {}, so more VMs bring nothing",
            members(g),
            percent(g.share(g.seconds.ready)),
            p.machine.physical,
            percent(used),
        ),
    })
}

/// When nothing weighs much.
fn otherwise(p: &Picture) -> Cause {
    let busy: f64 = p.workers.iter().sum();
    let used = part(busy, p.wall * p.workers.len().max(1) as f64);
    let cores = p.machine.usable();
    if used >= 0.8 {
        let sentence = format!("the cores were busy {} of the time: what is left is the work itself", percent(used));
        return Cause { code: "cores_busy", weight: used, sentence };
    }
    let Some(g) = most(p, |g| g.seconds.active) else {
        return Cause { code: "none", weight: 0.0, sentence: "nothing ran".into() };
    };
    let share = part(g.seconds.active, p.active());
    if g.count == 1 && share >= 0.8 && g.share(g.seconds.active) >= 0.5 && cores >= 2.0 {
        let sentence = format!("VM `{}` did {} of all work, and nothing ran beside it on {cores:.0} cores", g.label, percent(share));
        return Cause { code: "one_vm", weight: share, sentence };
    }
    let outside = [WaitKind::Descriptor, WaitKind::Sleep, WaitKind::Call, WaitKind::Other];
    let waits = |k: WaitKind| p.groups.iter().map(|g| g.seconds.wait(k)).sum::<f64>();
    if let Some(kind) = outside.into_iter().max_by(|a, b| waits(*a).total_cmp(&waits(*b)))
        && waits(kind) >= 0.5 * p.groups.iter().map(|g| g.seconds.life).sum::<f64>()
    {
        let what = match kind {
            WaitKind::Sleep => "were asleep",
            WaitKind::Call => "were in system calls",
            _ => "waited for sockets, files or processes",
        };
        let life: f64 = p.groups.iter().map(|g| g.seconds.life).sum();
        let sentence = format!("VMs {what} {} of the time: the cores were busy {}", percent(part(waits(kind), life)), percent(used));
        return Cause { code: "outside", weight: part(waits(kind), life), sentence };
    }
    Cause { code: "none", weight: 0.0, sentence: format!("nothing stands out; the cores were busy {} of the time", percent(used)) }
}
