//! Nokogiri::XML::Node: looking at nodes, their attributes, names and namespaces. What moves nodes is [`super::reparent`].

use super::tree::{DOCUMENT, Decl, Id, Kind, NONE, Tree};
use super::*;
use zakuro_macros::ruby_class;

fn set_of(cx: &mut Cx, doc: Value, ids: &[Id]) -> Result<Value> {
    let mut objects = RootedVec::with_capacity(cx, ids.len());
    for (i, id) in ids.iter().enumerate() {
        let v = wrap(cx, doc, *id)?;
        objects.push(v);
        zakuro_base::progress::step(i, cx)?;
    }
    set::make(cx, doc, &objects)
}
fn walk(t: &Tree, mut id: Id, step: impl Fn(&super::tree::Node) -> Id) -> Id {
    while id != NONE && !t.is_element(id) {
        id = step(t.n(id));
    }
    id
}
fn has_attributes(t: &Tree, id: Id) -> bool {
    t.is_element(id)
}
/// Where `name` leads: a prefix that is declared counts, else it is part of the name.
fn find_attr(t: &mut Tree, id: Id, name: &str) -> Option<Id> {
    if !has_attributes(t, id) {
        return None;
    }
    if let Some((p, l)) = name.split_once(':')
        && let Some(ns) = t.search_ns(id, Some(p))
    {
        let href = t.nss[ns as usize].href.to_string();
        return t.attr_ns(id, l, Some(&href));
    }
    t.attr_ns(id, name, None).or_else(|| if name.contains(':') { t.attr(id, name) } else { None })
}

fn too_large<T>(cx: &mut Cx) -> Result<T> {
    cx.raise(ids::NO_MEMORY_ERROR, "failed to allocate memory")
}

/// Methods of `Nokogiri::XML::Node`.
#[ruby_class(ids::OBJECT)]
mod native {
    use super::*;

    /// Makes a node of a kind in a document: what `new` of the classes does first.
    #[method("__create")]
    fn create(cx: &mut Cx, this: Value, kind: i64, name: Value, doc: Value, content: Value) -> Result<Value> {
        let (doc, _) = node(cx, doc)?;
        let name = text_or_none(cx, name)?;
        let content = text_or_none(cx, content)?;
        let kind = match kind {
            1 => Kind::Element,
            2 => Kind::Attribute,
            3 => Kind::Text,
            4 => Kind::Cdata,
            5 => Kind::EntityRef,
            7 => Kind::Pi,
            8 => Kind::Comment,
            11 => Kind::Fragment,
            14 => Kind::Dtd,
            17 => Kind::EntityDecl,
            _ => return cx.arg_error("kind of node"),
        };
        let t = tree(cx, doc)?;
        let name = name.map_or(NONE, |n| t.intern(&n));
        let id = t.add(kind, name, content.unwrap_or_default());
        account(cx, doc)?;
        bind(cx, this, doc, id)?;
        decorate(cx, doc, this)?;
        Ok(this)
    }
    /// Whether the object stands for a node.
    #[method("__node?")]
    fn has_node(cx: &Cx, this: Value) -> bool {
        is_node(cx, this)
    }
    /// The document of the node.
    #[method("document")]
    fn document(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(node(cx, this)?.0)
    }
    /// A number that only this node has.
    #[method("pointer_id")]
    fn pointer_id(cx: &mut Cx, this: Value) -> Result<i64> {
        let (doc, id) = node(cx, this)?;
        Ok((cx.data_ref::<Doc>(doc)?.serial << 32) | id as i64)
    }
    /// The number of the node's type: ELEMENT_NODE and the like.
    #[method("node_type")]
    fn node_type(cx: &mut Cx, this: Value) -> Result<i64> {
        let (doc, id) = node(cx, this)?;
        Ok(tree(cx, doc)?.kind(id) as i64)
    }
    /// The name of the element or attribute; "text", "comment" and the like for others.
    #[method("node_name")]
    fn node_name(cx: &mut Cx, this: Value) -> Result<String> {
        let (doc, id) = node(cx, this)?;
        let t = tree(cx, doc)?;
        Ok(match t.kind(id) {
            Kind::Text => "text".into(),
            Kind::Cdata => "#cdata-section".into(),
            Kind::Comment => "comment".into(),
            Kind::Document | Kind::HtmlDocument => "document".into(),
            Kind::Fragment => "#document-fragment".into(),
            _ => t.name(id).to_owned(),
        })
    }
    /// Sets the name.
    #[method("node_name=")]
    fn set_node_name(cx: &mut Cx, this: Value, name: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let n = text(cx, name)?;
        let t = tree(cx, doc)?;
        let n = t.intern(&n);
        t.m(id).name = n;
        account(cx, doc)?;
        Ok(name)
    }
    /// The line of the source that the node stands in, from 1.
    #[method("line")]
    fn line(cx: &mut Cx, this: Value) -> Result<usize> {
        let (doc, id) = node(cx, this)?;
        Ok(tree(cx, doc)?.n(id).line as usize)
    }
    /// Sets the line.
    #[method("line=")]
    fn set_line(cx: &mut Cx, this: Value, line: i64) -> Result<i64> {
        let (doc, id) = node(cx, this)?;
        tree(cx, doc)?.m(id).line = line.clamp(0, u32::MAX as i64) as u32;
        Ok(line)
    }

