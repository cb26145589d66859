# Warnings and errors of Ripper: formats and what belongs in them, and the events of some errors.
# Needs the standard library.
require "ripper"

class Complains < Ripper
  attr_reader :said

  def initialize(...)
    super
    @said = []
  end

  def warn(format, *said) = @said << [:warn, format.dup, *said]
  def warning(*said) = @said << [:warning, *said]
  def compile_error(*said) = @said << [:compile_error, *said]
  %i[param_error class_name_error].each { |event| define_method(:"on_#{event}") { |*said| @said << [event, *said] } }
  def on_assign_error(*said) = @said << [:assign_error]
end

def said(source, *only)
  ripper = Complains.new(source, "name".dup)
  ripper.parse
  # CRuby's formats have a letter of its own for what is inspected.
  p ripper.said.select { |what, format,| only.include?(what) && format !~ /void context/ }.each { |_, format,| format&.sub!("%+li\v", "%p") rescue nil }
end

said("{ a: 1, a: 2 }", :warn)
said("{ 'a b' => 1, 'a b' => 2, 3 => 1, 3 => 1 }", :warn)
said("1; #-*- frozen-string-literal: true -*-", :warning)
said("#-*- frozen-string-literal: nottrue -*-", :warning)
said("a = 1\ncase a\nwhen 1\nwhen 1\nelse\nend", :warning)
said("\r;", :warn)
["/", "proc{@1}", "@", "@@1", "@@", "$%", "$", "<<a", "def b; c(*) end", "def b; c(**) end", "def b; c(&) end"].each { |source| said(source, :compile_error) }
["def m(A) end", "def m($a) end", "def m(@a) end", "def m(@@a) end"].each { |source| said(source, :param_error) }
["self = 1", "$& = 1", "def m\n ::X = 1\nend", "X = 1"].each { |source| said(source, :assign_error) }

ripper = Ripper.new("1 + 1", name = "ripper".dup)
name.clear
p ripper.filename, ripper.lineno, ripper.column
places = []
Class.new(Ripper) { define_method(:on_int) { |token| places << [token, lineno, column] } }.new("1 +\n 22").tap { |r| r.parse; places << [r.lineno, r.column] }
p places
p Ripper::Lexer.new("a\nb", "x", 7).lex.map { |token| token[0] }
