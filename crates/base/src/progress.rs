//! How long native work stays interruptible: what loops long asks a [`Progress`] now and then whether to go on.
//!
//! The crates without a VM take `&mut dyn Progress` and pass [`Stopped`] up with `?`; the VM gives one whose question is its safepoint
//! (`Cx::long`), so a kill, a limit, `Thread#raise`, a collection and the end of a time slice happen there. Whoever asks does so each
//! [`STRIDE`] bytes or steps, or between portions of some milliseconds.
//! Rejected: unwinding out of the work (what is under way would have to be safe against it), a result type per caller (generic code would be compiled
//! once per user, the core library's without optimisation in dev builds).

/// Bytes, elements or steps between two questions: some tens of microseconds of work.
pub const STRIDE: usize = 1 << 16;

/// The work is to be left; why, its starter knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

pub trait Progress {
    /// Whether to go on. What the caller borrowed stays as it is; other threads of the program may run meanwhile.
    fn poll(&mut self) -> Result<(), Stopped>;
    /// The work is about to have so many bytes more for itself, in blocks of any size: whether there is room for them.
    fn needs(&mut self, _bytes: usize) -> Result<(), Stopped> {
        Ok(())
    }
}

/// Goes on to the end: for work that is known to be short, and where there is no VM.
pub struct ToTheEnd;

impl Progress for ToTheEnd {
    fn poll(&mut self) -> Result<(), Stopped> {
        Ok(())
    }
}

/// Asks at each `STRIDE`th step.
#[inline(always)]
pub fn step(at: usize, p: &mut dyn Progress) -> Result<(), Stopped> {
    if at % STRIDE == STRIDE - 1 { p.poll() } else { Ok(()) }
}

/// The way of a loop whose steps differ in length: asks once each `STRIDE`.
pub struct Pace(usize);

impl Pace {
    pub fn new() -> Pace {
        Pace(STRIDE)
    }
    #[inline(always)]
    pub fn at(&mut self, at: usize, p: &mut dyn Progress) -> Result<(), Stopped> {
        if at < self.0 {
            return Ok(());
        }
        self.0 = at.saturating_add(STRIDE);
        p.poll()
    }
}

/// The result of work that nobody stops.
pub fn to_the_end<T>(work: impl FnOnce(&mut dyn Progress) -> Result<T, Stopped>) -> T {
    match work(&mut ToTheEnd) {
        Ok(v) => v,
        Err(Stopped) => unreachable!("nobody stops this"),
    }
}
