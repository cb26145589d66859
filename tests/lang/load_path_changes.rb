# `require` sees every change of `$LOAD_PATH` and `$LOADED_FEATURES`, whichever way they are changed.
require "tmpdir"
Dir.mktmpdir do |dir|
  %w[a b].each do |d|
    Dir.mkdir("#{dir}/#{d}")
    20.times { |i| File.write("#{dir}/#{d}/feature_#{i}.rb", "$seen << '#{d}#{i}'\n") }
  end
  File.write("#{dir}/b/only_b.rb", "$seen << 'only'\n")
  Dir.mkdir("#{dir}/c")
  $seen = []
  count = $LOAD_PATH.size
  begin
    require "only_b"
  rescue LoadError
    p :none
  end
  $LOAD_PATH.push("#{dir}/a")
  p require("feature_0"), require("feature_0"), require("feature_0.rb"), $seen
  $LOAD_PATH.unshift("#{dir}/b")
  p require("feature_0"), require("feature_1"), require("only_b"), $seen
  $LOAD_PATH.delete("#{dir}/b")
  p require("feature_2"), require("feature_1"), $seen
  # The same number of directories, another one.
  $LOAD_PATH[-1] = "#{dir}/b"
  p require("feature_3"), $seen
  $LOAD_PATH[-1] = "#{dir}/a"
  $LOAD_PATH[-1] = "#{dir}/b"
  p require("feature_3"), require("feature_4"), $seen
  20.times { |i| require("feature_#{i}") }
  p $seen.size, $seen.uniq.size
  # Loaded ones that are taken off are loaded again.
  file = "#{dir}/b/feature_5.rb"
  real = File.realpath(file)
  p $LOADED_FEATURES.include?(real)
  $LOADED_FEATURES.delete(real)
  p require("feature_5"), require("feature_5"), $seen.count("b5")
  $LOADED_FEATURES.reject! { _1 == real }
  p require("feature_5"), $seen.count("b5")
  at = $LOADED_FEATURES.index(real)
  $LOADED_FEATURES[at] = "#{real}x"
  p require("feature_5"), $seen.count("b5")
  # One that is put there without being loaded counts as loaded.
  File.write("#{dir}/b/late.rb", "$seen << 'late'\n")
  $LOADED_FEATURES << "#{File.realpath(dir)}/b/late.rb"
  p require("late"), $seen.include?("late")
  # A copy of the list does not matter, the list does.
  copy = $LOADED_FEATURES.dup
  copy.clear
  p require("late"), $LOADED_FEATURES.size > 20
  kept = $LOADED_FEATURES.dup
  $LOADED_FEATURES.replace(kept)
  p require("feature_6"), require("late")
  $LOADED_FEATURES.push(*copy)
  # A link to a directory, and one that goes elsewhere once the path was changed.
  File.symlink("#{dir}/a", "#{dir}/link")
  $LOAD_PATH[-1] = "#{dir}/link"
  p require("feature_7"), $seen.last
  File.unlink("#{dir}/link")
  File.symlink("#{dir}/c", "#{dir}/link")
  File.write("#{dir}/c/only_c.rb", "$seen << 'c'\n")
  $LOAD_PATH.push("#{dir}/nowhere")
  p require("only_c"), $seen.last
  $LOAD_PATH.pop
  $LOAD_PATH.pop
  p $LOAD_PATH.size == count
  begin
    require "only_d"
  rescue LoadError => e
    p e.path
  end
  Thread.new { $LOAD_PATH.push("#{dir}/c"); p require("only_c") }.join
end
