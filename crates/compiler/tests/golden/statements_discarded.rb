1
"s"
[a, 1]
nil
x = 1
x
@i
C
"#{foo}"
a && b
a ? 1 : b
self
->{}
1
