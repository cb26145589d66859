//! Roots of a VM and its safepoints.
//!
//! Native stacks and value stacks are scanned conservatively: registers above a frame's live temporaries may hold stale words, and filling them on
//! every call would cost more than it frees; what stands above the top frame is filled by each collection. Frames, tables and code states are marked precisely.

use crate::vm::{Cx, Stacks};
use std::cell::Cell;
use std::sync::atomic::Ordering;
use zakuro_base::progress::{Progress, Stopped};
use zakuro_heap::Heap;
use zakuro_object::*;

/// Bits of the poll word (as in zakuro-sched).
pub const POLL_COLLECT: u32 = 2;

/// Which collection.
#[derive(Clone, Copy)]
enum How {
    Full,
    Minor,
    /// In small steps.
    Step,
    /// As the heap sees fit.
    Due,
}

/// The VM asks itself: a poll is a safepoint. What the work borrows must stay as it is while other threads of the VM run, and alive.
impl Progress for Cx {
    fn poll(&mut self) -> Result<(), Stopped> {
        self.safepoint().map_err(|_| Stopped)
    }
    /// Refused before any of it is made: the small blocks among it are nobody's to count.
    fn needs(&mut self, bytes: usize) -> Result<(), Stopped> {
        if self.has_memory_limit() { self.admit(bytes).map_err(|_| Stopped) } else { Ok(()) }
    }
}

