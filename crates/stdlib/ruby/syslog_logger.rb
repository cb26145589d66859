# Syslog::Logger: a Logger's interface before the system's log.
require "logger"
require "syslog"

class Syslog::Logger
  # "%m": what is logged.
  class Formatter
    def call(_severity, _time, _program, message)
      case message
      when String then message
      when Exception then "#{message.message} (#{message.class})\n#{message.backtrace&.join("\n")}"
      else message.inspect
      end.strip
    end
  end

  VERSION = "2.1.0"

  # Levels of the system's by those of Logger's.
  LEVEL_MAP = {
    ::Logger::UNKNOWN => Syslog::LOG_ALERT,
    ::Logger::FATAL => Syslog::LOG_ERR,
    ::Logger::ERROR => Syslog::LOG_WARNING,
    ::Logger::WARN => Syslog::LOG_NOTICE,
    ::Logger::INFO => Syslog::LOG_INFO,
    ::Logger::DEBUG => Syslog::LOG_DEBUG
  }.freeze

  # The open log, which all loggers of the program share.
  def self.syslog = @@syslog # rubocop:disable Style/ClassVars
  def self.syslog=(syslog)
    @@syslog = syslog # rubocop:disable Style/ClassVars
  end

  def self.make_methods(name)
    level = ::Logger.const_get(name.upcase)
    define_method(name) do |message = nil, &block|
      add(level, message, &block)
    end
    define_method(:"#{name}?") { @level <= level }
  end
  %w[unknown fatal error warn info debug].each { |name| make_methods(name) }

  attr_accessor :level, :facility, :formatter

  def initialize(program = "ruby", facility = nil)
    @level = ::Logger::DEBUG
    @formatter = Formatter.new
    @@syslog = Syslog.open(program) unless defined?(@@syslog) # rubocop:disable Style/ClassVars
    @facility = facility || @@syslog.facility
  end

  def add(severity, message = nil, program = nil)
    severity ||= ::Logger::UNKNOWN
    return true if severity < @level
    message ||= block_given? ? yield : program
    text = @formatter.call(severity, Time.now, program, message)
    @@syslog.log(LEVEL_MAP[severity] | @facility, "%s", text)
    true
  end
end
