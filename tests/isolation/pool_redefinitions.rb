# Jobs that define anew what the program around them works with: each has an error, or its value, and the others their values (docs/pools.md).
def told(results)
  results.each_with_index.filter_map { |result, i| result == i ? nil : RubyVM::Pool::JobError === result ? [result.class, result.message] : [i, result] }
end

[
  "class Integer; def +(o) = 7; end", "class Integer; def -(o) = 7; end", "class Integer; def <=(o) = true; end", "class Integer; def <<(o) = 0; end", "class Integer; def |(o) = 1; end",
  "class Float; def -(o) = 'x'; end", "class Float; def >(o) = raise; end", "class Array; def [](*) = nil; end", "class Array; def <<(o) = self; end", "class Array; def size = 0; end",
  "class Array; def empty? = true; end", "class Hash; def [](k) = nil; end", "class Proc; def call(*) = 1; end", "class Module; def ===(o) = false; end", "class Class; def new(*) = nil; end",
  "class Integer; prepend(Module.new { def +(o) = super }); end", "class RubyVM::Channel; def <<(o) = self; def recv(*) = nil; end",
  # These it does without.
  "class Array; def each = self; def map = []; def push(*) = self; end", "class Integer; def <(o) = false; def <=>(o) = 0; def *(o) = 0; end", "class Struct; def self.new(*) = nil; end", "class NilClass; def nil? = false; end",
].each do |text|
  RubyVM::Pool.open(size: 2, job_timeout: 20) do |pool|
    p told(pool.map(0...60, errors: :return) { |i| eval(text) if i == 3; i }), told(pool.map(0...20, errors: :return) { |i| i })
  end
end

# Of a thread that a job has left.
RubyVM::Pool.open(size: 1, job_timeout: 20) do |pool|
  pool.map(1..1) { Thread.new { sleep 0.05; Integer.class_eval { def +(o) = 7 } }; nil }
  results = pool.map(0...400, errors: :return) { |i| sleep 0.001; i }
  p results.size, told(results).map(&:first).uniq.size <= 1
end

# A set-up may have its own that do the same.
pool = RubyVM::Pool.new(size: 2) { Integer.prepend(Module.new { def +(o) = super }) }
p told(pool.map(0...60) { |i| i + 0 })
pool.close
