//! A pull parser of XML 1.0 with namespaces, which goes on after errors as libxml2's recovery does: an end tag closes the innermost element whatever its name is, undefined
//! prefixes stay in names, what can't be read is passed over. One parser serves trees, SAX and push parsers (it holds back what is not complete yet).
//!
//! Bounds: entities nest 40 deep, and what they expand to may not be more than ten million bytes beyond five times the document (libxml2's figures); elements nest 256 deep without HUGE.

mod places;
mod tags;

pub use places::{Places, Search};

use super::dtd;
use std::collections::HashMap;

/// Levels by libxml2's numbers.
pub const ERROR: u8 = 2;
pub const FATAL: u8 = 3;

/// What went wrong, and where.
#[derive(Clone, Debug)]
pub struct Problem {
    pub level: u8,
    pub code: u32,
    /// Of libxml2's domains: 1 parser, 3 namespaces, 5 HTML.
    pub domain: u8,
    pub line: u32,
    pub column: u32,
    pub message: String,
    pub str1: Option<String>,
    pub str2: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attribute {
    pub prefix: Option<String>,
    pub name: String,
    pub href: Option<String>,
    pub value: String,
}
impl Attribute {
    pub fn qname(&self) -> String {
        match &self.prefix {
            Some(p) => format!("{p}:{}", self.name),
            None => self.name.clone(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Start {
    pub prefix: Option<String>,
    pub name: String,
    pub href: Option<String>,
    pub attrs: Vec<Attribute>,
    /// Declarations: prefix, URI.
    pub defs: Vec<(Option<String>, String)>,
    /// The line where the tag ends.
    pub line: u32,
}

#[derive(Clone, Debug)]
pub enum Event {
    Declaration {
        version: Option<String>,
        encoding: Option<String>,
        standalone: i8,
    },
    Start(Box<Start>),
    End {
        prefix: Option<String>,
        name: String,
        href: Option<String>,
    },
    /// Text; whether NOBLANKS may drop it if it is blank.
    Text(String, bool),
    Cdata(String),
    Comment(String),
    Pi(String, Option<String>),
    EntityRef(String),
    Doctype {
        name: String,
        external: Option<String>,
        system: Option<String>,
    },
    Declared(dtd::Declared),
    EndDoctype,
    /// Much was read that tells nothing: whoever asks may look up.
    Pause,
    External {
        name: String,
        external: Option<String>,
        system: Option<String>,
    },
}

#[derive(Clone, Copy, Default)]
pub struct Options {
    pub recover: bool,
    pub noent: bool,
    pub huge: bool,
    pub dtdattr: bool,
}

pub struct Frame {
    pub text: String,
    pub at: usize,
    /// The entity that it comes from.
    pub entity: Option<String>,
    /// Elements that were open when it began.
    depth: usize,
}

impl Frame {
    pub fn of_parameter(text: String, name: String, depth: usize) -> Frame {
        Frame { text, at: 0, entity: Some(name), depth }
    }
}

struct Open {
    prefix: Option<String>,
    name: String,
    href: Option<String>,
    line: u32,
    /// Declarations in scope before it.
    scope: usize,
}

/// Declarations in scope.
#[derive(Default)]
struct Scope {
    all: Vec<(Option<String>, String)>,
    /// Which of them stand for a prefix, `""` for none, the nearest last.
    by_prefix: HashMap<String, Vec<usize>>,
}
impl Scope {
    fn declare(&mut self, prefix: Option<String>, href: String) {
        self.by_prefix.entry(prefix.clone().unwrap_or_default()).or_default().push(self.all.len());
        self.all.push((prefix, href));
    }
    fn truncate(&mut self, len: usize) {
        while self.all.len() > len {
            let Some((prefix, _)) = self.all.pop() else { return };
            if let Some(v) = self.by_prefix.get_mut(prefix.as_deref().unwrap_or("")) {
                v.pop();
            }
        }
    }
    fn find(&self, prefix: Option<&str>) -> Option<&str> {
        let at = self.by_prefix.get(prefix.unwrap_or(""))?.last()?;
        self.all.get(*at).map(|(_, href)| href.as_str())
    }
}

/// Steps that tell nothing before a pause.
const SILENT: usize = 256;

pub struct Parser {
    pub options: Options,
    pub frames: Vec<Frame>,
    /// Of the first frame.
    places: Places,
    search: Search,
    /// Bytes of the document so far.
    read: usize,
    /// Nothing more comes.
    pub last: bool,
    open: Vec<Open>,
    scope: Scope,
    pub problems: Vec<Problem>,
    pub entities: HashMap<String, dtd::Entity>,
    pub parameters: HashMap<String, dtd::Entity>,
    /// Attributes that elements get, by element: name and value.
    pub attlists: HashMap<String, Vec<(String, String)>>,
    /// Attributes that are declared, by element and name.
    pub declared: std::collections::HashSet<(String, String)>,
    /// Bytes that entities have expanded to.
    pub expanded: usize,
    pub stopped: bool,
    /// Without recovery nothing is told after a fatal error, though more errors are.
    silenced: bool,
    /// References in attributes stay: SAX without replacing of entities.
    pub keeps_references: bool,
    /// The text of the external subset, if it is to be read.
    pub external_text: Option<String>,
    /// Texts of external entities, by system identifier.
    pub external_entities: HashMap<String, String>,
    /// What ends a tag is passed after the event was taken: places are those before it.
    deferred: usize,
    began: bool,
    seen_root: bool,
    pub seen_doctype: bool,
    /// Content without a root of its own (`Node#parse`, fragments).
    pub fragment: bool,
    queue: std::collections::VecDeque<Event>,
    just_opened: bool,
    finished: bool,
    pub standalone: bool,
    pub external: bool,
}

pub fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic()
        || matches!(c, ':' | '_')
        || (c as u32 >= 0xC0
            && !matches!(c as u32, 0xD7 | 0xF7 | 0x300..=0x36F | 0x2000..=0x206F | 0x2190..=0x2BFF | 0x3000 | 0xFFFE | 0xFFFF))
}
pub fn is_name_char(c: char) -> bool {
    is_name_start(c) || c.is_ascii_digit() || matches!(c, '-' | '.' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}
pub fn is_blank(s: &str) -> bool {
    s.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'))
}
pub fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | b'\n')
}
fn is_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}
/// Line ends as XML wants them.
pub fn normalized(text: &str) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() }
}
pub fn predefined(name: &str) -> Option<&'static str> {
    Some(match name {
        "lt" => "<",
        "gt" => ">",
        "amp" => "&",
        "quot" => "\"",
        "apos" => "'",
        _ => return None,
    })
}
/// A name's parts at its first colon.
pub fn split(name: &str) -> (Option<&str>, &str) {
    match name.split_once(':') {
        Some((p, l)) if !p.is_empty() && !l.is_empty() => (Some(p), l),
        _ => (None, name),
    }
}

