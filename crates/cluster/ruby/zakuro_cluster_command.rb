# `zakuro worker --connect URL [options] [program.rb]` (docs/cluster.md).
module RubyVM::Cluster
  module Command # :nodoc:
    USAGE = <<~TEXT
      Usage: zakuro worker --connect URL [options] [program.rb]
      Does jobs of RubyVM::Pool.new(connect: URL), in VMs that have loaded the program.
        --connect URL         redis://host:port/NAME or nats://host:port/NAME (rediss://, tls://); also in ZAKURO_CONNECT, which `ps` does not show
        --size N              VMs (physical cores unless given)
        --key-file FILE       messages are signed with what the file holds: jobs of others are not run. Also in ZAKURO_CLUSTER_KEY
        --ca-file FILE        what the server's certificate is checked with
        --memory-limit BYTES  of each VM; so --cpu-limit, --wall-limit SECONDS
        --ack-wait SECONDS    after which its jobs go to others when it is gone (10)
        --caller-timeout SECONDS  after which the jobs of a program that is not heard of any more are ended, and its results dropped (30)
        --credentials FILE    of NATS' tools: a user's JWT and seed. Or --nkey-file FILE: a seed alone
    TEXT
    NUMBERS = { "--size" => :size, "--memory-limit" => :memory_limit, "--cpu-limit" => :cpu_limit, "--wall-limit" => :wall_limit, "--ack-wait" => :ack_wait, "--caller-timeout" => :caller_timeout }.freeze

    class << self
      def run(arguments)
        require "zakuro/cluster/worker"
        options = {}
        url = ENV.delete("ZAKURO_CONNECT")
        key = ENV.delete("ZAKURO_CLUSTER_KEY")
        options[:key] = key if key
        while arguments.first&.start_with?("-")
          name, value = arguments.shift.split("=", 2)
          break if name == "--"
          if name == "--help" || name == "-h"
            puts USAGE
            return
          end
          value ||= arguments.shift or misused("missing argument for #{name}")
          case name
          when "--connect" then url = value
          when "--key-file" then options[:key] = File.binread(value).chomp
          when "--ca-file" then options[:ca_file] = value
          when "--credentials" then options[:credentials] = File.read(value)
          when "--nkey-file" then options[:nkey] = File.read(value).strip
          when *NUMBERS.keys then options[NUMBERS[name]] = Integer(value, exception: false) || Float(value, exception: false) || misused("#{name} wants a number")
          else misused("unknown option #{name}")
          end
        end
        misused("--connect URL is missing#{": options stand before the program" if arguments.any?(/\A--connect(=|\z)/)}") unless url
        work(url, arguments.shift, options)
      rescue Error, RubyVM::Pool::Error, ArgumentError, SystemCallError => e
        give_up(e.message)
      end

      private

      def work(url, file, options)
        worker = Worker.new(url, file:, **options)
        signals = 0
        %w[INT TERM].each do |signal|
          trap(signal) do
            # What it was at goes to others, as if it had been killed.
            exit!(1) if (signals += 1) > 1
            Thread.new { warn "zakuro worker: ends when its jobs do; another signal ends it now" if worker.stop > 0 }
          end
        end
        puts "zakuro worker #{worker.id}: #{worker.pool.size} VMs"
        $stdout.flush
        worker.run
      end

      def misused(why) = give_up("#{why}\n#{USAGE.lines.first.chomp}   (zakuro worker --help tells more)")

      def give_up(why)
        warn "zakuro worker: #{why}"
        exit 1
      end
    end
  end
end
