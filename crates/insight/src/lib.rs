//! Where the time of a process goes: what `RubyVM.stat`, `RubyVM.report`, `--report`, `--trace` and `--profile` tell (docs/insight.md).
//!
//! Reads what VMs, channels and the scheduler count (`zakuro_vm::account`) and changes nothing. Map: `picture` (what is known at a moment, in seconds), `machine` (cores that can be used), `causes`
//! (what held the program up), `report` and `json` (the picture told), `timeline` (Chrome's trace events), `profile` (samples as flame graph, folded stacks, Firefox profile),
//! `live` (a page and a terminal while it runs), `stat` (the methods), `output` (files at the end).

mod causes;
mod json;
mod live;
mod machine;
mod output;
mod picture;
mod profile;
mod report;
mod roles;
mod timeline;

#[cfg(feature = "top")]
pub use live::top;
pub use live::{Kill, Live, serve};
pub use machine::Machine;
pub use output::{Outputs, open, start};
pub use picture::Picture;

zakuro_core_base::modules! { stat }
