//! The core library: RubyVM, channels, Ractor, Thread, Fiber. One file or folder per class; `docs/builtins.md` says how a builtin is declared.

zakuro_core_base::modules! { fiber, thread, vm_api }
