# Makes the calls, and tells what is a fault.

module Judge
  POISON = ("\xDB" * 8).b.freeze
  MEMORY = 96 << 20
  # Seconds until a call is ended; until what may wait is ended; and how much later the VM must be gone.
  LIMIT = 4
  WAIT = 0.1
  SLACK = 10
  # Of the methods that are called at least so many must meet a callback, by one call each and by more: else the test covers less than it says.
  REACHED = [0.22, 0.33].freeze

  module_function

  # The child's side: one call, and a look at all that it could have spoilt. Answers [what came out, callbacks, changes, poison].
  def call(mod, name, kind, method, label, seed, number)
    dice = Dice.new("#{seed} #{label} #{number}")
    stage = Stage.new(dice)
    stage.far = DESCRIPTORS.match?(label)
    target = kind == "." ? mod.method(method) : mod.instance_method(method)
    begin
      stage.peer = -> { SPECIMENS.fetch(name).call(stage) } if SPECIMENS.key?(name)
      receiver = receiver_for(mod, name, kind, stage)
      list = Array.new(count(target.arity, dice)) { stage.argument }
    rescue Exception => e
      return ["unmade", 0, 0, "no specimen: #{e.message.byteslice(0, 200).scrub} #{e.backtrace&.first}"]
    end
    stage.reach(list)
    keywords = dice.once_in(8) ? stage.keywords : {}
    with_block = dice.below(3)
    operator = kind == "#" && with_block == 0
    in_fiber = dice.once_in(5)
    run = lambda do
      if operator && (compiled = OPERATORS[[method, list.size]])
        compiled.call(receiver, *list)
      elsif with_block == 1
        kind == "." ? target.call(*list, **keywords) : target.bind_call(receiver, *list, **keywords)
      elsif kind == "."
        target.call(*list, **keywords) { |*args| (x = stage.block(args)) == :break ? break : x }
      else
        target.bind_call(receiver, *list, **keywords) { |*args| (x = stage.block(args)) == :break ? break : x }
      end
    end
    stage.again = run
    GC.stress = true
    outcome = nil
    TRIES.times do
      show(label, number, receiver, list, keywords) if $show
      stage.armed = true
      outcome = attempt(stage, in_fiber, &run)
      stage.armed = false
      break if stage.callbacks > 0 || !improve(outcome, list, keywords, stage)
    end
    stage.armed = true
    attempt(stage, false) { follow(outcome, stage) }
    stage.armed = false
    GC.start
    stage.junk
    poison = spoilt([*stage.targets, outcome])
    GC.stress = false
    [Exception === outcome ? outcome.class.name : "value", stage.callbacks, stage.changes, poison.to_s]
  rescue RubyVM::LimitError
    raise
  rescue Exception => e
    # The call spoilt what the test itself needs.
    ["ended: #{e.class.name} #{e.message.byteslice(0, 100).scrub}", 1, 1, ""]
  end

  # What a result leads to, with callbacks that still strike.
  def follow(result, stage)
    case result
    when Enumerator::Lazy then result.first(3)
    when Enumerator then [result.size, result.next, result.next, result.first(3), result.with_index(1).first(2), result.rewind]
    when Proc, Method then result.call(*Array.new(result.arity.abs) { stage.argument })
    when Binding then result.local_variables
    when Fiber then result.resume
    end
  end

  # With --call: what is called, on standard error.
  def show(label, number, receiver, list, keywords)
    texts = [receiver, *list].map { |object| (object.inspect rescue "?").byteslice(0, 300) }
    $stderr.puts("#{label} --call #{number}: #{texts.join(", ")} #{keywords unless keywords.empty?}")
  end

  # Tries of a call whose arguments were refused before anything could strike.
  TRIES = 5

  def receiver_for(mod, name, kind, stage)
    receiver = mod
    if kind == "#"
      receiver = SPECIMENS.fetch(name).call(stage)
      # What `allocate` answers, before any `initialize`.
      receiver = (mod.allocate rescue receiver) if Class === mod && stage.dice.once_in(12)
    end
    stage.reach(receiver)
  end

  # Other arguments, by what the error says of those that were given. False if there is nothing to be tried.
  def improve(error, list, keywords, stage)
    return false unless Exception === error
    keywords.clear
    message = error.message
    if error.is_a?(ArgumentError) && message =~ /given \d+, expected (\d+)(?:\.\.(\d+))?(\+)?/
      low = $1.to_i
      size = low + stage.dice.below(($2 ? $2.to_i - low : $3 ? 3 : 0) + 1)
      list.pop while list.size > size
      list << stage.argument while list.size < size
    elsif list.empty?
      return false
    elsif error.is_a?(TypeError) && message =~ /(?:into|expected) (?:an? |kind of )?([A-Z]\w+)/
      list[stage.dice.below(list.size)] = stage.convertible($1)
    else
      list.map! { stage.argument }
    end
    true
  end

  OPERATORS = (%i[+ - * / % ** << >> <=> == === =~ < > <= >= & | ^ !=].to_h { |op| [[op, 1], eval("->(a, b) { a #{op} b }")] }
    .merge([:[], 1] => ->(a, b) { a[b] }, [:[]=, 2] => ->(a, b, c) { a[b] = c }, [:[], 2] => ->(a, b, c) { a[b, c] }, [:[]=, 3] => ->(a, b, c, d) { a[b, c] = d }, [:-@, 0] => ->(a) { -a }, [:!, 0] => ->(a) { !a })).freeze

  def count(arity, dice)
    return dice.below(5) if dice.once_in(10)
    arity < 0 ? (-arity - 1) + dice.below(3) : arity
  end

  # In a fiber of its own a callback can leave the call for ever.
  def attempt(stage, in_fiber, &run)
    return guarded(&run) unless in_fiber
    stage.in_fiber = true
    Fiber.new { guarded(&run) }.resume
  ensure
    stage.in_fiber = false
  end

  def guarded
    catch(:out) { yield }
  rescue Exception => e
    raise if RubyVM::LimitError === e
    e
  end

  # Looks through objects for what dead memory is overwritten with; touches all of them on the way.
  def spoilt(objects)
    seen = {}.compare_by_identity
    until objects.empty? || seen.size > LOOKED_AT
      object = objects.pop
      next if seen.key?(object)
      seen[object] = true
      found = begin
        look(object, objects)
      rescue RubyVM::LimitError
        raise
      rescue Exception
        nil
      end
      return found if found
    end
  end

  # Objects that are looked at after a call.
  LOOKED_AT = 300

  def look(object, more)
    case object
    when String
      object.hash
      object.valid_encoding?
      return object.b.include?(POISON) ? "dead memory in a String: #{object.b[0, 80].inspect}" : nil
    when Array then more.concat(object.first(100))
    when Hash then more.concat(object.first(50).flatten(1))
    when Struct, Set then more << object.to_a
    when Integer, Symbol, Float, Rational, Complex, Regexp then more << object.to_s
    when Exception then more << object.message << object.backtrace
    when StringIO then more << object.string
    when Enumerator, IO, Thread, Module, Proc, Method then object.inspect
    else object.instance_variables.each { |name| more << object.instance_variable_get(name) }
    end
    nil
  end

  # A worker process: the calls of its share, each in a VM of its own.
  def work(methods, options)
    Dir.chdir(ENV.fetch("HOSTILE_DIR"))
    note = File.open("../note#{options[:worker]}", "w")
    log = File.open("../log#{options[:worker]}", "a")
    log.sync = true
    $show = options[:call]
    numbers = options[:call] ? [options[:call]] : (0...options[:calls])
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    at = -1
    numbers.each do |number|
      methods.each_with_index do |(mod, name, kind, method), index|
        next unless index % options[:jobs] == options[:worker]
        next if (at += 1) < options[:from]
        if options[:seconds] && Process.clock_gettime(Process::CLOCK_MONOTONIC) - started > options[:seconds]
          log.puts("over")
          return
        end
        label = "#{name}#{kind}#{method}"
        note.pwrite("#{at}\t#{label}\t#{number}\n".ljust(200), 0)
        began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        leftover = Dir.children(".")
        FileUtils.rm_rf(leftover) unless leftover.empty?
        log.puts([label, number, *one(mod, name, kind, method, label, options[:seed], number), ((Process.clock_gettime(Process::CLOCK_MONOTONIC) - began) * 1000).to_i].join("\t"))
      end
    end
    log.puts("over")
  end

  # [outcome, callbacks, changes, fault or nothing]
  def one(mod, name, kind, method, label, seed, number)
    wait = WAITS.match?(label)
    vm = RubyVM.fork(mod, name, kind, method, label, seed, number, memory_limit: MEMORY, wall_limit: wait ? WAIT : LIMIT, thread_limit: 60, grace: 0.2) { |*call| Judge.call(*call) }
    return ["hang", 0, 0, "does not end at its limit"] if vm.join(LIMIT + SLACK).nil?
    value = vm.value
    return ["left", 0, 0, ""] unless value.is_a?(Array)
    value.map { |part| String === part ? part.b.tr("\t\n", "  ") : part }
  rescue RubyVM::Error => e
    case e.message
    when /internal error/ then ["panic", 0, 0, e.message.tr("\t\n", "  ")]
    when /limit/ then [wait && vm.report[:limit] == :wall ? "waits" : "limit(#{vm.report[:limit]})", 0, 0, ""]
    else ["ended: #{e.message[0, 300].tr("\t\n", "  ")}", 0, 0, ""]
    end
  end

  # The driver: workers, those that die, and the report. Answers the exit status.
  def drive(methods, options)
    dir = Dir.mktmpdir("hostile")
    faults = UNKNOWN.map { |name| "#{name}: a builtin class without a specimen (tests/hostile/specimens.rb)" }
    workers = (0...options[:jobs]).map { |worker| Thread.new { run_worker(worker, options, dir, faults) } }
    workers.each(&:join)
    options[:jobs].times { |worker| puts File.read("#{dir}/err#{worker}") } if options[:call]
    rows = (0...options[:jobs]).flat_map { |worker| File.readlines("#{dir}/log#{worker}", chomp: true) }.map { |line| line.split("\t", -1) }.select { |row| row.size >= 6 }
    report(methods, options, rows, faults)
  ensure
    FileUtils.remove_entry(dir) if dir
  end

  def run_worker(worker, options, dir, faults)
    from = 0
    loop do
      place = "#{dir}/work#{worker}"
      Dir.mkdir(place) unless Dir.exist?(place)
      arguments = options.slice(:seed, :calls, :jobs, :only, :call, :seconds).compact.flat_map { |name, value| ["--#{name}", value.to_s] }
      pid = Process.spawn({ "HOSTILE_DIR" => place, "HOME" => place, "TMPDIR" => place }, RbConfig.ruby, "#{__dir__}/hostile.rb", *arguments, "--worker", worker.to_s, "--from", from.to_s,
                          in: File::NULL, out: File::NULL, err: ["#{dir}/err#{worker}", "w"])
      _, status = Process.wait2(pid)
      break if File.readlines("#{dir}/log#{worker}").last == "over\n"
      at, label, number = File.read("#{dir}/note#{worker}").strip.split("\t")
      faults << "#{label} --call #{number}: the process ended (#{status.inspect[/(?:SIG\w+|exit \d+)/]}): #{File.read("#{dir}/err#{worker}").lines.last(12).join.strip}"
      from = Integer(at) + 1
    end
  end

  def report(methods, options, rows, faults)
    rows.each { |label, number, outcome, _, _, fault| faults << "#{label} --call #{number}: #{outcome}: #{fault}" unless fault.empty? }
    called = rows.map(&:first).uniq
    reached = rows.select { |row| row[3].to_i > 0 }.map(&:first).uniq
    struck = rows.sum { |row| row[4].to_i }
    if options[:verbose]
      rows.group_by { |row| row[2][/\A[^ ]+/] }.sort_by { |_, group| -group.size }.each { |outcome, group| puts "#{outcome}: #{group.size}" }
      rows.select { |row| row[2].match?(/\A(limit|left|ended)/) }.group_by { |row| [row[0], row[2]] }.each { |(label, outcome), group| puts "#{outcome}: #{label} (--call #{group.map { |row| row[1] }.join(" ")})" }
      puts "slowest: #{rows.max_by(20) { |row| row[6].to_i }.map { |row| "#{row[0]} #{row[1]} #{row[6]} ms" }.join(", ")}"
      puts "without a callback: #{(called - reached).join(" ")}"
    end
    if options[:only].nil? && options[:call].nil?
      missing = methods.map { |_, name, kind, method| "#{name}#{kind}#{method}" } - called
      faults << "#{missing.size} methods were not called: #{missing.first(20).join(" ")}" unless missing.empty? || options[:seconds]
      faults << "only #{reached.size} of #{called.size} methods met a callback" if reached.size < called.size * REACHED[options[:calls] == 1 ? 0 : 1]
    end
    faults.each { |fault| puts "FAULT #{fault}" }
    left = METHODS.size - CALLED.size
    puts "seed #{options[:seed]}: #{rows.size} calls of #{called.size} methods of #{methods.map { |entry| entry[1] }.uniq.size} classes and modules (#{left} methods left out), " \
         "#{reached.size} met a callback, #{struck} changes; #{faults.size} faults"
    faults.empty? ? 0 : 1
  end
end
