//! Refused allocations, everywhere: malloc says no to hundreds of VMs in the middle of whatever they do. Each of them goes on, gets an exception or is ended;
//! none gets a wrong result or an internal error, no lock stays held, and the process serves others afterwards.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use zakuro_runtime::allocator::ReserveAllocator;
use zakuro_runtime::{Outcome, Process};

/// Requests of VMs so far, and how they are treated: 0: all are met; n: of every n * 256 in a row the last 256 are refused, and every nth large one.
static REQUESTS: AtomicU64 = AtomicU64::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(0);
static MEANNESS: AtomicU64 = AtomicU64::new(0);

struct Mean;

impl Mean {
    fn refuses(&self, size: usize) -> bool {
        let n = MEANNESS.load(Relaxed);
        if n == 0 || zakuro_sched::turn_data().is_null() {
            return false;
        }
        let k = REQUESTS.fetch_add(1, Relaxed);
        let refused = (k >> 8) % n == n - 1 || size > 4096 && k.is_multiple_of(n);
        REFUSED.fetch_add(u64::from(refused), Relaxed);
        refused
    }
}

// SAFETY: System's blocks, or null.
unsafe impl GlobalAlloc for Mean {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is System's.
        if self.refuses(layout.size()) { std::ptr::null_mut() } else { unsafe { System.alloc(layout) } }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: `ptr` came from System with this layout.
        unsafe { System.dealloc(ptr, layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        if self.refuses(size) { std::ptr::null_mut() } else { unsafe { System.realloc(ptr, layout, size) } }
    }
}

#[global_allocator]
static ALLOCATOR: ReserveAllocator<Mean> = ReserveAllocator(Mean);

/// Each makes something out of the number `i`, and says what.
const WORK: &[&str] = &[
    "s = +''; 300.times { |k| s << \"x#{i + k}\" * 20 }; [s.size > 20_000, s.count('x')]",
    "a = Array.new(3000) { |k| k * i }; [a.sort.reverse.map(&:to_s).uniq.size, a.sum, a.each_slice(7).to_a.size]",
    "h = {}; 3000.times { |k| h[\"k#{k}\"] = [k] }; [h.size, h.to_a.flatten.size, h.select { |_, v| v[0].even? }.size, h.invert.size]",
    "c = Class.new { 60.times { |k| define_method(\"m#{k}\") { k } }; attr_accessor :a, :b }; o = c.new; o.a = i; [o.m7, o.a, c.instance_methods(false).size]",
    "x = 3**2000 + i; [x.to_s.size, (x * x).digits.size, x.gcd(12)]",
    "'a,b;c' * 500 =~ /(b);(c)/; [$~[1], ('ab' * 2000).gsub(/b/) { |m| m.upcase }.count('B'), 'x1y22'.scan(/\\d+/)]",
    "f = Fiber.new { 50.times { |k| Fiber.yield k * 2 }; :end }; Array.new(51) { f.resume }.last(2)",
    "q = Queue.new; t = Array.new(3) { |k| Thread.new { 200.times { |n| q << [k, n] } } }; t.each(&:join); q.size",
    "ch = RubyVM::Channel.new; 400.times { |n| ch << { n => 'v' * 50 } }; r = 0; 400.times { r += ch.recv.size }; r",
    "RubyVM.fork(i) { |k| Array.new(500) { |n| n + k }.sum }.value - 500 * i",
    "eval(\"def work_#{i % 50}(a, b: 2) = [a, b].map { |v| v + #{i % 7} }; work_#{i % 50}(1)\").size",
    "Array.new(200) { |k| :\"name_#{i % 50}_#{k}\" }.uniq.size",
    "r = []; begin; raise ArgumentError, 'x' * 5000; rescue => e; r << e.message.size << e.backtrace.class; ensure; r << 1; end; r",
    "d = Marshal.load(Marshal.dump([{ a: [1.5, 'x' * 3000], i => nil }, 2**80])); [d[0][:a][1].size, d[1]]",
    "[[i, 2, 'x']].pack('x2000') rescue [1, 2, 3].pack('N*x3000').size",
    "require 'set'; Set.new((1..2000).map { |k| k % 500 }).size",
    "e = Enumerator.new { |y| 40.times { |k| y << [k] * 50 } }; [e.next.size, e.lazy.map(&:size).first(3), e.to_a.size]",
    "format('%0500d|%-300s|%p', i, 'x', [i] * 10).size > 800",
    "ENV['REFUSAL'] = 'v' * 1000; [ENV['REFUSAL'].size, ENV.to_h.key?('REFUSAL')]",
    "s = Struct.new(:a, :b, keyword_init: true); Array.new(300) { |k| s.new(a: k, b: [k]) }.sum(&:a)",
];

fn program(first: usize, rounds: usize) -> String {
    let list: Vec<String> = (0..WORK.len()).map(|k| WORK[(first + k) % WORK.len()]).map(|w| format!("->(i) {{ {w} }}")).collect();
    // Results don't depend on who is refused; what is refused may be asked for again.
    format!(
        "work = [{}]\nout = []\n{rounds}.times {{ |i| work.each {{ |w| begin; out << w.(i).inspect; rescue NoMemoryError, FiberError, ThreadError, RubyVM::Error; out << nil; end }} }}\nout.join('/')",
        list.join(",\n")
    )
}

#[test]
fn whoever_is_refused_is_the_only_one_that_notices() {
    let p = Process::builder().workers(2).build().unwrap();
    let run = |first: usize| p.vm("w").source("work.rb", program(first, 2)).capture_output().start().unwrap();
    let right: Vec<String> = (0..WORK.len()).map(|k| run(k).value::<String>().unwrap()).collect();
    assert!(right.iter().all(|r| r.split('/').count() == 2 * WORK.len() && !r.split('/').any(str::is_empty)), "{right:?}");
    let (mut whole, mut partly, mut ended) = (0, 0, 0);
    for meanness in [200, 40, 11, 5, 3, 2] {
        MEANNESS.store(meanness, Relaxed);
        let vms: Vec<_> = (0..WORK.len()).map(|k| (k, run(k))).collect();
        let outcomes: Vec<_> = vms.iter().map(|(k, vm)| (*k, vm, vm.join_timeout(Duration::from_secs(120)))).collect();
        MEANNESS.store(0, Relaxed);
        for (k, vm, outcome) in outcomes {
            match outcome {
                Some(Outcome::Done) => {
                    let got = vm.value::<String>().unwrap();
                    let wrong: Vec<_> = got.split('/').zip(right[k].split('/')).filter(|(g, r)| !g.is_empty() && g != r).collect();
                    assert!(wrong.is_empty(), "{meanness} {k}: {wrong:?}");
                    if got == right[k] { whole += 1 } else { partly += 1 }
                }
                Some(Outcome::Exception(e)) => {
                    assert!(
                        ["NoMemoryError", "FiberError", "ThreadError", "RubyVM::Error"].contains(&e.class.as_str()),
                        "{meanness} {k}: {e:?}"
                    );
                    ended += 1;
                }
                other => panic!("{meanness} {k}: {other:?}"),
            }
        }
        // The process is as before.
        for (k, right) in right.iter().enumerate() {
            assert_eq!(&run(k).value::<String>().unwrap(), right);
        }
    }
    // The storm was one: whoever held little was lent what was refused.
    assert!(REFUSED.load(Relaxed) > 100_000 && whole + partly + ended == 6 * WORK.len(), "{whole} {partly} {ended}");
    eprintln!("{whole} whole, {partly} partly, {ended} ended, {} requests", REQUESTS.load(Relaxed));
}
