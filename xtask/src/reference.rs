//! An API reference in Markdown, made from the declarations themselves: the doc comments of builtins in Rust and the comments in the Ruby parts of the
//! libraries. A page for each class, an index, and a page of what is Zakuro's own. `zakuro --doctest` runs the examples in Rust's comments, `xtask reference --examples` those in Ruby's.
//!
//! Rejected: reflection in a running VM (it knows neither parameters' kinds nor comments), and pages in the repository (they would be out of date).

mod examples;
mod ruby;
mod rust;

use crate::{Args, root};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, PartialEq)]
enum Visibility {
    Public,
    Protected,
    Private,
    ModuleFunction,
}

#[derive(Clone)]
struct Method {
    class: String,
    singleton: bool,
    /// First the name, then its aliases.
    names: Vec<String>,
    visibility: Visibility,
    /// As a Ruby call has them; `[x]` may be left out.
    parameters: String,
    /// What arguments are converted to, where the type says so.
    kinds: Vec<(String, &'static str)>,
    text: String,
    /// What has to be required for it.
    feature: Option<String>,
    /// The file, and the line of the declaration.
    place: (String, usize),
}

impl Method {
    /// `initialize` is what the caller knows as the class's `new`.
    fn is_singleton(&self) -> bool {
        self.singleton || self.names[0] == "initialize"
    }

    fn shown_name(&self) -> &str {
        if self.names[0] == "initialize" { "new" } else { &self.names[0] }
    }

    /// Private under the name that it is shown by. Ruby makes some names so, whatever is declared.
    fn is_private(&self) -> bool {
        let private = self.visibility == Visibility::Private || matches!(self.names[0].as_str(), "initialize_copy" | "respond_to_missing?");
        private && self.names[0] != "initialize"
    }

    /// What is for a library's own use: private and protected methods in Ruby, and natives that stand behind them. Those of Kernel are functions for everybody.
    fn is_internal(&self) -> bool {
        let reserved = self.names[0].starts_with("__");
        let helper = self.place.0.ends_with(".rb") || self.feature.is_some();
        let hidden = self.is_private() || self.visibility == Visibility::Protected;
        reserved && !matches!(self.names[0].as_str(), "__send__" | "__id__" | "__method__" | "__dir__" | "__callee__")
            || helper && hidden && !matches!(self.class.as_str(), "Kernel" | "Object")
    }

    /// `Class#name(parameters)`, as the list of those without text has it.
    fn listed(&self) -> String {
        format!(
            "{}:{}: {}{}{}({})",
            self.place.0,
            self.place.1,
            self.class,
            if self.singleton { "." } else { "#" },
            self.names[0],
            self.parameters
        )
    }

    fn signature(&self) -> String {
        let (name, given) = (self.names[0].as_str(), self.parameters.as_str());
        let receiver = if self.singleton { self.class.as_str() } else { "self" };
        match name {
            "initialize" => call(&format!("{}.new", self.class), given),
            "[]" => format!("{receiver}[{given}]"),
            "[]=" => match given.rsplit_once(", ") {
                Some((index, value)) => format!("{receiver}[{index}] = {value}"),
                None => format!("{receiver}[{given}] = value"),
            },
            "!" | "~" | "+@" | "-@" => format!("{}{receiver}", &name[..1]),
            _ if !name.starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '`') => format!("{receiver} {name} {given}"),
            _ if name.ends_with('=') => format!("{receiver}.{} = {given}", name.trim_end_matches('=')),
            _ if self.singleton => call(&format!("{receiver}.{name}"), given),
            _ => call(name, given),
        }
    }

    fn write(&self, page: &mut String, of_class: bool) {
        let _ = writeln!(page, "### `` {} ``\n", self.signature());
        let mut notes: Vec<String> = Vec::new();
        if self.names.len() > 1 {
            notes.push(format!("Also: {}.", self.names[1..].iter().map(|n| format!("`` {n} ``")).collect::<Vec<_>>().join(", ")));
        }
        match self.visibility {
            _ if self.is_private() => notes.push("Private.".to_string()),
            Visibility::Protected => notes.push("Protected.".to_string()),
            Visibility::ModuleFunction => notes.push(format!("Also `{}.{}`.", self.class, self.names[0])),
            _ => {}
        }
        notes.extend(self.feature.iter().filter(|_| !of_class).map(|f| format!("Needs `require \"{f}\"`.")));
        notes.extend(self.kinds.iter().map(|(name, kind)| format!("`{name}`: {kind}.")));
        if !notes.is_empty() {
            let _ = writeln!(page, "{}\n", notes.join(" "));
        }
        if !self.text.is_empty() {
            let _ = writeln!(page, "{}\n", markdown(&self.text));
        }
    }
}