impl Parser {
    pub fn new(text: String, options: Options, last: bool) -> Parser {
        Parser {
            options,
            read: text.len(),
            frames: vec![Frame { text, at: 0, entity: None, depth: 0 }],
            places: Places::default(),
            search: Search::default(),
            last,
            open: Vec::new(),
            scope: Scope::default(),
            problems: Vec::new(),
            entities: HashMap::new(),
            parameters: HashMap::new(),
            attlists: HashMap::new(),
            declared: Default::default(),
            expanded: 0,
            stopped: false,
            silenced: false,
            keeps_references: false,
            external_text: None,
            external_entities: HashMap::new(),
            deferred: 0,
            began: false,
            seen_root: false,
            seen_doctype: false,
            fragment: false,
            queue: Default::default(),
            just_opened: false,
            finished: false,
            standalone: false,
            external: false,
        }
    }
    /// Declares a prefix of what stands around a fragment.
    pub fn declare(&mut self, prefix: Option<String>, href: String) {
        self.scope.declare(prefix, href);
    }
    /// More text of a push parser. What was read goes.
    pub fn feed(&mut self, more: &str) {
        self.read += more.len();
        let f = &mut self.frames[0];
        let before = f.at;
        self.places.forget(&mut f.text, &mut f.at);
        self.search.moved(before - f.at);
        f.text.push_str(more);
    }
    /// Bytes that wait to be read, and those that were read and are still there.
    pub fn held(&self) -> usize {
        self.frames[0].text.len()
    }

