# Calls with splats and keywords: processor time in nanoseconds each, a loop and a block around it included. `compare` beside this file takes two interpreters by turns and prints ratios.
LIST, OPTIONS = [1], { k: 1 }
def none = nil
def one(a) = a
def key(k: 0) = k
def rest(*a) = a
def keys(**k) = k
def optional(a, b = 1, *c) = a
def forward(...) = one(...)
def nameless(*) = one(*)
def nameless_keys(**) = key(**)
def named(**k) = key(**k)
CALLS = {
  "none" => -> { none }, "one(*l)" => -> { one(*LIST) }, "rest(*l)" => -> { rest(*LIST) }, "rest(1, *l)" => -> { rest(1, *LIST) }, "rest(*l, *l)" => -> { rest(*LIST, *LIST) }, "optional(1, *l)" => -> { optional(1, *LIST) },
  "key(**h)" => -> { key(**OPTIONS) }, "keys(**h)" => -> { keys(**OPTIONS) }, "one(**h)" => -> { one(**OPTIONS) }, "named(k: 1)" => -> { named(k: 1) }, "named(**h)" => -> { named(**OPTIONS) },
  "nameless_keys(k: 1)" => -> { nameless_keys(k: 1) }, "nameless_keys(**h)" => -> { nameless_keys(**OPTIONS) }, "forward(1)" => -> { forward(1) }, "nameless(1)" => -> { nameless(1) }, "nameless(*l)" => -> { nameless(*LIST) }
}
require_relative "each_call"
