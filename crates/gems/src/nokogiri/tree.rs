//! The tree of one document: nodes in an arena, names interned, attributes as nodes of their own in a list beside the children. Pure data: nothing of the VM is in here.
//!
//! Nodes are never freed one by one: a Ruby object may stand for any of them, and the document goes as a whole. Walks go along the links and never recurse: depth is the program's to choose.

use std::collections::{HashMap, HashSet};

/// The number of a node in its document; 0 is the document itself.
pub type Id = u32;
/// No node, no namespace.
pub const NONE: u32 = u32::MAX;
pub const DOCUMENT: Id = 0;
pub const XML_HREF: &str = "http://www.w3.org/XML/1998/namespace";

/// Kinds by the numbers that Ruby sees (`Nokogiri::XML::Node::ELEMENT_NODE`, ...).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    Element = 1,
    Attribute = 2,
    Text = 3,
    Cdata = 4,
    EntityRef = 5,
    Pi = 7,
    Comment = 8,
    Document = 9,
    Fragment = 11,
    HtmlDocument = 13,
    Dtd = 14,
    ElementDecl = 15,
    AttributeDecl = 16,
    EntityDecl = 17,
}

#[derive(Clone)]
pub struct Node {
    pub kind: Kind,
    /// An attribute of HTML without a value.
    pub bare: bool,
    /// Interned local name, `NONE` for kinds without a name.
    pub name: u32,
    pub ns: u32,
    pub parent: Id,
    pub first: Id,
    pub last: Id,
    pub prev: Id,
    pub next: Id,
    /// The first attribute; attributes are linked by `prev` and `next`.
    pub attr: Id,
    /// From 1; 0: unknown.
    pub line: u32,
    /// Of texts, comments, attributes' values.
    pub text: String,
    /// Namespaces that an element declares.
    pub defs: Vec<u32>,
}

#[derive(Clone)]
pub struct Ns {
    pub prefix: Option<Box<str>>,
    pub href: Box<str>,
}

/// What declarations have beside a name. Fields by kind of declaration.
#[derive(Clone, Default)]
pub struct Decl {
    /// DTD and entities: PUBLIC identifier.
    pub external: Option<String>,
    /// DTD and entities: SYSTEM identifier.
    pub system: Option<String>,
    /// Entities: replacement text; attributes: default.
    pub content: Option<String>,
    /// Entities: text as written.
    pub original: Option<String>,
    /// libxml2's number of the type of the entity, attribute or element.
    pub kind: i64,
    /// Attributes: the element's name. Notations keep theirs in `notations`.
    pub element: String,
    /// Attributes: enumerated values. Elements: the content model as written.
    pub values: Vec<String>,
    /// Attributes: #REQUIRED and the like; 1 none, 2 required, 3 implied, 4 fixed.
    pub default: u8,
}

/// What references to entities in a text may come to, beside five times the document: the figures of the parser's bound.
pub const ENTITY_BYTES: usize = 10_000_000;

/// Texts of references, looked up once for a whole content.
struct Entities<'t> {
    tree: &'t Tree,
    by_name: Option<HashMap<u32, &'t str>>,
    left: usize,
    looked: usize,
}
impl<'t> Entities<'t> {
    fn text(&mut self, id: Id) -> &'t str {
        if let Some(text) = super::xml::predefined(self.tree.name(id)) {
            return text;
        }
        let tree = self.tree;
        let by_name = self.by_name.get_or_insert_with(|| {
            let subsets = [tree.internal_subset(), Some(tree.external_subset).filter(|e| *e != NONE)];
            let mut found = HashMap::new();
            for e in subsets.into_iter().flatten().flat_map(|d| tree.children(d)) {
                self.looked += 1;
                if let Some(d) = tree.decls.get(&e).filter(|d| tree.kind(e) == Kind::EntityDecl && !matches!(d.kind, 4 | 5)) {
                    found.entry(tree.n(e).name).or_insert(d.content.as_deref().unwrap_or(""));
                }
            }
            found
        });
        let text = by_name.get(&tree.n(id).name).copied().unwrap_or("");
        match self.left.checked_sub(text.len()) {
            Some(left) => {
                self.left = left;
                text
            }
            None => "",
        }
    }
}

