//! Scalars as they are written: plain, in quotes, literal and folded; and which of them a text can be.

use super::{Emitter, Shape, is_blank_or_end, is_break, is_printable};

impl Emitter {
    /// Line breaks inside a folded text: the first one of several counts twice.
    fn fold_break(&mut self, c: char, breaks: bool) {
        if !breaks && c == '\n' {
            self.line_break('\n');
        }
        self.line_break(c);
        self.indented = true;
    }
    /// Plain and single-quoted text: words, folded at spaces, with blank lines doubled. Returns whether it ended in a line break.
    fn folding(&mut self, value: &str, allow_breaks: bool, quoted: bool) -> bool {
        let (mut spaces, mut breaks) = (false, false);
        let mut rest = value.chars().peekable();
        let mut first = true;
        while let Some(c) = rest.next() {
            let following = rest.peek().copied();
            if c == ' ' {
                let inside = !quoted || !first && following.is_some();
                if allow_breaks && !spaces && self.column > self.width && inside && following != Some(' ') {
                    self.write_indent();
                } else {
                    self.put(c);
                }
                spaces = true;
            } else if is_break(c) {
                self.fold_break(c, breaks);
                breaks = true;
            } else {
                if breaks {
                    self.write_indent();
                }
                if quoted && c == '\'' {
                    self.put(c);
                }
                self.put(c);
                self.indented = false;
                (spaces, breaks) = (false, false);
            }
            first = false;
        }
        breaks
    }
    pub(super) fn plain(&mut self, value: &str, allow_breaks: bool) {
        if !self.white && (!value.is_empty() || self.flow > 0) {
            self.put(' ');
        }
        self.folding(value, allow_breaks, false);
        (self.white, self.indented) = (false, false);
    }
    pub(super) fn single(&mut self, value: &str, allow_breaks: bool) {
        self.indicator("'", true, false, false);
        if self.folding(value, allow_breaks, true) {
            self.write_indent();
        }
        self.indicator("'", false, false, false);
        (self.white, self.indented) = (false, false);
    }
    pub(super) fn double(&mut self, value: &str, allow_breaks: bool) {
        self.indicator("\"", true, false, false);
        let mut spaces = false;
        let mut rest = value.chars().peekable();
        let mut first = true;
        while let Some(c) = rest.next() {
            let following = rest.peek().copied();
            if !is_printable(c) || is_break(c) || c == '"' || c == '\\' {
                self.escape(c);
                spaces = false;
            } else if c == ' ' {
                if allow_breaks && !spaces && self.column > self.width && !first && following.is_some() {
                    self.write_indent();
                    if following == Some(' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(c);
                }
                spaces = true;
            } else {
                self.put(c);
                spaces = false;
            }
            first = false;
        }
        self.indicator("\"", false, false, false);
        (self.white, self.indented) = (false, false);
    }
    fn escape(&mut self, c: char) {
        let short = match c {
            '\0' => '0',
            '\x07' => 'a',
            '\x08' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\x0b' => 'v',
            '\x0c' => 'f',
            '\r' => 'r',
            '\x1b' => 'e',
            '"' | '\\' => c,
            '\u{85}' => 'N',
            '\u{a0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            _ => {
                let n = c as u32;
                return match n {
                    0..=0xff => self.write(&format!("\\x{n:02X}")),
                    0x100..=0xffff => self.write(&format!("\\u{n:04X}")),
                    _ => self.write(&format!("\\U{n:08X}")),
                };
            }
        };
        self.put('\\');
        self.put(short);
    }
    /// What follows `|` or `>`: the indentation where it can't be seen, and what becomes of the last line breaks.
    fn block_hints(&mut self, value: &str) {
        if value.starts_with(|c| c == ' ' || is_break(c)) {
            let step = self.step.to_string();
            self.indicator(&step, false, false, false);
        }
        self.open_ended = 0;
        let mut back = value.chars().rev();
        let chomp = match (back.next(), back.next()) {
            (None, _) => "-",
            (Some(c), _) if !is_break(c) => "-",
            (_, None) => "+",
            (_, Some(c)) if is_break(c) => "+",
            _ => "",
        };
        if chomp == "+" {
            self.open_ended = 2;
        }
        if !chomp.is_empty() {
            self.indicator(chomp, false, false, false);
        }
        self.line_break('\n');
        (self.white, self.indented) = (true, true);
    }
    pub(super) fn literal(&mut self, value: &str) {
        self.indicator("|", true, false, false);
        self.block_hints(value);
        let mut breaks = true;
        for c in value.chars() {
            if is_break(c) {
                self.line_break(c);
                self.indented = true;
                breaks = true;
            } else {
                if breaks {
                    self.write_indent();
                }
                self.put(c);
                self.indented = false;
                breaks = false;
            }
        }
    }
    pub(super) fn folded(&mut self, value: &str) {
        self.indicator(">", true, false, false);
        self.block_hints(value);
        let (mut breaks, mut leading) = (true, true);
        let mut rest = value.chars();
        while let Some(c) = rest.next() {
            if is_break(c) {
                // A single break between two lines of text would be read as a space.
                if !breaks && !leading && c == '\n' && !is_blank_or_end(rest.as_str().chars().find(|c| !is_break(*c))) {
                    self.line_break('\n');
                }
                self.line_break(c);
                self.indented = true;
                breaks = true;
                continue;
            }
            if breaks {
                self.write_indent();
                leading = c == ' ' || c == '\t';
            }
            let following = rest.as_str().chars().next();
            if !breaks && c == ' ' && following != Some(' ') && self.column > self.width {
                self.write_indent();
            } else {
                self.put(c);
            }
            self.indented = false;
            breaks = false;
        }
    }
}

