//! The core library: Array, Hash, Set, Range, Struct, Data, Enumerable, Enumerator. One file or folder per class; `docs/builtins.md` says how a builtin is declared.

zakuro_core_base::modules! { array, data, enumerable, enumerator, hash, range, set, structs }
