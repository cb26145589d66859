//! What all of a VM stands on: frames, how builtins are declared, raising, looks at cells, kinds of events.

pub mod asker;
pub mod builtin;
pub mod effects;
pub mod events;
pub mod frame;
pub mod held;
pub mod layouts;
pub(crate) mod listed;
pub mod looks;
pub mod machine;
pub mod make;
pub mod notes;
pub mod raise;
pub mod sites;
