#!/bin/sh
# install.sh XTASK ZAKURO: installs into a directory, moves the tree, and runs what was installed, with an empty environment.
set -eu
xtask=$1 zakuro=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$xtask" install --zakuro "$zakuro" "$dir/first" --ruby >"$dir/log"
mv "$dir/first" "$dir/moved"
mkdir "$dir/home"
size=$(stat -c %s "$dir/moved/bin/zakuro")
if command -v strip >/dev/null && [ "$size" -gt 40000000 ]; then echo "bin/zakuro has $size bytes"; exit 1; fi

fail() { echo "installed tree: $*"; exit 1; }
inside() { env -i HOME="$dir/home" LC_ALL=C.UTF-8 PATH="$dir/moved/bin:/usr/bin:/bin" "$@"; }
expect() { # expect TEXT COMMAND...
  text=$1; shift
  got=$(inside "$@" 2>&1) || fail "$*: status $?: $got"
  case $got in *"$text"*) ;; *) fail "$*: $got" ;; esac
}
expect "$dir/moved/lib/ruby/zakuro/4.0.0" zakuro -e 'puts RbConfig::CONFIG["rubylibdir"]'
expect '["ruby", "4.0.0"]' ruby -e 'p [RUBY_ENGINE, RUBY_VERSION]'
expect '{"a" => [1, 2]}' ruby -ryaml -rjson -roptparse -rerb -rtempfile -rset -e 'p YAML.load(JSON.generate("a" => [1, 2]))'
expect "4.0.3" gem --version
expect "4.0.3" bundle --version
expect "rake, version" rake --version
expect "6.0.1" erb --version
expect "racc version" racc --version
expect "$dir/moved/lib/ruby/zakuro/gems/4.0.0" gem env gemdir
printf 'task(:hi) { puts "hi from rake" }\n' >"$dir/Rakefile"
expect "hi from rake" rake -f "$dir/Rakefile" hi
printf '#!/usr/bin/env zakuro\nputs "a script: #{ARGV}"\n' >"$dir/script"
chmod +x "$dir/script"
expect 'a script: ["x"]' "$dir/script" x
ln -s "$dir/moved/bin/rake" "$dir/linked"
expect "rake, version" "$dir/linked" --version
# A gem, and its executable.
mkdir -p "$dir/g/lib" "$dir/g/exe"
printf 'module Hello; end\n' >"$dir/g/lib/hello.rb"
printf '#!/usr/bin/env ruby\nrequire "hello"; puts "executable of #{Hello}"\n' >"$dir/g/exe/hello"
chmod +x "$dir/g/exe/hello"
cat >"$dir/g/hello.gemspec" <<'SPEC'
Gem::Specification.new do |s|
  s.name, s.version, s.summary, s.authors, s.files = "hello", "1.0", "x", ["A"], ["lib/hello.rb", "exe/hello"]
  s.bindir, s.executables = "exe", ["hello"]
end
SPEC
(cd "$dir/g" && inside gem build hello.gemspec >/dev/null 2>&1) || fail "gem build"
expect "1 gem installed" gem install --local "$dir/g/hello-1.0.gem"
expect "executable of Hello" hello
# A library that can't be written whole leaves nothing: the next installation starts anew.
mkdir "$dir/full"
if (trap '' XFSZ; ulimit -f 200; "$xtask" install --zakuro "$zakuro" "$dir/full") >"$dir/log" 2>&1; then fail "a file system that refuses"; fi
[ -z "$(find "$dir/full" -path '*zakuro/*' -type f -print -quit)" ] || fail "half installed: $(find "$dir/full" -type f | head -3)"
echo "installed, moved, used: $size bytes"
