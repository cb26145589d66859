//! XPath 1.0 (W3C recommendation of 1999): expressions into trees. Chains of one operator are lists, so that the depth of a tree is that of the parentheses in the text, which is bounded;
//! where the native stack is small, by that.

/// Parentheses, predicates and arguments may nest this deep.
const DEPTH: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Namespace,
    Parent,
    Preceding,
    PrecedingSibling,
    This,
}
impl Axis {
    fn named(name: &str) -> Option<Axis> {
        Some(match name {
            "ancestor" => Axis::Ancestor,
            "ancestor-or-self" => Axis::AncestorOrSelf,
            "attribute" => Axis::Attribute,
            "child" => Axis::Child,
            "descendant" => Axis::Descendant,
            "descendant-or-self" => Axis::DescendantOrSelf,
            "following" => Axis::Following,
            "following-sibling" => Axis::FollowingSibling,
            "namespace" => Axis::Namespace,
            "parent" => Axis::Parent,
            "preceding" => Axis::Preceding,
            "preceding-sibling" => Axis::PrecedingSibling,
            "self" => Axis::This,
            _ => return None,
        })
    }
    pub fn is_reverse(self) -> bool {
        matches!(self, Axis::Ancestor | Axis::AncestorOrSelf | Axis::Preceding | Axis::PrecedingSibling)
    }
}

#[derive(Debug, Clone)]
pub enum Test {
    /// Any node of the axis's principal kind, of a namespace if there is a prefix.
    Any(Option<String>),
    Name(Option<String>, String),
    Node,
    Text,
    Comment,
    Pi(Option<String>),
}

