# Syslog::Logger: a Logger's interface before the system's log.
require "logger"
require "syslog"

class Syslog::Logger
  # "%m": what is logged.
  class Formatter
    # The message as text; of an exception message, class and backtrace.
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
  # Sets the open log that all loggers share.
  def self.syslog=(syslog)
    @@syslog = syslog # rubocop:disable Style/ClassVars
  end

  # Defines methods of a level: `name` and `name?`.
  def self.make_methods(name)
    level = ::Logger.const_get(name.upcase)
    define_method(name) do |message = nil, &block|
      add(level, message, &block)
    end
    define_method(:"#{name}?") { @level <= level }
  end
  # :method: unknown(message = nil, &block): Logs as LOG_ALERT.
  # :method: fatal(message = nil, &block): Logs as LOG_ERR.
  # :method: error(message = nil, &block): Logs as LOG_WARNING.
  # :method: warn(message = nil, &block): Logs as LOG_NOTICE.
  # :method: info(message = nil, &block): Logs as LOG_INFO.
  # :method: debug(message = nil, &block): Logs as LOG_DEBUG.
  %w[unknown fatal error warn info debug].each { |name| make_methods(name) }

  # `level`: The lowest level that is logged, of Logger's.
  # `facility`: The facility of the system's log.
  # `formatter`: What makes texts of messages: it has `call`.
  attr_accessor :level, :facility, :formatter

  # A logger whose messages stand under the name of the program; the first one opens the log.
  def initialize(program = "ruby", facility = nil)
    @level = ::Logger::DEBUG
    @formatter = Formatter.new
    @@syslog = Syslog.open(program) unless defined?(@@syslog) # rubocop:disable Style/ClassVars
    @facility = facility || @@syslog.facility
  end

  # Logs a message, or what the block gives, if the level is not below `level`.
  def add(severity, message = nil, program = nil)
    severity ||= ::Logger::UNKNOWN
    return true if severity < @level
    message ||= block_given? ? yield : program
    text = @formatter.call(severity, Time.now, program, message)
    @@syslog.log(LEVEL_MAP[severity] | @facility, "%s", text)
    true
  end
end
