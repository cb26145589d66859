# Objects whose every conversion and callback strikes.

# What each callback answers once it has struck. `s` is the stage, `a` the arguments.
ANSWERS = {
  to_str: ->(s, a) { s.text }, to_s: ->(s, a) { s.text }, inspect: ->(s, a) { s.text }, to_path: ->(s, a) { s.text }, message: ->(s, a) { s.text },
  to_sym: ->(s, a) { :a }, name: ->(s, a) { s.text }, source: ->(s, a) { s.text }, to_json: ->(s, a) { "1" }, encoding: ->(s, a) { Encoding::UTF_8 },
  to_ary: ->(s, a) { s.list }, to_a: ->(s, a) { s.list }, entries: ->(s, a) { s.list }, force: ->(s, a) { s.list }, members: ->(s, a) { [:a, :b] },
  to_hash: ->(s, a) { s.table }, to_h: ->(s, a) { s.table }, keys: ->(s, a) { [1, :a, "a"] }, deconstruct_keys: ->(s, a) { s.table }, deconstruct: ->(s, a) { s.list },
  to_int: ->(s, a) { s.number }, to_i: ->(s, a) { s.number }, to_f: ->(s, a) { 1.5 }, to_r: ->(s, a) { 1/3r }, to_c: ->(s, a) { 1i },
  floor: ->(s, a) { 3 }, divmod: ->(s, a) { [1, 0.5] }, size: ->(s, a) { s.dice.below(9) }, length: ->(s, a) { s.dice.below(9) },
  to_io: ->(s, a) { s.reach(File.open("a", "w+")) }, to_open: ->(s, a) { 1 }, fileno: ->(s, a) { 99 }, to_set: ->(s, a) { Set.new(s.list) },
  to_proc: ->(s, a) { proc { |*b| s.strike; b.first } }, to_enum: ->(s, a) { [1, 2].each },
  :<=> => ->(s, a) { s.dice.pick([0, 1, -1, -1, 2**70, nil, 1.5]) }, :== => ->(s, a) { s.dice.once_in(2) }, :=== => ->(s, a) { s.dice.once_in(2) },
  eql?: ->(s, a) { s.dice.once_in(2) }, hash: ->(s, a) { s.dice.pick([0, 1, 1, 2**64, -5]) }, :=~ => ->(s, a) { s.dice.once_in(2) ? 0 : nil }, :! => ->(s, a) { false },
  match: ->(s, a) { /a/.match("a") }, match?: ->(s, a) { true }, coerce: ->(s, a) { [a[0], s.dice.pick([1, 1.5, 2**70, 1/3r])] },
  :+ => ->(s, a) { s.dice.pick([1, a[0]]) }, :- => ->(s, a) { 1 }, :* => ->(s, a) { 2 }, :/ => ->(s, a) { 1 }, :% => ->(s, a) { 1 }, :** => ->(s, a) { 2 }, :-@ => ->(s, a) { 1 },
  :< => ->(s, a) { s.dice.once_in(2) }, :> => ->(s, a) { s.dice.once_in(2) }, :<= => ->(s, a) { s.dice.once_in(2) }, :>= => ->(s, a) { s.dice.once_in(2) },
  :& => ->(s, a) { 1 }, :| => ->(s, a) { 1 }, :^ => ->(s, a) { 1 }, :<< => ->(s, a) { 1 }, :>> => ->(s, a) { 1 }, zero?: ->(s, a) { false }, integer?: ->(s, a) { false },
  negative?: ->(s, a) { s.dice.once_in(2) }, abs: ->(s, a) { 1 }, round: ->(s, a) { 1 }, numerator: ->(s, a) { 1 }, denominator: ->(s, a) { 2 },
  call: ->(s, a) { s.dice.pick([a[0], true, false, nil, 1, "a"]) }, arity: ->(s, a) { 1 }, exclude_end?: ->(s, a) { false },
  begin: ->(s, a) { s.number }, end: ->(s, a) { s.number }, first: ->(s, a) { 1 }, last: ->(s, a) { 9 }, step: ->(s, a) { 2 },
  key?: ->(s, a) { true }, fetch: ->(s, a) { 1 }, :[] => ->(s, a) { s.dice.pick([nil, 1, "a", 97]) }, include?: ->(s, a) { s.dice.once_in(2) }, dig: ->(s, a) { 1 },
  read: ->(s, a) { s.dice.once_in(2) ? s.text : nil }, readpartial: ->(s, a) { s.text }, write: ->(s, a) { a.sum { |x| String === x ? x.bytesize : 1 } }, print: ->(s, a) { nil },
  gets: ->(s, a) { s.dice.once_in(2) ? s.text : nil }, getc: ->(s, a) { "a" }, getbyte: ->(s, a) { 97 }, rewind: ->(s, a) { 0 }, pos: ->(s, a) { 0 }, eof?: ->(s, a) { false },
  close: ->(s, a) { nil }, exception: ->(s, a) { Boom.new("made") }, backtrace: ->(s, a) { ["a:1"] }, set_backtrace: ->(s, a) { nil },
  marshal_dump: ->(s, a) { s.list }, rand: ->(s, a) { 0 }, bytes: ->(s, a) { "a" * 8 }, random: ->(s, a) { 0.5 }, update: ->(s, a) { 1 }, digest: ->(s, a) { "a" },
  next: ->(s, a) { 1 }, yield: ->(s, a) { 1 }, dup: ->(s, a) { s.list }, wait: ->(s, a) { nil }, lock: ->(s, a) { nil }, unlock: ->(s, a) { nil }, synchronize: ->(s, a) { nil },
  method_added: ->(s, a) { nil }, included: ->(s, a) { nil }, inherited: ->(s, a) { nil }, const_added: ->(s, a) { nil }, respond_to_missing?: ->(s, a) { false },
}.freeze

