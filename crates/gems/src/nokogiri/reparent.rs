//! Moving nodes: within a document by its links, into another by a copy that takes the objects along. Texts that come to stand side by side become one, as in libxml2.

use super::tree::{DOCUMENT, Id, Kind, NONE, Tree};
use super::*;
use zakuro_macros::ruby_class;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Child,
    Next,
    Previous,
    Instead,
}

/// Copies a node into another document; objects that stood for the nodes stand for the copies. `mine`: the object that comes along in any case.
fn adopt(cx: &mut Cx, from: Value, id: Id, to: Value, mine: Value) -> Result<Id> {
    let mut pairs = Vec::new();
    let copy = {
        let mut old = std::mem::replace(tree(cx, from)?, Tree::new(Kind::Document));
        let copied = tree(cx, to).map(|t| t.copy_from(&old, id, true, |a, b| pairs.push((a, b))));
        // The old tree keeps its nodes, without their texts.
        if copied.is_ok() {
            for (a, _) in &pairs {
                old.set_text(*a, String::new());
            }
        }
        *tree(cx, from)? = old;
        copied?
    };
    account(cx, from)?;
    account(cx, to)?;
    for (i, (a, b)) in pairs.into_iter().enumerate() {
        let object = cx.data_ref::<Doc>(from)?.objects.get(a as usize).copied().unwrap_or(Value::NIL);
        if !object.is_nil() {
            cx.data_mut::<Doc>(from)?.objects[a as usize] = Value::NIL;
            bind(cx, object, to, b)?;
        }
        zakuro_base::progress::step(i, cx)?;
    }
    bind(cx, mine, to, copy)?;
    Ok(copy)
}

/// Joins a text with a neighbour as libxml2 does; the node that has it all. A last child takes a further one in, a text its new siblings; what replaces joins both sides.
fn merged(t: &mut Tree, pivot: Id, id: Id, place: Place) -> Id {
    if t.kind(id) != Kind::Text {
        return id;
    }
    let (prev, next) = (t.n(id).prev, t.n(id).next);
    let is_text = |t: &Tree, o: Id| o != NONE && t.kind(o) == Kind::Text;
    let mut whole = id;
    let back = match place {
        Place::Child | Place::Instead => true,
        Place::Next => prev == pivot,
        Place::Previous => false,
    };
    let forth = match place {
        Place::Child | Place::Next => false,
        Place::Instead => true,
        Place::Previous => next == pivot,
    };
    if back && is_text(t, prev) {
        let text = t.n(id).text.clone();
        t.push_text(prev, &text);
        t.unlink(id);
        whole = prev;
    }
    if forth && is_text(t, next) {
        let text = t.n(whole).text.clone() + &t.n(next).text;
        if whole == id {
            t.set_text(next, text);
            t.unlink(id);
            whole = next;
        } else {
            t.set_text(whole, text);
            t.unlink(next);
        }
    }
    whole
}

/// Sees to it that what was moved uses the declarations of its new place.
fn relink(t: &mut Tree, top: Id, inherit: bool) {
    let mut at = Some(top);
    while let Some(id) = at {
        if t.is_element(id) {
            relink_one(t, id, inherit);
            let attrs: Vec<Id> = t.attrs(id).collect();
            for a in attrs {
                relink_one(t, a, inherit);
            }
        }
        // Below an element without a namespace nothing changes.
        at = if t.is_element(id) && t.n(id).ns == NONE { t.after(top, id) } else { t.following(top, id) };
    }
}
fn relink_one(t: &mut Tree, id: Id, inherit: bool) {
    let own = t.n(id).ns;
    let unprefixed = own == NONE || t.nss[own as usize].prefix.is_none();
    let is_attr = t.kind(id) == Kind::Attribute;
    if unprefixed {
        let name = t.name(id).to_owned();
        let (prefix, local) = super::xml::split(&name);
        if is_attr && matches!(prefix, None | Some("xmlns")) {
            return;
        }
        if let Some(ns) = t.search_ns(id, prefix) {
            let local = t.intern(local);
            let n = t.m(id);
            (n.name, n.ns) = (local, ns);
        }
    }
    let parent = t.n(id).parent;
    if is_attr || parent == NONE {
        return;
    }
    if t.n(id).ns == NONE && parent != DOCUMENT && inherit {
        t.m(id).ns = t.n(parent).ns;
    }
    // What is declared above already goes.
    let defs = t.n(id).defs.clone();
    let kept: Vec<u32> = defs
        .iter()
        .copied()
        .filter(|d| {
            let (prefix, href) = (t.nss[*d as usize].prefix.clone(), t.nss[*d as usize].href.clone());
            let above = t.find_ns(parent, prefix.as_deref());
            !above.is_some_and(|a| a != *d && t.nss[a as usize].href == href)
        })
        .collect();
    t.m(id).defs = kept;
    let own = t.n(id).ns;
    if own != NONE {
        let (prefix, href) = (t.nss[own as usize].prefix.clone(), t.nss[own as usize].href.clone());
        let declared = t.n(id).defs.contains(&own);
        if !declared
            && let Some(ns) = t.find_ns(parent, prefix.as_deref())
            && ns != own
            && t.nss[ns as usize].href == href
        {
            t.m(id).ns = ns;
        }
    }
}

