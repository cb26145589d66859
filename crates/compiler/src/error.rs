//! Syntax errors, worded and laid out as by Ruby with prism.

/// One thing that is wrong with a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub line: u32,
    /// Byte columns from 0; the end is at least one past the start.
    pub column: u32,
    pub end_column: u32,
    pub message: String,
}

/// A source that could not be compiled.
#[derive(Clone, Debug)]
pub struct SyntaxError {
    pub file: String,
    /// In the order in which they were found; at least one.
    pub errors: Vec<Problem>,
    pub first_line: u32,
    source: Vec<u8>,
    /// A plain message stands for the whole report.
    plain: bool,
    /// The class of the exception is ArgumentError.
    pub argument: bool,
}

/// Most errors that are shown, and farthest from the first of its line that one is marked: a program of one long line may have thousands.
const SHOWN: usize = 50;
const FAR: usize = 300;

/// Longest piece of a line shown before and after an error.
const TRUNCATE: usize = 30;
/// What is shown of a line without an error, and of what an error covers, in bytes.
const WIDE: usize = 1000;

impl SyntaxError {
    pub(crate) fn new(file: &str, first_line: u32, source: &[u8], errors: Vec<Problem>) -> SyntaxError {
        SyntaxError { file: file.to_string(), errors, first_line, source: source.to_vec(), plain: false, argument: false }
    }

    /// An encoding comment that can't be followed: stands for all that is wrong with the source.
    pub(crate) fn argument(file: &str, first_line: u32, source: &[u8], error: Problem) -> SyntaxError {
        SyntaxError { file: file.to_string(), errors: vec![error], first_line, source: source.to_vec(), plain: false, argument: true }
    }

    /// An error of the compiler's own, about one line.
    pub(crate) fn plain(file: &str, line: u32, message: &str) -> SyntaxError {
        let p = Problem { line, column: 0, end_column: 1, message: message.to_string() };
        SyntaxError { file: file.to_string(), errors: vec![p], first_line: line, source: Vec::new(), plain: true, argument: false }
    }

    /// Line of the first error.
    pub fn line(&self) -> u32 {
        self.errors.first().map_or(self.first_line, |e| e.line)
    }

    /// The message of the Ruby exception.
    pub fn message(&self) -> String {
        if self.plain {
            let text = self.errors.first().map_or("", |e| e.message.as_str());
            return format!("{}:{}: {text}", self.file, self.line() as i32);
        }
        if self.argument {
            let mut out = format!("{}:{}: {}\n", self.file, self.line() as i32, self.errors[0].message);
            if let Ok(text) = std::str::from_utf8(&self.source) {
                Excerpt::new(text, self).render(&mut out);
            }
            return out;
        }
        let plural = if self.errors.len() > 1 { "s" } else { "" };
        let mut out = format!("{}:{}: syntax error{plural} found\n", self.file, self.line() as i32);
        match std::str::from_utf8(&self.source) {
            Ok(text) => Excerpt::new(text, self).render(&mut out),
            Err(_) => {
                let list: Vec<String> =
                    self.errors.iter().take(SHOWN).map(|e| format!("{}:{}: {}", self.file, e.line as i32, e.message)).collect();
                out.push_str(&list.join("\n"));
            }
        }
        out
    }
}

impl std::fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for SyntaxError {}

/// The marked excerpt: lines around the errors, carets below them.
struct Excerpt<'a> {
    lines: Vec<&'a str>,
    errors: Vec<&'a Problem>,
    first_line: u32,
    width: usize,
    /// The messages stand behind the marks.
    messages: bool,
}

impl<'a> Excerpt<'a> {
    fn new(text: &'a str, e: &'a SyntaxError) -> Excerpt<'a> {
        let mut errors: Vec<&Problem> = e.errors.iter().collect();
        errors.sort_by_key(|p| (p.line as i32, p.column));
        errors.truncate(SHOWN);
        let width = [errors.first(), errors.last()].iter().flatten().map(|p| (p.line as i32).to_string().len()).max().unwrap_or(1);
        Excerpt { lines: text.split('\n').collect(), errors, first_line: e.first_line, width: width.min(5), messages: !e.argument }
    }

    fn text(&self, line: u32) -> Option<&'a str> {
        self.lines.get(usize::try_from(line as i32 as i64 - self.first_line as i32 as i64).ok()?).copied()
    }

    fn line(&self, out: &mut String, mark: &str, line: u32, start: usize, end: usize) {
        let Some(text) = self.text(line) else { return };
        out.push_str(&format!("{mark}{:>width$} | ", line as i32, width = self.width));
        let mut shown = text;
        let mut cut = false;
        let end = if end == 0 { WIDE } else { end.min(start + WIDE) };
        if text.len() > end + TRUNCATE {
            let mut to = end + TRUNCATE;
            while !text.is_char_boundary(to) {
                to -= 1;
            }
            shown = &text[..to];
            cut = true;
        }
        if start >= TRUNCATE {
            out.push_str("... ");
            shown = shown.get(start..).unwrap_or("");
        }
        out.push_str(shown);
        out.push_str(if cut { " ...\n" } else { "\n" });
    }

    fn render(&self, out: &mut String) {
        let mut last = self.first_line as i32 as i64 - 1;
        let mut shown_from = 0;
        for (i, e) in self.errors.iter().enumerate() {
            let line = e.line as i32 as i64;
            if line - last > 1 {
                if line - last > 2 {
                    if i != 0 && line - last > 3 {
                        out.push_str(&format!("  {}\n", "~".repeat(4 + self.width.min(4))));
                    }
                    self.line(out, "  ", e.line.wrapping_sub(2), 0, 0);
                }
                self.line(out, "  ", e.line.wrapping_sub(1), 0, 0);
            }
            if i == 0 || line != last {
                shown_from = e.column as usize;
                let end = self.errors[i..].iter().take_while(|n| n.line == e.line).map(|n| n.end_column).max().unwrap_or(0);
                self.line(out, "> ", e.line, shown_from, end as usize);
            }
            self.carets(out, e, shown_from);
            last = line;
            let next = match self.errors.get(i + 1) {
                Some(n) => n.line as i32 as i64,
                // One past the last line; a newline at the end starts no line.
                None => {
                    let empty_end = self.lines.last().is_some_and(|l| l.is_empty());
                    self.first_line as i32 as i64 + self.lines.len() as i64 - empty_end as i64
                }
            };
            for _ in 0..2 {
                if next - last > 1 {
                    last += 1;
                    self.line(out, "  ", last as u32, 0, 0);
                }
            }
        }
    }

    fn carets(&self, out: &mut String, e: &Problem, shown_from: usize) {
        if e.column as usize > shown_from + FAR {
            return;
        }
        let text = self.text(e.line).unwrap_or("");
        out.push_str("  ");
        out.push_str(&" ".repeat(self.width));
        out.push_str(" | ");
        let mut from = 0;
        if shown_from >= TRUNCATE {
            out.push_str("    ");
            from = shown_from;
        }
        // One mark for each character, counted over bytes that may lie past the end of the line.
        let characters = |from: usize, to: usize| (from..to).filter(|i| *i >= text.len() || text.is_char_boundary(*i)).count();
        let start = e.column as usize;
        let end = (e.end_column as usize).min(start + WIDE);
        out.push_str(&" ".repeat(characters(from, start)));
        out.push('^');
        out.push_str(&"~".repeat(characters(start, end).saturating_sub(1)));
        if self.messages {
            out.push(' ');
            out.push_str(&e.message);
        }
        out.push('\n');
    }
}
