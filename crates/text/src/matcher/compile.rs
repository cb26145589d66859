//! A tree to a program.
//!
//! Works through a list of tasks instead of recursing: nesting costs no native stack. Each node is given what may follow it, so that branches look at
//! a byte before they keep a way, and loops over one character give nothing back where that cannot help.
//! Invariant: a group that is called stands apart as a subroutine; its place in the pattern calls it, too.
//! Rejected: keeping every alternative (Oniguruma does; most are refused by the next byte).

mod ways;

use super::analyze::{self, Analysis, UNROLLED, first_of_set};
use super::ast::{Anchor, Greed, Id, Node, Target, Tree};
use super::codec::Coding;
use super::folding::Folder;
use super::grapheme;
use super::parse::{self, Options, Result};
use super::poll::Poll;
use super::program::*;
use super::property::Type;
use super::ranges::Ranges;
use crate::encoding::Encoding;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Instructions of one program.
const SIZE: usize = 4_000_000;
/// Groups listed for loops around them.
const LISTED: usize = 4_000_000;

enum Task {
    Node(Id, First),
    /// The body of an endless loop, and what may follow the loop; None: anything, and it gives nothing back.
    Body(Id, Option<First>),
    /// A character, as often as it comes; gives none back.
    Many(Id),
    Inst(Inst),
    Bind(Pc),
    Scope(Scope),
}

/// What stands around the node at work.
#[derive(Clone, Copy)]
struct Scope {
    /// The innermost counted loop; or [`NOWHERE`].
    counter: u32,
    /// The innermost guard, if it remembers; or [`NOWHERE`].
    guard: u32,
    /// States of the counted loops around.
    rows: u64,
    in_atomic: bool,
    in_look: bool,
}

struct Compiler<'a, 'b> {
    poll: &'a mut Poll<'b>,
    listed: usize,
    tree: &'a Tree,
    a: Analysis,
    enc: Encoding,
    p: Program,
    tasks: Vec<Task>,
    /// Instruction of each label.
    labels: Vec<Pc>,
    group_labels: Vec<Pc>,
    set_index: HashMap<Arc<Ranges>, u32>,
    scope: Scope,
}

/// Compiles a pattern for text in encoding `enc`. Patterns for UTF-16 and UTF-32 are given in UTF-8.
///
/// # Errors
/// Ruby's message, without the source.
pub fn compile(source: &[u8], options: Options, enc: Encoding, poll: &mut Poll<'_>) -> Result<Program> {
    let folder = Folder::of(enc);
    let coding = Coding::of(enc);
    let tree = parse::parse(source, options, super::source_encoding(enc), &folder, poll)?;
    let a = analyze::analyze(&tree, &folder, coding, poll)?;
    let program = Program {
        coding,
        folder,
        insts: Vec::new(),
        sets: Vec::new(),
        loops: Vec::new(),
        branches: Vec::new(),
        counters: Vec::new(),
        backrefs: Vec::new(),
        group_lists: Vec::new(),
        bytes: Vec::new(),
        codes: Vec::new(),
        groups: tree.groups,
        locals: tree.groups * 2 + 1,
        slots: tree.groups * 2 + 1,
        names: tree.names.clone(),
        word: None,
        grapheme: None,
        newline: Ranges::of(if enc.is_unicode() { &[(10, 13), (0x85, 0x85), (0x2028, 0x2029)] } else { &[(10, 13)] }),
        memo: true,
        guarded: false,
        points: Vec::new(),
        rows: 0,
        guards: Vec::new(),
        linear: super::linear_time::linear_time(&tree, enc),
        levels: false,
        begin: Begin::Anywhere,
        first: None,
        first_few: Vec::new(),
        prefix: None,
        prefix_len: 0,
        needed: None,
        is_literal: false,
        quick: false,
    };
    let mut c = Compiler {
        poll,
        listed: 0,
        tree: &tree,
        a,
        enc,
        p: program,
        tasks: Vec::new(),
        labels: Vec::new(),
        group_labels: Vec::new(),
        set_index: HashMap::new(),
        scope: Scope { counter: NOWHERE, guard: NOWHERE, rows: 1, in_atomic: false, in_look: false },
    };
    c.p.levels = tree.nodes.iter().any(|n| matches!(n, Node::Backref { level: Some(_), .. }));
    c.run()?;
    super::prefilter::prepare(&mut c.p, &tree, &c.a, enc);
    Ok(c.p)
}

