# TOPLEVEL_BINDING has the main program's variables beside those that a file of `-r` gave it; each directory that no option named is marked in $LOAD_PATH.
require "tmpdir"
EXE = File.readlink("/proc/self/exe")

Dir.mktmpdir do |dir|
  write = ->(name, text) { File.join(dir, name).tap { |path| File.write(path, text) } }
  before = write.("before.rb", "TOPLEVEL_BINDING.local_variable_set(:early, 1)\n$reads = TOPLEVEL_BINDING.eval('-> { early }')\np TOPLEVEL_BINDING.local_variables\n")
  main = write.("main.rb", <<~'RUBY')
    p TOPLEVEL_BINDING.local_variables.sort
    TOPLEVEL_BINDING.local_variable_set(:late, 2)
    p TOPLEVEL_BINDING.local_variables.sort
    own = 3
    p TOPLEVEL_BINDING.local_variable_get(:own), TOPLEVEL_BINDING.eval("early + late + own")
    TOPLEVEL_BINDING.eval("early = 10; own = 30")
    p own, $reads.call
  RUBY
  system(EXE, "-r#{before}", main)
  system(EXE, "-r#{before}", write.("silent.rb", "x = 1\np $reads.call"))
  system(EXE, "-I", dir, "-e", "marked, rest = $:.partition { _1.instance_variable_defined?(:@gem_prelude_index) }; p rest.map { File.basename(_1) == File.basename(#{dir.dump}) }, marked.size > 0, $:.last(marked.size) == marked")
end
p ->(a, b) { }.curry[1].source_location
p Random.new(3).send(:state) == Random.new(3).send(:state), Random.new(3).send(:state) == Random.new(4).send(:state), Random.new(3).respond_to?(:state)
