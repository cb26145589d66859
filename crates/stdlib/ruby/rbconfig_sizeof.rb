# RbConfig::SIZEOF and LIMITS: bytes and bounds of the types of C on 64-bit Linux.
require "rbconfig"

module RbConfig
  SIZEOF = {
    "int" => 4, "short" => 2, "long" => 8, "long long" => 8, "__int128" => 16, "off_t" => 8, "void*" => 8, "float" => 4, "double" => 8, "time_t" => 8,
    "clock_t" => 8, "size_t" => 8, "ptrdiff_t" => 8, "dev_t" => 8, "int8_t" => 1, "uint8_t" => 1, "int16_t" => 2, "uint16_t" => 2, "int32_t" => 4,
    "uint32_t" => 4, "int64_t" => 8, "uint64_t" => 8, "int128_t" => 16, "uint128_t" => 16, "intptr_t" => 8, "uintptr_t" => 8, "ssize_t" => 8,
    "int_least8_t" => 1, "int_least16_t" => 2, "int_least32_t" => 4, "int_least64_t" => 8, "int_fast8_t" => 1, "int_fast16_t" => 8, "int_fast32_t" => 8,
    "int_fast64_t" => 8, "intmax_t" => 8, "wchar_t" => 4
  }.freeze

  # Small Integers have 62 bits beside their sign.
  limits = { "FIXNUM_MAX" => 2**62 - 1, "FIXNUM_MIN" => -2**62 }
  {
    "INT" => 32, "SHRT" => 16, "LONG" => 64, "LLONG" => 64, "INT8" => 8, "INT16" => 16, "INT32" => 32, "INT64" => 64, "INTMAX" => 64, "INTPTR" => 64
  }.each do |name, bits|
    limits["#{name}_MAX"] = 2**(bits - 1) - 1
    limits["#{name}_MIN"] = -2**(bits - 1)
    limits["U#{name}_MAX"] = 2**bits - 1
  end
  limits.update("SSIZE_MAX" => 2**63 - 1, "SIZE_MAX" => 2**64 - 1, "PTRDIFF_MAX" => 2**63 - 1, "PTRDIFF_MIN" => -2**63)
  LIMITS = limits.freeze
end
