# Etc: users and machine, as far as files tell.
module Etc
  Passwd = Struct.new(:name, :passwd, :uid, :gid, :gecos, :dir, :shell)
  Group = Struct.new(:name, :passwd, :gid, :mem)

  module_function

  def nprocessors = File.read("/proc/self/status")[/^Cpus_allowed:\s*(\S+)/, 1].delete(",").hex.digits(2).sum

  def __passwd
    File.readlines("/etc/passwd", chomp: true).map do |line|
      name, passwd, uid, gid, gecos, dir, shell = line.split(":", -1)
      Passwd.new(name, passwd, uid.to_i, gid.to_i, gecos, dir, shell)
    end
  end

  def __groups
    File.readlines("/etc/group", chomp: true).map do |line|
      name, passwd, gid, members = line.split(":", -1)
      Group.new(name, passwd, gid.to_i, members.to_s.split(","))
    end
  end

  def getpwuid(uid = Process.uid) = __passwd.find { |e| e.uid == uid }

  def getpwnam(name) = __passwd.find { |e| e.name == name } || raise(ArgumentError, "can't find user for #{name}")

  def getgrgid(gid = Process.gid) = __groups.find { |e| e.gid == gid }

  def getgrnam(name) = __groups.find { |e| e.name == name } || raise(ArgumentError, "can't find group for #{name}")

  def getlogin = ENV["USER"] || getpwuid&.name

  def systmpdir = "/tmp"

  def sysconfdir = "/etc"
end