pub(super) fn shape(value: &str) -> Shape {
    if value.is_empty() {
        return Shape { multiline: false, flow_plain: false, block_plain: true, single: true, block: false };
    }
    let document_mark = value.starts_with("---") || value.starts_with("...");
    let (mut flow_indicators, mut block_indicators) = (document_mark, document_mark);
    let (mut multiline, mut special) = (false, false);
    let (mut edge, mut trailing_space, mut break_space, mut space_break) = (false, false, false, false);
    let (mut previous_space, mut previous_break, mut preceded) = (false, false, true);
    let mut rest = value.chars().peekable();
    let mut first = true;
    while let Some(c) = rest.next() {
        let last = rest.peek().is_none();
        let followed = is_blank_or_end(rest.peek().copied());
        match c {
            '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' if first => {
                (flow_indicators, block_indicators) = (true, true);
            }
            '-' if first && followed => (flow_indicators, block_indicators) = (true, true),
            '?' | ':' if first => {
                flow_indicators = true;
                block_indicators |= followed;
            }
            ',' | '?' | '[' | ']' | '{' | '}' => flow_indicators = true,
            ':' => {
                flow_indicators = true;
                block_indicators |= followed;
            }
            '#' if preceded => (flow_indicators, block_indicators) = (true, true),
            _ => {}
        }
        special |= !is_printable(c);
        multiline |= is_break(c);
        if c == ' ' {
            edge |= first || last;
            trailing_space |= last;
            break_space |= previous_break;
            (previous_space, previous_break) = (true, false);
        } else if is_break(c) {
            edge |= first || last;
            space_break |= previous_space;
            (previous_space, previous_break) = (false, true);
        } else {
            (previous_space, previous_break) = (false, false);
        }
        preceded = is_blank_or_end(Some(c));
        first = false;
    }
    let plain = !edge && !break_space && !space_break && !special && !multiline;
    Shape {
        multiline,
        flow_plain: plain && !flow_indicators,
        block_plain: plain && !block_indicators,
        single: !break_space && !space_break && !special,
        block: !trailing_space && !space_break && !special,
    }
}
