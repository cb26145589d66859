//! Samples of what a VM runs: stacks as a tree of frames, each with its weight, and the first samples one by one.
//!
//! A sample weighs what the VM has run since its last one, so that all that it ran is told, whenever it was asked. It is taken at the safepoint after the question: work that does
//! not poll shows at the place that follows it.
//!
//! A profile of allocations has samples by bytes: the heap asks after so many ([`zakuro_heap::Heap::sample_allocations`]), and a sample weighs what was allocated since the last one.

use super::{Activity, Counting, load};
use crate::backtrace::{Level, internal as is_internal, visible};
use crate::vm::{Cx, FastMap};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use zakuro_bytecode::Code;
use zakuro_object::{MethodCell, Ref};
use zakuro_sched::clock::ticks;

/// Samples that are kept one by one; later ones count in the tree only.
const SAMPLES: usize = 200_000;
/// Nodes of the tree. Deeper or further stacks count where they would begin.
const NODES: usize = 200_000;
/// Bytes between two samples of allocation, on average.
const EVERY: usize = 64 << 10;
/// Frames of a stack, from the innermost.
const DEPTH: usize = 512;

/// What a frame is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameKind {
    Ruby,
    /// Ruby of which there is machine code.
    Machine,
    Builtin,
    /// What the VM itself does.
    Internal,
}

/// A frame of the profile.
#[derive(Clone, Debug)]
pub struct ProfileFrame {
    pub name: String,
    pub file: Option<Arc<str>>,
    pub line: u32,
    pub kind: FrameKind,
}

#[derive(Clone, Copy, Debug)]
pub struct ProfileNode {
    /// 0: none; else its number plus one.
    pub parent: u32,
    pub frame: u32,
    /// Ticks of samples that end here, or bytes.
    pub weight: u64,
    /// Objects, where allocations are sampled.
    pub objects: u64,
}

/// See the module.
#[derive(Default)]
pub struct Profile {
    pub frames: Vec<ProfileFrame>,
    pub nodes: Vec<ProfileNode>,
    /// When, which node, how many ticks or bytes.
    pub samples: Vec<(u64, u32, u64)>,
    by_key: FastMap<(usize, u32, u64), u32>,
    by_parent: FastMap<(u32, u32), u32>,
    /// Codes whose addresses are keys.
    codes: Vec<Arc<Code>>,
}

/// A level of a stack: what its frame is known by.
pub(crate) struct SampledLevel {
    /// Code, line, method.
    pub key: (usize, u32, u64),
    pub code: Option<Arc<Code>>,
}

impl Profile {
    /// The number of a frame, which `make` describes when it is new.
    fn frame(&mut self, level: SampledLevel, make: impl FnOnce() -> ProfileFrame) -> u32 {
        if let Some(n) = self.by_key.get(&level.key) {
            return *n;
        }
        let n = self.frames.len() as u32;
        self.frames.push(make());
        self.by_key.insert(level.key, n);
        self.codes.extend(level.code);
        n
    }
    /// The node below a parent (plus one; 0: a root). Returns its number plus one.
    fn node(&mut self, parent: u32, frame: u32) -> u32 {
        if let Some(n) = self.by_parent.get(&(parent, frame)) {
            return *n;
        }
        if self.nodes.len() >= NODES {
            return parent;
        }
        self.nodes.push(ProfileNode { parent, frame, weight: 0, objects: 0 });
        let n = self.nodes.len() as u32;
        self.by_parent.insert((parent, frame), n);
        n
    }
    fn note(&mut self, node: u32, weight: u64, objects: u64, now: u64) {
        let Some(n) = node.checked_sub(1).and_then(|n| self.nodes.get_mut(n as usize)) else { return };
        n.weight += weight;
        n.objects += objects;
        if self.samples.len() < SAMPLES {
            self.samples.push((now, node - 1, weight));
        }
    }
}

