//! String, split by concept.

pub mod util;

use zakuro_vm::{Cx, MethodRow};

pub static TABLES: &[&[MethodRow]] = &[];

pub fn setup(_cx: &mut Cx) {}
