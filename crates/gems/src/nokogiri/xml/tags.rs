//! Tags: names, attributes, namespaces.

use super::*;

impl Parser {
    pub(super) fn end_tag(&mut self) {
        self.advance(2);
        let name = self.name().unwrap_or_default();
        self.skip_space();
        if self.byte() == b'>' {
            self.advance(1);
        } else {
            self.error(73, "expected '>'");
            // What does not belong there is passed over.
            let rest = self.rest();
            let n = rest.bytes().position(|b| matches!(b, b'>' | b'<')).unwrap_or(rest.len());
            let closed = rest.as_bytes().get(n) == Some(&b'>');
            self.advance(n + closed as usize);
        }
        let floor = self.frames.last().map_or(0, |f| f.depth);
        match self.open.last() {
            Some(o) if self.open.len() > floor => {
                let open = Self::qname(o);
                if open != name {
                    let line = o.line;
                    self.report(FATAL, 1, 76, format!("Opening and ending tag mismatch: {open} line {line} and {name}\n"), Some(&open));
                    if let Some(p) = self.problems.last_mut() {
                        p.str2 = Some(name);
                    }
                }
                self.close();
            }
            _ => {
                self.error(5, "Extra content at the end of the document");
                self.stopped = true;
            }
        }
    }
    pub(super) fn start_tag(&mut self) {
        self.advance(1);
        let Some(name) = self.name() else {
            self.error(68, "StartTag: invalid element name");
            if self.open.is_empty() && !self.fragment {
                self.error(5, "Extra content at the end of the document");
                self.stopped = true;
                return;
            }
            // The rest of what looked like a tag goes.
            let rest = self.rest();
            let n = rest.bytes().position(|b| matches!(b, b'>' | b'<')).unwrap_or(rest.len());
            let closed = rest.as_bytes().get(n) == Some(&b'>');
            self.advance(n + closed as usize);
            return;
        };
        self.seen_root = true;
        let line = self.line();
        if self.open.len() >= 256 && !self.options.huge {
            self.error(89, "Excessive depth in document: 256 use XML_PARSE_HUGE option\n");
            self.stopped = true;
            return;
        }
        let scope = self.scope.all.len();
        let mut attrs: Vec<Attribute> = Vec::new();
        let mut defs: Vec<(Option<String>, String)> = Vec::new();
        let mut seen: std::collections::HashSet<String> = Default::default();
        let mut empty = false;
        let mut end = 0;
        // A tag that can't be read to its end leaves what is left of it as content.
        let mut broken = false;
        loop {
            let spaced = self.skip_space();
            match self.byte() {
                b'>' => {
                    end = 1;
                    break;
                }
                b'/' if self.looking_at("/>") => {
                    end = 2;
                    empty = true;
                    break;
                }
                _ => {}
            }
            let Some(attr) = self.name() else {
                broken = true;
                break;
            };
            if !spaced {
                self.error(65, "attributes construct error");
            }
            self.skip_space();
            if self.byte() != b'=' {
                self.report(FATAL, 1, 41, format!("Specification mandates value for attribute {attr}"), Some(&attr));
                continue;
            }
            self.advance(1);
            self.skip_space();
            let Some(raw) = self.quoted() else {
                self.error(65, "attributes construct error");
                broken = true;
                break;
            };
            let mut value = String::new();
            self.expand(&raw, 0, &mut value);
            if self.stopped {
                return;
            }
            if !seen.insert(attr.clone()) {
                self.report(FATAL, 1, 42, format!("Attribute {attr} redefined"), Some(&attr));
            }
            self.attribute(attr, value, &mut attrs, &mut defs);
        }
        if let Some(list) = self.attlists.get(&name) {
            for (n, value) in list.clone() {
                if seen.insert(n.clone()) {
                    self.attribute(n, value, &mut attrs, &mut defs);
                }
            }
        }
        for (prefix, href) in &defs {
            self.scope.declare(prefix.clone(), href.clone());
        }
        let (prefix, local) = split(&name);
        if local.contains(':') {
            self.report(ERROR, 3, 202, format!("Failed to parse QName '{name}'"), Some(&name));
        }
        let mut href = self.lookup(prefix);
        let (mut prefix, mut local) = (prefix.map(str::to_owned), local.to_owned());
        if let Some(p) = &prefix
            && href.is_none()
        {
            self.report(ERROR, 3, 201, format!("Namespace prefix {p} on {local} is not defined\n"), Some(p));
            local = name.clone();
            prefix = None;
        }
        if href.as_deref() == Some("") {
            href = None;
        }
        for a in &mut attrs {
            let Some(p) = &a.prefix else { continue };
            a.href = self.lookup(Some(p));
            if a.href.is_none() {
                let (p, n) = (p.clone(), a.name.clone());
                a.name = a.qname();
                a.prefix = None;
                self.report(ERROR, 3, 201, format!("Namespace prefix {p} for {n} on {name} is not defined\n"), Some(&p));
            }
        }
        // The same attribute under two prefixes.
        for i in 1..attrs.len().min(100) {
            if attrs[i].href.is_some() && attrs[..i].iter().any(|b| b.name == attrs[i].name && b.href == attrs[i].href) {
                let n = attrs[i].name.clone();
                self.report(
                    ERROR,
                    3,
                    203,
                    format!("Namespaced Attribute {n} in '{}' redefined\n", attrs[i].href.clone().unwrap_or_default()),
                    Some(&n),
                );
            }
        }
        if self.stopped {
            return;
        }
        if broken {
            self.error(73, format!("Couldn't find end of Start Tag {name} line {line}"));
        }
        self.deferred = end;
        let end = self.line();
        self.push(Event::Start(Box::new(Start {
            prefix: prefix.clone(),
            name: local.clone(),
            href: href.clone(),
            attrs,
            defs,
            line: end,
        })));
        self.open.push(Open { prefix, name: local, href, line, scope });
        if empty || broken {
            self.close();
        }
    }
    fn attribute(&mut self, attr: String, value: String, attrs: &mut Vec<Attribute>, defs: &mut Vec<(Option<String>, String)>) {
        if attr == "xmlns" {
            defs.push((None, value));
        } else if let Some(p) = attr.strip_prefix("xmlns:").filter(|p| !p.is_empty()) {
            if value.is_empty() {
                self.report(ERROR, 3, 204, format!("xmlns:{p}: Empty XML namespace is not allowed\n"), Some(p));
            } else if p != "xml" {
                defs.push((Some(p.to_owned()), value));
            }
        } else {
            let (p, n) = split(&attr);
            attrs.push(Attribute { prefix: p.map(str::to_owned), name: n.to_owned(), href: None, value });
        }
    }
    pub fn lookup(&self, prefix: Option<&str>) -> Option<String> {
        if prefix == Some("xml") {
            return Some(crate::nokogiri::tree::XML_HREF.to_owned());
        }
        self.scope.find(prefix).map(str::to_owned)
    }
    /// A value in quotes, as written.
    fn quoted(&mut self) -> Option<String> {
        let q = self.byte();
        if !matches!(q, b'"' | b'\'') {
            self.error(39, "AttValue: \" or ' expected");
            return None;
        }
        self.advance(1);
        let rest = self.rest();
        let end = rest.bytes().position(|b| b == q || b == b'<');
        match end {
            Some(at) if rest.as_bytes()[at] == q => {
                let v = rest[..at].to_owned();
                self.advance(at + 1);
                Some(v)
            }
            Some(at) => {
                self.advance(at);
                self.error(38, "Unescaped '<' not allowed in attributes values");
                None
            }
            None => {
                let n = rest.len();
                self.advance(n);
                self.error(40, "AttValue: ' expected");
                None
            }
        }
    }
}
