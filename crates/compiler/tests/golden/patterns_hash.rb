case h
in {a: Integer => n, b:, **rest}
  rest
in {c: {d: [*, x, *]}, **nil}
  x
in {}
  1
in Foo(k: 1)
  2
end
h => {name: String => name, age:}
[1, 2] => [a, b]
p((h in {a: 1}))
x in Integer | Float => num
5 => Integer
