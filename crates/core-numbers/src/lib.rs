//! The core library: Numeric and its classes, Math, Random, Comparable. One file or folder per class; `docs/builtins.md` says how a builtin is declared.

zakuro_core_base::modules! { comparable, numeric, random }

mod twister;
