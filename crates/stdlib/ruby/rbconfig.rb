# RbConfig: what programs ask about the interpreter's installation.
module RbConfig
  host_cpu, host_os = RUBY_PLATFORM.split("-", 2)
  # The standard library is that of a Ruby which is installed here.
  library = $LOAD_PATH.grep(%r{\A/.*/ruby/\d+\.\d+\.\d+\z}).last || "/usr/lib/ruby"
  executable = File.readlink("/proc/self/exe") rescue "zakuro"
  CONFIG = {
    "ruby_install_name" => File.basename(executable), "RUBY_INSTALL_NAME" => File.basename(executable),
    "bindir" => File.dirname(executable), "EXEEXT" => "", "ruby_version" => "4.0.0", "RUBY_PROGRAM_VERSION" => RUBY_VERSION,
    "MAJOR" => "4", "MINOR" => "0", "TEENY" => "0", "PATCHLEVEL" => "0", "host_os" => host_os, "target_os" => host_os, "host_cpu" => host_cpu,
    "target_cpu" => host_cpu, "arch" => RUBY_PLATFORM, "build_os" => host_os, "DLEXT" => "so", "SOEXT" => "so", "OBJEXT" => "o", "LIBEXT" => "a",
    "prefix" => "/usr", "rubylibprefix" => library[%r{\A.*/ruby(?=\z|/)}], "libdir" => "/usr/lib", "rubylibdir" => library, "rubyarchdir" => "/usr/lib/ruby", "sitedir" => "/usr/lib/ruby/site_ruby",
    "sitelibdir" => "/usr/lib/ruby/site_ruby", "vendordir" => "/usr/lib/ruby/vendor_ruby", "mandir" => "/usr/share/man",
    "sysconfdir" => "/etc", "datadir" => "/usr/share", "localstatedir" => "/var", "SHELL" => "/bin/sh", "PATH_SEPARATOR" => ":",
    "ruby_pc" => "", "configure_args" => "", "SIZEOF_VOIDP" => "8", "ENABLE_SHARED" => "no", "platform" => RUBY_PLATFORM
  }
  MAKEFILE_CONFIG = CONFIG.dup
  autoload :SIZEOF, "rbconfig/sizeof"
  autoload :LIMITS, "rbconfig/sizeof"
  TOPDIR = "/usr"

  def self.ruby = File.readlink("/proc/self/exe")
  def self.expand(value, config = CONFIG) = value.gsub(/\$\((\w+)\)/) { config[$1] || "" }
end
