//! Declarations in the Ruby parts of the libraries: `class`, `module`, `def`, `alias`, `attr_*` and what sets visibility.
//!
//! It reads lines, and goes by how the files are indented: what stands deeper than a class's body declares nothing.
//!
//! In comments: a line with nothing but `:nodoc:` leaves out the class or the methods below it, or those on whose line it stands; a line `` `name`: ... `` above attributes
//! is the text of one of them; a line `:method: name(parameters): text` declares a method that a loop defines.

use super::{Method, Visibility};

#[derive(Default)]
pub struct Declared {
    pub methods: Vec<Method>,
    /// Classes and modules, and the comments above them.
    pub classes: Vec<(String, String)>,
    /// Those that `private_constant` hides.
    pub hidden: Vec<String>,
    /// Other names of methods that may be declared elsewhere: class, singleton, name, method.
    pub aliases: Vec<(String, bool, String, String)>,
    /// Classes and the modules that they include, as they name them.
    pub includes: Vec<(String, String)>,
}

struct Scope {
    body: usize,
    class: String,
    singleton: bool,
    visibility: Visibility,
}

pub fn declared(source: &str) -> Declared {
    let mut out = Declared::default();
    let mut scopes = vec![Scope { body: 0, class: "Object".to_string(), singleton: false, visibility: Visibility::Public }];
    let mut text: Vec<&str> = Vec::new();
    for (line, number) in source.lines().zip(1..).take_while(|(l, _)| *l != "__END__") {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        if let Some(comment) = code.strip_prefix('#') {
            text.push(comment.strip_prefix(' ').unwrap_or(comment));
            continue;
        }
        let text = std::mem::take(&mut text);
        if code == "end" && scopes.len() > 1 && indent + 2 == scopes[scopes.len() - 1].body {
            scopes.pop();
        }
        let scope = scopes.last_mut().expect("the outermost stays");
        made_elsewhere(&text, scope, number, &mut out);
        if indent != scope.body || code.is_empty() {
            continue;
        }
        let hidden = code.ends_with("# :nodoc:") || text.contains(&":nodoc:");
        let inside = |name: &str| if scope.class == "Object" { name.to_string() } else { format!("{}::{name}", scope.class) };
        let opened = match code.split([' ', ';', '(']).collect::<Vec<_>>()[..] {
            ["class", "<<", "self", ..] => Some((scope.class.clone(), true)),
            ["class", "<<", other, ..] => Some((inside(other), true)),
            ["class" | "module", name, ..] => Some((inside(name), false)),
            [name, "=", "Struct.new" | "Class.new" | "Module.new" | "Data.define", ..] if code.contains(" do") => {
                Some((inside(name), false))
            }
            _ => None,
        };
        if let Some((class, singleton)) = opened {
            if hidden {
                out.hidden.push(class.clone());
            }
            if !singleton {
                out.classes.push((class.clone(), text.join("\n")));
            }
            if !code.ends_with(" end") {
                scopes.push(Scope { body: indent + 2, class, singleton, visibility: Visibility::Public });
            }
            continue;
        }
        let before = out.methods.len();
        declaration(code, text.join("\n"), scope, &mut out);
        out.methods[before..].iter_mut().for_each(|m| m.place.1 = number);
        if hidden {
            out.methods.truncate(before);
        }
    }
    out
}

/// What a comment declares by `:method:`.
fn made_elsewhere(comment: &[&str], scope: &Scope, number: usize, out: &mut Declared) {
    for part in comment.chunk_by(|_, next| !next.starts_with(":method: ")) {
        let Some(head) = part[0].strip_prefix(":method: ") else { continue };
        let Some((name, own, parameters)) = definition(head) else { continue };
        // The head is a name, maybe with parameters, and `: text`.
        let given = if head[name.len()..].starts_with('(') { parameters.len() + 2 } else { 0 };
        let first = head.get(name.len() + given..).and_then(|rest| rest.strip_prefix(": "));
        let text = first.into_iter().chain(part[1..].iter().copied()).collect::<Vec<_>>().join("\n");
        let (class, singleton, visibility) = (scope.class.clone(), scope.singleton || own, scope.visibility);
        let place = (String::new(), number);
        out.methods.push(Method {
            class,
            singleton,
            names: vec![name],
            visibility,
            parameters,
            kinds: Vec::new(),
            text,
            feature: None,
            place,
        });
    }
}

