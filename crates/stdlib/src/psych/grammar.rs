//! YAML's grammar: tokens into events, with libyaml's marks and messages. States and their stack, so that nesting costs no native stack.

use super::input::Input;
use super::scan::{Error, Kind, Mark, Scanned, Scanner, Style, Token};

#[derive(Debug)]
pub enum Event {
    StreamStart,
    StreamEnd,
    DocumentStart { version: Option<(i64, i64)>, tags: Vec<(String, String)>, implicit: bool },
    DocumentEnd { implicit: bool },
    Alias(String),
    Scalar { anchor: Option<String>, tag: Option<String>, value: String, plain: bool, quoted: bool, style: Style },
    Start { map: bool, anchor: Option<String>, tag: Option<String>, implicit: bool, flow: bool },
    End { map: bool },
}

/// An event with where it begins and ends.
pub type Placed = (Event, Mark, Mark);

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Stream,
    /// Of the first document no mark is needed.
    Document {
        implicit: bool,
    },
    Content,
    DocumentEnd,
    Node,
    BlockItem {
        first: bool,
    },
    IndentlessItem,
    BlockKey {
        first: bool,
    },
    BlockValue,
    FlowItem {
        first: bool,
    },
    /// A pair without braces in a flow sequence: its key, value and end.
    PairKey,
    PairValue,
    PairEnd,
    FlowKey {
        first: bool,
    },
    FlowValue {
        empty: bool,
    },
    End,
}

pub struct Parser {
    scanner: Scanner,
    state: State,
    states: Vec<State>,
    /// Where the open collections began.
    marks: Vec<Mark>,
    tags: Vec<(String, String)>,
}

fn ended() -> Box<Error> {
    Box::new(Error { problem: "did not find expected <stream-end>", context: None, mark: Mark::default(), offset: 0 })
}

impl Parser {
    pub fn new(input: Input) -> Parser {
        Parser { scanner: Scanner::new(input), state: State::Stream, states: Vec::new(), marks: Vec::new(), tags: Vec::new() }
    }
    pub fn mark(&self) -> Mark {
        self.scanner.mark()
    }

    fn peek(&mut self) -> Scanned<&Token> {
        self.scanner.peek()?.ok_or_else(ended)
    }
    /// The next token, taken.
    fn take(&mut self) -> Scanned<Token> {
        self.peek()?;
        self.scanner.take().ok_or_else(ended)
    }
    fn pop(&mut self) {
        self.state = self.states.pop().unwrap_or(State::End);
    }
    /// An error without a context; libyaml gives it no place.
    fn bare<T>(&self, problem: &'static str) -> Scanned<T> {
        Err(Box::new(Error { problem, context: None, mark: Mark::default(), offset: 0 }))
    }
    fn in_collection<T>(&mut self, context: &'static str, problem: &'static str) -> Scanned<T> {
        let mark = self.marks.pop().unwrap_or_default();
        Err(Box::new(Error { problem, context: Some(context), mark, offset: 0 }))
    }
    fn empty(&self, mark: Mark) -> Placed {
        let event = Event::Scalar { anchor: None, tag: None, value: String::new(), plain: true, quoted: false, style: Style::Plain };
        (event, mark, mark)
    }

    pub fn next(&mut self) -> Scanned<Placed> {
        match self.state {
            State::Stream => {
                let t = self.take()?;
                self.state = State::Document { implicit: true };
                Ok((Event::StreamStart, t.start, t.start))
            }
            State::Document { implicit } => self.document(implicit),
            State::Content => {
                let t = self.peek()?;
                match t.kind {
                    Kind::Version(..) | Kind::TagDirective(..) | Kind::DocumentStart | Kind::DocumentEnd | Kind::StreamEnd => {
                        let mark = t.start;
                        self.pop();
                        Ok(self.empty(mark))
                    }
                    _ => self.node(true, false),
                }
            }
            State::DocumentEnd => self.document_end(),
            State::Node => self.node(true, false),
            State::BlockItem { first } => self.block_item(first),
            State::IndentlessItem => self.indentless_item(),
            State::BlockKey { first } => self.block_key(first),
            State::BlockValue => self.block_value(),
            State::FlowItem { first } => self.flow_item(first),
            State::PairKey => self.pair_key(),
            State::PairValue => self.pair_value(),
            State::PairEnd => {
                self.state = State::FlowItem { first: false };
                let mark = self.peek()?.start;
                Ok((Event::End { map: true }, mark, mark))
            }
            State::FlowKey { first } => self.flow_key(first),
            State::FlowValue { empty } => self.flow_value(empty),
            State::End => Err(ended()),
        }
    }

