# `zakuro worker` and `zakuro top` that lack what they need say so; a program of that name is run as Ruby runs it.
require "open3"
require "tmpdir"
EXE = File.readlink("/proc/self/exe")

Dir.mktmpdir do |dir|
  run = lambda do |*arguments, environment: {}|
    out, err, status = Open3.capture3({ "ZAKURO_CONNECT" => nil }.merge(environment), EXE, *arguments, chdir: dir)
    p arguments, status.exitstatus
    puts out.lines.first(2), err
  end
  File.write("#{dir}/app.rb", "p :app")
  run["worker"]
  run["worker", "app.rb"]
  run["worker", "app.rb", "--connect", "redis://127.0.0.1/x"]
  run["worker", "--connect"]
  run["worker", "--size", "many", "--connect", "redis://127.0.0.1/x"]
  run["worker", "-h"]
  run["worker", "missing.rb", environment: { "ZAKURO_CONNECT" => "redis://127.0.0.1/x" }]
  run["top"]
  run["top", "app.rb"]
  run["top", "1", "2"]
  run["top", "--help"]
  # Folders are no programs.
  %w[worker top].each { |name| Dir.mkdir("#{dir}/#{name}") }
  run["worker", "app.rb"]
  run["top"]
  %w[worker top].each { |name| Dir.rmdir("#{dir}/#{name}"); File.write("#{dir}/#{name}", "p __FILE__, ARGV") }
  run["worker", "app.rb"]
  run["worker", "--connect", "x"]
  run["top"]
  run["top", "12"]
end
