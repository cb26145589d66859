//! An automaton that many native threads search with at once, each with scratch memory of its own.
//!
//! A search of the linear engine writes: lazily built states, lists, slots. That memory stays from one search to the next, a piece for each native
//! thread, far enough from the others that no cache line is shared.
//! Rejected: the engine's own pool (its first user writes a word for each search that all others read: two VMs searching with one regexp took up
//! to 1.7 times the CPU time of two processes, by who came first); memory for each VM (tens of kilobytes for each regexp of each idle VM); a copy
//! of the automaton for each thread (compiled once, but its pools have an owner as well).

use super::linear;
use super::stepwise::{Scratch, Stepwise};
use regex_automata::Input;
use regex_automata::meta::{Cache, Regex};
use regex_automata::util::primitives::NonMaxUsize;
use regex_syntax::hir::{Hir, Look};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, TryLockError};

/// Which of how many native threads searches.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    pub number: u16,
    pub of: u16,
}

impl Lane {
    /// For programs of one thread.
    pub const ONLY: Lane = Lane { number: 0, of: 1 };
}

/// Held for a search, by the one thread of that lane: never waited for.
#[derive(Default)]
#[repr(align(128))]
struct Place(Mutex<Memory>);

/// Scratch memory that waits for a search.
#[derive(Default)]
struct Memory {
    whole: Option<Box<Cache>>,
    stepwise: Option<Box<Scratch>>,
    /// Bytes searched since `whole` was weighed.
    searched: usize,
    /// What `whole` and `stepwise` weighed then.
    weights: (usize, usize),
}

/// Bytes to search before scratch memory is weighed again: each may add a state of a kilobyte at most.
const WEIGH: usize = 128;

/// An automaton that is built once it is worth it: most regexps of a program's start are searched with a few times at most, over a few bytes, and building
/// takes as long as a hundred such searches of the matcher. Until then the matcher is tried, which finds the same, for so many steps ([`TRIED`]): it may need more than the text is long.
pub(super) struct Lazy {
    hir: Arc<Hir>,
    /// Matches begin where the text does.
    pub begins_text: bool,
    /// None in it: there is none for this pattern, the matcher does it.
    made: OnceLock<Option<Box<Automaton>>>,
    /// Bytes searched without it, and [`SEARCH`] for each search. Threads that count at the same time may lose some.
    so_far: AtomicUsize,
    /// How often the matcher took many steps to find groups; counted as loosely.
    costly: AtomicUsize,
}

/// What a search costs beside its bytes, in bytes.
const SEARCH: usize = 32;
/// So many are searched by the matcher first.
const FIRST: usize = 1024;
/// Steps in which the matcher has to decide a search; about what building costs.
pub(super) const TRIED: usize = 4096;
/// Bytes in which the matcher looks for a match with groups first; where one begins in more it may have to go over many.
pub(super) const SHORT: usize = 256;
/// Steps in which it has to find it. The automaton goes over the text three times for these, and the matcher, which does it once, is faster
/// where it takes few steps: a search without any takes 75 ns, a step 9; the automaton some 130 to 160, and 800 for the nine groups of a line of a web server's log.
pub(super) const FOR_GROUPS: usize = 64;
/// How often it may take more than few.
const COSTLY: usize = 16;
/// How many are few if it has gone over so many bytes.
fn few_steps(bytes: usize) -> usize {
    16 + bytes / 12
}

impl Lazy {
    pub fn new(hir: Hir) -> Lazy {
        let begins_text = hir.properties().look_set_prefix().contains(Look::Start);
        Lazy { hir: Arc::new(hir), begins_text, made: OnceLock::new(), so_far: AtomicUsize::new(0), costly: AtomicUsize::new(0) }
    }

    /// The automaton; None: there is none for this pattern.
    #[inline]
    pub fn automaton(&self) -> Option<&Automaton> {
        match self.made.get() {
            Some(made) => made.as_deref(),
            None => self.build(),
        }
    }

