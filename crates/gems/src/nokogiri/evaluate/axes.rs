//! Axes: what they reach, and from which nodes of many that must be asked.

use super::*;

/// A test with its names looked up in a tree.
pub enum Ready {
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
    /// The nodes from which an axis reaches all that it reaches from these.
    pub(super) fn needed(&mut self, mut from: Vec<Item>, axis: Axis) -> Result<Vec<Item>, Failure<H::Error>> {
        use Axis::*;
        if !matches!(axis, Descendant | DescendantOrSelf | Following | FollowingSibling | Preceding | PrecedingSibling) {
            return Ok(from);
        }
        self.sort(&mut from)?;
        let t = self.tree()?;
        // Namespaces have neighbours on none of these axes.
        from.retain(|i| ns_of(*i).is_none());
        let (Some(first), Some(last)) = (from.first().copied(), from.last().copied()) else { return Ok(from) };
        if from.iter().any(|i| t.place(id_of(*i)) == NONE) {
            return Ok(from);
        }
        let parent = |i: &Item| t.n(id_of(*i)).parent;
        let is_attribute = |i: &Item| t.kind(id_of(*i)) == Kind::Attribute;
        match axis {
            Descendant | DescendantOrSelf => {
                let mut end = None;
                from.retain(|i| {
                    // An attribute is not below its element.
                    if is_attribute(i) {
                        return true;
                    }
                    let outside = end.is_none_or(|e| t.place(id_of(*i)) > e);
                    if outside {
                        end = Some(t.place(t.end_of(id_of(*i))));
                    }
                    outside
                });
            }
            FollowingSibling | PrecedingSibling => {
                let mut parents = HashSet::new();
                from.retain(|i| !is_attribute(i));
                if axis == PrecedingSibling {
                    from.reverse();
                }
                from.retain(|i| parent(i) == NONE || parents.insert(parent(i)));
            }
            _ if t.top_of(id_of(first)) != t.top_of(id_of(last)) => {}
            Preceding => from = vec![last],
            _ => {
                // The one that ends first: as long as nodes stand within each other, the innermost.
                let mut inner = id_of(first);
                for i in &from[1..] {
                    let mut at = id_of(*i);
                    while at != NONE && t.place(at) > t.place(inner) {
                        at = t.n(at).parent;
                    }
                    if at != inner {
                        break;
                    }
                    inner = id_of(*i);
                }
                from = vec![inner as Item];
            }
        }
        Ok(from)
    }
}

/// Nodes of an axis that pass a test, in the axis's order, the first `limit` at least; and how many were looked at.
/// `climbed`: ancestors that were found from other nodes.
pub fn axis(t: &Tree, from: Item, axis: Axis, test: &Ready, limit: usize, climbed: &mut Option<HashSet<Id>>) -> (Vec<Item>, usize) {
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
            while at != NONE && climbed.as_mut().is_none_or(|c| c.insert(at)) && !put(at) {
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
                let mut above = id;
                while above != NONE {
                    looked += 1;
                    above = t.n(above).parent;
                }
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
