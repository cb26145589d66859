//! Channels over a server between machines, and pools of workers on several (docs/cluster.md): what of them is not Ruby.
//!
//! Map: `resp` and `nats` take apart what servers send; `native` hands it to Ruby (`RubyVM::Cluster::Native`), with the words of a block and with secrets that stay secret. Connections, channels
//! and pools are Ruby (`ruby/zakuro_cluster*.rb`), so that a client is made of what its VM is made of anyway: sockets that park, threads and memory that count, a kill that ends all of it.
//!
//! Invariants: nothing process-wide; no panic and no unbounded allocation whatever a server sends.
//! Rejected: the clients `async-nats` (tokio: 51 s of a cold build, 3.5 MB, threads and buffers that belong to no VM) and `redis` (15 s; a call that waits blocks its native thread and can't be
//! ended), see docs/decisions/0025-clients-of-servers.md.

mod native;
mod nats;
mod resp;

use zakuro_vm::library::Feature;

/// Features by the name that `require` gets.
pub static FEATURES: &[(&str, Feature)] = &[
    ("zakuro/cluster", native::load),
    ("zakuro/cluster/address", |cx| cx.run_builtin("zakuro/cluster/address")),
    ("zakuro/cluster/channel", |cx| cx.run_builtin("zakuro/cluster/channel")),
    ("zakuro/cluster/command", |cx| cx.run_builtin("zakuro/cluster/command")),
    ("zakuro/cluster/connection", |cx| cx.run_builtin("zakuro/cluster/connection")),
    ("zakuro/cluster/crew", |cx| cx.run_builtin("zakuro/cluster/crew")),
    ("zakuro/cluster/nats", |cx| cx.run_builtin("zakuro/cluster/nats")),
    ("zakuro/cluster/outgoing", |cx| cx.run_builtin("zakuro/cluster/outgoing")),
    ("zakuro/cluster/parts", |cx| cx.run_builtin("zakuro/cluster/parts")),
    ("zakuro/cluster/redis", |cx| cx.run_builtin("zakuro/cluster/redis")),
    ("zakuro/cluster/wire", |cx| cx.run_builtin("zakuro/cluster/wire")),
    ("zakuro/cluster/worker", |cx| cx.run_builtin("zakuro/cluster/worker")),
];
