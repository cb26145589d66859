//! `RubyVM.stat`, `RubyVM.report`, `RubyVM#stat`, `RubyVM::Channel#stat`, `Thread#stat`: what was counted, as Ruby programs see it.
//!
//! The main VM sees all VMs of the process, others themselves and those that descend from them, as of `RubyVM.list`.

use crate::causes::causes;
use crate::picture::Picture;
use crate::{json, report, timeline};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use zakuro_core_vms::vm_api::channel::channel_of;
use zakuro_core_vms::vm_api::power::control;
use zakuro_macros::ruby_class;
use zakuro_vm::account::{Account, Activity, Book, Now, WaitKind};
use zakuro_vm::lineage::Identity;
use zakuro_vm::*;

pub static TABLES: &[&[MethodRow]] = &[stat_class::METHODS, channel_stat::METHODS, thread_stat::METHODS];

pub fn setup(_: &mut Cx) {}

/// The book of the process. None: it does not count.
fn book(cx: &Cx) -> Option<Arc<Book>> {
    cx.counting.as_ref().map(|c| c.book.clone())
}

/// Whether the calling VM may see what is told of another.
fn sight(cx: &mut Cx) -> Result<impl FnMut(&Arc<Identity>) -> bool + use<>> {
    let control = cx.host_handle()?.control;
    let (all, me) = (cx.owns_process(), control.id);
    let mut known = HashMap::new();
    Ok(move |who: &Arc<Identity>| all || who.descends_from(me, &mut known))
}

fn put(cx: &mut Cx, h: Ref<HashCell>, name: &str, v: Value) -> Result<()> {
    cx.hash_set(h, Value::sym(Sym::intern(name)), v)
}
fn put_number(cx: &mut Cx, h: Ref<HashCell>, name: &str, n: u64) -> Result<()> {
    let v = cx.int(n.min(i64::MAX as u64) as i64);
    put(cx, h, name, v)
}
/// `{receive: 12, ...}`: what was waited for, in nanoseconds.
fn put_waits(cx: &mut Cx, h: Ref<HashCell>, waits: impl Iterator<Item = (WaitKind, u64)>) -> Result<()> {
    let list = cx.new_hash();
    for (kind, ns) in waits.filter(|(_, ns)| *ns > 0) {
        put_number(cx, list, kind.name(), ns)?;
    }
    put(cx, h, "waits", list.as_value())
}

fn picture(cx: &mut Cx) -> Result<Picture> {
    let Some(book) = book(cx) else {
        return cx.raise(ids::RUNTIME_ERROR, "nothing is counted: start the program with --account or --report");
    };
    let scheduler = cx.host_handle()?.scheduler;
    let mut shows = sight(cx)?;
    Ok(Picture::take(&book, &scheduler, cx.owns_process(), &mut shows))
}

#[ruby_class(ids::RUBY_VM)]
pub mod stat_class {
    use super::*;

