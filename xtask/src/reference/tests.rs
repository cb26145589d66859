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
        let library = ["stdlib", "openssl", "gems", "cluster"].iter().any(|c| path.starts_with(root().join("crates").join(c)));
        assert!(!library || found.iter().all(|m| m.class != "Object" || m.names[0] == "to_json"), "{}", path.display());
    }
}

#[test]
fn pages_have_signatures_texts_and_examples() {
    let (pages, methods, bare) = pages(&read(&root()).unwrap(), &std::fs::read_to_string(root().join("docs/life.md")).unwrap());
    // A few are what somebody is at work on: `xtask reference --bare` names them.
    assert!(methods > 4000 && bare.len() < 50, "{methods} methods, {} without text: {bare:#?}", bare.len());
    let has = |page: &str, text: &str| assert!(pages[page].contains(text), "{page} lacks {text}");
    has("Array.md", "### `` at(i) ``\n\n`i`: Integer.\n\n");
    has("Array.md", "\n```ruby\n[[1, :a], [2, :b]].assoc(2)   #=> [2, :b]\n```\n");
    has("Array.md", "### `` first([n]) ``");
    has("RubyVM.md", "### `` RubyVM.fork(");
    has("RubyVM-Channel.md", "## Singleton methods\n\n### `` RubyVM::Channel.new(");
    has("FileTest.md", "### `` FileTest.exist?(v) ``");
    has("Date.md", "Needs `require \"date\"`.");
    has("OpenSSL-SSL-SSLSocket.md", "Needs `require \"openssl\"`.");
    has("OpenSSL-SSL-SSLSocket.md", "### `` connect ``");
    has("Ractor-Port.md", "### `` self == other ``\n\nAlso: `` eql? ``.");
    has("README.md", "\n## [Array](Array.md)\n\n");
    has("zakuro.md", "`` Ractor.new(*args, name: nil, memory_limit: nil");
    has("zakuro.md", "- `cpu_limit:` seconds of CPU time");
    assert!(!pages.contains_key("RubyVM-FiberScheduler-Poller.md"), "a private class has a page");
}

#[test]
fn comments_in_ruby_tell_of_attributes_and_of_methods_that_loops_define() {
    let found = ruby::declared(
        "class A\n  # `x`: One.\n  # `y`: Two.\n  attr_reader :x, :y\n  # Both.\n  attr_accessor :z\n  # :method: size: Bytes.\n  # :method: each(n = 1): Yields.\n  #\n  #     1   #=> 1\n  \
         %i[size each].each { |n| define_method(n) {} }\n  # :nodoc:\n  def no; end\n  def none = 1 # :nodoc:\n  alias a x; alias b y\n  # :nodoc:\n  class B\n  end\nend\n",
    );
    let seen: Vec<String> = found.methods.iter().map(|m| format!("{} | {}", m.signature(), m.text)).collect();
    assert_eq!(
        seen,
        [
            "x | One.",
            "y | Two.",
            "z | Both.",
            "self.z = value | Sets what `z` answers.",
            "size | Bytes.",
            "each(n = 1) | Yields.\n\n    1   #=> 1"
        ]
    );
    assert_eq!(found.aliases.iter().map(|a| (a.2.as_str(), a.3.as_str())).collect::<Vec<_>>(), [("a", "x"), ("b", "y")]);
    assert_eq!(found.hidden, ["A::B"]);
}

#[test]
fn examples_are_lines_of_code_and_what_the_last_one_answers() {
    let found = examples::of_text("Text.\n\n    a = 1\n    a + 1   #=> 2\n    a   #=> 1\n\nMore.\n\n    a   #=> 3");
    let seen: Vec<_> = found.iter().map(|e| (e.code.as_str(), e.expected.as_str())).collect();
    assert_eq!(seen, [("a = 1\na + 1", "2"), ("a = 1\na + 1\na", "1"), ("a", "3")]);
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
