//! A panic in the middle of a collection: of a payload whose tracer panics. Only the VM that collects ends, and its memory comes back.

use crate::{Outcome, Process};
use std::sync::Arc;
use zakuro_corelib::vm_api::host::{HostFunction, define};
use zakuro_heap::Ledger;
use zakuro_vm::Value as Cell;
use zakuro_vm::{Cx, Marker, NativeData, Result, Sym, Trace, ids};

struct Bomb;
impl NativeData for Bomb {}
impl Trace for Bomb {
    fn trace(&self, _: &mut Marker<'_>) {
        panic!("provoked while marking");
    }
}

/// Every VM of these tests has `bomb`: an object that panics when a collection reaches it.
pub(super) fn prepare(cx: &mut Cx) -> Result<()> {
    let bomb = |cx: &mut Cx, _: &[Cell]| Ok(cx.data(ids::OBJECT, Bomb));
    define(cx, Sym::intern("bomb"), HostFunction(Arc::new(bomb)))
}

const TEXT: &str = r#"
watch = RubyVM::Channel.new
witness = RubyVM::Channel.new
ways = {
  global: -> { $b = bomb; GC.start },
  deep: -> { a = [bomb]; 10_000.times { a = [a, {a: 1}] }; GC.start },
  by_itself: -> { b = bomb; a = []; loop { a << "x" * 100 } },
  rescued: -> { b = bomb; begin; GC.start; rescue Exception; witness << :rescued; ensure; witness << :ensured; end },
  thread: -> { b = bomb; Thread.new { GC.start; sleep }; sleep },
  fiber: -> { b = bomb; Fiber.new { Fiber.new { GC.start }.resume }.resume },
  locked: -> { b = bomb; Mutex.new.synchronize { GC.start } },
  at_exit: -> { $b = bomb; at_exit { GC.start } },
  finalizers: -> { $b = bomb; o = Object.new; ObjectSpace.define_finalizer(o, proc { witness << :finalizer }); GC.start },
  limited: -> { b = bomb; a = []; loop { a << "x" * 1000 } },
  symbols: -> { b = bomb; Symbol.all_symbols },
}
busy = RubyVM.fork(witness) { |w| n = 0; n += 1 while w.size >= 0 && n < 100_000; GC.start; n }
out = ways.map do |name, way|
  vm = RubyVM.fork(name: name.to_s, memory_limit: name == :limited ? 20_000_000 : nil, &way)
  vm.monitor(watch)
  message = begin; vm.value; :none; rescue RubyVM::Error => e; e.message; end
  [watch.recv, vm.status, vm.report[:message], message.include?("internal error"), vm.alive?]
end
[out.uniq.inspect, busy.value, witness.size, RubyVM.list.size].inspect
"#;

#[test]
fn a_panic_while_marking_ends_its_vm_alone() {
    let p = Process::builder().workers(2).build().unwrap();
    let vm = p.vm("main").source("marking.rb", TEXT).stderr(|_| {}).start().unwrap();
    let said = vm.value::<String>().unwrap();
    assert_eq!(vm.join(), Outcome::Done);
    assert_eq!(said, r#"["[[:aborted, 1, \"provoked while marking\", true, false]]", 100000, 0, 1]"#);
    // The blocks of 100 VMs that ended so, with 2 MB of cells each, are free again.
    let waves = "100.times { RubyVM.fork { a = Array.new(50_000) { [_1] }; b = bomb; GC.start }.join rescue 0 }";
    let vm = p.vm("waves").source("waves.rb", waves).stderr(|_| {}).start().unwrap();
    assert_eq!(vm.join(), Outcome::Done);
    drop(vm);
    let stats = Ledger::stats();
    assert!(stats.in_use < 400, "{stats:?}");
}
