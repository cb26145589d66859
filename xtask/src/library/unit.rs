use super::*;

#[test]
fn what_belongs_where() {
    let c = Choice::new();
    let at = |p: &str| c.place(&format!("META-INF/jruby.home/lib/ruby/{p}"));
    assert_eq!(at("stdlib/optparse/kwargs.rb").as_deref(), Some("optparse/kwargs.rb"));
    assert_eq!(at("stdlib/json/add/core.rb").as_deref(), Some("json/add/core.rb"));
    for out in
        ["stdlib/json.rb", "stdlib/io/console.rb", "stdlib/readline.jar", "stdlib/java/inspect.rb", "gems/shared/cache/rake-13.3.1.gem"]
    {
        assert_eq!(at(out), None, "{out}");
    }
    assert_eq!(at("gems/shared/gems/racc-1.8.1-java/lib/racc.rb").as_deref(), Some("gems/gems/racc-1.8.1/lib/racc.rb"));
    assert_eq!(at("gems/shared/gems/bigdecimal-4.0.1-java/lib/bigdecimal.rb"), None);
    assert_eq!(at("gems/shared/gems/nkf-0.2.0-java/lib/nkf.rb"), None);
    assert_eq!(at("gems/shared/specifications/racc-1.8.1-java.gemspec").as_deref(), Some("gems/specifications/racc-1.8.1.gemspec"));
    // Ours stands in.
    assert_eq!(at("gems/shared/specifications/default/json-2.18.0-java.gemspec"), None);
    assert_eq!(at("gems/shared/specifications/default/io-console-0.8.2-java.gemspec"), None);
    assert_eq!(
        at("gems/shared/specifications/default/uri-1.1.1.gemspec").as_deref(),
        Some("gems/specifications/default/uri-1.1.1.gemspec")
    );
    assert_eq!(c.place("META-INF/jruby.home/bin/jruby"), None);
}

#[test]
fn specifications() {
    let text = "# stub: racc 1.8.1 java lib\ns.name = \"racc\"\n  s.platform = \"java\".freeze\n  s.add_runtime_dependency(%q<jar-dependencies>.freeze)\n";
    assert_eq!(specification(text), "# stub: racc 1.8.1 ruby lib\ns.name = \"racc\"\n");
    let (path, text) = own_specification("io-wait 0.4.0 io/wait").expect("a line");
    assert_eq!(path, "gems/specifications/default/io-wait-0.4.0.gemspec");
    assert!(text.contains("s.files = [\"lib/io/wait.rb\".freeze]"));
}

/// A package of another content is refused, and nothing of it stays.
#[test]
fn a_wrong_package() {
    let dir = std::env::temp_dir().join(format!("xtask-library-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a temporary directory");
    let jar = dir.join("some.jar");
    std::fs::write(&jar, b"no jar").expect("a file");
    let error = set_up(&dir, Some(&jar)).expect_err("the checksum is wrong");
    assert!(error.contains("its checksum is"), "{error}");
    // Even with the checksum: a truncated one.
    assert!(lay_out(&jar, &dir.join("half")).is_err());
    assert!(!dir.join("lib").exists() && !is_there(&dir));
    std::fs::remove_dir_all(&dir).expect("own files");
}
