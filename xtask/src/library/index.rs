//! The index of default gems' files: `gems/specifications/default/.index`, read by crates/stdlib/ruby/rubygems_defaults_ruby.rb.
//!
//! RubyGems wants to know which default gem a file is of before the first `require`, and evaluates all specifications for it: 46 Ruby programs, half of the time that RubyGems takes to load. What is known
//! when the library is laid out stands in one text instead: a line `=NAME.gemspec SIZE` for each, and after it a line for each name that `require` may give of its files, with and without its ending.
//! The reader compares names and sizes with the directory, and evaluates all of them where they differ.
//!
//! Specifications have the form that RubyGems writes (`Gem::Specification#to_ruby`). [`of`] gives nothing for a directory with another one in it.

use std::fmt::Write;

/// The index of specifications, in the order of their names: `(name of the file, its text)`. None: one of them has another form.
pub fn of(specifications: &[(String, String)]) -> Option<String> {
    let mut out = String::from("\n");
    for (name, text) in specifications {
        let _ = writeln!(out, "={name} {}", text.len());
        for file in files(text)? {
            let _ = writeln!(out, "{file}");
            // As `Gem.suffix_regexp` takes it off.
            if let Some(bare) = file.strip_suffix(".rb").or_else(|| file.strip_suffix(".so")) {
                let _ = writeln!(out, "{bare}");
            }
        }
    }
    Some(out)
}

/// The files of a specification as `require` names them: those in its require paths, without these; all of them if none lies there.
fn files(text: &str) -> Option<Vec<&str>> {
    let paths: Vec<String> =
        literals(text.lines().find_map(|l| l.strip_prefix("  s.require_paths = ["))?)?.iter().map(|p| format!("{p}/")).collect();
    let all = match text.lines().find(|l| l.contains(".files")) {
        Some(line) => literals(line.strip_prefix("  s.files = [")?)?,
        None => Vec::new(),
    };
    let inside: Vec<&str> = all.iter().filter_map(|f| paths.iter().find_map(|p| f.strip_prefix(p.as_str()))).collect();
    Some(if inside.is_empty() { all } else { inside })
}

/// The Strings of a list in the form `"a".freeze, "b".freeze]`.
fn literals(list: &str) -> Option<Vec<&str>> {
    let list = list.strip_suffix(']')?;
    if list.is_empty() {
        return Some(Vec::new());
    }
    list.split(", ").map(literal).collect()
}

fn literal(item: &str) -> Option<&str> {
    let text = item.strip_suffix(".freeze").unwrap_or(item).strip_prefix('"')?.strip_suffix('"')?;
    (!text.contains(['"', '\\', '#'])).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        let spec = |lines: &str| ("a-1.gemspec".to_string(), format!("Gem::Specification.new do |s|\n{lines}\nend\n"));
        let new = spec(
            "  s.require_paths = [\"lib\".freeze, \"ext\".freeze]\n  s.files = [\"README\".freeze, \"lib/a.rb\".freeze, \"ext/a/b.so\".freeze, \"lib/a/data.txt\".freeze]",
        );
        let size = new.1.len();
        assert_eq!(of(&[new]).unwrap(), format!("\n=a-1.gemspec {size}\na.rb\na\na/b.so\na/b\na/data.txt\n"));
        let old = spec("  s.require_paths = [\"lib\".freeze]\n  s.files = [\"x.rb\".freeze]");
        assert!(of(&[old]).unwrap().ends_with("\nx.rb\nx\n"));
        let none = spec("  s.require_paths = [\"lib\".freeze]");
        assert!(of(&[none]).is_some());
        // Code of its own.
        assert_eq!(of(&[spec("  s.require_paths = [\"lib\".freeze]\n  s.files = Dir[\"lib/*\"]")]), None);
        assert_eq!(of(&[spec("  s.require_paths = [\"lib\".freeze]\n  s.files = [\"a\\\"b\".freeze]")]), None);
        assert_eq!(of(&[spec("  s.files = [\"a.rb\".freeze]")]), None);
    }
}
