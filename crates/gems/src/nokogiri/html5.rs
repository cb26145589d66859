//! HTML 5: html5ever's tree builder over our tree. Elements of SVG and MathML get namespaces with prefixes, and templates their content as children, as Gumbo's trees are given out.
//!
//! Names that are none of HTML's own and have more than seven bytes live in a table of string_cache's, which is the process's: lists behind locks, whose hash anybody can compute. So no
//! name is kept there longer than the parser needs it: elements have the tree's number of their name, and what the parser asks for is made anew ([`State::name`]). What is in the table
//! of one parser at a time: the attributes of a tag, those of formatting elements that are open, and [`RECENT`] names.
//! A parser of ours without that table was rejected: the tokenizer itself makes the names.

use super::tree::{DOCUMENT, Decl, Id, Kind, NONE, Tree};
use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, LocalName, Namespace, ParseOpts, QualName};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Names that are made once for many questions of the parser.
const RECENT: usize = 64;
/// Attributes that a tag may have when the program sets no limit: html5ever compares each with all before it.
const MOST_ATTRIBUTES: usize = 1 << 14;
/// Bytes that the parser is given at a time: as many as take it about this long, since what it does with them may hang on all that came before.
const PORTION: usize = 8192;
const PAUSE: Duration = Duration::from_micros(500);

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
    names: Vec<Option<Known>>,
    recent: HashMap<u32, LocalName>,
    depth: Vec<u32>,
    integration: HashSet<Id>,
    pub errors: Vec<(u32, String)>,
    pub quirks: u8,
    line: u32,
    limits: Limits,
    pub stop: Option<Stop>,
}

/// Shared by the parser and whoever feeds it.
#[derive(Clone)]
pub struct Sink(Rc<RefCell<State>>);

struct Known {
    ns: Namespace,
    /// None: one that lies in the process's table.
    local: Option<LocalName>,
}

#[derive(Debug)]
pub struct Name {
    ns: Namespace,
    local: LocalName,
}
impl ElemName for Name {
    fn ns(&self) -> &Namespace {
        &self.ns
    }
    fn local_name(&self) -> &LocalName {
        &self.local
    }
}

const SVG: &str = "http://www.w3.org/2000/svg";
const MATHML: &str = "http://www.w3.org/1998/Math/MathML";
const XHTML: &str = "http://www.w3.org/1999/xhtml";

impl State {
    fn new(limits: Limits, quirks: u8) -> State {
        State {
            tree: Tree::new(Kind::HtmlDocument),
            names: vec![None],
            recent: HashMap::new(),
            depth: vec![0],
            integration: HashSet::new(),
            errors: Vec::new(),
            quirks,
            line: 1,
            limits,
            stop: None,
        }
    }
    /// What the parser may ask for of an element, where that is not in the process's table.
    fn know(&mut self, id: Id, name: QualName) {
        let own = name.local.len() <= 7 || LocalName::try_static(&name.local).is_some();
        let local = own.then_some(name.local);
        self.names[id as usize] = Some(Known { ns: name.ns, local });
    }
    fn name(&mut self, id: Id) -> Name {
        let Some(known) = &self.names[id as usize] else { return Name { ns: XHTML.into(), local: "".into() } };
        let ns = known.ns.clone();
        if let Some(local) = &known.local {
            return Name { ns, local: local.clone() };
        }
        let number = self.tree.n(id).name;
        if self.recent.len() >= RECENT && !self.recent.contains_key(&number) {
            self.recent.clear();
        }
        let local = self.recent.entry(number).or_insert_with(|| self.tree.name(id).into()).clone();
        Name { ns, local }
    }
    fn weigh(&mut self) {
        let own = self.names.capacity() * size_of::<Option<Known>>() + self.depth.capacity() * size_of::<u32>();
        if self.tree.bytes() + own > self.limits.bytes {
            self.stop = Some(Stop::TooLarge);
        }
    }
    fn add(&mut self, kind: Kind, name: Option<&str>, text: String) -> Id {
        let name = name.map_or(NONE, |n| self.tree.intern(n));
        let id = self.tree.add(kind, name, text);
        self.tree.m(id).line = self.line;
        self.names.resize_with(id as usize + 1, || None);
        self.depth.resize(id as usize + 1, 0);
        self.weigh();
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
        self.names.resize_with(n, || None);
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
                    return self.weigh();
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
        self.0.borrow_mut().name(*target)
    }
    fn create_element(&self, name: QualName, attrs: Vec<Attribute>, flags: ElementFlags) -> Id {
        let mut s = self.0.borrow_mut();
        let id = s.add(Kind::Element, Some(&name.local), String::new());
        s.know(id, name);
        s.attributes(id, attrs);
        if flags.mathml_annotation_xml_integration_point {
            s.integration.insert(id);
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
fn has_excessive_tag<E>(text: &str, limit: usize, poll: &mut impl FnMut() -> Result<(), E>) -> Result<bool, E> {
    const RAW: [&str; 9] = ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext"];
    let b = text.as_bytes();
    let (mut at, mut asked) = (0, 0);
    while let Some(found) = text[at..].find('<') {
        at += found + 1;
        if at - asked > 1 << 16 {
            asked = at;
            poll()?;
        }
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
                        return Ok(true);
                    }
                }
            }
        }
        if RAW.iter().any(|r| r.eq_ignore_ascii_case(name)) {
            let mut ends = text[at..].match_indices("</").map(|(i, _)| at + i);
            match ends.find(|i| b[i + 2..].get(..name.len()).is_some_and(|n| n.eq_ignore_ascii_case(name.as_bytes()))) {
                Some(end) => at = end,
                // All that is left is text.
                None => return Ok(false),
            }
        }
    }
    Ok(false)
}