    // ---- places

    pub fn line(&mut self) -> u32 {
        let f = &self.frames[0];
        self.places.line(&f.text, f.at)
    }
    pub fn column(&mut self) -> u32 {
        let f = &self.frames[0];
        self.places.column(&f.text, f.at)
    }
    pub fn report(&mut self, level: u8, domain: u8, code: u32, message: String, str1: Option<&str>) {
        let (line, column) = (self.line(), self.column());
        if level == FATAL {
            self.silenced |= !self.options.recover;
        }
        let message = if message.ends_with('\n') { message } else { message + "\n" };
        if self.problems.len() < 10_000 {
            self.problems.push(Problem { level, code, domain, line, column, message, str1: str1.map(str::to_owned), str2: None });
        }
    }
    pub fn error(&mut self, code: u32, message: impl Into<String>) {
        self.report(FATAL, 1, code, message.into(), None);
    }

    // ---- reading

    pub fn rest(&self) -> &str {
        let f = self.frames.last().unwrap_or(&self.frames[0]);
        &f.text[f.at..]
    }
    pub fn byte(&self) -> u8 {
        self.rest().as_bytes().first().copied().unwrap_or(0)
    }
    pub fn looking_at(&self, s: &str) -> bool {
        self.rest().starts_with(s)
    }
    pub fn advance(&mut self, n: usize) {
        if let Some(f) = self.frames.last_mut() {
            f.at += n;
        }
    }
    pub fn skip_space(&mut self) -> bool {
        let n = self.rest().bytes().take_while(|b| is_space(*b)).count();
        self.advance(n);
        n > 0
    }
    pub fn name(&mut self) -> Option<String> {
        let rest = self.rest();
        let mut chars = rest.char_indices();
        if !chars.next().is_some_and(|(_, c)| is_name_start(c)) {
            return None;
        }
        let end = chars.find(|(_, c)| !is_name_char(*c)).map_or(rest.len(), |(i, _)| i);
        let name = rest[..end].to_owned();
        self.advance(end);
        Some(name)
    }
    /// Text up to a mark, which is passed. None when it does not come: all that is left is passed.
    pub fn until(&mut self, mark: &str) -> Option<String> {
        let rest = self.rest();
        match rest.find(mark) {
            Some(at) => {
                let text = rest[..at].to_owned();
                self.advance(at + mark.len());
                Some(text)
            }
            None => {
                let n = rest.len();
                self.advance(n);
                None
            }
        }
    }
    /// Whether what begins here is there as a whole, so that a push parser may read it.
    fn is_complete(&mut self) -> bool {
        if self.last || self.frames.len() > 1 {
            return true;
        }
        let f = &self.frames[0];
        let r = &f.text[f.at..];
        let search = self.search.of(f.at);
        if !self.began && r.len() < 6 && "<?xml ".starts_with(r) {
            return false;
        }
        if r.starts_with("<!--") {
            return search.mark(r, 4, "-->");
        }
        if r.starts_with("<![CDATA[") {
            return search.mark(r, 9, "]]>");
        }
        if r.starts_with("<?") {
            return search.mark(r, 2, "?>");
        }
        if r.starts_with("<!") {
            return !(r.len() < 9 && ("<![CDATA[".starts_with(r) || "<!--".starts_with(r))) && search.markup(r, true);
        }
        if r.starts_with('<') {
            return search.markup(r, false);
        }
        if r.starts_with('&') {
            return search.byte(r, b";< ").is_some();
        }
        // A mark `]]>` may be cut in two, and blanks be followed by `</`.
        search.byte(r, b"<&").is_some_and(|at| at + 1 < r.len())
    }

