# Sidekiq's pattern: jobs lie in a queue as JSON, several workers take them, each with the whole application loaded. Where there is RubyVM the workers are VMs that run in
# parallel, forks of the one that loaded the application; elsewhere they are threads. Prints what they made and how long it took: jobs.rb WORKERS JOBS.
require_relative "application"
Blog.initialize!
BlogDatabase.create

class Digests
  def perform(post, rounds)
    post = Post.includes(:author, :comments).find(post)
    words = post.body.scan(/\w+/)
    counts = Hash.new(0)
    rounds.times { |i| words.each { |w| counts["#{w.downcase}#{i % 7}"] += 1 } }
    {"post" => post.title, "by" => post.author.name, "comments" => post.comments.size, "words" => counts.sum { |_, n| n }, "top" => counts.min_by { |w, n| [-n, w] }.first}
  end
end

def work(job)
  job = JSON.parse(job)
  Object.const_get(job["class"]).new.perform(*job["args"]).to_json
rescue => e
  {"failed" => "#{e.class}: #{e.message}"}.to_json
end

workers, count = ARGV.map(&:to_i)
jobs = Array.new(count) { |i| {"class" => i % 97 == 13 ? "Absent" : "Digests", "args" => [i % 55 + 1, 40]}.to_json }
started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
if defined?(RubyVM::Channel)
  todo, done = RubyVM::Channel.new, RubyVM::Channel.new
  ActiveRecord::Base.connection_handler.clear_all_connections!
  vms = Array.new(workers) do
    RubyVM.fork(todo, done) do |todo, done|
      ActiveRecord::Base.connection_handler.clear_all_connections!
      todo.each { |n, job| done << [n, work(job)] }
    end
  end
else
  todo, done = Queue.new, Queue.new
  vms = Array.new(workers) { Thread.new { while (n, job = todo.pop) do done << [n, work(job)] end } }
end
jobs.each_with_index { |job, n| todo << [n, job] }
results = Array.new(count) { done.pop }.sort.map(&:last)
took = Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
todo.close
vms.each(&:join)
puts "answers #{Digest::SHA256.hexdigest(results.join("\n"))} failed #{results.count { _1.include?("failed") }}"
puts "seconds #{took.round(3)}"
