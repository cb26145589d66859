//! The picture as a page of text.

use crate::causes::Cause;
use crate::picture::{ChannelRow, End, Group, Picture};
use std::fmt::Write;
use zakuro_vm::account::WaitKind;

/// Rows of a table; what does not fit is told in one line.
const GROUPS: usize = 24;
const CHANNELS: usize = 16;
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const WIDTH: usize = 60;

fn percent(part: f64) -> String {
    match part * 100.0 {
        p if p < 0.05 => "-".into(),
        p if p < 9.95 => format!("{p:.1}"),
        p => format!("{p:.0}"),
    }
}

fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(d);
    }
    out
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{:.0} KB", bytes as f64 / 1e3),
        _ => format!("{:.0} MB", bytes as f64 / 1e6),
    }
}

fn seconds(s: f64) -> String {
    match s {
        s if s <= 0.0 => "-".into(),
        s if s < 0.001 => format!("{:.2} ms", s * 1e3),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// What a group waited for most, with its share.
fn main_wait(p: &Picture, g: &Group) -> String {
    let Some((kind, waited)) = WaitKind::ALL.iter().map(|k| (*k, g.seconds.wait(*k))).max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return String::new();
    };
    let share = g.share(waited);
    if share < 0.01 {
        return String::new();
    }
    let at = |ends: fn(&ChannelRow) -> &[End]| {
        let waited = |c: &ChannelRow| ends(c).iter().filter(|e| std::ptr::eq(&p.groups[e.group], g)).map(|e| e.waited).sum::<f64>();
        let most = p.channels.iter().max_by(|a, b| waited(a).total_cmp(&waited(b))).filter(|c| waited(c) > 0.0);
        most.map_or_else(|| "a channel".into(), ChannelRow::called)
    };
    let what = match kind {
        WaitKind::Receive | WaitKind::Select => format!("messages in {}", at(|c| &c.receivers)),
        WaitKind::Send => format!("room in {}", at(|c| &c.senders)),
        WaitKind::Vm => "the end of a VM".into(),
        WaitKind::Lock => "a lock".into(),
        WaitKind::Condition => "a condition variable".into(),
        WaitKind::Queue => "a Thread::Queue".into(),
        WaitKind::Thread => "the end of a thread".into(),
        WaitKind::Sleep => "the end of its sleep".into(),
        WaitKind::Descriptor => "a descriptor or process".into(),
        WaitKind::Call => "a system call".into(),
        WaitKind::Other => "other things".into(),
    };
    format!("{what} {}%", percent(share))
}

/// A text of the program's (a name, a place) in one line, without what a terminal would obey.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Letters of a name that a table shows.
const NAME: usize = 48;

/// A name (or a place) as tables show it: of a long one both ends.
fn short(name: &str) -> String {
    let count = name.chars().count();
    if count <= NAME {
        return name.into();
    }
    let first: String = name.chars().take(NAME * 2 / 3).collect();
    let last: String = name.chars().skip(count - (NAME / 3 - 1)).collect();
    format!("{first}…{last}")
}

fn table(out: &mut String, head: &[&str], rows: &[Vec<String>]) {
    let rows: Vec<Vec<String>> = rows.iter().map(|r| r.iter().map(|cell| plain(cell)).collect()).collect();
    let width = |i: usize| rows.iter().map(|r| r[i].chars().count()).chain([head[i].chars().count()]).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut line = |cells: &[String]| {
        let mut text = String::new();
        for (i, cell) in cells.iter().enumerate() {
            // Names at both ends, numbers between.
            let pad = " ".repeat(widths[i] - cell.chars().count());
            if i == 0 || i + 1 == cells.len() {
                let _ = write!(text, "{cell}{pad}  ");
            } else {
                let _ = write!(text, "{pad}{cell}  ");
            }
        }
        let _ = writeln!(out, "{}", text.trim_end());
    };
    line(&head.iter().map(|h| h.to_string()).collect::<Vec<_>>());
    rows.iter().for_each(|r| line(r));
}

fn machine(out: &mut String, p: &Picture) {
    let m = &p.machine;
    let logical = if m.logical > m.physical { format!(", {} with hyper-threads", m.logical) } else { String::new() };
    let quota = m.quota.map_or(String::new(), |q| format!(", control group grants {q:.2}"));
    let _ = writeln!(out, "{} physical cores{logical}{quota}; {} workers", m.physical, m.workers);
    let speed = p.cpu / p.wall.max(1e-9);
    let ran = p.active();
    // What VMs ran while the system gave their cores to others: the shares below count it as running.
    if ran > 0.1 && p.cpu < 0.8 * ran {
        let _ =
            writeln!(out, "Other processes (or the quota) had the cores for {}% of the time in which VMs ran", percent(1.0 - p.cpu / ran));
    }
    let _ = writeln!(
        out,
        "CPU time {}, wall {}: speed-up {speed:.2} of {:.2}; workers idle {}%",
        seconds(p.cpu),
        seconds(p.wall),
        m.usable(),
        percent(1.0 - p.used()),
    );
}

fn groups(out: &mut String, p: &Picture) {
    let mut list: Vec<&Group> = p.groups.iter().collect();
    list.sort_by(|a, b| b.seconds.active.total_cmp(&a.seconds.active));
    let row = |g: &&Group| {
        let s = &g.seconds;
        let shares = [s.run, s.collect, s.copy, s.image + s.compile + s.load, s.ready, s.waiting].map(|t| percent(g.share(t)));
        let mut cells = vec![short(&g.label), number(g.count), seconds(s.life / g.count.max(1) as f64)];
        cells.extend(shares);
        cells.push(main_wait(p, g));
        cells
    };
    let rows: Vec<Vec<String>> = list.iter().take(GROUPS).map(row).collect();
    table(out, &["VM", "n", "life", "run%", "collect%", "copy%", "set-up%", "ready%", "wait%", "mostly for"], &rows);
    if list.len() > GROUPS {
        let rest = &list[GROUPS..];
        let (vms, active) = (rest.iter().map(|g| g.count).sum(), rest.iter().map(|g| g.seconds.active).sum());
        let _ = writeln!(out, "... {} more VMs of {} names, active {}", number(vms), rest.len(), seconds(active));
    }
}

fn ends(p: &Picture, list: &[End]) -> String {
    let names: Vec<String> = list
        .iter()
        .filter(|e| e.messages > 0)
        .take(3)
        .map(|e| (short(&p.groups[e.group].label), e.vms))
        .map(|(name, vms)| if vms > 1 { format!("{name} ({vms})") } else { name })
        .collect();
    let more = if list.len() > 3 { ", ..." } else { "" };
    if names.is_empty() { "-".into() } else { format!("{}{more}", names.join(", ")) }
}

fn channels(out: &mut String, p: &Picture) {
    if p.channels.is_empty() {
        return;
    }
    let row = |c: &ChannelRow| {
        let called = match (&c.name, &c.place) {
            (Some(name), _) => short(name),
            (None, Some(place)) => format!("{} ({})", c.id, short(place)),
            (None, None) => c.id.to_string(),
        };
        let depth = match c.bound {
            _ if c.remote => "-".into(),
            Some(n) => format!("{}/{n}", number(c.deepest)),
            None => number(c.deepest),
        };
        vec![
            called,
            number(c.through().0),
            size(c.through().1),
            depth,
            if c.remote || p.partial && c.received < c.sent { "-".into() } else { number(c.sent.saturating_sub(c.received)) },
            seconds(c.receive_waited()),
            seconds(c.send_waited()),
            format!("{} -> {}", ends(p, &c.senders), ends(p, &c.receivers)),
        ]
    };
    let rows: Vec<Vec<String>> = p.channels.iter().take(CHANNELS).map(row).collect();
    out.push('\n');
    table(out, &["channel", "messages", "size", "deepest", "left", "receivers waited", "senders waited", "from -> to"], &rows);
    if p.channels.len() > CHANNELS {
        let rest: u64 = p.channels[CHANNELS..].iter().map(|c| c.through().0).sum();
        let _ = writeln!(out, "... {} more channels with {} messages", p.channels.len() - CHANNELS, number(rest));
    }
}

/// How many VMs were active when, a character for each part of the time.
fn over_time(out: &mut String, p: &Picture) {
    let line = p.timeline();
    let width = WIDTH.min(line.len());
    let mean = |i: usize| {
        let (from, to) = (i * line.len() / width, ((i + 1) * line.len() / width).max(i * line.len() / width + 1));
        line[from..to].iter().sum::<f64>() / (to - from) as f64
    };
    let most = p.machine.workers.max(1) as f64;
    let bars: String = (0..width).map(|i| BARS[((mean(i) / most * 8.0).round() as usize).min(8)]).collect();
    let _ = writeln!(out, "\nVMs at work over time (full: {}) |{bars}|", p.machine.workers);
}

pub fn text(p: &Picture, causes: &[Cause]) -> String {
    let mut out = String::new();
    machine(&mut out, p);
    out.push('\n');
    groups(&mut out, p);
    if p.folded > 0 {
        let _ = writeln!(out, "({} VMs that ended early are counted by the group of their names)", number(p.folded));
    }
    channels(&mut out, p);
    over_time(&mut out, p);
    for (i, c) in causes.iter().take(3).enumerate() {
        let head = if i == 0 { "\nbottleneck" } else { "also" };
        let _ = writeln!(out, "{head} [{}]: {}", c.code, plain(&c.sentence));
    }
    out
}
