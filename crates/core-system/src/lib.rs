//! The core library's way to the system: IO, File, Dir, Process, ENV, signals, Time. One file or folder per class; `docs/builtins.md` says how a builtin is declared.

zakuro_core_base::modules! { env, fiber_scheduler, io, process, signal, time }
