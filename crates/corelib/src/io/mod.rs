//! (not written yet)

use zakuro_vm::{Cx, MethodRow};

pub static TABLES: &[&[MethodRow]] = &[];

pub fn setup(_cx: &mut Cx) {}

pub fn write_error(_cx: &mut Cx, bytes: &[u8]) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), bytes);
}
pub fn flush_all(_cx: &mut Cx) {}
