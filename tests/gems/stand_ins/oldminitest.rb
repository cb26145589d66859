require "minitest"
MiniTest = Minitest unless defined?(MiniTest)