    fn document(&mut self, implicit: bool) -> Scanned<Placed> {
        if !implicit {
            while self.peek()?.kind == Kind::DocumentEnd {
                self.take()?;
            }
        }
        let t = self.peek()?;
        let start = t.start;
        match t.kind {
            Kind::StreamEnd => {
                let t = self.take()?;
                self.state = State::End;
                Ok((Event::StreamEnd, t.start, t.end))
            }
            Kind::Version(..) | Kind::TagDirective(..) | Kind::DocumentStart => self.explicit_document(start),
            _ if implicit => {
                self.directives()?;
                self.states.push(State::DocumentEnd);
                self.state = State::Node;
                Ok((Event::DocumentStart { version: None, tags: Vec::new(), implicit: true }, start, start))
            }
            _ => self.explicit_document(start),
        }
    }
    fn explicit_document(&mut self, start: Mark) -> Scanned<Placed> {
        let (version, tags) = self.directives()?;
        if self.peek()?.kind != Kind::DocumentStart {
            return self.bare("did not find expected <document start>");
        }
        let t = self.take()?;
        self.states.push(State::DocumentEnd);
        self.state = State::Content;
        Ok((Event::DocumentStart { version, tags, implicit: false }, start, t.end))
    }
    fn directives(&mut self) -> Scanned<(Option<(i64, i64)>, Vec<(String, String)>)> {
        let (mut version, mut tags) = (None, Vec::<(String, String)>::new());
        loop {
            match &self.peek()?.kind {
                Kind::Version(major, minor) => {
                    if version.is_some() {
                        return self.bare("found duplicate %YAML directive");
                    }
                    version = Some((*major, *minor));
                    if !matches!(version, Some((1, 1 | 2))) {
                        return self.bare("found incompatible YAML document");
                    }
                }
                Kind::TagDirective(handle, prefix) => {
                    if tags.iter().any(|t| t.0 == *handle) {
                        return self.bare("found duplicate %TAG directive");
                    }
                    tags.push((handle.clone(), prefix.clone()));
                }
                _ => break,
            }
            self.take()?;
        }
        self.tags.clone_from(&tags);
        for (handle, prefix) in [("!", "!"), ("!!", "tag:yaml.org,2002:")] {
            if !self.tags.iter().any(|t| t.0 == handle) {
                self.tags.push((handle.into(), prefix.into()));
            }
        }
        Ok((version, tags))
    }
    fn document_end(&mut self) -> Scanned<Placed> {
        let t = self.peek()?;
        let (start, mut end, mut implicit) = (t.start, t.start, true);
        if t.kind == Kind::DocumentEnd {
            end = t.end;
            implicit = false;
            self.take()?;
        }
        self.tags.clear();
        self.state = State::Document { implicit: false };
        Ok((Event::DocumentEnd { implicit }, start, end))
    }

