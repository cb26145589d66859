//! A host that serves 100 tenants, each with a VM and limits of its own. One tenant's code loops, one hoards memory, one raises: the others
//! don't notice. `cargo run --release -p zakuro-runtime --example tenants`

use std::time::{Duration, Instant};
use zakuro_runtime::{Error, Outcome, Process, Vm};

const TENANTS: usize = 100;
const ROUNDS: i64 = 20;

/// What most tenants uploaded: code with state, kept between requests.
const GOOD: &str = r#"
  CARTS = Hash.new { |carts, user| carts[user] = [] }
  def request(user, price)
    CARTS[user] << price
    { user: user, items: CARTS[user].size, total: CARTS[user].sum }
  end
"#;
const LOOPS: &str = "def request(user, price) = loop {}";
const HOARDS: &str = "KEPT = []\ndef request(user, price) = loop { KEPT << 'x' * 10_000 }";
const RAISES: &str = "def request(user, price) = raise(KeyError, \"no cart of #{user}\")";

fn tenant(process: &std::sync::Arc<Process>, n: usize) -> Result<Vm, Error> {
    let source = match n {
        13 => LOOPS,
        31 => HOARDS,
        57 => RAISES,
        _ => GOOD,
    };
    process
        .vm(format!("tenant {n}"))
        .source("upload.rb", source)
        .memory_limit(16 << 20)
        .cpu_limit(Duration::from_millis(300))
        .capture_output()
        .serve()
}

fn main() -> Result<(), Error> {
    let process = Process::builder().build()?;
    let start = Instant::now();
    let tenants = (0..TENANTS).map(|n| tenant(&process, n)).collect::<Result<Vec<_>, _>>()?;
    // A host thread for each ten tenants.
    let (mut served, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        let hosts: Vec<_> = tenants
            .chunks(10)
            .map(|part| {
                scope.spawn(move || {
                    let (mut served, mut refused) = (0, 0);
                    for round in 1..=ROUNDS {
                        for vm in part {
                            let answer = vm.call::<zakuro_runtime::Value>("request", ("ann", round));
                            match answer {
                                Ok(v) => {
                                    let total = v.get("total").cloned();
                                    assert_eq!(total, Some(zakuro_runtime::Value::Int(round * (round + 1) / 2)), "{}", vm.name());
                                    served += 1;
                                }
                                Err(_) => refused += 1,
                            }
                        }
                    }
                    (served, refused)
                })
            })
            .collect();
        for h in hosts {
            let (s, r) = h.join().unwrap_or_default();
            served += s;
            refused += r;
        }
    });
    println!("{served} requests served, {refused} refused, in {} ms", start.elapsed().as_millis());
    for vm in &tenants {
        match (vm.outcome(), vm.call_timeout::<zakuro_runtime::Value>("request", ("bob", 1), Duration::from_secs(1))) {
            (Some(outcome), _) => println!("{}: {outcome}", vm.name()),
            (None, Err(Error::Exception(e))) => println!("{}: alive, raises {} ({})", vm.name(), e.message, e.class),
            (None, Err(e)) => println!("{}: alive, {e}", vm.name()),
            (None, Ok(_)) => {}
        }
    }
    tenants.iter().for_each(Vm::close);
    let clean = tenants.iter().filter(|vm| vm.join() == Outcome::Done).count();
    println!("{clean} of {TENANTS} tenants ended by themselves");
    Ok(())
}