#[derive(Debug, Clone)]
pub struct Step {
    pub axis: Axis,
    pub test: Test,
    pub predicates: Vec<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

#[derive(Debug, Clone)]
pub enum Expr {
    Or(Vec<Expr>),
    And(Vec<Expr>),
    Chain(Box<Expr>, Vec<(Op, Expr)>),
    Neg(Box<Expr>),
    Union(Vec<Expr>),
    /// Where it begins (None: the context node, or the document if absolute), predicates on that, steps.
    Path {
        from: Option<Box<Expr>>,
        absolute: bool,
        predicates: Vec<Expr>,
        steps: Vec<Step>,
    },
    Literal(String),
    Number(f64),
    Variable(Option<String>, String),
    Call(Option<String>, String, Vec<Expr>),
}

/// libxml2's number of what is wrong, and its words for it.
#[derive(Debug)]
pub struct Wrong(pub u32, pub &'static str);
pub const EXPRESSION: Wrong = Wrong(1207, "Invalid expression");
pub const PREFIX: Wrong = Wrong(1219, "Undefined namespace prefix");
pub const VARIABLE: Wrong = Wrong(1205, "Undefined variable");
pub const ARITY: Wrong = Wrong(1212, "Invalid number of arguments");
pub const TYPE: Wrong = Wrong(1211, "Invalid type");
pub const RECURSION: Wrong = Wrong(1226, "Recursion limit exceeded");
pub const PREDICATE: Wrong = Wrong(1206, "Invalid predicate");

#[derive(Debug, Clone, PartialEq)]
enum Tok {
    Name(String),
    Number(f64),
    Literal(String),
    Sym(&'static str),
}

const SYMBOLS: [&str; 21] = ["::", "//", "..", "!=", "<=", ">=", "(", ")", "[", "]", ".", "@", ",", "/", "|", "+", "-", "=", "<", ">", "*"];

fn tokens(text: &str) -> Result<Vec<Tok>, Wrong> {
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(c) = rest.chars().next() else { return Ok(out) };
        if c == '"' || c == '\'' {
            let end = rest[1..].find(c).ok_or(Wrong(1202, "Unfinished literal"))?;
            out.push(Tok::Literal(rest[1..1 + end].to_owned()));
            rest = &rest[end + 2..];
        } else if c.is_ascii_digit() || (c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            let mut end = rest.bytes().take_while(u8::is_ascii_digit).count();
            if rest[end..].starts_with('.') {
                end += 1 + rest[end + 1..].bytes().take_while(u8::is_ascii_digit).count();
            }
            out.push(Tok::Number(rest[..end].trim_end_matches('.').parse().unwrap_or(f64::NAN)));
            rest = &rest[end..];
        } else if c == '$' {
            out.push(Tok::Sym("$"));
            rest = &rest[1..];
        } else if let Some(s) = SYMBOLS.iter().find(|s| rest.starts_with(**s)) {
            out.push(Tok::Sym(s));
            rest = &rest[s.len()..];
        } else if c == ':' {
            out.push(Tok::Sym(":"));
            rest = &rest[1..];
        } else if super::xml::is_name_start(c) {
            let end = rest.find(|c: char| c == ':' || !super::xml::is_name_char(c)).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            // One colon belongs to the name, two are an axis.
            if after.starts_with(':') && !after.starts_with("::") {
                if after[1..].starts_with('*') {
                    out.push(Tok::Name(format!("{name}:*")));
                    rest = &after[2..];
                    continue;
                }
                if after[1..].starts_with(|c: char| c != ':' && super::xml::is_name_start(c)) {
                    let local = &after[1..];
                    let end = local.find(|c: char| c == ':' || !super::xml::is_name_char(c)).unwrap_or(local.len());
                    out.push(Tok::Name(format!("{name}:{}", &local[..end])));
                    rest = &local[end..];
                    continue;
                }
            }
            out.push(Tok::Name(name.to_owned()));
            rest = after;
        } else {
            return Err(EXPRESSION);
        }
    }
}

struct Reader<'a> {
    toks: Vec<Tok>,
    at: usize,
    depth: usize,
    has_stack: &'a dyn Fn() -> bool,
}

/// `has_stack`: whether there is native stack to go deeper.
pub fn parse(text: &str, has_stack: &dyn Fn() -> bool) -> Result<Expr, Wrong> {
    let mut r = Reader { toks: tokens(text)?, at: 0, depth: 0, has_stack };
    let e = r.expr()?;
    if r.at < r.toks.len() { Err(EXPRESSION) } else { Ok(e) }
}

impl Reader<'_> {
    fn is(&self, s: &str) -> bool {
        matches!(self.toks.get(self.at), Some(Tok::Sym(t)) if *t == s)
    }
    fn take(&mut self, s: &str) -> bool {
        let yes = self.is(s);
        self.at += yes as usize;
        yes
    }
    fn need(&mut self, s: &str) -> Result<(), Wrong> {
        if self.take(s) { Ok(()) } else { Err(EXPRESSION) }
    }
    fn take_word(&mut self, word: &str) -> bool {
        let yes = matches!(self.toks.get(self.at), Some(Tok::Name(n)) if n == word);
        self.at += yes as usize;
        yes
    }
    fn expr(&mut self) -> Result<Expr, Wrong> {
        self.depth += 1;
        if self.depth > DEPTH || !(self.has_stack)() {
            return Err(RECURSION);
        }
        let mut all = vec![self.and()?];
        while self.take_word("or") {
            all.push(self.and()?);
        }
        self.depth -= 1;
        Ok(if all.len() == 1 { all.remove(0) } else { Expr::Or(all) })
    }
    fn and(&mut self) -> Result<Expr, Wrong> {
        let mut all = vec![self.equality()?];
        while self.take_word("and") {
            all.push(self.equality()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Expr::And(all) })
    }
    fn chain(&mut self, next: fn(&mut Self) -> Result<Expr, Wrong>, op: fn(&mut Self) -> Option<Op>) -> Result<Expr, Wrong> {
        let first = next(self)?;
        let mut more = Vec::new();
        while let Some(o) = op(self) {
            more.push((o, next(self)?));
        }
        Ok(if more.is_empty() { first } else { Expr::Chain(Box::new(first), more) })
    }
    fn equality(&mut self) -> Result<Expr, Wrong> {
        self.chain(Self::relational, |r| {
            if r.take("=") {
                Some(Op::Eq)
            } else if r.take("!=") {
                Some(Op::Ne)
            } else {
                None
            }
        })
    }
    fn relational(&mut self) -> Result<Expr, Wrong> {
        self.chain(Self::additive, |r| {
            [("<=", Op::Le), (">=", Op::Ge), ("<", Op::Lt), (">", Op::Gt)].into_iter().find(|(s, _)| r.take(s)).map(|(_, o)| o)
        })
    }
    fn additive(&mut self) -> Result<Expr, Wrong> {
        self.chain(Self::multiplicative, |r| {
            if r.take("+") {
                Some(Op::Add)
            } else if r.take("-") {
                Some(Op::Sub)
            } else {
                None
            }
        })
    }
    fn multiplicative(&mut self) -> Result<Expr, Wrong> {
        self.chain(Self::unary, |r| {
            if r.take("*") {
                Some(Op::Mul)
            } else if r.take_word("div") {
                Some(Op::Div)
            } else if r.take_word("mod") {
                Some(Op::Mod)
            } else {
                None
            }
        })
    }
    fn unary(&mut self) -> Result<Expr, Wrong> {
        let mut negative = false;
        let mut any = false;
        while self.take("-") {
            negative = !negative;
            any = true;
        }
        let e = self.union()?;
        Ok(match (any, negative) {
            (false, _) => e,
            (true, true) => Expr::Neg(Box::new(e)),
            (true, false) => Expr::Neg(Box::new(Expr::Neg(Box::new(e)))),
        })
    }
    fn union(&mut self) -> Result<Expr, Wrong> {
        let mut all = vec![self.path()?];
        while self.take("|") {
            all.push(self.path()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Expr::Union(all) })
    }
    fn path(&mut self) -> Result<Expr, Wrong> {
        let mut steps = Vec::new();
        if self.is("/") || self.is("//") {
            if self.take("//") {
                steps.push(all_below());
                self.relative(&mut steps)?;
            } else {
                self.at += 1;
                if self.starts_step() {
                    self.relative(&mut steps)?;
                }
            }
            return Ok(path(None, true, Vec::new(), steps));
        }
        let primary = match self.toks.get(self.at) {
            Some(Tok::Literal(_) | Tok::Number(_) | Tok::Sym("(" | "$")) => true,
            Some(Tok::Name(n)) => {
                matches!(self.toks.get(self.at + 1), Some(Tok::Sym("(")))
                    && !matches!(n.as_str(), "node" | "text" | "comment" | "processing-instruction")
            }
            _ => false,
        };
        if !primary {
            self.relative(&mut steps)?;
            return Ok(path(None, false, Vec::new(), steps));
        }
        let from = self.primary()?;
        let predicates = self.predicates()?;
        if self.take("/") {
            self.relative(&mut steps)?;
        } else if self.take("//") {
            steps.push(all_below());
            self.relative(&mut steps)?;
        }
        if predicates.is_empty() && steps.is_empty() {
            return Ok(from);
        }
        Ok(path(Some(Box::new(from)), false, predicates, steps))
    }
    fn starts_step(&self) -> bool {
        matches!(self.toks.get(self.at), Some(Tok::Name(_) | Tok::Sym("." | ".." | "@" | "*")))
    }
    fn relative(&mut self, steps: &mut Vec<Step>) -> Result<(), Wrong> {
        loop {
            let s = self.step()?;
            steps.push(s);
            if self.take("//") {
                steps.push(all_below());
            } else if !self.take("/") {
                return Ok(());
            }
        }
    }
    fn step(&mut self) -> Result<Step, Wrong> {
        if self.take(".") {
            let predicates = self.predicates()?;
            return Ok(Step { axis: Axis::This, test: Test::Node, predicates });
        }
        if self.take("..") {
            let predicates = self.predicates()?;
            return Ok(Step { axis: Axis::Parent, test: Test::Node, predicates });
        }
        let mut axis = Axis::Child;
        if self.take("@") {
            axis = Axis::Attribute;
        } else if let (Some(Tok::Name(n)), Some(Tok::Sym("::"))) = (self.toks.get(self.at), self.toks.get(self.at + 1)) {
            axis = Axis::named(n).ok_or(EXPRESSION)?;
            self.at += 2;
        }
        let test = if self.take("*") {
            Test::Any(None)
        } else {
            let Some(Tok::Name(n)) = self.toks.get(self.at).cloned() else { return Err(EXPRESSION) };
            self.at += 1;
            if self.is("(") && matches!(n.as_str(), "node" | "text" | "comment" | "processing-instruction") {
                self.at += 1;
                let test = match n.as_str() {
                    "node" => Test::Node,
                    "text" => Test::Text,
                    "comment" => Test::Comment,
                    _ => match self.toks.get(self.at).cloned() {
                        Some(Tok::Literal(l)) => {
                            self.at += 1;
                            Test::Pi(Some(l))
                        }
                        _ => Test::Pi(None),
                    },
                };
                self.need(")")?;
                test
            } else {
                match n.split_once(':') {
                    Some((p, "*")) => Test::Any(Some(p.to_owned())),
                    Some((p, l)) => Test::Name(Some(p.to_owned()), l.to_owned()),
                    None => Test::Name(None, n),
                }
            }
        };
        let predicates = self.predicates()?;
        Ok(Step { axis, test, predicates })
    }
    fn predicates(&mut self) -> Result<Vec<Expr>, Wrong> {
        let mut all = Vec::new();
        while self.take("[") {
            all.push(self.expr()?);
            if !self.take("]") {
                return Err(PREDICATE);
            }
        }
        Ok(all)
    }
    fn primary(&mut self) -> Result<Expr, Wrong> {
        let Some(t) = self.toks.get(self.at).cloned() else { return Err(EXPRESSION) };
        self.at += 1;
        Ok(match t {
            Tok::Literal(s) => Expr::Literal(s),
            Tok::Number(n) => Expr::Number(n),
            Tok::Sym("$") => match self.toks.get(self.at).cloned() {
                Some(Tok::Name(n)) => {
                    self.at += 1;
                    let (p, l) = super::xml::split(&n);
                    Expr::Variable(p.map(str::to_owned), l.to_owned())
                }
                _ => return Err(EXPRESSION),
            },
            Tok::Sym("(") => {
                let e = self.expr()?;
                self.need(")")?;
                e
            }
            Tok::Name(n) => {
                self.need("(")?;
                let mut args = Vec::new();
                if !self.take(")") {
                    loop {
                        args.push(self.expr()?);
                        if !self.take(",") {
                            break;
                        }
                    }
                    self.need(")")?;
                }
                let (p, l) = super::xml::split(&n);
                Expr::Call(p.map(str::to_owned), l.to_owned(), args)
            }
            Tok::Sym(_) => return Err(EXPRESSION),
        })
    }
}

