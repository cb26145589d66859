# The O_NONBLOCK flag of a stream's descriptor. Waiting costs nobody else anything here either way; other processes may care.
require "fcntl"

class IO
  # Whether the descriptor has O_NONBLOCK.
  def nonblock?
    fcntl(Fcntl::F_GETFL).anybits?(File::NONBLOCK)
  end

  # Sets whether the descriptor has O_NONBLOCK.
  def nonblock=(on)
    flags = fcntl(Fcntl::F_GETFL)
    wanted = on ? flags | File::NONBLOCK : flags & ~File::NONBLOCK
    fcntl(Fcntl::F_SETFL, wanted) if wanted != flags
  end

  # Sets O_NONBLOCK or clears it while the block runs.
  def nonblock(on = true)
    was = nonblock?
    self.nonblock = on
    yield self
  ensure
    self.nonblock = was unless was.nil?
  end
end
