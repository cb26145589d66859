# For the tests of VMs' families.

# The most memory that the process has had, in MB.
def peak = File.read("/proc/self/status")[/VmHWM:\s*(\d+)/, 1].to_i / 1024

# What a fork with limits comes to: the block's value, or why it ended.
def outcome(**limits, &work)
  RubyVM.fork(**limits, &work).value
rescue RubyVM::Error => e
  e.message[/(?:memory|CPU|thread|fd)[ _]limit|can't send File|uninitialized stream/] || e.message
end