    /// Counters of the process, or one of them. Sources are read and compiled once for all VMs: `:code_files_read` and `:code_files_compiled` say how many
    /// times that was done (evals are not counted), `:code_read_hits` and `:code_cache_hits` how many times it was not necessary. Memory for cells comes in chunks of 128 MB, of which heaps get blocks of 64 KB
    /// in lots: `:ledger_blocks_in_use` are with heaps, `:ledger_blocks_free` wait for one (those `_given_to_system` without memory), `:ledger_lots_out` and `:ledger_lots_back` count how often; `:memory_granted` is the part of their growth, in percent, that heaps get while memory is scarce. For a VM's own see `GC.stat` and `GC.stat_heap`. `:next_shape_id` is for `ObjectSpace.dump_shapes`. Where the process counts (`--account`) there are
    /// `:wall`, `:cpu`, `:busy` (nanoseconds; workers' time with VMs), `:workers`, and `:vms`, the number of VMs so far, with those that have ended (`RubyVM.list` has the others).
    ///
    ///     RubyVM.stat.keys.first(4)   #=> [:code_files_read, :code_read_hits, :code_files_compiled, :code_cache_hits]
    ///     RubyVM.stat(:code_files_compiled) > 0   #=> true
    #[method("stat", singleton)]
    fn stat(cx: &mut Cx, _this: Value, what: Option<Value>) -> Result<Value> {
        let c = codecache::counts();
        let ledger = zakuro_heap::Ledger::stats();
        let mut next_shape = 0;
        cx.each_shape(&mut |id, _| next_shape = next_shape.max(u64::from(id) + 1));
        let mut rows = vec![
            ("code_files_read", c.read),
            ("code_read_hits", c.read_hits),
            ("code_files_compiled", c.compiled),
            ("code_cache_hits", c.hits),
            ("next_shape_id", next_shape),
            ("ledger_chunks", ledger.chunks as u64),
            ("ledger_blocks_in_use", ledger.in_use as u64),
            ("ledger_blocks_free", ledger.free_dirty as u64),
            ("ledger_blocks_given_to_system", ledger.free_clean as u64),
            ("memory_granted", u64::from(zakuro_heap::Ledger::get().granted())),
            ("ledger_lots_out", ledger.lots_out),
            ("ledger_lots_back", ledger.lots_back),
        ];
        if let Some(book) = book(cx) {
            let scheduler = cx.host_handle()?.scheduler;
            let (_, scale) = book.clock.now();
            let busy: u64 = scheduler.busy_ticks().iter().sum();
            let mut shows = sight(cx)?;
            let vms = book.accounts().iter().filter(|a| shows(&a.identity)).count() as u64;
            let folded: u64 = if cx.owns_process() { book.folded().iter().map(|(_, f)| f.vms).sum() } else { 0 };
            rows.extend([
                ("wall", book.clock.began.elapsed().as_nanos() as u64),
                ("cpu", book.clock.used().as_nanos() as u64),
                ("busy", book.busy_told((busy as f64 * scale) as u64)),
                ("workers", scheduler.workers() as u64),
                ("vms", vms + folded),
            ]);
        }
        let into = match what {
            None => cx.new_hash(),
            Some(w) if w.as_sym().is_some() => {
                return match rows.iter().find(|(name, _)| Value::sym(Sym::intern(name)) == w) {
                    Some((_, n)) => Ok(cx.int(*n as i64)),
                    None => {
                        let name = cx.to_s(w)?.to_text();
                        cx.arg_error(format!("unknown key: {name}"))
                    }
                };
            }
            Some(w) => match Ref::<HashCell>::from_value(w) {
                Some(h) => {
                    cx.check_frozen(w)?;
                    h
                }
                None => return cx.type_error("non-hash or symbol given"),
            },
        };
        for (name, n) in rows {
            put_number(cx, into, name, n)?;
        }
        Ok(into.as_value())
    }

    /// Where the time went so far, as a page of text that ends with what held the program up; with `format: :json` as JSON of a stable form. The process has to count
    /// (`--account`, `--report`), else RuntimeError. A VM that is not the main one is told of itself and its descendants.
    ///
    ///     (RubyVM.report rescue $!.message)   #=> "nothing is counted: start the program with --account or --report"
    #[method("report", singleton)]
    fn report(cx: &mut Cx, _this: Value, kw: Kwargs) -> Result<String> {
        let format = Sym::intern("format");
        kw.only(cx, &[format])?;
        let format = kw.get(format).and_then(Value::as_sym).map_or_else(|| "text".into(), |s| s.name().into_owned());
        if format != "text" && format != "json" {
            return cx.arg_error("format must be :text or :json");
        }
        let p = picture(cx)?;
        let causes = causes(&p);
        Ok(if format == "json" { json::text(&p, &causes) } else { report::text(&p, &causes) })
    }