WHAT = { "text" => %i[to_str to_s inspect == hash <=>], "list" => %i[to_ary to_a == hash <=> size], "table" => %i[to_hash to_h key? keys [] fetch], "int" => %i[to_int to_i coerce <=> floor divmod],
         "float" => %i[to_f to_r to_c coerce], "path" => %i[to_path to_str], "io" => %i[to_io read readpartial write gets getc getbyte rewind pos eof? close to_path], "proc" => %i[to_proc call arity ===],
         "key" => %i[hash eql? == inspect], "order" => %i[<=> coerce == + - * / < > <= >= hash], "pattern" => %i[=~ match match? === to_str source], "bounds" => %i[begin end exclude_end? first last step size] }.freeze

# A class with the callbacks of `names`; those and whatever of the superclass they stand for strike.
def hostile_class(names, superclass = Object)
  Class.new(superclass) do
    attr_accessor :stage
    names.each do |name|
      answer = ANSWERS.fetch(name)
      inherited = superclass.method_defined?(name) && name != :<=>
      define_method(name) do |*args, **kw, &block|
        # Without a stage, and before and after the call, they are plain objects.
        next inherited ? super(*args, &block) : name == :<=> ? -1 : answer.call(@stage, args) if @stage.nil? || !@stage.armed
        @stage.strike
        answer.call(@stage, args)
      end
    end
  end
end

module Each
  def each
    return to_enum unless block_given?
    5.times { |i| stage&.strike; yield(i == 3 ? [i, "e"] : i) }
    self
  end

  def succ
    stage&.strike
    other = clone
    other.rank = (rank || 0) + 1
    other
  end
  attr_accessor :rank
end

HOSTILE = WHAT.transform_values { |names| hostile_class(names) }
HOSTILE["each"] = hostile_class(%i[size to_a]).include(Enumerable, Each)
HOSTILE["all"] = hostile_class(ANSWERS.keys - %i[dup name !]).include(Each)
HOSTILE["ranked"] = hostile_class(%i[<=> ==]).include(Comparable, Each)

