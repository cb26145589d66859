x = nil
x = true
x = false
x = 1
x = 3_000_000_000
x = 123456789012345678901234567890
x = -5
x = 1.5
x = 2r
x = 1.25r
x = 3i
x = 2.5ri
x = :sym
x = "str"
x = "frozen".freeze
x = 'a' "b" 'c'
x = "a#{x}b#@y"
x = :"s#{x}"
x = /re/mix
x = /r#{x}e/i
x = /o#{x}/o
x = /\//n
x = `ls`
x = `ls #{x}`
x = [1, 2, *x, 3]
x = %w[a b]
x = %i[a b]
x = {a: 1, "b" => 2, x => 3, **x}
x = 1..2
x = (1..nil)
x = "\xff"
x = "é"
x = ?c
x = __FILE__
x = __LINE__
x = __ENCODING__
x = __method__
x = __dir__
y = 1
x = {x:, y:, foo:}
x = <<~A + <<B
  heredoc #{x}
    more
A
  plain
B