fn all_below() -> Step {
    Step { axis: Axis::DescendantOrSelf, test: Test::Node, predicates: Vec::new() }
}

/// A path; `//name` is read as one step where no predicate asks for places among siblings.
fn path(from: Option<Box<Expr>>, absolute: bool, predicates: Vec<Expr>, steps: Vec<Step>) -> Expr {
    let mut out: Vec<Step> = Vec::with_capacity(steps.len());
    for s in steps {
        if let Some(last) = out.last()
            && last.axis == Axis::DescendantOrSelf
            && matches!(last.test, Test::Node)
            && last.predicates.is_empty()
            && s.axis == Axis::Child
            && !s.predicates.iter().any(is_positional)
        {
            out.pop();
            out.push(Step { axis: Axis::Descendant, ..s });
            continue;
        }
        out.push(s);
    }
    Expr::Path { from, absolute, predicates, steps: out }
}

/// Whether a predicate's outcome may hang on the place of the node in its list.
pub fn is_positional(e: &Expr) -> bool {
    match e {
        Expr::Number(_) | Expr::Chain(..) if is_numeric(e) => true,
        Expr::Or(all) | Expr::And(all) | Expr::Union(all) => all.iter().any(asks_position),
        e => is_numeric(e) || asks_position(e),
    }
}
fn is_numeric(e: &Expr) -> bool {
    match e {
        Expr::Number(_) | Expr::Neg(_) | Expr::Variable(..) => true,
        Expr::Chain(_, more) => more.iter().any(|(o, _)| matches!(o, Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Mod)),
        Expr::Call(None, n, _) => !matches!(
            n.as_str(),
            "not"
                | "contains"
                | "starts-with"
                | "boolean"
                | "true"
                | "false"
                | "lang"
                | "string"
                | "concat"
                | "normalize-space"
                | "local-name"
                | "name"
        ),
        Expr::Call(Some(p), ..) => p != "nokogiri-builtin",
        _ => false,
    }
}
fn asks_position(e: &Expr) -> bool {
    match e {
        Expr::Call(None, n, args) => matches!(n.as_str(), "position" | "last") || args.iter().any(asks_position),
        Expr::Call(_, _, args) => args.iter().any(asks_position),
        Expr::Or(all) | Expr::And(all) | Expr::Union(all) => all.iter().any(asks_position),
        Expr::Chain(first, more) => asks_position(first) || more.iter().any(|(_, e)| asks_position(e)),
        Expr::Neg(e) => asks_position(e),
        // Steps have lists of their own; what a path begins with has not.
        Expr::Path { from, .. } => from.as_ref().is_some_and(|e| asks_position(e)),
        _ => false,
    }
}
