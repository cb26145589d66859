# RbConfig: what programs ask about the interpreter's installation. All of it follows from where the executable and the library are, so that an installed tree
# can be moved.
module RbConfig
  library = __library
  # Without /proc the library tells, which lies relative to the executable.
  executable = File.readlink("/proc/self/exe") rescue library ? File.expand_path("../../../../bin/zakuro", library) : "/usr/bin/zakuro"
  bindir = File.dirname(executable)
  name = File.basename(executable)
  prefix = File.dirname(bindir)
  library ||= "#{prefix}/lib/ruby/zakuro/4.0.0"
  singleton_class.send(:remove_method, :__library)
  base = File.dirname(library)
  cpu, os = RUBY_PLATFORM.split("-", 2)
  major, minor, teeny = RUBY_VERSION.split(".")
  api = "#{major}.#{minor}.0"
  include = "#{prefix}/include/zakuro-#{api}"
  share = "#{prefix}/share"

  CONFIG = {
    "MAJOR" => major, "MINOR" => minor, "TEENY" => teeny, "PATCHLEVEL" => RUBY_PATCHLEVEL.to_s,
    "ruby_version" => api, "RUBY_API_VERSION" => "#{major}.#{minor}", "RUBY_PROGRAM_VERSION" => RUBY_VERSION, "RUBY_LIB_VERSION" => api,
    "RUBY_BASE_NAME" => "zakuro", "RUBY_VERSION_NAME" => "zakuro-#{api}", "RUBY_INSTALL_NAME" => name, "ruby_install_name" => name, "RUBYW_INSTALL_NAME" => "",
    "rubyw_install_name" => "", "RUBY_SO_NAME" => "zakuro", "RUBY_SEARCH_PATH" => "", "RI_BASE_NAME" => "ri", "PACKAGE" => "zakuro", "ruby_pc" => "",
    # Directories.
    "DESTDIR" => "", "prefix" => prefix, "exec_prefix" => prefix, "RUBY_EXEC_PREFIX" => prefix, "bindir" => bindir, "sbindir" => "#{prefix}/sbin",
    "libexecdir" => "#{prefix}/libexec", "libdir" => "#{prefix}/lib", "libdirname" => "libdir", "archlibdir" => "#{prefix}/lib/#{RUBY_PLATFORM}",
    "sitearchlibdir" => "#{prefix}/lib/#{RUBY_PLATFORM}", "datarootdir" => share, "datadir" => share, "mandir" => "#{share}/man", "infodir" => "#{share}/info",
    "docdir" => "#{share}/doc/zakuro", "htmldir" => "#{share}/doc/zakuro", "dvidir" => "#{share}/doc/zakuro", "pdfdir" => "#{share}/doc/zakuro",
    "psdir" => "#{share}/doc/zakuro", "localedir" => "#{share}/locale", "ridir" => "#{share}/ri", "sysconfdir" => prefix == "/usr" ? "/etc" : "#{prefix}/etc",
    "localstatedir" => prefix == "/usr" ? "/var" : "#{prefix}/var", "runstatedir" => prefix == "/usr" ? "/var/run" : "#{prefix}/var/run",
    "sharedstatedir" => "#{prefix}/com", "includedir" => "#{prefix}/include", "oldincludedir" => "/usr/include", "topdir" => "#{library}/#{RUBY_PLATFORM}",
    "rubylibprefix" => base, "rubylibdir" => library, "rubyarchdir" => "#{library}/#{RUBY_PLATFORM}", "archdir" => "#{library}/#{RUBY_PLATFORM}",
    "rubyarchprefix" => "#{base}/#{RUBY_PLATFORM}", "rubysitearchprefix" => "#{base}/#{RUBY_PLATFORM}",
    "sitedir" => "#{base}/site_ruby", "sitelibdir" => "#{base}/site_ruby/#{api}", "sitearchdir" => "#{base}/site_ruby/#{api}/#{RUBY_PLATFORM}",
    "vendordir" => "#{base}/vendor_ruby", "vendorlibdir" => "#{base}/vendor_ruby/#{api}", "vendorarchdir" => "#{base}/vendor_ruby/#{api}/#{RUBY_PLATFORM}",
    "rubyhdrdir" => include, "rubyarchhdrdir" => "#{include}/#{RUBY_PLATFORM}", "sitehdrdir" => "#{include}/site_ruby",
    "sitearchhdrdir" => "#{include}/site_ruby/#{RUBY_PLATFORM}", "vendorhdrdir" => "#{include}/vendor_ruby",
    "vendorarchhdrdir" => "#{include}/vendor_ruby/#{RUBY_PLATFORM}",
    # The machine.
    "arch" => RUBY_PLATFORM, "sitearch" => RUBY_PLATFORM, "platform" => RUBY_PLATFORM, "host" => "#{cpu}-unknown-#{os}", "host_cpu" => cpu, "host_os" => os,
    "host_vendor" => "unknown", "host_alias" => "", "target" => "#{cpu}-unknown-#{os}", "target_cpu" => cpu, "target_os" => os, "target_vendor" => "unknown",
    "target_alias" => "", "build" => "#{cpu}-unknown-#{os}", "build_cpu" => cpu, "build_os" => os, "build_vendor" => "unknown", "build_alias" => "",
    "UNICODE_VERSION" => Encoding::UNICODE_VERSION, "UNICODE_EMOJI_VERSION" => Encoding::UNICODE_VERSION.delete_suffix(".0"), "SIZEOF_VOIDP" => "8", "THREAD_MODEL" => "pthread", "CROSS_COMPILING" => "no", "UNIVERSAL_ARCHNAMES" => "", "UNIVERSAL_INTS" => "",
    # There is no library to link with, and no C extension is loaded; the commands are the system's.
    "ENABLE_SHARED" => "no", "LIBRUBY" => "libzakuro-static.a", "LIBRUBY_A" => "libzakuro-static.a", "LIBRUBY_SO" => "libzakuro.so.#{api}",
    "LIBRUBY_SONAME" => "libzakuro.so.#{major}.#{minor}", "LIBRUBY_ALIASES" => "", "LIBRUBYARG" => "", "LIBRUBYARG_SHARED" => "", "LIBRUBYARG_STATIC" => "",
    "LIBRUBY_RELATIVE" => "no", "configure_args" => "", "modular_gc_dir" => "", "CC" => "cc", "CPP" => "cc -E", "CXX" => "c++", "LD" => "ld", "AR" => "ar", "AS" => "as", "NM" => "nm",
    "RANLIB" => "ranlib", "STRIP" => "strip -S -x", "OBJDUMP" => "objdump", "OBJCOPY" => "objcopy", "CFLAGS" => "-O2", "CXXFLAGS" => "-O2", "CPPFLAGS" => "",
    "LDFLAGS" => "", "LIBS" => "-lm -lpthread", "MAINLIBS" => "-lm -lpthread -ldl", "DLDFLAGS" => "", "CCDLFLAGS" => "-fPIC", "LDSHARED" => "cc -shared",
    "LDSHAREDXX" => "c++ -shared", "optflags" => "-O2", "debugflags" => "-g", "warnflags" => "-Wall", "cflags" => "-O2 -g -Wall", "cxxflags" => "", "cppflags" => "",
    "EXEEXT" => "", "OBJEXT" => "o", "LIBEXT" => "a", "DLEXT" => "so", "SOEXT" => "so", "ASMEXT" => "S", "LIBPATHENV" => "LD_LIBRARY_PATH",
    "LIBPATHFLAG" => "-L%1$-s", "RPATHFLAG" => "", "PRELOADENV" => "LD_PRELOAD", "PATH_SEPARATOR" => ":", "SHELL" => "/bin/sh", "INSTALL" => "install -c",
    "INSTALL_PROGRAM" => "install -c", "INSTALL_SCRIPT" => "install -c", "INSTALL_DATA" => "install -c -m 644", "MKDIR_P" => "mkdir -p", "MAKEDIRS" => "mkdir -p",
    "RM" => "rm -f", "RMALL" => "rm -fr", "RMDIR" => "rmdir", "CP" => "cp", "LN_S" => "ln -s", "NULLCMD" => ":", "GREP" => "grep", "EGREP" => "grep -E",
    "PKG_CONFIG" => "pkg-config", "GNU_LD" => "yes", "GCC" => "yes", "RMDIRS" => "rmdir --ignore-fail-on-non-empty -p", "CHDIR" => "cd -P", "ECHO_N" => "-n", "ECHO_C" => "",
    "ECHO_T" => "", "ARFLAGS" => "rcD ", "COUTFLAG" => "-o ", "OUTFLAG" => "-o ", "CPPOUTFILE" => "-o conftest.i", "CSRCFLAG" => "", "LINK_SO" => "", "TRY_LINK" => "", "WERRORFLAG" => "-Werror",
    "EXECUTABLE_EXTS" => "", "EXPORT_PREFIX" => "", "SYMBOL_PREFIX" => "", "SOLIBS" => "", "DLDLIBS" => "-lc", "DEFS" => "", "ARCH_FLAG" => "", "ADDITIONAL_DLDFLAGS" => "", "EXTDLDFLAGS" => "",
    "EXTLDFLAGS" => "", "EXTOUT" => ".ext", "STATIC" => "", "EXTSTATIC" => "", "ENCSTATIC" => "", "CC_VERSION" => "cc --version", "CC_WRAPPER" => "", "COMMON_HEADERS" => "", "COMMON_LIBS" => "",
    "COMMON_MACROS" => "", "DLLWRAP" => "", "WINDRES" => "", "POSTLINK" => ":", "PLATFORM_DIR" => "", "MANTYPE" => "doc", "MKMF_VERBOSE" => "0", "MAKEFILES" => "Makefile GNUmakefile",
    "CONFIGURE" => "configure", "COROUTINE_TYPE" => cpu == "x86_64" ? "amd64" : "arm64", "INSTALL_STATIC_LIBRARY" => "no", "RUBY_DEVEL" => "", "RUBYW_BASE_NAME" => "", "TEST_RUNNABLE" => "yes",
    "YJIT_SUPPORT" => "no", "ZJIT_SUPPORT" => "no"
  }.transform_values(&:dup)
  # Directories of the platform name it.
  MAKEFILE_CONFIG = CONFIG.to_h do |key, value|
    value = value.dup
    value.sub!(/(?<=\/)#{RUBY_PLATFORM}\z/, key.match?(/\A(?:ruby)?(?:site|vendor)/) ? "$(sitearch)" : "$(arch)") if key.include?("arch")
    [key, value]
  end
  autoload :SIZEOF, "rbconfig/sizeof"
  autoload :LIMITS, "rbconfig/sizeof"
  TOPDIR = CONFIG["prefix"].dup.freeze

  # The path of the `ruby` program.
  def self.ruby = File.join(CONFIG["bindir"], CONFIG["ruby_install_name"] + CONFIG["EXEEXT"])

  # Replaces `$(NAME)` and `${NAME}` in the text itself by the values of settings.
  def self.expand(value, config = CONFIG)
    value.replace(value.gsub(/\$\$|\$\((\w+)\)|\$\{(\w+)\}/) { (name = $1 || $2) ? config[name] || $& : "$" })
  end

  # The value of a key, asked again each time.
  def self.fire_update!(key, value, config = MAKEFILE_CONFIG, expanded = CONFIG)
    before = config[key]
    return if before == value
    config[key] = value
    expanded[key] = expand(value.dup, config)
    [key]
  end
end

CROSS_COMPILING = nil unless defined? CROSS_COMPILING
