//! What is told at a moment: the report's picture, single VMs, and memory.

use super::Source;
use crate::causes::causes;
use crate::json::{self, Writer};
use crate::picture::Picture;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use zakuro_heap::{BLOCK_SIZE, Ledger};
use zakuro_vm::account::{Account, Activity, Figures, Now};

/// VMs that are told of one by one: those that live, the busiest first.
const VMS: usize = 200;

struct Row {
    account: Arc<Account>,
    figures: Figures,
}

fn rows(s: &Source) -> (Vec<Row>, usize) {
    let (now, _) = s.book.clock.now();
    let mut rows: Vec<Row> =
        s.book.accounts().into_iter().filter(|a| !a.is_closed()).map(|account| Row { figures: account.figures(now), account }).collect();
    let living = rows.len();
    rows.sort_by_key(|r| (std::cmp::Reverse(r.figures.active()), r.account.identity.id));
    rows.truncate(VMS);
    (rows, living)
}

fn state(f: &Figures) -> &'static str {
    match f.now {
        None => "ended",
        Some(Now::Active(a)) => a.name(),
        Some(Now::Ready) => "ready",
        Some(Now::Waiting(kind, _)) => kind.name(),
    }
}

fn channel_of(f: &Figures) -> u64 {
    match f.now {
        Some(Now::Waiting(_, channel)) => channel,
        _ => 0,
    }
}

/// Bytes that the process holds in memory.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").ok().and_then(|t| t.split(' ').nth(1)?.parse::<u64>().ok()).unwrap_or(0);
    // SAFETY: reads a number.
    pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(0) as u64
}

/// The report in its JSON form, as far as a page shows it, and beside it what changes from moment to moment.
pub(super) fn json(s: &Source) -> String {
    let p = Picture::take(&s.book, &s.scheduler, true, &mut |_| true);
    let (_, scale) = s.book.clock.now();
    let (rows, living) = rows(s);
    let ledger = Ledger::stats();
    let mut w = Writer::default();
    w.object(|w| {
        w.key("pid").int(u64::from(std::process::id()));
        w.key("kill").raw(if s.kill.is_some() { "true" } else { "false" });
        w.key("memory").object(|w| {
            w.key("resident").int(resident());
            w.key("cells").int((ledger.in_use * BLOCK_SIZE) as u64);
            w.key("free").int((ledger.free_dirty * BLOCK_SIZE) as u64);
        });
        w.key("living").int(living as u64);
        w.key("vms").list(&rows, |w, r| {
            let (f, seconds) = (&r.figures, |ticks: u64| ticks as f64 * scale / 1e9);
            w.object(|w| {
                w.key("id").int(r.account.identity.id);
                w.key("name").string(&r.account.identity.name);
                w.key("state").string(state(f));
                w.key("channel").int(channel_of(f));
                w.key("memory").int(r.account.heap_bytes.load(Relaxed));
                w.key("life").float(seconds(f.life));
                for a in Activity::ALL {
                    w.key(a.name()).float(seconds(f.active[a as usize]));
                }
                w.key("ready").float(seconds(f.ready));
                w.key("wait").float(seconds(f.waiting()));
                w.key("received").int(f.received);
            });
        });
        w.key("report").raw(json::brief(&p, &causes(&p)).trim_end());
    });
    w.text.push('\n');
    w.text
}

/// What `zakuro top` shows, fields parted by tabs: a line `process`, one for the bottleneck, `vm` and `channel` lines.
pub(super) fn lines(s: &Source) -> String {
    let p = Picture::take(&s.book, &s.scheduler, true, &mut |_| true);
    let (_, scale) = s.book.clock.now();
    let seconds = |ticks: u64| ticks as f64 * scale / 1e9;
    let (rows, living) = rows(s);
    let ledger = Ledger::stats();
    let clean = |text: &str| text.replace(|c: char| c.is_control(), " ");
    let mut out = String::new();
    let busy: f64 = p.workers.iter().sum();
    let _ = writeln!(
        out,
        "process\t{}\t{:.3}\t{:.3}\t{}\t{busy:.3}\t{}\t{}\t{living}\t{}",
        std::process::id(),
        p.wall,
        p.cpu,
        p.workers.len(),
        resident(),
        ledger.in_use * BLOCK_SIZE,
        p.vms(),
    );
    if let Some(c) = causes(&p).first() {
        let _ = writeln!(out, "bottleneck\t{}\t{}", c.code, clean(&c.sentence));
    }
    for r in &rows {
        let f = &r.figures;
        let active: u64 = f.active();
        let _ = writeln!(
            out,
            "vm\t{}\t{}\t{}\t{:.3}\t{:.3}\t{:.3}\t{:.3}\t{:.3}\t{}\t{}",
            r.account.identity.id,
            clean(&r.account.identity.name),
            state(f),
            seconds(f.life),
            seconds(active - f.active[Activity::Collect as usize]),
            seconds(f.active[Activity::Collect as usize]),
            seconds(f.ready),
            seconds(f.waiting()),
            f.received,
            r.account.heap_bytes.load(Relaxed),
        );
    }
    for c in p.channels.iter().take(50) {
        let receive = c.receive_waited();
        let _ = writeln!(
            out,
            "channel\t{}\t{}\t{}\t{}\t{}\t{receive:.3}\t{:.3}",
            clean(&c.called()),
            c.sent,
            c.received,
            c.sent.saturating_sub(c.received),
            c.deepest,
            c.send_waited(),
        );
    }
    out
}
