//! Text from trees: XML, XHTML and HTML as libxml2 lays them out, and HTML as its standard says. All of it walks with the links of the tree.

use super::tree::{DOCUMENT, Id, Kind, NONE, Tree};
use super::{dtd, entities, html4};

/// Bits of `Nokogiri::XML::Node::SaveOptions`.
pub const FORMAT: i64 = 1;
pub const NO_DECLARATION: i64 = 2;
pub const NO_EMPTY_TAGS: i64 = 4;
pub const NO_XHTML: i64 = 8;
pub const AS_XHTML: i64 = 16;
pub const AS_XML: i64 = 32;
pub const AS_HTML: i64 = 64;

/// What becomes of characters beyond ASCII.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    Kept,
    /// `&#xE9;`
    Hex,
    /// `&eacute;`
    Named,
}

pub struct Writer<'t> {
    pub tree: &'t Tree,
    pub out: String,
    pub options: i64,
    pub indent: &'t str,
    pub encoding: Option<&'t str>,
    beyond: Beyond,
    as_html: bool,
    /// Bytes that the text may have: a name that many nodes share is written for each. A third of what there is room for, since a text that grows is copied.
    most: usize,
}

const VOID: &str = " area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr ";
const RAW: &str = " style script xmp iframe noembed noframes noscript plaintext ";
const XHTML_EMPTY: &str = " area base basefont br col frame hr img input isindex link meta param ";

fn listed(list: &str, name: &str) -> bool {
    list.split(' ').any(|w| !w.is_empty() && w == name)
}

/// What libxml2 escapes for `Node#encode_special_chars`.
pub fn special(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\r' => out.push_str("&#13;"),
            c => out.push(c),
        }
    }
    out
}
fn uri(text: &str) -> String {
    let mut out = String::new();
    for b in text.bytes() {
        if b.is_ascii_alphanumeric() || b"-_.!~*'()\"#$%&+,/:;<=>?@[\\]^`{|}".contains(&b) {
            // Quotation marks end the value that is written around it.
            if b == b'"' { out.push_str("%22") } else { out.push(b as char) }
        } else {
            out.push_str(&format!("%{b:02X}"));
        }
    }
    out
}

