//! A line of threads that wait for one thing: first come, first served.
//!
//! A hundred thousand may stand in one, and each of them may leave from wherever it stands (a timeout, an exception), or find at its wake-up that it was taken out:
//! both by its number, in O(log n). Whoever left from the middle stays as a gap until gaps are half of the line.
//!
//! Rejected: searching for the thread (waking all of n waiters took n² / 2 steps); an ordered tree (a node to allocate for each wait at an empty line).

use std::collections::VecDeque;
use zakuro_vm::{Cx, Result, Value};

/// Where a thread stands; told by [`Line::join`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Place(u64);

#[derive(Default)]
pub struct Line {
    /// Number of the next place.
    next: u64,
    /// Places and their threads, by number. Thread 0: it left.
    places: VecDeque<(u64, u32)>,
    gaps: usize,
}

impl Line {
    /// Puts a thread at the end.
    pub fn join(&mut self, thread: u32) -> Place {
        let place = self.next;
        self.next += 1;
        self.places.push_back((place, thread));
        Place(place)
    }
    /// Puts the thread at the end unless it stands in the line at the place that it had.
    pub fn stand(&mut self, thread: u32, place: &mut Option<Place>) {
        if !place.is_some_and(|p| self.find(p).is_some()) {
            *place = Some(self.join(thread));
        }
    }
    /// Takes out who stands at the place, if somebody still does.
    pub fn leave(&mut self, place: Place) {
        let Some(i) = self.find(place) else { return };
        self.places[i].1 = 0;
        self.gaps += 1;
        if self.gaps * 2 > self.places.len() {
            self.places.retain(|&(_, thread)| thread != 0);
            self.gaps = 0;
        }
    }
    /// Takes out the first.
    pub fn pop(&mut self) -> Option<u32> {
        while let Some((_, thread)) = self.places.pop_front() {
            if thread != 0 {
                return Some(thread);
            }
            self.gaps -= 1;
        }
        None
    }
    /// How many stand in it.
    pub fn len(&self) -> usize {
        self.places.len() - self.gaps
    }
    /// Takes out all that are none of `living`.
    pub fn keep(&mut self, mut living: impl FnMut(u32) -> bool) {
        self.places.retain(|&(_, thread)| thread != 0 && living(thread));
        self.gaps = 0;
    }
    fn find(&self, place: Place) -> Option<usize> {
        let i = self.places.binary_search_by_key(&place.0, |&(number, _)| number).ok()?;
        (self.places[i].1 != 0).then_some(i)
    }
}

/// The line of an object, which its payload holds.
pub type Of = fn(&mut Cx, Value) -> Result<&mut Line>;

/// Wakes `first`, who was taken out of the line, or else who comes next.
pub fn wake(cx: &mut Cx, v: Value, of: Of, first: Option<u32>) {
    let mut next = first;
    // One that a fork of the process left behind is passed over.
    while let Some(thread) = next {
        if cx.thread_wake(thread) {
            return;
        }
        next = of(cx, v).ok().and_then(Line::pop);
    }
}
/// Takes out all and wakes them.
pub fn wake_all(cx: &mut Cx, v: Value, of: Of) {
    while let Ok(Some(thread)) = of(cx, v).map(Line::pop) {
        cx.thread_wake(thread);
    }
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