/// Parses a document, or a fragment, whose nodes are then children of the first element. `poll` is asked between portions.
pub fn parse<E>(
    text: &str,
    fragment: Option<Fragment>,
    scripting: bool,
    mut limits: Limits,
    mut poll: impl FnMut() -> Result<(), E>,
) -> Result<State, E> {
    let raw = fragment.as_ref().is_some_and(|f| {
        matches!(f.name, "script" | "style" | "xmp" | "iframe" | "noembed" | "noframes" | "plaintext" | "textarea" | "title")
    });
    limits.attributes = limits.attributes.min(MOST_ATTRIBUTES);
    let excessive = !raw && has_excessive_tag(text, limits.attributes.saturating_mul(4).max(4000), &mut poll)?;
    let mut state = State::new(limits, fragment.as_ref().map_or(0, |f| f.quirks));
    state.stop = excessive.then_some(Stop::TooManyAttributes);
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
    let mut portion = PORTION;
    while !rest.is_empty() && sink.0.borrow().stop.is_none() {
        let n = rest.ceil_char_boundary(portion);
        let began = Instant::now();
        parser.process(StrTendril::from(&rest[..n]));
        rest = &rest[n..];
        portion = if began.elapsed() > PAUSE { (portion / 2).max(8) } else { (portion * 2).min(PORTION) };
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
        Err(_) => {
            let mut none = State::new(Limits { attributes: 0, depth: 0, errors: 0, bytes: 0 }, 0);
            none.stop = Some(Stop::TooLarge);
            none
        }
    };
    namespaces(&mut state);
    Ok(state)
}

/// Declares prefixes on the topmost element, and gives them to elements and attributes.
fn namespaces(s: &mut State) {
    let all: Vec<Id> = s.tree.descendants(DOCUMENT).collect();
    let mut top = NONE;
    for id in all {
        if s.tree.n(id).parent == DOCUMENT {
            top = id;
        }
        let wanted = match s.names.get(id as usize).and_then(|n| n.as_ref()).map(|n| &*n.ns) {
            Some(SVG) => Some(("svg", SVG)),
            Some(MATHML) => Some(("math", MATHML)),
            _ => None,
        };
        let attrs: Vec<Id> = s.tree.attrs(id).filter(|a| s.tree.n(*a).ns != NONE).collect();
        if wanted.is_none() && attrs.is_empty() {
            continue;
        }
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
