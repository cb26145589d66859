//! What a VM may use before it is ended: memory, CPU time, wall-clock time; what it may have at a time: threads,
//! descriptors; the grace time of an end; and whether it may call foreign code.
//!
//! Plain data: set before the VM starts (`RubyVM.new(..., memory_limit:)`, the Rust API), read by the VM itself ([`crate::life`]).

use std::sync::Arc;
use std::time::Duration;

/// How long `ensure` clauses may run after a kill or a limit, unless the limits say something else.
pub const GRACE: Duration = Duration::from_secs(1);

/// Bytes that a VM counts for the limited one that has made it, beside what it counts itself.
pub const VM: usize = 96 << 10;
/// The same of a Ractor, which has run more code before it waits for the first time.
pub const RACTOR: usize = 224 << 10;

/// Limits of one VM; None: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the VM's cells and of what they own.
    pub memory: Option<usize>,
    /// CPU time of all threads of the VM.
    pub cpu: Option<Duration>,
    /// Time since the VM's start.
    pub wall: Option<Duration>,
    /// Threads that live at a time, the main one included.
    pub threads: Option<usize>,
    /// Descriptors that are open at a time, without 0 to 2.
    pub descriptors: Option<usize>,
    /// From the first sign of the end until the VM is stopped where it stands; None: [`GRACE`].
    pub grace: Option<Duration>,
    /// Whether it may call foreign functions and look at memory by address: whatever isolates VMs ends there. The main VM always may.
    pub foreign: bool,
}

impl Limits {
    /// These limits, none of them wider than in `other`. (The grace time is no limit.)
    pub fn within(&self, other: &Limits) -> Limits {
        fn least<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
            match (a, b) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            }
        }
        Limits {
            memory: least(self.memory, other.memory),
            cpu: least(self.cpu, other.cpu),
            wall: least(self.wall, other.wall),
            threads: least(self.threads, other.threads),
            descriptors: least(self.descriptors, other.descriptors),
            grace: self.grace,
            foreign: self.foreign && other.foreign,
        }
    }
    pub fn grace(&self) -> Duration {
        self.grace.unwrap_or(GRACE)
    }
    /// Bytes beyond the memory limit that are left to `ensure` clauses and to whoever rescues the NoMemoryError.
    pub fn reserve(&self) -> usize {
        self.memory.map_or(0, |m| m / 16 + (1 << 20))
    }
}

/// Limits as a VM and its control block keep them: most have none.
#[derive(Clone, Debug, Default)]
pub struct KeptLimits(Option<Arc<Limits>>);

impl From<Limits> for KeptLimits {
    fn from(limits: Limits) -> KeptLimits {
        KeptLimits((limits != Limits::default()).then(|| Arc::new(limits)))
    }
}

impl std::ops::Deref for KeptLimits {
    type Target = Limits;
    #[inline]
    fn deref(&self) -> &Limits {
        const NONE: &Limits =
            &Limits { memory: None, cpu: None, wall: None, threads: None, descriptors: None, grace: None, foreign: false };
        self.0.as_deref().unwrap_or(NONE)
    }
}

/// The limit that a VM has hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Memory,
    Cpu,
    Wall,
}

impl Limit {
    /// As Ruby programs see it.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Memory => "memory",
            Limit::Cpu => "cpu",
            Limit::Wall => "wall",
        }
    }
}
