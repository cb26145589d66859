# Programs whose errors leave them whole: the events of their nodes come, those of what is wrong where it stands.
require "ripper"

class Events < Ripper
  PARSER_EVENTS.each { |event| define_method(:"on_#{event}") { |*parts| "#{event}(#{parts.map(&:to_s).join(",")})" } }
  def on_parse_error(*) = @wrong = true
  # CRuby says some more of what it has put in the place of what is wrong.
  def compile_error(*) = nil
  attr_reader :wrong
end

[
  "self = 1", "$& = 1", "$&, _ = 1", "$& += 1", "$1 ||= 1", "nil = 1", "alias $a $1", "def m\n X = 1\nend", "def m\n X, a = 1,2\nend", "def m\n self::X = 1\nend",
  "def m\n self::X, a = 1\nend", "def m\n X += 1\nend", "a, self = 1", "def foo=() = 42", "def a.foo=() = 42", "retry", "begin; nil = 1; end", "for self in []; end",
  "begin; rescue => self; end", "def a; begin; rescue => X; end;end", "__FILE__ = 1", "def a; ::X = 1; end", "def a; X ||= 1; end"
].each do |source|
  events = Events.new(source)
  puts "#{source.inspect}: #{events.parse}#{" (parse error)" if events.wrong} #{events.error?} #{Ripper.sexp(source).inspect}"
end

# Tokens are told in their order when somebody asks for them after the parser was made, too.
events = Events.new("foo # comment\n...\n")
seen = []
events.define_singleton_method(:on_ignored_nl) { |token| seen << token }
events.define_singleton_method(:on_sp) { |token| seen << token }
events.parse
p seen
