# `inspect` of an Enumerator shows a Hash of keywords that comes last without braces, however it was given.
p [1].each_with_object(a: 1), [1].each_slice(2), [1].to_enum(:foo, {}), [1].to_enum(:foo, {"a b": 1}), [1].to_enum(:foo, {a: 1}, 2)
p [1].to_enum(:foo, {a?: 1}), [1].to_enum(:foo, a: 1, "x" => 2), [1].to_enum(:foo, :+ => 2), [1].to_enum(:foo, 1, b: [2]), [1].to_enum(:foo, "a" => 1)