impl Cx {
    /// Safepoint: collects when due, handles interrupts. Native loops that allocate much call it; Ruby code polls by itself.
    #[inline(always)]
    pub fn safepoint(&mut self) -> crate::raise::Result<()> {
        // SAFETY: poll points to the VM's own Arc'ed word.
        if unsafe { (*self.poll).load(Ordering::Relaxed) } != 0 || self.heap.wants_collection() { self.safepoint_slow() } else { Ok(()) }
    }
    #[cold]
    #[inline(never)]
    pub fn safepoint_slow(&mut self) -> crate::raise::Result<()> {
        self.enters_ruby();
        // SAFETY: as above.
        let word = unsafe { &*self.poll };
        let bits = word.load(Ordering::Acquire);
        // Of a VM that is being left the heap goes as a whole: looking through the stacks of all its threads would be in vain.
        let stressed = self.gc_stress && self.is_stressed_here();
        if !self.life.is_hard() && (stressed || bits & POLL_COLLECT != 0 || self.heap.wants_collection()) {
            if !self.gc_stress {
                word.fetch_and(!POLL_COLLECT, Ordering::AcqRel);
            }
            let (over, short) = (self.over_limit(), self.is_short());
            let due = stressed || self.heap.wants_collection();
            if due && !self.gc_disabled && !self.options.gc_never || over || short {
                let how = match () {
                    _ if over || short => How::Full,
                    // What no barrier told of shows at the next minor collection (debug builds look), what is freed too early after the next full one.
                    _ if stressed => match self.heap.stats().collections % 8 {
                        0 => How::Full,
                        // Steps are no collections yet, which `GC.stress = true` promises.
                        4 if self.options.gc_stress => How::Step,
                        _ => How::Minor,
                    },
                    _ => How::Due,
                };
                self.collect_as(how);
                // Nobody is told before everything was looked at: twice, since what dead classes held (their Codes, what their methods name) dies one collection
                // after them.
                if self.is_about_to_tell() {
                    self.collect();
                    if self.is_about_to_tell() {
                        self.collect();
                    }
                }
                self.memory_check()?;
            }
        }
        let rest = bits & !POLL_COLLECT;
        if rest != 0
            && let Some(hook) = self.interrupt_hook
        {
            return hook(self, rest);
        }
        Ok(())
    }
    /// What a place does to the collector it does the first times: with `--gc=sites` each is collected at for its first 64 times, then one time in 16, and one in 256 from the thousandth on.
    fn is_stressed_here(&mut self) -> bool {
        const PLACES: usize = 4096;
        if !self.options.gc_sites {
            return true;
        }
        if self.sites.is_empty() {
            self.sites = vec![0; PLACES];
        }
        // SAFETY: a VM at a safepoint has a frame.
        let at = unsafe { (*self.fp).ip.addr() };
        let n = &mut self.sites[(at >> 3).wrapping_mul(0x9e37_79b9) >> 7 & (PLACES - 1)];
        *n = n.saturating_add(1);
        n.is_multiple_of(match *n {
            0..=64 => 1,
            65..=1024 => 16,
            _ => 256,
        })
    }
    /// Collects everything now. Only at a safepoint: every live value must be reachable from a root or a scanned stack.
    pub fn collect(&mut self) {
        self.collect_as(How::Full);
    }
    /// Collects what is young now; as `collect`.
    pub fn collect_minor(&mut self) {
        self.collect_as(How::Minor);
    }
    /// The cells that a value refers to, each once, as the collector sees them: those that programs never see (environments, methods) among them, and cells that VMs share, perhaps more than
    /// once. Of a shared cell, unless it is a class, nothing. Collects when a marking is under way.
    pub fn references(&mut self, v: Value) -> crate::RootedVec {
        let mut found = crate::RootedVec::new(self);
        if !v.is_cell() {
            return found;
        }
        let cx: *mut Cx = self;
        // SAFETY: as in `collect_from`; the value is live.
        let cells = unsafe {
            (*cx).heap.set_named(crate::classgc::named, cx.cast_const().cast());
            match (*cx).heap.references(v.bits() as *mut Header) {
                Some(cells) => cells,
                None => {
                    self.collect();
                    self.heap.references(v.bits() as *mut Header).unwrap_or_default()
                }
            }
        };
        // SAFETY: cells of this heap that something live refers to, or of one that outlives it.
        found.extend(cells.into_iter().map(|p| unsafe { Value::cell(p) }));
        if let Some(id) = v.is_kind(Kind::Class).then(|| self.class_id(v)).flatten() {
            // The collector leaves out what never dies: classes of the core library, and all that they refer to.
            let mut classes = Vec::new();
            let class = self.class(id);
            class.each_value(&mut |part| {
                if part.is_cell() && part != v {
                    found.push(part);
                }
            });
            class.each_class(&mut |c| classes.push(c));
            found.extend(classes.into_iter().map(|c| self.class_value(c)));
        }
        found
    }
    #[inline(never)]
    fn collect_as(&mut self, how: How) {
        let mut regs = [0usize; 20];
        // SAFETY: stores callee-saved registers, so that values kept only there are seen.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::asm!(
                "mov [{0}], rbx", "mov [{0} + 8], rbp", "mov [{0} + 16], r12",
                "mov [{0} + 24], r13", "mov [{0} + 32], r14", "mov [{0} + 40], r15",
                in(reg) regs.as_mut_ptr(), options(nostack)
            );
        }
        // SAFETY: as above. The low halves of v8 to v15 are the callee's to keep, too.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            std::arch::asm!(
                "stp x19, x20, [{0}]", "stp x21, x22, [{0}, #16]", "stp x23, x24, [{0}, #32]", "stp x25, x26, [{0}, #48]",
                "stp x27, x28, [{0}, #64]", "stp d8, d9, [{0}, #80]", "stp d10, d11, [{0}, #96]", "stp d12, d13, [{0}, #112]",
                "stp d14, d15, [{0}, #128]", "str x29, [{0}, #144]",
                in(reg) regs.as_mut_ptr(), options(nostack)
            );
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        compile_error!("which registers a call keeps must be known here: values in them are roots");
        self.collect_from(std::hint::black_box(&regs).as_ptr(), how);
    }
    #[inline(never)]
    fn collect_from(&mut self, sp: *const usize, how: How) {
        let before = self.begin_collecting();
        let cx: *mut Cx = self;
        let top = self.stacks.native_top as *const usize;
        let mut above = std::ptr::null_mut();
        // SAFETY: the heap is borrowed apart from the rest of the VM, which the closures only read; weak tables are touched
        // between mark and sweep.
        unsafe {
            (*cx).heap.set_named(crate::classgc::named, cx.cast_const().cast());
            let heap = &mut (*cx).heap;
            let roots: &mut dyn FnMut(&mut Marker<'_>) = &mut |m| {
                let cx = &*cx;
                if !top.is_null() && sp < top {
                    m.mark_range(sp, top);
                }
                above = mark_frames_and_values(m, &cx.stacks, cx.fp);
                cx.mark_tables(m);
            };
            let weak: &mut dyn FnMut(&Heap) = &mut |heap| {
                let cx = &mut *cx;
                // Lists are marked through the flag.
                // SAFETY: what is not swept yet is a cell as it was.
                let has = |p: usize| heap.is_marked_or_new(p as *mut Header) && Value::from_bits(p as u64).flags() & flags::HAS_IVARS != 0;
                cx.generic_ivars.change().retain(|p, _| has(*p));
                cx.identities.retain(|p, _| heap.is_marked_or_new(*p as *mut Header));
                cx.object_ids.retain(|p, _| heap.is_marked_or_new(*p as *mut Header));
                cx.sweep_standing(heap);
                cx.states.values_mut().for_each(|s| s.sweep_state(heap));
                cx.sweep_units();
                cx.sweep_caches();
                cx.sweep_classes();
                let full = cx.heap.is_full();
                cx.weigh_classes(full);
                if !full {
                    cx.nothing_is_fresh();
                }
            };
            match how {
                How::Full => heap.collect_with_weak(roots, weak),
                How::Minor => heap.collect_minor(roots, weak),
                How::Step => heap.collect_step(50, roots, weak),
                How::Due => heap.collect_due(roots, weak),
            }
        }
        if !above.is_null() {
            // SAFETY: of the running coroutine's values, those above what was just scanned.
            unsafe { forget_above(above, self.stacks.values_end) }
        }
        self.account_units();
        self.weigh_tables();
        if let Some(c) = &self.counting {
            c.account.heap_bytes.store(self.heap.used() as u64, Ordering::Relaxed);
        }
        self.end_activity(before);
    }
    fn mark_tables(&self, m: &mut Marker<'_>) {
        let full = m.is_full();
        let mut mark = |v: Value| m.mark_value_bits(v.bits());
        mark(self.pending);
        mark(self.errinfo);
        mark(self.main);
        mark(self.current_fiber);
        mark(self.root_fiber);
        mark(self.next_fiber);
        mark(self.call.me);
        if self.call.block.0 & 1 == 0 {
            // SAFETY: what is no record is a Proc's value, or the zero that stands for none.
            mark(unsafe { Value::from_bits(self.call.block.0) });
        }
        self.at_exit.iter().chain(&self.pinned).chain(&self.inspecting).for_each(|v| mark(*v));
        self.globals.values().chain(self.memo.values()).for_each(|v| mark(*v));
        if full {
            self.code_states.values().for_each(|s| s.each_own_value(&mut mark));
        } else {
            self.fresh.states.iter().filter_map(|key| self.code_states.get(key)).for_each(|s| s.each_own_value(&mut mark));
        }
        if let Some(t) = &self.global_traces {
            t.values().flatten().for_each(|v| mark(*v));
        }
        for v in &self.rooted {
            // SAFETY: registered by a live RootedVec.
            unsafe { (**v).items.iter().for_each(|v| mark(*v)) }
        }
        self.mark_classes(m);
        for s in self.states.values() {
            s.trace_state(m);
        }
        if let Some(t) = &self.threads {
            t.trace(m);
        }
        mark_suspended(m, &self.suspended);
    }
}

