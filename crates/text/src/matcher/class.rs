//! Bracketed classes: ranges, nested classes, `&&`, POSIX brackets, and what `i` does to them.
//!
//! Invariant: the result is one set of codes, or (with `i`) an alternative of a set and of the strings that its members fold to.
//! Two sets are kept side by side: all members, and those that may fold across the border of ASCII (`\w` and ASCII brackets may not: `/[\w]/i` has no
//! long s, `/[s]/i` has one).
//! Rejected: recursion for nested classes (a pattern of a thousand brackets would need as many native frames).

use super::ast::{Id, Node};
use super::folding::Folder;
use super::parse::{Parser, Result, Warns};
use super::property::Type;
use super::ranges::Ranges;
use std::collections::BTreeMap;

/// Letters in which Ruby looks for the end of a POSIX bracket's name; of a longer one the bracket is a character.
const NAME: usize = 20;

#[derive(Clone, Copy, PartialEq)]
enum State {
    Start,
    /// A character that may begin a range.
    Value(u32),
    /// A type or a property: begins none.
    Class,
    /// Behind `a-`.
    Range(u32),
    Complete,
}

#[derive(Clone, Default)]
struct Sets {
    all: Ranges,
    /// Members that fold wherever Unicode says.
    free: Ranges,
}

impl Sets {
    fn and(&mut self, other: &Sets) {
        self.all = self.all.intersection(&other.all);
        self.free = self.free.intersection(&other.free);
    }
}

/// Members as they come. Put in order when there are many, and at the end: each time by itself would be quadratic.
#[derive(Default)]
struct Members {
    pairs: Vec<(u32, u32)>,
    /// How many there were when they were last put in order.
    settled: usize,
}

impl Members {
    fn extend(&mut self, pairs: &[(u32, u32)]) {
        self.pairs.extend_from_slice(pairs);
        if self.pairs.len() > 2 * self.settled + 64 {
            self.pairs = Ranges::of(&self.pairs).pairs().to_vec();
            self.settled = self.pairs.len();
        }
    }

    fn take(&mut self) -> Ranges {
        Ranges::of(&std::mem::take(self).pairs)
    }
}

#[derive(Default)]
struct Gathered {
    all: Members,
    free: Members,
}

impl Gathered {
    fn add(&mut self, from: u32, to: u32) {
        self.all.extend(&[(from, to)]);
        self.free.extend(&[(from, to)]);
    }

    fn union(&mut self, set: &Ranges, free: bool) {
        self.all.extend(set.pairs());
        if free {
            self.free.extend(set.pairs());
        }
    }

    fn take(&mut self) -> Sets {
        Sets { all: self.all.take(), free: self.free.take() }
    }
}

/// Members that were met in a class, as ranges that have nothing in common: the last of each by the first.
#[derive(Default)]
struct Met(BTreeMap<u32, u32>);

impl Met {
    /// Adds a range. Whether some of it was there.
    fn add(&mut self, mut from: u32, mut to: u32) -> bool {
        let mut again = false;
        while let Some((&first, &last)) = self.0.range(..=to).next_back()
            && last >= from
        {
            again = true;
            self.0.remove(&first);
            (from, to) = (from.min(first), to.max(last));
        }
        self.0.insert(from, to);
        again
    }
}

struct Class {
    not: bool,
    sets: Gathered,
    /// Where it is to be known whether a member is named twice.
    met: Option<Met>,
    twice: bool,
    /// What stands before `&&`.
    left: Option<Sets>,
    state: State,
}

impl Class {
    /// Takes a character that waits for a range.
    fn flush(&mut self) {
        if let State::Value(c) = self.state {
            self.sets.add(c, c);
            self.meets(&[(c, c)]);
        }
    }

    fn meets(&mut self, pairs: &[(u32, u32)]) {
        if let Some(met) = &mut self.met {
            self.twice |= pairs.iter().fold(false, |twice, &(from, to)| met.add(from, to) || twice);
            if self.twice {
                self.met = None;
            }
        }
    }

    fn value(&mut self, c: u32) -> Result<()> {
        self.state = match self.state {
            State::Range(from) if from > c => return Err("empty range in char class".into()),
            State::Range(from) => {
                self.sets.add(from, c);
                self.meets(&[(from, c)]);
                State::Complete
            }
            _ => {
                self.flush();
                State::Value(c)
            }
        };
        Ok(())
    }

