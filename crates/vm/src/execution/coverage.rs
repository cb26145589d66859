//! Lines that ran, for the standard library's `coverage`: files that are watched, and a counter for each of their lines with code.
//!
//! Counting rides on the marked instructions of traces (interp/trace.rs): code of files that nobody watches stays as it is.

use crate::interp::trace::Tracing;
use crate::vm::{Cx, VmState};
use std::collections::BTreeMap;
use std::sync::Arc;
use zakuro_bytecode::Code;
use zakuro_object::{Marker, Trace};

/// Counters of a file's lines; None: no code begins there.
pub type Counters = Vec<Option<u64>>;

/// The files that a VM watches.
#[derive(Default)]
pub struct Lines {
    pub files: BTreeMap<Arc<str>, Counters>,
    /// Whether lines are counted now.
    pub counting: bool,
}
impl Trace for Lines {
    /// Names and counters.
    fn trace(&self, _: &mut Marker<'_>) {
        let Lines { files: _, counting: _ } = self;
    }
}
impl VmState for Lines {}

impl Lines {
    pub fn watches(&self, code: &Code) -> bool {
        self.counting && self.files.contains_key(&code.file)
    }
}

impl Cx {
    /// A statement begins a line.
    pub(crate) fn count_line(&mut self, code: &Code, line: u32) {
        let lines = self.state::<Lines>();
        if lines.counting
            && let Some(Some(n)) = lines.files.get_mut(&code.file).and_then(|c| c.get_mut((line as usize).wrapping_sub(1)))
        {
            *n += 1;
        }
    }
    /// The set of watched files changed, or whether they are counted.
    pub fn lines_changed(&mut self) {
        let tracing = self.traces.as_deref().map_or_else(Tracing::default, Tracing::asked);
        self.set_tracing(tracing);
    }
}
