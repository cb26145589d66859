//! Mutex, Monitor and ConditionVariable.
//!
//! One payload serves Mutex and Monitor. Unlocking wakes the first thread in line, but does not hand the lock over: whoever comes first has it
//! (handing over makes each lock operation of busy threads a switch).

use super::deadline;
use super::line::{self, Line};
use std::time::Instant;
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::account::WaitKind;
use zakuro_vm::thread::{MAIN, Wait};
use zakuro_vm::*;

#[derive(Trace)]
struct Lock {
    /// Number of the thread that holds it; 0: nobody.
    owner: u32,
    /// Fiber that locked it; nil: none.
    fiber: Value,
    /// How often a Monitor was entered.
    count: usize,
    #[untraced]
    waiters: Line,
}

impl NativeData for Lock {
    fn change_tracking(&self) -> ChangeTracking {
        ChangeTracking::Independent
    }
    /// Free: those who held it are not there.
    fn snapshot(&self, _values: &mut Gathered) -> Option<Rebuild> {
        Some(free_lock())
    }
}

fn free_lock() -> Rebuild {
    savable(|_, _| Some(Box::new(new_lock())), |_| Some("lock"))
}
zakuro_vm::saved_loader!("lock", |r| r.ends(0).map(|()| free_lock()));

fn new_lock() -> Lock {
    Lock { owner: 0, fiber: Value::NIL, count: 0, waiters: Line::default() }
}

fn data(cx: &mut Cx, v: Value) -> Result<&mut Lock> {
    if !cx.is_data::<Lock>(v)
        && let Some(d) = Ref::<DataCell>::from_value(v)
        && !d.is_set()
    {
        // A subclass whose initialize does not call super.
        DataCell::set(d, &mut cx.heap, Box::new(new_lock()));
    }
    cx.data_mut::<Lock>(v)
}

fn line_of(cx: &mut Cx, v: Value) -> Result<&mut Line> {
    Ok(&mut data(cx, v)?.waiters)
}

fn try_lock(cx: &mut Cx, v: Value) -> Result<bool> {
    let (me, fiber) = (cx.thread_id(), cx.current_fiber);
    let l = data(cx, v)?;
    if l.owner != 0 {
        return Ok(false);
    }
    (l.owner, l.fiber) = (me, fiber);
    // Other threads give back what they hold when they end.
    if me != MAIN {
        cx.threads().current().held.push(v);
    }
    Ok(true)
}

fn lock(cx: &mut Cx, v: Value) -> Result<()> {
    if cx.is_in_trap() {
        return cx.raise(ids::THREAD_ERROR, "can't be called from trap context");
    }
    take(cx, v, false)
}

/// Locks whatever comes; an exception that came meanwhile is raised when the lock is held.
fn lock_surely(cx: &mut Cx, v: Value) -> Result<()> {
    take(cx, v, true)
}

fn take(cx: &mut Cx, v: Value, surely: bool) -> Result<()> {
    if try_lock(cx, v)? {
        return Ok(());
    }
    let me = cx.thread_id();
    let l = data(cx, v)?;
    if l.owner == me {
        let fiber = l.fiber;
        if fiber == cx.current_fiber {
            return cx.raise(ids::THREAD_ERROR, "deadlock; recursive locking");
        }
        if cx.fiber_scheduler().is_nil() {
            return cx.raise(ids::THREAD_ERROR, "deadlock; lock already owned by another fiber belonging to the same thread");
        }
    }
    let me = cx.waiter_id();
    let mut place = None;
    let ready = |cx: &mut Cx| {
        if try_lock(cx, v)? {
            return Ok(Some(()));
        }
        data(cx, v)?.waiters.stand(me, &mut place);
        Ok(None)
    };
    cx.waits_for(WaitKind::Lock, v.bits());
    let r = if surely { cx.wait_surely(v, ready) } else { cx.wait_inside(v, None, ready).map(|_| ()) };
    let l = data(cx, v)?;
    if let Some(place) = place {
        l.waiters.leave(place);
    }
    if r.is_err() && l.owner == 0 {
        let first = l.waiters.pop();
        line::wake(cx, v, line_of, first);
    }
    r
}

