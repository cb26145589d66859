# The names of cgi/escape in CGI. cgi/util, where a program loads it, adds to them.
class CGI
  module Escape
    alias escape_html escapeHTML
    alias unescape_html unescapeHTML
    alias h escapeHTML

    # Escapes the tags of some elements only.
    def escapeElement(string, *elements)
      elements = elements[0] if elements[0].is_a?(Array)
      return string if elements.empty?
      string.gsub(%r{</?(?:#{elements.join("|")})\b[^<>]*+>?}im) { escapeHTML($&) }
    end

    # Takes the escapes of some elements' tags back.
    def unescapeElement(string, *elements)
      elements = elements[0] if elements[0].is_a?(Array)
      return string if elements.empty?
      string.gsub(/&lt;\/?(?:#{elements.join("|")})\b(?>[^&]+|&(?![gl]t;)\w+;)*(?:&gt;)?/im) { unescapeHTML($&) }
    end
    alias escape_element escapeElement
    alias unescape_element unescapeElement
  end

  module Util
    prepend Escape

    @@accept_charset = Encoding::UTF_8
  end
  include Util
  extend Util
end
