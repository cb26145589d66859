# Prelude: String methods that stand on the standard library's tables.

class String
  # The text with characters and their marks put together (`:nfc`, `:nfkc`) or taken apart (`:nfd`, `:nfkd`).
  #
  #     "e\u0301".unicode_normalize == "\u00e9"   #=> true
  def unicode_normalize(form = :nfc)
    require "unicode_normalize/normalize" unless defined?(::UnicodeNormalize)
    ::UnicodeNormalize.normalize(self, form)
  end

  # Changes the text itself as `unicode_normalize` does.
  def unicode_normalize!(form = :nfc)
    replace(unicode_normalize(form))
  end

  # Whether `unicode_normalize` would change nothing.
  def unicode_normalized?(form = :nfc)
    require "unicode_normalize/normalize" unless defined?(::UnicodeNormalize)
    ::UnicodeNormalize.normalized?(self, form)
  end
end