fn release(cx: &mut Cx, v: Value) -> Result<()> {
    let l = data(cx, v)?;
    let me = l.owner;
    l.owner = 0;
    l.fiber = Value::NIL;
    let first = l.waiters.pop();
    if me != MAIN
        && let Some(t) = cx.threads().get(me)
        && let Some(i) = t.held.iter().rposition(|h| *h == v)
    {
        t.held.swap_remove(i);
    }
    line::wake(cx, v, line_of, first);
    Ok(())
}

fn owned(cx: &mut Cx, v: Value) -> Result<bool> {
    let me = (cx.thread_id(), cx.current_fiber);
    let l = data(cx, v)?;
    Ok((l.owner, l.fiber) == me)
}

fn unlock(cx: &mut Cx, v: Value) -> Result<()> {
    let me = (cx.thread_id(), cx.current_fiber);
    let l = data(cx, v)?;
    if l.owner == 0 {
        return cx.raise(ids::THREAD_ERROR, "Attempt to unlock a mutex which is not locked");
    }
    if (l.owner, l.fiber) != me {
        return cx.raise(ids::THREAD_ERROR, "Attempt to unlock a mutex which is locked by another thread/fiber");
    }
    release(cx, v)
}

/// The thread that holds it has ended.
pub(crate) fn abandon(cx: &mut Cx, v: Value) {
    if let Ok(l) = data(cx, v) {
        l.owner = 0;
        l.fiber = Value::NIL;
        l.count = 0;
        let first = l.waiters.pop();
        line::wake(cx, v, line_of, first);
    }
}

/// Runs the block while the lock is held.
fn synchronize(cx: &mut Cx, v: Value, block: Block) -> Result<Value> {
    if block.is_none() {
        return cx.raise(ids::THREAD_ERROR, "must be called with a block");
    }
    lock(cx, v)?;
    match cx.yield_values(block, &[]) {
        Ok(r) => {
            unlock(cx, v)?;
            Ok(r)
        }
        Err(Exc) => {
            let e = cx.take_pending();
            unlock(cx, v)?;
            cx.repend(e)
        }
    }
}

/// Sleeps with the lock given up; nil when the time was over first, else the seconds slept.
fn sleep_unlocked(cx: &mut Cx, v: Value, timeout: Option<Value>) -> Result<Value> {
    let until = match timeout {
        None | Some(Value::NIL) => None,
        Some(t) => Some(Instant::now() + zakuro_core_base::interval::duration(cx, t)?),
    };
    unlock(cx, v)?;
    let start = Instant::now();
    cx.waits_for(WaitKind::Condition, v.bits());
    let r = cx.sleep_until_woken(Wait::Inside, until);
    let e = cx.take_pending();
    lock_surely(cx, v)?;
    match r {
        Ok(true) => Ok(Value::fixnum(start.elapsed().as_secs_f64().round() as i64)),
        Ok(false) => Ok(Value::NIL),
        Err(Exc) => cx.repend(e),
    }
}

/// Mutex.
#[ruby_class(ids::MUTEX)]
pub mod mutex {
    use super::*;

    /// A mutex that nobody holds.
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value) -> Result<Value> {
        cx.data_init(this, new_lock())?;
        Ok(this)
    }

    /// Takes the lock; waits while another thread holds it.
    ///
    ///     m = Mutex.new; m.lock; m.locked?   #=> true
    #[method("lock")]
    fn lock_(cx: &mut Cx, this: Value) -> Result<Value> {
        lock(cx, this)?;
        Ok(this)
    }

    /// Takes the lock if it is free.
    ///
    ///     m = Mutex.new; [m.try_lock, m.try_lock]   #=> [true, false]
    #[method("try_lock")]
    fn try_lock_(cx: &mut Cx, this: Value) -> Result<bool> {
        try_lock(cx, this)
    }

    /// Gives the lock back.
    ///
    ///     m = Mutex.new; m.lock; m.unlock.locked?   #=> false
    #[method("unlock")]
    fn unlock_(cx: &mut Cx, this: Value) -> Result<Value> {
        unlock(cx, this)?;
        Ok(this)
    }

    /// Does some thread hold it?
    ///
    ///     Mutex.new.locked?   #=> false
    #[method("locked?")]
    fn locked(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(data(cx, this)?.owner != 0)
    }

    /// Does the running thread hold it?
    ///
    ///     m = Mutex.new; m.synchronize { m.owned? }   #=> true
    #[method("owned?")]
    fn owned_(cx: &mut Cx, this: Value) -> Result<bool> {
        owned(cx, this)
    }

    /// Runs the block while holding the lock.
    ///
    ///     Mutex.new.synchronize { 1 }   #=> 1
    #[method("synchronize")]
    fn synchronize_(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        synchronize(cx, this, block)
    }

    /// Gives the lock up, sleeps, and takes it again.
    ///
    ///     m = Mutex.new; m.lock; m.sleep(0.001)   #=> nil
    #[method("sleep")]
    fn sleep(cx: &mut Cx, this: Value, timeout: Option<Value>) -> Result<Value> {
        sleep_unlocked(cx, this, timeout)
    }
}

