# io/console/size: the size of the terminal, or what the environment says.
require "io/console"

class IO
  def self.console_size
    console&.winsize || default_console_size
  rescue NoMethodError, SystemCallError
    default_console_size
  end
end
