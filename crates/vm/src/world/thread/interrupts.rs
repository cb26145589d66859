//! What threads are told from outside: interrupts of the VM, exceptions of other threads, deadlock.

use super::{DEADLOCK, OF_VM, Out, Result, Thread, Timing};
use crate::raise::Exc;
use crate::vm::Cx;
use zakuro_object::*;
use zakuro_sched::poll;

/// Levels of each thread that the error of a deadlock shows.
const SHOWN_LEVELS: usize = 50;

impl Cx {
    /// Interrupts of a VM with threads: those of the VM go to its main thread.
    #[cold]
    pub(crate) fn threads_interrupted(&mut self, bits: u32) -> Result<()> {
        let Some(ts) = self.threads.as_deref_mut() else { return Ok(()) };
        let mut rotate = false;
        if bits & poll::WAKE != 0 {
            rotate = ts.woken() && !ts.ready.is_empty();
        }
        if bits & OF_VM != 0 {
            ts.main().vm_bits |= bits & OF_VM;
            if !std::ptr::eq(ts.current, ts.main) {
                let main = ts.main;
                // SAFETY: the main thread lives as long as the VM.
                unsafe { ts.make_ready(main) };
            }
        }
        if bits & poll::PREEMPT != 0 {
            self.leave(Out::Again);
        } else if rotate {
            self.leave(Out::Rotate);
        } else if bits & poll::WAKE != 0 {
            self.arm_slice();
        }
        self.thread_interrupts(false)
    }
    /// What `Thread.handle_interrupt` puts off until something may block is raised now: for natives that may, and mostly do not.
    #[inline]
    pub fn may_block(&mut self) -> Result<()> {
        self.thread_interrupts(true)
    }
    /// Raises what other threads have sent to this one. `blocking`: it is about to wait.
    #[inline]
    pub(crate) fn thread_interrupts(&mut self, blocking: bool) -> Result<()> {
        match self.threads.as_deref_mut() {
            None => Ok(()),
            Some(ts) => {
                let t = ts.current();
                let quiet = t.pending.is_empty() && t.vm_bits == 0;
                if quiet && ts.fibers.unblocks.is_empty() { Ok(()) } else { self.deliver(blocking) }
            }
        }
    }
    #[cold]
    fn deliver(&mut self, blocking: bool) -> Result<()> {
        self.run_unblocks()?;
        let me = self.threads().current;
        let delivered = self.deliver_pending(blocking);
        if delivered.is_err() {
            // SAFETY: the running thread is alive.
            unsafe { (*me).interrupted = (*me).interrupted.wrapping_add(1) };
        }
        delivered
    }
    fn deliver_pending(&mut self, blocking: bool) -> Result<()> {
        let t: *mut Thread = self.threads().current;
        // SAFETY: the running thread is alive.
        unsafe {
            let bits = std::mem::take(&mut (*t).vm_bits);
            if bits & DEADLOCK != 0 {
                let report = self.deadlock_report();
                return self.raise(ids::FATAL, report);
            }
            if bits != 0 {
                self.vm_interrupts(bits)?;
            }
            let mut i = 0;
            while i < (*t).pending.len() {
                let e = (&(*t).pending)[i];
                if self.shield && std::ptr::eq(t, self.threads().main) && self.waits_behind_shield(e) {
                    i += 1;
                    continue;
                }
                match self.timing_of(&(*t).masks, e) {
                    Timing::Never => i += 1,
                    Timing::OnBlocking if !blocking => i += 1,
                    _ => {
                        (*t).pending.remove(i);
                        return if e.is_kind(Kind::Throw) { self.repend(e) } else { self.raise_value(e) };
                    }
                }
            }
        }
        Ok(())
    }
    /// Runs `f`, in the main thread of a VM that takes jobs: meanwhile errors from outside, of other threads or of traps, wait for the next [`Cx::job`]. What ends a VM (a kill, `exit`, a signal's exception,
    /// want of memory) does not.
    pub fn shielded<T>(&mut self, f: impl FnOnce(&mut Cx) -> Result<T>) -> Result<T> {
        let before = std::mem::replace(&mut self.shield, true);
        let r = f(self);
        self.shield = before;
        r
    }
    /// A job: errors from outside arrive as long as it runs, those that waited at first. The shield is there again when it returns, however it does.
    pub fn job<T>(&mut self, f: impl FnOnce(&mut Cx) -> Result<T>) -> Result<T> {
        let before = std::mem::replace(&mut self.shield, false);
        let r = self.check_interrupts().and_then(|()| f(self));
        self.shield = before;
        r
    }
    fn waits_behind_shield(&self, e: Value) -> bool {
        let ends = [ids::SYSTEM_EXIT, ids::SIGNAL_EXCEPTION, ids::NO_MEMORY_ERROR];
        e.is_kind(Kind::Exception) && !ends.into_iter().any(|class| self.is_a(e, class))
    }
    /// A trap of the main thread has failed: its error, behind a shield one that waits.
    #[cold]
    pub(crate) fn trap_failed(&mut self) -> Result<()> {
        if !self.shield {
            return Err(Exc);
        }
        let e = self.take_pending();
        if !self.waits_behind_shield(e) {
            return self.repend(e);
        }
        let main: *mut Thread = self.threads().main;
        // SAFETY: the main thread lives as long as the VM.
        unsafe { (*main).pending.push_back(e) };
        Ok(())
    }
    fn timing_of(&self, masks: &[Vec<(Value, Timing)>], e: Value) -> Timing {
        for (class, timing) in masks.iter().rev().flatten() {
            let Some(id) = self.class_id(*class) else { continue };
            // As CRuby: a kill is masked by what masks everything.
            let hit =
                if e.is_kind(Kind::Throw) { id == ids::OBJECT || id == ids::BASIC_OBJECT || id == ids::KERNEL } else { self.is_a(e, id) };
            if hit {
                return *timing;
            }
        }
        Timing::Immediate
    }
    /// What the error of a deadlock says: each thread and where it waits.
    pub(crate) fn deadlock_report(&mut self) -> String {
        let list = self.live_threads();
        let (count, current) = (list.len(), self.current_thread());
        // SAFETY: the main thread lives as long as the VM.
        let main = unsafe { (*self.threads().main).object };
        let mut s = format!("No live threads left. Deadlock?\n{count} threads, {count} sleeps");
        s.push_str(&format!(" current:0x{:016x} main thread:0x{:016x}\n", current.bits(), main.bits()));
        for v in list.iter().copied() {
            let shown = self.inspect_for_error(v);
            // The one that is told runs because of that.
            let shown = shown.strip_suffix(" run>").map_or_else(|| shown.clone(), |s| format!("{s} sleep_forever>"));
            s.push_str(&format!("* {shown}"));
            for l in self.thread_locations(v).unwrap_or_default().into_iter().take(SHOWN_LEVELS) {
                s.push_str(&format!("\n   {l}"));
            }
            s.push('\n');
        }
        s
    }
}
