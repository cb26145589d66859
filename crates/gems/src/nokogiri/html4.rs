//! HTML as libxml2 2.9 reads it: no algorithm of the standard's, but tables of which start tag closes which open element, and priorities of end tags. Documents that Loofah,
//! Rails' sanitizers and their suites were written against come out as they expect. The tables were observed, element by element.

use super::entities;
use super::xml::{Attribute, ERROR, Event, FATAL, Places, Problem, Search, Start, is_space};
use std::collections::{HashMap, VecDeque};

mod elements;

pub use elements::element;
use elements::{closes, priority};

#[derive(Clone, Copy, Default)]
pub struct Options {
    pub huge: bool,
    /// No implied html, head and body.
    pub no_implied: bool,
}

/// The open elements. Questions about them do not look at all of them: without a bound of their depth there may be many.
#[derive(Default)]
struct Open {
    names: Vec<String>,
    /// Where those of a name stand.
    by_name: HashMap<String, Vec<usize>>,
    /// Where those of a priority stand.
    by_priority: HashMap<u32, Vec<usize>>,
}
impl Open {
    fn push(&mut self, name: &str) {
        let at = self.names.len();
        self.by_name.entry(name.to_owned()).or_default().push(at);
        self.by_priority.entry(priority(name)).or_default().push(at);
        self.names.push(name.to_owned());
    }
    fn pop(&mut self) -> Option<String> {
        let name = self.names.pop()?;
        self.by_name.get_mut(&name).and_then(Vec::pop);
        self.by_priority.get_mut(&priority(&name)).and_then(Vec::pop);
        Some(name)
    }
    /// The place of the innermost of a name.
    fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name)?.last().copied()
    }
    /// Whether something that a priority can't close stands further in than a place.
    fn is_guarded(&self, at: usize, own: u32) -> bool {
        self.by_priority.iter().any(|(p, places)| *p > own && places.last().is_some_and(|l| *l > at))
    }
}

/// Steps that tell nothing before a pause.
const SILENT: usize = 256;

pub struct Parser {
    options: Options,
    text: String,
    at: usize,
    places: Places,
    search: Search,
    pub last: bool,
    open: Open,
    queue: VecDeque<Event>,
    pub problems: Vec<Problem>,
    pub stopped: bool,
    began: bool,
    saw_head: bool,
    saw_body: bool,
    content: bool,
    /// Misplaced html, head and body tags, whose end tags mean nothing either.
    discarded: usize,
    pub seen_doctype: bool,
    finished: bool,
    pub fragment: bool,
}

