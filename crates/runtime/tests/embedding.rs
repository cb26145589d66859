//! The embedding API as a host uses it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zakuro_runtime::api::Limit;
use zakuro_runtime::{Channel, Error, Outcome, Process, Value};

fn process() -> Arc<Process> {
    Process::builder().workers(2).build().unwrap()
}

#[test]
fn a_program_runs_to_its_end() {
    let p = process();
    let vm = p.vm("one").source("one.rb", "$stdout.puts 'hi', [1, [2]]; print :a; warn 'w'; p __FILE__, ARGV; 40 + 2").args(["x", "y"]);
    let vm = vm.capture_output().start().unwrap();
    assert_eq!(vm.value::<i64>().unwrap(), 42);
    assert_eq!(vm.join(), Outcome::Done);
    assert_eq!(String::from_utf8(vm.output()).unwrap(), "hi\n1\n2\naw\n\"one.rb\"\n[\"x\", \"y\"]\n");
    assert!(!vm.is_alive());
    assert_eq!(vm.outcome(), Some(Outcome::Done));
}

#[test]
fn ends_are_values() {
    let p = process();
    let run = |text: &str| p.vm("end").source("end.rb", text).capture_output().start().unwrap().join();
    assert_eq!(run("exit 3"), Outcome::Exit(3));
    assert_eq!(run("exit!"), Outcome::Exit(1));
    assert_eq!(run("abort"), Outcome::Exit(1));
    match run("def f = raise(ArgumentError, 'no')\nf") {
        Outcome::Exception(e) => {
            assert_eq!((e.class.as_str(), e.message.as_str()), ("ArgumentError", "no"));
            assert_eq!(e.backtrace, ["end.rb:1:in 'Object#f'", "end.rb:2:in '<main>'"]);
            assert!(e.report.contains("end.rb:1:in 'Object#f': no (ArgumentError)"), "{}", e.report);
        }
        other => panic!("{other:?}"),
    }
    match run("def f(") {
        Outcome::Exception(e) => assert_eq!(e.class, "SyntaxError"),
        other => panic!("{other:?}"),
    }
    match run("def f = f\nf") {
        Outcome::Exception(e) => assert_eq!(e.class, "SystemStackError"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(p.vm("x").start(), Err(Error::Invalid(_))));
    assert!(matches!(p.vm("x").file("/no/such/file.rb").start(), Err(Error::File { .. })));
}

#[test]
fn calls_convert_both_ways() {
    let p = process();
    let vm = p
        .vm("calls")
        .source("calls.rb", "def same(x) = x\ndef sum(*list) = list.sum\ndef show(x) = x.inspect\ndef oops = raise(KeyError, 'k')")
        .serve()
        .unwrap();
    assert_eq!(vm.call::<i64>("sum", (1, 2, 3)).unwrap(), 6);
    assert_eq!(vm.call::<i64>("sum", ()).unwrap(), 0);
    assert_eq!(vm.call::<f64>("same", (1.5,)).unwrap(), 1.5);
    assert!(vm.call::<bool>("same", (true,)).unwrap());
    assert_eq!(vm.call::<String>("same", ("grün",)).unwrap(), "grün");
    assert_eq!(vm.call::<Vec<u8>>("same", (vec![0u8, 255],)).unwrap(), [0, 255]);
    assert_eq!(vm.call::<String>("show", (vec![0u8, 255],)).unwrap(), "\"\\x00\\xFF\"");
    assert_eq!(vm.call::<Option<i64>>("same", (None::<i64>,)).unwrap(), None);
    assert_eq!(vm.call::<Vec<Option<i32>>>("same", (vec![Some(1), None],)).unwrap(), [Some(1), None]);
    assert_eq!(vm.call::<(i64, String)>("same", ((7, "x"),)).unwrap(), (7, "x".into()));
    assert_eq!(vm.call::<u64>("same", (u64::MAX,)).unwrap(), u64::MAX);
    assert_eq!(vm.call::<i128>("same", (-(1i128 << 100),)).unwrap(), -(1i128 << 100));
    let map: BTreeMap<String, Vec<i64>> = [("a".to_string(), vec![1]), ("b".to_string(), vec![])].into();
    assert_eq!(vm.call::<BTreeMap<String, Vec<i64>>>("same", (map.clone(),)).unwrap(), map);
    let back: HashMap<String, f64> = vm.eval("{ one: 1, 'two' => 2.5 }").unwrap();
    assert_eq!((back["one"], back["two"]), (1.0, 2.5));
    let v: Value = vm.eval("[nil, :sym, 1..2, { k: 'v' }]").unwrap();
    match &v {
        Value::Array(items) => {
            assert_eq!(items[1], Value::Symbol("sym".into()));
            assert_eq!(items[2], Value::Object { class: "Range".into(), text: "1..2".into() });
            assert_eq!(items[3].get("k"), Some(&Value::Str("v".into())));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(vm.call::<i64>("same", ("text",)), Err(Error::Convert("expected an Integer (i64), got String".into())));
    assert!(matches!(vm.eval::<i32>("1 << 40"), Err(Error::Convert(_))));
    assert!(matches!(vm.eval::<Value>("a = []; a << a"), Err(Error::Convert(_))));
    assert!(matches!(vm.eval::<Value>("a = []; 2000.times { a = [a] }; a"), Err(Error::Convert(_))));
    assert!(matches!(vm.call::<()>("same", (v,)), Err(Error::Convert(_))));
    match vm.call::<()>("oops", ()) {
        Err(Error::Exception(e)) => assert_eq!((e.class.as_str(), e.message.as_str()), ("KeyError", "k")),
        other => panic!("{other:?}"),
    }
    assert!(matches!(vm.call::<()>("nothing_like_it", ()), Err(Error::Exception(_))));
    assert!(matches!(vm.eval::<()>("1 +"), Err(Error::Exception(_))));
    // It goes on after all that.
    assert_eq!(vm.call::<i64>("sum", vec![4i64, 5]).unwrap(), 9);
    vm.close();
    assert_eq!(vm.join(), Outcome::Done);
    assert!(matches!(vm.call::<()>("sum", ()), Err(Error::Ended(Outcome::Done))));
}

#[test]
fn exit_in_a_call_ends_the_vm() {
    let p = process();
    let vm = p.vm("exit").source("exit.rb", "def leave = exit(5)\nat_exit { puts 'bye' }").capture_output().serve().unwrap();
    assert_eq!(vm.call::<()>("leave", ()), Err(Error::Ended(Outcome::Exit(5))));
    assert_eq!(vm.join(), Outcome::Exit(5));
    assert_eq!(vm.output(), b"bye\n");
}

#[test]
fn channels_between_host_and_vms() {
    let p = process();
    let (jobs, results) = (p.channel(), Channel::bounded(&p, 2));
    let text = "jobs, results = RubyVM::ARGV\njobs.each { |n| results << [n, n * n] }\nresults.close";
    let vms: Vec<_> = (0..3).map(|_| p.vm("squares").source("squares.rb", text).objects((&jobs, &results)).start().unwrap()).collect();
    let (sender, count) = (jobs.clone(), 200i64);
    let feeder = std::thread::spawn(move || {
        (0..count).for_each(|n| sender.send(n).unwrap());
    });
    let mut seen: Vec<(i64, i64)> = (0..count).map(|_| results.recv().unwrap()).collect();
    feeder.join().unwrap();
    seen.sort_unstable();
    assert_eq!(seen, (0..count).map(|n| (n, n * n)).collect::<Vec<_>>());
    assert_eq!(results.recv_timeout::<Value>(Duration::from_millis(5)), Err(Error::TimedOut));
    assert_eq!(results.try_recv::<Value>(), Ok(None));
    jobs.close();
    vms.iter().for_each(|vm| assert_eq!(vm.join(), Outcome::Done));
    assert_eq!(results.recv::<Value>(), Err(Error::Closed));
    assert_eq!(jobs.send(1), Err(Error::Closed));
    let own = p.channel();
    own.send(&results).unwrap();
    assert_eq!(own.recv::<Channel>().unwrap(), results);
    let full = Channel::bounded(&p, 1);
    full.send("x").unwrap();
    assert_eq!(full.send_timeout("y", Duration::from_millis(5)), Err(Error::TimedOut));
}

#[test]
fn limits_and_kill() {
    let p = process();
    let looping = p.vm("loop").source("loop.rb", "loop {}").cpu_limit(Duration::from_millis(100)).start().unwrap();
    let hoarding = p.vm("hoard").source("hoard.rb", "a = []; loop { a << 'x' * 1000 }").memory_limit(20 << 20).start().unwrap();
    let sleeping = p.vm("sleep").source("sleep.rb", "sleep").wall_limit(Duration::from_millis(100)).start().unwrap();
    let killed = p.vm("kill").source("kill.rb", "begin; sleep; ensure; puts 'swept'; end").capture_output().start().unwrap();
    assert!(matches!(looping.join(), Outcome::Limit { limit: Limit::Cpu, .. }));
    assert!(matches!(hoarding.join(), Outcome::Limit { limit: Limit::Memory, .. }));
    assert!(matches!(sleeping.join(), Outcome::Limit { limit: Limit::Wall, .. }));
    assert_eq!(killed.join_timeout(Duration::from_millis(1)), None);
    killed.kill();
    assert_eq!(killed.join(), Outcome::Killed);
    let serving = p.vm("serve").source("s.rb", "def spin = loop {}\ndef one = 1").cpu_limit(Duration::from_millis(200)).serve().unwrap();
    assert_eq!(serving.call::<i64>("one", ()).unwrap(), 1);
    assert!(matches!(serving.call::<()>("spin", ()), Err(Error::Ended(Outcome::Limit { limit: Limit::Cpu, .. }))));
    let waiting = p.vm("wait").source("w.rb", "").serve().unwrap();
    waiting.kill();
    assert_eq!(waiting.join(), Outcome::Killed);
    let late = p.vm("late").source("l.rb", "def slow = sleep(0.05)\ndef two = 2").serve().unwrap();
    assert_eq!(late.call_timeout::<()>("slow", (), Duration::from_millis(5)), Err(Error::TimedOut));
    assert_eq!(late.call::<i64>("two", ()).unwrap(), 2);
    late.close();
    assert_eq!(p.kill_all(Duration::from_secs(10)), 0);
}

#[test]
fn output_goes_to_the_host_from_children_too() {
    let p = process();
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    let text = "$stdout.sync = true\nRubyVM.fork { puts 'fork' }.join\nRactor.new { puts 'ractor' }.value\n$stdout << 'a' << :b\nprintf('%03d', 7)\nputc 65\np 1, [2]\nwarn 'not here'";
    let vm = p.vm("out").source("out.rb", text).stdout(move |b| sink.lock().unwrap().extend_from_slice(b)).stderr(|_| {}).start().unwrap();
    assert_eq!(vm.join(), Outcome::Done);
    assert_eq!(String::from_utf8(lines.lock().unwrap().clone()).unwrap(), "fork\nractor\nab007A1\n[2]\n");
}

#[test]
fn ruby_calls_functions_of_the_host() {
    let p = process();
    let vm =
        p.vm("host").source("host.rb", "def go(n) = lookup(n, 'x' => 1) + 1\ndef bad = (lookup(:no) rescue [$!.class.name, $!.message])");
    let vm = vm.function("lookup", |args| match &args[..] {
        [Value::Int(n), Value::Map(_)] => Ok(Value::Int(n * 10)),
        _ => Err(Error::Convert("lookup needs a number".into())),
    });
    let vm = vm.serve().unwrap();
    assert_eq!(vm.call::<i64>("go", (4,)).unwrap(), 41);
    assert_eq!(vm.call::<Vec<String>>("bad", ()).unwrap(), ["TypeError", "lookup needs a number"]);
    assert_eq!(vm.eval::<i64>("RubyVM.fork { go(5) }.value").unwrap(), 51);
}

#[test]
fn two_processes_in_one_program() {
    let (a, b) = (process(), process());
    let run = |p: &Arc<Process>, text: &str| p.vm("v").source("v.rb", text).start().unwrap().value::<String>().unwrap();
    assert_eq!(run(&a, "class String; def twice = self * 2; end; 'a'.twice"), "aa");
    assert_eq!(run(&b, "'a'.respond_to?(:twice).to_s"), "false");
    // A channel of one works in the other: messages belong to nobody.
    let ch = a.channel();
    let vm = b.vm("far").source("far.rb", "RubyVM::ARGV[0] << RubyVM::ARGV[0].recv.reverse").objects((&ch,)).start().unwrap();
    ch.send("abc").unwrap();
    assert_eq!(vm.join(), Outcome::Done);
    assert_eq!(ch.recv::<String>().unwrap(), "cba");
}

#[test]
fn handles_may_be_dropped() {
    let p = process();
    let done = p.channel();
    drop(p.vm("detached").source("d.rb", "RubyVM::ARGV[0] << :done").objects((&done,)).start().unwrap());
    assert_eq!(done.recv::<String>().unwrap(), "done");
    drop(p.vm("serving").source("d.rb", "at_exit { RubyVM::ARGV[0] << :bye }").objects((&done,)).serve().unwrap());
    assert_eq!(done.recv::<String>().unwrap(), "bye");
    assert!(p.vm("broken").source("b.rb", "raise 'x'").start().is_ok());
}

#[test]
fn many_hosts_many_vms() {
    let p = process();
    let hosts: Vec<_> = (0..8)
        .map(|h: i64| {
            let p = p.clone();
            std::thread::spawn(move || {
                for n in 0..25i64 {
                    let vm = p.vm("many").source("many.rb", "$n = 0\ndef add(n) = ($n += n)").serve().unwrap();
                    assert_eq!(vm.call::<i64>("add", (h,)).unwrap(), h);
                    assert_eq!(vm.call::<i64>("add", (n,)).unwrap(), h + n);
                }
            })
        })
        .collect();
    hosts.into_iter().for_each(|h| h.join().unwrap());
}
