//! HTML 5: html5ever's tree builder over our tree. Elements of SVG and MathML get namespaces with prefixes, and templates their content as children, as Gumbo's trees are given out.

use super::tree::{DOCUMENT, Decl, Id, Kind, NONE, Tree};
use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, LocalName, Namespace, ParseOpts, QualName};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

pub struct Limits {
    pub attributes: usize,
    pub depth: usize,
    pub errors: usize,
    /// Bytes that the tree may take.
    pub bytes: usize,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Stop {
    TooDeep,
    TooManyAttributes,
    TooLarge,
}

pub struct State {
    pub tree: Tree,
    /// Names of elements as the parser knows them, by node.
    names: Vec<Option<QualName>>,
    depth: Vec<u32>,
    integration: Vec<Id>,
    pub errors: Vec<(u32, String)>,
    pub quirks: u8,
    line: u32,
    limits: Limits,
    pub stop: Option<Stop>,
}

/// Shared by the parser and whoever feeds it.
#[derive(Clone)]
pub struct Sink(Rc<RefCell<State>>);

#[derive(Debug)]
pub struct Name(QualName);
impl ElemName for Name {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }
    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

const SVG: &str = "http://www.w3.org/2000/svg";
const MATHML: &str = "http://www.w3.org/1998/Math/MathML";
const XHTML: &str = "http://www.w3.org/1999/xhtml";

impl State {
    fn add(&mut self, kind: Kind, name: Option<&str>, text: String) -> Id {
        let name = name.map_or(NONE, |n| self.tree.intern(n));
        let id = self.tree.add(kind, name, text);
        self.tree.m(id).line = self.line;
        self.names.resize(id as usize + 1, None);
        self.depth.resize(id as usize + 1, 0);
        if self.tree.bytes() > self.limits.bytes {
            self.stop = Some(Stop::TooLarge);
        }
        id
    }
    fn linked(&mut self, parent: Id, id: Id) {
        if parent == NONE {
            return;
        }
        let depth = self.depth[parent as usize] + 1;
        self.depth[id as usize] = depth;
        if self.tree.is_element(id) && depth as usize > self.limits.depth {
            self.stop = Some(Stop::TooDeep);
        }
    }
    fn attributes(&mut self, id: Id, attrs: Vec<Attribute>) {
        if attrs.len() > self.limits.attributes {
            self.stop = Some(Stop::TooManyAttributes);
            return;
        }
        for a in attrs {
            let prefix = match &*a.name.ns {
                "http://www.w3.org/1999/xlink" => Some("xlink"),
                "http://www.w3.org/XML/1998/namespace" => Some("xml"),
                "http://www.w3.org/2000/xmlns/" => Some("xmlns"),
                _ => None,
            };
            // The namespaces of attributes are declared when the tree is done.
            let ns = match prefix {
                None => NONE,
                Some(p) => match self.tree.nss.iter().position(|n| n.prefix.as_deref() == Some(p)) {
                    Some(at) => at as u32,
                    None => self.tree.new_ns(Some(p), &a.name.ns),
                },
            };
            self.tree.add_attr(id, ns, &a.name.local, a.value.to_string());
        }
        let n = self.tree.nodes.len();
        self.names.resize(n, None);
        self.depth.resize(n, 0);
    }
    fn insert(&mut self, parent: Id, before: Id, child: NodeOrText<Id>) {
        match child {
            NodeOrText::AppendNode(id) => {
                self.tree.unlink(id);
                if before == NONE {
                    self.tree.append(parent, id)
                } else {
                    self.tree.insert_before(before, id)
                }
                self.linked(parent, id);
            }
            NodeOrText::AppendText(text) => {
                let near = if before == NONE { self.tree.n(parent).last } else { self.tree.n(before).prev };
                if near != NONE && self.tree.kind(near) == Kind::Text {
                    self.tree.push_text(near, &text);
                    if self.tree.bytes() > self.limits.bytes {
                        self.stop = Some(Stop::TooLarge);
                    }
                    return;
                }
                let id = self.add(Kind::Text, None, text.to_string());
                if before == NONE { self.tree.append(parent, id) } else { self.tree.insert_before(before, id) }
            }
        }
    }
}

impl TreeSink for Sink {
    type Handle = Id;
    type Output = ();
    type ElemName<'a> = Name;

