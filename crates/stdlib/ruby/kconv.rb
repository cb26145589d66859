# Kconv: what NKF does with Japanese texts, as methods of String.
require "nkf"

module Kconv
  AUTO, NOCONV, UNKNOWN = NKF::AUTO, NKF::NOCONV, NKF::UNKNOWN
  JIS, EUC, SJIS, BINARY, ASCII, UTF8, UTF16, UTF32 = NKF::JIS, NKF::EUC, NKF::SJIS, NKF::BINARY, NKF::ASCII, NKF::UTF8, NKF::UTF16, NKF::UTF32

  OUTPUT = { JIS => "-j", EUC => "-e", SJIS => "-s", UTF8 => "-w", UTF16 => "-w16", UTF32 => "-w32" }.freeze
  INPUT = { JIS => "-J", EUC => "-E", SJIS => "-S", UTF8 => "-W", UTF16 => "-W16", UTF32 => "-W32" }.freeze
  private_constant :OUTPUT, :INPUT

  module_function

  # The text in another encoding; without `from` its encoding is guessed.
  def kconv(text, to, from = nil)
    to, from = [to, from].map { |encoding| encoding.nil? ? nil : Encoding.find(encoding) }
    return text.dup if to.nil?
    NKF.nkf([OUTPUT[to] || raise(ArgumentError, "unknown encoding #{to}"), from && INPUT[from], "-x", "-m0"].compact.join(" "), text)
  end

  # The text in ISO-2022-JP.
  def tojis(text) = NKF.nkf("-jm", text)
  # The text in EUC-JP.
  def toeuc(text) = NKF.nkf("-em", text)
  # The text in Shift_JIS.
  def tosjis(text) = NKF.nkf("-sm", text)
  # The text in UTF-8; its encoding is guessed.
  def toutf8(text) = NKF.nkf("-wm", text)
  # The text in UTF-16.
  def toutf16(text) = NKF.nkf("-w16m", text)
  # The text in UTF-32.
  def toutf32(text) = NKF.nkf("-w32m", text)
  # The text in the encoding of the locale.
  def tolocale(text) = kconv(text, Encoding.default_external)
  # The encoding that the text seems to have.
  def guess(text) = NKF.guess(text)

  # Whether the bytes are valid EUC-JP.
  def iseuc(text) = text.dup.force_encoding(EUC).valid_encoding?
  # Whether the bytes are valid Shift_JIS.
  def issjis(text) = text.dup.force_encoding(SJIS).valid_encoding?
  # Whether the bytes are valid UTF-8.
  def isutf8(text) = text.dup.force_encoding(UTF8).valid_encoding?
  # Whether the bytes are valid ISO-2022-JP.
  def isjis(text) = text.b.match?(/\A(?:[\t\n\r\x20-\x7e]|\e(?:\([BJ]|\$[@B](?:[\x21-\x7e]{2})*\e\([BJ]))*\z/n)
end

class String
  # The text in another encoding; `from` is that of the String unless it is binary or ASCII.
  def kconv(to, from = nil)
    from ||= encoding unless encoding == Encoding::BINARY || encoding == Encoding::US_ASCII
    Kconv.kconv(self, to, from)
  end

  %i[tojis toeuc tosjis toutf8 toutf16 toutf32 tolocale iseuc issjis isjis isutf8].each { |name| define_method(name) { Kconv.__send__(name, self) } }
end