    // ---- neighbours

    /// The node that this one is in, or nil.
    #[method("parent")]
    fn parent(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let id = tree(cx, doc)?.n(id).parent;
        wrap_or_nil(cx, doc, id)
    }
    /// The first child, or nil.
    #[method("child")]
    fn child(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let id = tree(cx, doc)?.n(id).first;
        wrap_or_nil(cx, doc, id)
    }
    /// The next node with the same parent, or nil.
    #[method("next_sibling")]
    fn next_sibling(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let id = tree(cx, doc)?.n(id).next;
        wrap_or_nil(cx, doc, id)
    }
    /// The node before this one with the same parent, or nil.
    #[method("previous_sibling")]
    fn previous_sibling(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let id = tree(cx, doc)?.n(id).prev;
        wrap_or_nil(cx, doc, id)
    }
    /// The next element with the same parent, or nil.
    #[method("next_element")]
    fn next_element(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let t = tree(cx, doc)?;
        let id = walk(t, t.n(id).next, |n| n.next);
        wrap_or_nil(cx, doc, id)
    }
    /// The element before this one with the same parent, or nil.
    #[method("previous_element")]
    fn previous_element(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let t = tree(cx, doc)?;
        let id = walk(t, t.n(id).prev, |n| n.prev);
        wrap_or_nil(cx, doc, id)
    }
    /// The first child that is an element, or nil.
    #[method("first_element_child")]
    fn first_element_child(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let t = tree(cx, doc)?;
        let id = walk(t, t.n(id).first, |n| n.next);
        wrap_or_nil(cx, doc, id)
    }
    /// The last child that is an element, or nil.
    #[method("last_element_child")]
    fn last_element_child(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let t = tree(cx, doc)?;
        let id = walk(t, t.n(id).last, |n| n.prev);
        wrap_or_nil(cx, doc, id)
    }
    /// The children, a NodeSet.
    #[method("children")]
    fn children(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let t = tree(cx, doc)?;
        if t.kind(id) == Kind::Attribute && t.n(id).first == NONE && !t.n(id).bare {
            // An attribute's value is a text below it, for whoever asks.
            let value = t.n(id).text.clone();
            let child = t.add(Kind::Text, NONE, value);
            (t.m(child).parent, t.m(id).first) = (id, child);
        }
        let ids: Vec<Id> = t.children(id).collect();
        set_of(cx, doc, &ids)
    }
    /// The children that are elements, a NodeSet.
    #[method("element_children")]
    fn element_children(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let t = tree(cx, doc)?;
        let ids: Vec<Id> = t.children(id).filter(|c| t.is_element(*c)).collect();
        set_of(cx, doc, &ids)
    }
    /// An XPath that leads to the node: "/a/b[2]".
    #[method("path")]
    fn path(cx: &mut Cx, this: Value) -> Result<String> {
        let (doc, id) = node(cx, this)?;
        let most = cx.heap.room() / 3;
        match tree(cx, doc)?.path(id, most) {
            Some(path) => Ok(path),
            None => too_large(cx),
        }
    }
    #[method("compare", private)]
    fn compare(cx: &mut Cx, this: Value, other: Value) -> Result<i64> {
        let ((doc, a), (_, b)) = (node(cx, this)?, node(cx, other)?);
        Ok(tree(cx, doc)?.compare(a, b) as i64)
    }

