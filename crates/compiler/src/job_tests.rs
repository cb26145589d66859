//! Jobs: what they answer, what they may take, and that they end when nobody waits.

use super::*;
use std::time::Instant;

fn options() -> Options<'static> {
    Options { file: "t.rb", ..Options::default() }
}

fn start(source: &str, limit: usize) -> Job {
    Job::start(Arc::from(source.as_bytes()), &options(), limit).expect("a thread")
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_job_compiles() {
    let job = start("def a = 1\na + 2", usize::MAX);
    let compiled = job.wait(LONG).expect("in time").expect("not left").expect("no error");
    assert_eq!(compiled.code.children.len(), 1);
    let job = start("def", usize::MAX);
    assert!(job.wait(LONG).expect("in time").expect("not left").is_err());
}

#[test]
fn the_parser_is_left_at_its_limit() {
    let deep = "(".repeat(200_000);
    let wide = format!("[{}]", "a,".repeat(200_000));
    for source in [&deep, &wide] {
        for limit in [0, 100_000, 2_000_000] {
            assert_eq!(start(source, limit).wait(LONG).expect("in time").unwrap_err(), Left::Memory);
        }
    }
    // And what it held is given back: a thousand times 2 MB would be seen.
    for _ in 0..1000 {
        assert_eq!(start(&wide[..40_000], 2_000_000).wait(LONG).expect("in time").unwrap_err(), Left::Memory);
    }
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string("/proc/self/status").expect("status");
        let kb: usize =
            status.split("VmRSS:").nth(1).and_then(|s| s.split_whitespace().next()).and_then(|s| s.parse().ok()).expect("VmRSS");
        assert!(kb < 1_000_000, "{kb} KB");
    }
}

#[test]
fn lowering_is_left_at_its_limit() {
    // Little to parse, much to lower: `super` passes all parameters on.
    let names: Vec<String> = (0..200).map(|i| format!("a{i}")).collect();
    let source = format!("def m({}); {} end", names.join(","), "super;".repeat(10_000));
    assert!(start(&source, usize::MAX).wait(LONG).expect("in time").expect("not left").is_ok());
    assert_eq!(start(&source, 12_000_000).wait(LONG).expect("in time").unwrap_err(), Left::Memory);
}

#[test]
fn an_abandoned_job_ends() {
    // Seconds of parsing.
    let source = format!("{}1", "!".repeat(300_000));
    let job = start(&source, usize::MAX);
    assert!(job.wait(Duration::from_millis(20)).is_none());
    let begin = Instant::now();
    job.abandoned.store(true, Ordering::Relaxed);
    assert_eq!(job.wait(LONG).expect("in time").unwrap_err(), Left::Abandoned);
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

#[test]
fn a_job_tells_its_time() {
    let source = format!("{}1", "!".repeat(1_000_000));
    let job = start(&source, usize::MAX);
    let began = Instant::now();
    while job.cpu_time().is_none_or(|t| t.is_zero()) {
        assert!(began.elapsed() < LONG);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_source_is_compiled_in_its_place() {
    let compile = |source: &str, limit, wanted: &dyn Fn() -> bool| in_place(&Arc::from(source.as_bytes()), &options(), limit, wanted);
    let never = || false;
    let compiled = compile("def a = 1\na + 2", usize::MAX, &never).expect("not left").expect("no error");
    assert_eq!(compiled.code.children.len(), 1);
    assert!(compile("def", usize::MAX, &never).expect("not left").is_err());
    // Again and again on the stack that is kept, also after it was used deeply, and for sources that get one of their own.
    for depth in [1, 40, 900, 40, 1900, 1] {
        let source = format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
        let wide = format!("[{}]", "a,".repeat(depth));
        for _ in 0..50 {
            match compile(&source, usize::MAX, &never) {
                Ok(done) => assert!(depth < 900 && done.is_ok()),
                Err(why) => assert!(depth >= 900 && why == Left::Deep),
            }
            assert!(compile(&wide, usize::MAX, &never).expect("not left").is_ok());
            assert_eq!(compile(&wide, 0, &never).unwrap_err(), Left::Memory);
            assert_eq!(compile(&wide, usize::MAX, &|| true).unwrap_err(), Left::Abandoned);
        }
    }
}
