# Operators of Integer that change before, while and after a loop runs that machine code was made of.
def while_loop(n)
  i = 0
  sum = 0
  while i < n
    yield if i == n / 2
    sum = sum + (i * 3 - 1)
    sum = sum & 0xffffff if sum > 0xffffff
    i += 1
  end
  sum
end
def blocks(n)
  sum = 0
  n.times { |i| yield if i == n / 2; sum += i % 7; sum -= i / 3; sum ^= i << 1; sum |= 1; sum = sum & 0xfffffff }
  sum
end
def compares(n)
  found = []
  i = n
  until i <= 0
    yield if i == n / 2
    found << i if i == 17 || i > n - 2
    found << -i if i != 5 && i < 3
    found << 0 if !(i >= 4)
    i = i - 1
  end
  found
end
def bits(n)
  x = 1
  n.times { |i| yield if i == n / 2; x = (x >> 1) ^ (-(x & 1) & 0xB400) ^ i.succ }
  x
end

N = 3000
ALL = [:while_loop, :blocks, :compares, :bits]
def all(note, &change)
  ALL.each { |m| puts "#{note} #{m}: #{send(m, N, &(change || -> {}))}" }
end
all("before")

CHANGES = {
  "+" => "alias o +; def +(x) = o(x).o(self.&(1))",
  "-" => "alias o -; def -(x) = o(x)",
  "*" => "alias o *; def *(x) = o(x).succ",
  "/" => "alias o /; def /(x) = o(x) + 1",
  "%" => "alias o %; def %(x) = o(x) + 2",
  "&" => "alias o &; def &(x) = o(x) | 8",
  "|" => "alias o |; def |(x) = o(x) + 2",
  "^" => "alias o ^; def ^(x) = o(x) | 1",
  "<<" => "alias o <<; def <<(x) = o(x) + 3",
  ">>" => "alias o >>; def >>(x) = o(x) | 4",
  "-@" => "alias o -@; def -@ = o - 1",
  "<" => "alias o <; def <(x) = ($lt = ($lt || 0) + 1; o(x))",
  "<=" => "alias o <=; def <=(x) = o(x) || self == 1500 && !$le && ($le = true)",
  ">" => "alias o >; def >(x) = o(x) || self == 20",
  ">=" => "alias o >=; def >=(x) = o(x) && self != 30",
  "==" => "alias o ==; def ==(x) = o(x) || o(18) && x.equal?(17)",
  "!=" => "def !=(x) = equal?(x) ? false : !equal?(2)",
  "succ" => "def succ = self + 5",
}
CHANGES.each do |name, text|
  $lt = $le = nil
  done = false
  puts "-- #{name}"
  all("during") do
    Integer.class_eval(text) unless done
    done = true
  end
  all("after")
  p $lt.class, $le
  Integer.class_eval do
    if method_defined?(:o)
      alias_method name, :o
      remove_method :o
    elsif name == "!="
      remove_method name
    else
      define_method(:succ) { self + 1 }
    end
  end
  all("again")
end
