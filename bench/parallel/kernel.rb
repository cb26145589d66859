# One computing kernel, cut into units that are independent of each other, done here or shared among VMs.
#   kernel.rb NAME UNITS VMS [FIRST]
# NAME: call, float, string, hash, alloc, ao, tarai, page. VMS 0: compute in this VM; N: N child VMs take equal parts.
# FIRST shifts the numbers of the units, so that separate processes can do different parts of the same work.
# Prints `checksum NAME SUM` (the same for every way to cut the work) and `NAME_compute VALUE s`.
# `bench/run parallel` compares one process, two processes, one VM and two VMs by wall time, set-up included.

require_relative "../aobench"

module Work
  module_function

  def fib(n)
    n < 2 ? n : fib(n - 1) + fib(n - 2)
  end

  # Method calls and small integers.
  def call(unit)
    fib(21) + unit
  end

  # Float arithmetic and Float ivars/arrays.
  def float(unit)
    x = [0.1 * (unit + 1), 0.2, 0.3]
    v = [0.0, 0.0, 0.0]
    2_500.times do
      r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + 0.01
      f = -1.0 / (r2 * Math.sqrt(r2))
      i = 0
      while i < 3
        v[i] += x[i] * f * 0.001
        x[i] += v[i] * 0.001
        i += 1
      end
    end
    (x.sum * 1e6).to_i
  end

  # Many short-lived strings, growing buffers, splitting.
  def string(unit)
    sum = 0
    30.times do |round|
      buffer = +""
      80.times { |i| buffer << "key#{i * unit % 17}=" << (i * round).to_s << ";" }
      buffer.split(";").each { |pair| sum += pair.index("=") + pair.upcase.size }
      sum += buffer.gsub("key", "k").size
    end
    sum
  end

  # Hashes made, filled, grown, read and dropped.
  def hash(unit)
    sum = 0
    12.times do |round|
      counts = Hash.new(0)
      600.times { |i| counts["w#{i * (unit + round) % 91}"] += 1 }
      ints = {}
      300.times { |i| ints[i * 7] = i }
      300.times { |i| sum += ints[i] || 1 }
      sum += counts.size + counts.values.max
    end
    sum
  end

  # Objects, arrays and pairs that die soon, under a structure that stays.
  def alloc(unit)
    tree = build(10)
    kept = nil
    sum = 0
    4_000.times do |i|
      kept = [kept && kept[1], [i, unit], Object.new]
      sum += kept[1][0] & 7
    end
    sum + weigh(tree)
  end

  def build(depth)
    depth == 0 ? [nil, nil] : [build(depth - 1), build(depth - 1)]
  end

  def weigh(node)
    node[0] ? 1 + weigh(node[0]) + weigh(node[1]) : 1
  end

  # One row of aobench's picture.
  def ao(unit)
    @scene ||= AoScene.new(96, 4)
    @scene.row(unit % 96).sum(24)
  end

  # Deep recursion with three arguments.
  def tarai(unit)
    6.times.sum { |i| tak(8 + i % 2, 4, (unit + i) % 2) }
  end

  def tak(x, y, z)
    x <= y ? y : tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))
  end

  Row = Struct.new(:name, :price, :tags)

  # Pages as a compiled ERB template makes them: a buffer, literal parts, escaped values, nested loops.
  def page(unit)
    rows = Array.new(40) { |i| Row.new("item <#{i}> & \"#{unit}\"", i * 1.25 + unit % 10, Array.new(i % 4) { |t| "tag#{t}" }) }
    8.times.sum { |round| render("Page #{round}", rows).size }
  end

  def render(title, rows)
    out = +""
    out << "<html>\n<head><title>" << escape(title) << "</title></head>\n<body>\n<table>\n"
    rows.each_with_index do |row, i|
      out << "  <tr class=\"" << (i.odd? ? "odd" : "even") << "\">\n    <td>" << escape(row.name) << "</td>\n    <td>"
      out << format("%.2f", row.price) << "</td>\n    <td>" << row.tags.map { |tag| "<b>#{escape(tag)}</b>" }.join(", ") << "</td>\n  </tr>\n"
    end
    out << "</table>\n</body>\n</html>\n"
  end

  ESCAPES = { "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", '"' => "&quot;", "'" => "&#39;" }.freeze

  def escape(text)
    text.to_s.gsub(/[&<>"']/, ESCAPES)
  end

  NAMES = %w[call float string hash alloc ao tarai page].freeze

  def work(name, first, count)
    raise ArgumentError, "no such kernel: #{name}" unless NAMES.include?(name)
    sum = 0
    i = 0
    while i < count
      sum += send(name, first + i)
      i += 1
    end
    sum
  end
end

if defined?(RubyVM::Channel) && defined?(RubyVM::ARGV) && RubyVM::ARGV && !RubyVM::ARGV.empty?
  # In a child VM: our part of the work.
  name, first, count, out = RubyVM::ARGV
  out << Work.work(name, first, count)
elsif __FILE__ == $0
  name = ARGV[0] || "call"
  units = (ARGV[1] || 200).to_i
  vms = (ARGV[2] || 0).to_i
  first = (ARGV[3] || 0).to_i
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  if vms == 0
    sum = Work.work(name, first, units)
  else
    out = RubyVM::Channel.new
    children = Array.new(vms) do |i|
      from = units * i / vms
      to = units * (i + 1) / vms
      vm = RubyVM.new("#{name}-#{i}", __FILE__)
      vm.start(name, first + from, to - from, out)
      vm
    end
    sum = vms.times.sum { out.recv }
    children.each(&:join)
  end
  took = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
  puts "checksum #{name} #{sum}"
  puts "#{name}_compute #{format('%.6f', took)} s"
end