    // ---- content

    /// The text of the node and all that is in it.
    #[method("content")]
    fn content(cx: &mut Cx, this: Value) -> Result<String> {
        let (doc, id) = node(cx, this)?;
        Ok(tree(cx, doc)?.content(id))
    }
    /// Whether it is a text of blanks alone.
    #[method("blank?")]
    fn is_blank(cx: &mut Cx, this: Value) -> Result<bool> {
        let (doc, id) = node(cx, this)?;
        let n = tree(cx, doc)?.n(id);
        Ok(matches!(n.kind, Kind::Text | Kind::Cdata) && super::super::xml::is_blank(&n.text))
    }
    /// Sets a node's text as it stands. That of an element may have references.
    #[method("__content")]
    fn set_content(cx: &mut Cx, this: Value, content: Value) -> Result<()> {
        let (doc, id) = node(cx, this)?;
        let content = text(cx, content)?;
        let t = tree(cx, doc)?;
        match t.kind(id) {
            Kind::Text | Kind::Cdata | Kind::Comment | Kind::Pi | Kind::Attribute => {
                t.set_text(id, content.clone());
                let below = t.n(id).first;
                if below != NONE {
                    t.set_text(below, content);
                }
            }
            Kind::Element | Kind::Fragment => {
                loop {
                    let first = t.n(id).first;
                    if first == NONE {
                        break;
                    }
                    t.unlink(first);
                }
                content_nodes(t, id, &content);
            }
            _ => {}
        }
        account(cx, doc)
    }
    /// Text with references as an element's content: unknown entities become nodes.
    fn content_nodes(t: &mut Tree, id: Id, content: &str) {
        let mut rest = content;
        while let Some(at) = rest.find('&') {
            if at > 0 {
                t.append_text(id, &rest[..at], 0);
            }
            rest = &rest[at..];
            // A name ends somewhere: what is no reference is not looked through to its end each time.
            let Some(end) = rest.bytes().skip(1).position(|b| matches!(b, b';' | b'&')).map(|n| n + 1) else { break };
            if rest.as_bytes()[end] == b'&' {
                t.append_text(id, &rest[..end], 0);
                rest = &rest[end..];
                continue;
            }
            let name = &rest[1..end];
            let character = match name.strip_prefix('#') {
                Some(digits) => match digits.strip_prefix('x') {
                    Some(hex) => u32::from_str_radix(hex, 16),
                    None => digits.parse(),
                }
                .ok()
                .and_then(char::from_u32)
                .map(String::from),
                None => super::super::xml::predefined(name).map(str::to_owned),
            };
            match character {
                Some(text) => {
                    t.append_text(id, &text, 0);
                }
                None if name.starts_with(super::super::xml::is_name_start) && name.chars().all(super::super::xml::is_name_char) => {
                    let name = t.intern(name);
                    let n = t.add(Kind::EntityRef, name, String::new());
                    t.append(id, n);
                }
                None => {
                    t.append_text(id, "&", 0);
                    rest = &rest[1..];
                    continue;
                }
            }
            rest = &rest[end + 1..];
        }
        if !rest.is_empty() {
            t.append_text(id, rest, 0);
        }
    }
    /// Takes an attribute's value away: HTML's attributes may have none.
    #[method("__bare!")]
    fn make_bare(cx: &mut Cx, this: Value) -> Result<()> {
        let (doc, id) = node(cx, this)?;
        let t = tree(cx, doc)?;
        t.set_text(id, String::new());
        t.m(id).bare = true;
        Ok(())
    }
    /// The text with `&`, `<` and `>` as references.
    #[method("encode_special_chars")]
    fn encode_special_chars(_cx: &mut Cx, _this: Value, content: Value) -> Result<String> {
        let content = text(_cx, content)?;
        Ok(serialize::special(&content))
    }
    /// The language by `xml:lang` of the node or one around it, or nil.
    #[method("lang")]
    fn lang(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, mut id) = node(cx, this)?;
        let t = tree(cx, doc)?;
        let mut found = None;
        while id != NONE && found.is_none() {
            if t.is_element(id) {
                found = t.attr_ns(id, "lang", Some(super::super::tree::XML_HREF)).map(|a| t.n(a).text.clone());
            }
            id = t.n(id).parent;
        }
        Ok(str_or_nil(cx, found.as_deref()))
    }
    /// Sets `xml:lang`.
    #[method("lang=")]
    fn set_lang(cx: &mut Cx, this: Value, lang: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let value = text(cx, lang)?;
        let t = tree(cx, doc)?;
        if !t.is_element(id) {
            return Ok(Value::NIL);
        }
        match t.attr_ns(id, "lang", Some(super::super::tree::XML_HREF)) {
            Some(a) => t.set_text(a, value),
            None => {
                let ns = t.xml_ns();
                t.add_attr(id, ns, "lang", value);
            }
        }
        account(cx, doc)?;
        Ok(lang)
    }

    // ---- attributes

    #[method("get", private)]
    fn get(cx: &mut Cx, this: Value, name: Value) -> Result<Value> {
        if name.is_nil() {
            return Ok(Value::NIL);
        }
        let (doc, id) = node(cx, this)?;
        let name = text(cx, name)?;
        let t = tree(cx, doc)?;
        let value = find_attr(t, id, &name).map(|a| t.n(a).text.clone());
        Ok(str_or_nil(cx, value.as_deref()))
    }
    #[method("set", private)]
    fn set(cx: &mut Cx, this: Value, name: Value, value: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let (n, v) = (text(cx, name)?, text(cx, value)?);
        let t = tree(cx, doc)?;
        if !t.is_element(id) {
            return Ok(Value::NIL);
        }
        let found = match n.split_once(':') {
            Some((p, l)) if !p.is_empty() => match t.search_ns(id, Some(p)) {
                Some(ns) => {
                    let href = t.nss[ns as usize].href.to_string();
                    t.attr_ns(id, l, Some(&href)).ok_or((ns, l.to_owned()))
                }
                None => t.attr_ns(id, &n, None).ok_or((NONE, n.clone())),
            },
            _ => t.attr_ns(id, &n, None).ok_or((NONE, n.clone())),
        };
        match found {
            Ok(a) => {
                t.set_text(a, v.clone());
                let below = t.n(a).first;
                if below != NONE {
                    t.set_text(below, v);
                }
            }
            Err((ns, local)) => {
                t.add_attr(id, ns, &local, v);
            }
        }
        account(cx, doc)?;
        Ok(value)
    }
    /// Whether there is an attribute of this name.
    #[method("key?")]
    fn has_key(cx: &mut Cx, this: Value, name: Value) -> Result<bool> {
        let (doc, id) = node(cx, this)?;
        let name = text(cx, name)?;
        let t = tree(cx, doc)?;
        Ok(has_attributes(t, id) && t.attr(id, &name).is_some())
    }
    /// Whether there is an attribute of this name in a namespace.
    #[method("namespaced_key?")]
    fn has_namespaced_key(cx: &mut Cx, this: Value, name: Value, href: Value) -> Result<bool> {
        let (doc, id) = node(cx, this)?;
        let (name, href) = (text(cx, name)?, text_or_none(cx, href)?);
        let t = tree(cx, doc)?;
        Ok(has_attributes(t, id) && t.attr_ns(id, &name, href.as_deref()).is_some())
    }
    /// The attribute of this name, an Attr, or nil.
    #[method("attribute")]
    fn attribute(cx: &mut Cx, this: Value, name: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let name = text(cx, name)?;
        let t = tree(cx, doc)?;
        let a = if has_attributes(t, id) { t.attr(id, &name).unwrap_or(NONE) } else { NONE };
        wrap_or_nil(cx, doc, a)
    }
    /// The attribute of this name in a namespace, an Attr, or nil.
    #[method("attribute_with_ns")]
    fn attribute_with_ns(cx: &mut Cx, this: Value, name: Value, href: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let (name, href) = (text(cx, name)?, text_or_none(cx, href)?);
        let t = tree(cx, doc)?;
        let a = if has_attributes(t, id) { t.attr_ns(id, &name, href.as_deref()).unwrap_or(NONE) } else { NONE };
        wrap_or_nil(cx, doc, a)
    }
    /// An Array of the attributes.
    #[method("attribute_nodes")]
    fn attribute_nodes(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let t = tree(cx, doc)?;
        let ids: Vec<Id> = t.attrs(id).collect();
        let mut all = RootedVec::with_capacity(cx, ids.len());
        for a in ids {
            let v = wrap(cx, doc, a)?;
            all.push(v);
        }
        Ok(cx.array(&all))
    }

    // ---- namespaces

    /// The namespace of the node, or nil.
    #[method("namespace")]
    fn namespace_of(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let ns = tree(cx, doc)?.n(id).ns;
        wrap_ns(cx, doc, ns)
    }
    #[method("set_namespace", private)]
    fn set_namespace(cx: &mut Cx, this: Value, ns: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let ns = if ns.is_nil() { NONE } else { cx.data_ref::<NsRef>(ns)?.id };
        tree(cx, doc)?.m(id).ns = ns;
        Ok(this)
    }
    /// The namespaces that the element declares.
    #[method("namespace_definitions")]
    fn namespace_definitions(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let defs = tree(cx, doc)?.n(id).defs.clone();
        namespaces(cx, doc, &defs)
    }
    /// The namespaces that are in force here.
    #[method("namespace_scopes")]
    fn namespace_scopes(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let scopes = tree(cx, doc)?.scopes(id);
        namespaces(cx, doc, &scopes)
    }
    fn namespaces(cx: &mut Cx, doc: Value, list: &[u32]) -> Result<Value> {
        let mut all = RootedVec::with_capacity(cx, list.len());
        for ns in list {
            let v = wrap_ns(cx, doc, *ns)?;
            all.push(v);
        }
        Ok(cx.array(&all))
    }
    /// Declares a namespace, nil as prefix for the default one, and answers it.
    #[method("add_namespace_definition")]
    fn add_namespace_definition(cx: &mut Cx, this: Value, prefix: Value, href: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let (prefix, href) = (text_or_none(cx, prefix)?, text_or_none(cx, href)?);
        let t = tree(cx, doc)?;
        let mut element = id;
        let ns = match t.search_ns(id, prefix.as_deref()) {
            Some(ns) => ns,
            None => {
                if !t.is_element(id) {
                    element = t.n(id).parent;
                }
                if element == NONE {
                    return Ok(Value::NIL);
                }
                let ns = t.new_ns(prefix.as_deref(), href.as_deref().unwrap_or(""));
                t.m(element).defs.push(ns);
                ns
            }
        };
        if prefix.is_none() || element != id {
            t.m(id).ns = ns;
        }
        account(cx, doc)?;
        wrap_ns(cx, doc, ns)
    }

    // ---- document types

    /// The document type in the document, a DTD, or nil.
    #[method("internal_subset")]
    fn internal_subset(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, _) = node(cx, this)?;
        let id = tree(cx, doc)?.internal_subset().unwrap_or(NONE);
        wrap_or_nil(cx, doc, id)
    }
    /// The document type in a file, a DTD, or nil.
    #[method("external_subset")]
    fn external_subset(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, _) = node(cx, this)?;
        let id = tree(cx, doc)?.external_subset;
        wrap_or_nil(cx, doc, id)
    }
    /// Gives the document a document type; RuntimeError if it has one.
    #[method("create_internal_subset")]
    fn create_internal_subset(cx: &mut Cx, this: Value, name: Value, external: Value, system: Value) -> Result<Value> {
        let (doc, _) = node(cx, this)?;
        if tree(cx, doc)?.internal_subset().is_some() {
            return cx.raise(ids::RUNTIME_ERROR, "Document already has an internal subset");
        }
        let id = subset(cx, doc, name, external, system)?;
        let t = tree(cx, doc)?;
        match t.n(DOCUMENT).first {
            NONE => t.append(DOCUMENT, id),
            first => t.insert_before(first, id),
        }
        wrap(cx, doc, id)
    }
    /// Gives the document an external document type; RuntimeError if it has one.
    #[method("create_external_subset")]
    fn create_external_subset(cx: &mut Cx, this: Value, name: Value, external: Value, system: Value) -> Result<Value> {
        let (doc, _) = node(cx, this)?;
        if tree(cx, doc)?.external_subset != NONE {
            return cx.raise(ids::RUNTIME_ERROR, "Document already has an external subset");
        }
        let id = subset(cx, doc, name, external, system)?;
        tree(cx, doc)?.external_subset = id;
        wrap(cx, doc, id)
    }
    fn subset(cx: &mut Cx, doc: Value, name: Value, external: Value, system: Value) -> Result<Id> {
        let (name, external, system) = (text_or_none(cx, name)?, text_or_none(cx, external)?, text_or_none(cx, system)?);
        let t = tree(cx, doc)?;
        let name = name.map_or(NONE, |n| t.intern(&n));
        let id = t.add(Kind::Dtd, name, String::new());
        t.decls.insert(id, Decl { external, system, ..Decl::default() });
        Ok(id)
    }
    /// What a declaration says: [external, system, content, original, kind, element, values, default].
    #[method("__declaration")]
    fn declaration(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, id) = node(cx, this)?;
        let d = tree(cx, doc)?.decls.get(&id).cloned().unwrap_or_default();
        let values = cx.str_array(&d.values);
        let row = [
            str_or_nil(cx, d.external.as_deref()),
            str_or_nil(cx, d.system.as_deref()),
            str_or_nil(cx, d.content.as_deref()),
            str_or_nil(cx, d.original.as_deref()),
            Value::fixnum(d.kind),
            cx.str(&d.element),
            values,
            Value::fixnum(d.default as i64),
        ];
        Ok(cx.array(&row))
    }
    /// Declares an entity in the internal subset.
    #[method("__entity")]
    fn entity(cx: &mut Cx, this: Value, name: Value, kind: i64, external: Value, system: Value, content: Value) -> Result<Value> {
        let (doc, _) = node(cx, this)?;
        let name = text(cx, name)?;
        let e = dtd::Entity {
            external: text_or_none(cx, external)?,
            system: text_or_none(cx, system)?,
            content: text_or_none(cx, content)?,
            original: None,
        };
        let t = tree(cx, doc)?;
        let Some(at) = t.internal_subset() else { return Ok(Value::NIL) };
        if t.entity(&name).is_some() {
            return Ok(Value::NIL);
        }
        let shown = dtd::entity_text(&name, &e, kind, None);
        let name = t.intern(&name);
        let id = t.add(Kind::EntityDecl, name, shown);
        t.decls.insert(id, Decl { external: e.external, system: e.system, content: e.content, kind, ..Decl::default() });
        t.append(at, id);
        account(cx, doc)?;
        wrap(cx, doc, id)
    }
    /// [name, public, system] of notations.
    #[method("__notations")]
    fn notations(cx: &mut Cx, this: Value) -> Result<Value> {
        let (doc, _) = node(cx, this)?;
        let list = tree(cx, doc)?.notations.clone();
        let mut all = RootedVec::with_capacity(cx, list.len());
        for (name, public, system) in list {
            let row = [cx.str(&name), str_or_nil(cx, public.as_deref()), str_or_nil(cx, system.as_deref())];
            let row = cx.array(&row);
            all.push(row);
        }
        Ok(cx.array(&all))
    }

    // ---- text

    #[method("__serialize")]
    fn serialize(cx: &mut Cx, this: Value, encoding: Value, indent: Value, options: i64) -> Result<String> {
        let (doc, id) = node(cx, this)?;
        let (encoding, indent) = (text_or_none(cx, encoding)?, text(cx, indent)?);
        let html =
            options & serialize::AS_HTML != 0 || tree(cx, doc)?.is_html() && options & (serialize::AS_XML | serialize::AS_XHTML) == 0;
        if let Some(e) = encoding.as_ref().filter(|_| html && id == DOCUMENT) {
            meta_encoding(tree(cx, doc)?, e);
        }
        let most = cx.heap.room() / 3;
        let t = tree(cx, doc)?;
        let mut w = serialize::Writer::new(t, options, &indent, encoding.as_deref(), most);
        w.node(id);
        if w.is_full() { too_large(cx) } else { Ok(w.out) }
    }
    /// The head says the encoding that a document is written in, as libxml2 sees to it.
    fn meta_encoding(t: &mut Tree, encoding: &str) {
        let Some(html) = t.children(DOCUMENT).find(|c| t.is_element(*c) && t.name(*c) == "html") else { return };
        let Some(head) = t.children(html).find(|c| t.is_element(*c) && t.name(*c) == "head") else { return };
        let said = format!("text/html; charset={encoding}");
        let meta = t.children(head).find(|c| {
            t.name(*c) == "meta"
                && t.attr(*c, "content").is_some()
                && t.attr(*c, "http-equiv").is_some_and(|a| t.n(a).text.eq_ignore_ascii_case("content-type"))
        });
        match meta {
            Some(m) => {
                if let Some(a) = t.attr(m, "content")
                    && !t.n(a).text.to_ascii_lowercase().contains(&encoding.to_ascii_lowercase())
                {
                    t.set_text(a, said);
                }
            }
            None => {
                let name = t.intern("meta");
                let m = t.add(Kind::Element, name, String::new());
                t.add_attr(m, NONE, "http-equiv", "Content-Type".into());
                t.add_attr(m, NONE, "content", said);
                match t.n(head).first {
                    NONE => t.append(head, m),
                    first => t.insert_before(first, m),
                }
            }
        }
    }
    #[method("html_standard_serialize", private)]
    fn html_standard_serialize(cx: &mut Cx, this: Value, preserve: Value) -> Result<String> {
        let (doc, id) = node(cx, this)?;
        let most = cx.heap.room() / 3;
        match serialize::standard(tree(cx, doc)?, id, preserve.truthy(), most) {
            Some(text) => Ok(text),
            None => too_large(cx),
        }
    }
    #[method("prepend_newline?", private)]
    fn prepends_newline(cx: &mut Cx, this: Value) -> Result<bool> {
        let (doc, id) = node(cx, this)?;
        Ok(serialize::prepends_newline(tree(cx, doc)?, id))
    }
}
pub(super) use native::METHODS;

/// Nokogiri::XML::Namespace
pub mod namespace {
    use super::*;

    /// Methods of `Nokogiri::XML::Namespace`.
    #[ruby_class(ids::OBJECT)]
    mod prefixes {
        use super::*;

        /// The prefix, or nil.
        #[method("prefix")]
        fn prefix(cx: &mut Cx, this: Value) -> Result<Value> {
            let n = cx.data_ref::<NsRef>(this)?;
            let (doc, id) = (n.doc, n.id);
            let p = tree(cx, doc)?.nss.get(id as usize).and_then(|n| n.prefix.clone());
            Ok(str_or_nil(cx, p.as_deref()))
        }
        /// The address of the namespace.
        #[method("href")]
        fn href(cx: &mut Cx, this: Value) -> Result<Value> {
            let n = cx.data_ref::<NsRef>(this)?;
            let (doc, id) = (n.doc, n.id);
            let h = tree(cx, doc)?.nss.get(id as usize).map(|n| n.href.clone());
            Ok(str_or_nil(cx, h.as_deref()))
        }
    }
    pub(crate) use prefixes::METHODS;
}
