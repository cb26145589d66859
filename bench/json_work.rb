# A JSON reader and writer in Ruby: methods that call each other, Strings by byte, Hashes and Arrays that grow.

class Reader
  def initialize(text)
    @text = text
    @at = 0
  end

  def value
    space
    case @text.getbyte(@at)
    when 123 then object
    when 91 then array
    when 34 then string
    when 116 then word("true", true)
    when 102 then word("false", false)
    when 110 then word("null", nil)
    else number
    end
  end

  def space
    while (c = @text.getbyte(@at)) && (c == 32 || c == 10)
      @at += 1
    end
  end

  def word(text, value)
    @at += text.size
    value
  end

  def number
    from = @at
    while (c = @text.getbyte(@at)) && (c >= 48 && c <= 57 || c == 45 || c == 46)
      @at += 1
    end
    piece = @text.byteslice(from, @at - from)
    piece.include?(".") ? piece.to_f : piece.to_i
  end

  def string
    from = @at += 1
    @at += 1 while @text.getbyte(@at) != 34
    @at += 1
    @text.byteslice(from, @at - from - 1)
  end

  def array
    list = []
    @at += 1
    space
    until @text.getbyte(@at) == 93
      list << value
      space
      @at += 1 if @text.getbyte(@at) == 44
      space
    end
    @at += 1
    list
  end

  def object
    hash = {}
    @at += 1
    space
    until @text.getbyte(@at) == 125
      key = string
      space
      @at += 1
      hash[key] = value
      space
      @at += 1 if @text.getbyte(@at) == 44
      space
    end
    @at += 1
    hash
  end
end

def write(value, out)
  case value
  when Hash
    out << "{"
    first = true
    value.each do |k, v|
      out << ", " unless first
      first = false
      out << '"' << k << '": '
      write(v, out)
    end
    out << "}"
  when Array
    out << "["
    value.each_with_index do |v, i|
      out << ", " if i > 0
      write(v, out)
    end
    out << "]"
  when String then out << '"' << value << '"'
  when nil then out << "null"
  else out << value.to_s
  end
  out
end

data = { "users" => (0...200).map { |i| { "id" => i, "name" => "user#{i}", "score" => i * 0.5, "ok" => i.even?, "none" => nil, "tags" => %w[a bc def] } } }
text = write(data, +"")
300.times do
  data = Reader.new(text).value
  text = write(data, +"")
end
puts text.size, data["users"].sum { |u| u["score"] }