# Core classes with callbacks of their own: natives take them for the real thing.
OWN = {
  "String" => -> { hostile_class(%i[to_str to_s inspect == hash <=> eql? =~ match size length encoding dup to_sym], String).new("own text") },
  "Array" => -> { hostile_class(%i[to_ary to_a == hash <=> eql? size length inspect to_s dup first last [] include?], Array).new([1, "b", [2, 3]]) },
  "Hash" => -> { hostile_class(%i[to_hash to_h == hash eql? size length inspect keys key? fetch [] dup], Hash).new.update(a: 1, "b" => 2) },
  "Range" => -> { hostile_class(%i[begin end exclude_end? first last size step to_a hash ==], Range).new(1, 5) },
  "Proc" => -> { hostile_class(%i[call === arity to_proc hash ==], Proc).new { |x| x } },
  "Numeric" => -> { hostile_class(%i[<=> coerce + - * / % ** to_int to_i to_f to_r floor divmod == hash zero? integer? negative? -@ < > abs round], Numeric).new },
  "StandardError" => -> { hostile_class(%i[message to_s inspect exception backtrace set_backtrace == hash], StandardError).new("own") },
  "Regexp" => -> { hostile_class(%i[source === =~ match match? to_s hash ==], Regexp).new("(a)(?<n>b)?") },
  "Set" => -> { hostile_class(%i[include? size to_a hash == eql? inspect dup], Set).new([1, 2]) },
}.freeze

class Stage
  def hostile(kind = @dice.pick(HOSTILE.keys))
    object = HOSTILE.fetch(kind).new
    object.stage = self
    reach(object)
  end

  def own(name = @dice.pick(OWN.keys))
    object = OWN.fetch(name).call
    object.stage = self
    reach(object)
  end

  # An argument of any kind.
  def argument
    case @dice.below(32)
    when 30, 31 then peer ? reach(peer.call) : hostile("all")
    when 0..5 then hostile("all")
    when 6..11 then hostile
    when 12..14 then own
    when 15 then reach([hostile, "real", hostile("all")])
    when 16 then reach({ hostile("key") => 1, "a" => hostile("all") })
    when 17, 18 then text
    when 19, 20 then number
    when 21 then list
    when 22 then table
    when 23 then @dice.pick([nil, true, false, :a, :b, :upcase, :each, :+, 1.5, Float::NAN, 1/3r, 2i, Float::INFINITY])
    when 24 then @dice.pick([/a/, /(?<n>a)|b/, /\w+/, 1..3, "a".."e", :U8, :u32, (1..), (..2), String, Integer, Comparable, Encoding::UTF_8, Encoding::UTF_16LE])
    when 25 then Range.new(hostile("ranked"), hostile("ranked")) rescue 1..2
    when 26 then proc { |*a| strike; a.first }
    when 27 then reach([[hostile("key"), hostile("all")], [1, 2]])
    when 28 then reach([list, list, hostile("list")])
    else reach([hostile("order"), hostile("order"), 1, hostile("text"), "a"])
    end
  end

  # An argument that becomes a `name`, by a callback or because it is one.
  def convertible(name)
    case name
    when "String" then @dice.pick([-> { hostile("text") }, -> { own("String") }, -> { text }]).call
    when "Integer" then @dice.pick([-> { hostile("int") }, -> { number }]).call
    when "Float", "Numeric", "Rational" then @dice.pick([-> { own("Numeric") }, -> { hostile("float") }, -> { number }]).call
    when "Array" then @dice.pick([-> { hostile("list") }, -> { own("Array") }, -> { reach([hostile("all"), hostile("key")]) }]).call
    when "Hash" then @dice.pick([-> { hostile("table") }, -> { own("Hash") }, -> { reach({ hostile("key") => hostile("all") }) }]).call
    when "Proc" then @dice.once_in(2) ? own("Proc") : hostile("proc")
    when "Symbol" then :a
    when "Class" then Class.new
    when "Module" then Module.new
    when "IO", "File" then hostile("io")
    when "Regexp" then own("Regexp")
    when "Range" then own("Range")
    when "Set" then own("Set")
    else @dice.once_in(2) && SPECIMENS.key?(name) ? reach(SPECIMENS.fetch(name).call(self)) : argument
    end
  end

  KEYWORDS = %i[chomp exception half by in base encoding invalid undef replace freeze timeout external_encoding mode limit universal_newline max_nesting symbolize_names
                precision buffer offset length capacity random level keep exclusive line step of from to input prefix flags perm sort order highlight cause compact proc].freeze

  def keywords = [@dice.pick(KEYWORDS), @dice.pick(KEYWORDS)].first(1 + @dice.below(2)).to_h { |name| [name, argument] }
end
