# Without --gc=stress. gem build, install, list, contents, uninstall: from a file and from a server; and what is broken.
require_relative "support/commands"

Commands.open do |c|
  server = c.server
  file = server.gem("leaf", "1.0", "lib/leaf/words.txt" => (1..2000).map { |i| "#{i * 7919 % 10_007}\n" }.join)
  server.gem("leaf", "1.1")
  server.gem("tree", "0.5") { |s| s.add_dependency "leaf", "~> 1.0" }
  server.gem("tool", "2.0", "exe/tool" => "#!/usr/bin/env ruby\nrequire 'tool'; puts \"tool \#{Tool::VERSION} \#{ARGV}\"\n") { |s| s.bindir, s.executables = "exe", ["tool"] }
  extension = { "ext/native/extconf.rb" => "require 'mkmf'\ncreate_makefile 'native/native'\n", "lib/native.rb" => "require 'native/native'\n" }
  server.gem("native", "1.0", extension) { |s| s.extensions = ["ext/native/extconf.rb"] }
  stands_in = { "ext/strscan/extconf.rb" => "create_makefile 'strscan'\n", "lib/scans.rb" => "require 'strscan.so'; p StringScanner.new('ab').getch\n" }
  server.gem("scans", "1.0", stands_in) { |s| s.extensions = ["ext/strscan/extconf.rb"] }
  server.gem("plat", "1.0")
  server.gem("plat", "2.0") { |s| s.platform = "x86_64-linux" }
  from = ["--clear-sources", "--source", server.url]

  puts "-- from a file"
  c.gem "install", "--local", file
  c.gem "list", "leaf"
  c.gem "contents", "leaf"
  c.ruby "-e", "gem 'leaf', '1.0'; require 'leaf'; p Leaf::VERSION"
  puts "-- checked: the library's own gems have no packages, which is right"
  c.gem "check"
  File.delete("#{c.dir}/gems/gems/leaf-1.0/lib/leaf/words.txt")
  c.gem "check", only: /leaf|Missing/
  c.gem "install", "--local", file, only: /installed/
  puts "-- from a server"
  c.gem "install", "tree", "tool", *from
  c.ruby "-e", "require 'tree'; p Tree::VERSION, Gem.loaded_specs.keys"
  c.run "tool a b", ["#{c.dir}/gems/bin/tool", "a", "b"]
  c.gem "install", "plat", *from # the newer one is for another platform
  server.gem("brk", "1.0", "lib/brk.rb" => "def brk = raise(\"broken gem, for \#{$!.class}\")\nbrk\n")
  c.gem "install", "brk", *from, only: /installed/
  c.ruby "-e", "def broken = require('brk')\nbroken"
  c.ruby "-e", "require 'tree'; p $!; require 'leaf'; begin; require 'brk'; rescue => e; p e.cause.class, e.backtrace.size; end"
  puts "-- C extensions"
  c.gem "install", "native", "scans", *from
  c.ruby "-e", "begin; require 'native'; rescue LoadError => e; puts e.message; end"
  c.ruby "-e", "require 'scans'"
  c.gem "uninstall", "leaf", "--version", "1.0", only: /aborted/ # tree needs it
  c.gem "uninstall", "tree", "native", "-x"
  c.gem "uninstall", "leaf", "--version", "1.0"
  c.gem "list", only: /^(leaf|native|plat|scans|tool|tree) /

  puts "-- broken"
  content = File.binread(file)
  { "truncated" => content[0, content.size / 2], "damaged" => content.dup.tap { |b| b[1000, 300] = "x" * 300 }, "text" => "no gem\n", "empty" => "" }.each do |name, bytes|
    File.binwrite("#{c.app}/#{name}.gem", bytes)
    c.gem "install", "--local", "#{name}.gem", only: /ERROR|^    /
  end
  c.gem "install", "missing", *from, only: /ERROR/
  c.gem "install", "leaf", "--version", "9", *from, only: /ERROR/
  c.gem "install", "absent", "--clear-sources", "--source", "http://127.0.0.1:9", only: /ERROR/
  puts Dir.children("#{c.dir}/gems/gems").sort.inspect
end
