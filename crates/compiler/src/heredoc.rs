//! Here-documents whose lines stand elsewhere than the code that they belong to: who takes a piece of a source along, a block perhaps, must take the lines of those that begin on its last line, and leave
//! the lines of those that begin before it.

use ruby_prism as prism;
use ruby_prism::Visit;

/// Whether `source[start..end]` is a text for itself as it stands, by a look that takes `<<` of any kind for a here-document.
pub fn is_whole(source: &[u8], start: usize, end: usize) -> bool {
    let line_from = |at: usize| source[..at].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let holds = |from: usize, to: usize| source[from..to].windows(2).any(|w| w == b"<<");
    // They begin on the line of its begin, before it, or on the line of its end.
    let begins = source[start..end].contains(&b'\n') && holds(line_from(start), start);
    !begins && !holds(line_from(end).max(start), end)
}

/// `source[start..end]` as a text for itself: behind it the lines of the here-documents that begin on its last line, and empty ones for the lines of documents that begin before it. Unwinds when this is a
/// job that is left.
pub(crate) fn piece(source: &[u8], start: usize, end: usize) -> Vec<u8> {
    let result = crate::job::in_parser(source.len(), || prism::parse(source));
    let mut found = Documents { all: Vec::new() };
    found.visit(&result.node());
    found.all.sort_unstable();
    let mut text = source[start..end].to_vec();
    let mut behind = Vec::new();
    // Where the lines of the last document end: those of the next one that begins on its line follow.
    let mut last = (0, 0);
    for (opening, closing) in found.all {
        let Some(newline) = source[opening..].iter().position(|b| *b == b'\n') else { continue };
        let line = opening + newline + 1;
        let from = if last.0 == line { last.1 } else { line };
        last = (line, closing);
        if opening < start && from >= start && closing <= end {
            text[from - start..closing - start].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
        } else if (start..end).contains(&opening) && from >= end {
            behind.extend_from_slice(&source[from..closing]);
            if behind.last() != Some(&b'\n') {
                behind.push(b'\n');
            }
        }
    }
    if !behind.is_empty() {
        text.push(b'\n');
        text.append(&mut behind);
    }
    text
}

/// All documents: where they begin, and where their last line ends.
struct Documents {
    all: Vec<(usize, usize)>,
}

impl Documents {
    fn look(&mut self, opening: Option<prism::Location>, closing: Option<prism::Location>) {
        if let (Some(opening), Some(closing)) = (opening, closing)
            && opening.as_slice().starts_with(b"<<")
        {
            self.all.push((opening.start() as usize, closing.end() as usize));
        }
    }
}

impl<'pr> Visit<'pr> for Documents {
    fn visit_string_node(&mut self, n: &prism::StringNode<'pr>) {
        self.look(n.opening_loc(), n.closing_loc());
    }
    fn visit_x_string_node(&mut self, n: &prism::XStringNode<'pr>) {
        self.look(Some(n.opening_loc()), Some(n.closing_loc()));
    }
    fn visit_interpolated_string_node(&mut self, n: &prism::InterpolatedStringNode<'pr>) {
        self.look(n.opening_loc(), n.closing_loc());
        prism::visit_interpolated_string_node(self, n);
    }
    fn visit_interpolated_x_string_node(&mut self, n: &prism::InterpolatedXStringNode<'pr>) {
        self.look(Some(n.opening_loc()), Some(n.closing_loc()));
        prism::visit_interpolated_x_string_node(self, n);
    }
}

#[cfg(test)]
mod tests {
    fn taken(source: &str, piece: &str) -> String {
        let start = source.find(piece).expect("the piece is in the source");
        let end = start + piece.len();
        let text = if super::is_whole(source.as_bytes(), start, end) { piece.into() } else { super::piece(source.as_bytes(), start, end) };
        String::from_utf8(text).expect("text")
    }

    /// What comes behind the piece.
    fn behind(source: &str, piece: &str) -> String {
        taken(source, piece).strip_prefix(piece).expect("the piece as it is").trim_start_matches('\n').to_string()
    }

    #[test]
    fn lines_of_documents_that_begin_before_the_piece_are_empty() {
        assert_eq!(taken("f(<<~T) do |x|\n  out\nT\n  x\nend\n", "do |x|\n  out\nT\n  x\nend"), "do |x|\n     \n \n  x\nend");
        assert_eq!(
            taken("f(<<A) { g <<B\na\nA\nb\nB\n <<C }\nc\nC\n", "{ g <<B\na\nA\nb\nB\n <<C }"),
            "{ g <<B\n \n \nb\nB\n <<C }\nc\nC\n"
        );
        assert_eq!(taken("a << b; f {\n x }\n", "{\n x }"), "{\n x }");
    }

    #[test]
    fn lines_of_the_documents_that_begin_in_the_piece() {
        assert_eq!(behind("f { <<~T }\n  a\nT\nb\n", "{ <<~T }"), "  a\nT\n");
        assert_eq!(behind("f { <<~T + <<U }\n  a\nT\nb\nU\n", "{ <<~T + <<U }"), "  a\nT\nb\nU\n");
        assert_eq!(behind("g <<A, f { <<B }, <<C\na\nA\nb\nB\nc\nC\n", "{ <<B }"), "b\nB\n");
        assert_eq!(behind("g f {\n <<B }, <<C\nb\nB\nc\nC\n", "{\n <<B }"), "b\nB\n");
        assert_eq!(behind("f do |x|\n  x\n  <<~T end\n  a\n  T", "do |x|\n  x\n  <<~T end"), "  a\n  T\n");
        assert_eq!(behind("f { <<`T` }\necho #{1}\nT\n", "{ <<`T` }"), "echo #{1}\nT\n");
        // Its lines are in the piece, or it is none.
        assert_eq!(behind("f { g(<<T)\na\nT\n}\n", "{ g(<<T)\na\nT\n}"), "");
        assert_eq!(behind("f { a << b }\nb\n", "{ a << b }"), "");
        // One that stands in another one.
        assert_eq!(behind("x = <<O\n#{f { <<I }}\ni\nI\nO\n", "{ <<I }"), "i\nI\n");
    }
}