    fn node(&mut self, block: bool, indentless: bool) -> Scanned<Placed> {
        if matches!(self.peek()?.kind, Kind::Alias(_)) {
            let t = self.take()?;
            let Kind::Alias(name) = t.kind else { return Err(ended()) };
            self.pop();
            return Ok((Event::Alias(name), t.start, t.end));
        }
        let start = self.peek()?.start;
        let mut end = start;
        let (mut anchor, mut tag, mut tag_parts) = (None, None, None);
        loop {
            match self.peek()?.kind {
                Kind::Anchor(_) if anchor.is_none() => {
                    let t = self.take()?;
                    end = t.end;
                    if let Kind::Anchor(name) = t.kind {
                        anchor = Some(name);
                    }
                }
                Kind::Tag(..) if tag_parts.is_none() => {
                    let t = self.take()?;
                    end = t.end;
                    if let Kind::Tag(handle, suffix) = t.kind {
                        tag_parts = Some((handle, suffix));
                    }
                }
                _ => break,
            }
        }
        let named = anchor.is_some() || tag_parts.is_some();
        if let Some((handle, suffix)) = tag_parts {
            tag = Some(if handle.is_empty() {
                suffix
            } else {
                match self.tags.iter().find(|t| t.0 == handle) {
                    Some((_, prefix)) => format!("{prefix}{suffix}"),
                    None => {
                        let problem = "found undefined tag handle";
                        return Err(Box::new(Error { problem, context: Some("while parsing a node"), mark: start, offset: 0 }));
                    }
                }
            });
        }
        let implicit = tag.as_ref().is_none_or(|t| t.is_empty());
        let t = self.peek()?;
        let collection = match t.kind {
            Kind::BlockEntry if indentless => Some((false, false, State::IndentlessItem)),
            Kind::FlowSequence => Some((false, true, State::FlowItem { first: true })),
            Kind::FlowMapping => Some((true, true, State::FlowKey { first: true })),
            Kind::BlockSequence if block => Some((false, false, State::BlockItem { first: true })),
            Kind::BlockMapping if block => Some((true, false, State::BlockKey { first: true })),
            _ => None,
        };
        if let Some((map, flow, state)) = collection {
            end = t.end;
            self.state = state;
            return Ok((Event::Start { map, anchor, tag, implicit, flow }, start, end));
        }
        if matches!(t.kind, Kind::Scalar(..)) {
            let t = self.take()?;
            let Kind::Scalar(value, style) = t.kind else { return Err(ended()) };
            let plain = style == Style::Plain && tag.is_none() || tag.as_deref() == Some("!");
            if plain {
                tag = None;
            }
            let quoted = !plain && tag.is_none();
            self.pop();
            return Ok((Event::Scalar { anchor, tag, value, plain, quoted, style }, start, t.end));
        }
        if named {
            self.pop();
            let event = Event::Scalar { anchor, tag, value: String::new(), plain: implicit, quoted: false, style: Style::Plain };
            return Ok((event, start, end));
        }
        let context = if block { "while parsing a block node" } else { "while parsing a flow node" };
        Err(Box::new(Error { problem: "did not find expected node content", context: Some(context), mark: start, offset: 0 }))
    }

    /// Enters a collection: notes where it began and passes its first token.
    fn enter(&mut self, first: bool) -> Scanned<()> {
        if first {
            let t = self.take()?;
            self.marks.push(t.start);
        }
        Ok(())
    }
    fn leave(&mut self, map: bool) -> Scanned<Placed> {
        let t = self.take()?;
        self.pop();
        self.marks.pop();
        Ok((Event::End { map }, t.start, t.end))
    }

    fn block_item(&mut self, first: bool) -> Scanned<Placed> {
        self.enter(first)?;
        match self.peek()?.kind {
            Kind::BlockEntry => {
                let mark = self.take()?.end;
                if matches!(self.peek()?.kind, Kind::BlockEntry | Kind::BlockEnd) {
                    self.state = State::BlockItem { first: false };
                    return Ok(self.empty(mark));
                }
                self.states.push(State::BlockItem { first: false });
                self.node(true, false)
            }
            Kind::BlockEnd => self.leave(false),
            _ => self.in_collection("while parsing a block collection", "did not find expected '-' indicator"),
        }
    }
    fn indentless_item(&mut self) -> Scanned<Placed> {
        let t = self.peek()?;
        if t.kind != Kind::BlockEntry {
            let mark = t.start;
            self.pop();
            return Ok((Event::End { map: false }, mark, mark));
        }
        let mark = self.take()?.end;
        if matches!(self.peek()?.kind, Kind::BlockEntry | Kind::Key | Kind::Value | Kind::BlockEnd) {
            self.state = State::IndentlessItem;
            return Ok(self.empty(mark));
        }
        self.states.push(State::IndentlessItem);
        self.node(true, false)
    }
    fn block_key(&mut self, first: bool) -> Scanned<Placed> {
        self.enter(first)?;
        match self.peek()?.kind {
            Kind::Key => {
                let mark = self.take()?.end;
                if matches!(self.peek()?.kind, Kind::Key | Kind::Value | Kind::BlockEnd) {
                    self.state = State::BlockValue;
                    return Ok(self.empty(mark));
                }
                self.states.push(State::BlockValue);
                self.node(true, true)
            }
            Kind::BlockEnd => self.leave(true),
            _ => self.in_collection("while parsing a block mapping", "did not find expected key"),
        }
    }
    fn block_value(&mut self) -> Scanned<Placed> {
        let t = self.peek()?;
        if t.kind != Kind::Value {
            let mark = t.start;
            self.state = State::BlockKey { first: false };
            return Ok(self.empty(mark));
        }
        let mark = self.take()?.end;
        if matches!(self.peek()?.kind, Kind::Key | Kind::Value | Kind::BlockEnd) {
            self.state = State::BlockKey { first: false };
            return Ok(self.empty(mark));
        }
        self.states.push(State::BlockKey { first: false });
        self.node(true, true)
    }

