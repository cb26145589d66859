//! Chrome's trace events, which ui.perfetto.dev and chrome://tracing open: a process per VM with its turns and waits (and those of its threads), a process of the workers, and arrows from each message's
//! sender to its receiver.
//!
//! VMs run on while they are read. So all is told of one window of time, from a moment to another that has passed when reading begins: what reaches beyond is cut there.
//!
//! Format: the "Trace Event Format" document, JSON object form. Times are microseconds since the process began to count.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use zakuro_vm::account::{Activity, Book, Event, EventKind, WaitKind};
use zakuro_vm::lineage::Identity;

/// The process number of the workers in the file.
const WORKERS: u64 = 0;
/// The thread number of what the VM as a whole does.
const VM: u32 = 0;

struct Out {
    text: String,
    first: u64,
    /// Microseconds per tick.
    scale: f64,
}

fn escaped(s: &str) -> String {
    let mut w = crate::json::Writer::default();
    w.string(s);
    w.text
}

impl Out {
    fn at(&self, ticks: u64) -> f64 {
        ticks.saturating_sub(self.first) as f64 * self.scale
    }
    fn event(&mut self, text: std::fmt::Arguments<'_>) {
        if !self.text.ends_with('[') {
            self.text.push_str(",\n");
        }
        let _ = self.text.write_fmt(text);
    }
    fn name(&mut self, what: &str, pid: u64, tid: u32, name: &str) {
        self.event(format_args!(r#"{{"ph":"M","name":"{what}","pid":{pid},"tid":{tid},"args":{{"name":{}}}}}"#, escaped(name)));
    }
    fn slice(&mut self, pid: u64, tid: u32, name: &str, kind: &str, from: u64, to: u64) {
        // Both ends are rounded: what begins where this ends must not begin before it.
        let [ts, end] = [from, to].map(|t| (self.at(t) * 1000.0).round() / 1000.0);
        let dur = end - ts;
        self.event(format_args!(
            r#"{{"ph":"X","name":{},"cat":"{kind}","pid":{pid},"tid":{tid},"ts":{ts:.3},"dur":{dur:.3}}}"#,
            escaped(name)
        ));
    }
}

/// The moments (in ticks) that a file is about, both included.
#[derive(Clone, Copy)]
struct Window {
    since: u64,
    until: u64,
}

impl Window {
    /// What of an event lies in it.
    fn cut(self, e: Event) -> Option<Event> {
        // The end of a message's event is no time.
        if matches!(e.kind, EventKind::Sent | EventKind::Received) {
            return (self.since..=self.until).contains(&e.from).then_some(e);
        }
        let (from, to) = (e.from.max(self.since), e.to.min(self.until));
        (from <= to).then_some(Event { from, to, ..e })
    }
}

/// Numbers of the messages that these events tell of both the sending and the receiving of: an arrow needs both ends.
fn paired(events: impl Iterator<Item = Event>, window: Window) -> HashSet<u64> {
    let (mut sent, mut received) = (HashSet::new(), HashSet::new());
    for e in events.filter_map(|e| window.cut(e)) {
        match e.kind {
            EventKind::Sent => sent.insert(e.object),
            EventKind::Received => received.insert(e.object),
            _ => continue,
        };
    }
    sent.retain(|id| received.contains(id));
    sent
}

/// The file's text, of what happened since a moment (in ticks).
pub fn text(book: &Book, since: u64) -> String {
    let (until, scale) = book.clock.now();
    let window = Window { since, until };
    let mut out = Out { text: r#"{"displayTimeUnit":"ns","traceEvents":["#.into(), first: book.clock.first.max(since), scale: scale / 1e3 };
    let channels = book.channels();
    let by_id: HashMap<u64, _> = channels.iter().map(|c| (c.id, c)).collect();
    let called = |id: u64| {
        let known = by_id.get(&id);
        let name = known.and_then(|c| c.name.as_deref().map(String::from).or_else(|| c.place.as_deref().map(|p| format!("{id} ({p})"))));
        name.unwrap_or_else(|| id.to_string())
    };
    let accounts = book.accounts();
    let arrows = paired(accounts.iter().flat_map(|a| a.trace.events()), window);
    let mut workers = HashSet::new();
    let mut lost = 0;
    out.name("process_name", WORKERS, 0, "workers");
    for a in &accounts {
        lost += a.trace.lost();
        // Before the events: what is finished meanwhile is told twice then, which shows, and not left out.
        let open = if a.tracing() { a.unfinished(until) } else { Vec::new() };
        vm(&mut out, &a.identity, a.trace.events(), &open, window, &called, &arrows, &mut workers);
    }
    let mut workers: Vec<u16> = workers.into_iter().collect();
    workers.sort_unstable();
    for w in workers {
        out.name("thread_name", WORKERS, w as u32, &format!("worker {}", w.saturating_sub(1)));
    }
    let _ = writeln!(out.text, "],\"otherData\":{{\"version\":\"zakuro {}\",\"events_lost\":{lost}}}}}", env!("CARGO_PKG_VERSION"));
    out.text
}

/// What a VM did: events that were noted, and what was not at an end when they were asked for.
#[expect(clippy::too_many_arguments)]
fn vm(
    out: &mut Out,
    of: &Identity,
    events: impl Iterator<Item = Event>,
    open: &[Event],
    window: Window,
    called: &dyn Fn(u64) -> String,
    arrows: &HashSet<u64>,
    workers: &mut HashSet<u16>,
) {
    let mut threads = HashSet::new();
    let mut named = false;
    let mut ended = false;
    let mut tell = |e: Event| {
        let Some(e) = window.cut(e) else { return };
        if !named {
            named = true;
            out.name("process_name", of.id, VM, &format!("VM {} {}", of.id, of.name));
            out.name("thread_name", of.id, VM, "VM");
        }
        if e.kind == EventKind::ThreadWait && threads.insert(e.thread) {
            out.name("thread_name", of.id, e.thread, &format!("waits of thread {}", e.thread));
        }
        event(out, of, &e, called, arrows, workers);
    };
    for e in events {
        ended |= e.kind == EventKind::Turn && open.first().is_some_and(|open| open.from == e.from);
        tell(e);
    }
    if !ended {
        open.iter().copied().for_each(tell);
    }
}

fn event(out: &mut Out, of: &Identity, e: &Event, called: &dyn Fn(u64) -> String, arrows: &HashSet<u64>, workers: &mut HashSet<u16>) {
    let pid = of.id;
    let wait = |kind: u8, channel: u64| {
        let kind = WaitKind::ALL.get(kind as usize).copied().unwrap_or(WaitKind::Other);
        match kind {
            WaitKind::Receive | WaitKind::Send | WaitKind::Select if channel != 0 => format!("wait: {} {}", kind.name(), called(channel)),
            _ => format!("wait: {}", kind.name()),
        }
    };
    match e.kind {
        EventKind::Turn => {
            out.slice(pid, VM, "run", "run", e.from, e.to);
            // Of one that goes on, the worker is not noted yet.
            if e.lane == u16::MAX {
                return;
            }
            workers.insert(e.lane);
            out.slice(WORKERS, e.lane as u32, &of.name, "run", e.from, e.to);
        }
        EventKind::Wait => out.slice(pid, VM, &wait(e.detail, e.object), "wait", e.from, e.to),
        EventKind::Ready => out.slice(pid, VM, "ready", "ready", e.from, e.to),
        EventKind::Activity => {
            let name = Activity::ALL.get(e.detail as usize).map_or("run", |a| a.name());
            out.slice(pid, VM, name, name, e.from, e.to);
        }
        EventKind::ThreadWait => out.slice(pid, e.thread, &wait(e.detail, e.object), "wait", e.from, e.to),
        EventKind::Sent | EventKind::Received => {
            let (ts, name) = (out.at(e.from), escaped(&called(e.to)));
            let (ph, id) = (if e.kind == EventKind::Sent { r#""s""# } else { r#""f","bp":"e""# }, e.object);
            if arrows.contains(&id) {
                out.event(format_args!(r#"{{"ph":{ph},"name":{name},"cat":"message","id":{id},"pid":{pid},"tid":{VM},"ts":{ts:.3}}}"#));
            }
        }
    }
}

#[cfg(test)]
#[path = "timeline_tests.rs"]
mod tests;
