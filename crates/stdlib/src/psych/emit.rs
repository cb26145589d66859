//! Writes YAML 1.1 from events, in the layout of libyaml 0.2.5, byte for byte. No VM here: `emitter.rs` is the Ruby class.
//!
//! Events wait in a queue until enough of them are known to choose a layout (is the collection empty? can the key stand on one line?); what is
//! ready is appended to [`Emitter::out`]. Nesting lives in a stack of states, so depth costs no native stack.
//! Rejected: writing from the tree of nodes (Psych::Stream and handlers of programs send events, of documents without end).

mod scalar;

use scalar::shape;
use std::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Any,
    Plain,
    Single,
    Double,
    Literal,
    Folded,
}

pub enum Event {
    StreamStart,
    StreamEnd,
    DocumentStart {
        version: Option<(i64, i64)>,
        tags: Vec<(String, String)>,
        implicit: bool,
    },
    DocumentEnd {
        implicit: bool,
    },
    Alias {
        anchor: String,
    },
    Scalar {
        anchor: Option<String>,
        tag: Option<String>,
        value: String,
        plain: bool,
        quoted: bool,
        style: Style,
    },
    /// A sequence, or a mapping.
    Start {
        map: bool,
        anchor: Option<String>,
        tag: Option<String>,
        implicit: bool,
        flow: bool,
    },
    End {
        map: bool,
    },
}

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Stream,
    Document { first: bool },
    Content,
    DocumentEnd,
    FlowItem { first: bool },
    FlowKey { first: bool },
    FlowValue { simple: bool },
    Item { first: bool },
    Key { first: bool },
    Value { simple: bool },
    Ended,
}

/// Where a node stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Item,
    /// Key or value of a mapping.
    Pair,
    /// A key (or its value) on one line.
    Simple,
}

/// The tag of a node, taken apart by the directives of the document.
#[derive(Default)]
struct Tag {
    handle: String,
    suffix: String,
}

/// What may be done with the text of a scalar.
#[derive(Default)]
struct Shape {
    multiline: bool,
    flow_plain: bool,
    block_plain: bool,
    single: bool,
    block: bool,
}

type Done = Result<(), &'static str>;

pub struct Emitter {
    /// Text that is ready to be written.
    pub out: String,
    /// A place where the text should reach its reader: the end of a document or the stream.
    pub flush: bool,
    pub canonical: bool,
    pub indentation: i64,
    pub line_width: i64,
    width: usize,
    step: i32,
    events: VecDeque<Event>,
    state: State,
    states: Vec<State>,
    indent: i32,
    indents: Vec<i32>,
    flow: usize,
    /// The node at hand is a key or value of a mapping.
    in_mapping: bool,
    column: usize,
    /// The last character was white space, or an indicator that counts as such.
    white: bool,
    /// Only indentation stands on the line so far.
    indented: bool,
    /// A block scalar that keeps its line ends was last: 2; a document without end mark was: 1.
    open_ended: u8,
    directives: Vec<(String, String)>,
}

fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}
fn is_blank_or_end(c: Option<char>) -> bool {
    c.is_none_or(|c| c == ' ' || c == '\t' || is_break(c))
}
/// libyaml holds nothing beyond the basic plane printable.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}') && c != '\u{feff}'
}
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

impl Emitter {
    pub fn new() -> Emitter {
        Emitter {
            out: String::new(),
            flush: false,
            canonical: false,
            indentation: 2,
            line_width: 0,
            width: 80,
            step: 2,
            events: VecDeque::new(),
            state: State::Stream,
            states: Vec::new(),
            indent: -1,
            indents: Vec::new(),
            flow: 0,
            in_mapping: false,
            column: 0,
            white: true,
            indented: true,
            open_ended: 0,
            directives: Vec::new(),
        }
    }

    /// Takes an event, and writes what can be written.
    pub fn emit(&mut self, e: Event) -> Done {
        self.events.push_back(e);
        while self.ready() {
            self.advance()?;
            self.events.pop_front();
        }
        Ok(())
    }