/// The first sentence.
fn summary(text: &str) -> String {
    let paragraph = text.lines().take_while(|l| !l.is_empty()).collect::<Vec<_>>().join(" ");
    paragraph.find(". ").map_or(paragraph.as_str(), |end| &paragraph[..=end]).to_string()
}

fn call(name: &str, given: &str) -> String {
    match given.strip_prefix(" {") {
        Some(_) => format!("{name}{given}"),
        None if given.is_empty() => name.to_string(),
        None => match given.strip_suffix(" { ... }") {
            Some(given) => format!("{name}({given}) {{ ... }}"),
            None => format!("{name}({given})"),
        },
    }
}

/// Indented lines become blocks of Ruby.
fn markdown(text: &str) -> String {
    let (mut out, mut inside) = (String::new(), false);
    for line in text.lines().chain([""]) {
        let code = line.strip_prefix("    ");
        if code.is_some() != inside {
            out += if inside { "```\n" } else { "```ruby\n" };
            inside = !inside;
        }
        out += code.unwrap_or(line).trim_end();
        out.push('\n');
    }
    out.trim_end().to_string()
}

#[derive(Default)]
struct Class {
    text: String,
    methods: Vec<Method>,
}

/// Every declaration of the workspace at `root`, by class; methods sorted by name.
fn read(root: &Path) -> Result<BTreeMap<String, Class>, String> {
    let text = |p: &Path| std::fs::read_to_string(p).map_err(|e| format!("{}: {e}", p.display()));
    let boot = rust::boot_classes(&text(&root.join("crates/object/src/class.rs"))?);
    let mut classes: BTreeMap<String, Class> = BTreeMap::new();
    let (mut hidden, mut aliases, mut includes) = (HashSet::new(), Vec::new(), Vec::new());
    for path in sources(root) {
        let source = text(&path)?;
        let feature = feature(root, &path)?;
        let methods = if path.extension().is_some_and(|e| e == "rs") {
            rust::methods(&source, &boot).map_err(|e| format!("{}: {e}", path.display()))?
        } else {
            let found = ruby::declared(&source);
            for (name, text) in found.classes {
                let class = classes.entry(name).or_default();
                // `Set: ...` above the first class of a file is the file's comment.
                let other = text.split_once(": ").is_some_and(|(of, _)| !of.contains(' ') && of.starts_with(char::is_uppercase));
                if class.text.is_empty() && !other {
                    class.text = text;
                }
            }
            hidden.extend(found.hidden);
            includes.extend(found.includes);
            aliases.extend(found.aliases.into_iter().map(|a| (a, feature.clone())));
            found.methods
        };
        let file = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        for method in methods {
            let (feature, place) = (feature.clone(), (file.clone(), method.place.1));
            classes.entry(method.class.clone()).or_default().methods.push(Method { feature, place, ..method });
        }
    }
    for ((class, singleton, name, of), feature) in aliases {
        let methods = &mut classes.entry(class.clone()).or_default().methods;
        match methods.iter_mut().find(|m| m.singleton == singleton && m.feature == feature && m.names.contains(&of)) {
            Some(m) => m.names.push(name),
            None => {
                let (names, text) = (vec![name], format!("The same as `{of}`."));
                let (visibility, parameters, kinds, place) = (Visibility::Public, String::new(), Vec::new(), Default::default());
                methods.push(Method { class, singleton, names, visibility, parameters, kinds, text, feature, place });
            }
        }
    }
    for (class, module) in includes {
        // A hidden module's methods are known as those of who includes it.
        let outer = std::iter::successors(Some(class.as_str()), |name| name.rsplit_once("::").map(|(outer, _)| outer));
        let Some(module) = outer.map(|name| format!("{name}::{module}")).find(|name| hidden.contains(name)) else { continue };
        let of_module = classes.get(&module).map(|m| m.methods.iter().filter(|m| !m.singleton).cloned().collect::<Vec<_>>());
        let methods = &mut classes.entry(class.clone()).or_default().methods;
        for method in of_module.into_iter().flatten() {
            if !methods.iter().any(|m| !m.singleton && m.names[0] == method.names[0]) {
                methods.push(Method { class: class.clone(), ..method });
            }
        }
    }
    classes.retain(|name, _| {
        !hidden.iter().any(|h: &String| name.strip_prefix(h.as_str()).is_some_and(|r| r.is_empty() || r.starts_with("::")))
    });
    classes.values_mut().for_each(|c| c.methods.sort_by(|a, b| a.shown_name().cmp(b.shown_name())));
    Ok(classes)
}

