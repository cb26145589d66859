//! What ran, for the standard library's `coverage`: files that are watched, and counters of their lines, methods and branches.
//!
//! Lines and methods ride on the marked instructions of traces (interp/trace.rs): code of files that nobody watches stays as it is. Branches are counted by instructions
//! that the compiler makes when it is asked to (compiler/src/branches.rs).

use crate::interp::trace::Tracing;
use crate::vm::{Cx, VmState};
use std::collections::BTreeMap;
use std::sync::Arc;
use zakuro_bytecode::Code;
use zakuro_compiler::{Branch, Compiled};
use zakuro_object::{Marker, Trace, Value};

/// Counters of a file's lines; None: no code begins there.
pub type Counters = Vec<Option<u64>>;

/// Branches of a source and their counters.
#[derive(Clone)]
pub struct Branches {
    pub list: Arc<[Branch]>,
    pub counters: Vec<u64>,
    /// It is a text for an eval.
    pub eval: bool,
}

/// The files that a VM watches.
#[derive(Default)]
pub struct Lines {
    pub files: BTreeMap<Arc<str>, Counters>,
    /// Calls by file and range of the definition in it.
    pub methods: BTreeMap<Arc<str>, BTreeMap<(u32, u32), u64>>,
    /// What was compiled with counters of branches, and these.
    pub branches: BTreeMap<Arc<str>, Branches>,
    /// Whether anything is counted now.
    pub counting: bool,
    pub counts_methods: bool,
    /// Whether what is compiled gets counters of branches.
    pub wants_branches: bool,
    /// What is compiled is to be watched.
    pub watching: bool,
    /// Counts the set-ups.
    pub session: u32,
    /// Texts of evals, too.
    pub evals: bool,
    /// Bytes that the heap was told of.
    pub counted: usize,
}
impl Trace for Lines {
    /// Names and counters.
    fn trace(&self, _: &mut Marker<'_>) {
        let Lines {
            files: _,
            methods: _,
            branches: _,
            counting: _,
            counts_methods: _,
            wants_branches: _,
            watching: _,
            session: _,
            evals: _,
            counted: _,
        } = self;
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
    /// What is kept has come to take so many bytes more.
    pub fn charge_coverage(&mut self, bytes: usize) {
        self.state::<Lines>().counted += bytes;
        self.heap.add_payload(bytes);
    }
    /// A method is called.
    pub(crate) fn count_method(&mut self, code: &Code) {
        let Some(span) = code.span else { return };
        let lines = self.state::<Lines>();
        if lines.counts_methods && lines.watches(code) {
            let calls = lines.methods.entry(code.file.clone()).or_default();
            let before = calls.len();
            *calls.entry(span).or_default() += 1;
            if calls.len() > before {
                self.charge_coverage(48);
            }
        }
    }
    /// An arm of a branch is gone.
    pub(crate) fn count_branch(&mut self, file: &str, number: Value) {
        let lines = self.state::<Lines>();
        if lines.counting
            && let Some(n) = number.as_fixnum()
            && let Some(n) = lines.branches.get_mut(file).and_then(|b| b.counters.get_mut(n as usize))
        {
            *n += 1;
        }
    }
    /// Whether `coverage` is to hear of each file that is compiled, the program's own included.
    pub fn watches_files(&mut self) -> bool {
        self.state::<Lines>().watching
    }
    pub fn wants_branches(&mut self) -> bool {
        self.state::<Lines>().wants_branches
    }
    /// Tells texts of evals with counters of branches from others: 0, or the set-up that they belong to.
    pub fn eval_session(&mut self) -> u32 {
        let lines = self.state::<Lines>();
        if lines.wants_branches && lines.evals { lines.session } else { 0 }
    }
    /// Whether a text for an eval gets counters of branches. A file's counters stay its own, though texts are often evaluated in its name.
    pub fn eval_wants_branches(&mut self, file: &str) -> bool {
        let lines = self.state::<Lines>();
        lines.wants_branches && lines.evals && lines.branches.get(file).is_none_or(|b| b.eval)
    }
    /// A source was compiled with counters of branches. They begin at 0; those of the same file before end. A text for an eval may be compiled again and be the same.
    pub fn note_branches(&mut self, file: &str, compiled: &Compiled, eval: bool) {
        let list = compiled.branches.clone();
        let table = &mut self.state::<Lines>().branches;
        if eval && table.get(file).is_some_and(|b| b.list == list) {
            return;
        }
        let counters: Vec<u64> = vec![0; list.iter().map(|b| b.arms.len()).sum()];
        let weight = |b: &Branches| size_of_val(&*b.counters) + size_of_val(&*b.list) + b.counters.len() * size_of::<[u32; 8]>();
        let new = Branches { list, counters, eval };
        let bytes = weight(&new) + file.len() + 96;
        let old = table.insert(file.into(), new).map_or(0, |b| weight(&b) + file.len() + 96);
        self.charge_coverage(bytes.saturating_sub(old));
    }
    /// A file is watched from now on. What others compile to stays as it is: a program may load thousands.
    pub fn watch_file(&mut self, file: &Arc<str>) {
        if self.state::<Lines>().counting && !self.trace_file(file) {
            self.lines_changed();
        }
    }
    /// The set of watched files changed, or whether they are counted.
    pub fn lines_changed(&mut self) {
        let tracing = self.traces.as_deref().map_or_else(Tracing::default, Tracing::asked);
        self.set_tracing(tracing);
    }
}
