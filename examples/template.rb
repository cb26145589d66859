# A tiny template language in the manner of ERB, compiled to one Ruby method per template:
#   <% code %>   runs code      <%= value %>  inserts the value, HTML-escaped      <%== value %>  inserts it as it is
#   <%# note %>  is left out    a line that holds nothing but a <% %> or <%# %> tag leaves no empty line behind

class Template
  class SyntaxError < StandardError; end

  ESCAPES = { "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", '"' => "&quot;", "'" => "&#39;" }.freeze

  def self.escape(value)
    value.to_s.gsub(/[&<>"']/, ESCAPES)
  end

  # Ruby source of a method body that appends to `_out` and returns it.
  def self.source(text, name)
    code = +"_out = +\"\"\n"
    rest = text
    line = 1
    until rest.empty?
      open = rest.index("<%")
      unless open
        code << literal(rest)
        break
      end
      close = rest.index("%>", open)
      raise SyntaxError, "#{name}:#{line + rest[0, open].count("\n")}: <% without %>" unless close
      before = rest[0, open]
      tag = rest[open + 2...close]
      after = rest[close + 2..]
      quiet = !tag.start_with?("=")
      if quiet && (before.empty? || before.end_with?("\n") || before =~ /(\A|\n)[ \t]+\z/) && after.start_with?("\n")
        before = before.sub(/[ \t]+\z/, "")
        after = after[1..]
      end
      code << literal(before) unless before.empty?
      if tag.start_with?("#")
        # a note
      elsif tag.start_with?("==")
        code << "_out << (#{tag[2..].strip}).to_s\n"
      elsif tag.start_with?("=")
        code << "_out << ::Template.escape(#{tag[1..].strip})\n"
      else
        code << tag.strip << "\n"
      end
      line += before.count("\n") + tag.count("\n")
      rest = after
    end
    code << "_out\n"
  end

  def self.literal(text)
    "_out << #{text.dump}\n"
  end

  # A class with the method `render` made from the template; `locals` become its parameters.
  def self.compile(text, locals, name = "(template)")
    body = source(text, name)
    page = Class.new
    page.class_eval("def render(#{locals.map { |l| "#{l}:" }.join(', ')})\n#{body}end", name, 0)
    page.new
  end
end
