//! When to collect: the square-root rule for full collections, a nursery between them.
//!
//! After a full collection with live size L (cells and payload, bytes), the old part may grow by E bytes before the next one. Let g be the rate at which it grew
//! and s the marking speed (bytes/s each), smoothed:
//!
//! ```text
//! E = max( sqrt(L * (g/s) / C),            MemBalancer (Kirisame, Shenoy, Panchekha: "Optimal Heap Limits for
//!                                          Reducing Browser Memory Use", OOPSLA 2022, section 3)
//!          min(L * (g/s) / OVERHEAD, L),   time of full collections / mutator time = L*g / (s*E): <= OVERHEAD, if E <= L allows it
//!          1 MiB )
//! ```
//!
//! With C the same in every heap, the sum of all heaps' E is spent where a byte saves the most collection time.
//! A heap that grows slowly (an idle VM) gets a small E.
//!
//! A minor collection comes when N bytes were allocated. N is at least 1 MiB, what stays in a core's second-level cache: a new VM touches little, and one whose
//! garbage is all that it has reuses warm memory. It is E/8, but no more than 8 MiB, and no more than what was marked in PAUSE the last times, where much of it lives.
//! It rises up to 4 MiB, or E/4, where a minor collection would take more than OVERHEAD of the time: within PAUSE, but for what does not depend on N (roots: deep stacks, many fibers; tables of weak
//! references).
//! 32 VMs that share a job of 0.2 s on 2 cores: 4,900 page faults instead of 23,800 with 4 MiB always, 28 MB resident instead of 100, and less CPU time.
//!
//! Where memory is scarce each heap gets the same part of its E (module `budget`).
//!
//! Rejected: a fixed factor on L (CRuby's 1.8): thousands of small heaps collect too often, a big one wastes most.

use std::time::Duration;

/// Range of the floor in bytes.
const FLOOR: (f64, f64) = ((1 << 20) as f64, (4 << 20) as f64);
/// Largest nursery that is no floor.
const NURSERY: f64 = (8 << 20) as f64;
/// Price of memory: 1/bytes. L = 10 MB with g/s = 0.5 gets E = 22 MB.
const C: f64 = 1e-8;
/// Aimed-for ratio of collection time to mutator time.
const OVERHEAD: f64 = 0.1;
/// Aimed-for time of a minor collection that depends on N, in seconds.
const PAUSE: f64 = 0.002;
/// By L in bytes: PAUSE's part that is aimed for, and how small N may become. In a smaller heap what is made for a moment would be marked again and again (a VM that receives graphs of
/// some megabytes took a third longer; beside 200 MB what waits in a line of 60,000 objects takes 7% longer with the last row).
const SHORTER: [(usize, f64, f64); 3] = [(0, 1.0, FLOOR.0), (64 << 20, 0.3, (256 << 10) as f64), (256 << 20, 0.15, (128 << 10) as f64)];
/// Weight of the newest sample.
const FRESHNESS: f64 = 0.5;
/// g/s before anything was measured, and the range that measurements are held to: a sample on a stalled machine must
/// not make the limit absurd.
const RATIO: f64 = 0.5;
const RATIO_RANGE: (f64, f64) = (0.01, 8.0);

pub(crate) struct Limit {
    /// N in bytes.
    pub(crate) extra: usize,
    /// E in bytes.
    pub(crate) growth: usize,
    /// L in bytes.
    live: usize,
    /// Bytes/s, 0 before the first sample.
    growth_rate: f64,
    /// Bytes/s, 0 before the first sample.
    marking_speed: f64,
    /// Bytes per cycle that keep minor collections within OVERHEAD, 0 before the first sample.
    floor: f64,
    /// The same of what does not depend on the bytes.
    fixed: f64,
    /// Bytes per cycle whose living part is marked in PAUSE, 0 before the first sample.
    ceiling: f64,
    /// Part of E that the heap gets, in percent.
    granted: u32,
}

impl Limit {
    pub(crate) const fn new() -> Limit {
        Limit {
            extra: FLOOR.0 as usize,
            growth: FLOOR.0 as usize,
            live: 0,
            growth_rate: 0.0,
            marking_speed: 0.0,
            floor: 0.0,
            fixed: 0.0,
            ceiling: 0.0,
            granted: 100,
        }
    }

    /// Takes the samples of a minor collection: `allocated` bytes in `mutating` time (None before the first collection), then `marking` what lives of them, and `fixed` for all else.
    pub(crate) fn minor(&mut self, allocated: usize, mutating: Option<Duration>, marking: Duration, fixed: Duration) {
        if let Some(t) = mutating {
            let rate = allocated as f64 / t.as_secs_f64().max(1e-6);
            smooth(&mut self.fixed, rate * fixed.as_secs_f64() / OVERHEAD);
            smooth(&mut self.floor, rate * (marking + fixed).as_secs_f64() / OVERHEAD);
        }
        // One that was asked for after little was allocated tells little.
        if allocated >= 64 << 10 {
            smooth(&mut self.ceiling, allocated as f64 * PAUSE / marking.as_secs_f64().max(1e-6));
        }
        self.set_nursery();
    }

    /// Takes the samples of a full collection: the old part has `grown` in the `time` since the last full one (None: the first), then
    /// `live` bytes were found in `marking` time. `granted`: how much of E it gets, in percent.
    pub(crate) fn full(&mut self, live: usize, grown: usize, time: Option<Duration>, marking: Duration, granted: u32) {
        if let Some(t) = time {
            smooth(&mut self.growth_rate, grown as f64 / t.as_secs_f64().max(1e-6));
        }
        // Below this the time is the roots', not the cells'.
        if live >= 256 << 10 {
            smooth(&mut self.marking_speed, live as f64 / marking.as_secs_f64().max(1e-6));
        }
        self.granted = granted;
        self.lives(live);
    }

    /// The last full collection has kept so many bytes: that is known when the dead are swept.
    pub(crate) fn lives(&mut self, live: usize) {
        self.live = live;
        let ratio = match (self.growth_rate, self.marking_speed) {
            (g, s) if g > 0.0 && s > 0.0 => (g / s).clamp(RATIO_RANGE.0, RATIO_RANGE.1),
            _ => RATIO,
        };
        let live = live as f64;
        let balanced = (live * ratio / C).sqrt();
        let bounded = (live * ratio / OVERHEAD).min(live);
        self.growth = (balanced.max(bounded) * f64::from(self.granted) / 100.0).max(FLOOR.0) as usize;
        self.set_nursery();
    }

    fn set_nursery(&mut self) {
        let growth = self.growth as f64;
        let share = (growth / 8.0).min(NURSERY);
        let (_, part, least) = SHORTER.into_iter().rfind(|(from, ..)| self.live >= *from).unwrap_or(SHORTER[0]);
        let short = if self.ceiling > 0.0 { self.ceiling * part } else { f64::INFINITY };
        let within = |n: f64| n.clamp(FLOOR.0, FLOOR.1.max(growth / 4.0));
        // What does not depend on N comes first.
        let least = self.fixed.clamp(least, FLOOR.1.max(growth / 4.0));
        self.extra = within(self.floor).max(share).min(short).max(least) as usize;
    }
}

fn smooth(mean: &mut f64, sample: f64) {
    *mean = if *mean == 0.0 { sample } else { *mean * (1.0 - FRESHNESS) + sample * FRESHNESS };
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
#[path = "limit_tests.rs"]
mod tests;
