# Symbol.all_symbols shows what this VM knows, whatever others do at the same time.
def known(pattern) = Symbol.all_symbols.map(&:name).grep(pattern).sort

asked = RubyVM::Channel.new
answers = RubyVM::Channel.new
other = RubyVM.new("other", "-e", <<~'RUBY').start(asked, answers)
  ask, answer = RubyVM::ARGV
  def secret_from_a_method = @secret_from_an_ivar ||= :secret_from_a_literal
  $secret_from_a_global = 1
  Secret_from_a_constant = 1
  x = "from_to_sym"
  held = :"secret_#{x}"
  in_hash = { "secret_from_a_key#{x[99]}".to_sym => ["secret_in_an_array#{x[99]}".to_sym] }
  in_queue = Queue.new << "secret_in_a_queue#{x[99]}".to_sym
  in_fiber = Fiber.new { s = "secret_in_a_fiber#{x[99]}".to_sym; Fiber.yield; s }
  in_fiber.resume
  in_thread = Thread.new { s = "secret_in_a_thread#{x[99]}".to_sym; Thread.stop; s }
  Thread.pass until in_thread.stop?
  define_method("secret_from_a_definition#{x[99]}") {}
  Object.new.instance_variable_set("@secret_from_a_shape#{x[99]}", 1)
  frozen = Ractor.make_shareable([["secret_in_a_region#{x[99]}".to_sym]])
  100.times { |i| "secret_lost_#{i}".to_sym }
  answer << Symbol.all_symbols.map(&:name).grep(/secret_(from|in)_/).sort
  ask.recv
  answer << [held, in_hash, in_queue, frozen].size
RUBY
own = answers.recv
puts "the other VM sees its own:", own
p known(/secre[t]_/) - own
p (known(/secre[t]_/) & own).size

# What came over is known from then on.
c = RubyVM::Channel.new
RubyVM.new("sender", "-e", 'RubyVM::ARGV[0] << "told_#{1 + 1}".to_sym << Ractor.make_shareable({ ["region_#{1 + 1}".to_sym] => 1 })').start(c).join
told = c.recv
region = c.recv
p known(/\Atold_2|\Aregion_2/)
p told, region

# A fork knows its maker's names and its own; the maker does not learn the fork's.
kept = "kept_by_the_maker_#{1 + 1}".to_sym
KEPT = [["constant_of_the_maker_#{1 + 1}".to_sym]]
fork = RubyVM.fork do
  mine = "made_by_the_fork_#{1 + 1}".to_sym
  [mine, known(/_the_(maker|fork)_\d/)]
end
p fork.value.last
p known(/_the_(maker|fork)_\d/)
p kept, KEPT

# Names of code that has not run yet, of locals and parameters.
def parameters_of(first_parameter_here, key_parameter_here: 1) = unused_call_here(first_parameter_here)
p known(/[a-z]_here\z/)

# Numbers of Symbols tell nothing about others.
id = "id_of_mine_1#{1}".to_sym.object_id
RubyVM.new("busy", "-e", '5000.times { "busy_#{_1}".to_sym.object_id }').start.join
p "id_of_mine_2#{1}".to_sym.object_id - id
p "id_of_mine_1#{1}".to_sym.object_id == id
p RubyVM.fork { "id_of_mine_1#{1}".to_sym.object_id == id }.value
p :to_s.object_id == RubyVM.fork { :to_s.object_id }.value
asked << 1
p answers.recv
other.join
