# io/console/size: the size of the terminal, or what the environment says.
require "io/console"

class IO
  # `[rows, columns]` of the process's terminal, else what LINES and COLUMNS say, else 25 and 80.
  def self.console_size
    console&.winsize || default_console_size
  rescue NoMethodError, SystemCallError
    default_console_size
  end
end