/// Payload of a ConditionVariable: who waits.
#[derive(Trace, Default)]
struct Condition {
    #[untraced]
    waiters: Line,
}
impl NativeData for Condition {
    fn change_tracking(&self) -> ChangeTracking {
        ChangeTracking::Independent
    }
    fn snapshot(&self, _values: &mut Gathered) -> Option<Rebuild> {
        Some(nobody_waits())
    }
}

fn nobody_waits() -> Rebuild {
    savable(|_, _| Some(Box::new(Condition::default())), |_| Some("ConditionVariable"))
}
zakuro_vm::saved_loader!("ConditionVariable", |r| r.ends(0).map(|()| nobody_waits()));

/// ConditionVariable.
#[ruby_class(ids::COND_VAR)]
pub mod condition {
    use super::*;

    fn waiters(cx: &mut Cx, v: Value) -> Result<&mut Line> {
        Ok(&mut cx.data_mut::<Condition>(v)?.waiters)
    }

    /// A condition variable that nobody waits for.
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value) -> Result<Value> {
        cx.data_init(this, Condition::default())?;
        Ok(this)
    }

    /// Gives the mutex up, waits for a signal, and takes the mutex again. nil when the time was over first.
    ///
    ///     m = Mutex.new; c = ConditionVariable.new; m.synchronize { c.wait(m, 0.001) }   #=> nil
    #[method("wait")]
    fn wait(cx: &mut Cx, this: Value, mutex: Value, timeout: Option<Value>) -> Result<Value> {
        let me = cx.waiter_id();
        let place = waiters(cx, this)?.join(me);
        let timeout = timeout.unwrap_or(Value::NIL);
        let r = if cx.is_data::<Lock>(mutex) && cx.is_builtin(mutex, sym::sleep, ids::MUTEX) {
            sleep_unlocked(cx, mutex, Some(timeout))
        } else {
            cx.call(mutex, sym::sleep, &[timeout])
        };
        let e = cx.pending;
        waiters(cx, this)?.leave(place);
        cx.pending = e;
        r
    }

    /// Wakes the thread that has waited longest.
    ///
    ///     ConditionVariable.new.signal.class   #=> Thread::ConditionVariable
    #[method("signal")]
    fn signal(cx: &mut Cx, this: Value) -> Result<Value> {
        if let Some(id) = waiters(cx, this)?.pop() {
            cx.wake_sleeper(id);
        }
        Ok(this)
    }

    /// Wakes all that wait.
    ///
    ///     ConditionVariable.new.broadcast.class   #=> Thread::ConditionVariable
    #[method("broadcast")]
    fn broadcast(cx: &mut Cx, this: Value) -> Result<Value> {
        while let Some(id) = waiters(cx, this)?.pop() {
            cx.wake_sleeper(id);
        }
        Ok(this)
    }

    /// Condition variables can't be dumped.
    ///
    ///     (ConditionVariable.new.marshal_dump rescue $!.message)   #=> "can't dump Thread::ConditionVariable"
    #[method("marshal_dump")]
    fn marshal_dump(cx: &mut Cx, this: Value) -> Result<Value> {
        let name = cx.class_name_of(this);
        cx.type_error(format!("can't dump {name}"))
    }
}

/// Monitor: a lock that its holder may take again.
#[ruby_class(ids::MONITOR)]
pub mod monitor {
    use super::*;

