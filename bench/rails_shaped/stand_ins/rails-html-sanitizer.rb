# Rails' sanitizers need nokogiri, a C extension that has no stand-in here. Both interpreters get these instead; `sanitize` and its like take all tags away.
module Rails
  module HTML
    class FullSanitizer
      def sanitize(html, **) = html&.gsub(/<[^>]*>/, "")
    end

    class Sanitizer
      def self.best_supported_vendor = self
      def self.full_sanitizer = FullSanitizer
      def self.link_sanitizer = FullSanitizer
      def self.safe_list_sanitizer = FullSanitizer
    end
  end
  HTML4 = HTML5 = HTML
  Html = HTML
end