impl Compiler<'_, '_> {
    fn run(&mut self) -> Result<()> {
        let calls = self.a.called.iter().any(|c| *c);
        self.group_labels = (0..self.tree.groups).map(|_| self.label()).collect();
        // The whole pattern, when something calls it, is a subroutine as well.
        if self.a.called[0] {
            let l = self.group_labels[0];
            self.inst(Inst::Call(l))?;
            self.inst(Inst::Match)?;
            self.bind(l);
            self.node(self.tree.root, First::UNKNOWN)?;
            self.inst(Inst::Return)?;
        } else {
            self.node(self.tree.root, First::EMPTY)?;
            self.inst(Inst::Match)?;
        }
        for n in 1..self.tree.groups {
            if !self.a.called[n as usize] {
                continue;
            }
            let Some(id) = self.a.group_nodes[n as usize] else { continue };
            let Node::Group { of, .. } = self.tree.node(id) else { continue };
            self.bind(self.group_labels[n as usize]);
            if self.a.recursive[n as usize] {
                let slot = self.local();
                self.inst(Inst::StartRecursive(n, slot))?;
                self.node(*of, First::UNKNOWN)?;
                self.inst(Inst::EndRecursive(n, slot))?;
            } else {
                self.inst(Inst::Start(n))?;
                self.node(*of, First::UNKNOWN)?;
                self.inst(Inst::End(n))?;
            }
            self.inst(Inst::Return)?;
        }
        self.p.memo &= !calls;
        self.link();
        self.keep_last();
        self.p.quick = self.p.is_simple();
        Ok(())
    }

    fn label(&mut self) -> Pc {
        self.labels.push(Pc::MAX);
        self.labels.len() as Pc - 1
    }

    fn bind(&mut self, label: Pc) {
        self.labels[label as usize] = self.p.insts.len() as Pc;
    }

    fn local(&mut self) -> u32 {
        self.p.slots += 1;
        self.p.slots - 1
    }

    fn point(&mut self) -> u32 {
        match u32::try_from(self.scope.rows).ok().and_then(|rows| self.p.rows.checked_add(rows)) {
            Some(rows) => {
                self.p.points.push(Point { base: self.p.rows, counter: self.scope.counter, guard: self.scope.guard });
                self.p.rows = rows;
            }
            None => {
                self.p.points.push(Point { base: 0, counter: NOWHERE, guard: NOWHERE });
                self.p.memo = false;
            }
        }
        self.p.points.len() as u32 - 1
    }

    /// A guard begins: its scope, the label of the instruction that ends it, and whether what comes through is remembered. (Not if groups are set
    /// inside, nor if guards of other kinds stand inside each other; Ruby's engine draws the line there, too.)
    fn guard(&mut self, of: Id, atomic: bool, slot: u32) -> (Scope, Pc, bool) {
        let holds = self.a.holds[of as usize];
        let remembers = if atomic {
            holds & (analyze::GROUP | analyze::LOOK | analyze::ATOMIC) == 0 && !self.scope.in_atomic && !self.scope.in_look
        } else {
            holds & (analyze::GROUP | analyze::ATOMIC) == 0 && !self.scope.in_atomic
        };
        let end = self.label();
        let mut scope = self.scope;
        scope.guard = NOWHERE;
        if remembers {
            self.p.guards.push(Guard { atomic, end, slot });
            scope.guard = self.p.guards.len() as u32 - 1;
        }
        scope.in_atomic |= atomic;
        scope.in_look |= !atomic;
        self.p.guarded = true;
        (scope, end, remembers)
    }

    fn inst(&mut self, inst: Inst) -> Result<()> {
        if self.p.insts.len() >= SIZE {
            return Err("too big regexp".into());
        }
        self.p.insts.push(inst);
        Ok(())
    }

    /// Labels become places.
    fn link(&mut self) {
        let labels = &self.labels;
        let place = |l: &mut Pc| *l = labels[*l as usize];
        for inst in &mut self.p.insts {
            match inst {
                Inst::Jump(l)
                | Inst::Call(l)
                | Inst::EmptyEnd(_, _, l)
                | Inst::Condition(_, l)
                | Inst::NotStart(_, l)
                | Inst::AbsentTry(_, l) => place(l),
                _ => {}
            }
        }
        for b in &mut self.p.branches {
            place(&mut b.first);
            place(&mut b.second);
        }
        for c in &mut self.p.counters {
            place(&mut c.body);
            place(&mut c.exit);
        }
        for g in &mut self.p.guards {
            place(&mut g.end);
        }
    }

