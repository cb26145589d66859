# Without --gc=stress. Documentation from sources, assertions that show their values, RSpec's way to an expression, minitest's command.
require "tmpdir"

Dir.mktmpdir do |dir|
  File.write("#{dir}/point.rb", <<~RUBY)
    # A point.
    class Point
      # The x.
      attr_reader :x
      # Makes one.
      def initialize(x) = @x = x
      # Adds +other+.
      def +(other)
        Point.new(x + other.x)
      end
    end
  RUBY

  puts "-- rdoc"
  require "rdoc"
  RDoc::RDoc.new.document ["-q", "-o", "#{dir}/html", "#{dir}/point.rb"]
  page = File.read("#{dir}/html/Point.html")
  p page.scan(/<p>(.*?\.)<\/p>/).flatten, page.include?("ruby-keyword")
  RDoc::RDoc.new.document ["-q", "--ri", "-o", "#{dir}/ri", "#{dir}/point.rb"]
  ri = "require 'rdoc/ri/driver'; RDoc::RI::Driver.run ARGV"
  puts IO.popen([RbConfig.ruby, "-e", ri, "--", "-d", "#{dir}/ri", "--no-standard-docs", "-T", "--format=markdown", "Point#+"], &:read).lines.grep(/Point|Adds/)

  puts "-- test-unit with power_assert"
  File.write("#{dir}/power.rb", <<~RUBY)
    require "test/unit"
    class PowerTest < Test::Unit::TestCase
      def test_sum
        a = [1, 2, 3]
        assert { a.map { |x| x * 2 }.sum == 13 }
      end
    end
  RUBY
  puts IO.popen([RbConfig.ruby, "#{dir}/power.rb", "--no-use-color"], err: [:child, :out], &:read)[/^ *assert \{.*?^\s+\[1, 2, 3\]$/m]

  puts "-- minitest's command"
  File.write("#{dir}/test_one.rb", "require 'minitest/autorun'\nclass One < Minitest::Test\n  def test_a = assert_equal(1, 2)\n  def test_b = assert(true)\nend\n")
  bin = "Gem.activate_and_load_bin_path('minitest', 'minitest')"
  puts IO.popen([RbConfig.ruby, "-rrubygems", "-e", bin, "--", "test_one.rb"], err: [:child, :out], chdir: dir, &:read)[/^\d+ runs.*/]
end

puts "-- the place of an error, once more"
require "error_highlight"
begin
  nil.foo
rescue => e
  puts e.detailed_message(highlight: false).lines.first, ErrorHighlight.spot(e).then { |s| s && s.values_at(:first_lineno, :first_column, :snippet) }.inspect
end
# Needs prism.
