//! What stands before the body of an HTTP request (RFC 9112), read as it comes: a machine over bytes, without a VM.
//!
//! The grammar is the one of Puma's parser: a method of one to twenty characters, a path (or `*`, or a URI with a scheme), a fragment perhaps, `HTTP/n.n`,
//! headers, lines that end in CRLF. It keeps where the element under way began, so that a request may come in any number of pieces, each with all that came before.

use std::ops::Range;
use zakuro_base::progress::{Pace, Progress, Stopped};

/// What was found; the range is of the whole text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    Method,
    Path,
    Query,
    Uri,
    Fragment,
    Protocol,
    /// A header's name, up to the colon.
    Name,
    /// A header's value: its name is the next one of [`Found::names`].
    Value,
    /// All that follows the headers.
    Body,
}

#[derive(Default)]
pub struct Found {
    pub parts: Vec<(Part, Range<usize>)>,
    /// Keys of the headers among the parts, in their order.
    pub names: Vec<Vec<u8>>,
}

/// What a name becomes: capitals, `-` as `_`. A `_` becomes a comma, so that no header can pass for another.
pub fn upcase(b: u8) -> u8 {
    match b {
        b'-' => b'_',
        b'_' => b',',
        b => b.to_ascii_uppercase(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum State {
    #[default]
    Start,
    Method,
    UriStart,
    Star,
    Scheme,
    /// Behind a scheme's colon.
    Absolute,
    Path,
    Query,
    Fragment,
    /// So many characters of `HTTP/` are there.
    Http(u8),
    Major,
    MinorStart,
    Minor,
    RequestLineEnd,
    HeaderStart,
    Name,
    /// Spaces before a value.
    ValueStart,
    Value,
    ValueEnd,
    LastLineEnd,
    Done,
    Failed,
}

#[derive(Clone, Default)]
pub struct Parser {
    state: State,
    /// Where the element under way began; `query`: the same of the query inside a URI.
    mark: usize,
    query: usize,
    /// The header's name whose value is under way, as it is told. The text's may be changed before the value comes.
    name: Vec<u8>,
    pub nread: usize,
}

fn is_control(b: u8) -> bool {
    b < 32 || b == 127
}
/// Any character of a URI.
fn in_uri(b: u8) -> bool {
    !is_control(b) && !matches!(b, b' ' | b'"' | b'#' | b'<' | b'>')
}
fn in_path(b: u8) -> bool {
    in_uri(b) && b != b'?'
}
fn in_name(b: u8) -> bool {
    b.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(&b)
}

impl Parser {
    pub fn has_failed(&self) -> bool {
        self.state == State::Failed
    }
    pub fn is_finished(&self) -> bool {
        self.state == State::Done
    }
    /// Goes on at `from`; `text` begins where it did in earlier calls. Parts that are whole are told in order.
    pub fn run(&mut self, text: &[u8], from: usize, found: &mut Found, progress: &mut dyn Progress) -> Result<(), Stopped> {
        let mut at = from;
        let mut pace = Pace::new();
        if self.state == State::Done {
            self.state = State::Failed;
        }
        while self.state != State::Failed && self.state != State::Done {
            if at >= text.len() {
                break;
            }
            pace.at(at - from, progress)?;
            self.state = self.step(text, at, found);
            if self.state == State::Failed {
                break;
            }
            at += 1;
            if self.state == State::Done {
                found.parts.push((Part::Body, at..text.len()));
            }
        }
        self.nread += at - from;
        Ok(())
    }

    fn step(&mut self, text: &[u8], at: usize, found: &mut Found) -> State {
        let (b, mark, tell) = (text[at], self.mark, &mut found.parts);
        // The end of a URI: its own part, and those inside it before.
        let uri_ends = |tell: &mut Vec<(Part, Range<usize>)>, inner: Option<(Part, usize)>| {
            if let Some((part, from)) = inner {
                tell.push((part, from..at));
            }
            tell.push((Part::Uri, mark..at));
            if b == b'#' { State::Fragment } else { State::Http(0) }
        };
        match self.state {
            State::Start | State::Method => match b {
                b'A'..=b'Z' | b'0'..=b'9' | b'$' | b'-' | b'_' | b'.' => {
                    if self.state == State::Start {
                        self.mark = at;
                    }
                    if at.saturating_sub(self.mark) >= 20 { State::Failed } else { State::Method }
                }
                b' ' if self.state == State::Method => {
                    tell.push((Part::Method, mark..at));
                    State::UriStart
                }
                _ => State::Failed,
            },
            State::UriStart => {
                self.mark = at;
                match b {
                    b'*' => State::Star,
                    b'/' => State::Path,
                    b':' => State::Absolute,
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'+' | b'-' | b'.' => State::Scheme,
                    _ => State::Failed,
                }
            }
            State::Star | State::Absolute if b == b' ' || b == b'#' => {
                let next = uri_ends(tell, None);
                self.mark = at + 1;
                next
            }
            State::Absolute if in_uri(b) => State::Absolute,
            State::Scheme => match b {
                b':' => State::Absolute,
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'+' | b'-' | b'.' => State::Scheme,
                _ => State::Failed,
            },
            State::Path => match b {
                b' ' | b'#' => {
                    let next = uri_ends(tell, Some((Part::Path, mark)));
                    self.mark = at + 1;
                    next
                }
                b'?' => {
                    tell.push((Part::Path, mark..at));
                    self.query = at + 1;
                    State::Query
                }
                b if in_path(b) => State::Path,
                _ => State::Failed,
            },
            State::Query => match b {
                b' ' | b'#' => {
                    let next = uri_ends(tell, Some((Part::Query, self.query)));
                    self.mark = at + 1;
                    next
                }
                b if in_uri(b) => State::Query,
                _ => State::Failed,
            },
            State::Fragment => match b {
                b' ' => {
                    tell.push((Part::Fragment, mark..at));
                    self.mark = at + 1;
                    State::Http(0)
                }
                b if in_uri(b) => State::Fragment,
                _ => State::Failed,
            },
            State::Http(n) => match b {
                b if b == b"HTTP/"[n as usize] => {
                    if n == 4 {
                        State::Major
                    } else {
                        State::Http(n + 1)
                    }
                }
                _ => State::Failed,
            },
            State::Major => match b {
                b'0'..=b'9' => State::Major,
                // One digit at least stands before it.
                b'.' if at > mark + 5 => State::MinorStart,
                _ => State::Failed,
            },
            State::MinorStart if b.is_ascii_digit() => State::Minor,
            State::Minor => match b {
                b'0'..=b'9' => State::Minor,
                b'\r' => {
                    tell.push((Part::Protocol, mark..at));
                    State::RequestLineEnd
                }
                _ => State::Failed,
            },
            State::RequestLineEnd | State::ValueEnd if b == b'\n' => State::HeaderStart,
            State::HeaderStart => match b {
                b'\r' => State::LastLineEnd,
                b if in_name(b) => {
                    self.mark = at;
                    State::Name
                }
                _ => State::Failed,
            },
            State::Name => match b {
                b':' => {
                    tell.push((Part::Name, mark..at));
                    self.name = text.get(mark..at).unwrap_or(&[]).iter().map(|b| upcase(*b)).collect();
                    self.mark = at + 1;
                    State::ValueStart
                }
                b if in_name(b) => State::Name,
                _ => State::Failed,
            },
            State::ValueStart | State::Value => match b {
                b' ' if self.state == State::ValueStart => {
                    self.mark = at + 1;
                    State::ValueStart
                }
                b'\r' => {
                    tell.push((Part::Value, mark..at));
                    found.names.push(std::mem::take(&mut self.name));
                    State::ValueEnd
                }
                b'\t' => State::Value,
                b if !is_control(b) => State::Value,
                _ => State::Failed,
            },
            State::LastLineEnd if b == b'\n' => State::Done,
            _ => State::Failed,
        }
    }
}