    /// A loop behind which nothing can fail gives nothing back.
    fn keep_last(&mut self) {
        if self.p.levels {
            return;
        }
        for (pc, inst) in self.p.insts.iter().enumerate() {
            let Inst::Loop(l) = *inst else { continue };
            let behind = self.p.insts[pc + 1..].iter().find(|i| !matches!(i, Inst::End(_)));
            if self.p.loops[l as usize].kind == LoopKind::Greedy && matches!(behind, Some(Inst::Match)) {
                self.p.loops[l as usize].kind = LoopKind::Keep;
            }
        }
    }

    fn node(&mut self, id: Id, follow: First) -> Result<()> {
        self.tasks.push(Task::Node(id, follow));
        while let Some(task) = self.tasks.pop() {
            self.poll.work(1)?;
            match task {
                Task::Inst(inst) => self.inst(inst)?,
                Task::Bind(label) => self.bind(label),
                Task::Scope(scope) => self.scope = scope,
                Task::Node(id, follow) => self.expand(id, follow)?,
                Task::Body(id, follow) => self.body(id, follow)?,
                Task::Many(id) => {
                    if let Some(one) = self.one(id) {
                        self.simple_loop(id, one, 1, None, Greed::Possessive, First::EMPTY)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds tasks, the first of them to be done first.
    fn then(&mut self, tasks: Vec<Task>) {
        self.tasks.extend(tasks.into_iter().rev());
    }

    fn first(&self, id: Id) -> First {
        self.a.first[id as usize]
    }

    /// A branch: to `first`, keeping `second`.
    fn split(&mut self, first: Pc, second: Pc, first_bytes: First, second_bytes: First) -> Inst {
        let known = |f: First| (!f.empty).then_some(f);
        let point = self.point();
        self.p.branches.push(Branch { first, second, first_bytes: known(first_bytes), second_bytes: known(second_bytes), point });
        Inst::Split(self.p.branches.len() as u32 - 1)
    }

    fn expand(&mut self, id: Id, follow: First) -> Result<()> {
        match self.tree.node(id) {
            Node::Chars { codes, fold } => {
                let (codes, fold) = (codes.clone(), *fold);
                self.chars(&codes, fold, self.a.behind[id as usize])?;
            }
            Node::Set(_) | Node::Any { .. } => {
                if let Some(one) = self.one(id) {
                    self.inst(Inst::One(one))?;
                }
            }
            Node::Cat(v) => {
                let mut next = follow;
                let mut tasks = Vec::with_capacity(v.len());
                for &x in v.iter().rev() {
                    tasks.push(Task::Node(x, next));
                    next = self.first(x).then(&next);
                }
                self.tasks.extend(tasks);
            }
            Node::Alt(v) => self.alternatives(&v.clone(), follow, &[], &[])?,
            Node::Repeat { of, min, max, greed } => self.repeat(*of, *min, *max, *greed, follow)?,
            Node::Group { number, of } => {
                let (n, of) = (*number, *of);
                if self.a.called[n as usize] {
                    self.inst(Inst::Call(self.group_labels[n as usize]))?;
                } else {
                    self.then(vec![Task::Inst(Inst::Start(n)), Task::Node(of, follow), Task::Inst(Inst::End(n))]);
                }
            }
            Node::Atomic(of) => {
                let (of, slot, outer) = (*of, self.local(), self.scope);
                let (scope, end, remembers) = self.guard(of, true, slot);
                // What follows must not close ways inside: they would be given up for others that are cut off.
                self.then(vec![
                    Task::Inst(Inst::AtomicStart(slot)),
                    Task::Scope(scope),
                    Task::Node(of, First::EMPTY),
                    Task::Scope(outer),
                    Task::Bind(end),
                    Task::Inst(Inst::AtomicEnd(slot, remembers)),
                ]);
            }
            Node::Look { behind: true, not: false, of } => {
                // Of fixed length: needs no place to return to.
                let ways = self.ways(*of);
                self.alternatives_behind(&ways)?;
            }
            Node::Look { behind, not, of } => {
                let (behind, not, of) = (*behind, *not, *of);
                let (slot, outer) = (self.local(), self.scope);
                let (scope, end, remembers) = self.guard(of, false, slot);
                if not {
                    let after = self.label();
                    self.then(vec![Task::Scope(outer), Task::Bind(end), Task::Inst(Inst::NotEnd(slot, remembers)), Task::Bind(after)]);
                    self.scope = scope;
                    if behind {
                        let ways = self.ways(of);
                        self.alternatives_behind(&ways)?;
                    } else {
                        self.tasks.push(Task::Node(of, First::EMPTY));
                    }
                    self.inst(Inst::NotStart(slot, after))?;
                } else {
                    self.then(vec![
                        Task::Inst(Inst::AheadStart(slot)),
                        Task::Scope(scope),
                        Task::Node(of, First::EMPTY),
                        Task::Scope(outer),
                        Task::Bind(end),
                        Task::Inst(Inst::AheadEnd(slot, remembers)),
                    ]);
                }
            }
            Node::Condition { groups, yes, no } => {
                let (groups, yes, no) = (groups.clone(), *yes, *no);
                self.state_matters();
                self.p.group_lists.push(groups);
                let list = self.p.group_lists.len() as u32 - 1;
                let (other, end) = (self.label(), self.label());
                let mut tasks =
                    vec![Task::Inst(Inst::Condition(list, other)), Task::Node(yes, follow), Task::Inst(Inst::Jump(end)), Task::Bind(other)];
                tasks.extend(no.map(|no| Task::Node(no, follow)));
                tasks.push(Task::Bind(end));
                self.then(tasks);
            }
            Node::Absent(of) => {
                let of = *of;
                self.state_matters();
                let slot = self.local();
                (0..4).for_each(|_| {
                    self.local();
                });
                let end = self.label();
                self.then(vec![
                    Task::Inst(Inst::AbsentStart(slot)),
                    Task::Inst(Inst::AbsentTry(slot, end)),
                    Task::Node(of, First::EMPTY),
                    Task::Inst(Inst::AbsentEnd(slot)),
                    Task::Bind(end),
                ]);
            }
            Node::Backref { groups, fold, level } => {
                let b = Backref { groups: groups.clone(), fold: *fold, level: *level };
                self.state_matters();
                self.p.backrefs.push(b);
                self.inst(Inst::Backref(self.p.backrefs.len() as u32 - 1))?;
            }
            Node::Call(Target::Number(n)) => self.inst(Inst::Call(self.group_labels[*n as usize]))?,
            Node::Call(Target::Name(_)) => self.inst(Inst::Fail)?,
            Node::Anchor(anchor) => {
                let inst = match *anchor {
                    Anchor::LineStart => Inst::LineStart,
                    Anchor::LineEnd => Inst::LineEnd,
                    Anchor::TextStart => Inst::TextStart,
                    Anchor::TextEnd => Inst::TextEnd,
                    Anchor::TextEndNewline => Inst::TextEndNewline,
                    Anchor::SearchStart => Inst::SearchStart,
                    Anchor::WordEdge { ascii, not } => {
                        if !ascii && self.p.word.is_none() {
                            let set = Type::Word.set(self.enc);
                            self.p.word = Some(self.make_set(Arc::new(set)));
                        }
                        Inst::WordEdge(ascii, not)
                    }
                };
                self.inst(inst)?;
            }
            Node::Keep => self.inst(Inst::Keep)?,
            Node::Newline => self.inst(Inst::Newline)?,
            Node::Grapheme => {
                if self.enc.is_unicode() && self.p.grapheme.is_none() {
                    self.p.grapheme = Some(Box::new(grapheme::Tables::new()));
                }
                self.inst(Inst::Grapheme)?;
            }
        }
        Ok(())
    }

    /// What matches depends on more than the place.
    fn state_matters(&mut self) {
        self.p.memo = false;
    }

    fn repeat(&mut self, of: Id, min: u32, max: Option<u32>, greed: Greed, follow: First) -> Result<()> {
        if max == Some(0) {
            return Ok(());
        }
        if (min, max) == (1, Some(1)) {
            self.tasks.push(Task::Node(of, follow));
            return Ok(());
        }
        let mut inner = of;
        while let Node::Cat(v) = self.tree.node(inner)
            && let [one] = v[..]
        {
            inner = one;
        }
        if let Some(one) = self.one(inner) {
            return self.simple_loop(inner, one, min, max, greed, follow);
        }
        let mut follow = follow;
        if greed == Greed::Possessive {
            follow = First::EMPTY;
            let (slot, outer) = (self.local(), self.scope);
            let (scope, end, remembers) = self.guard(of, true, slot);
            self.inst(Inst::AtomicStart(slot))?;
            self.then(vec![Task::Scope(outer), Task::Bind(end), Task::Inst(Inst::AtomicEnd(slot, remembers))]);
            self.scope = scope;
        }
        let lazy = greed == Greed::Lazy;
        let own = self.first(of);
        let may_be_empty = own.empty;
        // From the loop back to itself, or out.
        let mut around = own;
        around.or(&follow);
        let around = if may_be_empty { First::UNKNOWN } else { around };
        let times = max.unwrap_or(min);
        if (self.a.weight[of as usize] + 1).saturating_mul(times.max(1)) > UNROLLED {
            return self.counted_loop(of, min, max, lazy, around);
        }
        let mut tasks = Vec::new();
        // A large body stands once: the first round jumps into the loop.
        let enters = min == 1 && max.is_none() && self.a.weight[of as usize] > 16;
        for i in 0..if enters { 0 } else { min } {
            let last = i + 1 == min && max == Some(min);
            tasks.push(Task::Node(of, if last { follow } else { around }));
        }
        let exit_bytes = follow;
        match max {
            None => {
                let (head, body, exit) = (self.label(), self.label(), self.label());
                if enters {
                    tasks.push(Task::Inst(Inst::Jump(body)));
                }
                tasks.push(Task::Bind(head));
                tasks.push(Task::Inst(self.way(body, exit, own.then(&follow), exit_bytes, lazy, may_be_empty)));
                tasks.push(Task::Bind(body));
                if may_be_empty {
                    let slot = self.local();
                    let list = self.groups_inside(of)?;
                    tasks.push(Task::Inst(Inst::EmptyStart(slot)));
                    tasks.push(Task::Node(of, First::UNKNOWN));
                    tasks.push(Task::Inst(Inst::EmptyEnd(slot, list, exit)));
                } else if lazy {
                    tasks.push(Task::Node(of, around));
                } else {
                    tasks.push(Task::Body(of, (greed != Greed::Possessive).then_some(follow)));
                }
                tasks.push(Task::Inst(Inst::Jump(head)));
                tasks.push(Task::Bind(exit));
            }
            Some(max) => {
                let exit = self.label();
                for i in min..max {
                    let body = self.label();
                    tasks.push(Task::Inst(self.way(body, exit, own.then(&follow), exit_bytes, lazy, may_be_empty)));
                    tasks.push(Task::Bind(body));
                    tasks.push(Task::Node(of, if i + 1 == max { follow } else { around }));
                }
                tasks.push(Task::Bind(exit));
            }
        }
        self.then(tasks);
        Ok(())
    }

    fn way(&mut self, body: Pc, exit: Pc, body_bytes: First, exit_bytes: First, lazy: bool, empty: bool) -> Inst {
        let body_bytes = if empty { First::UNKNOWN } else { body_bytes };
        if lazy { self.split(exit, body, exit_bytes, body_bytes) } else { self.split(body, exit, body_bytes, exit_bytes) }
    }

    /// The groups inside a loop that may be empty: whether they changed counts.
    fn groups_inside(&mut self, of: Id) -> Result<u32> {
        let mut groups: HashSet<u32> = HashSet::new();
        let mut list: Vec<u32> = Vec::new();
        let mut todo: Vec<Id> = vec![of];
        while let Some(x) = todo.pop() {
            self.poll.work(1)?;
            match self.tree.node(x) {
                // What a look-around sets does not count.
                Node::Look { .. } => continue,
                Node::Group { number, .. } if groups.insert(*number) => list.push(*number),
                // What is called sets its groups here, too.
                Node::Call(Target::Number(n)) if !groups.contains(n) => match self.a.group_nodes[*n as usize] {
                    Some(id) => todo.push(id),
                    None => {
                        groups.insert(*n);
                        list.push(*n);
                    }
                },
                _ => {}
            }
            self.tree.parts(x, &mut |part| todo.push(part));
        }
        if list.is_empty() {
            return Ok(u32::MAX);
        }
        self.listed += list.len();
        if self.listed > LISTED {
            return Err("too big regexp".into());
        }
        list.sort_unstable();
        self.p.group_lists.push(list);
        Ok(self.p.group_lists.len() as u32 - 1)
    }

    fn counted_loop(&mut self, of: Id, min: u32, max: Option<u32>, lazy: bool, around: First) -> Result<()> {
        let (slot, outer) = (self.local(), self.scope);
        let (head, body, exit) = (self.label(), self.label(), self.label());
        let may_be_empty = self.first(of).empty;
        let empty = if may_be_empty { self.local() } else { NOWHERE };
        let most = max.unwrap_or(min);
        let counter = self.p.counters.len() as u32;
        self.p.counters.push(Counter {
            slot,
            empty,
            outer: outer.counter,
            states: (most + 1) * (1 + u32::from(may_be_empty)),
            point: 0,
            min,
            max: max.unwrap_or(u32::MAX),
            lazy,
            body,
            exit,
        });
        let rows = outer.rows.saturating_mul(u64::from(self.p.counters[counter as usize].states));
        let scope = Scope { counter, rows, ..outer };
        self.scope = scope;
        self.p.counters[counter as usize].point = self.point();
        self.scope = outer;
        let mut tasks = vec![
            Task::Inst(Inst::CountInit(slot)),
            Task::Bind(head),
            Task::Inst(Inst::CountLoop(counter)),
            Task::Bind(body),
            Task::Inst(Inst::CountStep(slot, most)),
            Task::Scope(scope),
        ];
        if may_be_empty {
            let list = self.groups_inside(of)?;
            tasks.push(Task::Inst(Inst::EmptyStart(empty)));
            tasks.push(Task::Node(of, First::UNKNOWN));
            tasks.push(Task::Inst(Inst::EmptyEnd(empty, list, exit)));
        } else {
            tasks.push(Task::Node(of, around));
        }
        tasks.push(Task::Scope(outer));
        tasks.push(Task::Inst(Inst::Jump(head)));
        tasks.push(Task::Bind(exit));
        self.then(tasks);
        Ok(())
    }

    fn simple_loop(&mut self, of: Id, one: One, min: u32, max: Option<u32>, greed: Greed, follow: First) -> Result<()> {
        let own = self.first(of);
        let apart = !follow.empty && !follow.meets(&own);
        let kind = match greed {
            Greed::Possessive => LoopKind::Keep,
            Greed::Greedy if apart => LoopKind::Apart,
            Greed::Greedy => LoopKind::Greedy,
            Greed::Lazy => LoopKind::Lazy,
        };
        let known = (!follow.empty && follow.count() < 256).then_some(follow);
        let follow_byte = known.filter(|f| f.count() == 1).and_then(|f| f.bytes().next());
        let bytes_only = match one {
            One::Byte(_) => true,
            One::Set(s) => self.p.sets[s as usize].bytes_only,
            One::Any | One::All => self.p.coding == Coding::Single,
        };
        let point = self.point();
        self.p.loops.push(Loop { one, min, max: max.unwrap_or(u32::MAX), kind, follow: known, follow_byte, point, bytes_only });
        self.inst(Inst::Loop(self.p.loops.len() as u32 - 1))
    }

    /// A node that always takes one character.
    fn one(&mut self, id: Id) -> Option<One> {
        match self.tree.node(id) {
            Node::Set(set) => Some(One::Set(self.set(set.clone()))),
            Node::Any { newline: true } => Some(One::All),
            Node::Any { newline: false } => Some(One::Any),
            Node::Chars { codes, fold } => {
                let [code] = codes[..] else { return None };
                if *fold {
                    if self.p.folder.fold(code).codes().len() > 1 && !self.a.behind[id as usize] {
                        return None;
                    }
                    let set = self.p.folder.closed(&Ranges::single(code));
                    if set.only().is_none() {
                        return Some(One::Set(self.set(Arc::new(set))));
                    }
                }
                Some(match u8::try_from(code) {
                    Ok(b) if self.is_one_byte(code) => One::Byte(b),
                    _ => One::Set(self.set(Arc::new(Ranges::single(code)))),
                })
            }
            _ => None,
        }
    }

    fn is_one_byte(&self, code: u32) -> bool {
        match self.p.coding {
            Coding::Single => code < 256,
            Coding::Utf8 => code < 128,
            Coding::Multi(e) => code < 128 && e.is_ascii_compatible(),
        }
    }

    fn set(&mut self, ranges: Arc<Ranges>) -> u32 {
        if let Some(&known) = self.set_index.get(&ranges) {
            return known;
        }
        let index = self.p.sets.len() as u32;
        self.set_index.insert(ranges.clone(), index);
        let set = self.make_set(ranges);
        self.p.sets.push(set);
        index
    }

    fn make_set(&self, ranges: Arc<Ranges>) -> Set {
        let first = first_of_set(&ranges, self.p.coding);
        let mut table = [0; 256];
        for (b, place) in table.iter_mut().enumerate() {
            let code = b as u32;
            *place = if self.is_one_byte(code) { u8::from(ranges.contains(code)) } else { 2 * u8::from(first.has(b as u8)) };
        }
        let bytes_only = !table.contains(&2);
        let out: Vec<u8> = (0..128u8).filter(|&b| table[b as usize] == 0).collect();
        let beyond = ranges.pairs().last().is_some_and(|r| r.0 <= 0x80 && r.1 >= super::codec::BROKEN);
        let ascii = !matches!(self.p.coding, Coding::Multi(_));
        let except = (ascii && beyond && (1..=3).contains(&out.len())).then(|| {
            let pick = |i: usize| out[i.min(out.len() - 1)];
            (out.len() as u8, [pick(0), pick(1), pick(2)])
        });
        Set { table, ranges, bytes_only, except }
    }

    fn encode(&mut self, codes: &[u32]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for &c in codes {
            match self.p.coding {
                Coding::Single => bytes.push(c as u8),
                _ => {
                    self.enc.encode(c, &mut bytes);
                }
            }
        }
        bytes
    }

    /// Characters one after the other. In a look-behind each keeps its length.
    fn chars(&mut self, codes: &[u32], fold: bool, behind: bool) -> Result<()> {
        if !fold {
            let bytes = self.encode(codes);
            return self.literal(&bytes);
        }
        let folded: Vec<u32> = codes.iter().flat_map(|&c| self.p.folder.fold(c).codes().to_vec()).collect();
        if !behind && self.has_expansion(codes, &folded) {
            let from = self.p.codes.len() as u32;
            self.p.codes.extend_from_slice(&folded);
            return self.inst(Inst::Folded(from, folded.len() as u32));
        }
        // Letters whose only other form is the other case of ASCII go byte by byte.
        let mut plain: Vec<u8> = Vec::new();
        for &c in codes {
            let set = self.p.folder.closed(&Ranges::single(c));
            let ascii = set.pairs().last().is_none_or(|r| r.1 < 0x80) && self.is_one_byte(c) && c < 0x80;
            if ascii {
                plain.push((c as u8).to_ascii_lowercase());
                continue;
            }
            self.fold_literal(&mut plain)?;
            if let Some(code) = set.only() {
                let bytes = self.encode(&[code]);
                self.literal(&bytes)?;
            } else {
                let one = One::Set(self.set(Arc::new(set)));
                self.inst(Inst::One(one))?;
            }
        }
        self.fold_literal(&mut plain)
    }

    fn fold_literal(&mut self, plain: &mut Vec<u8>) -> Result<()> {
        let bytes = std::mem::take(plain);
        if bytes.is_empty() || !bytes.iter().any(u8::is_ascii_alphabetic) {
            return self.literal(&bytes);
        }
        let from = self.p.bytes.len() as u32;
        self.p.bytes.extend_from_slice(&bytes);
        self.inst(Inst::LiteralFold(from, bytes.len() as u32))
    }

    fn literal(&mut self, bytes: &[u8]) -> Result<()> {
        match bytes {
            [] => Ok(()),
            [b] => self.inst(Inst::Byte(*b)),
            _ => {
                let from = self.p.bytes.len() as u32;
                self.p.bytes.extend_from_slice(bytes);
                self.inst(Inst::Literal(from, bytes.len() as u32))
            }
        }
    }

    /// Does a character fold to several here, or do several equal one that does?
    fn has_expansion(&self, codes: &[u32], folded: &[u32]) -> bool {
        if folded.len() != codes.len() {
            return true;
        }
        self.p.folder.holds_expansion(folded)
    }
}