impl<'t> Writer<'t> {
    pub fn new(tree: &'t Tree, options: i64, indent: &'t str, encoding: Option<&'t str>, most: usize) -> Writer<'t> {
        Writer { tree, out: String::new(), options, indent, encoding, beyond: Beyond::Kept, as_html: false, most }
    }
    /// The text is too large, and is not written to its end.
    pub fn is_full(&self) -> bool {
        self.out.len() > self.most
    }
    pub fn node(&mut self, id: Id) {
        let html = self.options & AS_HTML != 0 || (self.tree.is_html() && self.options & (AS_XML | AS_XHTML) == 0);
        self.as_html = html;
        if html {
            self.beyond = if self.encoding.is_none() { Beyond::Named } else { Beyond::Kept };
            self.html(id);
            return;
        }
        self.beyond = if self.encoding.is_none() { Beyond::Hex } else { Beyond::Kept };
        if id == DOCUMENT {
            if self.options & NO_DECLARATION == 0 {
                let version = self.tree.version.as_deref().unwrap_or("1.0");
                self.out.push_str(&format!("<?xml version={}", dtd::quote(version)));
                if let Some(e) = self.encoding {
                    self.out.push_str(&format!(" encoding={}", dtd::quote(e)));
                }
                match self.tree.standalone {
                    1 => self.out.push_str(" standalone=\"yes\""),
                    0 => self.out.push_str(" standalone=\"no\""),
                    _ => {}
                }
                self.out.push_str("?>\n");
            }
            let xhtml = self.is_xhtml();
            for c in self.tree.children(DOCUMENT) {
                self.xml(c, xhtml);
                self.out.push('\n');
            }
            return;
        }
        let xhtml = self.options & AS_XHTML != 0 || self.is_xhtml();
        self.xml(id, xhtml);
    }
    fn is_xhtml(&self) -> bool {
        self.options & NO_XHTML == 0
            && self.tree.internal_subset().and_then(|d| self.tree.decls.get(&d)).is_some_and(|d| {
                d.system.as_deref().is_some_and(|s| s.starts_with("http://www.w3.org/TR/xhtml1/DTD/xhtml1-"))
                    || d.external.as_deref().is_some_and(|e| e.starts_with("-//W3C//DTD XHTML 1.0 "))
            })
    }
    fn char(&mut self, c: char) {
        match self.beyond {
            _ if c.is_ascii() => self.out.push(c),
            Beyond::Kept => self.out.push(c),
            Beyond::Hex => self.out.push_str(&format!("&#x{:X};", c as u32)),
            Beyond::Named => match entities::name(c) {
                Some(n) => self.out.push_str(&format!("&{n};")),
                None => self.out.push_str(&format!("&#{};", c as u32)),
            },
        }
    }
    fn raw(&mut self, text: &str) {
        if self.beyond == Beyond::Kept { self.out.push_str(text) } else { text.chars().for_each(|c| self.char(c)) }
    }
    fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '&' => self.out.push_str("&amp;"),
                '\r' if !self.as_html => self.out.push_str("&#13;"),
                c => self.char(c),
            }
        }
    }
    fn doctype(&mut self, id: Id) {
        let t = self.tree;
        self.out.push_str(&format!("<!DOCTYPE {}", t.name(id)));
        if let Some(d) = t.decls.get(&id) {
            match (&d.external, &d.system) {
                (Some(e), Some(s)) => self.out.push_str(&format!(" PUBLIC {} {}", dtd::quote(e), dtd::quote(s))),
                (Some(e), None) => self.out.push_str(&format!(" PUBLIC {}", dtd::quote(e))),
                (None, Some(s)) => self.out.push_str(&format!(" SYSTEM {}", dtd::quote(s))),
                (None, None) => {}
            }
        }
        if t.n(id).first != NONE || !t.notations.is_empty() {
            self.out.push_str(" [\n");
            for (name, public, system) in &t.notations {
                let ids = match (public, system) {
                    (Some(p), Some(s)) => format!("PUBLIC \"{p}\" \"{s}\""),
                    (Some(p), None) => format!("PUBLIC \"{p}\""),
                    (None, s) => format!("SYSTEM \"{}\"", s.as_deref().unwrap_or("")),
                };
                self.out.push_str(&format!("<!NOTATION {name} {ids} >\n"));
            }
            for c in t.children(id) {
                match t.kind(c) {
                    Kind::Comment => self.out.push_str(&format!("<!--{}-->\n", t.n(c).text)),
                    Kind::Pi => self.out.push_str(&format!("<?{} {}?>\n", t.name(c), t.n(c).text)),
                    _ => self.out.push_str(&t.n(c).text),
                }
            }
            self.out.push(']');
        }
        self.out.push('>');
    }
    /// A node that has no end of its own. False: an element.
    fn leaf(&mut self, id: Id) -> bool {
        let t = self.tree;
        let n = t.n(id);
        match n.kind {
            Kind::Text => self.text(&n.text),
            Kind::Cdata => {
                // The end mark can't stand inside.
                self.out.push_str("<![CDATA[");
                self.raw(&n.text.replace("]]>", "]]]]><![CDATA[>"));
                self.out.push_str("]]>");
            }
            Kind::Comment => {
                self.out.push_str("<!--");
                self.raw(&n.text);
                self.out.push_str("-->");
            }
            Kind::Pi => self.instruction(id, "?>"),
            Kind::EntityRef => self.out.push_str(&format!("&{};", t.name(id))),
            Kind::Dtd => self.doctype(id),
            Kind::Attribute => self.attribute(id, false),
            Kind::ElementDecl | Kind::AttributeDecl | Kind::EntityDecl => self.out.push_str(&n.text),
            _ => return false,
        }
        true
    }
    fn instruction(&mut self, id: Id, end: &str) {
        let n = self.tree.n(id);
        self.out.push_str(&format!("<?{}", self.tree.name(id)));
        if !n.text.is_empty() {
            self.out.push(' ');
            self.raw(&n.text);
        }
        self.out.push_str(end);
    }
    /// Declarations of namespaces.
    fn definitions(&mut self, defs: &[u32], with_xml: bool) {
        for d in defs {
            let ns = &self.tree.nss[*d as usize];
            match ns.prefix.as_deref() {
                Some("xml") if !with_xml => continue,
                Some(p) => self.out.push_str(&format!(" xmlns:{p}=\"{}\"", special(&ns.href))),
                None => self.out.push_str(&format!(" xmlns=\"{}\"", special(&ns.href))),
            }
        }
    }
    fn attribute(&mut self, a: Id, xhtml: bool) {
        if self.is_full() {
            return;
        }
        let t = self.tree;
        self.out.push(' ');
        self.out.push_str(&t.qname(a));
        self.out.push_str("=\"");
        let value: &str = if xhtml && t.n(a).text.is_empty() && t.n(a).bare { t.name(a) } else { &t.n(a).text };
        for c in value.chars() {
            match c {
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '&' => self.out.push_str("&amp;"),
                '"' => self.out.push_str("&quot;"),
                '\n' => self.out.push_str("&#10;"),
                '\r' => self.out.push_str("&#13;"),
                '\t' => self.out.push_str("&#9;"),
                c => self.char(c),
            }
        }
        self.out.push('"');
    }
    fn newline(&mut self, depth: usize) {
        self.out.push('\n');
        // No line begins with more than sixty characters of layout, as in libxml2: depth is the document's to choose.
        for _ in 0..depth.min(60 / self.indent.len().max(1)) {
            self.out.push_str(self.indent);
        }
    }
    fn xml(&mut self, top: Id, xhtml: bool) {
        let t = self.tree;
        // Elements that are open: whether their content is laid out.
        let mut open: Vec<bool> = Vec::new();
        let laid_out =
            |id: Id, outer: bool| outer && !t.children(id).any(|c| matches!(t.kind(c), Kind::Text | Kind::Cdata | Kind::EntityRef));
        let outer = self.options & FORMAT != 0;
        let mut id = top;
        loop {
            if self.is_full() {
                return;
            }
            let mut entered = false;
            if !self.leaf(id) {
                let n = t.n(id);
                if n.kind == Kind::Element {
                    self.out.push('<');
                    self.out.push_str(&t.qname(id));
                    self.definitions(&n.defs, false);
                    for a in t.attrs(id) {
                        self.attribute(a, xhtml);
                    }
                    if n.first == NONE {
                        let closed =
                            if xhtml { n.ns == NONE && listed(XHTML_EMPTY, t.name(id)) } else { self.options & NO_EMPTY_TAGS == 0 };
                        if closed {
                            self.out.push_str(if xhtml { " />" } else { "/>" });
                        } else {
                            self.out.push_str(&format!("></{}>", t.qname(id)));
                        }
                    } else {
                        self.out.push('>');
                        entered = true;
                    }
                } else if n.first != NONE {
                    entered = true;
                }
            }
            if entered {
                let layout = laid_out(id, open.last().copied().unwrap_or(outer));
                open.push(layout);
                id = t.n(id).first;
                if layout && t.is_element(t.n(id).parent) {
                    self.newline(open.len());
                }
                continue;
            }
            // To the next, closing what ends.
            loop {
                if id == top {
                    return;
                }
                let n = t.n(id);
                let layout = open.last().copied().unwrap_or(false);
                let in_element = t.is_element(n.parent);
                if n.next != NONE {
                    if layout && in_element {
                        self.newline(open.len());
                    }
                    id = n.next;
                    break;
                }
                open.pop();
                id = n.parent;
                if in_element {
                    if layout {
                        self.newline(open.len());
                    }
                    self.out.push_str(&format!("</{}>", t.qname(id)));
                }
            }
        }
    }

    // ---- HTML as libxml2 writes it

    fn html_attribute(&mut self, a: Id, parent: Id) {
        if self.is_full() {
            return;
        }
        let t = self.tree;
        let name = t.name(a);
        self.out.push(' ');
        self.out.push_str(&t.qname(a));
        if t.n(a).bare
            || matches!(
                name,
                "checked"
                    | "compact"
                    | "declare"
                    | "defer"
                    | "disabled"
                    | "ismap"
                    | "multiple"
                    | "nohref"
                    | "noresize"
                    | "noshade"
                    | "nowrap"
                    | "readonly"
                    | "selected"
            )
        {
            return;
        }
        let text = &t.n(a).text;
        let link = t.n(a).ns == NONE
            && t.n(parent).ns == NONE
            && (matches!(name, "href" | "action" | "src") || (name == "name" && t.name(parent) == "a"));
        let escaped = if link { uri(text.trim_start_matches([' ', '\t', '\n', '\r'])) } else { text.clone() };
        let mut value = String::new();
        let mut rest = escaped.as_str();
        while let Some(c) = rest.chars().next() {
            match c {
                '<' if link && rest.starts_with("<!--") => {
                    // Comments of servers' own stay as they are.
                    let end = rest.find("-->").map_or(rest.len(), |e| e + 3);
                    value.push_str(&rest[..end]);
                    rest = &rest[end..];
                    continue;
                }
                '<' => value.push_str("&lt;"),
                '>' => value.push_str("&gt;"),
                '&' if rest.starts_with("&{") => value.push('&'),
                '&' => value.push_str("&amp;"),
                c => value.push(c),
            }
            rest = &rest[c.len_utf8()..];
        }
        self.out.push('=');
        let quote = if !value.contains('"') {
            '"'
        } else if !value.contains('\'') {
            '\''
        } else {
            value = value.replace('"', "&quot;");
            '"'
        };
        self.out.push(quote);
        self.raw(&value);
        self.out.push(quote);
    }
    fn html(&mut self, top: Id) {
        let t = self.tree;
        let format = self.options & FORMAT != 0;
        let texty = |id: Id| matches!(t.kind(id), Kind::Text | Kind::EntityRef);
        let begins_with_p = |id: Id| t.name(id).starts_with('p');
        // A line ends after a block that is followed by no text.
        let after = |w: &mut Writer, id: Id, block: bool| {
            let n = t.n(id);
            if format && block && n.next != NONE && !texty(n.next) && n.parent != NONE && t.is_element(n.parent) && !begins_with_p(n.parent)
            {
                w.out.push('\n');
            }
        };
        if top == DOCUMENT {
            // Its own children, each as it comes.
            for c in t.children(DOCUMENT) {
                self.html(c);
                if t.kind(c) == Kind::Dtd {
                    self.out.push('\n');
                }
            }
            self.out.push('\n');
            return;
        }
        let mut id = top;
        loop {
            if self.is_full() {
                return;
            }
            let n = t.n(id);
            let mut entered = false;
            match n.kind {
                Kind::Element => {
                    let known = if n.ns == NONE { html4::element(t.name(id)) } else { None };
                    let block = known.as_ref().is_some_and(|k| !k.inline);
                    self.out.push('<');
                    self.out.push_str(&t.qname(id));
                    self.definitions(&n.defs, true);
                    for a in t.attrs(id) {
                        self.html_attribute(a, id);
                    }
                    self.out.push('>');
                    if known.as_ref().is_some_and(|k| k.empty) {
                        after(self, id, block);
                    } else if n.first == NONE {
                        self.out.push_str(&format!("</{}>", t.qname(id)));
                        after(self, id, block);
                    } else {
                        if format && block && !texty(n.first) && n.first != n.last && !begins_with_p(id) {
                            self.out.push('\n');
                        }
                        entered = true;
                    }
                }
                Kind::Text if n.parent != NONE && matches!(t.name(n.parent), "script" | "style") => self.raw(&n.text),
                Kind::Cdata => self.raw(&n.text),
                Kind::Pi => self.instruction(id, ">"),
                Kind::Attribute => self.html_attribute(id, n.parent),
                _ => {
                    if !self.leaf(id) {
                        entered = n.first != NONE;
                    }
                }
            }
            if entered {
                id = n.first;
                continue;
            }
            loop {
                if id == top {
                    return;
                }
                let n = t.n(id);
                if n.next != NONE {
                    id = n.next;
                    break;
                }
                id = n.parent;
                if t.is_element(id) {
                    let n = t.n(id);
                    let block = n.ns == NONE && html4::element(t.name(id)).is_some_and(|k| !k.inline);
                    if format && block && !texty(n.last) && n.first != n.last && !begins_with_p(id) {
                        self.out.push('\n');
                    }
                    self.out.push_str(&format!("</{}>", t.qname(id)));
                    after(self, id, block);
                }
            }
        }
    }
}

