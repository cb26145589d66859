A
A::B
::C
a::D
A::B::C = 1
