//! Declarations of builtins in Rust: `#[ruby_class(...)] mod` with functions that have `#[method(...)]` (docs/builtins.md).
//!
//! It reads lines as rustfmt leaves them, not syntax trees: so it sees declarations inside of `macro_rules!`, too, and `xtask` stays quick to build.

use super::{Method, Visibility};
use std::collections::HashMap;

/// Ruby's names of the classes in `boot_classes!` by their ids.
pub fn boot_classes(source: &str) -> HashMap<String, String> {
    let table = source.split_once("\nboot_classes! {").map_or("", |(_, table)| table);
    let row = |line: &str| Some((line.split_whitespace().next()?.to_string(), line.split('"').nth(1)?.to_string()));
    table.lines().take_while(|l| *l != "}").filter_map(row).collect()
}

/// Every method that the file declares. A module in a macro counts for each class that the macro is used for.
pub fn methods(source: &str, classes: &HashMap<String, String>) -> Result<Vec<Method>, String> {
    let mut found = Vec::new();
    let (mut text, mut attributes): (Vec<&str>, Vec<String>) = Default::default();
    let mut of: Vec<String> = Vec::new();
    let mut lines = source.lines().zip(1..).peekable();
    while let Some((line, number)) = lines.next() {
        let trimmed = line.trim_start();
        if let Some(rest) = trimmed.strip_prefix("///") {
            text.push(rest.strip_prefix(' ').unwrap_or(rest));
        } else if let Some(rest) = trimmed.strip_prefix("#[ruby_class(") {
            of = classes_of(rest.trim_end_matches(")]"), &text, source, classes)?;
            text.clear();
        } else if let Some(rest) = trimmed.strip_prefix("#[method(") {
            let mut attribute = rest.to_string();
            while !attribute.ends_with(")]") {
                attribute += lines.next().ok_or("an attribute has no end")?.0.trim();
            }
            attributes.push(attribute.trim_end_matches(")]").to_string());
        } else if !attributes.is_empty() && trimmed.contains("fn ") {
            let mut head = trimmed.to_string();
            while !head.ends_with('{') && !head.ends_with('}') {
                head += lines.next().ok_or("a function has no body")?.0.trim();
            }
            let end = format!("{}}}", &line[..line.len() - trimmed.len()]);
            let mut body = String::new();
            while !head.ends_with('}') && lines.peek().is_some_and(|(l, _)| **l != *end) {
                body += lines.next().unwrap_or_default().0;
            }
            for attribute in attributes.drain(..) {
                let declared = of.iter().map(|class| method(class, &attribute, &text, &head, &body));
                found.extend(declared.map(|m| Method { place: (String::new(), number), ..m }));
            }
            text.clear();
        } else if !trimmed.starts_with("#[") {
            text.clear();
        }
    }
    Ok(found)
}

/// The classes that a module is for: its comment says so if the attribute has a placeholder.
fn classes_of(argument: &str, text: &[&str], source: &str, classes: &HashMap<String, String>) -> Result<Vec<String>, String> {
    if let Some(name) = text.iter().find_map(|l| l.strip_prefix("Methods of `")) {
        return Ok(vec![name.split('`').next().unwrap_or(name).to_string()]);
    }
    let name = |id: &str| {
        let id = id.trim().trim_start_matches("ids::");
        classes.get(id).cloned().ok_or_else(|| format!("#[ruby_class({argument})]: no such class in boot_classes!"))
    };
    if !argument.starts_with('$') {
        return Ok(vec![name(argument)?]);
    }
    let (before, _) = source.split_once(&format!("#[ruby_class({argument})]")).unwrap_or_default();
    let maker = before.rsplit("macro_rules! ").next().and_then(|m| m.split_whitespace().next()).unwrap_or_default();
    let uses = source.lines().filter_map(|l| l.strip_prefix(&format!("{maker}!("))?.strip_suffix(");"));
    uses.filter_map(|u| u.rsplit(", ").next()).map(name).collect()
}

