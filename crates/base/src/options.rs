//! Process options: read once from the command line and the environment, never changed afterwards.

/// Options of the process. Passed by reference; a VM copies what it needs.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Collect at every safepoint (`--gc=stress`).
    pub gc_stress: bool,
    /// Never collect (`--gc=never`), for tests that compare collectors.
    pub gc_never: bool,
    /// Number of worker native threads (`RUBY_MAX_CPU`, else the cores this process may use).
    pub workers: usize,
    /// `$VERBOSE`: None = nil (`-W0`), Some(false) by default, Some(true) with `-w`.
    pub verbose: Option<bool>,
    /// Directories of `-I`, in order.
    pub include: Vec<String>,
    /// Features of `-r`, in order.
    pub require: Vec<String>,
    /// `-d`
    pub debug: bool,
}