impl Counting {
    /// What was run, and collected, since the last sample.
    fn since_sample(&mut self, now: u64) -> (u64, u64) {
        let a = &*self.account;
        let active = load(&a.active);
        let begun = now.saturating_sub(a.since.load(Relaxed));
        let (all, collected) = (active.iter().sum::<u64>() + begun, active[Activity::Collect as usize]);
        let before = std::mem::replace(&mut self.sampled, (all, collected));
        let collected = collected.saturating_sub(before.1);
        (all.saturating_sub(before.0).saturating_sub(collected), collected)
    }
}

impl Cx {
    /// Begins to sample allocations, if the process was started for that.
    pub fn profile_allocations(&mut self) {
        if self.counting.as_ref().is_some_and(|c| c.account.switches.allocations) {
            self.heap.sample_allocations(EVERY, zakuro_sched::poll::PROFILE);
        }
    }
    /// Notes what runs.
    #[cold]
    pub(crate) fn profile_sample(&mut self) {
        let now = ticks();
        let Some(c) = self.counting.as_mut().filter(|c| c.account.profile.is_some()) else { return };
        let account = c.account.clone();
        let Some(profile) = &account.profile else { return };
        let (weight, objects, collected) = if account.switches.allocations {
            let (bytes, cells) = self.heap.take_sample().unwrap_or_default();
            (bytes, cells, 0)
        } else {
            let (ran, collected) = c.since_sample(now);
            (ran, 0, collected)
        };
        let mut p = profile.lock();
        let mut levels = self.sampled_levels(DEPTH);
        let mut node = 0;
        // From the outermost.
        while let Some((level, lent)) = levels.pop() {
            let frame = p.frame(level, || self.describe_level(&lent));
            node = p.node(node, frame);
        }
        if node == 0 {
            let frame = p.frame(SampledLevel { key: (0, 0, 1), code: None }, || internal("(no Ruby code)"));
            node = p.node(0, frame);
        }
        p.note(node, weight, objects, now);
        if collected > 0 {
            let frame = p.frame(SampledLevel { key: (0, 0, 2), code: None }, || internal("(collecting)"));
            let node = p.node(node, frame);
            p.note(node, collected, 0, now);
        }
    }
}

impl Cx {
    /// The innermost levels that a profile shows, from the innermost.
    fn sampled_levels(&self, depth: usize) -> Vec<(SampledLevel, Level)> {
        let level = |l: Level| {
            // SAFETY: the state of a live frame.
            let code = (!l.code.is_null()).then(|| unsafe { &*l.code });
            let line = code.map_or(0, |c| c.code.line_at(l.at as usize));
            let key = (code.map_or(1 + usize::from(l.block), |c| std::ptr::from_ref(&*c.code) as usize), line, l.me.bits());
            (SampledLevel { key, code: code.map(|c| c.code.clone()) }, l)
        };
        visible(self.levels()).take(depth).map(level).collect()
    }
    fn describe_level(&mut self, l: &Level) -> ProfileFrame {
        if l.code.is_null() {
            let known = Ref::<MethodCell>::from_value(l.me).is_some();
            let name = if known { self.native_label(l).to_string() } else { "(builtin)".into() };
            return ProfileFrame { name, file: None, line: 0, kind: FrameKind::Builtin };
        }
        // SAFETY: the state of a live frame.
        let state = unsafe { &*l.code };
        let kind = if state.machine.get().is_null() { FrameKind::Ruby } else { FrameKind::Machine };
        ProfileFrame {
            name: self.level_label(l).to_string(),
            file: Some(state.code.file.clone()),
            line: state.code.line_at(l.at as usize),
            kind,
        }
    }
    /// File and line of the innermost code that is not the core library's.
    pub(super) fn place_in_program(&self) -> Option<(Arc<str>, u32)> {
        // SAFETY: states of live frames.
        let ruby = self.levels().filter(|l| !l.code.is_null()).map(|l| unsafe { (&(*l.code).code, l.at) });
        ruby.filter(|(code, _)| !is_internal(code)).map(|(code, at)| (code.file.clone(), code.line_at(at as usize))).next()
    }
}

fn internal(name: &str) -> ProfileFrame {
    ProfileFrame { name: name.into(), file: None, line: 0, kind: FrameKind::Internal }
}
