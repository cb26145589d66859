# A slash in a bracket expression is a character like others.
require "tmpdir"
Dir.mktmpdir do |dir|
  Dir.chdir(dir) do
    %w[a b c].each { |n| File.write(n, "") }
    Dir.mkdir("d")
    File.write("d/a", "")
    ["[abc/def]", "[/]", "d[/]a", "d/[a/]", "[d]/[a]", "[a/", "[d/a]/a", "{[ab/],c}", "[a\\]/]", "d\\/a", "**/[a/]"].each { |g| p [g, Dir.glob(g).sort] }
  end
end
p File.fnmatch("[a/b]", "a"), File.fnmatch("[a/b]", "a", File::FNM_PATHNAME), File.fnmatch("[a/b]", "/", File::FNM_PATHNAME), File.fnmatch("[a/b]", "/")
p File.fnmatch("[a/b", "[a/b", File::FNM_PATHNAME), File.fnmatch("d/[a/b]", "d/b", File::FNM_PATHNAME)
