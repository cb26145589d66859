//! Nothing of a VM stays when it has ended: every byte that the process has from its allocator and every block of the arena is counted, before and
//! after waves of VMs that end in every way. `FLAT_VMS=100000` for the long run.
//!
//! Counted, not measured: what malloc keeps of freed memory is its own affair, and resident memory hangs on the machine.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use zakuro_heap::Ledger;
use zakuro_runtime::Process;

struct Counting;
static LIVE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as isize, Relaxed);
        // SAFETY: by contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Relaxed);
        // SAFETY: by contract.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LIVE.fetch_add(size as isize - layout.size() as isize, Relaxed);
        // SAFETY: by contract.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// `wave(n)`: n VMs of each kind, together.
const PROGRAM: &str = r##"
  CACHE = { "a" => [1, 2, 3], b: "x" * 10_000 }
  class Tally
    @seen = []
    @@count = 0
    def self.add(x) = (@seen << x; @@count += 1)
  end
  GRAPH = Ractor.make_shareable((0..50).map { |i| "shared #{i}" * 20 })
  def deep(n) = deep(n + 1)
  KINDS = {
    ends: ->(_) { 1 },
    state: ->(_) { CACHE["c"] = Tally.add("y"); Object.const_set(:MADE, Class.new { def x = 1 }).new.x },
    raises: ->(_) { raise ArgumentError, "x" },
    overflows: ->(_) { deep(0) },
    threads: ->(_) { q = Queue.new; Thread.new { q << Fiber.new { 1 }.resume }; Thread.new { sleep }; q.pop },
    messages: ->(c) { d = RubyVM::Channel.new; d << [c, GRAPH, "m" * 5000]; c << d; c << d.recv[1] },
    rings: ->(_) { c, d = RubyVM::Channel.new, RubyVM::Channel.new; c << d; d << [c, GRAPH] },
    forks: ->(_) { CACHE["d"] = 1; RubyVM.fork { CACHE.size }.value },
    killed: ->(_) { RubyVM::Channel.new.recv },
    busy: ->(_) { loop { [1].map { |x| x.to_s } } },
    exits: ->(_) { at_exit { CACHE.clear }; exit! 3 },
  }
  def wave(n)
    inbox = RubyVM::Channel.new
    vms = n.times.flat_map { KINDS.map { |kind, job| [kind, RubyVM.fork(inbox, job) { |c, j| j.call(c) }] } }
    vms.each { |kind, vm| vm.kill(grace: 0) if kind == :killed || kind == :busy }
    vms.each { |_, vm| vm.join rescue nil }
    inbox.close
    vms.each do |kind, vm|
      expected = { raises: [:aborted, "ArgumentError"], overflows: [:aborted, "SystemStackError"], killed: [:killed, nil], busy: [:killed, nil] }[kind]
      report = vm.report.values_at(:kind, :exception)
      raise "#{kind} ended with #{report}" unless expected ? report == expected : report[1].nil?
    end
    vms.size
  end
  def handles = (n = 0; ObjectSpace.each_object(RubyVM) { n += 1 }; n)
  def settle = (GC.start; GC.start; nil)
"##;

/// Kinds in the program.
const KINDS: usize = 11;

fn counts() -> (isize, usize) {
    (LIVE.load(Relaxed), Ledger::stats().in_use)
}

#[test]
fn waves_of_vms_leave_nothing() {
    let vms = std::env::var("FLAT_VMS").ok().and_then(|n| n.parse().ok()).unwrap_or(3000usize);
    let each = 10;
    // Hundreds of reports of how VMs ended. What this test says itself goes through the harness.
    // SAFETY: plain system calls on a descriptor of this process, before there are other threads to use it.
    unsafe { libc::dup2(libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY), 2) };
    let process = Process::builder().workers(2).verbose(None).build().expect("a process");
    let host = process.vm("waves").source("waves.rb", PROGRAM).serve().expect("a VM");
    let wave = || {
        let made: i64 = host.call("wave", (each as i64,)).expect("a wave");
        assert_eq!(made as usize, each * KINDS);
    };
    let settled = || {
        host.call::<()>("settle", ()).expect("a collection");
        // The joined VMs' last native frames end on their own.
        let begin = Instant::now();
        while process.live_vms().len() > 1 && begin.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(5));
        }
        counts()
    };
    (0..4).for_each(|_| wave());
    let before = settled();
    let waves = (vms / (each * KINDS)).max(2);
    (0..waves).for_each(|_| wave());
    let ended = (waves * each * KINDS) as isize;
    let grown = |now: (isize, usize)| (now.0 - before.0, now.1 as isize - before.1 as isize);
    // Tables, pools and the host's own heap breathe: a word on its native stack that nothing has overwritten may still show the last wave, with its reports of a megabyte. Another call overwrites it; what
    // nobody has any more stays whatever comes.
    let fits = |(bytes, blocks): (isize, isize)| bytes < 100_000 + 16 * ended && blocks <= 32;
    let mut left = grown(settled());
    for _ in 0..3 {
        if fits(left) {
            break;
        }
        println!("looking again: {left:?}");
        host.call::<i64>("handles", ()).expect("a walk over the heap");
        left = grown(settled());
    }
    println!("{ended} VMs: {} bytes and {} blocks more than {before:?}", left.0, left.1);
    assert!(fits(left), "{} bytes and {} blocks stay of {ended} VMs", left.0, left.1);
    host.close();
}