    fn set(&mut self, set: &Ranges, free: bool) -> Result<()> {
        if matches!(self.state, State::Range(_)) {
            return Err("char-class value at end of range".into());
        }
        self.flush();
        self.sets.union(set, free);
        self.meets(set.pairs());
        self.state = State::Class;
        Ok(())
    }

    fn meet(&mut self) {
        self.flush();
        let right = self.sets.take();
        self.met = self.met.is_some().then(Met::default);
        match &mut self.left {
            Some(left) => left.and(&right),
            None => self.left = Some(right),
        }
        self.state = State::Start;
    }

    fn finish(mut self) -> (bool, Sets, bool) {
        if self.left.is_some() {
            self.meet();
        } else {
            self.flush();
        }
        let sets = match self.left {
            Some(left) => left,
            None => self.sets.take(),
        };
        (self.not, sets, self.twice)
    }
}

impl Parser<'_> {
    /// The class behind an opening bracket.
    pub(super) fn class(&mut self) -> Result<Id> {
        const OPEN: &str = "premature end of char-class";
        let mut stack = vec![self.open_class()?];
        loop {
            let Some(class) = stack.last_mut() else { return Err(OPEN.into()) };
            let Some(b) = self.peek(0) else { return Err(OPEN.into()) };
            if b >= 0x80 || !self.enc.is_ascii_compatible() {
                let c = self.take_char()?;
                class.value(c)?;
                continue;
            }
            match b {
                b']' => {
                    self.at += 1;
                    if let State::Range(from) = class.state {
                        // `[a-]`
                        class.state = State::Value(from);
                        class.value(u32::from(b'-'))?;
                    }
                    let Some(done) = stack.pop() else { return Err(OPEN.into()) };
                    let (not, sets, twice) = done.finish();
                    if twice && !std::mem::replace(&mut self.warned_twice, true) {
                        self.warn(|| "character class has duplicated range".into());
                    }
                    match stack.last_mut() {
                        None => return Ok(self.class_node(not, sets)),
                        Some(outer) => {
                            let (all, free) = if not { (sets.all.negated(), sets.free.negated()) } else { (sets.all, sets.free) };
                            // What it has in common with members before it is no mistake, but for the last of these.
                            if let Some(met) = &mut outer.met {
                                all.pairs().iter().for_each(|&(from, to)| _ = met.add(from, to));
                            }
                            outer.flush();
                            outer.state = State::Complete;
                            outer.sets.all.extend(all.pairs());
                            outer.sets.free.extend(free.pairs());
                        }
                    }
                }
                b'[' => {
                    if self.peek(1) == Some(b':')
                        && let Some(done) = self.bracket(class)?
                    {
                        self.at += done;
                        continue;
                    }
                    self.at += 1;
                    let inner = self.open_class()?;
                    stack.push(inner);
                }
                b'&' if self.peek(1) == Some(b'&') => {
                    self.at += 2;
                    if let State::Range(from) = class.state {
                        class.state = State::Value(from);
                        class.value(u32::from(b'-'))?;
                    }
                    class.meet();
                }
                b'-' => {
                    self.at += 1;
                    let next = self.peek(0);
                    let meets = next == Some(b'&') && self.peek(1) == Some(b'&');
                    let ends = next == Some(b']') || meets;
                    let odd = match class.state {
                        State::Start => meets || next == Some(b'-'),
                        State::Range(_) => true,
                        State::Complete => next != Some(b']'),
                        State::Value(_) | State::Class => meets,
                    };
                    if odd {
                        self.warn(|| "character class has '-' without escape".into());
                    }
                    match class.state {
                        State::Value(_) | State::Class if ends => class.value(u32::from(b'-'))?,
                        State::Value(from) => class.state = State::Range(from),
                        State::Class => return Err("unmatched range specifier in char-class".into()),
                        State::Start | State::Range(_) | State::Complete => class.value(u32::from(b'-'))?,
                    }
                }
                b'\\' => match self.peek(1) {
                    Some(c @ (b'w' | b'W' | b'd' | b'D' | b's' | b'S' | b'h' | b'H')) => {
                        let set = self.type_set(c);
                        self.at += 2;
                        class.set(&set, !matches!(c, b'w' | b'W'))?;
                    }
                    Some(b'p' | b'P') if self.peek(2) == Some(b'{') => {
                        let (set, not) = self.property()?;
                        class.set(&if not { set.negated() } else { set }, true)?;
                    }
                    Some(b'b') => {
                        self.at += 2;
                        class.value(8)?;
                    }
                    None => return Err("end pattern at escape".into()),
                    Some(letter) => {
                        self.warn_of_escape(letter, b"gijklmqyzABEFGIJKLNOQRTUVXYZ");
                        let c = self.simple_escape()?;
                        class.value(c)?;
                    }
                },
                _ => {
                    self.at += 1;
                    class.value(u32::from(b))?;
                }
            }
        }
    }

    fn open_class(&mut self) -> Result<Class> {
        let not = self.peek(0) == Some(b'^');
        self.at += usize::from(not);
        let mut class = Class {
            not,
            sets: Gathered::default(),
            left: None,
            state: State::Start,
            met: (self.warns == Warns::All).then(Met::default),
            twice: false,
        };
        if self.peek(0) == Some(b']') {
            // A bracket in first place is a character if another one ends the class.
            if !self.closes(&self.rest()[1..]) {
                return Err("empty char-class".into());
            }
            self.at += 1;
            self.warn(|| "character class has ']' without escape".into());
            class.value(u32::from(b']'))?;
        }
        Ok(class)
    }

    /// Is there a closing bracket that no backslash escapes?
    fn closes(&self, rest: &[u8]) -> bool {
        let mut escaped = false;
        rest.iter().any(|&b| {
            let found = b == b']' && !escaped;
            escaped = b == b'\\' && !escaped;
            found
        })
    }

    /// `[:name:]` here, or a bracket that is a character: its length. None: a class inside the class begins.
    fn bracket(&mut self, class: &mut Class) -> Result<Option<usize>> {
        let rest = self.rest();
        // Only when `:]` stands before the next closing bracket.
        let Some(end) = rest.iter().position(|&b| b == b']').filter(|&n| n > 2 && rest[n - 1] == b':' && rest[n - 2] != b'\\') else {
            return Ok(None);
        };
        let name = &rest[2..end - 1];
        let (not, name) = match name.strip_prefix(b"^") {
            Some(name) => (true, name),
            None => (false, name),
        };
        if name.len() > NAME {
            self.warn(|| "character class has '[' without escape".into());
            class.value(u32::from(b'['))?;
            return Ok(Some(1));
        }
        let Some(kind) = Type::find(name) else { return Err("invalid POSIX bracket type".into()) };
        let ascii = self.options.ascii_brackets;
        let set = match self.brackets.get(name) {
            _ if ascii => kind.narrow(self.enc),
            Some(set) => set.clone(),
            None => {
                let set = kind.set(self.enc);
                self.brackets.insert(name, set.clone());
                set
            }
        };
        let set = if not { set.negated() } else { set };
        class.set(&set, !ascii && !matches!(kind, Type::Word | Type::Ascii))?;
        Ok(Some(end + 1))
    }

    /// A property outside brackets: with `i`, as if it were inside.
    pub(super) fn property_node(&mut self) -> Result<Id> {
        let (set, not) = self.property()?;
        Ok(self.class_node(not, Sets { free: set.clone(), all: set }))
    }

    fn class_node(&mut self, not: bool, sets: Sets) -> Id {
        let fold = self.options.ignore_case;
        let set = if fold { closed(self.folder, &sets) } else { sets.all };
        if not {
            let set = self.shared(set.negated());
            return self.tree.push(Node::Set(set));
        }
        let strings: Vec<Vec<u32>> = match fold && !self.is_behind() {
            true => self.folder.expanding().iter().filter(|e| set.contains(e.0)).map(|e| e.1.codes().to_vec()).collect(),
            false => Vec::new(),
        };
        let set = self.shared(set);
        let id = self.tree.push(Node::Set(set));
        if strings.is_empty() {
            return id;
        }
        let mut ways = vec![id];
        ways.extend(strings.into_iter().map(|codes| self.tree.push(Node::Chars { codes, fold: true })));
        self.tree.push(Node::Alt(ways))
    }
}

/// The members and all that equals one of them.
fn closed(folder: &Folder, sets: &Sets) -> Ranges {
    let (ascii, beyond) = (sets.all.within(0, 0x7f), sets.all.within(0x80, u32::MAX));
    let mut out = sets.all.clone();
    out.union(&folder.closed(&ascii).within(0, 0x7f));
    out.union(&folder.closed(&beyond).within(0x80, u32::MAX));
    out.union(&folder.closed(&sets.all.intersection(&sets.free)));
    out
}
