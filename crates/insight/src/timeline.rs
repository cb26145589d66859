//! Chrome's trace events, which ui.perfetto.dev and chrome://tracing open: a process per VM with its turns and waits (and those of its threads), a process of the workers, and arrows from each message's
//! sender to its receiver.
//!
//! Format: the "Trace Event Format" document, JSON object form. Times are microseconds since the process began to count.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use zakuro_vm::account::{Account, Activity, Book, Event, EventKind, WaitKind};

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

/// The file's text, of what happened since a moment (in ticks).
pub fn text(book: &Book, since: u64) -> String {
    let (now, scale) = book.clock.now();
    let mut out = Out { text: r#"{"displayTimeUnit":"ns","traceEvents":["#.into(), first: book.clock.first.max(since), scale: scale / 1e3 };
    let channels = book.channels();
    let by_id: HashMap<u64, _> = channels.iter().map(|c| (c.id, c)).collect();
    let called = |id: u64| {
        let known = by_id.get(&id);
        let name = known.and_then(|c| c.name.as_deref().map(String::from).or_else(|| c.place.as_deref().map(|p| format!("{id} ({p})"))));
        name.unwrap_or_else(|| id.to_string())
    };
    let accounts = book.accounts();
    // An arrow needs both ends.
    let ends = |kind: EventKind| -> HashSet<u64> {
        accounts.iter().flat_map(|a| a.trace.events()).filter(|e| e.kind == kind).map(|e| e.object).collect()
    };
    let (sent, received) = (ends(EventKind::Sent), ends(EventKind::Received));
    let mut workers = HashSet::new();
    let mut lost = 0;
    out.name("process_name", WORKERS, 0, "workers");
    for a in &accounts {
        lost += a.trace.lost();
        vm(&mut out, a, (since, now), &called, &mut |id| sent.contains(&id) && received.contains(&id), &mut workers);
    }
    let mut workers: Vec<u16> = workers.into_iter().collect();
    workers.sort_unstable();
    for w in workers {
        out.name("thread_name", WORKERS, w as u32, &format!("worker {}", w.saturating_sub(1)));
    }
    let _ = writeln!(out.text, "],\"otherData\":{{\"version\":\"zakuro {}\",\"events_lost\":{lost}}}}}", env!("CARGO_PKG_VERSION"));
    out.text
}

fn vm(
    out: &mut Out,
    a: &Account,
    (since, now): (u64, u64),
    called: &dyn Fn(u64) -> String,
    paired: &mut dyn FnMut(u64) -> bool,
    workers: &mut HashSet<u16>,
) {
    let pid = a.identity.id;
    let mut threads = HashSet::new();
    let mut named = false;
    let open = if a.tracing() { a.unfinished(now) } else { Vec::new() };
    for e in a.trace.events().chain(open).filter(|e| e.from >= since) {
        if !named {
            named = true;
            out.name("process_name", pid, VM, &format!("VM {} {}", pid, a.identity.name));
            out.name("thread_name", pid, VM, "VM");
        }
        if e.kind == EventKind::ThreadWait && threads.insert(e.thread) {
            out.name("thread_name", pid, e.thread, &format!("waits of thread {}", e.thread));
        }
        event(out, a, pid, &e, called, paired, workers);
    }
}

fn event(
    out: &mut Out,
    a: &Account,
    pid: u64,
    e: &Event,
    called: &dyn Fn(u64) -> String,
    paired: &mut dyn FnMut(u64) -> bool,
    workers: &mut HashSet<u16>,
) {
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
            out.slice(WORKERS, e.lane as u32, &a.identity.name, "run", e.from, e.to);
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
            if paired(id) {
                out.event(format_args!(r#"{{"ph":{ph},"name":{name},"cat":"message","id":{id},"pid":{pid},"tid":{VM},"ts":{ts:.3}}}"#));
            }
        }
    }
}