/// Wipes the native stack right below the caller: what calls that are over have left there would keep cells alive where the next frames have holes.
#[inline(never)]
pub fn wipe_below() {
    std::hint::black_box(&mut [0usize; 512]);
}

/// Scans the coroutines that a thread's running fiber was resumed from.
pub(crate) fn mark_suspended(m: &mut Marker<'_>, list: &[crate::vm::SuspendedStacks]) {
    for s in list {
        m.mark_value_bits(s.pending.bits());
        m.mark_value_bits(s.errinfo.bits());
        if !s.sp.is_null() && s.sp < s.stacks.native_top {
            m.mark_range(((s.sp as usize + 7) & !7) as *const usize, s.stacks.native_top as *const usize);
        }
        mark_stacks(m, &s.stacks, s.fp);
    }
}

/// Scans the frames and values of a coroutine up to its top frame `fp`. How many bytes they take.
pub(crate) fn mark_stacks(m: &mut Marker<'_>, s: &Stacks, fp: *mut crate::frame::Frame) -> usize {
    let top = mark_frames_and_values(m, s, fp);
    if top.is_null() {
        return 0;
    }
    (fp as usize + size_of::<crate::frame::Frame>() - s.frames as usize).next_multiple_of(PAGE)
        + (top as usize - s.values as usize).next_multiple_of(PAGE)
}

/// As `mark_stacks`. Where the values end that are scanned; null without stacks.
fn mark_frames_and_values(m: &mut Marker<'_>, s: &Stacks, fp: *mut crate::frame::Frame) -> *mut Value {
    if s.frames.is_null() || fp.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: frames s.frames..=fp and the values below the top frame's end were written. (Nothing runs Ruby while arguments stand above it: `Cx::above`.) What registers of the frames below it reach
    // further up is nobody's: a call that is under way begins above all that its caller still needs.
    unsafe {
        let mut top = s.values;
        let mut f = s.frames;
        while f <= fp {
            let frame = &*f;
            m.mark_value_bits(frame.me.bits());
            if frame.block.0 & 1 == 0 {
                m.mark_value_bits(frame.block.0);
            }
            Cx::note_code(frame.code);
            top = if frame.is_boundary() { frame.aux as *mut Value } else { frame.regs.add((*frame.code).nregs as usize) };
            f = f.add(1);
        }
        m.mark_range(s.values as *const usize, top as *const usize);
        top
    }
}

