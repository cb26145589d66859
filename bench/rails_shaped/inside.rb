# Processor time of requests in the process itself, without a server. For each line on standard input: eight requests of each kind; prints their mean in microseconds.
require_relative "application"
require "rack/mock_request"

Blog.config.yjit = ENV["BLOG_YJIT"] == "1"
Blog.initialize!
BlogDatabase.create
KINDS = ["/posts/7.json", "/posts/7", "/posts.json?limit=10", "/posts"].freeze
ENVS = KINDS.map { |path| Rack::MockRequest.env_for("http://blog.test#{path}") }

def ask(env)
  status, _, body = Blog.call(env.dup)
  text = +""
  body.each { |part| text << part }
  body.close if body.respond_to?(:close)
  abort "status #{status}" unless status == 200 && !text.empty?
end

ENV.fetch("BLOG_WARM", "200").to_i.times { ENVS.each { |env| ask(env) } }
$stdout.sync = true
puts "ready"
while gets
  puts ENVS.map { |env|
    before = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    8.times { ask(env) }
    (Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - before) * 1e6 / 8
  }.map(&:round).join(" ")
end
