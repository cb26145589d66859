//! Evaluation of XPath over a tree. The tree is looked at through the host each time, since functions of the host may run anything; nodes are numbers, and trees never shrink.

use super::tree::{DOCUMENT, Id, Kind, NONE, Tree};
use super::xpath::*;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

mod axes;
use axes::{Ready, axis};

/// A node; a namespace of an element has the namespace's number + 1 above.
pub type Item = u64;
pub fn id_of(i: Item) -> Id {
    i as u32
}
pub fn ns_of(i: Item) -> Option<u32> {
    ((i >> 32) as u32).checked_sub(1)
}

#[derive(Debug, Clone)]
pub enum Val {
    Nodes(Vec<Item>),
    Bool(bool),
    Num(f64),
    Str(String),
}

/// Why there is no result.
pub enum Failure<E> {
    Wrong(Wrong),
    /// A function that is not there, and its prefix if that is unknown.
    NoFunction(String, Option<String>),
    /// The host's own: an exception.
    Host(E),
}
impl<E> From<Wrong> for Failure<E> {
    fn from(w: Wrong) -> Self {
        Failure::Wrong(w)
    }
}

/// What the evaluator asks of whoever has the tree.
pub trait Host {
    type Error;
    fn tree(&mut self) -> Result<&Tree, Self::Error>;
    /// Finds the order of the tree's nodes.
    fn order(&mut self) -> Result<(), Self::Error>;
    /// Whether to go on.
    fn poll(&mut self) -> Result<(), Self::Error>;
    /// Whether there is native stack to go deeper.
    fn has_stack(&self) -> bool;
    /// Whether there is room for so many bytes of a result.
    fn needs(&mut self, bytes: usize) -> Result<(), Self::Error>;
    /// A function that is none of XPath's. None: there is none.
    fn function(&mut self, namespaced: bool, name: &str, args: Vec<Val>) -> Result<Option<Val>, Self::Error>;
}

pub struct Evaluator<'a, H: Host> {
    pub host: &'a mut H,
    pub namespaces: &'a HashMap<String, String>,
    pub variables: &'a HashMap<String, String>,
    pub steps: usize,
}

#[derive(Clone, Copy)]
pub struct Context {
    pub node: Item,
    pub position: usize,
    pub size: usize,
}

pub const FUNCTIONS: &str = "http://www.nokogiri.org/default_ns/ruby/extensions_functions";
pub const BUILTINS: &str = "https://www.nokogiri.org/default_ns/ruby/builtins";

pub fn number_text(n: f64) -> String {
    if n.is_nan() {
        "NaN".into()
    } else if n.is_infinite() {
        if n > 0.0 { "Infinity".into() } else { "-Infinity".into() }
    } else if n == 0.0 {
        "0".into()
    } else {
        format!("{n}")
    }
}
pub fn text_number(s: &str) -> f64 {
    let t = s.trim_matches([' ', '\t', '\n', '\r']);
    let digits = t.strip_prefix('-').unwrap_or(t);
    if digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'-' | b'+'))
    {
        t.parse().unwrap_or(f64::NAN)
    } else {
        f64::NAN
    }
}
/// The text of a node, and how many nodes were looked at.
fn item_text(t: &Tree, i: Item) -> (Cow<'_, str>, usize) {
    if let Some(ns) = ns_of(i) {
        return (t.nss.get(ns as usize).map_or("", |n| &n.href).into(), 1);
    }
    let n = t.n(id_of(i));
    match n.kind {
        Kind::Text | Kind::Cdata | Kind::Comment | Kind::Pi | Kind::Attribute => (n.text.as_str().into(), 1),
        Kind::Element if n.first == n.last && n.first != NONE && t.kind(n.first) == Kind::Text => (t.n(n.first).text.as_str().into(), 1),
        _ => {
            let (text, looked) = t.counted_content(id_of(i));
            (text.into(), looked)
        }
    }
}

/// What a set may hold before the host is asked for room, and before nodes that came twice are looked for.
const SMALL: usize = 1 << 16;