/// Forgets what calls that have ended left above the values in use: the next ones that lie there would show it to the collector again.
///
/// Goes on to the next page where there was anything in the one before, so that no page is touched for it that was not in use.
///
/// # Safety
/// `top..end` is mapped, and nothing in it is in use.
unsafe fn forget_above(top: *mut Value, end: *mut Value) {
    /// Less than so many words of a page say nothing about the next.
    const FEW: usize = 128;
    let (mut at, end) = (top.cast::<usize>(), end.cast::<usize>());
    while at < end {
        let next = (at.map_addr(|a| (a + 1).next_multiple_of(PAGE))).min(end);
        // SAFETY: the caller's promise.
        let part = unsafe { std::slice::from_raw_parts_mut(at, next.offset_from_unsigned(at)) };
        let used = part.iter().fold(0, |all, w| all | *w) != 0;
        if used {
            part.fill(0);
        } else if part.len() >= FEW {
            return;
        }
        at = next;
    }
}

/// What the stacks of a thread or fiber take at least, in a VM with a memory limit: a page of native stack, frames and values each.
pub(crate) const STACKS: usize = 5 * PAGE;
pub(crate) const PAGE: usize = 4096;

/// What is known of the stacks of a thread or fiber that does not run.
///
/// They are looked through once in each epoch of the collector: as long as the thread has not run, they refer to nothing that was not marked then. (Who writes to
/// another one's stack: nobody, as far as values go. Locals that others may write to stand in environments; what is to be handed over waits in payloads, which are traced each time.)
/// Rejected: looking through them each time (20,000 threads that wait made minor collections nine times as dear).
#[derive(Default)]
pub(crate) struct Parked {
    /// The epoch in which they were looked through; 0: they have been in use since.
    scanned: Cell<u64>,
    /// Bytes that they count for the memory limit.
    weight: Cell<usize>,
    /// What stood there then: debug builds compare.
    #[cfg(debug_assertions)]
    seen: std::cell::RefCell<Vec<usize>>,
}

impl Parked {
    pub(crate) fn counting(weight: usize) -> Parked {
        let p = Parked::default();
        p.weight.set(weight);
        p
    }
    pub(crate) fn weight(&self) -> usize {
        self.weight.get()
    }
    /// Sets what they count; returns what they did.
    pub(crate) fn weighs(&self, now: usize) -> usize {
        self.weight.replace(now)
    }
    /// They are used from here on.
    #[inline(always)]
    pub(crate) fn runs(&self) {
        self.scanned.set(0);
    }
    /// Marks what they hold by `scan`, which tells how many bytes they take, unless that is marked already.
    #[inline]
    #[cfg_attr(not(debug_assertions), expect(unused_variables, reason = "what debug builds compare"))]
    pub(crate) fn trace(&self, m: &mut Marker<'_>, native: (*const u8, *const u8), scan: impl FnOnce(&mut Marker<'_>) -> usize) {
        if self.scanned.get() == m.epoch() {
            #[cfg(debug_assertions)]
            self.compare(m, native);
            return;
        }
        let bytes = scan(m);
        if m.is_check() {
            return;
        }
        self.scanned.set(m.epoch());
        #[cfg(debug_assertions)]
        self.seen.replace(words(native).collect());
        let before = self.weight.get();
        if before >= STACKS {
            self.weight.set(bytes.max(STACKS));
            let stacks = |bytes| zakuro_heap::Owned { bytes, block: 0 };
            m.owns(stacks(before), stacks(self.weight.get()));
        }
    }
    #[cfg(debug_assertions)]
    fn compare(&self, m: &Marker<'_>, native: (*const u8, *const u8)) {
        if m.is_check() {
            return;
        }
        for (now, then) in words(native).zip(self.seen.borrow().iter()) {
            assert!(now == *then || !m.leads_to_unmarked(now), "the stack of a thread that waits was written to: {now:#x}");
        }
    }
}

/// The words of a native stack.
#[cfg(debug_assertions)]
fn words((sp, top): (*const u8, *const u8)) -> impl Iterator<Item = usize> {
    let from = (sp as usize + 7) & !7;
    // SAFETY: part of a suspended stack; read as the scan reads it.
    (from..(top as usize).max(from)).step_by(8).map(|at| unsafe { (at as *const usize).read_volatile() })
}
