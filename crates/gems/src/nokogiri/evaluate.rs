//! Evaluation of XPath over a tree. The tree is looked at through the host each time, since functions of the host may run anything; nodes are numbers, and trees never shrink.

use super::tree::{DOCUMENT, Id, Kind, NONE, Tree};
use super::xpath::*;
use std::borrow::Cow;
use std::collections::HashMap;

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
    /// Whether to go on.
    fn poll(&mut self) -> Result<(), Self::Error>;
    /// A function that is none of XPath's. None: there is none.
    fn function(&mut self, namespaced: bool, name: &str, args: Vec<Val>) -> Result<Option<Val>, Self::Error>;
}

pub struct Evaluator<'a, H: Host> {
    pub host: &'a mut H,
    pub namespaces: &'a HashMap<String, String>,
    pub variables: &'a HashMap<String, String>,
    /// Places of nodes, made when a large set needs an order.
    pub order: Option<Vec<u32>>,
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
pub fn item_text(t: &Tree, i: Item) -> Cow<'_, str> {
    if let Some(ns) = ns_of(i) {
        return t.nss.get(ns as usize).map_or("", |n| &n.href).into();
    }
    let n = t.n(id_of(i));
    match n.kind {
        Kind::Text | Kind::Cdata | Kind::Comment | Kind::Pi | Kind::Attribute => n.text.as_str().into(),
        Kind::Element if n.first == n.last && n.first != NONE && t.kind(n.first) == Kind::Text => t.n(n.first).text.as_str().into(),
        _ => t.content(id_of(i)).into(),
    }
}

/// A test with its names looked up in a tree.
enum Ready {
    Any,
    AnyOf(String),
    /// None as the number: no node has that name.
    Name(Option<u32>, Option<String>),
    Node,
    Text,
    Comment,
    Pi(Option<String>),
}