fn method(class: &str, attribute: &str, text: &[&str], head: &str, body: &str) -> Method {
    let parts: Vec<&str> = attribute.split('"').collect();
    let is_option = |i: usize| parts[i - 1].trim_end().ends_with('=');
    let names = (1..parts.len()).step_by(2).filter(|i| !is_option(*i)).map(|i| parts[i].to_string()).collect();
    let words: Vec<&str> = parts.iter().step_by(2).flat_map(|p| p.split(',')).map(str::trim).collect();
    let number = |key: &str| words.iter().find_map(|w| w.strip_prefix(key)?.trim().strip_prefix('=')?.trim().parse::<isize>().ok());
    let visibility = match &words[..] {
        w if w.contains(&"private") => Visibility::Private,
        w if w.contains(&"protected") => Visibility::Protected,
        w if w.contains(&"module_function") => Visibility::ModuleFunction,
        _ => Visibility::Public,
    };
    let mut parameters = parameters(head);
    if parameters.first().is_some_and(|(_, t)| matches!(t.as_str(), "&mut Cx" | "&Cx" | "&mut Heap" | "&Heap")) {
        parameters.remove(0);
    }
    let (mut shown, mut kinds, mut block) = (Vec::new(), Vec::new(), false);
    // The first is the receiver.
    for (name, of) in parameters.drain(..).skip(1) {
        let (outer, inner) = of.trim_end_matches('>').split_once('<').unwrap_or((&of, ""));
        match outer.rsplit("::").next().unwrap_or(outer) {
            "Block" => block = true,
            "Rest" => shown.push(format!("*{name}")),
            "Kwargs" => shown.push(if name == "kw" { "**options".to_string() } else { format!("**{name}") }),
            "Args" => {
                let min = number("min").unwrap_or(0).max(0);
                let letters = |from: isize, to: isize| (from..to.min(26)).map(|i| char::from(b'a' + i as u8).to_string());
                shown.extend(letters(0, min));
                match number("max").unwrap_or(-1) {
                    max if max < 0 => shown.push("*args".to_string()),
                    max => shown.extend(letters(min, max).map(|l| format!("[{l}]"))),
                }
                if body.contains(&format!("{name}.kw")) {
                    shown.push("**options".to_string());
                }
                block |= body.contains(&format!("{name}.block"));
            }
            "Option" => {
                kinds.extend(kind(inner).map(|k| (name.clone(), k)));
                shown.push(format!("[{name}]"));
            }
            _ => {
                kinds.extend(kind(&of).map(|k| (name.clone(), k)));
                shown.push(name);
            }
        }
    }
    let parameters = shown.join(", ") + if block { " { ... }" } else { "" };
    Method {
        class: class.to_string(),
        singleton: words.contains(&"singleton"),
        names,
        visibility,
        parameters,
        kinds,
        text: text.join("\n"),
        feature: None,
        place: Default::default(),
    }
}

/// Names and types of a function's parameters.
fn parameters(head: &str) -> Vec<(String, String)> {
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in head.chars().skip_while(|c| *c != '(') {
        match c {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' | '>' => depth -= 1,
            _ => {}
        }
        match c {
            _ if depth == 0 => break,
            '(' if depth == 1 => {}
            ',' if depth == 1 => parts.push(String::new()),
            _ => parts.last_mut().expect("there is one").push(c),
        }
    }
    let pair = |p: &String| {
        let (name, of) = p.split_once(": ")?;
        let name = name.trim().trim_start_matches("mut ").trim_start_matches('_');
        Some((name.to_string(), of.trim().to_string()))
    };
    parts.iter().filter_map(pair).collect()
}

/// What an argument is converted to.
fn kind(of: &str) -> Option<&'static str> {
    Some(match of {
        "i64" | "i32" | "u32" | "u64" | "usize" | "Count" => "Integer",
        "f64" => "Float",
        "Str" | "Ref<StringCell" | "Ref<StringCell>" => "String",
        "Ref<ArrayCell" | "Ref<ArrayCell>" => "Array",
        "Ref<HashCell" | "Ref<HashCell>" => "Hash",
        "Ref<ProcCell" | "Ref<ProcCell>" => "Proc",
        "Sym" => "Symbol",
        "ClassId" => "Class or Module",
        _ => return None,
    })
}
