require "coverage"
require "tmpdir"

def try = yield rescue "#{$!.class}: #{$!.message}"

SOURCE = <<~RUBY
  # a comment
  module Covered
    LIMIT = 3 unless const_defined?(:LIMIT)

    def self.run(n)
      total = 0
      n.times do |i|
        total += i
        next if i < LIMIT
        total -= 1 if i == 4
      end
      case total
      when 0 then :none
      when 6
        :six
      else
        :more
      end
    end

    def self.never
      if rand > 2
        1
      else
        2
      end
    end

    [1, 2].each { |x|
      x + 1
    }
    while (@k ||= 0) < 2
      @k += 1
    end
  end
RUBY

Dir.mktmpdir do |dir|
  file = File.join(File.realpath(dir), "covered.rb")
  File.write(file, SOURCE)
  p Coverage.running?, try { Coverage.result }, try { Coverage.peek_result }, Coverage.line_stub(file)
  Coverage.start
  p Coverage.running?, try { Coverage.start }
  load file
  p Covered.run(2), Covered.run(6)
  p Coverage.peek_result.to_a.map { |f, c| [File.basename(f), c] }
  eval("1\n2", binding, "evaluated.rb")
  p Coverage.result.keys == [file], Coverage.running?
  p Coverage.start(lines: true), Coverage.result.size

  # Once each, reported once.
  Coverage.start(oneshot_lines: true)
  load file
  Covered.run(4)
  p Coverage.result(stop: false, clear: true)[file].to_a.map { |k, v| [k, v.uniq.sort] }
  Covered.run(9)
  p Coverage.result(stop: false, clear: true)[file].to_a.map { |k, v| [k, v.uniq.sort] }, Coverage.result(stop: true, clear: true)[file].to_a.map { |k, v| [k, v.uniq.sort] }

  # Suspended in between.
  Coverage.setup(lines: true)
  load file
  Coverage.resume
  Covered.run(1)
  Coverage.suspend
  Covered.run(1)
  p Coverage.running?, Coverage.result[file][:lines].compact.sum, try { Coverage.resume }, try { Coverage.suspend }
  p try { Coverage.start(lines: true, oneshot_lines: true) }, try { Coverage.start(1) }
end
# Needs the standard library.