    fn finish(self) {}
    fn parse_error(&self, msg: Cow<'static, str>) {
        let mut s = self.0.borrow_mut();
        if s.errors.len() < s.limits.errors {
            let line = s.line;
            s.errors.push((line, msg.into_owned()));
        }
    }
    fn get_document(&self) -> Id {
        DOCUMENT
    }
    fn elem_name<'a>(&'a self, target: &'a Id) -> Name {
        Name(self.0.borrow().names[*target as usize].clone().unwrap_or_else(|| QualName::new(None, XHTML.into(), "".into())))
    }
    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> Id {
        let mut s = self.0.borrow_mut();
        let id = s.add(Kind::Element, Some(&name.local), String::new());
        s.names[id as usize] = Some(name);
        s.attributes(id, attrs);
        if flags.mathml_annotation_xml_integration_point {
            s.integration.push(id);
        }
        id
    }
    fn create_comment(&self, text: StrTendril) -> Id {
        self.0.borrow_mut().add(Kind::Comment, None, text.to_string())
    }
    fn create_pi(&self, target: StrTendril, data: StrTendril) -> Id {
        self.0.borrow_mut().add(Kind::Pi, Some(&target), data.to_string())
    }
    fn append(&self, parent: &Id, child: NodeOrText<Id>) {
        self.0.borrow_mut().insert(*parent, NONE, child);
    }
    fn append_based_on_parent_node(&self, element: &Id, prev: &Id, child: NodeOrText<Id>) {
        if self.0.borrow().tree.n(*element).parent != NONE {
            self.append_before_sibling(element, child);
        } else {
            self.append(prev, child);
        }
    }
    fn append_doctype_to_document(&self, name: StrTendril, public: StrTendril, system: StrTendril) {
        let mut s = self.0.borrow_mut();
        let id = s.add(Kind::Dtd, Some(&name), String::new());
        let some = |t: StrTendril| if t.is_empty() { None } else { Some(t.to_string()) };
        s.tree.decls.insert(id, Decl { external: some(public), system: some(system), ..Decl::default() });
        s.tree.append(DOCUMENT, id);
    }
    fn get_template_contents(&self, target: &Id) -> Id {
        *target
    }
    fn same_node(&self, x: &Id, y: &Id) -> bool {
        x == y
    }
    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.0.borrow_mut().quirks = match mode {
            QuirksMode::NoQuirks => 0,
            QuirksMode::Quirks => 1,
            QuirksMode::LimitedQuirks => 2,
        };
    }
    fn append_before_sibling(&self, sibling: &Id, child: NodeOrText<Id>) {
        let mut s = self.0.borrow_mut();
        let parent = s.tree.n(*sibling).parent;
        s.insert(parent, *sibling, child);
    }
    fn add_attrs_if_missing(&self, target: &Id, attrs: Vec<Attribute>) {
        let mut s = self.0.borrow_mut();
        let missing = attrs.into_iter().filter(|a| s.tree.attr(*target, &a.name.local).is_none()).collect();
        s.attributes(*target, missing);
    }
    fn remove_from_parent(&self, target: &Id) {
        self.0.borrow_mut().tree.unlink(*target);
    }
    fn reparent_children(&self, node: &Id, parent: &Id) {
        let mut s = self.0.borrow_mut();
        loop {
            let first = s.tree.n(*node).first;
            if first == NONE {
                return;
            }
            s.insert(*parent, NONE, NodeOrText::AppendNode(first));
        }
    }
    fn is_mathml_annotation_xml_integration_point(&self, handle: &Id) -> bool {
        self.0.borrow().integration.contains(handle)
    }
    fn set_current_line(&self, line: u64) {
        self.0.borrow_mut().line = line as u32;
    }
    fn allow_declarative_shadow_roots(&self, _parent: &Id) -> bool {
        false
    }
}

pub struct Fragment<'a> {
    pub name: &'a str,
    /// A namespace's URI.
    pub href: &'a str,
    pub form: bool,
    pub integration: bool,
    pub quirks: u8,
}

/// Whether some tag has far more attributes than it may: html5ever compares each name with all before it, and tells of a tag only when it is complete.
/// (A scan that knows comments and raw text. What it overlooks, in foreign content, is slow and no more.)
fn has_excessive_tag(text: &str, limit: usize) -> bool {
    const RAW: [&str; 9] = ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext"];
    let b = text.as_bytes();
    let mut at = 0;
    while let Some(found) = text[at..].find('<') {
        at += found + 1;
        let rest = &text[at..];
        if rest.starts_with("!--") {
            at += rest.find("-->").unwrap_or(rest.len());
            continue;
        }
        if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let name = rest.split(|c: char| c.is_ascii_whitespace() || matches!(c, '>' | '/')).next().unwrap_or("");
        at += name.len();
        let (mut quote, mut words, mut between, mut value) = (0u8, 0usize, true, false);
        while at < b.len() {
            let c = b[at];
            at += 1;
            match c {
                _ if quote != 0 => {
                    if c == quote {
                        quote = 0;
                        between = true;
                    }
                }
                b'>' => break,
                b'"' | b'\'' if value => {
                    quote = c;
                    value = false;
                }
                b'=' => value = true,
                b'/' => between = true,
                c if c.is_ascii_whitespace() => between = true,
                _ => {
                    words += (between && !value) as usize;
                    (between, value) = (false, false);
                    if words > limit {
                        return true;
                    }
                }
            }
        }
        if RAW.iter().any(|r| r.eq_ignore_ascii_case(name)) {
            let end = format!("</{name}");
            at += text[at.min(text.len())..].find(&*end).unwrap_or(0);
        }
    }
    false
}