/// Where builtins are declared.
fn sources(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for dir in ["core-base", "core-collections", "core-numbers", "core-program", "core-system", "core-text", "core-vms"] {
        crate::check::files(&root.join("crates").join(dir).join("src"), &["rs"], &mut found);
    }
    crate::check::files(&root.join("crates/corelib/prelude"), &["rb"], &mut found);
    for dir in ["stdlib", "openssl", "gems", "cluster"] {
        crate::check::files(&root.join("crates").join(dir).join("src"), &["rs"], &mut found);
        crate::check::files(&root.join("crates").join(dir).join("ruby"), &["rb"], &mut found);
    }
    found
}

/// What `require` gets for a file of the libraries: the row of `FEATURES` that has its name, or the first part of it.
fn feature(root: &Path, path: &Path) -> Result<Option<String>, String> {
    let inner: Vec<_> = path.strip_prefix(root.join("crates")).unwrap_or(path).iter().map(|p| p.to_string_lossy()).collect();
    if !matches!(&*inner[0], "stdlib" | "openssl" | "gems" | "cluster") || inner.len() < 3 {
        return Ok(None);
    }
    let table = root.join("crates").join(&*inner[0]).join("src/lib.rs");
    let table = std::fs::read_to_string(&table).map_err(|e| format!("{}: {e}", table.display()))?;
    let rows: Vec<(&str, &str)> =
        table.lines().filter_map(|l| l.trim().strip_prefix("(\"")?.strip_suffix("),")?.split_once("\", ")).collect();
    let stems = std::iter::successors(inner[2].split('.').next(), |stem| stem.rsplit_once('_').map(|(shorter, _)| shorter));
    let plain = |name: &str| name.trim_end_matches(".so").replace('/', "_");
    let row = |stem: &str| {
        let named = rows.iter().find(|(name, _)| plain(name) == stem);
        let loaded = named.or_else(|| rows.iter().find(|(_, function)| function.split("::").next() == Some(stem)));
        loaded.or_else(|| rows.iter().find(|(name, _)| plain(name).strip_prefix(stem).is_some_and(|rest| rest.starts_with('_'))))
    };
    Ok(stems.filter_map(row).next().and_then(|(name, _)| whole(name.trim_end_matches(".so"))).map(str::to_string))
}

/// What a program requires for a part of a library: natives without the rest of it are of no use. None: what is loaded when it is first named.
fn whole(feature: &str) -> Option<&str> {
    match feature {
        "ffi_c" => Some("ffi"),
        "nio4r_ext" => Some("nio"),
        "puma/puma_http11" => Some("puma"),
        "zakuro/abstract_syntax_tree" => None,
        _ => match feature.split_once('/') {
            Some((first @ ("forwardable" | "openssl" | "nokogiri" | "msgpack" | "prism" | "sqlite3"), _)) => Some(first),
            _ => Some(feature),
        },
    }
}

fn file_name(class: &str) -> String {
    class.replace("::", "-") + ".md"
}

