# shareable_constant_value: literal
A = [1, "x"]
B ||= {a: 1}
