//! What a run of specs or tests comes to.

/// Counts of one run, or of several.
#[derive(Default, Clone, PartialEq, Eq, Debug)]
pub struct Tally {
    pub files: u64,
    /// Tests, or examples of specs.
    pub tests: u64,
    pub expectations: u64,
    pub failures: u64,
    pub errors: u64,
    pub skips: u64,
    /// Files whose process came to no end of its own.
    pub died: u64,
    /// Those of them that ran into the limit of time.
    pub hung: u64,
}

impl Tally {
    pub fn add(&mut self, other: &Tally) {
        self.files += other.files;
        self.tests += other.tests;
        self.expectations += other.expectations;
        self.failures += other.failures;
        self.errors += other.errors;
        self.skips += other.skips;
        self.died += other.died;
        self.hung += other.hung;
    }
    pub fn bad(&self) -> u64 {
        self.failures + self.errors + self.died
    }
}