/// The pages by their file names, how many methods programs may call, and those of them that have no text.
fn pages(classes: &BTreeMap<String, Class>, life: &str) -> (BTreeMap<String, String>, usize, Vec<String>) {
    let (mut pages, mut count, mut bare) = (BTreeMap::new(), 0, Vec::new());
    let mut index =
        "# API reference\n\nMade from the declarations by `cargo run -p xtask -- reference`. [What is Zakuro's own](zakuro.md).\n"
            .to_string();
    let mut own =
        "# What is Zakuro's own\n\nClasses and methods that CRuby lacks, and what else takes the keywords of limits.\n".to_string();
    for (name, class) in classes {
        let shown: Vec<&Method> = class.methods.iter().filter(|m| !m.is_internal()).collect();
        if shown.is_empty() {
            continue;
        }
        count += shown.len();
        bare.extend(shown.iter().filter(|m| m.text.is_empty()).map(|m| m.listed()));
        let feature = shown[0].feature.as_ref().filter(|f| shown.iter().all(|m| m.feature.as_ref() == Some(f)));
        let mut page = format!("# {name}\n\n");
        let note = feature.map(|f| format!("Needs `require \"{f}\"`."));
        for paragraph in note.into_iter().chain((!class.text.is_empty()).then(|| markdown(&class.text))) {
            let _ = writeln!(page, "{paragraph}\n");
        }
        let _ = writeln!(index, "\n## [{name}]({})\n", file_name(name));
        let is_own = (name == "RubyVM" || name.starts_with("RubyVM::")) && !CRUBY.iter().any(|c| name.starts_with(c));
        let mut listed = String::new();
        for (singleton, title) in [(true, "Singleton methods"), (false, "Methods")] {
            let group: Vec<&&Method> = shown.iter().filter(|m| m.is_singleton() == singleton).collect();
            if !group.is_empty() {
                let _ = writeln!(page, "## {title}\n");
            }
            for method in group {
                method.write(&mut page, feature.is_some());
                let line = format!("- `` {} `` {}", method.signature(), summary(&method.text));
                if is_own && !method.is_private() || method.parameters.contains("memory_limit") {
                    let _ = writeln!(listed, "{}", line.trim_end());
                }
                let _ = writeln!(index, "{}", line.trim_end());
            }
        }
        if !listed.is_empty() {
            let _ = write!(own, "\n## [{name}]({})\n\n{listed}", file_name(name));
        }
        pages.insert(file_name(name), page.trim_end().to_string() + "\n");
    }
    own += "\n## Keywords of limits\n\nOf `RubyVM.new`, `RubyVM.fork`, `Image#spawn` and `Ractor.new`:\n\n";
    let limits = life.split("\n## Limits\n").nth(1).unwrap_or_default();
    for line in limits.lines().skip_while(|l| !l.starts_with("- `")).take_while(|l| !l.is_empty()).filter(|l| l.starts_with("- `")) {
        let _ = writeln!(own, "{}", summary(line).split(" ([").next().unwrap_or_default());
    }
    pages.insert("README.md".to_string(), index);
    pages.insert("zakuro.md".to_string(), own);
    (pages, count, bare)
}

/// What has its name from CRuby.
const CRUBY: &[&str] = &["RubyVM::InstructionSequence", "RubyVM::AbstractSyntaxTree"];

pub fn run(args: &[String]) -> Result<bool, String> {
    let args = Args::parse(args, &["out", "zakuro"], &["bare", "examples"])?;
    let out = args.get("out").map_or_else(|| crate::target().join("reference"), PathBuf::from);
    let life = std::fs::read_to_string(root().join("docs/life.md")).map_err(|e| format!("docs/life.md: {e}"))?;
    let classes = read(&root())?;
    if args.has("examples") {
        return examples::run(classes.values().flat_map(|c| &c.methods), &crate::find_zakuro(&args, "debug")?);
    }
    let (pages, methods, bare) = pages(&classes, &life);
    std::fs::create_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    for (name, text) in &pages {
        std::fs::write(out.join(name), text).map_err(|e| format!("{}: {e}", out.join(name).display()))?;
    }
    if args.has("bare") {
        bare.iter().for_each(|line| println!("{line}"));
    }
    println!("reference: {} pages, {methods} methods, {} of them without text, in {}", pages.len(), bare.len(), out.display());
    Ok(true)
}

#[cfg(test)]
#[path = "reference/tests.rs"]
mod tests;