/// The tree of one document.
#[derive(Clone)]
pub struct Tree {
    pub nodes: Vec<Node>,
    pub nss: Vec<Ns>,
    names: Vec<Box<str>>,
    by_name: HashMap<Box<str>, u32>,
    pub decls: HashMap<Id, Decl>,
    /// (name, public, system)
    pub notations: Vec<(String, Option<String>, Option<String>)>,
    pub version: Option<String>,
    pub encoding: Option<String>,
    /// -1: not said.
    pub standalone: i8,
    pub url: Option<String>,
    pub external_subset: Id,
    /// Bytes of texts and names, about.
    text_bytes: usize,
    /// Places of all nodes in document order, by node; empty: not known.
    order: Vec<u32>,
    /// The declaration of the prefix `xml`, if there is one.
    xml: u32,
}

impl Tree {
    pub fn new(kind: Kind) -> Tree {
        let mut t = Tree {
            nodes: Vec::new(),
            nss: Vec::new(),
            names: Vec::new(),
            by_name: HashMap::new(),
            decls: HashMap::new(),
            notations: Vec::new(),
            version: None,
            encoding: None,
            standalone: -1,
            url: None,
            external_subset: NONE,
            text_bytes: 0,
            order: Vec::new(),
            xml: NONE,
        };
        t.add(kind, NONE, String::new());
        t
    }
    /// Memory that the tree takes, about.
    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.text_bytes
            + (self.nss.len() + self.names.len()) * 96
            + self.order.capacity() * size_of::<u32>()
    }
    pub fn is_html(&self) -> bool {
        self.nodes[0].kind == Kind::HtmlDocument
    }
    pub fn add(&mut self, kind: Kind, name: u32, text: String) -> Id {
        let id = self.nodes.len() as Id;
        self.text_bytes += text.len();
        self.nodes.push(Node {
            kind,
            bare: false,
            name,
            ns: NONE,
            parent: NONE,
            first: NONE,
            last: NONE,
            prev: NONE,
            next: NONE,
            attr: NONE,
            line: 0,
            text,
            defs: Vec::new(),
        });
        id
    }
    pub fn n(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }
    pub fn m(&mut self, id: Id) -> &mut Node {
        &mut self.nodes[id as usize]
    }
    pub fn kind(&self, id: Id) -> Kind {
        self.nodes[id as usize].kind
    }
    pub fn is_element(&self, id: Id) -> bool {
        self.kind(id) == Kind::Element
    }
    pub fn intern(&mut self, name: &str) -> u32 {
        if let Some(n) = self.by_name.get(name) {
            return *n;
        }
        let n = self.names.len() as u32;
        self.text_bytes += 2 * name.len();
        self.names.push(name.into());
        self.by_name.insert(name.into(), n);
        n
    }
    /// The number of a name, if any node has had it.
    pub fn interned(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }
    pub fn name(&self, id: Id) -> &str {
        self.names.get(self.n(id).name as usize).map_or("", |n| n)
    }
    pub fn href(&self, id: Id) -> Option<&str> {
        self.nss.get(self.n(id).ns as usize).map(|n| &*n.href)
    }
    pub fn prefix(&self, id: Id) -> Option<&str> {
        self.nss.get(self.n(id).ns as usize).and_then(|n| n.prefix.as_deref())
    }
    /// `prefix:name`
    pub fn qname(&self, id: Id) -> String {
        match self.prefix(id) {
            Some(p) if !p.is_empty() => format!("{p}:{}", self.name(id)),
            _ => self.name(id).to_owned(),
        }
    }
    pub fn set_text(&mut self, id: Id, text: String) {
        self.text_bytes += text.len();
        self.m(id).bare = false;
        let old = std::mem::replace(&mut self.m(id).text, text);
        self.text_bytes = self.text_bytes.saturating_sub(old.len());
    }
    pub fn push_text(&mut self, id: Id, text: &str) {
        self.text_bytes += text.len();
        self.m(id).text.push_str(text);
    }
    pub fn new_ns(&mut self, prefix: Option<&str>, href: &str) -> u32 {
        self.text_bytes += href.len();
        self.nss.push(Ns { prefix: prefix.map(Into::into), href: href.into() });
        (self.nss.len() - 1) as u32
    }

    // ---- links

    pub fn unlink(&mut self, id: Id) {
        self.order.clear();
        let (parent, prev, next, kind) = {
            let n = self.n(id);
            (n.parent, n.prev, n.next, n.kind)
        };
        if prev != NONE {
            self.m(prev).next = next;
        }
        if next != NONE {
            self.m(next).prev = prev;
        }
        if parent != NONE {
            if kind == Kind::Attribute {
                let first = self.n(parent).attr;
                if first == id {
                    self.m(parent).attr = next;
                    if next != NONE {
                        self.m(next).last = self.n(id).last;
                    }
                } else if next == NONE {
                    self.m(first).last = prev;
                }
                self.m(id).last = NONE;
            } else {
                if self.n(parent).first == id {
                    self.m(parent).first = next;
                }
                if self.n(parent).last == id {
                    self.m(parent).last = prev;
                }
            }
        }
        let n = self.m(id);
        (n.parent, n.prev, n.next) = (NONE, NONE, NONE);
    }
    /// Appends an unlinked node.
    pub fn append(&mut self, parent: Id, id: Id) {
        self.order.clear();
        let last = self.n(parent).last;
        let n = self.m(id);
        (n.parent, n.prev, n.next) = (parent, last, NONE);
        match last {
            NONE => self.m(parent).first = id,
            last => self.m(last).next = id,
        }
        self.m(parent).last = id;
    }
    /// Puts an unlinked node before another.
    pub fn insert_before(&mut self, pivot: Id, id: Id) {
        self.order.clear();
        let (parent, prev) = (self.n(pivot).parent, self.n(pivot).prev);
        let n = self.m(id);
        (n.parent, n.prev, n.next) = (parent, prev, pivot);
        self.m(pivot).prev = id;
        match prev {
            NONE if parent != NONE => self.m(parent).first = id,
            NONE => {}
            prev => self.m(prev).next = id,
        }
    }
    pub fn insert_after(&mut self, pivot: Id, id: Id) {
        self.order.clear();
        let (parent, next) = (self.n(pivot).parent, self.n(pivot).next);
        let n = self.m(id);
        (n.parent, n.prev, n.next) = (parent, pivot, next);
        self.m(pivot).next = id;
        match next {
            NONE if parent != NONE => self.m(parent).last = id,
            NONE => {}
            next => self.m(next).prev = id,
        }
    }
    /// Appends text, to the last child if that is text.
    pub fn append_text(&mut self, parent: Id, text: &str, line: u32) -> Id {
        let last = self.n(parent).last;
        if last != NONE && self.kind(last) == Kind::Text {
            self.push_text(last, text);
            return last;
        }
        let id = self.add(Kind::Text, NONE, text.to_owned());
        self.m(id).line = line;
        self.append(parent, id);
        id
    }
    pub fn children(&self, id: Id) -> Children<'_> {
        Children { tree: self, at: self.n(id).first }
    }
    pub fn attrs(&self, id: Id) -> Children<'_> {
        Children { tree: self, at: self.n(id).attr }
    }
    pub fn add_attr(&mut self, element: Id, ns: u32, name: &str, value: String) -> Id {
        let name = self.intern(name);
        let id = self.add(Kind::Attribute, name, value);
        self.m(id).ns = ns;
        self.link_attr(element, id);
        id
    }
    pub fn link_attr(&mut self, element: Id, id: Id) {
        self.order.clear();
        // The first attribute keeps the number of the last one.
        let first = self.n(element).attr;
        let last = if first == NONE { NONE } else { self.n(first).last };
        let n = self.m(id);
        (n.parent, n.prev, n.next) = (element, last, NONE);
        match last {
            NONE => {
                self.m(element).attr = id;
                self.m(id).last = id;
            }
            last => {
                self.m(last).next = id;
                self.m(first).last = id;
            }
        }
    }
    /// The attribute with a local name and any namespace.
    pub fn attr(&self, id: Id, name: &str) -> Option<Id> {
        let name = self.interned(name)?;
        self.attrs(id).find(|a| self.n(*a).name == name)
    }
    pub fn attr_ns(&self, id: Id, name: &str, href: Option<&str>) -> Option<Id> {
        let name = self.interned(name)?;
        self.attrs(id).find(|a| self.n(*a).name == name && self.href(*a) == href)
    }
    /// The next node in document order within `top`, children first.
    pub fn following(&self, top: Id, id: Id) -> Option<Id> {
        let n = self.n(id);
        if n.first != NONE && n.kind != Kind::Attribute {
            return Some(n.first);
        }
        self.after(top, id)
    }
    /// The next node in document order that is not below `id`, within `top`.
    pub fn after(&self, top: Id, mut id: Id) -> Option<Id> {
        loop {
            if id == top || id == NONE {
                return None;
            }
            let n = self.n(id);
            if n.next != NONE {
                return Some(n.next);
            }
            id = n.parent;
        }
    }
    pub fn descendants(&self, top: Id) -> Descendants<'_> {
        Descendants { tree: self, top, at: self.following(top, top) }
    }
    pub fn root(&self) -> Option<Id> {
        self.children(DOCUMENT).find(|c| self.is_element(*c))
    }
    pub fn internal_subset(&self) -> Option<Id> {
        self.children(DOCUMENT).find(|c| self.kind(*c) == Kind::Dtd)
    }
    /// Whether `above` is `id` or an ancestor of it.
    pub fn is_within(&self, above: Id, mut id: Id) -> bool {
        while id != NONE {
            if id == above {
                return true;
            }
            id = self.n(id).parent;
        }
        false
    }

    // ---- content

    /// Text of a node as XPath and `Node#content` see it.
    pub fn content(&self, id: Id) -> String {
        self.counted_content(id).0
    }
    /// The text, and how many nodes were looked at.
    pub fn counted_content(&self, id: Id) -> (String, usize) {
        let n = self.n(id);
        let mut entities = Entities { tree: self, by_name: None, left: ENTITY_BYTES + self.text_bytes.saturating_mul(5), looked: 1 };
        let text = match n.kind {
            Kind::Text | Kind::Cdata | Kind::Comment | Kind::Pi | Kind::Attribute => n.text.clone(),
            Kind::EntityRef => entities.text(id).to_owned(),
            Kind::EntityDecl => self.decls.get(&id).and_then(|d| d.content.clone()).unwrap_or_default(),
            _ => {
                let mut out = String::new();
                let mut at = self.following(id, id);
                while let Some(d) = at {
                    entities.looked += 1;
                    match self.kind(d) {
                        Kind::Text | Kind::Cdata => out.push_str(&self.n(d).text),
                        Kind::EntityRef => out.push_str(entities.text(d)),
                        Kind::Dtd => {
                            at = self.after(id, d);
                            continue;
                        }
                        _ => {}
                    }
                    at = self.following(id, d);
                }
                out
            }
        };
        (text, entities.looked)
    }
    /// The declaration of a general entity.
    pub fn entity(&self, name: &str) -> Option<Id> {
        let name = self.interned(name)?;
        let find = |dtd: Id| {
            self.children(dtd).find(|c| {
                self.kind(*c) == Kind::EntityDecl && self.n(*c).name == name && !matches!(self.decls.get(c).map(|d| d.kind), Some(4 | 5))
            })
        };
        self.internal_subset().and_then(find).or_else(|| if self.external_subset == NONE { None } else { find(self.external_subset) })
    }

    // ---- namespaces

    /// The declaration of a prefix (None: the default) that is in scope.
    pub fn search_ns(&mut self, id: Id, prefix: Option<&str>) -> Option<u32> {
        if prefix == Some("xml") {
            return Some(self.xml_ns());
        }
        self.find_ns(id, prefix)
    }
    /// As `search_ns`, without the prefix `xml`.
    pub fn find_ns(&self, mut id: Id, prefix: Option<&str>) -> Option<u32> {
        while id != NONE {
            let n = self.n(id);
            if n.kind == Kind::Element {
                if let Some(d) = n.defs.iter().find(|d| self.nss[**d as usize].prefix.as_deref() == prefix) {
                    return Some(*d);
                }
                if let Some(own) = self.nss.get(n.ns as usize)
                    && own.prefix.as_deref() == prefix
                {
                    return Some(n.ns);
                }
            }
            id = n.parent;
        }
        None
    }
    pub fn xml_ns(&mut self) -> u32 {
        if self.xml == NONE {
            let known = self.nss.iter().position(|n| n.prefix.as_deref() == Some("xml") && &*n.href == XML_HREF);
            self.xml = known.map_or_else(|| self.new_ns(Some("xml"), XML_HREF), |at| at as u32);
        }
        self.xml
    }
    /// Declarations in scope, nearest first, each prefix once.
    pub fn scopes(&self, mut id: Id) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        let mut prefixes = HashSet::new();
        while id != NONE {
            let n = self.n(id);
            if n.kind == Kind::Element {
                for d in &n.defs {
                    if prefixes.insert(self.nss[*d as usize].prefix.as_deref()) {
                        found.push(*d);
                    }
                }
            }
            id = n.parent;
        }
        found
    }

    // ---- copies

    /// Copies a node of another tree into this one; deep or with attributes alone. `map` is told of each pair (old, new). Unlinked.
    pub fn copy_from(&mut self, from: &Tree, id: Id, deep: bool, mut map: impl FnMut(Id, Id)) -> Id {
        let mut nss: HashMap<u32, u32> = HashMap::new();
        let top = self.copy_one(from, id, &mut nss, &mut map);
        if !deep {
            return top;
        }
        let (mut old, mut new) = (id, top);
        loop {
            let first = from.n(old).first;
            let mut down = first != NONE && from.kind(old) != Kind::Attribute;
            let mut next = first;
            if !down {
                loop {
                    if old == id {
                        break;
                    }
                    if from.n(old).next != NONE {
                        next = from.n(old).next;
                        break;
                    }
                    old = from.n(old).parent;
                    new = self.n(new).parent;
                }
                if old == id {
                    break;
                }
            }
            let copy = self.copy_one(from, next, &mut nss, &mut map);
            if std::mem::take(&mut down) {
                self.append(new, copy);
            } else {
                let parent = self.n(new).parent;
                self.append(parent, copy);
            }
            (old, new) = (next, copy);
        }
        // Namespaces that are declared above of what was copied are declared on the copy itself.
        let missing: Vec<u32> = {
            let mut declared: HashSet<u32> = HashSet::new();
            let mut known: HashSet<u32> = HashSet::new();
            let mut used: Vec<u32> = Vec::new();
            let mut at = Some(top);
            while let Some(n) = at {
                declared.extend(&self.n(n).defs);
                for x in std::iter::once(n).chain(self.attrs(n)) {
                    let ns = self.n(x).ns;
                    if ns != NONE && known.insert(ns) {
                        used.push(ns);
                    }
                }
                at = self.following(top, n);
            }
            used.retain(|u| !declared.contains(u) && self.nss[*u as usize].prefix.as_deref() != Some("xml"));
            used
        };
        if self.is_element(top) {
            self.m(top).defs.extend(missing);
        }
        top
    }
    fn copy_one(&mut self, from: &Tree, id: Id, nss: &mut HashMap<u32, u32>, map: &mut impl FnMut(Id, Id)) -> Id {
        let copy = self.copy_bare(from, id, nss);
        map(id, copy);
        for a in from.attrs(id) {
            let c = self.copy_bare(from, a, nss);
            map(a, c);
            self.link_attr(copy, c);
        }
        copy
    }
    fn copy_bare(&mut self, from: &Tree, id: Id, nss: &mut HashMap<u32, u32>) -> Id {
        let o = from.n(id);
        let name = if o.name == NONE { NONE } else { self.intern(from.name(id)) };
        let copy = self.add(o.kind, name, o.text.clone());
        let mut ns_of = |t: &mut Tree, ns: u32| match from.nss.get(ns as usize) {
            None => NONE,
            Some(n) => *nss.entry(ns).or_insert_with(|| t.new_ns(n.prefix.as_deref(), &n.href)),
        };
        let defs = o.defs.iter().map(|d| ns_of(self, *d)).collect();
        let ns = ns_of(self, o.ns);
        let n = self.m(copy);
        (n.ns, n.defs, n.line, n.bare) = (ns, defs, o.line, o.bare);
        if let Some(d) = from.decls.get(&id) {
            self.decls.insert(copy, d.clone());
        }
        copy
    }

    // ---- order

    /// Compares two nodes by their places in the document.
    pub fn compare(&self, a: Id, b: Id) -> std::cmp::Ordering {
        use std::cmp::Ordering::*;
        if a == b {
            return Equal;
        }
        let (pa, pb) = (self.ancestry(a), self.ancestry(b));
        let shared = pa.iter().zip(&pb).take_while(|(x, y)| x == y).count();
        match (pa.get(shared), pb.get(shared)) {
            (None, _) => Less,
            (_, None) => Greater,
            (Some(x), Some(y)) => {
                if shared == 0 {
                    return x.cmp(y);
                }
                // Attributes come before children.
                let (ax, ay) = (self.kind(*x) == Kind::Attribute, self.kind(*y) == Kind::Attribute);
                if ax != ay {
                    return if ax { Less } else { Greater };
                }
                let mut at = self.n(*x).next;
                while at != NONE {
                    if at == *y {
                        return Less;
                    }
                    at = self.n(at).next;
                }
                Greater
            }
        }
    }
    fn ancestry(&self, mut id: Id) -> Vec<Id> {
        let mut path = Vec::new();
        while id != NONE {
            path.push(id);
            id = self.n(id).parent;
        }
        path.reverse();
        path
    }
    /// Finds the places of all nodes in document order, which are known until a node moves. What is not below the document has places after it, a tree behind the other.
    pub fn put_in_order(&mut self) {
        if !self.order.is_empty() {
            return;
        }
        let mut order = std::mem::take(&mut self.order);
        order.resize(self.nodes.len(), NONE);
        let mut count = 0;
        for root in (0..self.nodes.len() as Id).filter(|id| self.n(*id).parent == NONE) {
            let mut at = Some(root);
            while let Some(id) = at {
                for n in std::iter::once(id).chain(self.attrs(id)) {
                    order[n as usize] = count;
                    count += 1;
                }
                at = self.following(root, id);
            }
        }
        self.order = order;
    }
    /// The place of a node in document order; `NONE` where that is not known.
    pub fn place(&self, id: Id) -> u32 {
        self.order.get(id as usize).copied().unwrap_or(NONE)
    }
    /// What a node stands below at last.
    pub fn top_of(&self, mut id: Id) -> Id {
        while self.n(id).parent != NONE {
            id = self.n(id).parent;
        }
        id
    }
    /// The last node below a node, or the node itself.
    pub fn end_of(&self, mut id: Id) -> Id {
        while self.n(id).last != NONE && self.kind(id) != Kind::Attribute {
            id = self.n(id).last;
        }
        id
    }
    /// An XPath that leads to the node. None: one of more than `most` bytes.
    pub fn path(&self, id: Id, most: usize) -> Option<String> {
        if self.kind(id) == Kind::Fragment {
            return Some("?".into());
        }
        let mut bytes = 0usize;
        let mut parts: Vec<String> = Vec::new();
        let mut at = id;
        while at != NONE {
            let n = self.n(at);
            let part = match n.kind {
                Kind::Document | Kind::HtmlDocument => break,
                Kind::Element => match self.prefix(at) {
                    Some(_) => self.qname(at),
                    // A name in a default namespace has no name in XPath.
                    None if n.ns != NONE => "*".into(),
                    None => self.name(at).to_owned(),
                },
                Kind::Attribute => format!("@{}", self.qname(at)),
                Kind::Text | Kind::Cdata => "text()".into(),
                Kind::Comment => "comment()".into(),
                Kind::Pi => format!("processing-instruction('{}')", self.name(at)),
                _ => "?".into(),
            };
            let same = |o: Id| {
                let m = self.n(o);
                match n.kind {
                    Kind::Element if part == "*" => m.kind == Kind::Element,
                    Kind::Element => {
                        m.kind == Kind::Element && m.name == n.name && self.prefix(o) == self.prefix(at) && (m.ns == NONE) == (n.ns == NONE)
                    }
                    Kind::Text | Kind::Cdata => matches!(m.kind, Kind::Text | Kind::Cdata),
                    Kind::Pi => m.kind == Kind::Pi && m.name == n.name,
                    k => m.kind == k,
                }
            };
            let mut index = 1;
            let mut several = false;
            if n.kind != Kind::Attribute && n.kind != Kind::Fragment {
                let mut p = n.prev;
                while p != NONE {
                    index += same(p) as usize;
                    p = self.n(p).prev;
                }
                let mut p = n.next;
                while p != NONE && index == 1 && !several {
                    several = same(p);
                    p = self.n(p).next;
                }
            }
            bytes += 48 + part.len();
            if bytes > most {
                return None;
            }
            parts.push(if index > 1 || several { format!("{part}[{index}]") } else { part });
            at = n.parent;
        }
        if parts.is_empty() {
            return Some("/".into());
        }
        let mut out = String::new();
        for p in parts.iter().rev() {
            out.push('/');
            out.push_str(p);
        }
        Some(out)
    }
}

pub struct Children<'t> {
    tree: &'t Tree,
    at: Id,
}
impl Iterator for Children<'_> {
    type Item = Id;
    fn next(&mut self) -> Option<Id> {
        if self.at == NONE {
            return None;
        }
        let id = self.at;
        self.at = self.tree.n(id).next;
        Some(id)
    }
}

pub struct Descendants<'t> {
    tree: &'t Tree,
    top: Id,
    at: Option<Id>,
}
impl Iterator for Descendants<'_> {
    type Item = Id;
    fn next(&mut self) -> Option<Id> {
        let id = self.at?;
        self.at = self.tree.following(self.top, id);
        Some(id)
    }
}
