# Temporary files in a relative directory have relative paths.
require "tempfile"
require "tmpdir"
Dir.mktmpdir do |dir|
  Dir.chdir(dir) do
    Tempfile.create("name", "./") { |file| p file.path.start_with?("./name"), File.exist?(file.path) }
    p Dir::Tmpname.create(["a", ".b"], "sub") { }.match?(%r{\Asub/a[\w-]+\.b\z})
    p Tempfile.new("name", ".").path.start_with?("#{Dir.pwd}/name"), Dir.mktmpdir("x", ".") { |d| d.start_with?("./x") }
  end
end