    /// Whether the first event's layout is decided by those that are there.
    fn ready(&self) -> bool {
        let ahead = match self.events.front() {
            None => return false,
            Some(Event::DocumentStart { .. }) => 1,
            Some(Event::Start { map: false, .. }) => 2,
            Some(Event::Start { map: true, .. }) => 3,
            Some(_) => return true,
        };
        if self.events.len() > ahead {
            return true;
        }
        let mut level = 0;
        for e in &self.events {
            match e {
                Event::StreamStart | Event::DocumentStart { .. } | Event::Start { .. } => level += 1,
                Event::StreamEnd | Event::DocumentEnd { .. } | Event::End { .. } => level -= 1,
                _ => {}
            }
            if level == 0 {
                return true;
            }
        }
        false
    }

    fn advance(&mut self) -> Done {
        match self.state {
            State::Stream => self.stream_start(),
            State::Document { first } => self.document_start(first),
            State::Content => {
                self.states.push(State::DocumentEnd);
                self.node(Place::Root)
            }
            State::DocumentEnd => self.document_end(),
            State::FlowItem { first } => self.flow_item(first),
            State::FlowKey { first } => self.flow_key(first),
            State::FlowValue { simple } => {
                if simple {
                    self.indicator(":", false, false, false);
                } else {
                    if self.canonical || self.column > self.width {
                        self.write_indent();
                    }
                    self.indicator(":", true, false, false);
                }
                self.states.push(State::FlowKey { first: false });
                self.node(Place::Pair)
            }
            State::Item { first } => self.block_item(first),
            State::Key { first } => self.block_key(first),
            State::Value { simple } => {
                if simple {
                    self.indicator(":", false, false, false);
                } else {
                    self.write_indent();
                    self.indicator(":", true, false, true);
                }
                self.states.push(State::Key { first: false });
                self.node(Place::Pair)
            }
            State::Ended => Err("expected nothing after STREAM-END"),
        }
    }

    fn stream_start(&mut self) -> Done {
        if !matches!(self.events.front(), Some(Event::StreamStart)) {
            return Err("expected STREAM-START");
        }
        self.step = if (2..10).contains(&self.indentation) { self.indentation as i32 } else { 2 };
        self.width = match self.line_width {
            w if w < 0 => usize::MAX,
            w if w <= self.step as i64 * 2 => 80,
            w => w as usize,
        };
        self.indent = -1;
        (self.column, self.white, self.indented, self.open_ended) = (0, true, true, 0);
        self.state = State::Document { first: true };
        Ok(())
    }

    fn document_start(&mut self, first: bool) -> Done {
        let (version, tags, implicit) = match self.events.front_mut() {
            Some(Event::DocumentStart { version, tags, implicit }) => (*version, std::mem::take(tags), *implicit),
            Some(Event::StreamEnd) => {
                if self.open_ended == 2 {
                    self.indicator("...", true, false, false);
                    self.open_ended = 0;
                    self.write_indent();
                }
                self.flush = true;
                self.state = State::Ended;
                return Ok(());
            }
            _ => return Err("expected DOCUMENT-START or STREAM-END"),
        };
        if version.is_some_and(|(major, minor)| major != 1 || minor != 1 && minor != 2) {
            return Err("incompatible %YAML directive");
        }
        self.directives.clear();
        for (handle, prefix) in &tags {
            check_directive(handle, prefix)?;
            if self.directives.iter().any(|d| d.0 == *handle) {
                return Err("duplicate %TAG directive");
            }
            self.directives.push((handle.clone(), prefix.clone()));
        }
        for (handle, prefix) in [("!", "!"), ("!!", "tag:yaml.org,2002:")] {
            if !self.directives.iter().any(|d| d.0 == handle) {
                self.directives.push((handle.into(), prefix.into()));
            }
        }
        let explicit = !implicit || !first || self.canonical || version.is_some() || !tags.is_empty();
        if (version.is_some() || !tags.is_empty()) && self.open_ended != 0 {
            self.indicator("...", true, false, false);
            self.write_indent();
        }
        self.open_ended = 0;
        if let Some((_, minor)) = version {
            self.indicator("%YAML", true, false, false);
            self.indicator(if minor == 1 { "1.1" } else { "1.2" }, true, false, false);
            self.write_indent();
        }
        for (handle, prefix) in &tags {
            self.indicator("%TAG", true, false, false);
            self.tag_handle(handle);
            self.tag_content(prefix, true);
            self.write_indent();
        }
        if explicit {
            self.write_indent();
            self.indicator("---", true, false, false);
            if self.canonical {
                self.write_indent();
            }
        }
        self.state = State::Content;
        Ok(())
    }

