//! Values of constants under `# shareable_constant_value`. `literal`: literals are frozen with all that they hold, and what else stands there must be shareable
//! already, elements of Arrays and Hashes one by one. `experimental_everything` freezes the value, `experimental_copy` a copy of it.

use crate::literal::PIECE;
use crate::unit::{Compiler, Dest};
use ruby_prism as prism;
use ruby_prism::Node;
use zakuro_base::Sym;
use zakuro_bytecode::{CallSite, Const, NO_BLOCK, NO_KEYWORDS, Op};

/// How the constant that is being assigned gets a shareable value.
pub(crate) enum Shareable {
    /// With the constant's name, for the error.
    Literal(String),
    Everything,
    Copy,
}

impl<'pr> Compiler<'pr> {
    pub(crate) fn shareable_constant(&mut self, n: &prism::ShareableConstantNode<'pr>, dest: Dest) -> u16 {
        let write = n.write();
        let how = if n.is_experimental_copy() {
            Shareable::Copy
        } else if n.is_experimental_everything() {
            Shareable::Everything
        } else {
            Shareable::Literal(self.assigned_name(&write))
        };
        let saved = self.shareable.replace(how);
        let r = self.expr(&write, dest);
        self.shareable = saved;
        r
    }

    /// The value of a constant under the comment.
    pub(crate) fn shareable_value(&mut self, value: &Node<'pr>, to: u16) {
        let how = self.shareable.take();
        match &how {
            Some(Shareable::Literal(name)) => self.shareable_part(value, name, to),
            Some(Shareable::Copy) => self.ask_ractor("__shareable_copy", to, |c| c.any(value)),
            _ => self.ask_ractor("make_shareable", to, |c| c.any(value)),
        }
        self.shareable = how;
    }

    fn any(&mut self, value: &Node<'pr>) {
        self.expr(value, Dest::Push);
    }

    fn shareable_part(&mut self, n: &Node<'pr>, name: &str, to: u16) {
        if let Some(array) = n.as_array_node() {
            let elements: Vec<Node<'pr>> = array.elements().iter().collect();
            if elements.len() <= PIECE && !elements.iter().any(|e| matches!(e, Node::SplatNode { .. })) {
                return self.ask_ractor("make_shareable", to, |c| c.shareable_parts(&elements, Op::NewArray, name));
            }
        }
        if let Some(hash) = n.as_hash_node() {
            let elements: Vec<Node<'pr>> = hash.elements().iter().collect();
            if elements.len() * 2 <= PIECE && elements.iter().all(|e| matches!(e, Node::AssocNode { .. })) {
                let halves: Vec<Node<'pr>> = elements.iter().filter_map(|e| e.as_assoc_node()).flat_map(|a| [a.key(), a.value()]).collect();
                return self.ask_ractor("make_shareable", to, |c| c.shareable_parts(&halves, Op::NewHash, name));
            }
        }
        match n {
            Node::IntegerNode { .. }
            | Node::FloatNode { .. }
            | Node::RationalNode { .. }
            | Node::ImaginaryNode { .. }
            | Node::SymbolNode { .. }
            | Node::NilNode { .. }
            | Node::TrueNode { .. }
            | Node::FalseNode { .. }
            | Node::RegularExpressionNode { .. } => {
                self.expr(n, Dest::Reg(to));
            }
            Node::StringNode { .. } | Node::InterpolatedStringNode { .. } | Node::SourceFileNode { .. } | Node::RangeNode { .. }
                if is_literal(n) =>
            {
                self.ask_ractor("make_shareable", to, |c| c.any(n));
            }
            _ => self.ask_ractor("__ensure_shareable", to, |c| {
                c.any(n);
                let text = Const::Str { bytes: name.as_bytes().into(), encoding: 1 };
                c.load_const(text, Dest::Push);
            }),
        }
    }

    fn shareable_parts(&mut self, parts: &[Node<'pr>], op: Op, name: &str) {
        let first = self.f.top;
        for n in parts {
            let r = self.push();
            self.shareable_part(n, name, r);
        }
        self.pop_to(first);
        let d = self.push();
        self.f.asm.emit(op, 0, d, first, parts.len() as u16);
    }

    /// Calls a method of Ractor with the arguments that `arguments` pushes.
    fn ask_ractor(&mut self, name: &str, to: u16, arguments: impl FnOnce(&mut Self)) {
        let base = self.get_const(Sym::intern("Ractor"), true, Dest::Push);
        arguments(self);
        let argc = self.f.top - base - 1;
        let site =
            self.f.asm.site(CallSite { name: Sym::intern(name), flags: 0, argc: argc as u8, child: NO_BLOCK, keywords: NO_KEYWORDS });
        self.f.asm.emit(Op::Send, argc as u8, base, 0, site);
        self.f.asm.mov(to, base);
        self.pop_to(base);
    }

    /// The name of the constant that a node assigns.
    fn assigned_name(&mut self, write: &Node<'pr>) -> String {
        let path = match write {
            Node::ConstantPathWriteNode { .. } => write.as_constant_path_write_node().map(|n| n.target()),
            Node::ConstantPathOrWriteNode { .. } => write.as_constant_path_or_write_node().map(|n| n.target()),
            Node::ConstantPathAndWriteNode { .. } => write.as_constant_path_and_write_node().map(|n| n.target()),
            Node::ConstantPathOperatorWriteNode { .. } => write.as_constant_path_operator_write_node().map(|n| n.target()),
            _ => None,
        };
        let name = match write {
            Node::ConstantWriteNode { .. } => write.as_constant_write_node().map(|n| n.name()),
            Node::ConstantOrWriteNode { .. } => write.as_constant_or_write_node().map(|n| n.name()),
            Node::ConstantAndWriteNode { .. } => write.as_constant_and_write_node().map(|n| n.name()),
            Node::ConstantOperatorWriteNode { .. } => write.as_constant_operator_write_node().map(|n| n.name()),
            _ => None,
        };
        let mut text = name.map_or(String::new(), |n| self.intern(&n).name().into_owned());
        let mut at = path.map(|p| p.as_node());
        while let Some(n) = at {
            let (part, outer) = match &n {
                Node::ConstantPathNode { .. } => match n.as_constant_path_node() {
                    Some(p) => (p.name().map_or(String::new(), |n| format!("::{}", self.intern(&n).name())), p.parent()),
                    None => break,
                },
                Node::ConstantReadNode { .. } => {
                    (n.as_constant_read_node().map_or(String::new(), |n| self.intern(&n.name()).name().into_owned()), None)
                }
                _ => ("...".to_string(), None),
            };
            text.insert_str(0, &part);
            at = outer;
        }
        text
    }
}

/// Whether a String, or a Range, is one of literals.
fn is_literal(n: &Node<'_>) -> bool {
    match n.as_range_node() {
        Some(r) => [r.left(), r.right()].iter().flatten().all(|e| {
            matches!(
                e,
                Node::IntegerNode { .. }
                    | Node::FloatNode { .. }
                    | Node::StringNode { .. }
                    | Node::SymbolNode { .. }
                    | Node::NilNode { .. }
            )
        }),
        None => true,
    }
}
