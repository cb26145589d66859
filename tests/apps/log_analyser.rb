# Analyses an access log: records as Structs, value objects, lazy pipelines, sessions, percentiles, sliding windows, bursts, a report by a
# visitor with a table printer. State: parsed lines in a constant, intern tables as class-level ivars, running numbers in class variables
# and globals, a per-thread buffer, memoised reports, decorators by SimpleDelegator, Observable events.

require "delegate"
require "ostruct"
require "set"
require "observer"

$lines_read = 0
$slowest = nil

module Logs
  LINES = {}
  Point = defined?(Data.define) ? Data.define(:minute, :count, :bytes) : Struct.new(:minute, :count, :bytes, keyword_init: true)

  # Deterministic traffic.
  class Traffic
    PATHS = %w[/ /index.html /login /logout /api/items /api/items/7 /api/search /static/app.js /static/site.css /admin]
    AGENTS = ["Mozilla/5.0", "curl/8.1", "Bot/2.0 (+http://bot.example)"]

    include Enumerable

    def initialize(seed, count)
      @seed = seed
      @count = count
    end

    def each
      return enum_for(:each) { @count } unless block_given?
      state = @seed
      at = Time.utc(2026, 3, 1, 8, 0, 0)
      @count.times do |i|
        draw = ->(n) { (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) >> 8; (state >> 8) % n }
        at += draw.(40) + (i % 20 == 19 ? 2_000 : 0)
        host = "10.0.#{draw.(3)}.#{draw.(9) + 1}"
        path = PATHS[draw.(PATHS.size)]
        status = case draw.(20) when 0 then 500 when 1, 2 then 404 when 3 then 302 else 200 end
        path += "?q=#{%w[tea ruby oak].at(draw.(3))}" if path.end_with?("search")
        yield format(%(%s - - [%s] "%s %s HTTP/1.1" %d %d "%s" %.3f), host, at.strftime("%d/%b/%Y:%H:%M:%S +0000"), draw.(5).zero? ? "POST" : "GET",
                     path, status, draw.(9000) + 100, AGENTS[draw.(3)], draw.(1500) / 1000.0)
        yield "garbage #{i}" if i % 19 == 18
      end
    end
  end

  class Status < Struct.new(:code)
    include Comparable
    @all = Hash.new { |h, code| h[code] = new(code).freeze }

    class << self
      attr_reader :all

      def of(code) = @all[code.to_i]
      private :new
    end

    def family = "#{code / 100}xx"
    def error? = code >= 400
    def <=>(other) = code <=> other.code
    def to_s = code.to_s
  end

  class Entry < Struct.new(:host, :at, :verb, :path, :status, :bytes, :agent, :seconds)
    PATTERN = %r{\A(?<host>\S+) - - \[(?<at>[^\]]+)\] "(?<verb>[A-Z]+) (?<path>\S+) HTTP/[\d.]+" (?<status>\d{3}) (?<bytes>\d+) "(?<agent>[^"]*)" (?<seconds>[\d.]+)\z}
    MONTHS = %w[Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec].each_with_index.to_h { |name, i| [name, i + 1] }
    @@rejected = []

    def self.rejected = @@rejected

    def self.parse(line)
      $lines_read += 1
      LINES[line] ||= begin
        m = PATTERN.match(line)
        unless m
          @@rejected << line
          return nil
        end
        day, month, year, *clock = m[:at].split(%r{[/: ]}).first(6)
        at = Time.utc(year.to_i, MONTHS.fetch(month), day.to_i, *clock.map(&:to_i))
        new(m[:host], at, m[:verb].to_sym, m[:path], Status.of(m[:status]), Integer(m[:bytes]), m[:agent][%r{\A\w+}], Float(m[:seconds])).freeze
      end
    end

    def minute = at.strftime("%H:%M")
    def section = path[%r{\A/[^/?]*}]
    def query = path[/\?(.*)/, 1]&.split("&")&.to_h { |pair| pair.split("=", 2) } || {}
    def slow? = seconds > 1.2
  end

  # An entry with where it stands in its session.
  class Visit < SimpleDelegator
    attr_reader :step

    def initialize(entry, step)
      super(entry)
      @step = step
    end

    def entry? = step.zero?
    def to_s = "#{step}:#{path}"
  end

  class Session
    GAP = 900
    include Enumerable
    include Comparable
    attr_reader :host

    def initialize(host, entries)
      @host = host
      @visits = entries.each_with_index.map { |e, i| Visit.new(e, i) }
    end

    def each(&block) = @visits.each(&block)
    def size = @visits.size
    def seconds = (@visits.last.at - @visits.first.at).to_i
    def <=>(other) = [size, seconds, host] <=> [other.size, other.seconds, other.host]
    def to_s = "#{host} #{size} in #{seconds}s: #{first(3).join(" ")}"

    def self.split(entries)
      entries.group_by(&:host).flat_map do |host, list|
        list.slice_when { |a, b| b.at - a.at > GAP }.map { |part| new(host, part) }
      end
    end
  end

  module Statistics
    refine Array do
      def percentile(p)
        return nil if empty?
        sorted = sort
        rank = p / 100.0 * (sorted.size - 1)
        low = sorted[rank.floor]
        low + (sorted[rank.ceil] - low) * (rank - rank.floor)
      end

      def mean = sum.fdiv(size)
      def deviation = Math.sqrt(sum { |x| (x - mean)**2 } / size)
    end
  end

  using Statistics

  # Tells who asks about bursts and slow entries.
  class Watch
    include Observable

    def initialize(window, limit)
      @window = window
      @limit = limit
      @queue = []
    end

    def see(entry)
      @queue << entry
      @queue.shift while entry.at - @queue.first.at > @window
      if @queue.size >= @limit
        changed
        notify_observers(:burst, entry, @queue.size)
        @queue.clear
      end
      return unless entry.slow?
      changed
      notify_observers(:slow, entry, entry.seconds)
    end
  end

  class Alarm
    @@seen = Hash.new { |h, k| h[k] = [] }
    def self.seen = @@seen

    def update(kind, entry, number)
      @@seen[kind] << "#{entry.minute} #{number}"
      $slowest = entry if kind == :slow && ($slowest.nil? || entry.seconds > $slowest.seconds)
    end
  end

  # Columns as wide as they need, numbers to the right.
  class Table
    def initialize(*heads)
      @heads = heads
      @rows = []
    end

    def <<(row)
      @rows << row.map { |c| c.is_a?(Float) ? c.round(3) : c }
      self
    end

    def to_s
      widths = @heads.each_index.map { |i| [@heads[i], *@rows.map { |r| r[i] }].map { |c| c.to_s.length }.max }
      lines = [@heads, widths.map { |w| "-" * w }, *@rows].map do |row|
        row.each_with_index.map { |c, i| c.is_a?(Integer) || c.to_s =~ /\A[\d.]+\z/ ? c.to_s.rjust(widths[i]) : c.to_s.ljust(widths[i]) }.join("  ").rstrip
      end
      lines.join("\n")
    end
  end

  class Report
    @cache = {}
    class << self
      def for(entries, name)
        @cache[name] ||= new(entries).public_send(name)
      end

      def forget = @cache.clear
      def cached = @cache.keys
    end

    def initialize(entries)
      @entries = entries
    end

    def sections
      table = Table.new("section", "hits", "errors", "mean", "p95", "bytes")
      @entries.group_by(&:section).sort_by { |name, list| [-list.size, name] }.each do |name, list|
        times = list.map(&:seconds)
        table << [name, list.size, list.count { |e| e.status.error? }, times.mean, times.percentile(95), list.sum(&:bytes)]
      end
      table.to_s
    end

    def statuses
      tally = @entries.map(&:status).tally.sort
      tally.map { |status, n| "#{status}=#{n}" }.join(" ") + " " + tally.group_by { |s, _| s.family }.transform_values { |l| l.sum(&:last) }.map { |f, n| "#{f}:#{n}" }.join(" ")
    end

    def minutes
      points = @entries.chunk_while { |a, b| a.minute == b.minute }.map { |part| Point.new(minute: part.first.minute, count: part.size, bytes: part.sum(&:bytes)) }
      busiest = points.max_by(3) { |p| [p.count, p.minute] }
      moving = points.each_cons(3).map { |a, b, c| (a.count + b.count + c.count) / 3r }
      "busiest #{busiest.map { |p| "#{p.minute}(#{p.count})" }.join(" ")}; moving #{moving.minmax.map { |m| m.round(2).to_f }.join("..")}; #{points.last.inspect[/minute[=:] ?"?\d+/]}"
    end

    def agents
      @entries.each_with_object(Hash.new { |h, k| h[k] = Set.new }) { |e, all| all[e.agent] << e.host }
              .sort.map { |agent, hosts| "#{agent}:#{hosts.size}" }.join(" ")
    end

    def searches = @entries.lazy.map(&:query).reject(&:empty?).map { |q| q["q"] }.first(40).tally.sort_by { |w, n| [-n, w] }.to_h.map { |w, n| "#{w}x#{n}" }.join(" ")
  end

  @rounds = 0

  class << self
    def options = @options ||= OpenStruct.new(seed: 7, count: 50, window: 45, limit: 4)

    def buffer = (Thread.current[:log_buffer] ||= [])

    def main
      @rounds += 1
      options.seed += 1
      options.extra = "round #{@rounds}" if @rounds > 1
      Report.forget
      traffic = Traffic.new(options.seed, options.count)
      entries = traffic.lazy.filter_map { |line| Entry.parse(line) }.to_a
      puts "== round #{@rounds}: #{traffic.each.size} asked, #{entries.size} entries, options #{options.to_h.keys.join(",")} #{options.extra.inspect}"
      %i[sections statuses minutes agents searches sections].each { |name| buffer << Report.for(entries, name) }
      puts buffer.shift until buffer.empty?
      sessions = Session.split(entries)
      puts "sessions #{sessions.size}", sessions.max(2), sessions.min, "entry pages #{sessions.flat_map(&:to_a).select(&:entry?).map(&:section).tally.max_by { |s, n| [n, s] }.join(" ")}"
      watch(entries)
      times = entries.map(&:seconds)
      puts format("median %.3f deviation %.4f, clamp %s", times.percentile(50), times.deviation, entries.map(&:status).max.clamp(Status.of(200), Status.of(404)))
      puts "read #{$lines_read}, kept #{LINES.size}, rejected #{Entry.rejected.size}, statuses #{Status.all.keys.sort.join(" ")}, reports #{Report.cached.size}"
      puts "slowest #{$slowest.path} #{$slowest.seconds} #{$slowest.frozen?}"
      same = entries.first
      puts "visit #{Visit.new(same, 0) == same} #{Visit.new(same, 1).respond_to?(:minute)} #{Visit.new(same, 2).__getobj__.equal?(same)} #{Visit.new(same, 0).is_a?(Entry)}"
    end

    def watch(entries)
      watch = Watch.new(options.window, options.limit)
      watch.add_observer(Alarm.new)
      entries.each { |e| watch.see(e) }
      puts Alarm.seen.map { |kind, list| "#{kind} #{list.size} last #{list.last}" }
      puts "observers #{watch.count_observers} #{watch.changed?}"
      watch.add_observer(Object.new)
    rescue NoMethodError => e
      puts e.class
    end
  end
end

2.times { Logs.main }
# Needs the standard library.
