//! The error highlight: which piece of a line a call, a constant or a definition stands at.
//!
//! A [`Code`] only keeps, per instruction that may raise, the source range of its node. What is to be marked is found when a report is
//! made, by parsing the source again: raising and running pay nothing, and the table stays at twelve bytes per call.

use ruby_prism as prism;
use ruby_prism::Node;
use zakuro_bytecode::Code;

/// What to mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Point {
    /// The name of the method that the Code belongs to.
    Definition,
    /// The name of what was called or read.
    Name,
    /// The arguments.
    Args,
}

/// A marked piece of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    pub line: u32,
    /// Columns from 0; `end` is past the last.
    pub start: usize,
    pub end: usize,
    /// The line, with its newline.
    pub snippet: String,
}

/// Finds what to mark for the instruction `at`. `name` is the name in the error, which tells the reads, the operator and the writes of
/// `a.b += c` apart. None: nothing can be marked, or it takes more than one line.
pub fn spot(code: &Code, at: u32, point: Point, name: Option<&str>) -> Option<Spot> {
    let span = if point == Point::Definition { code.span? } else { code.span_at(at)? };
    if code.source.len() <= crate::SMALL_SOURCE {
        return find(code, span, point, name);
    }
    crate::on_own_stack(|| find(code, span, point, name))
}

fn find(code: &Code, span: (u32, u32), point: Point, name: Option<&str>) -> Option<Spot> {
    let (from, to) = look_through(code, span, point, name).found?;
    line_of(&code.source, code.first_line, from as usize, to as usize)
}

fn look_through<'n>(code: &Code, (start, len): (u32, u32), point: Point, name: Option<&'n str>) -> Finder<'n> {
    let result = prism::parse(&code.source);
    let mut finder = Finder { start, end: start + len, point, name, found: None, done: false, id: None };
    prism::Visit::visit(&mut finder, &result.node());
    finder
}

/// The number that prism gives the node at the instruction `at`; without one, the node that the Code itself is made from.
pub fn node_id(code: &Code, at: Option<u32>) -> Option<u32> {
    let (span, point) = match at {
        Some(at) => (code.span_at(at)?, Point::Name),
        None => (code.span?, Point::Definition),
    };
    if code.source.len() <= crate::SMALL_SOURCE {
        return look_through(code, span, point, None).id;
    }
    crate::on_own_stack(|| look_through(code, span, point, None).id)
}

fn line_of(source: &[u8], first: u32, from: usize, to: usize) -> Option<Spot> {
    let begin = source[..from].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let end = source[begin..].iter().position(|b| *b == b'\n').map_or(source.len(), |i| begin + i + 1);
    if to > end || from >= to {
        return None;
    }
    // How wide other characters are shown, only the terminal knows.
    let text = std::str::from_utf8(&source[begin..end]).ok().filter(|t| t.is_ascii())?;
    let before = source[..begin].iter().filter(|b| **b == b'\n').count() as u32;
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    Some(Spot { line: first + before, start: from - begin, end: to - begin, snippet: format!("{text}{newline}") })
}

type Range = (u32, u32);

struct Finder<'a> {
    start: u32,
    end: u32,
    point: Point,
    name: Option<&'a str>,
    found: Option<Range>,
    done: bool,
    /// Number of the node that was looked for.
    id: Option<u32>,
}

/// The number of a node of those kinds that are marked.
fn id_of(n: &Node) -> Option<u32> {
    macro_rules! id {
        ($($kind:ident)*) => {
            match n {
                // SAFETY: prism's node, which lives as long as the result that it came from; every node begins with its base.
                $(Node::$kind { pointer, .. } => Some(unsafe { (**pointer).base.node_id }),)*
                _ => None,
            }
        };
    }
    id!(CallNode CallOperatorWriteNode IndexOperatorWriteNode LocalVariableOperatorWriteNode InstanceVariableOperatorWriteNode ConstantReadNode
        ConstantPathNode ConstantPathOperatorWriteNode DefNode LambdaNode BlockNode)
}

fn range(l: &prism::Location) -> Range {
    (l.start(), l.end())
}

/// From the start of `a`, when there is one, to the end of `b`.
fn join(a: Option<prism::Location>, b: Range) -> Range {
    (a.map_or(b.0, |a| a.start()), b.1)
}

/// `+` of `+=`.
fn operator(l: &prism::Location) -> Range {
    (l.start(), l.end() - 1)
}