    /// Whether a search of `bytes` is to be tried without the automaton.
    #[inline]
    pub fn waits(&self, bytes: usize) -> bool {
        self.made.get().is_none() && self.counts(bytes)
    }

    #[cold]
    #[inline(never)]
    fn counts(&self, bytes: usize) -> bool {
        let so_far = self.so_far.load(Ordering::Relaxed).saturating_add(bytes).saturating_add(SEARCH);
        self.so_far.store(so_far, Ordering::Relaxed);
        so_far < FIRST
    }

    #[cold]
    #[inline(never)]
    fn build(&self) -> Option<&Automaton> {
        let made = linear::engine(&self.hir).map(|regex| Box::new(Automaton::new(regex, self.hir.clone())));
        // Another thread's, if it was faster: nobody waits here.
        let _ = self.made.set(made);
        self.made.get()?.as_deref()
    }

    /// Whether the matcher has been good at finding groups.
    #[inline]
    pub fn matcher_is_cheap(&self) -> bool {
        self.costly.load(Ordering::Relaxed) < COSTLY
    }

    /// It took so many steps for so many bytes. Nothing is written if they were few: others read the same word.
    pub fn matcher_took(&self, steps: usize, bytes: usize) {
        if steps > few_steps(bytes) {
            self.costly.store(self.costly.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }

    /// The automaton if there is one already.
    #[inline]
    pub fn made(&self) -> Option<&Automaton> {
        self.made.get()?.as_deref()
    }

    /// Bytes that it takes when new, roughly: the pattern's tree.
    pub fn weight(&self) -> usize {
        size_of::<Lazy>() + size_of::<Hir>() * 4
    }
}

pub(super) struct Automaton {
    regex: Box<Regex>,
    hir: Arc<Hir>,
    /// For long texts; None: there is none for this pattern.
    stepwise: OnceLock<Option<Stepwise>>,
    /// By number of lane. Made by the first search, which says how many there are; others take theirs modulo.
    places: OnceLock<Box<[Place]>>,
    /// Bytes that it takes.
    grown: AtomicUsize,
}

impl Automaton {
    pub fn new(regex: Box<Regex>, hir: Arc<Hir>) -> Automaton {
        // The engine does not count all that it keeps (20 KB were found where it says 5), and there is the pattern's tree.
        let weight = regex.memory_usage() / 4 * 15;
        Automaton { regex, hir, stepwise: OnceLock::new(), places: OnceLock::new(), grown: AtomicUsize::new(weight) }
    }

    /// Bytes that it takes now: the engine, scratch memory, and what is made for long texts.
    #[inline]
    pub fn grown(&self) -> usize {
        self.grown.load(Ordering::Relaxed)
    }

    /// Gives scratch memory back that no search uses.
    pub fn forget(&self) {
        for place in self.places.get().into_iter().flatten() {
            if let Ok(mut memory) = place.0.try_lock() {
                let Memory { weights: (whole, stepwise), .. } = std::mem::take(&mut *memory);
                self.grown.fetch_sub(whole + stepwise, Ordering::Relaxed);
            }
        }
    }

    /// What was taken for `before` bytes takes `now`.
    fn weighs(&self, before: &mut usize, now: usize) {
        let before = std::mem::replace(before, now);
        // Modulo: what became less wraps around twice.
        self.grown.fetch_add(now.wrapping_sub(before), Ordering::Relaxed);
    }

    fn place(&self, lane: Lane) -> &Place {
        let places = self.places.get_or_init(|| (0..lane.of.max(1)).map(|_| Place::default()).collect());
        &places[lane.number as usize % places.len()]
    }

    /// What searches a long text a piece at a time.
    pub fn stepwise(&self) -> Option<&Stepwise> {
        let made = self.stepwise.get_or_init(|| {
            let made = Stepwise::new(&self.hir);
            self.grown.fetch_add(made.as_ref().map_or(0, Stepwise::weight), Ordering::Relaxed);
            made
        });
        made.as_ref()
    }

    /// Scratch memory to keep while a search goes on.
    pub fn take_scratch(&self, stepwise: &Stepwise, lane: Lane) -> Box<Scratch> {
        let kept = self.place(lane).0.try_lock().ok().and_then(|mut memory| {
            self.weighs(&mut memory.weights.1, 0);
            memory.stepwise.take()
        });
        kept.unwrap_or_else(|| stepwise.scratch())
    }

    pub fn give_back(&self, scratch: Box<Scratch>, lane: Lane) {
        if let Ok(mut memory) = self.place(lane).0.try_lock() {
            self.weighs(&mut memory.weights.1, scratch.memory());
            memory.stepwise = Some(scratch);
        }
    }

    /// `bytes`: how many it searches at most.
    fn with<T>(&self, lane: Lane, bytes: usize, f: impl FnOnce(&Regex, &mut Cache) -> T) -> T {
        let place = self.place(lane);
        let mut memory = match place.0.try_lock() {
            Ok(memory) => memory,
            Err(TryLockError::Poisoned(poisoned)) => {
                // A search panicked in the middle: its VM has ended, the others get new scratch memory.
                place.0.clear_poison();
                let mut memory = poisoned.into_inner();
                let Memory { weights: (whole, stepwise), .. } = std::mem::take(&mut *memory);
                self.grown.fetch_sub(whole + stepwise, Ordering::Relaxed);
                memory
            }
            // Somebody else has that number.
            Err(TryLockError::WouldBlock) => return f(&self.regex, &mut self.regex.create_cache()),
        };
        let memory = &mut *memory;
        if memory.whole.is_none() {
            memory.searched = WEIGH;
        }
        let whole = memory.whole.get_or_insert_with(|| Box::new(self.regex.create_cache()));
        let found = f(&self.regex, whole);
        memory.searched = memory.searched.saturating_add(bytes);
        if memory.searched >= WEIGH {
            memory.searched = 0;
            // The engine counts what is used of its lists.
            self.weighs(&mut memory.weights.0, 2 * whole.memory_usage() + 2 * size_of::<Cache>());
        }
        found
    }

    /// Byte range of the first match.
    pub fn find(&self, input: &Input<'_>, lane: Lane) -> Option<(usize, usize)> {
        self.with(lane, input.get_span().len(), |regex, cache| regex.search_with(cache, input)).map(|m| (m.start(), m.end()))
    }

    /// Fills `slots` with the ends of the first match's groups. False: no match.
    pub fn slots(&self, input: &Input<'_>, slots: &mut [Option<NonMaxUsize>], lane: Lane) -> bool {
        self.with(lane, input.get_span().len(), |regex, cache| regex.search_slots_with(cache, input, slots)).is_some()
    }

    /// Is there a match?
    pub fn is_match(&self, input: Input<'_>, lane: Lane) -> bool {
        self.with(lane, input.get_span().len(), |regex, cache| regex.search_half_with(cache, &input.earliest(true))).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn automaton() -> Automaton {
        Automaton::new(Box::new(Regex::new("b+").unwrap()), Arc::new(regex_syntax::parse("b+").unwrap()))
    }

    #[test]
    fn a_panic_in_a_search_costs_nobody_else_anything() {
        let automaton = automaton();
        let lane = Lane { number: 1, of: 2 };
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| automaton.with(lane, 0, |_, _| panic!("in the middle"))));
        assert!(panicked.is_err());
        assert_eq!(automaton.find(&Input::new("abbc"), lane), Some((1, 3)));
        let place = &automaton.places.get().unwrap()[1];
        assert!(!place.0.is_poisoned() && place.0.lock().unwrap().whole.is_some(), "its lane has scratch memory again");
    }

    #[test]
    fn a_lane_in_use_does_not_stop_a_search() {
        let automaton = automaton();
        let found = automaton.with(Lane::ONLY, 0, |_, _| automaton.find(&Input::new("abbc"), Lane::ONLY));
        assert_eq!(found, Some((1, 3)));
    }
}