fn reparent(cx: &mut Cx, pivot: Value, what: Value, place: Place) -> Result<Value> {
    if !cx.is_data::<NodeRef>(what) {
        return cx.arg_error("node must be a Nokogiri::XML::Node");
    }
    let ((doc, at), (from, mut id)) = (node(cx, pivot)?, node(cx, what)?);
    let t = tree(cx, doc)?;
    let parent = if place == Place::Child { at } else { t.n(at).parent };
    let kind = tree(cx, from)?.kind(id);
    let t = tree(cx, doc)?;
    if parent != NONE {
        let texty = matches!(kind, Kind::Element | Kind::Pi | Kind::Comment | Kind::Text | Kind::Cdata | Kind::EntityRef);
        let ok = match t.kind(parent) {
            Kind::Document | Kind::HtmlDocument => texty || kind == Kind::Dtd,
            Kind::Fragment | Kind::EntityRef | Kind::Element => texty,
            Kind::Attribute => matches!(kind, Kind::Text | Kind::EntityRef),
            _ => false,
        };
        if !ok {
            let c = cx.class_name_of(what);
            return cx.arg_error(format!("cannot reparent {c} there"));
        }
        if doc == from && kind == Kind::Element && t.is_within(id, parent) {
            let name = t.name(id).to_owned();
            return cx.raise(ids::RUNTIME_ERROR, format!("cycle detected: node '{name}' is an ancestor of itself"));
        }
    }
    if doc == from && at == id {
        return Ok(what);
    }
    let text = kind == Kind::Text;
    if from != doc {
        tree(cx, from)?.unlink(id);
        id = adopt(cx, from, id, doc, what)?;
    } else if text {
        // The text may be joined to another: what stands in the tree is a copy, and the object follows it.
        let t = tree(cx, doc)?;
        t.unlink(id);
        let (content, line) = (t.n(id).text.clone(), t.n(id).line);
        if !content.is_empty() || place != Place::Child {
            let copy = t.add(Kind::Text, NONE, content);
            t.m(copy).line = line;
            let d = cx.data_mut::<Doc>(doc)?;
            if let Some(o) = d.objects.get_mut(id as usize) {
                *o = Value::NIL;
            }
            id = copy;
            bind(cx, what, doc, id)?;
        }
    } else {
        tree(cx, doc)?.unlink(id);
    }
    let inherit = cx.ivar_get(doc, Sym::intern("@namespace_inheritance")) == Value::TRUE;
    let t = tree(cx, doc)?;
    match place {
        Place::Child if t.kind(at) == Kind::Attribute => {
            let text = t.n(at).text.clone() + &t.n(id).text;
            t.set_text(at, text);
        }
        Place::Child => t.append(at, id),
        Place::Next => t.insert_after(at, id),
        Place::Previous => t.insert_before(at, id),
        Place::Instead => {
            t.insert_after(at, id);
            t.unlink(at);
        }
    }
    let whole = merged(t, at, id, place);
    relink(t, whole, inherit);
    account(cx, doc)?;
    if whole != id {
        // Another object may stand for the joined text; this one does as well.
        let n = cx.data_mut::<NodeRef>(what)?;
        n.id = whole;
        return wrap(cx, doc, whole);
    }
    decorate(cx, doc, what)?;
    Ok(what)
}

/// Methods of `Nokogiri::XML::Node` that move it.
#[ruby_class(ids::OBJECT)]
mod native {
    use super::*;

    #[method("add_child_node", private)]
    fn add_child(cx: &mut Cx, this: Value, child: Value) -> Result<Value> {
        reparent(cx, this, child, Place::Child)
    }
    #[method("add_next_sibling_node", private)]
    fn add_next_sibling(cx: &mut Cx, this: Value, sibling: Value) -> Result<Value> {
        reparent(cx, this, sibling, Place::Next)
    }
    #[method("add_previous_sibling_node", private)]
    fn add_previous_sibling(cx: &mut Cx, this: Value, sibling: Value) -> Result<Value> {
        reparent(cx, this, sibling, Place::Previous)
    }
    #[method("replace_node", private)]
    fn replace(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        reparent(cx, this, other, Place::Instead)
    }
    /// Takes the node out of its document's tree, and answers it.
    #[method("unlink")]
    fn unlink(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        if id != DOCUMENT {
            tree(cx, doc)?.unlink(id);
        }
        Ok(this)
    }
    /// Makes this object, which has no node yet, a copy of another.
    #[method("initialize_copy_with_args")]
    fn copy(cx: &mut Cx, this: Value, other: Value, level: i64, doc: Value) -> Result<Value> {
        if !is_node(cx, other) {
            return cx.type_error("argument must be a kind of Nokogiri::XML::Node");
        }
        let ((from, id), (doc, _)) = (node(cx, other)?, node(cx, doc)?);
        let old = tree(cx, from)?;
        let part = {
            // The node alone: a document may be copied into itself.
            let mut part = Tree::new(Kind::Document);
            part.copy_from(old, id, level > 0, |_, _| ());
            part
        };
        let t = tree(cx, doc)?;
        let copy = t.copy_from(&part, 1, level > 0, |_, _| ());
        if level == 0 {
            t.m(copy).attr = NONE;
        }
        // Declarations above the node are used as they are where they are in scope.
        account(cx, doc)?;
        bind(cx, this, doc, copy)?;
        decorate(cx, doc, this)?;
        Ok(this)
    }
}
pub(super) use native::METHODS;