    fn document_end(&mut self) -> Done {
        let Some(Event::DocumentEnd { implicit }) = self.events.front() else { return Err("expected DOCUMENT-END") };
        let implicit = *implicit;
        self.write_indent();
        if !implicit {
            self.indicator("...", true, false, false);
            self.open_ended = 0;
            self.write_indent();
        } else if self.open_ended == 0 {
            self.open_ended = 1;
        }
        self.flush = true;
        self.state = State::Document { first: false };
        self.directives.clear();
        Ok(())
    }

    /// Leaves a collection, or a scalar.
    fn pop(&mut self) {
        self.indent = self.indents.pop().unwrap_or(-1);
        self.next();
    }
    fn next(&mut self) {
        self.state = self.states.pop().unwrap_or(State::Ended);
    }
    fn push_indent(&mut self, flow: bool, indentless: bool) {
        self.indents.push(self.indent);
        if self.indent < 0 {
            self.indent = if flow { self.step } else { 0 };
        } else if !indentless {
            self.indent = self.indent.saturating_add(self.step);
        }
    }
    fn ends(&self, map: bool) -> bool {
        matches!(self.events.front(), Some(Event::End { map: m }) if *m == map)
    }

    /// The bracket, or what stands between two entries. True when the collection ends here.
    fn flow_entry(&mut self, first: bool, map: bool, open: &str, close: &str) -> bool {
        if first {
            self.indicator(open, true, true, false);
            self.push_indent(true, false);
            self.flow += 1;
        }
        if self.ends(map) {
            self.flow -= 1;
            let indent = self.indents.pop().unwrap_or(-1);
            self.indent = indent;
            if self.canonical && !first {
                self.indicator(",", false, false, false);
                self.write_indent();
            }
            self.indicator(close, false, false, false);
            self.next();
            return true;
        }
        if !first {
            self.indicator(",", false, false, false);
        }
        if self.canonical || self.column > self.width {
            self.write_indent();
        }
        false
    }
    fn flow_item(&mut self, first: bool) -> Done {
        if self.flow_entry(first, false, "[", "]") {
            return Ok(());
        }
        self.states.push(State::FlowItem { first: false });
        self.node(Place::Item)
    }
    fn flow_key(&mut self, first: bool) -> Done {
        if self.flow_entry(first, true, "{", "}") {
            return Ok(());
        }
        if !self.canonical && self.fits_as_key()? {
            self.states.push(State::FlowValue { simple: true });
            return self.node(Place::Simple);
        }
        self.indicator("?", true, false, false);
        self.states.push(State::FlowValue { simple: false });
        self.node(Place::Pair)
    }
    fn block_item(&mut self, first: bool) -> Done {
        if first {
            let indentless = self.in_mapping && !self.indented;
            self.push_indent(false, indentless);
        }
        if self.ends(false) {
            self.pop();
            return Ok(());
        }
        self.write_indent();
        self.indicator("-", true, false, true);
        self.states.push(State::Item { first: false });
        self.node(Place::Item)
    }
    fn block_key(&mut self, first: bool) -> Done {
        if first {
            self.push_indent(false, false);
        }
        if self.ends(true) {
            self.pop();
            return Ok(());
        }
        self.write_indent();
        if self.fits_as_key()? {
            self.states.push(State::Value { simple: true });
            return self.node(Place::Simple);
        }
        self.indicator("?", true, false, true);
        self.states.push(State::Value { simple: false });
        self.node(Place::Pair)
    }

