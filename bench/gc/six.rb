# The six kinds of programs that EusLisp's memory management was measured with (Matsui, Sekiguchi: from calls that allocate nothing to copies that do little else), shared among
# workers: VMs under zakuro, forked processes under other Rubies.
#   six.rb NAME WORKERS [UNITS]
# NAME: compfib, intfib, inner_prod, list_replace, copy_seq, body_intcheck. Each worker does its part of UNITS (96 unless given). Prints `six_NAME_WORKERS VALUE s`, wall time from the
# first worker's start to the last one's end, and `checksum VALUE`, which does not depend on the number of workers.

module Six
  module_function

  # Calls and small integers; nothing is allocated.
  def compfib(_unit) = fib(22)

  def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)

  # The same by an interpreter that walks lists: each call makes an environment.
  FIB = [:if, [:<, :n, 2], :n, [:+, [:fib, [:-, :n, 1]], [:fib, [:-, :n, 2]]]].freeze

  def intfib(_unit) = evaluate([:fib, 15], nil)

  def evaluate(form, env)
    case form
    when Integer then form
    when Symbol
      env = env[1] until env[0][0] == form
      env[0][1]
    else
      case form[0]
      when :if then evaluate(evaluate(form[1], env) ? form[2] : form[3], env)
      when :< then evaluate(form[1], env) < evaluate(form[2], env)
      when :+ then evaluate(form[1], env) + evaluate(form[2], env)
      when :- then evaluate(form[1], env) - evaluate(form[2], env)
      else evaluate(FIB, [[:n, evaluate(form[1], env)], nil])
      end
    end
  end

  # Inner products of vectors of 500 Floats, each of which is made first.
  def inner_prod(unit)
    sum = 0.0
    30.times do |k|
      a = Array.new(500) { |i| (i + k + unit) * 0.5 }
      b = Array.new(500) { |i| (i - k) * 0.25 }
      i = 0
      while i < 500
        sum += a[i] * b[i]
        i += 1
      end
    end
    sum.to_i
  end

  # The cells of a list of 2,000 get new contents, again and again: stores of young objects in old ones.
  def list_replace(unit)
    list = nil
    2000.times { |i| list = [i, list] }
    15.times do |k|
      cell = list
      while cell
        cell[0] = [unit, k]
        cell = cell[1]
      end
    end
    list[0].sum
  end

  # Lists and Arrays are copied.
  def copy_seq(unit)
    list = nil
    200.times { |i| list = [i, list] }
    array = Array.new(200) { |i| i + unit }
    sum = 0
    100.times do
      copy, cell = nil, list
      while cell
        copy = [cell[0], copy]
        cell = cell[1]
      end
      sum += copy[0] + array.dup.reverse.first
    end
    sum
  end

  # Boxes that intersect: the corners of one against the faces of another, with a vector for each step.
  class Vector
    attr_reader :x, :y, :z

    def initialize(x, y, z) = (@x, @y, @z = x, y, z)
    def -(other) = Vector.new(@x - other.x, @y - other.y, @z - other.z)
    def cross(other) = Vector.new(@y * other.z - @z * other.y, @z * other.x - @x * other.z, @x * other.y - @y * other.x)
    def dot(other) = @x * other.x + @y * other.y + @z * other.z
  end

  FACES = [[0, 1, 3], [4, 6, 5], [0, 4, 1], [2, 3, 6], [0, 2, 4], [1, 5, 3]].freeze

  def corners(at) = Array.new(8) { |i| Vector.new(at + (i & 1) * 2.0, at + (i >> 1 & 1) * 2.0, at + (i >> 2) * 2.0) }

  def body_intcheck(unit)
    met = 0
    12.times do |k|
      a, b = corners(0.1 * unit), corners(0.1 * k)
      planes = FACES.map { |p, q, r| [a[p], (a[q] - a[p]).cross(a[r] - a[p])] }
      b.each { |corner| met += 1 if planes.all? { |point, normal| (corner - point).dot(normal) <= 0.0 } }
      b.each { |corner| planes.each { |point, normal| met += 1 if (corner - point).dot(normal) > 3.0 } }
    end
    met
  end
end

name, workers, units = ARGV[0].to_sym, Integer(ARGV[1]), Integer(ARGV[2] || 96)
parts = (0...units).group_by { |unit| unit % workers }.values
now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC) }
def part_of(name, units) = units.sum { |unit| Six.public_send(name, unit) }

start = now.()
sum =
  if defined?(RubyVM::Channel)
    parts.map { |part| RubyVM.fork(name, part) { |n, p| part_of(n, p) } }.sum(&:value)
  else
    pipes = parts.map do |part|
      reader, writer = IO.pipe
      fork do
        reader.close
        writer.write(part_of(name, part))
        writer.close
        exit!
      end
      writer.close
      reader
    end
    pipes.sum { |reader| reader.read.to_i }.tap { Process.waitall }
  end
puts format("six_%s_%d %.4f s", name, workers, now.() - start), "checksum #{sum}"