impl<H: Host> Evaluator<'_, H> {
    fn tree(&mut self) -> Result<&Tree, Failure<H::Error>> {
        self.host.tree().map_err(Failure::Host)
    }
    fn tick(&mut self, n: usize) -> Result<(), Failure<H::Error>> {
        let before = self.steps >> 14;
        self.steps += n;
        if self.steps >> 14 != before { self.host.poll().map_err(Failure::Host) } else { Ok(()) }
    }
    /// Room for a set or a text, if it is large.
    fn hold(&mut self, bytes: usize) -> Result<(), Failure<H::Error>> {
        if bytes > SMALL { self.host.needs(bytes).map_err(Failure::Host) } else { Ok(()) }
    }
    /// Whether the text of some node passes a test.
    fn any_text(&mut self, items: &[Item], mut test: impl FnMut(&str) -> bool) -> Result<bool, Failure<H::Error>> {
        for i in items {
            let (text, looked) = item_text(self.tree()?, *i);
            let (yes, cost) = (test(&text), looked + text.len() / 64);
            self.tick(cost)?;
            if yes {
                return Ok(true);
            }
        }
        Ok(false)
    }
    /// The texts of nodes, each once.
    fn texts(&mut self, items: &[Item]) -> Result<HashSet<String>, Failure<H::Error>> {
        let mut all = HashSet::new();
        let (mut bytes, mut asked) = (0, 0);
        for i in items {
            let (text, looked) = item_text(self.tree()?, *i);
            let cost = looked + text.len() / 64;
            if !all.contains(&*text) {
                bytes += text.len() + 48;
                all.insert(text.into_owned());
            }
            self.tick(cost)?;
            if bytes - asked > SMALL {
                asked = bytes;
                self.hold(bytes)?;
            }
        }
        Ok(all)
    }
    fn href(&self, prefix: &str) -> Result<String, Wrong> {
        match self.namespaces.get(prefix) {
            Some(h) => Ok(h.clone()),
            None if prefix == "xml" => Ok(super::tree::XML_HREF.to_owned()),
            None => Err(PREFIX),
        }
    }

    pub fn eval(&mut self, e: &Expr, c: Context) -> Result<Val, Failure<H::Error>> {
        self.tick(1)?;
        if !self.host.has_stack() {
            return Err(RECURSION.into());
        }
        Ok(match e {
            Expr::Or(all) => {
                for e in all {
                    if self.truth(e, c)? {
                        return Ok(Val::Bool(true));
                    }
                }
                Val::Bool(false)
            }
            Expr::And(all) => {
                for e in all {
                    if !self.truth(e, c)? {
                        return Ok(Val::Bool(false));
                    }
                }
                Val::Bool(true)
            }
            Expr::Chain(first, more) => {
                let mut v = self.eval(first, c)?;
                for (op, e) in more {
                    let w = self.eval(e, c)?;
                    v = match op {
                        Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Mod => {
                            let (a, b) = (self.number(v)?, self.number(w)?);
                            Val::Num(match op {
                                Op::Add => a + b,
                                Op::Sub => a - b,
                                Op::Mul => a * b,
                                Op::Div => a / b,
                                _ => a % b,
                            })
                        }
                        op => Val::Bool(self.compare(*op, v, w)?),
                    };
                }
                v
            }
            Expr::Neg(e) => {
                let v = self.eval(e, c)?;
                Val::Num(-self.number(v)?)
            }
            Expr::Union(all) => {
                let mut set = Vec::new();
                for e in all {
                    match self.eval(e, c)? {
                        Val::Nodes(more) => set.extend(more),
                        _ => return Err(TYPE.into()),
                    }
                    self.hold(set.len() * size_of::<Item>())?;
                }
                self.sort(&mut set)?;
                Val::Nodes(set)
            }
            Expr::Literal(s) => Val::Str(s.clone()),
            Expr::Number(n) => Val::Num(*n),
            Expr::Variable(prefix, name) => {
                if let Some(p) = prefix {
                    self.href(p)?;
                }
                Val::Str(self.variables.get(name).cloned().ok_or(VARIABLE)?)
            }
            Expr::Call(prefix, name, args) => self.function(prefix.as_deref(), name, args, c)?,
            Expr::Path { from, absolute, predicates, steps } => {
                let mut set = match from {
                    Some(e) => match self.eval(e, c)? {
                        Val::Nodes(set) => set,
                        _ => return Err(TYPE.into()),
                    },
                    None if *absolute => vec![DOCUMENT as Item],
                    None => vec![c.node],
                };
                for p in predicates {
                    set = self.filter(set, p)?;
                }
                for s in steps {
                    set = self.step(set, s)?;
                    if set.is_empty() {
                        break;
                    }
                }
                Val::Nodes(set)
            }
        })
    }
    pub fn truth(&mut self, e: &Expr, c: Context) -> Result<bool, Failure<H::Error>> {
        let v = self.eval(e, c)?;
        Ok(Self::boolean(&v))
    }
    fn boolean(v: &Val) -> bool {
        match v {
            Val::Nodes(n) => !n.is_empty(),
            Val::Bool(b) => *b,
            Val::Num(n) => *n != 0.0 && !n.is_nan(),
            Val::Str(s) => !s.is_empty(),
        }
    }
    fn number(&mut self, v: Val) -> Result<f64, Failure<H::Error>> {
        Ok(match v {
            Val::Num(n) => n,
            Val::Bool(b) => b as u8 as f64,
            Val::Str(s) => text_number(&s),
            v => text_number(&self.string(v)?),
        })
    }
    pub fn string(&mut self, v: Val) -> Result<String, Failure<H::Error>> {
        Ok(match v {
            Val::Str(s) => s,
            Val::Num(n) => number_text(n),
            Val::Bool(b) => b.to_string(),
            Val::Nodes(n) => match n.first() {
                None => String::new(),
                Some(i) => {
                    let (s, looked) = item_text(self.tree()?, *i);
                    let s = s.into_owned();
                    self.tick(looked + s.len() / 64)?;
                    self.hold(s.len())?;
                    s
                }
            },
        })
    }
    /// Document order, each once.
    pub fn sort(&mut self, set: &mut Vec<Item>) -> Result<(), Failure<H::Error>> {
        if set.len() < 2 {
            return Ok(());
        }
        if set.len() > 24 {
            self.host.order().map_err(Failure::Host)?;
        }
        self.tick(set.len())?;
        let tree = self.tree()?;
        if set.iter().all(|i| tree.place(id_of(*i)) != NONE) {
            set.sort_by_key(|i| (tree.place(id_of(*i)), ns_of(*i)));
        } else {
            set.sort_by(|a, b| tree.compare(id_of(*a), id_of(*b)).then(a.cmp(b)));
        }
        set.dedup();
        Ok(())
    }
    fn filter(&mut self, set: Vec<Item>, predicate: &Expr) -> Result<Vec<Item>, Failure<H::Error>> {
        let size = set.len();
        if let Expr::Number(n) = predicate {
            let at = *n as usize;
            return Ok(if at as f64 == *n && at > 0 { set.get(at - 1).copied().into_iter().collect() } else { Vec::new() });
        }
        let mut out = Vec::new();
        for (i, node) in set.into_iter().enumerate() {
            let v = self.eval(predicate, Context { node, position: i + 1, size })?;
            let keep = match v {
                Val::Num(n) => n == (i + 1) as f64,
                v => Self::boolean(&v),
            };
            if keep {
                out.push(node);
            }
        }
        Ok(out)
    }
    fn step(&mut self, from: Vec<Item>, s: &Step) -> Result<Vec<Item>, Failure<H::Error>> {
        let href = match &s.test {
            Test::Any(Some(p)) | Test::Name(Some(p), _) => Some(self.href(p)?),
            _ => None,
        };
        let test = {
            let tree = self.tree()?;
            match &s.test {
                Test::Any(None) => Ready::Any,
                Test::Any(Some(_)) => Ready::AnyOf(href.unwrap_or_default()),
                Test::Name(_, n) if s.axis == Axis::Namespace => Ready::Pi(Some(n.clone())),
                Test::Name(_, n) => Ready::Name(tree.interned(n), href),
                Test::Node => Ready::Node,
                Test::Text => Ready::Text,
                Test::Comment => Ready::Comment,
                Test::Pi(n) => Ready::Pi(n.clone()),
            }
        };
        let several = from.len() > 1;
        // Where no predicate asks for places, what an axis reaches from several nodes may be reached from fewer.
        let plain = several && !s.predicates.iter().any(is_positional);
        let from = if plain { self.needed(from, s.axis)? } else { from };
        let mut climbed = plain.then(HashSet::new);
        // `[n]` needs no more than n nodes.
        let limit = match s.predicates.first() {
            Some(Expr::Number(n)) if *n >= 1.0 => *n as usize,
            _ => usize::MAX,
        };
        let mut out = Vec::new();
        let mut most = SMALL;
        for node in from {
            let (mut found, looked) = {
                let tree = self.tree()?;
                axis(tree, node, s.axis, &test, limit, &mut climbed)
            };
            self.tick(looked)?;
            for p in &s.predicates {
                found = self.filter(found, p)?;
            }
            if s.axis.is_reverse() && !several {
                found.reverse();
            }
            if out.is_empty() {
                out = found
            } else {
                out.append(&mut found)
            }
            if out.len() > most {
                self.hold(out.len() * size_of::<Item>())?;
                // A node can be found from many: each stays once.
                self.sort(&mut out)?;
                most = SMALL.max(out.len() * 2);
            }
        }
        // Children of nodes in order may interleave with those of nodes between them.
        if several && !matches!(s.axis, Axis::This | Axis::Attribute) {
            self.sort(&mut out)?;
        }
        Ok(out)
    }

    fn compare(&mut self, op: Op, a: Val, b: Val) -> Result<bool, Failure<H::Error>> {
        fn order(op: Op, x: f64, y: f64) -> bool {
            match op {
                Op::Eq => x == y,
                Op::Ne => x != y,
                Op::Lt => x < y,
                Op::Le => x <= y,
                Op::Gt => x > y,
                _ => x >= y,
            }
        }
        let equality = matches!(op, Op::Eq | Op::Ne);
        Ok(match (a, b) {
            (Val::Nodes(x), Val::Nodes(y)) if equality => {
                let right = self.texts(&y)?;
                self.any_text(&x, |s| if op == Op::Eq { right.contains(s) } else { right.len() > 1 || right.iter().any(|r| r != s) })?
            }
            (Val::Nodes(x), Val::Nodes(y)) => {
                // Only the least or the greatest can decide.
                let mut edge = f64::NAN;
                self.any_text(&y, |s| {
                    let n = text_number(s);
                    edge = if matches!(op, Op::Lt | Op::Le) { edge.max(n) } else { edge.min(n) };
                    false
                })?;
                self.any_text(&x, |s| order(op, text_number(s), edge))?
            }
            (Val::Nodes(x), Val::Bool(b)) => order(op, !x.is_empty() as u8 as f64, b as u8 as f64),
            (Val::Bool(b), Val::Nodes(x)) => order(op, b as u8 as f64, !x.is_empty() as u8 as f64),
            (Val::Nodes(x), Val::Num(n)) => self.any_text(&x, |s| order(op, text_number(s), n))?,
            (Val::Num(n), Val::Nodes(x)) => self.any_text(&x, |s| order(op, n, text_number(s)))?,
            (Val::Nodes(x), Val::Str(s)) if equality => self.any_text(&x, |t| (t == s) == (op == Op::Eq))?,
            (Val::Str(s), Val::Nodes(x)) if equality => self.any_text(&x, |t| (t == s) == (op == Op::Eq))?,
            (Val::Nodes(x), Val::Str(s)) => self.any_text(&x, |t| order(op, text_number(t), text_number(&s)))?,
            (Val::Str(s), Val::Nodes(x)) => self.any_text(&x, |t| order(op, text_number(&s), text_number(t)))?,
            (a, b) if equality => {
                let same = match (&a, &b) {
                    (Val::Bool(_), _) | (_, Val::Bool(_)) => Self::boolean(&a) == Self::boolean(&b),
                    (Val::Num(_), _) | (_, Val::Num(_)) => self.number(a)? == self.number(b)?,
                    _ => self.string(a)? == self.string(b)?,
                };
                same == (op == Op::Eq)
            }
            (a, b) => order(op, self.number(a)?, self.number(b)?),
        })
    }

    fn function(&mut self, prefix: Option<&str>, name: &str, args: &[Expr], c: Context) -> Result<Val, Failure<H::Error>> {
        let mut vals = Vec::with_capacity(args.len());
        for a in args {
            vals.push(self.eval(a, c)?);
        }
        let Some(p) = prefix else {
            return match self.core(name, vals, c)? {
                Ok(v) => Ok(v),
                Err(vals) => self.hosted(false, name, vals),
            };
        };
        let Ok(href) = self.href(p) else { return Err(Failure::NoFunction(name.to_owned(), Some(p.to_owned()))) };
        if href == BUILTINS {
            let count = vals.len();
            let mut vals = vals.into_iter();
            return match (name, vals.next(), vals.next().filter(|_| count < 3)) {
                ("css-class", Some(a), Some(b)) => {
                    let (hay, needle) = (self.string(a)?, self.string(b)?);
                    let space = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r');
                    // An empty needle is found in whatever is there.
                    Ok(Val::Bool(needle.is_empty() || hay.split(space).any(|w| w == needle)))
                }
                ("local-name-is", Some(a), None) => {
                    let name = self.string(a)?;
                    let tree = self.tree()?;
                    Ok(Val::Bool(ns_of(c.node).is_none() && tree.name(id_of(c.node)) == name))
                }
                ("css-class" | "local-name-is", ..) => Err(ARITY.into()),
                _ => Err(Failure::NoFunction(name.to_owned(), None)),
            };
        }
        self.hosted(true, name, vals)
    }
    fn hosted(&mut self, namespaced: bool, name: &str, vals: Vec<Val>) -> Result<Val, Failure<H::Error>> {
        let v = self.host.function(namespaced, name, vals).map_err(Failure::Host)?;
        v.ok_or_else(|| Failure::NoFunction(name.to_owned(), None))
    }

    /// XPath's own functions; the arguments come back if there is none of that name.
    fn core(&mut self, name: &str, vals: Vec<Val>, c: Context) -> Result<Result<Val, Vec<Val>>, Failure<H::Error>> {
        let (low, high) = match name {
            "last" | "position" | "true" | "false" => (0, 0),
            "count" | "id" | "boolean" | "not" | "lang" | "sum" | "floor" | "ceiling" | "round" => (1, 1),
            "local-name" | "namespace-uri" | "name" | "string" | "string-length" | "normalize-space" | "number" => (0, 1),
            "concat" => (2, usize::MAX),
            "starts-with" | "contains" | "substring-before" | "substring-after" => (2, 2),
            "substring" => (2, 3),
            "translate" => (3, 3),
            _ => return Ok(Err(vals)),
        };
        if vals.len() < low || vals.len() > high {
            return Err(ARITY.into());
        }
        let count = vals.len();
        let mut vals = vals.into_iter();
        let first = vals.next();
        // Without an argument, some take the context node.
        let subject = |v: Option<Val>| v.unwrap_or(Val::Nodes(vec![c.node]));
        Ok(Ok(match name {
            "last" => Val::Num(c.size as f64),
            "position" => Val::Num(c.position as f64),
            "true" => Val::Bool(true),
            "false" => Val::Bool(false),
            "boolean" => Val::Bool(Self::boolean(&subject(first))),
            "not" => Val::Bool(!Self::boolean(&subject(first))),
            "count" => match first {
                Some(Val::Nodes(n)) => Val::Num(n.len() as f64),
                _ => return Err(TYPE.into()),
            },
            "sum" => match first {
                Some(Val::Nodes(n)) => {
                    let mut sum = 0.0;
                    self.any_text(&n, |s| {
                        sum += text_number(s);
                        false
                    })?;
                    Val::Num(sum)
                }
                _ => return Err(TYPE.into()),
            },
            "local-name" | "namespace-uri" | "name" => {
                let Val::Nodes(n) = subject(first) else { return Err(TYPE.into()) };
                let tree = self.tree()?;
                Val::Str(match n.first() {
                    None => String::new(),
                    Some(i) if ns_of(*i).is_some() => match (name, ns_of(*i)) {
                        ("namespace-uri", _) | (_, None) => String::new(),
                        (_, Some(n)) => tree.nss[n as usize].prefix.as_deref().unwrap_or("").to_owned(),
                    },
                    Some(i) => match name {
                        "local-name" => tree.name(id_of(*i)).to_owned(),
                        "namespace-uri" => tree.href(id_of(*i)).unwrap_or("").to_owned(),
                        _ => tree.qname(id_of(*i)),
                    },
                })
            }
            "string" => Val::Str(self.string(subject(first))?),
            "number" => Val::Num(self.number(subject(first))?),
            "string-length" => Val::Num(self.string(subject(first))?.chars().count() as f64),
            "normalize-space" => Val::Str(
                self.string(subject(first))?.split([' ', '\t', '\n', '\r']).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" "),
            ),
            "concat" => {
                let mut s = self.string(subject(first))?;
                for v in vals {
                    s.push_str(&self.string(v)?);
                    self.hold(s.len())?;
                }
                Val::Str(s)
            }
            "starts-with" | "contains" | "substring-before" | "substring-after" => {
                let a = self.string(subject(first))?;
                let b = self.string(subject(vals.next()))?;
                self.tick(a.len() / 64)?;
                match name {
                    "starts-with" => Val::Bool(a.starts_with(&b)),
                    "contains" => Val::Bool(a.contains(&b)),
                    "substring-before" => Val::Str(a.find(&b).map_or("", |at| &a[..at]).to_owned()),
                    _ => Val::Str(a.find(&b).map_or("", |at| &a[at + b.len()..]).to_owned()),
                }
            }
            "substring" => {
                let s = self.string(subject(first))?;
                let from = round(self.number(subject(vals.next()))?);
                let to = if count == 3 { from + round(self.number(subject(vals.next()))?) } else { f64::INFINITY };
                Val::Str(s.chars().enumerate().filter(|(i, _)| (*i + 1) as f64 >= from && ((*i + 1) as f64) < to).map(|(_, c)| c).collect())
            }
            "translate" => {
                let s = self.string(subject(first))?;
                let from = self.string(subject(vals.next()))?;
                let to: Vec<char> = self.string(subject(vals.next()))?.chars().collect();
                let mut map: HashMap<char, Option<char>> = HashMap::new();
                for (i, c) in from.chars().enumerate() {
                    map.entry(c).or_insert(to.get(i).copied());
                }
                Val::Str(s.chars().filter_map(|c| map.get(&c).copied().unwrap_or(Some(c))).collect())
            }
            "floor" => Val::Num(self.number(subject(first))?.floor()),
            "ceiling" => Val::Num(self.number(subject(first))?.ceil()),
            "round" => Val::Num(round(self.number(subject(first))?)),
            "lang" => {
                let want = self.string(subject(first))?.to_lowercase();
                let tree = self.tree()?;
                let mut at = id_of(c.node);
                let (mut found, mut looked) = (None, 0);
                while at != NONE && found.is_none() {
                    looked += 1;
                    found = tree.attr_ns(at, "lang", Some(super::tree::XML_HREF)).map(|a| tree.n(a).text.to_lowercase());
                    at = tree.n(at).parent;
                }
                self.tick(looked)?;
                Val::Bool(found.is_some_and(|l| l == want || l.strip_prefix(&*want).is_some_and(|r| r.starts_with('-'))))
            }
            _ => {
                // id()
                let wanted = match subject(first) {
                    Val::Nodes(n) => {
                        let mut all = HashSet::new();
                        self.any_text(&n, |s| {
                            all.extend(s.split_whitespace().map(str::to_owned));
                            false
                        })?;
                        all
                    }
                    v => self.string(v)?.split_whitespace().map(str::to_owned).collect(),
                };
                let tree = self.tree()?;
                // What is declared to be an identifier, by element.
                let declared: HashSet<(&str, &str)> = tree
                    .decls
                    .values()
                    .filter(|d| d.kind == 2 && d.default > 0)
                    .filter_map(|d| Some((d.element.as_str(), d.original.as_deref()?)))
                    .collect();
                let is_named = |id: Id, a: Id| {
                    let n = tree.name(a);
                    (n == "id" && (tree.is_html() || tree.prefix(a) == Some("xml")))
                        || !declared.is_empty() && declared.contains(&(&*tree.qname(id), n))
                };
                let is_wanted = |id: Id| tree.attrs(id).any(|a| wanted.contains(&tree.n(a).text) && is_named(id, a));
                let found: Vec<Item> =
                    tree.descendants(DOCUMENT).filter(|n| tree.is_element(*n) && is_wanted(*n)).map(Item::from).collect();
                let looked = tree.nodes.len();
                self.tick(looked)?;
                Val::Nodes(found)
            }
        }))
    }
}

fn round(n: f64) -> f64 {
    if n.is_finite() { (n + 0.5).floor() } else { n }
}
