# RbConfig::SIZEOF and LIMITS: bytes and bounds of the types of C on 64-bit Linux.
require "rbconfig"

module RbConfig
  x86 = RUBY_PLATFORM.start_with?("x86_64")

  sizes = {
    "int" => 4, "short" => 2, "long" => 8, "long long" => 8, "__int128" => 16, "off_t" => 8, "void*" => 8, "float" => 4, "double" => 8, "time_t" => 8,
    "clock_t" => 8, "size_t" => 8, "ptrdiff_t" => 8, "dev_t" => 8, "int8_t" => 1, "uint8_t" => 1, "int16_t" => 2, "uint16_t" => 2, "int32_t" => 4,
    "uint32_t" => 4, "int64_t" => 8, "uint64_t" => 8, "int128_t" => 16, "uint128_t" => 16, "intptr_t" => 8, "uintptr_t" => 8, "ssize_t" => 8,
    "int_least8_t" => 1, "int_least16_t" => 2, "int_least32_t" => 4, "int_least64_t" => 8, "int_fast8_t" => 1, "int_fast16_t" => 8, "int_fast32_t" => 8,
    "int_fast64_t" => 8, "intmax_t" => 8, "sig_atomic_t" => 4, "wchar_t" => 4, "wint_t" => 4, "wctrans_t" => 8, "wctype_t" => 8, "_Bool" => 1, "long double" => 16,
    "float _Complex" => 8, "double _Complex" => 16, "long double _Complex" => 32
  }
  sizes.update("__float128" => 16, "_Decimal32" => 4, "_Decimal64" => 8, "_Decimal128" => 16, "__float80" => 16) if x86
  SIZEOF = sizes.freeze

  # Small Integers have 62 bits beside their sign.
  limits = { "FIXNUM_MAX" => 2**62 - 1, "FIXNUM_MIN" => -2**62 }
  # Bits by the names of signed and unsigned types.
  [
    ["CHAR", nil, 8], ["SCHAR", "UCHAR", 8], ["WCHAR", nil, 32], ["SHRT", "USHRT", 16], ["INT", "UINT", 32], ["LONG", "ULONG", 64], ["LLONG", "ULLONG", 64],
    *[8, 16, 32, 64].flat_map do |bits|
      [["INT#{bits}", bits], ["INT_LEAST#{bits}", bits], ["INT_FAST#{bits}", bits == 8 ? 8 : 64]].map { |name, size| [name, "U#{name}", size] }
    end,
    ["INTMAX", "UINTMAX", 64], ["INTPTR", "UINTPTR", 64], ["PTRDIFF", "SIZE", 64]
  ].each do |signed, unsigned, bits|
    # Characters have no sign on ARM.
    if !x86 && signed.end_with?("CHAR") && unsigned.nil?
      limits.update("#{signed}_MAX" => 2**bits - 1, "#{signed}_MIN" => 0)
    else
      limits.update("#{signed}_MAX" => 2**(bits - 1) - 1, "#{signed}_MIN" => -2**(bits - 1))
    end
    limits["#{unsigned}_MAX"] = 2**bits - 1 if unsigned
  end
  limits["SSIZE_MAX"] = 2**63 - 1
  # Floats of 24 and 53 bits; long doubles are those of the x87, or the quadruple ones of ARM.
  limits.update("FLT_RADIX" => 2, "FLT_ROUNDS" => 1, "FLT_EVAL_METHOD" => 0)
  {
    "FLT" => [24, 6, -125, -37, 128, 38, 9], "DBL" => [53, 15, -1021, -307, 1024, 308, 17],
    "LDBL" => x86 ? [64, 18, -16381, -4931, 16384, 4932, 21] : [113, 33, -16381, -4931, 16384, 4932, 36]
  }.each do |type, numbers|
    %w[MANT_DIG DIG MIN_EXP MIN_10_EXP MAX_EXP MAX_10_EXP DECIMAL_DIG].zip(numbers) { |what, n| limits["#{type}_#{what}"] = n }
    limits["#{type}_HAS_SUBNORM"] = 1
  end
  limits.update(
    "DECIMAL_DIG" => limits["LDBL_DECIMAL_DIG"], "FLT_MAX" => (2 - 2.0**-23) * 2.0**127, "FLT_EPSILON" => 2.0**-23, "FLT_MIN" => 2.0**-126,
    "FLT_TRUE_MIN" => 2.0**-149, "DBL_MAX" => Float::MAX, "DBL_EPSILON" => Float::EPSILON, "DBL_MIN" => Float::MIN, "DBL_TRUE_MIN" => 5.0e-324
  )
  LIMITS = limits.freeze
end
