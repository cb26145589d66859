//! (not written yet)

pub mod engine;

use zakuro_vm::{Cx, MethodRow};

pub static TABLES: &[&[MethodRow]] = &[];

pub fn setup(_cx: &mut Cx) {}
