# Tokens of programs under the names of parse.y: RubyVM::AbstractSyntaxTree with keep_tokens.
root = RubyVM::AbstractSyntaxTree.parse(<<~'RUBY', keep_tokens: true)
  # comment
  class A < B
    X = "a#{1 + 2}b\n"
    def foo(a, b = 1, *c, d:, **e, &f)
      @x ||= %w[a b]
      y = f(<<~H, <<-I) # behind
        t #{z} u
          more
      H
        #{<<~J} in
          inner
        J
      I
      a.map { |i| i&.to_s }.each do |q| puts q unless q.nil? end
      :sym; :"ds"; ?c; /re#{x}/i; `ls`
      return if a && b || !c and not d
      x = a ? 1 : 2.0
      while true do break; end
      -> (x) { x }; -> do 1 end
      foo 1 do end
      $g; $1; $~; @@cv; 1r; 2i; a[0]; [1]; {a: 1, "b": 2, c => 3}
      a += 1; a == b; a <=> b; a ** 2; -a; -1; a -1; a - 1; (..b); a...b; A::B; ::C
      super(1); yield; self; nil; true; __FILE__; defined?(x)
      %i[a b]; %q(x); a =~ /x/; a !~ b; a << 1; ~a; a % b; f(&b); f *a; f(**h)
    end
    def ==(o) [o]
    end
    def one(a)
      (a)
    end
  end
  =begin
  doc
  =end
  alias foo bar
  undef x
  begin; rescue => e; ensure; end
  x if y
  case [1]
  in [a, *] then 1
  end
  a
    # between
    .b
  z
  # last
  w
  __END__
  data
RUBY
root.all_tokens.each { |id, name, text, where| puts "#{id} #{name.inspect} #{text.inspect} #{where}" }
p root.all_tokens.size
def first(node, type)
  return node if node.type == type
  node.children.each { |c| c.is_a?(RubyVM::AbstractSyntaxTree::Node) && (found = first(c, type)) && (return found) }
  nil
end
p first(root, :DEFN).tokens.size, first(root, :ALIAS).tokens.map { |t| t[2] }
p RubyVM::AbstractSyntaxTree.parse("1").tokens, RubyVM::AbstractSyntaxTree.parse("1").all_tokens
p RubyVM::AbstractSyntaxTree.parse("", keep_tokens: true).all_tokens
# Needs prism.