    /// The next event. None: the end, or more must come first.
    pub fn next(&mut self) -> Option<Event> {
        for _ in 0..SILENT {
            if let Some(e) = self.queue.pop_front() {
                self.just_opened = matches!(e, Event::Start(_));
                return Some(e);
            }
            let n = std::mem::take(&mut self.deferred);
            self.advance(n);
            if self.stopped || self.finished {
                return None;
            }
            if self.rest().is_empty() {
                if self.frames.len() > 1 {
                    self.leave();
                    continue;
                }
                if !self.last {
                    return None;
                }
                self.finish();
                continue;
            }
            if !self.is_complete() {
                return None;
            }
            self.step();
        }
        Some(Event::Pause)
    }
    /// Leaves an entity's text.
    fn leave(&mut self) {
        let Some(f) = self.frames.pop() else { return };
        if self.open.len() > f.depth {
            self.error(85, format!("Entity '{}' is not balanced", f.entity.unwrap_or_default()));
            while self.open.len() > f.depth {
                self.close();
            }
        }
    }
    fn finish(&mut self) {
        self.finished = true;
        if let Some(o) = self.open.last() {
            let (name, line) = (Self::qname(o), o.line);
            if self.fragment && self.open.is_empty() {
                return;
            }
            self.error(77, format!("Premature end of data in tag {name} line {line}"));
            self.open.clear();
        } else if !self.seen_root && !self.fragment {
            if self.began {
                self.error(4, "Start tag expected, '<' not found");
            } else {
                self.error(4, "Document is empty");
            }
        }
    }
    fn qname(o: &Open) -> String {
        match &o.prefix {
            Some(p) => format!("{p}:{}", o.name),
            None => o.name.clone(),
        }
    }
    fn close(&mut self) {
        if let Some(o) = self.open.pop() {
            self.scope.truncate(o.scope);
            self.push(Event::End { prefix: o.prefix, name: o.name, href: o.href });
        }
    }

