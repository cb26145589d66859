//! Every kind of node that prism can produce stands in some recorded test or golden, and has a lowering.
//!
//! The names come from the parser's own description of its nodes, so a newer parser that knows more fails here.

use ruby_prism::{Node, Visit};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Nodes that no correct program holds.
const NEVER: &[&str] = &[
    // Stands where something is missing in a program with errors.
    "MissingNode",
    "ErrorRecoveryNode",
    // `&nil` is not in the grammar of Ruby 4.0.
    "NoBlockParameterNode",
];

/// Names of prism's nodes, from the description that its Rust binding is generated from.
fn names() -> BTreeSet<String> {
    let lock = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock")).expect("Cargo.lock");
    let version = lock.split("name = \"ruby-prism\"\nversion = \"").nth(1).and_then(|t| t.split('"').next()).expect("ruby-prism is locked");
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|h| h.join(".cargo"))).expect("cargo's home");
    let registries = std::fs::read_dir(home.join("registry/src")).expect("a registry").flatten();
    let vendors = registries.filter_map(|r| std::fs::read_dir(r.path().join(format!("ruby-prism-{version}/vendor"))).ok());
    let config = vendors.flat_map(|d| d.flatten()).map(|e| e.path().join("config.json")).find(|p| p.is_file());
    let config = std::fs::read_to_string(config.expect("config.json")).expect("readable");
    let nodes = config.split("\"name\":\"").skip(1).filter_map(|t| t.split('"').next()).filter(|n| n.ends_with("Node"));
    nodes.map(String::from).collect()
}

/// Takes the first word that is written and refuses the rest: a node's Debug text holds its whole subtree.
#[derive(Default)]
struct FirstWord(String);

impl Write for FirstWord {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        let end = s.find(|c: char| !c.is_alphanumeric());
        self.0.push_str(&s[..end.unwrap_or(s.len())]);
        if end.is_some() { Err(std::fmt::Error) } else { Ok(()) }
    }
}

struct Kinds<'a>(&'a mut BTreeSet<String>);

impl Kinds<'_> {
    fn add(&mut self, n: &Node) {
        let mut w = FirstWord::default();
        // The error is how it stops early.
        let _ = write!(w, "{n:?}");
        self.0.insert(w.0);
    }
}

impl<'pr> Visit<'pr> for Kinds<'_> {
    fn visit_branch_node_enter(&mut self, n: Node<'pr>) {
        self.add(&n);
    }
    fn visit_leaf_node_enter(&mut self, n: Node<'pr>) {
        self.add(&n);
    }
    // Children of one possible kind come without the general call.
    fn visit_arguments_node(&mut self, n: &ruby_prism::ArgumentsNode<'pr>) {
        self.0.insert("ArgumentsNode".into());
        ruby_prism::visit_arguments_node(self, n);
    }
    fn visit_ensure_node(&mut self, n: &ruby_prism::EnsureNode<'pr>) {
        self.0.insert("EnsureNode".into());
        ruby_prism::visit_ensure_node(self, n);
    }
    fn visit_parameters_node(&mut self, n: &ruby_prism::ParametersNode<'pr>) {
        self.0.insert("ParametersNode".into());
        ruby_prism::visit_parameters_node(self, n);
    }
    fn visit_rescue_node(&mut self, n: &ruby_prism::RescueNode<'pr>) {
        self.0.insert("RescueNode".into());
        ruby_prism::visit_rescue_node(self, n);
    }
}

fn sources() -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let dirs = [here.join("tests/golden"), here.join("../../tests/lang"), here.join("../../tests/core")];
    let files = dirs.iter().filter_map(|d| std::fs::read_dir(d).ok()).flat_map(|d| d.flatten().map(|e| e.path()));
    files.filter(|p| p.extension().is_some_and(|e| e == "rb")).collect()
}

#[test]
fn every_node_is_lowered_somewhere() {
    let names = names();
    assert!(names.len() > 140, "too few names: {names:?}");
    let mut seen = BTreeSet::new();
    let mut refused = Vec::new();
    for path in sources() {
        let source = std::fs::read(&path).expect("readable");
        if let Err(e) = zakuro_compiler::compile(&source, &zakuro_compiler::Options { file: "t.rb", ..Default::default() }) {
            // Goldens of errors don't compile.
            if e.message().contains(": misplaced ") {
                refused.push(format!("{}: {}", path.display(), e.message()));
            }
            continue;
        }
        let result = ruby_prism::parse(&source);
        Kinds(&mut seen).visit(&result.node());
    }
    let missing: Vec<&String> = names.iter().filter(|n| !seen.contains(*n) && !NEVER.contains(&n.as_str())).collect();
    assert!(missing.is_empty(), "in no test: {missing:?}");
    assert!(refused.is_empty(), "without a lowering: {refused:#?}");
}
