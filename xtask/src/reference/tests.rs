use super::*;

/// Attributes, counted without the reader; those in a macro once for each of the two classes that it is used for.
#[test]
fn every_declaration_in_rust_is_read() {
    let boot = rust::boot_classes(&std::fs::read_to_string(root().join("crates/object/src/class.rs")).unwrap());
    for path in sources(&root()).into_iter().filter(|p| p.extension().is_some_and(|e| e == "rs")) {
        let source = std::fs::read_to_string(&path).unwrap();
        let count = |part: &str| part.lines().filter(|l| l.trim_start().starts_with("#[method(")).count();
        let modules = source.split("#[ruby_class(");
        let expected: usize = modules.map(|m| count(m) * if m.starts_with('$') { 2 } else { 1 }).sum();
        let found = rust::methods(&source, &boot).unwrap();
        assert_eq!(found.len(), expected, "{}", path.display());
        // Natives of the libraries exist once they are required: none of them belongs to Object but by its comment.
        let library = ["stdlib", "openssl", "gems"].iter().any(|c| path.starts_with(root().join("crates").join(c)));
        assert!(!library || found.iter().all(|m| m.class != "Object" || m.names[0] == "to_json"), "{}", path.display());
    }
}

#[test]
fn pages_have_signatures_texts_and_examples() {
    let (pages, methods, bare) = pages(&read(&root()).unwrap(), &std::fs::read_to_string(root().join("docs/life.md")).unwrap());
    assert!(methods > 4000 && bare.len() < methods, "{methods} methods, {} without text", bare.len());
    let has = |page: &str, text: &str| assert!(pages[page].contains(text), "{page} lacks {text}");
    has("Array.md", "### `` at(i) ``\n\n`i`: Integer.\n\n");
    has("Array.md", "\n```ruby\n[[1, :a], [2, :b]].assoc(2)   #=> [2, :b]\n```\n");
    has("Array.md", "### `` first([n]) ``");
    has("RubyVM.md", "### `` RubyVM.fork(");
    has("RubyVM-Channel.md", "## Singleton methods\n\n### `` RubyVM::Channel.new(");
    has("FileTest.md", "### `` FileTest.exist?(v) ``");
    has("Date.md", "Needs `require \"date\"`.");
    has("Ractor-Port.md", "### `` self == other ``\n\nAlso: `` eql? ``.");
    has("README.md", "\n## [Array](Array.md)\n\n");
    has("zakuro.md", "`` Ractor.new(*args, name: nil, memory_limit: nil");
    has("zakuro.md", "- `cpu_limit:` seconds of CPU time");
    assert!(!pages.contains_key("RubyVM-FiberScheduler-Poller.md"), "a private class has a page");
}

#[test]
fn declarations_in_ruby_are_read_by_their_indentation() {
    let found = ruby::declared(
        "class A < B\n  # Text.\n  def self.x=(v) = v\n  class C; end\n  alias y z\n  private\n  def b?(a, c: f(1))\n    def no; end\n  end\nend\ndef top = 1\n",
    );
    let seen: Vec<String> = found.methods.iter().map(|m| format!("{}: {} {}", m.class, m.signature(), m.text)).collect();
    assert_eq!(seen, ["A: A.x = v Text.", "A: b?(a, c: f(1)) ", "Object: top "]);
    assert!(found.methods[1].visibility == Visibility::Private && found.aliases.len() == 1);
    assert_eq!(found.classes.iter().map(|c| c.0.as_str()).collect::<Vec<_>>(), ["A", "A::C"]);
}