impl Parser {
    pub fn new(text: &str, options: Options, last: bool) -> Parser {
        Parser {
            options,
            text: text.to_owned(),
            at: 0,
            places: Places::default(),
            search: Search::default(),
            last,
            open: Open::default(),
            queue: VecDeque::new(),
            problems: Vec::new(),
            stopped: false,
            began: false,
            saw_head: false,
            saw_body: false,
            content: false,
            discarded: 0,
            seen_doctype: false,
            finished: false,
            fragment: false,
        }
    }
    /// More text of a push parser. What was read goes.
    pub fn feed(&mut self, more: &str) {
        let before = self.at;
        self.places.forget(&mut self.text, &mut self.at);
        self.search.moved(before - self.at);
        self.text.push_str(more);
    }
    /// Bytes that wait to be read, and those that were read and are still there.
    pub fn held(&self) -> usize {
        self.text.len()
    }
    pub fn line(&mut self) -> u32 {
        self.places.line(&self.text, self.at)
    }
    pub fn column(&mut self) -> u32 {
        self.places.column(&self.text, self.at)
    }
    fn error(&mut self, code: u32, message: String, str1: Option<&str>) {
        let (line, column) = (self.line(), self.column());
        if self.problems.len() < 10_000 {
            self.problems.push(Problem { level: ERROR, code, domain: 5, line, column, message, str1: str1.map(str::to_owned), str2: None });
        }
    }
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }
    fn byte(&self, i: usize) -> u8 {
        self.text.as_bytes().get(self.at + i).copied().unwrap_or(0)
    }
    fn skip_space(&mut self) {
        self.at += self.rest().bytes().take_while(|b| is_space(*b)).count();
    }
    fn current(&self) -> Option<&str> {
        self.open.names.last().map(String::as_str)
    }
    fn is_complete(&mut self) -> bool {
        if self.last {
            return true;
        }
        let raw = self.current().filter(|c| matches!(*c, "script" | "style")).map(|c| format!("</{c}"));
        let r = &self.text[self.at..];
        let search = self.search.of(self.at);
        if let Some(end) = raw.filter(|_| !r.starts_with("</")) {
            return search.mark(r, 0, &end);
        }
        if r.starts_with("<!--") {
            return search.mark(r, 4, "-->");
        }
        if r.starts_with("<!") {
            return r.len() > 9
                && if r.as_bytes()[..9].eq_ignore_ascii_case(b"<!doctype") {
                    search.markup(r, false)
                } else {
                    search.byte(r, b">").is_some()
                };
        }
        if r.starts_with('<') {
            return r.len() > 3 && search.tag(r);
        }
        if r.starts_with('&') {
            return search.byte(r, b";< ").is_some();
        }
        search.byte(r, b"<&").is_some()
    }
    pub fn next(&mut self) -> Option<Event> {
        for _ in 0..SILENT {
            if let Some(e) = self.queue.pop_front() {
                return Some(e);
            }
            if self.stopped || self.finished {
                return None;
            }
            if self.at >= self.text.len() {
                if !self.last {
                    return None;
                }
                self.finished = true;
                while !self.open.names.is_empty() {
                    self.close();
                }
                continue;
            }
            if !self.is_complete() {
                return None;
            }
            self.step();
        }
        Some(Event::Pause)
    }
    fn push_start(&mut self, name: &str, attrs: Vec<Attribute>) {
        if self.open.names.len() > 256 && !self.options.huge {
            self.error(1, "Excessive depth in document: 256 use XML_PARSE_HUGE option\n".into(), None);
            if let Some(p) = self.problems.last_mut() {
                p.level = FATAL;
            }
            self.stopped = true;
            return;
        }
        match name {
            "head" => self.saw_head = true,
            "body" => self.saw_body = true,
            _ => {}
        }
        let line = self.line();
        // A prefix is cut off.
        let shown = name.rsplit(':').next().filter(|n| !n.is_empty()).unwrap_or(name);
        self.queue.push_back(Event::Start(Box::new(Start {
            prefix: None,
            name: shown.to_owned(),
            href: None,
            attrs,
            defs: Vec::new(),
            line,
        })));
        self.open.push(name);
    }
    fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            let name = name.rsplit(':').next().filter(|n| !n.is_empty()).unwrap_or(&name).to_owned();
            self.queue.push_back(Event::End { prefix: None, name, href: None });
        }
    }
    fn auto_close(&mut self, start: &str) {
        while self.current().is_some_and(|c| closes(start, c)) {
            self.close();
        }
    }
    fn imply(&mut self, name: &str) {
        if self.options.no_implied || name == "html" {
            return;
        }
        if self.open.names.is_empty() {
            self.push_start("html", Vec::new());
        }
        if matches!(name, "body" | "head") {
            return;
        }
        if self.open.names.len() <= 1 && matches!(name, "script" | "style" | "meta" | "link" | "title" | "base") {
            if !self.saw_head {
                self.push_start("head", Vec::new());
            }
        } else if !matches!(name, "noframes" | "frame" | "frameset")
            && !self.saw_body
            && self.open.find("body").is_none()
            && self.open.find("head").is_none()
        {
            self.push_start("body", Vec::new());
        }
    }
    /// Text where no element is, or right in html or head, makes a paragraph.
    fn paragraph(&mut self) {
        match self.current() {
            None => {
                self.imply("p");
                self.push_start("p", Vec::new());
            }
            Some("html" | "head") => {
                self.auto_close("p");
                self.imply("p");
                self.push_start("p", Vec::new());
            }
            _ => {}
        }
    }
    fn characters(&mut self, text: String) {
        let blank = text.bytes().all(is_space);
        if blank && matches!(self.current(), None | Some("html" | "head")) {
            if !self.open.names.is_empty() {
                self.queue.push_back(Event::Text(text, true));
            }
            return;
        }
        self.paragraph();
        let droppable = blank && self.rest().starts_with('<');
        self.queue.push_back(Event::Text(text, droppable));
    }
    fn step(&mut self) {
        if !self.began {
            self.began = true;
            if !self.fragment {
                // What follows may not be complete.
                return self.skip_space();
            }
        }
        if self.current().is_some_and(|c| matches!(c, "script" | "style")) && !self.rest().starts_with("</") {
            return self.raw();
        }
        let r = self.rest();
        if r.starts_with("</") {
            return self.end_tag();
        }
        if r.len() >= 9 && r.is_char_boundary(9) && r[..9].eq_ignore_ascii_case("<!doctype") {
            return self.doctype();
        }
        if r.starts_with("<!--") {
            self.at += 4;
            let rest = self.rest();
            let b = rest.as_bytes();
            let end = (0..b.len()).find_map(|i| match &b[i..] {
                [b'-', b'-', b'>', ..] => Some((i, 3)),
                [b'-', b'-', b'!', b'>', ..] => Some((i, 4)),
                _ => None,
            });
            match end {
                Some((at, mark)) => {
                    let text = rest[..at].to_owned();
                    self.at += at + mark;
                    if mark == 4 {
                        self.error(89, "Comment incorrectly closed by '--!>'\n".into(), None);
                    }
                    self.queue.push_back(Event::Comment(text));
                }
                None => {
                    self.at = self.text.len();
                    self.error(45, "Comment not terminated \n<!--".into(), None);
                }
            }
            return;
        }
        if r.starts_with("<?") {
            return self.instruction();
        }
        if r.starts_with("<!") {
            // What is no declaration stays as text, before all elements without its bracket.
            let from = self.open.names.is_empty() as usize;
            let end = r[1..].bytes().position(|b| matches!(b, b'<' | b'&')).map_or(r.len(), |at| at + 1);
            let text = r[from..end].to_owned();
            self.at += end;
            return self.characters(text);
        }
        if r.starts_with('<') {
            if self.byte(1).is_ascii_alphabetic() || matches!(self.byte(1), b'_' | b':') {
                return self.start_tag();
            }
            if self.open.names.is_empty() && !self.content && !self.fragment && r.len() == 1 {
                self.at += 1;
                return self.error(68, "htmlParseStartTag: invalid element name\n".into(), None);
            }
            self.at += 1;
            return self.characters("<".into());
        }
        if r.starts_with('&') {
            let text = self.reference();
            return self.characters(text);
        }
        let end = r.bytes().position(|b| matches!(b, b'<' | b'&')).unwrap_or(r.len());
        let mut text = r[..end].to_owned();
        let nul = text.contains('\0');
        if nul {
            self.error(9, "Char 0x0 out of allowed range\n".into(), None);
            text = text.replace('\0', " ");
        }
        self.at += end;
        text.retain(|c| matches!(c, '\t' | '\n' | '\r' | ' '..));
        if !text.is_empty() {
            self.characters(text);
        }
    }
    /// The content of script and style.
    fn raw(&mut self) {
        let name = self.current().unwrap_or("").to_owned();
        let mut from = 0;
        loop {
            let rest = self.rest();
            match rest[from..].find("</") {
                None => {
                    from = rest.len();
                    break;
                }
                Some(at) => {
                    let after = &rest.as_bytes()[from + at + 2..];
                    if after.len() >= name.len() && after[..name.len()].eq_ignore_ascii_case(name.as_bytes()) {
                        from += at;
                        break;
                    }
                    let before = self.at;
                    self.at += from + at;
                    self.error(601, format!("Element {name} embeds close tag\n"), Some(&name));
                    self.at = before;
                    from += at + 2;
                }
            }
        }
        let text = self.rest()[..from].to_owned();
        self.at += from;
        if !text.is_empty() {
            self.queue.push_back(Event::Cdata(text));
        }
    }
    /// A reference's text; what is none stays as it stands.
    fn reference(&mut self) -> String {
        let (text, used, problem) = {
            let r = self.rest();
            decoded(r)
        };
        self.at += used;
        if let Some((code, message)) = problem {
            self.error(code, message, None);
        }
        text
    }
    fn instruction(&mut self) {
        self.at += 2;
        let r = self.rest();
        let n = r.find(|c: char| !super::xml::is_name_char(c)).unwrap_or(r.len());
        if n == 0 || !r.starts_with(super::xml::is_name_start) {
            self.error(46, "PI is not started correctly".into(), None);
            return;
        }
        let target = r[..n].to_owned();
        self.at += n;
        let r = self.rest();
        match r.find('>') {
            Some(end) => {
                let data = r[..end].trim_start().to_owned();
                self.at += end + 1;
                self.queue.push_back(Event::Pi(target, if data.is_empty() { None } else { Some(data) }));
            }
            None => {
                self.at = self.text.len();
                self.error(47, format!("PI {target} never end ...\n"), Some(&target));
            }
        }
    }
    fn literal(&mut self) -> Option<String> {
        self.skip_space();
        let q = self.byte(0);
        if !matches!(q, b'"' | b'\'') {
            return None;
        }
        let r = &self.rest()[1..];
        let end = r.bytes().position(|b| b == q)?;
        let text = r[..end].to_owned();
        self.at += end + 2;
        Some(text)
    }
    fn doctype(&mut self) {
        let misplaced = self.content || self.seen_doctype;
        self.at += 9;
        self.skip_space();
        let r = self.rest();
        let n = r.find(|c: char| !super::xml::is_name_char(c)).unwrap_or(r.len());
        let name = r[..n].to_owned();
        self.at += n;
        self.skip_space();
        let word = self.rest().get(..6).unwrap_or("").to_ascii_uppercase();
        let (mut external, mut system) = (None, None);
        if word == "PUBLIC" {
            self.at += 6;
            external = self.literal();
            system = self.literal();
        } else if word == "SYSTEM" {
            self.at += 6;
            system = self.literal();
        }
        self.skip_space();
        if self.byte(0) != b'>' {
            self.error(61, "DOCTYPE improperly terminated\n".into(), None);
        }
        let r = self.rest();
        self.at += r.find('>').map_or(r.len(), |at| at + 1);
        if misplaced {
            return self.error(800, "Misplaced DOCTYPE declaration\n".into(), Some("DOCTYPE"));
        }
        self.seen_doctype = true;
        self.queue.push_back(Event::Doctype { name, external, system });
        self.queue.push_back(Event::EndDoctype);
    }
    fn tag_name(&mut self) -> String {
        let r = self.rest();
        let n = r.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '_' | '.'))).unwrap_or(r.len());
        let name = r[..n].to_ascii_lowercase();
        self.at += n;
        name
    }
    fn end_tag(&mut self) {
        self.content = true;
        self.at += 2;
        let c = self.byte(0);
        if !(c.is_ascii_alphabetic() || matches!(c, b'_' | b':')) {
            // What follows is text.
            return;
        }
        let name = self.tag_name();
        self.skip_space();
        if self.byte(0) != b'>' {
            if self.byte(0) == 0 {
                self.at = self.text.len();
            }
            self.error(73, "End tag : expected '>'\n".into(), None);
            let r = self.rest();
            self.at += r.find('>').unwrap_or(r.len());
        }
        if self.byte(0) == b'>' {
            self.at += 1;
        }
        if self.discarded > 0 && matches!(name.as_str(), "html" | "body" | "head") {
            self.discarded -= 1;
            return;
        }
        let Some(at) = self.open.find(&name) else {
            return self.error(76, format!("Unexpected end tag : {name}\n"), Some(&name));
        };
        if self.open.is_guarded(at, priority(&name)) {
            let current = self.current().unwrap_or("").to_owned();
            return self.error(76, format!("Opening and ending tag mismatch: {name} and {current}\n"), Some(&name));
        }
        while let Some(current) = self.current().map(str::to_owned) {
            if current == name {
                break;
            }
            if element(&current).is_some_and(|e| e.end_tag) {
                self.error(76, format!("Opening and ending tag mismatch: {name} and {current}\n"), Some(&name));
            }
            self.close();
        }
        self.close();
    }
    fn start_tag(&mut self) {
        self.content = true;
        self.at += 1;
        let name = self.tag_name();
        self.auto_close(&name);
        self.imply(&name);
        let mut discard = false;
        let misplaced = match name.as_str() {
            "html" => !self.open.names.is_empty(),
            "head" => self.open.names.len() != 1 && !self.options.no_implied || self.options.no_implied && self.open.names.len() > 1,
            "body" => self.open.find("body").is_some(),
            _ => false,
        };
        if misplaced {
            self.error(800, format!("htmlParseStartTag: misplaced <{name}> tag\n"), Some(&name));
            discard = true;
            self.discarded += 1;
        }
        let mut attrs: Vec<Attribute> = Vec::new();
        let mut seen: std::collections::HashSet<String> = Default::default();
        loop {
            self.skip_space();
            match (self.byte(0), self.byte(1)) {
                (0, _) => {
                    // A NUL ends all that can be read.
                    self.at = self.text.len();
                    break;
                }
                (b'>', _) | (b'/', b'>') => break,
                _ => {}
            }
            let c = self.byte(0);
            if !(c.is_ascii_alphabetic() || matches!(c, b'_' | b':' | b'.')) {
                self.error(68, "error parsing attribute name\n".into(), None);
                // Up to what may be another attribute.
                let r = self.rest();
                let n = r
                    .char_indices()
                    .skip(1)
                    .find(|(i, c)| c.is_ascii_whitespace() || *c == '>' || r[*i..].starts_with("/>"))
                    .map_or(r.len(), |(i, _)| i);
                self.at += n;
                continue;
            }
            let attr = self.tag_name();
            self.skip_space();
            let mut value = None;
            if self.byte(0) == b'=' {
                self.at += 1;
                self.skip_space();
                value = Some(self.value());
            }
            if !seen.insert(attr.clone()) {
                self.error(42, format!("Attribute {attr} redefined\n"), Some(&attr));
                continue;
            }
            // An attribute without a value is told by its prefix: HTML has none.
            let prefix = if value.is_none() { Some(String::new()) } else { None };
            attrs.push(Attribute { prefix, name: attr, href: None, value: value.unwrap_or_default() });
        }
        let known = element(&name);
        if !discard {
            self.push_start(&name, attrs);
        }
        if known.is_none() {
            self.error(801, format!("Tag {name} invalid\n"), Some(&name));
        }
        let ended = if self.rest().starts_with("/>") {
            self.at += 2;
            true
        } else {
            if self.byte(0) == b'>' {
                self.at += 1;
            } else {
                self.error(73, format!("Couldn't find end of Start Tag {name}\n"), Some(&name));
            }
            known.is_some_and(|e| e.empty)
        };
        if ended && !discard {
            self.close();
        }
    }
    fn value(&mut self) -> String {
        let q = self.byte(0);
        let raw;
        if matches!(q, b'"' | b'\'') {
            let r = &self.rest()[1..];
            match r.bytes().position(|b| b == q || b == 0) {
                Some(end) if r.as_bytes()[end] == q => {
                    raw = r[..end].to_owned();
                    self.at += end + 2;
                }
                end => {
                    raw = r[..end.unwrap_or(r.len())].to_owned();
                    self.at = self.text.len();
                    self.error(40, format!("AttValue: {} expected\n", q as char), None);
                }
            }
        } else {
            let r = self.rest();
            let end = r.bytes().position(|b| is_space(b) || b == b'>').unwrap_or(r.len());
            raw = r[..end].to_owned();
            self.at += end;
        }
        let mut out = String::new();
        let mut rest = raw.as_str();
        while let Some(at) = rest.find('&') {
            out.push_str(&rest[..at]);
            let (text, used, problem) = decoded(&rest[at..]);
            out.push_str(&text);
            if let Some((code, message)) = problem {
                self.error(code, message, None);
            }
            rest = &rest[at + used..];
        }
        out.push_str(rest);
        out
    }
}

