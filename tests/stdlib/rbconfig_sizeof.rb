# Bounds of C's types.
require "rbconfig"
require "rbconfig/sizeof"
limits = RbConfig::LIMITS
p limits.values_at("CHAR_MAX", "SCHAR_MIN", "UCHAR_MAX", "SHRT_MIN", "USHRT_MAX", "INT_MIN", "UINT_MAX", "LONG_MAX", "ULLONG_MAX", "INT_LEAST8_MIN", "UINT_FAST16_MAX", "SIZE_MAX", "PTRDIFF_MIN")
p limits.values_at("FLT_MAX", "FLT_EPSILON", "FLT_MIN", "FLT_TRUE_MIN", "DBL_MAX", "DBL_MANT_DIG", "DBL_DECIMAL_DIG", "DBL_TRUE_MIN", "FLT_RADIX")
p limits.keys.grep(/\AUS?SIZE|UPTRDIFF|UWCHAR|USCHAR/), limits.values.all?(Numeric), limits.frozen?
p RbConfig::SIZEOF.values_at("_Bool", "sig_atomic_t", "wint_t", "long double", "double _Complex"), RbConfig::SIZEOF.frozen?
p RbConfig::MAKEFILE_CONFIG.select { |key, _| key.match?(/\A(?!ruby|archdir|topdir).*arch.*dir\z/) }.transform_values { |path| path[/[^\/]*\z/] }.slice("archlibdir", "sitearchlibdir", "sitearchdir", "vendorarchdir")
p RbConfig.expand(RbConfig::MAKEFILE_CONFIG["sitearchdir"].dup) == RbConfig::CONFIG["sitearchdir"]
