# frozen_string_literal: true
a = "x"
b = "x#{a}"
c = "y" "z"
