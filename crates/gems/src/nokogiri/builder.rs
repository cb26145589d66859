//! Trees from what parsers tell.

use super::dtd::Declared;
use super::tree::{DOCUMENT, Decl, Id, Kind, NONE, Tree};
use super::xml::{Event, is_blank};
use std::collections::HashMap;

pub struct Builder {
    /// Open elements; the first is where nodes go to.
    pub open: Vec<Id>,
    /// Prefixes that open elements declare, with how many are open around them.
    scope: Vec<(usize, String)>,
    /// What they mean, the nearest last.
    by_prefix: HashMap<String, Vec<(usize, u32)>>,
    dtd: Id,
    pub noblanks: bool,
    pub nocdata: bool,
    /// Lines are told up to 65535.
    pub short_lines: bool,
}

impl Builder {
    pub fn new(at: Id) -> Builder {
        Builder {
            open: vec![at],
            scope: Vec::new(),
            by_prefix: HashMap::new(),
            dtd: NONE,
            noblanks: false,
            nocdata: false,
            short_lines: false,
        }
    }
    fn top(&self) -> Id {
        self.open.last().copied().unwrap_or(DOCUMENT)
    }
    fn put(&mut self, t: &mut Tree, kind: Kind, name: Option<&str>, text: String, line: u32) -> Id {
        let name = name.map_or(NONE, |n| t.intern(n));
        let id = t.add(kind, name, text);
        t.m(id).line = if self.short_lines { line.min(65535) } else { line };
        let at = if self.dtd != NONE { self.dtd } else { self.top() };
        t.append(at, id);
        id
    }
    pub fn event(&mut self, t: &mut Tree, e: Event, line: u32) {
        match e {
            Event::Declaration { version, encoding, standalone } => {
                t.version = version;
                t.standalone = standalone;
                if t.encoding.is_none() {
                    t.encoding = encoding;
                }
            }
            Event::Start(s) => {
                let id = self.put(t, Kind::Element, Some(&s.name), String::new(), s.line);
                for (prefix, href) in &s.defs {
                    let ns = t.new_ns(prefix.as_deref(), href);
                    t.m(id).defs.push(ns);
                    self.declare(self.open.len(), prefix.as_deref(), ns);
                }
                if s.href.is_some() {
                    t.m(id).ns = self.namespace(t, id, s.prefix.as_deref(), s.href.as_deref());
                }
                for a in s.attrs {
                    let bare = a.prefix.as_deref() == Some("");
                    let ns = if a.href.is_some() { self.namespace(t, id, a.prefix.as_deref(), a.href.as_deref()) } else { NONE };
                    let a = t.add_attr(id, ns, &a.name, a.value);
                    t.m(a).bare = bare;
                    t.m(a).line = line;
                }
                self.open.push(id);
            }
            Event::End { .. } => {
                if self.open.len() > 1 {
                    self.open.pop();
                    while self.scope.last().is_some_and(|(depth, _)| *depth >= self.open.len()) {
                        let known = self.scope.pop().and_then(|(_, prefix)| self.by_prefix.get_mut(&prefix));
                        known.and_then(Vec::pop);
                    }
                }
            }
            Event::Text(text, droppable) => {
                let at = self.top();
                if at == DOCUMENT {
                    return;
                }
                if self.noblanks && droppable && is_blank(&text) {
                    let (first, last) = (t.n(at).first, t.n(at).last);
                    if last == NONE || (t.kind(last) != Kind::Text && t.kind(first) != Kind::Text) {
                        return;
                    }
                }
                t.append_text(at, &text, line);
            }
            Event::Cdata(text) => {
                if self.nocdata {
                    let at = self.top();
                    t.append_text(at, &text, line);
                } else {
                    self.put(t, Kind::Cdata, None, text, line);
                }
            }
            Event::Comment(text) => {
                self.put(t, Kind::Comment, None, text, line);
            }
            Event::Pi(target, data) => {
                self.put(t, Kind::Pi, Some(&target), data.unwrap_or_default(), line);
            }
            Event::EntityRef(name) => {
                self.put(t, Kind::EntityRef, Some(&name), String::new(), line);
            }
            Event::Doctype { name, external, system } => {
                let id = self.put(t, Kind::Dtd, Some(&name), String::new(), line);
                t.decls.insert(id, Decl { external, system, ..Decl::default() });
                self.dtd = id;
            }
            Event::External { name, external, system } => {
                let name = t.intern(&name);
                let id = t.add(Kind::Dtd, name, String::new());
                t.decls.insert(id, Decl { external, system, ..Decl::default() });
                t.external_subset = id;
                self.dtd = id;
            }
            Event::EndDoctype => self.dtd = NONE,
            Event::Pause => {}
            Event::Declared(d) => self.declared(t, d, line),
        }
    }
    fn declared(&mut self, t: &mut Tree, d: Declared, line: u32) {
        match d {
            Declared::Entity(name, e, kind, text) => {
                let id = self.put(t, Kind::EntityDecl, Some(&name), text, line);
                t.decls.insert(
                    id,
                    Decl { external: e.external, system: e.system, content: e.content, original: e.original, kind, ..Decl::default() },
                );
            }
            Declared::Element(name, kind, model, text) => {
                let id = self.put(t, Kind::ElementDecl, Some(&name), text, line);
                t.decls.insert(id, Decl { kind, values: vec![model], ..Decl::default() });
            }
            Declared::Attribute(a) => {
                let id = self.put(t, Kind::AttributeDecl, Some(&a.name), a.text, line);
                t.decls.insert(
                    id,
                    Decl {
                        kind: a.kind,
                        element: a.element,
                        values: a.values,
                        content: a.default,
                        original: Some(a.name),
                        default: a.rule,
                        ..Decl::default()
                    },
                );
            }
            Declared::Notation(name, public, system) => t.notations.push((name, public, system)),
        }
    }
    /// The declaration that a prefix means at an element.
    fn namespace(&mut self, t: &mut Tree, id: Id, prefix: Option<&str>, href: Option<&str>) -> u32 {
        if let Some((_, ns)) = self.by_prefix.get(prefix.unwrap_or("")).and_then(|v| v.last()) {
            return *ns;
        }
        // Declared by what stands around a fragment.
        let around = self.open.first().copied().unwrap_or(DOCUMENT);
        let ns = t.search_ns(around, prefix).unwrap_or_else(|| {
            let ns = t.new_ns(prefix, href.unwrap_or(""));
            t.m(id).defs.push(ns);
            ns
        });
        // One that is built apart declares it itself, for what stands below it.
        let depth = if t.n(id).defs.contains(&ns) { self.open.len() } else { 0 };
        self.declare(depth, prefix, ns);
        ns
    }
    fn declare(&mut self, depth: usize, prefix: Option<&str>, ns: u32) {
        let prefix = prefix.unwrap_or("");
        let known = self.by_prefix.entry(prefix.to_owned()).or_default();
        // Of two declarations on one element, the first counts.
        if known.last().is_none_or(|(d, _)| *d != depth) {
            known.push((depth, ns));
            // What is declared outside stays.
            if depth > 0 {
                self.scope.push((depth, prefix.to_owned()));
            }
        }
    }
}