    /// Keeps what happens for so many seconds and returns it as a timeline for ui.perfetto.dev: all VMs of the process, so only the main VM may (RubyVM::PermissionError). The process has to
    /// count (`--account`), else RuntimeError.
    ///
    ///     (RubyVM.trace(0.1) rescue $!.class)   #=> RuntimeError
    #[method("trace", singleton)]
    fn trace(cx: &mut Cx, _this: Value, seconds: Value) -> Result<String> {
        let how_long = zakuro_core_base::interval::duration(cx, seconds)?;
        let Some(book) = book(cx) else {
            return cx.raise(ids::RUNTIME_ERROR, "nothing is counted: start the program with --account or --report");
        };
        if !cx.owns_process() {
            return cx.raise(ids::VM_PERMISSION_ERROR, "RubyVM.trace: only the main VM may see what others do");
        }
        let since = zakuro_sched::clock::ticks();
        let before = book.switches.tracing.swap(true, Relaxed);
        let slept = cx.sleep(Some(how_long));
        let text = timeline::text(&book, since);
        book.switches.tracing.store(before, Relaxed);
        slept.map(|_| text)
    }

    /// What the VM did so far, in nanoseconds: `life:`, parts of its turns (`run:`, `collect:`, `pack:`, `open:`, `image:`, `compile:`, `load:`), `ready:` (in a run queue) and
    /// `wait:`, which `waits:` has by kind; `turns:`, `collections:`, `received:` messages, `state:` and the number of the `channel:` that it waits at. No figure is less than it was when somebody asked before, and those of a VM that has ended stay as they are. nil where the process does not count.
    ///
    ///     RubyVM.current.stat   #=> nil
    #[method("stat")]
    fn vm_stat(cx: &mut Cx, this: Value) -> Result<Value> {
        let id = control(cx, this, "stat")?.id;
        let Some(book) = book(cx) else { return Ok(Value::NIL) };
        let Some(account) = book.account(id) else { return Ok(Value::NIL) };
        let (now, scale) = book.clock.now();
        let f = account.figures(now);
        let mut told: Vec<u64> = [f.life, f.ready].iter().chain(&f.active).chain(&f.waits).map(|t| (*t as f64 * scale) as u64).collect();
        account.told(&mut told, f.now.is_none());
        let (life, ready, (active, waits)) = (told[0], told[1], told[2..].split_at(f.active.len()));
        let h = cx.new_hash();
        put_number(cx, h, "life", life)?;
        for a in Activity::ALL {
            put_number(cx, h, a.name(), active[a as usize])?;
        }
        put_number(cx, h, "ready", ready)?;
        put_number(cx, h, "wait", waits.iter().sum())?;
        put_waits(cx, h, WaitKind::ALL.into_iter().map(|k| (k, waits[k as usize])))?;
        for (name, n) in [("turns", f.turns), ("collections", f.collections), ("received", f.received)] {
            put_number(cx, h, name, n)?;
        }
        let (state, channel) = match f.now {
            None => ("ended", 0),
            Some(Now::Active(a)) => (a.name(), 0),
            Some(Now::Ready) => ("ready", 0),
            Some(Now::Waiting(kind, channel)) => (kind.name(), channel),
        };
        put(cx, h, "state", Value::sym(Sym::intern(state)))?;
        put(cx, h, "channel", if channel == 0 { Value::NIL } else { Value::fixnum(channel as i64) })?;
        Ok(h.as_value())
    }
}

/// What the VMs that may be seen did at a channel.
#[derive(Default)]
struct AtChannel {
    receive_ticks: u64,
    send_ticks: u64,
    received: u64,
    senders: Vec<String>,
    receivers: Vec<String>,
}

/// Names that are listed.
const NAMES: usize = 100;