/// The text of one of the attributes that a comment is for: all of it, or its own line.
fn of_attribute(text: &str, name: &str) -> String {
    match text.lines().find_map(|l| l.strip_prefix(&format!("`{name}`: "))) {
        Some(own) => own.to_string(),
        None if text.starts_with('`') && text.contains("`: ") => String::new(),
        None => text.to_string(),
    }
}

fn declaration(code: &str, text: String, scope: &mut Scope, out: &mut Declared) {
    let (word, rest) = code.split_once(' ').unwrap_or((code, ""));
    let rest = rest.trim();
    let symbols = || rest.split(", ").filter_map(|s| s.strip_prefix(':')).map(str::to_string);
    let mut add = |names: Vec<String>, singleton: bool, visibility: Visibility, parameters: String, text: &str| {
        let (class, text) = (scope.class.clone(), text.to_string());
        out.methods.push(Method {
            class,
            singleton,
            names,
            visibility,
            parameters,
            kinds: Vec::new(),
            text,
            feature: None,
            place: Default::default(),
        });
    };
    let visibility = match word {
        "private" | "private_class_method" => Some(Visibility::Private),
        "protected" => Some(Visibility::Protected),
        "module_function" => Some(Visibility::ModuleFunction),
        "public" => Some(Visibility::Public),
        _ => None,
    };
    match (word, visibility) {
        ("def", _) => {
            if let Some((name, own, parameters)) = definition(rest) {
                add(vec![name], scope.singleton || own, if own { Visibility::Public } else { scope.visibility }, parameters, &text);
            }
        }
        (_, Some(visibility)) if rest.is_empty() => scope.visibility = visibility,
        (_, Some(visibility)) => {
            if let Some((name, own, parameters)) = rest.strip_prefix("def ").and_then(definition) {
                add(vec![name], scope.singleton || own, visibility, parameters, &text);
            }
            let singleton = scope.singleton || word == "private_class_method";
            for name in symbols() {
                for m in out.methods.iter_mut().filter(|m| m.class == scope.class && m.singleton == singleton && m.names[0] == name) {
                    m.visibility = visibility;
                }
            }
        }
        ("attr_reader" | "attr_writer" | "attr_accessor", _) => symbols().for_each(|n| {
            let mut text = of_attribute(&text, &n);
            if word != "attr_writer" {
                add(vec![n.clone()], scope.singleton, scope.visibility, String::new(), &text);
            }
            if word != "attr_reader" {
                if word == "attr_accessor" && !text.is_empty() {
                    text = format!("Sets what `{n}` answers.");
                }
                add(vec![n + "="], scope.singleton, scope.visibility, "value".to_string(), &text);
            }
        }),
        ("include", _) if !scope.singleton => {
            out.includes.extend(rest.split(", ").map(|name| (scope.class.clone(), name.to_string())));
        }
        ("private_constant", _) => out.hidden.extend(symbols().map(|n| format!("{}::{n}", scope.class))),
        ("alias" | "alias_method", _) => {
            for one in code.split("; ") {
                let words: Vec<&str> = one.split([' ', ',']).filter(|s| !s.is_empty()).map(|s| s.trim_start_matches(':')).collect();
                if let [_, name, of, ..] = words[..] {
                    out.aliases.push((scope.class.clone(), scope.singleton, name.to_string(), of.to_string()));
                }
            }
        }
        _ => {}
    }
}

/// Name, whether it stands for `self.name`, and parameters of what follows `def`. None: of another object.
fn definition(code: &str) -> Option<(String, bool, String)> {
    let (code, own) = code.strip_prefix("self.").map_or((code, false), |c| (c, true));
    let operator = !code.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let mut end = code.find(|c: char| if operator { c == '(' || c == ' ' } else { !c.is_alphanumeric() && c != '_' }).unwrap_or(code.len());
    let after = &code[end..];
    if !operator && (after.starts_with(['?', '!']) || after.starts_with("=(")) {
        end += 1;
    }
    let (name, after) = code.split_at(end);
    if after.starts_with('.') {
        return None;
    }
    let mut depth = 0;
    let close = after.char_indices().find(|(_, c)| {
        depth += (*c == '(') as i32 - (*c == ')') as i32;
        depth == 0
    });
    let parameters = match close {
        Some((close, ')')) => &after[1..close],
        _ if after.starts_with('(') => &after[1..],
        _ => "",
    };
    Some((name.to_string(), own, parameters.to_string()))
}