/// Parses a document, or a fragment, whose nodes are then children of the first element. `poll` is asked between portions.
pub fn parse<E>(
    text: &str,
    fragment: Option<Fragment>,
    scripting: bool,
    limits: Limits,
    mut poll: impl FnMut() -> Result<(), E>,
) -> Result<State, E> {
    let raw = fragment.as_ref().is_some_and(|f| {
        matches!(f.name, "script" | "style" | "xmp" | "iframe" | "noembed" | "noframes" | "plaintext" | "textarea" | "title")
    });
    let excessive = limits.attributes != usize::MAX && !raw && has_excessive_tag(text, limits.attributes.saturating_mul(4).max(4000));
    let state = State {
        tree: Tree::new(Kind::HtmlDocument),
        names: vec![None],
        depth: vec![0],
        integration: Vec::new(),
        errors: Vec::new(),
        quirks: fragment.as_ref().map_or(0, |f| f.quirks),
        line: 1,
        limits,
        stop: excessive.then_some(Stop::TooManyAttributes),
    };
    let sink = Sink(Rc::new(RefCell::new(state)));
    let mut opts = ParseOpts::default();
    opts.tree_builder.scripting_enabled = scripting;
    opts.tokenizer.exact_errors = sink.0.borrow().limits.errors > 0;
    let mut parser = match fragment {
        None => html5ever::parse_document(sink.clone(), opts),
        Some(f) => {
            opts.tree_builder.quirks_mode = [QuirksMode::NoQuirks, QuirksMode::Quirks, QuirksMode::LimitedQuirks][f.quirks.min(2) as usize];
            let name = QualName::new(None, f.href.into(), f.name.into());
            let mut flags = ElementFlags::default();
            flags.mathml_annotation_xml_integration_point = f.integration;
            let context = sink.create_element(name, Vec::new(), flags);
            let form =
                f.form.then(|| sink.create_element(QualName::new(None, XHTML.into(), "form".into()), Vec::new(), ElementFlags::default()));
            html5ever::driver::parse_fragment_for_element(sink.clone(), opts, context, scripting, form)
        }
    };
    let mut rest = text;
    while !rest.is_empty() && sink.0.borrow().stop.is_none() {
        let mut n = rest.len().min(8192);
        while !rest.is_char_boundary(n) {
            n -= 1;
        }
        parser.process(StrTendril::from(&rest[..n]));
        rest = &rest[n..];
        poll()?;
    }
    if sink.0.borrow().stop.is_none() {
        parser.finish();
    } else {
        drop(parser);
    }
    let mut state = match Rc::try_unwrap(sink.0) {
        Ok(cell) => cell.into_inner(),
        // The parser is gone, and with it its share.
        Err(_) => State {
            tree: Tree::new(Kind::HtmlDocument),
            names: Vec::new(),
            depth: Vec::new(),
            integration: Vec::new(),
            errors: Vec::new(),
            quirks: 0,
            line: 0,
            limits: Limits { attributes: 0, depth: 0, errors: 0, bytes: 0 },
            stop: Some(Stop::TooLarge),
        },
    };
    namespaces(&mut state);
    Ok(state)
}

/// Declares prefixes on the topmost element, and gives them to elements and attributes.
fn namespaces(s: &mut State) {
    let holder = |t: &Tree, mut id: Id| {
        // The element below the document, or below the root of a fragment.
        loop {
            let parent = t.n(id).parent;
            if parent == NONE || parent == DOCUMENT {
                return id;
            }
            id = parent;
        }
    };
    let all: Vec<Id> = s.tree.descendants(DOCUMENT).collect();
    for id in all {
        let wanted = match s.names.get(id as usize).and_then(|n| n.as_ref()).map(|n| &*n.ns) {
            Some(SVG) => Some(("svg", SVG)),
            Some(MATHML) => Some(("math", MATHML)),
            _ => None,
        };
        let attrs: Vec<Id> = s.tree.attrs(id).filter(|a| s.tree.n(*a).ns != NONE).collect();
        if wanted.is_none() && attrs.is_empty() {
            continue;
        }
        let top = holder(&s.tree, id);
        let declare = |t: &mut Tree, prefix: &str, href: &str| match t
            .n(top)
            .defs
            .iter()
            .find(|d| t.nss[**d as usize].prefix.as_deref() == Some(prefix))
        {
            Some(d) => *d,
            None => {
                let ns = t.new_ns(Some(prefix), href);
                t.m(top).defs.push(ns);
                ns
            }
        };
        if let Some((prefix, href)) = wanted {
            let ns = declare(&mut s.tree, prefix, href);
            s.tree.m(id).ns = ns;
        }
        for a in attrs {
            let (prefix, href) = (s.tree.prefix(a).unwrap_or("").to_owned(), s.tree.href(a).unwrap_or("").to_owned());
            if prefix != "xml" {
                let ns = declare(&mut s.tree, &prefix, &href);
                s.tree.m(a).ns = ns;
            }
        }
    }
}