// ---- HTML as the standard writes it

fn standard_name(t: &Tree, id: Id) -> String {
    match t.href(id) {
        None | Some("http://www.w3.org/1999/xhtml" | "http://www.w3.org/2000/svg" | "http://www.w3.org/1998/Math/MathML") => {
            t.name(id).to_owned()
        }
        Some(_) => t.qname(id),
    }
}
fn standard_escape(out: &mut String, text: &str, attribute: bool) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '\u{A0}' => out.push_str("&nbsp;"),
            '"' if attribute => out.push_str("&quot;"),
            '<' if !attribute => out.push_str("&lt;"),
            '>' if !attribute => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
}
fn standard_attribute(t: &Tree, out: &mut String, a: Id) {
    let name = t.name(a);
    match (t.href(a), t.prefix(a)) {
        (None, _) => out.push_str(name),
        (Some(super::tree::XML_HREF), _) => out.push_str(&format!("xml:{}", name.rsplit(':').next().unwrap_or(name))),
        (Some("http://www.w3.org/2000/xmlns/"), _) if name == "xmlns" => out.push_str(name),
        (Some("http://www.w3.org/2000/xmlns/"), _) => out.push_str(&format!("xmlns:{name}")),
        (Some("http://www.w3.org/1999/xlink"), _) => out.push_str(&format!("xlink:{name}")),
        (_, Some(p)) => out.push_str(&format!("{p}:{name}")),
        _ => out.push_str(name),
    }
    out.push_str("=\"");
    standard_escape(out, &t.n(a).text, true);
    out.push('"');
}
/// Whether a line end at the beginning of a content must be written twice.
pub fn prepends_newline(t: &Tree, id: Id) -> bool {
    let first = t.n(id).first;
    matches!(t.name(id), "pre" | "textarea" | "listing")
        && first != NONE
        && t.kind(first) == Kind::Text
        && t.n(first).text.starts_with('\n')
}
/// None: more than `most` bytes.
pub fn standard(t: &Tree, top: Id, preserve: bool, most: usize) -> Option<String> {
    let mut out = String::new();
    let mut id = top;
    loop {
        if out.len() > most {
            return None;
        }
        let n = t.n(id);
        let mut entered = false;
        match n.kind {
            Kind::Element => {
                out.push('<');
                out.push_str(&standard_name(t, id));
                // Namespaces are not written.
                for a in t.attrs(id) {
                    out.push(' ');
                    standard_attribute(t, &mut out, a);
                }
                out.push('>');
                if !(listed(VOID, t.name(id)) && n.ns == NONE) {
                    if preserve && prepends_newline(t, id) {
                        out.push('\n');
                    }
                    if n.first == NONE {
                        out.push_str(&format!("</{}>", standard_name(t, id)));
                    } else {
                        entered = true;
                    }
                }
            }
            Kind::Text | Kind::Cdata => {
                if n.kind == Kind::Cdata && n.parent != NONE && t.n(n.parent).ns != NONE {
                    out.push_str(&format!("<![CDATA[{}]]>", n.text));
                } else if n.parent != NONE && t.n(n.parent).ns == NONE && listed(RAW, t.name(n.parent)) {
                    out.push_str(&n.text);
                } else {
                    standard_escape(&mut out, &n.text, false);
                }
            }
            Kind::Comment => out.push_str(&format!("<!--{}-->", n.text)),
            Kind::Pi => out.push_str(&format!("<?{} {}>", t.name(id), n.text)),
            Kind::Dtd => out.push_str(&format!("<!DOCTYPE {}>", t.name(id))),
            Kind::Attribute => standard_attribute(t, &mut out, id),
            Kind::EntityRef => out.push_str(&format!("&{};", t.name(id))),
            _ => entered = n.first != NONE,
        }
        if entered {
            id = n.first;
            continue;
        }
        loop {
            if id == top || out.len() > most {
                return (out.len() <= most).then_some(out);
            }
            let n = t.n(id);
            if n.next != NONE {
                id = n.next;
                break;
            }
            id = n.parent;
            if t.is_element(id) {
                out.push_str(&format!("</{}>", standard_name(t, id)));
            }
        }
    }
}