    /// Takes the anchor and the tag of a node apart.
    fn names(&self, anchor: &Option<String>, tag: &Option<String>, wanted: bool) -> Result<Tag, &'static str> {
        if let Some(a) = anchor {
            check_anchor(a, false)?;
        }
        match tag {
            Some(t) if wanted || self.canonical => self.split_tag(t),
            _ => Ok(Tag::default()),
        }
    }
    fn split_tag(&self, tag: &str) -> Result<Tag, &'static str> {
        if tag.is_empty() {
            return Err("tag value must not be empty");
        }
        for (handle, prefix) in &self.directives {
            if prefix.len() < tag.len()
                && let Some(rest) = tag.strip_prefix(prefix.as_str())
            {
                return Ok(Tag { handle: handle.clone(), suffix: rest.to_string() });
            }
        }
        Ok(Tag { handle: String::new(), suffix: tag.to_string() })
    }

    /// Whether the node that comes next can be a key on one line.
    fn fits_as_key(&self) -> Result<bool, &'static str> {
        let length = match self.events.front() {
            Some(Event::Alias { anchor }) => {
                check_anchor(anchor, true)?;
                anchor.len()
            }
            Some(Event::Scalar { anchor, tag, value, plain, quoted, .. }) => {
                if value.chars().any(is_break) {
                    return Ok(false);
                }
                let t = self.names(anchor, tag, !plain && !quoted)?;
                anchor.as_ref().map_or(0, |a| a.len()) + t.handle.len() + t.suffix.len() + value.len()
            }
            Some(Event::Start { map, anchor, tag, implicit, .. }) => {
                if !matches!(self.events.get(1), Some(Event::End { map: m }) if m == map) {
                    return Ok(false);
                }
                let t = self.names(anchor, tag, !implicit)?;
                anchor.as_ref().map_or(0, |a| a.len()) + t.handle.len() + t.suffix.len()
            }
            _ => return Ok(false),
        };
        Ok(length <= 128)
    }

    fn node(&mut self, place: Place) -> Done {
        self.in_mapping = matches!(place, Place::Pair | Place::Simple);
        let simple = place == Place::Simple;
        let empty = match (self.events.front(), self.events.get(1)) {
            (Some(Event::Start { map: a, .. }), Some(Event::End { map: b })) => a == b,
            _ => false,
        };
        match self.events.front_mut() {
            Some(Event::Alias { anchor }) => {
                let anchor = std::mem::take(anchor);
                check_anchor(&anchor, true)?;
                self.anchor("*", &anchor);
                if simple {
                    self.put(' ');
                }
                self.next();
                Ok(())
            }
            Some(Event::Scalar { anchor, tag, value, plain, quoted, style }) => {
                let (anchor, tag, value) = (anchor.take(), tag.take(), std::mem::take(value));
                let (plain, quoted, style) = (*plain, *quoted, *style);
                let mut t = self.names(&anchor, &tag, !plain && !quoted)?;
                let style = self.choose(&mut t, &value, plain, quoted, style, simple)?;
                if let Some(a) = &anchor {
                    self.anchor("&", a);
                }
                self.tag(&t);
                self.push_indent(true, false);
                match style {
                    Style::Single => self.single(&value, !simple),
                    Style::Double => self.double(&value, !simple),
                    Style::Literal => self.literal(&value),
                    Style::Folded => self.folded(&value),
                    Style::Plain | Style::Any => self.plain(&value, !simple),
                }
                self.pop();
                Ok(())
            }
            Some(Event::Start { map, anchor, tag, implicit, flow }) => {
                let (anchor, tag) = (anchor.take(), tag.take());
                let (map, implicit, flow) = (*map, *implicit, *flow);
                let t = self.names(&anchor, &tag, !implicit)?;
                if let Some(a) = &anchor {
                    self.anchor("&", a);
                }
                self.tag(&t);
                self.state = match (self.flow > 0 || self.canonical || flow || empty, map) {
                    (true, true) => State::FlowKey { first: true },
                    (true, false) => State::FlowItem { first: true },
                    (false, true) => State::Key { first: true },
                    (false, false) => State::Item { first: true },
                };
                Ok(())
            }
            _ => Err("expected SCALAR, SEQUENCE-START, MAPPING-START, or ALIAS"),
        }
    }

    /// The style that a scalar gets. A tag that must be seen is written as `!`.
    fn choose(&self, tag: &mut Tag, value: &str, plain: bool, quoted: bool, style: Style, simple: bool) -> Result<Style, &'static str> {
        let no_tag = tag.handle.is_empty() && tag.suffix.is_empty();
        if no_tag && !plain && !quoted {
            return Err("neither tag nor implicit flags are specified");
        }
        let shape = shape(value);
        let mut style = if style == Style::Any { Style::Plain } else { style };
        if self.canonical || simple && shape.multiline {
            style = Style::Double;
        }
        if style == Style::Plain {
            let allowed = if self.flow > 0 { shape.flow_plain } else { shape.block_plain };
            if !allowed || value.is_empty() && (self.flow > 0 || simple) || no_tag && !plain {
                style = Style::Single;
            }
        }
        if style == Style::Single && !shape.single {
            style = Style::Double;
        }
        if matches!(style, Style::Literal | Style::Folded) && (!shape.block || self.flow > 0 || simple) {
            style = Style::Double;
        }
        if no_tag && !quoted && style != Style::Plain {
            tag.handle = "!".into();
        }
        Ok(style)
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }
    fn line_break(&mut self, c: char) {
        self.out.push(c);
        self.column = 0;
    }
    fn write(&mut self, s: &str) {
        self.out.push_str(s);
        self.column += s.chars().count();
    }
    fn indicator(&mut self, s: &str, space_before: bool, white: bool, indented: bool) {
        if space_before && !self.white {
            self.put(' ');
        }
        self.write(s);
        self.white = white;
        self.indented = self.indented && indented;
    }
    /// Goes to the place where a line of this depth begins.
    fn write_indent(&mut self) {
        let indent = self.indent.max(0) as usize;
        if !self.indented || self.column > indent || self.column == indent && !self.white {
            self.line_break('\n');
        }
        while self.column < indent {
            self.put(' ');
        }
        self.white = true;
        self.indented = true;
    }
    fn anchor(&mut self, mark: &str, name: &str) {
        self.indicator(mark, true, false, false);
        self.write(name);
        (self.white, self.indented) = (false, false);
    }
    fn tag(&mut self, t: &Tag) {
        if !t.handle.is_empty() {
            self.tag_handle(&t.handle);
            self.tag_content(&t.suffix, false);
        } else if !t.suffix.is_empty() {
            self.indicator("!<", true, false, false);
            self.tag_content(&t.suffix, false);
            self.indicator(">", false, false, false);
        }
    }
    fn tag_handle(&mut self, handle: &str) {
        if !self.white {
            self.put(' ');
        }
        self.write(handle);
        (self.white, self.indented) = (false, false);
    }
    fn tag_content(&mut self, s: &str, space_before: bool) {
        if s.is_empty() {
            return;
        }
        if space_before && !self.white {
            self.put(' ');
        }
        for b in s.bytes() {
            if is_word(b as char) || b";/?:@&=+$,._~*'()[]!".contains(&b) {
                self.put(b as char);
            } else {
                self.write(&format!("%{b:02X}"));
            }
        }
        (self.white, self.indented) = (false, false);
    }
}

fn check_anchor(name: &str, alias: bool) -> Done {
    match (name.is_empty(), name.chars().all(is_word), alias) {
        (true, _, true) => Err("alias value must not be empty"),
        (true, _, false) => Err("anchor value must not be empty"),
        (_, false, true) => Err("alias value must contain alphanumerical characters only"),
        (_, false, false) => Err("anchor value must contain alphanumerical characters only"),
        _ => Ok(()),
    }
}

fn check_directive(handle: &str, prefix: &str) -> Done {
    let inner = handle.strip_prefix('!');
    if handle.is_empty() {
        return Err("tag handle must not be empty");
    }
    let Some(inner) = inner else { return Err("tag handle must start with '!'") };
    if !handle.ends_with('!') {
        return Err("tag handle must end with '!'");
    }
    if !inner.strip_suffix('!').unwrap_or("").chars().all(is_word) {
        return Err("tag handle must contain alphanumerical characters only");
    }
    if prefix.is_empty() {
        return Err("tag prefix must not be empty");
    }
    Ok(())
}
