# Needs redis-server and nats-server.
# Programs of tests/insight/planted whose VMs talk through a server: the report names what holds them up.
require "tmpdir"
require_relative "support/servers"

Dir.mktmpdir do |dir|
  %w[redis nats].each do |kind|
    server = Servers.start(kind, dir)
    begin
      { too_few_through_server: :too_few_in_flight, single_sender_through_server: :single_sender }.each do |name, code|
        program = File.join(__dir__, "..", "insight", "planted", "#{name}.rb")
        said = IO.popen({ "RUBY_MAX_CPU" => "2" }, [RbConfig.ruby, "--report", program, server.url("").chomp("/")], err: %i[child out], &:read)
        found = said[/^bottleneck \[(\w+)\]/, 1]
        puts "#{kind} #{name}: #{found&.to_sym == code ? "right" : said}"
      end
    ensure
      server.stop
    end
  end
end
