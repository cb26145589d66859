//! VMs in native code that does not poll, more than there are workers: the others run on, and what was asked of the stuck ones happens when they come back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};
use zakuro_runtime::api::Limit;
use zakuro_runtime::{Outcome, Process, Vm};

const WORKERS: usize = 2;
const SOON: Duration = Duration::from_secs(20);

/// VMs whose output goes to a sink that computes until it is told to stop; a sink is called on the VM's worker.
struct Stuck {
    stop: Arc<AtomicBool>,
    began: Arc<AtomicUsize>,
}

impl Stuck {
    fn vm(&self, p: &Arc<Process>, wall: Option<Duration>) -> Vm {
        let (stop, began) = (self.stop.clone(), self.began.clone());
        let vm = p.vm("stuck").source("stuck.rb", "$stdout.write('x'); $stdout.flush; Array.new(1000) { |i| i }.sum");
        let vm = if let Some(wall) = wall { vm.wall_limit(wall) } else { vm };
        let sink = move |_: &[u8]| {
            began.fetch_add(1, SeqCst);
            let begin = Instant::now();
            while !stop.load(SeqCst) && begin.elapsed() < SOON {
                std::hint::spin_loop();
            }
        };
        vm.stdout(sink).start().unwrap()
    }
}

#[test]
fn neighbours_run_on() {
    let p = Process::builder().workers(WORKERS).build().unwrap();
    let stuck = Stuck { stop: Arc::default(), began: Arc::default() };
    let mut vms: Vec<Vm> = (0..WORKERS + 1).map(|_| stuck.vm(&p, None)).collect();
    let limited = stuck.vm(&p, Some(Duration::from_millis(50)));
    let source = "worst = 0.0
        last = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        300.times do
          sleep 0.001
          at = Process.clock_gettime(Process::CLOCK_MONOTONIC)
          worst = [worst, at - last].max
          last = at
        end
        worst";
    let neighbour = p.vm("neighbour").source("neighbour.rb", source).start().unwrap();
    assert_eq!(neighbour.join_timeout(SOON), Some(Outcome::Done), "the neighbour runs");
    // It is stopped for 30 ms a stuck VM; without replacement, for ever.
    let worst = neighbour.value::<f64>().unwrap();
    assert!(worst < 2.0, "{worst}");
    assert_eq!(stuck.began.load(SeqCst), WORKERS + 2, "each of them has had its turn");
    let killed = vms.pop().unwrap();
    killed.kill_within(Duration::ZERO);
    assert_eq!(killed.join_timeout(Duration::from_millis(30)), None, "native code is left when it is done");
    assert_eq!(limited.join_timeout(Duration::from_millis(1)), None);
    stuck.stop.store(true, SeqCst);
    assert_eq!(killed.join_timeout(SOON), Some(Outcome::Killed));
    assert!(matches!(limited.join_timeout(SOON), Some(Outcome::Limit { limit: Limit::Wall, .. })));
    for vm in vms {
        assert_eq!(vm.join_timeout(SOON), Some(Outcome::Done));
        assert_eq!(vm.value::<i64>().unwrap(), 499_500);
    }
    assert_eq!(p.kill_all(SOON), 0);
}

/// What the turns out of sight use, searches with one regexp included, is theirs alone.
#[test]
fn they_compute_what_they_should() {
    let p = Process::builder().workers(WORKERS).build().unwrap();
    let source = "text = 'key=value; ' * 200
        sums = Array.new(60) do |i|
          $stdout.write('x') if i % 20 == 0
          [text.scan(/(\\w+)=(\\w+)/).size, text.gsub(/val(?=ue)/) { |m| m.upcase }.count('V'), Fiber.new { i }.resume, Array.new(300) { |k| [k] }.flatten.sum]
        end
        sums.uniq { |a| a.values_at(0, 1, 3) }.size * 1000 + sums.sum { |a| a[2] }";
    let vms: Vec<Vm> = (0..12)
        .map(|_| {
            let sink = |_: &[u8]| {
                let begin = Instant::now();
                while begin.elapsed() < Duration::from_millis(60) {
                    std::hint::spin_loop();
                }
            };
            p.vm("both").source("both.rb", source).stdout(sink).start().unwrap()
        })
        .collect();
    for vm in &vms {
        assert_eq!(vm.join_timeout(SOON * 3), Some(Outcome::Done));
        assert_eq!(vm.value::<i64>().unwrap(), 1000 + 1770);
    }
}
