# Two threads load files that need each other's constant: each goes on with what there is, as in a circular require, instead of a deadlock.
require "tmpdir"
Dir.mktmpdir do |dir|
  $LOAD_PATH.unshift dir
  File.write("#{dir}/one_side.rb", "class OneSide\n  $meet << 1\n  Thread.pass until $meet.size == 2\n  def self.ok = :one\n  OtherSide\nend\n")
  File.write("#{dir}/other_side.rb", "class OtherSide\n  $meet << 1\n  Thread.pass until $meet.size == 2\n  def self.ok = :other\n  OneSide\nend\n")
  $meet = Queue.new
  autoload :OneSide, "one_side"
  autoload :OtherSide, "other_side"
  p [Thread.new { OneSide.ok }, Thread.new { OtherSide.ok }].map(&:value)
end
# Needs the standard library.
