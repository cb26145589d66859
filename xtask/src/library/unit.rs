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
    assert_eq!(specification(text, true), "# stub: racc 1.8.1 ruby lib\ns.name = \"racc\"\n");
    let minitest = "  s.add_runtime_dependency(%q<prism>.freeze)\n";
    assert_eq!((specification(minitest, true).as_str(), specification(minitest, false).as_str()), (minitest, ""));
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
    assert!(lay_out(&jar, None, &dir.join("half")).is_err());
    assert!(!dir.join("lib").exists() && !is_there(&dir));
    std::fs::remove_dir_all(&dir).expect("own files");
}

/// A module whose memory holds the directory `a` with the files `b` and `c`.
#[test]
fn files_in_a_module() {
    let mut memory = vec![0u8; 256];
    let mut put = |at: usize, words: &[u32]| {
        for (i, w) in words.iter().enumerate() {
            memory[at + 4 * i..at + 4 * i + 4].copy_from_slice(&w.to_le_bytes());
        }
    };
    put(0x10, &[0, 0x20]); // the first directory
    put(0x20, &[1, 1, 0x30]);
    put(0x30, &[0x40, 0xa0, 0]);
    put(0x40, &[0x10, 0x50]); // a
    put(0x50, &[1, 2, 0x60]);
    put(0x60, &[0x80, 0xa2, 0x70]);
    put(0x70, &[0x88, 0xa4, 0]);
    put(0x80, &[0x40, 0x90]); // b
    put(0x88, &[0x40, 0xb0]); // c
    put(0x90, &[0, 5, 0xc0]);
    put(0xb0, &[0, 0, 0]);
    memory[0xa0..0xa6].copy_from_slice(b"a\0b\0c\0");
    memory[0xc0..0xc5].copy_from_slice(b"hello");
    let mut data = vec![1, 0, 0x41, 0, 0x0b, 0x80, 2];
    data.extend_from_slice(&memory);
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    module.extend_from_slice(&[11, (data.len() & 127) as u8 | 128, (data.len() >> 7) as u8]);
    module.extend_from_slice(&data);
    let all = image::files(&module, 0x10, &|_| true).expect("files");
    assert_eq!(all, [("a/b".to_string(), b"hello".to_vec()), ("a/c".to_string(), Vec::new())]);
    assert_eq!(image::files(&module, 0x10, &|p| p.ends_with('c')).expect("files").len(), 1);
    for cut in 8..module.len() {
        let _ = image::files(&module[..cut], 0x10, &|_| true);
    }
    assert!(image::files(&module, 0x200, &|_| true).is_err());
}