impl<H: Host> Evaluator<'_, H> {
    fn tree(&mut self) -> Result<&Tree, Failure<H::Error>> {
        self.host.tree().map_err(Failure::Host)
    }
    fn tick(&mut self, n: usize) -> Result<(), Failure<H::Error>> {
        let before = self.steps >> 14;
        self.steps += n;
        if self.steps >> 14 != before { self.host.poll().map_err(Failure::Host) } else { Ok(()) }
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
                    let s = item_text(self.tree()?, *i).into_owned();
                    self.tick(s.len() / 64)?;
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
        if set.len() > 24 && self.order.is_none() {
            let order = self.tree()?.order();
            self.order = Some(order);
        }
        let order = self.order.take();
        let tree = self.host.tree().map_err(Failure::Host)?;
        let placed = |i: &Item| order.as_ref().and_then(|o| o.get(id_of(*i) as usize)).copied().unwrap_or(NONE);
        if order.is_some() && set.iter().all(|i| placed(i) != NONE) {
            set.sort_by_key(|i| (placed(i), ns_of(*i)));
        } else {
            set.sort_by(|a, b| tree.compare(id_of(*a), id_of(*b)).then(a.cmp(b)));
        }
        set.dedup();
        self.order = order;
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
        // `[n]` needs no more than n nodes.
        let limit = match s.predicates.first() {
            Some(Expr::Number(n)) if *n >= 1.0 => *n as usize,
            _ => usize::MAX,
        };
        let mut out = Vec::new();
        for node in from {
            let (mut found, looked) = {
                let tree = self.tree()?;
                axis(tree, node, s.axis, &test, limit)
            };
            self.tick(looked)?;
            for p in &s.predicates {
                found = self.filter(found, p)?;
            }
            if s.axis.is_reverse() && !several {
                found.reverse();
            }
            if out.is_empty() { out = found } else { out.append(&mut found) }
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
            (Val::Nodes(x), Val::Nodes(y)) => {
                self.tick(x.len() + y.len())?;
                let tree = self.tree()?;
                if equality {
                    let right: std::collections::HashSet<Cow<str>> = y.iter().map(|i| item_text(tree, *i)).collect();
                    return Ok(x.iter().any(|i| {
                        let s = item_text(tree, *i);
                        if op == Op::Eq { right.contains(&s) } else { right.len() > 1 || right.iter().any(|r| *r != s) }
                    }));
                }
                // Only the least or the greatest can decide.
                let right: Vec<f64> = y.iter().map(|i| text_number(&item_text(tree, *i))).filter(|n| !n.is_nan()).collect();
                let edge = if matches!(op, Op::Lt | Op::Le) {
                    right.iter().copied().fold(f64::NEG_INFINITY, f64::max)
                } else {
                    right.iter().copied().fold(f64::INFINITY, f64::min)
                };
                !right.is_empty() && x.iter().any(|i| order(op, text_number(&item_text(tree, *i)), edge))
            }
            (Val::Nodes(x), Val::Bool(b)) => order(op, !x.is_empty() as u8 as f64, b as u8 as f64),
            (Val::Bool(b), Val::Nodes(x)) => order(op, b as u8 as f64, !x.is_empty() as u8 as f64),
            (Val::Nodes(x), Val::Num(n)) => {
                self.tick(x.len())?;
                let tree = self.tree()?;
                x.iter().any(|i| order(op, text_number(&item_text(tree, *i)), n))
            }
            (Val::Num(n), Val::Nodes(x)) => {
                self.tick(x.len())?;
                let tree = self.tree()?;
                x.iter().any(|i| order(op, n, text_number(&item_text(tree, *i))))
            }
            (Val::Nodes(x), Val::Str(s)) => {
                self.tick(x.len())?;
                let tree = self.tree()?;
                x.iter().any(|i| {
                    let t = item_text(tree, *i);
                    if equality { (t == s) == (op == Op::Eq) } else { order(op, text_number(&t), text_number(&s)) }
                })
            }
            (Val::Str(s), Val::Nodes(x)) => {
                self.tick(x.len())?;
                let tree = self.tree()?;
                x.iter().any(|i| {
                    let t = item_text(tree, *i);
                    if equality { (t == s) == (op == Op::Eq) } else { order(op, text_number(&s), text_number(&t)) }
                })
            }
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
        // Whatever ran may have changed the tree.
        self.order = None;
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
                    self.tick(n.len())?;
                    let tree = self.tree()?;
                    Val::Num(n.iter().map(|i| text_number(&item_text(tree, *i))).sum())
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
                let mut found = None;
                while at != NONE && found.is_none() {
                    found = tree.attr_ns(at, "lang", Some(super::tree::XML_HREF)).map(|a| tree.n(a).text.to_lowercase());
                    at = tree.n(at).parent;
                }
                Val::Bool(found.is_some_and(|l| l == want || l.strip_prefix(&*want).is_some_and(|r| r.starts_with('-'))))
            }
            _ => {
                // id()
                let mut wanted = Vec::new();
                match subject(first) {
                    Val::Nodes(n) => {
                        let tree = self.tree()?;
                        for i in n {
                            wanted.extend(item_text(tree, i).split_whitespace().map(str::to_owned));
                        }
                    }
                    v => wanted.extend(self.string(v)?.split_whitespace().map(str::to_owned)),
                }
                let tree = self.tree()?;
                let found: Vec<Item> = tree.descendants(DOCUMENT).filter(|n| is_identified(tree, *n, &wanted)).map(Item::from).collect();
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
fn is_identified(t: &Tree, id: Id, wanted: &[String]) -> bool {
    t.is_element(id)
        && t.attrs(id).any(|a| {
            let n = t.name(a);
            let named = (n == "id" && (t.is_html() || t.prefix(a) == Some("xml")))
                || t.decls.values().any(|d| d.kind == 2 && d.default > 0 && d.element == t.qname(id) && d.original.as_deref() == Some(n));
            named && wanted.contains(&t.n(a).text)
        })
}

/// Nodes of an axis that pass a test, in the axis's order, the first `limit` at least; and how many were looked at.
fn axis(t: &Tree, from: Item, axis: Axis, test: &Ready, limit: usize) -> (Vec<Item>, usize) {
    let mut out = Vec::new();
    let mut looked = 0;
    let id = id_of(from);
    let principal = if axis == Axis::Attribute { Kind::Attribute } else { Kind::Element };
    let mut put = |n: Id| {
        looked += 1;
        let node = t.n(n);
        let yes = match test {
            Ready::Node => !matches!(node.kind, Kind::Dtd | Kind::ElementDecl | Kind::AttributeDecl | Kind::EntityDecl),
            Ready::Any => node.kind == principal,
            Ready::AnyOf(h) => node.kind == principal && t.href(n) == Some(h),
            Ready::Name(name, h) => Some(node.name) == *name && node.kind == principal && t.href(n) == h.as_deref(),
            Ready::Text => matches!(node.kind, Kind::Text | Kind::Cdata),
            Ready::Comment => node.kind == Kind::Comment,
            Ready::Pi(name) => node.kind == Kind::Pi && name.as_ref().is_none_or(|w| t.name(n) == w),
        };
        if yes {
            out.push(n as Item);
        }
        out.len() >= limit
    };
    if ns_of(from).is_some() {
        // A namespace has a parent, and itself.
        match axis {
            Axis::This if matches!(test, Ready::Node) => return (vec![from], 1),
            Axis::Parent => {
                put(id);
            }
            Axis::Ancestor | Axis::AncestorOrSelf => {
                let mut at = id;
                while at != NONE {
                    put(at);
                    at = t.n(at).parent;
                }
            }
            _ => {}
        }
        return (out, looked);
    }
    let own = t.kind(id);
    match axis {
        Axis::This => {
            put(id);
        }
        Axis::Child => {
            if own != Kind::Attribute && own != Kind::Dtd {
                t.children(id).any(put);
            }
        }
        Axis::Attribute => {
            t.attrs(id).any(put);
        }
        Axis::Parent => {
            if t.n(id).parent != NONE {
                put(t.n(id).parent);
            }
        }
        Axis::Ancestor | Axis::AncestorOrSelf => {
            let mut at = if axis == Axis::Ancestor { t.n(id).parent } else { id };
            while at != NONE && !put(at) {
                at = t.n(at).parent;
            }
        }
        Axis::Descendant | Axis::DescendantOrSelf => {
            if axis == Axis::DescendantOrSelf {
                put(id);
            }
            let mut at = t.following(id, id);
            while let Some(n) = at {
                if t.kind(n) == Kind::Dtd {
                    at = t.after(id, n);
                    continue;
                }
                if put(n) {
                    break;
                }
                at = t.following(id, n);
            }
        }
        Axis::FollowingSibling | Axis::PrecedingSibling => {
            if own != Kind::Attribute {
                let step = |n: Id| if axis == Axis::FollowingSibling { t.n(n).next } else { t.n(n).prev };
                let mut at = step(id);
                while at != NONE && !put(at) {
                    at = step(at);
                }
            }
        }
        Axis::Following => {
            let mut at = if own == Kind::Attribute { t.following(NONE, t.n(id).parent) } else { t.after(NONE, id) };
            while let Some(n) = at {
                if put(n) {
                    break;
                }
                at = t.following(NONE, n);
            }
        }
        Axis::Preceding => {
            let mut at = if own == Kind::Attribute { t.n(id).parent } else { id };
            while at != NONE {
                let prev = t.n(at).prev;
                if prev == NONE {
                    at = t.n(at).parent;
                    continue;
                }
                // Backwards through what is below of it.
                let mut n = prev;
                while t.n(n).last != NONE && t.kind(n) != Kind::Dtd {
                    n = t.n(n).last;
                }
                loop {
                    put(n);
                    if n == prev {
                        break;
                    }
                    if t.n(n).prev != NONE {
                        n = t.n(n).prev;
                        while t.n(n).last != NONE {
                            n = t.n(n).last;
                        }
                    } else {
                        n = t.n(n).parent;
                    }
                }
                at = prev;
            }
        }
        Axis::Namespace => {
            if own == Kind::Element {
                let mut all = t.scopes(id);
                if let Some(xml) = t.nss.iter().position(|n| n.prefix.as_deref() == Some("xml")) {
                    all.push(xml as u32);
                }
                for n in all {
                    looked += 1;
                    let name = t.nss[n as usize].prefix.as_deref().unwrap_or("");
                    let yes = match test {
                        Ready::Any | Ready::Node => true,
                        Ready::Pi(Some(w)) => w == name,
                        _ => false,
                    };
                    if yes {
                        out.push((n as Item + 1) << 32 | id as Item);
                    }
                }
            }
        }
    }
    (out, looked)
}