    fn flow_item(&mut self, first: bool) -> Scanned<Placed> {
        self.enter(first)?;
        if self.peek()?.kind != Kind::FlowSequenceEnd {
            if !first {
                if self.peek()?.kind != Kind::FlowEntry {
                    return self.in_collection("while parsing a flow sequence", "did not find expected ',' or ']'");
                }
                self.take()?;
            }
            match self.peek()?.kind {
                Kind::Key => {
                    let t = self.take()?;
                    self.state = State::PairKey;
                    let event = Event::Start { map: true, anchor: None, tag: None, implicit: true, flow: true };
                    return Ok((event, t.start, t.end));
                }
                Kind::FlowSequenceEnd => {}
                _ => {
                    self.states.push(State::FlowItem { first: false });
                    return self.node(false, false);
                }
            }
        }
        self.leave(false)
    }
    fn pair_key(&mut self) -> Scanned<Placed> {
        if matches!(self.peek()?.kind, Kind::Value | Kind::FlowEntry | Kind::FlowSequenceEnd) {
            let mark = self.take()?.end;
            self.state = State::PairValue;
            return Ok(self.empty(mark));
        }
        self.states.push(State::PairValue);
        self.node(false, false)
    }
    fn pair_value(&mut self) -> Scanned<Placed> {
        if self.peek()?.kind == Kind::Value {
            self.take()?;
            if !matches!(self.peek()?.kind, Kind::FlowEntry | Kind::FlowSequenceEnd) {
                self.states.push(State::PairEnd);
                return self.node(false, false);
            }
        }
        let mark = self.peek()?.start;
        self.state = State::PairEnd;
        Ok(self.empty(mark))
    }
    fn flow_key(&mut self, first: bool) -> Scanned<Placed> {
        self.enter(first)?;
        if self.peek()?.kind != Kind::FlowMappingEnd {
            if !first {
                if self.peek()?.kind != Kind::FlowEntry {
                    return self.in_collection("while parsing a flow mapping", "did not find expected ',' or '}'");
                }
                self.take()?;
            }
            match self.peek()?.kind {
                Kind::Key => {
                    self.take()?;
                    if matches!(self.peek()?.kind, Kind::Value | Kind::FlowEntry | Kind::FlowMappingEnd) {
                        let mark = self.peek()?.start;
                        self.state = State::FlowValue { empty: false };
                        return Ok(self.empty(mark));
                    }
                    self.states.push(State::FlowValue { empty: false });
                    return self.node(false, false);
                }
                Kind::FlowMappingEnd => {}
                _ => {
                    self.states.push(State::FlowValue { empty: true });
                    return self.node(false, false);
                }
            }
        }
        self.leave(true)
    }
    fn flow_value(&mut self, empty: bool) -> Scanned<Placed> {
        if !empty && self.peek()?.kind == Kind::Value {
            self.take()?;
            if !matches!(self.peek()?.kind, Kind::FlowEntry | Kind::FlowMappingEnd) {
                self.states.push(State::FlowKey { first: false });
                return self.node(false, false);
            }
        }
        let mark = self.peek()?.start;
        self.state = State::FlowKey { first: false };
        Ok(self.empty(mark))
    }
}
