//! The core library: String, Symbol, Regexp, Encoding. One file or folder per class; `docs/builtins.md` says how a builtin is declared.

zakuro_core_base::modules! { encoding, regexp, string, symbol }
