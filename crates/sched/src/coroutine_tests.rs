use super::*;
use crate::stack::{StackPool, StackSize};

fn fiber<F: FnOnce(&Suspender<u64, u64>, u64) -> u64 + Send + 'static>(pool: &StackPool, f: F) -> Coroutine<u64, u64, u64> {
    // SAFETY: the closure is Send, and the tests keep nothing else across a suspension.
    unsafe { Coroutine::new(pool.take(StackSize::Fiber).unwrap(), f) }
}

#[test]
fn values_go_in_and_out() {
    let pool = StackPool::new();
    let mut c = fiber(&pool, |s, first| first + s.suspend(first + 1));
    assert_eq!(c.resume(1), Resumed::Yielded(2));
    assert!(!c.done());
    assert_eq!(c.resume(10), Resumed::Returned(11));
    assert!(c.done());
    let base = c.into_stack().base();
    assert_eq!(pool.take(StackSize::Fiber).unwrap().base(), base);
}

#[test]
fn saved_sp_covers_the_live_part() {
    let pool = StackPool::new();
    let mut c = fiber(&pool, |s, marker| {
        let words = std::hint::black_box([marker; 64]);
        s.suspend(0);
        words.iter().copied().max().unwrap_or(0)
    });
    let marker = 0x5eed_5eed_5eed_5eed;
    assert_eq!(c.resume(marker), Resumed::Yielded(0));
    let (sp, top) = (c.saved_sp().cast::<u64>(), c.top().cast::<u64>());
    assert!(sp.is_aligned() || (sp as usize) < top as usize);
    let sp = ((sp as usize + 7) & !7) as *const u64;
    let count = (top as usize - sp as usize) / 8;
    // SAFETY: the range lies in the coroutine's stack, which is suspended.
    let found = (0..count).filter(|&i| unsafe { *sp.add(i) } == marker).count();
    assert!(found >= 64, "{found}");
    assert!(count < 2000, "{count}");
    assert_eq!(c.resume(0), Resumed::Returned(marker));
}

#[test]
fn panics_reach_the_resumer() {
    let pool = StackPool::new();
    let mut c = fiber(&pool, |_, _| panic!("inside"));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| c.resume(0)));
    assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"inside"));
    assert!(c.done() && current::anchor().is_null());
}

#[test]
fn moves_between_threads() {
    let pool = StackPool::new();
    let mut c = fiber(&pool, |s, mut sum| {
        for _ in 0..100 {
            sum += s.suspend(sum);
        }
        sum
    });
    let _ = c.resume(0);
    for i in 0..99 {
        (c, _) = std::thread::spawn(move || {
            let out = c.resume(1);
            assert_eq!(out, Resumed::Yielded(i + 1));
            (c, ())
        })
        .join()
        .unwrap();
    }
    assert_eq!(c.resume(1), Resumed::Returned(100));
}

fn deep(n: usize) -> usize {
    let room = std::hint::black_box([n as u8; 1024]);
    if n == 0 { 0 } else { deep(n - 1) + usize::from(room[0] == n as u8) }
}

#[test]
fn deep_recursion_runs_on_the_native_stack_even_when_nested() {
    let pool = StackPool::new();
    let inner_pool = pool.clone();
    let mut outer = fiber(&pool, move |s, _| {
        let nested_pool = inner_pool.clone();
        let mut inner = fiber(&inner_pool, move |s, _| {
            // 1 MiB of frames: four times a fiber's slot.
            let n = on_native_stack(|| {
                // A coroutine started there, which wants the native stack again.
                let mut third = fiber(&nested_pool, |_, _| on_native_stack(|| deep(500)) as u64);
                assert_eq!(third.resume(0), Resumed::Returned(500));
                deep(500)
            });
            s.suspend(n as u64);
            n as u64
        });
        let Resumed::Yielded(n) = inner.resume(0) else { return 0 };
        s.suspend(n);
        let Resumed::Returned(n) = inner.resume(0) else { return 0 };
        n
    });
    assert_eq!(outer.resume(0), Resumed::Yielded(500));
    assert_eq!(outer.resume(0), Resumed::Returned(500));
    let mut c = fiber(&pool, |_, _| on_native_stack(|| panic!("below")));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| c.resume(0))).is_err());
}

struct Bell(std::sync::Arc<std::sync::atomic::AtomicU32>);
impl Drop for Bell {
    fn drop(&mut self) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn an_ended_coroutine_leaves_its_stack() {
    let pool = StackPool::new();
    let rung = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    for way in 0..4 {
        let bell = Bell(rung.clone());
        let mut c = fiber(&pool, move |s, panics| {
            let _bell = bell;
            let last = s.suspend(0);
            assert_eq!(panics, 0, "as asked");
            last
        });
        let resume = |c: &mut Coroutine<u64, u64, u64>, v| std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| c.resume(v)));
        // Not begun, suspended, over, and over by a panic.
        for round in 0..way.min(2) {
            assert_eq!(resume(&mut c, u64::from(way == 3)).is_err(), (way, round) == (3, 1));
        }
        let top = c.top();
        let stack = c.end();
        assert_eq!(stack.top().cast_const(), top);
        assert_eq!(rung.load(std::sync::atomic::Ordering::Relaxed), way + 1, "what the coroutine had is dropped");
        let other = pool.take(StackSize::Fiber).unwrap();
        assert_ne!(other.base(), stack.base(), "the stack is still ours");
    }
}

#[test]
fn dropping_unwinds_and_abandoning_does_not() {
    let pool = StackPool::new();
    let rung = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    for abandon in [false, true] {
        let bell = Bell(rung.clone());
        let mut c = fiber(&pool, move |s, _| {
            let _bell = bell;
            s.suspend(0)
        });
        let _ = c.resume(0);
        if abandon {
            // SAFETY: leaks the bell, on purpose.
            drop(unsafe { c.abandon() });
        } else {
            drop(c);
        }
    }
    assert_eq!(rung.load(std::sync::atomic::Ordering::Relaxed), 1);
}
