# A literal that is frozen where it stands is the String that `-string` gives; who owns `freeze`; encodings of what shows names.
p "x".freeze.equal?(-"x"), "x".freeze.equal?("x".freeze), "x".freeze.equal?(-"x".dup), "é".freeze.equal?(-"é"), "".freeze.equal?(-""), "x".freeze.equal?(:x.name)
p "y".b.freeze.equal?(-"y"), "x#{1}".freeze.equal?(-"x1"), "x".freeze.frozen?, "x".freeze.encoding
def one = "shared name".freeze
def two = "shared name".freeze
p one.equal?(two), one.equal?(eval('"shared name".freeze')), one.equal?(-"shared #{:name}")
p "x".method(:freeze).owner, String.instance_methods(false).include?(:freeze), Class.new(String).new("a").freeze.frozen?
text = +"abc"
def text.own = 1
text.freeze
p text.frozen?, text.singleton_class.frozen?, (text << "d" rescue $!.class)
p [:a, :é, :"a b", Comparable, Class, Encoding::UTF_8, /a/, /é/, 1..2, "a".."b", 1.., nil..nil, "é".."z"].map { |x| [x.inspect.encoding.name, x.to_s.encoding.name] }
p Comparable.name.encoding, Class.new.name
