//! The examples in the comments of the libraries' Ruby: one process for each feature runs them. Those of builtins are for `zakuro --doctest`.

use super::Method;
use crate::process::Spec;
use std::collections::BTreeMap;
use std::path::Path;

pub struct Example {
    /// What comes before it in the same block, too.
    pub code: String,
    pub expected: String,
}

pub fn of_text(text: &str) -> Vec<Example> {
    let (mut found, mut code) = (Vec::new(), String::new());
    for line in text.lines() {
        match line.strip_prefix("    ").map(|l| l.split_once("#=> ").map_or((l, None), |(code, expected)| (code, Some(expected)))) {
            None => code.clear(),
            Some((line, expected)) => {
                code += line.trim_end();
                found.extend(expected.map(|e| Example { code: code.trim_end().to_string(), expected: e.trim_end().to_string() }));
                code.push('\n');
            }
        }
    }
    found
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Whether all of them answer what they say. A feature that can't be loaded, like one of a gem that is not installed, is left out.
pub fn run<'a>(methods: impl Iterator<Item = &'a Method>, zakuro: &Path) -> Result<bool, String> {
    let mut programs: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for method in methods.filter(|m| m.place.0.ends_with(".rb")) {
        for example in of_text(&method.text) {
            let (count, program) = programs.entry(method.feature.as_deref().unwrap_or_default()).or_default();
            *count += 1;
            *program += &format!(
                "told = begin\n  -> {{\n{}\n}}.call.inspect\nrescue Exception => e\n  e.full_message(highlight: false)\nend\n\
                 puts(\"{}: \" + {} + \"\\n     got \" + told) if told != {}\n",
                example.code,
                method.listed(),
                literal(&example.code),
                literal(&example.expected)
            );
        }
    }
    let (mut passed, mut failed) = (0, 0);
    for (feature, (count, program)) in programs {
        let load = match feature {
            "" => String::new(),
            _ => format!("begin\n  require {}\nrescue LoadError\n  exit 3\nend\n", literal(feature)),
        };
        let outcome = Spec::new(zakuro).args(["-W0", "-e", &(load + &program)]).run()?;
        let told = String::from_utf8_lossy(&outcome.stdout);
        match outcome.status {
            3 => println!("examples: {feature} is not there, {count} left out"),
            0 => {
                let wrong = told.lines().filter(|l| l.starts_with("crates/")).count();
                print!("{told}");
                (passed, failed) = (passed + count - wrong, failed + wrong);
            }
            status => {
                print!("{told}{}", String::from_utf8_lossy(&outcome.stderr));
                println!("examples of {feature:?}: status {status}");
                failed += count;
            }
        }
    }
    println!("examples: {passed} passed, {failed} failed");
    Ok(failed == 0)
}
