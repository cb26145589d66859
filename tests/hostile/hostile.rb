# Every method of every builtin class, called with receivers and arguments that change each other inside each conversion and callback.
#
#   zakuro tests/hostile/hostile.rb [--seed N] [--calls N] [--jobs N] [--only REGEXP] [--call N] [--seconds N] [--verbose]
#
# The list of methods comes from reflection; a class that specimens.rb does not know fails the test. Each call runs in a VM of its own, which collects at every
# safepoint, with limits of memory and time; what it does depends on nothing but seed, method and number of the call, so that `--seed N --only 'Array#pack' --call 7`
# repeats one. Faults are: a process that dies, an internal error of a VM (a panic, a debug assertion), a VM that does not end after its wall limit, and the
# pattern that the dev build writes over dead memory in a result. What is not called is listed with its reason in left_out.rb.
#
# The driver starts worker processes, so that a crash costs one call; each notes its call in a file before it makes it.
LIBRARY = %w[objspace syslog nkf kconv json stringio strscan zlib openssl bigdecimal bigdecimal/util date digest socket etc coverage cgi/escape io/console io/wait io/nonblock monitor pathname psych rbconfig fcntl
             erb/escape set delegate forwardable pp].freeze
$VERBOSE = nil
[*LIBRARY, "tmpdir", "fileutils"].each { |name| require name }
%w[stage attackers specimens left_out judge].each { |name| require_relative name }

options = { seed: 1, calls: 8, jobs: 2, only: nil, call: nil, seconds: nil, verbose: false, worker: nil, from: 0 }
until ARGV.empty?
  name = ARGV.shift.delete_prefix("--").to_sym
  abort "hostile: unknown option --#{name}" unless options.key?(name)
  options[name] = name == :verbose ? true : ARGV.shift
end
options.each { |name, value| options[name] = Integer(value) if value.is_a?(String) && %i[seed calls jobs call seconds worker from].include?(name) }

# Every module that the program can see, by its name.
def modules
  found = {}.compare_by_identity
  visit = lambda do |mod, name|
    next if found[mod]
    found[mod] = name
    mod.ancestors.each { |ancestor| visit.call(ancestor, ancestor.name) if ancestor.name }
    mod.constants(false).each do |constant|
      next if mod.autoload?(constant, false) || !constant.match?(/\A[A-Z]/)
      inner = mod.const_get(constant, false)
      visit.call(inner, mod == Object ? constant.to_s : "#{name}::#{constant}") if inner.is_a?(Module)
    end
  end
  visit.call(Object, "Object")
  found.reject { |mod, name| name.match?(/\ASpecimen|\A(Stage|Dice|Enough|Boom|Each|Judge)\z/) }
end

def builtin?(method) = method.source_location.nil? || method.source_location[0].start_with?("<")

# [module, its name, "#" or ".", method]
METHODS = modules.flat_map do |mod, name|
  own = mod.instance_methods(false) + mod.private_instance_methods(false)
  functions = mod.singleton_methods(false) + mod.singleton_class.private_instance_methods(false)
  own.select { |m| builtin?(mod.instance_method(m)) }.map { |m| [mod, name, "#", m] } +
    functions.select { |m| builtin?(mod.method(m)) }.map { |m| [mod, name, ".", m] } +
    (mod.is_a?(Class) && mod.respond_to?(:new) && !functions.include?(:new) && own.any? { |m| builtin?(mod.instance_method(m)) } ? [[mod, name, ".", :new]] : [])
end.sort_by { |entry| entry[1..].join(" ") }

WITHOUT_ROOT = WITHOUT.keys
def without?(name) = WITHOUT_ROOT.any? { |root| name == root || name.start_with?("#{root}::") }
def left_out?(label) = LEFT_OUT.any? { |pattern, _| pattern.match?(label) }

unknown = METHODS.map { |entry| entry[1] }.uniq.reject { |name| SPECIMENS.key?(name) || FUNCTIONS.include?(name) || without?(name) }
UNKNOWN = unknown.freeze
CALLED = METHODS.reject { |_, name, kind, method| without?(name) || UNKNOWN.include?(name) || left_out?("#{name}#{kind}#{method}") || (kind == "#" && FUNCTIONS.include?(name)) }
only = options[:only] && Regexp.new(options[:only])
chosen = CALLED.select { |_, name, kind, method| only.nil? || only.match?("#{name}#{kind}#{method}") }

if options[:worker]
  Judge.work(chosen, options)
  exit!(0)
end

exit Judge.drive(chosen, options)
