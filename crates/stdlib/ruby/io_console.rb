# io/console: the size of a terminal.
class IO
  def winsize
    rows, columns = [ENV["LINES"], ENV["COLUMNS"]].map(&:to_i)
    [rows > 0 ? rows : 25, columns > 0 ? columns : 80]
  end

  def self.console_size = [25, 80]
end
