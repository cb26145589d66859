# erb/escape: text that is safe in HTML.
class ERB; end

module ERB::Escape
  HTML = { "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", '"' => "&quot;", "'" => "&#39;" }.freeze
  private_constant :HTML

  def html_escape(text)
    text = text.to_s
    # Bytes that are no characters stay as they are.
    return text.b.gsub(/[&<>"']/n, HTML).force_encoding(text.encoding) unless text.valid_encoding?
    text.match?(/[&<>"']/) ? text.gsub(/[&<>"']/, HTML) : text
  end
  module_function :html_escape
end
