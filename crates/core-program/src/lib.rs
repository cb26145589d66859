//! The core library: a program's own parts. Object, Kernel, Module, Method, Proc, Binding, GC, ObjectSpace, Marshal, TracePoint, InstructionSequence. One file or folder per class; `docs/builtins.md` says how a builtin is declared.

zakuro_core_base::modules! { basic, debugger, gc, iseq, kernel, marshal, method, module, object, proc, tracepoint }