    /// Reads one construct.
    fn step(&mut self) {
        if !self.began {
            self.began = true;
            if self.looking_at("<?xml") && self.rest().as_bytes().get(5).is_some_and(|b| is_space(*b)) {
                return self.declaration();
            }
            if !self.fragment && !self.looking_at("<") && !is_space(self.byte()) {
                self.error(4, "Start tag expected, '<' not found");
                self.stopped = true;
                return;
            }
        }
        if self.open.is_empty() && !self.fragment && self.frames.len() == 1 {
            // What follows may not be complete.
            if self.skip_space() {
                return;
            }
            let markup = self.looking_at("<?")
                || self.looking_at("<!--")
                || (!self.seen_root && (self.looking_at("<!DOCTYPE") || self.looking_at("<")));
            if !markup {
                if self.seen_root {
                    self.error(5, "Extra content at the end of the document");
                } else {
                    self.error(4, "Start tag expected, '<' not found");
                }
                self.stopped = true;
                return;
            }
        }
        let r = self.rest();
        if r.starts_with("<!--") {
            self.comment();
        } else if r.starts_with("<![CDATA[") && (self.fragment || !self.open.is_empty()) {
            self.advance(9);
            match self.until("]]>") {
                Some(text) => self.push(Event::Cdata(text)),
                None => self.error(63, "CData section not finished\n"),
            }
        } else if r.starts_with("<!DOCTYPE") && !self.seen_root && !self.fragment {
            dtd::doctype(self);
        } else if r.starts_with("<?") {
            self.instruction();
        } else if r.starts_with("</") {
            self.end_tag();
        } else if r.starts_with('<') {
            self.start_tag();
        } else if r.starts_with('&') {
            self.reference();
        } else {
            self.text();
        }
    }
    /// Tells an event, unless an error has silenced the parser.
    pub fn push(&mut self, e: Event) {
        if !self.silenced {
            self.queue.push_back(e);
        }
    }
    fn declaration(&mut self) {
        self.advance(5);
        let Some(text) = self.until("?>") else {
            return self.error(57, "parsing XML declaration: '?>' expected");
        };
        let value = |key: &str| -> Option<String> {
            let mut from = 0;
            while let Some(at) = text[from..].find(key) {
                let after = text[from + at + key.len()..].trim_start();
                if let Some(v) = after.strip_prefix('=') {
                    let v = v.trim_start();
                    let q = v.chars().next().filter(|q| matches!(q, '"' | '\''))?;
                    return v[1..].find(q).map(|e| v[1..1 + e].to_owned());
                }
                from += at + key.len();
            }
            None
        };
        let standalone = match value("standalone").as_deref() {
            Some("yes") => 1,
            Some("no") => 0,
            _ => -1,
        };
        self.standalone = standalone == 1;
        let version = value("version");
        if version.is_none() {
            self.error(96, "Malformed declaration expecting version");
        }
        self.push(Event::Declaration { version, encoding: value("encoding"), standalone });
    }
    pub fn comment(&mut self) {
        self.advance(4);
        match self.until("-->") {
            Some(text) => {
                if text.contains("--") || text.ends_with('-') {
                    self.error(80, "Double hyphen within comment: <!--".to_owned() + text.split("--").next().unwrap_or("") + "\n");
                }
                self.push(Event::Comment(text));
            }
            None => self.error(45, "Comment not terminated \n"),
        }
    }
    pub fn instruction(&mut self) {
        self.advance(2);
        let Some(target) = self.name() else {
            self.error(46, "xmlParsePI : no target name");
            self.until("?>");
            return;
        };
        if target.eq_ignore_ascii_case("xml") {
            if target == "xml" {
                self.error(64, "XML declaration allowed only at the start of the document");
            } else {
                self.error(64, "xmlParsePITarget: invalid name prefix 'xml'");
            }
        }

        match self.until("?>") {
            Some(text) => {
                let data = text.trim_start();
                let data = if data.is_empty() { None } else { Some(data.to_owned()) };
                self.push(Event::Pi(target, data));
            }
            None => self.error(47, format!("ParsePI: PI {target} never end ...")),
        }
    }
    fn text(&mut self) {
        let rest = self.rest();
        let end = rest.bytes().position(|b| matches!(b, b'<' | b'&')).unwrap_or(rest.len());
        let mut text = rest[..end].to_owned();
        let after = &rest[end..];
        let droppable = after.starts_with('<') && !(self.just_opened && after.starts_with("</"));
        let marked = text.contains("]]>");
        let bad = text.chars().find(|c| !is_char(*c));
        self.advance(end);
        if marked {
            self.error(62, "Sequence ']]>' not allowed in content");
        }
        if let Some(c) = bad {
            self.error(9, format!("PCDATA invalid Char value {}", c as u32));
            text.retain(is_char);
        }
        if !self.stopped && !text.is_empty() {
            self.push(Event::Text(text, droppable));
        }
    }
    /// A character reference at `&#`; what it means.
    pub fn character(&mut self) -> Option<char> {
        let rest = self.rest();
        let (radix, skip) = if rest.starts_with("&#x") { (16, 3) } else { (10, 2) };
        let digits = rest[skip..].bytes().take_while(|b| (*b as char).is_digit(radix)).count();
        let mut n = 0u32;
        for b in rest[skip..skip + digits].chars() {
            n = n.saturating_mul(radix).saturating_add(b.to_digit(radix).unwrap_or(0));
        }
        let closed = rest[skip + digits..].starts_with(';');
        self.advance(skip + digits + closed as usize);
        if digits == 0 || !closed {
            if radix == 16 {
                self.error(6, "xmlParseCharRef: invalid hexadecimal value");
            } else {
                self.error(7, "xmlParseCharRef: invalid decimal value");
            }
            self.error(8, "xmlParseCharRef: invalid xmlChar value 0");
            return None;
        }
        match char::from_u32(n).filter(|c| is_char(*c)) {
            Some(c) => Some(c),
            None => {
                self.error(9, format!("xmlParseCharRef: invalid xmlChar value {n}"));
                None
            }
        }
    }
    /// The name in `&name;`.
    fn entity_name(&mut self) -> Option<String> {
        self.advance(1);
        let Some(name) = self.name() else {
            self.error(68, "xmlParseEntityRef: no name");
            return None;
        };
        if self.byte() != b';' {
            self.error(23, "EntityRef: expecting ';'");
            return None;
        }
        self.advance(1);
        Some(name)
    }
    fn undefined(&mut self, name: &str) {
        if self.external && !self.standalone {
            self.report(ERROR, 1, 27, format!("Entity '{name}' not defined\n"), Some(name));
        } else {
            self.report(FATAL, 1, 26, format!("Entity '{name}' not defined\n"), Some(name));
        }
    }
    fn reference(&mut self) {
        if self.looking_at("&#") {
            if let Some(c) = self.character() {
                self.push(Event::Text(c.to_string(), false));
            }
            return;
        }
        let Some(name) = self.entity_name() else { return };
        if let Some(text) = predefined(&name) {
            self.push(Event::Text(text.to_owned(), false));
            return;
        }
        let Some(e) = self.entities.get(&name) else {
            self.undefined(&name);
            if !self.options.noent {
                self.push(Event::EntityRef(name));
            }
            return;
        };
        if !self.options.noent {
            self.push(Event::EntityRef(name));
            return;
        }
        let content = match &e.system {
            Some(s) => self.external_entities.get(s).cloned(),
            None => e.content.clone(),
        };
        self.enter(&name, &content.unwrap_or_default());
    }
    /// Goes on in an entity's text.
    fn enter(&mut self, name: &str, content: &str) {
        if self.frames.len() > 40 || self.frames.iter().any(|f| f.entity.as_deref() == Some(name)) {
            self.error(89, "Detected an entity reference loop\n");
            self.stopped = true;
        } else if self.spend(content.len()) {
            self.frames.push(Frame { text: content.to_owned(), at: 0, entity: Some(name.to_owned()), depth: self.open.len() });
        }
    }
    /// Counts what an entity expands to.
    fn spend(&mut self, bytes: usize) -> bool {
        self.expanded += bytes + 10;
        if self.expanded > super::tree::ENTITY_BYTES + self.read.saturating_mul(5) {
            self.error(89, "Detected an entity reference loop\n");
            self.stopped = true;
            return false;
        }
        true
    }
    /// Replaces references in an attribute's value.
    pub fn expand(&mut self, text: &str, depth: usize, out: &mut String) {
        if depth > 40 {
            self.error(89, "Detected an entity reference loop\n");
            self.stopped = true;
            return;
        }
        let mut rest = text;
        while let Some(at) = rest.find('&') {
            if self.stopped {
                return;
            }
            push_attribute_text(out, &rest[..at]);
            rest = &rest[at..];
            // References are read by the same functions as in text.
            self.frames.push(Frame { text: rest[..rest.floor_char_boundary(300)].to_owned(), at: 0, entity: None, depth: self.open.len() });
            let mut put = None;
            if rest.starts_with("&#") {
                match self.character() {
                    Some('&') if self.keeps_references => out.push_str("&#38;"),
                    Some(c) => out.push(c),
                    None => {}
                }
            } else {
                put = self.entity_name();
            }
            let used = self.frames.pop().map_or(1, |f| f.at).max(1);
            rest = &rest[used.min(rest.len())..];
            if let Some(name) = put {
                if let Some(text) = predefined(&name) {
                    out.push_str(if self.keeps_references && text == "&" { "&#38;" } else { text });
                } else if self.keeps_references && self.entities.contains_key(&name) {
                    out.push_str(&format!("&{name};"));
                } else {
                    match self.entities.get(&name).map(|e| e.content.clone()) {
                        None => self.undefined(&name),
                        Some(None) => {}
                        Some(Some(content)) => {
                            if !self.spend(content.len()) {
                                return;
                            }
                            self.expand(&content, depth + 1, out);
                        }
                    }
                }
            }
        }
        push_attribute_text(out, rest);
    }
    pub fn depth(&self) -> usize {
        self.open.len()
    }
}

fn push_attribute_text(out: &mut String, text: &str) {
    out.extend(text.chars().map(|c| if matches!(c, '\n' | '\t' | '\r') { ' ' } else { c }));
}
