//! Many threads, many VMs: fibers, threads, images, messages, limits, ends.

pub mod account;
pub mod allowance;
pub mod channels;
pub mod fiber;
pub mod foreign_memory;
pub mod host;
pub mod image;
pub mod life;
pub mod limits;
pub mod lineage;
pub mod names;
pub mod thread;
pub mod transfer;