    fn enter_monitor(cx: &mut Cx, this: Value) -> Result<()> {
        if !owned(cx, this)? {
            lock(cx, this)?;
            data(cx, this)?.count = 0;
        }
        data(cx, this)?.count += 1;
        Ok(())
    }
    fn check(cx: &mut Cx, this: Value) -> Result<&mut Lock> {
        if !owned(cx, this)? {
            return cx.raise(ids::THREAD_ERROR, "current thread not owner");
        }
        data(cx, this)
    }
    fn leave_monitor(cx: &mut Cx, this: Value) -> Result<()> {
        let l = check(cx, this)?;
        l.count = l.count.saturating_sub(1);
        if l.count == 0 { release(cx, this) } else { Ok(()) }
    }

    /// A monitor that no thread is in.
    #[method("initialize", private)]
    fn initialize(cx: &mut Cx, this: Value) -> Result<Value> {
        cx.data_init(this, new_lock())?;
        Ok(this)
    }

    /// Takes the lock, once more if the thread has it.
    ///
    ///     m = Monitor.new; m.enter; m.enter; m.exit; m.mon_locked?   #=> true
    #[method("enter", "mon_enter")]
    fn enter(cx: &mut Cx, this: Value) -> Result<()> {
        enter_monitor(cx, this)
    }

    /// Undoes one `enter`.
    ///
    ///     m = Monitor.new; m.enter; m.exit; m.mon_locked?   #=> false
    #[method("exit", "mon_exit")]
    fn exit(cx: &mut Cx, this: Value) -> Result<()> {
        leave_monitor(cx, this)
    }

    /// As `enter`; false when another thread has the lock.
    ///
    ///     Monitor.new.try_enter   #=> true
    #[method("try_enter", "mon_try_enter", "try_mon_enter")]
    fn try_enter(cx: &mut Cx, this: Value) -> Result<bool> {
        if !owned(cx, this)? {
            if !try_lock(cx, this)? {
                return Ok(false);
            }
            data(cx, this)?.count = 0;
        }
        data(cx, this)?.count += 1;
        Ok(true)
    }

    /// Runs the block while holding the lock.
    ///
    ///     m = Monitor.new; m.synchronize { m.synchronize { 1 } }   #=> 1
    #[method("synchronize", "mon_synchronize")]
    fn synchronize(cx: &mut Cx, this: Value, block: Block) -> Result<Value> {
        enter_monitor(cx, this)?;
        match cx.yield_values(block, &[]) {
            Ok(v) => {
                leave_monitor(cx, this)?;
                Ok(v)
            }
            Err(Exc) => {
                let e = cx.take_pending();
                leave_monitor(cx, this)?;
                cx.repend(e)
            }
        }
    }

    /// Does some thread hold it?
    ///
    ///     Monitor.new.mon_locked?   #=> false
    #[method("mon_locked?")]
    fn locked(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(data(cx, this)?.owner != 0)
    }

    /// Does the running fiber hold it?
    ///
    ///     m = Monitor.new; m.synchronize { m.mon_owned? }   #=> true
    #[method("mon_owned?")]
    fn mon_owned(cx: &mut Cx, this: Value) -> Result<bool> {
        owned(cx, this)
    }

    /// ThreadError unless the running fiber holds it.
    ///
    ///     (Monitor.new.mon_check_owner rescue $!.class)   #=> ThreadError
    #[method("mon_check_owner")]
    fn mon_check_owner(cx: &mut Cx, this: Value) -> Result<()> {
        check(cx, this)?;
        Ok(())
    }

    /// Waits on a ConditionVariable with the monitor given up, however often it was entered.
    #[method("wait_for_cond")]
    fn wait_for_cond(cx: &mut Cx, this: Value, condition: Value, timeout: Value) -> Result<bool> {
        let count = check(cx, this)?.count;
        let until = deadline(cx, Some(timeout))?;
        let waiter = cx.waiter_id();
        let place = cx.data_mut::<Condition>(condition)?.waiters.join(waiter);
        data(cx, this)?.count = 0;
        release(cx, this)?;
        cx.waits_for(WaitKind::Condition, condition.bits());
        let r = cx.sleep_until_woken(Wait::Inside, until);
        let e = cx.take_pending();
        cx.data_mut::<Condition>(condition)?.waiters.leave(place);
        let relocked = lock_surely(cx, this);
        if owned(cx, this)? {
            data(cx, this)?.count = count;
        }
        relocked?;
        match r {
            Ok(in_time) => Ok(in_time),
            Err(Exc) => cx.repend(e),
        }
    }
}