/// What a reference at the beginning of a text stands for, its length, and what is wrong with it.
fn decoded(r: &str) -> (String, usize, Option<(u32, String)>) {
    if let Some(digits) = r.strip_prefix("&#") {
        let (skip, radix) = if digits.starts_with(['x', 'X']) { (1, 16) } else { (0, 10) };
        let n = digits[skip..].bytes().take_while(|b| (*b as char).is_digit(radix)).count();
        if n == 0 {
            return ("&#".into(), 2, Some((6, "htmlParseCharRef: invalid value\n".into())));
        }
        let value = digits[skip..skip + n]
            .bytes()
            .fold(0u32, |v, b| v.saturating_mul(radix).saturating_add((b as char).to_digit(radix).unwrap_or(0)));
        let closed = digits[skip + n..].starts_with(';');
        let used = 2 + skip + n + closed as usize;
        return match char::from_u32(value).filter(|c| matches!(c, '\t' | '\n' | '\r' | ' '..)) {
            Some(c) => (c.to_string(), used, if closed { None } else { Some((7, "htmlParseCharRef: missing semicolon\n".into())) }),
            None if value > 0x10FFFF => (String::new(), used, Some((9, "htmlParseCharRef: value too large\n".into()))),
            None => (String::new(), used, Some((9, format!("htmlParseCharRef: invalid xmlChar value {value}\n")))),
        };
    }
    let name = &r[1..];
    let n = name.find(|c: char| !super::xml::is_name_char(c)).unwrap_or(name.len());
    if n == 0 || !name.starts_with(super::xml::is_name_start) {
        return ("&".into(), 1, Some((68, "htmlParseEntityRef: no name\n".into())));
    }
    if !name[n..].starts_with(';') {
        return (r[..1 + n].to_owned(), 1 + n, Some((23, "htmlParseEntityRef: expecting ';'\n".into())));
    }
    match entities::code(&name[..n]).and_then(char::from_u32) {
        Some(c) => (c.to_string(), n + 2, None),
        None => (r[..1 + n].to_owned(), 1 + n, None),
    }
}
