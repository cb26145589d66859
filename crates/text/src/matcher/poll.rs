//! Compiling looks up now and then: whoever asked for it may want to stop.
//!
//! Nothing of a pattern is borrowed from its owner, so that the callback may do what it likes.

/// The error of a compilation that was stopped.
pub const STOPPED: &str = "compilation stopped";

/// Units of work between two questions: some hundred microseconds.
const UNITS: usize = 2000;

pub struct Poll<'a> {
    left: usize,
    go_on: &'a mut dyn FnMut() -> bool,
}

impl Poll<'_> {
    pub fn new(go_on: &mut dyn FnMut() -> bool) -> Poll<'_> {
        Poll { left: UNITS, go_on }
    }

    /// Counts work; a node of the pattern is about one unit.
    ///
    /// # Errors
    /// [`STOPPED`]
    #[inline]
    pub fn work(&mut self, units: usize) -> Result<(), String> {
        if units < self.left {
            self.left -= units;
            return Ok(());
        }
        self.left = UNITS;
        if (self.go_on)() { Ok(()) } else { Err(STOPPED.into()) }
    }
}
