# Starting a loaded program: from its sources, from the cache of compiled sources, from an image in a file; beside an empty program. Processes take turns; the median of each, in ms, and its part of
# loading with a warm cache.
require "tmpdir"
EXE = File.readlink("/proc/self/exe")
RUNS = (ENV["RUNS"] || 15).to_i
PROGRAMS = {
  "json, set" => %w[json set],
  "json, set, optparse, erb, net/http" => %w[json set optparse erb net/http],
  "the same, rubygems, bundler" => %w[json set optparse erb net/http rubygems bundler],
}

def seconds(env, *command)
  before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  system(env, EXE, *command, out: File::NULL, exception: true)
  Process.clock_gettime(Process::CLOCK_MONOTONIC) - before
end

Dir.mktmpdir do |dir|
  env = {"RUBYOPT" => nil, "XDG_CACHE_HOME" => "#{dir}/cache"}
  Dir.mkdir("#{dir}/cache", 0o700)
  puts "%-38s %9s %9s %9s %9s %9s %7s" % ["", "-e 1", "sources", "cache", "image", "of cache", "MB"]
  PROGRAMS.each do |name, libraries|
    load = libraries.map { |l| "require #{l.dump}; " }.join
    image = "#{dir}/image"
    system(env, EXE, "-e", load + "RubyVM::Image.capture.save(ARGV[0])", image, exception: true)
    times = Hash.new { |h, k| h[k] = [] }
    (RUNS + 1).times do |i|
      {
        empty: ["-e", "1"],
        sources: ["--disable=code-cache", "-e", load],
        cache: ["-e", load],
        image: ["--image", image, "-e", "1"],
      }.each { |how, command| seconds(env, *command).then { |s| times[how] << s if i > 0 } }
    end
    median = times.transform_values { |list| list.sort[list.size / 2] * 1000 }
    puts "%-38s %9.1f %9.1f %9.1f %9.1f %9.2f %7.1f" % [name, *median.values_at(:empty, :sources, :cache, :image), median[:image] / median[:cache], File.size(image) / 1e6]
  end
end
