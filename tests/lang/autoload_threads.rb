# Autoload with several threads of a VM, with files that fail or do not keep their promise.
require "tmpdir"
Dir.mktmpdir do |dir|
  $LOAD_PATH.unshift dir
  write = ->(name, text) { File.write(File.join(dir, "#{name}.rb"), text) }

  # Others wait for the thread that loads, and never see half of a file.
  write.("slow_one", "$loads += 1\nmodule SlowOne\n  20.times { Thread.pass }\n  sleep 0.01\n  def self.ready = :ready\nend\n")
  $loads = 0
  autoload :SlowOne, "slow_one"
  p Array.new(8) { Thread.new { SlowOne.ready } }.map(&:value).uniq, $loads

  # What is assigned is seen by the loading thread only, until the file is done.
  write.("steps", "$seen << defined?(Steps)\nSteps = 1\n$seen << Steps << Object.autoload?(:Steps)\n$go.push 1\n$done.pop\n")
  $seen, $go, $done = [], Queue.new, Queue.new
  autoload :Steps, "steps"
  t = Thread.new { Steps }
  $go.pop
  p Object.autoload?(:Steps), defined?(Steps)
  waiter = Thread.new { Steps + 1 }
  Thread.pass until waiter.stop?
  $done.push 1
  p t.value, waiter.value, Object.autoload?(:Steps), $seen

  # A file that fails leaves the autoload; the next reader tries again.
  write.("flaky", "Flaky = 1\nraise 'not yet' if ($tries += 1) < 3\n")
  $tries = 0
  autoload :Flaky, "flaky"
  3.times { begin; p Flaky; rescue => e; p [e.message, Object.autoload?(:Flaky)]; end }

  # A file that does not define it: the constant goes.
  write.("liar", "Other = 1")
  autoload :Liar, "liar"
  p Object.const_defined?(:Liar)
  begin; Liar; rescue NameError => e; puts e.message[/uninitialized constant \w+/]; end
  p Object.const_defined?(:Liar), Object.autoload?(:Liar)

  # Two constants of one file, and the file required by hand.
  write.("pair", "module Pair\n  Left = 1\n  Right = 2\nend\n")
  module Pair; autoload :Left, "pair"; autoload :Right, "pair"; private_constant :Right; end
  p require("pair"), Pair.autoload?(:Left), Pair::Left, require("pair")
  begin; Pair::Right; rescue NameError => e; puts e.message[/private constant \S+ referenced/]; end

  # By inheritance.
  write.("inherited_one", "class Base; Inherited = :inherited; end")
  class Base; autoload :Inherited, "inherited_one"; end
  class Derived < Base; end
  p Derived.autoload?(:Inherited), Derived.autoload?(:Inherited, false), Derived::Inherited

  # Removing one loads nothing; a frozen module takes none.
  autoload :Gone, "no_such_file_anywhere"
  p Object.send(:remove_const, :Gone), defined?(Gone)
  begin; Module.new.freeze.autoload(:Foo, "foo"); rescue => e; p e.class; end

  # require waits as well, and takes over when the first thread fails.
  write.("taken", "if ($turn += 1) == 1\n  $ready << 1\n  sleep 0.01\n  raise 'first'\nend\n$by = $turn\n")
  $turn, $ready = 0, Queue.new
  first = Thread.new { begin; require "taken"; rescue => e; e.message; end }
  $ready.pop
  second = Thread.new { require "taken" }
  p first.value, second.value, $by
end
# Needs the standard library.