impl Finder<'_> {
    fn mark(&self, n: &Node) -> Option<Option<Range>> {
        let is = |what: &[u8]| self.name.is_some_and(|n| n.as_bytes() == what);
        let args = self.point == Point::Args;
        Some(match n {
            Node::CallNode { .. } => {
                let n = n.as_call_node()?;
                if args { n.arguments().map(|a| range(&a.location())) } else { call_name(&n) }
            }
            Node::CallOperatorWriteNode { .. } => {
                let n = n.as_call_operator_write_node()?;
                let read = n.read_name();
                let message = n.message_loc().map(|m| join(n.call_operator_loc(), range(&m)));
                if args {
                    Some(range(&n.value().location()))
                } else if is(n.binary_operator().as_slice()) {
                    Some(operator(&n.binary_operator_loc()))
                } else if is(n.write_name().as_slice()) {
                    message.map(|m| (m.0, n.binary_operator_loc().end()))
                } else if is(read.as_slice()) {
                    message
                } else {
                    None
                }
            }
            Node::IndexOperatorWriteNode { .. } => {
                let n = n.as_index_operator_write_node()?;
                let brackets = (n.opening_loc().start(), n.closing_loc().end());
                if args {
                    Some(join(n.arguments().map(|a| a.location()), range(&n.value().location())))
                } else if is(b"[]") {
                    Some(brackets)
                } else if is(b"[]=") {
                    Some((brackets.0, n.binary_operator_loc().end()))
                } else if is(n.binary_operator().as_slice()) {
                    let operation = n.binary_operator_loc();
                    (n.opening_loc().start_line() == operation.start_line()).then(|| operator(&operation))
                } else {
                    None
                }
            }
            Node::LocalVariableOperatorWriteNode { .. } => {
                let n = n.as_local_variable_operator_write_node()?;
                Some(if args { range(&n.value().location()) } else { operator(&n.binary_operator_loc()) })
            }
            Node::InstanceVariableOperatorWriteNode { .. } => {
                let n = n.as_instance_variable_operator_write_node()?;
                Some(if args { range(&n.value().location()) } else { operator(&n.binary_operator_loc()) })
            }
            Node::ConstantReadNode { .. } => (!args).then(|| range(&n.location())),
            Node::ConstantPathNode { .. } => {
                let n = n.as_constant_path_node()?;
                let (delimiter, name) = (n.delimiter_loc(), n.name_loc());
                let on_one_line = delimiter.start_line() == name.start_line();
                (!args).then(|| if on_one_line { (delimiter.start(), name.end()) } else { range(&name) })
            }
            Node::ConstantPathOperatorWriteNode { .. } => {
                let n = n.as_constant_path_operator_write_node()?;
                let target = n.target();
                if args {
                    Some(range(&n.value().location()))
                } else if is(n.binary_operator().as_slice()) {
                    Some(operator(&n.binary_operator_loc()))
                } else {
                    Some((target.delimiter_loc().start(), target.name_loc().end()))
                }
            }
            Node::DefNode { .. } => {
                let n = n.as_def_node()?;
                (!args).then(|| join(n.operator_loc(), range(&n.name_loc())))
            }
            Node::LambdaNode { .. } => {
                let n = n.as_lambda_node()?;
                (!args).then(|| range(&n.operator_loc()))
            }
            Node::BlockNode { .. } => {
                let n = n.as_block_node()?;
                (!args).then(|| range(&n.opening_loc()))
            }
            _ => return None,
        })
    }
}

/// The name of a call with the dot before it and the `=` of an assignment behind it.
fn call_name(n: &prism::CallNode) -> Option<Range> {
    // `foo.()` has no name to mark.
    let message = n.message_loc()?;
    let mut r = range(&message);
    if matches!(n.name().as_slice(), b"[]" | b"[]=")
        && let (Some(o), Some(c)) = (n.opening_loc(), n.closing_loc())
        && o.as_slice() == b"["
    {
        r = (o.start(), c.end());
    }
    if let Some(dot) = n.call_operator_loc()
        && dot.start_line() == message.start_line()
    {
        r.0 = dot.start();
    }
    if n.is_attribute_write() {
        match n.equal_loc() {
            Some(e) => r.1 = r.1.max(e.end()),
            // `a[i] = v`: prism gives no place of the `=`; it is the first character after the brackets that is not blank.
            None => {
                let end = n.location().end();
                let rest = n.location().as_slice();
                let from = rest.len() - (end - r.1) as usize;
                if let Some(i) = rest[from..].iter().position(|b| *b != b' ').filter(|i| rest[from + i] == b'=') {
                    r.1 += i as u32 + 1;
                }
            }
        }
    }
    Some(r)
}

impl<'pr> prism::Visit<'pr> for Finder<'_> {
    fn visit_branch_node_enter(&mut self, n: Node<'pr>) {
        self.look(&n);
    }
    fn visit_leaf_node_enter(&mut self, n: Node<'pr>) {
        self.look(&n);
    }
}

impl Finder<'_> {
    fn look(&mut self, n: &Node) {
        let l = n.location();
        if self.done || l.start() != self.start || l.end() != self.end {
            return;
        }
        if let Some(m) = self.mark(n) {
            self.done = true;
            self.found = m;
            self.id = id_of(n);
        }
    }
}
