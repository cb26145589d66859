//! A panic of Rust code ends the VM that it happened in, and nobody else notices. Provoked by a function of the host that panics.

use std::sync::Arc;
use zakuro_runtime::{Outcome, Process, Value};

const TEXT: &str = r#"
def report(vm) = vm.report.then { |r| [r[:kind], vm.status, r[:message]] }
watch = RubyVM::Channel.new
witness = RubyVM::Channel.new
ways = {
  call: -> { boom("call") },
  block: -> { [1].each { |_| [2].map { boom("block") } } },
  ensure: -> { begin; raise "x"; ensure; boom("ensure"); end },
  rescued: -> { begin; boom("rescued"); rescue Exception; witness << :rescued; ensure; witness << :ensured; end },
  fiber: -> { Fiber.new { Fiber.new { boom("fiber") }.resume }.resume },
  enumerator: -> { e = Enumerator.new { |y| y << 1; boom("enumerator") }; e.next; e.next },
  thread: -> { Thread.new { boom("thread") }; sleep },
  fork: -> { RubyVM.fork { boom("inner") }.join rescue boom("fork") },
  at_exit: -> { at_exit { boom("at_exit") } },
  missing: -> { o = Object.new; def o.method_missing(*) = boom("missing"); o.anything },
  sort: -> { [3, 1, 2].sort { boom("sort") } },
  compare: -> { o = Object.new; def o.hash = boom("hash"); { o => 1 } },
  locked: -> { Mutex.new.synchronize { boom("locked") } },
  deep: -> { f = ->(n) { n == 0 ? boom("deep") : f.(n - 1) }; f.(500) },
  finalizer: -> { 100.times { ObjectSpace.define_finalizer(Object.new, proc { boom("finalizer") }) }; 50.times { GC.start; Array.new(1000) { [] } } },
}
busy = RubyVM.fork(witness) { |w| n = 0; n += 1 while w.size >= 0 && n < 200_000; n }
out = ways.map do |name, way|
  vm = RubyVM.fork(name: name.to_s, &way)
  vm.monitor(watch)
  value = begin; vm.value; :none; rescue RubyVM::Error => e; e.message; end
  [name, watch.recv, *report(vm), value, vm.alive?]
end
# Those that wait for one that panics, and a channel that it had a place at.
ch = RubyVM::Channel.new
waiting = RubyVM.fork(ch) { |c| c.recv }
RubyVM.fork(ch) { |c| Thread.new { c.recv }; Thread.pass; boom("waiter") }.join rescue 0
ch << 1; ch << 2
ractor = Ractor.new { boom("ractor") }
remote = begin; ractor.value; rescue => e; e.class.name; end
[out.inspect, busy.value, [1, 2].include?(waiting.value), remote, witness.size, RubyVM.list.size].inspect
"#;

fn process() -> Arc<Process> {
    Process::builder().workers(2).build().unwrap()
}

#[test]
fn a_panic_ends_its_vm_alone() {
    let p = process();
    let boom = |args: Vec<Value>| match &args[..] {
        [Value::Str(s)] => panic!("provoked: {s}"),
        _ => panic!("provoked"),
    };
    let vm = p.vm("main").source("panics.rb", TEXT).function("boom", boom).stderr(|_| {}).start().unwrap();
    let said = vm.value::<String>().unwrap();
    for name in [
        "call",
        "block",
        "ensure",
        "rescued",
        "fiber",
        "enumerator",
        "thread",
        "fork",
        "at_exit",
        "missing",
        "sort",
        "hash",
        "locked",
        "deep",
        "finalizer",
    ] {
        assert!(said.contains(&format!("provoked: {name}")), "{name}: {said}");
    }
    assert_eq!(said.matches(":aborted, :aborted, 1").count(), 15, "{said}");
    assert!(said.ends_with(", 200000, true, \"Ractor::RemoteError\", 0, 1]"), "{said}");
    assert_eq!(vm.join(), Outcome::Done);
    // A new one in the same process.
    assert_eq!(p.vm("next").source("n.rb", "RubyVM.fork { 41 }.value + 1").start().unwrap().value::<i64>().unwrap(), 42);
    // The host's own view.
    let vm = p.vm("host").source("h.rb", "boom").function("boom", |_| panic!("of the host")).start().unwrap();
    assert_eq!(vm.join(), Outcome::Internal("of the host".into()));
}