fn at_channel(accounts: &[Arc<Account>], channel: u64, now: u64, shows: &mut dyn FnMut(&Arc<Identity>) -> bool) -> AtChannel {
    let mut all = AtChannel::default();
    for a in accounts {
        if let Some((kind, at, ticks)) = a.waits_at(now)
            && at == channel
        {
            *if kind == WaitKind::Send { &mut all.send_ticks } else { &mut all.receive_ticks } += ticks;
        }
        let Some(u) = a.channels().into_iter().find(|u| u.channel == channel) else { continue };
        all.receive_ticks += u.receive_ticks.load(Relaxed);
        all.send_ticks += u.send_ticks.load(Relaxed);
        all.received += u.received.load(Relaxed);
        if !shows(&a.identity) {
            continue;
        }
        if u.sent.load(Relaxed) > 0 && all.senders.len() < NAMES {
            all.senders.push(a.identity.name.to_string());
        }
        if u.received.load(Relaxed) > 0 && all.receivers.len() < NAMES {
            all.receivers.push(a.identity.name.to_string());
        }
    }
    all
}

#[ruby_class(ids::CHANNEL)]
pub mod channel_stat {
    use super::*;

    /// What is in the channel (`size:`, `queued_bytes:`, `waiting:`, `closed:`) and, where the process counts, what went through: `sent:` and `received:` messages, their `bytes:`, `deepest:`, the most that
    /// were queued at a time, `receive_wait:` and `send_wait:`, for how long VMs waited (nanoseconds, all together), and the names of those VMs among `senders:` and `receivers:` that the caller
    /// may see.
    ///
    ///     c = RubyVM::Channel.new; c << 1; c.stat[:size]   #=> 1
    #[method("stat")]
    fn stat(cx: &mut Cx, this: Value) -> Result<Value> {
        let ch = channel_of(cx, this)?.clone();
        let h = cx.new_hash();
        put_number(cx, h, "size", ch.len() as u64)?;
        put_number(cx, h, "queued_bytes", ch.queued_bytes() as u64)?;
        put_number(cx, h, "waiting", ch.waiting() as u64)?;
        put(cx, h, "closed", if ch.is_closed() { Value::TRUE } else { Value::FALSE })?;
        let (Some(book), Some(record)) = (book(cx), ch.record()) else { return Ok(h.as_value()) };
        let (now, scale) = book.clock.now();
        let mut shows = sight(cx)?;
        let all = at_channel(&book.accounts(), ch.id(), now, &mut shows);
        let ns = |ticks: u64| (ticks as f64 * scale) as u64;
        let [received, receive_wait, send_wait] = record.told([all.received, ns(all.receive_ticks), ns(all.send_ticks)]);
        for (name, n) in [
            ("sent", record.sent()),
            ("received", received),
            ("bytes", record.bytes()),
            ("deepest", record.deepest()),
            ("receive_wait", receive_wait),
            ("send_wait", send_wait),
        ] {
            put_number(cx, h, name, n)?;
        }
        for (name, list) in [("senders", all.senders), ("receivers", all.receivers)] {
            let list = cx.str_array(&list);
            put(cx, h, name, list)?;
        }
        Ok(h.as_value())
    }
}

#[ruby_class(ids::THREAD)]
pub mod thread_stat {
    use super::*;

    /// What the thread did so far, in nanoseconds: `run:`, `ready:` (it could run, but another thread or VM did), `wait:`, and `waits:` by kind. No figure is less than it was when somebody asked before. nil where the process does not count, of threads of our libraries, and of
    /// threads of other VMs.
    ///
    ///     Thread.current.stat   #=> nil
    #[method("stat")]
    fn stat(cx: &mut Cx, this: Value) -> Result<Value> {
        let Some((run, ready, waits)) = cx.thread_figures(this)? else { return Ok(Value::NIL) };
        let h = cx.new_hash();
        put_number(cx, h, "run", run)?;
        put_number(cx, h, "ready", ready)?;
        put_number(cx, h, "wait", waits.iter().map(|(_, ns)| ns).sum())?;
        put_waits(cx, h, waits.into_iter())?;
        Ok(h.as_value())
    }

    /// For threads of our own libraries: no report takes the running one for one of the program's.
    #[method("__not_counted", singleton, private)]
    fn not_counted(cx: &mut Cx, _this: Value) -> Result<()> {
        cx.thread_is_not_counted();
        Ok(())
    }
}
